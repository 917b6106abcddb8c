#!/bin/bash
# Libraries of codecs and plots are loaded when they are needed; if one is missing, the message names it.
# Sources: imgio/library* cli/plot/cairo*
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 13 9
gpuimg list | grep -q 'tiff .*this build has no' && tiff_missing=1
gpuimg list | grep -q 'webp .*this build has no' && webp_missing=1
gpuimg list | grep -q 'avif .*this build has no' && heif_missing=1

if command -v readelf >/dev/null; then
    readelf -dW "$GPUIMG" >dynamic
    check "none of them is linked to the program" test "$(grep -cE 'NEEDED.*(tiff|webp|heif|jxl|EXR|openjp2|gif|lcms|cairo)' dynamic)" = 0
else
    skip "libraries: no readelf (binutils)"
fi

folder=$(basename "$(dirname "$GPUIMG")")
compiler=$(command -v gcc || command -v clang)
if [[ $folder == *-sanitize* || -z $compiler ]]; then
    skip "libraries: libraries can not be hidden here"
    finish
    exit
fi
"$compiler" -shared -fPIC -o none.so -x c - <<'END'
void *dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return 0;
}
END
without() { LD_PRELOAD=$PWD/none.so "$GPUIMG" "$@"; }

if [[ $tiff_missing ]]; then
    skip "libraries: this build has no libtiff"
else
    gpuimg convert in.pgm in.tif
    without info in.tif >out 2>err
    check "a TIFF can't be read without libtiff" grep -qx 'gpuimg: info: in.tif: needs libtiff (libtiff.so.6), which is not installed here; Debian and Ubuntu: package libtiff6' err
    check "list names the missing library" grep -qE '^  tiff .*: needs libtiff ' <(without list)
    check "list --json names the missing library" test "$(without list --json | python3 -c 'import json, sys
print([f["missing"][:14] for f in json.load(sys.stdin)["formats"] if f["name"] == "tiff"][0])')" = "needs libtiff "
    check "TIFF is written without libtiff" without convert in.pgm without.tif
    check "TIFF written without libtiff has the same bytes" cmp in.tif without.tif
fi
if [[ $webp_missing ]]; then
    skip "libraries: this build has no libwebp"
else
    without convert in.pgm out.webp 2>err
    check "a WebP can't be written without libwebp" grep -qx 'gpuimg: convert: out.webp: webp: needs libwebp (libwebp.so.7), .*' err
    check "no file is left" test ! -e out.webp
fi
if [[ $heif_missing ]]; then
    skip "libraries: this build has no libheif"
else
    without convert in.pgm out.avif 2>err
    check "an AVIF can't be written without libheif" grep -qx 'gpuimg: convert: out.avif: avif: needs libheif (libheif.so.1), .* package libheif1' err
    check "no AVIF is left" test ! -e out.avif
fi
without histogram in.pgm --plot plot.png >out 2>err
check "a plot in PNG can't be made without cairo" grep -q 'needs cairo (libcairo.so.2), which is not installed here' err
check "a plot in SVG needs no cairo" without histogram in.pgm --plot plot.svg
finish
