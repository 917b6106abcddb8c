"""expand-labels against scikit-image's expand_labels().

Sources: filters/regions/expand_labels.c
"""
from _common import Checks, need, np

ndimage, segmentation = need("scipy.ndimage", "skimage.segmentation")
c = Checks()


def expected(labels, distance):
    """The result of scikit-image, and where no pixels of other labels are equally near."""
    want = segmentation.expand_labels(labels, distance)
    squares = np.stack([np.rint(ndimage.distance_transform_edt(labels != label) ** 2) for label in np.unique(labels[labels > 0])])
    return want, (squares == squares.min(0)).sum(0) == 1


def by_rule(labels, distance):
    """Searches all pixels. If several are equally near, the leftmost counts, then the uppermost."""
    ys, xs = np.nonzero(labels)
    order = np.lexsort((ys, xs))
    ys, xs = ys[order], xs[order]
    y, x = np.mgrid[:labels.shape[0], :labels.shape[1]]
    squares = (y[..., None] - ys) ** 2 + (x[..., None] - xs) ** 2
    nearest = squares.argmin(2)
    return np.where(np.sqrt(squares.min(2)) <= distance, labels[ys[nearest], xs[nearest]], 0)


def spots(shape, share, labels):
    where = c.rng.random(shape) < share
    return np.where(where, c.rng.integers(1, labels + 1, shape), 0)


ties = 0
for dtype, most in ((np.uint8, 255), (np.uint16, 65535), (np.float32, 1 << 24)):
    for shape, share in (((1, 30), 0.1), ((47, 1), 0.1), ((63, 80), 0.01), ((50, 41), 0.2)):
        labels = spots(shape, share, 12)
        labels[0, 0] = 12
        labels[labels == 7] = most
        for distance in (0, 1, 1.5, 2 ** 0.5, 5, 7.9, 1000):
            got = c.filter(labels.astype(dtype), "expand-labels", "--distance", distance, "--device", "cpu")
            want, clear = expected(labels, distance)
            ties += (~clear).sum()
            name = f"{dtype.__name__} {shape} {distance}"
            c.check(f"{name}: scikit-image", np.array_equal(got[clear], want[clear].astype(dtype)))
            c.check(f"{name}: ties", np.array_equal(got, by_rule(labels, distance).astype(dtype)))
c.check("some pixels are equally near to two labels", ties > 100)
# A label image of extract; in bands; without labels; and inputs that are refused.
blobs = ndimage.gaussian_filter(c.rng.random((200, 150)), 3)
mask = np.where(blobs > np.quantile(blobs, 0.8), 255, 0).astype(np.uint8)
with open(c.path("mask.pgm"), "wb") as f:
    f.write(b"P5\n150 200\n255\n" + mask.tobytes())
c.run("extract", c.path("mask.pgm"), c.path("t.csv"), "--labels", c.path("labels.pgm"))
read = lambda path: np.frombuffer(open(c.path(path), "rb").read()[-60000:], ">u2").reshape(200, 150)
c.run("expand-labels", c.path("labels.pgm"), c.path("out.pgm"), "--distance", 6)
want, clear = expected(read("labels.pgm").astype(int), 6)
c.check("regions of extract", np.array_equal(read("out.pgm")[clear], want[clear]))
c.check("no labels", not c.filter(np.zeros((9, 9), np.uint8), "expand-labels").any())
np.save(c.path("rgb.npy"), np.ones((4, 4, 3), np.uint8))
p = c.result("expand-labels", c.path("rgb.npy"), c.path("x.npy"))
c.check("colour is refused", p.returncode and "3 channels: want one, of labels" in p.stderr, p.stderr)
c.end()
