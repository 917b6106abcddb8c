"""stats, histogram, integral and cumulative of images of more than four bands against numpy: one row or channel per band,
alone, in batches, tars, chains and tables of all forms.

Sources: cli/run/imaging_bands filters/statistics/stats_parts filters/statistics/histogram_parts filters/statistics/integral
"""
import csv
import io
import json
import os
import tarfile

from _common import Checks, np, optional, random_image

c = Checks()
tifffile = optional("tifffile")


def save(path, image, colours=1, extra=None):
    """Writes (h, w, n) as .npy, or .pam, or as a TIFF by tifffile."""
    if path.endswith(".npy"):
        return np.save(path, image)
    if path.endswith(".pam"):
        with open(path, "wb") as file:
            file.write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nENDHDR\n" % (*image.shape[1::-1], image.shape[2], np.iinfo(image.dtype).max))
            file.write(image.astype(">u2" if image.dtype == np.uint16 else "u1").tobytes())
        return None
    n = image.shape[2] - colours
    tifffile.imwrite(path, image, photometric="rgb" if colours == 3 else "minisblack", planarconfig="contig",
                     extrasamples=extra or [0] * n)


def spread(shape, dtype):
    """Bands with different ranges, in which floats have NaN and infinities, too."""
    image = random_image(c.rng, shape, dtype)
    if dtype == np.float32:
        image = image * np.arange(1, shape[2] + 1, dtype=np.float32) - 1
        image[0, 0, 1], image[1, 1, 2], image[2, 2, 3] = np.nan, np.inf, -np.inf
    else:
        image = (image >> np.arange(shape[2]).astype(dtype) % 4).astype(dtype)
    return image


def finite(plane):
    return plane[np.isfinite(plane)].astype(np.float64)


def row_is(name, row, band, plane):
    """`row`: the statistics of a band by name, as numbers or texts."""
    values = finite(plane)
    c.check(f"{name} name", row["name" if "name" in row else "channel"] == band, str(row))
    for key, want in (("count", values.size), ("min", values.min()), ("max", values.max()), ("mean", values.mean()),
                      ("stddev", values.std()), ("median", np.median(values)), ("p5", np.percentile(values, 5)),
                      ("nan", np.isnan(plane).sum())):
        if key in row:
            c.check(f"{name} {key} of {band}", abs(float(row[key]) - want) <= 1e-9 * max(1, abs(want)), f"{row[key]}, want {want}")


def rows_are(name, rows, image, names=None):
    n = image.shape[2]
    c.check(f"{name}: a row per band", len(rows) == n, f"{len(rows)}")
    for i, row in enumerate(rows):
        row_is(name, row, names[i] if names else f"band{i + 1}", image[:, :, i])


TYPES = (np.uint8, np.uint16, np.float32)
forms = [".npy"] + ([".tif"] if tifffile else [])
if not tifffile:
    c.skip("python3 has no tifffile: TIFF's colours and bands")
for n in (5, 7, 13):
    for dtype in TYPES:
        image = spread((41, 37, n), dtype)
        for form in forms:
            name, path = f"{n} bands {dtype.__name__}{form}", c.path("in" + form)
            save(path, image)
            rows_are(f"stats --json {name}", json.loads(c.run("stats", path, "--json", "--percentiles", "5"))["channels"], image)
            c.run("stats", path, c.path("out.csv"), "--percentiles", "5")
            table = list(csv.DictReader(open(c.path("out.csv"))))
            rows_are(f"stats --csv {name}", table, image)
            c.run("stats", path, c.path("out.npy"), "--percentiles", "5")
            array = np.load(c.path("out.npy"))
            rows_are(f"stats .npy {name}", [{**dict(zip(array.dtype.names, row)), "channel": row["channel"].decode()} for row in array], image)
            text = c.run("stats", path).decode()
            c.check(f"stats text {name}", f"{n} channels" in text and f"band{n}\n" in text, text[:200])
            for args, nzones in (["--group-by", "row"], 41), (["--group-by", "20x41"], 2):
                zones = json.loads(c.run("stats", path, "--json", *args))["zones"]
                c.check(f"{name} zones {args}", len(zones) == nzones)
                for z in zones[:3]:
                    part = image[z.get("row", z.get("y", 0)):, z.get("x", 0):][:z.get("height", 1), :z.get("width", 37)]
                    rows_are(f"{name} {args}", z["channels"], part)
            # The bins of all bands are the same.
            for args in ([], ["--bins", "16"], ["--range", "0.25,3"], ["--cumulative"]):
                full = 255 if dtype == np.uint8 else 65535
                ends = (0, full) if dtype != np.float32 else (finite(image).min(), finite(image).max())
                ends = (0.25, 3) if "--range" in args else ends
                bins = 16 if "--bins" in args else 256
                found = json.loads(c.run("histogram", path, "--format", "json", *args))["channels"]
                table = list(csv.reader(io.StringIO(c.run("histogram", path, "--format", "csv", *args).decode())))
                c.check(f"histogram {name}: a channel per band", len(found) == n and len(table[0]) == 3 + n)
                for i, channel in enumerate(found):
                    want, _ = np.histogram(finite(image[:, :, i]), bins, ends)
                    want = np.cumsum(want) if "--cumulative" in args else want
                    c.check(f"histogram {name} {args} band {i}", np.array_equal(channel["bins"], want), f"{channel['bins'][:8]} {want[:8]}")
                    c.check(f"histogram {name} {args} csv {i}", [int(r[3 + i]) for r in table[1:]] == want.tolist())
                    c.check(f"histogram {name} {args} name {i}", channel["name"] == table[0][3 + i] == f"band{i + 1}")
            c.check(f"histogram text {name}", f"band{n}\n" in c.run("histogram", path).decode())
            for args, axes in (["integral"], (0, 1)), (["cumulative"], (1,)), (["cumulative", "--along", "columns"], (0,)):
                want = np.where(np.isfinite(image), image, 0).astype(np.float64)
                for axis in axes:
                    want = want.cumsum(axis)
                c.run(*args, path, c.path("sums.npy"))
                got = np.load(c.path("sums.npy"))
                c.check(f"{args} {name}", got.shape == image.shape and np.allclose(got, want, rtol=1e-12, atol=1e-9))
    c.check(f"{n} bands in a PFM", c.result("integral", c.path("in.npy"), c.path("sums.pfm")).returncode == 1)

# Many files, members of tars, pages, chains: the same rows.
member = ".tif" if tifffile else ".pam"  # .npy in tars is data beside images
images = {f"{i}{member}": spread((12 + i, 15, n), dtype) for i, (n, dtype) in enumerate(zip((5, 7, 13), TYPES if tifffile else TYPES[:2]))}
os.mkdir(c.path("many"))
with tarfile.open(c.path("in.tar"), "w") as tar:
    for name, image in images.items():
        save(c.path("many/" + name), image)
        tar.add(c.path("many/" + name), name)
files = [c.path("many/" + name) for name in images]


def rows_of(path):
    if path.endswith(".npy"):
        return [{k: v.decode() if isinstance(v, bytes) else v for k, v in zip(a.dtype.names, a)} for a in np.load(path)]
    if path.endswith(".jsonl"):
        lines = [json.loads(line) for line in open(path)]
        return [{"file": line["file"], **channel} for line in lines for channel in line["channels"]]
    return list(csv.DictReader(open(path)))


for inputs, of in ((files, "files"), (["--tar", c.path("in.tar")], "tar")):
    for form in ("csv", "jsonl", "npy"):
        out = c.path(f"table.{form}")
        c.run("stats", *inputs, "--table", out, "--percentiles", "5")
        rows = rows_of(out)
        for name, image in images.items():
            rows_are(f"table.{form} of {of}", [r for r in rows if os.path.basename(r["file"]) == name], image)
    c.run("stats", *inputs, "--table", c.path("total.csv"), "--total")
    total = [r for r in rows_of(c.path("total.csv")) if r["file"] == "total"]
    every = list(images.values())
    c.check(f"--total of {of}", [r["channel"] for r in total] == [f"band{i + 1}" for i in range(max(i.shape[2] for i in every))])
    for i, row in enumerate(total):
        values = np.concatenate([finite(image[:, :, i]) for image in every if i < image.shape[2]])
        c.check(f"--total of {of}, band {i + 1}", int(row["count"]) == values.size and abs(float(row["mean"]) - values.mean()) < 1e-9 * max(1, abs(values.mean())), str(row))
    c.run("histogram", *inputs, "--table", c.path("bins.jsonl"))
    lines = {os.path.basename(line["file"]): line for line in map(json.loads, open(c.path("bins.jsonl")))}
    for name, image in images.items():
        c.check(f"histogram of {of} {name}", [sum(ch["bins"]) for ch in lines[name]["channels"]] == [finite(image[:, :, i]).size for i in range(image.shape[2])])
c.run("integral", "--tar", c.path("in.tar"), c.path("sums.tar"), "--suffix", ".npy")
with tarfile.open(c.path("sums.tar")) as tar:
    c.check("integral of members", all(np.load(io.BytesIO(tar.extractfile(m).read())).ndim == 3 for m in tar))

image = spread((30, 20, 7), np.uint16)
np.save(c.path("seven.npy"), image)
c.run("run", f"invert | stats --json --to {c.path('s.json')} | flip --h | histogram --format json --to {c.path('h.json')}", c.path("seven.npy"), c.path("made.npy"))
rows_are("stats in a chain", json.load(open(c.path("s.json")))["channels"], 65535 - image)
found = json.load(open(c.path("h.json")))["channels"]
c.check("histogram in a chain", all(np.array_equal(found[i]["bins"], np.histogram(65535 - image[:, :, i].astype(int), 256, (0, 65535))[0]) for i in range(7)))
c.check("result of the chain", np.array_equal(np.load(c.path("made.npy")), 65535 - image[:, ::-1]))
floats = spread((30, 20, 7), np.float32)
np.save(c.path("floats.npy"), floats)
c.run("run", f"flip --h | histogram --format json --to {c.path('h.json')} | flip --v", c.path("floats.npy"), c.path("made.npy"))
found = json.load(open(c.path("h.json")))["channels"]
c.check("histogram of floats in a chain", all(np.array_equal(found[i]["bins"], np.histogram(finite(floats[:, :, i]), 256, (finite(floats).min(), finite(floats).max()))[0]) for i in range(7)))
c.check("result of that chain", np.array_equal(np.load(c.path("made.npy")), floats[::-1, ::-1], equal_nan=True))
# A text of 16 bits ends at the bits that all bands together need.
low = np.zeros((8, 9, 6), np.uint16)
low[:, :, 4] = 1000
low[:, :, 5] = 70
np.save(c.path("low.npy"), low)
c.check("the text's bins", " 1023 " in c.run("histogram", c.path("low.npy"), "--bins", "16").decode().replace("- 1023", "- 1023 "), c.run("histogram", c.path("low.npy"), "--bins", "16").decode()[-900:])
# Pixels without data.
data = spread((20, 30, 5), np.uint8)
np.save(c.path("data.npy"), data)
rows = json.loads(c.run("stats", c.path("data.npy"), "--json", "--nodata", "7"))["channels"]
c.check("--nodata", [r["count"] for r in rows] == [int((data[:, :, i] != 7).sum()) for i in range(5)])
# Refusals say how bands are chosen.
np.save(c.path("zeros.npy"), np.zeros((9, 9, 8), np.uint8))
for command in (["histogram", "zeros.npy", "--luminance"], ["histogram", "zeros.npy", "--plot", "p.svg"], ["palette", "zeros.npy"],
                ["extract", "zeros.npy"], ["run", "invert | palette", "zeros.npy", "o.npy"]):
    result = c.result(*(c.path(w) if w.endswith((".npy", ".svg")) else w for w in command))
    c.check(" ".join(command), result.returncode == 1 and "[bands=" in result.stderr, result.stderr)
c.run("histogram", c.path("data.npy"), "--plot", c.path("p.svg"))
c.check("a plot of five bands", all(f"band{i}" in open(c.path("p.svg")).read() for i in range(1, 6)))
if tifffile:
    image = spread((19, 23, 6), np.uint8)
    for colours, extra, names in ((3, [0, 0, 0], "red green blue band4 band5 band6"), (3, [0, 2, 0], "red green blue band4 alpha band6"),
                                  (3, [2, 0, 0], "red green blue alpha band5 band6"), (1, [0, 0, 0, 0, 2], "band1 band2 band3 band4 band5 alpha")):
        save(c.path("in.tif"), image, colours, extra)
        rows_are(f"{names}", json.loads(c.run("stats", c.path("in.tif"), "--json"))["channels"], image, names.split())
        channels = json.loads(c.run("histogram", c.path("in.tif"), "--format", "json"))["channels"]
        c.check(f"histogram of {names}", [ch["name"] for ch in channels] == names.split() and
                all(np.array_equal(ch["bins"], np.bincount(image[:, :, i].ravel(), minlength=256)) for i, ch in enumerate(channels)))
        result = c.result("stats", c.path("in.tif"), "--opaque")
        c.check(f"--opaque of {names}", ("alpha" not in names) == (result.returncode == 0) and (result.returncode == 0 or "[bands=" in result.stderr), result.stderr)
    tifffile.imwrite(c.path("pages.tif"), np.stack([image, image[::-1]]), photometric="minisblack", planarconfig="contig")
    c.run("stats", c.path("pages.tif"), "--table", c.path("pages.csv"))
    rows_are("pages", [r for r in rows_of(c.path("pages.csv")) if "[1]" in r["file"]], image[::-1])
c.end()
