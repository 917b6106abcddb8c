#!/bin/bash
# --report and --resume of tars: one line per member and per tar, repeated work, messages of report merge.
# Usage: tar_report.sh GPUIMG
# Sources: cli/inputs/tar_source*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir -p in/sub
pgm in/0.pgm 40 30
gpuimg convert in/0.pgm in/1.png
gpuimg convert in/0.pgm in/sub/2.tif
echo 7 >in/0.cls
head -c 3000000 /dev/urandom >in/video.bin
for i in 1 2 3 4; do tar cf x-$i.tar --format ustar --sort=name in; done

# lines FILE: prints tar, input, output and status of each line after the header.
lines() {
    python3 -c 'import json, sys
for line in list(open(sys.argv[1]))[1:]:
    line = json.loads(line)
    print(line.get("tar", "-"), line["input"], line["output"], line["status"])' "$1"
}

expect 0 gpuimg blur --tar --suffix .png 'x-{1..2}.tar' 'y-{1..2}.tar' --report r.jsonl
for i in 1 2; do
    cat <<END
x-$i.tar x-$i.tar:in/ y-$i.tar:in/ passed
x-$i.tar x-$i.tar:in/0.cls y-$i.tar:in/0.cls passed
x-$i.tar x-$i.tar:in/0.pgm y-$i.tar:in/0.png done
x-$i.tar x-$i.tar:in/1.png y-$i.tar:in/1.png done
x-$i.tar x-$i.tar:in/sub/ y-$i.tar:in/sub/ passed
x-$i.tar x-$i.tar:in/sub/2.tif y-$i.tar:in/sub/2.png done
x-$i.tar x-$i.tar:in/video.bin y-$i.tar:in/video.bin passed
- x-$i.tar y-$i.tar done
END
done >want
check 'one line per member, in order, followed by one per tar' diff <(lines r.jsonl) want
check 'lines have sizes, times and stages, the header has the hash of the list' python3 -c '
import json, os, tarfile
lines = [json.loads(line) for line in open("r.jsonl")]
hash = 0xcbf29ce484222325
for byte in b"x-1.tar\0x-2.tar\0":
    hash = (hash ^ byte) * 0x100000001b3 % 2**64
assert lines[0]["files"] == 2 and lines[0]["list"] == "%016x" % hash, lines[0]
assert lines[0]["chain"].startswith("blur --tar --suffix"), lines[0]
for line in lines[1:]:
    for side in "input", "output":
        tar, _, name = line[side].partition(":")
        if name:
            assert line[side + "_bytes"] == tarfile.open(tar).getmember(name.rstrip("/")).size, line
        else:
            stat = os.stat(tar)
            assert line[side + "_bytes"] == stat.st_size and line[side + "_mtime_ns"] == stat.st_mtime_ns, line
    if line["status"] == "done" and "tar" in line:
        assert (line["width"], line["height"], line["type"]) == (40, 30, "u8"), line
        assert line["ms"]["encode"] > 0, line'

# --resume skips finished tars and makes those that are new or have changed.
stat -c '%n %y' y-*.tar >before
cp r.jsonl first.jsonl
expect 0 gpuimg blur --tar --suffix .png 'x-{1..2}.tar' 'y-{1..2}.tar' --report r.jsonl --resume
check '--resume leaves finished tars' diff before <(stat -c '%n %y' y-*.tar)
check '--resume leaves the report' cmp r.jsonl first.jsonl
touch x-2.tar
expect 0 gpuimg blur --tar --suffix .png 'x-{1..2}.tar' 'y-{1..2}.tar' --report r.jsonl --resume
check 'a changed time of an input repeats its tar' test "$(stat -c '%n %y' y-*.tar | comm -13 before - | cut -c-7)" = y-2.tar
check 'the report has its lines once' diff <(lines r.jsonl) want
stat -c '%n %y' y-*.tar >before
echo >>y-1.tar
expect 0 gpuimg blur --tar --suffix .png 'x-{1..3}.tar' 'y-{1..3}.tar' --report r.jsonl --resume
check 'a changed size of an output, and a new tar' test "$(stat -c '%n %y' y-*.tar | comm -13 before - | cut -c-7 | tr '\n' ' ')" = 'y-1.tar y-3.tar '
check 'the report has all lines once' test "$(lines r.jsonl | sort | uniq | wc -l)" = 24
expect_error 2 'blur: --resume: the report r.jsonl is of "blur --tar --suffix *", want "blur --tar*"' \
    blur --tar 'x-{1..3}.tar' 'made-{1..3}.tar' --report r.jsonl --resume

# A report whose run was killed within a tar: the lines of that tar's members are dropped.
expect 0 gpuimg blur --tar 'x-{1..3}.tar' 'z-{1..3}.tar' --report k.jsonl
lines k.jsonl >want
head -n 12 k.jsonl >cut.jsonl
printf '{"input": "x-2.t' >>cut.jsonl
rm z-2.tar z-3.tar
stat -c '%n %y' z-1.tar >before
expect 0 gpuimg blur --tar 'x-{1..3}.tar' 'z-{1..3}.tar' --report cut.jsonl --resume
check 'no line occurs twice' diff <(lines cut.jsonl) want
check 'the first tar is unchanged' diff before <(stat -c '%n %y' z-1.tar)
check 'the other tars are made' test -s z-2.tar -a -s z-3.tar

# Members that fail: they are named, and their tar is repeated.
printf 'P5 40 30 255\nshort' >in/0.pgm
tar cf x-2.tar --format ustar --sort=name in
expect 1 gpuimg blur --tar 'x-{1..3}.tar' 'z-{1..3}.tar' --report bad.jsonl
check 'the member has failed' grep -q '"input": "x-2.tar:in/0.pgm".*"status": "failed", "error": "x-2.tar: in/0.pgm: ends early' bad.jsonl
check 'its tar has failed' grep -q '"input": "x-2.tar", "output": "z-2.tar", "status": "failed", "error": "1 member was left out"' bad.jsonl
expect 1 gpuimg report merge bad.jsonl
check 'report merge counts tars' grep -qx 'gpuimg: report: of 3 files 1 failed and 0 never ran' err
check 'report merge keeps the lines of members' test "$(wc -l <out)" = 25
expect 1 gpuimg report merge bad.jsonl --missing files
check '--missing names the tar' diff out - <<<x-2.tar
cp x-1.tar x-2.tar
expect 0 gpuimg blur --tar 'x-{1..3}.tar' 'z-{1..3}.tar' --report bad.jsonl --resume
expect 0 gpuimg report merge bad.jsonl

# Shards of the list, one of which never ran, and one that is truncated.
for k in 1 3; do expect 0 gpuimg blur --tar --shard $k/3 'x-{1..4}.tar' 'z-{1..4}.tar' --report part-$k.jsonl; done
expect 1 gpuimg report merge part-*.jsonl --missing array
check '--missing names the shard' diff out - <<<2
printf '%s\n' x-{1..4}.tar >list
expect 1 gpuimg report merge part-*.jsonl --missing files --files-from list
check '--missing names the tar' diff out - <<<x-2.tar
head -c 5000 x-1.tar >x-3.tar
expect 1 gpuimg blur --tar 'x-{1..4}.tar' 'z-{1..4}.tar' --report cut.jsonl
check 'a truncated tar has failed' grep -q '"input": "x-3.tar", "output": "z-3.tar", "status": "failed", "error": "x-3.tar: ' cut.jsonl
check 'members before the truncation are done' test "$(lines cut.jsonl | grep -c '^- .* done$')" = 3
cp x-1.tar x-3.tar

# --fail-fast: the tar that ended the batch has failed, and later tars have no line.
cp in/0.pgm in/bad.pgm
tar cf x-2.tar --format ustar in/bad.pgm in/0.cls in/1.png
expect 1 gpuimg blur --tar 'x-{1..4}.tar' 'fast-{1..4}.tar' --report fast.jsonl --fail-fast
check '--fail-fast: lines end at the failed tar' test "$(lines fast.jsonl | tail -n +9 | tr '\n' ';')" = \
    'x-2.tar x-2.tar:in/bad.pgm fast-2.tar:in/bad.pgm failed;- x-2.tar fast-2.tar failed;'
cp x-1.tar x-2.tar

# Many tars into one: all members are written, or none.
expect 0 gpuimg blur --tar 'x-{1..4}.tar' joined.tar --report joined.jsonl
check 'each tar has its line' test "$(lines joined.jsonl | grep -c '^- x-.*.tar joined.tar done$')" = 4
rm joined.tar
expect 0 gpuimg blur --tar 'x-{1..4}.tar' joined.tar --report joined.jsonl --resume
check 'the joined tar is made again' test -s joined.tar

# Pipes, and failures of the machine.
"$GPUIMG" blur --tar - - --report pipe.jsonl <x-1.tar >got.tar
check 'pipes have their lines' test "$(lines pipe.jsonl | tail -n 1)" = '- - - done'
check 'members of pipes have their lines' grep -q '"input": "-:in/1.png", "output": "-:in/1.png", "tar": "-", "status": "done"' pipe.jsonl
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" blur --tar 'x-{1..4}.tar' 'lost-{1..4}.tar' --report lost.jsonl
check 'a lost device: finished tars are reported as done' test "$(lines lost.jsonl | grep -c '^- .* done$')" = "$(find . -name 'lost-?.tar' | wc -l)"
check 'a lost device: the last tar has failed' test "$(lines lost.jsonl | tail -n 1 | cut -d' ' -f 4)" = failed
expect 0 gpuimg blur --tar 'x-{1..4}.tar' 'lost-{1..4}.tar' --report lost.jsonl --resume
for i in 1 2 3 4; do check "the next run makes the rest, $i" cmp lost-$i.tar z-1.tar; done
expect 75 gpuimg blur --tar x-1.tar y-1.tar --report /dev/full

# No memory for a member: the tar does not appear, because the next run would leave it incomplete.
{ printf 'P5 9000 9000 255\n'; head -c 81000000 /dev/zero; } | gpuimg convert - png:in/7.png
tar cf large.tar in/7.png in/1.png
small() { ulimit -v 120000; "$GPUIMG" blur --tar large.tar made.tar --threads 2 --report made.jsonl; }
if sanitized; then
    skip 'memory of tars: a sanitizer needs memory of its own'
else
    (small) 2>err
    if (($? == 75)); then pass; else fail 'no memory: exit status' "$(<err)"; fi
    check 'no memory: the message says that the machine failed' grep -qx 'gpuimg: blur: made.tar: is not written: the machine failed, not its members: try again' err
    check 'no memory: the report has the failure' test "$(lines made.jsonl | tail -n 1)" = '- large.tar made.tar failed'
    check 'no memory: no tar appears' test ! -e made.tar
    rm -f made.jsonl
fi

# A signal: members that were written have their lines, their tar has none, and the next run makes it.
python3 - "$GPUIMG" <<'PY'
import os, signal, subprocess, sys, time
worker = subprocess.Popen([sys.argv[1], "blur", "--tar", "-", "made.tar", "--report", "term.jsonl"], stdin=subprocess.PIPE)
worker.stdin.write(open("x-1.tar", "rb").read()[:4096])
worker.stdin.flush()
for i in range(500):
    if os.path.exists("term.jsonl") and len(open("term.jsonl").readlines()) > 2: break
    time.sleep(0.02)
worker.send_signal(signal.SIGTERM)
open("term.status", "w").write(str(worker.wait(60)))
PY
check 'SIGTERM: the exit status is 143' test "$(<term.status)" = 143
check 'SIGTERM: the report has only members' test "$(lines term.jsonl | cut -d' ' -f 1 | sort -u)" = - -a "$(lines term.jsonl | grep -c '^- - ')" = 0
check 'SIGTERM: no tar appears' test ! -e made.tar
rm -f term.*

# Killed at random moments and resumed: the same tars, and a complete report.
mkdir many
for i in {1..60}; do
    for j in 1 2 3 4; do cp in/1.png many/$j.png; done
    tar cf k-$i.tar --format ustar --sort=name many
done
start=$EPOCHREALTIME
expect 0 gpuimg blur --tar 'k-{1..60}.tar' 'whole-{1..60}.tar' --report whole.jsonl
took=$((${EPOCHREALTIME/./} - ${start/./}))
lines whole.jsonl | sed 's/whole-/res-/g' >want
killed=0
for ((round = 0; round < 6; round++)); do
    rm -f res-*.tar res.jsonl
    for i in {1..60}; do echo old >res-$i.tar; done
    "$GPUIMG" blur --tar 'k-{1..60}.tar' 'res-{1..60}.tar' --report res.jsonl 2>/dev/null &
    sleep "$(printf '%d.%06d' $((us = SRANDOM % took, us / 1000000)) $((us % 1000000)))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    (($? == 137)) && ((killed++))
    expect 0 gpuimg blur --tar 'k-{1..60}.tar' 'res-{1..60}.tar' --report res.jsonl --resume
    check "killed, round $round: the report" diff <(lines res.jsonl) want
    for i in {1..60}; do cmp whole-$i.tar res-$i.tar || break; done >check.log 2>&1
    check "killed, round $round: the tars" test ! -s check.log
done
check 'some runs were killed' test $killed -gt 0

# Options that are refused.
expect_error 2 'blur: --report x-1.tar: is among the tars, want another file' blur --tar x-1.tar made.tar --report x-1.tar
expect_error 2 'blur: --report ./made.tar: is an output too, want another file' blur --tar x-1.tar made.tar --report ./made.tar
expect_error 2 'blur: --report: x-1.tar is among the tars twice, want it once' \
    blur --tar 'x-{1,1}.tar' 'made-{1,2}.tar' --report made.jsonl
expect_error 2 'blur: --report -: is where the tar goes, want a file' blur --tar x-1.tar - --report -
expect_error 2 'blur: --resume: want a file as --report, not standard output' blur --tar x-1.tar made.tar --report - --resume
pgm one.pgm 5 5
expect_error 2 'histogram: --report -: is where the table goes, want a file' histogram one.pgm --table - --report -
finish
