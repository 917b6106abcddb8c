"""compare --metric pixelmatch gives the counts and pictures of the Python package pixelmatch.

The package is in the virtual environment build/venv (tests/tests.mk), and this script runs itself there.

Sources: filters/statistics/compare_pixelmatch.c
"""
import json
import os
import sys

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv/bin/python")
if os.path.exists(PYTHON) and "PIXELMATCH_ORACLE" not in os.environ:
    os.environ["PIXELMATCH_ORACLE"] = "1"
    os.execv(PYTHON, [PYTHON, *sys.argv])

from _common import Checks, need, np, random_image, read, suffix, write  # noqa: E402

(pixelmatch, Image, Draw) = need("pixelmatch", "PIL.Image", "PIL.ImageDraw")
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
c = Checks()


def shapes(shift):
    """Lines and an ellipse with antialiased edges."""
    large = Image.new("RGB", (320, 240), (250, 250, 240))
    draw = Draw.Draw(large)
    draw.line((10 + shift, 20, 300, 200 + shift), (20, 30, 200), 9)
    draw.ellipse((60, 70 + shift, 200, 190 + shift), (200, 60, 30), (0, 0, 0), 5)
    draw.rectangle((220, 20, 300, 60 + 4 * (shift > 2)), (30, 160, 60))
    return np.asarray(large.resize((80, 60), Image.Resampling.BOX))


def ours(a, b, threshold, *args, status=None):
    paths = [c.path("a" + suffix(a)), c.path("b" + suffix(b)), c.path("diff.ppm")]
    write(paths[0], a)
    write(paths[1], b)
    text = c.run("compare", *paths[:2], "--json", "--metric", "pixelmatch", "--threshold", threshold, "--diff", paths[2], *args, status=status)
    return json.loads(text), read(paths[2])


def check(name, a, b, threshold):
    rgba = [list(Image.fromarray(v, MODES[1 if v.ndim == 2 else v.shape[2]]).convert("RGBA").tobytes()) for v in (a, b)]
    height, width = a.shape[:2]
    drawn = [0] * (4 * height * width)
    want = pixelmatch.pixelmatch(*rgba, width, height, drawn, threshold=threshold)
    drawn = np.array(drawn, np.uint8).reshape(height, width, 4)
    got, picture = ours(a, b, threshold, status=int(want > 0))
    c.check(f"{name}: count", got["pixelmatch"] == want, f"{got['pixelmatch']} against {want}")
    c.check(f"{name}: antialiased", got["antialiased"] == (drawn == (255, 255, 0, 255)).all(axis=2).sum())
    c.check(f"{name}: picture", np.array_equal(picture, drawn[..., :3]))
    return got


def test_shapes():
    seen = 0
    for shift in (1, 2, 3):
        for threshold in (0.02, 0.1, 0.5):
            seen += check(f"shapes moved by {shift}, {threshold}", shapes(0), shapes(shift), threshold)["antialiased"]
    c.check("shapes have antialiased pixels", seen > 20, seen)
    check("equal", shapes(0), shapes(0), 0.1)


def test_random():
    """Few values, so that pixels have equal ones around them, with alpha, and in sizes down to one pixel."""
    for channels in MODES:
        for height, width in ((20, 300), (1, 1), (1, 7), (9, 2)):
            shape = (height, width, channels) if channels > 1 else (height, width)
            a = c.rng.integers(0, 2, shape).astype(np.uint8) * 255
            b = a.copy()
            chosen = c.rng.random((height, width)) < 0.3
            b[chosen] = random_image(c.rng, shape, np.uint8)[chosen]
            check(f"random {shape}", a, b, 0.1)


def test_rules():
    a, b = shapes(0), shapes(3)
    n = ours(a, b, 0.1, status=1)[0]["pixelmatch"]
    wide = ours(a.astype(np.uint16) * 257, b.astype(np.uint16) * 257, 0.1, status=1)[0]
    c.check("16 bits", wide["pixelmatch"] == n and wide["depth"] == 16)
    ours(a, b, 0.1, "--max-differing", n, status=0)
    ours(a, b, 0.1, "--max-differing", n - 1, status=1)
    ours(a, b, 0.1, "--max-differing", f"{100 * n / 4800 + 1e-6}%", status=0)
    mask = np.zeros((60, 80), np.uint8)
    mask[:, 40:] = 1
    path = c.path("mask.pgm")
    write(path, mask)
    halves = [ours(a, b, 0.1, "--ignore", path, status=1), ours(a, b, 0.1, "--ignore-region", "40x60+0+0", status=1)]
    c.check("ignored pixels are not counted", sum(h[0]["pixelmatch"] for h in halves) == n)
    red = (halves[0][1] == (255, 0, 0)).all(axis=2)
    c.check("ignored pixels are not red", red[:, :40].sum() == halves[0][0]["pixelmatch"] and not red[:, 40:].any())


test_shapes()
test_random()
test_rules()
c.end()
