#!/bin/bash
# selftest walks every operation and says which backends took part.
. "$(dirname "$0")/lib.sh"

# Under sanitizers all operations take more than ten minutes: test_filters walks those that are left out here.
operations="blur gaussian sharpen convolve edges threshold invert histogram extract"
some=
sanitized && some="invert histogram extract" && operations=$some
expect 0 gpuimg selftest $some
for operation in $operations; do
    check "selftest: $operation" grep -qE "^$operation +equal +[1-9][0-9]* cases on .*scalar" out
done
if gpuimg devices | grep -q '^cuda:'; then
    check "selftest: CUDA took part" test "$(grep -c ' equal .* cuda:0' out)" -ge 8
else
    check "selftest: CUDA is skipped, loudly" grep -q '^CUDA: skipped, .' out
    skip "selftest on CUDA: $(sed -n 's/^CUDA: skipped, //p' out)"
fi
expect 0 gpuimg selftest threshold --device cpu
check "selftest of one operation" test "$(grep -c ' equal ' out)" = 1

finish
