"""Images as .npy: numpy writes and reads what gpuimg reads and writes, in both orders of bytes and axes."""
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

print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
