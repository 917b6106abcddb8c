#!/bin/sh
# Blur, edges, histogram and regions of the pictures in testdata/. Usage: demo.sh GPUIMG FOLDER
set -eu
gpuimg=$1
out=$2

show() {
    echo "\$ gpuimg $*"
    "$gpuimg" "$@"
}

show blur testdata/scene.png "$out/blur.png" --k 9
show edges testdata/scene.png "$out/edges.png"
show histogram testdata/coins.png --bins 16 --plot "$out/histogram.png"
show extract testdata/coins.png "$out/regions.csv" --min-area 50 --overlay "$out/overlay.png" --labels-picture "$out/labels.png"
show montage "$out/blur.png" "$out/edges.png" "$out/overlay.png" "$out/labels.png" "$out/sheet.png" --columns 2 --cell 320x240
head -4 "$out/regions.csv"
echo
echo "written:"
ls -l "$out" | awk 'NR > 1 {printf "  %-44s %9d bytes\n", "'"$out"'/" $9, $5}'
echo
echo "open $out/overlay.png: each coin in a box with its number; $out/labels.png has each in its own colour"
