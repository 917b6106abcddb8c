#!/usr/bin/env python3
"""Fault injection: runs commands while calls of the CUDA driver fail (cuda.c), on a machine with a GPU.

Usage: cuda.py GPUIMG [--seconds N] [--workers N]

Each run must exit 0 with the same files and output as without a fault or, with --device cuda, not 0 with one message and
every file as it was; within its time without a fault plus two seconds. With --device auto it must exit 0, because the CPU
takes over. Faults are tried in random order for N seconds.

Sources: kernels/cuda/device cli/run
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import torture as common
from torture import Case, Torture, read_all, write_all

common.SECONDS = 10

WEIGHTS = ";".join(" ".join(str((x * 7 + y * 3) % 11 - 5) for x in range(61)) for y in range(61))
CUDA = ["--device", "cuda"]
COMMANDS = {
    "gaussian": ["gaussian", "in.ppm", "out.png", "--sigma", "2", *CUDA],
    "blur": ["blur", "in.ppm", "out.ppm", "--k", "5", *CUDA],
    "histogram": ["histogram", "in.ppm", "--json", "--plot", "out.svg", *CUDA],
    "extract": ["extract", "in.ppm", "--at", "50%", "--labels", "out.png", "--points", "p.csv", *CUDA],
    "compare": ["compare", "in.ppm", "in.ppm", "--diff", "out.png", *CUDA],
    "chain": ["run", "gaussian | edges | threshold --at otsu | extract --to t.csv", "in.ppm", "out.png", *CUDA],
    "auto": ["convolve", "big.pgm", "out.pgm", "--kernel", WEIGHTS, "--device", "auto", "--threads", "1"],
}


class CudaTorture(Torture):
    def __init__(self, program, shim, root):
        super().__init__(program, shim, root)
        del self.env["GPUIMG_DEVICE"]
        self.times, self.endings = {}, collections.Counter()

    def case(self, name, words):
        folder = self.root / name.replace(" ", "-")
        folder.mkdir()
        if "big.pgm" in words:
            (folder / "big.pgm").write_bytes(b"P5 2000 2000 255\n" + random.Random(5).randbytes(4000000))
        else:
            shutil.copy(self.base, folder / "in.ppm")
        return Case(name, words, folder)

    def count(self, case, kind):
        mark = self.root / "count"
        self.run(case, case.folder, f"{kind} 0", mark)
        return int(mark.read_text() or 0) if mark.exists() else 0

    def one_timed(self, case, kind, n, worker):
        folder = self.root / f"work-{worker}"
        write_all(folder, case.before)
        start = time.monotonic()
        try:
            done = self.run(case, folder, f"{kind} {n}")
        except subprocess.TimeoutExpired:
            return "hung"
        seconds = time.monotonic() - start
        self.endings[case.name, "done" if done.returncode == 0 else "error"] += 1
        if seconds > 2 + self.times[case.name]:
            return f"took {seconds:.1f} s, without a fault {self.times[case.name]:.1f}"
        if case.name == "auto" and done.returncode:
            return f"did not fall back: {done.stderr[:200]!r}"
        return self.judge(case, kind, done, read_all(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=6)
    args = parser.parse_args()
    program = pathlib.Path(args.program).resolve()
    shim = program.parent / "tests/torture/cuda.so"
    with tempfile.TemporaryDirectory() as root:
        torture = CudaTorture(program, shim, pathlib.Path(root))
        cases = [torture.case(name, words) for name, words in COMMANDS.items()]
        broken = [c.name for c in cases if not torture.learn(c)]
        work = []
        with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            def base(case):  # with as many beside it as there will be; of auto where the CPU does it all
                start = time.monotonic()
                torture.run(case, case.folder, "cuda 1" if case.name == "auto" else "nothing 0")
                return time.monotonic() - start
            for case in cases:
                torture.times[case.name] = max(pool.map(base, [case] * args.workers))
                n = torture.count(case, "cuda")
                print(f"{case.name}: {n} calls of the driver, {torture.times[case.name]:.2f} s without a fault")
                work += [(case, kind, i) for kind in ("cuda", "cuda-memory") for i in range(1, n + 1)]
            random.Random(1).shuffle(work)
            free, end = list(range(args.workers)), time.monotonic() + args.seconds

            def one(case, kind, n):
                if time.monotonic() > end:
                    return False
                worker = free.pop()
                wrong = torture.one_timed(case, kind, n, worker)
                free.append(worker)
                if wrong:
                    torture.failures.append(f"{case.name}: {kind} {n}: {wrong}")
                else:
                    torture.passed += 1
                return True

            done = sum(pool.map(lambda item: one(*item), work))
    print(f"{done} of {len(work)} faults: {dict(torture.endings)}")
    for failure in torture.failures[:60]:
        print("FAILED:", failure)
    print(f"{torture.passed} passed, {len(torture.failures) + len(broken)} failed, 0 skipped")
    return bool(torture.failures or broken or not work)


if __name__ == "__main__":
    sys.exit(main())
