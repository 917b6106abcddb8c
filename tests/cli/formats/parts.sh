#!/bin/bash
# Parts of a file that are neither samples nor metadata take the same way through every kind of command: one file, a batch, a
# tar, a stream, an image of many; --strip removes them; a change of the colour space drops what describes the old one.
# Sources: imgio/parts* imgio/losses* imgio/y4m/y4m.c filters/color/color.c filters/color/channels.c
. "$(dirname "$0")/../lib.sh"
needs=python3
command -v $needs >/dev/null || { skip "no $needs"; finish; }
python3 - <<'END'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, before=b"", tail=b"", value=0):
    rows = b"".join(b"\0" + bytes((value + y * 20 + x) & 255 for x in range(12)) for y in range(3))
    open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 2, 0, 0, 0)) + before
                           + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"") + tail)
kept, lost = chunk(b"abCd", b"12345"), chunk(b"abCD", b"123")
gamma = chunk(b"gAMA", struct.pack(">I", 100000))
icc = struct.pack(">I12x4s16x4s", 132, b"RGB ", b"acsp") + bytes(92)
exif = lambda v: chunk(b"eXIf", struct.pack("<2sHIHHHIII", b"II", 42, 8, 1, 271, 2, 8, 26, 0) + b"Cam%04d\0" % v)
png("plain.png")
png("kept.png", kept)
png("lost.png", kept + lost)
png("both.png", kept + lost, b"xyz")
png("gamma.png", gamma)
png("light.png", chunk(b"cLLI", bytes(8)) + chunk(b"mDCV", bytes(24)))
png("code.png", chunk(b"cICP", bytes((9, 16, 0, 1))))
data = open("plain.png", "rb").read()
open("critical.png", "wb").write(data[:-12] + chunk(b"ABCd", b"1") + data[-12:])
png("frames.png", chunk(b"acTL", struct.pack(">II", 3, 0)))
for i in range(3):
    png(f"e{i}.png", gamma + exif(i), value=i)
    png(f"s{i}.png", gamma + exif(7), value=i)
thumb = (struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<HHHIII", 1, 271, 2, 4, 0x414141, 26)
         + struct.pack("<HHHIIHHIII", 2, 513, 4, 1, 56, 514, 4, 1, 4, 0) + b"\xff\xd8\xff\xd9")
png("thumb.png", chunk(b"eXIf", thumb))
END
named='dropped: chunk abCD (not safe to copy)'

# One file.
expect 0 gpuimg invert kept.png made.png --strict
check "a chunk that is safe to copy is in the output" grep -q abCd12345 made.png
check "and causes no warning" test ! -s err
expect 0 gpuimg invert lost.png made.png
check "a chunk that is not safe is named" test "$(<err)" = "gpuimg: warning: invert: made.png: $named"
check "and not in the output" bash -c '! grep -q abCD made.png'
rm -f made.png
expect_error 1 "invert: made.png: --strict: $named" invert lost.png made.png --strict
check "no output" test ! -e made.png
expect_error 1 "invert: made.bmp: --strict: bmp cannot hold chunk abCd; not read: 3 bytes after the end; $named" invert both.png made.bmp --strict
expect_error 1 "invert: made.png: --strict: dropped: thumbnail in EXIF (shows the old picture)" invert thumb.png made.png --strict

# info.
expect 0 gpuimg info both.png
check "info names the parts" grep -qF 'chunk abCd of 5 bytes (carried), chunk abCD of 3 bytes (dropped: not safe to copy), 3 bytes after the end (lost)' out
check "info does not warn" test ! -s err
expect 0 gpuimg info --json frames.png
check "info --json" grep -qF '"parts": [{"name": "2 frames after the first", "bytes": 0, "fate": "lost", "why": null}]' out

expect 0 gpuimg info critical.png
check "info names a critical chunk behind the pixels" grep -qF 'chunk ABCd of 1 byte (lost: an unknown critical chunk)' out
expect_error 1 "invert: critical.png: has the critical chunk ABCd, which is not supported; --allow-partial reads the image without it" \
    invert critical.png critical-made.png
expect 0 gpuimg invert critical.png critical-made.png --allow-partial
check "--allow-partial warns" grep -qF 'critical.png: has the critical chunk ABCd, which is left out' err
gpuimg invert plain.png plain-made.png
check "and reads all pixels" gpuimg compare critical-made.png plain-made.png
expect_error 1 "invert: strict.png: --strict: not read: chunk ABCd (an unknown critical chunk)" \
    invert critical.png strict.png --allow-partial --strict --quiet
check "and makes no output" test ! -e strict.png

# --strip.
expect 0 gpuimg invert both.png made.png --strip --strict
check "--strip removes all parts" bash -c '! grep -q abC made.png'
check "--strip needs no warning" test ! -s err
expect 1 gpuimg invert frames.png made.png --strip --strict
check "--strip leaves images named" grep -qF 'invert: made.png: --strict: not read: 2 frames after the first' err

# Frames that are not read: a warning of every command, an error with --strict where an image is written.
expect 0 gpuimg stats frames.png
check "stats warns" test "$(grep -c 'is an animation of 3 frames; only the first is read' err)" = 1
expect 0 gpuimg invert frames.png made.png
check "named once" test "$(grep -c . err)" = 1
expect 1 gpuimg invert frames.png frames-made.png --strict
check "an error with --strict" grep -qF 'invert: frames-made.png: --strict: not read: 2 frames after the first' err

# A batch, a tar, a pipe.
expect 1 gpuimg invert kept.png lost.png --out-dir out1 --strict
check "a batch writes the one" grep -q abCd12345 out1/kept.png
check "and not the other" test ! -e out1/lost.png
tar -cf in.tar kept.png lost.png
expect 0 gpuimg invert --tar in.tar out.tar
check "a tar" grep -qF "lost.png: $named" err
expect 1 gpuimg invert --tar in.tar out2.tar --strict
expect 0 bash -c "cat lost.png | '$GPUIMG' invert - png:- >made.png"
check "a pipe" grep -qF "standard output: $named" err
check "a pipe keeps the chunk" grep -q abCd12345 made.png
expect 0 bash -c "cat both.png | '$GPUIMG' invert - png:- >made.png"
check "bytes behind the image of a pipe are named once" test "$(grep -cE 'no image follow|after the end' err)" = 1

# Many images to one: what all share stays, the rest is named.
expect 0 gpuimg stack e0.png e1.png e2.png made.png --method mean
check "a stack keeps the gamma that all have" grep -q gAMA made.png
check "and names EXIF" grep -qF 'made.png: dropped: EXIF of 3 images' err
expect 1 gpuimg stack e0.png e1.png e2.png made.png --method mean --strict
expect 0 gpuimg stack s0.png s1.png s2.png made.png --method mean --strict
check "and keeps EXIF that all have" grep -q eXIf made.png
expect 0 gpuimg stack s0.png s1.png plain.png made.png --method mean
check "and drops what one lacks" grep -qF 'the colour (gAMA, cHRM, cICP) of 2 images' err
check "from the output too" bash -c '! grep -q gAMA made.png'
expect 0 gpuimg stack plain.png plain.png made.png --method mean --strict
expect 1 gpuimg montage e0.png frames.png made.png --strict

# Further images: other colours are named, other metadata and masks are not.
python3 - <<'END'
import struct
for name, value in (("a", 1), ("b", 2)):  # BMP of 4 x 3 pixels with a profile
    icc = struct.pack(">I12x4s16x4s", 132, b"RGB ", b"acsp") + bytes([value]) * 92
    pixels = bytes(range(36))
    head = struct.pack("<IiiHHII16x", 124, 4, 3, 1, 24, 0, 0) + bytes(16) + b"DEBM" + bytes(48)
    head += struct.pack("<IIII", 4, 124 + len(pixels), len(icc), 0)
    body = head + pixels + icc
    open(f"{name}.bmp", "wb").write(struct.pack("<2sIII", b"BM", 14 + len(body), 0, 14 + len(head)) + body)
END
gpuimg convert plain.png white.png --gray
gpuimg convert plain.png plain.bmp
for option in 'add --with' 'blend --with' 'composite --with' 'match --reference' 'flat-field --flat' 'flat-field --flat a.bmp --dark'; do
    named="dropped: the ICC profile of ${option/* /} (differs from that of the input)"
    # shellcheck disable=SC2086
    expect 0 gpuimg ${option/ / a.bmp made.png } b.bmp
    check "$option: another profile is named" grep -qF "$named" err
    # shellcheck disable=SC2086
    expect 1 gpuimg ${option/ / a.bmp made.png } b.bmp --strict
    # shellcheck disable=SC2086
    expect 0 gpuimg ${option/ / a.bmp made.png } a.bmp --strict
    # shellcheck disable=SC2086
    expect 0 gpuimg ${option/ / a.bmp made.png } plain.png --strict
    # shellcheck disable=SC2086
    expect 0 gpuimg ${option/ / a.bmp made.png } b.bmp --strict --strip
done
expect 1 gpuimg run 'invert | add --with gamma.png' plain.png made.png --strict
check "a chain names colour chunks" grep -qF 'the colour (gAMA, cHRM, cICP) of --with (differs' err
python3 -c 'import zlib; b = open("plain.png", "rb").read(); c = b"sRGB\0"
open("srgb.png", "wb").write(b[:33] + bytes(3) + b"\1" + c + zlib.crc32(c).to_bytes(4, "big") + b[33:])'
expect 0 gpuimg add plain.png made.png --with srgb.png --strict
expect 0 gpuimg add gamma.png made.png --with srgb.png
check "sRGB beside another gamma is named" grep -qF 'the colour (gAMA, cHRM, cICP) of --with (differs' err
expect 1 gpuimg add plain.png made.png --with frames.png --strict
check "--strict: parts of a further image that are not read" grep -qF -- '--with: frames.png: --strict: not read: 2 frames after the first' err
{ cat plain.png; head -c 100 /dev/zero; cat plain.png; } >padded.png
expect 0 gpuimg add plain.png made.png --with padded.png
check "bytes behind a further image" grep -qxE 'gpuimg: warning: add: padded.png: not read: [0-9]+ bytes after the end' err
rm -f made.png
expect_error 1 'add: --with: padded.png: --strict: not read: *' add plain.png made.png --with padded.png --strict
expect 0 gpuimg add plain.png made.png --with both.png --strict --strip
expect 0 gpuimg mask plain.png made.png --with white.png --strict
expect 0 gpuimg channels join a.bmp b.bmp made.png --order r2g2b
check "channels join names another profile" grep -qF 'dropped: the ICC profile of 2 images' err
check "and drops it" bash -c '! grep -q iCCP made.png'
expect 1 gpuimg channels join plain.png e0.png made.png --order r2g2b --strict
check "channels join names EXIF" grep -qF 'EXIF of 1 image' err
expect 0 gpuimg channels join a.bmp a.bmp made.png --order r2g2b --strict
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n1,0,0,4,3\n2,0,0,4,3\n' >crops.csv
for second in a plain; do
    rm -rf crops
    mkdir crops
    cp a.bmp crops/region-000001.bmp
    cp $second.bmp crops/region-000002.bmp
    expect 0 gpuimg paste a.bmp made.png --crops crops --table crops.csv --crop-format bmp --strict
    expect 1 gpuimg paste b.bmp made.png --crops crops --table crops.csv --crop-format bmp --strict
done
cp b.bmp crops/region-000002.bmp
expect 0 gpuimg paste a.bmp made.png --crops crops --table crops.csv --crop-format bmp
check "paste names the profile of a later crop" grep -qF 'the ICC profile of --crops (differs' err

# Videos: parameters of the header that frames lose, and images whose parts a video loses.
printf 'YUV4MPEG2 W4 H2 F25:1 It A4:3 Cmono XABC=1\nFRAME Itpp XDEF=2\n12345678FRAME\n12345678' >v.y4m
expect 0 gpuimg info v.y4m
check "info of a video" grep -qF 'resolution 3 x 4 without a unit, parameter F25:1 of 5 bytes (lost), parameter It of 2 bytes (lost), parameter XABC=1 of 6 bytes (lost)' out
expect 0 gpuimg invert v.y4m made.y4m --strict
check "a video keeps its header" grep -qaF 'F25:1 It A4:3 Cmono XABC=1' made.y4m
check "and the lines of its frames" grep -qaF 'FRAME Itpp XDEF=2' made.y4m
expect 0 gpuimg color v.y4m made.y4m --saturation 1 --strict
check "also as RGB" grep -qaF 'FRAME Itpp XDEF=2' made.y4m
expect 0 gpuimg invert v.y4m 'v-{index}.png'
check "frames lose parameters" grep -qF \
    'v-1.png: not read: parameter F25:1, parameter It, parameter XABC=1, parameter Itpp of a frame, parameter XDEF=2 of a frame' err
for format in tif webp jpg bmp pgm npy; do
    expect 1 gpuimg invert v.y4m "u-{index}.$format" --strict
    check "$format: named" grep -qF 'parameter F25:1, parameter It, parameter XABC=1' err
done
printf 'YUV4MPEG2 W4 H2 F0:0 Ip A1:1 Cmono\nFRAME\n12345678' >still.y4m
expect 0 gpuimg invert still.y4m 'still-{index}.png' --strict
check "frames keep the aspect ratio" grep -qF '3 x 4 without a unit' <(gpuimg info v-1.png)
expect 1 gpuimg invert v.y4m 'w-{index}.png' --strict
expect 0 gpuimg pages kept.png kept.png --out made.y4m
check "a video of images" grep -qF 'y4m cannot hold chunk abCd' err
expect 1 gpuimg pages kept.png kept.png --out made2.y4m --strict
expect 0 gpuimg pages plain.png plain.png --out made3.y4m --strict

# A profile of RGB does not fit a gray image.
gpuimg convert plain.png plain.jpg
python3 -c 'import struct; d = open("plain.jpg", "rb").read()
icc = struct.pack(">I12x4s16x4s", 132, b"RGB ", b"acsp") + bytes(92)
open("icc.jpg", "wb").write(d[:2] + b"\xff\xe2" + struct.pack(">H", 16 + len(icc)) + b"ICC_PROFILE\0\1\1" + icc + d[2:])'
expect 0 gpuimg convert icc.jpg made.tif --strict
check "an RGB image keeps its profile" grep -q acsp made.tif
expect 0 gpuimg convert icc.jpg made.tif --gray
check "--gray names the profile that it drops" grep -qF 'dropped: the ICC profile (samples are of another colour model)' err
check "and it is gone" bash -c '! grep -q acsp made.tif'
expect 1 gpuimg convert icc.jpg made.tif --gray --strict

# The range of light and a code of colours, where no profile tells them.
for format in tif jpg webp bmp npy pam; do
    expect 0 gpuimg invert light.png made.$format
    check "$format: the range of light is named" grep -qF 'cannot hold the range of its light (mDCV, cLLI)' err
    expect 1 gpuimg invert light.png made.$format --strict
    expect 1 gpuimg invert code.png made.$format --strict
done
expect 0 gpuimg invert light.png made.png --strict
check "png holds the range of light" test "$(grep -acE 'cLLI|mDCV' made.png)" -ge 1

# Colour spaces.
for chain in 'color --to lab' 'color --from ycbcr' 'color --pca' 'channels --order bgr' 'invert | color --to hsv'; do
    expect 0 gpuimg run "$chain" gamma.png made.png
    check "$chain: no gamma" bash -c '! grep -q gAMA made.png'
    check "$chain: named" grep -qF 'dropped: chunk gAMA (samples are in another colour space)' err
done
for chain in 'color --saturation 2' 'channels --order rgb' 'channels --order cz' invert; do
    expect 0 gpuimg run "$chain" gamma.png made.png --strict
    check "$chain: the gamma stays" grep -q gAMA made.png
done
finish
