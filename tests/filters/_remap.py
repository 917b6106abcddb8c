"""Geometric transforms in double precision, the oracle of geometry's operations."""
from _common import np

BORDERS = ("clamp", "border", "wrap", "mirror", "reflect101")


def index(i, n, border):
    """Returns the pixel at position i of an axis of n, or -1 for the border's constant."""
    if border == "clamp":
        return np.clip(i, 0, n - 1)
    if border == "border":
        return np.where((i >= 0) & (i < n), i, -1)
    if border == "wrap":
        return i % n
    if border == "mirror":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    if n == 1:
        return np.zeros_like(i)
    i = i % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def keys(d, a):
    d = np.abs(d)
    return np.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1,
                    np.where(d < 2, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a, 0))


def weights(t, how, a):
    """Returns the offsets of the taps and their weights for the fractions t."""
    if how == "bilinear":
        return [0, 1], [1 - t, t]
    return [-1, 0, 1, 2], [keys(t - k, a) for k in (-1, 0, 1, 2)]


def sample(image, x, y, how="bilinear", border="border", value=0.0, a=-0.5):
    """Samples the image at the places (x, y) in double precision; colour is weighted by alpha if there is any."""
    image = image.astype(np.float64).reshape(*image.shape[:2], -1)
    h, w, channels = image.shape
    value = np.broadcast_to(np.asarray(value, np.float64), (channels,))
    framed = np.concatenate([image.reshape(-1, channels), value[None]])  # the last: outside

    def at(i, j):
        i, j = index(i, w, border), index(j, h, border)
        return framed[np.where((i < 0) | (j < 0), h * w, j * w + i)]

    if how == "nearest":
        return at(np.floor(x + 0.5).astype(int), np.floor(y + 0.5).astype(int))
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    alpha = channels in (2, 4)
    if alpha:
        framed[:, :-1] *= framed[:, -1:]
    total = np.zeros((*x.shape, channels))
    some = np.zeros(x.shape, bool)
    for dj, wy in zip(*weights(y - j, how, a)):
        for di, wx in zip(*weights(x - i, how, a)):
            total += (wx * wy)[..., None] * at(i + di, j + dj)
            some |= (index(i + di, w, border) >= 0) & (index(j + dj, h, border) >= 0)
    if alpha:
        solid = total[..., -1:] > 0
        total[..., :-1] = np.where(solid, total[..., :-1] / np.where(solid, total[..., -1:], 1), 0)
        total[..., -1:] = np.where(solid, total[..., -1:], 0)
    return np.where(some[..., None], total, value)


def grid(w, h):
    y, x = np.mgrid[0:h, 0:w].astype(np.float64)
    return x, y


def agree(c, name, got, exact, dtype, unsure=None):
    """Compares two images; `unsure`: places at which a rounded coordinate may choose another pixel, which are left out."""
    got = got.reshape(exact.shape).astype(np.float64)
    if unsure is not None:
        got, exact = got[~unsure], exact[~unsure]
    if not got.size:
        return
    c.agree(name, got, exact, dtype)
