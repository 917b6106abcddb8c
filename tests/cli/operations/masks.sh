#!/bin/bash
# fill-holes, clear-border and remove-small: small examples, messages, and the operations in chains and in place.
# tests/filters/choose_oracle.py compares their pixels with scipy and scikit-image.
# Sources: filters/regions/choose* filters/regions/fill_holes.c filters/regions/clear_border.c filters/regions/remove_small.c
. "$(dirname "$0")/../lib.sh"
# The image has a ring, a speck in a corner, and a bar at a side.
printf 'P2 9 5 255  9 0 0 0 0 0 0 0 0  0 0 7 7 7 0 8 8 8  0 0 7 0 7 0 0 0 0  0 0 7 7 7 0 0 0 0  0 0 0 0 0 0 0 0 0\n' >mask.pgm
row() { tail -c 45 "$1" | head -c $((9 * $2)) | tail -c 9 | od -An -tu1 | xargs; }

expect 0 gpuimg fill-holes mask.pgm out.pgm --device cpu
check "fill-holes fills the ring" test "$(row out.pgm 3)" = '0 0 7 255 7 0 0 0 0'
expect 0 gpuimg clear-border mask.pgm out.pgm --device cpu
check "clear-border removes the bar" test "$(row out.pgm 2)" = '0 0 7 7 7 0 0 0 0'
check "clear-border removes the speck" test "$(row out.pgm 1)" = '0 0 0 0 0 0 0 0 0'
expect 0 gpuimg remove-small mask.pgm out.pgm --area 3 --device cpu
check "remove-small removes the speck" test "$(row out.pgm 1)" = '0 0 0 0 0 0 0 0 0'
check "remove-small keeps the bar" test "$(row out.pgm 2)" = '0 0 7 7 7 0 8 8 8'
expect 0 gpuimg remove-small mask.pgm out.pgm --keep-largest 1 --device cpu
check "remove-small --keep-largest 1 keeps the ring" test "$(row out.pgm 2)" = '0 0 7 7 7 0 0 0 0'
expect 0 gpuimg run 'fill-holes --at otsu | clear-border | remove-small --area 9 | invert' mask.pgm out.pgm --device cpu
check "operations of masks in a chain" test "$(row out.pgm 3)" = '255 255 248 0 248 255 255 255 255'
cp mask.pgm place.pgm
expect 0 gpuimg fill-holes place.pgm place.pgm --device cpu
check "fill-holes in place" test "$(row place.pgm 3)" = '0 0 7 255 7 0 0 0 0'
expect_error 2 'remove-small: --keep-largest 0: want 1 to 2147483647 regions' remove-small mask.pgm made.pgm --keep-largest 0
expect_error 2 'clear-border: --connectivity 6: want 4 or 8' clear-border mask.pgm made.pgm --connectivity 6
check "no image appears after a refusal" test ! -e made.pgm

# A page of black on white: the chains that help names work on what is black.
printf 'P2 8 5 255  255 255 255 255 255 255 255 0  255 0 0 0 255 255 255 0  255 0 255 0 255 0 255 255  255 0 0 0 255 255 255 255  255 255 255 255 255 255 255 255\n' >page.pgm
rows() { tail -c 40 out.pgm | od -An -v -tu1 -w8 | sed 's/ *255/./g; s/ *0/#/g' | xargs; }
white='........'
while IFS=: read -r command want; do
    chain="invert | $command | invert"
    expect 0 gpuimg run "$chain" page.pgm out.pgm --device cpu
    check "$chain" test "$(rows)" = "$want"
    check "help of $command names the chain" grep -qF "gpuimg run '$chain' page.tif" <(gpuimg help "${command%% *}" | tr -s '\n ' ' ')
done <<END
remove-small --area 5:$white .###.... .#.#.... .###.... $white
fill-holes:.......# .###...# .###.#.. .###.... $white
clear-border:$white .###.... .#.#.#.. .###.... $white
END
for word in speck specks despeckle; do
    check "help $word finds remove-small" grep -q '^  remove-small ' <(gpuimg help $word)
done
finish
