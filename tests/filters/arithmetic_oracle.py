"""Binary arithmetic and compositing (add, subtract, multiply, divide, absdiff, blend, flat-field, composite, mask)
against numpy in double precision, OpenCV's arithmetic, and Pillow's ImageChops and alpha_composite.

Integers must be within half a step of the double plus float32's error; floats within 2^-20 of the largest.

Sources: arithmetic
"""
from _common import Checks, np, optional, random_image, read, suffix, to_type, write

cv2, Image, ImageChops = map(optional, ("cv2", "PIL.Image", "PIL.ImageChops"))

FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
c = Checks()


def split(image, full):
    """Returns three colour channels and alpha in double, with full scale 1."""
    v = image.astype(np.float64) / full
    v = v[:, :, None] if v.ndim == 2 else v
    colours = v.shape[2] - (v.shape[2] % 2 == 0)
    alpha = v[:, :, colours:] if v.shape[2] % 2 == 0 else np.ones(v.shape[:2] + (1,))
    return np.broadcast_to(v[:, :, :colours], v.shape[:2] + (3,)) if colours == 1 else v[:, :, :3], alpha


def join(colour, alpha, channels):
    parts = [colour[:, :, :1] if channels < 3 else colour] + [alpha] * (channels % 2 == 0)
    made = np.concatenate(parts, axis=2)
    return made[:, :, 0] if channels == 1 else made


def shown(colour, alpha, dtype):
    """Black where alpha is 0 as a sample of the result."""
    return np.where(to_type(alpha * FULL[dtype], dtype) > 0, colour, 0)


def agree(name, got, exact, dtype):
    full = FULL[dtype]
    want = to_type(exact * full, dtype)
    name = f"{name} {got.shape} {np.dtype(dtype).name}"
    if got.shape != want.shape:
        return c.check(name, False, f"want {want.shape}")
    if dtype == np.float32:
        return c.check(name, np.abs(got - want).max() <= 2.0**-20 * max(1, np.abs(want).max()))
    off = np.abs(got - np.clip(exact * full, 0, full)).max()
    c.check(name, off <= (0.501 if dtype == np.uint8 else 0.53), f"{off} off")


def run(image, name, *args, out=None, **named):
    """Runs the operation with images by option: with_=, flat=, dark=."""
    words = [name, c.path("a" + suffix(image)), c.path("out." + (out or suffix(image)[1:]))]
    write(words[1], image)
    for option, other in named.items():
        path = c.path(option + suffix(other))
        write(path, other)
        words += ["--" + option.strip("_"), path]
    c.run(*words, *args)
    return read(words[2])


def arithmetic(dtype, shape, other_shape, other_dtype):
    full = FULL[dtype]
    a, b = random_image(c.rng, shape, dtype), random_image(c.rng, other_shape, other_dtype)
    (ca, aa), (cb, ab) = split(a, full), split(b, FULL[other_dtype])
    channels = 1 if a.ndim == 2 else a.shape[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.nan_to_num(ca / cb, nan=0, posinf=np.inf)
    means = {"add": ca + cb, "subtract": ca - cb, "absdiff": np.abs(ca - cb), "multiply": ca * cb, "divide": quotient}
    for name, mean in means.items():
        if name == "divide" and dtype == np.float32:
            continue
        for scale, offset in ((1, 0), (0.5, 0.25)):
            got = run(a, name, "--scale", scale, "--offset", offset * full, with_=b)
            exact = mean * scale + offset
            agree(f"{name} {scale}", got, join(exact, aa, channels), dtype)
    agree("blend", run(a, "blend", "--amount", 0.3, "--alpha", with_=b),
          join(ca * 0.7 + cb * 0.3, aa * 0.7 + ab * 0.3, channels), dtype)
    agree("add a value", run(a, "add", "--value", full / 8), join(ca + 0.125, aa, channels), dtype)
    agree("multiply by numbers", run(a, "multiply", "--value", "1.5"), join(ca * 1.5, aa, channels), dtype)


def flat_field(dtype, shape):
    full = FULL[dtype]
    flat = (0.5 + 0.4 * c.rng.random(shape)) * full
    dark, a = 0.2 * c.rng.random(shape) * full, c.rng.random(shape) * full
    a, flat, dark = (to_type(v, dtype) for v in (a, flat, dark))
    f, d = flat.astype(np.float64) / full, dark.astype(np.float64) / full
    level = (f.mean((0, 1)) - d.mean((0, 1)))
    agree("flat-field", run(a, "flat-field", flat=flat, dark=dark), (a / full - d) / (f - d) * level, dtype)
    agree("flat-field, no dark", run(a, "flat-field", flat=flat), a / full / f * f.mean((0, 1)), dtype)


BLENDS = {"multiply": lambda b, s: b * s, "screen": lambda b, s: b + s - b * s, "darken": np.minimum,
          "lighten": np.maximum, "difference": lambda b, s: np.abs(b - s)}
FACTORS = {"over": lambda s, b: (1 + 0 * b, 1 - s), "under": lambda s, b: (1 - b, 1 + 0 * s), "in": lambda s, b: (b, 0 * s),
           "out": lambda s, b: (1 - b, 0 * s), "atop": lambda s, b: (b, 1 - s), "xor": lambda s, b: (1 - b, 1 - s),
           "plus": lambda s, b: (1 + 0 * b, 1 + 0 * s)}


def layers(mode, cb, ab, cs, alpha_s):
    """W3C's Compositing and Blending Level 1, in premultiplied colour."""
    if mode in BLENDS:
        cs = (1 - ab) * cs + ab * BLENDS[mode](cb, cs)
        mode = "over"
    fa, fb = FACTORS[mode](alpha_s, ab)
    alpha = np.minimum(1, alpha_s * fa + ab * fb)
    co = alpha_s * fa * cs + ab * fb * cb
    return np.where(alpha > 0, co / np.where(alpha > 0, alpha, 1), 0), alpha


def composite(dtype, shape, other_shape):
    full = FULL[dtype]
    b, s = random_image(c.rng, shape, dtype), random_image(c.rng, other_shape, dtype)
    (cb, ab), (cs, alpha_s) = split(b, full), split(s, full)
    h, w = shape[:2]
    x, y = 5, -3
    at_c, at_a = np.zeros((h, w, 3)), np.zeros((h, w, 1))
    for j in range(max(0, y), min(h, y + s.shape[0])):
        for i in range(max(0, x), min(w, x + s.shape[1])):
            at_c[j, i], at_a[j, i] = cs[j - y, i - x], alpha_s[j - y, i - x]
    colour = 3 if max(b.ndim and cb.shape[2] and (b.ndim == 3 and b.shape[2] > 2), s.ndim == 3 and s.shape[2] > 2) else 1
    for mode in [*FACTORS, *BLENDS]:
        has = (b.ndim == 3 and b.shape[2] % 2 == 0) or mode in ("in", "out", "xor")
        channels = colour + has
        got = run(b, "composite", "--mode", mode, "--at", f"{x},{y}", "--opacity", 0.75,
                  out={1: "pgm", 3: "ppm"}.get(channels, "pam"), with_=s)
        c2, a2 = layers(mode, cb, ab, at_c, at_a * 0.75)
        agree(f"composite {mode}", got, join(shown(c2, a2, dtype), a2, channels), dtype)
    tiled = np.tile(s, (h // s.shape[0] + 1, w // s.shape[1] + 1) + (1,) * (s.ndim - 2))[:h, :w]
    ct, at = split(tiled, full)
    got = run(b, "composite", "--tile", out={1: "pgm", 3: "ppm"}.get(colour + (1 - b.shape[2] % 2 if b.ndim == 3 else 0), "pam"),
              with_=s)
    c2, a2 = layers("over", cb, ab, ct, at)
    agree("composite --tile", got, join(shown(c2, a2, dtype), a2, 1 if got.ndim == 2 else got.shape[2]), dtype)


def neutral():
    """Over an opaque image, a layer whose blended colour is the image's own changes nothing, to the bit, at any opacity."""
    image = c.rng.random((40, 256), np.float32)
    full = {"multiply": 1, "screen": 0, "darken": 1, "lighten": 0, "difference": 0}
    for mode in ("over", "atop", *full):
        layer = np.full_like(image, full[mode]) if mode in full else image
        for opacity in (0.1, 0.3, 0.7):
            got = run(image, "composite", "--mode", mode, "--opacity", opacity, with_=layer)
            c.check(f"composite {mode}: a neutral layer of opacity {opacity}", np.array_equal(got, image))


def transparent(dtype, channels):
    """W3C's premultiplied colour is 0 where alpha is: pixels whose stored alpha is 0 are black, also by rounding."""
    a, b = (random_image(c.rng, (40, 256, channels), dtype) for _ in "ab")
    a[:, :, -1], b[:, :, -1] = c.rng.integers(0, 5, (40, 256)), c.rng.integers(0, 256, (40, 256))
    for mode in [*FACTORS, *BLENDS]:
        got = run(a, "composite", "--mode", mode, "--opacity", 0.2, with_=b)
        hidden = got[:, :, -1] == 0
        c.check(f"{mode} hides pixels", hidden.any())
        c.check(f"{mode}: fully transparent pixels are black", not got[hidden].any(), f"{np.dtype(dtype).name}")
    got = run(a, "mask", with_=a[:, :, -1])
    c.check("mask: fully transparent pixels are black", not got[got[:, :, -1] == 0].any())


def mask(dtype, shape):
    full = FULL[dtype]
    a, m = random_image(c.rng, shape, dtype), random_image(c.rng, shape[:2], np.uint8)
    (ca, aa), weight = split(a, full), m[:, :, None] / 255
    colours = 1 if a.ndim == 2 else a.shape[2] - (a.shape[2] % 2 == 0)
    alpha = aa * weight
    agree("mask", run(a, "mask", out="pam", with_=m), join(shown(ca, alpha, dtype), alpha, colours + 1), dtype)
    agree("mask --set --invert", run(a, "mask", "--set", "--invert", out="pam", with_=m),
          join(shown(ca, 1 - weight, dtype), 1 - weight, colours + 1), dtype)
    white = alpha + (1 - weight)
    agree("mask --fill", run(a, "mask", "--fill", "white", with_=m),
          join((alpha * ca + 1 - weight) / white, white, 1 if a.ndim == 2 else a.shape[2]), dtype)


def peers():
    a, b = random_image(c.rng, (37, 53, 3), np.uint8), random_image(c.rng, (37, 53, 3), np.uint8)
    if cv2:
        for name, want in (("add", cv2.add(a, b)), ("subtract", cv2.subtract(a, b)), ("absdiff", cv2.absdiff(a, b)),
                           ("multiply", cv2.multiply(a, b, scale=1 / 255)),
                           ("divide", np.where((b == 0) & (a > 0), 255, cv2.divide(a, b, scale=255)))):
            c.check(f"{name} is OpenCV's", np.array_equal(run(a, name, with_=b), want))
    else:
        c.skip("python3 has no cv2")
    if not Image:
        return c.skip("python3 has no PIL")
    pa, pb = Image.fromarray(a), Image.fromarray(b)
    for name, chop in (("add", ImageChops.add), ("subtract", ImageChops.subtract), ("absdiff", ImageChops.difference)):
        c.check(f"{name} is Pillow's", np.array_equal(run(a, name, with_=b), np.asarray(chop(pa, pb))))
    a, b = random_image(c.rng, (37, 53, 4), np.uint8), random_image(c.rng, (37, 53, 4), np.uint8)
    want = np.asarray(Image.alpha_composite(Image.fromarray(a), Image.fromarray(b))).astype(int)
    off = np.abs(run(a, "composite", with_=b).astype(int) - want)[want[:, :, 3] > 8]
    c.check("composite is near Pillow's alpha_composite", off.max() <= 1)


arithmetic(np.uint8, (19, 31), (19, 31), np.uint8)
arithmetic(np.uint8, (19, 31, 3), (19, 31), np.uint8)
arithmetic(np.uint8, (19, 31, 4), (19, 31, 3), np.uint16)
arithmetic(np.uint16, (19, 31, 3), (19, 31, 3), np.uint8)
arithmetic(np.uint16, (300, 7, 2), (300, 7), np.uint16)
arithmetic(np.float32, (19, 31, 3), (19, 31, 3), np.float32)
arithmetic(np.float32, (19, 31), (19, 31), np.uint16)
for dtype in FULL:
    flat_field(dtype, (23, 41))
    flat_field(dtype, (23, 41, 3))
    mask(dtype, (23, 41)) if dtype != np.float32 else None
composite(np.uint8, (29, 300, 4), (17, 40, 4))
composite(np.uint8, (29, 37), (17, 40, 4))
composite(np.uint8, (29, 37, 3), (40, 60))
composite(np.uint16, (29, 37, 3), (17, 40, 4))
composite(np.uint16, (29, 37, 2), (17, 20, 3))
transparent(np.uint8, 4)
transparent(np.uint16, 2)
neutral()
mask(np.uint8, (23, 41, 4))
mask(np.uint16, (23, 41, 3))
peers()
c.end()
