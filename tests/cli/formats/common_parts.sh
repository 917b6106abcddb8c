#!/bin/bash
# Metadata of a result of several inputs: what all of them share stays, each text, tag and FITS card on its own, and the rest
# is named. Files are written by hand or by Pillow, which also reads the results.
# Sources: cli/run/common_metadata* cli/inputs/n_to_one.c imgio/fits/fits_cards* imgio/metadata/linear_light.c
. "$(dirname "$0")/../lib.sh"
needs=/usr/bin/python3
$needs -c 'import PIL, numpy' 2>/dev/null || { skip 'no Pillow'; finish; }
$needs - <<'END_PYTHON'
import numpy as np
from PIL import Image, PngImagePlugin, TiffImagePlugin

def card(key, value):
    return f"{key:<8}= {value:>20}".ljust(80)

def fits(name, cards, value, height=3):
    head = [card("SIMPLE", "T"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", 4), card("NAXIS2", height), *cards]
    head = "".join([*head, "END".ljust(80)])
    head = head.ljust(-(-len(head) // 2880) * 2880)
    open(name, "wb").write(head.encode() + bytes([value] * 4 * height).ljust(2880, b"\0"))

long_text = ["NOTE    = 'a long &'".ljust(80), "CONTINUE  'text 0'".ljust(80)]
for i in range(3):
    other = ["NOTE    = 'a long &'".ljust(80), f"CONTINUE  'text {i}'".ljust(80)]
    sky = [card("CTYPE1", "'RA---TAN'"), card("CRVAL1", "10.5")]
    fits(f"f{i}.fits", [card("OBJECT", "'M31'"), card("EXPTIME", "30.0"), card("DATE-OBS", f"'2020-01-0{i}'"), *sky,
                        "HIERARCH ESO DET GAIN = 2".ljust(80), f"HIERARCH ESO TEL ALT = {i}".ljust(80),
                        "HISTORY dark".ljust(80), *other], 10 * i)
    fits(f"same{i}.fits", [card("OBJECT", "'M31'"), *long_text, *sky], 10 * i)
fits("moved.fits", [card("OBJECT", "'M31'"), *long_text, card("CTYPE1", "'RA---TAN'"), card("CRVAL1", "11.5")], 1)
fits("tall.fits", [card("OBJECT", "'M31'"), *long_text], 1, 5)

pixels = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
def png(name, texts, camera=None, image=pixels, **more):
    info = PngImagePlugin.PngInfo()
    for key, text in texts:
        info.add_text(key, text)
    exif = Image.Exif()
    if camera:
        exif[271] = camera
    image.save(name, pnginfo=info, **({"exif": exif} if camera else {}), **more)
png("a.png", [("Author", "me"), ("Comment", "one"), ("Comment", "both")], "Cam", dpi=(300, 300))
png("b.png", [("Comment", "both"), ("Author", "me"), ("Comment", "two")], "Cam", dpi=(300, 300))
png("c.png", [("Author", "you")], "Camera")
png("none.png", [])
gray = Image.fromarray(np.full((4, 4), 100, np.uint8))
png("gray.png", [], image=gray)

def tiff(name, tags, value=0, kind="L"):
    info = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, (of, values) in tags.items():
        info.tagtype[tag] = of
        info[tag] = values
    Image.new(kind, (8, 6), value).save(name, tiffinfo=info)
def place(x, y):
    return {33550: (12, (2.0, 2.0, 0.0)), 33922: (12, (0.0, 0.0, 0.0, 1000.0 + 2 * x, 500.0 - 2 * y, 0.0))}
gdal = lambda mean: {42112: (2, f'<GDALMetadata><Item name="SENSOR">X</Item>'
                                f'<Item name="STATISTICS_MEAN">{mean}</Item></GDALMetadata>')}
for i in range(3):
    tiff(f"t{i}.tif", {**place(0, 0), **gdal(i), 42113: (2, "7"), 65000: (3, (5,)), 65001: (3, (i,)), 316: (2, f"host{i}")}, 9 * i)
for y in range(2):
    for x in range(2):
        tiff(f"tile{x}{y}.tif", {**place(8 * x, 6 * y), 65000: (3, (5,))}, 100)
open("tiles.csv", "w").write("file,x,y\n" + "".join(f"tile{x}{y}.tif,{8 * x},{6 * y}\n" for y in range(2) for x in range(2)))
open("wrong.csv", "w").write("file,x,y\ntile00.tif,0,0\ntile10.tif,9,0\n")
END_PYTHON

cards() { fold -w80 "$1" | sed -n '/^END *$/q; s/ *$//; p' | grep -vE '^(SIMPLE|BITPIX|NAXIS)'; }
# of FILE EXPRESSION: prints a property of an image that Pillow opens.
of() { $needs -c 'import sys; from PIL import Image; i = Image.open(sys.argv[1]); i.load(); print(eval(sys.argv[2]))' "$@"; }
# says NAME COMMAND...: a warning that `dropped: NAMES` ends, or none.
says() {
    local want=$1
    shift
    expect 0 gpuimg "$@"
    check "$*: names what is dropped" test "$(grep -o 'dropped: .*' err)" = "${want:+dropped: $want}"
}

# FITS: each card, with its continuation, on its own.
says 'card DATE-OBS of 3 images, card HIERARCH ESO TEL ALT of 3 images, card NOTE of 3 images' stack f{0,1,2}.fits made.fits
check 'shared cards stay' test "$(cards made.fits | sed 's/ *=.*//; s/ .*//' | tr '\n' ' ')" = \
    'OBJECT EXPTIME HIERARCH HISTORY CTYPE1 CRVAL1 '
check 'with their values' test "$(grep -vcxFf <(cards f0.fits) <(cards made.fits))" = 0
says '' stack same{0,1,2}.fits made.fits --strict
check 'a text of several cards stays' grep -q "^CONTINUE  'text 0'" <(cards made.fits)
says 'coordinates of the sky (2 cards) of 2 images' stack same0.fits moved.fits made.fits
check 'the sky is all or nothing' test "$(cards made.fits | grep -c CTYPE1)" = 0
says 'coordinates of the sky (2 cards) of 1 image (the pixels have moved)' montage same0.fits tall.fits made.fits
check 'other cards stay on a sheet' grep -q OBJECT <(cards made.fits)
says '' montage tall.fits tall.fits made.fits --strict
expect 1 gpuimg stack f{0,1}.fits made.fits --strict
expect 0 gpuimg stack f{0,1}.fits made.fits --strict --strip
check '--strip leaves no card' test -z "$(cards made.fits)"
expect 0 gpuimg stack same{0,1}.fits made.png
check 'a format without cards names them' grep -qF 'png cannot hold 3 cards of the header, coordinates of the sky (2 cards)' err

# Texts, EXIF and the resolution.
says '' stack a.png a.png made.png --strict
check 'all texts' test "$(of made.png 'sorted(i.text.items()), i.getexif()[271], round(i.info["dpi"][0])')" = \
    "([('Author', 'me'), ('Comment', 'both')], 'Cam', 300)"
check 'both comments' test "$(grep -aco 'Comment' made.png)" = "$(grep -aco 'Comment' a.png)"
says 'text Comment of 2 images' stack a.png b.png made.png
check 'the text that both have' test "$(of made.png 'i.text, i.getexif()[271], round(i.info["dpi"][0])')" = \
    "({'Author': 'me', 'Comment': 'both'}, 'Cam', 300)"
says 'text Comment of 2 images, EXIF of 3 images, the resolution of 2 images, text Author of 3 images' stack a.png b.png c.png made.png
check 'nothing in common' test "$(of made.png 'i.text, len(i.getexif()), i.info.get("dpi")')" = '({}, 0, None)'
says 'EXIF of 1 image, text Author of 1 image' stack none.png none.png c.png made.png
says 'EXIF of 1 image, the resolution of 1 image, text Author of 1 image, text Comment of 1 image' stack a.png none.png made.png
says 'text Comment of 2 images' channels join a.png b.png made.png --order r2g2b
check 'channels join' test "$(of made.png 'i.text')" = "{'Author': 'me', 'Comment': 'both'}"
says 'text Comment of 1 image' merge a.png b.png none.png made.png
check 'merge keeps the first layer' test "$(of made.png 'sorted(i.text), i.getexif()[271]')" = "(['Author', 'Comment'], 'Cam')"
says 'text Comment of 2 images' montage a.png b.png made.png
check 'montage' test "$(of made.png 'i.text, i.getexif()[271]')" = "({'Author': 'me', 'Comment': 'both'}, 'Cam')"

# TIFF: tags and positions.
expect 0 gpuimg stack t{0,1,2}.tif made.tif
dropped=$(grep -o 'dropped: .*' err)
for name in 'EXIF of 3 images' 'tag 65001 of 3 images' "statistics in GDAL's metadata of 3 images"; do
    check "$name" grep -qF "$name" <<<"$dropped"
done
check 'nothing else' test "$(grep -o ' of [0-9]* images' <<<"$dropped" | wc -l)" = 3
check 'shared tags' test "$(of made.tif 'i.tag_v2[65000], i.tag_v2[42113], i.tag_v2[33922], i.tag_v2[33550], i.tag_v2[42112]')" = \
    "(5, '7', (0.0, 0.0, 0.0, 1000.0, 500.0, 0.0), (2.0, 2.0, 0.0), '<GDALMetadata><Item name=\"SENSOR\">X</Item></GDALMetadata>')"
expect 0 gpuimg montage t0.tif t0.tif made.tif
check 'a sheet has no position' test "$(of made.tif 'any(t in i.tag_v2 for t in (33922, 33550, 42113)), i.tag_v2[65001]')" = '(False, 0)'
check 'which is named' grep -qE 'dropped: .*33550' err
expect 0 gpuimg stack t0.tif t1.tif made.tif --method sum
check 'a sum has other samples without data' test "$(of made.tif '42113 in i.tag_v2')" = False
says '' mosaic tiles.csv made.tif --strict
check 'a mosaic has the position of its tiles' test "$(of made.tif 'i.tag_v2[33922], i.tag_v2[65000]')" = "((0.0, 0.0, 0.0, 1000.0, 500.0, 0.0), 5)"
expect 0 gpuimg mosaic wrong.csv made.tif
check 'tiles at other places have none in common' test "$(of made.tif '33922 in i.tag_v2, 65000 in i.tag_v2')" = '(False, True)'
check 'which is named too' grep -qE 'dropped: .*33922 of 2 images' err

# Linear light is encoded again.
for command in 'stack --method mean' 'montage --no-normalize --cell 4x4 --gap 0' merge; do
    # shellcheck disable=SC2086
    expect 0 gpuimg $command gray.png gray.png made.png --linear --strict
    check "$command --linear" test "$(of made.png 'i.mode, i.getpixel((1, 1))')" = "('L', 100)"
done
finish
