"""TIFFs whose pictures are not one per page: stacks with a single directory, as ImageJ and tifffile write them, and pages
that are small versions of a picture in a SubIFD. The files are written byte by byte here.
Sources: imgio/tiff/imagej imgio/tiff/subifd imgio/tiff/pages
"""
import itertools
import json
import struct

from _common import Checks, np, random_image

c = Checks()


class Tiff:
    """Writes directories; `subs` of a picture are its SubIFDs."""

    def __init__(self, order="<", big=False):
        self.order, self.big = order, big
        self.data = bytearray((b"II" if order == "<" else b"MM") + struct.pack(order + "H", 43 if big else 42))
        self.data += struct.pack(order + ("HHQ" if big else "I"), *((8, 0, 0) if big else (0,)))
        self.link = 8 if big else 4  # where the offset of the next page belongs

    def place(self, data):
        at = len(self.data)
        self.data += data
        return at

    def directory(self, image, rows=None, stack=(), description=None, kind=None, photometric=None, subs=()):
        """`rows` per strip; `stack`: further pictures behind the first, without a directory."""
        h, w = image.shape[:2]
        n = 1 if image.ndim == 2 else image.shape[2]
        kinds = image.dtype.newbyteorder(self.order)
        at = self.place(image.astype(kinds).tobytes())
        for other in stack:
            self.place(other.astype(kinds).tobytes())
        rows = rows or h
        row = w * n * image.dtype.itemsize
        starts = range(0, h, rows)
        tags = {256: (3, [w]), 257: (3, [h]), 258: (3, [8 * image.dtype.itemsize] * n), 259: (3, [1]),
                262: (3, [photometric or (2 if n == 3 else 1)]), 273: (4, [at + y * row for y in starts]), 277: (3, [n]),
                278: (3, [rows]), 279: (4, [min(rows, h - y) * row for y in starts]),
                339: (3, [3 if image.dtype.kind == "f" else 1] * n)}
        if description:
            tags[270] = (2, list(description.encode() + b"\0"))
        if kind is not None:
            tags[254] = (4, [kind])
        if subs:
            tags[330] = (13, list(subs))
        return self.entries(tags)

    def entries(self, tags):
        out, offset = b"", "Q" if self.big else "I"
        inside = 8 if self.big else 4
        for tag, (kind, values) in sorted(tags.items()):
            packed = struct.pack(self.order + {2: "B", 3: "H", 4: "I", 13: "I"}[kind] * len(values), *values)
            out += struct.pack(self.order + "HH" + offset, tag, kind, len(values))
            out += packed.ljust(inside, b"\0") if len(packed) <= inside else struct.pack(self.order + offset, self.place(packed))
        if len(self.data) % 2:
            self.data += b"\0"
        return self.place(struct.pack(self.order + ("Q" if self.big else "H"), len(tags)) + out + bytes(inside))

    def page(self, at, n):
        """Makes the directory at `at`, of `n` entries, the next page."""
        struct.pack_into(self.order + ("Q" if self.big else "I"), self.data, self.link, at)
        self.link = at + ((8 + 20 * n) if self.big else (2 + 12 * n))

    def add(self, image, **options):
        at = self.directory(image, **options)
        n = struct.unpack_from(self.order + ("Q" if self.big else "H"), self.data, at)[0]
        self.page(at, n)

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.data)


def array(path):
    c.run("convert", "--force", path, c.path("back.npy"), "-q")
    return np.load(c.path("back.npy"))


def descriptions(n, shape):
    yield "ImageJ", f"ImageJ=1.53t\nimages={n}\nslices={n}\nloop=false\n"
    yield "tifffile", json.dumps({"shape": [n, *shape], "truncated": True})
    yield "tifffile with keys", json.dumps({"axes": "ZYX", "truncated": True, "shape": [n, *shape], "k": [1, 2]})
    yield "tifffile without blanks", json.dumps({"shape": [n, *shape]}, separators=(",", ":"))
    yield "tifffile before 2018", f"shape={(n, *shape)}"


# Stacks with one directory.
for dtype, shape, order, rows, big in itertools.product((np.uint8, np.uint16, np.float32), ((12, 16), (9, 7), (6, 5, 3)), "<>",
                                                        (None, 4), (False, True)):
    stack = [random_image(c.rng, shape, dtype) for _ in range(4)]
    for writer, text in descriptions(4, shape):
        tiff = Tiff(order, big)
        tiff.add(stack[0], rows=rows, stack=stack[1:], description=text)
        tiff.save(c.path("s.tif"))
        name = f"{writer} {dtype.__name__} {shape} {order} {rows} {'BigTIFF' if big else ''}"
        number = int(c.rng.integers(0, 4))
        c.check(f"{name} [{number}]", np.array_equal(array(c.path(f"s.tif[{number}]")), stack[number]))
        if order == ">" or rows or big:
            continue
        c.check(f"{name} info", ", 4 images" in c.run("info", c.path("s.tif")).decode())
        c.run("flip", "--v", c.path("s.tif"), c.path("out.tif"))
        for i in range(4):
            c.check(f"{name} page {i}", np.array_equal(array(c.path(f"out.tif[{i}]")), stack[i][::-1]))
        c.check(f"{name}: no word of a single directory", b"truncated" not in open(c.path("out.tif"), "rb").read())
        c.check(f"{name}: no fifth page", b"" == c.run("convert", c.path("s.tif[4]"), c.path("no.npy"), status=1))
        c.run("stack", "--method", "max", c.path("s.tif"), c.path("most.tif"), "-q")
        c.check(f"{name} stack", np.array_equal(array(c.path("most.tif")), np.max(stack, axis=0)))

# A description of a shape that is that of the page makes no stack, nor does one of other samples.
one = random_image(c.rng, (12, 16), np.uint8)
for text in ('{"shape": [12, 16]}', '{"shape": [1, 12, 16]}', '{"shape": [5, 7]}', '{"shape": [0, 12, 16]}', '{"shape": []}',
             '{"shape": [-2, 12, 16]}', "shape=(", '{"shape": 4}', '{"form": "shape"', "ImageJ=1\nimages=", "ImageJ=1\nimages=99999999999999999999"):
    tiff = Tiff()
    tiff.add(one, description=text, stack=[one] * 3)
    tiff.save(c.path("s.tif"))
    c.check(f"{text} is one image", " images" not in c.run("info", c.path("s.tif")).decode())
    c.check(f"{text}: its samples", np.array_equal(array(c.path("s.tif")), one))

# The picture of a page is the largest one that is no smaller version, in the page or in a SubIFD.
full = random_image(c.rng, (40, 60, 3), np.uint8)
other = random_image(c.rng, (40, 60, 3), np.uint8)
for order, big in itertools.product("<>", (False, True)):
    pyramid, raw, two = Tiff(order, big), Tiff(order, big), Tiff(order, big)
    pyramid.add(full, kind=0, subs=[pyramid.directory(full[::2, ::2], kind=1), pyramid.directory(full[::4, ::4], kind=1)])
    pyramid.save(c.path("p.tif"))
    result = c.result("convert", c.path("p.tif"), c.path("p.npy"), "--force")
    c.check(f"pyramid {order} {big}", np.array_equal(np.load(c.path("p.npy")), full), result.stderr)
    two.add(full[::4, ::4], kind=1, subs=[two.directory(full[::2, ::2], kind=1), two.directory(full, kind=0)])
    two.add(other[::4, ::4], kind=1, subs=[two.directory(other)])
    two.save(c.path("t.tif"))
    c.run("flip", "--v", c.path("t.tif"), c.path("out.tif"), "-q")
    for i, want in enumerate((full, other)):
        c.check(f"picture in a SubIFD, page {i} {order} {big}", np.array_equal(array(c.path(f"out.tif[{i}]")), want[::-1]))
    raw.add(full[::4, ::4], kind=1, subs=[raw.directory(full[:, :, 0], kind=0, photometric=32803), raw.directory(full[::2, ::2], kind=1)])
    raw.save(c.path("r.dng"))
    for command in (("info",), ("convert",), ("stats",)):
        result = c.result(*command, c.path("r.dng"), *([c.path("r.png")] if command[0] == "convert" else []))
        c.check(f"{command[0]} of a raw file {order} {big}", result.returncode == 1 and "raw" in result.stderr and "dcraw" in result.stderr,
                result.stderr)
    linear = Tiff(order, big)
    linear.add(full[::4, ::4], kind=1, subs=[linear.directory(full, kind=0, photometric=34892)])
    linear.save(c.path("l.dng"))
    result = c.result("convert", c.path("l.dng"), c.path("l.png"))
    c.check(f"linear raw {order} {big}", result.returncode == 1 and "raw" in result.stderr, result.stderr)

# One picture in a SubIFD is taken with a word about the small one; a file of small versions alone says so.
tiff = Tiff()
tiff.add(full[::4, ::4], kind=1, subs=[tiff.directory(full)])
tiff.save(c.path("s.tif"))
result = c.result("convert", "--force", c.path("s.tif"), c.path("s.npy"))
c.check("SubIFD alone", np.array_equal(np.load(c.path("s.npy")), full) and "smaller version" in result.stderr, result.stderr)
tiff = Tiff()
tiff.add(full, kind=1)
tiff.save(c.path("s.tif"))
result = c.result("convert", "--force", c.path("s.tif"), c.path("s.npy"))
c.check("a small version alone", np.array_equal(np.load(c.path("s.npy")), full) and "smaller version" in result.stderr, result.stderr)
# Offsets of SubIFDs that lead nowhere, to the page itself, or to a directory without a picture.
for sub in (0, 8, 2**32 - 1, 7):
    tiff = Tiff()
    tiff.add(full, kind=0, subs=[sub, sub])
    tiff.save(c.path("s.tif"))
    c.check(f"a SubIFD at {sub}", np.array_equal(array(c.path("s.tif")), full))
c.end()
