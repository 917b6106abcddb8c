#!/usr/bin/env python3
"""Measures which lines and branches the tests run, by gcc's gcov: prints a table and writes a map for tests/mutate.

Usage: coverage.py [--only WORD] [--missing PATH] [--table]

Runs the unit tests, tests/cli, tests/filters and the sample of tests/torture, one after the other, on programs that were
built with COVERAGE=1 (by make coverage), and writes the lines that each ran to build/coverage/map.json. --only WORD repeats
tests with the word in their name and keeps the results of others, --table runs no test. The table counts branches that were
taken at least once, in imgio and in the parts of cli that write outputs; branches that gcov ascribes to calls that do not
return are not counted. --missing PATH prints the lines with branches that were not taken, with + or - for each branch;
tests/coverage/missing explains them.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/cpu-coverage"
MAP = ROOT / "build/coverage/map.json"
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable  # where numpy is
# These tests concern the tree, not the program's behaviour.
NOT_THE_PROGRAM = {"build", "claims", "contributing", "hardening", "house", "readme"}
SECONDS, TORTURE_SECONDS = 150, 900
# Sources of the table: imgio, and the parts of cli that write results into files.
OUTPUT_PATH = r"imgio/.*|cli/(subprocess|commands/extract_images|inputs/(image_files|file_batch|names|path_conflicts)|plot/overlay|report/journal|run/(output|ready|imaging|imaging_work))"


def command(build, test):
    """Returns the command that runs a test of the programs in a folder."""
    if test.startswith("unit/"):
        return [str(build / "tests" / test)]
    if test.startswith("cli/"):
        return ["bash", f"tests/{test}.sh", str(build / "gpuimg")]
    return [PYTHON, f"tests/{test}.py", str(build / "gpuimg")]


def tests(root=ROOT):
    """Returns the names of all tests, as paths in tests/ without suffix."""
    found = [*root.glob("tests/unit/test_*.c"), *root.glob("tests/cli/*/*.sh"), *root.glob("tests/filters/*.py")]
    names = {str(p.relative_to(root / "tests").with_suffix("")) for p in found if not p.name.startswith("_")}
    return sorted(n for n in names if n.split("/")[-1] not in NOT_THE_PROGRAM and "cuda" not in n)


def counts():
    """Returns the counts since the last call: for each source the lines that ran, and how often each branch of
    each line was taken."""
    data = [str(p) for p in BUILD.rglob("*.gcda")]
    sources = {}
    if data:
        words = ["gcov", "--json-format", "--stdout", "--branch-probabilities", *data]
        for text in subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.splitlines():
            for file in json.loads(text)["files"]:
                if not file["file"].startswith(("/", "tests/")):
                    add(sources.setdefault(file["file"], {"lines": {}, "branches": {}}), file["lines"])
    for path in data:
        os.unlink(path)
    return sources


def add(source, lines):
    for line in lines:
        number = str(line["line_number"])
        source["lines"][number] = source["lines"].get(number, 0) + (line["count"] > 0)
        taken = [b["count"] for b in line["branches"] if not b["throw"]]
        if taken:
            key = f"{number} {line.get('function_name', '')}"
            before = source["branches"].get(key, [0] * len(taken))
            source["branches"][key] = [int(a or b > 0) for a, b in zip(before, taken)]


def run(words, folder, seconds):
    """Returns the exit status, or "too long" if the time limit is exceeded. All of its processes are ended."""
    child = subprocess.Popen(words, cwd=folder, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


def learn(test):
    """Records the lines that a test runs and its time; the record of a test that takes too long is incomplete."""
    start = time.monotonic()
    if test == "torture":
        status = run([PYTHON, "tests/torture/torture.py", str(BUILD / "gpuimg")], ROOT, TORTURE_SECONDS)
    else:
        status = run(command(BUILD, test), ROOT, SECONDS)
    return {"status": status, "seconds": round(time.monotonic() - start, 2), "sources": counts()}


def total(results):
    """Merges the branches of all tests: for each source, line and function, whether each branch was taken."""
    sources = {}
    for result in results.values():
        for path, source in result["sources"].items():
            mine = sources.setdefault(path, {})
            for key, taken in source["branches"].items():
                before = mine.get(key, [0] * len(taken))
                mine[key] = [int(a or b) for a, b in zip(before, taken)]
    return sources


def table(results):
    rows, of_all = [], [0, 0]
    for path, lines in sorted(total(results).items()):
        if re.fullmatch(f"({OUTPUT_PATH})\\.[ch]", path):
            taken, there = sum(map(sum, lines.values())), sum(map(len, lines.values()))
            of_all = [of_all[0] + taken, of_all[1] + there]
            rows.append((path, taken, there))
    for path, taken, there in sorted([*rows, ("total", *of_all)], key=lambda r: (r[0] == "total", r[2] - r[1])):
        print(f"{path:36} {taken:5} of {there:5} branches {100 * taken / max(there, 1):6.1f} %")


def missing(results, path):
    lines = (ROOT / path).read_text().splitlines()
    for key, taken in sorted(total(results).get(path, {}).items(), key=lambda item: int(item[0].split()[0])):
        if not all(taken):
            number = int(key.split()[0])
            print(f"{path}:{number}: {''.join('+' if t else '-' for t in taken)} {lines[number - 1].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--missing")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    results = json.loads(MAP.read_text()) if MAP.exists() and (args.only or args.table or args.missing) else {}
    if not args.table and not args.missing:
        counts()
        MAP.parent.mkdir(parents=True, exist_ok=True)
        for test in [*tests(), "torture"]:
            if args.only in test:
                results[test] = learn(test)
                print(f"{test:36} {results[test]['seconds']:7.2f} s, status {results[test]['status']}", flush=True)
                MAP.write_text(json.dumps(results))
    if args.missing:
        missing(results, args.missing)
    else:
        table(results)


if __name__ == "__main__":
    main()
