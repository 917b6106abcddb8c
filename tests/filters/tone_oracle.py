"""levels, gamma, normalize and equalize (histogram equalization) against numpy in double precision and OpenCV's
equalizeHist.

Integers must be equal; floats within 2^-20 of the largest value.

Sources: filters/tone/levels.c filters/tone/gamma.c filters/tone/normalize.c filters/tone/equalize.c
    filters/tone/curve*
"""
from _common import Checks, colours, luma, np, optional, random_image, to_type, write

cv2 = optional("cv2")

TYPES = (np.uint8, np.uint16, np.float32)
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
SHAPES = [(1, 1), (7, 33), (61, 43, 3), (40, 31, 4), (23, 57, 2)]
c = Checks()


def walk():
    """Images that don't use the whole range of their type, with more dark values."""
    for dtype in TYPES:
        for shape in SHAPES:
            low, span = c.rng.random(2) * 0.4
            image = (low + (0.1 + span) * c.rng.random(shape) ** 2) * FULL[dtype]
            yield image.astype(dtype), dtype


def map_colors(image, curve):
    """Applies curve(samples, channel) to every colour channel, in double; alpha is unchanged."""
    exact = image.astype(np.float64)
    if image.ndim == 2:
        return curve(exact, 0)
    for i in range(colours(image)):
        exact[:, :, i] = curve(exact[:, :, i], i)
    return exact


def agree(name, got, exact, dtype):
    name = f"{name} {got.shape} {dtype.__name__}"
    if dtype == np.float32:
        c.check(name, np.abs(got - exact).max() <= 2.0**-20 * max(1, np.abs(exact).max()))
    else:
        c.check(name, np.array_equal(got, to_type(exact, dtype)))


def test_levels(image, dtype):
    full = FULL[dtype]
    for black, white, gamma, to_black, to_white in ((10, 60, 1, 0, 100), (20, 70, 1, 12.5, 80), (60, 20, 1, 5, 95),
                                                    (0, 100, 2.2, 0, 100), (10, 50, 0.45, 100, 0), (30, 30, 3, 0, 100)):
        if dtype == np.float32 and black == white:
            continue
        b, w, low, high = (x / 100 * full for x in (black, white, to_black, to_white))

        def curve(v, _):
            t = (v > b).astype(np.float64) if b == w else (v - b) / (w - b)
            t = t if dtype == np.float32 else np.clip(t, 0, 1)
            return low + (high - low) * np.sign(t) * np.abs(t) ** (1 / gamma)

        got = c.filter(image, "levels", f"--black={black}%", f"--white={white}%", "--gamma", gamma,
                       f"--out-black={to_black}%", f"--out-white={to_white}%")
        agree(f"levels {black} {white} {gamma}", got, map_colors(image, curve), dtype)


def test_gamma(image, dtype):
    for by in (0.5, 1, 2.2):
        full = FULL[dtype]
        got = c.filter(image, "gamma", "--by", by)
        agree(f"gamma {by}", got, map_colors(image, lambda v, _: full * (v / full) ** (1 / by)), dtype)


def test_gamma_odd():
    """Floats outside 0 to 1, in double."""
    odd = np.float32([[-4, -0.0, 0, 9, np.inf, -np.inf, np.nan, 1e-40]])
    for name, args in ("gamma", ["--gamma", 2]), ("levels", ["--gamma", 2]):
        got, exact = c.filter(odd, name, *args), np.sign(odd) * np.sqrt(np.abs(odd.astype(np.float64)))
        c.check(f"{name} of negative and infinite floats", np.allclose(got, exact, rtol=2e-7, atol=0, equal_nan=True), got)


def test_normalize(image, dtype):
    full = FULL[dtype]
    for low, high in ((0, 100), (1, 99), (12.5, 60)):
        for each in (False, True):
            judges = [luma(image)] * 3 if not each or image.ndim == 2 else [image[:, :, i] for i in range(3 if colours(image) == 3 else 1)]
            ends = [np.percentile(judge.astype(np.float64), (low, high)) for judge in judges]

            def curve(v, channel):
                a, b = ends[channel]
                return (v - a) / (b - a) * full if a < b else v

            got = c.filter(image, "normalize", "--percentiles", f"{low},{high}", *(["--per-channel"] if each else []))
            agree(f"normalize {low} {high} {each}", got, map_colors(image, curve), dtype)


def bins_of(v):
    """Returns the bin of each float, of 65536 from 0 to 1; those outside are in the nearest bin."""
    return np.clip(np.floor(np.nan_to_num(v.astype(np.float64), posinf=1, neginf=0) * 65536), 0, 65535).astype(np.int64)


def equalized_floats(gray, v):
    """Equalizes floats in double: those outside 0 to 1 do not count, NaN is unchanged."""
    counts = np.bincount(bins_of(gray[(gray >= 0) & (gray <= 1)]), minlength=65536)
    used = np.flatnonzero(counts)
    if used.size < 2:
        return v
    share = (np.cumsum(counts) - counts[used[0]]) / (counts.sum() - counts[used[0]])
    return np.where(np.isnan(v), np.nan, np.maximum(share, 0)[bins_of(v)])


def equalized(gray, v):
    """Maps v by the histogram of `gray`."""
    if gray.dtype == np.float32:
        return equalized_floats(gray, v)
    counts = np.bincount(gray.ravel(), minlength=FULL[gray.dtype.type] + 1)
    least = gray.min()
    sums = np.cumsum(counts) - counts[least]
    above = gray.size - counts[least]
    if above == 0:
        return v
    scale = np.float32(counts.size - 1) / np.float32(above)
    table = np.where(np.arange(counts.size) > least, sums.astype(np.float32) * scale, np.float32(0))
    return table[v.astype(np.int64)].astype(np.float64)


def test_standardize(image, dtype):
    """normalize --mean --std: ToTensor and Normalize of torchvision, (v / full scale - mean) / std; alpha is v / full scale."""
    n = 1 if image.ndim == 2 else colours(image)
    mean, std = c.rng.uniform(-0.5, 1, n).round(3), c.rng.uniform(0.05, 2, n).round(3)
    write(c.path("in.npy"), image)
    unit = image.astype(np.float64) / FULL[dtype]
    for numbers in ((mean, std), (mean[:1], std), (mean, None), (None, std[:1])):
        words = [word for name, values in zip(("mean", "std"), numbers) if values is not None
                 for word in (f"--{name}", ",".join(map(str, values)))]
        m, s = 0 if numbers[0] is None else numbers[0], 1 if numbers[1] is None else numbers[1]
        c.run("normalize", c.path("in.npy"), c.path("out.npy"), *words)
        got, want = np.load(c.path("out.npy")), unit.copy()
        if image.ndim == 2:
            want = (unit - m) / s
        else:
            want[:, :, :n] = (unit[:, :, :n] - m) / s
        c.check(f"normalize {words} {image.shape}", got.dtype == np.float32
                and np.abs(got.reshape(want.shape) - want).max() < 4e-6 * max(1, np.abs(want).max()))


def test_equalize(image, dtype):
    for each in (False, True):
        judge = luma(image)
        got = c.filter(image, "equalize", *(["--per-channel"] if each else []))
        exact = map_colors(image, lambda v, i: equalized(image[:, :, i] if each and image.ndim == 3 else judge, v))
        agree(f"equalize {each}", got, exact, dtype)


def test_opencv():
    if not cv2:
        c.skip("python3 has no cv2")
        return
    for shape in ((1, 1), (40, 50), (333, 217), (5, 1000)):
        image = (c.rng.random(shape) ** 3 * 200 + 17).astype(np.uint8)
        c.check(f"equalizeHist {shape}", np.array_equal(c.filter(image, "equalize"), cv2.equalizeHist(image)))
    image = random_image(c.rng, (2050, 2049), np.uint8)  # sums above 2^22
    c.check("equalizeHist large", np.array_equal(c.filter(image, "equalize"), cv2.equalizeHist(image)))


def test_floats_far_from_zero():
    """Samples that are large compared with their range, and ranges whose reciprocal overflows."""
    for base, span in ((101325, 1.5), (-3e7, 40), (1e30, 1e25), (0.3, 1e-6)):
        image = (base + span * c.rng.random((17, 29))).astype(np.float32)
        exact = image.astype(np.float64)
        a, b = np.percentile(exact, (2, 98))
        got = c.filter(image, "normalize", "--percentiles", "2,98")
        c.check(f"normalize near {base}", np.abs(got - (exact - a) / (b - a)).max() < 2.0**-20)
        got = c.filter(image, "levels", f"--black={a!r}", f"--white={b!r}", "--out-black", 5, "--out-white", -5)
        c.check(f"levels near {base}", np.abs(got - (5 - 10 * (exact - a) / (b - a))).max() < 2.0**-16)
    tiny = np.array([[0, 5e-41, 1e-40]], np.float32)
    c.check("normalize: a span without a reciprocal", np.array_equal(c.filter(tiny, "normalize"), tiny))
    wide = np.array([[-3e38, 0, 3e38]], np.float32)
    c.check("normalize: all there is", np.abs(c.filter(wide, "normalize") - [[0, 0.5, 1]]).max() < 2.0**-20)
    for ends in (("--white", "1e-300"), ("--out-white", "1e300"), ("--black=-1e308", "--white=1e308")):
        image = c.rng.random((3, 5), dtype=np.float32)
        c.check(f"levels {ends}: no line among floats", np.array_equal(c.filter(image, "levels", *ends), image))


def test_floats_without_numbers():
    image = c.rng.random((13, 19), dtype=np.float32) * 100 - 30
    image[0, :4] = np.nan, np.inf, -np.inf, np.nan
    finite = np.isfinite(image)
    a, b = np.percentile(image[finite].astype(np.float64), (5, 95))
    got = c.filter(image, "normalize", "--percentiles", "5,95")
    exact = (image[finite].astype(np.float64) - a) / (b - a)
    c.check("normalize: finite samples", np.abs(got[finite] - exact).max() < 2.0**-20 * 4)
    c.check("normalize: the others", np.array_equal(np.isnan(got), np.isnan(image)) and got[0, 1] == np.inf)
    none = np.full((3, 4), np.nan, np.float32)
    c.check("normalize: no finite sample", np.isnan(c.filter(none, "normalize")).all())


def test_equalize_of_odd_floats():
    """Samples outside 0 to 1, NaN, channels without valid samples; floats from 16 bits, to the bit."""
    image = (c.rng.random((33, 47, 3)) * 1.6 - 0.3).astype(np.float32)
    image[0, :4, 0] = np.nan, np.inf, -np.inf, -0.0
    image[:, :, 1] = np.nan
    image[:, :, 2] = 7
    want = map_colors(image, lambda v, i: equalized(image[:, :, i], v))
    got = c.filter(image, "equalize", "--per-channel")
    c.check("equalize: odd floats", np.array_equal(np.isnan(got), np.isnan(want))
            and np.nanmax(np.abs(got - want)) <= 2.0**-20)
    c.check("equalize: what stays", (got[:, :, 2] == 7).all() and (got[0, 1:3, 0] == (1, 0)).all())
    words = (c.rng.random((50, 60)) ** 2 * 40000 + 3000).astype(np.uint16)
    got = c.filter((words / 65535).astype(np.float32), "equalize")
    c.check("equalize: 16 bits as floats", np.abs(got * 65535.0 - c.filter(words, "equalize")).max() < 0.51)


for image, dtype in walk():
    for test in (test_levels, test_gamma, test_normalize, test_standardize, test_equalize):
        test(image, dtype)
for dtype in TYPES:  # one value
    flat = np.full((5, 6), FULL[dtype] // 3 or 0.25).astype(dtype)
    c.check(f"normalize: one value {dtype.__name__}", np.array_equal(c.filter(flat, "normalize"), flat))
    c.check(f"equalize: one value {dtype.__name__}", np.array_equal(c.filter(flat, "equalize"), flat))
write(c.path("gray.pgm"), np.zeros((3, 4), np.uint8))
for words in (["--mean", "1,2,3"], ["--std", "0"], ["--mean", "1", "--percentiles", "1,99"], ["--std", "1", "--per-channel"]):
    c.run("normalize", c.path("gray.pgm"), c.path("refused.npy"), *words, status=2)
test_gamma_odd()
test_opencv()
test_equalize_of_odd_floats()
test_floats_far_from_zero()
test_floats_without_numbers()
c.end()
