"""rotate, affine, shift, perspective, warp-polar, undistort and remap against numpy in double precision,
scipy.ndimage and OpenCV.

scipy's map_coordinates agrees to the last significant bit. OpenCV rounds coordinates to 1/32 pixel before it
interpolates, so that its samples are off by up to 1/64 of the difference of neighbours in each direction; gpuimg
keeps 24 bits of fraction, and double precision confirms gpuimg.

Sources: geometry
"""
import json

from _common import Checks, need, np, optional, random_image, write
from _remap import BORDERS, agree, grid, sample

(ndimage,) = need("scipy.ndimage")
cv2 = optional("cv2")
SCIPY = {"clamp": "nearest", "border": "grid-constant", "wrap": "grid-wrap", "mirror": "reflect",
         "reflect101": "mirror"}
SIZES = [(1, 1), (1, 17), (17, 1), (31, 33), (67, 5), (129, 257)]
DTYPES = (np.uint8, np.uint16, np.float32)
WAYS = ("nearest", "bilinear", "bicubic")
c = Checks()


def halves(x, y):
    """Places so close to the midpoint between two pixels that rounding may choose either."""
    return (np.abs((x % 1) - 0.5) < 1e-5) | (np.abs((y % 1) - 0.5) < 1e-5)


def check(name, image, args, x, y, how, border, a=-0.5, value=0):
    got = c.filter(image, *args, "--interpolation", how, "--border", border, "--background", value,
                   "--cubic", a)
    exact = sample(image, x, y, how, border, value, a)
    agree(c, f"{name} {how} {border} {image.shape} {image.dtype}", got, exact, image.dtype,
          halves(x, y) if how == "nearest" else None)


def turned(w, h, angle, center=None):
    """Returns the source coordinates of a rotated image's pixels."""
    cx, cy = center or ((w - 1) / 2, (h - 1) / 2)
    x, y = grid(w, h)
    co, si = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return cx + co * (x - cx) - si * (y - cy), cy + si * (x - cx) + co * (y - cy)


def shape_of(i, size):
    """Gray, RGB and RGBA in turn; no float format with alpha is used here."""
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
          *turned(w, h, 33, center), "bicubic" if image.ndim == 2 else "bilinear", "mirror", a=-0.75)
    for n in range(-1, 5):
        got = c.filter(image, "rotate", "--angle", 90 * n)
        c.check(f"rotate {90 * n} {image.shape} {image.dtype}",
                np.array_equal(got, np.rot90(image, n)), "is not numpy's rot90")


def test_straighten():
    """The crop that help rotate gives for an image of 3:2 has no empty corners, and a larger one has."""
    white = np.full((200, 300), 255, np.uint8)
    for angle in (1.3, 2, -3, 5, 10, 30, 45):
        turned_image = c.filter(white, "rotate", "--angle", angle)
        a = np.deg2rad(abs(angle))
        scale = 1 / (np.cos(a) + 1.5 * np.sin(a))
        for less, empty in (1, False), (-6, True):
            size = f"{int(300 * scale) - less}x{int(200 * scale) - less}"
            got = c.filter(turned_image, "crop", "--size", size, "--gravity", "center")
            c.check(f"rotate {angle}: empty corners in {size}", (got < 255).any() == empty)


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


def text_of(m):
    return "; ".join(" ".join(repr(float(v)) for v in row) for row in m)


def test_perspective(image):
    h, w = image.shape[:2]
    x, y = grid(40, 30)
    for i, border in enumerate(BORDERS):
        m = np.eye(3) + c.rng.uniform(-1, 1, (3, 3)) * [[0.3, 0.3, 9], [0.3, 0.3, 9], [0.005, 0.005, 0]]
        how, back = WAYS[i % 3], np.linalg.inv(m)
        u, v, s = (row[0] * x + row[1] * y + row[2] for row in back)
        check("perspective", image, ("perspective", "--matrix", text_of(m), "--size", "40x30"), u / s, v / s,
              how, border)
        check("perspective --inverse", image,
              ("perspective", "--inverse", "--matrix", text_of(back), "--size", "40x30"), u / s, v / s, how, border)
    if min(w, h) > 30:
        points = [2, 3, w - 5, 1, w - 2, h - 4, 1.5, h - 3]
        got = c.filter(image, "perspective", "--from", ",".join(map(str, points)), "--size", "40x30")
        a = []
        for (px, py), (qx, qy) in zip(((-.5, -.5), (39.5, -.5), (39.5, 29.5), (-.5, 29.5)), zip(points[::2], points[1::2])):
            a += [[px, py, 1, 0, 0, 0, -px * qx, -py * qx], [0, 0, 0, px, py, 1, -px * qy, -py * qy]]
        g = np.append(np.linalg.solve(np.array(a, float), np.array(points, float)), 1)
        s = g[6] * x + g[7] * y + 1
        agree(c, f"perspective by points {image.shape}", got,
              sample(image, (g[0] * x + g[1] * y + g[2]) / s, (g[3] * x + g[4] * y + g[5]) / s), image.dtype)


def test_polar(image):
    h, w = image.shape[:2]
    x, y = grid(50, 64)
    for i, border in enumerate(BORDERS):
        how, log, radius = WAYS[i % 3], bool(i % 2), 22.5
        r = radius ** (x / 50) - 1 if log else x * radius / 50
        a = 2 * np.pi * y / 64
        args = ("warp-polar", "--center", "11,9.37", "--radius", radius, "--size", "50x64") + ("--log",) * log
        check("warp-polar", image, args, 11 + r * np.cos(a), 9.37 + r * np.sin(a), how, border)
        dx, dy = x - 20, y - 30.5
        r, a = np.hypot(dx, dy), np.arctan2(dy, dx) % (2 * np.pi)
        u = np.log(r + 1) * w / np.log(radius) if log else r * w / radius
        got = c.filter(image, "warp-polar", "--inverse", "--center", "20,30.5", "--radius", radius, "--size",
                       "50x64", "-i", how, "--border", border, *("--log",) * log)
        v = a * h / (2 * np.pi)
        tall = np.concatenate([image[(np.arange(-8, h + 8)) % h]])  # the last row is followed by the first
        agree(c, f"warp-polar --inverse {log} {how} {border} {image.shape} {image.dtype}", got,
              sample(tall, u, v + 8, how, border), image.dtype, halves(u, v) if how == "nearest" else None)


def test_undistort(image):
    h, w = image.shape[:2]
    x, y = grid(w, h)
    camera = [[40.0, 0, 15.5], [0, 42, 17.25], [0, 0, 1]]
    for i, n in enumerate((4, 5, 8)):
        d = c.rng.uniform(-0.2, 0.2, n) * [1, 1, 0.1, 0.1, 1, 1, 1, 1][:n]
        k1, k2, p1, p2, k3, k4, k5, k6 = (*d, *[0.0] * (8 - n))
        u, v = (x - 15.5) / 40, (y - 17.25) / 42
        r = u * u + v * v
        k = (1 + k1 * r + k2 * r**2 + k3 * r**3) / (1 + k4 * r + k5 * r**2 + k6 * r**3)
        px = (u * k + 2 * p1 * u * v + p2 * (r + 2 * u * u)) * 40 + 15.5
        py = (v * k + p1 * (r + 2 * v * v) + 2 * p2 * u * v) * 42 + 17.25
        text = json.dumps({"camera_matrix": camera, "distortion_coefficients": list(d)})
        far = np.maximum(np.abs(px), np.abs(py)) > 1e6  # places beyond 2^26 are put there
        got = c.filter(image, "undistort", "--camera", text, "-i", WAYS[i], "--border", "mirror")
        px, py = np.where(far, 0, px), np.where(far, 0, py)
        unsure = far | (halves(px, py) if i == 0 else False)
        agree(c, f"undistort {n} {image.shape} {image.dtype}", got, sample(image, px, py, WAYS[i], "mirror"),
              image.dtype, unsure)


def save_map(*axes):
    """Saves the coordinates as an array of two channels, or as two PFMs; returns the options that name them."""
    if c.rng.integers(2):
        path = c.path("map.npy")
        np.save(path, np.stack(axes, -1).astype(np.float32))
        return "--map", path
    paths = c.path("x.pfm"), c.path("y.pfm")
    for path, axis in zip(paths, axes):
        write(path, axis.astype(np.float32))
    return "--map", paths[0], "--map-y", paths[1]


def test_remap(image):
    """remap against map_coordinates too; maps smaller and larger than the image."""
    h, w = image.shape[:2]
    for i, border in enumerate(BORDERS):
        mw, mh = (int(v) for v in c.rng.integers(1, 50, 2))
        x, y = grid(mw, mh)
        u, v = (c.rng.uniform(-9, n + 9, (mh, mw)).astype(np.float32) for n in (w, h))
        how, relative = WAYS[i % 3], i % 2 == 0
        args = ("remap", *save_map(u, v)) + ("--relative",) * relative
        at = (x + u, y + v) if relative else (u.astype(float), v.astype(float))
        check(f"remap {relative}", image, args, *at, how, border)
        if image.ndim == 2:
            got = c.filter(image, *args, "--border", border)
            exact = ndimage.map_coordinates(image.astype(np.float64), at[::-1], order=1, mode=SCIPY[border])
            agree(c, f"remap scipy {border} {image.shape}", got, exact, image.dtype)
    x, y = grid(w, h)
    got = c.filter(image, "remap", *save_map(x, y), "-i", "nearest")
    c.check(f"remap by its own places {image.shape} {image.dtype}", np.array_equal(got, image))
    where = np.stack((w - 1 - x, y, np.full_like(x, 7)), -1).astype(np.float32)
    write(c.path("flip.pfm"), where)
    got = c.filter(image, "remap", "--map", c.path("flip.pfm"), "-i", "nearest")
    c.check(f"remap by a PFM of three {image.shape} {image.dtype}", np.array_equal(got, image[:, ::-1]))


def test_nowhere(image):
    """remap gives the border value where X or Y is NaN, in every border mode and interpolation."""
    h, w = image.shape[:2]
    x, y = grid(w, h)
    x, y = x + c.rng.uniform(-2, 2, x.shape), y + c.rng.uniform(-2, 2, y.shape)
    full = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
    for border in BORDERS:
        for how in (*WAYS, "bspline"):
            u, v = x.astype(np.float32), y.astype(np.float32)
            lost = c.rng.integers(0, 8, u.shape)
            u[lost == 1], v[lost == 2] = np.nan, np.nan
            args = ("remap", *save_map(u, v), "--interpolation", how, "--border", border)
            got = c.filter(image, *args, "--border-value", full)
            none = (lost == 1) | (lost == 2)
            near = c.filter(image, "remap", *save_map(np.where(none, x, u), np.where(none, y, v)), "--interpolation", how,
                            "--border", border, "--border-value", full)
            name = f"NaN {border} {how} {image.shape} {image.dtype}"
            c.check(f"{name}: the border value", (got[none] == full).all())
            c.check(f"{name}: other pixels", np.array_equal(got[~none], near[~none]))


OPENCV = {"clamp": "BORDER_REPLICATE", "border": "BORDER_CONSTANT", "wrap": "BORDER_WRAP",
          "mirror": "BORDER_REFLECT", "reflect101": "BORDER_REFLECT_101"}


def test_opencv():
    """Within the error that coordinates rounded to 1/32 pixel cause in a smooth image."""
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


def test_opencv_others():
    """Perspective, polar transforms in both directions and lens distortion against OpenCV, with its calibration files."""
    if not cv2:
        return
    x, y = grid(200, 150)
    image = np.clip(120 + 60 * np.sin(x / 9) + 50 * np.cos(y / 7), 0, 255).astype(np.uint8)

    def near(name, got, theirs, where=True):
        off = np.abs(got.astype(int) - theirs.astype(int))
        c.check(f"OpenCV {name}", np.where(where, off, 0).max() <= 2, f"off by {np.where(where, off, 0).max()}")

    m = np.array([[1, 0.1, 3], [0.05, 0.9, 2], [0.0004, -0.0003, 1]])
    near("warpPerspective", c.filter(image, "perspective", "--matrix", text_of(m), "--border", "mirror"),
         cv2.warpPerspective(image, m, (200, 150), borderMode=cv2.BORDER_REFLECT))
    for log in (False, True):
        flags = cv2.INTER_LINEAR + (cv2.WARP_POLAR_LOG if log else 0)
        theirs = cv2.warpPolar(image, (90, 360), (100, 75), 60, flags)
        got = c.filter(image, "warp-polar", "--center", "100,75", "--radius", 60, "--size", "90x360", *("--log",) * log)
        near(f"warpPolar log={log}", got, theirs)
    u, v = (x + 3 * np.sin(y / 9)).astype(np.float32), (y + 2 * np.cos(x / 11)).astype(np.float32)
    near("remap", c.filter(image, "remap", *save_map(u, v), "--border", "clamp"),
         cv2.remap(image, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
    k = np.array([[180.0, 0, 99], [0, 182, 74], [0, 0, 1]])
    for d in ([-0.3, 0.1, 0.002, -0.001], [-0.3, 0.1, 0.002, -0.001, 0.02], [0.1, 0.1, 0, 0.001, 0.02, 0.2, 0.1, 0.01]):
        theirs = cv2.undistort(image, k, np.array(d))
        for suffix in (".yml", ".json"):
            path = c.path("camera" + suffix)
            f = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
            f.write("camera_matrix", k)
            f.write("distortion_coefficients", np.array(d))
            f.release()
            got = c.filter(image, "undistort", "--camera", path)
            near(f"undistort {len(d)} {suffix}", got[4:-4, 4:-4], theirs[4:-4, 4:-4])


for picture in walk():
    test_rotate(picture)
    test_affine(picture)
    test_shift(picture)
    test_expand(picture)
    test_perspective(picture)
    test_polar(picture)
    test_undistort(picture)
    test_remap(picture)
    if picture.ndim == 2:
        test_scipy(picture)
for picture in list(walk())[:9]:
    test_nowhere(picture)
test_straighten()
test_opencv()
test_opencv_others()
c.end()
