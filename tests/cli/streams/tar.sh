#!/bin/bash
# --tar: tars in and out; images, other members, names, compression, truncated tars. Usage: tar.sh GPUIMG
# Sources: cli/inputs/tar* imgio/tar
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# ---- the numbers of a range have the width of the longer end if one begins with 0 ----
for i in 008 009 010; do
    pgm $i.pgm 3 2
    tar cf range-$i.tar $i.pgm
done
expect 0 gpuimg invert --tar 'range-{8..010}.tar' 'ranged-{8..010}.tar'
check "a range from 8 to 010 has three digits" test "$(echo ranged-*.tar)" = 'ranged-008.tar ranged-009.tar ranged-010.tar'

# ---- a tar as in WebDataset, with all kinds of members besides images ----
mkdir -p in/sub
pgm in/0.pgm 40 30
gpuimg convert in/0.pgm in/1.png
gpuimg convert in/0.pgm in/2.jpg
gpuimg convert in/0.pgm in/sub/3.tif
gpuimg convert in/0.pgm in/4.npy
cp in/1.png in/called.txt
cp in/2.jpg 'in/a name with blanks and ü.jpg'
cp in/1.png "$(printf 'in/latin\374.png')"
cp in/1.png "in/$(printf 'long%.0s' {1..40}).png"
echo 7 >in/0.cls
printf 'P5 is how this text begins' >in/1.txt
printf '{"x": 1}' >in/1.json
head -c 3000000 /dev/urandom >in/video.bin
: >in/empty
ln -s 1.png in/link
ln in/1.png in/hard
chmod 640 in/1.png
touch -d '2001-02-03 04:05:06.789' in/2.jpg

# listing TAR: prints all that a tar says of its members except the size of images.
listing() {
    python3 - "$1" <<'PY'
import sys, tarfile
for m in tarfile.open(sys.argv[1]):
    image = m.isreg() and m.name.rsplit(".")[-1] in ("pgm", "png", "jpg", "tif") or "called" in m.name
    print(ascii(m.name), m.type, oct(m.mode), m.uid, m.gid, m.uname, m.gname, m.mtime, ascii(m.linkname), None if image else m.size)
PY
}

for format in ustar pax gnu; do
    python3 - $format <<'PY'
import sys, tarfile
f = {"ustar": tarfile.USTAR_FORMAT, "pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT}[sys.argv[1]]
keep = lambda m: None if f == tarfile.USTAR_FORMAT and len(m.name) > 100 else m
with tarfile.open(sys.argv[1] + ".tar", "w", format=f) as t:
    t.add("in", filter=keep)
PY
    expect 0 gpuimg run 'gaussian --sigma 2' --tar $format.tar out-$format.tar
    check "$format: only the last line is printed" test "$(wc -l <err) $(grep -cE '^gpuimg: .* [0-9]+ members in .*, 0 failed$' err)" = '1 1'
    listing $format.tar >want
    listing out-$format.tar >got
    same "$format: order, names, kinds, modes, owners, times" got want
    rm -rf made-dir
    mkdir made-dir
    tar xf out-$format.tar -C made-dir
    for f in 0.pgm 1.png 2.jpg sub/3.tif 'a name with blanks and ü.jpg' "$(printf 'latin\374.png')"; do
        gpuimg gaussian --sigma 2 "in/$f" "one.${f##*.}"
        same "$format: $f" "made-dir/in/$f" "one.${f##*.}"
    done
    gpuimg gaussian --sigma 2 in/1.png one.png
    same "$format: an image by its content" made-dir/in/called.txt one.png
    for f in 0.cls 1.txt 1.json video.bin empty 4.npy; do same "$format: $f passes" "made-dir/in/$f" "in/$f"; done
    rm -rf made-dir
    for t in 1 2 9; do
        gpuimg gaussian --sigma 2 --threads $t --tar - - <$format.tar >got
        same "$format: by $t threads, through pipes" got out-$format.tar
    done
done
# A reader other than libarchive's; pax headers are used only if they are needed.
check "ustar: no pax headers" test -z "$(python3 -c '
import tarfile
for m in tarfile.open("out-ustar.tar"):
    if m.pax_headers and m.name.isascii(): print(m.name)')"

# ---- compressed ----
for z in gz bz2 xz zst; do
    case $z in gz) pack=gzip ;; bz2) pack=bzip2 ;; xz) pack=xz ;; zst) pack=zstd ;; esac
    command -v $pack >/dev/null || { skip "no $pack"; continue; }
    $pack -c ustar.tar >in.tar.$z
    expect 0 gpuimg gaussian --sigma 2 --tar in.tar.$z out.tar
    same "from .tar.$z" out.tar out-ustar.tar
    expect 0 gpuimg gaussian --sigma 2 --tar ustar.tar out.tar.$z
    $pack -dc out.tar.$z >got
    same "to .tar.$z" got out-ustar.tar
    sleep 0.1
    gpuimg gaussian --sigma 2 --tar in.tar.$z again.tar.$z
    same "to .tar.$z: the same bytes again" again.tar.$z out.tar.$z
done

# ---- formats and names ----
expect 0 gpuimg blur --tar --suffix .png ustar.tar out.tar
check "--suffix changes names" test "$(tar tf out.tar | grep -c 'in/[02].png$')" = 2
tar xf out.tar -O in/2.png >got
gpuimg blur in/2.jpg want.png
same "--suffix: bytes" got want.png
expect 0 gpuimg convert --tar --suffix .png ustar.tar out.tar
tar xf out.tar -O in/2.png >got
gpuimg convert in/2.jpg want.png
same "convert --tar" got want.png
gpuimg blur in/2.jpg want.png
expect 0 gpuimg blur --tar --format png ustar.tar out.tar
tar xf out.tar -O in/2.jpg >got
same "--format: names stay" got want.png
tar cf gray.tar --format ustar in/0.pgm
printf 'P4\n9 2\nabcd' >in.pbm
tar cf bits.tar in.pbm
expect 0 gpuimg blur --tar bits.tar out.tar
tar xf out.tar -O in.pbm >got
gpuimg blur in.pbm want.pgm
same "a bitmap becomes gray" got want.pgm

# ---- brace lists ----
for i in 08 09 10 11; do tar cf x-$i.tar --format ustar in/0.pgm in/0.cls "in/sub/3.tif"; done
expect 0 gpuimg blur --tar 'x-{08..11}.tar' 'y-{08..11}.tar'
gpuimg blur --tar x-10.tar want.tar
for i in 08 09 10 11; do same "shard $i" y-$i.tar want.tar; done
rm y-*.tar
expect 0 gpuimg blur --tar 'x-{08,11}.tar' '{made,other}-dir.tar'
check "brace lists of words" test -s made-dir.tar -a -s other-dir.tar
rm -f made* other*
expect 0 gpuimg blur --tar 'x-{08..11}.tar' joined.tar
check "many tars into one" test "$(tar tf joined.tar | wc -l)" = 12
expect_error 2 "blur: --tar: x-{08..11}.tar stands for 4 tars and made-{0..2}.tar for 3: want as many, or one that takes all" \
    blur --tar 'x-{08..11}.tar' 'made-{0..2}.tar'
expect_error 2 "blur: --tar: two tars would both be written to made-1.tar" blur --tar 'x-{08,09}.tar' 'made-{1,1}.tar'
expect_error 2 "blur: x-{0..99999999}.tar: stands for more than 1000000 names" blur --tar 'x-{0..99999999}.tar' made.tar
expect_error 2 "blur: --tar: want INPUT.tar and OUTPUT.tar, got 3 names*" blur --tar x-08.tar x-09.tar made.tar
expect_error 2 "blur: --tar: made.zip: want -, pipe:COMMAND or a name that ends in .tar*" blur --tar x-08.tar made.zip
cp x-08.tar kept.tar
gpuimg blur --tar kept.tar - >>kept.tar 2>err
check "standard output that is an input is refused" grep -qx 'gpuimg: blur: -: would be written over the input kept.tar, want another file' err
check "the input is unchanged" cmp kept.tar x-08.tar
expect_error 2 "blur: --tar: goes from tar to tar*" blur --tar x-08.tar made.tar --out-dir made
expect_error 2 "blur: --tar: goes from tar to tar*--recursive and --null" blur --tar x-08.tar made.tar --recursive

# --resume: existing tars are complete.
gpuimg blur --tar x-08.tar y-08.tar
touch -d '2000-01-01' y-08.tar
expect 0 gpuimg blur --tar --resume 'x-{08..11}.tar' 'y-{08..11}.tar'
check "--resume keeps existing tars" test "$(date -r y-08.tar +%Y)" = 2000
check "--resume makes missing tars" test -s y-11.tar

# --shard: a task's part of the list.
rm y-*.tar
for k in 1 2 3; do expect 0 gpuimg blur --tar --shard $k/3 'x-{08..11}.tar' 'y-{08..11}.tar'; done
for i in 08 09 10 11; do same "--shard: $i" y-$i.tar want.tar; done
rm y-*.tar
expect 0 gpuimg blur --tar --shard 2/3 'x-{08..11}.tar' 'y-{08..11}.tar'
check "--shard makes only its own tars" test "$(echo y-*.tar)" = y-09.tar
expect_error 2 "blur: --shard: all tasks would write made.tar: *" blur --tar --shard 1/2 'x-{08..11}.tar' made.tar

# ---- damaged members and tars ----
printf 'P5 40 30 255\nshort' >in/5.pgm
printf '\377\330\377\340 no jpeg' >in/6.jpg
tar cf bad.tar in/0.pgm in/5.pgm in/0.cls in/6.jpg in/1.png
expect 1 gpuimg blur --tar bad.tar out.tar
check "damaged members are named" test "$(grep -c '^gpuimg: blur: bad.tar: in/[56]' err)" = 2
check "damaged members are counted" grep -qx 'gpuimg: blur: 2 members were left out' err
check "damaged members are left out" test "$(tar tf out.tar | tr '\n' ' ')" = 'in/0.pgm in/0.cls in/1.png '
rm -f out.tar
expect 1 gpuimg blur --tar bad.tar made.tar --fail-fast
check "--fail-fast: no tar appears" test ! -e made.tar
# No tar appears either if its end is read before the damaged member, which takes long, is decoded.
{ printf 'P5 9000 9000 255\n'; head -c 81000000 /dev/zero; } | gpuimg convert - png:in/7.png
truncate -s -100 in/7.png
tar cf slow.tar in/7.png in/0.cls
expect 1 gpuimg blur --tar slow.tar made.tar --fail-fast --threads 2
check "--fail-fast: no tar appears after its end was read" test ! -e made.tar
rm in/7.png

size=$(stat -c %s ustar.tar)
for cut in 100 512 700 3000 40000 $((size - 2000000)) $((size - 1024 * 12)); do
    head -c $cut ustar.tar >cut.tar
    rm -f made.tar
    gpuimg blur --tar cut.tar made.tar 2>err
    if (($? == 1)); then pass; else fail "cut at $cut: exit status"; fi
    check "truncated at $cut: no tar appears" test ! -e made.tar
    check "truncated at $cut: the tar is named" grep -q '^gpuimg: blur: cut.tar: ' err
done
# A tar that is truncated between two members lacks its end.
members=$(python3 -c 'import tarfile; print([m.offset for m in tarfile.open("ustar.tar")][5])')
head -c "$members" ustar.tar >cut.tar
expect_error 1 "blur: cut.tar: breaks off: the tar's end is missing" blur --tar cut.tar made.tar
for codec in gz bz2 xz; do # also if the compressed stream is whole; tarfile writes a tar with its end
    python3 - cut.tar whole-$codec.tar.$codec cut-$codec.tar.$codec $codec ustar.tar <<'END'
import importlib, sys
cut, whole_name, cut_name, codec, all_name = sys.argv[1:]
module = importlib.import_module({"gz": "gzip", "bz2": "bz2", "xz": "lzma"}[codec])
for source, name in ((cut, cut_name), (all_name, whole_name)):
    with open(name, "wb") as file:
        file.write(module.compress(open(source, "rb").read()))
END
    expect_error 1 "blur: cut-$codec.tar.$codec: breaks off: the tar's end is missing" blur --tar cut-$codec.tar.$codec made.tar
    check "truncated before .$codec: no tar appears" test ! -e made.tar
    expect 0 gpuimg blur --tar whole-$codec.tar.$codec made.tar
    rm -f made.tar
done
# Tars that follow one another, as cat joins them, are one; other bytes behind the end are an error.
cat ustar.tar ustar.tar >joined.tar
expect 0 gpuimg blur --tar joined.tar made.tar
check "joined tars: all members are read" test "$(tar tf made.tar | wc -l)" = $((2 * $(tar tf ustar.tar | wc -l)))
rm -f made.tar
{ cat ustar.tar && head -c 2000 ustar.tar | tr '\0' x; } >surplus.tar
expect 1 gpuimg blur --tar surplus.tar made.tar
check "bytes behind the end: no tar appears" test ! -e made.tar
: >cut.tar
expect_error 1 'blur: cut.tar: is empty, want a tar' blur --tar cut.tar made.tar
check "an empty file: no tar appears" test ! -e made.tar
gzip -c ustar.tar | head -c 30000 >cut.tar.gz
expect 1 gpuimg blur --tar cut.tar.gz made.tar
check "truncated .gz: no tar appears" test ! -e made.tar
cp x-08.tar z-1.tar
head -c 2000 x-08.tar >z-2.tar
cp x-08.tar z-3.tar
expect 1 gpuimg blur --tar 'z-{1..3}.tar' 'made-{1..3}.tar'
check "truncated tar: the others are made" test -s made-1.tar -a -s made-3.tar -a ! -e made-2.tar
check "truncated tar: failed tars are counted" grep -qx 'gpuimg: blur: 1 of 3 tars failed' err
rm -f made*
expect 1 gpuimg blur --tar 'z-{1..3}.tar' made.tar
check "a single truncated tar: no tar appears" test ! -e made.tar
expect 1 gpuimg blur --tar in/video.bin made.tar
: >void
expect 1 gpuimg blur --tar void made.tar
expect 1 gpuimg blur --tar nowhere.tar made.tar
check "a missing tar is named" grep -q '^gpuimg: blur: nowhere.tar: No such file' err
check "no tar appears" test ! -e made.tar

# Names with absolute or parent paths are only names; absurd sizes take no memory.
python3 - <<'PY'
import io, tarfile
data = open("in/0.pgm", "rb").read()
with tarfile.open("names.tar", "w") as t:
    for name in ("../made.pgm", "/tmp/made-by-gpuimg.pgm", "a/../../made.pgm", "-"):
        m = tarfile.TarInfo(name)
        m.size = len(data)
        t.addfile(m, io.BytesIO(data))
for name, start in (("huge.tar", b"P6 60000 60000 255\n"), ("huge2.tar", b"nothing")):
    m = tarfile.TarInfo("huge.ppm")
    m.size = 1 << 60
    open(name, "wb").write(m.tobuf(tarfile.GNU_FORMAT) + start.ljust(2048, b"x"))
PY
expect 0 gpuimg blur --tar names.tar out.tar
check "names are unchanged" diff <(tar tPf names.tar) <(tar tPf out.tar)
check "no file is written to these paths" test ! -e ../made.pgm -a ! -e /tmp/made-by-gpuimg.pgm
for f in huge.tar huge2.tar; do
    (sanitized || ulimit -v 4000000; timeout 20 "$GPUIMG" blur --tar $f made.tar 2>err)
    if (($? == 1)); then pass; else fail "$f: exit status"; fi
    check "$f: no tar appears" test ! -e made.tar
done

# ---- a worker process: an answer to each request ----
check "a worker answers before its input ends" timeout 60 python3 - "$GPUIMG" <<'PY'
import io, subprocess, sys, tarfile
data = open("in/0.pgm", "rb").read()
want = subprocess.run([sys.argv[1], "blur", "in/0.pgm", "-", "--format", "pgm"], stdout=subprocess.PIPE, check=True).stdout
worker = subprocess.Popen([sys.argv[1], "run", "blur", "--tar", "-", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for i in range(20):
    m = tarfile.TarInfo(f"{i}.pgm")
    m.size = len(data)
    worker.stdin.write(m.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512))
    worker.stdin.flush()
    got = tarfile.TarInfo.frombuf(worker.stdout.read(512), "utf-8", "strict")
    assert got.name == f"{i}.pgm"
    assert worker.stdout.read(got.size + -got.size % 512)[:got.size] == want
worker.stdin.write(bytes(1024))
worker.stdin.close()
assert worker.stdout.read() == bytes(1024)
assert worker.wait() == 0
PY

# A signal ends a worker that waits for its next request.
check "SIGTERM and SIGINT to an idle worker" timeout 60 python3 - "$GPUIMG" <<'PY'
import signal, subprocess, sys, time
for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
    for command in (["blur", "--tar", "-", "made.tar"], ["blur", "-", "made.pgm"]):
        worker = subprocess.Popen(sys.argv[1:] + command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        start = open("x-08.tar", "rb").read()[:1000] if "--tar" in command else 2 * open("in/0.pgm", "rb").read()
        worker.stdin.write(start)
        worker.stdin.flush()
        time.sleep(1)
        worker.send_signal(number)
        assert worker.wait(20) == status, worker.returncode
        assert worker.stderr.read() == b""
PY
check "no output appears" test ! -e made.tar -a ! -e made.pgm
finish
