"""Automatic thresholds against the functions threshold_*() of scikit-image: equal in 8 and 16 bits, and Li's in floats
within a bin of 256. Yen's and multi-Otsu's are computed in single precision there: if they differ, the criterion in
double must be larger here, by a part in 10^4 at most.

Sources: filters/tone/auto_threshold* filters/tone/threshold.c filters/tone/threshold_level*
"""
import json
import os
import re

from _common import Checks, need, np, read, suffix, write

(filters,) = need("skimage.filters")
c = Checks()
METHODS = ("otsu", "li", "yen", "triangle", "isodata", "minimum", "mean")


def images():
    """Gray images of two to four groups of values, of 8 and 16 bits and of floats, and of few values."""
    for i, shape in enumerate([(61, 83), (120, 97), (200, 211)]):
        groups = 2 + i
        centres = np.sort(c.rng.choice(np.arange(1, 10), groups, replace=False)) / 10
        exact = centres[c.rng.integers(0, groups, shape)] + c.rng.normal(0, 0.03 + 0.01 * i, shape)
        exact = np.clip(exact, 0, 1)  # 10 of 16 bits, because scikit-image takes minutes for more
        yield f"{groups} groups", np.rint(255 * exact).astype(np.uint8)
        yield f"{groups} groups", np.rint(1023 * exact).astype(np.uint16)
        yield f"{groups} groups", (3 * exact - 1).astype(np.float32)
    yield "ramp", np.tile(np.arange(256, dtype=np.uint8), (3, 1))
    yield "two values", np.uint8([[7, 7, 200, 200, 200]])
    yield "dark", (c.rng.random((64, 64)) ** 6 * 255).astype(np.uint8)


def peer(method, image):
    """Returns scikit-image's threshold, or None if it finds none."""
    try:
        exact = image.astype(np.float64) if image.dtype == np.float32 else image
        return float(getattr(filters, f"threshold_{method}")(exact))
    except RuntimeError:
        return None


def yen(image, t):
    """Returns Yen's criterion, in double, of the threshold t."""
    values, counts = np.unique(image, return_counts=True)
    p = counts / counts.sum()
    low = p[values <= t]
    return (low.sum() * (1 - low.sum())) ** 2 / ((low**2).sum() * (p[values > t] ** 2).sum())


def between(image, classes):
    """Returns the part of multi-Otsu's criterion that depends on the classes."""
    exact = image.astype(np.float64) - image.min()
    return sum(exact[classes == i].sum() ** 2 / max(1, (classes == i).sum()) for i in range(classes.max() + 1))


def at_least(got, want):
    return want <= got * (1 + 1e-12) and got <= want * (1 + 1e-4)


def check_level(name, method, image):
    want = peer(method, image)
    path, out = c.path("in" + suffix(image)), c.path("out" + suffix(image))
    write(path, image)
    p = c.result("extract", path, "--threshold", method, "--format", "json")
    if want is None:
        return c.check(name, p.returncode == 1 and f"method {method} finds no threshold" in p.stderr, p.stderr)
    if p.returncode:
        return c.check(name, False, p.stderr)
    got = json.loads(p.stdout)["threshold"]
    if method == "yen" and image.dtype != np.float32:
        c.check(f"{name} level", got == want or at_least(yen(image, got), yen(image, want)), (got, want))
    elif image.dtype != np.float32:
        c.check(f"{name} level", got == np.floor(want), (got, want))
    else:
        near = np.ptp(image.astype(np.float64)) / 256 if method in ("li", "yen") else 2.0**-22
        c.check(f"{name} level", abs(got - want) <= near, (got, want))
    told = re.findall(rf"{re.escape(path)}: level by {method}: (.*)", c.result("threshold", path, out, "--method", method, "-v").stderr)
    c.check(f"{name} --verbose", len(told) == 1 and float(told[0]) == float(f"{got:.9g}"), (told, got))
    for invert in ((), ("--invert",)):
        c.run("threshold", path, out, "--method", method, *invert)
        full = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
        mask = (image > got) != bool(invert)
        return c.check(f"{name} mask {invert}", np.array_equal(read(out), mask * image.dtype.type(full)))


def check_classes(name, image, classes):
    if image.dtype == np.uint16 and classes > 3:
        return
    exact = image.astype(np.float64) if image.dtype == np.float32 else image
    want = np.digitize(image, filters.threshold_multiotsu(exact, classes), right=True)
    full = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
    for invert in ((), ("--invert",)):
        got = c.filter(image, "threshold", "--method", "multi-otsu", "--classes", classes, *invert)
        gray = np.arange(classes) * (full / (classes - 1))
        gray = gray.astype(np.float32) if full == 1 else np.rint(gray)
        found = np.searchsorted(gray, got)
        c.check(f"{name} {classes} grays", np.array_equal(gray[found], got))
        found = classes - 1 - found if invert else found
        c.check(f"{name} {classes} classes {invert}", np.array_equal(found, want)
                or image.dtype != np.float32 and at_least(between(image, found), between(image, want)),
                f"{(found != want).sum()} of {got.size} differ")


for name, image in images():
    name = f"{name} {image.dtype.name}"
    for method in METHODS:
        check_level(f"{name} {method}", method, image)
    for classes in (2, 3, 4):
        if len(np.unique(image)) >= classes:
            check_classes(name, image, classes)

# Otsu's method for two classes is that for several; values with equal gaps have ties, of which the first is taken.
image = c.rng.integers(0, 256, (40, 50), dtype=np.uint8)
one = c.filter(image, "threshold")
c.check("multi-otsu of two classes is otsu",
        np.array_equal(one, c.filter(image, "threshold", "--method", "multi-otsu", "--classes", 2)))
many = c.filter(np.arange(16, dtype=np.uint8).reshape(4, 4) * 3, "threshold", "--method", "multi-otsu", "--classes", 16)
c.check("as many classes as values", np.array_equal(many.ravel(), np.arange(16) * 17))
few = c.filter(np.uint8([[9, 9, 30]]), "threshold", "--method", "multi-otsu", "--classes", 5)
c.check("fewer values than classes", np.array_equal(few, [[0, 0, 64]]))

# --verbose prints the levels of a chain, of each image of a batch and of an image in bands, and none that was given.
write(c.path("in.pgm"), image)
for args in (("run", "invert | invert | threshold --method multi-otsu --classes 4"), ("threshold", "--method", "multi-otsu", "--classes", 4)):
    p = c.result(*args, c.path("in.pgm"), c.path("in.pgm"), "--out", c.path("{index}.pgm"), "-v")
    told = re.findall(r"in\.pgm: (?:step 3, threshold: )?levels by multi-otsu: (.*)", p.stderr)
    c.check(f"levels of {args[0]}", told == [", ".join(f"{t}" for t in filters.threshold_multiotsu(image, 4))] * 2, p.stderr)
whole = c.result("threshold", c.path("in.pgm"), c.path("out.pgm"), "-v").stderr
os.environ["GPUIMG_BAND_BYTES"] = "500"
told = [re.findall("level by otsu: .*", text) for text in (whole, c.result("threshold", c.path("in.pgm"), c.path("out.pgm"), "-v").stderr)]
del os.environ["GPUIMG_BAND_BYTES"]
c.check("the level in bands", told[0] == told[1] and len(told[0]) == 1, told)
c.check("no level that was given", "level by" not in c.result("threshold", c.path("in.pgm"), c.path("out.pgm"), "-v", "--threshold", 9).stderr)

# Alpha is kept with --per-channel.
rgba = c.rng.integers(0, 256, (30, 20, 4), dtype=np.uint8)
parts = c.filter(rgba, "threshold", "--method", "multi-otsu", "--classes", 3, "--per-channel")
c.check("classes of each channel", set(np.unique(parts[:, :, :3])) == {0, 128, 255})
c.check("classes keep alpha", np.array_equal(parts[:, :, 3], rgba[:, :, 3]))
for args, text in ((("--method", "li", "--threshold", "5"), "--threshold and --method li: want one of them"),
                   (("--classes", "3"), "--classes 3: want --method multi-otsu with it"),
                   (("--threshold", "multi-otsu"), "want")):
    write(c.path("in.pgm"), image)
    p = c.result("threshold", c.path("in.pgm"), c.path("none.pgm"), *args)
    c.check(f"message {args}", p.returncode == 2 and text in p.stderr, p.stderr)
c.end()
