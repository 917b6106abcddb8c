#!/bin/bash
# --memory holds: what many images take together, by the peak of resident memory. Usage: memory.sh GPUIMG
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >peak.py <<'PY'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
PY

# holds WHAT STATUS ARGUMENT...: gpuimg ends so, and takes at most 80 MB.
holds() {
    local what=$1 want=$2 got kib
    shift 2
    kib=$(python3 peak.py "$GPUIMG" "$@" 2>err)
    got=$?
    if ((got == want)); then pass; else fail "$what: exit status $got, want $want" "$(<err)"; fi
    if ((kib < 80000)); then pass; else fail "$what: $kib KiB"; fi
}

if sanitized; then
    skip "a sanitizer takes memory of its own"
    finish
    exit
fi
{ printf 'P5\n2000 1500\n255\n'; head -c 3000000 /dev/urandom; } >m00.pgm
for i in {01..39}; do cp m00.pgm "m$i.pgm"; done
cat m*.pgm m*.pgm >stream.pgm
tar cf m.tar m*.pgm
holds "a stream" 0 flip --h stream.pgm out.pgm --memory 1M --threads 12
check "a stream: all of it" test "$(stat -c %s out.pgm)" = "$(stat -c %s stream.pgm)"
holds "files" 0 flip --h --out-dir out m*.pgm --memory 1M --threads 12
holds "a tar" 0 flip --h --tar m.tar out.tar --memory 1M --threads 12
check "a tar: all of it" test "$(tar tf out.tar | wc -l)" = 40

# A member that is longer than --memory, and as long as its samples take.
{ printf 'P5\n4200 4200\n255\n'; head -c 17640000 /dev/zero; } >long.pgm
tar cf long.tar long.pgm
holds "a long image" 0 flip --h --tar long.tar out.tar --memory 1M
check "a long image: it is there" test "$(tar tf out.tar)" = long.pgm
rm long.*

# A member of which the tar says that it is long, and its own head that it is not.
for f in P5 P2; do
    printf '%s\n10 10\n255\n' $f >hole.pgm
    truncate -s 400M hole.pgm
    tar -S -cf hole.tar m00.pgm hole.pgm m01.pgm
    holds "a hole, $f" 1 flip --h --tar hole.tar out.tar --memory 1M
    check "a hole, $f: said" grep -qx 'gpuimg: flip: hole.tar: hole.pgm: 419430400 bytes, over the limit of 1000000; --memory raises it' err
    check "a hole, $f: left out" test "$(tar tf out.tar | tr '\n' ' ')" = 'm00.pgm m01.pgm '
done
rm -f hole*
rm -rf m[0-9]* m.tar out*
finish
