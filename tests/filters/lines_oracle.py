"""lines: equal to OpenCV's HoughLines(), segments against made ones and scikit-image, and tables, overlays and draw --table.

Sources: filters/regions/lines.c filters/regions/hough* filters/regions/edge_pixels* cli/commands/lines.c cli/tables/shapes_file* cli/plot/overlay*
"""
import csv
import io
import json
import math

from _common import Checks, need, np, read, suffix, write

cv2, transform = need("cv2", "skimage.transform")
c = Checks()
COLUMNS = ["shape", "rho", "theta", "votes", "x1", "y1", "x2", "y2"]


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    rows = list(csv.reader(io.StringIO(c.run("lines", path, "--format", "csv", *args).decode())))
    assert rows[0] == COLUMNS and all(r[0] == "line" for r in rows[1:]), rows[:2]
    return [tuple(map(float, r[1:])) for r in rows[1:]]


def mask_of(segments, shape):
    mask = np.zeros(shape, np.uint8)
    for x1, y1, x2, y2 in segments:
        cv2.line(mask, (x1, y1), (x2, y2), 255)
    return mask


# ---- the accumulator: the lines of OpenCV, with their votes and order ----

def peer(mask, rho, theta, threshold):
    """rho, theta as a number of steps, votes. Where the number of steps of rho is even, OpenCV is half a step too low."""
    lines = cv2.HoughLinesWithAccumulator(mask, rho, theta * np.pi / 180, threshold)
    even = np.rint(np.float32(2 * sum(mask.shape) + 1) / np.float32(rho)) % 2 == 0
    return [] if lines is None else [(float(r) + rho / 2 * even, round(float(t) / math.radians(theta)), int(v)) for r, t, v in lines[:, 0]]


masks = {"noise": (c.rng.random((61, 90)) < 0.05), "dense": (c.rng.random((40, 33)) < 0.4), "full": np.ones((30, 45), bool),
         "a row": c.rng.random((1, 70)) < 0.6, "a column": c.rng.random((57, 1)) < 0.6, "a pixel": np.ones((1, 1), bool),
         "lines": mask_of([(3, 4, 88, 50), (80, 2, 10, 59), (0, 30, 89, 30), (45, 0, 45, 60)], (61, 90)) > 0,
         "large": mask_of(c.rng.integers(0, 1500, (20, 4)).tolist(), (1100, 1500)) > 0}
for name, mask in masks.items():
    mask = mask.astype(np.uint8) * 255
    for rho, theta, threshold in ((1, 1, 20), (1, 0.5, 12), (2, 1, 25), (0.5, 3, 10), (3, 0.7, 30), (1, 45, 5), (1, 100, 5), (40, 7, 9), (1000, 180, 1)):
        if name == "large" and (rho, theta) not in ((1, 1), (2, 1), (3, 0.7)):
            continue
        want = peer(mask, rho, theta, threshold)
        rows = found(mask, "--rho", rho, "--theta", theta, "--threshold", threshold)
        got = [(r, round(t / theta), int(v)) for r, t, v, *_ in rows]
        c.check(f"HoughLines {name} {rho} {theta}", len(got) == len(want) and all(abs(a - b) < 1e-3 and (p, q) == (x, y)
                for (a, p, q), (b, x, y) in zip(got, want)), (got[:4], want[:4], len(got), len(want)))
        # End points are on the line, in the image, and on its sides, unless the line misses the image.
        h, w = mask.shape
        for r, t, _, x1, y1, x2, y2 in rows:
            away = max(abs(x * math.cos(math.radians(t)) + y * math.sin(math.radians(t)) - r) for x, y in ((x1, y1), (x2, y2)))
            inside = all(0 <= x <= w - 1 and 0 <= y <= h - 1 and (x in (0, w - 1) or y in (0, h - 1)) for x, y in ((x1, y1), (x2, y2)))
            if not (inside and (x1, y1) <= (x2, y2) and (away < 1e-2 or (x1, y1) == (x2, y2) and away <= rho)):
                c.check(f"end points {name} {rho} {theta}", False, (r, t, x1, y1, x2, y2, away))
image = masks["lines"].astype(np.uint8)
first = found(image * 255, "--threshold", 30)
c.check("--count", found(image * 255, "--threshold", 30, "--count", 2) == first[:2] and len(first) > 3)
c.check("the default threshold", found(np.full((40, 101), 1, np.uint8)) == found(np.full((40, 101), 1, np.uint8), "--threshold", 100) != [])

# ---- segments: those that were drawn, and no others ----

def matched(rows, made, reach=1):
    """Whether the end points of the rows are those of the made segments, each once."""
    left = [((x1, y1), (x2, y2)) for x1, y1, x2, y2 in made]
    for *_, x1, y1, x2, y2 in rows:
        ends = [m for m in left for p, q in (m, m[::-1]) if max(abs(x1 - p[0]), abs(y1 - p[1]), abs(x2 - q[0]), abs(y2 - q[1])) <= reach]
        if not ends:
            return False
        left.remove(ends[0])
    return not left


def apart(n, shape, least, distance):
    """Random segments of at least this length, none of which is nearer than the distance to another."""
    made, near = [], np.zeros(shape, np.uint8)
    while len(made) < n:
        x1, y1, x2, y2 = (int(v) for v in c.rng.integers(0, [shape[1], shape[0]] * 2))
        one = mask_of([(x1, y1, x2, y2)], shape)
        if math.hypot(x2 - x1, y2 - y1) >= least and not (one & near).any():
            made.append((x1, y1, x2, y2))
            near |= cv2.dilate(one, np.ones((2 * distance + 1,) * 2, np.uint8))
    return made


def segments(mask, *args):
    return found(mask, "--method", "probabilistic", *args)


for seed in (0, 1, 2, 7):
    for name, made, shape in (("short", apart(30, (300, 400), 35, 8), (300, 400)), ("long", apart(9, (700, 900), 300, 8), (700, 900)),
                              ("crossing", [(5, 10, 390, 200), (5, 250, 380, 20), (100, 3, 300, 290), (200, 0, 200, 299), (0, 150, 399, 150)], (300, 400))):
        rows = segments(mask_of(made, shape), "--seed", seed)
        c.check(f"segments {name} {seed}", matched(rows, made), (rows, made))
        lengths = [math.hypot(r[5] - r[3], r[6] - r[4]) for r in rows]
        c.check(f"the longest first {name} {seed}", lengths == sorted(lengths, reverse=True))
        away = max(abs(x * math.cos(math.radians(t)) + y * math.sin(math.radians(t)) - r) for r, t, _, *e in rows for x, y in (e[:2], e[2:]))
        c.check(f"rho and theta {name} {seed}", away <= 1.5 and all(0 <= r[1] < 180 for r in rows), away)
# At multiples of 45 degrees scikit-image, which follows the line of a rounded angle, finds whole segments, too; others it splits.
for name, made, equal in (("straight", [(10, 20, 90, 20), (120, 10, 120, 90), (150, 20, 220, 90), (380, 30, 310, 100), (20, 150, 20, 280), (60, 270, 380, 270)],
                           True), ("any angle", apart(12, (300, 400), 60, 12), False)):
    mask = mask_of(made, (300, 400))
    peers = transform.probabilistic_hough_line(mask, threshold=10, line_length=45, line_gap=3, seed=1)
    rows = segments(mask, "--min-length", 45)
    c.check(f"scikit-image: {name}", matched(rows, made) and (len(peers) == len(made) if equal else len(peers) >= len(made)), (len(peers), len(rows)))
dashed = mask_of([(10 + 12 * i, 20, 10 + 12 * i + 8, 20) for i in range(10)], (40, 150))  # gaps of 3 pixels
c.check("--max-gap 3", matched(segments(dashed), [(10, 20, 126, 20)]))
c.check("--max-gap 2", segments(dashed, "--max-gap", 2) == [] and len(segments(dashed, "--max-gap", 2, "--min-length", 8, "--threshold", 4)) == 10)

# ---- what is an edge, tables, overlays ----

mask = mask_of([(3, 4, 88, 50), (80, 2, 10, 59)], (61, 90))
rows = found(mask, "--threshold", 40)
for name, image in (("1 of 255", mask // 255), ("16 bits", mask.astype(np.uint16)), ("floats", np.where(mask, np.float32(-0.25), np.float32(0))),
                    ("NaN", np.where(mask, np.float32(1), np.where(np.indices(mask.shape)[1] < 5, np.float32(np.nan), np.float32(0)))),
                    ("colour", np.dstack([mask * 0, mask, mask * 0])), ("gray and alpha", np.dstack([mask, np.full_like(mask, 255)]))):
    c.check(f"edges: {name}", found(image, "--threshold", 40) == rows != [])
c.check("no edges", found(np.zeros((9, 8), np.uint8)) == [] == segments(np.zeros((9, 8), np.uint8)) == segments(np.full((1, 1), 9, np.uint8)))
write(c.path("in.pgm"), mask)
j = json.loads(c.run("lines", c.path("in.pgm"), "--threshold", 40, "--format", "json"))
c.check("JSON", [tuple(round(line[k], 3) for k in COLUMNS[1:]) for line in j["lines"]] == rows and j["lines"][0]["shape"] == "line" and j["width"] == 90)
c.run("lines", c.path("in.pgm"), c.path("out.npy"), "--threshold", 40)
table = np.load(c.path("out.npy"))
c.check(".npy", [tuple(r) for r in table.tolist()] == rows and list(table.dtype.names) == COLUMNS[1:])
text = c.run("lines", c.path("in.pgm"), "--threshold", 40).decode().splitlines()
c.check("text", text[1] == f"{len(rows)} lines" and text[3].split() == COLUMNS[1:], text[:5])
write(c.path("photo.pgm"), cv2.GaussianBlur(mask_of([(3, 4, 88, 50)], (61, 90)), (0, 0), 1.2) * 2)
c.run("run", "canny | lines --method probabilistic --to " + c.path("chain.csv"), c.path("photo.pgm"))
c.check("a chain from canny", 1 <= len(open(c.path("chain.csv")).readlines()) - 1 <= 4)
c.run("lines", c.path("in.pgm"), c.path("segments.csv"), "--method", "probabilistic", "--overlay", c.path("over.ppm"))
over = read(c.path("over.ppm"))
c.check("--overlay", ((over != mask[..., None]).any(axis=2) | (mask == 0)).mean() > 0.99 and (over[0, 40] == 0).all())
c.run("draw", c.path("in.pgm"), c.path("drawn.ppm"), "--table", c.path("segments.csv"), "--color", "red", "--width", 1)
drawn = read(c.path("drawn.ppm")).astype(int)
red = drawn[..., 0] - drawn[..., 1] > 40
c.check("draw --table draws them", red[mask > 0].mean() > 0.9 and red[cv2.dilate(mask, np.ones((5, 5))) == 0].sum() == 0, red[mask > 0].mean())

write(c.path("wide.pgm"), np.zeros((1, 30000), np.uint8))
p = c.result("lines", c.path("wide.pgm"), "--rho", 0.1, "--theta", 0.05)
c.check("too many cells", p.returncode == 1 and "--rho 0.1, --theta 0.05: make an accumulator of 2" in p.stderr, (p.returncode, p.stderr))
for words, want in ((("--max-gap", 1), "--max-gap: want --method probabilistic with it"), (("--seed", 3), "--seed: want --method probabilistic"),
                    (("--min-length", 9), "--min-length: want --method"), (("--threshold", 0), "--threshold 0: want 1 to"),
                    (("--overlay", c.path("in.pgm")), "in.pgm"), (("--overlay", "x.xyz"), "--overlay")):
    p = c.result("lines", c.path("in.pgm"), *words)
    c.check(f"refused: {words}", p.returncode == 2 and want in p.stderr, p.stderr)
# A photograph in place of a mask of edges is named.
write(c.path("photograph.pgm"), c.rng.integers(1, 255, (20, 30)).astype(np.uint8))
said = c.result("lines", c.path("photograph.pgm")).stderr
c.check("a photograph is named", "100 % of the pixels are edges: want a mask of edges" in said, said)
c.end()
