#!/bin/bash
# Binary arithmetic and compositing with a second image: single commands, chains, batches and streams; unsuitable images are
# refused.
# Sources: arithmetic
. "$(dirname "$0")/../lib.sh"
printf 'P5\n4 1\n255\n\012\024\036\310' >a.pgm # 10 20 30 200
printf 'P5\n4 1\n255\n\005\036\012\144' >b.pgm # 5 30 10 100
printf 'P5\n2 1\n255\n\377\377' >small.pgm
printf 'P6\n4 1\n255\n\001\002\003\001\002\003\001\002\003\001\002\003' >rgb.ppm

made '15 50 40 255' add a.pgm out.pgm --with b.pgm
made '5 0 20 100' subtract a.pgm out.pgm --with b.pgm
made '5 10 20 100' absdiff a.pgm out.pgm --with b.pgm
made '133 118 148 228' subtract a.pgm out.pgm --with b.pgm --offset 128 --scale 1
made '20 40 60 255' multiply a.pgm out.pgm --value 2
made '255 170 255 255' divide a.pgm out.pgm --with b.pgm
made '8 25 20 150' blend a.pgm out.pgm --with b.pgm
made '20 30 40 210' add a.pgm out.pgm --value 10

# --at: the position of the second image.
made '255 255 30 200' composite a.pgm out.pgm --with small.pgm
made '10 255 255 200' composite a.pgm out.pgm --with small.pgm --at 1,0
made '10 20 255 255' composite a.pgm out.pgm --with small.pgm --gravity east
made '10 255 255 200' composite a.pgm out.pgm --with small.pgm --gravity east --at 1,0
made '255 255 255 255' composite a.pgm out.pgm --with small.pgm --tile
made '10 20 30 255' composite a.pgm out.pgm --with small.pgm --at 3,0
made '255 20 30 200' composite a.pgm out.pgm --with small.pgm --at -1,0
made '10 20 30 200' composite a.pgm out.pgm --with small.pgm --at 0,7

# Chains, batches and streams load the second image once and give the same bytes.
expect 0 gpuimg run 'subtract --with b.pgm | add --with b.pgm | composite --with small.pgm --at 2,0' a.pgm out.pgm
expect_values '10 30 255 255' out.pgm
expect 0 gpuimg run --depth float 'subtract --with b.pgm | add --with b.pgm' a.pgm out.pfm
expect 0 gpuimg convert out.pfm out.pgm --depth 8
expect_values '10 20 30 200' out.pgm
expect 0 gpuimg subtract a.pgm b.pgm --with b.pgm --out-dir many
expect_values '5 0 20 100' many/a.pgm
expect_values '0 0 0 0' many/b.pgm
expect 0 gpuimg run 'invert | absdiff --with b.pgm' a.pgm b.pgm --out-dir chained
expect_values '240 205 215 45' chained/a.pgm
cat a.pgm b.pgm >both.pgm
expect 0 gpuimg add both.pgm out.pgm --with b.pgm
expect_values '10 60 20 200' out.pgm

# A guide image for bilateral: the image itself as its guide changes nothing.
expect 0 gpuimg bilateral a.pgm plain.pgm
expect 0 gpuimg bilateral a.pgm out.pgm --guide a.pgm
check 'the image itself as guide changes nothing' cmp plain.pgm out.pgm
expect 0 gpuimg run 'bilateral --guide b.pgm' a.pgm chained.pgm
expect 0 gpuimg bilateral a.pgm b.pgm --guide b.pgm --out-dir guided
check 'a guide image in a batch' cmp chained.pgm guided/a.pgm
expect_error 1 'bilateral: --guide: 2 x 1 pixels: want 4 x 1, as the input has' bilateral a.pgm made.pgm --guide small.pgm

# The compositing mode decides whether the result has alpha.
expect 0 gpuimg composite a.pgm out.png --with small.pgm --mode in
check 'a mode that removes parts gives alpha' grep -q 'gray and alpha' <(gpuimg info out.png)
expect 0 gpuimg mask a.pgm out.pgm --with b.pgm --fill 0
expect_values '0 2 1 78' out.pgm

expect_error 2 'add: want --with IMAGE or --value NUMBER' add a.pgm made.pgm
expect_error 2 'add: --with, --value: want one of them' add a.pgm made.pgm --with b.pgm --value 3
expect_error 2 'composite: --with: missing: want an image' composite a.pgm made.pgm
expect_error 2 'flat-field: --flat: missing*' flat-field a.pgm made.pgm --dark b.pgm
expect_error 2 'composite: --position 1.5: want whole pixels' composite a.pgm made.pgm --with b.pgm --at 1.5,2
expect_error 1 'add: --with: nothere.pgm: *' add a.pgm made.pgm --with nothere.pgm
expect_error 1 'run: step 2, add: --with: nothere.pgm: *' run 'invert | add --with nothere.pgm' a.pgm made.pgm
expect_error 1 'add: --with: 2 x 1 pixels: want 4 x 1, as the input has' add a.pgm made.pgm --with small.pgm
expect_error 1 'add: --with: has colour: want gray, as the input is' add a.pgm made.pgm --with rgb.ppm
expect_error 1 'run: step 2, add: --with: 2 x 1 pixels*' run 'invert | add --with small.pgm' a.pgm made.pgm
expect_error 2 'add: *b.pgm*would be written over the input*' add a.pgm b.pgm --with b.pgm
expect_error 2 'add: the image b.pgm: is the output of a.pgm*' add a.pgm --with b.pgm --out b.pgm
expect_error 1 'add: --with: nothere.pgm: *' add a.pgm b.pgm --with nothere.pgm --out-dir none
check 'no work begins after a refusal' test ! -e none -a ! -e made.pgm
finish
