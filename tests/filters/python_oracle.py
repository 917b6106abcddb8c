"""The Python module gpuimg: arrays and files in, arrays and tables out, against numpy, the end of calls by timeouts
and interrupts, and what it says of errors.

Sources: cli/python
"""
import json
import os
import signal
import warnings
import threading
import time

from _common import Checks, np, write
import _python
import gpuimg
import gpuimg.ray

c = Checks()
signal.alarm(240)  # a call that waits for ever ends this script
CPU = ("--device", "cpu")


def run(image, chain, *options):
    return gpuimg.run(image, chain, options=(*CPU, *options), program=c.program)


def refused(name, kind, words, image, chain="invert", *options, program=c.program):
    try:
        got = gpuimg.run(image, chain, options=(*CPU, *options), program=program, timeout=60)
        c.check(name, False, f"no error, but {got}")
    except kind as error:
        c.check(name, words in str(error), error)


def random_array(dtype, shape):
    full = {"u1": 255, "u2": 65535}.get(dtype, 1)
    return (c.rng.random(shape) * full).astype(dtype)


for dtype, channels in (("u1", 1), ("u1", 2), ("u1", 3), ("u1", 4), ("u2", 1), ("u2", 2), ("u2", 3), ("u2", 4), ("f4", 1), ("f4", 2), ("f4", 3), ("f4", 4), *((dtype, n) for dtype in ("u1", "u2", "f4") for n in (5, 7, 13, 1024))):
    for size in ((1, 1), (3, 40), (31, 40)):
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


# Tables are dicts, of arrays and of files, and arrays of analyses are arrays. The results of chains of both kinds alternate.
color = random_array("u1", (20, 30, 3))
dots = np.zeros((20, 30), "u1")
dots[2:5, 3:9], dots[10:18, 20:22] = 200, 90
write(c.path("in.ppm"), color)
write(c.path("dots.pgm"), dots)
for image, array in ((plane, plane), (color, color), (c.path("in.ppm"), color), (np.asfortranarray(color), color)):
    table = run(image, "stats")
    planes = array.reshape(*array.shape[:2], -1)
    means = [channel["mean"] for channel in table["channels"]]
    c.check("stats", np.allclose(means, planes.mean((0, 1)), 1e-9) and (table["width"], table["height"]) == (30, 20), table)
    c.check("an image between two tables", (run(array, "flip --h") == array[:, ::-1]).all())
    bins = [channel["bins"] for channel in run(image, "histogram")["channels"]]
    want = [np.bincount(planes[..., k].ravel(), minlength=256) for k in range(planes.shape[2])]
    c.check("histogram", np.array_equal(bins, want), bins)
for dtype in ("u1", "u2", "f4"):
    for n in (5, 7, 13):
        bands = random_array(dtype, (20, 30, n))
        channels = run(bands, "stats")["channels"]
        c.check(f"stats of {n} bands {dtype}", [ch["name"] for ch in channels] == [f"band{i + 1}" for i in range(n)] and
                np.allclose([ch["mean"] for ch in channels], bands.mean((0, 1), "f8"), 1e-6))
        bins = [ch["bins"] for ch in run(bands, "histogram")["channels"]]
        ends = {"u1": (0, 255), "u2": (0, 65535)}.get(dtype, (float(bands.min()), float(bands.max())))
        c.check(f"histogram of {n} bands {dtype}", np.array_equal(bins, [np.histogram(bands[..., i].astype("f8"), 256, ends)[0] for i in range(n)]))
        c.check(f"integral of {n} bands {dtype}", np.allclose(run(bands, "integral"), bands.cumsum(0, "f8").cumsum(1), 1e-12))
        c.check(f"--bands of {n} {dtype}", np.array_equal(run(bands, "flip --h", "--bands", "3,2,1"), bands[:, ::-1, 2::-1]))
        np.save(c.path("bands.npy"), bands)
        c.check(f"a .npy of {n} bands {dtype}", np.array_equal(run(c.path("bands.npy"), "flip --v"), bands[::-1]))
rgba = random_array("f4", (20, 30, 4))
rgba[:10, :, 3] = 0
half = run(rgba, "resize --size 15x10 --filter box")
tiles = rgba[10:].reshape(5, 2, 15, 2, 4).astype("f8")
want = (tiles[..., :3] * tiles[..., 3:]).sum((1, 3)) / tiles[..., 3:].sum((1, 3))
c.check("alpha of floats weighs", half.shape == (10, 15, 4) and np.allclose(half[5:, :, :3], want, 1e-4), half.shape)
for chain in ("extract --threshold 50", "threshold --threshold 50 | extract", "invert | invert, extract --threshold 50"):
    for image in (dots, c.path("dots.pgm")):
        table = run(image, chain)
        found = [(r["area"], tuple(r["bbox"])) for r in table["regions"]]
        c.check(chain, found == [(18, (3, 2, 6, 3)), (16, (20, 10, 2, 8))] and "file" not in table, table)
c.check("extract of nothing", run(np.zeros((4, 4), "u1"), "extract --threshold 50")["regions"] == [])
counts = {entry["color"][0]: entry["pixels"] for entry in run(dots, "palette")["palette"]}
c.check("palette", counts == {0: 566, 200: 18, 90: 16}, counts)
sums = run(plane, "integral")
c.check("integral", np.array_equal(sums, plane.cumsum(0, "u8").cumsum(1)))
c.check("cumulative", np.array_equal(run(color, "cumulative"), color.cumsum(1, "u8")))
c.check("integral in a chain", np.array_equal(run(plane, "invert | integral"), (255 - plane).cumsum(0, "u8").cumsum(1)))

# One channel: only an array of (h, w, 1) comes back so.
column = plane[:, :, None]
c.check("(h, w, 1)", run(column, "invert").shape == (20, 30, 1) and (run(column, "invert") == 255 - column).all())
c.check("(h, w, 1), another size", run(column, "transpose").shape == (30, 20, 1))
c.check("(h, w, 1) to floats", run(column, "invert", "--depth", "float").shape == (20, 30, 1))
c.check("(h, w, 1) by channels first", run(column, "invert", "--layout", "chw").shape == (1, 20, 30))
c.check("(h, w, 3) to gray", run(color, "gray").shape == (20, 30))
c.check("(h, w, 3) by channels first", run(color, "invert", "--layout", "chw").shape == (3, 20, 30))
for name, view in (("Fortran order", np.asfortranarray(color)), ("negative strides", color[::-1, ::-1]),
                   ("a transposed view", color.swapaxes(0, 1)), ("a broadcast view", np.broadcast_to(plane[0], (5, 30))),
                   ("read-only", np.frombuffer(plane.tobytes(), "u1").reshape(plane.shape))):
    c.check(name, (run(view, "invert") == 255 - view).all())
np.save(c.path("image.npy"), plane)
np.save(c.path("fortran.npy"), np.asfortranarray(color.astype(">u2")))
c.check("a .npy file", (run(c.path("image.npy"), "invert") == 255 - plane).all())
c.check("a .npy file in another order", (run(c.path("fortran.npy"), "invert") == 65535 - color.astype("u2")).all())

# A call ends at its timeout and by an interrupt, and the next call has another process.
with open(c.path("hangs"), "w") as file:
    file.write("#!/bin/sh\nexec sleep 100\n")
os.chmod(c.path("hangs"), 0o755)
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def ended(name, kind, chain, image, act=None, timeout=None):
    start = time.monotonic()
    timer = threading.Timer(0.3, act) if act else None
    if timer:
        timer.start()
    try:
        chain(image, timeout)
        c.check(name, False, "no exception")
    except kind:
        c.check(name, time.monotonic() - start < 10)
    if timer:
        timer.join()
hanging = gpuimg.Chain("invert", program=c.path("hangs"))
slow = gpuimg.Chain("nlmeans --search 41 | invert", options=(*CPU, "--threads", "1"), program=c.program)
large = random_array("u2", (1500, 1500))
for chain, image in ((hanging, plane), (hanging, large), (slow, large)):
    ended("a timeout", TimeoutError, chain, image, timeout=0.3)
    ended("an interrupt", KeyboardInterrupt, chain, image, interrupt)
    ended("closed by another thread", gpuimg.Error, chain, image, chain.close)
    ended("a timeout of 0", TimeoutError, chain, image, timeout=0)
os.mkfifo(c.path("fifo"))
ended("a pipe that gives nothing, and a timeout", TimeoutError, slow, c.path("fifo"), timeout=0.3)
ended("a pipe that gives nothing, and an interrupt", KeyboardInterrupt, slow, c.path("fifo"), interrupt)
flat = np.full((20, 30), 7, "u1")
c.check("a process after those that were ended", (slow(flat, timeout=60) == 248).all())
before = slow(flat, timeout=60)
ended("a timeout in the second call", TimeoutError, slow, large, timeout=0.3)
c.check("the result is not that of the call before", (slow(flat, timeout=60) == before).all())
waiting = threading.Thread(target=ended, args=("a long call", gpuimg.Error, hanging, plane))
waiting.start()
time.sleep(0.2)
ended("a timeout while another thread waits", TimeoutError, hanging, plane, timeout=0.3)
hanging.close()
waiting.join()
os.kill(slow._processes[".npy"].pid, signal.SIGKILL)
time.sleep(0.2)
c.check("a process that died meanwhile is replaced", (slow(flat) == 248).all())
slow.close()

# After a fork the child has processes of its own, also while another thread of the parent is in a call.
def in_child(act):
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if act() else 1)
        except BaseException as error:
            print(error, flush=True)
            os._exit(2)
    return pid
def many():
    return all((run(plane, "invert") == 255 - plane).all() and run(dots, "extract --threshold 50")["width"] == 30 for _ in range(10))
many()
busy = threading.Thread(target=lambda: [run(large, "invert") for _ in range(5)])
busy.start()
children = [in_child(many) for _ in range(4)] + [in_child(lambda: (run(large, "invert", "--threads", "1") == 65535 - large).all())]
c.check("the parent goes on", many())
c.check("children work", [os.waitpid(pid, 0)[1] for pid in children] == [0] * 5)
busy.join()
def closes():
    gpuimg._chain._kept.cache_clear()
    return many()
os.waitpid(in_child(closes), 0)
pids = [chain.pid for chain in gpuimg._chain._kept("invert", CPU, c.program, ())._processes.values()]
c.check("a child ends no process of its parent", many() and pids == [chain.pid for chain in gpuimg._chain._kept("invert", CPU, c.program, ())._processes.values()])

# Every operation returns, whatever it makes of one image: a result or an error.
operations = json.loads(c.run("list", "--json"))["operations"]
write(c.path("other.ppm"), color)
for operation in operations:
    examples = [(o["name"], o["example"], o["type"]) for o in operation["options"] if "example" in o]
    words = [f"--{name}" + (f" '{c.path('other.ppm') if kind == 'image' else value}'" if value else "") for name, value, kind in examples]
    for chain in (operation["name"], " ".join([operation["name"], *words])):
        try:
            got = gpuimg.run(color, chain, options=CPU, program=c.program, timeout=60)
            c.check(chain, isinstance(got, (np.ndarray, dict)), type(got))
        except gpuimg.Error as error:
            c.check(chain, str(error).startswith("gpuimg: "), error)
        except TimeoutError:
            c.check(chain, False, "no result")

refused("an operation of no such name", gpuimg.Error, "did you mean gaussian?", plane, "gausian")
refused("a crop outside", gpuimg.Error, "extends past", plane, "crop --size 100x100+60+0")
c.check("the next image works", run(plane, "crop --size 10x10+1+2").shape == (10, 10))
for dtype in ("c8", "U3", "S3", "O", "M8[s]", "u1,u2", "g"):
    refused(f"array of {dtype}", TypeError, "want integers, float16", np.zeros((4, 4), dtype))
refused("masked", TypeError, "masked array of uint8: want floats", np.ma.masked_equal(plane, 3))
refused("a list", TypeError, "list", [[1, 2]])
refused("a file descriptor", TypeError, "int", 0)
refused("more channels than a file has", ValueError, "want 1 to 1024 channels", np.zeros((4, 4, 1025), "u1"))
refused("colours of bands", gpuimg.Error, "--bands", np.zeros((4, 4, 5), "u1"), "color --saturation 2")
refused("one axis", ValueError, "shape (4,)", np.zeros(4, "u1"))
refused("no pixels", ValueError, "shape (0, 4)", np.zeros((0, 4), "u1"))
refused("no such file", FileNotFoundError, "nowhere", c.path("nowhere.png"))
refused("no program", FileNotFoundError, "nowhere", plane, program=c.path("nowhere"))
with open(c.path("text"), "w") as file:
    file.write("no image")
refused("a text", gpuimg.Error, "no image", c.path("text"))
with open(c.path("json"), "w") as file:
    file.write('{"channels": []}')
refused("a text that is JSON", gpuimg.Error, "no image", c.path("json"), "stats")

# No .npy file comes back as if it were its own result.
kinds = {"complex": np.zeros((4, 4), "c8"), "1-D": np.zeros(4, "u1"), "4-D": np.zeros((1, 4, 4, 3), "u1"), "0-D": np.zeros((), "u1"),
         "structured": np.zeros((4, 4), "u1,u2"), "strings": np.full((4, 4), "abc"), "object": np.full((4, 4), None),
         "empty": np.zeros((0, 4), "u1"), "dates": np.zeros((4, 4), "M8[s]")}
for name, array in kinds.items():
    np.save(c.path("kind.npy"), array, allow_pickle=True)
    for chain in ("invert", "stats", "integral"):
        refused(f"{name}, {chain}", (TypeError, ValueError), "gpuimg: ", c.path("kind.npy"), chain)
with open(c.path("image.npy"), "rb") as file:
    whole = file.read()
for n in (6, 9, 60, len(whole) - 1):
    with open(c.path("cut.npy"), "wb") as file:
        file.write(whole[:n])
    refused(f"a .npy file cut to {n} bytes", ValueError, "cut.npy", c.path("cut.npy"))

# The column of Ray Data, without Ray: encoded images become encoded images, or the JSON of tables.
files = {"bytes": np.array([open(c.path("in.ppm"), "rb").read(), open(c.path("dots.pgm"), "rb").read(), b"text"], object)}
def column(chain, *options):
    results = gpuimg.ray.GpuImg(chain, program=c.program, options=(*CPU, *options))(dict(files))["bytes"]
    return list(results)
inverted = column("invert | invert")
c.check("Ray: images keep their format", inverted == list(files["bytes"]), inverted)
c.check("Ray: --format", [data[:4] for data in column("invert", "--format", "png")] == [b"\x89PNG", b"\x89PNG", b"text"])
c.check("Ray: --suffix", [data[:4] for data in column("invert", "--suffix", ".png")] == [b"\x89PNG", b"\x89PNG", b"text"])
for options in ((), ("--suffix", ".json"), ("--format", "png")):
    tables = [json.loads(data) for data in column("extract --threshold 50", *options)[:2]]
    c.check("Ray: tables", [r["area"] for r in tables[1]["regions"]] == [18, 16], tables)
for chain in ("gausian", "--file=/etc/passwd", "stats --to x.json"):
    try:
        column(chain)
        c.check(f"Ray: {chain}", False, "no error")
    except gpuimg.ArgumentError as error:
        c.check(f"Ray: {chain}", str(error).startswith("gpuimg: run: "), error)

# A chain is no option, whatever it begins with.
for chain in ("--file=/etc/passwd", "-f/etc/passwd", "--help", "--table=-", "-", "--", "--tar", "-h", "", "  "):
    refused(f"the chain {chain!r}", gpuimg.Error, "gpuimg: run: ", plane, chain)
# Options that leave no result for the caller are errors too.
for options in (("--table", "-"), ("--table", c.path("x.csv")), ("--out-dir", c.path(".")), ("--resume", "--suffix", "x"), ("x.tar",)):
    for chain in ("invert", "stats"):
        refused(f"{chain} with {options}", gpuimg.Error, "gpuimg", plane, chain, *options)
for chain in ("stats --to x.json", "stats | invert", "extract --labels x.png", "stats --total"):
    refused(chain, gpuimg.Error, "gpuimg", plane, chain)
# Warnings of the program are passed on, except that an array holds no metadata.
c.run("convert", c.path("in.ppm"), c.path("one.png"))
picture = open(c.path("one.png"), "rb").read()
open(c.path("two.png"), "wb").write(picture + picture)
open(c.path("more.png"), "wb").write(picture + b"made up")
refused("a file of two images", gpuimg.Error, "has 2 images", c.path("two.png"), "invert")
for name, number in (("one.png", 0), ("more.png", 1)):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        gpuimg.run(c.path(name), "invert", program=c.program, options=CPU)
    said = [str(w.message) for w in said if w.category is UserWarning]
    c.check(f"{name}: warnings", len(said) == number, said)
c.end()
