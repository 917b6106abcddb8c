#!/bin/bash
# Other programs read our PNG files and get the same samples: every sample type, sizes down to one pixel, and files of several
# strips.
# Sources: imgio/png
. "$(dirname "$0")/../lib.sh"

# Neighbouring samples are similar, so that filters and matches have an effect; the last rows are noise, which is stored
# without compression.
awk 'BEGIN { srand(5); for (i = 0; i < 3000000; i++) printf "%c", 1 + (i < 2400000 ? int(i / 4000) % 90 + int(rand() * 9) : int(rand() * 126)) }' >samples

# same WHAT FILE: tests that FILE ends with the first $nbytes samples.
same() {
    check "$1, $words" cmp <(tail -c "$nbytes" "$2") source.raw
}

with_libpng() { # through netpbm
    pngtopam ${alpha:+-alphapam} o.png >o.pam 2>err || fail "pngtopam, $words" "$(<err)"
    same pngtopam o.pam
}

with_vips() {
    rm -f o.raw
    vips rawsave o.png o.raw 2>err || fail "vips, $words" "$(<err)"
    if ((bits == 16)); then dd if=o.raw of=o.swapped conv=swab status=none && mv o.swapped o.raw; fi
    same vips o.raw
}

with_imagemagick() {
    [[ $channels == 2 ]] && return # it has no raw format for gray and alpha
    local raw=(- gray - rgb rgba)
    convert o.png -depth "$bits" -endian MSB "${raw[channels]}:o.raw" 2>err || fail "convert, $words" "$(<err)"
    same convert o.raw
}

with_pillow() {
    if ((bits == 16)); then
        check "Pillow, $words" /usr/bin/python3 -c 'import PIL.Image; PIL.Image.open("o.png").load()'
    else
        /usr/bin/python3 -c 'import PIL.Image; open("o.raw", "wb").write(PIL.Image.open("o.png").tobytes())'
        same Pillow o.raw
    fi
}

with_opencv() { # it takes half a second to start
    [[ $channels == 2 || $words != *auto ]] && return # it has no images of gray and alpha
    /usr/bin/python3 - >o.raw <<'END' || fail "OpenCV, $words" "not read"
import sys, cv2
image = cv2.imread("o.png", cv2.IMREAD_UNCHANGED)
if image.ndim == 3:
    image = cv2.cvtColor(image, {3: cv2.COLOR_BGR2RGB, 4: cv2.COLOR_BGRA2RGBA}[image.shape[2]])
sys.stdout.buffer.write(image.astype(image.dtype.newbyteorder(">")).tobytes())
END
    same OpenCV o.raw
}

with_ffmpeg() { # it has a decoder of its own
    local formats=(- gray ya8 rgb24 rgba) deep=(- gray16be ya16be rgb48be rgba64be)
    ((bits == 16)) && formats=("${deep[@]}")
    ffmpeg -v error -y -i o.png -f rawvideo -pix_fmt "${formats[channels]}" o.raw 2>err || fail "ffmpeg, $words" "$(<err)"
    same ffmpeg o.raw
}

peers=() turn=0
have() { # have PROGRAM PACKAGE FUNCTION
    if command -v "$1" >/dev/null; then peers+=("$3"); else skip "no $1 (package $2)"; fi
}
have pngtopam netpbm with_libpng
have vips libvips-tools with_vips
if convert -version 2>/dev/null | grep -q ImageMagick; then peers+=(with_imagemagick); else skip "no convert of ImageMagick (package imagemagick)"; fi
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then peers+=(with_pillow); else skip "no Pillow (package python3-pil)"; fi
if /usr/bin/python3 -c 'import cv2' 2>/dev/null; then peers+=(with_opencv); else skip "no OpenCV (package python3-opencv)"; fi
have ffmpeg ffmpeg with_ffmpeg
command -v pngcheck >/dev/null || skip "no pngcheck (package pngcheck)"

one() { # one WIDTH HEIGHT CHANNELS BITS LEVEL
    channels=$3 bits=$4 words="$1 x $2, $3 channels of $4 bits, level $5"
    local types=(- GRAYSCALE GRAYSCALE_ALPHA RGB RGB_ALPHA)
    alpha=$((channels % 2 == 0 ? 1 : 0))
    ((alpha)) || alpha=
    nbytes=$(($1 * $2 * channels * bits / 8))
    tail -c "$nbytes" samples >source.raw
    {
        printf 'P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n' "$1" "$2" "$channels" \
            $(((1 << bits) - 1)) "${types[channels]}"
        cat source.raw
    } >i.pam
    expect 0 gpuimg blur i.pam o.png --k 1 --compression "$5" --threads 3
    if command -v pngcheck >/dev/null; then check "pngcheck, $words" pngcheck -q o.png; fi
    # Small files are read by two programs each, in turn; each of the six sizes by all programs.
    local i
    for i in "${!peers[@]}"; do
        ((nbytes > 50000 || (i + turn + turn / 6) % 3 == 0)) && "${peers[i]}"
    done
    ((++turn))
}

for channels in 1 2 3 4; do
    for bits in 8 16; do
        one 1 1 $channels $bits 1
        one 1 1 $channels $bits auto
        one 1 23 $channels $bits 6
        one 29 1 $channels $bits 0
        one 67 45 $channels $bits 9
        one 67 45 $channels $bits auto
    done
done
one 900 1100 3 8 1
one 900 1100 3 8 0
one 600 600 4 16 1
for channels in 1 2 3 4; do one 600 700 $channels 8 auto; done
one 600 600 3 16 auto
one 1200 1200 2 8 6

# Several chunks; any number of threads writes the same file.
check "the file has several IDAT chunks" test "$(grep -c IDAT <(grep -ao IDAT o.png))" -gt 2
for threads in 1 2 5; do
    expect 0 gpuimg blur i.pam "t$threads.png" --k 1 --compression 6 --threads $threads
    check "the file of $threads threads is the same" cmp "t$threads.png" o.png
    expect 0 gpuimg blur i.pam "a$threads.png" --k 1 --threads $threads
    check "the file of $threads threads by default is the same" cmp "a$threads.png" a1.png
done

# A mask of one bit per pixel.
expect 0 gpuimg threshold i.pam mask.pgm --at 60 --gray
expect 0 gpuimg threshold i.pam mask.png --at 60 --gray --depth 1
if command -v pngtopam >/dev/null; then check "the mask of one bit" cmp <(pngtopam mask.png | pamdepth 255 2>/dev/null) mask.pgm; fi
finish
