#!/bin/bash
# Ways: those of one operation, forced ones that no primitive of the command is asked for, and what -v and --timing say of a batch.
# Sources: kernels/ways* kernels/primitives* cli/run/timing* cli/commands/list.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 13 9
pgm two.pgm 20 7
pgm three.pgm 31 5

# A way of a primitive that the command does not run is an error; of one that it runs it is not, wherever in a chain that is.
GPUIMG_WAY=box:running expect 0 gpuimg blur in.pgm out.pgm --device cpu
GPUIMG_WAY=cpu/box:running,cpu/median:sliding expect_error 2 \
    'blur: GPUIMG_WAY=cpu/median:sliding: no median has run, want a way of box' blur in.pgm out.pgm --device cpu
GPUIMG_WAY=arithmetic:blocks expect_error 2 'invert: GPUIMG_WAY=arithmetic:blocks: no arithmetic has run, want a way of *' invert in.pgm out.pgm --device cpu
GPUIMG_WAY=median:sliding expect 0 gpuimg run 'blur | median --k 7' in.pgm out.pgm --device cpu
GPUIMG_WAY=median:sliding expect_error 2 'run: GPUIMG_WAY=median:sliding: no median has run, want a way of *box*' \
    run 'blur | threshold' in.pgm out.pgm --device cpu
GPUIMG_WAY=box:running expect 0 gpuimg blur in.pgm two.pgm --out-dir forced --device cpu
GPUIMG_WAY=median:sliding expect 2 gpuimg blur in.pgm two.pgm --out-dir other --device cpu
check "a batch: a way that nothing asks for" grep -qx 'gpuimg: blur: GPUIMG_WAY=median:sliding: no median has run, want a way of box' err

# The primitives of an operation: those that -v names, with all their ways, and no others.
gpuimg list --ways >all
for words in blur 'gaussian --sigma 2' 'median --k 3' 'local-threshold --method mean' equalize fill-holes; do
    operation=${words%% *}
    expect 0 gpuimg list --ways "$operation"
    cp out listed
    check "list --ways $operation: lines of list --ways" test -s listed -a -z "$(grep -vxFf all listed)"
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $words in.pgm out.pgm --device cpu -v
    sed -n 's/^gpuimg: .*ways cpu: //p' err | tr ',' '\n' | awk '{print $1, $2}' >ran
    check "$operation -v names ways" test -s ran
    while read -r primitive way; do
        check "list --ways $operation has $primitive $way" grep -qE "^cpu +$primitive +$way " listed
        check "list --ways $operation has all ways of $primitive" \
            test "$(grep -cE "^cpu +$primitive " listed)" = "$(grep -cE "^cpu +$primitive " all)"
    done <ran
done
expect 0 gpuimg list --ways blur
check "list --ways blur has no median" test "$(grep -c ' median ' out)" = 0
expect 0 gpuimg list --ways blur median
check "list --ways of two operations" test "$(awk '$1 == "cpu" {print $2}' out | grep -cxE 'box|median')" -ge 4
expect_error 2 'list: frobnicate: no such operation*' list --ways frobnicate
expect_error 2 'list: blur: operations only go with --ways' list blur

# A batch says once, at its end, which ways ran how often and how long its stages took, whatever its inputs are.
expect 0 gpuimg blur in.pgm two.pgm three.pgm --out-dir batch --device cpu -v
check "blur -v of three files: ways" test "$(grep -c 'ways cpu: box [a-z]* x 3$' err)" = 1
expect 0 gpuimg run 'blur --k 9 | blur --k 5' in.pgm two.pgm --out-dir chain --device cpu --timing
check "a batch of a chain: a row for each step" test "$(awk '$1 == "blur" && $3 == "ms"' err | wc -l)" = 2
check "a batch --timing: each stage once" \
    test "$(awk '$3 == "ms" {print $1}' err | grep -v blur | sort | tr '\n' ' ')" = 'decode deliver download elapsed encode input upload '
check "a batch --timing: the sum over threads" awk '$3 == "ms" && $1 != "elapsed" {sum += $2} /^sum over threads / {total = $4}
    END {exit !(total > 0 && sum - total < 0.01 && total - sum < 0.01)}' err
check "a batch --timing: the time that elapsed is last" test "$(grep -v '^gpuimg: ' err | tail -n 1 | cut -d' ' -f1)" = elapsed
gpuimg blur in.pgm --out-dir batch --device cpu --timing 2>err
check "a batch --timing: elapsed is not the sum" test "$(awk '/^sum over/ {print $4} /^elapsed/ {print $2}' err | uniq | wc -l)" = 2
cat in.pgm two.pgm three.pgm >stream.pgm
expect 0 gpuimg blur in.pgm out.pgm --device cpu -v --timing
check "one image: the ways once" test "$(grep -c 'ways cpu: box [a-z]*$' err)" = 1
check "one image: the total is the sum" awk '$3 == "ms" && $1 == "total" {total = $2} $3 == "ms" && $1 != "total" {sum += $2}
    END {exit !(total > 0 && sum - total < 0.01 && total - sum < 0.01)}' err
check "one image: a row of blur" test "$(grep -cE '^blur +[0-9.]+ ms +[0-9]+ bytes' err)" = 1
"$GPUIMG" blur - - --device cpu -v <stream.pgm >out 2>err
check "a stream -v: ways" test "$(grep -c 'ways cpu: box [a-z]* x 3$' err)" = 1
tar cf in.tar in.pgm two.pgm
"$GPUIMG" blur - - --tar --device cpu --timing <in.tar >out 2>err
check "a tar --timing: a row of blur" test "$(grep -cE '^blur +[0-9.]+ ms +[0-9]+ bytes' err)" = 1

finish
