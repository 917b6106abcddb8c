#!/bin/bash
# Members of tars that the worker threads read from the file, or from memory if the tar is compressed or a pipe, give the same results,
# messages and reports. Usage: tar_ranges.sh GPUIMG
# Sources: cli/inputs/tar_feed* cli/inputs/tar_pairs* cli/run/engine.c imgio/tar/tar_range* imgio/tar/tar_stream*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

python3 - <<'PY'
import os, random
r = random.Random(5)
os.mkdir("in")
for i in range(9):  # 12 to 180 kB
    w, h = 200, 20 + 35 * i
    open(f"in/{i}.ppm", "wb").write(b"P6 %d %d 255\n" % (w, h) + r.randbytes(3 * w * h))
    open(f"in/{i}.cls", "w").write(f"{i}\n")
open("in/large.ppm", "wb").write(b"P6 1500 1200 255\n" + r.randbytes(3 * 1500 * 1200))  # longer than what is held together
open("in/a.bin", "wb").write(r.randbytes(300000))
open("in/b.txt", "wb").write(b"P5 is how this text begins " * 2000)
open("in/damaged.ppm", "wb").write(b"P6 200 200 255\n" + r.randbytes(100000))
open("in/called.dat", "wb").write(b"P5 300 200 255\n" + r.randbytes(60000))
with open("in/holes.pgm", "wb") as f:
    f.write(b"P5 1000 300 255\n")
    f.seek(200016)
    f.write(r.randbytes(100000))
PY

# inverted TAR: compares all members of TAR, read by Python's tarfile, with those of the folder.
inverted() {
    python3 - "$1" <<'PY'
import sys, tarfile
n = 0
for m in tarfile.open(sys.argv[1]):
    if m.isreg():
        want = open(m.name, "rb").read()
        if m.name.endswith(("ppm", "pgm", "dat")):
            head = want.index(b"255\n") + 4
            want = want[:head].replace(b" 255", b"\n255").replace(b"P6 ", b"P6\n").replace(b"P5 ", b"P5\n") + want[head:].translate(bytes(255 - x for x in range(256)))
        assert tarfile.open(sys.argv[1]).extractfile(m).read() == want, m.name
        n += 1
assert n == 23, n
PY
}

for kind in ustar gnu pax 'gnu -S' 'pax -S' 'pax -S --sparse-version=0.1'; do
    # shellcheck disable=SC2086 # words
    tar --sort=name --format=$kind -cf all.tar in
    expect 1 gpuimg invert --tar all.tar out.tar
    cp err file.err
    # shellcheck disable=SC2002 # a pipe, not a file
    cat all.tar | gpuimg invert --tar - piped.tar 2>err
    same "$kind: the same tar as through a pipe" out.tar piped.tar
    check "$kind: the same message" diff <(sed 's/standard input/all.tar/; s/in [0-9.]* s, [0-9]*//' err) <(sed 's/in [0-9.]* s, [0-9]*//' file.err)
    check "$kind: all members" inverted out.tar
done
for t in 1 9; do
    gpuimg invert --tar all.tar one.tar --threads $t 2>/dev/null
    same "by $t threads" one.tar out.tar
done

# ---- a part of a file, a file that grows, joined tars ----
tar --sort=name -cf all.tar in
expect 1 gpuimg invert --tar all.tar out.tar
{ head -c 777 /dev/zero; cat all.tar; } >later
check "standard input is a file at a position" python3 - "$GPUIMG" <<'PY'
import os, subprocess, sys
with open("later", "rb", buffering=0) as f:
    f.seek(777)
    assert subprocess.run([sys.argv[1], "invert", "--tar", "-", "part.tar"], stdin=f, stderr=subprocess.DEVNULL).returncode == 1
PY
same "standard input is a file at a position: the same tar" part.tar out.tar
for pack in gzip bzip2 zstd; do
    command -v $pack >/dev/null || { skip "$pack is missing"; continue; }
    $pack -1 -c all.tar >packed
    expect 1 gpuimg invert --tar packed unpacked.tar
    same "$pack: the same tar" unpacked.tar out.tar
    gpuimg invert --tar - unpacked.tar < <(cat packed) 2>/dev/null
    same "$pack: the same tar through a pipe" unpacked.tar out.tar
    expect 1 gpuimg invert --tar 'pipe:head -c 400000 packed; sleep 0.3; tail -c +400001 packed' unpacked.tar
    same "$pack: the same tar from a command that writes slowly" unpacked.tar out.tar
    head -c 500000 packed >cut
    rm unpacked.tar
    expect 1 gpuimg invert --tar cut unpacked.tar
    check "$pack: a truncated tar is named" grep -qi "^gpuimg: invert: cut: truncated $pack input" err
    check "$pack: no tar appears" test ! -e unpacked.tar
done
expect 1 gpuimg invert --tar 'pipe:head -c 400000 all.tar; sleep 0.3; tail -c +400001 all.tar' grown.tar
same "a command that writes slowly" grown.tar out.tar
cat all.tar all.tar >joined.tar
expect 1 gpuimg invert --tar joined.tar twice.tar
check "joined tars" test "$(tar tf twice.tar | wc -l)" = $((2 * $(tar tf out.tar | wc -l)))

# ---- truncated tars: the same members and messages as through a pipe, wherever they end ----
size=$(stat -c %s all.tar)
for cut in 20000 20480 300000 500001 $((size - 120000)) $((size - 10240)) $((size - 9000)); do
    head -c $cut all.tar >cut.tar
    gpuimg stats --tar cut.tar --device cpu >file.csv 2>file.err
    status=$?
    # shellcheck disable=SC2002 # a pipe, not a file
    cat cut.tar | gpuimg stats --tar - --device cpu >pipe.csv 2>pipe.err
    check "cut at $cut: exit status" test $status = $?
    check "cut at $cut: the same table" diff <(sed 's/^-,/cut.tar,/' pipe.csv) file.csv
    check "cut at $cut: the same messages" diff <(sed 's/standard input/cut.tar/; s/in [0-9.]* s, [0-9]*//' pipe.err) <(sed 's/in [0-9.]* s, [0-9]*//' file.err)
done

# ---- limits and rules ----
expect 1 gpuimg invert --tar all.tar small.tar --max-bytes 100000
cat all.tar | gpuimg invert --tar - piped.tar --max-bytes 100000 2>/dev/null
same "--max-bytes leaves out the same members" small.tar piped.tar
expect 1 gpuimg invert --tar all.tar small.tar --max-pixels 20000
cat all.tar | gpuimg invert --tar - piped.tar --max-pixels 20000 2>/dev/null
same "--max-pixels leaves out the same members" small.tar piped.tar
expect 0 gpuimg invert --tar all.tar chosen.tar --only '*/3.ppm'
mkdir made && tar xf chosen.tar -C made
check "members that are not chosen are copied" test "$(diff -rq in made/in)" = 'Files in/3.ppm and made/in/3.ppm differ'

# ---- reports and pairs ----
expect 1 gpuimg invert --tar all.tar out.tar --report file.jsonl
# shellcheck disable=SC2002
cat all.tar | gpuimg invert --tar - out.tar --report pipe.jsonl 2>/dev/null
check "the same report" python3 - <<'PY'
import json
def lines(name):
    for line in open(name).readlines()[1:-1]:
        line = json.loads(line)
        line.pop("ms", None)
        line["input"] = line["input"].split(":")[-1]
        yield {k: v for k, v in line.items() if k != "tar" and "error" not in k}
assert list(lines("file.jsonl")) == list(lines("pipe.jsonl"))
PY
rm in/damaged.ppm
tar --sort=name -cf a.tar in
tar --sort=none -cf b.tar in/*
expect 0 gpuimg compare --tar a.tar b.tar --table file.csv
gpuimg compare --tar a.tar - --table pipe.csv < <(cat b.tar) 2>/dev/null
check "pairs: the same table" diff <(sort file.csv) <(sort pipe.csv)
check "pairs: all images" test "$(wc -l <file.csv)" = 13
finish
