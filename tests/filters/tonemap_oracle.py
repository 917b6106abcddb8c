"""tonemap against numpy in double precision, by the formulas as they are published, and colour-hdri's filmic operator.

Sources: filters/tone/tonemap.c filters/arithmetic/formula.c
"""
from _common import Checks, colours, np, optional, read, to_type, write

colour_hdri = optional("colour_hdri")
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
LUMA = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709
c = Checks()


def decode(v):
    """IEC 61966-2-1."""
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def encode(v):
    return np.where(v <= 0.0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - 0.055)


def uncharted(x):
    """J. Hable, "Filmic tonemapping operators", 2010."""
    A, B, C, D, E, F = 0.15, 0.50, 0.10, 0.20, 0.02, 0.30
    return ((x * (A * x + C * B) + D * E) / (x * (A * x + B) + D * F)) - E / F


def tonemapped(v, method, white):
    """`v`: (h, w, 1 or 3), linear light after the exposure."""
    if method == "hable":
        return uncharted(2 * v) / uncharted(white or 11.2)
    if method == "aces":  # K. Narkowicz, 2015
        a, b, d, e, f = 2.51, 0.03, 2.43, 0.59, 0.14
        return v * (a * v + b) / (v * (d * v + e) + f)
    world = (v @ LUMA if v.shape[2] == 3 else v[:, :, 0])[:, :, None]  # Reinhard et al., 2002, equations 3 and 4
    display = world * (1 + world / white**2) / (1 + world) if white else world / (1 + world)
    return v * (display / np.where(world > 0, world, 1))


def tonemap(image, method, exposure=0, white=None, curve="srgb"):
    n = colours(image) if image.ndim == 3 else 1
    planes = image.astype(np.float64).reshape(*image.shape[:2], -1) / FULL[image.dtype.type]
    v = np.maximum(planes[:, :, :n] if image.dtype == np.float32 else decode(planes[:, :, :n]), 0) * 2.0**exposure
    t = np.clip(tonemapped(v, method, white), 0, 1)
    return np.concatenate([encode(t) if curve == "srgb" else t, planes[:, :, n:]], 2).reshape(image.shape)


def run(image, *args, depth=None):
    """Returns the result in the type of --depth, which is 8 bits by default."""
    write(c.path("in.npy"), image)
    c.run("tonemap", c.path("in.npy"), c.path("out.npy"), *args, *(["--depth", depth] if depth else []))
    return read(c.path("out.npy")).reshape(image.shape)


def agree(name, got, exact, dtype):
    if got.dtype != dtype:
        return c.check(name, False, f"{got.dtype}, want {dtype}")
    if dtype == np.float32:
        worst = np.abs(got - exact).max()
        return c.check(name, worst <= 2e-6, worst)
    scaled = exact * FULL[dtype]
    off = np.abs(got.astype(int) - to_type(scaled, dtype).astype(int))
    near = np.abs(scaled % 1 - 0.5) < FULL[dtype] * 2e-6  # the result may be on the other side of a tie
    return c.check(name, (off <= near).all(), f"off by {off.max()}")


CASES = [("reinhard", {}), ("reinhard", {"exposure": 2.5, "white": 3}), ("reinhard", {"exposure": -3}), ("hable", {}),
         ("hable", {"exposure": 1, "white": 5.5}), ("aces", {}), ("aces", {"exposure": -1.5, "curve": "linear"}),
         ("hable", {"exposure": 2, "curve": "linear"}), ("reinhard", {"white": 0.7, "curve": "linear"})]
DEPTHS = {"8": np.uint8, "16": np.uint16, "float": np.float32}
for dtype in FULL:
    for shape in ((1, 1), (23, 37), (31, 29, 3), (17, 41, 4), (19, 13, 2)):
        image = c.rng.random(shape) ** 3
        if dtype == np.float32:
            image = np.float32(image * 60 - 0.1)
            if image.ndim == 3 and shape[2] % 2 == 0:
                image[:, :, -1] = c.rng.random(shape[:2])
        else:
            image = np.rint(image * FULL[dtype]).astype(dtype)
        for i, (method, more) in enumerate(CASES):
            args = ["--method", method] + [f"--{k}={v}" for k, v in more.items()]
            exact = tonemap(image, method, **more)
            depth = list(DEPTHS)[(i + image.ndim) % 3]
            agree(f"{args} {dtype.__name__} {shape} to {depth}", run(image, *args, depth=depth), exact, DEPTHS[depth])
    agree(f"8 bits by default, {dtype.__name__}", run(image), tonemap(image, "reinhard"), np.uint8)
    agree(f"linear floats, {dtype.__name__}", run(image, "--curve=linear"), tonemap(image, "reinhard", curve="linear"), np.float32)

odd = np.float32([[0, -2, np.nan, np.inf, -np.inf, 1e38, 3e-42]])
for method in ("reinhard", "hable", "aces"):
    got = run(odd, "--method", method, depth="float")
    c.check(f"{method}: infinity is white", (got[0, [3, 5]] >= 1 - 1e-6).all() and (got[0, [0, 1, 4]] == 0).all(), got)
    c.check(f"{method}: NaN stays", np.array_equal(np.isnan(got[0]), np.isnan(odd[0])), got)
    c.check(f"{method}: NaN is black in 8 bits", np.array_equal(run(odd, "--method", method)[0], [0, 0, 0, 255, 0, 255, 0]))
if colour_hdri:
    image = np.float32(c.rng.random((40, 50, 3)) ** 2 * 8)
    theirs = colour_hdri.tonemapping_operator_filmic(image.astype(np.float64), 0.15, 0.5, 0.1, 0.2, 0.02, 0.3, 2, 11.2)
    agree("colour-hdri's filmic operator", run(image, "--method=hable", "--curve=linear"), np.clip(theirs, 0, 1), np.float32)
else:
    c.skip("python3 has no colour_hdri")
c.end()
