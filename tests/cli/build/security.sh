#!/bin/bash
# The tests that SECURITY.md names exist, and it names all targets of fuzzing.
# Sources: SECURITY.md
. "$(dirname "$0")/../lib.sh"
root=$tests/../..
for name in $(grep -oE 'tests/[a-z_/*.0-9]+\.(c|sh|py)' "$root/SECURITY.md"; grep -oE 'fuzz_[a-z]+\.c' "$root/SECURITY.md" | sed 's|^|tests/fuzz/|'); do
    check "SECURITY.md: $name exists" compgen -G "$root/$name"
done
for target in "$root"/tests/fuzz/fuzz_*.c; do
    check "SECURITY.md names $(basename "$target")" grep -q "$(basename "$target")" "$root/SECURITY.md"
done
finish
