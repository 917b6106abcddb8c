#!/bin/bash
# A large image goes through local and mapped operations in bands, from file to file: the bytes are those of the whole image, and the
# memory is that of some bands. TIFF is written strip by strip. Usage: rows.sh GPUIMG
# Sources: cli/run/imaging_rows* cli/run/file_rows* imgio/row_stream* imgio/rows_ahead* imgio/decode_rows* cli/args/image_saving* filters/rows* filters/bands* imgio/rows* imgio/save* imgio/tiff/tiff_write* imgio/pnm/pnm_write* imgio/npy* imgio/png/png_strips* imgio/jpeg/jpeg_write*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

noise() { head -c "$1" /dev/urandom; }
{ printf 'P6 301 211 255\n'; noise $((301 * 211 * 3)); } >a.ppm
{ printf 'P5 301 211 65535\n'; noise $((301 * 211 * 2)); } >b.pgm
{ printf 'P7\nWIDTH 301\nHEIGHT 211\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'; noise $((301 * 211 * 4)); } >c.pam
gpuimg convert a.ppm d.tif --depth float
gpuimg convert c.pam e.tif --compression 0
gpuimg convert b.pgm f.npy
gpuimg gaussian d.tif g.tif --dpi 300
# bands INPUT OUTPUT CHAIN [OPTION...]: bands of few rows make the file that the whole image becomes.
bands() {
    local input=$1 output=$2 chain=$3
    shift 3
    expect 0 gpuimg run "$chain" "$input" "whole.$output" "$@"
    for nbytes in 40000 150000 1000000; do
        expect 0 env GPUIMG_BAND_BYTES=$nbytes "$GPUIMG" run "$chain" "$input" "res.$output" "$@"
        check "$chain of $input to $output $* in bands of $nbytes bytes" cmp "whole.$output" "res.$output"
    done
}
for input in a.ppm b.pgm c.pam d.tif e.tif f.npy g.tif; do
    bands $input tif 'gaussian --sigma 2'
    bands $input npy 'flip --v | median --k 3'
done
bands a.ppm ppm 'invert'
bands a.ppm tif 'invert' --compression 0
bands a.ppm tif 'blur --k 9 --border wrap | resize --size 50%'
bands b.pgm pgm 'resize --size 700x500 | edges'
bands b.pgm pam 'rotate --angle 30'
bands b.pgm tif 'equalize' --compression 6
bands b.pgm tif 'threshold --threshold otsu | erode --k 5'
bands c.pam pam 'rotate --angle 90'
bands a.ppm tif 'local-threshold --k 15'
bands d.tif npy 'sharpen --sigma 1' --depth 16
bands a.ppm tif 'crop --size 200x150+40+30 | gaussian --sigma 1'
# Rows of PNG, JPEG and compressed TIFF come from a thread.
gpuimg convert a.ppm h.png --dpi 200
gpuimg convert b.pgm i.png
gpuimg convert c.pam j.png
gpuimg quantize a.ppm k.png --colors 9
gpuimg convert a.ppm l.jpg
gpuimg convert a.ppm m.jpg --progressive --quality 40
gpuimg convert a.ppm n.jpg --gray
gpuimg convert c.pam o.tif --compression 9
/usr/bin/python3 - <<'END'
import random, struct, zlib
# Tiles of 64 x 48 pixels of 3 bytes, 301 x 211 pixels; and planes in strips of 20 rows.
def tiff(name, extra, places, pieces):
    tags = [(256, 4, 1, 301), (257, 4, 1, 211), (259, 3, 1, 8), (262, 3, 1, 2), (277, 3, 1, 3)] + extra
    packed = [zlib.compress(piece) for piece in pieces]
    n, at = len(pieces), 1000 + 8 * len(pieces)
    offsets = [at + sum(map(len, packed[:i])) for i in range(n)]
    tags = sorted(tags + [(258, 3, 3, 900), (places[0], 4, n, 1000), (places[1], 4, n, 1000 + 4 * n)])
    with open(name, "wb") as f:
        f.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4))
        f.write(bytes(900 - f.tell()) + struct.pack("<3H", 8, 8, 8) + bytes(94) + struct.pack(f"<{n}I", *offsets))
        f.write(struct.pack(f"<{n}I", *map(len, packed)) + b"".join(packed))
random.seed(7)
tiff("p.tif", [(322, 4, 1, 64), (323, 4, 1, 48)], (324, 325), [random.randbytes(64 * 48 * 3) for i in range(25)])
tiff("q.tif", [(284, 3, 1, 2), (278, 4, 1, 20)], (273, 279), [random.randbytes(301 * 20) for i in range(33)])
END
for input in h.png i.png j.png k.png l.jpg m.jpg n.jpg o.tif p.tif q.tif; do
    bands $input tif 'gaussian --sigma 2 | resize --size 70%'
done
bands l.jpg jpg 'resize --size 25%'
bands m.jpg ppm 'resize --size 40x30 | sharpen'
bands h.png png 'equalize'
bands l.jpg png 'local-threshold --k 15' --gray
bands i.png tif 'crop --size 100x90+7+60 | edges' --work-depth float
bands l.jpg jpg 'gaussian --sigma 2' --strip
# Other orders of rows need the whole image, or decode a TIFF's strips again.
bands h.png png 'flip --v'
bands p.tif png 'flip --v'
bands o.tif tif 'rotate --angle 20'
bands l.jpg ppm 'blur --k 5 --border wrap'
# Damage in the middle, behind the rows that are needed, and after the pixels: no output, and the message of the whole image.
for file in h.png i.png l.jpg m.jpg o.tif p.tif q.tif; do
    for part in 35 90; do
        head -c $(($(stat -c %s $file) * part / 100)) $file >cut.${file#*.}
        for chain in 'gaussian --sigma 2' 'crop --size 301x20 | invert'; do
            rm -f cut.out.ppm
            gpuimg run "$chain" cut.${file#*.} cut.out.ppm 2>whole.err
            status=$?
            expect $status env GPUIMG_BAND_BYTES=40000 "$GPUIMG" run "$chain" cut.${file#*.} cut.out.ppm
            test $status = 0 || check "$part % of $file, $chain: no output" test ! -e cut.out.ppm
            check "$part % of $file, $chain: the message of the whole image" cmp err whole.err
        done
    done
done
# Damage outside the rectangle that is needed, in a row or a column of tiles or in a plane, does not matter.
damage() { # damage FROM TO PIECE: makes the Deflate data of a strip or tile of a TIFF of tiff() bad.
    cp "$1" "$2"
    local at
    at=$(od -An -tu4 -j $((1000 + 4 * $3)) -N4 "$1")
    printf '\377\377' | dd of="$2" bs=1 seek=$((at)) conv=notrunc status=none
}
damage p.tif row.tif 2
damage p.tif column.tif 14
damage q.tif plane.tif 11
for chain in 'crop --size 240x100+5+60 | gaussian' 'crop --size 250x101+3+100 | flip --v'; do
    for input in row.tif column.tif plane.tif; do
        bands $input tif "$chain"
        cp whole.tif damaged.tif
        whole=p.tif
        [[ $input != plane.tif ]] || whole=q.tif
        gpuimg run "$chain" $whole whole.tif
        check "$chain of $input: the bytes without damage" cmp damaged.tif whole.tif
    done
done
bands a.ppm png 'invert'
bands b.pgm png 'gaussian --sigma 2' --compression 3
bands c.pam png 'flip --v'
bands a.ppm jpg 'gaussian --sigma 2'
bands a.ppm jpg 'resize --size 210%' --progressive
bands a.ppm jpg 'invert' --optimize --quality 95
# What bands cannot do is done on the whole image.
bands a.ppm tif 'gaussian --sigma 1' --nodata 7
bands a.ppm tif 'gaussian --sigma 1' --linear
bands a.ppm png 'threshold' --palette always
bands a.ppm jpg 'invert' --max-file-size 40000
bands a.ppm jpg 'invert' --target-ssim 0.9
bands a.ppm tif 'invert' --depth 16
bands a.ppm tif 'threshold | fill-holes'
bands a.ppm pam 'crop --trim'
GPUIMG_BAND_BYTES=40000 gpuimg gaussian a.ppm res.tif --sigma 9999 2>err
check 'errors are those of the whole image' grep -q 'sigma 9999' err

# A file that is replaced between two bands is an error: the first rows are in a pipe that is full when the file changes.
{ printf 'P6 2000 2000 255\n'; noise 12000000; } >old.ppm
cp old.ppm new.ppm
mkfifo result
{ head -c 100000; mv new.ppm old.ppm; cat; } <result >/dev/null &
expect 1 env GPUIMG_BAND_BYTES=40000 timeout 30 "$GPUIMG" invert old.ppm ppm:result
check 'a file that is replaced meanwhile is an error' grep -qx 'gpuimg: invert: old.ppm: the file changed while it was read' err
rm -f result old.ppm

# A pipe with a name is read once, and bombs are refused: 25 strips of 25 million pixels that share 25 kB.
mkfifo pipe
cat a.ppm >pipe &
expect 0 env GPUIMG_BAND_BYTES=40000 "$GPUIMG" invert pipe res.tif
gpuimg invert a.ppm whole.tif
check 'an input that is a pipe' cmp res.tif whole.tif
/usr/bin/python3 - <<'END'
import struct, zlib
strip = zlib.compress(bytes(25000000))
tags = [(256, 4, 1, 25000), (257, 4, 1, 25000), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (273, 4, 25, 200), (277, 3, 1, 1),
        (278, 4, 1, 1000), (279, 4, 25, 300)]
with open("bomb.tif", "wb") as f:
    f.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4))
    f.write(bytes(200 - f.tell()) + struct.pack("<25I", *[400] * 25) + struct.pack("<25I", *[len(strip)] * 25) + strip)
END
expect 1 env GPUIMG_BAND_BYTES=4000000 "$GPUIMG" invert bomb.tif made.tif
check 'a bomb is refused' grep -q 'over the limit of 268435456; --max-pixels raises it' err

# A file and a pipe get the same TIFF, although a pipe gets no strip before all lengths are known.
for options in '--compression 0' '--compression 1' '--depth 16' '--depth float'; do
    # shellcheck disable=SC2086
    gpuimg invert a.ppm file.tif $options
    # shellcheck disable=SC2086
    gpuimg invert a.ppm tiff:- $options | cat >pipe.tif
    check "TIFF to a pipe, $options" cmp file.tif pipe.tif
done

cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
if sanitized; then
    skip 'memory of large images: a sanitizer needs memory of its own'
else
    # Samples of 14 MB become 58 MB of floats, which are stored: no copy of the file is in memory.
    { printf 'P5 4800 3000 255\n'; noise 14400000; } >noise.pgm
    expect 0 python3 peak.py "$GPUIMG" convert noise.pgm out.tif --depth float --compression 0
    check "storing a TIFF takes $(<out) KiB" test "$(<out)" -lt 115000
    rm noise.pgm out.tif
    # 75 MB of samples and as many of results: bands of 16 MiB take less, and less time. Passes over a file are made if --memory
    # does not allow more.
    printf 'P6 5000 5000 255\n' >middle.ppm
    truncate -s $((17 + 5000 * 5000 * 3)) middle.ppm
    chain='crop --size 4800x4800+100+100 | resize --size 90% --filter bilinear | convolve --kernel "-1 -1 -1; -1 16 -1; -1 -1 -1"'
    for chain in "$chain" 'gaussian --sigma 5' 'equalize'; do
        expect 0 python3 peak.py "$GPUIMG" run "$chain" middle.ppm out.tif --device cpu --compression 0 --memory 60M
        check "$chain of 75 MB takes $(<out) KiB" test "$(<out)" -lt 60000
    done
    gpuimg fill-holes middle.ppm out.tif --device cpu --memory 60M --verbose 2>err
    check 'why the memory is exceeded' grep -q 'takes more memory than the limit, because fill-holes needs the whole image' err
    # 720 MB, sparse: at most some bands of 16 MiB.
    printf 'P6 20000 12000 255\n' >large.ppm
    truncate -s $((19 + 20000 * 12000 * 3)) large.ppm
    for chain in 'gaussian --sigma 2' 'flip --v | resize --size 50%'; do
        expect 0 python3 peak.py "$GPUIMG" run "$chain" large.ppm out.tif --device cpu
        check "$chain of 720 MB takes $(<out) KiB" test "$(<out)" -lt 120000
        check "its size" test "$(gpuimg info --json out.tif | grep -c '"width": *[12]0000')" = 1
    done
    rm middle.ppm large.ppm out.tif
fi
finish
