"""hash --method blurhash and thumbhash give the texts of the Python packages of these names, on Pillow 13.0.

The packages are in the virtual environment build/venv (tests/tests.mk), and this script runs itself there.

Sources: filters/statistics/placeholder.c filters/statistics/hash.c cli/commands/hash.c
"""
import base64
import inspect
import json
import os
import sys

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv/bin/python")
if os.path.exists(PYTHON) and "HASH_ORACLE" not in os.environ:
    os.environ["HASH_ORACLE"] = "1"
    os.execv(PYTHON, [PYTHON, *sys.argv])

from _common import Checks, need, np, random_image, write  # noqa: E402

(blurhash, thumbhash, PIL, Image) = need("blurhash", "thumbhash", "PIL", "PIL.Image")
if int(PIL.__version__.split(".")[0]) < 13:
    print(f"SKIP: Pillow {PIL.__version__} resizes otherwise, want 13")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# Version 0.1.2 has no brackets around a conditional expression, and so fails for every image with alpha.
WRONG, RIGHT = "encode_channel(a, 5, 5) if has_alpha else 1.0, [], 1.0", "encode_channel(a, 5, 5) if has_alpha else (1.0, [], 1.0)"
scope = dict(vars(thumbhash))
exec(inspect.getsource(thumbhash.rgba_to_thumb_hash).replace(WRONG, RIGHT), scope)
c = Checks()


def smooth(height, width, channels):
    """A picture of a few waves with noise; alpha is not 255 everywhere."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    planes = []
    for _ in range(channels):
        a = c.rng.uniform(-9, 9, 6)
        planes.append(128 + 60 * np.sin(a[0] * x + a[1] * y + a[2]) + 50 * np.sin(a[3] * x * y + a[4])
                      + c.rng.normal(0, abs(a[5]), (height, width)))
    image = np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)
    return image[:, :, 0] if channels == 1 else image


def small(image):
    """The image that fits into 100 x 100 pixels."""
    channels = 1 if image.ndim == 2 else image.shape[2]
    picture = Image.fromarray(image, MODES[channels])
    longer = max(picture.size)
    if longer > 100:
        sides = [max(1, (200 * side + longer) // (2 * longer)) for side in picture.size]
        picture = picture.resize(sides, Image.LANCZOS)
    return picture


def name_of(image):
    channels = 1 if image.ndim == 2 else image.shape[2]
    path = c.path("in.pam" if channels % 2 == 0 else "in.pgm" if channels == 1 else "in.ppm")
    write(path, image)
    return path


def test_blur(image, nx, ny):
    got = c.run("hash", name_of(image), "--method", "blurhash", "--components", f"{nx},{ny}").decode().split()[0]
    pixels = np.asarray(small(image).convert("RGBA"))[:, :, :3].tolist()
    want = blurhash.encode(pixels, nx, ny)
    c.check(f"blurhash {nx}x{ny} {image.shape}", got == want, f"{got}, want {want}")


def test_thumb(image):
    got = c.run("hash", name_of(image), "--method", "thumbhash").decode().split()[0]
    picture = small(image).convert("RGBA")
    if min(picture.size) < 8:
        return  # cosines that are 0, whose rounding errors decide in the package
    want = base64.b64encode(bytes(scope["rgba_to_thumb_hash"](*picture.size, np.asarray(picture).ravel().tolist()))).decode()
    c.check(f"thumbhash {image.shape}", got == want, f"{got}, want {want}")


def test_flat():
    """An image of one colour has no coefficients but the mean."""
    flat = np.full((40, 50, 3), [200, 90, 30], np.uint8)
    test_blur(flat, 4, 3)
    got = base64.b64decode(c.run("hash", name_of(flat), "--method", "thumbhash").split()[0])
    mean = thumbhash.thumb_hash_to_average_rgba(list(got))
    c.check("thumbhash of a flat image", np.allclose(np.array(mean[:3]) * 255, [200, 90, 30], atol=9), mean)
    c.check("its scale is 0", got[2] >> 2 & 31 == 0 and not any(got[5:]), got)


def test_formats():
    """Every format of the table has the same text, and so have 16 bits."""
    image = smooth(60, 80, 3)
    path = name_of(image)
    for method in ("blurhash", "thumbhash"):
        text = c.run("hash", path, "--method", method).decode().split()[0]
        c.check(f"{method} json", json.loads(c.run("hash", path, "--method", method, "--json"))["hash"] == text)
        c.run("hash", path, c.path("a.npy"), "--method", method)
        c.check(f"{method} npy", np.load(c.path("a.npy"))["hash"][0].decode() == text)
        c.run("hash", path, path, "--method", method, "--table", c.path("all.jsonl"))
        with open(c.path("all.jsonl")) as lines:
            c.check(f"{method} table", [json.loads(line)["hash"] for line in lines] == [text] * 2)
        write(c.path("b.ppm"), image.astype(np.uint16) * 257)
        c.check(f"{method} 16 bits", c.run("hash", c.path("b.ppm"), "--method", method).decode().split()[0] == text)
    c.run("hash", path, "--method", "blurhash", "--components", "4.5,3", status=2)
    c.run("hash", path, "--method", "blurhash", "--components", "10,3", status=2)
    c.run("duplicates", path, path, "--method", "blurhash", status=2)
    c.check("the help of duplicates lists hashes of bits", b"blurhash" not in c.run("help", "duplicates") and b"wavelet" in c.run("help", "duplicates"))
    c.check("short names", c.run("duplicates", path, path, "--method", "whash") == c.run("duplicates", path, path, "--method", "wavelet"))


for i in range(28):
    channels = i % 4 + 1
    height, width = (int(min(1 + c.rng.exponential(60), 700)) for _ in range(2))
    image = random_image(c.rng, (height, width, channels), np.uint8) if i % 3 == 0 else smooth(height, width, channels)
    image = image[:, :, 0] if image.ndim == 3 and channels == 1 else image
    test_blur(image, *((4, 3) if i % 2 else c.rng.integers(1, 5, 2)))
    test_thumb(image)
test_blur(smooth(30, 20, 3), 9, 9)
test_flat()
test_formats()
c.end()
