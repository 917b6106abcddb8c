"""The Python module gpuimg: arrays and files in, arrays out, against numpy, and what it says of errors.

Sources: cli/gpuimg.py
"""
import os
import sys
import threading

from _common import Checks, np, write

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cli"))
sys.dont_write_bytecode = True
import gpuimg

c = Checks()
CPU = ("--device", "cpu")


def run(image, chain, *options):
    return gpuimg.run(image, chain, options=(*CPU, *options), program=c.program)


def refused(name, kind, words, image, chain="invert", *options, program=c.program):
    try:
        gpuimg.run(image, chain, options=(*CPU, *options), program=program)
        c.check(name, False, "no error")
    except kind as error:
        c.check(name, words in str(error), error)


def random_array(dtype, shape):
    full = {"u1": 255, "u2": 65535}.get(dtype, 1)
    return (c.rng.random(shape) * full).astype(dtype)


for dtype, channels in (("u1", 1), ("u1", 2), ("u1", 3), ("u1", 4), ("u2", 1), ("u2", 2), ("u2", 3), ("u2", 4), ("f4", 1), ("f4", 3)):
    for size in ((1, 1), (31, 40)):
        array = random_array(dtype, (*size, channels))
        got = run(array, "flip --h | transpose")
        want = array[:, ::-1].swapaxes(0, 1)
        c.check(f"{dtype} {channels} {size}", got.dtype == want.dtype and (got.reshape(want.shape) == want).all())
plane = random_array("u1", (20, 30))
c.check("two axes stay two", run(plane, "invert").shape == (20, 30) and (run(plane, "invert") == 255 - plane).all())
for dtype in (">u2", ">f4"):
    array = random_array(dtype[1:], (9, 8)).astype(dtype)
    c.check(f"big endian {dtype}", (run(array, "flip --h") == array[:, ::-1]).all())
view = random_array("u2", (40, 50, 3))[::2, ::-3]
c.check("a view", (run(view, "invert") == 65535 - view).all())
c.check("bool", (run(plane > 90, "invert") == np.where(plane > 90, 0, 255)).all())
write(c.path("in.pgm"), plane)
c.check("a path", (run(c.path("in.pgm"), "invert") == 255 - plane).all())
c.check("floats out", run(plane, "invert", "--depth", "float").dtype == np.float32)
with gpuimg.Chain("invert", options=CPU, program=c.program) as chain:
    results = [None] * 8
    def work(i):
        results[i] = all((chain(plane[i:]) == 255 - plane[i:]).all() for _ in range(20))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    c.check("eight threads share a chain", all(results))
    c.check("large images pass both pipes", (chain(np.full((3000, 2000, 3), 7, "u1")) == 248).all())
    chain.close()
    c.check("it starts again", (chain(plane) == 255 - plane).all())

refused("an operation of no such name", gpuimg.Error, "did you mean gaussian?", plane, "gausian")
refused("a crop outside", gpuimg.Error, "extends past", plane, "crop --size 100x100+60+0")
c.check("the next image works", run(plane, "crop --size 10x10+1+2").shape == (10, 10))
refused("int32", TypeError, "array of int32: want uint8", plane.astype("i4"))
refused("five channels", ValueError, "want 1 to 4 channels", np.zeros((4, 4, 5), "u1"))
refused("one axis", ValueError, "shape (4,)", np.zeros(4, "u1"))
refused("no pixels", ValueError, "shape (0, 4)", np.zeros((0, 4), "u1"))
refused("floats with alpha", ValueError, "want 1 or 3", np.zeros((4, 4, 4), "f4"))
refused("no such file", FileNotFoundError, "nowhere", c.path("nowhere.png"))
refused("no program", FileNotFoundError, "nowhere", plane, program=c.path("nowhere"))
with open(c.path("text"), "w") as file:
    file.write("no image")
refused("a text", gpuimg.Error, "no image", c.path("text"))
c.end()
