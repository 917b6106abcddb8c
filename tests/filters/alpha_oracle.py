"""--alpha straight: an operation makes of each channel what it makes of that channel as a gray image, whatever alpha is, and
resizing is Pillow's of each channel. By default colours of transparent pixels do not spread.
Sources: filters/alpha_option filters/convolution filters/geometry
"""
from _common import Checks, np, optional, random_image, read, suffix, write

c = Checks()
CAMERA = '{"K": [[20, 0, 10], [0, 20, 15], [0, 0, 1]], "D": [0.1, 0, 0, 0]}'
OPERATIONS = [
    ["resize", "--size", "50%"], ["resize", "--size", "190%x130%"], ["resize", "--size", "11x20", "--stretch", "--filter", "box"],
    ["resize", "--size", "30x30", "--filter", "nearest"], ["resize", "--size", "9x9", "--pad"], ["blur", "--k", "5"], ["blur", "--k", "31"],
    ["gaussian", "--sigma", "1.5"], ["gaussian", "--k", "3"], ["convolve", "--kernel", "1 2 1; 2 4 2; 1 2 1", "--normalize"],
    ["convolve", "--kernel", "1 2 -1; 0 4 2; 1 0 1"], ["convolve", "--kernel", "0 1 0; 1 -4 1; 0 1 0"], ["edges"],
    ["edges", "--operator", "prewitt", "--scale", "0.3"], ["rotate", "--angle", "13"], ["rotate", "--angle", "90"],
    ["affine", "--matrix", "1 0.1 2; 0 1 1"], ["affine", "--matrix", "1 0.1 2; 0 1 1", "-i", "bicubic", "--border", "mirror"],
    ["shift", "--offset", "2.5,1.25"], ["perspective", "--from", "0,0,20,0,20,29,0,29", "--to", "1,1,20,0,20,29,0,29"], ["warp-polar"],
    ["undistort", "--camera", CAMERA], ["remap", "--map", "@map"],
]


def run(image, name, *args):
    source, result = c.path("in" + suffix(image)), c.path("out" + suffix(image))
    write(source, image)
    c.run(name, source, result, *args)
    return read(result)


np.save(c.path("map.npy"), (c.rng.random((12, 10, 2)) * 20).astype(np.float32))
for dtype in (np.uint8, np.uint16, np.float32):
    for channels in (2, 4):
        image = random_image(c.rng, (31, 23, channels), dtype)
        image[:15, :, -1] = 0
        for name, *args in OPERATIONS:
            args = [c.path("map.npy") if a == "@map" else a for a in args]
            want = np.dstack([run(np.ascontiguousarray(image[:, :, i]), name, *args) for i in range(channels)])
            for word in ("straight", "ignore"):
                got = run(image, name, *args, "--alpha", word)
                c.check(f"{name} {args} {dtype.__name__} {channels} {word}", np.array_equal(got, want))
            got = run(image, name, *args)
            c.check(f"{name} {args} {dtype.__name__} {channels}: --alpha weigh is the default",
                    np.array_equal(got, run(image, name, *args, "--alpha", "weigh")))

# An unsharp mask leaves alpha as it is.
image = random_image(c.rng, (31, 23, 4), np.uint8)
image[:15, :, 3] = 0
got = run(image, "sharpen", "--alpha", "straight")
want = np.dstack([run(np.ascontiguousarray(image[:, :, i]), "sharpen") for i in range(3)] + [image[:, :, 3]])
c.check("sharpen", np.array_equal(got, want))

# Pillow resizes each channel of other modes than RGBA by itself.
pillow = optional("PIL.Image")
if pillow:
    for size in ((11, 15), (40, 20), (23, 60)):
        for ours, theirs in (("lanczos3", pillow.LANCZOS), ("catrom", pillow.BICUBIC), ("triangle", pillow.BILINEAR), ("box", pillow.BOX)):
            got = run(image, "resize", "--size", "%dx%d" % size, "--stretch", "--filter", ours, "--like", "pillow-9", "--alpha", "straight")
            want = np.dstack([np.array(pillow.fromarray(image[:, :, i]).resize(size, theirs)) for i in range(4)])
            c.check(f"Pillow {size} {ours}", np.array_equal(got, want), f"off by {np.abs(got.astype(int) - want.astype(int)).max()}")
else:
    c.skip("no Pillow")
for args in (["convolve", "--kernel", "1 2 1", "--bias", "20"], ["edges", "--component", "x"], ["edges", "--operator", "laplacian"]):
    result = c.result(*args, "--alpha", "straight", c.path("in.pam"), c.path("out.pam"))
    c.check(f"{args} with straight", result.returncode == 2 and "--alpha straight: want" in result.stderr, result.stderr)
result = c.result("resize", "--size", "50%", "--alpha", "keep", c.path("in.pam"), c.path("out.pam"))
c.check("another word is refused", result.returncode == 2 and "weigh" in result.stderr and "straight" in result.stderr, result.stderr)
c.end()
