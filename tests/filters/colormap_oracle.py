"""colormap against Matplotlib: its maps, and maps from a list of colours.

Sources: filters/color/colormap cli/commands/colormap cli/plot/legend
"""
import tarfile

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


def legend(image, rows, ticks, *args):
    """Compares a legend with its definition: the colours by Matplotlib, and the rows that have a tick. `ticks` are parts of the range."""
    size, plain = max(10, rows // 30), mapped(image, *args)
    height = max(rows, 4 * size)
    got = mapped(image, *args, "--bar")
    c.check(f"{rows} rows: the picture", got.shape[0] == height and np.array_equal(got[:rows, : image.shape[1]], plain), got.shape)
    right = got[:, image.shape[1] :]
    n = height - 2 * size
    bar = right[size : size + n, size : size + size * 3 // 2]
    want = viridis((n - np.arange(n) - 0.5) / n, bytes=True)[:, None, :3]
    c.check(f"{rows} rows: the colours", (bar[..., :3] == want).all(), bar[:3, 0])
    frame = right[size - 1 : size + n + 1, size - 1 : size + size * 3 // 2 + 1, :3]
    c.check(f"{rows} rows: a frame", not (frame[0].any() or frame[-1].any() or frame[:, 0].any() or frame[:, -1].any()))
    marked = np.flatnonzero((right[:, size + size * 3 // 2 + 2, :3] == 0).all(-1))
    places = sorted(size + np.floor((1 - np.array(ticks)) * (n - 1) + 0.5))
    c.check(f"{rows} rows: ticks", np.array_equal(marked, places), f"{marked}, want {places}")
    words = right[:, size + size * 3 // 2 + 2 + size // 3 :, :3]
    c.check(f"{rows} rows: numbers", (words < 128).any() and (words[:, -1] == 255).all(), words.shape)
    return got


write(c.path("one.pgm"), all8[:1, :1])
if c.result("colormap", c.path("one.pgm"), c.path("out.ppm"), "--bar").returncode == 0:
    ramp = np.tile(np.arange(200, dtype=np.uint8), (512, 1))
    legend(ramp, 512, [0, 1, 1 / 6, 4 / 9, 13 / 18], "--range", "20,200")  # 50, 100, 150
    low = legend(ramp, 512, [0, 1, 1 / 6, 4 / 9, 13 / 18], "--range", "120,300")  # 150, 200, 250
    c.check("other numbers", not np.array_equal(low, mapped(ramp, "--range", "20,200", "--bar")))
    legend(ramp, 512, [0, 1, 0.2, 0.4, 0.6, 0.8], "--range", "1000,0")
    legend(ramp.astype(np.float32) / 100 - 1, 512, [0, 1, 0.5 / 1.99, 1 / 1.99, 1.5 / 1.99], "--range", "auto")
    legend(np.full((30, 7), 3, np.uint8), 30, [0], "--range", "auto")
    legend(np.arange(64, dtype=np.uint16).reshape(64, 1), 64, [0, 1])
    got = legend(np.dstack([ramp, ramp // 2]), 512, [0, 1, 50 / 255, 100 / 255, 150 / 255, 200 / 255])
    c.check("the legend is opaque", (got[:, 200:, 3] == 255).all())
    write(c.path("ramp.pgm"), ramp)
    p = c.result("run", "colormap --bar", c.path("ramp.pgm"), c.path("out.ppm"))
    c.check("no chains", p.returncode == 2 and "--bar: want the command colormap, not a chain" in p.stderr, p.stderr)
    c.run("colormap", c.path("ramp.pgm"), c.path("one.pgm"), "--bar", "--out-dir", c.path("d"), "--suffix", ".ppm")
    c.check("a batch", np.array_equal(read(c.path("d/ramp.ppm")), mapped(ramp, "--bar")))
    # Members of a tar, which differ in size and depth, become the files of a batch.
    write(c.path("deep.pgm"), ramp[:, 7:200].astype(np.uint16) * 255)
    names = ["ramp.pgm", "deep.pgm", "one.pgm", "bad.pgm"]
    with open(c.path("bad.pgm"), "wb") as bad:
        bad.write(b"P5 60 40 255\nab")
    with tarfile.open(c.path("in.tar"), "w") as tar:
        for name in names:
            tar.add(c.path(name), name)
    for threads in 1, 3:
        p = c.result("colormap", "--bar", "--tar", c.path("in.tar"), c.path("out.tar"), "--suffix", ".ppm", "--threads", threads)
        c.check("a bad member is left out", p.returncode == 1 and "in.tar: bad.pgm: ends early" in p.stderr and "1 member was left out" in p.stderr, p.stderr)
        with tarfile.open(c.path("out.tar")) as tar:
            c.check("a tar in its order", tar.getnames() == ["ramp.ppm", "deep.ppm", "one.ppm"], tar.getnames())
            for name in names[:3]:
                c.run("colormap", c.path(name), c.path("want.ppm"), "--bar")
                with open(c.path("want.ppm"), "rb") as want:
                    c.check(f"{name} of a tar, {threads} threads", tar.extractfile(name[:-3] + "ppm").read() == want.read())
else:
    print("skipped: no cairo for --bar")

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
