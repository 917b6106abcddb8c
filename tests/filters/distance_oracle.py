"""distance against scipy.ndimage's distance transforms.

Sources: filters/regions/distance.c
"""
from _common import Checks, colours, luma, need, np, random_image

(ndimage,) = need("scipy.ndimage")
c = Checks()
DEPTHS = {"float": np.float32, "8": np.uint8, "16": np.uint16}


def measured(mask, metric):
    """The exact distances, in double."""
    if metric == "squared":
        return np.rint(ndimage.distance_transform_edt(mask) ** 2)
    if metric == "euclidean":
        return ndimage.distance_transform_edt(mask)
    kind = {"city-block": "taxicab", "chessboard": "chessboard"}[metric]
    return ndimage.distance_transform_cdt(mask, kind).astype(float)


def stored(distances, depth):
    floats = distances.astype(np.float32)
    if depth == "float":
        return floats
    most = 255 if depth == "8" else 65535
    return np.clip(np.rint(floats), 0, most).astype(DEPTHS[depth])


def distance(image, *args, suffix="npy"):
    source, result = c.path("in.npy"), c.path("out." + suffix)
    np.save(source, image)
    c.run("distance", source, result, "--device", "cpu", *args)
    return np.load(result)


def blobs(shape, density, sigma=2):
    field = ndimage.gaussian_filter(c.rng.random(shape), sigma)
    return field > np.quantile(field, 1 - density)


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in ((1, 9), (40, 1), (61, 83), (48, 57, 3), (33, 31, 4), (40, 29, 2)):
        image = random_image(c.rng, shape, dtype)
        image[image < np.quantile(image, 0.3)] = 0
        judge = luma(image) if colours(image) else image
        for metric in ("euclidean", "squared", "city-block", "chessboard"):
            for depth in DEPTHS:
                mask = judge > 0
                if mask.all():
                    continue
                got = distance(image, "--metric", metric, "--depth", depth)
                c.check(f"{metric} {depth} {shape} {dtype.__name__}",
                        got.dtype == DEPTHS[depth] and np.array_equal(got, stored(measured(mask, metric), depth)))
# Large regions, few pixels of background, and levels.
for density in (0.05, 0.5, 0.97, 0.9999):
    mask = blobs((401, 677), density, 9 if density < 0.99 else 0)
    mask[200, 300] = False
    image = np.where(mask, 200, 50).astype(np.uint8)
    for metric in ("euclidean", "squared", "city-block", "chessboard"):
        got = distance(image, "--metric", metric, "--threshold", 100)
        c.check(f"{metric} of {density}", np.array_equal(got, measured(mask, metric).astype(np.float32)))
        got = distance(image, "--metric", metric, "--threshold", "otsu", "--invert")
        c.check(f"{metric} of {density} inverted", np.array_equal(got, measured(~mask, metric).astype(np.float32)))
# Distances whose squares floats can't hold, and rounding of square roots.
long = np.full((2, 70001), 255, np.uint8)
long[1, 3] = 0
y, x = np.mgrid[:2, :70001].astype(np.float64)
squares = (x - 3) ** 2 + (y - 1) ** 2
c.check("a long row", np.array_equal(distance(long), np.sqrt(squares).astype(np.float32)))
c.check("a long row, squared", np.array_equal(distance(long, "--metric", "squared"), squares.astype(np.float32)))
# No background, NaN, and only background.
full = np.full((5, 7), 255, np.uint8)
for metric in ("euclidean", "squared", "city-block", "chessboard"):
    c.check(f"{metric} without background", np.isposinf(distance(full, "--metric", metric)).all())
c.check("without background in 8 bits", (distance(full, "--depth", 8) == 255).all())
c.check("indices without background", (distance(full, "--indices") == -1).all())
c.check("only background", not distance(full * 0).any())
holes = np.ones((20, 30), np.float32)
holes[4, 7], holes[11, 20] = np.nan, -1
c.check("NaN is background", np.array_equal(distance(holes), ndimage.distance_transform_edt(holes > 0).astype(np.float32)))
# Indices: the nearest pixels, by a search of all, and a fill by remap.
mask = c.rng.random((45, 52)) < 0.93
got = distance(mask.astype(np.uint8) * 255, "--indices")
ys, xs = np.nonzero(~mask)
order = np.lexsort((ys, xs))
ys, xs = ys[order], xs[order]
y, x = np.mgrid[:45, :52]
nearest = np.argmin((y[..., None] - ys) ** 2 + (x[..., None] - xs) ** 2, axis=2)
c.check("indices", np.array_equal(got, np.stack([xs[nearest], ys[nearest]], 2).astype(np.float32)))
image = random_image(c.rng, (45, 52), np.uint8)
np.save(c.path("map.npy"), got)
filled = c.filter(image, "remap", "--map", c.path("map.npy"), "--interpolation", "nearest")
c.check("remap fills", np.array_equal(filled, image[ys[nearest], xs[nearest]]))
# Chains in pixels, and messages.
mask = blobs((90, 120), 0.5)
image = mask.astype(np.uint8) * 255
with open(c.path("mask.pgm"), "wb") as f:
    f.write(b"P5\n120 90\n255\n" + image.tobytes())
c.run("run", "distance | threshold --threshold 5", c.path("mask.pgm"), c.path("core.pgm"), "--depth", 8)
core = np.frombuffer(open(c.path("core.pgm"), "rb").read()[-90 * 120:], np.uint8).reshape(90, 120)
c.check("threshold in pixels", np.array_equal(core > 0, ndimage.distance_transform_edt(mask) > 5))
p = c.result("distance", c.path("mask.pgm"), c.path("x.npy"), "--indices", "--metric", "chessboard")
c.check("indices of another metric", p.returncode == 2 and "--indices: want --metric euclidean" in p.stderr, p.stderr)
c.end()
