"""canny against OpenCV (equal bytes) and scikit-image; 16 bits and floats against the same rules in numpy.

Sources: filters/convolution/canny.c kernels/canny.h kernels/cpu/convolution/canny.c
    kernels/cpu/morphology/reconstruct.c
"""
import os

from _common import Checks, need, np, read, write

ndimage, cv2, feature = need("scipy.ndimage", "cv2", "skimage.feature")
c = Checks()
cv2.setNumThreads(1)


def waves(shape):
    """Blobs and stripes with noise, in 8 bits."""
    image = ndimage.gaussian_filter(c.rng.random(shape), [2, 2, 0][:len(shape)])
    image = (image - image.min()) / (np.ptp(image) or 1) * 255
    y, x = np.mgrid[:shape[0], :shape[1]]
    image[(x + 2 * y) % 61 < 9] += 90
    return np.clip(np.rint(image + c.rng.normal(0, 4, shape)), 0, 255).astype(np.uint8)


def picture(name):
    return cv2.imread(f"{os.path.dirname(__file__)}/../../testdata/{name}.png", cv2.IMREAD_COLOR)[..., ::-1].copy()


def canny(image, *args):
    """Returns the mask of one channel."""
    out = c.path("edges.pfm" if image.dtype == np.float32 else "edges.pgm")
    source = c.path("in.pfm" if image.dtype == np.float32 else "in.pam")
    write(source, image)
    c.run("canny", source, out, "--device", "cpu", *args)
    return read(out)


# ---- OpenCV: equal to the byte ----

for name, image in (("gray", waves((211, 173))), ("colour", waves((90, 140, 3))), ("alpha", waves((60, 51, 4))),
                    ("row", waves((1, 300))), ("column", waves((300, 1))), ("pixel", waves((1, 1))),
                    ("noise", c.rng.integers(0, 256, (70, 400), dtype=np.uint8)), ("scene", picture("scene")),
                    ("steps", np.kron(c.rng.integers(0, 2, (20, 30)), np.ones((9, 9))).astype(np.uint8) * 255)):
    colors = image[..., :3] if image.ndim == 3 else image
    for size, norm, low, high in ((3, "l1", 100, 200), (3, "l2", 60.5, 120.25), (5, "l1", 900, 2100), (5, "l2", 700, 1500),
                                  (7, "l1", 9000, 20000), (7, "l2", 4000, 12000), (3, "l1", 0, 0), (3, "l2", 0, 90)):
        want = cv2.Canny(np.ascontiguousarray(colors), low, high, apertureSize=size, L2gradient=norm == "l2")
        got = canny(image, "--size", size, "--norm", norm, "--low", low, "--high", high)
        c.check(f"OpenCV {name} {size} {norm} {low}", np.array_equal(got, want), f"{(got != want).sum()} differ")
image = waves((120, 130))
c.check("defaults", np.array_equal(canny(image), cv2.Canny(image, 100, 200)))
c.check("half of --high", np.array_equal(canny(image, "--high", 90), cv2.Canny(image, 45, 90)))
c.check("twice --low", np.array_equal(canny(image, "--low", 30), cv2.Canny(image, 30, 60)))
c.run("gaussian", c.path("in.pam"), c.path("soft.pgm"), "--sigma", 1.7)
c.check("--sigma", np.array_equal(canny(image, "--sigma", 1.7, "--high", 60), cv2.Canny(read(c.path("soft.pgm")), 30, 60)))

# ---- 16 bits and floats: the rules of OpenCV, in exact integers or in double ----


def by_rules(image, low, high, squared):
    image = image.astype(np.float64)
    gx, gy = (ndimage.correlate1d(ndimage.correlate1d(image, [-1, 0, 1], axis, mode="nearest"), [1, 2, 1], 1 - axis, mode="nearest")
              for axis in (1, 0))
    m = gx * gx + gy * gy if squared else abs(gx) + abs(gy)
    low, high = (low * low, high * high) if squared else (low, high)
    p = np.pad(m, 1)
    near = {(y, x): p[1 + y:p.shape[0] - 1 + y, 1 + x:p.shape[1] - 1 + x] for y in (-1, 0, 1) for x in (-1, 0, 1)}
    ax, ay = abs(gx), abs(gy) * 32768
    across, down, rising = ay < ax * 13573, ay > ax * (13573 + 65536), (gx < 0) != (gy < 0)
    ridge = np.where(across, (m > near[0, -1]) & (m >= near[0, 1]),
                     np.where(down, (m > near[-1, 0]) & (m >= near[1, 0]),
                              np.where(rising, (m > near[-1, 1]) & (m > near[1, -1]), (m > near[-1, -1]) & (m > near[1, 1]))))
    labels, n = ndimage.label(ridge & (m > low), np.ones((3, 3)))
    strong = np.zeros(n + 1, bool)
    strong[np.unique(labels[ridge & (m > high)])] = True
    strong[0] = False
    return strong[labels]


for squared, norm in ((False, "l1"), (True, "l2")):
    how = ["--low", 9000, "--high", 30000, "--norm", norm]
    wide = waves((150, 131)).astype(np.uint16) * 256 + c.rng.integers(0, 256, (150, 131), dtype=np.uint16)
    got, want = canny(wide, *how), by_rules(wide, 9000, 30000, squared)
    c.check(f"16 bits {norm}", np.array_equal(got, want * np.uint16(65535)), f"{((got > 0) != want).sum()} differ")
    # Multiples of 1 / 1024 have exact sums and squares in float, except products with the tangent.
    floats = np.rint(waves((150, 131)) * 4.0).astype(np.float32) / 1024
    got, want = canny(floats, "--low", 0.1, "--high", 0.5, "--norm", norm), by_rules(floats, 0.1, 0.5, squared)
    c.check(f"floats {norm}", np.array_equal(got, want.astype(np.float32)), f"{((got > 0) != want).sum()} differ")
c.check("default in 16 bits", np.array_equal(canny(wide), canny(wide, "--low", 25700, "--high", 51400)))

# ---- scikit-image ----


def like_skimage(name, image, exact=False, **options):
    """Pixels may differ only next to each other where magnitudes are equal except for rounding."""
    args = [text for k, v in options.items() for text in ("--" + k.replace("_threshold", ""), v)]
    got = canny(image, "--like", "skimage", *args)
    want = feature.canny(image, **{k: float(v) for k, v in options.items()})
    off = ((got > 0) != want).sum()
    c.check(f"scikit-image {name} {options}", off <= (0 if exact else 0.0005 * want.sum() + 2), f"{off} of {want.sum()} differ")
    return off, want.sum()


total = np.zeros(2, int)
for name, image in (("gray", waves((211, 173))), ("coins", picture("coins")[..., 0]), ("scene", picture("scene")[..., 1]),
                    ("noise", c.rng.integers(0, 256, (170, 200), dtype=np.uint8))):
    for options in ({}, {"sigma": 2.3}, {"sigma": 1.5, "low_threshold": 10, "high_threshold": 40}):
        total += like_skimage(name, image, **options)
    if name != "scene":
        total += like_skimage(f"{name} 16 bits", image.astype(np.uint16) * 257, sigma=1.2)
print(f"scikit-image: {total[0]} of {total[1]} edge pixels differ")
like_skimage("tiny", waves((5, 6)), exact=True)
like_skimage("row", waves((1, 30)), exact=True)

# ---- messages ----

for args, want in ((("--low", 9, "--high", 8), "--low 9: want at most --high 8"), (("--like", "skimage", "--size", 5), "--size 5: want 3"),
                   (("--size", 9), "--size 9: want odd, 3 to 7"), (("--norm", "l3"), "want l1 or l2")):
    p = c.result("canny", c.path("in.pam"), c.path("edges.pgm"), *args)
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
