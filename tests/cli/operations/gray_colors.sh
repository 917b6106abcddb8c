#!/bin/bash
# Pixel values for gray images: more numbers than channels are an error, and a colour that becomes gray is a warning.
# Sources: filters/option_color.c filters/plan.c cli/log.c cli/args/image_files.c
. "$(dirname "$0")/../lib.sh"
pgm gray.pgm 4 2
pgm mask.pgm 4 2
printf 'P6 1 1 255\nabc' >rgb.ppm
printf 'x,y,value\n0,0,7\n' >points.csv
mkdir folder

# The luma of BT.709 is 0.2126 R + 0.7152 G + 0.0722 B.
becomes() { # NAME OPTION PERCENT: the last command printed one warning about gray.pgm
    says "$1" "gpuimg: warning: $1: gray.pgm: $2: becomes gray in a gray image, $3% of white, which is its luma (gpuimg channels --order rrr makes the image RGB)"
}
while IFS=: read -r option words; do
    name=${words%% *}
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $words gray.pgm out.png "--$option=red"
    becomes "$name" "--$option red" 21.3
    # shellcheck disable=SC2086
    expect_error 2 "$name: --$option 65535,0,0: 3 numbers for a gray image: want 1, or 2 with alpha" $words gray.pgm made.png "--$option=65535,0,0"
    # shellcheck disable=SC2086
    expect_error 2 "$name: --$option 1,2,3,4: 4 numbers *" $words gray.pgm made.png "--$option=1,2,3,4"
    for value in white '#777' 9 9,100; do
        # shellcheck disable=SC2086
        expect 0 gpuimg $words gray.pgm out.png "--$option=$value"
        says "$words --$option $value" ''
    done
done <<END
fill:mask --with mask.pgm
border-value:pad --by 1
border-value:rotate --angle 30
border-value:gaussian --sigma 1 --border border
color:paste --points points.csv
value:add
END
expect 0 gpuimg pad --by 1 gray.pgm out.png --border-value '#0f0'
becomes pad '--border-value lime' 71.5
expect 0 gpuimg pad --by 1 gray.pgm out.png --border-value '#0000fe80'
becomes pad '--border-value #0000fe80' 7.19
expect 0 gpuimg pad --by 1 rgb.ppm out.png --border-value 65,0,0
says "three numbers suit RGB" ''
expect 0 gpuimg pad --by 1 rgb.ppm out.png --border-value red
says "a colour suits RGB" ''
for value in red 1,2,3; do
    expect 0 gpuimg gaussian --sigma 1 gray.pgm out.png --border-value $value
    says "--border-value $value without effect" ''
done
expect_error 1 'pad: --strict: --border-value red: becomes gray *' pad --by 1 gray.pgm made.png --border-value red --strict
expect 0 gpuimg pad --by 1 gray.pgm out.png --border-value red --quiet
says "--quiet prints no warning" ''

# The steps of a chain: the number of channels is that of the step's image, also behind a step whose size is known late.
expect 0 gpuimg run 'crop --trim --tolerance 0 | channels --order rrr | pad --by 1 --border-value red' gray.pgm out.png
check "a colour behind channels" test "$(grep -c 'becomes gray' err)" = 0
expect 0 gpuimg run 'crop --trim | pad --by 1 --border-value red' gray.pgm out.png
check "a step is named" grep -q 'gray.pgm: step 2, pad: --border-value red: becomes gray' err
expect 2 gpuimg run 'crop --trim | pad --by 1 --border-value 1,2,3' gray.pgm made.png
check "three numbers in a step" grep -q 'run: step 2, pad: --border-value 1,2,3: 3 numbers for a gray image' err

# One warning for a batch and for a stream, with a count.
cp gray.pgm gray2.pgm
expect 0 gpuimg pad --by 1 gray.pgm gray2.pgm --out-dir folder --border-value red
check "a batch warns once" test "$(grep -c '^gpuimg: warning: pad: gray2\?.pgm: --border-value red: becomes' err) $(grep -c '1 more: --border-value red' err)" = '1 1'
cat gray.pgm gray2.pgm gray.pgm | gpuimg pad --by 1 - - --border-value red 2>err >out.pgm
check "a stream warns once" test "$(grep -c 'becomes gray' err) $(grep -c '2 more: --border-value red' err)" = '2 1'

gpuimg pad --by 1 - out.png --border-value red <gray.pgm 2>err
check "standard input is named" grep -q '^gpuimg: warning: pad: standard input: --border-value red: becomes gray' err

# Commands that have colours and are no operations, and the background that every command has.
expect 0 gpuimg montage gray.pgm gray2.pgm out.png --cell 4x4 --background red
check "montage of gray images" grep -q '^gpuimg: warning: montage: --background red: becomes gray' err
expect_error 2 'montage: --background 1,2,3: 3 numbers for a gray image: *' montage gray.pgm gray2.pgm made.png --cell 4x4 --background 1,2,3
expect 0 gpuimg montage gray.pgm rgb.ppm out.png --cell 4x4 --background red
says "montage with a colour image" ''
gpuimg channels gray.pgm alpha.png --order ro
expect 0 gpuimg convert alpha.png out.png --background red
check "--background of gray with alpha" grep -q '^gpuimg: warning: convert: out.png: --background red: becomes gray' err
check "gray with alpha: the advice keeps alpha" grep -q '(gpuimg channels --order rrra makes the image RGB)$' err
gpuimg convert alpha.png png:- --background red 2>err >out.png
check "--background to standard output" grep -q '^gpuimg: warning: convert: standard output: --background red: becomes gray' err
expect_error 1 'convert: --strict: --background red: becomes gray *' convert alpha.png made.png --background red --strict
expect 0 gpuimg convert gray.pgm out.png --background red
says "--background without alpha" ''
finish
