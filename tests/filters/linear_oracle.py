"""--linear: filters in linear light against numpy and scipy in double precision.

Sources: imgio/metadata/linear_light* convolution
"""
import os
import struct
import zlib

from _common import Checks, need, png_chunk as chunk, read

np, ndimage = need("numpy", "scipy.ndimage")

c = Checks()
check = c.check
os.chdir(c.folder.name)
def run(*words):
    result = c.result(*words)
    return result.returncode, result.stderr


def png(path, image, *more):
    h, w = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    bits = 8 * image.itemsize
    rows = image.astype(">u2" if bits == 16 else "u1").reshape(h, -1)
    head = struct.pack(">IIBBBBB", w, h, bits, (0, 0, 4, 2, 6)[channels], 0, 0, 0)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more)
                + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def pam(path):
    return np.atleast_3d(read(path)).astype(np.int64)


def srgb(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def srgb_back(v):
    return np.where(v <= 0.04045 / 12.92, 12.92 * v, 1.055 * np.maximum(v, 0) ** (1 / 2.4) - 0.055)


def profile(space, curves):
    """A profile with transfer curves only."""
    curves = [*curves, (b"rand", np.random.default_rng(7).bytes(200))]  # libpng refuses very short chunks
    at, table, data = 128 + 4 + 12 * len(curves), b"", b""
    for tag, body in curves:
        table += struct.pack(">4sII", tag, at + len(data), len(body))
        data += body + b"\0" * (-len(body) % 4)
    size = at + len(data)
    head = struct.pack(">I4sI4s4s4s12s4s", size, b"\0\0\0\0", 0x04200000, b"mntr", space, b"XYZ ",
                       b"\x07\xe8\0\x01\0\x01\0\0\0\0\0\0", b"acsp")
    head = head.ljust(68, b"\0") + struct.pack(">III", 0xf6d6, 0x10000, 0xd32d)  # D50
    return chunk(b"iCCP", b"p\0\0" + zlib.compress(head.ljust(128, b"\0") + struct.pack(">I", len(curves)) + table + data))


def gamma(value):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256))


def samples(dtype, channels, seed):
    rng = np.random.default_rng(seed)
    most = np.iinfo(dtype).max
    image = rng.integers(0, most + 1, (61, 83, channels))
    image[20:40] //= 16
    return image.astype(dtype)


def against(name, image, decode, encode, *more):
    """Compares with a blur of 5 x 5 in linear light, by this transfer curve."""
    most = np.iinfo(image.dtype).max
    png("in.png", image, *more)
    status, said = run("blur", "in.png", "out.pam", "--k", "5", "--linear", "--device", "cpu", "-q")
    check(f"{name}: {said}", status == 0)
    if status:
        return
    light = [ndimage.uniform_filter(decode(image[..., c] / most, c), 5, mode="nearest") for c in range(image.shape[2])]
    want = np.stack([np.rint(encode(light[c], c) * most) for c in range(image.shape[2])], 2)
    differ = np.abs(pam("out.pam") - want)
    least = 0.999 if most == 255 else 0.95
    check(f"{name}: {differ.max()} off, {np.mean(differ == 0):.6f} equal", differ.max() <= 1 and np.mean(differ == 0) >= least)


def halved():
    """Compares with resize by a box: the means of 2 x 2 in linear light, by this transfer curve."""
    image = np.maximum(samples("u1", 3, 8)[:60, :82], 16)  # below, where the curve is a line, means are ties
    png("in.png", image)
    status, said = run("resize", "in.png", "out.pam", "--size", "50%", "--filter", "box", "--linear", "--device", "cpu", "-q")
    check(f"resize: {said}", status == 0)
    light = srgb(image / 255).reshape(30, 2, 41, 2, 3).mean(axis=(1, 3))
    differ = np.abs(pam("out.pam") - np.rint(srgb_back(light) * 255))
    check(f"resize: {differ.max()} off, {np.mean(differ == 0):.6f} equal", differ.max() <= 1 and np.mean(differ == 0) >= 0.999)


def every_sample():
    for dtype in ("u1", "u2"):
        most = np.iinfo(dtype).max
        image = np.arange(most + 1, dtype=dtype).reshape(-1, 256, 1)
        png("in.png", image)
        for depth in ("same", "16", "float"):
            out = "out.pam" if depth != "float" else "out.pfm"
            status, said = run("blur", "in.png", out, "--k", "1", "--linear", "--depth", depth, "--device", "cpu")
            check(f"{dtype} to {depth}: {said}", status == 0)
            if depth == "float":
                with open(out, "rb") as f:
                    got = np.frombuffer(f.read().split(b"\n", 3)[3], "<f4").reshape(image.shape[:2])[::-1]
                check(f"{dtype} to float and back", np.abs(got - image[..., 0] / most).max() < 1e-6)
            else:
                want = image.astype(np.int64) * (257 if depth == "16" and dtype == "u1" else 1)
                check(f"{dtype} to {depth}: every sample comes back", np.array_equal(pam(out), want))


def main():
    for dtype in ("u1", "u2"):
        for channels in (1, 3):
            against(f"sRGB, {dtype} x {channels}", samples(dtype, channels, 1), lambda v, c: srgb(v), lambda v, c: srgb_back(v))
            against(f"gAMA 1, {dtype} x {channels}", samples(dtype, channels, 2), lambda v, c: v, lambda v, c: v,
                    chunk(b"gAMA", struct.pack(">I", 100000)))
            against(f"cICP of gamma 2.2, {dtype} x {channels}", samples(dtype, channels, 3), lambda v, c: v**2.2,
                    lambda v, c: v ** (1 / 2.2), chunk(b"cICP", bytes([1, 4, 0, 1])))
    # The transfers of ITU-T H.273 that are a power or sRGB's; cICP has priority over sRGB, and sRGB over gAMA (PNG, 4.3).
    powers = {"8": (1, [8]), "5": (2.8, [5]), "4, not gAMA": (2.2, [4, 100000]), "8, not gAMA": (1, [8, 45455])}
    for name, (power, (transfer, *rest)) in powers.items():
        against(f"cICP {name}", samples("u1", 3, 9), lambda v, c: v**power, lambda v, c: v ** (1 / power),
                chunk(b"cICP", bytes([1, transfer, 0, 1])), *(chunk(b"gAMA", struct.pack(">I", g)) for g in rest))
    gamma_1 = chunk(b"gAMA", struct.pack(">I", 100000))
    for name, more in {"cICP 13": [chunk(b"cICP", bytes([1, 13, 0, 1])), gamma_1], "sRGB": [gamma_1, chunk(b"sRGB", b"\0")],
                       "gAMA 1/2.2": [chunk(b"gAMA", struct.pack(">I", 45455))]}.items():
        against(f"{name} is sRGB", samples("u1", 3, 9), lambda v, c: srgb(v), lambda v, c: srgb_back(v), *more)
    against("gAMA 1/1.8", samples("u1", 3, 9), lambda v, c: v ** (1e5 / 55556), lambda v, c: v ** (55556 / 1e5),
            chunk(b"gAMA", struct.pack(">I", 55556)))
    png("in.png", samples("u1", 3, 4), chunk(b"gAMA", struct.pack(">I", 5000)))
    check("a gamma of 20", run("blur", "in.png", "made.png", "--linear")[0] == 1 and not os.path.exists("made.png"))
    png("in.png", samples("u1", 3, 4), chunk(b"cICP", bytes([9, 16, 0, 1])))
    status, said = run("blur", "in.png", "made.png", "--linear")
    check("a curve that is not known: " + said, status == 1 and "--linear: its cICP or gAMA" in said and not os.path.exists("made.png"))

    # Each channel has its own curve; one is a table of 16 bits with exponent 3.
    exponents = (1.8, 2.5, 3.0)
    steps = np.rint(65535 * np.linspace(0, 1, 4096) ** 3)
    table = b"curv\0\0\0\0" + struct.pack(">I", 4096) + steps.astype(">u2").tobytes()

    def decode(v, c):
        return v ** exponents[c] if c < 2 else np.interp(v, np.linspace(0, 1, 4096), steps / 65535)

    def encode(v, c):
        """Returns the sample to which linear light is rounded: the last one whose lower midpoint it reaches."""
        return np.searchsorted(decode((np.arange(1, 256) - 0.5) / 255, c), v, side="right") / 255

    rgb = profile(b"RGB ", [(b"rTRC", gamma(1.8)), (b"gTRC", gamma(2.5)), (b"bTRC", table)])
    gray = profile(b"GRAY", [(b"kTRC", gamma(1.8))])
    png("in.png", samples("u1", 3, 5), rgb)
    status, said = run("blur", "in.png", "out.png", "--linear", "--device", "cpu")
    if status and ("no lcms2" in said or "lcms2 (" in said):
        c.skip("no lcms2")
    else:
        with open("out.png", "rb") as f:
            data = f.read()
            at = data.index(b"iCCP")
            sent = zlib.decompressobj().decompress(data[data.index(b"\0\0", at) + 2:])
            check("the profile travels", sent == zlib.decompressobj().decompress(rgb[11:]))
        exponents = tuple(round(e * 256) / 256 for e in exponents)  # as a profile has them
        against("ICC, 8 bits", samples("u1", 3, 5), decode, encode, rgb)
        against("ICC, gray", samples("u1", 1, 5), lambda v, c: v ** exponents[0], lambda v, c: v ** (1 / exponents[0]), gray)
        png("in.png", samples("u1", 3, 5), profile(b"RGB ", [(b"A2B0", gamma(1))]))
        status, said = run("blur", "in.png", "made.png", "--linear")
        check("a profile without curves: " + said, status == 1 and "no curve for each channel" in said)
        status, said = run("run", "gaussian --sigma 1 | sharpen", "in.png", "made.png", "--linear", "--strip", "-q")
        check("a chain of a file whose profile has no curves: " + said, status == 1)

    every_sample()
    halved()
    status, said = run("invert", "in.png", "made.png", "--linear")
    check("invert --linear: " + said, status == 2 and "mixes no light" in said)
    for channels in (2, 4):
        image = samples("u1", channels, 6)
        image[..., -1] = 77
        png("in.png", image)
        status, said = run("gaussian", "in.png", "out.pam", "--linear", "--device", "cpu")
        check(f"alpha of {channels} channels: {said}", status == 0 and np.all(pam("out.pam")[..., -1] == 77))


main()
c.end()
