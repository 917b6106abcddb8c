#!/bin/bash
# color: values of options that are refused, the order of its steps, gray images, chains and bands.
# Sources: color
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 9 7
{
    printf 'P6\n3 2\n255\n'
    printf '\x0a\x14\x1e\xff\x00\x00\x00\xff\x00\x00\x00\xff\x80\x80\x80\xff\xff\xff'
} >rgb.ppm

expect_error 2 'color: nothing to do: want --saturation, --matrix, --to lab or another*' color rgb.ppm out.ppm
expect_error 2 'color: nothing to do*' color rgb.ppm out.ppm --from hsv --to hsv
expect_error 2 'color: --matrix: 2 rows of 3: want 3 rows of 3 or 4 numbers, or 4 of 5' color rgb.ppm out.ppm --matrix '1 0 0; 0 1 0'
expect_error 2 'color: --matrix: row 2: x: want a number*' color rgb.ppm out.ppm --matrix '1 0 0; 0 x 0; 0 0 1'
expect_error 2 'color: --to cmyk: want rgb, linear, xyz*' color rgb.ppm out.ppm --to cmyk
expect_error 2 'color: --saturation -1: want 0 to 10*' color rgb.ppm out.ppm --saturation=-1
expect_error 2 'color: --video: want --from or --to ycbcr' color rgb.ppm out.ppm --to lab --video
expect_error 2 'color: --balance: want an image in RGB, without --from' color rgb.ppm out.ppm --balance gray --from lab
for place in white 1 1,-1 1,1.5 3x3 0x3+1+1 3x3-1+1 50%+1+1 1,2,3; do
    expect_error 2 "color: --balance $place: want gray, a pixel X,Y or a rectangle*" color rgb.ppm out.ppm "--balance=$place"
done
expect_error 2 'color: --balance: 1x1+3+0: want it within the 3 x 2 pixels' color rgb.ppm out.ppm --balance 3,0
expect_error 2 'color: --balance: 2x2+1+1: want it within the 3 x 2 pixels' color rgb.ppm out.ppm --balance 2x2+1+1
expect_error 1 'color: --from: a gray image: want three channels' color in.pgm out.ppm --from lab
check "nothing was written" test ! -e out.ppm

expect 0 gpuimg color rgb.ppm out.ppm --matrix '0 0 1; 0 1 0; 1 0 0'
check "red and blue swapped" test "$(samples 18 out.ppm)" = '30 20 10 0 0 255 0 255 0 255 0 0 128 128 128 255 255 255'
expect 0 gpuimg color rgb.ppm out.ppm --balance 0,0
check "--balance 0,0 makes the pixel gray" test "$(samples 18 out.ppm | cut -d' ' -f1-3)" = '20 20 20'
expect 0 gpuimg color rgb.ppm out.ppm --to hsv
check "--to hsv gives exact hues" test "$(samples 18 out.ppm)" = '149 170 30 0 255 255 85 255 255 170 255 255 0 0 128 0 0 255'
expect 0 gpuimg color out.ppm back.ppm --from hsv
expect 0 gpuimg color rgb.ppm out.ppm --to ycbcr
check "--to ycbcr gives the YCbCr of JPEG" test "$(samples 18 out.ppm | cut -d' ' -f1-9)" = '18 135 122 76 85 255 150 44 21'
expect 0 gpuimg color rgb.ppm one.ppm --sepia --saturation 0.5 --hue 40
expect 0 gpuimg color rgb.ppm two.ppm --saturation 0.5 --hue 40 --sepia
check "steps run in the order of the help, not of the command line" cmp one.ppm two.ppm
expect 0 gpuimg run 'color --saturation 0 | color --sepia' in.pgm out.ppm
check "a gray image becomes colour if needed" test "$(head -c 2 out.ppm)" = P6
printf '0.5 0 0\n# green\n0 0.5 0\n0 0 0.5\n' >half.txt
expect 0 gpuimg color rgb.ppm out.ppm --matrix half.txt
check "a matrix from a file" test "$(samples 3 out.ppm)" = '128 128 128'
for way in matrix steps; do
    GPUIMG_WAY=cpu/color_transform:$way expect 0 gpuimg color rgb.ppm $way.ppm --matrix half.txt --device cpu
done
check "both ways of the primitive give the same bytes" cmp matrix.ppm steps.ppm
expect_error 1 'color: --pca: a gray image: want three channels' color in.pgm made.ppm --pca
expect_error 2 'color: --pca: want it without --balance' color rgb.ppm made.ppm --pca --balance gray
expect_error 2 'color: --pca: want it without --from' color rgb.ppm made.ppm --pca --from lab
expect 0 gpuimg color rgb.ppm one.ppm --pca
expect 0 gpuimg run 'color --pca' rgb.ppm two.ppm
check "--pca in a chain" cmp one.ppm two.ppm

# A matrix of four rows that is the identity keeps alpha, whatever steps precede or follow it.
{
    printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
    printf '\x0a\x14\x1e\x28\xff\x40\x00\xf0'
} >rgba.pam
for options in '--to xyz' '--from xyz' '--saturation 1.5'; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg color rgba.pam one.pam $options
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg color rgba.pam two.pam $options --matrix '1 0 0 0 0; 0 1 0 0 0; 0 0 1 0 0; 0 0 0 1 0'
    check "an identity of four rows changes nothing: $options" cmp one.pam two.pam
    check "an identity of four rows keeps alpha: $options" test "$(samples 8 two.pam | cut -d' ' -f4,8)" = '40 240'
done
finish
