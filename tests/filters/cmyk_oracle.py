"""CMYK images with an ICC profile against Pillow's conversion by lcms2; the profile is made here.

Sources: imgio/metadata/icc* imgio/jpeg/jpeg*
"""
import io
import os
import struct

from _common import Checks, need, read

np, image_module, cms = need("numpy", "PIL.Image", "PIL.ImageCms")
c = Checks()
check = c.check
os.chdir(c.folder.name)
GRID = 5


def profile():
    """A profile of unusual inks from a table of 5 x 5 x 5 x 5, so that no formula gives the same colours."""
    steps = np.arange(256, dtype="u1").tobytes()
    ink = np.stack(np.meshgrid(*[np.linspace(0, 1, GRID)] * 4, indexing="ij"), -1).reshape(-1, 4)
    light = (1 - ink[:, 3]) * (1 - ink @ [0.3, 0.45, 0.1, 0])
    lab = np.stack([255 * np.clip(light, 0, 1), 128 + 60 * (ink[:, 1] - ink[:, 0]) * light,
                    128 + 70 * (ink[:, 2] - ink[:, 0]) * light], -1)
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    lut = (b"mft1\0\0\0\0" + bytes([4, 3, GRID, 0]) + identity + steps * 4
           + np.clip(np.rint(lab), 0, 255).astype("u1").tobytes() + steps * 3)
    white = b"XYZ \0\0\0\0" + struct.pack(">3I", 0xf6d6, 0x10000, 0xd32d)
    tags, table, at = [(b"A2B0", lut), (b"wtpt", white)], b"", 128 + 4 + 24
    for tag, body in tags:
        table += struct.pack(">4sII", tag, at, len(body))
        at += len(body) + -len(body) % 4
    head = struct.pack(">I4sI4s4s4s12s4s", at, b"\0\0\0\0", 0x02400000, b"prtr", b"CMYK", b"Lab ",
                       b"\x07\xe8\0\x01\0\x01\0\0\0\0\0\0", b"acsp").ljust(68, b"\0")
    head = (head + struct.pack(">3I", 0xf6d6, 0x10000, 0xd32d)).ljust(128, b"\0")
    return head + struct.pack(">I", 2) + table + b"".join(b + b"\0" * (-len(b) % 4) for _, b in tags)


def tiff(path, inks, icc):
    h, w = inks.shape[:2]
    bits = 8 * inks.itemsize
    data = inks.astype("<u2" if bits == 16 else "u1").tobytes()
    at = 8 + len(data) + len(data) % 2
    tags = [(256, 4, 1, w), (257, 4, 1, h), (258, 3, 4, at), (259, 3, 1, 1), (262, 3, 1, 5), (273, 4, 1, 8), (277, 3, 1, 4),
            (278, 4, 1, h), (279, 4, 1, len(data)), (34675, 7, len(icc), at + 8)]
    with open(path, "wb") as f:
        f.write(struct.pack("<2sHI", b"II", 42, at + 8 + len(icc)) + data + b"\0" * (len(data) % 2)
                + struct.pack("<4H", *[bits] * 4) + icc + struct.pack("<H", len(tags))
                + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0\0\0\0")


icc = profile()
rng = np.random.default_rng(8)
inks = rng.integers(0, 256, (53, 71, 4)).astype("u1")
inks[:9] = np.linspace(0, 255, 9)[:, None, None]
picture = image_module.fromarray(inks, "CMYK")
transform = cms.buildTransform(io.BytesIO(icc), cms.createProfile("sRGB"), "CMYK", "RGB",
                               cms.Intent.RELATIVE_COLORIMETRIC, flags=0x2000)

def reference(cmyk):
    return np.asarray(cms.applyTransform(cmyk, transform)).astype(int)

tiff("in8.tif", inks, icc)
tiff("in16.tif", inks.astype("u2") * 257, icc)
picture.save("in.jpg", quality=95, icc_profile=icc)
for name, want in (("in8.tif", reference(picture)), ("in16.tif", reference(picture) * 257),
                   ("in.jpg", reference(image_module.open("in.jpg")))):
    result = c.result("convert", "--force", name, "out.ppm")
    if "no lcms2" in result.stderr or "lcms2 (" in result.stderr or "libtiff" in result.stderr:
        c.skip(result.stderr.strip())
        continue
    check(f"{name}: {result.stderr}", result.returncode == 0 and result.stderr == "")
    strict = c.result("convert", "--force", "--strict", name, "out.ppm")
    check(f"{name}: --strict: {strict.stderr}", strict.returncode == 0)
    wide = c.result("convert", "--force", "--strict", "--profile", "display-p3", name, "p3.png")
    check(f"{name}: --profile takes it as sRGB: {wide.stderr}", wide.returncode == 0 and wide.stderr == "")
    if name != "in16.tif":
        p3 = image_module.open("p3.png")
        to = cms.buildTransform(cms.createProfile("sRGB"), io.BytesIO(p3.info["icc_profile"]), "RGB", "RGB",
                                cms.Intent.RELATIVE_COLORIMETRIC, flags=0x2140)
        moved = np.asarray(cms.applyTransform(image_module.fromarray(want.astype("u1")), to)).astype(int)
        differ = np.abs(np.asarray(p3).astype(int) - moved)
        check(f"{name}: Display P3: {differ.max()} off", differ.max() <= 1)  # two profiles of sRGB
    differ = np.abs(read("out.ppm").astype(int) - want)
    most = 257 if name == "in16.tif" else 0  # Pillow has 8 bits only
    check(f"{name}: {differ.max()} off", differ.max() <= most)
    plain = 255 - inks[..., :3].astype(int)
    check(f"{name}: not the formula's", np.abs(want // (257 if most else 1) - plain * (255 - inks[..., 3:]) // 255).max() > 20)

def segments(jpeg):
    """The segments before the first scan, with their markers, and the rest."""
    at, found = 2, []
    while jpeg[at + 1] != 0xda:
        n = 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
        found.append(jpeg[at:at + n])
        at += n
    return found, jpeg[at:]


# Without Adobe's marker, and with each of its transforms: 0 (CMYK), 2 (YCCK), and 1, which means YCCK too for four components.
ramp = np.zeros((24, 32, 4), "u1")
ramp[..., 0], ramp[..., 1] = np.arange(32) * 8, np.arange(24)[:, None] * 10
ramp[..., 2], ramp[..., 3] = 255 - ramp[..., 0], ramp[..., 1] // 2
image_module.fromarray(ramp, "CMYK").save("plain.jpg", quality=95, subsampling=0)
parts, scan = segments(open("plain.jpg", "rb").read())
parts = [p for p in parts if p[1] not in (0xe0, 0xee)]
jfif = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
adobe = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0"
for name, head in (("no marker", b""), ("JFIF alone", jfif), ("transform 0", adobe + b"\0"), ("transform 1", adobe + b"\1"),
                   ("transform 2", adobe + b"\2"), ("JFIF and transform 2", jfif + adobe + b"\2")):
    with open("marked.jpg", "wb") as f:
        f.write(b"\xff\xd8" + head + b"".join(parts) + scan)
    c.run("convert", "--force", "marked.jpg", "out.ppm")
    want = np.asarray(image_module.open("marked.jpg").convert("RGB")).astype(int)
    differ = np.abs(read("out.ppm").astype(int) - want)
    check(f"CMYK JPEG, {name}: {differ.max()} off", differ.max() <= 1)  # Pillow rounds twice
c.end()
