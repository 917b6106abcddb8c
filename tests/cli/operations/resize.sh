#!/bin/bash
# The sizes that resize accepts, and those that it refuses before any work.
# Sources: filters/geometry/resize.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 30 20
printf 'P5 1 1 255\na' >one.pgm

# size WANT ARGUMENT...: tests that the header of the resulting PGM has the size WANT.
size() {
    local want=$1
    shift
    expect 0 gpuimg resize "$@" out.pgm
    check "$*: $want" grep -aqx "$want" <(head -c 30 out.pgm | head -n 2 | tail -n 1)
}
size '1 1' in.pgm --size 1x1
size '1 1' in.pgm --size 1x1 --fill
size '1 1' in.pgm --size 0.1%
size '1 1' one.pgm --size 0.1%
size '15 4' in.pgm --size 50%x20% --stretch
size '6 4' in.pgm --size 50%x20%
size '32768 1' in.pgm --size 32768x1 --stretch
size '1 32768' one.pgm --size 1x32768 --stretch --filter box
size '32768 3' in.pgm --size 32768x3 --pad
size '45 30' in.pgm --size 30x30^
size '30 20' in.pgm --size 10x20^
size '30 20' in.pgm --size 100%x50%^
size '38 25' in.pgm --size 20x25^
size '37 25' in.pgm --short 25 # torchvision rounds 37.5 down
size '30 20' in.pgm --short 25 --no-enlarge
size '1 1' in.pgm --short 1
size '10 7' in.pgm --size 10
size '10 10' in.pgm --size 10 --fill
size '7 7' one.pgm --short 7
expect 0 gpuimg transpose in.pgm tall.pgm
size '25 37' tall.pgm --short 25
size '20 30' tall.pgm --size 15x30^

for text in 0x5 5x0 0% 0.0% x -5x5 5x-5 5x5.5 1e3x5 5x5x5 2000000000x1 nanx5 5x^ x5^ 5x5^^ ^ 5x^5 ''; do
    expect_error 2 "resize: --size $text: want WIDTHxHEIGHT, WIDTHx, xHEIGHT, 50% or WIDTHxHEIGHT^" resize in.pgm made.pgm --size="$text"
done
expect_error 2 'resize: --size: want 800x600, 800x, x600 or 50%, or --short 256' resize in.pgm made.pgm
expect_error 2 'resize: --short 5: want no --size with it' resize in.pgm made.pgm --short 5 --size 5x
expect_error 2 'resize: --short 5: want no --fill with it' resize in.pgm made.pgm --short 5 --fill
expect_error 2 'resize: --short 0: want 1 to 16777216 px' resize in.pgm made.pgm --short 0
expect_error 2 'resize: --pad: want --size without ^' resize in.pgm made.pgm --size 5x5^ --pad
expect_error 2 'montage: --cell 5x5^: want *' montage in.pgm made.pgm --cell 5x5^
expect_error 2 'resize: --fill: want --size with width and height' resize in.pgm made.pgm --size 5x --fill
expect_error 2 'resize: --fast: want no --like pillow*' resize in.pgm made.pgm --size 5x --fast --like pillow
for way in stretch fill pad; do
    for text in 1000000x1000000 999999999x1 100000x100000; do
        expect_error 1 "resize: a result of ${text/x/ x } pixels: want at most 16777216 a side and 4294967294 in all" \
            resize in.pgm made.pgm --size $text --$way
    done
done
expect_error 1 'resize: a result of 300000000 x 200000000 pixels: want at most*' resize in.pgm made.pgm --size 1000000000%
expect_error 1 'resize: a result of 30000000 x 20000000 pixels: want at most*' resize in.pgm made.pgm --size x20000000
finish
