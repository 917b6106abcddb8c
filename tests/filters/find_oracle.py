"""Scores of find against numpy in double and OpenCV's matchTemplate, its places against a greedy search, and its outputs.

Sources: filters/statistics/find.c cli/commands/find.c kernels/cpu/statistics/correlate.c cli/plot/overlay.c cli/tables/table_file.c
"""
import json
import os

from _common import Checks, need, np, optional, random_image, read, suffix, write

cv2 = optional("cv2")
c = Checks()
os.chdir(c.folder.name)
LEAST = {"sqdiff"}


def planes(a):
    return a.reshape(a.shape[0], a.shape[1], -1).astype(np.float64)


def scores_of(image, template, method, mask=None):
    """By the formulas of the help, one place after the other."""
    p = planes(template)
    m = np.ones(p.shape[:2], bool) if mask is None else mask
    p = p[m]
    h, w = template.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(planes(image), (h, w), axis=(0, 1))
    out = np.zeros(windows.shape[:2])
    for y, x in np.ndindex(out.shape):
        v = np.moveaxis(windows[y, x], 0, -1)[m]
        a, b = p, v
        if method == "ccoeff":
            a, b = p - p.mean(axis=0), v - v.mean(axis=0)
        norm = np.sqrt((a * a).sum()) * np.sqrt((b * b).sum())
        top = ((a - b) ** 2).sum() if method == "sqdiff" else (a * b).sum()
        flat = norm <= 1e-9 * max(1, np.abs(v).max())
        out[y, x] = (method == "sqdiff" and top != 0) if flat else min(1, top / norm)
    return out


def find(image, template, *words, status=0):
    """Returns the rows of the table and the map of scores."""
    source, other = "in" + suffix(image), "template" + suffix(template)
    write(source, image)
    write(other, template)
    words = list(words)
    text = c.run("find", source, "--template", other, "--map", "map.npy", "--format", "csv", *words, status=status).decode()
    lines = [line.split(",") for line in text.split()]
    c.check("names", lines[0] == ["x", "y", "width", "height", "score"], lines[0])
    return [(*map(int, line[:4]), float(line[4])) for line in lines[1:]], np.load("map.npy")


def greedy(scores, w, h, least, limit, overlap, count):
    """The best place, then the best of those that it does not cover too much, and so on."""
    order = sorted(((s if least else -s), y, x) for (y, x), s in np.ndenumerate(scores) if (s <= limit if least else s >= limit))
    taken = []
    for _, y, x in order:
        if all(max(0, w - abs(x - a)) * max(0, h - abs(y - b)) <= overlap / 100 * w * h for b, a in taken):
            taken.append((y, x))
        if len(taken) == count:
            break
    return [(x, y) for y, x in taken]


# The map, for all types and channels.
worst, theirs = {}, {}
for dtype in np.uint8, np.uint16, np.float32:
    for shape in (37, 52), (37, 52, 3), (19, 23, 2), (19, 23, 4):
        for size in (5, 7), (1, 1), (16, 3), shape[:2]:
            image = random_image(c.rng, shape, dtype)
            image[:20, :14] = image[0, 0]  # an area of one value
            colors = {2: 1, 4: 3}.get(len(shape) > 2 and shape[2], len(shape) > 2 and shape[2] or 1)
            template = random_image(c.rng, (*size, colors), dtype)
            template = template[:, :, 0] if colors == 1 else template
            opaque = planes(image)[:, :, :colors]
            for method in "ccoeff", "ncc", "sqdiff":
                _, got = find(image, template, "--method", method)
                want = scores_of(opaque, template, method)
                off = np.abs(got - want).max()
                worst[method] = max(worst.get(method, 0), off)
                if off > 1e-6 or got.shape != want.shape:
                    c.check(f"{method} {dtype.__name__} {shape} {size}", False, off)
                if cv2 and len(shape) == 2 and dtype != np.uint16 and min(size) > 1:
                    code = {"ccoeff": cv2.TM_CCOEFF_NORMED, "ncc": cv2.TM_CCORR_NORMED, "sqdiff": cv2.TM_SQDIFF_NORMED}[method]
                    flat = np.lib.stride_tricks.sliding_window_view(image, size).std(axis=(2, 3)) == 0
                    off = np.abs(got - cv2.matchTemplate(image, template, code))[~flat].max()
                    theirs[method] = max(theirs.get(method, 0), off)
c.check("double: within 1e-6", max(worst.values()) <= 1e-6, worst)
if cv2:
    c.check("OpenCV: within 0.0001", max(theirs.values()) <= 1e-4, theirs)
    # Large: OpenCV computes by a DFT in float here.
    image, template = random_image(c.rng, (301, 400), np.uint8), random_image(c.rng, (64, 64), np.uint8)
    image[100:164, 31:95] = template // 2 + 20
    hits, got = find(image, template)
    c.check("OpenCV, 64 x 64", np.abs(got - cv2.matchTemplate(image, template, cv2.TM_CCOEFF_NORMED)).max() <= 1e-4)
    c.check("brightness and contrast", [h[:4] for h in hits] == [(31, 100, 64, 64)] and hits[0][4] > 0.999, hits)
else:
    c.skip("no cv2")

# Alpha of the template.
for dtype in np.uint8, np.uint16, np.float32:
    for colors in 1, 3:
        image = random_image(c.rng, (30, 41) if colors == 1 else (30, 41, 3), dtype)
        template = random_image(c.rng, (6, 9, colors + 1), dtype)
        template[..., -1] *= c.rng.integers(0, 2, (6, 9)).astype(dtype)
        for method in "ccoeff", "ncc", "sqdiff":
            _, got = find(image, template, "--method", method)
            want = scores_of(image, template[..., :-1], method, template[..., -1] > 0)
            c.check(f"alpha: {method} {dtype.__name__} {colors}", np.abs(got - want).max() <= 1e-6, np.abs(got - want).max())

# Floats far from 0, and NaN and infinity, which change only the scores of their own windows.
image = random_image(c.rng, (30, 40), np.float32) + np.float32(1000)
template = image[5:13, 7:19].copy()
_, got = find(image, template)
c.check("an offset", np.abs(got - scores_of(image, template, "ccoeff")).max() <= 1e-6)
odd = image.copy()
odd[20, 30], odd[28, 1] = np.nan, np.inf
for method in "ccoeff", "ncc", "sqdiff":
    _, plain = find(image, template, "--method", method)
    _, got = find(odd, template, "--method", method)
    touched = ~np.isfinite(np.lib.stride_tricks.sliding_window_view(odd, template.shape)).all(axis=(2, 3))
    c.check(f"NaN: {method}", np.array_equal(got[~touched], plain[~touched]) and (got[touched] == (method == "sqdiff")).all())

# Places: thresholds, counts, overlap.
image = c.rng.integers(0, 4, (50, 60)).astype(np.uint8) * 60
template = image[10:16, 20:28].copy()
image[30:36, 5:13] = template
image[33:39, 7:15] = template
image[3:9, 50:58] = 255 - template
for method in "ccoeff", "ncc", "sqdiff":
    least = method in LEAST
    for limit in (0.05, 0.3) if least else (0.3, 0.9):
        for overlap in 0, 25, 60:
            for count in 0, 1, 3:
                hits, scores = find(image, template, "--method", method, "--max-score" if least else "--min-score", limit, "--max-overlap", overlap, "--count", count)
                want = greedy(scores, 8, 6, least, np.float32(limit), overlap, count)
                c.check(f"places: {method} {limit} {overlap} {count}", [h[:2] for h in hits] == want and all(h[2:4] == (8, 6) and h[4] == np.float64(f"{scores[h[1], h[0]]:.9g}") for h in hits), (hits[:5], want[:5]))

# The limit counts in double, ties are in raster order, and the map makes no difference.
flat = np.full((23, 31), 9, np.uint8)
for what, source, method, option in ("ccoeff", image, "ccoeff", "--min-score"), ("sqdiff", image, "sqdiff", "--max-score"), ("flat", flat, "ncc", "--min-score"):
    least = method in LEAST
    _, scores = find(source, template if what != "flat" else flat[:3, :4], "--method", method)
    at = float(np.sort(scores, axis=None)[scores.size // 3])
    for limit in at, np.nextafter(at, 2), np.nextafter(at, -2):
        words = "--method", method, option, repr(float(limit)), "--max-overlap", "100"
        if abs(limit) > 1:
            continue
        hits, _ = find(source, template if what != "flat" else flat[:3, :4], *words)
        order = sorted((s if least else -s, y, x) for (y, x), s in np.ndenumerate(scores.astype(float)) if (s <= limit if least else s >= limit))
        c.check(f"{what}: limit {limit!r}", [h[:2] for h in hits] == [(x, y) for _, y, x in order], (len(hits), len(order)))
        alone = c.run("find", "in" + suffix(source), "--template", "template" + suffix(source), "--format", "csv", *words).decode().split()
        c.check(f"{what}: without a map {limit!r}", [tuple(map(int, line.split(",")[:2])) for line in alone[1:]] == [h[:2] for h in hits])

# Tables and images.
write("page.pgm", image)
write("logo.pgm", template)
made = json.loads(c.run("find", "page.pgm", "--template", "logo.pgm", "--format", "json", "--min-score", "0.99"))
c.check("json", made["method"] == "ccoeff" and {(p["x"], p["y"]) for p in made["places"]} >= {(20, 10), (7, 33)}, made)
c.run("find", "page.pgm", "hits.npy", "--template", "logo.pgm", "--min-score", "0.99", "--overlay", "found.ppm", "--map", "map.pgm")
table, found = np.load("hits.npy"), read("found.ppm")
c.check("npy", table.dtype.names == ("x", "y", "width", "height", "score") and len(table) == len(made["places"]), table)
c.check("overlay", found.shape == (50, 60, 3) and (found[9, 19:29] == [255, 214, 10]).all(axis=1).any())
text = c.run("find", "page.pgm", "--template", "logo.pgm", "--min-score", "0.999", "--max-overlap", "0").decode()
c.check("text", "places" in text and text.split("\n")[3].split() == ["x", "y", "width", "height", "score"], text)
c.run("find", "page.pgm", "page.pgm", "--template", "logo.pgm", "--table", "all.csv")
c.check("many", len(open("all.csv").readlines()) == 1 + 2 * len(made["places"]) or open("all.csv").readline().startswith("file,x,y"))
c.check("a chain", b"20,10,8,6,1" in c.run("run", "invert | invert | find --template logo.pgm --count 3 --format csv --min-score 0.99", "page.pgm"))

# Errors.
for words, want in ((("logo.pgm", "--template", "page.pgm"), "--template page.pgm: is 60 x 50, want at most 8 x 6 as the input"),
                    (("page.pgm", "--template", "found.ppm"), "--template found.ppm: is in colour, want gray as the input (or --gray)"),
                    (("page.pgm", "--template", "logo.pgm", "--max-score", 0.1), "--max-score 0.1: want --min-score, or --method sqdiff"),
                    (("page.pgm", "--template", "logo.pgm", "--method", "sqdiff", "--min-score", 0.8), "--min-score 0.8: want --max-score with"),
                    (("page.pgm", "--template", "logo.pgm", "--map", "page.pgm"), "page.pgm"),
                    (("page.pgm", "--template", "logo.pgm", "--map", "x.npy", "--overlay", "x.npy"), "want a file for each")):
    p = c.result("find", *words)
    c.check(f"refused: {words}", p.returncode in (1, 2) and want in p.stderr, p.stderr)
p = c.result("find", "page.pgm")
c.check("no template", p.returncode == 2 and "--template" in p.stderr, p.stderr)
c.end()
