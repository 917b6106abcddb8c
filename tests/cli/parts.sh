#!/bin/bash
# Many images of which each gives several files: channels split, split; and channels alpha, with a mask for each.
. "$(dirname "$0")/lib.sh"
data=$tests/../../testdata

mkdir -p in/sub masks
gpuimg resize "$data/scene.png" in/rgb.ppm --size 23x17 --stretch
gpuimg channels in/rgb.ppm in/rgba.pam --order rgbg
gpuimg convert in/rgb.ppm in/sub/gray.pgm --gray --depth 16
gpuimg channels in/sub/gray.pgm in/sub/ka.pam --order kk
all=(in/rgb.ppm in/rgba.pam in/sub/gray.pgm in/sub/ka.pam)
files() { (cd "$1" && find . -type f -printf '%P\n' | sort | tr '\n' ' '); }

# A file a channel, as of one image alone.
expect 0 gpuimg channels split --recursive in --out-dir cut-up --suffix .png --report r.jsonl
check 'a name a channel' test "$(files cut-up)" = \
    'rgb_b.png rgb_g.png rgb_r.png rgba_a.png rgba_b.png rgba_g.png rgba_r.png sub/gray_k.png sub/ka_a.png sub/ka_k.png '
gpuimg channels split in/rgba.pam r.png g.png b.png a.png
for c in r g b a; do check "as alone: $c" cmp cut-up/rgba_$c.png $c.png; done
gpuimg convert cut-up/rgb_g.png g.pgm
check 'the samples' cmp <(tail -c 391 g.pgm) <(tail -c 1173 in/rgb.ppm | python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[1::3])')
gpuimg channels split in/sub/ka.pam k.png a.png
check 'as alone: 16 bits' cmp cut-up/sub/ka_k.png k.png
expect 0 gpuimg channels split "${all[@]}" --out 'by/{channel}/{stem}.png' --threads 3
check 'a folder a channel' test "$(files by)" = \
    'a/ka.png a/rgba.png b/rgb.png b/rgba.png g/rgb.png g/rgba.png k/gray.png k/ka.png r/rgb.png r/rgba.png '
for f in by/*/*.png; do
    s=${f##*/} c=${f%/*}
    check "the same: $f" cmp "$f" "$(find cut-up -name "${s%.png}_${c#by/}.png")"
done

# The report has a line an input with all its files, and --resume goes by them.
check 'a line an input' test "$(jq -r 'select(.input) | "\(.input) \(.output) \(.status) \([.outputs[].output] | join(","))"' r.jsonl | sort)" = \
"in/rgb.ppm cut-up/rgb_{channel}.png done cut-up/rgb_r.png,cut-up/rgb_g.png,cut-up/rgb_b.png
in/rgba.pam cut-up/rgba_{channel}.png done cut-up/rgba_r.png,cut-up/rgba_g.png,cut-up/rgba_b.png,cut-up/rgba_a.png
in/sub/gray.pgm cut-up/sub/gray_{channel}.png done cut-up/sub/gray_k.png
in/sub/ka.pam cut-up/sub/ka_{channel}.png done cut-up/sub/ka_k.png,cut-up/sub/ka_a.png"
check 'bytes of all' test "$(jq 'select(.input == "in/rgba.pam") | .output_bytes == ([.outputs[].output_bytes] | add)' r.jsonl) \
$(jq 'select(.input == "in/rgba.pam") | .output_bytes' r.jsonl)" = "true $(cat cut-up/rgba_?.png | wc -c)"
again() { gpuimg channels split --recursive in --out-dir cut-up --suffix .png --report r.jsonl --resume "$@"; }
cp -a cut-up before
expect 0 again
check 'all is done' diff <(find cut-up -printf '%p %T@\n' | sort) <(find before -printf '%p %T@\n' | sed s/^before/cut-up/ | sort)
rm cut-up/rgba_a.png
touch cut-up/rgba_g.png
expect 0 again
check 'what is missing is there again' diff -r cut-up before
check 'the others were left' test "$(find cut-up -name 'rgb_*' -newer before/rgb_b.png)$(stat -c %Y cut-up/sub/ka_k.png)" = "$(stat -c %Y before/sub/ka_k.png)"
check 'a line each' test "$(grep -c '"input":' r.jsonl)" = 4
for k in 1 2; do expect 0 gpuimg channels split --recursive in --out-dir shards --suffix .png --shard $k/2 --report s$k.jsonl; done
check 'shards' diff -r shards cut-up
expect 0 gpuimg report merge s1.jsonl s2.jsonl

# All of an input or none, and the others are done.
mkdir -p some/rgb_b.png
expect 1 gpuimg channels split in/rgb.ppm in/rgba.pam --out-dir some --suffix .png
check 'none of what fails' test "$(files some)" = 'rgba_a.png rgba_b.png rgba_g.png rgba_r.png '
check 'it is named' grep -q '^gpuimg: channels: .*some/rgb_b.png: ' err
head -c 100 in/rgb.ppm >in/cut.ppm
expect 1 gpuimg channels split in/cut.ppm in/rgba.pam --out-dir cut --suffix .png --report cut.jsonl
check 'what can not be read' test "$(files cut)$(jq -r 'select(.input) | "\(.input) \(.status) \(.outputs | length)"' cut.jsonl | sort | tr '\n' ';')" = \
    'rgba_a.png rgba_b.png rgba_g.png rgba_r.png in/cut.ppm failed 0;in/rgba.pam done 4;'
rm in/cut.ppm

# What is wrong with names is said before any work.
cp in/rgb.ppm in/rgb_k.ppm
expect_error 2 'channels: in/rgb_{channel}.ppm: the output of in/rgb.ppm would be written over the input in/rgb_k.ppm, want *' \
    channels split in/rgb.ppm in/rgb_k.ppm --out-dir in
rm in/rgb_k.ppm
expect_error 2 'channels: made/rgb_{channel}.png: would be the output of in/rgb.ppm and of ./in/rgb.ppm, want --out *' \
    channels split in/rgb.ppm ./in/rgb.ppm --out-dir made --suffix png
expect_error 2 'channels: --out made/{stem}.png: want {channel} in it, for a file a channel' channels split "${all[@]}" --out 'made/{stem}.png'
expect_error 2 'channels: --out made/{channel}.ppm: {channel}.ppm: want *' channels "${all[@]}" --order k --out 'made/{channel}.ppm'
expect_error 2 'channels: made/rgb_{channel}.xyz: no image format*' channels split in/rgb.ppm --out-dir made --suffix xyz
expect_error 2 'channels: --tar: not of channels split, want files and --out-dir or --out' channels split --tar in.tar made.tar
expect_error 2 'channels: split: takes no --order' channels split in/rgb.ppm --out-dir made --order bgr
expect_error 2 'channels: join: makes one image of several: goes with no option for many' channels join "${all[@]}" --out-dir made
expect_error 2 'channels: --report: is for many images: want --out-dir or --out too' channels split in/rgb.ppm a b c --report made.jsonl

# Alpha from one mask for all, or from one each.
pgm masks/rgb.pgm 23 17
gpuimg invert masks/rgb.pgm masks/rgba.pgm
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam masks/rgb.pgm --out-dir one --suffix pam
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam 'masks/{stem}.pgm' --out-dir each --suffix pam --report a.jsonl
for f in rgb.ppm rgba.pam; do
    gpuimg channels alpha in/$f masks/rgb.pgm alone.pam
    check "one mask: $f" cmp one/${f%.*}.pam alone.pam
    gpuimg channels alpha in/$f masks/${f%.*}.pgm alone.pam
    check "a mask each: $f" cmp each/${f%.*}.pam alone.pam
done
one_from_pipe() { gpuimg channels alpha in/rgb.ppm - --out-dir piped --suffix pam <masks/rgb.pgm; }
expect 0 one_from_pipe
check 'the mask by a pipe' cmp piped/rgb.pam one/rgb.pam
listed() { printf 'in/rgb.ppm\nin/rgba.pam\n' | gpuimg channels alpha --files-from - 'masks/{stem}.pgm' --out-dir listed --suffix pam; }
expect 0 listed
check 'inputs from a list' diff -r listed each
check 'the report says with what' test "$(jq -r 'select(.input) | "\(.input) \(.beside) \(.beside_bytes)"' a.jsonl | sort | tr '\n' ';')" = \
    "in/rgb.ppm masks/rgb.pgm $(stat -c %s masks/rgb.pgm);in/rgba.pam masks/rgba.pgm $(stat -c %s masks/rgba.pgm);"
gpuimg invert masks/rgb.pgm masks/rgb.pgm
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam 'masks/{stem}.pgm' --out-dir each --suffix pam --report a.jsonl --resume
gpuimg channels alpha in/rgb.ppm masks/rgb.pgm alone.pam
check 'another mask is another result' cmp each/rgb.pam alone.pam
check 'of the other alone' test ! each/rgba.pam -nt masks/rgb.pgm -a "$(jq -r 'select(.input) | .input' a.jsonl | tr '\n' ' ')" = 'in/rgba.pam in/rgb.ppm '
expect_error 2 'channels: --resume: the report a.jsonl is of "channels alpha '*'", want "channels alpha '*'"' \
    channels alpha in/rgb.ppm in/rgba.pam masks/rgb.pgm --out-dir each --suffix pam --report a.jsonl --resume
expect 1 gpuimg channels alpha in/rgb.ppm in/sub/gray.pgm 'masks/{stem}.pgm' --out-dir less --suffix pam
check 'a mask that is not there' grep -qx 'gpuimg: channels: masks/gray.pgm: No such file or directory' err
check 'the others are done' test "$(files less)" = 'rgb.pam '
expect_error 2 'channels: MASK masks/{x}.pgm: {x}.pgm: want {dir}, *' channels alpha in/rgb.ppm 'masks/{x}.pgm' --out-dir made
expect_error 2 'channels: masks/rgb.pgm: the output of in/rgb.ppm would be written over the input masks/rgb.pgm, *' \
    channels alpha in/rgb.ppm masks/rgb.pgm --out-dir masks --suffix pgm
expect_error 2 'channels: alpha: want INPUT... MASK' channels alpha --out-dir made
expect_error 2 'channels: no images among the inputs' channels alpha masks/rgb.pgm --out-dir made
expect 1 gpuimg channels alpha in/rgb.ppm in/rgb.ppm --out-dir made --suffix pam
check 'a mask in colour' grep -q '^gpuimg: channels: in/rgb.ppm: has colour and no alpha' err
finish
