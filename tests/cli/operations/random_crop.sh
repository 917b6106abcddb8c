#!/bin/bash
# crop --random: places follow from the seed and the name alone, in files, tars, chains and by any number of threads.
# Sources: geometry filters/random.c cli/run/ready.c
. "$(dirname "$0")/../lib.sh"

# 400 names of one image, whose samples are their places: red is the column, green the row.
mkdir in other
/usr/bin/python3 - <<'END'
import os
body = b"".join(bytes([x, y, 0]) for y in range(90) for x in range(120))
open("in/0.ppm", "wb").write(b"P6\n120 90\n255\n" + body)
for i in range(1, 400):
    os.link("in/0.ppm", f"in/{i}.ppm")
END
ln in/7.ppm other/7.mask.ppm
expect 0 gpuimg crop --recursive in --out-dir cut --size 117x87 --random --seed 3
expect 0 gpuimg crop --recursive in --out-dir alone --size 117x87 --random --seed 3 --threads 1
check "one thread" diff -r cut alone
# The same places by SplitMix64 as it is published, all about equally often (chi square, 15 degrees of freedom).
check "the places" /usr/bin/python3 - <<'END'
M = (1 << 64) - 1
def mix(v):
    v = v + 0x9e3779b97f4a7c15 & M
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9 & M
    v = (v ^ v >> 27) * 0x94d049bb133111eb & M
    return v ^ v >> 31
def hashed(text):
    state = 0
    for c in text.encode():
        state = mix(state ^ c)
    return state
def below(n, seed, name, axis):
    bits = mix(mix(hashed(name) ^ hashed("crop")) ^ seed)
    return (bits & 0xffffffff if axis else bits >> 32) * n >> 32
counts = [0] * 16
for i in range(400):
    x, y = open(f"cut/{i}.ppm", "rb").read()[len(b"P6\n117 87\n255\n"):][:2]
    assert (x, y) == (below(4, 3, str(i), 0), below(4, 3, str(i), 1)), (i, x, y)
    counts[4 * y + x] += 1
assert sum((n - 25) ** 2 / 25 for n in counts) < 38, counts # exceeded by chance in one of 1000 cases
END
expect 0 gpuimg crop other/7.mask.ppm cut.ppm --size 117x87 --random --seed 3
same "another folder and suffix" cut.ppm cut/7.ppm
expect 0 gpuimg run 'crop --random --seed 3 --size 117x87 | pad --margins 1' in/7.ppm padded.ppm
expect 0 gpuimg crop padded.ppm cut.ppm --size 117x87+1+1
same "in a chain" cut.ppm cut/7.ppm
expect 0 gpuimg crop --recursive in --out-dir later --size 117x87 --random --seed 4
check "another seed" test "$(diff -rq cut later | wc -l)" -gt 300

# The members of a sample of a WebDataset have the place of their key, as in files.
for i in 7 8; do
    cp in/$i.ppm $i.ppm
    cp in/$i.ppm $i.mask.ppm
done
tar -cf samples.tar 7.ppm 7.mask.ppm 8.ppm 8.mask.ppm
expect 0 gpuimg crop --tar samples.tar cut.tar --size 117x87 --random --seed 3
mkdir unpacked
tar -xf cut.tar -C unpacked
for i in 7 8; do
    same "member $i" unpacked/$i.ppm cut/$i.ppm
    same "the mask of member $i" unpacked/$i.mask.ppm cut/$i.ppm
done
# The pages of a file have one place.
expect 0 gpuimg pages in/7.ppm in/8.ppm --out 7.tif
expect 0 gpuimg crop 7.tif pages.tif --size 117x87 --random --seed 3
for page in 0 1; do
    expect 0 gpuimg convert "pages.tif[$page]" page.ppm
    same "page $page" page.ppm cut/7.ppm
done

expect_error 2 'crop: --seed: want --random with it' crop in/7.ppm made.ppm --seed 3 --size 9x9
for option in trim clip attention; do
    expect_error 2 'crop: --*: want no --*' crop in/7.ppm made.ppm --random --size 9x9 --$option
done
expect_error 2 'crop: --random: want --size or --aspect with it' crop in/7.ppm made.ppm --random
expect_error 2 'crop: --random: want a --size without an offset' crop in/7.ppm made.ppm --random --size 9x9+0+0
expect_error 2 'crop: --size 121x9*: extends past the image*' crop in/7.ppm made.ppm --random --size 121x9
finish
