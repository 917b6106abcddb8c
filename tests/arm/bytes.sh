#!/bin/bash
# On Arm commands write, with NEON and scalar, the bytes of the build for this machine; quick operations also run selftest.
# Sources: kernels/cpu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../cli/lib.sh"
pictures=$tests/../../testdata

cut() { # cut PICTURE FILE [OPTION...]: crops to 219 pixels, not a multiple of a vector
    "$NATIVE" crop "$pictures/$1.png" "$2" --size 219x73+200+150 "${@:3}"
}
same() { # same ARGUMENT...: the output of the command must be the same
    expect 0 "$NATIVE" "$@"
    mv out want
    for level in neon scalar; do
        GPUIMG_CPU=$level expect 0 gpuimg "$@"
        check "$level: $*" cmp out want
    done
}
image() { # image COMMAND FILE [OPTION...]: the same for a command that makes an image
    same "$1" "$2" - --format pam "${@:3}"
}

cut coins gray.pgm
cut coins16 gray16.pgm
cut scene colour.ppm
cut scene16 colour16.ppm
"$NATIVE" channels alpha colour.ppm gray.pgm alpha.pam
"$NATIVE" convert colour.ppm colour.png

for file in gray.pgm gray16.pgm colour.ppm colour16.ppm alpha.pam; do
    image gaussian $file --sigma 1
    image blur $file --k 31 --border wrap
    image resize $file --size 150x90
    image rotate $file --angle 12.3
done
image gaussian alpha.pam --sigma 9 --border mirror
image blur gray.pgm --k 5
image edges gray.pgm
image edges colour16.ppm --operator scharr
image convolve gray.pgm --kernel "3x3: 1 2 1 2 4 2 1 2 1" --normalize
image rotate gray.pgm --angle 90
image flip colour.ppm --h
image gamma gray.pgm --by 2.2
image threshold colour.ppm
image convert colour.png
same gaussian colour16.ppm - --format pfm --depth float --sigma 2.5
same convert alpha.pam - --format png
same convert colour.ppm - --format tiff
same histogram colour.ppm --format json
same histogram gray16.pgm --format json
same extract gray.pgm --format csv
same run 'gaussian --sigma 1 | edges | threshold' gray.pgm - --format pgm

expect 0 gpuimg selftest levels invert flip
for operation in levels invert flip; do
    check "selftest: $operation" grep -qE "^$operation +equal +[1-9][0-9]* cases on neon scalar$" out
done

expect 0 "$NATIVE" selftest --digest levels invert flip stats
mv out want
expect 0 gpuimg selftest --digest levels invert flip stats
check "selftest --digest" cmp <(head -n -1 want) <(head -n -1 out)

finish
