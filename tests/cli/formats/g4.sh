#!/bin/bash
# Masks of one bit per pixel, by CCITT Group 4 in TIFF: Pillow and ffmpeg, which has a decoder of its own, read them; and TIFF without compression.
# Sources: imgio/tiff/fax.c imgio/tiff/tiff_write.c imgio/bits.c imgio/save.c
. "$(dirname "$0")/../lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
if gpuimg list | grep -q 'tiff .*this build has no' || ! "$python" -c 'import PIL, numpy' 2>/dev/null; then
    skip "g4: this build has no libtiff, or Python no Pillow and numpy"
    finish
    exit
fi
# A page with text-like strokes, noise, black and white, of widths around multiples of 8; and one that takes several strips.
"$python" - <<'END'
import numpy as np
r = np.random.default_rng(4)
def write(name, a):
    open(name, "wb").write(b"P5 %d %d 255\n" % (a.shape[1], a.shape[0]) + a.astype(np.uint8).tobytes())
for w, h in (1, 1), (7, 5), (8, 3), (9, 40), (2500, 70):
    page = np.full((h, w), 230)
    page[h // 4:h // 2, w // 5:-(-w // 2)] = 20
    page[r.random((h, w)) < 0.05] = 90
    write(f"page-{w}.pgm", page)
write("black.pgm", np.zeros((20, 33)))
write("white.pgm", np.full((20, 33), 255))
big = np.full((3000, 4000), 255)
big[:, ::7] = 0
big[100:900, 100:3000] = 0
write("page-big.pgm", big)
END
# reads NAME: what the programs read of NAME.tif is want.pgm.
reads() {
    check "$1: Pillow reads it" "$python" -c '
import numpy as np, sys
from PIL import Image
image, want = Image.open(sys.argv[1]), np.array(Image.open("want.pgm"))
assert image.mode == "1" and image.tag_v2[258] == (1,) and image.tag_v2[259] == 4 and image.tag_v2[262] == 0, image.tag_v2
assert (np.array(image.convert("L")) == want).all()' "$1.tif"
    if command -v ffmpeg >/dev/null; then
        ffmpeg -v error -y -i "$1.tif" -pix_fmt gray "$1.ff.pgm"
        check "$1: ffmpeg reads it" cmp <(tail -c "$(wc -c <body)" "$1.ff.pgm") body
    fi
}
for page in page-1 page-7 page-8 page-9 page-2500 page-big black white; do
    expect 0 gpuimg threshold $page.pgm want.pgm --threshold 128
    "$python" -c 'from PIL import Image; import sys; sys.stdout.buffer.write(Image.open("want.pgm").tobytes())' >body
    expect 0 gpuimg threshold $page.pgm $page.tif --threshold 128 --compression g4
    reads $page
    gpuimg convert $page.tif back.pgm
    check "$page: gpuimg reads it" cmp back.pgm want.pgm
done
check "a page is small" test "$(wc -c <page-big.tif)" -lt 400000
expect 0 gpuimg threshold page-big.pgm one.tif --threshold 128 --compression g4 --threads 1
check "threads do not change the bytes" cmp one.tif page-big.tif
# 16 bits become one bit too, and metadata stays.
gpuimg convert page-2500.pgm deep.png --depth 16 --dpi 300
expect 0 gpuimg threshold deep.png deep.tif --compression g4
gpuimg threshold deep.png want.pgm --depth 8 -q
gpuimg convert deep.tif back.pgm -q
check "16 bits" cmp back.pgm want.pgm
check "the resolution stays" "$python" -c 'from PIL import Image; assert [round(float(v)) for v in Image.open("deep.tif").info["dpi"]] == [300, 300]'
# Pages, and the masks of extract.
expect 0 gpuimg pages page-9.tif page-2500.tif --out doc.tif --compression g4
check "pages" "$python" -c 'from PIL import Image; i = Image.open("doc.tif"); assert i.n_frames == 2 and i.tag_v2[259] == 4; i.seek(1); assert i.size == (2500, 70) and i.tag_v2[259] == 4; i.load()'
expect 0 gpuimg extract page-2500.pgm table.csv --mask mask.tif --compression g4
check "extract --mask" "$python" -c 'from PIL import Image; assert Image.open("mask.tif").tag_v2[259] == 4'
# What can't be.
expect_error 2 'threshold: --compression g4: is for TIFF, and made.png is none' threshold page-9.pgm made.png --compression g4
expect_error 2 'threshold: --compression g4: is for one bit per pixel, want no --depth 8' threshold page-9.pgm made.tif --compression g4 --depth 8
expect_error 1 'convert: made.tif: --compression g4: *pixel (0, 0) is 230: want an image of 0 and 255*' convert page-2500.pgm made.tif --compression g4
check "nothing is written then" test ! -e made.tif -a ! -e made.png
expect 0 gpuimg threshold page-9.pgm bits.tif --threshold 128 --depth 1 --compression g4
check "--depth 1 is the same" cmp bits.tif page-9.tif
# --compression 0 stores samples of every depth, also those of pages.
gpuimg threshold page-9.pgm want.pgm --threshold 128
for depth in 1 8 16 float; do
    expect 0 gpuimg threshold page-9.pgm "plain-$depth.tif" --threshold 50% --depth $depth --compression 0
    check "--compression 0 --depth $depth" "$python" -c '
import numpy as np, sys
from PIL import Image
image, bits = Image.open(sys.argv[1]), {"1": 1, "8": 8, "16": 16, "float": 32}[sys.argv[2]]
tags = image.tag_v2
assert tags[258] == (bits,) and tags[259] == 1 and tags.get(317, 1) == 1 and sum(tags[279]) == (9 * bits + 7) // 8 * 40, tags
assert ((np.array(image).astype(float) > 0) == (np.array(Image.open("want.pgm")) > 0)).all()' "plain-$depth.tif" $depth
done
expect 0 gpuimg pages page-9.pgm page-2500.pgm --out doc.tif --compression 0
check "--compression 0 of pages" "$python" -c 'from PIL import Image; i = Image.open("doc.tif"); assert i.tag_v2[259] == 1; i.seek(1); assert i.tag_v2[259] == 1; assert i.tobytes() == Image.open("page-2500.pgm").tobytes()'
# An input of one bit that is written with 8 bits causes a warning if one bit would do. A PNG has one bit then.
bits='1 bit per pixel becomes 8, although the result is black and white (--depth 1 keeps 1 bit)'
for output in 'out.tif' 'out.png --palette never'; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg remove-small page-9.tif $output --area 3
    says "one bit becomes 8 in $output" "gpuimg: warning: remove-small: page-9.tif: $bits"
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg remove-small page-9.tif $output --area 3 --depth 1
    says "--depth 1 keeps one bit in $output" ''
done
expect 0 gpuimg remove-small page-9.tif out.png --area 3
says 'a PNG keeps one bit' ''
check 'a PNG has one bit' test "$(od -An -tu1 -j24 -N2 out.png | tr -s ' ')" = ' 1 0'
expect 0 gpuimg convert page-9.tif page-2500.tif --out-dir bits --suffix png --palette never
check "a batch warns once" test "$(grep -c ": $bits" err) $(grep -c "warning: convert: 1 more: $bits" err)" = '2 1'
for words in 'gaussian page-9.tif out.tif' 'invert page-9.tif out.pgm' 'invert page-9.tif out.tif --compression g4' 'invert page-9.pgm out.tif' 'invert page-9.tif out.tif --depth 8'; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $words
    says "$words: no warning" ''
done
finish
