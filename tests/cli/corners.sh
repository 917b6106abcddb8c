#!/bin/bash
# Outputs that are seldom asked for: labels and overlays of every kind, links with several names, reports of other runs.
. "$(dirname "$0")/lib.sh"
two_regions two.pgm
labels='1 1 0 0 0 0 0 1 1 0 0 2 2 2 0 0 0 0 2 0 2 0 0 0 0 2 2 2'

# Labels: whole numbers of 16 bits, floats from the bottom row up, and the formats that hold none.
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels l.pam
check 'labels as PAM' test "$(tail -c 56 l.pam | od -An -v -tu1 -w2 | awk '{print 256 * $1 + $2}' | xargs)" = "$labels"
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels l.pfm
check 'labels as PFM' test "$(tail -c 112 l.pfm | od -An -v -tf4 -w28 | tac | xargs)" = "$labels"
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels PGM:l.x
check 'labels by a prefix' test "$(head -c 2 l.x)" = P5
for name in made made.jpg tiff:made.png nothing:made.pgmx; do
    expect_error 2 'extract: --labels *: want a name that ends in .png, .pgm, .pnm, .pam, .pfm or .npy' extract two.pgm made.csv --at 20 --labels $name
done
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops c/ --crop-format pgm
check 'crops as PGM' test "$(echo c/*)" = 'c/region-000001.pgm c/region-000002.pgm'
expect 0 gpuimg convert two.pgm two.ppm
expect_error 1 'extract: --crop-format pgm: holds gray only, and the image has colour' extract two.ppm made.csv --at 20 --crops made.d --crop-format pgm
long=$(printf 'a%.0s' {1..4100})
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n2,1,1,2,1\n' >regions.csv
expect_error 2 'paste: *the name is too long' paste two.pgm made.pgm --crops "$long" --table regions.csv

# Overlays: boxes in the image's own scale, opaque.
printf 'P7\nWIDTH 3\nHEIGHT 3\nDEPTH 2\nMAXVAL 255\nENDHDR\n\0\7\0\7\0\7\0\7\377\7\0\7\0\7\0\7\0\7' >alpha.pam
expect 0 gpuimg extract alpha.pam t.csv --at 20 --overlay o.pam
check 'an overlay with alpha: what is drawn is opaque' test "$(tail -c 36 o.pam | od -An -v -tu1 -w4 | awk '$4 == 255' | wc -l)" -ge 1
expect 0 gpuimg convert two.pgm two.pfm --depth float
expect 0 gpuimg extract two.pfm t.csv --at 20% --overlay o.pfm
check 'an overlay of floats: ink is 1 at most' test "$(tail -c 336 o.pfm | od -An -v -tf4 -w4 | awk '$1 > 1 || $1 < 0' | wc -l)" = 0
expect 0 gpuimg extract two.pfm o.ppm --at 20% --format csv

# A bitmap that goes from - to - comes out as gray; a background has a name and no alpha.
gpuimg flip - - --h <<<'P1 2 1 0 1' >out
check 'a bitmap through a pipe' test "$(head -c 2 out)" = P5
for colour in '#ff000080' 0.5 '1,2,3' nothing; do
    expect_error 2 'convert: --background *: want a name such as white, #rgb or #rrggbb' convert two.pgm made.png --background "$colour"
done

# Links: how many other names keep the older file, beside another warning.
cp two.pgm one.jpg
ln one.jpg two.jpg
ln one.jpg three.jpg
expect 0 gpuimg convert two.pfm one.jpg
check 'two other names' grep -q 'jpeg cannot hold float samples.*; one.jpg: the older file keeps its 2 other names (hard links)$' err
ln one.jpg four.jpg
ln one.jpg five.jpg
expect 0 gpuimg extract two.pgm one.jpg --at 20 --format csv
check 'also of a table' grep -q 'keeps its 2 other names (hard links)$' err

# What a run may not go on from: another command's report, another share's, or none.
cp two.pgm a.pgm
cp two.pgm b.pgm
expect 0 gpuimg invert a.pgm b.pgm --out-dir r --report all.jsonl
expect 0 gpuimg invert a.pgm b.pgm --out-dir r --report some.jsonl --shard 1/2
expect_error 2 'invert: --resume: the report some.jsonl is of shard 1/2, want the whole list' invert a.pgm b.pgm --out-dir r --report some.jsonl --resume
expect_error 2 'invert: --resume: the report all.jsonl is of the whole list, want shard 1/2' invert a.pgm b.pgm --out-dir r --report all.jsonl --resume --shard 1/2
expect_error 2 'invert: --resume: the report some.jsonl is of shard 1/2, want shard 2/2' invert a.pgm b.pgm --out-dir r --report some.jsonl --resume --shard 2/2
expect_error 2 'invert: --resume: want a file as --report, not standard output' invert a.pgm b.pgm --out-dir r --report - --resume
echo '{"chain": "invert"}' >none.jsonl
expect_error 1 'invert: --report none.jsonl: is no report of gpuimg' invert a.pgm b.pgm --out-dir r --report none.jsonl --resume
# Lines that lack a name or say nothing are done again.
{ head -n 1 all.jsonl; sed 1d all.jsonl | sed '1s/"input"/"inpot"/; 2s/"status"/"stotus"/'; } >lack.jsonl
expect 0 gpuimg invert a.pgm b.pgm --out-dir r --report lack.jsonl --resume
check 'both are done again' test "$(grep -c '"status": *"done"' lack.jsonl)" = 2
# Only one of the files is wanted now.
expect 0 gpuimg invert a.pgm --out-dir r --report all.jsonl --resume
check 'the other line goes' test "$(grep -c '"input"' all.jsonl)" = 1

# Outputs that are no files, and pictures in colour that gray formats can't hold.
mkdir folder
echo text >plain
expect_error 1 'invert: png:folder: is a folder, want a file' invert a.pgm png:folder
expect_error 1 'extract: folder: is a folder, want a file' extract a.pgm folder --format csv
expect 0 gpuimg extract a.pgm /dev/null --format csv
expect_error 1 'extract: --crops nodir/x: No such file or directory' extract a.pgm made.csv --crops nodir/x
expect_error 1 'extract: --crops plain: Not a directory' extract a.pgm made.csv --crops plain
expect_error 2 'extract: --overlay o.pgm: want a format that holds colour' extract a.pgm made.csv --overlay o.pgm
expect_error 2 'extract: --labels-picture o.pgm: want a format that holds colour' extract a.pgm made.csv --labels-picture o.pgm
check 'nothing is made' test ! -e made.csv
finish
