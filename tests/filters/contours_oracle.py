"""contours against OpenCV's findContours() and approxPolyDP(): points in their order, holes and hierarchy.

Sources: filters/regions/contour* cli/tables/contours_table* cli/commands/contours.c
"""
import csv
import io
import json
import re

from _common import Checks, need, np, random_image, read, suffix, write

cv2, ndimage = need("cv2", "scipy.ndimage")
c = Checks()
csv.field_size_limit(1 << 30)


def parse(text):
    """Returns a list of (points, parent or None, hole, label)."""
    rows = []
    for i, row in enumerate(csv.DictReader(io.StringIO(text)), 1):
        points = tuple(tuple(map(int, p.split(","))) for p in row["points"].split())
        assert int(row["contour"]) == i
        rows.append((points, int(row["parent"]) - 1 if row["parent"] else None, row["hole"] == "1", int(row["label"])))
    return rows


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    return parse(c.run("contours", path, *args).decode())


def peer(mask, method, tolerance=None):
    """Returns a dictionary from each contour's first point and its being a hole to its points and those of its parent."""
    contours, tree = cv2.findContours(mask.astype(np.uint8), cv2.RETR_TREE, method)
    if tree is None:
        return {}
    every, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_TREE, cv2.CHAIN_APPROX_NONE)

    def depth(i):
        return 0 if tree[0][i][3] < 0 else 1 + depth(tree[0][i][3])

    def key(i):
        return tuple(every[i][0, 0]), depth(i) % 2 == 1

    if tolerance is not None:
        contours = [cv2.approxPolyDP(p, tolerance, True) for p in contours]
    return {key(i): (tuple(map(tuple, contours[i][:, 0])), key(tree[0][i][3]) if tree[0][i][3] >= 0 else None)
            for i in range(len(contours))}


def compare(name, mask, rows, want, firsts):
    got = {}
    for (points, parent, hole, _), first in zip(rows, firsts):
        got[first, hole] = (points, None if parent is None else (firsts[parent], rows[parent][2]))
    c.check(f"{name}: {len(want)} contours", got == want and len(got) == len(rows),
            f"{len(got)} found, {sum(got.get(k) != v for k, v in want.items())} differ")
    order = [(y, x) for x, y in firsts]
    c.check(f"{name}: raster order", order == sorted(order))


def check_mask(name, mask):
    image = np.uint8(mask * 200)
    rows = found(image, "--points", "all")
    firsts = [r[0][0] for r in rows]
    compare(f"{name} all", mask, rows, peer(mask, cv2.CHAIN_APPROX_NONE), firsts)
    compare(f"{name} corners", mask, found(image), peer(mask, cv2.CHAIN_APPROX_SIMPLE), firsts)
    for points, method in (("all", cv2.CHAIN_APPROX_NONE), ("corners", cv2.CHAIN_APPROX_SIMPLE)):
        for tolerance in (0, 0.7, 1, 2.5, 9):
            compare(f"{name} {points} within {tolerance}", mask,
                    found(image, "--points", points, "--simplify", tolerance), peer(mask, method, tolerance), firsts)


masks = {"empty": np.zeros((5, 7), bool), "full": np.ones((4, 6), bool), "pixel": np.eye(1, dtype=bool),
         "diagonal": np.eye(9, dtype=bool), "row": np.ones((1, 9), bool), "column": np.ones((9, 1), bool)}
for density in (0.1, 0.4, 0.55, 0.8):
    masks[f"noise {density}"] = c.rng.random((41, 57)) < density
blobs = ndimage.gaussian_filter(c.rng.random((120, 170)), 3)
masks["blobs"] = blobs > np.median(blobs)
y, x = np.mgrid[:90, :90]
masks["rings"] = (np.hypot(x - 44, y - 44) // 6).astype(int) % 2 == 0
for name, mask in masks.items():
    check_mask(name, mask)

# Sample types, levels, colour and --invert.
gray = random_image(c.rng, (30, 40), np.uint16)
c.check("a level", found(gray, "--threshold", "37%") == found(np.uint8(gray > 0.37 * 65535)))
c.check("inverted", found(gray, "--threshold", "37%", "--invert") == found(np.uint8(gray <= 0.37 * 65535)))
floats = c.rng.standard_normal((30, 40)).astype(np.float32)
floats[3, 4] = np.nan
c.check("floats", found(floats) == found(np.uint8(np.nan_to_num(floats, nan=-1) > 0)))
colour = c.rng.integers(0, 2, (20, 30, 3), dtype=np.uint8) * 255
c.check("colour", found(colour) == found(np.uint8(colour.max(2) > 0)))

# Labels: each value on its own.
labels = np.kron(c.rng.integers(0, 6, (9, 11)), np.ones((5, 4), int))
for kind in (np.uint8, np.uint16, np.float32):
    rows = found(labels.astype(kind), "--by-label", "--points", "all")
    for value in range(1, 6):
        mine = [i for i, r in enumerate(rows) if r[3] == value]
        part = [(rows[i][0], None if rows[i][1] is None else mine.index(rows[i][1]), *rows[i][2:3], 1) for i in mine]
        c.check(f"label {value} of {kind.__name__}", part == found(np.uint8(labels == value), "--points", "all"))

# GeoJSON: the rings of the CSV, closed and in reverse, holes with their regions; and SVG.
mask = masks["blobs"] & (c.rng.random(blobs.shape) < 0.99)
rows = found(np.uint8(mask))
c.run("contours", c.path("in.pgm"), c.path("out.geojson"))
features = json.load(open(c.path("out.geojson")))["features"]
c.check("a feature per region", len(features) == sum(not r[2] for r in rows))


def area(ring):
    p = np.array(ring, float)
    return (p[:-1, 0] * p[1:, 1] - p[1:, 0] * p[:-1, 1]).sum() / 2


good = True
for f in features:
    number, geometry = f["properties"]["contour"] - 1, f["geometry"]
    points = rows[number][0]
    if len(points) < 3:
        want = {"type": "Point", "coordinates": list(points[0])} if len(points) == 1 else \
            {"type": "LineString", "coordinates": [list(p) for p in points]}
        good &= geometry == want
        continue
    inner = [r[0] for r in rows if r[2] and r[1] == number]
    rings = [[list(p) for p in (r[0], *r[:0:-1], r[0])] for r in [points, *inner]]
    good &= geometry == {"type": "Polygon", "coordinates": rings}
    good &= area(rings[0]) >= 0 and all(area(r) < 0 for r in rings[1:])
c.check("GeoJSON has the rings of the CSV", good)
svg = c.run("contours", c.path("in.pgm"), "--format", "svg").decode()
paths = re.findall(r' d="([^"]*)"', svg)
want = [[tuple(x + 0.5 for x in p) for p in r[0]] for r in rows]
got = [[tuple(map(float, p.split(","))) for p in ring.split("L")] for d in paths for ring in re.findall("M([^Z]*)Z", d)]
c.check("SVG has the points of the CSV, half a pixel on", sorted(got) == sorted(want))

# A drawing or GeoJSON per image of a batch.
for kind in ("svg", "geojson", "csv"):
    c.run("contours", c.path("in.pgm"), "--out-dir", c.path("each"), "--suffix", "." + kind, "--quiet")
    want = c.run("contours", c.path("in.pgm"), "--format", kind)
    c.check(f"--suffix .{kind}", open(c.path(f"each/in.{kind}"), "rb").read() == want)
p = c.result("contours", c.path("in.pgm"), "--out-dir", c.path("each"), "--suffix", ".png")
c.check("--suffix .png", p.returncode == 2 and "are tables, want .csv, .json, .geojson or .svg" in p.stderr, p.stderr)

# draw reads the CSV, also of regions of one and two points, and draws the pixels of all borders of two or more.
borders = np.zeros((*mask.shape, 3), np.uint8)
write(c.path("black.ppm"), borders)
write(c.path("in.pgm"), np.uint8(mask))
c.run("contours", c.path("in.pgm"), c.path("out.csv"), "--points", "all")
c.run("draw", c.path("black.ppm"), c.path("drawn.ppm"), "--table", c.path("out.csv"), "--color", "white")
drawn = read(c.path("drawn.ppm"))[:, :, 0]
on = np.array([p for r in parse(open(c.path("out.csv")).read()) for p in r[0] if len(r[0]) > 1])
c.check("draw draws all borders", (drawn[on[:, 1], on[:, 0]] > 0).all())

# Messages.
for args, text in ((("--by-label", "--invert"), "--by-label and --invert: want one of them"),
                   (("--by-label", "--threshold", "5"), "--by-label and --threshold: want one of them"),
                   ((c.path("x.png"),), "want a name that ends in .csv, .geojson, .json or .svg")):
    p = c.result("contours", c.path("in.pgm"), *args)
    c.check(f"message {args}", p.returncode == 2 and text in p.stderr, p.stderr)
write(c.path("half.pfm"), np.float32([[0.5]]))
p = c.result("contours", c.path("half.pfm"), "--by-label")
c.check("labels are whole numbers", p.returncode == 1 and "label 0.5 at 0,0: want whole numbers" in p.stderr, p.stderr)
c.end()
