#!/bin/bash
# What a batch says at its end: a line on a terminal, the number of repeated warnings, and why it stopped if the disk is full.
# Sources: cli/inputs/batch.c cli/inputs/batch.h cli/log* cli/run/item* cli/run/engine* cli/tables/columns*
. "$(dirname "$0")/../lib.sh"

for i in 1 2 3; do
    pgm $i.pgm 40 30
    expect 0 gpuimg channels alpha $i.pgm $i.pgm alpha$i.png
done

# terminal ARGUMENT...: runs gpuimg with standard error as a terminal; `out` holds what both streams say.
terminal() { script -qec "$(printf '%q ' "$GPUIMG" "$@")" /dev/null </dev/null 2>&1 | tr -d '\r' | sed 's/.*\x1b\[K//' >out; }

# ---- the line at the end ----
if [[ $(script -qec 'echo yes' /dev/null </dev/null 2>/dev/null) == yes* ]]; then
    terminal blur 1.pgm 2.pgm 3.pgm --out-dir web
    check "a folder" grep -qxE 'gpuimg: blur: 3 images written to web/ in [0-9.]+ s, [0-9.]+ images/s, 0 failed' out
    terminal blur 1.pgm missing.pgm 3.pgm --out-dir web/
    check "a failure is counted" grep -qxE 'gpuimg: blur: 2 images written to web/ in [0-9.]+ s, [0-9.]+ images/s, 1 failed' out
    rm web/2.pgm
    terminal blur 1.pgm 2.pgm 3.pgm --out-dir web --no-clobber
    check "existing outputs are skipped and counted" grep -qxE 'gpuimg: blur: 1 image written to web/ in [0-9.]+ s, [0-9.]+ images/s, 2 skipped because they exist, 0 failed' out
    terminal stats 1.pgm 2.pgm --table all.csv
    check "a table" grep -qxE 'gpuimg: stats: table of 2 images written to all.csv in [0-9.]+ s, [0-9.]+ images/s, 0 failed' out
    terminal blur 1.pgm 2.pgm --out '{stem}_b.pgm'
    check "a template" grep -qxE 'gpuimg: blur: 2 images in [0-9.]+ s, [0-9.]+ images/s, 0 failed' out
    terminal blur 1.pgm 2.pgm --out-dir web --quiet
    check "--quiet: no line" test ! -s out
    terminal blur 1.pgm one.pgm
    check "a single image: no line" test ! -s out
    terminal montage 1.pgm 2.pgm sheet.pgm
    check "one image of several: no line" test ! -s out

    # ---- the progress line fits the terminal ----
    # widths COLUMNS: the progress lines of a batch that waits for a pipe, on a terminal of that width, are in `lines`.
    widths() {
        rm -f slow.pgm
        mkfifo slow.pgm
        { sleep 1.1; cat 1.pgm; } >slow.pgm &
        script -qec "stty cols $1; $(printf '%q ' "$GPUIMG") blur 1.pgm missing.pgm slow.pgm --out-dir web --threads 1" /dev/null \
            </dev/null 2>&1 | tr '\r' '\n' | grep -a '^.\[K[0-9]' | sed 's/^.\[K//' >lines
        wait
    }
    widths 40
    check "a narrow terminal: lines of fewer columns" test "$(wc -L <lines)" -lt 40 -a -s lines
    check "with the number of failures" grep -qE '^2/3 files, 1 failed' lines
    widths 200
    check "a wide terminal: all of the line" grep -qE '^2/3 files, 1 failed, .* images/s, .* s left, bound by [a-z]+, .*B/s in, .*B/s out$' lines

    # ---- tables fit the terminal ----
    wide() { # wide COLUMNS ARGUMENT...: standard output is a terminal of that width
        script -qec "stty cols $1; $(printf '%q ' "$GPUIMG" "${@:2}") 2>/dev/null" /dev/null </dev/null 2>&1 | tr -d '\r' >out
    }
    two_regions two.pgm
    "$GPUIMG" extract two.pgm --at 20 --descriptors >two.csv
    wide 50 extract two.pgm --at 20 --descriptors
    check "a table of a narrow terminal: short lines" test "$(wc -L <out)" -le 50 -a -s out
    check "blocks that begin with the same column" test "$(grep -c '^label ' out)" -gt 2
    check "all names of the CSV" test "$(grep label out | tr -s ' ' '\n' | grep -vx label | grep .)" = "$(head -1 two.csv | tr , '\n' | grep -vx label)"
    wide 500 extract two.pgm --at 20 --descriptors
    check "a wide terminal: one block, with all numbers of the CSV" python3 - out two.csv <<'PY'
import csv, sys
seen = [line.split() for line in open(sys.argv[1])]
want = list(csv.reader(open(sys.argv[2])))
assert seen[0] == want[0], seen[0]
assert len(seen) == len(want) == 3
assert all(abs(float(a) - float(b)) <= 1e-5 * abs(float(b)) for x, y in zip(seen[1:], want[1:]) for a, b in zip(x, y))
PY
    wide 50 extract two.pgm --at 20 --format csv
    check "--format csv is CSV on a terminal too" cmp out <("$GPUIMG" extract two.pgm --at 20)
    mkdir -p many other
    cp 1.pgm "many/a b.pgm"
    cp 2.pgm $'many/\e[31m,".pgm'
    cp many/* other
    wide 60 compare many other
    check "a table of pairs: short lines" test "$(wc -L <out)" -le 60 -a -s out
    check "names in full, and safe" grep -qE '^many/\\x1b\[31m,"\.pgm +other/\\x1b\[31m,"\.pgm +1 ' out
    check "empty columns are left out" test "$(wide 60 info 1.pgm 2.pgm --table -; grep -c camera out)" = 0

    # ---- extract tells what it found ----
    two_regions two.pgm
    terminal extract two.pgm two.csv --at 20
    check "extract: a level" test "$(<out)" = 'gpuimg: extract: 2 regions above 20'
    terminal extract two.pgm two.csv --at 20 --min-area 5
    check "extract: some of them" test "$(<out)" = 'gpuimg: extract: 1 of 2 regions above 20'
    terminal extract two.pgm two.csv
    check "extract: Otsu's level" grep -qxE 'gpuimg: extract: [12] regions? above [0-9]+ \(otsu\)' out
    terminal extract two.pgm two.csv --at 80 --invert
    check "extract: inverted" grep -qxE 'gpuimg: extract: 1 region not above 80' out
    terminal extract two.pgm two.csv --mask-image two.pgm
    check "extract: a mask" test "$(<out)" = 'gpuimg: extract: 2 regions in the mask'
    terminal extract two.pgm two.csv --at 20 -q
    check "extract: --quiet" test ! -s out
    terminal extract two.pgm 1.pgm --out-dir tables --suffix csv --at 20
    check "extract: nothing per image of a batch" test "$(wc -l <out)" = 1
else
    skip "the lines on a terminal: script has none"
fi
expect 0 gpuimg blur 1.pgm 2.pgm 3.pgm --out-dir web
check "one line in a log" test "$(sed -E 's/[0-9.]+/N/g' err)" = 'gpuimg: blur: N images written to web/ in N s, N images/s, N failed'
expect 0 gpuimg blur 1.pgm 2.pgm 3.pgm --out-dir web --quiet
check "none with --quiet" test ! -s err
expect 1 gpuimg blur 1.pgm nowhere.pgm --out-dir web
check "if inputs fail, the last line counts these" test "$(tail -1 err)" = 'gpuimg: blur: 1 of 2 files failed' -a "$(wc -l <err)" = 2
two_regions two.pgm
expect 0 gpuimg extract two.pgm two.csv --at 20
check "extract: no line in a log" test ! -s err

# ---- a single image that takes long: the part that is done ----
pgm large.pgm 3000 3000
for t in 1 2; do
    : >err # or the loop would find the line of the run before
    "$GPUIMG" nlmeans large.pgm made.pgm --search 41 --threads $t --progress >out 2>err &
    pid=$!
    for ((i = 0; i < 300; i++)); do # a line every two seconds, later if the machine is busy
        ! grep -q '%' err && kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill $pid 2>/dev/null
    wait $pid
    check "the part done of a single image, by threads: $t" grep -qE '^gpuimg: nlmeans: now [a-z]+, [0-9]+ %, [0-9]+ s, 1 image of 9 megapixels$' err
    python3 - "$GPUIMG" nlmeans large.pgm made.pgm --search 41 --threads $t >shown <<'END'
import fcntl, os, pty, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
end, text = time.time() + 30, b""
while time.time() < end and b"%" not in text:
    try:
        text += os.read(fd, 1000)
    except OSError: # the program has ended
        break
os.kill(pid, 9)
sys.stdout.buffer.write(text)
END
    check "and on a terminal of 40 columns, by threads: $t" grep -qaE 'now [a-z]+, [0-9]+ %, [0-9]+ s' shown
done

# ---- warnings ----
expect 0 gpuimg convert alpha1.png alpha2.png alpha3.png --out-dir jpegs --suffix jpg --threads 1
check "a repeated warning is printed once, and counted" test "$(grep -v ' 0 failed$' err)" = "gpuimg: warning: convert: jpegs/alpha1.jpg: jpeg cannot hold alpha (laid over black)
gpuimg: warning: convert: 2 more: jpeg cannot hold alpha (laid over black)"
expect 0 gpuimg convert alpha1.png 2.pgm --out-dir jpegs --suffix jpg
check "a single warning is not counted" test "$(grep -c warning err) $(wc -l <err)" = '1 2'
expect 0 gpuimg convert alpha1.png alpha2.png --out-dir jpegs --suffix jpg -q
check "--quiet: no warning" test ! -s err
expect 0 gpuimg convert alpha1.png one.jpg
check "a single image warns as before" test "$(wc -l <err)" = 1

# ---- a full disk ----
mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    trap 'cd /; umount "$work/disk"; rm -rf "$work"' EXIT
    for i in {10..29}; do pgm $i.pgm 160 100; done
    expect 75 gpuimg invert [12]?.pgm --out-dir disk/out --threads 1 --report r.jsonl
    check "a full disk: one image fails" test "$(grep -c 'No space left on device$' err)" = 1
    check "a full disk: the message" grep -qxE 'gpuimg: invert: the disk is full: [0-9]+ of 20 files are done, the batch ends' err
    check "a full disk: the others were not tried" test "$(grep -c '"status": "failed"' r.jsonl)" = 1
    done=$(grep -c '"status": "done"' r.jsonl)
    check "a full disk: those before are there" test "$done" -ge 1 -a "$done" = "$(find disk/out -name '*.pgm' | wc -l)"
    mv disk/out kept
    mkdir disk/out
    expect 75 gpuimg invert [12]?.pgm --out-dir disk/out --threads 4
    check "a full disk with several threads: each at most fails once" test "$(grep -c 'No space left on device$' err)" -le 4
    rm -rf disk/out
else
    skip "a full disk: no tmpfs can be mounted"
fi
finish
