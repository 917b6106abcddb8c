"""The functions of the Python package, which are made from the rows of the program: signatures, docstrings and results
against numpy and scipy, what they take as images, further images as arrays, and where the program is found.

Sources: cli/python
"""
import copy
import inspect
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import threading
import warnings

from _common import Checks, np, optional, write
import _python
import gpuimg

c = Checks()
ndimage = optional("scipy.ndimage")
Image = optional("PIL.Image")
gray = c.rng.integers(0, 256, (31, 40), "u1")
color = c.rng.integers(0, 256, (31, 40, 3), "u1")
floats = c.rng.random((31, 40), dtype="f4")
listed = json.loads(c.run("list", "--json"))
rows = {row["name"]: row for row in listed["operations"]}


def equal(name, got, want):
    c.check(name, type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want), got)


def refused(name, kind, words, call, *arguments, **options):
    try:
        got = call(*arguments, **options)
        c.check(name, False, f"no error, but {got}")
    except kind as error:
        c.check(name, words in str(error), f"{type(error)} {error}")


# Every step of a chain is a function, whose arguments are the options, with their defaults and descriptions.
steps = c.run("help", "run").decode().split("their options:\n")[1].split("\n\n")[0]
steps = [line.split()[0] for line in steps.splitlines() if not line.split()[0].startswith("--")]
c.check("there are steps", len(steps) > 50 and set(steps) <= set(rows), steps)
for step in steps:
    name = {"open": "open_", "hash": "hash_"}.get(step, step.replace("-", "_"))
    function = getattr(gpuimg, name)
    text, parameters = inspect.getdoc(function), inspect.signature(function).parameters
    c.check(f"{name}: in __all__, annotated", name in gpuimg.__all__ and all(p.annotation for p in parameters.values()))
    for section in ("Parameters\n-----", "Returns\n----", "Raises\n----", "Examples\n----"):
        c.check(f"{name}: {section.split()[0]}", section in text)
    bare = re.sub(r"(?<!\w)'[^']*'|`[^`]*`|gpuimg [a-z]+( --[a-z]+( csv| 256)?)*", "", " ".join(text.split()))
    c.check(f"{name}: no options of commands", not re.search(r"--[a-z]+", bare), re.findall(".*--[a-z].*", text))
    for argument, parameter in list(parameters.items())[1:-1]:
        option = next(o for o in rows[step]["options"] if o["name"] == argument.rstrip("_").replace("_", "-"))
        c.check(f"{name}: {argument} described", re.search(rf"^{argument} : .+\n    \S", text, re.M))
        default = parameter.default
        if default not in (None, inspect.Parameter.empty, False):
            said = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
            c.check(f"{name}: {argument} has the default", said == option["default"], (default, option["default"]))
        if "min" in option:
            c.check(f"{name}: {argument} has a range", f"{option['min']:.15g} to" in " ".join(text.split()))
c.check("dir()", {"gaussian", "run", "Common"} <= set(dir(gpuimg)) and len(set(gpuimg.__all__)) == len(gpuimg.__all__))
refused("no such operation", AttributeError, "no attribute 'gausian'", lambda: gpuimg.gausian)
c.check("the version", gpuimg.__version__ == listed["version"])
c.check("sigma and k", list(inspect.signature(gpuimg.gaussian).parameters)[:3] == ["image", "sigma", "k"])
c.check("other options are named", inspect.signature(gpuimg.gaussian).parameters["sigma"].kind == inspect.Parameter.KEYWORD_ONLY)
for name in [step for step in steps if step != "stack"] + ["labels", "compare"]:
    # Every example is accepted up to its files, which do not exist.
    text = inspect.getdoc(getattr(gpuimg, {"open": "open_", "hash": "hash_"}.get(name, name.replace("-", "_"))))
    for call in re.sub(r"\n\.\.\. +", " ", text.split("Examples\n--------\n")[1]).splitlines():
        try:
            exec(call.removeprefix(">>> "), {"gpuimg": gpuimg, "image": color})
            c.check(call, "(image" in call)
        except FileNotFoundError as error:
            c.check(call, True)
        except gpuimg.Error as error:
            c.check(call, not isinstance(error, gpuimg.ArgumentError) or "No such file" in str(error), error)

# Each option of each function is that of the chain: a choice, a value in the middle of the range, or a flag.
def other_value(option):
    default = option["default"]
    if option["type"] == "flag":
        return True, ""
    if option["type"] == "choice":
        names = [choice["name"] for choice in option["choices"] if "alias_of" not in choice and choice["name"] != default]
        return names[0], f"={names[0]}"
    if "min" in option and option["type"] in ("int", "odd", "real"):
        middle = min(option["max"], max(option["min"], 2) + 1)
        value = middle if option["type"] == "real" else int(middle) | 1
        return value, f"={value}"
    return None, ""


def outcome(call):
    """What a call returns, or the kind of its error."""
    try:
        result = call()
    except TypeError:  # an argument is missing
        return gpuimg.ArgumentError
    except gpuimg.Error as error:
        return type(error)
    return json.dumps(result, default=np.ndarray.tolist) if isinstance(result, dict) else (result.dtype, result.shape, result.tobytes())


for step in [step for step in steps if step != "stack"]:
    function = getattr(gpuimg, {"open": "open_", "hash": "hash_"}.get(step, step.replace("-", "_")))
    options = {o["name"]: o for o in rows[step]["options"]}
    for argument in list(inspect.signature(function).parameters)[1:-1]:
        name = argument.rstrip("_").replace("_", "-")
        value, text = other_value(options[name])
        if value is not None:
            got, want = outcome(lambda: function(color, **{argument: value})), outcome(lambda: gpuimg.run(color, f"{step} --{name}{text}"))
            c.check(f"{step} --{name}{text}", got == want, (got, want))

# Types, as mypy sees them.
mypy = os.path.join(_python.TOP, "build/venv/bin/mypy")
if os.path.exists(mypy):
    with open(c.path("user.py"), "w") as file:
        file.write("import gpuimg\nimport numpy as np\na = np.zeros((4, 4), np.uint8)\n"
                   "table: dict[str, object] = gpuimg.stats(gpuimg.gaussian(a, sigma=2, border='wrap', device='cpu'))\n"
                   "gpuimg.gaussian(a, sigmma=2)\ngpuimg.gaussian(a, border='wrapp')\ngpuimg.gausian(a)\ngpuimg.convolve(a)\ngpuimg.invert(3)\n"
                   "import io, pathlib\nfor image in (pathlib.Path('a'), 'a', b'', io.BytesIO(), gpuimg.Picture(a), open('a', 'rb')): gpuimg.invert(image)\n")
    done = subprocess.run([mypy, "--strict", "--no-error-summary", "--cache-dir", c.path("cache"), c.path("user.py"), _python.made],
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": _python.folder.name}, cwd=_python.folder.name)
    lines = [int(line) for line in re.findall(r"user\.py:(\d+): error", done.stdout)]
    c.check("mypy --strict", lines == [5, 6, 7, 8, 9] and done.stdout.count(": error") == 5, done.stdout + done.stderr)
else:
    c.skip("mypy is not in build/venv: make deps test puts it there")

# Results against numpy and scipy.
equal("invert", gpuimg.invert(gray), 255 - gray)
equal("flip", gpuimg.flip(color, h=True), color[:, ::-1])
equal("crop", gpuimg.crop(gray, size=(10, 8, 3, 2)), gray[2:10, 3:13])
equal("pad", gpuimg.pad(gray, margins=(1, 2)), np.pad(gray, ((2, 2), (1, 1))))
equal("convert", gpuimg.convert(gray, depth="16"), gray.astype("u2") * 257)
equal("a choice as a number", gpuimg.convert(gray, depth=16), gray.astype("u2") * 257)
equal("gray as a flag", gpuimg.convert(np.dstack([gray] * 3), gray=True), gray)
equal("threshold", gpuimg.threshold(gray, threshold=90), np.where(gray > 90, 255, 0).astype("u1"))
equal("a percentage", gpuimg.threshold(gray, threshold="50%"), np.where(gray > 127.5, 255, 0).astype("u1"))
equal("channels", gpuimg.channels(color, order="bgr"), color[:, :, ::-1])
equal("common options", gpuimg.flip(gray, h=True, depth="float", device="cpu", threads=1), (gray[:, ::-1] / np.float32(255)).astype("f4"))
if ndimage:
    equal("median", gpuimg.median(gray, k=3, border="mirror"), ndimage.median_filter(gray, 3, mode="reflect"))
    equal("erode by a mask", gpuimg.erode(gray, mask=np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])),
          ndimage.grey_erosion(gray, footprint=ndimage.generate_binary_structure(2, 1), mode="nearest"))
    got = gpuimg.gaussian(floats, sigma=2, border="mirror")
    c.check("gaussian", np.abs(got - ndimage.gaussian_filter(floats.astype("f8"), 2, mode="reflect")).max() < 1e-5)
    kernel = [[0, 1, 2], [-1, 0, 1], [-2, -1, 0.5]]
    for rowwise in (kernel, np.array(kernel)):
        for flip, of in ((False, ndimage.correlate), (True, ndimage.convolve)):
            got = gpuimg.convolve(floats, kernel=rowwise, flip=flip, border="clamp")
            c.check("convolve", np.abs(got - of(floats.astype("f8"), np.array(kernel), mode="nearest")).max() < 1e-5)

for array in (gray, color, floats, color.astype("u2"), np.asfortranarray(color), floats[::-2, ::3]):
    got = gpuimg.flip(array, h=True)
    before = array.copy()
    c.check("a result is the caller's", got.flags.writeable and got.flags.aligned and got.flags.c_contiguous)
    got[:] = 0
    c.check("and not the input", np.array_equal(array, before) and np.array_equal(gpuimg.flip(array, h=True), before[:, ::-1]))
read_only = gray.copy()
read_only.flags.writeable = False
equal("a read-only array", gpuimg.invert(read_only), 255 - gray)

# Further images are arrays, files and PIL images; a file is read anew.
other = c.rng.integers(0, 256, (31, 40), "u1")
difference = np.abs(gray.astype(int) - other).astype("u1")
equal("absdiff", gpuimg.absdiff(gray, other), difference)
equal("absdiff by name", gpuimg.absdiff(gray, with_=other), difference)
equal("of a value", gpuimg.absdiff(gray, value=7), np.abs(gray.astype(int) - 7).astype("u1"))
write(c.path("other.pgm"), other)
path = pathlib.Path(c.path("other.pgm"))
for name, image in (("a path", str(path)), ("a Path", path), ("bytes", path.read_bytes())):
    equal(f"absdiff with {name}", gpuimg.absdiff(gray, image), difference)
write(c.path("other.pgm"), gray)
equal("a file that has changed", gpuimg.absdiff(gray, c.path("other.pgm")), np.zeros_like(gray))
for i in range(40):  # more than chains are kept
    equal("another image each time", gpuimg.absdiff(gray, np.full_like(gray, i)), np.abs(gray.astype(int) - i).astype("u1"))
c.check("files in memory are closed", len(os.listdir("/proc/self/fd")) < 120, len(os.listdir("/proc/self/fd")))
mask = np.where(np.arange(40) < 20, 255, 0).astype("u1") * np.ones((31, 1), "u1")
equal("mask", gpuimg.mask(gray, mask, fill=9), np.where(mask > 0, gray, 9).astype("u1"))
dark, flat = np.full_like(floats, 0.1), np.full_like(floats, 0.6)
c.check("flat-field with two images", np.allclose(gpuimg.flat_field(floats, flat, dark=dark), floats - dark, atol=1e-6))
ys, xs = np.mgrid[:31, :40].astype("f4")
equal("remap", gpuimg.remap(gray, np.dstack([39 - xs, ys]), interpolation="nearest"), gray[:, ::-1])
equal("remap by two maps", gpuimg.remap(gray, 39 - xs, map_y=ys, interpolation="nearest"), gray[:, ::-1])
refused("another size", gpuimg.Error, "--with", gpuimg.absdiff, gray, other[:5])
refused("a further file that is no image", gpuimg.Error, "--with: further image", gpuimg.absdiff, gray, b"no image")

# Analyses are dicts and arrays.
stats = gpuimg.stats(color)
c.check("stats", np.allclose([ch["mean"] for ch in stats["channels"]], color.mean((0, 1))))
counts = np.bincount(gray.ravel(), minlength=256)
bins = gpuimg.histogram(gray)["channels"][0]["bins"]
c.check("histogram", isinstance(bins, np.ndarray) and np.array_equal(bins, counts), bins)
c.check("integral", np.array_equal(gpuimg.integral(gray), gray.cumsum(0, "u8").cumsum(1)))
c.check("cumulative", np.array_equal(gpuimg.cumulative(color), color.cumsum(1, "u8")))
spots = np.zeros((31, 40), "u1")
spots[2:5, 3:9], spots[10:18, 20:22], spots[30, 39] = 200, 90, 255
c.check("palette", {p["color"][0]: p["pixels"] for p in gpuimg.palette(spots)["palette"]} == {0: 1205, 200: 18, 90: 16, 255: 1})
c.check("hash", gpuimg.hash_(np.full((9, 9), 7, "u1"))["hash"] == "8000000000000000")
c.check("extract", [r["area"] for r in gpuimg.extract(spots, threshold=50, min_area=2)["regions"]] == [18, 16])
found = gpuimg.labels(spots, threshold=50)
c.check("labels", found.dtype.kind in "iu" and found.dtype.itemsize == 4)
if ndimage:
    c.check("labels of scipy", np.array_equal(found, ndimage.label(spots > 50, np.ones((3, 3)))[0]))
c.check("labels, --min-area", np.array_equal(gpuimg.labels(spots, threshold=50, min_area=17) > 0, spots == 200))
c.check("extract by a mask", [r["area"] for r in gpuimg.extract(gray, mask_image=spots > 0)["regions"]] == [18, 16, 1])
numbers = gpuimg.compare(gray, other)
error = (gray.astype(float) - other) ** 2
c.check("compare", numbers["differing"] == (gray != other).sum() and np.isclose(numbers["mse"], error.mean())
        and np.isclose(numbers["psnr"], 10 * np.log10(255**2 / error.mean())) and "a" not in numbers, numbers)
c.check("compare equal ones", gpuimg.compare(gray, gray)["differing"] == 0 and gpuimg.compare(color, color)["psnr"] is None)
ignored = gpuimg.compare(gray, other, ignore=mask, tolerance=5)
c.check("compare without a part", ignored["differing"] == (np.abs(gray.astype(int) - other)[:, 20:] > 5).sum(), ignored)
refused("compare of two sizes", gpuimg.Error, "further image", gpuimg.compare, gray, other[:5])
many = c.rng.random((5, 31, 40, 3), dtype="f4")
for method, of in (("mean", np.mean), ("median", np.median), ("max", np.max)):
    c.check(f"stack {method}", np.allclose(gpuimg.stack(list(many), method=method), of(many, 0), atol=1e-6))
refused("stack of two types", ValueError, "want one size and type", gpuimg.stack, [gray, floats])
refused("stack of nothing", ValueError, "at least one", gpuimg.stack, [])

# What is an image, and what becomes of its samples.
write(c.path("gray.pgm"), gray)
data = open(c.path("gray.pgm"), "rb").read()
for name, image in (("bytes", data), ("bytearray", bytearray(data)), ("memoryview", memoryview(data)), ("BytesIO", io.BytesIO(data)),
                    ("Path", pathlib.Path(c.path("gray.pgm"))), ("str", c.path("gray.pgm"))):
    equal(name, gpuimg.invert(image), 255 - gray)
with open(c.path("gray.pgm"), "rb") as file:
    equal("a file", gpuimg.invert(file, timeout=20), 255 - gray)
refused("a file of text", TypeError, 'mode "rb"', gpuimg.invert, io.StringIO("P5"))
refused("no image", gpuimg.Error, "no image", gpuimg.invert, b"no image")
refused("None", TypeError, "NoneType", gpuimg.invert, None)


class Tensor:
    def __array__(self, dtype=None, copy=None):
        return gray


equal("an object with __array__", gpuimg.invert(Tensor()), 255 - gray)
equal("(h, w, 1)", gpuimg.invert(gray[:, :, None]), 255 - gray[:, :, None])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    for dtype in ("i1", "i2", "i4", "i8", "u4", "u8", "f2", "f8", ">i4", ">f8"):
        array = c.rng.integers(0, 100, (9, 8)).astype(dtype)
        equal(f"{dtype} is float32 of the same value", gpuimg.flip(array, h=True), array[:, ::-1].astype("f4"))
        np.save(c.path("a.npy"), array)
        c.run("flip", "--h", c.path("a.npy"), c.path("b.npy"))
        equal(f"{dtype} as the program takes it", gpuimg.flip(array, h=True), np.load(c.path("b.npy")))
    equal("negative integers", gpuimg.flip(np.array([[-5, 3]]), h=True), np.array([[3, -5]], "f4"))
    doubles = c.rng.random((9, 8))
    equal("float64", gpuimg.flip(doubles, h=True), doubles[:, ::-1].astype("f4"))
    equal("not finite", gpuimg.flip(np.array([[np.inf, np.nan, 1.0]]), h=True)[0, 2:], np.array([np.inf], "f4"))
large = np.array([[2**24 + 1, 0]])
for name, array in (("large integers", large), ("floats far from 0", 1e9 + c.rng.random((9, 8)))):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        gpuimg.flip(array, h=True)
    c.check(name, len(said) == 1 and "rounded to float32" in str(said[0].message) and said[0].filename == __file__, said)
refused("large integers, strict", ValueError, "rounded to float32", gpuimg.flip, large, h=True, strict=True)
refused("float64, strict", ValueError, "rounded to float32", gpuimg.flip, doubles, h=True, strict=True)
refused("beyond float32", ValueError, "beyond the range", gpuimg.invert, np.array([[1e300, 0]]))
refused("complex", TypeError, "complex64", gpuimg.invert, np.zeros((2, 2), "c8"))

# Masked pixels are left out, and come back masked where no pixel reaches them.
hidden = np.zeros((31, 40), bool)
hidden[3:5, 7] = hidden[20:30, 5:30] = True
for dtype in ("f4", "f8"):
    masked = np.ma.masked_array(floats.astype(dtype), hidden)
    got = gpuimg.flip(masked, h=True)
    c.check("masked", isinstance(got, np.ma.MaskedArray) and np.array_equal(got.mask, hidden[:, ::-1])
            and np.array_equal(got.compressed(), masked[:, ::-1].compressed().astype("f4")))
    numbers = gpuimg.stats(masked)["channels"][0]
    c.check("stats of what is not masked", numbers["count"] == masked.count() and np.isclose(numbers["mean"], masked.mean()))
    near = gpuimg.blur(masked, k=3)
    weights = sum(np.roll(~hidden, (y, x), (0, 1)).astype("f8") for y in (-1, 0, 1) for x in (-1, 0, 1))
    sums = sum(np.roll(np.where(hidden, 0, floats).astype("f8"), (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1))
    inside = (slice(1, -1), slice(1, -1))
    want = (sums / np.maximum(weights, 1))[inside]
    ok = weights[inside] > 0
    c.check("blur of what is not masked", np.array_equal(near.mask[inside], ~ok) and np.allclose(near.data[inside][ok], want[ok], atol=1e-6))
refused("masked integers", TypeError, "want floats", gpuimg.invert, np.ma.masked_equal(gray, 3))
refused("a mask per channel", ValueError, "all channels", gpuimg.invert, np.ma.masked_less(c.rng.random((5, 5, 3)), 0.5))
refused("a masked further image", TypeError, "want array.filled", gpuimg.add, floats, masked)

if Image:
    equal("PIL L", gpuimg.invert(Image.fromarray(gray)), 255 - gray)
    equal("PIL RGB", gpuimg.invert(Image.fromarray(color)), 255 - color)
    equal("PIL 1", gpuimg.invert(Image.fromarray(gray > 90)), np.where(gray > 90, 0, 255).astype("u1"))
    equal("PIL I;16", gpuimg.invert(Image.fromarray(gray.astype("u2") * 9)), 65535 - gray.astype("u2") * 9)
    equal("PIL F", gpuimg.flip(Image.fromarray(floats), h=True), floats[:, ::-1])
    palette = Image.fromarray(color).quantize(16)
    equal("PIL P", gpuimg.invert(palette), 255 - np.asarray(palette.convert("RGB")))
    equal("a further PIL image", gpuimg.absdiff(gray, Image.fromarray(other)), difference)
    refused("PIL CMYK", TypeError, "mode CMYK", gpuimg.invert, Image.new("CMYK", (4, 4)))
    png = gpuimg.Picture(color)._repr_png_()
    equal("Picture", np.asarray(Image.open(io.BytesIO(png))), color)
    shown = np.asarray(Image.open(io.BytesIO(gpuimg.Picture(floats)._repr_png_())))
    c.check("Picture of floats", np.abs(shown - floats.astype("f8") * 255).max() <= 0.5001)
    jpeg = gpuimg.encode(color, "jpeg", quality=95)
    c.check("encode", Image.open(io.BytesIO(jpeg)).format == "JPEG" and len(jpeg) > len(gpuimg.encode(color, "jpeg", quality=20)))
equal("read", gpuimg.read(gpuimg.encode(color)), color)
equal("a Picture is an array", gpuimg.invert(gpuimg.Picture(gray)), 255 - gray)
refused("encode, a wrong value", gpuimg.ArgumentError, "--quality", gpuimg.encode, gray, "jpeg", quality=900)

# Errors have the text of the program, and name what is accepted.
refused("a value out of range", gpuimg.ArgumentError, "want 1 to 2 numbers separated by commas, each 0 to 250 px", gpuimg.gaussian, gray, sigma=999)
refused("it is a ValueError", ValueError, "--sigma 999", gpuimg.gaussian, gray, sigma=999)
refused("a wrong choice", gpuimg.ArgumentError, "--border", gpuimg.gaussian, gray, border="wrapp")
refused("a wrong name", TypeError, "sigmma", gpuimg.gaussian, gray, sigmma=2)
refused("an option of batches", TypeError, "out_dir", gpuimg.gaussian, gray, out_dir="/tmp")
refused("a missing argument", TypeError, "kernel", gpuimg.convolve, gray)
refused("text with quotes", gpuimg.ArgumentError, "quotes", gpuimg.color, color, balance="'\"")
refused("a text is no further step", gpuimg.Error, "gpuimg", gpuimg.color, color, balance="gray | invert")

# Chains in threads, pickled, and processes of multiprocessing.
results = []


def work(i):
    want = np.abs(gray.astype(int) - i)
    results.append(all(np.array_equal(gpuimg.absdiff(gray, np.full_like(gray, i)), want) for _ in range(5)))


threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
c.check("twelve threads, twelve images", len(results) == 12 and all(results))
chain = pickle.loads(pickle.dumps(gpuimg.Chain("invert", options=("--device", "cpu"))))
equal("a pickled chain", chain(gray), 255 - gray)
equal("a copied chain", copy.deepcopy(chain)(gray), 255 - gray)
pid = os.fork()
if pid == 0:
    ok = np.array_equal(gpuimg.absdiff(gray, other), difference) and np.array_equal(gpuimg.invert(gray), 255 - gray)
    os._exit(0 if ok else 1)
c.check("functions after a fork", os.waitpid(pid, 0)[1] == 0)

# The program: GPUIMG, then the one that was installed with the package, then the one in PATH.
site = c.path("env/lib/python3.11/site-packages")
for place in (site, c.path("target")):
    shutil.copytree(_python.made, os.path.join(place, "gpuimg"))
for place in ("env/bin", "target/bin", "path"):
    os.makedirs(c.path(place))
    os.symlink(c.program, c.path(f"{place}/gpuimg"))


def found(folder, **variables):
    env = {"PATH": c.path("path") + ":/usr/bin:/bin", "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run([sys.executable, "-c", "import gpuimg, numpy; gpuimg.invert(numpy.zeros((2, 2), 'u1')); print(gpuimg.program())"],
                          env=env, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


c.check("beside the package", found(site) == c.path("env/bin/gpuimg"), found(site))
c.check("beside it, by --target", found(c.path("target")) == c.path("target/bin/gpuimg"))
c.check("GPUIMG comes first", found(site, GPUIMG=c.program) == c.program)
c.check("PATH comes last", found(_python.folder.name) == c.path("path/gpuimg"))
c.check("there is none", "FileNotFoundError: gpuimg: the program is neither" in found(_python.folder.name, PATH="/nowhere"))
c.end()
