"""watershed and split-touching against scikit-image's watershed().

Versions before 0.26 flood in another order if there are markers or lines; for these cases there are checksums of what 0.26 computes.

Sources: filters/regions/watershed.c filters/regions/flooding* filters/regions/split_touching.c filters/regions/label_result*
    filters/regions/host_image*
"""
import zlib

from _common import Checks, luma, need, np, random_image

ndimage, skimage, segmentation, morphology = need("scipy.ndimage", "skimage", "skimage.segmentation", "skimage.morphology")
c = Checks()
MODERN = tuple(map(int, skimage.__version__.split(".")[:2])) >= (0, 26)
SUMS = {"markers 0 4": 2239045391, "markers 0 8": 3971640313, "markers 1 4": 2510910080, "markers 1 8": 3250950758, "markers 2 4": 2131502898, "markers 2 8": 1664815466,
        "lines 0 4": 536391404, "lines 0 8": 3206064155, "lines 1 4": 3676933891, "lines 1 8": 1359299065, "lines 2 4": 2117699116, "lines 2 8": 1331437694}


def made(image, name, *args):
    np.save(c.path("in.npy"), image)
    c.run(name, c.path("in.npy"), c.path("out.npy"), "--device", "cpu", *args)
    return np.load(c.path("out.npy"))


def compare(name, got, flood):
    """Compares with scikit-image, or with the checksum of its current version."""
    if MODERN:
        c.check(name, np.array_equal(got, flood()))
    c.check(f"{name}: checksum", zlib.crc32(got.astype("<u2").tobytes()) == SUMS[name], zlib.crc32(got.astype("<u2").tobytes()))


def touching(shape, n, seed):
    """A mask of discs."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:shape[0], :shape[1]]
    mask = np.zeros(shape, bool)
    for _ in range(n):
        cy, cx, r = rng.integers(0, shape[0]), rng.integers(0, shape[1]), rng.integers(5, 14)
        mask |= (y - cy) ** 2 + (x - cx) ** 2 < r * r
    return mask


# Minima of noise with many and few equal heights, in all types and channels.
for dtype in (np.uint8, np.uint16, np.float32):
    for shape in ((1, 40), (37, 1), (45, 62), (31, 40, 3)):
        image = random_image(c.rng, shape, dtype)
        for coarse in (False, True):
            if coarse:
                image = (np.round(image / image.max() * 4) * (image.max() // 5 if dtype != np.float32 else 0.25)).astype(dtype)
            for connectivity in (4, 8):
                relief = luma(image) if image.ndim == 3 else image
                want = segmentation.watershed(relief, connectivity=connectivity // 4)
                got = made(image, "watershed", "--connectivity", connectivity)
                c.check(f"minima {dtype.__name__} {shape} {coarse} {connectivity}", got.dtype == np.uint16 and np.array_equal(got, want))
got = made(image, "watershed", "--depth", "float", "--connectivity", 8)
c.check("labels in float", got.dtype == np.float32 and np.array_equal(got, want))
# Markers, of fixed cases. With lines their heights differ, because equal ones may be flooded in another order.
for case, levels in enumerate((3, 20, 256)):
    rng = np.random.default_rng(case)
    image = rng.integers(0, levels, (60, 47)).astype(np.uint8)
    markers = np.where(rng.random(image.shape) < 0.03, rng.integers(1, 300, image.shape), 0).astype(np.uint16)
    heights = rng.permutation(image.size).reshape(image.shape).astype(np.uint16)
    np.save(c.path("markers.npy"), markers)
    np.save(c.path("markers32.npy"), markers.astype(np.uint32))
    for connectivity in (4, 8):
        how = ["--markers", c.path("markers.npy"), "--connectivity", connectivity]
        compare(f"markers {case} {connectivity}", made(image, "watershed", *how),
                lambda: segmentation.watershed(image, markers, connectivity=connectivity // 4))
        compare(f"lines {case} {connectivity}", made(heights, "watershed", "--lines", *how),
                lambda: segmentation.watershed(heights, markers, connectivity=connectivity // 4, watershed_line=True))
how[1] = c.path("markers32.npy")
c.check("32-bit markers", np.array_equal(made(image, "watershed", *how), made(image, "watershed", "--markers", c.path("markers.npy"), "--connectivity", 8)))
# Minima by their depth: those that a reconstruction by erosion fills up by that depth.
heights = c.rng.permutation(50 * 60).reshape(50, 60)
smooth = np.argsort(np.argsort(ndimage.gaussian_filter(c.rng.random((50, 60)), 1.5).ravel())).reshape(50, 60)
for name, relief in (("noise", heights), ("smooth", smooth)):
    for depth in (1, 100, 700, 2500):
        filled = morphology.reconstruction(relief + depth, relief, "erosion", footprint=ndimage.generate_binary_structure(2, 1))
        minima = np.flatnonzero((filled - relief).ravel() >= depth)
        got = made(relief.astype(np.uint16), "watershed", "--min-depth", depth).ravel()
        c.check(f"minima of depth {depth} in {name}", got.max() == len(minima) and np.array_equal(got[minima], 1 + np.arange(len(minima))))
c.check("one height is one minimum", (made(np.full((9, 7), 5, np.uint8), "watershed") == 1).all())
# Transparent pixels are not flooded.
image = np.stack([c.rng.integers(0, 256, (40, 50)), c.rng.integers(0, 3, (40, 50))], 2).astype(np.uint8)
with open(c.path("alpha.pam"), "wb") as f:
    f.write(b"P7\nWIDTH 50\nHEIGHT 40\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n" + image.tobytes())
c.run("watershed", c.path("alpha.pam"), c.path("out.npy"))
mask = image[..., 1] > 0
want = (np.load(c.path("out.npy")) > 0)
c.check("transparent pixels have no label", np.array_equal(want, mask))
# Objects that touch: labels, and lines that cut what the labels separate.
mask = touching((150, 200), 40, 5)
distance = ndimage.distance_transform_edt(mask).astype(np.float32)
image = mask.astype(np.uint8) * 200
got = made(image, "split-touching", "--labels", "--min-depth", 0)
peaks = ndimage.label(morphology.local_maxima(np.where(mask, distance, -1), connectivity=2) & mask, np.ones((3, 3)))[0]
c.check("labels of discs", np.array_equal(got, segmentation.watershed(-distance, peaks, connectivity=2, mask=mask)))
for depth in (0.5, 1, 3):
    labels = made(image, "split-touching", "--labels", "--min-depth", depth)
    cut = made(image, "split-touching", "--min-depth", depth)
    parts, n = ndimage.label(cut, np.ones((3, 3)))
    c.check(f"lines of depth {depth}", set(np.unique(cut)) == {0, 200} and not (cut & ~image).any() and n == labels.max()
            and np.array_equal(labels > 0, mask) and ((image > 0) & (cut == 0)).mean() < 0.05, n)
y, x = np.mgrid[:40, :60]
two = ((y - 20) ** 2 + (x - 18) ** 2 < 15 ** 2) | ((y - 20) ** 2 + (x - 42) ** 2 < 15 ** 2)
for depth, n in ((2, 2), (8, 1)):
    c.check(f"two discs, depth {depth}", made(two.astype(np.uint8), "split-touching", "--labels", "--min-depth", depth).max() == n)
# Plateaus between lines must not let the queue grow without limit.
c.check("wide plateaus", made(np.pad(np.zeros((2, 2), np.uint8), 150, constant_values=9), "watershed", "--lines").any())
np.save(c.path("many.npy"), 1 - (np.indices((600, 600)).sum(0) % 2).astype(np.uint8))
p = c.result("watershed", c.path("many.npy"), c.path("x.npy"))
c.check("too many labels", p.returncode and "labels: want at most 65535, or --depth float" in p.stderr, p.stderr)
p = c.result("watershed", c.path("many.npy"), c.path("x.npy"), "--markers", c.path("markers.npy"))
c.check("markers of another size", p.returncode and "want 600 x 600" in p.stderr, p.stderr)
p = c.result("watershed", c.path("many.npy"), c.path("x.npy"), "--markers", c.path("markers.npy"), "--min-depth", 3)
c.check("markers and depth", p.returncode == 2 and "want one of them" in p.stderr, p.stderr)
c.end()
