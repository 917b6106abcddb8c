#!/bin/bash
# --tar pipe:COMMAND: tars that commands write and read, their exit status, --resume, signals, full disks. Usage: tar_pipe.sh GPUIMG
# Sources: cli/inputs/tar_pipe* cli/shell* cli/inputs/tars*
# shellcheck disable=SC2016 # the shells of the commands expand variables
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export TMPDIR=$work/temporary
mkdir in temporary sent
# runs PID: returns whether the process runs. One that has ended may still wait for its parent.
runs() { grep -q '^[0-9]* ([^)]*) [^Z]' "/proc/$1/stat" 2>/dev/null; }

pgm in/0.pgm 40 30
gpuimg convert in/0.pgm in/1.png
echo 7 >in/0.cls
head -c 3000000 /dev/urandom >in/video.bin
for i in 0 1 2 3; do
    pgm in/2.pgm $((20 + i)) 9
    tar cf x-$i.tar --format ustar --sort=name in
done
expect 0 gpuimg blur --tar 'x-{0..3}.tar' 'want-{0..3}.tar'

# ---- both ways, and beside files ----
expect 0 gpuimg blur --tar 'pipe:cat x-{0..3}.tar' 'pipe:cat >sent/{0..3}.tar'
check "only the last line is printed" test "$(wc -l <err) $(grep -cE '^gpuimg: .* [0-9]+ members in .*, 0 failed$' err)" = '1 1'
for i in 0 1 2 3; do same "from and to commands: $i" sent/$i.tar want-$i.tar; done
check "nothing is left in TMPDIR" test -z "$(ls temporary)"
expect 0 gpuimg blur --tar 'pipe:cat x-{0..3}.tar' 'got-{0..3}.tar'
for i in 0 1 2 3; do same "from commands to files: $i" got-$i.tar want-$i.tar; done
expect 0 gpuimg blur --tar 'x-{0..3}.tar' 'pipe:cat >sent/{a,b,c,d}.tar'
same "from files to commands" sent/d.tar want-3.tar
expect 0 gpuimg blur --tar '{x-0,pipe:cat x-1,x-2}.tar' '{pipe:cat >sent/e,got-f,pipe:cat >sent/g}.tar'
same "mixed: a file to a command" sent/e.tar want-0.tar
same "mixed: a command to a file" got-f.tar want-1.tar
expect 0 gpuimg blur --tar 'x-{0..3}.tar' joined.tar
expect 0 gpuimg blur --tar 'pipe:cat x-{0..3}.tar' 'pipe:cat >sent/joined.tar'
same "many into one command" sent/joined.tar joined.tar
gpuimg blur --tar - 'pipe:cat >sent/0.tar' <x-0.tar 2>err
same "from standard input" sent/0.tar want-0.tar
gpuimg blur --tar 'pipe:cat x-0.tar' - >got 2>err
same "to standard output" got want-0.tar
expect 0 gpuimg blur --tar 'pipe:echo said >&2; cat x-0.tar' 'pipe:cat; cat >sent/0.tar'
expect 0 gpuimg blur --tar 'pipe:cat x-0.tar' 'pipe:echo said; cat >sent/0.tar'
check "what the command prints goes to standard error" grep -qx said err
check "... not to standard output" test ! -s out
check "standard input is not for commands" cmp <(gpuimg blur --tar 'pipe:cat; cat x-0.tar' - <x-1.tar 2>/dev/null) want-0.tar
for t in 1 2 9; do
    expect 0 gpuimg blur --threads $t --tar 'pipe:cat x-{0..3}.tar' 'pipe:cat >sent/{0..3}.tar'
    same "$t threads" sent/3.tar want-3.tar
done
(trap '' CHLD && exec "$GPUIMG" blur --tar 'pipe:cat x-0.tar' 'pipe:cat >sent/chld.tar') 2>err
same "SIGCHLD ignored by the parent" sent/chld.tar want-0.tar

# A command that is slower than the work.
expect 0 gpuimg blur --tar 'pipe:for i in 0 1 2 3; do dd if=x-{0..3}.tar bs=1M skip=$i count=1 2>/dev/null; sleep 0.05; done' 'pipe:cat >sent/{0..3}.tar'
for i in 0 3; do same "a slow command: $i" sent/$i.tar want-$i.tar; done
# The exit status of a command that has written all is waited for.
expect 1 gpuimg blur --tar 'pipe:n={0,1}; cat x-$n.tar; sleep 0.1; exit $n' 'pipe:cat >sent/late-{0..1}.tar'
check "exit status 1 after a whole tar: this shard is not sent" test "$(echo sent/late-*)" = sent/late-0.tar
check "... with a line" grep -qxF 'gpuimg: blur: pipe:n=1; cat x-$n.tar; sleep 0.1; exit $n: has the exit status 1, want 0' err

# The next command runs while the images of a tar are waited for.
expect 0 gpuimg blur --tar 'pipe:n={0..1}; touch began-$n; for i in `seq 200`; do test $n = 1 -o -e began-1 && break; sleep 0.02; done
    test -e began-1 && cat x-$n.tar' 'pipe:cat >sent/{0..1}.tar'
same "the next shard is fetched ahead" sent/0.tar want-0.tar
rm began-*
expect 0 gpuimg blur --tar 'pipe:n={0..2}; touch began-$n; if test $n = 0; then sleep 0.3; ls began-* >list; fi; cat x-$n.tar' 'pipe:cat >sent/{0..2}.tar'
check "one shard is fetched ahead of the first" test "$(xargs <list)" = 'began-0 began-1'
rm began-*
# Shard 1 waits for all that may begin before it ends.
ahead='pipe:n={0..7}; touch began-$n; if test $n = 1; then for i in `seq 200`; do test -e began-4 && break; sleep 0.02; done
    sleep 0.2; ls began-* >list; fi; cat x-0.tar'
expect 0 gpuimg blur --tar "$ahead" 'pipe:cat >sent/{0..7}.tar'
check "three shards are fetched ahead of the others" test "$(xargs <list)" = 'began-0 began-1 began-2 began-3 began-4'
rm began-*

# ---- compression ----
for z in gz zst; do
    case $z in gz) pack=gzip ;; zst) pack=zstd ;; esac
    command -v $pack >/dev/null || { skip "no $pack"; continue; }
    expect 0 gpuimg blur --tar "pipe:$pack -c x-0.tar" "pipe:cat >'sent/0.tar.$z'"
    $pack -dc sent/0.tar.$z >got
    same "to .tar.$z, from .$z by its content" got want-0.tar
    expect 0 gpuimg blur --tar "pipe:$pack -c x-0.tar" "pipe:cat >sent/0.tar.$z; true"
    same "a command with another end: no compression" sent/0.tar.$z want-0.tar
done

# ---- failures ----
rm -f sent/*
expect 1 gpuimg blur --tar 'pipe:cat {x-0,nothing,x-2}.tar' 'pipe:cat >sent/{0..2}.tar' --report r.jsonl
grep -v '^cat: ' err >said
check "a command that fails is named, with its status" grep -qxF 'gpuimg: blur: pipe:cat nothing.tar: has the exit status 1, want 0' said
check "... and how many tars failed" grep -qxF 'gpuimg: blur: 1 of 3 tars failed' said
check "the other shards are sent" test "$(echo sent/*)" = 'sent/0.tar sent/2.tar'
expect 1 gpuimg blur --tar 'pipe:head -c 9000 x-0.tar; exit 5' 'pipe:cat >sent/made.tar'
check "the connection breaks: nothing is sent" test ! -e sent/made.tar
check "... the error is that of the command" grep -qF ': has the exit status 5, want 0' err
expect 1 gpuimg blur --tar 'pipe:head -c 9000 x-0.tar' 'pipe:cat >sent/made.tar'
check "a truncated tar" grep -q '^gpuimg: blur: pipe:head -c 9000 x-0.tar: ' err
check "... is not sent" test ! -e sent/made.tar
expect 1 gpuimg blur --tar 'pipe:false | cat' 'pipe:cat >sent/made.tar'
check "a pipeline that writes nothing" grep -qxF 'gpuimg: blur: pipe:false | cat: is empty, want a tar' err
expect 1 gpuimg blur --tar 'pipe:no-such-program' 'pipe:cat >sent/made.tar'
check "no such program" grep -qxF 'gpuimg: blur: pipe:no-such-program: has the exit status 127 (no such command), want 0' err
expect 75 gpuimg blur --tar 'pipe:kill -9 $$' 'pipe:cat >sent/made.tar'
check "a signal" grep -qxF 'gpuimg: blur: pipe:kill -9 $$: was ended by signal 9 (Killed)' err
expect 75 gpuimg blur --tar 'pipe:exit 75' 'pipe:cat >sent/made.tar'
expect 75 gpuimg blur --tar 'pipe:cat x-0.tar' 'pipe:exit 75'
expect 1 gpuimg blur --tar 'pipe:cat x-{0..2}.tar' 'pipe:{cat >sent/0,false >sent/1,cat >sent/2}.tar'
check "the output's command fails" grep -qxF 'gpuimg: blur: pipe:false >sent/1.tar: has the exit status 1, want 0' err
same "... and the other shards are sent" sent/2.tar want-2.tar
expect 1 gpuimg blur --tar 'pipe:true' 'pipe:cat >sent/made.tar'
check "no bytes: nothing is sent" test ! -e sent/made.tar
# A command that does not read its input to the end gets no SIGPIPE, and neither does gpuimg: only its exit status counts.
expect 0 gpuimg blur --tar 'pipe:cat x-0.tar' 'pipe:head -c 10 >sent/head'
expect 1 gpuimg blur --tar 'pipe:cat x-0.tar' 'pipe:head -c 10 >sent/head; exit 1'

# --fail-fast waits for no other command.
hangs='pipe:n={0..3}; if test $n = 0; then sleep 0.1; false; else echo $$ >hangs-$n; sleep 20; touch waited; fi'
expect 1 gpuimg blur --fail-fast --tar "$hangs" 'pipe:cat >sent/made-{0..3}.tar'
expect 1 gpuimg histogram --fail-fast --tar "$hangs" --table got.csv
expect 2 gpuimg compare --fail-fast --tar "$hangs" 'pipe:cat x-{0..3}.tar'
check "--fail-fast waits for no command" test ! -e waited
check "... names the one that failed" test "$(grep -c '^gpuimg: .*pipe:' err)" = 1
for i in hangs-*; do if runs "$(<"$i")"; then fail "... and ends the others"; else pass; fi; done

# ---- tables and pairs ----
expect 0 gpuimg histogram --tar x-0.tar x-1.tar --table want.csv
expect 0 gpuimg histogram --tar 'pipe:cat x-{0..1}.tar' --table got.csv
check "a table of commands" cmp <(sed 's/^pipe:cat //' got.csv) want.csv
expect 1 gpuimg histogram --tar 'pipe:cat {x-0,nothing}.tar' --table got.csv
expect 0 gpuimg compare --tar 'pipe:cat x-0.tar' x-0.tar

# ---- usage ----
expect_error 2 "blur: --tar: pipe:: want a command after pipe:" blur --tar pipe: made.tar
expect_error 2 "blur: --tar: pipe: : want a command after pipe:" blur --tar x-0.tar 'pipe: '
expect_error 2 "blur: --resume: whether pipe:cat >made has been done is known only by a report: want --report" \
    blur --tar x-0.tar 'pipe:cat >made' --resume
expect_error 2 "blur: --no-clobber: what pipe:cat >made replaces is not known: want it without --no-clobber" \
    blur --tar x-0.tar 'pipe:cat >made' --no-clobber
expect_error 2 "blur: --tar: two tars would both be written to pipe:cat >>made.tar" blur --tar 'x-{0..1}.tar' 'pipe:cat >>made.{tar,tar}'
cp x-0.tar pipe:x.tar
expect 0 gpuimg blur --tar ./pipe:x.tar ./pipe:y.tar
same "files whose names begin with pipe:" pipe:y.tar want-0.tar

# ---- --resume and --shard ----
rm -f sent/*
to='pipe:n={0..2}; test $n != 2 -o -e good && cat >sent/$n.tar'
expect 1 gpuimg blur --tar 'pipe:cat {x-0,later,x-2}.tar' "$to" --report r.jsonl
check "the report has the sizes of what went through the commands" python3 -c '
import json, os
lines = {l["input"]: l for l in map(json.loads, list(open("r.jsonl"))[1:]) if "tar" not in l}
first = lines["pipe:cat x-0.tar"]
assert first["status"] == "done" and first["input_bytes"] == os.path.getsize("x-0.tar"), first
assert first["output_bytes"] == os.path.getsize("want-0.tar"), first
assert "input_mtime_ns" not in first and "output_mtime_ns" not in first, first
assert [lines[f"pipe:cat {x}.tar"]["status"] for x in ("later", "x-2")] == ["failed"] * 2, lines'
cp x-1.tar later.tar
touch good
rm -f sent/*
expect 0 gpuimg blur --tar 'pipe:cat {x-0,later,x-2}.tar' "$to" --report r.jsonl --resume
check "--resume does what failed, and only that" test "$(echo sent/*)" = 'sent/1.tar sent/2.tar'
same "--resume: bytes" sent/2.tar want-2.tar
rm -f sent/*
expect 0 gpuimg blur --tar 'pipe:cat {x-0,later,x-2}.tar' "$to" --report r.jsonl --resume
check "--resume again: nothing is left to do" test -z "$(ls sent)"
expect 0 gpuimg report merge r.jsonl -o merged.jsonl
rm -f got-*
gpuimg blur --tar 'pipe:cat x-{0..2}.tar' 'got-{0..2}.tar' 2>err
touch -d '2000-01-01' got-1.tar
rm got-2.tar
expect 0 gpuimg blur --tar 'pipe:n={0..2}; touch began-$n; cat x-$n.tar' 'got-{0..2}.tar' --resume
check "--resume without a report: files that exist" test "$(date -r got-1.tar +%Y) $(echo began-*)" = '2000 began-2'
for k in 1 2; do expect 0 gpuimg blur --tar 'pipe:cat x-{0..2}.tar' 'pipe:cat >sent/{0..2}.tar' --shard $k/2 --report k-$k.jsonl; done
for i in 0 1 2; do same "--shard: $i" sent/$i.tar want-$i.tar; done
expect 0 gpuimg report merge k-1.jsonl k-2.jsonl -o merged.jsonl

# ---- signals: all processes of the commands end ----
# stop SIGNAL INPUT OUTPUT: sends the signal once a file `ready` exists, and waits for gpuimg.
stop() {
    rm -f ready
    # Bash ignores SIGINT in the background.
    env --default-signal=INT "$GPUIMG" blur --tar "$2" "$3" --report s.jsonl >out 2>err &
    local pid=$! n
    for ((n = 0; n < 400; n++)); do [[ -e ready ]] && break; sleep 0.02; done
    kill "-$1" $pid
    wait $pid 2>/dev/null
    code=$?
    for ((n = 0; n < 200; n++)); do runs "$(<ready)" || break; sleep 0.02; done
    if runs "$(<ready)"; then fail "$1: the command has not ended: $2 $3"; else pass; fi
}
for signal in INT TERM HUP KILL; do
    rm -f sent/*
    stop $signal 'pipe:cat x-0.tar; (sleep 60 & echo $! >to; mv to ready; wait) | cat' 'pipe:cat >sent/made.tar'
    check "$signal while a tar is read: exit status $code, nothing is sent" test $code -gt 128 -a ! -e sent/made.tar
    stop $signal 'pipe:cat x-0.tar' 'pipe:(sleep 60 & echo $! >to; mv to ready; wait) | cat; cat >sent/made.tar'
    check "$signal while a tar is sent: exit status $code, it is not sent" test $code -gt 128 -a ! -e sent/made.tar
    check "$signal: the report does not have it as done" sh -c '! grep -v "\"tar\"" s.jsonl | grep -q "\"status\": \"done\""'
done

# Whenever gpuimg is killed, what a command has sent is whole.
rm -f sent/*
for ms in 030 060 100 150; do
    "$GPUIMG" blur --tar 'pipe:cat x-{0..3}.tar' 'pipe:n={0..3}; cat >sent/$n.part && sleep 0.02 && mv sent/$n.part sent/$n.tar' 2>err &
    pid=$!
    sleep 0.$ms
    { kill -KILL $pid; wait $pid; } 2>/dev/null
    sleep 0.1
    for i in 0 1 2 3; do [[ ! -e sent/$i.tar ]] || same "killed after $ms ms: $i" sent/$i.tar want-$i.tar; done
done
rm -f sent/*

# ---- no TMPDIR, full disks ----
expect 75 env TMPDIR=nowhere "$GPUIMG" blur --tar 'pipe:cat x-0.tar' made.tar
check "no TMPDIR for an input" grep -qxF 'gpuimg: blur: a temporary file in nowhere: No such file or directory (TMPDIR says where it goes)' err
expect 75 env TMPDIR=nowhere "$GPUIMG" blur --tar x-0.tar 'pipe:cat >sent/made.tar'
expect 75 env TMPDIR=x-0.tar "$GPUIMG" histogram --tar 'pipe:cat x-0.tar' --table got.csv
check "a file in place of TMPDIR" grep -qF 'a temporary file in x-0.tar: Not a directory' err
mount_disk() { unshare --user --map-root-user --mount true 2>/dev/null; }
if mount_disk; then
    mkdir disk
    cat >on_disk <<'END'
mount -t tmpfs -o size=1m disk disk && TMPDIR=disk exec "$@"
END
    on_disk() { unshare --user --map-root-user --mount sh on_disk "$@"; }
    # Space for one shard of 3 MB beside the one that is read, and for none. Shard 1 was started before the size was known.
    for size in 8m 5m; do
        case $size in 8m) want=3 ;; 5m) want=2 ;; esac
        sed "s/1m/$size/" on_disk >on_larger_disk
        expect 0 unshare --user --map-root-user --mount sh on_larger_disk "$GPUIMG" blur --tar "${ahead/seq 200/seq 20}" 'got-{0..7}.tar'
        check "$size: fewer are fetched ahead: $(xargs <list)" test "$(wc -l <list)" = "$want"
        rm began-*
    done
    pgm large.pgm 1500 1000
    tar cf large.tar large.pgm
    expect 75 on_disk "$GPUIMG" blur --tar 'pipe:cat large.tar' 'pipe:cat >sent/made.tar'
    check "TMPDIR is full of the input" grep -qF 'gpuimg: blur: pipe:cat large.tar: a temporary file in disk: No space left on device' err
    for to in 'pipe:cat >sent/made.tar' made.tar; do
        for end in '; true' '; echo more' ' | cat; exit 0'; do
            expect 75 on_disk "$GPUIMG" blur --tar "pipe:cat large.tar$end" "$to"
            check "... if the command hides it: $end" grep -qxF "gpuimg: blur: pipe:cat large.tar$end: a temporary file in disk: No space left on device (TMPDIR says where it goes)" err
        done
    done
    expect 75 on_disk "$GPUIMG" compare --tar 'pipe:cat large.tar; true' large.tar
    check "... of a pair" grep -qF ': a temporary file in disk: No space left on device' err
    expect 1 on_disk "$GPUIMG" blur --tar 'pipe:head -c 9000 x-0.tar; true' made.tar
    check "a tar that is cut is named as such if the disk has space" grep -qvF 'No space' err
    expect 75 on_disk "$GPUIMG" blur --tar 'x-{0..1}.tar' 'pipe:cat >sent/made-{0..1}.tar'
    check "TMPDIR is full of the output" grep -qF 'blur: pipe:cat >sent/made-0.tar: a temporary file (TMPDIR says where it goes): No space left on device' err
    check "nothing was sent" test -z "$(ls sent)"
    expect 1 sh -c 'unshare --user --map-root-user --mount sh -c "mount -t tmpfs -o size=1m disk disk && exec \"\$@\"" sh "$@"' sh \
        "$GPUIMG" blur --tar 'pipe:cat x-0.tar' 'pipe:cat >disk/made.part && mv disk/made.part disk/made.tar'
    check "the command's disk is full" grep -qF 'disk/made.tar: has the exit status 1, want 0' err
else
    skip "full disks: unshare can't mount a file system here"
fi
check "nothing is left in TMPDIR at the end" test -z "$(ls temporary)"
finish
