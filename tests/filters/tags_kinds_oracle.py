"""Every tag of TIFFs of all kinds arrives or is named, whatever an operation does: strips, tiles and planes, one to five samples
of 8 to 32 bits, BigTIFF and both byte orders, through invert, crop and resize into every kind of format. TAGS=N sets the number
of files.

Sources: imgio/tiff/tiff_parts* imgio/tiff/directory_write* imgio/tiff/complaints* imgio/losses* imgio/metadata/geo*
"""
import os
import random
import re
import struct

from _common import Checks, SEED
from _tags import EXIF, GPS, compose, parse, plain, png_resources

c = Checks()
os.chdir(c.folder.name)
rng = random.Random(SEED)
WIDTH, HEIGHT = 6, 5
IPTC = b"\x1c\x02\x05\0\5Title"
RESOURCE = b"8BIM\x27\x10\0\0" + struct.pack(">I", 4) + b"clip"
# Tags of TIFF 6.0, of its supplements, of TIFF/FX, TIFF/IT and of companies, whose values are any.
REGISTERED = (263, 264, 265, 285, 297, 300, 318, 319, 321, 337, 342, 343, 344, 345, 351, 401, 402, 403, 404, 405, 434, 999, 32781,
              32931, 32932, 32934, 32953, 33302, 33303, 33304, 33305, 33434, 34016, 34019, 34022, 34232, 34378, 34732, 34750,
              34784, 34908, 34909, 34910, 34911, 34929, 36867, 37439, 37500, 40961, 50674, 50784, 65535, 1, 200, 253)
TEXTS = {269: b"document\0", 270: b"description\0", 271: b"maker\0", 272: b"model\0", 305: b"software\0",
         306: b"2026:01:02 03:04:05\0", 315: b"author\0", 33432: b"copyright\0"}
# Other tags, with the words that name them.
OTHERS = [(33723, 1, IPTC, "IPTC"), (33723, 7, IPTC, "IPTC"), (34377, 1, RESOURCE, "Photoshop"), (700, 1, b"<x:xmpmeta/>", "XMP"),
          (280, 3, [1], "minimum"), (341, 3, None, "minimum"), (332, 3, [1], "inks"), (333, 2, b"ink\0", "inks"),
          (336, 3, [0, 255], "inks"), (346, 3, [1], "indices"), (433, 10, [(0, 1), (1, 1)], "decoded"), (400, 4, [8], "parameters"),
          (559, 4, [5], "rows of strips"), (33421, 3, [2, 2], "filter array"), (37724, 7, b"made up\0", "Photoshop"),
          (50706, 1, b"\1\4\0\0", "DNG"), (34737, 2, b"WGS|\0", "tag 34737"), (42112, 2, b"<GDALMetadata/>\0", "tag 42112"),
          (EXIF, 4, [(36867, 2, b"2026:01:02 03:04:05\0"), (37500, 7, b"maker")], "EXIF"), (GPS, 4, [(1, 2, b"N\0")], "EXIF"),
          (292, 4, [1], "tag 292"), (326, 4, [1], "tag 326"), (529, 5, [(1, 3)] * 3, "tag 529"), (513, 4, [8], "tag 513"),
          (286, 5, [(1, 2)], "tag 286"), (33300, 4, [99], "tag 33300"), (50839, 1, b"IJIJover", "tag 50839")]
WORKS = (["invert"], ["crop", "--size", "3x2+1+1"], ["resize", "--size", "4x4"])


def values(kind):
    n = rng.randrange(1, 6)
    if kind in (1, 2, 7):
        return b"text%d\0" % rng.randrange(99) if kind == 2 else rng.randbytes(n)
    if kind in (5, 10):
        return [(rng.randrange(1, 99), rng.randrange(1, 99)) for _ in range(n)]
    if kind in (11, 12):
        return [rng.randrange(-99, 99) / 2 for _ in range(n)]
    signed, bits = kind in (6, 8, 9, 17), {3: 16, 6: 8, 8: 16}.get(kind, 32)
    return [rng.randrange(-(1 << bits - 1), 1 << bits - 1) if signed else rng.randrange(1 << bits) for _ in range(n)]


def picture(order, big):
    """Returns the entries of a random kind of image, and its samples."""
    head, channels, planar, tiles = (16 if big else 8), rng.choice([1, 1, 2, 3, 3, 4, 5]), rng.choice([1, 2]), rng.random() < 0.3
    bits, form = rng.choice([(8, 1), (16, 1), (32, 3), (8, 4)])
    n, inner = (channels, 1) if planar == 2 else (1, channels)
    each = (256 if tiles else WIDTH * HEIGHT) * inner * bits // 8
    samples = b"".join(struct.pack(order + "f", i % 50 / 50) for i in range(n * each // 4)) if form == 3 else bytes(
        i * 7 & 255 for i in range(n * each))
    places = [head + i * each for i in range(n)]
    entries = [(322, 3, [16]), (323, 3, [16]), (324, 4, places), (325, 4, [each] * n)] if tiles else [
        (273, 4, places), (278, 3, [HEIGHT]), (279, 4, [each] * n)]
    colours = 3 if channels >= 3 else 1
    extra = [(338, 3, [rng.choice([0, 1, 2]) for _ in range(channels - colours)])] if channels > colours else []
    return entries + extra + [(256, 3, [WIDTH]), (257, 3, [HEIGHT]), (258, 3, [bits] * channels), (259, 3, [1]),
                              (262, 3, [2 if colours == 3 else 1]), (277, 3, [channels]), (284, 3, [planar]),
                              (339, 3, [form] * channels)], samples, channels


def chosen(big, channels):
    """Returns random tags in the order of their numbers, and the words that name each."""
    kinds = list(range(1, 13)) + ([16, 17] if big else [])
    tags = {tag: (tag, kind, values(kind), f"tag {tag}") for tag in rng.sample(REGISTERED, rng.randrange(3))
            for kind in [rng.choice([1, 2, 3, 4, 5, 7, 12])]}
    tags.update({60000 + k: (60000 + k, k, values(k), f"tag {60000 + k}") for k in rng.sample(kinds, rng.randrange(3))})
    tags.update({tag: (tag, 2, TEXTS[tag], f"texts|EXIF|tag {tag}") for tag in rng.sample(sorted(TEXTS), rng.randrange(3))})
    tags.update({e[0]: (e[0], e[1], e[2] or [9] * channels, e[3]) for e in rng.sample(OTHERS, rng.randrange(1, 4))})
    return [tags[tag] for tag in sorted(tags)]


def holds(data, output, tag, kind, given):
    """Returns whether the output has the tag: a TIFF the same values, other formats those of texts, EXIF and blocks."""
    if output != "tif":
        inner = given[0][2] if tag in (EXIF, GPS) else given
        data += png_resources(data) if output == "png" else b""
        return tag in (*TEXTS, EXIF, GPS, 700, 33723, 34377) and inner.rstrip(b"\0") in data
    got, want = parse(data).get(tag), plain({16: 4, 17: 9}.get(kind, kind), given)
    if tag in (EXIF, GPS):
        return got is not None and all(got[1].get(t) == plain(k, v) for t, k, v in given)
    return got is not None and (got[1] == want[1] if tag in (700, 33723, 34377) else got == want)


def test(number):
    order, big = rng.choice("<>"), rng.random() < 0.4
    entries, samples, channels = picture(order, big)
    tags = chosen(big, channels)
    with open("in.tif", "wb") as f:
        f.write(compose(entries + [t[:3] for t in tags], order, big, data=samples))
    outputs = ["tif", "npy"] + (["png", "jpg", "webp"] if channels < 5 else []) + (["pgm"] if channels < 3 else [])
    for words in WORKS:
        for output in outputs:
            name = f"file {number}, {words[0]} to {output}: {[t[:2] for t in tags]}, {channels} channels"
            path = f"out.{output}"
            if os.path.exists(path):
                os.remove(path)
            result = c.result(words[0], "in.tif", path, *words[1:])
            if result.returncode:  # such as bands that a format does not hold
                c.check(f"{name}: refused", re.search("bands|gray only", result.stderr), result.stderr)
                continue
            data = open(path, "rb").read()
            os.remove(path)
            strict = c.result(words[0], "in.tif", path, *words[1:], "--strict")
            c.check(f"{name}: --strict is an error if there is a warning", bool(result.stderr) == (strict.returncode != 0),
                    f"{result.stderr} {strict.stderr}")
            for tag, kind, given, word in tags:
                held = holds(data, output, tag, kind, given)
                named = strict.returncode and re.search(rf"(?:{word})(?!\d)| \d+ more|bad tag", strict.stderr)
                c.check(f"{name}: tag {tag} is held or named", held or named, strict.stderr)


for i in range(int(os.environ.get("TAGS", "12"))):
    test(i)
c.end()
