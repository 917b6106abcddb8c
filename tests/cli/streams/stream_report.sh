#!/bin/bash
# --report of streams: one line per image, frame or plane, and at the end one for the stream.
# Usage: stream_report.sh GPUIMG
# Sources: cli/inputs/stream.c cli/report/report*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

pgm a.pgm 31 17
pgm b.pgm 64 48
cat a.pgm b.pgm a.pgm >three.pgm
{ cat a.pgm b.pgm; head -c 300 b.pgm; } >cut.pgm
# video FILE FRAMES: writes a video, 4:2:0, 16 x 8.
video() {
    printf 'YUV4MPEG2 W16 H8 F25:1 C420jpeg\n'
    for ((i = 0; i < $1; i++)); do printf 'FRAME\n'; head -c 192 /dev/zero | tr '\0' "\\$((101 + i))"; done
}
video 3 >in.y4m

# lines FILE: prints stream, input, output and status of each line after the header.
lines() {
    python3 -c 'import json, sys
for line in list(open(sys.argv[1]))[1:]:
    line = json.loads(line)
    print(line.get("stream", "none"), line["input"], line["output"], line["status"], sep="|")' "$1"
}

# From pipe to pipe; a single image is a stream too.
"$GPUIMG" gaussian --sigma 2 - - --report r.jsonl <three.pgm >got
cat three.pgm | gpuimg gaussian --sigma 2 - - >want
check 'a report does not change the stream' cmp got want
for i in 1 2 3; do echo "-|standard input: image $i|-|done"; done >want
echo 'none|-|-|done' >>want
check 'one line per image and one for the stream' diff <(lines r.jsonl) want
check 'lines have sizes and times, and the header describes the batch' python3 -c '
import json
head, *lines, whole = [json.loads(line) for line in open("r.jsonl")]
hash = 0xcbf29ce484222325
for byte in b"-\0":
    hash = (hash ^ byte) * 0x100000001b3 % 2**64
assert head["files"] == 1 and head["list"] == "%016x" % hash and head["chain"].startswith("gaussian --sigma 2"), head
assert [(l["width"], l["height"], l["channels"], l["type"]) for l in lines] == [(31, 17, 1, "u8"), (64, 48, 1, "u8"), (31, 17, 1, "u8")], lines
assert [l["output_bytes"] for l in lines] == [13 + 31 * 17, 13 + 64 * 48, 13 + 31 * 17], lines
assert whole["output_bytes"] == sum(l["output_bytes"] for l in lines)
assert whole["input_bytes"] == sum(l["input_bytes"] for l in lines) == len(open("three.pgm", "rb").read())
assert abs(whole["ms"]["kernels"] - sum(l["ms"]["kernels"] for l in lines)) < 0.01'
# Times are in microseconds: with this many pixels every stage takes at least one on any machine.
pgm large.pgm 640 480
expect 0 gpuimg gaussian --sigma 2 large.pgm out.pgm --report r.jsonl
check 'stages have times' python3 -c '
import json
head, line, whole = [json.loads(line) for line in open("r.jsonl")]
assert all(line["ms"][stage] > 0 and whole["ms"][stage] > 0 for stage in ("decode", "kernels", "encode")), line'
for from in a.pgm -; do
    rm -f got r.jsonl
    cat a.pgm | gpuimg run blur $from pgm:- --report r.jsonl >got
    gpuimg blur a.pgm - --format pgm >want
    check "one image: the bytes are the same, $from" cmp got want
    check "one image: one line and one for the stream, $from" test "$(lines r.jsonl | cut -d'|' -f 1,4 | tr '\n' ' ')" = "$from|done none|done "
done
expect 0 gpuimg convert --force three.pgm out.pgm --report r.jsonl
check 'lines of a stream from file to file' test "$(lines r.jsonl | tail -n 2 | tr '\n' ' ')" = 'three.pgm|three.pgm: image 3|out.pgm|done none|three.pgm|out.pgm|done '
check 'the line of the stream has size and time of the files' python3 -c '
import json, os
whole = json.loads(list(open("r.jsonl"))[-1])
for side, name in ("input", "three.pgm"), ("output", "out.pgm"):
    stat = os.stat(name)
    assert (whole[side + "_bytes"], whole[side + "_mtime_ns"]) == (stat.st_size, stat.st_mtime_ns), whole'
expect 0 gpuimg report merge r.jsonl
check 'report merge counts the stream' test "$(wc -l <out)" = 5

# Video: one line per frame, or for tables one per plane.
expect 0 gpuimg blur in.y4m out.y4m --report r.jsonl
for i in 1 2 3; do echo "in.y4m|in.y4m: frame $i|out.y4m|done"; done >want
echo 'none|in.y4m|out.y4m|done' >>want
check 'one line per frame' diff <(lines r.jsonl) want
check 'a frame counts three planes' python3 -c '
import json
for line in map(json.loads, list(open("r.jsonl"))[1:-1]):
    assert (line["width"], line["height"], line["channels"], line["input_bytes"], line["output_bytes"]) == (16, 8, 3, 192, 192), line'
expect 0 gpuimg histogram in.y4m --table t.csv --report r.jsonl
check 'tables: one line per plane, named as in the table' diff <(lines r.jsonl | sed '$d' | cut -d'|' -f 2) <(tail -n +2 t.csv | cut -d, -f 1 | uniq)
check 'tables: one line for the stream' test "$(lines r.jsonl | tail -n 1)" = 'none|in.y4m|None|done'
expect 0 gpuimg run 'blur | histogram' three.pgm --table t.csv --report r.jsonl
check 'tables: one line per image' diff <(lines r.jsonl | sed '$d' | cut -d'|' -f 2) <(tail -n +2 t.csv | cut -d, -f 1 | uniq)

# Truncated streams, failed writes, lost devices.
expect 1 gpuimg blur cut.pgm made.pgm --report r.jsonl
check 'truncated: lines of the images before and of the stream' test "$(lines r.jsonl | cut -d'|' -f 4 | tr '\n' ' ')" = 'done done failed failed '
check 'truncated: the line has the error' grep -q '"input": "cut.pgm", "output": "made.pgm", "status": "failed", "error": "cut.pgm: image 3: ends early' r.jsonl
expect 1 gpuimg report merge r.jsonl
check 'truncated: report merge counts the failure' grep -qx 'gpuimg: report: of 1 files 1 failed and 0 never ran' err
{ video 2; printf 'FRAME\n1234'; } >cut.y4m
expect 1 gpuimg blur cut.y4m made.y4m --report r.jsonl
check 'a truncated frame has failed' test "$(lines r.jsonl | cut -d'|' -f 2,4 | tr '\n' ' ')" = 'cut.y4m: frame 1|done cut.y4m: frame 2|done cut.y4m|failed '
expect 0 gpuimg blur cut.y4m out.y4m --report r.jsonl --allow-partial
check 'a truncated frame is done with --allow-partial' test "$(lines r.jsonl | tail -n 1)" = 'none|cut.y4m|out.y4m|done'
expect 75 gpuimg blur three.pgm ppm:/dev/full --report r.jsonl
check 'a full disk is reported' grep -q '"input": "three.pgm", .*"status": "failed", "error": "/dev/full: No space left' r.jsonl
expect 75 gpuimg blur three.pgm made.pgm --report /dev/full
check 'a report on a full disk: no output appears' test ! -e made.pgm
expect 75 env GPUIMG_FAULT=cpu:0@2 "$GPUIMG" blur three.pgm made.pgm --report r.jsonl
check 'a lost device is reported' test "$(lines r.jsonl | tail -n 1)" = 'none|three.pgm|made.pgm|failed'

# A signal: images that were written have their lines, and the stream has none.
python3 - "$GPUIMG" <<'PY'
import signal, subprocess, sys, time
worker = subprocess.Popen([sys.argv[1], "blur", "-", "-", "--report", "term.jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
worker.stdin.write(open("three.pgm", "rb").read() + b"P5 ")
worker.stdin.flush()
worker.stdout.read(31 * 17)
time.sleep(0.2)
worker.send_signal(signal.SIGTERM)
open("term.status", "w").write(str(worker.wait(60)))
PY
check 'SIGTERM: the exit status is 143' test "$(<term.status)" = 143
check 'SIGTERM: the report has only images' test "$(lines term.jsonl | cut -d'|' -f 1 | sort -u)" = -

# Options that are refused.
expect_error 2 'blur: --report -: is where the images go, want a file' blur three.pgm pgm:- --report -
expect_error 2 'blur: --report ./three.pgm: is the input too, want another file' blur three.pgm made.pgm --report ./three.pgm
expect_error 2 'blur: --report ./made.pgm: is the output too, want another file' blur three.pgm made.pgm --report ./made.pgm
expect_error 2 'blur: --report: is for many images: want --out-dir, --out or --tar too, or a stream of PNM or Y4M into one' \
    blur a.pgm made.png --report made.jsonl
expect_error 2 'channels: --report: is for many images: want --out-dir or --out too' channels split a.pgm made.pgm --report made.jsonl
expect_error 2 'blur: --resume: is for many images: *' blur three.pgm made.pgm --report made.jsonl --resume
expect_error 2 'histogram: --resume: is for files, and three.pgm is a stream of images' histogram three.pgm --table made.csv --report made.jsonl --resume
finish
