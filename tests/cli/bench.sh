#!/bin/bash
# The bench runs on tiny images: every row of rows.json is there, and those that need no GPU are
# measured. Figures are not judged.
. "$(dirname "$0")/lib.sh"
bench=$tests/../bench
build=$(dirname "$GPUIMG")
python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || echo python3)

if [[ ! -x $build/tests/bench/bench_cpu || ! -x $build/tests/bench/bench_png ]]; then
    skip "the bench programs are not built (make bench-programs)"
    finish
    exit
fi
expect 0 "$python" "$bench/bench.py" --build "$build" --quick --json o.json --markdown o.md
check "Markdown is what was printed" diff o.md <(head -c "$(wc -c <o.md)" out)

# count FILTER: how many rows of the results or of rows.json jq finds.
count() { jq "[$1] | length" "$2"; }
check "the JSON says what it holds for" jq -e '.about | .date and .cpu and .cores and .programs.gpuimg' o.json
for table in gpu cpu commands png auto; do
    jq -r ".$table.rows[].name" "$bench/rows.json" | sort -u >want
    jq -r ".results[] | select(.table == \"$table\") | .name" o.json | sort -u >got
    check "the table $table has its rows" diff want got
done
check "start-up has its row" test "$(count '.results[] | select(.table == "startup")' o.json)" = 1
check "growth has its lines" diff <(jq -r '.growth[].name' "$bench/rows.json" | sort -u) \
    <(jq -r '.results[] | select(.table == "growth") | .name' o.json | sort -u)
check "every row is measured, or says why not" jq -e 'all(.results[]; .us or .s or .ratio or .skipped != "")' o.json
check "every way of the CPU is timed that takes a row" diff \
    <(jq -r '.results[] | select(.table == "ways" and .backend == "cpu" and .request.work == "box") | .ways | keys[]' o.json | sort -u) \
    <(gpuimg list --ways | awk '$1 == "cpu" && $2 == "box" {print $3}' | sort)
for table in cpu commands png auto; do
    check "the table $table is measured" \
        jq -e "[.results[] | select(.table == \"$table\") | .skipped // empty] == []" o.json
done
check "times and floors are numbers above 0" \
    jq -e 'all(.results[] | select(.table == "cpu"); .us > 0 and .floor_us > 0 and .copy_rate > 0 and .fma_rate > 0)' o.json
check "worst cases are among the inputs" test \
    "$(count '.results[] | select(.table == "cpu" and .request.input == "spiral")' o.json)" -gt 0

expect 1 "$python" "$bench/bench.py" --build "$build" nonsense
check "an unknown table is named" grep -q 'nonsense: want a table' err
finish
