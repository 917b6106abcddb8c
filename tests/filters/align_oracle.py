"""Shifts, angles and scales that align finds, against known ones of splines and of Fourier transforms and against scikit-image; its outputs and errors.

Sources: filters/geometry/align*.c cli/commands/align.c cli/commands/stack_align.c
"""
import json
import os

from _common import Checks, need, np, optional, read, write

(ndimage,) = need("scipy.ndimage")
registration, cv2 = optional("skimage.registration"), optional("cv2")
c = Checks()
TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata")
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

# Views of a larger scene that share less: most shifts are above a third of both sides.
for name, height, width, sigma, noise in (("even", 120, 150, 1.5, 0), ("smooth", 300, 260, 8, 0), ("fine", 301, 275, 0.8, 0), ("noise", 210, 190, 2, 0.1),
                                          ("long", 40, 700, 1.5, 0), ("high", 900, 60, 2, 0)):
    for share in (0.34, 0.34), (-0.4, 0.38), (0.37, -0.4), (0.02, -0.5):
        dx, dy = int(share[0] * width), int(share[1] * height)
        scene = picture(2 * height, 2 * width, sigma) * 0.6 + 0.2
        views = [scene[height // 2 + y:, width // 2 + x:][:height, :width] for x, y in ((dx, dy), (0, 0))]
        found, made = align(*(typed(np.clip(v + c.rng.normal(size=v.shape) * noise, 0, 1), np.uint16) for v in views))
        c.check(f"little in common: {name} {dx},{dy}", np.abs(found - (dx, dy)).max() < (0.5 if noise else 0.05), (found, made["score"]))
for size in (1, 1), (1, 9), (5, 3), (20, 24):
    same = typed(picture(*size, sigma=0.5) if min(size) > 1 else np.full(size, 0.5), np.uint8)
    found, made = align(same, same)
    c.check(f"equal, {size}", np.abs(found).max() < 1e-3, made)
found, made = align(np.full((90, 80), 7, np.uint8), typed(picture(90, 80), np.uint8))
c.check("a flat image", np.isfinite(found).all() and made["score"] == 0, made)
odd = typed(b, np.float32)
odd[50, 50], odd[90:110, 150:170] = np.inf, np.nan
for words in (), ("--rotate",), ("--refine", "translation"):
    found, made = align(odd, typed(a, np.float32), *words)
    c.check(f"pixels that are not finite do not count {words}", np.abs(found - (12.6, -7.3)).max() < 0.05 and made["score"] > 0.99, made)
found, made = align(np.full_like(odd, np.nan), typed(a, np.float32))
c.check("all NaN", np.isfinite(found).all() and made["score"] == 0, made)

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
c.check("csv", rows[0] == "dx,dy,angle,scale,score" and np.allclose(list(map(float, rows[1].split(","))), [made["dx"], made["dy"], 0, 1, made["score"]], atol=1e-6), rows)
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

# Rotation and scale, by a spline: the reference is the image rotated about its middle, scaled, and then moved.


def matrix(shape, angle, scale, dx, dy):
    """From (x, y, 1) in the image to the reference; y goes down, so that counterclockwise angles are negative."""
    turn, middle = np.deg2rad(-angle), np.array([(shape[1] - 1) / 2, (shape[0] - 1) / 2])
    m = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.c_[m, middle - m @ middle + (dx, dy)]


def transformed(a, m, outside=None):
    back = np.linalg.inv(m[:, :2])[::-1, ::-1]
    return ndimage.affine_transform(a, back, -back @ m[::-1, 2], order=5, mode="constant", cval=a.mean() if outside is None else outside)


def off_by(made, angle, scale, dx, dy):
    """The errors in degrees, per cent and pixels."""
    return abs((made["angle"] - angle + 180) % 360 - 180), 100 * abs(made["scale"] / scale - 1), np.hypot(made["dx"] - dx, made["dy"] - dy)


def photograph(name):
    c.run("convert", os.path.join(TESTDATA, name), "photo.npy", "--gray")
    return read("photo.npy")[::2, ::2].astype(float) / 255


both = ("--rotate", "--scale")
landscape = photograph("landscape.png")
for name, image, angle, scale, shift, words in (
        ("small", picture(200, 260), 2.3, 0.97, (0.05, -0.04), both), ("right angle", picture(190, 230), 90, 1, (0.1, 0.1), both),
        ("large scale", picture(210, 220), -35, 1.4, (-0.06, 0.02), both), ("small scale", picture(240, 200), 60, 0.7, (0.02, 0.05), both),
        ("upside down", picture(180, 260), 180, 1.1, (-0.1, 0.08), both), ("far", picture(222, 222), -120.7, 0.83, (0.1, -0.1), both),
        ("photograph", landscape, 17, 1.25, (0.08, 0.03), both), ("photograph, back", landscape, -143, 0.75, (-0.04, 0.1), both),
        ("rotation alone", landscape, 151.5, 1, (0.07, -0.07), ("--rotate",)), ("scale alone", landscape, 0, 1.3, (0.07, 0.07), ("--scale",)),
        ("neither", landscape, 0, 1, (0.01, -0.02), both)):
    dx, dy = shift[0] * image.shape[1], shift[1] * image.shape[0]
    m = matrix(image.shape, angle, scale, dx, dy)
    _, made = align(typed(image, np.uint16), typed(np.clip(transformed(image, m), 0, 1), np.uint16), *words)
    off = off_by(made, angle, scale, dx, dy)
    c.check(f"{name}: 0.1 degrees, 0.2 %, 0.1 px", off[0] < 0.1 and off[1] < 0.2 and off[2] < 0.1 and made["score"] > 0.9, (off, made))
    given = np.array([row.split() for row in made["matrix"].split(";")], float)
    c.check(f"{name}: the matrix", np.allclose(given, matrix(image.shape, made["angle"], made["scale"], made["dx"], made["dy"]), atol=1e-4), given)
    if words != both:
        c.check(f"{name}: the rest stays", made["scale" if words == ("--rotate",) else "angle"] == (1 if words == ("--rotate",) else 0), made)

# Views of a scene that share little, and the same with black where the other view has nothing.
for name, sigma, angle, scale, share, black in (("even", 1.5, 77, 1.3, (0.33, 0.33), 0), ("smooth", 6, -20, 0.8, (-0.33, 0.3), 0), ("noise", 2, 140, 1.2, (0.3, 0.33), 0),
                                                ("black", 2, -100, 1.1, (-0.33, -0.33), 1), ("black, near", 2, 30, 0.75, (0.15, -0.15), 1)):
    scene = picture(700, 800, sigma) * 0.8 + 0.1
    shape = 230, 270
    m = matrix(shape, angle, scale, share[0] * shape[1], share[1] * shape[0])
    y, x = np.mgrid[:shape[0], :shape[1]]
    seen = [np.einsum("ij,jyx->iyx", w, np.array([x, y, np.ones_like(x)])) for w in (m, np.linalg.inv(np.r_[m, [[0, 0, 1]]])[:2])]
    image = ndimage.map_coordinates(scene, (seen[0][1] + 230, seen[0][0] + 260), order=3)
    reference = scene[230:, 260:][:shape[0], :shape[1]].copy()
    if black:
        reference[(seen[1] < 0).any(axis=0) | (seen[1][0] > shape[1] - 1) | (seen[1][1] > shape[0] - 1)] = 0
    if name == "noise":
        image, reference = (v + c.rng.normal(size=shape) * 0.05 for v in (image, reference))
    _, made = align(*(typed(np.clip(v, 0, 1), np.uint16) for v in (image, reference)), *both)
    off = off_by(made, angle, scale, share[0] * shape[1], share[1] * shape[0])
    c.check(f"little in common, by both: {name}", np.less(off, (0.2, 0.4, 0.5) if name == "noise" else (0.1, 0.2, 0.1)).all(), (off, made))

# ECC: corners of the image after the matrix, against those of the known map and of OpenCV's findTransformECC().
for name, image in ("picture", picture(220, 280, 2) * 0.8 + 0.1), ("photograph", landscape):
    h, w = image.shape
    middle, corners = np.array([(w - 1) / 2, (h - 1) / 2]), np.array([[0, 0, 1], [w - 1, 0, 1], [0, h - 1, 1], [w - 1, h - 1, 1]]).T
    turn = np.array([[np.cos(0.04), -np.sin(0.04)], [np.sin(0.04), np.cos(0.04)]])
    for motion, linear, words in (("translation", np.eye(2), ()), ("euclidean", turn, ()), ("similarity", 1.03 * turn, both), ("affine", turn @ [[1.02, 0.03], [-0.01, 0.98]], both)):
        m = np.c_[linear, middle - linear @ middle + (4.3, -2.6)]
        pair = [typed(v, np.uint16) for v in (image, np.clip(0.8 * transformed(image, m) + 0.1, 0, 1))]
        _, made = align(*pair, "--refine", motion, *words)
        matrix_of = np.array([row.split() for row in made["matrix"].split(";")], float)
        off = np.abs((matrix_of - m) @ corners).max()
        c.check(f"ECC, {name}, {motion}: 0.05 px", off < 0.05 and made["score"] > 0.99, (off, made))
        shift = matrix_of @ [*middle, 1] - middle
        c.check(f"ECC, {name}, {motion}: dx, dy, angle and scale", np.allclose([made["dx"], made["dy"], made["scale"] * np.cos(np.deg2rad(made["angle"]))],
                                                                              [*shift, (matrix_of[0, 0] + matrix_of[1, 1]) / 2], atol=1e-5), made)
        if cv2 and motion != "similarity":
            start = np.linalg.inv(np.r_[m, [[0, 0, 1]]])[:2].astype(np.float32)
            kind = {"translation": cv2.MOTION_TRANSLATION, "euclidean": cv2.MOTION_EUCLIDEAN, "affine": cv2.MOTION_AFFINE}[motion]
            _, theirs = cv2.findTransformECC(*(np.float32(v) / 65535 for v in pair[::-1]), start, kind, (3, 100, 1e-8), None, 5)
            theirs = np.linalg.inv(np.r_[theirs, [[0, 0, 1]]])[:2]
            c.check(f"findTransformECC, {name}, {motion}", np.abs((matrix_of - theirs) @ corners).max() < 0.15, (matrix_of, theirs))
    c.run("affine", "b.npy", "n.npy", "--matrix", made["matrix"], "--interpolation", "bicubic")
    inside = np.s_[h // 6:-h // 6, w // 6:-w // 6]
    c.check(f"affine after ECC, {name}", np.abs(read("n.npy") / 65535 * 0.8 + 0.1 - read("a.npy") / 65535)[inside].mean() < 0.01)
    c.run("align", "b.npy", "--reference", "a.npy", "--refine", motion, *words, "--aligned", "m.npy")
    c.check(f"--aligned after ECC, {name}", np.abs(read("n.npy").astype(int) - read("m.npy")).max() <= 1)
for size in (1, 1), (1, 9), (5, 3), (20, 24):
    same = typed(picture(*size, sigma=0.5) if min(size) > 1 else np.full(size, 0.5), np.uint8)
    found, made = align(same, same, "--refine", "affine")
    c.check(f"equal, {size}, by ECC", np.abs(found).max() < 0.01 and abs(made["scale"] - 1) < 0.01, made)
for name, image, reference in ("flat", np.full((90, 80), 7, np.uint8), typed(picture(90, 80), np.uint8)), ("NaN", odd, typed(a, np.float32)), ("all NaN", np.full_like(odd, np.nan), odd):
    found, made = align(image, reference, "--refine", "affine")
    c.check(f"{name}, by ECC", np.isfinite([*found, made["score"], made["angle"], made["scale"]]).all(), made)
p = c.result("align", "b.npy", "--reference", "a.npy", "--refine", "homography")
c.check("--refine homography", p.returncode == 2 and "--refine homography: want" in p.stderr, p.stderr)

# The moved image, noise, another brightness, threads, text.
m = matrix(a.shape, 25, 1.1, 6, -9)
target = transformed(a, m)
write("t.pgm", typed(np.clip(0.7 * target + 0.1 + c.rng.normal(size=a.shape) * 0.03, 0, 1), np.uint8))
write("a.pgm", typed(a, np.uint8))
words = ("align", "a.pgm", "--reference", "t.pgm", *both)
made = json.loads(c.run(*words, "--format", "json", "--aligned", "m.pgm"))
off = off_by(made, 25, 1.1, 6, -9)
c.check("noise and brightness", max(off) < 0.1, (off, made))
inside = ndimage.minimum_filter(transformed(np.ones_like(a), m, 0) > 0.999, 9, mode="constant") > 0
c.check("aligned by both", np.abs(read("m.pgm") / 255 - target)[inside].max() < 0.03, np.abs(read("m.pgm") / 255 - target)[inside].max())
c.run("affine", "a.pgm", "n.pgm", "--matrix", made["matrix"], "--interpolation", "bicubic")
c.check("affine by both", np.array_equal(read("n.pgm"), read("m.pgm")))
c.check("3 threads by both", json.loads(c.run(*words, "--format", "json", "--threads", "3")) == made)
c.check("text by both", f"angle {made['angle']:.4f}, scale {made['scale']:.6f}, score" in c.run(*words).decode())
for size in (1, 1), (1, 9), (5, 3), (20, 24):
    same = typed(picture(*size, sigma=0.5) if min(size) > 1 else np.full(size, 0.5), np.uint8)
    found, made = align(same, same, *both)
    c.check(f"equal, {size}, by both", np.abs(found).max() < 0.01 and abs(made["angle"]) < 0.1 and abs(made["scale"] - 1) < 0.01, made)
for name, image, reference in (("flat", np.full((90, 80), 7, np.uint8), typed(picture(90, 80), np.uint8)), ("NaN", odd, typed(a, np.float32)),
                               ("all NaN", np.full_like(odd, np.nan), typed(a, np.float32))):
    found, made = align(image, reference, *both)
    c.check(f"{name}, by both", np.isfinite([*found, made["score"], made["angle"], made["scale"]]).all(), made)

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

# The same with rotation and scale.
for i, (angle, scale) in enumerate(((0, 1), (4, 1.02), (-170, 0.95), (90, 1.05))):
    shot = transformed(a, matrix(a.shape, angle, scale, 3 * i, -2 * i)) + c.rng.normal(size=a.shape) * 0.02
    write(f"turned{i}.pgm", typed(np.clip(shot, 0, 1), np.uint16))
names = [f"turned{i}.pgm" for i in range(4)]
inner = (slice(80, -80), slice(90, -90))
c.run("stack", "--align", *both, *names, "aligned.pgm")
errors = [np.abs(read(n)[inner] / 65535 - a[inner]).mean() for n in ("aligned.pgm", names[0])]
c.check("stack --align --rotate --scale", errors[0] < 0.65 * errors[1], errors)
p = c.result("stack", "--rotate", *names, "no.pgm")
c.check("--rotate alone", p.returncode == 2 and "--rotate: want --align" in p.stderr, p.stderr)
c.end()
