"""clahe against OpenCV's createCLAHE to the byte, and colour images against the definition in single precision.

Sources: filters/tone/clahe.c
"""
from _common import Checks, colours, luma, need, np, to_type

(cv2,) = need("cv2")
c = Checks()
f = np.float32


def reflected(i, n):
    """Indices of a mirrored line of n pixels in which the end pixels occur once."""
    i = i % max(2 * n - 2, 1)
    return np.where(i >= n, 2 * n - 2 - i, i)


def values(image):
    """The values by which samples are counted and looked up."""
    if image.dtype != np.float32:
        return image
    return np.clip(np.floor(np.nan_to_num(image.astype(np.float64), posinf=1, neginf=0) * 65536), 0, 65535).astype(np.int64)


def tables(judge, clip, across, down):
    """Returns one lookup table per tile, and the sides of a tile."""
    h, w = judge.shape
    bins = 65536 if judge.dtype == np.float32 else np.iinfo(judge.dtype).max + 1
    judge = values(judge)
    if w % across or h % down:
        w, h = w + across - w % across, h + down - h % down
    judge = judge[reflected(np.arange(h), judge.shape[0])][:, reflected(np.arange(w), judge.shape[1])]
    th, tw = h // down, w // across
    made = np.empty((down, across, bins), f)
    for ty, tx in np.ndindex(down, across):
        counts = np.bincount(judge[ty * th:ty * th + th, tx * tw:tx * tw + tw].ravel(), minlength=bins)
        if clip:
            limit = max(int(clip * th * tw / bins), 1)
            spare = np.maximum(counts - limit, 0).sum()
            counts = np.minimum(counts, limit) + spare // bins
            counts[np.arange(spare % bins) * max(bins // max(spare % bins, 1), 1)] += 1
        made[ty, tx] = np.rint(np.cumsum(counts).astype(f) * (f(bins - 1) / f(th * tw))).clip(0, bins - 1)
    return made, th, tw


def places(n, tile, tiles):
    at = np.arange(n).astype(f) * (f(1) / f(tile)) - f(0.5)
    i = np.floor(at)
    return np.maximum(i, 0).astype(int), np.minimum(i + 1, tiles - 1).astype(int), at - i


def clahe(image, judge, clip, across, down):
    t, th, tw = tables(judge, clip, across, down)
    y1, y2, b = (v[:, None] for v in places(image.shape[0], th, down))
    x1, x2, a = (v[None] for v in places(image.shape[1], tw, across))
    v = values(image)
    made = ((t[y1, x1, v] * (f(1) - a) + t[y1, x2, v] * a) * (f(1) - b)
            + (t[y2, x1, v] * (f(1) - a) + t[y2, x2, v] * a) * b)
    if image.dtype == np.float32:
        return np.where(np.isnan(image), f(np.nan), made / f(65535))
    return to_type(made, image.dtype.type)


def picture(shape, dtype):
    """Noise on a ramp in which dark values are more frequent."""
    slope = np.linspace(0.1, 0.7, shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    full = 1 if dtype == np.float32 else np.iinfo(dtype).max
    return ((c.rng.random(shape) ** 3 * 0.4 + slope) * 0.9 * full).astype(dtype)


def by(clip, across, down):
    return ["--clip-limit", clip, "--tiles", f"{across}x{down}", "--device", "cpu"]


def test_opencv():
    for i in range(60):
        dtype = np.uint16 if i % 5 == 4 else np.uint8
        h, w = (int(v) for v in c.rng.integers(1, 150, 2))
        across, down = (int(v) for v in c.rng.integers(1, 6 if dtype == np.uint16 else 17, 2))
        clip = (0, 1, 2, 3.7, 40, 0.01, 400)[i % 7]
        image = picture((h, w), dtype)
        want = cv2.createCLAHE(clip, (across, down)).apply(image)
        c.check(f"createCLAHE {dtype.__name__} {w}x{h} {clip} {across}x{down}",
                np.array_equal(c.filter(image, "clahe", *by(clip, across, down)), want))
    for shape, across, down in (((512, 1024), 8, 8), ((700, 513), 8, 8), ((96, 4000), 256, 3), ((1, 1), 256, 256)):
        image = picture(shape, np.uint8)
        c.check(f"createCLAHE {shape} {across}x{down}", np.array_equal(
            c.filter(image, "clahe", *by(2, across, down)), cv2.createCLAHE(2, (across, down)).apply(image)))
    flat = np.full((40, 50), 77, np.uint8)
    c.check("one value", np.array_equal(c.filter(flat, "clahe"), cv2.createCLAHE(2, (8, 8)).apply(flat)))


def test_color():
    for dtype in (np.uint8, np.uint16):
        for shape in ((61, 43, 3), (40, 31, 4), (23, 57, 2)):
            image = picture(shape, dtype)
            judge = luma(image)
            for each in (False, True):
                want = image.copy()
                for i in range(colours(image)):
                    want[:, :, i] = clahe(image[:, :, i], image[:, :, i] if each else judge, 2.5, 3, 4)
                got = c.filter(image, "clahe", *by(2.5, 3, 4), *(["--per-channel"] if each else []))
                c.check(f"colour {dtype.__name__} {shape} {each}", np.array_equal(got, want))


def test_floats():
    """16 bits without the last rounding; NaN and samples outside 0 to 1."""
    for shape in ((61, 43), (40, 31, 3), (1, 1)):
        image = picture(shape, np.float32)
        if shape != (1, 1):
            image[0, :5] = np.array([np.nan, np.inf, -np.inf, 1.5, -3]).reshape(-1, *[1] * (len(shape) - 2))
        planes = np.moveaxis(image.reshape(*shape[:2], -1), 2, 0)
        for each in (False, True):
            want = np.stack([clahe(plane, plane if each else luma(image), 2.5, 3, 4) for plane in planes], 2)
            got = c.filter(image, "clahe", *by(2.5, 3, 4), *(["--per-channel"] if each else []))
            c.check(f"floats {shape} {each}", np.array_equal(got, want.reshape(shape), equal_nan=True))
    words = picture((70, 90), np.uint16)
    got = c.filter((words / 65535).astype(np.float32), "clahe", *by(2, 3, 2))
    c.check("16 bits as floats", np.abs(got * 65535.0 - cv2.createCLAHE(2, (3, 2)).apply(words)).max() < 0.51)


test_opencv()
test_color()
test_floats()
c.end()
