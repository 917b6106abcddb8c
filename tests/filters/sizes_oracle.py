"""resize --sizes: the files have the names, the sizes and, with --like pillow, the samples of Pillow's Image.resize.

Sources: cli/commands/resize.c cli/run/imaging_variants.c cli/paths/names.c
"""
import os

from _common import Checks, need, np

PIL, Image = need("PIL", "PIL.Image")

VERSION = tuple(int(n) for n in PIL.__version__.split(".")[:2])
LIKE = "pillow-13" if VERSION >= (13, 0) else "pillow-12" if VERSION >= (12, 2) else "pillow-11"

c = Checks()


def fitted(size, box):
    """The size within the box, of which a side may be None, that has the aspect ratio of `size`; never enlarged."""
    (w, h), (bw, bh) = size, box
    scale = min(1.0, *(b / s for b, s in ((bw, w), (bh, h)) if b))
    if scale == 1.0:
        return size
    by_width = bw and (not bh or bw * h <= bh * w)
    return (bw, max(1, (2 * h * bw + w) // (2 * w))) if by_width else (max(1, (2 * w * bh + h) // (2 * h)), bh)


def test(name, mode, size, sizes):
    folder = c.path("of")
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, name)
    bands = Image.new(mode, (1, 1)).getbands()
    samples = c.rng.integers(0, 256, (size[1], size[0], len(bands)), dtype=np.uint8)
    image = Image.fromarray(samples[:, :, 0] if len(bands) == 1 else samples, mode)
    image.save(source)
    stem = name.split(".")[0]
    text = ",".join(f"{w or ''}x{h or ''}" if h else str(w) for w, h in sizes)
    c.run("resize", source, "--sizes", text, "--like", LIKE, "--filter", "bicubic", "--alpha", "straight",
          "--out", os.path.join(folder, "out/{width}/{stem}-{height:05}.png"))
    want = {}
    for box in sizes:
        w, h = fitted(size, box)
        want[f"{w}/{stem}-{h:05}.png"] = np.asarray(image.resize((w, h), Image.BICUBIC))
    out = os.path.join(folder, "out")
    got = {os.path.relpath(os.path.join(at, file), out) for at, _, files in os.walk(out) for file in files
           if file.startswith(stem)}
    c.check(f"{name}: names", got == set(want), f"{sorted(got)}, want {sorted(want)}")
    for file in got & set(want):
        made = np.asarray(Image.open(os.path.join(out, file)))
        c.check(f"{name}: {file}", np.array_equal(made, want[file]), "differs from Pillow")


test("wide.png", "RGB", (200, 60), [(50, None), (20, None), (300, None), (200, None)])
test("tall.png", "L", (31, 97), [(10, None), (20, 20), (None, 13), (1000, 1000)])
test("small.png", "RGB", (1, 1), [(10, None), (1, None)])
c.end()
