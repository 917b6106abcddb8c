#!/bin/bash
# --lossless of flip, rotate, transpose, orient and crop: the bytes of jpegtran, metadata, refused files and options.
# Sources: imgio/lossless imgio/jpeg_options imgio/jpeg/lossless imgio/jpeg/jpeg_callbacks cli/run/imaging_lossless.c cli/commands/lossless.c cli/commands/orient.c
. "$(dirname "$0")/../lib.sh"
if ! command -v jpegtran cjpeg >/dev/null; then
    skip "no jpegtran to compare with"
    exit 0
fi

ppm() { # FILE WIDTH HEIGHT
    {
        printf 'P6\n%d %d\n255\n' "$2" "$3"
        awk -v w="$2" -v h="$3" 'BEGIN { srand(3); for (y = 0; y < h; y++) for (x = 0; x < w; x++)
            printf "%c%c%c", 1 + (x * 3 + y) % 120, 1 + (y * 5) % 110 + rand() * 9, 1 + (x * y) % 100 }'
    } >"$1"
}
ppm even.ppm 64 48
ppm odd.ppm 75 53
pgm gray.pgm 61 35

# same_turn NAME FILE "JPEGTRAN OPTIONS" ARGUMENT...: the bytes of gpuimg equal those of jpegtran.
same_turn() {
    local name=$1 file=$2 options=$3
    shift 3
    # shellcheck disable=SC2086 # words
    jpegtran -copy all $options -outfile want.jpg "$file" || fail "jpegtran $options"
    expect 0 gpuimg "$1" "$file" got.jpg "${@:2}"
    same "$name of $file: gpuimg $*" want.jpg got.jpg
}

# all_turns FILE ARGUMENTS WAY "JPEGTRAN OPTIONS": every turn, with -perfect or -trim.
all_turns() {
    local more=$2 way=$3 plain=-perfect
    [[ $way == trim ]] && plain=-trim
    local options="$plain $4"
    # shellcheck disable=SC2086
    {
        same_turn flip "$1" "-flip horizontal $options" flip --h --lossless=$way $more
        same_turn flip "$1" "-flip vertical $options" flip --v --lossless=$way $more
        same_turn turn "$1" "-rotate 180 $options" flip --h --v --lossless=$way $more
        same_turn turn "$1" "-rotate 270 $options" rotate --angle 90 --lossless=$way $more
        same_turn turn "$1" "-rotate 90 $options" rotate --angle 270 --lossless=$way $more
        same_turn transpose "$1" "-transpose $options" transpose --lossless=$way $more
        same_turn transpose "$1" "-transverse $options" transpose --anti --lossless=$way $more
    }
}
# An input keeps its coding: the tables of the standard, tables that were computed, or progressive scans.
for coding in '' -optimize -progressive; do
    for sampling in 1x1 2x1 1x2 2x2; do
        cjpeg -quality 80 $coding -sample $sampling -outfile even_$sampling$coding.jpg even.ppm
        cjpeg -quality 80 $coding -sample $sampling -outfile odd_$sampling$coding.jpg odd.ppm
        all_turns even_$sampling$coding.jpg '' perfect "$coding"
        all_turns odd_$sampling$coding.jpg '' trim "$coding"
    done
    cjpeg -quality 80 $coding -grayscale -outfile gray$coding.jpg gray.pgm
    cjpeg -quality 80 $coding -grayscale -outfile even_gray$coding.jpg even.ppm
    all_turns gray$coding.jpg '' trim "$coding"
    all_turns even_gray$coding.jpg '' perfect "$coding"
    for file in odd_2x2$coding.jpg odd_1x1$coding.jpg gray$coding.jpg; do
        expect 0 gpuimg orient --lossless $file got.jpg
        same "$file, of which nothing is turned" $file got.jpg
    done
done
cjpeg -quality 80 -rgb -restart 1 -outfile rgb.jpg even.ppm
all_turns rgb.jpg '' perfect ''
all_turns rgb.jpg --optimize perfect -optimize
all_turns even_2x2.jpg --optimize perfect -optimize
all_turns even_2x2.jpg --progressive perfect -progressive
all_turns even_2x2-optimize.jpg --optimize=no perfect ''
all_turns even_2x2-optimize.jpg --progressive perfect -progressive
all_turns even_2x2-progressive.jpg --progressive=no perfect -optimize
all_turns even_2x2-progressive.jpg '--progressive=no --optimize=no' perfect ''
if cjpeg -arithmetic -outfile arithmetic.jpg even.ppm 2>/dev/null; then
    all_turns arithmetic.jpg '' perfect ''
fi
if /usr/bin/python3 -c 'from PIL import Image' 2>/dev/null; then
    /usr/bin/python3 - <<'END'
from PIL import Image
Image.open("odd.ppm").convert("CMYK").save("cmyk.jpg", quality=80)
im = Image.open("even.ppm")
exif = Image.Exif()
exif[0x0112] = 6
im.save("turned.jpg", quality=80, subsampling=2, exif=exif, comment=b"a comment", icc_profile=b"x" * 200)
END
    all_turns cmyk.jpg '' trim ''
    expect 0 gpuimg orient --lossless turned.jpg upright.jpg
    expect_stdout 1 /usr/bin/python3 -c 'from PIL import Image; print(Image.open("upright.jpg").getexif()[0x112])'
    # The same as jpegtran's, except the orientation in EXIF.
    jpegtran -copy all -perfect -rotate 90 -outfile want.jpg turned.jpg
    check "orient changes one byte of jpegtran's file" test "$(cmp -l want.jpg upright.jpg | wc -l)" = 1
    expect 0 gpuimg convert turned.jpg want.ppm
    expect 0 gpuimg compare want.ppm upright.jpg --min-psnr 40
    expect 0 gpuimg flip --h --lossless turned.jpg got.jpg
    expect 0 gpuimg flip --h turned.jpg want.png
    expect 0 gpuimg compare want.png got.jpg --min-psnr 40
    expect 0 gpuimg rotate --angle 90 --lossless turned.jpg got.jpg
    expect_stdout 1 /usr/bin/python3 -c 'from PIL import Image; print(Image.open("got.jpg").getexif()[0x112])'
    # The same bytes from files, a tar, a folder and a pipe.
    expect 0 gpuimg orient --lossless turned.jpg --out-dir upright1 --report log.jsonl
    check "the report names --lossless" grep -q 'orient --lossless' log.jsonl
    mkdir many
    cp turned.jpg many/a.jpg
    cp even_2x2.jpg many/b.jpg
    expect 0 gpuimg orient --lossless --recursive many --out-dir upright
    same "a batch makes the bytes of one command" upright/a.jpg upright.jpg
    tar cf many.tar many
    expect 0 gpuimg orient --lossless --tar many.tar upright.tar
    mkdir out.d
    tar xf upright.tar -C out.d
    same "a tar has the bytes of one command" out.d/many/a.jpg upright.jpg
    # The names of members are no files: --no-clobber is about the tar.
    expect 0 gpuimg orient --lossless --tar many.tar again.tar --no-clobber
    same "a file named as a member does not matter to a tar" again.tar upright.tar
    gpuimg orient --lossless - - <turned.jpg >piped.jpg
    same "a pipe makes the bytes of one command" piped.jpg upright.jpg
    expect 0 gpuimg orient --lossless --strip turned.jpg bare.jpg
    jpegtran -copy none -perfect -rotate 90 -outfile want.jpg turned.jpg
    same "--strip is -copy none" bare.jpg want.jpg
else
    skip "no Pillow that writes CMYK and EXIF"
fi

# crop moves its corner to the blocks.
for file in even_2x2.jpg odd_2x1.jpg gray.jpg odd_2x2-optimize.jpg even_2x2-progressive.jpg; do
    [[ $file == *-* ]] && coding=-${file#*-} || coding=
    for size in 20x17+16+16 21x9+13+5 10x10 33x30+3+2; do
        same_turn crop $file "-crop ${size/%10x10/10x10+0+0} ${coding%.jpg}" crop --size $size --lossless --quiet
    done
done
expect 0 gpuimg crop even_2x2.jpg got.jpg --size 21x9+13+5 --lossless
says "crop tells where its corner is" "gpuimg: warning: crop: even_2x2.jpg: --lossless: the rectangle begins 13 pixels further left and 5 further up, where blocks of 16 x 16 pixels begin, and is 34 x 14 pixels"
expect_error 1 'crop: even_2x2.jpg: --strict: --lossless: the rectangle begins 13 *' crop even_2x2.jpg made.jpg --size 21x9+13+5 --lossless --strict

# Several images in a file, and what follows an image.
cat even_2x2.jpg odd_2x2.jpg >two.jpg
expect 0 gpuimg transpose --lossless 'two.jpg[1]' got.jpg
jpegtran -transpose -copy all -outfile want.jpg odd_2x2.jpg
same "an image of several" got.jpg want.jpg
(cat even_2x2.jpg && echo end) >tail.jpg
expect 0 gpuimg transpose --lossless tail.jpg got.jpg
says "what follows is named" "gpuimg: warning: transpose: tail.jpg: not read: 4 bytes after the end"

head -c 900 even_2x2.jpg >cut.jpg
# --lossless=auto: what can't be turned without loss is decoded and encoded, as without the option.
# same_auto FILE OUTPUT ARGUMENT...: the bytes of --lossless=auto are those of the command without it.
same_auto() {
    expect 0 gpuimg "$3" "$1" "want_$2" "${@:4}"
    expect 0 gpuimg "$3" "$1" "got_$2" "${@:4}" --lossless=auto
    same "$1: auto: ${*:3}" "want_$2" "got_$2"
}
same_auto odd_2x2.jpg a.jpg flip --h
same_auto odd_2x2-progressive.jpg a.jpg flip --h --quality 60 --subsampling 4:4:4
same_auto odd_2x2.jpg a.jpg rotate --angle 270
same_auto even_2x2.jpg a.jpg rotate --angle 45
same_auto even_2x2.jpg a.jpg crop --size 21x9+13+5
same_auto even_2x2.jpg a.jpg crop --trim
same_auto even_2x2.jpg a.png flip --h
same_auto even.ppm a.ppm flip --h
same_auto even.ppm a.jpg flip --h
same_turn crop odd_2x2.jpg "-crop 20x17+16+16" crop --size 20x17+16+16 --lossless=auto --strict
same_turn flip even_2x2.jpg "-flip vertical -perfect" flip --v --lossless=auto --quality 60
gpuimg flip --h odd_2x2.jpg want.jpg
cat odd_2x2.jpg | gpuimg flip --h --lossless=auto - - >got.jpg
same "auto: a pipe" want.jpg got.jpg
gpuimg flip --h --lossless=auto - got.jpg <odd_2x2.jpg
same "auto: standard input that is a file" want.jpg got.jpg
gpuimg flip --h --lossless=auto <(cat odd_2x2.jpg) got.jpg
same "auto: a named pipe" want.jpg got.jpg
cat even_2x2.jpg | gpuimg flip --h --lossless=auto - - >got.jpg
jpegtran -copy all -perfect -flip horizontal -outfile want.jpg even_2x2.jpg
same "auto: a pipe that is turned" want.jpg got.jpg
expect_error 1 'flip: cut.jpg: is damaged: *' flip --h cut.jpg made.jpg --lossless=auto
mkdir -p tree/sub
cp even_2x2.jpg odd_2x2.jpg odd_1x1-progressive.jpg tree
expect 0 gpuimg convert odd.ppm tree/sub/odd.png
expect 0 gpuimg pages even.ppm odd.ppm --out tree/two.tif
expect 0 gpuimg flip --h --recursive tree --out-dir plain
cp want.jpg plain/even_2x2.jpg
expect 0 gpuimg flip --h --recursive tree --out-dir auto --lossless=auto --verbose
for line in "tree/odd_2x2.jpg: --lossless=auto: decoded and encoded: its width of 75 pixels is no multiple of 16, the width of its blocks, and an incomplete block can't be turned without loss" \
    "tree/sub/odd.png: --lossless=auto: decoded and encoded: its output is not one JPEG"; do
    check "auto: --verbose: $line" grep -qxF "gpuimg: flip: $line" err
done
check "auto: --verbose names nothing that is turned" test "$(grep -c 'even_2x2.*lossless=auto' err)" = 0
check "auto: a tree" diff -r plain auto
(cd tree && tar cf ../tree.tar ./*.jpg sub)
expect 0 gpuimg flip --h --tar tree.tar auto.tar --lossless=auto
mkdir untarred
tar xf auto.tar -C untarred
rm plain/two.tif
check "auto: a tar" diff -r plain untarred
expect 1 gpuimg flip --h --recursive tree --out-dir some --lossless
check "a tree: the error names the option for others" grep -qF "some/sub/odd.png: --lossless: writes JPEG, not png: want --lossless=auto, which decodes and encodes other formats, or --only '*.jpg,*.jpeg'" err
expect 1 gpuimg flip --h --recursive tree --out-dir some --lossless --format jpeg
check "a tree: the error of the input does, too" grep -qF "tree/sub/odd.png: --lossless: is png, and only a JPEG can be turned without loss: want --lossless=auto, which decodes and encodes other formats, or --only '*.jpg,*.jpeg'" err
expect_error 1 'flip: even.ppm: --lossless: is ppm, and only a JPEG can be turned without loss: want --lossless=auto, which decodes and encodes it' flip --h even.ppm made.jpg --lossless
expect_error 2 'flip: --lossless: samples are not decoded, want no --gray*' flip --h even_2x2.jpg made.jpg --lossless=auto --gray

# What can't be done.
expect_error 1 'flip: odd_2x2.jpg: its width of 75 pixels is no multiple of 16, the width of its blocks, * want --lossless=auto, which decodes and encodes such a file, --lossless=trim, which cuts it off, or no --lossless' flip --h odd_2x2.jpg made.jpg --lossless
expect_error 1 'rotate: odd_2x2.jpg: its height of 53 pixels is no multiple of 16*' rotate --angle 270 odd_2x2.jpg made.jpg --lossless
expect_error 2 'flip: made.png: --lossless: writes JPEG, not png: want the suffix .jpg' flip --h even_2x2.jpg made.png --lossless
expect_error 2 'flip: --lossless: samples are not decoded, want no --quality*' flip --h even_2x2.jpg made.jpg --lossless --quality 80
expect_error 2 'flip: --optimize no: a progressive JPEG has computed Huffman tables: want no --progressive' flip --h even_2x2.jpg made.jpg --progressive --optimize=no
expect_error 1 'rotate: even_2x2.jpg: --lossless: want a turn by 90, 180 or 270 degrees' rotate --angle 45 even_2x2.jpg made.jpg --lossless
expect_error 1 'crop: even_2x2.jpg: --lossless: --trim and --attention look at samples*' crop --trim even_2x2.jpg made.jpg --lossless
expect_error 1 'flip: cut.jpg: is damaged: *' flip --h cut.jpg made.jpg --lossless
expect 0 gpuimg flip --h cut.jpg got.jpg --lossless --allow-partial
expect_error 1 'flip: even_2x2.jpg: has 18432 bytes of coefficients, over the limit of 9000; --max-bytes raises it' flip --h even_2x2.jpg made.jpg --lossless --max-bytes 9000
expect_error 1 'flip: even_2x2.jpg: is 64 x 48 pixels, over the limit of 1000; *' flip --h even_2x2.jpg made.jpg --lossless --max-pixels 1000
finish
