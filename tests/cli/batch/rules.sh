#!/bin/bash
# --only, --except and --for: which files, trees, lists and members of tars are processed, and by which chain. The oracles are
# the same commands on the files that find and the shell choose.
# Usage: rules.sh GPUIMG
# Sources: cli/args/rules* cli/paths/matcher* cli/paths/input_list* cli/inputs/tar_feed*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# A data set: photographs, masks, labels, and names that patterns could stumble over.
mkdir -p ds/a/b ds/masks
pgm photo.pgm 60 40
gpuimg run 'gaussian --sigma 2 | threshold' photo.pgm mask.png
for f in ds/a/p ds/a/b/q ds/r; do
    gpuimg convert photo.pgm "$f.jpg"
    cp mask.png "$f.seg.png"
    echo 7 >"$f.cls"
done
cp ds/r.jpg ds/a/b/UPPER.JPG
cp mask.png ds/masks/r.png
cp photo.pgm 'ds/[x].pgm'
head -c 3000000 /dev/urandom >ds/video.bin
{ printf 'P5 2000 1000 255\n' && head -c 2000000 /dev/urandom; } >ds/large.pgm # is copied piece by piece when it is not chosen
tar -C ds -cf ds.tar --sort=name --transform 's|^[.]/||' .
tar -C ds -cf dot.tar --sort=name .
masks='resize --size 20x10 --filter nearest'

files() { (cd "$1" && find . -type f | sed 's|^[.]/||' | sort); }
# chosen NAMES OPTION...: tests that a batch with these options processes these files, in a tree, a list and tars. In the tars
# all members are there, and those that are not chosen have their bytes.
chosen() {
    local want t f
    want=$(tr ' ' '\n' <<<"$1" | sort | tr '\n' ' ')
    shift
    rm -rf dir made*
    expect 0 gpuimg invert --recursive ds --out-dir dir "$@"
    check "$*: a tree" test "$(files dir | tr '\n' ' ')" = "$want"
    check "$*: info" test "$(gpuimg info --recursive ds --table - "$@" 2>/dev/null | sed 1d | cut -d, -f1 | sed 's|^ds/||' | sort | tr '\n' ' ')" = "$want"
    for t in ds dot; do
        rm -rf unpacked
        expect 0 gpuimg invert --tar $t.tar made.tar "$@"
        check "$*: $t.tar keeps its names and their order" test "$(tar tf made.tar)" = "$(tar tf $t.tar)"
        mkdir unpacked
        tar xf made.tar -C unpacked
        for f in $(files ds); do
            if [[ " $want" == *" $f "* ]]; then cmp -s "dir/$f" "unpacked/$f"; else cmp -s "ds/$f" "unpacked/$f"; fi ||
                fail "$*: $t.tar: $f"
        done
        pass
    done
    check "$*: rows of a tar" test "$(gpuimg info --tar ds.tar --table - "$@" 2>/dev/null | sed 1d | cut -d, -f2 | sort | tr '\n' ' ')" = "$want"
}
all='[x].pgm a/b/UPPER.JPG a/b/q.jpg a/b/q.seg.png a/p.jpg a/p.seg.png large.pgm masks/r.png r.jpg r.seg.png'
jpg='a/b/UPPER.JPG a/b/q.jpg a/p.jpg r.jpg'
chosen "$all" --only '*'
chosen "$jpg" --only '*.jpg'
chosen "$jpg" --only '*.JPG'
chosen "$jpg" --only '*.[jx]p[g]' --only '*.none'
chosen "$jpg large.pgm" --only '*.jpg,large.*'
chosen "$jpg large.pgm" --only 'large.*' --only='*.jpg'
chosen "[x].pgm $jpg large.pgm masks/r.png" --except '*.seg.png'
chosen 'a/b/q.jpg a/p.jpg' --only '*.jpg' --except 'r.*,upper*'
chosen 'a/b/q.jpg a/b/q.seg.png' --only 'a/b/q*'
chosen 'a/b/q.jpg a/b/q.seg.png' --only './a/b/q*'
chosen 'a/b/q.seg.png a/p.seg.png' --only 'a/*.png'
chosen 'masks/r.png' --only 'masks/*'
chosen 'masks/r.png' --only '**/masks/*'
chosen 'a/b/UPPER.JPG a/b/q.jpg a/b/q.seg.png' --only '**/b/*'
chosen '[x].pgm' --only '\[x].*'
chosen 'a/b/q.jpg a/b/q.seg.png' --only 'q.???,?.seg.???' --except 'p*,r*'

# A list and operands. A name is compared as it was given.
rm -rf dir made*
printf '%s\n' ds/a/p.jpg ds/a/p.seg.png ds/r.jpg >list
expect 0 gpuimg invert --files-from list --out-dir dir --except '*.seg.png' --only 'ds/a/*'
check '--files-from' test "$(files dir)" = p.jpg
rm -r dir
expect 0 gpuimg invert ds/a/p.jpg ds/a/p.seg.png ds/r.jpg --out-dir dir --only '*.seg.png,r*'
check 'operands' test "$(files dir | tr '\n' ' ')" = 'p.seg.png r.jpg '
gpuimg pages ds/a/p.jpg ds/r.jpg --out two.tif
rm -r dir
expect 0 gpuimg invert 'two.tif[1]' ds/r.jpg --out-dir dir --only '*.tif' --suffix .png
check 'the number of a page is no part of the name' test "$(files dir | wc -l)" = 1
mkdir comma
cp ds/r.jpg 'comma/a, b.jpg'
rm -r dir
expect 0 gpuimg invert --recursive comma ds/masks --out-dir dir --only 'a\, b.jpg'
check 'a comma in a pattern' test "$(files dir)" = 'a, b.jpg'
rm -r dir
expect 0 gpuimg invert --recursive ds --out-dir dir --only '*.jpg' --shard 2/2
check 'shards are parts of the chosen files' test "$(files dir | tr '\n' ' ')" = 'a/b/q.jpg r.jpg '
rm -r dir
expect 0 gpuimg invert --recursive ds --out-dir dir --only '*.jpg' --out '{index}.{ext}'
check '{index} counts the chosen files' test "$(files dir | tr '\n' ' ')" = '1.JPG 2.jpg 3.jpg 4.jpg '

# --for: each file has the bytes that its own chain gives it alone.
for t in tree tar; do
    for threads in 1 4; do
        rm -rf dir made.tar
        if [[ $t == tree ]]; then
            expect 0 gpuimg resize --size 20x10 --recursive ds --out-dir dir --threads $threads \
                --for '*.seg.png,masks/*' "$masks" --for '*.seg.png' invert --for 'r.jpg' 'gray | invert | transpose' --except large.pgm
        else
            mkdir dir
            expect 0 gpuimg resize --size 20x10 --tar ds.tar made.tar --threads $threads \
                --for '*.seg.png,masks/*' "$masks" --for '*.seg.png' invert --for 'r.jpg' 'gray | invert | transpose' --except large.pgm
            tar xf made.tar -C dir
        fi
        check "$t: no warning but that of the second --for" test "$(grep warning err)" = 'gpuimg: warning: resize: --for *.seg.png: no input has such a name'
        for f in $all; do
            case $f in
            large.pgm) continue ;;
            *.seg.png | masks/*) gpuimg run "$masks" "ds/$f" "want.${f##*.}" ;;
            r.jpg) gpuimg run 'gray | invert | transpose' ds/$f want.jpg ;;
            *) gpuimg resize --size 20x10 "ds/$f" "want.${f##*.}" ;;
            esac
            check "$t, $threads threads: $f" cmp "want.${f##*.}" "dir/$f"
        done
    done
done
check 'masks keep their two values' test "$(gpuimg palette dir/a/p.seg.png --format csv | sed 1d | wc -l)" = 2
rm -rf dir made.tar
expect 0 gpuimg convert --recursive ds --out-dir dir --suffix .png --except large.pgm --only '*.jpg,*.pgm' --for 'r.jpg' 'invert | invert, invert'
gpuimg invert ds/r.jpg want.png
check '--for of convert' cmp want.png dir/r.png
gpuimg convert ds/a/p.jpg want.png
check 'convert without --for' cmp want.png dir/a/p.png

# Images of several bands take the chain of their own rule too.
mkdir bands
{ printf 'P7\nWIDTH 9\nHEIGHT 8\nDEPTH 5\nMAXVAL 255\nENDHDR\n' && head -c 360 ds/video.bin; } >bands/a.pam
cp bands/a.pam bands/b.pam
rm -rf dir
expect 0 gpuimg invert --recursive bands --out-dir dir --for 'b*' 'blur | transpose'
for f in a:invert b:'blur | transpose'; do
    gpuimg run "${f#*:}" bands/a.pam want.pam
    check "five bands: ${f#*:}" cmp want.pam dir/${f%%:*}.pam
done
expect 1 gpuimg invert --recursive bands --out-dir dir --for 'b*' 'color --to hsv'
check 'five bands: another chain fails alone' test "$(grep -c 'bands: choose some' err)" = 1

# Tables and arrays: the chain ends as that of the command does.
expect 0 gpuimg run 'stats' --recursive ds/a --only 'p*' --table all.csv --for '*.seg.png' 'invert | stats'
gpuimg run 'invert | stats' ds/a/p.seg.png --table mask.csv
gpuimg stats ds/a/p.jpg --table photo.csv
check 'a table' cmp all.csv <(cat photo.csv <(sed 1d mask.csv))
expect 0 gpuimg run 'stats' --tar ds.tar --only 'a/p*' --table tar.csv --for '*.seg.png' 'invert | stats'
check 'a table of a tar' cmp <(cut -d, -f3- tar.csv) <(cut -d, -f2- all.csv)
rm -rf dir
expect 0 gpuimg run 'stats' --recursive ds/a --only 'p*' --out-dir dir --suffix .json --for '*.seg.png' 'invert | stats'
check 'a table each' cmp <(sed 's/"file": "[^"]*", //' dir/p.seg.json) <(gpuimg run 'invert | stats' ds/a/p.seg.png --out-dir one --suffix .json && sed 's/"file": "[^"]*", //' one/p.seg.json)
rm -rf dir made.tar
expect 0 gpuimg run integral --tar ds.tar made.tar --only '*.seg.png,r.jpg' --for '*.seg.png' 'invert | integral'
mkdir dir && tar xf made.tar -C dir
gpuimg run 'invert | integral' ds/a/p.seg.png --out-dir one
check 'arrays of a tar' cmp one/p.seg.npy dir/a/p.seg.npy
check 'other members of arrays' cmp ds/a/p.jpg dir/a/p.jpg
rm made.tar

# Reports and --resume. Another --for is another work; in a tar so is another choice.
batch=(resize --size 20x10 --recursive ds --out-dir res --only '*.jpg,*.seg.png' --report r.jsonl --for '*.seg.png')
expect 0 gpuimg "${batch[@]}" "$masks"
check 'the report names the chain' test "$(jq -r 'select(.chain) | .chain' r.jsonl)" = "resize --for '*.seg.png' '$masks' --size 20x10"
check 'the report has the chosen files' test "$(jq -r 'select(.input) | .input' r.jsonl | sort | tr '\n' ' ')" = \
    'ds/a/b/UPPER.JPG ds/a/b/q.jpg ds/a/b/q.seg.png ds/a/p.jpg ds/a/p.seg.png ds/r.jpg ds/r.seg.png '
rm res/a/p.seg.png
stat -c '%n %i' res/a/* >before
expect 0 gpuimg "${batch[@]}" "$masks" --resume --progress
gpuimg run "$masks" ds/a/p.seg.png want.png
check '--resume takes the chain of the file' cmp want.png res/a/p.seg.png
check '--resume leaves what is done' diff before <(stat -c '%n %i' res/a/* | grep -v p.seg)
expect_error 2 '*: the report * is of "*", want *' "${batch[@]}" invert --resume
for rule in "--only=*.jpg" "--except=*.png" "--for=*.png invert"; do
    rm -f made*
    IFS=' ' read -r -a words <<<"$rule"
    expect 0 gpuimg blur --tar ds.tar made.tar "${words[@]}" --report tar.jsonl
    stat -c %i made.tar >before
    expect 0 gpuimg blur --tar ds.tar made.tar "${words[@]}" --report tar.jsonl --resume
    check "$rule: --resume skips the tar" test "$(stat -c %i made.tar)" = "$(<before)"
    mv made.tar kept.tar
    expect_error 2 '*: the report * is of "*", want *' blur --tar ds.tar made.tar --report tar.jsonl --resume
done
expect 0 gpuimg blur --tar ds.tar made.tar --only r.jpg --report tar.jsonl
check 'members that are not chosen are passed on' test "$(jq -r 'select(.tar and .status == "done") | .input' tar.jsonl)" = ds.tar:r.jpg
check 'and have their bytes in the report' test "$(jq -r 'select(.input == "ds.tar:large.pgm") | "\(.status) \(.output_bytes)"' tar.jsonl)" = "passed $(stat -c %s ds/large.pgm)"
rm made.tar
# A member that is not chosen is not read: damage in it is no failure.
mkdir bad && head -c 300 ds/r.jpg >bad/x.jpg && cp ds/r.jpg bad/y.jpg && tar -cf bad.tar bad
expect 1 gpuimg invert --tar bad.tar made.tar
rm -f made.tar
expect 0 gpuimg invert --tar bad.tar made.tar --except x.jpg
check 'a damaged member that is not chosen stays' cmp bad/x.jpg <(tar xOf made.tar bad/x.jpg)
expect 0 gpuimg invert --recursive bad --out-dir dir2 --except 'x*'
# From pipe to pipe.
rm -f made.tar
"$GPUIMG" invert --tar - - --only r.jpg <ds.tar >out
gpuimg invert --tar ds.tar want.tar --only r.jpg
check 'pipes' cmp <(tar xOf out r.jpg a/p.jpg) <(tar xOf want.tar r.jpg a/p.jpg)

# Commands that make one image or compare pairs choose their inputs in the same way.
rm -rf made*
expect 0 gpuimg pages --recursive ds --out pages.tif --only '*.jpg' --except 'upper*'
check 'pages' grep -q '3 images' <(gpuimg info pages.tif)
expect 0 gpuimg stack --recursive ds got.pgm --method max --only '*.seg.png' --gray
gpuimg stack ds/a/b/q.seg.png ds/a/p.seg.png ds/r.seg.png want.pgm --method max --gray
check 'stack' cmp got.pgm want.pgm
expect_error 2 'pages: --only and --except leave none of 10 images' pages --recursive ds --out made.tif --only x
expect_error 2 'stack: --only and --except leave none of 10 images' stack --recursive ds made.pgm --only x
gpuimg convert ds/a/p.jpg ds/r.jpg --out joined.tif --only 'p*'
check 'convert into pages' test "$(gpuimg info joined.tif | grep -c pages)" = 0
rm -rf other
cp -r ds other
gpuimg invert ds/r.jpg other/r.jpg
cp ds/r.jpg other/a/p.jpg
gpuimg invert ds/masks/r.png other/masks/r.png
tar -C other -cf other.tar --sort=name .
pairs() { sed 1d out | cut -d, -f"$1,$(($1 + 2))" | sed 's|^ds/||; s|^[.]/||' | sort | tr '\n' ' '; }
expect 1 gpuimg compare ds other --only 'r.*' --except '*.seg.png'
check 'folders' test "$(pairs 1)" = 'masks/r.png,0 r.jpg,0 '
expect 1 gpuimg compare --tar dot.tar other.tar --only 'r.*' --except '*.seg.png'
check 'pairs of tars' test "$(pairs 2)" = 'masks/r.png,0 r.jpg,0 '
expect 0 gpuimg compare --tar ds.tar other.tar --except 'r.*,p.jpg'
printf 'ds/%s\tother/%s\n' r.jpg r.jpg a/p.jpg a/p.jpg r.seg.png r.seg.png >list
expect 0 gpuimg compare --pairs list --only 'ds/*.png'
check 'a list of pairs' test "$(pairs 1)" = 'r.seg.png,1 '
expect_error 2 'compare: no pairs of images that --only and --except choose' compare ds other --only '*.x'
expect_error 2 'compare: --only and --except: want two folders, --pairs or --tar' compare ds/r.jpg other/r.jpg --only 'r*'

# Images that chains of --for name are checked like others.
expect_error 2 'blur: --report photo.pgm: is the file of the image too, want another one' \
    blur --recursive ds --out-dir made --report photo.pgm --for 'p.jpg' 'add --with photo.pgm'

# Options that are refused, and warnings.
for command in 'blur --recursive ds --out-dir made' 'blur --tar ds.tar made.tar'; do
    read -ra words <<<"$command"
    expect_error 2 'blur: --for \*: step 1: gausian: no such operation, did you mean gaussian[?]' "${words[@]}" --for '*' gausian
    expect_error 2 'blur: --for \*: step 1, stats: makes no image, as the other inputs become' "${words[@]}" --for '*' stats
    expect_error 2 'blur: --for \*: step 1, stats: writes a table of one image: *' "${words[@]}" --for '*' 'stats | invert'
    expect_error 2 'blur: --for: wants two arguments: PATTERN\[,PATTERN...] CHAIN' "${words[@]}" --for '*'
    expect_error 2 "blur: --only: a pattern is empty, want one such as '[*].jpg'" "${words[@]}" --only ''
    expect_error 2 "blur: --except: a pattern is empty, want one such as '[*].jpg'" "${words[@]}" --except 'a,,b'
    expect_error 2 "blur: --only: a pattern is empty, want one such as '[*].jpg'" "${words[@]}" --only 'a' --only ''
    expect_error 2 'blur: --only: has a control character' "${words[@]}" --only $'a\x1eb'
    expect_error 2 'blur: --for \*: step 1: is empty, want an operation' "${words[@]}" --for '*' ''
done
expect_error 2 'run: --for \*: want stats as the last step, as for the other inputs' run stats --tar ds.tar --for '*' invert
expect_error 2 'run: --for \*: want stats as the last step, as for the other inputs' run stats --tar ds.tar --for '*' histogram
expect_error 2 'run: stats: --to made.csv: *' run stats --tar ds.tar --for '*' 'stats --to made.csv'
expect_error 2 'channels: --for: not of *' channels split --recursive ds --out-dir made --for '*' invert
expect_error 2 'blur: --only and --except leave none of 10 images' blur --recursive ds --out-dir made --only '*.tif'
expect_error 2 'blur: --only: is for many images: want --out-dir, --out or --tar too' blur ds/r.jpg made.jpg --only '*'
expect_error 2 'blur: --for: is for many images: want --out-dir, --out or --tar too' blur ds/r.jpg made.jpg --for '*' invert
expect_error 2 'stats: -: has no name that --only, --except or --for can match' stats - --table made.csv --only '*'
expect_error 2 'blur: --exclude: no such option, did you mean --except[?]*' blur --exclude x
expect 0 gpuimg blur --tar ds.tar kept.tar --only '*.tif,*.x'
check 'a pattern that matches nothing' grep -qxF 'gpuimg: warning: blur: --only *.tif,...: no input has such a name' err
expect 0 gpuimg blur --recursive ds --out-dir dir --only '*.jpg' --except '*.sgg.png' --for '*.msk' invert
check 'each option is named' test "$(grep warning err)" = 'gpuimg: warning: blur: --except *.sgg.png: no input has such a name
gpuimg: warning: blur: --for *.msk: no input has such a name'
expect 0 gpuimg blur --recursive ds --out-dir dir --only '*.jpg' --except '*.sgg.png' --quiet
check '--quiet' test ! -s err

# Help, the manual, the list and completion have the options.
for text in "$(gpuimg help batch)" "$(gpuimg help blur)" "$(gpuimg help --man blur 2>/dev/null || gpuimg help --man)"; do
    for option in only except for; do check "help has --$option" grep -qe "-$option" <<<"$text"; done
done
check 'list --json' test "$(gpuimg list --json | jq -r '.operations[] | select(.name == "blur") | .options[] | select(.name == "for") | "\(.repeats) \(.arguments)"')" = 'true 2'
check 'completion of a chain' grep -q '^resize --filter	' <(gpuimg __complete blur --for '*.png' "'resize --fi")
check 'completion of an option' grep -q '^--except	' <(gpuimg __complete blur --ex)
check 'completion of an operation' grep -q '^invert	' <(gpuimg __complete run --for '*.png' inv)
finish
