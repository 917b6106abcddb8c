#!/bin/bash
# Many inputs that each give several files: channels split, split; and channels alpha, with one mask per input.
# Sources: cli/commands/channels.c cli/commands/split_layers.c cli/inputs/file_batch*
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata

mkdir -p in/sub masks
gpuimg resize "$data/scene.png" in/rgb.ppm --size 23x17 --stretch
gpuimg channels in/rgb.ppm in/rgba.pam --order rgbg
gpuimg convert in/rgb.ppm in/sub/gray.pgm --gray --depth 16
gpuimg channels in/sub/gray.pgm in/sub/ka.pam --order kk
all=(in/rgb.ppm in/rgba.pam in/sub/gray.pgm in/sub/ka.pam)
files() { (cd "$1" && find . -type f -printf '%P\n' | sort | tr '\n' ' '); }

# One file per channel, equal to that of a single command.
expect 0 gpuimg channels split --recursive in --out-dir cut-up --suffix .png --report r.jsonl
check 'one file per channel, named by the channel' test "$(files cut-up)" = \
    'rgb_b.png rgb_g.png rgb_r.png rgba_a.png rgba_b.png rgba_g.png rgba_r.png sub/gray_k.png sub/ka_a.png sub/ka_k.png '
gpuimg channels split in/rgba.pam r.png g.png b.png a.png
for c in r g b a; do check "channel $c equals the single command" cmp cut-up/rgba_$c.png $c.png; done
gpuimg convert cut-up/rgb_g.png g.pgm
check 'a channel has the right samples' cmp <(tail -c 391 g.pgm) <(tail -c 1173 in/rgb.ppm | python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[1::3])')
gpuimg channels split in/sub/ka.pam k.png a.png
check 'a channel of 16 bits equals the single command' cmp cut-up/sub/ka_k.png k.png
expect 0 gpuimg channels split "${all[@]}" --out 'by/{channel}/{stem}.png' --threads 3
check 'one folder per channel' test "$(files by)" = \
    'a/ka.png a/rgba.png b/rgb.png b/rgba.png g/rgb.png g/rgba.png k/gray.png k/ka.png r/rgb.png r/rgba.png '
for f in by/*/*.png; do
    s=${f##*/} c=${f%/*}
    check "the file in the folder is the same: $f" cmp "$f" "$(find cut-up -name "${s%.png}_${c#by/}.png")"
done

# The report has one line per input with all of its files, which --resume checks.
check 'the report has one line per input' test "$(jq -r 'select(.input) | "\(.input) \(.output) \(.status) \([.outputs[].output] | join(","))"' r.jsonl | sort)" = \
"in/rgb.ppm cut-up/rgb_{channel}.png done cut-up/rgb_r.png,cut-up/rgb_g.png,cut-up/rgb_b.png
in/rgba.pam cut-up/rgba_{channel}.png done cut-up/rgba_r.png,cut-up/rgba_g.png,cut-up/rgba_b.png,cut-up/rgba_a.png
in/sub/gray.pgm cut-up/sub/gray_{channel}.png done cut-up/sub/gray_k.png
in/sub/ka.pam cut-up/sub/ka_{channel}.png done cut-up/sub/ka_k.png,cut-up/sub/ka_a.png"
check 'the report has the bytes of all files' test "$(jq 'select(.input == "in/rgba.pam") | .output_bytes == ([.outputs[].output_bytes] | add)' r.jsonl) \
$(jq 'select(.input == "in/rgba.pam") | .output_bytes' r.jsonl)" = "true $(cat cut-up/rgba_?.png | wc -c)"
again() { gpuimg channels split --recursive in --out-dir cut-up --suffix .png --report r.jsonl --resume "$@"; }
cp -a cut-up before
expect 0 again
check '--resume leaves complete files' diff <(find cut-up -printf '%p %T@\n' | sort) <(find before -printf '%p %T@\n' | sed s/^before/cut-up/ | sort)
rm cut-up/rgba_a.png
touch cut-up/rgba_g.png
expect 0 again
check '--resume makes missing files' diff -r cut-up before
times() { (cd "$1" && shift && find "$@" -type f -printf '%p %T@\n' | sort); }
check '--resume leaves the other files' cmp <(times cut-up rgb_{r,g,b}.png sub) <(times before rgb_{r,g,b}.png sub)
check 'the report has one line per input after --resume' test "$(grep -c '"input":' r.jsonl)" = 4
for k in 1 2; do expect 0 gpuimg channels split --recursive in --out-dir shards --suffix .png --shard $k/2 --report s$k.jsonl; done
check 'shards together give all files' diff -r shards cut-up
expect 0 gpuimg report merge s1.jsonl s2.jsonl

# All files of an input are written, or none, and the other inputs are done.
mkdir -p some/rgb_b.png
expect 1 gpuimg channels split in/rgb.ppm in/rgba.pam --out-dir some --suffix .png
check 'no file of a failed input is written' test "$(files some)" = 'rgba_a.png rgba_b.png rgba_g.png rgba_r.png '
check 'the file that can not be written is named' grep -q '^gpuimg: channels: .*some/rgb_b.png: ' err
head -c 100 in/rgb.ppm >in/cut.ppm
expect 1 gpuimg channels split in/cut.ppm in/rgba.pam --out-dir cut --suffix .png --report cut.jsonl
check 'an unreadable input has no files' test "$(files cut)$(jq -r 'select(.input) | "\(.input) \(.status) \(.outputs | length)"' cut.jsonl | sort | tr '\n' ';')" = \
    'rgba_a.png rgba_b.png rgba_g.png rgba_r.png in/cut.ppm failed 0;in/rgba.pam done 4;'
rm in/cut.ppm

# Errors in names are reported before any work.
cp in/rgb.ppm in/rgb_k.ppm
expect_error 2 'channels: in/rgb_{channel}.ppm: the output of in/rgb.ppm would be written over the input in/rgb_k.ppm, want *' \
    channels split in/rgb.ppm in/rgb_k.ppm --out-dir in
rm in/rgb_k.ppm
expect_error 2 'channels: made/rgb_{channel}.png: would be the output of in/rgb.ppm and of ./in/rgb.ppm, want --out *' \
    channels split in/rgb.ppm ./in/rgb.ppm --out-dir made --suffix png
expect_error 2 'channels: --out made/{stem}.png: want {channel} in it, for a file per channel' channels split "${all[@]}" --out 'made/{stem}.png'
expect_error 2 'channels: --out made/{channel}.ppm: {channel}.ppm: want *' channels "${all[@]}" --order k --out 'made/{channel}.ppm'
expect_error 2 'channels: made/rgb_{channel}.xyz: no image format*' channels split in/rgb.ppm --out-dir made --suffix xyz
expect_error 2 'channels: --tar: not of channels split, want files and --out-dir or --out' channels split --tar in.tar made.tar
expect_error 2 'channels: split: takes no --order' channels split in/rgb.ppm --out-dir made --order bgr
expect_error 2 'channels: join: makes one image of several: goes with no option for many' channels join "${all[@]}" --out-dir made
expect_error 2 'channels: --report: is for many images: want --out-dir or --out too' channels split in/rgb.ppm a b c --report made.jsonl

# Alpha from one mask for all inputs, or from one mask per input.
pgm masks/rgb.pgm 23 17
gpuimg invert masks/rgb.pgm masks/rgba.pgm
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam masks/rgb.pgm --out-dir one --suffix pam
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam 'masks/{stem}.pgm' --out-dir each --suffix pam --report a.jsonl
for f in rgb.ppm rgba.pam; do
    gpuimg channels alpha in/$f masks/rgb.pgm alone.pam
    check "one mask for all: $f equals the single command" cmp one/${f%.*}.pam alone.pam
    gpuimg channels alpha in/$f masks/${f%.*}.pgm alone.pam
    check "one mask per input: $f equals the single command" cmp each/${f%.*}.pam alone.pam
done
one_from_pipe() { gpuimg channels alpha in/rgb.ppm - --out-dir piped --suffix pam <masks/rgb.pgm; }
expect 0 one_from_pipe
check 'the mask from a pipe' cmp piped/rgb.pam one/rgb.pam
listed() { printf 'in/rgb.ppm\nin/rgba.pam\n' | gpuimg channels alpha --files-from - 'masks/{stem}.pgm' --out-dir listed --suffix pam; }
expect 0 listed
check 'inputs from a list' diff -r listed each
check 'the report has the masks' test "$(jq -r 'select(.input) | "\(.input) \(.beside) \(.beside_bytes)"' a.jsonl | sort | tr '\n' ';')" = \
    "in/rgb.ppm masks/rgb.pgm $(stat -c %s masks/rgb.pgm);in/rgba.pam masks/rgba.pgm $(stat -c %s masks/rgba.pgm);"
gpuimg invert masks/rgb.pgm masks/rgb.pgm
expect 0 gpuimg channels alpha in/rgb.ppm in/rgba.pam 'masks/{stem}.pgm' --out-dir each --suffix pam --report a.jsonl --resume
gpuimg channels alpha in/rgb.ppm masks/rgb.pgm alone.pam
check '--resume repeats an input whose mask has changed' cmp each/rgb.pam alone.pam
check '--resume repeats no other input' test ! each/rgba.pam -nt masks/rgb.pgm -a "$(jq -r 'select(.input) | .input' a.jsonl | tr '\n' ' ')" = 'in/rgba.pam in/rgb.ppm '
expect_error 2 'channels: --resume: the report a.jsonl is of "channels alpha '*'", want "channels alpha '*'"' \
    channels alpha in/rgb.ppm in/rgba.pam masks/rgb.pgm --out-dir each --suffix pam --report a.jsonl --resume
expect 1 gpuimg channels alpha in/rgb.ppm in/sub/gray.pgm 'masks/{stem}.pgm' --out-dir less --suffix pam
check 'a missing mask is named' grep -qx 'gpuimg: channels: masks/gray.pgm: No such file or directory' err
check 'the other inputs are done' test "$(files less)" = 'rgb.pam '
expect_error 2 'channels: MASK masks/{x}.pgm: {x}.pgm: want {dir}, *' channels alpha in/rgb.ppm 'masks/{x}.pgm' --out-dir made
expect_error 2 'channels: masks/rgb.pgm: the output of in/rgb.ppm would be written over the input masks/rgb.pgm, *' \
    channels alpha in/rgb.ppm masks/rgb.pgm --out-dir masks --suffix pgm
expect_error 2 'channels: alpha: want INPUT... MASK' channels alpha --out-dir made
expect_error 2 'channels: no images among the inputs' channels alpha masks/rgb.pgm --out-dir made
expect 1 gpuimg channels alpha in/rgb.ppm in/rgb.ppm --out-dir colour --suffix pam
check 'an input with colour is refused as a mask' grep -q '^gpuimg: channels: in/rgb.ppm: has colour and no alpha' err
pgm small.pgm 5 4
gpuimg convert masks/rgb.pgm deep.pgm --depth 16
for out in made.pam '--out-dir deep --suffix pam'; do
    # shellcheck disable=SC2086
    expect 1 gpuimg channels alpha in/rgb.ppm small.pgm $out
    check "a mask of another size is refused: $out" grep -qx 'gpuimg: channels: small.pgm: 5 x 4 pixels: want 23 x 17, as in/rgb.ppm has' err
    # shellcheck disable=SC2086
    expect 1 gpuimg channels alpha in/rgb.ppm deep.pgm $out
    check "a mask of another depth is refused: $out" grep -qx 'gpuimg: channels: deep.pgm: has samples of another type than in/rgb.ppm: want --work-depth' err
done

# ---- split: one folder of layers per input ----
mkdir -p scans/sub labels
for i in 1 2 3; do gpuimg channels in/rgb.ppm scans/$i.ppm --order "$(cut -d' ' -f$i <<<'rgb gbr brg')"; done
cp in/sub/gray.pgm scans/sub/4.pgm
python3 - <<'E2'
for i in 1, 2, 3, 4:
    with open(f"labels/{i}.pgm", "wb") as f:
        f.write(b"P5 23 17 255\n" + bytes((x // 6 + y // 9 * i) % 5 for y in range(17) for x in range(23)))
E2
expect 0 gpuimg split --recursive scans --labels 'labels/{stem}.pgm' --out 'layers/{tree}/{stem}' --report l.jsonl --threads 3
check 'one folder per input' test "$(cd layers && find . -type d | sort | tr '\n' ' ')" = '. ./1 ./2 ./3 ./sub ./sub/4 '
for i in 1 2 3 sub/4; do
    rm -rf alone
    gpuimg split "$(echo scans/$i.*)" --labels labels/${i##*/}.pgm --out-dir alone
    check "layers of $i equal the single command" diff -r alone layers/$i
done
check 'the report has the folders' test "$(jq -r 'select(.input) | "\(.input) \(.output) \(.beside) \([.outputs[].output] | length) \(.status)"' l.jsonl | sort | tail -2)" = \
"scans/3.ppm layers/3 labels/3.pgm $(ls layers/3 | wc -l) done
scans/sub/4.pgm layers/sub/4 labels/4.pgm $(ls layers/sub/4 | wc -l) done"
expect 0 gpuimg split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out 'one/{stem}' --fill 7 --format ppm
gpuimg split scans/2.ppm --labels labels/1.pgm --out-dir alone2 --fill 7 --format ppm
check 'one image of labels for all inputs' diff -r alone2 one/2

# Existing files are kept unless --force is given; --resume makes missing ones.
expect 1 gpuimg split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out 'one/{stem}' --fill 7 --format pam
check 'existing layers are not replaced' grep -q '^gpuimg: split: scans/1.ppm: --out one/1: holds layer-00000[0-9].ppm: want ' err
expect 0 gpuimg split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out 'one/{stem}' --fill 7 --format pam --force
check '--force replaces existing layers' test "$(ls one/*/*.ppm 2>/dev/null)$(ls one/1 | head -1)" = layer-000001.pam
cp -a layers before2
rm layers/2/layer-000002.png
touch labels/3.pgm
expect 0 gpuimg split --recursive scans --labels 'labels/{stem}.pgm' --out 'layers/{tree}/{stem}' --report l.jsonl --resume
check '--resume restores all layers' diff -r layers before2
check '--resume repeats folders that lack a layer or whose labels have changed' test "$(jq -r 'select(.input) | .input' l.jsonl | tail -2 | sort | tr '\n' ' ')" = 'scans/2.ppm scans/3.ppm '
check '--resume leaves the other folders' cmp <(times layers 1 sub/4) <(times before2 1 sub/4)
check 'an unreadable input alone has no folder' test "$(gpuimg split scans/1.ppm nowhere.ppm "$data/coins.png" --labels labels/1.pgm --out 'bad/{stem}' 2>&1 | sort | tr '\n' ';')$(ls bad)" = \
    "gpuimg: split: $data/coins.png: --labels: 23 x 17 pixels: want 640 x 427, as the input has;gpuimg: split: 2 of 3 files failed;gpuimg: split: nowhere.ppm: No such file or directory;1"

# kill -9 leaves complete folders only, and the next run removes temporary ones.
for i in {1..40}; do cp scans/1.ppm in/k$i.ppm; done
rm in/rgba.pam in/rgb.ppm
for wait in 0.005 0.02 0.04; do
    rm -rf killed k.jsonl
    "$GPUIMG" split in/k*.ppm --labels labels/1.pgm --out 'killed/{stem}' --report k.jsonl --threads 2 &
    sleep $wait
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    mkdir -p killed
    check "killed after $wait s: folders are complete" test "$(for f in killed/*/; do [[ -d $f ]] && ls "$f" | wc -l; done | sort -u | head -1)" = "$([[ $(ls killed) ]] && ls layers/1 | wc -l)"
    expect 0 gpuimg split in/k*.ppm --labels labels/1.pgm --out 'killed/{stem}' --report k.jsonl --resume
    check 'the next run makes all folders and leaves no other file' test "$(find killed -mindepth 1 -maxdepth 1 | wc -l)" = 40
    check 'the folders have the right layers' diff -r killed/k7 layers/1
done
mkdir -p dead/.gpuimg-0123456789abcdef
touch dead/.gpuimg-0123456789abcdef/layer-000001.png
expect 0 gpuimg split scans/1.ppm --labels labels/1.pgm --out 'dead/{stem}'
check 'a dead temporary folder is removed' test "$(ls -A dead)" = 1

# A folder that exists although the report has lost its line.
sed -i '$d' k.jsonl
expect 0 gpuimg split in/k*.ppm --labels labels/1.pgm --out 'killed/{stem}' --report k.jsonl --resume
check 'it is made again' test "$(find killed -mindepth 1 -maxdepth 1 | wc -l) $(jq -r 'select(.input) | .input' k.jsonl | sort -u | wc -l)" = '40 40'

# The report may be in the folder of the inputs.
expect 0 gpuimg split scans/1.ppm --labels labels/1.pgm --out 'beside/{stem}' --report scans/l.jsonl
rm scans/l.jsonl

# Errors that are reported before any work.
mkdir -p nest/a
cp scans/1.ppm nest/a.ppm
cp scans/1.ppm nest/a/b.ppm
expect_error 2 'split: the folder of nest/a/b.ppm would be inside that of nest/a.ppm, want another --out' \
    split nest --recursive --labels labels/1.pgm --out 'made/{tree}/{stem}'
expect_error 2 'split: --report one/1/layer-0.jsonl: is the output of scans/1.ppm, want another file' \
    split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out 'one/{stem}' --force --report one/1/layer-0.jsonl
expect_error 2 'split: made/1: would be the output of scans/1.ppm and of ./scans/1.ppm, *' split scans/1.ppm ./scans/1.ppm --labels labels/1.pgm --out 'made/{stem}'
expect_error 2 'split: made: would be the output of scans/1.ppm and of scans/2.ppm, *' split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out made
expect_error 2 'split: scans: the output of scans/1.ppm would be written over the input scans/1.ppm, *' split scans/1.ppm --labels labels/1.pgm --out scans --force
expect_error 2 'split: labels: the output of scans/1.ppm would be written over the input labels/1.pgm, *' split scans/1.ppm --labels labels/1.pgm --out labels
expect_error 2 'split: of many images want --out, and no --out-dir: *' split scans/1.ppm --labels labels/1.pgm --out 'made/{stem}' --out-dir made
expect_error 2 'split: of many images want --out, and no --out-dir: *' split --files-from names --labels labels/1.pgm
expect_error 2 'split: scans/2.ppm: one operand too many *; for many images use --out' split scans/1.ppm scans/2.ppm --labels labels/1.pgm --out-dir made
expect_error 2 'split: --shard: is for many images: want --out too' split scans/1.ppm --labels labels/1.pgm --out-dir made --shard 1/2
expect_error 2 'split: --labels labels/{n}.pgm: {n}.pgm: want {dir}, *' split scans/1.ppm --labels 'labels/{n}.pgm' --out 'made/{stem}'
expect_error 2 'split: --format nothing: want the suffix *' split scans/1.ppm --labels labels/1.pgm --out 'made/{stem}' --format nothing
expect_error 1 'split: --labels: nowhere.pgm: No such file or directory' split scans/1.ppm --labels nowhere.pgm --out 'made/{stem}'
finish
