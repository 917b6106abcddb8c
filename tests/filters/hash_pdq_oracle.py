"""hash --method pdq gives the bits and qualities that compute() of the Python package pdqhash 0.2.8 gave for these images.

They are stored here, because that package is compiled when it is installed, which takes 45 s. The images are integers by a
formula. Where pdqhash can be imported, as after build/venv/bin/pip install pdqhash, random images are compared with it too.

Sources: filters/statistics/hash_pdq.c cli/commands/hash.c
"""
import json
import os
import sys

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv/bin/python")
if os.path.exists(PYTHON) and "HASH_ORACLE" not in os.environ:
    os.environ["HASH_ORACLE"] = "1"
    os.execv(PYTHON, [PYTHON, *sys.argv])

from _common import Checks, np, optional, random_image, write  # noqa: E402

# (height, width, kind): hash, quality
KNOWN = {
    (1, 1, "slopes"): ("0000000000000000000000000000000000000000000000000000000000000000", 0),
    (1, 1, "gray"): ("0000000000000000000000000000000000000000000000000000000000000000", 0),
    (3, 500, "slopes"): ("0000000000000000000000000000000000000000000000000000000000000000", 0),
    (3, 500, "gray"): ("0000000000000000000000000000000000000000000000000000000000000000", 0),
    (5, 5, "noise"): ("3c8dde37c372318c61d894a5318c695ade37ce733c8d9e27c372318c61d896a5", 100),
    (5, 5, "slopes"): ("6b5a96b5348d695a94a5cb7296a5348d6b5a96a54b5296b5348d695a94a5cb72", 100),
    (5, 5, "gray"): ("cb7296a5348d695a94a5cb7296a5348d6b5a94a5cb7296a5348d6b5a94a5cb72", 100),
    (5, 5, "faint"): ("6b5a96a5d4b5695a94a54b7294a5348d6b5a96a56b5a96a594a5695a94a5cb72", 20),
    (5, 5, "edges"): ("6a5b93a495a46c5b348d6c5b6e5b93a4c37293a46a5b93a495a46c5b348d6c5b", 100),
    (64, 64, "noise"): ("6a5f4832f64a7c51d2d9bc99aa5db76b46b391f01451476cd1614186f896073f", 100),
    (64, 64, "slopes"): ("ba3f6c8ed370a4c5cbba34c7295d3ad3c5b4334b8a962b29785a16b4c0a1d372", 100),
    (64, 64, "gray"): ("3ab5740fcbf0daa5d5f8ee073ac87d12c2f4da83c57632813f0e3540c2b7caa0", 100),
    (64, 64, "faint"): ("ba3f680ad7702c45cafaf487a95db2d3c5b4134b8e962b2d785a35b4c8a11752", 65),
    (64, 64, "edges"): ("a43fa695a43df03f5840f06a58600f95af970f950fc0706aa43f8f95a43f8f95", 100),
    (64, 64, "flat"): ("0000113400008200554b554b113411340000cc531134585e017e08302c4b8200", 0),
    (65, 67, "noise"): ("d877c032e65dd8b1a688b99162ad6d5f56a7a3a32093876fa261a30ef0340f3f", 100),
    (65, 67, "slopes"): ("b23f6c4ed370ac855bba34c5291d7ac3d5b4a3498a96ab29395a56b4c1a1c772", 100),
    (65, 67, "gray"): ("33b56c4edbf0e6a7d9d8de273cc83b12c6f49983de7621813d0e25c0c2b782e0", 100),
    (65, 67, "faint"): ("ba3b4c4ad370aca55bba94c5295d7acbd5b4a349aa96ab293a5a56b4c1a18752", 66),
    (65, 67, "edges"): ("c6b7241d0637d2371940d26259602d9d2e9f2d1d2d48d262c6b72d9de6b72d9d", 100),
    (65, 67, "flat"): ("0000113400008200554b554b113411340000cc531134585e017e08302c4b8200", 0),
    (128, 63, "noise"): ("86b253f455b255511509607b56ad4c75cac167432286f89ed896e79147f5477d", 100),
    (128, 63, "slopes"): ("baae688ad3f0a48d5b3a34c72d192ad7c5b4374baa96ab29785a56b4c0a1d372", 100),
    (128, 63, "gray"): ("3ee5550bcff0328dfdda28073fd85d02c7f45883f77e28893f0e4550c2b7c220", 100),
    (128, 63, "faint"): ("b2aa6a8ad3f0254d5b1a74a72d592ad7cdb4674ba296ab2d785a97b4c0a15352", 65),
    (128, 63, "edges"): ("00002c1d86b7d3e27948d3e279482c1d86b7d3e27948d3e286b72c1d86b72c1d", 100),
    (512, 512, "noise"): ("9009c669577b626e9aa318d8074822081baf139c79e2ceec1f2d7dc3adbe6dd1", 100),
    (512, 512, "slopes"): ("aaaa4cce97712c8ddaba74c7295962c695a4264baa962a697bda562591e19772", 100),
    (512, 512, "gray"): ("7fe0540edff0a08ff7fa28077fd8550287fc3003df7620897f1e455197e78020", 100),
    (512, 512, "faint"): ("aaaa4ccf97712c8fdafa3487295932d3d5a4234baa962a297a5a752495e13752", 21),
    (512, 512, "edges"): ("84b5ad1f7b4853e07bc853e07b48ac1f86b553e07bc853e08437ac1f8437ac1f", 100),
    (1000, 37, "noise"): ("04458f297e340c627be3bbc7697fa833280abe7c6811567764a2baa4e0f6a6d5", 100),
    (1000, 37, "slopes"): ("b32f688bd570a48ddbba34c729593ad3cdb4134be896ab293f5a1634c8a19532", 100),
    (1000, 37, "gray"): ("3fe5d50fcff0ba8dd5f82a073bc85513c0fc5e83f5762a893f0e1540c0b788a0", 100),
    (1000, 37, "faint"): ("ba6d688bd570ad8d4aba34872d49bad3c5b4134baa96ab293f5a16b4c8a13752", 23),
    (1000, 37, "edges"): ("e43f8f951bc0706a1bc0706a1bc08f95e43f706a1bc0706ae43f8f95e43f8f95", 100),
}


def picture(height, width, kind):
    """Integers by a formula: noise, a few slopes and edges, gray or faint slopes, black and white, or one colour."""
    y, x = np.mgrid[0:height, 0:width].astype(np.int64)
    planes = []
    for c in range(3):
        noise = ((x + 3 * c) * 7919 + y * 104729 + x * y * (c + 31) ^ (x * x + 5 * y)) * 2654435761 % 2**32 >> 24
        slope = (x * 255 // width * (c + 1) + y * 255 // height * (3 - c)) // 3 % 256 + 40 * ((x * 5 // width + y * 3 // height) % 2)
        planes.append({"noise": noise, "slopes": np.minimum(slope + noise // 16, 255), "gray": np.minimum(slope, 255),
                       "faint": 90 + slope // 5 + noise // 24,
                       "edges": 255 * ((x * 9 // width) * (y * 7 // height) % 3 == 1), "flat": 50 * c + 0 * x}[kind])
    image = np.stack(planes, -1).astype(np.uint8)
    return image[..., 0] if kind == "gray" else image


pdqhash = optional("pdqhash")


def computed(image):
    """Returns hash and quality of pdqhash."""
    bits, quality = pdqhash.compute(np.ascontiguousarray(image if image.ndim == 3 else np.stack([image] * 3, -1)))
    return np.packbits(bits.astype(np.uint8)).tobytes().hex(), quality


def hashes(images):
    """Returns hash and quality of each image, from a table."""
    paths = [c.path(f"{i}.{'pgm' if image.ndim == 2 else 'ppm'}") for i, image in enumerate(images)]
    for path, image in zip(paths, images):
        write(path, image)
    rows = c.run("hash", *paths, "--method", "pdq", "--table", "-").decode().split("\n")
    c.check("columns", rows[0] == "file,hash,quality", rows[0])
    return [(row.split(",")[1], int(row.split(",")[2])) for row in rows[1:-1]]


if sys.argv[1:] == ["--print"]:  # makes KNOWN anew
    for key in KNOWN:
        print(f"    {key}: {computed(picture(*key))},".replace("'", '"'))
    sys.exit()
c = Checks()

for key, got in zip(KNOWN, hashes([picture(*key) for key in KNOWN])):
    c.check(f"stored {key}", got == KNOWN[key], f"{got}, want {KNOWN[key]}")

if pdqhash:
    images = []
    for i in range(100):
        height, width = (int(1 + c.rng.exponential(150)) for _ in range(2))
        kind = ["noise", "slopes", "gray", "faint", "edges", "flat", "random"][i % 7]
        images.append(random_image(c.rng, (height, width, 3), np.uint8) if kind == "random" else picture(height, width, kind))
    for image, got in zip(images, hashes(images)):
        want = computed(image)
        c.check(f"pdqhash {image.shape}", got == want, f"{got}, want {want}")
else:
    c.skip("python3 has no pdqhash: only its stored hashes are compared")

# Every format of the table has both, and depths and alpha do not count.
image = picture(65, 67, "slopes")
digits, quality = KNOWN[65, 67, "slopes"]
a = c.path("a.ppm")
write(a, image)
text = c.run("hash", a, "--method", "pdq").decode()
c.check("text", text == f"{digits}  {quality:3}  {a}\n", text)
c.check("csv", c.run("hash", a, "--method", "pdq", "--format", "csv").decode() == f"hash,quality\n{digits},{quality}\n")
found = json.loads(c.run("hash", a, "--method", "pdq", "--json"))
c.check("json", (found["hash"], found["quality"], found["method"]) == (digits, quality, "pdq"), found)
c.run("hash", a, c.path("a.npy"), "--method", "pdq", "--size", "9")
row = np.load(c.path("a.npy"))[0]
c.check("npy", "".join(f"{int(word):016x}" for word in row["hash"]) == digits and row["quality"] == quality, row)
c.run("hash", a, a, "--method", "pdq", "--table", c.path("all.npy"))
rows = [(row["hash"].decode(), int(row["quality"])) for row in np.load(c.path("all.npy"))]
c.check("npy of many", rows == 2 * [(digits, quality)], rows)
c.check("others have no quality", "quality" not in json.loads(c.run("hash", a, "--json")))
opaque = np.concatenate([image, np.full((65, 67, 1), 255, np.uint8)], -1)
clear = np.concatenate([image, np.zeros((65, 67, 1), np.uint8)], -1)
for name, pixels in (("b.ppm", image.astype(np.uint16) * 257), ("c.pfm", image.astype(np.float32) / 255),
                     ("d.pam", opaque), ("e.pam", clear), ("f.npy", image.astype(np.float32) / 255)):
    write(c.path(name), pixels)
    got = c.run("hash", c.path(name), "--method", "pdq").decode().split()[0]
    c.check(name, got == digits, got)
gray = picture(65, 67, "gray")
write(c.path("g.pam"), np.stack([gray, gray // 2], -1))
got = c.run("hash", c.path("g.pam"), "--method", "pdq").decode().split()[0]
c.check("gray with alpha", got == KNOWN[65, 67, "gray"][0], got)
got = c.run("run", "flip --h | flip --h | hash --method pdq", a).decode().split()
c.check("chain", got[:2] == [digits, str(quality)], got)
c.end()
