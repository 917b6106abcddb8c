"""Every segment of a JPEG arrives in a JPEG, is dropped for a stated reason, or is named: files composed and parsed here.

Sources: imgio/jpeg/jpeg_segments* imgio/metadata/photoshop*
"""
import os
import shutil
import struct
import subprocess

from _common import Checks, np, write as write_image

c = Checks()
check = c.check
os.chdir(c.folder.name)

IPTC_BYTES = b"\x1c\x02\x05\0\5Title"
MORE_XMP = b"http://ns.adobe.com/xmp/extension/\0" + b"0123456789ABCDEF" * 2


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def segments(data):
    """Returns [(marker, body)] up to the first scan."""
    at, found = 2, []
    while data[at + 1] != 0xDA:
        n = struct.unpack(">H", data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + n]))
        at += 2 + n
    return found


def resource(number, data, name=b"\0\0"):
    return b"8BIM" + struct.pack(">H", number) + name + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


CODED = "jpeg_decode:sequential,jpeg_encode:blocks"  # the ways of a device, on the CPU


def convert(path, *options, ways=None):
    if os.path.exists(path):
        os.remove(path)
    if ways:
        os.environ["GPUIMG_WAY"] = ways
    result = c.result("gaussian", "in.jpg", path, "--sigma", "1", *options)
    os.environ.pop("GPUIMG_WAY", None)
    return result.returncode, result.stderr


write_image("base.ppm", np.arange(40 * 30 * 3, dtype=np.uint32).reshape(30, 40, 3).astype(np.uint8))
c.run("convert", "base.ppm", "base.jpg")
BASE = read("base.jpg")
SCAN = BASE.index(b"\xff\xda")
PLACES = {"after SOI": 2, "before the scan": SCAN}


def carried():
    """Made-up segments, and known ones that stay true."""
    bodies = [(0xE0 + n, b"made up %d\0" % n + bytes(range(256))) for n in range(16)]
    bodies += [(0xE0 + n, b"") for n in (3, 15)]
    bodies += [(0xEF, b"x" * 65533), (0xE1, MORE_XMP + struct.pack(">II", 10, 0) + b"<x:xmpmeta"), (0xE2, b"FPXR\0\0"),
               (0xEC, b"Ducky\0\1\0\4\0\0\0\x50\0\0"), (0xED, b"Adobe_CM\0\2")]
    for name, at in PLACES.items():
        for marker, body in bodies:
            write("in.jpg", BASE[:at] + segment(marker, body) + BASE[at:])
            for ways in (None, CODED) if marker % 5 == 0 else (None,):
                status, said = convert("out.jpg", "--strict", ways=ways)
                check(f"{marker:x} {body[:12]} {name}: {said}", status == 0 and (marker, body) in segments(read("out.jpg")))
            status, said = convert("out.png")
            word = "extended XMP" if body.startswith(MORE_XMP) else f"APP{marker - 0xE0}"
            check(f"{marker:x} {name} in PNG: {said}", status == 0 and word in said)
            check(f"{marker:x} {name} in PNG --strict", convert("out.png", "--strict")[0] == 1)
    write("in.jpg", BASE[:2] + b"".join(segment(m, b) for m, b in bodies) + BASE[2:])
    check("all at once", convert("out.jpg", "--strict")[0] == 0)
    kept = [s for s in segments(read("out.jpg")) if s in bodies]
    check("in their order", kept == bodies)
    text = c.result("info", "in.jpg").stdout
    check(f"info lists them: {text}", all(f"APP{n}" in text for n in (0, 5, 15)))


def dropped():
    """What must not survive a change of pixels, and what is not kept, is named, and an error with --strict."""
    jfif = b"JFIF\0\1\1\0\0\1\0\1\1\1abc"
    cases = [(segment(0xE0, b"JFXX\0\x10" + b"thumb"), b"thumb", "thumbnail (JFXX)"),
             (segment(0xE0, jfif), b"abc", "thumbnail (JFIF)"),
             (segment(0xE0, jfif[:12] + b"\0\0hidden"), b"hidden", "end of JFIF's segment"),
             (segment(0xEE, b"Adobe\0\x64\0\0\0\0\1hidden"), b"hidden", "end of Adobe's segment"),
             (segment(0xFE, b"a comment\0hidden\0"), b"hidden", "end of text Comment"),
             (segment(0xFE, bytes(range(256))), None, "end of text Comment"),
             (segment(0xE2, b"MPF\0II*\0"), b"MPF", "MPF"), (segment(0xE2, b"MPF\0II*\0") * 2, b"MPF", "further index of images (MPF)"),
             (segment(0xE2, b"urn:iso:std:iso:ts:21496:-1\0map"), b"21496", "description of a gain map"), (segment(0xEB, b"JP\0\1\0\0\0\1jumb"), b"jumb", "C2PA"),
             (segment(0xED, b"Photoshop 3.0\0" + resource(0x40C, b"a small picture")), b"a small", "thumbnail of Photoshop"),
             (segment(0xED, b"Photoshop 3.0\0" + resource(0x409, b"a small picture")), b"a small", "thumbnail of Photoshop"),
             (segment(0xED, b"Photoshop 3.0\0" + resource(0x3ED, b"data")[:-1]), b"\x03\xed", "damaged Photoshop"),
             (segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0") * 2, None, "further EXIF"),
             (segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>") * 2, None, "further XMP")]
    for place, at in PLACES.items():
        for part, gone, word in cases:
            write("in.jpg", BASE[:at] + part + BASE[at:])
            if b"JFIF" in part[:8]:
                write("in.jpg", BASE[:2] + part + BASE[2 + 18:])
            status, said = convert("out.jpg")
            check(f"{word} {place}: {said}", status == 0 and word in said)
            check(f"{word} {place}: is gone", gone is None or gone not in read("out.jpg"))
            check(f"{word} {place}: --strict", convert("out.jpg", "--strict")[0] == 1)
            check(f"{word} {place}: info", word.split()[0] in c.result("info", "in.jpg").stdout)


def after_the_end():
    cases = [(b"SEFH" + b"\1" * 9, "13 bytes after the end"), (b"\0\0\0" + BASE, "more images"),
             (b"\0\0\0\x18ftypmp42" + b"\1" * 50, "video"), (b"\0" * 5 + b"MotionPhoto_Data\0\0\0\x18ftypisom", "video")]
    for rest, word in cases:
        write("in.jpg", BASE + rest)
        for ways in (None, CODED):
            status, said = convert("out.jpg", ways=ways)
            check(f"{word}: {said}", status == 0 and word in said)
            check(f"{word}: --strict", convert("out.jpg", "--strict", ways=ways)[0] == 1)
    write("in.jpg", BASE + b"\0" * 20)
    check("zeros say nothing", convert("out.jpg", "--strict") == (0, ""))


def stray():
    """Bytes between segments are named, but not fill bytes before a marker (ITU-T T.81, B.1.1.2)."""
    for at in (20, SCAN):
        write("in.jpg", BASE[:at] + b"made up" + BASE[at:])
        status, said = convert("out.jpg")
        check(f"stray bytes: {said}", status == 0 and "stray bytes" in said and convert("out.jpg", "--strict")[0] == 1)
        write("in.jpg", BASE[:at] + b"\xff\xff" + BASE[at:])
        check("fill bytes", convert("out.jpg", "--strict") == (0, ""))


def photoshop():
    """Resources in several segments are joined, and long ones are divided."""
    other = resource(0x2710, os.urandom(70000), b"\3abc")
    data = other + resource(0x404, IPTC_BYTES) + resource(0x3ED, b"odd")
    parts = b"".join(segment(0xED, b"Photoshop 3.0\0" + data[i:i + 60000]) for i in range(0, len(data), 60000))
    write("in.jpg", BASE[:2] + parts + BASE[2:])
    status, said = convert("out.jpg", "--strict")
    got = b"".join(s[14:] for m, s in segments(read("out.jpg")) if m == 0xED)
    check(f"Photoshop: {said}", status == 0 and got == resource(0x404, IPTC_BYTES) + other + resource(0x3ED, b"odd"))
    text = c.result("info", "out.jpg").stdout
    check(f"its title: {text}", "title: Title" in text)


def between_scans():
    if not shutil.which("jpegtran"):
        c.skip("no jpegtran makes a progressive JPEG")
        return
    data = subprocess.run(["jpegtran", "-progressive", "base.jpg"], capture_output=True, check=True).stdout
    at = data.rindex(b"\xff\xda")
    for marker, body in ((0xE7, b"made up"), (0xFE, b"a comment")):
        write("in.jpg", data[:at] + segment(marker, body) + data[at:])
        status, said = convert("out.jpg", "--strict")
        check(f"between scans: {said}", status == 0 and (marker, body) in segments(read("out.jpg")))


def densities():
    for unit, x, y in ((0, 2, 1), (0, 300, 300), (1, 72, 72), (1, 300, 200)):
        head = b"JFIF\0\1\1" + struct.pack(">BHHBB", unit, x, y, 0, 0)
        write("in.jpg", BASE[:2] + segment(0xE0, head) + BASE[20:])
        status, said = convert("out.jpg", "--strict")
        check(f"density {unit} {x} {y}: {said}", status == 0 and segments(read("out.jpg"))[0][1][7:12] == head[7:12])


carried()
dropped()
after_the_end()
stray()
photoshop()
between_scans()
densities()
c.end()
