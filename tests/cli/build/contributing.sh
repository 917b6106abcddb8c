#!/bin/bash
# The worked examples of CONTRIBUTING, exactly as in the page and in tests/examples, are added to a copy of the tree, compiled
# with the objects of the build under test, and run.
# Sources: CONTRIBUTING.md
. "$(dirname "$0")/../lib.sh"
top=$(readlink -f "$tests/../..")
page=$top/CONTRIBUTING.md
build=$(dirname "$GPUIMG")
name=${build#"$top"/}
folder=$work/tree

# The page's links.
grep -oE '\]\([^)#]+\)' "$page" | tr -d '])(' | while read -r link; do [[ $link == http* || -e $top/$link ]] || echo "$link"; done >missing
check "CONTRIBUTING: its links exist" test ! -s missing

# If make says that the build is up to date, its objects can be reused.
config=()
if [[ ! ${MAKELEVEL-} ]]; then
    [[ $name == build/cpu* ]] && config+=(CUDA=0)
    [[ $name == *-sanitize ]] && config+=(SANITIZE=1)
fi
why=
if ! git -C "$top" ls-files --error-unmatch CONTRIBUTING.md >/dev/null 2>&1; then
    why="no git, or no checkout of it"
elif ! make -C "$top" "${config[@]}" -q "$name/gpuimg" >/dev/null 2>&1; then
    why="$name/gpuimg is not what make would build here"
fi
if [[ $why ]]; then
    skip "examples of CONTRIBUTING: $why"
    finish
    exit
fi

# file_block PATH: prints the block after the line that ends with the path.
file_block() {
    awk -v end="\`$1\`:" '
        /^```/ { if (taking) exit; inside = !inside; if (inside && named) taking = 1; named = 0; next }
        taking { print; next }
        !inside && NF { named = substr($0, length($0) - length(end) + 1) == end }' "$page"
}

# enter PATH above|below TEXT: inserts standard input before or after the only line that contains the text. Most files that include
# the header need no recompilation: the new primitive adds declarations, and a slot that moves only the one after it.
enter() {
    local file=$folder/$1 number
    number=$(grep -nF -- "$3" "$file" | cut -d: -f1)
    check "CONTRIBUTING: $1 has one line $3" test "$(wc -w <<<"$number")" = 1
    [[ $2 == above ]] && ((--number))
    cp -p "$file" was
    sed "${number}r /dev/stdin" was >"$file"
    [[ $1 != *.h ]] || touch -r was "$file"
}

mkdir "$folder"
(cd "$top" && git ls-files -co --exclude-standard | while read -r file; do [[ -e $file ]] && printf '%s\0' "$file"; done |
    xargs -0 cp -p --parents -t "$folder") || fail "a copy of the tree"
mkdir -p "$folder/$name"
cp -rp "$build"/. "$folder/$name"
rm -rf "$folder/$name/test-logs"

# Whole files; the file of the operation must equal the one in the tree.
file_block filters/tone/invert.c >block
check "CONTRIBUTING: a block for invert" test -s block
check "CONTRIBUTING: invert equals the file in the tree" cmp block "$top/filters/tone/invert.c"
cp block "$folder/filters/tone/invert.c"
for file in kernels/cpu/geometry/upside_down.c kernels/cuda/geometry/upside_down.cu imgio/digits.c cli/commands/borders.c; do
    check "CONTRIBUTING: a link to $file" grep -qF "[\`$file\`](tests/examples/$file)" "$page"
    cp "$top/tests/examples/$file" "$folder/$file"
    if command -v clang-format >/dev/null; then
        check "CONTRIBUTING: $file is formatted" clang-format --dry-run --Werror "$folder/$file"
    fi
done
touch -r "$top/filters/tone/invert.c" "$folder/filters/tone/invert.c"
check "CONTRIBUTING: invert occurs twice in filters/filters.c" test "$(grep -ow gi_filter_invert "$top/filters/filters.c" | wc -l)" = 2

# Lines for lists: "/* PATH, above|below TEXT */" followed by the lines to insert.
awk '/^```/ { inside = 0 } /^\/\* [a-z0-9_\/]+\.[a-z]+, (above|below) .* \*\/$/ { inside = 1 } inside { print }' "$page" >lists
check "CONTRIBUTING: lines of lists" test "$(grep -c '^/\* .*, \(above\|below\) ' lists)" -ge 6
head=
while IFS= read -r line; do
    if [[ $line =~ ^/\*\ ([a-z0-9_/]+\.[a-z]+),\ (above|below)\ (.*)\ \*/$ ]]; then
        [[ $head ]] && enter "${where[@]}" <lines
        where=("${BASH_REMATCH[@]:1}") head=1
        : >lines
    else
        printf '%s\n' "$line" >>lines
    fi
done <lists
[[ $head ]] && enter "${where[@]}" <lines
(cd "$folder" && touch kernels/cpu/table.c kernels/cuda/table.cu tests/unit/primitives_run.c $(grep -rlE -- '->scatter\(' filters))

# A test of the primitive: a case, and its definition in plain loops.
cat >"$folder/tests/unit/test_upside_down.c" <<'C'
#include "primitives.h"

static void draw(struct walk_case *c)
{
    walk_source_here(c);
}

static void define(struct walk_case *c)
{
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        memcpy(gi_row(want, y), gi_row(&c->srcs[0].image, c->height - 1 - y), gi_row_nbytes(want));
}

static const struct walk_row rows[] = {
    WALK_ROW("upside_down", "any", draw, define),
};

WALK_ROWS(rows)
C
mk() { make -C "$folder" --no-print-directory "${config[@]}" V=1 "$@"; }
check "the examples compile" mk "$name/gpuimg"
mv check.log compiled.log
check "the examples compile without warnings" test "$(grep 'warning' compiled.log | grep -vc '^make')" = 0
compiled=$(grep -cE -- ' -c -o ' compiled.log)
check "only a few files are recompiled: $compiled" test "$compiled" -ge 6 -a "$compiled" -le 24
GPUIMG=$folder/$name/gpuimg

pgm in.pgm 13 9
expect 0 gpuimg invert in.pgm out.pgm --device cpu
check "invert gives the right samples" cmp <(tail -c 117 in.pgm | od -An -v -tu1 | awk '{for (i = 1; i <= NF; i++) print 255 - $i}') \
    <(tail -c 117 out.pgm | od -An -v -tu1 | awk '{for (i = 1; i <= NF; i++) print $i}')

if echo '#include <cmocka.h>' | ${CC:-cc} -include stdarg.h -include stddef.h -include setjmp.h -include stdint.h -E -x c - >/dev/null 2>&1; then
    check "upside_down: its test compiles" mk "$name/tests/unit/test_upside_down"
    check "upside_down: its test passes" "$folder/$name/tests/unit/test_upside_down"
else
    skip "the test of upside_down: no cmocka"
fi
expect 0 gpuimg list --ways
check "upside_down: its ways are listed" grep -qE '^cpu +upside_down +rows +everything$' out

printf 'digits 4 2\n0123\ncdef\n' >in.digits
expect_stdout 'in.digits: digits, 4 x 2, gray, 4 bits, 0 to 15 read as 0 to 255, 21 B' gpuimg info in.digits
expect 0 gpuimg convert in.digits out.pgm
check "digits reads the new format" cmp <(printf 'P5\n4 2\n255\n\x00\x11\x22\x33\xcc\xdd\xee\xff') out.pgm
printf 'digits 4 2\n0123\ncd' >cut.digits
expect_error 1 'convert: cut.digits: ends early, in row 1 of 2*' convert cut.digits made.pgm
printf 'digits 4 2\n0123\ncdeg\n' >bad.digits
expect_error 1 'convert: bad.digits: has byte 103 where a digit should be, in row 1 of 2*' convert bad.digits made.pgm
printf 'digits -1 4294967295\n' >bad.digits
expect_error 1 'convert: bad.digits: *' convert bad.digits made.pgm

expect_stdout ' 2 1 0 | 0 1 2 | 2 1 0' gpuimg borders --width 3 --border mirror
expect_stdout ' 0 1 2 | 0 1 2 | 0 1 2' gpuimg borders --width 3 --border wrap
expect_stdout ' v v | 0 1 | v v' gpuimg borders --width 2 --border border
expect_error 2 'borders: --width 0: want 1 to 100 px' borders --width 0
expect 0 gpuimg help borders
check "borders has a help page" grep -q -- '--width' out

finish
