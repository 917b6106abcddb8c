"""JPEG XL of cjxl, and djxl's reading of ours: depth, floats, gray and alpha, orientation, profiles, metadata and lost parts.

Sources: imgio/jxl imgio/bits*
"""
import json
import os
import shutil
import struct
import subprocess
import zlib

import numpy as np
from PIL import Image, ImageCms

from _common import Checks

c = Checks()
check = c.check
os.chdir(c.folder.name)
formats = json.loads(c.run("list", "--json"))["formats"]
if any(f["name"] == "jxl" and f["missing"] for f in formats):
    c.skip("this build or this system has no libjxl")
    c.end()
if not all(map(shutil.which, ("cjxl", "djxl", "jxlinfo"))):
    c.skip("cjxl, djxl or jxlinfo is not installed (libjxl-tools)")
    c.end()

W, H = 53, 38


def peer(*args):
    subprocess.run(list(map(str, args)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def draw(channels, full):
    y, x = np.mgrid[:H, :W]
    image = np.stack([(x * (3 + k) + y * (9 - 2 * k)) * full // (W * 6 + H * 9) + c.rng.integers(0, 9, (H, W)) for k in range(channels)], -1)
    return np.clip(image, 0, full)


def ours(name, *args):
    c.run("convert", name, "ours.npy", "--force", *args)
    return np.load("ours.npy").astype(float)


def worst(a, b):
    a, b = a.squeeze(), b.squeeze()
    return np.abs(a - b).max() if a.shape == b.shape else f"{a.shape} {b.shape}"


def parts(name):
    return {p["name"]: p["fate"] for p in json.loads(c.run("info", name, "--json"))["parts"]}


# Without loss, in each depth: cjxl writes, djxl and we read; 10 and 12 bits are scaled to 16, rounded to nearest.
for bits in (5, 8, 10, 12, 16):
    full = 2**bits - 1
    for channels, magic in ((1, 5), (3, 6)):
        with open("deep.pnm", "wb") as f:
            f.write(b"P%d %d %d 65535\n" % (magic, W, H) + draw(channels, 65535).astype(">u2").tobytes())
        peer("cjxl", "-d", 0, "-e", 3, f"--override_bitdepth={bits}", "deep.pnm", "a.jxl")
        peer("djxl", "a.jxl", "peer.npy")
        stored = np.rint(np.load("peer.npy")[0].astype(float) * full).astype(int)
        target = 255 if bits <= 8 else 65535
        check(f"cjxl's {bits} bits, {channels} channels", worst(ours("a.jxl"), (stored * target + full // 2) // full) == 0)

# djxl reads what we write without loss.
for channels in (1, 2, 3, 4):
    for dtype, full in (("u1", 255), ("u2", 65535)):
        image = draw(channels, full)
        np.save("in.npy", image.astype(dtype).squeeze())
        c.run("convert", "in.npy", "a.jxl", "--force", "--quality", 100, "--strict")
        peer("djxl", "a.jxl", "peer.npy" if channels != 2 else "peer.png")
        got = np.load("peer.npy")[0] * full if channels != 2 else ours("peer.png")
        check(f"djxl reads {channels} channels of {dtype}", worst(np.rint(got), image) == 0, worst(np.rint(got), image))
floats = c.rng.normal(size=(H, W, 3)).astype("f4") * 100
np.save("in.npy", floats)
c.run("convert", "in.npy", "a.jxl", "--force", "--quality", 100, "--strict")
peer("djxl", "a.jxl", "peer.npy")
check("djxl reads floats", (np.load("peer.npy")[0] == floats).all())

# Lossy: our decoding is djxl's, and the quality rises.
Image.fromarray(draw(3, 255).astype("u1")).save("in.png")
sizes = []
for quality in (10, 50, 90):
    c.run("convert", "in.png", "a.jxl", "--force", "--quality", quality)
    sizes.append(os.path.getsize("a.jxl"))
    peer("djxl", "a.jxl", "peer.png")
    check(f"quality {quality} is decoded as by djxl", worst(ours("a.jxl"), ours("peer.png")) <= 1)
    peer("cjxl", "-q", quality, "in.png", "peer.jxl")
    check(f"quality {quality} has the size of cjxl's", abs(sizes[-1] - os.path.getsize("peer.jxl")) < 100, (sizes, os.path.getsize("peer.jxl")))
check("files grow with the quality", sizes == sorted(set(sizes)), sizes)
first = open("a.jxl", "rb").read()
c.run("convert", "in.png", "a.jxl", "--force", "--quality", 90, "--threads", 3)
check("the bytes do not depend on the threads", open("a.jxl", "rb").read() == first)

# A profile, EXIF and XMP go in and out, also compressed ones, and cjxl's orientation.
wide = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
at = wide.index(b"XYZ ", wide.index(b"gXYZ") + 200) + 8  # a primary that is not sRGB's
wide[at : at + 4] = b"\0\0\x50\0"
exif = Image.Exif()
exif[0x112] = 6
exif[0x10F] = "maker"
xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
Image.fromarray(draw(3, 255).astype("u1")).save("in.jpg", exif=exif, icc_profile=bytes(wide), quality=95)
c.run("convert", "in.jpg", "a.jxl", "--force", "--quality", 100)
check("profile and EXIF are carried", parts("a.jxl") == {"ICC profile": "carried", "EXIF": "carried"}, parts("a.jxl"))
c.run("convert", "a.jxl", "out.png", "--force")
out = Image.open("out.png")
check("the profile is the same", out.info["icc_profile"] == bytes(wide))
check("EXIF is the same", out.getexif()[0x10F] == "maker" and out.getexif().get(0x112, 1) == 1)
peer("cjxl", "in.jpg", "a.jxl")
turned = ours("in.jpg")
got = ours("a.jxl")
check("cjxl's JPEG is upright", got.shape == turned.shape and np.abs(got - turned).mean() < 1, (got.shape, turned.shape))
check("the data of the JPEG are dropped", parts("a.jxl").get("data to rebuild a JPEG") == "dropped", parts("a.jxl"))

# The colour space of cICP, or of gAMA and cHRM, is coded by numbers, as jxlinfo reads them.
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def colored(*chunks):
    """A PNG with these chunks behind its header, which ends at byte 33."""
    Image.fromarray(draw(3, 255).astype("u1")).save("in.png")
    data = open("in.png", "rb").read()
    open("in.png", "wb").write(data[:33] + b"".join(chunk(*c) for c in chunks) + data[33:])


def xy(*points):
    return b"cHRM", struct.pack(">8I", *[round(v * 100000) for v in points])


P3 = ".68, .32) green(.265, .69) blue(.15, .06"
for chunks, want in (
        ([(b"cICP", bytes((12, 13, 0, 1)))], ("D65", "P3", "sRGB transfer")),
        ([(b"cICP", bytes((9, 16, 0, 1)))], ("D65", "Rec.2100", "PQ transfer")),
        ([(b"cICP", bytes((9, 18, 0, 1)))], ("D65", "Rec.2100", "HLG transfer")),
        ([(b"cICP", bytes((11, 17, 0, 1)))], ("DCI", "P3", "DCI transfer")),
        ([(b"cICP", bytes((9, 14, 0, 1)))], ("D65", "Rec.2100", "709 transfer")),
        ([(b"cICP", bytes((5, 4, 0, 1)))], ("D65", "0.290000", "0.454545")),
        ([(b"gAMA", struct.pack(">I", 45455)), xy(.3127, .329, .64, .33, .21, .71, .15, .06)], ("D65", "0.210000", "0.454550")),
        ([(b"gAMA", struct.pack(">I", 100000)), xy(.3457, .3585, .7347, .2653, .1596, .8404, .0366, .0001)], ("0.345700", "0.734700", ""))):
    colored(*chunks)
    for quality in 100, 80:
        got = c.result("convert", "in.png", "a.jxl", "--force", "--quality", quality, "--strict")
        check(f"{chunks}: without a warning", got.returncode == 0 and got.stderr == "", got.stderr)
        told = subprocess.run(["jxlinfo", "-v", "a.jxl"], capture_output=True, text=True).stdout
        check(f"{chunks}: quality {quality} as jxlinfo reads it", all(w in told for w in want), told)
    c.run("convert", "in.png", "a.jxl", "--force", "--quality", 100)
    check(f"{chunks}: samples", worst(ours("a.jxl"), ours("in.png")) == 0)
for chunks in ([(b"cICP", bytes((9, 16, 9, 1)))], [(b"cICP", bytes((9, 16, 0, 0)))], [(b"cICP", bytes((3, 13, 0, 1)))],
               [(b"gAMA", struct.pack(">I", 220000))]):
    colored(*chunks)
    got = c.result("convert", "in.png", "a.jxl", "--force")
    check(f"{chunks}: lost by name", got.returncode == 0 and "jxl cannot hold its colour" in got.stderr, got.stderr)

# libjxl's own lines about damage appear with -v only.
for at in range(30, 200, 17):
    data = bytearray(open("a.jxl", "rb").read())
    data[at:at + 4] = b"\xff\0\xff\0"
    open("damaged.jxl", "wb").write(data)
    got = c.result("convert", "damaged.jxl", "out.png", "--force")
    check(f"damage at {at}: only our lines", all(line.startswith("gpuimg: ") for line in got.stderr.splitlines()), got.stderr)

# The luminance of white, which no other format has, is named unless it is that of all files.
Image.fromarray(draw(3, 255).astype("u1")).save("in.png")
for nits, named in ((1000, True), (255, False), (400.5, True)):
    peer("cjxl", "-d", 0, "in.png", "a.jxl", f"--intensity_target={nits}")
    name = f"luminance of white, {nits:.5g} cd/m2"
    got = c.result("convert", "a.jxl", "out.png", "--force", "--strict")
    check(name, (parts("a.jxl").get(name) == "lost") == named == (name in got.stderr) == (got.returncode == 1), got.stderr)

# An animation gives its first frame, by name.
frames = [Image.fromarray(draw(3, 255).astype("u1")) for _ in range(3)]
frames[0].save("a.png", save_all=True, append_images=frames[1:], duration=100)
peer("cjxl", "-d", 0, "a.png", "a.jxl")
said = c.result("convert", "a.jxl", "out.png", "--force")
check("frames after the first are named", b"2 frames after the first" in c.run("info", "a.jxl") and said.returncode == 0, said.stderr)
check("the first frame is read", worst(ours("out.png"), np.array(frames[0]).astype(float)) == 0)
c.end()
