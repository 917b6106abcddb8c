"""Work of the table "commands" by OpenCV, scipy and scikit-image, in the process of the bench: read a file, compute, and write
the image that results. Imports are not timed, and tables stay in memory, both in the peers' favour."""
import os

import cv2
import numpy as np
from scipy import ndimage
from skimage import feature, measure, morphology, registration, segmentation, transform

HIT, MISS = np.int32([[0, 1, 0], [0, 1, 1], [0, 0, 0]]), np.int32([[0, 0, 0], [1, 0, 0], [1, 1, 0]])


def gray(path):
    return cv2.imread(path, cv2.IMREAD_GRAYSCALE)


def write(path, image, kind=np.uint8):
    cv2.imwrite(path, np.asarray(image).astype(kind, copy=False))


def edges(source):
    return cv2.Canny(gray(source), 200, 400, L2gradient=True)


def watershed(source, out):
    smooth = cv2.GaussianBlur(gray(source), (0, 0), 8, borderType=cv2.BORDER_REPLICATE)
    write(out, segmentation.watershed(smooth), np.uint16)


def split_touching(source, out):
    mask = gray(source) > 0
    distance = ndimage.distance_transform_edt(mask).astype(np.float32)
    write(out, segmentation.watershed(-distance, mask=mask, connectivity=2), np.uint16)


def phase_cross_correlation(source, reference):
    return registration.phase_cross_correlation(gray(reference), gray(source), upsample_factor=20)


def phase_correlate(source, reference):
    a, b = np.float32(gray(reference)), np.float32(gray(source))
    return cv2.phaseCorrelate(b, a, cv2.createHanningWindow(a.shape[::-1], cv2.CV_32F))


def orb(source, reference):
    """Binary features, matched both ways, and a similarity by RANSAC."""
    detector = cv2.ORB_create(500)
    (a, of_a), (b, of_b) = (detector.detectAndCompute(gray(path), None) for path in (source, reference))
    if not a or not b:
        return None
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(of_a, of_b)
    if len(matches) < 3:
        return None
    ends = [np.float32([of[i].pt for of, i in pairs]) for pairs in ([(a, m.queryIdx) for m in matches], [(b, m.trainIdx) for m in matches])]
    return cv2.estimateAffinePartial2D(*ends)


def ecc(source, reference):
    """ECC alone, from the result of phase correlation, on whole images."""
    (x, y), _ = phase_correlate(source, reference)
    start = np.float32([[1, 0, -x], [0, 1, -y]])
    return cv2.findTransformECC(gray(reference), gray(source), start, cv2.MOTION_AFFINE, (3, 20, 1e-4), None, 5)


def hough_lines(source):
    return cv2.HoughLines(edges(source), 1, np.pi / 180, 400)


def hough_segments(source):
    return cv2.HoughLinesP(edges(source), 1, np.pi / 180, 10, minLineLength=30, maxLineGap=3)


def probabilistic_hough_line(source):
    return transform.probabilistic_hough_line(edges(source), threshold=10, line_length=30, line_gap=3)


def hough_circles(source):
    return cv2.HoughCircles(gray(source), cv2.HOUGH_GRADIENT, 1, 8, param1=400, param2=15, minRadius=8, maxRadius=32)


def corner_harris(source):
    """Without the sides, whose scores are the highest because pixels outside are black."""
    score = feature.corner_harris(gray(source))[8:-8, 8:-8]
    return feature.corner_peaks(score, min_distance=5, threshold_rel=0.01)


def good_features(source):
    return cv2.goodFeaturesToTrack(gray(source), 0, 0.01, 5, useHarrisDetector=True, k=0.05)


def fast(source):
    return cv2.FastFeatureDetector_create(10).detect(gray(source))


def blob_dog(source):
    return feature.blob_dog(gray(source), min_sigma=4, max_sigma=20, threshold=0.05)


def match_template(source, template):
    return np.argwhere(cv2.matchTemplate(gray(source), gray(template), cv2.TM_CCOEFF_NORMED) > 0.8)


def hough_skew(source):
    """The usual recipe: edges, their Hough transform near the horizontal, and the median angle of its peaks."""
    angles = np.radians(np.arange(75, 105, 0.1))
    return np.median(transform.hough_line_peaks(*transform.hough_line(edges(source), angles), num_peaks=20)[1])


def hit_or_miss(source, out):
    mask = cv2.threshold(gray(source), 0, 255, cv2.THRESH_BINARY)[1]
    write(out, cv2.morphologyEx(mask, cv2.MORPH_HITMISS, HIT - MISS, borderValue=0))


def binary_hit_or_miss(source, out):
    write(out, 255 * np.uint8(ndimage.binary_hit_or_miss(gray(source), HIT, MISS)))


def convex_hull_image(source, out):
    write(out, 255 * np.uint8(morphology.convex_hull_image(gray(source))))


def region_hulls(source, out):
    """By the hull in each region's box; convex_hull_object() computes each in the whole image, which takes minutes."""
    mask = gray(source) > 0
    for region in measure.regionprops(measure.label(mask)):
        mask[region.slice] |= region.convex_image
    write(out, 255 * np.uint8(mask))


def fill_hulls(source, out):
    """The hull of each outer contour, that is through the centres of pixels and not the midpoints of their sides."""
    image = gray(source)
    for contour in cv2.findContours(image, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]:
        cv2.fillConvexPoly(image, cv2.convexHull(contour), 255)
    write(out, image)


def fill_hull(source, out):
    image = gray(source)
    cv2.fillConvexPoly(image, cv2.convexHull(cv2.findNonZero(image)), 255)
    write(out, image)


def find_contours(source):
    return cv2.findContours(gray(source), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)


def iso_contours(source):
    """Marching squares, between pixels."""
    return measure.find_contours(gray(source), 127)


def grey_erosion(source, out, heights):
    write(out, ndimage.grey_erosion(gray(source), structure=np.loadtxt(heights), mode="nearest"))


def rotate_spline(source, out):
    write(out, np.rint(ndimage.rotate(np.float32(gray(source)), 7, reshape=False, order=3)).clip(0, 255))


def call(name, arguments, folder):
    """Returns a function that does the work once. Files are in `folder`."""
    work, paths = globals()[name], [os.path.join(folder, path) for path in arguments]
    return lambda: work(*paths)
