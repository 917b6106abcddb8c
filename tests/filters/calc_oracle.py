"""calc against numpy: random expressions step by step in float32, bit by bit; its functions against double precision, within
0.51 ulp; channels, positions, neighbours, depths and alpha; whole expressions against numexpr and ImageMagick's -fx.

Sources: filters/arithmetic/calc* kernels/calc.h kernels/elementary.h kernels/cpu/arithmetic/calc.c
"""
import shutil
import subprocess

from _common import Checks, np, optional, random_image, read, suffix, write

numexpr = optional("numexpr")
c = Checks()
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
F = np.float32
np.seterr(all="ignore")


def calc(text, image, *args, out=None, **others):
    """Returns the result of the expression, whose further images have the names of the arguments."""
    source, result = c.path("a" + suffix(image)), c.path("out" + (out or ".npy"))
    write(source, image)
    words = []
    for name, other in others.items():
        path = c.path(f"{name}{suffix(other)}")
        write(path, other)
        words += ["--with", f"{name}={path}"]
    c.run("calc", text, source, result, *words, *args)
    return read(result)


def stored(v, dtype):
    """Stores float32 values as samples: of 8 bits after a rounding to 2^-12, which settles ties of decimals."""
    if dtype == np.float32:
        return v
    v = (v + F(3072)) - F(3072) if dtype == np.uint8 else v
    return np.nan_to_num(np.clip(np.rint(v), 0, FULL[dtype]), nan=0).astype(dtype)


def same(name, got, want):
    ok = got.shape == want.shape and got.dtype == want.dtype and np.array_equal(got, want, equal_nan=got.dtype == np.float32)
    c.check(name, ok, "" if ok else f"{got.shape} {got.dtype}, want {want.shape} {want.dtype}: {np.argwhere(got != want)[:3].tolist() if got.shape == want.shape else ''}")


# ---- random expressions ----

def truth(v):
    return v != 0


BINARY = {
    "+": (5, lambda a, b: a + b), "-": (5, lambda a, b: a - b), "*": (6, lambda a, b: a * b), "/": (6, lambda a, b: a / b),
    "<": (4, lambda a, b: F(a < b)), "<=": (4, lambda a, b: F(a <= b)), ">": (4, lambda a, b: F(a > b)),
    ">=": (4, lambda a, b: F(a >= b)), "==": (3, lambda a, b: F(a == b)), "!=": (3, lambda a, b: F(a != b)),
    "&&": (2, lambda a, b: F(truth(a) & truth(b))), "||": (1, lambda a, b: F(truth(a) | truth(b)))}
CALLS = {"abs": np.abs, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "sqrt": np.sqrt, "sign": np.sign,
         "isnan": lambda a: F(np.isnan(a)), "min": np.minimum, "max": np.maximum, "hypot": lambda a, b: F(np.hypot(a.astype("f8"), b.astype("f8")))}
TWO = {"min", "max", "hypot"}


def draw(names, depth):
    """Returns a random expression as text, its level (10: needs no parentheses), and its value."""
    pick = c.rng.integers(0, 8 if depth else 2)
    if pick == 0:
        number = [0, 1, 2, 0.5, 3.25, 1e-3, 200, 77.7][c.rng.integers(0, 8)]
        return repr(number), 10, np.full_like(names["a"], number)
    if pick == 1:
        name = list(names)[c.rng.integers(0, len(names))]
        return name, 10, names[name]
    if pick == 2:
        sign = "-!"[c.rng.integers(0, 2)]
        text, level, v = draw(names, depth - 1)
        return sign + (text if level > 6 else f"({text})"), 7, -v if sign == "-" else F(v == 0)
    if pick == 3:
        name = list(CALLS)[c.rng.integers(0, len(CALLS))]
        parts = [draw(names, depth - 1) for _ in range(1 + (name in TWO))]
        return f"{name}({', '.join(p[0] for p in parts)})", 10, CALLS[name](*(p[2] for p in parts))
    if pick == 4:
        (p, _, x), (q, _, y), (r, _, z) = (draw(names, depth - 1) for _ in range(3))
        return f"({p} ? {q} : {r})", 10, np.where(truth(x), y, z)
    operator = list(BINARY)[c.rng.integers(0, len(BINARY))]
    level, of = BINARY[operator]
    (p, left, x), (q, right, y) = draw(names, depth - 1), draw(names, depth - 1)
    return f"{p if left >= level else f'({p})'} {operator} {q if right > level else f'({q})'}", level, of(x, y)


def scaled(image, dtype):
    """Samples in the units of `dtype`, rounded once."""
    own, wanted = FULL[image.dtype.type], FULL[dtype]
    v = image.astype(F)
    return v / F(own // wanted) if own > wanted else v * F(wanted // own)


TYPES = (np.uint8, np.uint16, np.float32)
for i in range(60):
    shape = (int(c.rng.integers(1, 8)), int(c.rng.integers(1, 700)))
    types = [TYPES[c.rng.integers(0, 3)] for _ in range(3)]
    images = {name: random_image(c.rng, shape, t) for name, t in zip("abq", types)}
    names = {name: scaled(image, types[0]) for name, image in images.items()}
    names["x"], names["y"] = (F(v) for v in np.meshgrid(np.arange(shape[1]), np.arange(shape[0])))
    text, _, want = draw(names, 6)
    same(f"{text} {shape} {types}", calc(f"({text}) + a * 0", images["a"], b=images["b"], q=images["q"]),
         stored(want + names["a"] * F(0), types[0]))


# ---- functions ----

def ulps(got, exact):
    """The error in units of the last place of the exact value, which is a double."""
    return np.abs(got.astype("f8") - exact) / np.spacing(np.abs(exact).astype(F)).astype("f8")


def bits(low, high, n=200000):
    """Floats whose exponents are spread evenly."""
    return F(np.exp(c.rng.uniform(np.log(low), np.log(high), n)) * c.rng.choice([-1, 1], n))


u = c.rng.uniform
N = 200000
floats = {
    "exp(a)": (F(u(-103, 88.7, N)), np.exp), "log(a)": (np.abs(bits(1e-44, 3e38)), np.log), "log(a + 0)": (F(u(0.9, 1.1, N)), np.log),
    "log2(a)": (np.abs(bits(1e-44, 3e38)), np.log2), "log10(a)": (np.abs(bits(1e-44, 3e38)), np.log10), "ln(a)": (F(u(0, 1, N)), np.log),
    "sin(a)": (bits(1e-30, 2**20), np.sin), "cos(a)": (bits(1e-30, 2**20), np.cos), "tan(a)": (bits(1e-30, 1e3), np.tan),
    "sin(a + 0)": (F(np.arange(N) * np.pi), np.sin), "cos(a + 0)": (F((np.arange(N) + 0.5) * np.pi), np.cos),
    "asinh(a)": (bits(1e-30, 3e38), np.arcsinh), "atan(a)": (bits(1e-30, 1e30), np.arctan), "sqrt(a)": (np.abs(bits(1e-44, 3e38)), np.sqrt)}
for text, (arguments, of) in floats.items():
    arguments = arguments.reshape(-1, 500)
    exact = of(arguments.astype("f8"))
    inside = np.abs(exact) < 3.4e38
    worst = ulps(calc(text, arguments), exact)[inside].max()
    c.check(f"{text} within 0.51 ulp", worst <= 0.51, f"{worst} ulp")
a, b = F(np.exp(u(-40, 40, N))).reshape(-1, 500), F(u(-3, 3, N)).reshape(-1, 500)
for text, first, second, of in (("a ^ b", a, b, np.power), ("pow(a, b)", F(u(0, 1, a.shape)), np.abs(b) * 3, np.power), ("a ** b", F(u(0.99, 1.01, a.shape)), b * 1000, np.power),
                                ("a ^ b + 0", bits(1e-3, 1e3).reshape(a.shape), F(np.rint(b * 4)), np.power), ("atan2(a, b)", b, b[::-1], np.arctan2),
                                ("atan2(a, b) + 0", bits(1e-20, 1e20).reshape(a.shape), bits(1e-20, 1e20).reshape(a.shape), np.arctan2), ("hypot(a, b)", a, b, np.hypot)):
    exact = of(first.astype("f8"), second.astype("f8"))
    inside = (np.abs(exact) < 3.4e38) & (np.abs(exact) > 0)
    worst = ulps(calc(text, first, b=second), exact)[inside].max()
    c.check(f"{text} within 0.51 ulp", worst <= 0.51, f"{worst} ulp")
a, b = bits(1e-3, 1e3).reshape(-1, 500), bits(1e-3, 1e3).reshape(-1, 500)
got, want = calc("a % b", a, b=b), np.mod(a, b)
c.check("a % b is Python's", np.array_equal(np.where(want == b, 0, want), np.where(got == b, 0, got)))
same("a ^ 2 is the product", calc("a ^ 2", a), a * a)

# Special values, as C has them.
odd = F([0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 16777217, 2.5, -2.5])
a, b = (v.copy() for v in np.meshgrid(odd, odd))
for text, of in {"exp(a)": np.exp, "log(a)": np.log, "log2(a)": np.log2, "log10(a)": np.log10, "asinh(a)": np.arcsinh, "sqrt(a)": np.sqrt,
                 "a ^ b": np.power, "atan2(a, b)": np.arctan2, "min(a, b)": np.minimum, "max(a, b)": np.maximum, "atan(a)": np.arctan}.items():
    exact = of(*(v.astype("f8") for v in ((a, b) if "b" in text else (a,)))).astype(F)
    got = calc(text, a, b=b)
    fits = (got == exact) & (np.signbit(got) == np.signbit(exact)) | np.isnan(got) & np.isnan(exact) | (np.abs(got - exact) <= np.spacing(np.abs(exact)))
    c.check(f"{text} of special values", fits.all(), f"{[(a[i], b[i], got[i], exact[i]) for i in map(tuple, np.argwhere(~fits)[:3])]}")
big = F([[2**20, -(2**20), 2**20 + 1, -1e30, np.inf, np.nan]])
c.check("sin above 2^20 is NaN", np.array_equal(np.isnan(calc("sin(a)", big)), [[False, False, True, True, True, True]]))

# ---- channels, positions, neighbours ----

for dtype in TYPES:
    full = FULL[dtype]
    rgb, rgba, gray = (random_image(c.rng, shape, dtype) for shape in ((9, 300, 3), (9, 300, 4), (9, 300)))
    f = rgba.astype(F)
    put = lambda *planes: stored(np.dstack(planes).astype(F), dtype)
    same("swapped", calc("a.b, a.g, a[0]", rgb), rgb[:, :, ::-1])
    same("of all channels, with the alpha of the input", calc("a / 2", rgba), put(f[:, :, :3] / F(2), f[:, :, 3]))
    same("alpha too", calc("a / 2", rgba, "--alpha"), stored(f / F(2), dtype))
    same("one number per pixel is gray", calc("a.r - a.g / 2", rgb), stored(rgb[:, :, 0].astype(F) - rgb[:, :, 1].astype(F) / F(2), dtype))
    same("and keeps alpha", calc("a.a", rgba), put(f[:, :, 3], f[:, :, 3]))
    same("alpha set", calc("a, a, a, full - a.a", rgba), put(f[:, :, 0], f[:, :, 1], f[:, :, 2], F(full) - f[:, :, 3]))
    same("opaque without alpha", calc("a.r, a.a", rgb), put(rgb[:, :, 0], np.full_like(gray, full)))
    same("gray and a colour", calc("(a + b) / 2", gray, b=rgb), stored((gray[:, :, None].astype(F) + rgb.astype(F)) / F(2), dtype))
    same("colour and a gray", calc("min(a, b)", rgb, b=gray), np.minimum(rgb, gray[:, :, None]))
    same("normalized", calc("a ^ 2", rgb, "--normalized"), stored((rgb.astype(F) / F(full)) * (rgb.astype(F) / F(full)) * F(full), dtype))
    y, x = np.mgrid[:9, :300].astype(F)
    same("position", calc("x + y * width - height", gray), stored(x + y * F(300) - F(9), dtype))
    around = np.pad(gray, 64, mode="edge").astype(F)
    for dx, dy in ((1, 0), (0, -1), (-3, 2), (64, -64)):
        same(f"neighbour {dx}, {dy}", calc(f"a({dx}, {dy})", gray), stored(around[64 + dy:73 + dy, 64 + dx:364 + dx], dtype))
    same("names", calc("d = a.r - a.g; s = d * d; s / 4, d, 0.5 * full", rgb),
         put((r := rgb.astype(F))[:, :, 0] * 0 + (d := r[:, :, 0] - r[:, :, 1]) * d / F(4), d, np.full(d.shape, F(full) * F(0.5))))
tall = random_image(c.rng, (3000, 500), np.uint16)
same("in bands", calc("a(0, 3) - a(2, -5) + y", tall, "--max-device-bytes", "1M"), calc("a(0, 3) - a(2, -5) + y", tall))
low = np.pad(tall, 5, mode="edge").astype(F)
same("rows of bands", calc("a(0, 3) - a(2, -5) + y", tall, "--max-device-bytes", "1M"), stored(low[8:3008, 5:505] - low[0:3000, 7:507] + np.arange(3000, dtype=F)[:, None], np.uint16))

# ---- whole expressions of other programs ----

nir, red = random_image(c.rng, (50, 70), np.uint16), random_image(c.rng, (50, 70), np.uint16)
got = calc("(nir - red) / (nir + red)", nir, "--depth", "float", nir=nir, red=red)
n, r = (F(v) / F(65535) for v in (nir, red))
c.check("NDVI", np.allclose(got, (n - r) / (n + r), atol=1e-6, equal_nan=True))
if numexpr:
    p, q = F(u(0, 1, (40, 50))), F(u(0.1, 1, (40, 50)))
    for ours, theirs in (("(a - b) / (a + b)", "(a - b) / (a + b)"), ("where(a > 0.5, a, exp(-b))", "where(a > 0.5, a, exp(-b))"), ("sqrt(a) * sin(b * 9) + log10(b)", "sqrt(a) * sin(b * 9) + log10(b)")):
        c.check(f"numexpr: {ours}", np.allclose(calc(ours, p, b=q), numexpr.evaluate(theirs, {"a": p, "b": q}), atol=1e-6))
else:
    c.skip("python3 has no numexpr")
convert = shutil.which("magick") or shutil.which("convert")
if convert and b"ImageMagick" in subprocess.run([convert, "-version"], capture_output=True).stdout:
    image = random_image(c.rng, (20, 30, 3), np.uint8)
    write(c.path("m.ppm"), image)
    for ours, theirs in (("a * (1 - 0.3 * a)", "u*(1-0.3*u)"), ("a > 0.5 ? 1 - a : a ^ 0.5", "u>0.5?1-u:u^0.5"),
                         ("a * (1 - ((x - width / 2) / width) ^ 2)", "u*(1-((i-w/2)/w)^2)"), ("min(a, 0.6) + sin(x / 9) / 9", "min(u,0.6)+sin(i/9)/9")):
        subprocess.run([convert, c.path("m.ppm"), "-fx", theirs, c.path("fx.ppm")], check=True, timeout=60)
        off = np.abs(calc(ours, image, "--normalized").astype(int) - read(c.path("fx.ppm")).astype(int)).max()
        c.check(f"ImageMagick -fx {theirs}", off <= 1, f"off by {off}")
else:
    c.skip("no ImageMagick")
c.end()
