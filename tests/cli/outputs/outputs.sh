#!/bin/bash
# An output is complete or does not exist: in place, --no-clobber, full disks, signals; and the behaviour of pipes.
# Sources: imgio/sink* imgio/temporary* cli/paths/output* cli/stop*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 61 47
expect 0 gpuimg gaussian in.pgm want.pgm
expect 0 gpuimg gaussian in.pgm want.png

# Pipes and prefixes.
gpuimg gaussian - - --format png <in.pgm >got
check "a pipe from - to - gives the same bytes" cmp got want.png
gpuimg gaussian - png:- <in.pgm >got
check "a prefix chooses the format of standard output" cmp got want.png
expect 0 gpuimg gaussian in.pgm png:got.dat
check "a prefix chooses the format of a file" cmp got.dat want.png
expect 0 gpuimg gaussian in.pgm got.dat --format pgm
check "--format chooses the format" cmp got.dat want.pgm
gpuimg blur in.pgm - --format pgm --k 1 | gpuimg gaussian - - --format png >got
check "a pipe of two commands" cmp got want.png
# shellcheck disable=SC2002
cat in.pgm | gpuimg info - >out
check "info reads a pipe" grep -q '^-: pgm, 61 x 47, gray' out

# In place, through a link, over an older file with its permissions.
cp in.pgm here.pgm
chmod 640 here.pgm
expect 0 gpuimg gaussian here.pgm here.pgm
check "a command in place gives the same bytes" cmp here.pgm want.pgm
check "permissions are kept" test "$(stat -c %a here.pgm)" = 640
cp in.pgm target.pgm
ln -s target.pgm link.pgm
expect 0 gpuimg gaussian link.pgm link.pgm
check "a link remains a link" test -L link.pgm
check "the target of the link is written" cmp target.pgm want.pgm

# Over a file with other names, which keep the older content; and over a file of another user.
cp in.pgm first.pgm
ln first.pgm second.pgm
expect 0 gpuimg gaussian first.pgm first.pgm
check "hard links cause a warning" grep -q '^gpuimg: warning: gaussian: .*first.pgm: the older file keeps its 1 other name (hard links)$' err
check "the other name keeps its content" cmp second.pgm in.pgm
ln first.pgm third.pgm
expect 0 gpuimg extract in.pgm first.pgm --format csv
check "tables cause the warning too" grep -q 'first.pgm: the older file keeps its 1 other name' err
if ((EUID)); then
    skip "a file of another owner: only root can make one"
else
    cp in.pgm theirs.pgm
    chown 4321:1234 theirs.pgm
    chmod 640 theirs.pgm
    expect 0 gpuimg gaussian in.pgm theirs.pgm
    check "the owner is kept" test "$(stat -c %u:%g:%a theirs.pgm)" = 4321:1234:640
    for owner in 4321 :1234; do
        cp in.pgm part.pgm
        chown "$owner" part.pgm
        before=$(stat -c %u:%g part.pgm)
        expect 0 gpuimg gaussian in.pgm part.pgm
        check "the owner or group alone is kept: $owner" test "$(stat -c %u:%g part.pgm)" = "$before"
    done
fi

# An output that is an input is refused before any work, and the input is unchanged; an operation may work in place.
cp in.pgm own.pgm
ln -s own.pgm own.png
ln -s own.pgm own.csv
cp in.pgm mask.pgm
ln mask.pgm mask2.pgm
while read -r words; do
    # shellcheck disable=SC2086
    expect_error 2 "*: would be written over the input *" $words
    check "$words: the input is unchanged" cmp own.pgm in.pgm
done <<'END'
histogram own.pgm --plot own.png
compare own.pgm in.pgm --diff own.pgm
compare in.pgm own.pgm --diff pgm:own.png
extract own.pgm own.csv
extract own.pgm --mask own.pgm
extract own.pgm --labels own.png
extract own.pgm --overlay own.png
extract in.pgm --mask-image mask.pgm --mask mask2.pgm
END
gpuimg gaussian own.pgm - --format pgm >>own.pgm 2>err
check "standard output that is the input is refused" grep -q 'would be written over' err
check "the input is unchanged" cmp own.pgm in.pgm

# Outputs that can't be written.
echo old >old.pgm
expect 1 gpuimg gaussian in.pgm old.pgm --no-clobber
check "the message names --no-clobber" grep -q -- '^gpuimg: gaussian: old.pgm: .*no-clobber' err
check "--no-clobber keeps the file" test "$(cat old.pgm)" = old
expect 0 gpuimg gaussian in.pgm new.pgm --no-clobber
mkdir -p folder
expect_error 1 'gaussian: folder/new/deep/made.pgm: there is no folder folder/new' gaussian in.pgm folder/new/deep/made.pgm
expect_error 1 'gaussian: nofolder/made.pgm: there is no folder nofolder' gaussian in.pgm nofolder/made.pgm
mkdir folder.pgm
expect_error 2 'gaussian: folder.pgm: is a folder, want the name of a file, or --out-dir folder.pgm' gaussian in.pgm folder.pgm
expect 0 gpuimg gaussian in.pgm pgm:/dev/null
expect_error 75 'gaussian: /dev/full: No space left on device' gaussian in.pgm pgm:/dev/full
if ((EUID)); then
    echo old >locked.pgm
    chmod 444 locked.pgm
    expect_error 1 'gaussian: locked.pgm: Permission denied' gaussian in.pgm locked.pgm
else
    skip "files without permission: this is root"
fi

# Standard output that fails.
for words in 'gaussian in.pgm pgm:-' 'list' 'info in.pgm' 'help blur' '--version' 'list --json'; do
    # shellcheck disable=SC2086
    gpuimg $words >/dev/full 2>err
    status=$?
    check "$words >/dev/full exits with 75" test $status = 75
    check "$words >/dev/full names the reason" grep -q '^gpuimg: .*No space left on device' err
    # shellcheck disable=SC2086
    { sleep 0.1; gpuimg $words 2>err; echo $? >status; } | true
    check "$words into a closed pipe ends by SIGPIPE" test "$(cat status)" = 141
    check "$words into a closed pipe prints no message" test ! -s err
    # shellcheck disable=SC2086
    gpuimg $words >&- 2>err
    check "$words with no standard output fails" test $? = 1
done
# The reader goes while there is more than a pipe holds: rows of many files, one big table.
for _ in {1..12000}; do echo in.pgm; done >many # more than 1 MB, which a pipe may hold
for words in 'info --files-from many' 'stats --files-from many' 'histogram in.pgm --bins 65536 --format csv'; do
    # shellcheck disable=SC2086
    { gpuimg $words 2>err; echo $? >status; } | head -1 >/dev/null
    check "$words, of which one line is read, ends by SIGPIPE" test "$(cat status)" = 141
    check "$words, of which one line is read, prints no message" test ! -s err
    # Where the signal is ignored, as below nohup or Python, the status tells.
    # shellcheck disable=SC2086
    (trap '' PIPE; { gpuimg $words 2>err; echo $? >status; } | head -1 >/dev/null)
    check "$words, with SIGPIPE ignored, fails" test "$(cat status)" = 1
    check "$words, with SIGPIPE ignored, prints no message" test ! -s err
done
gpuimg gaussian in.pgm closed.pgm >&- 2>&-
check "an output file is not mistaken for standard output" cmp closed.pgm want.pgm

# A limit on file sizes, and a full disk: the older file is unchanged.
pgm big.pgm 400 400
echo old >limited.pgm
(ulimit -f 64 && "$GPUIMG" gaussian big.pgm limited.pgm) 2>err
check "a file over the limit fails" test $? = 1
check "a file over the limit is named" grep -q '^gpuimg: gaussian: limited.pgm: File too large' err
check "a file over the limit leaves the older file" test "$(cat limited.pgm)" = old
(ulimit -f 64 && "$GPUIMG" gaussian big.pgm big.pgm) 2>err
check "a command in place over the limit leaves the file" test "$(wc -c <big.pgm)" -gt 160000
mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    echo old >disk/old.pgm
    for name in old new; do
        expect 75 gpuimg gaussian big.pgm disk/$name.pgm
        check "a full disk is named" grep -q "^gpuimg: gaussian: disk/$name.pgm: No space left" err
    done
    check "a full disk leaves the older file and no other" test "$(cat disk/* && ls -A disk)" = $'old\nold.pgm'
    umount disk
else
    skip "a full disk: tmpfs can't be mounted here"
fi

# A signal while an output is written.
mkdir killed
printf 'P5\n6000 6000\n255\n' >large.pgm
head -c 36000000 /dev/urandom >>large.pgm
echo old >killed/old.png
for signal in TERM HUP; do
    for name in old new; do
        "$GPUIMG" blur large.pgm killed/$name.png --k 3 --compression 9 --threads 1 2>err &
        sleep 0.4
        kill -$signal $!
        wait $! 2>/dev/null
        status=$?
        check "SIG$signal ends the command" test $status = $((128 + $(kill -l $signal)))
    done
done
check "signals leave no file" test "$(cat killed/* && ls -A killed)" = $'old\nold.png'

finish
