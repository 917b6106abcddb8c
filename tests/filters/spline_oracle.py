"""--interpolation bspline of every operation that has it, against scipy.ndimage with order 3 and its prefilter: types, channels,
border modes, sizes from 1 x 1 on, alpha, maps without a position, and samples that are not finite.

Sources: filters/geometry/spline.c filters/geometry/transform.c
"""
import json

from _common import Checks, need, np, random_image
from _remap import BORDERS, agree, grid

(ndimage,) = need("scipy.ndimage")
SCIPY = {"clamp": "nearest", "border": "grid-constant", "wrap": "grid-wrap", "mirror": "reflect",
         "reflect101": "mirror"}
SIZES = [(1, 1), (1, 17), (17, 1), (2, 3), (31, 33), (67, 5), (97, 130)]
c = Checks()


def spline(image, x, y, border="border", value=0, weigh=True):
    """Interpolates in double precision; colours are weighted by alpha if there is any."""
    image = image.astype(np.float64).reshape(*image.shape[:2], -1)
    h, w, channels = image.shape
    if border == "mirror" and min(h, w) < 9:  # scipy's filter is off by 1e-4 in reflected rows of 2 pixels: repeat them
        image, x, y = np.pad(image, ((8 * h, 8 * h), (8 * w, 8 * w), (0, 0)), "symmetric"), x + 8 * w, y + 8 * h
    alpha = channels % 2 == 0 and weigh
    pixel = np.full(channels, value, np.float64)
    if alpha:
        image[..., :-1] *= image[..., -1:]
        pixel[:-1] *= pixel[-1]
    made = np.stack([ndimage.map_coordinates(image[..., k], [y, x], order=3, mode=SCIPY[border], cval=pixel[k], prefilter=True)
                     for k in range(channels)], -1)
    if alpha:
        solid = made[..., -1:] > 0
        made[..., :-1] = np.where(solid, made[..., :-1] / np.where(solid, made[..., -1:], 1), 0)
        made[..., -1:] = np.where(solid, made[..., -1:], 0)
    return made


def images():
    """Gray, RGB, gray with alpha and RGBA of every type in turn. Alpha is at least a half, so that quotients are exact enough."""
    for i, dtype in enumerate((np.uint8, np.uint16, np.float32)):
        for j, size in enumerate(SIZES):
            channels = (1, 3, 2, 4)[(i + j) % 4]
            image = random_image(c.rng, size if channels == 1 else (*size, channels), dtype)
            if channels % 2 == 0:
                full = 1 if dtype == np.float32 else np.iinfo(dtype).max
                image[..., -1] = (full * c.rng.uniform(0.5, 1, size)).astype(dtype)
            yield image


def check(name, image, args, x, y, border, value=0, exact=None):
    got = c.filter(image, *args, "--interpolation", "bspline", "--border", border, "--border-value", value)
    exact = spline(image, x, y, border, value) if exact is None else exact
    got, name = got.reshape(exact.shape), f"{name} {border} {image.shape} {image.dtype}"
    if image.ndim == 2 or image.shape[2] % 2:
        same(name, got, exact, image.dtype)
        return
    same(f"{name}: alpha", got[..., -1:], exact[..., -1:], image.dtype)
    solid = exact[..., -1] > (0.1 if image.dtype == np.float32 else 0.1 * np.iinfo(image.dtype).max)
    same(f"{name}: colours", got[solid][:, None], exact[solid][:, None], image.dtype, 2.0**-16)  # quotients of two rounded sums
    clear = exact[..., -1] < (1e-6 if image.dtype == np.float32 else 1e-6 * np.iinfo(image.dtype).max)
    c.check(f"{name}: colours of transparent pixels", (got[clear][..., :-1] == 0).all())


def same(name, got, exact, dtype, close=2.0**-20):
    if dtype != np.float32:
        agree(c, name, got, exact, dtype)
    elif got.size:
        worst = np.abs(got - exact).max()
        c.check(name, worst <= close * max(1, np.abs(exact).max()), f"off by {worst}")


def value_of(image):
    return 0.75 if image.dtype == np.float32 else int(0.75 * np.iinfo(image.dtype).max)


def test_places(image):
    """rotate, shift, affine and perspective, partly far outside the image."""
    h, w = image.shape[:2]
    x, y = grid(w, h)
    for i, border in enumerate(BORDERS):
        angle = float(c.rng.uniform(-200, 200))
        co, si = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        cx, cy = (w - 1) / 2, (h - 1) / 2
        check(f"rotate {angle}", image, ("rotate", "--angle", angle), cx + co * (x - cx) - si * (y - cy),
              cy + si * (x - cx) + co * (y - cy), border, value_of(image))
        dx, dy = ((0.5, 0.25), (-1.75, 30.125), (9.37, -0.113), (-14.5, 3.3), (2000.5, -0.5))[i]
        check(f"shift {dx},{dy}", image, ("shift", "--offset", f"{dx},{dy}"), x - dx, y - dy, border, value_of(image))
        m = c.rng.uniform(-2, 2, (2, 3)) * [1, 1, 20]
        u, v = grid(40, 30)
        text = "; ".join(" ".join(repr(float(n)) for n in row) for row in m)
        check("affine", image, ("affine", "--inverse", "--matrix", text, "--size", "40x30"),
              m[0, 0] * u + m[0, 1] * v + m[0, 2], m[1, 0] * u + m[1, 1] * v + m[1, 2], border, value_of(image))
        m = np.eye(3) + c.rng.uniform(-1, 1, (3, 3)) * [[0.3, 0.3, 9], [0.3, 0.3, 9], [0.005, 0.005, 0]]
        text = "; ".join(" ".join(repr(float(n)) for n in row) for row in m)
        a, b, s = (row[0] * u + row[1] * v + row[2] for row in m)
        check("perspective", image, ("perspective", "--inverse", "--matrix", text, "--size", "40x30"), a / s, b / s, border)


def test_maps(image):
    """remap, relative and absolute, also without a position; undistort; warp-polar in both directions."""
    h, w = image.shape[:2]
    for i, border in enumerate(BORDERS):
        mw, mh = (int(n) for n in c.rng.integers(1, 50, 2))
        x, y = grid(mw, mh)
        u, v = (c.rng.uniform(-30, n + 30, (mh, mw)).astype(np.float32) for n in (w, h))
        u[0, 0], v[-1, -1] = np.nan, np.nan
        np.save(c.path("map.npy"), np.stack([u, v], -1))
        at = (x + u, y + v) if i % 2 else (u.astype(float), v.astype(float))
        none = np.isnan(u) | np.isnan(v)
        value = value_of(image)
        exact = spline(image, *(np.where(none, 0, n) for n in at), border, value)
        exact[none] = value
        check("remap", image, ("remap", "--map", c.path("map.npy")) + ("--relative",) * (i % 2), None, None, border, value, exact)
        log, radius = bool(i % 2), 22.5
        x, y = grid(50, 64)
        r = radius ** (x / 50) - 1 if log else x * radius / 50
        a = 2 * np.pi * y / 64
        check("warp-polar", image, ("warp-polar", "--center", "11,9.37", "--radius", radius, "--size", "50x64") + ("--log",) * log,
              11 + r * np.cos(a), 9.37 + r * np.sin(a), border)
        dx, dy = x - 20, y - 30.5
        r, a = np.hypot(dx, dy), np.arctan2(dy, dx) % (2 * np.pi)
        u = np.log(r + 1) * w / np.log(radius) if log else r * w / radius
        tall = image[np.arange(-40, h + 40) % h]  # the last row is followed by the first
        check("warp-polar --inverse", image,
              ("warp-polar", "--inverse", "--center", "20,30.5", "--radius", radius, "--size", "50x64") + ("--log",) * log,
              None, None, border, 0, spline(tall, u, a * h / (2 * np.pi) + 40, border))
    x, y = grid(w, h)
    k1, k2 = c.rng.uniform(-0.2, 0.2, 2)
    u, v = (x - 15.5) / 40, (y - 17.25) / 42
    k = 1 + k1 * (u * u + v * v) + k2 * (u * u + v * v)**2
    text = json.dumps({"camera_matrix": [[40.0, 0, 15.5], [0, 42, 17.25], [0, 0, 1]], "distortion_coefficients": [k1, k2, 0, 0]})
    check("undistort", image, ("undistort", "--camera", text), u * k * 40 + 15.5, v * k * 42 + 17.25, "mirror")


def test_functions():
    """scipy's own functions of these operations."""
    image = random_image(c.rng, (60, 80), np.float32)
    real = image.astype(np.float64)
    for border, mode in SCIPY.items():
        args = "--border", border, "-i", "bspline"
        agree(c, f"scipy's shift {mode}", c.filter(image, "shift", "--offset", "3.25,-1.5", *args),
              ndimage.shift(real, (-1.5, 3.25), order=3, mode=mode), np.float32)
        agree(c, f"scipy's rotate {mode}", c.filter(image, "rotate", "--angle", 25, *args),
              ndimage.rotate(real, 25, reshape=False, order=3, mode=mode), np.float32)
        agree(c, f"scipy's affine_transform {mode}",
              c.filter(image, "affine", "--inverse", "--matrix", "0.9 0.2 3; -0.1 1.1 2", *args),
              ndimage.affine_transform(real, [[1.1, -0.1], [0.2, 0.9]], (2, 3), order=3, mode=mode), np.float32)
    inside = np.s_[14:-14, 14:-14]  # scipy's other modes end the image in another way, and agree far inside it
    for mode in "constant", "wrap":
        got = c.filter(image, "shift", "--offset", "0.25,-0.5", "-i", "bspline")
        agree(c, f"scipy's shift {mode}, inside", got[inside], ndimage.shift(real, (-0.5, 0.25), order=3, mode=mode)[inside], np.float32)


def test_samples():
    """The spline passes through the samples, keeps constants, and moves whole pixels unchanged."""
    for dtype in np.uint8, np.uint16, np.float32:
        image = random_image(c.rng, (40, 50), dtype)
        x, y = grid(50, 40)
        np.save(c.path("map.npy"), np.stack([x, y], -1).astype(np.float32))
        for border in BORDERS:
            got = c.filter(image, "remap", "--map", c.path("map.npy"), "-i", "bspline", "--border", border)
            agree(c, f"at the samples {border}", got, image.astype(np.float64), dtype)
            got = c.filter(image, "shift", "--offset", "3,-2", "-i", "bspline", "--border", border)
            near = c.filter(image, "shift", "--offset", "3,-2", "-i", "nearest", "--border", border)
            c.check(f"whole pixels {border} {dtype.__name__}", np.array_equal(got, near))
        flat = np.full((40, 50), 0.7 * (1 if dtype == np.float32 else np.iinfo(dtype).max), dtype)
        got = c.filter(flat, "rotate", "--angle", 33, "-i", "bspline", "--border", "mirror")
        agree(c, f"a constant {dtype.__name__}", got, flat.astype(np.float64), dtype)


def test_not_finite():
    """A NaN or an infinity reaches the pixels up to 17 away along each axis, and no others."""
    image = random_image(c.rng, (80, 90), np.float32)
    clean = c.filter(image, "shift", "--offset", "0.5,0.25", "-i", "bspline", "--border", "mirror")
    for odd in np.nan, np.inf:
        image[40, 45] = odd
        got = c.filter(image, "shift", "--offset", "0.5,0.25", "-i", "bspline", "--border", "mirror")
        y, x = np.nonzero(~np.isfinite(got))
        c.check(f"{odd}: its pixel", not np.isfinite(got[40, 45]))
        c.check(f"{odd}: distance", max(np.abs(y - 40).max(), np.abs(x - 45).max()) <= 17, f"{y.min()} {y.max()} {x.min()} {x.max()}")
        c.check(f"{odd}: others", np.array_equal(got[:20], clean[:20]) and np.array_equal(got[:, 70:], clean[:, 70:]))


def test_alpha_as_data():
    for dtype in np.uint8, np.float32:
        image = random_image(c.rng, (31, 23, 4), dtype)
        x, y = grid(23, 31)
        got = c.filter(image, "shift", "--offset", "1.5,0.25", "-i", "bspline", "--border", "wrap", "--alpha", "straight")
        agree(c, f"alpha as data {dtype.__name__}", got, spline(image, x - 1.5, y - 0.25, "wrap", weigh=False), dtype)


for picture in images():
    test_places(picture)
    test_maps(picture)
test_functions()
test_samples()
test_not_finite()
test_alpha_as_data()
c.end()
