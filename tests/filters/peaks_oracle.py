"""peaks against scikit-image's peak_local_max().

Sources: filters/regions/peaks* cli/commands/peaks.c cli/tables/rows_table.c
"""
import csv
import io
import json

from _common import Checks, need, np, suffix, write

feature, ndimage = need("skimage.feature", "scipy.ndimage")
c = Checks()


def found(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    rows = list(csv.reader(io.StringIO(c.run("peaks", path, "--format", "csv", *args).decode())))
    assert rows[0] == ["x", "y", "value"]
    return [(int(x), int(y), float(v)) for x, y, v in rows[1:]]


def images():
    for sigma in (0, 1.5, 4):
        for shape in ((1, 1), (9, 40), (67, 90), (150, 131)):
            noise = c.rng.random(shape)
            noise = ndimage.gaussian_filter(noise, sigma) if sigma else noise
            yield f"floats {sigma} {shape}", (3 * noise - 1).astype(np.float32)
            noise = (noise - noise.min()) / max(1e-9, np.ptp(noise))
            yield f"16 bits {sigma} {shape}", np.rint(noise * 65535).astype(np.uint16)


# Values that are all different: the same peaks in the same order.
for name, image in images():
    exact = image.astype(np.float64)
    for distance in (1, 2, 5, 20):
        for args, more in (((), {}), (("--keep-border",), {"exclude_border": False}), (("--count", 7), {"num_peaks": 7}),
                           (("--threshold", float(np.percentile(exact, 70))), {"threshold_abs": float(np.percentile(exact, 70))})):
            want = feature.peak_local_max(exact, min_distance=distance, **more) if image.size > 1 else np.zeros((0, 2), int)
            got = found(image, "--min-distance", distance, *args)
            values = [v for _, _, v in got]
            ties = len(set(values)) < len(values) or len(np.unique(exact[tuple(want.T)])) < len(want)
            points, peer = [(x, y) for x, y, _ in got], [(x, y) for y, x in want]
            same = sorted(points) == sorted(peer) if ties and "--count" not in args else ties or points == peer
            c.check(f"{name} {distance} {args}", same, (got[:5], peer[:5], len(got), len(peer)))
            c.check(f"{name} {distance} {args} values", all(abs(v - exact[y, x]) <= 1e-9 * abs(v) for x, y, v in got)
                    and values == sorted(values, reverse=True))

# Plateaus: peaks of equal value in raster order, none nearer than the distance to one before.
for distance in (1, 2, 3):
    image = c.rng.integers(0, 4, (40, 50), dtype=np.uint8)
    top = ndimage.maximum_filter(image, 2 * distance + 1, mode="nearest")
    kept = []
    for y, x in sorted(zip(*np.nonzero((image == top) & (image > image.min()))), key=lambda p: -int(image[p])):
        if all(max(abs(x - u), abs(y - v)) >= distance for u, v in kept):
            kept.append((x, y))
    got = found(image, "--min-distance", distance, "--keep-border")
    c.check(f"plateaus {distance}", [(x, y) for x, y, _ in got] == kept, (got[:5], kept[:5]))
c.check("a flat image", found(np.full((5, 9), 7, np.uint8)) == [])

# Colour by its luma, NaN, JSON and .npy.
image = c.rng.integers(0, 256, (30, 40), dtype=np.uint8)
c.check("colour", found(np.dstack([image] * 3)) == found(image))
floats = image.astype(np.float32)
floats[10:13, 10:13] = np.nan
c.check("NaN is no peak", all(np.isfinite(v) for _, _, v in found(floats, "--min-distance", 1)))
rows = found(image, "--min-distance", 3)
j = json.loads(c.run("peaks", c.path("in.pgm"), "--min-distance", 3, "--format", "json"))
c.check("JSON", [(p["x"], p["y"], p["value"]) for p in j["peaks"]] == rows and j["width"] == 40)
text = c.run("peaks", c.path("in.pgm"), "--min-distance", 3).decode().split("\n", 1)[1]
lines = [("x", "y", "value"), *((x, y, f"{v:g}") for x, y, v in rows)]
c.check("text", text == f"{len(rows)} peaks\n\n" + "".join(f"{x:>9} {y:>9} {v:>14}\n" for x, y, v in lines), text)
c.run("peaks", c.path("in.pgm"), c.path("out.npy"), "--min-distance", 3)
c.check(".npy", [tuple(p) for p in np.load(c.path("out.npy")).tolist()] == rows)
c.run("run", "peaks --min-distance 3 --to " + c.path("chain.csv"), c.path("in.pgm"))
c.check("a chain", open(c.path("chain.csv")).read() == c.run("peaks", c.path("in.pgm"), "--min-distance", 3, "--format", "csv").decode())
c.end()
