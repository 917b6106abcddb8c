#!/bin/bash
# Rank filters and the mode filter: the windows that are accepted, and the operations in chains and in place.
# Sources: rank
. "$(dirname "$0")/../lib.sh"
printf 'P2 5 1 255  10 90 30 40 50\n' >row.pgm
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x0a\x01\x5a\x09\x1e\x03' >alpha.pam

# made VALUES FILE ARGUMENT...: tests the last samples of the operation's result for the file.
made() {
    expect 0 gpuimg median "$2" "out.${2##*.}" "${@:3}" --device cpu
    expect_values "$1" "out.${2##*.}"
}
made '10 30 40 40 50' row.pgm
made '10 30 40 50 50' row.pgm --k 5
made '10 90 30 40 50' row.pgm --k 1
made '0 0 0 0 0' row.pgm --border border --border-value 0
made '50 30 40 40 40' row.pgm --border wrap
made '10 1 30 9 30 3' alpha.pam
made '10 1 30 3 30 3' alpha.pam --alpha
made '10 90 30 40 50' row.pgm --threshold 60
made '10 30 30 40 50' row.pgm --threshold 59.5
made '10 30 30 40 50' row.pgm --threshold 20%
made '10 90 90 40 50' row.pgm --mask '1 1 0'
made '10 90 30 40 50' row.pgm --shape disk
expect 0 gpuimg run 'median | invert' row.pgm out.pgm --device cpu
check "median in a chain" test "$(samples 5 out.pgm)" = '245 225 215 215 205'

expect_error 2 "median: --k 4: want odd, 1 to 1001 px" median row.pgm made.pgm --k 4
expect_error 2 "median: --k 1003: want odd, 1 to 1001 px" median row.pgm made.pgm --k 1003
expect_error 2 "median: --k 3 and --size: want one of them" median row.pgm made.pgm --k 3 --size 3x3
expect_error 2 "rank: --percent 101: want 0 to 100 %" rank row.pgm made.pgm --percent 101
expect_error 2 "rank: --size: want at most 1001 px a side" rank row.pgm made.pgm --size 1002x1 --device cpu
expect_error 2 "median: --threshold otsu: want a sample value or 0% to 100% of full scale" median row.pgm made.pgm --threshold otsu
expect_error 2 "median: --threshold 300: want 0 to 255, as 8-bit samples are" median row.pgm made.pgm --threshold 300
printf 'P2 5 1 255  10 30 30 40 50\n' >twice.pgm
expect 0 gpuimg mode twice.pgm out.pgm --device cpu
check "the mode filter takes the most frequent sample" test "$(samples 5 out.pgm)" = '10 30 30 30 50'
printf 'P2 3 1 255  1 0 1\n' >sides.pgm # 10 30, 10 30, 30 40, 30 50, 40 50
for mask in '1 0 1' sides.pgm; do
    expect 0 gpuimg mode twice.pgm out.pgm --mask "$mask" --device cpu
    check "the mode of the two sides: $mask" test "$(samples 5 out.pgm)" = '10 10 30 30 40'
done
expect 0 gpuimg mode alpha.pam out.pam --alpha --device cpu
check "mode --alpha filters alpha too" test "$(samples 6 out.pam)" = '10 1 10 1 30 3'
expect_error 1 "mode: *samples are float: want 8 or 16 bits*" mode twice.pgm made.pfm --depth float
check "no image appears after a refusal" test ! -e made.pgm
cp row.pgm place.pgm
expect 0 gpuimg median place.pgm place.pgm --device cpu
check "median in place" test "$(samples 5 place.pgm)" = '10 30 40 40 50'
finish
