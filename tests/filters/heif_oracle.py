"""HEIC and AVIF of heif-enc and avifenc: depth, range, premultiplied alpha, rotation, colour codes, metadata and lost parts.

Sources: imgio/heif imgio/bits*
"""
import json
import os
import shutil
import struct
import subprocess

import numpy as np
from PIL import Image

from _common import Checks

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lsan.supp")
os.environ["LSAN_OPTIONS"] = f"suppressions={SUPPRESSIONS}:print_suppressions=0"  # x265 leaks its parameters
c = Checks()
check = c.check
os.chdir(c.folder.name)
formats = json.loads(c.run("list", "--json"))["formats"]
if any(f["name"] == "avif" and f["missing"] for f in formats):
    c.skip("this build or this system has no libheif")
    c.end()
if not all(map(shutil.which, ("avifenc", "heif-enc"))):
    c.skip("avifenc or heif-enc is not installed (libavif-bin, libheif-examples)")
    c.end()

W, H = 53, 38


def peer(*args):
    subprocess.run(list(map(str, args)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ramp(channels, full):
    y, x = np.mgrid[:H, :W]
    image = np.stack([(x * (3 + k) + y * (9 - 2 * k)) * full // (W * 6 + H * 9) + c.rng.integers(0, 9, (H, W)) for k in range(channels)], -1)
    return np.clip(image, 0, full)


def avifenc(image, name, *args):
    Image.fromarray(image.squeeze().astype(np.uint8)).save("peer.png")
    peer("avifenc", "--jobs", 1, "--speed", 9, *args, "peer.png", name)


def ours(name, *args):
    c.run("convert", name, "ours.npy", *args)
    return np.load("ours.npy").astype(int)


def parts(name):
    return {p["name"]: p["fate"] for p in json.loads(c.run("info", name, "--json"))["parts"]}


def worst(a, b):
    return np.abs(a.squeeze() - b.squeeze()).max() if a.squeeze().shape == b.squeeze().shape else f"{a.shape} {b.shape}"


LOSSLESS = ("--lossless", "--cicp", "1/13/0")
rgb, rgba, gray = ramp(3, 255), ramp(4, 255), ramp(1, 255)
for image, name in ((rgb, "rgb"), (rgba, "rgba")):
    avifenc(image, "a.avif", *LOSSLESS)
    check(f"{name} without loss", worst(ours("a.avif"), image) == 0)

# Samples of 10 and 12 bits are scaled to 16 bits, rounded to nearest.
for bits in (10, 12):
    full = 2**bits - 1
    stored = ramp(3, full)
    open("deep.ppm", "wb").write(b"P6 %d %d %d\n" % (W, H, full) + stored.astype(">u2").tobytes())
    exact = (stored * 65535 + full // 2) // full
    for name in ("a.heic", "a.avif"):
        said = c.result("convert", "deep.ppm", name, "--quality", 100)
        if bits == 10 and name == "a.avif":
            check("10 bits in an AVIF are a named loss", "rounded to 12-bit" in said.stderr)
            continue
        check(f"{name}: {bits} bits without a warning", said.returncode == 0 and not said.stderr, said.stderr)
        check(f"{name}: {bits} bits are exact in 16", worst(ours(name), exact) == 0)

avifenc(rgb, "a.avif", "--depth", 10, "--yuv", 444, "--min", 0, "--max", 0)
info = json.loads(c.run("info", "a.avif", "--json"))
check("avifenc's 10 bits", (info["bits"], info["maxval"]) == (10, 1023), info)
check("avifenc's 10 bits in 8", worst(ours("a.avif", "--depth", 8), rgb) <= 1)

# Gray of the range of video, and colours that are multiplied by alpha.
avifenc(gray, "a.avif", "--yuv", 400, "--range", "limited", "--min", 0, "--max", 0)
got = ours("a.avif")
check("gray is read as gray", got.squeeze().ndim == 2, got.shape)
check("gray of limited range", worst(got, gray) <= 1)
rgba[..., 3] = np.maximum(rgba[..., 3], 64)
avifenc(rgba, "a.avif", "--premultiply", *LOSSLESS)
check("premultiplied alpha", worst(ours("a.avif"), rgba) <= 2, worst(ours("a.avif"), rgba))

# A rotation of the container is applied once, whatever EXIF says.
exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
open("exif", "wb").write(exif)
open("xmp", "wb").write(xmp)
for turns in (0, 1, 2, 3):
    avifenc(rgb, "a.avif", *LOSSLESS, "--irot", turns, "--exif", "exif", "--xmp", "xmp")
    check(f"{turns} quarter turns", worst(ours("a.avif"), np.rot90(rgb, turns)) == 0)
    c.run("convert", "a.avif", "strict.png", "--strict")
check("EXIF and XMP are carried", parts("a.avif") == {"EXIF": "carried", "XMP": "carried"}, parts("a.avif"))
c.run("convert", "a.avif", "a.png")
check("the orientation is reset", Image.open("a.png").getexif().get(0x112, 1) == 1)

Image.fromarray(rgb.astype(np.uint8)).save("a.jpg", exif=b"Exif\0\0" + exif)
peer("heif-enc", "a.jpg", "-o", "a.heic")
said = c.result("convert", "a.heic", "b.png", "--strict").stderr
check("an orientation that only EXIF has is named", "orientation 6 of EXIF, which HEIF ignores" in said, said)

# A kept orientation turns the samples, because readers ignore that of EXIF.
for orientation in range(2, 9):
    c.run("orient", "--tag", orientation, "a.avif", "tagged.png", "--depth", 8)
    c.run("convert", "--keep-orientation", "tagged.png", "kept.avif", "--quality", 100, "--strict")
    peer("heif-convert", "kept.avif", "kept.png")
    check(f"a kept orientation of {orientation}", worst(ours("kept.avif"), ours("tagged.png")) == 0)
    check(f"orientation {orientation}: libheif's size", Image.open("kept.png").size == ours("tagged.png").shape[1::-1])
    check(f"orientation {orientation}: EXIF is reset", b"\x01\x12\0\x03\0\0\0\x01\0\x01" in open("kept.avif", "rb").read())

# The code of a colour space becomes PNG's cICP and that of a HEIC or AVIF; other formats lose it by name.
avifenc(rgb, "a.avif", "--cicp", "9/16/9", "--range", "full")
c.run("convert", "a.avif", "a.png", "--strict")
check("cICP in PNG", b"cICP" + bytes((9, 16, 0, 1)) in open("a.png", "rb").read())
for name in ("b.avif", "b.heic"):
    c.run("convert", "a.png", name, "--strict", "--quality", 60)
    check(f"cICP in {name}", parts(name) == {"chunk cICP": "carried"}, parts(name))
    check(f"nclx in {name}", b"colrnclx" + struct.pack(">HH", 9, 16) in open(name, "rb").read())
said = c.result("convert", "a.avif", "a.jpg")
check("a JPEG loses the code", "jpeg cannot hold its colour" in said.stderr, said.stderr)

# Further images and thumbnails.
Image.fromarray(rgb.astype(np.uint8)).save("a.png")
peer("heif-enc", "-t", 20, "a.png", "-o", "thumb.heic")
check("a thumbnail is dropped by name", parts("thumb.heic") == {"thumbnail": "dropped"}, parts("thumb.heic"))
check("--strict refuses that", "thumbnail" in c.result("convert", "thumb.heic", "b.png", "--strict").stderr)
peer("heif-enc", "a.png", "a.png", "a.png", "-o", "three.heic")
said = c.result("convert", "three.heic", "b.png")
check("further images are named", said.returncode == 0 and "holds more images; only the primary one is read" in said.stderr, said.stderr)
check("--strict refuses them", "2 images beside the primary one" in c.result("convert", "three.heic", "b.png", "--strict").stderr)

# Each image by its number, as heif-convert decodes it; thumbnails and alpha are no images.
for i in range(4):
    Image.fromarray(np.roll(rgba if i == 2 else rgb, 9 * i, 1).astype(np.uint8)).save(f"in-{i}.png")
for name in "four.heic", "four.avif":
    peer("heif-enc", "-t", 16, *[f"in-{i}.png" for i in range(4)], "-o", name)
    if shutil.which("heif-convert"):
        peer("heif-convert", name, "peer-many.png")
        for i in range(4):
            want = np.asarray(Image.open(f"peer-many-{i + 1}.png")).astype(int)
            check(f"{name}[{i}] as heif-convert has it", worst(ours(f"{name}[{i}]"), want) == 0, worst(ours(f"{name}[{i}]"), want))
    c.run("convert", f"{name}[0-3]", name + "-{page}.png")
    c.run("convert", f"{name}[1-2]", name + ".tif")
    for i in (1, 2):
        check(f"{name}: page {i} in a TIFF", worst(ours(f"{name}.tif[{i - 1}]"), ours(f"{name}-{i}.png")) == 0)
    check(f"{name}[3] in a file", worst(ours(f"{name}[3]"), ours(f"{name}-3.png")) == 0)
    check(f"{name}: the primary image", worst(ours(name), ours(f"{name}[0]")) == 0)
    check(f"{name}[4] is none", "holds 4 images: want [0] to [3]" in c.result("info", f"{name}[4]").stderr)
    said = c.result("convert", name, name + "-of-{page}.png")
    check(f"{name}: left out by name", said.returncode == 0 and "holds 3 images beside the primary one, which are left out" in said.stderr, said.stderr)
    check(f"info names {name}[1]", parts(f"{name}[1]").get("thumbnail") == "dropped" and
          not any("beside" in p for p in parts(f"{name}[1]")), parts(f"{name}[1]"))
    data = open(name, "rb").read()
    for k in range(40):  # the boxes that list items
        damaged = bytearray(data)
        for at in c.rng.integers(30, 900, 3):
            damaged[at] = c.rng.choice([0, 1, 255, c.rng.integers(256)])
        open("damaged." + name[5:], "wb").write(damaged)
        got = c.result("info", "damaged." + name[5:] + "[1]")
        if got.returncode not in (0, 1):
            check(f"damage {k} of {name}", False, (got.returncode, got.stderr))

# A sequence that libheif can't read is named.
peer("avifenc", "--speed", 9, "in-0.png", "in-1.png", "-o", "sequence.avif")
check("frames of a sequence are named", "only the first is read" in c.result("convert", "sequence.avif", "b.png").stderr)
data = open("sequence.avif", "rb").read()
open("moving.avif", "wb").write(data.replace(b"meta", b"free", 1))
got = c.result("convert", "moving.avif", "moving.png")
check("a sequence alone", got.returncode == 1 and "is a sequence without a still image" in got.stderr and not os.path.exists("moving.png"), got.stderr)

# The bytes do not depend on the number of threads.
for name in ("t.heic", "t.avif"):
    made = []
    for threads in (1, 2, 7):
        c.run("resize", "a.png", name, "--size", "300x200", "--threads", threads)
        made.append(open(name, "rb").read())
    check(f"{name}: threads", made[0] == made[1] == made[2])

# Metadata that describe no image are not read by libheif: they are lost by name.
avifenc(rgb, "a.avif", *LOSSLESS, "--exif", "exif", "--xmp", "xmp")
data = open("a.avif", "rb").read()
open("loose.avif", "wb").write(data.replace(b"cdsc", b"xxxx"))
for name, loose in (("a.avif", False), ("loose.avif", True)):
    found = parts(name)
    check(f"{name}: metadata of no image", (found.get("item Exif"), found.get("item mime")) == (("lost",) * 2 if loose else (None, None)), found)
c.end()
