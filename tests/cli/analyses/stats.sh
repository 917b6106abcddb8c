#!/bin/bash
# stats: its output, its files, and its errors.
# Sources: cli/commands/stats* cli/tables statistics
. "$(dirname "$0")/../lib.sh"
printf 'P2\n3 2\n255\n0 10 20\n30 10 20\n' >six.pgm
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x09\x00\x05\xff\x07\x01' >alpha.pam
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x09\x00\x05\x00' >clear.pam
printf 'P2\n2 1\n100\n0 100\n' >low.pgm
printf 'Pf\n2 1\n-1.0\n\x00\x00\xc0\x7f\x00\x00\x80\x7f' >odd.pfm # NaN, infinity

expect_stdout "six.pgm: 3 x 2, 1 channel, 8-bit

                                gray
count                              6
sum                               90
mean                              15
stddev                 9.57427107756
variance               91.6666666667
min                                0
min at                           0,0
max                               30
max at                           0,1
range                             30
l1                                90
l2                     43.5889894354
rms                    17.7951304201
entropy                1.91829583405
unique                             4
median                            15
p10                                5" gpuimg stats six.pgm --percentiles 10
expect_stdout 'channel,count,nan,positive_infinity,negative_infinity,sum,mean,stddev,variance,min,min_x,min_y,max,max_x,max_y,range,l1,l2,rms,entropy,unique,median,p90
gray,6,0,0,0,90,15,9.574271077563381,91.66666666666667,0,0,0,30,0,1,30,90,43.58898943540674,17.795130420052185,1.9182958340544893,4,15,25' \
    gpuimg stats six.pgm --percentiles 90 --format csv
expect_stdout '{"file": "alpha.pam", "width": 3, "height": 1, "depth": 8, "maxval": 255, "channels": [{"name": "gray", "count": 2, "nan": 0, "positive_infinity": 0, "negative_infinity": 0, "sum": 12.0, "mean": 6.0, "stddev": 1.0, "variance": 1.0, "min": 5.0, "min_x": 1, "min_y": 0, "max": 7.0, "max_x": 2, "max_y": 0, "range": 2.0, "l1": 12.0, "l2": 8.6023252670426267, "rms": 6.0827625302982193, "entropy": 1.0, "unique": 2, "median": 6.0, "p50": 6.0, "deviation": 1.0}, {"name": "alpha", "count": 2, "nan": 0, "positive_infinity": 0, "negative_infinity": 0, "sum": 256.0, "mean": 128.0, "stddev": 127.0, "variance": 16129.0, "min": 1.0, "min_x": 2, "min_y": 0, "max": 255.0, "max_x": 1, "max_y": 0, "range": 254.0, "l1": 256.0, "l2": 255.00196077677521, "rms": 180.31361568112376, "entropy": 1.0, "unique": 2, "median": 128.0, "p50": 128.0, "deviation": 127.0}]}' \
    gpuimg stats alpha.pam -j --percentiles 50 --opaque
expect 0 gpuimg stats alpha.pam
check 'without --opaque all pixels count' grep -qE '^count +3 +3$' out
expect 0 gpuimg stats six.pgm --opaque
check '--opaque without alpha counts all pixels' grep -qE '^count +6$' out

# Images without anything to measure.
expect_stdout 'gray,0,0,0,0,0,,,,,,,,,,,0,0,,,0,,
alpha,0,0,0,0,0,,,,,,,,,,,0,0,,,0,,' bash -c '"$0" stats clear.pam --opaque --percentiles 5 --format csv | sed 1d' "$GPUIMG"
expect 0 gpuimg stats odd.pfm
check 'without finite samples the mean is -' grep -qE '^mean +-$' out
check 'NaN is counted' grep -qE '^nan +1$' out
check 'infinity is counted' grep -qE '^positive infinity +1$' out
check 'numbers that are 0 are not listed' test "$(grep -c negative out)" = 0
expect 0 gpuimg stats low.pgm
check 'the message names the scale of 0 to 100' grep -q '8-bit, 0 to 100 read as 0 to 255$' out

# Parts of an image: rows, columns, blocks, labels.
expect_stdout 'row,channel,sum
0,gray,30
1,gray,60' bash -c '"$0" stats six.pgm --by row --format csv | cut -d, -f1,2,7' "$GPUIMG"
expect_stdout 'file,x,y,width,height,channel,sum
six.pgm,0,0,2,1,gray,10
six.pgm,2,0,1,1,gray,20
six.pgm,0,1,2,1,gray,40
six.pgm,2,1,1,1,gray,20' bash -c '"$0" stats six.pgm --by 2x1 --table - | cut -d, -f1-6,11' "$GPUIMG"
expect 0 gpuimg stats six.pgm --by column
check '--group-by column prints a table per column' test "$(grep -cE '^(column [012]|sum +[0-9]+)$' out)" = 6
expect 0 gpuimg run 'invert | stats --by row --to rows.json' six.pgm
check 'groups in a chain' jq -e '.by == "row" and [.zones[].channels[0].sum] == [735, 705]' rows.json

printf 'P2\n3 2\n255\n0 2 2\n7 0 2\n' >labels.pgm
expect_stdout 'label,x,y,width,height,channel,sum
2,1,0,2,2,gray,50
7,0,1,1,1,gray,30' bash -c '"$0" stats six.pgm --labels labels.pgm --format csv | cut -d, -f1-6,11' "$GPUIMG"
expect_stdout 'file,label,sum
six.pgm,2,50
six.pgm,7,30
other.pgm,2,50
other.pgm,7,30' bash -c 'cp six.pgm other.pgm; "$0" stats six.pgm other.pgm --labels labels.pgm --table - | cut -d, -f1,2,12' "$GPUIMG"
expect 0 gpuimg run 'invert | stats --labels labels.pgm --to - --format json' six.pgm
check 'labels in a chain' jq -e '.by == "label" and [.zones[].channels[0].sum] == [715, 225]' out
expect 0 gpuimg stats six.pgm --labels labels.pgm
check 'labels print a table per label' test "$(grep -cE '^label [27] at [01],[01]: [12] x [12]$' out)" = 2
printf 'P2\n3 2\n255\n0 0 0 0 0 0\n' >none.pgm
expect_stdout 'label,x,y,width,height,channel,count' bash -c '"$0" stats six.pgm --labels none.pgm --format csv | cut -d, -f1-7' "$GPUIMG"

# Kinds of tables, chosen by suffix.
for suffix in csv json txt npy; do
    expect 0 gpuimg stats six.pgm "table.$suffix"
    check "a table as .$suffix exists" test -s "table.$suffix"
done
check 'csv by the suffix' grep -q '^gray,6,' table.csv
check 'json by the suffix' grep -q '^{"file": "six.pgm"' table.json
check 'npy by the suffix' test "$(head -c 6 table.npy | tail -c 5)" = NUMPY
expect_stdout "$(cat table.csv)" bash -c '"$0" stats - --format csv <six.pgm' "$GPUIMG"
expect 0 gpuimg run 'invert | stats --to inverted.csv' six.pgm
# An operand OUTPUT that is a table is that of the last step; with --to it is an image.
expect 0 gpuimg run 'invert | stats' six.pgm output.csv
check "run: OUTPUT is the table of the last step" cmp inverted.csv output.csv
expect 0 gpuimg run 'invert | stats' six.pgm output.JSON
check "run: OUTPUT may be JSON" jq -e '.channels[0].mean' output.JSON
expect_error 2 'run: output.csv: no image format has this name; *' run 'stats --to inverted.csv | invert' six.pgm output.csv
check 'a table of a step of a chain' grep -q '^gray,6,0,0,0,1440,' inverted.csv
expect_stdout 'file,gray
six.pgm,90
low.pgm,255' bash -c '"$0" stats six.pgm low.pgm --table - | cut -d, -f1,7 | sed "1s/.*/file,gray/"' "$GPUIMG"
expect 0 gpuimg stats six.pgm alpha.pam --out-dir tables --suffix .json
check 'a table per input' test -s tables/six.json -a -s tables/alpha.json
GPUIMG_WAY=reduce:lanes expect 0 gpuimg stats six.pgm --device cpu

# Errors.
expect_error 2 'stats: made.png: want a name that ends in .csv, .json, .npy or .txt, or --format' stats six.pgm made.png
expect_error 2 'stats: --percentiles 101: want *' stats six.pgm --percentiles 101
expect_error 1 'stats: table.csv: exists, and --no-clobber was given' stats six.pgm table.csv --no-clobber
expect_error 2 'stats: six.pgm: would be written over the input six.pgm, want another file' stats six.pgm six.pgm --format csv
expect_error 2 'stats: --group-by rows: want row, column or the size of a tile, WxH' stats none.png --by rows
expect_error 2 'stats: --group-by 0x4: want row, column or *' stats six.pgm --by 0x4
head -c 600000 /dev/zero | cat <(printf 'P5 1000 600 255\n') - >large.pgm
expect_error 1 'stats: --group-by 1x1: 600000 parts: want at most 262144' stats large.pgm --by 1x1
expect_error 2 'stats: --group-by and --labels: want one of them' stats six.pgm --by row --labels labels.pgm
expect_error 1 'stats: --labels: 2 x 1 pixels: want 3 x 2, as the input has' stats six.pgm --labels low.pgm
expect_error 1 'stats: --labels: odd.pfm: label nan at 0,0: want whole numbers from 0 to 16777215' stats low.pgm --labels odd.pfm
expect_error 1 'stats: --labels: gone.pgm: *' stats six.pgm --labels gone.pgm
expect_error 2 'stats: labels.pgm: *' stats six.pgm labels.pgm --labels labels.pgm --format csv
full() { "$GPUIMG" stats six.pgm >/dev/full; }
expect 75 full
check 'a full disk is named' test "$(<err)" = 'gpuimg: stats: standard output: No space left on device'
# A small stack suffices.
if sanitized; then
    skip 'a small stack: a sanitizer needs more'
else
    pgm stack.pgm 40 30
    check 'stats with a stack of 256 kB' bash -c 'ulimit -s 256 && exec "$1" stats stack.pgm' - "$GPUIMG"
    check 'a chain with a stack of 256 kB' bash -c 'ulimit -s 256 && exec "$1" run "equalize | median --k 9 | clahe | stats" stack.pgm stack.png' - "$GPUIMG"
fi

finish
