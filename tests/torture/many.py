"""Batch commands for torture.py, and the results that they must have when a call has failed.

A failing item is named and the others are done: every file is as before or complete; a report has whole lines, a
table has the lines of the other files, a tar the other members; standard output has the beginning of the result, or
such a tar.
"""

import io
import json
import shlex
import shutil
import tarfile

# Calls of which each one fails, not a sample: open, getdents, stat and fstat, mmap, ftruncate.
EACH = ("open", "list", "stat", "map", "truncate")
PICTURES = "a.png", "b.jpg", "c.ppm", "photos/d.pgm", "photos/sub/e.tif"
# Name, words, and files besides the pictures; standard input is given by its name among the files.
COMMANDS = (
    ("files", "blur --k 3 --out-dir out --report r.jsonl a.png b.jpg c.ppm", ()),
    ("files by a template", "invert --out {dir}/{stem}_n.ppm --files-from list", ("list",)),
    ("files by a shard", "run 'gaussian | edges' --recursive photos --out-dir out --suffix .png --shard 2/2", ()),
    ("files again", "blur --k 3 --out-dir again --report again.jsonl --resume a.png b.jpg c.ppm", ("again",)),
    ("files of a camera", "undistort --camera camera.json --out-dir out a.png c.ppm", ("camera.json",)),
    ("a tar of a camera", "undistort --camera camera.json --tar in.tar out.tar", ("camera.json", "in.tar")),
    ("table", "histogram a.png b.jpg c.ppm --table t.csv", ()),
    ("table of regions", "extract a.png c.ppm photos/d.pgm --at 50% --table t.jsonl --report r.jsonl", ()),
    ("table as an array", "histogram a.png c.ppm --table t.npy", ()),
    ("table of a tree", "stats --recursive photos --table t.csv --by row", ()),
    ("table of headers", "info --recursive photos a.png --table t.npy --report r.jsonl", ()),
    ("table of colours", "palette a.png c.ppm --table t.jsonl", ()),
    ("table of a mapped file", "stats big.pgm a.png --table t.csv", ("big.pgm",)),
    ("table of tars", "stats --tar in.tar in2.tar --table t.csv", ("in.tar", "in2.tar")),
    ("a mapped file", "invert big.pgm a.png --out-dir out", ("big.pgm",)),
    ("table of a chain", "run 'blur | histogram --bins 4' a.png c.ppm --table t.csv", ()),
    ("table of a stream", "extract in.pnm --at 50% --table t.jsonl", ("in.pnm",)),
    ("table of a video", "histogram in.y4m --table t.npy", ("in.y4m",)),
    ("tables", "histogram a.png c.ppm --out-dir out --format json", ()),
    ("table on standard output", "info --recursive . --table -", ()),
    ("arrays", "integral a.png c.ppm --out-dir out --report r.jsonl", ()),
    ("arrays in a tar", "cumulative --tar in.tar out.tar --suffix .pfm", ("in.tar",)),
    ("channels", "channels split a.png c.ppm --out-dir out --report r.jsonl", ()),
    ("channels in folders", "channels split a.png c.ppm --out out/{channel}/{name}", ()),
    ("an alpha each", "channels alpha a.png c.ppm mask{index}.pgm --out-dir out --suffix png", ("mask1.pgm", "mask2.pgm")),
    ("an alpha for all", "channels alpha a.png c.ppm mask1.pgm --out-dir out --suffix pam --report r.jsonl", ("mask1.pgm",)),
    ("layers", "split a.png c.ppm --labels labels.pgm --out layers/{stem} --report r.jsonl", ("labels.pgm",)),
    ("layers of labels each", "split a.png --labels labels{index}.pgm --out layers/{stem}", ("labels1.pgm",)),
    ("pairs in tars", "compare --tar in.tar in.tar --table t.csv --report r.jsonl", ("in.tar",)),
    ("a share of pairs", "compare --pairs pairs2 --shard 2/2 --table t.jsonl", ("pairs2",)),
    ("stack, with a report", "stack c.ppm c.ppm out.ppm --report r.jsonl", ()),
    ("montage, with a report", "montage a.png c.ppm sheet.png --report r.jsonl", ()),
    ("merge, with a report", "merge a.png c.ppm whole.png --report r.jsonl", ()),
    ("pairs", "compare --pairs pairs --table t.csv", ("pairs",)),
    ("folders", "compare photos photos --table t.jsonl", ()),
    ("stack", "stack --by mean c.ppm c.ppm a.png out.png", ()),
    ("stack of a folder", "stack --by sigma-clip --recursive same out.tif --threads 2", ("same",)),
    ("stack by the median", "stack --by median same/1.pgm same/2.pgm same/1.pgm out.pfm", ("same",)),
    ("stack in a file", "stack --by median --memory 1 large/1.pgm large/2.pgm out.pgm", ("large",)),
    ("exposures", "stack --by exposure c.ppm c.ppm out.ppm", ()),
    ("focus in a file", "stack --by focus --memory 1 large/1.pgm large/2.pgm out.pgm", ("large",)),
    ("stack of pages", "stack --by median m.tif c.ppm c.ppm out.ppm", ("m.tif",)),
    ("mean of pages", "stack --by mean c.ppm m.tif out.ppm", ("m.tif",)),
    ("pages", "pages a.png m.tif c.ppm --out x.tif", ("m.tif",)),
    ("compare pages", "compare m.tif same.tif", ("m.tif", "same.tif")),
    ("compare pages in a table", "compare m.tif same.tif --table t.csv", ("m.tif", "same.tif")),
    ("blur pages", "blur --k 3 m.tif a.png --out-dir out --suffix .tif", ("m.tif",)),
    ("montage of pages", "montage a.png m.tif sheet.png", ("m.tif",)),
    ("montage of pages, labelled", "montage a.png m.tif sheet.png --label '{name} {page}'", ("m.tif",)),
    ("info of pages", "info m.tif a.png --table t.csv", ("m.tif",)),
    ("montage", "montage a.png b.jpg c.ppm sheet.png --columns 2", ()),
    ("tar", "blur --k 3 --tar in.tar out.tar", ("in.tar",)),
    ("tar, with a report", "blur --k 3 --tar in.tar out.tar --report r.jsonl", ("in.tar",)),
    ("tar, packed", "run 'gaussian | edges' --tar in.tar out.tar.gz", ("in.tar",)),
    ("tar, through pipes", "blur --k 3 --tar - -", ("<in.tar",)),
    ("tars into one", "invert --tar {in.tar,more.tar.gz} one.tar", ("in.tar", "more.tar.gz")),
    ("tars to tars", "invert --tar {in,in2}.tar {o1,o2}.tar", ("in.tar", "in2.tar")),
    ("stream", "blur --k 3 in.pnm out.pnm --format pnm --threads 2", ("in.pnm",)),
    ("stream, through pipes", "gaussian - - --sigma 1", ("<in.pnm",)),
    ("video", "blur --k 3 in.y4m out.y4m", ("in.y4m",)),
    ("video, through pipes", "run 'gaussian | sharpen' - -", ("<in.y4m",)),
    ("missing files", "report merge again.jsonl --missing files --files-from list3", ("again", "list3")),
    ("crops anew", "extract a.png t.csv --at 50% --crops crops --force", ("crops",)),
)

# Sets of files that belong together, which are killed; "old" is a folder for them.
SETS = (
    ("one output, killed", "blur --k 3 a.png old/b.png", ("old",)),
    ("one table, killed", "histogram a.png c.ppm --table old/t.csv", ("old",)),
    ("one array, killed", "integral a.png old/i.npy", ("old",)),
    ("pages, killed", "pages a.png c.ppm --out old/p.tif", ("old",)),
    ("channels, killed", "channels split c.ppm old/r.png old/g.png old/b.png", ("old",)),
    ("channels of many, killed", "channels split a.png c.ppm --out-dir old", ("old",)),
    ("channels in folders, killed", "channels split a.png c.ppm --out old/{channel}/{name}", ("old",)),
    ("layers, killed", "split c.ppm --labels labels.pgm --out-dir old/layers --force", ("old", "labels.pgm")),
    ("layers of many, killed", "split a.png c.ppm --labels labels.pgm --out old/{stem} --force", ("old", "labels.pgm")),
    ("regions, killed", "extract a.png old/t.csv --at 50% --crops old/crops --labels old/l.npy --force", ("old",)),
    ("a chain and its table, killed", "run 'blur | histogram --to old/t.csv --plot old/p.svg | invert' a.png old/b.png", ("old",)),
)


def tar_of(members, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, content in members:
            head = tarfile.TarInfo(name)
            head.size = len(content)
            tar.addfile(head, io.BytesIO(content))
    return out.getvalue()


def members_of(content):
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            return [(m.name, tar.extractfile(m).read() if m.isreg() else None) for m in tar]
    except (tarfile.TarError, EOFError, OSError):
        return None


def write_extra(folder, name, run):
    """Writes an input of a command that is not one of PICTURES."""
    gray = b"P5 24 20 255\n" + bytes(y * 12 + x * 3 & 255 for y in range(20) for x in range(24))
    colour = (folder / "c.ppm").read_bytes()
    layers = b"P5 24 20 255\n" + bytes(y // 7 for y in range(20) for x in range(24))
    members = [("a.png", (folder / "a.png").read_bytes()), ("a.txt", b"text"), ("c.ppm", colour), ("g.pgm", gray)]
    y4m = b"YUV4MPEG2 W8 H6 F25:1 C420\n" + b"".join(b"FRAME\n" + bytes(range(i, i + 72)) for i in (0, 40, 99))
    simple = {
        "list": b"a.png\nc.ppm\n", "list3": b"a.png\nb.jpg\nc.ppm\n", "pairs": b"a.png\tc.ppm\nc.ppm\tc.ppm\n",
        "pairs2": b"a.png\ta.png\nc.ppm\tc.ppm\n", "mask1.pgm": gray, "mask2.pgm": gray,
        "labels.pgm": layers, "labels1.pgm": layers,
        "in.tar": tar_of(members, "w"), "in2.tar": tar_of(members[:2], "w"), "more.tar.gz": tar_of(members[1:], "w:gz"),
        "in.pnm": gray + colour + gray, "in.y4m": y4m, "big.pgm": b"P5 1100 1000 255\n" + bytes(range(250)) * 4400,
        "camera.json": b'{"camera_matrix": [[20, 0, 12], [0, 20, 10], [0, 0, 1]], "distortion_coefficients": [0.1, 0, 0, 0, 0]}',
    }
    if name == "old":
        (folder / "old").mkdir()
    elif name == "same":
        (folder / "same").mkdir()
        for i in 1, 2:
            (folder / f"same/{i}.pgm").write_bytes(gray[:-9] + bytes([i * 90] * 9))
    elif name == "large":
        (folder / "large").mkdir()
        for i in 1, 2:
            (folder / f"large/{i}.pgm").write_bytes(b"P5 100 90 255\n" + bytes(i * y & 255 for y in range(9000)))
    elif name == "again":
        run("blur", "--k", "3", "--out-dir", "again", "--report", "again.jsonl", "a.png", "c.ppm", "b.jpg")
        (folder / "again/c.ppm").write_bytes(b"of another size")
    elif name.endswith(".tif"):
        (folder / "d.ppm").write_bytes(colour[:-600] + bytes(600))
        run("pages", "c.ppm", "d.ppm", "c.ppm", "--out", name)
        (folder / "d.ppm").unlink()
    elif name == "crops":
        run("extract", "a.png", "--at", "20%", "--crops", "crops")
    elif name in simple:
        (folder / name).write_bytes(simple[name])


def make(torture, case_of):
    """Makes cases for each row of COMMANDS, without and with older outputs in place, and for each row of SETS, with them."""
    for name, line, extras in COMMANDS + SETS:
        killed = (name, line, extras) in SETS
        folder = torture.root / ("many-" + "".join(c if c.isalpha() else "-" for c in name))
        (folder / "photos/sub").mkdir(parents=True)
        for picture in PICTURES:
            torture.picture(folder / picture)
        stdin = b""
        for extra in extras:
            write_extra(folder, extra.lstrip("<"), lambda *words: torture.run_plainly(words, folder))
            if extra.startswith("<"):
                stdin = (folder / extra[1:]).read_bytes()
        case = case_of("many: " + name, shlex.split(line), folder, stdin)
        if not killed:
            yield case
        if killed or case.words[0] != "split":  # layers replace no other files without --force
            older = with_older(torture, case)
            yield case_of(f"many: {name}, over older outputs", case.words, older, stdin, ("kill",) if killed else EACH)


def with_older(torture, case):
    """A copy of the case's folder in which each file that the command makes is there already, with other content."""
    folder = case.folder.with_name(case.folder.name + "-older")
    shutil.copytree(case.folder, folder)
    torture.run(case, folder)
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in case.before:
            path.write_bytes(b"old\n")
    return folder

def whole_lines(content, of=None):
    """Returns whether the text has whole lines of JSON, or of another file; the last line may be truncated."""
    lines = content.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    if of is not None:
        return set(lines) <= set(of.splitlines(keepends=True))
    try:
        return all(isinstance(json.loads(line), dict) for line in lines)
    except ValueError:
        return False


def part_of_tar(content, whole):
    members, wanted = members_of(content), members_of(whole)
    return members is not None and all(m in wanted for m in members)


def allowed(name, content, case):
    """Returns whether a file may have this content after a fault."""
    after = case.after.get(name)
    if (name in case.before and content == case.before[name]) or (name in case.after and content == after):
        return True
    if content is None or name in case.before and name not in case.after:
        return False
    words = case.words
    if "--report" in words and name == words[words.index("--report") + 1]:
        return whole_lines(content)
    if name not in case.after:
        return False
    if "--table" in words and name == words[words.index("--table") + 1]:
        return name.endswith(".npy") or whole_lines(content, after)
    return ".tar" in name and part_of_tar(content, after)


def wrong_files(case, files):
    gone = [n for n in case.before if n not in files and n in case.after]
    return gone + [n for n, content in files.items() if not allowed(n, content, case)]


# Messages that libraries print when they end the process: the loader, and libarchive if it gets no memory for a name.
LAST_WORDS = ("out of memory", "Fatal Internal Error in libarchive: Out of memory",
              "Fatal Internal Error in libarchive: No memory")


def judge(case, done, files):
    """Judges a command that failed after a fault: returns None, or an error."""
    lines = done.stderr.decode(errors="replace").splitlines()
    foreign = [s for s in lines if not s.startswith("gpuimg: ") and s not in LAST_WORDS]
    if foreign or not lines:
        return f"ended {done.returncode} and said {foreign[:4]}"
    if len(lines) > 8:
        return f"ended {done.returncode} and said too much: {lines[:12]}"
    wrong = wrong_files(case, files)
    if wrong:
        return f"ended {done.returncode} ({lines[0][:120]}) and left {wrong}"
    table = case.words[case.words.index("--table") + 1] if "--table" in case.words else None
    if done.returncode == 75 and files.get(table) not in (case.before.get(table), case.after.get(table)):
        return f"ended 75 ({lines[0][:120]}) and left a part of {table}"
    if not case.stdout.startswith(done.stdout) and not part_of_tar(done.stdout, case.stdout) and not whole_lines(done.stdout, case.stdout):
        return f"ended {done.returncode} ({lines[0][:120]}) and printed something else"
    return None
