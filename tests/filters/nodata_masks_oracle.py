"""Pixels without data: each type and number of channels, chains, analyses and linear light, against masked arrays.

Sources: imgio/nodata* filters/statistics/opaque* filters/masked* filters/tone/normalize* filters/tone/equalize* filters/tone/threshold_level* imgio/metadata/linear_light*
"""
import json
import os

from _common import Checks, np, optional
from _tags import compose, parse

c = Checks()
check = c.check
os.chdir(c.folder.name)
ndimage = optional("scipy.ndimage")
rng = np.random.default_rng(11)
H, W = 33, 47
FULL = {"u1": 255, "u2": 65535, "f4": 1}


def tiff(path, image, nodata=None, extra=(2,)):
    h, w, n = image.shape
    data = image.tobytes()
    entries = [(256, 3, [w]), (257, 3, [h]), (258, 3, [8 * image.itemsize] * n), (259, 3, [1]),
               (262, 3, [1 if n < 3 else 2]), (273, 4, [8]), (277, 3, [n]), (278, 3, [h]), (279, 4, [len(data)]),
               (339, 3, [3 if image.dtype.kind == "f" else 1] * n)]
    entries += [(338, 3, list(extra))] if n % 2 == 0 or n > 4 else []
    with open(path, "wb") as f:
        f.write(compose(entries + ([(42113, 2, nodata.encode() + b"\0")] if nodata else []), data=data))


def load(path):
    c.result("convert", path, "loaded.npy", "--nodata", "none")
    image = np.load("loaded.npy")
    return image if image.ndim == 3 else image[..., None]


def run(*words):
    if os.path.exists(words[2]):
        os.remove(words[2])
    result = c.result(*words, "--strict")
    check(f"{words[0]}: {result.stderr}", result.returncode == 0)
    return load(words[2])


def images():
    """(name, image, value, mask of pixels with data, text of the tag). Alpha has transparent pixels too."""
    for kind in "u1", "u2", "f4":
        for n in range(1, 5):
            values = rng.normal(.5, .15, (H, W, n)) * FULL[kind]
            image = np.clip(values, 1 if kind != "f4" else -10, FULL[kind] - 1 if kind != "f4" else 10).astype(kind)
            valid = np.ones((H, W), bool)
            valid[4:9, 7:20] = valid[20, 3] = valid[0, 0] = valid[30:, 40:] = False
            for value, text in {"u1": ((0, "0"), (255, "255")), "u2": ((0, "0"), (65535, " 65535")),
                                "f4": ((-9999, "-9999"), (np.nan, "nan"))}[kind]:
                made = image.copy()
                if n % 2 == 0:
                    made[..., -1] = FULL[kind]
                    made[12:15, 30:35, -1] = 0
                colours = n - (n % 2 == 0)
                made[~valid, :colours] = value
                if colours == 3:  # one sample of the value is data
                    made[25, 25, 0] = value if value == value else 0
                yield f"{kind} of {n}, {text}", made, value, valid, text


def differs(got, want):
    return not np.isclose(got, want, rtol=1e-6, atol=0, equal_nan=True)


def check_stats(name, said, samples):
    """`samples` are those of valid pixels, a row per pixel."""
    check(f"{name}: channels", len(said) == samples.shape[1])
    for got, v in zip(said, samples.T):
        v = v[np.isfinite(v)]
        want = {"count": v.size, "min": v.min(), "max": v.max(), "mean": v.mean(dtype=float), "median": np.median(v.astype(float)),
                "stddev": v.std(dtype=float)}
        if samples.dtype.kind == "u":
            want["unique"] = np.unique(v).size
        for word, number in want.items():
            check(f"{name}: {word} {got.get(word)} {number}", not differs(got[word], float(number)))


def analyses():
    for name, image, value, valid, text in images():
        n = image.shape[2]
        used = valid & (image[..., -1] > 0) if n % 2 == 0 else valid
        tiff("in.tif", image, text)
        said = json.loads(c.result("stats", "in.tif", "--json").stdout)
        check(f"{name}: type", said["depth"] == 8 * image.itemsize)
        check_stats(f"stats of {name}", said["channels"], image[used])
        check(f"{name}: text", f", {n} channel" in c.result("stats", "in.tif").stdout)
        tiff("plain.tif", image)
        ranges = [] if image.dtype.kind == "u" else ["--range", "-1,2"]
        said = json.loads(c.result("histogram", "in.tif", "--json", *ranges).stdout)["channels"]
        plain = json.loads(c.result("histogram", "plain.tif", "--json", *ranges).stdout)["channels"]
        check(f"{name}: channels of the histogram", len(said) == n)
        for i, got in enumerate(said):
            v = image[used][:, i].astype(float)
            counts, _ = np.histogram(v, 256, (-1, 2) if ranges else (0, FULL[image.dtype.str[1:]]))
            check(f"{name}: bins of {i}", got["bins"] == counts.tolist())
            check(f"{name}: range", got["range"] == plain[i]["range"])
            check(f"{name}: numbers of {i}", got["count"] == v.size and not differs(got["mean"], v.mean()) and
                  not differs(got["median"], np.median(v)) and not got.get("nan"))
        said = json.loads(c.result("histogram", "in.tif", "--json", "--luminance", *ranges).stdout)["channels"]
        check(f"{name}: luminance", said[0]["count"] == used.sum())
        if n % 2 == 0:
            said = json.loads(c.result("histogram", "plain.tif", "--json", "--opaque").stdout)["channels"]
            check(f"{name}: --opaque", sum(said[n - 1]["bins"]) == (image[..., -1] > 0).sum() == said[n - 1]["count"])
        bins = json.loads(c.result("histogram", "in.tif", "--json").stdout)["channels"][0]
        most = float(np.nanmax(image[used])) if image.dtype.kind == "f" else FULL[image.dtype.str[1:]]
        check(f"{name}: own range", not differs(bins["range"][1], most))
        said = json.loads(c.result("stats", "in.tif", "--json", "--group-by", "16x16").stdout)["zones"]
        for zone in said:
            part = np.s_[zone["y"]:zone["y"] + zone["height"], zone["x"]:zone["x"] + zone["width"]]
            count = used[part].sum()
            check(f"{name}: a tile", len(zone["channels"]) == n and zone["channels"][0]["count"] == count)


def bands():
    """Each band beyond the colours is an image of its own."""
    for kind, value, text in ("u1", 0, "0"), ("f4", -9999, "-9999"):
        image = (rng.uniform(.1, .9, (H, W, 5)) * FULL[kind]).astype(kind)
        image[2:6, 3:9] = image[20, 20, 4] = value
        tiff("in.tif", image, text, [0] * 4)
        said = json.loads(c.result("stats", "in.tif", "--json").stdout)["channels"]
        counts = [got["count"] for got in said]
        check(f"{kind}: counts of bands {counts}", counts == [H * W - 24 - (i == 4) for i in range(5)])
        check(f"{kind}: minima of bands", [got["min"] for got in said] ==
              [float(image[..., i][image[..., i] != value].min()) for i in range(5)])
        got = run("invert", "in.tif", "out.tif", "--nodata", text)
        want = np.where(image == value, image, (FULL[kind] - image).astype(kind))
        check(f"{kind}: bands inverted", np.array_equal(got, want))


def unheld():
    """Values that the type can't hold mean nothing."""
    image = rng.integers(0, 256, (H, W, 1)).astype("u1")
    for text in "-9999", "nan", "256", "7.5", "text":
        tiff("in.tif", image, text)
        said = json.loads(c.result("stats", "in.tif", "--json").stdout)
        check_stats(f"8 bits, {text}", said["channels"], image.reshape(-1, 1))
        check(f"8 bits, {text}: inverted", np.array_equal(run("invert", "in.tif", "out.tif"), 255 - image))


def is_value(image, value):
    return np.isnan(image) if value != value else image == np.asarray(value, image.dtype)


def points():
    """Operations on single pixels, and those that move them, are exact."""
    for name, image, value, valid, text in images():
        tiff("in.tif", image, text)
        colours = (image.shape[2] - 1) | 1
        want = image.copy()
        want[~valid, colours:] = 0
        hidden = (want[..., -1] == 0) if colours < image.shape[2] else ~valid
        want[hidden, :colours] = value
        got = run("flip", "in.tif", "out.tif", "--h")
        check(f"flip of {name}", np.array_equal(got, want[:, ::-1], equal_nan=image.dtype.kind == "f"))
        got = run("crop", "in.tif", "out.tif", "--rect", "20x30+2+1")
        check(f"crop of {name}", np.array_equal(got, want[1:31, 2:22], equal_nan=image.dtype.kind == "f"))
        full = FULL[image.dtype.str[1:]]
        inverted = want.copy()
        inverted[~hidden, :colours] = (full - image[~hidden, :colours]).astype(image.dtype)
        got = run("invert", "in.tif", "out.tif")
        check(f"invert of {name}", np.array_equal(got, inverted, equal_nan=image.dtype.kind == "f"))


def smooth(image, used):
    """The mean of pixels with data, by a Gaussian."""
    weights = ndimage.gaussian_filter(used.astype(float), 1.5, mode="nearest")
    values = ndimage.gaussian_filter(np.where(used[..., None], image, 0).astype(float), (1.5, 1.5, 0), mode="nearest")
    return values / np.maximum(weights, 1e-9)[..., None], weights


def filters():
    for name, image, value, valid, text in images():
        n = image.shape[2]
        colours = (n - 1) | 1
        used = valid & (image[..., -1] > 0) if n % 2 == 0 else valid
        near = .01 if image.dtype.kind == "f" else 1 if image.itemsize == 1 else 3
        tiff("in.tif", image, text)
        got = run("gaussian", "in.tif", "out.tif", "--sigma", "1.5")
        want, weights = smooth(image[..., :colours], used)
        check(f"gaussian of {name}", np.all(np.abs(got[..., :colours] - want)[weights > .05] <= near))
        got = run("dilate", "in.tif", "out.tif", "-k", "3")
        least = np.where(used[..., None], image[..., :colours].astype(float), -np.inf)
        want = ndimage.maximum_filter(least, (3, 3, 1), mode="nearest")
        ok = used & np.isfinite(want).all(2)
        check(f"dilate of {name}", np.array_equal(got[ok][:, :colours], want[ok].astype(image.dtype)))
        check(f"dilate of {name}: holes", is_value(got[~used][:, :colours], value).all())


def chains():
    """The statistics of a chain are those of the valid pixels of its result."""
    chains = "gaussian --sigma 1", "invert", "crop --rect 30x25+3+2 | dilate -k 3", "flip --h"
    for i, (name, image, value, valid, text) in enumerate(images()):  # every type and number of channels takes every chain
        tiff("in.tif", image, text)
        first = i + i // 8
        for chain in chains[first % 4], chains[(first + 1) % 4]:
            chain += " | stats --json --to said.json | histogram --json --to bins.json"
            for path in "said.json", "bins.json", "out.tif":
                if os.path.exists(path):
                    os.remove(path)
            result = c.result("run", chain, "in.tif", "out.tif", "--strict")
            check(f"{chain} of {name}: {result.stderr}", result.returncode == 0)
            got = load("out.tif")
            colours = (image.shape[2] - 1) | 1
            used = got[..., -1] > 0 if colours < image.shape[2] else ~is_value(got, value).all(2)
            said = json.load(open("said.json"))
            check(f"{chain} of {name}: type", said["depth"] == 8 * image.itemsize)
            check_stats(f"{chain} of {name}", said["channels"], got[used])
            bins = json.load(open("bins.json"))["channels"]
            check(f"{chain} of {name}: bins", [b["count"] for b in bins] == [used.sum()] * image.shape[2])
            c.result("run", chain.replace("--json --to said.json", "--json --to alone.json"), "in.tif")
            check(f"{chain} of {name}: no output", json.load(open("alone.json")) == said)


def dropped():
    """Operations whose result has no alpha keep the value, and their result has the holes for later steps."""
    for name, image, value, valid, text in images():
        n = image.shape[2]
        if n == 2:
            continue
        tiff("in.tif", image, text)
        level = FULL[image.dtype.str[1:]] / 2
        got = run("threshold", "in.tif", "out.tif", "--threshold", str(level))
        luma = image[..., :3].astype(float) @ [.2126, .7152, .0722] if n > 1 else image[..., 0].astype(float)
        used = valid & (image[..., -1] > 0) if n == 4 else valid
        sure = used & (np.abs(luma - level) > .01 * level)
        want = np.where(luma > level, FULL[image.dtype.str[1:]], 0)
        check(f"threshold of {name}", got.shape[2] == 1 and np.array_equal(got[sure][:, 0], want[sure].astype(image.dtype)))
        check(f"threshold of {name}: holes", is_value(got[~used], value).all())
        c.result("run", f"threshold --threshold {level} | stats --json --to said.json", "in.tif")
        check(f"threshold of {name}: count", json.load(open("said.json"))["channels"][0]["count"] == used.sum())
        c.result("run", "channels --order r | channels --order ro", "in.tif", "out.tif")
        got = load("out.tif")
        check(f"channels of {name}", got.shape[2] == 2 and np.array_equal(got[used][:, 0], image[used][:, 0]) and
              is_value(got[~used][:, 0], value).all() and np.array_equal(got[..., 1] > 0, used))


def tones():
    """Curves follow from the pixels with data: those of an image that has only them, in a row, are the same."""
    for name, image, value, valid, text in images():
        if image.shape[2] % 2 == 0:
            continue
        tiff("in.tif", image, text)
        tiff("plain.tif", np.ascontiguousarray(image[valid][None]))
        for words in (["normalize"], ["normalize", "--percentiles", "2,90"], ["equalize"], ["equalize", "--per-channel"],
                      ["threshold"]):
            got = run(words[0], "in.tif", "out.tif", *words[1:])
            want = run(words[0], "plain.tif", "want.tif", *words[1:])
            check(f"{words} of {name}", np.array_equal(got[valid], want[0]) and is_value(got[~valid], value).all())


def two():
    """A pixel has no data if one of the images has none there."""
    for name, image, value, valid, text in images():
        n = image.shape[2]
        if n % 2 == 0:
            continue
        full = FULL[image.dtype.str[1:]]
        other = (rng.uniform(.1, .4, (H, W, n)) * full).astype(image.dtype)
        other_valid = np.ones((H, W), bool)
        other_valid[6:12, 10:30] = other_valid[1, 1] = False
        for theirs in text, "7":
            made = other.copy()
            made[~other_valid] = float(theirs)
            tiff("in.tif", image, text)
            tiff("plain.tif", image)
            tiff("other.tif", made, theirs)
            both = valid & other_valid
            want = np.where(both[..., None], np.where(image > other, image - other, 0) if image.dtype.kind == "u" else image - other,
                            np.asarray(value, image.dtype)).astype(image.dtype)
            got = run("subtract", "in.tif", "out.tif", "--with", "other.tif")
            check(f"{name} and {theirs}", np.array_equal(got, want, equal_nan=image.dtype.kind == "f"))
            c.result("run", "gaussian --sigma 1", "in.tif", "smooth.tif")
            smoothed = load("smooth.tif")
            used = ~is_value(smoothed, value).all(2) & other_valid
            result = c.result("run", "gaussian --sigma 1 | subtract --with other.tif | stats --json --to said.json", "in.tif",
                              "--strict")
            check(f"{name} and {theirs} in a chain: {result.stderr}", result.returncode == 0)
            said = json.load(open("said.json"))["channels"]
            check(f"{name} and {theirs} in a chain: count", [got["count"] for got in said] == [used.sum()] * n)
            got = run("subtract", "plain.tif", "out.tif", "--with", "other.tif")
            check(f"{name} and {theirs}: only the second", np.array_equal(got[both], want[both]))
            check(f"{name} and {theirs}: only the second has holes", is_value(got[~other_valid], float(theirs)).all())
            tag = parse(open("out.tif", "rb").read())[42113]
            check(f"{name} and {theirs}: the tag {tag}", differs(float(tag[1][:-1]), float(theirs)) == 0)
    labels = np.ones((H, W), np.uint16)
    labels[:, 20:] = 2
    np.save("labels.npy", labels)
    image = rng.integers(1, 256, (H, W, 1)).astype("u1")
    image[3:9, 15:30] = 0
    tiff("in.tif", image, "0")
    zones = json.loads(c.result("stats", "in.tif", "--json", "--labels", "labels.npy").stdout)["zones"]
    check("labels", [zone["channels"][0]["count"] for zone in zones] == [20 * H - 30, (W - 20) * H - 60])


def to_linear(v):
    return np.where(v <= .04045, v / 12.92, ((v + .055) / 1.055) ** 2.4)


def from_linear(v):
    return np.where(v <= .04045 / 12.92, v * 12.92, 1.055 * np.maximum(v, 0) ** (1 / 2.4) - .055)


def linear():
    for name, image, value, valid, text in images():
        if image.dtype.kind == "f":
            continue
        full, colours = FULL[image.dtype.str[1:]], (image.shape[2] - 1) | 1
        used = valid & (image[..., -1] > 0) if image.shape[2] % 2 == 0 else valid
        tiff("in.tif", image, text)
        got = run("gaussian", "in.tif", "out.tif", "--sigma", "1.5", "--linear").astype(float)
        want, weights = smooth(to_linear(image[..., :colours] / full), used)
        check(f"linear gaussian of {name}", np.all(np.abs(got[..., :colours] - from_linear(want) * full)[weights > .05] <= full / 250))
        c.result("run", "flip --h", "in.tif", "lit.tif", "--linear")
        got = load("lit.tif")
        check(f"linear flip of {name}", np.array_equal(got, run("flip", "in.tif", "out.tif", "--h")))


analyses()
bands()
unheld()
points()
if ndimage:
    filters()
    chains()
    dropped()
    tones()
    two()
    linear()
else:
    c.skip("python3 has no scipy")
c.end()
