"""stack --method exposure and focus, against OpenCV's createMergeMertens(), a double-precision definition, and a picture blurred in parts.

Sources: filters/statistics/fusion.c filters/geometry/laplacian_pyramid.c filters/arithmetic/formula.c cli/commands/stack_fusion.c
"""
import os

from _common import Checks, need, np, optional, read, write

(ndimage,) = need("scipy.ndimage")
cv2 = optional("cv2")
c = Checks()
TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata")
os.chdir(c.folder.name)
FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}


def reflected(i, n):
    """The index that mirrors i about the centres of the outer samples of n."""
    r = i % max(2 * n - 2, 1)
    return min(r, 2 * n - 2 - r) if n > 1 else 0


def reduce_matrix(n):
    m = np.zeros(((n + 1) // 2, n))
    for i in range(len(m)):
        for j, tap in enumerate((1, 4, 6, 4, 1)):
            m[i, reflected(2 * i + j - 2, n)] += tap / 16
    return m


def expand_matrix(n, size):
    m = np.zeros((size, n))
    at = [*range(n), n - 1]
    for i in range(size):
        for j, tap in ((i // 2, 0.5), (i // 2 + 1, 0.5)) if i % 2 else ((i // 2 - 1, 0.125), (i // 2, 0.75), (i // 2 + 1, 0.125)):
            m[i, reflected(j, n) if j < 0 else at[j]] += tap
    return m


def along(rows, image, columns):
    return np.stack([rows @ image[..., i] @ columns.T for i in range(image.shape[2])], 2)


def weighted(rows, image, columns):
    """The same for an image whose colours are weighted by alpha, its last channel, if their number is even."""
    if image.shape[2] % 2:
        return along(rows, image, columns)
    a = image[..., -1:]
    made, alpha = along(rows, image[..., :-1] * a, columns), along(rows, a, columns)
    return np.concatenate([np.where(alpha > 0, made / np.where(alpha > 0, alpha, 1), 0), alpha], 2)


def halved(a, rule=weighted):
    return rule(reduce_matrix(a.shape[0]), a, reduce_matrix(a.shape[1]))


def doubled(a, shape, rule=weighted):
    return rule(expand_matrix(a.shape[0], shape[0]), a, expand_matrix(a.shape[1], shape[1]))


def laplacian(image):
    """The Laplacian of the luma, with mirrored sides; a transparent neighbour counts as the pixel itself."""
    g = image[..., :3] @ [0.299, 0.587, 0.114] if image.shape[2] > 2 else image[..., 0]
    h, w = g.shape
    total, alpha = 0 * g, alphas([image])[0] + 0 * g
    for dy, dx in (0, -1), (0, 1), (-1, 0), (1, 0):
        at = np.ix_([reflected(y + dy, h) for y in range(h)], [reflected(x + dx, w) for x in range(w)])
        total += np.where(alpha[at] > 0, g[at] - g, 0)
    return total


def alphas(images):
    return [i[..., -1] if i.shape[2] % 2 == 0 else 1 for i in images]


def weights_of(images):
    """The weights of exposure fusion, before their sum becomes 1."""
    weights = []
    for i, a in zip(images, alphas(images)):
        rgb = i[..., :3] if i.shape[2] > 2 else i[..., :1]
        saturation = np.sqrt(((rgb - rgb.mean(2, keepdims=True)) ** 2).sum(2)) if rgb.shape[2] == 3 else 1
        contrast, saturation = (np.where(v < 1e-6, 0, v) for v in (np.abs(laplacian(i)), saturation))
        weights.append(contrast * saturation * np.exp(-((rgb - 0.5) ** 2).sum(2) / 0.08) + 1e-12)
        weights[-1] = weights[-1] * a + 1e-24 * np.any(a < 1)
    return weights


def weight_sets(images, method):
    if method == "focus":
        energy = [ndimage.gaussian_filter(laplacian(i) ** 2 * a, 3, mode="nearest", truncate=4) * a for i, a in zip(images, alphas(images))]
        best = np.argmax(energy, 0)
        return [(best == k) * 1.0 for k in range(len(images))]
    weights = weights_of(images)
    return [w / np.sum(weights, 0) for w in weights]


def fused(images, method):
    images = [i.reshape(*i.shape[:2], -1).astype(np.float64) for i in images]
    n, total = int(np.log2(min(images[0].shape[:2]))) + 1, {}
    for image, weight in zip(images, weight_sets(images, method)):
        weight, alpha = weight[..., None], image.shape[2] % 2 == 0
        for level in range(n):
            small = halved(image) if level + 1 < n else None
            part = weight * (image - doubled(small, image.shape) if level + 1 < n else image)
            if alpha:
                part = part * (image[..., -1:] > 0)
                part[..., -1] = 0 if level else weight[..., 0] * image[..., -1]
            total[level] = total.get(level, 0) + part
            image, weight = small, halved(weight)
    made = total[n - 1]
    for level in range(n - 2, -1, -1):
        made = total[level] + doubled(made, total[level].shape, along)
    return np.where(made[..., -1:] > 0, made, 0) if alpha else made


def typed(a, dtype):
    return a.astype(np.float32) if dtype == np.float32 else np.rint(np.clip(a, 0, 1) * FULL[dtype]).astype(dtype)


def save(images):
    for k, image in enumerate(images):
        write(f"in{k}.npy", image)
    return [f"in{k}.npy" for k in range(len(images))]


def stack(images, method, *words):
    c.run("stack", *save(images), "out.npy", "--method", method, *words)
    return read("out.npy")


def textured(shape, sigma):
    a = ndimage.gaussian_filter(c.rng.normal(size=shape), (sigma, sigma) + (0,) * (len(shape) - 2))
    return (a - a.min()) / max(np.ptp(a), 1e-9)


def bracket(shape):
    scene = textured(shape, 3) * 3 + c.rng.normal(size=shape) * 0.02
    return [np.clip(scene * gain, 0, 1) for gain in (0.2, 0.6, 1.8)]


# Both methods by their definition: all types, odd and tiny sizes, alpha.
for shape in (61, 95, 3), (48, 64), (37, 5, 3), (5, 2, 3), (1, 1, 3), (1, 7), (2, 1, 3), (40, 33, 4), (24, 31, 2):
    exposures = bracket(shape)
    if len(shape) == 3 and shape[2] % 2 == 0:
        for e in exposures:
            e[..., -1] = np.clip(2.5 * textured(shape[:2], 4) - 0.5, 0, 1)
    for dtype in np.uint8, np.uint16, np.float32:
        images = [typed(e, dtype) for e in exposures]
        for method in "exposure", "focus":
            want = fused([i / FULL[dtype] for i in images], method)
            got = stack(images, method).reshape(want.shape) / FULL[dtype]
            if dtype != np.float32:
                want = np.clip(want, 0, 1)
            off = np.abs(got - want)
            # Where the Laplacians of all images are almost 0, floats and doubles have different weights.
            bound = 1e-4 if dtype == np.float32 else 0.51 / FULL[dtype] + 1e-4
            c.check(f"{method} {shape} {dtype.__name__}", off.mean() <= bound and np.quantile(off, 0.99) <= 20 * bound, (off.mean(), off.max()))



def photograph():
    c.run("convert", os.path.join(TESTDATA, "landscape.png"), "photo.npy")
    return read("photo.npy")


# A photograph in three exposures, as OpenCV fuses them.
photo = photograph()[:300, :400, :3] / 255.0
shots = [typed(np.clip(photo ** 2.2 * gain, 0, 1) ** (1 / 2.2), np.uint8) for gain in (0.25, 1, 4)]
if cv2:
    theirs = cv2.createMergeMertens(1, 1, 1).process([s.copy() for s in shots])
    # Its rounding errors decide where no shot has contrast and saturation.
    clear = ndimage.minimum_filter(sum(weights_of([s / 255 for s in shots])), 7) > 1e-6
    c.check("pixels to compare", clear.mean() > 0.95, clear.mean())
    off = np.abs(stack(shots, "exposure") - np.clip(theirs * 255, 0, 255))[clear].max()
    c.check("createMergeMertens()", off <= 1, off)
    off = np.abs(stack([typed(s / 255, np.float32) for s in shots], "exposure") - theirs)[clear].max()
    c.check("createMergeMertens() in float", off <= 0.002, off)

# A sharp picture that is blurred in other parts of each image is restored.


def psnr(a, b):
    return -10 * np.log10(np.mean((a / 255.0 - b / 255.0) ** 2))


sharp = typed(photo, np.uint8)
blurred = typed(np.dstack([ndimage.gaussian_filter(photo[..., i], 3) for i in range(3)]), np.uint8)
part = np.argmax([ndimage.gaussian_filter(c.rng.normal(size=sharp.shape[:2]), 40) for _ in range(4)], 0)[..., None]
shots = [np.where(part == k, sharp, blurred) for k in range(4)]
restored, mean = psnr(stack(shots, "focus"), sharp), psnr(np.mean(shots, 0), sharp)
c.check("focus: above 35 dB", restored > 35 and restored > mean + 6, (restored, mean))

# The strip of a chain, a temporary file, threads, and equal images.
strip = np.concatenate(shots, 1)
for method in "exposure", "focus":
    want = stack(shots, method)
    write("strip.npy", strip)
    c.run("run", f"stack --images 4 --method {method}", "strip.npy", "chain.npy")
    c.check(f"{method} of a strip", np.array_equal(read("chain.npy"), want))
    c.check(f"{method} in a file", np.array_equal(stack(shots, method, "--memory", "1k"), want))
    c.check(f"{method} by 3 threads", np.array_equal(stack(shots, method, "--threads", "3"), want))
    c.check(f"{method} of one image", np.array_equal(stack([sharp], method), sharp))
    c.check(f"{method} of equal images", np.array_equal(stack([sharp, sharp], method), sharp))
    c.check(f"--by {method}", c.run("stack", *save(shots), "by.npy", "--by", method) is not None and np.array_equal(read("by.npy"), want))

# NaN and infinity do not spread; transparent pixels have no weight.
odd = [typed(s / 255, np.float32) for s in shots]
odd[1][7, 9] = np.nan
odd[2][20, 30, 1] = np.inf
clear = [np.concatenate([s, np.full((*s.shape[:2], 1), 255, np.uint8)], 2) for s in (sharp, blurred)]
clear[0][:, :100, 3] = 0
clear[0][:, :100, :3] = 255
for method in "exposure", "focus":
    c.check(f"{method}: finite", np.isfinite(stack(odd, method)).all())
    got = stack(clear, method).astype(int)
    off = np.abs(got[:, :60, :3] - blurred[:, :60]).max()
    c.check(f"{method}: transparent", got[..., 3].min() == 255 and off <= 8, (got[..., 3].min(), off))

# Refusals.
write("in1.npy", sharp[:-1])
p = c.result("stack", "in0.npy", "in1.npy", "no.npy", "--method", "focus")
c.check("another size", p.returncode == 1 and "in1.npy: has 400 x 299" in p.stderr, p.stderr)
c.end()
