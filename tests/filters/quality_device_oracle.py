"""convert --target-ssimulacra2 on a device writes the files of the CPU's search, for every kind of input and output.
GPUIMG_WAY=jpeg_encode:blocks does a GPU's search on the CPU. ssimulacra2_oracle.py compares the CPU's with all qualities.

Sources: cli/run/imaging_save.c cli/commands/convert.c cli/args/quality_target* imgio/judge.h imgio/save_size*
"""
import io
import os
import subprocess
import tarfile

from _common import Checks, need, np

(Image,) = need("PIL.Image")
c = Checks()
os.chdir(c.folder.name)
HERE = os.path.dirname(os.path.abspath(__file__))


def run(way, words, data=None):
    """Runs convert, or the command that comes first, by the way of a device or not. Returns what it prints."""
    env = {**os.environ, "GPUIMG_WAY": "jpeg_encode:blocks"} if way else None
    p = subprocess.run([c.program, *words, "--target-ssimulacra2", "70"], input=data, capture_output=True, env=env)
    c.check(f"{words} {way}: {p.stderr}", p.returncode == 0)
    return p


def made_in(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = f.read()
    return found


def both(what, words, count=1, data=None):
    """Compares the files, the text and the warnings of both ways. OUT in words is a folder for each."""
    results = []
    for way in False, True:
        folder = f"{what}-{way}".replace(" ", "-")
        os.mkdir(folder)
        p = run(way, [word.replace("OUT", folder) for word in words], data)
        results.append((made_in(folder), p.stdout, p.stderr.replace(folder.encode(), b"OUT").splitlines()[:1 if count == 1 else 0]))
        ran = run(way, [word.replace("OUT", folder) for word in words] + ["-v"], data).stderr
        c.check(f"{what}: {'a device' if way else 'the CPU'} searches: {ran}", (b"jpeg_encode blocks" in ran) == way)
    c.check(f"{what}: the same files", results[0][:2] == results[1][:2] and len(results[0][0]) + bool(results[0][1]) == count,
            [{n: len(b) for n, b in r[0].items()} for r in results])
    c.check(f"{what}: the same warnings", results[0][2] == results[1][2], [r[2] for r in results])
    return results[1]


image = np.asarray(Image.open(os.path.join(HERE, "..", "..", "testdata", "landscape.png")))[200:263, 150:231]
Image.fromarray(image).save("in.png", dpi=(200, 200))
Image.fromarray(image[:9, :8]).save("small.png")
Image.fromarray(image).save("in.jpg", quality=97, subsampling=0, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")
alpha = np.linspace(0, 255, image.shape[0] * image.shape[1]).astype(np.uint8).reshape(*image.shape[:2], 1)
Image.fromarray(np.concatenate([image, alpha], axis=2)).save("alpha.png")
deep = (image.astype(np.uint16) * 257)[:, :, 1]
Image.fromarray(deep).save("deep.png")
pages = [Image.fromarray(np.roll(image, 9 * i, axis=1)) for i in range(3)]
pages[0].save("pages.tif", save_all=True, append_images=pages[1:])

both("plain", ["convert", "in.png", "OUT/a.jpg"])
both("small", ["convert", "small.png", "OUT/a.jpg"])
both("oriented", ["convert", "in.jpg", "OUT/a.jpg"])
both("orientation kept", ["convert", "in.jpg", "OUT/a.jpg", "--keep-orientation", "--dpi", "300"])
both("options", ["convert", "in.png", "OUT/a.jpg", "--gray", "--subsampling", "4:4:4", "--quality", "90"])
both("alpha", ["convert", "alpha.png", "OUT/a.jpg"])
both("background", ["convert", "alpha.png", "OUT/a.jpg", "--background", "orange"])
both("16 bits", ["convert", "deep.png", "OUT/a.jpg"])
both("profile", ["convert", "in.png", "OUT/a.jpg", "--profile", "srgb"])
both("pages", ["convert", "pages.tif", "OUT/{page}.jpg"], 3)
both("batch", ["convert", "in.png", "deep.png", "pages.tif[1]", "--out", "OUT/{index}.jpg", "--threads", "2"], 3)
both("standard input", ["convert", "-", "-", "--format", "jpeg"], data=open("in.png", "rb").read())
with io.BytesIO() as packed:
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in "in.png", "alpha.png":
            tar.add(name)
    both("tar", ["convert", "--tar", "-", "-", "--suffix", ".jpg"], data=packed.getvalue())

both("a result of 16 bits", ["invert", "deep.png", "OUT/a.jpg", "--background", "orange"])
both("a step before", ["flip", "in.jpg", "OUT/a.jpg", "--h"])

# Files that no device encodes, and files without a target.
for words in (["in.png", "no.jpg", "--progressive"], ["in.png", "no.webp"]):
    env = {**os.environ, "GPUIMG_WAY": "jpeg_encode:blocks"}
    p = subprocess.run([c.program, "convert", *words, "--target-ssimulacra2", "70"], capture_output=True, env=env)
    c.check(f"{words}: {p.stderr}", p.returncode == 2 and b"no jpeg_encode has run" in p.stderr)
for device in "cuda", "auto", "cpu":
    p = c.result("convert", "in.png", "plain.jpg", "--force", "--device", device, "-v")
    c.check(f"{device} does not matter without a target", p.returncode == 0 and "cuda" not in p.stderr, p.stderr)
p = c.result("convert", "in.png", "no.jpg", "--device", "gpu")
c.check("--device gpu", p.returncode == 2 and "--device gpu: want auto, cpu, cuda" in p.stderr, p.stderr)
c.end()
