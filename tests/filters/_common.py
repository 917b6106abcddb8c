"""Helpers of the oracle scripts: images written and read by hand, the program run, results counted.

The oracles are numpy and scipy from the distribution; pixels are passed as PNM and PFM, which this module writes and
reads without gpuimg's help.
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: threads would wait for each other

SEED = int(os.environ.get("SEED", "20261121"))

# Names of our border modes in scipy.ndimage.
SCIPY_MODES = {"clamp": "nearest", "border": "constant", "wrap": "wrap", "mirror": "reflect", "reflect101": "mirror"}


def need(*modules):
    """Imports the oracles; if one is missing, prints that and ends as skipped."""
    found = []
    for name in modules:
        try:
            found.append(__import__(name, fromlist=["_"]))
        except ImportError:
            print(f"SKIP: python3 has no {name}")
            print("0 passed, 0 failed, 1 skipped")
            sys.exit(0)
    return found


def optional(name):
    """Imports an oracle, or returns None if it is missing."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        return None


(np,) = need("numpy")


def write(path, image):
    """Writes an image of (h, w) or (h, w, 3 or 4), uint8, uint16 or float32: PGM, PPM or PAM, PFM for floats, or
    .npy by its name."""
    h, w = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    if path.endswith(".npy"):
        return np.save(path, image)
    with open(path, "wb") as f:
        if image.dtype == np.float32:
            f.write(b"%s\n%d %d\n-1.0\n" % (b"Pf" if channels == 1 else b"PF", w, h))
            f.write(image[::-1].astype("<f4").tobytes())
            return
        full = 255 if image.dtype == np.uint8 else 65535
        if channels in (2, 4):
            kind = b"GRAYSCALE_ALPHA" if channels == 2 else b"RGB_ALPHA"
            f.write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n"
                    % (w, h, channels, full, kind))
        else:
            f.write(b"%s\n%d %d\n%d\n" % (b"P5" if channels == 1 else b"P6", w, h, full))
        f.write(image.astype(">u2" if full > 255 else "u1").tobytes())


def read(path):
    if path.endswith(".npy"):
        return np.load(path)
    data = open(path, "rb").read()
    if data[:2] in (b"Pf", b"PF"):
        _, size, scale, rest = data.split(b"\n", 3)
        w, h = map(int, size.split())
        channels = 1 if data[:2] == b"Pf" else 3
        kind = "<f4" if float(scale) < 0 else ">f4"
        image = np.frombuffer(rest, kind).astype(np.float32).reshape(h, w, channels)[::-1]
    elif data[:2] == b"P7":
        head, rest = data.split(b"ENDHDR\n", 1)
        fields = dict(line.split(None, 1) for line in head.split(b"\n")[1:] if line)
        w, h, channels = (int(fields[k]) for k in (b"WIDTH", b"HEIGHT", b"DEPTH"))
        kind = ">u2" if int(fields[b"MAXVAL"]) > 255 else "u1"
        image = np.frombuffer(rest, kind, h * w * channels).reshape(h, w, channels)  # the first of several
    else:
        magic, size, full, rest = data.split(b"\n", 3)
        w, h = map(int, size.split())
        kind = ">u2" if int(full) > 255 else "u1"
        image = np.frombuffer(rest, kind).reshape(h, w, 1 if magic == b"P5" else 3)
    return image[:, :, 0] if image.shape[2] == 1 else image


def suffix(image):
    if image.dtype == np.float32:
        return ".npy" if image.ndim == 3 and image.shape[2] % 2 == 0 else ".pfm"
    return {1: ".pgm", 3: ".ppm"}.get(1 if image.ndim == 2 else image.shape[2], ".pam")


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class Checks:
    """Counts checks and prints the name of each failed one. Usage: c = Checks(); ...; c.end()"""

    def __init__(self):
        if len(sys.argv) != 2:
            sys.exit(f"usage: {sys.argv[0]} GPUIMG")
        self.program, self.passed, self.failed, self.skipped = os.path.abspath(sys.argv[1]), 0, 0, 0
        self.folder = tempfile.TemporaryDirectory(prefix="gpuimg-test-")
        self.rng = np.random.default_rng(SEED)
        print(f"SEED={SEED}")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {name} {detail}")

    def skip(self, reason):
        self.skipped += 1
        print(f"SKIP: {reason}")

    def run(self, *args, status=0):
        """Returns the standard output of the program; raises on another exit status than expected."""
        p = subprocess.run([self.program, *map(str, args)], capture_output=True)
        if p.returncode != status:
            raise RuntimeError(f"gpuimg {' '.join(map(str, args))}: exit {p.returncode}: {p.stderr!r}")
        return p.stdout

    def result(self, *args):
        """Runs the program; returns the exit status, standard output and standard error."""
        return subprocess.run([self.program, *map(str, args)], capture_output=True, text=True)

    def agree(self, name, got, exact, dtype, few=None):
        """Checks a result against one in double. `few`: not all of the pixels, of which a sample near a tie is a large
        share; by default images of fewer than 2000 samples."""
        if got.shape != exact.shape:
            return self.check(name, False, f"{got.shape}, want {exact.shape}")
        if dtype == np.float32:
            worst = np.abs(got - exact).max()
            return self.check(name, worst <= 2.0**-20 * max(1e-30, np.abs(exact).max()), f"off by {worst}")
        off = np.abs(got.astype(np.int64) - to_type(exact, dtype).astype(np.int64))
        share = 0.999 if dtype == np.uint8 else 0.95
        enough = (off.size < 2000 if few is None else few) or (off == 0).mean() >= share
        return self.check(name, off.max() <= 1 and enough, f"off by {off.max()}, equal {(off == 0).mean():.5f}")

    def filter(self, image, name, *args):
        """Returns the filter's result for the image."""
        source, result = self.path("in" + suffix(image)), self.path("out" + suffix(image))
        write(source, image)
        self.run(name, source, result, *args)
        return read(result)

    def end(self):
        os.chdir("/")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0)


def random_image(rng, shape, dtype):
    if dtype == np.float32:
        return rng.random(shape, dtype=np.float32)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


# Names of our border modes in numpy.pad.
PADS = {"clamp": "edge", "border": "constant", "wrap": "wrap", "mirror": "symmetric", "reflect101": "reflect"}


def visible(image, mask, of, border="clamp", value=None, turned=False):
    """Applies `of` to the sorted samples of the window whose `mask` is not 0 and whose alpha is > 0; if there are
    none, keeps the sample. `value` is a pixel outside under border mode border; `turned`: the window is rotated
    by 180 degrees, as for dilation."""
    h, w = mask.shape
    before, after = (h // 2, w // 2), ((h - 1) // 2, (w - 1) // 2)
    if turned:
        mask, before, after = mask[::-1, ::-1], after, before
    more = {"mode": PADS[border]}
    around = np.dstack([np.pad(image[:, :, i], tuple(zip(before, after)), **more, **({"constant_values": value[i]} if border == "border" else {}))
                        for i in range(image.shape[2])])
    out = image.copy()
    for y, x in np.ndindex(image.shape[:2]):
        window = around[y:y + h, x:x + w][mask > 0]
        window = window[window[:, -1] > 0]
        for i in range(image.shape[2] - 1 if len(window) else 0):
            out[y, x, i] = of(np.sort(window[:, i]))
    return out


def to_type(exact, dtype):
    """Converts a double result to the type: rounded half to even and saturated."""
    if dtype == np.float32:
        return exact.astype(np.float32)
    return np.clip(np.rint(exact), 0, np.iinfo(dtype).max).astype(dtype)


def colours(image):
    """Returns the number of colour channels; 0 if the image has a single channel."""
    return 0 if image.ndim == 2 else image.shape[2] - (image.shape[2] % 2 == 0)


def luma(image):
    """Returns the gray image for decisions: the luma in single precision, as README defines it."""
    if colours(image) <= 1:
        return image if image.ndim == 2 else image[:, :, 0]
    r, g, b = (image[:, :, i].astype(np.float32) for i in range(3))
    f, d = np.float32, np.float64
    first = f(0.2126) * r
    second = (d(f(0.7152)) * g.astype(d) + first).astype(f)
    return to_type((d(f(0.0722)) * b.astype(d) + second).astype(f), image.dtype.type)
