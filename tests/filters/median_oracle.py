"""Rank filters and the mode against scipy.ndimage with its border modes, and their rules for NaN and alpha.

Sources: rank
"""
from _common import PADS, SCIPY_MODES, Checks, need, np, random_image, visible, write

ndimage, signal, ranks, footprints = need("scipy.ndimage", "scipy.signal", "skimage.filters.rank", "skimage.morphology")

SIDES = [3, 5, 7, 1, 9, 15, 31]
SHAPES = [(1, 1), (33, 47), (29, 31, 3), (21, 17, 4), (19, 23, 2)]
c = Checks()


def peer(image, k, mode="nearest", cval=0, alpha=False):
    """Filters each channel separately; alpha is copied unless it is filtered too."""
    if image.ndim == 2:
        return ndimage.median_filter(image, k, mode=mode, cval=cval)
    if image.shape[2] % 2 == 0 and not alpha:
        border = {scipys: ours for ours, scipys in SCIPY_MODES.items()}[mode]
        return visible(image, np.ones((k, k)), lambda v: v[len(v) // 2], border, [cval] * image.shape[2])
    out = image.copy()
    for i in range(image.shape[2]):
        out[:, :, i] = ndimage.median_filter(image[:, :, i], k, mode=mode, cval=cval)
    return out


turn = 0
for dtype in (np.uint8, np.uint16, np.float32):
    for shape in SHAPES:
        for border, mode in SCIPY_MODES.items():
            turn += 1
            k, alpha = SIDES[turn % len(SIDES)], turn % 3 == 0
            image = random_image(c.rng, shape, dtype)
            value = 0.25 if dtype == np.float32 else 77
            args = ["--k", k, "--border", border, "--device", "cpu"]
            args += ["--border-value", value] if border == "border" else []
            got = c.filter(image, "median", *args, *(["--alpha"] if alpha else []))
            c.check(f"{k} {border} {shape} {dtype.__name__}", np.array_equal(got, peer(image, k, mode, value, alpha)))

image = random_image(c.rng, (300, 280), np.uint8)
c.check("--k by default", np.array_equal(c.filter(image, "median"), peer(image, 3)))
c.check("several tiles", np.array_equal(c.filter(image, "median", "--k", 13), peer(image, 13)))
small = random_image(c.rng, (12, 10), np.uint8)
c.check("wider than the image", np.array_equal(c.filter(small, "median", "--k", 301), peer(small, 301)))

# --threshold: only outliers are replaced.
for dtype, threshold, t in ((np.uint8, 40, 40), (np.uint8, "0%", 0), (np.uint16, "12.5%", 8191.875), (np.float32, 0.25, 0.25), (np.uint8, 255, 255)):
    image = random_image(c.rng, (31, 26, 4) if threshold == 40 else (33, 47), dtype)
    image.reshape(-1)[::2] = image.reshape(-1)[0]
    middle = peer(image, 5)
    far = np.abs(image.astype(np.float32) - middle.astype(np.float32)) > t
    got = c.filter(image, "median", "--k", 5, "--threshold", threshold)
    c.check(f"outliers beyond {threshold} {dtype.__name__}", np.array_equal(got, np.where(far, middle, image)))

# Rectangles, also with even sides, and other ranks: scipy's percentile_filter() places windows equally.
for turn, (w, h, percent) in enumerate([(4, 3, 50), (1, 6, 50), (5, 1, 10), (3, 3, 0), (3, 3, 100), (10, 7, 90), (5, 5, 33.3)]):
    for dtype in (np.uint8, np.uint16, np.float32):
        image = random_image(c.rng, (33, 47), dtype)
        border, mode = list(SCIPY_MODES.items())[turn % len(SCIPY_MODES)]
        want = ndimage.percentile_filter(image, percent, size=(h, w), mode=mode)
        args = ["--size", f"{w}x{h}", "--border", border, "--device", "cpu"]
        c.check(f"rank {percent} {w}x{h} {border} {dtype.__name__}", np.array_equal(c.filter(image, "rank", "--percent", percent, *args), want))
        if percent == 50:
            c.check(f"median {w}x{h} {dtype.__name__}", np.array_equal(c.filter(image, "median", *args), want))

# The mode: the most frequent sample, the smallest one in a tie.
for turn, (shape, w, h, values) in enumerate([((33, 47), 3, 3, 5), ((29, 31), 9, 9, 3), ((20, 26), 4, 7, 9), ((17, 30), 31, 5, 40), ((12, 11), 5, 5, 10**5)]):
    for dtype in (np.uint8, np.uint16):
        border, mode = list(SCIPY_MODES.items())[turn % len(SCIPY_MODES)]
        image = random_image(c.rng, shape, dtype)
        image = (image % values * (np.iinfo(dtype).max // values) if values < 256 else image).astype(dtype)
        more = {"constant_values": 0} if border == "border" else {}
        around = np.pad(image, ((h // 2, (h - 1) // 2), (w // 2, (w - 1) // 2)), mode=PADS[border], **more)
        windows = np.lib.stride_tricks.sliding_window_view(around, (h, w)).reshape(*shape, w * h)
        want = np.array([[np.bincount(v).argmax() for v in row] for row in windows])
        got = c.filter(image, "mode", "--size", f"{w}x{h}", "--border", border, "--device", "cpu")
        c.check(f"mode {w}x{h} {border} {dtype.__name__}", np.array_equal(got, want))

# The mode in structuring elements of any shape; scikit-image's result inside the image.
disk, diamond = footprints.disk, footprints.diamond
for turn, (mask, args) in enumerate([(disk(4), ["--shape", "disk", "--k", 9]), (diamond(3), ["--shape", "diamond", "--k", 7]), (np.eye(4, 6), None), (np.array([[1, 0, 0], [1, 1, 0]]), None), (disk(60), ["--shape", "disk", "--k", 121])]):
    mask = mask.astype(np.uint8)
    if not args:
        write(c.path("mask.pgm"), mask * (90 + turn))
        args = ["--mask", c.path("mask.pgm")]
    for dtype in (np.uint8, np.uint16):
        border, mode = list(SCIPY_MODES.items())[turn % len(SCIPY_MODES)]
        shape = (21, 34) if turn < 4 else (129, 133)
        image = random_image(c.rng, shape, dtype) // (np.iinfo(dtype).max // 6)
        values = np.unique(image)
        h, w = mask.shape
        around = np.pad(image, ((h // 2, (h - 1) // 2), (w // 2, (w - 1) // 2)), mode=PADS[border])
        counts = [np.rint(signal.fftconvolve(around == v, mask[::-1, ::-1], "valid")) for v in values]
        want = values[np.argmax(counts, axis=0)].astype(dtype)
        got = c.filter(image, "mode", *args, "--border", border, "--device", "cpu")
        c.check(f"mode mask {turn} {border} {dtype.__name__}", np.array_equal(got, want))
        inner = (slice(h // 2, shape[0] - h // 2), slice(w // 2, shape[1] - w // 2))
        if h % 2 and w % 2 and dtype == np.uint8:
            c.check(f"rank.modal() {turn}", np.array_equal(got[inner], ranks.modal(image, mask)[inner]))

# Fully transparent pixels do not count; if the window has no other pixel, the pixel is unchanged.
for turn, (mask, args) in enumerate([(np.ones((3, 3)), ["--k", 3]), (np.ones((7, 4)), ["--size", "4x7"]), (disk(3), ["--shape", "disk", "--k", 7]), (np.ones((31, 31)), ["--k", 31])]):
    for dtype, shape in ((np.uint8, (23, 19, 4)), (np.uint16, (17, 21, 2))):
        image = random_image(c.rng, shape, dtype) // (np.iinfo(dtype).max // 9)
        image[:, :, -1] *= c.rng.random(shape[:2]) < 0.4
        image[:9, :9, -1] = 0
        name = f"{mask.shape} {shape} {dtype.__name__}"
        c.check(f"transparent {name}", np.array_equal(c.filter(image, "median", *args), visible(image, mask, lambda v: v[len(v) // 2])))
        c.check(f"transparent, rank {name}", np.array_equal(c.filter(image, "rank", "--percent", 85, *args), visible(image, mask, lambda v: v[len(v) * 85 // 100])))
        c.check(f"transparent, mode {name}", np.array_equal(c.filter(image, "mode", *args), visible(image, mask, lambda v: np.bincount(v).argmax())))
seen = random_image(c.rng, (40, 50, 4), np.uint8) | np.uint8(1)
for value in ([0, 0, 0, 0], [255, 9, 30, 0], [255, 9, 30, 1]):  # pixels outside may be the only ones that are transparent
    got = c.filter(seen, "median", "--k", 7, "--border", "border", "--border-value", ",".join(map(str, value)))
    c.check(f"outside {value}", np.array_equal(got, visible(seen, np.ones((7, 7)), lambda v: v[len(v) // 2], "border", value)))
c.check("none transparent", np.array_equal(c.filter(seen, "median"), peer(seen, 3)) and c.filter(seen, "median")[:, :, 3].tobytes() == seen[:, :, 3].tobytes())

# NaN is above all numbers: the median of the sorted window.
for k in (3, 5, 7):
    holes = random_image(c.rng, (20, 30), np.float32)
    holes[5:12, 8:17] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(holes, k // 2, mode="edge"), (k, k))
    want = np.sort(windows.reshape(*holes.shape, k * k), axis=-1)[:, :, k * k // 2]
    c.check(f"NaN, --k {k}", np.array_equal(c.filter(holes, "median", "--k", k), want, equal_nan=True))
c.end()
