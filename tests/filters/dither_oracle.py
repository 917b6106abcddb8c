"""quantize --dither against plain loops: error diffusion as Pillow's conversion to two levels does it (only the choice of the
level differs), ordered dithering with Bayer's matrix made by recursion, evenly spaced colours, and exact palettes.

Sources: filters/color/quantize.c imgio/median_cut.* kernels/cpu/color/dither.c kernels/color.h
"""
from _common import Checks, need, np, read, write

(Image,) = need("PIL.Image")
c = Checks()


def diffuse(image, choose):
    """Floyd and Steinberg's weights, with sums in sixteenths that are truncated. `choose` returns the new colour."""
    h, w, channels = image.shape
    out, passed = np.zeros_like(image), np.zeros((h + 1, w + 2, channels), int)
    for y in range(h):
        for x in range(w):
            e = passed[y, x + 1]
            v = np.clip(image[y, x].astype(int) + np.sign(e) * (abs(e) // 16), 0, 255)
            out[y, x] = choose(v)
            d = v - out[y, x]
            for dy, dx, part in (0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1):
                passed[y + dy, x + 1 + dx] += part * d
    return out


def bayer(n):
    """The matrix of n x n."""
    if n == 1:
        return np.zeros((1, 1), int)
    m = 4 * bayer(n // 2)
    return np.block([[m, m + 2], [m + 3, m + 1]])


def ordered(image, colors, spread):
    h, w, _ = image.shape
    e = (2 * np.tile(bayer(8), (h // 8 + 1, w // 8 + 1))[:h, :w, None] - 63) * spread
    v = np.clip(image.astype(int) + np.sign(e) * (abs(e) // 128), 0, 255)
    return colors[((v[:, :, None] - colors[None, None]) ** 2).sum(3).argmin(2)].astype(np.uint8)


def nearest(colors):
    return lambda v: colors[((v - colors) ** 2).sum(1).argmin()]


def spread_of(colors):
    distance = ((colors[:, None] - colors[None]) ** 2).sum(2) + 10 ** 9 * np.eye(len(colors), dtype=int)
    return min(255, int(np.rint(np.sqrt(distance.min(1)).mean())))


def quantize(image, *args):
    source, made = c.path("in.png"), c.path("out.pam")
    Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).save(source)
    c.run("quantize", source, made, *args)
    made = read(made)
    return made[:, :, None] if made.ndim == 2 else made


def ramp(h, w, channels):
    y, x = np.mgrid[:h, :w]
    planes = [(x * (3 + k) + y * (7 - 2 * k)) * 255 // (6 * w + 7 * h) for k in range(channels)]
    return np.clip(np.stack(planes, 2) + c.rng.integers(-9, 10, (h, w, channels)), 0, 255).astype(np.uint8)


BLACK_WHITE = np.array([[0], [255]])
two = ("--colors", "2", "--method", "even")
for h, w in (1, 1), (1, 70), (70, 1), (53, 71):
    for image in ramp(h, w, 1), c.rng.integers(0, 256, (h, w, 1)).astype(np.uint8):
        loop = diffuse(image, lambda v: 255 * (v > 128))
        pillow = np.asarray(Image.fromarray(image[:, :, 0]).convert("1")).astype(np.uint8) * 255
        c.check(f"{h} x {w}: the loop is Pillow's", np.array_equal(loop[:, :, 0], pillow))
        c.check(f"{h} x {w}: 2 levels", np.array_equal(quantize(image, *two, "--dither", "floyd-steinberg"), diffuse(image, nearest(BLACK_WHITE))))
        c.check(f"{h} x {w}: ordered", np.array_equal(quantize(image, *two, "--dither", "ordered"), ordered(image, BLACK_WHITE, 255)))
for channels in 1, 3:
    image = ramp(37, 45, channels)
    for n in 2, 5, 16, 27, 200:
        steps = n if channels == 1 else int(round(n ** (1 / 3) - 0.49))
        if steps >= 2:
            levels = np.floor(np.arange(steps) * 255 / (steps - 1) + 0.5).astype(int)
            cube = np.stack(np.meshgrid(*[levels] * channels, indexing="ij"), -1).reshape(-1, channels)
            even = ("--colors", n, "--method", "even")
            c.check(f"{channels}, {n}: even", np.array_equal(quantize(image, *even), ordered(image, cube, 0)))
            c.check(f"{channels}, {n}: even, diffused", np.array_equal(quantize(image, *even, "--dither", "floyd-steinberg"), diffuse(image, nearest(cube))))
            c.check(f"{channels}, {n}: even, ordered", np.array_equal(quantize(image, *even, "--dither", "ordered"), ordered(image, cube, spread_of(cube))))
        # the colours of median cut are those without dithering, which are all used here
        colors = np.unique(quantize(image, "--colors", n).reshape(-1, channels), axis=0).astype(int)
        for kind in "floyd-steinberg", "ordered":
            made = quantize(image, "--colors", n, "--dither", kind)
            want = diffuse(image, nearest(colors)) if kind[0] == "f" else ordered(image, colors, spread_of(colors))
            c.check(f"{channels}, {n}: {kind} with median cut", np.array_equal(made, want), np.mean(made == want))
            c.check(f"{channels}, {n}: {kind}: the mean", abs(made.mean() - image.mean()) < 2)
few = c.rng.integers(0, 256, (9, 3)).astype(np.uint8)[c.rng.integers(0, 9, (30, 40))]
for kind in "floyd-steinberg", "ordered":
    c.check(f"9 colours, {kind}", np.array_equal(quantize(few, "--colors", 9, "--dither", kind), few))
    shown = np.dstack([few, c.rng.integers(0, 256, (30, 40)).astype(np.uint8)])
    made = quantize(shown, "--colors", 4, "--dither", kind)
    c.check(f"alpha, {kind}", np.array_equal(made[:, :, 3], shown[:, :, 3]) and np.array_equal(made[:, :, :3], quantize(few, "--colors", 4, "--dither", kind)))
made = c.path("bw.png")
write(c.path("rgb.ppm"), ramp(60, 90, 3))
c.run("quantize", c.path("rgb.ppm"), made, "--gray", *two, "--dither", "floyd-steinberg")
c.check("a bilevel PNG", open(made, "rb").read()[24:26] == b"\1\0")
got = c.result("quantize", c.path("rgb.ppm"), made, *two)
c.check("2 even colours", got.returncode == 1 and "want at least 8" in got.stderr, got.stderr)
c.end()
