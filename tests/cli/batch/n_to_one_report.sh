#!/bin/bash
# Reports of N-to-one commands, which make one image of several: stack, montage, merge.
# Sources: cli/inputs/n_to_one* cli/commands/montage.c cli/commands/merge_layers.c cli/commands/stack*
. "$(dirname "$0")/../lib.sh"

for i in 1 2 3; do pgm $i.pgm 9 $((4 + i)); done
for i in 1 2 3; do pgm s$i.pgm 9 5; done
for i in 1 2 3; do gpuimg channels join s$i.pgm s$i.pgm l$i.pam; done
lines() { jq -r 'select(.status) | "\(.input) \(.output) \(.inputs) \(.status) \(.width)x\(.height) \(.input_bytes) \(.output_bytes)"' "$1"; }
size() { stat -c %s "$1"; }

expect 0 gpuimg stack --by median s1.pgm s2.pgm s3.pgm mid.pgm --report r.jsonl --threads 2
check 'stack: one line per input and one for the result' test "$(lines r.jsonl)" = \
"s1.pgm null null done 9x5 $(size s1.pgm) 0
s2.pgm null null done 9x5 $(size s2.pgm) 0
s3.pgm null null done 9x5 $(size s3.pgm) 0
null mid.pgm 3 done 9x5 $((3 * $(size s1.pgm))) $(size mid.pgm)"
check 'stack: the report has the command and the number of files' test "$(head -1 r.jsonl | jq -r '"\(.chain) \(.files)"')" = 'stack --method median 3'
check 'stack: the report has the times of the files' grep -q "\"s1.pgm\".*\"input_mtime_ns\": $(date -r s1.pgm +%s%N)," r.jsonl
check 'stack: the report has the times of the stages' jq -se '[.[] | select(.inputs)][0].ms | .decode > 0 and .kernels > 0 and .encode > 0' r.jsonl
gpuimg stack --by median s1.pgm s2.pgm s3.pgm mid2.pgm
check 'stack: a report does not change the bytes' cmp mid.pgm mid2.pgm
expect 0 gpuimg montage 1.pgm 2.pgm 3.pgm sheet.png --cell 8x8 --report m.jsonl
check 'montage: one line per input and one for the result' test "$(lines m.jsonl)" = \
"1.pgm null null done 9x5 $(size 1.pgm) 0
2.pgm null null done 9x6 $(size 2.pgm) 0
3.pgm null null done 9x7 $(size 3.pgm) 0
null sheet.png 3 done 40x40 $(($(size 1.pgm) + $(size 2.pgm) + $(size 3.pgm))) $(size sheet.png)"
check 'montage: the report has the command and the number of files' test "$(head -1 m.jsonl | jq -r '"\(.chain) \(.files)"')" = 'montage --cell 8x8 3'
# The places of the inputs in the sheet: a crop at the place of an input is its image.
expect 0 gpuimg montage 1.pgm 2.pgm 3.pgm sprites.pgm --cell 12x20 --gap 3 --no-enlarge --gravity southeast --report places.jsonl
for i in 1 2 3; do
    size=$(jq -r "select(.input == \"$i.pgm\").place | \"\(.width)x\(.height)+\(.x)+\(.y)\"" places.jsonl)
    expect 0 gpuimg crop sprites.pgm cut.pgm --size "$size"
    check "montage: the place of input $i" cmp cut.pgm $i.pgm
done
expect 0 gpuimg merge l1.pam l2.pam l3.pam whole.pam --report l.jsonl
check 'merge: one line per input and one for the result' test "$(lines l.jsonl | cut -d' ' -f 1-5 | tr '\n' ';')" = \
    'l1.pam null null done 9x5;l2.pam null null done 9x5;l3.pam null null done 9x5;null whole.pam 3 done 9x5;'
for command in montage merge; do
    report=${command:0:1}.jsonl
    [[ $command == merge ]] && report=l.jsonl
    check "$command: the report has the times of the stages" jq -se '[.[] | select(.inputs)][0].ms | .decode > 0 and .kernels > 0 and .encode > 0' $report
done

# The same inputs give the same hash, and the report can be merged: its inputs count, the result does not.
gpuimg stack s3.pgm s2.pgm s1.pgm x.pgm --report x.jsonl
check 'the report has the hash of the list' test "$(head -1 x.jsonl | jq .list)" = "$(head -1 r.jsonl | jq .list)"
for report in r m l; do
    expect 0 gpuimg report merge $report.jsonl --out joined.jsonl
    check "report merge accepts $report" test "$(wc -l <joined.jsonl)" = 5
done

# A failure is reported by the line of its input and by that of the result; no image is written.
head -c 30 s2.pgm >cut.pgm
expect_error 1 'stack: cut.pgm: ends early*' stack s1.pgm cut.pgm s3.pgm made.pgm --report r.jsonl --threads 1
check 'stack: an unreadable input has failed' test "$(lines r.jsonl | cut -d' ' -f 1-4 | tr '\n' ';')" = \
    's1.pgm null null done;cut.pgm null null failed;null made.pgm 3 failed;'
check 'stack: the error is the same in both lines' test "$(jq -r 'select(.error) | .error' r.jsonl | uniq | wc -l)" = 1
expect_error 1 'stack: 2.pgm: has 9 x 6 pixels *' stack s1.pgm 2.pgm made.pgm --report r.jsonl
check 'stack: an input of another shape has failed' test "$(lines r.jsonl | cut -d' ' -f 1-4 | tr '\n' ';')" = 's1.pgm null null done;2.pgm null null failed;null made.pgm 2 failed;'
expect_error 1 'montage: cut.pgm: ends early*' montage 1.pgm cut.pgm 2.pgm made.png --report m.jsonl
check 'montage: an unreadable input has failed' test "$(lines m.jsonl | cut -d' ' -f 1-4 | tr '\n' ';')" = \
    '1.pgm null null done;cut.pgm null null failed;null made.png 3 failed;'
expect_error 1 'merge: 2.pgm: is 9 x 6, want 9 x 5 as the first layer' merge 1.pgm 2.pgm made.png --report l.jsonl
check 'merge: an input of another shape has failed' test "$(lines l.jsonl | cut -d' ' -f 1-4 | tr '\n' ';')" = '1.pgm null null done;2.pgm null null failed;null made.png 2 failed;'
expect_error 1 'merge: nowhere.pgm: No such file *' merge nowhere.pgm 2.pgm made.png --report l.jsonl
check 'merge: an unreadable first input has failed' test "$(lines l.jsonl | cut -d' ' -f 1-4 | tr '\n' ';')" = 'nowhere.pgm null null failed;null made.png 2 failed;'
if [[ -w /dev/full ]]; then
    expect 75 gpuimg montage 1.pgm 2.pgm png:/dev/full --report m.jsonl
    check 'montage: an unwritable result has failed' test "$(lines m.jsonl | cut -d' ' -f 1-4 | tail -1)" = 'null /dev/full 2 failed'
fi

for command in stack montage merge; do
    expect_error 2 "$command: --report ./s1.pgm: is the input too, want another file" $command s2.pgm s1.pgm made.pgm --report ./s1.pgm
    expect_error 2 "$command: --report ./made.pgm: is the output too, want another file" $command s2.pgm s1.pgm made.pgm --report ./made.pgm
    expect_error 2 "$command: --report -: is where the images go, want a file" $command s2.pgm s1.pgm pgm:- --report -
    expect 0 gpuimg $command s2.pgm s1.pgm here.pgm --report -
    check "$command: the report on standard output" test "$(jq -r .status out | tr '\n' ' ')" = 'null done done done '
done
finish
