#!/bin/bash
# Rarely used outputs: label images and overlays of every kind, files with several links, reports of other runs.
# Sources: cli/plot/overlay* cli/commands/extract_images.c
. "$(dirname "$0")/../lib.sh"
two_regions two.pgm
labels='1 1 0 0 0 0 0 1 1 0 0 2 2 2 0 0 0 0 2 0 2 0 0 0 0 2 2 2'

# Label images: integers of 16 bits, floats from the bottom row up, and the formats that can't hold labels.
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels l.pam
check 'labels as PAM' test "$(tail -c 56 l.pam | od -An -v -tu1 -w2 | awk '{print 256 * $1 + $2}' | xargs)" = "$labels"
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels l.pfm
check 'labels as PFM' test "$(tail -c 112 l.pfm | od -An -v -tf4 -w28 | tac | xargs)" = "$labels"
expect 0 gpuimg extract two.pgm t.csv --at 20 --labels PGM:l.x
check 'labels in the format of a prefix' test "$(head -c 2 l.x)" = P5
for name in made made.jpg tiff:made.png nothing:made.pgmx; do
    expect_error 2 'extract: --labels *: want a name that ends in .png, .pgm, .pnm, .pam, .pfm or .npy' extract two.pgm made.csv --at 20 --labels $name
done
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops c/ --crop-format pgm
check 'crops as PGM' test "$(echo c/*)" = 'c/region-000001.pgm c/region-000002.pgm'
expect 0 gpuimg convert two.pgm two.ppm
expect_error 1 'extract: --crop-format pgm: holds gray only, and the image has colour' extract two.ppm made.csv --at 20 --crops made.d --crop-format pgm
long=$(printf 'a%.0s' {1..4100})
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n2,1,1,2,1\n' >regions.csv
expect_error 2 'paste: --crops aaaa*: want a path of 1 to 4095 bytes' paste two.pgm made.pgm --crops "$long" --table regions.csv

# Overlays: boxes in the image's full scale, opaque.
printf 'P7\nWIDTH 3\nHEIGHT 3\nDEPTH 2\nMAXVAL 255\nENDHDR\n\0\7\0\7\0\7\0\7\377\7\0\7\0\7\0\7\0\7' >alpha.pam
expect 0 gpuimg extract alpha.pam t.csv --at 20 --overlay o.pam
check 'an overlay on alpha is opaque' test "$(tail -c 36 o.pam | od -An -v -tu1 -w4 | awk '$4 == 255' | wc -l)" -ge 1
expect 0 gpuimg convert two.pgm two.pfm --depth float
expect 0 gpuimg extract two.pfm t.csv --at 20% --overlay o.pfm
check 'an overlay on floats is at most 1' test "$(tail -c 336 o.pfm | od -An -v -tf4 -w4 | awk '$1 > 1 || $1 < 0' | wc -l)" = 0
expect 0 gpuimg extract two.pfm o.ppm --at 20% --format csv
# A region at the right edge, columns 50 to 59 of 60: its frame is closed there, and nothing is drawn at the start of rows.
{ printf 'P5 60 40 255\n'; for y in {0..39}; do printf '%050d' 0 | tr 0 '\0'; printf '%010d' 0 | tr 0 "$([[ $y -ge 20 && $y -le 29 ]] && echo '\377' || echo '\0')"; done; } >right.pgm
expect 0 gpuimg extract right.pgm t.csv --at 100 --overlay right.ppm
tail -c 7200 right.ppm | od -An -v -tu1 -w180 >right.txt
check 'the frame of a region at the right edge is closed' test "$(awk 'NR == 26 {print $178, $179, $180}' right.txt)" = '255 214 10'
check 'nothing is drawn at the start of rows' test "$(awk '{for (i = 1; i <= 90; i++) n += $i} END {print n}' right.txt)" = 0

# A bitmap that is piped from - to - becomes gray; a background has a name and no alpha.
gpuimg flip - - --h <<<'P1 2 1 0 1' >out
check 'a bitmap through a pipe' test "$(head -c 2 out)" = P5
for colour in '#ff000080' 0.5 '1,2,3' nothing; do
    expect_error 2 'convert: --background *: want a name such as white, #rgb or #rrggbb' convert two.pgm made.png --background "$colour"
done

# Hard links: the warning counts the other names that keep the older file, in addition to another warning.
cp two.pgm one.jpg
ln one.jpg two.jpg
ln one.jpg three.jpg
expect 0 gpuimg convert two.pfm one.jpg
check 'two other names are counted' grep -q 'jpeg cannot hold float samples.*; one.jpg: the older file keeps its 2 other names (hard links)$' err
ln one.jpg four.jpg
ln one.jpg five.jpg
expect 0 gpuimg extract two.pgm one.jpg --at 20 --format csv
check 'a table counts other names too' grep -q 'keeps its 2 other names (hard links)$' err

# --resume refuses the report of another command, of another shard, and files that are not reports.
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
# Lines without a name or a status are repeated.
{ head -n 1 all.jsonl; sed 1d all.jsonl | sed '1s/"input"/"inpot"/; 2s/"status"/"stotus"/'; } >lack.jsonl
expect 0 gpuimg invert a.pgm b.pgm --out-dir r --report lack.jsonl --resume
check 'both incomplete lines are repeated' test "$(grep -c '"status": *"done"' lack.jsonl)" = 2
# The list now has only one of the files.
expect 0 gpuimg invert a.pgm --out-dir r --report all.jsonl --resume
check 'the report drops the other line' test "$(grep -c '"input"' all.jsonl)" = 1

# Outputs that are not files, and colour pictures in formats that only hold gray.
mkdir folder
echo text >plain
expect_error 1 'invert: png:folder: is a folder, want a file' invert a.pgm png:folder
expect_error 1 'extract: folder: is a folder, want a file' extract a.pgm folder --format csv
expect 0 gpuimg extract a.pgm /dev/null --format csv
expect_error 1 'extract: --crops nodir/x: there is no folder nodir' extract a.pgm made.csv --crops nodir/x
expect_error 1 'extract: --crops plain: Not a directory' extract a.pgm made.csv --crops plain
expect_error 2 'extract: --overlay o.pgm: want a format that holds colour' extract a.pgm made.csv --overlay o.pgm
expect_error 2 'extract: --labels-picture o.pgm: want a format that holds colour' extract a.pgm made.csv --labels-picture o.pgm
check 'no table appears after a refusal' test ! -e made.csv
finish
