"""Properties of an image that EXIF, XMP, Photoshop's resources and JFIF repeat are those of the result: resolutions, also of
pixels that are not square and of turned images, samples, colour space, size and the place in a panorama. Thumbnails and
signatures of the old picture are dropped by name, also without decoding. Files are composed and parsed here.

Sources: imgio/metadata/exif_set.c imgio/metadata/color_tags* imgio/metadata/geo.c imgio/metadata/resolution* imgio/metadata/metadata_fit* imgio/metadata/photoshop* imgio/metadata/xmp* imgio/metadata/gpano* imgio/metadata/iptc* imgio/tiff/tags_put.h imgio/jpeg/lossless.c
"""
import os
import re
import struct
import xml.etree.ElementTree
import zlib

import numpy as np

from _common import Checks, png_chunk, write
from _tags import EXIF, compose, parse

INTEROPERABILITY = 40965
WIDTH, HEIGHT = 32, 16
c = Checks()
check = c.check
os.chdir(c.folder.name)


def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data


def resource(number, data):
    return b"8BIM" + struct.pack(">HHI", number, 0, len(data)) + data + b"\0" * (len(data) % 2)


def packet(x, y):
    return (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description tiff:XResolution="{x}0000/10000"'
            f' tiff:ResolutionUnit="2" tiff:SamplesPerPixel="3" tiff:PhotometricInterpretation="2" exif:ColorSpace="65535">'
            f'<tiff:YResolution>{y}/1</tiff:YResolution><photoshop:ColorMode>3</photoshop:ColorMode>'
            f'<photoshop:ICCProfile>Adobe RGB (1998)</photoshop:ICCProfile></rdf:Description></rdf:RDF></x:xmpmeta>').encode()


def block(order, x, y):
    return compose([(256, 4, [WIDTH]), (257, 3, [HEIGHT]), (258, 3, [8, 8, 8]), (262, 3, [2]), (277, 3, [3]), (282, 5, [(x, 1)]),
                    (283, 5, [(10 * y, 10)]), (296, 3, [2]),
                    (EXIF, 4, [(0xA001, 3, [65535]), (0xA002, 3, [WIDTH]), (0xA003, 4, [HEIGHT]),
                               (INTEROPERABILITY, 4, [(1, 2, b"R03\0"), (0x1001, 3, [WIDTH]), (0x1002, 4, [HEIGHT])])])], order)


def resolution(x, y):
    return struct.pack(">IHHIHH", x << 16, 1, 1, y << 16, 1, 1)


def pixels():
    write("base.ppm", np.arange(WIDTH * HEIGHT * 3, dtype=np.uint32).astype("u1").reshape(HEIGHT, WIDTH, 3))
    c.run("convert", "base.ppm", "base.jpg")
    data = open("base.jpg", "rb").read()
    return data[data.index(b"\xff\xdb"):]


SCAN = pixels()


def photo(order="<", x=300, y=100, first="JFIF", more=b""):
    """A JPEG, in which JFIF's segment or that of EXIF comes first."""
    heads = {"JFIF": segment(0xE0, b"JFIF\0\1\1" + struct.pack(">BHHBB", 1, x, y, 0, 0)),
             "Exif": segment(0xE1, b"Exif\0\0" + block(order, x, y))}
    return (b"\xff\xd8" + heads.pop(first) + b"".join(heads.values())
            + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet(x, y))
            + segment(0xED, b"Photoshop 3.0\0" + resource(0x0424, b"before") + resource(0x040C, b"thumb")
                      + resource(0x03ED, resolution(x, y)))
            + more + SCAN)


def segments(data):
    at, found = 2, []
    while data[at + 1] != 0xDA:
        n, = struct.unpack(">H", data[at + 2:at + 4])
        found.append((data[at + 1], data[at + 4:at + 2 + n]))
        at += 2 + n
    return found


def ratio(text):
    number, _, by = text.partition("/")
    return int(number) / int(by or 1)


def state(path):
    """What the JPEG says of itself, by where it says so."""
    said = {}
    for marker, data in segments(open(path, "rb").read()):
        if marker == 0xE0 and data.startswith(b"JFIF\0"):
            said["JFIF"] = struct.unpack(">HH", data[8:12])
        elif data.startswith(b"Exif\0\0"):
            tags = parse(data[6:])
            own = tags[EXIF][1]
            said["EXIF"] = tuple(tags[t][1][0] / tags[t][1][1] for t in (282, 283))
            said["samples"] = tags[277][1] + tags[258][1] + tags[262][1]
            said["space"] = own[0xA001][1] + (own[INTEROPERABILITY][1][1][1],)
            said["sizes"] = {(tags[256][1] + tags[257][1]), (own[0xA002][1] + own[0xA003][1]),
                             (own[INTEROPERABILITY][1][0x1001][1] + own[INTEROPERABILITY][1][0x1002][1])}
        elif data.startswith(b"http://ns.adobe.com/xap/1.0/\0"):
            text = data[29:].decode()
            value = {name: re.search(rf'{name}(?:="|>)([^"<]*)', text)[1] for name in (
                "tiff:XResolution", "tiff:YResolution", "tiff:SamplesPerPixel", "tiff:PhotometricInterpretation",
                "photoshop:ColorMode", "photoshop:ICCProfile", "exif:ColorSpace")}
            said["XMP"] = ratio(value["tiff:XResolution"]), ratio(value["tiff:YResolution"])
            said["XMP samples"] = tuple(int(value[k]) for k in ("tiff:SamplesPerPixel", "tiff:PhotometricInterpretation",
                                                                "photoshop:ColorMode"))
            said["XMP space"] = value["exif:ColorSpace"], value["photoshop:ICCProfile"]
        elif data.startswith(b"Photoshop 3.0\0"):
            at = data.index(b"8BIM\x03\xed") + 12
            x, y = struct.unpack(">I4xI", data[at:at + 12])
            said["Photoshop"] = x / 65536, y / 65536
            said["thumbnail"] = b"thumb" in data
            check(f"{path}: other resources stay", b"before" in data)
    return said


def names(path, *words):
    """Converts in.jpg, and returns what the file says and the warning."""
    if os.path.exists(path):
        os.remove(path)
    result = c.result(*words[:1], "in.jpg", path, *words[1:])
    check(f"{words}: no error", result.returncode == 0, result.stderr)
    return state(path), result.stderr


RESOLUTIONS = ("JFIF", "EXIF", "XMP", "Photoshop")
SAMPLES = (3, 8, 8, 8, 2)


def same_everywhere(name, said, x, y, of=RESOLUTIONS):
    check(f"{name}: one resolution", all(said[k] == (x, y) for k in of), said)


for order in "<>":
    for first in ("JFIF", "Exif"):
        open("in.jpg", "wb").write(photo(order, first=first))
        kind = f"{order} {first}"
        said, _ = names("out.jpg", "invert")
        same_everywhere(f"{kind} invert", said, 300, 100)
        check(f"{kind} invert: all as before", said["samples"] == SAMPLES and said["space"] == (65535, b"R03\0")
              and said["XMP samples"] == (3, 2, 3) and said["XMP space"] == ("65535", "Adobe RGB (1998)"), said)
        said, _ = names("out.jpg", "invert", "--dpi", "150")
        same_everywhere(f"{kind} --dpi", said, 150, 150)
        said, _ = names("out.jpg", "invert", "--dpi", "72.5")
        same_everywhere(f"{kind} --dpi 72.5", said, 72.5, 72.5, RESOLUTIONS[1:])
        said, _ = names("out.jpg", "invert", "--gray")
        check(f"{kind} --gray", said["samples"] == (1, 8, 1) and said["XMP samples"] == (1, 1, 1), said)
        for words in (["rotate", "--angle", "90"], ["transpose"], ["run", "x"], ["orient", "--orientation", "6"],
                      ["orient", "--lossless", "--orientation", "6"], ["orient", "--tag", "8"]):
            if words[0] == "run":
                c.run("run", "transpose | invert", "in.jpg", "run.jpg")
                said = state("run.jpg")
                os.remove("run.jpg")
            else:
                said, warning = names("out.jpg", *words)
                check(f"{kind} {words}: a thumbnail is dropped by name", "thumbnail of Photoshop" in warning, warning)
            same_everywhere(f"{kind} {words}", said, 100, 300)
            check(f"{kind} {words}: sizes and thumbnail", said["sizes"] == {(HEIGHT, WIDTH)} and not said["thumbnail"], said)
        said, _ = names("out.jpg", "rotate", "--angle", "180")
        same_everywhere(f"{kind} half a turn", said, 300, 100)
        said, _ = names("out.jpg", "resize", "--size", "16x8")
        check(f"{kind} resize", said["sizes"] == {(16, 8)}, said)

# A file that is turned by its orientation when it is read.
open("in.jpg", "wb").write(photo())
c.run("orient", "in.jpg", "tagged.jpg", "--tag", "6")
os.rename("tagged.jpg", "in.jpg")
said, _ = names("out.jpg", "invert")
same_everywhere("turned when it is read", said, 300, 100)

# Colour spaces, of a build with lcms2.
open("in.jpg", "wb").write(photo())
for name, want, xmp in (("srgb", (1, b"R98\0"), ("1", "sRGB IEC61966-2.1")), ("display-p3", (65535, b"R98\0"), ("65535", "")),
                        ("adobe-rgb", (65535, b"R03\0"), ("65535", "Adobe RGB (1998)"))):
    result = c.result("convert", "in.jpg", "profile.jpg", "--profile", name, "--force")
    if "no lcms2" in result.stderr or "lcms" in result.stderr and result.returncode:
        c.skip("this build or this system has no lcms2")
        break
    said = state("profile.jpg")
    check(f"--profile {name}", said["space"] == want and said["XMP space"] == xmp, said)

# What describes the colour space beside a profile is dropped by name, with the chunks of a PNG's light.
CURVE = {318: (318, 5, [(3127, 10000), (329, 1000)]), 319: (319, 5, [(64, 100), (33, 100), (3, 10), (6, 10), (15, 100), (6, 100)])}
exif = compose([(271, 2, b"Make\0"), *CURVE.values(), (EXIF, 4, [(0xA001, 3, [1]), (0xA500, 5, [(22, 10)])])])
open("curve.jpg", "wb").write(b"\xff\xd8" + segment(0xE1, b"Exif\0\0" + exif) + SCAN)
open("curve.tif", "wb").write(compose([(256, 3, [2]), (257, 3, [1]), (258, 3, [8] * 3), (259, 3, [1]), (262, 3, [2]), (273, 4, [8]),
                                       (277, 3, [3]), (278, 3, [1]), (279, 4, [6]), *CURVE.values()], data=bytes(6)))
header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
light = png_chunk(b"gAMA", struct.pack(">I", 45455)) + png_chunk(b"mDCV", bytes(24)) + png_chunk(b"cLLI", bytes(8))
open("light.png", "wb").write(b"\x89PNG\r\n\x1a\n" + header + light + png_chunk(b"IDAT", zlib.compress(bytes(4))) + png_chunk(b"IEND", b""))
PLACES = {"curve.jpg": (["white point, primaries or curve in EXIF"], b"Make"), "curve.tif": (["tag 318", "tag 319"], b"II"),
          "light.png": (["chunk mDCV", "chunk cLLI"], b"PNG")}
for name, (words, stays) in PLACES.items():
    out = "after" + name[-4:]
    for operation, with_lcms in ((["convert", "--profile", "display-p3", "--force"], True), (["color", "--to", "lab"], False)):
        result = c.result(operation[0], name, out, *operation[1:])
        if with_lcms and "lcms" in result.stderr:
            continue
        data = open(out, "rb").read()
        check(f"{operation} {name}: dropped by name", all(f"{w}" in result.stderr for w in words), result.stderr)
        check(f"{operation} {name}: and not there", stays in data and not any(w in data for w in (b"mDCV", b"cLLI"))
              and struct.pack("<HH", 318, 5) not in data, data[:99])
    result = c.result("invert", name, out, "--strict")
    check(f"{name}: all stays otherwise", result.returncode == 0, result.stderr)

# Without decoding: what belongs to the old picture is dropped by name; an unchanged picture keeps it.
extras = {"thumbnail (JFXX)": segment(0xE0, b"JFXX\0\x10" + b"x" * 9), "JUMBF (C2PA)": segment(0xEB, b"JP\0\1" + b"y" * 9)}
open("in.jpg", "wb").write(photo(more=b"".join(extras.values())))
said, warning = names("out.jpg", "orient", "--lossless", "--orientation", "3")
data = open("out.jpg", "rb").read()
for name, part in extras.items():
    check(f"lossless: {name} is dropped by name", name in warning and part not in data, warning)
same_everywhere("lossless, half a turn", said, 300, 100)
names("out.jpg", "orient", "--lossless")
data = open("out.jpg", "rb").read()
check("lossless, unchanged: all parts stay", all(part in data for part in extras.values()) and b"thumb" in data)

# The place of the subject moves with the pixels; regions in XMP, which are shares of the sides, stay in a whole picture.
REGIONS = b'<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions stDim:w="32"/></mwg-rs:Regions>'


def with_subject(order, area, orientation=1):
    exif = compose([(271, 2, b"Make\0"), (274, 3, [orientation]), (EXIF, 4, [(0x9214, 3, area), (0xA001, 3, [1]), (0xA214, 3, area[:2])])], order)
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">' + REGIONS + b"</x:xmpmeta>"
    open("in.jpg", "wb").write(b"\xff\xd8" + segment(0xE1, b"Exif\0\0" + exif)
                               + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp) + SCAN)


def subject(path):
    data = open(path, "rb").read()
    tags = parse(next(d for m, d in segments(data) if d.startswith(b"Exif\0\0"))[6:])[EXIF][1]
    check(f"{path}: other tags stay", tags[0xA001][1] == (1,), tags)
    return tuple(list(tags[t][1]) if t in tags else None for t in (0x9214, 0xA214)), REGIONS in data


for order in "<>":
    for area, words, want, regions in (
            ([10, 4, 6, 2], ["rotate", "--angle", "90"], [4, 21, 2, 6], False),
            ([10, 4, 6, 2], ["orient", "--lossless", "--orientation", "6"], [11, 10, 2, 6], False),
            ([10, 4, 6, 2], ["orient", "--lossless=trim", "--orientation", "3"], [21, 11, 6, 2], False),
            ([10, 4, 6, 2], ["flip", "--h"], [21, 4, 6, 2], False),
            ([10, 4, 6], ["transpose"], [4, 10, 6], False),
            ([10, 4], ["crop", "--size", "20x10+3+1"], [7, 3], False),
            ([10, 4, 6, 2], ["crop", "--size", "20x10+0+0"], [10, 4, 6, 2], False),
            ([10, 4, 6, 2], ["crop", "--size", "20x10+12+1"], None, False),
            ([10, 4, 6, 2], ["crop", "--lossless", "--size", "16x16+16+0"], None, False),
            ([20, 4, 6, 2], ["crop", "--lossless", "--size", "16x16+16+0"], [4, 4, 6, 2], False),
            ([10, 4, 6, 2], ["resize", "--size", "64x32"], [21, 9, 12, 4], True),
            ([10, 4, 6, 2], ["invert"], [10, 4, 6, 2], True),
            ([10, 4, 6, 2], ["warp-polar"], None, False)):
        with_subject(order, area)
        result = c.result(words[0], "in.jpg", "place.jpg", *words[1:])
        got, kept = subject("place.jpg")
        check(f"{order} {words}: the subject", got == (want, want and want[:2]), (got, want))
        check(f"{order} {words}: it is removed by name", ("place of the subject in EXIF" in result.stderr) == (want is None), result.stderr)
        check(f"{order} {words}: regions", kept == regions == ("regions in XMP" not in result.stderr), result.stderr)

# A rectangle of the upright picture, whose stored pixels are turned, too.
for orientation, place, want in ((1, "16x16+16+0", [4, 4, 6, 2]), (2, "16x16+0+0", [11, 4, 6, 2]), (3, "16x16+0+0", [11, 11, 6, 2]),
                                 (6, "16x16+0+16", [11, 4, 2, 6]), (8, "16x16+0+0", [4, 11, 2, 6])):
    for words in (["--lossless"], []):
        with_subject("<", [20, 4, 6, 2], orientation)
        c.run("crop", "in.jpg", "place.jpg", "--size", place, *words)
        check(f"crop of orientation {orientation} {words}: the subject", subject("place.jpg")[0] == (want, want[:2]), subject("place.jpg"))

# Every size of --sizes begins with the place, the regions and the resolutions of the input.
with_subject("<", [10, 4, 6, 2])
c.run("resize", "in.jpg", "--sizes", "24,16,8", "--out", "size-{width}.jpg")
for width in (24, 16, 8):
    got, kept = subject(f"size-{width}.jpg")
    check(f"--sizes {width}: the subject", got[0] == [int((10.5 * width / 32 - 0.5) + 0.5), int((4.5 * width / 32 - 0.5) + 0.5),
                                                      int(6 * width / 32 + 0.5), int(2 * width / 32 + 0.5)] and kept, got)

# The place in a panorama, in pixels, as attributes or elements, and the orientation that IPTC names.
PANO = ("FullPanoWidthPixels", "FullPanoHeightPixels", "CroppedAreaImageWidthPixels", "CroppedAreaImageHeightPixels",
        "CroppedAreaLeftPixels", "CroppedAreaTopPixels", "LargestValidInteriorRectWidth", "LargestValidInteriorRectHeight",
        "LargestValidInteriorRectLeft", "LargestValidInteriorRectTop")
INTERIOR = [16, 8, 4, 4]


def with_pano(values, elements):
    own = dict(zip(PANO, values), ProjectionType="equirectangular", UsePanoramaViewer="True")
    attributes = "" if elements else "".join(f' GPano:{k}="{v}"' for k, v in own.items())
    inside = "".join(f"<GPano:{k}>{v}</GPano:{k}>" for k, v in own.items()) + "<GPano:Empty/>" if elements else ""
    xmp = (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description'
           f' xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"{attributes} xmp:Rating="3">'
           f"{inside}<xmp:Label>about GPano:FullPanoWidthPixels</xmp:Label></rdf:Description></rdf:RDF></x:xmpmeta>")
    open("in.jpg", "wb").write(b"\xff\xd8" + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + xmp.encode())
                               + segment(0xED, b"Photoshop 3.0\0" + resource(0x0404, b"\x1c\x02\x83\0\1L")) + SCAN)


def pano(path):
    """The numbers of the panorama, or None if no property of it is there, and the orientation of IPTC."""
    found = dict(segments(open(path, "rb").read()))
    xmp = found[0xE1][29:].decode()
    tree = xml.etree.ElementTree.fromstring(xmp)
    check(f"{path}: other properties stay", "{http://ns.adobe.com/xap/1.0/}Rating': '3" in str([e.attrib for e in tree.iter()])
          and "<xmp:Label>about GPano:FullPanoWidthPixels<" in xmp, xmp)
    values = [re.search(rf'GPano:{name}(?:="|>)(\d+)["<]', xmp) for name in PANO]
    rest = len(re.findall(r"[ <]GPano:", xmp.replace("about GPano:", "")))
    return ([v and int(v[1]) for v in values] if rest else None), found[0xED][-1:].decode()


for elements in (False, True):
    for values, words, want, way in (
            ([64, 32, 32, 16, 10, 8], ["invert"], [64, 32, 32, 16, 10, 8, *INTERIOR], "L"),
            ([64, 32, 32, 16, 10, 8], ["crop", "--size", "20x10+3+1"], [64, 32, 20, 10, 13, 9], "L"),
            ([64, 32, 32, 16, 10, 8], ["crop", "--size", "8x10+0+0"], [64, 32, 8, 10, 10, 8], "P"),
            ([32, 16, 32, 16, 0, 0], ["crop", "--size", "16x16+16+0"], [32, 16, 16, 16, 16, 0], "S"),
            ([64, 32, 32, 16, 10, 8], ["resize", "--size", "16x8"], [32, 16, 16, 8, 5, 4, 8, 4, 2, 2], "L"),
            ([64, 32, 32, 16, 10, 8], ["resize", "--size", "64x32"], [128, 64, 64, 32, 20, 16, 32, 16, 8, 8], "L"),
            ([32, 16, 32, 16, 0, 0], ["resize", "--size", "10x5"], [10, 5, 10, 5, 0, 0, 5, 3, 1, 1], "L"),
            ([32, 16, 32, 16, 0, 0], ["resize", "--size", "8x16", "--stretch"], [8, 16, 8, 16, 0, 0, 4, 8, 1, 4], "P"),
            # reduced before by a program that kept the numbers
            ([128, 64, 64, 32, 20, 16], ["crop", "--size", "20x10+3+1"], [64, 32, 20, 10, 13, 9], "L"),
            ([128, 64, 64, 32, 20, 16], ["invert"], [128, 64, 64, 32, 20, 16, *INTERIOR], "L"),
            ([64, 32, 32, 16, 10, 8], ["pad", "--size", "40x20"], [64, 32, 40, 20, 6, 6], "L"),
            ([32, 16, 32, 16, 0, 0], ["pad", "--size", "40x20"], None, "L"),
            ([64, 32, 32, 16, 10, 8], ["flip", "--h"], None, "L"),
            ([64, 32, 32, 16, 10, 8], ["rotate", "--angle", "90"], None, "P"),
            ([64, 32, 32, 16, 10, 8], ["orient", "--lossless", "--orientation", "6"], None, "P"),
            ([64, 32, 32, 16, 10, 8], ["crop", "--lossless", "--size", "16x16+0+0"], [64, 32, 16, 16, 10, 8], "S"),
            ([64, 32, 32, 16, 10, 8], ["crop", "--lossless", "--size", "13x11+16+0"], [64, 32, 13, 11, 26, 8], "L"),
            # The rectangle begins at the blocks to the left of it.
            ([64, 32, 32, 16, 10, 8], ["crop", "--lossless", "--size", "13x11+17+0"], [64, 32, 14, 11, 26, 8], "L"),
            ([128, 64, 64, 32, 20, 16], ["crop", "--lossless", "--size", "16x16+16+0"], [64, 32, 16, 16, 26, 8], "S"),
            ([64, 32, 0, 16, 10, 8], ["crop", "--lossless", "--size", "16x16+16+0"], None, "S"),
            ([64, 32, 32, 16, 10, 8], ["rotate", "--angle", "9"], None, "L"),
            ([64, 32, 0, 16, 10, 8], ["crop", "--size", "20x10+3+1"], None, "L"),
            # numbers that would become larger than 2^30
            ([1 << 30, 1 << 29, 32, 16, 0, 0], ["resize", "--size", "256x128"], None, "L"),
            ([64, 32, 32, 16, 10, 8, 1 << 30, 8, 4, 4], ["resize", "--size", "64x32"],
             [128, 64, 64, 32, 20, 16, None, 16, 8, 8], "L")):
        with_pano((values + INTERIOR)[:len(PANO)], elements)
        result = c.result(words[0], "in.jpg", "pano.jpg", *words[1:])
        got, orientation = pano("pano.jpg")
        wanted = want and want + [None] * (len(PANO) - len(want))
        check(f"{words} {values} {elements}: the place in a panorama", got == wanted, (got, wanted, result.stderr))
        check(f"{words} {values}: it is dropped by name", ("place in a panorama in XMP" in result.stderr) == (want is None), result.stderr)
        check(f"{words}: orientation in IPTC", orientation == way, orientation)
        for name in ("png", "tif"):
            if words[0] != "orient" and "--lossless" not in words:
                c.run(words[0], "in.jpg", f"pano.{name}", *words[1:])
                data = open(f"pano.{name}", "rb").read()
                data = bytes.fromhex(zlib.decompress(data[data.index(b"Raw profile type iptc") + 23:]).split(b"\n", 3)[3].decode()
                                     .replace("\n", "")) if name == "png" else data
                check(f"{words}: orientation in IPTC of {name}", b"\x1c\x02\x83\0\1" + way.encode() in data)

# A TIFF: Photoshop's resources follow the tags.
open("in.tif", "wb").write(compose([(256, 3, [4]), (257, 3, [2]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]),
                                    (277, 3, [1]), (278, 3, [2]), (279, 4, [8]), (282, 5, [(204, 1)]), (283, 5, [(98, 1)]),
                                    (296, 3, [2]), (34377, 1, resource(0x03ED, resolution(204, 98)))], data=bytes(8)))
for words, x, y in ((["transpose"], 98, 204), (["invert"], 204, 98), (["invert", "--dpi", "50"], 50, 50)):
    c.run(words[0], "in.tif", "out.tif", *words[1:])
    tags = parse(open("out.tif", "rb").read())
    check(f"TIFF {words}", [tags[t][1][0] / tags[t][1][1] for t in (282, 283)] == [x, y]
          and struct.unpack(">I4xI", tags[34377][1][12:24]) == (x << 16, y << 16), tags)
c.end()
