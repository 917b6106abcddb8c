"""Tiles of all layouts: names, sizes and pixels against numpy and vips dzsave, in bands and whole; many images; outputs that are whole or absent.

Sources: cli/commands/tiles.c cli/commands/tiles_layout.c filters/geometry/pyramid.c filters/geometry/halve.c cli/run/file_rows.c imgio/bundle.c imgio/temporary.c
"""
import glob
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from _common import Checks, need, np, optional, random_image, suffix, write
from _pyramid import levels

(Image,) = need("PIL.Image")
c = Checks()
os.chdir(c.folder.name)
SIZE = {"dz": 254, "iiif": 512}
NAMES = {"xyz": "google", "iiif": "iiif3"}  # the names of vips


def pyramid(a, layout, size, overlap):
    """Yields level, column, row, its window and the tile, from the largest level on."""
    all_levels = levels(a, 1 if layout == "dz" else size)
    first, numbers = 0, []
    for level in reversed(all_levels):
        numbers.insert(0, first)
        first += -(-level.shape[0] // size) * -(-level.shape[1] // size)
    for i, level in enumerate(all_levels):
        h, w = level.shape[:2]
        columns = -(-w // size)
        for row in range(-(-h // size)):
            for column in range(columns):
                x, y = max(0, column * size - overlap), max(0, row * size - overlap)
                x1, y1 = min(w, (column + 1) * size + overlap), min(h, (row + 1) * size + overlap)
                yield len(all_levels) - 1 - i, i, column, row, numbers[i] + row * columns + column, (x, y, x1, y1), level[y:y1, x:x1]


def name_of(layout, a, zoom, i, column, row, number, window):
    if layout == "iiif":
        x, y, x1, y1 = (v << i for v in window)
        size = f"{window[2] - window[0]},{window[3] - window[1]}"
        return f"out/{x},{y},{min(x1, a.shape[1]) - x},{min(y1, a.shape[0]) - y}/{size}/0/default.png"
    return {"dz": f"out_files/{zoom}/{column}_{row}.png", "xyz": f"out/{zoom}/{column}/{row}.png", "google": f"out/{zoom}/{row}/{column}.png",
            "zoomify": f"out/TileGroup{number // 256}/{zoom}-{column}-{row}.png"}[layout]


def expected(a, layout, size, overlap):
    tiles = {}
    for zoom, i, column, row, number, window, tile in pyramid(a, layout, size, overlap):
        if layout in ("xyz", "google"):
            fill = np.full((size, size, a.shape[2]), 0 if a.shape[2] % 2 == 0 else np.iinfo(a.dtype).max, a.dtype)
            fill[:tile.shape[0], :tile.shape[1]] = tile
            tile = fill
        tiles[name_of(layout, a, zoom, i, column, row, number, window)] = tile
    if layout == "iiif":
        last = list(pyramid(a, layout, size, overlap))[-1]
        width, height = last[5][2], last[5][3]
        tiles["out/full/" + (f"{width},{height}" if last[1] else "max") + "/0/default.png"] = last[6]
    return tiles


def written():
    return {p for p in glob.glob("out*/**/*.*", recursive=True) if os.path.isfile(p) and p.endswith(".png")}


def clear():
    for path in glob.glob("out*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def read_tile(path):
    image = Image.open(path)
    a = np.asarray(image)
    return a.astype(np.int64).reshape(a.shape[0], a.shape[1], -1)


def compare(name, a, layout, size=None, overlap=None, env=None):
    clear()
    source = "in" + suffix(a if a.shape[2] > 1 else a[:, :, 0])
    write(source, a if a.shape[2] > 1 else a[:, :, 0])
    words = ["tiles", source, "out", "--layout", layout, "--format", "png"]
    words += ["--tile-size", size] if size else []
    words += ["--overlap", overlap] if overlap is not None else []
    os.environ.update(env or {})
    c.run(*words)
    for key in env or {}:
        del os.environ[key]
    want = expected(a, layout, size or SIZE.get(layout, 256), overlap if overlap is not None else layout == "dz")
    got = written()
    c.check(f"{name}: names", got == set(want), sorted(got ^ set(want))[:4])
    wrong = [p for p in sorted(got & set(want)) if not np.array_equal(read_tile(p), want[p])]
    c.check(f"{name}: pixels", not wrong, wrong[:4])


# All layouts, sizes that do and do not divide, and small images.
for layout in "dz", "xyz", "google", "zoomify", "iiif":
    for shape in (301, 211, 3), (96, 64, 1), (1, 1, 3), (1, 130, 4):
        a = random_image(c.rng, shape, np.uint8)
        compare(f"{layout}, {shape}", a, layout, 32)
for overlap in 0, 1, 5, 31:
    for size in 32, 33:
        compare(f"overlap {overlap} of {size}", random_image(c.rng, (161, 130, 3), np.uint8), "dz", size, overlap)
compare("default size", random_image(c.rng, (300, 520, 1), np.uint8), "dz")

# Alpha, also where it is 0, and 16 bits; in bands, whose height is no multiple of anything.
a = random_image(c.rng, (141, 203, 4), np.uint8)
a[..., 3] *= c.rng.integers(0, 2, a.shape[:2], dtype=np.uint8)
compare("alpha", a, "dz", 48, 2)
compare("alpha, filled up", a, "xyz", 48)
compare("16 bits", random_image(c.rng, (141, 203, 1), np.uint16), "dz", 64, 0)
for nbytes in 1, 5000, 30011:
    compare(f"bands of {nbytes} bytes", a, "dz", 32, 3, {"GPUIMG_BAND_BYTES": str(nbytes)})
values = random_image(c.rng, (33, 47, 1), np.float32)
np.save("float.npy", values[:, :, 0])
c.run("tiles", "float.npy", "float", "--tile-size", 16, "--overlap", 0, "--format", "npy")
pairs = np.pad(values[:, :, 0], ((0, 1), (0, 1)), mode="edge").astype(np.float64)
half = (pairs[::2, ::2] + pairs[::2, 1::2] + pairs[1::2, ::2] + pairs[1::2, 1::2]) / 4
c.check("float", np.abs(np.load("float_files/5/0_0.npy") - half[:16, :16]).max() < 2**-23)

# The descriptions.
dzi = ElementTree.parse("float.dzi").getroot()
c.check("dzi", {**dzi.attrib, **dzi[0].attrib} == {"Format": "npy", "Overlap": "0", "TileSize": "16", "Width": "47", "Height": "33"}, dzi.attrib)
rgb = random_image(c.rng, (613, 1001, 3), np.uint8)
Image.fromarray(rgb).save("rgb.png")
c.run("tiles", "rgb.png", "z", "--layout", "zoomify")
count = len(glob.glob("z/TileGroup0/*.jpg"))
c.check("zoomify", open("z/ImageProperties.xml").read().strip() == f'<IMAGE_PROPERTIES WIDTH="1001" HEIGHT="613" NUMTILES="{count}" NUMIMAGES="1" VERSION="1.8" TILESIZE="256" />')
c.run("tiles", "rgb.png", "i", "--layout", "iiif", "--id", "https://example.com/a \"b\"")
info = json.load(open("i/info.json"))
c.check("iiif", info["id"] == 'https://example.com/a "b"' and (info["width"], info["height"]) == (1001, 613) and info["profile"] == "level0"
        and info["tiles"] == [{"width": 512, "scaleFactors": [1, 2]}] and info["sizes"] == [{"width": 501, "height": 307}], info)

# vips dzsave: the same names and sizes, and pixels within its rounding. It fills up google's tiles before it
# averages them, so that their last row and column differ.
if shutil.which("vips"):
    for layout in "dz", "google", "xyz", "zoomify", "iiif":
        for picture in "rgb", "rgba":
            clear()
            full = rgb if picture == "rgb" else np.dstack([rgb, np.full(rgb.shape[:2], 200, np.uint8)])
            Image.fromarray(full).save("in.png")
            c.run("tiles", "in.png", "out", "--layout", layout, "--format", "png")
            theirs = NAMES.get(layout, layout)
            shutil.rmtree("theirs", ignore_errors=True)
            os.mkdir("theirs")
            subprocess.run(["vips", "dzsave", "in.png", "theirs/out", "--layout", theirs, "--suffix", ".png"], check=True)
            want = {p[len("theirs/"):] for p in glob.glob("theirs/out*/**/*.png", recursive=True) if not p.endswith("blank.png")}
            names = {p: re.sub(r"(out/\d+/)(\d+)/(\d+)", r"\1\3/\2", p) if layout == "xyz" else p for p in written()}
            more = {p for p in names.values() if not p.startswith("out/full/")}
            c.check(f"vips, {layout}, {picture}: names", more == want, sorted(more ^ want)[:4])
            size = SIZE.get(layout, 256)
            off, sizes = 0, True
            for zoom, i, column, row, number, window, tile in pyramid(full, layout, size, layout == "dz"):
                path = name_of(layout, full, zoom, i, column, row, number, window)
                one, two = read_tile(path), read_tile("theirs/" + names[path])
                sizes = sizes and one.shape == two.shape
                h, w = (n - (layout in ("google", "xyz")) for n in tile.shape[:2])
                if sizes and (picture == "rgb" or i < 2):  # vips cuts off the fraction of weighted means, at each level
                    off = max(off, np.abs(one - two)[:h, :w].max(initial=0))
            c.check(f"vips, {layout}, {picture}: sizes", sizes)
            c.check(f"vips, {layout}, {picture}: pixels", off <= (picture == "rgba"), off)
else:
    c.skip("no vips (libvips-tools)")

# Outputs that are whole or absent.
clear()
os.mkdir("out")
open("out/mine.txt", "w").close()
p = c.result("tiles", "rgb.png", "out", "--layout", "xyz")
c.check("a folder that is not empty", p.returncode == 1 and "holds mine.txt: want a new or an empty folder" in p.stderr, p.stderr)
os.remove("out/mine.txt")
c.run("tiles", "rgb.png", "out/", "--layout", "xyz")
c.check("an empty folder", len(glob.glob("out/*/*/*.jpg")) == 17)
p = c.result("tiles", "rgb.png", "out2", "--format", "exr1")
c.check("format", p.returncode == 2 and "--format exr1: want" in p.stderr, p.stderr)
p = c.result("tiles", "rgb.png", "out2", "--overlap", "300")
c.check("overlap", p.returncode == 2 and "--overlap 300: want whole pixels, fewer than the 254 of a tile" in p.stderr, p.stderr)
p = c.result("tiles", "rgb.png", "out2", "--layout", "iiif", "--overlap", "3")
c.check("overlap of iiif", p.returncode == 2 and "--overlap 3: want 0, or --layout dz" in p.stderr, p.stderr)
data = open("rgb.png", "rb").read()
open("cut.png", "wb").write(data[:len(data) // 2])
before = sorted(os.listdir("."))
p = c.result("tiles", "cut.png", "out2")
c.check("a damaged image", p.returncode == 1 and sorted(os.listdir(".")) == before, p.stderr)
Image.fromarray(np.dstack([rgb, rgb[..., :1]])).save("rgba.png")
p = c.result("tiles", "rgba.png", "loss", "--tile-size", "16")
c.check("one warning", p.returncode == 0 and p.stderr.count("\n") == 1 and "alpha" in p.stderr, p.stderr[:300])

# A process that is killed by a signal, or by its input, leaves nothing.
before = sorted(os.listdir("."))
for limit in "0.05", "0.2":
    subprocess.run(["timeout", "-s", "TERM", limit, c.program, "tiles", "rgb.png", "killed", "--tile-size", "16", "--format", "png", "--compression", "9"], stderr=subprocess.DEVNULL, check=False)
    left = [n for n in os.listdir(".") if n not in before and not n.startswith("killed")]
    c.check("signal", not left, left)

# Many images, with a report.
os.mkdir("many")
open("empty.png", "wb").close()
p = subprocess.run([c.program, "tiles", "empty.png", "rgb.png", "--out", "some-{stem}"], capture_output=True, text=True)
c.check("a bad file of several", p.returncode == 1 and os.path.exists("some-rgb.dzi") and
        p.stderr.startswith("gpuimg: tiles: empty.png: is empty, want an image\n"), p.stderr)
c.run("tiles", "rgb.png", "rgba.png", "--out", "many/{stem}", "--report", "r.jsonl", "--background", "white")
c.check("many", sorted(os.listdir("many")) == ["rgb.dzi", "rgb_files", "rgba.dzi", "rgba_files"], os.listdir("many"))
lines = [json.loads(line) for line in open("r.jsonl")]
c.check("report", [x.get("status") for x in lines if x.get("input")] == ["done", "done"], lines)
for options in [], ["--layout", "xyz"], ["--layout", "tiff"]:
    p = c.result("tiles", "rgb.png", "-", *options)
    c.check(f"not to standard output: {options}", p.returncode == 2 and p.stderr == "gpuimg: tiles: -: want a name, not standard output: tiles are files\n", p.stderr)

# Tiles that are files have the profile of the image; everything else is named.
exif = Image.Exif()
exif[0x10F] = "maker"
cms = optional("PIL.ImageCms")
profile = cms.ImageCmsProfile(cms.createProfile("sRGB")).tobytes() if cms else None
Image.new("RGB", (20, 9)).save("rich.png", exif=exif, icc_profile=profile, dpi=(300, 300))
for layout in "dz", "xyz", "zoomify", "iiif":
    clear()
    strict = c.result("tiles", "rich.png", "out", "--layout", layout, "--strict")
    c.check(f"{layout}: --strict", strict.returncode == 1 and not glob.glob("out*"), strict.stderr)
    p = c.result("tiles", "rich.png", "out", "--layout", layout)
    tile = next(path for path in glob.glob("out*/**/*.jpg", recursive=True))
    c.check(f"{layout}: named once", p.stderr.count("dropped: EXIF, the resolution") == 1 and len(p.stderr.splitlines()) == 1, p.stderr)
    c.check(f"{layout}: the profile only", Image.open(tile).info.get("icc_profile") == profile and not Image.open(tile).getexif())
    clear()
    c.check(f"{layout}: --strip", c.result("tiles", "rich.png", "out", "--layout", layout, "--strict", "--strip").stderr == "")
c.check("a TIFF has all", c.result("tiles", "rich.png", "all.tif", "--layout", "tiff", "--strict").stderr == "")
for layout in [], ["--layout", "xyz"]:
    p = c.result("tiles", "rich.png", "cog.tif", *layout)
    c.check(f"no folder for a TIFF {layout}", p.returncode == 2 and not glob.glob("cog*") and
            p.stderr == "gpuimg: tiles: cog.tif: want --layout tiff or ome-tiff for a TIFF, or another name\n", p.stderr)
c.end()
