"""Test suites of image files against another reader: the distribution's Pillow, or ffmpeg if Pillow misreads a file.
tests/unit/test_imgio_png.c and test_imgio_pnm.c read PngSuite and PFM.

The suites are in ../shared/corpora (GPUIMG_CORPORA names another folder); some TIFFs are part of the distribution's
skimage. One line per suite prints the number of equal files.

Sources: imgio
"""
import glob
import os
import subprocess

from _common import Checks, need, np, read

Image, ImageOps, skimage = need("PIL.Image", "PIL.ImageOps", "skimage")
Image.MAX_IMAGE_PIXELS = None

CORPORA = os.environ.get("GPUIMG_CORPORA") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/corpora")
SUITES = (
    # Name, files, minimum number of files, and the tolerance in steps: five bits per colour are rounded here and truncated
    # there.
    ("JPEG", "jpeg/*/[!m]*.jpg", 21, {}),
    ("BMP Suite, good", "bmpsuite/g/*.bmp", 27, {"rgb16": 1}),
    ("TGA", "tga/*.[tT][gG][aA]", 23, {"16.TGA": 1}),
    ("PNM", "pnm/*[!e].p[bgpn]m", 13, {}),
    ("fuzzers' seeds", "fuzz-seeds/testcases/images/*/*.[bgptw][imne]*", 8, {}),
    ("skimage's TIFFs", os.path.join(os.path.dirname(skimage.__file__), "data/[!m]*.tif*"), 3, {}),
)
TWINS = {"rgb32bf.bmp": "rgb24.bmp"}  # which neither reads, and another file of the same picture
c = Checks()


def rgba(image):
    """Returns (h, w) or (h, w, 1 to 4) as (h, w, 4)."""
    image = image.reshape(*image.shape[:2], -1)
    full = np.array(1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max, image.dtype)
    alpha = image[:, :, -1:] if image.shape[2] in (2, 4) else np.full_like(image[:, :, :1], full)
    colour = image[:, :, :3] if image.shape[2] > 2 else np.repeat(image[:, :, :1], 3, 2)
    return np.concatenate([colour, alpha], 2)


def by_pillow(path):
    image = Image.open(path)
    if image.mode in ("I;16", "I;16B", "I", "F"):
        wide = np.asarray(image)
        return rgba(wide.astype(np.float32 if image.mode == "F" else np.uint16))
    return rgba(np.asarray(ImageOps.exif_transpose(image).convert("RGBA")))


def by_ffmpeg(path, shape):
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-frames:v", "1", "-"],
                         capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(shape) if len(raw) == np.prod(shape) else None


def off(ours, theirs):
    """Returns the largest difference in steps, or None if the shapes differ."""
    if theirs is None or ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return None
    if not theirs[:, :, 3].any() and ours[:, :, 3].all():  # TGAs that say that their fourth byte is no alpha
        ours, theirs = ours[:, :, :3], theirs[:, :, :3]
    return np.abs(ours.astype(float) - theirs.astype(float)).max()


def same(path, steps):
    try:
        c.run("convert", "-q", "--force", path, c.path("out.pam"))
    except RuntimeError as e:
        return str(e)
    ours = rgba(read(c.path("out.pam")))
    found = []
    twin = os.path.join(os.path.dirname(path), TWINS.get(os.path.basename(path), os.path.basename(path)))
    for reader in (by_pillow, lambda p: by_ffmpeg(p, ours.shape)):
        try:
            found.append(off(ours, reader(twin)))
        except Exception as e:  # whatever the reader says of the file
            found.append(str(e))
        if isinstance(found[-1], float) and found[-1] <= steps:
            return None
    return f"off by {found}"


for name, pattern, least, loose in SUITES:
    files = sorted(glob.glob(os.path.join(CORPORA, pattern)))
    if not files:
        c.skip(f"{name}: no {pattern}")
        continue
    equal = 0
    for path in files:
        steps = max([v for k, v in loose.items() if k in path], default=0)
        wrong = same(path, steps)
        equal += not wrong
        c.check(f"{name}: {os.path.basename(path)}", not wrong, wrong or "")
    print(f"{name}: {equal} of {len(files)}")
    c.check(f"{name}: all are there", len(files) >= least, f"{len(files)}")
c.end()
