#!/bin/bash
# compare of many pairs: from two folders and from lists; tables, reports and exit status.
# Usage: compare_pairs.sh GPUIMG
# Sources: cli/commands/compare* cli/inputs/pair_list*
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata

mkdir -p a/sub b/sub
for f in one two sub/three; do
    cp "$data/coins.png" "a/$f.png"
    cp "$data/coins.png" "b/$f.png"
done
cp "$data/scene.png" a/sub/colour.png
gpuimg convert a/sub/colour.png b/sub/colour.png --depth 16
expect 0 gpuimg compare a b
check 'one row per pair, in the order of names' test "$(cut -d, -f1-3 out | tr '\n' ' ')" = \
    'a,b,ok a/one.png,b/one.png,1 a/sub/colour.png,b/sub/colour.png,1 a/sub/three.png,b/sub/three.png,1 a/two.png,b/two.png,1 '
gpuimg blur a/two.png b/two.png --k 3
expect 1 gpuimg compare a/ b/ --threads 3
check 'a pair that differs is named' grep -q '^gpuimg: compare: a/two.png and b/two.png: [0-9]* of 273280 samples differ$' err
check 'pairs that differ are counted' grep -qx 'gpuimg: compare: 1 of 4 pairs differ' err
check 'without failures there is no further count' test "$(wc -l <err)" = 2
# Pairs that differ, miss a file, are are damaged and match are counted apart.
cp -r a c
rm c/one.png
expect 2 gpuimg compare c b
check 'a missing file is not a difference' test "$(tail -n 2 err)" = $'gpuimg: compare: 1 of 4 pairs failed\ngpuimg: compare: 1 differs, 1 missing, 2 match'
echo damaged >c/sub/three.png
expect 2 gpuimg compare c b
check 'a damaged file is counted apart' test "$(tail -n 1 err)" = 'gpuimg: compare: 1 differs, 1 missing, 1 failed, 1 matches'
expect 2 gpuimg compare c b -q
check '-q does not print the counts' test "$(grep -c missing, err)" = 0
rm -r c
expect 0 gpuimg compare a b --min-ssim 0.5
# -q prints nothing, --diff writes a picture per pair, --junit a test case per pair.
expect 1 gpuimg compare a b -q
check '-q prints nothing' test ! -s out -a ! -s err
expect 1 gpuimg compare a b -q --table table.csv
cp table.csv want.csv
expect 1 gpuimg compare a b -q --table -
check '-q --table - prints the table' cmp want.csv out
check 'which has a row per pair' test "$(wc -l <out)" = 5
expect 1 gpuimg compare a b --diff pictures --junit j.xml -q
check '--diff keeps the tree' test "$(cd pictures && find . -type f | sort | tr '\n' ' ')" = './one.png ./sub/colour.png ./sub/three.png ./two.png '
gpuimg compare a/two.png b/two.png --diff two.png -q
check '--diff has the picture of a single command' gpuimg compare two.png pictures/two.png
check '--junit has all pairs' test "$(grep -c '<testcase' j.xml) $(grep -o 'tests=.*' j.xml)" = '4 tests="4" failures="1" errors="0">'
check '--junit names the pair that differs' grep -A 1 'name="a/two.png and b/two.png">' j.xml
check '--junit is XML' python3 -c 'import xml.etree.ElementTree as e; e.parse("j.xml")'
rm -rf pictures
expect_error 2 'compare: a/*.png: the output of a/*.png would be written over the input a/*.png, want another --diff' compare a b --diff a
expect_error 2 'compare: --junit a/one.png: is the input a/one.png, want another file' compare a b --junit a/one.png
expect 0 gpuimg compare a b --max-diff 255 --ignore-region 9x9+0+0 --tolerance 255
expect 1 gpuimg compare a b --min-ssim 0.9999
check 'the message names the limit that was exceeded' grep -q '^gpuimg: compare: a/two.png and b/two.png: SSIM 0.*: want at least 0.9999$' err

# A folder of masks: the mask of a pair has its path; pairs without a mask are compared as a whole.
mkdir -p masks/sub more
gpuimg absdiff a/two.png masks/two.png --with b/two.png
gpuimg threshold a/one.png masks/sub/three.png --gray --threshold 50% -q
expect 0 gpuimg compare a b --ignore masks --threads 3
check 'no warning' test ! -s err
samples() { gpuimg compare a b --ignore "$1" --format json 2>err | grep "\"a/$2\.png\"" | grep -o '"samples": [0-9]*' | head -n 1; }
check 'the pixels of a mask are left out' test "$(samples masks sub/three)" = "$(gpuimg compare a/sub/three.png b/sub/three.png --ignore masks/sub/three.png --json | grep -o '"samples": [0-9]*' | head -n 1)"
check 'and only in its pair' test "$(samples masks one)" = "$(gpuimg compare a/one.png b/one.png --json | grep -o '"samples": [0-9]*' | head -n 1)"
cp masks/two.png masks/tow.png
cp masks/two.png masks/sub/2.png
expect 0 gpuimg compare a b --ignore masks/
says 'masks for no pair are named' 'gpuimg: warning: compare: --ignore: masks/sub/2.png and 1 more: no pairs have these names'
expect 0 gpuimg compare a b --ignore masks --only 'two.png'
check 'no warning if pairs are chosen' test ! -s err
printf 'P5 1 1 255\n\1' >masks/one.png
expect 2 gpuimg compare a b --ignore masks
check 'a mask of another size fails its pair' grep -q 'a/one.png.*--ignore: 1 x 1 pixels: want 640 x 427 as the images' err
check 'and no other one' grep -q '0 differ, 0 missing, 1 failed, 3 match' err
echo damaged >masks/one.png
expect 2 gpuimg compare a b --ignore masks
check 'a damaged mask is named' grep -q -- '--ignore: masks/one.png: ' err
expect_error 2 'compare: --ignore more: has no images' compare a b --ignore more
expect_error 2 'compare: --ignore: masks: is a directory, want an image file' compare a/one.png b/one.png --ignore masks
rm -r masks more

# Names are unchanged if the output is not a terminal.
mkdir u v
cp a/one.png u/é.png
cp a/one.png v/é.png
expect 0 gpuimg compare u v --json
check 'a name in UTF-8 is unchanged' grep -q '"u/é.png"' out

# The numbers equal those of single commands, in all three kinds of tables and for any --memory.
for kind in csv jsonl npy; do expect 1 gpuimg compare a b --table all.$kind --memory 1; done
for f in one.png sub/colour.png sub/three.png two.png; do gpuimg compare "a/$f" "b/$f" --json; done >alone.jsonl
cat >tables.py <<'END'
import csv, json, struct
alone = [json.loads(line) for line in open("alone.jsonl")]
lines = [json.loads(line) for line in open("all.jsonl")]
rows = list(csv.DictReader(open("all.csv")))
raw = open("all.npy", "rb").read()
start = 10 + int.from_bytes(raw[8:10], "little")
described = eval(raw[10:start])["descr"]
layout = struct.Struct("<" + "".join("d" if t == "<f8" else t[1:] + "s" for _, t in described))
table = [dict(zip([n for n, _ in described], row)) for row in layout.iter_unpack(raw[start:])]
for want, line, row, item in zip(alone, lines, rows, table, strict=True):
    ok = want["differing"] == 0
    assert line.pop("ok") == ok == (row["ok"] == "1") == item["ok"]
    assert line == want, (line, want)
    assert list(row) == list(item)
    for key in row:
        if key in ("a", "b"):
            assert row[key] == want[key] == item[key].rstrip(b"\0").decode()
        elif key == "psnr" and want[key] is None:
            assert float(row[key]) == item[key] == float("inf")
        elif key != "ok":
            assert abs(float(row[key]) - want[key]) <= 1e-10 * abs(want[key]) and item[key] == float(row[key]), key
END
check 'the tables have the numbers of single commands' python3 tables.py
expect 1 gpuimg compare a b --json
check 'JSON lines on standard output equal the file' cmp out all.jsonl

# Lists.
printf 'a/one.png\tb/one.png\n\na/one.png\ta/two.png\n' >pairs.txt
expect 0 gpuimg compare --pairs pairs.txt
check 'a list of pairs' test "$(wc -l <out)" = 3
from_null() { printf '%s\0' a/one.png b/two.png a/two.png a/one.png | gpuimg compare --pairs - -0; }
expect 1 from_null
check 'a list of pairs separated by zero bytes' test "$(cut -d, -f1-3 out | tail -n +2)" = $'a/one.png,b/two.png,0\na/two.png,a/one.png,1'
expect 0 gpuimg compare a/one.png a/two.png --table one.csv
check 'a table of one pair' test "$(wc -l <one.csv)" = 2

# A report: one line per pair, which both names identify.
cat >differ.py <<'END'
import json, sys
for line in list(open(sys.argv[1]))[1:]:
    line = json.loads(line)
    print(line["input"], line["other"], line["status"], line["differs"], line["width"] if "width" in line else "-")
END
printf 'a/two.png\tb/two.png\na/two.png\ta/two.png\nnone.png\ta/two.png\n' >some.txt
expect 2 gpuimg compare --pairs some.txt --table some.csv --report some.jsonl
check 'the report has one line per pair' test "$(python3 differ.py some.jsonl | tr '\n' ';')" = \
    'a/two.png b/two.png done True 640;a/two.png a/two.png done False 640;none.png a/two.png failed False -;'
expect 1 gpuimg report merge some.jsonl
check 'the report counts pairs' grep -qx 'gpuimg: report: of 3 files 1 failed and 0 never ran' err
head -n 2 some.jsonl >killed.jsonl
expect 1 gpuimg report merge killed.jsonl --missing files --files-from some.txt
check '--missing prints a list of pairs' diff out <(sed -n '2p;3p' some.txt)
expect 0 gpuimg compare a/one.png a/two.png --report one.jsonl
check 'a report of one pair' test "$(python3 differ.py one.jsonl)" = 'a/one.png a/two.png done False 640'
expect_error 2 'compare: --report -: is where the table goes, want a file' compare a b --report -
expect_error 2 'compare: --report a/two.png: is the input a/two.png, want another file' compare a b --report a/two.png
echo 'a/two.png	b/two.png' >>some.txt
expect_error 2 'compare: --report: a/two.png?b/two.png is among the inputs twice, want it once' compare --pairs some.txt --report made.jsonl

# Errors: each is named, the exit status is 2, and the other pairs are compared. Status 2 has priority over 1 for a difference.
cp a/one.png a/only-a.png
cp a/one.png b/sub/only-b.png
gpuimg crop --rect 9x9 a/one.png b/one.png
head -c 2000 a/sub/three.png >b/sub/three.png
expect 2 gpuimg compare a b --table part.csv
check 'an image without a partner in the second folder is named' grep -qx 'gpuimg: compare: b/only-a.png: No such file or directory' err
check 'an image without a partner in the first folder is named' grep -qx 'gpuimg: compare: a/sub/only-b.png: No such file or directory' err
check 'a pair of different sizes is named' grep -q '^gpuimg: compare: a/one.png and b/one.png: 640 x 427' err
check 'a damaged image is named' grep -q '^gpuimg: compare: b/sub/three.png: ' err
check 'failed pairs are counted' grep -qx 'gpuimg: compare: 4 of 6 pairs failed' err
check 'the table has the rows of the other pairs' test "$(cut -d, -f1 part.csv | tr '\n' ' ')" = 'a a/sub/colour.png a/two.png '
expect 2 gpuimg compare a b --fail-fast --threads 1
check '--fail-fast ends the batch' test "$(wc -l <out)" -lt 2

mkdir empty
expect_error 2 'compare: no pairs of images' compare empty empty
expect_error 2 'compare: --pairs bad.txt: No such file or directory' compare --pairs bad.txt
echo 'a/one.png b/one.png' >bad.txt
expect_error 2 'compare: --pairs bad.txt: line 1: want two names with a tab between' compare --pairs bad.txt
printf 'a/one.png\0' >bad.txt
expect_error 2 'compare: --pairs bad.txt: pair 1: want two names' compare --pairs bad.txt -0
expect_error 2 'compare: --pairs pairs.txt: want no names beside it' compare --pairs pairs.txt a b
expect_error 2 'compare: --max-differing x: want*' compare a b --max-differing x
expect_error 2 'compare: --table made.txt: want a name that ends*' compare a b --table made.txt

# If the reader has exited, the command fails without a message.
cat >gone.py <<'END'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
done = subprocess.run(sys.argv[1:], stdout=writer, stderr=subprocess.PIPE, text=True)
print(done.returncode, done.stderr, end="")
END
for command in 'compare a/two.png b/two.png --table - --min-ssim 0' 'info --recursive a' 'info --recursive a --table -' \
    'info --recursive a --json' 'histogram a/one.png a/two.png --table -' 'extract a/one.png a/two.png --table -'; do
    # shellcheck disable=SC2086
    expect_stdout "-13 " python3 gone.py "$GPUIMG" $command
done

# Files of several pages are opened once: other files that get their names do not mix with them. The mask is read from a FIFO
# after the pages are listed.
printf 'P5 2 1 255\n12' >old.pgm
printf 'P5 2 1 255\n34' >new.pgm
printf 'P5 2 1 255\n\0\0' >mask.pgm
for i in old new; do gpuimg pages $i.pgm $i.pgm $i.pgm --out $i.tif; done
cp old.tif a.tif
cp old.tif b.tif
mkfifo fifo.pgm
gpuimg compare a.tif b.tif --ignore fifo.pgm >out 2>err &
{ cp new.tif c.tif && mv c.tif a.tif && cat mask.pgm; } >fifo.pgm
wait $!
check "pages are those of the files that were opened: $? $(<err)" test "$(cut -d, -f3 out | tr '\n' ' ')" = 'ok 1 1 1 '
finish
