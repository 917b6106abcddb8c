#!/bin/bash
# Running sums: where they go and what is refused.
. "$(dirname "$0")/lib.sh"
printf 'P2 3 2 255  1 2 3 40 50 60\n' >in.pgm
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x0a\x01' >alpha.pam
numbers() { tail -c 24 "$1" | od -An -tu4 | xargs; }

expect 0 gpuimg integral in.pgm out.npy --device cpu
check "an integral image" test "$(numbers out.npy)" = '1 3 6 41 93 156'
expect 0 gpuimg cumulative in.pgm out.npy --device cpu
check "rows" test "$(numbers out.npy)" = '1 3 6 40 90 150'
expect 0 gpuimg cumulative in.pgm out.npy --along columns --squares --device cpu
check "columns of squares" test "$(numbers out.npy)" = '1 4 9 1601 2504 3609'
gpuimg integral in.pgm - --device cpu >piped.npy
gpuimg integral - out.npy --device cpu <in.pgm
check "pipes" cmp piped.npy out.npy
expect 0 gpuimg integral in.pgm out.pfm --device cpu
check "PFM" test "$(tail -c 24 out.pfm | od -An -tf4 | xargs)" = '41 93 156 1 3 6'

expect_error 2 "integral: made.png: want a name that ends in .npy or .pfm" integral in.pgm made.png
expect_error 1 "integral: made.pfm: 2 channels: PFM holds 1 or 3, .npy any" integral alpha.pam made.pfm
expect_error 1 "integral: out.npy: exists, and --no-clobber was given" integral in.pgm out.npy --no-clobber
check "no file" test ! -e made.png -a ! -e made.pfm
finish
