"""match (histogram matching) against scikit-image's match_histograms, rounded; floats are compared by their bins.

Sources: filters/tone/match.c
"""
from _common import Checks, colours, need, np, random_image, to_type, write, suffix

(exposure,) = need("skimage.exposure")
c = Checks()


def matched(image, like):
    if image.ndim == 2:
        return to_type(exposure.match_histograms(image, like), image.dtype.type)
    out = image.copy()
    for i in range(colours(image)):
        out[:, :, i] = matched(image[:, :, i], like[:, :, i])
    return out


for dtype in (np.uint8, np.uint16):
    for shape, other in (((1, 1), (5, 7)), ((9, 5), (1, 1)), ((61, 43), (40, 90)), ((60, 50, 3), (20, 30, 3)), ((40, 31, 4), (33, 32, 3)), ((23, 57, 2), (40, 31))):
        image = (random_image(c.rng, shape, dtype) * c.rng.random() ** 2).astype(dtype)
        like = (random_image(c.rng, other, dtype) * 0.7 + 20).astype(dtype)
        path = c.path("like" + suffix(like))
        write(path, like)
        want = matched(image, like[:, :, None] if image.ndim == 3 and like.ndim == 2 else like)
        got = c.filter(image, "match", "--reference", path, "--device", "cpu")
        flat = like.reshape(-1, 1) if like.ndim == 2 else like.reshape(-1, like.shape[2])
        counts = [np.bincount(flat[:, i], minlength=np.iinfo(dtype).max + 1) for i in range(flat.shape[1] - (flat.shape[1] % 2 == 0))]
        np.savetxt(c.path("counts.txt"), np.column_stack(counts), fmt="%d")
        c.check(f"match by counts {shape} {other} {dtype.__name__}", np.array_equal(c.filter(image, "match", "--histogram", c.path("counts.txt")), got))
        c.check(f"match {shape} {other} {dtype.__name__}", np.array_equal(got, want), f"{np.abs(got.astype(int) - want).max()}")

def quantized(v):
    """The values of the 65536 bins of floats from 0 to 1."""
    return np.clip(np.floor(v.astype(np.float64) * 65536), 0, 65535) / 65535


image, like = (c.rng.random((61, 43)) ** 2).astype(np.float32), (c.rng.random((40, 90)) * 0.4 + 0.3).astype(np.float32)
path = c.path("like.pfm")
write(path, like)
got = c.filter(image, "match", "--reference", path, "--device", "cpu")
want = exposure.match_histograms(quantized(image), quantized(like))
c.check("match floats", np.abs(got - want).max() <= 2.0**-20, f"{np.abs(got - want).max()}")
odd = np.vstack([image, [[np.nan, np.inf, -np.inf, -2, 1.5] + [0.5] * 38]]).astype(np.float32)
count = np.bincount((quantized(like) * 65535 + 0.5).astype(int).ravel(), minlength=65536)
np.savetxt(c.path("counts.txt"), count, fmt="%d")
got = c.filter(odd, "match", "--histogram", c.path("counts.txt"), "--device", "cpu")
inside = np.vstack([image.reshape(-1, 1), np.full((38, 1), 0.5)]).astype(np.float32)
want = exposure.match_histograms(quantized(inside), quantized(like).reshape(-1, 1))
c.check("match floats by counts", np.abs(got[:-1].ravel() - want[:-38, 0]).max() <= 2.0**-20)
c.check("match floats outside", np.isnan(got[-1, 0]) and got[-1, 1] == got[-1, 4] == got.max(initial=0, where=~np.isnan(got))
        and got[-1, 2] == got[-1, 3] == got.min(initial=1, where=~np.isnan(got)))
write(path, like + 7)
c.check("match floats by none", np.array_equal(c.filter(image, "match", "--reference", path), image))
c.end()
