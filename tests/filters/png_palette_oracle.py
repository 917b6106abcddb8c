"""PNGs with a palette or with 1, 2 and 4 bits, as Pillow and pngcheck read them: which images get them, and that pixels,
transparency, backgrounds and significant bits survive.

Sources: imgio/png/png_palette.* imgio/png/png_write.c imgio/png/png_parts.* imgio/save.c cli/run/imaging_work.c
"""
import os
import shutil
import struct
import subprocess
import zlib

from _common import Checks, need, np, png_chunk

(Image,) = need("PIL.Image")
c = Checks()
os.chdir(c.folder.name)
PNGCHECK = shutil.which("pngcheck")
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6


def kind(path):
    """Bits and colour type."""
    head = open(path, "rb").read(26)
    return head[24], head[25]


def chunks(path):
    data, at, found = open(path, "rb").read(), 8, {}
    while at < len(data):
        n, name = struct.unpack(">I4s", data[at:at + 8])
        found.setdefault(name.decode(), data[at + 8:at + 8 + n])
        at += 12 + n
    return found


def add_chunk(path, name, data):
    """Puts a chunk behind IHDR or, for bKGD, in front of the pixels."""
    file = open(path, "rb").read()
    at = file.index(b"IDAT") - 4 if name == b"bKGD" else 33
    open(path, "wb").write(file[:at] + png_chunk(name, data) + file[at:])


def pixels(path, mode):
    with Image.open(path) as image:
        return np.asarray(image.convert(mode))


def sound(name, path):
    if PNGCHECK:
        c.check(f"{name}: pngcheck", subprocess.run(["pngcheck", "-q", path], capture_output=True).returncode == 0)


def flip(name, source, mode, want, *args):
    c.run("flip", "--h", source, "made.png", *args)
    c.check(f"{name}: bits and colour type", kind("made.png") == want, kind("made.png"))
    c.check(f"{name}: pixels", np.array_equal(pixels("made.png", mode)[:, ::-1], pixels(source, mode)))
    c.run("flip", "--h", source, "plain.png", "--palette", "never")
    c.run("flip", "--h", source, "same.pam")
    c.run("convert", "made.png", "other.pam", "--force")
    c.check(f"{name}: --palette never", kind("plain.png")[0] == 8 and kind("plain.png")[1] != PALETTE, kind("plain.png"))
    c.check(f"{name}: read back by ourselves", open("same.pam", "rb").read() == open("other.pam", "rb").read())
    sound(name, "made.png")


def bits_of(n):
    return 1 if n <= 2 else 2 if n <= 4 else 4 if n <= 16 else 8


def distinct(n):
    """n different colours."""
    return c.rng.choice(256 ** 3, n, replace=False, shuffle=False).astype(np.uint32).view(np.uint8).reshape(-1, 4)[:, :3]


def indexed(n, shape=(41, 53)):
    image = Image.fromarray(c.rng.integers(0, n, shape).astype(np.uint8), "P")
    image.putpalette(distinct(256).tobytes())
    return image


def bits_of_entries(path):
    return bits_of(len(chunks(path)["PLTE"]) // 3)


for n in 1, 2, 3, 4, 5, 16, 17, 255, 256:
    for mode in "RGB", "RGBA":
        alpha = {"transparency": bytes(c.rng.integers(0, 256, min(n, 20)).astype(np.uint8))} if mode == "RGBA" else {}
        indexed(n).save("in.png", **alpha)
        used = len(np.unique(pixels("in.png", mode).reshape(-1, len(mode)), axis=0))
        flip(f"{n} colours, {mode}", "in.png", mode, (bits_of_entries("in.png"), PALETTE))
        c.check(f"{n} colours, {mode}: the entries", chunks("made.png")["PLTE"] == chunks("in.png")["PLTE"])
        tail = chunks("made.png").get("tRNS", b"").rstrip(b"\xff") == chunks("in.png").get("tRNS", b"").rstrip(b"\xff")
        c.check(f"{n} colours, {mode}: their alpha", tail)
        Image.fromarray(pixels("in.png", mode)).save("rgb.png")
        flip(f"{n} colours, {mode} without a palette", "rgb.png", mode, (bits_of(used), PALETTE), "--palette", "always")
        if alpha:
            c.check(f"{n} colours: tRNS ends at the last entry with alpha", len(chunks("made.png")["tRNS"]) <= min(used, 20))

for bits in 1, 2, 4:
    full = 2 ** bits - 1
    levels = c.rng.integers(0, full + 1, (23, 37)).astype(np.uint8)
    open("in.pgm", "wb").write(b"P5 37 23 %d\n" % full + levels.tobytes())
    Image.fromarray((levels * (255 // full)).astype(np.uint8)).save("in8.png")
    flip(f"{bits} bits", "in.pgm", "L", (bits, GRAY))
    flip(f"{bits} bits of 8", "in8.png", "L", (8, GRAY))
    flip(f"{bits} bits, always", "in8.png", "L", (bits, GRAY), "--palette", "always")
    flip(f"{bits} bits, --depth 8", "in.pgm", "L", (8, GRAY), "--depth", "8")
Image.fromarray(levels * 17).save("in.gif")
flip("a gray GIF", "in.gif", "L", (4, GRAY))
packed = np.pad(levels, ((0, 0), (0, 1)))
rows = np.insert(packed[:, ::2] << 4 | packed[:, 1::2], 0, 0, axis=1)
with open("in.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 37, 23, 4, GRAY, 0, 0, 0)))
    file.write(png_chunk(b"tRNS", b"\0\5") + png_chunk(b"IDAT", zlib.compress(rows.tobytes())) + png_chunk(b"IEND", b""))
shown = pixels("in.png", "LA")
c.run("flip", "--h", "in.png", "made.png")
c.check("4 bits with a transparent gray", kind("made.png") == (4, GRAY) and "tRNS" in chunks("made.png"), kind("made.png"))
c.check("4 bits: transparent pixels", np.array_equal(pixels("made.png", "LA")[:, ::-1], shown))

# more colours than a palette holds
indexed(200).save("in.png")
c.run("gaussian", "in.png", "made.png", "--sigma", "3")
c.check("a blurred palette is RGB", kind("made.png") == (8, RGB), kind("made.png"))
many = distinct(257)
for n, want in (256, PALETTE), (257, RGB):
    Image.fromarray(many[None, :n]).save("in.png")
    c.run("convert", "in.png", "made.png", "--force")
    c.check(f"{n} colours of RGB stay RGB", kind("made.png") == (8, RGB), kind("made.png"))
    got = c.result("convert", "in.png", "made.png", "--force", "--palette", "always")
    c.check(f"{n} colours, always", (got.returncode == 0) == (want == PALETTE) and kind("made.png") == (8, want), got.stderr)
c.check("257 colours: the message", "more than 256 colours, want gpuimg quantize" in got.stderr, got.stderr)
Image.fromarray(c.rng.integers(0, 65536, (5, 6)).astype(np.uint16)).save("in.png")
got = c.result("convert", "in.png", "made.png", "--force", "--palette", "always")
c.check("16 bits, always", got.returncode == 1 and "want --depth 8" in got.stderr, got.stderr)

# operations that keep colours, and quantize
indexed(16, (60, 80)).save("in.png")
for i, args in enumerate((("crop", "--size", "31x17+3+5"), ("resize", "--size", "200x100", "--filter", "nearest"), ("convert",), ("rotate", "--angle", "90"))):
    made = f"made{i}.png"
    c.run(args[0], "in.png", made, *args[1:])
    c.check(f"{args}", kind(made) == kind("in.png"), kind(made))
c.check("no larger than Pillow's", os.path.getsize(made) < 1.05 * os.path.getsize("in.png"))
Image.fromarray(c.rng.integers(0, 256, (50, 60, 4)).astype(np.uint8)).convert("RGB").save("in.png")
for n in 2, 7, 256:
    c.run("quantize", "in.png", "made.png", "--colors", n)
    c.check(f"quantize to {n}", kind("made.png") == (bits_of(n), PALETTE), kind("made.png"))
    sound(f"quantize to {n}", "made.png")
c.run("run", "quantize --colors 4 | flip --h", "in.png", "made.png")
c.check("quantize in a chain", kind("made.png") == (2, PALETTE), kind("made.png"))
c.run("quantize", "in.png", "made.png", "--colors", "4", "--palette", "never")
c.check("quantize, never", kind("made.png") == (8, RGB), kind("made.png"))

# chunks: the background is an entry of the palette, also if no pixel has it
image = indexed(16)
image.save("in.png")
add_chunk("in.png", b"bKGD", b"\x09")
add_chunk("in.png", b"sBIT", b"\x05\x06\x05")
where = c.rng.integers(0, 8, (41, 53)).astype(np.uint8)
image.paste(Image.fromarray(where, "P"))
background = list(image.getpalette()[27:30])
image.save("few.png")
add_chunk("few.png", b"bKGD", b"\x09")
for source, n in ("in.png", 16), ("few.png", 9):
    flip(source, source, "RGB", kind(source), "--strict")
    found = chunks("made.png")
    c.check(f"{source}: the background", found["bKGD"] == b"\x09" and found["PLTE"] == chunks(source)["PLTE"])
    c.check(f"{source}: significant bits", found.get("sBIT") == (b"\x05\x06\x05" if n == 16 else None))
    Image.fromarray(pixels(source, "RGB")).save("rgb.png")
    add_chunk("rgb.png", b"bKGD", struct.pack(">3H", *background))
    flip(f"{source} without a palette", "rgb.png", "RGB", (4, PALETTE), "--strict", "--palette", "always")
    found = chunks("made.png")
    at = 3 * found["bKGD"][0]
    c.check(f"{source}: the added background", list(found["PLTE"][at:at + 3]) == background and len(found["PLTE"]) == 3 * n)

# the same bytes at all numbers of threads, in a stream and in a batch
indexed(200, (900, 1300)).save("in.png")
wants = set()
for threads in 1, 2, 5:
    c.run("flip", "--v", "in.png", "made.png", "--threads", threads)
    wants.add(open("made.png", "rb").read())
c.run("flip", "--v", "in.png", "--out-dir", "folder")
wants.add(open("folder/in.png", "rb").read())
wants.add(c.run("flip", "--v", "in.png", "png:-"))
c.check("the same bytes", len(wants) == 1)
c.end()
