#!/bin/bash
# A chain that begins with a crop reads only the strips, tiles and rows that have pixels of the rectangle: the samples are those of
# the whole image, whatever the file's layout, and a file of 4.4 GB takes little memory. Usage: rectangles.sh GPUIMG
# Sources: imgio/window* imgio/tiff/part* imgio/tiff/pixels* imgio/npy* imgio/pnm/pfm* imgio/pnm/pnm* filters/geometry/crop*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# Writes TIFFs of all layouts byte by byte: tiff(path, bits, samples, and what the keywords say).
cat >write.py <<'END'
import random, struct, zlib
def tiff(path, bits, samples, w=37, h=29, big=False, order="<", compression=1, planar=1, tile=None, rows=5, photometric=None,
         extra=None, form=1, orientation=1, palette=None, make=None, icc=None):
    random.seed(path)
    make = make or random.randbytes
    each = 1 if planar == 2 else samples
    across, tall = tile or (w, rows)
    pieces = []
    for plane in range(samples if planar == 2 else 1):
        for y in range(0, h, tall):
            for x in range(0, w, across):
                lines = tall if tile or y + tall <= h else h - y
                line = (across * each * bits + 7) // 8
                data = make(line * lines)
                pieces.append(zlib.compress(data) if compression == 8 else data)
    base = 16 if big else 8
    places, at = [], base
    for p in pieces:
        places.append(at)
        at += len(p) + len(p) % 2
    tags = [(256, 4, [w]), (257, 4, [h]), (258, 3, [bits] * samples), (259, 3, [compression]),
            (262, 3, [photometric if photometric is not None else 2 if samples >= 3 else 1]), (274, 3, [orientation]),
            (277, 3, [samples]), (284, 3, [planar]), (339, 3, [form] * samples)]
    tags += [(322, 4, [across]), (323, 4, [tall]), (324, 4, places), (325, 4, [len(p) for p in pieces])] if tile else \
            [(273, 4, places), (278, 4, [rows]), (279, 4, [len(p) for p in pieces])]
    tags += [(338, 3, extra)] if extra else []
    tags += [(320, 3, palette)] if palette else []
    tags.sort()
    count, each_entry, room = ("Q", 20, 8) if big else ("H", 12, 4)
    spare = at + (8 if big else 2) + each_entry * len(tags) + room
    head, more = struct.pack(order + count, len(tags)), b""
    for tag, kind, values in tags:
        data = struct.pack(order + ("H" if kind == 3 else "I") * len(values), *values)
        head += struct.pack(order + ("HHQ" if big else "HHI"), tag, kind, len(values))
        if len(data) > room:
            head += struct.pack(order + ("Q" if big else "I"), spare + len(more))
            more += data + b"\0" * (len(data) % 2)
        else:
            head += data.ljust(room, b"\0")
    with open(path, "wb") as f:
        mark = b"II" if order == "<" else b"MM"
        f.write(mark + (struct.pack(order + "HHHQ", 43, 8, 0, at) if big else struct.pack(order + "HI", 42, at)))
        for p in pieces:
            f.write(p + b"\0" * (len(p) % 2))
        f.write(head + struct.pack(order + ("Q" if big else "I"), 0) + more)
def floats(n):
    return struct.pack("<%df" % (n // 4), *[random.random() for _ in range(n // 4)])
END
cat >layouts.py <<'END'
import random, struct
from write import *
for order, name in ("<", "le"), (">", "be"):
    for bits in 1, 2, 4, 8, 12, 16:
        tiff(f"gray{bits}-{name}.tif", bits, 1, order=order)
    for compression in 1, 8:
        for tile in None, (16, 16):
            for planar in 1, 2:
                t = "tiles" if tile else "strips"
                tiff(f"rgb-{name}-{compression}-{t}-{planar}.tif", 8, 3, order=order, compression=compression, tile=tile, planar=planar)
                tiff(f"rgba16-{name}-{compression}-{t}-{planar}.tif", 16, 4, order=order, compression=compression, tile=tile,
                     planar=planar, extra=[2], big=True)
    tiff(f"float-{name}.tif", 32, 1, order=order, form=3, make=floats)
    tiff(f"signed-{name}.tif", 16, 1, order=order, form=2)
    tiff(f"wide-{name}.tif", 32, 1, order=order, form=1)
    tiff(f"double-{name}.tif", 64, 1, order=order, form=3, make=lambda n: bytes(n))
tiff("one-strip.tif", 8, 3, rows=29)
tiff("row-strips.tif", 8, 3, rows=1)
tiff("white-is-0.tif", 8, 1, photometric=0)
tiff("palette.tif", 4, 1, photometric=3, palette=[random.randrange(65536) for _ in range(48)])
tiff("premultiplied.tif", 8, 4, extra=[1])
tiff("cmyk.tif", 8, 4, photometric=5)
tiff("cmyk-planes.tif", 8, 4, photometric=5, planar=2)
tiff("bands.tiff", 8, 6, extra=[0, 0, 0])
for i in range(2, 9):
    tiff(f"orientation{i}.tif", 8, 3, orientation=i)
    tiff(f"orientation{i}-tiles.tif", 8, 3, orientation=i, tile=(16, 32), compression=8)
def raw(path, head, nbytes):
    with open(path, "wb") as f:
        f.write(head + (floats(nbytes) if path.endswith("pfm") else random.randbytes(nbytes)))
n = 37 * 29
raw("a.pgm", b"P5 37 29 255\n", n)
raw("b.pgm", b"P5 37 29 65535\n", 2 * n)
raw("c.ppm", b"P6 37 29 255\n", 3 * n)
raw("d.pam", b"P7\nWIDTH 37\nHEIGHT 29\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\n", 8 * n)
raw("e.pbm", b"P4 37 29\n", 5 * 29)
raw("f.pfm", b"Pf\n37 29\n-1\n", 4 * n)
raw("g.pfm", b"PF\n37 29\n-1\n", 12 * n)
import numpy
random_array = lambda kind, *shape: numpy.frombuffer(random.randbytes(200000), "u1")[:numpy.prod(shape) * 8].astype(kind)[:numpy.prod(shape)].reshape(shape)
for kind in "u1", "<u2", ">u2", "<f4", ">f4", "<i4", "?":
    numpy.save(f"h{kind[-2:].strip('?')}{kind[0] == '>'}{kind}.npy".replace(">", "b").replace("<", "l"), random_array(kind, 29, 37, 3))
numpy.save("i-fortran.npy", numpy.asfortranarray(random_array("u1", 29, 37)))
numpy.save("j-planes.npy", random_array("<f4", 3, 29, 37))
END
cat >same.py <<'END'
# usage: same.py GPUIMG FILE...: crops equal the rectangles of the whole images; prints the files of which they do not
import collections, shutil, subprocess, sys, numpy
def load(command, paths):
    shutil.rmtree("res", ignore_errors=True)
    done = subprocess.run([sys.argv[1], *command, *paths, "--out", "res/{index}.npy"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return [numpy.load(f"res/{i}.npy") for i in range(1, len(paths) + 1)]
def compare(paths, command, got, want):
    for path, a, b in zip(paths, got, want):
        if a.shape != b.shape or a.tobytes() != numpy.ascontiguousarray(b).tobytes():
            print("differs:", path, command)
groups = collections.defaultdict(list)
for path, whole in zip(sys.argv[2:], load(["flip", "--h"], sys.argv[2:])):
    groups[whole.shape[:2]].append((path, whole[:, ::-1]))
for (h, w), files in groups.items():
    paths, wholes = zip(*files)
    for text, x, y, cw, ch in (("3x2+1+1", 1, 1, 3, 2), (f"1x1+{w - 1}+{h - 1}", w - 1, h - 1, 1, 1), (f"{w}x1+0+{h - 1}", 0, h - 1, w, 1),
                               (f"1x{h}+{w - 1}+0", w - 1, 0, 1, h), ("17x13+11+8", 11, 8, 17, 13), ("7x4+0+15", 0, 15, 7, 4),
                               (f"{w}x{h}+0+0", 0, 0, w, h)):
        compare(paths, text, load(["crop", "--size", text], paths), [whole[y:y + ch, x:x + cw] for whole in wholes])
    for gravity, x, y in (("southeast", w - 5, h - 6), ("center", (w - 5) // 2, (h - 6) // 2)):
        chain = f"crop --size 5x6 --gravity {gravity} | crop --size 4x3+1+2 | invert | invert"
        compare(paths, chain, load(["run", chain], paths), load(["run", f"invert | invert | crop --size 4x3+{x + 1}+{y + 2}"], paths))
print(len(sys.argv) - 2, "files in", len(groups), "sizes")
END
/usr/bin/python3 layouts.py
expect 0 /usr/bin/python3 same.py "$GPUIMG" ./*.tif bands.tiff "bands.tiff[bands=6,1,3]" ./*.pgm ./*.ppm ./*.pam ./*.pbm ./*.pfm ./*.npy
check "parts of all files: $(head -c 600 out)" test "$(grep -c '^differs' out)" = 0 -a "$(tail -1 out | cut -d' ' -f1)" -gt 80
rm -rf ./*.npy res
# Conversions before the crop keep the place of the rectangle.
gpuimg flip --h c.ppm flipped.tif
for options in --linear '--nodata 7' '--depth float' --gray '--work-depth 16'; do
    # shellcheck disable=SC2086
    expect 0 gpuimg run 'crop --size 9x8+20+17 | gaussian --sigma 1' c.ppm out.tif $options
    # shellcheck disable=SC2086
    expect 0 gpuimg run 'flip --h | crop --size 9x8+20+17 | gaussian --sigma 1' flipped.tif want.tif $options
    check "a part with $options" cmp out.tif want.tif
done

# The report and errors name the whole image.
expect 0 gpuimg crop --size 3x2+1+1 one-strip.tif --out-dir parts --report r.json
check "the report names the size of the input" grep -q '"width": *37, *"height": *29' r.json
for f in one-strip.tif a.pgm; do
    expect_error 2 "crop: --size 30x2+10+1: extends past the image of 37 x 29 pixels: want a rectangle inside it, or --clip" \
        crop --size 30x2+10+1 $f made.png
done
# Damage is noticed where the rectangle is, and where the file is too short for its rows.
/usr/bin/python3 - <<'END'
data = bytearray(open("rgb-le-8-strips-1.tif", "rb").read())
data[16:40] = bytes(24) # the first strip
open("damaged.tif", "wb").write(data)
END
expect 0 gpuimg crop --size 30x2+1+20 damaged.tif out.png
gpuimg crop --size 30x2+1+20 rgb-le-8-strips-1.tif want.png
check "a strip beside the rectangle may be damaged" cmp out.png want.png
expect 1 gpuimg crop --size 30x2+1+2 damaged.tif made.png
check "damage in the rectangle is named by its row" grep -q 'damaged.tif: is damaged: .*, in row 4 of 29 ' err
expect 0 gpuimg crop --size 30x2+1+20 damaged.tif out.png --allow-partial
check "with --allow-partial the whole image is read" grep -q 'in row 4 of 29$' err
head -c 900 a.pgm >short.pgm
expect_error 1 'crop: short.pgm: ends early, in row 23 of 29 (--allow-partial takes what can be read)' crop --size 3x2+1+1 short.pgm made.png

# A sparse BigTIFF of 4.4 GB with one strip, with strips of 8 rows, and a .npy of that size.
cat >large.py <<'END'
import struct, sys
path, rows = sys.argv[1], int(sys.argv[2])
w, h = 40000, 37000
row, n = 3 * w, (h + rows - 1) // rows
def entry(tag, kind, count, value):
    return struct.pack("<HHQQ", tag, kind, count, value)
places = 4096
data = (places + 16 * n + 4095) // 4096 * 4096
at = [data + i * rows * row for i in range(n)]
size = [min(rows, h - i * rows) * row for i in range(n)]
tags = [entry(256, 4, 1, w), entry(257, 4, 1, h), struct.pack("<HHQHHHH", 258, 3, 3, 8, 8, 8, 0), entry(259, 3, 1, 1), entry(262, 3, 1, 2),
        entry(273, 16, n, at[0] if n == 1 else places), entry(277, 3, 1, 3), entry(278, 4, 1, rows),
        entry(279, 16, n, size[0] if n == 1 else places + 8 * n)]
with open(path, "wb") as f:
    f.write(struct.pack("<2sHHHQQ", b"II", 43, 8, 0, 16, len(tags)) + b"".join(tags) + bytes(8))
    if n > 1:
        f.seek(places)
        f.write(struct.pack("<%dQ" % (2 * n), *at, *size))
    f.seek(data + 20000 * row + 3 * 30000)
    f.write(bytes(range(30)))
    f.truncate(data + h * row)
END
cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
if sanitized; then
    skip "memory of a crop: a sanitizer needs memory of its own"
elif ! truncate -s 5G large.tif 2>/dev/null; then
    skip "memory of a crop: no file of 5 GB can be made here"
else
    rm large.tif
    for rows in 8 37000; do
        python3 large.py large.tif $rows
        expect 0 python3 peak.py "$GPUIMG" crop --size 10x1+30000+20000 large.tif out.ppm
        check "a crop of 4.4 GB, strips of $rows rows: $(<out) KiB" test "$(<out)" -lt 60000
        check "its samples, strips of $rows rows" test "$(tail -c 30 out.ppm | od -An -tu1 | tr -s ' \n' ' ')" = " $(seq -s ' ' 0 29) "
        rm large.tif
    done
    printf 'P6 40000 37000 255\n' >large.ppm
    truncate -s $((19 + 40000 * 37000 * 3)) large.ppm
    expect 0 python3 peak.py "$GPUIMG" run 'crop --size 50x50 --gravity southeast | gaussian' large.ppm out.ppm
    check "a crop of a PPM of 4.4 GB: $(<out) KiB" test "$(<out)" -lt 60000
    rm large.ppm
fi
finish
