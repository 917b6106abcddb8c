"""Comparisons of help with OpenCV, scipy, scikit-image and Pillow that the oracles of single operations do not hold.

tests/claims lists the comparisons, and gpuimg help compatibility the versions that they are about.

Sources: filters
"""
import inspect
import json

from _common import Checks, need, np, random_image, to_type, write

cv2, ndimage, exposure, filters, morphology, restoration, transform, Image, ImageChops = need(
    "cv2", "scipy.ndimage", "skimage.exposure", "skimage.filters", "skimage.morphology", "skimage.restoration", "skimage.transform",
    "PIL.Image", "PIL.ImageChops")
CLAMP = cv2.BORDER_REPLICATE
c = Checks()


def steps(got, want):
    """The largest difference, in steps of a sample."""
    return np.abs(got.astype(np.float64) - np.asarray(want).astype(np.float64)).max()


def same(name, got, want):
    c.check(name, got.shape == np.shape(want) and np.array_equal(got, want))


def within(name, got, want, most):
    c.check(name, steps(got, want) <= most, f"off by {steps(got, want)}, want at most {most}")


def smooth():
    return cv2.GaussianBlur(random_image(c.rng, (61, 83), np.uint8), (0, 0), 3)


def text_of(matrix):
    return "; ".join(" ".join(repr(float(v)) for v in row) for row in matrix)


def test_convolution():
    for dtype in (np.uint8, np.uint16):
        image = random_image(c.rng, (61, 83), dtype)
        for k in (3, 5, 9, 31, 101):
            within(f"blur {k} {dtype.__name__}", c.filter(image, "blur", "--k", k), cv2.blur(image, (k, k), borderType=CLAMP), dtype == np.uint16)
        for kernel in ([[1, 2, 3], [0, 0, 0], [-1, -2, -2]], [[1, 2, 3, 1], [0, 0, 0.5, 1]]):  # the second has even sides
            got = c.filter(image, "convolve", "--kernel", text_of(kernel))
            same(f"filter2D {dtype.__name__}", got, cv2.filter2D(image, -1, np.array(kernel, float), borderType=CLAMP))
            same(f"scipy's correlate {dtype.__name__}", got, to_type(ndimage.correlate(image.astype(float), kernel, mode="nearest"), dtype))
    for k in (3, 9, 11, 31):  # the weights are the response to one white sample
        spike = np.zeros((1, 2 * k + 1), np.float32)
        spike[0, k] = 1
        got = c.filter(spike, "gaussian", "--k", k)[0, k - k // 2:k + k // 2 + 1]
        within(f"getGaussianKernel's formula {k}", got, cv2.getGaussianKernel(k, 0.3 * ((k - 1) / 2 - 1) + 0.8)[:, 0], 1e-7)
        own = steps(got, cv2.getGaussianKernel(k, 0)[:, 0])
        c.check(f"getGaussianKernel without sigma {k}", own > 1e-3 if k <= 9 else own < 1e-7, own)
    image = random_image(c.rng, (40, 50), np.uint8).astype(np.float32)
    for operator, opencv, scipy in (("sobel", cv2.Sobel, ndimage.sobel), ("scharr", cv2.Scharr, None), ("prewitt", None, ndimage.prewitt)):
        for component, dx in (("x", 1), ("y", 0)):
            got = c.filter(image, "edges", "--operator", operator, "--component", component)
            if opencv:
                same(f"OpenCV's {operator} {component}", got, opencv(image, cv2.CV_32F, dx, 1 - dx, borderType=CLAMP))
            if scipy:
                same(f"scipy's {operator} {component}", got, scipy(image, dx, mode="nearest"))
    y, x = np.mgrid[0:40, 0:50]
    waves = (100 + 80 * np.sin(x / 15) * np.cos(y / 20)).astype(np.float32)
    slope = np.hypot(*np.gradient(waves.astype(np.float64)))[1:-1, 1:-1]  # up to 5.3 per pixel
    for operator, scale in (("sobel", 0.125), ("scharr", 0.03125), ("prewitt", 0.1666667)):
        got = c.filter(waves, "edges", "--operator", operator, "--scale", scale)
        within(f"slope per pixel by {operator}", got[1:-1, 1:-1], slope, 0.01)
    got = c.filter(image, "edges", "--operator", "laplacian")
    same("OpenCV's Laplacian", got, cv2.Laplacian(image, cv2.CV_32F, borderType=CLAMP))
    same("scipy's laplace", got, ndimage.laplace(image, mode="nearest"))


def test_neighbourhoods():
    image = random_image(c.rng, (47, 58), np.uint8)
    for k in (3, 5, 9, 31):
        same(f"medianBlur {k}", c.filter(image, "median", "--k", k), cv2.medianBlur(image, k))
    for k in (3, 5):
        wide = random_image(c.rng, (47, 58), np.uint16)
        same(f"medianBlur {k} of 16 bits", c.filter(wide, "median", "--k", k), cv2.medianBlur(wide, k))
    even = np.ones((3, 4), np.uint8)  # scipy turns it round for a dilation, OpenCV does not
    got = c.filter(image, "dilate", "--size", "4x3")
    same("dilate by even sides: scipy's", got, ndimage.grey_dilation(image, size=(3, 4), mode="nearest"))
    c.check("dilate by even sides: not OpenCV's", not np.array_equal(got, cv2.dilate(image, even)))
    for name, peer in (("gradient", ndimage.morphological_gradient), ("tophat", ndimage.white_tophat), ("blackhat", ndimage.black_tophat)):
        same(f"scipy's {name}", c.filter(image, name, "--k", 5), peer(image, 5, mode="nearest"))
    for r in (1, 4, 7):  # the disk is the response to one white pixel
        spot = np.zeros((31, 31), np.uint8)
        spot[15, 15] = 255
        got = c.filter(spot, "dilate", "--shape", "disk", "--k", 2 * r + 1)[15 - r:16 + r, 15 - r:16 + r]
        same(f"scikit-image's disk({r})", got // 255, morphology.disk(r))
    exact = restoration.rolling_ball(image.astype(float), radius=8)
    within("rolling_ball", c.filter(image, "background", "--radius", 8, "--keep"), exact, 0.5001)
    same("rolling_ball truncates 8 bits", restoration.rolling_ball(image, radius=8), np.trunc(exact))
    wide = random_image(c.rng, (40, 50), np.uint16)
    got = c.filter(wide, "background", "--radius", 8, "--height", 8, "--keep")
    within("rolling_ball of 16 bits", got, restoration.rolling_ball(wide.astype(float), radius=8), 0.5001)
    picture = smooth()
    for sigma in (2, 3, 4.2):
        got = c.filter(picture, "bilateral", "--sigma", sigma, "--range", 25, "--border", "reflect101")
        within(f"bilateralFilter chooses d by sigma {sigma}", got, cv2.bilateralFilter(picture, 0, 25, sigma), 1)


def test_tone():
    for turn in range(100):
        image = (c.rng.random((20, 30)) ** c.rng.uniform(0.3, 3) * 255).astype(np.uint8)
        got = c.filter(image, "threshold")
        same(f"OpenCV's Otsu {turn}", got, cv2.threshold(image, 0, 255, cv2.THRESH_OTSU)[1])
        same(f"scikit-image's Otsu {turn}", got > 0, image > filters.threshold_otsu(image))
    write(c.path("in.pgm"), image)
    c.run("extract", c.path("in.pgm"), c.path("t.csv"), "--threshold", 127, "--labels", c.path("labels.npy"))
    same("foreground of extract", np.load(c.path("labels.npy")) > 0, cv2.threshold(image, 127, 255, cv2.THRESH_BINARY)[1] > 0)
    same("adjust_gamma", c.filter(image, "gamma", "--gamma", 2.2), to_type(exposure.adjust_gamma(image / 255, 1 / 2.2) * 255, np.uint8))
    share = np.bincount(image.ravel(), minlength=256).cumsum() / image.size
    within("equalize_hist", share[image], exposure.equalize_hist(image, nbins=256), 1e-12)
    c.check("createCLAHE's limit", cv2.createCLAHE().getClipLimit() == 40)
    parameters = inspect.signature(morphology.remove_small_objects).parameters
    c.check("remove_small_objects' connectivity", parameters["connectivity"].default == 1)


def test_two_images():
    a, b = (random_image(c.rng, (61, 83), np.uint8) for _ in range(2))
    write(c.path("b.pgm"), b)
    pa, pb = Image.fromarray(a), Image.fromarray(b)
    for amount in (0.3, 0.5, 0.7):
        got = c.filter(a, "blend", "--amount", amount, "--with", c.path("b.pgm"))
        within(f"addWeighted {amount}", got, cv2.addWeighted(a, 1 - amount, b, amount, 0), 1)
        same(f"Image.blend truncates {amount}", np.asarray(Image.blend(pa, pb, amount)), np.trunc(a + np.float32(amount) * (b.astype(np.float32) - a)))
    same("ImageChops.multiply truncates", np.asarray(ImageChops.multiply(pa, pb)), a.astype(int) * b // 255)
    b[:9] = 0
    write(c.path("b.pgm"), b)
    same("OpenCV's divide", cv2.divide(a, b, scale=255), np.where(b == 0, 0, c.filter(a, "divide", "--with", c.path("b.pgm"))))
    write(c.path("a.pgm"), a)
    got = json.loads(c.run("stats", c.path("a.pgm"), "--json"))["channels"][0]
    c.check("numpy's stddev", abs(got["stddev"] - a.std()) < 1e-9, got["stddev"])
    c.run("integral", c.path("a.pgm"), c.path("sums.npy"))
    same("integral_image", np.load(c.path("sums.npy")), transform.integral_image(a))
    same("OpenCV's integral", np.pad(np.load(c.path("sums.npy")), ((1, 0), (1, 0))), cv2.integral(a))


def test_geometry():
    """Directions and origins; OpenCV interpolates at places rounded to 1/32 pixel, Pillow rounds half up."""
    image = smooth()
    h, w = image.shape
    m = np.array([[1.1, 0.2, 3], [-0.1, 0.9, 5]])
    y, x = np.mgrid[:h, :w]
    u, v = m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2]
    inner = (u >= 1) & (u < w - 2) & (v >= 1) & (v < h - 2)
    within("warpAffine", c.filter(image, "affine", "--matrix", text_of(m)), cv2.warpAffine(image, m, (w, h)), 3)
    got = c.filter(image, "affine", "--inverse", "--matrix", text_of(m))
    swapped = m[::-1, 1::-1], m[::-1, 2]  # scipy's axes are rows, columns
    within("affine_transform", got, ndimage.affine_transform(image.astype(float), *swapped, order=1, mode="grid-constant"), 0.5001)
    corner = np.column_stack([m[:, :2], m[:, 2] + 0.5 - m[:, :2] @ [0.5, 0.5]])  # Pillow counts from the corner of the first pixel
    theirs = np.asarray(Image.fromarray(image).transform((w, h), Image.AFFINE, corner.ravel(), Image.BILINEAR))
    within("Image.transform", got[inner], theirs[inner], 1)
    got = c.filter(image, "rotate", "--angle", 20)
    within("ndimage.rotate", got, ndimage.rotate(image.astype(float), 20, order=1, reshape=False, mode="grid-constant"), 0.5001)
    theirs = np.asarray(Image.fromarray(image).rotate(20, Image.BILINEAR))
    within("Image.rotate", got[20:40, 25:55], theirs[20:40, 25:55], 1)


test_convolution()
test_neighbourhoods()
test_tone()
test_two_images()
test_geometry()
c.end()
