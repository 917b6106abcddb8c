"""The levels of image pyramids in numpy."""
from _common import np


def halve(a):
    """Means of 2 x 2 pixels in exact integers, half up, weighted by alpha; floats without alpha in float64."""
    a = np.pad(a, ((0, a.shape[0] % 2), (0, a.shape[1] % 2), (0, 0)), mode="edge")
    a = a.astype(np.float64 if a.dtype.kind == "f" else np.int64)
    parts = [a[y::2, x::2] for y in (0, 1) for x in (0, 1)]
    if a.dtype == np.float64:
        return sum(parts) / 4
    mean = (sum(parts) + 2) // 4
    if a.shape[2] % 2 == 0:
        total = sum(p[..., -1:] for p in parts)
        weighted = sum(p[..., :-1] * p[..., -1:] for p in parts)
        mean[..., :-1] = np.where(total, (2 * weighted + total) // np.maximum(2 * total, 1), 0)
    return mean


def levels(a, most):
    """The image and its smaller versions, down to one of at most `most` pixels per side."""
    made = [a]
    while max(made[-1].shape[:2]) > most:
        made.append(halve(made[-1]))
    return made
