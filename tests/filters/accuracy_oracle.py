"""README's promise of accuracy, over all operations of `gpuimg list`: 8 and 16 bits at most 1 step off double precision, 99.9 %
of the samples equal in 8 bits and 95 % in 16 bits; less in 8 bits only where README says so (interpolation at decimal distances).

Decimal options are decimal numbers: the reference is a quotient of integers, so that a tie is a tie. The table ELSEWHERE names
the oracle of operations that copy, select or count samples, and of those whose oracle makes the same assertion.

Sources: filters/filters.c kernels/rules.h filters/convolution/convolve.c arithmetic color
"""
import json
import math
import os
from fractions import Fraction

from _common import Checks, need, np, random_image, to_type, write
from _remap import grid, sample

(ndimage,) = need("scipy.ndimage")
c = Checks()
FULL = {np.uint8: 255, np.uint16: 65535}
SIZE = (251, 397)

ELSEWHERE = {"erode": "morphology", "dilate": "morphology", "open": "morphology", "close": "morphology", "gradient": "morphology",
         "tophat": "morphology", "blackhat": "morphology", "background": "morphology", "fill-holes": "choose",
         "clear-border": "choose", "remove-small": "choose",
         "distance": "distance", "expand-labels": "expand_labels", "watershed": "watershed", "split-touching": "watershed", "median": "median", "rank": "median", "mode": "median",
         "nlmeans": "nlmeans", "threshold": "peers", "local-threshold": "local", "equalize": "tone", "clahe": "clahe", "match": "match",
         "quantize": "palette", "colormap": "colormap", "lut": "lut", "calc": "calc", "tonemap": "tonemap", "draw": "draw", "crop": "layout", "pad": "layout", "flip": "layout", "transpose": "layout", "paste": "paste",
         "channels": "layout", "warp-polar": "geometry", "undistort": "geometry", "perspective": "geometry", "split": "layers", "merge": "layers",
         "montage": "../cli/operations/layout.sh", "pages": "../cli/formats/pages.sh", "orient": "layout", "run": "linear", "convert": "npy", "stack": "stack", "stats": "stats",
         "histogram": "histogram", "integral": "integral", "cumulative": "integral", "palette": "palette", "hash": "hash", "duplicates": "duplicates", "extract": "extract", "compare": "compare", "find": "find", "align": "align", "skew": "deskew", "tiles": "tiles", "mosaic": "mosaic",
         "canny": "canny", "contours": "contours", "convex-hull": "convex_hull", "deskew": "deskew", "flood-fill": "reconstruct",
         "h-maxima": "reconstruct", "h-minima": "reconstruct", "reconstruct": "reconstruct", "hit-or-miss": "thin", "thin": "thin", "peaks": "peaks",
         "corners": "corners", "blobs": "blobs", "lines": "lines", "circles": "circles"}


def total(*terms):
    """The sum of weight * integers in exact numbers; a weight is a text such as "0.3" or "1/255". Returns doubles, which are
    ties wherever the sum is a tie."""
    weights = [Fraction(w) for w, _ in terms]
    q = math.lcm(*(w.denominator for w in weights))
    return sum(int(w * q) * np.asarray(v).astype(np.int64) for w, (_, v) in zip(weights, terms)) / q


def correlated(image, kernel, anchor=None, bias="0"):
    """Correlation with weights that are fractions, clamped at the border."""
    q = math.lcm(*(w.denominator for row in kernel for w in row), Fraction(bias).denominator)
    whole = np.array([[int(w * q) for w in row] for row in kernel])
    v = image.astype(np.int64).reshape(*image.shape[:2], -1)
    sums = np.stack([ndimage.correlate(v[:, :, i], whole, mode="nearest") for i in range(v.shape[2])], 2)
    return ((sums + int(Fraction(bias) * q)) / q).reshape(image.shape)


def smooth(image, taps):
    return ndimage.correlate1d(ndimage.correlate1d(image.astype(float), taps, axis=1, mode="nearest"), taps, axis=0, mode="nearest")


def gaussian(image, sigma):
    x = np.arange(-math.ceil(4 * sigma), math.ceil(4 * sigma) + 1)
    taps = np.exp(-0.5 * (x / sigma) ** 2)
    return smooth(image, taps / taps.sum())


def rows_of(text):
    return [[Fraction(w) for w in row.split()] for row in text.split(";")]


def shifted(image, dx, dy):
    """Bilinear interpolation at a distance of dx, dy to the left and above, in exact numbers; clamped."""
    wx, wy = ([1 - (d % 1), d % 1] for d in (-dx, -dy))
    left, above = math.floor(-dx), math.floor(-dy)
    kernel = [[Fraction(0)] * 5 for _ in range(5)]
    for j in range(2):
        for i in range(2):
            kernel[2 + above + j][2 + left + i] += wy[j] * wx[i]
    return correlated(image, kernel)


def triangle(n, m):
    """The weights of resize --filter triangle from n to m pixels, as fractions."""
    step, half, rows = Fraction(n, m), Fraction(1, 2), []
    for i in range(m):
        middle, reach = (i + half) * step, max(Fraction(1), step)
        row = {j: 1 - abs(j + half - middle) / reach for j in range(max(0, math.floor(middle - reach)), min(n, math.ceil(middle + reach)))}
        row = {j: w for j, w in row.items() if w > 0}
        rows.append({j: w / sum(row.values()) for j, w in row.items()})
    return rows


def resized(image, size):
    """Columns first, then rows: in integers while they fit in 53 bits, else in double."""
    sides = triangle(image.shape[1], size[0]), triangle(image.shape[0], size[1])
    q = math.lcm(*(w.denominator for side in sides for row in side for w in row.values()))
    q = q if q < 4096 else 0
    x, y = (np.zeros((len(side), n)) for side, n in zip(sides, image.shape[::-1]))
    for side, table in zip(sides, (x, y)):
        for i, row in enumerate(side):
            table[i, list(row)] = [float(w * q) if q else float(w) for w in row.values()]
    return y @ image.astype(float) @ x.T / (q * q if q else 1)


KERNELS = ["0.1 0.2 0.4 0.2 0.1", "0.1 0.2 0.1; 0.2 0.3 0.1; 0 0.1 -0.1", "0.05 0.1 0.05; 0.1 0.4 0.1; 0.05 0.1 0.05", "0.3; 0.4; 0.3",
           "0 -1 0; -1 5 -1; 0 -1 0", "1/6 1/3 1/2", "0.7 0.7 -0.4", "0.025 0.95 0.025"]


def cases(dtype):
    """Yields (operation, input, arguments, the result in exact numbers or in double, share that must be equal)."""
    full, bits = FULL[dtype], {np.uint8: "255", np.uint16: "65535"}[dtype]
    a, b, m = (random_image(c.rng, SIZE, dtype) for _ in "abm")
    rgb, over = (random_image(c.rng, (*SIZE, 3), dtype) for _ in "ab")
    A, B = a.astype(np.int64), b.astype(np.int64)
    other, third = c.path("b.pgm"), c.path("m.pgm")
    write(other, b), write(third, m), write(c.path("over.ppm"), over)
    for s, o in (("0.3", "0"), ("0.9", "0.5"), ("1.1", "-3.1"), ("0.25", "0"), ("0.123", "7")):
        more = ("--scale", s, f"--offset={o}")
        one = ("1", np.ones_like(A))
        ones = np.ones_like(A)
        yield "add", a, ("--with", other, *more), total((s, A + B), (o, ones))
        yield "subtract", a, ("--with", other, *more), total((s, A - B), (o, ones))
        yield "absdiff", a, ("--with", other, *more), total((s, abs(A - B)), (o, ones))
        yield "multiply", a, ("--with", other, *more), total((Fraction(s) / full, A * B), (o, ones))
        yield "add", a, ("--value", "7.3", *more), total((s, A), (Fraction(s) * Fraction("7.3"), ones), (o, ones))
        yield "multiply", a, ("--value", s, *more), total((Fraction(s) ** 2, A), (o, ones))
        yield "divide", a, ("--value", s), total((1 / Fraction(s), A))
        yield "blend", a, ("--with", other, "--amount", s if float(s) < 1 else "0.7"), total((1 - Fraction(s), A), (s, B)) if float(s) < 1 else total(("0.3", A), ("0.7", B))
        yield "composite", rgb, ("--with", c.path("over.ppm"), "--opacity", s if float(s) < 1 else "0.6"), total((1 - Fraction(s if float(s) < 1 else "0.6"), rgb), (s if float(s) < 1 else "0.6", over))
    yield "multiply", rgb, ("--value", "1.1,0.7,2.55"), np.stack([total((w, rgb[..., i])) for i, w in enumerate(("1.1", "0.7", "2.55"))], 2)
    with np.errstate(all="ignore"):
        yield "divide", a, ("--with", other), np.nan_to_num(A * full / B, nan=0, posinf=full)
    dark, flat = (m // 8).astype(dtype), (b // 2 + full // 4).astype(dtype)
    write(c.path("dark.pgm"), dark), write(c.path("flat.pgm"), flat)
    level = flat.astype(float) - dark
    yield "flat-field", a, ("--flat", c.path("flat.pgm"), "--dark", c.path("dark.pgm")), (A - dark.astype(float)) / level * level.mean()
    yield "mask", a, ("--with", third, "--fill", str(full // 5)), total((Fraction(1, full), A * m.astype(np.int64)), (Fraction(full // 5, full), full - m.astype(np.int64)))
    for text in KERNELS:
        yield "convolve", a, ("--kernel", text), correlated(a, rows_of(text))
        yield "convolve", rgb, ("--kernel", text, "--bias", "10.5"), correlated(rgb, rows_of(text), bias="10.5")
    for text in ("1 2 4 2 1", "1 2 1; 2 -2 2; 1 2 1", "1 1 1; 1 2 1; 1 1 1"):
        sum_ = sum(w for row in rows_of(text) for w in row)
        yield "convolve", a, ("--kernel", text, "--normalize"), correlated(a, [[w / sum_ for w in row] for row in rows_of(text)])
    for k in (3, 5, 31):
        yield "blur", a, ("--k", k), correlated(a, [[Fraction(1, k * k)] * k] * k)
    for sigma in (0.8, 2.5):
        yield "gaussian", a, ("--sigma", sigma), gaussian(a, sigma)
        yield "sharpen", a, ("--sigma", sigma, "--amount", "0.7"), a + 0.7 * (a - gaussian(a, sigma))
    for scale in ("1", "0.1", "0.125", "0.3"):
        x, y = (total((scale, ndimage.correlate(A, np.array(w), mode="nearest"))) for w in ([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]))
        yield "edges", a, ("--scale", scale), np.hypot(x, y)
        yield "edges", a, ("--scale", scale, "--component", "x"), abs(x)
        laplacian = total((scale, ndimage.correlate(A, np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]]), mode="nearest")))
        yield "edges", a, ("--scale", scale, "--operator", "laplacian"), abs(laplacian)
    low, high = ndimage.minimum_filter(A, 5, mode="nearest"), ndimage.maximum_filter(A, 5, mode="nearest")
    yield "midpoint", a, ("--k", 5), (low + high) / 2
    y, x = np.mgrid[-9:10, -9:10]
    padded, means = np.pad(A, 9, mode="edge").astype(float), np.zeros((2, *SIZE))
    for j, i in zip(*np.nonzero(x * x + y * y <= 81)):
        v = padded[j:j + SIZE[0], i:i + SIZE[1]]
        w = np.exp(-(x[j, i] ** 2 + y[j, i] ** 2) / 18 - (v - A) ** 2 / (2 * (0.3 * full) ** 2))
        means += w * v, w
    yield "bilateral", a, ("--sigma", 3, "--range", "30%", "--k", 19), means[0] / means[1]
    yield "invert", a, (), full - A
    v = a / full
    for gamma in ("0.7", "2.2"):
        yield "gamma", a, ("--gamma", gamma), full * v ** (1 / float(gamma))
        yield "levels", a, ("--black", "10%", "--white", "90%", "--gamma", gamma), full * np.clip((v - 0.1) / 0.8, 0, 1) ** (1 / float(gamma))
    ends = np.percentile(A, (1, 99))
    yield "normalize", a, ("--percentiles", "1,99"), (A - ends[0]) / (ends[1] - ends[0]) * full
    for text in ("0.1 0.2 0.7; 0.3 0.3 0.4; 0 0.5 0.5", "1.1 -0.1 0; 0 0.9 0.1; 0.25 0.25 0.5"):
        yield "color", rgb, ("--matrix", text), np.stack([total(*((w, rgb[..., i]) for i, w in enumerate(row))) for row in rows_of(text)], 2)
    luma = np.array([0.213, 0.715, 0.072])
    yield "color", rgb, ("--saturation", "0.3"), rgb * 0.3 + 0.7 * (rgb @ luma)[..., None]
    for dx, dy in (("0.5", "0"), ("0.25", "0.75"), ("2", "-1")):
        yield "shift", a, (f"--offset={dx},{dy}", "--border", "clamp"), shifted(a, Fraction(dx), Fraction(dy))
    for dx, dy in (("0.3", "0"), ("0.1", "0.7")):
        yield "shift", a, (f"--offset={dx},{dy}", "--border", "clamp"), shifted(a, Fraction(dx), Fraction(dy)), 0.98
    x, y = grid(SIZE[1], SIZE[0])
    write(c.path("map.npy"), np.stack([x * 0.9 + 3 + np.sin(y), y * 0.8 + 5], -1).astype(np.float32))
    u, v = np.moveaxis(np.load(c.path("map.npy")).astype(float), 2, 0)
    yield "remap", a, ("--map", c.path("map.npy"), "--border", "clamp"), sample(a, u, v, "bilinear", "clamp")[..., 0]
    co, si = np.cos(np.radians(17)), np.sin(np.radians(17))
    u, v = x - (SIZE[1] - 1) / 2, y - (SIZE[0] - 1) / 2
    u, v = (SIZE[1] - 1) / 2 + co * u - si * v, (SIZE[0] - 1) / 2 + si * u + co * v
    yield "rotate", a, ("--angle", 17, "--border", "clamp"), sample(a, u, v, "bilinear", "clamp")[..., 0]
    yield "affine", a, ("--matrix=0.97,0.1,3; -0.2,1.01,5", "--inverse", "--border", "clamp"), sample(a, 0.97 * x + 0.1 * y + 3, -0.2 * x + 1.01 * y + 5, "bilinear", "clamp")[..., 0], 0.995
    for size in ((397, 125), (211, 97), (700, 503)):
        yield "resize", a, ("--stretch", "--size", "%dx%d" % size, "--filter", "triangle"), resized(a, size)
    part = a[:100, :120]
    for size in ((180, 150), (150, 125)):
        yield "resize", part, ("--size", "%dx%d" % size, "--filter", "triangle"), resized(part, size), 0.99


def constants():
    """A constant image of floats stays constant where its value is a power of two (except by blur with more than 7 taps, whose
    sums are rounded as often); other constants change by less than 2^-19 of the value, and images of integers not at all."""
    means = [("gaussian", "--sigma", s) for s in (0.3, 0.5, 1, 1.5, 2, 3, 5, 10, 25)] + [("blur", "--k", k) for k in (3, 5, 7, 31, 101)]
    means += [("resize", "--stretch", "--size", size, "--filter", name) for size in ("73x61", "21x90", "13x11", "200x7")
              for name in ("box", "triangle", "hamming", "hermite", "mitchell", "catrom", "lanczos2", "lanczos3")]
    means += [("bilateral",), ("nlmeans",), ("midpoint", "--k", 5), ("rotate", "--angle", 7, "--border", "clamp"), ("sharpen",),
              ("convolve", "--normalize", "--kernel", "1 2 1; 2 4 2; 1 2 1"), ("shift", "--offset=0.3,0.1", "--border", "clamp")]
    for value in (1, 0.5, 4096, 0.1, 0.3, 255, 1e6, np.uint8(77), np.uint16(54321)):
        dtype = value.dtype.type if isinstance(value, np.generic) else np.float32
        image = np.full((40, 50), value, dtype)
        for mean in means:
            exact = dtype != np.float32 or (math.frexp(value)[0] == 0.5 and mean not in (("blur", "--k", 31), ("blur", "--k", 101)))
            off = np.abs(c.filter(image, *mean).astype(float) - float(image[0, 0])).max()
            most = 0 if exact else 2.0**-19 * value * (1 + 9 * (mean[0] == "nlmeans"))
            c.check(f"constant {value} {dtype.__name__}: {' '.join(map(str, mean))}", off <= most, f"off by {off / float(value)}")


def layers(dtype):
    """Colours weighted by alpha, of which many pixels have little: within a step where alpha is at least 1 % of full scale."""
    full, size = FULL[dtype], (151, 203)
    image = random_image(c.rng, (*size, 4), dtype)
    image[..., 3] = image[..., 3].astype(float) ** 4 / full**3
    v = image.astype(float)
    weighted = np.concatenate([v[..., :3] * v[..., 3:], v[..., 3:]], 2)
    x, y = grid(size[1], size[0])
    co, si = np.cos(np.radians(17)), np.sin(np.radians(17))
    u, w = x - (size[1] - 1) / 2, y - (size[0] - 1) / 2
    u, w = (size[1] - 1) / 2 + co * u - si * w, (size[0] - 1) / 2 + si * u + co * w

    def planes(of):
        made = np.stack([of(weighted[..., i]) for i in range(4)], 2)
        return np.concatenate([made[..., :3] / np.maximum(made[..., 3:], 1e-300), made[..., 3:]], 2)

    for args, exact in ((("gaussian", "--sigma", 1.7), planes(lambda p: gaussian(p, 1.7))),
                        (("blur", "--k", 5), planes(lambda p: smooth(p, np.full(5, 0.2)))),
                        (("resize", "--stretch", "--filter", "triangle", "--size", "91x77"), planes(lambda p: resized(p, (91, 77)))),
                        (("rotate", "--angle", 17, "--border", "clamp"), sample(image, u, w, "bilinear", "clamp"))):
        got = c.filter(image, *args).astype(np.int64)
        off = np.abs(got - to_type(exact, dtype))
        seen = exact[..., 3] >= full / 100
        share = (off[seen] == 0).mean()
        c.check(f"{' '.join(map(str, args))} {dtype.__name__}, alpha", off[seen].max() <= 1 and off[..., 3].max() <= 1
                and share >= (0.999 if dtype == np.uint8 else 0.95), f"off by {off[seen].max()}, equal {100 * share:.3f} %")


constants()
for kind in FULL:
    layers(kind)
names = {operation["name"] for operation in json.loads(c.run("list", "--json"))["operations"]}
here, walked = os.path.dirname(os.path.abspath(__file__)), set()
for dtype in FULL:
    for name, image, args, exact, *less in cases(dtype):
        got = c.filter(image, name, *args).astype(np.int64)
        off = np.abs(got - to_type(np.asarray(exact, float), dtype))
        share = (less or [0.999])[0] if dtype == np.uint8 else 0.95
        c.check(f"{name} {' '.join(map(str, args))} {image.shape} {dtype.__name__}", off.max() <= 1 and (off == 0).mean() >= share,
                f"off by {off.max()}, equal {100 * (off == 0).mean():.3f} %")
        walked.add(name)
for name in sorted(names - walked):
    oracle = ELSEWHERE.get(name, "")
    text = open(os.path.join(here, oracle if "/" in oracle else f"{oracle}_oracle.py")).read() if oracle else ""
    c.check(f"{name}: a case here, or an oracle that names it", name in text, oracle)
c.end()
