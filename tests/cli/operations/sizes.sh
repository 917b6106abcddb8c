#!/bin/bash
# resize --sizes: several sizes from one decoding, and {width} and {height} in the names of outputs.
# Sources: cli/commands/resize.c cli/run/imaging_variants.c cli/paths/names.c
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata
pgm in.pgm 60 40
expect 0 gpuimg convert "$data/landscape.png" photo.jpg
expect 0 gpuimg orient photo.jpg turned.jpg --tag 6
expect 0 gpuimg convert "$data/coins16.png" deep.tif
expect 0 gpuimg convert photo.jpg float.pfm

# each of the results has the bytes that a command for this size alone gives
for input in photo.jpg turned.jpg deep.tif float.pfm; do
    for more in '' --linear '--fast --quality 70' '--fill --gravity north'; do
        [[ $more == --fast* && $input != *.jpg ]] && continue
        [[ $more == --linear && $input == float.pfm ]] && continue
        sizes=33,100 suffix=${input##*.}
        [[ $more == --fill* ]] && sizes=33x20,100x90
        rm -rf one && mkdir one
        # shellcheck disable=SC2086 # words
        expect 0 gpuimg resize "$input" --sizes $sizes --out "one/{width}.$suffix" $more
        for size in ${sizes/,/ }; do
            [[ $size == *x* ]] || size+=x
            # the plain command decodes at another scale with --fast
            [[ $more == --fast* && $size == 33x ]] && continue
            # shellcheck disable=SC2086
            expect 0 gpuimg resize "$input" "alone.$suffix" --size $size --no-enlarge $more
            same "$input --sizes $sizes $more: $size" "alone.$suffix" "one/${size%x*}.$suffix"
        done
    done
done

# a batch: folders by the size, and a report that lists the parts
mkdir in && cp photo.jpg in/b.jpg && cp in.pgm in/a.pgm && printf 'P5 60 40 255\n' >in/bad.pgm
expect 1 gpuimg resize in --recursive --sizes 30,x10,500 --out 'web/{width:03}/{stem}-{height}.{ext}' --report report.jsonl
check 'the files of a batch' test "$(cd web && echo */a-*)" = '015/a-10.pgm 030/a-20.pgm 060/a-40.pgm'
check 'and of the other image' test "$(cd web && echo */b-* | wc -w)" = 3
check 'a report lists the sizes' python3 -c '
import json, os
lines = [json.loads(line) for line in open("report.jsonl")][1:]
assert sorted(line["status"] for line in lines) == ["done", "done", "failed"], lines
for line in lines:
    for part in line.get("outputs", []):
        assert os.path.getsize(part["output"]) == part["output_bytes"]
    assert line["status"] == "failed" or len(line["outputs"]) == 3'
times=$(stat -c %y web/*/*)
expect 1 gpuimg resize in --recursive --sizes 30,x10,500 --out 'web/{width:03}/{stem}-{height}.{ext}' --report report.jsonl --resume
check '--resume skips finished inputs' test "$(stat -c %y web/*/*)" = "$times"
expect 0 gpuimg resize in/a.pgm in/b.jpg --sizes 30,20 --out-dir plain
check 'names without --out' test "$(ls plain | xargs)" = 'a-20.pgm a-30.pgm b-20.jpg b-30.jpg'

# sizes above that of the image
expect 0 gpuimg resize in.pgm 'large-{width}.pgm' --sizes 20,500,60,1000
check 'no image is enlarged' test "$(echo large-*)" = 'large-20.pgm large-60.pgm'
expect 0 gpuimg resize in.pgm 'larger-{width}.pgm' --sizes 20,90 --enlarge
check 'unless asked' test "$(echo larger-*)" = 'larger-20.pgm larger-90.pgm'
printf 'P5 1 1 255\na' >one.pgm
check 'from a pipe' gpuimg resize - 'one-{width}x{height}.pgm' --sizes 1,2,50% <one.pgm
check 'of one pixel' test "$(echo one-*)" = 'one-1x1.pgm'

# all of them or none
mkdir none && mkdir none/in-30.pgm
expect 1 gpuimg resize in.pgm --sizes 20,30,40 --out 'none/{stem}-{width}.pgm'
check 'all results or none' test "$(ls none)" = in-30.pgm
expect 0 gpuimg resize in.pgm 'kept-{width}.pgm' --sizes 20,30
expect 1 gpuimg resize in.pgm 'kept-{width}.pgm' --sizes 10,30 --no-clobber
check '--no-clobber leaves none' test "$(echo kept-*)" = 'kept-20.pgm kept-30.pgm'

# pages
expect 0 gpuimg pages in.pgm one.pgm --out pages.tif
expect 0 gpuimg resize pages.tif --sizes 20,40 --out 'page-{page}-{width}.pgm'
check 'each page in each size' test "$(echo page-*)" = 'page-0-20.pgm page-0-40.pgm page-1-1.pgm'
expect 0 gpuimg flip --h pages.tif --out 'turn-{page}-{width}.pgm'
check 'each page by its size' test "$(echo turn-*)" = 'turn-0-60.pgm turn-1-1.pgm'
expect 1 gpuimg resize pages.tif --sizes 20,40 --out 'made-{width}.pgm'
check 'pages need {page}' grep -q 'pages.tif: has 2 pages: want --out with {page} in it' err

# {width} in other names
expect 0 gpuimg crop in.pgm --size 10x8 --out 'crop-{width}x{height}.pgm'
check 'other operations' test -s crop-10x8.pgm
expect 0 gpuimg crop in.pgm 'crop-{height}.pgm' --size 10x9
check 'of one image' test -s crop-9.pgm
expect 0 gpuimg convert in.pgm --out '{stem}-{width}/{name}'
check 'without an operation' test -s in-60/in.pgm

# errors before any work
expect_error 2 'resize: --sizes: want {width} or {height} in the name of the output*' resize in.pgm made.pgm --sizes 10,20
expect_error 2 'resize: --sizes abc: want a width, WIDTHxHEIGHT, *' resize in.pgm 'made{width}.pgm' --sizes 10,abc
for list in '' , 10, ,10 10,,20 10,0 10,-5; do
    expect_error 2 'resize: --sizes *: want a width, *' resize in.pgm 'made{width}.pgm' --sizes="$list"
done
expect_error 2 'resize: --sizes: want no --size with it' resize in.pgm 'made{width}.pgm' --sizes 10 --size 5
expect_error 2 'resize: --sizes: want no --short with it' resize in.pgm 'made{width}.pgm' --sizes 10 --short 5
expect_error 2 'resize: --enlarge: want --sizes with it*' resize in.pgm made.pgm --size 10 --enlarge
expect_error 2 'resize: --sizes: --fill: want --size with width and height' resize in.pgm 'made{width}.pgm' --sizes 10 --fill
expect_error 2 'resize: --sizes: not of tars*' resize in.tar --tar --out 'made{width}.tar' --sizes 10
expect_error 2 'resize: --for: not of several sizes*' resize in.pgm --out 'made{width}.pgm' --sizes 10,20 --for '*' gaussian
expect_error 2 '*in.pgm: made-30.pgm would be the name of 30 x 20 and of 30 x 5 pixels: want {width} and {height} in it' \
    resize in.pgm 'made-{width}.pgm' --sizes 30x20,30x5 --stretch
expect_error 2 'resize: --sizes 0: want a width, *' resize in.pgm 'made{width}.pgm' --sizes 10,0
expect_error 2 'run: step 1: resize: --sizes: want the command resize, not a chain' run 'resize --sizes 10' in.pgm in.pgm --out-dir made
expect_error 2 'run: step 1: resize: --enlarge: want the command resize, not a chain' run 'resize --size 10x --enlarge' in.pgm in.pgm --out-dir made
check 'help run lists the options of a step' test "$(gpuimg help run | grep -cE '^  resize .*--(sizes|enlarge)')" = 0
expect_error 2 'crop: --out {size}.pgm: {size}.pgm: want*{width}, {height}*' crop in.pgm --size 5x5 --out '{size}.pgm'
expect_error 2 'stats: --out {width}.csv: *' stats in.pgm --out '{width}.csv'
finish
