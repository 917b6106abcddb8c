"""fill-holes, clear-border and remove-small against scipy.ndimage and scikit-image.

Sources: filters/regions/choose* filters/regions/fill_holes.c filters/regions/clear_border.c
    filters/regions/remove_small.c
"""
from _common import Checks, colours, luma, need, np, random_image

ndimage, segmentation, morphology = need("scipy.ndimage", "skimage.segmentation", "skimage.morphology")
c = Checks()
STRUCTURES = {4: ndimage.generate_binary_structure(2, 1), 8: np.ones((3, 3), int)}


def blobs(shape, dtype):
    """Smooth spots of every size on black."""
    image = ndimage.gaussian_filter(c.rng.random(shape), [1.3, 1.3, 0][:len(shape)])
    image = (image - image.min()) / (image.max() - image.min() or 1)
    image = np.where(image > 0.5, image, 0) * (1 if dtype == np.float32 else np.iinfo(dtype).max)
    return image.astype(dtype)


def largest(mask, n, connectivity):
    labels, found = ndimage.label(mask, STRUCTURES[connectivity])
    areas = np.bincount(labels.ravel())[1:]
    keep = np.argsort(-areas, kind="stable")[:n] + 1
    return np.isin(labels, keep)


def painted(image, where, value):
    out = image.copy()
    if image.ndim == 2:
        out[where] = value
    else:
        out[where, :colours(image)] = value
    return out


def check(name, image, mask, connectivity, *args):
    white = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
    how = ["--connectivity", connectivity, "--device", "cpu", *args]
    ways = {
        ("fill-holes",): (ndimage.binary_fill_holes(mask, STRUCTURES[connectivity]) & ~mask, white),
        ("clear-border",): (mask & ~segmentation.clear_border(ndimage.label(mask, STRUCTURES[connectivity])[0]).astype(bool), 0),
        ("remove-small", "--area", 9): (mask & ~morphology.remove_small_objects(mask, 9, connectivity=1 if connectivity == 4 else 2), 0),
        ("remove-small", "--keep-largest", 3): (mask & ~largest(mask, 3, connectivity), 0),
        # ends between regions of equal areas, in noise
        ("remove-small", "--keep-largest", 100): (mask & ~largest(mask, 100, connectivity), 0)}
    for (operation, *options), (where, value) in ways.items():
        got = c.filter(image, operation, *options, *how)
        c.check(f"{operation} {options} {name} {connectivity}", np.array_equal(got, painted(image, where, value)))


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in ((1, 1), (1, 9), (61, 83), (48, 57, 3), (33, 31, 4), (40, 29, 2)):
        image = blobs(shape, dtype)
        judge = luma(image) if colours(image) else image
        for connectivity in (4, 8):
            check(f"{shape} {dtype.__name__}", image, judge > 0, connectivity)
# Long ways into spirals, noise near the percolation threshold, and single rows and columns, with as many threads as bands.
def rings(h, w, gaps):
    y, x = np.mgrid[:h, :w]
    ring = np.minimum(np.minimum(x, y), np.minimum(w - 1 - x, h - 1 - y))
    gap = np.where(ring % 4 == 1, (x == ring) & (y == ring + 1), (x == w - 1 - ring) & (y == h - 2 - ring))
    return (ring % 2 == 1) & ~(gap & gaps)


for threads in (1, 2, 7):
    for turn, mask in enumerate([rings(120, 161, True), rings(97, 100, False), *(c.rng.random((200, 150)) < p for p in (0.3, 0.41, 0.59, 0.7)),
                                 c.rng.random((1, 700)) < 0.5, c.rng.random((700, 1)) < 0.5, np.ones((64, 64), bool), np.zeros((3, 129), bool)]):
        image = (mask * c.rng.integers(1, 256, mask.shape)).astype(np.uint8)
        for connectivity in (4, 8):
            check(f"picture {turn}, {threads} threads", image, mask, connectivity, "--threads", threads)
noise = random_image(c.rng, (90, 110), np.uint8)
check("noise", noise, noise > 127, 4, "--at", 127)
check("noise", noise, noise > 127, 8, "--at", "127")
holes = blobs((40, 50), np.float32)
holes[5, 5] = np.nan
check("NaN", np.where(np.isnan(holes), 0, holes).astype(np.float32), np.nan_to_num(holes) > 0, 8)
got = c.filter(noise, "remove-small", "--device", "cpu")
c.check("--area by default", np.array_equal(got, painted(noise, (noise > 0) & ~morphology.remove_small_objects(noise > 0, 64, connectivity=2), 0)))
c.end()
