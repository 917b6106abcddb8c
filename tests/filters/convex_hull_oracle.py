"""convex-hull against scikit-image's convex_hull_image() and convex_hull_object(), and against hulls in integers.

scikit-image decides in floats whether a centre on an edge is inside, so that a few pixels may differ; the exact hulls
of all pixels' sides, by a plain monotone chain, may not.

Sources: filters/regions/convex_hull.c filters/regions/descriptors*
"""
import warnings

from _common import Checks, need, np, random_image, write

morphology, ndimage = need("skimage.morphology", "scipy.ndimage")
warnings.simplefilter("ignore")
c = Checks()


def half_hull(points):
    chain = []
    for p in points:
        while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1])
                                  - (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])) <= 0:
            chain.pop()
        chain.append(p)
    return chain


def exact(mask):
    """The pixels whose centres are in the hull of the middles of sides, in units of half pixels."""
    y, x = np.nonzero(mask)
    if not len(x):
        return mask
    points = sorted({(int(2 * a + dx), int(2 * b + dy)) for a, b in zip(x, y) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))})
    hull = half_hull(points)[:-1] + half_hull(points[::-1])[:-1]
    v, u = np.mgrid[:mask.shape[0], :mask.shape[1]]
    inside = np.ones(mask.shape, bool)
    for (ax, ay), (bx, by) in zip(hull, hull[1:] + hull[:1]):
        inside &= (bx - ax) * (2 * v - ay) - (by - ay) * (2 * u - ax) >= 0
    return inside


def masks():
    for shape in ((1, 1), (1, 30), (25, 1), (40, 33), (90, 130)):
        for density in (0.002, 0.02, 0.5):
            yield c.rng.random(shape) < density
    noise = ndimage.gaussian_filter(c.rng.random((80, 110)), 2.5)
    yield noise > np.percentile(noise, 80)
    y, x = np.mgrid[:60, :70]
    yield (x - 30) ** 2 + (y - 30) ** 2 < 400
    yield (y == x) | (y == 50)


for i, mask in enumerate(masks()):
    image = np.uint8(mask * 255)
    got = c.filter(image, "convex-hull") > 0
    c.check(f"hull {i} {mask.shape}", np.array_equal(got, exact(mask)), f"{(got != exact(mask)).sum()} differ")
    peer = morphology.convex_hull_image(mask)
    c.check(f"hull {i} of scikit-image", (got != peer).mean() <= 0.003, f"{(got != peer).sum()} differ")
    for connectivity in (4, 8):
        got = c.filter(image, "convex-hull", "--per-region", "--connectivity", connectivity) > 0
        labels, n = ndimage.label(mask, np.ones((3, 3)) if connectivity == 8 else None)
        want = np.zeros_like(mask)
        for part in range(1, n + 1 if n < 60 else 1):
            want |= exact(labels == part)
        if n < 60:
            c.check(f"hulls {i} {connectivity}", np.array_equal(got, want), f"{(got != want).sum()} differ")
            peer = morphology.convex_hull_object(mask, connectivity=1 + (connectivity == 8))
            c.check(f"hulls {i} {connectivity} of scikit-image", (got != peer).mean() <= 0.003, f"{(got != peer).sum()} differ")

# Other samples keep their values, also alpha; levels, types and colour.
gray = random_image(c.rng, (30, 40), np.uint16) // 3
gray[9, 11], gray[20, 30] = 60000, 50000
got = c.filter(gray, "convex-hull", "--threshold", 40000)
inside = exact(gray > 40000)
c.check("16 bits", np.array_equal(got, np.where(inside, 65535, gray)))
floats = c.rng.random((20, 30), dtype=np.float32) - 2
floats[3, 4], floats[10, 20], floats[5, 5] = 3, 0.5, np.nan
inside = exact(np.nan_to_num(floats) > 0) & True
got = c.filter(floats, "convex-hull")
c.check("floats", np.array_equal(got, np.where(inside, np.float32(1), floats), equal_nan=True))
rgba = c.rng.integers(0, 100, (20, 30, 4), dtype=np.uint8)
rgba[4, 4, :3] = rgba[15, 22, :3] = 250
got = c.filter(rgba, "convex-hull", "--threshold", 200)
want = rgba.copy()
want[exact(rgba[:, :, 0] == 250), :3] = 255
c.check("colour and alpha", np.array_equal(got, want))
c.end()
