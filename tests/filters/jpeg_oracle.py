"""How JPEGs are written, as Pillow reads it: --quality keep has the quantization tables and sampling factors of the input, for
one image, batches, tars and streams, at every thread count, and where a device's scan is used.

Sources: imgio/jpeg/jpeg_settings.c imgio/jpeg/jpeg_write.c imgio/save.c cli/args/image_files.c
"""
import os
import subprocess
import tarfile

from _common import Checks, need, np, write

(Image,) = need("PIL.Image")
c = Checks()
RGB, GRAY, RESTARTS = (301, 203), (133, 57), (900, 1300)  # the last has several strips


def photo(width, height):
    y, x = np.mgrid[:height, :width]
    planes = [128 + 60 * np.sin(x / 23.0 + k) + 50 * np.cos(y / 17.0 - k) for k in range(3)]
    return Image.fromarray(np.clip(np.stack(planes, axis=2) + c.rng.normal(0, 5, (height, width, 3)), 0, 255).astype(np.uint8))


def coding(path):
    """The tables by component, and the sampling factors, of the frame."""
    with Image.open(path) as image:
        image.load()
        return [(image.quantization[slot], h, v) for _, h, v, slot in image.layer]


folder = c.path("in")
os.mkdir(folder)
color, gray = photo(*RGB), photo(*GRAY).convert("L")
inputs = {f"q{quality}-{sampling}": (color, {"quality": quality, "subsampling": sampling}) for quality in (1, 50, 100) for sampling in (0, 1, 2)}
odd = [[int(n) for n in c.rng.integers(1, 256, 64)] for _ in range(3)]
inputs["odd"] = (color, {"qtables": odd[:2], "subsampling": 2})
inputs["three"] = (color, {"qtables": odd, "subsampling": 0})
inputs["progressive"] = (color, {"quality": 60, "progressive": True})
inputs["rows"] = (photo(*RESTARTS), {"quality": 70, "subsampling": 1})
inputs["gray"] = (gray, {"quality": 40})
for name, (image, options) in inputs.items():
    image.save(f"{folder}/{name}.jpg", **options)
# Tables for each component, of which Pillow writes two at most; 4:1:1, 4:4:0, and tables of 16 bits, which no quality has.
ppm = c.path("color.ppm")
write(ppm, np.asarray(color))
with open(c.path("slots"), "w", encoding="ascii") as file:
    file.write("\n".join(" ".join(map(str, table)) for table in (*odd[:2], [300 + k for k in range(64)])))
for name, options in {"wide": ["-sample", "4x1"], "tall": ["-sample", "1x2"],
                      "slots": ["-qtables", c.path("slots"), "-qslots", "0,1,2", "-sample", "2x2"]}.items():
    with open(f"{folder}/{name}.jpg", "wb") as file:
        subprocess.run(["cjpeg", "-quality", "100", *options, ppm], stdout=file, check=True)
    inputs[name] = None

out = c.path("out.jpg")
for name in inputs:
    source = f"{folder}/{name}.jpg"
    want = coding(source)
    for command in ("flip", "--h"), ("resize", "--size", "50%"):
        c.run(*command, source, out)
        c.check(f"{name}: {command[0]} keeps tables and factors", coding(out) == want, (coding(out), want))
    c.run("convert", source, out, "--gray", "--strip")
    c.check(f"{name}: a gray result has the table of the luma", coding(out) == [(want[0][0], 1, 1)], coding(out))
    c.run("gaussian", source, out, "--threads", 1, "--quality", "keep")
    one = open(out, "rb").read()
    c.run("gaussian", source, out, "--threads", 4)
    c.check(f"{name}: 1 and 4 threads", one == open(out, "rb").read())
    os.environ["GPUIMG_WAY"] = "cpu/jpeg_encode:blocks"
    c.run("gaussian", source, out, "--device", "cpu")
    del os.environ["GPUIMG_WAY"]
    c.check(f"{name}: with the encoder of devices, if it has these factors", one == open(out, "rb").read())

# Without tables to keep, the quality is 90: another format between, colour made of gray, CMYK, one image of several.
color.convert("CMYK").save(c.path("cmyk.jpg"), quality=50)
c.run("convert", f"{folder}/q50-2.jpg", c.path("of.png"))
for name, command in {"PNG": ("convert", c.path("of.png")), "CMYK": ("convert", c.path("cmyk.jpg")),
                      "colour of gray": ("color", f"{folder}/gray.jpg", "--sepia"),
                      "several": ("montage", f"{folder}/q1-2.jpg", f"{folder}/q50-2.jpg")}.items():
    for path in c.path("keep.jpg"), c.path("90.jpg"):
        if os.path.exists(path):
            os.remove(path)
    c.run(*command, c.path("keep.jpg"))
    c.run(*command, c.path("90.jpg"), "--quality", 90)
    c.check(f"{name}: quality 90", open(c.path("keep.jpg"), "rb").read() == open(c.path("90.jpg"), "rb").read())

# Batches, tars and streams write the same files.
names = sorted(inputs)
with tarfile.open(c.path("in.tar"), "w") as tar:
    for name in names:
        tar.add(f"{folder}/{name}.jpg", f"{name}.jpg")
for threads in (1, 4):
    c.run("invert", "--recursive", folder, "--out-dir", c.path(f"out{threads}"), "--threads", threads)
c.run("invert", "--tar", c.path("in.tar"), c.path("out.tar"))
piped = subprocess.run([c.program, "invert", "-", "jpeg:-"], input=b"".join(open(f"{folder}/{name}.jpg", "rb").read() for name in names),
                       capture_output=True, check=True).stdout
with tarfile.open(c.path("out.tar")) as tar:
    wants = []
    for name in names:
        c.run("invert", f"{folder}/{name}.jpg", out)
        wants.append(open(out, "rb").read())
        for threads in (1, 4):
            c.check(f"{name}: a batch, {threads} threads", open(c.path(f"out{threads}/{name}.jpg"), "rb").read() == wants[-1])
        c.check(f"{name}: a tar", tar.extractfile(f"{name}.jpg").read() == wants[-1])
c.check("a stream", piped == b"".join(wants))
c.end()
