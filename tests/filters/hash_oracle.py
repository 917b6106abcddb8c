"""hash gives the values of the Python package imagehash, on Pillow 13.0.

The package is in the virtual environment build/venv (tests/tests.mk), and this script runs itself there.

Sources: filters/statistics/hash.c cli/commands/hash.c
"""
import json
import os
import sys

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv/bin/python")
if os.path.exists(PYTHON) and "HASH_ORACLE" not in os.environ:
    os.environ["HASH_ORACLE"] = "1"
    os.execv(PYTHON, [PYTHON, *sys.argv])

from _common import Checks, need, np, random_image, write  # noqa: E402

(imagehash, PIL, Image) = need("imagehash", "PIL", "PIL.Image")
if int(PIL.__version__.split(".")[0]) < 13:
    print(f"SKIP: Pillow {PIL.__version__} resizes otherwise, want 13")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

METHODS = {"average": imagehash.average_hash, "difference": imagehash.dhash, "perceptual": imagehash.phash,
           "wavelet": imagehash.whash}
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
c = Checks()


def smooth(height, width, channels):
    """A picture of a few waves with noise, whose gray values have ties now and then."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    planes = []
    for _ in range(channels):
        a = c.rng.uniform(-9, 9, 6)
        planes.append(128 + 60 * np.sin(a[0] * x + a[1] * y + a[2]) + 50 * np.sin(a[3] * x * y + a[4])
                      + c.rng.normal(0, abs(a[5]), (height, width)))
    image = np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)
    return image[:, :, 0] if channels == 1 else image


def decided(image, method, size):
    """Whether no wavelet is at the median, where rounding errors of imagehash decide."""
    if method != "wavelet":
        return True
    gray = Image.fromarray(image, MODES[1 if image.ndim == 2 else image.shape[2]]).convert("L")
    side = max(2 ** int(np.log2(min(gray.size))), size)
    small = np.asarray(gray.resize((side, side), Image.LANCZOS)).astype(np.int64)
    sums = small.reshape(size, side // size, size, side // size).sum(axis=(1, 3))
    return not (sums == np.median(sums)).any()


def test(image, method, size):
    channels = 1 if image.ndim == 2 else image.shape[2]
    path = c.path("in.pam" if channels % 2 == 0 else "in.pgm" if channels == 1 else "in.ppm")
    write(path, image)
    want = str(METHODS[method](Image.fromarray(image, MODES[channels]), hash_size=size))
    got = c.run("hash", path, "--method", method, "--size", size).decode().split()[0]
    c.check(f"{method} {size} {image.shape}", got == want, f"{got}, want {want}")


def test_ties():
    """Values equal to the mean or the median give 0."""
    flat = np.full((40, 50), 77, np.uint8)
    for method in METHODS:
        write(c.path("flat.pgm"), flat)
        got = c.run("hash", c.path("flat.pgm"), "--method", method).split()[0]
        c.check(f"{method} of a flat image", got == (b"8" if method == "perceptual" else b"0") + 15 * b"0", got)


def test_formats():
    """Every format of the table has the same bits."""
    write(c.path("a.ppm"), smooth(90, 120, 3))
    text = c.run("hash", c.path("a.ppm")).decode()
    digits = text.split()[0]
    c.check("text", text == f"{digits}  {c.path('a.ppm')}\n", text)
    c.check("csv", c.run("hash", c.path("a.ppm"), "--format", "csv").decode() == f"hash\n{digits}\n")
    found = json.loads(c.run("hash", c.path("a.ppm"), "--json"))
    c.check("json", found["hash"] == digits and found["method"] == "perceptual", found)
    for size in (5, 8, 12):
        c.run("hash", c.path("a.ppm"), c.path("a.npy"), "--size", size)
        words = np.load(c.path("a.npy"))["hash"].reshape(-1)
        value = sum(int(word) << 64 * i for i, word in enumerate(words[::-1]))
        c.check(f"npy {size}", value == int(c.run("hash", c.path("a.ppm"), "--size", size).split()[0], 16), value)
    c.run("hash", c.path("a.ppm"), c.path("a.ppm"), "--table", c.path("all.npy"))
    c.check("npy of many", [row["hash"].decode() for row in np.load(c.path("all.npy"))] == [digits] * 2)
    c.check("chain", c.run("run", "flip --h | flip --h | hash", c.path("a.ppm")).decode().split()[0] == digits)


def test_depths():
    """16 bits and floats are those of 8 bits, if their samples are."""
    image = smooth(60, 80, 3)
    write(c.path("a.ppm"), image)
    want = c.run("hash", c.path("a.ppm")).split()[0]
    write(c.path("b.ppm"), image.astype(np.uint16) * 257)
    write(c.path("c.pfm"), image.astype(np.float32) / 255)
    for name in ("b.ppm", "c.pfm"):
        c.check(f"depth of {name}", c.run("hash", c.path(name)).split()[0] == want)


def test_gray():
    """All colours: a difference of two neighbouring pixels shows when the gray of one of them is wrong by one."""
    colours = random_image(c.rng, (8, 9, 3), np.uint8)
    for _ in range(20):
        gray = np.asarray(Image.fromarray(colours).convert("L")).astype(int)
        near = random_image(c.rng, (8, 9, 3), np.uint8)
        closer = np.abs(np.asarray(Image.fromarray(near).convert("L")).astype(int) - 128) < np.abs(gray - 128)
        colours[closer] = near[closer]
        test(colours, "difference", 8)


skipped = 0
for i in range(320):
    method, channels = list(METHODS)[i % 4], i // 4 % 4 + 1
    size = [8, 8, 16, 4][i // 16 % 4] if method == "wavelet" or i % 5 else 7
    height, width = (int(min(1 + c.rng.exponential(150), 900)) for _ in range(2))
    image = random_image(c.rng, (height, width, channels), np.uint8) if i % 3 == 0 else smooth(height, width, channels)
    image = image[:, :, 0] if image.ndim == 3 and channels == 1 else image
    if method == "perceptual" and min(height, width) < 4:
        continue  # symmetric when enlarged: coefficients of 0, whose signs are rounding errors
    if decided(image, method, size):
        test(image, method, size)
    else:
        skipped += 1
c.check("few wavelets are at the median", skipped < 20, skipped)
test_ties()
test_formats()
test_depths()
test_gray()
c.end()
