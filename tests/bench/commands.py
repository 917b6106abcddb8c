"""Times whole processes: gpuimg against other programs, --device auto against its choices, start-up, and PNG."""
import glob
import json
import math
import os
import random
import re
import shlex
import shutil
import statistics
import subprocess
import time

import opencv

SLOW_S = 1  # a command this long runs three times at most
FAST_S = 0.03  # one of n times less than this n times as often as asked for,
FAST_MOST = 10  # n up to this


# Programs that make the inputs, so that no file has features that only gpuimg writes, such as restart markers. rgb.jpg is
# 4:2:0, as most programs write it, and camera.jpg has the layout of a camera's JPEG, 4:2:2 of high quality.
MAKERS = {"rgb.jpg": "cjpeg -quality 90", "camera.jpg": "cjpeg -quality 95 -sample 2x1", "rgb.png": "pnmtopng", "small.png": "pnmtopng",
          "rgb.jxl": "cjxl -q 90 {i} {o}", "rgb.exr": "convert {i} {o}", "rgb.jp2": "opj_compress -r 12 -i {i} -o {o}",
          "rgb.heic": "vips copy {i} {o}", "gray.fits": "vips copy {i} {o}", "palette.png": "vips copy {i} {o}[palette]"}


def find(tool):
    return shutil.which(tool, path="/usr/bin:" + os.environ.get("PATH", ""))


def new_vips(bench):
    """Returns the words that call a current libvips, which pip installs, or the reason that there is none."""
    library = glob.glob(os.path.join(bench.build, "../vips/lib/python*/site-packages/pyvips_binary.libs/libvips-*.so*"))
    program = os.path.join(bench.build, "tests/bench/peer_vips")
    if not library:
        return "no build/vips: python3 -m venv build/vips && build/vips/bin/pip install pyvips-binary"
    return [program, library[0]] if os.path.exists(program) else "peer_vips is not built"


def python_peer(words, folder):
    """Returns the call of a function of python_peers.py, or the reason that there is none."""
    if opencv.MISSING:
        return opencv.MISSING
    try:
        import python_peers  # takes a second, so only for rows that need it
    except ImportError as missing:
        return str(missing)
    opencv.threads(len(os.sched_getaffinity(0)))
    return python_peers.call(words[0], words[1:], folder)


def discs(size):
    """Draws white discs with radii of 8 to 32 pixels, of which most touch others, as rows of samples."""
    rows, random_ = [bytearray(size) for _ in range(size)], random.Random(1)
    for _ in range(size * size // 3000):
        x, y, r = random_.randrange(size), random_.randrange(size), random_.randint(8, 32)
        for row in range(max(y - r, 0), min(y + r + 1, size)):
            half = math.isqrt(r * r - (row - y) ** 2)
            left, right = max(x - half, 0), min(x + half + 1, size)
            rows[row][left:right] = b"\xff" * (right - left)
    return rows


def page(size):
    """Draws lines of strokes as of letters, in words, which rise to the right by 2 degrees."""
    rows, random_ = [bytearray(b"\xff") * size for _ in range(size)], random.Random(1)
    for line in range(0, size + size // 28, 40):
        gap = 0
        for x in range(0, size, 6):
            gap = gap - 1 if gap else 3 * (random_.random() < 0.15)
            top, tall = line - round(x * math.tan(math.radians(2))), random_.choice((14, 14, 22))
            for row in range(max(top - tall, 0), min(top, size) if not gap else 0):
                rows[row][x:x + 3] = bytes(min(3, size - x))
    return rows


DRAWN = {"discs.pgm": discs, "page.pgm": page}


class Pictures:
    """Photograph-like inputs by name, made when they are first used (content.h describes them)."""

    def __init__(self, bench):
        self.bench = bench

    def pnm(self, size, channels):
        path = os.path.join(self.bench.folder, f"{size}-{channels}.pnm")
        if not os.path.exists(path):
            raw = path + ".raw"
            answer = self.bench.cpu.ask({"work": "threshold", "input": "photo", "width": size, "height": size,
                                         "channels": channels, "runs": 1, "save": raw})
            if "error" in answer:
                raise RuntimeError(answer["error"])
            with open(path, "wb") as out, open(raw, "rb") as samples:
                out.write(b"P%d\n%d %d\n255\n" % (5 if channels == 1 else 6, size, size))
                shutil.copyfileobj(samples, out, 1 << 20)
            os.remove(raw)
        return path

    def changed(self, source, size, channels):
        """Returns the path of a copy in which a square of 1 % of the pixels is inverted."""
        path = source.removesuffix(".pnm") + "-changed.pnm"
        if not os.path.exists(path):
            with open(source, "rb") as f:
                data = bytearray(f.read())
            side, start = size // 10, len(data) - size * size * channels
            for y in range(side, 2 * side):
                at = start + (y * size + side) * channels
                data[at:at + side * channels] = bytes(255 - v for v in data[at:at + side * channels])
            with open(path, "wb") as f:
                f.write(data)
        return path

    def moved(self, size):
        """Returns the path of a copy of gray.pgm that is moved by 13 pixels to the right and 7 down, around the sides."""
        path = os.path.join(self.bench.folder, f"{size}-moved.pgm")
        with open(self.pnm(size, 1), "rb") as f, open(path, "wb") as out:
            data, by = f.read(), 7 * size + 13
            start = len(data) - size * size
            out.write(data[:start] + data[-by:] + data[start:-by])
        return path

    def drawn(self, name, size):
        path = os.path.join(self.bench.folder, f"{size}-{name}")
        if not os.path.exists(path):
            with open(path, "wb") as out:
                out.write(b"P5\n%d %d\n255\n" % (size, size) + b"".join(DRAWN[name](size)))
        return path

    def get(self, name, size, changed=False):
        """Returns the path of gray.pgm, rgb.ppm or a file of DRAWN or MAKERS; small.png is 512 x 512. `changed` asks for changed()."""
        if name in DRAWN:
            return self.drawn(name, size)
        if name.startswith("small"):
            size = min(512, size)
        channels = 1 if name.startswith("gray") else 3
        source = self.pnm(size, channels)
        source = self.changed(source, size, channels) if changed else source
        if name.endswith((".pgm", ".ppm")):
            return source
        path = os.path.join(self.bench.folder, f"{size}-{'changed-' * changed}{name}")
        if not os.path.exists(path):
            words = MAKERS[name].split()
            if not find(words[0]):
                raise RuntimeError(f"{words[0]} is not installed, which makes {name}")
            if "{o}" in MAKERS[name]:
                words = words_of(MAKERS[name], source, path)
                if run([find(words[0]), *words[1:]], self.bench.folder)[2]:
                    raise RuntimeError(f"{words[0]} here does not write {name}")
                return path
            with open(path, "wb") as out:
                subprocess.run([find(words[0]), *words[1:], source], stdout=out, stderr=subprocess.DEVNULL, check=True)
        return path


def run(words, folder):
    """Runs a command, or calls a function. Returns the seconds of one run, the CPU seconds of its threads, and an error or None."""
    start, fault = time.perf_counter(), None
    if callable(words):
        before = time.process_time()
        try:
            words()
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"[:120]
        return time.perf_counter() - start, time.process_time() - before, fault
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               cwd=folder)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        fault = f"status {process.returncode}: {said.decode(errors='replace').strip()[:120]}"
    return seconds, usage.ru_utime + usage.ru_stime, fault


def how_often(seconds, runs):
    return min(runs, 3) if seconds > SLOW_S else runs * max(1, min(FAST_MOST, int(FAST_S / seconds)))


def interleave(commands, runs, folder):
    """Runs {name: words} in turn after one warm-up each, every other time in reverse, so that no program always
    follows the same one. Returns {name: seconds} and {name: error}."""
    times, failed, left = {}, {}, {}
    for name, words in commands.items():
        seconds, _, fault = run(words, folder)
        if fault:
            failed[name] = fault
        else:
            left[name], times[name] = how_often(seconds, runs), []
    for i in range(max(left.values(), default=0)):
        for name in list(left)[::-1 if i % 2 else 1]:
            if i < left[name]:
                *seconds, fault = run(commands[name], folder)
                times[name].append(seconds)
                if fault:
                    failed[name] = fault
    return {name: {"median": statistics.median(wall), "min": min(wall), "runs": len(t), "cpu_s": statistics.median(cpu)}
            for name, t in times.items() for wall, cpu in [list(zip(*t))]}, failed


def words_of(template, source, output):
    return [w.replace("{i}", source).replace("{o}", output) for w in shlex.split(template)]


def written(words, folder, output):
    """Returns the size of the coded image that a command writes, or None if it writes none."""
    if not output.endswith((".jpg", ".png")):
        return None
    run(words, folder)
    return os.path.getsize(os.path.join(folder, output))


def command_row(bench, spec, row, size):
    try:
        source = bench.pictures.get(row["in"], size)
    except RuntimeError as missing:
        return {"table": "commands", "name": row["name"], "size": size, "skipped": str(missing)}
    peers = spec[row["peers"]] if isinstance(row["peers"], str) else row["peers"]
    copies = {"{c}": lambda: bench.pictures.get(row["in"], size, True), "{m}": lambda: bench.pictures.moved(size)}
    for mark, copy in copies.items():
        if mark in row["gpuimg"]:
            path = copy()
            row = {**row, "gpuimg": row["gpuimg"].replace(mark, path)}
            peers = {name: template.replace(mark, path) for name, template in peers.items()}
    commands, absent = {"gpuimg": [bench.gpuimg] + words_of(row["gpuimg"], source, row["out"])}, {}
    for name, template in peers.items():
        words = words_of(template, source, row["out"])
        tool = new_vips(bench) if words[0] == "peer_vips" else find(words[0])
        if words[0] == "peer_python":
            tool = python_peer(words[1:], bench.folder)
            (commands if callable(tool) else absent)[name] = tool
        elif isinstance(tool, list):
            commands[name] = tool + words[1:]
        elif words[0] == "peer_vips":
            absent[name] = tool
        elif tool:
            commands[name] = [tool] + words[1:]
        else:
            absent[name] = f"{words[0]} is not installed"
    times, failed = interleave(commands, bench.runs, bench.folder)
    result = {"table": "commands", "name": row["name"], "size": size, "times": times, "failed": {**absent, **failed}}
    result["bytes"] = {name: written(words, bench.folder, row["out"]) for name, words in commands.items() if name in times}
    if "gpuimg" not in times:
        return {**result, "skipped": failed["gpuimg"]}
    ours = times["gpuimg"]["median"]
    result.update(s=ours, ratios={name: ours / t["median"] for name, t in times.items() if name != "gpuimg"})
    if "target_ratio" in row:
        result.update(target_ratio=row["target_ratio"], target_s=row["target_s"])
        ratio = result["ratios"].get(spec["against"])
        if ratio and size == spec["size"]:
            result["met"] = ratio <= row["target_ratio"]
    return result


def write_tables(folder):
    with open(os.path.join(folder, "ones.mat"), "w") as f:
        f.write("5 5 25 0\n" + "1 1 1 1 1\n" * 5)
    with open(os.path.join(folder, "any.mat"), "w") as f:
        f.write("5 5 35 0\n1 2 1 2 1\n2 1 3 1 0\n1 3 2 1 1\n0 1 1 3 2\n1 1 1 1 2\n")
    with open(os.path.join(folder, "any15.txt"), "w") as f:
        f.writelines(" ".join(str((7 * x + 5 * y + x * y) % 11 + 1) for x in range(15)) + "\n" for y in range(15))
    with open(os.path.join(folder, "template.pgm"), "wb") as f:
        f.write(b"P5 64 64 255\n" + random.Random(1).randbytes(64 * 64))
    with open(os.path.join(folder, "points.csv"), "w") as f:
        f.write("x,y,value\n")
        f.writelines(f"{i * 40503 % 4096},{i * 30011 % 4093},{i % 256}\n" for i in range(65536))
    with open(os.path.join(folder, "look.cube"), "w") as f:
        f.write("LUT_3D_SIZE 33\n")
        f.writelines(f"{(r / 32) ** 0.9:.6f} {g / 32:.6f} {(b / 32) ** 1.1:.6f}\n" for b in range(33) for g in range(33) for r in range(33))


def commands(bench, table):
    spec, size = table["commands"], bench.size or table["commands"]["size"]
    rows = [row for row in spec["rows"] if bench.wants(row)]
    if bench.cpu.missing:
        return [{"table": "commands", "name": r["name"], "size": size, "skipped": bench.cpu.missing} for r in rows]
    return [bench.note(command_row(bench, spec, row, size)) for row in rows]


def png(bench, table):
    """Sums over all files, so that the ratio is that of the whole set."""
    spec, size = table["png"], bench.size or table["png"]["size"]
    program = os.path.join(bench.build, "tests/bench/bench_png")
    rows = [row for row in spec["rows"] if bench.wants(row)]
    missing = bench.cpu.missing or (None if os.path.exists(program) else "bench_png is not built")
    missing = missing or (None if bench.photographs or find("pnmtopng") else "pnmtopng is not installed")
    if missing:
        return [{"table": "png", "name": row["name"], "skipped": missing} for row in rows]
    files = sorted(glob.glob(os.path.join(bench.photographs, "*.png"))) if bench.photographs else []
    files = files or [bench.pictures.get("rgb.png", size)]
    said = subprocess.run([program, str(bench.runs), os.path.join(bench.folder, "o.png")] + files,
                          capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in said.splitlines()]
    good = [a for a in answers if "error" not in a]
    results = []
    for row in rows:
        a, b = ([min(v) if isinstance(v, list) else v for v in (g[key] for g in good)] for key in row["of"])
        result = {"table": "png", "name": row["name"], "files": len(good),
                  "of": "photographs" if bench.photographs else "generated picture",
                  "failed": {os.path.basename(f["file"]): f["error"] for f in answers if "error" in f}}
        if not good:
            result["skipped"] = "no file could be read"
        else:
            each = [x / y for x, y in zip(a, b)]
            result.update(ratio=sum(a) / sum(b), least=min(each), most=max(each))
        for key in ("at_least", "at_most"):
            if key in row:
                result[key] = row[key]
                if good and (bench.photographs or size == spec["size"]):
                    result["met"] = result["ratio"] >= row[key] if key == "at_least" else result["ratio"] <= row[key]
        results.append(bench.note(result))
    return results


def cuda_missing(bench):
    """Returns why gpuimg cannot use CUDA here, or None."""
    said = subprocess.run([bench.gpuimg, "devices"], capture_output=True, text=True).stdout
    lines = [line for line in said.splitlines() if line.startswith("cuda")]
    return " ".join(lines[0].split()[1:]) if lines and " none" in lines[0] else None if lines else "built without CUDA"


def auto_row(bench, row, size, limit, missing):
    source = bench.pictures.get("gray.pgm", size)
    words = [bench.gpuimg] + words_of(row["gpuimg"], source, row["out"])
    devices = ["cpu", "auto"] if missing else ["cpu", "cuda", "auto"]
    times, failed = interleave({d: words + ["--device", d] for d in devices}, bench.runs, bench.folder)
    said = subprocess.run(words + ["-v", "--device", "auto"], capture_output=True, text=True, cwd=bench.folder).stderr
    took = re.search(r"device (cpu|cuda)", said)
    result = {"table": "auto", "name": row["name"], "size": size, "times": times, "failed": failed, "at_most": limit,
              "took": took.group(1) if took else None, "no_cuda": missing}
    if "auto" not in times or "cpu" not in times:
        return {**result, "skipped": "; ".join(failed.values())}
    best = min(t["median"] for d, t in times.items() if d != "auto")
    ratio = times["auto"]["median"] / best
    result.update(ratio=ratio)
    if not missing:
        result["met"] = ratio <= limit
    return result


def auto(bench, table):
    spec, missing = table["auto"], cuda_missing(bench)
    if bench.cpu.missing:
        return [{"table": "auto", "name": r["name"], "size": s, "skipped": bench.cpu.missing}
                for s in bench.sizes for r in spec["rows"]]
    bench.cuda.close()  # an open context may make the next one cheaper
    return [bench.note(auto_row(bench, row, size, spec["at_most"], missing))
            for size in bench.sizes for row in spec["rows"] if bench.wants(row)]


def startup(bench, table):
    """Compares an empty CUDA program with gpuimg --device cuda on one small PNG."""
    spec = table["startup"]
    empty = os.path.join(bench.build, "tests/bench/empty")
    result = {"table": "startup", "name": "gaussian --device cuda, 512^2 RGB PNG, over an empty CUDA program",
              "at_most": spec["at_most"]}
    missing = bench.cpu.missing or cuda_missing(bench) or (None if os.path.exists(empty) else "empty is not built")
    missing = missing or (None if find("pnmtopng") else "pnmtopng is not installed")
    if missing:
        return [{**result, "skipped": missing}]
    words = [bench.gpuimg] + words_of(spec["gpuimg"], bench.pictures.get("small.png", spec["size"]), "o.png")
    bench.cuda.close()
    times, failed = interleave({"empty": [empty], "cuda": words + ["--device", "cuda"],
                                "cpu": words + ["--device", "cpu"]}, bench.runs, bench.folder)
    result.update(times=times, failed=failed)
    if "empty" not in times or "cuda" not in times:
        return [bench.note({**result, "skipped": "; ".join(failed.values())})]
    ratio = times["cuda"]["median"] / times["empty"]["median"]
    return [bench.note({**result, "ratio": ratio, "met": ratio <= spec["at_most"]})]
