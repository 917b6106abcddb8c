"""Layout operations against numpy: crop by slices, trim by differences, pad by np.pad, turns by rot90 and flips; and
against Pillow's transpositions.

Sources: filters/geometry/layout* filters/geometry/crop.c filters/geometry/pad.c filters/geometry/flip.c
    filters/geometry/transpose.c
"""
from _common import Checks, need, np, random_image

Image, ImageOps = need("PIL.Image", "PIL.ImageOps")
c = Checks()
TYPES = (np.uint8, np.uint16, np.float32)
SHAPES = ((1, 1), (1, 17), (17, 1), (31, 33), (67, 5), (40, 70))


def images():
    for dtype in TYPES:
        for channels in (1, 2, 3, 4):
            for h, w in SHAPES:
                yield random_image(c.rng, (h, w) if channels == 1 else (h, w, channels), dtype)


def same(name, got, want):
    ok = got.shape == want.shape and np.array_equal(got, want)
    c.check(name, ok, f"{got.shape} for {want.shape}")


def crops(image):
    h, w = image.shape[:2]
    x, y = int(c.rng.integers(0, w)), int(c.rng.integers(0, h))
    cw, ch = int(c.rng.integers(1, w - x + 1)), int(c.rng.integers(1, h - y + 1))
    same("crop", c.filter(image, "crop", "--size", f"{cw}x{ch}+{x}+{y}"), image[y:y + ch, x:x + cw])
    same("crop southeast", c.filter(image, "crop", "--size", f"{cw}x{ch}+{x}+{y}", "--gravity", "southeast"),
         image[h - y - ch:h - y, w - x - cw:w - x])
    left, top = (w - cw) // 2, (h - ch) // 2
    same("crop center", c.filter(image, "crop", "--size", f"{cw}x{ch}", "--gravity", "center"),
         image[top:top + ch, left:left + cw])
    half = (max(1, (w + 1) // 2), max(1, (h + 1) // 2))
    same("crop 50%", c.filter(image, "crop", "--size", "50%"), image[:half[1], :half[0]])
    same("crop clip", c.filter(image, "crop", "--size", f"{w + 9}x{h + 9}-4-5", "--clip"), image[:h + 4, :w + 5])


def trims(image):
    h, w = image.shape[:2]
    around = [(int(c.rng.integers(0, 9)), int(c.rng.integers(0, 9))) for _ in range(2)]
    around[0] = (around[0][0] + 1, around[0][1])
    value = 7 if image.dtype != np.float32 else 0.25
    image = np.minimum(image, 200).astype(image.dtype) if image.dtype == np.uint8 else image
    padded = np.pad(image, around + [(0, 0)] * (image.ndim - 2), constant_values=value)
    got = c.filter(padded, "crop", "--trim")
    alpha = image.ndim == 3 and image.shape[2] in (2, 4)
    weigh = padded.astype(np.float64)
    if alpha:
        weigh[..., :-1] *= weigh[..., -1:]
    differs = weigh != weigh[0, 0]
    differs = differs if differs.ndim == 2 else differs.any(axis=2)
    rows, cols = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    want = padded[rows[0]:rows[-1] + 1, cols[0]:cols[-1] + 1] if rows.size else padded
    same("trim", got, want)


def around(n, before, after, border):
    """Source indices along an axis; np.pad (1.24) is wrong for wrap and symmetric if it repeats the image more than once."""
    i = np.arange(-before, n + after)
    if border == "clamp":
        return np.clip(i, 0, n - 1)
    if border == "wrap":
        return i % n
    if border == "mirror":
        return np.where(i % (2 * n) < n, i % (2 * n), 2 * n - 1 - i % (2 * n))
    period = max(2 * n - 2, 1)
    return np.where(i % period < n, i % period, period - i % period)


MODES = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}


def pads(image):
    h, w = image.shape[:2]
    for border, mode in MODES.items():
        left, top, right, bottom = (int(n) for n in c.rng.integers(0, c.rng.choice((5, 30, 90)), 4))
        more = {"constant_values": 3} if mode == "constant" else {}
        if border == "border" or max(left, top, right, bottom) < min(h, w):
            want = np.pad(image, [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2), mode, **more)
        else:
            want = image[around(h, top, bottom, border)][:, around(w, left, right, border)]
        same(f"pad {border}", c.filter(image, "pad", "--by", f"{left},{top},{right},{bottom}", "--border", border,
                                       "--background", 3), want)
    want = np.pad(image, [(4, 4), (4, 4)] + [(0, 0)] * (image.ndim - 2))
    same("pad one number", c.filter(image, "pad", "--by", 4), want)
    same("pad to a size", c.filter(image, "pad", "--size", f"{w + 8}x{h + 8}"), want)


def turns(image):
    axes = (1, 0) + tuple(range(2, image.ndim))
    same("flip --h", c.filter(image, "flip", "--h"), image[:, ::-1])
    same("flip --v", c.filter(image, "flip", "--v"), image[::-1])
    same("flip both", c.filter(image, "flip", "--h", "--v"), np.rot90(image, 2))
    same("transpose", c.filter(image, "transpose"), image.transpose(axes))
    same("transpose --anti", c.filter(image, "transpose", "--anti"), np.rot90(image, 2).transpose(axes))


def channels(image):
    planes = image.reshape(image.shape[:2] + (-1,))
    n = planes.shape[2]
    letters = {1: "k", 2: "ka", 3: "rgb", 4: "rgba"}[n]
    picked = [int(i) for i in c.rng.integers(0, n, int(c.rng.integers(1, 5)))]
    source, result = c.path("in.npy"), c.path("out.npy")
    np.save(source, image)
    c.run("channels", source, result, "--order", "".join(letters[i] for i in picked))
    want = planes[:, :, picked]
    same(f"channels {letters} {picked}", np.load(result).reshape(want.shape), want)


def orientations():
    image = random_image(c.rng, (40, 70, 3), np.uint8)
    for tag in range(1, 9):
        path = c.path("tagged.png")
        Image.fromarray(image).save(c.path("plain.png"))
        c.run("orient", c.path("plain.png"), path, "--tag", tag)
        with Image.open(path) as stored:
            c.check(f"tag {tag}", stored.getexif().get(0x0112, 1) == tag)
            same(f"tag {tag}, turned by Pillow", np.asarray(ImageOps.exif_transpose(stored)), image)
        with Image.open(path) as stored:
            exif = stored.getexif()
            exif[0x0112], exif[0x010F] = tag, "maker"
            stored.save(c.path("camera.jpg"), exif=exif, quality=95)
        with Image.open(c.path("camera.jpg")) as stored:
            want = np.asarray(ImageOps.exif_transpose(stored))
        c.run("orient", c.path("camera.jpg"), path, "--tag", 9 - tag)
        with Image.open(path) as stored:
            c.check(f"tag {9 - tag} beside a maker", stored.getexif().get(0x010F) == "maker")
            c.check(f"tag {9 - tag} said", stored.getexif().get(0x0112) == 9 - tag)
            same(f"tag {9 - tag} of a camera's", np.asarray(ImageOps.exif_transpose(stored)), want)


def against_pillow():
    image = random_image(c.rng, (40, 70, 3), np.uint8)
    pil = Image.fromarray(image)
    for args, how in ((("flip", "--h"), Image.FLIP_LEFT_RIGHT), (("flip", "--v"), Image.FLIP_TOP_BOTTOM),
                      (("transpose",), Image.TRANSPOSE), (("transpose", "--anti"), Image.TRANSVERSE)):
        same(f"Pillow {args}", c.filter(image, *args), np.asarray(pil.transpose(how)))
    same("Pillow crop", c.filter(image, "crop", "--size", "30x20+5+6"), np.asarray(pil.crop((5, 6, 35, 26))))


for image in images():
    crops(image)
    trims(image)
    pads(image)
    turns(image)
    channels(image)
orientations()
against_pillow()
c.end()
