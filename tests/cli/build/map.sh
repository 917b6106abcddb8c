#!/bin/bash
# tests/map reads the heads of the tests, and every source has a test there.
# Sources: tests/map
. "$(dirname "$0")/../lib.sh"
map=$(readlink -f "$tests/../map")
"$map" --check >wrong
check "every test says what it holds, and every source has a test: $(head -5 wrong)" test ! -s wrong
check "the map has this test" grep -c '^| build/map.sh | tests/map reads the heads' <("$map")

# A word takes the tests of its name and those of its sources, and builds only their programs.
check "ONLY=resize: its script" grep -cx tests/cli/operations/resize.sh <("$map" --tests resize)
check "ONLY=resize: its family" grep -cx tests/filters/geometry_oracle.py <("$map" --tests resize)
check "ONLY=cli/help: no unit program" test "$("$map" --goals cli/help/lists B)" = all
check "ONLY=test_pool: itself" test "$("$map" --goals test_pool B)" = B/tests/unit/test_pool
check "no such word" test -z "$("$map" --tests no-such-word)"

# The check can fail.
mkdir -p tree/tests/unit tree/imgio tree/kernels/cpu/rank
cp "$map" tree/tests/
touch tree/imgio/gif.c tree/kernels/cpu/rank/median.c
printf '/* Finds that.\n * Sources: rank imgio/png\n * SPDX-License-Identifier: MIT */\n' >tree/tests/unit/test_a.c
printf '#include <cmocka.h>\n/* Says nothing. */\n' >tree/tests/unit/test_b.c
tree/tests/map --check >wrong
check "a source without a test is found" grep -qx 'imgio/gif.c: no test names it' wrong
check "a source without a file is found" grep -qx 'tests/unit/test_a: Sources: imgio/png: there is no such file or family' wrong
check "a test without sources is found" grep -q '^tests/unit/test_b: its head wants' wrong
check "nothing else is found" test "$(wc -l <wrong)" = 3
# tests/run ends with why tests were skipped, how long they took, and the sum.
mkdir -p tree/tests/cli/a tree/tests/filters tree/tests/unit
cp "$tests/../run" tree/tests/
rm tree/tests/unit/*.c
printf 'echo "skipped: no moon"; echo "skipped: no moon"; echo "3 passed, 0 failed, 2 skipped"\n' >tree/tests/cli/a/one.sh
printf 'echo "4 passed, 0 failed, 0 skipped"\n' >tree/tests/cli/a/two.sh
(cd tree && expect 0 tests/run b '' tests/cli/a && cp out ../run.log)
check "the end of a run: reasons" grep -qx '     *2 x no moon' run.log
check "the end of a run: its time" grep -qxE 'the tests took [0-9]+ min [0-9]{2} s' run.log
check "the end of a run: the sum" grep -qx '7 passed, 0 failed, 2 skipped' <(tail -1 run.log)
finish
