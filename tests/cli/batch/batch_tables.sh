#!/bin/bash
# Chains that end in a table, for many files and for streams; and failures that end such a batch early.
# Usage: batch_tables.sh GPUIMG
# Sources: cli/tables filters/statistics/stats_total*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
coins=$tests/../../testdata/coins.png

mkdir in in/x
gpuimg convert "$coins" in/a.png --gray
gpuimg flip --h in/a.png in/b.png
gpuimg flip --v in/a.png in/x/c.pgm

# chain_table CHAIN FILE...: prints one table of the outputs of single commands, with a column for the file.
chain_table() {
    local chain=$1 head=
    shift
    for f in "$@"; do
        gpuimg run "$chain" "$f" >alone.csv
        [[ $head ]] || { head=1; sed '1s/^/file,/;q' alone.csv; }
        tail -n +2 alone.csv | sed "s|^|$f,|"
    done
}
# Compares the values of a CSV table with those of JSON lines and NumPy.
cat >same.py <<'E2'
import csv, json, struct, sys
rows = list(csv.reader(open("all.csv")))
raw = open("all.npy", "rb").read()
start = 10 + int.from_bytes(raw[8:10], "little")
described = eval(raw[10:start])
names = [name for name, _ in described["descr"]]
layout = struct.Struct("<%ds%dd" % (int(described["descr"][0][1][1:]), len(names) - 1))
assert names == rows[0] and described["shape"] == (len(rows) - 1,), described
for row, values in zip(rows[1:], layout.iter_unpack(raw[start:]), strict=True):
    assert values[0].rstrip(b"\0").decode() == row[0], (values[0], row[0])
    for a, b in zip(values[1:], row[1:]):
        assert a == float(b) if b else a != a
order = [json.loads(line)["file"] for line in open("all.jsonl")]
assert order == list(dict.fromkeys(row[0] for row in rows[1:])), order
E2
files=(in/b.png in/a.png in/x/c.pgm)
for chain in 'gaussian --sigma 2 | histogram --bins 7 --format csv' 'gaussian --sigma 2 | extract --at otsu --min-area 50' \
    'blur | threshold --at otsu | histogram --bins 2 --format csv' 'extract --min-area 50'; do
    for kind in csv jsonl npy; do expect 0 gpuimg run "$chain" "${files[@]}" --table all.$kind --threads 5; done
    chain_table "$chain" "${files[@]}" >want.csv
    check "$chain: one table" cmp all.csv want.csv
    check "$chain: three kinds" python3 same.py
    expect 0 gpuimg run "$chain" "${files[@]}" --out-dir each
    gpuimg run "$chain" in/b.png >want.csv
    check "$chain: one table per input" cmp each/b.csv want.csv
    expect 0 gpuimg run "$chain" --recursive in --out '{dir}/{stem}.json'
    check "$chain: one JSON per input" python3 -c 'import json; json.load(open("in/x/c.json"))'
    rm -rf each in/*.json in/x/*.json
done
expect 0 gpuimg run 'gaussian --sigma 2 | extract --min-area 50' "${files[@]}" --out-dir each --report each.jsonl
rm each/a.csv
stat -c '%n %y' each/* >before
expect 0 gpuimg run 'gaussian --sigma 2 | extract --min-area 50' "${files[@]}" --out-dir each --report each.jsonl --resume
check '--resume makes what is missing' test "$(stat -c '%n %y' each/* | comm -13 before - | cut -d' ' -f 1)" = each/a.csv

expect_error 2 'run: step 1, histogram: writes a table of one image: of many want it as the last step' \
    run 'histogram | blur' "${files[@]}" --out-dir made
expect_error 2 'run: extract: --to made.csv: of many images tables go to --table, --out-dir or --out' \
    run 'blur | extract --to made.csv' "${files[@]}" --table made2.csv
expect_error 2 'run: --overlay made.png: of many images there is a table alone' \
    run 'blur | extract --overlay made.png' "${files[@]}" --table made2.csv
expect_error 2 'run: --table: want a step with a table, such as stats or extract, as the last step, blur makes images' run blur in/a.png --table made.csv
expect_error 2 'run: made/a.npy: want a name that ends in .csv or .json' run stats in/a.png --out 'made/{stem}.npy'
expect_error 2 'run: --suffix .png: the results are tables, want .csv or .json' \
    run 'blur | histogram' in/a.png --out-dir made --suffix .png

# ---- streams: one or more rows per image, which is named by its position ----
for f in "${files[@]}"; do gpuimg convert "$f" pgm:-; done >stream.pgm
chain='gaussian --sigma 2 | histogram --bins 7 --format csv'
chain_table "$chain" "${files[@]}" >want.csv
sed -i 's|^in/b.png,|stream.pgm: image 1,|; s|^in/a.png,|stream.pgm: image 2,|; s|^in/x/c.pgm,|stream.pgm: image 3,|' want.csv
for threads in 1 4; do
    for kind in csv jsonl npy; do expect 0 gpuimg run "$chain" stream.pgm --table all.$kind --threads $threads; done
    check "a file of several images, $threads threads" cmp all.csv want.csv
    check "three kinds" python3 same.py
done
piped() { gpuimg "$@" <stream.pgm; }
sed -i 's|^stream.pgm: |standard input: |' want.csv
expect 0 piped run "$chain" - --table -
check 'through a pipe' cmp out want.csv
expect 0 piped run "$chain" - --table - --memory 1
check 'one at a time' cmp out want.csv
one() { gpuimg histogram - --table - --bins 3 <in/a.png; }
expect 0 one
check 'one image of any format' test "$(sed 1d out | cut -d, -f 1 | sort -u)" = -
broken() { head -c -100 stream.pgm | gpuimg histogram - --table broken.csv --bins 3; }
expect 1 broken
check 'a truncated stream is named' grep -qx 'gpuimg: histogram: standard input: image 3: ends early, in row .*' err
check 'the table has the rows before the truncation' test "$(sed 1d broken.csv | cut -d, -f 1 | uniq -c | tr -s ' \n' '  ')" = \
    ' 3 standard input: image 1 3 standard input: image 2 '
# A table or a JUnit file of fewer rows does not replace an older one.
check 'after a signal an older table stays, and no new one appears' timeout 60 python3 - "$GPUIMG" <<'E2'
import os, re, signal, subprocess, sys, time
def listens(): # to SIGTERM
    caught = re.search("SigCgt:\\s*(\\w+)", open(f"/proc/{worker.pid}/status").read())[1]
    return int(caught, 16) >> (signal.SIGTERM - 1) & 1
os.mkfifo("pipe") # where the second input is waited for
cases = [("stats", "told.csv"), ("stats", "told.npy"), ("info", "told.jsonl"), ("extract --at 50%", "told.csv"), ("run", "told.csv"),
         ("compare --pairs - --table told.csv", "told.csv"), ("compare --pairs - --junit told.xml", "told.xml")]
for i, (words, name) in enumerate(cases):
    for number in (signal.SIGTERM, signal.SIGINT):
        for older in (b"older\n", None)[:1 + (i % 3 == 0)]:
            if os.path.exists(name):
                os.remove(name)
            if older:
                open(name, "wb").write(older)
            compares = words.startswith("compare")
            line = [*words.split(), *(["invert | stats"] if words == "run" else [])]
            line += [] if compares else ["in/a.png", "pipe", "--table", name]
            worker = subprocess.Popen([sys.argv[1], *line], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if compares:
                worker.stdin.write(b"in/a.png\tin/a.png\npipe\tin/a.png\n")
                worker.stdin.close()
            while not listens():
                time.sleep(0.01)
            time.sleep(0.1) # a row later
            worker.send_signal(number)
            said = worker.stderr.read()
            assert worker.wait(30) == 128 + number, (words, worker.returncode, said)
            left = open(name, "rb").read() if os.path.exists(name) else None
            assert left == older, (words, name, number, left, said)
E2
damaged() { { cat stream.pgm; printf 'P5 4 x 255\n'; cat in/x/c.pgm; } | gpuimg histogram - --bins 1 --table told.csv; }
expect 1 damaged
check 'a damaged head in the middle: where' grep -qx "gpuimg: histogram: standard input: image at byte $(stat -c %s stream.pgm): has a damaged header: want width and height, .*" err
check 'the table has the rows before the damaged header' test "$(wc -l <told.csv)" = 4
check 'rows keep the order of the stream' test "$(for i in {1..60}; do cat stream.pgm; done |
    gpuimg histogram - --bins 1 --table - --threads 8 | sed 1d | grep -o 'image [0-9]*')" = "$(seq -f 'image %.0f' 180)"

# Planes of a video, each a gray image.
python3 - <<'E2'
import random
random.seed(3)
with open("v.y4m", "wb") as f, open("planes.pgm", "wb") as g:
    f.write(b"YUV4MPEG2 W33 H17 F25:1 C420jpeg\n")
    for frame in range(3):
        f.write(b"FRAME\n")
        for w, h in (33, 17), (17, 9), (17, 9):
            plane = random.randbytes(w * h)
            f.write(plane)
            g.write(b"P5 %d %d 255\n" % (w, h) + plane)
E2
gpuimg run "$chain" planes.pgm --table want.csv
expect 0 gpuimg run "$chain" v.y4m --table -
check 'planes of a video' cmp <(cut -d, -f 2- out) <(cut -d, -f 2- want.csv)
check 'and their names' test "$(sed 1d out | cut -d, -f 1 | uniq | tr '\n' ';')" = \
    "$(for i in 1 2 3; do printf 'v.y4m: frame %d %s;' $i Y $i Cb $i Cr; done)"

# ---- early ends of a batch: no row after the failure, however far other threads have come ----
{ printf 'P5 9000 3000 255\n'; head -c 27000000 /dev/zero; } | gpuimg convert - png:late.png
truncate -s -100 late.png # says so after its rows
for i in {1..20}; do cp in/a.png "in/q$i.png"; done
for threads in 2 8; do
    expect 1 gpuimg histogram in/a.png in/b.png late.png in/q*.png --bins 2 --table fast.csv --fail-fast \
        --threads $threads --report fast.jsonl
    check "--fail-fast: the table, $threads threads" test "$(sed 1d fast.csv | cut -d, -f 1 | uniq | tr '\n' ' ')" = 'in/a.png in/b.png '
    check "--fail-fast: the report, $threads threads" test "$(grep -o '"status": "[a-z]*"' fast.jsonl | tr -d '\n')" = \
        '"status": "done""status": "done""status": "failed"'
    check "--fail-fast: the count, $threads threads" grep -qx 'gpuimg: histogram: 1 of 23 files failed' err
    expect 2 gpuimg compare --pairs <(for f in in/a.png late.png in/q*.png; do printf '%s\tin/a.png\n' "$f"; done) \
        --table pairs.csv --fail-fast --threads $threads
    check "--fail-fast: rows of pairs, $threads threads" test "$(sed 1d pairs.csv | wc -l)" = 1
done
expect 1 gpuimg histogram in/a.png late.png in/q*.png --bins 2 --table all.csv --threads 8
check 'without --fail-fast the table has the other rows' test "$(sed 1d all.csv | cut -d, -f 1 | uniq | wc -l)" = 21

# --no-clobber applies to tables too: to one table before any work, and of one per input those that exist are skipped.
echo mine >told.csv
expect_error 1 'histogram: told.csv: File exists' histogram in/q1.png --table told.csv --no-clobber
mkdir each
echo mine >each/q1.csv
expect 0 gpuimg histogram in/q1.png in/q2.png --out-dir each --no-clobber
check '--no-clobber keeps them' test "$(cat told.csv each/q1.csv)" = $'mine\nmine' -a -s each/q2.csv

# If the machine fails, not a file, no table appears and an older one is unchanged. Reading /proc/self/mem is an I/O error.
for command in stats histogram info 'extract --at 50%' 'run blur|stats' palette hash; do
    for kind in csv jsonl npy; do
        echo mine >told.$kind
        # shellcheck disable=SC2086 # words
        expect 75 gpuimg $command in/q1.png /proc/self/mem in/q2.png --table told.$kind
        check "$command: the older .$kind is unchanged" cmp told.$kind <(echo mine)
        check "$command: the message says that the machine failed" grep -qx "gpuimg: ${command%% *}: told.$kind: is not written: the machine failed, not its inputs: try again" err
    done
done
expect 75 gpuimg stats in/q1.png /proc/self/mem --table new.csv
check 'no new table appears' test ! -e new.csv
expect 75 gpuimg stats in/q1.png /proc/self/mem in/q2.png --table -
check 'standard output has the rows of the others' test "$(sed 1d out | cut -d, -f 1 | tr '\n' ' ')" = 'in/q1.png in/q2.png '
echo mine >told.csv
expect 75 gpuimg compare --pairs <(printf 'in/q1.png\tin/q2.png\n/proc/self/mem\tin/q2.png\n') --table told.csv
check 'compare: the older table is unchanged' test "$(<told.csv)" = mine

# A table that can't be written ends the batch with one message; a reader that has exited causes none.
full() { "$GPUIMG" histogram in/q*.png --bins 65536 --table - >/dev/full; }
expect 75 full
check 'a full disk is named once' test "$(<err)" = 'gpuimg: histogram: standard output: No space left on device'
"$GPUIMG" histogram in/q*.png --bins 65536 --table - 2>err | head -n 1 >/dev/null
check 'a closed pipe causes no message' test "${PIPESTATUS[0]} $(<err)" = '141 '
# ---- stats --total: a part for all images, equal to the statistics of an image of all their samples ----
printf 'P5 3 2 255\n\1\2\3\4\5\6' >some.pgm
printf 'P5 3 1 255\n\310\311\377' >more.pgm
printf 'P5 3 3 255\n\1\2\3\4\5\6\310\311\377' >all.pgm
printf 'P6 1 1 255\n\1\2\3' >colour.ppm
expect 0 gpuimg stats some.pgm more.pgm colour.ppm --total --table total.csv --percentiles 50
check "--total: rows of images, then of channels" test "$(sed 1d total.csv | cut -d, -f 1,2 | tr '\n' ' ')" = \
    'some.pgm,gray more.pgm,gray colour.ppm,red colour.ppm,green colour.ppm,blue total,gray total,red total,green total,blue '
expect 0 gpuimg stats all.pgm --table one.csv --percentiles 50
# near COLUMN: whether the numbers of the columns agree in both tables.
check "--total: the numbers" python3 - <<'END'
import csv
total = [row for row in csv.DictReader(open("total.csv")) if row["file"] == "total" and row["channel"] == "gray"][0]
one = next(csv.DictReader(open("one.csv")))
for key in ("count", "nan", "sum", "mean", "stddev", "variance", "min", "max", "range", "l1", "l2", "rms"):
    assert total[key] == one[key], key
assert all(total[key] == "" for key in ("min_x", "max_y", "entropy", "unique", "median", "p50"))
END
expect 0 gpuimg stats some.pgm more.pgm --total --table total.jsonl
check "--total in JSON" python3 -c 'import json; t = json.loads(open("total.jsonl").readlines()[2]); c = t["channels"][0]
assert t["file"] == "total" and t["images"] == 2 and c["count"] == 9 and c["max"] == 255 and c["median"] is None and c["stddev"] == c["deviation"], t'
# Sums over images are exact: each number is that of all samples together, rounded once.
check "--total: images for exact sums" python3 - <<'END'
import random, struct
random.seed(26)
for i in range(40):
    with open(f"deep-{i}.pgm", "wb") as f:
        f.write(b"P5 31 7 65535\n" + random.randbytes(2 * 31 * 7))
for i in range(9):
    with open(f"real-{i}.pfm", "wb") as f:
        f.write(b"Pf 5 3 -1.0\n" + struct.pack("<15f", *(random.uniform(-1, 1) * 10 ** random.uniform(-20, 20) for _ in range(15))))
END
expect 0 gpuimg stats deep-*.pgm --total --table deep.csv
expect 0 gpuimg stats real-*.pfm deep-*.pgm some.pgm --total --table mixed.csv
tar cf deep.tar deep-*.pgm
expect 0 gpuimg stats --tar deep.tar --total --table tar.csv
check "--total is exact" python3 - <<'END'
import csv, glob, struct
from fractions import Fraction
from math import sqrt
deep = [v for f in glob.glob("deep-*.pgm") for v in struct.unpack(">217H", open(f, "rb").read()[-434:])]
mixed = [Fraction(v) for f in glob.glob("real-*.pfm") for v in struct.unpack("<15f", open(f, "rb").read()[-60:])] + deep + [1, 2, 3, 4, 5, 6]
for name, values in ("deep.csv", deep), ("tar.csv", deep), ("mixed.csv", mixed):
    got = [row for row in csv.DictReader(open(name)) if "total" in (row["file"], row.get("tar"))][0]
    n, total, squares = len(values), sum(map(Fraction, values)), sum(Fraction(v) ** 2 for v in values)
    variance = float((n * squares - total ** 2) / n ** 2)
    want = {"count": n, "sum": float(total), "mean": float(total / n), "variance": variance, "stddev": sqrt(variance), "min": float(min(values)),
            "max": float(max(values)), "l1": float(sum(map(abs, values))), "l2": sqrt(float(squares)), "rms": sqrt(float(squares / n))}
    for key, v in want.items():
        assert float(got[key]) == v, (name, key, got[key], v)
    assert got["unique"] == got["min_x"] == got["entropy"] == got["median"] == "", name
END
expect 0 gpuimg stats some.pgm more.pgm --total --table total.npy
expect 0 gpuimg run 'invert | stats --total' some.pgm more.pgm --table total.csv
check "--total in a chain" test "$(grep -c ^total total.csv)" = 1
expect 1 gpuimg stats some.pgm missing.pgm more.pgm --total --table total.csv
check "--total of the images that could be read" test "$(grep ^total total.csv | cut -d, -f 3)" = 9
expect 0 gpuimg stats some.pgm more.pgm --table total.csv
check "without --total there is none" test "$(grep -c ^total total.csv)" = 0
printf 'PF 1 1 -1.0\n\0\0\300\177\0\0\300\177\0\0\300\177' >nan.pfm
expect 0 gpuimg stats nan.pfm nan.pfm --total --table nan.csv
check "--total without numbers" grep -qE '^total,red,0,2,0,0,0,,' nan.csv
expect_error 2 'stats: --total: is for many images: want --table' stats some.pgm --total
expect_error 2 'stats: --total: want --table' stats some.pgm --total --out-dir made
expect_error 2 'stats: --total: want no --group-by with it' stats some.pgm --total --group-by row --table made.csv
finish
