#!/bin/bash
# Streams of PNG, JPEG and WebP, one image behind the other, through pipes and as files: each is processed.
# Usage: images.sh GPUIMG
# Sources: cli/inputs/stream* imgio/image_stream*
. "$(dirname "$0")/../lib.sh"
webp=yes
gpuimg list | grep -q 'webp .*this build has no' && webp=
printf 'P5 40 30 255\n' >in.pgm
head -c 1200 /dev/urandom >>in.pgm
for i in 1 2 3; do
    gpuimg gamma in.pgm $i.pgm --gamma 1.$i
    gpuimg convert $i.pgm $i.png
    gpuimg convert $i.pgm $i.jpg
    [[ $webp ]] && gpuimg convert $i.pgm $i.webp
done
# piped ARGUMENT...: gpuimg, which reads the file $images through a pipe.
# shellcheck disable=SC2002 # a file on standard input is no pipe
piped() { cat "$images" | gpuimg "$@"; }
fed() { gpuimg "$@" <"$images"; }
formats="png jpg ${webp:+webp}"
for format in $formats; do
    images=all.$format
    cat {1,2,3}.$format >$images
    name=$format
    [[ $format == jpg ]] && name=jpeg
    for i in 1 2 3; do gpuimg invert $i.$format - --format $name; done >want.$format
    for i in 1 2 3; do gpuimg invert $i.$format - --format pnm; done >want.pnm
    expect 0 piped invert - -
    same "$format: every image, in the format that it came in" out want.$format
    check "$format: no warning" test ! -s err
    expect 0 piped invert - pnm:-
    same "$format: to PNM" out want.pnm
    expect 0 piped run 'invert' - got.pnm
    same "$format: into a file of PNM" got.pnm want.pnm
    expect 0 piped stats - --table t.csv
    check "$format: a table has a row per image" test "$(sed 1d t.csv | cut -d, -f 1 | sort -u | wc -l)" = 3
    expect 0 piped invert - - --report r.jsonl
    check "$format: a report has a line per image" test "$(grep -c '"status": "done"' r.jsonl)" -ge 3
    # A file holds one image of these formats, but a WebP is an animation.
    one=$format holder=$name
    [[ $format != webp ]] || one=bmp holder=bmp
    expect 2 piped invert - made.$one
    check "$format: a file holds one image" test "$(<err)" = "gpuimg: invert: made.$one: $holder holds one image, and more come through standard input: want {index:03} in its name, -, a TIFF or a file of PNM"
    # The last image is cut off: the others are delivered.
    head -c -30 $images >cut.$format
    images=cut.$format
    expect 1 piped invert - -
    for i in 1 2; do gpuimg invert $i.$format - --format $name; done >want2.$format
    same "$format: what came before the cut is delivered" out want2.$format
    # What follows is no image.
    { cat all.$format; printf 'trailing'; } >junk.$format
    images=junk.$format
    expect 0 piped invert - -
    same "$format: trailing bytes, all images are delivered" out want.$format
    check "$format: trailing bytes cause a warning" test "$(<err)" = 'gpuimg: warning: invert: standard input: bytes that are no image follow image 3'
    expect 1 piped invert - - --strict
    check "$format: trailing bytes are an error with --strict" grep -qx 'gpuimg: invert: standard input: bytes that are no image follow image 3' err
    # A file is a stream as what comes through a pipe is, by its name and as standard input.
    images=all.$format
    for way in name input; do
        from=(invert all.$format)
        [[ $way == input ]] && from=(invert -)
        expect 0 fed "${from[@]}" -
        same "$format: a file by $way" out want.$format
        check "$format: a file by $way: no warning" test ! -s err
        expect 0 fed "${from[@]}" made.pnm
        same "$format: a file by $way, to PNM" made.pnm want.pnm
        rm -f each-*
        expect 0 fed "${from[@]}" each-{index}.$format
        cat each-{1,2,3}.$format >joined
        same "$format: a file by $way, each to a file" joined want.$format
        expect 0 fed stats "${from[1]}" --table t.csv
        check "$format: a table of a file by $way" test "$(sed 1d t.csv | cut -d, -f 1 | sort -u | wc -l)" = 3
        rm -f made.$one
        expect 2 fed "${from[@]}" made.$one
        check "$format: a file by $way: its images are too many for one file" grep -q "^gpuimg: invert: made.$one: $holder holds one image, and more come through .*: want {index:03} in its name" err
        check "$format: no output then" test ! -e made.$one
    done
    { head -c 9 /dev/urandom; cat all.$format; } >late
    { dd bs=1 count=9 of=/dev/null status=none; gpuimg invert - -; } <late >out
    same "$format: from the position of standard input" out want.$format
    expect 0 gpuimg invert "all.$format[0]" made.$format
    gpuimg invert 1.$format want1.$format
    same "$format: the first alone" made.$format want1.$format
    { cat 1.$format; printf '\n\n'; cat 2.pgm 3.$format; } >spaced.$format
    expect 0 gpuimg invert spaced.$format pnm:-
    { gpuimg invert 1.$format pnm:-; gpuimg invert 2.pgm pnm:-; gpuimg invert 3.$format pnm:-; } >want.mixed
    same "$format: white space and another format in a file" out want.mixed
    expect 1 gpuimg invert cut.$format -
    same "$format: of a cut file what came before is delivered" out want2.$format
    { cat 1.$format; printf 'trailing'; cat 2.$format; } >garbage.$format
    expect 0 gpuimg invert garbage.$format made1.$format
    same "$format: other bytes between images of a file are no stream" made1.$format want1.$format
    rm -f made.$format
    # One image alone is no stream.
    images=1.$format
    expect 0 piped invert - one.$format
    gpuimg invert 1.$format want1.$format
    same "$format: a single image" one.$format want1.$format
    check "$format: a single image causes no warning" test ! -s err
    { cat 1.$format; printf 'trailing'; } >junk1.$format
    images=junk1.$format
    expect 0 piped invert - one.$format
    same "$format: a single image before other bytes" one.$format want1.$format
    check "$format: a warning names bytes behind a single image" test "$(<err)" = 'gpuimg: warning: invert: standard input: bytes that are no image follow image 1'
    expect 0 piped invert - - --report r.jsonl
    check "$format: the warning of a stream of one image" test "$(grep -c 'bytes that are no image' err)" = 1
    expect 1 piped invert - made.$format --strict
    check "$format: with --strict an error" test "$(<err)" = 'gpuimg: invert: standard input: bytes that are no image follow image 1'
    check "$format: no output then" test ! -e made.$one
done
# Lengths of WebP files of all residues modulo 4 are even; the next image begins right after each.
if [[ $webp ]]; then
    : >lengths.webp
    : >want.webp
    for width in {20..39}; do
        gpuimg crop 1.pgm part.webp --size "${width}x7"
        cat part.webp >>lengths.webp
        gpuimg invert part.webp - --format webp >>want.webp
        echo $(($(wc -c <part.webp) % 4))
    done >residues
    check "the WebP files have both even residues" test "$(sort -u residues | tr '\n' ' ')" = '0 2 '
    images=lengths.webp
    expect 0 piped invert - -
    same "WebP files of different lengths" out want.webp
fi
# Formats may change within a stream, and PNM goes into coded formats.
cat 1.png 2.pgm 3.jpg >mixed
images=mixed
expect 0 piped invert - pgm:-
{ gpuimg invert 1.png pgm:-; gpuimg invert 2.pgm pgm:-; gpuimg invert 3.jpg pgm:-; } >want.pgm
same "formats may change" out want.pgm
cat {1,2,3}.pgm >all.pgm
images=all.pgm
expect 0 piped invert - png:-
for i in 1 2 3; do gpuimg invert $i.pgm png:-; done >want.png
same "PNM to PNG" out want.png
# Images that a JPEG's index names belong to it and are no stream.
python3 - <<'END'
data = open("1.jpg", "rb").read()
body = b"MPF\0" + bytes(20)
open("indexed.jpg", "wb").write(data[:2] + b"\xff\xe2" + (len(body) + 2).to_bytes(2, "big") + body + data[2:] + open("2.jpg", "rb").read())
END
images=indexed.jpg
expect 0 piped invert - one.pgm
gpuimg invert 1.jpg want1.pgm
same "the first image of a multi-picture file" one.pgm want1.pgm
# ffmpeg, where there is one.
if command -v ffmpeg >/dev/null && ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=10:duration=1 -f image2pipe -c:v png frames.png; then
    images=frames.png
    expect 0 piped blur - frames.pnm
    expect 0 gpuimg stats frames.pnm --table t.csv
    check "ffmpeg: ten frames" test "$(sed 1d t.csv | cut -d, -f 1 | sort -u | wc -l)" = 10
fi
finish
