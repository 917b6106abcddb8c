#!/bin/bash
# compare of pairs in tars, matched by name, and shards of pairs.
# Sources: cli/inputs/tar_pairs* cli/inputs/tar_feed* cli/commands/compare_pairs.c
# shellcheck disable=SC2016 # the shells of the commands expand variables
. "$(dirname "$0")/../lib.sh"

mkdir -p a/sub b/sub
for i in 1 2 3 4 5 6; do
    pgm a/$i.pgm $((6 + i)) 9
    cp a/$i.pgm b/$i.pgm
done
pgm a/sub/7.pgm 20 10
gpuimg convert a/sub/7.pgm b/sub/7.pgm
gpuimg blur b/3.pgm b/3.pgm
gpuimg invert b/5.pgm b/5.pgm
echo note >a/note.txt
echo other note >b/note.txt
names=(1.pgm 2.pgm note.txt 3.pgm 4.pgm 5.pgm 6.pgm sub/7.pgm)
tar cf a.tar -C a "${names[@]}"
tar cf b.tar -C b "${names[@]}"
folders() { gpuimg compare a b "$@" | cut -d, -f3- | sort; }
rows() { cut -d, -f4- "$1" | sort; }

# The numbers equal those of the single files, in the order of the first tar.
expect 1 gpuimg compare --tar a.tar b.tar --table t.csv
check 'tars give the rows of folders' cmp <(folders 2>/dev/null) <(rows t.csv)
check 'rows have the names of tars and members' test "$(cut -d, -f1-4 t.csv | tr '\n' ' ')" = \
    'tar,a,b,ok a.tar,1.pgm,1.pgm,1 a.tar,2.pgm,2.pgm,1 a.tar,3.pgm,3.pgm,0 a.tar,4.pgm,4.pgm,1 a.tar,5.pgm,5.pgm,0 a.tar,6.pgm,6.pgm,1 a.tar,sub/7.pgm,sub/7.pgm,1 '
check 'a pair that differs is named' grep -qE '^gpuimg: compare: a.tar: 3.pgm and b.tar: 3.pgm: [0-9]+ of 81 samples differ$' err
check 'pairs that differ are counted' grep -qx 'gpuimg: compare: 2 of 7 pairs differ' err
for threads in 1 6; do
    expect 1 gpuimg compare --tar a.tar b.tar --threads $threads --memory 1M
    check "the table on standard output, $threads threads" cmp out t.csv
done
expect 0 gpuimg compare --tar a.tar b.tar --min-psnr 4
expect 0 gpuimg compare --tar a.tar a.tar --table -
expect 1 gpuimg compare --tar a.tar b.tar --table t.jsonl
check 'JSON lines have the same values' test "$(jq -r '"\(.tar) \(.a) \(.b) \(.ok) \(.differing)"' t.jsonl | sed -n 3p)" = "a.tar 3.pgm 3.pgm false $(sed -n 4p t.csv | cut -d, -f9)"

# Members in another order, compressed tars, and a pipe.
tar cf back.tar -C b sub/7.pgm 6.pgm 5.pgm 4.pgm 3.pgm 2.pgm note.txt 1.pgm
expect 1 gpuimg compare --tar a.tar back.tar --table back.csv
check 'members in another order give the same rows' cmp <(rows back.csv) <(rows t.csv)
expect 1 gpuimg compare --tar a.tar back.tar --table again.csv --threads 7
check 'the order of rows is deterministic' cmp back.csv again.csv
gzip -k a.tar
piped() { gpuimg compare --tar a.tar.gz - --table p.csv <b.tar; }
expect 1 piped
check 'a compressed tar and a pipe give the same rows' cmp <(cut -d, -f2- p.csv) <(cut -d, -f2- t.csv)

# Members without a partner fail, and the others are compared.
tar cf less.tar -C b 2.pgm 3.pgm sub/7.pgm
tar rf less.tar -C b --transform 's/^/more-/' 1.pgm
expect 2 gpuimg compare --tar a.tar less.tar --table less.csv --report less.jsonl
check 'the table has the rows of the others' test "$(sed 1d less.csv | cut -d, -f2 | tr '\n' ' ')" = '2.pgm 3.pgm sub/7.pgm '
check 'a member that the second tar lacks is named' grep -qx 'gpuimg: compare: a.tar: 1.pgm: there is no image of this name in less.tar' err
check 'a member that the first tar lacks is named' grep -qx 'gpuimg: compare: less.tar: more-1.pgm: there is no image of this name in a.tar' err
check 'failed pairs are counted' grep -qx 'gpuimg: compare: 5 of 8 pairs failed' err
line() { jq -r 'select(.input) | "\(.input) \(.other) \(.tar) \(.status) \(.differs)"' "$1"; }
check 'the report has lines of members and of the tars' test "$(line less.jsonl | sort)" = "$(sort <<'E2'
a.tar:1.pgm less.tar:1.pgm a.tar failed false
a.tar:2.pgm less.tar:2.pgm a.tar done false
a.tar:3.pgm less.tar:3.pgm a.tar done true
a.tar:4.pgm less.tar:4.pgm a.tar failed false
a.tar:5.pgm less.tar:5.pgm a.tar failed false
a.tar:6.pgm less.tar:6.pgm a.tar failed false
a.tar:more-1.pgm less.tar:more-1.pgm a.tar failed false
a.tar:sub/7.pgm less.tar:sub/7.pgm a.tar done false
a.tar less.tar null failed false
E2
)"
check 'the line of the tars is the last one' test "$(line less.jsonl | tail -1)" = 'a.tar less.tar null failed false'
check 'the line of the tars has the error' test "$(jq -r 'select(.other == "less.tar") | .error' less.jsonl)" = '5 of 8 pairs failed'
expect 1 gpuimg compare --tar a.tar b.tar --report d.jsonl
check 'tars that differ are done' test "$(line d.jsonl | tail -1)" = 'a.tar b.tar null done true'
check 'the line of the tars has their size' test "$(jq -r 'select(.other == "b.tar") | .input_bytes' d.jsonl)" = "$(stat -c %s a.tar)"
check 'the report has the command' test "$(head -1 d.jsonl | jq -r '"\(.chain) \(.files)"')" = 'compare --tar 1'
expect 2 gpuimg compare --tar a.tar less.tar --fail-fast --table fast.csv
check '--fail-fast ends at the first failure' test "$(grep -c ' there is no image' err)" = 1

# A leading ./ is not a part of the name; a name that occurs twice has one pair.
tar cf dots.tar -C b .
expect 1 gpuimg compare --tar dots.tar a.tar --table dots.csv --report dots.jsonl
check 'names with a leading ./ give the same rows' cmp <(rows dots.csv) <(rows t.csv)
check 'the table has names without ./' test "$(sed 1d dots.csv | cut -d, -f2 | sort | tr '\n' ' ')" = '1.pgm 2.pgm 3.pgm 4.pgm 5.pgm 6.pgm sub/7.pgm '
expect 1 gpuimg compare --tar a.tar dots.tar --table -
tar cf twice.tar -C a 1.pgm 2.pgm
tar rf twice.tar -C a 1.pgm
tar cf once.tar -C a 1.pgm 2.pgm
for tars in 'twice.tar once.tar' 'once.tar twice.tar'; do
    # shellcheck disable=SC2086
    expect 2 gpuimg compare --tar $tars --table -
    check "a name twice in one tar: $tars" test "$(<err)" = 'gpuimg: compare: twice.tar: 1.pgm: every image of this name in once.tar has its pair already
gpuimg: compare: 1 of 3 pairs failed'
done
piped() { gpuimg compare --tar - a.tar --table - <less.tar; }
expect 2 piped
check 'a member that the pipe lacks is named' grep -qx 'gpuimg: compare: a.tar: 1.pgm: there is no image of this name in standard input' err
check 'a member that only the pipe has is named' grep -qx 'gpuimg: compare: standard input: more-1.pgm: there is no image of this name in a.tar' err

# Tars without any image are an error, like folders without images.
tar cf none.tar -C a note.txt
expect 2 gpuimg compare --tar none.tar none.tar --report none.jsonl
check 'tars without images are an error' test "$(<err)" = 'gpuimg: compare: none.tar and none.tar: no pairs of images
gpuimg: compare: 1 of 1 pairs failed'
check 'the report has that error' test "$(line none.jsonl)" = 'none.tar none.tar null failed false'
expect 2 gpuimg compare --tar '{a,none}.tar' '{a,none}.tar' --table -
check 'one of several pairs of tars without images' grep -qx 'gpuimg: compare: none.tar and none.tar: no pairs of images' err
piped() { gpuimg compare --tar none.tar - <none.tar; }
expect 2 piped
check 'a pipe without images' grep -qx 'gpuimg: compare: none.tar and standard input: no pairs of images' err

# A truncated tar: the results before the end are written. And too many members that wait for their partners.
head -c 3000 b.tar >cut.tar
expect 2 gpuimg compare --tar a.tar cut.tar --table cut.csv --report cut.jsonl
check 'the table has the rows before the truncation' test "$(sed 1d cut.csv | cut -d, -f2 | tr '\n' ' ')" = '1.pgm 2.pgm '
check 'the truncated tar is named' grep -q '^gpuimg: compare: cut.tar: ' err
check 'the report has the truncated tar' test "$(line cut.jsonl | tail -1)" = 'a.tar cut.tar null failed false'
for i in {1..40}; do pgm big$i.pgm 1000 100; done
tar cf forth.tar big{1..40}.pgm
tar cf back.tar big{40..1}.pgm
expect 0 gpuimg compare --tar forth.tar back.tar --table -
expect 2 gpuimg compare --tar forth.tar back.tar --table - --memory 1M
check 'members that wait exceed --memory' grep -qE '^gpuimg: compare: forth.tar and back.tar: [0-9]+ bytes of members wait for others of their names, over the limit of [0-9]+; --memory raises it$' err
expect 0 gpuimg compare --tar forth.tar forth.tar --table - --memory 1M

# Many pairs of tars, and shards of them.
for k in 1 2 3; do cp a.tar x-$k.tar; cp b.tar y-$k.tar; done
cp a.tar y-2.tar
expect 1 gpuimg compare --tar 'x-{1..3}.tar' 'y-{1..3}.tar' --table all.csv --report all.jsonl
check 'the table has a column for the tar' test "$(sed 1d all.csv | cut -d, -f1 | uniq -c | tr -s ' \n' '  ')" = ' 7 x-1.tar 7 x-2.tar 7 x-3.tar '
check 'the report says which tars differ' test "$(line all.jsonl | grep null | tr '\n' ';')" = \
    'x-1.tar y-1.tar null done true;x-2.tar y-2.tar null done false;x-3.tar y-3.tar null done true;'
for k in 1 2; do gpuimg compare --tar 'x-{1..3}.tar' 'y-{1..3}.tar' --shard $k/2 --table s$k.csv --report s$k.jsonl 2>/dev/null; done
check 'shards of tars together give the whole table' cmp <(sort -u s1.csv s2.csv) <(sort -u all.csv)
check 'the second shard has one tar' test "$(sed 1d s2.csv | cut -d, -f1 | uniq)" = x-2.tar
expect 0 gpuimg report merge s1.jsonl s2.jsonl
expect 1 gpuimg report merge s1.jsonl --missing files
check 'report merge counts the tar that never ran' grep -qx 'gpuimg: report: of 3 files 0 failed and 1 never ran' err

# Shards of folders and lists: of the sorted list of pairs, for any order of the list.
gpuimg compare a b --table whole.csv 2>/dev/null
for k in 1 2 3; do gpuimg compare a b --shard $k/3 --table f$k.csv --report f$k.jsonl 2>/dev/null; done
check 'shards of folders together give the whole table' cmp <(sort -u f[123].csv) <(sort -u whole.csv)
check 'shards of folders have the same size within one pair' test "$(cat f[123].csv | grep -vc ^a,b)$(wc -l <f1.csv)$(wc -l <f2.csv)$(wc -l <f3.csv)" = 7433
expect 0 gpuimg report merge f1.jsonl f2.jsonl f3.jsonl
sed 1d whole.csv | cut -d, -f1,2 --output-delimiter=$'\t' >list
{ head -1 list | cut -f1 | tr '\n' '\t'; echo a/2.pgm; } >>list # one first, two seconds
gpuimg compare --pairs <(tac list) --shard 2/3 --table l2.csv 2>/dev/null
gpuimg compare --pairs <(sort -R list) --shard 2/3 --table r2.csv --report l2.jsonl 2>/dev/null
check 'shards of lists do not depend on the order' cmp l2.csv r2.csv
check 'a shard has every third pair of the sorted list' test "$(sed 1d l2.csv | cut -d, -f1,2 --output-delimiter=$'\t')" = "$(sort list | sed -n '2~3p' | while read -r a b; do
    [[ $(gpuimg info --json $a | jq .width) == $(gpuimg info --json $b | jq .width) ]] && printf '%s\t%s\n' $a $b; done)"
expect_error 2 'compare: --shard 4/3: *' compare a b --shard 4/3

expect_error 2 'compare: --tar: x-{1..3}.tar stands for 3 tars and b.tar for 1: want as many' compare --tar 'x-{1..3}.tar' b.tar
expect_error 2 'compare: --tar: want A and B, and no --pairs' compare --tar --pairs list
expect_error 2 'compare: - and -: standard input is one tar, not two' compare --tar - -
expect_error 2 'compare: *want A and B*' compare --tar a.tar
expect 2 gpuimg compare --tar 'x-{1,2}.tar' '{nowhere,y-2}.tar' --table rest.csv
check 'a missing tar is named' grep -q '^gpuimg: compare: nowhere.tar: No such file' err
check 'the other tars are compared' test "$(sed 1d rest.csv | cut -d, -f1 | uniq -c)" = '      7 x-2.tar'
expect 2 gpuimg compare --tar '{a,nowhere,b}.tar' '{b,a,b}.tar' --table - --report gone.jsonl
check 'the report has size and time of the tar itself' test "$(jq -r 'select(.input and (.tar | not)) | "\(.input) \(.input_bytes) \(.input_mtime_ns != 0)"' gone.jsonl | tr '\n' ';')" = \
    "a.tar $(stat -c %s a.tar) true;nowhere.tar 0 false;b.tar $(stat -c %s b.tar) true;"
expect_error 2 'compare: --table ./a.tar: is *' compare --tar a.tar b.tar --table ./a.tar
expect_error 2 'compare: --diff made.pgm: *' compare --tar a.tar b.tar --diff made.pgm

# Tars that commands write are fetched ahead, once the sizes of the first pair are known.
mkdir temporary
export TMPDIR=$PWD/temporary
mkdir m
gpuimg flip --v a/1.pgm m/flipped.pgm
for i in {0..6}; do
    pgm m/$i.pgm $((5 + i)) 8
    tar cf m-$i.tar -C m $i.pgm flipped.pgm
    tar cf n-$i.tar -C m flipped.pgm $i.pgm
done
expect 0 gpuimg compare --tar 'm-{0..6}.tar' 'n-{0..6}.tar' --table want.csv
for shard in '' '--shard 2/2'; do
    rm -f began-* list-*
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg compare $shard --tar 'pipe:n={0..6}; touch began-$n; if test $n = 0; then sleep 0.2; ls began-* >list-0; fi
        if test $n = 1; then for i in `seq 200`; do test -e began-4 && break; sleep 0.02; done; sleep 0.1; ls began-* >list-1; fi; cat m-$n.tar' \
        'pipe:cat n-{0..6}.tar' --table got.csv
    if [[ ! $shard ]]; then
        check 'nothing is fetched ahead of the first pair' test "$(xargs <list-0)" = began-0
        check 'three pairs are fetched ahead of the others' test "$(xargs <list-1)" = 'began-0 began-1 began-2 began-3 began-4'
        check 'the table is that of files' cmp <(tr '\n' ' ' <got.csv | sed -E 's/"?pipe:n=([0-9])[^,]*cat m-\$n.tar"?/m-\1.tar/g') <(tr '\n' ' ' <want.csv)
    fi
done
check 'a shard fetches its pairs' test "$(echo began-*)" = 'began-1 began-3 began-5'
expect 2 gpuimg compare --tar 'pipe:cat {m-0,nothing,m-2,m-3,m-4}.tar' 'pipe:cat {n-0,n-1,n-2,nowhere,n-4}.tar' --table rest.csv
check 'the pairs of tars that failed are left out, and no others' test "$(sed 1d rest.csv | cut -d, -f1,2 | tr '\n' ' ')" = \
    'pipe:cat m-0.tar,flipped.pgm pipe:cat m-0.tar,0.pgm pipe:cat m-2.tar,flipped.pgm pipe:cat m-2.tar,2.pgm pipe:cat m-4.tar,flipped.pgm pipe:cat m-4.tar,4.pgm '
check 'nothing is left in TMPDIR' test -z "$(ls temporary)"
finish
