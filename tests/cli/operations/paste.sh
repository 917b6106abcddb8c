#!/bin/bash
# paste: tables of points and of crops in single commands, chains and batches; unsuitable tables are refused.
# Sources: cli/run/paste_sources filters/regions/paste*
. "$(dirname "$0")/../lib.sh"
printf 'P5\n4 2\n255\n\012\024\036\310\001\002\003\004' >a.pgm # 10 20 30 200 / 1 2 3 4
printf 'P5\n2 1\n255\n\170\171' >region-000002.pgm # 120 121
printf 'P6\n1 1\n255\n\001\002\003' >rgb.ppm
printf 'x,y,value\n0,0,7\n3,1,8\n3,1,9\n9,9,1\n' >points.csv

made '7 20 30 200 1 2 3 9' paste a.pgm out.pgm --points points.csv
made '50 20 30 200 1 2 3 50' paste a.pgm out.pgm -p points.csv -c 50
made '248 20 30 200 1 2 3 246' run 'paste --points points.csv | invert | paste --points points.csv | invert' a.pgm out.pgm
# A UTF-8 byte order mark, empty lines, Windows line ends; and another column that begins with a byte of the mark.
printf '\xef\xbb\xbfx,y,value\n\n0,0,7\r\n\r\n3,1,9\n' >marked.csv
made '7 20 30 200 1 2 3 9' paste a.pgm out.pgm --points marked.csv
printf '\xefa,x,y,value\n9,0,0,7\n' >odd.csv
made '7 20 30 200 1 2 3 4' paste a.pgm out.pgm --points odd.csv
expect 0 gpuimg paste a.pgm out.png --points points.csv --color red
check 'a gray image remains gray' grep -q ', gray,' <(gpuimg info out.png)

mkdir crops
mv region-000002.pgm crops
printf 'label,area,bbox_x,bbox_y,bbox_width,bbox_height\n2,2,1,1,2,1\n' >regions.csv
made '10 20 30 200 1 120 121 4' paste a.pgm out.pgm --crops crops --table regions.csv --crop-format pgm
made '10 20 30 200 1 2 120 121' paste a.pgm out.pgm --crops crops/ --table <(sed s/2,2,1,1/2,2,2,1/ regions.csv) --crop-format pgm
made '10 20 30 200 1 2 3 120' paste a.pgm out.pgm --crops crops/ --table <(sed s/2,2,1,1/2,2,3,1/ regions.csv) --crop-format pgm
made '10 20 30 200 1 2 3 4' paste a.pgm out.pgm --crops crops/ --table <(head -1 regions.csv) --crop-format pgm
cp a.pgm b.pgm
expect 0 gpuimg paste a.pgm b.pgm --crops crops --table regions.csv --crop-format pgm --out-dir all
expect_values '10 20 30 200 1 120 121 4' all/a.pgm
expect_values '10 20 30 200 1 120 121 4' all/b.pgm

# The JSON tables that extract writes.
printf 'P5\n4 2\n255\n\012\0\0\0\0\0\0\0' >zero.pgm # 10 0 0 0 / 0 0 0 0
for kind in csv json jsonl; do
    expect 0 gpuimg extract a.pgm found.$kind --at 15 --crops found --force
    made '10 20 30 200 0 0 0 0' paste zero.pgm out.pgm --crops found --table found.$kind
done
printf '{"regions": [{"label": 2}]}' >bad.json
expect_error 1 'paste: --table: bad.json: want regions with label and bbox' paste a.pgm made.pgm --crops crops --table bad.json
printf '{"label": 2, "bbox": [1, 1, 2, 1]}\n\nno\n' >bad.jsonl
expect_error 1 'paste: --table: bad.jsonl: line 3: want JSON as extract writes it' paste a.pgm made.pgm --crops crops --table bad.jsonl
expect_error 1 'paste: --table: nothere.json: No such file or directory' paste a.pgm made.pgm --crops crops --table nothere.json

# Crops carry colour and alpha.
cp rgb.ppm crops/region-000003.ppm
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n3,1,0,1,1\n' >one.csv
expect 0 gpuimg paste a.pgm out.ppm --crops crops --table one.csv --crop-format ppm
expect_values '10 10 10 1 2 3 30 30 30 200 200 200 1 1 1 2 2 2 3 3 3 4 4 4' out.ppm

expect_error 2 'paste: want --points FILE, or --crops DIR and --table FILE' paste a.pgm made.pgm
expect_error 2 'paste: want --points FILE, or --crops DIR and --table FILE' paste a.pgm made.pgm --crops crops
expect_error 2 'paste: --points, --table: want one of them' paste a.pgm made.pgm --points points.csv --table regions.csv
expect_error 2 'paste: --color: want --points*' paste a.pgm made.pgm --crops crops --table regions.csv --color 3
expect_error 1 'paste: --points: nothere.csv: No such file or directory' paste a.pgm made.pgm --points nothere.csv
expect_error 1 'paste: --crops: crops/region-000002.png: No such file or directory' paste a.pgm made.pgm --crops crops --table regions.csv
expect_error 1 'paste: --points: regions.csv: has no column x in its first line' paste a.pgm made.pgm --points regions.csv
expect_error 1 'paste: --table: points.csv: has no column label in its first line' paste a.pgm made.pgm --crops crops --table points.csv
printf 'x,y\n1,2\n' >bad.csv
expect_error 1 'paste: --points: has no values: want --color' paste a.pgm made.pgm --points bad.csv
printf 'x,y,value\n1,2,3\n1,two,3\n' >bad.csv
expect_error 1 'paste: --points: bad.csv: line 3: y is "two", want a number' paste a.pgm made.pgm --points bad.csv
printf 'x,y,value\n1,2\n' >bad.csv
expect_error 1 'paste: --points: bad.csv: line 2: ends early' paste a.pgm made.pgm --points bad.csv
printf 'x,y,value\n1.5,2,3\n' >bad.csv
expect_error 1 'paste: --points: bad.csv: a point at 1.5, 2: want whole pixels *' paste a.pgm made.pgm --points bad.csv
: >bad.csv
expect_error 1 'paste: --points: bad.csv: is empty, want a line of names' paste a.pgm made.pgm --points bad.csv
printf '\x93NUMPY\x01\x00\x02\x00{}' >bad.npy
expect_error 1 'paste: --points: bad.npy: want an array as extract --points writes it' paste a.pgm made.pgm --points bad.npy
expect_error 1 'run: step 2, paste: --points: bad.npy: *' run 'invert | paste --points bad.npy' a.pgm made.pgm
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n2,1,1,3,1\n' >bad.csv
expect_error 1 'paste: --crops: crops/region-000002.pgm: is 2 x 1, want 3 x 1 *' paste a.pgm made.pgm --crops crops --table bad.csv --crop-format pgm
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n2,7,8,0,9\n' >bad.csv
expect_error 1 'paste: --table: bad.csv: region 2: 0 x 9 at 7, 8: want whole pixels *' paste a.pgm made.pgm --crops crops --table bad.csv --crop-format pgm
# The size that a row declares takes no memory until its crop is checked.
printf 'label,bbox_x,bbox_y,bbox_width,bbox_height\n2,1,1,2,1\n2,1,1,16000000,100\n' >bad.csv
sanitized || (ulimit -v 4000000; "$GPUIMG" paste a.pgm made.pgm --crops crops --table bad.csv --crop-format pgm) 2>err
sanitized || check 'a row that declares many pixels is refused' grep -q 'region-000002.pgm: is 2 x 1, want 16000000 x 100 ' err
expect_error 2 'paste: *points.csv*would be written over the input*' paste a.pgm points.csv --format pgm --points points.csv
expect_error 2 'paste: --points -: want a file*' paste a.pgm made.pgm --points -
finish
