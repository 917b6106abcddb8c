"""rotate, affine and shift against numpy in double precision, scipy.ndimage and OpenCV.

scipy's map_coordinates agrees to the last bit that counts. OpenCV rounds places to 1/32 pixel before
it interpolates, so its samples are off by up to a 64th of what neighbours differ, each way; gpuimg
keeps 24 bits of fraction, and double precision says that gpuimg is right.
"""
from _common import Checks, need, np, random_image
from _warp import BORDERS, agree, grid, sample

(ndimage,) = need("scipy.ndimage")
try:
    import cv2
except ImportError:
    cv2 = None
SCIPY = {"clamp": "nearest", "border": "grid-constant", "wrap": "grid-wrap", "mirror": "reflect",
         "reflect101": "mirror"}
SIZES = [(1, 1), (1, 17), (17, 1), (31, 33), (67, 5), (129, 257)]
DTYPES = (np.uint8, np.uint16, np.float32)
WAYS = ("nearest", "bilinear", "bicubic")
c = Checks()


def halves(x, y):
    """Places so near the middle between two pixels that rounding may pick either."""
    return (np.abs((x % 1) - 0.5) < 1e-5) | (np.abs((y % 1) - 0.5) < 1e-5)


def check(name, image, args, x, y, how, border, a=-0.5, value=0):
    got = c.filter(image, *args, "--interpolation", how, "--border", border, "--background", value,
                   "--cubic", a)
    exact = sample(image, x, y, how, border, value, a)
    agree(c, f"{name} {how} {border} {image.shape} {image.dtype}", got, exact, image.dtype,
          halves(x, y) if how == "nearest" else None)


def turned(w, h, angle, center=None):
    """Where pixels of the turned image come from."""
    cx, cy = center or ((w - 1) / 2, (h - 1) / 2)
    x, y = grid(w, h)
    co, si = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return cx + co * (x - cx) - si * (y - cy), cy + si * (x - cx) + co * (y - cy)


def shape_of(i, size):
    """Gray, RGB and RGBA by turns; floats have no file with alpha here."""
    return size if i % 3 == 0 else (*size, 3 if i % 3 == 1 else 4)


def walk():
    i = 0
    for dtype in DTYPES:
        for size in SIZES:
            shape = shape_of(i, size)
            i += 1
            if dtype == np.float32 and len(shape) == 3:
                shape = (*size, 3)
            yield random_image(c.rng, shape, dtype)


def test_rotate(image):
    h, w = image.shape[:2]
    for i, border in enumerate(BORDERS):
        for how in (WAYS[i % 3], WAYS[(i + 1) % 3]):
            angle = float(c.rng.uniform(-200, 200))
            check(f"rotate {angle}", image, ("rotate", "--angle", angle), *turned(w, h, angle), how,
                  border, value=0.25 if image.dtype == np.float32 else 33)
    center = (3.5, -2.0)
    check("rotate --center", image, ("rotate", "--angle", 33, "--center", "3.5,-2"),
          *turned(w, h, 33, center), "bicubic", "mirror", a=-0.75)
    for n in range(-1, 5):
        got = c.filter(image, "rotate", "--angle", 90 * n)
        c.check(f"rotate {90 * n} {image.shape} {image.dtype}",
                np.array_equal(got, np.rot90(image, n)), "is not numpy's rot90")


def test_expand(image):
    h, w = image.shape[:2]
    got = c.filter(image, "rotate", "--angle", 30, "--expand")
    co, si = np.cos(np.pi / 6), np.sin(np.pi / 6)
    nw, nh = int(np.ceil(w * co + h * si - 1e-6)), int(np.ceil(w * si + h * co - 1e-6))
    c.check("rotate --expand: size", got.shape[:2] == (nh, nw), f"{got.shape}, want {nh}, {nw}")
    x, y = grid(nw, nh)
    x, y = x - (nw - 1) / 2, y - (nh - 1) / 2
    exact = sample(image, (w - 1) / 2 + co * x - si * y, (h - 1) / 2 + si * x + co * y)
    agree(c, f"rotate --expand {image.shape}", got, exact, image.dtype)


def test_affine(image):
    h, w = image.shape[:2]
    for i, border in enumerate(BORDERS):
        for how in (WAYS[i % 3], WAYS[(i + 1) % 3]):
            m = np.vstack([c.rng.uniform(-2, 2, (2, 3)) * [1, 1, 20], [0, 0, 1]])
            if abs(np.linalg.det(m)) < 0.05:
                continue
            text = "; ".join(" ".join(repr(float(v)) for v in row) for row in m[:2])
            inverse = bool(c.rng.integers(2))
            back = m if inverse else np.linalg.inv(m)
            ow, oh = (int(v) for v in c.rng.integers(1, 60, 2))
            x, y = grid(ow, oh)
            args = ("affine", "--matrix", text, "--size", f"{ow}x{oh}") + ("--inverse",) * inverse
            check(f"affine {text} {inverse}", image, args, back[0, 0] * x + back[0, 1] * y + back[0, 2],
                  back[1, 0] * x + back[1, 1] * y + back[1, 2], how, border)


def test_shift(image):
    h, w = image.shape[:2]
    x, y = grid(w, h)
    for i, (dx, dy) in enumerate(((0, 0), (3, -2), (-40, 7), (0.5, 0.25), (-1.75, 300.125), (9.37, -0.113))):
        for j, border in enumerate(BORDERS):
            how, whole = WAYS[(i + j) % 3], dx == int(dx)
            got = c.filter(image, "shift", "--by", f"{dx},{dy}", "-i", how, "--border", border)
            exact = sample(image, x - dx, y - dy, "nearest" if whole else how, border)
            agree(c, f"shift {dx},{dy} {how} {border} {image.shape} {image.dtype}", got, exact, image.dtype,
                  halves(x - dx, y - dy) if how == "nearest" and not whole else None)
    got = c.filter(image, "shift", "--by", "3,-2", "--border", "wrap")
    c.check(f"shift and roll {image.shape}", np.array_equal(got, np.roll(image, (-2, 3), (0, 1))))


def test_scipy(image):
    """map_coordinates, orders 0 and 1, with its modes."""
    h, w = image.shape[:2]
    x, y = turned(w, h, 17.3)
    for border, mode in SCIPY.items():
        for order, how in ((0, "nearest"), (1, "bilinear")):
            got = c.filter(image, "rotate", "--angle", 17.3, "--border", border, "-i", how)
            exact = ndimage.map_coordinates(image.astype(np.float64), [y, x], order=order, mode=mode)
            agree(c, f"scipy {mode} order {order} {image.shape}", got, exact, image.dtype,
                  halves(x, y) if order == 0 else None)


OPENCV = {"clamp": "BORDER_REPLICATE", "border": "BORDER_CONSTANT", "wrap": "BORDER_WRAP",
          "mirror": "BORDER_REFLECT", "reflect101": "BORDER_REFLECT_101"}


def test_opencv():
    """Within what places rounded to 1/32 pixel make of a smooth image."""
    if not cv2:
        c.skip("python3 has no cv2")
        return
    x, y = grid(200, 150)
    image = np.clip(120 + 60 * np.sin(x / 9) + 50 * np.cos(y / 7), 0, 255).astype(np.uint8)
    steep = 14  # at most, a pixel
    for angle in (7, 45, 123):
        m = cv2.getRotationMatrix2D(((200 - 1) / 2, (150 - 1) / 2), angle, 1)
        for how, flag, a in (("bilinear", cv2.INTER_LINEAR, -0.5), ("bicubic", cv2.INTER_CUBIC, -0.75)):
            for border, name in OPENCV.items():
                got = c.filter(image, "rotate", "--angle", angle, "--border", border, "-i", how, "--cubic", a)
                theirs = cv2.warpAffine(image, m, (200, 150), flags=flag, borderMode=getattr(cv2, name))
                u, v = turned(200, 150, angle)
                exact = np.clip(sample(image, u, v, how, border, 0, a), 0, 255)
                smooth = border in ("clamp", "mirror", "reflect101")
                inside = smooth | ((u >= 1) & (u < 198) & (v >= 1) & (v < 148))
                off = np.abs(got.astype(int) - theirs.astype(int))[inside].max()
                ours = np.abs(got - exact[..., 0]).max()
                c.check(f"OpenCV {angle} {how} {border}", off <= 1 + steep / 64 and ours <= 0.51,
                        f"OpenCV is off by {off}, gpuimg by {ours}")


for picture in walk():
    test_rotate(picture)
    test_affine(picture)
    test_shift(picture)
    test_expand(picture)
    if picture.ndim == 2:
        test_scipy(picture)
test_opencv()
c.end()
