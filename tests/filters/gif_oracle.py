"""GIFs that are written, as Pillow reads them: exact colours up to 256, median cut above, one transparent entry, limits, texts,
XMP and ICC profiles.

Sources: imgio/gif/gif_write.c imgio/gif/gif_parts.c imgio/median_cut.* imgio/losses.c imgio/png/png_palette.*
"""
from _common import Checks, need, np, read, write
from _tags import compose

(Image,) = need("PIL.Image")
c = Checks()
if b"gif " not in c.run("list"):
    c.skip("this build or this system has no giflib")
    c.end()


def pillow(path, mode):
    with Image.open(path) as image:
        c.check("the format", image.format == "GIF" and getattr(image, "n_frames", 1) == 1)
        return np.asarray(image.convert(mode))


def save(image, *args):
    source, made = c.path("in.pam"), c.path("made.gif")
    write(source, image)
    got = c.result("flip", "--v", source, made, *args)
    return made, got


for shape in (1, 1), (1, 300), (300, 1), (37, 53):
    for n in (1, 2, 3, 16, 17, 255, 256) if min(shape) > 1 else (1, 3, 256):
        colors = c.rng.choice(256 ** 3, n, replace=False, shuffle=False).astype(np.uint32).view(np.uint8).reshape(-1, 4)[:, :3]
        image = colors[c.rng.integers(0, n, shape)]
        made, got = save(image, "--strict")
        c.check(f"{shape}, {n} colours", got.returncode == 0 and np.array_equal(pillow(made, "RGB")[::-1], image), got.stderr)
        hidden = c.rng.integers(0, 4, shape) == 0
        shown = np.dstack([image, np.where(hidden, 0, 255).astype(np.uint8)])
        made, got = save(shown)
        back = pillow(made, "RGBA")[::-1]
        used = len(np.unique(image[~hidden], axis=0)) + hidden.any()
        c.check(f"{shape}, {n} colours: transparent pixels", np.array_equal(back[:, :, 3], shown[:, :, 3]))
        if used <= 256:
            c.check(f"{shape}, {n} colours: the others", np.array_equal(back[~hidden], shown[~hidden]) and got.stderr == "", got.stderr)
gray = c.rng.integers(0, 256, (40, 50)).astype(np.uint8)
made, got = save(gray, "--strict")
c.check("gray", np.array_equal(pillow(made, "L")[::-1], gray) and got.returncode == 0, got.stderr)
c.run("convert", made, c.path("back.pgm"))
c.check("gray, read by ourselves", np.array_equal(read(c.path("back.pgm"))[::-1], gray))

# more colours: those of quantize
image = c.rng.integers(0, 256, (60, 70, 3)).astype(np.uint8)
made, got = save(image)
c.check("many colours: the warning", "gif cannot hold more than 256 colours (reduced by median cut, as quantize does)" in got.stderr, got.stderr)
c.run("run", "flip --v | quantize", c.path("in.pam"), c.path("quantized.ppm"))
c.check("many colours: as quantize", np.array_equal(pillow(made, "RGB"), read(c.path("quantized.ppm"))))
c.check("many colours: --strict", save(image, "--strict")[1].returncode == 1)
shown = np.dstack([image, c.rng.integers(0, 256, (60, 70)).astype(np.uint8)])
made, got = save(shown)
back = pillow(made, "RGBA")[::-1]
c.check("partial transparency", np.array_equal(back[:, :, 3] == 255, shown[:, :, 3] >= 128) and "partial transparency" in got.stderr, got.stderr)
c.check("colours beside transparency", len(np.unique(back[back[:, :, 3] > 0], axis=0)) == 255)
made, got = save(shown, "--background", "white")
c.check("a background", (pillow(made, "RGBA")[:, :, 3] == 255).all())
write(c.path("wide.pgm"), np.zeros((1, 65536), np.uint8))
got = c.result("convert", c.path("wide.pgm"), c.path("wide.gif"))
c.check("too wide", got.returncode == 1 and "GIF holds at most 65535 a side" in got.stderr, got.stderr)
piped = c.run("flip", "--v", c.path("in.pam"), "gif:-", "--background", "white")
c.check("a pipe", piped == open(made, "rb").read())


def tiff(channels, more):
    """A TIFF of 2 x 1 pixels with further tags."""
    own = [(256, 3, [2]), (257, 3, [1]), (258, 3, [8] * channels), (259, 3, [1]), (262, 3, [1 if channels == 1 else 2]), (273, 4, [8]),
           (277, 3, [channels]), (278, 3, [1]), (279, 4, [2 * channels])]
    with open(c.path("in.tif"), "wb") as f:
        f.write(compose(own + more, data=bytes(range(2 * channels))))
    got = c.result("convert", c.path("in.tif"), c.path("made.gif"))
    with Image.open(c.path("made.gif")) as made:
        made.load()
        return made.info, got.stderr


def profile(model):
    body = bytearray(300)
    body[:4], body[8], body[12:24], body[36:40] = (300).to_bytes(4, "big"), 2, b"mntr" + model + b"XYZ ", b"acsp"
    return bytes(body)


for n in 1, 254, 255, 256, 510, 70000:
    text = bytes(97 + i % 26 for i in range(n))
    info, said = tiff(3, [(270, 2, text + b"\0"), (315, 2, b"Jos\xc3\xa9\0")])
    c.check(f"a text of {n} bytes", b"Description: " + text in info["comment"] and b"Author: Jos\xc3\xa9" in info["comment"] and said == "", said)
    c.run("convert", c.path("made.gif"), c.path("back.png"), "--strict")
    with Image.open(c.path("back.png")) as back:
        c.check(f"a text of {n} bytes, read by ourselves", back.text == {"Description": text.decode(), "Author": "José"})
info, said = tiff(3, [(700, 1, b"<x:xmpmeta/>" + bytes(range(1, 256)))])
c.check("XMP", said == "" and b"<x:xmpmeta/>" + bytes(range(1, 256)) in open(c.path("made.gif"), "rb").read(), said)
info, said = tiff(3, [(700, 1, "\ufeff<x:xmpmeta/>".encode("utf-16-le"))])
c.check("XMP in UTF-16 is named", "gif cannot hold XMP" in said, said)
info, said = tiff(3, [(34675, 7, profile(b"RGB "))])
blocks = b"\xff" + profile(b"RGB ")[:255] + b"\x2d" + profile(b"RGB ")[255:] + b"\0"
c.check("a profile", b"!\xff\x0bICCRGBG1012" + blocks in open(c.path("made.gif"), "rb").read() and said == "", said)
info, said = tiff(1, [(34675, 7, profile(b"GRAY"))])
c.check("a gray profile is named", b"ICCRGBG1012" not in open(c.path("made.gif"), "rb").read() and "gif cannot hold an ICC profile of another colour model" in said, said)
got = c.result("convert", c.path("in.tif"), c.path("gray.webp"))
c.check("also in WebP", got.returncode != 0 or "webp cannot hold an ICC profile of another colour model" in got.stderr, got.stderr)
c.end()
