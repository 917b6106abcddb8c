"""color against numpy in double precision, scikit-image, OpenCV and Python's colorsys.

Of integers, 8 bits are equal in 99.9 % of the samples that are not ties in single precision, 16 bits in 95 %, and
none is more than 1 off; floats are within 2^-20 of the largest value, which is 128 for Lab.

Sources: color
"""
import colorsys

from _common import Checks, np, optional, random_image, to_type

cv2, skcolor = map(optional, ("cv2", "skimage.color"))

FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
WHITE = np.array([0.95047, 1, 1.08883])  # of scikit-image
WEIGHTS = {"ycbcr": (0.299, 0.114), "ycbcr709": (0.2126, 0.0722), "ycbcr2020": (0.2627, 0.0593)}
c = Checks()


def near(name, got, exact, dtype, largest=1):
    """exact: as fractions of full scale."""
    name = f"{name} {got.shape} {np.dtype(dtype).name}"
    if dtype == np.float32:
        c.check(name, np.abs(got - exact).max() <= 2.0**-20 * max(largest, np.abs(exact).max()), np.abs(got - exact).max())
        return
    off = np.abs(got.astype(np.int64) - to_type(exact * FULL[dtype], dtype).astype(np.int64))
    c.check(name, off.max() <= 1, off.max())
    sure = np.abs(exact * FULL[dtype] % 1 - 0.5) >= FULL[dtype] * 2.0**-22
    few = max(1, (0.001 if dtype == np.uint8 else 0.05) * off.size)
    c.check(name, (off[sure] > 0).sum() <= few, ((off[sure] > 0).sum(), off.size))


def linear(v):
    return np.where(v <= 0.04045, v / 12.92, (np.maximum(v, 0) + 0.055) ** 2.4 / 1.055**2.4)


def stored(v):
    size = np.abs(v)
    return np.sign(v) * np.where(size <= 0.0031308, size * 12.92, 1.055 * size ** (1 / 2.4) - 0.055)


def lab_of(rgb):
    t = linear(rgb) @ XYZ.T / WHITE
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def rgb_of(lab):
    y = (lab[..., 0] + 16) / 116
    f = np.stack([y + lab[..., 1] / 500, y, y - lab[..., 2] / 200], -1)
    t = np.where(f > 0.2068966, f**3, (f - 16 / 116) / 7.787)
    return stored(t * WHITE @ np.linalg.inv(XYZ).T)


def luv_of(rgb):
    x, y, z = np.moveaxis(linear(rgb) @ XYZ.T, -1, 0)
    total = np.where(x + 15 * y + 3 * z == 0, 1, x + 15 * y + 3 * z)
    lightness = np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)
    white = WHITE @ [1, 15, 3]
    return np.stack([lightness, 13 * lightness * (4 * x / total - 4 * WHITE[0] / white), 13 * lightness * (9 * y / total - 9 / white)], -1)


def rgb_of_luv(luv):
    l, white = luv[..., 0], WHITE @ [1, 15, 3]
    by = np.where(l == 0, 1, 13 * l)
    u, v = luv[..., 1] / by + 4 * WHITE[0] / white, luv[..., 2] / by + 9 / white
    y = np.where(l > 7.999625, ((l + 16) / 116)**3, l / 903.3)
    xyz = np.stack([y * 9 * u / (4 * v), y, y * (12 - 3 * u - 20 * v) / (4 * v)], -1)
    return stored(xyz @ np.linalg.inv(XYZ).T)


def polar(lab):
    return np.stack([lab[..., 0], np.hypot(lab[..., 1], lab[..., 2]), np.degrees(np.arctan2(lab[..., 2], lab[..., 1])) % 360], -1)


def straight(lch):
    hue = np.radians(lch[..., 2])
    return np.stack([lch[..., 0], lch[..., 1] * np.cos(hue), lch[..., 1] * np.sin(hue)], -1)


LOW = {"luv": (0, -134, -140), "lch": (0, 0, 0), "lchuv": (0, 0, 0)}
HIGH = {"luv": (100, 220, 122), "lch": (100, 255, 360), "lchuv": (100, 255, 360)}


def each(function, image):
    return np.array([function(*p) for p in image.reshape(-1, 3).tolist()]).reshape(image.shape)


def lightness(h, s, l):
    return colorsys.hls_to_rgb(h, l, s)


def held(lab, dtype):
    return lab if dtype == np.float32 else np.stack([lab[..., 0] / 100, (lab[..., 1] + 128) / 255, (lab[..., 2] + 128) / 255], -1)


def ycbcr(rgb, space, dtype, video):
    kr, kb = WEIGHTS[space]
    y = rgb @ [kr, 1 - kr - kb, kb]
    cb, cr = (rgb[..., 2] - y) / (2 * (1 - kb)), (rgb[..., 0] - y) / (2 * (1 - kr))
    unit = 256 / 65535 if dtype == np.uint16 else 1 / 255
    if video:
        return np.stack([16 + 219 * y, 128 + 224 * cb, 128 + 224 * cr], -1) * unit
    return np.stack([y, cb + (0.5 if dtype == np.float32 else 128 * unit), cr + (0.5 if dtype == np.float32 else 128 * unit)], -1)


def test_spaces(image, dtype):
    rgb = image.astype(np.float64) / FULL[dtype]
    near("linear", c.filter(image, "color", "--to", "linear"), linear(rgb), dtype)
    near("from linear", c.filter(image, "color", "--from", "linear"), stored(rgb), dtype)
    near("xyz", c.filter(image, "color", "--to", "xyz"), linear(rgb) @ XYZ.T, dtype)
    near("from xyz", c.filter(image, "color", "--from", "xyz"), stored(rgb @ np.linalg.inv(XYZ).T), dtype)
    near("lab", c.filter(image, "color", "--to", "lab"), held(lab_of(rgb), dtype), dtype, 128)
    near("hsv", c.filter(image, "color", "--to", "hsv"), each(colorsys.rgb_to_hsv, rgb), dtype)
    near("from hsv", c.filter(image, "color", "--from", "hsv"), each(colorsys.hsv_to_rgb, rgb), dtype)
    near("hsl", c.filter(image, "color", "--to", "hsl"), each(colorsys.rgb_to_hls, rgb)[..., [0, 2, 1]], dtype)
    near("from hsl", c.filter(image, "color", "--from", "hsl"), each(lightness, rgb), dtype)
    for space in WEIGHTS:
        for video in (False, True):
            more = ["--video"] if video else []
            got = c.filter(image, "color", "--to", space, *more)
            near(f"{space} {video}", got, ycbcr(rgb, space, dtype, video), dtype)
            if dtype == np.float32:
                near(f"{space} {video} and back", c.filter(got, "color", "--from", space, *more), rgb, dtype)
    if dtype == np.float32:
        lab = lab_of(rgb).astype(np.float32)
        got, exact = c.filter(lab, "color", "--from", "lab"), rgb_of(lab.astype(np.float64))
        # Dark channels of saturated colours are small differences times 12.92.
        c.check(f"from lab {lab.shape}", np.abs(got - exact).max() < 2.0**-17, np.abs(got - exact).max())
    else:
        v = image.astype(np.float64) / FULL[dtype]
        near("from lab", c.filter(image, "color", "--from", "lab"),
             rgb_of(np.stack([v[..., 0] * 100, v[..., 1] * 255 - 128, v[..., 2] * 255 - 128], -1)), dtype)
        near("hsv to lab", c.filter(image, "color", "--from", "hsv", "--to", "lab"), held(lab_of(each(colorsys.hsv_to_rgb, rgb)), dtype), dtype)


def test_luv(image, dtype):
    """Luv, and LCh of Lab and of Luv. The hue of colours near gray, an angle of rounding errors, is left out."""
    rgb = image.astype(np.float64) / FULL[dtype]
    for space, exact, back in (("luv", luv_of(rgb), rgb_of_luv), ("lch", polar(lab_of(rgb)), lambda v: rgb_of(straight(v))),
                               ("lchuv", polar(luv_of(rgb)), lambda v: rgb_of_luv(straight(v)))):
        low, high = np.array(LOW[space]), np.array(HIGH[space])
        got = c.filter(image, "color", "--to", space)
        gray = (exact[..., 1] < 25) | (exact[..., 2] % 360 < 0.1) if space != "luv" else np.zeros(exact.shape[:2], bool)
        want = exact.copy() if dtype == np.float32 else (exact - low) / (high - low)
        got = np.where(gray[..., None] & (np.arange(3) == 2), 0, got)
        want[gray, 2] = 0
        near(space, got, want, dtype, 360)
        if dtype == np.float32:
            got, want = c.filter(exact.astype(np.float32), "color", "--from", space), rgb
            c.check(f"from {space} {image.shape}", np.abs(got - want).max() < 2.0**-14, np.abs(got - want).max())
        else:
            want = back(rgb * (high - low) + low)
            got = c.filter(image, "color", "--from", space)
            known = (image[..., 0] > 0) & (np.abs(want) < 1.5).all(-1)  # a colour, or almost
            if known.any():
                near(f"from {space}", got[known][None], want[known][None], dtype)
        there = c.filter(image, "color", "--from", space, "--saturation", 1.5, "--to", space)  # as many steps as there can be
        c.check(f"{space} to {space}", there.shape == image.shape)


def affine(image, dtype, matrix, offset=0):
    return image.astype(np.float64) / FULL[dtype] @ np.asarray(matrix).T + offset


def css_hue(degrees):
    s, co = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    return (np.array([[.213, .715, .072]] * 3) + co * np.array([[.787, -.715, -.072], [-.213, .285, -.072], [-.213, -.715, .928]])
            + s * np.array([[-.213, -.715, .928], [.143, .140, -.283], [-.787, .715, .072]]))


def test_matrices(image, dtype):
    m, o = c.rng.normal(0, 0.5, (3, 3)), c.rng.normal(0, 0.2, 3)
    text = "; ".join(" ".join(map(repr, row.tolist())) for row in m)
    near("matrix", c.filter(image, "color", "--matrix", text), affine(image, dtype, m), dtype)
    path = c.path("matrix.txt")
    np.savetxt(path, np.column_stack([m, o]))
    near("matrix, offset, of a file", c.filter(image, "color", "--matrix", path), affine(image, dtype, m, o), dtype)
    sepia = [[.393, .769, .189], [.349, .686, .168], [.272, .534, .131]]
    near("sepia", c.filter(image, "color", "--sepia"), affine(image, dtype, sepia), dtype)
    for s in (0, 0.5, 1.7):
        grays = np.array([[.213, .715, .072]] * 3)
        near(f"saturation {s}", c.filter(image, "color", "--saturation", s), affine(image, dtype, grays + s * (np.eye(3) - grays)), dtype)
    for h in (-77, 180, 30):
        near(f"hue {h}", c.filter(image, "color", "--hue", h), affine(image, dtype, css_hue(h)), dtype)
    near("both", c.filter(image, "color", "--hue", 30, "--sepia"), affine(image, dtype, np.array(sepia) @ css_hue(30)), dtype)


def test_balance(image, dtype):
    h, w = image.shape[:2]
    for name, part in (("gray", image), (f"{w - 1},{h // 2}", image[h // 2, w - 1]), (f"{w // 2 + 1}x{h // 3 + 1}+{w // 4}+{h // 2}", image[h // 2:h // 2 + h // 3 + 1, w // 4:w // 4 + w // 2 + 1])):
        mean = part.reshape(-1, 3).astype(np.float64).mean(axis=0)
        gains = np.where(mean > 0, mean.mean() / np.where(mean > 0, mean, 1), 1)
        near(f"balance {name}", c.filter(image, "color", "--balance", name), affine(image, dtype, np.diag(gains)), dtype)


def test_alpha():
    for dtype in (np.uint8, np.uint16):
        image = random_image(c.rng, (23, 31, 4), dtype)
        got = c.filter(image, "color", "--saturation", 0.3)
        c.check("alpha stays", np.array_equal(got[..., 3], image[..., 3]))
        near("colour beside alpha", got[..., :3], c.filter(image[..., :3].copy(), "color", "--saturation", 0.3) / FULL[dtype], dtype)
        got = c.filter(image, "color", "--to", "lab")
        c.check("alpha stays", np.array_equal(got[..., 3], image[..., 3]))
        m = c.rng.normal(0, 0.5, (4, 5))
        text = "; ".join(" ".join(map(repr, row.tolist())) for row in m)
        near("4 x 5", c.filter(image, "color", "--matrix", text), affine(image, dtype, m[:, :4], m[:, 4]), dtype)
        opaque = image.copy()
        opaque[..., 3] = FULL[dtype]
        near("4 x 5, without alpha", c.filter(image[..., :3].copy(), "color", "--matrix", text),
             affine(opaque, dtype, m[:3, :4], m[:3, 4]), dtype)
        mean = image[image[..., 3] > 0][:, :3].astype(np.float64).mean(axis=0)
        near("gray world of visible pixels", c.filter(image, "color", "--balance", "gray")[..., :3],
             affine(image[..., :3], dtype, np.diag(mean.mean() / mean)), dtype)


def test_gray():
    gray = random_image(c.rng, (9, 13), np.uint8)
    from _common import read, write
    write(c.path("g.pgm"), gray)
    c.run("color", c.path("g.pgm"), c.path("g.ppm"), "--sepia")
    three = np.repeat(gray[:, :, None], 3, axis=2)
    c.check("gray", np.array_equal(read(c.path("g.ppm")), c.filter(three, "color", "--sepia")))


def test_white():
    """scikit-image's xyz2lab() of its white and of a dark colour; computed with version 0.26."""
    xyz = np.array([[[0.9505, 1, 1.089], [0.004, 0.005, 0.002], [0.95047, 1, 1.08883]]], np.float32)
    want = np.array([[[100, 5.26049996e-3, -1.04081845e-2], [4.51646000, -3.08192234, 4.92631468], [100, 0, 0]]])
    got = c.filter(xyz, "color", "--from", "xyz", "--to", "lab")
    c.check("xyz2lab", np.abs(got - want).max() < 1e-4, got.tolist())


def test_names():
    """All colour names of CSS, in the table of Pillow."""
    names = optional("PIL.ImageColor")
    if not names:
        return c.skip("python3 has no PIL")
    image, bad = np.zeros((1, 1, 4), np.uint8), []
    for name, text in [*names.colormap.items(), ("GoldenRod", "#daa520"), ("transparent", "#00000000")]:
        got = c.filter(image, "pad", "--size", "2x1", "--gravity", "west", "--background", name)[0, 1]
        want = bytes.fromhex(text[1:]) if len(text) == 9 else bytes.fromhex(text[1:]) + b"\xff"
        bad += [] if got.tobytes() == want else [name]
    c.check("colour names", not bad and len(names.colormap) >= 148, bad)


def test_peers():
    image = random_image(c.rng, (50, 40, 3), np.float32)
    if skcolor:
        for space, peer in (("xyz", skcolor.rgb2xyz), ("lab", skcolor.rgb2lab), ("hsv", skcolor.rgb2hsv), ("luv", skcolor.rgb2luv)):
            off = np.abs(c.filter(image, "color", "--to", space) - peer(image.astype(np.float64))).max()
            c.check(f"scikit-image {space}", off < {"lab": 1e-4, "luv": 2e-4}.get(space, 1e-5), off)
        lab = skcolor.rgb2lab(image.astype(np.float64))
        for space, there in (("lch", lab), ("lchuv", skcolor.rgb2luv(image.astype(np.float64)))):
            peer = skcolor.lab2lch(there) * (1, 1, 180 / np.pi)  # radians
            off = np.abs(c.filter(image, "color", "--to", space) - peer)
            off[..., 2] = np.minimum(off[..., 2], 360 - off[..., 2]) * peer[..., 1] * np.pi / 180
            c.check(f"scikit-image {space}", off.max() < 2e-4, off.max())
    else:
        c.skip("python3 has no skimage")
    if not cv2:
        c.skip("python3 has no cv2")
        return
    for space, code, scale in (("xyz", cv2.COLOR_RGB2XYZ, 1), ("hsv", cv2.COLOR_RGB2HSV, (360, 1, 1)), ("ycbcr", cv2.COLOR_RGB2YCrCb, 1)):
        peer = cv2.cvtColor(image, code) / scale
        got = c.filter(image, "color", "--to", space)
        if space == "xyz":  # from linear light, in OpenCV's eyes
            got = c.filter(image, "color", "--from", "linear", "--to", "xyz")
        if space == "ycbcr":
            got = got[..., [0, 2, 1]]
        c.check(f"OpenCV {space}", np.abs(got - peer).max() < 2e-3, np.abs(got - peer).max())  # YCbCr of rounded factors
    peer = cv2.cvtColor(image, cv2.COLOR_RGB2Lab)
    off = np.abs(c.filter(image, "color", "--to", "lab") - peer).max()
    c.check("OpenCV lab", off < 0.6, off)  # of a spline
    off = np.abs(c.filter(image, "color", "--to", "luv") - cv2.cvtColor(image, cv2.COLOR_RGB2Luv)).max()
    c.check("OpenCV luv", off < 0.03, off)
    image = random_image(c.rng, (50, 40, 3), np.uint8)
    luv = cv2.cvtColor(image, cv2.COLOR_RGB2Luv)
    off = np.abs(c.filter(image, "color", "--to", "luv").astype(int) - luv).max()
    c.check("OpenCV luv, 8 bits", off <= 1, off)
    off = np.abs(c.filter(luv, "color", "--from", "luv").astype(int) - cv2.cvtColor(luv, cv2.COLOR_Luv2RGB)).max()
    c.check("OpenCV from luv, 8 bits", off <= 2, off)


def test_odd():
    image = np.array([[[-0.5, 2, 0.25], [1e-30, -1e-3, 40], [np.inf, 0.5, 0.25]]], np.float32)
    got = c.filter(image, "color", "--to", "linear")
    v = np.abs(image.astype(np.float64))
    exact = np.sign(image) * np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    with np.errstate(invalid="ignore"):
        c.check("linear of any float", np.array_equal(np.isinf(got), np.isinf(exact)) and (np.nan_to_num(np.abs(got / exact - 1)) < 2.0**-20).all(), got)
    back = c.filter(got, "color", "--from", "linear")
    with np.errstate(invalid="ignore"):
        c.check("and back", (np.nan_to_num(np.abs(back / image - 1)) < 2.0**-19).all(), back)


def components(image, counted, dtype):
    """The principal components of the pixels that count, as fractions of full scale."""
    v = image[..., :3].astype(np.float64) / FULL[dtype]
    colours = v[counted]
    values, vectors = np.linalg.eigh(np.cov(colours.T, bias=True))
    m = vectors[:, np.argsort(-values)].T
    m *= np.sign(m[range(3), np.abs(m).argmax(1)])[:, None]
    if dtype == np.float32:
        return (v - colours.mean(0)) @ m.T
    low, high = np.minimum(m, 0).sum(1), np.maximum(m, 0).sum(1)
    return (v @ m.T - low) / (high - low)


def test_pca(dtype, shape):
    mixed = c.rng.random(shape[:2] + (3,)) * (1, 0.3, 0.1) @ c.rng.normal(size=(3, 3))
    mixed = (mixed - mixed.min()) / (mixed.max() - mixed.min())
    image = to_type(mixed * FULL[dtype], dtype)
    counted = np.ones(shape[:2], bool)
    near("pca", c.filter(image, "color", "--pca"), components(image, counted, dtype), dtype)
    if dtype == np.float32:
        image = image * 1000 - 300  # and a pixel that does not count
        image[3, 4, 1], counted[3, 4] = np.nan, False
        exact, got = components(image, counted, dtype), c.filter(image, "color", "--pca")
        near("pca of any float", got[counted], exact[counted], dtype)
    else:
        counted = c.rng.random(shape[:2]) < 0.5
        alpha = np.where(counted, FULL[dtype] // 2, 0).astype(dtype)
        got = c.filter(np.dstack([image, alpha]), "color", "--pca")
        near("pca of visible pixels", got[..., :3], components(image, counted, dtype), dtype)
        c.check("pca: alpha", np.array_equal(got[..., 3], alpha))
    flat = np.full((3, 4, 3), FULL[dtype] / 5).astype(dtype)
    exact = flat.astype(np.float64) / FULL[dtype] * (dtype != np.float32)
    near("pca of one colour", c.filter(flat, "color", "--pca"), exact, dtype)


for dtype in FULL:
    for shape in ((1, 1, 3), (37, 53, 3), (5, 701, 3)):
        image = random_image(c.rng, shape, dtype)
        test_spaces(image, dtype)
        test_luv(image, dtype)
        test_matrices(image, dtype)
        test_balance(image, dtype)
    ends = np.array([[[r, g, b] for b in (0, 1) for g in (0, 1) for r in (0, 1)]]) * FULL[dtype]
    test_spaces(ends.astype(dtype), dtype)
    test_luv(ends.astype(dtype), dtype)
test_alpha()
test_gray()
test_white()
test_names()
test_peers()
test_odd()
for dtype in FULL:
    test_pca(dtype, (37, 53))
    test_pca(dtype, (5, 701))
c.end()
