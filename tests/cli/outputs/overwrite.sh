#!/bin/bash
# No file that a batch reads is overwritten, and no output is written twice, for any spelling of the paths.
# Usage: overwrite.sh GPUIMG
# Sources: cli/hash.h cli/paths/path_conflicts*
. "$(dirname "$0")/../lib.sh"

mkdir c
for i in 0 1 2; do pgm c/$i.pgm $((7 + i)) 5; done
for i in 0 1 2; do tar cf t-$i.tar -C c $i.pgm; done
cp -r c kept
cp t-*.tar kept
ls c/*.pgm >list
echo c/0.pgm >single

unchanged() {
    local f
    for f in c/*.pgm; do cmp "$f" "kept/${f##*/}" || return; done
    for f in t-*.tar; do cmp "$f" "kept/$f" || return; done
    cmp list <(ls c/*.pgm)
}
# refuse PATTERN ARGUMENT...: tests for an error of usage that leaves the inputs unchanged.
refuse() {
    expect_error 2 "$@"
    check "inputs are unchanged: $*" unchanged
    cp kept/?.pgm c/
    cp kept/t-*.tar .
    ls c/*.pgm >list
}

# Outputs over inputs, by folders that do not exist yet and by links.
refuse 'invert: new/../c/?.pgm: the output of c/?.pgm would be written over the input c/?.pgm, want*' \
    invert --out-dir new/../c c/0.pgm c/1.pgm c/2.pgm
refuse 'invert: ./new/.//sub/../../c/?.pgm: the output*' invert --out-dir ./new/.//sub/../../c c/0.pgm c/1.pgm
check 'no folder is made by a refusal' test ! -e new
mkdir dest
ln -s ../c/1.pgm dest/1.pgm
refuse 'invert: dest/1.pgm: the output of c/1.pgm would be written over the input c/1.pgm*' invert --out-dir dest c/*.pgm
rm dest/1.pgm
ln -s both dest/0.pgm
ln -s "$PWD/dest/both" dest/1.pgm
refuse 'invert: dest/1.pgm: would be the output of c/*.pgm and of c/*.pgm*' invert --out-dir dest c/1.pgm c/0.pgm
rm dest/*
expect 0 gpuimg invert --out-dir new/../fresh c/*.pgm
check 'a path behind a folder that did not exist' test -s fresh/2.pgm -a -d new
expect 0 gpuimg invert --out /dev/null --format pgm c/*.pgm

# Two images as operands of convert may be two inputs, as in other programs that join images.
cp c/0.pgm other.pgm
cp c/1.pgm text.pgm
echo text >text.pgm
expect_error 2 'convert: c/1.pgm: is an image already: want --force to replace it, or gpuimg pages --out FILE to join the images' convert c/0.pgm c/1.pgm
check "the second image is unchanged" cmp c/1.pgm kept/1.pgm
for options in '--depth 8' '--strip' --force -f; do
    cp c/1.pgm second.pgm
    # shellcheck disable=SC2086 # options
    expect 0 gpuimg convert c/0.pgm second.pgm $options
    check "convert $options replaces it" cmp second.pgm other.pgm
done
expect 0 gpuimg convert c/0.pgm text.pgm
expect 0 gpuimg convert second.pgm second.pgm
gpuimg convert c/1.pgm made.png
expect 0 gpuimg convert c/0.pgm made.png
expect 0 gpuimg invert c/0.pgm second.pgm
rm -f made.png
# The files that options name.
refuse 'invert: --report c/0.pgm: is the input c/0.pgm, want another file' \
    invert --out-dir dest --report c/0.pgm c/*.pgm
refuse 'invert: --report ./list: is the file of --files-from too, want another one' \
    invert --out-dir dest --files-from list --report ./list
refuse 'invert: --files-from single: is the output of c/0.pgm, want another file' \
    invert --out single --format pgm --files-from single
refuse 'invert: --report dest/./1.pgm: is the output of c/1.pgm, want another file' \
    invert --out-dir dest --report dest/./1.pgm c/*.pgm
refuse 'histogram: --report h.csv: is the file of --table too*' histogram --table h.csv --report h.csv c/*.pgm
ln -s 0.pgm c/table.csv
for command in histogram info; do
    refuse "$command: --table c/table.csv: is the input c/0.pgm, want another file" $command --table c/table.csv c/0.pgm
done
refuse 'histogram: --report c/0.pgm: is the input c/0.pgm*' histogram --out-dir dest --report c/0.pgm c/*.pgm
printf 'c/1.pgm\tc/0.pgm\n' >pairs
refuse 'compare: --table c/table.csv: is the input c/0.pgm*' compare --pairs pairs --table c/table.csv
rm c/table.csv

# Tars: no output may replace a tar that is read, neither itself nor another one.
refuse 'blur: --tar: t-1.tar would be written over the input t-1.tar, want another tar' \
    blur --tar 't-{0..1}.tar' 't-{1..2}.tar'
refuse 'blur: --tar: two tars would both be written to *u.tar' blur --tar 't-{0..1}.tar' '{u,./u}.tar'
refuse 'blur: --tar: ./t-1.tar would be written over the input t-1.tar*' blur --tar 't-{0..2}.tar' ./t-1.tar
ln -s t-0.tar link.tar
refuse 'blur: --tar: link.tar would be written over the input t-0.tar*' blur --tar 't-{0..1}.tar' '{other,link}.tar'
check 'no tar is made by a refusal' test ! -e u.tar -a ! -e other.tar
refuse 'blur: --tar: t-?.tar would be written over the input t-?.tar, want another tar' \
    blur --tar 't-{0..1}.tar' 't-{0..1}.tar'
refuse 'blur: --tar: t-1.tar would be written over the input t-1.tar*' blur --tar t-1.tar t-1.tar
refuse 'blur: --tar: ./t-1.tar would be written over the input t-1.tar*' blur --tar t-1.tar ./t-1.tar

# The lists of commands that make one image of several.
for command in 'stack --files-from list' 'pages --files-from list --out'; do
    # shellcheck disable=SC2086 # options
    refuse "${command%% *}: list: would be written over the input list, want another file" $command list --format tiff
done
printf 'file,x,y\nc/0.pgm,0,0\n' >places
cp places kept-places
refuse 'mosaic: ./places: would be written over the input places, want another file' mosaic places ./places --format png
refuse 'mosaic: places: would be written over the input places*' mosaic places new.png --report places
check 'the table is unchanged' cmp places kept-places

# Lists separated by zero bytes that are read as lines.
find c -name '*.pgm' -print0 >zeros
refuse 'invert: --files-from zeros: line 1: holds a zero byte, want -0*' invert --files-from zeros --out-dir dest
printf 'c/0.pgm\n\nc\n' >folders
refuse 'invert: --files-from folders: line 3: c: is a folder, want --recursive or files' \
    invert --files-from folders --out-dir dest
printf 'c/0.pgm\n\nc/1.pgm\r\n' >windows
refuse 'invert: --files-from windows: line 3: ends in a carriage return, *want lines that end in a newline alone' \
    invert --files-from windows --out-dir dest
expect 0 gpuimg invert --files-from zeros -0 --out-dir dest
check '--null reads names separated by zero bytes' test "$(find dest -type f | wc -l)" = 3
cp c/0.pgm $'c/return.pgm\r'
printf 'c/return.pgm\r\n' >windows
expect 0 gpuimg invert --files-from windows --out-dir returns --format pgm
check 'a file whose name ends in a carriage return is taken' test "$(find returns -type f | wc -l)" = 1

finish
