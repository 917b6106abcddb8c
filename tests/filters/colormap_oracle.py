"""colormap against Matplotlib: its maps, and maps from a list of colours.

Sources: colormap
"""
from _common import Checks, need, np, random_image, read, suffix, write

cm, colors = need("matplotlib.cm", "matplotlib.colors")

MAPS = ("viridis", "magma", "inferno", "plasma", "cividis", "turbo", "jet", "gray")
c = Checks()


def mapped(image, *args):
    source, result = c.path("in" + suffix(image)), c.path("out.ppm" if image.ndim == 2 else "out.pam")
    write(source, image)
    c.run("colormap", source, result, *args)
    return read(result)


def check(name, image, map_, unit, *args):
    """unit: the samples of the image in double, where 0 to 1 is the range."""
    got = mapped(image, *args)
    # Matplotlib truncates 255 * (v / 255) to v - 1 at 24 levels of its gray.
    want = (np.rint(map_(unit) * 255) if map_.name == "gray" else map_(unit, bytes=True))[..., :3]
    c.check(f"{name} {image.dtype} {' '.join(args)}", got.dtype == np.uint8 and np.array_equal(got, want),
            f"{got.dtype} {got.shape}, want {want.shape}" if got.shape != want.shape else f"{(got != want).any(-1).sum()} pixels differ")


def ranged(image, lo, hi):
    return (image.astype(np.float64) - lo) / (hi - lo)


all8 = np.arange(256, dtype=np.uint8).reshape(8, 32)
all16 = np.arange(65536, dtype=np.uint16).reshape(256, 256)
# Bins of 2^-16, and numbers around them; Matplotlib's own over and under colours are the last and the first.
edges = np.arange(0, 257, dtype=np.float32) / 256
floats = np.concatenate([edges, np.nextafter(edges, -1, dtype=np.float32), np.nextafter(edges, 2, dtype=np.float32),
                         c.rng.random(1000, np.float32), np.float32([-1, 2, -np.inf, np.inf, -0.0])]).reshape(1, -1)
for name in MAPS:
    map_ = cm.get_cmap(name)
    check(name, all8, map_, ranged(all8, 0, 255), "--map", name)
    check(name, all16, map_, ranged(all16, 0, 65535), "--map", name)
    check(name, floats, map_, floats.astype(np.float64), "--map", name)
viridis = cm.get_cmap("viridis")
for lo, hi in ((20, 200), (-50.5, 300), (100, 101)):
    check("a range", all8, viridis, ranged(all8, lo, hi), "--range", f"{lo},{hi}")
    check("a range", all16, viridis, ranged(all16, 100 * lo, 100 * hi), "--range", f"{100 * lo},{100 * hi}")
for image in (random_image(c.rng, (37, 53), np.uint8) // 3 + 7, random_image(c.rng, (37, 53), np.uint16) // 5 + 300):
    check("automatic", image, viridis, ranged(image, image.min(), image.max()), "--range", "auto")
# A range of a power of two is exact in floats; others are compared away from the steps between colours.
image = (c.rng.integers(0, 4097, (31, 67)) * 0.25 - 100).astype(np.float32)
image.flat[:2] = -100, 924
check("automatic", image, viridis, ranged(image, -100, 924), "--range", "auto")
check("a range", image, viridis, ranged(image, -36, 28), "--range", "-36,28")
image = c.rng.normal(1000, 3, (61, 47)).astype(np.float32)
unit = ranged(image, float(image.min()), float(image.max()))
off = mapped(image, "--range", "auto") != viridis(unit, bytes=True)[..., :3]
sure = np.abs(unit * 256 - np.rint(unit * 256)) > 2.0**-12
c.check("any range of floats", not off[sure].any(), off[sure].any(-1).sum())
c.check("HI below LO reverses", np.array_equal(mapped(all8, "--range", "256,0")[0, 1:],
                                               viridis(ranged(all8, 256, 0), bytes=True)[0, 1:, :3]))
for flat in (np.full((3, 5), 7, np.uint8), np.full((3, 5), 700, np.uint16), np.full((3, 5), -2.5, np.float32)):
    check("equal samples", flat, viridis, np.zeros(flat.shape), "--range", "auto")
nan = np.float32([[np.nan, 0.25, np.inf, 0.75]])
got = mapped(nan, "--range", "auto")
c.check("NaN is black, infinity does not count", np.array_equal(
    got, np.concatenate([[[0, 0, 0]], viridis(np.array([0, 1.0, 1]), bytes=True)[:, :3]])[None]), got)

# Rows of colours. Matplotlib truncates colours where we round half to even.
for n in (2, 3, 7, 256):
    rows = c.rng.integers(0, 256, (n, 3))
    np.savetxt(c.path("rows.txt"), rows, "%d", delimiter=(" ", ",")[n % 2])
    got = mapped(all8, "--colors", c.path("rows.txt")).reshape(256, 3)
    want = 255 * colors.LinearSegmentedColormap.from_list("rows", rows / 255)(np.arange(256))[:, :3]
    c.check(f"{n} rows", np.abs(got - want).max() <= 0.5 + 1e-9, np.abs(got - want).max())
c.check("rows as text", np.array_equal(mapped(all8, "--colors", "0 0 255; 255,0,0;").reshape(256, 3),
                                       np.stack([np.arange(256), np.zeros(256), 255 - np.arange(256)], -1)))

# Alpha is kept, in 8 bits.
for dtype, full in ((np.uint8, 255), (np.uint16, 65535)):
    image = np.stack([random_image(c.rng, (9, 14), dtype), random_image(c.rng, (9, 14), dtype)], -1)
    got = mapped(image, "--map", "magma")
    c.check(f"alpha {full}", np.array_equal(got[..., :3], cm.get_cmap("magma")(image[..., 0] / full, bytes=True)[..., :3])
            and np.array_equal(got[..., 3], np.rint(image[..., 1] / full * 255)))

write(c.path("one.pgm"), all8[:1, :1])
write(c.path("color.ppm"), np.zeros((2, 2, 3), np.uint8))
for words, args in (("--range 1: want two different numbers", ["--range", "1"]), ("--range 2,2: want two different", ["--range", "2,2"]),
                    ("--range 1,nan: want", ["--range", "1,nan"]), ("--colors: row 1: want 2 to 256 rows", ["--colors", "1 2 3"]),
                    ("--colors: row 2: want", ["--colors", "1 2 3; 4 5"]), ("--colors: row 1: want", ["--colors", "0 0 256; 1 1 1"]),
                    ("--colors: row 257: want", ["--colors", "1 1 1\n" * 257]), ("--map rainbow: want viridis, magma", ["--map", "rainbow"])):
    p = c.result("colormap", c.path("one.pgm"), c.path("out.ppm"), *args)
    c.check(words, p.returncode == 2 and words in p.stderr, p.stderr)
p = c.result("colormap", c.path("color.ppm"), c.path("out.ppm"))
c.check("colour is refused", p.returncode != 0 and "want a gray image, by --gray" in p.stderr, p.stderr)
c.end()
