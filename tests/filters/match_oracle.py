"""match against scikit-image's match_histograms, rounded."""
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
c.end()
