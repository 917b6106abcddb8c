#!/bin/bash
# stack, by each method, against its definition in exact arithmetic.
# Usage: stack.sh GPUIMG
# Sources: cli/commands/stack* filters/statistics/stack*
. "$(dirname "$0")/../lib.sh"

python3 - <<'END'
import random
random.seed(5)
for i in range(6):
    for name, top in ("a", 255), ("b", 65535):
        with open("%s%d.pgm" % (name, i), "wb") as f:
            f.write(b"P5\n7 5\n%d\n" % top)
            for _ in range(35):
                f.write(random.randint(0, top).to_bytes(1 if top == 255 else 2, "big"))
END
cat >oracle.py <<'END'
import struct, sys
from fractions import Fraction
from math import floor, sqrt
def read(path):
    data = open(path, "rb").read()
    if data[:2] == b"Pf":
        head = data.split(b"\n", 3)
        width, height = map(int, head[1].split())
        order = "<" if float(head[2]) < 0 else ">"
        v = struct.unpack(order + "%df" % (width * height), head[3])
        return [x for y in range(height - 1, -1, -1) for x in v[y * width:(y + 1) * width]]
    head = data.split(b"\n", 3)
    return list(head[3]) if head[2] == b"255" else list(struct.unpack(">%dH" % (len(head[3]) // 2), head[3]))
def median(v):
    v = sorted(v)
    return Fraction(v[(len(v) - 1) // 2] + v[len(v) // 2], 2)
def clip(v, kappa):
    v = sorted(v)
    for _ in range(5):
        m = Fraction(sum(v), len(v))
        s = sqrt(sum((x - m) ** 2 for x in v) / len(v))
        kept = [x for x in v if abs(x - median(v)) <= kappa * s]
        if kept == v:
            break
        v = kept
    return Fraction(sum(v), len(v))
by, full, result = sys.argv[1], int(sys.argv[2]), read(sys.argv[3])
stacks = list(zip(*map(read, sys.argv[4:])))
half = lambda x: floor(x + Fraction(1, 2))
want = [{"mean": lambda v: half(Fraction(sum(v), len(v))), "median": lambda v: half(median(v)), "min": min, "max": max,
         "sum": lambda v: struct.unpack("f", struct.pack("f", sum(v) / full))[0],
         "sigma-clip": lambda v: half(clip(v, 1.2))}[by](v) for v in stacks]
assert result == want, (result[:9], want[:9])
END
for kind in a:255 b:65535; do
    for by in mean median min max sum sigma-clip; do
        for n in 1 5 6; do
            for threads in 1 5; do
                files=$(eval "echo ${kind%:*}{0..$((n - 1))}.pgm")
                out=out.$([[ $by == sum ]] && echo pfm || echo pgm)
                # shellcheck disable=SC2086
                expect 0 gpuimg stack --by $by --kappa 1.2 --threads $threads $files "res-$out"
                # shellcheck disable=SC2086
                check "$kind $by of $n images" python3 oracle.py $by "${kind#*:}" "res-$out" $files
            done
        done
    done
done
printf '%s\n' a{0..5}.pgm >list.txt
gpuimg stack a?.pgm one.pgm
expect 0 gpuimg stack --files-from list.txt two.pgm
check 'a list gives the same image' cmp one.pgm two.pgm
expect 0 gpuimg stack a?.pgm two.pgm --progress
check 'stack shows progress' grep -qE '^gpuimg: stack: 6/6 files, [0-9.]+ images/s' err
expect_error 1 'stack: b0.pgm: has 7 x 5 pixels with 1 channel of 16 bits: want 7 x 5 pixels with 1 channel of 8 bits, as a0.pgm' stack a0.pgm b0.pgm made.pgm
expect_error 1 'stack: nowhere.pgm: No such file or directory' stack a0.pgm nowhere.pgm made.pgm
expect_error 2 'stack: want INPUT... before the output made.pgm' stack made.pgm
expect_error 2 'stack: a0.pgm: would be written over the input a0.pgm, want another file' stack a1.pgm a0.pgm a0.pgm

# Samples that exceed --memory are kept in a temporary file: the same bytes for any --memory.
python3 - <<'END'
import random, struct
random.seed(8)
for i in range(9):
    n = 97 * 61
    with open("c%d.ppm" % i, "wb") as f:
        f.write(b"P6\n97 61\n255\n" + random.randbytes(3 * n))
    with open("g%d.pgm" % i, "wb") as f:
        f.write(b"P5\n31 23\n255\n" + (random.randbytes(713) if i else bytes([0, 255, 128, 127] * 178 + [1])))
    with open("d%d.pgm" % i, "wb") as f:
        f.write(b"P5\n97 61\n65535\n" + random.randbytes(2 * n))
    with open("e%d.pam" % i, "wb") as f:
        f.write(b"P7\nWIDTH 97\nHEIGHT 61\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + random.randbytes(4 * n))
    with open("f%d.pfm" % i, "wb") as f:
        v = [random.gauss(0.5, 0.2) for _ in range(n)]
        v[100 * i] = float("nan")
        f.write(b"Pf\n97 61\n-1\n" + struct.pack("<%df" % n, *v))
END
for kind in c:ppm d:pgm e:pam f:pfm; do
    suffix=${kind#*:}
    for by in median sigma-clip mean max sum; do
        [[ $by != sum || $kind == d* ]] || continue
        [[ $by == sum ]] && suffix=pfm
        for n in 2 9; do
            files=$(eval "echo ${kind%:*}{0..$((n - 1))}.${kind#*:}")
            # shellcheck disable=SC2086
            expect 0 gpuimg stack --by $by --kappa 1 $files all.$suffix
            for memory in 1 60000 100000; do
                # shellcheck disable=SC2086
                expect 0 env TMPDIR=. "$GPUIMG" stack --by $by --kappa 1 --memory $memory --threads 3 $files part.$suffix
                check "$kind $by of $n images in $memory bytes" cmp part.$suffix all.$suffix
            done
        done
    done
done
# Medians of adjacent pixels: ranks by bits, of more images than a byte counts, sorted once less than 256 candidates are left.
for kind in d:65535 g:255; do
    for n in 1 2 5 9 300; do
        # shellcheck disable=SC2046
        files=$(for ((i = 0; i < n; i++)); do echo ${kind%:*}$((i * i % 9)).pgm; done)
        # shellcheck disable=SC2086
        expect 0 gpuimg stack --by median $files res.pgm
        # shellcheck disable=SC2086
        check "$kind median of $n images" python3 oracle.py median "${kind#*:}" res.pgm $files
    done
done
{ printf 'P5\n31 23\n255\n'; head -c 713 /dev/zero; } >low.pgm
{ printf 'P5\n31 23\n255\n'; head -c 713 /dev/zero | tr '\0' '\377'; } >high.pgm
many() { for ((i = 0; i < $2; i++)); do echo "$1"; done; }
for low in 255 254 256; do
    # shellcheck disable=SC2046
    expect 0 gpuimg stack --by median $(many low.pgm $low) g1.pgm $(many high.pgm $low) res.pgm
    check "median of $((2 * low + 1)) images is the middle one" cmp res.pgm g1.pgm
done
check 'no temporary file is left' test -z "$(compgen -G 'gpuimg-*')"
# A temporary file that cannot grow ends the command (the limit is 16 KiB).
for i in {1..8}; do gpuimg resize c1.ppm large$i.ppm --size 300x200; done
expect 1 bash -c 'trap "" XFSZ; ulimit -f 16; TMPDIR=. timeout 30 "$0" stack --by median --memory 1 large?.ppm made.pfm' "$GPUIMG"
check 'a temporary file that cannot grow is named' grep -qx 'gpuimg: stack: a temporary file in .: File too large (TMPDIR says where it goes)' err
expect 75 env TMPDIR=./nowhere "$GPUIMG" stack --by median --memory 1 c?.ppm made.ppm
check 'a missing folder for temporary files is named' grep -qx 'gpuimg: stack: a temporary file in ./nowhere: No such file or directory (TMPDIR says where it goes)' err
expect 0 env TMPDIR=./nowhere "$GPUIMG" stack --by median c?.ppm all.ppm
# 60 images of 36 MB in total with 2 MB of --memory: the program alone takes about 10 MB.
head -c 600000 /dev/urandom >noise
for i in {1..60}; do { printf 'P5 1000 600 255\n'; tail -c +$((i * 977)) noise; head -c $((i * 977 - 1)) noise; } >n$i.pgm; done
if sanitized; then
    skip 'memory of stack: a sanitizer needs memory of its own'
else
    for by in median sigma-clip; do
        expect 0 env TMPDIR=. python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$GPUIMG" stack --by $by --memory 2M --threads 2 n*.pgm part.pgm
        check "$by: memory is bounded ($(<out) kB)" test "$(<out)" -lt 30000
    done
    # Lack of memory is not the fault of an image: the status says that the command may be repeated.
    { printf 'P5 2000 1500 255\n'; head -c 3000000 /dev/zero; } >large.pgm
    # Limits at which the program, which is larger with CUDA, just starts, and at which it has as much again.
    least=12000
    until (ulimit -v $least; exec "$GPUIMG" --version) >/dev/null 2>&1; do ((least += 1000, least < 200000)) || break; done
    for kib in $least $((least + 12000)); do
        for command in "stack --by sum large.pgm large.pgm" "blur large.pgm"; do
            [[ $kib != "$least" && $command == blur* ]] && continue
            # shellcheck disable=SC2086
            (ulimit -v $kib; exec "$GPUIMG" $command made.pgm --threads 1) 2>err
            check "$command in $kib KiB exits with 75" test $? = 75
            check "$command in $kib KiB prints one message" test "$(grep -c 'out of memory' err) $(wc -l <err)" = '1 1'
        done
    done
fi
# sigma-clip warns if --kappa can reject nothing, whatever the samples are: one sample of 6 is at most sqrt(6 * 5 / 4) standard
# deviations from the median (with the samples 0 0 0 0 1 5), one of 8 at most sqrt(8 * 6 / 5).
printf 'P2 1 1 255  0\n' >zero.pgm
printf 'P2 1 1 255  200\n' >bright.pgm
reason() { echo "--kappa $1: rejects nothing, because no sample of $2 images is more than $3 standard deviations from the median (try --kappa 2)"; }
zeros=(zero.pgm zero.pgm zero.pgm zero.pgm zero.pgm)
expect 0 gpuimg stack --method sigma-clip "${zeros[@]}" bright.pgm out.pgm
says 'sigma-clip of 6 images warns' "gpuimg: warning: stack: $(reason 3 6 2.74)"
check 'sigma-clip of 6 images is the mean' test "$(samples 1 out.pgm)" = 33
expect_error 1 "stack: --strict: $(reason 3 6 2.74)" stack --method sigma-clip bright.pgm "${zeros[@]}" made.pgm --strict
expect 0 gpuimg stack --method sigma-clip --kappa 2 "${zeros[@]}" bright.pgm out.pgm
check 'sigma-clip --kappa 2 rejects an outlier of 6 without a warning' test "$(samples 1 out.pgm)$(<err)" = 0
expect 0 gpuimg stack --method sigma-clip --kappa 2.5 "${zeros[@]:1}" bright.pgm out.pgm
says '2.5 of 5 images can reject' ''
expect 0 gpuimg stack --method sigma-clip "${zeros[@]}" zero.pgm zero.pgm bright.pgm out.pgm
check 'the default rejects an outlier of 8' test "$(samples 1 out.pgm)$(<err)" = 0
expect 0 gpuimg stack --method mean zero.pgm bright.pgm out.pgm
says 'the mean does not warn' ''
expect 0 gpuimg stack --method sigma-clip zero.pgm bright.pgm out.pgm
says 'sigma-clip of 2 images warns' 'gpuimg: warning: stack: sigma-clip rejects nothing of 2 images, want 3 or more'
printf 'P2 6 1 255  0 0 0 0 0 200\n' >row.pgm
expect 0 gpuimg run 'stack --images 6 --method sigma-clip' row.pgm out.pgm
says 'sigma-clip of 6 images in a chain warns' "gpuimg: warning: run: row.pgm: $(reason 3 6 2.74)"

mkdir disk
if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
    expect 75 env TMPDIR=disk "$GPUIMG" stack --by median --memory 1M n1.pgm n2.pgm made.pgm
    check 'a full disk for temporary files is named' grep -qx 'gpuimg: stack: a temporary file in disk: No space left on device (TMPDIR says where it goes)' err
    expect 75 env TMPDIR=disk "$GPUIMG" histogram n1.pgm n2.pgm --bins 65536 --table made.npy
    check 'a full disk is named for a table' grep -qx 'gpuimg: histogram: a temporary file in disk: No space left on device (TMPDIR says where it goes)' err
    check 'no output appears' test -z "$(compgen -G 'made*')"
    umount disk
else
    skip 'a full disk: tmpfs can not be mounted here'
fi

finish
