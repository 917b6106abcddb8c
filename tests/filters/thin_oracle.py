"""thin against OpenCV, scikit-image and the papers in numpy; hit-or-miss against scipy.

Sources: filters/morphology/thin.c filters/morphology/thin_lee* filters/morphology/hit_or_miss.c filters/option_footprint.c kernels/cpu/morphology/thin.c
"""
from _common import Checks, luma, need, np, optional, random_image, read, write

ndimage, morphology = need("scipy.ndimage", "skimage.morphology")
cv2 = optional("cv2")
c = Checks()


def blobs(shape, sigma=2.0):
    image = ndimage.gaussian_filter(c.rng.random(shape), sigma)
    return image > np.median(image)


def run(operation, image, *args):
    suffix = ".pfm" if image.dtype == np.float32 else ".pgm"
    source, out = c.path("in" + (".pam" if image.ndim == 3 else suffix)), c.path("out" + suffix)
    write(source, image)
    c.run(operation, source, out, "--device", "cpu", *args)
    return read(out)


def white(mask, dtype=np.uint8):
    return mask.astype(dtype) * dtype(1 if dtype == np.float32 else np.iinfo(dtype).max)


# ---- the papers, on arrays of neighbours P2 to P9 ----

AROUND = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def zhang(p, step):
    b = sum(p.astype(int))
    a = sum((~p[i] & p[(i + 1) % 8]).astype(int) for i in range(8))
    p2, _, p4, _, p6, _, p8, _ = p
    closed = (p2 & p4 & p6) | (p4 & p6 & p8) if step == 0 else (p2 & p4 & p8) | (p2 & p6 & p8)
    return (b >= 2) & (b <= 6) & (a == 1) & ~closed


def guo_hall(p, step):
    p2, p3, p4, p5, p6, p7, p8, p9 = p
    parts = sum(x.astype(int) for x in (~p2 & (p3 | p4), ~p4 & (p5 | p6), ~p6 & (p7 | p8), ~p8 & (p9 | p2)))
    n = np.minimum(sum(x.astype(int) for x in (p9 | p2, p3 | p4, p5 | p6, p7 | p8)), sum(x.astype(int) for x in (p2 | p3, p4 | p5, p6 | p7, p8 | p9)))
    m = (p6 | p7 | ~p9) & p8 if step == 0 else (p2 | p3 | ~p5) & p4
    return (parts == 1) & (n >= 2) & (n <= 3) & ~m


def by_paper(mask, rule, cycles=10**6):
    mask = np.pad(mask, 1)
    for _ in range(cycles):
        before = mask.copy()
        for step in (0, 1):
            p = np.array([np.roll(mask, (-dy, -dx), (0, 1)) for dy, dx in AROUND])
            mask = mask & ~rule(p, step)
        if np.array_equal(before, mask):
            break
    return mask[1:-1, 1:-1]


masks = [("blobs", blobs((90, 131))), ("small", blobs((64, 64), 1.0)), ("noise", c.rng.random((60, 70)) > 0.3), ("full", np.ones((40, 65), bool)),
         ("row", c.rng.random((1, 80)) > 0.3), ("column", c.rng.random((80, 1)) > 0.3), ("pixel", np.ones((1, 1), bool)), ("empty", np.zeros((9, 70), bool))]
y, x = np.mgrid[:150, :160]
masks.append(("rings", np.hypot(y - 75, x - 80) % 24 < 15))
for name, mask in masks:
    for method, rule in (("zhang", zhang), ("guo-hall", guo_hall)):
        got = run("thin", white(mask), "--method", method)
        c.check(f"{method} {name}", np.array_equal(got, white(by_paper(mask, rule))))
        got = run("thin", white(mask), "--method", method, "--cycles", 2)
        c.check(f"{method} {name}, 2 cycles", np.array_equal(got, white(by_paper(mask, rule, 2))))
    c.check(f"skeletonize {name}", np.array_equal(run("thin", white(mask), "--like", "skimage"), white(morphology.skeletonize(mask))))
    for cycles in (0, 3):
        got = run("thin", white(mask), "--like", "skimage", "--method", "guo-hall", *(["--cycles", cycles] if cycles else []))
        c.check(f"skimage's thin {name} {cycles}", np.array_equal(got, white(morphology.thin(mask, cycles or None))))
    if cv2 and hasattr(cv2, "ximgproc"):
        padded = np.pad(mask, 1)  # OpenCV leaves the outermost pixels alone
        for method, kind in (("zhang", cv2.ximgproc.THINNING_ZHANGSUEN), ("guo-hall", cv2.ximgproc.THINNING_GUOHALL)):
            want = cv2.ximgproc.thinning(white(padded), thinningType=kind)
            c.check(f"OpenCV {method} {name}", np.array_equal(run("thin", white(padded), "--method", method), want))
if not (cv2 and hasattr(cv2, "ximgproc")):
    c.skip("python3 has no cv2.ximgproc")
mask = masks[0][1]
for dtype in (np.uint16, np.float32):
    c.check(f"thin {dtype.__name__}", np.array_equal(run("thin", white(mask, dtype)), white(by_paper(mask, zhang), dtype)))
image = random_image(c.rng, (50, 60, 3), np.uint8)
c.check("thin a luma", np.array_equal(run("thin", image, "--threshold", 100), white(by_paper(luma(image) > 100, zhang))))

# ---- Lee: scikit-image's, on made shapes and on random masks ----


def lee(mask):
    return morphology.skeletonize(mask, method="lee") > 0


y, x = np.mgrid[:90, :110]
shapes = [("disc", np.hypot(y - 44, x - 50) < 33), ("cross", (abs(y - 45) < 8) | (abs(x - 50) < 11)), ("square", np.ones((21, 20), bool)),
          ("two pixels", np.array([[0, 0, 0], [1, 1, 0], [0, 0, 0]], bool)), ("diamond", abs(y - 45) + abs(x - 55) < 30)]
for name, mask in masks + shapes:
    c.check(f"lee {name}", np.array_equal(run("thin", white(mask), "--method", "lee"), white(lee(mask))))
row = []  # 200 masks in one image, apart from each other
for trial in range(200):
    size = c.rng.integers(1, 30, 2)
    row.append(np.zeros((32, 32), bool))
    row[-1][1:1 + size[0], 1:1 + size[1]] = c.rng.random(size) < c.rng.random() if trial % 2 else blobs(size, 0.5 + 2 * c.rng.random())
got = run("thin", white(np.hstack(row)), "--method", "lee") > 0
for trial, mask in enumerate(row):
    c.check(f"lee {trial}", np.array_equal(got[:, 32 * trial:32 * trial + 32], lee(mask)))
big = blobs((300, 400), 6)
for dtype in (np.uint16, np.float32):
    c.check(f"lee {dtype.__name__}", np.array_equal(run("thin", white(big, dtype), "--method", "lee"), white(lee(big), dtype)))


def parts(a):
    return ndimage.label(a, np.ones((3, 3)))[1]


def euler(a):
    """Components minus holes of 8-connected foreground; holes are 4-connected."""
    return parts(a) - (ndimage.label(~np.pad(a, 1))[1] - 1)


def lee_cycles(mask, cycles):
    """The first cycles by the definition, with components and holes counted in each neighbourhood."""
    mask = np.pad(mask, 1)

    def around(y, x):
        near = mask[y - 1:y + 2, x - 1:x + 2].copy()
        near[1, 1] = False
        return near

    for _ in range(cycles):
        for dy, dx in ((-1, 0), (1, 0), (0, 1), (0, -1)):
            places = list(zip(*np.nonzero(mask & ~np.roll(mask, (-dy, -dx), (0, 1)))))
            found = [(y, x) for y, x in places if around(y, x).sum() != 1 and parts(around(y, x)) <= 1
                     and euler(around(y, x)) == euler(mask[y - 1:y + 2, x - 1:x + 2])]
            for y, x in found:
                mask[y, x] = parts(around(y, x)) > 1
    return mask[1:-1, 1:-1]


mask = blobs((30, 34), 2.5)
for cycles in (1, 2, 3):
    c.check(f"lee, {cycles} cycles", np.array_equal(run("thin", white(mask), "--method", "lee", "--cycles", cycles), white(lee_cycles(mask, cycles))))

# ---- hit-or-miss ----


def rows(element):
    return "; ".join(" ".join(str(int(v)) for v in row) for row in element)


for trial in range(60):
    dtype = (np.uint8, np.uint16, np.float32)[trial % 3]
    shape = ((70, 83), (1, 40), (5, 3), (31, 64))[trial % 4]
    mask = c.rng.random(shape) > (0.3, 0.5)[trial % 2]
    size = c.rng.integers(1, 5, 2)
    hit = c.rng.random(size) > 0.6
    hit[size[0] // 2, size[1] // 2] |= not hit.any()
    if trial % 4:
        got, want = run("hit-or-miss", white(mask, dtype), "--hit", rows(hit)), ndimage.binary_hit_or_miss(mask, hit)
    else:
        miss = ~hit & (c.rng.random(size) > 0.3)
        if trial % 8 or not miss.any():
            miss = c.rng.random(c.rng.integers(1, 5, 2)) > 0.7
            miss[0, 0] = True
        got = run("hit-or-miss", white(mask, dtype), "--hit", rows(hit), "--miss", rows(miss))
        want = ndimage.binary_hit_or_miss(mask, hit, miss)
    c.check(f"hit-or-miss {trial} {shape} {rows(hit)}", np.array_equal(got, white(want, dtype)))
mask = blobs((40, 50))
wide = np.pad(mask, 1, mode="edge")
c.check("hit-or-miss with a border", np.array_equal(run("hit-or-miss", white(mask), "--hit", "0 1 0; 0 1 1; 0 1 1", "--border", "clamp"),
                                                    white(ndimage.binary_hit_or_miss(wide, [[0, 1, 0], [0, 1, 1], [0, 1, 1]])[1:-1, 1:-1])))
wide = np.pad(mask, 1, constant_values=True)
c.check("hit-or-miss with white outside", np.array_equal(run("hit-or-miss", white(mask), "--hit", "0 1 0; 0 1 1; 0 1 1", "--border-value", 7),
                                                         white(ndimage.binary_hit_or_miss(wide, [[0, 1, 0], [0, 1, 1], [0, 1, 1]])[1:-1, 1:-1])))
mask = luma(image) > 90
c.check("hit-or-miss of a luma", np.array_equal(run("hit-or-miss", image, "--hit", "0 1; 1 1", "-t", 90), white(ndimage.binary_hit_or_miss(mask, [[0, 1], [1, 1]]))))
for args, want in ((("hit-or-miss",), "--hit: missing"), (("hit-or-miss", "--hit", "0 0"), "--hit: all of it is 0"),
                   (("hit-or-miss", "--hit", "1", "--miss", "0"), "--miss: all of it is 0"), (("hit-or-miss", "--hit", "1 a"), "--hit"),
                   (("thin", "--cycles", "0"), "--cycles 0: want 1 to"), (("thin", "--method", "medial"), "want zhang")):
    p = c.result(args[0], c.path("in.pam"), c.path("none.pgm"), *args[1:])
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
