#!/bin/bash
# flip --random: names and --seed decide, the same in files, tars, shards and threads. Oracle: Pillow's transpose().
# Sources: cli/run/ready* filters/random* filters/geometry/flip.c
. "$(dirname "$0")/../lib.sh"
printf 'P5\n3 2\n255\n\001\002\003\004\005\006' >one.pgm
mkdir in masks
for i in {000..199}; do
    cp one.pgm in/n$i.pgm
    cp one.pgm masks/n$i.mask.pgm
done

expect 0 gpuimg flip --random in/*.pgm --out-dir free
expect 0 gpuimg flip --random --h in/*.pgm --out-dir sideways
expect 0 gpuimg flip --random --v in/*.pgm --out-dir upright
expect 0 gpuimg flip --random --quarter-turns in/*.pgm --out-dir turned
expect 0 gpuimg flip --random --seed 7 in/*.pgm --out-dir other
# Each way occurs about as often as any other, in images that Pillow makes too.
if /usr/bin/python3 -c "import PIL" 2>/dev/null; then
    check "ways as Pillow, each as often" /usr/bin/python3 -c '
import collections, glob
from PIL import Image
T = Image.Transpose
one = Image.open("one.pgm")
turns = {"free": [None, T.FLIP_LEFT_RIGHT, T.FLIP_TOP_BOTTOM, T.ROTATE_180], "sideways": [None, T.FLIP_LEFT_RIGHT],
         "upright": [None, T.FLIP_TOP_BOTTOM], "turned": [None] + list(T), "other": [None, T.FLIP_LEFT_RIGHT, T.FLIP_TOP_BOTTOM, T.ROTATE_180]}
for folder, ways in turns.items():
    known = {(i.size, i.tobytes()): k for k, i in enumerate(one if w is None else one.transpose(w) for w in ways)}
    found = collections.Counter()
    for name in glob.glob(folder + "/*.pgm"):
        image = Image.open(name)
        found[known[image.size, image.tobytes()]] += 1
    n = 200 / len(ways)
    assert sum(found.values()) == 200 and len(found) == len(ways), (folder, found)
    assert all(abs(v - n) < 4 * n ** 0.5 for v in found.values()), (folder, found)
'
else
    skip "ways: no Pillow"
fi
check "another seed, other images" test "$(diff -rq free other | wc -l)" -gt 100
expect 0 gpuimg flip --random --seed 0 in/*.pgm --out-dir zero
check "the seed is 0 if none is given" diff -r free zero

# Threads, shards, chains and another folder change nothing.
expect 0 gpuimg flip --random in/*.pgm --out-dir serial --threads 1
check "threads" diff -r free serial
for shard in 1/3 2/3 3/3; do
    expect 0 gpuimg run 'crop --size 100% | flip --random' --recursive in --out-dir shards --shard $shard
done
check "shards and chains" diff -r free "$(find shards -name n000.pgm -printf %h)"

# Files of one sample are flipped alike.
expect 0 gpuimg flip --random --quarter-turns masks/*.pgm --out-dir masked
for i in {000..199}; do
    cmp -s turned/n$i.pgm masked/n$i.mask.pgm || echo $i
done >differ
check "masks as their images" test ! -s differ
mkdir samples
for i in {000..049}; do
    cp one.pgm samples/n$i.pgm
    cp one.pgm samples/n$i.seg.pgm
    echo $i >samples/n$i.cls
done
tar -cf first.tar -C samples . && tar -cf second.tar -C samples --transform 's,^\./,,' .
for tar in first second; do
    expect 0 gpuimg flip --random --quarter-turns $tar.tar $tar.out.tar --tar
    mkdir $tar
    tar -xf $tar.out.tar -C $tar
    for i in {000..049}; do
        cmp -s turned/n$i.pgm $tar/n$i.pgm && cmp -s turned/n$i.pgm $tar/n$i.seg.pgm || echo $i
    done >differ
    check "$tar.tar: members as files" test ! -s differ
done

# One large file, in bands, from standard input, and as a JPEG that is not decoded.
expect 0 gpuimg flip --random in/n003.pgm alone.pgm
check "a single file" cmp alone.pgm free/n003.pgm
for i in {000..005}; do
    cp "$tests/../../testdata/picture.png" n$i.png
    expect 0 gpuimg resize n$i.png n$i.jpg --size 64x32 --stretch
    expect 0 gpuimg flip --random n$i.jpg made.jpg --lossless
    expect 0 gpuimg flip --random n$i.jpg made.png
    expect 0 gpuimg compare made.jpg made.png --max-diff 24
done

# A video's planes and frames are flipped alike.
printf 'YUV4MPEG2 W4 H2 F1:1 C420\nFRAME\n\001\002\003\004\005\006\007\010\011\012\013\014FRAME\n\001\002\003\004\005\006\007\010\011\012\013\014' >n001.y4m
cp n001.y4m -- n002.y4m
for i in 001 002; do
    expect 0 gpuimg flip --random n$i.y4m made.y4m
    tail -c +"$(($(grep -abo FRAME made.y4m | head -1 | cut -d: -f1) + 1))" made.y4m >frames
    check "n$i.y4m: both frames alike" cmp <(head -c 18 frames) <(tail -c 18 frames)
done
rm -f made.*

expect_error 2 'flip: --seed: want --random with it' flip one.pgm out.pgm --h --seed 2
expect_error 2 'flip: --quarter-turns: want --random with it' flip one.pgm out.pgm --h --quarter-turns
expect_error 2 'flip: --quarter-turns: want no --h with it' flip one.pgm out.pgm --random --h --quarter-turns
expect_error 2 'flip: want --h, --v, both or --random*' flip one.pgm out.pgm
finish
