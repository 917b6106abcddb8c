"""histogram against numpy: counts of bins, percentiles, moments, entropy.

Sources: filters/statistics/histogram*
"""
import json

from _common import Checks, np, random_image, suffix, write

c = Checks()
P = [0, 1, 2.5, 25, 50, 66.6, 99, 100]
NAMES = {1: ["gray"], 2: ["gray", "alpha"], 3: ["red", "green", "blue"],
         4: ["red", "green", "blue", "alpha"]}


def measured(image, *args):
    path = c.path("in" + suffix(image))
    write(path, image)
    text = c.run("histogram", path, "--format", "json", "--percentiles", ",".join(map(str, P)), *args)

    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def near(a, b, tolerance=1e-9):
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def check_channel(name, got, values, bins, limits):
    """`values` as float64; bins by numpy's own rule for edges, in double."""
    is_float = limits is None
    finite = values[np.isfinite(values)]
    lo, hi = limits if limits else (finite.min(), finite.max())
    if is_float and lo == hi:
        lo, hi = lo - 0.5, hi + 0.5
    counts, _ = np.histogram(finite, bins=bins, range=(lo, hi))
    c.check(f"{name} range", got["range"] == [lo, hi], f"{got['range']} against {[lo, hi]}")
    c.check(f"{name} bins", got["bins"] == counts.tolist())
    c.check(f"{name} total", got["total"] == values.size)
    span = float(values.max() - values.min())
    loose = 1e-9 * max(span, 1e-30) + 1e-12 * abs(values).max()
    c.check(f"{name} mean", abs(got["mean"] - values.mean()) <= loose, (got["mean"], values.mean()))
    c.check(f"{name} stddev", abs(got["stddev"] - values.std()) <= 2 * loose + 1e-9 * span,
            (got["stddev"], values.std()))
    c.check(f"{name} min max", (got["min"], got["max"]) == (values.min(), values.max()))
    c.check(f"{name} median", near(got["median"], np.percentile(values, 50), 1e-12))
    want = np.percentile(values, P)
    have = [got["percentiles"][f"p{p:g}"] for p in P]
    c.check(f"{name} percentiles", all(near(a, b, 1e-12) for a, b in zip(have, want)), (have, want))


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def test_integers():
    for dtype in (np.uint8, np.uint16):
        for shape in ((1, 1), (1, 17), (31, 33), (257, 129), (40, 50, 2), (65, 67, 3), (33, 70, 4)):
            image = random_image(c.rng, shape, dtype)
            if len(shape) == 2 and shape[0] == 31:
                image //= 5  # gaps above
            channels = shape[2] if len(shape) == 3 else 1
            full = max(255, 2 ** int(image.max()).bit_length() - 1)  # of the bits that the samples need
            for bins in (1, 7, 256, 1000) + ((65536,) if dtype == np.uint16 else ()):
                got = measured(image, "--bins", bins)
                name = f"{dtype.__name__} {shape} bins {bins}"
                c.check(f"{name} shape", (got["height"], got["width"]) == shape[:2])
                c.check(f"{name} names", [x["name"] for x in got["channels"]] == NAMES[channels])
                for i, channel in enumerate(got["channels"]):
                    values = image.reshape(*shape[:2], channels)[:, :, i].astype(np.float64).ravel()
                    check_channel(f"{name} {i}", channel, values, bins, (0, full))
                    whole = np.bincount(values.astype(int))
                    c.check(f"{name} {i} entropy", near(channel["entropy"], entropy(whole)))
                    if bins == full + 1:
                        c.check(f"{name} {i} a bin a value", channel["bins"][:len(whole)] == whole.tolist())


def test_ranges():
    image = random_image(c.rng, (60, 70), np.uint8)
    for lo, hi in ((10, 20), (0, 256), (-5.5, 300.25), (100, 100.5), (254.5, 1000)):
        for bins in (1, 10, 33):
            got = measured(image, f"--range={lo},{hi}", "--bins", bins)
            check_channel(f"range {lo} {hi} {bins}", got["channels"][0],
                          image.astype(np.float64).ravel(), bins, (lo, hi))


def test_floats():
    for shape, scale, shift in (((1, 1), 1, 0), ((50, 70), 1, 0), ((64, 65), 1e-3, 5),
                                ((90, 31), 2000, -700)):
        image = (random_image(c.rng, shape, np.float32) * scale + shift).astype(np.float32)
        for bins in (1, 10, 256, 5000):
            got = measured(image, "--bins", bins)["channels"][0]
            values = image.astype(np.float64).ravel()
            check_channel(f"float {shape} {scale} bins {bins}", got, values, bins, None)
            c.check("float entropy", near(got["entropy"], entropy(np.array(got["bins"]))))
    image = random_image(c.rng, (80, 90, 3), np.float32) - np.float32(0.25)
    got = measured(image, "--range", "0.1,0.6", "--bins", 77)
    for i in range(3):
        check_channel(f"float RGB {i}", got["channels"][i], image[:, :, i].astype(np.float64).ravel(),
                      77, (0.1, 0.6))


def test_odd_floats():
    image = random_image(c.rng, (20, 30), np.float32)
    image[3, 4] = image[9, 9] = np.nan
    got = measured(image)["channels"][0]
    values = image[~np.isnan(image)].astype(np.float64)
    check_channel("NaN", got, values, 256, None)
    c.check("NaN counted apart", got["nan"] == 2)
    image[0, 0] = np.inf
    got = measured(image)["channels"][0]
    c.check("inf: no mean in JSON", got["mean"] is None and got["max"] is None)
    c.check("inf: the rest", near(got["min"], np.nanmin(image)) and sum(got["bins"]) == 597)
    image[0, 1] = -np.inf
    got = measured(image)["channels"][0]
    finite = image[np.isfinite(image)].astype(np.float64)
    c.check("-inf", got["min"] is None and got["range"] == [finite.min(), finite.max()] and sum(got["bins"]) == 596)
    c.check("-inf: median", near(got["median"], np.nanpercentile(image.astype(np.float64), 50), 1e-12))
    c.check("-inf: entropy", near(got["entropy"], entropy(np.array(got["bins"]))))
    image[:] = np.nan
    got = measured(image)["channels"][0]
    c.check("all NaN", got["total"] == 0 and got["mean"] is None and sum(got["bins"]) == 0)
    image[:] = 0.75
    got = measured(image)["channels"][0]
    check_channel("constant float", got, image.astype(np.float64).ravel(), 256, None)


def test_luminance():
    image = random_image(c.rng, (60, 50, 3), np.uint8)
    luma = image.astype(np.float64) @ [0.2126, 0.7152, 0.0722]
    got = measured(image, "--luminance")["channels"]
    c.check("luminance: one channel", len(got) == 1 and got[0]["name"] == "luminance")
    c.check("luminance: mean", abs(got[0]["mean"] - np.rint(luma).mean()) < 0.01)


def test_cumulative():
    image = random_image(c.rng, (60, 50), np.uint8)
    got = measured(image, "--cumulative", "--bins", 16)["channels"][0]["bins"]
    counts, _ = np.histogram(image, bins=16, range=(0, 255))
    c.check("cumulative", got == np.cumsum(counts).tolist())


def test_nothing_counted():
    """An image without any counted sample has no statistics, as a float image of NaN has none."""
    for kind in np.uint8, np.uint16:
        got = measured(np.zeros((3, 5), kind), "--nodata", 0)["channels"][0]
        c.check(f"nothing counted: {kind.__name__}", got["count"] == 0 and sum(got["bins"]) == 0)
        for name in "mean", "stddev", "min", "max", "median", "entropy":
            c.check(f"nothing counted: {kind.__name__}: no {name}", got[name] is None)
        c.check(f"nothing counted: {kind.__name__}: percentiles", set(got["percentiles"].values()) == {None})


test_integers()
test_ranges()
test_floats()
test_odd_floats()
test_luminance()
test_cumulative()
test_nothing_counted()
c.end()
