#!/bin/bash
# Comparisons with other programs in help and README: each is in tests/claims with a test, and that test calls the other program.
# Sources: cli/help tests/claims
. "$(dirname "$0")/../lib.sh"

# problems TABLE TEXTS: prints a line per problem. TEXTS is a folder with a file per place.
cat >problems.py <<'END'
import pathlib, re, sys

PROGRAM = re.compile("OpenCV|[sS]ci[pP]y|scikit-image|Pillow|[nN]um[pP]y|libpng|libjpeg|djpeg|libtiff|libwebp|dwebp|[nN]etpbm|[fF][fF]mpeg|"
                     r"ImageMagick|GraphicsMagick|ImageJ|GIMP|Photoshop|MATLAB|vips|\bNPP\b|\bCUB\b|[tT]orch|Kornia")
table, texts, tests = map(pathlib.Path, sys.argv[1:])
left = {path.name: " ".join(path.read_text().split()) for path in texts.iterdir()}
whole = dict(left)
for number, line in enumerate(table.read_text().splitlines(), 1):
    places, *fields = line.split(" | ")
    if line[:1] in ("", " ") or not fields:
        continue
    words, *held = fields
    for place in places.split():
        if words not in whole.get(place, ""):
            print(f"line {number}: {place} does not say: {words}")
        left[place] = left.get(place, "").replace(words, "...")
    for test in held:
        path, call = test.split(" ", 1)
        if not (tests / path).is_file():
            print(f"line {number}: no test {path}")
        elif call not in (tests / path).read_text():
            print(f"line {number}: {path} has no {call}")
    if not held:
        print(f"line {number}: no test of: {words}")
for place, text in sorted(left.items()):
    for found in PROGRAM.finditer(text):
        print(f"{place}: no row of tests/claims has: {text[max(found.start() - 60, 0):found.end() + 60]}")
END
problems() { python3 problems.py "$1" "$2" "$tests/.."; }
claims=$tests/../claims

# Examples, README's measurements of speed and its table of features compare no results; the topic lists the versions.
mkdir texts
for place in $(gpuimg list --commands) $(gpuimg list --topics); do
    gpuimg help "$place" | grep -v '^  .*gpuimg ' >"texts/$place"
done
mv texts/compatibility .
gpuimg help --man >texts/gpuimg
sed -e '/^## How fast/,/^## /d' -e '/^Use it instead/,/^## /d' -e '/^    /d' "$tests/../../README.md" >texts/README
problems "$claims" texts >found
check "every comparison has a test" diff /dev/null found

# The check can fail: it finds a comparison without a row, and rows whose words or tests do not exist.
finds() { # finds PATTERN LINE...: in the table with these lines
    local pattern=$1
    printf '%s\n' "${@:2}" | cat "$claims" - >changed
    problems changed texts >found
    check "finds: $pattern" grep -qxE "$pattern" found
}
echo "The result equals OpenCV's stackBlur()." >>texts/blur
finds "blur: no row of tests/claims has: .*stackBlur.*"
finds 'line [0-9]+: no test filters/none_oracle\.py' "blur | equals OpenCV's stackBlur() | filters/none_oracle.py cv2.stackBlur("
finds 'line [0-9]+: filters/peers_oracle\.py has no cv2\.stackBlur\(' "blur | equals OpenCV's stackBlur() | filters/peers_oracle.py cv2.stackBlur("
finds "line [0-9]+: no test of: equals OpenCV's stackBlur\(\)" "blur | equals OpenCV's stackBlur()"
finds "line [0-9]+: gaussian does not say: equals OpenCV's stackBlur\(\)" "gaussian | equals OpenCV's stackBlur() | filters/peers_oracle.py cv2.blur("

# The versions in help are those that the tests compare with on this machine.
version() { # version NAME COMMAND...: the first number with a point in what the command prints
    local name=$1 said here
    said=$(tr '\n' ' ' <compatibility | grep -oP "\b$name \K[0-9]+\.[0-9]+")
    check "help compatibility: version of $name" test -n "$said"
    here=$("${@:2}" 2>&1 | grep -oE '[0-9]+\.[0-9]+' | head -1)
    if [[ $here == "$said" ]]; then pass; else skip "$name ${here:-is not} here: help compares with $said"; fi
}
python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3) # as tests/run does
module() { version "$1" "$python" -c "import $2; print($2.__version__)"; }
module OpenCV cv2
module SciPy scipy
module scikit-image skimage
module Pillow PIL
module NumPy numpy
version libpng pkg-config --modversion libpng
version libtiff pkg-config --modversion libtiff-4
version libjpeg-turbo djpeg -version
version libwebp dwebp -version
version netpbm pnmtopng -version
version FFmpeg ffmpeg -version
finish
