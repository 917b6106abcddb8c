"""corners against scikit-image's corner_harris() and corner_shi_tomasi() and OpenCV's FastFeatureDetector.

Sources: filters/regions/corners* cli/commands/corners.c
"""
import csv
import io
import json

from _common import Checks, luma, need, np, optional, random_image, suffix, write

feature, ndimage = need("skimage.feature", "scipy.ndimage")
cv2 = optional("cv2")
c = Checks()


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    rows = list(csv.reader(io.StringIO(c.run("corners", path, "--format", "csv", *args).decode())))
    assert rows[0] == ["x", "y", "score"]
    return [(int(x), int(y), float(v)) for x, y, v in rows[1:]]


def shapes(height, width):
    """Rectangles and noise, smoothed a little: corners of all kinds."""
    image = np.zeros((height, width))
    for _ in range(12):
        y, x = c.rng.integers(0, height), c.rng.integers(0, width)
        image[y:y + c.rng.integers(3, 30), x:x + c.rng.integers(3, 30)] = c.rng.random()
    return np.clip(ndimage.gaussian_filter(image, 0.6) + 0.02 * c.rng.random(image.shape), 0, 1)


# ---- Harris, Shi and Tomasi ----

def responses(exact, sigma, k, mode):
    """The formula of corners.c in double; the structure tensor is scikit-image's."""
    yy, xy, xx = feature.structure_tensor(exact, sigma, mode=mode, order="rc") if min(exact.shape) > 1 else tensor(exact, sigma, mode)
    return xx * yy - xy**2 - k * (xx + yy)**2, (xx + yy - np.sqrt((xx - yy)**2 + 4 * xy**2)) / 2


def tensor(exact, sigma, mode):  # scikit-image squeezes images of one row
    dy, dx = (ndimage.sobel(exact, axis, mode=mode) for axis in (0, 1))
    return [ndimage.gaussian_filter(p, sigma, mode=mode) for p in (dy * dy, dy * dx, dx * dx)]


def as_map(rows, shape):
    scores = np.full(shape, np.nan)
    for x, y, v in rows:
        scores[y, x] = v
    return scores


worst = 0
full = {"uint8": 255, "uint16": 65535, "float32": 1}
for trial, (shape, sigma, k) in enumerate((((61, 83), 1, 0.05), ((40, 131), 1.3, 0.04), ((90, 64), 2.6, 0.2), ((9, 7), 5, 0.05), ((1, 40), 1, 0.05))):
    for dtype in (np.uint8, np.uint16, np.float32):
        top = full[np.dtype(dtype).name]
        image = shapes(*shape)
        image = image.astype(np.float32) if top == 1 else np.rint(image * top).astype(dtype)
        exact = image.astype(np.float64) / top
        both = responses(exact, sigma, k, "nearest")
        args = ("--sigma", sigma, "--k", k)
        for method, want in zip(("harris", "shi-tomasi"), both):
            name = f"{method} {shape} {np.dtype(dtype).name}"
            biggest = np.abs(want).max()
            got = as_map(found(image, "--method", method, *args, "--min-distance", 0, "--quality", 0), shape)
            missing = np.isnan(got) & (want > want.min() + 1e-5 * biggest)
            off = np.abs(got - want)[~np.isnan(got)].max(initial=0) / max(biggest, 1e-9)
            worst = max(worst, off)
            c.check(f"{name}: scores", off <= 1e-5 and not missing.any(), (off, missing.sum()))
            if min(shape) > 30:  # away from the sides of the image, where pixels outside have an effect
                inside = (slice(int(4 * sigma + 2), -int(4 * sigma + 2)),) * 2
                peer = feature.corner_harris(exact, k=k, sigma=sigma) if method == "harris" else feature.corner_shi_tomasi(exact, sigma=sigma)
                c.check(f"{name}: scikit-image's", np.nanmax(np.abs(got - peer)[inside]) <= 1e-5 * biggest)
            if min(shape) < 8:
                continue
            for distance, more, options in ((1, {}, ()), (4, {"num_peaks": 6}, ("--count", 6)), (3, {"exclude_border": False}, ("--keep-border",))):
                for quality in (0.01, 0.2):
                    rows = found(image, "--method", method, *args, "--min-distance", distance, "--quality", quality, *options)
                    points = feature.peak_local_max(want, min_distance=distance, threshold_rel=quality, **more)
                    c.check(f"{name}: corners {distance} {quality}", [(x, y) for x, y, _ in rows] == [(x, y) for y, x in points],
                            (rows[:4], points[:4, ::-1].tolist()))
print(f"scores differ by up to {worst:.1e} of the largest")
square = np.zeros((30, 30), np.uint8)
square[8:20, 10:24] = 200
c.check("a square has four corners", sorted((x, y) for x, y, _ in found(square, "--quality", 0.5)) == [(10, 8), (10, 19), (23, 8), (23, 19)], found(square))
c.check("a flat image", found(np.full((12, 9), 70, np.uint8)) == found(np.full((1, 1), 7, np.uint16)) == [])

# ---- FAST ----

CIRCLE = ((0, 3), (1, 3), (2, 2), (3, 1), (3, 0), (3, -1), (2, -2), (1, -3), (0, -3), (-1, -3), (-2, -2), (-3, -1), (-3, 0), (-3, 1), (-2, 2), (-1, 3))


def fast(image, threshold, suppress):
    """The definition in numpy: rows of x, y, score in raster order."""
    v = image.astype(np.float64)
    h, w = v.shape
    if min(h, w) < 7:
        return []
    inside = v[3:-3, 3:-3]
    d = np.array([v[3 + dy:h - 3 + dy, 3 + dx:w - 3 + dx] - inside for dx, dy in CIRCLE])
    arcs = [np.array([d[(i + j) % 16] for j in range(9)]) for i in range(16)]
    most = np.maximum(np.max([a.min(0) for a in arcs], 0), np.max([(-a).min(0) for a in arcs], 0))
    corner = most > threshold
    score = np.zeros((h, w))
    score[3:-3, 3:-3] = np.where(corner, most - (image.dtype != np.float32), 0)
    kept = np.zeros((h, w), bool)
    kept[3:-3, 3:-3] = corner
    if suppress:
        around = np.ones((3, 3), bool)
        around[1, 1] = False
        kept &= score > ndimage.maximum_filter(score, footprint=around, mode="constant")
    return [(x, y, score[y, x]) for y, x in zip(*np.nonzero(kept))]


def in_order(rows):
    return sorted(rows, key=lambda r: (-r[2], r[1], r[0]))


for trial in range(24):
    shape = ((70, 95), (7, 7), (8, 40), (33, 64), (6, 30), (1, 1))[trial % 6]
    image = np.rint((shapes(*shape) if trial % 4 else c.rng.random(shape)) * 255).astype(np.uint8)
    for threshold in (0, 1, 10, 40, 254):
        for distance in (0, 1):
            rows = found(image, "--method", "fast", "--threshold", threshold, "--min-distance", distance)
            name = f"fast {trial} {shape} {threshold} {distance}"
            c.check(name, rows == in_order(fast(image, threshold, distance > 0)), rows[:4])
            if cv2:
                detector = cv2.FastFeatureDetector_create(threshold, distance > 0, cv2.FAST_FEATURE_DETECTOR_TYPE_9_16)
                peer = [(int(p.pt[0]), int(p.pt[1]), p.response) for p in detector.detect(image)]
                same = in_order(peer) == rows if distance else sorted(p[:2] for p in peer) == sorted(r[:2] for r in rows)
                c.check(f"{name} OpenCV", same, (rows[:4], in_order(peer)[:4]))
if not cv2:
    c.skip("python3 has no cv2")
image = shapes(50, 60)
for dtype in (np.uint16, np.float32):
    wide = image.astype(np.float32) if dtype == np.float32 else np.rint(image * 65535).astype(dtype)
    level = 0.1 if dtype == np.float32 else 6553.5
    rows, want = found(wide, "--method", "fast", "-t", "10%"), in_order(fast(wide, level, True))
    c.check(f"fast {dtype.__name__}", len(rows) > 3 and [r[:2] for r in rows] == [r[:2] for r in want] and np.allclose([r[2] for r in rows], [r[2] for r in want], rtol=1e-8, atol=0))
wide[20:24, 20:24] = np.nan
c.check("fast: NaN is on no arc", all(np.isfinite(v) for _, _, v in found(wide, "--method", "fast")))
byte = np.rint(image * 255).astype(np.uint8)
every = found(byte, "--method", "fast", "--threshold", 5)
kept = []
for x, y, v in every:
    if all(max(abs(x - a), abs(y - b)) >= 6 for a, b, _ in kept):
        kept.append((x, y, v))
c.check("fast: --min-distance", found(byte, "--method", "fast", "--threshold", 5, "-d", 6) == kept and found(byte, "--method", "fast", "--threshold", 5, "-d", 6, "--count", 3) == kept[:3])

# ---- colour, formats ----

color = random_image(c.rng, (40, 50, 3), np.uint8)
for method in ("harris", "fast"):
    c.check(f"{method}: luma", found(color, "--method", method) == found(np.clip(np.rint(luma(color)), 0, 255).astype(np.uint8), "--method", method))
rows = found(byte)
j = json.loads(c.run("corners", c.path("in.pgm"), "--format", "json"))
c.check("JSON", np.allclose([(p["x"], p["y"], p["score"]) for p in j["corners"]], rows, rtol=1e-8) and j["width"] == 60)
c.run("corners", c.path("in.pgm"), c.path("out.npy"))
table = np.load(c.path("out.npy"))
c.check(".npy", table.dtype.names == ("x", "y", "score") and np.allclose([tuple(p) for p in table.tolist()], rows, rtol=1e-8))
c.run("run", "corners --to " + c.path("chain.csv"), c.path("in.pgm"))
c.check("a chain", open(c.path("chain.csv")).read() == c.run("corners", c.path("in.pgm"), "--format", "csv").decode())
for args, want in ((("--method", "orb"), "want harris"), (("--sigma", "0"), "--sigma 0: want 0.1 to 250 px"), (("--threshold", "otsu"), "--threshold otsu")):
    p = c.result("corners", c.path("in.pgm"), *args)
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
