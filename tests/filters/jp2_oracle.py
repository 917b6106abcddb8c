"""JPEG 2000 of OpenJPEG's programs and Pillow: depths, signs, tiles, chroma, palettes, alpha, profiles, metadata and lost parts.

Sources: imgio/jp2 imgio/bits*
"""
import io
import json
import os
import shutil
import struct
import subprocess

import numpy as np
from PIL import Image, ImageCms, features

from _common import Checks

c = Checks()
check = c.check
os.chdir(c.folder.name)
formats = json.loads(c.run("list", "--json"))["formats"]
if any(f["name"] == "jp2" and f["missing"] for f in formats):
    c.skip("this build or this system has no OpenJPEG")
    c.end()
if not all(map(shutil.which, ("opj_compress", "opj_decompress"))) or not features.check("jpg_2000"):
    c.skip("there is no opj_compress (libopenjp2-tools), or Pillow has no JPEG 2000")
    c.end()

W, H = 65, 38


def peer(*args):
    subprocess.run(list(map(str, args)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def draw(channels, full, h=H, w=W):
    y, x = np.mgrid[:h, :w]
    image = np.stack([(x * (3 + k) + y * (9 - 2 * k)) * full // (w * 6 + h * 9) + c.rng.integers(0, 1 + min(2, full // 30), (h, w)) for k in range(channels)], -1)
    return np.clip(image, 0, full)


def compress(planes, bits, name, *args, sign="u", sampling=None):
    """Writes planes of integers without loss. opj_compress refuses shapes whose numbers have a bit in common."""
    sampling = sampling or [(1, 1)] * len(planes)
    h, w = planes[0].shape
    open("in.raw", "wb").write(b"".join((p & (2**16 - 1)).astype("u1" if bits <= 8 else ">u2").tobytes() for p in planes))
    grid = ":".join(f"{x}x{y}" for x, y in sampling)
    peer("opj_compress", "-i", "in.raw", "-o", name, "-F", f"{w},{h},{len(planes)},{bits},{sign}@{grid}", *args)
    return open(name, "rb").read()


def ours(name, *args):
    c.run("convert", name, "ours.npy", "--force", *args)
    return np.load("ours.npy").astype(float)


def info(name):
    return json.loads(c.run("info", name, "--json"))


def parts(name):
    return {p["name"]: p["fate"] for p in info(name)["parts"]}


def worst(a, b):
    a, b = a.squeeze(), b.squeeze()
    return np.abs(a - b).max() if a.shape == b.shape else f"{a.shape} {b.shape}"


# Each depth and number of components; up to 8 bits become 8, others 16, rounded to nearest.
for bits in (1, 5, 8, 10, 12, 16):
    full, target = 2**bits - 1, 255 if bits <= 8 else 65535
    for n in (1, 2, 3, 4):
        for suffix in ("j2k", "jp2"):
            image = draw(n, full)
            compress(np.moveaxis(image, -1, 0), bits, f"a.{suffix}", *(["-t", "40,30", "-n", "3"] if bits == 8 else []))
            got = ours(f"a.{suffix}")
            check(f"{bits} bits, {n} components, {suffix}", worst(got, (image * target + full // 2) // full) == 0, worst(got, image))
            check("its type", np.load("ours.npy").dtype == ("u1" if bits <= 8 else "u2"))
image = draw(1, 4000)[..., 0] - 2000
compress([image], 12, "a.j2k", sign="s")
check("signed samples are floats", np.array_equal(ours("a.j2k"), image) and np.load("ours.npy").dtype == "f4", worst(ours("a.j2k"), image))

# Lossy, tiles at odd places, offsets, progressions, layers: our samples are those of opj_decompress.
Image.fromarray(draw(3, 255, 120, 150).astype("u1")).save("in.png")
for args in (["-r", "20"], ["-r", "20", "-I"], ["-q", "30,40", "-I"], ["-d", "7,5", "-t", "40,33", "-T", "3,2"], ["-p", "RPCL", "-n", "3", "-c", "[32,32],[16,16]"],
             ["-b", "16,16", "-M", "63"], ["-SOP", "-EPH", "-r", "10"], ["-TP", "R"]):
    peer("opj_compress", "-i", "in.png", "-o", "a.jp2", *args)
    peer("opj_decompress", "-i", "a.jp2", "-o", "peer.ppm")
    check(f"opj_compress {' '.join(args)}", worst(ours("a.jp2"), np.asarray(Image.open("peer.ppm")).astype(float)) == 0)
check("the irreversible wavelet is lossy", [peer("opj_compress", "-i", "in.png", "-o", "a.jp2", *a) or info("a.jp2").get("detail", "") for a in ([], ["-I"])] == ["", "lossy"], info("a.jp2"))


# Boxes around a codestream.
def box(kind, content):
    return struct.pack(">I", len(content) + 8) + kind + content


def jp2(codestream, n, *header, colors=struct.pack(">BBBI", 1, 0, 0, 16), front=b"", behind=b""):
    w, h = struct.unpack(">II", codestream[8:16])
    ihdr = struct.pack(">IIHBBBB", h, w, n, 7, 7, 0, 0)
    return (box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ") + box(b"jp2h", box(b"ihdr", ihdr) + box(b"colr", colors) + b"".join(header)) +
            front + box(b"jp2c", codestream) + behind)


def save(name, data):
    open(name, "wb").write(data)


# Alpha by the box cdef, also as the first channel and multiplied; channels of no meaning are lost by name.
rgba = draw(4, 255)
stream = compress([rgba[..., k] for k in (3, 2, 0, 1)], 8, "a.j2k")
save("a.jp2", jp2(stream, 4, box(b"cdef", struct.pack(">13H", 4, 0, 1, 0, 1, 0, 3, 2, 0, 1, 3, 0, 2))))
check("alpha first, colours in another order", worst(ours("a.jp2"), rgba) == 0)
save("a.jp2", jp2(stream, 4, box(b"cdef", struct.pack(">13H", 4, 0, 65535, 65535, 1, 0, 3, 2, 0, 1, 3, 0, 2))))
check("a channel without a meaning", worst(ours("a.jp2"), rgba[..., :3]) == 0 and parts("a.jp2") == {"channel 1": "lost"}, parts("a.jp2"))
rgba[..., 3] = np.maximum(rgba[..., 3], 1)
multiplied = rgba.copy()
multiplied[..., :3] = rgba[..., :3] * rgba[..., 3:] // 255
stream = compress([multiplied[..., k] for k in range(4)], 8, "a.j2k")
save("a.jp2", jp2(stream, 4, box(b"cdef", struct.pack(">13H", 4, 0, 0, 1, 1, 0, 2, 2, 0, 3, 3, 2, 0))))
want = np.minimum(multiplied[..., :3] * 255 / rgba[..., 3:], 255)
check("multiplied colours", worst(ours("a.jp2")[..., :3], want) <= 0.5, worst(ours("a.jp2")[..., :3], want))

# A palette of three columns.
index = draw(1, 9)[..., 0] % 7
table = c.rng.integers(0, 256, (7, 3))
stream = compress([index], 8, "a.j2k")
palette = box(b"pclr", struct.pack(">HB", 7, 3) + b"\7\7\7" + table.astype("u1").tobytes())
mapping = box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, k) for k in range(3)))
save("a.jp2", jp2(stream, 1, palette, mapping))
check("a palette", worst(ours("a.jp2"), table[index]) == 0)
peer("opj_decompress", "-i", "a.jp2", "-o", "peer.ppm")
theirs = np.asarray(Image.open("peer.ppm")).astype(float)
check("opj_decompress reads the palette", worst(theirs, table[index]) == 0, worst(theirs, table[index]))
deep = box(b"pclr", struct.pack(">HB", 7, 3) + b"\x0b\7\x0f" + b"".join(struct.pack(">HBH", a * 16, b, a * 257) for a, b, _ in table))
save("a.jp2", jp2(stream, 1, deep, mapping))
want = np.stack([(table[:, 0] * 16 * 65535 + 2047) // 4095, table[:, 1] * 257, table[:, 0] * 257], -1)
check("a palette of 12, 8 and 16 bits", worst(ours("a.jp2"), want[index]) == 0, worst(ours("a.jp2"), want[index]))

# sYCC, whole and with smaller chroma; opj_decompress truncates, so that it may differ by 1.
ycc = [p[..., 0] for p in (draw(1, 255, H, 64), 255 - draw(1, 255, H, 64), draw(1, 255, H, 64))]  # an even width, as opj_compress wants
for sampling in ([(1, 1)] * 3, [(1, 1), (2, 1), (2, 1)], [(1, 1), (2, 2), (2, 2)]):
    planes = [p[::dy, ::dx] for p, (dx, dy) in zip(ycc, sampling)]
    stream = compress(planes, 8, "a.j2k", sampling=sampling)
    save("a.jp2", jp2(stream, 3, colors=struct.pack(">BBBI", 1, 0, 0, 18)))
    peer("opj_decompress", "-i", "a.jp2", "-o", "peer.ppm")
    theirs = np.asarray(Image.open("peer.ppm")).astype(float)
    check(f"sYCC {sampling}", worst(ours("a.jp2"), theirs) <= 2, worst(ours("a.jp2"), theirs))
    up = [np.repeat(np.repeat(p, dy, 0), dx, 1).astype(float) for p, (dx, dy) in zip(planes, sampling)]
    exact = np.stack([up[0] + 1.402 * (up[2] - 128), up[0] - 0.344136 * (up[1] - 128) - 0.714136 * (up[2] - 128), up[0] + 1.772 * (up[1] - 128)], -1)
    off = worst(ours("a.jp2"), np.clip(exact, 0, 255))
    check("and exactly", off <= 0.501, off)
    if sampling[1] != (1, 1):
        check("a bare codestream with smaller chroma", worst(ours("a.j2k"), np.clip(exact, 0, 255)) <= 0.501)

# Profile, resolution, EXIF and XMP; other parts are named.
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
exif = Image.Exif()
exif[0x010F] = "maker"
xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
stream = compress([rgba[..., k] for k in range(3)], 8, "a.j2k", "-C", "a comment")
res = box(b"res ", box(b"resc", struct.pack(">HHHHbb", 1181, 10, 1181, 1, 2, 1)))
extra = box(b"uuid", b"JpgTiffExif->JP2" + exif.tobytes()[6:]) + box(b"uuid", bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + xmp) + box(b"xml ", b"<a/>")
save("a.jp2", jp2(stream, 3, res, colors=b"\2\0\0" + profile, front=extra, behind=box(b"jp2c", stream)))
c.run("convert", "a.jp2", "a.png", "--force")
png = Image.open("a.png")
check("profile", png.info.get("icc_profile") == profile)
check("EXIF", png.getexif().get(0x010F) == "maker")
check("XMP", xmp.decode() in str(png.info))
check("a comment", png.info.get("Comment") == "a comment", png.info.keys())
check("resolution as Pillow has it", np.allclose(png.info["dpi"], Image.open("a.jp2").info["dpi"], atol=0.02), (png.info.get("dpi"), Image.open("a.jp2").info.get("dpi")))
check("lost parts", {k for k, fate in parts("a.jp2").items() if fate == "lost"} == {"box xml ", "1 frame after the first"}, parts("a.jp2"))

# What Pillow writes.
for mode, n in (("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4)):
    image = draw(n, 255)
    Image.fromarray(image.astype("u1").squeeze(), mode).save("p.jp2")
    check(f"Pillow's {mode}", worst(ours("p.jp2"), image) == 0)
Image.fromarray(draw(1, 65535)[..., 0].astype("u2")).save("p.jp2")
check("Pillow's 16 bits", worst(ours("p.jp2"), np.asarray(Image.open("p.jp2")).astype(float)) == 0)

# Refused, and damaged.
stream = compress([rgba[..., 0]] * 5, 8, "five.j2k")
for name, data, words in (("five.j2k", stream, "want 1 to 4"), ("lab.jp2", jp2(open("a.j2k", "rb").read(), 3, colors=struct.pack(">BBBI", 1, 0, 0, 14)), "colour space 14"),
                          ("part.j2k", open("a.j2k", "rb").read()[:900], "ends early")):
    save(name, data)
    p = c.result("convert", name, "out.png", "--force")
    check(words, p.returncode == 1 and words in p.stderr, p.stderr)
p = c.result("convert", "part.j2k", "out.png", "--force", "--allow-partial")
check("a part of an image", p.returncode == 0 and Image.open("out.png").size == (W, H), p.stderr)
c.end()
