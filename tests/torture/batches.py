#!/usr/bin/env python3
"""Batches of mixed images on a GPU: every command must write the bytes that the CPU writes.

Usage: batches.py GPUIMG [--count N] [--seconds N] [--workers N] [--device DEVICE] [--seed N]

Each command is one operation or chain over 14 images of different sizes, sample types and channels, so that the queues of
the device launch one kernel with different shapes at the same time. N commands are drawn from 60, and run several at a time
until the given seconds are over.
"""

import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

IMAGES = 14
COMMANDS = 60
SECONDS = 120  # of a command, at most

# Name, option, format of its value, and the ends of its range; integers are odd.
OPERATIONS = (
    ("gaussian", "--sigma", "{}", 0.5, 12.0), ("median", "--k", "{}", 3, 31), ("blur", "--k", "{}", 3, 201), ("erode", "--k", "{}", 3, 61),
    ("rotate", "--angle", "{}", -180.0, 180.0), ("resize", "--size", "{:.1f}%", 10.0, 300.0), ("sharpen", "--sigma", "{}", 0.5, 9.0),
    ("clahe", "--tiles", "{0}x{0}", 1, 13), ("local-threshold", "--k", "{}", 3, 101), ("bilateral", "--sigma", "{}", 1.0, 5.0),
    ("equalize", None, "", 0, 0), ("normalize", None, "", 0, 0), ("edges", None, "", 0, 0), ("nlmeans", "--search", "{}", 5, 21),
)


def pam(path, random_):
    """A random image: sides of 1 to 700 pixels, 8 or 16 bits, 1 to 4 channels."""
    width, height, channels = random_.randint(1, 700), random_.randint(1, 700), random_.randint(1, 4)
    wide = random_.random() < 0.5
    kind = ("GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA")[channels - 1]
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {65535 if wide else 255}\nTUPLTYPE {kind}\nENDHDR\n"
    path.write_bytes(head.encode() + random_.randbytes(width * height * channels * (1 + wide)))


def one_step(random_):
    name, option, form, low, high = random_.choice(OPERATIONS)
    if option is None:
        return [name]
    if isinstance(low, float):
        return [name, option, form.format(round(random_.uniform(low, high), 3))]
    return [name, option, form.format(random_.randint(low, high - 1) // 2 * 2 + 1)]


def one_command(random_):
    if random_.random() < 0.6:
        return one_step(random_)
    return ["run", " | ".join(" ".join(one_step(random_)) for _ in range(random_.randint(2, 4)))]


def run(program, words, folder, out, device):
    images = sorted(str(p) for p in (folder / "in").iterdir())
    return subprocess.run([program, *words, *images, "--out-dir", str(out), "--device", device, "-q"], cwd=folder,
                          capture_output=True, text=True, timeout=SECONDS)


def files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    program, random_ = str(pathlib.Path(args.program).resolve()), random.Random(args.seed)
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        (folder / "in").mkdir()
        for i in range(IMAGES):
            pam(folder / "in" / f"{i:02}.pam", random_)
        commands, wanted, failures, numbers = [one_command(random_) for _ in range(COMMANDS)], {}, [], threading.Lock()

        def want(i):
            done = run(program, commands[i], folder, folder / f"want-{i}", "cpu")
            if done.returncode:
                return f"{commands[i]} on the CPU: {done.stderr.strip()[:200]}"
            wanted[i] = files(folder / f"want-{i}")
            return None

        def one(n):
            if time.monotonic() > end:
                return False
            i = n % COMMANDS
            out = folder / f"out-{n}"
            done = run(program, commands[i], folder, out, args.device)
            wrong = None
            if done.returncode:
                wrong = f"ended {done.returncode}: {done.stderr.strip()[:200]}"
            elif files(out) != wanted[i]:
                wrong = "other bytes in " + " ".join(k for k, v in files(out).items() if v != wanted[i].get(k))
            for path in out.iterdir() if out.exists() else ():
                path.unlink()
            if wrong:
                with numbers:
                    failures.append(f"{' '.join(commands[i])!r}: {wrong}")
            return True

        with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            failures += filter(None, pool.map(want, range(COMMANDS)))
            end, ran = time.monotonic() + args.seconds, 0
            if not failures:
                ran = sum(pool.map(one, range(args.count)))
    for failure in failures[:40]:
        print("FAILED:", failure)
    print(f"{max(ran - len(failures), 0)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures or not ran)


if __name__ == "__main__":
    sys.exit(main())
