#!/bin/bash
# --depth is the sample type of the output: an operation computes with the samples of the input (or of --work-depth), and
# the result is converted at the end.
# Sources: cli/args/batch_options cli/run/ready cli/commands/filter_command filters/pipeline_make
. "$(dirname "$0")/../lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
# 40 x 30 dark samples of 16 bits, with values that fall together in 8 bits; labels, a map and a camera of the same size.
"$python" - <<'END'
import json, struct
n, w, h = 1200, 40, 30
def pnm(name, kind, top, values):
    data = bytes(values) if top == 255 else struct.pack(f">{len(values)}H", *values)
    open(name, "wb").write(f"{kind} {w} {h} {top}\n".encode() + data)
gray = [(i * 7919 + i * i * 31) % 3000 + 500 for i in range(n)]
pnm("deep.pgm", "P5", 65535, gray)
pnm("deep.ppm", "P6", 65535, [v * (c + 1) for v in gray for c in range(3)])
pnm("other.pgm", "P5", 65535, gray[::-1])
pnm("labels.pgm", "P5", 255, [i % 4 for i in range(n)])
place = [(i % w + 0.25, i // w - 0.5, 0) for i in range(n)]
rows = [place[y * w:(y + 1) * w] for y in reversed(range(h))]
open("map.pfm", "wb").write(b"PF\n40 30\n-1.0\n" + b"".join(struct.pack("<3f", *p) for row in rows for p in row))
json.dump({"camera_matrix": [[40, 0, 20], [0, 40, 15], [0, 0, 1]], "dist_coeffs": [-0.2, 0, 0, 0]}, open("camera.json", "w"))
END
printf 'x,y\n3,4\n20,11\n' >points.csv
printf 'LUT_1D_SIZE 2\n0.1 0.1 0.1\n0.8 0.8 0.8\n' >look.cube

# Options that an operation requires.
declare -A words=([convolve]="--kernel 3x3:1,2,1,2,4,2,1,2,1" [levels]="--black 500 --white 3500" [gamma]="--gamma 2.2" [match]="--reference other.pgm"
    [color]="--saturation 1.5" [resize]="--size 19x11" [crop]="--size 17x9" [pad]="--margins 3" [flip]="--h" [rotate]="--angle 12"
    [affine]="--matrix 1.1,0.1,0;0,0.9,2" [shift]="--offset 1.5,2.25" [perspective]="--matrix 1,0.1,0;0,1,0;0.001,0,1" [undistort]="--camera camera.json"
    [remap]="--map map.pfm" [add]="--with other.pgm" [subtract]="--value 100" [multiply]="--value 3" [divide]="--value 3" [absdiff]="--with other.pgm"
    [blend]="--with other.pgm --amount 0.3" [flat-field]="--flat other.pgm" [composite]="--with other.pgm --opacity 0.5" [mask]="--with labels.pgm"
    [paste]="--points points.csv --color white" [remove-small]="--area 4" [lut]="--cube look.cube" [draw]="--box 3,3,9,8"
    [reconstruct]="--seed other.pgm" [hit-or-miss]="--hit 0,1,0;0,1,1;0,0,0" [flood-fill]="--at 3,4 --value 9" [orient]="--orientation 6")
operations=$(gpuimg list --json | "$python" -c '
import json, sys
for o in json.load(sys.stdin)["operations"]:
    if o["operands"] == "INPUT OUTPUT" and any(option["name"] == "depth" for option in o["options"]): print(o["name"])')
check "the list names operations" test "$(wc -w <<<"$operations")" -ge 50
for name in $operations; do
    [[ $name == orient ]] && continue # turns a file's own samples
    [[ $name == watershed || $name == split-touching ]] && continue # their --depth is that of labels
    input=deep.pgm
    [[ $name == color ]] && input=deep.ppm
    if [[ $name == quantize ]]; then
        expect_error 1 'quantize: *samples of 16 bits: want 8 bits, by --work-depth 8' quantize $input made.pam --depth 8
        continue
    fi
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $name $input whole.pam --format pam ${words[$name]-}
    gpuimg convert whole.pam want.pam --depth 8
    # shellcheck disable=SC2086
    expect 0 gpuimg $name $input got.pam --depth 8 ${words[$name]-}
    same "$name --depth 8 computes in 16 bits and converts at the end" got.pam want.pam
done

# All ways to run: chains, batches, tars, streams, JPEG, whose depth is 8 bits, and --gray and --background.
gpuimg normalize deep.pgm whole.png
gpuimg convert whole.png want.png --depth 8
check "the input has other 8-bit samples" test "$(gpuimg stats whole.png | awk '$1 == "unique" { print $2 }')" -gt 256
expect 0 gpuimg run 'normalize' deep.pgm got.png --depth 8
same "a chain" got.png want.png
mkdir -p in
cp deep.pgm in/
expect 0 gpuimg normalize in/deep.pgm --out-dir results --suffix .png --depth 8
same "a batch" results/deep.png want.png
tar cf in.tar -C in deep.pgm
expect 0 gpuimg normalize --tar in.tar out.tar --depth 8
tar xf out.tar
gpuimg convert want.png want.pgm
same "a tar" deep.pgm want.pgm
cp in/deep.pgm .
cat deep.pgm deep.pgm >stream.pgm
expect 0 gpuimg normalize stream.pgm got.pgm --depth 8
same "a stream" got.pgm <(cat want.pgm want.pgm)
gpuimg convert whole.png want.jpg
expect 0 gpuimg normalize deep.pgm got.jpg
same "JPEG" got.jpg want.jpg
gpuimg gaussian deep.ppm whole.pam --gray
gpuimg convert whole.pam want.pam --depth 8
expect 0 gpuimg gaussian deep.ppm got.pam --gray --depth 8
same "--gray" got.pam want.pam
gpuimg gaussian deep.ppm whole.png --linear
expect 0 gpuimg gaussian deep.ppm got.png --linear --depth 8
check "--linear --depth 8 has 8 bits" grep -q '8 bits' <(gpuimg info got.png)
check "--linear --depth 8 is within a step" gpuimg compare got.png <(gpuimg convert whole.png png:- --depth 8) --max-diff 1

# Floats that --work-depth makes integers: samples outside 0 to 1 are lost, which is told.
{ printf 'Pf\n2 1\n-1.0\n'; printf '\0\0\310B\0\0\0?'; } >floats.pfm # 100 and 0.5
expect 0 gpuimg normalize floats.pfm got.pgm --work-depth 8
says "--work-depth cuts off" 'gpuimg: warning: normalize: floats.pfm: --work-depth 8: samples outside 0 to 1 are cut off: 50 %'
expect_error 1 'normalize: floats.pfm: --strict: --work-depth 8: samples outside 0 to 1 are cut off: 50 %' normalize floats.pfm none.pgm --work-depth 8 --strict
check "--strict writes nothing" test ! -e none.pgm
{ printf 'Pf\n4 1\n-1.0\n'; printf '\0\0\310B\0\0\0?\0\0\0?\0\0\0?'; } >more.pfm
expect 0 gpuimg normalize floats.pfm more.pfm more.pfm --out '{index}.pgm' --work-depth 8
check "a batch counts warnings that differ in a number" test "$(grep -c 'are cut off' err) $(grep -Ec 'normalize: 2 more, with other numbers: --work-depth 8: samples' err)" = '2 1'
expect 0 gpuimg normalize floats.pfm got.pgm --depth 8
says "--depth after normalize cuts off nothing" ''

# An output that is deeper than the input is computed in its depth.
gpuimg convert want.pgm eight.pgm
gpuimg convert eight.pgm wide.pgm --depth 16
gpuimg gaussian wide.pgm want16.pgm
expect 0 gpuimg gaussian eight.pgm got16.pgm --depth 16
same "--depth 16 of 8 bits computes in 16" got16.pgm want16.pgm

# convert is a step too, the last one or any other.
gpuimg normalize deep.ppm whole.pam
gpuimg convert whole.pam want.pam --depth 8 --gray
expect 0 gpuimg run 'normalize | convert --depth 8 --gray' deep.ppm got.pam
same "convert as the last step" got.pam want.pam
gpuimg convert deep.ppm first.pam --depth 8 --gray=mean
gpuimg edges first.pam want.pam
expect 0 gpuimg run 'convert --depth 8 --gray=mean | edges' deep.ppm got.pam
same "convert as the first step" got.pam want.pam
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\x64\xc8\x00\xff\x10\xc8\x07\x80' >alpha.pam
for gray in bt709 bt601 mean; do
    for depth in 8 16 float; do
        gpuimg convert alpha.pam want.pam --gray=$gray --depth $depth
        expect 0 gpuimg run "invert | invert | convert --gray=$gray --depth $depth" alpha.pam got.pam --format pam
        same "convert --gray=$gray --depth $depth keeps alpha" got.pam want.pam
    done
done
expect 0 gpuimg run 'convert --depth 8 | threshold --at 200 | convert --depth 16 | threshold --at 60000' deep.pgm got.pgm
expect_error 2 'run: step 2, threshold: --threshold 300: want 0 to 255, as 8-bit samples are' run 'convert --depth 8 | threshold --at 300' deep.pgm made.pgm
expect 0 gpuimg run 'convert --depth 8 | stats --to t.csv | add --with other.pgm' deep.pgm got.pgm
expect 0 gpuimg run 'blur --k 3 | convert --depth float' deep.pgm got.pfm
mkdir -p chain
expect 0 gpuimg run 'normalize | convert --depth 8' deep.pgm other.pgm --out-dir chain --suffix .png
check "a batch with convert as a step" test "$(gpuimg info --json chain/*.png | grep -o '"bits": 8,' | wc -l)" = 2

# --work-depth converts first; analyses have it alone, and call it --depth too.
gpuimg convert deep.pgm eight.pgm --depth 8
gpuimg normalize eight.pgm want.pgm
expect 0 gpuimg normalize deep.pgm got.pgm --work-depth 8
same "--work-depth 8" got.pgm want.pgm
gpuimg convert want.pgm want16.pgm --depth 16
expect 0 gpuimg normalize deep.pgm got16.pgm --work-depth 8 --depth 16
same "--work-depth 8 --depth 16" got16.pgm want16.pgm
expect 0 gpuimg stats deep.pgm --work-depth 8
cp out want.txt
expect_stdout "$(sed 's/eight/deep/' <(gpuimg stats eight.pgm))" gpuimg stats deep.pgm --depth 8
check "stats: --depth is --work-depth" cmp out want.txt
expect_error 2 'gaussian: --work-depth 8: with --linear samples are float' gaussian deep.pgm made.png --work-depth 8 --linear

# Results of --depth are limited as others are.
expect_error 1 'convert: *makes 4800 bytes of samples, over the limit of 4799; --max-bytes raises it' convert deep.pgm made.pfm --depth float --max-bytes 4799
expect 0 gpuimg convert deep.pgm within.pfm --depth float --max-bytes 4800
expect_error 1 'invert: *over the limit of 4799; --max-bytes raises it' invert deep.pgm made.pfm --work-depth 16 --depth float --max-bytes 4799
finish
