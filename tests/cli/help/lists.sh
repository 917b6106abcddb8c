#!/bin/bash
# list, info and devices: their output as text and as JSON.
# Sources: cli/commands/list.c cli/commands/info.c cli/commands/devices.c cli/commands.[ch]
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 13 9
gpuimg blur in.pgm in.png --k 1
gpuimg blur in.pgm sixteen.png --k 1 --depth 16

json() { # json NAME EXPRESSION: of the JSON objects in `out`, as the list j
    check "$1" python3 -c "
import json, sys
text, j = open('out', encoding='utf-8').read(), []
decoder = json.JSONDecoder(parse_constant=lambda c: sys.exit('no JSON: ' + c))
while text.strip():
    value, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    j.append(value)
assert $2, j"
}

# list.
expect 0 gpuimg list
for word in Operations Formats Borders gaussian png reflect101 replicate; do
    check "list has $word" grep -q "$word" out
done
expect 0 gpuimg list --json
json "list --json: keys" "set(j[0]) == {'version', 'operations', 'commands', 'formats', 'borders', 'synonyms'}"
json "list --json: words of other programs" "{'word': 'otsu', 'means': 'threshold'} in j[0]['synonyms']"
rows=$(sed -nE 's/^    \.name = "([a-z-]+)",$/\1/p' "$tests"/../../filters/*/*.c | sort -u | tr '\n' ' ')
json "list --json: the operations are the rows in filters/, and run" "sorted('$rows run montage mosaic pages tiles split merge duplicates'.split()) == sorted(o['name'] for o in j[0]['operations'])"
json "list --json: an option" "next(p for o in j[0]['operations'] if o['name'] == 'sharpen' for p in o['options'] if p['name'] == 'sigma').items() >= {'type': 'real', 'min': 0.1, 'max': 250.0, 'unit': 'px'}.items()"
json "list --json: every option has a type and help" "all(p['type'] and p['help'] for o in j[0]['operations'] for p in o['options'])"
json "list --json: borders" "[b['name'] for b in j[0]['borders'] if 'alias_of' not in b] == ['clamp', 'border', 'wrap', 'mirror', 'reflect101']"
json "list --json: formats" "{f['name'] for f in j[0]['formats'] if f['reads']} >= {'png', 'jpeg', 'pgm', 'ppm', 'pam', 'pfm'}"
# The montage of `make demo` shows every operation of chains, except analyses and convert.
gpuimg help run | sed -n '/^Operations of a chain/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vxE 'stats|histogram|integral|cumulative|palette|hash|find|align|skew|extract|contours|peaks|corners|blobs|lines|circles|convert' | sort >steps
sed -nE 's/^(scene|coins) (.* \| )?([a-z-]+).*/\3/p' "$tests/../../testdata/demo.sh" | sort -u >shown
check "the demo shows every operation" diff steps shown
check "some operations" test "$(wc -l <steps)" -gt 50
gpuimg list --json | python3 -c 'import json, sys; print(*json.load(sys.stdin)["commands"], sep="\n")' >commands
expect_stdout "$(cat commands)" gpuimg list --commands

# Ways, and forcing one.
expect 0 gpuimg list --ways
check "list --ways: a way of the CPU" grep -qE '^cpu +box +narrow +[a-z]' out
check "list --ways has each way once" test "$(awk '{print $1, $2, $3}' out | sort | uniq -d | wc -l)" = 0
while read -r backend primitive way _; do
    [[ $backend == cpu && $primitive == box ]] || continue
    if GPUIMG_WAY=$primitive:$way gpuimg blur in.pgm way.pgm --k 3 --device cpu 2>err; then
        gpuimg blur in.pgm want.pgm --k 3 --device cpu
        check "blur by $primitive:$way" cmp way.pgm want.pgm
    else
        check "blur: $primitive:$way is refused as unsuitable" \
            grep -qx "gpuimg: blur: GPUIMG_WAY=$primitive:$way: this way does not take this work" err
    fi
done <out
for kernel in '-1 -1 -1; 1 1 1; 0 0 0' '1 1 1; 1 1 1; 1 1 1' '1 0 -1; 2 0 -2; 1 0 -1' '1 2 1; 0 0 0; -1 -2 -1'; do
    GPUIMG_WAY=cpu/convolve_separable:rows expect 0 gpuimg convolve in.pgm want.pgm --kernel "$kernel" --device cpu
    expect 0 gpuimg convolve in.pgm way.pgm --kernel "$kernel" --device cpu
    check "whole weights $kernel" cmp way.pgm want.pgm
done
GPUIMG_WAY=box:walking expect_error 2 'blur: GPUIMG_WAY=box:walking: want box:WAY, one of *narrow*' blur in.pgm made.pgm --device cpu

# info.
expect_stdout 'in.pgm: pgm, 13 x 9, gray, 8 bits, 129 B' gpuimg info in.pgm
expect 0 gpuimg info --json in.pgm in.png sixteen.png
json "info --json: one object a line" "len(j) == 3 == len(open('out').readlines())"
json "info --json: a file" "j[0].items() >= {'file': 'in.pgm', 'format': 'pgm', 'width': 13, 'height': 9, 'channels': 1, 'bits': 8, 'float': False, 'bytes': 129, 'dpi_x': None}.items()"
head -c 20 in.pgm >cut.pgm
printf 'P6 50000 40000 65535\n' >huge.ppm
expect_stdout 'cut.pgm: pgm, 13 x 9, gray, 8 bits, 20 B' gpuimg info cut.pgm
expect_stdout 'huge.ppm: ppm, 50000 x 40000, RGB, 16 bits, 21 B' gpuimg info huge.ppm
expect_error 1 'info: cut.pgm: ends early*' info --check cut.pgm
expect_error 1 'info: huge.ppm: *--max-pixels*' info --check huge.ppm
expect_stdout 'in.pgm: pgm, 13 x 9, gray, 8 bits, 129 B' gpuimg info --check in.pgm
gpuimg info --json in.pgm in.png sixteen.png >out
json "info --json: 16 bits" "j[2]['bits'] == 16 and j[2]['format'] == 'png'"
cp in.pgm $'a\e"\\\xff\xc3\xa4.pgm'
expect 0 gpuimg info --json $'a\e"\\\xff\xc3\xa4.pgm'
json "info --json: a name that is no UTF-8" "j[0]['file'] == 'a\\x1b\"\\\\\\ufffd\\u00e4.pgm'"
expect 0 gpuimg info $'a\e"\\\xff\xc3\xa4.pgm'
check "info: control characters in a name are escaped" grep -q '^a.x1b' out

# devices.
expect 0 gpuimg devices
check "devices: the CPU" grep -qE '^cpu +(scalar|avx2|avx512|neon), [0-9]+ threads?,' out
check "devices has CUDA, or the reason why not" grep -qE '^cuda(:[0-9]+ .*capability| +none: .)' out
GPUIMG_CPU=scalar expect 0 gpuimg devices
check "devices: GPUIMG_CPU caps the level" grep -qE '^cpu +scalar,' out
expect 0 gpuimg devices --json
json "devices --json" "j[0]['cpu']['threads'] >= 1 and (j[0]['cuda'] == []) == (j[0]['cuda_missing'] is not None)"

finish
