#!/bin/bash
# Y4M video: chroma is colour. Frames become images and images frames; ffmpeg and numpy say what they have to be.
# Sources: cli/inputs/video cli/inputs/video_frames imgio/y4m/y4m_rgb cli/commands/pages
. "$(dirname "$0")/../lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
if ! "$python" -c 'import PIL, numpy' 2>/dev/null; then
    skip "video: Python has no Pillow and numpy"
    finish
    exit
fi
# frames(FILE) reads the planes of each frame; rgb() converts one frame in double precision.
cat >helpers.py <<'END'
import numpy as np
from PIL import Image
def frames(file):
    head, data = open(file, "rb").read().split(b"\n", 1)
    words = {w[:1]: w[1:].decode() for w in head.split()[1:] if w[:1] != b"X"}
    w, h, kind = int(words[b"W"]), int(words[b"H"]), words[b"C"]
    deep = "p1" in kind
    sx, sy = {"420": (2, 2), "422": (2, 1), "444": (1, 1), "mon": (0, 0)}[kind[:3]]
    shapes = [(h, w)] + ([(-(-h // sy), -(-w // sx))] * 2 if sx else [])
    made = []
    while data:
        line, data = data.split(b"\n", 1)
        planes = []
        for shape in shapes:
            n = shape[0] * shape[1]
            planes.append(np.frombuffer(data[:n * (1 + deep)], "<u2" if deep else np.uint8).reshape(shape))
            data = data[n * (1 + deep):]
        made.append(planes)
    return made
def write(file, made, kind="420jpeg", more=""):
    h, w = made[0][0].shape
    with open(file, "wb") as out:
        out.write(f"YUV4MPEG2 W{w} H{h} F25:1 C{kind}{more}\n".encode())
        for planes in made:
            out.write(b"FRAME\n" + b"".join(p.tobytes() for p in planes))
def rgb(planes, bits=8, hd=False, full=False):
    y, cb, cr = [p.astype(float) for p in planes]
    up = lambda c: np.repeat(np.repeat(c, -(-y.shape[0] // c.shape[0]), 0), -(-y.shape[1] // c.shape[1]), 1)[:y.shape[0], :y.shape[1]]
    s = 1 << (bits - 8)
    most = (1 << bits) - 1
    y = y / most if full else (y - 16 * s) / (219 * s)
    cb, cr = [(up(c) - 128 * s) / (most if full else 224 * s) for c in (cb, cr)]
    kr, kb = (0.2126, 0.0722) if hd else (0.299, 0.114)
    r, b = y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb
    return np.clip(np.stack([r, (y - kr * r - kb * b) / (1 - kr - kb), b], -1), 0, 1)
r = np.random.default_rng(3)
def random_frames(h, w, n, top=256, sub=2):
    t = np.uint8 if top == 256 else np.dtype("<u2")
    c = (-(-h // sub), -(-w // sub))
    return [[r.integers(0, top, (h, w)).astype(t), r.integers(0, top, c).astype(t), r.integers(0, top, c).astype(t)] for _ in range(n)]
END
. "$tests/python.sh"

# Frames as images: size and header choose the matrix.
py 'write("in.y4m", random_frames(35, 41, 3)); write("hd.y4m", random_frames(720, 16, 1)); write("deep.y4m", random_frames(8, 10, 2, 1024), "420p10")
write("named.y4m", random_frames(8, 10, 1), "420jpeg", " XMATRIX=709"); write("full.y4m", random_frames(8, 10, 1), "420jpeg", " XCOLORRANGE=FULL")
write("444.y4m", random_frames(9, 7, 1, 256, 1), "444")'
for video in in hd deep named full 444; do
    expect 0 gpuimg convert $video.y4m "$video-{index}.png"
done
holds "BT.601" 'all(np.abs(np.array(Image.open(f"in-{i + 1}.png")) - rgb(f) * 255).max() < 0.51 for i, f in enumerate(frames("in.y4m")))'
holds "BT.709 from 720 rows on" 'np.abs(np.array(Image.open("hd-1.png")) - rgb(frames("hd.y4m")[0], hd=True) * 255).max() < 0.51'
holds "BT.709 by the header" 'np.abs(np.array(Image.open("named-1.png")) - rgb(frames("named.y4m")[0], hd=True) * 255).max() < 0.51'
holds "full range" 'np.abs(np.array(Image.open("full-1.png")) - rgb(frames("full.y4m")[0], full=True) * 255).max() < 0.51'
holds "4:4:4" 'np.abs(np.array(Image.open("444-1.png")) - rgb(frames("444.y4m")[0]) * 255).max() < 0.51'
expect 0 gpuimg convert deep.y4m deep.tif
expect 0 gpuimg convert 'deep.tif[1]' deep.ppm
holds "10 bits become 16" 'np.abs(np.frombuffer(open("deep.ppm", "rb").read()[-480:], ">u2").reshape(8, 10, 3) - rgb(frames("deep.y4m")[1], 10) * 65535).max() < 0.51'
check "frames of a pipe" sh -c 'cat in.y4m | "$0" convert - "pipe-{index:03}.png" && cmp pipe-002.png in-2.png' "$GPUIMG"
check "frames into a pipe" sh -c '"$0" convert in.y4m png:- | "$0" convert - "again-{index}.png" && cmp again-1.png in-1.png' "$GPUIMG"
expect 0 gpuimg run 'invert | flip --h' in.y4m 'c{index}.png'
holds "a chain on frames" '(np.array(Image.open("c1.png")) == 255 - np.array(Image.open("in-1.png"))[:, ::-1]).all()'
expect_error 1 "convert: in.y4m: is a Y4M video: *'NAME-{index}.png'" convert in.y4m made.png
expect_error 1 'stats: in.y4m: holds several images: want --table FILE, with rows for each' stats in.y4m
if command -v ffmpeg >/dev/null; then
    ffmpeg -v error -f lavfi -i testsrc2=size=322x180:rate=25 -frames:v 3 -pix_fmt yuv420p test.y4m
    ffmpeg -v error -i test.y4m -pix_fmt rgb24 -sws_flags neighbor+accurate_rnd+full_chroma_int ff-%d.png
    gpuimg convert test.y4m 'test-{index}.png'
    expect 0 gpuimg compare test-3.png ff-3.png --max-diff 1
else
    skip "video: no ffmpeg"
fi

# Images as frames.
py 'for i in range(3): Image.fromarray(np.repeat(np.repeat(r.integers(60, 190, (10, 12, 3), dtype=np.uint8), 2, 0), 2, 1)).save(f"p{i}.png")
Image.fromarray(r.integers(0, 255, (20, 24), dtype=np.uint8)).save("gray.png")'
expect 0 gpuimg pages p0.png p1.png p2.png --out made.y4m --fps 29.97
mv made.y4m out.y4m
check "the header" test "$(head -n 1 out.y4m)" = 'YUV4MPEG2 W24 H20 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED'
holds "frames are images again" 'all(np.abs(rgb(f) * 255 - np.array(Image.open(f"p{i}.png"))).max() < 2.5 for i, f in enumerate(frames("out.y4m")))'
expect 0 gpuimg pages gray.png gray.png --out mono.y4m
holds "gray gives luma" 'len(frames("mono.y4m")) == 2 and np.abs(frames("mono.y4m")[0][0] - (16 + np.array(Image.open("gray.png")).astype(float) * 219 / 255)).max() < 0.51'
expect 1 gpuimg pages p0.png in-1.png --out made.y4m
check "another size is named" grep -q 'pages: in-1.png: becomes a frame of 41 x 35, and those before it are 24 x 20' err
check "nothing is written then" test ! -e made.y4m
expect_error 2 'pages: --fps abc: want frames per second, as 25 or 30000/1001' pages p0.png --out made.y4m --fps abc

# Operations on brightness process luma.
expect 0 gpuimg edges in.y4m out.y4m
expect 0 gpuimg run 'gaussian | threshold --threshold 100' in.y4m out2.y4m
holds "edges: neutral chroma" 'all((f[1] == 128).all() and (f[2] == 128).all() for f in frames("out.y4m"))'
holds "threshold: black and white" 'set(np.unique(frames("out2.y4m")[2][0])) == {0, 255} and (frames("out2.y4m")[2][2] == 128).all()'
py 'Image.fromarray(frames("in.y4m")[1][0]).save("luma.png")'
expect 0 gpuimg edges luma.png edges.png
holds "edges: of luma" '(np.array(Image.open("edges.png")) == frames("out.y4m")[1][0]).all()'
for operation in gradient tophat blackhat background fill-holes clear-border 'remove-small --area 3' 'local-threshold --k 5'; do
    # shellcheck disable=SC2086 # an option may follow
    expect 0 gpuimg $operation in.y4m out.y4m
    gpuimg $operation luma.png plane.png
    holds "$operation: neutral chroma" 'all((f[1] == 128).all() and (f[2] == 128).all() for f in frames("out.y4m"))'
    holds "$operation: of luma" '(np.array(Image.open("plane.png")) == frames("out.y4m")[1][0]).all()'
done
expect 0 gpuimg edges deep.y4m out.y4m
holds "10 bits: neutral chroma" '(frames("out.y4m")[0][1] == 512).all()'

# Uncovered pixels are black, not green; colours are colours.
expect 0 gpuimg pad in.y4m out.y4m --size 61x55
holds "pad: neutral chroma" '(lambda f: (f[0][:9] == 16).all() and (f[1][:4] == 128).all() and (f[2][:4] == 128).all())(frames("out.y4m")[0])'
holds "pad: the size is that of luma" 'frames("out.y4m")[0][0].shape == (55, 61) and frames("out.y4m")[0][1].shape == (28, 31)'
expect 0 gpuimg rotate in.y4m out.y4m --angle 45
holds "rotate: neutral corners" '(lambda f: f[0][0, 0] == 16 and f[1][0, 0] == 128 and f[2][-1, -1] == 128)(frames("out.y4m")[0])'
expect 0 gpuimg blur in.y4m out.y4m --k 31 --border border
holds "blur: black outside is neutral" '(lambda f: np.abs(f[1][0, 0] - 128.0) < 40 and np.abs(f[2][0, 0] - 128.0) < 40)(frames("out.y4m")[0])'
expect 0 gpuimg resize 444.y4m out.y4m --size 30x30 --pad
holds "resize --pad: black is neutral" '(lambda f: f[0][0, 0] == 16 and f[1][0, 0] == 128 and f[2][0, 0] == 128)(frames("out.y4m")[0])'
py 'y = np.full((16, 16), 50, np.uint8); y[:, 4:] = 200; c = np.full((8, 8), 90, np.uint8); c[:, 6:] = 128; write("trim.y4m", [[y, c, c[::-1].copy()]])'
expect 0 gpuimg crop trim.y4m out.y4m --trim
expect 0 gpuimg convert trim.y4m 'trim-{index}.png'
gpuimg crop trim-1.png want.png --trim
gpuimg convert out.y4m 'trimmed-{index}.png'
holds "crop --trim: one rectangle for the frame" '(lambda a, b: a.shape == b.shape and np.abs(a.astype(int) - b).max() <= 40)(np.array(Image.open("trimmed-1.png")), np.array(Image.open("want.png")))'
expect 0 gpuimg convolve in.y4m out.y4m --kernel '0 0 0; 0 0 0; 0 0 0'
holds "convolve: black is neutral" '(lambda f: (f[0] == 16).all() and (f[1] == 128).all() and (f[2] == 128).all())(frames("out.y4m")[0])'
py 'write("gray.y4m", [[np.full((8, 8), 60, np.uint8), np.full((4, 4), 120, np.uint8), np.full((4, 4), 140, np.uint8)]])'
expect 0 gpuimg invert gray.y4m out.y4m
holds "invert: the negative of luma and chroma" 'all(np.abs(p - v).max() <= 1 for p, v in zip(frames("out.y4m")[0], (16 + 235.0 - 60, 256.0 - 120, 256.0 - 140)))'
expect 0 gpuimg run 'convert --gray' in.y4m out.y4m
holds "convert --gray: mono or neutral chroma" 'all(len(f) == 1 or np.abs(f[1].astype(int) - 128).max() <= 1 for f in frames("out.y4m"))'
expect 0 gpuimg color in.y4m out.y4m --saturation 0
holds "color: gray has neutral chroma" 'all(np.abs(f[1].astype(int) - 128).max() <= 1 for f in frames("out.y4m"))'
# Rectangles and sizes in pixels of luma: chroma gets half of them, plane by plane, where that is exact.
py 'r = np.random.default_rng(3); write("big.y4m", [[r.integers(16, 235, s).astype(np.uint8) for s in ((40, 60), (20, 30), (20, 30))] for _ in range(2)])'
slices() { echo "all((p == q[y // d:-(-(y + h) // d), x // d:-(-(x + w) // d)]).all() for f, g in zip(frames('out.y4m'), frames('big.y4m')) for p, q, d in zip(f, g, (1, 2, 2)) for x, y, w, h in [($1)])"; }
for rect in 30x20+10+6:10,6,30,20 31x13+10+6:10,6,31,13 50%x50%+10%+20%:6,8,30,20; do
    expect 0 gpuimg crop big.y4m out.y4m --size "${rect%:*}"
    check "crop ${rect%:*}: no warning" test ! -s err
    holds "crop ${rect%:*}: the samples of the rectangle" "$(slices "${rect#*:}")"
done
expect 0 gpuimg crop big.y4m out.y4m --size 32x20 --gravity center
holds "crop: a rectangle in the middle" "$(slices 14,10,32,20)"
expect 0 gpuimg crop big.y4m out.y4m --size 30x20+11+6
check "crop: chroma has no half pixels" grep -q 'warning: crop: big.y4m: the sizes of luma and chroma would not fit' err
expect 0 gpuimg run 'crop --size 40x20+20+20 | resize --size 20x10' big.y4m out.y4m
check "a chain of rectangles and sizes: no warning" test ! -s err
py 'for i, p in enumerate(frames("big.y4m")[1]): d = 1 + (i > 0); Image.fromarray(p[20 // d:, 20 // d:]).save(f"plane{i}.png")'
gpuimg resize plane0.png made0.png --size 20x10
for i in 1 2; do gpuimg resize plane$i.png made$i.png --size 10x5; done
holds "resize: each plane as an image" 'all((p == np.array(Image.open(f"made{i}.png"))).all() for i, p in enumerate(frames("out.y4m")[1]))'
expect 0 gpuimg resize in.y4m out.y4m --size 60x60 --no-enlarge
check "resize: no change of an odd size" test ! -s err
holds "resize: an odd size that stays keeps its samples" 'all((p == q).all() for f, g in zip(frames("out.y4m"), frames("in.y4m")) for p, q in zip(f, g))'
# Planes of a video of 720 rows keep the matrix of BT.709 in a smaller one, and those of a small video BT.601.
for rows in 720 360; do
    py "write('wide.y4m', [[np.full(($rows, 16), 90, np.uint8), np.full(($rows // 2, 8), 100, np.uint8), np.full(($rows // 2, 8), 190, np.uint8)]])"
    expect 0 gpuimg resize wide.y4m out.y4m --size 16x$((1080 - rows)) --stretch
    check "resize from $rows rows: the planes" test ! -s err
    gpuimg resize wide.y4m 'before-{index}.png' --size 100%
    gpuimg resize out.y4m 'after-{index}.png' --size 100%
    holds "resize from $rows rows: the same colours" 'Image.open("before-1.png").getpixel((3, 3)) == Image.open("after-1.png").getpixel((3, 3))'
done
expect 0 gpuimg resize wide.y4m out.y4m --size 16x180 --stretch
check "a matrix that the size means is not named" test "$(head -1 out.y4m)" = 'YUV4MPEG2 W16 H180 F25:1 C420jpeg'
# A transposition of 4:2:2 halves the other side of chroma, which the step after it has to know.
py 'write("side.y4m", [[np.full((32, 32), 128, np.uint8), np.tile(np.arange(90, 122, 2, dtype=np.uint8), (32, 1)), np.full((32, 16), 128, np.uint8)]], "422")'
expect 0 gpuimg run 'transpose | crop --size 16x8+0+8' side.y4m out.y4m
holds "transposed 4:2:2: the chroma of the rectangle" 'np.abs(frames("out.y4m")[0][1].astype(int) - (90 + (8 + np.arange(8)) // 2 * 2)[:, None]).max() <= 2'
check "transposed 4:2:2: a warning" grep -q 'warning: run: side.y4m: the sizes of luma and chroma would not fit' err
expect 0 gpuimg resize in.y4m out.y4m --size 21x11 --stretch
check "a size that chroma does not fit is told" grep -q 'warning: resize: in.y4m: the sizes of luma and chroma would not fit, so its frames go through as RGB, which rounds samples, 21 x 11 pixels of luma' err
holds "resize: in pixels of luma" '[p.shape for p in frames("out.y4m")[2]] == [(11, 21), (6, 11), (6, 11)]'
expect 0 gpuimg composite in.y4m out.y4m --with in-1.png
holds "composite" 'np.abs(rgb(frames("out.y4m")[1]) * 255 - rgb(frames("in.y4m")[0]) * 255).mean() < 40 and len(frames("out.y4m")) == 3'
expect 0 gpuimg gaussian in.y4m out.y4m --report r.jsonl
check "filters go plane by plane" test "$(grep -c '"channels": 3' r.jsonl)" -ge 3
finish
