"""Whole commands beside their peers: vips, GraphicsMagick, ImageMagick. All in one run, as ratios.

usage: commands.py GPUIMG [--out FILE.md] [--size N] [--runs N]
Times come from hyperfine (median). Inputs are made here: a photograph-like image (smooth shades, edges,
noise) from a seeded generator. A peer that is not installed, or cannot do a row, shows as "-".
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--out")
parser.add_argument("--size", type=int, default=4096)
parser.add_argument("--runs", type=int, default=5)
args = parser.parse_args()
gpuimg = os.path.abspath(args.program)
folder = tempfile.mkdtemp(prefix="gpuimg-bench-")


def photograph(size, channels):
    """Large shades, discs with edges, fine noise: what a camera gives, roughly."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:size, 0:size].astype(np.float32) / size
    planes = []
    for c in range(channels):
        v = 90 + 60 * np.sin(5 * x + c) * np.cos(4 * y - c)
        for _ in range(60):
            cx, cy, r = rng.random(3)
            v[(x - cx) ** 2 + (y - cy) ** 2 < (0.08 * r) ** 2] += rng.uniform(-60, 80)
        v += rng.normal(0, 3, v.shape).astype(np.float32)
        planes.append(np.clip(v, 0, 255).astype(np.uint8))
    return np.stack(planes, axis=2)


def write_pnm(path, image):
    with open(path, "wb") as f:
        kind = b"P5" if image.shape[2] == 1 else b"P6"
        f.write(b"%s\n%d %d\n255\n" % (kind, image.shape[1], image.shape[0]))
        f.write(image.tobytes())


def have(tool):
    return shutil.which(tool) is not None


def median(command):
    """Median seconds of a command, None where it fails."""
    if subprocess.run(command, shell=True, capture_output=True, cwd=folder).returncode != 0:
        return None
    report = os.path.join(folder, "hyperfine.json")
    subprocess.run(["hyperfine", "-N", "--warmup", "1", "--runs", str(args.runs), "--export-json", report,
                    command], check=True, capture_output=True, cwd=folder)
    return json.load(open(report))["results"][0]["median"]


n = args.size
gray, rgb = photograph(n, 1), photograph(n, 3)
write_pnm(f"{folder}/g.pgm", gray)
write_pnm(f"{folder}/c.ppm", rgb)
write_pnm(f"{folder}/s.ppm", photograph(512, 3))
for command in (f"{gpuimg} blur s.ppm s.png --k 1", f"{gpuimg} blur c.ppm c.png --k 1",
                f"{gpuimg} blur c.ppm c.jpg --k 1 --quality 90"):
    subprocess.run(command, shell=True, check=True, cwd=folder)
open(f"{folder}/k5.mat", "w").write("5 5 25 0\n" + "1 1 1 1 1\n" * 5)
open(f"{folder}/m5.mat", "w").write("5 5 35 0\n1 2 1 2 1\n2 1 3 1 0\n1 3 2 1 1\n0 1 1 3 2\n1 1 1 1 2\n")
k5 = "1 2 1 2 1; 2 1 3 1 0; 1 3 2 1 1; 0 1 1 3 2; 1 1 1 1 2"
im5 = "5x5: 1,2,1,2,1 2,1,3,1,0 1,3,2,1,1 0,1,1,3,2 1,1,1,1,2"

G = "gaussian {i} o.{o} --sigma 1 --k 5"
gauss = {"vips": "vips gaussblur {i} o.{o} 1", "vips exact": "vips gaussblur {i} o.{o} 1 --min-ampl 0.01 --precision float",
         "gm": "gm convert {i} -gaussian 2x1 o.{o}", "ImageMagick": "convert {i} -gaussian-blur 2x1 o.{o}"}
ROWS = [(f"gaussian k=5, {name}", i, o, G, gauss) for name, i, o in (
    (f"{n}^2 gray PGM", "g.pgm", "pgm"), (f"{n}^2 RGB PPM", "c.ppm", "ppm"), (f"{n}^2 RGB JPEG", "c.jpg", "jpg"),
    (f"{n}^2 RGB PNG", "c.png", "png"), ("512^2 RGB PNG", "s.png", "png"))]
ROWS += [
    ("blur k=5, 512^2 RGB PNG", "s.png", "png", "blur {i} o.{o} --k 5", gauss),
    (f"blur k=5, {n}^2 gray PGM", "g.pgm", "pgm", "blur {i} o.{o} --k 5",
     {"vips": "vips conv {i} o.{o} k5.mat --precision integer", "ImageMagick": "convert {i} -define convolve:scale=! -morphology Convolve Square:2 o.{o}"}),
    (f"blur k=31, {n}^2 gray PGM", "g.pgm", "pgm", "blur {i} o.{o} --k 31",
     {"ImageMagick": "convert {i} -blur 15x100 o.{o}"}),
    (f"convolve 5x5, {n}^2 gray PGM", "g.pgm", "pgm", f'convolve {{i}} o.{{o}} --kernel "{k5}" --normalize',
     {"vips": "vips conv {i} o.{o} m5.mat --precision integer", "vips exact": "vips conv {i} o.{o} m5.mat --precision float",
      "ImageMagick": f'convert {{i}} -define convolve:scale=! -morphology Correlate "{im5}" o.{{o}}'}),
    (f"sharpen, {n}^2 RGB PPM", "c.ppm", "ppm", "sharpen {i} o.{o} --sigma 1",
     {"vips": "vips sharpen {i} o.{o} --sigma 1", "gm": "gm convert {i} -unsharp 0x1 o.{o}", "ImageMagick": "convert {i} -unsharp 0x1 o.{o}"}),
    (f"edges sobel, {n}^2 gray PGM", "g.pgm", "pgm", "edges {i} o.{o}",
     {"vips": "vips sobel {i} o.{o}", "gm": "gm convert {i} -edge 1 o.{o}", "ImageMagick": "convert {i} -edge 1 o.{o}"}),
    (f"threshold 50 %, {n}^2 gray PGM", "g.pgm", "pgm", "threshold {i} o.{o} --at 50%",
     {"vips": "vips relational_const {i} o.{o} more 127", "gm": "gm convert {i} -threshold 50% o.{o}", "ImageMagick": "convert {i} -threshold 50% o.{o}"}),
    (f"threshold otsu, {n}^2 gray PGM", "g.pgm", "pgm", "threshold {i} o.{o} --at otsu",
     {"ImageMagick": "convert {i} -auto-threshold OTSU o.{o}"}),
    (f"histogram, {n}^2 gray PGM", "g.pgm", "-", "histogram {i}",
     {"vips": "vips hist_find {i} h.csv", "ImageMagick": "convert {i} -format %c histogram:info:-", "gm": "gm identify -verbose {i}"}),
    (f"extract, {n}^2 gray PGM", "g.pgm", "csv", "extract {i} o.csv --at 150",
     {"vips": "vips labelregions {i} o.v", "ImageMagick": "convert {i} -threshold 150 -define connected-components:verbose=true -connected-components 8 o.pgm"}),
    (f"compare, {n}^2 gray PGM", "g.pgm", "-", "compare {i} g.pgm",
     {"gm": "gm compare -metric MSE {i} g.pgm", "ImageMagick": "compare -metric SSIM {i} g.pgm o.pgm"}),
]
PEERS = ["vips", "vips exact", "gm", "ImageMagick"]


def version(command):
    try:
        return subprocess.run(command, shell=True, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except IndexError:
        return "absent"


lines = [f"Whole commands, median of {args.runs}, seconds; in brackets peer / gpuimg (above 1: gpuimg is faster).", "",
         f"- {os.cpu_count()} cores, {version('lscpu | grep -m1 Model.name | cut -d: -f2')}, CPU level {version(gpuimg + ' devices').split(None, 1)[1]}",
         f"- {version(gpuimg + ' --version')}; {version('vips --version')}; {version('gm version')}; {version('convert -version')}",
         "", "| work | gpuimg | " + " | ".join(PEERS) + " |", "|---|---|" + "---|" * len(PEERS)]
for name, i, o, ours, peers in ROWS:
    mine = median(f"{gpuimg} " + ours.format(i=i, o=o))
    cells = []
    for peer in PEERS:
        command = peers.get(peer, "").format(i=i, o=o)
        t = median(command) if command and have(command.split()[0]) else None
        cells.append(f"{t:.3f} ({t / mine:.1f})" if t and mine else "-")
    lines.append(f"| {name} | {mine:.4f} | " + " | ".join(cells) + " |" if mine else f"| {name} | failed | " + " | ".join(cells) + " |")
    print(lines[-1], file=sys.stderr, flush=True)
text = "\n".join(lines) + "\n"
print(text)
if args.out:
    open(args.out, "w").write(text)
shutil.rmtree(folder)
