#!/bin/bash
# README agrees with the program: commands and options that exist, and quoted results.
# Sources: README.md
. "$(dirname "$0")/../lib.sh"
readme=$tests/../../README.md

# Every "gpuimg COMMAND --option" in the indented examples names a command and options that it has.
grep -oE 'gpuimg [a-z]+[^|#]*' <(grep -E '^    ' "$readme") >examples
check "README has examples" test "$(wc -l <examples)" -gt 8
while read -r _ command rest; do
    check "README: gpuimg $command is a command" grep -qx "$command" <(gpuimg list --commands)
    for option in $(grep -oE -- '--[a-z-]+' <<<"$rest"); do
        check "README: gpuimg $command has $option" grep -qE -- "(^|[ ,])$option\b" <(gpuimg help "$command")
    done
done <examples

# Limits and their defaults, as their options have them.
for option in max-pixels max-bytes; do
    default=$(gpuimg help common | tr -s ' \n' ' ' | sed -nE "s/.* --$option SIZE [^(]*\([^)]*default ([0-9]+[GM]i)\).*/\1/p")
    check "help common has a default of --$option" test -n "$default"
    check "help limits has the default of --$option, $default" grep -qF -- "--$option (default $default)" <(gpuimg help limits | tr -s ' \n' ' ')
done

# Pages that README and the index of results link.
top=$tests/../..
for page in README.md tests/bench/results/README.md; do
    (cd "$top/$(dirname $page)" && grep -oE '\]\([^)#]+\)' "$(basename $page)" | tr -d '])(' | while read -r link; do
        [[ $link == http* || -e $link ]] || echo "$link"
    done) >missing
    check "$page: its links exist" test ! -s missing
done
for page in "$top"/tests/bench/results/*.md; do
    page=$(basename "$page")
    [[ $page == README.md ]] || check "the index of results has $page" grep -qF "($page)" "$top/tests/bench/results/README.md"
done

# Figures in README equal those in the results they come from.
sed -nE 's/^<!-- (tests\/bench\/results\/.*\.md) -->$/\1/p' "$readme" | sort -u >quoted
check "README quotes results" test -s quoted
while read -r results; do
    check "README: $results is there" test -s "$tests/../../$results"
    sed -n "\\|<!-- $results -->|,/<!-- end -->/p" "$readme" | grep -v '^<!--' >figures
    check "README has figures of $results" test "$(wc -l <figures)" -gt 2
    while read -r line; do # README leaves out the columns of targets, which are the last ones
        check "README quotes $results: $line" grep -qF -- "${line%|}" "$tests/../../$results"
    done <figures
done <quoted

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
