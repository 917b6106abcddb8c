"""compare --metric ssimulacra2 against its definition in numpy, and against scores of the program of its author.

The definition is that of J. Sneyers, https://github.com/cloudinary/ssimulacra2, with the filter of D. Charalampidis,
Recursive implementation of the Gaussian filter using truncated cosine functions, 2016, solved here for its weights.

Sources: filters/statistics/compare_ssimulacra2.c filters/statistics/ssimulacra2* filters/coded_quality.c cli/args/quality_target* imgio/judge.h imgio/save_size*
"""
import contextlib
import json
import os
import subprocess

from _common import Checks, need, np

(ndimage,) = need("scipy.ndimage")
(Image,) = need("PIL.Image")
(metrics,) = need("skimage.metrics")
similarity = metrics.structural_similarity
c = Checks()

# Channel by channel (X, Y, B), for scales 1 to 6: the weights of the 1-norms and 4-norms of the maps.
WEIGHTS = """
0 0.0007376606707406586 0 0 0.0007793481682867309 0
0 0.0004371155730107379 0 1.1041726426657346 0.00066284834129271 0.00015231632783718752
0 0.0016406437456599754 0 1.8422455520539298 11.441172603757666 0
0.0007989109436015163 0.000176816438078653 0 1.8787594979546387 10.94906990605142 0
0.0007289346991508072 0.9677937080626833 0 0.00014003424285435884 0.9981766977854967 0.00031949755934435053
0.0004550992113792063 0 0 0.0013648766163243398 0 0
0 0 0 7.466890328078848 0 17.445833984131262
0.0006235601634041466 0 0 6.683678146179332 0.00037724407979611296 1.027889937768264
225.20515300849274 0 0 19.213238186143016 0.0011401524586618361 0.001237755635509985
176.39317598450694 0 0 24.43300999870476 0.28520802612117757 0.0004485436923833408
0 0 0 34.77906344483772 44.835625328877896 0
0 0 0 0 0 0
0 0.0008680556573291698 0 0 0 0
0 0.0005313191874358747 0 0.00016533814161379112 0 0
0 0 0 0.0004179171803251336 0.0017290828234722833 0
0.0020827005846636437 0 0 8.826982764996862 23.19243343998926 0
95.1080498811086 0.9863978034400682 0.9834382792465353 0.0012286405048278493 171.2667255897307 0.9807858872435379
0 0 0 0.0005130064588990679 0 0.00010854057858411537
"""
WEIGHTS = [float(w) for w in WEIGHTS.split()]
OPSIN = np.array([[0.30, 1 - 0.078 - 0.30, 0.078], [0.23, 1 - 0.078 - 0.23, 0.078],
                  [0.24342268924547819, 0.20476744424496821, 1 - 0.24342268924547819 - 0.20476744424496821]])
BIAS = 0.0037930732552754493


def gaussian_taps(sigma):
    """Returns the impulse response of the recursive filter, equations 33 to 57."""
    radius = round(3.2795 * sigma + 0.2546)
    omega = np.pi / (2 * radius) * np.array([1, 3, 5])
    p = np.array([1, -1, 1]) / np.tan(omega / 2)
    r = np.array([1, -1, 1]) * p * p / np.sin(omega)
    rho = np.exp(-0.5 * sigma**2 * omega**2) / radius
    d = [p[i] * r[j] - r[i] * p[j] for i, j in ((0, 1), (1, 2), (2, 0))]
    z15, z35 = d[1] / d[0], d[2] / d[0]
    beta = np.linalg.solve([p, r, [z15, z35, 1]], [1, radius**2 - sigma**2, z15 * rho[0] + z35 * rho[1] + rho[2]])
    return (beta * np.cos(np.arange(-radius, radius + 1)[:, None] * omega)).sum(axis=1)


TAPS = gaussian_taps(1.5)


def blur(plane):
    return ndimage.correlate1d(ndimage.correlate1d(plane, TAPS, axis=1, mode="constant"), TAPS, axis=0, mode="constant")


def linear(image, full, backdrop):
    """Returns linear RGB; alpha is composited over a gray of encoded samples."""
    v = image.astype(np.float64) / full
    v = v[:, :, None] if v.ndim == 2 else v
    if v.shape[2] in (2, 4):
        v = v[:, :, :-1] * v[:, :, -1:] + (1 - v[:, :, -1:]) * backdrop
    v = np.repeat(v, 3, axis=2) if v.shape[2] == 1 else v
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def xyb(light):
    mixed = np.cbrt(np.maximum(light @ OPSIN.T + BIAS, 0)) - np.cbrt(BIAS)
    x, y = (mixed[:, :, 0] - mixed[:, :, 1]) / 2, (mixed[:, :, 0] + mixed[:, :, 1]) / 2
    return x * 14 + 0.42, y + 0.01, mixed[:, :, 2] - y + 0.55


def half(light):
    h, w = light.shape[:2]
    light = np.pad(light, ((0, h % 2), (0, w % 2), (0, 0)), mode="edge")
    return light.reshape((h + 1) // 2, 2, (w + 1) // 2, 2, 3).mean(axis=(1, 3))


def norms(values):
    return values.mean(), (values**4).mean() ** 0.25


def score(a, b, full, backdrop=0.5):
    a, b = linear(a, full, backdrop), linear(b, full, backdrop)
    found = [[], [], []]
    for scale in range(6):
        if min(a.shape[:2]) < 8:
            break
        if scale:
            a, b = half(a), half(b)
        for channel, (p, q) in enumerate(zip(xyb(a), xyb(b))):
            m, n = blur(p), blur(q)
            covariance, variances = blur(p * q) - m * n, (blur(p * p) - m * m) + (blur(q * q) - n * n)
            error = np.maximum(0, 1 - (1 - (m - n) ** 2) * (2 * covariance + 0.0009) / (variances + 0.0009))
            edges = (1 + abs(q - n)) / (1 + abs(p - m)) - 1
            maps = [norms(v) for v in (error, np.maximum(edges, 0), np.maximum(-edges, 0))]
            found[channel] += [m[k] for k in range(2) for m in maps]
    values = found[0] + found[1] + found[2]
    total = 0.9562382616834844 * sum(w * v for w, v in zip(WEIGHTS, values))
    total = 2.326765642916932 * total - 0.020884521182843837 * total**2 + 6.248496625763138e-05 * total**3
    return 100 - 10 * total**0.6276336467831387 if total > 0 else 100


def measured(a, b, *options, status=None):
    for name, image in (("a", a), ("b", b)):
        np.save(c.path(f"{name}.npy"), image)
    if status is None:  # without a limit it is 1 if any sample differs
        status = int(not np.array_equal(a, b) and not options)
    return json.loads(c.run("compare", c.path("a.npy"), c.path("b.npy"), "--metric", "ssimulacra2", "--format", "json", *options,
                            status=status))["ssimulacra2"]


def test_definition():
    for size in ((8, 8), (9, 31), (61, 83), (64, 64), (213, 320)):
        for channels in (1, 2, 3, 4):
            for dtype, full in ((np.uint8, 255), (np.uint16, 65535), (np.float32, 1)):
                if size[0] > 100 and dtype != np.uint8:
                    continue
                y, x = np.mgrid[: size[0], : size[1]]
                a = np.stack([(np.sin(x / (5 + k)) + np.cos(y / (3 + k)) + 2) / 4 for k in range(channels)], axis=2)
                b = np.clip(a + c.rng.normal(0, 0.05, a.shape), 0, 1)
                a, b = ((v if dtype == np.float32 else np.rint(v * full)).astype(dtype) for v in (a, b))
                a, b = (v[:, :, 0] if channels == 1 else v for v in (a, b))
                want = min(score(a, b, full, 0.1), score(a, b, full, 0.9))
                c.check(f"{size} {channels} {dtype.__name__}: want {want}", abs(measured(a, b) - want) < 2e-4)


def test_rules():
    a = c.rng.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    b = a.copy()
    b[5:9, 5:9] = 0
    c.check("equal", measured(a, a) == 100)
    c.check("what differs is left out", measured(a, b, "--ignore-region", "4x4+5+5") == 100)
    low = measured(a, b)
    c.check("lower", low < 100)
    c.check("a limit that holds", measured(a, b, "--min-ssimulacra2", low - 0.01) == low)
    c.check("a limit that does not", measured(a, b, "--min-ssimulacra2", low + 0.01, status=1) == low)
    c.check("too small", measured(a[:7], b[:7]) is None)
    c.check("too small for a limit", measured(a[:7], b[:7], "--min-ssimulacra2", 1, status=1) is None)


def test_reference():
    """Scores of the author's program, version 2.1 (commit 81feacf, built with libjxl 0.8), which computes in float32: the
    noise of its recursive filter lowers scores, the more the larger the image and the closer to 100 the score is."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")
    for name, changed, want in REFERENCE:
        a = np.asarray(Image.open(os.path.join(folder, name)))[100:260, 150:350]
        got = measured(a, CHANGES[changed](a.astype(int)).astype(np.uint8))
        c.check(f"{name} {changed}: {got}, the author's program {want}", abs(got - want) < (0.1 if want < 90 else 0.5))


def test_target():
    """--target-ssimulacra2 writes the lowest quality that reaches the score, --target-ssim likewise. All qualities are tried here."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")
    image = np.asarray(Image.open(os.path.join(folder, "landscape.png")))[200:280, 150:246]
    Image.fromarray(image).save(c.path("in.png"))
    for suffix in ("jpg", "webp"):
        found, files, all_scores = {}, {}, {"ssimulacra2": {}, "ssim": {}}
        for quality in range(1, 101):
            path = c.path(f"{quality}.{suffix}")
            c.run("convert", c.path("in.png"), path, "--quality", quality)
            with open(path, "rb") as f:
                files[quality] = f.read()
            found.setdefault(files[quality], quality)
            decoded = np.asarray(Image.open(path).convert("RGB"))
            all_scores["ssimulacra2"][quality] = score(image, decoded, 255)
            all_scores["ssim"][quality] = similarity(image, decoded, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
                                                     data_range=255, channel_axis=2)
        for option, target in (("ssimulacra2", 40), ("ssimulacra2", 75), ("ssimulacra2", 85), ("ssim", 0.9)):
            c.run("convert", c.path("in.png"), c.path(f"out.{suffix}"), f"--target-{option}", target)
            with open(c.path(f"out.{suffix}"), "rb") as f:
                quality = found.get(f.read(), 0)
            scores = all_scores[option]
            # the first of equal files is the one that was found
            want = next(found[files[q]] for q in range(1, 101) if scores[q] >= target)
            c.check(f"{option} {target} {suffix}: quality {quality}, want {want}", quality == want)
    for options, status, words in ((("--target-ssimulacra2", 99.5), 1, b"is not good enough at quality 100"),
                                   (("--target-ssim", 0.99, "--quality", 10), 1, b"is not good enough at quality 10 (--target-ssim 0.99)"),
                                   (("--target-ssim", 0.9, "--max-file-size", "1k"), 2, b"want one of them")):
        p = subprocess.run([c.program, "convert", c.path("in.png"), c.path("none.jpg"), *map(str, options)], capture_output=True)
        c.check(f"{options}: {p.stderr}", p.returncode == status and words in p.stderr and not os.path.exists(c.path("none.jpg")))
    Image.fromarray(image[:7]).save(c.path("low.png"))
    Image.fromarray(image[:, :, 1]).save(c.path("gray.png"))
    p = subprocess.run([c.program, "convert", c.path("low.png"), c.path("none.jpg"), "--target-ssimulacra2", "70"], capture_output=True)
    c.check("an image without a score", p.returncode == 1 and f"--target-ssimulacra2 70: {image.shape[1]} x 7 pixels have no score, want 8 x 8 or more" in p.stderr.decode())
    p = subprocess.run([c.program, "convert", c.path("in.png"), c.path("none.tif"), "--target-ssim", "0.9"], capture_output=True)
    c.check("a format without quality", p.returncode == 2 and b"--target-ssim: is for formats with a --quality, not for tiff" in p.stderr)
    way = {**os.environ, "GPUIMG_WAY": "jpeg_encode:blocks"}  # the search of a device, on the CPU
    for name, *options in (("in", "ssimulacra2", 75), ("in", "ssimulacra2", 88, "--quality", 95), ("gray", "ssimulacra2", 60), ("in", "ssimulacra2", 99.5),
                           ("low", "ssimulacra2", 70), ("in", "ssim", 0.9), ("in", "ssimulacra2", 75, "--progressive")):
        made, out = [], c.path("way.jpg")
        for env in (None, way):
            if os.path.exists(out):
                os.remove(out)
            p = subprocess.run([c.program, "flip", "--h", c.path(f"{name}.png"), out, f"--target-{options[0]}", *map(str, options[1:])],
                               capture_output=True, env=env)
            with contextlib.suppress(FileNotFoundError), open(out, "rb") as f:
                p.stdout = f.read()
            made.append((p.returncode, p.stderr, p.stdout))
        needs_samples = b"no jpeg_encode has run" in made[1][1]  # no device encodes such a file
        c.check(f"{name} {options} on a device: {made[0][:2]}, {made[1][:2]}", needs_samples or made[0] == made[1])
        c.check(f"{name} {options} is searched on a device", needs_samples == (options[0] == "ssim" or "--progressive" in options))
    c.run("flip", "--h", c.path("in.png"), c.path("flipped.jpg"), "--target-ssimulacra2", 75)
    want = np.asarray(Image.open(c.path("flipped.jpg")))
    c.check("after an operation", score(image[:, ::-1], want, 255) >= 75 - 1e-3)


CHANGES = {
    "coarse": lambda a: a // 16 * 16 + 8,
    "blurred": lambda a: (a + np.roll(a, 1, 1) + np.roll(a, 1, 0) + np.roll(a, (1, 1), (0, 1)) + 2) // 4,
    "brighter": lambda a: np.minimum(a + 5, 255),
    "shifted": lambda a: np.roll(a, 2, 1),
}
REFERENCE = [
    ("scene.png", "coarse", 60.72406280),
    ("scene.png", "blurred", 53.65576931),
    ("scene.png", "brighter", 76.45318020),
    ("scene.png", "shifted", -10.63394937),
    ("coins.png", "coarse", 50.05442358),
    ("coins.png", "blurred", 57.59371697),
    ("coins.png", "brighter", 76.51730628),
    ("coins.png", "shifted", -6.49203067),
    ("landscape.png", "coarse", 42.40751373),
    ("landscape.png", "blurred", 63.09174092),
    ("landscape.png", "brighter", 90.06369573),
    ("landscape.png", "shifted", 1.50659364),
]

test_definition()
test_rules()
test_reference()
test_target()
c.end()
