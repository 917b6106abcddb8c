"""blur, gaussian, convolve, edges, sharpen and invert against scipy.ndimage and numpy in double precision.

The contract: integers never more than 1 off, 8 bits equal in 99.9 % of samples and 16 bits in 95 %,
floats within 2^-20 of the largest value.

Sources: convolution filters/tone/invert.c
"""
from _common import SCIPY_MODES, Checks, need, np, random_image

(ndimage,) = need("scipy.ndimage")

FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
SIZES = [(1, 1), (1, 17), (17, 1), (31, 33), (67, 5), (129, 257)]
c = Checks()


def planes(image, operation):
    image = image.astype(np.float64)
    if image.ndim == 2:
        return operation(image)
    return np.stack([operation(image[:, :, i]) for i in range(image.shape[2])], axis=2)


def gaussian_taps(sigma, k):
    x = np.arange(k) - k // 2
    taps = np.exp(-0.5 * (x / sigma) ** 2)
    return taps / taps.sum()


def separable(row, column, mode):
    return lambda p: ndimage.correlate1d(ndimage.correlate1d(p, row, axis=1, mode=mode), column,
                                         axis=0, mode=mode)


def walk():
    """Runs every type at every size, gray and colour in turn."""
    for i, dtype in enumerate((np.uint8, np.uint16, np.float32)):
        for j, size in enumerate(SIZES):
            shape = size if (i + j) % 2 else (*size, 3)
            yield random_image(c.rng, shape, dtype), dtype


def test_blur(image, dtype, border, mode):
    for k in (1, 3, 5, 31):
        got = c.filter(image, "blur", "--k", k, "--border", border)
        taps = np.full(k, 1.0 / k)
        c.agree(f"blur k={k} {border} {image.shape} {dtype.__name__}", got,
                planes(image, separable(taps, taps, mode)), dtype)


def test_gaussian(image, dtype, border, mode):
    for options, sigma, k in ((("--sigma", 1.5), 1.5, 13), (("--sigma", 2, "--k", 5), 2, 5),
                              (("--k", 9), 0.3 * 3 + 0.8, 9), (("--sigma", 7), 7, 57)):
        got = c.filter(image, "gaussian", *options, "--border", border)
        taps = gaussian_taps(sigma, k)
        c.agree(f"gaussian {options} {border} {image.shape} {dtype.__name__}", got,
                planes(image, separable(taps, taps, mode)), dtype)


def gaussian(sigma, mode, order=(0, 0)):
    """Returns scipy's Gaussian filter, or its derivatives, with the kernel's size of gpuimg; x is first."""
    def operation(p):
        for axis in (1, 0):
            s = sigma[1 - axis]
            if s:
                p = ndimage.gaussian_filter1d(p, s, axis, order[1 - axis], mode=mode, radius=int(np.ceil(4 * s)))
        return p
    return operation


def test_directions(image, dtype, border, mode):
    """Other sizes along rows than along columns, and derivatives, by scipy's own filters."""
    for x, y in ((3, 0), (1.5, 2.5)):
        got = c.filter(image, "gaussian", "--sigma", f"{x},{y}", "--border", border)
        c.agree(f"gaussian --sigma {x},{y} {border} {image.shape} {dtype.__name__}", got,
                planes(image, gaussian((x, y), mode)), dtype)
    for width, height in ((1, 9), (4, 3), (7, 2)):
        got = c.filter(image, "blur", "--size", f"{width}x{height}", "--border", border)
        # Running sums of floats are not exact, so that they miss the ties of integers.
        mean = (lambda p: ndimage.uniform_filter(p, (height, width), mode=mode)) if dtype == np.float32 else (
            lambda p: ndimage.correlate(p, np.ones((height, width)), mode=mode) / (width * height))
        c.agree(f"blur --size {width}x{height} {border} {image.shape} {dtype.__name__}", got, planes(image, mean), dtype)
    for x, y, order in ((2, 2, (1, 0)), (2, 3, (2, 1)), (1, 1, (3, 0)), (1, 2, (0, 2))):
        got = c.filter(image, "gaussian", "--sigma", f"{x},{y}", "--order", f"{order[0]},{order[1]}", "--border", border)
        exact = planes(image, gaussian((x, y), mode, order))
        name = f"gaussian {x},{y} --order {order} {border} {image.shape} {dtype.__name__}"
        if dtype == np.float32:  # of the image's largest value, because the result may be 0 everywhere
            c.check(name, np.abs(got - exact).max() <= 2.0**-20 * np.abs(image).max())
        else:
            c.agree(name, got, np.abs(exact), dtype)
    got = c.filter(image, "gaussian", "--sigma", "2,1", "--size", "5x9", "--border", border)
    c.agree(f"gaussian --size 5x9 {border} {image.shape} {dtype.__name__}", got,
            planes(image, separable(gaussian_taps(2, 5), gaussian_taps(1, 9), mode)), dtype)


KERNELS = ["0 -1 0; -1 5 -1; 0 -1 0", "1 2 1; 2 4 2; 1 2 1", "1 -2 3 0.5; 0 1 -1 2", "0.25 0.5; 0.125 0.125",
           "1 0 0 0 0 0 0 0 -1; 2 1 0 0 3 0 0 0 1; 0 1 1 1 0 0 -4 0 1"]


def test_convolve(image, dtype, border, mode):
    for text in KERNELS:
        kernel = np.array([[float(v) for v in row.split()] for row in text.split(";")])
        if kernel.sum():
            kernel_n = kernel / kernel.sum()
            got = c.filter(image, "convolve", "--kernel", text, "--normalize", "--border", border)
            c.agree(f"convolve {text!r} {border} {image.shape} {dtype.__name__}", got,
                    planes(image, lambda p: ndimage.correlate(p, kernel_n, mode=mode)), dtype)
    kernel = np.array([[1.0, 2, 3], [0, 0, 0], [-1, -2, -2]])
    got = c.filter(image, "convolve", "--kernel", "1 2 3; 0 0 0; -1 -2 -2", "--flip", "--border", border)
    c.agree(f"convolve --flip {border} {image.shape} {dtype.__name__}", got,
            planes(image, lambda p: ndimage.convolve(p, kernel, mode=mode)), dtype)


def test_separable():
    """A kernel too large for anything else is separable, also if some of its weights are 0."""
    row, column = (np.r_[c.rng.integers(-9, 9, 90), 0] for _ in range(2))
    kernel = np.outer(column, row) / 1000
    image = random_image(c.rng, (40, 50), np.float32)
    np.savetxt(c.path("kernel.txt"), kernel, "%.17g")
    got = c.filter(image, "convolve", "--kernel", c.path("kernel.txt"))
    c.agree("convolve, separable with zeros", got, ndimage.correlate(image.astype(np.float64), kernel, mode="nearest"), np.float32)


SMOOTH = {"sobel": [1, 2, 1], "scharr": [3, 10, 3], "prewitt": [1, 1, 1]}


def test_edges(image, dtype, border, mode):
    for operator, smooth in SMOOTH.items():
        x = planes(image, separable([-1, 0, 1], smooth, mode))
        y = planes(image, separable(smooth, [-1, 0, 1], mode))
        signed = dtype == np.float32
        for of, exact in (("magnitude", np.hypot(x, y)), ("x", x if signed else np.abs(x)),
                          ("y", y if signed else np.abs(y))):
            got = c.filter(image, "edges", "--operator", operator, "--of", of, "--border", border)
            c.agree(f"edges {operator} {of} {border} {image.shape} {dtype.__name__}", got, exact, dtype)
    if border == "border":
        value = image.max() / 3 if signed else int(image.max()) // 3
        exact = planes(image, lambda p: ndimage.correlate(p, np.outer([1, 2, 1], [-1, 0, 1]), mode=mode, cval=value))
        got = c.filter(image, "edges", "--component", "x", "--border", border, "--border-value", value)
        c.agree(f"edges --border-value {value} {image.shape} {dtype.__name__}", got, exact if signed else np.abs(exact), dtype)
    exact = planes(image, lambda p: ndimage.correlate(p, [[0, 1, 0], [1, -4, 1], [0, 1, 0]], mode=mode))
    got = c.filter(image, "edges", "--operator", "laplacian", "--border", border)
    c.agree(f"edges laplacian {border} {image.shape} {dtype.__name__}", got,
            exact if dtype == np.float32 else np.abs(exact), dtype)


def test_sharpen(image, dtype):
    taps = gaussian_taps(1.0, 9)
    soft = planes(image, separable(taps, taps, "nearest"))
    got = c.filter(image, "sharpen", "--sigma", 1, "--amount", 1.5)
    c.agree(f"sharpen {image.shape} {dtype.__name__}", got, image + 1.5 * (image - soft), dtype)


def test_invert(image, dtype):
    full = FULL[dtype]
    exact = full - image.astype(np.float64)
    if image.ndim == 3 and image.shape[2] in (2, 4):
        exact[:, :, -1] = image[:, :, -1]
    got = c.filter(image, "invert")
    c.agree(f"invert {image.shape} {dtype.__name__}", got, exact, dtype)
    if dtype != np.float32:
        got = c.filter(image, "invert", "--alpha")
        c.check(f"invert --alpha {image.shape} {dtype.__name__}", np.array_equal(got, full - image))


def weighed(image, kernel, mode, value, keep=False, origin=0):
    """Correlates an image with alpha. Alpha weights colour: premultiply, filter, divide. `keep`: kernels that sum to 0
    leave alpha unchanged and divide by full scale."""
    alpha = image[:, :, -1:].astype(np.float64)
    outside = [value * value] * (image.shape[2] - 1) + [value]
    both = np.concatenate([image[:, :, :-1] * alpha, alpha], axis=2)
    both = np.stack([ndimage.correlate(both[:, :, i], kernel, mode=mode, cval=outside[i], origin=origin)
                     for i in range(image.shape[2])], axis=2)
    a = both[:, :, -1:] / np.sum(kernel) if not keep else np.full_like(alpha, FULL[image.dtype.type])
    colour = np.where(a > 0, both[:, :, :-1] / np.where(a > 0, a, 1), 0)
    return np.concatenate([colour, alpha if keep else a], axis=2)


def test_alpha(image, dtype, border, mode, few=None):
    value, full = (0.25, 1) if dtype == np.float32 else (60, FULL[dtype])
    soft = np.outer(gaussian_taps(1.4, 13), gaussian_taps(1.4, 13))
    even, zero = np.array([[1, 2, 3, 0.5], [0.25, 1, 4, 2]]), np.array([[1, 2, 0], [0, 0, 1], [-1, -2, -1]])
    sobel = [np.outer(*pair) / 4 for pair in (([1, 2, 1], [-1, 0, 1]), ([-1, 0, 1], [1, 2, 1]))]
    x, y = (weighed(image, kernel, mode, value, keep=True) for kernel in sobel)
    biased, magnitude = weighed(image, zero, mode, value, keep=True), np.hypot(x, y)
    biased[:, :, :-1] += 0.5
    magnitude[:, :, -1] = image[:, :, -1]
    differ = image - weighed(image, soft, mode, value)
    sharp = image + np.where(np.abs(differ) > 0.0612345 * full, 2.5 * differ, 0)
    sharp[:, :, -1] = image[:, :, -1]
    for words, exact in (("blur --k 3", weighed(image, np.full((3, 3), 1 / 9), mode, value)),
                         ("blur --k 1", weighed(image, np.ones((1, 1)), mode, value)),
                         ("gaussian --sigma 1.4", weighed(image, soft, mode, value)),
                         ("convolve --kernel 1,2,3,.5;.25,1,4,2", weighed(image, even, mode, value)),
                         ("convolve --kernel 2,1,1 --normalize --anchor 0,0",
                          weighed(image, np.array([[0.5, 0.25, 0.25]]), mode, value, origin=(0, -1))),
                         ("convolve --kernel 1,2,0;0,0,1;-1,-2,-1 --bias 0.5", biased),
                         ("edges --scale 0.25", magnitude),
                         ("sharpen --sigma 1.4 --amount 2.5 --threshold 6.12345", sharp)):
        words = [word.replace(",", " ") if ";" in word or word == "2,1,1" else word for word in words.split()]
        got = c.filter(image, *words, "--border", border, "--border-value", value)
        c.agree(f"{' '.join(words)} {border} {image.shape} {dtype.__name__}", got, exact, dtype, few)


def test_many_taps():
    """Long sums of floats."""
    for shape in ((1, 601), (601, 1)):
        image = random_image(c.rng, shape, np.float32)
        for words, taps in (("blur --k 33", np.full(33, 1 / 33)), ("blur --k 4001", np.full(4001, 1 / 4001)),
                            ("gaussian --sigma 20 --k 65", gaussian_taps(20, 65)),
                            ("gaussian --sigma 250", gaussian_taps(250, 2001))):
            got = c.filter(image, *words.split())
            exact = ndimage.correlate1d(image.astype(np.float64), taps, axis=int(shape[0] == 1), mode="nearest")
            c.agree(f"{words} {shape}", got, exact, np.float32)


test_separable()
test_many_taps()
for dtype in FULL:
    for size in ((1, 1, 4), (5, 2, 2), (33, 31, 4), (61, 83, 2)):
        for border, mode in SCIPY_MODES.items():
            image = random_image(c.rng, size, dtype)
            test_alpha(image, dtype, border, mode)
            # Alpha near the ends of its range, where a division by it or by a sum of it loses most precision, and where
            # more samples are near a tie.
            ends = np.array([0, 1, 2, 254, 255] if dtype == np.uint8 else [0, 1, 2, 255, 256, 65534, 65535])
            image[:, :, -1] = c.rng.choice(ends / np.float32(65535) if dtype == np.float32 else ends, size[:2])
            test_alpha(image, dtype, border, mode, few=True)
for image, dtype in walk():
    for border, mode in SCIPY_MODES.items():
        for test in (test_blur, test_gaussian, test_convolve, test_edges):
            test(image, dtype, border, mode)
        if border == "reflect101":
            test_directions(image, dtype, border, mode)
    test_sharpen(image, dtype)
    test_invert(image, dtype)
for dtype in (np.uint8, np.uint16):
    test_invert(random_image(c.rng, (31, 33, 4), dtype), dtype)
c.end()
