"""integral and cumulative against numpy's cumsum of integers.

Sources: filters/statistics/integral*
"""
from _common import Checks, np, random_image, read, suffix, write

SHAPES = [(1, 1), (33, 47), (29, 31, 3), (21, 17, 4), (19, 23, 2), (300, 280)]
c = Checks()


def sums(image, name, *args, to="out.npy"):
    source = c.path("in" + suffix(image))
    write(source, image)
    c.run(name, source, c.path(to), *args)
    return np.load(c.path(to)) if to.endswith(".npy") else read(c.path(to))


def want(image, name, along, squares):
    """The exact sums: in 64 bits, or in multiples of 2^-40, of which these floats and their squares are integers."""
    v = image.astype(np.uint64) if image.dtype != np.float32 else np.rint(image * np.float64(2**20)).astype(np.int64)
    v = v * v if squares else v
    v = v.cumsum(1, dtype=v.dtype) if name == "integral" or along == "rows" else v
    v = v.cumsum(0, dtype=v.dtype) if name == "integral" or along == "columns" else v
    return v if image.dtype != np.float32 else v / 2.0 ** (40 if squares else 20)


for dtype in (np.uint8, np.uint16, np.float32):
    for shape in SHAPES:
        image = random_image(c.rng, shape, dtype)
        if dtype == np.float32:
            image = (np.round(image * 2.0**20 - 2.0**19) / 2.0**20).astype(np.float32)
        for squares in (False, True):
            for name, along in (("integral", None), ("cumulative", "rows"), ("cumulative", "columns")):
                args = (["--squares"] if squares else []) + (["--along", along] if along else [])
                got, exact = sums(image, name, *args), want(image, name, along, squares)
                n = {None: shape[0] * shape[1], "rows": shape[1], "columns": shape[0]}[along]
                full = float(np.iinfo(dtype).max) ** (2 if squares else 1) if dtype != np.float32 else 0
                kind = np.float64 if dtype == np.float32 else np.uint32 if n * full < 2**32 else np.uint64
                ok = got.dtype == kind and np.array_equal(got, exact.astype(kind))
                c.check(f"{name} {along} squares {squares} {shape} {dtype.__name__}", ok, f"{got.dtype}")

# Sums of floats of any size are exact to 2^-62 of the largest possible sum; samples that are not finite add nothing.
wide = (c.rng.standard_normal((40, 50)) * 10.0 ** c.rng.integers(-9, 9, (40, 50))).astype(np.float32)
got = sums(wide, "integral")
exact = wide.astype(np.longdouble).cumsum(0).cumsum(1)
c.check("floats of any size", np.abs(got - exact).max() <= float(np.abs(wide).max()) * 2000 * 2.0**-50)
odd = wide.copy()
odd[3, 4], odd[5, 6], odd[7, 8] = np.nan, np.inf, -np.inf
c.check("NaN and infinities", np.array_equal(sums(odd, "integral"),
                                             sums(np.where(np.isfinite(odd), odd, 0).astype(np.float32), "integral")))

image = random_image(c.rng, (33, 47, 3), np.uint8)
got = sums(image, "integral", to="out.pfm")
c.check("PFM", np.array_equal(got, want(image, "integral", None, False).astype(np.float32)))
c.end()
