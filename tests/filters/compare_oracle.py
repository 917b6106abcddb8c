"""compare against numpy and scikit-image's structural_similarity and colour differences.

Sources: filters/statistics/compare*
"""
import json
import math

from _common import Checks, need, np, random_image, read, suffix, write

metrics, color = need("skimage.metrics", "skimage.color")
c = Checks()


def measured(a, b, *args, status=None):
    paths = [c.path("a" + suffix(a)), c.path("b" + suffix(b))]
    write(paths[0], a)
    write(paths[1], b)
    if status is None:  # without a limit it is 1 if any sample differs
        status = int(not args and not np.array_equal(a, b))
    return json.loads(c.run("compare", *paths, "--format", "json", *args, status=status))


def disturbed(image, amount):
    """Returns values near those of `image`."""
    if image.dtype == np.float32:
        return (image + c.rng.normal(0, amount, image.shape)).astype(np.float32)
    full = np.iinfo(image.dtype).max
    return np.clip(np.rint(image + c.rng.normal(0, amount * full, image.shape)), 0, full).astype(image.dtype)


def smooth(shape, dtype):
    y, x = np.mgrid[:shape[0], :shape[1]]
    wave = 0.5 + 0.3 * np.sin(x / 7) * np.cos(y / 5)
    if len(shape) == 3:
        wave = np.stack([wave * s for s in (1, 0.8, 0.6, 0.9)[:shape[2]]], axis=2)
    if dtype == np.float32:
        return wave.astype(np.float32)
    return np.rint(wave * np.iinfo(dtype).max).astype(dtype)


def test_numbers():
    for dtype in (np.uint8, np.uint16, np.float32):
        full = 1.0 if dtype == np.float32 else float(np.iinfo(dtype).max)
        for shape in ((11, 11), (12, 40), (101, 67), (64, 33, 3), (40, 41, 4)):
            for a in (smooth(shape, dtype), random_image(c.rng, shape, dtype)):
                b = disturbed(a, 0.05)
                name = f"{dtype.__name__} {shape}"
                got = measured(a, b)
                x, y = a.astype(np.float64), b.astype(np.float64)
                mse = ((x - y) ** 2).mean()
                c.check(f"{name} max", math.isclose(got["max_difference"], abs(x - y).max(), rel_tol=1e-12))
                c.check(f"{name} differing", got["differing"] == int((a != b).sum()))
                c.check(f"{name} mse", math.isclose(got["mse"], mse, rel_tol=1e-12))
                c.check(f"{name} psnr", math.isclose(got["psnr"], 10 * math.log10(full**2 / mse), rel_tol=1e-12))
                ssim = metrics.structural_similarity(
                    x, y, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
                    data_range=full, channel_axis=2 if a.ndim == 3 else None)
                c.check(f"{name} ssim", abs(got["ssim"] - ssim) < 1e-6, f"{got['ssim']} against {ssim}")


def windows(n):
    size = 11 if n >= 11 else n - (n % 2 == 0)
    x = np.arange(size) - size // 2
    w = np.exp(-x * x / 4.5)
    return w / w.sum()


def plain_ssim(x, y, full):
    """SSIM by its definition, window by window; if a side is below 11, the largest odd window is used."""
    wy, wx = windows(x.shape[0]), windows(x.shape[1])
    w = np.outer(wy, wx)
    values = []
    for j in range(x.shape[0] - len(wy) + 1):
        for i in range(x.shape[1] - len(wx) + 1):
            p, q = (v[j:j + len(wy), i:i + len(wx)] for v in (x, y))
            mp, mq = (w * p).sum(), (w * q).sum()
            vp, vq = (w * (p - mp) ** 2).sum(), (w * (q - mq) ** 2).sum()
            cov = (w * (p - mp) * (q - mq)).sum()
            c1, c2 = (0.01 * full) ** 2, (0.03 * full) ** 2
            values.append((2 * mp * mq + c1) * (2 * cov + c2)
                          / ((mp**2 + mq**2 + c1) * (vp + vq + c2)))
    return np.mean(values)


def test_small():
    for shape in ((1, 1), (1, 30), (30, 1), (2, 2), (10, 25), (7, 8)):
        a = random_image(c.rng, shape, np.uint8)
        b = disturbed(a, 0.2)
        got = measured(a, b)["ssim"]
        want = plain_ssim(a.astype(np.float64), b.astype(np.float64), 255.0)
        c.check(f"small {shape}", abs(got - want) < 1e-9, f"{got} against {want}")


def test_equal():
    a = random_image(c.rng, (40, 50, 3), np.uint8)
    got = measured(a, a, "--max-diff", 0, "--min-psnr", 100)
    c.check("equal", got["differing"] == 0 and got["mse"] == 0 and got["psnr"] is None
            and abs(got["ssim"] - 1) < 1e-12)


def test_depths():
    a = random_image(c.rng, (40, 50), np.uint8)
    got = measured(a, a.astype(np.uint16) * 257, status=0)
    c.check("8 and 16 bits", got["differing"] == 0 and got["depth"] == 16)


def test_status():
    a = np.full((20, 20), 100, np.uint8)
    b = a.copy()
    b[3, 4] = 110
    measured(a, b, "--max-diff", 10)
    got = measured(a, b, "--max-diff", 9, status=1)
    c.check("numbers come with status 1", got["max_difference"] == 10 and got["differing"] == 1)
    measured(a, b, "--min-psnr", 60, status=1)
    measured(a, b, "--min-psnr", 50)
    c.check("status", True)


def test_picture():
    a, b = (random_image(c.rng, (30, 40, 3), np.uint8) for _ in range(2))
    out = c.path("diff.ppm")
    measured(a, b, "--diff", out, "--gain", 2, status=1)
    want = np.clip(2 * abs(a.astype(int) - b), 0, 255)
    c.check("picture", (read(out) == want).all())


def test_marks():
    """Without --gain differing pixels are red, on the luma of the first image over white, faded to 70 % of white."""
    for channels, dtype in ((1, np.uint8), (2, np.uint8), (3, np.uint16), (4, np.uint8)):
        a = random_image(c.rng, (30, 40, channels) if channels > 1 else (30, 40), dtype)
        b = a.copy()
        b[4:9, 7:30] ^= 1
        b[20, 11] ^= 8
        out = c.path("marks.ppm")
        measured(a, b, "--diff", out, "--tolerance", 2, status=1)
        full = np.iinfo(dtype).max
        rgb = a.reshape(30, 40, channels)[..., [0, 1, 2] if channels > 2 else [0, 0, 0]] / full
        alpha = a.reshape(30, 40, channels)[..., -1] / full if channels in (2, 4) else 1
        luma = rgb @ (0.2126, 0.7152, 0.0722) * alpha + 1 - alpha
        want = np.repeat(np.rint(255 * (0.7 + 0.3 * luma))[..., None], 3, axis=2)
        got = read(out).astype(int)
        c.check(f"marks, {channels} channels: the others are faded", (abs(got - want).max(axis=2) <= 1).sum() == 30 * 40 - 1)
        c.check(f"marks, {channels} channels: red", (got[20, 11] == (255, 0, 0)).all())


def halved(x):
    """The means of 2 x 2 pixels; the last row or column of an odd size is repeated."""
    x = np.pad(x, [(0, n % 2) for n in x.shape], mode="edge")
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) / 4


def ms_ssim(x, y, full):
    """MS-SSIM of one channel. With a huge K1 scikit-image's luminance factor is 1, so that its mean is that of contrast and structure."""
    result = 1
    for i, exponent in enumerate((0.0448, 0.2856, 0.3001, 0.2363, 0.1333)):
        mean = metrics.structural_similarity(x, y, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=full,
                                             K1=0.01 if i == 4 else 1e6)
        result *= max(mean, 0) ** exponent
        x, y = halved(x), halved(y)
    return result


def test_ms_ssim():
    for dtype, shape in ((np.uint8, (161, 170)), (np.uint8, (183, 161, 3)), (np.uint16, (176, 201, 2)), (np.float32, (200, 190))):
        full = 1.0 if dtype == np.float32 else float(np.iinfo(dtype).max)
        a = smooth(shape, dtype)
        b = disturbed(a, 0.05)
        b[:90] = a[:90]  # rows of equal pieces
        got = measured(a, b, "--metric", "ms-ssim", status=1)
        planes = [v.reshape(*shape[:2], -1).astype(np.float64) for v in (a, b)]
        want = np.mean([ms_ssim(planes[0][..., i], planes[1][..., i], full) for i in range(planes[0].shape[2])])
        c.check(f"ms-ssim {dtype.__name__} {shape}", abs(got["ms_ssim"] - want) < 1e-6, f"{got['ms_ssim']} against {want}")
        c.check("ms-ssim alone", set(got) == {"a", "b", "width", "height", "depth", "samples", "differing", "max_difference", "ms_ssim", "channels"})
    got = measured(a[:160], b[:160], "--metric", "ms-ssim", "--min-ms-ssim", "0.1", status=1)
    c.check("ms-ssim of a small image", got["ms_ssim"] is None)


def test_equal_pieces():
    """SSIM where most pieces of rows are equal, with differences at their ends."""
    a = random_image(c.rng, (60, 700, 3), np.uint8)
    b = a.copy()
    for y, x in ((0, 0), (30, 85), (31, 341), (59, 699)):
        b[y, x] ^= 255
    got = measured(a, b)["ssim"]
    want = metrics.structural_similarity(a.astype(np.float64), b.astype(np.float64), gaussian_weights=True, sigma=1.5,
                                         use_sample_covariance=False, data_range=255, channel_axis=2)
    c.check("ssim with equal pieces", abs(got - want) < 1e-9, f"{got} against {want}")


def test_ciede2000():
    for dtype, channels in ((np.uint8, 3), (np.uint16, 3), (np.float32, 3), (np.uint8, 1), (np.uint8, 4)):
        shape = (40, 300, channels) if channels > 1 else (40, 300)
        a, b = (random_image(c.rng, shape, dtype) for _ in range(2))
        b[:, :200] = a[:, :200]
        b[7] = disturbed(a[7], 0.01)
        full = 1.0 if dtype == np.float32 else float(np.iinfo(dtype).max)
        labs = []
        for image in (a, b):
            v = image.reshape(40, 300, channels) / full
            rgb = v[..., [0, 0, 0]] if channels == 1 else v[..., :3]
            labs.append(color.rgb2lab(rgb * v[..., 3:] + 1 - v[..., 3:] if channels == 4 else rgb))
        want = color.deltaE_ciede2000(*labs)
        got = measured(a, b, "--metric", "ciede2000", "--max-ciede2000", "200")
        for key, value in (("ciede2000", want.mean()), ("ciede2000_max", want.max())):
            c.check(f"{key} {dtype.__name__} {channels}", math.isclose(got[key], value, rel_tol=1e-6), f"{got[key]} against {value}")
    measured(a, b, "--max-ciede2000", want.mean() * 0.99, status=1)
    measured(a, b, "--max-ciede2000", want.mean() * 1.01)


test_numbers()
test_ms_ssim()
test_equal_pieces()
test_ciede2000()
test_small()
test_equal()
test_depths()
test_status()
test_picture()
test_marks()
c.end()
