#!/bin/bash
# Tables of the images in tars: rows, columns for tar and member, reports, members that are not images or are damaged.
# Usage: tar_tables.sh GPUIMG
# Sources: cli/inputs/tars* cli/tables
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
coins=$tests/../../testdata/coins.png

mkdir -p one/sub two
gpuimg convert "$coins" one/a.png --gray
gpuimg flip --h one/a.png one/sub/b.pgm
gpuimg flip --v one/a.png 'one/a "name", parted.png'
gpuimg rotate --angle 90 one/a.png two/c.tif
echo 7 >one/a.cls
head -c 3000000 /dev/urandom >one/video.bin
ln -s a.png one/link
for t in one two; do tar cf $t.tar --sort=name $t; done
gzip -k two.tar

# The same values as of each member alone, with columns for its tar and its name.
members=('one/a "name", parted.png' one/a.png one/sub/b.pgm two/c.tif)
alone_csv() { # alone_csv COMMAND...
    local head= f name
    for f in "${members[@]}"; do
        gpuimg "$@" "$f" --table alone.csv
        name=\"${f//\"/\"\"}\"
        [[ $f == *,* ]] || name=$f
        [[ $head ]] || { head=1; sed '1s/^/tar,/;q' alone.csv; }
        tail -n +2 alone.csv | sed "s|^.*\.[a-z]*\"\?,|${f%%/*}.tar,$name,|"
    done
}
alone_jsonl() {
    local f
    for f in "${members[@]}"; do
        gpuimg "$@" "$f" --table alone.jsonl
        sed "s|^{|{\"tar\": \"${f%%/*}.tar\", |" alone.jsonl
    done
}
cat >same.py <<'END'
import csv, struct
rows = list(csv.reader(open("all.csv")))
raw = open("all.npy", "rb").read()
start = 10 + int.from_bytes(raw[8:10], "little")
described = eval(raw[10:start])
names = [name for name, _ in described["descr"]]
assert names == rows[0] and names[:2] == ["tar", "file"] and described["shape"] == (len(rows) - 1,), described
layout = struct.Struct("<" + "".join("d" if t == "<f8" else t[1:] + "s" for _, t in described["descr"]))
for row, values in zip(rows[1:], layout.iter_unpack(raw[start:]), strict=True):
    for a, b in zip(values, row, strict=True):
        if isinstance(a, bytes): assert a.rstrip(b"\0").decode() == b, (a, b)
        else: assert a == float(b) if b else a != a, (a, b)
for i, (_, t) in enumerate(described["descr"]): # as wide as the longest
    if t[0] == "S": assert int(t[1:]) == max(1, *(len(row[i]) for row in rows[1:])), t
END
for command in 'histogram --bins 7' 'extract --min-area 50' 'run blur|histogram' info; do
    read -ra words <<<"$command"
    [[ $command == run* ]] && words=(run 'blur | histogram')
    for kind in csv jsonl npy; do expect 0 gpuimg "${words[@]}" --tar one.tar two.tar --table all.$kind; done
    alone_csv "${words[@]}" >want.csv
    check "$command: CSV" cmp all.csv want.csv
    alone_jsonl "${words[@]}" >want.jsonl
    check "$command: JSON lines" cmp all.jsonl want.jsonl
    check "$command: NumPy" python3 same.py
    check "$command: no message but the last line" test -z "$(grep -v ' in [0-9.]* s, ' err)"
done
expect 0 gpuimg stats --tar one.tar two.tar --table all.csv
check 'stats: one row per image' test "$(cut -d, -f1 all.csv | uniq -c | tr -s ' \n' ' ')" = ' 1 tar 3 one.tar 1 two.tar '
expect 0 gpuimg palette --tar one.tar --table all.csv --top 2
check 'palette: columns for tar and file' test "$(head -c 9 all.csv)" = tar,file,
expect 0 gpuimg histogram --tar one.tar two.tar
check 'standard output without --table' test "$(sed 1d out | cut -d, -f1 | uniq | tr '\n' ' ')" = 'one.tar two.tar '
cp out want.csv
for t in 1 8; do
    expect 0 gpuimg histogram --tar '{one,two}.tar' --threads $t --memory 1
    check "a brace list, $t threads, little memory" cmp out want.csv
done
"$GPUIMG" histogram --tar one.tar - <two.tar.gz >out
check 'standard input, gzip' cmp out <(sed 's/^two.tar,/-,/' want.csv)
expect 0 gpuimg info --tar one.tar two.tar
check 'info has a line per image' test "$(cut -d, -f1 out | tail -n 1)" = 'two.tar: two/c.tif: tiff'
expect 0 gpuimg info --json --tar two.tar
check 'JSON of info' test "$(jq -r '"\(.tar) \(.file) \(.width)"' out)" = 'two.tar two/c.tif 427'

# "--tar - -": the second - is the place of the table, for every command and chain that ends in one.
for command in stats histogram extract palette hash info 'run blur|stats' 'run threshold|extract' 'run invert|histogram' 'run palette'; do
    IFS=' ' read -r -a words <<<"${command//|/ | }"
    [[ $command == run* ]] && words=(run "${command#run }")
    gpuimg "${words[@]}" --tar - <one.tar >want.csv
    timeout 60 "$GPUIMG" "${words[@]}" --tar - - <one.tar >out 2>err
    check "$command --tar - -" test $? = 0
    check "$command --tar - -: the table" cmp out want.csv
done
timeout 60 "$GPUIMG" stats --tar - - --table - <one.tar >out
check '--tar - - --table -' cmp out <("$GPUIMG" stats --tar - <one.tar)
for kind in integral cumulative 'run invert|integral'; do
    words=("$kind")
    [[ $kind == run* ]] && words=(run "${kind#run }")
    timeout 60 "$GPUIMG" "${words[@]}" --tar - - <one.tar >out
    check "$kind --tar - - writes a tar" test "$(tar tf out | grep -c '[.]npy$')" = 3
done
expect_error 2 'stats: -: is named 2 times, want standard input once' stats --tar - - --table made.csv
expect_error 2 'stats: -: is named 2 times, want standard input once' stats --tar - - one.tar
expect_error 2 'stats: -: is named 3 times, want standard input once' stats --tar - - -

# With --suffix each image becomes a table of its own in another tar, and the other members stay.
for kind in json csv; do
    for command in stats histogram extract palette 'run blur|stats'; do
        words=("$command")
        [[ $command == run* ]] && words=(run "${command#run }")
        rm -rf made.tar unpacked
        expect 0 gpuimg "${words[@]}" --tar one.tar made.tar --suffix .$kind
        mkdir unpacked
        tar xf made.tar -C unpacked
        gpuimg "${words[@]}" one/a.png --out-dir made --suffix .$kind
        check "$command: a table as $kind" cmp <(sed 's|one/a.png|X|g' made/a.$kind) <(sed 's|one/a.png|X|g' unpacked/one/a.$kind)
        check "$command: the other members" cmp one/video.bin unpacked/one/video.bin
        check "$command: all members" test "$(tar tf made.tar)" = "$(tar tf one.tar | sed "s/[.]png$\|[.]pgm$/.$kind/; s/link.*/link/")"
        rm -rf made made.tar
    done
done
"$GPUIMG" extract --tar - - --suffix .json <one.tar >made.tar
check 'tables go from pipe to pipe' test "$(tar tf made.tar | grep -c '[.]json$')" = 3
rm made.tar
expect_error 2 'stats: --suffix: with --tar is for a table of each image, want no --table' stats --tar one.tar made.tar --suffix .json --table made.csv
expect_error 2 'stats: --suffix .png: the results are tables, want .csv or .json' stats --tar one.tar made.tar --suffix .png
expect_error 2 'stats: --total: want --table' stats --tar one.tar made.tar --suffix .csv --total

# A report: one line per image and per tar; other members have none. Shards.
expect 0 gpuimg histogram --tar one.tar two.tar --table all.csv --report r.jsonl
lines() { jq -r 'select(.input) | "\(.tar) \(.input) \(.output) \(.status) \(.width)"' "$1"; }
cat >want <<'END'
one.tar one.tar:one/a "name", parted.png null done 640
one.tar one.tar:one/a.png null done 640
one.tar one.tar:one/sub/b.pgm null done 640
null one.tar null done null
two.tar two.tar:two/c.tif null done 427
null two.tar null done null
END
check 'the report has one line per image and per tar' diff <(lines r.jsonl) want
for k in 1 2; do expect 0 gpuimg histogram --tar two.tar one.tar --shard $k/2 --table part-$k.csv --report part-$k.jsonl; done
expect 0 gpuimg report merge part-1.jsonl part-2.jsonl
check 'shards are parts of the sorted list of tars' cmp <(cat part-1.csv <(sed 1d part-2.csv)) all.csv
check 'reports of shards can be merged' test "$(wc -l <out)" = 7

# A damaged member has no row and is named and counted; so is a truncated tar; the others are processed.
mkdir bad
printf 'P5 40 30 255\nshort' >bad/x.pgm
cp one/a.png bad/y.png
tar cf bad.tar --sort=name bad
head -c 40000 one.tar >cut.tar
expect 1 gpuimg histogram --tar cut.tar bad.tar two.tar --table all.csv --report r.jsonl
check 'a damaged member is named' grep -q '^gpuimg: histogram: bad.tar: bad/x.pgm: ends early' err
check 'damaged members are counted' grep -qx 'gpuimg: histogram: 1 member was left out' err
check 'a truncated tar is named' grep -q '^gpuimg: histogram: cut.tar: ' err
check 'failed tars are counted' grep -qx 'gpuimg: histogram: 1 of 3 tars failed' err
check 'the table has the rows of the others' test "$(sed 1d all.csv | cut -d, -f1,2 | uniq | tr '\n' ' ')" = 'bad.tar,bad/y.png two.tar,two/c.tif '
check 'the report has the failures' test "$(lines r.jsonl | cut -d' ' -f 1,2,4 | tr '\n' ';')" = \
    'null cut.tar failed;bad.tar bad.tar:bad/x.pgm failed;bad.tar bad.tar:bad/y.png done;null bad.tar failed;two.tar two.tar:two/c.tif done;null two.tar done;'
expect 1 gpuimg histogram --tar bad.tar two.tar --table all.csv --fail-fast
check '--fail-fast ends the table' test "$(wc -l <all.csv)" -le 1
expect 1 gpuimg info --tar bad.tar nowhere.tar --check
check 'info: a missing tar is named' grep -q '^gpuimg: info: nowhere.tar: No such file' err
expect 75 env GPUIMG_FAULT=cpu:0@2 "$GPUIMG" histogram --tar one.tar two.tar --table all.csv
expect 75 gpuimg histogram --tar one.tar --table all.csv --report /dev/full

# Options that are refused.
expect_error 2 'histogram: --tar: makes one table of all: want it without --out-dir, *' histogram --tar one.tar --out-dir made
expect_error 2 'info: --tar: makes one table of all: *' info --tar one.tar --recursive
expect_error 2 'histogram: --report made.csv: is the file of --table too, want another one' \
    histogram --tar one.tar --table ./made.csv --report made.csv
expect_error 2 'histogram: --report one.tar: is the input one.tar, want another file' histogram --tar one.tar --table made.csv --report one.tar
expect_error 2 'run: --tar: want tars, got nothing' run 'blur | histogram' --tar --table made.csv
expect 1 gpuimg histogram --tar one/a.png --table all.csv
check 'a file that is not a tar is named' grep -q '^gpuimg: histogram: one/a.png: ' err
finish
