"""resize --like pillow gives the bytes of Pillow in the versions that the option names. Each version is in a virtual
environment of its own, build/pillow/VERSION (tests/tests.mk), and this script runs itself there.

Sources: filters/geometry/resize.c filters/geometry/resample_weights*
"""
import os
import re
import subprocess
import sys

from _common import Checks, need, np, random_image

VERSIONS = ["9.4.0", "12.3.0", "13.0.0"]


def run_versions():
    """Adds up what the versions report; one that is in no environment is taken from this Python, or skipped."""
    c = Checks()
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/pillow")
    for version in VERSIONS:
        python = os.path.join(folder, version, "bin/python")
        python = python if os.path.exists(python) else sys.executable
        done = subprocess.run([python, __file__, c.program], env={**os.environ, "PILLOW": version}, capture_output=True,
                              text=True)
        lines = done.stdout.splitlines() + done.stderr.splitlines()
        counts = [re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", line) for line in lines]
        counts = [[int(n) for n in match.groups()] for match in counts if match]
        passed, failed, skipped = counts[0] if len(counts) == 1 else (0, 1, 0)
        c.passed, c.failed, c.skipped = c.passed + passed, c.failed + failed, c.skipped + skipped
        print("\n".join(line for line in lines if not line.endswith(" skipped")))
    c.end()


if "PILLOW" not in os.environ:
    run_versions()

(PIL, Image) = need("PIL", "PIL.Image")
if PIL.__version__ != os.environ["PILLOW"]:
    print(f"SKIP: no Pillow {os.environ['PILLOW']} in build/pillow (make deps test)")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

LIKE = {"9": "pillow-11", "12": "pillow-12", "13": "pillow"}[PIL.__version__.split(".")[0]]
FILTERS = {"nearest": Image.NEAREST, "box": Image.BOX, "bilinear": Image.BILINEAR, "hamming": Image.HAMMING,
           "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
CASES = 600
c = Checks()


def side():
    """Mostly short sides, sometimes long ones or a single pixel."""
    return int(min(1 + c.rng.exponential(60), 700))


def image_of(height, width, channels):
    """Noise; or steps with overshoot, and alpha that is often 0 or full."""
    image = random_image(c.rng, (height, width, channels), np.uint8)
    if c.rng.random() < 0.5:
        image = np.where(image > 127, np.uint8(255), np.uint8(0))
    if channels in (2, 4) and c.rng.random() < 0.7:
        image[:, :, -1] = c.rng.choice(np.array([0, 1, 40, 254, 255], np.uint8), (height, width))
    return image[:, :, 0] if channels == 1 else image


def test_fill():
    """Compares with Image.resize and the box that fills the size; if pixels are not resized, the box begins at a
    whole pixel."""
    gravities = ["northwest", "center", "southeast"]
    for i in range(90):
        name, j = list(FILTERS)[1 + i % 5], i // 5 % 3
        height, width, source = side(), side(), image_of(side(), side(), i % 4 + 1)
        sides = source.shape[1], source.shape[0]
        step, unit = (sides[0], width) if width * sides[1] >= height * sides[0] else (sides[1], height)
        kept = width * step / unit, height * step / unit
        at = [(sides[k] - kept[k]) * j / 2 for k in range(2)]
        if step == unit:
            at = [int(a) for a in at]
        box = (at[0], at[1], min(at[0] + kept[0], sides[0]), min(at[1] + kept[1], sides[1]))
        want = np.asarray(Image.fromarray(source, MODES[i % 4 + 1]).resize((width, height), FILTERS[name], box=box))
        got = c.filter(source, "resize", "--size", f"{width}x{height}", "--fill", "--gravity", gravities[j],
                       "--filter", name, "--like", LIKE)
        what = f"fill {name} {source.shape} to {width} x {height}, {gravities[j]}"
        same = got.shape == want.shape and np.array_equal(got, want)
        c.check(what, same, "" if same or got.shape != want.shape else f"off by {np.abs(got.astype(int) - want).max()}")


def test_size(name, channels, source, size):
    want = np.asarray(Image.fromarray(source, MODES[channels]).resize(size, FILTERS[name]))
    got = c.filter(source, "resize", "--size", f"{size[0]}x{size[1]}", "--stretch", "--filter", name, "--like", LIKE)
    same = got.shape == want.shape and np.array_equal(got, want)
    off = "" if same or got.shape != want.shape else np.abs(got.astype(int) - want).max()
    c.check(f"{LIKE} {name} {MODES[channels]} {source.shape} to {size}", same, f"off by {off}")


def test_recipe():
    """Compares with torchvision's Resize(short) and CenterCrop of a PIL image (0.29, transforms/functional.py): the
    long side is int(size * long / short), the corner int(round((side - crop) / 2.0))."""
    for i in range(40):
        crop, source = 14 + i % 3, image_of(40 + i % 7, 30 + int(c.rng.integers(0, 60)), 3)
        short, width, height = crop + 3, source.shape[1], source.shape[0]
        wide = int(short * max(width, height) / min(width, height))
        size = (short, wide) if width <= height else (wide, short)
        left, top = (int(round((side - crop) / 2.0)) for side in size)
        want = Image.fromarray(source).resize(size, Image.BILINEAR).crop((left, top, left + crop, top + crop))
        got = c.filter(source, "resize", "--short", f"{short}", "--filter", "bilinear", "--like", LIKE)
        got = c.filter(got, "crop", "--size", f"{crop}x{crop}", "--gravity", "center", "--like", "torchvision")
        c.check(f"torchvision {source.shape} to {size}, {crop}", np.array_equal(got, np.asarray(want)))


test_fill()
test_recipe()
# A tie that the constants of Pillow's window, which are floats, decide.
test_size("hamming", 1, np.array([[0, 0, 124, 68, 74, 9, 130, 24, 0]], np.uint8), (3, 1))
for i in range(CASES):
    channels, name = i % 4 + 1, list(FILTERS)[i // 4 % 6]
    source, size = image_of(side(), side(), channels), (side(), side())
    if i % 13 == 0:
        size = (source.shape[1], size[1])
    if i % 17 == 0:
        size = (size[0], source.shape[0])
    test_size(name, channels, source, size)
for i in range(48):  # over and under 100 times as high as wide
    channels, name, width = i % 4 + 1, list(FILTERS)[i // 4 % 6], 1 + i % 5
    source = image_of(100 * width + [0, 1, -1, 57][i % 4], width, channels)
    test_size(name, channels, source, (int(c.rng.integers(1, 9)), int(c.rng.integers(1, 150 * width))))
c.end()
