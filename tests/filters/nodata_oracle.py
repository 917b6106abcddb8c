"""Pixels without data (GDAL_NODATA, --nodata) keep their value, do not spread and do not count, against numpy.

Sources: imgio/nodata* cli/run/counted_nodata*
"""
import json
import os

from _common import Checks, np, optional
from _tags import compose, parse

c = Checks()
check = c.check
os.chdir(c.folder.name)
ndimage = optional("scipy.ndimage")
rng = np.random.default_rng(7)
H, W = 30, 40
FORMATS = {"u": 1, "i": 2, "f": 3}


def tiff(path, image, nodata=None, order="<"):
    h, w = image.shape[:2]
    n = 1 if image.ndim == 2 else image.shape[2]
    data = image.astype(image.dtype.newbyteorder(order)).tobytes()
    entries = [(256, 3, [w]), (257, 3, [h]), (258, 3, [8 * image.itemsize] * n), (259, 3, [1]),
               (262, 3, [1 if n == 1 else 2]), (273, 4, [8]), (277, 3, [n]), (278, 3, [h]), (279, 4, [len(data)]),
               (339, 3, [FORMATS[image.dtype.kind]] * n)]
    with open(path, "wb") as f:
        f.write(compose(entries + ([(42113, 2, nodata + b"\0")] if nodata else []), order, data=data))


def run(*words):
    if os.path.exists(words[2]):
        os.remove(words[2])
    return c.result(*words)


def load(path):
    run("convert", path, "loaded.npy")
    return np.load("loaded.npy")


def images():
    """(name, image, mask of pixels with data, text of the tag)"""
    hole = np.ones((H, W), bool)
    hole[5:9, 7:20] = hole[20, 3] = hole[0, 0] = False
    ground = rng.normal(500, 100, (H, W))
    for order in "<>":
        yield f"float {order}", np.where(hole, ground, -9999).astype(np.float32), hole, b"-9999", order
        yield f"NaN {order}", np.where(hole, ground, np.nan).astype(np.float32), hole, b"nan", order
        yield f"lowest {order}", np.where(hole, ground, np.finfo(np.float32).min).astype(np.float32), hole, \
            b"-3.4028234663852886e+38", order
        yield f"signed {order}", np.where(hole, ground, -32768).astype(np.int16), hole, b"-32768", order
        yield f"16 bits {order}", np.where(hole, ground + 20, 0).astype(np.uint16), hole, b"0", order
        yield f"8 bits {order}", np.where(hole, 20 + rng.integers(0, 200, (H, W)), 255).astype(np.uint8), hole, b"255", order


def counts():
    for name, image, hole, text, order in images():
        tiff("in.tif", image, text, order)
        valid = image[hole].astype(float)
        said = json.loads(c.result("stats", "in.tif", "--json").stdout)["channels"]
        check(f"{name}: one channel", len(said) == 1)
        got = said[0]
        for word, want in (("count", valid.size), ("min", valid.min()), ("max", valid.max()), ("mean", valid.mean()),
                           ("median", np.median(valid)), ("stddev", valid.std())):
            check(f"{name}: {word} {got[word]} {want}", abs(got[word] - want) <= 1e-9 * abs(want))
        bins = json.loads(c.result("histogram", "in.tif", "--json", "--bins", "5").stdout)
        check(f"{name}: histogram", bins["channels"][0]["count"] == valid.size)
        if "NaN" not in name:
            said = json.loads(c.result("stats", "in.tif", "--json", "--nodata", "none").stdout)["channels"][0]
            check(f"{name}: --nodata none", said["count"] == H * W and said["min"] == min(image.min(), 1e9))


def gaussian(image, hole):
    """The weighted mean of pixels with data; scipy truncates at 4 sigma, too."""
    values = ndimage.gaussian_filter(np.where(hole, image, 0).astype(float), 1.5, mode="nearest")
    weights = ndimage.gaussian_filter(hole.astype(float), 1.5, mode="nearest")
    return values / np.where(weights > 0, weights, 1), weights


def filters():
    if not ndimage:
        c.skip("python3 has no scipy")
        return
    for name, image, hole, text, order in images():
        tiff("in.tif", image, text, order)
        result = run("gaussian", "in.tif", "out.tif", "--sigma", "1.5", "--strict")
        check(f"{name}: {result.stderr}", result.returncode == 0)
        got, (want, weights) = load("out.tif"), gaussian(image, hole)
        empty = got == np.float32(float(text)) if text != b"nan" else np.isnan(got)
        near = 1 if image.dtype.kind == "u" else 0.05
        check(f"{name}: nothing spreads", np.all(np.abs(got - want)[weights > 0.05] <= near))
        check(f"{name}: far from data there is none", np.all(~empty[weights > 0.05]))
        check(f"{name}: the tag", parse(open("out.tif", "rb").read())[42113] == (2, text + b"\0"))
        result = run("invert" if image.dtype.kind == "u" else "shift", "in.tif", "out.tif", *(
            [] if image.dtype.kind == "u" else ["--offset", "0,0"]))
        got = load("out.tif")
        empty = np.isnan(got) if text == b"nan" else got == np.float32(float(text))
        check(f"{name}: pixels keep the value", np.array_equal(empty, ~hole))


def colours():
    """A pixel of colour has no data if all its samples have the value."""
    image = rng.integers(1, 255, (H, W, 3)).astype(np.uint8)
    image[3:6, 4:9] = 0
    image[10, 10] = (0, 5, 0)
    tiff("in.tif", image, b"0")
    run("invert", "in.tif", "out.tif")
    got = load("out.tif")
    want = np.where((image == 0).all(2, keepdims=True), 0, 255 - image)
    check("colours", np.array_equal(got, want))


def option():
    image = rng.integers(10, 255, (H, W)).astype(np.uint8)
    image[2:5, 2:5] = 7
    tiff("in.tif", image)
    said = json.loads(c.result("stats", "in.tif", "--json", "--nodata", "7").stdout)["channels"][0]
    check("--nodata 7", said["count"] == H * W - 9 and said["min"] >= 10)
    run("invert", "in.tif", "out.tif", "--nodata", "7")
    check("--nodata 7 in a filter", np.array_equal(load("out.tif"), np.where(image == 7, 7, 255 - image)))
    run("invert", "in.tif", "out.tif")
    check("without it", np.array_equal(load("out.tif"), 255 - image))
    check("--nodata x", c.result("stats", "in.tif", "--nodata", "x").returncode == 2)
    tiff("in.tif", image.astype(np.float32), b"7")
    result = run("convert", "in.tif", "out.tif", "--depth", "8")
    check("another type", "42113" in result.stderr and 42113 not in parse(open("out.tif", "rb").read()))


def depths():
    """The tag is kept if samples are written in its unit, and dropped by name if not, or if they were rounded."""
    for kind, own in (np.uint8, "8"), (np.uint16, "16"), (np.float32, "float"):
        image = rng.integers(10, 250, (H, W)).astype(kind)
        image[3:5] = 7
        tiff("in.tif", image, b"7")
        for depth in "8", "16", "float":
            for words in (("--depth", depth), ("--work-depth", depth), ("--work-depth", depth, "--depth", own)):
                if kind == np.float32 and depth != "float":
                    continue
                for command in ("convert",), ("invert",), ("run", "invert | invert"):
                    result = c.result(*command, "in.tif", "out.tif", *words, "--quiet")
                    check(f"{kind.__name__} {command} {words}: {result.stderr}", result.returncode == 0)
                    tag = parse(open("out.tif", "rb").read()).get(42113)
                    kept = own in (depth, words[-1]) and not (own == "16" and words[:2] == ("--work-depth", "8"))
                    check(f"{kind.__name__} {command} {words}: tag {tag}", tag == ((2, b"7\0") if kept else None))
                    named = "42113" in c.result(*command, "in.tif", "out.tif", *words).stderr
                    check(f"{kind.__name__} {command} {words}: named", named == (not kept))
                    if kept:
                        check(f"{kind.__name__} {command} {words}: values", np.array_equal(load("out.tif")[3:5], image[3:5]))


def packed(path, image, bits, nodata, photometric, *more):
    h, w = image.shape
    digits = image[..., None] >> np.arange(bits - 1, -1, -1) & 1
    data = np.packbits(digits.reshape(h, -1).astype(np.uint8), axis=1).tobytes()
    if bits == 16:
        data = image.astype("<u2").tobytes()
    entries = [(256, 3, [w]), (257, 3, [h]), (258, 3, [bits]), (259, 3, [1]), (262, 3, [photometric]), (273, 4, [8]),
               (277, 3, [1]), (278, 3, [h]), (279, 4, [len(data)]), *more, (42113, 2, nodata + b"\0")]
    with open(path, "wb") as f:
        f.write(compose(entries, "<", data=data))


def converted():
    """Where samples are scaled or inverted when they are read, the value is, too."""
    for bits in 1, 2, 4, 8, 10, 12, 14, 16:
        for photometric in 0, 1:
            most, full = 2 ** bits - 1, 255 if bits <= 8 else 65535
            image = rng.integers(0, most + 1, (H, W))
            image[3:6] = value = most // 3 if photometric else most
            scaled = (image * full + most // 2) // most
            scaled = scaled if photometric else full - scaled
            valid, name = image != value, f"{bits} bits, photometric {photometric}"
            packed("in.tif", image, bits, str(value).encode(), photometric)
            said = json.loads(c.result("stats", "in.tif", "--json").stdout)["channels"][0]
            check(f"{name}: {said['count']}", said["count"] == valid.sum() and said["sum"] == scaled[valid].sum())
            run("invert", "in.tif", "out.tif")
            check(f"{name}: invert", np.array_equal(load("out.tif"), np.where(valid, full - scaled, scaled)))
            tag = parse(open("out.tif", "rb").read())[42113][1]
            check(f"{name}: tag {tag}", tag == b"%d\0" % scaled[3, 0])
    packed("in.tif", image % 16, 4, b"100", 1)
    result = run("invert", "in.tif", "out.tif")
    check("no sample has it", "42113" in result.stderr and 42113 not in parse(open("out.tif", "rb").read()))


def palette():
    """Indices become colours, which the value does not name."""
    image, table = rng.integers(0, 4, (H, W)), np.array([[9, 50, 1, 7], [9, 60, 2, 7], [9, 70, 3, 7]])
    packed("in.tif", image, 8, b"9", 3, (320, 3, [257 * int(v) for v in np.pad(table, ((0, 0), (0, 252))).ravel()]))
    result = run("invert", "in.tif", "out.tif")
    check("palette: named", result.returncode == 0 and "42113" in result.stderr)
    check("palette: all colours count", np.array_equal(load("out.tif"), 255 - table.T[image]))
    check("palette: no tag", 42113 not in parse(open("out.tif", "rb").read()))
    check("palette: --strict", c.result("invert", "in.tif", "out.tif", "--strict").returncode == 1)


def counted():
    """Where such pixels count like others, that is said, and an error with --strict."""
    image = rng.integers(10, 255, (H, W)).astype(np.uint8)
    tiff("in.tif", image, b"7")
    tiff("other.tif", image)
    for words in (("match", "in.tif", "out.tif", "--reference", "other.tif"),):
        result = c.result(*words)
        check(f"{words[0]}: named", result.returncode == 0 and "pixels without data count like others" in result.stderr)
        check(f"{words[0]}: --strict", c.result(*words, "--strict").returncode == 1)
        result = c.result(*words, "--nodata", "none")
        check(f"{words[0]}: --nodata none", result.returncode == 0 and "without data" not in result.stderr)
    image[4, 5] = 7
    tiff("in.tif", image, b"7")
    tiff("other.tif", np.where(image == 7, 8, image), b"7")
    for *words, end in (("stack", "IN", "other.tif", "out.tif"), ("stack", "other.tif", "IN", "out.tif"), ("palette", "IN", ""), ("hash", "IN", ""),
                        ("extract", "IN", ""), ("integral", "IN", "sums.npy"), ("cumulative", "IN", "sums.npy"),
                        ("compare", "IN", "other.tif", ""), ("compare", "other.tif", "IN", ""),
                        ("palette", "--table", "out.csv", "IN", "other.tif", ""),
                        ("extract", "--table", "out.csv", "IN", "other.tif", "")):
        for name, more, told in (("in.tif", [], True), ("in.tif", ["--nodata", "none"], False), ("other.tif", [], False),
                                 ("other.tif", ["--nodata", "8"], True)):
            given = [name if w == "IN" else w for w in words] + ([end] if end else []) + more
            result = c.result(*given)
            check(f"{given}: {result.stderr}", result.returncode == (words[0] == "compare" and name == "in.tif"))
            check(f"{given}: {result.stderr}", ("pixels without data count like others" in result.stderr) == told)
            strict = c.result(*given, "--strict") if words[0] == "stack" else None
            if not strict:  # commands that write no image have no such option
                continue
            check(f"{given}: --strict: {strict.stderr}", ("--strict: pixels without" in strict.stderr) == told)


counts()
filters()
colours()
option()
depths()
converted()
palette()
counted()
c.end()
