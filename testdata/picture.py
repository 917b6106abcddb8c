"""Lays out testdata/picture.png, the picture in README. Usage: picture.py GPUIMG"""
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw

gpuimg, here = sys.argv[1], "testdata"
folder = tempfile.mkdtemp()
panels = [(f"{here}/scene.png", "scene.png")]
for name, command in (("gaussian --sigma 4", ["gaussian", "scene.png", "--sigma", "4"]),
                      ("edges", ["edges", "scene.png"]),
                      ("convolve --kernel \"-2 -1 0; -1 1 1; 0 1 2\"",
                       ["convolve", "scene.png", "--kernel", "-2 -1 0; -1 1 1; 0 1 2"])):
    out = f"{folder}/{command[0]}.png"
    subprocess.run([gpuimg, command[0], f"{here}/{command[1]}", out, *command[2:]], check=True)
    panels.append((out, name))
subprocess.run([gpuimg, "extract", f"{here}/coins.png", "--min-area", "50", "--overlay", f"{folder}/o.png"],
               check=True, stdout=subprocess.DEVNULL)
subprocess.run([gpuimg, "histogram", f"{here}/scene.png", "--bins", "64", "--log", "--plot", f"{folder}/h.png"],
               check=True, stdout=subprocess.DEVNULL)
panels += [(f"{folder}/o.png", "extract --overlay"), (f"{folder}/h.png", "histogram --plot --log")]

w, h, label = 400, 267, 18
sheet = Image.new("RGB", (3 * w + 8, 2 * (h + label) + 4), "white")
draw = ImageDraw.Draw(sheet)
for i, (path, name) in enumerate(panels):
    x, y = i % 3 * (w + 4), i // 3 * (h + label + 4)
    picture = Image.open(path).convert("RGB")
    picture.thumbnail((w, h), Image.LANCZOS)
    sheet.paste(picture, (x + (w - picture.width) // 2, y))
    draw.text((x + 4, y + h + 3), name, fill="black")
sheet.save(f"{here}/picture.png", optimize=True)  # true colour: a palette shows bands
