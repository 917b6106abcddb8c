"""Metadata in and out of every format, against files that are composed and parsed here byte by byte.

Sources: imgio/metadata/metadata* imgio/metadata/exif* imgio/metadata/icc*
"""
import json
import os
import struct
import zlib

from _common import Checks, optional, png_chunk as chunk, read as read_image

c = Checks()
check = c.check
os.chdir(c.folder.name)
def run(*words):
    result = c.result(*words)
    return result.returncode, result.stderr


def png(before=b"", after=b""):
    rows = b"".join(b"\0" + bytes(range(3 * y, 3 * y + 12)) for y in range(5))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 5, 8, 2, 0, 0, 0)) + before
            + chunk(b"IDAT", zlib.compress(rows)) + after + chunk(b"IEND", b""))


def chunks(data):
    at, found = 8, []
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        assert zlib.crc32(data[at + 4:at + 8 + n]) == struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0]
        found.append((kind, data[at + 8:at + 8 + n]))
        at += 12 + n
    return found


def png_texts(data):
    """Returns {keyword: (language, translated, text)}."""
    texts = {}
    for kind, body in chunks(data):
        if kind in (b"tEXt", b"zTXt"):
            key, text = body.split(b"\0", 1)
            text = zlib.decompress(text[1:]) if kind == b"zTXt" else text
            texts[key.decode("latin-1")] = ("", "", text.decode("latin-1"))
        elif kind == b"iTXt":
            key, rest = body.split(b"\0", 1)
            language, translated, text = rest[2:].split(b"\0", 2)
            text = zlib.decompress(text) if rest[0] else text
            texts[key.decode("latin-1")] = (language.decode(), translated.decode(), text.decode())
    return texts


def segments(data):
    at, found = 2, []
    while data[at + 1] != 0xda:
        n = struct.unpack(">H", data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + n]))
        at += 2 + n
    return found


def segment(marker, body):
    return struct.pack(">BBH", 0xff, marker, len(body) + 2) + body


def tiff_entries(data):
    order = "<" if data[:2] == b"II" else ">"
    at, found = struct.unpack(order + "I", data[4:8])[0], {}
    for i in range(struct.unpack(order + "H", data[at:at + 2])[0]):
        tag, kind, n, value = struct.unpack(order + "HHII", data[at + 2 + 12 * i:at + 14 + 12 * i])
        size = n * (1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8)[kind]
        found[tag] = data[value:value + size] if size > 4 else data[at + 10 + 12 * i:at + 10 + 12 * i + size]
    return found


def riff(data):
    at, found = 12, {}
    while at < len(data):
        kind, n = struct.unpack("<4sI", data[at:at + 8])
        found[kind] = data[at + 8:at + 8 + n]
        at += 8 + n + n % 2
    return found


def entry(tag, kind, n, value):
    return struct.pack("<HHII", tag, kind, n, value)


THUMBNAIL = b"\xff\xd8" + b"the small picture as it was" * 20 + b"\xff\xd9"


def exif(gps=False, thumbnail=False):
    """A block with orientation 6, a software, and the requested tags."""
    n = 2 + gps
    first = 8 + 2 + 12 * n + 4
    software = b"camera 1\0"
    place = struct.pack("<6I", 48, 1, 51, 1, 30, 1)
    gps_at = first + len(software)
    second = gps_at + (2 + 12 + 4 + len(place) if gps else 0)
    data = struct.pack("<2sHIH", b"II", 42, 8, n) + entry(0x112, 3, 1, 6) + entry(0x131, 2, 9, first)
    data += entry(0x8825, 4, 1, gps_at) if gps else b""
    data += struct.pack("<I", second if thumbnail else 0) + software
    if gps:
        data += struct.pack("<H", 1) + entry(2, 5, 3, gps_at + 18) + struct.pack("<I", 0) + place
    if thumbnail:
        at = second + 2 + 36 + 4
        data += struct.pack("<H", 3) + entry(0x103, 3, 1, 6) + entry(0x201, 4, 1, at)
        data += entry(0x202, 4, 1, len(THUMBNAIL)) + struct.pack("<I", 0) + THUMBNAIL
    return data


def xmp(more=b""):
    return b'<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6" ' \
           b'xmp:Rating="4">' + more + b"</rdf:Description></x:xmpmeta>"


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def convert(*words):
    status, said = run("convert", "--force", *words)
    check(f"convert {words}: {said}", status == 0)
    return said, read(words[1])


def info(path):
    return json.loads(c.result("info", "--json", path).stdout)


LONG = "all work and no play " * 300
TEXTS = {"Title": ("", "", "A t\xeftle"), "Comment": ("", "", LONG), "Author": ("de", "Autor", "Jos\xe9 \u2713"),
         "Software": ("", "", "camera 2")}


def with_texts():
    data = chunk(b"tEXt", b"Title\0A t\xeftle") + chunk(b"zTXt", b"Comment\0\0" + zlib.compress(LONG.encode()))
    after = chunk(b"iTXt", b"Author\0\1\0de\0Autor\0" + zlib.compress("Jos\xe9 \u2713".encode()))
    after += chunk(b"tEXt", b"Software\0camera 2")
    damaged = bytearray(chunk(b"tEXt", b"Warning\0never seen"))
    damaged[-1] ^= 1
    return data, after, bytes(damaged)


def texts_travel():
    before, after, damaged = with_texts()
    write("in.png", png(before + chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp()), after))
    kept = xmp().replace(b'Orientation="6"', b'Orientation="1"')
    said, data = convert("in.png", "out.png")
    texts = png_texts(data)
    check("PNG to PNG: XMP", texts.pop("XML:com.adobe.xmp", ("", "", ""))[2].encode() == kept)
    check(f"PNG to PNG: {texts}", texts == TEXTS and said == "")
    check("info: texts", {t["keyword"]: t["text"] for t in info("in.png")["texts"]}
          == {k: v[2] for k, v in TEXTS.items()})

    said, data = convert("in.png", "out.jpg")
    found = segments(data)
    comments = [body.decode() for marker, body in found if marker == 0xfe]
    check(f"PNG to JPEG: {comments}", said.endswith("jpeg cannot hold languages of texts\n") and comments
          == ["Title: A t\xeftle", LONG, "Author: Jos\xe9 \u2713", "Software: camera 2"])
    head = b"http://ns.adobe.com/xap/1.0/\0"
    check("PNG to JPEG: XMP", (0xe1, head + kept) in found)
    said, data = convert("out.jpg", "back.png")
    check("JPEG to PNG", {k: v[2] for k, v in png_texts(data).items() if k[:3] != "XML"}
          == {k: v[2] for k, v in TEXTS.items()})

    said, data = convert("in.png", "out.tif")
    entries = tiff_entries(data)
    check(f"PNG to TIFF: {said}", said.endswith("tiff cannot hold languages of texts\n") and entries[269] == "A t\xeftle\0".encode())
    check("PNG to TIFF: the rest", entries[305] == b"camera 2\0" and entries[315] == "Jos\xe9 \u2713\0".encode()
          and entries[270] == b"Comment: " + LONG.encode() + b"\0" and entries[700] == kept)
    if not any(f["name"] == "tiff" and f["missing"] for f in formats):
        said, data = convert("out.tif", "back.png")
        check("TIFF to PNG", png_texts(data)["Author"][2] == "Jos\xe9 \u2713")
        check("TIFF to PNG: XMP", png_texts(data)["XML:com.adobe.xmp"][2].encode() == kept)
    if not any(f["name"] == "webp" and f["missing"] for f in formats):
        said, data = convert("in.png", "out.webp")
        check("PNG to WebP", riff(data)[b"XMP "] == kept and riff(data)[b"VP8X"][0] & 4 and "texts" in said)
        said, data = convert("out.webp", "back.png")
        check("WebP to PNG", png_texts(data)["XML:com.adobe.xmp"][2].encode() == kept)
    said, data = convert("in.png", "out.pgm", "--gray")
    check(f"PNG to PGM: {said}", "pgm cannot hold XMP, texts" in said)

    write("odd.png", png(before + damaged))
    status, said = run("convert", "--force", "odd.png", "out.png")
    check(f"a chunk whose checksum is wrong: {said}", status == 0 and "wrong checksum in its chunk" in said)
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"a" * (9 << 20)))
    write("odd.png", png(bomb * 20 + chunk(b"tEXt", b"Title\0small")))
    said, data = convert("odd.png", "out.png")
    check("texts without end", len(data) < 1000)


def color_travels():
    gamma, srgb = chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"sRGB", b"\1")
    cicp = chunk(b"cICP", bytes([9, 16, 0, 1]))
    chrm = chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))
    write("in.png", png(cicp + gamma + chrm))
    said, data = convert("in.png", "out.png")
    check("cICP, gAMA, cHRM", data.find(cicp + gamma + chrm) == 33 and said == "")
    said, data = convert("in.png", "out.png", "--strip")
    check("--strip: colour", [kind for kind, _ in chunks(data)] == [b"IHDR", b"IDAT", b"IEND"])
    check("a loss of colour is told", "colour (gAMA, cHRM, cICP)" in convert("in.png", "out.jpg")[0])
    for same in (srgb, chunk(b"gAMA", struct.pack(">I", 45455)) + chrm, chunk(b"cICP", bytes([1, 13, 0, 1]))):
        write("in.png", png(same))
        check("sRGB is no loss", convert("in.png", "out.jpg")[0] == "")
        check("and travels", same in convert("in.png", "out.png")[1])


def exif_and_places():
    place = b"<exif:GPSLatitude>48,51.5N</exif:GPSLatitude>"
    thumbs = b"<xmp:Thumbnails><rdf:Alt>" + b"aGVsbG8" * 50 + b"</rdf:Alt></xmp:Thumbnails>"
    raw = exif(gps=True, thumbnail=True)
    digits = raw.hex().encode()
    old = b"Raw profile type exif\0\0" + zlib.compress(
        b"\nexif\n%8d\n" % (len(raw) + 6) + b"457869660000" + digits + b"\n")
    exif_chunk = chunk(b"eXIf", raw)
    packet = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(thumbs + place))
    iptc = chunk(b"tEXt", b"Raw profile type iptc\0\niptc\n       3\n010203\n")
    for name, block in (("eXIf", exif_chunk), ("a raw profile", chunk(b"zTXt", old))):
        write("in.png", png(block + packet + iptc))
        said, data = convert("in.png", "out.png")
        got = dict(chunks(data))[b"eXIf"]
        want = bytearray(exif(gps=True))
        want[18] = 1
        check(f"{name}: no thumbnail, orientation 1", got == bytes(want))
        check(f"{name}: nothing of it is left", THUMBNAIL[2:20] not in data)
        text = png_texts(data)["XML:com.adobe.xmp"][2]
        check(f"{name}: XMP without thumbnails", "Thumbnails" not in text and "GPSLatitude" in text
              and 'Orientation="1"' in text)
        for out in ("out.png", "out.jpg"):
            said, data = convert("in.png", out, "--strip=gps")
            got = dict(chunks(data))[b"eXIf"] if out == "out.png" else next(
                body[6:] for marker, body in segments(data) if body[:6] == b"Exif\0\0")
            check(f"{name} to {out}: --strip=gps", b"camera 1" in got and struct.pack("<I", 51) not in got
                  and b"GPS" not in data and b"Raw profile" not in data)
        said, data = convert("in.png", "out.png", "--strip=exif")
        check(f"{name}: --strip=exif", b"eXIf" not in data and b"xmpmeta" not in data)
        said, data = convert("in.png", "out.png", "--strip")
        check(f"{name}: --strip", [kind for kind, _ in chunks(data)] == [b"IHDR", b"IDAT", b"IEND"])
    write("in.png", png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp())))
    check("XMP without a place stays", "XML:com.adobe.xmp" in png_texts(convert("in.png", "out.png", "--strip=gps")[1]))

    plain = convert("in.png", "plain.jpg", "--strip")[1]
    body = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 40
    write("in.jpg", plain[:2] + segment(0xe1, body) + segment(0xfe, b"not\xe9d") + plain[2:])
    said, data = convert("in.jpg", "out.png")
    check(f"further parts of XMP are told: {said}", "extended XMP" in said)
    check("a comment in Latin-1", png_texts(data)["Comment"][2] == "not\xe9d")
    write("in.png", png(chunk(b"tEXt", b"Comment\0" + b"x" * 70000)))
    check("a text too long for JPEG", "a text so long" in convert("in.png", "out.jpg")[0])


def comments():
    """The comments of a JPEG have no declared encoding: UTF-8 if Python decodes it, else Latin-1."""
    plain = convert("in.png", "plain.jpg", "--strip")[1]
    for raw in (b"plain", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"\xe0\xa0\x80", b"\xf4\x8f\xbf\xbf", b"\xc2\x80!",
                b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xe2\x82!", b"\xbf",
                b"\xff", b"\xdf\xbf", b"\xdf\x3f", b"\xc4\x80", b"\xc3\xbf\xc4\x80"):
        try:
            want = raw.decode()
        except UnicodeDecodeError:
            want = raw.decode("latin-1")
        write("in.jpg", plain[:2] + segment(0xfe, raw) + plain[2:])
        said, data = convert("in.jpg", "out.png")
        check(f"comment {raw}", png_texts(data)["Comment"][2] == want and said == "")
        said, data = convert("out.png", "back.jpg")
        check(f"comment {raw}: back", (0xfe, want.encode()) in segments(data))


def raw_profiles():
    """ImageMagick's text chunks "Raw profile type ": a line with the kind, one with the length, hexadecimal digits."""
    def profile(kind, body, head=b"\nAPP1\n%8d\n"):
        digits = body.hex().upper().encode()
        lines = b"\n".join(digits[i:i + 72] for i in range(0, len(digits), 72))
        return chunk(b"tEXt", b"Raw profile type " + kind + b"\0" + head % len(body) + lines + b"\n")
    kept = xmp().replace(b'Orientation="6"', b'Orientation="1"')
    for kind, body in ((b"APP1", b"http://ns.adobe.com/xap/1.0/\0" + xmp()), (b"xmp", xmp())):
        write("in.png", png(profile(kind, body)))
        texts = png_texts(convert("in.png", "out.png")[1])
        check(f"XMP in {kind}", list(texts) == ["XML:com.adobe.xmp"] and texts["XML:com.adobe.xmp"][2].encode() == kept)
    want = bytearray(exif())
    want[18] = 1
    for kind in (b"APP1", b"exif"):
        write("in.png", png(profile(kind, b"Exif\0\0" + exif())))
        got = dict(chunks(convert("in.png", "out.png")[1]))
        check(f"EXIF in {kind}", got.get(b"eXIf") == bytes(want))
    other = exif(gps=True)
    write("in.png", png(chunk(b"eXIf", exif()) + profile(b"exif", b"Exif\0\0" + other)))
    said, data = convert("in.png", "out.png")
    check("the chunk is believed before a text", dict(chunks(data))[b"eXIf"] == bytes(want))
    check(f"and the text is named: {said}", "further EXIF" in said
          and run("convert", "--force", "in.png", "out.png", "--strict")[0] == 1)
    write("in.png", png(chunk(b"eXIf", exif()) + profile(b"exif", b"Exif\0\0" + exif())))
    check("twice the same", run("convert", "--force", "in.png", "out.png", "--strict") == (0, ""))
    for text in (b"no lines", b"\nexif", b"\nexif\n12"):
        write("in.png", png(chunk(b"tEXt", b"Raw profile type exif\0" + text)))
        check(f"raw profile {text} is a text", png_texts(convert("in.png", "out.png")[1])
              == {"Raw profile type exif": ("", "", text.decode())})
    write("in.png", png(profile(b"APP1", b"something else")))
    check("APP1 of another kind stays a text", list(png_texts(convert("in.png", "out.png")[1])) == ["Raw profile type APP1"])


def nothing_hidden():
    """What texts hold behind a zero, and chunks that libpng passes over, are named."""
    whole = png()
    cases = [(png(chunk(b"tEXt", b"Title\0seen\0hidden")), "end of text Title"),
             (png(chunk(b"zTXt", b"Title\0\0" + zlib.compress(b"seen\0hidden"))), "end of text Title"),
             (png(b"", chunk(b"tRNS", bytes(6))), "chunk tRNS (out of place)"), (png(chunk(b"PLTE", bytes(9))), "chunk PLTE"),
             (whole[:-12] + chunk(b"IEND", b"hidden"), "chunk IEND (has data)"),
             (png(chunk(b"tEXt", b"Title\0seen\0\0")), None)]
    for data, word in cases:
        write("in.png", data)
        said = convert("in.png", "out.png")[0]
        check(f"{word}: {said}", word in said if word else not said)
        check(f"{word} --strict", run("convert", "--force", "in.png", "out.png", "--strict")[0] == (1 if word else 0))


def places_in_texts():
    texts = {"Comment": "a picture", "GPSPosition": "48 N", "Description": "Location: here", "Title": "gps"}
    write("in.png", png(b"".join(chunk(b"tEXt", f"{k}\0{v}".encode()) for k, v in texts.items())))
    left = png_texts(convert("in.png", "out.png", "--strip=gps")[1])
    check("texts that name a place", "Comment" in left and left.keys() <= {"Comment", "Title"})
    odd = xmp().replace(b'Orientation="6"', b'Orientation="9"')
    write("in.png", png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + odd)))
    left = png_texts(convert("in.png", "out.png")[1])
    check("an orientation that there is not", left["XML:com.adobe.xmp"][2].encode() == odd)
    write("in.png", png(b"".join(chunk(b"tEXt", b"Comment\0%d" % i) for i in range(2000))))
    said, data = convert("in.png", "out.png")
    kept = sum(kind == b"tEXt" for kind, _ in chunks(data))
    check(f"texts without number: {said}, {kept}", "more text than is kept" in said and kept == 1024)


def dates():
    """TIFF's tag 306 requires "YYYY:MM:DD HH:MM:SS"; a date in another form is stored with the other texts."""
    for text in ("2026:11:22 19:30:00", "Sun, 22 Nov 2026 19:30:00 GMT", "2026-11-22 19:30:00"):
        write("in.png", png(chunk(b"tEXt", b"Creation Time\0" + text.encode())))
        entries = tiff_entries(convert("in.png", "out.tif")[1])
        own = text == "2026:11:22 19:30:00"
        check(f"TIFF: {text}", entries.get(306) == (text.encode() + b"\0" if own else None)
              and entries.get(270) == (None if own else b"Creation Time: " + text.encode() + b"\0"))


def long_keywords():
    """PNG keywords have 1 to 79 characters."""
    for n in (1, 78, 79):
        write("in.png", png(chunk(b"tEXt", b"k" * n + b"\0short") + chunk(b"iTXt", b"K" * n + "\0\0\0\0\0\u2713".encode())))
        check(f"keyword of {n}", png_texts(convert("in.png", "out.png")[1])
              == {"k" * n: ("", "", "short"), "K" * n: ("", "", "\u2713")})


def xmp_orientation():
    """An orientation that only XMP names turns the picture, as by Pillow's exif_transpose(); EXIF's counts if there are both."""
    image_module, ops = optional("PIL.Image"), optional("PIL.ImageOps")
    head = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    tail = b"</rdf:RDF></x:xmpmeta>"
    attribute = head + b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%d"/>' + tail
    element = head + b"<rdf:Description><tiff:Orientation>%d</tiff:Orientation></rdf:Description>" + tail
    for form in (attribute, element):
        for n in range(0, 10):
            write("in.png", png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + form % n)))
            c.run("convert", "--force", "in.png", "turned.npy")
            got = read_image("turned.npy")
            if ops:
                want = ops.exif_transpose(image_module.open("in.png")).convert("RGB")
                check(f"XMP orientation {n}", got.tobytes() == want.tobytes() and got.shape[1::-1] == want.size)
            else:
                c.skip("Pillow is missing")
            check(f"info: XMP orientation {n}", f"orientation {n}" in c.result("info", "in.png").stdout if 2 <= n <= 8
                  else "orientation" not in c.result("info", "in.png").stdout)
            for to in ("out.jpg", "out.tif", "out.webp", "out.png"):
                if not any(f["name"] in to.replace("jpg", "jpeg") and f["writes"] for f in formats):
                    continue
                c.run("convert", "--force", "in.png", to)
                c.run("convert", "--force", to, "again.npy")  # once only
                check(f"XMP orientation {n} through {to}", read_image("again.npy").shape == got.shape)
    both = b"MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\3\0\0\0\0\0\0"
    write("in.png", png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + attribute % 6) + chunk(b"eXIf", both)))
    check("EXIF's orientation counts", "orientation 3" in c.result("info", "in.png").stdout)
    packet = attribute % 6
    for name in ("in.jpg", "in.tif"):
        write("plain.png", png())
        c.run("convert", "--force", "plain.png", name)
        data = open(name, "rb").read()
        if name == "in.jpg":
            app1 = b"http://ns.adobe.com/xap/1.0/\0" + packet
            data = data[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(app1)) + app1 + data[2:]
        else:
            data = tiff_with(packet)
        write(name, data)
        said = c.result("info", name)
        if "libtiff" in said.stderr:
            c.skip("no libtiff")
            continue
        check(f"{name}: XMP orientation", "orientation 6" in said.stdout, said.stdout + said.stderr)
        c.run("convert", "--force", name, "turned.npy")
        check(f"{name}: turned", read_image("turned.npy").shape[:2] == (4, 5))


def tiff_with(packet):
    """4 x 5 RGB pixels with XMP, without the tag of the orientation."""
    data = bytes(range(60)) + packet + b"\0" * (len(packet) % 2)
    tags = [(256, 3, 1, 4), (257, 3, 1, 5), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8), (277, 3, 1, 3),
            (278, 3, 1, 5), (279, 4, 1, 60), (700, 1, len(packet), 68)]
    return (struct.pack("<2sHI", b"II", 42, 8 + len(data)) + data + struct.pack("<H", len(tags))
            + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0\0\0\0")


def damaged_blocks():
    for n in range(0, len(exif(True, True)), 7):
        write("in.png", png(chunk(b"eXIf", exif(True, True)[:n]) if n else b""))
        for strip in ("gps", "no"):
            status, said = run("convert", "--force", "in.png", "out.png", "--strip=" + strip)
            check(f"EXIF cut at {n}: {said}", status == 0)


formats = json.loads(c.run("list", "--json"))["formats"]
texts_travel()
color_travels()
exif_and_places()
comments()
raw_profiles()
nothing_hidden()
places_in_texts()
long_keywords()
dates()
damaged_blocks()
xmp_orientation()
c.end()
