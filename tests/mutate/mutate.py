#!/usr/bin/env python3
"""Mutation testing: changes one operator or number of the program at a time and runs the tests, which must fail.

Usage: mutate.py [--count N] [--seed N] [--only PATH] [--even] [--seconds N] [--test-seconds N] [--go-on]

Draws random places in the C sources of imgio, filters, kernels/cpu and cli, changes one operator or number at each, builds
the affected programs (in a copy of the tree, build/mutate/tree) and runs the tests that run the changed line by the map of
`make coverage`, beginning with those that are quick and run much of the file, until one fails. Tests that would take longer
than --test-seconds together run after all mutants have had their quick tests. Changes that compile to the same code, and
those that tests/mutate/equivalent lists with a reason, are not counted. Survivors are printed as lines "path:line: before =>
after", and at the end the share that was caught. --go-on accepts the mutants that the last run of this seed caught, and
tries the others again.
--even takes equally many mutants of each folder; without it, folders with more code have more.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "coverage"))
sys.dont_write_bytecode = True
import coverage  # noqa: E402

ROOT = HERE.parent.parent
TREE = ROOT / "build/mutate/tree"
BUILD = "build/cpu"
CAUGHT = ROOT / "build/mutate/caught"
TIMES = ROOT / "build/mutate/times.json"
SOURCES = ("imgio/**/*.c", "filters/**/*.c", "kernels/cpu/**/*.c", "cli/**/*.c")

# Operators with blanks around them, and their replacements.
CHANGES = [
    (r" < ", [" <= ", " > "]), (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]), (r" % ", [" / "]),
    (r" << ", [" >> "]), (r" >> ", [" << "]), (r" & ", [" | "]), (r" \| ", [" & "]),
    (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r"\+\+", ["--"]), (r"(?<=[(& |])!(?=[a-z(*])", [""]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"(?<![\w.])0(?![\w.])", ["1"]), (r"(?<![\w.])1(?![\w.])", ["0", "2"]), (r"(?<![\w.])[2-9](?![\w.])", ["1"]),
]

# Tests of a folder's sources that the map does not cover, by patterns of their names.
RELEVANT = {
    "imgio": "unit/test_imgio_.*|cli/(outputs|formats)/.*",
    "filters": "unit/test_(filter|options|chains|tables).*|cli/(options|help)/.*|filters/.*",
    "kernels": "unit/test_(convolution|morphology|rank|denoise|tone|statistics|regions|pool|queues|filter|ways|bands|extract).*|filters/.*|cli/(devices/selftest|options/levels)",
    "cli": "unit/test_cli_.*|cli/.*",
}


def masked(text):
    """Returns the text with comments, strings, preprocessor lines and include guards blanked."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|\"(\\.|[^\"\\\n])*\"|'(\\.|[^'\\\n])+'", blank, text, flags=re.S)
    return re.sub(r"^#(.*\\\n)*.*$", blank, text, flags=re.M)


def places(path):
    """Returns all possible changes: offset, end, replacement."""
    text = masked(path.read_text())
    return [(m.start(), m.end(), new) for pattern, news in CHANGES for m in re.finditer(pattern, text) for new in news]


def make(*goals):
    """Compiles without debugging information, so that the same code gives the same object file."""
    return coverage.run(["make", "-s", "-j1", "CUDA=0", "CFLAGS=-O2", "LDFLAGS=-fuse-ld=gold", *goals], TREE, 900)


class Tests:
    """Which tests run a line, how long they take, and whether they pass on the unchanged program."""

    def __init__(self):
        known = json.loads(coverage.MAP.read_text())
        self.all = coverage.tests(TREE)
        self.sources = {name: known[name]["sources"] for name in self.all if name in known}
        self.seconds = {name: known[name]["seconds"] / 3 if name in known else 20 for name in self.all}
        self.seconds |= json.loads(TIMES.read_text()) if TIMES.exists() else {}
        self.unknown = [n for n in self.all if not self.sources.get(n) or known[n]["status"] == "too long"]
        self.files = {path for source in self.sources.values() for path in source}
        self.good = {}

    def of(self, path, text, offset):
        """Returns tests by name, beginning with those that are quick and run much of the file. A line that
        gcov does not know counts to the line before it in the function, and outside of functions to the file."""
        begin, end = text.rfind("\n{", 0, offset), text.rfind("\n}", 0, offset)
        found = []
        if begin > end:
            first, line = text.count("\n", 0, begin) - 4, text.count("\n", 0, offset) + 1
            known = {int(n) for source in self.sources.values() if path in source for n in source[path]["lines"]}
            lines = [n for n in known if first <= n <= line]
            if lines:
                at = str(max(lines))
                found = [n for n, source in self.sources.items() if source.get(path, {"lines": {}})["lines"].get(at)]
        else:
            found = [n for n, source in self.sources.items() if any(source.get(path, {"lines": {}})["lines"].values())]
        by_name = [n for n in (self.unknown if path in self.files else self.all)
                   if re.fullmatch(RELEVANT[path.split("/")[0]], n)]
        return sorted({*found, *by_name}, key=lambda n: (1 + self.seconds[n]) / (1 + self.lines(n, path)) ** 2)

    def lines(self, name, path):
        """Returns how many lines of a source a test runs, or an estimate if the map does not have the source."""
        return 50 if name in self.unknown else sum(map(bool, self.sources.get(name, {}).get(path, {"lines": {}})["lines"].values()))

    def fails(self, name):
        if name.startswith("unit/") and make(f"{BUILD}/tests/{name}"):
            return "does not link"
        start = time.monotonic()
        status = coverage.run(coverage.command(pathlib.Path(BUILD), name), TREE, 30 + 4 * self.seconds[name])
        if status == 0:
            self.seconds[name] = round(time.monotonic() - start, 2)
            TIMES.write_text(json.dumps({**(json.loads(TIMES.read_text()) if TIMES.exists() else {}),
                                         name: self.seconds[name]}))
        return status


class Mutant:
    def __init__(self, path, start, end, new):
        self.path, self.start, self.end, self.new = str(path), start, end, new
        self.file = TREE / path
        self.text = self.file.read_text()
        line = self.text.count("\n", 0, start) + 1
        a, b = self.text.rfind("\n", 0, start) + 1, self.text.find("\n", end)
        self.change = f"{self.text[a:b].strip()} => {(self.text[a:start] + new + self.text[end:b]).strip()}"
        self.name = f"{path}:{line}: {self.change}"
        self.waiting = []
        self.objects, self.times = {}, self.file.stat()

    def goals(self):
        stem = self.path[:-2]
        levels = self.path.startswith("kernels/cpu/") and "/device/" not in self.path
        return [f"{BUILD}/{stem}.{level}.o" for level in ("scalar", "avx2", "avx512")] if levels else [f"{BUILD}/{stem}.o"]

    def __enter__(self):
        """Compiles the objects of the unchanged program, then those of the mutant."""
        self.broken, self.same = make(*self.goals()) != 0, False
        if self.broken:
            return self
        self.objects = {goal: (TREE / goal).read_bytes() for goal in self.goals()}
        self.file.write_text(self.text[:self.start] + self.new + self.text[self.end:])
        self.broken = make(*self.goals()) != 0
        self.same = not self.broken and all((TREE / goal).read_bytes() == old for goal, old in self.objects.items())
        return self

    def __exit__(self, *_):
        self.file.write_text(self.text)
        os.utime(self.file, ns=(self.times.st_atime_ns, self.times.st_mtime_ns))
        for goal, old in self.objects.items():
            (TREE / goal).write_bytes(old)
        return False


def killer(tests, mutant, names, seconds):
    """Returns the test that fails, or None if all pass; mutant.waiting has the tests that would have taken longer."""
    make(f"{BUILD}/gpuimg")
    mutant.waiting = []
    end = time.monotonic() + seconds
    for name in names:
        if time.monotonic() + (tests.seconds[name] if mutant.waiting or name != names[0] else 0) > end:
            mutant.waiting.append(name)
            continue
        status = tests.fails(name) if tests.good.get(name, True) else 0
        if status:
            return name, status
    return None


def judge(tests, mutant, names, seconds):
    """Judges a mutant. A failing test counts only if it passes on the unchanged program."""
    while True:
        with mutant:
            if mutant.broken or mutant.same:
                return "broken" if mutant.broken else "same", None
            found = killer(tests, mutant, names, seconds)
        if not found:
            return "survived", None
        if found[0] in tests.good:
            return "caught", found
        make(f"{BUILD}/gpuimg")
        tests.good[found[0]] = tests.fails(found[0]) == 0
        if tests.good[found[0]]:
            return "caught", found
        print(f"left out: {found[0]} fails on the program as it is", flush=True)
        names = [n for n in names if n != found[0]]


def copy_tree():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    files = [name for name in files if name and (ROOT / name).exists()]
    for old in list(TREE.rglob("*")) if TREE.exists() else []:
        name = str(old.relative_to(TREE))
        if old.is_file() and not name.startswith("build/") and name not in files:
            old.unlink()
    for name in files:
        target = TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, target)
    corpora = TREE.parent / "shared"
    if (ROOT.parent / "shared").is_dir() and not corpora.exists():
        corpora.symlink_to(ROOT.parent / "shared")


def draw(args):
    """Returns the mutants in the order in which they are tried."""
    pool = [(p.relative_to(TREE), *place) for g in SOURCES for p in sorted(TREE.glob(g)) for place in places(p)]
    pool = [m for m in pool if args.only in str(m[0])]
    random.Random(args.seed).shuffle(pool)
    if args.even:
        drawn = collections.Counter()

        def turn(place):
            drawn[place[0].parts[0]] += 1
            return drawn[place[0].parts[0]]
        pool.sort(key=turn)  # the first of each folder, then the second of each
    print(f"seed {args.seed}: {len(pool)} places", flush=True)
    for place in pool:
        yield Mutant(*place)


def remember(what, mutant):
    if what == "caught":
        with CAUGHT.open("a") as file:
            file.write(f"{mutant.name}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--test-seconds", type=float, default=60)
    parser.add_argument("--go-on", action="store_true")
    args = parser.parse_args()
    if not coverage.MAP.exists():
        sys.exit("which test runs which line is not known: make coverage")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # restores the source and ends the test
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # shells start what runs in the background without them
        signal.signal(ignored, signal.SIG_DFL)
    copy_tree()
    if make("all"):
        sys.exit("the tree does not build")
    listed = (HERE / "equivalent").read_text()
    tests, end = Tests(), time.monotonic() + args.seconds
    found = {"caught": [], "survived": [], "same": [], "broken": []}
    if not args.go_on:
        CAUGHT.write_text("")
    known = CAUGHT.read_text().splitlines()
    for mutant in draw(args):
        if len(found["caught"]) + len(found["survived"]) >= args.count or time.monotonic() > end:
            break
        if f"{mutant.path}: {mutant.change}\n" in listed:
            found["same"].append(mutant)
            continue
        if mutant.name in known:
            found["caught"].append(mutant)
            continue
        names = tests.of(mutant.path, mutant.text, mutant.start)
        what, by = judge(tests, mutant, names, args.test_seconds)
        found[what].append(mutant)
        remember(what, mutant)
        if what in ("caught", "survived"):
            more = f"by {by[0]} ({by[1]})" if by else f"{len(names)} tests, {len(mutant.waiting)} wait"
            print(f"{len(found['caught'])} of {len(found['caught']) + len(found['survived'])}: {mutant.name}: {what} {more}",
                  flush=True)
    for mutant in [m for m in found["survived"] if m.waiting]:
        what, by = judge(tests, mutant, mutant.waiting, end - time.monotonic())
        remember(what, mutant)
        if what == "caught":
            found["survived"].remove(mutant)
            found["caught"].append(mutant)
        print(f"{mutant.name}: {what} {'by ' + by[0] if by else f'{len(mutant.waiting)} not run'}", flush=True)
    total = len(found["caught"]) + len(found["survived"])
    share = 100 * len(found["caught"]) / max(total, 1)
    print(f"{len(found['caught'])} of {total} caught ({share:.1f} %), {len(found['same'])} the same code or listed as "
          f"equivalent, {len(found['broken'])} that do not compile")
    print(f"{len(found['survived'])} survivors:", *(m.name for m in found["survived"]), sep="\n")
    return bool(found["survived"])


if __name__ == "__main__":
    sys.exit(main())
