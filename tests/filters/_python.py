"""The Python package gpuimg, which is made for the tested program and imported from a folder of its own."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.dont_write_bytecode = True
folder = tempfile.TemporaryDirectory(prefix="gpuimg-test-python-")
program = os.path.abspath(sys.argv[1])
made = os.path.join(folder.name, "gpuimg")
subprocess.run([sys.executable, os.path.join(TOP, "cli/python/generate.py"), program, made], check=True)
sys.path.insert(0, folder.name)
os.environ["GPUIMG"] = program
