#!/bin/bash
# Help, manual pages and completions, all printed from the rows.
# Sources: cli/help cli/args/option_text* cli/args/suggestion* cli/args/synonyms*
. "$(dirname "$0")/../lib.sh"

expect 0 gpuimg help
cp out help.txt
expect_stdout "$(cat help.txt)" gpuimg --help
expect 0 gpuimg list --commands
cp out commands
sed '/^Topics of help:/,$d' help.txt | awk '/^  [a-z]/ {print $1}' | sort >listed
check "help lists every command once" diff listed <(sort commands)
for heading in Filters Morphology 'Tone and thresholds' 'Colour and channels' Geometry 'Two or more images' Measurement Regions 'Batches and tools'; do
    check "help: the heading $heading has commands" grep -q '^  [a-z]' <(grep -A1 "^$heading:$" help.txt)
done
sed -n '/^Topics of help:/,/^$/p' help.txt | awk '/^  [a-z]/ {print $1}' >topics
check "help lists the topics" diff topics <(printf '%s\n' batch cluster common compatibility limits promises)
expect_stdout "$(<topics)" gpuimg list --topics

# Words that are not commands are searched. The first line of the answer names the command.
while IFS=: read -r words command; do
    expect 0 gpuimg help "$words"
    check "help $words: $command comes first" test "$(awk 'NR == 1 {print $1}' out)" = "$command"
    # shellcheck disable=SC2086 # words
    expect_stdout "$(<out)" gpuimg help $words
done <<'END'
structuring element:erode
regionprops:extract
bwareaopen:remove-small
GaussianBlur:gaussian
match_histograms:match
connected component:extract
non-local means:nlmeans
integral image:integral
histogram matching:match
histogram equalization:equalize
median filter:median
box filter:blur
adaptive threshold:local-threshold
top-hat:tophat
unsharp mask:sharpen
rank filter:rank
sauvola:local-threshold
Non_Local:nlmeans
rolling ball:background
summed area:integral
projection:stack
mip:stack
multi-page:pages
1-bit:common
micron:extract
micrometre:extract
channels first:common
rescale:resize
barrel:undistort
usm:sharpen
resume:batch
max-pixels:common
slurm:cluster
straighten:rotate
subsampling:common
dominant:palette
flatten:convert
regression:compare
overwrite:common
existing files:common
retry:batch
multipage:pages
verify:info
log:batch
density:common
dpi:common
count:extract
particles:extract
contour:contours
outlines:contours
viridis:colormap
false colour:colormap
false color:colormap
colour:color
heatmap:colormap
pseudocolor:colormap
haldclut:lut
3dlut:lut
look-up table:lut
every:batch
slope:edges
python:run
estimate:batch
dry-run:batch
orientation:orient
autorotate:orient
speed:batch
objects:extract
phash:hash
dedupe:duplicates
dedup:duplicates
similar:duplicates
near-duplicate:duplicates
END
check "help 4:2:0: the option" grep -q '^    --quality ' <(gpuimg help 4:2:0)
# Words that only the texts of pages have.
while IFS=: read -r words pages; do
    check "help $words: the text of $pages" grep -qE "^In the text of: (.*, )?$pages(,|$)" <(gpuimg help "$words")
done <<'END'
main colours:palette
main colors:palette
skip-existing:batch
touching:extract
stride:batch
fifth:batch
install:completion
how fast:batch
inscribed:rotate
empty corners:rotate
Fourier:limits
END
check "help resume: the option" grep -q '^    --resume ' <(gpuimg help resume)
not() { ! "$@"; }

# An option says "required" only if no other option can take its place.
required() { gpuimg help "$1" | tr -s ' \n' ' ' | grep -oE -- " --$2 [^(]*\([^)]*" | grep -qE '[(;] ?required'; }
for pair in crop/size resize/size pad/margins flip/h perspective/from add/with paste/points match/reference; do
    check "help ${pair%/*}: --${pair#*/} is not required" not required "${pair%/*}" "${pair#*/}"
done
for pair in affine/matrix remap/map; do
    check "help ${pair%/*}: --${pair#*/} is required" required "${pair%/*}" "${pair#*/}"
done
check "help blur: an alias does not read as the default" not grep -q '(also.*default)' <(gpuimg help blur)
check "help float64: the pages that say it" grep -qx 'In the text of: common, limits' <(gpuimg help float64)
check "help multi-page: also in batch" grep -q '^In the text of: .*batch' <(gpuimg help multi-page)
check "help sauvola: the choice" grep -q '^    --method sauvola ' <(gpuimg help sauvola)
expect 0 gpuimg help means colour
check "words of different places are found" test -s out
expect_error 2 'help: xyzzy: no such command, and no help has this text' help xyzzy
expect_error 2 'help: sauvola: no such command, did you mean local-threshold --method sauvola?' help --man sauvola
expect_error 2 'help: --: no such command*' help -- --
expect 0 gpuimg help --all
for word in $(<commands); do check "help --all: $word" grep -q "^Usage: gpuimg $word " out; done
for word in $(<topics); do check "help --all: $word" grep -qxF "$(gpuimg help "$word" | head -1)" out; done
# --markdown prints the words of the help as text, in its order: without layout and markup both are equal.
mkdir pages
for word in $(<commands) $(<topics); do
    expect 0 gpuimg help "$word"
    mv out "pages/$word.txt"
    expect 0 gpuimg help --markdown "$word"
    mv out "pages/$word.md"
done
python3 - >equal <<'END'
import pathlib, re
def letters(page):
    return re.sub(r"[\s`\\#:-]|```(text|sh)", "", re.sub(r"(?m)^## .*$|^```.*$", "", page.read_text(encoding="utf-8")))
for text in pathlib.Path("pages").glob("*.txt"):
    if letters(text) == letters(text.with_suffix(".md")):
        print(text.stem)
END
for word in $(<commands) $(<topics); do check "help --markdown $word has all words of the help" grep -qx "$word" equal; done
expect 0 gpuimg help --all --markdown
cp out all.md
check "help --all --markdown is one document" test "$(grep -c '^# ' all.md)" = 1
while read -r word; do check "help --all --markdown: $word" grep -qx "## gpuimg $word" all.md; done < <(cat commands && sed 's/^/help /' topics)
check "help --all --markdown: blocks of code end" test $(($(grep -c '^```' all.md) % 2)) = 0
check "help --markdown: markup of texts is escaped" test -z "$(sed '/^```/,/^```$/d; s/`[^`]*`//g' all.md | grep -E '(^|[^\\])[*_<]')"
expect 0 gpuimg help --markdown
check "help --markdown is the list of commands" test "$(grep -c '^- `' out)" = "$(cat commands topics | wc -l)"
expect_error 2 'help: --man: want no --markdown' help --man --markdown
expect_error 2 'help: --all: want no --man' help --all --man
expect_error 2 'help: --all: want no blur' help --all blur

while read -r command; do
    expect 0 gpuimg help "$command"
    cp out help.txt
    check "help $command: usage" grep -q "^Usage: gpuimg $command \[OPTION" help.txt
    check "help $command: no line over 80 columns" awk 'length > 80 && !/^ *gpuimg/ {bad = 1} END {exit bad}' help.txt
    expect_stdout "$(cat help.txt)" gpuimg "$command" --help
    expect_stdout "$(cat help.txt)" gpuimg "$command" -h
    expect 0 gpuimg help --man "$command"
    cp out page.1
    check "man $command: head" grep -qi "^\.TH gpuimg-$command 1 " page.1
    grep -oE '^  (-., )?--[a-z0-9-]+' help.txt | sed 's/.*--//' | sort -u >options
    grep -oE '\\-\\-[a-z0-9\\-]+(\\fR|, )' page.1 | sed -E 's/(\\fR|, )$//; s/\\//g; s/^--//' | sort -u | comm -23 options - >missing
    check "man $command: every option" test ! -s missing
    if command -v mandoc >/dev/null; then
        check "man $command: mandoc -Tlint" mandoc -Tlint -W warning page.1
    else
        skip "man $command: no mandoc here"
    fi
done <commands
expect 0 gpuimg help --man
# Commands and formats of the page: bold words under a tag, the formats between their heading and the next.
grep -oP '(?<=^\\fBgpuimg\\-).*(?=\\fR\(1\)$)' out | tr -d '\\' >named
sort named -o named
check "man gpuimg names every command and topic" diff named <(sort commands topics)
sed -n '/^\.SH FORMATS/,/^\.SH ENV/p' out | grep -oP '(?<=^\\fB).*(?=\\fR$)' | tr -d '\\' >named
gpuimg list --json | jq -r '.formats[].name' >formats
check "man gpuimg names every format" cmp named formats
cp out page.1
if command -v mandoc >/dev/null; then
    check "man gpuimg: mandoc -Tlint" mandoc -Tlint -W warning page.1
else
    skip "man gpuimg: no mandoc here"
fi

# Examples come first, and are command lines.
for command in $(gpuimg list --json | python3 -c 'import json, sys; print(*(o["name"] for o in json.load(sys.stdin)["operations"]))'); do
    gpuimg help "$command" >help.txt
    grep -nE "^  (.*\\| )?gpuimg $command " help.txt >examples
    check "help $command: three examples" test "$(wc -l <examples)" -ge 3
    check "help $command: before all else" test "$(head -1 examples | cut -d: -f1)" = 5
    for option in $(grep -oE -- ' --[a-z0-9-]+' examples); do
        check "help $command: its example's $option" grep -qE -- "(^|[ ,])$option\\b" <(sed 1,8d help.txt)
    done
    check "man $command: examples" grep -q '^\.SH EXAMPLES' <(gpuimg help --man "$command")
done

# Options that operations share are documented once.
expect 0 gpuimg help common
cp out common.txt
for option in --format --quality --depth --strict --device --timing; do
    check "help common: $option" grep -q -- "^  \(-., \)\?$option\b" common.txt
    check "help blur names $option" grep -qE -- "(^| )$option\b" <(gpuimg help blur | sed -n '/^Common options (see gpuimg help common):/,$p')
    check "help blur does not explain $option" test "$(gpuimg help blur | grep -c -- "^  \(-., \)\?$option\b")" = 0
done
check "common is not a command" test "$(grep -cx common commands)" = 0

# Options for many images are documented once too, with a manual page and completion of their own.
expect 0 gpuimg help batch
cp out batch.txt
for option in --out-dir --out --suffix --files-from --null --recursive --shard --report --resume --fail-fast --memory --progress --tar --table; do
    check "help batch: $option" grep -q -- "^  \(-., --null\b\|$option\b\)" batch.txt
done
for word in INPUTS OUTPUTS TABLES FAILURES 'EXIT STATUS' REPORTS SHARDS STREAMS TARS; do
    check "help batch: $word" grep -q "^$word\. " batch.txt
done
for status in 0 1 2 75 130; do check "help batch: exit status $status" grep -qE "(^| )$status(:| and )" batch.txt; done
check "help blur names them" grep -q -- '--tar' <(gpuimg help blur | sed -n '/^Options for many images (see gpuimg help batch):/,$p')
check "help batch: 80 columns except for examples" test "$(grep -v '^  [a-z]' batch.txt | awk 'length > 80' | wc -l)" = 0
for topic in $(<topics); do
    expect 0 gpuimg help --man "$topic"
    check "man $topic: head" grep -q "^\.TH GPUIMG-${topic^^} 1 " out
    command -v mandoc >/dev/null && check "man $topic: mandoc -Tlint" mandoc -Tlint -W warning out
    check "$topic is completed" grep -q "^$topic	" <(gpuimg __complete help "${topic:0:3}")
done
expect_error 2 'batch: no such command, did you mean help batch? *' batch
for command in histogram extract compare bench; do
    check "help $command: --json" grep -q -- '-j and --json are short' <(gpuimg help $command | tr '\n' ' ' | tr -s ' ')
done
check "how many numbers: just two" grep -q '2 numbers separated by a comma' <(gpuimg help convolve | tr '\n' ' ' | tr -s ' ')
check "how many numbers: one per channel" grep -q '1 to 4 sample values separated by commas' <(gpuimg help blur | tr '\n' ' ' | tr -s ' ')
check "how many numbers: percentiles" grep -q '1 to 32 numbers separated by commas, each 0 to 100' <(gpuimg help histogram | tr '\n' ' ' | tr -s ' ')

expect 0 gpuimg help gaussian
check "a range" grep -q 'each 0 to 250 px' out
check "a default" grep -q 'default clamp' out
check "aliases" grep -q 'also edge' out

# The queries of completion scripts.
asks() { # asks WANT WORD...
    local want=$1
    shift
    gpuimg __complete "$@" | cut -f1 | tr '\n' ' ' >out
    if [[ $(<out) == "$want" ]]; then pass; else fail "complete $*" "offered: $(<out)" "want: $want"; fi
}
asks 'gaussian ' gau
asks '--help --version ' --
asks '' frobnicate ''
asks ':files ' blur ''
asks ':files ' blur in.png ''
asks '--border --border-value ' blur --bor
asks 'clamp border wrap mirror reflect101 ' blur --border ''
asks 'reflect101 ' blur --border re
asks 'replicate repeat ' blur --border rep
asks 'wrap ' blur --border = w
asks 'clamp border wrap mirror reflect101 ' blur --border =
asks '--border=wrap ' blur --border=w
asks 'bt709 bt601 ' blur --gray = b
asks ':files ' blur -- --bor
asks ':files ' convolve --kernel ''
asks 'otsu li yen triangle isodata minimum mean ' threshold --at ''
asks '' blur --k ''
asks 'auto cpu cuda ' blur --device ''
asks 'png pnm ' blur --format pn
asks 'gaussian ' help gau
asks 'zsh ' completion z
asks 'gaussian ' bench gau
asks 'edges erode expand-labels equalize extract ' selftest blur e
asks 'merge :files ' report m

# The scripts themselves, in their shells.
dir=$(dirname "$GPUIMG")
for shell in bash zsh fish; do
    expect 0 gpuimg completion $shell
    cp out _gpuimg.$shell
    if command -v $shell >/dev/null; then
        check "$shell reads its script" $shell -n _gpuimg.$shell
    else
        skip "completion: no $shell here"
    fi
done
cat >ask.bash <<'EOF'
compopt() { echo "compopt $*"; }
. ./_gpuimg.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gpuimg gpuimg
echo "${COMPREPLY[@]}"
EOF
export PATH=$dir:$PATH
expect_stdout 'gaussian' bash ask.bash gpuimg gau
# The line for ~/.bashrc, as help has it, in a new shell with an empty home.
mkdir clean
gpuimg help completion | grep -x '    source <(gpuimg completion bash)' >clean/.bashrc
check "completion by a line in ~/.bashrc" grep -q 'complete -F _gpuimg gpuimg' <(HOME=$PWD/clean bash -i -c 'complete -p gpuimg' 2>/dev/null)
# The commands for the package bash-completion, which reads this file when gpuimg is typed.
gpuimg help completion | sed -nE 's/^    (mkdir .*|gpuimg completion bash >.*)/\1/p' >commands.bash
HOME=$PWD/clean expect 0 bash commands.bash
check "completion by a file in the home" cmp _gpuimg.bash clean/.local/share/bash-completion/completions/gpuimg
expect_stdout 'wrap' bash ask.bash gpuimg blur --border = w
expect_stdout '--border --border-value' bash ask.bash gpuimg blur --bor
expect_stdout 'compopt -o default' bash ask.bash gpuimg blur in
if command -v fish >/dev/null; then
    export HOME=$work
    touch picture.png
    expect 0 fish -c 'source _gpuimg.fish; complete -C "gpuimg gau"; complete -C "gpuimg blur --border=w"; complete -C "gpuimg blur pic"; complete -C "gpuimg blur "'
    check "fish: a command" grep -q '^gaussian	' out
    check "fish: a choice" grep -q '^--border=wrap	' out
    check "fish: a file" grep -q '^picture.png' out
fi
if ! command -v zsh >/dev/null; then
    skip "zsh completes: no zsh here"
elif ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    skip "zsh completes: no pseudo-terminals here"
else
    # The completion runs inside zsh's line editor: a pseudo-terminal types a tab.
    mkdir zdot
    cat >zdot/.zshrc <<'EOF'
PS1='> '
autoload -Uz compinit
compinit -u -D
source ./_gpuimg.zsh
zstyle ':completion:*' list-prompt ''
EOF
    cat >zsh.py <<'EOF'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(ZDOTDIR="zdot", TERM="dumb")
    os.execvp("zsh", ["zsh", "-i"])
def read(seconds, until):
    text, end = b"", time.time() + seconds
    while time.time() < end and until not in text:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                break
    return text
read(20, b"> ")
for typed, want in ((b"gpuimg gau\t", b"gaussian"), (b"\x15gpuimg blur --border=wr\t", b"=wrap")):
    os.write(fd, typed)
    text = read(10, want)
    if want not in text:
        sys.exit(f"typed {typed}, seen {text}")
os.write(fd, b"\x15exit\n")
EOF
    check "zsh completes" python3 zsh.py
fi

finish
