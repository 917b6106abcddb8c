"""stack, channels and montage of images of more than four bands: every band is stacked as numpy does, split and ordered.

Sources: cli/commands/stack cli/commands/channels imgio/bands
"""
import os
import tarfile

from _common import Checks, np, optional, random_image

c = Checks()
tifffile = optional("tifffile")
TYPES = (np.uint8, np.uint16, np.float32)


def save(path, image, colours=1, extra=None):
    if path.endswith(".tif"):
        return tifffile.imwrite(path, image, photometric="rgb" if colours == 3 else "minisblack", planarconfig="contig",
                                extrasamples=extra or [0] * (image.shape[2] - colours), metadata=None, software=False)
    return np.save(path, image)


FORMS = [".npy"] + ([".tif"] if tifffile else [])
if not tifffile:
    c.skip("python3 has no tifffile: stacks of TIFFs")
METHODS = {"mean": np.mean, "median": np.median, "min": np.min, "max": np.max, "sum": np.sum}
for n in (5, 7, 13):
    for dtype in TYPES:
        images = [random_image(c.rng, (17, 23, n), dtype) for _ in range(5)]
        for form in FORMS:
            paths = [c.path(f"s{i}{form}") for i in range(len(images))]
            for path, image in zip(paths, images):
                save(path, image)
            for method, of in METHODS.items():
                for more in ([], ["--memory", "20K"]):
                    c.run("stack", *paths, c.path("out.npy"), "--method", method, *more, "--strict")
                    exact = of(np.stack(images).astype(np.float64), axis=0)
                    if method == "sum" and dtype != np.float32:
                        exact = exact / np.iinfo(dtype).max
                    kind = np.float32 if method == "sum" else dtype
                    c.agree(f"stack {method} of {n} bands {dtype.__name__}{form} {more}", np.load(c.path("out.npy")), exact, kind)
            # bands are those of each as a gray image, to the bit
            c.run("stack", *paths, c.path("out" + form), "--method", "sigma-clip", "--kappa", "1.5")
            c.run("convert", "--force", c.path("out" + form), c.path("all.npy"), "-q")
            for i in (0, n - 1):
                c.run("stack", *(f"{path}[bands={i + 1}]" for path in paths), c.path("one.npy"), "--method", "sigma-clip", "--kappa", "1.5")
                c.check(f"sigma-clip, band {i + 1} of {n} {dtype.__name__}{form}", np.array_equal(np.load(c.path("all.npy"))[:, :, i], np.load(c.path("one.npy"))))
            # split, order
            names = [c.path(f"band{i}.npy") for i in range(n)]
            c.run("channels", "split", paths[0], *names, "--strict")
            c.check(f"split {n} {dtype.__name__}{form}", all(np.array_equal(np.load(name), images[0][:, :, i]) for i, name in enumerate(names)))
            c.check("another number of outputs", c.result("channels", "split", paths[0], *names[1:]).returncode == 2)
            for order, at in (("5,4,3", [4, 3, 2]), ("2", [1]), (f"{n}", [n - 1]), ("5,4,3,2,1", [4, 3, 2, 1, 0]), ("1-5", [0, 1, 2, 3, 4]), ("1,2,3,a4", [0, 1, 2, 3])):
                c.run("channels", paths[0], c.path("out.npy"), "--order", order, "--strict")
                c.check(f"--order {order} {n} {dtype.__name__}{form}", np.array_equal(np.atleast_3d(np.load(c.path("out.npy"))), images[0][:, :, at]))
            os.makedirs(c.path("dir"), exist_ok=True)
            c.run("channels", "split", *paths, "--out-dir", c.path("dir"), "--suffix", ".npy")
            c.check(f"split of many {n} {dtype.__name__}{form}", all(np.array_equal(np.load(c.path(f"dir/s{k}_band{i + 1}.npy")), images[k][:, :, i]) for k in range(5) for i in range(n)))
            c.run("channels", *paths, "--out-dir", c.path("dir"), "--suffix", ".npy", "--order", "5,4,3")
            c.check(f"--order of many {n} {dtype.__name__}{form}", all(np.array_equal(np.load(c.path(f"dir/s{k}.npy")), images[k][:, :, [4, 3, 2]]) for k in range(5)))
        if tifffile:
            with tarfile.open(c.path("in.tar"), "w") as tar:
                tar.add(paths[0], "a.tif")
            c.run("channels", "--tar", c.path("in.tar"), c.path("out.tar"), "--order", "5,4,3")
            with tarfile.open(c.path("out.tar")) as tar:
                tar.extract("a.tif", c.path("untarred"))
            c.run("convert", c.path("untarred/a.tif"), c.path("out.npy"))
            c.check(f"--order of members {n} {dtype.__name__}", np.array_equal(np.load(c.path("out.npy")), images[0][:, :, [4, 3, 2]]))
            tifffile.imwrite(c.path("pages.tif"), np.stack(images), photometric="minisblack", planarconfig="contig", metadata=None)
            c.run("stack", c.path("pages.tif"), c.path("out.npy"), "--method", "max")
            c.check(f"stack of pages {n} {dtype.__name__}", np.array_equal(np.load(c.path("out.npy")), np.stack(images).max(0)))
            c.run("pages", *paths, "--out", c.path("joined.tif"), "--compression", "0")
            with tifffile.TiffFile(c.path("joined.tif")) as file:
                c.check(f"pages {n} {dtype.__name__}", len(file.pages) == 5 and all(np.array_equal(p.asarray(), i) for p, i in zip(file.pages, images)))

# Numbers in orders, and the messages that refuse them.
rgb = random_image(c.rng, (17, 23, 3), np.uint8)
np.save(c.path("rgb.npy"), rgb)
np.save(c.path("five.npy"), random_image(c.rng, (17, 23, 5), np.uint8))
np.save(c.path("six.npy"), random_image(c.rng, (17, 23, 6), np.uint8))
c.run("channels", c.path("rgb.npy"), c.path("out.npy"), "--order", "3,2,1")
c.check("--order 3,2,1 of RGB", np.array_equal(np.load(c.path("out.npy")), rgb[:, :, ::-1]))
c.run("channels", c.path("rgb.npy"), c.path("out.npy"), "--order", "bgr")
c.check("--order bgr of RGB", np.array_equal(np.load(c.path("out.npy")), rgb[:, :, ::-1]))
for command, status, says in ((["channels", "five.npy", "m.npy", "--order", "6"], 1, "bands 1 to 5"), (["channels", "five.npy", "m.npy", "--order", "5,"], 2, "--order 5,"), (["channels", "five.npy", "m.npy", "--order", "3-1"], 2, "--order 3-1"), (["channels", "rgb.npy", "m.npy", "--order", "r,g"], 2, "--order r,g"),
                              (["channels", "five.npy", "m.npy", "--order", "2,1", "--bands", "3"], 2, "want one of them"),
                              (["channels", "join", "rgb.npy", "rgb.npy", "m.npy", "--order", "2,1"], 2, "want letters"),
                              (["run", "channels --order 3,2,1", "rgb.npy", "m.npy"], 2, "--bands 3,2,1"),
                              (["run", "channels --order 3,2,1", "five.npy", "m.npy"], 1, "--bands"),
                              (["stack", "five.npy", "six.npy", "m.npy"], 1, "channels"), (["stack", "five.npy", "rgb.npy", "m.npy"], 1, "channels"),
                              (["montage", "five.npy", "five.npy", "m.npy"], 1, "--bands"), (["channels", "alpha", "five.npy", "rgb.npy", "m.npy"], 1, "--bands")):
    result = c.result(*(c.path(w) if w.endswith(".npy") else w for w in command))
    c.check(" ".join(command), result.returncode == status and says in result.stderr and not os.path.exists(c.path("m.npy")), f"{result.returncode} {result.stderr}")
c.run("montage", c.path("five.npy"), c.path("six.npy"), c.path("m.npy"), "--bands", "3,2,1")
c.run("channels", "join", c.path("five.npy"), c.path("six.npy"), c.path("j.npy"), "--bands", "2", "--order", "k2kz")
c.check("join --bands", np.array_equal(np.load(c.path("j.npy"))[:, :, 1], np.load(c.path("six.npy"))[:, :, 1]))
if tifffile:
    image = random_image(c.rng, (17, 23, 6), np.uint8)
    for extra, names in (([0, 2, 0], ("r", "g", "b", "band4", "a", "band6")), ([0, 0, 0], ("r", "g", "b", "band4", "band5", "band6"))):
        save(c.path("x.tif"), image, 3, extra)
        c.run("channels", "split", c.path("x.tif"), "--out", c.path("parts/{channel}.npy"))
        c.check(f"split {names}", all(np.array_equal(np.load(c.path(f"parts/{name}.npy")), image[:, :, i]) for i, name in enumerate(names)))
        c.run("stack", c.path("x.tif"), c.path("x.tif"), c.path("y.tif"))
        with tifffile.TiffFile(c.path("y.tif")) as file:
            page = file.pages[0]
            c.check(f"a stack keeps what its bands are: {extra}", np.array_equal(page.asarray(), image) and page.photometric == 2 and list(page.extrasamples) == extra)
    save(c.path("z.tif"), image, 1)
    result = c.result("stack", c.path("x.tif"), c.path("z.tif"), c.path("m.npy"))
    c.check("bands of other meanings", result.returncode == 1 and "RGB" in result.stderr, result.stderr)
    with open(c.path("cmyk.pam"), "wb") as file:
        file.write(b"P7\nWIDTH 23\nHEIGHT 17\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n" + image[:, :, :4].tobytes())
    c.run("channels", "split", c.path("cmyk.pam"), *(c.path(f"{i}.pam") for i in "cmyk"), "--strict")
    c.check("inks", b"GRAYSCALE" in open(c.path("k.pam"), "rb").read()[:90] and open(c.path("k.pam"), "rb").read().endswith(image[:, :, 3].tobytes()))
c.end()
