"""Structuring elements with an origin or heights, in erosions, dilations and hit-or-miss, against scipy.ndimage.

Sources: filters/morphology/flat kernels/cpu/morphology/nonflat filters/morphology/hit_or_miss filters/option_footprint
"""
from _common import PADS, Checks, need, np, random_image

(ndimage,) = need("scipy.ndimage")
c = Checks()
NAMES = ("erode", "dilate", "open", "close", "gradient", "tophat", "blackhat")


def to_type(values, dtype):
    return values.astype(dtype) if dtype == np.float32 else np.clip(np.rint(values), 0, np.iinfo(dtype).max).astype(dtype)


def filtered(image, greatest, border, value, alpha, **how):
    """scipy's erosion or dilation of each channel in double. Fully transparent pixels do not count unless `alpha` is filtered too.
    numpy adds the pixels outside: scipy 1.10 reads from another row if a mirrored offset is a multiple of twice the width, and
    more than this."""
    height, width = how["footprint"].shape
    last, method = (-np.inf, ndimage.grey_dilation) if greatest else (np.inf, ndimage.grey_erosion)
    out, more = image.copy(), {"constant_values": value} if border == "border" else {}
    planes = image[:, :, None] if image.ndim == 2 else image
    around = [np.pad(p.astype(float), ((height, height), (width, width)), mode=PADS[border], **more) for p in np.moveaxis(planes, 2, 0)]
    ignores = len(around) % 2 == 0 and not alpha
    for i, plane in enumerate(around[:-1] if ignores else around):
        plane = np.where(around[-1] > 0, plane, last) if ignores else plane
        made = method(plane, **how)[height:-height, width:-width]
        target = out if image.ndim == 2 else out[:, :, i]
        target[...] = np.where(ignores & np.isinf(made), target, to_type(made, image.dtype))
    return out


def peer(name, image, border, value, alpha=False, **how):
    """The operation by erosions and dilations, whose results are saturated one by one."""
    def erode(of):
        return filtered(of, False, border, value, alpha, **how)

    def dilate(of):
        return filtered(of, True, border, value, alpha, **how)

    def less(a, b):
        made = to_type(a.astype(float) - b, image.dtype)
        if image.ndim == 3 and image.shape[2] % 2 == 0:
            made[:, :, -1] = image[:, :, -1]
        return made
    return {"erode": lambda: erode(image), "dilate": lambda: dilate(image), "open": lambda: dilate(erode(image)), "close": lambda: erode(dilate(image)),
            "gradient": lambda: less(dilate(image), erode(image)), "tophat": lambda: less(image, dilate(erode(image))),
            "blackhat": lambda: less(erode(dilate(image)), image)}[name]()


def written(rows):
    return "; ".join(" ".join(f"{v:.9g}" for v in row) for row in rows)


def any_origin(shape):
    """Returns (y, x) with the pixel itself inside the element."""
    return tuple(int(c.rng.integers(-(n // 2), (n - 1) // 2 + 1)) for n in shape)


def option(name, origin):
    return [f"--{name}", f"{origin[1]},{origin[0]}"]


def any_image(turn):
    shape = ((33, 47), (1, 1), (9, 130), (21, 17, 4), (1, 40), (70, 3), (12, 31, 2), (19, 8, 3))[turn % 8]
    image = random_image(c.rng, shape, (np.uint8, np.uint16, np.float32)[turn % 3])
    if len(shape) == 3 and shape[2] % 2 == 0:
        image[:, :, -1] *= c.rng.random(shape[:2]) < 0.3
    return image


# ---- origins of flat elements: rectangles and masks ----

for turn in range(105):
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

# ---- heights: with or without a mask and an origin ----

for turn in range(140):
    name, border = NAMES[turn % 7], list(PADS)[turn // 7 % 5]
    image = any_image(turn // 2)
    full = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
    sides = [int(v) for v in c.rng.integers(1, (4, 9, 40)[turn % 3] if image.size < 5000 or turn % 3 else 9, 2)]
    mask = c.rng.random(sides) < 0.4 if turn % 2 else np.ones(sides, bool)
    mask[c.rng.integers(sides[0]), c.rng.integers(sides[1])] = True
    heights = (c.rng.normal(0, full / (3 if turn % 4 else 40), sides)).astype(np.float32)
    heights = heights if full == 1 else np.rint(4 * heights) / 4 if turn % 5 == 0 else np.rint(heights)  # quarters: sums are exact, with ties
    value, alpha, origin = full * 0.25 if full == 1 else 77, turn % 3 == 0 and name in NAMES[:4], any_origin(sides)
    args = ["--heights", f"{sides[1]}x{sides[0]}: {written(heights)}", *(["--mask", f"{sides[1]}x{sides[0]}: {written(mask)}"] if turn % 2 else [])]
    args += [*(option("origin", origin) if turn % 4 else []), "--border", border, *(["--border-value", value] if border == "border" else []), *(["--alpha"] if alpha else [])]
    want = peer(name, image, border, value, alpha, footprint=mask, structure=heights.astype(float), origin=origin if turn % 4 else 0)
    got = c.filter(image, name, *args, "--device", "cpu")
    c.check(f"{name} {args} {image.shape} {image.dtype}", np.array_equal(got, want))
high = np.array([[250, 3]], np.uint8)
c.check("results are limited", np.array_equal(c.filter(high, "dilate", "--heights", "10"), [[255, 13]]) and np.array_equal(c.filter(high, "erode", "--heights", "10"), [[240, 0]]))
c.check("scipy's wrap around", np.array_equal(ndimage.grey_dilation(high, structure=[[10]]), [[4, 13]]) and ndimage.grey_erosion(high, structure=[[10]])[0, 1] == 249)
image = random_image(c.rng, (23, 31, 4), np.float32)
image[4, 5, 1], image[8, 8, 2], image[:3, :3, 3], image[20, 20, 0] = np.nan, np.inf, 0, -0.0
for name in NAMES:
    flat = c.filter(image, name, "--k", 3)
    c.check(f"{name}: heights of 0", np.array_equal(c.filter(image, name, "--heights", "3x3: 0 0 0 0 0 0 0 0 0"), flat, equal_nan=True) and np.isnan(flat).any())
with open(c.path("heights.txt"), "w") as file:
    file.write("# a cone\n0 1/2 0\n0.5 1 0.5\n0 0.5 0\n")
want = ndimage.grey_erosion(image[:, :, 0].astype(float), structure=[[0, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 0]], mode="nearest")
c.check("heights from a file", np.array_equal(c.filter(image[:, :, 0], "erode", "--heights", c.path("heights.txt")), want.astype(np.float32)))

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
                   (["erode", "--heights", "1 2 1", "--k", "3"], "--heights and --k: want one of them"),
                   (["open", "--heights", "1 2 1", "--size", "3x1"], "--heights and --size: want one of them"),
                   (["close", "--heights", "1 2 1", "--shape", "disk"], "--heights and --shape: want one of them"),
                   (["tophat", "--heights", "1 2 1", "--mask", "1 0; 1 1"], "--heights: 3 x 1 numbers: want 2 x 2, as in --mask"),
                   (["erode", "--heights", "1 2 1", "--mask", "0 0 0"], "--mask: all of it is 0"), (["dilate", "--heights", "1 a"], "--heights"),
                   (["erode", "--heights", "1 2 1", "--origin", "0,1"], "--origin 0,1: want X,Y, whole numbers, -1,0 to 1,0"),
                   (["erode", "--heights", "502x1:" + " 0" * 502], "--heights: 502 x 1 numbers: want at most 501 a side"),
                   (["midpoint", "--heights", "1 2 1"], "--heights"), (["erode", "--size", "10%x5", "--origin", "0,0"], "--origin and a --size in %: want a --size in pixels"),
                   (["hit-or-miss", "--hit", "0 1", "--origin", "-1,1"], "--origin -1,1: want X,Y, whole numbers, -1,0 to 0,0"),
                   (["hit-or-miss", "--hit", "0 1 1", "--miss", "1", "--miss-origin", "1,0"], "--miss-origin 1,0: want X,Y, whole numbers, 0,0 to 0,0"),
                   (["hit-or-miss", "--hit", "0 1 1", "--miss", "1", "--origin", "1,0"], "--origin 1,0: want X,Y, whole numbers, 0,0 to 0,0")):
    p = c.result(args[0], c.path("in.pgm"), c.path("none.pgm"), *args[1:])
    c.check(f"refuses {args}", p.returncode == 2 and want in p.stderr, p.stderr)
c.end()
