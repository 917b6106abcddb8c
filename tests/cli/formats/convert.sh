#!/bin/bash
# convert, and its options that every operation has: --gray, --strip, --background, and pipes from - to -.
# Sources: cli/commands/convert.c imgio/save.c imgio/formats.c imgio/bits*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 9 7
printf 'P3 3 1 255  255 0 0  0 255 0  10 20 30\n' >rgb.ppm
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\x64\xc8\x00\xff\x64\xc8\x00\x00\x64\xc8\x00\x80' >alpha.pam
pixels() { # pixels FILE: its samples in decimal
    gpuimg convert "$1" pnm:- | tail -c "$2" | od -An -tu1 -v | tr -s ' \n' ' '
}

# Formats and sample depths.
expect 0 gpuimg convert in.pgm got.png
expect 0 gpuimg convert got.png back.pgm
check "conversion to PNG and back gives the same file" cmp back.pgm in.pgm
expect 0 gpuimg convert in.pgm got.png --depth 16
check "--depth" grep -q '16 bits' <(gpuimg info got.png)
expect 0 gpuimg convert in.pgm got.jpg --quality 30
for quality in 89:22,11,11 90:11,11,11; do
    expect 0 gpuimg convert rgb.ppm got.jpg --quality ${quality%:*}
    check "the sampling factors of quality ${quality%:*}" test "$(python3 -c '
data = open("got.jpg", "rb").read()
frame = data[data.index(b"\xff\xc0"):]
print(*(f"{frame[11 + 3 * i]:x}" for i in range(frame[9])), sep=",")')" = "${quality#*:}"
done
expect 2 gpuimg convert in.pgm made.xyz
expect_error 2 'convert: want INPUT OUTPUT, got in.pgm *' convert in.pgm

# Gray values computed by hand: 255 * 0.2126 = 54.2, 0.299 gives 76.2, a third gives 85.
for way in '=bt709: 54 182 19 ' ': 54 182 19 ' '=bt601: 76 150 18 ' '=mean: 85 85 20 '; do
    expect 0 gpuimg convert rgb.ppm gray.pgm "--gray${way%%:*}"
    check "--gray${way%%:*}" test "$(pixels gray.pgm 3)" = "${way#*:}"
done
expect 0 gpuimg convert rgb.ppm gray.pgm --grey
expect_error 2 'convert: --gray luma: want no, bt709, bt601 or mean' convert rgb.ppm made.pgm --gray=luma
expect_error 1 'convert: made.pgm: pgm holds gray only, and the image has colour: add --gray' convert rgb.ppm made.pgm
expect_error 1 'blur: made.pgm: pgm holds gray only, and the image has colour: add --gray' blur rgb.ppm made.pgm
expect 0 gpuimg blur rgb.ppm got.pgm --k 1 --gray
check "--gray works for an operation" cmp got.pgm gray.pgm
expect 0 gpuimg convert in.pgm got.pgm --gray
check "a gray image is unchanged by --gray" cmp got.pgm in.pgm
expect 0 gpuimg convert alpha.pam got.pam --gray
check "--gray keeps alpha" test "$(tail -c 6 got.pam | od -An -tu1 | tr -s ' ')" = " 164 255 164 0 164 128"
gpuimg histogram "$tests/../../testdata/scene.png" --luminance --format csv >want.csv
expect 0 gpuimg histogram "$tests/../../testdata/scene.png" --gray --format csv
check "--gray of BT.709 is the luma that histogram counts" cmp <(tail -n +2 out) <(tail -n +2 want.csv)
gpuimg histogram "$tests/../../testdata/scene16.png" --luminance --format csv >want.csv
expect 0 gpuimg histogram "$tests/../../testdata/scene16.png" --gray --format csv
check "--gray of 16 bits is the luma that histogram counts" cmp <(tail -n +2 out) <(tail -n +2 want.csv)
for command in extract compare; do
    check "$command has --gray" grep -q -- '--gray' <(gpuimg help $command)
done

# Alpha composited over a colour: opaque, transparent, 128 of 255.
expect 0 gpuimg convert alpha.pam got.ppm --background '#ff0080'
check "--background" test "$(pixels got.ppm 9)" = " 100 200 0 255 0 128 177 100 64 "
check "--background causes no warning" test ! -s err
expect 0 gpuimg convert alpha.pam got.png --background white
expect 0 gpuimg convert alpha.pam white.ppm --background white
expect 0 gpuimg convert alpha.pam got.ppm --background '#fff'
check "--background white equals its numbers" cmp got.ppm white.ppm
expect 0 gpuimg convert alpha.pam black.ppm --background black
expect 0 gpuimg convert alpha.pam got.ppm --background '#000000'
check "--background black equals its numbers" cmp got.ppm black.ppm
check "black and white backgrounds differ" test -n "$(cmp black.ppm white.ppm)"
{ printf 'P5\n65501 1\n255\n'; head -c 65501 /dev/zero; } >wide.pgm
expect_error 1 'convert: made.jpg: is 65501 x 1 pixels; JPEG holds at most 65500 a side' convert wide.pgm made.jpg
check "--background drops alpha" grep -q ' RGB, ' <(gpuimg info got.png)
check "--background white in PNG" test "$(pixels got.png 9)" = " 100 200 0 255 255 255 177 227 127 "
expect 0 gpuimg convert alpha.pam got.ppm
check "without --background alpha is lost with a warning" grep -q '^gpuimg: warning: convert: got.ppm: ppm cannot hold alpha' err
check "without --background alpha is composited over black" test "$(pixels got.ppm 9)" = " 100 200 0 0 0 0 50 100 0 "
expect 0 gpuimg convert alpha.pam got.pgm --gray --background '#f00'
check "--gray composites over the luma of red" test "$(pixels got.pgm 3)" = " 164 54 109 "
expect_error 2 'convert: --background 255: want a name such as white, #rgb or #rrggbb' convert alpha.pam made.ppm --background 255
expect_error 2 'convert: --background #12345: want *' convert alpha.pam made.ppm --background '#12345'

# From - to - the format is that of the input.
"$GPUIMG" blur - - <in.pgm >got 2>err
check "a pipe of PGM gives PGM" test "$(head -c 2 got)" = P5
"$GPUIMG" convert - - <alpha.pam >got 2>err
check "a pipe of PAM gives PAM" cmp got alpha.pam
"$GPUIMG" blur - - <got.png >got 2>err
check "a pipe of PNG gives PNG" grep -q ': png, ' <(gpuimg info got)
"$GPUIMG" blur - - --format pgm <in.pgm >got 2>err
check "--format changes the format of a pipe" test "$(head -c 2 got)" = P5
"$GPUIMG" run 'blur | edges' - - <in.pgm >got 2>err
check "a chain in a pipe keeps the format" test "$(head -c 2 got)" = P5
for f in in.pgm got.png; do # also if the input is a file by its name
    "$GPUIMG" blur $f - >named 2>err
    "$GPUIMG" blur - - <$f >piped 2>>err
    check "$f: from a name to - the format is that of the input" cmp named piped
done

# EXIF with GPS data: a directory to which the first one refers.
cat >exif.py <<'END'
import struct, sys, zlib
def tiff(big):
    e = ">" if big else "<"
    entry = lambda tag, kind, n, value: struct.pack(e + "HHI", tag, kind, n) + value
    short = lambda v: struct.pack(e + "HH", v, 0)
    long = lambda v: struct.pack(e + "I", v)
    first = [entry(0x0112, 3, 1, short(1)), entry(0x8825, 4, 1, long(100)), entry(0xA300, 7, 4, b"KEEP")]
    gps = [entry(1, 2, 2, b"N\0\0\0"), entry(2, 5, 3, long(200))]
    block = (b"MM\0*" if big else b"II*\0") + long(8) + struct.pack(e + "H", 3) + b"".join(first) + long(0)
    block = block.ljust(100, b"\0") + struct.pack(e + "H", 2) + b"".join(gps) + long(0)
    return block.ljust(200, b"\0") + struct.pack(e + "6I", 48, 1, 51, 1, 29, 1) + b"END"
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = open("plain.png", "rb").read()
at = png.index(b"IDAT") - 4
for name, big in (("little", 0), ("big", 1)):
    open(name + ".png", "wb").write(png[:at] + chunk(b"eXIf", tiff(big)) + png[at:])
END
gpuimg convert in.pgm plain.png
python3 exif.py
cat >read.py <<'END'
import struct, sys
png = open(sys.argv[1], "rb").read()
if b"eXIf" not in png:
    sys.exit("none")
at = png.index(b"eXIf")
block = png[at + 4:at + 4 + struct.unpack(">I", png[at - 4:at])[0]]
e = ">" if block[:2] == b"MM" else "<"
first = struct.unpack(e + "I", block[4:8])[0]
n = struct.unpack(e + "H", block[first:first + 2])[0]
tags = [struct.unpack(e + "H", block[first + 2 + 12 * i:first + 4 + 12 * i])[0] for i in range(n)]
next_one = struct.unpack(e + "I", block[first + 2 + 12 * n:first + 6 + 12 * n])[0]
print([hex(t) for t in tags], next_one, b"KEEP" in block, block.endswith(b"END"), any(block[100:224]))
END
for order in little big; do
    expect 0 gpuimg convert --force $order.png got.png
    check "$order: metadata that are kept cause no warning" test ! -s err
    check "$order: GPS data are copied" test "$(python3 read.py got.png)" = "['0x112', '0x8825', '0xa300'] 0 True True True"
    expect 0 gpuimg convert $order.png got.png --strip=gps
    check "$order: --strip=gps removes only GPS data" test "$(python3 read.py got.png)" = "['0x112', '0xa300'] 0 True True False"
    expect 0 gpuimg blur $order.png got.png --strip
    check "$order: --strip" test "$(python3 read.py got.png 2>&1)" = none
    expect 0 gpuimg convert $order.png got.png --strip=exif
    check "$order: --strip=exif" test "$(python3 read.py got.png 2>&1)" = none
done
expect 0 gpuimg convert little.png got.pgm --strip
check "stripped metadata causes no warning" test ! -s err
expect_error 2 'convert: --strip place: want no, all, exif or gps' convert little.png made.png --strip=place

# --dpi is stored, in place of the input's.
printf 'P5 2 1 255\n\007\310' >hash.pgm
for format in png jpg tif; do
    expect 0 gpuimg convert hash.pgm dpi.$format --dpi 300
    check "$format: --dpi" grep -q ', 300 x 300 dpi,' <(gpuimg info dpi.$format)
    expect 0 gpuimg convert dpi.$format again.$format --dpi 254
    check "$format: --dpi replaces a resolution" grep -q ', 254 x 254 dpi,' <(gpuimg info again.$format)
    expect 0 gpuimg convert dpi.$format again.$format --dpi 254 --strip
    check "$format: --dpi is stored without all else" grep -q ', 254 x 254 dpi,' <(gpuimg info again.$format)
done
expect 0 gpuimg convert hash.pgm again.pgm --dpi 300
check "a format without a resolution causes a warning" grep -q 'pgm cannot hold the resolution' err
if gpuimg list | grep -q 'webp  *read  write'; then
    expect 0 gpuimg convert dpi.png again.webp
    check "WebP cannot hold a resolution" grep -q 'webp cannot hold the resolution' err
fi
expect_error 2 'convert: --dpi 0: want 1 to 100000 pixels per inch' convert hash.pgm made.png --dpi 0

# info --hash: FNV-1a of "2x1x1 8-bit" and the samples, whatever the format.
for name in hash.pgm hash.png hash.tif hash.npy; do
    [[ $name == hash.pgm ]] || expect 0 gpuimg convert hash.pgm $name
    check "$name: hash" grep -q ', hash 8ebd362cc2bcb384,' <(gpuimg info --hash $name)
done
expect 0 gpuimg info --hash hash.pgm hash.png --table hashes.csv
check "hashes in a table" test "$(sed 1d hashes.csv | grep -c ',8ebd362cc2bcb384$')" = 2
check "hashes in a table: the column" grep -q ',bytes,hash$' hashes.csv
expect 0 gpuimg info --hash hash.pgm --table hashes.npy
expect 0 gpuimg info hash.pgm --json
check "without --hash there is none" test "$(grep -c '"hash"' out)" = 0
expect 0 gpuimg info --hash --json hash.pgm
check "a hash in JSON" grep -q '"hash": "8ebd362cc2bcb384"' out
head -c 12 hash.pgm >cut.pgm
expect 1 gpuimg info --hash cut.pgm

# --depth 1 (also --bits 1): masks in PNG, TIFF and PBM, which libpng and libtiff read.
for w in 1 7 8 9 17 640; do
    awk -v w=$w 'BEGIN { print "P2", w, 3, 255; srand(w); for (i = 0; i < 3 * w; i++) print rand() < 0.5 ? 0 : 255 }' >mask.pgm
    expect 0 gpuimg convert --force mask.pgm want.pgm
    for format in png tif pbm; do
        expect 0 gpuimg convert mask.pgm bit.$format --bits 1
        check "$format: 1 bit" grep -q ', 1 bit' <(gpuimg info bit.$format)
        expect 0 gpuimg convert bit.$format back.pgm
        check "$format: $w pixels of 1 bit" cmp back.pgm want.pgm
    done
done
expect 0 gpuimg convert mask.pgm bit.tif --depth 1 --dpi 254
check "1 bit with a resolution" grep -q ', 1 bit, .*254 x 254 dpi' <(gpuimg info bit.tif)
expect 0 gpuimg convert mask.pgm full.png
check "an eighth of the bits is a smaller file" test "$(stat -c %s bit.png)" -lt "$(stat -c %s full.png)"
expect 0 gpuimg convert bit.png deep.png --depth 16
expect 0 gpuimg threshold deep.png bit.png --depth 1
check "1 bit of 16" grep -q ', 1 bit' <(gpuimg info bit.png)
expect 0 gpuimg pages bit.tif bit.png --out bits.tif --depth 1
expect 0 gpuimg convert 'bits.tif[1]' back.pgm
check "pages of 1 bit" cmp back.pgm want.pgm
expect_error 1 'convert: made.jpg: --depth 1: jpeg has no samples of one bit: want png, tiff or pbm' convert mask.pgm made.jpg --depth 1
expect_error 1 'convert: made.png: --depth 1: pixel (0, 0) is 7: want an image of 0 and 255, as gpuimg threshold makes it' convert hash.pgm made.png --depth 1
expect_error 1 'channels: made.png: --depth 1: the image has 2 channels: want a gray image without alpha' channels alpha mask.pgm mask.pgm made.png --depth 1

# info names the samples of NumPy arrays.
python3 - <<'END'
for kind, nbytes in ("f2", 2), ("f8", 8), ("i8", 8), ("u2", 2), ("i2", 2):
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': (2, 3)}}".ljust(117) + "\n"
    open(f"{kind}.npy", "wb").write(b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head.encode() + bytes(6 * nbytes))
END
for case in 'f2:16 bits float, 140 B' 'f8:64 bits float, 176 B' 'i8:64 bits, integers read as float, 176 B' 'u2:16 bits, 140 B' 'i2:16 bits, integers read as float, 140 B'; do
    expect_stdout "${case%%:*}.npy: npy, 3 x 2, gray, ${case#*:}" gpuimg info "${case%%:*}.npy"
done
# Floats outside 0 to 1 become black or white in a file of integers, with a warning.
python3 - <<'END'
import struct
for name, values in ("wide", (20, 30, 40, 0.5)), ("low", (-5, -6, 0.2, 0.3)), ("over", (0.2, 0.4, 1.01, 0.9)), ("nan", (float("nan"),) * 4):
    open(name + ".pfm", "wb").write(b"Pf 4 1 -1\n" + struct.pack("<4f", *values))
END
for case in 'wide:75' 'low:50'; do
    name=${case%%:*}
    for depth in same 8 16; do
        expect 0 gpuimg convert --force $name.pfm cut.png --depth $depth
        check "$name, --depth $depth: a warning names what is cut off" grep -q "samples outside 0 to 1 (${case#*:} % are cut off: try gpuimg normalize)" err
    done
    expect 1 gpuimg convert $name.pfm strict.png --strict
    expect 0 gpuimg convert $name.pfm made.tif
    check "$name: TIFF holds it" test ! -s err
done
expect 0 gpuimg convert --force over.pfm cut.png --depth 8
check "over: no warning" test ! -s err
expect 0 gpuimg convert --force nan.pfm cut.png --depth 8
check "NaN is lost by name" grep -q 'png cannot hold NaN (becomes 0)$' err
# A few samples far outside are lights, not overshoots of a filter.
python3 -c '
import struct
open("light.pfm", "wb").write(b"Pf 200 1 -1\n" + struct.pack("<200f", 20, *[0.5] * 199))'
expect 0 gpuimg convert --force light.pfm cut.png --depth 8
check "lights are cut off by name" grep -q 'samples outside 0 to 1 (below 1 % are cut off' err
rm -f made.tif
finish
