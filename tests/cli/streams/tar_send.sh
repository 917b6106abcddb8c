#!/bin/bash
# --tar to pipe:COMMAND: two commands may run while the next tar is made; each result is that of its own tar, in the messages, in
# the report and with --fail-fast; and they wait for each other if TMPDIR has space for one. Usage: tar_send.sh GPUIMG
# Sources: cli/inputs/tar_pipe* cli/inputs/tars* cli/inputs/tar_source* cli/report/report.c
# shellcheck disable=SC2016 # the shells of the commands expand variables
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$work/temporary
mkdir in temporary sent
pgm in/0.pgm 40 30
echo 7 >in/0.cls
for i in 0 1 2 3 4; do
    pgm in/2.pgm $((20 + i)) 9
    if [[ $i == 2 ]]; then printf 'P5 9 9 255\nshort' >in/3.pgm; else rm -f in/3.pgm; fi
    tar cf x-$i.tar --format ustar --sort=name in
    gpuimg blur --tar x-$i.tar want-$i.tar 2>err
done

# Upload 0 waits for upload 1, which begins only if 0 still runs.
together='pipe:n={0..4}; mkdir run-$n; ls -d run-* | wc -l >>counts; for i in `seq 200`; do test $n != 0 -o -e run-1 && break; sleep 0.02; done
    sleep 0.05; ls -d run-* | wc -l >>counts; rmdir run-$n; cat >sent/$n.tar'
for threads in 1 3; do
    rm -f counts sent/*
    expect 1 gpuimg blur --threads $threads --tar 'x-{0..4}.tar' "$together" --report r.jsonl
    check "two commands run at the same time, never three" test "$(sort -n counts | tail -1)" = 2
    for i in 0 1 2 3 4; do same "bytes of $i" sent/$i.tar want-$i.tar; done
    check "the member that failed is in the line of its tar" python3 -c '
import json, os
lines = list(map(json.loads, list(open("r.jsonl"))[1:]))
tars = [line for line in lines if "tar" not in line]
assert [t["input"] for t in tars] == [f"x-{i}.tar" for i in range(5)], tars
assert [t["status"] for t in tars] == ["done", "done", "failed", "done", "done"], tars
assert tars[2]["error"] == "1 member was left out", tars[2]
for i, t in enumerate(tars):
    assert t["output_bytes"] == os.path.getsize(f"want-{i}.tar"), t
    assert t["input_bytes"] == os.path.getsize(f"x-{i}.tar"), t'
done

# The first command fails after the second tar was made.
rm -rf sent/* run-*
fails='pipe:n={0..3}; mkdir run-$n; for i in `seq 200`; do test $n != 0 -o -e run-1 && break; sleep 0.02; done; test $n != 0 -o -e good && cat >sent/$n.tar'
expect 1 gpuimg blur --tar 'x-{0,1,3,4}.tar' "$fails" --report f.jsonl
check "the command that fails is named" grep -qxF "gpuimg: blur: ${fails/\{0..3\}/0}: has the exit status 1, want 0" err
check "... and how many tars failed" grep -qxF 'gpuimg: blur: 1 of 4 tars failed' err
check "the other tars are sent" test "$(echo sent/*)" = 'sent/1.tar sent/2.tar sent/3.tar'
check "the report has the failed tar" python3 -c '
import json
tars = [l for l in map(json.loads, list(open("f.jsonl"))[1:]) if "tar" not in l]
assert [t["status"] for t in tars] == ["failed", "done", "done", "done"], tars
assert "exit status 1" in tars[0]["error"], tars[0]'
rm -rf sent/* run-*
touch good run-1
expect 0 gpuimg blur --tar 'x-{0,1,3,4}.tar' "$fails" --report f.jsonl --resume
check "--resume sends it again" test "$(echo sent/* run-*)" = 'sent/0.tar run-0 run-1'
rm -rf sent/* run-*
expect 1 gpuimg blur --fail-fast --tar 'x-{0,1,3,4}.tar' 'pipe:n={0..3}; test $n != 0 && cat >sent/$n.tar'
check "--fail-fast: no later tar is sent" test -z "$(ls sent)"
expect 1 gpuimg blur --tar 'x-{0,1}.tar' 'pipe:false'
check "one output for all" grep -qxF 'gpuimg: blur: pipe:false: has the exit status 1, want 0' err
expect 75 gpuimg blur --tar 'x-{0,1}.tar' 'pipe:exit 7{4..5}'
check "the machine failed for one of them" grep -qF 'exit 75: has the exit status 75, want 0' err

# The disk of TMPDIR has space for one output.
if unshare --user --map-root-user --mount true 2>/dev/null; then
    mkdir disk
    head -c 700000 /dev/urandom >in/noise
    for i in 0 1 2 3; do tar cf large-$i.tar in/0.pgm in/noise; done
    expect 0 unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=1m disk disk && TMPDIR=disk exec "$@"' sh \
        "$GPUIMG" blur --tar 'large-{0..3}.tar' 'pipe:n={0..3}; mkdir run-$n; ls -d run-* | wc -l >>full; sleep 0.1; rmdir run-$n; cat >sent/$n.tar'
    check "one command at a time if there is no space for another tar" test "$(sort -u full)" = 1
else
    skip "full disks: unshare can't mount a file system here"
fi
check "nothing is left in TMPDIR" test -z "$(ls temporary)"
finish
