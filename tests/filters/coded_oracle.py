"""Batches of whole and damaged JPEGs and PNGs that reach the chain as coded scans get the answer of imgio: exit status,
messages, report and output files. A GPU decodes them if there is one; the CPU is forced to.
GPUIMG_TEST_JPEGS=2000 damages half as many files of each kind.

Sources: imgio/jpeg/jpeg_coded.c imgio/png/png_coded.c cli/run/imaging* cli/run/session* codec filters/coded.c
"""
import json
import os
import re
import struct
import zlib

from _common import Checks, np, write

c = Checks()
COUNT = int(os.environ.get("GPUIMG_TEST_JPEGS", "120")) // 2


def photo(width, height, noise):
    """Smooth shapes, an edge, and noise; without noise there are areas of one colour."""
    y, x = np.mgrid[:height, :width]
    planes = [128 + (60 * np.sin(x / 23.0 + k) + 50 * np.cos(y / 17.0 - k)) * (x > 20) + 12 * (x > y) for k in range(3)]
    image = np.stack(planes, axis=2) + c.rng.normal(0, 1, (height, width, 3)) * noise
    return np.clip(image, 0, 255).astype(np.uint8)


def whole_pngs():
    """PNGs of several sizes, types and compressions."""
    files = []
    for i in range(12):
        source = c.path("in.ppm")
        write(source, photo(*(int(n) for n in c.rng.integers(1, 200, 2)), (0, 3, 12)[i % 3]))
        out = c.path(f"made{i}.png")
        c.run("convert", source, out, "--compression", c.rng.integers(0, 10), *((), ("--gray",), ("--depth", 16))[i // 3 % 3])
        files.append(open(out, "rb").read())
    return files


def chunks_of(data):
    """Returns the chunks of a PNG as pairs of type and data."""
    chunks, at = [], 8
    while at < len(data):
        n, = struct.unpack(">I", data[at:at + 4])
        chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + n]))
        at += n + 12
    return chunks


def damage_png(data, kind):
    """Returns the PNG with a damaged stream, in chunks with right checksums. One in four ends in the right sum of its rows."""
    chunks = chunks_of(data)
    stream = damage(b"".join(d for name, d in chunks if name == b"IDAT"), 12 * (kind // 12) + kind % 10, 0)
    if kind % 4 == 0:
        rows = zlib.decompressobj(-15)
        try:
            raw = rows.decompress(stream[2:])
            stream = stream[:len(stream) - len(rows.unused_data)] + struct.pack(">I", zlib.adler32(raw))
        except zlib.error:
            pass
    n = int(c.rng.integers(1, len(stream) + 2))
    pixels = [(b"IDAT", stream[i:i + n]) for i in range(0, len(stream), n)]
    at = next(i for i, (name, d) in enumerate(chunks) if name == b"IDAT")
    chunks = chunks[:at] + pixels + [chunk for chunk in chunks[at:] if chunk[0] != b"IDAT"]
    return data[:8] + b"".join(struct.pack(">I", len(d)) + name + d + struct.pack(">I", zlib.crc32(name + d)) for name, d in chunks)


def whole_files():
    """JPEGs of several sizes and qualities, gray and in colour; gpuimg halves colour below quality 90."""
    files = []
    for i in range(24):
        source = c.path("in.ppm")
        write(source, photo(*(int(n) for n in c.rng.integers(1, 200 if i % 4 else 700, 2)), (0, 3, 12)[i % 3]))
        out = c.path(f"made{i}.jpg")
        c.run("convert", source, out, "--quality", c.rng.integers(1, 101), *(("--gray",) if i % 5 == 0 else ()))
        files.append(open(out, "rb").read())
    return files


def with_large_steps(data):
    """Returns the JPEG with random large quantization steps. Its values leave 16 bits, so only libjpeg-turbo decodes it."""
    data, at = bytearray(data), data.find(b"\xff\xdb")
    while at >= 0:
        data[at + 5:at + 69] = c.rng.integers(128, 256, 64, dtype=np.uint8).tobytes()
        at = data.find(b"\xff\xdb", at + 69)
    return bytes(data)


def damage(data, kind, first):
    """Returns the bytes with changed bits, changed bytes, a gap, a repetition, a cut or a marker inside, from `first` on."""
    data = bytearray(data)
    at = int(c.rng.integers(first, len(data)))
    n = int(c.rng.integers(1, 6))
    if kind % 6 == 0:
        data[at] ^= 1 << n
    elif kind % 6 == 1:
        for i in c.rng.integers(first, len(data), n):
            data[i] = int(c.rng.integers(256))
    elif kind % 6 == 2:
        del data[at:at + n]
    elif kind % 6 == 3:
        data[at:at] = data[at:at + n]
    elif kind % 6 == 4:
        del data[at:]
    else:
        data[at:at] = bytes([0xff, int(c.rng.integers(0xc0, 256))])
    return bytes(data)


def answer(name, files, device, way, *chain):
    """Returns what a batch gives: status, sorted messages, report lines by input, output bytes by name."""
    out, report = c.path(f"out-{name}"), c.path(f"{name}.jsonl")
    if way:
        os.environ["GPUIMG_WAY"] = way
    made = c.result(*chain, *files, "--out-dir", out, "--report", report, "--format", "png", "--device", device)
    os.environ.pop("GPUIMG_WAY", None)
    lines = {}
    for line in map(json.loads, open(report)):
        if "input" in line:
            lines[line["input"]] = {k: v for k, v in line.items() if k in ("status", "error", "width", "height", "channels")}
    outputs = {f: open(os.path.join(out, f), "rb").read() for f in os.listdir(out)} if os.path.isdir(out) else {}
    # A warning that occurs several times names the file that came first.
    messages = sorted(re.sub(r"^(gpuimg: warning: \w+: )\S+: ", r"\1", line.replace(out, "out")) for line in made.stderr.splitlines())
    return made.returncode, messages, lines, outputs


def compare(name, want, got):
    c.check(f"{name}: exit status", want[0] == got[0], f"{got[0]}, want {want[0]}")
    c.check(f"{name}: messages", want[1] == got[1],
            f"{sorted(set(got[1]) - set(want[1]))[:3]}, want {sorted(set(want[1]) - set(got[1]))[:3]}")
    c.check(f"{name}: inputs of the report", want[2].keys() == got[2].keys())
    for file, line in want[2].items():
        c.check(f"{name}: {os.path.basename(file)}", line == got[2].get(file), f"{got[2].get(file)}, want {line}")
    c.check(f"{name}: names of outputs", want[3].keys() == got[3].keys(),
            f"{sorted(want[3].keys() ^ got[3].keys())[:5]}")
    for file, data in want[3].items():
        c.check(f"{name}: output {file}", data == got[3].get(file), "differs")


def damaged_files(kind):
    """Returns the paths of whole and damaged files."""
    files, whole = [], whole_files() if kind == "jpeg" else whole_pngs()
    for i in range(COUNT):
        files.append(c.path(f"{i}.{kind}"))
        data = whole[int(c.rng.integers(len(whole)))]
        if i % 10 == 8 and kind == "jpeg":
            data = with_large_steps(data)
        elif i % 10 != 9 and kind == "jpeg":
            data = damage(data, i, 2 if i % 12 > 9 else data.find(b"\xff\xda"))
        elif i % 10 != 9:
            data = damage_png(data, i)
        open(files[-1], "wb").write(data)
    return files


def test_answers(kind):
    files = damaged_files(kind)
    backends = [("forced", "cpu", f"cpu/{kind}_decode:sequential")]
    if c.result("invert", files[9], c.path("try.png"), "--device", "cuda").returncode == 0:
        backends.append(("cuda", "cuda", None))
    else:
        c.skip("no CUDA device")
    for chain in (("invert",), ("resize", "--size", "50x40", "--fast")):
        want = answer(f"plain-{kind}-{chain[0]}", files, "cpu", None, *chain)
        for name, device, way in backends:
            compare(f"{name}, {kind}, {chain[0]}", want, answer(f"{name}-{kind}-{chain[0]}", files, device, way, *chain))
        print(f"{kind}, {chain[0]}: {len(want[3])} of {len(files)} files are readable")


test_answers("jpeg")
test_answers("png")
c.end()
