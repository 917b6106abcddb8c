"""Shifts that align finds, against known shifts of splines and of Fourier transforms and against scikit-image; its outputs and errors.

Sources: filters/geometry/align.c cli/commands/align.c cli/commands/stack_align.c
"""
import json
import os

from _common import Checks, need, np, optional, read, write

(ndimage,) = need("scipy.ndimage")
registration = optional("skimage.registration")
c = Checks()
os.chdir(c.folder.name)
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}


def picture(height, width, sigma=1.5):
    """Smooth noise, 0.1 to 0.9."""
    a = ndimage.gaussian_filter(c.rng.normal(size=(height, width)), sigma, mode="wrap")
    return 0.1 + 0.8 * (a - a.min()) / np.ptp(a)


def typed(a, dtype):
    return a.astype(np.float32) if dtype == np.float32 else np.rint(a * FULL[dtype]).astype(dtype)


def align(image, reference, *words):
    write("b.npy", image)
    write("a.npy", reference)
    made = json.loads(c.run("align", "b.npy", "--reference", "a.npy", "--format", "json", *words))
    return np.array([made["dx"], made["dy"]]), made


def moved(a, dx, dy):
    """By its Fourier transform, with wrapped sides."""
    return np.fft.ifft2(ndimage.fourier_shift(np.fft.fft2(a), (dy, dx))).real


worst = {}
for dtype in np.uint8, np.uint16, np.float32:
    for size in (64, 64), (130, 200), (300, 257):
        a = picture(*size)
        for share in (0, 0), (0.003, 0.002), (0.05, -0.11), (-0.2, 0.15):
            dx, dy = share[0] * size[1], share[1] * size[0]
            found, made = align(typed(np.clip(moved(a, -dx, -dy), 0, 1), dtype), typed(a, dtype))
            off = np.abs(found - (dx, dy)).max()
            worst[dtype.__name__] = max(worst.get(dtype.__name__, 0), off)
            c.check(f"{dtype.__name__} {size} {dx:.2f},{dy:.2f}", off < 0.05 and made["score"] > 0.99, (found, made["score"]))
c.check("0.02 px", max(worst.values()) <= 0.02, worst)

# Shifts of whole pixels, colour, alpha, another brightness, noise, a spline as the other interpolation.
a = picture(200, 260)
b = ndimage.shift(a, (7.3, -12.6), order=5, mode="mirror")
for name, image, reference in (("gray", b, a), ("darker", 0.6 * b + 0.05, a), ("colour", np.dstack([b, b, b]), np.dstack([a, a, a])),
                               ("colour and gray", np.dstack([b, b, b]), a), ("alpha", np.dstack([b, np.ones_like(b)]), np.dstack([a, np.ones_like(a)])),
                               ("noise", b + c.rng.normal(size=b.shape) * 0.05, a)):
    found, made = align(typed(np.clip(image, 0, 1), np.uint16), typed(reference, np.uint16))
    c.check(f"a spline: {name}", np.abs(found - (12.6, -7.3)).max() < 0.05, found)
    if registration and name == "gray":
        theirs = registration.phase_cross_correlation(a[20:-20, 20:-20], b[20:-20, 20:-20], upsample_factor=100)[0]
        c.check("phase_cross_correlation", np.abs(found - theirs[::-1]).max() < 0.05, (found, theirs))
found, made = align(typed(a[10:190, 20:240], np.uint8), typed(a[5:185, 12:232], np.uint8))
c.check("whole pixels", np.abs(found - (8, 5)).max() < 1e-3 and made["score"] > 0.999999, made)
found, made = align(typed(a, np.uint8), typed(1 - a, np.uint8))
c.check("a negative is no match", made["score"] < 0.5, made)
for size in (1, 1), (1, 9), (5, 3), (20, 24):
    same = typed(picture(*size, sigma=0.5) if min(size) > 1 else np.full(size, 0.5), np.uint8)
    found, made = align(same, same)
    c.check(f"equal, {size}", np.abs(found).max() < 1e-3, made)
found, made = align(np.full((90, 80), 7, np.uint8), typed(picture(90, 80), np.uint8))
c.check("a flat image", np.isfinite(found).all() and made["score"] == 0, made)
odd = typed(a, np.float32)
odd[50, 50] = np.nan
found, made = align(odd, typed(a, np.float32))
c.check("NaN", np.isfinite(found).all() and np.isfinite(made["score"]), made)

# Outputs: the moved image, the matrix for affine, tables.
write("b.pgm", typed(np.clip(b, 0, 1), np.uint8))
write("a.pgm", typed(a, np.uint8))
made = json.loads(c.run("align", "b.pgm", "--reference", "a.pgm", "--format", "json", "--aligned", "m.pgm"))
inside = (slice(15, -15), slice(20, -20))
c.check("moved", np.abs(read("m.pgm")[inside].astype(int) - read("a.pgm")[inside]).max() <= 4)
c.run("affine", "b.pgm", "n.pgm", "--matrix", made["matrix"], "--interpolation", "bicubic")
c.check("affine", np.abs(read("n.pgm").astype(int) - read("m.pgm")).max() <= 1)
c.run("align", "b.pgm", "t.csv", "--reference", "a.pgm")
rows = open("t.csv").read().split()
c.check("csv", rows[0] == "dx,dy,score" and np.allclose(list(map(float, rows[1].split(","))), [made["dx"], made["dy"], made["score"]], atol=1e-6), rows)
c.run("align", "b.pgm", "t.npy", "--reference", "a.pgm")
c.check("npy", abs(np.load("t.npy")["dx"][0] - made["dx"]) < 1e-9)
c.check("text", f"shift {made['dx']:.4f},{made['dy']:.4f}, score" in c.run("align", "b.pgm", "--reference", "a.pgm").decode())
c.run("align", "b.pgm", "a.pgm", "--reference", "a.pgm", "--table", "all.csv")
c.check("many", len(open("all.csv").readlines()) == 3)
for threads in 1, 3:
    c.check(f"{threads} threads", json.loads(c.run("align", "b.pgm", "--reference", "a.pgm", "--format", "json", "--threads", threads)) == made)
write("small.pgm", np.zeros((5, 5), np.uint8))
for words, want in ((("b.pgm", "--reference", "small.pgm"), "--reference small.pgm: is 5 x 5, want 260 x 200 as the input"), (("b.pgm",), "--reference: missing"),
                    (("b.pgm", "--reference", "a.pgm", "--aligned", "b.pgm"), "b.pgm"), (("b.pgm", "--reference", "a.pgm", "--aligned", "x.qqq"), "--aligned")):
    p = c.result("align", *words)
    c.check(f"refused: {words}", p.returncode in (1, 2) and want in p.stderr, p.stderr)

# A stack of moved images is as sharp as one, and has less noise; without --align it is not.
names = []
inner = (slice(30, -30), slice(30, -30))
for i, (dx, dy) in enumerate(((0, 0), (3.4, -7.2), (-12.5, 5.1), (9.9, 9.3), (-6.6, -11.7))):
    shot = moved(a, dx, dy) + c.rng.normal(size=a.shape) * 0.02
    names.append(f"shot{i}.pgm")
    write(names[-1], typed(np.clip(shot, 0, 1), np.uint16))
c.run("stack", "--align", *names, "aligned.pgm")
c.run("stack", *names, "blurred.pgm")
errors = [np.abs(read(n)[inner] / 65535 - a[inner]).mean() for n in ("aligned.pgm", "blurred.pgm", names[0])]
c.check("stack --align", errors[0] < 0.6 * errors[2] and errors[1] > 3 * errors[2], errors)
c.run("stack", "--align", names[0], "alone.pgm")
c.check("a stack of one", np.array_equal(read("alone.pgm"), read(names[0])))
write("other.pgm", typed(picture(200, 260), np.uint16))
p = c.result("stack", "--align", names[0], "other.pgm", "wrong.pgm")
c.check("a warning", p.returncode == 0 and "other.pgm: is moved by" in p.stderr and "probably wrong" in p.stderr, p.stderr)
p = c.result("stack", "--align", "--strict", names[0], "other.pgm", "strict.pgm")
c.check("strict", p.returncode == 1 and not os.path.exists("strict.pgm"), p.stderr)
c.end()
