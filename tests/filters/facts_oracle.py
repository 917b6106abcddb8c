"""What `gpuimg info` prints about photographs, and the size that EXIF and XMP name in results, in files composed here.

Sources: imgio/metadata/facts* imgio/metadata/xmp* imgio/metadata/iptc* imgio/tiff/tags* imgio/metadata/metadata_fit* cli/commands/info_facts*
"""
import csv
import json
import os
import struct
import zlib

from _common import Checks, png_chunk
from _tags import EXIF, GPS, compose, parse

c = Checks()
check = c.check
os.chdir(c.folder.name)

PIXELS_X, PIXELS_Y = 0xA002, 0xA003


def exif(order, size_type=4, south=True):
    place = [(1, 2, b"S\0" if south else b"N\0"), (2, 5, [(48, 1), (30, 1), (3060, 100)]), (3, 2, b"E\0"),
             (4, 5, [(2, 1), (18, 1), (0, 1)]), (5, 1, b"\1"), (6, 5, [(71, 2)])]
    own = [(0x829A, 5, [(1, 250)]), (0x829D, 5, [(28, 10)]), (0x8827, 3, [400]), (0x9003, 2, b"2026:11:25 10:11:12\0"),
           (0x9011, 2, b"+01:00\0"), (0x920A, 5, [(50, 1)]), (PIXELS_X, size_type, [12]), (PIXELS_Y, size_type, [7]),
           (0xA434, 2, b"EF 50mm\0")]
    return compose([(0x10E, 2, b"two\nlines\0"), (0x10F, 2, b"Canon  \0"), (0x110, 2, b"EOS 5D\0"),
                    (0x13B, 2, "Jos\xe9\0".encode("latin-1")), (0x8298, 2, "\xa9 me\0".encode()), (EXIF, 4, own),
                    (GPS, 4, place)], order)


FACTS = {"make": "Canon", "model": "EOS 5D", "lens": "EF 50mm", "date": "2026-11-25T10:11:12+01:00",
         "exposure_time": 0.004, "f_number": 2.8, "iso": 400, "focal_length": 50, "latitude": -48.5085, "longitude": 2.3,
         "altitude": -35.5, "title": None, "caption": "two lines", "creator": "Jos\xe9", "copyright": "\xa9 me",
         "keywords": None}
TEXT = """  make: Canon
  model: EOS 5D
  lens: EF 50mm
  date: 2026-11-25T10:11:12+01:00
  exposure: 1/250 s, f/2.8, ISO 400, 50 mm
  place: -48.508500, 2.300000
  altitude: -35.5 m
  caption: two lines
  creator: Jos\xe9
  copyright: \xa9 me
"""


def xmp(attributes="", elements=""):
    return (f'<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description {attributes}>{elements}'
            '</rdf:Description></rdf:RDF></x:xmpmeta>').encode()


def png(exif=b"", xmp=b"", w=12, h=7):
    rows = b"".join(b"\0" + bytes(range(3 * w)) for _ in range(h))
    chunks = png_chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
    chunks += png_chunk(b"eXIf", exif) if exif else b""
    chunks += png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp) if xmp else b""
    return b"\x89PNG\r\n\x1a\n" + chunks + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")


def read_png(path):
    data, at, found = open(path, "rb").read(), 8, {}
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        found[kind] = data[at + 8:at + 8 + n]
        at += 12 + n
    return found


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def run(*words):
    """Runs a command that writes its third word anew."""
    if os.path.exists(words[2]):
        os.remove(words[2])
    return c.result(*words)


def facts_of(path):
    said = json.loads(c.result("info", "--json", path).stdout)
    return {name: said[name] for name in FACTS}


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, (int, float)) and abs(a - b) < 1e-9)


def of_exif():
    for order in "<>":
        write("in.png", png(exif(order)))
        for suffix in ("png", "jpg", "webp"):
            path = "out." + suffix
            check(f"convert to {suffix}", run("convert", "in.png", path).returncode == 0)
            found = facts_of(path)
            check(f"{suffix} {order}: {found}", all(same(found[k], v) for k, v in FACTS.items()))
            text = c.result("info", path).stdout
            check(f"text of {suffix}: {text}", text.endswith("B\n" + TEXT))
    check("table", c.result("info", "--recursive", ".", "--table", "facts.csv").returncode == 0)
    for row in csv.DictReader(open("facts.csv", encoding="utf-8")):
        for name, value in FACTS.items():
            got = row[name]
            check(f"{row['file']} {name}: {got}", got == (value or "") if isinstance(value, (str, type(None)))
                  else abs(float(got) - value) < 1e-9)
    write("in.png", png(exif("<", south=False)))
    check("north", same(facts_of("in.png")["latitude"], 48.5085))
    write("in.png", png())
    check("nothing is known", set(facts_of("in.png").values()) == {None})
    check("no further lines", c.result("info", "in.png").stdout.count("\n") == 1)


def of_xmp():
    """XMP fills in what EXIF lacks, as attributes and as elements."""
    attributes = 'tiff:Make="A &amp; B" exif:FNumber=\'28/10\' exif:GPSLatitude="48,30.51S" exif:GPSLongitude="2,18,0E" ' \
                 'photoshop:DateCreated = "2026-11-25"'
    elements = '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">T&#x2713;t &#233; &quot;</rdf:li><rdf:li>Titel</rdf:li>' \
               '</rdf:Alt></dc:title><dc:subject>\n<rdf:Bag> <rdf:li>one</rdf:li>\n<rdf:li> two </rdf:li></rdf:Bag>' \
               '</dc:subject><exif:ISOSpeedRatings><rdf:Seq><rdf:li>800</rdf:li></rdf:Seq></exif:ISOSpeedRatings>'
    write("in.png", png(xmp=xmp(attributes, elements)))
    want = {"make": "A & B", "f_number": 2.8, "latitude": -48.5085, "longitude": 2.3, "date": "2026-11-25",
            "title": 'T\u2713t \xe9 "', "keywords": "one; two", "iso": 800}
    found = facts_of("in.png")
    check(f"XMP: {found}", all(same(found[k], want.get(k)) for k in FACTS))
    write("in.png", png(exif("<"), xmp(attributes, elements)))
    found = facts_of("in.png")
    check("EXIF comes first", found["make"] == "Canon" and found["keywords"] == "one; two")
    for n in range(0, len(xmp(attributes, elements)), 5):
        write("in.png", png(xmp=xmp(attributes, elements)[:n]))
        check(f"XMP cut at {n}", c.result("info", "in.png").returncode == 0)


def sizes():
    """EXIF and XMP name the size of the result, also where the number gets more digits or another type."""
    packet = xmp('exif:PixelXDimension="12" tiff:ImageLength=\'7\'',
                 "<exif:PixelYDimension>7</exif:PixelYDimension><tiff:ImageWidth> 12</tiff:ImageWidth>")
    cases = [(["crop", "--size", "5x3+1+1"], 5, 3), (["resize", "--size", "1200x700"], 1200, 700),
             (["rotate", "--angle", "90"], 7, 12), (["convert"], 12, 7), (["pad", "--size", "70000x8"], 70000, 8)]
    for words, w, h in cases:
        for order in "<>":
            for kind in (3, 4):
                write("in.png", png(exif(order, kind), packet))
                result = run(words[0], "in.png", "out.png", *words[1:])
                check(f"{words}: {result.stderr}", result.returncode == 0)
                found = read_png("out.png")
                own = parse(found[b"eXIf"])[EXIF][1]
                check(f"{words} {order} {kind}: {own[PIXELS_X]} {own[PIXELS_Y]}",
                      own[PIXELS_X][1] == (w,) and own[PIXELS_Y][1] == (h,))
                text = found[b"iTXt"].split(b"\0", 5)[5]
                want = packet.replace(b'"12"', b'"%d"' % w).replace(b"'7'", b"'%d'" % h)
                want = want.replace(b">7<", b">%d<" % h).replace(b"> 12<", b"> %d<" % w)
                check(f"{words}: {text}", text == want)
    write("in.png", png(exif("<"), packet))
    check("orient", run("orient", "in.png", "out.png", "--tag", "6").returncode == 0)
    own = parse(read_png("out.png")[b"eXIf"])[EXIF][1]
    check(f"the size of the stored image: {own}", own[PIXELS_X][1] == (7,) and own[PIXELS_Y][1] == (12,))


of_exif()
of_xmp()
sizes()
c.end()
