"""Images of more samples per pixel than gray or RGB and alpha. TIFFs are written byte by byte here: every sample is read,
every operation of `gpuimg list` makes of each band what it makes of that band as a gray file or says how bands are chosen,
and what is written holds every band.
Sources: imgio/bands cli/run/imaging_bands imgio/tiff
"""
import json
import os
import re
import shlex
import struct
import tarfile
import zlib

from _common import Checks, np, random_image, read, write

c = Checks()
WAY_OUT = "[bands="


def tiff(path, image, colours=1, kinds=None, planar=False, tile=0, order="<", compression=1):
    """Writes an image of (h, w, n). `kinds`: ExtraSamples."""
    h, w, n = image.shape
    data = image.astype(image.dtype.newbyteorder(order))
    planes = [data[:, :, i:i + 1] for i in range(n)] if planar else [data]
    pieces = []
    for plane in planes:
        if tile:
            for y in range(0, h, tile):
                for x in range(0, w, tile):
                    part = plane[y:y + tile, x:x + tile]
                    pieces.append(np.pad(part, ((0, tile - part.shape[0]), (0, tile - part.shape[1]), (0, 0))))
        else:
            pieces += [plane[y:y + 7] for y in range(0, h, 7)]
    pieces = [p.astype(image.dtype.newbyteorder(order)).tobytes() for p in pieces]
    if compression == 8:
        pieces = [zlib.compress(p) for p in pieces]
    size = 8 * image.dtype.itemsize
    kinds = [0] * (n - colours) if kinds is None else kinds
    tags = {256: (3, [w]), 257: (3, [h]), 258: (3, [size] * n), 259: (3, [compression]), 262: (3, [2 if colours == 3 else 1]),
            277: (3, [n]), 284: (3, [2 if planar else 1]), 339: (3, [3 if image.dtype.kind == "f" else 1] * n)}
    if kinds:
        tags[338] = (3, kinds)
    if tile:
        tags.update({322: (3, [tile]), 323: (3, [tile])})
    else:
        tags[278] = (3, [7])
    offsets, at = [], 8
    for p in pieces:
        offsets.append(at)
        at += len(p)
    tags[324 if tile else 273] = (4, offsets)
    tags[325 if tile else 279] = (4, [len(p) for p in pieces])
    spare = at + 2 + 12 * len(tags) + 4
    entries, values = b"", b""
    for tag, (kind, v) in sorted(tags.items()):
        packed = struct.pack(order + ("H" if kind == 3 else "I") * len(v), *v)
        entries += struct.pack(order + "HHI", tag, kind, len(v))
        if len(packed) <= 4:
            entries += packed.ljust(4, b"\0")
        else:
            entries += struct.pack(order + "I", spare + len(values))
            values += packed
    with open(path, "wb") as f:
        f.write((b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, at) + b"".join(pieces))
        f.write(struct.pack(order + "H", len(tags)) + entries + struct.pack(order + "I", 0) + values)


def tags_of(path, *wanted):
    """Returns the values of tags of a little-endian TIFF with SHORTs."""
    data = open(path, "rb").read()
    at, = struct.unpack_from("<I", data, 4)
    n, = struct.unpack_from("<H", data, at)
    found = {}
    for i in range(n):
        tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * i)
        if kind == 3:
            found[tag] = struct.unpack_from(f"<{count}H", data, value if count > 2 else at + 10 + 12 * i)
    return [found.get(tag) for tag in wanted]


def planes(path):
    """Returns (h, w, n) of a result by way of an array, which has the bands last."""
    c.run("convert", "--force", path, c.path("back.npy"), "-q")
    array = np.load(c.path("back.npy"))
    return array if array.ndim == 3 else array[:, :, None]


# Every kind of file is read, and written with all bands.
kinds = [(n, dtype, form) for n in (5, 6, 8, 13) for dtype in (np.uint8, np.uint16, np.float32) for form in range(16)]
for n, dtype, form in kinds[::5 if "sanitize" in c.program else 1]:
    image = random_image(c.rng, (23, 17, n), dtype)
    name, colours = c.path("in.tif"), 3 if form & 8 else 1
    tiff(name, image, colours, planar=form & 1, tile=16 if form & 2 else 0, order=">" if form & 4 else "<",
         compression=8 if (form + n) % 2 else 1)
    for out in ("out.tif", "out.npy") + (("out.pam",) if dtype != np.float32 else ()):
        c.run("flip", "--h", name, c.path(out), "-q")
        got = planes(c.path(out))
        c.check(f"{n} bands {dtype.__name__} form {form} {out}", np.array_equal(got, image[:, ::-1]))
    want = [(2 if colours == 3 else 1,), (n,), (0,) * (n - colours)]
    c.check(f"tags of {n} bands, {colours}", tags_of(c.path("out.tif"), 262, 277, 338) == want)

# Meanings of further samples.
image = random_image(c.rng, (23, 17, 5), np.uint8)
for colours, extra, says in ((3, (2, 0), "RGBA and 1 band"), (3, (0, 2), "RGBA and 1 band"), (1, (0, 0, 0, 2), "4 bands and alpha"),
                             (3, (0, 0), "RGB and 2 bands")):
    tiff(c.path("in.tif"), image, colours, list(extra))
    c.check(says, says in c.run("info", c.path("in.tif")).decode())
    c.run("flip", "--h", c.path("in.tif"), c.path("out.tif"))
    c.check(f"ExtraSamples {extra}", tags_of(c.path("out.tif"), 338) == [extra])
    c.check(f"samples with {extra}", np.array_equal(planes(c.path("out.tif")), image[:, ::-1]))

# If several samples are alpha, the first belongs to the colours. All keep their kinds in a TIFF; other formats name them.
for colours, extra in ((3, (2, 2)), (3, (2, 1)), (1, (0, 2, 0, 2)), (1, (2, 1, 1, 2)), (3, (0, 0, 2, 2)), (1, (2, 2))):
    image = random_image(c.rng, (23, 17, colours + len(extra)), np.uint8)
    for planar in (False, True):
        tiff(c.path("in.tif"), image, colours, list(extra), planar=planar)
        for words in (["flip", "--h"], ["convert", "--depth", "16"], ["crop", "--size", "5x5"]):
            c.run(*words, c.path("in.tif"), c.path("out.tif"), "--strict")
            c.check(f"{words[0]}: ExtraSamples {extra}", tags_of(c.path("out.tif"), 338) == [extra])
    for out in ("out.npy", "out.pam"):
        result = c.result("convert", "--force", c.path("in.tif"), c.path(out), "--strict")
        c.check(f"{out}: ExtraSamples {extra}", result.returncode == 1 and "alpha samples" in result.stderr, result.stderr)
    c.run("convert", "--force", c.path("in.tif[bands=1]"), c.path("chosen.png"), "--strict")
    c.run("convert", "--force", c.path("in.tif[bands=1,2,3]"), c.path("out.tif"), "--strict")
    c.check(f"chosen bands of {extra}", tags_of(c.path("out.tif"), 338) == [None])

# What PAM and arrays say of bands is kept, or named as lost.
image = random_image(c.rng, (23, 17, 4), np.uint8)
with open(c.path("cmyk.pam"), "wb") as file:
    file.write(b"P7\nWIDTH 17\nHEIGHT 23\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n" + image.tobytes())
c.run("flip", "--h", c.path("cmyk.pam"), c.path("out.pam"), "--strict")
c.check("TUPLTYPE", b"TUPLTYPE CMYK\n" in open(c.path("out.pam"), "rb").read() and np.array_equal(read(c.path("out.pam")), image[:, ::-1]))
c.run("convert", c.path("cmyk.pam[bands=1,2,3,a4]"), c.path("rgba.pam"), "--strict")
c.check("TUPLTYPE of chosen bands", b"TUPLTYPE RGB_ALPHA\n" in open(c.path("rgba.pam"), "rb").read())
for shape, chw, kept in (((23, 17, 5), False, True), ((4, 17, 5), False, False), ((10, 9, 13), False, False), ((23, 17, 4), False, False),
                         ((23, 17, 5), True, True), ((23, 4, 5), True, False), ((23, 12, 13), True, False)):
    image = random_image(c.rng, shape, np.uint8)
    tiff(c.path("in.tif"), image)
    layout = ["--layout", "chw"] if chw else []
    result = c.result("convert", "--force", c.path("in.tif"), c.path("out.npy"), "--strict", *layout)
    c.check(f"{shape} in an array, {layout}", (result.returncode == 0) == kept, result.stderr)
    if kept:
        c.run("convert", "--force", c.path("out.npy"), c.path("again.tif"))
        c.check(f"{shape} back, {layout}", np.array_equal(planes(c.path("again.tif")), image))
    else:
        c.check(f"{shape}: what is lost", "what its bands are" in result.stderr, result.stderr)

# A band that is no alpha does not weigh the colours; alpha does.
image = random_image(c.rng, (24, 16, 4), np.uint8)
image[:12, :, 3] = 0
for kind, equal in ((0, True), (2, False)):
    tiff(c.path("in.tif"), image, 3, [kind])
    write(c.path("rgb.ppm"), image[:, :, :3])
    c.run("resize", c.path("in.tif"), c.path("out.tif"), "--size", "50%")
    c.run("resize", c.path("rgb.ppm"), c.path("rgb.out.ppm"), "--size", "50%")
    same = np.array_equal(planes(c.path("out.tif"))[:, :, :3], read(c.path("rgb.out.ppm")))
    c.check(f"resize, ExtraSamples {kind}", same == equal)

# Brackets choose bands, for every command.
image = random_image(c.rng, (20, 30, 6), np.uint16)
tiff(c.path("in.tif"), image)
for bands, order in (("1", [0]), ("6", [5]), ("3,2,1", [2, 1, 0]), ("5,5,1", [4, 4, 0])):
    out = c.path("out.pam")
    c.run("convert", c.path(f"in.tif[bands={bands}]"), out)
    c.check(f"[bands={bands}]", np.array_equal(np.atleast_3d(read(out)), image[:, :, order]))
c.run("convert", c.path("in.tif[bands=2-6]"), c.path("out.tif"))
c.check("[bands=2-6]", np.array_equal(planes(c.path("out.tif")), image[:, :, 1:]))
for name in ("out.png", "out.jpg", "out.webp", "out.ppm", "out.bmp", "out.pfm"):
    result = c.result("invert", c.path("in.tif"), c.path(name))
    c.check(f"{name} holds no bands", result.returncode == 1 and WAY_OUT in result.stderr, result.stderr)
    c.check(f"{name} does not appear", not os.path.exists(c.path(name)))

# Every operation, on five bands of 8 bits and of floats.
OPTIONS = {
    "convolve": ["--kernel", "1 2 1; 2 4 2; 1 2 1"], "rank": ["--percent", "30"], "remove-small": ["--area", "3"],
    "resize": ["--size", "50%"], "crop": ["--size", "10x8+2+3"], "pad": ["--margins", "3"], "rotate": ["--angle", "10"],
    "affine": ["--matrix", "1 0.1 2; 0 1 1"], "shift": ["--by", "2,1"], "gamma": ["--gamma", "1.4"],
    "levels": ["--black", "10%"], "threshold": ["--threshold", "50%"], "flip": ["--v"], "undistort": ["--camera", '{"K": [[20, 0, 10], [0, 20, 15], [0, 0, 1]], "D": [0.1, 0, 0, 0]}'],
    "perspective": ["--from", "0,0,20,0,20,29,0,29", "--to", "1,1,20,0,20,29,0,29"], "match": ["--reference", "@gray"],
    "remap": ["--map", "@map"], "flat-field": ["--flat", "@gray"], "mask": ["--with", "@gray", "--fill", "black"], "composite": ["--with", "@gray"],
    "blend": ["--with", "@gray"], **{name: ["--with", "@gray"] for name in ("add", "subtract", "multiply", "divide", "absdiff")},
    "color": ["--saturation", "2"], "channels": ["--order", "bgr"], "paste": ["--points", "@points.csv"],
    "transpose": [], "reconstruct": ["--seed", "@gray"], "hit-or-miss": ["--hit", "0 1 0; 0 1 1; 0 0 0"], "flood-fill": ["--at", "3,4", "--value", "1"],
    "contours": ["--format", "csv"], "lut": ["--cube", "LUT_1D_SIZE 2\n0 0.1 0\n1 0.9 0.5"], "calc": ["--expression", "a * 0.8 + 0.1"],
    "draw": ["--box", "2,3,9,8", "--color", "white"],
}
MANY = {"channels", "split", "merge", "montage", "pages", "stack", "stats", "histogram", "integral", "cumulative", "palette", "hash", "duplicates",
        "extract", "compare", "run", "convert", "orient", "tiles", "mosaic", "find", "align"}
listed = json.loads(c.run("list", "--json"))
names = [o["name"] for o in listed["operations"]]
walked = {}
for dtype in (np.uint8, np.float32):
    image = random_image(c.rng, (30, 21, 5), dtype)
    gray = random_image(c.rng, (30, 21), dtype)
    tiff(c.path("five.tif"), image)
    np.save(c.path("gray.npy"), gray)
    np.save(c.path("map.npy"), (c.rng.random((12, 10, 2)) * 20).astype(np.float32))
    with open(c.path("points.csv"), "w") as file:
        file.write(f"x,y,value\n3,4,{200 if dtype == np.uint8 else 0.5}\n")
    for i in range(5):
        np.save(c.path(f"band{i}.npy"), image[:, :, i])
    for name in names:
        if name in MANY:
            continue
        args = [c.path(a[1:] if "." in a else a[1:] + ".npy") if a.startswith("@") else a for a in OPTIONS.get(name, [])]
        five = c.result(name, c.path("five.tif"), c.path("five.npy"), *args)
        if five.returncode:
            walked[name] = five.stderr
            c.check(f"{name} says how bands are chosen", WAY_OUT in five.stderr and five.returncode == 1, five.stderr)
            continue
        walked[name] = "done"
        got = np.load(c.path("five.npy"))
        c.run(name, *(c.path(f"band{i}.npy") for i in range(5)), "--out-dir", c.path(f"{name}-{dtype.__name__}"), *args)
        for i in range(5):
            one = np.load(c.path(f"{name}-{dtype.__name__}/band{i}.npy"))
            c.check(f"{name} of band {i}, {dtype.__name__}", got.dtype == one.dtype and np.array_equal(got[:, :, i], one, equal_nan=True))
c.check("most operations take bands", sum(how == "done" for how in walked.values()) >= 40, str(walked))

# Pages, batches and tars of such files, and chains.
image = random_image(c.rng, (30, 21, 5), np.uint16)
tiff(c.path("a.tif"), image)
tiff(c.path("b.tif"), image[:, :, ::-1].copy(), 3)
c.run("pages", c.path("a.tif"), c.path("b.tif"), "--out", c.path("p.tif"))
c.run("invert", c.path("p.tif"), c.path("q.tif"))
c.run("run", "gaussian --sigma 1 | invert", c.path("a.tif"), c.path("chain.tif"))
os.mkdir(c.path("out"))
c.run("invert", c.path("a.tif"), c.path("b.tif"), "--out-dir", c.path("out"))
with tarfile.open(c.path("in.tar"), "w") as tar:
    tar.add(c.path("a.tif"), "a.tif")
    tar.add(c.path("b.tif"), "b.tif")
    tar.add(c.path("a.tif"), "without a suffix")
c.run("invert", "--tar", c.path("in.tar"), c.path("out.tar"))
with tarfile.open(c.path("out.tar")) as tar:
    tar.extractall(c.path("untarred"))
c.run("gaussian", "--sigma", "1", c.path("a.tif"), c.path("step.tif"))
for got, want in (("q.tif[0]", image), ("q.tif[1]", image[:, :, ::-1]), ("out/a.tif", image), ("out/b.tif", image[:, :, ::-1]),
                  ("untarred/a.tif", image), ("untarred/without a suffix", image),
                  ("untarred/b.tif", image[:, :, ::-1]), ("chain.tif", planes(c.path("step.tif")))):
    c.check(got, np.array_equal(planes(c.path(got)), 65535 - want))

# An image of bands is an image where only headers are read.
result = c.result("convert", c.path("b.tif"), c.path("a.tif"))
c.check("another image of bands is not replaced", result.returncode == 2 and "is an image already" in result.stderr, result.stderr)
c.check("it is as it was", np.array_equal(planes(c.path("a.tif")), image))

# A further image of the same bands is paired with them, band by band.
other = random_image(c.rng, (30, 21, 5), np.uint16)
tiff(c.path("other.tif"), other, planar=True)
tiff(c.path("nir.tif"), image[:, :, :4].copy(), 3)
tiff(c.path("nir2.tif"), other[:, :, :4].copy(), 3)
for name in ("absdiff", "subtract"):
    want = np.abs(image.astype(int) - other) if name == "absdiff" else np.maximum(image.astype(int) - other, 0)
    c.run(name, c.path("a.tif"), c.path("m.tif"), "--with", c.path("other.tif"))
    c.check(f"{name} of two images of bands", np.array_equal(planes(c.path("m.tif")), want))
    c.run(name, c.path("nir.tif"), c.path("m.tif"), "--with", c.path("nir2.tif"))
    c.check(f"{name} of RGB and a band", np.array_equal(planes(c.path("m.tif")), want[:, :, :4]))
c.run("run", f"invert | absdiff --with {c.path('other.tif')} | flip --v", c.path("a.tif"), c.path("m.tif"))
c.check("a chain with an image of bands",
        np.array_equal(planes(c.path("m.tif")), np.abs(65535 - image.astype(int) - other)[::-1]))
os.remove(c.path("m.tif"))

# An expression of several bands names each as an image. The error of one that names channels has such a command.
tiff(c.path("gray.tif"), image[:, :, :4].copy(), 1)
for name in ("nir.tif", "gray.tif"):  # RGB and near infrared, and four bands
    result = c.result("calc", "(a[3] - a[0]) / (a[3] + a[0])", c.path(name), c.path("n.tif"), "--depth", "float")
    said = re.search("as in gpuimg (calc .*)", result.stderr)
    c.check(f"{name}: calc of channels is an error that has a command", result.returncode == 2 and said, result.stderr)
    if said:
        c.run(*[c.path("n.tif") if word == "n.tif" else word.replace("x.tif", c.path(name)) for word in shlex.split(said[1])])
        red, nir = image[:, :, 0].astype(float), image[:, :, 3].astype(float)
        c.check(f"{name}: NDVI", np.allclose(planes(c.path("n.tif")).squeeze(), (nir - red) / (nir + red), rtol=0, atol=1e-6))
        os.remove(c.path("n.tif"))

# All bands are compared.
image = random_image(c.rng, (30, 21, 5), np.uint16)
changed = image.copy()
changed[3, 4, 3] ^= 256
changed[5, 6, 1] ^= 1024
for colours in (1, 3):
    tiff(c.path("one.tif"), image, colours)
    tiff(c.path("two.tif"), changed, colours, planar=True)
    c.run("compare", c.path("one.tif"), c.path("one.tif"))
    result = c.result("compare", c.path("one.tif"), c.path("two.tif"), "--json")
    table = json.loads(result.stdout)
    squares = (image.astype(float) - changed)**2
    singly = [json.loads(c.result("compare", c.path(f"one.tif[bands={i}]"), c.path(f"two.tif[bands={i}]"), "--json").stdout)["ssim"] for i in range(1, 6)]
    c.check(f"compare, {colours}", result.returncode == 1 and table["samples"] == image.size and table["differing"] == 2 and
            table["max_difference"] == 1024 and abs(table["mse"] / squares.mean() - 1) < 1e-9 and
            abs(table["psnr"] - 10 * np.log10(65535**2 / squares.mean())) < 1e-6 and abs(table["ssim"] - np.mean(singly)) < 1e-9, str(table))
    c.check("hashes", c.run("info", "--hash", c.path("one.tif")).split(b"hash")[1][:17] !=
            c.run("info", "--hash", c.path("two.tif")).split(b"hash")[1][:17])
tiff(c.path("four.tif"), image[:, :, :4].copy(), 3)
tiff(c.path("rgba.tif"), image[:, :, :4].copy(), 3, [2])
for pair in (["one.tif", "four.tif"], ["four.tif", "rgba.tif"], ["rgba.tif", "four.tif"], ["one.tif", "one.tif", "--visible"],
             ["one.tif", "one.tif", "--diff", "m.png"]):
    result = c.result("compare", *(c.path(w) if w[0] != "-" else w for w in pair))
    c.check(f"compare {pair}", result.returncode == 2 and WAY_OUT in result.stderr, result.stderr)
os.mkdir(c.path("before")), os.mkdir(c.path("after"))
tiff(c.path("before/x.tif"), image)
tiff(c.path("after/x.tif"), changed)
result = c.result("compare", c.path("before"), c.path("after"), "--table", c.path("pairs.csv"))
c.check("compare folders", result.returncode == 1 and ",2," in open(c.path("pairs.csv")).read(), result.stderr + open(c.path("pairs.csv")).read())

# Commands that take no bands say how some are chosen.
for command in (["palette", "a.tif"], ["hash", "a.tif"], ["extract", "a.tif"], ["montage", "a.tif", "a.tif", "m.tif"],
                ["channels", "a.tif", "m.tif", "--order", "bgr"], ["run", "invert | palette", "a.tif", "m.tif"],
                ["add", "b.tif", "m.tif", "--with", "a.tif"], ["add", "rgb.ppm", "m.tif", "--with", "a.tif"],
                ["mask", "a.tif", "m.tif", "--with", "a.tif"], ["add", "a.tif", "m.tif", "--with", "rgb.ppm"], ["crop", "--trim", "a.tif", "m.tif"], ["invert", "--gray", "a.tif", "m.tif"],
                ["gaussian", "--linear", "a.tif", "m.tif"], ["invert", "--background", "white", "a.tif", "m.tif"],
                ["pages", "a.tif", "a.tif", "--out", "m.y4m"], ["threshold", "b.tif", "m.tif"]):
    result = c.result(*(c.path(w) if w.endswith((".tif", ".npy", ".y4m", ".ppm")) else w for w in command))
    c.check(" ".join(command), result.returncode in (1, 2) and WAY_OUT in result.stderr, result.stderr)
    c.check(f"{command[0]} writes nothing", not os.path.exists(c.path("m.tif")))

for name, how in walked.items():
    if how != "done":
        print(f"{name}: {how.strip()}")
c.end()
