"""The gain map of an HDR photograph stays beside its JPEG while it fits the picture, and is named where it is dropped. Files are
composed here (CIPA DC-007, Ultra HDR image format 1.1, ISO 21496-1); Pillow's reader of multi-picture files reads the results.

Sources: imgio/jpeg/gain_map* imgio/jpeg/jpeg_segments* imgio/jpeg/lossless* imgio/metadata/xmp*
"""
import io
import os
import re
import shutil
import struct
import subprocess

from _common import Checks, need, np

(MpoImagePlugin, Image) = need("PIL.MpoImagePlugin", "PIL.Image")

c = Checks()
check = c.check
os.chdir(c.folder.name)

XMP = b"http://ns.adobe.com/xap/1.0/\0"
ISO = b"urn:iso:std:iso:ts:21496:-1\0"
NAMED = "gain map"


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(w, h, channels, *segments):
    """A JPEG by Pillow with segments after its first one."""
    shape = (h, w) if channels == 1 else (h, w, channels)
    y = np.add.outer(np.arange(h) * 3, np.arange(w) * 2) % 256
    pixels = np.broadcast_to(y if channels == 1 else y[:, :, None], shape).astype(np.uint8)
    made = io.BytesIO()
    Image.fromarray(pixels).save(made, "JPEG", quality=85)
    data = made.getvalue()
    return data[:20] + b"".join(segments) + data[20:]


def map_xmp():
    return segment(0xE1, XMP + b'<x:xmpmeta><rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" '
                   b'hdrgm:Version="1.0" hdrgm:GainMapMax="2.3"/></x:xmpmeta>')


def container(length, form="attributes"):
    """XMP of a picture that lists the picture and its map."""
    item = (b'<Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="%d"/>' % length if form == "attributes"
            else b"<Container:Item rdf:parseType='Resource'><Item:Length>%d</Item:Length><Item:Semantic>GainMap</Item:Semantic>"
            b"</Container:Item>" % length)
    return segment(0xE1, XMP + b'<x:xmpmeta><rdf:Description hdrgm:Version="1.0"><Container:Directory><rdf:Seq>'
                   b'<rdf:li><Container:Item Item:Semantic="Primary" Item:Length="0"/></rdf:li><rdf:li>' + item
                   + b'</rdf:li><rdf:li><Container:Item Item:Semantic="Other" Item:Length="77"/></rdf:li>'
                   b"</rdf:Seq></Container:Directory></rdf:Description></x:xmpmeta>")


def index(sizes, order=">", attributes=0, patch=None):
    """The data of an MPF segment for images of these (offset, size); patch changes the block."""
    n = len(sizes)
    head = b"MM\0*" if order == ">" else b"II*\0"
    block = bytearray(head + struct.pack(order + "IH", 8, 3))
    block += struct.pack(order + "HHI4s", 0xB000, 7, 4, b"0100") + struct.pack(order + "HHII", 0xB001, 4, 1, n)
    block += struct.pack(order + "HHIII", 0xB002, 7, 16 * n, 50, 0)
    for i, (at, size) in enumerate(sizes):
        block += struct.pack(order + "IIIHH", 0x30000 if i == 0 else attributes, size, at, 0, 0)
    if patch:
        patch(block)
    return b"MPF\0" + bytes(block)


def compose(picture, *others, order=">", attributes=0, patch=None, error=(0, 0), place=20):
    """A file of a picture and further images, with an index. `error` is added to offset and size of the second image."""
    n = len(index([(0, 0)] * (1 + len(others)))) + 4
    tiff = place + 8  # offset of the TIFF block in the file
    at, sizes = len(picture) + n, [(0, len(picture) + n)]
    for i, other in enumerate(others):
        sizes.append((at - tiff + (error[0] if i == 0 else 0), len(other) + (error[1] if i == 0 else 0)))
        at += len(other)
    made = segment(0xE2, index(sizes, order, attributes, patch))
    assert len(made) == n
    return picture[:place] + made + picture[place:] + b"".join(others)


def segments(data):
    at, found = 2, []
    while data[at + 1] != 0xDA:
        n, = struct.unpack(">H", data[at + 2:at + 4])
        found.append((data[at + 1], data[at + 4:at + 2 + n], at))
        at += 2 + n
    return found


def read_index(data):
    """[(offset in the file, size)] of the images that the index names, by this parser alone."""
    (body, at), = [(b, at) for m, b, at in segments(data) if m == 0xE2 and b.startswith(b"MPF\0")]
    order, block = (">" if body[4:6] == b"MM" else "<"), body[4:]
    first, = struct.unpack_from(order + "I", block, 4)
    count, = struct.unpack_from(order + "H", block, first)
    tags = {}
    for i in range(count):
        tag, kind, n = struct.unpack_from(order + "HHI", block, first + 2 + 12 * i)
        tags[tag] = kind, n, block[first + 10 + 12 * i:first + 14 + 12 * i]
    assert tags[0xB000] == (7, 4, b"0100") and tags[0xB001][:2] == (4, 1)
    n, = struct.unpack(order + "I", tags[0xB001][2])
    entries, = struct.unpack(order + "I", tags[0xB002][2])
    assert tags[0xB002][:2] == (7, 16 * n)
    found = []
    for i in range(n):
        _, size, offset = struct.unpack_from(order + "III", block, entries + 16 * i)
        found.append((offset + at + 8 if i else 0, size))
    return found


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def run(*args):
    """The status and the warnings of a command whose last operand, out.jpg, is written anew."""
    if os.path.exists("out.jpg"):
        os.remove("out.jpg")
    result = c.result(*args)
    return result.returncode, result.stderr


def is_kept(what, gain, picture_size=None):
    """Checks that out.jpg has the map, byte for byte, where the index says, for this parser and Pillow's."""
    data = read("out.jpg")
    check(f"{what}: ends in the map", data.endswith(gain))
    try:
        images = read_index(data)
    except (ValueError, AssertionError) as e:
        check(f"{what}: index", False, e)
        return
    check(f"{what}: places {images}", images == [(0, len(data) - len(gain)), (len(data) - len(gain), len(gain))])
    with MpoImagePlugin.MpoImageFile("out.jpg") as mpo:
        entries = mpo.mpinfo[0xB002]
        check(f"{what}: Pillow counts", mpo.n_frames == 2 and mpo.mpinfo[0xB001] == 2)
        if picture_size:
            check(f"{what}: size {mpo.size}", mpo.size == picture_size)
        mpo.seek(1)
        check(f"{what}: Pillow's bytes", data[mpo.offset:mpo.offset + entries[1]["Size"]] == gain)


def is_dropped(what, *args, named=NAMED):
    """Checks that a command drops the map by name, leaves no index, and is refused by --strict."""
    status, said = run(*args, "out.jpg")
    check(f"{what}: {said}", status == 0 and named in said)
    if status == 0:
        data = read("out.jpg")
        check(f"{what}: nothing is left", not any(b.startswith((b"MPF\0", ISO)) for m, b, _ in segments(data) if m == 0xE2)
              and data.count(b"\xff\xd8\xff") == 1)
    check(f"{what}: --strict", run(*args, "out.jpg", "--strict")[0] == 1)


GAIN = jpeg(21, 15, 1, map_xmp())
PICTURE = jpeg(84, 60, 3, container(len(GAIN)))
PHOTO = compose(PICTURE, GAIN)
ISO_GAIN = jpeg(42, 30, 3, segment(0xE2, ISO + bytes(70)))
ISO_PHOTO = compose(jpeg(84, 60, 3, segment(0xE2, ISO + bytes(4))), ISO_GAIN, order="<")
APPLE_GAIN = jpeg(42, 30, 1, segment(0xE1, XMP + b"<apdi:AuxiliaryImageType>urn:com:apple:photo:2020:aux:hdrgainmap</a>"))


def kept():
    write("in.jpg", PHOTO)
    for args, size in ((("convert", "in.jpg", "out.jpg"), (84, 60)), (("convert", "in.jpg", "out.jpg", "--quality", "40"), (84, 60)),
                       (("convert", "in.jpg", "out.jpg", "--progressive"), (84, 60)),
                       (("convert", "in.jpg", "out.jpg", "--dpi", "300"), (84, 60)),
                       (("convert", "in.jpg", "out.jpg", "--linear"), (84, 60)),
                       (("convert", "in.jpg", "out.jpg", "--target-ssim", "0.9"), (84, 60)),
                       (("resize", "in.jpg", "out.jpg", "--size", "50%"), (42, 30)),
                       (("resize", "in.jpg", "out.jpg", "--size", "200%"), (168, 120)),
                       (("resize", "in.jpg", "out.jpg", "--size", "9x40", "--stretch"), None),
                       (("resize", "in.jpg", "out.jpg", "--size", "10", "--fast"), None),
                       (("resize", "in.jpg", "out.jpg", "--size", "31"), None),
                       (("run", "resize --size 40 | stats | resize --size 33", "in.jpg", "out.jpg"), None),
                       (("rotate", "in.jpg", "out.jpg", "--angle", "0"), (84, 60))):
        what = " ".join(args)
        status, said = run(*args, "--strict")
        check(f"{what}: {said}", status == 0)
        if status == 0:
            is_kept(what, GAIN, size)
    c.run("resize", "in.jpg", "--sizes", "40,20", "--out", "{stem}-{width}.jpg", "--strict")
    for width, height in ((40, 29), (20, 14)):
        shutil.move(f"in-{width}.jpg", "out.jpg")
        is_kept(f"--sizes {width}", GAIN, (width, height))
    with_map = c.run("convert", "in.jpg", "jpg:-")
    check("standard output has the same bytes", run("convert", "in.jpg", "out.jpg")[0] == 0 and read("out.jpg") == with_map)
    piped = subprocess.run([c.program, "convert", "-", "jpg:-", "--strict"], input=PHOTO, capture_output=True)
    check(f"a pipe: {piped.stderr}", piped.stdout == with_map)
    os.environ["GPUIMG_WAY"] = "jpeg_decode:sequential,jpeg_encode:blocks"  # the ways of a device, on the CPU
    status, said = run("resize", "in.jpg", "out.jpg", "--size", "40", "--strict")
    del os.environ["GPUIMG_WAY"]
    check(f"coded: {said}", status == 0)
    is_kept("coded", GAIN)
    search = "convert", "in.jpg", "out.jpg", "--target-ssimulacra2", "70", "--strict"
    on_cpu = run(*search), read("out.jpg")
    os.environ["GPUIMG_WAY"] = "jpeg_encode:blocks"
    check("searched on a device", (run(*search), read("out.jpg")) == on_cpu)
    check("searched there", "jpeg_encode blocks" in run(*search, "-v")[1])
    del os.environ["GPUIMG_WAY"]
    is_kept("searched on a device", GAIN, (84, 60))
    status, said = run("convert", "in.jpg", "out.jpg", "--max-file-size", str(len(GAIN)))
    check(f"a limit below the map: {said}", status == 1 and f"{len(GAIN)} of them of its gain map, over the limit of {len(GAIN)} " in said)
    limit = len(GAIN) + 2500
    status, said = run("convert", "in.jpg", "out.jpg", "--max-file-size", str(limit))
    check(f"--max-file-size {said}", status == 0 and os.path.getsize("out.jpg") <= limit)
    is_kept("--max-file-size", GAIN)
    for again in range(2):
        shutil.copy("out.jpg", "in.jpg")
        check("written again", run("convert", "in.jpg", "out.jpg", "--strict")[0] == 0)
    is_kept("written again", GAIN)
    text = c.result("info", "in.jpg").stdout
    check(f"info: {text}", f"gain map of {len(GAIN)} bytes (carried)" in text)


def other_forms():
    for what, photo, gain in (("ISO 21496-1", ISO_PHOTO, ISO_GAIN), ("Apple", compose(jpeg(84, 60, 3), APPLE_GAIN), APPLE_GAIN),
                              ("gray", compose(jpeg(84, 60, 1), GAIN), GAIN),
                              ("attributes", compose(PICTURE, GAIN, attributes=0x50000), GAIN),
                              ("zeros", compose(PICTURE, GAIN + bytes(9)), GAIN + bytes(9)),
                              ("a place before the scan", compose(PICTURE, GAIN, place=PICTURE.index(b"\xff\xda")), GAIN)):
        write("in.jpg", photo)
        status, said = run("resize", "in.jpg", "out.jpg", "--size", "40", "--strict")
        check(f"{what}: {said}", status == 0)
        if status == 0:
            is_kept(what, gain)
    write("in.jpg", ISO_PHOTO)
    run("convert", "in.jpg", "out.jpg")
    check("ISO 21496-1 of the picture stays", (0xE2, ISO + bytes(4)) in [s[:2] for s in segments(read("out.jpg"))])
    is_dropped("ISO 21496-1: crop", "crop", "in.jpg", "--size", "40x40", named="description of a gain map")


def lengths():
    """Item:Length of the map is that of the map, also where it was wrong, and no other length changes."""
    for form in ("attributes", "elements"):
        write("in.jpg", compose(jpeg(84, 60, 3, container(5, form)), GAIN))
        run("convert", "in.jpg", "out.jpg")
        xmp, = [b for m, b, _ in segments(read("out.jpg")) if m == 0xE1 and b.startswith(XMP)]
        found = [int(n) for n in re.findall(rb'Item:Length(?:="|>)(\d+)', xmp)]
        check(f"lengths {form}: {found}", found == [0, len(GAIN), 77])


def dropped():
    write("in.jpg", PHOTO)
    for args in (("crop", "in.jpg", "--size", "83x60", "--gravity", "northwest"), ("crop", "in.jpg", "--size", "40x40"),
                 ("rotate", "in.jpg", "--angle", "3"), ("pad", "in.jpg", "--size", "100x100"),
                 ("resize", "in.jpg", "--size", "40x40", "--fill"), ("resize", "in.jpg", "--size", "40x40", "--pad"),
                 ("shift", "in.jpg", "--offset", "1,0"), ("gaussian", "in.jpg", "--sigma", "1"), ("invert", "in.jpg"),
                 ("gamma", "in.jpg", "--gamma", "2"), ("color", "in.jpg", "--saturation", "0.5"), ("convert", "in.jpg", "--gray"),
                 ("convert", "in.jpg", "--profile", "srgb"), ("convert", "in.jpg[bands=3,2,1]"),
                 ("run", "resize --size 50% | sharpen --sigma 1", "in.jpg")):
        is_dropped(" ".join(args), *args)
    status, said = run("align", "in.jpg", "--reference", "in.jpg", "--aligned", "out.jpg")
    check(f"align: {said}", status == 0 and NAMED in said and b"MPF" not in read("out.jpg"))
    write("gray.jpg", compose(jpeg(84, 60, 1), GAIN))
    is_dropped("channels join", "channels", "join", "gray.jpg", "gray.jpg", "gray.jpg")
    is_dropped("draw", "draw", "in.jpg", "--line", "1,1 9,9")
    is_dropped("montage", "montage", "in.jpg", "in.jpg")
    status, said = run("convert", "in.jpg", "out.png")
    check(f"PNG: {said}", status == 0 and "png cannot hold gain map" in said and run("convert", "in.jpg", "out.png", "--strict")[0] == 1)


def oriented(orientation, gain, *more):
    tag = struct.pack(">HHIHH", 0x112, 3, 1, orientation, 0)
    return compose(jpeg(96, 64, 3, segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\1" + tag + bytes(4)), container(len(gain)), *more), gain)


# Operations, and the same by numpy, and by EXIF's orientation (EXIF 2.32, 4.6.4).
TURNS = [(("flip", "--h"), lambda a: a[:, ::-1], 2), (("flip", "--v"), lambda a: a[::-1], 4),
         (("flip", "--h", "--v"), lambda a: a[::-1, ::-1], 3), (("rotate", "--angle", "90"), np.rot90, 8),
         (("rotate", "--angle", "270"), lambda a: np.rot90(a, 3), 6), (("transpose",), lambda a: a.T, 5),
         (("transpose", "--anti"), lambda a: a[::-1, ::-1].T, 7)]


def is_turned(what, gain, turn, lossless):
    """Checks that out.jpg has the map turned: at its place, with its segments, and with these samples."""
    data = read("out.jpg")
    _, (at, size) = read_index(data)
    got = data[at:at + size]
    is_kept(what, got)
    wanted = [s[:2] for s in segments(gain) if s[0] in (0xE1, 0xE2)]
    check(f"{what}: segments", [s[:2] for s in segments(got) if s[0] in (0xE1, 0xE2)] == wanted)
    with Image.open(io.BytesIO(gain)) as before, Image.open(io.BytesIO(got)) as after:
        want, made = turn(np.asarray(before).astype(int)), np.asarray(after).astype(int)
    error = np.abs(want - made).max() if want.shape == made.shape else 999
    check(f"{what}: samples {want.shape} {made.shape}", error <= (2 if lossless else 40) and np.mean(np.abs(want - made)) < 3, error)
    xmp, = [b for m, b, _ in segments(data) if m == 0xE1 and b.startswith(XMP)]
    check(f"{what}: length", b'Item:Length="%d"' % size in xmp)


def turned():
    """A map is turned with its picture: without loss if its sides are multiples of its blocks."""
    whole, odd = (jpeg(w, h, 1, map_xmp(), segment(0xE2, ISO + bytes(70))) for w, h in ((24, 16), (21, 15)))
    for gain, lossless in ((whole, True), (odd, False)):
        write("in.jpg", oriented(1, gain, segment(0xE2, ISO + bytes(4))))
        for args, turn, orientation in TURNS:
            what = f"{' '.join(args)} {'whole' if lossless else 'odd'}"
            status, said = run(args[0], "in.jpg", "out.jpg", *args[1:], "--strict")
            check(f"{what}: {said}", status == 0)
            is_turned(what, gain, turn, lossless)
            status, said = run(args[0], "in.jpg", "out.jpg", *args[1:], "--lossless")
            blocks = lossless or args == ("transpose",)
            check(f"{what} --lossless: {said}", status == 0 and blocks != ("gain map (it can't be turned)" in said))
            if status == 0 and blocks:
                is_turned(f"{what} --lossless", gain, turn, True)
            else:
                data = read("out.jpg")
                check(f"{what} --lossless: nothing is left", b"MPF\0" not in data and ISO not in data and data.count(b"\xff\xd8\xff") == 1)
            write("in6.jpg", oriented(orientation, gain))
            status, said = run("resize", "in6.jpg", "out.jpg", "--size", "50%", "--strict")
            check(f"orientation {orientation}: {said}", status == 0)
            is_turned(f"orientation {orientation}", gain, turn, lossless)
            status, said = run("convert", "in6.jpg", "out.jpg", "--strict", "--keep-orientation")
            check(f"--keep-orientation: {said}", status == 0)
            is_kept("--keep-orientation", gain)
        status, said = run("run", "flip --h | resize --size 40 | flip --h", "in.jpg", "out.jpg", "--strict")
        check(f"there and back: {said}", status == 0)
        is_kept("there and back", gain)
        write("in6.jpg", oriented(6, gain))
        status, said = run("orient", "in6.jpg", "out.jpg", "--tag", "6", "--strict")
        check(f"orient --tag 6: {said}", status == 0)
        is_kept("orient --tag 6", gain)
        status, said = run("orient", "in6.jpg", "out.jpg", "--lossless", "--strict")
        check(f"orient --lossless: {said}", (status == 0) == lossless)
        if lossless:
            is_turned("orient --lossless", gain, lambda a: np.rot90(a, 3), True)
    is_dropped("crop --lossless", "crop", "in.jpg", "--size", "32x32+0+0", "--lossless")
    secret = jpeg(24, 16, 1, map_xmp(), segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"))
    write("in.jpg", oriented(6, secret))
    is_dropped("a map with EXIF", "convert", "in.jpg")
    write("in.jpg", oriented(6, jpeg(24, 16, 1, map_xmp()).replace(b"\xff\xdb", b"\xff\xee", 1)))  # no table
    is_dropped("a map that can't be decoded", "convert", "in.jpg")


def stripped():
    """--strip drops the map with the rest; --strip=exif and gps only one that has EXIF itself."""
    secret = jpeg(21, 15, 1, map_xmp(), segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"))
    for gain, strip, stays in ((GAIN, "all", False), (GAIN, "exif", True), (GAIN, "gps", True), (secret, "exif", False),
                               (secret, "gps", False)):
        write("in.jpg", compose(PICTURE, gain))
        status, said = run("convert", "in.jpg", "out.jpg", f"--strip={strip}", "--strict")
        data = read("out.jpg")
        check(f"--strip={strip} {said}", status == 0 and (gain in data) == stays and (b"MPF\0" in data) == stays)
    described = PICTURE[:2] + segment(0xE2, ISO + bytes(4)) + PICTURE[2:]
    for strip in ("exif", "gps"):
        write("in.jpg", compose(described, secret))
        run("convert", "in.jpg", "out.jpg", f"--strip={strip}")
        check(f"--strip={strip}: the description goes with the map", ISO not in read("out.jpg"))


def damaged():
    """An index that is cut off or wrong names no gain map: its images are dropped as further images."""
    def put(at, form, value):
        return lambda block: struct.pack_into(form, block, at, value)

    cases = [("offset behind the end", dict(error=(len(GAIN), 0))), ("offset before the end of the picture", dict(error=(-2, 0))),
             ("offset far away", dict(error=(0xF0000000, 0))), ("size over the end", dict(error=(0, 1))),
             ("huge size", dict(error=(0, 0xF0000000))), ("size too small", dict(error=(0, -1))), ("size 2", dict(error=(0, 2 - len(GAIN)))),
             ("offset within the map", dict(error=(1, -1))), ("no byte order", dict(patch=put(0, ">H", 0))),
             ("directory behind the end", dict(patch=put(4, ">I", 81))), ("directory far away", dict(patch=put(4, ">I", 0xFFFFFFFF))),
             ("no tags", dict(patch=put(8, ">H", 0))), ("many tags", dict(patch=lambda b: struct.pack_into(">HH", b, 8, 0xFFFF, 1) or
                                                                         struct.pack_into(">H", b, 34, 0xB003))),
             ("entries behind the end", dict(patch=put(42, ">I", 51))), ("entries far away", dict(patch=put(42, ">I", 0xFFFFFFFF))),
             ("many entries", dict(patch=put(38, ">I", 0xFFFFFFF0))), ("one entry", dict(patch=put(38, ">I", 16))),
             ("no entries", dict(patch=put(38, ">I", 0))), ("another type", dict(patch=put(36, ">H", 4)))]
    photos = [(what, compose(PICTURE, GAIN, **how)) for what, how in cases]
    photos.append(("a map that is cut off", PHOTO[:-30]))
    photos.append(("no map", PHOTO[:-len(GAIN)]))
    short = index([(0, 0), (0, 0)])
    photos += [(f"an index of {n} bytes", PICTURE[:20] + segment(0xE2, short[:n]) + PICTURE[20:] + GAIN) for n in (4, 5, 12, 13, 14, 50, 85)]
    for what, photo in photos:
        write("in.jpg", photo)
        is_dropped(what, "convert", "in.jpg", named="index of further images (MPF)")
    for n in range(len(PICTURE), len(PHOTO), 7):  # cuts
        write("in.jpg", PHOTO[:n])
        status, said = run("convert", "in.jpg", "out.jpg")
        check(f"cut at {n}: {said}", status in (0, 1))
    for at in range(28, 110):  # each byte of the index
        for value in (0, 0x7F, 0xFF):
            write("in.jpg", PHOTO[:at] + bytes([value]) + PHOTO[at + 1:])
            if at % 3 == value % 3:
                status, said = run("convert", "in.jpg", "out.jpg")
                check(f"byte {at} is {value}: {said}", status in (0, 1))


def other_images():
    """Stereo pairs and previews are dropped by name, beside a gain map too."""
    plain = jpeg(84, 60, 3)
    for what, photo in (("a stereo pair", compose(plain, plain, attributes=0x20002)),
                        ("a preview", compose(plain, jpeg(42, 30, 3), attributes=0x10001)),
                        ("two previews", compose(plain, jpeg(42, 30, 3), jpeg(21, 15, 3)))):
        write("in.jpg", photo)
        is_dropped(what, "convert", "in.jpg", named="index of further images (MPF)")
        status, said = run("convert", "in.jpg", "out.jpg")
        check(f"{what}: {said}", "more images" in said)
    for what, photo in (("after a preview", compose(PICTURE, plain, GAIN)), ("before a preview", compose(PICTURE, GAIN, plain)),
                        ("two maps", compose(PICTURE, GAIN, ISO_GAIN))):
        write("in.jpg", photo)
        status, said = run("convert", "in.jpg", "out.jpg")
        check(f"{what}: {said}", status == 0 and "more images" in said and NAMED not in said)
        is_kept(what, GAIN)
        check(f"{what}: --strict", run("convert", "in.jpg", "out.jpg", "--strict")[0] == 1)
    for rest, word in ((b"\0\0\0\x18ftypmp42" + b"\1" * 50, "video"), (b"SEFH" + b"\1" * 9, "13 bytes after the end")):
        write("in.jpg", PHOTO + rest)
        status, said = run("convert", "in.jpg", "out.jpg")
        check(f"{word}: {said}", status == 0 and word in said)
        is_kept(word, GAIN)
    write("in.jpg", compose(PICTURE + b"made up", GAIN, error=(0, 0)))
    status, said = run("convert", "in.jpg", "out.jpg")
    check(f"bytes before the map: {said}", status == 0 and "7 bytes after the end" in said)
    is_kept("bytes before the map", GAIN)


def exiftool():
    if not shutil.which("exiftool"):
        return c.skip("no exiftool reads the index")
    write("in.jpg", PHOTO)
    run("resize", "in.jpg", "out.jpg", "--size", "40")
    got = subprocess.run(["exiftool", "-b", "-MPImage2", "out.jpg"], capture_output=True).stdout
    return check("exiftool's second image", got == GAIN)


kept()
other_forms()
lengths()
dropped()
turned()
stripped()
damaged()
other_images()
exiftool()
c.end()
