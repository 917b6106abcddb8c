#!/bin/bash
# --max-pixels and --max-bytes limit the results of operations and the images that are read; for members of compressed tars
# they count the bytes that the tar stores for them.
# Sources: imgio/format* imgio/tar cli/inputs/tar*
. "$(dirname "$0")/../lib.sh"
ppm() { printf 'P6 %d %d 255\n' "$1" "$2"; head -c $((3 * $1 * $2)) /dev/urandom; }
ppm 100 80 >i.ppm
ppm 20 20 >other.ppm

# Results: each operation that chooses its size, alone, in a batch, in a chain, and after a step whose result is known late.
while read -r words; do
    name=${words%% *}
    # shellcheck disable=SC2086
    expect_error 1 "$name: *makes 5000 x 5000 pixels, over the limit of 1000000; --max-pixels raises it" \
        $words i.ppm made.ppm --max-pixels 1000000
    # shellcheck disable=SC2086
    expect_error 1 "$name: *makes 75000000 bytes of samples, over the limit of 10000000; --max-bytes raises it" \
        $words i.ppm made.ppm --max-bytes 10M
    # shellcheck disable=SC2086
    expect 1 gpuimg $words i.ppm other.ppm --out-dir batch --max-bytes 10M
    check "$name: the batch reports both files" test "$(grep -c -- '--max-bytes raises it$' err)" = 2
    check "$name: the batch leaves no file" test -z "$(ls -A batch 2>/dev/null)"
done <<'END'
pad --size 5000x5000
resize --size 5000x5000 --stretch
affine --matrix 1,0,0;0,1,0 --size 5000x5000
perspective --matrix 1,0,0;0,1,0;0,0,1 --size 5000x5000
warp-polar --size 5000x5000
END
expect_error 1 'run: *step 2, pad: makes 5000 x 5000 pixels, over the limit of 1000000; *' \
    run 'crop --trim | pad --size 5000x5000' i.ppm made.ppm --max-pixels 1M
expect_error 1 'run: *step 1, pad: makes *' run 'pad --size 5000x5000 | crop --size 10x10' i.ppm made.ppm --max-pixels 1M
expect_error 1 'rotate: *makes 1?? x 1?? pixels, over the limit of 9000; *' \
    rotate --angle 45 --expand i.ppm made.ppm --max-pixels 9000
expect_error 1 'montage: *makes * bytes of samples, over *; --max-bytes raises it' \
    montage i.ppm made.ppm --cell 5000x5000 --max-bytes 10M
expect_error 1 'montage: a sheet of * pixels: want at most 1000000 (--max-pixels)' \
    montage i.ppm made.ppm --cell 5000x5000 --max-pixels 1M

expect_error 1 'montage: makes * pixels, over the limit of 1000000; --max-pixels raises it' \
    montage i.ppm other.ppm made.ppm --cell 20x20 --margin 1000 --max-pixels 1M

# Arrays and results that have another sample type or more channels than the input.
{ printf 'P5 100 80 255\n'; head -c 8000 /dev/urandom; } >g.pgm
cp g.pgm h.pgm
for name in integral cumulative; do
    expect_error 1 "$name: makes 32000 bytes of numbers, over the limit of 31999; --max-bytes raises it" \
        $name g.pgm made.npy --max-bytes 31999
    expect 0 gpuimg $name g.pgm within.npy --max-bytes 32000
    expect 1 gpuimg $name g.pgm h.pgm --out-dir arrays --max-bytes 31999
    check "$name: the batch says it of both" test "$(grep -c -- '--max-bytes raises it$' err)" = 2
done
expect_error 1 'extract: makes 32000 bytes of numbers, over *; --max-bytes raises it' \
    extract g.pgm made.csv --labels labels.npy --max-bytes 31999
expect 0 gpuimg extract g.pgm within.csv --labels labels.npy --max-bytes 32000
expect_error 1 'stack: makes 32000 bytes of samples, over the limit of 31999; --max-bytes raises it' \
    stack g.pgm h.pgm made.tif --method sum --max-bytes 31999
expect 0 gpuimg stack g.pgm h.pgm within.tif --method sum --max-bytes 32000
expect 0 gpuimg stack g.pgm h.pgm within.pgm --method mean --max-bytes 9000
expect_error 1 'channels: makes 24000 bytes of samples, over the limit of 23999; --max-bytes raises it' \
    channels join g.pgm h.pgm g.pgm made.ppm --max-bytes 23999
expect 1 gpuimg channels alpha g.pgm h.pgm --out-dir alpha --max-bytes 15999
check 'a batch of channels says it' grep -q 'g.pgm: makes 16000 bytes of samples, over the limit of 15999; --max-bytes raises it$' err

# Streams and videos.
cat g.pgm h.pgm >stream.pgm
expect 1 gpuimg pad --size 5000x5000 stream.pgm made.pgm --max-bytes 10M
check 'a stream says it' grep -q 'makes 25000000 bytes of samples, over the limit of 10000000; --max-bytes raises it$' err
{ printf 'YUV4MPEG2 W10 H10 F25:1 Cmono\nFRAME\n'; head -c 100 /dev/urandom; } >video.y4m
expect 1 gpuimg pad --size 5000x5000 video.y4m made.y4m --max-pixels 1M
check 'a video says it' grep -q 'makes 5000 x 5000 pixels, over the limit of 1000000; --max-pixels raises it$' err

# A file with all bytes of its samples may exceed --max-pixels, and so may an operation that keeps or reduces its size.
expect 0 gpuimg blur i.ppm same.ppm --max-pixels 100
expect 0 gpuimg resize --size 50% i.ppm small.ppm --max-pixels 100
expect_error 1 'resize: *--max-pixels raises it' resize --size 101% i.ppm made.ppm --max-pixels 100

# A member of a compressed tar whose samples are all 0: 4 MB in some hundred bytes.
if command -v zstd >/dev/null && command -v tar >/dev/null; then
    { printf 'P5\n2000 2000\n255\n'; head -c 4000000 /dev/zero; } >zeros.pgm
    { printf 'P5\n2000 2000\n255\n'; head -c 4000000 /dev/urandom; } >noise.pgm
    printf 'P5\n2000 2000\n255\n' >holes.pgm
    truncate -s 4000017 holes.pgm
    for pack in gzip zstd; do
        tar cf - zeros.pgm i.ppm | "$pack" -c >bomb.tar.$pack
        expect 1 gpuimg stats --tar bomb.tar.$pack --table t.csv --max-pixels 1000000
        check "$pack: the large member is named" grep -q \
            "^gpuimg: stats: bomb.tar.$pack: zeros.pgm: 4000017 bytes, over the limit of 1000000, from [0-9]* bytes of the tar; --max-pixels raises it" err
        check "$pack: the other member has its row" grep -q 'i.ppm' t.csv
        expect 1 gpuimg blur --tar bomb.tar.$pack out.tar --max-pixels 1000000
        expect 0 gpuimg stats --tar bomb.tar.$pack --table t.csv --max-pixels 4000000
        tar cf - noise.pgm | "$pack" -c >honest.tar.$pack
        expect 0 gpuimg stats --tar honest.tar.$pack --table t.csv --max-pixels 1000000
    done
    tar cf - zeros.pgm >plain.tar
    expect 0 gpuimg stats --tar plain.tar --table t.csv --max-pixels 1000000
    tar cSf - holes.pgm >holes.tar
    expect 1 gpuimg stats --tar holes.tar --table t.csv --max-pixels 1000000
    cp bomb.tar.zstd a.tar.zst
    expect 2 gpuimg compare --tar a.tar.zst plain.tar --max-pixels 1000000
    check 'compare of tars names the large member' grep -q -- '--max-pixels raises it' err
else
    skip 'zstd or tar is missing'
fi
finish
