"""Mosaics of images at places of a table against numpy: later over earlier, blending, alpha, types, parts outside, damaged tables.

Sources: cli/commands/mosaic.c cli/tables/places_table.c filters/geometry/mosaic.c
"""
import json
import os

from _common import Checks, np, random_image, read, suffix, write

c = Checks()
os.chdir(c.folder.name)
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}


def table(rows, name="places.csv", head="file,x,y"):
    with open(name, "w") as f:
        f.write(head + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))


def expected(images, places, box, blend, dtype, channels, background):
    """In double; `background` is the pixel where there is no image."""
    x0, y0, w, h = box
    colors = channels - (channels % 2 == 0)
    out = np.tile(np.asarray(background, np.float64), (h, w, 1))
    sums = np.zeros((h, w, colors + 2))
    for image, (px, py) in zip(images, places):
        a = image.reshape(*image.shape[:2], -1)
        full = FULL[a.dtype.type]
        alpha = a[..., -1] / full if a.shape[2] % 2 == 0 else np.ones(a.shape[:2])
        color = a[..., :a.shape[2] - (a.shape[2] % 2 == 0)].astype(np.float64) * (FULL[dtype] / full)
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
