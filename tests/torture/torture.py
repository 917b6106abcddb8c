#!/usr/bin/env python3
"""Fault injection: runs every command while calls fail: memory, threads, reads, writes, renames, opens, and short or
interrupted transfers.

Usage: torture.py GPUIMG [--whole] [--only WORD] [--kind KIND]

Batches and tables are also run with older outputs in place, with each single open, reading of a folder (getdents), stat and
fstat, mmap and ftruncate failing (without --whole every second one): at exit status 75 a table is as it was. What writes
several files that belong together is also killed before each call that makes, links or moves a file: the next run gives the
right files and removes what was left.

The examples of each command's help and conversions into and out of each format run while the N-th call of each kind fails
(shim.c), for every N up to 1500 and some above with --whole, otherwise for a sample, of which neighbouring examples take
different thirds. Each run must exit 0 with the same files and output as without a fault, or not 0 with one message and every
file as it was before; and leave no temporary file.

Sources: cli imgio
"""

import argparse
import array
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

import many

SHIM_KINDS = ("nothing", "memory", "start", "read", "write", "move", *many.EACH, "short-read", "short-write", "interrupt", "kill")
KINDS = ("memory", "start", "read", "write", "move", *many.EACH, "short-read", "short-write", "interrupt")
HARMLESS = ("short-read", "short-write", "interrupt")  # these must change nothing
TABLES = (".csv", ".json", ".jsonl", ".npy", ".svg", ".txt", ".cube", ".yml")
SECONDS = 40  # a drawing has 20
# Loading fonts takes tens of thousands of allocations.
ALL = [*range(1, 1500), *range(1500, 100000, 97)]
SAMPLE = [1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1025, 2049, 4097]

# Commands whose output differs on each run, and replacements for examples that take long.
MOODY = ("devices", "bench", "selftest", "jobs")
SHORT = {"bench": "bench invert --size 16 --device cpu --threads 1", "selftest": "selftest invert --device cpu"}


# Known faults of libraries: part of the command line, kind, the failure. They count as skipped.
KNOWN = (
    (".tif", "memory", "died of signal 11", "libtiff 4.5 reads through NULL where TIFFReadDirectory() gets no memory"),
    (".tif", "memory", "died of signal 6", "libtiff 4.5 frees twice where a tag of bytes gets no memory"),
    ("--linear", "memory", "died of signal 11", "lcms2 2.14 reads through NULL where cmsOpenProfileFromMem() gets no memory"),
    ("list", "memory", "died of signal 6", "the loader calls C++ code of libjxl and OpenEXR, which ends the process without memory"),
    ("--tar", "memory", "died of signal 11", "libarchive 3.6 reads through NULL where archive_read_open() gets no memory"),
)


class Case:
    """A command line, the files before and after it, and its output."""

    def __init__(self, name, words, folder, stdin=b"", kinds=KINDS):
        self.name, self.words, self.folder, self.stdin, self.kinds = name, words, folder, stdin, kinds
        self.before, self.after, self.stdout = read_all(folder), None, None
        self.has_text = bool({"--plot", "--label", "--text", "--scale-bar", "--bar"}.intersection(words))  # whose font depends on files of the machine


def into(suffix, source, target, gray=False):
    """Returns the words of a command that writes a format, from pictures that the format can hold."""
    if suffix == "pbm":
        return ["threshold", "-q", source, target, "--at", "50%"]
    return ["convert", "-q", "--force", source, target, *(["--gray"] if gray or suffix == "pgm" else [])]


def read_all(folder):
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def floats(head, channels):
    """A file of 24 x 20 coordinates: X and Y interleaved, or one of them."""
    places = array.array("f", (v for y in range(20) for x in range(24) for v in ((x, y) if channels == 2 else (x,))))
    return head.encode("latin1") + places.tobytes()


def with_inks():
    """A CMYK TIFF of 4 x 4 pixels with its profile."""
    icc = pathlib.Path(__file__).with_name("..").joinpath("fuzz/seeds/icc/cmyk").read_bytes()[1:]
    tags = [(256, 4, 1, 4), (257, 4, 1, 4), (258, 3, 4, 72), (259, 3, 1, 1), (262, 3, 1, 5), (273, 4, 1, 8), (277, 3, 1, 4),
            (278, 4, 1, 4), (279, 4, 1, 64), (34675, 7, len(icc), 80)]
    return (struct.pack("<2sHI", b"II", 42, 80 + len(icc)) + bytes(range(0, 256, 4)) + struct.pack("<4H", 8, 8, 8, 8) + icc
            + struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4))


def chunk(kind, data):
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_metadata(seed="srgb"):
    """A PNG of 3 x 2 pixels with a profile of the fuzzer's seeds, EXIF, XMP, texts longer than a buffer, and a
    resolution."""
    profile = pathlib.Path(__file__).with_name("..").joinpath("fuzz/seeds/icc", seed).read_bytes()[1:]
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0\0\0\0\0"
    text = b"".join(chunk(b"tEXt", key + b"\0" + key * 900) for key in (b"Title", b"Description", b"Comment", b"Odd", b"Author"))
    xmp = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0))
            + chunk(b"iCCP", b"p\0\0" + zlib.compress(profile)) + chunk(b"pHYs", struct.pack(">IIB", 3000, 3000, 1))
            + chunk(b"eXIf", exif) + text + xmp + chunk(b"IDAT", zlib.compress(bytes(20))) + chunk(b"IEND", b""))


def npy(channels):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (20, 24, %d), }" % channels
    return floats("\x93NUMPY\x01\x00" + "\x76\x00" + head.ljust(117) + "\n", channels)


def png(pixels):
    """A gray PNG of 24 x 20 pixels."""
    rows = b"".join(b"\0" + pixels[y * 24:(y + 1) * 24] for y in range(20))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 24, 20, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# Points and regions in one table; a point has the form that extract --points writes.
PLACES = b"x,y,value,label,bbox_x,bbox_y,bbox_width,bbox_height\n3,4,200,1,5,6,24,20\n"
POINTS = "{'descr': [('x', '<u4'), ('y', '<u4'), ('value', '<f4')], 'fortran_order': False, 'shape': (1,), }"
POINT = b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + POINTS.ljust(117).encode() + b"\n" + struct.pack("<IIf", 3, 4, 200)

# Files of examples that are not pictures, by command and suffix; and folders.
CAMERA = b'{"camera_matrix": [[20, 0, 12], [0, 20, 10], [0, 0, 1]], "distortion_coefficients": [0.1, 0, 0, 0, 0]}'
CONTENT = {
    "affine": {".txt": b"1 0.1 0\n0 1 2\n"},
    "compare": {".png": png(bytes(480))},  # a mask that leaves out nothing
    "convolve": {".txt": b"0 1 0\n1 -4 1\n0 1 0\n"},
    "duplicates": {".csv": b"file,hash\na.png,f1b13f0e35e0184f\nb.png,f1b13f0e35e0184e\n"},
    "jobs": {".txt": b"# a line\nhelp blur\n"},
    "lut": {".cube": b"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n"},
    "match": {".csv": b"5\n" * 256},
    "mosaic": {".csv": b"file,x,y\n../base.ppm,0,0\n../base.ppm,20,-3\n"},
    "paste": {".csv": PLACES, ".npy": POINT},
    "perspective": {".txt": b"1 0.1 0\n0 1 2\n0 0 1\n"},
    "remap": {".npy": npy(2), ".pfm": floats("Pf\n24 20\n-1\n", 1)},
    "run": {".txt": b"blur --k 3 # and\n| threshold --at 50%\n"},
    "split": {".png": png(bytes(y // 10 + 1 for y in range(20) for x in range(24)))},
    "undistort": {".json": CAMERA, ".yml": CAMERA},
}
# Examples that need a large picture, or gray ones.
LARGE = ("crop photo.jpg part.png",)
GRAY = {"watershed": ("seeds.png",), "expand-labels": ("labels.png",), "run expand-labels": ("labels.png",),
        "channels join": ("red.png", "green.png", "blue.png", "before.png", "after.png"), "channels alpha": ("mask.png",), "mask": ("labels.png",),
        "extract green.tif": ("labels.png",), "contours labels.png": ("labels.png",),
        "colormap": ("gray.png", "depth16.png", "in.png", "field.tif", "scan.png")}
FOLDERS = {"before/", "after/", "crops/", "photos", "darks", "slices"}


def write_all(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in sorted(files.items()):
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)


class Torture:
    def __init__(self, program, shim, root):
        self.program, self.shim, self.root = program, shim, root
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GPUIMG_")}
        self.env.update(LC_ALL="C", GPUIMG_DEVICE="cpu")
        self.passed, self.skipped = 0, collections.Counter()
        self.failures = []
        pixels = bytes((x * 9 + y * 5 + c * 60 + (x // 6 + y // 5) % 2 * 70) % 256
                       for y in range(20) for x in range(24) for c in range(3))
        self.base = root / "base.ppm"
        self.base.write_bytes(b"P6 24 20 255\n" + pixels)
        self.large = root / "large.ppm"
        self.large.write_bytes(b"P6 640 480 255\n" + pixels * 640)
        text = subprocess.run([program, "list", "--json"], capture_output=True, check=True).stdout
        self.list = json.loads(text)
        self.formats = self.list["formats"]
        self.suffixes = {s: f for f in self.formats for s in f["suffixes"].split()}

    def run_plainly(self, words, folder):
        return subprocess.run([self.program, *words], cwd=folder, env=self.env, capture_output=True, check=True)

    def picture(self, path, line=""):
        """Writes a file of the format of its suffix, unless the format can't be written."""
        form = self.suffixes.get(path.suffix[1:])
        if not form or not form["writes"] or form["missing"]:
            return
        gray = any(line.startswith(head) and path.name in names for head, names in GRAY.items())
        base = self.large if line.startswith(LARGE) else self.base
        subprocess.run([self.program, *into(path.suffix[1:], base, path, gray)], check=True)

    def example(self, words, name):
        folder = self.root / name
        folder.mkdir()
        for word in words[1:]:
            for path in [folder / re.sub(r"\[.*\]$", "", w) for w in word.split() + [word]]:
                if path.name.startswith("-") or "/" in word or path.exists():
                    continue
                if path.name == "rgbn.tif":  # four bands
                    subprocess.run([self.program, "channels", self.base, path, "--order", "rgbo"], check=True)
                elif path.suffix[1:] in self.suffixes:
                    self.picture(path, " ".join(words))
                elif path.suffix in TABLES:
                    path.write_bytes(b"old\n")
        for path in folder.iterdir():
            if path.suffix in CONTENT.get(words[0], {}):
                path.write_bytes(CONTENT[words[0]][path.suffix])
        for name in FOLDERS.intersection(words):
            (folder / name).mkdir()
            self.picture(folder / name / "region-000001.png")
        return Case(" ".join(words), words, folder)

    def examples(self):
        for command in self.list["commands"]:
            text = subprocess.run([self.program, "help", command], capture_output=True, text=True, check=True).stdout
            lines = [line.strip() for line in text.splitlines() if line.startswith("  gpuimg ")]
            lines = ["gpuimg " + SHORT[command]] if command in SHORT else lines
            for i, line in enumerate(lines):
                try:
                    words = shlex.split(line)[1:]
                except ValueError:
                    continue
                if any(w in ("|", "&&", "<") or "*" in w or "$(" in w for w in words):
                    continue
                cut = [n for n, w in enumerate(words) if w.startswith(">")]
                yield self.example(words[: cut[0]] if cut else words, f"{command}-{i}")

    def conversions(self):
        big = b"P5 1100 1000 255\n" + bytes(range(250)) * 4400  # over a megabyte: mapped
        for form in self.formats:
            suffix = form["suffixes"].split()[0]
            if not form["writes"] or form["missing"]:
                continue
            if suffix in ("heic", "avif", "jxl"):
                self.skipped["libheif's codecs and libjxl end the process, or wait for ever, where memory or a thread is refused"] += 1
                continue
            folder = self.root / f"to-{suffix}"
            folder.mkdir()
            shutil.copy(self.base, folder / "in.ppm")
            self.picture(folder / f"out.{suffix}")
            depth = "16" if "16" in form["depths"] else "same"
            words = [*into(suffix, "in.ppm", f"out.{suffix}"), "--depth", depth, "--threads", "2"]
            yield Case(f"to {suffix}", words, folder)
            if form["reads"]:
                folder = self.root / f"from-{suffix}"
                folder.mkdir()
                self.picture(folder / f"in.{suffix}")
                yield Case(f"from {suffix}", ["convert", "-q", "--force", f"in.{suffix}", "out.ppm"], folder)
        for suffix in ("png", "jpg"):
            folder = self.root / f"big-{suffix}"
            folder.mkdir()
            (folder / "in.pgm").write_bytes(big)
            words = ["sharpen", "in.pgm", f"out.{suffix}", "--threads", "2", "--durable"]
            yield Case(f"big to {suffix}", words, folder)
        for suffix, words in (("tif", "blur in.tif out.tif"), ("y4m", "convert in.y4m out.tif"), ("tif", "convert in.tif {page}.png")):
            folder = self.root / f"many-{words.split()[0]}-{words[-3:]}-{suffix}"
            folder.mkdir()
            subprocess.run([self.program, "pages", self.base, self.base, "--out", folder / f"in.{suffix}"], check=True)
            yield Case(f"many: {words}", words.split(), folder)
        folder = self.root / "pipe"
        folder.mkdir()
        yield Case("a pipe", ["blur", "-", "-", "--format", "pam"], folder, self.base.read_bytes())
        folder = self.root / "all"
        folder.mkdir()
        shutil.copy(self.base, folder / "in.ppm")
        words = "extract in.ppm t.json --at 50% --labels l.npy --labels-picture p.png --mask m.pgm --overlay o.jpg --crops c --points p.csv"
        yield Case("extract, everything", words.split(), folder)
        folder = self.root / "report"
        folder.mkdir()
        shutil.copy(self.base, folder / "in.ppm")
        made = subprocess.run([self.program, "blur", "in.ppm", "--out-dir", "out", "--report", "a.jsonl"], cwd=folder, capture_output=True)
        if made.returncode == 0:
            yield Case("report merge", ["report", "merge", "a.jsonl", "-o", "all.jsonl"], folder)
        for words, content in (("convert in.tif out.ppm", with_inks()), ("blur in.png out.png --linear", with_metadata("table"))):
            words = words.split()
            folder = self.root / f"profile-{words[0]}"
            folder.mkdir()
            (folder / words[1]).write_bytes(content)
            yield Case(f"{words[0]} by a profile", words, folder)
        for suffix in ("png", "jpg", "tif", "webp"):
            folder = self.root / f"metadata-{suffix}"
            folder.mkdir()
            (folder / "in.png").write_bytes(with_metadata())
            yield Case(f"metadata to {suffix}", ["convert", "-q", "--force", "in.png", f"out.{suffix}"], folder)
            folder = self.root / f"metadata-from-{suffix}"
            folder.mkdir()
            (folder / "in.png").write_bytes(with_metadata())
            self.run_plainly(["convert", "-q", "--force", "in.png", f"from.{suffix}"], folder)
            yield Case(f"metadata from {suffix}", ["orient", "-q", f"from.{suffix}", "out.png", "--tag", "6"], folder)
        folder = self.root / "plot"
        folder.mkdir()
        shutil.copy(self.base, folder / "in.ppm")
        yield Case("plot as PNG", ["histogram", "in.ppm", "--plot", "p.png", "--json"], folder)

    def run(self, case, folder, fault="nothing 0", mark=None, counts=None):
        env = dict(self.env, LD_PRELOAD=str(self.shim), TORTURE=fault, TORTURE_MARK=str(mark or ""))
        if counts:
            env["TORTURE_COUNTS"] = str(counts)
        # fontconfig and the stored rates get a home folder of their own.
        env["HOME"] = str(self.root)
        return subprocess.run([self.program, *case.words], cwd=folder, env=env, input=case.stdin,
                              capture_output=True, timeout=SECONDS)

    def learn(self, case):
        """Runs the command without a fault and records its results and its calls; returns whether it works."""
        counts = self.root / "counts"
        counts.unlink(missing_ok=True)
        done = self.run(case, case.folder, counts=counts)
        if counts.exists():  # cuda.py has a library that counts nothing
            case.calls = dict(zip(SHIM_KINDS, array.array("i", counts.read_bytes())))
        case.stdout, case.after = done.stdout, read_all(case.folder)
        if done.returncode:  # parts of a picture that are not in this one
            self.skipped[f"{case.name}: {done.stderr.decode().strip()[:200]}"] += 1
        return done.returncode == 0

    def judge(self, case, kind, done, files):
        """Judges a run: returns None or an error."""
        if done.returncode < 0:
            return f"died of signal {-done.returncode}"
        moody = case.words[0] in MOODY
        if done.returncode and case.name.startswith("many: ") and kind not in HARMLESS:
            return many.judge(case, done, files)
        if done.returncode == 0:
            if "--report" in case.words:
                report = case.words[case.words.index("--report") + 1]
                files = {**files, report: case.after[report]} if many.whole_lines(files.get(report, b"?")) else files
            wrong = [n for n in set(files) | set(case.after) if files.get(n) != case.after.get(n)]
            if case.has_text:  # fontconfig took another font
                wrong = [n for n in wrong if (files.get(n) or b"")[-8:-4] != b"IEND" and (files.get(n) or b"")[-2:] != b"\xff\xd9"]
            moody |= b"read without its profile, which needs lcms2" in done.stderr
            if wrong and not moody:
                return f"ended 0 with other files: {wrong}"
            moody |= case.words[0] == "list" and b"can't be loaded" in done.stdout
            return None if moody or done.stdout == case.stdout else "ended 0 and printed something else"
        if kind in HARMLESS and not case.has_text:
            return f"ended {done.returncode}: {done.stderr[:200]!r}"
        said = [s for s in done.stderr.decode(errors="replace").splitlines() if not s.startswith("gpuimg: warning: ")]
        if said == ["out of memory"] and done.returncode == 127:
            said = ["gpuimg: " + said[0]]  # the loader of libraries ends the process itself
        batch = FOLDERS.intersection(case.words)
        if batch:  # a line for its file, then counts
            counts = r"1 of 1 \w+ failed|0 differ, 0 missing, 1 failed, 0 match"
            full = "the disk is full: 0 of 1 files are done, the batch ends"
            more = rf": ({counts}|{full}|was not written|is not written: the machine failed, not its inputs: try again)$"
            said = said[:1] + [s for s in said[1:] if not re.search(more, s)]
        if len(said) != 1 or not said[0].startswith("gpuimg: "):
            return f"ended {done.returncode} and said {said[:4]}"
        wrong = [n for n in set(files) | set(case.before) if files.get(n) != case.before.get(n)]
        if wrong or (files != case.before and not (batch and "--out-dir" in case.words)):  # the folder of a batch may be made
            # At 1 the table or the page of the other files. A page that fails leaves the other report, which is whole.
            page = "--html" in case.words and case.words[case.words.index("--html") + 1]
            table = done.returncode != 75 and ("--table" in case.words or page) and wrong == [case.words[-1]]
            junit = page and "--junit" in case.words and wrong == [case.words[case.words.index("--junit") + 1]]
            if not (batch and (table or junit)):
                return f"ended {done.returncode} ({said[0][:120]}) and left {wrong}"
        return None

    def one(self, case, kind, n, worker):
        """Runs a case with one fault; returns whether the fault occurred."""
        folder, mark = self.root / f"work-{worker}", self.root / f"mark-{worker}"
        mark.unlink(missing_ok=True)
        write_all(folder, case.before)
        try:
            done = self.run(case, folder, f"{kind} {n}", mark)
            wrong = self.judge(case, kind, done, read_all(folder))
        except subprocess.TimeoutExpired:
            wrong = f"hung for {SECONDS} s"
        if not mark.exists() and not wrong:
            return False
        among = " ".join([*case.words, *case.before])
        known = [k for k in KNOWN if k[0] in among and k[1] == kind and k[2] == wrong]
        if known and not many.wrong_files(case, read_all(folder)):
            self.skipped[known[0][3]] += 1
        elif wrong:
            self.failures.append(f"{case.name}: {kind} {n}: {wrong}")
            print("FAILED:", self.failures[-1], flush=True)
        else:
            self.passed += 1
        return True

    def all_of(self, case, kind, whole, turn, worker):
        each = case.kinds != KINDS or (whole and case.words[0] not in SHORT)
        most = ALL if each else SAMPLE
        for n in most if whole or kind == "kill" else most[turn % 2::2] if each else [1, *SAMPLE[1 + turn % 3::3]]:
            if n > case.calls[kind] + (case.calls[kind] > 0):  # threads may make one call more or less
                break
            came = self.killed(case, n, worker) if kind == "kill" else self.one(case, kind, n, worker)
            if not came:
                break

    def killed(self, case, n, worker):
        """Killed before the N-th call of those that make, link or move a file; then run again. Whether it came to that."""
        folder = self.root / f"work-{worker}"
        write_all(folder, case.before)
        if self.run(case, folder, f"kill {n}").returncode != -signal.SIGKILL:
            return False
        left = [name for name in read_all(folder) if ".gpuimg-" in name]
        done = self.run(case, folder)
        files = {**read_all(folder), **{name: case.after[name] for name in case.after if name.endswith(".jsonl")}}
        if done.returncode or files != case.after:
            wrong = [name for name in set(files) | set(case.after) if files.get(name, 0) != case.after.get(name, 0)]
            self.failures.append(f"{case.name}: kill {n}: left {left}; the next run ended {done.returncode} and left {wrong}")
            print("FAILED:", self.failures[-1], flush=True)
        else:
            self.passed += 1
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=(*KINDS, "kill"))
    args = parser.parse_args()
    program = pathlib.Path(args.program).resolve()
    shim = program.parent / "tests/torture/shim.so"
    if "sanitize" in str(program.parent) or not shim.exists():
        print(f"skipped: no {shim.name} beside this build (a sanitizer has a memory of its own)")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as root:
        torture = Torture(program, shim, pathlib.Path(root))
        cases = [*torture.examples(), *torture.conversions(), *many.make(torture, Case)]
        cases = [c for c in cases if args.only in c.name]
        cases = [c for c in cases if torture.learn(c)]
        untested = set(torture.list["commands"]) - {c.words[0] for c in cases}
        if untested and not args.only:
            torture.failures.append("untested commands")
            print(f"FAILED: no example of {sorted(untested)} could be run")
        workers = 2 * os.cpu_count()  # they wait for files half of the time
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            free = list(range(workers))

            def work(i, kind):
                worker = free.pop()
                torture.all_of(cases[i], kind, args.whole, i, worker)
                free.append(worker)

            kinds = [args.kind] if args.kind else (*KINDS, "kill")
            for future in [pool.submit(work, i, k) for i, c in enumerate(cases) for k in c.kinds if k in kinds]:
                future.result()
    for reason, n in torture.skipped.items():
        print(f"skipped: {reason} ({n} times)")
    print(f"{torture.passed} passed, {len(torture.failures)} failed, {torture.skipped.total()} skipped")
    return bool(torture.failures)


if __name__ == "__main__":
    sys.exit(main())
