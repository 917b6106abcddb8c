#!/bin/bash
# gpuimg report merge: reports of one list's shards become one, and missing parts are reported.
# Sources: cli/commands/report_merge.c cli/report/journal*
. "$(dirname "$0")/../lib.sh"

header() { # header SHARD [LIST] [FILES] [CHAIN]
    printf '{"gpuimg": "0.1.0", "chain": "%s", "list": "%s", "files": %s%s}\n' \
        "${4-gaussian --sigma 3}" "${2-00ff00ff00ff00ff}" "${3-10}" "${1:+, \"shard\": \"$1\"}"
}
item() { # item INPUT STATUS [TRY]
    printf '{"input": "%s", "output": "out/%s", "status": "%s", "try": %s}\n' "$1" "$1" "$2" "${3-1}"
}
tries() { # of the merged report in `out`: INPUT STATUS TRY
    tail -n +2 out | jq -r '"\(.input) \(.status) \(.try)"'
}
for k in 1 2 3 4; do
    { header $k/4; for ((i = k; i <= 10; i += 4)); do item "$(printf '%02d' "$i").png" done; done; } >$k.jsonl
done

# A complete set: one header without a shard, every line unchanged, in the order of names.
expect 0 gpuimg report merge 3.jsonl 1.jsonl 4.jsonl 2.jsonl
check "the header is that of the whole list" test "$(head -1 out | jq -cS .)" = "$(header '' | jq -cS .)"
check "lines are unchanged" cmp <(tail -n +2 out) <(cat [1-4].jsonl | grep input | sort)
check "no message is printed" test ! -s err
cp out all.jsonl
expect 0 gpuimg report merge [1-4].jsonl -o made.jsonl
check "-o writes the same report" cmp made.jsonl all.jsonl
check "-o prints nothing" test ! -s out
rm made.jsonl
expect 0 gpuimg report merge all.jsonl
check "a merged report can be merged again" cmp out all.jsonl
cat [1-4].jsonl >joined
expect 0 gpuimg report merge joined
check "several reports in one file" cmp out all.jsonl
"$GPUIMG" report merge - <joined >out
check "reports from standard input" cmp out all.jsonl
for what in array files; do
    expect_stdout '' gpuimg report merge [1-4].jsonl --missing $what
done

# A shard that occurs twice causes a warning: the same report, or that of a task with a wrong number.
cp 2.jsonl 2b.jsonl
for again in 2b.jsonl 2.jsonl ./2.jsonl; do
    expect 0 gpuimg report merge [1-4].jsonl $again
    check "$again: a warning names the shard" test "$(<err)" = "gpuimg: warning: report: $again: is of shard 2/4, as 2.jsonl is: for each input the last line that says it is done counts"
    check "$again: the report is the same" cmp out all.jsonl
done
expect 1 gpuimg report merge 1.jsonl 2.jsonl 2b.jsonl 4.jsonl
check 'the missing shard is counted too' test "$(wc -l <err); $(tail -n 1 err)" = '2; gpuimg: report: of 10 files 0 failed and 2 never ran'
expect 1 gpuimg report merge 1.jsonl 2.jsonl 4.jsonl
check 'without a repeated shard there is no warning' test "$(wc -l <err)" = 1
rm 2b.jsonl

# Several lines of one input: the last one that is done counts, then one that was skipped as done, then a failure.
{
    header 2/4
    item 02.png failed 1
    item 02.png done 2
    item 02.png failed 3
    item 06.png done 1
    item 06.png done 2
    item 06.png skipped 3
    item 10.png failed 1
    item 10.png skipped 2
    item 10.png failed 3
} >again.jsonl
expect 0 gpuimg report merge 1.jsonl again.jsonl 3.jsonl 4.jsonl
check "the last line that is done counts" diff <(tries | grep -E '^(02|06|10)') - <<'END'
02.png done 2
06.png done 2
10.png skipped 2
END

# So does a report of the whole list.
pgm whole.pgm 2 2
gpuimg invert whole.pgm --out-dir whole --report whole.jsonl
expect 0 gpuimg report merge whole.jsonl whole.jsonl
check "a report that is given twice causes a warning" test "$(<err)" = \
    'gpuimg: warning: report: whole.jsonl: is of the whole list, as whole.jsonl is: for each input the last line that says it is done counts'

# Killed tasks: a truncated line, an empty report, and one with a truncated header.
head -c -20 3.jsonl >cut.jsonl
expect 1 gpuimg report merge 1.jsonl 2.jsonl cut.jsonl 4.jsonl
check "a truncated line causes a warning" grep -qx 'gpuimg: warning: report: cut.jsonl: line 3 is cut short, as of a task that was killed' err
check "inputs without a line are counted" grep -qx 'gpuimg: report: of 10 files 0 failed and 1 never ran' err
check "the merged report has the other lines" test "$(wc -l <out)" = 10
# A line damaged in the middle of a report, as after a crash: its input is missing, and the others count.
for damage in 'x{"input": "07.png", "out' '{"input": "07.png", "out' '\\0\\0\\0'; do
    awk -v with="$damage" 'NR == 3 { printf with "\n"; next } { print }' 3.jsonl >damaged.jsonl
    expect 1 gpuimg report merge 1.jsonl 2.jsonl damaged.jsonl 4.jsonl
    check "a damaged line causes a warning" grep -qx 'gpuimg: warning: report: damaged.jsonl: line 3 is damaged' err
    check "its input is missing" grep -qx 'gpuimg: report: of 10 files 0 failed and 1 never ran' err
done
{ head -c 20 3.jsonl; echo; tail -n +2 3.jsonl; } >damaged.jsonl
expect_error 2 'report: damaged.jsonl: line 1 is none of a report of --report' report merge 1.jsonl damaged.jsonl
: >empty.jsonl
head -c 20 1.jsonl >start.jsonl
expect 1 gpuimg report merge 2.jsonl empty.jsonl start.jsonl --missing array
check "--missing prints tasks that never ran" grep -qx '1,3-4' out
expect 2 gpuimg report merge -o made.jsonl empty.jsonl
check "reports without headers can't be merged" grep -qx 'gpuimg: report: no report has a header: no task came as far' err
check "no report is written" test ! -e made.jsonl

# Parts that are missing.
sed 's/"done"/"failed"/' 4.jsonl >bad.jsonl
expect 1 gpuimg report merge 1.jsonl 2.jsonl cut.jsonl bad.jsonl --missing array
check "--missing prints shards for an array" grep -qx '3-4' out
expect 1 gpuimg report merge 1.jsonl bad.jsonl --missing array -o merged.jsonl
check "the merged report is written too" test "$(wc -l <merged.jsonl)" = 6
check "--missing prints ranges" grep -qx '2-4' out
expect 1 gpuimg report merge 2.jsonl 4.jsonl --missing array
check "--missing prints single numbers" grep -qx '1,3' out
for k in 1 2; do header $k/8 ff 2; item $k done; done >few.jsonl
expect_stdout '' gpuimg report merge few.jsonl --missing array
expect 1 gpuimg report merge 1.jsonl bad.jsonl --missing files
check "--missing prints failed files" diff out - <<<$'04.png\n08.png'
expect 1 gpuimg report merge 1.jsonl bad.jsonl --missing files -0
check "--missing separates names by zero bytes" cmp out <(printf '%s\0' 04.png 08.png)
check "a warning counts files that are in no report" grep -q 'warning: report: 5 that never ran are in no report: want --files-from' err

# Reports of real batches: of 7 files one is damaged, and the second of three tasks never ran.
mkdir in
for name in a b c d e 'f g'; do pgm "in/$name.pgm" 9 7; done
echo rubbish >in/bad.pgm
printf '%s\n' in/*.pgm | sort -r >list
for k in 1 3; do
    expect $((k == 3)) gpuimg blur --files-from list --out-dir res --shard $k/3 --report part-$k.jsonl
done
expect 1 gpuimg report merge part-*.jsonl --missing files --files-from list
check "--missing prints files that failed or never ran" diff out - <<<$'in/b.pgm\nin/bad.pgm\nin/d.pgm'
tr '\n' '\0' <list >list0
expect 1 gpuimg report merge part-*.jsonl --missing files --files-from list0 -0
check "--missing with zero bytes prints the same" cmp out <(printf '%s\0' in/b.pgm in/bad.pgm in/d.pgm)
expect 1 gpuimg report merge part-*.jsonl --missing files --files-from in
check "--missing with a folder prints the same" test "$(wc -l <out)" = 3
expect 1 gpuimg report merge part-*.jsonl --missing array
check "--missing prints the same as shards" grep -qx '2-3' out
head -6 list >short
expect_error 2 'report: --files-from short: is another list: *' report merge part-1.jsonl --missing files --files-from short
expect 0 gpuimg blur --files-from list --out-dir res --shard 2/3 --report part-2.jsonl
expect 2 gpuimg blur --files-from list --out-dir res --shard 3/3 --report part-2.jsonl --resume
check "a report of another shard is not continued" \
    grep -qx 'gpuimg: blur: --resume: the report part-2.jsonl is of shard 2/3, want shard 3/3' err


# Reports that are refused.
{ header 1/4 1111; item a done; } >list.jsonl
{ header 1/4 00ff00ff00ff00ff 11; item a done; } >files.jsonl
{ header 1/4 00ff00ff00ff00ff 10 blur; item a done; } >chain.jsonl
expect_error 2 'report: list.jsonl: is of another list: 1111 with 10 files, 1.jsonl is of 00ff00ff00ff00ff with 10' report merge 1.jsonl list.jsonl
expect_error 2 'report: files.jsonl: is of another list: *' report merge 1.jsonl files.jsonl -o made.jsonl
expect_error 2 'report: chain.jsonl: is of another chain: blur, 1.jsonl is of gaussian --sigma 3' report merge 1.jsonl chain.jsonl
{ header 1/4 ff 1; item a done; item b done; } >more.jsonl
expect_error 2 'report: reports name 2 inputs of a list of 1 files' report merge more.jsonl
item a done >headless.jsonl
expect_error 2 'report: headless.jsonl: line 1 is none of a report*' report merge headless.jsonl
pgm in.pgm 5 5
expect_error 2 'report: in.pgm: line 1 is none of a report*' report merge 1.jsonl in.pgm
expect_error 2 'report: none.jsonl: No such file*' report merge 1.jsonl none.jsonl
expect_error 2 'report: *: its header lacks*' report merge <(header 5/4)
expect_error 2 'report: *: its header lacks*' report merge <(header auto)
expect_error 2 'report: --missing array: want reports of --shard' report merge <(header '') --missing array
{ header 1/5; item 01.png done; } >five.jsonl
expect_error 2 'report: --missing array: want reports of one number of shards*' report merge 1.jsonl five.jsonl --missing array
expect_error 2 'report: joining: want merge REPORT...' report joining 1.jsonl
expect_error 2 'report: want merge REPORT..., got merge*' report merge
expect_error 2 'report: 1.jsonl: would be written over the input*' report merge 1.jsonl -o 1.jsonl
sed 's/0\.1\.0/0.0.9/' 2.jsonl >old.jsonl
expect 0 gpuimg report merge 1.jsonl old.jsonl 3.jsonl 4.jsonl
check "a report of another version causes a warning" grep -q 'warning: report: old.jsonl: is of version 0.0.9, 1.jsonl of 0.1.0' err
full() { "$GPUIMG" report merge part-1.jsonl --missing array >/dev/full; }
expect 75 full
check "--missing: a full disk is named" grep -qx 'gpuimg: report: standard output: No space left on device' err
finish
