#!/bin/bash
# --profile, --intent, --no-black-point and --assign: the pixels of Pillow's ImageCms and of the definitions, refused profiles.
# Sources: imgio/metadata/icc_convert imgio/metadata/icc_matrix imgio/metadata/color_space imgio/metadata/lcms imgio/metadata/icc imgio/save.c
. "$(dirname "$0")/../lib.sh"
if ! /usr/bin/python3 -c 'from PIL import ImageCms; import numpy' 2>/dev/null; then
    skip "no Pillow with ImageCms to compare with"
    finish
    exit
fi
cat >oracle.py <<'END'
"""Makes the inputs; or compares: 8 FROM TO INTENT FLAGS by ImageCms, 16 FROM TO by the definition of Display P3 and sRGB."""
import io, struct, sys, zlib
import numpy as np
from PIL import Image, ImageCms

NOOPTIMIZE, NOCACHE, BLACK_POINT = 0x100, 0x40, 0x2000


def profile(image):
    return ImageCms.ImageCmsProfile(io.BytesIO(image.info["icc_profile"]))


def compare8(a, b, intent, flags):
    source, target = Image.open(a), Image.open(b)
    modes = {"RGBA": "RGB", "LA": "L"}
    mode = [modes.get(i.mode, i.mode) for i in (source, target)]
    transform = ImageCms.buildTransform(profile(source), profile(target), *mode, int(intent), int(flags) | NOOPTIMIZE | NOCACHE)
    want = np.asarray(ImageCms.applyTransform(source.convert(mode[0]), transform))
    assert (np.asarray(target.convert(mode[1])) == want).all(), "pixels differ"
    if source.mode != mode[0]:
        assert (np.asarray(source)[..., -1] == np.asarray(target)[..., -1]).all(), "alpha differs"


def matrix(primaries):
    """RGB to XYZ, for D65 (Lindbloom, RGB/XYZ matrices)."""
    xyz = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    white = np.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
    return xyz * np.linalg.solve(xyz, white)


def to_srgb(v, power):
    light = v**power if power else np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    p3 = matrix([(0.68, 0.32), (0.265, 0.69), (0.15, 0.06)])
    srgb = matrix([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)])
    out = np.clip(light @ (np.linalg.inv(srgb) @ p3).T, 0, 1)
    return np.where(out <= 0.0031308, out * 12.92, 1.055 * out ** (1 / 2.4) - 0.055)


def make():
    rng = np.random.default_rng(5)
    # Large enough for the table of colours, with colours that repeat and some that share a place.
    rgb = np.tile(rng.integers(0, 256, (132, 260, 4)), (1, 2, 1)).astype(np.uint8)
    Image.fromarray(rgb[..., :3]).save("rgb.png")
    Image.fromarray(rgb).save("rgba.png")
    Image.fromarray(rgb[..., 0]).save("gray.png")
    # Colours of Display P3 whose sRGB is nearly halfway between two bytes, which rounding errors could change.
    colors = rng.integers(0, 256, (1500000, 3)).astype(np.uint8)
    near = np.abs(to_srgb(colors / 255, 0) * 255 % 1 - 0.5).min(1)
    Image.fromarray(colors[np.argpartition(near, 69632)[:69632]].reshape(136, 512, 3)).save("near.png")
    muted = np.clip(rng.random((37, 61, 1)) * 0.5 + rng.random((37, 61, 3)) * 0.1 + 0.2, 0, 1)
    np.save("p3_16.npy", np.rint(muted * 65535).astype(np.uint16))
    np.save("p3_f.npy", muted.astype(np.float32))


def chunk(path, name, data, to):
    """Adds a chunk behind IHDR, which ends at byte 33."""
    body = name.encode() + data
    png = open(path, "rb").read()
    open(to, "wb").write(png[:33] + struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body)) + png[33:])


def chunks():
    """P3 by its code, its primaries with a power of 1 / 0.5, and codes that are refused."""
    code = lambda *v: bytes(v)
    chunk("p3_16.png", "cICP", code(12, 13, 0, 1), "code.png")
    numbers = [0.3127, 0.3290, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06]
    chunk("p3_16.png", "cHRM", struct.pack(">8I", *(round(1e5 * v) for v in numbers)), "c.png")
    chunk("c.png", "gAMA", struct.pack(">I", 50000), "power.png")
    chunk("p3_16.png", "cICP", code(9, 16, 0, 1), "pq.png")
    chunk("p3_16.png", "cICP", code(9, 18, 0, 1), "hlg.png")
    chunk("p3_16.png", "gAMA", struct.pack(">I", 1), "steep.png")
    chunk("p3_16.png", "cHRM", bytes(32), "flat.png")


def curves():
    """Copies of p3.icc whose three curves are a table of 256 numbers that rises, or that falls at its end."""
    old = open("p3.icc", "rb").read()
    table = [round(65535 * (i / 255) ** 1.8) for i in range(256)]
    for name, values in ("table", table), ("falling", table[:250] + table[249:243:-1]):
        tags = bytearray(old[:132] + old[132 : 132 + 12 * struct.unpack_from(">I", old, 128)[0]])
        for at in range(132, len(tags), 12):
            if tags[at + 1 : at + 4] == b"TRC":
                struct.pack_into(">II", tags, at + 4, len(old), 12 + 2 * 256)
        new = bytes(tags) + old[len(tags) :] + struct.pack(">4s2I256H", b"curv", 0, 256, *values)
        open(name + ".icc", "wb").write(struct.pack(">I", len(new)) + new[4:])


if sys.argv[1] == "make":
    make()
elif sys.argv[1] == "curves":
    curves()
elif sys.argv[1] == "chunks":
    chunks()
elif sys.argv[1] == "8":
    compare8(*sys.argv[2:])
else:
    a, b = (np.load(p).astype(float) for p in sys.argv[2:4])
    power = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    full = 65535 if a.max() > 1 else 1
    error = np.abs(to_srgb(a / full, power) - b / full).max() * 65535
    assert error < 8, error
END
oracle() { check "oracle $*" /usr/bin/python3 oracle.py "$@"; }
/usr/bin/python3 oracle.py make

# Eight bits: the pixels of ImageCms, with lcms2's optimizations off.
for name in display-p3 adobe-rgb srgb; do
    expect 0 gpuimg convert rgb.png $name.png --assign $name
    expect 0 gpuimg compare rgb.png $name.png --max-diff 0
    expect 0 gpuimg convert rgba.png a_$name.png --assign $name
done
expect 0 gpuimg convert gray.png g.png --assign gray
i=0
for intent in perceptual relative saturation absolute; do
    expect 0 gpuimg convert display-p3.png o.png --profile srgb --intent $intent
    oracle 8 display-p3.png o.png $i 8192
    ((++i))
done
expect 0 gpuimg convert near.png n.png --assign display-p3
expect 0 gpuimg convert n.png o.png --profile srgb
oracle 8 n.png o.png 1 8192
expect 0 gpuimg convert adobe-rgb.png o.png --profile display-p3 --no-black-point
oracle 8 adobe-rgb.png o.png 1 0
expect 0 gpuimg convert a_adobe-rgb.png o.png --profile srgb
oracle 8 a_adobe-rgb.png o.png 1 8192
expect 0 gpuimg convert display-p3.png o.png --profile gray
oracle 8 display-p3.png o.png 1 8192
expect 0 gpuimg convert g.png o.png --profile adobe-rgb
oracle 8 g.png o.png 1 8192

# 16 bits and floats: the definitions of the colour spaces, and the profile of a file.
for type in 16 f; do
    expect 0 gpuimg convert p3_$type.npy p3.tif --assign display-p3
    expect 0 gpuimg convert p3.tif o.npy --profile srgb --quiet
    oracle 16 p3_$type.npy o.npy
done
/usr/bin/python3 -c 'from PIL import Image; open("p3.icc", "wb").write(Image.open("display-p3.png").info["icc_profile"])'
# Curves that are tables; one that falls is not converted by the tables for profiles of curves and a matrix.
/usr/bin/python3 oracle.py curves
for name in table falling; do
    expect 0 gpuimg convert rgb.png $name.png --assign $name.icc
    expect 0 gpuimg convert $name.png o.png --profile adobe-rgb
    oracle 8 $name.png o.png 1 8192
    expect 0 gpuimg convert display-p3.png o.png --profile $name.icc
    oracle 8 display-p3.png o.png 1 8192
done
expect 0 gpuimg convert adobe-rgb.png want.png --profile display-p3
expect 0 gpuimg convert adobe-rgb.png o.png --profile p3.icc
same "a profile from a file" want.png o.png

# The chunks of a PNG: their colour space is converted as that of a profile is.
expect 0 gpuimg convert p3_16.npy p3_16.png
/usr/bin/python3 oracle.py chunks
expect 0 gpuimg convert code.png o.npy --profile srgb --quiet
oracle 16 p3_16.npy o.npy
expect 0 gpuimg convert power.png o.npy --profile srgb --quiet
oracle 16 p3_16.npy o.npy 2
expect 0 gpuimg convert code.png o.png --profile display-p3
expect 0 gpuimg compare o.png p3_16.png --max-diff 0
expect 0 gpuimg convert code.png o.png --gray --profile srgb
expect_error 1 'convert: made.png: --profile: its chunk cICP names primaries 9, curve 16 (PQ), matrix 0 and range 1, which*' convert pq.png made.png --profile srgb
expect_error 1 'convert: made.png: --profile: its chunk cICP names primaries 9, curve 18 (HLG)*' convert hlg.png made.png --profile srgb
expect_error 1 'convert: made.png: --profile: its chunk gAMA has impossible values: want --assign PROFILE, too' convert steep.png made.png --profile srgb
expect_error 1 'convert: made.png: --profile: its chunk cHRM has impossible values: want --assign PROFILE, too' convert flat.png made.png --profile srgb

# Threads, an operation, a batch and a second conversion change nothing.
for threads in 1 2 5; do
    expect 0 gpuimg flip --h adobe-rgb.png t$threads.png --profile display-p3 --threads $threads
    same "threads: $threads" t1.png t$threads.png
done
expect 0 gpuimg flip --h want.png flipped.png
expect 0 gpuimg compare flipped.png t1.png --max-diff 0
expect 0 gpuimg convert adobe-rgb.png display-p3.png --profile display-p3 --out-dir many
expect 0 gpuimg compare many/adobe-rgb.png want.png --max-diff 0
expect 0 gpuimg compare many/display-p3.png display-p3.png --max-diff 0

expect 0 gpuimg convert display-p3.png adobe-rgb.png doc.tif --profile display-p3
expect 0 gpuimg compare 'doc.tif[1]' want.png --max-diff 0
gpuimg convert - - --profile display-p3 <adobe-rgb.png >piped.png
same "a pipe" piped.png want.png
# In linear light: an operation, then the conversion.
expect 0 gpuimg resize display-p3.png small.png --size 50% --linear
expect 0 gpuimg convert small.png o.png --profile srgb
expect 0 gpuimg resize display-p3.png small.png --size 50% --linear --profile srgb
expect 0 gpuimg compare o.png small.png --max-diff 0

# An image without a profile.
expect 0 gpuimg convert rgb.png o.png --profile srgb
says "sRGB needs no warning" ''
expect 0 gpuimg convert rgb.png o.png --profile display-p3
says "a missing profile is named" 'gpuimg: warning: convert: o.png: --profile: has no ICC profile, and is taken as sRGB'
/usr/bin/python3 -c 'from PIL import Image, PngImagePlugin as p; i = p.PngInfo(); i.add(b"sRGB", b"\0"); Image.open("rgb.png").save("chunk.png", pnginfo=i)'
expect 0 gpuimg convert chunk.png o2.png --profile display-p3
says "a PNG that declares sRGB needs no warning" ''
expect 0 gpuimg compare o.png o2.png --max-diff 0
expect_error 1 'convert: made.png: --strict: --profile: has no ICC profile*' convert rgb.png made.png --profile display-p3 --strict
expect_error 1 'convert: made.png: --assign display-p3: the profile is for RGB, and the image is gray' convert gray.png made.png --assign display-p3
expect_error 2 'convert: --profile oracle.py: is no ICC profile for RGB or gray: want srgb, display-p3*' convert rgb.png made.png --profile oracle.py
expect_error 1 'convert: --profile p4: No such file*' convert rgb.png made.png --profile p4
head -c 300 p3.icc >cut.icc
expect_error 1 'convert: made.png: its ICC profile or that of --profile is damaged*' convert adobe-rgb.png made.png --profile cut.icc
expect_error 2 'flip: --lossless: samples are not decoded, want no --profile*' flip --h rgb.png made.jpg --lossless --profile srgb
finish
