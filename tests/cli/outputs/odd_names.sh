#!/bin/bash
# Unusual file names in the output of every command: JSON is valid and UTF-8, SVG and JUnit are valid XML, and no control sequence
# reaches a terminal. Usage: odd_names.sh GPUIMG
# Sources: cli/json* cli/log* cli/tables cli/plot cli/content*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

pgm plain.pgm 40 30
# In messages, characters of four bytes are as they are, and bytes that are no UTF-8 are escaped.
expect 1 gpuimg blur $'no-\xf0\x9f\x98\x80\xf4\x8f\xbf\xbd.pgm' made.pgm
check "characters of four bytes are printed" grep -q $'no-\xf0\x9f\x98\x80\xf4\x8f\xbf\xbd[.]pgm' err
for bytes in 'f0 8f bf bf' 'f4 90 80 80' 'ed a0 80' 'e0 9f bf' 'c1 bf'; do
    expect 1 gpuimg blur "no-$(printf '%b' "$(printf '\\x%s' $bytes)").pgm" made.pgm
    check "overlong and too large characters are escaped: $bytes" grep -qF "no-$(printf '\\x%s' $bytes).pgm" err
done
gpuimg convert plain.pgm plain.ppm 2>/dev/null
cat >proper.py <<'PY'
# proper.py KIND FILE...: prints the errors of the files.
import json, re, sys
for kind, name in zip(sys.argv[1::2], sys.argv[2::2]):
    data = open(name, "rb").read()
    if kind == "text":
        try:
            text = data.decode()
        except UnicodeDecodeError as e:
            sys.exit(f"no UTF-8: {e}")
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]", text):
            sys.exit(f"holds a control character: {text!r}")
    elif kind == "json":
        json.loads(data.decode())
    elif kind == "lines":
        for line in data.decode().strip("\n").split("\n"):
            json.loads(line)
    else:
        import xml.dom.minidom
        xml.dom.minidom.parseString(data)
        if re.search(b"[\x00-\x08\x0b-\x1f]", data):
            sys.exit("holds a control character")
PY
# proper KIND WHAT COMMAND...: tests that its standard output is valid, and its standard error safe for a terminal.
proper() {
    local kind=$1 what=$2
    shift 2
    timeout 60 "$GPUIMG" "$@" >out 2>err <plain.pgm
    check "$what" python3 -IS proper.py "$kind" out text err
}
file() { check "$2" python3 -IS proper.py "$1" "$3"; }

n=0
for name in $'esc\x1b[2J\x07\x7f' $'c1\x9b2J\xed\xa0\x80' $'utf8\xc2\x9b2J\tcr\r' $'two\nlines' 'a<b>&"quo'\''te"' '-%s%n{stem},;\' $'ü日本\xfc' \
    $'rtl\xe2\x80\xaegnp.\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8' $'none\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\xed\xbf\xbf\xf4\x90\x80\x80'; do
    mkdir d$((++n))
    cd d$n || exit 1
    cp ../plain.pgm ../proper.py .
    f=./$name.pgm what="name $n"
    cp plain.pgm "$f"
    head -c 300 plain.pgm >"./cut$name.pgm"
    proper json "$what: info" info --json "$f"
    proper text "$what: info, text" info "$f"
    proper text "$what: info of a damaged one" info --check "./cut$name.pgm"
    proper json "$what: histogram" histogram "$f" --format json --plot plot.svg
    file xml "$what: its plot" plot.svg
    proper text "$what: histogram, text" histogram "$f"
    proper json "$what: extract" extract "$f" --format json
    proper lines "$what: extract by lines" extract "$f" --format jsonl
    proper json "$what: compare" compare "$f" "$f" --json
    proper text "$what: compare, text" compare "$f" plain.pgm --max-diff 0
    proper text "$what: compare, JUnit" compare "$f" "./cut$name.pgm" --junit j.xml
    file xml "$what: its JUnit" j.xml
    proper text "$what: compare many, JUnit" compare --pairs <(printf '%s\0%s\0' "$f" "$f" "$f" "./cut$name.pgm") -0 --junit j.xml -q
    file xml "$what: their JUnit" j.xml
    proper text "$what: an operation" blur "$f" "./out$name.png" -v --timing
    proper text "$what: an error" blur "./cut$name.pgm" made.pgm
    proper text "$what: nothing there" blur "./no$name.pgm" made.pgm
    proper text "$what: no such folder" blur plain.pgm "./no$name/made.pgm"
    proper text "$what: no such format" blur plain.pgm "made.$name"
    proper text "$what: no such option" blur plain.pgm made.pgm "--$name"
    proper text "$what: no such value" blur plain.pgm made.pgm --k "$name"
    proper text "$what: no such command" "$name"
    proper text "$what: no such chain" run "$name" plain.pgm made.pgm
    proper text "$what: help" help "$name"
    proper text "$what: a batch" blur --out-dir made.d --report r.jsonl --progress "$f" "./cut$name.pgm"
    file lines "$what: its report" r.jsonl
    proper lines "$what: report merge" report merge r.jsonl
    printf '%s\0' "$f" "./cut$name.pgm" >list
    proper text "$what: tables" histogram --files-from list -0 --table t.jsonl
    file lines "$what: its table" t.jsonl
    tar cf in.tar -- "$f" plain.pgm "./cut$name.pgm"
    proper text "$what: a tar" blur --tar in.tar "./o$name.tar" --report t.jsonl
    file lines "$what: its report" t.jsonl
    proper text "$what: stack" stack "$f" plain.pgm "./cut$name.pgm" made.pgm
    proper text "$what: montage" montage "$f" "./cut$name.pgm" made.pgm
    printf '%s\0%s\0' "$f" plain.pgm >pairs
    proper text "$what: pairs" compare --pairs pairs -0 --table pairs.jsonl
    file lines "$what: their table" pairs.jsonl
    proper text "$what: over its input" histogram "$f" --plot "$f.svg" --no-clobber
    if ! command -v script >/dev/null; then
        skip "a table on a terminal: no program script (bsdutils)"
        cd ..
        continue
    fi
    timeout 60 script -qec "$(printf '%q ' "$GPUIMG" info --files-from list -0 --table -)" /dev/null </dev/null 2>&1 | tr -d '\r' >out
    check "$what: a table on a terminal" python3 -IS proper.py text out
    cd ..
done
check "all names were tested" test "$n" = 9
finish
