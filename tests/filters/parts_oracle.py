"""Every part of a file is accounted for: files of every format, composed here byte by byte with known and made-up parts
at every place where they may be, are converted to every format. The result holds the part, or a warning names it and
--strict exits with 1. make test-parts tries 10,000 files; PARTS=N sets the number.

To add a format, write a class with these members and put it into FORMATS:
    suffix      of its files, and the name for --format; None as `writes` if gpuimg only reads it
    parts(rng)  a list of random Part, in an order in which the file may have them
    make(parts) the file
    items(data) the set of what a file holds, as tuples: (format, key, bytes) for what only this format has, and for all
                formats ("text", keyword, text), ("icc", bytes), ("exif", bytes), ("xmp", bytes), ("dpi", x, y),
                ("density", x, y) without a unit, ("iptc", bytes), ("photoshop", resources)
Each Part has the item that an output may hold (None: no output may hold it) and the words that name it.

Sources: imgio/parts* imgio/losses* imgio/png/png_parts* imgio/webp/webp_parts* imgio/gif/gif_parts* imgio/pnm/pnm_parts* imgio/bmp/bmp_parts* imgio/bmp/bmp_write.c imgio/tga/tga_parts* imgio/hdr.c imgio/pnm/pfm.c imgio/jpeg/jpeg_segments* imgio/tiff/tiff_parts* cli/commands/info_parts*
"""
import collections
import json
import os
import random
import re
import struct
import zlib

from _common import Checks, SEED, png_chunk as chunk
from _tags import EXIF, GPS, compose, parse, plain

# `item`: what an output may hold; `name`: what a warning calls it; `bytes`, `place`: for the format's make().
# A part that is `silent` may disappear without a word; info calls it `info` if that is given, and does not look for one in
# the pixels ("").
Part = collections.namedtuple("Part", "item name bytes place silent info", defaults=(None, 0, False, None))

c = Checks()
os.chdir(c.folder.name)
ROWS, COLUMNS = 3, 4


def junk(rng, most=40):
    return rng.randbytes(rng.randrange(most))


def exif(rng):
    """EXIF with one tag, Make."""
    return compose([(271, 2, b"Cam%04d\0" % rng.randrange(9999))])


def exif_parts(rng, wrap, place):
    """EXIF, which sometimes has damaged entries: only a TIFF, which gets the tags one by one, leaves those out."""
    if rng.random() < 0.5:
        data = exif(rng)
        return [Part(("exif", data), "EXIF", wrap(data), place)]
    word = b"Cam%04d\0" % rng.randrange(9999)
    inner = [(37500, 7, junk(rng)), (40960, 7, b"0100")]
    entries, n = [(271, 2, word), (EXIF, 4, inner), (GPS, 4, [(1, 2, b"N\0")])], 1
    data = bytearray(compose(entries, rng.choice("<>")))
    order = "<" if data[:2] == b"II" else ">"
    roll = rng.randrange(6)
    tag = (EXIF, GPS, 40960, 37500, 40960, EXIF)[roll]
    at = data.index(struct.pack(order + "HH", tag, 4 if tag in (EXIF, GPS) else 7))
    if roll < 2:  # a pointer to no directory
        data[at + 8:at + 12] = struct.pack(order + "I", rng.choice([3, len(data) - 1, 0xFFFFFFFF]))
    elif roll < 4:  # values outside, or an unknown type
        data[at + 2:at + 12] = struct.pack(order + "HII", *rng.choice([(7, 9, len(data)), (7, 1 << 31, 8), (99, 1, 8), (0, 1, 8),
                                                                       (5, 1 << 29, 8)]))
    elif roll == 4:  # twice
        data[at - 12:at - 10] = struct.pack(order + "H", 40960)
    else:  # more entries than there are bytes
        directory, = struct.unpack(order + "I", data[at + 8:at + 12])
        more = rng.randrange(1, 9)
        n = (len(data) - directory - 2) // 12
        data[directory:directory + 2] = struct.pack(order + "H", n + more)
        return [Part(("whole exif", bytes(data)), ("EXIF", re.compile(r"\d+ tags? of EXIF")), wrap(bytes(data)), place)]
    data = bytes(data)
    return [Part(("exif", word), "EXIF", wrap(data), place), Part(("whole exif", data), ("EXIF", plural(n, "tag of EXIF")),
                                                                  b"", place)]


def plural(n, what):
    first, rest = what.split(" ", 1)
    return f"{n} {first}{'' if n == 1 else 's'} {rest}"


class Png:
    suffix = writes = "png"
    # Safe to copy: the fourth letter is small (PNG, third edition, 5.4).
    known = b"oFFs gIFg gIFx fRAc vpAg caNv mDCv cLLi".split()
    unsafe = b"tIME hIST sPLT pCAL sCAL dSIG caBX iDOT sTER".split()

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(6)):
            place = rng.randrange(2)
            roll = rng.randrange(8)
            if roll < 2:
                kind = rng.choice(self.known)
            elif roll < 4:
                kind = rng.choice(self.unsafe)
            else:
                kind = bytes([rng.choice(b"abcdxyz"), rng.choice(b"bcxBCX"), rng.choice(b"BCX"), rng.choice(b"abcABC")])
            data = junk(rng)
            safe = kind[3] & 32
            made.append(Part(("png", kind, data, place) if safe else None, f"chunk {kind.decode()}",
                             chunk(kind, data), place))
        if rng.random() < 0.3:
            bits = bytes(rng.randrange(1, 9) for _ in range(3))
            made.append(Part(("png", b"sBIT", bits, 0), "chunk sBIT", chunk(b"sBIT", bits), 0))
        if rng.random() < 0.3:
            colour = struct.pack(">HHH", *(rng.randrange(256) for _ in range(3)))
            made.append(Part(("png", b"bKGD", colour, 0), "chunk bKGD", chunk(b"bKGD", colour), 0))
        if rng.random() < 0.3:
            x, y = rng.randrange(2, 99), rng.randrange(2, 99)
            made.append(Part(("density", x, y), "the resolution", chunk(b"pHYs", struct.pack(">IIB", x, y, 0)), 0))
        made += self.colours(rng)
        if rng.random() < 0.3:
            made.append(Part(None, "surplus image data", rng.randbytes(rng.randrange(1, 30)),
                             rng.choice(["rows", "stream", "chunk"]), info=""))
        if rng.random() < 0.2:
            made += exif_parts(rng, lambda data: chunk(b"eXIf", data), rng.randrange(2))
        if rng.random() < 0.3:
            language, translated = rng.choice([(b"de", b""), (b"", b"Autor"), (b"de", b"Autor"), (b"", b"")])
            body = language + b"\0" + translated + b"\0" + b"Jos\xc3\xa9 %d" % rng.randrange(99)
            made.append(Part(("language", body), ("languages of texts", "texts"), chunk(b"iTXt", b"Author\0\0\0" + body), 0,
                             silent=not language + translated))
        if rng.random() < 0.3:
            made += self.raw_profile(rng)
        if rng.random() < 0.2:
            n = rng.randrange(2, 9)
            made.append(Part(None, plural(n - 1, "frame after the first"), chunk(b"acTL", struct.pack(">II", n, 0))
                             + chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, COLUMNS, ROWS, 0, 0, 1, 10, 0, 0)), 0))
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    @staticmethod
    def raw_profile(rng):
        """IPTC and resources of Photoshop, as ImageMagick and exiftool write them."""
        words, other, kind = iptc(rng), resource(rng.randrange(0x2000, 0x2fff), junk(rng)), rng.choice([b"iptc", b"8bim", b"IIM"])
        whole = words if kind == b"IIM" else other + resource(0x404, words)
        kind = kind.replace(b"IIM", b"iptc")
        digits = whole.hex() if rng.randrange(2) else whole.hex().upper()
        text = b"\n%s\n%8d\n" % (kind, len(whole)) + "\n".join(re.findall(".{1,72}", digits)).encode() + b"\n"
        head = b"Raw profile type " + kind + b"\0"
        data = chunk(b"tEXt", head + text) if rng.randrange(2) else chunk(b"zTXt", head + b"\0" + zlib.compress(text))
        made = [Part(("iptc", words), "IPTC", data, rng.randrange(2), info="IPTC")]
        return made + ([Part(("photoshop", other), "Photoshop resources", b"", 0)] if whole != words else [])

    @staticmethod
    def colours(rng):
        """Chunks that name a colour space other than sRGB, and sRGB, which is what files without any are taken for."""
        made = []
        for kind, data, name in ((b"cICP", bytes((9, 16, 0, 1)), "its colour"), (b"sRGB", b"\0", ""),
                                 (b"gAMA", struct.pack(">I", rng.randrange(50000, 99999)), "its colour"),
                                 (b"cHRM", struct.pack(">8I", *(rng.randrange(30000, 60000) for _ in range(8))), "its colour"),
                                 (b"cLLI", rng.randbytes(8), "the range of its light"),
                                 (b"mDCV", rng.randbytes(24), "the range of its light")):
            if rng.random() < 0.2:
                # sRGB takes the place of gAMA and cHRM (PNG, third edition, 4.3).
                silent = kind == b"sRGB" or kind in (b"gAMA", b"cHRM") and any(p.info == "chunk sRGB" for p in made)
                made.append(Part(("png", kind, data, 0), name, chunk(kind, data), 0, silent, f"chunk {kind.decode()}"))
        return made

    def make(self, parts):
        raw = b"".join(b"\0" + bytes((y * 40 + x * 9) & 255 for x in range(3 * COLUMNS)) for y in range(ROWS))
        of = {p.place: p.bytes for p in parts}
        pixels = chunk(b"IDAT", zlib.compress(raw + of.get("rows", b"")) + of.get("stream", b""))
        pixels += chunk(b"IDAT", of["chunk"]) if "chunk" in of else b""
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", COLUMNS, ROWS, 8, 2, 0, 0, 0)) + at[0]
                + pixels + at[1] + chunk(b"IEND", b"") + at[2])

    def items(self, data):
        at, place, found = 8, 0, set()
        while at < len(data):
            n, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + n]
            assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
            place = 1 if kind == b"IDAT" else place
            found.add(("png", kind, body, place))
            if kind == b"pHYs":
                x, y, unit = struct.unpack(">IIB", body)
                found.add(("dpi", round(x * 0.0254), round(y * 0.0254)) if unit else ("density", x, y))
            if kind == b"iCCP":
                found.add(("icc", zlib.decompress(body.split(b"\0", 1)[1][1:])))
            if kind == b"eXIf":
                found |= {("exif", body), ("whole exif", body)}
            if kind == b"iTXt" and body.startswith(b"Author\0"):
                found.add(("language", body[9:]))
            if kind == b"iTXt" and body.startswith(b"XML:com.adobe.xmp\0\0\0\0\0"):
                found.add(("xmp", body[22:]))
            if kind == b"zTXt" and body.startswith(b"Raw profile type iptc\0\0"):
                head, size, digits = zlib.decompress(body[23:]).decode().split("\n", 3)[1:]
                assert head == "iptc" and max(map(len, digits.split("\n"))) <= 72 and digits.endswith("\n")
                assert int(size) == len(bytes.fromhex(digits))
                found |= photoshop_items(bytes.fromhex(digits))
            if kind == b"tEXt":
                found.add(("text",) + tuple(body.decode("latin-1").split("\0", 1)))
            at += 12 + n
        return found


class Webp:
    suffix = writes = "webp"

    def base(self):
        """The pixels as gpuimg writes them, without any other chunk."""
        if not hasattr(self, "pixels"):
            with open("base.ppm", "wb") as f:
                f.write(b"P6 4 3 255\n" + bytes(range(36)))
            c.run("convert", "base.ppm", "base.webp")
            self.pixels = open("base.webp", "rb").read()[12:]
        return self.pixels

    @staticmethod
    def chunk(kind, data):
        return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(6)):
            kind = rng.choice([b"abcd", b"C2PA", b"LIST", b"JUNK", b"meta", b"fmt ", b"vp8x"])
            data, place = junk(rng), rng.randrange(2)
            made.append(Part(("webp", kind, data) if kind != b"C2PA" else None, f"chunk {kind.decode()}",
                             self.chunk(kind, data), place))
        for kind in (b"EXIF", b"XMP "):
            if rng.random() < 0.2:
                data = b"<x:xmpmeta/>" + b" " * rng.randrange(9)
                made += (exif_parts(rng, lambda data: self.chunk(b"EXIF", data), 1) if kind == b"EXIF" else
                         [Part(("xmp", data), "XMP", self.chunk(kind, data), 1)])
                if rng.random() < 0.3:
                    made.append(Part(None, f"chunk {kind.decode()}", self.chunk(kind, data), 1))
        if rng.random() < 0.2:
            end = b"x" + junk(rng, 7)
            made.append(Part(None, plural(len(end), "byte in no chunk"), end, 3))
        elif rng.random() < 0.2:
            made.append(Part(None, "chunk cutC", b"cutC" + struct.pack("<I", rng.randrange(50, 99)) + junk(rng), 3))
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(4)]
        flags = (8 if b"EXIF" in at[1] else 0) | (4 if b"XMP " in at[1] else 0)
        extended = self.chunk(b"VP8X", struct.pack("<IHBHB", flags, COLUMNS - 1, 0, ROWS - 1, 0))
        body = b"WEBP" + extended + at[0] + self.base() + at[1] + at[3]
        return b"RIFF" + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2) + at[2]

    def items(self, data):
        size, = struct.unpack("<I", data[4:8])
        assert size + 8 == len(data) and size % 2 == 0
        at, found = 12, set()
        names = {b"EXIF": "exif", b"XMP ": "xmp", b"ICCP": "icc"}
        while at < len(data):
            kind, n = struct.unpack("<4sI", data[at:at + 8])
            body = data[at + 8:at + 8 + n]
            found.add((names[kind], body) if kind in names else ("webp", kind, body))
            if kind == b"EXIF":
                found.add(("whole exif", body))
            at += 8 + n + n % 2
        return found


class Gif:
    suffix = writes = "gif"

    @staticmethod
    def blocks(data):
        return b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"

    def image(self, more=None):
        """One frame of 2 x 2 pixels with a local palette: LZW codes (clear, 0, 1, 1, 0, end), of 3 bits until the table has
        8 entries. More codes or bytes may follow the pixels."""
        codes, bits, n = [(4, 3), (0, 3), (1, 3), (1, 3), (0, 4)] + [(1, 4)] * (more == "codes") + [(5, 4)], 0, 0
        for code, width in codes:
            bits |= code << n
            n += width
        return b"," + struct.pack("<HHHHB", 0, 0, 2, 2, 0x80) + bytes([9, 99, 200, 250, 3, 80]) + b"\2" + self.blocks(
            bits.to_bytes((n + 7) // 8, "little") + (more if isinstance(more, bytes) else b""))

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(5)):
            roll, place, data = rng.randrange(5), rng.randrange(2), junk(rng, 400)
            if roll < 2:
                text = "".join(rng.choice("abc XYZ.,") for _ in range(rng.randrange(1, 300)))
                made.append(Part(("text", "Comment", text), "texts", b"!\xfe" + self.blocks(text.encode()), place))
            elif roll == 2:
                name = rng.choice([b"NETSCAPE2.0", b"FRACTINT012", b"ABCDEFGHIJK"])
                made.append(Part(None, f"application extension {name.decode()}",
                                 b"!\xff\x0b" + name + self.blocks(data), place))
            elif roll == 3 and rng.randrange(2):
                data = b"<x:xmpmeta/>" + b" " * rng.randrange(400)
                if not any(p.name == "XMP" for p in made):
                    made.append(Part(("xmp", data), "XMP", b"!\xff\x0bXMP DataXMP" + data + bytes([1, *range(255, -1, -1), 0]), place))
            elif roll == 3:
                made.append(Part(None, "plain text extension", b"!\x01" + self.blocks(b"x" * 12 + data), place))
            else:
                label = rng.randrange(2, 0xf0)
                made.append(Part(None, f"extension 0x{label:02x}", bytes([33, label]) + self.blocks(data), place))
        if rng.random() < 0.3:
            more = rng.choice(["codes", b"x" + junk(rng, 400)])
            made.append(Part(None, "surplus image data", more, "more", info=""))
        if rng.random() < 0.1:
            made.append(Part(None, "extension 0xf9", b"!\xf9\6" + bytes(7), 0))
        frames = rng.randrange(3)
        if frames:
            made.append(Part(None, plural(frames, "frame after the first"), self.image() * frames, 1))
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        more = {p.place: p.bytes for p in parts}.get("more")
        return b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0, 0, 0) + at[0] + self.image(more) + at[1] + b";" + at[2]

    @staticmethod
    def joined(data, at):
        """The data of sub-blocks, and the place behind their end."""
        made = b""
        while data[at]:
            made += data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
        return made, at + 1

    def items(self, data):
        at, found = 13 + (3 << (data[10] & 7) + 1 if data[10] & 128 else 0), set()
        while data[at] != ord(";"):
            start = at
            if data[at] == ord("!"):
                body, at = self.joined(data, at + 2)
                if data[start + 1] == 0xfe:
                    found |= {("text", "", body.decode()), ("language", b"\0\0" + body.removeprefix(b"Author: "))}
                if body.startswith(b"ICCRGBG1012"):
                    found.add(("icc", body[11:]))
                if body.startswith(b"XMP DataXMP"):
                    assert data[at - 258:at] == bytes([1, *range(255, -1, -1), 0])
                    found.add(("xmp", data[start + 14:at - 258]))
            else:
                flags = data[at + 9]
                _, at = self.joined(data, at + 11 + (3 << (flags & 7) + 1 if flags & 128 else 0))
        assert at == len(data) - 1
        return found


def tail(rng):
    end = b"x" + junk(rng)
    return Part(None, plural(len(end), "byte after the end"), end, 2)


class Hdr:
    suffix = writes = "hdr"

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(6)):
            key = rng.choice("EXPOSURE COLORCORR PIXASPECT VIEW PRIMARIES SOFTWARE GAMMA # MADEUP".split())
            value = "".join(rng.choice("0123456789. abc") for _ in range(rng.randrange(20)))
            line = (f"# {value}" if key == "#" else f"{key}={value}").encode()
            made.append(Part(("hdr", line), "comment in the header" if key == "#" else f"line {key}", line + b"\n",
                             rng.randrange(2)))
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        return (b"#?RADIANCE\n" + at[0] + b"FORMAT=32-bit_rle_rgbe\n" + at[1] + b"\n-Y 2 +X 2\n"
                + bytes([90, 20, 30, 128] * 4) + at[2])

    def items(self, data):
        return {("hdr", line) for line in data.split(b"\n\n", 1)[0].split(b"\n")[1:]}


class Pfm:
    suffix = writes = "pfm"

    def parts(self, rng):
        scale = rng.choice(["1.0", "-1", "2.5", "-0.125", "1e3"])
        part = Part(("pfm", scale.strip("-")), "scale " + scale.strip("-"), scale.encode(), 0,
                    silent=abs(float(scale)) == 1)
        return [part] + ([tail(rng)] if rng.random() < 0.3 else [])

    def make(self, parts):
        order = "<" if parts[0].bytes.startswith(b"-") else ">"
        return (b"PF\n2 1\n" + parts[0].bytes + b"\n" + struct.pack(order + "6f", *(i / 6 for i in range(6)))
                + b"".join(p.bytes for p in parts[1:]))

    def items(self, data):
        return {("pfm", data.split(b"\n")[2].decode().strip("-"))}


class Pnm:
    suffix = writes = "ppm"

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(4)):
            text = "".join(rng.choice("abc XYZ#.,") for _ in range(rng.randrange(1, 30))).strip() or "x"
            made.append(Part(("text", "Comment", text), "texts", f"# {text}\n".encode(), rng.randrange(2)))
        if self.suffix == "ppm" and rng.random() < 0.4:  # a plain raster, with comments
            made.append(Part(("text", "Comment", "in it"), "texts", b"0 0 0 # in it\n 1 2 3\n", 3, info=""))
            if rng.random() < 0.5:
                made.append(Part(("text", "Comment", "behind"), "texts", b"# behind\n", 3, info=""))
            return made
        if rng.random() < 0.2:
            made.append(Part(None, "9 bytes after the end", b"# no text", 2))
        elif rng.random() < 0.3:
            made.append(tail(rng))
        return made

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        plain = b"".join(p.bytes for p in parts if p.place == 3)
        return ((b"P3\n" if plain else b"P6\n") + at[0] + b"2 1\n" + at[1] + b"255\n"
                + (plain or bytes(range(6))) + at[2])

    def items(self, data):
        head = data.split(b"\n255\n" if data[:2] != b"P7" else b"\nENDHDR\n", 1)[0]
        found = {("text", "Comment", line[2:].decode()) for line in head.split(b"\n") if line.startswith(b"# ")}
        return found | {("pam", line[9:]) for line in head.split(b"\n") if line.startswith(b"TUPLTYPE ")}


class Pam(Pnm):
    suffix = writes = "pam"

    def parts(self, rng):
        kind = rng.choice([b"GRAYSCALE", b"LAB", b"made up"])
        name = Part(("pam", kind), f"tuple type {kind.decode()}", b"TUPLTYPE " + kind + b"\n", 1, silent=kind == b"GRAYSCALE")
        made = [name] + super().parts(rng)
        if rng.random() < 0.3:
            made.append(Part(None, "line MADEUP", b"MADEUP 5\n", 1))
        if rng.random() < 0.3:
            made.append(Part(None, "line TUPLTYPE", b"TUPLTYPE made up before\n", 0))
        return made

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        return b"P7\n" + at[0] + b"WIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\n" + at[1] + b"ENDHDR\n" + bytes(2) + at[2]


class Npy:
    suffix = writes = "npy"

    def parts(self, rng):
        return [tail(rng)] if rng.random() < 0.5 else []

    def make(self, parts):
        head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }"
        head += b" " * (117 - len(head)) + b"\n"
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(range(18)) + b"".join(p.bytes for p in parts)

    def items(self, data):
        return set()


def profile(rng):
    """What gpuimg looks at in an ICC profile: its size, its colour model and its signature."""
    n = rng.randrange(132, 200)
    return struct.pack(">I12x4s16x4s", n, b"RGB ", b"acsp") + rng.randbytes(n - 40)


def spare(rng, n):
    """The fourth bytes of `n` pixels, of which the file does not say what they are. Nothing is lost if they are all 0 or 255."""
    if rng.random() < 0.3:
        return Part(None, "", rng.choice([b"\0", b"\xff"]) * n, "spare", silent=True, info="")
    return Part(None, "bits beside the colours", rng.randbytes(n - 1) + rng.choice([b"\1", b"\xfe"]), "spare", info="")


class Bmp:
    suffix = writes = "bmp"

    def parts(self, rng):
        made = []
        if rng.random() < 0.5:
            x, y = rng.choice([72, 96, 300]), rng.choice([72, 96, 300])
            made.append(Part(("dpi", x, y), "the resolution", struct.pack("<II", round(x / 0.0254), round(y / 0.0254)),
                             "resolution"))
        if rng.random() < 0.4:
            data = profile(rng)
            made.append(Part(("icc", data), "the ICC profile", data, rng.choice(["icc before", "icc after"])))
        elif rng.random() < 0.3:
            made.append(Part(None, "linked ICC profile", b"C:\\x.icc\0", "linked"))
        if rng.random() < 0.3:
            made.append(spare(rng, 4))
        if rng.random() < 0.3:
            made.append(Part(None, "gap before the pixels", b"x" + junk(rng), "gap"))
        if rng.random() < 0.3:
            made.append(tail(rng))
        return made

    def make(self, parts):
        of = {p.place: p.bytes for p in parts}
        icc = of.get("icc before", b"") or of.get("icc after", b"") or of.get("linked", b"")
        pixels, gap = bytes(range(6)) + b"\0\0" + bytes(range(6)) + b"\0\0", of.get("gap", b"")
        if "spare" in of:
            pixels = b"".join(bytes(range(3 * i, 3 * i + 3)) + of["spare"][i:i + 1] for i in range(4))
        early = of.get("icc before", b"")
        at = 14 + 124 + len(early) + len(gap)
        where = 124 if early else 124 + len(gap) + len(pixels)
        kind = b"KNIL" if "linked" in of else b"DEBM" if icc else b"BGRs"
        head = struct.pack("<IiiHHII8sII", 124, 2, 2, 1, 32 if "spare" in of else 24, 0, 0, of.get("resolution", bytes(8)), 0, 0) + bytes(16)
        head += kind + bytes(48) + struct.pack("<IIII", 4, where if icc else 0, len(icc), 0)
        assert len(head) == 124
        late = b"" if early else icc
        body = head + early + gap + pixels + late + of.get(2, b"")
        return struct.pack("<2sIII", b"BM", 14 + len(body), 0, at) + body

    def items(self, data):
        size, x, y = struct.unpack("<I20xII", data[14:46])
        found = {("dpi", round(x * 0.0254), round(y * 0.0254))} if x else set()
        if size == 124:
            at, n = struct.unpack("<II", data[126:134])
            found.add(("icc", data[14 + at:14 + at + n]))
            assert 14 + at + n == len(data)
        assert struct.unpack("<I", data[2:6])[0] == len(data)
        return found


class Tga:
    suffix = writes = "tga"

    def parts(self, rng):
        made = []
        if rng.random() < 0.4:
            data = rng.randbytes(rng.randrange(1, 256))
            made.append(Part(("tga", data), "TGA image ID", data, "id"))
        if rng.random() < 0.3:
            made.append(spare(rng, 2))
        if rng.random() < 0.6:
            for keyword, at in (("Author", 2), ("Comment", 43), ("Software", 426)):
                if rng.random() < 0.4:
                    text = "".join(rng.choice("abc XYZ") for _ in range(30)).strip()
                    made.append(Part(("text", keyword, text), "texts", text.encode(), at))
            for name, at in (("time stamp", 367), ("job name", 379), ("job time", 420), ("key colour", 470), ("gamma", 478)):
                if rng.random() < 0.3:
                    made.append(Part(None, name, b"\1\1\1\1", at))
            if rng.random() < 0.3:
                made.append(Part(("density", 3, 5), "the resolution", struct.pack("<HH", 5, 3), 474))
            if rng.random() < 0.3:
                made.append(Part(None, "thumbnail", bytes([1, 1, 9, 9, 9]), "stamp"))
            if rng.random() < 0.3:
                made.append(Part(None, "developer area", b"\0\0" + junk(rng), "developer"))
        elif rng.random() < 0.4:
            made.append(tail(rng))
        return made

    def make(self, parts):
        of = {p.place: p.bytes for p in parts}
        ident = of.get("id", b"")
        spare = of.get("spare")
        pixels = b"abc" + spare[:1] + b"def" + spare[1:] if spare else bytes(range(6))
        data = struct.pack("<BBBHHBHHHHBB", len(ident), 0, 2, 0, 0, 0, 0, 0, 2, 1, 32 if spare else 24, 0) + ident + pixels
        area = bytearray(495)
        area[:2] = struct.pack("<H", 495)
        used = False
        for place, value in of.items():
            if isinstance(place, int) and place != 2 or place == 2 and b"x" != value[:1]:
                area[place:place + len(value)] = value
                used = True
        if 2 in of and not used and set(of) <= {2, "id", "spare"} and of[2][:1] == b"x":
            return data + of[2]
        stamp, developer = of.get("stamp", b""), of.get("developer", b"")
        area[486:490] = struct.pack("<I", len(data) if stamp else 0)
        at = len(data) + len(stamp)
        data += stamp + developer + bytes(area)
        return data + struct.pack("<II", at + len(developer), at if developer else 0) + b"TRUEVISION-XFILE.\0"

    def items(self, data):
        return {("tga", data[18:18 + data[0]])}


def resolution(x, y, unit):
    return ("density", round(x), round(y)) if unit < 2 else ("dpi", round(x), round(y))


def resource(number, data):
    return b"8BIM" + struct.pack(">HHI", number, 0, len(data)) + data + b"\0" * (len(data) % 2)


def iptc(rng):
    return b"".join(b"\x1c\x02" + bytes([rng.choice([5, 25, 80, 120])]) + struct.pack(">H", len(text)) + text
                    for text in (b"word%d" % rng.randrange(999) for _ in range(rng.randrange(1, 4))))


def photoshop_items(data):
    """The IPTC and the other resources in resources of Photoshop."""
    found, at = set(), 0
    while at < len(data):
        number, name, n = struct.unpack(">HHI", data[at + 4:at + 12])
        assert data[at:at + 4] == b"8BIM" and name == 0
        found.add(("iptc", data[at + 12:at + 12 + n]) if number == 0x404 else ("photoshop", data[at:at + 12 + n + n % 2]))
        at += 12 + n + n % 2
    return found


class Jpeg:
    suffix = writes = "jpg"
    dropped = [(0xe0, b"JFXX\0\x10", "thumbnail (JFXX)"), (0xe2, b"MPF\0", "index of further images (MPF)"),
               (0xeb, b"JP\0\1", "JUMBF (C2PA)")]

    @staticmethod
    def segment(marker, body):
        return struct.pack(">BBH", 0xff, marker, len(body) + 2) + body

    def base(self):
        """The segments of pixels as gpuimg writes them: after JFIF's, and from the scan on."""
        if not hasattr(self, "pixels"):
            with open("base.ppm", "wb") as f:
                f.write(b"P6 4 3 255\n" + bytes(range(36)))
            c.run("convert", "base.ppm", "base.jpg")
            data = open("base.jpg", "rb").read()
            self.pixels = data[20:data.index(b"\xff\xda")], data[data.index(b"\xff\xda"):]
        return self.pixels

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(6)):
            roll, place = rng.randrange(5), rng.randrange(2)
            if roll < 2:
                n = rng.choice([0, 1, 2, 3, 5, 9, 11, 12, 13, 14, 15])
                body = b"made up\0" + junk(rng, 400)
                made.append(Part(("jpeg", 0xe0 + n, body), f"segment APP{n}", self.segment(0xe0 + n, body), place))
            elif roll == 2:
                text = "".join(rng.choice("abc XYZ.,") for _ in range(rng.randrange(1, 300)))
                made.append(Part(("text", "Comment", text), "texts", self.segment(0xfe, text.encode()), place))
            elif roll == 3:
                marker, head, name = rng.choice(self.dropped)
                made.append(Part(None, name, self.segment(marker, head + junk(rng)), place))
            else:
                body = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32 + struct.pack(">II", 9, 0) + junk(rng)
                made.append(Part(("jpeg", 0xe1, body), "extended XMP", self.segment(0xe1, body), place))
        if rng.random() < 0.2:
            made += exif_parts(rng, lambda data: self.segment(0xe1, b"Exif\0\0" + data), 0)
        if rng.random() < 0.2:
            data = b"<x:xmpmeta/>" + b" " * rng.randrange(9)
            made.append(Part(("xmp", data), "XMP", self.segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0" + data), 0))
        if rng.random() < 0.4:
            made += self.photoshop(rng)
        if rng.random() < 0.3 and not any("MPF" in p.name for p in made):
            made.append(Part(None, "gain map", self.gain_map(rng), "map"))
            made.append(Part(None, "description of a gain map", self.segment(0xe2, b"urn:iso:std:iso:ts:21496:-1\0" + junk(rng)), 0))
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    def gain_map(self, rng):
        """A small JPEG that says by XMP that it is a gain map, which an operation that changes samples drops."""
        head, scan = self.base()
        name = b"http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/'/>"
        return b"\xff\xd8" + self.segment(0xe1, name) + self.segment(0xe9, junk(rng)) + head + scan

    def photoshop(self, rng):
        """IPTC, other resources and a thumbnail, in one segment or two."""
        words, other, small = iptc(rng), resource(rng.randrange(0x2000, 0x2fff), junk(rng)), resource(0x40c, junk(rng))
        data, head, cut = other + resource(0x404, words) + small, b"Photoshop 3.0\0", rng.randrange(60)
        halves = [data[:cut], data[cut:]] if rng.randrange(2) else [data]
        whole = b"".join(self.segment(0xed, head + half) for half in halves)
        return [Part(("iptc", words), "IPTC", whole, 0), Part(("photoshop", other), "Photoshop resources", b"", 0),
                Part(None, "thumbnail of Photoshop", b"", 0)]

    def make(self, parts):
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        head, scan = self.base()
        start, gain = b"\xff\xd8" + at[0] + head, b"".join(p.bytes for p in parts if p.place == "map")
        if gain:  # with an index (CIPA DC-007), whose offsets count from 8 bytes behind its marker
            size = len(start) + 90 + len(at[1]) + len(scan)
            entries = struct.pack(">IIIHHIIIHH", 0x30000, size, 0, 0, 0, 0, len(gain), size - len(start) - 8, 0, 0)
            tags = struct.pack(">HHI4sHHIIHHII", 0xb000, 7, 4, b"0100", 0xb001, 4, 1, 2, 0xb002, 7, 32, 50)
            start += self.segment(0xe2, b"MPF\0MM\0*" + struct.pack(">IH", 8, 3) + tags + bytes(4) + entries)
        return start + at[1] + scan + gain + at[2]

    def items(self, data):
        at, found, resources = 2, set(), b""
        while data[at + 1] != 0xda:
            marker, n = struct.unpack(">xBH", data[at:at + 4])
            body = data[at + 4:at + 2 + n]
            if marker == 0xe0 and body.startswith(b"JFIF"):
                unit, x, y = struct.unpack(">BHH", body[7:12])
                found.add(resolution(x, y, unit + 1))
            elif marker == 0xe1 and body.startswith(b"Exif\0\0"):
                found |= {("exif", body[6:]), ("whole exif", body[6:])}
            elif marker == 0xe1 and body.startswith(b"http://ns.adobe.com/xap/1.0/\0"):
                found.add(("xmp", body[29:]))
            elif marker == 0xed and body.startswith(b"Photoshop 3.0\0"):
                resources += body[14:]
            elif marker == 0xfe:
                found.add(("text", "Comment", body.decode()))
            elif marker == 0xe2 and body.startswith(b"ICC_PROFILE\0"):
                found.add(("icc", body[14:]))
            elif 0xe0 <= marker <= 0xef:
                found.add(("jpeg", marker, body))
            at += 2 + n
        return found | photoshop_items(resources)


class Tiff:
    suffix = writes = "tiff"

    def values(self, rng):
        """A random type, and values of it."""
        kind, n = rng.randrange(1, 13), rng.randrange(1, 6)
        low, high = {1: (0, 255), 3: (0, 65535), 4: (0, 2**32 - 1), 6: (-128, 127), 8: (-2**15, 2**15 - 1),
                     9: (-2**31, 2**31 - 1)}.get(kind, (0, 99))
        if kind in (2, 7):
            return kind, rng.randbytes(n)
        if kind in (5, 10):
            return kind, [(rng.randrange(99), rng.randrange(1, 99)) for _ in range(n)]
        return kind, [rng.randint(low, high) / (2 if kind > 10 else 1) if kind > 10 else rng.randint(low, high)
                      for _ in range(n)]

    def parts(self, rng):
        made = []
        for tag in sorted(rng.sample(range(60000, 65535), rng.randrange(5))):
            kind, values = self.values(rng)
            made.append(Part(("tiff", tag) + plain(kind, values), f"tag {tag}", (tag, kind, values)))
        if rng.random() < 0.3:
            made.append(Part(("tiff", 34737, 2, b"WGS 84|\0"), "GeoTIFF tag 34737", (34737, 2, b"WGS 84|\0")))
        if rng.random() < 0.3:
            words = iptc(rng)
            made.append(Part(("iptc", words), "IPTC", (33723, rng.choice([1, 7]), words)))
        if rng.random() < 0.3:
            other = resource(rng.randrange(0x2000, 0x2fff), junk(rng))
            made.append(Part(("photoshop", other), "Photoshop resources", (34377, 1, other)))
        if rng.random() < 0.3:
            lens = b"Lens%04d\0" % rng.randrange(9999)
            made.append(Part(("exif", lens), "EXIF", (EXIF, 4, [(0xa434, 2, lens)])))
        if rng.random() < 0.2:
            made.append(Part(None, "tags of DNG", (50708, 2, b"made up\0")))
        if rng.random() < 0.2:
            made.append(Part(None, "minimum and maximum of samples", (280, 3, [5])))
        if rng.random() < 0.3:  # what does not describe this picture
            made.append(rng.choice([Part(None, f"tag {tag}", (tag, kind, values)) for tag, kind, values in (
                (292, 4, [1]), (293, 4, [0]), (326, 4, [2]), (327, 3, [1]), (328, 4, [2]), (529, 5, [(1, 3)] * 3), (530, 3, [4, 2]),
                (531, 3, [2]), (532, 5, [(16, 1), (235, 1)] * 3), (347, 7, b"\xff\xd8\xff\xd9"), (513, 4, [8]))]
                + [Part(None, "statement that samples are indices", (346, 3, [1])),
                   Part(None, "range of decoded samples", (433, 10, [(0, 1), (1, 1)])),
                   Part(None, "numbers of rows of strips", (559, 4, [3])),
                   Part(None, "", (532, 5, [(0, 1), (255, 1)] * 3), silent=True),
                   Part(None, "", (530, 3, [2, 2]), silent=True), Part(None, "", (531, 3, [1]), silent=True)]))
        if rng.random() < 0.3:  # a value that libtiff refuses, of a tag that is carried
            tag, kind, values = rng.choice([(264, 2, b"ab\0"), (265, 3, [1, 2]), (285, 3, [7]), (297, 3, [1]), (321, 3, [1, 2, 3]),
                                            (337, 4, [5, 6]), (402, 12, [1.5, 2.5]), (33300, 2, b"x\0")])
            made.append(Part(("tiff", tag) + plain(kind, values), f"tag {tag}", (tag, kind, values)))
        if rng.random() < 0.2:
            pointer = rng.choice([EXIF, GPS])
            made = [p for p in made if p.bytes[0] != EXIF]
            made.append(Part(None, f"1 damaged tag of {'EXIF' if pointer == EXIF else 'GPS'}",
                             (pointer, 4, [rng.choice([1, 1 << 20, 0xFFFFFFFF])])))
        if rng.random() < 0.2:
            made.append(Part(("xmp", b"<x:xmpmeta/>"), "XMP", (700, 1, b"<x:xmpmeta/>")))
        if rng.random() < 0.2:
            x, y = rng.randrange(2, 99), rng.randrange(2, 99)
            made += [Part(("density", x, y), "the resolution", (282, 5, [(x, 1)])),
                     Part(("density", x, y), "the resolution", (283, 5, [(y, 1)])),
                     Part(None, "", (296, 3, [1]), silent=True)]
        return made + ([tail(rng)] if rng.random() < 0.3 else [])

    def make(self, parts):
        rng = random.Random(len(parts))
        order, big = rng.choice("<>"), rng.randrange(2)
        own = [(256, 3, [4]), (257, 3, [3]), (258, 3, [8, 8, 8]), (259, 3, [1]), (262, 3, [2]), (273, 4, [16 if big else 8]),
               (277, 3, [3]), (278, 3, [3]), (279, 4, [36])]
        tags = [p.bytes for p in parts if isinstance(p.bytes, tuple)]
        return compose(own + tags, order, big, data=bytes(range(36))) + b"".join(
            p.bytes for p in parts if isinstance(p.bytes, bytes))

    def items(self, data):
        found = set()
        for tag, (kind, values) in parse(data).items():
            found.add(("tiff", tag, kind, values) if tag not in (EXIF, GPS) else ("exif", b"".join(
                v for k, v in values.values() if k in (2, 7))))
            names = {271: "exif", 700: "xmp", 33723: "iptc", 34377: "photoshop", 34675: "icc"}
            if tag in names:
                found.add((names[tag], values))
            if tag in (270, 305, 315, 33432):
                found.add(("text", "", values.decode()))
            if tag == 282:
                y = parse(data)[283][1]
                found.add(resolution(values[0] / values[1], y[0] / y[1], parse(data)[296][1][0]))
        return found


FORMATS = [Png(), Webp(), Gif(), Hdr(), Pfm(), Pnm(), Pam(), Npy(), Bmp(), Tga(), Jpeg(), Tiff()]
OUTPUTS = [f for f in FORMATS if f.writes]


def holds(found, item):
    """A text is held if it is in any text of the output, because JPEG and TIFF write the keyword before it. EXIF is held
    by TIFF as tags."""
    if item and item[0] in ("text", "exif"):
        return any(f[0] == item[0] and (item[-1] in f[-1] or item[0] == "exif" and f[-1] in item[-1]) for f in found)
    return item in found


def names_part(said, part):
    """`part.name` may be a tuple: one format calls the part by another name than the others."""
    names = part.name if isinstance(part.name, tuple) else (part.name,)
    words = "|".join(name.pattern if isinstance(name, re.Pattern) else re.escape(name) for name in names)
    return re.search(rf"(hold|write to \w+:|read:|dropped:|,) ({words})(?!\w)", said) is not None


def convert(names, output, *more):
    """Inverts the files into out/. Returns the exit status, the warnings of each output, and the errors of each."""
    result = c.result("invert", *names, "--out-dir", "out", "--format", output, "--device", "cpu", "--report", "r.jsonl",
                      *more)
    warnings = collections.defaultdict(str)
    for line in result.stderr.splitlines():
        found = re.search(r"(?:out/|\b)(f\d+)\.", line)
        warnings[found.group(1) if found else "further"] += line + "\n"
    errors = {}
    for line in open("r.jsonl", encoding="utf-8"):
        record = json.loads(line)
        if record.get("error"):
            errors[record["input"].split(".")[0]] = record["error"]
    os.remove("r.jsonl")
    return result.returncode, warnings, errors


def test(files, output):
    """Converts all files to one format, and then again with --strict. A batch prints a warning that is like an earlier
    one only as a number, so the names are in the errors of --strict."""
    names = [name for name, _, _ in files]
    status, warnings, _ = convert(names, output.writes)
    c.check(f"to {output.writes}: exit status", status == 0, str(dict(warnings))[:2000])
    made = {}
    for name in names:
        stem = name.split(".")[0]
        path = f"out/{stem}.{output.suffix}"
        made[name] = output.items(open(path, "rb").read()) if os.path.exists(path) else None
        c.check(f"{name} to {output.writes}: an output", made[name] is not None)
        if os.path.exists(path):
            os.remove(path)
    status, _, errors = convert(names, output.writes, "--strict")
    c.check(f"to {output.writes} --strict: exit status", status == (1 if errors else 0), status)
    for name, parts, _ in files:
        stem = name.split(".")[0]
        held, said, warned = made[name] or (), errors.get(stem, ""), warnings[stem]
        for part in parts:
            what = f"{name} to {output.writes}: {part.name or part.info}"
            named = names_part(said, part) or ("after the first" in part.name and name.endswith("gif") and
                                               output.writes in ("png", "webp", "gif", "ppm", "pam", "tiff"))  # those hold all frames
            c.check(f"{what} is held or named", part.silent or holds(held, part.item) or named or " more" in said,
                    f"{said!r} {part}")
            if "texts" not in part.name:  # which may be others
                c.check(f"{what} is not held and named", not (holds(held, part.item) and named), f"{said!r} {part}")
            c.check(f"{what} is in the warning", not named or names_part(warned, part) or "only the first" in warned or "left out" in warned
                    or warnings["further"], warned)
        path = f"out/{stem}.{output.suffix}"
        c.check(f"{name} to {output.writes} --strict: no output after an error", os.path.exists(path) != bool(said), said)
        c.check(f"{name} to {output.writes}: no warning without a loss", said or not warned, warned)
        if os.path.exists(path):
            os.remove(path)


def test_info(files):
    """info names every part that it does not use, and info --json lists it."""
    result = c.result("info", "--json", *(name for name, _, _ in files))
    c.check("info: exit status", result.returncode == 0, result.stderr)
    for line, (name, parts, _) in zip(result.stdout.splitlines(), files):
        names = " ".join(part["name"] for part in json.loads(line)["parts"])
        for part in parts:
            used = part.silent or part.item and part.item[0] in ("dpi", "density", "text", "icc", "exif", "whole exif", "xmp",
                                                                 "language")
            wanted = part.name if part.info is None else part.info
            c.check(f"info {name}: {wanted}", part.info is None and used or wanted in names, names)


def main():
    rng = random.Random(SEED)
    n = int(os.environ.get("PARTS", "120"))
    os.makedirs("out", exist_ok=True)
    for start in range(0, n, 100):
        files = []
        for i in range(start, min(n, start + 100)):
            kind = FORMATS[i % len(FORMATS)]
            parts = kind.parts(rng)
            name = f"f{i}.{kind.suffix}"
            with open(name, "wb") as f:
                f.write(kind.make(parts))
            files.append((name, parts, kind))
        for output in OUTPUTS:
            test(files, output)
        test_info(files)
        for name, _, _ in files:
            os.remove(name)
    c.end()


main()
