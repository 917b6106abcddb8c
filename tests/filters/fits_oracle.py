"""FITS of astropy in all types, and astropy's reading of ours: scaling, row order, planes, blanks, cards and lost parts.

Sources: imgio/fits
"""
import json
import os

import numpy as np

from _common import Checks

c = Checks()
check = c.check
os.chdir(c.folder.name)
try:
    from astropy.io import fits
except ImportError:
    c.skip("astropy is not installed (python3-astropy)")
    c.end()
fits.conf.use_memmap = False


def ours(name, *args):
    c.run("convert", name, "ours.npy", "--force", *args)
    return np.load("ours.npy")


def parts(name):
    return {p["name"]: p["fate"] for p in json.loads(c.run("info", name, "--json"))["parts"]}


def write(data, name="a.fits", **cards):
    hdu = fits.PrimaryHDU(data)
    hdu.header.update(cards)
    hdu.writeto(name, overwrite=True)


H, W = 23, 37
# What astropy writes is read with its values; the first stored row is the lowest one.
for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "i8", "f4", "f8"):
    data = c.rng.integers(0, 100, (H, W)).astype(dtype) if dtype[0] != "f" else c.rng.normal(size=(H, W)).astype(dtype)
    if dtype in ("u2", "i2", "i1"):
        data = c.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, (H, W)).astype(dtype)
    write(data)
    got = ours("a.fits")
    want = {"u1": "u1", "u2": "u2"}.get(dtype, "f4")
    check(f"{dtype} becomes {want}", got.dtype == want, got.dtype)
    check(f"{dtype} has astropy's values", np.array_equal(got[::-1], data.astype(want)), np.abs(got[::-1] - data.astype("f8")).max())
hdu = fits.PrimaryHDU(data)
hdu.scale("int16", bscale=0.25, bzero=3)
hdu.writeto("a.fits", overwrite=True)
check("BSCALE and BZERO", np.array_equal(ours("a.fits")[::-1], fits.getdata("a.fits").astype("f4")))
write(np.full((H, W), 2**24 + 1, "i4"))
check("rounded integers are named", "32-bit integers are rounded" in c.result("convert", "a.fits", "b.npy", "--force").stderr)
check("and an error with --strict", c.result("convert", "a.fits", "b.npy", "--force", "--strict").returncode == 1)
write(data.astype("f4"), ROWORDER="TOP-DOWN")
check("ROWORDER TOP-DOWN", np.array_equal(ours("a.fits"), data.astype("f4")))

# Planes: three are red, green and blue, others bands.
for planes in (1, 3, 2, 5):
    data = c.rng.integers(0, 65536, (planes, H, W)).astype("u2")
    write(data)
    want = np.moveaxis(data, 0, -1)[::-1].squeeze()
    check(f"{planes} planes", np.array_equal(ours("a.fits"), want))
    c.run("convert", "a.fits", "b.fits", "--force", "--strict")
    check(f"{planes} planes are written as astropy reads them", np.array_equal(fits.getdata("b.fits"), data.squeeze()))
check("a plane is chosen", np.array_equal(ours("a.fits[bands=2]"), want[..., 1]))

# What we write, astropy reads.
for dtype in ("u1", "u2", "f4"):
    data = (c.rng.normal(size=(H, W, 3)) * 50 + 100).clip(0, 255).astype(dtype)
    np.save("in.npy", data)
    c.run("convert", "in.npy", "b.fits", "--force", "--strict")
    with fits.open("b.fits") as f:
        f.verify("exception")
        check(f"astropy reads {dtype}", np.array_equal(np.moveaxis(f[0].data, 0, -1)[::-1], data))
        check(f"{dtype} ends with a block", os.path.getsize("b.fits") % 2880 == 0)

# Blanks are pixels without data; cards are carried, coordinates of the sky while pixels stay where they are.
data = c.rng.integers(1, 200, (H, W)).astype("u1")
data[3:7, 5:9] = 0
write(data, BLANK=0, OBJECT="M 31", EXPTIME=1.5, CRPIX1=3.0, DATASUM="1")
mean = json.loads(c.run("stats", "a.fits", "--format", "json"))
check("blanks do not count", abs(mean["channels"][0]["mean"] - data[data > 0].mean()) < 1e-9, mean)
found = parts("a.fits")
check("cards are listed", found.get("2 cards of the header") == "carried" and found.get("coordinates of the sky (1 card)") == "carried", found)
c.run("convert", "a.fits", "b.fits", "--force")
head = fits.getheader("b.fits")
check("cards are carried", (head["OBJECT"], head["EXPTIME"], head["BLANK"]) == ("M 31", 1.5, 0), head)
check("no card tells of old samples", "DATASUM" not in head)
check("coordinates of the sky stay", head["CRPIX1"] == 3.0)
for args, stays in ((("invert",), True), (("blur", "-k", 3), True), (("flip", "--h"), False), (("crop", "--size", "5x5"), False), (("crop", "--size", "5x5+2+3"), False), (("resize", "--size", "50%"), False), (("rotate", "--angle", 90), False)):
    c.run(args[0], "a.fits", "b.fits", *args[1:])
    check(f"coordinates after {args[0]}: {stays}", ("CRPIX1" in fits.getheader("b.fits")) == stays)
write(data, CRPIX1=3.0, ROWORDER="TOP-DOWN")
check("other rows, other coordinates", parts("a.fits").get("coordinates of the sky (1 cards)") == "lost", parts("a.fits"))
hdus = fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(data), fits.ImageHDU(data), fits.BinTableHDU.from_columns([fits.Column("x", "E", array=[1.0])])])
hdus.writeto("a.fits", overwrite=True)
check("an image behind an empty header is read", np.array_equal(ours("a.fits")[::-1], data))
check("others are named", parts("a.fits") == {"1 image after the first": "lost", "1 table": "lost"}, parts("a.fits"))
second = (data + 7).astype("f4")
fits.HDUList([fits.PrimaryHDU(data), hdus[3], fits.ImageHDU(second[:9])]).writeto("a.fits", overwrite=True)
check("the second image", np.array_equal(ours("a.fits[1]")[::-1], second[:9]) and np.array_equal(ours("a.fits[0]")[::-1], data))
c.run("convert", "a.fits[0-1]", "page{page}.npy", "--force")
check("both images", np.array_equal(np.load("page1.npy")[::-1], second[:9]), os.listdir("."))
check("no third one", "want [0] to [1]" in c.result("info", "a.fits[2]").stderr, c.result("info", "a.fits[2]").stderr)
fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(data)]).writeto("a.fits", overwrite=True)
check("a compressed image is refused by name", "funpack" in c.result("info", "a.fits").stderr)
c.end()
