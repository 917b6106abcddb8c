#!/bin/bash
# bench: the form of its output, because times depend on the machine, and the rates that --save stores.
# Sources: cli/commands/bench*.c cli/run/rates*
. "$(dirname "$0")/../lib.sh"
number='[0-9.e+]+'

expect 0 gpuimg bench --size 64 --device cpu --threads 2
check "bench prints the ceilings of the CPU" grep -qE "^cpu +(scalar|avx2|avx512|neon), 2 threads: copies $number GB/s, $number billion multiply-adds a second$" out
check "bench prints the size of the image" grep -q '^image .*64 x 64' out
for operation in blur gaussian sharpen convolve edges threshold invert histogram extract; do
    check "bench has a row for $operation" grep -qE "^$operation +$number +$number +$number %$" out
done
check "bench --device cpu does not mention CUDA" test "$(grep -ci cuda out)" = 0

expect 0 gpuimg bench gaussian extract --size 16 --format json
check "bench --format json has all numbers" jq -e '
    .size == 16 and (.operations | map(.name)) == ["gaussian", "extract"]
    and .devices[0].name == "cpu" and (.devices | all(.copy_bytes_per_s > 0 and .fma_per_s > 0))
    and ((.devices | length) == 2) == (.cuda_missing == null)
    and (.devices | length) as $n | (.operations | all((.times | length) == $n))
    and (.operations[].times | all(.ms > 0 and .roofline > 0 and .bytes_per_s > 0))
    and .operations[0].times[0].bytes == 512 and .operations[1].times[0].bytes == 256
    and .operations[0].times[0].fma > 256 and .operations[1].times[0].fma == 0' out

expect 0 gpuimg bench blur --size 32 --format markdown
check "bench --format markdown has a row for blur" grep -qE '^\| blur \|( [0-9.e+-]+ \| [0-9.e+-]+ \| [0-9.e+-]+ % \|)+' out
check "all rows of the table have the same number of cells" awk -F'|' '/^\|/ {if (n && NF != n) bad = 1; n = NF} END {exit bad}' out

# A way runs or is left out, and exactly one way per primitive is the default.
expect 0 gpuimg bench blur histogram --size 64 --device cpu --threads 1 --ways
check "bench --ways has a line per way of box" diff <(awk '$1 == "blur" {print $3}' out | sort) \
    <(gpuimg list --ways | awk '$1 == "cpu" && $2 == "box" && $3 != "weighed" {print "box:" $3}' | sort)
check "bench --ways times ways in milliseconds" grep -qE "^histogram +cpu +histogram:bins +$number$" out
check "bench --ways marks one default" test "$(grep -cE "^blur .* $number default$" out)" = 1
GPUIMG_WAY=box:running expect 0 gpuimg bench blur --size 64 --device cpu --ways --format json
check "bench --ways names the way that GPUIMG_WAY forces as the default" \
    jq -e '[.operations[].ways[] | select(.default) | .primitive + ":" + .way] == ["box:running"]' out
expect 0 gpuimg bench blur --size 64 --device cpu --ways --format markdown
check "bench --ways --format markdown has a table" grep -qE '^\| blur \| cpu \| box:running \| [0-9.e+-]+ \| \|$' out

expect_error 2 'bench: frobnicate: no such operation*' bench frobnicate
expect_error 2 'bench: --size 8: want *' bench --size 8
expect_error 2 'bench: --device gpu: want *' bench --device gpu

gpuimg bench blur gaussian histogram --size 64 2>err | true
check "bench ends without a message if its reader has exited" test ! -s err
gpuimg selftest invert erode --quick --device cpu 2>err | true
check "selftest ends without a message if its reader has exited" test ! -s err

if gpuimg devices | grep -q '^cuda:'; then
    expect 0 gpuimg bench blur histogram --size 256 --device cuda
    check "bench prints the ceilings of CUDA" grep -qE '^cuda:0 +.*: copies .* GB/s' out
    check "bench prints CUDA beside the CPU, and the size from which auto chooses CUDA" grep -qE "^blur( +$number +$number +$number %){2}  (never|[0-9]+ x [0-9]+)$" out
    expect_error 1 'bench: --device cuda:999: no such device' bench --device cuda:999
else
    expect 0 gpuimg bench blur --size 16
    check "bench reports once that there is no CUDA" test "$(grep -c '^cuda *none: .' out)" = 1 -a "$(grep -ci cuda out)" = 1
    expect_error 1 'bench: --device cuda: *' bench blur --size 16 --device cuda
    skip "bench on CUDA: $(gpuimg devices | sed -n 's/^cuda *none: //p')"
fi

# auto uses the measured rates, and rates of other devices are unchanged.
export GPUIMG_RATES=$PWD/new/folder/rates.json
pgm small.pgm 64 64
expect 0 gpuimg bench --save --size 256 --device cpu --threads 1 blur
check "bench --save names its file" grep -q "rates of cpu .*, 1 thread stored in $GPUIMG_RATES" err
check "bench --save stores numbers" jq -e '[.[] | .memory_bytes_per_s > 0 and .fma_per_s > 0 and .up_bytes_per_s == null] | all' "$GPUIMG_RATES"
check "bench --save stores the rates of the codecs" \
    jq -e '[.[] | .jpeg_decode_bytes_per_s, .jpeg_encode_bytes_per_s, .png_decode_bytes_per_s, .png_encode_bytes_per_s | . > 1e6] | all' "$GPUIMG_RATES"
jq '. + {"NVIDIA Other": {memory_bytes_per_s: 1, fma_per_s: 1, up_bytes_per_s: 1, down_bytes_per_s: 1, open_s: 1, close_s: 1}} | map_values(.fma_per_s = 1)' "$GPUIMG_RATES" >slow.json
cp slow.json "$GPUIMG_RATES"
expect 0 gpuimg gaussian small.pgm out.pgm -v --threads 1 --device cpu
check "auto uses the stored rates" grep -q 'estimated 7.37e+04 s on cpu' err
jq 'map_values(del(.jpeg_decode_bytes_per_s, .jpeg_encode_bytes_per_s, .png_decode_bytes_per_s, .png_encode_bytes_per_s))' slow.json >"$GPUIMG_RATES"
expect 0 gpuimg gaussian small.pgm out.pgm -v --threads 1 --device cpu
check "auto uses rates that an older bench stored" grep -q 'estimated 7.37e+04 s on cpu' err
expect 0 gpuimg bench --save --size 256 --device cpu --threads 1 blur
check "bench --save keeps the rates of other devices" jq -e '."NVIDIA Other".open_s == 1' "$GPUIMG_RATES"
echo '{"broken' >"$GPUIMG_RATES"
expect 0 gpuimg gaussian small.pgm out.pgm
unset GPUIMG_RATES
finish
