#!/usr/bin/env python3
"""Makes the inputs of use by Pillow. Usage: inputs.py PROGRAM PICTURE FOLDER"""

import json
import pathlib
import shutil
import subprocess
import sys

from PIL import Image, ImageCms

program, picture, folder = sys.argv[1:]
folder = pathlib.Path(folder)
(folder / "read").mkdir(parents=True)
shutil.copy(picture, folder / "scene.png")
listed = json.loads(subprocess.run([program, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout)
(folder / "suffixes").write_text("".join(f["suffixes"].split()[0] + "\n" for f in listed["formats"] if f["writes"]))
image = Image.open(picture).convert("RGB").resize((160, 107))
image.save(folder / "read/palette.gif")
for compression in ("tiff_lzw", "tiff_adobe_deflate", "jpeg", "lzma", "zstd", "webp"):
    image.save(folder / f"read/{compression}.tif", compression=compression)
image.convert("1").save(folder / "read/group4.tif", compression="group4")
image.save(folder / "read/lossy.webp", quality=80)
image.convert("CMYK").save(folder / "read/inks.jpg")
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
image.save(folder / "profile.jpg", icc_profile=profile, quality=95)
