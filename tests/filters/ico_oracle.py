"""Icons: those of Pillow as PNGs and as bitmaps of all depths, sizes by number, damaged files, and written ones as Pillow reads them.

Sources: imgio/ico/ico.* imgio/ico/ico_join.c cli/inputs/page_cursor.c
"""
import os
import struct

from _common import Checks, need, np, read, write

Image, PngImagePlugin = need("PIL.Image", "PIL.PngImagePlugin")
c = Checks()
os.chdir(c.folder.name)
SIZES = [(16, 16), (24, 24), (32, 32), (256, 256)]


def rgba(width, height):
    image = c.rng.integers(0, 256, (height, width, 4)).astype(np.uint8)
    image[: height // 2, :, 3] = 255
    return image


def ours(path, mode="RGBA"):
    c.run("convert", path, "ours.pam", "--force")
    image = read("ours.pam")
    return np.asarray(Image.fromarray(image).convert(mode))


def icon(*images):
    """A file of (width, height, bits, bytes)."""
    at, directory, data = 6 + 16 * len(images), b"", b""
    for width, height, bits, made in images:
        directory += struct.pack("<BBBBHHII", width % 256, height % 256, 0, 0, 1, bits, len(made), at + len(data))
        data += made
    return struct.pack("<HHH", 0, 1, len(images)) + directory + data


def bitmap(image, bits, hidden):
    """A bitmap with a mask: indices for up to 8 bits, otherwise samples."""
    height, width = image.shape[:2]
    colors = c.rng.integers(0, 256, (1 << bits, 4)).astype(np.uint8) if bits <= 8 else np.zeros((0, 4), np.uint8)
    colors[:, 3] = 0
    if bits <= 8:
        unpacked = (image[:, :, None] >> np.arange(bits - 1, -1, -1) & 1).reshape(height, -1).astype(np.uint8)
        rows = np.packbits(unpacked, axis=1)
    else:
        rows = image[:, :, [2, 1, 0, 3][: bits // 8]].reshape(height, -1)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4)))[::-1]
    mask = np.packbits(hidden, axis=1)
    mask = np.pad(mask, ((0, 0), (0, -mask.shape[1] % 4)))[::-1]
    head = struct.pack("<IiiHHIIiiII", 40, width, 2 * height, 1, bits, 0, 0, 0, 0, 0, 0)
    return head + colors.tobytes() + rows.tobytes() + mask.tobytes()


for kind in "png", "bmp":
    Image.fromarray(rgba(256, 256)).save("all.ico", sizes=SIZES, bitmap_format=kind)
    for i, size in enumerate(SIZES):
        with Image.open("all.ico") as image:
            image.size = size
            want = np.asarray(image.convert("RGBA"))
        c.check(f"{kind}: {size}", np.array_equal(ours(f"all.ico[{i}]"), want))
    got = c.result("convert", "all.ico", "largest.pam", "--force")
    c.check(f"{kind}: the largest", np.array_equal(read("largest.pam"), want) and "only the largest is read" in got.stderr, got.stderr)
    c.run("convert", "all.ico[0-3]", f"{kind}-{{page}}.png")
    c.check(f"{kind}: each in a file", [Image.open(f"{kind}-{i}.png").size for i in range(4)] == SIZES)
for bits in 1, 4, 8, 24, 32:
    for width, height in (1, 1), (33, 17), (48, 48):
        image = c.rng.integers(0, 1 << bits, (height, width)).astype(np.uint8) if bits <= 8 else rgba(width, height)
        open("one.ico", "wb").write(icon((width, height, bits, bitmap(image, bits, c.rng.integers(0, 2, (height, width))))))
        c.check(f"{bits} bits, {width} x {height}", np.array_equal(ours("one.ico"), np.asarray(Image.open("one.ico").convert("RGBA"))))
whole = open("one.ico", "rb").read()
for n in (*range(0, 70, 3), 100, len(whole) // 2):
    open("cut.ico", "wb").write(whole[:n])
    got = c.result("convert", "cut.ico", "cut.pam", "--force")
    c.check(f"cut to {n} bytes", got.returncode == 1 and got.stderr.startswith("gpuimg: ") and not os.path.exists("cut.pam"), got.stderr)
for width, height, bits in (0, 5, 8), (70000, 5, 8), (32000, 32000, 1), (5, 5, 16):
    made = struct.pack("<IIIHHIIiiII", 40, width, 2 * height, 1, bits, 0, 0, 0, 0, 0, 0) + bytes(99)
    open("bad.ico", "wb").write(icon((16, 16, bits, made)))
    got = c.result("convert", "bad.ico", "bad.pam")
    c.check(f"a header of {width} x {height}, {bits} bits", got.returncode == 1 and "bad.ico" in got.stderr, got.stderr)

for shape in (1, 1), (40, 31), (256, 256):
    for channels in 1, 2, 3, 4:
        image = c.rng.integers(0, 256, (*shape, channels)).astype(np.uint8)
        write("in.pam", image[:, :, 0] if channels == 1 else image)
        c.run("flip", "--v", "in.pam", "made.ico")
        mode = ["L", "LA", "RGB", "RGBA"][channels - 1]
        want = np.asarray(Image.fromarray(image.squeeze() if channels == 1 and min(shape) > 1 else image[:, :, 0] if channels == 1 else image, mode).convert("RGBA"))
        with Image.open("made.ico") as back:
            c.check(f"written {shape}, {mode}", back.format == "ICO" and np.array_equal(np.asarray(back.convert("RGBA"))[::-1], want))
        c.check(f"written {shape}, {mode}: read again", np.array_equal(ours("made.ico")[::-1], want))
# Several sizes in one file: by resize --sizes, by pages, and from an icon.
write("in.pam", rgba(90, 90))
sizes = [16, 32, 48, 64]
c.run("resize", "in.pam", "several.ico", "--sizes", "16,32,48,64")
c.run("resize", "in.pam", "--sizes", "16,32,48,64", "--out", "one-{width}.png")
c.run("pages", *[f"one-{n}.png" for n in sizes], "--out", "joined.ico")
c.run("resize", "in.pam", "--sizes", "16,32,48,64", "--out", "{stem}-batch.ico")
c.run("convert", "several.ico[0-3]", "copy.ico")
data = open("several.ico", "rb").read()
for path in "joined.ico", "in-batch.ico", "copy.ico":
    c.check(f"{path}: the bytes of several.ico", open(path, "rb").read() == data)
with Image.open("several.ico") as back:
    c.check("sizes as Pillow reads them", back.info["sizes"] == {(n, n) for n in sizes}, back.info)
for i, n in enumerate(sizes):
    want = np.asarray(Image.open(f"one-{n}.png").convert("RGBA"))
    with Image.open("several.ico") as back:
        back.size = (n, n)
        c.check(f"{n} pixels by Pillow", np.array_equal(np.asarray(back.convert("RGBA")), want))
    c.check(f"{n} pixels", np.array_equal(ours(f"several.ico[{i}]"), want))
ends = [struct.unpack_from("<II", data, 6 + 16 * i + 8) for i in range(4)]
c.check("images follow the directory without gaps", struct.unpack_from("<HHH", data) == (0, 1, 4) and ends[0][1] == 6 + 16 * 4 and
        all(a[0] + a[1] == b[1] for a, b in zip(ends, ends[1:])) and sum(ends[3]) == len(data), ends)
c.run("resize", "in.pam", "few.ico", "--sizes", "90,100,120")
with Image.open("few.ico") as back:
    c.check("one image for sizes that are not enlarged", back.info["sizes"] == {(90, 90)}, back.info)
got = c.result("resize", "several.ico[0-1]", "--sizes", "8,9", "--out", "{stem}-few.ico")
c.check("sizes of several images", got.returncode == 1 and "want --out with {page}" in got.stderr, got.stderr)
write("in.pgm", np.zeros((5, 257), np.uint8))
got = c.result("convert", "in.pgm", "wide.ico")
c.check("too wide", got.returncode == 1 and "ICO holds at most 256 a side" in got.stderr, got.stderr)

# An icon is a PNG, which has texts with languages.
info = PngImagePlugin.PngInfo()
info.add_itxt("Title", "Bild", "de", "Titel")
Image.fromarray(rgba(16, 16)).save("text.png", pnginfo=info)
got = c.result("convert", "text.png", "text.ico", "--strict")
c.check("a text keeps its language", got.returncode == 0 and b"de\0Titel\0Bild" in open("text.ico", "rb").read(), got.stderr)
c.end()
