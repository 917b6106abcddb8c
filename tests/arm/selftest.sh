#!/bin/bash
# Runs selftest of every operation on Arm: NEON must give the bytes of the scalar level.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../cli/lib.sh"

expect 0 gpuimg selftest
check "every operation on both levels" test "$(grep -cE ' equal +[1-9][0-9]* cases on neon scalar$' out)" = "$(grep -c ' cases on ' out)"
check "and there are many" test "$(grep -c ' cases on ' out)" -ge 20

finish
