#!/bin/bash
# A JPEG whose scan a device encodes has the same bytes as the file that libjpeg-turbo encodes: every quality class, gray and
# colour, with and without restart markers, with metadata, in batches and in tars. Without a GPU, the CPU's primitive encodes.
# Sources: imgio/jpeg/jpeg_write imgio/save filters/pipeline cli/run/imaging_work kernels/cpu/codec kernels/cuda/codec
. "$(dirname "$0")/../lib.sh"
picture=$tests/../../testdata/picture.png
# The devices, as words of a command: the CPU, which encodes scans only if its way is forced, and a GPU.
encoders=("GPUIMG_WAY=cpu/jpeg_encode:blocks --device cpu")
if gpuimg gaussian "$picture" out.png --sigma 1 --device cuda 2>/dev/null; then
    encoders+=("GPUIMG_WAY=cuda/jpeg_encode:tiles --device cuda")
else
    skip "jpeg_scan: no CUDA device"
fi

# same FILE COMMAND...: FILE, which the command writes on the CPU, is also written where a scan is encoded.
same() {
    local file=$1 encoder way
    shift
    expect 0 gpuimg "$@" --device cpu
    rm -rf want
    mv "$file" want
    for encoder in "${encoders[@]}"; do
        way=${encoder%% *}
        # shellcheck disable=SC2086 # words
        expect 0 env "$way" "$GPUIMG" "$@" ${encoder#* } -v
        check "$*: ${encoder#* } encodes the scan" grep -q "${way##*/jpeg_encode:}" <(grep -o 'jpeg_encode [a-z]*' err)
        check "$*: ${encoder#* } writes the bytes of the CPU" diff -rq want "$file"
        rm -rf "$file"
    done
}

for quality in 1 10 50 75 89 90 95 100; do
    same out.jpg gaussian "$picture" out.jpg --sigma 1 --quality $quality
    same out.jpg gaussian "$picture" out.jpg --sigma 1 --quality $quality --gray
done
# Sizes modulo an MCU, and sizes with several restart intervals.
for size in 1x1 7x9 8x8 17x15 33x16 15x40 513x700 1300x900; do
    same out.jpg resize "$picture" out.jpg --size $size --quality 80
    same out.jpg resize "$picture" out.jpg --size $size
done
# Metadata is in the head, which libjpeg-turbo writes.
expect 0 gpuimg gaussian "$picture" in.jpg --sigma 1 --dpi 300
same out.jpg median in.jpg out.jpg --dpi 72
same out.jpg run 'gaussian --sigma 2 | edges' in.jpg out.jpg
same out.jpg run 'gaussian --sigma 2 | histogram --to h.csv' in.jpg out.jpg
# Standard output, a batch, and the members of a tar.
mkdir in
for i in 1 2 3; do expect 0 gpuimg resize "$picture" in/$i.jpg --size $((40 * i))x$((50 * i)); done
tar cf in.tar in
same results invert --recursive in --out-dir results
same out.tar invert --tar in.tar out.tar

# Results that are converted first are encoded by libjpeg-turbo.
other() { # other WORD...: the forced encoder does not run
    expect 2 env GPUIMG_WAY=cpu/jpeg_encode:blocks "$GPUIMG" "$@" --device cpu
}
other gaussian "$picture" out.jpg --sigma 1 --work-depth 16
other gaussian "$picture" out.jpg --sigma 1 --linear
other gaussian "$picture" out.png --sigma 1
finish
