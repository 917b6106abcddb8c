"""hash --method block gives the values of the Python package phash-blockhashio, the reference by the authors of blockhash.io.

The package is in the virtual environment build/venv (tests/tests.mk), and this script runs itself there.

Sources: filters/statistics/hash_block.c
"""
import os
import sys

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv/bin/python")
if os.path.exists(PYTHON) and "HASH_ORACLE" not in os.environ:
    os.environ["HASH_ORACLE"] = "1"
    os.execv(PYTHON, [PYTHON, *sys.argv])

from _common import Checks, need, np, random_image, write  # noqa: E402

(core, Image) = need("blockhash.core", "PIL.Image")
c = Checks()


def picture(height, width, channels):
    """Waves with noise, and pixels whose alpha is 0."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    a = c.rng.uniform(-9, 9, (channels, 4))
    planes = [128 + 70 * np.sin(k[0] * x + k[1] * y + k[2]) + 40 * np.cos(k[3] * x * y) for k in a]
    image = np.clip(np.stack(planes, -1) + c.rng.normal(0, 9, (height, width, channels)), 0, 255).astype(np.uint8)
    if channels % 2 == 0:
        image[..., -1] *= c.rng.random((height, width)) < 0.7
    return image[..., 0] if channels == 1 else image


def check(name, image, size):
    channels = 1 if image.ndim == 2 else image.shape[2]
    path = c.path("in.pam" if channels % 2 == 0 else "in.pgm" if channels == 1 else "in.ppm")
    write(path, image)
    rgb = Image.fromarray(image, {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[channels]).convert("RGB" if channels % 2 else "RGBA")
    want = core.blockhash(rgb, size)
    got = c.run("hash", path, "--method", "block", "--size", size).decode().split()[0]
    c.check(f"{name} {size} {image.shape}", got == want, f"{got}, want {want}")


for size in (2, 4, 8, 16, 32):
    for channels in (1, 2, 3, 4):
        check("a picture", picture(int(c.rng.integers(size, 90)), int(c.rng.integers(size, 90)), channels), size)
    check("even", picture(2 * size, 3 * size, 3), size)
    check("even rows", picture(2 * size, 3 * size + 1, 3), size)
    check("fewer pixels than blocks", picture(size - 1, size // 2 + 1, 3), size)
    check("noise", random_image(c.rng, (61, 47, 3), np.uint8), size)
check("one pixel", picture(1, 1, 3), 8)
for value in (0, 127, 128, 129, 255):  # ties, dark and bright
    check("flat", np.full((40, 53, 3), value, np.uint8), 8)
halves = np.zeros((33, 50, 3), np.uint8)
halves[:, 25:] = 255
check("black and white", halves, 8)

image = picture(60, 71, 3)
write(c.path("a.ppm"), image)
text = c.run("hash", c.path("a.ppm"), "--method", "block").split()[0]
write(c.path("b.ppm"), image.astype(np.uint16) * 257)
c.check("16 bits", c.run("hash", c.path("b.ppm"), "--method", "blockhash").split()[0] == text)
c.run("convert", c.path("b.ppm"), c.path("b.npy"), "--depth", "float")
c.check("floats", c.run("hash", c.path("b.npy"), "--method", "block").split()[0] == text)
found = c.run("duplicates", c.path("a.ppm"), c.path("b.ppm"), "--method", "block").decode().split()
c.check("duplicates", found == [c.path("a.ppm"), c.path("b.ppm")], found)
p = c.result("hash", c.path("a.ppm"), "--method", "block", "--size", "12")
c.check("no power of two", p.returncode == 2 and "--size 12: want a power of two for --method block" in p.stderr, p.stderr)
c.end()
