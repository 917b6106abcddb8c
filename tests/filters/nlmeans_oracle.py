"""nlmeans (non-local means) against its definition in integers, to the byte, and against its formula in double
precision and OpenCV.

Sources: filters/denoise/nlmeans.c
"""
from _common import Checks, need, np

PAD_MODES = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}
ONE, ENTRIES = 32768, 4096
c = Checks()


def table(unit):
    """Returns shift and weights, indexed by distances >> shift."""
    far, shift = unit * np.log(2 * ONE), 0
    while far / 2 ** shift >= ENTRIES:
        shift += 1
    n = int(min(far / 2 ** shift + 1, ENTRIES))
    return shift, np.rint(ONE * np.exp(-(np.arange(n) * 2.0 ** shift + (2 ** shift - 1) / 2) / unit)).astype(np.int64)


def offsets(image, patch, search, mode, value=0):
    """For each offset yields the shifted colours (and alpha), and the patch distance: sums of squared differences
    in steps."""
    v = image.reshape(*image.shape[:2], -1)
    colours = v.shape[2] - (v.shape[2] + 1) % 2
    r, s = patch // 2, search // 2
    how = {"constant_values": value} if mode == "constant" else {}
    padded = np.pad(v, ((r + s, r + s), (r + s, r + s), (0, 0)), mode=mode, **how)
    height, width = v.shape[:2]
    for j in range(-s, s + 1):
        for i in range(-s, s + 1):
            a = padded[s:s + height + 2 * r, s:s + width + 2 * r, :colours].astype(np.int64)
            b = padded[s + j:s + j + height + 2 * r, s + i:s + i + width + 2 * r].astype(np.int64)
            squares = ((a - b[:, :, :colours]) ** 2).sum(axis=2)
            sums = np.lib.stride_tricks.sliding_window_view(squares, (patch, patch)).sum(axis=(2, 3))
            yield b[r:r + height, r:r + width], sums


def means(image, patch, search, h, mode="edge", value=0, exact=True):
    v = image.reshape(*image.shape[:2], -1).astype(np.int64)
    colours = v.shape[2] - (v.shape[2] + 1) % 2
    unit = h * h * patch * patch * colours
    shift, weights = table(unit)
    total, count = 0, 0
    for there, distance in offsets(image, patch, search, mode, value):
        if exact:
            place = distance >> shift
            w = np.where(place < len(weights), weights[np.minimum(place, len(weights) - 1)], 0)
        else:
            w = np.exp(-distance / unit)
        w = w * there[:, :, colours] if colours < v.shape[2] else w
        total, count = total + w[:, :, None] * there[:, :, :colours], count + w[:, :, None]
    if exact:
        mean = np.where(count > 0, (2 * total + count) // np.maximum(2 * count, 1), v[:, :, :colours])
        return np.concatenate([mean, v[:, :, colours:]], axis=2).reshape(image.shape)
    return (total / count).reshape(image.shape)


def scene(shape):
    y, x = np.mgrid[:shape[0], :shape[1]]
    steps = ((x // 9 + y // 7) % 3 * 60 + 50).reshape(*shape[:2], *[1] * (len(shape) - 2))
    return np.clip(np.rint(steps + c.rng.normal(0, 12, shape)), 0, 255).astype(np.uint8)


turn = 0
for shape in [(1, 1), (1, 19), (31, 33), (23, 29, 3), (17, 21, 4), (19, 23, 2)]:
    for border, mode in PAD_MODES.items():
        if mode in ("reflect", "wrap") and shape[0] == 1:
            continue  # numpy's are others for one pixel
        turn += 1
        patch, search, h = [(7, 21, 10), (3, 9, 25.5), (5, 11, 4), (1, 5, 60), (9, 7, 0.3)][turn % 5]
        image, value = scene(shape), 77
        args = ["--patch", patch, "--search", search, "--strength", h, "--border", border, "--device", "cpu"]
        args += ["--border-value", value] if border == "border" else []
        got = c.filter(image, "nlmeans", *args)
        c.check(f"{patch} {search} {h} {border} {shape}", np.array_equal(got, means(image, patch, search, h, mode, value)))

image = scene((40, 50))
got, real = c.filter(image, "nlmeans", "--strength", 12), means(image, 7, 21, 12, exact=False)
c.check("the formula", np.abs(got - real).max() < 1, np.abs(got - real).max())
c.check("4% by default", np.array_equal(c.filter(image, "nlmeans"), c.filter(image, "nlmeans", "--strength", 10.2)))

# 16 bits and floats of the same picture: differences in steps of 1/16 of the strength.
wide = c.filter(image.astype(np.uint16) * 257, "nlmeans", "--strength", 12 * 257)
c.check("16 bits", np.abs(wide / 257 - real).max() < 0.6, np.abs(wide / 257 - real).max())
reals = (image / 255).astype(np.float32)
c.check("floats", np.abs(c.filter(reals, "nlmeans", "--strength", 12 / 255) * 255 - real).max() < 0.6)
reals[11, 13], reals[20, 5] = np.nan, np.inf
c.check("NaN is filled", np.isfinite(c.filter(reals, "nlmeans")).all())

(cv2,) = need("cv2")
image = scene((60, 70))
off = np.abs(c.filter(image, "nlmeans", "--strength", 20, "--border", "reflect101").astype(int)
             - cv2.fastNlMeansDenoising(image, None, 20, 7, 21))
c.check("OpenCV", off.max() <= 3 and off.mean() < 0.5, f"{off.max()} {off.mean()}")
c.end()
