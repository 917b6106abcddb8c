"""stats against numpy, and against Python's fractions: sums of floats are the nearest double for any number of threads.

Sources: filters/statistics/stats* filters/statistics/exact* filters/statistics/order*
"""
import json
import math
from fractions import Fraction

from _common import Checks, np, random_image, suffix, write

c = Checks()
P = [0, 2.5, 33.3, 90, 100]


def save(path, image):
    """Saves an image; floats with NaN or other channel counts need .npy."""
    if image.dtype == np.float32:
        np.save(path, image)
    else:
        write(path, image)


def measured(image, *args):
    path = c.path("in" + (".npy" if image.dtype == np.float32 else suffix(image)))
    save(path, image)
    text = c.run("stats", path, "--json", "--percentiles", ",".join(map(str, P)), *args)
    return json.loads(text)["channels"]


def check_channel(name, got, plane, kept):
    """`plane`: all samples; `kept`: a mask of the same shape. Fractions are rounded once, like float()."""
    values = plane[kept & np.isfinite(plane)].astype(np.float64)
    n, width = values.size, plane.shape[1]
    whole = [int(v) for v in values] if plane.dtype != np.float32 else [Fraction(v) for v in values.tolist()]
    total, squares = Fraction(sum(whole)), Fraction(sum(v * v for v in whole))
    want = {"count": n, "sum": float(total), "mean": float(total / n), "l1": float(sum(map(abs, whole))),
            "variance": float((squares * n - total * total) / (n * n)),
            "l2": math.sqrt(float(squares)), "rms": math.sqrt(float(squares / n)),
            "min": values.min(), "max": values.max(), "range": float(values.max()) - float(values.min()),
            "nan": int(np.isnan(plane[kept]).sum()), "positive_infinity": int((plane[kept] == np.inf).sum()),
            "negative_infinity": int((plane[kept] == -np.inf).sum())}
    want["stddev"] = math.sqrt(want["variance"])
    for key, value in want.items():
        c.check(f"{name} {key}", got[key] == value, f"{got[key]!r}, want {value!r}")
    c.check(f"{name} sum is fsum's", got["sum"] == math.fsum(values.tolist()))
    for end, low in (("min", True), ("max", False)):
        masked = np.where(kept & np.isfinite(plane), plane.astype(np.float64), np.inf if low else -np.inf)
        at = int(masked.argmin() if low else masked.argmax())
        c.check(f"{name} place of {end}", (got[end + "_x"], got[end + "_y"]) == (at % width, at // width))
    for key, p in [("median", 50)] + [(f"p{p:g}", p) for p in P]:
        value = np.percentile(values, p)
        c.check(f"{name} {key}", abs(got[key] - value) <= 1e-12 * max(abs(got[key]), abs(value)), f"{got[key]}, {value}")
    if plane.dtype == np.float32:
        c.check(f"{name} no entropy", got["entropy"] is None and got["unique"] is None)
        return
    _, counts = np.unique(values, return_counts=True)
    share = counts / n
    c.check(f"{name} unique", got["unique"] == counts.size)
    c.check(f"{name} entropy", abs(got["entropy"] - float(-(share * np.log2(share)).sum())) < 1e-9)


def check_image(name, image, *args, opaque=False):
    planes = image.reshape(*image.shape[:2], -1)
    last = planes.shape[2] - 1
    kept = planes[:, :, last] > 0 if opaque else np.ones(image.shape[:2], bool)
    channels = measured(image, *args, *(["--opaque"] if opaque else []))
    c.check(f"{name} channels", len(channels) == last + 1)
    for i, got in enumerate(channels):
        check_channel(f"{name} {got['name']}", got, planes[:, :, i], kept)


def test_integers():
    for dtype in (np.uint8, np.uint16):
        for shape in ((1, 1), (1, 17), (31, 33), (97, 131), (40, 50, 2), (45, 47, 3), (33, 50, 4)):
            image = random_image(c.rng, shape, dtype)
            check_image(f"{dtype.__name__} {shape}", image)
            if len(shape) == 3 and shape[2] % 2 == 0:
                image[:, :, -1][c.rng.random(shape[:2]) < 0.4] = 0
                check_image(f"{dtype.__name__} {shape} opaque", image, opaque=True)


def wide(shape):
    """Floats of all exponents."""
    with np.errstate(over="ignore", under="ignore"):
        image = c.rng.standard_normal(shape) * 2.0 ** c.rng.integers(-148, 126, shape)
    return image.astype(np.float32)


def test_floats():
    near = (c.rng.standard_normal((111, 93)) * 40 + 1e4).astype(np.float32)
    images = {"near": near, "wide": wide((61, 83)), "small": near * np.float32(1e-42),
              "one large": np.where(np.arange(111 * 93).reshape(111, 93) == 5000, np.float32(3e38), near),
              "cancelling": np.concatenate([near, -near[::-1]]), "RGBA": wide((25, 40, 4)),
              "zeros": np.array([[0.0, -0.0, 0.0]], np.float32)}
    for name, image in images.items():
        check_image(name, image)
    odd = near.copy()
    odd[3, 4:9] = np.nan
    odd[0, 0], odd[50, 1], odd[51, 1] = np.inf, -np.inf, -np.inf
    check_image("odd", odd)
    alpha = np.stack([odd, (c.rng.random(odd.shape) < 0.5).astype(np.float32)], 2)
    check_image("odd opaque", alpha, opaque=True)


def zones_of(by, height, width):
    """Returns the groups of --group-by for an image of that shape: a name and the rows and columns of each."""
    if by in ("row", "column"):
        for i in range(height if by == "row" else width):
            yield {by: i}, (slice(i, i + 1), slice(0, width)) if by == "row" else (slice(0, height), slice(i, i + 1))
        return
    w, h = {"50%": ((width + 1) // 2, (height + 1) // 2)}.get(by) or map(int, by.split("x"))
    for y in range(0, height, h):
        for x in range(0, width, w):
            yield ({"x": x, "y": y, "width": min(w, width - x), "height": min(h, height - y)},
                   (slice(y, y + h), slice(x, x + w)))


def test_zones():
    odd = wide((13, 11))
    odd[2] = np.nan
    odd[3, 3], odd[4, 4:6] = np.inf, -np.inf
    images = {"u8": random_image(c.rng, (13, 7, 3), np.uint8), "u16": random_image(c.rng, (9, 12, 2), np.uint16),
              "one": random_image(c.rng, (1, 1), np.uint8), "f32": odd}
    for name, image in images.items():
        height, width = image.shape[:2]
        planes = image.reshape(height, width, -1)
        path = c.path("in" + (".npy" if image.dtype == np.float32 else suffix(image)))
        save(path, image)
        for by in ("row", "column", "4x5", "50%", "100x1"):
            opaque = name == "u16"
            answer = json.loads(c.run("stats", path, "--json", "--percentiles", ",".join(map(str, P)), "--by", by,
                                      *["--opaque"] * opaque))
            want = list(zones_of(by, height, width))
            got = answer["zones"]
            c.check(f"{name} by {by}: zones", answer["by"] == by and len(got) == len(want))
            for (place, at), zone in zip(want, got):
                what = f"{name} by {by} {place}"
                c.check(f"{what}: where", {k: zone[k] for k in place} == place and len(zone) == len(place) + 1)
                kept = np.zeros((height, width), bool)
                kept[at] = True
                if opaque:
                    kept &= planes[:, :, -1] > 0
                for i, channel in enumerate(zone["channels"]):
                    if (kept & np.isfinite(planes[:, :, i])).any():
                        check_channel(f"{what} {i}", channel, planes[:, :, i], kept)
                    else:
                        c.check(f"{what} {i}: nothing", channel["count"] == channel["sum"] == 0 and
                                channel["min_x"] is channel["mean"] is channel["median"] is channel["p90"] is None)
        whole, one = (json.loads(c.run("stats", path, "--json", *a)) for a in ((), ("--by", "100%")))
        c.check(f"{name}: one zone is the image, to the bit", whole["channels"] == one["zones"][0]["channels"])


def test_labels():
    image = random_image(c.rng, (23, 31, 3), np.uint8)
    path = c.path("in.ppm")
    write(path, image)
    labels = c.rng.choice(np.array([0, 0, 1, 2, 5, 900, 70000]), (23, 31))
    labels[4, 7] = 3
    for dtype, file in ((np.uint8, "labels.pgm"), (np.uint16, "labels.png"), (np.float32, "labels.pfm"), (np.uint32, "labels.npy")):
        own = np.where(labels > np.iinfo(dtype).max, 0, labels) if dtype != np.float32 else labels
        write(c.path(file), own.astype(dtype)) if file[-3:] != "npy" else np.save(c.path(file), own.astype(dtype))
        answer = json.loads(c.run("stats", path, "--json", "--percentiles", ",".join(map(str, P)), "--labels", c.path(file)))
        want = [v for v in np.unique(own) if v]
        c.check(f"{file}: labels", answer["by"] == "label" and [z["label"] for z in answer["zones"]] == want)
        for zone, label in zip(answer["zones"], want):
            ys, xs = np.nonzero(own == label)
            box = {"x": xs.min(), "y": ys.min(), "width": np.ptp(xs) + 1, "height": np.ptp(ys) + 1}
            c.check(f"{file} {label}: box", {k: zone[k] for k in box} == box)
            for i, channel in enumerate(zone["channels"]):
                check_channel(f"{file} {label} {i}", channel, image[:, :, i], own == label)
    table = c.path("table.npy")
    c.run("stats", path, table, "--labels", c.path("labels.pfm"))
    rows = np.load(table)
    c.check("npy of labels", rows["label"].tolist() == np.repeat(want, 3).tolist() and rows["label"].dtype == np.int32)


def test_one_number():
    """Any threads, levels and bands give the same number."""
    image = wide((257, 131))
    path = c.path("same.npy")
    np.save(path, image)
    texts = {c.run("stats", path, "--json", "--threads", t) for t in (1, 2, 5)}
    c.check("threads", len(texts) == 1)


def test_npy():
    image = random_image(c.rng, (9, 7, 3), np.uint8)
    path, table = c.path("in.ppm"), c.path("table.npy")
    write(path, image)
    c.run("stats", path, table, "--percentiles", "10,90")
    rows = np.load(table)
    c.check("npy names", rows["channel"].tolist() == [b"red", b"green", b"blue"])
    c.check("npy sums", rows["sum"].tolist() == image.reshape(-1, 3).sum(0).tolist())
    c.check("npy counts and places", rows["count"].tolist() == [63] * 3 and rows["max_y"].dtype == np.int32)
    c.run("stats", path, table, "--by", "3x9")
    rows = np.load(table)
    c.check("npy of zones", rows["x"].tolist() == [0] * 3 + [3] * 3 + [6] * 3 and rows["width"][8] == 1)
    c.check("npy sums of zones", rows["sum"][:3].tolist() == image[:, :3].reshape(-1, 3).sum(0).tolist())
    c.run("stats", path, table, "--percentiles", "10,90")
    rows = np.load(table)
    c.check("npy percentiles", np.allclose(rows["p90"], np.percentile(image.reshape(-1, 3), 90, axis=0), 1e-12))


for test in (test_integers, test_floats, test_zones, test_labels, test_one_number, test_npy):
    test()
c.end()
