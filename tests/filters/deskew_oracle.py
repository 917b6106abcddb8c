"""skew and deskew on pages that are rotated by known angles: skew prints them, and two marks on a line are level in the result of deskew.

Sources: filters/geometry/deskew.c filters/geometry/skew.c cli/commands/skew.c
"""
import csv
import io
import json
import os
import tarfile

from _common import Checks, need, np, read, write

ndimage, = need("scipy.ndimage")
c = Checks()


def page(height, width, letter):
    """Lines of letters, which are boxes of random sizes, in gray; and two red marks on a line, in the left and right margins."""
    image = np.full((height, width, 3), 230.0)
    margin = width // 8
    for y in range(2 * margin // 2, height - margin, 2 * letter):
        x = margin + letter
        while x < width - margin - c.rng.integers(1, 6) * letter:
            if c.rng.random() < 0.85:
                tall, wide = c.rng.choice([0.0, 0.0, 0.4]) * letter, max(1, int(letter * c.rng.uniform(0.2, 0.6)))
                image[int(y - letter - tall):y, x:x + wide] = 40
            x += int(letter * 0.8) + 1
    marks = []
    for x in (margin // 2, width - margin // 2):
        yy, xx = np.mgrid[:height, :width]
        near = np.hypot(yy - height // 2, xx - x) < 4
        image[near, 1:] = 30
        marks.append((height // 2, x))
    return image, marks


def turned(image, angle, noise=0.0, shade=0.0):
    """The page as scanned: rotated counterclockwise, darker to the lower right, with noise."""
    image = ndimage.rotate(image, angle, reshape=False, order=1, mode="nearest")
    y, x = np.mgrid[:image.shape[0], :image.shape[1]]
    image = image * (1 - shade * (x / image.shape[1] + y / image.shape[0]) / 2)[..., None]
    return image + c.rng.normal(0, noise, image.shape[:2])[..., None]


def slope(image):
    """The angle in degrees of the line through the centres of the marks, which rises to the right."""
    image = image.astype(np.float64)
    red = np.clip(image[..., 0] - image[..., 1] - 0.35 * (image.max() - image.min()), 0, None)
    red[ndimage.uniform_filter((red > 0).astype(float), 3) < 0.5] = 0
    half, found = image.shape[1] // 2, []
    for part, left in ((red[:, :half], 0), (red[:, half:], half)):
        y, x = ndimage.center_of_mass(part)
        found.append((y, x + left))
    return np.degrees(np.arctan2(found[0][0] - found[1][0], found[1][1] - found[0][1]))


def deskew(image, *args):
    out = c.path("straight.pam")
    write(c.path("in.pam"), image)
    p = c.result("deskew", c.path("in.pam"), out, "--device", "cpu", *args)
    c.check(f"deskew {args}", p.returncode == 0, p.stderr)
    return read(out), p.stderr


def skew(path, *args):
    """The angles, None where there is none, and the scores."""
    rows = csv.DictReader(io.StringIO(c.run("skew", path, "--format", "csv", *args).decode()))
    return [(float(row["angle"]) if row["angle"] else None, float(row["score"])) for row in rows]


worst = worst_skew = 0
for angle, size, letter, noise, shade in ((0, (700, 500), 11, 0, 0), (3.3, (700, 500), 11, 3, 0.5), (-7.91, (700, 500), 9, 6, 0.3),
                                          (0.37, (900, 700), 8, 3, 0.2), (-0.12, (900, 700), 8, 3, 0.2), (14.6, (600, 620), 12, 4, 0.6),
                                          (-1.5, (2300, 1800), 20, 5, 0.4), (2.22, (500, 900), 10, 2, 0)):
    straight, _ = page(*size, letter)
    image = np.clip(np.rint(turned(straight, angle, noise, shade)), 0, 255).astype(np.uint8)
    got, message = deskew(image, "--interpolation", "bicubic")
    off = slope(got)
    worst = max(worst, abs(off))
    (measured, score), = skew(c.path("in.pam"))
    worst_skew = max(worst_skew, abs(measured - angle))
    c.check(f"skew {angle} degrees {size} {noise} {shade}", abs(measured - angle) <= 0.05 and score > 3, (measured, score))
    c.check(f"{angle} degrees {size} {noise} {shade}", abs(off) <= 0.05 and not message, f"{off:.3f} degrees are left; {message}")
print(f"at most {worst:.3f} degrees are left, and skew is off by {worst_skew:.3f} degrees")

# Tables of many images, of the members of a tar and of the pages of a TIFF; a chain; JSON, .npy and text.
for i, angle in enumerate((-4.25, 0.8, 11.11)):
    write(c.path(f"page{i}.pgm"), np.clip(np.rint(turned(page(600, 450, 9)[0], angle, 2, 0.2)), 0, 255).astype(np.uint8)[..., 1])
pages = [c.path(f"page{i}.pgm") for i in range(3)]
with tarfile.open(c.path("pages.tar"), "w") as tar:
    for path in pages:
        tar.add(path, os.path.basename(path))
c.run("pages", *pages, "--out", c.path("pages.tif"))
singly = [row for path in pages for row in skew(path)]
c.check("three angles", np.abs(np.subtract([a for a, _ in singly], (-4.25, 0.8, 11.11))).max() <= 0.05, singly)
for how in ("bicubic", "bspline"):
    c.run("deskew", pages[0], c.path("deskewed.pgm"), "--interpolation", how)
    c.run("rotate", pages[0], c.path("rotated.pgm"), "--angle", -singly[0][0], "--interpolation", how, "--border", "clamp")
    differ = (read(c.path("deskewed.pgm")) != read(c.path("rotated.pgm"))).mean()
    c.check(f"{how} is that of rotate", differ < 0.001, differ)
for name, words in (("files", [*pages, "--table", c.path("t.csv")]), ("a tar", ["--tar", c.path("pages.tar"), "--table", c.path("t.csv")]),
                    ("pages", [c.path("pages.tif[*]"), "--table", c.path("t.csv")])):
    c.run("skew", *words)
    rows = list(csv.DictReader(open(c.path("t.csv"))))
    c.check(f"a table of {name}", [(float(r["angle"]), float(r["score"])) for r in rows] == singly, rows)
c.run("run", "invert | skew --max-angle 12 --to " + c.path("chain.csv"), pages[2])
c.check("a chain", open(c.path("chain.csv")).read().split()[1].split(",")[0] == f"{singly[2][0]:g}")
c.check("beyond --max-angle", not any(abs((a or 0) - 11.11) < 1 for a, _ in skew(pages[2], "--max-angle", 8)))
j = json.loads(c.run("skew", pages[0], "--format", "json"))
c.check("JSON", j["angle"] == singly[0][0] and abs(j["score"] - singly[0][1]) < 1e-6 and j["width"] == 450, j)
c.run("skew", pages[0], c.path("t.npy"))
c.check("npy", [tuple(row) for row in np.load(c.path("t.npy"))] == [(j["angle"], j["score"])])
c.check("text", f"angle {j['angle']:.2f} degrees, score {j['score']:.2f}" in c.run("skew", pages[0]).decode())

straight, _ = page(700, 500, 11)
wide = np.clip(np.rint(turned(straight, 4.4, 2, 0.3)) * 257, 0, 65535).astype(np.uint16)
c.check("16 bits", abs(slope(deskew(wide)[0])) <= 0.05)
gray = np.clip(turned(straight, -2.7), 0, 255).astype(np.float32)[..., 0] / 255
write(c.path("in.pfm"), gray)
c.run("deskew", c.path("in.pfm"), c.path("out.pfm"))
c.run("deskew", c.path("out.pfm"), c.path("again.pfm"))
c.check("a straight page stays as it is", np.array_equal(read(c.path("again.pfm")), read(c.path("out.pfm")))
        or np.abs(read(c.path("again.pfm")) - read(c.path("out.pfm"))).mean() < 0.01)
image = np.clip(np.rint(turned(straight, 20)), 0, 255).astype(np.uint8)
c.check("20 degrees with --max-angle 25", abs(slope(deskew(image, "--max-angle", 25)[0])) <= 0.05)
# Nothing to find: noise, one colour, few pixels.
for image in (c.rng.integers(0, 256, (300, 200, 3), dtype=np.uint8), np.full((50, 60, 3), 7, np.uint8), np.zeros((1, 1, 3), np.uint8),
              np.zeros((1, 50, 3), np.uint8), np.zeros((50, 1, 3), np.uint8)):
    got, message = deskew(image)
    c.check(f"nothing to find {image.shape}", np.array_equal(got, image) and "no lines of text are found" in message, message)
    c.check(f"no angle {image.shape}", skew(c.path("in.pam"))[0][0] is None and json.loads(c.run("skew", c.path("in.pam"), "--format", "json"))["angle"] is None
            and "no lines of text, score" in c.run("skew", c.path("in.pam")).decode())
holes = gray.copy()
holes[::7, ::5] = np.nan
write(c.path("in.pfm"), holes)
c.check("NaN", np.isfinite(skew(c.path("in.pfm"))[0][1]))
# The corners repeat the page, or have a colour.
image = np.clip(np.rint(turned(straight, 9)), 0, 255).astype(np.uint8)
c.check("--border border", tuple(deskew(image, "--border", "border", "--background", "red")[0][0, 0]) == (255, 0, 0))
scan = os.path.join(os.path.dirname(__file__), "../../testdata/scan.png")
c.run("deskew", scan, c.path("a.ppm"), "--threads", 1)
c.run("deskew", scan, c.path("b.ppm"), "--threads", 4)
c.check("threads", np.array_equal(read(c.path("a.ppm")), read(c.path("b.ppm"))))
p = c.result("deskew", scan, c.path("none.png"), "--max-angle", 45)
c.check("refuses 45 degrees", p.returncode == 2 and "--max-angle 45: want 0.2 to 44 degrees" in p.stderr, p.stderr)
c.end()
