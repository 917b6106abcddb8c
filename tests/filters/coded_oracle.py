"""Batches of whole and damaged JPEGs that reach the chain as coded scans get the answer of libjpeg-turbo: exit status,
messages, report and output files. A GPU decodes them if there is one; the CPU is forced to.
GPUIMG_TEST_JPEGS=2000 damages half as many files.

Sources: imgio/jpeg/jpeg_coded.c cli/run/imaging* cli/run/session* codec filters/coded.c
"""
import json
import os
import re

from _common import Checks, np, write

c = Checks()
COUNT = int(os.environ.get("GPUIMG_TEST_JPEGS", "120")) // 2


def photo(width, height, noise):
    """Smooth shapes, an edge, and noise; without noise there are areas of one colour."""
    y, x = np.mgrid[:height, :width]
    planes = [128 + (60 * np.sin(x / 23.0 + k) + 50 * np.cos(y / 17.0 - k)) * (x > 20) + 12 * (x > y) for k in range(3)]
    image = np.stack(planes, axis=2) + c.rng.normal(0, 1, (height, width, 3)) * noise
    return np.clip(image, 0, 255).astype(np.uint8)


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


def damage(data, kind):
    """Returns the bytes with changed bits, changed bytes, a gap, a repetition, a cut or a marker inside."""
    data = bytearray(data)
    first = 2 if kind % 12 > 9 else data.find(b"\xff\xda")
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


def test_answers():
    files, whole = [], whole_files()
    for i in range(COUNT):
        files.append(c.path(f"{i}.jpg"))
        data = whole[int(c.rng.integers(len(whole)))]
        open(files[-1], "wb").write(data if i % 10 == 9 else with_large_steps(data) if i % 10 == 8 else damage(data, i))
    backends = [("forced", "cpu", "cpu/jpeg_decode:sequential")]
    if c.result("invert", c.path("made0.jpg"), c.path("try.png"), "--device", "cuda").returncode == 0:
        backends.append(("cuda", "cuda", None))
    else:
        c.skip("no CUDA device")
    for chain in (("invert",), ("resize", "--size", "50x40", "--fast")):
        want = answer(f"plain-{chain[0]}", files, "cpu", None, *chain)
        for name, device, way in backends:
            compare(f"{name}, {chain[0]}", want, answer(f"{name}-{chain[0]}", files, device, way, *chain))
        print(f"{chain[0]}: {len(want[3])} of {len(files)} files are readable")


test_answers()
c.end()
