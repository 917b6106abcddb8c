#!/bin/bash
# --memory bounds the memory of many images together, measured by the peak of resident memory beyond that of the program
# itself, which is larger with CUDA. Usage: memory.sh GPUIMG
# Sources: cli/run/memory_budget* cli/run/plans* cli/run/engine* cli/run/imaging.c cli/commands/stack* cli/commands/tiles* imgio/tiff/levels_write* cli/inputs/tar_feed.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# The peak of a child is at least that of the process that starts it, so this one imports little.
cat >peak.py <<'PY'
import os, resource, sys
null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=null)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
PY
# Prints the peak of resident memory of gpuimg with the arguments, in KiB, and returns its status.
peak() { python3 -IS peak.py "$GPUIMG" "$@"; }

# holds WHAT STATUS ARGUMENT...: tests that gpuimg ends with the status and takes at most $most KiB beyond $program.
most=72000
holds() {
    local what=$1 want=$2 got kib
    shift 2
    kib=$(peak "$@" 2>err)
    got=$?
    if ((got == want)); then pass; else fail "$what: exit status $got, want $want" "$(<err)"; fi
    if ((kib - program < most)); then pass; else fail "$what: $kib KiB, $program of it by the program"; fi
}

if sanitized; then
    skip "memory of batches: a sanitizer needs memory of its own"
    finish
    exit
fi
printf 'P5 2 2 255\nabcd' >small.pgm
tar cf small.tar small.pgm
program=$(peak flip --h --tar small.tar out.tar 2>/dev/null)
{ printf 'P5\n2000 1500\n255\n'; head -c 3000000 /dev/urandom; } >m00.pgm
for i in {01..39}; do cp m00.pgm "m$i.pgm"; done
cat m*.pgm m*.pgm >stream.pgm
tar cf m.tar m*.pgm
holds "a stream" 0 flip --h stream.pgm out.pgm --memory 1M --threads 12
check "the stream is complete" test "$(stat -c %s out.pgm)" = "$(stat -c %s stream.pgm)"
holds "files" 0 flip --h --out-dir out m*.pgm --memory 1M --threads 12
holds "a tar" 0 flip --h --tar m.tar out.tar --memory 1M --threads 12
check "the tar has all members" test "$(tar tf out.tar | wc -l)" = 40
most=68000 # reading ahead in a compressed tar is part of --memory and takes 17 MiB
gzip -1 -k m.tar
holds "a compressed tar" 0 gaussian --sigma 8 --tar m.tar.gz out.tar --memory 40M --threads 12
most=72000
rm m.tar.gz
holds "a table" 0 stats --table out.csv m*.pgm --memory 1M --threads 12
holds "pages" 0 pages m0*.pgm --out out.tif --compression 0 --memory 1M --threads 12
for i in {1..6}; do { printf 'P5\n1000 750\n255\n'; tail -c 750000 m00.pgm; } >"noise$i.pgm"; done
most=100000 # of 160000 that six searches take at once
holds "a search for the quality" 0 convert --out-dir out --suffix .jpg --target-ssimulacra2 60 noise*.pgm --memory 60M --threads 6
most=72000
rm noise*
mkdir a b
ln m0*.pgm a
ln m1*.pgm b
for i in {0..9}; do mv "b/m1$i.pgm" "b/m0$i.pgm"; done
holds "pairs of folders" 0 compare a b --memory 1M --threads 12
rm -r a b

# A member that is larger than --memory and has all bytes of its samples: four copies of its 17,227 KiB are allowed (member,
# image, result and file), a fifth is not.
most=76000
{ printf 'P5\n4200 4200\n255\n'; head -c 17640000 /dev/zero; } >long.pgm
tar cf long.tar long.pgm
holds "a long image" 0 flip --h --tar long.tar out.tar --memory 1M
check "the large image is in the tar" test "$(tar tf out.tar)" = long.pgm
rm long.*
most=72000

# A member whose size in the tar is large although its own header declares a small image.
for f in P5 P2; do
    printf '%s\n10 10\n255\n' $f >hole.pgm
    truncate -s 400M hole.pgm
    tar -S -cf hole.tar m00.pgm hole.pgm m01.pgm
    holds "a hole, $f" 1 flip --h --tar hole.tar out.tar --memory 1M
    check "a sparse member is reported: $f" grep -qx 'gpuimg: flip: hole.tar: hole.pgm: 419430400 bytes, over the limit of 1000000; --memory raises it' err
    check "a sparse member is left out: $f" test "$(tar tf out.tar | tr '\n' ' ')" = 'm00.pgm m01.pgm '
done
rm -f hole*

# A result over a limit: the tables of such an image would take 200 to 3000 MB.
printf 'P5\n10 2000\n255\n' >tall.pgm
head -c 20000 /dev/urandom >>tall.pgm
for operation in 'resize --stretch --size 16777216x1' 'resize --stretch --size 1x16777216' 'warp-polar --size 1x200000000'; do
    for limit in '--max-pixels 1M' '--max-bytes 1M'; do
        # shellcheck disable=SC2086
        holds "$operation $limit" 1 $operation tall.pgm out.pgm $limit
        # shellcheck disable=SC2086
        holds "$operation $limit, a batch" 1 $operation --out-dir out tall.pgm $limit
        # shellcheck disable=SC2086
        holds "$operation $limit, late" 1 run "crop --trim | $operation" tall.pgm out.pgm $limit
    done
done

# Tables count, too: 64 MiB of counters per palette, 32 MiB of curves per image of clahe. Beside one image in progress there
# may be the one that is delivered next.
for i in {00..11}; do
    { printf 'P6\n200 200\n255\n'; head -c 120000 /dev/urandom; } >"c$i.ppm"
    { printf 'P5\n200 200\n65535\n'; head -c 80000 /dev/urandom; } >"g$i.pgm"
done
most=152000
holds palettes 0 palette --table out.csv --memory 40M --threads 12 c*.ppm
holds clahe 0 clahe --tiles 16x16 --out-dir out --memory 20M --threads 12 g*.pgm

# Stacks: the sums of an image of 12 MB take 96 MB. The memory is at most --memory, one input (12 MB of the file, and 12 MB
# decoded) and the result.
{ printf 'P5\n4000 3000\n255\n'; head -c 12000000 /dev/urandom; } >s0.pgm
for i in {1..24}; do ln s0.pgm "s$i.pgm"; done
most=77000
for by in mean min max median; do
    TMPDIR=. holds "stack --by $by" 0 stack --by $by s?.pgm s??.pgm out.pgm --memory 24M --threads 2
    check "stack of equal images by $by" cmp out.pgm s0.pgm
done
most=162000 # a result of 48 MB in float
TMPDIR=. holds "stack --by sum" 0 stack --by sum s?.pgm out.pfm --memory 24M --threads 2

# Tiles of an image of 100 MB that is read in bands; the file also has a table of its tiles.
most=72000
{ printf 'P5\n10000 10000\n255\n'; head -c 100000000 /dev/zero; } >large.pgm
for layout in dz tiff ome-tiff; do
    made=out$([[ $layout = dz ]] || echo .tif)
    TMPDIR=. GPUIMG_BAND_BYTES=1000000 holds "tiles --layout $layout" 0 tiles large.pgm "$made" --layout $layout --threads 2
    check "tiles --layout $layout are there" test -e "$([[ $layout = dz ]] && echo out.dzi || echo out.tif)"
    rm -rf out*
done
rm -rf [mcgs][0-9]* m.tar tall.pgm large.pgm out*
finish
