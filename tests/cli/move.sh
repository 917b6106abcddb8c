#!/bin/bash
# Operations that move pixels: what their options are refused for, chains of them, bands.
. "$(dirname "$0")/lib.sh"
pgm in.pgm 9 7

expect_error 2 'crop: want --size WIDTHxHEIGHT* --trim*' crop in.pgm out.pgm
for size in '' 0x5 5 x 5x5+1 5x5+1+ -5x5 5x5x5 1e3x5 nanx5 5.5x5 5x5+1.5+1 99999999999x5; do
    expect_error 2 "crop: --size $size: want WIDTHxHEIGHT*" crop in.pgm out.pgm "--size=$size"
done
expect_error 2 'crop: --size 10x5+0+0: reaches out of the 9 x 7 pixels that there are: want it within, or --clip*' crop in.pgm out.pgm --size 10x5
expect_error 2 '*reaches out of the 9 x 7*' crop in.pgm out.pgm --size 3x3+7+0
expect_error 2 '*reaches out of the 9 x 7*' crop in.pgm out.pgm --size 3x3-1+0
expect_error 2 '*reaches out of the 9 x 7*' crop in.pgm out.pgm --size 3x3+1000000000+1000000000
expect_error 2 'crop: --size: lies outside the 9 x 7 pixels*' crop in.pgm out.pgm --size 3x3+50+0 --clip
expect_error 2 'crop: --gravity up: want northwest, north*' crop in.pgm out.pgm --size 3x3 --gravity up
expect_error 2 'crop: --tolerance 101: want 0 to 100*' crop in.pgm out.pgm --trim --tolerance 101
check "nothing was written" test ! -e out.pgm
expect 0 gpuimg crop in.pgm out.pgm --rect 9x7
check "all of it" cmp in.pgm out.pgm
expect 0 gpuimg crop in.pgm out.pgm --size 50%+1+20%
check "per cent" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 5 x 4'

expect_error 2 'pad: want --by N* --size WIDTHxHEIGHT*' pad in.pgm out.pgm --border wrap
expect_error 2 'pad: --by, --size: want one of them*' pad in.pgm out.pgm --by 3 --size 20x20
expect_error 2 'pad: --by: 3 numbers: want 1, 2 or 4*' pad in.pgm out.pgm --by 1,2,3
for by in -1 1.5 2000000000; do
    expect_error 2 "pad: --by $by: want a whole number, 0 to 1000000000 px*" pad in.pgm out.pgm --by=$by
done
expect_error 2 'pad: --size 5x20: the image has 9 x 7 pixels: want at least these*' pad in.pgm out.pgm --size 5x20
expect_error 2 'pad: --border black-hole: want clamp, border*' pad in.pgm out.pgm --by 1 --border black-hole
expect_error 2 'flip: want --h, --v or both*' flip in.pgm out.pgm
expect 0 gpuimg flip in.pgm out.pgm --horizontal
expect 0 gpuimg flip out.pgm out.pgm --h
check "there and back" cmp in.pgm out.pgm

# Chains, with a step whose result is known only once it has looked.
expect 0 gpuimg run 'pad --by 2,3,4,5 --background 254 | crop --trim | flip --v | flip --v' in.pgm out.pgm
check "pad and trim" cmp in.pgm out.pgm
expect 0 gpuimg run 'pad --by 2 --background 254 | crop --trim | pad --size 12x10 --gravity northwest | crop --trim --size 9x7' in.pgm out.pgm
check "what fits only after the trim" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 9 x 7'
expect_error 2 'run: step 3, crop: --size 10x10+0+0: reaches out of the 9 x 7 pixels*' run 'pad --by 20 --background 254 | crop --trim | crop --size 10x10' in.pgm out2.pgm
expect 0 gpuimg run 'pad --by 2 --background 254 | crop --trim | histogram --to table.txt' in.pgm
check "a table after it" grep -q '9 x 7' table.txt
printf 'P2 3 2 9  4 4 4  4 4 4\n' >one-colour.pgm
expect 0 gpuimg crop one-colour.pgm out.pgm --trim
check "one colour stays" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 3 x 2'

finish
