#!/usr/bin/env python3
"""Tests that can fail: programs that are wrong in one operator, and whether the tests see it.

Usage: mutate.py [--count N] [--seed N] [--only PATH] [--seconds N] [--jobs N]

Draws places at random over the C sources of imgio, filters, kernels/cpu and cli, changes one operator or number at each,
builds what follows (in a copy of the tree, build/mutate/tree) and runs the tests that concern the file, the quick ones
first, until one fails. What compiles to the same code, and what tests/mutate/equivalent lists with its reason, is no
mutant. Survivors are printed as lines "path:line: before => after", and at the end the share that was caught.
"""

import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TREE = ROOT / "build/mutate/tree"
SOURCES = ("imgio/**/*.c", "filters/**/*.c", "kernels/cpu/**/*.c", "cli/**/*.c")

# What stands between words as a whole, and what in its place.
CHANGES = [
    (r" < ", [" <= ", " > "]), (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]), (r" % ", [" / "]),
    (r" << ", [" >> "]), (r" >> ", [" << "]), (r" & ", [" | "]), (r" \| ", [" & "]),
    (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r"\+\+", ["--"]), (r"(?<=[(& |])!(?=[a-z(*])", [""]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"(?<![\w.])0(?![\w.])", ["1"]), (r"(?<![\w.])1(?![\w.])", ["0", "2"]), (r"(?<![\w.])[2-9](?![\w.])", ["1"]),
]

# Tests by what they test: of each folder the patterns of paths, in tests/. All others would see nothing of it.
RELEVANT = {
    "imgio": ["unit/test_imgio_*", "unit/test_cli_output", "cli/outputs", "cli/bad_input", "cli/convert", "cli/png_peers",
              "filters/metadata*", "cli/analyses", "cli/together", "cli/lists", "cli/help", "filters/npy*", "cli/usage", "cli/libraries"],
    "filters": ["unit/test_filter*", "unit/test_extract", "unit/test_histogram", "unit/test_compare", "unit/test_tables",
                "unit/test_options", "unit/test_chains", "unit/test_estimate", "unit/test_bands", "unit/test_cli_parse",
                "filters/*", "cli/analyses", "cli/usage", "cli/help", "cli/run", "cli/bench", "cli/convert", "cli/selftest",
                "cli/lists", "unit/test_table", "cli/device"],
    "kernels": ["unit/test_cpu_*", "unit/test_pool", "unit/test_queues", "unit/test_filter*", "unit/test_ways*",
                "unit/test_bands", "filters/*", "cli/selftest", "cli/levels", "cli/bench", "unit/test_extract"],
    "cli": ["unit/test_cli_*", "cli/*", "filters/*"],
}
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable  # where numpy is
SLOW = {"build", "contributing", "readme", "hardening", "house", "lib", "levels_all"}


def masked(text):
    """The text with comments, strings, lines of the preprocessor and of include guards as blanks."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|\"(\\.|[^\"\\\n])*\"|'(\\.|[^'\\\n])+'", blank, text, flags=re.S)
    return re.sub(r"^#(.*\\\n)*.*$", blank, text, flags=re.M)


def places(path):
    """Every change that could be made: offset, end, what comes there."""
    text = masked(path.read_text())
    return [(m.start(), m.end(), new) for pattern, news in CHANGES for m in re.finditer(pattern, text) for new in news]


def run(words, seconds, **more):
    """The exit status; 124 where it took too long."""
    try:
        return subprocess.run(words, cwd=TREE, timeout=seconds, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True, **more).returncode
    except subprocess.TimeoutExpired:
        return 124


class Tests:
    def __init__(self, jobs):
        self.make = ["make", "CUDA=0", f"-j{jobs}"]
        self.times = {}

    def command(self, test):
        if test.startswith("unit/"):
            return [f"build/cpu/tests/{test}"]
        if test.startswith("cli/"):
            return ["bash", f"tests/{test}.sh", "build/cpu/gpuimg"]
        return [PYTHON, f"tests/{test}.py", "build/cpu/gpuimg"]

    def of(self, path):
        names = set()
        for pattern in RELEVANT[str(path).split("/")[0]]:
            for found in (TREE / "tests").glob(pattern + ".*"):
                name = str(found.relative_to(TREE / "tests").with_suffix(""))
                if found.suffix in (".c", ".sh", ".py") and found.stem not in SLOW and not found.stem.startswith("_"):
                    if "cuda" not in name:
                        names.add(name)
        return names

    def learn(self, names):
        """How long each takes on the program as it is; those that fail there are left out."""
        for name in sorted(names - set(self.times)):
            start = time.monotonic()
            status = run(self.command(name), 300)
            self.times[name] = time.monotonic() - start if status == 0 else None
            if status:
                print(f"left out: {name} ends {status} on the program as it is", flush=True)

    def build(self, names):
        units = [f"build/cpu/tests/{n}" for n in names if n.startswith("unit/")]
        return run([*self.make, "all", *units], 900)

    def killer(self, names):
        """The test that fails, None where none does."""
        for name in sorted((n for n in names if self.times[n] is not None), key=lambda n: self.times[n]):
            if run(self.command(name), 15 + 5 * self.times[name]):
                return name
        return None


def objects(path):
    """The code that the file compiles to, without debugging information."""
    levels = ["-DGI_LEVEL=avx2", "-DGI_LEVEL_avx2=1", "-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mpopcnt"]
    words = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-ffp-contract=off", "-fno-math-errno", "-I.", "-DGI_HAVE_CUDA=0",
             *(levels if path.startswith("kernels/cpu/") and "/device/" not in path else []), "-S", "-o", "-", path]
    done = subprocess.run(words, cwd=TREE, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def describe(path, text, start, end, new):
    line = text.count("\n", 0, start) + 1
    a, b = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    return line, f"{text[a:b].strip()} => {(text[a:start] + new + text[end:b]).strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        target = TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, target)
    corpora = TREE.parent / "shared"
    if (ROOT.parent / "shared").is_dir() and not corpora.exists():
        corpora.symlink_to(ROOT.parent / "shared")
    listed = (HERE / "equivalent").read_text()
    pool = [(p.relative_to(TREE), *place) for g in SOURCES for p in sorted(TREE.glob(g)) for place in places(p)]
    pool = [m for m in pool if args.only in str(m[0])]
    random.Random(args.seed).shuffle(pool)
    print(f"seed {args.seed}: {len(pool)} places", flush=True)
    tests, end = Tests(args.jobs), time.monotonic() + args.seconds
    caught, same, survivors, broken = 0, 0, [], 0
    for path, start, stop, new in pool:
        if caught + len(survivors) >= args.count or time.monotonic() > end:
            break
        file = TREE / path
        text = file.read_text()
        line, change = describe(path, text, start, stop, new)
        if f"{path}: {change}\n" in listed:
            same += 1
            continue
        names = tests.of(path)
        before = objects(str(path))
        if tests.build(names):
            print("the tree does not build", flush=True)
            return 2
        tests.learn(names)
        file.write_text(text[:start] + new + text[stop:])
        after = objects(str(path))
        if after is None or after == before:
            broken, same = broken + (after is None), same + (after is not None)
        elif tests.build(names):
            broken += 1
        else:
            killer = tests.killer(names)
            caught += killer is not None
            if not killer:
                survivors.append(f"{path}:{line}: {change}")
            print(f"{path}:{line}: {change}: {'caught by ' + killer if killer else 'SURVIVED'}", flush=True)
        file.write_text(text)
    total = caught + len(survivors)
    print(f"{caught} of {total} caught ({100 * caught / max(total, 1):.1f} %), {same} the same code or listed as equivalent, "
          f"{broken} that do not compile")
    print(f"{len(survivors)} survivors:", *survivors, sep="\n")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
