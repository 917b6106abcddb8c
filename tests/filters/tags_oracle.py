"""Every tag of a TIFF arrives in a TIFF, as EXIF and IPTC in other formats, or is named: files composed and parsed here.

Sources: imgio/tiff/tiff_parts* imgio/tiff/directories* imgio/tiff/directory_write* imgio/tiff/tags* imgio/metadata/photoshop* imgio/metadata/iptc* imgio/pages.c
"""
import os
import struct
import subprocess

from _common import Checks, optional
from _tags import EXIF, GPS, INTEROPERABILITY, compose, parse, plain, png_resources

Image, IptcImagePlugin = optional("PIL.Image"), optional("PIL.IptcImagePlugin")
c = Checks()
check = c.check
os.chdir(c.folder.name)

PIXELS = bytes(range(10, 22))
IPTC_BYTES = b"\x1c\x02\x05\0\5Title" + b"\x1c\x02\x5a\0\6London" + b"\x1c\x02\x78\0\7caption"
THUMBNAIL = b"8BIM\x04\x0c\0\0" + struct.pack(">I", 8) + b"a small "
SECRET = b"8BIM\x27\x10\3abc" + struct.pack(">I", 5) + b"clip5\0"
RESOURCES = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(IPTC_BYTES)) + IPTC_BYTES + b"\0" * (len(IPTC_BYTES) % 2)

# A value of every type, which must arrive as it is in either byte order.
EVERY = {1: [1, 2, 255, 4, 5], 2: b"text\0", 3: [1, 65535, 3], 4: [1, 0xFFFFFFFF], 5: [(1, 3), (7, 0xFFFFFFFF)],
         6: [-1, 2], 7: b"\0\1\2\3\4\5", 8: [-2, 30000], 9: [-70000, 5], 10: [(-1, 3)], 11: [0.5, -2.0], 12: [1e300, -0.1]}
GEO = [(33550, 12, [0.5, 0.5, 0.0]), (33922, 12, [0.0, 0.0, 0.0, 400000.0, 5e6, 0.0]),
       (34735, 3, [1, 1, 0, 1, 1024, 0, 1, 1]), (34736, 12, [6378137.0]), (34737, 2, b"WGS 84|\0"),
       (42112, 2, b"<GDALMetadata/>\0"), (42113, 2, b"-9999\0")]


def tiff(order, big, entries, wide=False):
    """A gray image of 4 x 3 bytes with these entries, which may replace its own."""
    head = 16 if big else 8
    own = [(256, 3, [4]), (257, 3, [3]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [head]), (277, 3, [1]),
           (278, 3, [3]), (279, 4, [12])]
    given = {e[0] for e in entries}
    return compose([e for e in own if e[0] not in given] + entries, order, big, data=PIXELS)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def convert(path, *options):
    if os.path.exists(path):
        os.remove(path)
    result = c.result("convert", "in.tif", path, *options)
    return result.returncode, result.stderr


def segments(data):
    at, found = 2, []
    while data[at + 1] != 0xDA:
        n = struct.unpack(">H", data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + n]))
        at += 2 + n
    return found


def own_directories():
    exif = [(36864 + kind, kind, values) for kind, values in EVERY.items()]
    exif += [(37500, 7, b"maker's notes, of a camera"), (40960, 7, b"0100")]
    inner = [(1, 2, b"R98\0"), (4096, 2, b"JPEG\0")]
    gps = [(1, 2, b"N\0"), (2, 5, [(48, 1), (30, 1), (3060, 100)]), (29, 2, b"2026:11:25\0")]
    return exif, inner, gps


def whole(order, big):
    """Everything at once, through TIFF to TIFF and to JPEG."""
    exif, inner, gps = own_directories()
    kind = 13 if order == "<" else 18 if big else 4
    private = [(65000 + n, k, v) for n, (k, v) in enumerate(EVERY.items())]
    private += [(65100, 16, [7, 1 << 31]), (65101, 17, [-5])] if big else []
    entries = [(EXIF, kind, sorted(exif + [(INTEROPERABILITY, kind, inner)])), (GPS, kind, gps),
               (271, 2, b"Maker\0"), (272, 2, b"Model 1\0"), (316, 2, b"host\0"), (40091, 1, "T\0".encode("utf-16-le")),
               (700, 1, b"<x:xmpmeta/>"), (33723, 7, IPTC_BYTES), (34377, 1, SECRET + THUMBNAIL)] + GEO + private
    write("in.tif", tiff(order, big, entries))
    status, said = convert("out.tif")
    name = f"{order} {'BigTIFF' if big else 'TIFF'}"
    check(f"{name}: {said}", status == 0 and "thumbnail of Photoshop" in said and "tag" not in said)
    check(f"{name}: a thumbnail is an error with --strict", convert("strict.tif", "--strict")[0] == 1)
    got = parse(read("out.tif"))
    for tag, k, v in GEO + private + [(271, 2, b"Maker\0"), (316, 2, b"host\0"), (33723, 7, IPTC_BYTES),
                                      (34377, 1, SECRET), (700, 7, b"<x:xmpmeta/>")]:
        want = plain({16: 4, 17: 9}.get(k, k), v)
        check(f"{name}: tag {tag}: {got.get(tag)}", got.get(tag) == want)
    check_exif(f"{name} to TIFF", got, exif, inner, gps)
    status, said = convert("out.jpg")
    check(f"{name} to JPEG: {said}", status == 0 and all(f"tag {t}" in said for t in (33550, 65000)))
    block = next(s[6:] for m, s in segments(read("out.jpg")) if m == 0xE1 and s[:6] == b"Exif\0\0")
    got = parse(block)
    check_pil(name, exif)
    check(f"{name}: EXIF's first directory: {got}", {271, 272, 316, 40091} <= set(got) and 256 not in got)
    check_exif(f"{name} to JPEG", got, exif, inner, gps)
    resources = b"".join(s[14:] for m, s in segments(read("out.jpg")) if m == 0xED)
    check(f"{name}: APP13: {resources}", resources == RESOURCES + SECRET)


def check_pil(name, exif):
    """Pillow reads the same EXIF and IPTC."""
    if not Image:
        return
    with Image.open("out.jpg") as image:
        own = image.getexif().get_ifd(EXIF)
        check(f"{name}: Pillow's EXIF {own}", {t for t, _, _ in exif} <= set(own) and own[37500] == exif[-2][2])
        check(f"{name}: Pillow's IPTC", IptcImagePlugin.getiptcinfo(image).get((2, 120)) == b"caption")


def check_exif(name, got, exif, inner, gps):
    own = got[EXIF][1]
    for tag, k, v in exif:
        check(f"{name}: EXIF {tag}: {own.get(tag)}", own.get(tag) == plain(k, v))
    check(f"{name}: interoperability", own[INTEROPERABILITY][1] == {t: plain(k, v) for t, k, v in inner})
    check(f"{name}: GPS: {got[GPS]}", got[GPS][1] == {t: plain(k, v) for t, k, v in gps})


def there_and_back():
    """JPEG with all of it, and back to TIFF."""
    exif, inner, gps = own_directories()
    write("in.tif", tiff(">", False, [(EXIF, 4, exif + [(INTEROPERABILITY, 4, inner)]), (GPS, 4, gps),
                                      (33723, 7, IPTC_BYTES)]))
    convert("out.jpg")
    for path in ("back.tif", "back.png", "back.webp"):
        result = c.result("convert", "out.jpg", path)
        lossless = not path.endswith("webp")
        check(f"{path}: {result.stderr}", result.returncode == 0 and ("IPTC" in result.stderr) != lossless)
    got = parse(read("back.tif"))
    check_exif("and back", got, exif, inner, gps)
    check("IPTC and back", got[33723][1] == IPTC_BYTES)
    check("IPTC of PNG", IPTC_BYTES in png_resources(read("back.png")))
    facts = c.result("info", "back.tif").stdout
    check(f"facts: {facts}", "title: Title" in facts and "caption: caption" in facts and "place" not in facts)


def iptc():
    """IPTC as bytes, undefined or words in either byte order, with padding, alone or among Photoshop's resources."""
    padded = IPTC_BYTES + b"\0" * (-len(IPTC_BYTES) % 4)
    swapped = b"".join(padded[i:i + 4][::-1] for i in range(0, len(padded), 4))
    for order in "<>":
        for kind, data in ((1, padded), (7, IPTC_BYTES), (4, padded), (4, swapped)):
            write("in.tif", tiff(order, False, [(33723, kind, data)]))
            check(f"IPTC of type {kind}: {convert('out.tif', '--strict')[1]}",
                  parse(read("out.tif"))[33723] == (7, IPTC_BYTES))
        write("in.tif", tiff(order, False, [(34377, 1, RESOURCES)]))
        check("IPTC of Photoshop", convert("out.tif", "--strict")[0] == 0)
        got = parse(read("out.tif"))
        check("it has its own tag", got[33723] == (7, IPTC_BYTES) and 34377 not in got)
        write("in.tif", tiff(order, False, [(33723, 7, IPTC_BYTES), (34377, 1, RESOURCES + SECRET)]))
        check("twice the same", convert("out.tif", "--strict")[0] == 0)
        write("in.tif", tiff(order, False, [(33723, 7, IPTC_BYTES[:10]), (34377, 1, RESOURCES)]))
        check("twice, and not the same", "IPTC" in convert("out.tif")[1] and convert("out.tif", "--strict")[0] == 1)


def resolution():
    for unit in (1, 2, 3):
        for value in ((72, 1), (10, 3), (1, 5000), (600000, 1)):
            write("in.tif", tiff("<", False, [(282, 5, [value]), (283, 5, [value]), (296, 3, [unit])]))
            check(f"resolution {value} of unit {unit}", convert("out.tif", "--strict")[0] == 0)
            got = parse(read("out.tif"))
            x, y = got[282][1]
            want = value[0] / value[1] * (2.54 if unit == 3 else 1)
            check(f"resolution {value} of unit {unit}: {x}/{y}", got[296][1] == (min(unit, 2),)
                  and abs(x / y - want) < 1e-4 * want)


def odd_resolutions():
    for entries in ([(282, 5, [(72, 1)])], [(282, 5, [(72, 1)]), (283, 5, [(2000000, 1)])]):
        write("in.tif", tiff("<", False, entries))
        check("half a resolution", "resolution" in convert("out.tif")[1] and convert("out.tif", "--strict")[0] == 1)


def subifds():
    """The metadata of a page whose picture is in a SubIFD are those of the picture."""
    exif, inner, gps = own_directories()
    for order in "<>":
        picture = [(256, 3, [4]), (257, 3, [3]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]), (277, 3, [1]),
                   (278, 3, [3]), (279, 4, [12]), (65001, 3, [5])]
        page = [(254, 4, [1]), (256, 3, [2]), (257, 3, [2]), (279, 4, [4]), (278, 3, [2]), (271, 2, b"Maker\0"),
                (330, 4, picture), (700, 1, b"<x:xmpmeta/>"), (65000, 3, [7]), (33723, 7, IPTC_BYTES),
                (EXIF, 4, exif + [(INTEROPERABILITY, 4, inner)]), (GPS, 4, gps)]
        write("in.tif", tiff(order, False, page))
        status, said = convert("out.tif")
        check(f"SubIFD: {said}", status == 0 and "smaller version" in said and "SubIFDs" not in said)
        got = parse(read("out.tif"))
        check_exif("SubIFD", got, exif, inner, gps)
        check(f"SubIFD: {sorted(got)}", (got[256][1], got[65000][1], got[65001][1]) == ((4,), (7,), (5,))
              and got[33723][1] == IPTC_BYTES and got[700][1] == b"<x:xmpmeta/>" and got[271][1] == b"Maker\0")


def two_texts():
    for text, named in ((b"photographer\0editor\0", True), (b"photographer\0\0\0", False)):
        write("in.tif", tiff("<", False, [(33432, 2, text)]))
        check(f"{text}", ("tag 33432" in convert("out.tif")[1]) == named == (convert("out.tif", "--strict")[0] == 1))


def curves():
    """A curve has an entry per value of a sample, and so it does not fit other depths."""
    for n in (256, 768):
        curve = [i * 257 & 65535 for i in range(n)]
        write("in.tif", tiff(">", False, [(301, 3, curve)]))
        check("the same depth", convert("out.tif", "--strict")[0] == 0 and parse(read("out.tif"))[301][1] == tuple(curve))
        status, said = convert("out.tif", "--depth", "16")
        check(f"another depth: {said}", "tag 301" in said and 301 not in parse(read("out.tif")))
        check("another depth, --strict", convert("out.tif", "--depth", "16", "--strict")[0] == 1)


def descriptions():
    """A description of one image stays, one of several pages is named unless it only repeats the shape."""
    one = b"ImageJ=1.53t\nunit=um\nmin=0.0\nmax=255.0\n\0"
    write("in.tif", tiff("<", False, [(270, 2, one), (282, 5, [(10, 3)]), (283, 5, [(10, 3)]), (296, 3, [1])]))
    check("ImageJ's unit", convert("out.tif", "--strict")[0] == 0 and parse(read("out.tif"))[270][1] == one)
    for text, named in ((b'{"shape": [3, 4]}\0', False), (b'{"shape": [3, 4], "axes": "YX"}\0', True),
                        (b"<OME >x\0", True), (b"ImageJ=1.5\nimages=1\nunit=um\n\0", False), (b"ImageJ=1.5\nimages=12\n\0", True)):
        write("in.tif", tiff("<", False, [(270, 2, b"mine\0"), (270, 2, text)]))
        said = convert("out.tif", "--strict")
        check(f"mine, then {text}: {said}", ("second time" in said[1]) == (b"], \"" in text or b"shape" not in text) == (said[0] == 1))
        write("in.tif", tiff("<", False, [(270, 2, text)]))
        check(f"{text}", ("description" in convert("out.tif")[1]) == named == (convert("out.tif", "--strict")[0] == 1))


def beyond():
    """What is behind the pages is named, but not directories of EXIF at the end; so are pages that are left out."""
    exif, inner, gps = own_directories()
    whole = tiff("<", False, [(EXIF, 4, exif + [(INTEROPERABILITY, 4, inner)]), (GPS, 4, gps)])
    write("in.tif", whole + b"\0" * 10)
    check("nothing but zeros", convert("out.tif", "--strict") == (0, ""))
    write("in.tif", whole + b"\0\0" + b"made up")
    # A copy of the resolution by tifffile, and of the last bytes by GDAL, with the samples at the end; an old JPEG and unused bytes.
    dpi = (282, 5, [(300, 1)]), (283, 5, [(300, 1)])
    for order in "<>":
        for big in (False, True):
            size, copy = len(tiff(order, big, [(273, 4, [1 << 20]), *dpi])), struct.pack(order + "4I", 300, 1, 300, 1)
            file = tiff(order, big, [(273, 4, [size]), *dpi]) + PIXELS
            for end, silent in ((copy, not big), (copy + b"x", False), (b"x" + copy, False), (PIXELS[-4:], True),
                                (b"1234", False), (b"\1\2" + PIXELS[-4:], False)):
                write("in.tif", file + end)
                said = convert("out.tif", "--strict")
                check(f"{order} {big} {end}: {said}", said[0] == 0 if silent else "after the end" in said[1])
            write("in.tif", tiff(order, big, [(273, 4, [size]), (279, 4, [1 << 24]), *dpi]) + PIXELS + b"1234")
            said = convert("out.tif")[1]
            check(f"a strip that is longer than the file: {said}", "after the end" not in said)
            for at, n in ((288, 289), (513, 514)):
                more = [(at, 4, [1 << 20]), (n, 4, [5])]
                size = len(tiff(order, big, more))
                write("in.tif", tiff(order, big, [(at, 4, [size]), (n, 4, [5])]) + b"inner" + b"behind")
                said = convert("out.tif")[1]
                check(f"{order} {big} tag {at}: {said}", "6 bytes after the end" in said)
    write("in.tif", whole + b"\0\0" + b"made up")
    status, said = convert("out.tif")
    check(f"bytes at the end: {said}", "7 bytes after the end" in said and convert("out.tif", "--strict")[0] == 1)
    write("in.tif", whole + whole)
    check("a TIFF at the end", "more images" in convert("out.tif")[1] and convert("out.tif", "--strict")[0] == 1)
    first = struct.unpack("<I", whole[4:8])[0]
    at = len(whole) + len(whole) % 2
    small = bytearray(tiff("<", False, [(254, 4, [1])])[8:])
    n = struct.unpack("<H", whole[first:first + 2])[0]
    data = bytearray(whole + b"\0" * (len(whole) % 2)) + small
    small_at = struct.unpack("<I", tiff("<", False, [(254, 4, [1])])[4:8])[0] - 8 + at
    data[first + 2 + 12 * n:first + 6 + 12 * n] = struct.pack("<I", small_at)
    write("in.tif", bytes(data))
    check("a smaller version", "smaller version" in convert("out.tif")[1] and convert("out.tif", "--strict")[0] == 1)


def joined(order, big, *pages):
    """A TIFF of several pages, of which each is given by its entries."""
    head, data, next_directory = (16 if big else 8), b"", 0
    for entries in reversed(pages):
        own = [(256, 3, [4]), (257, 3, [3]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [head]), (277, 3, [1]),
               (278, 3, [3]), (279, 4, [12])]
        given = {e[0] for e in entries}
        whole = compose([e for e in own if e[0] not in given] + entries, order, big, data=data or PIXELS,
                        next_directory=next_directory)
        next_directory = struct.unpack(order + ("Q" if big else "I"), whole[8:16] if big else whole[4:8])[0]
        data = whole[head:]
    return whole


def pages_of(data):
    """Returns what parse() returns, of every page."""
    order, big = ("<" if data[:2] == b"II" else ">"), data[2:4] in (b"+\0", b"\0+")
    number, count, entry = (order + "Q", order + "Q", 20) if big else (order + "I", order + "H", 12)
    at, = struct.unpack_from(number, data, 8 if big else 4)
    while at:
        yield parse(data, at)
        n, = struct.unpack_from(count, data, at)
        at, = struct.unpack_from(number, data, at + struct.calcsize(count) + n * entry)


def beyond_pages():
    """The same behind several pages, in one file and in a file per page; nothing is named of pages that end the file."""
    exif, inner, gps = own_directories()
    page = [(EXIF, 4, exif + [(INTEROPERABILITY, 4, inner)]), (GPS, 4, gps)]
    mask = [(254, 4, [4]), (262, 3, [4])]
    for order in "<>":
        for big in (False, True):
            good = joined(order, big, page, page)
            cases = [(good + b"made up", "7 bytes after the end"), (good + good, "images after the first TIFF"),
                     (joined(order, big, page, mask, page), "1 smaller version or mask of pages"),
                     (joined(order, big, page) + b"made up", "7 bytes after the end"),
                     (good + b"\0" * 20, None), (joined(order, big, *[page] * 70), None)]
            for data, word in cases:
                for output in ("out.tif", "out-{page}.tif"):
                    write("in.tif", data)
                    status, said = convert(output)
                    check(f"{word} to {output}: {said}", status == 0 and bool(said) == bool(word))
                    status, said = convert(output, "--strict")
                    check(f"{word} to {output} --strict: {said}", word in said and status == 1 if word else status == 0)
                    if output == "out.tif" and word and "bytes" in word and data.startswith(good):
                        result = subprocess.run([c.program, "invert", "-", output, "--strict"], input=data,
                                                capture_output=True, check=False)
                        check("the same in a pipe", result.returncode == 1 and word.encode() in result.stderr)
    write("in.tif", joined("<", False, page, mask, page) + b"made up")
    result = c.result("invert", "in.tif[0]", "out.tif", "--strict")
    check(f"a page that was chosen: {result.stderr}", result.returncode == 0)


def subifds_of_pages():
    """Each page whose picture is in a SubIFD keeps its metadata, and its smaller version is named."""
    picture = [(256, 3, [4]), (257, 3, [3]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]), (277, 3, [1]),
               (278, 3, [3]), (279, 4, [12])]
    pages = [[(254, 4, [1]), (256, 3, [2]), (257, 3, [2]), (278, 3, [2]), (279, 4, [4]), (330, 4, picture), (65000, 3, [n]),
              (271, 2, b"Maker%d\0" % n), (EXIF, 4, [(37500, 7, b"notes%d" % n)])] for n in range(3)]
    write("in.tif", joined(">", False, *pages))
    status, said = convert("out.tif")
    check(f"SubIFDs of pages: {said}", status == 0 and "smaller version of the picture" in said)
    check("SubIFDs of pages --strict", convert("out.tif", "--strict")[0] == 1)
    convert("out.tif")
    for n, got in enumerate(pages_of(read("out.tif"))):
        check(f"page {n}: {sorted(got)}", got[256][1] == (4,) and got.get(65000) == (3, (n,))
              and got.get(271) == (2, b"Maker%d\0" % n) and got[EXIF][1][37500][1] == b"notes%d" % n)


def descriptions_of_pages():
    """A description of all pages stays with them; if it no longer fits, it is named, and an error with --strict."""
    write("in.tif", joined("<", False, [(270, 2, b"<OME >x\0")], []))
    check("the same pages", convert("out.tif", "--strict")[0] == 0 and 270 in parse(read("out.tif")))
    status, said = convert("out.tif", "--depth", "16")
    check(f"another type: {said}", status == 0 and "OME" in said and 270 not in parse(read("out.tif")))
    status, said = convert("out.tif", "--depth", "16", "--strict")
    check(f"another type --strict: {said}", status == 1 and "OME" in said and not os.path.exists("out.tif"))


def idle():
    """Tags that describe another picture, and tags that come a second time, are named."""
    cases = [[(513, 4, [8]), (514, 4, [12])], [(320, 3, list(range(768)))], [(347, 7, b"\xff\xd8\xff\xd9")],
             [(270, 2, b"first\0"), (270, 2, b"second\0")], [(700, 1, b"<x/>"), (700, 1, b"<y/>")]]
    for entries in cases:
        write("in.tif", tiff("<", False, entries))
        status, said = convert("out.tif")
        check(f"tag {entries[0][0]}: {said}", status == 0 and f"tag {entries[0][0]}" in said)
        check(f"tag {entries[0][0]} --strict", convert("out.tif", "--strict")[0] == 1)


def exif_to_tiff():
    """Tags of EXIF that a TIFF does not get are named, in particular where another text takes the place."""
    write("base.ppm", b"P6 2 1 255\n" + bytes(range(6)))
    c.run("convert", "base.ppm", "base.jpg")
    base = read("base.jpg")

    def segment(marker, body):
        return struct.pack(">BBH", 255, marker, len(body) + 2) + body

    cases = [(compose([(270, 2, b"of the camera\0")]), b"", 0), (compose([(270, 2, b"of the camera\0")]), b"a comment", 1),
             (compose([(305, 2, b"of the camera\0")]), b"a comment", 0), (compose([(50740, 1, b"private")]), b"", 1),
             (compose([(700, 1, b"<x/>"), (65000, 0, b"ab")]), b"", 2), (b"garbage!", b"", 1),
             (compose([(271, 2, b"Maker\0"), (EXIF, 4, [(37500, 7, b"notes"), (330, 13, [8])])]), b"", 1)]
    for block, comment, n in cases:
        write("in.jpg", base[:2] + segment(0xE1, b"Exif\0\0" + block) + (segment(0xFE, comment) if comment else b"")
              + base[2:])
        result = c.result("convert", "in.jpg", "out.tif")
        said = f"{n} tag{'s' if n > 1 else ''} of EXIF"
        check(f"{block} {comment}: {result.stderr}", result.returncode == 0 and (said in result.stderr if n else
                                                                                  not result.stderr))
        result = c.result("convert", "in.jpg", "out.tif", "--strict", "--force")
        check(f"{block} {comment} --strict", result.returncode == (1 if n else 0))


def strips():
    """--strip removes what it says."""
    exif, inner, gps = own_directories()
    write("in.tif", tiff("<", True, [(EXIF, 4, exif), (GPS, 4, gps), (33723, 7, IPTC_BYTES), (65000, 3, [5])] + GEO))
    convert("out.tif", "--strip=gps")
    got = parse(read("out.tif"))
    check(f"no place is left: {sorted(got)}", GPS not in got and EXIF in got and 65000 in got and 33550 not in got
          and b"London" not in read("out.tif"))
    check("other IPTC is left", b"caption" in got[33723][1])
    convert("out.tif", "--strip=exif")
    got = parse(read("out.tif"))
    check("no EXIF is left", GPS not in got and EXIF not in got and 65000 in got)
    convert("out.tif", "--strip")
    check("nothing is left", not {EXIF, GPS, 33723, 65000, 33550} & set(parse(read("out.tif"))))


def hostile():
    """Damaged entries are named, and never more is read than there is."""
    def at(entry):
        data = bytearray(tiff("<", False, [(65000, 4, [1, 2, 3])]))
        first = struct.unpack("<I", data[4:8])[0]
        n = struct.unpack("<H", data[first:first + 2])[0]
        place = first + 2 + 12 * (n - 1)
        data[place:place + 12] = entry
        return bytes(data), first

    for kind, n, offset in ((4, 3, 0xFFFFFFF0), (4, 0x40000001, 8), (12, 0x20000000, 8), (5, 0xFFFFFFFF, 8), (99, 3, 8),
                            (0, 3, 8), (4, 3, 100000), (13, 1, 8)):
        for tag in (65000, 33550, 33723, 34377, 50706):
            write("in.tif", at(struct.pack("<HHII", tag, kind, n, offset))[0])
            status, said = convert("out.tif")
            check(f"tag {tag} of type {kind}, {n} at {offset}: {said}", status == 1 or "not read" in said)
    exif, inner, gps = own_directories()
    good = tiff(">", False, [(EXIF, 4, exif + [(INTEROPERABILITY, 4, inner)]), (GPS, 4, gps)])
    first = struct.unpack(">I", good[4:8])[0]
    for tag in (EXIF, GPS):
        for offset in (0, 1, 7, first, len(good) - 1, len(good), 0xFFFFFFFF, 8):
            place = good.index(struct.pack(">HHI", tag, 4, 1)) + 8
            write("in.tif", good[:place] + struct.pack(">I", offset) + good[place + 4:])
            status, said = convert("out.tif")
            check(f"directory {tag} at {offset}: {status} {said}", status in (0, 1))
            if status == 0:
                parse(read("out.tif"))


if not Image:
    c.skip("python3 has no PIL")
for order in "<>":
    for big in (False, True):
        whole(order, big)
there_and_back()
iptc()
resolution()
odd_resolutions()
two_texts()
curves()
subifds()
subifds_of_pages()
descriptions()
descriptions_of_pages()
idle()
exif_to_tiff()
beyond()
beyond_pages()
strips()
hostile()
c.end()
