#!/bin/bash
# Lists that stay in their file: the results, the refusals and the reports are those of lists in memory, whatever the number
# of tasks that share the ranges of the list; memory does not grow with the list.
# Sources: cli/paths/list_stream* cli/paths/equal_keys* cli/paths/known_folders* cli/inputs/list_conflicts* cli/inputs/batch_formats*
# Sources: cli/report/journal_merge* cli/environment*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export GPUIMG_DEVICE=cpu
long() { GPUIMG_LIST_BYTES=10 "$@"; } # lists of more than 10 bytes are long

mkdir -p in/a in/b/c
for ((i = 0; i < 23; i++)); do pgm "in/$([[ $i == *[135] ]] && echo b/c || echo a)/$i.pgm" $((20 + i)) 17; done
find in -name '*.pgm' | shuf --random-source="$GPUIMG" >list
tr '\n' '\0' <list >zeros

# The results of one process, of a list in memory and of one in its file.
expect 0 gpuimg invert --files-from list --out-dir want --out '{dir}/{stem}_{index:04}.{ext}'
expect 0 long gpuimg invert --files-from list --out-dir got --out '{dir}/{stem}_{index:04}.{ext}'
check "the results are the same" diff -r want got
long gpuimg invert --files-from - -0 --out-dir zero --out '{dir}/{stem}_{index:04}.{ext}' <zeros 2>err
check "standard input may be a long list" diff -r want zero
cat zeros | TMPDIR=. long gpuimg invert --files-from - -0 --out-dir piped --out '{dir}/{stem}_{index:04}.{ext}' 2>err
check "a pipe may be a long list" diff -r want piped
cat list | gpuimg invert --files-from - --out-dir piped2 --out '{dir}/{stem}_{index:04}.{ext}' 2>err
check "a pipe may be a short list" diff -r want piped2
mkfifo fifo
for size in '' 10; do
    rm -rf piped
    for k in 1 2; do
        cat list >fifo &
        GPUIMG_LIST_BYTES=$size gpuimg invert --files-from fifo --out-dir piped --out '{dir}/{stem}_{index:04}.{ext}' --shard $k/2 2>err
    done
    wait
    if [[ $size ]]; then check "shards of a long list in a pipe" diff -r want piped; else check "shards of a short list in a pipe" test "$(find piped -type f | wc -l)" = 23; fi
done
expect_error 2 'invert: no images among the inputs' invert --files-from /dev/null --out-dir made
expect 75 env TMPDIR=/nowhere GPUIMG_LIST_BYTES=10 sh -c "cat list | '$GPUIMG' invert --files-from - --out-dir made"
check "a temporary file that can't be made is an error" grep -q 'invert: a temporary file in /nowhere: No such file' err
check "then nothing is written" test ! -e made

# Shards are ranges of bytes, whose names are numbered from the beginning of the list.
for n in 2 5 30; do
    rm -rf parts shard*
    for ((k = 1; k <= n; k++)); do
        expect 0 long gpuimg invert --files-from list --out-dir parts --out '{dir}/{stem}_{index:04}.{ext}' --shard $k/$n --report shard$k.jsonl
    done
    check "$n shards have the same results" diff -r want parts
    expect 0 gpuimg report merge shard*.jsonl -o all.jsonl
    check "$n reports have each input once" cmp <(sort list) <(tail -n +2 all.jsonl | jq -r .input)
done
expect 0 gpuimg invert --files-from list --out-dir own --out '{name}' --shard 2/5 --report short.jsonl
check "a shard of a list in memory is another one" test "$(jq -r .input short.jsonl | md5sum)" != "$(jq -r .input shard2.jsonl | md5sum)"

for value in abc 10x -1 99999999999999999999999 '1 '; do
    expect 2 env GPUIMG_LIST_BYTES="$value" "$GPUIMG" invert --files-from list --out-dir made
    check "a wrong variable: $value" grep -qxF "gpuimg: invert: GPUIMG_LIST_BYTES=$value: want a number of bytes" err
    expect 2 env GPUIMG_BAND_BYTES="$value" "$GPUIMG" invert in/a/0.pgm made.pgm
    check "a wrong variable: $value" grep -qxF "gpuimg: invert: GPUIMG_BAND_BYTES=$value: want a number of bytes" err
done

# Reports: --resume, missing shards and outputs that two tasks have written.
rm -rf parts shard*
for k in 1 2 3; do expect 0 long gpuimg invert --files-from list --out-dir parts --out '{dir}/{name}' --shard $k/3 --report shard$k.jsonl; done
inputs=$(jq -r 'select(.gpuimg).files' shard2.jsonl)
rm "$(jq -r 'select(.output).output' shard2.jsonl | head -1)"
expect 0 long gpuimg invert --files-from list --out-dir parts --out '{dir}/{name}' --shard 2/3 --report shard2.jsonl --resume
check "--resume makes one file" grep -q "1 image written to parts/ .*, $((inputs - 1)) skipped because the report has them" err
check "and has all lines" test "$(wc -l <shard2.jsonl)" = $((inputs + 1))
cp shard2.jsonl renamed.jsonl
expect 0 long gpuimg invert --files-from list --out-dir parts --out '{dir}/{stem}.png' --shard 2/3 --report renamed.jsonl --resume
check "other names of outputs are made" grep -q "$inputs images written to parts/ in" err
expect 1 gpuimg report merge shard1.jsonl shard3.jsonl -o some.jsonl
check "a shard without a report is counted" grep -q 'report: 1 shards have no report: of [0-9]* files 0 failed and 0 never ran' err
expect 1 gpuimg report merge shard1.jsonl shard3.jsonl --missing array
check "and its number is printed" grep -qx 2 out
expect 1 long gpuimg report merge shard1.jsonl shard3.jsonl --missing files --files-from list
check "and its files" cmp out <(jq -r 'select(.output).input' shard2.jsonl | sort)
cp list other && echo in/a/0.pgm >>other
expect 2 long gpuimg report merge shard1.jsonl --missing files --files-from other
check "another list is refused" grep -q 'report: --files-from other: is another list' err
expect 0 long gpuimg invert --files-from list --out-dir parts --out '{dir}/{name}' --shard 1/4 --report four.jsonl
expect 2 gpuimg report merge shard1.jsonl four.jsonl -o some.jsonl
check "ranges of several numbers of shards are refused" grep -q 'four.jsonl: is of one of 4 shards, shard1.jsonl is of one of 3: want one number' err
printf 'in/a/0.pgm\nin/b/c/1.pgm\nnone/0.pgm\n' >twice
mkdir none && cp in/a/2.pgm none/0.pgm
for k in 1 2; do expect 0 long gpuimg invert --files-from twice --out-dir flat --shard $k/2 --report flat$k.jsonl; done
expect 1 gpuimg report merge flat1.jsonl flat2.jsonl -o some.jsonl
check "an output of two tasks is found when reports are merged" grep -q 'in/a/0.pgm and none/0.pgm have the same output' err

# Conflicts that are refused before any work, with the messages of lists in memory.
refused() { # refused NAME ARGUMENT...
    local name=$1
    shift
    expect 2 gpuimg invert "$@"
    cp err memory.err
    expect 2 long gpuimg invert "$@"
    check "$name: the message is the same" cmp err memory.err
    check "$name: nothing was written" test ! -e made
}
refused "one output of two inputs" --files-from twice --out-dir made
refused "an output that is an input" --files-from twice --out '{dir}/{name}'
ln -s in link
printf 'in/a/0.pgm\nin/a/2.pgm\n' >two
refused "an input by another name" --files-from two --out 'link/a/{name}'
refused "the report" --files-from two --out-dir made --report in/a/2.pgm
refused "the list" --files-from two --out-dir . --out two
refused "no formats" --files-from two --out-dir made --suffix .xyz
refused "nothing is chosen" --files-from two --out-dir made --only '*.png'
printf '\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n' >blank
for k in '' 1/2 2/2 31/31; do
    refused "only empty lines${k:+, shard $k}" --files-from blank --out-dir made ${k:+--shard $k}
    refused "nothing is chosen${k:+, shard $k}" --files-from two --out-dir made --only '*.png' ${k:+--shard $k}
    # shellcheck disable=SC2086 # words
    expect_error 2 'stats: no images among the inputs' stats --files-from blank --table made.csv ${k:+--shard $k}
    # shellcheck disable=SC2086 # words
    expect 2 long gpuimg stats --files-from blank --table made.csv ${k:+--shard $k}
done
{ cat blank; echo in/a/0.pgm; } >last
expect 0 long gpuimg invert --files-from last --out-dir made --shard 1/2
check "a shard without names of a list with names does nothing" test ! -e made
refused "a wrong template" --files-from two --out-dir made --out '{nothing}'
printf 'in/a/0.pgm\0in/a/2.pgm\0' >two0
expect 2 long gpuimg invert --files-from two0 --out-dir made
check "zero bytes are refused" grep -qx 'gpuimg: invert: --files-from two0: byte 0: holds a zero byte, want -0 for names that end so' err
printf 'in/a/0.pgm\nin/a/2.pgm\r\n' >windows
expect 2 long gpuimg invert --files-from windows --out-dir made
check "lines that end in a carriage return are refused" grep -qx 'gpuimg: invert: --files-from windows: byte 11: ends in a carriage return, .*' err

# What fails alone, when its turn comes.
mkdir linked && ln -s ../in/a/4.pgm linked/2.pgm
printf 'in/a/0.pgm\nin/a/2.pgm\nin/a\nin/a/none.pgm\n' >some
expect 1 long gpuimg invert --files-from some --out-dir linked
check "an output that is a link fails" grep -q 'linked/2.pgm: is a symbolic link, want a file' err
check "a folder fails" grep -q 'in/a: ' err
check "three inputs fail" grep -q '3 of 4 files failed' err
check "the others are processed" test -f linked/0.pgm
check "the target of the link is as before" cmp in/a/4.pgm <(gpuimg invert in/a/4.pgm - | gpuimg invert - -)

# --no-clobber, tables, tables per image and patterns.
expect 0 long gpuimg invert --files-from list --out-dir got --out '{dir}/{stem}_{index:04}.{ext}' --no-clobber
check "--no-clobber skips all" grep -q '0 images written .*, 23 skipped because they exist' err
for command in stats info 'stats --only */a/*'; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $command --files-from list --table want.csv
    # shellcheck disable=SC2086 # words
    expect 0 long gpuimg $command --files-from list --table got.csv
    check "$command: the tables are the same" cmp want.csv got.csv
done
expect 0 gpuimg histogram --files-from list --out-dir tables --out '{dir}/{stem}.csv'
expect 0 long gpuimg histogram --files-from list --out-dir tables2 --out '{dir}/{stem}.csv'
check "tables of each image" diff -r tables tables2

# A million names, of which the last one conflicts with the first: the list would take 200 MB.
if sanitized; then
    skip "memory of long lists: a sanitizer needs memory of its own"
else
    python3 - <<'END'
with open("millions", "w") as f:
    f.writelines(f"data/{i // 1000}/{i:08}.jpg\n" for i in range(1000000))
    f.write("none/00000000.jpg\n")
END
    cat >peak.py <<'END'
import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, text=True).stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
    expect 0 env GPUIMG_LIST_BYTES=10 TMPDIR=. python3 peak.py "$GPUIMG" invert --files-from millions --out-dir made
    check "the conflict is found" grep -q 'made/00000000.jpg: would be the output of data/0/00000000.jpg and of none/00000000.jpg' out
    check "in less than 64 MB" test "$(tail -1 out)" -lt 64000
    expect 0 env GPUIMG_LIST_BYTES=10 TMPDIR=. sh -c "cat millions | python3 peak.py '$GPUIMG' invert --files-from - --out-dir made"
    check "the conflict is found in a pipe" grep -q 'would be the output of data/0/00000000.jpg and of none/00000000.jpg' out
    check "in a pipe in less than 64 MB" test "$(tail -1 out)" -lt 64000

    # Reports of 30,000 names and 40 MB are merged with the names in memory.
    python3 - <<'END'
import random
lines = []
for i in range(30000):
    name = f"data/{i // 1000}/{i:08}.jpg"
    lines.append((name, f'{{"input": "{name}", "output": "out/{name}", "status": "done", "error": "{"x" * random.randrange(2500)}"}}\n'))
head = '{"gpuimg": "1", "chain": "invert", "list": "0", "files": 30000}\n'
open("want.jsonl", "w").write(head + "".join(line for _, line in sorted(lines)))
random.shuffle(lines)
open("report.jsonl", "w").write(head + "".join(line for _, line in lines))
END
    expect 0 env TMPDIR=. python3 peak.py "$GPUIMG" report merge report.jsonl -o merged.jsonl
    check "the merged report has all lines in the order of names" cmp <(tail -n +2 merged.jsonl) <(tail -n +2 want.jsonl)
    check "in less than 50 MB" test "$(tail -1 out)" -lt 50000
    expect 75 env TMPDIR=nowhere "$GPUIMG" report merge report.jsonl -o other.jsonl
    check "the temporary file is named" grep -qxF 'gpuimg: report: a temporary file in nowhere: No such file or directory (TMPDIR says where it goes)' err
    expect 0 env TMPDIR=nowhere "$GPUIMG" report merge shard1.jsonl shard2.jsonl shard3.jsonl -o small.jsonl
    check "no temporary file is left" test -z "$(find . -maxdepth 1 -name 'gpuimg-*')"
fi
finish
