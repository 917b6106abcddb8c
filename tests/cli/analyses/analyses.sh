#!/bin/bash
# histogram, extract and compare: their output, the files that they write, and the options and inputs that they refuse.
# Sources: cli/commands/histogram* cli/commands/extract* cli/commands/compare* cli/tables/histogram* cli/tables/extract* cli/tables/compare* cli/plot cli/commands/analysis.c
#     cli/args/reporter.h statistics regions
. "$(dirname "$0")/../lib.sh"

# Two regions: 2 x 2 of 90 at the upper right, a diagonal of 40 and 50 at the lower left.
printf 'P2\n6 4\n255\n0 0 0 0 90 90\n0 0 0 0 90 90\n40 0 0 0 0 0\n0 50 0 0 0 0\n' >two.pgm
printf 'P3\n2 1\n255\n10 20 30 12 24 36\n' >rgb.ppm

# histogram
expect_stdout "two.pgm: 6 x 4, 1 channel, 8-bit

                    gray
count                 24
min                    0
max                   90
mean               18.75
stddev           34.1946
entropy          1.12419
median                 0
p50                    0
p90                   90

values                          gray
0 - 63                            20
64 - 127                           4
128 - 191                          0
192 - 255                          0" gpuimg histogram two.pgm --bins 4 --percentiles 50,90
expect_stdout "bin,lo,hi,red,green,blue
0,0,10,0,0,0
1,10,20,2,0,0
2,20,30,0,2,0
3,30,40,0,0,2" gpuimg histogram rgb.ppm --bins 4 --range 0,40 --format csv
expect_stdout "bin,lo,hi,luminance
0,0,20,1
1,20,40,2" gpuimg histogram rgb.ppm --bins 2 --range 0,40 --format csv --luminance --cumulative
expect_stdout '{"file": "two.pgm", "width": 6, "height": 4, "depth": 8, "maxval": 255, "channels": [{"name": "gray", "range": [0.0, 255.0], "bins": [24, 0], "count": 24, "total": 24, "nan": 0, "mean": 18.75, "stddev": 34.194602400573885, "min": 0.0, "max": 90.0, "median": 0.0, "percentiles": {"p2.5": 0.0}, "entropy": 1.1241854163060885}]}' \
    gpuimg histogram two.pgm --bins 2 --percentiles 2.5 --format json
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x09\x00\x05\x00' >clear.pam
expect_stdout "clear.pam: 2 x 1, 2 channels, 8-bit

                    gray       alpha
count                  0           0
min                    -           -
max                    -           -
mean                   -           -
stddev                 -           -
entropy                -           -
median                 -           -
p50                    -           -

values                          gray       alpha
0 - 127                            0           0
128 - 255                          0           0" gpuimg histogram clear.pam --opaque --bins 2 --percentiles 50
expect 0 gpuimg histogram clear.pam --opaque --plot plot.png
expect 0 gpuimg histogram two.pgm --bins 4 --bars
check "ASCII bars" grep -q '|################' out
expect 0 env LC_ALL=C.UTF-8 "$GPUIMG" histogram two.pgm --bins 4 --bars
check "bars of blocks" grep -q '│████████████████' out
check "bins without samples have no bar" test -z "$(grep '│' out | grep '▁')"
# The memory after an odd number of bins holds a number, which the bars must not show.
expect 0 gpuimg histogram two.pgm --bins 41 --bars
check "the first of 41 bars is the highest" test "$(grep -c '|#' out)" = 8
cp two.pgm 'a "quoted" \ name.pgm'
cp two.pgm $'bad\xff.pgm'
for f in 'a "quoted" \ name.pgm' $'bad\xff.pgm'; do
    for command in histogram extract; do
        expect 0 gpuimg $command "$f" --format json
        check "JSON of $command is valid for any file name" /usr/bin/env python3 -c 'import json; json.load(open("out", encoding="utf-8"))'
    done
done
expect_error 2 'histogram: --bins 0: *' histogram two.pgm --bins 0
expect_error 2 'histogram: --range 3,3: want LO below HI' histogram two.pgm --range 3,3
expect_error 2 'histogram: --range 1,2.5,3: want 2 numbers separated by a comma' histogram two.pgm --range 1,2.5,3
expect_error 2 'histogram: --range -1e+308,1e+308: want ends less than *' histogram two.pgm --range=-1e308,1e308
expect_error 2 'histogram: --plot made.gif: want a name that ends in .png or .svg' histogram two.pgm --plot made.gif
if ldconfig -p 2>/dev/null | grep -q libcairo.so.2; then
    expect 0 gpuimg histogram two.pgm --plot plot.png --log
    check "plot is a PNG" gpuimg info plot.png
    expect_error 1 'histogram: nowhere/plot.png: *' histogram two.pgm --plot nowhere/plot.png
    cp two.pgm $'name\xff.pgm'
    expect 0 gpuimg histogram $'name\xff.pgm' --plot plot.png
else
    skip "no libcairo.so.2: plots as PNG"
fi
cp rgb.ppm $'a<b&c\x1b.ppm'
expect 0 gpuimg histogram $'a<b&c\x1b.ppm' --plot plot.svg --cumulative --bins 65536
check "plot is XML" python3 -c 'import xml.dom.minidom as m; m.parse("plot.svg")'
for words in 'a&lt;b&amp;c.*ppm' 'sample value' 'samples up to here' red 250; do
    check "the plot has its text as text: $words" grep -qE ">$words</text>" plot.svg
done
# Lines one pixel wide are centred on pixels. In 1000 x 560 the chart spans 84 to 972 by 74 to 498, and 250 of 0 to 255 is at
# floor(84 + 250 / 255 * 888).
for path in 'M84 498.5L972 498.5' 'M84.5 498L84.5 504' 'M954.5 498L954.5 504'; do
    check "plot's axis: $path" grep -q "<path d=\"$path\" fill=\"none\"" plot.svg
done
check "every line one pixel wide is centred on pixels" test -z "$(grep 'stroke-width="1"' plot.svg | grep -vE 'd="M([0-9]+\.5 [0-9.]+L[0-9]+\.5 |[0-9.]+ [0-9]+\.5L[0-9.]+ [0-9]+\.5")')"
expect 0 gpuimg histogram two.pgm --plot few.svg
check "plot's axis of few samples has whole numbers" test -z "$(grep -oE '>[0-9]+\.[0-9]+</text>' few.svg)"
for words in 'middle" [^>]*>0<' 'start" [^>]*>6 x 4 pixels' 'end" [^>]*>0<'; do
    check "the plot's text is aligned at its place: $words" grep -q "text-anchor=\"$words" few.svg
done
check "the legend has a square" grep -qE '<path d="M([0-9.]+) ([0-9.]+)L([0-9.]+) \2L\3 ([0-9.]+)L\1 \4" fill="[^"]*" fill-opacity="0.8"' few.svg
check "plot has its curves" test "$(grep -c '<path [^>]*fill-opacity' plot.svg)" = 6
cp plot.svg before.svg
expect_error 1 'histogram: plot.svg: exists, and --no-clobber was given' histogram rgb.ppm --plot plot.svg --no-clobber
check "an existing plot is unchanged" cmp plot.svg before.svg
ln -s /dev/full full.svg
expect 75 gpuimg histogram rgb.ppm --plot full.svg
{ printf 'P5 2 1 65535\n'; printf '\377\377\0\0'; } >wide.pgm
expect 0 gpuimg histogram wide.pgm --plot wide.svg
check "values on the axis are written in full" grep -q '>60000</text>' wide.svg
{ printf 'P5 3000 1 255\n'; head -c 3000 /dev/zero; } >many.pgm
expect 0 gpuimg histogram many.pgm --plot many.svg
check "counts on the axis have units" grep -qE '>[0-9.]+k</text>' many.svg

# Bars: ticks at round values; colour is used on a terminal only.
expect 0 gpuimg histogram two.pgm --bars
check "the axis has ticks" test "$(tail -2 out)" = "           0 ++-----------+------------+-----------+------------+-----------+-
              0           50           100         150          200         250"
check "no colour in a file" test "$(grep -c $'\e' out)" = 0
cat >terminal.py <<'END'
import os, pty, subprocess, sys
head, tail = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=tail)
os.close(tail)
text = b""
while True:
    try:
        more = os.read(head, 65536)
    except OSError:
        break
    if not more:
        break
    text += more
child.wait()
sys.stdout.buffer.write(text)
END
if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    TERM=xterm python3 terminal.py "$GPUIMG" histogram rgb.ppm >out
    check "red bars are red on a terminal" grep -q $'\e\\[31m.*\e\\[0m' out
    check "green and blue too" test "$(grep -c $'\e\\[3[24]m' out)" -ge 16
    NO_COLOR=1 TERM=xterm python3 terminal.py "$GPUIMG" histogram rgb.ppm >out
    check "NO_COLOR" test "$(grep -c $'\e' out)" = 0
    TERM=dumb python3 terminal.py "$GPUIMG" histogram rgb.ppm >out
    check "TERM=dumb" test "$(grep -c $'\e' out)" = 0
else
    skip "histogram on a terminal: no pseudo-terminals here"
fi

# extract
expect_stdout "label,area,bbox_x,bbox_y,bbox_width,bbox_height,centroid_x,centroid_y,perimeter,mean,stddev,min,max
1,4,4,0,2,2,4.5,0.5,4,90,0,90,90
2,2,0,2,2,2,0.5,2.5,0,45,5,40,50" gpuimg extract two.pgm --at 20
expect_stdout '{"file": "two.pgm", "width": 6, "height": 4, "threshold": 20, "connectivity": 8, "regions": [
{"label": 1, "area": 4, "bbox": [4, 0, 2, 2], "centroid": [4.5, 0.5], "perimeter": 4, "mean": 90, "stddev": 0, "min": 90, "max": 90},
{"label": 2, "area": 2, "bbox": [0, 2, 2, 2], "centroid": [0.5, 2.5], "perimeter": 0, "mean": 45, "stddev": 5, "min": 40, "max": 50}
]}' gpuimg extract two.pgm --at 20 --format json
expect_stdout '{"label": 1, "area": 2, "bbox": [0, 2, 2, 2], "centroid": [0.5, 2.5], "perimeter": 0, "mean": 45, "stddev": 5, "min": 40, "max": 50}' \
    gpuimg extract two.pgm --at 20 --max-area 3 --format jsonl
expect_stdout '{"file": "two.pgm", "width": 6, "height": 4, "threshold": 255, "connectivity": 4, "regions": []}' \
    gpuimg extract two.pgm --at 100% --connectivity 4 --format json
expect 0 gpuimg extract two.pgm table.json --at 20 --labels l.pgm --mask m.pgm --overlay o.ppm --crops crops --points p.csv
check "extract with outputs prints nothing" test ! -s out
check "table" grep -q '"label": 2' table.json
check "labels" bash -c "tail -c 48 l.pgm | od -An -tu1 -w12 | tr -s ' ' | head -1 | grep -qx ' 0 0 0 0 0 0 0 0 0 1 0 1'"
check "mask" bash -c "tail -c 24 m.pgm | od -An -tu1 -w6 | tr -s ' ' | head -1 | grep -qx ' 0 0 0 0 255 255'"
check "overlay is colour" bash -c "head -c 2 o.ppm | grep -qx P6"
check "crops" test "$(echo crops/*)" = "crops/region-000001.png crops/region-000002.png"
expect_stdout "x,y,value
4,0,90
5,0,90
4,1,90
5,1,90
0,2,40
1,3,50" cat p.csv
expect_stdout "x,y,value
0,2,40
1,3,50" gpuimg extract two.pgm table.csv --at 20 --max-area 3 --points -
printf 'P2\n6 4\n65535\n1 0 0 0 0 0\n0 0 0 0 0 0\n0 0 0 0 0 0\n0 0 0 0 0 0\n' >mask.pgm
expect 0 gpuimg extract two.pgm --mask-image mask.pgm --format json
check "a mask of value 1 selects pixels" grep -q '"area": 1' out
check "with a mask there is no threshold" grep -q '"threshold": null' out

expect_error 1 'extract: --mask-image: is 2 x 1, want 6 x 4*' extract two.pgm made.csv --mask-image rgb.ppm
expect_error 2 'extract: made.txt: want a name that ends in *' extract two.pgm made.txt
expect_error 2 'extract: --points made.txt: *' extract two.pgm --points made.txt
expect_error 2 'extract: --labels made.jpg: *' extract two.pgm --labels made.jpg
expect_error 2 'extract: --max-area 3: *' extract two.pgm made.csv --min-area 4 --max-area 3
expect_error 1 'extract: nothere.pgm: *' extract nothere.pgm made.csv --points made2.csv
expect_error 1 'extract: nowhere/t.csv: *' extract two.pgm nowhere/t.csv --mask made.png
: >there.csv
expect_error 1 'extract: there.csv: exists, and --no-clobber was given' extract two.pgm there.csv --no-clobber
check "the old table is unchanged" test ! -s there.csv
: >there.npy
expect_error 1 'extract: there.npy: exists, and --no-clobber was given' extract two.pgm made.csv --labels there.npy --no-clobber

# All outputs are checked before the input is read: the input is missing here, and the message names the output.
for option in labels mask overlay points; do
    suffix=$([[ $option == points ]] && echo csv || echo png)
    other=$([[ $option == labels ]] && echo mask || echo labels)
    expect_error 1 "extract: nowhere/x.$suffix: *" extract nothere.pgm made.csv --"$other" made.png --"$option" "nowhere/x.$suffix"
    mkdir -p "a.$suffix"
    expect_error 1 "extract: a.$suffix: *" extract nothere.pgm made.csv --"$other" made.png --"$option" "a.$suffix"
done
expect_error 1 'extract: nowhere/l.npy: *' extract nothere.pgm made.csv --mask made.png --labels nowhere/l.npy
expect_error 1 'extract: nowhere/m.png: *' extract nothere.pgm made.csv --labels made.png --mask png:nowhere/m.png
expect_error 1 'extract: --crops nowhere/in/: there is no folder nowhere' extract nothere.pgm made.csv --labels made.png --crops nowhere/in/
expect_error 1 'extract: --crops two.pgm: Not a *' extract nothere.pgm made.csv --crops two.pgm
echo text >text.pgm # is not read before such errors
expect_error 2 'extract: --crop-format psd: *' extract text.pgm made.csv --crops made --crop-format psd
expect_error 2 'extract: --overlay made.pgm: want a format that holds colour' extract text.pgm made.csv --overlay made.pgm
expect_error 2 'extract: --mask-image mask.pgm and --threshold: want one of them' extract nothere.pgm made.csv --mask-image mask.pgm --at 20
if ((EUID != 0)); then
    mkdir closed
    chmod a-w closed
    expect_error 1 'extract: closed/m.png: Permission *' extract nothere.pgm made.csv --labels made.png --mask closed/m.png
    expect_error 1 'extract: --crops closed: Permission *' extract nothere.pgm made.csv --crops closed
else
    skip "root may write everywhere"
fi
expect_error 1 'extract: --crop-format pgm: *colour' extract rgb.ppm made.csv --labels made.png --crops made --crop-format pgm

# Two results must not share one output.
expect_error 2 'extract: TABLE - and --points -: both go to standard output, *' extract text.pgm --points -
expect_error 2 'extract: --labels png:- and --mask png:-: both go to standard output, *' extract text.pgm made.csv --labels png:- --mask png:-
expect_error 2 'extract: TABLE made.csv and --points ./made.csv: both go to one file, *' extract text.pgm made.csv --points ./made.csv
expect_error 2 'extract: --labels made.png and --mask png:made.png: both go to one file, *' extract text.pgm made.csv --labels made.png --mask png:made.png
: >one.png
ln one.png two.png
expect_error 2 'extract: --mask one.png and --overlay two.png: both go to one file, *' extract text.pgm made.csv --mask one.png --overlay two.png
ln -s /dev/null null.png
expect 0 gpuimg extract two.pgm /dev/null --format csv --labels null.png --mask null.png
expect 0 gpuimg extract two.pgm /dev/null --format csv --labels npy:labels.bin
check "the prefix is not a part of the name" grep -q NUMPY labels.bin

# Crops are not written into a folder with crops of an earlier run or with other files.
expect_error 1 'extract: --crops crops: holds region-00000?.png: want a new or an empty *' extract nothere.pgm made.csv --crops crops
mkdir -p some
: >some/notes.txt
expect_error 1 'extract: --crops some: holds notes.txt: want a new or an empty *' extract nothere.pgm made.csv --crops some
expect 0 bash -c "'$GPUIMG' extract two.pgm --at 20 | head -1"

# More regions than a 16-bit label image can hold: an error that names formats that can, and no table.
{
    printf 'P5\n600 440\n255\n'
    for ((y = 0; y < 220; y++)); do
        printf '%600s%600s' '' '' | sed 's/  / ~/g; s/^\(.\{600\}\)\(.*\)$/\1/'
        printf '%600s' ''
    done
} >many.pgm
expect 0 gpuimg extract many.pgm many.csv --at 50 --labels many.npy
check "66000 regions" test "$(wc -l <many.csv)" = 66001
check "66000 labels" test "$(tail -c +129 many.npy | od -An -tu4 -v -w4 | sort -n | tail -1 | tr -d ' ')" = 66000
expect_error 1 'extract: --labels made.png: labels up to 66000, *want .npy' extract many.pgm made.csv --at 50 --labels made.png

# Regions in colours: each has one colour, all colours differ, and the background is black.
expect 0 gpuimg extract two.pgm two.csv --at 20 --labels-picture l.ppm --labels l.pgm
check "--labels-picture: one colour per label" python3 -c '
def raster(path, channels, depth):
    data = open(path, "rb").read()
    n = 6 * 4 * channels * depth
    return data[-n:]
labels, picture, colours = raster("l.pgm", 1, 2), raster("l.ppm", 3, 1), {}
for i in range(24):
    label = labels[2 * i] << 8 | labels[2 * i + 1]
    colours.setdefault(label, set()).add(picture[3 * i:3 * i + 3])
assert all(len(c) == 1 for c in colours.values()) and colours[0] == {b"\0\0\0"}, colours
assert len(set.union(*colours.values())) == len(colours) == 3, colours'
expect_error 2 'extract: --labels-picture made.pgm: want a format that holds colour' extract two.pgm two.csv --labels-picture made.pgm
expect_error 2 'extract: --labels-picture l.png and --mask l.png: both go to one file*' extract two.pgm two.csv --labels-picture l.png --mask l.png

# compare
printf 'P2\n6 4\n255\n0 0 0 0 90 90\n0 0 0 0 90 90\n40 0 0 0 0 0\n0 53 0 0 0 0\n' >near.pgm
expect 1 gpuimg compare two.pgm near.pgm
check "compare counts differing samples" grep -Eq '^differing +1$' out
check "max difference" grep -Eq '^max difference +3$' out
check "without a limit a difference is one, as for cmp" grep -qx 'gpuimg: compare: 1 of 24 samples differ' err
expect_stdout "$(gpuimg compare two.pgm two.pgm)" gpuimg compare two.pgm two.pgm
for words in "two.pgm near.pgm" "two.pgm near.pgm --json" "two.pgm near.pgm --min-psnr 90"; do
    # shellcheck disable=SC2086 # words
    expect 1 gpuimg compare -q $words
    check "compare -q $words prints nothing" test ! -s out -a ! -s err
done
expect_stdout '' gpuimg compare -q two.pgm two.pgm
expect_error 2 'compare: nothere.pgm: No such file or directory' compare -q two.pgm nothere.pgm
# A tolerance, and pixels that are not compared: the one that differs is at 1, 3.
expect 0 gpuimg compare two.pgm near.pgm --tolerance 3
expect 1 gpuimg compare two.pgm near.pgm --tolerance 2.9
expect 1 gpuimg compare two.pgm near.pgm --tolerance 2.9 --max-differing 0
expect 0 gpuimg compare two.pgm near.pgm --tolerance 3 --max-differing 0
expect 0 gpuimg compare two.pgm near.pgm --ignore-region 1x1+1+3
check "pixels that are ignored are not counted" test "$(gpuimg compare two.pgm near.pgm --ignore-region 2x1+1+3 --json | grep -o '"samples": [0-9]*' | head -1)" = '"samples": 22'
expect 0 gpuimg compare two.pgm near.pgm --ignore-region 1x1+0+0,9x9+1+3
expect 1 gpuimg compare two.pgm near.pgm --ignore-region 1x1+2+3
expect_error 2 'compare: --ignore-region 5x5: want WxH+X+Y, at most 64 of them*' compare two.pgm near.pgm --ignore-region 5x5
printf 'P2\n6 4\n255\n0 0 0 0 0 0\n0 0 0 0 0 0\n0 0 0 0 0 0\n0 1 0 0 0 0\n' >hide.pgm
expect 0 gpuimg compare two.pgm near.pgm --ignore hide.pgm
expect 0 gpuimg compare two.pgm near.pgm --ignore two.pgm --diff d.pgm --gain 1
expect_error 2 'compare: *--ignore: 1 x 1 pixels: want 6 x 4 as the images' compare two.pgm near.pgm --ignore <(printf 'P5 1 1 255\n\1')
expect_error 2 'compare: *leave no pixel to compare' compare two.pgm near.pgm --ignore-region 6x4+0+0
expect_error 2 'compare: --ignore: nothere.pgm: No such file or directory' compare two.pgm near.pgm --ignore nothere.pgm
# JUnit: a pair that passes, one that differs, one that is an error.
expect 0 gpuimg compare two.pgm two.pgm --junit j.xml
check "JUnit: a pass" grep -q 'tests="1" failures="0" errors="0"' j.xml
expect 1 gpuimg compare two.pgm near.pgm --junit j.xml -q
check "JUnit: a failure with its reason" grep -q '<failure message="1 of 24 samples differ"/>' j.xml
expect 2 gpuimg compare two.pgm rgb.ppm --junit j.xml
check "JUnit: an error" grep -q 'tests="1" failures="0" errors="1"' j.xml
expect_error 2 'compare: two.pgm: would be written over the input*' compare two.pgm near.pgm --junit two.pgm
ln -s made.png twice.png
for name in made.png ./made.png twice.png; do
    expect_error 2 'compare: made.png and *: both go to one file, want a place for each' compare two.pgm near.pgm --diff made.png --junit $name
done
expect_error 2 'extract: --labels made.png and --mask twice.png: both go to one file*' extract two.pgm t.csv --at 1 --labels made.png --mask twice.png
expect_error 2 'run: step 1, histogram: its --plot and the image both go to *' run 'histogram --plot twice.png | invert' two.pgm made.png
expect_error 2 'channels: *: is given twice*' channels split rgb.ppm made.png twice.png made3.png
expect 0 gpuimg compare two.pgm two.pgm --max-diff 0 --min-psnr 99 --format json
check "equal images: JSON has null instead of infinity" grep -q '"psnr": null' out
expect 0 gpuimg compare two.pgm near.pgm --max-diff 3
expect 1 gpuimg compare two.pgm near.pgm --max-diff 2
check "compare names the limit that was exceeded" grep -qx 'gpuimg: compare: max difference 3: want at most 2' err
check "compare prints the numbers nevertheless" grep -Eq '^mse +0.375$' out
expect 1 gpuimg compare two.pgm near.pgm --min-psnr 60
check "compare names the PSNR that was wanted" grep -qx 'gpuimg: compare: PSNR 52.3905 dB: want at least 60 dB' err
# Exit status 1 means that the images differ, 2 that an error occurred.
expect_error 2 'compare: nothere.pgm: No such file or directory' compare two.pgm nothere.pgm --max-diff 0
expect 1 gpuimg compare two.pgm near.pgm --min-ssim 1
check "compare names the SSIM that was wanted" grep -qE '^gpuimg: compare: SSIM 0\.9[0-9]*: want at least 1$' err
expect 0 gpuimg compare two.pgm near.pgm --min-ssim 0.9
expect 0 gpuimg compare two.pgm two.pgm --min-ssim 1 # of equal images it is just 1
expect 1 gpuimg compare two.pgm near.pgm --max-differing 0
check "compare names the number of differing samples" grep -qx "gpuimg: compare: 1 of 24 samples differ: want at most 0" err
expect 0 gpuimg compare two.pgm near.pgm --max-differing 1
expect 1 gpuimg compare two.pgm near.pgm --max-differing 4.1% # 1 of 24 is 4.17 %
expect 0 gpuimg compare two.pgm near.pgm --max-differing 4.2%
for text in -1 0.5 101% few 1%% ''; do
    expect_error 2 "compare: --max-differing $text: want a whole number, or 0% to 100% of the samples" compare two.pgm near.pgm "--max-differing=$text"
done
expect 0 gpuimg compare two.pgm near.pgm --diff d.pgm --gain 20 --max-diff 3
check "the picture shows the differences" bash -c "tail -c 24 d.pgm | od -An -tu1 -w6 | tr -s ' ' | tail -1 | grep -qx ' 0 60 0 0 0 0'"
expect_error 2 'compare: two.pgm and rgb.ppm: 6 x 4, * against 2 x 1, *' compare two.pgm rgb.ppm --diff made.png
expect_error 2 'compare: *, 1 channel, * 3 channels, *' compare two.pgm rgb.ppm
printf 'Pf\n1 1\n-1.0\n\0\0\300\377' >nan.pfm
expect 0 gpuimg compare nan.pfm nan.pfm
check "without finite samples SSIM is nan" grep -Eq '^ssim +nan$' out
expect_error 2 'compare: *' compare two.pgm
# Pictures of 16 bits and floats, which often use a small part of their range.
awk 'BEGIN { print "P2 40 40 65535"; for (i = 0; i < 1600; i++) print (i % 40 >= 10 && i % 40 < 20 && i >= 400 && i < 800) ? 3000 : 1000 }' >dark.pgm
expect 0 gpuimg convert dark.pgm dark.pfm --depth float
for name in dark.pgm dark.pfm; do
    over=over.png
    [[ $name == *.pfm ]] && over=over.pfm
    expect 0 gpuimg extract $name dark.csv --at 3% --overlay $over
    expect 0 gpuimg convert $over over.ppm --depth 16
    expect 0 gpuimg crop over.ppm inside.ppm --size 1x1+15+15
    expect 0 gpuimg crop over.ppm outside.ppm --size 1x1+35+35
    check "$name: the overlay has white regions" grep -qE '^max +65535' <(gpuimg stats inside.ppm)
    check "$name: the overlay has a black background" grep -qE '^max +0' <(gpuimg stats outside.ppm)
done
# Samples of 12 bits: the bins of a single image end at 4095 in every format, those of many images at 65535.
expect 0 gpuimg histogram dark.pgm --bins 8
check "the bins of a text divide the range of 12 bits" test "$(grep -cE '^(512 - 1023 +1500|2560 - 3071 +100|3584 - 4095 +0)$' out)" = 3
expect 0 gpuimg histogram dark.pgm --bins 8 --format csv
check "the bins of a CSV are those of the text" test "$(grep -cE '^(1,511.875,1023.75,1500|5,2559.375,3071.25,100|7,3583.125,4095,0)$' out)" = 3
expect 0 gpuimg histogram dark.pgm --bins 8 --format json
check "and those of JSON" python3 -c 'import json; c = json.load(open("out"))["channels"][0]; assert c["range"] == [0, 4095] and c["bins"][1::4] == [1500, 100]'
expect 0 gpuimg histogram dark.pgm dark.pgm --bins 8 --table -
check "the bins of a table of many images divide the range of 16 bits" test "$(grep -cx 'dark.pgm,0,0,8191.875,1600' out)" = 2
expect 0 gpuimg histogram dark.pgm --bins 8 --range 0,65535
check "and those of a range divide it" grep -qE '^0 - 8191 +1600$' out
expect 0 gpuimg histogram dark.pgm --plot dark.svg
check "the plot ends where the samples do" test "$(grep -cE '>(4000|10000|60000)</text>' dark.svg) $(grep -cE '>(1000|2000|3000)</text>' dark.svg)" = '0 3'
expect 0 gpuimg histogram dark.pgm --plot dark.svg --range 0,65535
check "--range is the plot's" grep -q '>60000</text>' dark.svg
expect 0 gpuimg histogram dark.pgm --plot dark.svg --cumulative
check "a cumulative plot too" test "$(grep -c '>60000</text>' dark.svg)" = 0
expect 0 gpuimg histogram two.pgm --plot two.svg
check "8 bits are shown whole" grep -q '>250</text>' two.svg
finish
