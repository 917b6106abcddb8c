#!/bin/bash
# selftest runs every operation and reports which backends took part.
# Sources: cli/commands/selftest* filters kernels/cpu
. "$(dirname "$0")/../lib.sh"

# Without a GPU a few operations are enough: test_walk runs all of them on all levels, and --digest their cases on one level.
words=() operations=(gaussian sharpen convolve edges levels invert resize extract)
gpuimg devices | grep -q '^cuda:' || words=(--quick "${operations[@]}")
expect 0 gpuimg selftest "${words[@]}"
for operation in "${operations[@]}"; do
    check "selftest: $operation" grep -qE "^$operation +equal +[1-9][0-9]* cases on .*scalar" out
done
check "selftest: a mixed batch" grep -qE '^mixed batch +equal +[1-9][0-9]* runs on .*scalar' out
if gpuimg devices | grep -q '^cuda:'; then
    check "selftest: CUDA took part in the mixed batch" grep -q '^mixed batch .* cuda:0' out
    check "selftest: CUDA took part" test "$(grep -c ' equal .* cuda:0' out)" -ge 8
else
    check "selftest reports that CUDA is skipped" grep -q '^CUDA: skipped, .' out
    skip "selftest on CUDA: $(sed -n 's/^CUDA: skipped, //p' out)"
fi
# Options are walked under all five border modes: invert has one flag and no border, dilate at least as many options.
expect 0 gpuimg selftest invert dilate --device cpu --quick
cases() { sed -nE "s/^$1 +equal +([0-9]+) cases .*/\1/p" out; }
check "selftest: every border mode" test "$(cases dilate)" -ge $((5 * $(cases invert) / 2))
quick=$(cases invert)
expect 0 gpuimg selftest invert --device cpu
check "selftest: --quick has half of the cases, of 6 sizes" test $((2 * quick)) = "$(cases invert)"
check "selftest of one operation" test "$(grep -c ' cases on ' out)" = 1
check "selftest runs a mixed batch of one operation" grep -qE '^mixed batch +equal +[1-9][0-9]* runs on .*scalar' out

# The digest is the same on every level, and its last line is the SHA-256 of the others.
expect 0 gpuimg selftest --digest --device cpu
mv out digests
digest=$(tail -1 digests | cut -d' ' -f1)
check "selftest --digest: every operation" diff <(head -n -1 digests | awk '{print $2}' | sort) \
    <(gpuimg list --json | jq -r '.operations[].name' | grep -vxE 'merge|montage|mosaic|pages|run|tiles|split|duplicates' | sort)
check "selftest --digest: README has it" grep -qF "\`$digest\`" "$tests/../../README.md"
check "selftest --digest: the SHA-256 of the lines" test "$(head -n -1 digests | sha256sum | cut -d' ' -f1)" = "$digest"
GPUIMG_CPU=scalar expect 0 gpuimg selftest --digest blur stats invert --device cpu
check "selftest --digest: scalar" cmp <(grep -E '  (blur|stats|invert)$' digests) <(head -n -1 out)
if gpuimg devices | grep -q '^cuda:'; then
    expect 0 gpuimg selftest --digest --device cuda
    check "selftest --digest: CUDA" cmp <(head -n -1 digests) <(head -n -1 out)
fi

finish
