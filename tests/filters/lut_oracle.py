"""lut against numpy in double precision, Pillow's Color3DLUT and FFmpeg's lut3d.

Sources: color_lut filters/color/lut.c cube
"""
import os
import shutil
import subprocess

from _common import Checks, np, optional, random_image, read, suffix, to_type, write

image_module, filter_module = optional("PIL.Image"), optional("PIL.ImageFilter")
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
c = Checks()


def cube_text(table, lo=(0, 0, 0), hi=(1, 1, 1), how="domain"):
    """table: [n, 3], or [b, g, r, 3] in the order of the rows."""
    solid = table.ndim == 4
    head = f'TITLE "a test"\n# comment\nLUT_{"3D" if solid else "1D"}_SIZE {len(table)}\n'
    if how == "range":
        head += f"LUT_{'3D' if solid else '1D'}_INPUT_RANGE {lo[0]!r} {hi[0]!r}\n"
    elif how == "domain":
        head += "DOMAIN_MIN " + " ".join(map(repr, lo)) + "\nDOMAIN_MAX " + " ".join(map(repr, hi)) + "\n\n"
    return head + "".join("%.9g %.9g %.9g\n" % tuple(row) for row in table.reshape(-1, 3).tolist())


def place(v, n, lo, hi):
    p = np.clip((v - np.array(lo)) / (np.array(hi) - np.array(lo)) * (n - 1), 0, n - 1)
    i = np.minimum(p.astype(int), n - 2)
    return i, p - i


def curves(v, table, lo=(0, 0, 0), hi=(1, 1, 1)):
    i, t = place(v, len(table), lo, hi)
    k = np.arange(3)
    return table[i, k] * (1 - t) + table[i + 1, k] * t


def trilinear(v, table, lo=(0, 0, 0), hi=(1, 1, 1)):
    i, t = place(v, len(table), lo, hi)
    total = 0
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, t, 1 - t), -1)[..., None]
        total = total + weight * table[i[..., 2] + corner[2], i[..., 1] + corner[1], i[..., 0] + corner[0]]
    return total


def tetrahedral(v, table, lo=(0, 0, 0), hi=(1, 1, 1)):
    """By barycentric coordinates: the corners are visited in the order of falling fractions."""
    i, t = place(v, len(table), lo, hi)
    order = np.argsort(-t, -1, kind="stable")
    sorted_t = np.take_along_axis(t, order, -1)
    weights = np.concatenate([1 - sorted_t[..., :1], sorted_t[..., :1] - sorted_t[..., 1:2], sorted_t[..., 1:2] - sorted_t[..., 2:], sorted_t[..., 2:]], -1)
    at, total = i.copy(), 0
    for k in range(4):
        total = total + weights[..., k:k + 1] * table[at[..., 2], at[..., 1], at[..., 0]]
        if k < 3:
            np.put_along_axis(at, order[..., k:k + 1], np.take_along_axis(at, order[..., k:k + 1], -1) + 1, -1)
    return total


def applied(image, *args):
    source, result = c.path("in" + suffix(image)), c.path("out" + (suffix(image) if image.ndim == 3 else ".ppm" if image.dtype != np.float32 else ".pfm"))
    write(source, image)
    c.run("lut", source, result, *args)
    return read(result)


def saved(name, *args, **how):
    with open(c.path(name), "w") as file:
        file.write(cube_text(*args, **how))
    return c.path(name)


def near(name, got, exact, dtype):
    c.agree(f"{name} {np.dtype(dtype).name}", got, exact * FULL[dtype], dtype)


def random_cube(n):
    """Entries near the identity, as those of looks are."""
    axis = np.linspace(0, 1, n)
    b, g, r = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.float64(np.float32(np.stack([r, g, b], -1) * 0.8 + c.rng.normal(0, 0.07, (n, n, n, 3)) + 0.1))


for dtype in FULL:
    image = random_image(c.rng, (61, 83, 3), dtype)
    if dtype == np.float32:
        image = image * 1.5 - 0.25
    image[0, :, 1] = image[0, :, 0]  # equal fractions
    image[1] = image[1, :, :1]
    unit = image.astype(np.float64) / FULL[dtype]
    line = np.float64(np.float32(np.sort(c.rng.random((37, 3)), 0)))
    near("curves", applied(image, "--cube", saved("line.cube", line)), curves(unit, line), dtype)
    for n in (2, 9, 33):
        table = random_cube(n)
        path = saved("solid.cube", table)
        near(f"tetrahedral {n}", applied(image, "--cube", path), tetrahedral(unit, table), dtype)
        near(f"trilinear {n}", applied(image, "--cube", path, "--interpolation", "trilinear"), trilinear(unit, table), dtype)
    lo, hi = (-0.2, 0.1, 0.05), (1.2, 0.8, 3.0)
    path = saved("domain.cube", table, lo, hi)
    near("a domain", applied(image, "--cube", path), tetrahedral(unit, table, lo, hi), dtype)
    near("a domain, trilinear", applied(image, "--lut", path, "-i", "trilinear"), trilinear(unit, table, lo, hi), dtype)
    lo, hi = (0.1,) * 3, (0.75,) * 3
    near("a range", applied(image, "--cube", saved("range.cube", table, lo, hi, how="range")), tetrahedral(unit, table, lo, hi), dtype)
    near("a range of curves", applied(image, "--cube", saved("range.cube", line, lo, hi, how="range")), curves(unit, line, lo, hi), dtype)

    # Alpha is kept, and gray becomes colour where the table is not the same for all channels.
    alpha = np.concatenate([image, random_image(c.rng, (61, 83, 1), dtype)], -1)
    got = applied(alpha, "--cube", saved("solid.cube", table))
    c.check(f"alpha {dtype.__name__}", np.array_equal(got[..., 3], alpha[..., 3]))
    near("with alpha", got[..., :3], tetrahedral(unit, table), dtype)
    gray = np.ascontiguousarray(image[..., 0])
    same = np.repeat(line[:, :1], 3, 1)
    near("gray", applied(gray, "--cube", c.path("solid.cube")), tetrahedral(np.repeat(unit[..., :1], 3, -1), table), dtype)
    near("gray, one curve", c.filter(gray, "lut", "--cube", saved("same.cube", same)), curves(unit, same)[..., 0], dtype)

    # HALD images: 8 bits and 16 bits; the pixels in reading order are the rows of the table.
    for kind in (np.uint8, np.uint16):
        hald = to_type(random_cube(4) * FULL[kind], kind)
        write(c.path("hald.ppm"), hald.reshape(8, 8, 3))
        near(f"HALD {kind.__name__}", applied(image, "--hald", c.path("hald.ppm")), tetrahedral(unit, hald.astype(float) / FULL[kind]), dtype)
        if kind == dtype:
            near("HALD, trilinear", applied(image, "--hald", c.path("hald.ppm"), "-i", "trilinear"), trilinear(unit, hald.astype(float) / FULL[kind]), dtype)

nan = np.full((2, 2, 3), np.nan, np.float32)
c.check("NaN stays in curves", np.isnan(applied(nan, "--cube", c.path("line.cube"))).all())
c.check("NaN counts as 0 in solids", np.allclose(applied(nan, "--cube", c.path("solid.cube")), table[0, 0, 0]))

# Other programs. Pillow computes with 16 bits, FFmpeg in float and truncates.
image = random_image(c.rng, (48, 64, 3), np.uint8)
table = np.clip(random_cube(17), 0, 1)
path = saved("peer.cube", table)
if filter_module:
    theirs = image_module.fromarray(image).filter(filter_module.Color3DLUT(17, table.reshape(-1).tolist()))
    off = np.abs(applied(image, "--cube", path, "-i", "trilinear").astype(int) - np.asarray(theirs))
    c.check("Pillow", off.max() <= 1, off.max())
else:
    c.skip("python3 has no PIL")
if shutil.which("ffmpeg"):
    write(c.path("peer.ppm"), image)
    for how in ("trilinear", "tetrahedral"):
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", c.path("peer.ppm"), "-vf", f"lut3d=file={path}:interp={how}", "-pix_fmt", "rgb24", c.path("theirs.ppm")], check=True)
        off = np.abs(applied(image, "--cube", path, "-i", how).astype(int) - read(c.path("theirs.ppm")))
        c.check(f"FFmpeg {how}", off.max() <= 1, off.max())
else:
    c.skip("there is no ffmpeg")

# Damaged files.
write(c.path("one.ppm"), image[:1, :1])
write(c.path("odd.ppm"), image[:9, :9])
write(c.path("gray.pgm"), image[:8, :8, 0])
for words, text in (("line 1: no size before the rows", "0 0 0\n"), ("line 2: the end after 1 rows: want 2", "LUT_1D_SIZE 2\n0 0 0"),
                    ("line 4: more than 2 rows", "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1\n"), ("line 1: want a size of 2 to 256", "LUT_3D_SIZE 257\n"),
                    ("line 1: want a size of 2 to 65536", "LUT_1D_SIZE 1\n"), ("line 1: want a size", "LUT_3D_SIZE 1e9\n"), ("line 2: a second size", "LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n"),
                    ("line 3: want three numbers", "LUT_1D_SIZE 2\n0 0 0\n1 1\n"), ("line 3: want three numbers", "LUT_1D_SIZE 2\n0 0 0\n1 1 nan\n"),
                    ("line 3: a domain from 1 to 1", "LUT_1D_SIZE 2\nDOMAIN_MIN 1 1 1\n0 0 0\n1 1 1\n"), ("line 1: want a row of three numbers, or TITLE", "SOMETHING 2\n"),
                    ("line 2: want two numbers", "LUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 1\n"), ("line 3: want three numbers", "LUT_1D_SIZE 2\r\n0 0 0\r\n1 1 1e39\r\n")):
    with open(c.path("bad.cube"), "w", newline="") as file:
        file.write(text)
    p = c.result("lut", c.path("one.ppm"), c.path("out.ppm"), "--cube", c.path("bad.cube"))
    c.check(words, p.returncode == 2 and f"--cube {c.path('bad.cube')}: {words}" in p.stderr, p.stderr)
with open(c.path("crlf.cube"), "wb") as file:
    file.write(b"\xef\xbb\xbf" + cube_text(line).replace("\n", "\r\n").encode())
c.check("CRLF and a byte order mark", np.array_equal(applied(image, "--cube", c.path("crlf.cube")), applied(image, "--cube", saved("line.cube", line))))
for words, args in (("--cube: missing", []), ("want one of them", ["--cube", path, "--hald", c.path("odd.ppm")]), ("want a square of 8, 27", ["--hald", c.path("odd.ppm")]),
                    ("want a HALD image in colour", ["--hald", c.path("gray.pgm")])):
    p = c.result("lut", c.path("one.ppm"), c.path("out.ppm"), *args)
    c.check(words, p.returncode != 0 and words in p.stderr, p.stderr)
# In bands, and as a step of a chain.
image = random_image(c.rng, (700, 300, 3), np.uint16)
write(c.path("big.ppm"), image)
whole = applied(image, "--hald", c.path("hald.ppm"))
os.environ["GPUIMG_BAND_BYTES"] = "300000"
c.run("run", f"invert | invert | lut --hald {c.path('hald.ppm')}", c.path("big.ppm"), c.path("chain.ppm"))
c.check("in bands", np.array_equal(read(c.path("chain.ppm")), whole))
c.end()
