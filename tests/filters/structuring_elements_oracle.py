"""Structuring elements with an origin, in flat morphology and hit-or-miss, against scipy.ndimage.

Sources: filters/morphology/flat filters/morphology/hit_or_miss filters/option_footprint
"""
from _common import PADS, Checks, need, np, random_image

(ndimage,) = need("scipy.ndimage")
c = Checks()
NAMES = ("erode", "dilate", "open", "close", "gradient", "tophat", "blackhat")


def saturated(values, dtype):
    return values.astype(dtype) if dtype == np.float32 else np.clip(values, 0, np.iinfo(dtype).max).astype(dtype)


def peer(name, image, border, value, **how):
    """The operation by scipy's erosions and dilations, whose results are saturated one by one. numpy adds the pixels outside:
    scipy 1.10 reads from another row if a mirrored offset is a multiple of twice the width, and more than this."""
    height, width = how["footprint"].shape
    more = {"constant_values": value} if border == "border" else {}

    def made(filtered, of):
        around = np.pad(of.astype(float), ((height, height), (width, width)), mode=PADS[border], **more)
        return saturated(filtered(around, **how)[height:-height, width:-width], image.dtype)

    def erode(of):
        return made(ndimage.grey_erosion, of)

    def dilate(of):
        return made(ndimage.grey_dilation, of)

    def less(a, b):
        return saturated(a.astype(float) - b, image.dtype)
    return {"erode": lambda: erode(image), "dilate": lambda: dilate(image), "open": lambda: dilate(erode(image)), "close": lambda: erode(dilate(image)),
            "gradient": lambda: less(dilate(image), erode(image)), "tophat": lambda: less(image, dilate(erode(image))),
            "blackhat": lambda: less(erode(dilate(image)), image)}[name]()


def written(rows):
    return "; ".join(" ".join(f"{v:g}" for v in row) for row in rows)


def any_origin(shape):
    """Returns (y, x) with the pixel itself inside the element."""
    return tuple(int(c.rng.integers(-(n // 2), (n - 1) // 2 + 1)) for n in shape)


def option(name, origin):
    return [f"--{name}", f"{origin[1]},{origin[0]}"]


def any_image(turn):
    shape = ((33, 47), (1, 1), (9, 130), (21, 17), (1, 40), (70, 3))[turn % 6]
    return random_image(c.rng, shape, (np.uint8, np.uint16, np.float32)[turn % 3])


# ---- origins of flat elements: rectangles and masks ----

for turn in range(84):
    name, border = NAMES[turn % 7], list(PADS)[turn // 7 % 5]
    image = any_image(turn)
    value = 0.25 if image.dtype == np.float32 else 77
    sides = [int(v) for v in c.rng.integers(1, (4, 9, 40)[turn % 3], 2)]
    mask = c.rng.random(sides) < 0.4 if turn % 2 else np.ones(sides, bool)
    mask[c.rng.integers(sides[0]), c.rng.integers(sides[1])] = True
    origin = any_origin(sides)
    args = ["--mask", f"{sides[1]}x{sides[0]}: {written(mask)}"] if turn % 2 else ["--size", f"{sides[1]}x{sides[0]}"]
    args += [*option("origin", origin), "--border", border, *(["--border-value", value] if border == "border" else [])]
    want = peer(name, image, border, value, footprint=mask, origin=origin)
    got = c.filter(image, name, *args, "--device", "cpu")
    c.check(f"{name} {args} {image.shape} {image.dtype}", np.array_equal(got, want))
image = random_image(c.rng, (20, 30), np.uint8)
want = ndimage.minimum_filter(image, size=3, mode="nearest", origin=(1, -1)) + ndimage.maximum_filter(image.astype(float), size=3, mode="nearest", origin=(1, -1))
c.check("midpoint", np.array_equal(c.filter(image, "midpoint", *option("origin", (1, -1))), np.rint(want / 2)))

# ---- hit-or-miss: two elements with their origins ----

for turn in range(60):
    full = (255, 65535, 1)[turn % 3]
    mask = c.rng.random(((40, 33), (1, 40), (5, 3), (31, 64))[turn % 4]) > (0.25, 0.5)[turn % 2]
    hit, miss = (c.rng.random(c.rng.integers(1, 6, 2)) > p for p in (0.5, 0.7))
    hit[0, -1] = miss[0, 0] = True
    origins = any_origin(hit.shape), any_origin(miss.shape)
    args = ["--hit", f"{hit.shape[1]}x{hit.shape[0]}: {written(hit)}", *option("origin", origins[0])]
    if turn % 3 == 0 and not hit.all():  # scipy takes the rest of the first element, and its origin
        want = ndimage.binary_hit_or_miss(mask, hit, origin1=origins[0])
    else:
        args += ["--miss", f"{miss.shape[1]}x{miss.shape[0]}: {written(miss)}", *option("miss-origin", origins[1])]
        want = ndimage.binary_hit_or_miss(mask, hit, miss, origin1=origins[0], origin2=origins[1])
    image = (mask * full).astype((np.uint8, np.uint16, np.float32)[turn % 3])
    c.check(f"hit-or-miss {args} {mask.shape}", np.array_equal(c.filter(image, "hit-or-miss", *args), (want * full).astype(image.dtype)))

# ---- refusals ----

for args, want in ((["erode", "--origin", "2,0"], "--origin 2,0: want X,Y, whole numbers, -1,-1 to 1,1"),
                   (["dilate", "--size", "4x1", "--origin", "2,0"], "--origin 2,0: want X,Y, whole numbers, -2,0 to 1,0"),
                   (["open", "--origin", "0.5,0"], "--origin 0.5,0: want X,Y, whole numbers"), (["erode", "--origin", "1"], "--origin"),
                   (["erode", "--size", "10%x5", "--origin", "0,0"], "--origin and a --size in %: want a --size in pixels"),
                   (["hit-or-miss", "--hit", "0 1", "--origin", "-1,1"], "--origin -1,1: want X,Y, whole numbers, -1,0 to 0,0"),
                   (["hit-or-miss", "--hit", "0 1 1", "--miss", "1", "--miss-origin", "1,0"], "--miss-origin 1,0: want X,Y, whole numbers, 0,0 to 0,0"),
                   (["hit-or-miss", "--hit", "0 1 1", "--miss", "1", "--origin", "1,0"], "--origin 1,0: want X,Y, whole numbers, 0,0 to 0,0")):
    p = c.result(args[0], c.path("in.pgm"), c.path("none.pgm"), *args[1:])
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
