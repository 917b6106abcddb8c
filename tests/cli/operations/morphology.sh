#!/bin/bash
# Morphology: the structuring elements that are accepted, and the operations in chains and in place.
# Sources: morphology
. "$(dirname "$0")/../lib.sh"
printf 'P2 5 1 255  10 20 30 40 50\n' >row.pgm
printf 'P2 1 5 255  10 20 30 40 50\n' >column.pgm
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x0a\x01\x14\x02\x1e\x03' >alpha.pam

# made VALUES FILE OPERATION ARGUMENT...: tests the last samples of the operation's result for the file.
made() {
    expect 0 gpuimg "$3" "$2" "out.${2##*.}" "${@:4}" --device cpu
    expect_values "$1" "out.${2##*.}"
}
made '10 10 20 30 40' row.pgm erode
made '20 30 40 50 50' row.pgm dilate
made '10 10 10 20 30' row.pgm erode --k 5
made '10 10 20 30 40' row.pgm erode --size 2x1
made '20 30 40 50 50' row.pgm dilate --size 2x1
made '10 10 20 30 40' column.pgm erode --size 1x2
made '10 20 30 40 50' row.pgm erode --size 1x9
made '10 10 10 10 10' row.pgm erode --k 4001
made '7 10 20 30 7' row.pgm erode --size 3x1 --border border --border-value 7
made '10 10 20 30 10' row.pgm erode --border wrap
made '10 1 10 2 20 3' alpha.pam erode
made '10 1 10 1 20 2' alpha.pam erode --alpha
made '20 1 30 2 30 3' alpha.pam dilate
printf '0 1 0 # above\n1 1 0\n0 0 0\n' >mask.txt
made '10 10 20 30 40' row.pgm erode --mask mask.txt
made '20 30 40 50 50' row.pgm dilate --mask mask.txt
made '10 20 30 40 50' row.pgm erode --mask '0 1 0; 0 1 0'
printf 'P2 3 3 255  0 1 0  200 255 0  0 0 0\n' >mask.pgm
made '10 10 20 30 40' row.pgm erode --mask mask.pgm
made '20 30 40 50 50' row.pgm dilate --mask mask.pgm
expect 0 gpuimg convert mask.pgm mask.png
made '10 10 20 30 40' row.pgm erode --mask mask.png
expect 0 gpuimg run 'erode --mask mask.png | dilate --mask mask.pgm' row.pgm out.pgm --device cpu
check "structuring elements in a chain" test "$(samples 5 out.pgm)" = '10 20 30 40 40'
printf 'Pf\n2 1\n-1\n\0\0\200\277\0\0\0\0' >mask.pfm # -1, 0: the middle is the later one
made '10 10 20 30 40' row.pgm erode --mask mask.pfm
printf 'P2 9 1 255  1 1 1 1 1 1 1 1 1\n' >line.pgm # a row, as text of nine ones is not
made '10 10 10 10 10' row.pgm erode --mask line.pgm
made '10 10 20 30 40' row.pgm erode --shape disk
made '10 10 10 20 30' row.pgm erode --shape diamond --k 5
made '10 20 30 40 50' row.pgm close --shape disk --k 1
expect 0 gpuimg run 'erode | dilate' row.pgm out.pgm --device cpu
check "operations in a chain" test "$(samples 5 out.pgm)" = '10 20 30 40 40'
printf 'P2 7 1 255  10 90 10 10 90 90 90\n' >spots.pgm
made '10 10 10 10 90 90 90' spots.pgm open
made '90 90 90 90 90 90 90' spots.pgm close
made '0 80 0 0 0 0 0' spots.pgm tophat
made '80 0 80 80 0 0 0' spots.pgm blackhat
made '80 80 80 80 80 0 0' spots.pgm gradient
made '0 1 0 2 10 3' alpha.pam tophat
printf 'P2 7 1 255  10 10 10 90 10 10 10\n' >spot.pgm
made '10 10 10 12 10 10 10' spot.pgm background --radius 3 --height 40 --keep
made '0 0 0 78 0 0 0' spot.pgm background --radius 3 --height 40
expect_error 2 "background: --radius 0: want 1 to 250 px" background row.pgm made.pgm --radius 0
expect_error 2 "background: --height 0: want more than 0" background row.pgm made.pgm --height 0

for operation in erode dilate open close gradient tophat blackhat; do
    expect_error 2 "$operation: --k 4: want odd, 1 to 4001 px" $operation row.pgm made.pgm --k 4
    expect_error 2 "$operation: --k 3 and --size: want one of them" $operation row.pgm made.pgm --k 3 --size 3x3
    expect_error 2 "$operation: --size: want both sides, WIDTHxHEIGHT" $operation row.pgm made.pgm --size x7
    expect_error 2 "*--size: want at most 4001 px a side*" $operation row.pgm made.pgm --size 4002x1
    check "$operation: no image appears after a refusal" test ! -e made.pgm
done
expect_error 2 "erode: --mask: all of it is 0: want some pixels that count" erode row.pgm made.pgm --mask '0 0'
expect_error 2 "erode: --mask and --k: want one of them" erode row.pgm made.pgm --mask '1 0 1' --k 3
expect_error 2 "erode: --mask and --shape: want one of them" erode row.pgm made.pgm --mask '1 0 1' --shape disk
expect_error 2 "erode: --shape disk and --size: want --k" erode row.pgm made.pgm --shape disk --size 3x3
expect_error 2 "erode: --mask: *" erode row.pgm made.pgm --mask '1 x'
printf 'P2 2 2 255  0 0 0 0\n' >black.pgm
printf 'P5 4002 1 255\n%4002s' '' >wide.pgm
printf 'P3 1 1 255  1 1 1\n' >colour.ppm
head -c 40 mask.png >cut.png
for operation in erode open gradient midpoint median rank mode; do
    expect_error 2 "$operation: --mask black.pgm: all of it is 0: want some pixels that count" $operation row.pgm made.pgm --mask black.pgm
    expect_error 1 "$operation: --mask wide.pgm: 4002 x 1 pixels: want at most 4001 a side" $operation row.pgm made.pgm --mask wide.pgm
    expect_error 1 "$operation: --mask colour.ppm: has 3 channels: want one" $operation row.pgm made.pgm --mask colour.ppm
done
expect_error 1 "erode: --mask alpha.pam: has 2 channels: want one" erode row.pgm made.pgm --mask alpha.pam
expect_error 1 "erode: --mask cut.png: *" erode row.pgm made.pgm --mask cut.png
expect_error 1 "erode: --mask none.png: No such file or directory" erode row.pgm made.pgm --mask none.png
printf 'P5 1002 1 255\n%1002s' '' >wide.pgm
expect_error 2 "*--mask: 1002 x 1 pixels: want at most 1001 a side" median row.pgm made.pgm --mask wide.pgm --device cpu
expect_error 2 'tophat: *--alpha*' tophat alpha.pam made.pam --alpha
cp row.pgm place.pgm
expect 0 gpuimg erode place.pgm place.pgm --device cpu
check "an operation in place" test "$(samples 5 place.pgm)" = '10 10 20 30 40'
finish
