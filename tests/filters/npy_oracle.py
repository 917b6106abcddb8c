""".npy images: numpy writes the files that gpuimg reads and reads those that it writes, in both byte orders and axis
orders.

Sources: imgio/npy*
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

gpuimg = os.path.abspath(sys.argv[1])
passed = failed = 0


def check(name, ok):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print("FAILED:", name)


def run(*words):
    return subprocess.run([gpuimg, *words], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.default_rng(3)
    for dtype in ("u1", "<u2", ">u2", "<f4", ">f4"):
        for shape in ((5, 7), (5, 7, 1), (5, 7, 2), (5, 7, 3), (5, 7, 4), (1, 1), (300, 500, 3)):
            for order in "CF":
                values = rng.integers(0, 250, shape)
                if len(shape) == 3 and shape[2] % 2 == 0:
                    values[..., -1] = 255 if dtype == "u1" else 65535 if "u" in dtype else 1
                array = np.array(values, dtype=dtype, order=order)
                name = f"{dtype} {shape} {order}"
                np.save("in.npy", array)
                result = run("blur", "in.npy", "out.npy", "--k", "1")
                check(f"{name}: {result.stderr}", result.returncode == 0)
                got = np.load("out.npy")
                check(name, got.dtype.newbyteorder("=") == array.dtype.newbyteorder("="))
                check(name, np.array_equal(got.reshape(shape), array.astype(got.dtype)))
    for array in (np.zeros(5, "u1"), np.zeros((5, 7, 5), "u1"), np.zeros((2, 2), "f8"), np.zeros((2, 2), "i2"),
                  np.zeros((2, 2, 2, 2), "u1")):
        np.save("in.npy", array)
        result = run("info", "in.npy")
        check(f"{array.dtype} {array.shape}", result.returncode == 1 and "want" in result.stderr)

    # Handwritten headers: those that numpy reads give the same image, and those that it refuses are refused.
    good = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"
    data = bytes(range(40, 52))
    for version, words in ((1, good), (2, good), (3, good), (1, good.replace("<", "=")), (1, good.replace("'", '"')),
                           (1, good.replace(", }", "}")), (1, good.replace(": ", ":").replace(", ", ",")),
                           (1, good.replace("False", "True")), (1, good.replace("(2, 3)", "( 2 , 3 , 1 )")),
                           (1, good.replace("(2, 3)", "2, 3")),
                           (1, good.replace("(2, 3)", "(2, 3")), (1, good.replace("(2, 3)", "(2 3)")),
                           (1, good.replace("(2, 3)", "(2, x)")), (1, good.replace("shape", "shap")),
                           (1, good.replace("descr", "desc")), (1, good.replace("fortran", "pascal")),
                           (1, good.replace("'<u2'", "u2")), (1, good.replace("<u2", "<u3")), (1, good.replace("<u2", "?u2")),
                           (1, good.replace("'shape':", "'shape'")), (4, good), (0, good), (1, good + " " * 70000)):
        length = len(words).to_bytes(2 if version < 2 else 4, "little") if len(words) < 65536 else b"\xff\xff"
        with open("in.npy", "wb") as file:
            file.write(b"\x93NUMPY" + bytes([version, 0]) + length + words.encode() + data)
        try:
            want = np.load("in.npy")
        except Exception:
            want = None
        result = run("convert", "in.npy", "out.npy")
        name = f"version {version}, {words[:90]}: {result.stderr}"
        if want is None:
            check(name, result.returncode == 1)
        elif result.returncode == 0:
            check(name, np.array_equal(np.load("out.npy"), want.reshape(2, 3)))
        else:
            check(name, '"' in words)  # which numpy itself never writes


print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
