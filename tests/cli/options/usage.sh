#!/bin/bash
# The command line: errors and their messages, before any work.
# Sources: cli/log* cli/process* cli/main.c cli/args/parse.c cli/args/suggestion.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 9 7

# No command, or a wrong one.
expect 2 gpuimg
check "no command: help on stderr" grep -q '^Usage: gpuimg COMMAND' err
check "no command: 24 lines at most" test "$(wc -l <err)" -le 24
check "no command: nothing on stdout" test ! -s out
cp err start
for file in in scan a b coins; do cp "$tests/../../testdata/coins.png" $file.png; done
expect 0 gpuimg convert in.png in.tif
expect 0 gpuimg convert in.png photo.jpg
while read -r _ line; do
    # shellcheck disable=SC2086 # words and patterns
    eval "expect 0 gpuimg ${line%%   *}"
done < <(grep -E '^  gpuimg [a-z]+ .*\.' start)
check "no command: eight examples" test "$(grep -cE '^  gpuimg [a-z]+ .*\.' start)" = 8
expect_error 2 'GaussianBlur: no such command, did you mean gaussian? (try gpuimg help)' GaussianBlur in.pgm made.pgm
expect_error 2 'blurr: no such command, did you mean blur? (try gpuimg help)' blurr
expect_error 2 'frobnicate: no such command (try gpuimg help)' frobnicate in.pgm made.pgm
for guess in hist:histogram gauss:gaussian sobel:'edges --operator sobel' diff:compare blurring:blur minimum:erode; do
    expect_error 2 "${guess%%:*}: no such command, did you mean ${guess#*:}? (try gpuimg help)" "${guess%%:*}"
done
for word in bar e; do # near in letters, not in meaning
    expect_error 2 "$word: no such command (try gpuimg help)" $word
done
# Words of other programs.
while IFS=: read -r word means; do
    expect_error 2 "$word: no such command, did you mean $means? (try gpuimg help)" "$word" in.pgm made.pgm
done <<'END'
mogrify:help batch
border:pad
overlay:composite
watermark:composite
append:montage
join:montage
tile:montage
strip:convert --strip
exif:info
pipeline:run
histeq:equalize
adaptive:local-threshold
unsharp-mask:sharpen
average:stack (of many images) or blur
clip:levels
straighten:rotate
white-balance:color --balance gray
whitebalance:color --balance gray
auto-orient:orient
autoorient:orient
auto-rotate:orient
autorotate:orient
segment:extract
segmentation:extract
objects:extract
speed:help batch
flatten:convert --background
colors:palette (counts them), quantize (reduces them) or color (changes them)
colours:palette (counts them), quantize (reduces them) or color (changes them)
verify:info --check
validate:info --check
despeckle:median --threshold (in masks remove-small; for dark specks gpuimg run 'invert | remove-small | invert')
speck:median --threshold (in masks remove-small; for dark specks gpuimg run 'invert | remove-small | invert')
specks:median --threshold (in masks remove-small; for dark specks gpuimg run 'invert | remove-small | invert')
slope:edges --scale 0.125
heatmap:colormap
haldclut:lut
viridis:colormap --map viridis
applyColorMap:colormap
count:extract (of objects) or palette (of colours)
particles:extract
multipage:pages
regression:compare
retry:help batch (--resume)
log:help batch (--report)
python:run (in Python: import gpuimg)
END
# Words for what gpuimg does in another way, or not yet.
outlines="gpuimg contours IN OUT.svg writes outlines as polygons, gpuimg run 'threshold | gradient' IN OUT draws them, and gpuimg extract IN --overlay OUT draws boxes around objects"
no_dry_run='there is no dry run, but options and the names of outputs are checked before any work, and --no-clobber replaces no file'
while IFS=: read -r words sentence; do
    for word in $words; do
        expect_error 2 "$word: no such command, $sentence (try gpuimg help)" "$word" in.pgm made.pgm
    done
done <<END
outline outlines boundary:$outlines
curve curves:gpuimg calc 'full * (a / full) ^ 0.8' IN OUT applies a formula, lut a table, and levels sets black, white and midtones
vignette:gpuimg calc 'a * (1 - hypot(x / width - 0.5, y / height - 0.5) ^ 2)' IN OUT darkens the corners
estimate:to estimate the time of a batch run it on about 100 files: its last line has the images per second
dry-run:$no_dry_run
END
expect_error 2 'run: step 2: outlines: no such operation, *' run 'blur | outlines' in.pgm made.pgm
expect 0 gpuimg run 'threshold | gradient' in.pgm outlines.pgm
# A folder of the name does not hide the suggestion.
mkdir diff
expect_error 2 'diff: no such command, did you mean compare? (try gpuimg help)' diff in.pgm made.pgm
gpuimg help | tr '\n' ' ' | tr -s ' ' >page
while IFS=: read -r alias command; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg ${alias/NAMES/in.pgm alias.pgm}
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg ${command/NAMES/in.pgm command.pgm}
    check "$alias: the bytes of $command" cmp alias.pgm command.pgm
    check "help lists ${alias%% *}" grep -q " ${alias%% *} (${command%% *}" page
    check "help ${alias%% *} explains ${command%% *}" grep -q "^Usage: gpuimg ${command%% *} " <(gpuimg help "${alias%% *}")
done <<'END'
gray NAMES:convert --gray NAMES
grayscale NAMES:convert --gray NAMES
desaturate NAMES:convert --gray NAMES
thumbnail NAMES --size 5x5:resize NAMES --size 5x5
scale NAMES --size 50%:resize NAMES --size 50%
mirror NAMES:flip --h NAMES
trim NAMES --tolerance 20:crop --trim NAMES --tolerance 20
brightness NAMES --value 20:add NAMES --value 20
contrast NAMES:normalize NAMES
END
expect_error 2 'color: -hue: no such option, did you mean --hue?' saturation in.pgm made.pgm -hue 3
expect_error 2 'gaussian: -sigma: no such option, did you mean --sigma?' gaussian in.pgm made.pgm -sigma 3
expect_error 2 'convert: -resize: no such option, did you mean gpuimg resize?' convert in.pgm -resize 50% made.pgm
expect_error 2 'gaussian: --sgima: no such option, did you mean --sigma? (try gpuimg help gaussian)' gaussian in.pgm made.pgm --sgima 3
expect_error 2 'gussaian: no such command, did you mean gaussian? (try gpuimg help)' gussaian in.pgm made.pgm
expect 0 gpuimg --device cpu blur in.pgm first.pgm
expect 0 gpuimg blur in.pgm last.pgm --device cpu
check 'options may come before the command' cmp first.pgm last.pgm
expect_error 2 '--sigma: no such command (try gpuimg help)' --sigma 3
for word in -V version; do
    expect_stdout "$(gpuimg --version)" gpuimg $word
done
expect_error 2 'in.pgm: is a file, want a command before it, as in gpuimg info in.pgm (try gpuimg help)' in.pgm made.pgm
expect_error 2 'help: gausian: no such command, did you mean gaussian?' help gausian

# Options.
expect_error 2 'blur: --qux: no such option (try gpuimg help blur)' blur --qux in.pgm made.pgm
expect_error 2 'blur: --qux: no such option (try gpuimg help blur)' blur in.pgm made.pgm --qux=3
expect_error 2 'blur: --boarder: no such option, did you mean --border? (try gpuimg help blur)' blur in.pgm made.pgm --boarder wrap
expect_error 2 'blur: --radius: no such option, did you mean --k (a side: 2 \* radius + 1)? (try gpuimg help blur)' blur in.pgm made.pgm --radius 3
expect_error 2 'edges: --radius: no such option (try gpuimg help edges)' edges in.pgm made.pgm --radius 3
expect_error 2 'sharpen: --radius: no such option, did you mean --sigma? (try gpuimg help sharpen)' sharpen in.pgm made.pgm --radius 3
while IFS=: read -r command option means; do
    expect_error 2 "$command: --$option: no such option, did you mean --$means? (try gpuimg help $command)" "$command" in.pgm made.pgm --"$option"
done <<END
montage:tile:columns
convert:sampling-factor:subsampling
blur:log:report FILE (a JSON object per input)
blur:skip-existing:no-clobber (or --resume with --report)
info:validate:check
info:verify:check
END
while IFS=: read -r command name option sentence; do
    expect_error 2 "$name: --$option: no such option, $sentence" "$command" in.pgm made.pgm --"$option"
done <<END
palette:palette:colors:gpuimg run 'quantize --colors 5 | palette' IN finds the main colours
contrast:normalize:amount:gpuimg levels --black 3% --white 97% gives more contrast
crop:crop:square:gpuimg resize --size 512x512 --fill makes squares, and gpuimg crop --size 512x512 --gravity center cuts one out
blur:blur:dry-run:$no_dry_run
END
# What the option names of other programs are replaced by does what the message says.
expect 0 gpuimg run 'quantize --colors 5 | palette' in.pgm
check 'five main colours' grep -qE '^5 colours in 63 pixels' out
mkdir folder
for guess in -j:threads -r:recursive --outdir:out-dir '-o:out-dir (of one image the output is the last operand)'; do
    expect_error 2 "blur: ${guess%%:*}: no such option, did you mean --${guess#*:}? (try gpuimg help blur)" blur in.pgm "${guess%%:*}" made.pgm
done
expect_error 2 'blur: -Q: no such option (try gpuimg help blur)' blur in.pgm made.pgm -Q
expect_error 2 'blur: folder: is a folder, want an image; for all in a folder use --recursive and --out-dir' blur folder made.pgm
expect_error 2 'run: folder: is a folder, want an image; *' run blur folder made.pgm
mkdir extract
expect 0 gpuimg run extract in.pgm
expect_error 2 'blur: folder: is a folder, want the name of a file, or --out-dir folder' blur in.pgm folder
expect_error 2 'blur: --gpu: no such option, did you mean --device cuda? (try gpuimg help blur)' blur in.pgm made.pgm --gpu
expect_error 2 'blur: --bold: no such option (try gpuimg help blur)' blur in.pgm made.pgm --bold
expect_error 2 'blur: -z: no such option (try gpuimg help blur)' blur -z in.pgm made.pgm
expect_error 2 'blur: -z: no such option (try gpuimg help blur)' blur -vz in.pgm made.pgm
for option in --progressive --optimize --optimize=no '--subsampling 4:2:0'; do
    # shellcheck disable=SC2086 # words
    expect_error 2 "convert: ${option%%[ =]*}: is for JPEG, not for png" convert in.pgm made.png $option
done
expect_error 2 'blur: --max: could be any of --max-file-size, --max-pixels, --max-bytes, --max-device-bytes' blur in.pgm made.pgm --max 3
expect_error 2 'blur: --k: wants an argument: N' blur in.pgm made.pgm --k
expect_error 2 "montage: --label: wants an argument: TEXT, for example '{name}'" montage in.pgm made.pgm --label
expect_error 2 'pad: --border 20: want clamp, border, wrap, mirror or reflect101; --margins 20 adds 20 pixels on each side' pad in.pgm made.pgm --border 20
expect_error 2 'pad: --border none: want clamp, border, wrap, mirror or reflect101' pad in.pgm made.pgm --border none
for command in add subtract; do
    expect_error 2 "$command: --value 10%: want 1 to 4 sample values *; 10% of full scale is 25.5 in 8 bits and 6553.5 in 16 bits" $command in.pgm made.pgm --value 10%
done
for command in multiply divide; do
    expect_error 2 "$command: --value 110%: want 1 to 4 sample values *; 110% is the number 1.1" $command in.pgm made.pgm --value 110%
done
# A percentage where a number is wanted: the message has the number, unless it is out of range.
expect_error 2 'composite: --opacity 40%: want 0 to 1, for example 0.4' composite in.pgm made.pgm --with in.pgm --opacity 40%
expect_error 2 'composite: --opacity 140%: want 0 to 1' composite in.pgm made.pgm --with in.pgm --opacity 140%
expect_error 2 'blur: --strict takes no argument (--strict=yes)' blur in.pgm made.pgm --strict=yes
expect_error 2 'blur: --help takes no argument' blur --help=yes
expect_error 2 'blur: --k 4: want odd, 1 to 4001 px' blur in.pgm made.pgm --k 4
expect_error 2 'blur: --k 0: want odd, 1 to 4001 px' blur in.pgm made.pgm --k=0
expect_error 2 'blur: --k 99999999999999999999: want odd, 1 to 4001 px' blur in.pgm made.pgm --k 99999999999999999999
expect_error 2 'blur: --k 5x: want odd, 1 to 4001 px' blur in.pgm made.pgm --k 5x
expect_error 2 'blur: --k : want odd, 1 to 4001 px' blur in.pgm made.pgm --k ''
expect_error 2 'gaussian: --sigma 999: want 1 to 2 numbers separated by commas, each 0 to 250 px' gaussian in.pgm made.pgm --sigma 999
expect_error 2 'gaussian: --sigma nan: want 1 to 2 numbers separated by commas, each 0 to 250 px' gaussian in.pgm made.pgm --sigma nan
expect_error 2 'blur: --border round: want clamp, border, wrap, mirror or reflect101' blur in.pgm made.pgm --border round
expect_error 2 'blur: --quality 101: want keep, or 1 to 100' blur in.pgm made.jpg --quality 101
expect_error 2 'blur: --max-pixels 3Q: want *' blur in.pgm made.pgm --max-pixels 3Q
expect_error 2 'threshold: --threshold 101%: want *' threshold in.pgm made.pgm --at 101%
for words in '--sigma 0.05:want 0.1 to 84 px' '--sigma 85:want 0.1 to 84 px' '--range 0:want more than 0' \
    '--range otsu:want a sample value or 0% to 100% of full scale' '--k 8:want odd, 1 to 255 px' '--k 257:want odd, 1 to 255 px' '--border round:want clamp, *'; do
    # shellcheck disable=SC2086 # words
    expect_error 2 "bilateral: ${words/:/: }" bilateral nothere.pgm made.pgm ${words%%:*}
done
for words in '--strength 0:want more than 0' '--strength otsu:want a sample value or 0% to 100% of full scale' '--patch 4:want odd, 1 to 15 px' \
    '--patch 17:want odd, 1 to 15 px' '--search 0:want odd, 1 to 41 px' '--search 43:want odd, 1 to 41 px'; do
    # shellcheck disable=SC2086 # words
    expect_error 2 "nlmeans: ${words/:/: }" nlmeans nothere.pgm made.pgm ${words%%:*}
done
expect_error 2 'bilateral: --range 1e999: want *' bilateral nothere.pgm made.pgm --range 1e999
expect_error 2 'nlmeans: --strength -3: want *' nlmeans nothere.pgm made.pgm --strength=-3
expect_error 2 'convolve: *' convolve in.pgm made.pgm
expect_error 2 'convolve: *' convolve in.pgm made.pgm --kernel '1 2; 3'
expect_error 2 'convolve: --kernel .: is a folder, want a text or a file' convolve in.pgm made.pgm --kernel .
# An error in the file of an option names the file.
echo garbage >bad.cube
expect_error 2 'lut: --cube bad.cube: line 1: want *' lut in.pgm made.pgm --cube bad.cube
expect_error 2 'run: step 2: lut: --cube bad.cube: line 1: want *' run 'invert | lut --cube bad.cube' in.pgm made.pgm
expect_error 2 'convolve: --kernel bad.cube: row 1: garbage: want *' convolve in.pgm made.pgm --kernel bad.cube
expect_error 2 'convolve: --kernel: row 1: x: want *' convolve in.pgm made.pgm --kernel '1 x 1'

# Text with control sequences of terminals.
expect_error 2 'blur: --k ?\[31m: want *' blur in.pgm made.pgm --k $'\e[31m'
expect_error 2 '?\[31m: no such command*' $'\e[31m'

# Operands.
expect_error 2 'blur: want INPUT OUTPUT, got nothing (usage: gpuimg blur \[OPTION...\] INPUT OUTPUT)' blur
expect_error 2 'blur: want INPUT OUTPUT, got in.pgm (*' blur in.pgm
expect_error 2 'blur: more.pgm: one operand too many (usage: gpuimg blur INPUT OUTPUT); for many images use --out-dir' blur in.pgm made.pgm more.pgm
expect_error 2 'blur: operand 2 is empty, want INPUT OUTPUT' blur in.pgm ''
# A third operand that is the value of an option.
for case in resize:size:800x600 resize:size:50% crop:size:5x5 blur:k:5 threshold:threshold:128 rotate:angle:2.3 gamma:gamma:2.2 pad:margins:20 add:with:in.pgm add:value:20 threshold:threshold:50%; do
    IFS=: read -r command option value <<<"$case"
    expect_error 2 "$command: $value: one operand too many, did you mean --$option $value?" "$command" in.pgm made.pgm "$value"
done
expect_error 2 'resize: 0.5: one operand too many, did you mean --size 50%?' resize in.pgm made.pgm 0.5
# Percentages: of options in percent the sign may be written, others say what they want.
expect 0 gpuimg rank in.pgm made.pgm --percent 25%
expect 0 gpuimg rank in.pgm want.pgm --percent 25
check "--percent 25% is 25" cmp made.pgm want.pgm
expect 0 gpuimg crop in.pgm made.pgm --trim --tolerance 10%
rm made.pgm
expect_error 2 'crop: --tolerance 101%: want 0 to 100 % of full scale*' crop in.pgm made.pgm --trim --tolerance 101%
expect_error 2 'crop: --tolerance 10%%: want 0 to 100 % of full scale*' crop in.pgm made.pgm --trim --tolerance 10%%
expect_error 2 'compare: --tolerance 10%: want *; 10% of full scale is 25.5 in 8 bits and 6553.5 in 16 bits' compare in.pgm in.pgm --tolerance 10%
expect_error 2 'composite: --position 50%,50%: want *; --gravity center is 50%,50%, and southeast 100%,100%' composite in.pgm made.pgm --with in.pgm --position 50%,50%
expect_error 2 'composite: --offset: no such option, did you mean --position? *' composite in.pgm made.pgm --with in.pgm --offset 50%,50%
expect_error 2 'blur: --overwrite: no such option, did you mean --no-clobber (files are replaced without it)? *' blur in.pgm made.pgm --overwrite
expect_error 2 'add: made.pgm: one operand too many, did you mean --with in.pgm?' add in.pgm in.pgm made.pgm
expect_error 2 'stats: in.pgm: one operand too many (usage: gpuimg stats INPUT \[TABLE]); for many images use --table FILE, or --table - to print it' stats in.pgm in.pgm in.pgm
expect_error 2 'histogram: made.png: one operand too many, did you mean --plot made.png?' histogram in.pgm made.png
expect_error 2 'histogram: in.pgm: one operand too many (usage: gpuimg histogram INPUT); for many images use --table FILE, or --table - to print it' histogram in.pgm in.pgm
expect_error 2 'compare: in.pgm: one operand too many (usage: gpuimg compare A B); for many pairs give two folders or --pairs LIST' compare in.pgm in.pgm in.pgm
expect_error 2 'help: --memory: no such option, did you mean gpuimg help memory?' help --memory
# Other names of an interpolation.
expect 0 gpuimg rotate in.pgm want.pgm --angle 3 --interpolation bspline
for word in b-spline spline; do
    expect 0 gpuimg rotate in.pgm made.pgm --angle 3 --interpolation $word
    check "--interpolation $word is bspline" cmp made.pgm want.pgm
done
rm made.pgm
expect_error 2 'compare: --fuzz: no such option, did you mean --tolerance?*' compare in.pgm in.pgm --fuzz 2
expect_error 2 'blur: made.mp4: *writes Y4M, which ffmpeg turns into it*' blur in.pgm made.mp4
expect_error 2 'blur: made.pdf: *img2pdf*' blur in.pgm made.pdf
expect_error 2 'blur: made.DDS: *ImageMagick*' blur in.pgm made.DDS
expect_error 2 'blur: made.cur: *ImageMagick*' blur in.pgm made.cur
expect_error 2 'blur: made.psd: *ImageMagick*' blur in.pgm made.psd
# Help lists the tasks that are not possible yet, and a search finds them.
for word in animation PDF Fourier "2 or 4 bits"; do
    check "help limits: $word" grep -q "NOT YET\..*$word" <(gpuimg help limits | tr '\n' ' ')
done
# JPEG and WebP are coded again, and quantize makes a palette; help says so.
check "help convert: a JPEG is coded again" grep -q 'A JPEG or WebP is decoded and encoded again with --quality, also for --strip' <(gpuimg help convert | tr '\n' ' ')
check "help common: --strip codes a JPEG again" grep -q 'Drop metadata [^()]* JPEG is encoded again with --quality' <(gpuimg help common | tr '\n' ' ' | tr -s ' ')
check "help quantize: a PNG gets a palette" grep -q 'A PNG gets a palette, or gray samples of 1, 2 or 4 bits' <(gpuimg help quantize | tr '\n' ' ')
check "help normalize: the default may change nothing" grep -q 'without --percentiles an image that has black and white .* does not change; photographs need 0.5,99.5' <(gpuimg help normalize | tr '\n' ' ')
check "help finds it" grep -q limits <(gpuimg help fourier)
expect_error 2 'blur: made.avi.x: no image format has this name*' blur in.pgm made.avi.x
expect_error 2 'blur: made.pgm: one operand too many, did you mean --k 5?' blur in.pgm 5 made.pgm
expect_error 2 'resize: made.pgm: one operand too many, did you mean --size 50%?' scale 50% in.pgm made.pgm
expect_error 2 'list: x: operations only go with --ways' list x
expect_error 2 'completion: tcsh: want bash|zsh|fish' completion tcsh
expect_error 2 'selftest: blurr: no such operation (try gpuimg list)' selftest blurr

# An option that names files has one value, by whichever of its names; of other options the last one counts.
expect_error 2 'invert: --out made2-{stem}.pgm: --out is given twice: want it once' \
    invert in.pgm --out 'made1-{stem}.pgm' --out 'made2-{stem}.pgm'
expect_error 2 'invert: --out-dir made2: --out-dir is given twice: want it once' invert in.pgm --out-dir=made1 --out-d made2
expect_error 2 'pages: --out made2.tif: --out is given twice: want it once' pages in.pgm -o made1.tif --out made2.tif
expect_error 2 'stats: --table made2.csv: --table is given twice: want it once' stats in.pgm --table made1.csv --table made2.csv
expect_error 2 'extract: --overlay made2.png: --overlay is given twice: want it once' \
    extract in.pgm --overlay made1.png --overlay made2.png
expect_error 2 'run: step 1: stats: --to made2.csv: --to is given twice: want it once' \
    run 'stats --to made1.csv --to made2.csv' in.pgm
expect 0 gpuimg blur in.pgm want.pgm --k 5
expect 0 gpuimg blur in.pgm out.pgm --k 3 --k 5
check "the last --k counts" cmp out.pgm want.pgm

# The format of the output is determined before the input is read: text.pgm is no image.
echo text >text.pgm
expect_error 2 'blur: *' blur text.pgm made.xyz
expect_error 2 'blur: *' blur text.pgm made
expect_error 2 'blur: *' blur text.pgm made.pgm --format xyz

# Different names of the same command or option.
expect 0 gpuimg extract in.pgm --threshold 60 --format json
cp out want.json
expect_stdout "$(cat want.json)" gpuimg extract in.pgm --at 60 -j
expect_stdout "$(cat want.json)" gpuimg extract in.pgm --at 60 --json
expect_stdout "$(gpuimg histogram in.pgm --format json)" gpuimg histogram in.pgm -j
expect_stdout "$(gpuimg compare in.pgm in.pgm --format json)" gpuimg compare -j in.pgm in.pgm
expect_stdout "$(gpuimg list --json)" gpuimg list -j
expect_error 2 'histogram: --json takes no argument (--json=1)' histogram in.pgm --json=1
expect_error 2 'blur: --json: no such option*' blur in.pgm made.pgm --json
expect_error 2 'blur: -j: no such option*' blur in.pgm made.pgm -j
expect_error 2 'blur: --border-value 1,2,3,4,5: want 1 to 4 sample values separated by commas, *' blur in.pgm made.pgm --border-value 1,2,3,4,5

# All forms of an option give the same bytes.
expect 0 gpuimg blur in.pgm want.pgm --k 3 --border wrap
for words in '--k=3 --border=wrap in.pgm got.pgm' '-k3 in.pgm --border tile got.pgm' \
    'in.pgm got.pgm -k 3 --border periodic' '--k 9 in.pgm --k 3 --border wrap -- got.pgm' \
    '--bor=wrap --border wrap --k 3 in.pgm got.pgm'; do
    rm -f got.pgm
    # shellcheck disable=SC2086
    case $words in
    --bor=*) expect 2 gpuimg blur $words ;; # --border and --border-value
    *)
        expect 0 gpuimg blur $words
        check "blur $words equals the plain form" cmp got.pgm want.pgm
        ;;
    esac
done
expect 0 gpuimg gaussian in.pgm got.pgm --sig 2 --compr 3 --no-c --strict --thr 1
cp in.pgm ./-dash.pgm
expect 0 gpuimg blur --k 3 --border wrap -- -dash.pgm -got.pgm
check "operands after --" cmp -- ./-got.pgm want.pgm
POSIXLY_CORRECT=1 expect 0 gpuimg blur in.pgm got.pgm --k 3 --border wrap
check "POSIXLY_CORRECT changes nothing" cmp got.pgm want.pgm

# An option whose value may be the name of a file.
echo '0 -1 0; -1 5 -1; 0 -1 0' >kernel.txt
expect 0 gpuimg convolve in.pgm a.pgm --kernel kernel.txt
expect 0 gpuimg convolve in.pgm b.pgm --kernel '0 -1 0; -1 5 -1; 0 -1 0'
check "kernel from a file" cmp a.pgm b.pgm
expect_error 1 'convolve: --kernel nothere.txt: No such file or directory' convolve in.pgm made.pgm --kernel nothere.txt
expect_error 1 'convolve: --kernel nofolder/k: No such file or directory' convolve in.pgm made.pgm --kernel nofolder/k
expect 0 gpuimg convolve in.pgm c.pgm --kernel '1e0' # a number, not a name
for text in '3x3:0,-1,0,-1,5,-1,0,-1,0' ' 3X3: 0 -1 0 -1 # a row and a bit
5 -1; 0 -1 0'; do
    [[ $text == *X* ]] && text=${text/X/x}
    expect 0 gpuimg convolve in.pgm c.pgm --kernel "$text"
    check "kernel $text" cmp a.pgm c.pgm
done
expect 0 gpuimg convolve in.pgm a.pgm -n --kernel '1;2;3;4;5;4;3;2;1'
expect 0 gpuimg convolve in.pgm b.pgm -n --kernel '1x9:1 2 3 4 5 4 3 2 1'
check "a kernel of one column" cmp a.pgm b.pgm
expect 0 gpuimg convolve in.pgm a.pgm -n --kernel '9x1:1 2 3 4 5 4 3 2 1'
check "a kernel of one row" test "$(cmp -l a.pgm b.pgm | wc -l)" -gt 9
expect_error 2 'convolve: --kernel: one row of 9 weights: want "3x3: ..." or rows separated by ; for 3 x 3, "9x1: ..." for a row' convolve in.pgm made.pgm --kernel 0,-1,0,-1,5,-1,0,-1,0
expect_error 2 'convolve: --kernel: one row of 25 weights: want "5x5: ..." *' convolve in.pgm made.pgm --kernel "$(yes 1 | head -25 | tr '\n' ' ')"
expect_error 2 'convolve: --kernel: 8 weights: want 9 for 3x3' convolve in.pgm made.pgm --kernel '3x3:1 1 1 1 1 1 1 1'
expect_error 2 'convolve: --kernel: row 1: 0x3:: want *' convolve in.pgm made.pgm --kernel '0x3: 1'
expect 0 gpuimg convolve in.pgm c.pgm --kernel '1 2 1' # three can't be a square
printf '1 \0 1' >zero.txt
expect_error 2 'convolve: --kernel zero.txt: holds a zero byte, want text' convolve in.pgm made.pgm --kernel zero.txt
truncate -s 70000000 long.txt
expect_error 1 'convolve: --kernel long.txt: longer than 67108864 bytes' convolve in.pgm made.pgm --kernel long.txt

# An input that is not there is named before the name of an output whose format is unknown.
for command in 'blur no.xyz made.xyz' 'orient no.xyz made' 'convert no.png made.xyz' 'run blur no.xyz made.xyz' 'channels split no.xyz made.xyz' \
    'channels join in.pgm no.xyz made.xyz' 'merge in.pgm no.xyz made.xyz' 'montage in.pgm no.xyz made.xyz' 'stack in.pgm no.xyz made.xyz' \
    'integral no.xyz made.xyz' 'extract no.xyz made.xyz' 'palette no.xyz made.xyz' 'stats no.xyz made.xyz' 'histogram no.xyz --plot made.xyz' \
    'extract no.xyz made.csv --mask made.xyz' 'blur no.xyz --out {stem}.made' 'blur no.xyz[2] made.xyz' \
    'blur in.pgm/no.xyz made.xyz'; do
    name=$(grep -o '[^ ]*no\.[^ ]*' <<<"$command")
    why='No such file or directory'
    [[ $name == in.pgm/* ]] && why='Not a directory'
    # shellcheck disable=SC2086 # words
    expect 1 gpuimg $command
    check "an input that is not there: $command" test "$(<err)" = "gpuimg: ${command%% *}: $name: $why"
done
expect_error 2 'compare: no.xyz: No such file or directory' compare in.pgm no.xyz --diff made.xyz
expect_error 2 'blur: made.xyz: no image format has this name*' blur in.pgm made.xyz
expect_error 2 "blur: made.tar: can't be written: --tar is for tars of images, as in gpuimg blur --tar IN.tar OUT.tar" blur in.pgm made.tar
# Pages chosen in the manner of other programs.
cp in.pgm pages.pgm
for pages in '[0:2]' '[0,2]' '[:2]' '[3-1]' '[0-3..0]' '[3..2]' '[-2]'; do
    expect_error 1 "blur: pages.pgm\\$pages: No such file or directory; pages are chosen as x.tif\\[3], \\[0-2], \\[2-], \\[\\*] or \\[0-8..2]" blur "pages.pgm$pages" made.pgm
done
expect_error 1 'blur: none.pgm\[0:2]: No such file or directory' blur 'none.pgm[0:2]' made.pgm
expect_error 1 'blur: pages.pgm\[a]: No such file or directory' blur 'pages.pgm[a]' made.pgm
expect_error 2 'blur: --pages: no such option, pages are chosen as x.tif\[0-2] or x.tif\[0-8..2]' blur in.pgm made.pgm --pages 0-2
for words in 'convert' 'run flip'; do
    # shellcheck disable=SC2086 # words
    expect_error 2 "${words%% *}: --lossless: no such option, gpuimg flip, rotate, transpose, crop and orient have it for JPEG, without a chain; *" $words in.pgm made.jpg --lossless
done
expect_error 2 'blur: --rgb and --bands 3,2,1: want one of them' blur in.pgm made.pgm --rgb --bands 3,2,1
expect_error 1 'blur: in.pgm: bands=2: it has bands 1 to 1' blur in.pgm made.pgm --rgb
finish
