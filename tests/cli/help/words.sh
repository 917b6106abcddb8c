#!/bin/bash
# Words that people type and that are no command: each has a suggestion or a sentence, and what these name runs.
# Sources: cli/args/suggestion* cli/args/synonyms* cli/args/advice*
. "$(dirname "$0")/../lib.sh"
cp "$tests/../../testdata/picture.png" in.png

for word in curves frame roll emboss vignette pixelate tint stitch dedupe exposure optimize contact-sheet sprite sepia swirl sketch \
    solarize posterize polaroid watermark autocrop skeletonize denoise despeckle upscale superres ocr face barcode faststack heatmap blurhash thumbhash pdq \
    background-removal text annotate rectangle hdr haldclut dither srcset jpegtran icc augment findimagedupes; do
    expect 2 gpuimg $word in.png made.png
    check "$word: has a hint" grep -qE "^gpuimg: $word: no such command, .*\(try gpuimg help\)$" err
    check "$word: the hint is whole" test "$(wc -c <err)" -lt 500
done
for word in thumbnail trim; do
    expect 0 gpuimg help $word
done
expect_error 2 'swirl: no such command, gpuimg remap --map MAP moves *' swirl in.png made.png
expect_error 2 "OCR: no such command, nothing is recognised in images*" OCR in.png made.png

# Every word means a command or a page of the help, and is there once.
gpuimg list --json >list.json
expect 0 jq -e '[.synonyms[].word] | length == (unique | length)' list.json
{ gpuimg list --commands; gpuimg list --topics; } | sort >known
jq -r '.synonyms[].means' list.json | sed 's/^help \([a-z]\)/\1/; s/[ ,].*//' | sort -u | comm -23 - known >unknown
check "words mean commands: $(tr "\n" " " <unknown)" test ! -s unknown

# The command lines of the sentences run: IN and OUT are files.
jq -r '.synonyms[].word + " IN OUT"' list.json | gpuimg jobs - 2>/dev/null | jq -r '.error // empty' |
    grep -oE "gpuimg [a-z]+ ('[^']*'|[^',;]|'[^']*')* IN( OUT)?" | sed 's/.*gpuimg \([a-z]\)/gpuimg \1/' | sort -u >lines
check "command lines were found" test "$(wc -l <lines)" -gt 8
while read -r line; do
    case $line in *MASK* | *IMAGE* | *MAP*) continue ;; esac
    eval "expect 0 ${line/ IN*/} in.png $([[ $line == *OUT ]] && echo made.png)"
done <lines
# Solarizing as ImageOps.solarize() of Pillow does it.
if /usr/bin/python3 -c "import PIL" 2>/dev/null; then
    gpuimg run 'absdiff --value 127 | invert | subtract --value 128' in.png sun.png
    check "solarize: as Pillow" /usr/bin/python3 -c '
from PIL import Image, ImageChops, ImageOps
want = ImageOps.solarize(Image.open("in.png").convert("RGB"))
assert max(high for _, high in ImageChops.difference(want, Image.open("sun.png").convert("RGB")).getextrema()) <= 1'
else
    skip "solarize: no Pillow"
fi
finish
