#!/bin/bash
# The bench runs on tiny images: the results have every row of rows.json, and rows that need no GPU are measured. Times are
# not judged.
# Sources: tests/bench cli/commands/bench_quick
. "$(dirname "$0")/../lib.sh"
bench=$tests/../bench
build=$(dirname "$GPUIMG")
python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || echo python3)

# gpuimg bench --quick, where neither vips nor ImageMagick can be found: six rows, and nothing is left in the folder.
mkdir tmp
PATH=/nowhere TMPDIR=$PWD/tmp expect 0 gpuimg bench --quick
check "bench --quick: six rows without other programs" test "$(grep -cE '^[a-z].* [0-9]+ ms +- +-$' out)" = 6
check "bench --quick: nothing is left" test -z "$(ls tmp)"

if [[ ! -x $build/tests/bench/bench_cpu || ! -x $build/tests/bench/bench_png || ! -x $build/tests/bench/bench_jpeg ]]; then
    skip "the bench programs are not built (make bench-programs)"
    finish
    exit
fi
expect 0 "$python" "$bench/bench.py" --build "$build" --quick --json o.json --markdown o.md
check "the Markdown file equals the printed tables" diff o.md <(head -c "$(wc -c <o.md)" out)

# count FILTER: the number of rows that jq finds in the results or in rows.json.
count() { jq "[$1] | length" "$2"; }
check "the JSON names date, machine and programs" jq -e '.about | .date and .cpu and .cores and .programs.gpuimg' o.json
for table in gpu cpu types commands png auto scale; do
    jq -r ".$table.rows[].name" "$bench/rows.json" | sort -u >want
    jq -r ".results[] | select(.table == \"$table\") | .name" o.json | sort -u >got
    check "the table $table has its rows" diff want got
done
check "the table startup has its row" test "$(count '.results[] | select(.table == "startup")' o.json)" = 1
check "the table growth has its lines" diff <(jq -r '.growth[].name' "$bench/rows.json" | sort -u) \
    <(jq -r '.results[] | select(.table == "growth") | .name' o.json | sort -u)
check "every row is measured or has a reason why not" jq -e 'all(.results[]; .us or .s or .ratio or .rates or .skipped != "")' o.json
check "every way of the CPU that accepts a row is timed" diff \
    <(jq -r '.results[] | select(.table == "ways" and .backend == "cpu" and .request.work == "box") | .ways | keys[]' o.json | sort -u) \
    <(gpuimg list --ways | awk '$1 == "cpu" && $2 == "box" {print $3}' | sort)
# A row of the table commands is skipped if the program that makes its input is missing.
for table in cpu commands png auto; do
    check "the table $table is measured" \
        jq -e "[.results[] | select(.table == \"$table\") | .skipped // empty | select(test(\"is not installed|here does not write\") | not)] == []" o.json
done
check "OpenCV, scipy and scikit-image do the work of their rows" jq -e '[.results[] | select(.table == "commands") | .failed // {}
    | .OpenCV, .scipy, ."scikit-image" | values | select(test("^No module") | not)] == []' o.json
# PNGs are not encoded there: bench.py png does that.
check "the table jpeg has three works of each JPEG, and two of each PNG" test "$(count '.results[] | select(.table == "jpeg")' o.json)" = \
    $(jq '[.jpeg.rows[] | if .compression then 2 else 3 end] | add' "$bench/rows.json")
check "the table jpeg is measured on the CPU" \
    jq -e 'all(.results[] | select(.table == "jpeg"); (.rates["libjpeg-turbo"] // .rates.libdeflate // .rates["gpuimg cpu"]) > 0)' o.json
check "the table scale is measured on one core, beside the files alone" \
    jq -e 'all(.results[] | select(.table == "scale"); .rates["1 core"] > 0 and .ratios["1 core"] == 1 and .rates["files alone"] > 0)' o.json
check "the types of gray bytes are measured on the CPU, unless the result is of another shape" jq -e '
    all(.results[] | select(.table == "types" and .backend == "cpu" and .type == "u8" and .channels == 1);
        .us > 0 or (.skipped | contains("want the input'"'"'s shape")))' o.json
check "times and lower bounds are positive" \
    jq -e 'all(.results[] | select(.table == "cpu"); .us > 0 and .floor_us > 0 and .copy_rate > 0 and .fma_rate > 0)' o.json
check "a row has a request with what it says" jq -en --slurpfile rows "$bench/rows.json" --slurpfile got o.json '
    [$rows[0].gpu.rows[] | (del(.name, .target_us, .part, .input) | to_entries) as $wanted | .name as $name
        | any($got[0].results[] | select(.table == "gpu" and .name == $name) | .request;
            . as $request | all($wanted[]; $request[.key] == .value))] | length > 100 and all'
check "the inputs include worst cases" test \
    "$(count '.results[] | select(.table == "cpu" and .request.input == "spiral")' o.json)" -gt 0

expect 1 "$python" "$bench/bench.py" --build "$build" nonsense
check "an unknown table is named" grep -q 'nonsense: want a table' err
finish
