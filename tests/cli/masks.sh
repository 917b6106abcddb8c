#!/bin/bash
# fill-holes, clear-border, remove-small: what they say, and that they work where every operation does.
# Their pixels: tests/filters/choose_oracle.py.
. "$(dirname "$0")/lib.sh"
# A ring, a speck in a corner, a bar.
printf 'P2 9 5 255  9 0 0 0 0 0 0 0 0  0 0 7 7 7 0 8 8 8  0 0 7 0 7 0 0 0 0  0 0 7 7 7 0 0 0 0  0 0 0 0 0 0 0 0 0\n' >mask.pgm
row() { tail -c 45 "$1" | head -c $((9 * $2)) | tail -c 9 | od -An -tu1 | xargs; }

expect 0 gpuimg fill-holes mask.pgm out.pgm --device cpu
check "the ring is full" test "$(row out.pgm 3)" = '0 0 7 255 7 0 0 0 0'
expect 0 gpuimg clear-border mask.pgm out.pgm --device cpu
check "the bar is off" test "$(row out.pgm 2)" = '0 0 7 7 7 0 0 0 0'
check "the speck is off" test "$(row out.pgm 1)" = '0 0 0 0 0 0 0 0 0'
expect 0 gpuimg remove-small mask.pgm out.pgm --area 3 --device cpu
check "the speck is small" test "$(row out.pgm 1)" = '0 0 0 0 0 0 0 0 0'
check "the bar is not" test "$(row out.pgm 2)" = '0 0 7 7 7 0 8 8 8'
expect 0 gpuimg remove-small mask.pgm out.pgm --keep-largest 1 --device cpu
check "the ring is the largest" test "$(row out.pgm 2)" = '0 0 7 7 7 0 0 0 0'
expect 0 gpuimg run 'fill-holes --at otsu | clear-border | remove-small --area 9 | invert' mask.pgm out.pgm --device cpu
check "a chain" test "$(row out.pgm 3)" = '255 255 248 0 248 255 255 255 255'
cp mask.pgm place.pgm
expect 0 gpuimg fill-holes place.pgm place.pgm --device cpu
check "onto itself" test "$(row place.pgm 3)" = '0 0 7 255 7 0 0 0 0'
expect_error 2 'remove-small: --keep-largest 0: want 1 to 2147483647 regions' remove-small mask.pgm made.pgm --keep-largest 0
expect_error 2 'clear-border: --connectivity 6: want 4 or 8' clear-border mask.pgm made.pgm --connectivity 6
check "no file" test ! -e made.pgm
finish
