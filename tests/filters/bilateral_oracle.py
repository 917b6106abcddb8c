"""bilateral against its formula in double precision and OpenCV's bilateralFilter().

Sources: denoise
"""
from _common import Checks, need, np, random_image, suffix, to_type, write

PAD_MODES = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}
c = Checks()


def formula(image, k, sigma, spread, mode="edge", value=0, guide=None, guide_value=0):
    """The formula in double precision: alpha is unchanged and weights each pixel. Differences are those of the
    guide's colours."""
    v = image.astype(np.float64).reshape(*image.shape[:2], -1)
    h, (height, width, channels) = k // 2, v.shape
    colours = channels - (channels + 1) % 2
    how = {"constant_values": value} if mode == "constant" else {}
    padded = np.pad(v, ((h, h), (h, h), (0, 0)), mode=mode, **how)
    g, around = v[:, :, :colours], padded[:, :, :colours]
    if guide is not None:
        g = guide.astype(np.float64).reshape(height, width, -1)
        g = g[:, :, :g.shape[2] - (g.shape[2] + 1) % 2]
        around = np.pad(g, ((h, h), (h, h), (0, 0)), mode=mode, **({"constant_values": guide_value} if how else {}))
    total, weights = np.zeros((height, width, colours)), np.zeros((height, width, 1))
    for j in range(-h, h + 1):
        for i in range(-h, h + 1):
            if i * i + j * j > h * h:
                continue
            q = padded[h + j:h + j + height, h + i:h + i + width]
            d = np.abs(around[h + j:h + j + height, h + i:h + i + width] - g).sum(axis=2, keepdims=True)
            w = np.exp(-(i * i + j * j) / (2 * sigma ** 2) - d ** 2 / (2 * spread ** 2))
            w = w if colours == channels else w * q[:, :, colours:]
            total, weights = total + w * q[:, :, :colours], weights + w
    mean = np.where(weights > 0, total / np.where(weights > 0, weights, 1), v[:, :, :colours])
    return np.concatenate([mean, v[:, :, colours:]], axis=2).reshape(image.shape)


def scene(shape, dtype):
    """Steps with noise, so that some neighbours are similar and others are not."""
    height, width = shape[:2]
    y, x = np.mgrid[:height, :width]
    steps = ((x // 7 + y // 5) % 3 * 0.3 + 0.2).reshape(height, width, *[1] * (len(shape) - 2))
    noisy = np.clip(steps + c.rng.normal(0, 0.06, shape), 0, 1)
    return noisy.astype(np.float32) if dtype == np.float32 else np.rint(noisy * np.iinfo(dtype).max).astype(dtype)


turn = 0
for dtype, full in ((np.uint8, 255), (np.uint16, 65535), (np.float32, 1)):
    for shape in [(1, 1), (1, 19), (31, 33), (23, 29, 3), (17, 21, 4), (19, 23, 2)]:
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

for turn, (dtype, shape, other, guide_shape) in enumerate((
        (np.uint8, (31, 33), np.uint8, (31, 33)), (np.uint8, (23, 29, 3), np.uint16, (23, 29)), (np.uint16, (17, 21), np.float32, (17, 21, 3)),
        (np.uint8, (17, 21, 4), np.uint8, (17, 21, 2)), (np.float32, (19, 23, 3), np.uint8, (19, 23, 3)), (np.uint16, (19, 23, 2), np.uint8, (19, 23, 4)))):
    image, guide = random_image(c.rng, shape, dtype), scene(guide_shape, other)
    full, guide_full = (1 if t == np.float32 else np.iinfo(t).max for t in (dtype, other))
    path = c.path("guide" + suffix(guide))
    write(path, guide)
    for border, mode in PAD_MODES.items():
        got = c.filter(image, "bilateral", "--k", 7, "--sigma", 2.5, "--range", 0.2 * full, "--border", border, "--guide", path,
                       *(["--border-value", "black"] if border == "border" and shape[2:] != (2,) else []))
        if border == "border" and len(shape) == 3 and shape[2] % 2 == 0:
            continue  # black is opaque
        want = formula(image, 7, 2.5, 0.2 * guide_full, mode, 0, guide)
        off = np.abs(got - (want if dtype == np.float32 else to_type(want, dtype)).astype(np.float64))
        ok = off.max() < 2e-6 if dtype == np.float32 else off.max() <= 1 and (off > 0).mean() <= (0.002 if dtype == np.uint8 else 0.05) + 1 / off.size
        c.check(f"guide {guide_shape} {other.__name__} of {shape} {dtype.__name__} {border}", ok, off.max())
    c.check("the image as its own guide", dtype == np.float32 or len(shape) == 3 and shape[2] == 2 or np.array_equal(
        c.filter(image, "bilateral"), c.filter(image, "bilateral", "--guide", c.path("in" + suffix(image)))))

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
