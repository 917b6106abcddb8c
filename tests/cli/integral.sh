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

# In chains, and of many images an array each.
expect 0 gpuimg run 'invert | integral --to sums.npy | cumulative --to rows.pfm | invert' in.pgm same.pgm --device cpu
check "in the middle: sums" test "$(numbers sums.npy)" = '254 507 759 469 927 1374'
check "in the middle: the image goes on" test "$(tail -c 6 same.pgm | od -An -tu1 | xargs)" = '1 2 3 40 50 60'
check "in the middle: PFM" test "$(tail -c 24 rows.pfm | od -An -tf4 | xargs)" = '215 420 615 254 507 759'
"$GPUIMG" run 'invert | invert | integral' in.pgm --device cpu >piped.npy
check "the last step prints" cmp piped.npy out.npy
cp in.pgm other.pgm
expect 0 gpuimg run 'integral' in.pgm other.pgm --out-dir many --device cpu
check "an array each" test "$(ls many)" = $'in.npy\nother.npy' -a "$(numbers many/other.npy)" = '1 3 6 41 93 156'
expect 0 gpuimg run 'gaussian | integral --squares' in.pgm other.pgm --out-dir many --suffix .pfm --report many.jsonl
check "a PFM each" test "$(ls many)" = $'in.npy\nin.pfm\nother.npy\nother.pfm'
expect_error 2 "run: integral: writes an array of each image: want --out-dir or --out" run integral in.pgm other.pgm --table made.csv
expect_error 2 "run: --suffix .csv: the results are arrays, want .npy or .pfm" run integral in.pgm --out-dir made --suffix .csv
expect_error 2 "run: step 1, integral: made.png: want a name that ends in .npy or .pfm" run 'integral --to made.png' in.pgm
expect_error 1 "run: step 1, cumulative: out.npy: exists, and --no-clobber was given" run 'cumulative --to out.npy --no-clobber' in.pgm

expect_error 2 "integral: made.png: want a name that ends in .npy or .pfm" integral in.pgm made.png
expect_error 1 "integral: made.pfm: 2 channels: PFM holds 1 or 3, .npy any" integral alpha.pam made.pfm
expect_error 1 "integral: out.npy: exists, and --no-clobber was given" integral in.pgm out.npy --no-clobber
check "no file" test ! -e made.png -a ! -e made.pfm
finish
