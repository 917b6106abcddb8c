#!/bin/bash
# JPEGs that reach the chain as coded scans give the bytes, the messages and the reports of JPEGs that libjpeg-turbo decodes.
# Usage: coded_jpeg.sh GPUIMG
# Sources: imgio/jpeg/jpeg_coded.c cli/run/imaging cli/run/session codec filters/coded.c
. "$(dirname "$0")/../lib.sh"

# The CPU decodes coded scans only if it is forced to.
forced() { GPUIMG_WAY=jpeg_decode:sequential gpuimg "$@" --device cpu; }
plain() { gpuimg "$@" --device cpu; }

# same NAME ARGS...: the command "ARGS... OUTPUT" succeeds both ways and writes the same bytes.
same() {
    local name=$1
    shift
    expect 0 plain "$@" plain.png
    expect 0 forced "$@" forced.png
    if cmp -s plain.png forced.png; then pass; else fail "$name" "other bytes"; fi
}

# same_failure STATUS ARGS...: the command fails both ways with the same message.
same_failure() {
    local status=$1 message
    shift
    expect "$status" plain "$@"
    message=$(<err)
    expect "$status" forced "$@"
    if [[ $(<err) == "$message" ]]; then pass; else fail "$*" "message: $(<err)" "want: $message"; fi
}

if ! command -v cjpeg >/dev/null || ! command -v jpegtran >/dev/null; then
    skip "coded_jpeg: no cjpeg or no jpegtran, which make the JPEGs"
    finish
    exit
fi
gpuimg convert "$tests/../../testdata/scene.png" scene.ppm
gpuimg convert scene.ppm gray.pgm --gray
cjpeg -quality 90 -sample 1x1 scene.ppm >full.jpg
cjpeg -quality 85 -sample 2x2 -restart 3 scene.ppm >half.jpg
cjpeg -quality 75 -sample 2x1 -optimize scene.ppm >wide.jpg
cjpeg -quality 60 gray.pgm >gray.jpg
cjpeg -quality 80 -progressive scene.ppm >progressive.jpg

for file in full half wide gray; do
    same "$file.jpg" gaussian "$file.jpg" --sigma 2
    expect 0 forced run 'invert | blur --k 5' "$file.jpg" out.png -v
    check "$file.jpg is decoded by the primitive" grep -q 'jpeg_decode sequential' err
done
same "a reduced image" resize half.jpg --size 100x80 --fast
same "a chain with an analysis" run 'gaussian --sigma 1 | stats | invert' half.jpg
# An analysis alone, of which only the report of "extract --crops" shows samples.
for analysis in stats histogram; do
    expect 0 plain $analysis half.jpg --format json
    mv out plain.json
    expect 0 forced $analysis half.jpg --format json -v
    mv out forced.json
    check "$analysis: decoded by the primitive" grep -q 'jpeg_decode sequential' err
    check "$analysis of a coded JPEG" cmp plain.json forced.json
done
expect 0 plain stats full.jpg half.jpg wide.jpg --table plain.csv
expect 0 forced stats full.jpg half.jpg wide.jpg --table forced.csv -v
check "a table: decoded by the primitive" grep -q 'jpeg_decode sequential x 3' err
check "a table of coded JPEGs" cmp plain.csv forced.csv
expect 2 forced extract gray.jpg regions.csv --crops crops
check "extract --crops: decoded by imgio" grep -q 'no jpeg_decode has run' err
expect 0 gpuimg gaussian half.jpg plain.png --sigma 2 --device cpu -v
check "the CPU does not decode scans unless it is forced to" bash -c '! grep -q jpeg_decode err'

# Conversions between decoding and the chain, and files that imgio decodes: the primitive never runs.
same_failure 2 gaussian full.jpg out.png --sigma 1 --no-such-option
for options in --gray "--depth 16" --linear --allow-partial; do
    # shellcheck disable=SC2086 # options are words
    expect 2 forced gaussian full.jpg out.png --sigma 1 $options
    check "$options: decoded by imgio" grep -q 'no jpeg_decode has run' err
done
expect 2 forced gaussian progressive.jpg out.png --sigma 1
check "progressive: decoded by imgio" grep -q 'no jpeg_decode has run' err

# Damage that only the decoder notices.
size=$(stat -c %s full.jpg)
head -c $((size / 2)) full.jpg >cut.jpg
printf '\xff\xd9' >>cut.jpg
same_failure 1 gaussian cut.jpg damaged.png --sigma 1
same_failure 1 stats cut.jpg
{
    head -c $((size / 2)) full.jpg
    printf '\xff\xd3' # a restart marker, which this file has not announced
    tail -c $((size / 2)) full.jpg
} >marker.jpg
same_failure 1 gaussian marker.jpg damaged.png --sigma 1
check "no output of a damaged file" test ! -e damaged.png

# A second image after the first is warned about once.
{ cat full.jpg; head -c 9 /dev/zero; cat gray.jpg; } >two.jpg # directly behind it would be a stream
expect 0 forced gaussian two.jpg out.png --sigma 1
check "one warning" test "$(grep -c 'holds more images' err)" = 1

# Standard input, and batches of files and of a tar.
expect 0 bash -c "GPUIMG_WAY=jpeg_decode:sequential '$GPUIMG' gaussian - piped.png --sigma 2 --device cpu <half.jpg"
plain gaussian half.jpg plain.png --sigma 2
check "standard input" cmp plain.png piped.png
expect 0 plain gaussian full.jpg half.jpg wide.jpg gray.jpg --sigma 2 --out-dir plain --format png
expect 1 forced gaussian full.jpg half.jpg wide.jpg gray.jpg cut.jpg progressive.jpg --sigma 2 --out-dir forced --format png
for file in full half wide gray; do
    check "batch: $file" cmp "plain/$file.png" "forced/$file.png"
done
check "batch: the damaged file has no output" test ! -e forced/cut.png
check "batch: the progressive file has one" test -e forced/progressive.png

# A GPU decodes the JPEGs of a batch without being forced to, and leaves the others to imgio.
if gpuimg gaussian full.jpg out.png --sigma 1 --device cuda 2>/dev/null; then
    expect 1 gpuimg gaussian full.jpg half.jpg wide.jpg gray.jpg cut.jpg progressive.jpg --sigma 2 --out-dir cuda --format png --device cuda -v
    for file in full half wide gray; do
        check "cuda: $file" cmp "plain/$file.png" "cuda/$file.png"
    done
    check "cuda: the progressive file has the CPU's result" cmp forced/progressive.png cuda/progressive.png
    check "cuda: the damaged file has no output" test ! -e cuda/cut.png
    expect 0 gpuimg gaussian full.jpg half.jpg wide.jpg gray.jpg --sigma 2 --out-dir cuda --format png --device cuda -v
    check "cuda: the device decodes" grep -q 'ways cuda:.*jpeg_decode subsequences' err
else
    skip "no CUDA device, which decodes JPEGs"
fi

finish
