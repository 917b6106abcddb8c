#!/bin/bash
# Adaptive (local) thresholds: the values of options, and the operation in chains, in place and on NaN.
# Sources: filters/tone/local_threshold.c
. "$(dirname "$0")/../lib.sh"
printf 'P2 5 1 255  10 90 30 40 50\n' >row.pgm
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x0a\x01\x5a\x09\x1e\x03' >alpha.pam

# made VALUES FILE ARGUMENT...: tests the last samples of the operation's result for the file.
made() {
    expect 0 gpuimg local-threshold "$2" "out.${2##*.}" "${@:3}" --device cpu
    expect_values "$1" "out.${2##*.}"
}
# The means of three samples: 36.67, 43.33, 53.33, 40, 46.67.
made '0 255 0 0 255' row.pgm --k 3
made '255 0 255 255 0' row.pgm --k 3 --invert
made '0 255 0 255 255' row.pgm --k 3 --offset 0.1
made '0 255 255 255 255' row.pgm --k 3 --border border
made '0 1 255 9 0 3' alpha.pam --k 3 --per-channel
made '0 255 0 255 255' row.pgm --k 3 --method sauvola --factor 0.5
# Minimum and maximum of three samples: 10 90, 10 90, 30 90, 30 50, 40 50.
made '0 255 0 0 255' row.pgm --k 3 --method bernsen --contrast 1
made '0 255 0 255 255' row.pgm --k 3 --method bernsen --contrast 1 --offset 10.5
made '0 255 0 0 0' row.pgm --k 3 --method bernsen
made '255 0 255 255 255' row.pgm --k 3 --method bernsen --invert
made '0 0 0 0 0' row.pgm --k 5 --method bernsen --contrast 90
made '0 255 0 0 255' row.pgm --k 3 --method gaussian
made '0 255 0 255 255' row.pgm --k 3 --method wolf
expect 0 gpuimg run 'local-threshold --k 3 | invert' row.pgm out.pgm --device cpu
check "the operation in a chain" test "$(samples 5 out.pgm)" = '255 0 255 255 0'

expect_error 2 "local-threshold: --k 4: want odd, 1 to 4001 px" local-threshold row.pgm made.pgm --k 4
expect_error 2 "local-threshold: --factor: want a --method that has one, not mean" local-threshold row.pgm made.pgm --factor 1
expect_error 2 "local-threshold: --range: want --method sauvola or phansalkar" local-threshold row.pgm made.pgm --method niblack --range 9
expect_error 2 "local-threshold: --factor: want a --method that has one, not bernsen" local-threshold row.pgm made.pgm --method bernsen --factor 1
expect_error 2 "local-threshold: --contrast: want --method bernsen" local-threshold row.pgm made.pgm --contrast 9
expect_error 2 "local-threshold: --contrast otsu: want a sample value or 0% to 100% of full scale" local-threshold row.pgm made.pgm --method bernsen --contrast otsu
expect_error 2 "local-threshold: --sigma: want --method gaussian" local-threshold row.pgm made.pgm --method wolf --sigma 3
check "no image appears after a refusal" test ! -e made.pgm
cp row.pgm place.pgm
expect 0 gpuimg local-threshold place.pgm place.pgm --k 3 --device cpu
check "the operation in place" test "$(samples 5 place.pgm)" = '0 255 0 0 255'

# NaN counts as black; if all samples are NaN, no method gives white.
printf 'Pf\n3 1\n-1.0\n\0\0\xc0\x7f\0\0\xc0\x7f\0\0\xc0\x7f' >nan.pfm
for method in mean sauvola phansalkar wolf bernsen gaussian; do
    expect 0 gpuimg local-threshold nan.pfm none.pfm --method $method --k 3
    check "all samples are NaN: $method" test "$(samples 12 none.pfm)" = '0 0 0 0 0 0 0 0 0 0 0 0'
done
finish
