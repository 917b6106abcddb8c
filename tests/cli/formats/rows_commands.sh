#!/bin/bash
# Large images are converted and analysed in bands of rows: with the bytes and the messages of whole images, and with bounded memory.
# --verbose says why an image needs more memory. Usage: rows_commands.sh GPUIMG
# Sources: cli/run/imaging_rows* cli/run/file_rows* cli/inputs/tables* cli/commands/compare_rows*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export GPUIMG_DEVICE=cpu

noise() { head -c "$1" /dev/urandom; }
{ printf 'P6 301 211 255\n'; noise $((301 * 211 * 3)); } >a.ppm
{ printf 'P5 301 211 65535\n'; noise $((301 * 211 * 2)); } >b.pgm
{ printf 'P7\nWIDTH 301\nHEIGHT 211\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'; noise $((301 * 211 * 4)); } >c.pam
gpuimg convert a.ppm a.png --dpi 200
gpuimg convert b.pgm b.png
gpuimg convert c.pam c.png
gpuimg convert a.ppm a.jpg --quality 70
gpuimg convert a.ppm p.jpg --progressive
gpuimg convert a.ppm a.tif
gpuimg convert a.ppm plain.tif --compression 0
gpuimg convert a.ppm float.tif --depth float
gpuimg convert b.pgm b.npy
gpuimg threshold a.ppm bits.tif --gray --depth 1 2>/dev/null || gpuimg threshold b.pgm bits.tif --depth 1
gpuimg quantize a.ppm palette.png --colors 9
/usr/bin/python3 - <<'END'
import struct, zlib
png = open("a.png", "rb").read()
text = b"tEXtComment\0behind the pixels"
text = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
open("text.png", "wb").write(png[:-12] + text + png[-12:])

# Losses that only pixels show: samples outside 0 to 1, colours above their alpha, image data behind the pixels. And a bad tag.
width, height = 301, 211
with open("wide.pfm", "wb") as f:
    f.write(b"Pf\n%d %d\n-1.0\n" % (width, height) + struct.pack(f"<{width * height}f", *[i / 40000 for i in range(width * height)]))
def tiff(name, samples, extra, pixels):
    step = 20 * width * samples
    strips = [zlib.compress(pixels[i:i + step]) for i in range(0, len(pixels), step)]
    n, at = len(strips), 1000
    offsets = [at + sum(map(len, strips[:i])) for i in range(n)]
    tags = sorted([(256, 4, 1, width), (257, 4, 1, height), (258, 3, samples, 400 if samples > 2 else 8), (259, 3, 1, 8), (273, 4, n, 500),
                   (262, 3, 1, 2 if samples > 2 else 1), (277, 3, 1, samples), (278, 4, 1, 20), (279, 4, n, 600)] + extra)
    with open(name, "wb") as f:
        f.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4))
        f.write(bytes(400 - f.tell()) + struct.pack("<4H", 8, 8, 8, 8) + bytes(92) + struct.pack(f"<{n}I", *offsets))
        f.write(bytes(600 - f.tell()) + struct.pack(f"<{n}I", *map(len, strips)))
        f.write(bytes(at - f.tell()) + b"".join(strips))
colours = bytes(i % 251 for i in range(width * height * 4))
tiff("above.tif", 4, [(338, 3, 1, 1)], colours)
tiff("tag.tif", 1, [(296, 3, 2, 0x00020002)], colours[:width * height])
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with open("surplus.png", "wb") as f:
    f.write(png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
    f.write(chunk(b"IDAT", zlib.compress(bytes((width + 1) * (height + 1)))) + chunk(b"IEND", b""))
# A PNG with 1 MB of metadata, and with a first row that can't be decoded.
exif = b"MM\0*\0\0\0\x08" + bytes(1 << 20)
with open("damaged.png", "wb") as f:
    f.write(png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"eXIf", exif))
    f.write(chunk(b"IDAT", b"damaged") + chunk(b"IEND", b""))
END

# same COMMAND INPUT OUTPUT [OPTION...]: bands make the file, the messages and the exit status of the whole image. Sets `bands`.
same() {
    local command=$1 input=$2 output=$3
    shift 3
    rm -f "whole.$output" "res.$output"
    # shellcheck disable=SC2086
    gpuimg $command $input "whole.$output" "$@" >/dev/null 2>whole.err
    local status=$?
    # shellcheck disable=SC2086
    expect $status env GPUIMG_BAND_BYTES=40000 "$GPUIMG" $command $input "res.$output" "$@"
    check "$command $input $output $*: the messages" cmp <(sed "s/whole\.$output/res.$output/" whole.err) err
    ((status)) || check "$command $input $output $*: the bytes" cmp "whole.$output" "res.$output"
    ((status == 0)) || check "$command $input $output $*: no output" test ! -e "res.$output"
    rm -f "res.$output"
    # shellcheck disable=SC2086
    GPUIMG_BAND_BYTES=40000 gpuimg -v $command $input "res.$output" "$@" 2>err
    bands=$(grep -c 'in bands of' err)
}

# in_bands COMMAND INPUT OUTPUT [OPTION...]: as `same`, and bands are used.
in_bands() { same "$@"; check "$*: in bands" test "$bands" = 1; }

for input in a.ppm a.png a.jpg p.jpg a.tif plain.tif text.png; do
    for output in png jpg tif ppm; do
        in_bands 'convert --force' $input $output
    done
    in_bands 'convert --force' $input npy --depth 16
    in_bands 'convert --force' $input pgm --gray
    in_bands 'convert --force' $input png --strip --compression 3
    in_bands 'convert --force' $input jpg --quality keep
done
for input in b.png b.npy c.png; do
    in_bands 'convert --force' $input tif
    in_bands 'convert --force' $input png
done
in_bands 'convert --force' float.tif npy
# Other conversions need the whole image.
for options in '--linear --gray' '--profile srgb' '--max-file-size 20000' '--depth 8' '--background white'; do
    # shellcheck disable=SC2086
    same 'convert --force' c.png jpg $options
    # shellcheck disable=SC2086
    same 'convert --force' float.tif tif $options
done
for input in bits.tif palette.png; do
    for output in png tif; do same 'convert --force' $input $output; done
done
# A palette too, which a PNG of few colours gets.
for command in 'quantize --colors 9' 'run gaussian|quantize'; do
    same "$command" a.ppm png
    check "$command: a palette, without bands" test "$bands" = 0
    in_bands "$command" a.ppm png --palette never
    in_bands "$command" a.ppm tif
done
# Losses are named once, with the same words, and are errors of --strict.
for input in wide.pfm above.tif tag.tif surplus.png; do
    for command in convert 'flip --v' 'threshold --threshold otsu' stats; do
        for options in '' --strict '--work-depth 8' '--nodata 7'; do
            output=tif
            [[ $input != surplus.png ]] || output=png # a TIFF leaves room for the names of losses
            [[ $command != stats ]] || output=csv
            # shellcheck disable=SC2086
            same "$command" $input $output $options
        done
    done
done
same 'stats --work-depth 8' wide.pfm csv
check 'cut samples are counted in the whole image' grep -qx 'gpuimg: warning: stats: wide.pfm: .* cut off: 37 %' whole.err
same convert above.tif tif
check 'colours above their alpha are named' grep -q 'not read: colours above their alpha' whole.err
in_bands 'threshold --threshold otsu' tag.tif tif
check 'a bad tag is named once' test "$(grep -c 'has a bad tag' whole.err)" = 1
for command in 'flip --v' gaussian stats; do
    output=tif
    [[ $command != stats ]] || output=csv
    same "$command" tag.tif $output --nodata 7
    check "$command --nodata of a bad tag: the whole image, which is named once" test "$bands $(grep -c 'has a bad tag' whole.err)" = '0 1'
done
# So is a level on the scale of the file.
{ printf 'P5 301 211 4095\n'; head -c $((301 * 211 * 2)) /dev/zero; } >twelve.pgm
for level in 200 70000; do
    same "threshold --threshold $level" twelve.pgm tif
    same "threshold --threshold $level" twelve.pgm tif --nodata 7
done
same 'threshold --threshold 200' twelve.pgm tif
check 'a level on another scale is named once, in bands' test "$bands $(grep -c 'are read as' whole.err)" = '1 1'
expect 0 env GPUIMG_BAND_BYTES=40000 "$GPUIMG" tiles tag.tif tiles.dzi --nodata 7
check 'tiles --nodata: a bad tag is named once' test "$(grep -c 'has a bad tag' err)" = 1
in_bands 'flip --v' bits.tif tif
check 'one bit per pixel becomes 8' grep -q '1 bit per pixel becomes 8' whole.err
gpuimg flip --v bits.tif - >res.tif 2>err
check 'on standard output, too' grep -q '1 bit per pixel becomes 8' err
GPUIMG_BAND_BYTES=40000 gpuimg flip --v bits.tif - 2>&1 >whole.tif | cmp - err && cmp res.tif whole.tif && pass || fail 'in bands to standard output'
in_bands 'gaussian --sigma 2' bits.tif tif
check 'grays need 8 bits' test ! -s whole.err
# An analysis reads the rows, as often as it has passes, and is a step of a chain.
for input in a.ppm b.pgm c.pam a.png a.jpg a.tif plain.tif float.tif b.npy; do
    in_bands stats $input csv
    in_bands stats $input json --percentiles 1,50,99
    GPUIMG_BAND_BYTES=40000 gpuimg histogram $input --bins 64 --plot res.svg -v >out 2>err
    check "histogram of $input: in bands" grep -q 'in bands of' err
    gpuimg histogram $input --bins 64 --plot whole.svg | cmp - out && cmp whole.svg res.svg && pass || fail "histogram of $input"
    in_bands 'run gaussian|stats' $input csv
done
in_bands 'stats --opaque' c.pam csv
for chain in 'stats --to t.csv | invert' 'gaussian | histogram --to t.csv | resize --size 50%'; do
    gpuimg run "$chain" a.png whole.png && mv t.csv whole.csv
    expect 0 env GPUIMG_BAND_BYTES=40000 "$GPUIMG" run "$chain" a.png res.png -v
    check "$chain: in bands" grep -q 'in bands of' err
    check "$chain: the image" cmp res.png whole.png
    check "$chain: the table" cmp t.csv whole.csv
done
same 'stats --nodata 7' b.pgm csv
same 'stats --group-by row' b.pgm csv
same 'run fill-holes|stats' a.ppm csv
# Standard input and output.
for input in a.ppm a.png; do
    gpuimg stats $input >whole.txt
    # shellcheck disable=SC2002
    cat $input | GPUIMG_BAND_BYTES=40000 gpuimg stats - -v >res.txt 2>err
    check "stats of $input from a pipe: in bands" grep -q 'in bands of' err
    check "stats of $input from a pipe" cmp <(sed "s/^$input/-/" whole.txt) res.txt
    gpuimg convert $input whole.jpg
    # shellcheck disable=SC2002
    cat $input | GPUIMG_BAND_BYTES=40000 gpuimg convert - - --format jpg | cmp - whole.jpg && pass || fail "convert of $input in a pipe"
done
# Damage in the last rows: no output.
for file in a.png a.jpg a.tif; do
    head -c $(($(stat -c %s $file) * 9 / 10)) $file >cut.${file#*.}
    same convert cut.${file#*.} ppm
    same stats cut.${file#*.} csv
done

# Batches: images that need more than --memory.
mkdir in
pgm in/small.pgm 40 30
gpuimg resize --stretch --size 1500x1250 in/small.pgm in/large.pgm
gpuimg convert in/large.pgm in/coded.png
cp in/large.pgm in/cut.pgm
truncate -s -100 in/cut.pgm
for memory in 4G 1M; do
    expect 1 gpuimg stats in/* --table $memory.csv --total --memory $memory -v
    check "stats, --memory $memory" test "$(grep -c 'in bands of' err)" = "$([[ $memory = 4G ]] && echo 0 || echo 2)"
    grep '^gpuimg: stats: in/' err >$memory.err
    expect 1 gpuimg convert in/* --out-dir $memory --suffix .tif --memory $memory -v
    check "convert, --memory $memory" test "$(grep -c 'in bands of' err)" = "$([[ $memory = 4G ]] && echo 0 || echo 2)"
done
check "the tables are the same" cmp 4G.csv 1M.csv
check "the files are the same" diff -r 4G 1M

# Two images are compared row by row: pairs A B [OPTION...] prints the numbers and messages of whole images. Sets `bands`.
pairs() {
    gpuimg compare "$@" >whole.out 2>whole.err
    local status=$?
    GPUIMG_BAND_BYTES=40000 gpuimg compare "$@" >out 2>err
    check "compare $*: the exit status" test $? = $status
    check "compare $*: the numbers" cmp whole.out out
    check "compare $*: the messages" cmp whole.err err
    bands=$(GPUIMG_BAND_BYTES=40000 gpuimg -v compare "$@" 2>&1 >/dev/null | grep -c 'in bands of')
}
gpuimg gaussian a.ppm g.ppm
gpuimg gaussian b.pgm g16.png
gpuimg convert g.ppm g.png
gpuimg convert g.ppm g16.tif --depth 16
gpuimg gaussian float.tif gfloat.tif
gpuimg crop a.ppm part.ppm --size 301x210+0+0
n=0 # each third combination
for pair in 'a.ppm g.ppm' 'a.png g.ppm' 'a.jpg p.jpg' 'a.jpg g.png' 'b.pgm g16.png' 'a.tif g16.tif' 'g16.tif a.tif' 'float.tif gfloat.tif' 'float.tif a.ppm' \
    'c.pam c.png' 'c.pam a.ppm' 'a.ppm part.ppm' 'a.png cut.png' 'cut.jpg a.jpg' 'cut.tif a.tif' 'tag.tif tag.tif' 'tag.tif b.pgm' 'above.tif c.png' 'a.ppm none.ppm'; do
    for options in '--metric mse,psnr' '--metric differing --tolerance 30' --quiet '--quiet --max-diff 4' '--metric psnr --json' '--metric mse --nodata 7' \
        '--metric mse --visible' '--metric mse --gray' '--metric mse --ignore-region 9x9+3+3' '--metric ssim'; do
        ((n++ % 3 == 0)) || continue
        # shellcheck disable=SC2086
        pairs $pair $options
        want=1
        [[ $options != *--visible && $options != *--nodata* && $options != *--ignore* && $options != *ssim ]] || want=0
        [[ $pair != *[bt].pgm && $pair != *part* && $pair != *cut* && $pair != *none* && $pair != c.pam\ a* && $pair != *above* ]] || continue
        check "compare $pair $options: in bands" test "$bands" = $want
    done
done
pairs wide.pfm wide.pfm --metric mse,psnr
# The metadata of images whose first row is damaged are freed.
pairs damaged.png a.ppm --metric mse
pairs a.png damaged.png --metric mse
for pair in 'a.ppm a.png' 'tag.tif above.tif'; do
    # shellcheck disable=SC2086
    pairs $pair --metric mse --junit /dev/null --diff whole.png
done
if ! sanitized; then
    printf 'P6 4000 4000 255\n' >black.ppm
    { cat black.ppm; head -c 40000000 /dev/zero; head -c 8000000 /dev/zero | tr '\0' '\7'; } >grey.ppm
    truncate -s $((17 + 48000000)) black.ppm
    # Prints the memory of a command in KiB.
    cat >peak.py <<'END'
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=open("out", "w"), stderr=open("err", "w")).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code if sys.argv[1] != str(code) else 0)
END
    pairs black.ppm grey.ppm --metric mse,psnr
    peak=$(python3 peak.py 1 "$GPUIMG" compare black.ppm grey.ppm --metric mse,psnr) && pass || fail 'compare of 2 x 48 MB'
    check "the numbers of rows at the bottom" grep -Eq '^mse +8.16667 ' out
    check "compare of 2 x 48 MB takes $peak KiB" test "$peak" -lt 40000
    printf 'black.ppm\tgrey.ppm\na.ppm\tg.ppm\n' >pairs.txt
    gpuimg compare --pairs pairs.txt --metric mse --table want.csv 2>/dev/null
    peak=$(python3 peak.py 1 "$GPUIMG" compare --pairs pairs.txt --metric mse --table have.csv --memory 30M) && pass || fail 'compare --pairs'
    check "compare --pairs --memory 30M takes $peak KiB" test "$peak" -lt 60000
    check "compare --pairs in bands" cmp want.csv have.csv
    for _ in {1..50}; do printf 'damaged.png\ta.ppm\n'; done >pairs.txt
    pairs --pairs pairs.txt --metric mse --memory 100K
    peak=$(GPUIMG_BAND_BYTES=40000 python3 peak.py 2 "$GPUIMG" compare --pairs pairs.txt --metric mse --memory 100K) && pass || fail 'compare of 50 damaged images'
    check "compare of 50 damaged images takes $peak KiB" test "$peak" -lt 40000
fi

# Why an image takes more memory.
why() { # why REASON ARGUMENT...
    local reason=$1
    shift
    gpuimg "$@" -v --memory 100K >/dev/null 2>err
    check "why $* needs the whole image: $(grep 'the limit' err)" grep -qF "takes more memory than the limit, because $reason" err
}
gpuimg flip --h a.jpg turned.jpg --keep-orientation
why 'fill-holes needs the whole image' fill-holes b.pgm o.pgm
why 'its result can'\''t be written row by row' gaussian a.ppm o.tif --depth 16 --work-depth 8
why '--linear decodes it at once' gaussian a.ppm o.png --linear
why 'add has a further image' add a.ppm o.ppm --with a.ppm
why 'the times of its stages are measured' gaussian a.ppm o.ppm --timing

if sanitized; then
    skip 'memory of large images: a sanitizer needs memory of its own'
else
    cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
    printf 'P6 9000 9000 255\n' >large.ppm
    truncate -s $((17 + 9000 * 9000 * 3)) large.ppm
    for command in 'convert large.ppm o.png' 'convert large.ppm o.jpg' 'stats large.ppm' 'histogram large.ppm'; do
        # shellcheck disable=SC2086
        expect 0 python3 peak.py "$GPUIMG" $command --memory 60M
        check "$command of 243 MB takes $(<out) KiB" test "$(<out)" -lt 60000
    done
    # shellcheck disable=SC2002
    cat large.ppm | TMPDIR=. python3 peak.py "$GPUIMG" stats - --memory 60M >out
    check "stats of 243 MB from a pipe takes $(<out) KiB" test "$(<out)" -lt 75000
fi
finish
