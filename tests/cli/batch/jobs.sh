#!/bin/bash
# gpuimg jobs: command lines in one process.
# Sources: cli/commands/jobs* cli/run/session* cli/main.c cli/process* cli/stop*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 40 30
cp in.pgm 'a "b".pgm'
field() { jq -r "select(.line == $2) | .$1" results; }

cat >lines <<'END'
# comment
gpuimg blur in.pgm 'o 1.pgm' --k 5

median in.pgm o2.pgm --k 3   # behind
gray in.pgm "o\"3.pgm"
invert 'a "b".pgm' o4.pgm
--device cpu rotate in.pgm o5.pgm --angle 7
montage in.pgm in.pgm o6.pgm --cell 16x16
resize in.pgm 'a "b".pgm' --size 50% --out-dir many
nosuch in.pgm o.pgm
blur missing.pgm o.pgm
blur in.pgm o.pgm --k 4
info in.pgm
stats in.pgm --json
compare in.pgm o2.pgm
blur in.pgm png:-
convert - o.pgm
jobs lines
--fail-fast jobs lines
blur "in.pgm
stack in.pgm in.pgm o7.pgm
run 'gaussian --sigma 2 | stats' in.pgm
END
rm -f results
gpuimg jobs lines >results 2>messages
check "the exit status is 1 if a line failed" test $? = 1
check "a result per line, in order" test "$(jq -r .line results | xargs)" = '2 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22'
check "the statuses" test "$(jq -r .status results | xargs)" = '0 0 0 0 0 0 0 2 1 2 0 0 1 2 1 2 2 2 0 0'
check "the command is the first word" test "$(field command 7) $(field command 2)" = '--device blur'
check "seconds" test "$(jq 'select(.seconds < 0)' results)" = ''
check "a failed line leaves nothing" test ! -e o.pgm
# Each line has done what a process of its own does: the same bytes, status, text and message.

gpuimg blur in.pgm want.pgm --k 5 && check "blur" cmp want.pgm 'o 1.pgm'
gpuimg median in.pgm want.pgm --k 3 && check "median" cmp want.pgm o2.pgm
check "an escaped quotation mark" test -e 'o"3.pgm'
gpuimg invert in.pgm want.pgm && check "invert" cmp want.pgm o4.pgm
gpuimg rotate in.pgm want.pgm --angle 7 && check "an option before the command" cmp want.pgm o5.pgm
gpuimg montage in.pgm in.pgm want.pgm --cell 16x16 && check "montage" cmp want.pgm o6.pgm
gpuimg resize in.pgm want.pgm --size 50% && check "a batch" cmp want.pgm 'many/a "b".pgm'
gpuimg stack in.pgm in.pgm want.pgm && check "stack" cmp want.pgm o7.pgm
check "what a line prints is its output" test "$(field output 13)" = "$(gpuimg info in.pgm)"
check "JSON is text in the output" test "$(field output 14)" = "$(gpuimg stats in.pgm --json)"
check "a chain" test "$(field output 22)" = "$(gpuimg run 'gaussian --sigma 2 | stats' in.pgm)"
check "no output is null" test "$(field output 2)" = null
for line in 10 'nosuch in.pgm o.pgm' 11 'blur missing.pgm o.pgm' 12 'blur in.pgm o.pgm --k 4'; do
    [[ $line =~ ^[0-9]+$ ]] && number=$line && continue
    # shellcheck disable=SC2086 # words
    said=$(gpuimg $line 2>&1)
    check "line $number: the message is that of its own process" grep -qFx "$said" messages
    check "line $number: the error is in the result" test "${said%"$(field error $number)"}" != "$said"
done
check "an image is not printed" test "$(field error 16)" = 'what the line prints is no text: want a file as its output'
check "standard input is empty" test "$(field error 17)" = 'standard input: is empty, want an image'
check "jobs is no line" test "$(field error 18)" = 'is a line of jobs, want another command'
check "an open quotation mark" test "$(field error 20)" = 'the quotation mark " is not closed'

check "jobs is no line, with an option before it" test "$(field error 19)" = 'is a line of jobs, want another command'

# The first message is the error also if it was logged before the end, and if several were.
cat >logged <<'END'
info missing.pgm
info missing.pgm in.pgm missing2.pgm
duplicates missing.pgm
hash --table - missing.pgm
resize missing.pgm --sizes 3,4 --out-dir many
info in.pgm
END
gpuimg jobs logged >results 2>messages
check "the statuses of logged errors" test "$(jq -r .status results | xargs)" = '1 1 1 1 1 0'
check "the first logged message is the error" test "$(jq -r .error results | sort | uniq -c | sed 's/^ *//')" = \
    $'5 missing.pgm: No such file or directory\n1 null'

# From standard input; --fail-fast ends after the first failure.
gpuimg jobs - --fail-fast <lines >out 2>err
check "--fail-fast: the exit status" test $? = 1
check "--fail-fast" test "$(jq -r .line out | tail -1)" = 10
printf 'info in.pgm\r\ninfo in.pgm' >two
gpuimg jobs - <two >out
check "ends of lines of Windows, and none at the end" test "$(jq -r .status out | xargs)" = '0 0'
expect 0 gpuimg jobs /dev/null
check "no lines, no results" test ! -s out
printf 'info in.pgm\0x\n' >zero
expect 1 gpuimg jobs zero
expect_error 1 'jobs: nowhere: No such file or directory' jobs nowhere
expect_error 2 'jobs: want FILE, got nothing *' jobs

# Words are those of a shell: bash is the oracle.
while IFS= read -r line; do
    eval "words=($line)"
    mkdir -p words
    (cd words && rm -f -- *)
    printf 'convert in.pgm %s\n' "$line" >one
    ((${#words[@]} == 1)) || continue
    expect 0 gpuimg jobs one
    check "word $line" test -e "${words[0]}"
done <<'END'
words/a\ b.pgm
words/'a b'.pgm
words/"a b".pgm
words/"a\"b\\c".pgm
words/a\'b.pgm
words/'a"\b'.pgm
words/a""b''.pgm
words/"a'b".pgm
words/a#b.pgm
words/\#a\\.pgm
END

# A program that waits for each result; threads and devices stay as they are.
if [[ -d /proc/self/task && -z ${EMULATOR-} ]]; then
    coproc { "$GPUIMG" jobs - 2>/dev/null; }
    pid=$COPROC_PID
    for ((i = 0; i < 40; i++)); do
        echo "blur in.pgm p$((i % 2)).pgm many.pgm --out-dir many --threads 2" >&"${COPROC[1]}"
        read -r answer <&"${COPROC[0]}"
        ((i == 4)) && before=$(find "/proc/$pid/task" -maxdepth 1 | wc -l)
    done
    after=$(find "/proc/$pid/task" -maxdepth 1 | wc -l)
    check "the last answer" test "$(jq -r .line <<<"$answer")" = 40
    check "threads are kept" test "$after" = "$before"
    exec {COPROC[1]}>&-
    wait "$pid"
fi
# A full disk and a reader that has gone.
if [[ -w /dev/full ]]; then
    gpuimg jobs two >/dev/full 2>err
    check "results that can't be written" test $? = 1
fi
finish
