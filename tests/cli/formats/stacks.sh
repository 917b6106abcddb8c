#!/bin/bash
# Commands process all pages of a TIFF, into a TIFF of as many pages, streams, files or tables. Pillow and tifffile read and
# write the files.
# Sources: imgio/pages imgio/tiff cli/inputs/page_cursor cli/inputs/stream_output cli/inputs/stream_find
# cli/inputs/imaging_pages cli/commands/pages
. "$(dirname "$0")/../lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
if gpuimg list | grep -q 'tiff .*this build has no' || ! "$python" -c 'import PIL, numpy' 2>/dev/null; then
    skip "stacks: this build has no libtiff, or Python no Pillow and numpy"
    finish
    exit
fi
# Helpers for all scripts below: pages(FILE) reads all pages by Pillow.
cat >helpers.py <<'END'
import numpy as np
from PIL import Image, ImageSequence
def pages(file):
    return [np.array(page) for page in ImageSequence.Iterator(Image.open(file))]
def same(a, b):
    return len(a) == len(b) and all(x.dtype == y.dtype and x.shape == y.shape and (x == y).all() for x, y in zip(a, b))
END
. "$tests/python.sh"

py '
r = np.random.default_rng(1)
gray16 = [Image.fromarray(r.integers(0, 65535, (40, 50), dtype=np.uint16)) for _ in range(5)]
gray16[0].save("stack.tif", save_all=True, append_images=gray16[1:])
bilevel = Image.fromarray((r.random((33, 21)) > 0.5).astype(np.uint8) * 255).convert("1")
palette = Image.fromarray(r.integers(0, 255, (9, 20, 3), dtype=np.uint8)).convert("P", palette=Image.Palette.ADAPTIVE)
mixed = [Image.fromarray(r.integers(0, 255, (30, 20), dtype=np.uint8)), Image.fromarray(r.integers(0, 255, (3, 70, 3), dtype=np.uint8)),
         Image.fromarray(r.random((8, 9)).astype(np.float32)), Image.fromarray(r.integers(0, 255, (17, 5, 4), dtype=np.uint8)),
         bilevel, palette]
mixed[0].save("mixed.tif", save_all=True, append_images=mixed[1:])
mixed[0].save("lzw.tif", save_all=True, append_images=[mixed[1], mixed[3]], compression="tiff_lzw")
bilevel.save("g4.tif", save_all=True, append_images=[bilevel.transpose(Image.Transpose.FLIP_LEFT_RIGHT)], compression="group4")
'

# Each page is what its image alone gives.
expect 0 gpuimg gaussian stack.tif out.tif --sigma 2
check "no warning" test ! -s err
for page in 0 1 2 3 4; do expect 0 gpuimg gaussian "stack.tif[$page]" "one$page.tif" --sigma 2; done
holds "every page is filtered" 'same(pages("out.tif"), [pages(f"one{i}.tif")[0] for i in range(5)])'
expect 0 gpuimg invert mixed.tif out.tif
holds "a file may mix sizes, types and channels" '[p.shape for p in pages("out.tif")] == [(30, 20), (3, 70, 3), (8, 9), (17, 5, 4), (33, 21), (9, 20, 3)]'
holds "each is inverted" '(lambda a, b: all((255 - x[..., :3] == y[..., :3]).all() for x, y in ((a[0], b[0]), (a[1], b[1]), (a[3], b[3]))) and (1 - a[2] == b[2]).all())(pages("mixed.tif"), pages("out.tif"))'
expect 0 gpuimg invert lzw.tif out.tif
holds "compressed pages" '(255 - pages("lzw.tif")[1] == pages("out.tif")[1]).all() and len(pages("out.tif")) == 3'
expect 0 gpuimg flip g4.tif out.tif --h
holds "bilevel pages" '(pages("g4.tif")[1][:, ::-1] * 255 == pages("out.tif")[1]).all()'
expect 0 gpuimg run 'invert | flip --v' stack.tif out.tif
holds "chains" 'same(pages("out.tif"), [65535 - p[::-1] for p in pages("stack.tif")])'
expect 0 gpuimg convert stack.tif out.tif --depth 8 --compression 9
holds "options of the output" 'pages("out.tif")[4].dtype == np.uint8'

# Pages are chosen by brackets.
expect 0 gpuimg convert 'stack.tif[1-3]' out.tif
holds "a range" 'same(pages("out.tif"), pages("stack.tif")[1:4])'
expect 0 gpuimg convert 'stack.tif[*]' out.tif
holds "all" 'same(pages("out.tif"), pages("stack.tif"))'
expect 0 gpuimg convert 'stack.tif[2-2]' out.png
holds "a range of one page is an image" '(np.array(Image.open("out.png")) == pages("stack.tif")[2]).all()'
expect_error 1 'convert: stack.tif\[2-9]: holds 5 pages: want \[0] to \[4]' convert 'stack.tif[2-9]' made.tif
cp one3.tif 'one[0-7]'
expect 0 gpuimg convert 'one[0-7]' out.tif
holds "a file whose name has brackets wins" 'same(pages("out.tif"), pages("one3.tif"))'

# Formats of one image.
expect_error 2 'gaussian: made.png: png holds one image, and stack.tif has 5 pages: want {page} in its name, as in made-{page}.png, or one page, as stack.tif\[0]' gaussian stack.tif made.png
expect 0 gpuimg convert stack.tif 'p-{page:03}.png'
holds "a file for each page" 'same([np.array(Image.open(f"p-{i:03}.png")).astype(np.uint16) for i in range(5)], pages("stack.tif"))'
expect 0 gpuimg convert 'stack.tif[3-4]' '{stem}-{index}-{page}.png'
check "index and page" test -s stack-1-3.png -a -s stack-2-4.png
expect 0 gpuimg convert p-000.png 'q{page}.png'
check "an input of one image" test -s q0.png
expect_error 2 'convert: the output {page}x{foo}.png: {foo}.png: want {dir}, *' convert stack.tif '{page}x{foo}.png'
expect_error 1 'convert: p-000.png: File exists' convert stack.tif 'p-{page:03}.png' --no-clobber
rm p-000.png
expect 1 gpuimg convert stack.tif 'p-{page:03}.png' --no-clobber
check "pages before one that fails are written" test -s p-000.png

# Streams: pages through pipes, to and from PNM and PNG.
gpuimg invert - - <stack.tif | gpuimg invert - out.tif
holds "from - to - it stays a TIFF" 'same(pages("out.tif"), pages("stack.tif"))'
check "a TIFF from a pipe" sh -c 'cat stack.tif | "$0" convert - out.pgm' "$GPUIMG"
expect 0 gpuimg convert out.pgm back.tif
holds "PNM holds pages too" 'same(pages("back.tif"), pages("stack.tif"))'
check "images of a pipe become pages" sh -c 'cat p-00?.png | "$0" convert - back.tif' "$GPUIMG"
holds "each of them" 'same(pages("back.tif"), pages("stack.tif"))'
# convert joins what pages joins.
gpuimg pages one0.tif p-001.png p-002.png --out want.tif --depth 8
expect 0 gpuimg convert one0.tif p-001.png p-002.png joined.tif --depth 8
same "convert with more than two operands joins them" joined.tif want.tif
expect 0 gpuimg convert one0.tif p-001.png p-002.png --out joined2.tif --depth 8
same "convert --out with a TIFF joins its operands" joined2.tif want.tif
# A name with fields is one of a file for each input, whatever the format.
for template in '{stem}.tif' '{name}.gif' '{index:03}.tif' '{width}-{index}.gif' '{date}-{stem}.tif'; do
    rm -rf each
    expect 0 gpuimg convert p-001.png p-002.png --out "each/$template" --depth 8
    check "$template: two files" test "$(find each -type f ! -name '*{*' | wc -l)" = 2
done
if gpuimg list | grep -q 'webp  *read  write'; then
    expect 0 gpuimg convert p-001.png p-002.png --out 'each/{stem}.webp' --depth 8
    check "WebP: two files" test -s each/p-001.webp -a -s each/p-002.webp
fi
expect 0 gpuimg convert p-001.png p-002.png --out 'each/{stem}.tif'
for page in p-001 p-002; do
    expect 0 gpuimg convert $page.png want1.tif
    same "$page: the file of its input" each/$page.tif want1.tif
done
expect_error 2 'convert: --out made{x}.tif: {x}.tif: want {dir}, *' convert p-001.png p-002.png --out 'made{x}.tif'
expect_error 2 'convert: made-{stem}.tif: one operand too many*' convert p-001.png p-002.png 'made-{stem}.tif'
expect 0 gpuimg convert p-001.png p-002.png joined.tif
holds "a TIFF is replaced if no input is a TIFF" 'len(pages("joined.tif")) == 2'
expect_error 2 'convert: joined2.tif: is an image already: want --force to replace it, or gpuimg pages --out FILE to join the images' convert one0.tif joined.tif joined2.tif --depth 8
for inputs in 'one0.tif p-001.png' 'p-001.png one0.tif' 'p-001.png one0.tif p-002.png'; do
    # shellcheck disable=SC2086 # operands
    expect_error 2 'convert: joined2.tif: is an image already: want --force to replace it, *' convert $inputs joined2.tif --depth 8
done
same "it is not replaced" joined2.tif want.tif
expect_error 2 'convert: --resume: want --report with the earlier run*' convert one0.tif p-001.png --out made.tif --resume
expect 0 gpuimg convert one0.tif joined.tif joined2.tif --force
holds "--force replaces it" 'len(pages("joined2.tif")) == 3'
expect_error 2 'convert: made.png: one operand too many*; gpuimg pages --out makes one file of several images' convert one0.tif one1.tif made.png
expect_error 2 'convert: made.png: would be the output of*' convert one0.tif one1.tif --out made.png
# TIFFs one behind the other in a pipe: the pages of all.
expect 0 sh -c 'cat one0.tif one1.tif stack.tif | "$0" convert - out.tif' "$GPUIMG"
check "TIFFs in a pipe: no warning" test ! -s err
gpuimg pages one0.tif one1.tif stack.tif --out want.tif
same "TIFFs in a pipe are pages" out.tif want.tif
expect 0 sh -c 'cat one0.tif one1.tif stack.tif | "$0" invert - "piped-{index}.png"' "$GPUIMG"
n=0
for page in one0.tif one1.tif 'stack.tif[0]' 'stack.tif[1]'; do
    gpuimg invert "$page" page.png
    same "TIFFs in a pipe: $page becomes a file" piped-$((++n)).png page.png
done
check "one file per page" test "$(ls piped-* | wc -l)" = $((2 + $(gpuimg info --json stack.tif | grep -o '"images": [0-9]*' | cut -d' ' -f2)))
check "stats of TIFFs in a pipe: a row per page" test "$(cat one0.tif one1.tif | gpuimg stats - --table - | grep -c gray)" = 2
# --max-pixels counts the bytes of each of the files.
{ printf 'P5 2000 2000 255\n'; head -c 4000000 /dev/zero; } >flat.pgm
{ printf 'P5 2000 2000 255\n'; head -c 4000000 /dev/urandom; } >noise.pgm
for name in flat noise; do expect 0 gpuimg convert $name.pgm $name.tif; done
for files in 'flat.tif noise.tif' 'noise.tif flat.tif noise.tif'; do
    # shellcheck disable=SC2086 # files
    cat $files >piped
    check "$files in a pipe: the limit" sh -c '! cat piped | "$0" stats - --table limit.csv --max-pixels 1000000 2>err && grep -q "is 2000 x 2000 pixels, over the limit of 1000000; --max-pixels raises it" err' "$GPUIMG"
done
check "files of as many bytes as their samples" sh -c 'cat noise.tif noise.tif | "$0" stats - --table limit.csv --max-pixels 1000000 2>err' "$GPUIMG"
head -c -40 one1.tif >cut1.tif
check "the last TIFF of a pipe is cut off" sh -c 'cat one0.tif cut1.tif | "$0" invert - made.tif 2>err; test $? = 1 && test ! -e made.tif' "$GPUIMG"
if command -v ffmpeg >/dev/null && ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=10:duration=1 -f image2pipe -c:v tiff frames.tif; then
    check "ffmpeg's TIFFs" sh -c 'cat frames.tif | "$0" invert - out.tif 2>err && test ! -s err && "$0" info out.tif | grep -q "10 images"' "$GPUIMG"
fi
check "a pipe of one page" sh -c 'cat one0.tif | "$0" convert - out.png' "$GPUIMG"
check "images of a pipe become files" sh -c 'cat p-00?.png | "$0" invert - "i{index}.png"' "$GPUIMG"
holds "each of them" 'all((65535 - np.array(Image.open(f"i{i + 1}.png")) == pages("stack.tif")[i]).all() for i in range(5))'

# Several inputs, in batches, tars and tables.
mkdir many
expect 0 gpuimg invert stack.tif lzw.tif p-000.png --out-dir many
holds "a file for a file" 'same(pages("many/stack.tif"), [65535 - p for p in pages("stack.tif")]) and len(pages("many/lzw.tif")) == 3'
expect 1 gpuimg invert stack.tif p-000.png --out-dir many --suffix .png
check "a batch names what is wanted" grep -q 'invert: stack.tif: has 5 pages, and many/stack.png holds one image: want a TIFF, or --out with {page} in it' err
expect 0 gpuimg invert stack.tif p-000.png --out 'many/{stem}_{page:02}.png' --report r.jsonl
check "a file per page" test -s many/stack_04.png -a -s many/p-000_00.png
rm many/stack_03.png
expect 0 gpuimg invert stack.tif p-000.png --out 'many/{stem}_{page:02}.png' --report r.jsonl --resume
check "an input without one of its pages is resumed" test -s many/stack_03.png
expect 0 gpuimg invert stack.tif p-000.png --out-dir many --report s.jsonl
before=$(stat -c %y many/stack.tif)
expect 0 gpuimg invert stack.tif p-000.png --out-dir many --report s.jsonl --resume
check "a finished file is not" test "$(stat -c %y many/stack.tif)" = "$before"
expect_error 2 'invert: --out made{page}/{stem}.png: want {page} in the name of the file' invert stack.tif --out 'made{page}/{stem}.png'
tar cf in.tar stack.tif p-000.png
expect 0 gpuimg invert --tar in.tar out.tar
tar xf out.tar -C many stack.tif
holds "members of tars" 'same(pages("many/stack.tif"), [65535 - p for p in pages("stack.tif")])'
expect 0 gpuimg stats stack.tif one3.tif p-000.png --table - --work-depth 16
check "a row for each page" test "$(cut -d, -f1 out | tail -n +2 | tr '\n' ' ')" = 'stack.tif[0] stack.tif[1] stack.tif[2] stack.tif[3] stack.tif[4] one3.tif p-000.png '
expect 0 gpuimg stats stack.tif --table one.csv
holds "of the page" '[int(line.split(",")[6]) for line in open("one.csv").readlines()[1:]] == [int(p.sum(dtype=np.int64)) for p in pages("stack.tif")]'
check "a table of a pipe" sh -c 'cat stack.tif | "$0" run "invert | stats" - --table - | grep -c "standard input\["' "$GPUIMG"
expect_error 1 'stats: stack.tif: holds several images: want --table FILE, with rows for each, or one of them, as stack.tif\[0]' stats stack.tif
expect 0 gpuimg gaussian stack.tif out.tif --report r2.jsonl
check "a report has a line for each page" test "$(grep -c '"input": "stack.tif\[[0-4]]"' r2.jsonl)" = 5
expect 0 gpuimg info 'stack.tif[*]'
check "info of each" test "$(wc -l <out)" = 5
expect 0 gpuimg info --check stack.tif

# Pairs of pages.
gpuimg invert stack.tif inverse.tif
expect 0 gpuimg compare stack.tif stack.tif
check "compare has a row for each page" test "$(cut -d, -f1,2 out | sed 1d | tr '\n' ' ')" = 'stack.tif[0],stack.tif[0] stack.tif[1],stack.tif[1] stack.tif[2],stack.tif[2] stack.tif[3],stack.tif[3] stack.tif[4],stack.tif[4] '
gpuimg pages 'stack.tif[0-2]' 'inverse.tif[3]' 'stack.tif[4]' --out other.tif
expect 1 gpuimg compare stack.tif other.tif
check "a page that differs" test "$(sed 1d out | grep -c ',1,50,40')" = 4
expect_error 2 'compare: stack.tif has 5 pages, stack.tif\[1-2] 2: want as many, or \[0] after one' compare stack.tif 'stack.tif[1-2]'

# Many to one.
expect 0 gpuimg stack --by max stack.tif max.tif
holds "a projection" 'same(pages("max.tif"), [np.max(pages("stack.tif"), 0)])'
expect 0 gpuimg stack --method median 'stack.tif[0-2]' max.tif
holds "of a range" 'same(pages("max.tif"), [np.median(pages("stack.tif")[:3], 0).astype(np.uint16)])'
expect 0 gpuimg stack --method max stack.tif one0.tif max.tif --report n.jsonl
check "among other files" test "$(tail -n 1 n.jsonl | grep -c '"inputs": 6')" = 1
expect 0 gpuimg montage stack.tif sheet.png --no-normalize --cell 50x40 --gap 0 --margin 0 --rows 1
holds "a sheet of pages" '(np.array(Image.open("sheet.png"))[:, 100:150] == pages("stack.tif")[2]).all()'

# gpuimg pages joins images.
expect 0 gpuimg pages p-001.png lzw.tif 'stack.tif[1-2]' --out doc.tif --report d.jsonl
holds "pages in the order of the inputs" '(lambda d: len(d) == 6 and same(d[1:4], pages("lzw.tif")) and same(d[4:], pages("stack.tif")[1:3]))(pages("doc.tif"))'
check "a report of them" test "$(grep -c '"status": "done"' d.jsonl)" = 7
expect_error 2 'pages: made.bmp: bmp holds one image: want a TIFF, an animation (GIF, WebP or PNG), an ICO or Y4M' pages p-001.png --out made.bmp
expect_error 2 "pages: -: an animated png can't go to standard output: want a file, or --format gif" pages p-001.png --out - --format png
expect_error 2 'pages: want --out FILE for the pages, did you mean --out made.tif?' pages p-001.png made.tif
expect_error 2 'pages: want --out FILE for the pages, as in --out doc.tif' pages p-001.png p-001.png
expect_error 2 'pages: lzw.tif: would be written over the input lzw.tif, want another file' pages p-001.png lzw.tif --out lzw.tif
expect 1 gpuimg pages p-001.png missing.png p-002.png --out made.tif
check "an input that is missing is named" grep -q 'pages: missing.png: No such file or directory' err
check "nothing is written then" test ! -e made.tif
seq 200 | sed 's/.*/p-001.png/' >list
expect 0 gpuimg pages --files-from list --out doc.tif
holds "many pages" 'len(pages("doc.tif")) == 200'

# A file per page needs no open file per page.
few() {
    ulimit -Sn 60
    "$GPUIMG" invert doc.tif doc2.tif --out 'few/{stem}-{page}.png' --threads 2
}
cp doc.tif doc2.tif
expect 0 few
check "two files of 200 pages with 60 open files" test "$(ls few | wc -l)" = 400
# The beginnings of many inputs are read at once; their images stay in the order of the inputs.
mkdir mixed
pgm mixed/one.pgm 9 7
expect 0 gpuimg convert mixed/one.pgm mixed/one.png
expect 0 gpuimg pages mixed/one.png mixed/one.pgm mixed/one.png --out mixed/three.tif
for i in {10..79}; do
    if ((i % 11)); then
        cp mixed/one.png "mixed/$i.png"
        echo "mixed/$i.png"
    else
        cp mixed/three.tif "mixed/$i.tif"
        printf '%s\n' "mixed/$i.tif["{0,1,2}"]"
    fi
done >want
rm mixed/one.* mixed/three.tif
expect 0 gpuimg stats mixed --recursive --table mixed.csv
check "the pages of many inputs, in order" diff want <(tail -n +2 mixed.csv | cut -d, -f1)

# Each list of pages is read once.
if command -v strace >/dev/null; then
    strace -f -e trace=openat -o calls "$GPUIMG" stack doc.tif doc2.tif deep.png --method max
    check "each file is read once" test "$(grep -c 'doc2*.tif", O_RDONLY' calls)" -le 4
fi

# Hostile files.
py '
stack = open("stack.tif", "rb").read()
open("cut.tif", "wb").write(stack[:len(stack) * 3 // 4])
import struct
def directories(data):
    at, all = struct.unpack("<I", data[4:8])[0], []
    while at:
        all.append(at)
        n = struct.unpack("<H", data[at:at + 2])[0]
        at = struct.unpack("<I", data[at + 2 + 12 * n:at + 6 + 12 * n])[0]
    return all
at = directories(stack)
n = struct.unpack("<H", stack[at[4]:at[4] + 2])[0]
end = at[4] + 2 + 12 * n
open("circle.tif", "wb").write(stack[:end] + struct.pack("<I", at[2]) + stack[end + 4:])
broken = bytearray(stack)
broken[at[3] + 2:at[3] + 14] = struct.pack("<HHII", 256, 4, 1, 0)
open("broken.tif", "wb").write(broken)
for name, offset in (("outside", len(stack) + 1000), ("end", len(stack) - 1)):
    open(name + ".tif", "wb").write(stack[:end] + struct.pack("<I", offset) + stack[end + 4:])
end = at[0] + 2 + 12 * struct.unpack("<H", stack[at[0]:at[0] + 2])[0]
open("second.tif", "wb").write(stack[:end] + struct.pack("<I", 999999999) + stack[end + 4:])
'
# The offset of the next page leads outside the file.
for name in outside end second; do
    expect_error 1 "invert: $name.tif: is damaged: the offset of a page is wrong*" invert $name.tif made.tif
    expect_error 1 "stats: $name.tif: is damaged: the offset of a page is wrong*" stats $name.tif --table -
    expect 0 gpuimg info $name.tif
    check "info warns of the damage" grep -q "$name.tif: is damaged: the offset of a page is wrong" err
    expect 0 gpuimg invert $name.tif out.tif --allow-partial
    check "a warning names the damage" grep -q "$name.tif: is damaged: the offset of a page is wrong" err
done
holds "the readable page" 'len(pages("out.tif")) == 1'
gpuimg invert outside.tif out.tif --allow-partial -q
holds "the readable pages" 'len(pages("out.tif")) == 5'
# Commands that take one image warn of a TIFF behind it, once.
cat one0.tif one1.tif >both.tif
for input in both.tif -; do
    expect 0 sh -c 'cat both.tif | "$0" histogram "$1"' "$GPUIMG" $input
    check "histogram $input warns" test "$(grep -c 'holds more images; only the first is read' err)" = 1
    check "and takes the first" cmp <(sed 1d out) <(gpuimg histogram one0.tif | sed 1d)
done
expect 0 gpuimg invert both.tif out.png
check "invert warns once" test "$(wc -l <err)" = 1
# A TIFF behind another one, also behind padding.
for n in 0 7 16 1000; do
    { cat stack.tif; head -c $n /dev/zero; cat stack.tif; } >two.tif
    expect 0 sh -c 'cat two.tif | "$0" invert - tif:- >out.tif' "$GPUIMG"
    holds "$n zeros between TIFFs in a pipe" 'len(pages("out.tif")) == 2 * len(pages("stack.tif"))'
    expect 0 gpuimg invert two.tif out.tif
    check "$n zeros between TIFFs of a file" grep -q 'two.tif: holds another TIFF behind its pages, which is left out' err
done
expect 1 gpuimg invert cut.tif made.tif
check "a truncated file fails as a whole" test ! -e made.tif
expect_error 1 'invert: circle.tif: is damaged: its pages go in a circle*' invert circle.tif made.tif
expect 0 gpuimg invert circle.tif out.tif --allow-partial
holds "each page of a circle once" 'len(pages("out.tif")) == 5'
expect 1 gpuimg invert broken.tif made.tif
check "the page that can't be read is named" grep -q 'invert: broken.tif\[3]: ' err
check "nothing is written then" test ! -e made.tif

# tifffile's description names the shape of all pages. Pillow writes and reads it here.
py '
for channels, mode in ((1, "L"), (3, "RGB")):
    p = [Image.fromarray(r.integers(0, 255, (12, 16, 3), dtype=np.uint8)).convert(mode) for r in [np.random.default_rng(5)] for _ in range(6)]
    tail = ", 3]" if channels == 3 else "]"
    p[0].save(f"shape{channels}.tif", save_all=True, append_images=p[1:], description="{\"shape\": [6, 12, 16" + tail + "}")
    p[0].save(f"keys{channels}.tif", save_all=True, append_images=p[1:], description="{\"shape\": [6, 12, 16" + tail + ", \"axes\": \"ZYX\"}")
'
described() { holds "$1" "Image.open('out.tif').tag_v2.get(270, 'none') == '$2'"; }
gray='{"shape": [6, 12, 16]}'
expect 0 gpuimg invert shape1.tif out.tif
described "the same pages keep tifffile's description" "$gray"
expect 0 gpuimg invert shape3.tif out.tif
described "so do pages in colour" '{"shape": [6, 12, 16, 3]}'
for pages in 0-2 1-5 4 0 1- 0-5..5; do
    expect 0 gpuimg gaussian "shape1.tif[$pages]" out.tif
    described "pages $pages have no description of all" none
done
expect 0 gpuimg resize shape1.tif out.tif --size 8x8
described "nor have pages of another size" none
check "a shape alone is dropped without a warning" test ! -s err
expect 0 gpuimg convert shape3.tif out.tif --gray
described "nor have pages with other channels" none
expect 0 gpuimg pages shape1.tif shape1.tif --out out.tif
described "nor have joined pages" none
expect 0 sh -c 'cat shape1.tif shape1.tif | "$0" convert - out.tif' "$GPUIMG"
described "nor have pages of a pipe" none
expect 0 gpuimg crop keys1.tif out.tif --size 4x4
check "other keys are dropped with a warning" grep -q 'warning: crop: keys1.tif\[[0-5]]: its tifffile description is dropped, because the pages get another size or type' err

# Descriptions of all pages, and integers by value.
if ! "$python" -c 'import tifffile' 2>/dev/null; then
    skip "stacks: no tifffile"
    finish
    exit
fi
cat >>helpers.py <<'END'
import tifffile
r = np.random.default_rng(2)
END
py '
a = r.integers(0, 65535, (5, 20, 30), dtype=np.uint16)
tifffile.imwrite("ome.tif", a, photometric="minisblack", metadata={"axes": "ZYX"}, ome=True)
tifffile.imwrite("imagej.tif", a, imagej=True, metadata={"axes": "ZYX", "spacing": 2.5, "unit": "um"})
np.save("a.npy", a)
with tifffile.TiffWriter("pyramid.tif") as f:
    f.write(a[0], photometric="minisblack")
    f.write(a[0][::2, ::2], photometric="minisblack", subfiletype=1)
    f.write(a[1], photometric="minisblack", tile=(16, 16))
'
py '
s = r.integers(0, 255, (6, 12, 16), dtype=np.uint8)
tifffile.imwrite("st.tif", s)
np.save("s.npy", s)
'
expect 0 gpuimg invert 'st.tif[0-2]' out.tif
holds "tifffile reads the pages that were chosen" '(255 - np.load("s.npy")[:3] == tifffile.imread("out.tif")).all()'
expect 0 gpuimg invert st.tif out.tif
holds "tifffile reads all pages" '(255 - np.load("s.npy") == tifffile.imread("out.tif")).all()'
for kind in ome imagej; do
    expect 0 gpuimg invert $kind.tif out.tif
    check "$kind: no warning" test ! -s err
    holds "$kind: pages" '(65535 - np.load("a.npy") == tifffile.imread("out.tif")).all()'
    holds "$kind: description" "tifffile.TiffFile('$kind.tif').pages[0].description == tifffile.TiffFile('out.tif').pages[0].description"
    holds "$kind: axes" "tifffile.TiffFile('out.tif').series[0].axes == 'ZYX'"
    expect 0 gpuimg convert "$kind.tif[3]" out.tif
    holds "$kind: a page has no description of all" "not tifffile.TiffFile('out.tif').is_ome and not tifffile.TiffFile('out.tif').is_imagej"
    holds "$kind: a page" '(np.load("a.npy")[3] == tifffile.imread("out.tif")).all()'
done
expect 0 gpuimg resize ome.tif out.tif --size 10x10
check "a description that no longer fits" grep -q 'warning: resize: ome.tif\[0]: its OME description is dropped, because the pages get another size or type' err
expect_error 1 'resize: ome.tif\[0]: --strict: its OME description is dropped, because the pages get another size or type' resize ome.tif made.tif --size 10x10 --strict
expect_error 1 'convert: imagej.tif\[5]: holds 5 pages: want \[0] to \[4]' convert 'imagej.tif[5]' made.tif
expect 0 gpuimg invert pyramid.tif out.tif
check "smaller versions are left out, with a warning" grep -q 'warning: invert: pyramid.tif: holds 1 smaller versions or masks of its pages, which are left out' err
holds "the others are processed" '(lambda f: len(f) == 2 and (65535 - np.load("a.npy")[1] == f[1]).all())(pages("out.tif"))'
for type in int8 int16 int32 uint32 float64 float32; do
    py "
v = r.integers(-100, 100, (3, 7, 11)).astype(np.$type) if '$type' != 'uint32' else r.integers(0, 1 << 20, (3, 7, 11)).astype(np.uint32)
tifffile.imwrite('in.tif', v, photometric='minisblack')
np.save('v.npy', v.astype(np.float32))"
    expect 0 gpuimg add in.tif out.tif --value 1
    holds "$type is read by value" 'same(pages("out.tif"), list(np.load("v.npy") + np.float32(1)))'
done
# Samples that have no equal 32-bit float.
py '
v = np.arange(12).reshape(3, 4)
tifffile.imwrite("float64.tif", 1e9 + v / 12)
tifffile.imwrite("unit64.tif", v / 12)
tifffile.imwrite("int32.tif", (-2**24 - v).astype(np.int32))
tifffile.imwrite("uint32.tif", (2**31 + v).astype(np.uint32))
tifffile.imwrite("exact.tif", (2**31 + 256 * v).astype(np.uint32))
'
for file in 'float64 64-bit floats' 'int32 32-bit integers' 'uint32 32-bit integers'; do
    name=${file%% *} kind=${file#* }
    expect 0 gpuimg invert "$name.tif" out.tif
    check "$name: a warning" grep -qx "gpuimg: warning: invert: $name.tif: its $kind are rounded to 32-bit floats" err
    expect_error 1 "invert: $name.tif: --strict: its $kind would be rounded to 32-bit floats" invert --strict $name.tif made.tif
done
for name in unit64 exact; do
    expect 0 gpuimg invert $name.tif out.tif
    check "$name: no warning" test ! -s err
done
expect_error 1 'invert: unit64.tif: --strict: *' invert --strict unit64.tif made.tif
expect 0 gpuimg invert --strict exact.tif out.tif
finish
