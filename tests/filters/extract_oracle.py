"""extract (connected components) against scipy.ndimage.label and scikit-image's regionprops and threshold_otsu.

Sources: filters/regions/extract* filters/regions/label_regions.c filters/regions/moments* filters/tone/threshold_level*
"""
import csv
import io
import json
import shutil

from _common import Checks, need, np, random_image, read, suffix, write

ndimage, measure, filters, cv2 = need("scipy.ndimage", "skimage.measure", "skimage.filters", "cv2")
c = Checks()
SIZES = [(1, 1), (1, 40), (37, 1), (31, 33), (67, 130), (200, 190)]


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def extracted(image, *args):
    """Returns the JSON object, and the label image if there is one."""
    path, labels = c.path("in" + suffix(image)), c.path("out.npy")
    write(path, image)
    text = c.run("extract", path, "--format", "json", "--labels", labels, *args)
    return json.loads(text, parse_constant=refuse), np.load(labels)


def labelled(foreground, connectivity):
    """Returns scipy's components, numbered by their first pixel."""
    structure = np.ones((3, 3)) if connectivity == 8 else None
    labels, n = ndimage.label(foreground, structure)
    values, first = np.unique(labels.ravel(), return_index=True)
    order = [v for _, v in sorted(zip(first, values)) if v]
    table = np.zeros(n + 1, np.int64)
    table[order] = np.arange(1, n + 1)
    return table[labels], n


def luma(image):
    """The luma as the program defines it, in float32, rounded half to even."""
    if image.ndim == 2:
        return image
    r, g, b = (image[:, :, i].astype(np.float64) for i in range(3))
    exact = 0.2126 * r + 0.7152 * g + 0.0722 * b
    return exact.astype(np.float32) if image.dtype == np.float32 else np.rint(exact).astype(image.dtype)


def near(a, b, tolerance):
    """np.allclose() of a few numbers, for which it takes 20 times as long."""
    a, b = np.ravel(a).tolist(), np.ravel(b).tolist()
    return len(a) == len(b) and all(x == y or abs(x - y) <= tolerance + 1e-9 * abs(y) for x, y in zip(a, b))


def check_regions(name, regions, labels, gray):
    props = measure.regionprops(labels, intensity_image=gray.astype(np.float64))
    c.check(f"{name} count", len(regions) == len(props), (len(regions), len(props)))
    span = max(1e-30, float(gray.max()) - float(gray.min()))
    bad = []
    for got, p in zip(regions, props):
        y0, x0, y1, x1 = p.bbox
        values = p.image_intensity[p.image] if hasattr(p, "image_intensity") else p.intensity_image[p.image]
        ok = (got["label"] == p.label and got["area"] == p.area
              and got["bbox"] == [x0, y0, x1 - x0, y1 - y0]
              and near(got["centroid"], p.centroid[::-1], 1e-8)
              and near(got["perimeter"], p.perimeter, 1e-8)
              and near(got["mean"], values.mean(), 1e-9 * span)
              and near(got["stddev"], values.std(), 2e-9 * span)
              and near(got["min"], values.min(), 1e-7 * span)
              and near(got["max"], values.max(), 1e-7 * span))
        if not ok:
            bad.append((got, p.label, p.area, p.bbox, p.centroid, p.perimeter, values.mean(), values.std()))
    c.check(f"{name} measures", not bad, bad[:1])


def blobs(shape, dtype):
    """Smooth noise: regions of many sizes with holes and diagonal contacts."""
    noise = ndimage.gaussian_filter(c.rng.random(shape), 1.2)
    noise = (noise - noise.min()) / max(1e-9, noise.max() - noise.min())
    if dtype == np.float32:
        return noise.astype(np.float32)
    return np.rint(noise * np.iinfo(dtype).max).astype(dtype)


def exact_otsu(image):
    """The lowest value with the maximum between-class variance, in integers."""
    values, counts = (a.tolist() for a in np.unique(image, return_counts=True))
    all_n, all_sum = sum(counts), sum(v * n for v, n in zip(values, counts))
    best, best_over, best_under, low_n, low_sum = values[0], 0, 1, 0, 0
    for v, n in zip(values[:-1], counts):
        low_n, low_sum = low_n + n, low_sum + v * n
        over, under = (low_n * all_sum - all_n * low_sum) ** 2, low_n * (all_n - low_n)
        if over * best_under > best_over * under:
            best, best_over, best_under = v, over, under
    return best


def test_otsu():
    for dtype in (np.uint8, np.uint16, np.float32):
        for shape in SIZES[3:]:
            for image in (blobs(shape, dtype), random_image(c.rng, shape, dtype)):
                got, labels = extracted(image)
                want = filters.threshold_otsu(image)
                name = f"otsu {dtype.__name__} {shape}"
                if dtype == np.float32:
                    # The centre of one of 256 bins, by numpy's float32 edges.
                    c.check(f"{name} threshold", abs(got["threshold"] - want) <= 1e-6,
                            f"{got['threshold']} against {want}")
                else:
                    exact = exact_otsu(image)
                    c.check(f"{name} threshold", got["threshold"] == exact, f"{got['threshold']} against {exact}")
                    if dtype == np.uint8:
                        # At 16 bits scikit-image's float32 sums miss the maximum variance in some versions.
                        c.check(f"{name} as scikit-image", got["threshold"] == want,
                                f"{got['threshold']} against {want}")
                mine, n = labelled(image > np.float64(got["threshold"]), 8)
                c.check(f"{name} labels", (labels == mine).all() and n == len(got["regions"]))
                check_regions(name, got["regions"], mine, image)


def test_levels():
    for dtype in (np.uint8, np.uint16, np.float32):
        full = 1.0 if dtype == np.float32 else np.iinfo(dtype).max
        for shape in SIZES:
            image = random_image(c.rng, shape, dtype)
            for share in (0, 0.3, 0.5, 0.59, 0.9):
                for connectivity in (4, 8):
                    got, labels = extracted(image, "--at", f"{100 * share:g}%", "--connectivity", connectivity)
                    mine, _ = labelled(image > share * full, connectivity)
                    name = f"{dtype.__name__} {shape} {share} {connectivity}"
                    c.check(f"{name} labels", (labels == mine).all())
                    c.check(f"{name} head", got["connectivity"] == connectivity
                            and (got["height"], got["width"]) == shape)
                    if share == 0.59 or connectivity == 4:
                        check_regions(name, got["regions"], mine, image)


def test_invert():
    image = blobs((60, 80), np.uint8)
    _, labels = extracted(image, "--at", 100, "--invert")
    c.check("invert", (labels == labelled(image <= 100, 8)[0]).all())


def test_color():
    image = np.stack([blobs((90, 70), np.uint8) for _ in range(3)], axis=2)
    got, labels = extracted(image, "--at", 120)
    gray = luma(image)
    mine, _ = labelled(gray > 120, 8)
    c.check("colour labels", (labels == mine).all())
    check_regions("colour", got["regions"], mine, gray)


def test_mask_image():
    image, mask = random_image(c.rng, (50, 60), np.uint16), blobs((50, 60), np.uint8) // 100
    write(c.path("mask.pgm"), mask)
    got, labels = extracted(image, "--mask-image", c.path("mask.pgm"))
    mine, _ = labelled(mask > 0, 8)
    c.check("mask image", (labels == mine).all() and got["threshold"] is None)
    check_regions("mask image", got["regions"], mine, image)


def test_labels_image():
    """Regions of a label image, which touch each other, have several parts, and numbers with gaps."""
    for dtype in (np.uint8, np.uint16, np.float32, np.uint32):
        for shape in (SIZES[0], SIZES[3], SIZES[4]):
            coarse = 3 * c.rng.integers(0, 7, (shape[0] // 6 + 1, shape[1] // 5 + 1))
            labels = np.kron(coarse, np.ones((6, 5), int))[:shape[0], :shape[1]]
            labels[c.rng.random(shape) < 0.1] = 20
            labels = (labels * (1000 if dtype == np.uint32 else 1)).astype(dtype)
            image = random_image(c.rng, shape, np.float32 if dtype == np.float32 else np.uint16)
            path = c.path("labels.npy" if dtype == np.uint32 else "labels" + suffix(labels))
            write(path, labels)
            want = labels.astype(np.int64)
            name = f"labels image {dtype.__name__} {shape}"
            got, _ = extracted(image, "--labels-image", path, "--descriptors")
            check_regions(name, got["regions"], want, image)
            check_shapes(name, got["regions"], want, len(np.unique(want[want > 0])))
            area = np.bincount(want.ravel())
            kept = want * (area[want] >= 40)
            got, out = extracted(image, "--labels-image", path, "--min-area", 40, "--points", c.path("points.npy"))
            check_regions(f"{name} chosen", got["regions"], kept, image)
            c.check(f"{name} labels of the chosen", np.array_equal(out, kept) and got["threshold"] is None)
            y, x = np.nonzero(kept)
            p = np.load(c.path("points.npy"))
            c.check(f"{name} points", (p["x"] == x).all() and (p["y"] == y).all() and (p["value"] == image[y, x]).all())
    write(c.path("other.pgm"), np.zeros((3, 3), np.uint8))
    write(c.path("half.pfm"), np.full(shape, 0.5, np.float32))
    for args, text in ((("--labels-image", c.path("other.pgm")), "--labels-image: is 3 x 3, want 130 x 67 as the input"),
                       (("--labels-image", c.path("half.pfm")), "label 0.5 at 0,0: want whole numbers"),
                       (("--labels-image", path, "--invert"), "and --invert: want one of them"),
                       (("--labels-image", path, "--mask-image", path), "and --mask-image: want one of them"),
                       (("--labels-image", path, "--at", 3), "and --threshold: want one of them")):
        p = c.result("extract", c.path("in" + suffix(image)), *args)
        c.check(f"message {args}", p.returncode and text in p.stderr, p.stderr)


def test_choice():
    image = blobs((150, 160), np.uint8)
    mine, n = labelled(image > 150, 8)
    area = np.bincount(mine.ravel(), minlength=n + 1)
    for args, keep in ((["--min-area", 10], area >= 10), (["--max-area", 30], area <= 30),
                       (["--min-area", 5, "--max-area", 25], (area >= 5) & (area <= 25))):
        keep[0] = False
        table = np.cumsum(keep) * keep
        points = c.path("points.npy")
        got, labels = extracted(image, "--at", 150, *args, "--points", points)
        want = table[mine]
        c.check(f"choice {args} labels", (labels == want).all())
        check_regions(f"choice {args}", got["regions"], want, image)
        y, x = np.nonzero(want)
        p = np.load(points)
        c.check(f"choice {args} points", (p["x"] == x).all() and (p["y"] == y).all()
                and (p["value"] == image[y, x]).all())
    got, _ = extracted(image, "--at", 150, "--keep-top", 4, "--sort", "area")
    areas = [r["area"] for r in got["regions"]]
    c.check("keep top", areas == sorted(area[1:].tolist(), reverse=True)[:4])
    c.check("labels of the kept", sorted(r["label"] for r in got["regions"]) == [1, 2, 3, 4])
    for sort, key in (("x", lambda r: r["bbox"][0]), ("y", lambda r: r["bbox"][1]),
                      ("mean", lambda r: -r["mean"]), ("label", lambda r: r["label"])):
        got, _ = extracted(image, "--at", 150, "--sort", sort)
        keys = [(key(r), r["label"]) for r in got["regions"]]
        c.check(f"sort {sort}", keys == sorted(keys))


def check_shapes(name, regions, labels, n=None):
    """The shape descriptors of scikit-image. Where both variances are equal, versions differ in the orientation; 0.26
    gives 45 degrees if the covariance is positive, and -45 degrees otherwise, also for discs and squares."""
    bad = []
    for got, p in zip(regions, measure.regionprops(labels)):
        variance = p.moments_central / p.moments_central[0, 0]
        tie = abs(variance[0, 2] - variance[2, 0]) < 1e-9
        want = np.degrees(p.orientation) if not tie else 45 if variance[1, 1] > 1e-9 else -45
        turned = abs(got["orientation_deg"] - want)
        ok = (near(got["major_axis"], p.axis_major_length, 1e-7) and near(got["minor_axis"], p.axis_minor_length, 1e-6)
              and near(got["eccentricity"], p.eccentricity, 1e-7) and near(got["solidity"], p.solidity, 1e-9)
              and near(got["feret_diameter"], p.feret_diameter_max, 1e-9)
              and (turned if tie else min(turned, 180 - turned)) < 1e-6
              and (got["circularity"] is None if p.perimeter == 0
                   else near(got["circularity"], 4 * np.pi * p.area / p.perimeter**2, 1e-9)))
        if not ok:
            bad.append((got, p.axis_major_length, p.axis_minor_length, p.eccentricity, p.solidity, p.feret_diameter_max,
                        np.degrees(p.orientation)))
    c.check(f"{name} shapes", len(regions) == (labels.max() if n is None else n) and not bad, bad[:1])


def check_moments(name, regions, labels):
    """Moments of scikit-image, whose first index is that of rows, and of OpenCV, which loses digits far from the
    origin."""
    bad = []
    for got, p in zip(regions, measure.regionprops(labels)):
        orders = [(2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]
        one = cv2.moments(np.uint8(labels == p.label), True)
        ok = True
        for x, y in orders:
            scale = p.area ** (1 + (x + y) / 2)
            ok &= near(got[f"mu{x}{y}"], p.moments_central[y, x], 1e-9 * scale)
            ok &= near(got[f"nu{x}{y}"], p.moments_normalized[y, x], 1e-9)
            ok &= near(got[f"nu{x}{y}"], one[f"nu{x}{y}"], 1e-6)
        hu = [got[f"hu{i}"] for i in range(1, 8)]
        ok &= near(hu, p.moments_hu * [1, 1, 1, 1, 1, 1, -1], 1e-12)
        ok &= near(hu, cv2.HuMoments(one).ravel(), 1e-6)
        if not ok:
            bad.append((got, p.moments_central, p.moments_normalized, p.moments_hu))
    c.check(f"{name} moments", not bad, bad[:1])


def test_moments():
    for shape in ((1, 1), (31, 33), (67, 130)):
        image = blobs(shape, np.uint8)
        for args in ((), ("--descriptors",), ("--min-area", 9)):
            got, labels = extracted(image, "--at", 120, "--moments", *args)
            check_moments(f"{shape} {args}", got["regions"], labels.astype(np.int64))
            c.check(f"{shape} {args} columns", all(("solidity" in r) == (args == ("--descriptors",)) for r in got["regions"]))
    far = np.zeros((60, 3000), np.uint8)  # far from the origin, where powers of coordinates are large
    far[30:50, 2900:2960] = blobs((20, 60), np.uint8)
    got, labels = extracted(far, "--at", 120, "--moments")
    check_moments("far from the origin", got["regions"], labels.astype(np.int64))
    got, _ = extracted(np.full((4, 6), 9, np.uint8), "--at", 0, "--moments")
    region = got["regions"][0]
    c.check("moments of a rectangle", [region[k] for k in ("mu20", "mu11", "mu02", "mu30", "mu21", "mu12", "mu03")]
            == [70, 0, 30, 0, 0, 0, 0])


def test_shapes():
    for shape in SIZES:
        for image in (blobs(shape, np.uint8), random_image(c.rng, shape, np.uint8)):
            for connectivity in (4, 8):
                got, labels = extracted(image, "--at", 140, "--connectivity", connectivity, "--descriptors")
                check_shapes(f"{shape} {connectivity}", got["regions"], labels.astype(np.int64))
    y, x = np.mgrid[:70, :90]
    for name, foreground in (("line", y == 3), ("diagonal", y == x), ("rising", y == 60 - x), ("ellipse", (x - 40) ** 2 / 900 + (y - 30) ** 2 / 100 < 1),
                             ("tilted", np.abs(3 * x - 4 * y + 20) < 30), ("pixel", (y == 5) & (x == 88)), ("disc", (x - 40) ** 2 + (y - 30) ** 2 < 400)):
        image = np.where(foreground, 200, 0).astype(np.uint8)
        got, labels = extracted(image, "--at", 100, "--descriptors")
        check_shapes(name, got["regions"], labels.astype(np.int64))
    plain, scaled = (extracted(image, "--at", 100, "--descriptors", *more)[0]["regions"][0] for more in ((), ("--pixel-size", "0.25um")))
    for key, power in (("area", 2), ("perimeter", 1), ("centroid", 1), ("major_axis", 1), ("minor_axis", 1), ("feret_diameter", 1)):
        want, unit = np.array(plain[key]) * 0.25**power, {1: "_um", 2: "_um2"}[power]
        c.check(f"{key} in um", near(scaled[key + unit], want, 1e-8), scaled)
    c.check("boxes in pixels", scaled["bbox"] == plain["bbox"] and scaled["circularity"] == plain["circularity"])
    rows = list(csv.DictReader(io.StringIO(c.run("extract", c.path("in.pgm"), "--descriptors", "--pixel-size", "2mm").decode())))
    c.check("csv in mm", float(rows[0]["area_mm2"]) == 4 * plain["area"] and "bbox_x" in rows[0] and "feret_diameter_mm" in rows[0])
    for micrometres in ("0.25 um", "0.25\u00b5m", "0.25 \u03bcm"):
        same = extracted(image, "--at", 100, "--descriptors", "--pixel-size", micrometres)[0]["regions"][0]
        c.check(f"{micrometres} is 0.25um", same == scaled)
    for wrong in ("0.5", "um", "0um", "-1um", "1 ", "nanum", "1u/m", "1\u00b5", "1\u00b5m2"):
        c.run("extract", c.path("in.pgm"), "--pixel-size", wrong, status=2)


def test_files():
    image = blobs((80, 90), np.uint8)
    names = [c.path(n) for n in ("labels.pgm", "mask.pgm", "over.ppm", "points.csv", "table.csv", "crops")]
    write(c.path("in.pgm"), image)
    c.run("extract", c.path("in.pgm"), names[4], "--at", 140, "--labels", names[0], "--mask", names[1],
          "--overlay", names[2], "--points", names[3], "--crops", names[5], "--crop-format", "pgm")
    mine, n = labelled(image > 140, 8)
    c.check("label image", (read(names[0]) == mine).all() and read(names[0]).dtype == np.dtype(">u2"))
    c.check("mask", (read(names[1]) == np.where(mine > 0, 255, 0)).all())
    over = read(names[2])
    inside = mine > 0
    c.check("overlay is the input in RGB", over.shape == (80, 90, 3) and (over == image[:, :, None]).any())
    rows = list(csv.DictReader(open(names[4])))
    c.check("csv names", list(rows[0]) == ["label", "area", "bbox_x", "bbox_y", "bbox_width", "bbox_height",
                                           "centroid_x", "centroid_y", "perimeter", "mean", "stddev", "min", "max"])
    c.check("csv rows", [int(r["area"]) for r in rows] == np.bincount(mine[inside])[1:].tolist())
    points = np.genfromtxt(names[3], delimiter=",", names=True)
    y, x = np.nonzero(mine)
    c.check("points csv", (points["x"] == x).all() and (points["y"] == y).all()
            and (points["value"] == image[y, x]).all())
    for r in rows:
        x, y, w, h = (int(r[f"bbox_{k}"]) for k in ("x", "y", "width", "height"))
        crop = read(f"{names[5]}/region-{int(r['label']):06d}.pgm")
        c.check("crop", (crop == image[y:y + h, x:x + w]).all())
    lines = c.run("extract", c.path("in.pgm"), "--at", 140, "--format", "jsonl").decode().splitlines()
    c.check("jsonl", [json.loads(line)["label"] for line in lines] == list(range(1, n + 1)))
    text = c.run("extract", c.path("in.pgm"), "--at", 140).decode()
    c.check("csv on standard output", text == open(names[4]).read())
    c.check("csv parses", len(list(csv.reader(io.StringIO(text)))) == n + 1)


# Digits of 5 x 7 pixels as in Hitachi's HD44780U (data sheet, table 4), one byte per row.
DIGITS = ("0e11131519110e 040c040404040e 0e11010204081f 1f02040201110e 02060a121f0202 1f101e0101110e 0608101e11110e "
          "1f010204080808 0e11110e11110e 0e11110f01020c").split()


def test_numbers():
    """The number above each box is its label: digits of 5 x 7 pixels with a frame of one pixel."""
    image = np.full((320, 100), 90, np.uint8)
    for i in range(12):
        image[20 + 25 * i:24 + 25 * i, 40:44] = 200
    write(c.path("in.pgm"), image)
    c.run("extract", c.path("in.pgm"), c.path("t.csv"), "--at", 150, "--overlay", c.path("over.ppm"))
    over = read(c.path("over.ppm"))
    black = (over == 0).all(axis=2)
    glyphs = [(np.frombuffer(bytes.fromhex(d), np.uint8)[:, None] >> np.arange(4, -1, -1) & 1).astype(bool) for d in DIGITS]
    for i in range(12):
        lines = black[20 + 25 * i - 8:20 + 25 * i - 1]
        found = "".join(str(d) for x in range(95) for d, glyph in enumerate(glyphs) if (lines[:, x:x + 5] == glyph).all())
        c.check(f"number {i + 1}", found == str(i + 1), found)
        plate = np.flatnonzero((over[20 + 25 * i - 9] != 90).any(axis=1))  # its upper edge
        c.check(f"room around number {i + 1}", len(plate) == 1 + 6 * len(found) and not black[20 + 25 * i - 9].any())


def test_many():
    """A checkerboard: with 4-connectivity every other pixel is a component; more than 16 bits can count."""
    y, x = np.mgrid[:600, :700]
    image = np.where((x + y) % 2, 200, 10).astype(np.uint8)
    got, labels = extracted(image, "--at", 100, "--connectivity", 4)
    c.check("checkerboard 4", len(got["regions"]) == 210000 and labels.max() == 210000
            and (np.diff(labels[labels > 0].astype(np.int64)) == 1).all())
    got, labels = extracted(image, "--at", 100)
    c.check("checkerboard 8", len(got["regions"]) == 1)


def test_nan():
    image = blobs((30, 40), np.float32)
    image[10:20, 10:20] = np.nan
    got, labels = extracted(image, "--at", 0.5)
    with np.errstate(invalid="ignore"):
        mine, _ = labelled(image > 0.5, 8)
    c.check("NaN is background", (labels == mine).all())
    got, labels = extracted(image, "--at", 2, "--invert")
    c.check("NaN in a region", len(got["regions"]) == 1
            and near(got["regions"][0]["mean"], np.nanmean(image.astype(np.float64)), 1e-8))
    image[:] = np.nan
    got, _ = extracted(image, "--at", 2, "--invert")
    c.check("all NaN", got["regions"][0]["mean"] is None and got["regions"][0]["area"] == 1200)


def test_metadata():
    """Crops keep the profile and the resolution of the image; what else it has is named, once."""
    from PIL import Image, ImageCms
    pixels = np.zeros((40, 50, 3), np.uint8)
    pixels[5:15, 5:15] = pixels[20:30, 20:40] = 200
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[271] = "a maker"
    Image.fromarray(pixels).save(c.path("tagged.png"), icc_profile=profile, exif=exif.tobytes(), dpi=(300, 300))
    for chain in (("extract",), ("run", "invert | extract --invert --crops " + c.path("cut"))):
        out = ("tagged.csv",) if chain[0] == "extract" else ("tagged_out.png",)
        said = c.result(*chain, c.path("tagged.png"), c.path(*out), *(("--crops", c.path("cut")) if len(chain) == 1 else ()))
        for k in (1, 2):
            cut = Image.open(c.path(f"cut/region-{k:06}.png"))
            c.check(f"{chain[0]}: the profile of crop {k}", cut.info.get("icc_profile") == profile)
            c.check(f"{chain[0]}: the resolution of crop {k}", abs(cut.info.get("dpi", (0,))[0] - 300) < 0.1)
        c.check(f"{chain[0]}: EXIF is named once", said.returncode == 0 and said.stderr.count("dropped: EXIF of 1 image") == 1, said.stderr)
        shutil.rmtree(c.path("cut"))


test_otsu()
test_levels()
test_invert()
test_color()
test_mask_image()
test_labels_image()
test_moments()
test_choice()
test_shapes()
test_files()
test_numbers()
test_many()
test_nan()
test_metadata()
c.end()
