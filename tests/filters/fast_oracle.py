"""resize --fast: the size equals the full decoder's result, the samples are close to it, and they equal Pillow's
draft mode, which uses the same libjpeg-turbo at the same scale, followed by a resize.

Sources: filters/geometry/resize.c imgio/jpeg/jpeg*
"""
from _common import Checks, need, np, read

(Image,) = need("PIL.Image")

c = Checks()
ORIENTATION = 0x0112


def photo(width, height, mode):
    """Smooth shapes, an edge, and a little noise."""
    y, x = np.mgrid[:height, :width]
    planes = [128 + 60 * np.sin(x / 23.0 + k) + 50 * np.cos(y / 17.0 - k) + 12 * (x > y) for k in range(3)]
    image = np.stack(planes, axis=2) + c.rng.normal(0, 3, (height, width, 3))
    image = Image.fromarray(np.clip(image, 0, 255).astype(np.uint8))
    return image if mode == "RGB" else image.convert(mode)


def resize(source, *args):
    out = c.path("out.pam")
    c.run("resize", source, out, *args)
    return read(out).astype(int)


def close(name, source, *args, most=1):
    """Returns the result of --fast after comparing it with the full decoder's."""
    exact, fast = (resize(source, *args, *more) for more in ((), ("--fast",)))
    if exact.shape != fast.shape:
        c.check(name, False, f"{fast.shape}, want {exact.shape}")
        return fast
    off = np.abs(exact - fast)
    c.check(name, off.mean() < most, f"off by {off.mean():.3f} in the mean, {off.max()} at most")
    return fast


def test_draft(mode, size, result, shrink, subsampling):
    """Compares with a draft that is resized from its picture without the padding of the last blocks."""
    source = c.path("in.jpg")
    photo(*size, mode).save(source, quality=92, subsampling=subsampling)
    name = f"{mode} {size} to {result}, subsampling {subsampling}"
    got = close(name, source, "--size", "%dx%d" % result, "--stretch", most=1.5)
    image = Image.open(source)
    image.draft(mode, (size[0] // shrink, size[1] // shrink))
    want = tuple(-(-side // shrink) for side in size)
    c.check(f"{name}: Pillow's draft", image.size == want, f"{image.size}, want {want}")
    box = (0, 0, size[0] / shrink, size[1] / shrink)
    draft = np.asarray(image.resize(result, Image.LANCZOS, box=box)).astype(int)
    off = np.abs(got - draft)
    c.check(f"{name}: of Pillow's draft", off.max() <= 1, f"off by {off.max()}")


def test_orientation():
    for turn in range(1, 9):
        source, exif = c.path("turned.jpg"), Image.Exif()
        exif[ORIENTATION] = turn
        photo(643, 407, "RGB").save(source, quality=92, exif=exif)
        for args in (("--size", "25%"), ("--size", "100x"), ("--size", "90x71", "--fill", "--gravity", "northeast"),
                     ("--size", "77x99", "--pad")):
            close(f"orientation {turn}, {' '.join(args)}", source, *args)


def test_sizes():
    """Sides that no factor divides, and percentages of the whole."""
    for _ in range(30):
        size = tuple(int(side) for side in c.rng.integers(1, 700, 2))
        source = c.path("in.jpg")
        photo(*size, "RGB").save(source, quality=92)
        percent = round(float(c.rng.uniform(0.5, 60)), 1)
        exact, fast = (resize(source, "--size", f"{percent}%", *more) for more in ((), ("--fast",)))
        c.check(f"{size} to {percent}%", exact.shape == fast.shape, f"{fast.shape}, want {exact.shape}")


def test_chains():
    """In a chain the first step uses it, with conversions and in batches as well."""
    source, out = c.path("in.jpg"), c.path("out.pam")
    photo(801, 603, "RGB").save(source, quality=92)
    fast = resize(source, "--size", "20%", "--fast")
    c.run("run", "resize --size 20% --fast | invert", source, out)
    c.check("a chain", np.array_equal(read(out), 255 - fast))
    second = []
    for more in ("", " --fast"):
        c.run("run", "flip --v | resize --size 20%" + more, source, out)
        second.append(read(out))
    c.check("not its first step", np.array_equal(*second))
    c.run("resize", source, "--out-dir", c.path("made"), "--format", "pam", "--size", "20%", "--fast")
    c.check("a batch", np.array_equal(read(c.path("made/in.pam")), fast))
    shape = resize(source, "--size", "20%", "--fast", "--gray", "--depth", "16").shape
    c.check("of gray in 16 bits", shape == fast.shape[:2], str(shape))
    c.check("light is not averaged by the decoder", np.array_equal(
        *(resize(source, "--size", "20%", "--linear", *more) for more in ((), ("--fast",)))))
    Image.open(source).save(c.path("in.png"))
    c.check("of a PNG", np.array_equal(*(resize(c.path("in.png"), "--size", "20%", *more) for more in ((), ("--fast",)))))


for mode, size, result, shrink, subsampling in (
        ("RGB", (800, 600), (100, 75), 4, 0), ("RGB", (801, 603), (97, 75), 4, 2), ("RGB", (799, 605), (199, 151), 2, 2),
        ("RGB", (1234, 987), (50, 40), 8, 1), ("L", (801, 601), (45, 37), 8, 0), ("L", (401, 301), (100, 75), 2, 0)):
    test_draft(mode, size, result, shrink, subsampling)
test_orientation()
test_sizes()
test_chains()
c.end()
