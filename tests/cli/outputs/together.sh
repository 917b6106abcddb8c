#!/bin/bash
# Outputs of one command are written together: all appear under their names, or none.
# Sources: imgio/bundle.c cli/paths/output*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 61 47
two_regions two.pgm
everything="--labels made.png --labels-picture made.ppm --mask made.pgm --overlay made2.ppm --crops made.d --points made.csv"

# nothing NAME: tests that no output and no temporary file exists.
nothing() {
    check "$1: no output exists" test -z "$(compgen -G 'made*'; compgen -G '.gpuimg-*')"
    rm -rf made* .gpuimg-*
}

# The table is printed last: if that fails, all other outputs are discarded although they are complete.
# shellcheck disable=SC2086
"$GPUIMG" extract two.pgm --at 20 $everything >/dev/full 2>err
check "extract to a full standard output fails" test $? = 75
nothing "extract to a full standard output"
"$GPUIMG" compare two.pgm two.pgm --diff made.png >/dev/full 2>err
check "compare to a full standard output fails" test $? = 75
nothing "compare to a full standard output"
"$GPUIMG" histogram two.pgm --plot made.svg >/dev/full 2>err
check "histogram to a full standard output fails" test $? = 75
nothing "histogram to a full standard output"
"$GPUIMG" run 'extract --at 20 --mask made.pgm --crops made.d --to made.csv | histogram' two.pgm made.png >/dev/full 2>err
check "run to a full standard output fails" test $? = 75
nothing "run to a full standard output"
# shellcheck disable=SC2086
expect 0 gpuimg extract two.pgm made.json --at 20 $everything
check "without a failure all outputs exist" test "$(echo made*)" = "made.csv made.d made.json made.pgm made.png made.ppm made2.ppm"
rm -rf made*
expect 2 gpuimg compare two.pgm in.pgm --diff made.png # of another size
nothing "compare of two sizes"
sed 's/90/91/' two.pgm >other.pgm
expect 1 gpuimg compare two.pgm other.pgm --max-diff 0 --diff made.png
check "a difference is a result: the picture exists" test -s made.png
rm made.png

# A limit on the size of files that only the last output exceeds; older files are unchanged.
pgm big.pgm 400 400
for file in made.png made.pgm made.json; do echo old >$file; done
(ulimit -f 100 && exec "$GPUIMG" extract big.pgm made.json --at 64 --mask made.pgm --compression 9 --labels made.png --points made.csv) 2>err
check "a file over the limit fails" test $? = 1
check "older files are unchanged" test "$(cat made.png made.pgm made.json)" = $'old\nold\nold'
rm made.png made.pgm made.json
nothing "a file over the limit"

# Renaming one output fails: the outputs before it are undone.
if ((EUID)); then
    skip "a file that can't be replaced: only root can make one"
elif touch fixed.pgm && chattr +a fixed.pgm 2>/dev/null; then
    echo old >made.png
    expect 1 gpuimg extract two.pgm made.json --at 20 --labels made.png --labels-picture made.ppm --crops made.d --mask fixed.pgm
    check "the file that can't be replaced is named" grep -q '^gpuimg: extract: fixed.pgm: Operation not permitted' err
    check "the older file is restored" test "$(cat made.png)" = old
    chattr -a fixed.pgm
    rm made.png
    nothing "a file that can't be replaced"
else
    skip "a file that can't be replaced: this file system knows no chattr +a"
fi

# Folders of crops.
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops crops/
check "crops are in the folder" test "$(echo crops/*)" = "crops/region-000001.png crops/region-000002.png"
expect_error 1 'extract: --crops crops: holds region-00000?.png: want a new or an empty folder, or --force *' extract two.pgm made.csv --crops crops
expect 0 gpuimg extract two.pgm t.csv --at 60 --crops crops --force
check "--force replaces the folder" test "$(echo crops/*)" = "crops/region-000001.png"
chmod 750 crops
echo mine >crops/notes.txt
expect_error 1 'extract: --crops crops: holds notes.txt, which is none of the crops, *' extract two.pgm made.csv --crops crops --force
rm crops/notes.txt
"$GPUIMG" extract two.pgm --at 20 --crops crops --force >/dev/full 2>err
check "a failure with --force keeps the older folder" test "$(echo crops/*)" = "crops/region-000001.png"
ln -s crops link
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops link --force
check "a link to a folder remains a link" test -L link
check "the folder behind a link is replaced and keeps its permissions" test "$(echo crops/*) $(stat -c %a crops)" = "crops/region-000001.png crops/region-000002.png 750"
mkdir empty
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops ./empty/. --crop-format ppm
check "an empty folder is filled" test "$(echo empty/*)" = "empty/region-000001.ppm empty/region-000002.ppm"
expect_error 1 'extract: --crops /proc: *' extract two.pgm made.csv --crops /proc
expect 0 gpuimg extract two.pgm t.csv --at 95 --crops none
check "without regions the folder is empty" test -d none -a -z "$(ls -A none)"
check "no temporary file is left" test -z "$(compgen -G '.gpuimg-*')"

# Prefixes of formats are for images only.
expect_error 2 'extract: --crops png:made: takes no prefix of a format, want another name (or ./png:made)' extract two.pgm made.csv --crops png:made
expect_error 2 'extract: TABLE pgm:made.csv: takes no prefix *' extract two.pgm pgm:made.csv
expect_error 2 'extract: --points npy:made.npy: takes no prefix *' extract two.pgm made.csv --points npy:made.npy
expect_error 2 'histogram: --plot png:made.png: takes no prefix *' histogram two.pgm --plot png:made.png
expect 0 gpuimg extract two.pgm t.csv --at 20 --crops ./png:made
check "the name of a folder may look like a prefix" test "$(echo png:made/*)" = "png:made/region-000001.png png:made/region-000002.png"

# A signal while crops are written.
mkdir killed
for signal in TERM HUP; do
    "$GPUIMG" extract big.pgm killed/t.csv --at 64 --crops killed/d --labels killed/l.png --crop-margin 300 --compression 9 &
    for ((i = 0; i < 200; i++)); do
        compgen -G 'killed/.gpuimg-*/region-*' >/dev/null && break
        sleep 0.02
    done
    kill -$signal $!
    wait $! 2>/dev/null
    check "SIG$signal leaves no file" test -z "$(ls -A killed)"
done

finish
