#!/bin/bash
# split and merge: all layers or none, folders, what does not fit is said.
. "$(dirname "$0")/lib.sh"
printf 'P5\n3 1\n255\n\012\024\036' >a.pgm # 10 20 30
printf 'P5\n3 1\n255\n\000\001\002' >labels.pgm
printf 'P5\n2 1\n255\n\000\001' >small.pgm
printf 'P6\n1 1\n255\n\001\002\003' >rgb.ppm

expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir layers
check 'a layer a label' test "$(ls layers)" = $'layer-000001.png\nlayer-000002.png'
check 'with alpha' grep -q 'gray and alpha' <(gpuimg info layers/layer-000001.png)
expect 0 gpuimg merge layers/*.png out.pam
check 'merged' test "$(tail -c 6 out.pam | od -An -tu1 | xargs)" = '0 0 20 255 30 255'
expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir filled/ --fill 7 --format pgm
check 'filled' test "$(tail -c 3 filled/layer-000002.pgm | od -An -tu1 | xargs)" = '7 7 30'
expect 0 gpuimg merge a.pgm layers/layer-000001.png out.pgm
check 'over an image' cmp out.pgm a.pgm
expect 0 gpuimg merge a.pgm out.pgm
check 'a layer by itself' cmp out.pgm a.pgm

# Folders.
expect_error 1 'split: --out-dir layers: *' split a.pgm --labels labels.pgm --out-dir layers
expect 0 gpuimg split a.pgm --labels labels.pgm --out-dir layers --force --format pam
check 'replaced' test "$(ls layers)" = $'layer-000001.pam\nlayer-000002.pam'
touch layers/mine
expect_error 1 'split: --out-dir layers: *' split a.pgm --labels labels.pgm --out-dir layers --force
expect 0 gpuimg split a.pgm --labels <(printf 'P5\n3 1\n255\n\000\000\000') --out-dir none
check 'no label, no layer' test -d none -a -z "$(ls none)"

expect_error 2 'split: --labels: missing: want an image of labels' split a.pgm --out-dir made
expect_error 2 'split: --out-dir: missing: want a folder' split a.pgm --labels labels.pgm
expect_error 2 'split: --labels -: standard input is the image already' split - --labels - --out-dir made
expect_error 1 'split: --labels: nothere.pgm: No such file or directory' split a.pgm --labels nothere.pgm --out-dir made
expect_error 1 'split: --labels: rgb.ppm: has 3 channels: want one, of labels' split rgb.ppm --labels rgb.ppm --out-dir made
expect_error 1 'split: --labels small.pgm: is 2 x 1, want 3 x 1 as a.pgm' split a.pgm --labels small.pgm --out-dir made
expect_error 2 'split: --format nothing: want the suffix of a format *' split a.pgm --labels labels.pgm --out-dir made --format nothing
printf 'Pf\n3 1\n-1\n\000\000\000\077\000\000\000\000\000\000\000\000' >half.pfm
expect_error 1 'split: --labels: half.pfm: label 0.5 at 0, 0: want whole numbers *' split a.pgm --labels half.pfm --out-dir made
expect_error 2 'split: --fill no: *' split a.pgm --labels labels.pgm --out-dir made --fill no
expect_error 1 'merge: small.pgm: is 2 x 1, want 3 x 1 as the first layer' merge a.pgm small.pgm made.pgm
expect_error 1 'merge: nothere.pgm: No such file or directory' merge a.pgm nothere.pgm made.pgm
cp a.pgm b.pgm
expect_error 2 'merge: *b.pgm*' merge a.pgm b.pgm b.pgm
finish
