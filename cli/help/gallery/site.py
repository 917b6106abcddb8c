#!/usr/bin/env python3
"""The gallery of gpuimg: a static site whose every example is run when it is made.

Usage: site.py GPUIMG FOLDER            writes the site into FOLDER
       site.py GPUIMG --check [NAME]    runs the examples (of an operation) and compares their hashes with hashes.txt; prints "N passed, N failed, N skipped"
       site.py GPUIMG --check-tasks     runs the commands of tasks.txt
       site.py GPUIMG --record          writes hashes.txt anew

Only the standard library is needed. gallery.py says what examples look like.
"""
import json
import os
import re
import subprocess
import sys

import gallery


def listed(gpuimg):
    """Returns what `gpuimg list --json` prints."""
    return json.loads(subprocess.run([gpuimg, "list", "--json"], stdout=subprocess.PIPE, check=True).stdout)


def check(gpuimg, only=None):
    """Compares results with their hashes, those of all operations or of one. Names of devices that GALLERY_DEVICES lists are
    used one after the other."""
    examples = [e for e in gallery.read_examples() if only in (None, e.operation)]
    want = {name: digest for name, digest in gallery.read_hashes().items() if not only or re.match(rf"{only}-\d+/", name)}
    passed, failures = 0, []
    shown = {e.operation for e in examples if e.results}
    for operation in listed(gpuimg)["operations"]:
        if only in (None, operation["name"]) and operation["name"] not in shown:
            failures.append(f"{operation['name']}: no example in cli/help/gallery/examples")
    for device in os.environ.get("GALLERY_DEVICES", "cpu").split():
        runner, seen = gallery.Runner(gpuimg, {**os.environ, "GPUIMG_DEVICE": device}), set()
        for example in examples:
            _, hashes, error = gallery.run_example(runner, example)
            if error:
                failures.append(f"{example.name} on {device}: {error}")
            for name, digest in hashes.items():
                seen.add(name)
                if want.get(name) == digest:
                    passed += 1
                else:
                    failures.append(f"{name} on {device}: {digest}, want {want.get(name)}")
        failures += [f"{name}: in hashes.txt, but no example has it" for name in want if name not in seen]
    return passed, failures


def check_tasks(gpuimg):
    """Runs every task in the folder of its kind of user."""
    runner, passed, failures = gallery.Runner(gpuimg, os.environ), 0, []
    groups = gallery.read_tasks()
    for group in groups:
        folder = runner.open(group.name)
        error = runner.run(folder, "\n".join(["set -e", *group.setup]))
        if error:
            failures.append(f"{group.name}: {error}")
        for text, command in group.tasks:
            error = runner.run(folder, f"set -o pipefail\n{command}")
            if error:
                failures.append(f"{group.name}: {command}: {error}")
            else:
                passed += 1
    if sum(len(g.tasks) for g in groups) < 100:
        failures.append("fewer than 100 tasks")
    return passed, failures


def record(gpuimg):
    runner, hashes = gallery.Runner(gpuimg, {**os.environ, "GPUIMG_DEVICE": "cpu"}), {}
    for example in gallery.read_examples():
        _, found, error = gallery.run_example(runner, example)
        if error:
            sys.exit(f"{example.name}: {error}")
        hashes.update(found)
    gallery.write_hashes(hashes)
    print(f"{len(hashes)} hashes")


def main():
    if len(sys.argv) != 3 and not (len(sys.argv) == 4 and sys.argv[2] == "--check"):
        sys.exit(__doc__)
    gpuimg, what, *only = sys.argv[1:]
    if what == "--record":
        record(gpuimg)
    elif what in ("--check", "--check-tasks"):
        passed, failures = check(gpuimg, *only) if what == "--check" else check_tasks(gpuimg)
        for failure in failures:
            print(f"FAILED: {failure}")
        print(f"{passed} passed, {len(failures)} failed, 0 skipped")
        sys.exit(bool(failures))
    else:
        import write  # needed for pages only
        write.site(gpuimg, what, listed(gpuimg))


if __name__ == "__main__":
    main()
