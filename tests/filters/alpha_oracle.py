"""--alpha of every operation that has its choices: under straight and keep the colours are those of the image without alpha, and
alpha becomes what it becomes as a gray image, or stays; scipy says so for linear filters, and Pillow for resizing. Alone, in chains and
at every level of the CPU; with borders of any colour, and guides. What weigh computes is in scipy_oracle, bilateral_oracle, nlmeans_oracle.
Sources: filters/channels_apart filters/alpha filters/convolution filters/denoise filters/geometry
"""
import json
import os

from _common import SCIPY_MODES, Checks, need, np, optional, random_image, read, suffix, write

(ndimage,) = need("scipy.ndimage")
c = Checks()
CAMERA = '{"K": [[20, 0, 10], [0, 20, 15], [0, 0, 1]], "D": [0.1, 0, 0, 0]}'
FILTERS = [
    ["blur", "--k", "5"], ["blur", "--k", "31"], ["gaussian", "--sigma", "1.5"], ["gaussian", "--k", "3"],
    ["convolve", "--kernel", "1 2 1; 2 4 2; 1 2 1", "--normalize"], ["convolve", "--kernel", "1 2 -1; 0 4 2; 1 0 1"],
    ["convolve", "--kernel", "0 1 0; 1 -4 1; 0 1 0"], ["convolve", "--kernel", "1 2 1; 0 4 2", "--normalize", "--bias", "0.25"], ["edges"],
    ["edges", "--operator", "prewitt", "--scale", "0.3"], ["edges", "--component", "x"], ["edges", "--operator", "laplacian"], ["sharpen"],
    ["sharpen", "--sigma", "2", "--amount", "3", "--threshold", "5"], ["bilateral"], ["bilateral", "--k", "5", "--guide", "@guide"],
    ["nlmeans", "--patch", "3", "--search", "7", "--strength", "40%"],
]
MOVES = [
    ["resize", "--size", "50%"], ["resize", "--size", "190%x130%"], ["resize", "--size", "11x20", "--stretch", "--filter", "box"],
    ["resize", "--size", "30x30", "--filter", "nearest"], ["resize", "--size", "9x9", "--pad"], ["rotate", "--angle", "13"],
    ["rotate", "--angle", "90"], ["affine", "--matrix", "1 0.1 2; 0 1 1"],
    ["affine", "--matrix", "1 0.1 2; 0 1 1", "-i", "bicubic", "--border", "mirror"], ["shift", "--offset", "2.5,1.25"],
    ["shift", "--offset", "2.5,1.25", "-i", "bspline"],
    ["perspective", "--from", "0,0,20,0,20,29,0,29", "--to", "1,1,20,0,20,29,0,29"], ["warp-polar"], ["undistort", "--camera", CAMERA],
    ["remap", "--map", "@map"],
]


def run(image, name, *args):
    source, result = c.path("in" + suffix(image)), c.path("out" + suffix(image))
    write(source, image)
    c.run(name, source, result, *(c.path(a[1:] + ".npy") if a[0] == "@" else a for a in args))
    return read(result)


def parts(image):
    """Returns the colours, without an axis of channels if there is one, and alpha."""
    colours = np.ascontiguousarray(image[:, :, :-1])
    return colours[:, :, 0] if colours.shape[2] == 1 else colours, np.ascontiguousarray(image[:, :, -1])


def apart(image, name, *args, outside=((), ())):
    """Returns what an operation makes of an image under straight and under keep. `outside`: more options for colours and for alpha."""
    colours, alpha = parts(image)
    colours, filtered = run(colours, name, *args, *outside[0]), run(alpha, name, *args, *outside[1])
    moves = any(name == other for other, *_ in MOVES)
    return {word: np.dstack([colours, a]) for word, a in (("straight", filtered), ("keep", filtered if moves else alpha))}


def textures():
    """Images of each type with one and three colours, whose upper half has the alpha 0."""
    for dtype in (np.uint8, np.uint16, np.float32):
        for channels in (2, 4):
            image = random_image(c.rng, (31, 23, channels), dtype)
            image[:15, :, -1] = 0
            yield f"{dtype.__name__} {channels}", image


def check_choices():
    for said, image in textures():
        for name, *args in FILTERS + MOVES:
            want = apart(image, name, *args)
            for word in ("straight", "keep") if image.shape[2] == 2 else ("straight", "ignore", "keep"):
                got = run(image, name, *args, "--alpha", word)
                c.check(f"{name} {args} {said} {word}", np.array_equal(got, want["straight" if word == "ignore" else word]))
            got = run(image, name, *args)
            c.check(f"{name} {args} {said}: --alpha weigh is the default", np.array_equal(got, run(image, name, *args, "--alpha", "weigh")))
            c.check(f"{name} {args} {said}: weigh differs", name == "resize" and "nearest" in args or args == ["--angle", "90"] or
                    not np.array_equal(got, want["straight"]))


def check_all_are_here():
    """An operation that gets the option needs a case above."""
    rows = json.loads(c.run("list", "--json"))["operations"]
    have = {row["name"] for row in rows for option in row["options"]
            if option["name"] == "alpha" and "weigh" in [choice["name"] for choice in option.get("choices", [])]}
    c.check("every operation with --alpha has a case", have == {name for name, *_ in FILTERS + MOVES}, str(have))


def check_borders():
    """The value outside the image has an alpha too."""
    for said, image in textures():
        full = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
        cases = [("0.5", "0.5", "0.5"), ("white", "white", full), ("#8080807f", None, None)]
        cases += [("0.25,0.5", "0.25", "0.5")] if image.shape[2] == 2 else [("0.25,0.5,0.75,1", "0.25,0.5,0.75", "1"), ("0,1,0", "0,1,0", full)]
        for name, *args in (f for f in FILTERS if f[0] not in ("nlmeans", "bilateral") or f[1:] == ["--k", "5", "--guide", "@guide"]):
            for value, colours, alpha in cases:
                if value[0] == "#" and "--guide" in args:  # its pixels outside have another depth
                    continue
                if value[0] == "#":  # 128 and 127 of 255, rounded half up for integers
                    colours, alpha = (repr(full * v / 255 if full == 1 else int(full * v / 255 + 0.5)) for v in (128, 127))
                border = ["--border", "border", "--border-value"]
                want = apart(image, name, *args, outside=([*border, colours], [*border, str(alpha)]))
                for word in want:
                    got = run(image, name, *args, *border, value, "--alpha", word)
                    c.check(f"{name} {args} {said} {word} border {value}", np.array_equal(got, want[word]))


def gaussian(sigma):
    x = np.arange(-np.ceil(4 * sigma), np.ceil(4 * sigma) + 1)
    taps = np.exp(-x**2 / (2 * sigma**2))
    return np.outer(taps, taps) / taps.sum()**2


def check_scipy():
    """Linear filters of colours and alpha, in double precision."""
    sobel = np.outer([1, 2, 1], [-1, 0, 1]) / 8
    for said, image in textures():
        exact, signed = image.astype(np.float64), image.dtype == np.float32
        for border, mode in SCIPY_MODES.items():
            def correlated(kernel):
                return np.dstack([ndimage.correlate(exact[:, :, i], kernel, mode=mode) for i in range(image.shape[2])])
            part = correlated(sobel)
            for words, want in (("blur --k 3", correlated(np.full((3, 3), 1 / 9))), ("gaussian --sigma 1.2", correlated(gaussian(1.2))),
                                ("convolve --kernel 1,2,1 --bias 0.5", correlated(np.array([[1, 2, 1]])) + 0.5),
                                ("edges --scale 0.125", np.hypot(part, correlated(sobel.T))),
                                ("edges --scale 0.125 --component x", part if signed else np.abs(part)),
                                ("sharpen --sigma 1.2 --amount 2", exact + 2 * (exact - correlated(gaussian(1.2))))):
                for word in ("straight", "keep"):
                    if word == "keep":
                        want[:, :, -1] = exact[:, :, -1]
                    got = c.filter(image, *words.split(), "--border", border, "--alpha", word)
                    c.agree(f"{words} {border} {said} {word}, scipy", got, want, image.dtype.type)


def check_chains():
    """A chain gives what its steps give, and each step has an --alpha of its own."""
    for said, image in textures():
        steps = [["gaussian", "--sigma", "1", "--alpha", "keep"], ["resize", "--size", "70%", "--alpha", "keep"], ["sharpen", "--alpha", "straight"],
                 ["edges", "--alpha", "weigh"], ["bilateral", "--alpha", "keep"], ["nlmeans", "--search", "5", "--alpha", "straight"]]
        want = image
        for step in steps:
            want = run(want, *step)
        source, result = c.path("in" + suffix(image)), c.path("chain" + suffix(image))
        write(source, image)
        c.run("run", " | ".join(" ".join(step) for step in steps), source, result)
        c.check(f"chain {said}", np.array_equal(read(result), want))


def check_levels():
    """The bytes are the same at every level of the CPU, and with one thread."""
    image = random_image(c.rng, (61, 83, 4), np.uint8)
    for name, *args in FILTERS:
        for word in ("straight", "keep"):
            want = run(image, name, *[a.replace("@guide", "@guide2") for a in args], "--alpha", word)
            for level in ("scalar", "avx2", "avx512"):
                os.environ["GPUIMG_CPU"] = level
                if c.result("devices").returncode == 0:
                    got = run(image, name, *[a.replace("@guide", "@guide2") for a in args], "--alpha", word, "--threads", "1")
                    c.check(f"{name} {args} {word} {level}", np.array_equal(got, want))
            del os.environ["GPUIMG_CPU"]


def check_pillow():
    """Pillow resizes each channel of other modes than RGBA separately."""
    pillow = optional("PIL.Image")
    if not pillow:
        return c.skip("no Pillow")
    image = random_image(c.rng, (31, 23, 4), np.uint8)
    like = {"12": "pillow-12", "13": "pillow-13"}.get(pillow.__version__.split(".")[0], "pillow-11")
    for size in ((11, 15), (40, 20), (23, 60)):
        for ours, theirs in (("lanczos3", pillow.LANCZOS), ("catrom", pillow.BICUBIC), ("triangle", pillow.BILINEAR), ("box", pillow.BOX)):
            want = np.dstack([np.array(pillow.fromarray(image[:, :, i]).resize(size, theirs)) for i in range(4)])
            for word in ("straight", "keep"):
                got = run(image, "resize", "--size", "%dx%d" % size, "--stretch", "--filter", ours, "--like", like, "--alpha", word)
                c.check(f"Pillow {size} {ours} {word}", np.array_equal(got, want), f"off by {np.abs(got.astype(int) - want.astype(int)).max()}")


def check_nodata():
    """Pixels without data do not spread. --alpha is about an alpha of the file, which can't be data and mark such pixels, too."""
    image = np.full((31, 23), 100, np.float32)
    image[7, 5] = -9999
    rgba = np.dstack([image, image, image, np.full_like(image, 1)])
    for name, *args in FILTERS + MOVES:
        want = run(image, name, *args, "--nodata", "-9999")
        write(c.path("rgba.npy"), rgba)
        for word in ("straight", "keep"):
            got = run(image, name, *args, "--nodata", "-9999", "--alpha", word)
            c.check(f"{name} {args} {word}, nodata", np.array_equal(got, want))
            result = c.result(name, *(c.path(a[1:] + ".npy") if a[0] == "@" else a for a in args), "--nodata", "-9999", "--alpha", word,
                              c.path("rgba.npy"), c.path("refused.npy"))
            further = any(a[0] == "@" for a in args)  # with a further image such pixels count
            c.check(f"{name} {args} {word}, nodata and alpha", further or (result.returncode > 0 and f"--alpha {word}: " in result.stderr),
                    result.stderr)


np.save(c.path("map.npy"), (c.rng.random((12, 10, 2)) * 20).astype(np.float32))
np.save(c.path("guide.npy"), random_image(c.rng, (31, 23, 3), np.uint8))
np.save(c.path("guide2.npy"), random_image(c.rng, (61, 83, 3), np.uint8))
for check in (check_all_are_here, check_choices, check_borders, check_scipy, check_chains, check_levels, check_nodata, check_pillow):
    check()
write(c.path("in.pam"), random_image(c.rng, (31, 23, 4), np.uint8))
result = c.result("resize", "--size", "50%", "--alpha", "none", c.path("in.pam"), c.path("out.pam"))
c.check("another word is refused", result.returncode == 2 and all(w in result.stderr for w in ("weigh", "straight", "keep")), result.stderr)
c.end()
