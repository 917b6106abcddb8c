"""local-threshold (adaptive thresholds) against exact sums of windows, levels in double, scikit-image and OpenCV.

Sources: filters/tone/local_threshold.c
"""
from _common import Checks, need, np, optional, random_image

(ndimage,) = need("scipy.ndimage")
cv2, skimage = map(optional, ("cv2", "skimage.filters"))

PAD = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}
SHAPES = [(1, 1), (33, 47), (40, 29), (5, 67)]
METHODS = ["mean", "niblack", "sauvola", "phansalkar", "wolf", "bernsen", "gaussian"]
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
c = Checks()


def windows(image, k, border, value):
    """The exact sums of k x k values around each pixel: of integers, or of doubles."""
    r = k // 2
    more = {"constant_values": value} if border == "border" else {}
    padded = np.pad(image, r, mode=PAD[border], **more)
    table = np.zeros((padded.shape[0] + 1, padded.shape[1] + 1), image.dtype)
    table[1:, 1:] = padded.cumsum(0).cumsum(1)
    return table[k:, k:] - table[:-k, k:] - table[k:, :-k] + table[:-k, :-k]


def padded(image, k, border, value):
    return np.pad(image.astype(float), k // 2, mode=PAD[border], **({"constant_values": value} if border == "border" else {}))


def bernsen(image, k, border, value, contrast):
    """Bernsen: if contrast is low, the midpoint of minimum and maximum is compared with half of full scale."""
    around = np.lib.stride_tricks.sliding_window_view(padded(image, k, border, value), (k, k))
    least, most = around.min((2, 3)), around.max((2, 3))
    return np.where(most - least < contrast, image - (least + most) + FULL[image.dtype.type], (least + most) / 2)


def gaussian(image, k, border, value, sigma=None):
    x = (np.arange(k) - k // 2) / (sigma or 0.3 * ((k - 1) / 2 - 1) + 0.8)
    w = np.exp(-x * x / 2) / np.exp(-x * x / 2).sum()
    around, (height, width) = padded(image, k, border, value), image.shape
    rows = sum(w[i] * around[:, i : i + width] for i in range(k))
    return sum(w[i] * rows[i : i + height] for i in range(k))


def levels(image, method, k, border, value, offset=0, factor=None, spread=None):
    """The threshold of each pixel by the formulas."""
    full = FULL[image.dtype.type]
    if method == "bernsen":
        return bernsen(image, k, border, value, full * 15 / 255) - offset
    if method == "gaussian":
        return gaussian(image, k, border, value) - offset
    v = image.astype(np.float64 if image.dtype == np.float32 else np.int64)
    n = k * k
    mean = windows(v, k, border, value) / n
    square = windows(v * v, k, border, value * value)
    if image.dtype == np.float32:
        deviation = np.sqrt(np.maximum(square / n - mean * mean, 0))
    else:
        s = windows(v, k, border, value)
        deviation = np.sqrt((n * square - s * s).astype(np.float64)) / n
    factor = {"phansalkar": 0.25, "wolf": 0.5}.get(method, 0.2) if factor is None else factor
    if method == "wolf":
        return mean + factor * (deviation / deviation.max() - 1) * (mean - v.min()) - offset
    spread = full / 2 if spread is None else spread
    if method == "niblack":
        return mean - factor * deviation - offset
    if method == "sauvola":
        return mean * (1 + factor * (deviation / spread - 1)) - offset
    if method == "phansalkar":
        return mean * (1 + 2 * np.exp(-10 * mean / full) + factor * (deviation / spread - 1)) - offset
    return mean - offset


def same(got, image, level, invert=False, slack=0):
    """Returns whether the mask is right wherever double precision decides; floats are taken in 2^20 steps of their range."""
    full = FULL[image.dtype.type]
    span = float(image.max() - image.min()) if image.dtype == np.float32 else 0
    margin = (1e-9 + slack) * full + 2e-6 * span
    sure = np.abs(image - level) > margin
    want = (image > level) != invert
    return np.array_equal(got[sure] == full, want[sure]) and set(np.unique(got)) <= {0, full} and sure.mean() > 0.9


turn = 0
for dtype in (np.uint8, np.uint16, np.float32):
    for method in METHODS:
        for border in PAD:
            turn += 1
            shape = SHAPES[1 + turn % 3]
            k = [3, 9, 15, 31][turn % 4]
            if border != "clamp" and border != "border":
                k = min(k, 5)  # numpy's reflections stop at the image
            image = random_image(c.rng, shape, dtype)
            value = 0.25 if dtype == np.float32 else 77
            offset = [0, FULL[dtype] / 50][turn % 2]
            args = ["--method", method, "--k", k, "--border", border, "--offset", offset, "--device", "cpu"]
            args += ["--border-value", value] if border == "border" else []
            got = c.filter(image, "local-threshold", *args, *(["--invert"] if turn % 3 == 0 else []))
            level = levels(image, method, k, border, value, offset)
            slack = 2e-6 if method == "gaussian" else 0
            c.check(f"{method} {k} {border} {dtype.__name__}", same(got, image, level, turn % 3 == 0, slack))

image = random_image(c.rng, (300, 280), np.uint8)
c.check("by default", same(c.filter(image, "local-threshold"), image, levels(image, "mean", 31, "clamp", 0)))
for k in (183, 401):
    got = c.filter(image, "local-threshold", "--method", "sauvola", "--k", k, "--factor", 0.5, "--range", 128)
    c.check(f"sauvola {k}", same(got, image, levels(image, "sauvola", k, "clamp", 0, 0, 0.5, 128)))
got = c.filter(image, "local-threshold", "--method", "niblack", "--factor", -0.5)
c.check("niblack above the mean", same(got, image, levels(image, "niblack", 31, "clamp", 0, 0, -0.5)))

# Without deviation no sample exceeds the mean, for any value.
for dtype, v in ((np.uint8, 251), (np.uint16, 65521), (np.float32, 0.3)):
    for method in ("mean", "niblack", "gaussian", "wolf"):
        flat = np.full((40, 50), v, dtype)
        c.check(f"flat, {method} {dtype.__name__}", not c.filter(flat, "local-threshold", "-m", method, "-k", 301).any())

# Low contrast: an even bright page is white, an even dark one black.
page = (random_image(c.rng, (60, 50), np.uint8) // 32 + 180).astype(np.uint8)
page[20:30, 10:20] -= 90
for k, contrast in ((9, 15), (5, 100), (9, 1)):
    args = ["--method", "bernsen", "-k", k] + ([] if contrast == 15 else ["--contrast", contrast])
    c.check(f"bernsen {k}, {contrast}", same(c.filter(page, "local-threshold", *args), page, bernsen(page, k, "clamp", 0, contrast)))
got = c.filter(image, "local-threshold", "-m", "gaussian", "-k", 41, "--sigma", 5)
c.check("gaussian by sigma", same(got, image, gaussian(image, 41, "clamp", 0, 5), slack=2e-6))
got = c.filter(image, "local-threshold", "-m", "wolf", "-k", 201, "--factor", 0.3)
c.check("wolf 201", same(got, image, levels(image, "wolf", 201, "clamp", 0, 0, 0.3)))

# Colour: by luma, or per channel with alpha kept.
colour = random_image(c.rng, (31, 40, 4), np.uint8)
got = c.filter(colour, "local-threshold", "--per-channel", "-k", 5)
each = [same(got[:, :, i], colour[:, :, i], levels(colour[:, :, i], "mean", 5, "clamp", 0)) for i in range(3)]
c.check("each channel", all(each) and np.array_equal(got[:, :, 3], colour[:, :, 3]))
c.check("by luma", c.filter(colour, "local-threshold", "-k", 5).ndim == 2)

if skimage:
    for k in (5, 15):
        got = c.filter(image, "local-threshold", "-k", k, "--border", "mirror", "--offset", 3)
        c.check(f"threshold_local {k}", same(got, image, skimage.threshold_local(image, k, "mean", offset=3)))
        got = c.filter(image, "local-threshold", "-m", "gaussian", "-k", 2 * int(4 * (k - 1) / 6 + 0.5) + 1, "--sigma", (k - 1) / 6, "--border", "mirror")
        c.check(f"threshold_local gaussian {k}", same(got, image, skimage.threshold_local(image, k), slack=2e-6))
        for method in ("niblack", "sauvola"):
            got = c.filter(image, "local-threshold", "-k", k, "--method", method, "--border", "reflect101")
            level = getattr(skimage, f"threshold_{method}")(image, k)
            c.check(f"threshold_{method} {k}", same(got, image, level))
else:
    c.skip("python3 has no skimage")

# OpenCV rounds the mean to an integer: v > floor(m + 1/2) - C.
blurred = c.filter(image, "blur", "-k", 11).astype(int)
got = c.filter(image, "local-threshold", "-k", 11, "--offset", 6.5)
c.check("as adaptiveThreshold rounds", np.array_equal(got == 255, image > blurred - 7))
if cv2:
    want = cv2.adaptiveThreshold(image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 11, 7)
    c.check("adaptiveThreshold", np.array_equal(got, want))
    want = cv2.adaptiveThreshold(image, 255, cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY, 11, 7)
    got = c.filter(image, "local-threshold", "-m", "gaussian", "-k", 11, "--offset", 6.5)
    sure = np.abs(image - gaussian(image, 11, "clamp", 0) + 6.5) > 1e-3
    c.check("adaptiveThreshold, gaussian", np.array_equal(got[sure], want[sure]) and sure.mean() > 0.99)
else:
    c.skip("python3 has no cv2")
c.end()
