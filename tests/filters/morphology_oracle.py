"""Flat morphology, midpoint and the rolling ball against scipy.ndimage with its border modes, OpenCV and
scikit-image, and their rules for NaN and alpha.

Sources: morphology
"""
from _common import SCIPY_MODES, Checks, need, np, random_image, visible, write

ndimage, restoration = need("scipy.ndimage", "skimage.restoration")


def less(a, b):
    """a - b, saturated; differences of integers wrap around in scipy."""
    return a - b if a.dtype == np.float32 else np.where(a > b, a - b, 0).astype(a.dtype)


PEERS = {
    "erode": ndimage.grey_erosion, "dilate": ndimage.grey_dilation, "open": ndimage.grey_opening, "close": ndimage.grey_closing,
    "gradient": lambda image, **how: less(ndimage.grey_dilation(image, **how), ndimage.grey_erosion(image, **how)),
    "tophat": lambda image, **how: less(image, ndimage.grey_opening(image, **how)),
    "blackhat": lambda image, **how: less(ndimage.grey_closing(image, **how), image)}
SIZES = [(3, 3), (4, 6), (1, 8), (30, 90), (151, 2)]
SHAPES = [(1, 1), (33, 47), (29, 31, 3), (21, 17, 4), (19, 23, 2)]
c = Checks()


def opaque(name, image, mask, border="clamp", value=None):
    """Fully transparent pixels do not count in any step."""
    def eroded(of):
        return visible(of, mask, lambda v: v[0], border, value)

    def dilated(of):
        return visible(of, mask, lambda v: v[-1], border, value, turned=True)

    def colour(a, b):
        return np.dstack([less(a, b)[:, :, :-1], image[:, :, -1:]])

    def middle(v):  # in float32 as it is stored; integers half to even
        half = (float(v[0]) + float(v[-1])) / 2
        return half if image.dtype == np.float32 else np.rint(half)

    return {"erode": lambda: eroded(image), "dilate": lambda: dilated(image), "open": lambda: dilated(eroded(image)), "close": lambda: eroded(dilated(image)),
            "gradient": lambda: colour(dilated(image), eroded(image)), "tophat": lambda: colour(image, dilated(eroded(image))),
            "blackhat": lambda: colour(eroded(dilated(image)), image), "midpoint": lambda: visible(image, mask, middle, border, value)}[name]()


def peer(name, image, size, mode, cval, alpha):
    """Filters each channel separately; alpha is copied unless it is filtered too."""
    if image.ndim == 2:
        return PEERS[name](image, size=size, mode=mode, cval=cval)
    if image.shape[2] % 2 == 0 and not alpha:
        border = {scipys: ours for ours, scipys in SCIPY_MODES.items()}[mode]
        return opaque(name, image, np.ones(size), border, [cval] * image.shape[2])
    out = image.copy()
    for i in range(image.shape[2] if alpha else (image.shape[2] - 1) | 1):
        out[:, :, i] = PEERS[name](image[:, :, i], size=size, mode=mode, cval=cval)
    return out


turn = 0
for dtype in (np.uint8, np.uint16, np.float32):
    for shape in SHAPES:
        for border, mode in SCIPY_MODES.items():
            turn += 1
            name, size = list(PEERS)[turn % 7], SIZES[turn // 7 % len(SIZES)]
            alpha = turn % 3 == 0 and len(name) < 7 and name != "tophat"  # a difference has no --alpha
            image = random_image(c.rng, shape, dtype)
            value = 0.25 if dtype == np.float32 else 77
            args = ["--size", f"{size[1]}x{size[0]}", "--border", border, "--device", "cpu"]
            args += ["--border-value", value] if border == "border" else []
            got = c.filter(image, name, *args, *(["--alpha"] if alpha else []))
            want = peer(name, image, size, mode, value, alpha)
            c.check(f"{name} {size} {border} {shape} {dtype.__name__}", np.array_equal(got, want))

# Structuring elements of any shape: scipy's footprints.
def disk(k):
    y, x = np.mgrid[: k, : k] - k // 2
    return x * x + y * y <= (k // 2) ** 2


def diamond(k):
    y, x = np.mgrid[: k, : k] - k // 2
    return abs(x) + abs(y) <= k // 2


def written(mask):
    return ";".join(" ".join(str(int(v)) for v in row) for row in mask)


MASKS = [disk(5), diamond(7), np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1]]) > 0, disk(13), np.eye(9) > 0, np.ones((2, 3)) > 0, disk(1), disk(31)]
for turn in range(24):
    dtype, (border, mode) = (np.uint8, np.uint16, np.float32)[turn % 3], list(SCIPY_MODES.items())[turn % 5]
    name, mask = list(PEERS)[turn % 7], MASKS[turn % len(MASKS)]
    image = random_image(c.rng, (21, 34) if turn % 4 else (9, 130), dtype)
    args = ["--shape", "disk", "--k", mask.shape[0]] if turn % len(MASKS) in (0, 3, 6, 7) else ["--mask", written(mask)]
    args = ["--shape", "diamond", "--k", 7] if turn % len(MASKS) == 1 else args
    if args[0] == "--mask" and turn % 2:
        write(c.path("mask.pgm"), np.where(mask, 200, 0).astype(np.uint8))
        args[1] = c.path("mask.pgm")
    got = c.filter(image, name, *args, "--border", border, "--device", "cpu")
    want = PEERS[name](image, footprint=mask, mode=mode)
    c.check(f"{name} mask {turn % len(MASKS)} {border} {dtype.__name__}", np.array_equal(got, want))
    rank = ndimage.percentile_filter(image, 30, footprint=mask, mode=mode)
    c.check(f"rank mask {turn % len(MASKS)} {border} {dtype.__name__}", np.array_equal(c.filter(image, "rank", "--percent", 30, *args, "--border", border), rank))
colour = random_image(c.rng, (21, 17, 4), np.uint8)
colour[:, :, 3] |= 1  # transparent pixels, which do not count in medians, are median_oracle.py's
for name in ("erode", "median"):
    peers = {"erode": ndimage.grey_erosion, "median": ndimage.median_filter}
    want = np.dstack([peers[name](colour[:, :, i], footprint=disk(9), mode="nearest") for i in range(3)] + [colour[:, :, 3]])
    c.check(f"{name}, disk, RGBA", np.array_equal(c.filter(colour, name, "--shape", "disk", "--k", 9), want))
want = ndimage.minimum_filter(image.astype(float), footprint=disk(5), mode="nearest") + ndimage.maximum_filter(image.astype(float), footprint=disk(5), mode="nearest")
c.check("midpoint, disk", np.array_equal(c.filter(image, "midpoint", "--shape", "disk", "--k", 5), (want / 2).astype(image.dtype) if image.dtype == np.float32 else np.rint(want / 2).astype(image.dtype)))

image = random_image(c.rng, (60, 80), np.uint8)
for k in (1, 5, 61):
    c.check(f"--k {k}", np.array_equal(c.filter(image, "dilate", "--k", k), peer("dilate", image, (k, k), "nearest", 0, 0)))
c.check("--k by default", np.array_equal(c.filter(image, "erode"), peer("erode", image, (3, 3), "nearest", 0, 0)))
c.check("per cent", np.array_equal(c.filter(image, "erode", "--size", "10%x5%"), peer("erode", image, (3, 8), "nearest", 0, 0)))

# OpenCV's result with its own border mode, in which only the image counts: structuring elements that are symmetric.
try:
    import cv2
    CODES = {"open": cv2.MORPH_OPEN, "close": cv2.MORPH_CLOSE, "gradient": cv2.MORPH_GRADIENT, "tophat": cv2.MORPH_TOPHAT, "blackhat": cv2.MORPH_BLACKHAT,
             "erode": cv2.MORPH_ERODE, "dilate": cv2.MORPH_DILATE}
    for name, code in CODES.items():
        for args, window in ((["--size", "7x3"], np.ones((3, 7))), (["--k", 11, "--shape", "disk"], disk(11)), (["--k", 5, "--shape", "diamond"], diamond(5))):
            want = cv2.morphologyEx(image, code, window.astype(np.uint8))
            c.check(f"OpenCV's {name} {args}", np.array_equal(c.filter(image, name, *args), want))
except ImportError:
    c.skip("python3 has no cv2")

# Fully transparent pixels do not count; if the structuring element has no other pixel, the pixel is unchanged.
WINDOWS = [(np.ones((3, 3)), []), (np.ones((7, 4)), ["--size", "4x7"]), (disk(7), ["--shape", "disk", "--k", 7]), (np.ones((31, 31)), ["--k", 31]),
           (MASKS[2], ["--mask", written(MASKS[2])]), (np.array([[1, 0, 0]]), ["--mask", "1 0 0"]), (diamond(7), ["--shape", "diamond", "--k", 7])]
turn = 0
for name in [*PEERS, "midpoint"]:
    for dtype, channels in ((np.uint8, 4), (np.uint8, 2), (np.uint16, 4), (np.uint16, 2), (np.float32, 4), (np.float32, 2)):
        turn += 1
        (mask, args), border = WINDOWS[turn % len(WINDOWS)], list(SCIPY_MODES)[turn % 5]
        image = random_image(c.rng, (23, 19, channels), dtype)
        image[:, :, -1] *= c.rng.random(image.shape[:2]) < 0.35
        image[:9, :9, -1] = 0
        image[c.rng.random(image.shape) < 0.1] = 0  # and samples that are as dark and as bright as can be
        image[..., :-1][c.rng.random((23, 19, channels - 1)) < 0.1] = 1 if dtype == np.float32 else np.iinfo(dtype).max
        white = 1 if dtype == np.float32 else np.iinfo(dtype).max
        value = [0.25 if dtype == np.float32 else 9] * (channels - 1) + [white if turn % 4 else 0]
        args = [*args, "--border", border, "--device", "cpu"] + (["--border-value", ",".join(map(str, value))] if border == "border" else [])
        got = c.filter(image, name, *args)
        c.check(f"transparent: {name} {args} {image.shape} {dtype.__name__}", np.array_equal(got, opaque(name, image, mask, border, value)))
holes = random_image(c.rng, (20, 30, 2), np.float32)
holes[5:15, 8:20, 0] = np.nan
holes[5:15, 8:20, 1] = 0
holes[0, 0] = np.nan  # alpha that is no number is not above 0
holes[19, 29, 0] = np.nan
for name in ("erode", "dilate"):
    got, want = (c.filter(holes, name, "--k", 5), opaque(name, np.nan_to_num(holes, nan=-7), np.ones((5, 5))))
    want[17:, 27:, 0] = np.nan  # and where it has no other
    want[5:15, 8:20, 0][want[5:15, 8:20, 0] == -7] = np.nan
    want[0, 0, 1] = np.nan
    c.check(f"{name}: NaN that is transparent does not count", np.array_equal(got, want, equal_nan=True))
seen = random_image(c.rng, (13, 17, 4), np.uint8) | np.uint8(1)
for name in [*PEERS, "midpoint"]:
    for value in ([0, 0, 0, 0], [255, 9, 30, 0], [255, 9, 30, 1]):  # pixels outside may be the only ones that are
        got = c.filter(seen, name, "--k", 5, "--border", "border", "--border-value", ",".join(map(str, value)))
        c.check(f"{name}: outside {value}", np.array_equal(got, opaque(name, seen, np.ones((5, 5)), "border", value)))
got = c.filter(np.dstack([image[:, :, 0], image[:, :, 0] * 0]), "erode", "--k", 9)
c.check("nothing counts", np.array_equal(got, np.dstack([image[:, :, 0], image[:, :, 0] * 0])))

for i, dtype in enumerate((np.uint8, np.uint16, np.float32)):
    for j, (border, mode) in enumerate(SCIPY_MODES.items()):
        image, size = random_image(c.rng, (33, 41, 3), dtype), SIZES[(5 * i + j) % len(SIZES)]
        args = ["--size", f"{size[1]}x{size[0]}", "--border", border]
        low, high = (f(image.astype(np.float64), size=(*size, 1), mode=mode) for f in (ndimage.minimum_filter, ndimage.maximum_filter))
        want = ((low + high) / 2 if dtype == np.float32 else np.rint((low + high) / 2)).astype(dtype)
        c.check(f"midpoint {size} {border} {dtype.__name__}", np.array_equal(c.filter(image, "midpoint", *args), want))

# The mean with an infinity is that infinity; opposite infinities have no mean.
inf, huge = np.float32(np.inf), np.float32(3e38)
for pair, want in (((inf, inf), inf), ((-inf, -inf), -inf), ((inf, 5), inf), ((5, -inf), -inf), ((huge, huge), huge), ((inf, -inf), np.nan)):
    for width in (2, 70):
        got = c.filter(np.resize(np.array(pair, np.float32), (3, width)), "midpoint")
        c.check(f"midpoint of {pair}", np.array_equal(got, np.full_like(got, want), equal_nan=True))

# Rolling ball: a non-flat erosion in double precision, and scikit-image's, which truncates.
def rolled(image, radius, height, mode="constant"):
    reach = int(radius)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    inside = x * x + y * y <= radius * radius
    cap = height * (1 - np.sqrt(np.where(inside, 1 - (x * x + y * y) / radius**2, 0)))
    return ndimage.grey_erosion(image.astype(float), footprint=inside, structure=-cap, mode=mode, cval=np.inf)


for dtype, radius, args in ((np.uint8, 5, []), (np.uint8, 12.5, []), (np.uint16, 7, ["--height", 900]), (np.float32, 9, []), (np.uint8, 3, ["--height", "50%"])):
    full = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    image = random_image(c.rng, (34, 45), dtype)
    height = {(): radius * full / 255, ("--height", 900): 900, ("--height", "50%"): full / 2}[tuple(args)]
    want, slack = rolled(image, radius, height), 1e-5 if dtype == np.float32 else 0.5001
    for keep in (True, False):
        got = c.filter(image, "background", "--radius", radius, *args, *(["--keep"] if keep else []))
        c.check(f"background {radius} {args} {dtype.__name__}", np.abs(got - (want if keep else image - want)).max() <= slack)
for border, mode in SCIPY_MODES.items():
    if border != "border":
        got = c.filter(image, "background", "--radius", 6, "--height", 30, "--keep", "--border", border)
        c.check(f"background {border}", np.abs(got - rolled(image, 6, 30, mode)).max() <= 0.5001)
image = random_image(c.rng, (40, 50), np.uint8)
got = c.filter(image, "background", "--radius", 8, "--keep")
c.check("rolling_ball", np.abs(got - restoration.rolling_ball(image.astype(float), radius=8)).max() <= 0.5001)

holes = random_image(c.rng, (40, 50), np.float32)
holes[20, 30] = np.nan
for name in ("erode", "dilate"):
    got = c.filter(holes, name, "--k", 5)
    spread = np.zeros(holes.shape, bool)
    spread[18:23, 28:33] = True
    want = peer(name, np.where(np.isnan(holes), 0.5, holes), (5, 5), "nearest", 0, 0)
    c.check(f"{name}: NaN spreads", np.array_equal(np.isnan(got), spread))
    c.check(f"{name}: and nothing else", np.array_equal(got[~spread], want[~spread]))
c.end()
