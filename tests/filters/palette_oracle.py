"""palette and quantize against numpy, and Pillow's median cut.

Counts must be equal; every pixel must take the nearest colour of the palette, and the squared error of a picture must
be below that of Pillow's median cut.

Sources: filters/color/palette* imgio/median_cut* filters/color/quantize.c
"""
import json

from _common import Checks, np, optional, random_image, read, suffix, write

Image = optional("PIL.Image")

c = Checks()


def counted(image):
    flat = image.reshape(-1, 1 if image.ndim == 2 else image.shape[2])
    colours, counts = np.unique(flat, axis=0, return_counts=True)
    order = np.lexsort((*colours.T[::-1], -counts.astype(np.int64)))
    return colours[order], counts[order]


def few(shape, dtype, n):
    """An image of at most n colours."""
    channels = shape[2:] or (1,)
    colours = random_image(c.rng, (n, *channels), dtype)
    picked = (c.rng.random(shape[:2]) ** 3 * n).astype(int)
    return colours[picked].reshape(shape)


def test_palette(image):
    name = f"palette {image.shape} {image.dtype}"
    path = c.path("in" + suffix(image))
    write(path, image)
    colours, counts = counted(image)
    c.run("palette", path, c.path("out.npy"))
    table = np.load(c.path("out.npy"))
    c.check(name + " npy", np.array_equal(table["color"], colours) and np.array_equal(table["pixels"], counts))
    found = json.loads(c.run("palette", path, "--format", "json", "--top", 3))
    c.check(name + " json", found["unique"] == len(counts) and [p["color"] for p in found["palette"]] == colours[:3].tolist()
            and [p["pixels"] for p in found["palette"]] == counts[:3].tolist())
    rows = c.run("palette", path, "--format", "csv").decode().split()[1:]
    got = np.array([list(map(float, row.split(","))) for row in rows])
    c.check(name + " csv", np.array_equal(got[:, :-2], colours) and np.array_equal(got[:, -2], counts)
            and np.array_equal(got[:, -1], counts / counts.sum()))


def color_of(image):
    return image.reshape(-1, 1) if image.ndim == 2 else image.reshape(-1, image.shape[2])[:, :1 if image.shape[2] == 2 else 3]


def test_quantize(image, n):
    name = f"quantize {image.shape} to {n}"
    got = c.filter(image, "quantize", "--colors", n)
    before, after = color_of(image).astype(np.int64), color_of(got).astype(np.int64)
    used = np.unique(after, axis=0)
    c.check(name + ": how many", len(used) <= n, len(used))
    near = ((before[:, None, :] - used[None]) ** 2).sum(axis=2).min(axis=1)
    c.check(name + ": the nearest", np.array_equal(((before - after) ** 2).sum(axis=1), near))
    if len(np.unique(before, axis=0)) <= n:
        c.check(name + ": all of them", np.array_equal(got, image))
    if image.ndim == 3 and image.shape[2] in (2, 4):
        c.check(name + ": alpha", np.array_equal(got[..., -1], image[..., -1]))
    return near.sum()


for dtype in (np.uint8, np.uint16):
    for shape in ((1, 1), (13, 17), (21, 15, 2), (30, 20, 3), (11, 19, 4)):
        test_palette(random_image(c.rng, shape, dtype))
        test_palette(few(shape, dtype, 7))
for shape in ((1, 1), (13, 17), (21, 15, 2), (30, 20, 3), (11, 19, 4), (1, 1, 3)):
    for n in (2, 7, 256):
        test_quantize(random_image(c.rng, shape, np.uint8), n)
        test_quantize(few(shape, np.uint8, 6), n)

y, x = np.mgrid[0:120, 0:160]
picture = np.stack([x * 1.5, y * 2, 127 + 120 * np.sin(x / 17) * np.cos(y / 11)], -1) + c.rng.normal(0, 6, (120, 160, 3))
picture = np.clip(picture, 0, 255).astype(np.uint8)
for n in (4, 16, 64, 256):
    error = test_quantize(picture, n)
    if Image:
        theirs = np.asarray(Image.fromarray(picture).quantize(n, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).convert("RGB"))
        theirs = ((theirs.astype(np.int64) - picture) ** 2).sum()
        c.check(f"beside Pillow, {n} colours", error <= theirs, (error, theirs))
    else:
        c.skip("python3 has no PIL")
c.end()
