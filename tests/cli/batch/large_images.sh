#!/bin/bash
# Images of a batch that need more than --memory are processed in bands of rows: with the bytes, the reports and the errors of
# whole images, beside small images, and with bounded memory. Usage: large_images.sh GPUIMG
# Sources: cli/run/imaging_rows.c cli/run/imaging_work.c cli/run/engine.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export GPUIMG_DEVICE=cpu
mkdir in
pgm small.pgm 400 300
gpuimg resize --stretch --size 1500x1250 small.pgm in/large.pgm
for suffix in png tif jpg; do gpuimg convert in/large.pgm in/large-$suffix.$suffix; done
gpuimg resize --stretch --size 450x1400 small.pgm in/deep.png --depth 16
for i in 1 2 3; do cp small.pgm in/small$i.pgm; done

# batch FOLDER OPTION...: processes in/ and counts the images that were read in bands.
batch() {
    local folder=$1
    shift
    expect "${status:-0}" gpuimg run "$chain" in/* --out-dir "$folder" -v "$@"
    bands=$(grep -c 'read, processed and written in bands' err)
}
for chain in 'gaussian --sigma 3' 'median --k 3 | resize --size 50% | sharpen' 'flip --h'; do
    for threads in 1 3; do
        rm -rf whole parts
        batch whole --memory 4G --threads $threads
        check "$chain: nothing is read in bands if there is memory: $bands" test "$bands" = 0
        batch parts --memory 1M --threads $threads --report r.jsonl
        check "$chain: $bands large images are read in bands" test "$bands" = 5
        check "$chain: the bytes are those of whole images" diff -r whole parts
        check "the report has all images, with their sizes" python3 -c '
import json, os
lines = [json.loads(line) for line in list(open("r.jsonl"))[1:]]
assert len(lines) == 8 and all(l["status"] == "done" for l in lines), lines
for l in lines:
    assert l["output_bytes"] == os.path.getsize(l["output"]), l
    assert (l["width"], l["height"]) == ((400, 300) if "small" in l["input"] else (450, 1400) if "deep" in l["input"] else (1500, 1250)), l'
    done
    rm parts/large.pgm
    batch parts --memory 1M --report r.jsonl --resume
    check "--resume makes what is missing" diff -r whole parts
    check "... and nothing else" test "$bands" = 1
    rm r.jsonl
done

# Steps that need the whole image, and those that look first.
for chain in 'equalize' 'fill-holes'; do
    rm -rf whole parts
    batch whole --memory 4G
    batch parts --memory 1M
    check "$chain: the bytes are the same" diff -r whole parts
done

# Damage in the last rows: no output, and all others.
chain='gaussian --sigma 3'
for file in large.pgm large-tif.tif large-png.png; do truncate -s -1000 in/$file; done
rm -rf whole parts
status=1 batch whole --memory 4G
grep '^gpuimg: run: in/' err | sort >want
status=1 batch parts --memory 1M
check "truncated images have no outputs" test "$(cd parts && echo *)" = 'deep.png large-jpg.jpg small1.pgm small2.pgm small3.pgm'
check "the others are the same" diff -r whole parts
check "three images failed" grep -q '3 of 8 files failed' err

# Several threads with an image of 54 MB each would hold all of them with their results and files.
if sanitized; then
    skip "memory of batches: a sanitizer needs memory of its own"
else
    cat >peak.py <<'PY'
import os, resource, sys
null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=null)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
PY
    rm -rf in parts
    mkdir in
    { printf 'P5\n6000 9000\n255\n'; head -c 54000000 /dev/zero; } >in/1.pgm
    for i in 2 3 4; do ln in/1.pgm in/$i.pgm; done
    program=$(python3 -IS peak.py "$GPUIMG" blur small.pgm small.png)
    kib=$(python3 -IS peak.py "$GPUIMG" blur in/*.pgm --out-dir parts --memory 20M --threads 4)
    check "four images of 54 MB take $kib KiB, $program of it by the program" test $((kib - program)) -lt 45000
    check "the results are complete" test "$(stat -c %s parts/*.pgm | sort -u)" = 54000017
fi
finish
