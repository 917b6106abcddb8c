"""Animated GIF, WebP and PNG as frames: composed frames, delays and loops as Pillow has them, read and written; chains on every
frame; limits and damage.

Sources: imgio/frames.* imgio/animation.h imgio/joined* imgio/gif/gif_frames.* imgio/gif/gif_join.c imgio/gif/gif_part.* imgio/changes.* imgio/webp/webp_frames.* imgio/webp/webp_join.c imgio/png/png_frames.* imgio/png/png_join.c
"""
import json
import os
import shutil
import struct
import subprocess

from _common import Checks, need, np, png_chunk as chunk, read, write

(Image,) = need("PIL.Image")
(features,) = need("PIL.features")
c = Checks()
listed = c.run("list")
formats = [f for f in ("gif", "webp") if f.encode() + b" " in listed and (f == "gif" or features.check("webp_anim"))]
if not formats:
    c.skip("this build, this system or Pillow has no animations")
    c.end()


def frames_of(path):
    """Composed frames as RGBA, with 0 where they are transparent, delays in ms, and loops as Pillow has them."""
    frames, delays = [], []
    with Image.open(path) as image:
        for i in range(getattr(image, "n_frames", 1)):
            image.seek(i)
            frame = np.array(image.convert("RGBA"))
            frame[frame[:, :, 3] == 0] = 0
            frames.append(frame)
            delays.append(image.info.get("duration"))
        return frames, delays, image.info.get("loop")


def ours(path, n):
    """The frames as this program reads them, one by one."""
    frames = []
    for i in range(n):
        c.run("convert", f"{path}[{i}]", c.path("frame.pam"))
        frame = np.array(read(c.path("frame.pam")))
        if frame.shape[2] == 3:
            frame = np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)])
        frame[frame[:, :, 3] == 0] = 0
        frames.append(frame)
    return frames


def opaque(frame):
    """A frame as RGBA, with 0 where it is transparent."""
    if frame.shape[2] == 3:
        return np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)])
    return frame * (frame[:, :, 3:] > 0)


def near(a, b, tolerance=0):
    return len(a) == len(b) and all(x.shape == y.shape and np.abs(x.astype(int) - y).max() <= tolerance
                                    for x, y in zip(a, b))


def pictures(n, height, width, alphas):
    """A shape of few colours that moves over a background; `alphas` are those of pixels."""
    made = []
    for i in range(n):
        frame = np.zeros((height, width, 4), np.uint8)
        frame[:] = (90, 40, 10 * (i // 3), 255)
        y, x = c.rng.integers(0, height // 2), c.rng.integers(0, width // 2)
        frame[y:y + height // 3, x:x + width // 3, :3] = c.rng.integers(0, 256, 3)
        if len(alphas) > 1:
            frame[c.rng.integers(0, 2, (height, width)) == 0, 3] = c.rng.choice(alphas)
            frame[-1, -1, 3] = 0  # Pillow clears with a colour if a frame has none that is transparent
        made.append(frame)
    return made


def check_info(what, path, delays, plays):
    """Info reports what Pillow does, and that the frames are not lost."""
    told = json.loads(c.run("info", "--json", path))
    got, n = told["animation"], len(delays)
    c.check(f"{what}: info's frames", (told["images"], got["frames"], got["plays"]) == (n, n, plays), told)
    c.check(f"{what}: info's delays", np.allclose([got["delay_ms_min"], got["delay_ms_max"], got["duration_ms"]],
                                                  [min(delays), max(delays), sum(delays)], rtol=0, atol=n), (got, delays))
    c.check(f"{what}: the fate of the frames", [p["fate"] for p in told["parts"] if "frame" in p["name"]] == ["carried"], told)


def save(path, frames, **options):
    images = [Image.fromarray(f) for f in frames]
    images[0].save(path, save_all=True, append_images=images[1:], **options)


# Reading: what Pillow composes, with delays, loops and disposals; then the whole animation through a chain.
cases = {"gif": [([255], {"disposal": 1}), ([255, 0], {"disposal": 2}), ([255, 0], {"disposal": 2, "loop": 3}),
                 ([255], {"loop": 0})],
         "webp": [([255], {"lossless": True, "loop": 2}), ([255, 0, 77], {"lossless": True, "exact": True}),
                  ([255, 130], {"lossless": True, "kmin": 3, "kmax": 5, "minimize_size": True})]}
for name in formats:
    for alphas, options in cases[name]:
        n = int(c.rng.integers(2, 9))
        delays = [int(d) * 10 for d in c.rng.integers(2, 40, n)]
        path, made = c.path(f"a.{name}"), c.path(f"made.{name}")
        save(path, pictures(n, 31, 42, alphas), duration=delays, **options)
        frames, delays, loop = frames_of(path)
        what = f"{name}, {options}, alpha {alphas}"
        check_info(what, path, delays, 1 if loop is None else loop + (name == "gif" and loop > 0))  # GIF counts repetitions
        mine = ours(path, len(frames))
        c.check(f"{what}: frames that are read", near(mine, frames, 1), [np.abs(a.astype(int) - b).max((0, 1)) for a, b in zip(mine, frames)])
        got = c.result("run", "flip --h | flip --v", path, made, "--quality", "100")
        again, times, loops = frames_of(made)
        c.check(f"{what}: frames of a chain", near([f[::-1, ::-1] for f in again], frames, 1), got.stderr)
        c.check(f"{what}: delays and loops", times == delays and loops == loop, (times, delays, loops, loop))
        c.check(f"{what}: no warning", got.returncode == 0 and got.stderr == "", got.stderr)
        for threads in "1", "7":
            c.run("run", "flip --h | flip --v", path, c.path(f"other.{name}"), "--quality", "100", "--threads", threads)
            c.check(f"{what}: {threads} threads", open(made, "rb").read() == open(c.path(f"other.{name}"), "rb").read())
        c.run("convert", path, c.path("pages.tif"))
        c.run("convert", c.path("pages.tif"), c.path(f"back.{name}"), "--quality", "100", "--delay", "70", "--loop", "1")
        back, times, loops = frames_of(c.path(f"back.{name}"))
        c.check(f"{what}: by a TIFF, --delay, --loop", near(back, frames, 1) and times == [70] * len(frames)
                and loops == (None if name == "gif" else 1), (times, loops))

# Animated PNG. Pillow draws partly transparent pixels over others by a formula of its own.
for i, (alphas, options) in enumerate([([255], {"loop": 2}), ([255, 0], {"disposal": 1, "blend": 1}),
                                       ([255, 0, 90], {"disposal": 2, "blend": 0}), ([255, 0], {"disposal": 0, "blend": 1})]):
    made = pictures(6, 23, 30, alphas)
    delays = [int(d) for d in c.rng.integers(20, 400, 6)]
    save(c.path("a.png"), made, duration=delays, **options)
    frames, delays, loop = frames_of(c.path("a.png"))
    check_info(f"PNG, {options}", c.path("a.png"), delays, loop)
    c.check(f"PNG, {options}: one by one", near(ours(c.path("a.png"), len(frames)), frames, 1))
    c.run("convert", c.path("a.png"), c.path("png-{index}.pam"), "--threads", "5")
    c.check(f"PNG, {options}: several threads", near([opaque(read(c.path(f"png-{k + 1}.pam"))) for k in range(len(frames))], frames, 1))
    if "webp" in formats:
        c.run("convert", c.path("a.png"), c.path(f"png{i}.webp"), "--quality", "100")
        again, times, loops = frames_of(c.path(f"png{i}.webp"))
        c.check(f"PNG, {options}: a WebP", near(again, frames, 1) and loops == loop and
                all(abs(a - b) < 1 for a, b in zip(times, delays)), (times, delays, loops, loop))
    got = c.result("run", "flip --h | flip --v", c.path("a.png"), c.path(f"made{i}.apng"))
    again, times, loops = frames_of(c.path(f"made{i}.apng"))
    c.check(f"PNG, {options}: a PNG", near([f[::-1, ::-1] for f in again], frames, 1) and loops == loop and times == delays
            and got.stderr == "", (times, delays, loops, loop, got.stderr))
    with Image.open(c.path(f"made{i}.apng")) as image:
        c.check(f"PNG, {options}: the default image is the first frame", not image.default_image)
    c.run("convert", c.path("a.png[2]"), c.path(f"one{i}.png"))
    c.check(f"PNG, {options}: one frame", near(frames_of(c.path(f"one{i}.png"))[0], frames[2:3], 1)
            and b"acTL" not in open(c.path(f"one{i}.png"), "rb").read())

# Frames of several depths and channels in one PNG, with all samples, by ffmpeg; delays beyond 65 s; metadata of the first.
mixed = [c.rng.integers(0, 256, (9, 14)).astype(np.uint8), c.rng.integers(0, 2, (9, 14)).astype(np.uint8) * 255,
         c.rng.integers(0, 65536, (9, 14)).astype(np.uint16), c.rng.integers(0, 256, (9, 14, 3)).astype(np.uint8),
         np.dstack([c.rng.integers(0, 256, (9, 14, 3)), c.rng.integers(0, 2, (9, 14)) * 255]).astype(np.uint8)]
for kinds in (0, 1), (1, 0, 1), (0, 2), (3, 4, 3), (0, 3), (2, 4, 1), (4, 4):
    for k, kind in enumerate(kinds):
        write(c.path(f"mixed-{k}.pam"), mixed[kind])
        c.run("convert", c.path(f"mixed-{k}.pam"), c.path(f"mixed-{k}.png"))
    c.run("pages", *[c.path(f"mixed-{k}.png") for k in range(len(kinds))], "--out", c.path("mixed.png"), "--delay", "70000", "--loop", "3")
    wide = []
    for kind in kinds:
        frame = mixed[kind].astype(np.uint16) * (1 if mixed[kind].dtype == np.uint16 else 257)
        frame = frame if frame.ndim == 3 else np.dstack([frame] * 3)
        wide.append(frame if frame.shape[2] == 4 else np.dstack([frame, np.full(frame.shape[:2], 65535, np.uint16)]))
    _, times, loops = frames_of(c.path("mixed.png"))
    c.check(f"frames {kinds}: delay and loops", times == [70000] * len(kinds) and loops == 3, (times, loops))
    if shutil.which("ffmpeg"):
        deep = 2 in kinds
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", c.path("mixed.png"), "-vsync", "passthrough", "-f", "rawvideo",
                              "-pix_fmt", "rgba64le" if deep else "rgba", "-"], capture_output=True, check=True).stdout
        got = np.frombuffer(raw, np.uint16 if deep else np.uint8).reshape(-1, 9, 14, 4)
        wide = wide if deep else [f >> 8 for f in wide]
        c.check(f"frames {kinds}: samples by ffmpeg", len(got) == len(wide) and (got == np.array(wide)).all(),
                [np.abs(a.astype(int) - b).max((0, 1)) for a, b in zip(got, wide)])
    else:
        c.skip("ffmpeg is missing")
for mode in "L", "RGB":
    Image.fromarray(mixed[0]).convert(mode).save(c.path(f"dpi-{mode}.png"), dpi=(300, 300))
c.run("pages", c.path("dpi-L.png"), c.path("dpi-RGB.png"), "--out", c.path("dpi.png"))
# One palette for all frames, of 1 to 8 bits, if it holds their colours.
for n, alphas, more in (2, [255], 0), (5, [255, 0], 0), (40, [255, 0, 99], 0), (250, [255], 0), (200, [255, 0], 200):
    colors = c.rng.integers(0, 256, (n + more, 3)).astype(np.uint8)
    made = []
    for k in range(4):
        few = np.concatenate([colors[:n // (1 + k % 2)], colors[n:] if k % 2 else colors[:0]])
        frame = few[c.rng.integers(0, len(few), (21, 33))]
        if k == 2:  # the colours of a rectangle are those of the frame before beside it
            frame = made[1].copy()
            frame[5:9, 7:11, :3] = few[0]
        made.append(np.dstack([frame[..., :3], c.rng.choice(alphas, (21, 33)) if k != 2 else made[1][..., 3]]).astype(np.uint8))
    for k, frame in enumerate(made):
        write(c.path(f"few-{k}.pam"), frame if len(alphas) > 1 else frame[..., :3])
        few = len(np.unique(frame.reshape(-1, 4), axis=0)) <= 256
        c.run("convert", c.path(f"few-{k}.pam"), c.path(f"few-{k}.png"), *(["--palette", "always"] if few else []))
    c.run("pages", *[c.path(f"few-{k}.png") for k in range(4)], "--out", c.path("few.png"))
    frames, _, _ = frames_of(c.path("few.png"))
    c.check(f"{n} colours and {more} more, alpha {alphas}: frames", near(frames, [opaque(f) for f in made]))
    c.check(f"{n} colours and {more} more, alpha {alphas}: palette", (open(c.path("few.png"), "rb").read()[25] == 3) ==
            (len(np.unique(np.array(made).reshape(-1, 4), axis=0)) <= 256))
with Image.open(c.path("dpi.png")) as image:
    c.check("resolution", np.allclose(image.info["dpi"], 300, rtol=1e-3) and image.n_frames == 2, image.info)

# Frames by hand: rectangles, every disposal, interlaced order of none; composed here in plain loops.
def gif(width, height, frames, plays=b""):
    """`frames` are (left, top, indices, disposal, transparent index or None, delay); indices are below 4."""
    out = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81, 0, 0) + bytes([200, 0, 0, 0, 200, 0, 0, 0, 200, 9, 9, 9]) + plays
    for left, top, indices, disposal, hidden, delay in frames:
        out += b"!\xf9\4" + struct.pack("<BHBB", disposal << 2 | (hidden is not None), delay, hidden or 0, 0)
        h, w = indices.shape
        out += b"," + struct.pack("<HHHHB", left, top, w, h, 0) + b"\2"
        bits = at = 0
        for v in indices.ravel():  # a code to clear before each pixel, so that codes stay 3 bits long
            bits |= (4 | int(v) << 3) << at
            at += 6
        bits |= 5 << at
        data = bits.to_bytes((at + 10) // 8, "little")
        out += b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"
    return out + b";"


def compose(width, height, frames):
    colors = np.array([[200, 0, 0, 255], [0, 200, 0, 255], [0, 0, 200, 255], [9, 9, 9, 255]], np.uint8)
    canvas, made = np.zeros((height, width, 4), np.uint8), []
    for left, top, indices, disposal, hidden, _ in frames:
        before = canvas.copy()
        area = canvas[top:top + indices.shape[0], left:left + indices.shape[1]]
        shown = indices != hidden if hidden is not None else np.ones(indices.shape, bool)
        area[shown] = colors[indices][shown]
        made.append(canvas.copy())
        if disposal == 2:
            area[:] = 0
        if disposal == 3:
            canvas = before
    return made


if "gif" in formats:
    for i in range(12):
        frames = []
        for k in range(int(c.rng.integers(2, 12))):
            whole = k == 0 or c.rng.random() < 0.3
            left, top = (0, 0) if whole else c.rng.integers(0, 5, 2)
            w, h = (9, 7) if whole else (c.rng.integers(1, 10 - left), c.rng.integers(1, 8 - top))
            frames.append((int(left), int(top), c.rng.integers(0, 4, (h, w)), int(c.rng.integers(0, 4)),
                           [None, 0, 2][c.rng.integers(0, 3)], int(c.rng.integers(0, 300))))
        open(c.path("hand.gif"), "wb").write(gif(9, 7, frames))
        want = compose(9, 7, frames)
        c.check(f"GIF by hand {i}: one by one", near(ours(c.path("hand.gif"), len(frames)), want))
        c.run("convert", c.path("hand.gif"), c.path("hand-{index:03}.pam"), "--threads", "8")
        got = [np.array(read(c.path(f"hand-{k + 1:03}.pam"))) for k in range(len(frames))]
        got = [g if g.shape[2] == 4 else np.dstack([g, np.full(g.shape[:2], 255, np.uint8)]) for g in got]
        for g in got:
            g[g[:, :, 3] == 0] = 0
        c.check(f"GIF by hand {i}: by several threads", near(got, want))
        c.run("convert", c.path("hand.gif"), c.path("again.gif"), "--force")
        again, delays, _ = frames_of(c.path("again.gif"))
        if len(again) == len(frames):  # Pillow reads equal frames, too
            c.check(f"GIF by hand {i}: delays", [d or 0 for d in delays] == [10 * f[5] for f in frames], delays)
        c.run("convert", c.path("again.gif"), c.path("again-{index:03}.pam"))
        got = [np.array(read(c.path(f"again-{k + 1:03}.pam"))) for k in range(len(frames))]
        got = [g if g.shape[2] == 4 else np.dstack([g, np.full(g.shape[:2], 255, np.uint8)]) for g in got]
        c.check(f"GIF by hand {i}: written and read", near([g * (g[:, :, 3:] > 0) for g in got], want))

    # A frame has only the rectangle that changes: sizes near those of Pillow's optimised files, and below whole frames.
    def blocks(alpha, boxes):
        """Frames of one colour, or transparent ones, each with opaque boxes of (top, left, side, gray)."""
        made = []
        for few in boxes:
            frame = np.zeros((60, 80, 4), np.uint8)
            frame[:] = (30, 60, 90, alpha)
            for top, left, side, gray in few:
                frame[top:top + side, left:left + side] = (gray, gray, gray, 255)
            made.append(frame)
        return made

    for what, alpha, boxes in [
            ("a box moves", 255, [[(5, 3 * k, 9, 200)] for k in range(20)]),
            ("a box moves over nothing", 0, [[(5, 3 * k, 9, 200)] for k in range(20)]),
            ("boxes stay and go", 0, [[(9, 9, 20, 80)], [(9, 9, 30, 80), (15, 15, 4, 250)], [(50, 70, 3, 9)], [], [(0, 0, 60, 7)]]),
            ("nothing changes", 255, [[(5, 5, 9, 200)]] * 3),
            ("two corners change", 255, [[(0, 0, 2 + k, 9), (50, 70, 9 - k, 250)] for k in range(6)])]:
        made = blocks(alpha, boxes)
        for k, frame in enumerate(made):
            write(c.path(f"block-{k:02}.pam"), frame)
        c.run("pages", *[c.path(f"block-{k:02}.pam") for k in range(len(made))], "--out", c.path("blocks.gif"))
        c.check(f"{what}: read", near(ours(c.path("blocks.gif"), len(made)), [opaque(f) for f in made]))
        frames, _, _ = frames_of(c.path("blocks.gif"))
        c.check(f"{what}: Pillow", near(frames, [opaque(f) for f in made]))
        save(c.path("pillow.gif"), made, duration=100, loop=0, disposal=1 if alpha else 2)
        sizes = [os.path.getsize(c.path(name)) for name in ("blocks.gif", "pillow.gif")]
        c.check(f"{what}: size", sizes[0] <= 1.05 * sizes[1] + 60, sizes)  # Pillow leaves equal frames out
        c.run("flip", "--h", c.path("blocks.gif"), c.path("flipped.gif"))
        c.check(f"{what}: size if flipped", os.path.getsize(c.path("flipped.gif")) <= 1.1 * sizes[0], sizes)

    # limits and damage
    data = gif(9, 7, [(0, 0, np.full((7, 9), k % 4), 0, None, 5) for k in range(6)])
    for cut, text in (len(data) - 1, "it ends early"), (len(data) - 60, "it ends early"), (60, "ends early"):
        open(c.path("cut.gif"), "wb").write(data[:cut])
        got = c.result("convert", c.path("cut.gif"), c.path("cut.webp" if "webp" in formats else "cut.tif"))
        c.check(f"the first {cut} bytes", got.returncode == 1 and text in got.stderr and
                not os.path.exists(c.path("cut.webp")), got.stderr)
        got = c.result("convert", c.path("cut.gif"), c.path("cut.tif"), "--allow-partial")
        c.check(f"the first {cut} bytes: --allow-partial", got.returncode == 0 and "ends early" in got.stderr, got.stderr)
    third = [i for i in range(len(data)) if data[i:i + 5] == b",\0\0\0\0"][2] + 12
    open(c.path("bad.gif"), "wb").write(data[:third] + b"\xff" * 8 + data[third + 8:])
    got = c.result("convert", c.path("bad.gif"), c.path("bad.tif"))
    c.check("a damaged frame", got.returncode == 1 and "frame 2: is damaged" in got.stderr, got.stderr)
    got = c.result("convert", c.path("bad.gif"), c.path("bad.tif"), "--allow-partial")
    c.check("a damaged frame: --allow-partial", got.returncode == 0 and "frame 2: is damaged" in got.stderr, got.stderr)
    many = gif(65000, 65000, [(0, 0, np.zeros((1, 1), int), 0, None, 0)] * 500)
    open(c.path("many.gif"), "wb").write(many)
    got = c.result("convert", c.path("many.gif"), c.path("many.tif"))
    c.check("too many pixels", got.returncode == 1 and "--max-pixels" in got.stderr, got.stderr)
    open(c.path("sizes.gif"), "wb").write(data)
    got = c.result("convert", c.path("sizes.gif"), c.path("one.jpg"))
    c.check("one image", got.returncode == 0 and "only the first is read" in got.stderr, got.stderr)
    got = c.result("convert", c.path("sizes.gif[9]"), c.path("one.jpg"))
    c.check("no such frame", got.returncode == 1 and "holds 6 frames: want [0] to [5]" in got.stderr, got.stderr)
    write(c.path("small.ppm"), np.zeros((3, 4, 3), np.uint8))
    got = c.result("pages", c.path("small.ppm"), c.path("sizes.gif"), "--out", c.path("joined.gif"))
    c.check("frames of two sizes", got.returncode == 1 and "want frames of one size" in got.stderr, got.stderr)

# A video gives its rate.
if "gif" in formats:
    with open(c.path("v.y4m"), "wb") as f:
        f.write(b"YUV4MPEG2 W4 H4 F50:2 Ip C420jpeg\n" + b"".join(b"FRAME\n" + bytes([40 * i] * 16 + [128] * 8) for i in range(5)))
    c.run("convert", c.path("v.y4m"), c.path("v.gif"))
    frames, delays, loop = frames_of(c.path("v.gif"))
    c.check("a video", len(frames) == 5 and delays == [40] * 5 and loop == 0, (delays, loop))

# Lossy WebP stays near; a batch and a pipe keep animations, too.
if "webp" in formats and "gif" in formats:
    save(c.path("p.gif"), pictures(5, 40, 50, [255]), duration=60, loop=0)
    want, _, _ = frames_of(c.path("p.gif"))
    c.run("convert", c.path("p.gif"), c.path("p.webp"))
    back, delays, loop = frames_of(c.path("p.webp"))
    c.check("lossy WebP", near([b.mean((0, 1), keepdims=True) for b in back], [w.mean((0, 1), keepdims=True) for w in want], 3)
            and delays == [60] * len(want) and loop == 0)
    got = c.result("flip", "--v", c.path("p.gif"), c.path("p.webp"), "--out-dir", c.path("batch"))
    c.check("a batch", len(frames_of(c.path("batch/p.gif"))[0]) == len(want) and
            len(frames_of(c.path("batch/p.webp"))[0]) == len(want), got.stderr)
    got = c.result("flip", "--v", c.path("p.gif"), "--out-dir", c.path("batch"), "--suffix", ".png")
    c.check("a batch of PNGs", len(frames_of(c.path("batch/p.png"))[0]) == len(want) and
            "only the first" not in got.stderr, got.stderr)
    got = c.result("flip", "--v", c.path("p.gif"), "--out-dir", c.path("batch"), "--suffix", ".jpg")
    c.check("a batch of single images", "only the first is read" in got.stderr, got.stderr)

# Times that an output does not hold are named: those of pages, fractions of 10 ms in a GIF, fractions of 1 ms of a PNG. So is
# the picture of a PNG that is no frame.
if "gif" in formats:
    three = pictures(3, 9, 8, [255])
    for delays, kinds, words, named in (([70, 130, 20], "gif png", [], None), ([70, 130, 20], "tif", [], "delays and loops"),
                                        ([33, 40, 50], "gif", [], "the exact delays"), ([33, 40, 50], "png", [], None),
                                        ([33, 40, 50], "gif", ["--delay", "40"], None)):
        save(c.path("t.png"), three, duration=delays, loop=2)
        for kind in kinds.split():
            got = c.result("invert", c.path("t.png"), c.path(f"t-out.{kind}"), *words)
            strict = c.result("invert", c.path("t.png"), c.path(f"t-strict.{kind}"), *words, "--strict")
            c.check(f"{delays} in {kind} {words}", (strict.returncode == 1) == bool(named) and (named or "") in got.stderr
                    and bool(got.stderr) == bool(named), got.stderr)
    got = c.result("invert", c.path("t.png[1]"), c.path("one.png"), "--strict")
    c.check("a frame that is asked for has no time", got.returncode == 0, got.stderr)
    save(c.path("t.png"), three, duration=40, loop=2, default_image=True)
    got = c.result("invert", c.path("t.png"), c.path("t-out.png"))
    c.check("a picture that is no frame is named", "not read: picture for viewers without animation" in got.stderr, got.stderr)
    data = open(c.path("t.png"), "rb").read()
    save(c.path("t.png"), three, duration=40, loop=2)
    data = open(c.path("t.png"), "rb").read()
    at = data.index(b"fcTL")
    control = data[at + 4:at + 24] + struct.pack(">HH", 1, 60) + data[at + 28:at + 30]
    open(c.path("t.png"), "wb").write(data[:at - 4] + chunk(b"fcTL", control) + data[at + 34:])
    got = c.result("invert", c.path("t.png"), c.path("t-out.png"))
    c.check("a sixtieth of a second is named", "fraction of a millisecond of the delay" in got.stderr, got.stderr)
    save(c.path("t.gif"), three, duration=40, loop=2)
    c.run("invert", c.path("t.gif"), c.path("plain.gif"))
    save(c.path("t.gif"), three, duration=40, loop=2, comment=b"hello" * 99)
    got = c.result("invert", c.path("t.gif"), c.path("t-out.gif"), "--strict")
    plain, data = open(c.path("plain.gif"), "rb").read(), open(c.path("t-out.gif"), "rb").read()
    comment = b"!\xfe\xff" + (b"hello" * 99)[:255] + b"\xf0" + (b"hello" * 99)[255:] + b"\0"
    c.check("a comment of an animation is written once", got.returncode == 0 and data.count(comment) == 1, got.stderr)
    c.check("and changes nothing else", data.replace(comment, b"") == plain)
    for kind in ("gif", "png", "webp"):
        for i, words in enumerate((b"first", b"second", b"first")):
            data = open(c.path("one.png"), "rb").read()
            data = data[:33] + chunk(b"tEXt", b"Comment\0" + words) + chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x>" + words) + data[33:]
            open(c.path(f"text{i}.png"), "wb").write(data)
        names = [c.path(f"text{i}.png") for i in range(3)]
        made = c.path(f"texts.{kind}")
        got = c.result("pages", *names, "--out", made)
        lost = "of later frames: XMP" + (", texts" if kind != "webp" else "")
        c.check(f"{kind}: metadata of later frames are named", got.returncode == 0 and lost in got.stderr and os.path.exists(made), got.stderr)
        got = c.result("pages", *names, "--out", c.path(f"strict.{kind}"), "--strict")
        c.check(f"{kind}: with --strict an error", got.returncode == 1 and not os.path.exists(c.path(f"strict.{kind}")), got.stderr)
        got = c.result("pages", names[0], names[2], "--out", c.path(f"same.{kind}"))
        c.check(f"{kind}: equal metadata are kept", "later frames" not in got.stderr, got.stderr)
    # An animated PNG has the colour chunks of its first frame alone.
    data = open(c.path("one.png"), "rb").read()
    colors = {"none": b"", "srgb": chunk(b"sRGB", b"\0"), "linear": chunk(b"gAMA", struct.pack(">I", 100000)),
              "bt2020": chunk(b"cICP", bytes((9, 13, 0, 1)))}
    for name, chunks in colors.items():
        open(c.path(f"color-{name}.png"), "wb").write(data[:33] + chunks + data[33:])
    for first, later, lost in (("none", "srgb", False), ("none", "linear", True), ("linear", "linear", False), ("linear", "none", False),
                               ("linear", "bt2020", True), ("bt2020", "bt2020", False), ("linear", "srgb", True),
                               ("bt2020", "srgb", True), ("srgb", "srgb", False), ("srgb", "none", False)):
        got = c.result("pages", c.path(f"color-{first}.png"), c.path(f"color-{later}.png"), "--out", c.path("colors.apng"))
        c.check(f"the colour {later} after {first} is named if it is lost",
                ("of later frames: the colour (gAMA, cHRM, cICP)" in got.stderr) == lost and got.returncode == 0, got.stderr)
c.end()
