"""blobs against scikit-image's blob_dog(), made stars and, where it can be imported, photutils.

Sources: filters/regions/blobs* cli/commands/blobs.c filters/convolution/weights.c
"""
import csv
import io
import json
import math

from _common import Checks, luma, need, np, optional, random_image, suffix, write

feature, ndimage = need("skimage.feature", "scipy.ndimage")
photutils = optional("photutils.aperture")
c = Checks()


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    rows = list(csv.reader(io.StringIO(c.run("blobs", path, "--format", "csv", *args).decode())))
    assert rows[0] == ["x", "y", "sigma", "radius", "flux"]
    return [tuple(math.nan if v == "" else float(v) for v in row) for row in rows[1:]]


def star(shape, x, y, sigma, flux):
    yy, xx = np.mgrid[:shape[0], :shape[1]]
    return flux / (2 * np.pi * sigma**2) * np.exp(-((xx - x)**2 + (yy - y)**2) / (2 * sigma**2))


def spots(shape, n):
    image = np.full(shape, 0.1) + 0.01 * c.rng.random(shape)
    for _ in range(n):
        x, y, sigma = c.rng.random() * shape[1], c.rng.random() * shape[0], 1 + 5 * c.rng.random()
        image += star(shape, x, y, sigma, 2 * np.pi * sigma**2 * c.rng.random() * 0.4)
    return np.clip(image, 0, 1)


def overlap(a, b):
    """The part of the smaller disc that two discs share; rows of y, x, sigma."""
    r, s = sorted((a[2] * math.sqrt(2), b[2] * math.sqrt(2)), reverse=True)
    d = math.hypot(a[0] - b[0], a[1] - b[1])
    if d >= r + s:
        return 0
    if d <= r - s:
        return 1
    u, v = (d * d + r * r - s * s) / (2 * d), (d * d + s * s - r * r) / (2 * d)
    area = r * r * math.acos(u / r) - u * math.sqrt(r * r - u * u) + s * s * math.acos(v / s) - v * math.sqrt(s * s - v * v)
    return area / (math.pi * s * s)


def prune(blobs, limit, response):
    """The rule of the manual: by sigma, then by response. Also returns whether every order gives the same."""
    kept, plain = [], True
    for b in sorted(blobs, key=lambda b: (-b[2], -response(b), b[0], b[1])):
        shared = [o for o in kept if overlap(o, b) > limit]
        plain &= all(o[2] > b[2] for o in shared)
        if not shared:
            kept.append(b)
    removed = [b for b in blobs if b not in kept]
    plain &= not any(overlap(o, b) > limit for i, o in enumerate(removed) for b in kept if b[2] <= o[2])
    return kept, plain


def pixels(rows):
    return sorted((round(y), round(x), round(s, 6)) for x, y, s, _, _ in rows)


# ---- the blobs of scikit-image ----

direct = 0
for trial in range(12):
    shape = ((90, 120), (64, 64), (130, 41), (5, 50))[trial % 4]
    image = spots(shape, 14)
    dtype = (np.float32, np.uint8, np.uint16)[trial % 3]
    top = 1 if dtype == np.float32 else np.iinfo(dtype).max
    image = image.astype(np.float32) if top == 1 else np.rint(image * top).astype(dtype)
    exact = image.astype(np.float64) / top
    for low, high, ratio, level in ((1, 10, 1.6, 0.02), (1.5, 6, 1.3, 0.05), (2, 2, 2, 0.01)):
        dark = trial % 5 == 4
        args = ("--min-sigma", low, "--max-sigma", high, "--ratio", ratio, "--threshold", level, *(["--invert"] if dark else []))
        sign = -1 if dark else 1
        options = dict(min_sigma=low, max_sigma=high, sigma_ratio=ratio, threshold=level)
        every = feature.blob_dog(sign * exact, overlap=1, **options).tolist()
        rows = found(image, *args, "--overlap", 1)
        name = f"{trial} {shape} {dtype.__name__} {low} {high} {ratio}"
        # The centre may be in the neighbouring pixel if it is almost halfway.
        same = len(rows) == len(every) and all(min(max(abs(x - b[1]), abs(y - b[0])) + abs(s - b[2]) for b in every) <= 1.001 for x, y, s, _, _ in rows)
        c.check(f"{name}: maxima", same, (len(rows), len(every)))
        c.check(f"{name}: radius", all(abs(r - math.sqrt(2) * s) < 1e-9 for _, _, s, r, _ in rows))

        def response(b):
            i = b[2]
            smooth = [ndimage.gaussian_filter(sign * exact, s, mode="reflect") for s in (i, i * ratio)]
            return (smooth[0] - smooth[1])[int(b[0]), int(b[1])]

        cached = {tuple(b): response(b) for b in every}
        for limit in (0.5, 0.1):
            kept, plain = prune(every, limit, lambda b: cached[tuple(b)])
            rows = found(image, *args, "--overlap", limit)
            near = len(rows) == len(kept) and all(max(abs(x - b[1]), abs(y - b[0])) <= 1 and abs(s - b[2]) < 1e-9
                                                  for (x, y, s, _, _), b in zip(rows, sorted(kept, key=lambda b: -cached[tuple(b)])))
            c.check(f"{name}: overlap {limit}", near, (len(rows), len(kept)))
            if plain:
                direct += 1
                peer = feature.blob_dog(sign * exact, overlap=limit, **options).tolist()
                c.check(f"{name}: blob_dog() {limit}", sorted(peer) == sorted(kept), (len(peer), len(kept)))
        few = found(image, *args, "--count", 2)
        c.check(f"{name}: --count", few == found(image, *args)[:2])
c.check("blob_dog() decides alone often enough", direct >= 20, direct)
smooth = [ndimage.gaussian_filter(exact, 1.6**i, mode="reflect") for i in range(6)]
text = c.run("blobs", c.path("in" + suffix(image)), "--threshold", 1).decode()
highest = max((a - b).max() for a, b in zip(smooth, smooth[1:])) / 0.6
c.check("text without blobs: the highest response", abs(float(text.split("highest response is ")[1].split(",")[0]) / highest - 1) < 0.01, (text, highest))
c.check("a flat image", found(np.full((20, 30), 90, np.uint8)) == found(np.full((1, 1), 7, np.uint8)) == [])

# ---- made stars: centres within 0.05 px, fluxes within 1 % ----

worst = [0, 0]
for sigma in (1, 1.3, 1.8, 2.5, 4):
    for _ in range(6):
        x, y, flux = 75 + c.rng.random(), 74 + c.rng.random(), 20 + 50 * c.rng.random()
        image = (0.1 + star((150, 151), x, y, sigma, flux)).astype(np.float32)
        rows = found(image)
        c.check(f"a star of {sigma}: found", len(rows) == 1, rows)
        worst = [max(worst[0], abs(rows[0][0] - x), abs(rows[0][1] - y)), max(worst[1], abs(rows[0][4] / flux - 1))]
        c.check(f"a star of {sigma}: sigma", 0.9 <= sigma / rows[0][2] <= 1.75, rows)
c.check("centres within 0.05 px", worst[0] <= 0.05, worst)
c.check("fluxes within 1 %", worst[1] <= 0.01, worst)
print(f"centres differ by up to {worst[0]:.3f} px, fluxes by up to {100 * worst[1]:.2f} %")

# ---- the flux by its definition, also at the sides of the image ----

for dtype in (np.uint8, np.uint16):
    image = np.rint(spots((70, 90), 25) * np.iinfo(dtype).max).astype(dtype)
    yy, xx = np.mgrid[:70, :90]
    for args, aperture in (((), None), (("--aperture", 4.5), 4.5), (("-a", 0.5), 0.5)):
        for x, y, _, radius, flux in found(image, *args):
            size, distance = aperture or 4 * radius, np.hypot(xx - x, yy - y)
            inside, around = distance <= size, (distance > 1.5 * size) & (distance <= 2 * size)
            want = image[inside].sum(dtype=float) - inside.sum() * np.median(image[around]) if around.any() else math.nan
            c.check(f"flux {dtype.__name__} {aperture}", abs(flux - want) <= 1e-9 * max(1, abs(want)) or math.isnan(flux) and math.isnan(want), (flux, want))
            if photutils and aperture:
                circle = photutils.CircularAperture((x, y), aperture).to_mask(method="center").multiply(image.astype(float))
                c.check("photutils", circle is None or abs(circle.sum() - image[inside].sum()) <= 1e-9 * circle.sum())
if not photutils:
    c.skip("python3 has no photutils")

# ---- colour, formats, messages ----

color = random_image(c.rng, (40, 50, 3), np.uint8)
c.check("luma", found(color, "-t", 0.01) == found(np.clip(np.rint(luma(color)), 0, 255).astype(np.uint8), "-t", 0.01))
rows = found(np.rint(spots((60, 70), 9) * 255).astype(np.uint8))
j = json.loads(c.run("blobs", c.path("in.pgm"), "--format", "json"))
names = ("x", "y", "sigma", "radius", "flux")
c.check("JSON", [tuple(b[n] for n in names) for b in j["blobs"]] == rows and len(rows) > 2)
c.run("blobs", c.path("in.pgm"), c.path("out.npy"))
table = np.load(c.path("out.npy"))
c.check(".npy", table.dtype.names == names and [tuple(b) for b in table.tolist()] == rows)
c.run("run", "blobs --to " + c.path("chain.csv"), c.path("in.pgm"))
c.check("a chain", open(c.path("chain.csv")).read() == c.run("blobs", c.path("in.pgm"), "--format", "csv").decode())
for args, want in ((("--min-sigma", "5", "--max-sigma", "4"), "--min-sigma 5: want at most --max-sigma 4"), (("--ratio", "1"), "--ratio 1: want 1.05 to 2")):
    p = c.result("blobs", c.path("in.pgm"), *args)
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
