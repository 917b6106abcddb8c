#!/bin/bash
# palette and quantize: the images that they accept, tables of colours, chains and batches.
# Sources: cli/commands/palette.c filters/color/palette* imgio/median_cut* filters/color/quantize.c
. "$(dirname "$0")/../lib.sh"
printf 'P3 3 2 255  9 8 7  1 2 3  9 8 7   9 8 7  1 2 3  0 0 0\n' >in.ppm
printf 'P2 2 1 65535  7 70\n' >wide.pgm
printf 'Pf\n1 1\n-1.0\n\0\0\0\0' >float.pfm

expect 0 gpuimg palette in.ppm
check "palette prints a table as text" test "$(tail -n +4 out | tr -s ' ' | cut -c1-40)" = ' pixels share red green blue
 3 50.000% 9 8 7
 2 33.333% 1 2 3
 1 16.667% 0 0 0'
check "palette prints the number of colours" grep -q '^3 colours in 6 pixels$' out
expect 0 gpuimg palette in.ppm table.csv --top 1
check "palette writes CSV" test "$(cat table.csv)" = 'red,green,blue,pixels,share
9,8,7,3,0.5'
expect 0 gpuimg palette in.ppm --format json
check "palette prints JSON" test "$(jq -c '[.unique, .palette[1].color, .palette[1].pixels]' out)" = '[3,[1,2,3],2]'
expect 0 gpuimg palette wide.pgm --format csv
check "palette takes 16 bits" test "$(tail -1 out)" = '70,1,0.5'
expect_error 1 'palette: *samples are float: want 8 or 16 bits*' palette float.pfm
expect_error 2 'palette: table.xyz: want a name that ends in*' palette in.ppm table.xyz
expect_error 2 'palette: --top -1: want*' palette in.ppm --top -1
expect 0 gpuimg run 'invert | palette --to found.csv | invert' in.ppm out.ppm
check "palette in a chain" test "$(sed -n 2p found.csv)" = '246,247,248,3,0.5'
cp in.ppm two.ppm
expect 0 gpuimg palette in.ppm two.ppm --table all.csv
check "one table for many images" test "$(wc -l <all.csv)" = 7

expect 0 gpuimg quantize in.ppm out.ppm --colors 3
expect 0 gpuimg convert in.ppm want.ppm
check "quantize with enough colours changes nothing" cmp out.ppm want.ppm
expect 0 gpuimg quantize in.ppm out.ppm --colors 2
check "quantize to two colours" test "$(gpuimg palette out.ppm --format csv | tail -n +2)" = '1,1,2,3,0.5
9,8,7,3,0.5'
expect_error 1 'quantize: *samples of 16 bits: want 8 bits, by --work-depth 8' quantize wide.pgm out.pgm
expect 0 gpuimg quantize wide.pgm out.pgm --work-depth 8
expect_error 2 'quantize: --colors 1: want 2 to 256' quantize in.ppm made.ppm --colors 1
expect_error 2 'quantize: --colors 257: want 2 to 256' quantize in.ppm made.ppm --colors 257
check "no image appears after a refusal" test ! -e made.ppm
finish
