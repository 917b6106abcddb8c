"""Pyramidal TIFFs of tiles: the rules of cloud-optimized GeoTIFF and of OME-TIFF in plain Python, pixels of all levels by Pillow and tifffile.

Sources: cli/commands/tiles_tiff.c imgio/tiff/levels_write.c imgio/tiff/image_tags.c imgio/tiff/ome.c imgio/tiff/subifd.c
"""
import os
import struct
import xml.etree.ElementTree as ElementTree

from _common import Checks, need, np, optional, random_image, suffix, write
from _pyramid import levels

Image, ImageCms = need("PIL.Image", "PIL.ImageCms")
tifffile = optional("tifffile")
c = Checks()
os.chdir(c.folder.name)
TYPES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "Q", 12: "d", 16: "Q"}  # of tags; a fraction is one number here
GHOST = "GDAL_STRUCTURAL_METADATA_SIZE=%06d bytes\n"
LAYOUT = ["LAYOUT=IFDS_BEFORE_DATA", "BLOCK_ORDER=ROW_MAJOR", "BLOCK_LEADER=SIZE_AS_UINT4", "BLOCK_TRAILER=LAST_4_BYTES_REPEATED", "KNOWN_INCOMPATIBLE_EDITION=NO"]


class Directory:
    """A directory of a little-endian TIFF: its offset, the end of its bytes and long values, the next offset, and its tags."""
    def __init__(self, data, at):
        big = data[2] == 43
        count, entry, field = ("<Q", 20, "<Q") if big else ("<H", 12, "<I")
        n, = struct.unpack_from(count, data, at)
        self.at, self.tags, order = at, {}, []
        start = at + struct.calcsize(count)
        for i in range(n):
            tag, kind = struct.unpack_from("<HH", data, start + i * entry)
            values, = struct.unpack_from(field, data, start + i * entry + 4)
            place = start + i * entry + 4 + struct.calcsize(field)
            code = TYPES.get(kind, "B")
            nbytes = values * struct.calcsize(code)
            self.end = max(getattr(self, "end", 0), place + struct.calcsize(field))
            if nbytes > struct.calcsize(field):
                place, = struct.unpack_from(field, data, place)
                self.end = max(self.end, place + nbytes)
            order.append(tag)
            got = struct.unpack_from(f"<{values}{code}", data, place)
            self.tags[tag] = got[0].rstrip(b"\0").decode() if code == "s" else got
        self.sorted = order == sorted(set(order))
        self.next, = struct.unpack_from(field, data, start + n * entry)
        self.end = max(self.end, start + n * entry + struct.calcsize(field))

    def size(self):
        return self.tags[256][0], self.tags[257][0]

    def tiles(self):
        return list(zip(self.tags[324], self.tags[325]))


def directories(data):
    at, found = struct.unpack_from("<Q" if data[2] == 43 else "<I", data, 8 if data[2] == 43 else 4)[0], []
    while at:
        found.append(Directory(data, at))
        at = found[-1].next
    return found


def cog_errors(data):
    """What violates the layout of GDAL's COG driver, as its validator and its documentation state it."""
    wrong, found = [], directories(data)
    head = 16 if data[2] == 43 else 8
    start = data[head:head + len(GHOST % 0)].decode("latin-1")
    size = int(start.split("=")[1][:6])
    text = data[head + len(start):head + len(start) + size].decode()
    if text != "".join(line + "\n" for line in LAYOUT) + " ":
        wrong.append(f"ghost area {text!r}")
    first = head + len(start) + size
    if found[0].at != first + first % 2:
        wrong.append(f"first directory at {found[0].at}, want {first + first % 2}")
    for one, two in zip(found, found[1:]):
        if two.at < one.at or two.size() != tuple((n + 1) // 2 for n in one.size()):
            wrong.append(f"order or size of {two.size()} behind {one.size()}")
        if two.tags[324][0] > one.tags[324][0]:
            wrong.append("tiles of the smaller version come later")
    if [d.tags.get(254, (0,))[0] for d in found] != [0] + [1] * (len(found) - 1):
        wrong.append("kinds")
    if not all(d.sorted for d in found):
        wrong.append("tags are not sorted")
    at = max(d.end for d in found)
    for d in reversed(found):
        across, down = ((n + t - 1) // t for n, t in zip(d.size(), (d.tags[322][0], d.tags[323][0])))
        if len(d.tiles()) != across * down:
            wrong.append(f"{len(d.tiles())} tiles")
        for place, nbytes in d.tiles():
            if place - 4 != at and not (d is found[-1] and place == d.tags[324][0] and place - 4 > at):  # room behind the directories
                wrong.append(f"tile at {place}, want {at + 4}")
            if data[place - 4:place] != struct.pack("<I", nbytes):
                wrong.append("leader")
            if data[place + nbytes:place + nbytes + 4] != data[place + nbytes - 4:place + nbytes]:
                wrong.append("trailer")
            at = place + nbytes + 4
    return wrong + ([f"{len(data) - at} bytes at the end"] if at != len(data) else [])


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def source_of(a):
    name = "in" + suffix(a if a.shape[2] > 1 else a[:, :, 0])
    write(name, a if a.shape[2] > 1 else a[:, :, 0])
    return name


def same(got, want):
    got = got.reshape(want.shape)
    return np.abs(got - want).max() < 2**-23 if want.dtype.kind == "f" else np.array_equal(got, want)


def compare(name, a, size, *words):
    source, want = source_of(a), levels(a, size)
    for layout in "tiff", "ome-tiff":
        c.run("tiles", source, "out.tif", "--layout", layout, "--tile-size", size, *words)
        data = contents("out.tif")
        found = directories(data)
        if layout == "tiff":
            wrong = cog_errors(data)
        else:
            wrong = [] if len(found) == 1 else ["more than one page"]
            found += [Directory(data, at) for at in found[0].tags.get(330, ())]
            wrong += [] if max(d.end for d in found) <= min(d.tags[324][0] for d in found) else ["directories behind tiles"]
            wrong += [] if [d.tags.get(254, (0,))[0] for d in found] == [0] + [1] * (len(want) - 1) else ["kinds"]
        c.check(f"{name}, {layout}: structure", not wrong and [d.size()[::-1] for d in found] == [w.shape[:2] for w in want], wrong)
        c.check(f"{name}, {layout}: tiles", all(d.tags[322] == d.tags[323] == (size,) for d in found))
        if tifffile and (a.dtype != np.float32 or "--compression" in words):  # it lacks a predictor of floats
            with tifffile.TiffFile("out.tif") as t:
                got = t.series[0].levels if layout == "ome-tiff" else t.pages
                if layout == "tiff" or len(want) == 1:  # tifffile 2023.2.3 has one level as pages of a series
                    got = t.pages
                c.check(f"{name}, {layout}: tifffile", len(got) == len(want) and all(same(g.asarray(), w) for g, w in zip(got, want)), len(got))
                c.check(f"{name}, {layout}: is OME", t.is_ome == (layout == "ome-tiff"))
        if layout == "tiff" and (a.dtype == np.uint8 or a.shape[2] == 1):
            with Image.open("out.tif") as image:
                got = [image.seek(i) or np.asarray(image) for i in range(image.n_frames)]
            c.check(f"{name}: Pillow", len(got) == len(want) and all(same(g, w) for g, w in zip(got, want)))
        if layout == "ome-tiff":
            pixels = ElementTree.fromstring(found[0].tags[270])[0][-1]
            tag = pixels.tag[:-len("Pixels")]
            said = [pixels.get(k) for k in ("SizeX", "SizeY", "SizeZ", "SizeC", "SizeT", "Type")]
            kind = {np.uint8: "uint8", np.uint16: "uint16", np.float32: "float"}[a.dtype.type]
            c.check(f"{name}: OME", said == [str(n) for n in (a.shape[1], a.shape[0], 1, a.shape[2], 1)] + [kind], said)
            c.check(f"{name}: channels", [x.tag for x in pixels] == [tag + "Channel", tag + "TiffData"] and pixels[0].get("SamplesPerPixel") == str(a.shape[2]))
        again = "again" + source[2:]
        p = c.result("convert", "out.tif", again, "--quiet")
        c.check(f"{name}, {layout}: read as one image", p.returncode == 0 and contents(again) == contents(source), p.stderr)


if not tifffile:
    c.skip("python3 has no tifffile")
for dtype, shape, size in ((np.uint8, (141, 203, 3), 16), (np.uint8, (141, 203, 4), 32), (np.uint8, (30, 33, 2), 16), (np.uint16, (141, 203, 1), 64), (np.uint16, (99, 70, 3), 32),
                           (np.uint8, (141, 203, 1), 256), (np.uint8, (1, 1, 1), 16), (np.uint8, (1, 300, 3), 16), (np.float32, (67, 45, 1), 16), (np.float32, (33, 70, 3), 32)):
    compare(f"{dtype.__name__} {shape}", random_image(c.rng, shape, dtype), size)
for dtype in np.uint8, np.float32:
    compare(f"stored {dtype.__name__}", random_image(c.rng, (141, 203, 3), dtype), 32, "--compression", 0)

# Rows that arrive in bands give the same file.
source = source_of(random_image(c.rng, (141, 203, 3), np.uint8))
c.run("tiles", source, "whole.tif", "--layout", "cog", "--tile-size", 16)
os.environ["GPUIMG_BAND_BYTES"] = "5000"
c.run("tiles", source, "bands.tif", "--layout", "cog", "--tile-size", 16, "--threads", 3)
del os.environ["GPUIMG_BAND_BYTES"]
c.check("bands", contents("whole.tif") == contents("bands.tif"))

# Tags of the image: GeoTIFF, GDAL, resolution, ICC profile, texts and EXIF, whose size is that of the image and not of a tile.
GEO = {33550: (12, (10.0, 10.0, 0.0)), 33922: (12, (0.0, 0.0, 0.0, 5e5, 5e6, 0.0)), 34735: (3, (1, 1, 0, 1, 1024, 0, 1, 1)), 42113: (2, "7")}
if tifffile:
    a = random_image(c.rng, (90, 70, 3), np.uint8)
    tifffile.imwrite("geo.tif", a, photometric="rgb", metadata=None, description="a < b & c", resolution=(254, 127), resolutionunit=2,
                     extratags=[(k, kind, len(v), v, True) for k, (kind, v) in GEO.items()])
    for layout in "tiff", "ome-tiff":
        p = c.result("tiles", "geo.tif", "out.tif", "--layout", layout, "--tile-size", 32, "--nodata", "none")
        d = directories(contents("out.tif"))[0]
        c.check(f"{layout}: GeoTIFF", p.returncode == 0 and not p.stderr and all(d.tags.get(k) == v for k, (_, v) in GEO.items()), p.stderr)
        c.check(f"{layout}: resolution", [n & 0xffffffff for n in (*d.tags[282], *d.tags[283])] == [2540000, 1270000])
    xml = ElementTree.fromstring(d.tags[270])[0]
    c.check("OME: the description", xml[0].tag.endswith("}Description") and xml[0].text == "a < b & c", xml[0].text)
    sizes = {k: v for k, v in xml[1].attrib.items() if k.startswith("Physical")}
    c.check("OME: the size of a pixel", sizes == {"PhysicalSizeX": "100", "PhysicalSizeXUnit": "µm", "PhysicalSizeY": "200", "PhysicalSizeYUnit": "µm"}, sizes)
    c.run("tiles", "geo.tif", "cog.tif", "--layout", "tiff", "--tile-size", 32, "--nodata", "none")
    c.check("COG: the description", directories(contents("cog.tif"))[0].tags[270] == "a < b & c")
    p = c.result("convert", "out.tif", "again.png", "--strict")
    c.check("smaller versions in SubIFDs are named", p.returncode == 1 and "holds 2 smaller versions" in p.stderr and "SubIFD" not in p.stderr, p.stderr)
picture = Image.fromarray(random_image(c.rng, (45, 40, 3), np.uint8))
entries = struct.pack(">H", 2) + struct.pack(">HHI4s", 271, 2, 4, b"Abc") + struct.pack(">HHII", 34665, 4, 1, 38) + bytes(4)
inner = struct.pack(">H", 2) + struct.pack(">HHII", 0xA002, 4, 1, 40) + struct.pack(">HHII", 0xA003, 4, 1, 45) + bytes(4)
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
picture.save("exif.png", exif=b"MM\0*\0\0\0\x08" + entries + inner, icc_profile=profile)
for layout in "tiff", "ome-tiff":
    c.run("tiles", "exif.png", "out.tif", "--layout", layout, "--tile-size", 16)
    with Image.open("out.tif") as image:
        got = image.getexif()
        c.check(f"{layout}: EXIF", got.get(271) == "Abc" and dict(got.get_ifd(34665)) == {0xA002: 40, 0xA003: 45}, dict(got.get_ifd(34665)))
        c.check(f"{layout}: profile", image.info.get("icc_profile") == profile)

# Pixels without data have no weight in means, and keep their value.
for dtype, n, value in ((np.uint8, 3, 7), (np.uint16, 1, 60000), (np.uint8, 4, 0)):
    a = random_image(c.rng, (90, 71, n), dtype)
    colours = n - (n == 4)
    a[c.rng.random(a.shape[:2]) < 0.6, :colours] = value
    a[:40, :40, :colours] = value
    full = np.iinfo(dtype).max
    hidden = (a[..., :colours] == value).all(axis=2)
    alpha = np.where(hidden, 0, a[..., 3] if n == 4 else full).astype(dtype)
    want = levels(np.dstack([np.where(hidden[..., None], 0, a[..., :colours]), alpha]), 16)
    for w in want:
        w[..., :colours][w[..., -1] == 0] = value
    c.run("tiles", source_of(a), "out.tif", "--layout", "tiff", "--tile-size", 16, "--nodata", value)
    with Image.open("out.tif") as image:
        got = [image.seek(i) or np.asarray(image) for i in range(image.n_frames)]
    c.check(f"nodata of {dtype.__name__} {n}", len(got) == len(want) and all(same(g, w[..., :n] if n == 4 else w[..., :colours]) for g, w in zip(got, want)))
write("seven.pgm", np.full((20, 20), 7, np.uint8))
for words, want in (((), "7"), (("--depth", 16), str(7 * 257)), (("--depth", "float"), 7 / 255), (("--linear",), "7")):
    c.run("tiles", "seven.pgm", "out.tif", "--layout", "tiff", "--tile-size", 16, "--nodata", 7, *words)
    with Image.open("out.tif") as image:
        c.check(f"nodata: the tag, {words}", float(image.tag_v2.get(42113, "nan")) == float(want) and (np.asarray(image) == np.float32(want)).all(), image.tag_v2.get(42113))
a = random_image(c.rng, (50, 40), np.float32)
a[c.rng.random(a.shape) < 0.6] = np.nan
write("nan.npy", a)
c.run("tiles", "nan.npy", "out.tif", "--layout", "tiff", "--tile-size", 16, "--nodata", "nan")
with Image.open("out.tif") as image:
    full, half = (image.seek(i) or np.asarray(image) for i in range(2))
parts = np.stack([a[i::2, j::2] for i in (0, 1) for j in (0, 1)])
some = ~np.isnan(parts).all(axis=0)
c.check("nodata of float", np.array_equal(full, a, equal_nan=True) and np.array_equal(~np.isnan(half), some) and
        np.abs(half[some] - np.nansum(parts, axis=0)[some] / (~np.isnan(parts)).sum(axis=0)[some]).max() < 2**-23)

# Commands that are refused, and many images.
c.run("tiles", "exif.png", source, "--layout", "tiff", "--out", "{stem}-p.tif")
c.check("many", os.path.exists("exif-p.tif") and os.path.exists("in-p.tif"))
for words, want in ((("out.png",), "out.png: want a name that ends in .tif"), (("out.tif", "--tile-size", "20"), "--tile-size 20: want a multiple of 16"),
                    (("out.tif", "--depth", "1"), "--depth 1: want another depth"), (("out.tif", "--compression", "g4"), "--compression g4: want another compression")):
    p = c.result("tiles", source, *words, "--layout", "tiff")
    c.check(f"refused: {words}", p.returncode == 2 and want in p.stderr, p.stderr)
os.environ["TMPDIR"] = "/nowhere"
p = c.result("tiles", source, "none.tif", "--layout", "tiff")
c.check("no temporary file", p.returncode == 75 and "a temporary file in /nowhere" in p.stderr and not os.path.exists("none.tif"), p.stderr)
c.end()
