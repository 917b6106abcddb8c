"""Draws the pictures of the gallery: a scanned page, cells, a night sky and a landscape. Usage: gallery.py FOLDER

They are computed from random numbers with fixed seeds, and from DejaVu's fonts for the text of the scan (python3-numpy,
python3-scipy, python3-pil, fonts-dejavu-core). No other picture is read, so they have no other author.
"""
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

WIDTH, HEIGHT = 640, 427
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVu"


def smooth(lower, upper, value):
    """Returns 0 below `lower`, 1 above `upper`, and a smooth step between."""
    t = np.clip((value - lower) / (upper - lower), 0, 1)
    return t * t * (3 - 2 * t)


def clouds(random, shape, size, octaves=5, gain=0.5):
    """Returns fractal noise from 0 to 1, whose largest features are `size` pixels wide."""
    total, weight, sum_of_weights = np.zeros(shape), 1.0, 0.0
    for _ in range(octaves):
        rows, columns = int(shape[0] / size) + 3, int(shape[1] / size) + 3
        y, x = np.mgrid[0:shape[0], 0:shape[1]] / size
        total += weight * ndimage.map_coordinates(random.random((rows, columns)), [y + 0.5, x + 0.5], order=3, mode="reflect")
        sum_of_weights += weight
        weight, size = weight * gain, max(size / 2, 1.5)
    return np.clip(total / sum_of_weights, 0, 1)


def mix(a, b, t):
    """Returns a where t is 0 and b where t is 1; colours are the last axis."""
    t = np.asarray(t)[..., None]
    return np.asarray(a) * (1 - t) + np.asarray(b) * t


def save(folder, name, picture):
    """Writes samples from 0 to 1 as 8 bits."""
    samples = np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8)
    Image.fromarray(samples).save(f"{folder}/{name}.png", optimize=True)


# ---- a landscape: mountains in the morning, behind a lake ----

def ridge(random, base, height, size):
    """Returns the height of a mountain ridge over each column, in pixels from the top."""
    x = np.arange(WIDTH)
    line, amplitude, step = np.zeros(WIDTH), 1.0, size
    for _ in range(7):
        knots = np.arange(-step, WIDTH + 2 * step, step)
        line += amplitude * np.interp(x, knots, random.random(len(knots)))
        amplitude, step = amplitude * 0.5, max(step / 2, 2)
    return base - height * (line / 2 - 0.35)


def mountain(random, view, line, lit, shade, haze, depth):
    """Draws a ridge over `view`: light from the right on its slopes, haze towards its foot."""
    y, x = np.mgrid[0:view.shape[0], 0:WIDTH]
    relief = clouds(random, view.shape[:2], 46, 6, 0.6)
    slope = ndimage.gaussian_filter(relief, 1.0)
    light = smooth(-0.012, 0.016, np.gradient(slope, axis=1) - 0.5 * np.gradient(slope, axis=0) + 0.012 * np.gradient(line)[None, :])
    rock = mix(shade, lit, light)
    rock = mix(rock, haze, smooth(0, depth, y - line) * 0.85)
    return mix(view, rock, smooth(-0.7, 0.7, y - line))


def forest(random, view, foot):
    """Draws conifers along the shore at row `foot`."""
    y, x = np.mgrid[0:view.shape[0], 0:WIDTH]
    trees = np.zeros(view.shape[:2])
    for _ in range(420):
        at, tall = random.random() * WIDTH, 7 + 20 * random.random() ** 2
        tall *= 0.55 + 1.5 * abs(at / WIDTH - 0.6)
        up = (foot + 2 - y) / tall
        width = tall * 0.27 * (1 - up) * (0.72 + 0.28 * np.sin(up * 24 + at))
        trees = np.maximum(trees, smooth(-0.6, 0.6, width - abs(x - at)) * (up < 1) * (up > 0))
    color = mix((0.050, 0.085, 0.080), (0.16, 0.17, 0.10), clouds(random, view.shape[:2], 9, 3))
    return mix(view, color, np.maximum(trees, smooth(-1.5, 1.5, y - foot + 3 * clouds(random, view.shape[:2], 30, 3))))


def landscape():
    random = np.random.default_rng(20)
    shore = 282
    shape = (shore + 6, WIDTH)
    y, x = np.mgrid[0:shape[0], 0:WIDTH]
    sky = mix((0.20, 0.36, 0.60), (0.98, 0.80, 0.60), smooth(-30, 235, y) ** 1.15)
    sun = np.hypot((x - 452) / 1.3, y - 168)
    sky = mix(sky, (1.0, 0.93, 0.74), np.exp(-sun / 95) * 0.75)
    streaks = clouds(random, (shape[0], WIDTH // 4), 26, 5, 0.55)
    streaks = ndimage.zoom(streaks, (1, 4), order=1)[:, :WIDTH]
    veil = smooth(0.50, 0.74, streaks) * smooth(235, 60, y) * 0.75
    view = mix(sky, mix((0.93, 0.70, 0.62), (1.0, 0.95, 0.88), streaks), veil)
    for base, height, size, lit, shade, haze, depth in (
            (200, 330, 230, (0.80, 0.70, 0.68), (0.46, 0.50, 0.63), (0.86, 0.76, 0.70), 120),
            (238, 200, 170, (0.62, 0.55, 0.50), (0.27, 0.34, 0.46), (0.73, 0.68, 0.67), 100),
            (264, 100, 130, (0.40, 0.41, 0.30), (0.13, 0.21, 0.25), (0.50, 0.53, 0.53), 70)):
        view = mountain(random, view, ridge(random, base, height, size), lit, shade, haze, depth)
    mist = np.exp(-((y - 268) / 9.0) ** 2) * (0.25 + 0.75 * clouds(random, shape, 120, 3))
    view = mix(view, (0.93, 0.87, 0.82), mist * 0.75)
    view = forest(random, view, shore)

    # The lake mirrors the view, in waves that are longer in front; grass on the near bank.
    rows = HEIGHT - shore
    y, x = np.mgrid[0:rows, 0:WIDTH]
    wave = clouds(random, (rows, WIDTH // 8), 5, 3)
    wave = ndimage.zoom(wave, (1, 8), order=1)[:, :WIDTH] - 0.5
    source = np.clip(shore - 1 - y * 1.55 + wave * (3 + y * 0.16), 0, shore - 1)
    lake = np.stack([ndimage.map_coordinates(view[..., c], [source, x + wave * 4], order=1, mode="nearest") for c in range(3)], axis=-1)
    lake = mix(lake * (0.90, 0.93, 0.97), (0.17, 0.27, 0.36), 0.14 + 0.34 * y / rows)
    whole = np.concatenate([view[:shore], lake])
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    bank = 404 + 22 * np.sin(x / 150 + 0.6) + 9 * clouds(random, (HEIGHT, WIDTH), 40, 4)
    blades = np.zeros((HEIGHT, WIDTH))
    for _ in range(900):
        at, tall, lean = random.random() * WIDTH, 6 + 22 * random.random() ** 2, random.normal(0, 0.22)
        up = bank[200, int(at)] + 7 - y
        near = abs(x - at - lean * up - 0.008 * lean * up * up)
        blades = np.maximum(blades, smooth(1.2, 0.2, near) * (up > 0) * (up < tall))
    ground = np.maximum(blades, smooth(-2, 3, y - bank))
    color = mix((0.07, 0.10, 0.05), (0.50, 0.46, 0.18), clouds(random, (HEIGHT, WIDTH), 7, 4, 0.8) ** 1.5)
    whole = mix(whole, color, ground)
    return whole + random.normal(0, 0.004, (HEIGHT, WIDTH, 1))


# ---- a scanned page: text, skewed, unevenly lit, with a stain ----

TEXT = """The Keeper of the Lamp

Every evening at the hour when the harbour grew
quiet, the keeper climbed one hundred and twelve
steps with a can of oil in each hand. He trimmed
the wick, polished the lens, and wrote three lines
into the log: the weather, the ships, the height of
the tide. No one had asked him for the third.

In forty years the book had become a long row of
figures, and when the engineers came to build the
new pier they found in it what no chart had shown:
that the sea here rises by the width of a hand in
a lifetime, slowly, and never once goes back.

They measured nothing themselves. They copied his
lines, set the stones half a metre higher, and put
his name on the last one."""


def scan():
    random = np.random.default_rng(4)
    width, height, k = 480, 620, 3
    page = Image.new("L", (width * k, height * k), 255)
    draw = ImageDraw.Draw(page)
    title = ImageFont.truetype(FONTS + "Serif-Bold.ttf", 23 * k)
    body = ImageFont.truetype(FONTS + "Serif.ttf", 15 * k)
    row = 62
    for number, line in enumerate(TEXT.splitlines()):
        draw.text((48 * k, row * k), line, fill=20, font=body if number else title)
        row += 38 if number == 0 else 12 if not line else 24
    row += 14
    for x in range(3):  # a small table
        draw.rectangle([(48 + 128 * x) * k, row * k, (48 + 128 * (x + 1)) * k, (row + 96) * k], outline=30, width=k)
        for y, cell in enumerate((("Year", "1881", "1901", "1921"), ("High", "4.12 m", "4.15 m", "4.19 m"), ("Low", "0.31 m", "0.33 m", "0.38 m"))[x]):
            draw.text(((60 + 128 * x) * k, (row + 3 + 24 * y) * k), cell, fill=20, font=body)
            draw.line([(48 + 128 * x) * k, (row + 24 * y) * k, (48 + 128 * (x + 1)) * k, (row + 24 * y) * k], fill=30, width=k)
    page = page.rotate(2.6, Image.BICUBIC, fillcolor=255).resize((width, height), Image.LANCZOS)
    ink = 1 - np.asarray(page) / 255.0
    y, x = np.mgrid[0:height, 0:width]
    ink *= 0.80 + 0.25 * clouds(random, ink.shape, 14, 3)
    paper = 0.93 - 0.05 * clouds(random, ink.shape, 5, 3, 0.8) - 0.05 * clouds(random, ink.shape, 160, 2)
    stain = np.hypot(x - 372, y - 470) + 9 * clouds(random, ink.shape, 40, 4)
    paper -= 0.12 * smooth(10, 3, abs(stain - 68)) + 0.05 * smooth(70, 60, stain)
    light = 0.42 + 0.58 * smooth(0, 640, 0.75 * x + 0.5 * (height - y)) - 0.22 * np.exp(-x / 38)
    return (paper * (1 - ink) + 0.14 * ink) * light + random.normal(0, 0.008, ink.shape)


# ---- cells: nuclei and cytoplasm in a fluorescence microscope ----

def cells():
    random = np.random.default_rng(33)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    places = []
    while len(places) < 40:  # not nearer than 52 pixels
        place = random.random(2) * (WIDTH + 20, HEIGHT + 20) - 10
        if all(np.hypot(*(place - other)) > 58 for other in places):
            places.append(place)
    body, nuclei, actin = (np.zeros((HEIGHT, WIDTH)) for _ in range(3))
    texture, fine = clouds(random, (HEIGHT, WIDTH), 16, 4), clouds(random, (HEIGHT, WIDTH), 7, 3)
    wobble = clouds(random, (HEIGHT, WIDTH), 30, 3) - 0.5
    for px, py in places:
        angle, size, strength = random.random() * np.pi, 13 + 4.5 * random.random(), 0.6 + 0.4 * random.random()
        dx, dy = x - px, y - py
        u, v = dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)
        distance = np.hypot(u / (1.15 + 0.25 * random.random()), v)
        nucleus = smooth(1.0, -1.2, distance - size - wobble * 8)
        nuclei = np.maximum(nuclei, nucleus * strength * (0.55 + 0.45 * fine))
        for _ in range(3):  # nucleoli are darker
            at = (px + random.normal(0, size / 3), py + random.normal(0, size / 3))
            nuclei -= 0.22 * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / 9) * nucleus
        reach = np.hypot(u / (1.5 + 0.4 * random.random()), v) - wobble * 30
        cytoplasm = smooth(size * 2.3, size * 0.9, reach)
        fibres = (0.5 + 0.5 * np.sin((v + wobble * 14) * 1.5 + random.random() * 6)) * smooth(0.35, 0.7, texture)
        body = np.maximum(body, cytoplasm * (0.35 + 0.65 * texture) * strength)
        actin = np.maximum(actin, cytoplasm * fibres ** 2 * strength * 0.45 + 0.5 * np.exp(-((reach - size * 1.75) / 2.2) ** 2) * strength)
    nuclei = np.clip(nuclei, 0, None)
    inside = smooth(0, 0.4, nuclei)
    body, actin = body * (1 - 0.75 * inside), actin * (1 - 0.8 * inside)
    picture = np.stack([0.85 * actin + 0.16 * nuclei, 0.66 * body + 0.16 * actin + 0.30 * nuclei, 0.95 * nuclei + 0.05 * body], axis=-1)
    picture = ndimage.gaussian_filter(np.clip(picture, 0, None), (0.8, 0.8, 0))
    picture += (0.020, 0.030, 0.045) * (1.5 - np.hypot(x - 320, y - 213)[..., None] / 380)
    return picture + random.normal(0, 1, picture.shape) * np.sqrt(np.clip(picture, 0, 1) * 0.0006 + 0.00006)


# ---- a night sky: stars of many colours, a spiral galaxy, noise; and three short exposures of a part of it ----

def star(picture, px, py, strength, color, seeing=1.15):
    """Adds a star with the profile of Moffat, and spikes if it is bright."""
    r = int(min(90, 8 + 14 * strength ** 0.5))
    y0, y1, x0, x1 = max(0, int(py) - r), min(picture.shape[0], int(py) + r), max(0, int(px) - r), min(picture.shape[1], int(px) + r)
    if y0 >= y1 or x0 >= x1:
        return
    y, x = np.mgrid[y0:y1, x0:x1]
    dx, dy = x - px, y - py
    flux = strength * (1 + (dx ** 2 + dy ** 2) / (seeing * 1.7) ** 2) ** -2.6
    if strength > 3:
        flux += 0.05 * strength * (np.exp(-abs(dx) / 0.7 - abs(dy) / 13) + np.exp(-abs(dy) / 0.7 - abs(dx) / 13))
    picture[y0:y1, x0:x1] += flux[..., None] * color


def sky():
    random = np.random.default_rng(8)
    picture = np.zeros((HEIGHT, WIDTH, 3))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    # The galaxy: a disk that is seen at an angle, with two arms, dust and knots of young stars.
    angle, dx, dy = 0.62, x - 372.0, y - 208.0
    u, v = dx * np.cos(angle) + dy * np.sin(angle), (dy * np.cos(angle) - dx * np.sin(angle)) / 0.50
    r, phi = np.hypot(u, v) + 1e-6, np.arctan2(v, u)
    arms = 0.5 + 0.5 * np.cos(2 * (phi - 2.35 * np.log(r / 14 + 0.5)))
    lumps = clouds(random, (HEIGHT, WIDTH), 20, 5, 0.7)
    disk = np.exp(-r / 48) * smooth(190, 90, r)
    young = disk * arms ** 2.2 * smooth(8, 45, r) * (0.3 + 1.5 * smooth(0.35, 0.75, lumps))
    dust = 1 - 0.62 * smooth(10, 40, r) * smooth(150, 60, r) * smooth(0.35, 0.75, lumps) * (0.5 - 0.5 * np.cos(2 * (phi - 2.35 * np.log(r / 14 + 0.5)) + 0.9)) ** 3
    core = 0.95 * np.exp(-(r / 11) ** 0.85)
    picture += (disk * 0.34 * dust + core * dust)[..., None] * (1.0, 0.83, 0.62) + (young * 0.95 * dust)[..., None] * (0.55, 0.70, 1.0)
    knots = young * smooth(0.62, 0.80, clouds(random, (HEIGHT, WIDTH), 6, 2))
    picture += knots[..., None] * (0.9, 0.25, 0.42)
    colors = np.array([(0.62, 0.75, 1.0), (0.90, 0.94, 1.0), (1.0, 0.94, 0.80), (1.0, 0.78, 0.52), (1.0, 0.60, 0.38)])
    for _ in range(560):
        star(picture, random.random() * WIDTH, random.random() * HEIGHT, 0.035 / (random.random() + 0.004) ** 1.05, colors[random.integers(5)])
    for px, py, strength, which in ((86, 92, 12, 0), (560, 66, 7, 3), (158, 338, 9, 2), (520, 368, 5, 4)):
        star(picture, px, py, strength, colors[which], 1.25)
    nebula = clouds(random, (HEIGHT, WIDTH), 210, 4) ** 2
    picture += nebula[..., None] * (0.040, 0.022, 0.050) + (0.016, 0.020, 0.034)
    picture = 1 - np.exp(-1.9 * picture)  # a film's curve
    return picture + random.normal(0, 0.011, picture.shape)


def exposures(folder):
    """Writes three short exposures of one field, gray: much noise, and in each a trail of a satellite or a cosmic ray."""
    random = np.random.default_rng(15)
    height, width = 213, 320
    field = np.zeros((height, width, 3))
    for _ in range(130):
        star(field, random.random() * width, random.random() * height, 0.03 / (random.random() + 0.006), np.ones(3))
    y, x = np.mgrid[0:height, 0:width]
    field = field[..., 0] + 0.30 * np.exp(-(np.hypot((x - 205) * 0.8 + (y - 105) * 0.5, (y - 105) * 1.9 - (x - 205) * 0.9) / 22) ** 0.9)
    for number, (slope, start) in enumerate(((0.35, 40), (-0.22, 190), (0.9, -60)), 1):
        trail = 0.5 * smooth(1.4, 0.3, abs(y - slope * x - start) / np.hypot(1, slope))
        frame = 1 - np.exp(-1.3 * (field + trail)) + 0.05
        for _ in range(7):
            ry, rx = random.integers(height - 4), random.integers(width - 4)
            frame[ry:ry + random.integers(1, 4), rx] = 0.95
        save(folder, f"frame-{number}", frame + random.normal(0, 0.030, frame.shape))


def main():
    folder = sys.argv[1]
    for name, picture in (("landscape", landscape), ("scan", scan), ("cells", cells), ("sky", sky)):
        save(folder, name, picture())
    exposures(folder)


if __name__ == "__main__":
    main()
