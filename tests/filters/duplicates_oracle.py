"""duplicates gives the groups of a comparison of all pairs, whatever the form of its input.

Sources: cli/commands/duplicates*.[ch] filters/statistics/hash_groups.[ch]
"""
import json
import os
import subprocess

from _common import Checks, np, write

c = Checks()


def groups_of(hashes, distance):
    """The groups of two or more, by all pairs: lists of indices."""
    nbytes = 32 if any(h >= 2**64 for h in hashes) else 8
    bits = np.array([list(int(h).to_bytes(nbytes, "big")) for h in hashes], np.uint8).reshape(-1, nbytes)
    bits = np.unpackbits(bits, axis=1).astype(np.int32)
    ones = bits.sum(axis=1)
    near = ones[:, None] + ones[None] - 2 * bits @ bits.T <= distance
    first, found = np.full(len(hashes), -1), []
    for i in range(len(hashes)):
        if first[i] >= 0:
            continue
        group, todo = [], [i]
        first[i] = i
        while todo:
            j = todo.pop()
            group.append(j)
            new = np.flatnonzero(near[j] & (first < 0))
            first[new] = i
            todo.extend(new.tolist())
        if len(group) > 1:
            found.append(sorted(group))
    return found


def clustered(n, nbits=64):
    """Hashes of which many differ from an earlier one in a few bits, in one part or in all bits."""
    hashes = []
    for i in range(n):
        base = int.from_bytes(c.rng.bytes(nbits // 8), "big")
        if hashes and c.rng.random() < 0.6:
            base = hashes[int(c.rng.integers(len(hashes)))]
            low, high = [(0, nbits), (0, nbits // 3), (nbits // 3 * 2, nbits)][int(c.rng.integers(3))]
            for bit in c.rng.integers(low, high, int(c.rng.integers(0, 20 * nbits // 64))):
                base ^= 1 << int(bit)
        hashes.append(base)
    return hashes


def save(name, hashes, digits=16):
    with open(c.path(name), "w", encoding="utf-8") as f:
        f.write("file,other,hash\n" + "".join(f'"a, {i}.png",7,{int(h):0{digits}x}\n' for i, h in enumerate(hashes)))


def test_groups(n, distance, nbits=64):
    hashes = clustered(n, nbits)
    save("h.csv", hashes, nbits // 4)
    want = groups_of(hashes, distance)
    text = "\n".join("".join(f"a, {i}.png\n" for i in group) for group in want)
    for threads in (1, 3):
        got = c.run("duplicates", c.path("h.csv"), "--distance", distance, "--threads", threads).decode()
        c.check(f"{n} hashes of {nbits} bits, distance {distance}, {threads} threads", got == text, f"{len(want)} groups")


def test_forms():
    """Tables as CSV, JSON lines and NumPy arrays, JSON on standard output, and standard input."""
    hashes = clustered(300)
    save("h.csv", hashes)
    want = groups_of(hashes, 5)
    rows = [(f"a, {i}.png", number + 1, f"{int(hashes[i]):016x}", int(hashes[i] ^ hashes[group[0]]).bit_count()
             if hasattr(int, "bit_count") else bin(int(hashes[i] ^ hashes[group[0]])).count("1"))
            for number, group in enumerate(want) for i in group]
    with open(c.path("h.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"file": f"a, {i}.png", "hash": f"{int(h):016x}"}) + "\n" for i, h in enumerate(hashes))
    c.run("duplicates", c.path("h.jsonl"), "--table", c.path("g.csv"))
    text = open(c.path("g.csv"), encoding="utf-8").read()
    c.check("csv", text == "file,group,hash,distance\n" + "".join(f'"{a}",{b},{h},{d}\n' for a, b, h, d in rows))
    c.run("duplicates", c.path("h.csv"), "--table", c.path("g.jsonl"))
    lines = [json.loads(line) for line in open(c.path("g.jsonl"), encoding="utf-8")]
    c.check("jsonl", [tuple(line[k] for k in ("file", "group", "hash", "distance")) for line in lines] == rows)
    c.run("duplicates", c.path("h.csv"), "--table", c.path("g.npy"))
    c.check("npy", [(r["file"].decode(), r["group"], r["hash"].decode(), r["distance"]) for r in np.load(c.path("g.npy"))] == rows)
    save("apart.csv", [0, 0x00FF00FF00FF00FF])
    c.run("duplicates", c.path("apart.csv"), "--table", c.path("none.csv"))
    c.check("csv without groups", open(c.path("none.csv"), encoding="utf-8").read() == "file,group,hash,distance\n")
    c.run("duplicates", c.path("apart.csv"), "--table", c.path("none.npy"))
    empty = np.load(c.path("none.npy"))
    c.check("npy without groups", empty.shape == (0,) and empty.dtype.names == ("file", "group", "hash", "distance"))
    found = [json.loads(line) for line in c.run("duplicates", c.path("h.csv"), "--json").splitlines()]
    c.check("json", [(m["file"], g["group"], m["hash"], m["distance"]) for g in found for m in g["images"]] == rows)
    text = c.run("duplicates", c.path("h.csv"))
    piped = subprocess.run([c.program, "duplicates", "-"], stdin=open(c.path("h.csv"), "rb"), capture_output=True)
    c.check("standard input", piped.returncode == 0 and piped.stdout == text)
    halves = [c.path(f"{k}.csv") for k in "xy"]
    lines = open(c.path("h.csv"), encoding="utf-8").read().splitlines(True)
    for half, part in zip(halves, (lines[1:100], lines[100:])):
        open(half, "w", encoding="utf-8").writelines(lines[:1] + part)
    c.check("two tables", c.run("duplicates", *halves) == text)


def test_images():
    """A folder with copies in other sizes and depths, from images and from the table of gpuimg hash."""
    pictures = [np.kron(c.rng.uniform(20, 250, (6, 8)), np.ones((20, 20))) for _ in range(3)]
    os.mkdir(c.path("in"))
    for i, picture in enumerate(pictures):
        write(c.path(f"in/{i}-a.pgm"), picture.astype(np.uint8))
        write(c.path(f"in/{i}-b.pgm"), (picture * 257).astype(np.uint16))
    c.run("resize", c.path("in/1-a.pgm"), c.path("in/1-c.png"), "--size", "50%")
    want = [["0-a.pgm", "0-b.pgm"], ["1-a.pgm", "1-b.pgm", "1-c.png"], ["2-a.pgm", "2-b.pgm"]]
    for method in ("perceptual", "difference", "pdq"):
        c.run("hash", "--recursive", c.path("in"), "--method", method, "--table", c.path("h.csv"))
        for *words, name in ((c.path("h.csv"), "table"), ("--recursive", c.path("in"), "--method", method, "images")):
            text = c.run("duplicates", *words).decode()
            found = [[os.path.basename(path) for path in group.splitlines()] for group in text.split("\n\n")]
            c.check(f"{method} of {name}", found == want, found)


def test_errors():
    save("h.csv", clustered(3))
    for text, message in (("file,hash\na,12\n", "row 1: hash 12: want 16 or 64 hexadecimal digits"),
                          (f"file,hash\na,{16 * '0'}\nb,{64 * '0'}\n", "row 2: hash of 64 digits: want 16, as in the rows before"), ("a,b\n1,2\n", "has no columns file and hash"),
                          ("file,hash\nx\n", "row 1: has too few fields"), ("", "is empty")):
        open(c.path("bad.csv"), "w", encoding="utf-8").write(text)
        result = c.result("duplicates", c.path("bad.csv"))
        c.check(f"refuses {text!r}", result.returncode == 1 and message in result.stderr, result.stderr)
    open(c.path("bad.jsonl"), "w", encoding="utf-8").write('{"file": "a"}\n')
    result = c.result("duplicates", c.path("bad.jsonl"))
    c.check("refuses JSON without a hash", result.returncode == 1 and "line 1: has no members file and hash" in result.stderr, result.stderr)
    for words in (["h.csv", "a.png"], ["h.csv", "--json", "--table", "g.csv"], ["h.csv", "--table", "h.csv"], ["h.csv", "--table", "g.txt"]):
        result = c.result("duplicates", *(c.path(w) if "." in w else w for w in words))
        c.check(f"refuses {words}", result.returncode == 2, result.stderr)


def test_long():
    """Hashes of 256 bits: the default distance, both distances in the table, and the page."""
    hashes = clustered(300, 256)
    for where in (0, 100, 255):
        hashes += [hashes[0] ^ sum(1 << (where + 5 * k) % 256 for k in range(31))]
    save("h.csv", hashes, 64)
    want = groups_of(hashes, 31)
    c.run("duplicates", c.path("h.csv"), "--table", c.path("g.csv"), "--html", c.path("g.html"))
    rows = [f'"a, {i}.png",{number},{hashes[i]:064x},{bin(hashes[i] ^ hashes[group[0]]).count("1")}\n'
            for number, group in enumerate(want, 1) for i in group]
    c.check("csv of 256 bits", open(c.path("g.csv"), encoding="utf-8").read() == "file,group,hash,distance\n" + "".join(rows))
    page = open(c.path("g.html"), encoding="utf-8").read()
    c.check("page of 256 bits", sum(page.count(f"<br>{row.strip().split(',')[-1]} bit") > 0 for row in rows) == len(rows))
    save("short.csv", clustered(3))
    for words, most in ((["short.csv", "--distance", "17"], "0 to 16 bits, because hashes have 64 bits"), (["h.csv", "--distance", "65"], "0 to 64 bits"),
                        (["h.csv", "--distance", "2.5"], "--distance 2.5: want a whole number of 0 to 64 bits"),
                        (["a.png", "--distance", "17"], "0 to 16 bits"), (["a.png", "--method", "pdq", "--distance", "0.5"], "0 to 64 bits")):
        result = c.result("duplicates", *(c.path(w) if w[-4:] in (".csv", ".png") else w for w in words))
        c.check(f"refuses {words}", result.returncode == 2 and most in result.stderr, result.stderr)


for distance in range(17):
    test_groups(700, distance)
for distance in (0, 5, 16, 31, 40, 64):
    test_groups(700, distance, 256)
test_groups(3000, 31, 256)
test_long()
for n in (0, 1, 2, 5):
    test_groups(n, 5)
test_groups(3000, 5)
test_forms()
test_images()
test_errors()
c.end()
