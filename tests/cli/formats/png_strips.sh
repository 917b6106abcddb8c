#!/bin/bash
# A PNG whose strips a GPU encodes has the same bytes as the file that the CPU encodes: gray and colour, with alpha, 8 and 16 bits,
# contents that suit runs and contents that don't, with metadata, in batches, in tars and through a pipe.
# Sources: imgio/png/png_strips imgio/save filters/pipeline filters/coded cli/run/imaging_work kernels/cuda/codec
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata
if ! gpuimg gaussian "$data/scene.png" out.png --sigma 1 --device cuda 2>/dev/null; then
    skip "png_strips: no CUDA device, which encodes PNGs"
    finish
    exit
fi

# same FILE COMMAND...: FILE, which the command writes on the CPU, is also written where the GPU encodes it.
same() {
    local file=$1
    shift
    expect 0 gpuimg "$@" --device cpu
    rm -rf want
    mv "$file" want
    expect 0 gpuimg "$@" --device cuda -v
    check "$*: the GPU encodes" grep -q 'png_encode groups' err
    check "$*: the bytes of the CPU" diff -rq want "$file"
    rm -rf "$file"
}

for picture in "$data"/scene.png "$data"/picture.png "$data"/coins.png "$data"/scene16.png "$data"/coins16.png; do
    same out.png gaussian "$picture" out.png --sigma 2
    same out.png invert "$picture" out.png
    same out.png blur "$picture" out.png --k 41
done
expect 0 gpuimg convert "$data/scene.png" mask.png --gray
expect 0 gpuimg channels alpha "$data/scene.png" mask.png alpha.png
same out.png gaussian alpha.png out.png --sigma 2
expect 0 gpuimg channels alpha mask.png mask.png alpha.png
same out.png gaussian alpha.png out.png --sigma 2
same out.png threshold "$data/picture.png" out.png
same out.png gaussian "$data/scene.png" out.png --sigma 2 --depth 16
same out.png quantize "$data/picture.png" out.png --colors 5
for size in 1x1 7x9 1x700 700x1 33x16 1300x900; do
    same out.png resize "$data/picture.png" out.png --size $size --stretch
done
# Metadata is in chunks of its own.
expect 0 gpuimg gaussian "$data/scene.png" in.png --sigma 1 --dpi 300
same out.png median in.png out.png --dpi 72
same out.png run 'gaussian --sigma 2 | histogram --to h.csv' in.png out.png
# A batch, the members of a tar, and standard output.
mkdir in
for i in 1 2 3; do expect 0 gpuimg resize "$data/picture.png" in/$i.png --size $((40 * i))x$((50 * i)); done
tar cf in.tar in
same results invert --recursive in --out-dir results
same out.tar invert --tar in.tar out.tar
expect 0 bash -c "'$GPUIMG' invert in.png png:- --device cpu >want.png && '$GPUIMG' invert in.png png:- --device cuda >out.png"
check "standard output" cmp want.png out.png

# Other compressions and conversions are encoded by the CPU.
for options in "--compression 6" "--work-depth float" "--work-depth 16 --depth 8"; do
    # shellcheck disable=SC2086 # options are words
    expect 0 gpuimg gaussian "$data/scene.png" out.png --sigma 1 $options --device cuda -v
    check "$options: the CPU encodes" bash -c '! grep -q png_encode err'
done
finish
