"""reconstruct, h-maxima, h-minima and flood-fill against scikit-image.

Sources: filters/morphology/reconstruct* filters/morphology/h_maxima.c filters/regions/flood_fill.c
    kernels/cpu/morphology/reconstruct.c
"""
import os

from _common import Checks, colours, luma, need, np, optional, random_image, read, write

ndimage, morphology, segmentation = need("scipy.ndimage", "skimage.morphology", "skimage.segmentation")
cv2 = optional("cv2")
c = Checks()
CROSS = ndimage.generate_binary_structure(2, 1)


def full(dtype):
    return 1 if dtype == np.float32 else np.iinfo(dtype).max


def smooth(shape, dtype, sigma=2.0, levels=None):
    """Hills and valleys; with `levels` of few values."""
    image = ndimage.gaussian_filter(c.rng.random(shape), [sigma, sigma, 0][:len(shape)])
    image = (image - image.min()) / (np.ptp(image) or 1)
    if levels:
        image = np.rint(image * levels) / levels
    return (image * full(dtype)).astype(dtype)


def file(name, image):
    path = c.path(name + {np.float32: ".pfm", np.uint8: ".pam", np.uint16: ".pam"}[image.dtype.type])
    write(path, image)
    return path


def run(operation, image, *args):
    gray = ".pfm" if image.dtype == np.float32 else ".pgm" if image.ndim == 2 else ".pam"
    out = c.path("result" + gray)
    c.run(operation, file("input", image), out, "--device", "cpu", *args)
    return read(out).reshape(image.shape[:2] + (-1,)).squeeze()


def element(connectivity):
    return CROSS if connectivity == 4 else np.ones((3, 3), bool)


def reconstruction(seed, mask, method, connectivity):
    pick = np.minimum if method == "dilation" else np.maximum
    return morphology.reconstruction(pick(seed, mask), mask, method, element(connectivity)).astype(mask.dtype)


# ---- reconstruct ----

def check_reconstruct(name, seed, mask):
    for method in ("dilation", "erosion"):
        for connectivity in (4, 8):
            got = run("reconstruct", mask, "--seed", file("seed", seed), "--method", method, "--connectivity", connectivity)
            if mask.ndim == 2:
                want = reconstruction(seed, mask, method, connectivity)
            else:
                want = mask.copy()
                for k in range(colours(mask) or 1):
                    want[..., k] = reconstruction(seed[..., k], mask[..., k], method, connectivity)
            c.check(f"reconstruct {name} {method} {connectivity}", np.array_equal(got, want.squeeze()))


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in ((1, 1), (1, 40), (50, 1), (67, 83), (40, 33, 3)) + (((21, 40, 2), (20, 33, 4)) if dtype != np.float32 else ()):
        check_reconstruct(f"hills {shape} {dtype.__name__}", smooth(shape, dtype), smooth(shape, dtype, 1.0))
    mask = smooth((150, 140), dtype, 1.5, 5)
    seed = np.where(c.rng.random(mask.shape) < 0.002, mask, 0).astype(dtype)
    check_reconstruct(f"points {dtype.__name__}", seed, mask)
# A way of 20,000 pixels in a mask of 200 x 201, with up to 4 threads.
maze = np.zeros((200, 201), np.uint8)
maze[:, ::2] = 200
maze[-1, 1::4] = maze[0, 3::4] = 200
start = np.zeros_like(maze)
start[0, 0] = 170
for threads in (1, 4):
    got = run("reconstruct", maze, "--seed", file("seed", start), "--threads", threads)
    c.check(f"maze {threads}", np.array_equal(got, np.minimum(maze, 170)))
    got = run("reconstruct", maze.T.copy(), "--seed", file("seed", start.T.copy()), "--threads", threads)
    c.check(f"maze on its side {threads}", np.array_equal(got, np.minimum(maze.T, 170)))
# NaN and zeros with a sign
mask, seed = smooth((30, 40), np.float32), smooth((30, 40), np.float32)
mask[3:9, 7] = seed[20, 5:30] = np.nan
for method, low in (("dilation", -9), ("erosion", 9)):
    got = run("reconstruct", mask, "--seed", file("seed", seed), "--method", method)
    hole = np.isnan(mask) | np.isnan(seed)
    want = reconstruction(np.where(hole, low, seed), np.where(hole, low, mask), method, 8)
    c.check(f"NaN {method}", np.array_equal(np.isnan(got), hole) and np.array_equal(got[~hole], want[~hole].astype(np.float32)))
got = run("reconstruct", np.full((2, 2), -0.0, np.float32), "--seed", file("seed", np.zeros((2, 2), np.float32)))
c.check("-0 becomes 0", not np.signbit(got).any())

# ---- h-maxima and h-minima ----

for dtype, heights in ((np.uint8, (1, 7, 40, 255)), (np.uint16, (1, 900, 20000))):
    for shape in ((61, 83), (1, 90), (40, 30, 3), (40, 30, 2)):
        image = smooth(shape, dtype, 1.4)
        judge = luma(image) if image.ndim == 3 and image.shape[2] == 3 else image[..., 0] if image.ndim == 3 else image
        judge = np.rint(judge).astype(dtype)
        for h in heights:
            for connectivity in (4, 8):
                for name, peer in (("h-maxima", morphology.h_maxima), ("h-minima", morphology.h_minima)):
                    want = peer(judge, h, element(connectivity)) * dtype(full(dtype))
                    got = run(name, image, "--height", h, "--connectivity", connectivity)
                    c.check(f"{name} {shape} {dtype.__name__} {h} {connectivity}", np.array_equal(got, want.squeeze()))
# Floats that are whole numbers have exact differences; scikit-image then adds only its millionths.
hills = np.rint(smooth((50, 60), np.float32, 1.4) * 100).astype(np.float32)
c.check("h-maxima of floats", np.array_equal(run("h-maxima", hills, "--height", 5), morphology.h_maxima(hills.astype(int), 5)))
c.check("h-minima of floats", np.array_equal(run("h-minima", hills, "--height", 4.5), morphology.h_minima(hills.astype(int), 5)))
steps = np.cumsum(np.full((1, 50), 0.1, np.float32), axis=1, dtype=np.float32)
steps[0, 25:] = steps[0, 24::-1]
c.check("a peak of rounded height", run("h-maxima", steps, "--height", 0.3).sum() == 2)

# ---- flood-fill ----


def flood(image, x, y, tolerance, connectivity):
    """The pixels to fill, of scikit-image, or in colour the component of a mask."""
    if image.ndim == 2:
        return segmentation.flood(image, (y, x), connectivity=1 if connectivity == 4 else 2, tolerance=tolerance)
    colors = image[..., :colours(image) or 1].astype(np.float64)
    mask = (abs(colors - colors[y, x]) <= tolerance).all(axis=2)
    labels = ndimage.label(mask, element(connectivity))[0]
    return labels == labels[y, x]


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in ((1, 1), (43, 57), (30, 41, 3)) + (((30, 41, 2), (30, 41, 4)) if dtype != np.float32 else ()):
        image = smooth(shape, dtype, 2.0, 8)
        for connectivity in (4, 8):
            for tolerance in (0, 0.15):
                x, y = c.rng.integers(shape[1]), c.rng.integers(shape[0])
                step = tolerance * full(dtype) if dtype == np.float32 else int(tolerance * full(dtype))
                where = flood(image, x, y, step, connectivity)
                value = 0.75 if dtype == np.float32 else 77
                got = run("flood-fill", image, "--at", f"{x},{y}", "--value", value, "--tolerance", step, "--connectivity", connectivity)
                want = image.copy()
                want[where] = value
                c.check(f"flood-fill {shape} {dtype.__name__} {x},{y} {tolerance} {connectivity}", np.array_equal(got, want.squeeze()))
if cv2:
    image = smooth((70, 90, 3), np.uint8)
    for connectivity in (4, 8):
        want = image.copy()
        cv2.floodFill(want, None, (31, 22), (9, 8, 7), (20,) * 3, (20,) * 3, connectivity | cv2.FLOODFILL_FIXED_RANGE)
        got = run("flood-fill", image, "--at", "31,22", "--value", "9,8,7", "--tolerance", 20, "--connectivity", connectivity)
        c.check(f"flood-fill as OpenCV {connectivity}", np.array_equal(got, want))
else:
    c.skip("python3 has no cv2")
image = random_image(c.rng, (9, 8, 3), np.uint8)
got = run("flood-fill", image, "--at", "2.9,3", "--value", "10,20,30")
c.check("three values", np.array_equal(got[3, 2], [10, 20, 30]) and (got != image).any(axis=2).sum() == 1)

# ---- messages ----

gray, small = file("gray", smooth((9, 8), np.uint8)), file("small", smooth((5, 8), np.uint8))
for args, want in ((("reconstruct",), "--seed: missing: want an image"), (("reconstruct", "--seed", small), "want 8 x 9 pixels, 1 channels of 8 bits"),
                   (("h-maxima", "--height", "0"), "--height 0: want more than 0"), (("h-minima", "--height", "300"), "--height 300: want 0 to 255"),
                   (("flood-fill", "--value", "1"), "--at: missing"), (("flood-fill", "--at", "1,1"), "--value: missing"),
                   (("flood-fill", "--at", "8,1", "--value", "1"), "--at 8,1: want a pixel of the image, 0,0 to 7,8"),
                   (("flood-fill", "--at", "-0.5,1", "--value", "1"), "--at -0.5,1: want a pixel of the image")):
    p = c.result(args[0], gray, c.path("none.pgm"), *args[1:])
    c.check(f"refuses {args}", p.returncode != 0 and want in p.stderr and not os.path.exists(c.path("none.pgm")), p.stderr)
c.end()
