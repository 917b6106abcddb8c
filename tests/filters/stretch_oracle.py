"""normalize --stretch against numpy in double precision, and astropy.

Sources: normalize
"""
from _common import Checks, np, optional, random_image, to_type

visualization = optional("astropy.visualization")
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
CURVES = {"asinh": lambda t: np.arcsinh(10 * t) / np.arcsinh(10), "log": lambda t: np.log1p(1000 * t) / np.log1p(1000)}
c = Checks()


def check(name, got, exact, dtype):
    if dtype == np.float32:
        worst = np.nanmax(np.abs(got - exact))
        return c.check(name, worst <= 2.0**-20 and np.array_equal(np.isnan(got), np.isnan(exact)), worst)
    want = to_type(exact * FULL[dtype], dtype).astype(int)
    tie = np.abs(exact * FULL[dtype] % 1 - 0.5) < 1e-9
    return c.check(name, (np.abs(got.astype(int) - want) <= tie).all(), np.abs(got.astype(int) - want).max())


for dtype in FULL:
    for shape in ((41, 57), (41, 57, 3)):
        image = random_image(c.rng, shape, dtype)
        image = (image // 2 + 9).astype(dtype) if dtype != np.float32 else (image**4 * 3000 + 500).astype(np.float32)
        for name, curve in CURVES.items():
            for percent in ((0, 100), (2, 95)):
                args = ["--stretch", name, "--percentiles", "%g,%g" % percent, "--per-channel"]
                lo, hi = np.percentile(image.astype(np.float64), percent, axis=(0, 1))
                t = np.clip((image - lo) / (hi - lo), 0, 1)
                check(f"{name} {percent} {dtype.__name__} {shape}", c.filter(image, "normalize", *args), curve(t), dtype)
                if visualization:
                    theirs = {"asinh": visualization.AsinhStretch(), "log": visualization.LogStretch()}[name](t)
                    check(f"astropy's {name} {dtype.__name__}", c.filter(image, "normalize", *args), theirs, dtype)
if not visualization:
    c.skip("python3 has no astropy")
image = np.float32([[0, 1, np.nan, 4, np.inf, -np.inf]])
t = np.array([[0, 0.25, np.nan, 1, 1, 0]])
check("NaN stays, infinities are limited", c.filter(image, "normalize", "--stretch", "log"), CURVES["log"](t), np.float32)
for flat in (np.full((3, 4), 7, np.uint8), np.full((3, 4), 7.5, np.float32)):
    c.check("equal samples stay", np.array_equal(c.filter(flat, "normalize", "--stretch", "asinh"), flat))
c.end()
