#!/bin/bash
# Several processes write the same output while another reads it: the reader gets no file or a complete one, no writer fails,
# and no temporary file is left. Usage: race.sh GPUIMG
# Sources: imgio/sink* imgio/temporary* cli/inputs/page_cursor*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

pgm a.pgm 61 47
gpuimg invert a.pgm b.pgm
gpuimg flip --h a.pgm flipped.pgm
mkdir a b
for f in a b; do for i in 1 2 3; do cp $f.pgm $f/$i.pgm; done; done
for f in a b; do tar cf $f.tar $f/1.pgm $f/2.pgm --transform 's|.*/||'; done
export GPUIMG_DEVICE=cpu

# Reads NAME for at least half a second and until it existed ten times (at most a minute), then makes the file "done"; prints
# "a part" if the content differs from all of the files or folders that follow, and the number of reads that found something.
cat >look.py <<'PY'
import hashlib, os, sys, time

def one(path):
    """The hash of a file's bytes, or of a folder's names and bytes; None: it does not exist, or was replaced meanwhile."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        if not os.path.isdir(f"/proc/self/fd/{fd}"):
            with os.fdopen(os.dup(fd), "rb") as file:
                return hashlib.md5(file.read()).hexdigest()
        inner = os.open(".", os.O_RDONLY, dir_fd=fd)
        seen = sorted((name, one(f"/proc/self/fd/{fd}/{name}")) for name in os.listdir(inner))
        os.close(inner)
        # A process that has opened the older folder sees it being emptied.
        return hashlib.md5(repr(seen).encode()).hexdigest() if os.stat(path).st_ino == os.fstat(fd).st_ino else None
    except FileNotFoundError:
        return None
    finally:
        os.close(fd)

name, whole = sys.argv[1], {one(path) for path in sys.argv[2:]}
looks, start = 0, time.monotonic()
while time.monotonic() < start + (0.5 if looks > 9 else 60):
    saw = one(name)
    looks += saw is not None
    if saw is not None and saw not in whole:
        print("a part")
        break
open("done", "w").close()
print(looks)
PY

# race WHAT NAME WHOLE WHOLE COMMAND COMMAND: runs each command in two loops while another process reads.
race() {
    local what=$1 name=$2 first=$3 second=$4 text w
    local -a writers=()
    rm -rf done failed
    for w in 1 2 3 4; do
        text=${*:5 + w % 2:1}
        (while [[ ! -e done ]]; do
            eval "\"$GPUIMG\" $text" >/dev/null 2>>errors || echo failed >>failed
        done) &
        writers+=($!)
    done
    python3 look.py "$name" "$first" "$second" >looks
    wait "${writers[@]}"
    check "$what: no writer fails: $(head -c 200 errors)" test ! -e failed
    check "$what: the reader gets only complete outputs" test -z "$(grep part looks)"
    check "$what: the reader gets some outputs" test "$(tail -1 looks)" -gt 9
    check "$what: no temporary file is left" test -z "$(find . -name '.gpuimg*')"
    rm -rf "$name" errors
}

for f in a b; do
    gpuimg convert $f.pgm $f.png
    gpuimg convert $f.pgm $f.tif
    gpuimg histogram $f.pgm --table $f.csv
    gpuimg histogram $f.pgm --table $f.npy
    gpuimg histogram $f.pgm --plot $f.svg >/dev/null
    gpuimg extract $f.pgm $f.json --at 50% --crops crops-$f
    gpuimg invert --tar $f.tar made-$f.tar
    gpuimg compare $f.pgm flipped.pgm --diff diff-$f.pgm --gain 1 --max-diff 255 >/dev/null
done
race "a file" out.png a.png b.png "convert a.pgm out.png" "convert b.pgm out.png --threads 2"
race "a durable file" out.tif a.tif b.tif "convert a.pgm out.tif --durable" "convert b.pgm out.tif"
cp a.pgm place.pgm
race "in place" place.pgm a.pgm flipped.pgm "flip --h place.pgm place.pgm" "flip --h place.pgm place.pgm --threads 1"
race "--out-dir" out/1.pgm a.pgm b.pgm "invert --out-dir out b/1.pgm b/2.pgm b/3.pgm" "invert --out-dir out a/1.pgm a/2.pgm a/3.pgm"
race "a tar" out.tar made-a.tar made-b.tar "invert --tar a.tar out.tar" "invert --tar b.tar out.tar"
race "a table" out.csv a.csv b.csv "histogram a.pgm --table out.csv" "histogram b.pgm --table out.csv"
race "an array" out.npy a.npy b.npy "histogram a.pgm --table out.npy" "histogram b.pgm --table out.npy"
race "a plot" out.svg a.svg b.svg "histogram a.pgm --plot out.svg" "histogram b.pgm --plot out.svg"
race "crops" found crops-a crops-b "extract a.pgm --at 50% --crops found --force" "extract b.pgm --at 50% --crops found --force"
race "with others" out.json a.json b.json "extract a.pgm out.json --at 50% --mask ma.pgm" "extract b.pgm out.json --at 50% --mask ma.pgm"
race "a difference" out.pgm diff-a.pgm diff-b.pgm "compare a.pgm flipped.pgm --diff out.pgm --gain 1 --max-diff 255" "compare b.pgm flipped.pgm --diff out.pgm --gain 1 --max-diff 255"

# If commands may not replace a file, one of them succeeds.
for i in {1..8}; do
    ("$GPUIMG" convert a.pgm once.png --no-clobber 2>/dev/null && echo won >>won) &
done
wait
check "--no-clobber: one command succeeds" test "$(wc -l <won)" = 1
check "--no-clobber: the output is complete" cmp once.png a.png
check "no temporary file is left" test -z "$(find . -name '.gpuimg*')"
# A TIFF that is replaced all the time by one of more pages: counting and reading see the same pages, or it is an error.
gpuimg pages a.pgm --out one.tif
gpuimg pages a.pgm a.pgm a.pgm a.pgm a.pgm a.pgm a.pgm a.pgm a.pgm a.pgm --out ten.tif
cp one.tif changing.tif
rm -f done
(
    while [[ ! -e done ]]; do
        for f in one ten; do cp $f.tif next.tif && mv -f next.tif changing.tif; done
    done
) &
crashes=0
for _ in {1..60}; do
    gpuimg montage b.pgm changing.tif made.png --cell 8x8 --quiet 2>err
    (($? <= 1)) || ((++crashes))
done
touch done
wait
if ((crashes == 0)); then pass; else fail "a TIFF is replaced while montage reads it" "$crashes crashes of 60"; fi

finish
