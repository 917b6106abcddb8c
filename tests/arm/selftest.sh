#!/bin/bash
# Runs selftest of every operation on Arm: NEON must give the bytes of the scalar level.
# Sources: kernels/cpu cli/commands/selftest*
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../cli/lib.sh"

expect 0 gpuimg selftest
check "every operation is equal on both levels" test "$(grep -cE ' equal +[1-9][0-9]* cases on neon scalar$' out)" = "$(grep -c ' cases on ' out)"
check "there are at least 20 operations" test "$(grep -c ' cases on ' out)" -ge 20

expect 0 "$NATIVE" selftest --digest
mv out want
expect 0 gpuimg selftest --digest
check "selftest --digest is that of this machine" cmp <(head -n -1 want) <(head -n -1 out)

finish
