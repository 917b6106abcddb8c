#!/bin/bash
# Integral images and cumulative sums: outputs and errors.
# Sources: cli/commands/integral.c filters/statistics/integral*
. "$(dirname "$0")/../lib.sh"
printf 'P2 3 2 255  1 2 3 40 50 60\n' >in.pgm
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x0a\x01' >alpha.pam
numbers() { tail -c 24 "$1" | od -An -tu4 | xargs; }

expect 0 gpuimg integral in.pgm out.npy --device cpu
check "the sums of an integral image" test "$(numbers out.npy)" = '1 3 6 41 93 156'
expect 0 gpuimg cumulative in.pgm out.npy --device cpu
check "cumulative sums along rows" test "$(numbers out.npy)" = '1 3 6 40 90 150'
expect 0 gpuimg cumulative in.pgm out.npy --along columns --squares --device cpu
check "cumulative sums of squares along columns" test "$(numbers out.npy)" = '1 4 9 1601 2504 3609'
gpuimg integral in.pgm - --device cpu >piped.npy
gpuimg integral - out.npy --device cpu <in.pgm
check "a pipe gives the same array" cmp piped.npy out.npy
expect 0 gpuimg integral in.pgm out.pfm --device cpu
check "PFM has the same sums" test "$(tail -c 24 out.pfm | od -An -tf4 | xargs)" = '41 93 156 1 3 6'

# In chains, and one array per input.
expect 0 gpuimg run 'invert | integral --to sums.npy | cumulative --to rows.pfm | invert' in.pgm same.pgm --device cpu
check "a step in a chain writes its sums" test "$(numbers sums.npy)" = '254 507 759 469 927 1374'
check "a step in a chain passes the image on" test "$(samples 6 same.pgm)" = '1 2 3 40 50 60'
check "a step in a chain writes PFM" test "$(tail -c 24 rows.pfm | od -An -tf4 | xargs)" = '215 420 615 254 507 759'
"$GPUIMG" run 'invert | invert | integral' in.pgm --device cpu >piped.npy
check "the last step prints the array" cmp piped.npy out.npy
cp in.pgm other.pgm
expect 0 gpuimg run 'integral' in.pgm other.pgm --out-dir many --device cpu
check "one array per input" test "$(ls many)" = $'in.npy\nother.npy' -a "$(numbers many/other.npy)" = '1 3 6 41 93 156'
expect 0 gpuimg run 'gaussian | integral --squares' in.pgm other.pgm --out-dir many --suffix .pfm --report many.jsonl
check "one PFM per input" test "$(ls many)" = $'in.npy\nin.pfm\nother.npy\nother.pfm'
no='writes an array of each image: want --out-dir, --out or --tar'
expect_error 2 "run: integral: $no" run integral in.pgm other.pgm --table made.csv
expect_error 2 "run: integral: $no" run integral --tar a.tar made.tar --table made.csv
expect_error 2 "run: --suffix .csv: the results are arrays, want .npy or .pfm" run integral in.pgm --out-dir made --suffix .csv
expect_error 2 "run: step 1, integral: made.png: want a name that ends in .npy or .pfm" run 'integral --to made.png' in.pgm
expect_error 1 "run: step 1, cumulative: out.npy: exists, and --no-clobber was given" run 'cumulative --to out.npy --no-clobber' in.pgm

# Single commands give the same, and have the options of all batches.
gpuimg integral in.pgm one.npy --device cpu
gpuimg convert in.pgm third.pgm --depth 16
for command in integral cumulative; do
    expect 0 gpuimg $command in.pgm other.pgm third.pgm --out-dir by-$command
    expect 0 gpuimg run $command in.pgm other.pgm third.pgm --out-dir by-run-$command
    check "$command equals run" diff -r by-$command by-run-$command
    gpuimg $command third.pgm alone.npy
    check "$command of a batch equals the single command" cmp by-$command/third.npy alone.npy
done
printf 'in.pgm\0third.pgm\0' >names
expect 0 gpuimg integral --files-from names -0 --out 'listed/{stem}_{index}.{ext}' --suffix pfm
gpuimg integral third.pgm alone.pfm
check "a list with a template for names" test "$(ls listed)" = $'in_1.pfm\nthird_2.pfm'
check "an output of a list equals the single command" cmp listed/third_2.pfm alone.pfm
for k in 1 2; do expect 0 gpuimg integral in.pgm other.pgm third.pgm --out-dir shards --shard $k/2 --report s$k.jsonl; done
gpuimg integral in.pgm other.pgm third.pgm --out-dir whole
check "shards together give the whole" diff -r shards whole
expect 0 gpuimg report merge s1.jsonl s2.jsonl
expect 0 gpuimg cumulative in.pgm --out-dir shards --along columns --squares --no-clobber --suffix .pfm --report chain.jsonl
check "the chain in the report is the command" test "$(head -1 chain.jsonl | jq -r .chain)" = 'cumulative --along columns --squares'
rm shards/in.pfm shards/third.npy
for k in 1 2; do expect 0 gpuimg integral in.pgm other.pgm third.pgm --out-dir shards --shard $k/2 --report s$k.jsonl --resume; done
check "--resume makes missing outputs" diff -r shards whole
check "--resume does not make existing outputs" test "$(grep -c '"input"' s1.jsonl)$(grep -c '"input"' s2.jsonl)" = 21
expect 1 gpuimg integral in.pgm nowhere.pgm third.pgm --out-dir some
check "a damaged input is left out" test "$(ls some)" = $'in.npy\nthird.npy'
echo mine >some/in.npy
expect 0 gpuimg integral in.pgm other.pgm --out-dir some --no-clobber
check "--no-clobber keeps the existing file" test "$(<some/in.npy)" = mine
check "--no-clobber writes the others" cmp some/other.npy by-integral/other.npy
expect_error 2 'integral: made/in.npy: would be the output of in.pgm and of ./in.pgm, want --out*' integral in.pgm ./in.pgm --out-dir made
expect_error 2 'integral: --suffix .csv: the results are arrays, want .npy or .pfm' integral in.pgm --out-dir made --suffix .csv
expect_error 2 'integral: made/in.txt: want a name that ends in .npy or .pfm' integral in.pgm --out 'made/{stem}.txt'
expect_error 2 'integral: made/in.csv: want a name that ends in .npy or .pfm' integral in.pgm --out 'made/{stem}.csv' --suffix pfm
expect_error 2 'integral: made/in: want a name that ends in .npy or .pfm' integral in.pgm --out 'made/{stem}'
expect_error 2 'run: made/other.pgm: want a name that ends in .npy or .pfm' run 'invert | cumulative' other.pgm in.pgm --out 'made/{name}'
expect 0 gpuimg integral in.pgm --out 'own/{stem}.PFM'
check "--out may end in .PFM" cmp own/in.PFM out.pfm
expect_error 2 'integral: --report: is for many images: want --out-dir, --out or --tar too' integral in.pgm made.npy --report made.jsonl
expect_error 2 'integral: other.pgm: one operand too many*; for many images use --out-dir' integral in.pgm made.npy other.pgm

# From tar to tar: images become arrays in their order, and other members are copied unchanged.
echo text >note.txt
tar cf photos.tar in.pgm note.txt third.pgm
expect 0 gpuimg integral --tar photos.tar sums.tar --report tar.jsonl
check "the tar has the names in order" test "$(tar tf sums.tar)" = $'in.npy\nnote.txt\nthird.npy'
mkdir out-of
tar xf sums.tar -C out-of
check "the tar has the same arrays" cmp out-of/third.npy by-integral/third.npy
check "other members are copied" cmp out-of/note.txt note.txt
check "the report has a line per member and per tar" test "$(jq -r 'select(.input) | "\(.input) \(.output) \(.status)"' tar.jsonl | tr '\n' ';')" = \
    'photos.tar:in.pgm sums.tar:in.npy done;photos.tar:note.txt sums.tar:note.txt passed;photos.tar:third.pgm sums.tar:third.npy done;photos.tar sums.tar done;'
gpuimg run 'invert | cumulative' --tar - - --suffix .pfm <photos.tar >piped.tar
check "chains and pipes of tars give the same" cmp <(tar xOf piped.tar third.pfm) <(gpuimg run 'invert | cumulative --to x.pfm' third.pgm && cat x.pfm)
expect_error 1 'integral: sums.tar: exists, and --no-clobber was given' integral --tar photos.tar sums.tar --no-clobber
expect_error 2 'integral: --suffix .png: the results are arrays*' integral --tar photos.tar made.tar --suffix .png

expect_error 2 "integral: made.png: want a name that ends in .npy or .pfm" integral in.pgm made.png
expect_error 1 "integral: made.pfm: 2 channels: PFM holds 1 or 3, .npy any" integral alpha.pam made.pfm
expect_error 1 "integral: out.npy: exists, and --no-clobber was given" integral in.pgm out.npy --no-clobber
check "no file appears after an error" test ! -e made.png -a ! -e made.pfm
finish
