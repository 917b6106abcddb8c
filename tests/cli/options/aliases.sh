#!/bin/bash
# Options with two names: both give the same bytes, and help shows one with the other in brackets.
# Sources: cli/args/parse.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 37 23
pgm other.pgm 9 7
printf 'P6 2 3 255 ' >rgb.ppm
head -c 18 <(tail -c 100 in.pgm) >>rgb.ppm

while IFS=: read -r command old new value rest; do
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $command --$old $value $rest in.pgm old.pgm
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $command --$new $value $rest in.pgm new.pgm
    check "$command --$old and --$new: the same bytes" cmp old.pgm new.pgm
    # shellcheck disable=SC2086 # words
    expect 0 gpuimg $command $rest in.pgm plain.pgm
    check "$command --$new $value has an effect" test "$(cksum <plain.pgm)" != "$(cksum <new.pgm)"
    gpuimg help "$command" | tr '\n' ' ' | tr -s ' ' >page
    check "help $command names --$new" grep -qE -- " --$new [A-Z]" page
    check "help $command has --$old in brackets" grep -q -- "also --$old)" page
    check "help $command lists both names as one option" test "$(grep -cE -- "^  (-., )?--$old " <(gpuimg help "$command"))" = 0
done <<'END'
threshold:at:threshold:60
edges:of:component:x
bilateral:sigma-spatial:sigma:7:--range 40
fill-holes:at:threshold:90
clear-border:at:threshold:90
remove-small:at:threshold:90:--area 9
composite:at:position:3,4:--with other.pgm
orient:as:orientation:3
END
# For bilateral the older name, --range, is the main one.
expect 0 gpuimg bilateral --range 40 in.pgm old.pgm
expect 0 gpuimg bilateral --sigma-range 40 in.pgm new.pgm
check "bilateral --range and --sigma-range" cmp old.pgm new.pgm
expect 0 gpuimg bilateral in.pgm new.pgm
check "bilateral --range has an effect" test "$(cksum <old.pgm)" != "$(cksum <new.pgm)"

# Without the option these operations do nothing.
while IFS=: read -r command old new value; do
    expect 0 gpuimg "$command" "--$old" "$value" in.pgm old.pgm
    expect 0 gpuimg "$command" "--$new" "$value" in.pgm new.pgm
    check "$command --$old and --$new: the same bytes" cmp old.pgm new.pgm
    check "$command --$new changes the image" test "$(cksum <in.pgm)" != "$(cksum <new.pgm)"
    check "help $command has --$old in brackets" grep -q -- "also --$old)" <(gpuimg help "$command" | tr '\n' ' ' | tr -s ' ')
done <<'END'
gamma:by:gamma:1.7
pad:by:margins:3,1
shift:by:offset:2,-1
END

# Tables, and many inputs.
expect 0 gpuimg stats in.pgm old.csv --by row
expect 0 gpuimg stats in.pgm new.csv --group-by row
check "stats --by and --group-by" cmp old.csv new.csv
check "stats --group-by: a line per row" test "$(wc -l <new.csv)" = 24
expect 0 gpuimg extract in.pgm old.csv --at 90
expect 0 gpuimg extract in.pgm new.csv --threshold 90
check "extract --at and --threshold" cmp old.csv new.csv
cp in.pgm a.pgm
gpuimg invert in.pgm b.pgm
expect 0 gpuimg stack --by max a.pgm b.pgm old.pgm
expect 0 gpuimg stack --method max a.pgm b.pgm new.pgm
check "stack --by and --method" cmp old.pgm new.pgm
expect 0 gpuimg run 'gaussian | threshold --at 60' in.pgm old.pgm
expect 0 gpuimg run 'gaussian | threshold --threshold 60' in.pgm new.pgm
check "in a chain" cmp old.pgm new.pgm

# All rows agree: list --json has both names, and help shows them as above.
gpuimg list --json | python3 -c '
import json, sys
for operation in json.load(sys.stdin)["operations"]:
    for option in operation["options"]:
        if "also" in option:
            print(operation["name"], option["name"], option["also"])' >rows
check "there are aliases" test "$(wc -l <rows)" -gt 20
check "list --json: threshold" grep -qx 'threshold threshold at' rows
while read -r command name alias; do
    check "help $command shows no second name before the argument" \
        test "$(gpuimg help "$command" | grep -cE -- "^  (-., )?--$name, --$alias\b")" = 0
done <rows

# Completion offers main names, and aliases if no main name matches; the value of an alias is completed like the name's.
check "completion: the name" test "$(gpuimg __complete pad --mar | cut -f1)" = --margins
check "completion: no alias if a name matches" test -z "$(gpuimg __complete threshold --t | cut -f1 | grep -x -- --at)"
check "completion: an alias" test "$(gpuimg __complete pad --by | cut -f1)" = --by
check "completion: the value of an alias" test "$(gpuimg __complete threshold --at '' | cut -f1 | head -1)" = otsu
check "completion: the value of the name" test "$(gpuimg __complete threshold --threshold '' | cut -f1 | head -1)" = otsu

finish
