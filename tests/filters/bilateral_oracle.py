"""bilateral against its formula in double precision, and OpenCV's bilateralFilter()."""
from _common import Checks, need, np, random_image, to_type

PAD_MODES = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}
c = Checks()


def formula(image, k, sigma, spread, mode="edge", value=0):
    """In double precision; alpha as it is, and each pixel counts as much as it is opaque."""
    v = image.astype(np.float64).reshape(*image.shape[:2], -1)
    h, (height, width, channels) = k // 2, v.shape
    colours = channels - (channels + 1) % 2
    how = {"constant_values": value} if mode == "constant" else {}
    padded = np.pad(v, ((h, h), (h, h), (0, 0)), mode=mode, **how)
    total, weights = np.zeros((height, width, colours)), np.zeros((height, width, 1))
    for j in range(-h, h + 1):
        for i in range(-h, h + 1):
            if i * i + j * j > h * h:
                continue
            q = padded[h + j:h + j + height, h + i:h + i + width]
            d = np.abs(q - v)[:, :, :colours].sum(axis=2, keepdims=True)
            w = np.exp(-(i * i + j * j) / (2 * sigma ** 2) - d ** 2 / (2 * spread ** 2))
            w = w if colours == channels else w * q[:, :, colours:]
            total, weights = total + w * q[:, :, :colours], weights + w
    mean = np.where(weights > 0, total / np.where(weights > 0, weights, 1), v[:, :, :colours])
    return np.concatenate([mean, v[:, :, colours:]], axis=2).reshape(image.shape)


def scene(shape, dtype):
    """Steps with noise, so that some neighbours are alike and others are not."""
    height, width = shape[:2]
    y, x = np.mgrid[:height, :width]
    steps = ((x // 7 + y // 5) % 3 * 0.3 + 0.2).reshape(height, width, *[1] * (len(shape) - 2))
    noisy = np.clip(steps + c.rng.normal(0, 0.06, shape), 0, 1)
    return noisy.astype(np.float32) if dtype == np.float32 else np.rint(noisy * np.iinfo(dtype).max).astype(dtype)


turn = 0
for dtype, full in ((np.uint8, 255), (np.uint16, 65535), (np.float32, 1)):
    for shape in [(1, 1), (1, 19), (31, 33), (23, 29, 3), (17, 21, 4), (19, 23, 2)]:
        if dtype == np.float32 and len(shape) == 3 and shape[2] != 3:
            continue  # no such PFM
        for border, mode in PAD_MODES.items():
            if mode == "reflect" and shape[0] == 1:
                continue  # numpy's is another for one pixel
            turn += 1
            k, sigma, percent = [(9, 3, 10), (5, 1.2, 25), (3, 8, 4), (13, 2.5, 60), (1, 3, 10)][turn % 5]
            image = scene(shape, dtype) if turn % 4 else random_image(c.rng, shape, dtype)
            value = 0.25 if dtype == np.float32 else 77
            args = ["--sigma", sigma, "--range", f"{percent}%", "--k", k, "--border", border, "--device", "cpu"]
            args += ["--border-value", value] if border == "border" else []
            got = c.filter(image, "bilateral", *args)
            want = formula(image, k, sigma, percent / 100 * full, mode, value)
            name = f"{k} {sigma} {percent}% {border} {shape} {dtype.__name__}"
            if dtype == np.float32:
                c.check(name, np.abs(got - want).max() < 2e-6, np.abs(got - want).max())
            else:
                off = np.abs(got.astype(np.int64) - to_type(want, dtype))
                c.check(name, off.max() <= 1 and (off > 0).sum() <= 1 + off.size * (0.002 if dtype == np.uint8 else 0.05),
                        f"{off.max()} {(off > 0).mean()}")

image = scene((60, 70), np.uint8)
default = formula(image, 9, 3, 25.5)
c.check("by default", np.abs(c.filter(image, "bilateral") - default).max() <= 0.51)
c.check("units", np.array_equal(c.filter(image, "bilateral", "--range", "25.5"), c.filter(image, "bilateral")))
c.check("k by sigma", np.array_equal(c.filter(image, "bilateral", "--sigma", 2), c.filter(image, "bilateral", "--sigma", 2, "--k", 7)))

holes = scene((30, 40), np.float32)
holes[3:6, 7:9], holes[20, 20] = np.nan, np.inf
sound = np.isfinite(holes)
got = c.filter(holes, "bilateral")
c.check("NaN and infinity stay", np.array_equal(got[~sound], holes[~sound], equal_nan=True) and np.isfinite(got[sound]).all())

(cv2,) = need("cv2")
for shape in ((61, 47), (40, 50, 3)):
    image = scene(shape, np.uint8)
    for d, colour, space in ((9, 75, 75), (5, 20, 2), (15, 40, 4)):
        got = c.filter(image, "bilateral", "--k", d, "--sigma", space, "--range", colour, "--border", "reflect101")
        off = np.abs(got.astype(int) - cv2.bilateralFilter(image, d, colour, space))
        c.check(f"OpenCV {shape} {d}", off.max() <= 1 and (off > 0).mean() < 0.02, f"{off.max()} {(off > 0).mean()}")
c.end()
