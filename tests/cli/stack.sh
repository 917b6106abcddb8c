#!/bin/bash
# gpuimg stack, held against the definition of each way.
# Usage: stack.sh GPUIMG
. "$(dirname "$0")/lib.sh"

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
                check "$kind $by of $n" python3 oracle.py $by "${kind#*:}" "res-$out" $files
            done
        done
    done
done
printf '%s\n' a{0..5}.pgm >list.txt
gpuimg stack a?.pgm one.pgm
expect 0 gpuimg stack --files-from list.txt two.pgm
check 'a list' cmp one.pgm two.pgm
expect_error 1 'stack: b0.pgm: is 7 x 5, 1 channels of 2 bytes, want 7 x 5, 1 of 1 as a0.pgm' stack a0.pgm b0.pgm made.pgm
expect_error 1 'stack: nowhere.pgm: No such file or directory' stack a0.pgm nowhere.pgm made.pgm
expect_error 2 'stack: want INPUT... before the output made.pgm' stack made.pgm
expect_error 2 'stack: a0.pgm: would be written over the input a0.pgm, want another file' stack a1.pgm a0.pgm a0.pgm
expect_error 1 'stack: --by median holds all images, * bytes: want --memory so large' stack --by median --memory 100 a0.pgm a1.pgm made.pgm

finish
