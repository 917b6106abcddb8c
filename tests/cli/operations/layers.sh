#!/bin/bash
# split and merge: layers are written all or none, folders are replaced with care, and unsuitable images are refused.
# Sources: filters/opacity* cli/commands/split_layers.c cli/commands/merge_layers.c filters/regions/labels*
. "$(dirname "$0")/../lib.sh"
printf 'P5\n3 1\n255\n\012\024\036' >a.pgm # 10 20 30
printf 'P5\n3 1\n255\n\000\001\002' >labels.pgm
printf 'P5\n2 1\n255\n\000\001' >small.pgm
printf 'P6\n1 1\n255\n\001\002\003' >rgb.ppm

expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir layers
check 'split writes one layer per label' test "$(ls layers)" = $'layer-000001.png\nlayer-000002.png'
check 'layers have alpha' grep -q 'gray and alpha' <(gpuimg info layers/layer-000001.png)
expect 0 gpuimg merge layers/*.png out.pam
check 'merge restores the labelled pixels' test "$(samples 6 out.pam)" = '0 0 20 255 30 255'
expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir filled/ --fill 7 --format pgm
check '--fill replaces the other pixels' test "$(samples 3 filled/layer-000002.pgm)" = '7 7 30'
expect 0 gpuimg merge a.pgm layers/layer-000001.png out.pgm
check 'merge over an image' cmp out.pgm a.pgm
expect 0 gpuimg merge a.pgm out.pgm
check 'merge of a single layer' cmp out.pgm a.pgm

# Folders that exist.
expect_error 1 'split: --out-dir layers: *' split a.pgm --labels labels.pgm --out-dir layers
expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir layers --force --format pam
check '--force replaces the layers of a folder' test "$(ls layers)" = $'layer-000001.pam\nlayer-000002.pam'
touch layers/mine
expect_error 1 'split: --out-dir layers: *' split a.pgm --labels labels.pgm --out-dir layers --force
for name in layer-notes 7.pam layer-2-notes.txt layer-3 layer-4. layer-5.a.b; do # begin as a layer, or as its number
    mkdir theirs
    echo mine >theirs/$name
    expect_error 1 "split: --out-dir theirs: holds $name, *" split a.pgm --labels labels.pgm --out-dir theirs --force
    check "a folder with $name is unchanged" test "$(ls theirs)" = $name
    rm -r theirs
done
mkdir -p theirs/layer-1.png
echo mine >theirs/layer-1.png/deep
expect_error 1 'split: --out-dir theirs: holds layer-1.png, *' split a.pgm --labels labels.pgm --out-dir theirs --force
check 'a folder that is named like a layer is unchanged' grep -q mine theirs/layer-1.png/deep
rm -r theirs
mkdir theirs
ln -s ../a.pgm theirs/layer-1.pgm
expect_error 1 'split: --out-dir theirs: holds layer-1.pgm, *' split a.pgm --labels labels.pgm --out-dir theirs --force
rm -r theirs
mkdir theirs
cp a.pgm theirs/layer-1.pgm
cp labels.pgm theirs/layer-2.pgm
expect_error 2 'split: --out-dir theirs: the input theirs/layer-1.pgm is in it, want another folder' \
    split theirs/layer-1.pgm --labels labels.pgm --out-dir theirs --force
expect_error 2 'split: --out-dir ./theirs/: the input theirs/layer-2.pgm is in it, *' \
    split a.pgm --labels theirs/layer-2.pgm --out-dir ./theirs/ --force
check 'inputs in the folder are unchanged' test "$(ls theirs)" = $'layer-1.pgm\nlayer-2.pgm'
mv theirs/layer-1.pgm theirs/region-1.pgm
rm theirs/layer-2.pgm
expect_error 2 'extract: --crops theirs: the input theirs/region-1.pgm is in it, *' extract theirs/region-1.pgm --crops theirs --force
rm -r theirs
expect 0 gpuimg split a.pgm --labels <(printf 'P5\n3 1\n255\n\000\000\000') --out-dir none
check 'without labels the folder is empty' test -d none -a -z "$(ls none)"

expect_error 2 'split: --labels: missing: want an image of labels' split a.pgm --out-dir made
expect_error 2 'split: --out-dir: missing: want a folder' split a.pgm --labels labels.pgm
expect_error 2 'split: --labels -: standard input is the image already' split - --labels - --out-dir made
expect_error 1 'split: --labels: nothere.pgm: No such file or directory' split a.pgm --labels nothere.pgm --out-dir made
expect_error 1 'split: --labels: rgb.ppm: has 3 channels: want one, of labels' split rgb.ppm --labels rgb.ppm --out-dir made
expect_error 1 'split: --labels: 2 x 1 pixels: want 3 x 1, as the input has' split a.pgm --labels small.pgm --out-dir made
expect_error 2 'split: --format nothing: want the suffix of a format *' split a.pgm --labels labels.pgm --out-dir made --format nothing
printf 'Pf\n3 1\n-1\n\000\000\000\077\000\000\000\000\000\000\000\000' >half.pfm
expect_error 1 'split: --labels: half.pfm: label 0.5 at 0,0: want whole numbers from 0 to 16777215' split a.pgm --labels half.pfm --out-dir made
# npy TYPE BYTES: prints an array of 1 x 3 labels of 32 bits.
npy() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n%b' "{'descr': '$1', 'fortran_order': False, 'shape': (1, 3), }" "$2"
}
npy '<u4' '\x00\x00\x00\x00\x70\x11\x01\x00\x00\x00\x00\x00' >labels.npy # 0 70000 0
expect 0 gpuimg split a.pgm --labels labels.npy --out-dir many
check 'split takes labels of 32 bits' test "$(ls many)" = layer-070000.png
expect_stdout $'label,x,sum\n70000,1,20' bash -c '"$0" stats a.pgm --labels labels.npy --format csv | cut -d, -f1,2,11' "$GPUIMG"
npy '>u4' '\x00\x00\x00\x07\x00\x01\x11\x70\x00\x00\x00\x00' >back.npy # 7 70000 0, the other order
expect 0 gpuimg mask a.pgm out.pam --with back.npy --label 70000,3
check 'mask --label selects a label' test "$(samples 6 out.pam)" = '0 0 20 255 0 0'
expect 0 gpuimg mask a.pgm out.pgm --with back.npy --label 7,70000 --invert --fill 99
check 'mask --fill replaces other labels' test "$(samples 3 out.pgm)" = '99 99 30'
expect 0 gpuimg run 'mask --with labels.pgm --label 2' a.pgm out.pam
check 'mask takes labels of 8 bits in a chain' test "$(samples 6 out.pam)" = '0 0 0 0 30 255'
expect_error 1 'mask: --with: back.npy: holds 32-bit labels: want --label' mask a.pgm made.pam --with back.npy
expect_error 1 'mask: --with: rgb.ppm: has 3 channels: want one, of labels' mask a.pgm made.pam --with rgb.ppm --label 1
expect_error 1 'mask: --with: half.pfm: label 0.5 at 0,0: want whole numbers from 0 to 16777215' mask a.pgm made.pam --with half.pfm --label 1
expect_error 2 'mask: --label 1.5: want whole numbers' mask a.pgm made.pam --with labels.pgm --label 1.5
expect_error 2 'mask: --label -1: want 1 to 32 numbers separated by commas, each 0 to 16777215' mask a.pgm made.pam --with labels.pgm --label -1
npy '<u4' '\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00' >large.npy
expect_error 1 'split: --labels: large.npy: label 16777216 at 1,0: want whole numbers from 0 to 16777215' split a.pgm --labels large.npy --out-dir made
expect_error 2 'split: --fill no: *' split a.pgm --labels labels.pgm --out-dir made --fill no
expect_error 1 'merge: small.pgm: is 2 x 1, want 3 x 1 as the first layer' merge a.pgm small.pgm made.pgm
expect_error 1 'merge: nothere.pgm: No such file or directory' merge a.pgm nothere.pgm made.pgm
cp a.pgm b.pgm
expect_error 2 'merge: *b.pgm*' merge a.pgm b.pgm b.pgm
finish
