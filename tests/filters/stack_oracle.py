"""stack against numpy: exact integers, and statistics of doubles.

Sources: filters/statistics/stack* kernels/*/statistics/stack*
"""
from _common import Checks, np, random_image, read, suffix, write

c = Checks()
SHAPES = [(1, 1), (13, 21), (9, 14, 3), (5, 6, 4), (17, 70, 2)]


def clipped(v, kappa):
    """The mean along axis 0 without outliers, in at most five rounds; those left out are NaN."""
    v = v.copy()
    for _ in range(5):
        away = np.abs(v - np.nanmedian(v, 0)) > kappa * np.nanstd(v, 0)
        v[away] = np.nan
    return np.nanmean(v, 0)


def want(images, method, kappa):
    v = np.stack(images).astype(np.float64)
    full = np.iinfo(images[0].dtype).max if images[0].dtype != np.float32 else 1
    s = {"mean": lambda: v.mean(0), "median": lambda: np.median(v, 0), "min": lambda: v.min(0),
         "max": lambda: v.max(0), "sum": lambda: v.sum(0) / full, "sigma-clip": lambda: clipped(v, kappa)}[method]()
    return s.astype(np.float32) if method == "sum" or full == 1 else np.floor(s + 0.5)


def close(got, exact):
    """Floats are summed in another order than numpy's."""
    return np.allclose(got, exact, rtol=1e-6, atol=1e-6) if got.dtype == np.float32 else np.array_equal(got, exact)


def save(images):
    paths = []
    for i, image in enumerate(images):
        paths.append(c.path(f"in{i}" + suffix(image)))
        write(paths[-1], image)
    return paths


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in SHAPES:
        for n in (1, 2, 5, 16, 17, 40):
            images = [random_image(c.rng, shape, dtype) for _ in range(n)]
            if n > 4:
                images[2] = images[1] = images[0]  # equal samples
            paths = save(images)
            for method in ("mean", "median", "min", "max", "sum", "sigma-clip"):
                # A kappa that no sample meets exactly, where rounding would decide.
                kappa = 1.7320503
                if method == "sum" and len(shape) == 3 and shape[2] != 3:
                    continue
                out = c.path("out.pfm") if method == "sum" else c.path("out" + suffix(images[0]))
                c.run("stack", *paths, out, "--method", method, "--kappa", str(kappa))
                got, exact = read(out), want(images, method, kappa)
                c.check(f"{method} of {n} {shape} {dtype.__name__}", close(got, exact))

# In a chain the images are side by side; columns that remain are not used.
strip = random_image(c.rng, (12, 31, 3), np.uint8)
source, out = c.path("strip.ppm"), c.path("out.ppm")
write(source, strip)
for method in ("mean", "median"):
    c.run("run", f"stack --images 4 --method {method}", source, out)
    exact = want([strip[:, 7 * k:7 * k + 7] for k in range(4)], method, 3)
    c.check(f"{method} of a strip", np.array_equal(read(out), exact))

# NaN wins over everything else.
images = [random_image(c.rng, (8, 9), np.float32) for _ in range(5)]
for k, image in enumerate(images):
    image[k, k] = np.nan
paths = save(images)
for method in ("mean", "median", "min", "max", "sum", "sigma-clip"):
    c.run("stack", *paths, c.path("out.pfm"), "--method", method)
    got = read(c.path("out.pfm"))
    c.check(f"NaN in {method}", np.array_equal(np.isnan(got), np.isnan(np.sum(images, 0))))
c.end()
