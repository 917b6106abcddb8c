#!/bin/bash
# Streams: concatenated images of PNM and PAM, Y4M video, and ffmpeg at both ends.
# Usage: streams.sh GPUIMG
# Sources: cli/inputs/stream* cli/inputs/video.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# same WHAT A B: tests that the files have the same bytes.

# ---- PNM and PAM: a stream gives the concatenated outputs of single commands ----
pgm a.pgm 31 17
pgm b.pgm 64 48
printf 'P6\n5 4\n65535\n' >c.ppm
head -c 120 /dev/zero | tr '\0' '\101' >>c.ppm
printf 'P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefghijklmnopqrstuvwx' >d.pam
printf 'P2\n# plain\n3 2 9\n1 2 3\n4 5 6\n' >e.pgm
printf 'P4\n9 2\nabcd' >f.pbm
: >want
for f in a.pgm b.pgm c.ppm d.pam e.pgm f.pbm a.pgm; do
    gpuimg gaussian --sigma 2 - - <$f >>want || fail "one by one: $f"
done
cat a.pgm b.pgm c.ppm d.pam e.pgm f.pbm a.pgm >all
for t in 1 2 8; do
    cat all | gpuimg gaussian --sigma 2 --threads $t - - >got
    same "a stream by $t threads" got want
    cat all | gpuimg run 'gaussian --sigma 2' --threads $t - - >got
    same "a stream through run by $t threads" got want
done
gpuimg gaussian --sigma 2 - - <all >got
same "a stream from a file on standard input" got want
(read -rn 1 _ && gpuimg gaussian --sigma 2 - - >got) < <(printf x; cat all)
same "from the pipe's position" got want
cat all all | gpuimg gaussian --sigma 2 - - --memory 1Ki >got
cat want want >twice
same "with next to no memory" got twice

cat a.pgm b.pgm >grays.pgm
for f in a b; do gpuimg blur $f.pgm - --format pgm; done >want
expect 0 gpuimg blur grays.pgm out.pgm
same "from file to file" out.pgm want
check "a stream causes no warning" test ! -s err
cat grays.pgm | gpuimg blur - out.pam
check "a stream is converted to another format" test "$(grep -ao ENDHDR out.pam | wc -l)" = 2
cat grays.pgm | gpuimg blur - pgm:- >got
same "by a prefix" got want
gpuimg blur <(cat grays.pgm) - --format pgm >got
same "from a pipe with a name" got want
rest=' in its name, -, a TIFF or a file of PNM'
expect_error 2 "blur: made.png: png holds one image, and more come through grays.pgm: want {index:03}$rest, or the first alone, as grays.pgm\[0]" blur grays.pgm made.png
expect_error 2 "blur: made-%03d.png: * want {index:03}$rest, *" blur grays.pgm 'made-%03d.png' # printf's form of a number is no field
for way in 'blur - made.png <grays.pgm' 'cat grays.pgm | "$0" blur - made.png'; do
    [[ $way == cat* ]] || way="\"\$0\" $way"
    expect 2 bash -c "$way" "$GPUIMG"
    check "$way: refused" test "$(<err)" = "gpuimg: blur: made.png: png holds one image, and more come through standard input: want {index:03}$rest"
    check "$way: no file" test ! -e made.png
done
gpuimg blur a.pgm want-1.png
gpuimg blur b.pgm want-2.png
expect 0 gpuimg blur grays.pgm 'all-{index:03}.png'
same "the first of all" all-001.png want-1.png
same "the second of all" all-002.png want-2.png
expect_error 1 'add: --with: grays.pgm: holds 2 images, and one is wanted: \[0] to \[1] after the name' add a.pgm made.png --with grays.pgm

for f in a b; do gpuimg convert $f.pgm - --format pgm --depth 16; done >want
cat grays.pgm | gpuimg convert --depth 16 - - >got
same "convert" got want

# A single image is read as before.
for f in a.pgm c.ppm d.pam e.pgm; do
    cat $f | gpuimg blur - - >got
    gpuimg blur $f - --format "${f##*.}" >want
    same "one image: $f" got want
done
gpuimg blur a.pgm want.pgm
for tail in '' '\n' ' \t\n\n'; do
    # shellcheck disable=SC2059
    printf "$tail" | cat a.pgm - >tail.pgm
    cat tail.pgm | gpuimg blur - - --linear >got 2>err
    check "white space after one image causes no warning" test ! -s err
    expect 0 gpuimg blur --linear tail.pgm out.pgm
    same "one image and white space" got out.pgm
done
pgm big.pgm 1300 900
cat big.pgm | gpuimg blur - - >got
gpuimg blur big.pgm want.pgm
same "one image that fills no buffer" got want.pgm
gpuimg blur - - <big.pgm >got
same "one image from a file on standard input" got want.pgm

# White space between images, and plain images, from a pipe as well as from a file.
printf 'P1\n3 2\n# 1\n101 0 1 0' >g.pbm
for f in a.pgm b.pgm e.pgm e.pgm g.pbm; do gpuimg blur $f - --format pgm; done >want
{ cat a.pgm; printf '\n \n'; cat b.pgm; echo; cat e.pgm; head -c 40000 /dev/zero | tr '\0' ' '; cat e.pgm; echo; cat g.pbm; echo; } >spaces.pgm
{ cat e.pgm g.pbm; echo; cat a.pgm; } >plain.pgm
{ cat g.pbm; head -c 40000 /dev/zero | tr '\0' ' '; cat e.pgm; } >bits.pbm
for f in e.pgm g.pbm a.pgm; do gpuimg blur $f - --format pgm; done >want-plain
for f in g.pbm e.pgm; do gpuimg blur $f - --format pgm; done >want-bits
for which in spaces.pgm:want plain.pgm:want-plain bits.pbm:want-bits; do
    cat ${which%:*} | gpuimg blur - - >got
    same "white space, from a pipe: $which" got ${which#*:}
    expect 0 gpuimg blur ${which%:*} out.pgm
    same "white space, from a file: $which" out.pgm ${which#*:}
    check "white space causes no warning: $which" test ! -s err
done

# ---- truncated streams ----
{ cat a.pgm; printf garbage; cat b.pgm; } >broken.pgm
gpuimg blur a.pgm want.pgm
cat broken.pgm | gpuimg blur - - >got 2>err
if (($? == 1)); then pass; else fail "broken behind the first: exit status"; fi
same "broken behind the first: the first" got want.pgm
says "broken behind the first" "gpuimg: blur: standard input: byte $(stat -c %s a.pgm) and on are no PNM or PAM image"
expect_error 1 "blur: broken.pgm: byte $(stat -c %s a.pgm) and on are no PNM or PAM image" blur broken.pgm made.pgm
expect 0 gpuimg blur broken.pgm out.pgm --allow-partial
same "broken behind the first: --allow-partial" out.pgm want.pgm
for f in a b; do gpuimg blur $f.pgm - --format pgm; done >want
cat a.pgm b.pgm >ab
{ cat ab; head -c 300 b.pgm; } >cut
cat cut | gpuimg blur - - >got 2>err
if (($? == 1)); then pass; else fail "cut: exit status"; fi
same "what came before the cut" got want
says "cut" "gpuimg: blur: standard input: image 3: ends early, in row 4 of 48 (--allow-partial takes what can be read)"
rm -f made*
expect 1 gpuimg blur cut made.pgm
check "truncated: no file appears" test ! -e made.pgm
cat cut | gpuimg blur - - --allow-partial >got 2>err
if (($? == 0)); then pass; else fail "cut: --allow-partial: exit status"; fi
head -c "$(stat -c %s want)" got >head
same "cut: --allow-partial: those before" head want
check "truncated: --allow-partial writes the last image" test "$(stat -c %s got)" = $(($(stat -c %s want) + $(stat -c %s b.pgm)))
printf 'P5 bad' | cat ab - | gpuimg blur - - >got 2>err
if (($? == 1)); then pass; else fail "a bad head: exit status"; fi
same "what came before a bad head" got want
printf 'no image' | cat ab - | gpuimg blur - - >got 2>err
if (($? == 1)); then pass; else fail "no image: exit status"; fi
same "what came before no image" got want
says "no image" "gpuimg: blur: standard input: byte $(stat -c %s ab) and on are no PNM or PAM image"
for i in {1..40}; do cat b.pgm; done | { gpuimg blur - - 2>err || echo $? >status; } | head -c 4000 >/dev/null
check "the reader exits: the program ends by SIGPIPE" test "$(cat status 2>/dev/null)" = 141
check "the reader exits: no message is printed" test ! -s err
expect_error 2 'run: step 2, histogram: writes a table, and the input is a stream of images: want --table for one of all' \
    run 'blur | histogram' ab - --format pgm

# ---- memory: a stream that is ten times as long takes the same memory ----
peak() { # peak COUNT: KiB that gpuimg takes for COUNT images of 1 MB
    for ((i = 0; i < $1; i++)); do cat big.pgm; done |
        python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$GPUIMG" blur - - --threads 2
}
if sanitized; then
    skip "memory of a stream: a sanitizer needs memory of its own"
else
    few=$(peak 20) many=$(peak 200)
    if ((many < few + 20000)); then pass; else fail "memory: $few KiB for 20 images, $many for 200"; fi
fi

# ---- Y4M: planes are gray images ----
cat >video.py <<'PY'
"""video.py make FILE KIND W H | expect FILE GPUIMG OPERATION...: a video of three frames, random; and
what the operation makes of it: every plane as a PGM of its own maximum."""
import random, subprocess, sys
KINDS = {"420jpeg": (3, 1, 1, 8), "420mpeg2": (3, 1, 1, 8), "420paldv": (3, 1, 1, 8), "422": (3, 1, 0, 8),
         "444": (3, 0, 0, 8), "411": (3, 2, 0, 8), "mono": (1, 0, 0, 8), "444alpha": (4, 0, 0, 8),
         "420p10": (3, 1, 1, 10), "422p12": (3, 1, 0, 12), "mono16": (1, 0, 0, 16), "444p9": (3, 0, 0, 9)}

def planes(kind, w, h):
    n, sx, sy, bits = KINDS[kind]
    for p in range(n):
        x, y = (sx, sy) if p in (1, 2) else (0, 0)
        yield -(-w >> x), -(-h >> y), bits

def make(path, kind, w, h):
    random.seed(kind)
    with open(path, "wb") as f:
        f.write(f"YUV4MPEG2 W{w} H{h} F30000:1001 Ip A1:1 C{kind} XYSCSS=1 XCOLORRANGE=FULL\n".encode())
        for i in range(3):
            f.write(b"FRAME Ip XN=7\n" if i == 1 else b"FRAME\n")
            for pw, ph, bits in planes(kind, w, h):
                for _ in range(pw * ph):
                    f.write(random.randrange(1 << bits).to_bytes(1 if bits == 8 else 2, "little"))

def filtered(samples, w, h, bits, command):
    top = (1 << bits) - 1
    raster = b"".join(v.to_bytes(1 if bits == 8 else 2, "big") for v in samples)
    out = subprocess.run(command + ["-", "-"], input=b"P5 %d %d %d\n" % (w, h, top) + raster,
                         stdout=subprocess.PIPE, check=True).stdout
    magic, size, full, raster = out.split(b"\n", 3)
    if bits == 8:
        return raster
    values = [raster[i] << 8 | raster[i + 1] for i in range(0, len(raster), 2)]
    return b"".join(((2 * v * top + 65535) // (2 * 65535)).to_bytes(2, "little") for v in values)

def expect(path, *command):
    data = open(path, "rb").read()
    header, data = data.split(b"\n", 1)
    words = header.split(b" ")
    w, h = int(words[1][1:]), int(words[2][1:])
    kind = next(x for x in words if x[:1] == b"C")[1:].decode()
    out = sys.stdout.buffer
    out.write(header + b"\n")
    while data:
        line, data = data.split(b"\n", 1)
        out.write(line + b"\n")
        for pw, ph, bits in planes(kind, w, h):
            size = 1 if bits == 8 else 2
            n = pw * ph * size
            samples = [int.from_bytes(data[i:i + size], "little") for i in range(0, n, size)]
            data = data[n:]
            out.write(filtered(samples, pw, ph, bits, list(command)))

if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
else:
    expect(*sys.argv[2:])
PY
for kind in 420jpeg 420mpeg2 420paldv 422 444 411 mono 444alpha 420p10 422p12 mono16 444p9; do
    python3 video.py make in.y4m $kind 33 19
    python3 video.py expect in.y4m "$GPUIMG" gaussian --sigma 1.5 >want
    expect 0 gpuimg gaussian --sigma 1.5 in.y4m out.y4m
    same "Y4M $kind, from file to file" out.y4m want
    cat in.y4m | gpuimg gaussian --sigma 1.5 --threads 7 - - >got
    same "Y4M $kind, through pipes" got want
done
python3 video.py make in.y4m 420jpeg 64 36
gpuimg run 'gaussian --sigma 1.5' in.y4m - >got
gpuimg gaussian --sigma 1.5 in.y4m - --format y4m >want
same "Y4M through run" got want
head -c 63 in.y4m | head -n 1 >none.y4m
head -n 1 in.y4m >none.y4m
gpuimg blur none.y4m - | cmp -s - none.y4m && pass || fail "a video of no frames"
expect 0 gpuimg info in.y4m
check "info prints a video" grep -q 'y4m, 64 x 36' out

for kind in 420jpeg 420p10; do
    python3 video.py make in.y4m $kind 64 36
    gpuimg blur in.y4m whole.y4m
    size=$(stat -c %s in.y4m)
    frame=$(((size - $(head -n 1 in.y4m | wc -c) - 6 - 6 - 14) / 3)) # bytes of planes
    head -c $((size - 7)) in.y4m | gpuimg blur - - >got 2>err
    if (($? == 1)); then pass; else fail "Y4M $kind cut: exit status"; fi
    head -c $((size - frame - 6)) whole.y4m >want
    same "Y4M $kind cut: whole frames come before" got want
    says "Y4M $kind cut" "gpuimg: blur: standard input: ends in the middle of a frame"
    head -c $((size - 7)) in.y4m | gpuimg blur - made.y4m 2>err
    check "Y4M $kind truncated: no file appears" test ! -e made.y4m
    head -c $((size - 7)) in.y4m | gpuimg blur - out.y4m --allow-partial 2>err
    same "Y4M $kind cut: --allow-partial" out.y4m want
done
{ head -n 1 in.y4m | sed 's/Ip/It/'; tail -n +2 in.y4m; } >fields.y4m
expect 0 gpuimg blur fields.y4m out.y4m
check "interlaced video causes a warning" grep -q 'fields.y4m: is interlaced' err

expect_error 1 'blur: in.y4m: is a Y4M video: it goes through operations*' blur in.y4m made.png
expect_error 2 'blur: made.y4m: is for Y4M video, and a.pgm is none' blur a.pgm made.y4m
gray_video="--gray: is not for Y4M video: leave it out, or begin with the step convert --gray, as in gpuimg run 'convert --gray | blur'"
expect_error 2 "blur: $gray_video" blur in.y4m made.y4m --gray
expect_error 2 "threshold: $gray_video" threshold in.y4m made.y4m --gray=mean
expect_error 2 "edges: $gray_video" edges in.y4m 'made-{index}.png' --gray
for chain in edges threshold 'gaussian --sigma 1|edges'; do
    gpuimg run "$chain" in.y4m want.y4m
    expect 0 gpuimg run "$chain" in.y4m out.y4m --gray
    same "$chain: brightness alone is gray anyway" out.y4m want.y4m
done
expect_error 1 'convert: in.y4m: is a Y4M video, which goes through operations alone: want one of them, as in gpuimg run '\''convert --gray'\''' convert in.y4m made.y4m
expect_error 2 'blur: --depth: Y4M'\''s planes go as they are, want it without' blur in.y4m made.y4m --depth 16
expect_error 2 'run: step 1, histogram: writes a table, and the input is a stream of images: want --table for one of all' run 'histogram' in.y4m made.y4m
printf 'YUV4MPEG2 W4 H4 C420p77\nFRAME\n' >bad.y4m
expect_error 1 'blur: bad.y4m: is Y4M with C420p77: want C420, *' blur bad.y4m made.y4m
printf 'YUV4MPEG2 W99999 H99999 C420\nFRAME\n' >bad.y4m
expect_error 1 'blur: bad.y4m: is Y4M of 99999 x 99999 pixels, over the limit*' blur bad.y4m made.y4m
printf 'YUV4MPEG2 W2 H1 Cmono10\nFRAME\n\377\377\0\0' >bad.y4m
expect_error 1 'blur: bad.y4m: frame 1: row 0 has the sample 65535, over its maximum of 1023' blur bad.y4m made.y4m
# Operations that change the size: the planes must still have sizes of the same video.
if gpuimg list --commands | grep -qx transpose && gpuimg list --commands | grep -qx crop; then
    python3 video.py make in.y4m 420jpeg 32 16
    expect 0 gpuimg transpose in.y4m out.y4m
    check "transposed planes give a video" grep -aq '^YUV4MPEG2 W16 H32 F30000:1001 Ip A1:1 C420jpeg' out.y4m
    gpuimg transpose out.y4m back.y4m
    same "transposed twice" back.y4m in.y4m
    expect 0 gpuimg crop --size 50% in.y4m out.y4m
    check "cropped planes give a video" grep -aq '^YUV4MPEG2 W16 H8 ' out.y4m
    python3 video.py make odd.y4m 422 16 8
    expect 0 gpuimg transpose odd.y4m out.y4m
    check "planes that would not fit go through as frames" grep -q 'warning: transpose: odd.y4m: the sizes of luma and chroma would not fit, so its frames go through as RGB, which rounds samples, 8 x 16 pixels of luma' err
    { printf 'YUV4MPEG2 W8 H8 Cmono\n'; for i in 1 2; do printf 'FRAME\n'; head -c $((8 * i + 3)) /dev/zero; head -c $i <<<xx | tr -d '\n'; head -c $((61 - 9 * i)) /dev/zero; done; } >trim.y4m
    expect 1 gpuimg crop --trim trim.y4m made.y4m
    check "trimmed frames differ in size: no file appears" test ! -e made.y4m
else
    skip "transpose and crop are missing"
fi

# ---- ffmpeg at both ends ----
if command -v ffmpeg >/dev/null; then
    ffmpeg -v error -f lavfi -i testsrc2=s=162x90:r=25 -frames:v 8 -y frames%02d.ppm
    for f in frames0*.ppm; do gpuimg gaussian --sigma 2 "$f" - --format ppm; done >want
    ffmpeg -v error -f lavfi -i testsrc2=s=162x90:r=25 -frames:v 8 -f image2pipe -c:v ppm - |
        gpuimg gaussian --sigma 2 - - | tee got |
        ffmpeg -v error -f image2pipe -c:v ppm -i - -f framemd5 - >sums
    same "ffmpeg: ppm" got want
    check "ffmpeg reads 8 frames of PPM" test "$(grep -c '^0,' sums)" = 8
    for format in yuv420p yuv422p yuv444p gray yuv420p10le; do
        ffmpeg -v error -f lavfi -i testsrc2=s=162x90:r=25 -frames:v 8 -pix_fmt $format -strict -1 -f yuv4mpegpipe - |
            gpuimg run 'flip --h | flip --h' - - | ffmpeg -v error -i - -pix_fmt $format -f framemd5 - >got
        ffmpeg -v error -f lavfi -i testsrc2=s=162x90:r=25 -frames:v 8 -pix_fmt $format -f framemd5 - >want
        if diff <(grep '^0,' got) <(grep '^0,' want) >check.log; then pass; else fail "ffmpeg: y4m of $format" "$(<check.log)"; fi
    done
else
    skip "ffmpeg is missing"
fi
# Progress is shown without changing the stream.
for ((i = 0; i < 7; i++)); do pgm part.pgm 61 $((40 + i)); cat part.pgm; done >told.pgm
expect 0 gpuimg blur told.pgm told-out.pgm --progress
check 'progress counts images' grep -qE '^gpuimg: blur: 7 images, [0-9.]+ images/s, bound by [a-z ]+, .*B/s in, .*B/s out$' err
expect 0 gpuimg blur told.pgm told-quiet.pgm
check 'without --progress nothing is printed' test ! -s err
check 'progress does not change the bytes' cmp told-out.pgm told-quiet.pgm
{
    echo 'YUV4MPEG2 W16 H8 F25:1 C420'
    for ((i = 0; i < 5; i++)); do printf 'FRAME\n%192s' x; done
} >told.y4m
expect 0 gpuimg blur told.y4m told-out.y4m --progress
check 'progress counts frames, not planes' grep -qE '^gpuimg: blur: 5 frames, [0-9.]+ frames/s, bound by [a-z ]+, [0-9.]+ .?B/s in' err
check 'progress has bytes per second' bash -c '! grep -q " 0 B/s" err'
mkdir told
cp part.pgm told/a.pgm
cp part.pgm told/b.pgm
echo passes >told/c.txt
tar cf told.tar -C told a.pgm b.pgm c.txt
expect 0 gpuimg blur --tar told.tar told-out.tar --progress
check 'progress counts members' grep -qE '^gpuimg: blur: 3 members, [0-9.]+ members/s' err


# ---- a named pipe without a process at its other end, or with one that never writes ----
mkfifo quiet.fifo
check "a signal ends a command that waits for a named pipe" timeout 60 python3 - "$GPUIMG" <<'PY'
import os, signal, subprocess, sys, time
for command in (["blur", "a.pgm", "quiet.fifo", "b.pgm"], ["blur", "--tar", "quiet.fifo"]):
    for held in (False, True):
        end = os.open("quiet.fifo", os.O_RDWR) if held else None
        where = ["made.tar"] if "--tar" in command else ["--out", "made/{stem}.pgm"]
        batch = subprocess.Popen(sys.argv[1:] + command + where + ["--threads", "3"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        batch.send_signal(signal.SIGTERM)
        assert batch.wait(10) == 143, (command, held, batch.returncode)
        if held:
            os.close(end)
PY
check "outputs of the other inputs are made" test -s made/a.pgm -a -s made/b.pgm -a ! -e made.tar
cat a.pgm >quiet.fifo &
expect 0 gpuimg blur --out 'made/{stem}.pgm' quiet.fifo b.pgm
same "through a pipe with a name" made/quiet.pgm made/a.pgm
finish
