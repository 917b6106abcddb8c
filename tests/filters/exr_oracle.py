"""OpenEXR of OpenCV, and OpenCV's reading of ours: half and float, alpha, gray, layers, compression, damage.

Sources: imgio/exr
"""
import json
import os
import struct

os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import numpy as np

from _common import Checks

c = Checks()
check = c.check
os.chdir(c.folder.name)
formats = json.loads(c.run("list", "--json"))["formats"]
if any(f["name"] == "exr" and f["missing"] for f in formats):
    c.skip("this build or this system has no OpenEXR")
    c.end()
try:
    import cv2
    cv2.imwrite("probe.exr", np.zeros((2, 2, 3), "f4"))
except Exception:
    c.skip("OpenCV is not installed or has no OpenEXR (python3-opencv)")
    c.end()

H, W = 37, 53


def ours(name, *args):
    c.run("convert", name, "ours.npy", "--force", *args)
    return np.load("ours.npy")


def parts(name):
    return {p["name"]: p["fate"] for p in json.loads(c.run("info", name, "--json"))["parts"]}


def opencv(name):
    got = cv2.imread(name, cv2.IMREAD_UNCHANGED)
    return got[..., [2, 1, 0, 3][: got.shape[2]]] if got.ndim == 3 else got


# What OpenCV writes, by type and compression (3 is ZIP, 4 PIZ, 0 none).
values = (c.rng.normal(size=(H, W, 3)) * 100).astype("f4")
halves = values.astype("f2").astype("f4")
for compression in (0, 1, 2, 3, 4):
    for kind, image in ((cv2.IMWRITE_EXR_TYPE_FLOAT, values), (cv2.IMWRITE_EXR_TYPE_HALF, halves)):
        cv2.imwrite("a.exr", image[..., ::-1], [cv2.IMWRITE_EXR_TYPE, kind, cv2.IMWRITE_EXR_COMPRESSION, compression])
        check(f"OpenCV's type {kind}, compression {compression}", np.array_equal(ours("a.exr"), image))
cv2.imwrite("a.exr", values[..., 0])
check("OpenCV's gray", np.array_equal(ours("a.exr").squeeze(), opencv("a.exr").squeeze()[..., 0] if opencv("a.exr").ndim == 3 else opencv("a.exr")))

# What we write. Samples that half floats hold are halves; these include subnormal numbers and infinity.
halves[0, :6, 0] = [2.0**-24, -(2.0**-14), 65504, np.inf, 0, -(2.0**-20)]
for image, half in ((values, False), (halves, True), (values[..., 0], False), (halves[..., 0], True)):
    np.save("in.npy", image)
    for args in ((), ("--compression", "0")):
        c.run("convert", "in.npy", "b.exr", "--force", "--strict", *args)
        got = opencv("b.exr")
        got = got[..., 0] if image.ndim == 2 and got.ndim == 3 else got
        check(f"OpenCV reads {image.shape} {half} {args}", np.array_equal(got, image))
        check("and so do we", np.array_equal(ours("b.exr").squeeze(), image))
        check("half floats where they hold all", json.loads(c.run("info", "b.exr", "--json"))["bits"] == (16 if half else 32))
for v, half in ((2.0**-25, False), (65536.0, False), (1 + 2.0**-11, False), (1 + 2.0**-10, True), (3 * 2.0**-25, False)):
    np.save("in.npy", np.full((3, 3), v, "f4"))
    c.run("convert", "in.npy", "b.exr", "--force")
    check(f"{v} is {half}", (json.loads(c.run("info", "b.exr", "--json"))["bits"] == 16) == half)

# Colours are multiplied by alpha in the file.
rgba = np.abs(values[..., [0, 1, 2, 0]]) + 1
rgba[..., 3] = c.rng.integers(1, 9, (H, W)) / 8
np.save("in.npy", rgba)
c.run("convert", "in.npy", "b.exr", "--force", "--strict")
want = rgba.copy()
want[..., :3] *= rgba[..., 3:]
check("OpenCV reads multiplied colours", np.array_equal(opencv("b.exr"), want))
check("and we straight ones", np.allclose(ours("b.exr"), rgba, rtol=1e-6))


# A file of layers, written by hand without compression (OpenEXR file layout, 3.1): channels in the order of the alphabet.
def attribute(name, kind, value):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<i", len(value)) + value


def layered(channels, width, height, aspect=1.0, centre=(0, 0), screen=1.0, more=b""):
    names = sorted(channels)
    data = b"".join(n.encode() + b"\0" + struct.pack("<iBBBBii", channels[n][0], 0, 0, 0, 0, 1, 1) for n in names) + b"\0"
    box = struct.pack("<4i", -2, 5, width - 3, height + 4)
    head = b"\x76\x2f\x31\x01\2\0\0\0" + attribute("channels", "chlist", data) + attribute("compression", "compression", b"\0")
    head += attribute("dataWindow", "box2i", box) + attribute("displayWindow", "box2i", struct.pack("<4i", 0, 0, 99, 99)) + attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("owner", "string", b"me") + attribute("pixelAspectRatio", "float", struct.pack("<f", aspect))
    head += attribute("screenWindowCenter", "v2f", struct.pack("<2f", *centre))
    head += attribute("screenWindowWidth", "float", struct.pack("<f", screen)) + more + b"\0"
    rows = []
    for y in range(height):
        line = b"".join(channels[n][1][y].astype({0: "<u4", 1: "<f2", 2: "<f4"}[channels[n][0]]).tobytes() for n in names)
        rows.append(struct.pack("<ii", 5 + y, len(line)) + line)
    at, table = len(head) + 8 * height, []
    for row in rows:
        table.append(struct.pack("<Q", at))
        at += len(row)
    return head + b"".join(table) + b"".join(rows)


plane = [c.rng.normal(size=(7, 9)).astype("f2").astype("f4") for _ in range(5)]
open("l.exr", "wb").write(layered({"diffuse.R": (1, plane[0]), "diffuse.G": (2, plane[1]), "diffuse.B": (1, plane[2]), "Z": (2, plane[3])}, 9, 7))
check("a layer is read", np.array_equal(ours("l.exr"), np.stack(plane[:3], -1)))
check("other parts are named", parts("l.exr") == {"channel Z": "lost", "name of layer diffuse": "lost", "attribute owner": "lost", "display window": "lost"}, parts("l.exr"))
open("l.exr", "wb").write(layered({"Z": (2, plane[0]), "u": (0, np.full((7, 9), 7)), "v": (1, plane[1])}, 9, 7))
check("other channels are bands", np.array_equal(ours("l.exr"), np.stack([plane[0], np.full((7, 9), 7, "f4"), plane[1]], -1)))
check("names of bands are named", parts("l.exr").get("names of 3 channels") == "lost", parts("l.exr"))
check("a band is chosen", np.array_equal(ours("l.exr[bands=3]"), plane[1]))

# Pixels that are not square are resolutions without a unit, and the other way round.
gray = {"Y": (2, plane[0])}
for aspect, x, y in ((2.0, 1, 2), (0.5, 2, 1), (1.1, 10, 11), (0.91, 100, 91), (1.0, 0, 0), (4 / 3, 3, 4)):
    open("l.exr", "wb").write(layered(gray, 9, 7, aspect))
    told = json.loads(c.run("info", "l.exr", "--json"))
    check(f"pixels of {aspect}", (told.get("unitless_x") or 0, told.get("unitless_y") or 0) == (x, y), told)
    c.run("invert", "l.exr", "out.exr")
    data = open("out.exr", "rb").read()
    at = data.index(b"pixelAspectRatio\0float\0") + 27
    check(f"pixels of {aspect} stay", np.float32(aspect) == np.frombuffer(data[at:at + 4], "<f4")[0])
    c.run("transpose", "l.exr", "out.exr")
    data = open("out.exr", "rb").read()
    check(f"pixels of {aspect} transposed", abs(np.frombuffer(data[at:at + 4], "<f4")[0] * aspect - 1) < 1e-6)
result = c.result("convert", "l.exr", "out.hdr", "--force")
check("a format that has square pixels names the loss", "hdr cannot hold the resolution" in result.stderr, result.stderr)
for args, name in (((1.0, (0.5, 0)), "attribute screenWindowCenter"), ((1.0, (0, 0), 2.0), "attribute screenWindowWidth"),
                   ((1.0, (0, 0), 1.0, attribute("name", "string", b"left")), "attribute name")):
    open("l.exr", "wb").write(layered(gray, 9, 7, *args))
    check(f"{name} is named", parts("l.exr").get(name) == "lost", parts("l.exr"))
open("l.exr", "wb").write(layered({"depth": (2, plane[0])}, 9, 7))
check("the name of a channel is named", parts("l.exr").get("name of channel depth") == "lost", parts("l.exr"))
c.end()
