"""resize --like pillow against the distribution's Pillow: the same bytes."""
from _common import Checks, need, np, random_image

(Image,) = need("PIL.Image")

FILTERS = {"nearest": Image.NEAREST, "box": Image.BOX, "bilinear": Image.BILINEAR, "hamming": Image.HAMMING,
           "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
CASES = 1000
c = Checks()


def side():
    """Mostly small, sometimes long, one pixel now and then."""
    return int(min(1 + c.rng.exponential(60), 700))


def image_of(height, width, channels):
    """Noise; or steps with overshoot, and alpha that is often 0 or full."""
    image = random_image(c.rng, (height, width, channels), np.uint8)
    if c.rng.random() < 0.5:
        image = np.where(image > 127, np.uint8(255), np.uint8(0))
    if channels in (2, 4) and c.rng.random() < 0.7:
        image[:, :, -1] = c.rng.choice(np.array([0, 1, 40, 254, 255], np.uint8), (height, width))
    return image[:, :, 0] if channels == 1 else image


def test_fill():
    """Image.resize with the box that fills; pixels that keep their size stay whole."""
    gravities = ["northwest", "center", "southeast"]
    for i in range(90):
        name, j = list(FILTERS)[1 + i % 5], i // 5 % 3
        height, width, source = side(), side(), image_of(side(), side(), i % 4 + 1)
        sides = source.shape[1], source.shape[0]
        step, unit = (sides[0], width) if width * sides[1] >= height * sides[0] else (sides[1], height)
        kept = width * step / unit, height * step / unit
        at = [(sides[k] - kept[k]) * j / 2 for k in range(2)]
        if step == unit:
            at = [int(a) for a in at]
        box = (at[0], at[1], min(at[0] + kept[0], sides[0]), min(at[1] + kept[1], sides[1]))
        want = np.asarray(Image.fromarray(source, MODES[i % 4 + 1]).resize((width, height), FILTERS[name], box=box))
        got = c.filter(source, "resize", "--size", f"{width}x{height}", "--fill", "--gravity", gravities[j],
                       "--filter", name, "--like", "pillow")
        what = f"fill {name} {source.shape} to {width} x {height}, {gravities[j]}"
        same = got.shape == want.shape and np.array_equal(got, want)
        c.check(what, same, "" if same or got.shape != want.shape else f"off by {np.abs(got.astype(int) - want).max()}")


test_fill()
for i in range(CASES):
    channels, name = i % 4 + 1, list(FILTERS)[i // 4 % 6]
    source, size = image_of(side(), side(), channels), (side(), side())
    if i % 13 == 0:
        size = (source.shape[1], size[1])
    if i % 17 == 0:
        size = (size[0], source.shape[0])
    want = np.asarray(Image.fromarray(source, MODES[channels]).resize(size, FILTERS[name]))
    got = c.filter(source, "resize", "--size", f"{size[0]}x{size[1]}", "--stretch", "--filter", name,
                   "--like", "pillow")
    same = got.shape == want.shape and np.array_equal(got, want)
    off = "" if same or got.shape != want.shape else np.abs(got.astype(int) - want).max()
    c.check(f"{name} {MODES[channels]} {source.shape} to {size}", same, f"off by {off}")
c.end()
