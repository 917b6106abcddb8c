"""Every part of a file is accounted for: files of every format, composed here byte by byte with known and made-up parts
at every place where they may be, are converted to every format. The result holds the part, or a warning names it and
--strict exits with 1. PARTS=10000 sets the number of files.

To add a format, write a class with these members and put it into FORMATS:
    suffix      of its files, and the name for --format; None as `writes` if gpuimg only reads it
    parts(rng)  a list of random Part, in an order in which the file may have them
    make(parts) the file
    items(data) the set of what a file holds, as tuples: (format, key, bytes) for what only this format has, and for all
                formats ("text", keyword, text), ("icc", bytes), ("exif", bytes), ("xmp", bytes), ("dpi", x, y),
                ("density", x, y) without a unit
Each Part has the item that an output may hold (None: no output may hold it) and the words that name it.

Sources: imgio/parts* imgio/losses* imgio/png/png_parts* cli/commands/info_parts*
"""
import collections
import json
import os
import random
import re
import struct
import zlib

from _common import Checks, SEED, png_chunk as chunk

# `item`: what an output may hold; `name`: what a warning calls it; `bytes`, `place`: for the format's make().
Part = collections.namedtuple("Part", "item name bytes place silent", defaults=(None, 0, False))
# A part that is `silent` may disappear without a word.

c = Checks()
os.chdir(c.folder.name)
ROWS, COLUMNS = 3, 4


def junk(rng, most=40):
    return rng.randbytes(rng.randrange(most))


class Png:
    suffix = writes = "png"
    # Safe to copy: the fourth letter is small (PNG, third edition, 5.4).
    known = b"oFFs gIFg gIFx fRAc vpAg caNv mDCv cLLi".split()
    unsafe = b"tIME hIST sPLT pCAL sCAL dSIG caBX iDOT sTER".split()

    def parts(self, rng):
        made = []
        for _ in range(rng.randrange(6)):
            place = rng.randrange(2)
            roll = rng.randrange(8)
            if roll < 2:
                kind = rng.choice(self.known)
            elif roll < 4:
                kind = rng.choice(self.unsafe)
            else:
                kind = bytes([rng.choice(b"abcdxyz"), rng.choice(b"bcxBCX"), rng.choice(b"BCX"), rng.choice(b"abcABC")])
            data = junk(rng)
            safe = kind[3] & 32
            made.append(Part(("png", kind, data, place) if safe else None, f"chunk {kind.decode()}",
                             chunk(kind, data), place))
        if rng.random() < 0.3:
            bits = bytes(rng.randrange(1, 9) for _ in range(3))
            made.append(Part(("png", b"sBIT", bits, 0), "chunk sBIT", chunk(b"sBIT", bits), 0))
        if rng.random() < 0.3:
            colour = struct.pack(">HHH", *(rng.randrange(256) for _ in range(3)))
            made.append(Part(("png", b"bKGD", colour, 0), "chunk bKGD", chunk(b"bKGD", colour), 0))
        if rng.random() < 0.3:
            x, y = rng.randrange(2, 99), rng.randrange(2, 99)
            made.append(Part(("density", x, y), "the resolution", chunk(b"pHYs", struct.pack(">IIB", x, y, 0)), 0))
        if rng.random() < 0.2:
            n = rng.randrange(2, 9)
            made.append(Part(None, f"{n - 1} frame", chunk(b"acTL", struct.pack(">II", n, 0))
                             + chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, COLUMNS, ROWS, 0, 0, 1, 10, 0, 0)), 0))
        if rng.random() < 0.3:
            tail = b"x" + junk(rng)
            made.append(Part(None, f"{len(tail)} bytes after the end", tail, 2))
        return made

    def make(self, parts):
        raw = b"".join(b"\0" + bytes((y * 40 + x * 9) & 255 for x in range(3 * COLUMNS)) for y in range(ROWS))
        at = [b"".join(p.bytes for p in parts if p.place == i) for i in range(3)]
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", COLUMNS, ROWS, 8, 2, 0, 0, 0)) + at[0]
                + chunk(b"IDAT", zlib.compress(raw)) + at[1] + chunk(b"IEND", b"") + at[2])

    def items(self, data):
        at, place, found = 8, 0, set()
        while at < len(data):
            n, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + n]
            assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
            place = 1 if kind == b"IDAT" else place
            found.add(("png", kind, body, place))
            if kind == b"pHYs":
                x, y, unit = struct.unpack(">IIB", body)
                found.add(("dpi", round(x * 0.0254), round(y * 0.0254)) if unit else ("density", x, y))
            if kind == b"tEXt":
                found.add(("text",) + tuple(body.decode("latin-1").split("\0", 1)))
            at += 12 + n
        return found


class Other:
    """A format that is only written here, and of which nothing is read back."""

    def __init__(self, suffix):
        self.suffix = self.writes = suffix

    parts = None

    def items(self, data):
        return set()


def resolution(x, y, unit):
    return ("density", round(x), round(y)) if unit < 2 else ("dpi", round(x), round(y))


class Jpeg(Other):
    def items(self, data):
        unit, x, y = struct.unpack(">BHH", data[13:18])  # JFIF is first
        return {resolution(x, y, unit + 1)}


class Tiff(Other):
    def items(self, data):
        order = "<" if data[:2] == b"II" else ">"
        at, = struct.unpack(order + "I", data[4:8])
        n, = struct.unpack(order + "H", data[at:at + 2])
        tags = {}
        for i in range(n):
            tag, kind, count, value = struct.unpack(order + "HHI4s", data[at + 2 + 12 * i:at + 14 + 12 * i])
            tags[tag] = value
        if 282 not in tags:
            return set()
        x, y = (struct.unpack(order + "II", data[p:p + 8]) for p in
                (struct.unpack(order + "I", tags[t])[0] for t in (282, 283)))
        return {resolution(x[0] / x[1], y[0] / y[1], struct.unpack(order + "H", tags[296][:2])[0])}


FORMATS = [Png()]
OUTPUTS = FORMATS + [Jpeg("jpg"), Tiff("tiff")] + [Other(s) for s in "webp bmp ppm pam pfm tga hdr npy".split()]


def convert(names, output, *more):
    """Inverts the files into out/. Returns the exit status, the warnings of each output, and the errors of each."""
    result = c.result("invert", *names, "--out-dir", "out", "--format", output, "--device", "cpu", "--report", "r.jsonl",
                      *more)
    warnings = collections.defaultdict(str)
    for line in result.stderr.splitlines():
        found = re.search(r"(?:out/|\b)(f\d+)\.", line)
        warnings[found.group(1) if found else "further"] += line + "\n"
    errors = {}
    for line in open("r.jsonl", encoding="utf-8"):
        record = json.loads(line)
        if record.get("error"):
            errors[record["input"].split(".")[0]] = record["error"]
    os.remove("r.jsonl")
    return result.returncode, warnings, errors


def test(files, output):
    """Converts all files to one format, and then again with --strict. A batch prints a warning that is like an earlier
    one only as a number, so the names are in the errors of --strict."""
    names = [name for name, _, _ in files]
    status, warnings, _ = convert(names, output.writes)
    c.check(f"to {output.writes}: exit status", status == 0, str(dict(warnings))[:2000])
    made = {}
    for name in names:
        stem = name.split(".")[0]
        path = f"out/{stem}.{output.suffix}"
        made[name] = output.items(open(path, "rb").read()) if os.path.exists(path) else None
        c.check(f"{name} to {output.writes}: an output", made[name] is not None)
        if os.path.exists(path):
            os.remove(path)
    status, _, errors = convert(names, output.writes, "--strict")
    c.check(f"to {output.writes} --strict: exit status", status == (1 if errors else 0), status)
    for name, parts, _ in files:
        stem = name.split(".")[0]
        held, said, warned = made[name] or (), errors.get(stem, ""), warnings[stem]
        for part in parts:
            what = f"{name} to {output.writes}: {part.name}"
            named = part.name in said
            c.check(f"{what} is held or named", part.silent or part.item in held or named or " more" in said,
                    f"{said!r} {part}")
            c.check(f"{what} is not held and named", not (part.item in held and named), f"{said!r} {part}")
            c.check(f"{what} is in the warning", not named or part.name in warned or "only the first" in warned
                    or warnings["further"], warned)
        path = f"out/{stem}.{output.suffix}"
        c.check(f"{name} to {output.writes} --strict: no output after an error", os.path.exists(path) != bool(said), said)
        c.check(f"{name} to {output.writes}: no warning without a loss", said or not warned, warned)
        if os.path.exists(path):
            os.remove(path)


def test_info(files):
    """info names every part that it does not use, and info --json lists it."""
    result = c.result("info", "--json", *(name for name, _, _ in files))
    c.check("info: exit status", result.returncode == 0, result.stderr)
    for line, (name, parts, _) in zip(result.stdout.splitlines(), files):
        names = " ".join(part["name"] for part in json.loads(line)["parts"])
        for part in parts:
            used = part.silent or part.item and part.item[0] in ("dpi", "density", "text", "icc", "exif", "xmp")
            c.check(f"info {name}: {part.name}", used or part.name in names, names)


def main():
    rng = random.Random(SEED)
    n = int(os.environ.get("PARTS", "60"))
    os.makedirs("out", exist_ok=True)
    for start in range(0, n, 100):
        files = []
        for i in range(start, min(n, start + 100)):
            kind = FORMATS[i % len(FORMATS)]
            parts = kind.parts(rng)
            name = f"f{i}.{kind.suffix}"
            with open(name, "wb") as f:
                f.write(kind.make(parts))
            files.append((name, parts, kind))
        for output in OUTPUTS:
            test(files, output)
        test_info(files)
        for name, _, _ in files:
            os.remove(name)
    c.end()


main()
