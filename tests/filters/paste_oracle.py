"""paste against numpy: crops and points of extract go back into the image, or into another one, and later rows of a
table cover earlier ones.

Sources: filters/regions/paste*
"""
import csv
import os

from _common import Checks, np, random_image, read, suffix, write

FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
c = Checks()


def rows_of(path):
    with open(path) as f:
        return list(csv.DictReader(f))


def blobs(shape, dtype):
    """Smooth noise whose bright regions have overlapping bounding boxes."""
    v = c.rng.random(shape)
    for axis in (0, 1):
        for _ in range(6):
            v = (np.roll(v, 1, axis) + v + np.roll(v, -1, axis)) / 3
    v = (v - v.min()) / (v.max() - v.min()) * FULL[dtype]
    return v.astype(dtype) if dtype == np.float32 else np.rint(v).astype(dtype)


def crops(dtype, shape, margin, order):
    image, base = blobs(shape, dtype), random_image(c.rng, shape, dtype)
    name = f"{np.dtype(dtype).name} {shape}, margin {margin}, by {order}"
    kind = {np.uint8: "png", np.uint16: "png", np.float32: "pfm"}[dtype]
    in_, base_, out = (c.path(f"{what}{suffix(image)}") for what in ("in", "base", "out"))
    table, folder = c.path("t.csv"), c.path(f"crops-{np.dtype(dtype).name}-{len(shape)}-{margin}-{order}")
    write(in_, image)
    write(base_, base)
    c.run("extract", in_, table, "--at", np.quantile(image, 0.7), "--crops", folder, "--crop-margin", margin, "--sort", order, "--crop-format", kind)
    there = ["--crops", folder, "--table", table, "--crop-margin", margin, "--crop-format", kind]
    c.run("paste", in_, out, *there)
    c.check(f"{name}: back where they were", np.array_equal(read(out), image))
    c.run("paste", base_, out, *there)
    want, rows = base.copy(), rows_of(table)
    for row in rows:
        x, y, w, h = (int(row["bbox_" + word]) for word in ("x", "y", "width", "height"))
        box = slice(max(0, y - margin), y + h + margin), slice(max(0, x - margin), x + w + margin)
        want[box] = image[box]
    c.check(f"{name}: into another image", len(rows) > 3 and np.array_equal(read(out), want))


def overlaps():
    """Crops of one value each: the uppermost one is visible, for any order of the rows."""
    folder, base = c.path("flat"), np.zeros((40, 60), np.uint8)
    os.mkdir(folder)
    write(c.path("base.pgm"), base)
    for turn in range(3):
        rows = []
        for label in range(1, 31):
            x, y, w, h = (int(v) for v in c.rng.integers((0, 0, 1, 1), (59, 39, 30, 20)))
            write(os.path.join(folder, f"region-{label:06}.pgm"), np.full((h, w), label, np.uint8))
            rows.append((label, x, y, w, h))
        c.rng.shuffle(rows)
        with open(c.path("flat.csv"), "w", newline="\r\n" if turn else "\n") as f:
            f.write("note,bbox_width,label,bbox_x,bbox_y,bbox_height\n")
            f.writelines(f"mine,{w},{label},{x},{y},{h}\n" for label, x, y, w, h in rows)
        want = base.copy()
        for label, x, y, w, h in rows:
            want[y:y + h, x:x + w] = label
        c.run("paste", c.path("base.pgm"), c.path("out.pgm"), "--crops", folder, "--table", c.path("flat.csv"), "--crop-format", "pgm")
        c.check(f"overlaps {turn}", np.array_equal(read(c.path("out.pgm")), want))


def points(dtype, shape):
    image, full = random_image(c.rng, shape, dtype), FULL[dtype]
    gray = c.rng.random(shape[:2]) * full
    gray = gray.astype(dtype) if dtype == np.float32 else np.rint(gray).astype(dtype)
    write(c.path("gray" + suffix(gray)), gray)
    write(c.path("in" + suffix(image)), image)
    out = c.path("out" + suffix(image))
    want = image.copy()
    bright = gray > full / 2
    for kind in ("npy", "csv"):
        c.run("extract", c.path("gray" + suffix(gray)), c.path("t.csv"), "--at", "50%", "--points", c.path("p." + kind))
        c.run("paste", c.path("in" + suffix(image)), out, "--points", c.path("p." + kind))
        want[bright] = gray[bright] if image.ndim == 2 else gray[bright][:, None]
        if image.ndim == 3 and image.shape[2] % 2 == 0:
            want[bright, -1] = full
        c.check(f"points {kind} {np.dtype(dtype).name} {shape}", np.array_equal(read(out), want))
    with open(c.path("own.csv"), "w") as f:
        f.write("x,y\n" + "".join(f"{x},{y}\n" for x, y in ((3, 2), (0, 0), (-1, 5), (shape[1], 1), (shape[1] - 1, shape[0] - 1))))
    c.run("paste", c.path("in" + suffix(image)), out, "--points", c.path("own.csv"), "--color", full / 5 if dtype == np.float32 else full // 5)
    want = image.copy()
    for y, x in ((2, 3), (0, 0), (-1, -1)):
        want[y, x] = np.float32(full / 5) if dtype == np.float32 else full // 5
    c.check(f"points of one colour {np.dtype(dtype).name} {shape}", np.array_equal(read(out), want))


for dtype in FULL:
    crops(dtype, (61, 83), 0, "label")
    crops(dtype, (61, 83), 4, "area")
    points(dtype, (29, 41))
    points(dtype, (29, 41, 3))
crops(np.uint8, (61, 83), 2, "mean")
points(np.uint8, (29, 41, 4))
overlaps()
c.end()
