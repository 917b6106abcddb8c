"""draw: boxes and straight lines have the pixels of Pillow's ImageDraw, circles and polygons their area, in all types.

Sources: cli/commands/draw.c cli/plot/drawing.c cli/tables/shapes_table.c
"""
import math
import os

from _common import Checks, need, np, random_image, read, write

Image, ImageDraw = need("PIL.Image", "PIL.ImageDraw")

c = Checks()
RED, FULL = (255, 0, 0), {np.uint8: 255, np.uint16: 65535, np.float32: 1}


def cairo_is_there():
    write(c.path("one.pgm"), np.zeros((9, 9), np.uint8))
    done = c.result("draw", c.path("one.pgm"), c.path("one.png"), "--box", "1,1,3,3")
    return done.returncode == 0 or "libcairo2" not in done.stderr


def masks(shape, draw):
    """The pixels that Pillow's `draw` sets."""
    image = Image.new("L", (shape[1], shape[0]), 0)
    draw(ImageDraw.Draw(image))
    return np.asarray(image) > 0


def drawn(image, *options):
    source, made = (c.path(n + (".pfm" if image.dtype == np.float32 else ".pam")) for n in ("in", "made"))
    write(source, image)
    c.run("draw", source, made, *options)
    return read(made)


def expect(name, image, mask, *options):
    """Red where Pillow draws, and the image elsewhere."""
    got = drawn(image, "--color", "red", *options)
    color = image if image.ndim == 3 and image.shape[2] >= 3 else np.dstack([image.reshape(image.shape[:2])] * 3)
    want = color.copy()
    want[mask, :3] = np.array(RED, float) / 255 * FULL[image.dtype.type]
    if want.shape[2] == 4:
        want[mask, 3] = FULL[image.dtype.type]
    c.check(name, got.shape == want.shape and np.array_equal(got, want), "differs from Pillow")


def test_boxes(kind, channels):
    shape = (60, 90) if channels == 1 else (60, 90, channels)
    image = random_image(c.rng, shape, kind)
    if channels == 4:  # composite makes transparent pixels black
        image[:, :, 3] = FULL[kind]
    options, boxes = [], []
    for _ in range(3):
        x, y, w, h = (int(c.rng.integers(a, b)) for a, b in ((-9, 80), (-9, 50), (8, 40), (8, 40)))
        boxes.append((x, y, w, h))
        options += ["--box", f"{x},{y},{w},{h}"]
    for width in (1, 4):
        mask = masks(shape, lambda d: [d.rectangle((x, y, x + w - 1, y + h - 1), outline=255, width=width)
                                       for x, y, w, h in boxes])
        expect(f"{kind.__name__} x {channels}, boxes {boxes}, width {width}", image, mask, "--width", width, *options)
    mask = masks(shape, lambda d: [d.rectangle((x, y, x + w - 1, y + h - 1), fill=255) for x, y, w, h in boxes])
    expect(f"{kind.__name__} x {channels}, full boxes", image, mask, "--fill", "red", *options)


def test_lines():
    image = random_image(c.rng, (40, 50, 3), np.uint8)
    mask = masks(image.shape, lambda d: (d.line((5, 7, 30, 7), fill=255), d.line((12, 2, 12, 60), fill=255)))
    expect("lines", image, mask, "--width", 1, "--line", "5,7,30,7", "--line", "12,2,12,60")


def test_areas():
    black, white = np.zeros((200, 200), np.uint8), ("--color", "white", "--fill", "white", "--width", 2)
    got = drawn(black, "--circle", "99,101,40", *white)[:, :, 0] / 255.0
    c.check("area of a circle", abs(got.sum() / (math.pi * 41**2) - 1) < 0.002, got.sum())
    ys, xs = np.nonzero(got > 0.5)
    c.check("middle of a circle", abs(xs.mean() - 99) < 0.1 and abs(ys.mean() - 101) < 0.1, (xs.mean(), ys.mean()))
    corners = [(20, 30), (180, 60), (70, 190)]
    got = drawn(black, "--polygon", " ".join(f"{x},{y}" for x, y in corners), *white)[:, :, 0] > 127
    want = masks(black.shape, lambda d: d.polygon(corners, fill=255))
    c.check("a polygon", (got & want).sum() >= 0.999 * want.sum() and got.sum() < 1.06 * want.sum(),
            (got.sum(), want.sum(), (got & want).sum()))


def test_alpha():
    image = random_image(c.rng, (30, 30, 3), np.uint8)
    got = drawn(image, "--box", "0,0,30,30", "--color", "#00000000", "--fill", "#20c04080").astype(int)
    above = Image.new("RGBA", (30, 30), (0x20, 0xc0, 0x40, 0x80))
    want = np.asarray(Image.alpha_composite(Image.fromarray(image).convert("RGBA"), above).convert("RGB")).astype(int)
    c.check("a fill with alpha", np.abs(got - want).max() <= 1, np.abs(got - want).max())


def test_table():
    folder = c.path("in")
    os.makedirs(folder)
    image = random_image(c.rng, (50, 60, 3), np.uint8)
    for name in "ab":
        Image.fromarray(image).save(os.path.join(folder, name + ".png"))
    tables = {
        "x,y,w,h,file": ["3,4,10,12,a.png", "20,5,7,8,other.png", "30,9,11,13,in/b.png"],
        "filename,width,height,xmin,ymin,xmax,ymax": ["a.png,60,50,3,4,13,16", '"b.png",60,50,30,9,41,22'],
        "image,bbox_height,bbox_width,bbox_x,bbox_y,score_of": [f"{folder}/a.png,12,10,3,4,x", f"{folder}/b.png,13,11,30,9,x"],
        "points,shape,file": ['"3,4 12,4 12,15 3,15",polygon,a.png', '"30,9,40,9,40,21,30,21",,b.png'],
    }
    for head, rows in tables.items():
        with open(c.path("table.csv"), "w", encoding="utf-8") as f:
            f.write("\ufeff" + "\r\n".join([head, *rows]) + "\r\n\r\n")
        c.run("draw", os.path.join(folder, "a.png"), os.path.join(folder, "b.png"), "--table", c.path("table.csv"),
              "--color", "red", "--width", 1, "--out-dir", c.path("drawn"))
        for name, box in (("a", (3, 4, 12, 15)), ("b", (30, 9, 40, 21))):
            mask = masks(image.shape, lambda d, box=box: d.rectangle(box, outline=255))
            want = image.copy()
            want[mask] = RED
            got = np.asarray(Image.open(os.path.join(c.path("drawn"), name + ".png")))
            c.check(f"table {head}: {name}", np.array_equal(got, want), "differs from Pillow")


def test_bar():
    Image.fromarray(np.zeros((100, 150, 3), np.uint8)).save(c.path("dpi.tif"), dpi=(25400, 25400))
    for options in ((c.path("dpi.tif"), c.path("bar.png")), (c.path("dpi.tif"), c.path("bar.png"), "--pixel-size", "500nm")):
        want = 80 if len(options) > 2 else 40
        done = c.result("draw", *options, "--scale-bar", "40um", "--color", "white", "--gravity", "southeast", "--size", "20")
        if "no font draws" in done.stderr:
            return c.skip("no font is installed")
        rows = (np.asarray(Image.open(c.path("bar.png")))[:, :, 1] == 255).sum(1)
        c.check(f"a bar of {want} pixels", (rows == want).sum() >= 4 and np.nonzero(rows == want)[0][-1] > 80, rows)
    return None


def test_text():
    black = np.zeros((100, 300), np.uint8)
    write(c.path("text.pgm"), black)
    for gravity, corner in (("northwest", (slice(0, 50), slice(0, 150))), ("southeast", (slice(50, 100), slice(150, 300)))):
        made = [c.path(f"text{i}.png") for i in range(2)]
        for path in made:
            c.run("draw", c.path("text.pgm"), path, "--text", "{stem}", "--gravity", gravity,
                  "--size", "24", "--color", "white")
        got = np.asarray(Image.open(made[0]).convert("L")).astype(float)
        inside = got[corner].sum()
        c.check(f"text in the {gravity}", inside > 10000 and inside == got.sum(), (inside, got.sum()))
        c.check("the same bytes twice", open(made[0], "rb").read() == open(made[1], "rb").read())


if not cairo_is_there():
    c.skip("libcairo2 is not installed")
    c.end()
for kind in FULL:
    for channels in (1, 3) if kind == np.float32 else (1, 3, 4):
        test_boxes(kind, channels)
test_lines()
test_areas()
test_alpha()
test_table()
test_bar()
if c.result("draw", c.path("one.pgm"), c.path("one.png"), "--text", "a").returncode == 0:
    test_text()
else:
    c.skip("no font is installed")
c.end()
