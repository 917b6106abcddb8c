"""Reads the tables of tests/bench/results: times of operations, and plots of the comparisons with other programs."""
import html
import math
import pathlib
import re

RESULTS = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "tests" / "bench" / "results"

# The row of the table "Types" of each operation, by its beginning.
ROWS = {"blur": "box", "gaussian": "Gaussian", "convolve": "convolve", "edges": "Sobel magnitude", "erode": "erode", "dilate": "erode",
        "tophat": "top-hat", "background": "rolling ball", "median": "median", "rank": "rank", "mode": "mode", "midpoint": "midpoint",
        "bilateral": "bilateral", "nlmeans": "non-local means", "threshold": "threshold", "local-threshold": ("local mean", "Sauvola"),
        "levels": "levels", "gamma": "gamma", "equalize": "equalize", "normalize": "normalize", "match": "match", "clahe": "CLAHE",
        "invert": "invert", "quantize": "quantize", "resize": "resize", "rotate": "rotate", "perspective": "perspective",
        "warp-polar": "polar", "remap": "remap", "flip": "flip", "transpose": "transpose", "shift": "shift", "add": "add an image",
        "multiply": "multiply", "divide": "divide", "absdiff": "absdiff", "blend": "blend", "composite": "composite", "mask": "mask",
        "histogram": "histogram", "stats": "statistics", "integral": "integral", "extract": "connected components", "fill-holes": "fill holes"}

# Plots: file, heading before the table, unit, columns of the table, their names, and words that a row must have.
PLOTS = (("*two-cores-commands.md", "Whole commands", "seconds", ("gpuimg", "vips", "vips by pip", "gm", "ImageMagick"),
          ("gpuimg", "vips 8.14", "vips 8.18", "GraphicsMagick", "ImageMagick"), ""),
         ("*-h200.md", "CUDA kernels", "microseconds", ("us", "peers us", "floor us"), ("gpuimg", "fastest of NPP, CUB, thrust, cuBLAS", "floor"), "peer"),
         ("*two-cores.md", "Beside OpenCV", "microseconds", ("AVX-512", "OpenCV"), ("gpuimg", "OpenCV"), ""),
         ("*h100-codecs.md", "Peers", "images per second", ("gpuimg cuda", "nvJPEG, decoder unit", "libjpeg-turbo", "OpenCV"),
          ("gpuimg on the GPU", "nvJPEG", "libjpeg-turbo", "OpenCV"), ""),
         ("*h100-codecs.md", "libvips", "images per second", ("gpuimg cuda", "gpuimg cpu", "vips"), ("gpuimg on the GPU", "gpuimg on the CPU", "vips"), ""))


class Table:
    def __init__(self, path, heading, note, columns, rows):
        self.path, self.heading, self.note, self.columns, self.rows = path, heading, note, columns, rows


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def tables(path):
    """Yields the tables of a page with the heading above them and the paragraph between."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heading, note = "", []
    for at, line in enumerate(lines):
        if line.startswith("#"):
            heading, note = line.lstrip("# "), []
        elif re.fullmatch(r"\|[-|: ]+\|", line):
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("|")), len(lines))
            yield Table(path, heading, " ".join(note), cells(lines[at - 1]), [cells(row) for row in lines[at + 1:end]])
            note = []
        elif not line.startswith("|"):
            note.append(line)


def newest(pattern):
    """Returns the newest page whose name matches."""
    return max(RESULTS.glob(pattern), default=None, key=lambda p: p.name)


def number(text, smallest=False):
    """Returns the first number in a cell, or the smallest of those behind a name ("NPP 12, CUB 14"), or None."""
    found = [float(n.replace(",", "")) for n in re.findall(r"(?<![\w^.])\d[\d,]*\.?\d*", text.replace("**", "")) if n.strip(",")]
    return (min(found) if smallest else found[0]) if found else None


def title(path):
    return path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")


def timings():
    """Returns {operation: [(work, CPU us per megapixel, GPU us per megapixel)]}, and the two pages."""
    pages, columns = {}, {}
    for path in sorted(RESULTS.glob("*.md")):
        for table in tables(path):
            if "u8 x 1, us" in table.columns and table.heading == "Types":
                side = "gpu" if table.columns[0] == "on" else "cpu"
                size = re.search(r"(\d+) x (\d+)", path.read_text(encoding="utf-8") if side == "gpu" else table.note)
                pixels = int(size.group(1)) * int(size.group(2)) / 1e6
                work, us = table.columns.index("work"), table.columns.index("u8 x 1, us")
                columns[side] = {row[work]: number(row[us]) / pixels for row in table.rows if number(row[us])}
                pages[side] = path
    found = {}
    for operation, names in ROWS.items():
        for work, us in columns.get("cpu", {}).items():
            if work.startswith(names):
                found.setdefault(operation, []).append((work, us, columns.get("gpu", {}).get(work)))
    return found, pages


def axis(values, x):
    """Returns the lines of the powers of ten and their labels."""
    parts = []
    for power in range(math.ceil(math.log10(min(values)) - 0.05), math.floor(math.log10(max(values)) + 0.05) + 1):
        at, label = x(10.0 ** power), f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}"
        anchor = "end" if at > 95 else "start" if at < 2 else "middle"
        parts.append(f'<line class="tick" x1="{at:.1f}%" x2="{at:.1f}%" y1="18" y2="100%"/>'
                     f'<text class="axis" x="{at:.1f}%" y="12" text-anchor="{anchor}">{label}</text>')
    return "".join(parts)


def plot(rows, names, unit):
    """Returns an SVG: a line of dots per row, a dot per program, on a logarithmic axis. It has the width of the page."""
    values = [v for _, row in rows for v in row if v]
    low, high = math.log10(min(values)) - 0.05, math.log10(max(values)) + 0.05

    def x(value):
        return 1 + 98 * (math.log10(value) - low) / (high - low)
    parts, y = [axis(values, x)], 40
    for work, row in rows:
        points = [(x(v), v, i) for i, v in enumerate(row) if v]
        parts.append(f'<text x="0" y="{y}">{html.escape(work)}</text><line class="row" x1="{min(points)[0]:.1f}%" x2="{max(points)[0]:.1f}%" y1="{y + 13}" y2="{y + 13}"/>')
        for at, value, i in reversed(points):
            parts.append(f'<circle class="s{i}" cx="{at:.1f}%" cy="{y + 13}" r="{6 if i == 0 else 5}"><title>{html.escape(names[i])}: {value:,g} {unit}</title></circle>')
        y += 42
    return f'<svg class="plot" width="100%" height="{y - 14}" role="img" aria-label="{html.escape(", ".join(names))}: {unit}, on a logarithmic axis; the table below has the numbers">{"".join(parts)}</svg>'


def table_html(table, columns):
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(row[table.columns.index(c)].replace('**', ''))}</td>" for c in columns) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def plots():
    """Yields (title, note, legend, svg, table) of each entry of PLOTS whose page exists."""
    for pattern, heading, unit, columns, names, word in PLOTS:
        path = newest(pattern)
        table = next((t for t in tables(path) if t.heading == heading), None) if path else None
        if not table:
            continue
        rows = []
        for row in table.rows:
            values = [number(row[table.columns.index(c)], c.startswith("peers")) if c in table.columns else None for c in columns]
            if values[0] and sum(v is not None for v in values) > 1 and not (word and values[1] is None):
                rows.append((row[0], values))
        legend = "".join(f'<li><svg width="12" height="12" aria-hidden="true"><circle class="s{i}" cx="6" cy="6" r="5"/></svg> {html.escape(n)}</li>' for i, n in enumerate(names))
        legend += f"<li class=quiet>axis: {unit}</li>"
        yield title(path), table.note.strip(), legend, plot(rows, names, unit), table_html(table, [table.columns[0], *[c for c in columns if c in table.columns]]), path.name
