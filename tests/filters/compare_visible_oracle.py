"""compare --visible against numpy: images with any channels, hidden colours and depths, and the errors.

Sources: filters/statistics/compare_visible cli/commands/compare*
"""
import itertools
import json
import math

from _common import Checks, np, write

c = Checks()
FULL = {"u1": 255, "u2": 65535, "f4": 1}


def suffix(image):
    if image.dtype == np.float32:
        return ".npy" if image.ndim == 3 and image.shape[2] in (2, 4) else ".pfm"
    return ".pam" if image.ndim == 3 and image.shape[2] in (2, 4) else ".pnm"


def compared(a, b, *args, status):
    paths = [c.path("a" + suffix(a)), c.path("b" + suffix(b))]
    for path, image in zip(paths, (a, b)):
        write(path, image)
    done = c.result("compare", *paths, "--format", "json", *args)
    if done.returncode != status:
        raise RuntimeError(f"compare: exit {done.returncode}, want {status}: {done.stderr!r}")
    return json.loads(done.stdout) if status < 2 else done.stderr


def planes(image):
    """Red, green, blue and alpha as doubles."""
    image = image.astype("f8").reshape(*image.shape[:2], -1)
    colours = image[..., :3] if image.shape[2] > 2 else image[..., :1].repeat(3, 2)
    full = FULL[image_kind(image_type)]
    alpha = image[..., -1] if image.shape[2] in (2, 4) else np.full(image.shape[:2], float(full))
    return np.dstack([colours, alpha])


def image_kind(dtype):
    return np.dtype(dtype).str[1:]


def seen(a, b):
    """The samples that count, by their definition."""
    x, y = planes(a), planes(b)
    hidden = (x[..., 3] == 0) | (y[..., 3] == 0)
    x[hidden, :3] = y[hidden, :3] = 0
    coloured = any((p[..., 0] != p[..., k]).any() for p in (x, y) for k in (1, 2))
    translucent = any((p[..., 3] != FULL[image_kind(image_type)]).any() for p in (x, y))
    kept = (range(3) if coloured else range(1)), ([3] if translucent else [])
    index = [*kept[0], *kept[1]]
    return x[..., index], y[..., index]


def check(name, a, b):
    x, y = seen(a, b)
    got = compared(a, b, "--visible", status=int((x != y).any()))
    mse = ((x - y) ** 2).mean()
    full = FULL[image_kind(image_type)]
    c.check(f"{name}: samples", got["samples"] == x.size and len(got["channels"]) == x.shape[2], got)
    c.check(f"{name}: differing", got["differing"] == int((x != y).sum()), (got["differing"], int((x != y).sum())))
    c.check(f"{name}: max", math.isclose(got["max_difference"], abs(x - y).max(), rel_tol=1e-12))
    psnr = 10 * math.log10(full**2 / mse) if mse else None
    c.check(f"{name}: psnr", got["psnr"] == psnr or math.isclose(got["psnr"], psnr, rel_tol=1e-9), (got["psnr"], psnr))


def made(base, channels, alpha):
    """The image of these channels: colour from `base`, which may be gray, and this alpha."""
    colours = base if channels > 2 else base[..., :1]
    parts = [colours] + ([alpha[..., None]] if channels in (2, 4) else [])
    return np.dstack(parts)[..., 0] if channels == 1 else np.dstack(parts)


for image_type in ("u1", "u2", "f4"):
    full = FULL[image_type]
    random = lambda *shape: (c.rng.random(shape) * full).astype(image_type)
    gray = random(23, 31, 1).repeat(3, 2)
    color = random(23, 31, 3)
    opaque = np.full((23, 31), full, image_type)
    holes = np.where(c.rng.random((23, 31)) < 0.3, 0, full).astype(image_type)
    soft = np.where(holes == 0, 0, random(23, 31))
    # Every pair of kinds of channels that can show the same thing does, and differs where one sample does.
    kinds = [(f"{k} channels, {name}", made(base, k, alpha))
             for k, bases in ((1, ("gray",)), (2, ("gray",)), (3, ("gray", "color")), (4, ("gray", "color")))
             for name, base in (("gray", gray), ("color", color)) if name in bases
             for alpha in (opaque, holes, soft)[:3 if k in (2, 4) else 1]]
    for (name, a), (other, b) in itertools.product(kinds, kinds):
        check(f"{image_type}: {name} and {other}", a, b)
    for k in (1, 2, 3, 4):
        same = compared(made(gray, k, opaque), made(gray, 4, opaque), "--visible", status=0)
        c.check(f"{image_type}: gray in {k} channels is the opaque RGBA", same["differing"] == 0 and len(same["channels"]) == 1, same)
    # Colours under alpha 0 do not count; one step of alpha or of a visible colour does.
    a, b = made(color, 4, holes), made(color, 4, holes)
    b[holes == 0, :3] = random(int((holes == 0).sum()), 3)
    check(f"{image_type}: hidden colours", a, b)
    c.check(f"{image_type}: hidden colours are equal", compared(a, b, "--visible", status=0)["differing"] == 0)
    c.check(f"{image_type}: without --visible they differ", compared(a, b, status=1)["differing"] > 0)
    y, x = np.argwhere(holes != 0)[0]
    b[y, x, 1] = a[y, x, 1] / 2 + full / 4
    check(f"{image_type}: one visible sample", a, b)
    y, x = np.argwhere(holes == 0)[0]
    b[y, x, 3] = full / 2
    check(f"{image_type}: one alpha", a, b)
    check(f"{image_type}: nothing is seen", made(color, 4, holes * 0), made(gray, 2, holes * 0))
    tinted = gray.copy()
    tinted[5, 6, 2] = full - tinted[5, 6, 2]
    check(f"{image_type}: one coloured pixel", made(gray, 1, opaque), tinted)
    check(f"{image_type}: a hidden coloured pixel", made(tinted, 4, np.where(tinted[..., 2] != gray[..., 2], 0, opaque)), made(gray, 1, opaque))

# Depths differ: opaque means full scale of each image's own type.
image_type = "u2"
eight = (c.rng.random((9, 12, 3)) * 255).astype("u1")
wide = np.dstack([eight.astype("u2") * 257, np.full((9, 12), 65535, "u2")])
c.check("8 bits and 16 bits", compared(eight, wide, "--visible", status=0)["differing"] == 0)
floats = np.dstack([eight[..., :1].astype("f4") / 255] * 3 + [np.ones((9, 12), "f4")]).astype("f4")
c.check("8 bits and float", compared(eight[..., 0], floats, "--visible", "--max-diff", "1e-6", status=0)["max_difference"] < 1e-6)
nan = floats.copy()
nan[3, 4, :3] = np.nan
c.check("NaN is gray if all three are", len(compared(nan, floats, "--visible", status=1)["channels"]) == 1)

# Shapes that differ are status 2, with the way out.
image_type = "u1"
for a, b, words in ((eight, eight[..., 0], "want the same channels: --visible ignores those that say nothing, and --gray compares in gray"),
                    (eight, eight[1:], "want the same size, as gpuimg crop or gpuimg resize makes it"),
                    (eight, eight[1:, :, 0], "want the same size")):
    c.check(words, words in compared(a, b, status=2))
c.check("another size with --visible", "want the same size" in compared(eight, eight[1:, :, 0], "--visible", status=2))
c.check("--gray compares in gray", compared(eight[..., :1].repeat(3, 2), eight[..., 0], "--gray", status=0)["differing"] == 0)

# The difference picture, many pairs and tars take --visible too.
rgba = np.dstack([eight, np.full((9, 12), 255, "u1")])
write(c.path("rgb.ppm"), eight)
write(c.path("rgba.pam"), rgba)
c.run("compare", c.path("rgb.ppm"), c.path("rgba.pam"), "--visible", "--diff", c.path("diff.png"), status=0)
c.run("compare", c.path("rgb.ppm"), c.path("rgb.ppm"), "--diff", c.path("same.png"), status=0)
with open(c.path("diff.png"), "rb") as one, open(c.path("same.png"), "rb") as other:
    c.check("--diff marks nothing", one.read() == other.read())
with open(c.path("pairs"), "w") as file:
    file.write(f"{c.path('rgb.ppm')}\t{c.path('rgba.pam')}\n{c.path('rgba.pam')}\t{c.path('rgb.ppm')}\n")
rows = c.run("compare", "--pairs", c.path("pairs"), "--visible", "--table", "-", status=0).decode().splitlines()
c.check("--pairs", len(rows) == 3 and all(",1,12,9,8,324,0,0,0,inf,1" in row for row in rows[1:]), rows)
c.run("compare", "--pairs", c.path("pairs"), "--table", "-", status=2)
c.end()
