"""--bands: the same bands of every input, in single commands, batches, members of tars, standard input, pages and streams, as
brackets choose them for one name.

Sources: cli/args/image_files imgio/bands
"""
import csv
import io
import json
import os
import subprocess
import tarfile

from _common import Checks, np, optional, random_image

c = Checks()
tifffile = optional("tifffile")
TYPES = (np.uint8, np.uint16, np.float32) if tifffile else (np.uint8, np.uint16)
SUFFIX = ".tif" if tifffile else ".pam"


def save(path, image):
    if path.endswith(".npy"):
        np.save(path, image)
    elif path.endswith(".tif"):
        tifffile.imwrite(path, image, photometric="minisblack", planarconfig="contig", extrasamples=[0] * (image.shape[2] - 1), metadata=None, software=False)
    else:
        with open(path, "wb") as file:
            file.write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nENDHDR\n" % (*image.shape[1::-1], image.shape[2], np.iinfo(image.dtype).max))
            file.write(image.astype(">u2" if image.dtype == np.uint16 else "u1").tobytes())


def piped(bytes_in, *args):
    p = subprocess.run([c.program, *args], input=bytes_in, capture_output=True)
    c.check(" ".join(args), p.returncode == 0, p.stderr)
    return p.stdout


CHOICES = {"1": [0], "5": [4], "3,2,1": [2, 1, 0], "2-5": [1, 2, 3, 4], "1-5": [0, 1, 2, 3, 4], "5,5,1": [4, 4, 0], "1,2,3,a4": [0, 1, 2, 3], "1,a5": [0, 4]}
images = {}
os.mkdir(c.path("in"))
for n in (5, 7, 13):
    for dtype in TYPES:
        image = random_image(c.rng, (20, 18, n), dtype)
        for form in (SUFFIX, ".npy"):
            name = f"{n}{np.dtype(dtype).name}{form}"
            save(c.path("in/" + name), image)
            images[name] = image
with tarfile.open(c.path("in.tar"), "w") as tar:
    for name in images:
        if not name.endswith(".npy"):  # in tars that is data beside images
            tar.add(c.path("in/" + name), name)

for k, (bands, order) in enumerate(CHOICES.items()):
    strict = [] if bands == "2-5" else ["--strict"]  # an array of four bands is read as RGBA
    for name, image in list(images.items())[k % 5::5]:  # each image is in one or two of the choices
        path = c.path("in/" + name)
        c.run("flip", "--h", path, c.path("one.npy"), "--bands", bands, *strict)
        c.run("flip", "--h", f"{path}[bands={bands}]", c.path("two.npy"), *strict)
        got = np.atleast_3d(np.load(c.path("one.npy")))
        c.check(f"--bands {bands} {name}", np.array_equal(got, image[:, ::-1, order]))
        c.check(f"brackets {bands} {name}", open(c.path("one.npy"), "rb").read() == open(c.path("two.npy"), "rb").read())
        out = piped(open(path, "rb").read(), "flip", "--h", "-", "npy:-", "--bands", bands)
        c.check(f"stdin {bands} {name}", np.array_equal(np.atleast_3d(np.load(io.BytesIO(out))), image[:, ::-1, order]))
        found = json.loads(c.run("stats", path, "--json", "--bands", bands))["channels"]
        c.check(f"stats {bands} {name}", [ch["max"] for ch in found] == [float(image[:, :, i].max()) for i in order])
        found = json.loads(c.run("info", path, "--json", "--bands", bands))
        c.check(f"info {bands} {name}", found["channels"] == len(order), str(found)[:300])
    # batches
    out_dir = c.path("out" + bands)
    c.run("invert", *(c.path("in/" + name) for name in images if name.endswith(SUFFIX)), "--out-dir", out_dir, "--bands", bands, "--suffix", ".npy", *strict)
    c.run("invert", "--tar", c.path("in.tar"), c.path("out.tar"), "--bands", bands)
    with tarfile.open(c.path("out.tar")) as tar:
        tar.extractall(c.path("tar" + bands))
    c.run("convert", "--recursive", c.path("tar" + bands), "--out-dir", c.path("arrays" + bands), "--suffix", ".npy", "-q")
    for name, image in images.items():
        if not name.endswith(SUFFIX):
            continue
        want = image[:, :, order].copy()
        alpha = bands.count("a")
        want[:, :, :len(order) - alpha] = (1 if want.dtype == np.float32 else np.iinfo(want.dtype).max) - want[:, :, :len(order) - alpha]
        got = np.atleast_3d(np.load(os.path.join(out_dir, name.replace(SUFFIX, ".npy"))))
        c.check(f"batch {bands} {name}", np.array_equal(got, want))
        c.check(f"tar {bands} {name}", np.array_equal(np.atleast_3d(np.load(c.path(f"arrays{bands}/{name.replace(SUFFIX, '.npy')}"))), want))
    for inputs in ([c.path("in/" + name) for name in images if name.endswith(SUFFIX)], ["--tar", c.path("in.tar")]):
        c.run("stats", *inputs, "--table", c.path("t.csv"), "--bands", bands)
        rows = list(csv.DictReader(open(c.path("t.csv"))))
        for name, image in images.items():
            if name.endswith(SUFFIX):
                got = [float(r["max"]) for r in rows if os.path.basename(r["file"]) == name]
                c.check(f"table {bands} {name}", got == [float(image[:, :, i].max()) for i in order], str(got))

# Both files of a comparison, not the images of options; brackets override.
five, other = (random_image(c.rng, (20, 18, 5), np.uint8) for _ in "ab")
other[:, :, 1] = five[:, :, 1]
save(c.path("five.npy"), five)
save(c.path("other.npy"), other)
np.save(c.path("gray.npy"), other[:, :, 3])
c.check("compare --bands", c.result("compare", c.path("five.npy"), c.path("other.npy"), "--bands", "2").returncode == 0 and
        c.result("compare", c.path("five.npy"), c.path("other.npy"), "--bands", "1").returncode == 1)
c.run("absdiff", c.path("five.npy"), c.path("d.npy"), "--bands", "3,2,1", "--with", c.path("gray.npy"))
c.check("--with is not chosen from", np.array_equal(np.load(c.path("d.npy")), np.abs(five[:, :, [2, 1, 0]].astype(int) - other[:, :, 3:4])))
c.run("convert", c.path("five.npy[bands=4]"), c.path("d.npy"), "--bands", "3,2,1", "--force")
c.check("brackets override", np.array_equal(np.load(c.path("d.npy")), five[:, :, 3]))
for form in (".png", ".jpg"):
    c.run("convert", c.path("five.npy"), c.path("rgb" + form), "--bands", "3,2,1", "--force")
    c.run("convert", c.path("rgb" + form), c.path("red.npy"), "--bands", "1", "--force")
    c.run("convert", c.path("rgb" + form), c.path("all.npy"), "--force")
    c.check(f"--bands of a {form}", np.array_equal(np.load(c.path("red.npy")), np.load(c.path("all.npy"))[:, :, 0]))
stream = b"".join(b"P7\nWIDTH 18\nHEIGHT 20\nDEPTH 5\nMAXVAL 255\nENDHDR\n" + i.tobytes() for i in (five, other))
out = piped(stream, "invert", "-", "ppm:-", "--bands", "3,2,1")
want = b"".join(b"P6\n18 20\n255\n" + (255 - i[:, :, [2, 1, 0]]).tobytes() for i in (five, other))
c.check("a stream", out == want)
if tifffile:
    tifffile.imwrite(c.path("pages.tif"), np.stack([five, other]), photometric="minisblack", planarconfig="contig", metadata=None, software=False)
    c.run("invert", c.path("pages.tif"), c.path("pages2.tif"), "--bands", "3,2,1")
    c.check("pages", np.array_equal(tifffile.imread(c.path("pages2.tif")), 255 - np.stack([five, other])[..., [2, 1, 0]]))
# --rgb is short for --bands 1,2,3.
for suffix in (".ppm", ".npy"):
    c.run("flip", "--h", c.path("five.npy"), c.path("one" + suffix), "--rgb")
    c.run("flip", "--h", c.path("five.npy"), c.path("two" + suffix), "--bands", "1,2,3")
    c.check("--rgb " + suffix, open(c.path("one" + suffix), "rb").read() == open(c.path("two" + suffix), "rb").read())
c.check("--rgb of numpy", np.array_equal(np.load(c.path("one.npy")), five[:, ::-1, :3]))
c.check("stats --rgb", [ch["max"] for ch in json.loads(c.run("stats", c.path("five.npy"), "--json", "--rgb"))["channels"]] == five[:, :, :3].max((0, 1)).tolist())
c.run("invert", "--tar", c.path("in.tar"), c.path("a.tar"), "--rgb")
c.run("invert", "--tar", c.path("in.tar"), c.path("b.tar"), "--bands", "1,2,3")
c.check("--rgb of a tar", open(c.path("a.tar"), "rb").read() == open(c.path("b.tar"), "rb").read())
c.check("--rgb of a stream", piped(stream, "invert", "-", "ppm:-", "--rgb") == piped(stream, "invert", "-", "ppm:-", "--bands", "1,2,3"))
c.check("compare --rgb", c.result("compare", c.path("five.npy"), c.path("five.npy[bands=1-3]"), "--rgb").returncode == 0)
# Mistakes.
result = c.result("stats", c.path("five.npy"), "--rgb", "--bands", "1")
c.check("--rgb --bands", result.returncode == 2 and "--rgb and --bands 1: want one of them" in result.stderr, result.stderr)
result = c.result("channels", c.path("five.npy"), c.path("e.npy"), "--rgb", "--order", "1")
c.check("--rgb --order", result.returncode == 2 and "want one of them" in result.stderr, result.stderr)
np.save(c.path("two.npy"), five[:, :, :2])
result = c.result("invert", c.path("two.npy"), c.path("e.npy"), "--rgb")
c.check("--rgb of two bands", result.returncode == 1 and "bands 1 to 2" in result.stderr, result.stderr)
for bands in ("0", "x", "3-1", "1,", "a1", "", "1;2"):
    result = c.result("invert", c.path("five.npy"), c.path("e.npy"), "--bands", bands)
    c.check(f"--bands {bands!r}", result.returncode == 2 and "--bands" in result.stderr, result.stderr)
result = c.result("invert", c.path("five.npy"), c.path("e.npy"), "--bands", "6")
c.check("no such band", result.returncode == 1 and "bands 1 to 5" in result.stderr, result.stderr)
open(c.path("v.y4m"), "wb").write(b"YUV4MPEG2 W2 H2 F25:1 C420\nFRAME\n" + bytes(6))
result = c.result("invert", c.path("v.y4m"), c.path("w.y4m"), "--bands", "1")
c.check("video", result.returncode == 2 and "--bands" in result.stderr, result.stderr)
c.end()
