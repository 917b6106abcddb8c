#!/bin/bash
# PNGs that reach the chain as coded streams give the bytes, the messages and the reports of PNGs that imgio decodes.
# Usage: coded_png.sh GPUIMG
# Sources: imgio/png/png_coded.c imgio/png/png_quick.c imgio/coded.c cli/run/imaging cli/run/session codec filters/coded.c
. "$(dirname "$0")/../lib.sh"

# The CPU decodes coded streams by the primitive only if it is forced to.
forced() { GPUIMG_WAY=png_decode:sequential gpuimg "$@" --device cpu; }
plain() { gpuimg "$@" --device cpu; }

# same NAME ARGS...: the command "ARGS... OUTPUT" succeeds both ways, and writes the same bytes and messages.
same() {
    local name=$1 message
    shift
    expect 0 plain "$@" plain.png
    message=$(<err)
    expect 0 forced "$@" forced.png
    if cmp -s plain.png forced.png; then pass; else fail "$name" "other bytes"; fi
    if [[ $(<err) == "$message" ]]; then pass; else fail "$name" "message: $(<err)" "want: $message"; fi
}

# same_failure ARGS...: the command fails both ways with the same message, and makes no file made.png.
same_failure() {
    local message
    expect 1 plain "$@"
    message=$(<err)
    expect 1 forced "$@"
    if [[ $(<err) == "$message" ]]; then pass; else fail "$*" "message: $(<err)" "want: $message"; fi
    check "$*: no output" test ! -e made.png
}

# decoded NAME: the last command, with -v, has decoded by the primitive; left NAME: a forced command did not.
decoded() { check "$1 is decoded by the primitive" grep -q 'png_decode sequential' err; }
left() { check "$1: decoded by imgio" grep -q 'no png_decode has run' err; }

if ! command -v python3 >/dev/null; then
    skip "coded_png: no python3, which makes the PNGs"
    finish
    exit
fi
python3 - <<'END'
import random, struct, zlib

rng = random.Random(7)
def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

def save(name, width, height, depth, color, row, before=b"", after=b"", parts=1, interlace=0, filters=(0, 1, 2), rows=None):
    raw = b"".join(bytes([filters[y % len(filters)]]) + row(y) for y in range(rows or height))
    stream = zlib.compress(raw, 9)
    part = -(-len(stream) // parts)
    pixels = b"".join(chunk(b"IDAT", stream[i:i + part]) for i in range(0, len(stream), part))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace))
    open(name + ".png", "wb").write(b"\x89PNG\r\n\x1a\n" + header + before + pixels + after + chunk(b"IEND", b""))

def smooth(n): return lambda y: bytes((3 * x + 5 * y + rng.randrange(4)) & 255 for x in range(n))
def indices(n, colors): return lambda y: bytes((x // 3 + y) % colors for x in range(n))

exif = chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0")
palette = chunk(b"PLTE", bytes(rng.randrange(256) for _ in range(60)))
save("gray", 60, 40, 8, 0, smooth(60))
save("gray-alpha", 60, 40, 8, 4, smooth(120))
save("rgb", 60, 40, 8, 2, smooth(180), filters=(4,), parts=9)
save("rgba", 60, 40, 8, 6, smooth(240), filters=(3, 4))
save("gray16", 60, 40, 16, 0, smooth(120))
save("rgba16", 60, 40, 16, 6, smooth(480))
save("palette", 60, 40, 8, 3, indices(60, 20), palette, filters=(0,))
save("palette-alpha", 60, 40, 8, 3, indices(60, 20), palette + chunk(b"tRNS", bytes(range(0, 200, 20))), filters=(0,))
save("turned", 60, 40, 8, 2, smooth(180), exif)
save("text", 60, 40, 8, 2, smooth(180), chunk(b"pHYs", struct.pack(">IIB", 3937, 3937, 1)), chunk(b"tEXt", b"Title\0x"), parts=2)
# Files that imgio decodes.
save("late", 60, 40, 8, 2, smooth(180), after=exif)
save("four", 60, 40, 4, 0, smooth(30))
save("key", 60, 40, 8, 0, smooth(60), chunk(b"tRNS", b"\0\7"))
save("interlaced", 1, 1, 8, 0, smooth(1), interlace=1)
# Damage that only the decoder notices, which is a warning or an error.
save("over", 60, 40, 8, 3, indices(60, 21), palette, filters=(0,))
save("surplus", 60, 40, 8, 0, smooth(60), rows=41)
save("hidden", 60, 40, 8, 0, smooth(60), exif[:-1] + b"x", rows=41)
save("short", 60, 40, 8, 0, smooth(60), rows=39)
save("filter", 60, 40, 8, 0, smooth(60), filters=(0, 5))
# A wrong checksum of the first, the middle or the last IDAT chunk, and one beside that of a text, which is a warning.
for name, number, before in (("crc0", 0, b""), ("crc1", 1, b""), ("crc2", 2, b""), ("crc3", 1, chunk(b"tEXt", b"Title\0x")[:-1] + b"?")):
    save(name, 60, 40, 8, 2, smooth(180), before, parts=3)
    data = bytearray(open(name + ".png", "rb").read())
    at = -1
    for _ in range(number + 1): at = data.index(b"IDAT", at + 1)
    data[at + 4 + struct.unpack(">I", data[at - 4:at])[0]] ^= 1
    open(name + ".png", "wb").write(data)
END

files=(gray gray-alpha rgb rgba gray16 rgba16 palette palette-alpha turned text)
for file in "${files[@]}"; do
    same "$file" gaussian "$file.png" --sigma 2
    expect 0 forced run 'invert | blur --k 5' "$file.png" out.png -v
    decoded "$file"
done
# Metadata, palettes and orientation stay as they are.
for file in palette palette-alpha turned text; do
    same "$file, flipped" flip "$file.png" --horizontal
done
same "an image that gets smaller" resize "$tests/../../testdata/scene.png" --size 100x80 --fast
same "a chain with an analysis" run 'gaussian --sigma 1 | stats | invert' "$tests/../../testdata/scene16.png"
for analysis in stats histogram; do
    expect 0 plain $analysis rgba.png --format json
    mv out plain.json
    expect 0 forced $analysis rgba.png --format json -v
    mv out forced.json
    decoded "$analysis"
    check "$analysis of a coded PNG" cmp plain.json forced.json
done
expect 0 plain stats gray.png rgb.png palette.png --table plain.csv
expect 0 forced stats gray.png rgb.png palette.png --table forced.csv -v
check "a table: decoded by the primitive" grep -q 'png_decode sequential x 3' err
check "a table of coded PNGs" cmp plain.csv forced.csv
expect 0 gpuimg gaussian rgb.png plain.png --sigma 2 --device cpu -v
check "the primitive does not run unless it is forced to" bash -c '! grep -q png_decode err'
expect 2 forced gaussian rgb.png out.png --sigma 1 --no-such-option

# Conversions between decoding and the chain, and files that imgio decodes: the primitive never runs.
for options in --gray "--depth float" --linear --allow-partial; do
    # shellcheck disable=SC2086 # options are words
    expect 2 forced gaussian rgb.png out.tif --sigma 1 $options
    left "$options"
done
for file in late four key interlaced; do
    expect 2 forced invert "$file.png" out.png
    left "$file"
done
same "a further image beside a coded one" absdiff rgb.png --with text.png

# Damage.
for file in over surplus; do
    same "$file" invert "$file.png"
done
# Surplus data, which only decoding finds, is an error with --strict, and is named with the output if another
# warning came first.
same_failure invert surplus.png made.png --strict
for way in plain forced; do
    expect 0 $way invert hidden.png hidden-out.png
    check "surplus data after another warning, $way" grep -qx 'gpuimg: warning: invert: hidden-out.png: not read: surplus image data' err
done
for file in short filter crc0 crc1 crc2 crc3; do
    same_failure gaussian "$file.png" made.png --sigma 1
    same_failure stats "$file.png"
done
same_failure gaussian crc1.png made.png --sigma 1 --strict
check "a wrong checksum is named" grep -q 'IDAT: CRC error' err
expect 0 plain gaussian crc2.png plain.png --sigma 1 --allow-partial
check "a wrong checksum is a warning of partial images" grep -q 'IDAT: CRC error' err
expect 2 forced gaussian crc2.png out.png --sigma 1 --allow-partial
left "a wrong checksum with --allow-partial"
cp rgb.png cut.png
truncate -s -40 cut.png
same_failure gaussian cut.png made.png --sigma 1
# A second image behind the first is warned about once.
{ cat rgb.png; head -c 9 /dev/zero; cat gray.png; } >two.png # directly behind it would be a stream
expect 0 plain gaussian two.png plain.png --sigma 1
message=$(<err)
expect 0 forced gaussian two.png out.png --sigma 1
check "two images" test "$(sed s/out.png/plain.png/ err)" = "$message"

# Standard input, and batches.
expect 0 bash -c "GPUIMG_WAY=png_decode:sequential '$GPUIMG' gaussian - piped.png --sigma 2 --device cpu <rgb.png"
plain gaussian rgb.png plain.png --sigma 2
check "standard input" cmp plain.png piped.png
all=(gray.png rgb.png rgba16.png palette.png turned.png short.png over.png key.png crc0.png crc1.png crc2.png crc3.png)
expect 1 plain gaussian "${all[@]}" --sigma 2 --out-dir plain
mv err plain.err
expect 1 forced gaussian "${all[@]}" --sigma 2 --out-dir forced
check "batch: messages" cmp <(sort plain.err) <(sort err)
check "batch: outputs" diff -r plain forced
# A GPU decodes the PNGs of a batch without being forced to, and leaves the others to imgio.
if gpuimg gaussian rgb.png out.png --sigma 1 --device cuda 2>/dev/null; then
    expect 1 gpuimg gaussian "${all[@]}" --sigma 2 --out-dir cuda --device cuda
    check "cuda: messages" cmp <(sort plain.err) <(sort err)
    check "cuda: outputs" diff -r plain cuda
    expect 0 gpuimg gaussian gray.png rgb.png rgba16.png --sigma 2 --out-dir cuda2 --device cuda -v
    check "cuda: the device decodes" grep -q 'ways cuda:.*png_decode' err
else
    skip "no CUDA device, which decodes PNGs"
fi

finish
