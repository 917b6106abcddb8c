#!/bin/bash
# Levels that are given as sample values: the scale that applies, and values outside it.
# Sources: cli/args/level_check.c filters/option*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 9 7
printf 'P2 3 1 100  50 51 100\n' >hundred.pgm   # widened to 128 130 255
printf 'P2 3 1 1000 500 501 1000\n' >thousand.pgm
printf 'P1 3 1 0 1 0\n' >bits.pbm
gpuimg convolve in.pgm sixteen.png --kernel 1 --depth 16

for command in threshold extract; do
    expect_error 2 "$command: --threshold 300: want 0 to 255, as 8-bit samples are" $command in.pgm made.csv.pgm --at 300 --format "$([[ $command == extract ]] && echo csv || echo pgm)"
    expect_error 2 "$command: --threshold -1: want 0 to 255, as 8-bit samples are" $command in.pgm made.csv.pgm --at=-1 --format "$([[ $command == extract ]] && echo csv || echo pgm)"
done
expect_error 2 'threshold: --threshold 65536: want 0 to 65535, as 16-bit samples are' threshold sixteen.png made.png --at 65536
expect 0 gpuimg threshold sixteen.png out.png --at 300
check "16 bits: no warning about 300" test ! -s err
expect 0 gpuimg threshold in.pgm out.pgm --at 300 --depth 16
expect 0 gpuimg threshold in.pgm out.pfm --at 300 --depth float
check "float: any value is accepted" test ! -s err
expect 0 gpuimg run 'gaussian | threshold --at 128' in.pgm out.pgm --linear
check "--linear: a warning names the other scale" grep -qx 'gpuimg: warning: run: --threshold 128: with --linear samples are 0 to 1' err
gpuimg convert in.pgm float.pfm
expect 0 gpuimg run 'gaussian | threshold --at 2' float.pfm out.pfm --linear
check "--linear after float samples: any value is accepted" test ! -s err

expect 0 gpuimg threshold in.pgm out.pgm --at 0.5
check "--threshold 0.5: a warning names the scale" grep -qx 'gpuimg: warning: threshold: --threshold 0.5: samples are 0 to 255; --threshold 50% is 0.5 of full scale' err
expect 0 gpuimg threshold in.pgm out.pgm --at 0.5 -q
check "-q suppresses the warning" test ! -s err
for level in 0 1 127.5 50% otsu; do
    expect 0 gpuimg threshold in.pgm out.pgm --at $level
    check "--at $level: no warning" test ! -s err
done

# Only the scale of the input file applies, and each command names it.
expect 0 gpuimg threshold hundred.pgm out.pgm --at 50
check "maxval 100: a warning names both scales" grep -q -- '--threshold 50: the file.s samples 0 to 100 are read as 0 to 255; --threshold 50% is 50 of theirs$' err
expect 0 gpuimg threshold thousand.pgm out.pgm --at 500
check "maxval 1000: a warning names both scales" grep -q -- '0 to 1000 are read as 0 to 65535; --threshold 50% is 500 of theirs$' err
expect 0 gpuimg threshold hundred.pgm out.pgm --at 50%
check "50% is half of full scale" cmp out.pgm <(printf 'P5\n3 1\n255\n\xff\xff\xff')
check "50% causes no warning" test ! -s err
expect 0 gpuimg threshold hundred.pgm out.pgm --at 129
check "a value above the file's maxval causes no warning" test ! -s err
check "129 is taken as 129 of 255" cmp out.pgm <(printf 'P5\n3 1\n255\n\x00\xff\xff')
expect_stdout 'hundred.pgm: pgm, 3 x 1, gray, 7 bits, plain, 0 to 100 read as 0 to 255, 22 B' gpuimg info hundred.pgm
expect_stdout 'bits.pbm: pbm, 3 x 1, gray, 1 bit, plain, 0 to 1 read as 0 to 255, 13 B' gpuimg info bits.pbm
check "info --json: maxval" test "$(gpuimg info --json thousand.pgm in.pgm | grep -oE '"maxval": [0-9]+' | tr '\n' ' ')" = '"maxval": 1000 "maxval": 255 '
check "histogram names both scales" grep -qx 'hundred.pgm: 3 x 1, 1 channel, 8-bit, 0 to 100 read as 0 to 255' <(gpuimg histogram hundred.pgm)
check "histogram --json: maxval" grep -q '"maxval": 100,' <(gpuimg histogram hundred.pgm --json)
check "histogram of a plain file names no scales" grep -qx 'in.pgm: 9 x 7, 1 channel, 8-bit' <(gpuimg histogram in.pgm)

# A mask has one channel for images of any number of channels.
printf 'P3 3 1 255  255 0 0  0 255 0  0 0 255\n' >rgb.ppm
expect 0 gpuimg threshold rgb.ppm mask.pgm --at 60
check "threshold of a colour image uses its luma: 54, 182, 18" cmp mask.pgm <(printf 'P5\n3 1\n255\n\x00\xff\x00')
expect 0 gpuimg threshold rgb.ppm mask.png
check "a mask in PNG is gray" grep -q ', gray, ' <(gpuimg info mask.png)
expect 0 gpuimg threshold rgb.ppm apart.ppm --at 60 --per-channel
gpuimg convert rgb.ppm want.ppm # raw
check "--per-channel equals the channels alone" cmp apart.ppm want.ppm
expect 0 gpuimg run 'threshold --at 60 | invert' rgb.ppm mask.pgm
check "threshold of a colour image in a chain" cmp mask.pgm <(printf 'P5\n3 1\n255\n\xff\x00\xff')

# Operations of tone.
expect 0 gpuimg levels in.pgm out.pgm --black otsu --white otsu
expect 0 gpuimg threshold in.pgm mask.pgm
check "levels --black otsu --white otsu gives a mask" cmp out.pgm mask.pgm
expect 0 gpuimg levels in.pgm out.pgm --white 0 --black 100%
expect 0 gpuimg invert in.pgm mask.pgm
check "levels with white below black gives a negative" cmp out.pgm mask.pgm
expect 0 gpuimg run 'levels --black 10% | gamma --by 2 | equalize | normalize --percentiles 1,99' rgb.ppm out.ppm
expect_error 2 'levels: --black 300: want 0 to 255, as 8-bit samples are' levels in.pgm made.pgm --black 300
expect_error 2 'gamma: --gamma is missing: want a number, such as 1.4' gamma in.pgm made.pgm
expect_error 2 'normalize: --percentiles 99,1: want LO below HI, such as 1,99' normalize in.pgm made.pgm --percentiles 99,1
gpuimg convert in.pgm float.pfm --depth float
expect 0 gpuimg gamma float.pfm out.pfm --by 2
expect 0 gpuimg levels float.pfm want.pfm --gamma 2
check "levels --gamma and gamma are equal in floats" cmp out.pfm want.pfm
expect_error 1 'run: step 2, mode: samples are float: want 8 or 16 bits*' run 'crop --trim | mode' float.pfm made.pfm --timing
check "a step after one of unknown size is refused before any work" test "$(wc -l <err)" = 1

# Tone mapping; tests/filters/tonemap_oracle.py compares its samples with numpy's.
expect_error 2 'tonemap: --white: aces has a fixed white point: want --method reinhard or hable, or --exposure' \
    tonemap float.pfm made.pgm --method aces --white 2
expect_error 2 'tonemap: --depth 1: want auto, 8, 16 or float' tonemap float.pfm made.pgm --depth 1
expect_error 2 'tonemap: --exposure 31: want -30 to 30 stops' tonemap float.pfm made.pgm --exposure 31

# CLAHE; tests/filters/clahe_oracle.py compares its bytes with OpenCV's.
expect 0 gpuimg run 'clahe --tiles 2x3 | clahe --clip 0 --per-channel | invert' rgb.ppm out.ppm
expect_error 2 'clahe: --tiles: want whole numbers, ACROSSxDOWN, 1 to 256 each' clahe in.pgm made.pgm --tiles 8x
expect_error 2 'clahe: --tiles: want whole numbers, ACROSSxDOWN, 1 to 256 each' clahe in.pgm made.pgm --tiles 257x1
expect_error 2 'clahe: --tiles: want whole numbers, ACROSSxDOWN, 1 to 256 each' clahe in.pgm made.pgm --tiles 50%
expect_error 2 'clahe: --clip-limit -1: want 0 to 1000000' clahe in.pgm made.pgm --clip-limit -1
gpuimg convert in.pgm deep.pgm --depth 16
expect_error 2 'clahe: --tiles: 4160 tiles: want at most 4096, but in 8 bits' clahe deep.pgm made.pgm --tiles 65x64
expect_error 2 'clahe: --tiles: 4160 tiles: want at most 4096, but in 8 bits' clahe float.pfm made.pfm --tiles 65x64
check "no image appears after a refusal" test ! -e made.pgm

# Histogram matching; tests/filters/match_oracle.py compares its samples with scikit-image's.
expect 0 gpuimg match in.pgm out.pgm --reference in.pgm
check "match to the image itself changes nothing" cmp out.pgm <(gpuimg convert in.pgm pgm:-)
expect 0 gpuimg run 'match --reference rgb.ppm | invert' rgb.ppm out.ppm
expect 0 gpuimg match in.pgm want.pgm --reference rgb.ppm --gray
expect 0 gpuimg histogram rgb.ppm --format csv --gray
cp out counts.csv
expect 0 gpuimg match in.pgm out.pgm --histogram counts.csv
check "match --histogram with the counts of a reference equals --reference" cmp out.pgm want.pgm
expect 0 gpuimg match rgb.ppm want.ppm --reference rgb.ppm
expect 0 gpuimg histogram rgb.ppm --format csv
cp out counts.csv
expect 0 gpuimg run 'match --histogram counts.csv' rgb.ppm out.ppm
check "match --histogram with the image's own counts changes nothing" cmp out.ppm want.ppm
expect 0 gpuimg match in.pgm out.pgm --histogram "$(yes 1 | head -256)"
expect_error 2 'match: --reference: missing: want an image, or --histogram' match in.pgm made.pgm
expect_error 2 'match: --reference, --histogram: want one of them' match in.pgm made.pgm --reference in.pgm --histogram counts.csv
expect_error 2 'match: --histogram: 1 row: want 256, one for each value' match in.pgm made.pgm --histogram 5
expect_error 2 'match: --histogram: more than 256 rows, one for each value' match in.pgm made.pgm --histogram "$(yes 1 | head -257)"
expect_error 2 'match: --histogram: row 2: want numbers' match in.pgm made.pgm --histogram $'1\n1;'
expect_error 2 'match: --histogram: row 1: -1: want a whole number, 0 to 1099511627776' match in.pgm made.pgm --histogram $'-1\n1'
expect_error 2 'match: --histogram: row 1: want a number for all channels or 3' match rgb.ppm made.ppm --histogram '1 2'
expect_error 2 'match: --histogram: all counts of a channel are 0' match in.pgm made.pgm --histogram "$(yes 0 | head -256)"
expect_error 1 'match: --histogram none.csv: No such file or directory' match in.pgm made.pgm --histogram none.csv
expect_error 1 'match: a reference of 3 colours: want 1, as the image' match in.pgm made.pgm --reference rgb.ppm
expect_error 1 'match: a reference of 8-bit samples: want 16 bits, as the image' match deep.pgm made.pgm --reference in.pgm
expect_error 1 'match: a reference of 8-bit samples: want 32 bits, as the image' match float.pfm made.pfm --reference in.pgm
expect_error 2 'match: --histogram: 1 row: want 65536, one for each value' match float.pfm made.pfm --histogram 5
check "no image appears after a wrong histogram" test ! -e made.pgm

finish
