"""A field of an output holds the value of the input, or a warning names it and --strict is an error: resolutions from a tenth
of a pixel to a million pixels per inch in every format, and colours multiplied by alpha that exceed it.

Sources: imgio/losses* imgio/tiff/unmultiply.c imgio/jpeg/jpeg_write.c imgio/png/png_write.c imgio/bmp/bmp_write.c
"""
import os
import struct

from _common import Checks
from _tags import compose, parse

c = Checks()
check = c.check
os.chdir(c.folder.name)


def tiff(more, samples=3, data=bytes(12)):
    open("in.tif", "wb").write(compose([(256, 3, [2]), (257, 3, [2]), (258, 3, [8] * samples), (259, 3, [1]), (262, 3, [2]),
                                        (273, 4, [8]), (277, 3, [samples]), (278, 3, [2]), (279, 4, [len(data)]), *more],
                                       data=data))


def told(path):
    """The resolution per inch that the file tells, or None."""
    data = open(path, "rb").read()
    if path.endswith("tif"):
        tags = parse(data)
        return tuple(tags[t][1][0] / tags[t][1][1] for t in (282, 283)) if 282 in tags else None
    if path.endswith("jpg"):
        unit, x, y = struct.unpack(">BHH", data[13:18])
        return (x * (1, 1, 2.54)[unit], y * (1, 1, 2.54)[unit]) if unit else None
    if path.endswith("bmp"):
        x, y = struct.unpack("<II", data[38:46])
        return (x * 0.0254, y * 0.0254) if x else None
    at = data.find(b"pHYs")
    x, y = struct.unpack(">II", data[at + 4:at + 12])
    return (x * 0.0254, y * 0.0254) if at > 0 else None


CASES = [(300, 1), (72, 1), (1, 2), (1, 10), (145, 2), (254000, 1), (100000, 1), (1000000, 1), (65535, 1), (30001, 100),
         (7112, 100), (29972, 100), (1, 1), (3, 2)]
for x, per in CASES:
    for y in (x, 2 * x):
        dpi = x / per, y / per
        tiff([(282, 5, [(x, per)]), (283, 5, [(y, per)]), (296, 3, [2])])
        for suffix in ("tif", "jpg", "png", "bmp", "webp", "ppm"):
            path = f"out.{suffix}"
            result, strict = c.result("invert", "in.tif", path), c.result("invert", "in.tif", "strict." + suffix, "--strict")
            held = suffix not in ("webp", "ppm") and told(path)
            near = bool(held) and all(abs(a - b) <= b * 1.001e-3 for a, b in zip(held, dpi))
            named = "resolution" in result.stderr and strict.returncode == 1
            check(f"{dpi} in {suffix}: held or named", near != named, f"{held} {result.stderr}")
check("a resolution per cm stays one", (tiff([(282, 5, [(118, 1)]), (283, 5, [(118, 1)]), (296, 3, [3])]),
      c.run("invert", "in.tif", "cm.jpg", "--strict"), open("cm.jpg", "rb").read()[13:18])[2] == struct.pack(">BHH", 2, 118, 118))

# Associated alpha: colours are divided by it, and what exceeds full scale is cut off.
for pixels, cut in ((bytes([200, 10, 20, 100] * 4), True), (bytes([100, 10, 20, 100] * 4), False),
                    (bytes([0, 0, 0, 0, 255, 255, 255, 255] * 2), False), (bytes([9, 9, 9, 0] * 4), False),
                    (bytes([100, 10, 20, 100] * 3 + [1, 2, 3, 2]), True)):
    tiff([(338, 3, [1])], 4, pixels)
    result, strict = c.result("invert", "in.tif", "out.png"), c.result("invert", "in.tif", "strict.png", "--strict")
    check(f"colours above alpha {list(pixels[-4:])}", ("colours above their alpha" in result.stderr) == cut == (strict.returncode == 1),
          result.stderr)
    tiff([(338, 3, [2])], 4, pixels)
    check("straight alpha has no limit", c.result("invert", "in.tif", "straight.png", "--strict").returncode == 0)
c.end()
