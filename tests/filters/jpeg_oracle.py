"""How JPEGs are written, as Pillow and djpeg read it: --quality keep has the tables and sampling factors of the input, for
one image, batches, tars and streams, at every thread count, and where a device's scan is used.

Sources: imgio/jpeg/jpeg_settings.c imgio/jpeg/jpeg_write.c imgio/save.c imgio/save_size.c cli/args/image_options.c
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


def frame(path):
    """The marker of the frame: 0xc0 is baseline, 0xc2 progressive."""
    data = open(path, "rb").read()
    at = 2
    while not 0xc0 <= data[at + 1] <= 0xc2:
        at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
    return data[at + 1]


def pixels(path):
    return subprocess.run(["djpeg", "-ppm", path], capture_output=True, check=True).stdout


def check_scans(name, source, want):
    """--progressive, --optimize and --subsampling, alone and together with --quality."""
    plain, made = c.path("plain.jpg"), c.path("made.jpg")
    for quality in ((), ("--quality", "80")) if name in ("rows", "gray", "three") else ((),):
        c.run("flip", "--v", source, plain, *quality)
        for options, marker in (("--progressive",), 0xc2), (("--optimize",), frame(plain)), (("--progressive", "--optimize"), 0xc2):
            c.run("flip", "--v", source, made, *quality, *options)
            c.check(f"{name}: {options} {quality}: the frame", frame(made) == marker, frame(made))
            c.check(f"{name}: {options} {quality}: tables and factors", coding(made) == coding(plain))
            c.check(f"{name}: {options} {quality}: the samples", pixels(made) == pixels(plain))
            if options == ("--optimize",):
                c.check(f"{name}: {quality}: optimize is smaller", os.path.getsize(made) < os.path.getsize(plain))
    factors = {"4:4:4": (1, 1), "4:2:2": (2, 1), "4:2:0": (2, 2), "keep": want[0][1:]}
    for word, luma in factors.items():
        c.run("flip", "--v", source, made, "--subsampling", word)
        others = [v[1:] for v in want[1:]] if word == "keep" else [(1, 1)] * (len(want) - 1)
        c.check(f"{name}: --subsampling {word}", [v[1:] for v in coding(made)] == [luma if others else (1, 1)] + others, coding(made))
        c.check(f"{name}: --subsampling {word}: the tables", [v[0] for v in coding(made)] == [v[0] for v in want])
    c.run("flip", "--v", source, made, "--subsampling", "keep", "--quality", 60)
    c.check(f"{name}: the factors at quality 60", [v[1:] for v in coding(made)] == [v[1:] for v in want])


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
    check_scans(name, source, want)

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


def check_sizes(source, suffix):
    """--max-file-size: the file of a quality, whose next quality is above the limit."""
    made, files = c.path("sized" + suffix), {}
    for quality in range(1, 101):
        c.run("convert", source, made, "--force", "--quality", quality)
        files[quality] = open(made, "rb").read()
    smallest, largest = len(files[1]), len(files[100])
    for limit in smallest, (smallest + largest) // 3, len(files[90]) - 1, largest - 1, largest, 10 * largest:
        c.run("convert", source, made, "--force", "--max-file-size", limit)
        got = open(made, "rb").read()
        qualities = [quality for quality in files if files[quality] == got]
        c.check(f"{suffix}: at most {limit} bytes", len(got) <= limit and qualities, len(got))
        c.check(f"{suffix}: {limit} bytes: the next quality is too large", max(qualities) == 100 or len(files[max(qualities) + 1]) > limit, qualities)
        c.run("convert", source, made, "--force", "--max-file-size", limit, "--quality", 40)
        got = open(made, "rb").read()
        c.check(f"{suffix}: {limit} bytes and quality 40", got == files[40] if len(files[40]) <= limit else len(got) <= limit)
    refused = c.result("convert", source, c.path("none" + suffix), "--max-file-size", smallest - 1)
    c.check(f"{suffix}: quality 1 is too large", refused.returncode == 1 and f"has {smallest} bytes at quality 1" in refused.stderr, refused.stderr)
    c.check(f"{suffix}: no file is left", not os.path.exists(c.path("none" + suffix)))


check_sizes(f"{folder}/q100-2.jpg", ".jpg")
if b"webp  " in c.run("list"):
    photo(90, 70).save(c.path("small.png"))
    check_sizes(c.path("small.png"), ".webp")
else:
    c.skip("no WebP")
for more in ("--progressive",), ("--optimize",), ("--subsampling", "keep"), ("--threads", "4"), ("--dpi", "300"):
    c.run("gaussian", f"{folder}/rows.jpg", out, "--max-file-size", "100k", *more)
    c.check(f"100k, {more}", 80000 < os.path.getsize(out) <= 100000, os.path.getsize(out))
c.run("gaussian", "--recursive", folder, "--out-dir", c.path("limited"), "--max-file-size", "9K", "--except", "rows.jpg")
c.check("a batch", all(os.path.getsize(f"{c.path('limited')}/{name}.jpg") <= 9000 for name in names if name != "rows"))
for args in ("of.jpg", "--format", "png"), ("made.pgm",):
    got = c.result("convert", f"{folder}/gray.jpg", c.path(args[0]), *args[1:], "--max-file-size", "1K")
    c.check(f"{args} has no quality", got.returncode == 2 and "is for formats with a --quality, not for p" in got.stderr, got.stderr)
c.end()
