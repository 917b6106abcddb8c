#!/bin/bash
# A number in brackets after a TIFF's name selects one of its pages; where one image is wanted it has to be there.
# Sources: imgio/tiff imgio/selection
. "$(dirname "$0")/../lib.sh"
if gpuimg list | grep -q 'tiff .*this build has no'; then
    skip "pages: this build has no libtiff"
    finish
    exit
fi
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
# Three pages of 4 x 2 gray bytes, made by hand: page n has the value 40 n.
"$python" - <<'END'
import struct
out, n = b"", 3
for page in range(n):
    at = 8 + len(out)
    tags = [(256, 4), (257, 2), (258, 8), (259, 1), (262, 1), (273, at), (277, 1), (278, 2), (279, 8)]
    following = 0 if page == n - 1 else at + 8 + 2 + 12 * len(tags) + 4 + 8
    out += bytes([40 * page] * 8) + struct.pack("<H", len(tags))
    out += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags) + struct.pack("<I", following)
open("in.tif", "wb").write(struct.pack("<2sHI", b"II", 42, 16) + out)
END
for page in 0 1 2; do
    expect 0 gpuimg convert "in.tif[$page]" page.pgm
    check "page $page is read" test "$(tail -c 1 page.pgm | od -An -tu1 | tr -d ' ')" = $((40 * page))
    check "page $page: no warning" test ! -s err
done
expect_error 2 'compare: in.tif: holds 3 pages, and one is wanted: \[0] to \[2] after the name' compare in.tif page.pgm
expect_error 1 'subtract: --with: in.tif: holds 3 pages, and one is wanted: *' subtract page.pgm made.pgm --with in.tif
expect_error 2 'compare: in.tif\[0-1]: are several images, and one is wanted: \[0] after the name' compare 'in.tif[0-1]' page.pgm
expect_error 1 'convert: in.tif\[3]: holds 3 pages: want \[0] to \[2]' convert 'in.tif[3]' made.pgm
expect_error 1 'convert: page.pgm\[1]: holds one image: want \[0]' convert 'page.pgm[1]' made.pgm
expect_error 1 'convert: in.tif\[-1]: No such file*' convert 'in.tif[-1]' made.pgm
expect 0 gpuimg convert 'page.pgm[0]' made.pgm
rm made.pgm
gpuimg convert 'in.tif[0]' first.pgm
cp first.pgm 'odd[2]'
expect 0 gpuimg convert 'odd[2]' page.pgm
check "a file whose name ends in brackets is read" cmp page.pgm first.pgm
expect_stdout 'in.tif[1]: tiff, 4 x 2, gray, 8 bits, 3 images, 374 B' gpuimg info 'in.tif[1]'

# Ranges select what Python's slices select, in a TIFF, in images one behind the other, and in a video.
"$python" - <<'END'
images = [b"P5\n4 2\n255\n" + bytes([25 * i] * 8) for i in range(10)]
for i, image in enumerate(images):
    open(f"n{i}.pgm", "wb").write(image)
open("ten.pgm", "wb").write(b"".join(images))
open("ten.y4m", "wb").write(b"YUV4MPEG2 W4 H2 Cmono XCOLORRANGE=FULL\n" + b"".join(b"FRAME\n" + image[-8:] for image in images))
END
expect 0 gpuimg pages n?.pgm --out ten.tif
slice() { "$python" -c "print(*['s-%d-%d.pgm' % (n, 1 + i) for i, n in enumerate(list(range(10))[$1])])"; }
# range, the slice, its first number
for row in '1-8..3 1:9:3 1' '2- 2::1 2' '0-9..4 0:10:4 0' '*..3 ::3 0' '7-..2 7::2 7' '9-9..5 9:10:5 9' '4-5..9 4:6:9 4'; do
    read -r range slice first <<<"$row"
    for file in ten.tif ten.pgm ten.y4m; do
        rm -f s-*.pgm
        expect 0 gpuimg flip --horizontal -q "$file[$range]" 's-{page}-{index}.pgm'
        check "$file[$range] selects [$slice]" test "$(echo s-*.pgm)" = "$(slice "$slice" | tr ' ' '\n' | sort | xargs)"
        check "$file[$range]: its first image" cmp "s-$first-1.pgm" "n$first.pgm"
    done
done
for row in ten.tif,pages ten.pgm,pages ten.y4m,frames; do
    file=${row%,*}
    for range in 0-10..2 10- 10-..2 3-12; do
        expect_error 1 "invert: $file\\[${range}]: holds 10 ${row#*,}: want \\[0] to \\[9]" invert -q "$file[$range]" out.tif
    done
    expect 0 gpuimg invert "$file[1-8..3]" out.tif
    check "$file: a TIFF of the selected pages" test "$(gpuimg info 'out.tif[*]' | wc -l)" = 3
done
expect 0 gpuimg invert -q 'ten.y4m[1-8..3]' out.y4m
check "a video of the selected frames" test "$(grep -ac FRAME out.y4m)" = 3
expect 0 gpuimg flip --horizontal -q 'ten.y4m[6]' frame.pgm
check "one frame becomes an image" cmp frame.pgm n6.pgm
expect_error 1 'flip: n0.pgm\[0-1]: holds one page: want \[0]' flip --horizontal 'n0.pgm[0-1]' out.tif

# Integers with a sign are read as floats of the same value, and info says so.
"$python" - <<'END'
import struct
tags = [(256, 4), (257, 1), (258, 16), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 8), (339, 2)]
body = struct.pack("<4h", -32768, -1, 0, 32767) + struct.pack("<H", len(tags))
body += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags) + bytes(4)
open("signed.tif", "wb").write(struct.pack("<2sHI", b"II", 42, 16) + body)
END
expect_stdout 'signed.tif: tiff, 4 x 1, gray, 16 bits, integers read as float, 142 B' gpuimg info signed.tif

# All pages may replace their own file; a page can't, because the file has other pages.
cp in.tif before.tif
for input in 'in.tif[1]' 'in.tif[0-1]'; do
    expect_error 2 "invert: in.tif: would be written over the input $(printf %q "$input"), want another file" invert -q "$input" in.tif
    check "the file is unchanged" cmp in.tif before.tif
done
expect 0 gpuimg invert in.tif in.tif
for page in 0 1 2; do
    gpuimg convert "in.tif[$page]" page.pgm
    check "page $page is replaced" test "$(tail -c 1 page.pgm | od -An -tu1 | tr -d ' ')" = $((255 - 40 * page))
done
expect 0 gpuimg compare 'in.tif[1]' 'in.tif[1]'
expect_error 2 'compare: in.tif: would be written over*' compare 'in.tif[0]' 'in.tif[1]' --diff in.tif
finish
