#!/bin/bash
# Files that are missing, damaged or too large give one line of error, exit status 1 and no output.
# Sources: imgio imgio/others.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 64 48
gpuimg blur in.pgm in.png --k 1
gpuimg blur in.pgm in.jpg --k 1

expect_error 1 'blur: nothere.png: No such file or directory' blur nothere.png made.png
expect_error 2 'blur: .: is a folder, want an image; *' blur . made.png
expect_error 1 'info: .: is a directory, want an image file' info .
# What other programs turn into images: suffix, program, bytes at the start.
while read -r suffix by bytes; do
    printf "$bytes" >other.$suffix
    head -c 600 /dev/zero | tr '\0' x >>other.$suffix
    expect_error 1 "blur: other.$suffix: is a*: *${by//+/ } *" blur other.$suffix made.png
done <<'END'
pdf pdftoppm %%PDF-1.4
ps gs %%!PS-Adobe
mp4 ffmpeg+-i+IN.mp4 \0\0\0\030ftypmp42
cr3 dcraw \0\0\0\030ftypcrx\040
mkv ffmpeg+-i+IN.mkv \032\105\337\243
avi ffmpeg+-i+IN.avi RIFF\0\1\0\0AVI\040LIST
jxr JxrDecApp II\274\001
dcm dcmj2pnm %0128dDICM
psd magick 8BPS\0\1
xcf xcf2png gimp\040xcf\040
dds magick DDS\040
qoi ffmpeg+-i+IN.qoi qoif
h5 h5py \211HDF\r\n\032\n
cur icotool \0\0\2\0\1\0\040\040\0\0\1\0\1\0\0\0\0\0\026\0\0\0
svg rsvg-convert <svg\040xmlns="x">
svgx rsvg-convert \357\273\277<?xml\040version="1.0"?>\n<!--\040a\040-->\n<svg>
cr2 dcraw II*\0\020\0\0\0CR\2\0
orf dcraw IIRO\010\0\0\0
rw2 dcraw IIU\0
raf dcraw FUJIFILMCCD-RAW
zip unzip PK\3\4
tar gpuimg+blur+--tar %0257dustar
gz gunzip \037\213
END
for case in dpx:oiiotool jp2:opj_compress j2k:opj_compress dcm:img2dcm psd:ImageMagick cur:ImageMagick svg:potrace dng:TIFF; do
    expect_error 2 "blur: made.${case%%:*}: *${case#*:}*" blur in.pgm made.${case%%:*}
done
: >empty.png
expect_error 1 'blur: empty.png: *' blur empty.png made.png
expect_error 1 'blur: *' blur - made.png # standard input is empty
echo 'no image' >text.png
expect_error 1 'blur: text.png: *' blur text.png made.png

for f in in.pgm in.png in.jpg; do
    head -c $(($(wc -c <$f) / 3)) $f >cut.${f#in.}
    expect_error 1 "blur: cut.${f#in.}: *" blur cut.${f#in.} made.pgm
    expect 0 gpuimg blur cut.${f#in.} partial.pgm --allow-partial
    check "$f cut: a warning" grep -q "^gpuimg: warning: blur: cut.${f#in.}: " err
    expect 0 gpuimg blur cut.${f#in.} partial.pgm --allow-partial -q
    check "$f cut: no warning under -q" test ! -s err
    check "$f cut: partial pixels" test -s partial.pgm
done

# If a file holds several images, the first is read, with a warning. A stream (two.jpg) is refused (tests/cli/streams/images.sh).
cat in.jpg in.jpg >two.jpg
expect_error 2 'blur: made.png: png holds one image, and more come through two.jpg: *, or the first alone, as two.jpg[[]0]' blur two.jpg made.png
{ cat in.jpg; head -c 99 /dev/zero; cat in.jpg; } >padded.jpg
cat in.pgm in.pgm >two.pgm
python3 - in.png <<'END'
import struct, sys, zlib
png = open(sys.argv[1], "rb").read()
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for name, frames in (("two.png", 2), ("still.png", 1)):
    open(name, "wb").write(png[:33] + chunk(b"acTL", struct.pack(">II", frames, 0)) + png[33:])
END
expect_error 2 'blur: made.png: png holds one image, and more come through two.pgm: *, or the first alone, as two.pgm[[]0]' blur two.pgm made.png
expect 0 gpuimg blur padded.jpg got.png --k 1
check "padded.jpg: a warning names further images" grep -qx "gpuimg: warning: blur: padded.jpg: holds more images; only the first is read" err
gpuimg blur in.jpg want.png --k 1
check "padded.jpg: the first image is read" cmp got.png want.png
expect 0 gpuimg blur two.png got.pgm --k 1
check "two.png: a warning" grep -qx 'gpuimg: warning: blur: two.png: is an animation of 2 frames; only the first is read' err
check "two.png: the first image is read" cmp got.pgm in.pgm
for f in still.png in.jpg in.png in.pgm; do
    expect 0 gpuimg blur $f got.pgm --k 1
    check "$f: no warning" test ! -s err
done

# A wrong checksum: one byte of the pixels is changed.
size=$(wc -c <in.png)
cp in.png sum.png
printf '\xff' | dd of=sum.png bs=1 seek=$((size / 2)) conv=notrunc status=none
cmp -s in.png sum.png && printf '\x00' | dd of=sum.png bs=1 seek=$((size / 2)) conv=notrunc status=none
expect_error 1 'blur: sum.png: *' blur sum.png made.png

# Sizes over the limits: the message names the option that raises the limit.
printf 'P5 100000 100000 255\n' >huge.pgm
expect_error 1 'blur: huge.pgm: *--max-pixels*' blur huge.pgm made.png
printf 'P5 60000 60000 255\n' >huge.pgm
expect_error 1 'blur: huge.pgm: *--max-bytes*' blur huge.pgm made.png --max-pixels 4G --max-bytes 1M
gpuimg threshold in.pgm flat.png --at 255 # compresses well, so that its size is only claimed
expect_error 1 'blur: flat.png: *--max-pixels*' blur flat.png made.png --max-pixels 100
expect 0 gpuimg blur flat.png small.png --max-pixels 3072 --max-bytes 10K
printf 'P5 99999999999999999999 1 255\n' >absurd.pgm
expect_error 1 'blur: absurd.pgm: *' blur absurd.pgm made.png

# What a reader leaves out of the picture is an error with --strict.
python3 - <<'END'
import struct
codes = bytes([3, 1, 0, 0, 2, 2, 0, 1])  # a run of 3 pixels in rows of 2
palette = b"".join(bytes([10 * i, 10 * i, 10 * i, 0]) for i in range(3))
head = struct.pack("<IiiHHIIiiII", 40, 2, 2, 1, 8, 1, len(codes), 0, 0, 3, 0)
body = head + palette + codes
open("wide.bmp", "wb").write(b"BM" + struct.pack("<IHHI", 14 + len(body), 0, 0, 14 + len(head + palette)) + body)
tags = [(256, 3, 1, 2), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (274, 3, 1, 9), (278, 3, 1, 1), (279, 4, 1, 2)]
open("turned.tif", "wb").write(struct.pack("<2sHI2sH", b"II", 42, 10, b"ab", len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + b"\0\0\0\0")
END
gpuimg list | grep -q "tiff .*this build has no" && rm turned.tif
python3 -c 'jpeg = open("in.jpg", "rb").read(); at = jpeg.find(b"\xff\xdb"); open("stray.jpg", "wb").write(jpeg[:at] + b"stray" + jpeg[at:])'
for f in wide.bmp turned.tif stray.jpg; do
    [[ -e $f ]] || continue
    expect 0 gpuimg convert $f got.pgm
    check "$f: a warning" grep -qE "^gpuimg: warning: convert: $f: has (runs beyond the ends of its rows|a bad tag: .*Orientation|5 stray bytes)" err
    expect 1 gpuimg convert $f made.pgm --strict
    check "$f: an error with --strict" grep -qE 'strict.*(runs beyond the ends|bad tag|5 stray bytes)' err
done

# A file name with a terminal's control sequence.
expect_error 1 'info: ?\[31m.png: No such file or directory' info $'\e[31m.png'

# Also one with a C1 control character, as a byte or in UTF-8; other letters are unchanged.
cp in.pgm $'a\x9b2J.pgm'
cp in.pgm $'b\xc2\x9b2J.pgm'
cp in.pgm $'c\xd0\x9b\xc3\xa4.pgm'
gpuimg info $'a\x9b2J.pgm' $'b\xc2\x9b2J.pgm' $'c\xd0\x9b\xc3\xa4.pgm' >out
gpuimg info $'no\x9b2J.pgm' $'no\xc2\x9b2J.pgm' 2>>out
check "no C1 control character is printed" test -z "$(sed $'s/\xd0\x9b//' out | grep -a $'\x9b')"
check "a byte 0x9b is escaped" grep -qF 'a\x9b2J.pgm: ' out
check "U+009B is escaped" grep -qF 'b\xc2\x9b2J.pgm: ' out
check "other letters are unchanged" grep -q $'^c\xd0\x9b\xc3\xa4.pgm: ' out

# Several files: each bad one is named, and the good ones are printed.
expect 1 gpuimg info in.pgm nothere.png in.png text.png
check "info prints the good files" test "$(wc -l <out)" = 2
check "info names the bad ones" test "$(grep -c '^gpuimg: info: \(nothere\|text\).png: ' err)" = 2

# Without the device, and with a device that does not exist.
expect_error 2 'blur: --device gpu: want auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all' blur in.pgm made.pgm --device gpu
expect_error 2 'blur: --device cuda:x: want auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all' blur in.pgm made.pgm --device cuda:x
expect_error 2 'blur: --device : want auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all' blur in.pgm made.pgm --device ''
GPUIMG_CPU=foo expect_error 2 'blur: GPUIMG_CPU=foo: want one of *scalar' blur in.pgm made.pgm --device cpu
GPUIMG_CPU='' expect 0 gpuimg blur in.pgm ok.pgm --device cpu
GPUIMG_DEVICE='' expect 0 gpuimg blur in.pgm ok.pgm
GPUIMG_DEVICE=foo expect_error 2 'blur: GPUIMG_DEVICE=foo: want auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all' blur in.pgm made.pgm
if gpuimg devices | grep -q '^cuda:'; then
    expect_error 1 'blur: --device cuda*' blur in.pgm made.pgm --device cuda:9999
    skip "no GPU under --device cuda: there is one here"
else
    expect_error 1 'blur: --device cuda: *' blur in.pgm made.pgm --device cuda
    GPUIMG_DEVICE=cuda expect_error 1 'blur: GPUIMG_DEVICE cuda: *' blur in.pgm made.pgm
    GPUIMG_DEVICE=cuda expect 0 gpuimg blur in.pgm ok.pgm --device cpu
    expect_error 1 'selftest: --device cuda: *' selftest --device cuda
fi

# A directory without entries, for which libtiff says that it got no memory, is damage and no failure of the machine.
printf 'II*\0\x08\0\0\0\0\0\0\0\0\0' >zero.tif
expect_error 1 'info: zero.tif: is damaged: *' info zero.tif

finish
