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
