"""OpenCV's functions for the work of the CPU table: each gets the request and its image, and returns a call to time.

If GPUIMG_CPU limits ours to AVX2, OpenCV is limited too: it reads OPENCV_CPU_DISABLE when it is loaded.
"""
import os

if os.environ.get("GPUIMG_CPU") == "avx2":
    os.environ.setdefault("OPENCV_CPU_DISABLE", "AVX512-SKX")
try:
    import cv2
    import numpy as np
    MISSING = None
except ImportError as error:
    cv2 = np = None
    MISSING = str(error)


def features():
    """Returns the instruction sets that OpenCV dispatches to at run time; it marks with a question mark those
    that are missing or disabled."""
    return " ".join(f[1:] for f in cv2.getCPUFeaturesLine().split() if f[0] == "*" and f[-1] != "?")


def image(request):
    """Returns the samples that bench_cpu saved, so that both process the same image."""
    kind = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}[request.get("type", "u8")]
    shape = (request["height"], request["width"], request.get("channels", 1))
    return np.fromfile(request["save"], kind).reshape(shape).squeeze()


def threads(n):
    if cv2:
        cv2.setNumThreads(n)


def gaussian(request, src):
    k, dst = request["k"], np.empty_like(src)
    return lambda: cv2.GaussianBlur(src, (k, k), k / 6, dst=dst, borderType=cv2.BORDER_REPLICATE)


def box(request, src):
    k, dst = request["k"], np.empty_like(src)
    return lambda: cv2.blur(src, (k, k), dst=dst, borderType=cv2.BORDER_REPLICATE)


def erode(request, src):
    kernel, dst = np.ones((request["k"], request["k"]), np.uint8), np.empty_like(src)
    return lambda: cv2.erode(src, kernel, dst=dst)


def median(request, src):
    dst = np.empty_like(src)
    return lambda: cv2.medianBlur(src, request["k"], dst=dst)


def clahe(request, src):
    dst, tiles = np.empty_like(src), cv2.createCLAHE(2, (8, 8))
    return lambda: tiles.apply(src, dst)


def bilateral(request, src):
    k, dst = request["k"], np.empty_like(src)
    return lambda: cv2.bilateralFilter(src, k, 25.5, k / 3, dst=dst, borderType=cv2.BORDER_REPLICATE)


def nlmeans(request, src):
    dst = np.empty_like(src)
    return lambda: cv2.fastNlMeansDenoising(src, dst, 10.2, request["k"], 21)


def dense(request, src):
    k, dst = request["k"], np.empty_like(src)
    weights = np.random.default_rng(7).random((k, k), np.float32) / (k * k)
    return lambda: cv2.filter2D(src, -1, weights, dst=dst, borderType=cv2.BORDER_REPLICATE)


def sobel_x(request, src):
    """The result is 16 bits signed; ours is 8 bits directly."""
    dst = np.empty(src.shape, np.int16)
    return lambda: cv2.Sobel(src, cv2.CV_16S, 1, 0, dst=dst, borderType=cv2.BORDER_REPLICATE)


def sobel(request, src):
    """Computes both gradients in float, their magnitude, and converts to 8 bits."""
    x, y, magnitude, dst = (np.empty(src.shape, t) for t in (np.float32, np.float32, np.float32, np.uint8))

    def work():
        cv2.Sobel(src, cv2.CV_32F, 1, 0, dst=x, borderType=cv2.BORDER_REPLICATE)
        cv2.Sobel(src, cv2.CV_32F, 0, 1, dst=y, borderType=cv2.BORDER_REPLICATE)
        cv2.magnitude(x, y, magnitude)
        cv2.convertScaleAbs(magnitude, dst)
    return work


def threshold(request, src):
    dst = np.empty_like(src)
    return lambda: cv2.threshold(src, 127, 255, cv2.THRESH_BINARY, dst=dst)


def table(request, src):
    if src.dtype != np.uint8:
        return None
    lut, dst = (np.sqrt(np.arange(256) / 255) * 255.99).astype(np.uint8), np.empty_like(src)
    return lambda: cv2.LUT(src, lut, dst=dst)


def pair(call, **of_type):
    """A function of two images, including alpha, which ours copies; `of_type`: returns arguments from full scale."""
    def peer(request, src):
        other, dst = src[::-1].copy(), np.empty_like(src)
        full = 1 if src.dtype == np.float32 else np.iinfo(src.dtype).max
        more = {name: make(full) for name, make in of_type.items()}
        return lambda: getattr(cv2, call)(src, other, dst=dst, **more)
    return peer


def weighted(a, b):
    def peer(request, src):
        other, dst = src[::-1].copy(), np.empty_like(src)
        return lambda: cv2.addWeighted(src, a, other, b, 0, dst=dst)
    return peer


def warp(call, matrix):
    """The same map as run_warp() in work.c; pixels outside are 0."""
    def peer(request, src):
        height, width = src.shape[:2]
        how = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC}
        flags = how[request.get("interpolation", "linear")] | cv2.WARP_INVERSE_MAP
        dst, m = np.empty_like(src), matrix(request, width, height)
        return lambda: getattr(cv2, call)(src, m, (width, height), dst=dst, flags=flags)
    return peer


def turn(request, width, height):
    angle = np.radians(request.get("degrees", 7))
    c, s, x, y = np.cos(angle), np.sin(angle), (width - 1) / 2, (height - 1) / 2
    return np.array([[c, s, x - c * x - s * y], [-s, c, y + s * x - c * y]])


def keystone(request, width, height):
    return np.array([[1, 0.1, -0.025 * width], [0.08, 1, -0.018 * width], [0.16 / width, 0.08 / width, 1]])


def luma(request, src):
    """OpenCV uses the weights of Rec. 601."""
    dst = np.empty(src.shape[:2], src.dtype)
    return lambda: cv2.cvtColor(src, cv2.COLOR_RGB2GRAY, dst=dst)


def histogram(request, src):
    channels = range(request.get("channels", 1))
    return lambda: [cv2.calcHist([src], [c], None, [256], [0, 256]) for c in channels]


def sums(request, src):
    return lambda: cv2.meanStdDev(src)


def foreground(src):
    """The comparison is made before the clock starts, in OpenCV's favour: ours compares as it reads."""
    return (src > 127).astype(np.uint8)


def select(request, src):
    """Returns coordinates only; ours returns the values too."""
    binary = foreground(src)
    return lambda: cv2.findNonZero(binary)


def components(request, src):
    """Returns area, bounding box and centroid; ours returns intensities and perimeter too."""
    binary, connectivity = foreground(src), request.get("connectivity", 8)
    return lambda: cv2.connectedComponentsWithStats(binary, connectivity=connectivity, ltype=cv2.CV_32S)


def midpoint(request, src):
    """The mean of the two images, rounded half to even."""
    kernel, low, high = np.ones((3, 3), np.uint8), np.empty_like(src), np.empty_like(src)

    def work():
        cv2.erode(src, kernel, dst=low)
        cv2.dilate(src, kernel, dst=high)
        cv2.addWeighted(low, 0.5, high, 0.5, 0, dst=low)
    return work


def disk(request, src):
    """OpenCV's disk is slightly wider than ours where the pixels of a circle are rounded."""
    kernel, dst = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (31, 31)), np.empty_like(src)
    return lambda: cv2.erode(src, kernel, dst=dst)


def joint_bilateral(request, src):
    if not hasattr(cv2, "ximgproc"):
        return None
    guide, dst = src[::-1].copy(), np.empty_like(src)
    return lambda: cv2.ximgproc.jointBilateralFilter(guide, src, 9, 25.5, 3, dst=dst, borderType=cv2.BORDER_REPLICATE)


def fill_holes(request, src):
    """Pixels of a binary image that a frame around it does not reach become white; ours keeps the samples."""
    src = 255 * foreground(src)
    framed = np.zeros((src.shape[0] + 2, src.shape[1] + 2), np.uint8)
    mask = np.zeros((framed.shape[0] + 2, framed.shape[1] + 2), np.uint8)

    def work():
        framed[1:-1, 1:-1] = src
        mask[:] = 0
        cv2.floodFill(framed, mask, (0, 0), 255, flags=4)
        return cv2.bitwise_or(src, cv2.bitwise_not(framed[1:-1, 1:-1]))
    return work


def distance(request, src):
    binary = foreground(src)
    return lambda: cv2.distanceTransform(binary, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def by_area(request, src):
    """Labels with their areas, of which those below 64 become black by a table; ours keeps the samples."""
    binary = foreground(src)

    def work():
        _, labels, stats, _ = cv2.connectedComponentsWithStats(binary, connectivity=8, ltype=cv2.CV_32S)
        keep = stats[:, cv2.CC_STAT_AREA] >= 64
        keep[0] = False
        return src * keep[labels]
    return work


def sepia(request, src):
    dst, m = np.empty_like(src), np.float32([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    return lambda: cv2.transform(src, m, dst=dst)


def convert(code):
    def peer(request, src):
        dst = np.empty_like(src)
        return lambda: cv2.cvtColor(src, getattr(cv2, code), dst=dst)
    return peer


def equalize(request, src):
    dst = np.empty_like(src)
    return None if src.dtype != np.uint8 else lambda: cv2.equalizeHist(src, dst=dst)


def match(request, src):
    """Two histograms, a table from their cumulative shares without our interpolation, and a look-up."""
    like, dst = src[::-1].copy(), np.empty_like(src)

    def work():
        shares = [np.cumsum(cv2.calcHist([i], [0], None, [256], [0, 256])) for i in (src, like)]
        cv2.LUT(src, np.searchsorted(shares[1], shares[0]).clip(0, 255).astype(np.uint8), dst=dst)
    return work


def tonemap(request, src):
    """Another method of Reinhard's (2005), whose exposure depends on the image; gamma 2.2 in place of the curve of sRGB."""
    dst, method = np.empty_like(src), cv2.createTonemapReinhard(2.2)
    return lambda: method.process(src, dst)


WORK = {} if MISSING else {
    "gaussian": gaussian, "box": box, "erode": erode, "median": median, "clahe": clahe, "bilateral": bilateral, "nlmeans": nlmeans, "dense": dense, "sobel_x": sobel_x, "sobel": sobel, "threshold": threshold,
    "table": table, "add": pair("add"), "subtract": pair("subtract"), "absdiff": pair("absdiff"),
    "multiply": pair("multiply", scale=lambda full: 1 / full), "divide": pair("divide", scale=lambda full: full),
    "blend": weighted(0.7, 0.3), "mean": weighted(0.5, 0.5), "rotate": warp("warpAffine", turn), "perspective": warp("warpPerspective", keystone),
    "luma": luma, "histogram": histogram, "sum": sums, "select": select,
    "components": components, "midpoint k=3": midpoint, "erode k=31 shape=disk": disk,
    "bilateral k=9 sigma=3 guide=other": joint_bilateral, "fill-holes threshold=50%": fill_holes, "distance threshold=50%": distance, "remove-small threshold=50% area=64": by_area,
    "color sepia": sepia, "color to=lab": convert("COLOR_RGB2LAB"), "color to=ycbcr": convert("COLOR_RGB2YCrCb"),
    "equalize": equalize, "match reference=other": match, "tonemap depth=float": tonemap}
