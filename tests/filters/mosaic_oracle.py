"""Mosaics of images at places of a table against numpy: later over earlier, blending, alpha, types, parts outside, damaged tables.

Sources: cli/commands/mosaic.c cli/tables/places_table.c filters/geometry/mosaic.c
"""
import json
import os

from _common import Checks, need, np, random_image, read, suffix, write

(Image,) = need("PIL.Image")
c = Checks()
os.chdir(c.folder.name)
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}


def table(rows, name="places.csv", head="file,x,y"):
    with open(name, "w") as f:
        f.write(head + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))


def expected(images, places, box, blend, dtype, channels, background, nodata=None):
    """In double; `background` is the pixel where there is no image. `nodata` has a value for each image, or None."""
    x0, y0, w, h = box
    colors = channels - (channels % 2 == 0)
    out = np.tile(np.asarray(background, np.float64), (h, w, 1))
    sums = np.zeros((h, w, colors + 2))
    for image, (px, py), hidden in zip(images, places, nodata or [None] * len(images)):
        a = image.reshape(*image.shape[:2], -1)
        full = FULL[a.dtype.type]
        alpha = a[..., -1] / full if a.shape[2] % 2 == 0 else np.ones(a.shape[:2])
        color = a[..., :a.shape[2] - (a.shape[2] % 2 == 0)].astype(np.float64)
        if hidden is not None:
            alpha = np.where((np.isnan(color) if np.isnan(hidden) else color == hidden).all(axis=2), 0, alpha)
        color = color * (FULL[dtype] / full)
        color = np.repeat(color, colors, axis=2) if color.shape[2] < colors else color
        for y, x in np.ndindex(a.shape[:2]):
            qy, qx = py + y - y0, px + x - x0
            if not (0 <= qx < w and 0 <= qy < h and alpha[y, x] > 0):
                continue
            weight = min(x + 1, y + 1, a.shape[1] - x, a.shape[0] - y)
            sums[qy, qx] += [*(weight * alpha[y, x] * color[y, x]), weight * alpha[y, x], weight]
            if blend == "over":
                out[qy, qx] = [*color[y, x], alpha[y, x] * FULL[dtype]][:channels]
    for qy, qx in np.ndindex(h, w):
        s = sums[qy, qx]
        if blend == "linear" and s[-2] > 0:
            out[qy, qx] = [*(s[:-2] / s[-2]), s[-2] / s[-1] * FULL[dtype]][:channels]
    return out if dtype == np.float32 else np.rint(out)


def compare(name, images, places, dtype, channels, *words, background=None, box=None):
    for i, image in enumerate(images):
        write(f"{i}" + suffix(image), image)
    table([(f"{i}" + suffix(image), *p) for i, (image, p) in enumerate(zip(images, places))])
    x0, y0 = min(p[0] for p in places), min(p[1] for p in places)
    x1, y1 = (max(p[k] + i.shape[1 - k] for i, p in zip(images, places)) for k in (0, 1))
    for blend in "over", "linear":
        target = "out.npy"
        c.run("mosaic", "places.csv", target, "--blend", blend, *words)
        got = np.load(target)
        got = got.reshape(*got.shape[:2], -1)
        want = expected(images, places, box or (x0, y0, x1 - x0, y1 - y0), blend, dtype, channels, background if background is not None else [0] * channels)
        ok = got.shape == want.shape and got.dtype == dtype and np.abs(got - want).max() <= (2**-20 if dtype == np.float32 else 0)
        c.check(f"{name}, {blend}", ok, (got.shape, want.shape, got.dtype, np.abs(got - want).max() if got.shape == want.shape else ""))


def images(dtype, *channels):
    return [random_image(c.rng, (c.rng.integers(5, 30), c.rng.integers(5, 30)) + ((n,) if n > 1 else ()), dtype) for n in channels]


PLACES = [(0, 0), (12, -7), (-9, 5), (3, 3)]
for dtype in np.uint8, np.uint16, np.float32:
    for n in 1, 2, 3, 4:
        some = images(dtype, n, n, n, n)
        for image in some if n % 2 == 0 else ():
            image[..., -1] *= c.rng.integers(0, 2, image.shape[:2]).astype(dtype)
        compare(f"{dtype.__name__} {n}", some, PLACES, dtype, n)
compare("gray and colour", images(np.uint8, 1, 3, 1), PLACES[:3], np.uint8, 3)
compare("gray and alpha", images(np.uint8, 1, 4, 3), PLACES[:3], np.uint8, 4)
compare("8 and 16 bits", images(np.uint8, 3, 3) + images(np.uint16, 3), PLACES[:3], np.uint16, 3)
compare("alpha", images(np.uint8, 3, 3), [(0, 0), (40, 40)], np.uint8, 4, "--alpha")
compare("background", images(np.uint8, 3, 3), [(0, 0), (40, 40)], np.uint8, 3, "--background", "9,8,7", background=[9, 8, 7])
compare("size", images(np.uint8, 3, 3), [(-4, -3), (10, 12)], np.uint8, 3, "--size", "20x17", box=(0, 0, 20, 17))
compare("outside", images(np.uint8, 1, 1), [(-400, 0), (10**9, -10**9)], np.uint8, 1, "--size", "20x17", box=(0, 0, 20, 17))
compare("one pixel", [np.array([[7]], np.uint8)], [(5, 5)], np.uint8, 1)

# Pixels without data: neither cover nor blend; what no data cover gets the value, with the tag of GDAL in a TIFF.
def holes(image, value):
    """Gives random pixels the value in all colours."""
    shape = image.shape[:2]
    made = image.reshape(*shape, -1).copy()
    made[c.rng.random(shape) < 0.4, :made.shape[2] - (made.shape[2] % 2 == 0)] = value
    return made.reshape(image.shape)


def with_nodata(name, images, values, dtype, channels, want, *words, tags=True):
    """`want`: the value of the mosaic. The values are in tags of the files, or otherwise in `words`."""
    images = [holes(i, 0 if v is None else v) for i, v in zip(images, values)]
    for i, (image, value) in enumerate(zip(images, values)):
        info = {42113: repr(value)} if tags and value is not None else {}
        Image.fromarray(image).save(f"{i}.tif", tiffinfo=info)
    table([(f"{i}.tif", *p) for i, p in enumerate(PLACES[:len(images)])])
    x0, y0 = min(p[0] for p in PLACES[:len(images)]), min(p[1] for p in PLACES[:len(images)])
    x1, y1 = (max(p[k] + i.shape[1 - k] for i, p in zip(images, PLACES)) for k in (0, 1))
    box = (x0, y0, x1 - x0, y1 - y0)
    colors = channels - (channels % 2 == 0)
    fill = [want] * colors + [0] * (channels - colors)
    for blend in "over", "linear":
        p = c.result("mosaic", "places.csv", "out.tif", "--blend", blend, *words)
        c.check(f"{name}, {blend}: no warning", p.returncode == 0 and not p.stderr, p.stderr)
        c.run("convert", "out.tif", "out.npy", "--nodata", "none", "--quiet")
        got = np.load("out.npy")
        got = got.reshape(*got.shape[:2], -1)
        exact = expected(images, PLACES, box, blend, dtype, channels, fill, values)
        same = np.array_equal(np.isnan(got), np.isnan(exact)) and got.shape == exact.shape and got.dtype == dtype
        worst = np.nanmax(np.abs(got - exact)) if same else None
        c.check(f"{name}, {blend}: pixels", same and worst <= (2**-20 if dtype == np.float32 else 0), (got.shape, exact.shape, worst))
        with Image.open("out.tif") as made:
            tag = made.tag_v2.get(42113)
        c.check(f"{name}, {blend}: tag", tag is not None and (float(tag) == want or np.isnan(float(tag)) and np.isnan(want)), (tag, want))


with_nodata("one value", images(np.uint8, 3, 3, 3), [7] * 3, np.uint8, 3, 7)
with_nodata("gray", images(np.uint8, 1, 1, 1), [255] * 3, np.uint8, 1, 255)
with_nodata("16 bits", images(np.uint16, 1, 1), [65535] * 2, np.uint16, 1, 65535)
with_nodata("float", images(np.float32, 1, 1, 1), [-9999.0] * 3, np.float32, 1, -9999)
with_nodata("NaN", images(np.float32, 1, 1, 1), [float("nan")] * 3, np.float32, 1, np.nan)
with_nodata("some have none", images(np.uint8, 3, 3, 3), [None, 9, None], np.uint8, 3, 9)
with_nodata("several values", images(np.uint8, 1, 1, 1), [3, 200, 77], np.uint8, 1, 3)
with_nodata("8 and 16 bits", images(np.uint8, 1) + images(np.uint16, 1), [2, 1000], np.uint16, 1, 514)
with_nodata("gray and colour", images(np.uint8, 1, 3), [5, 6], np.uint8, 3, 5)
with_nodata("alpha", images(np.uint8, 4, 4), [8, 8], np.uint8, 4, 8)
with_nodata("--alpha", images(np.uint8, 3, 3), [8, 8], np.uint8, 4, 8, "--alpha")
with_nodata("--nodata", images(np.uint8, 3, 1), [40, 40], np.uint8, 3, 40, "--nodata", 40, tags=False)
with_nodata("--depth 16", images(np.uint8, 1, 1), [2, 2], np.uint16, 1, 514, "--depth", 16)
for i, shape in enumerate(((6, 8), (7, 9))):
    Image.fromarray(np.full(shape, 5, np.uint8)).save(f"{i}.tif", tiffinfo={42113: "5"})
table([("0.tif", 0, 0), ("1.tif", 3, 3)])
c.run("mosaic", "places.csv", "out.tif")
c.check("no pixel has data", (np.asarray(Image.open("out.tif")) == 5).all())
c.run("mosaic", "places.csv", "out.tif", "--nodata", "none", "--background", 9)
with Image.open("out.tif") as made:
    c.check("--nodata none", set(np.asarray(made).flat) == {5, 9} and made.tag_v2.get(42113) == "5")
c.run("mosaic", "places.csv", "out.tif", "--linear")
with Image.open("out.tif") as made:
    c.check("--linear", (np.asarray(made) == 5).all() and made.tag_v2.get(42113) == "5")
Image.fromarray(np.full((4, 5), 1000, np.uint16)).save("0.tif", tiffinfo={42113: "700"})
p = c.result("mosaic", "places.csv", "out.tif", "--depth", 8)
c.check("a value that is rounded", p.returncode == 0 and "dropped" in p.stderr and Image.open("out.tif").tag_v2.get(42113) is None, p.stderr)
p = c.result("mosaic", "places.csv", "out.tif", "--nodata", "x")
c.check("--nodata x", p.returncode == 2 and "--nodata x: want a number, nan or none" in p.stderr, p.stderr)

# An image that is cut and put together is itself, also with blending.
whole = random_image(c.rng, (60, 70, 3), np.uint8)
rows = []
for y in range(0, 60, 20):
    for x in range(0, 70, 30):
        part = whole[max(0, y - 4):y + 24, max(0, x - 4):x + 34]
        write(f"part {y},{x}.ppm", part)
        rows.append((3, f'"part {y},{x}.ppm"', max(0, x - 4), f"{max(0, y - 4)}.0"))
table(rows, "cut.csv", "n,file,x,y")
for blend in "over", "linear":
    c.run("mosaic", "cut.csv", "whole.ppm", "--blend", blend, "--report", "r.jsonl")
    c.check(f"put together: {blend}", np.array_equal(read("whole.ppm"), whole))
lines = [json.loads(line) for line in open("r.jsonl")]
c.check("places in the report", [x["place"][:2] if isinstance(x["place"], list) else [x["place"]["x"], x["place"]["y"]] for x in lines if "place" in x] == [[r[2], int(float(r[3]))] for r in rows], lines[1])

# Damaged tables, which are refused.
for text, want in (("", "has no rows"), ("file,x,y\n", "has no rows"), ("file,x\na.ppm,1\n", "has no column y"), ("file,x,y\n0.ppm,1\n", 'line 2: y is "": want whole pixels'),
                   ("file,x,y\n0.ppm,1.5,2\n", 'line 2: x is "1.5": want whole pixels'), ("file,x,y\n0.ppm,nan,2\n", "want whole pixels"),
                   ("file,x,y\n0.ppm,1e300,2\n", "want whole pixels"), ("file,x,y\n,1,2\n", "line 2: has no file"), ('file,x,y\n"0.ppm,1,2\n', "want whole pixels"),
                   ("file,x,y\nnone.ppm,1,2\n", "none.ppm: No such file"), ("file,x,y\n0.pgm,1000000000,0\n0.pgm,-1000000000,0\n", "--max-pixels"),
                   ("x" * 3000 + "\n" + "," * 3000, "has no column file"), ("," * 400 + "\n", "more than 256 columns"), ("\0\0\n\0", "")):
    with open("bad.csv", "w") as f:
        f.write(text)
    p = c.result("mosaic", "bad.csv", "bad.ppm")
    c.check(f"refused: {text[:40]!r}", p.returncode in (1, 2) and want in p.stderr and p.stderr.startswith("gpuimg: mosaic: ") and not os.path.exists("bad.ppm"), p.stderr)
c.run("mosaic", "cut.csv", "over.ppm")
p = c.result("mosaic", "cut.csv", "part 0,0.ppm")
c.check("an output that is an input", p.returncode == 2, p.stderr)
p = c.result("mosaic", "cut.csv", "x.ppm", "--size", "50%")
c.check("size", p.returncode == 2 and "--size: want width and height in pixels" in p.stderr, p.stderr)
c.end()
