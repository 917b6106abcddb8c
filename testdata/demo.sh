#!/bin/sh
# Makes blur, edges, histogram and connected components of the pictures in testdata/, and a montage of all operations.
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

# Further images of operations: the illumination alone, a mask, labels, points, displacements of pixels.
mkdir -p "$out/further" "$out/operations"
quiet() { "$gpuimg" "$@" --quiet; }
quiet gaussian testdata/scene.png "$out/further/light.png" --sigma 90
quiet color testdata/scene.png "$out/further/sepia.png" --sepia
quiet threshold testdata/coins.png "$out/further/mask.png" --at otsu
quiet extract "$out/further/mask.png" "$out/further/regions.csv" --labels "$out/further/labels.png"
quiet extract testdata/coins.png "$out/further/bright.csv" --at 75% --points "$out/further/bright.npy"
# A look for lut: the colours that black, red, green, yellow, blue, magenta, cyan and white become.
printf 'LUT_3D_SIZE 2\n0.02 0.06 0.12\n1 0.35 0.15\n0.1 0.6 0.45\n1 0.85 0.4\n0 0.2 0.5\n0.8 0.3 0.5\n0.2 0.75 0.8\n1 0.96 0.88\n' >"$out/further/look.cube"
quiet run 'gaussian --sigma 14 | multiply --value 90' testdata/coins.png "$out/further/waves.pfm" --depth float

# Each line is an operation in the form of `gpuimg run`, in the order of `gpuimg list`.
set --
while read -r picture operation; do
    last=${operation##*| }
    last=${last%% *}
    quiet run "$operation" "testdata/$picture.png" "$out/operations/$last.png"
    set -- "$@" "$out/operations/$last.png"
done <<END
scene blur --k 9
scene gaussian --sigma 4
scene sharpen --amount 2
scene convolve --kernel "-2 -1 0; -1 1 1; 0 1 2"
scene edges
scene canny --low 150 --high 400
scene erode --k 7
scene dilate --k 15 --shape disk
scene open --k 9
scene close --k 9
scene gradient --k 3
scene tophat --k 71
scene blackhat --k 31
scene background --radius 60
scene reconstruct --seed $out/further/light.png
scene h-maxima --height 60
scene h-minima --height 60
coins threshold --at otsu | thin
coins threshold --at otsu | hit-or-miss --hit "0 0 0 0 0; 0 0 1 1 1; 0 1 1 1 1"
coins threshold --at otsu | fill-holes
coins threshold --at otsu | clear-border
coins threshold --at otsu | remove-small --area 1500
coins threshold --at otsu | convex-hull --per-region
scene flood-fill --at 5,5 --tolerance 30% --value orange
coins threshold --at otsu | fill-holes | distance --depth 8
coins threshold --at otsu | expand-labels --distance 6
coins threshold --at otsu | dilate --k 41 --shape disk | split-touching --min-depth 3
coins gaussian --sigma 4 | invert | watershed --min-depth 40 --lines
scene median --k 9
scene rank --percent 80 --k 7
scene quantize --colors 5 | mode --k 11 --shape disk
scene midpoint --k 7
scene bilateral --sigma 4 --range 12%
scene nlmeans --strength 12
coins threshold --at otsu
coins local-threshold --method bernsen --k 91 --contrast 40
scene invert
scene levels --black 10% --white 80%
scene gamma --by 2
scene normalize
scene equalize
scene clahe
scene tonemap --exposure 2 --method aces
scene match --reference $out/further/sepia.png
scene color --hue 120
coins colormap
scene lut --cube $out/further/look.cube
scene quantize --colors 5
scene resize --size 320x427 --stretch
scene crop --size 50% --gravity center
scene pad --by 80 --border mirror
scene flip --h
scene transpose
scene rotate --angle 12
scene deskew
scene affine --matrix "0.8 0.3 0; -0.3 0.8 120"
scene shift --by 80,40 --border wrap
scene perspective --from 393,322,603,349,592,440,381,412
scene warp-polar --size 640x427
scene undistort --camera '{"camera_matrix": [[600, 0, 320], [0, 600, 213], [0, 0, 1]], "distortion_coefficients": [1.5, 0, 0, 0]}'
scene remap --map $out/further/waves.pfm --map-y $out/further/waves.pfm --relative
scene calc --expression "a * (1.2 - 1.6 * hypot(x / width - 0.5, y / height - 0.5))"
scene add --with $out/edges.png
scene subtract --with $out/further/light.png
scene multiply --with testdata/coins.png --scale 2
scene divide --with $out/further/light.png --scale 0.3
scene absdiff --with $out/blur.png --scale 3
scene blend --with $out/edges.png --amount 0.6
scene flat-field --flat $out/further/light.png
scene composite --with $out/edges.png --mode screen
scene mask --with $out/further/labels.png --label 3,6,9,12,15,18 --fill white
scene paste --points $out/further/bright.npy --color red
scene draw --box 150,120,230,170 --circle 470,280,60 --line 40,400,600,400 --width 7
scene stack --images 2 --method mean
scene channels --order bgr
scene orient --as 3
END
echo "\$ gpuimg montage $out/operations/{blur,gaussian,...}.png $out/operations.png --columns 10 --cell 128x86 --label '{stem}' --background white"
"$gpuimg" montage "$@" "$out/operations.png" --columns 10 --cell 128x86 --label '{stem}' --background white
echo
echo "written:"
ls -l "$out" | awk 'NR > 1 && !/^d/ {printf "  %-44s %9d bytes\n", "'"$out"'/" $9, $5}'
echo
echo "open $out/operations.png: what each operation does, with its name; $out/overlay.png: each coin in a box with its number;"
echo "     $out/labels.png: each coin in its own colour. make site makes pages of examples: build/site/index.html"
