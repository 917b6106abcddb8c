"""circles against made ones and OpenCV's HoughCircles(), and its tables, overlay and draw --table.

Sources: filters/regions/circle* cli/commands/circles.c
"""
import csv
import io
import json
import math

from _common import Checks, need, np, read, suffix, write

cv2, = need("cv2")
c = Checks()
COLUMNS = ["x", "y", "radius", "votes"]


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    rows = list(csv.reader(io.StringIO(c.run("circles", path, "--format", "csv", *args).decode())))
    assert rows[0] == COLUMNS
    return [tuple(map(float, r)) for r in rows[1:]]


def mask_of(circles, shape):
    """Circles of one pixel's width."""
    y, x = np.indices(shape)
    mask = np.zeros(shape, bool)
    for cx, cy, r in circles:
        mask |= abs(np.hypot(x - cx, y - cy) - r) < 0.5
    return mask.astype(np.uint8) * 255


def matched(rows, made, reach=0.5):
    """Whether the rows are the made circles, each once, with centre and radius at most this far away."""
    left = list(made)
    for x, y, r, _ in rows:
        near = [m for m in left if math.hypot(m[0] - x, m[1] - y) <= reach and abs(m[2] - r) <= reach]
        if not near:
            return False
        left.remove(near[0])
    return not left


def apart(n, shape, radii, overlap=False):
    """Random circles inside the image. None touches another, or with `overlap` no centres are near each other."""
    made = []
    while len(made) < n:
        r = c.rng.uniform(*radii)
        x, y = c.rng.uniform(r + 1, shape[1] - r - 2), c.rng.uniform(r + 1, shape[0] - r - 2)
        if all(math.hypot(x - u, y - v) > (max(20, 0.4 * (r + s)) if overlap else r + s + 5) for u, v, s in made):
            made.append((x, y, r))
    return made


for seed in range(2):
    for name, made, shape, args in (
            ("small", apart(25, (200, 300), (5, 12)), (200, 300), ("--max-radius", 15)),
            ("medium", apart(8, (400, 500), (15, 60)), (400, 500), ()),
            ("overlapping", apart(6, (400, 500), (25, 70), True), (400, 500), ("--min-radius", 20, "--max-radius", 80)),
            ("large", apart(1, (900, 1000), (250, 400)), (900, 1000), ("--min-radius", 100))):
        mask = mask_of(made, shape)
        rows = found(mask, *args)
        c.check(f"made circles {name} {seed}", matched(rows, made), (sorted(rows), sorted(made)))
        noisy = np.where(c.rng.random(shape) < 0.01, np.uint8(255), mask)
        rows = found(noisy, *args)
        c.check(f"with noise {name} {seed}", matched(rows, made), (sorted(rows), sorted(made)))
c.check("half a circle is found with --min-arc", len(found(half := mask_of([(60, 50, 30)], (51, 120)), "--min-arc", 170, "--max-radius", 40)) == 1 and found(half, "--min-arc", 200, "--max-radius", 40) == [])
c.check("a line is no circle", found(np.eye(200, dtype=np.uint8) * 255, "--min-radius", 10) == [])
c.check("nothing in nothing", found(np.zeros((1, 1), np.uint8)) == found(np.full((1, 1), 7, np.uint8)) == found(np.zeros((40, 3), np.uint8)) == [])

# OpenCV votes with the gradients of the picture, whole pixels as centres: within 2 pixels.
for seed in range(3):
    made = apart(6, (300, 400), (15, 45))
    y, x = np.indices((300, 400))
    picture = np.full((300, 400), 40.0)
    for u, v, r in made:
        picture[np.hypot(x - u, y - v) < r] = 200
    picture = cv2.GaussianBlur(picture, (0, 0), 1).round().astype(np.uint8)
    peers = cv2.HoughCircles(picture, cv2.HOUGH_GRADIENT, 1, 20, param1=150, param2=15, minRadius=12, maxRadius=50)[0]
    write(c.path("discs.pgm"), picture)
    c.run("run", "canny --low 75 --high 150 | circles --min-radius 12 --max-radius 50 --min-distance 20 --to " + c.path("discs.csv"), c.path("discs.pgm"))
    rows = [tuple(map(float, r)) for r in list(csv.reader(open(c.path("discs.csv"))))[1:]]
    c.check(f"discs {seed}", matched(rows, made, 0.8), (rows, made))  # their edge is where the middle level is: half a pixel off
    c.check(f"HoughCircles {seed}", matched(rows, [tuple(map(float, p)) for p in peers], 2), (rows, peers))

# Options, tables, overlay.
made = [(40, 30, 20), (100, 60, 30), (30.5, 90.25, 12)]
mask = mask_of(made, (120, 150))
rows = found(mask)
c.check("the most votes first", [r[3] for r in rows] == sorted((r[3] for r in rows), reverse=True) and matched(rows, made))
y, x = np.nonzero(mask)
c.check("votes", all(abs((abs(np.hypot(x - u, y - v) - r) <= 1).sum() - n) <= 0.05 * n for u, v, r, n in rows), rows)
c.check("--count", found(mask, "--count", 2) == rows[:2])
c.check("--min-radius", matched(found(mask, "--min-radius", 16), made[:2]))
c.check("--max-radius", matched(found(mask, "--max-radius", 25), [made[0], made[2]]))
c.check("--threshold", found(mask, "--threshold", int(rows[1][3])) == rows[:1])
rings = mask_of([(60, 60, 20), (60, 60, 40)], (120, 120))
c.check("--min-distance", matched(found(rings), [(60, 60, 40)]) and matched(found(rings, "--min-distance", 0), [(60, 60, 40), (60, 60, 20)]), found(rings))
for name, image in (("16 bits", mask.astype(np.uint16)), ("floats", np.where(mask, np.float32(-0.25), np.float32(0))), ("colour", np.dstack([mask * 0, mask, mask * 0]))):
    c.check(f"edges: {name}", found(image) == rows)
write(c.path("in.pgm"), mask)
j = json.loads(c.run("circles", c.path("in.pgm"), "--format", "json"))
c.check("JSON", all(abs(circle[k] - v) < 1e-6 for circle, row in zip(j["circles"], rows) for k, v in zip(COLUMNS, row)) and len(j["circles"]) == 3)
c.run("circles", c.path("in.pgm"), c.path("out.npy"))
c.check(".npy", np.allclose(np.array([list(r) for r in np.load(c.path("out.npy")).tolist()]), rows, atol=1e-6))
text = c.run("circles", c.path("in.pgm")).decode().splitlines()
c.check("text", text[1] == "3 circles" and text[3].split() == COLUMNS and len(text) == 7, text)
c.run("circles", c.path("in.pgm"), c.path("circles.csv"), "--overlay", c.path("over.ppm"))
over = read(c.path("over.ppm")).astype(int)
drawn = np.ptp(over, axis=2) > 60
c.check("--overlay", drawn[mask > 0].mean() > 0.8 and drawn[cv2.dilate(mask, np.ones((5, 5))) == 0].sum() == 0, drawn[mask > 0].mean())
c.run("draw", c.path("in.pgm"), c.path("drawn.ppm"), "--table", c.path("circles.csv"), "--color", "red", "--width", 1)
red = np.ptp(read(c.path("drawn.ppm")).astype(int), axis=2) > 40
c.check("draw --table draws them", red[mask > 0].mean() > 0.8 and red[cv2.dilate(mask, np.ones((5, 5))) == 0].sum() == 0, red[mask > 0].mean())
for words, want in ((("--min-radius", 50, "--max-radius", 20), "--max-radius 20: want at least --min-radius, 50"), (("--min-arc", 0), "--min-arc 0: want 1 to 360"),
                    (("--overlay", c.path("in.pgm")), "in.pgm")):
    p = c.result("circles", c.path("in.pgm"), *words)
    c.check(f"refused: {words}", p.returncode == 2 and want in p.stderr, p.stderr)
# A photograph in place of a mask of edges is named.
write(c.path("photograph.pgm"), c.rng.integers(1, 255, (20, 30)).astype(np.uint8))
said = c.result("circles", c.path("photograph.pgm")).stderr
c.check("a photograph is named", "100 % of the pixels are edges: want a mask of edges" in said, said)
c.end()
