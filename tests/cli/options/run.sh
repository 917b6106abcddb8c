#!/bin/bash
# gpuimg run: chains from the command line, from files and through pipes, and the chains that it refuses.
# Sources: cli/commands/run.c cli/args/chain*
. "$(dirname "$0")/../lib.sh"

pgm in.pgm 67 45
expect 0 gpuimg gaussian in.pgm a.pgm --sigma 2
expect 0 gpuimg edges a.pgm b.pgm
expect 0 gpuimg threshold b.pgm c.pgm --at otsu
expect 0 gpuimg run 'gaussian --sigma 2 | edges | threshold --at otsu' in.pgm chain.pgm
check "a chain equals its single commands" cmp chain.pgm c.pgm
expect 0 gpuimg run "gaussian --sigma=2|edges|threshold -t otsu" in.pgm chain.pgm
check "a chain without blanks and with short options" cmp chain.pgm c.pgm
expect 0 gpuimg run 'gaussian --sigma 2' in.pgm chain.pgm
check "a chain of one step equals its command" cmp chain.pgm a.pgm
"$GPUIMG" run 'gaussian --sigma 2 | edges' - pgm:- <in.pgm 2>err | cmp - b.pgm && pass || fail "through pipes" "$(<err)"

# Quotes, backslashes, comments, files.
expect 0 gpuimg convolve in.pgm a.pgm --kernel '1 2 1; 0 3 0; 2 2 1' --normalize
expect 0 gpuimg convolve in.pgm b.pgm --kernel '1e-9 2e-9 1e-9; 0 3e-9 0; 2e-9 2e-9 1e-9' --normalize
check "--normalize of small weights equals that of large ones" cmp a.pgm b.pgm
expect 0 gpuimg convolve in.pgm a.pgm --kernel '2 4 6; 3 6 9; 1 2 3' --normalize --device cpu -v
check "a kernel of rank 1 runs as rows and columns" grep -q 'ways cpu: convolve_separable' err
expect 0 gpuimg convolve in.pgm a.pgm --kernel '0 -1 0; -1 5 -1; 0 -1 0'
expect 0 gpuimg run 'convolve --kernel "0 -1 0; -1 5 -1; 0 -1 0"' in.pgm chain.pgm
check "double quotes" cmp chain.pgm a.pgm
expect 0 gpuimg run "convolve --kernel '0 -1 0; -1 5 -1; 0 -1 0'" in.pgm chain.pgm
check "single quotes" cmp chain.pgm a.pgm
expect 0 gpuimg run 'convolve --kernel 0\ -1\ 0;\ -1\ 5\ -1;\ 0\ -1\ 0' in.pgm chain.pgm
check "backslashes" cmp chain.pgm a.pgm
cat >steps.txt <<'END'
# what the scanner needs
convolve --kernel "0 -1 0; -1 5 -1; 0 -1 0"   # crisp
  | gaussian
      --sigma 1.5
END
expect 0 gpuimg gaussian a.pgm b.pgm --sigma 1.5
expect 0 gpuimg run --file steps.txt in.pgm chain.pgm
check "a chain from a file with comments" cmp chain.pgm b.pgm

# A comma before a blank separates steps, and so does the end of a line if an operation begins the next.
expect 0 gpuimg run 'gaussian --sigma 2 | edges | threshold --at otsu' in.pgm a.pgm
for chain in 'gaussian --sigma 2, edges, threshold --at otsu' 'gaussian --sigma 2 , edges, threshold --at otsu | invert, invert' \
    $'# steps\ngaussian --sigma 2 # wide\n\n  edges\nthreshold --at\notsu\n' $'gaussian --sigma 2,\nedges |\nthreshold --at otsu'; do
    expect 0 gpuimg run "$chain" in.pgm chain.pgm
    check "steps separated by commas and lines: $chain" cmp chain.pgm a.pgm
    echo "$chain" >lines.txt
    expect 0 gpuimg run --file lines.txt in.pgm chain.pgm
    check "steps in a file: $chain" cmp chain.pgm a.pgm
done
expect 0 gpuimg run $'invert\ninvert --alpha\nmedian' in.pgm a.pgm
expect 0 gpuimg median in.pgm b.pgm
check "an option without a value at the end of a line" cmp a.pgm b.pgm
expect_error 2 'run: step 1: gaussian: --sigma 2,edges: want 1 to 2 numbers separated by commas, each 0 to 250 px; if edges is a step: want | or a comma and a blank before it' run 'gaussian --sigma 2,edges' in.pgm made.pgm
expect_error 2 'run: step 1: gaussian,edges: no such operation*; if edges is a step: want | or a comma and a blank before it' run 'gaussian,edges' in.pgm made.pgm
expect_error 2 'run: step 2: edgez: no such operation, did you mean edges?' run 'gaussian, edgez' in.pgm made.pgm
expect_error 2 'run: step 2: edgez: no such operation, did you mean edges?' run $'gaussian --sigma 2\nedgez' in.pgm made.pgm
echo invert >steps.txt
expect_error 2 'run: step 1: steps.txt: no such operation; a file of steps needs --file' run steps.txt in.pgm made.pgm
expect_error 2 'run: step 1: steps.txt: no such operation; a file of steps needs --file' run steps.txt in.pgm --out-dir made
expect_error 2 'run: step 2: blur,: no such operation*' run 'edges, blur,' in.pgm made.pgm
expect_error 2 'run: step 1: gaussian: --sigma 2,: want 1 to 2 numbers separated by commas, each 0 to 250 px' run 'gaussian --sigma 2\, edges' in.pgm made.pgm
# A comma and the name of an operation in quotes are text.
expect_error 2 'run: step 1: gaussian: --sigma 2, edges: want 1 to 2 numbers separated by commas, each 0 to 250 px*' run 'gaussian --sigma "2, edges"' in.pgm made.pgm

# Aliases of commands are steps too.
printf 'P6 2 2 255 abcdefxyz,.-' >hues.ppm
while IFS=: read -r alias words; do
    expect 0 gpuimg run "$words" hues.ppm a.pnm
    for chain in "$alias" "invert | invert, $alias" $'invert\ninvert\n'"$alias"; do
        expect 0 gpuimg run "$chain" hues.ppm b.pnm
        check "the alias $alias is $words: $chain" cmp a.pnm b.pnm
    done
done <<'END'
gray:convert --gray
grayscale:convert --gray
desaturate:convert --gray
gray --depth 16:convert --gray --depth 16
mirror:flip --h
scale --size 1x1:resize --size 1x1
thumbnail --size 1x1:resize --size 1x1
contrast --percentiles 1,99:normalize --percentiles 1,99
saturation --saturation 2:color --saturation 2
brightness --value 9:add --value 9
trim:crop --trim
END

# Common options belong after the chain.
whole='applies to the whole chain: want it after the chain'
expect_error 2 "run: step 2: median: --gray: $whole, or the step convert --gray" run 'invert | median --gray' in.pgm made.pgm
expect_error 2 "run: step 1: median: --depth=16: $whole, or the step convert --depth=16" run 'median --depth=16' in.pgm made.pgm
expect_error 2 "run: step 1: median: --quality: $whole" run 'median --quality 80' in.pgm made.pgm
expect_error 2 'run: step 1: median: --qualitx: no such option*' run 'median --qualitx 80' in.pgm made.pgm

# Analyses pass the image on and write the outputs of the single commands.
expect 0 gpuimg gaussian in.pgm a.pgm --sigma 2
expect 0 gpuimg extract a.pgm want.csv --at 60 --overlay want.png
expect 0 gpuimg histogram a.pgm --bins 16 --format csv
cp out want-bins.csv
expect 0 gpuimg run 'gaussian --sigma 2 | histogram --bins 16 --format csv --to bins.csv | extract --at 60 --to got.csv --overlay got.png | edges' in.pgm chain.pgm
expect 0 gpuimg edges a.pgm b.pgm
check "analyses pass their image on" cmp chain.pgm b.pgm
check "a table in the middle of a chain" cmp got.csv want.csv
check "an overlay in the middle of a chain shows the image of its step" cmp got.png want.png
check "a histogram in the middle of a chain" cmp bins.csv want-bins.csv
expect 0 gpuimg run 'gaussian --sigma 2 | extract --at 60' in.pgm
check "a table at the end goes to standard output" cmp out want.csv
expect 0 gpuimg run 'gaussian | extract --to got.csv --mask-image in.pgm' in.pgm
expect 1 gpuimg run 'gaussian | extract --to made.csv --mask-image in.pgm' "$tests/../../testdata/coins.png"
check "a mask of another size is named with its step" grep -q 'step 2, extract: .*mask' err
"$GPUIMG" run 'blur | histogram | edges' in.pgm made.pgm >/dev/full 2>err
check "a table that can't be printed is the error of its step" grep -q 'run: step 2, histogram: standard output: No space' err
if [ -e made.pgm ]; then fail "tables come before the image" "made.pgm is there"; else pass; fi
for input in 'gpuimg run "extract --mask-image -" in.pgm' 'gpuimg extract in.pgm --mask-image -'; do
    expect 0 bash -c 'gpuimg() { "$0" "$@"; }; <in.pgm '"$input" "$GPUIMG"
    cp out piped.csv
    expect 0 gpuimg extract in.pgm --mask-image in.pgm
    check "a mask from standard input: $input" cmp piped.csv out
done
expect_error 2 'run: step 2, add: --with -: want a file, *' run 'add --with - | add --with -' in.pgm made.pgm
expect_error 2 'extract: --mask-image -: want a file, *' extract --mask-image - - <in.pgm
expect_error 2 'run: step 1, extract: --mask-image -: want a file, standard input is for the input' run 'extract --mask-image -' -

# Errors name the step and the word, and are reported before any work.
expect_error 2 'run: step 2: edgez: no such operation, did you mean edges?' run 'blur | edgez' in.pgm made.pgm
expect_error 2 'run: step 1: gaussian: --sigma 999: want 1 to 2 numbers separated by commas, each 0 to 250 px' run 'gaussian --sigma 999 | edges' in.pgm made.pgm
expect_error 2 'run: step 2: edges: *--sigma*' run 'blur | edges --sigma 2' in.pgm made.pgm
expect_error 2 'run: step 2: is empty, want an operation' run 'blur | | edges' in.pgm made.pgm
expect_error 2 'run: step 1: is empty, want an operation' run ' ' in.pgm made.pgm
expect_error 2 'run: step 3: is empty, want an operation' run 'blur | edges |' in.pgm made.pgm
expect_error 2 'run: step 1: "0 1: a quote is not closed' run 'convolve --kernel "0 1' in.pgm made.pgm
printf 'invert%.0s | ' {1..999} >steps.txt
echo invert >>steps.txt
expect 0 gpuimg run --file steps.txt in.pgm chain.pgm --device cpu
check "1000 steps" cmp chain.pgm in.pgm
echo '| invert' >>steps.txt
expect_error 2 'run: step 1001: want at most 1000 steps' run --file steps.txt in.pgm made.pgm
expect_error 2 "run: step 1: compare: can't be a step of a chain*" run 'compare' in.pgm made.pgm
expect_error 2 'run: step 1: gaussian: in.pgm: one operand too many*' run 'gaussian in.pgm' in.pgm made.pgm
expect_error 2 'run: want OUTPUT for the image that edges makes' run 'blur | edges' in.pgm
expect_error 2 'run: step 1, histogram: its table and the image both go to standard output: want --to FILE' run 'histogram | edges' in.pgm pgm:-
expect_error 2 'run: step 1, histogram: its table and the table of step 2 both go to made.x: want --to FILE' run 'histogram --to made.x | extract --format csv --to made.x' in.pgm
expect_error 2 'run: step 1, histogram: its --plot and the image both go to made.png: want another file' run 'histogram --to made.txt --plot made.png | blur' in.pgm png:made.png
expect_error 2 'run: step 1, histogram: made.svg and made.svg: both go to one file, want a place for each' run 'histogram --to made.svg --plot made.svg' in.pgm
expect_error 2 'run: step 1, extract: its --overlay and the --mask of step 3 both go to ./made.png: want another file' run 'extract --to made.csv --overlay ./made.png | blur | extract --to made2.csv --mask made.png' in.pgm
expect_error 2 'run: step 1, extract: its --points and the table of step 2 both go to standard output: want another file' run 'extract --to made.csv --points - | histogram' in.pgm
cp in.pgm a.pgm
expect_error 2 'run: a.pgm: would be written over the input a.pgm, want another file' run 'histogram --to a.pgm | extract --to made.csv --mask-image a.pgm' in.pgm
expect_error 2 'run: want CHAIN INPUT*' run blur
expect_error 2 'run: want INPUT*with --file*' run --file steps.txt in.pgm made.pgm made2.pgm
expect_error 1 'run: step 1, extract: *' run 'extract --mask-image no-such.pgm --to made.csv' in.pgm
expect_error 1 'run: no-such.pgm: *' run 'blur' no-such.pgm made.pgm

# --timing has one upload, one download, and one line per step.
expect 0 gpuimg run 'blur | edges | blur' in.pgm chain.pgm --timing --device cpu
check "--timing: one upload" grep -qE '^upload .* 1 time$' err
check "--timing: one download" grep -qE '^download .* 1 time$' err
if (($(grep -cE '^(blur|edges) .* bytes ' err) == 3)); then pass; else fail "--timing: a line per step" "$(<err)"; fi

# Help and completion know the words inside the quotes.
expect 0 gpuimg help run
check "help run lists options of steps" grep -qE '^ +gaussian +--sigma --k' out
expect 0 gpuimg __complete run "'gau"
check "completion of an operation" grep -q $'^gaussian\t' out
expect 0 gpuimg __complete run 'blur | gaussian --si'
check "completion of an option" grep -q $'^blur | gaussian --sigma\t' out
expect 0 gpuimg __complete run 'blur | edges --operator so'
check "completion of a value" grep -q $'^blur | edges --operator sobel\t' out
finish
