#!/bin/bash
# Names that no file can have, and folders that can't be read or vanish: each fails alone, and the other inputs are done.
# Usage: names.sh GPUIMG
# Sources: cli/paths/names* cli/paths/input_list*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

pgm a.pgm 4 3
pgm b.pgm 5 3
slashes=$(printf '%*s' 40000 '' | tr ' ' /)
folders=$(printf 'x/%.0s' {1..50000})

# Each command must end within a minute; a name of 100,000 bytes must not make it slow.
quick() { timeout 60 "$GPUIMG" "$@"; }

# ---- names of PATH_MAX bytes or more: that input fails, the others are done ----
for name in "a${slashes}b.pgm" "${folders}y.pgm"; do
    n=${#name} long="*: is a name of ${#name} bytes: want at most 4095"
    printf '%s\n' a.pgm "$name" b.pgm >list
    rm -rf done
    expect 1 quick invert --files-from list --out-dir done --report r.jsonl
    check "$n bytes in a list: the message names the length" test "$(grep -c "is a name of $n bytes: want at most 4095\$" err) $(tail -n 1 err)" = \
        '1 gpuimg: invert: 1 of 3 files failed'
    check "$n bytes in a list: the other inputs are done" test "$(echo done/*)" = 'done/a.pgm done/b.pgm'
    check "$n bytes in a list: the report has the failure" test "$(grep -o '"status": "[a-z]*"' r.jsonl | sort | tr -d '\n')" = \
        '"status": "done""status": "done""status": "failed"'
    expect 1 quick stats --files-from list --table t.csv
    check "$n bytes in a list: the table has the other rows" test "$(sed 1d t.csv | cut -d, -f 1 | tr '\n' ' ')" = 'a.pgm b.pgm '
    rm -rf done
    expect 1 quick invert "$name" a.pgm --out-dir done
    check "$n bytes as an operand: the other input is done" test -s done/a.pgm
    expect 2 quick compare --pairs <(printf 'a.pgm\ta.pgm\n%s\ta.pgm\n' "$name") --table t.csv
    check "$n bytes in a pair: the other pair is compared" test "$(sed 1d t.csv | cut -d, -f 1-3)" = a.pgm,a.pgm,1
    expect_error 1 "stack: $long" stack "$name" a.pgm made.pgm --report r.jsonl
    expect_error 1 'invert: *: File name too long' invert "$name" made.pgm
    expect_error 1 "merge: $long" merge "$name" a.pgm made.pgm
    expect_error 1 'invert: *: File name too long' invert a.pgm "$name"

    # In options and tars such a name is an error before any work.
    for words in "invert a.pgm --out-dir" "invert a.pgm --out" "invert a.pgm --out-dir made --report" "invert --out-dir made --files-from" \
        "stats a.pgm --table" "split a.pgm --labels a.pgm --out" "split a.pgm --labels a.pgm --out-dir" "extract a.pgm --at 1 --crops"; do
        # shellcheck disable=SC2086 # words
        expect_error 2 "${words%% *}: ${words##* } *: want a path of 1 to 4095 bytes" $words "$name"
    done
    expect_error 2 "invert: *: is a name of *[0-9] bytes: want 1 to 4095" invert --tar "$name.tar" made.tar
    expect_error 2 "invert: *: is a name of *[0-9] bytes: want 1 to 4095" invert --tar in.tar "$name.tar"
    expect_error 2 "stats: *: is a name of *[0-9] bytes: want 1 to 4095" stats --tar "{a,$name}.tar" --table made.csv
done
# A template makes the output's name of one input too long.
dots=$(printf './%.0s' {1..1500})
rm -rf done
expect 1 quick invert "${dots}a.pgm" b.pgm --out '{dir}/{dir}/o_{stem}.pgm'
check 'a template: the message names the length' grep -q '/o_a.pgm: is a name of 60[0-9]* bytes: want at most 4095$' err
check 'a template: the other input is done' test "$(echo o_*)" = o_b.pgm
# A name of 4095 bytes is valid.
most=$(printf './%.0s' {1..2045})a.pgm
check 'the longest name has 4095 bytes' test ${#most} = 4095
expect 0 quick invert "$most" --out-dir done
expect 0 quick split "$most" --labels a.pgm --out "done/l"
# A deep folder that does not exist yet: every folder above it may hold another result.
expect 0 quick split a.pgm --labels a.pgm --out "$(printf 'x/%.0s' {1..2000}){stem}"

# An empty name would mean the working folder.
for words in "invert a.pgm --out-dir" "invert a.pgm --out" "stats a.pgm --out-dir" "split a.pgm --labels a.pgm --out-dir"; do
    # shellcheck disable=SC2086 # words
    expect_error 2 "${words%% *}: ${words##* } : want a path of 1 to 4095 bytes" $words ''
done
check 'no file appears in the working folder' test "$(cmp a.pgm <(cat a.pgm) && echo *.pgm)" = 'a.pgm b.pgm o_b.pgm'

# ---- --recursive takes every suffix that can be read, in capitals too ----
mkdir -p all/of
for suffix in png jpg jpeg jpe jfif pgm ppm pbm pnm pam y4m pfm bmp dib hdr npy tga; do
    cp a.pgm "all/1.$suffix"
    cp a.pgm "all/of/2.${suffix^^}"
done
cp a.pgm all/a.txt
cp a.pgm all/pnm
expect 0 gpuimg info --recursive all --table t.csv
check 'every suffix that can be read is found' test "$(sed 1d t.csv | cut -d, -f 1 | sort)" = "$(find all -name '*[12].*' | sort)"

# ---- an output folder that vanishes is a failure of the machine: the command may be repeated ----
# A pipe without a writer delays its input: when it is opened, the input before it is done.
# gone COMMAND...: runs with the folder `away`, which is removed before pipe.pgm gets its image.
gone() {
    rm -rf away pipe.pgm
    mkdir away
    mkfifo pipe.pgm
    timeout 60 "$GPUIMG" "$@" >out 2>err </dev/null &
    { rm -rf away && cat b.pgm; } >pipe.pgm
    wait $!
}
for command in 'invert --out-dir away/new' 'channels split --out-dir away/new' 'channels split --out away/new/{channel}/{name}' \
    'split --labels l.pgm --out away/new/{stem}' 'stats --out-dir away/new' 'integral --out-dir away/new'; do
    gpuimg convert --force b.pgm l.pgm
    # shellcheck disable=SC2086 # words
    expect 75 gone $command pipe.pgm --threads 1
    check "$command: the message names the failure" grep -qE "^gpuimg: ${command%% *}: .*: (there is no folder|No such file or directory)" err
    check "$command: the failure is counted" grep -qx "gpuimg: ${command%% *}: 1 of 1 files failed" err
    check "$command: the folder is not made again" test ! -e away
done
expect 75 gone invert pipe.pgm away/b.png
expect 75 gone channels split pipe.pgm away/b.pgm
expect 75 gone stack pipe.pgm away/b.pgm
expect 75 gone stats a.pgm pipe.pgm --table away/t.csv
check 'a table: the message names it' grep -qxE 'gpuimg: stats: away/t.csv: (No such file or directory|there is no folder away)' err
tar cf a.tar a.pgm
tar cf b.tar b.pgm
mkfifo pipe.tar
expect 0 gpuimg invert --tar a.tar made.tar
rm -f made.tar pipe.tar
gone_tar() {
    mkdir -p away
    mkfifo pipe.tar
    timeout 60 "$GPUIMG" invert --tar '{a,pipe}.tar' 'away/{1,2}.tar' >out 2>err </dev/null &
    { while [[ ! -e away/1.tar ]]; do sleep 0.02; done; rm -rf away; cat b.tar; } >pipe.tar
    wait $!
}
expect 75 gone_tar
check 'a tar: the message names it' grep -qx 'gpuimg: invert: away/2.tar: there is no folder away' err
# If the folder never existed, the command line is wrong.
expect_error 1 'invert: away/b.pgm: there is no folder away' invert a.pgm away/b.pgm
expect_error 1 'invert: away/1.tar: there is no folder away' invert --tar a.tar away/1.tar
expect_error 1 'stats: away/t.csv: there is no folder away' stats a.pgm --table away/t.csv

# ---- a folder that can't be read fails alone ----
mkdir -p tree/deep tree/ok tree/shut
cp a.pgm tree/ok/a.pgm
cp b.pgm tree/z.pgm
# 25 nested folders with names of 200 bytes.
python3 -c 'import os, shutil
os.chdir("tree/deep")
for i in range(25):
    shutil.copy("../ok/a.pgm" if i == 0 else "../a.pgm", "a.pgm")
    os.mkdir("d" * 200)
    os.chdir("d" * 200)'
rm -rf done
expect 1 quick invert --recursive tree --out-dir done --report r.jsonl
check 'a folder too deep: the message names the length' test "$(grep -c '^gpuimg: invert: tree/deep/[d/]*\.\.\.[d/]*: is a name of 4[0-9]* bytes: want at most 4095$' err) $(tail -n 1 err)" = \
    '1 gpuimg: invert: 1 of 24 files failed'
check 'a folder too deep: the other inputs are done' test "$(find done -name '*.pgm' | wc -l)" = 23
check 'a folder too deep: the report has the failure' test "$(grep -c '"status": "done"' r.jsonl) $(grep -c '"status": "failed"' r.jsonl)" = '23 1'
expect 1 quick stats --recursive tree --table t.csv
check 'a folder too deep: the table has the other rows' test "$(sed 1d t.csv | wc -l)" = 23
expect 1 quick info --recursive tree --table t.csv
check 'a folder too deep: info has the other rows' test "$(sed 1d t.csv | wc -l)" = 23
expect_error 1 'stack: tree/deep/*: is a name of *' stack --recursive tree made.pgm
rm -r tree/deep

# Root can read everything unless it drops capabilities.
user=()
if [[ $(id -u) == 0 ]]; then user=(setpriv --bounding-set '-dac_override,-dac_read_search'); fi
chmod 0 tree/shut
if "${user[@]}" ls tree 2>/dev/null >&2 && ! "${user[@]}" ls tree/shut 2>/dev/null >&2; then
    as_user() { "${user[@]}" "$GPUIMG" "$@"; }
    for command in 'invert --out-dir done' 'stats --table t.csv' 'info --table t.csv' 'split --labels a.pgm --out done/{stem}.d' \
        'channels split --out-dir done'; do
        rm -rf done t.csv
        # shellcheck disable=SC2086 # words
        expect 1 as_user $command --recursive tree
        check "$command: the messages name and count the failure" test "$(head -n 1 err); $(tail -n 1 err)" = \
            "gpuimg: ${command%% *}: tree/shut: Permission denied; gpuimg: ${command%% *}: $([[ $command == split* ]] && echo 2 || echo 1) of 3 files failed"
    done
    rm -rf done
    expect 1 as_user invert --recursive tree --out-dir done --report r.jsonl
    check 'the other inputs are done' test "$(find done -type f | sort | tr '\n' ' ')" = 'done/ok/a.pgm done/z.pgm '
    expect 1 as_user invert --recursive tree/shut --out-dir done
    check 'the top folder is unreadable' test "$(<err)" = $'gpuimg: invert: tree/shut: Permission denied\ngpuimg: invert: 1 of 1 files failed'
    expect 2 as_user compare tree tree
    check 'two trees: the table has the other rows' test "$(sed 1d out | cut -d, -f 1 | tr '\n' ' ')" = 'tree/ok/a.pgm tree/z.pgm '
    chmod 755 tree/shut
    expect 0 gpuimg invert --recursive tree --out-dir done --report r.jsonl --resume
else
    chmod 755 tree/shut
    skip 'a folder without permission: setpriv can not drop capabilities of root'
fi
finish
