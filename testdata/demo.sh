#!/bin/sh
# Blur, edges, histogram and regions of the pictures in testdata/, and a contact sheet of the operations.
# Usage: demo.sh GPUIMG FOLDER
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

# A line is an operation as `gpuimg run` takes it, in the order of `gpuimg list`.
mkdir -p "$out/operations"
n=100
while read -r picture operation; do
    n=$((n + 1))
    last=${operation##*| }
    "$gpuimg" run "$operation" "testdata/$picture.png" "$out/operations/$n-${last%% *}.png" --quiet
done <<'END'
scene blur --k 9
scene gaussian --sigma 4
scene sharpen --amount 2
scene convolve --kernel "-2 -1 0; -1 1 1; 0 1 2"
scene edges
scene erode --k 7
scene dilate --k 7
scene open --k 9
scene close --k 9
scene gradient --k 3
scene tophat --k 15
scene blackhat --k 15
scene median --k 9
scene rank --percent 80 --k 7
scene midpoint --k 7
scene bilateral --sigma 4 --range 12%
scene nlmeans --strength 12
coins threshold --at otsu
coins local-threshold --k 41
coins threshold --at otsu | fill-holes
coins threshold --at otsu | clear-border
scene invert
scene levels --black 10% --white 80%
scene gamma --by 2
scene normalize
scene equalize
scene clahe
scene match --reference testdata/picture.png
scene color --saturation 2
scene color --sepia
scene color --hue 120
scene color --pca
scene quantize --colors 6
scene crop --size 50% --gravity center
scene pad --by 80 --border mirror
scene flip --h
scene rotate --angle 12
scene affine --matrix "0.8 0.3 0; -0.3 0.8 120"
scene shift --by 80,40 --border wrap
scene warp-polar
scene composite --with testdata/coins.png --mode multiply
END
echo "\$ gpuimg montage $out/operations/*.png $out/operations.png --columns 8 --cell 160x107 --background white"
"$gpuimg" montage "$out"/operations/*.png "$out/operations.png" --columns 8 --cell 160x107 --background white
echo
echo "written:"
ls -l "$out" | awk 'NR > 1 {printf "  %-44s %9d bytes\n", "'"$out"'/" $9, $5}'
echo
echo "open $out/overlay.png: each coin in a box with its number; $out/labels.png has each in its own colour;"
echo "     $out/operations.png: what the operations do, in the order of the names in $out/operations"
