"""Measures gpuimg against other programs and libraries. rows.json has every row and its target.

    bench.py [TABLE...] [OPTION...]      TABLE: gpu cpu ways types commands png jpeg auto startup scale growth; default: all
    bench.py gpu cpu --only gaussian     only rows whose name matches a regular expression
    bench.py --quick --json out.json     tiny images, every row: tests that all of them run

`make bench` builds what this needs and runs it. What is missing on this machine (a GPU, a peer) is reported as
skipped.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands
import jpeg
import kernels
import report
import scale

TABLES = {"gpu": kernels.gpu, "cpu": kernels.cpu, "ways": kernels.ways, "types": kernels.types, "growth": kernels.growth,
          "commands": commands.commands, "png": commands.png, "jpeg": jpeg.jpeg, "auto": commands.auto, "startup": commands.startup,
          "scale": scale.scale}


def sizes(text):
    """Sizes from the first to the last, each twice the one before (256..16384), or a list separated by commas."""
    if ".." not in text:
        return [int(n) for n in text.split(",")]
    low, high = (int(n) for n in text.split(".."))
    return [low << i for i in range(32) if low << i <= high]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=" ".join(TABLES))
    parser.add_argument("--build", default="build/cpu", help="folder of the build (default %(default)s)")
    parser.add_argument("--only", default="", help="rows whose name holds this regular expression")
    parser.add_argument("--size", type=int, help="side of the images, in place of each table's own")
    parser.add_argument("--sizes", type=sizes, default="256..16384",
                        help="sides for growth and auto (default %(default)s)")
    parser.add_argument("--inputs", default="random,constant,photo,worst", help="for work whose time depends on them")
    parser.add_argument("--threads", default="1,all", help="of the CPU kernels (default %(default)s)")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--photographs", metavar="DIR", help="PNG files for the png table, in place of a made one")
    parser.add_argument("--quick", action="store_true", help="tiny images, one run, one thread")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--markdown", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png|svg", help="draw the growth table")
    return parser.parse_args()


class Bench:
    """State shared by the tables: options, programs, a folder in memory for files."""

    def __init__(self, args):
        self.build = os.path.abspath(args.build)
        self.gpuimg = os.path.join(self.build, "gpuimg")
        self.only, self.size, self.sizes, self.runs = args.only, args.size, args.sizes, args.runs
        self.inputs, self.photographs = args.inputs.split(","), args.photographs
        cores = len(os.sched_getaffinity(0))
        self.threads = sorted({cores if t == "all" else int(t) for t in args.threads.split(",")})
        if args.quick:
            self.size, self.sizes, self.runs, self.threads = 64, [64, 128], 1, [1]
        self.folder = tempfile.mkdtemp(prefix="gpuimg-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.cpu = kernels.Server(os.path.join(self.build, "tests/bench/bench_cpu"))
        self.cuda = kernels.Server(os.path.join(self.build, "tests/bench/bench_cuda"))
        self.pictures = commands.Pictures(self)
        commands.write_tables(self.folder)

    def wants(self, row):
        return re.search(self.only, row["name"]) is not None

    def note(self, result):
        """Prints on standard error that a row is done."""
        figures = [f"{key} {report.number(result[key])}" for key in ("us", "s", "ratio", "ratio_min") if key in result]
        figures += [f"{name} {report.number(rate)}" for name, rate in result.get("rates", {}).items()]
        print(f"{result['table']}: {report.label(result)}, {result.get('size', '')}: "
              f"{', '.join(figures) or 'skipped: ' + result.get('skipped', '')} {report.verdict(result)}",
              file=sys.stderr, flush=True)
        return result

    def close(self):
        self.cpu.close()
        self.cuda.close()
        shutil.rmtree(self.folder)


def save(args, about, results):
    if args.markdown:
        with open(args.markdown, "w") as f:
            print(report.markdown(about, results), file=f)
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"about": about, "results": results}, f, indent=1)


def main():
    args = arguments()
    unknown = [t for t in args.tables if t not in TABLES]
    if unknown:
        sys.exit(f"bench.py: {unknown[0]}: want a table: {' '.join(TABLES)}")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.json")) as f:
        table = json.load(f)
    bench = Bench(args)
    if not os.path.exists(bench.gpuimg):
        sys.exit(f"bench.py: {bench.gpuimg}: not built")
    results = []
    try:
        about = report.machine(bench)
        for name in args.tables or TABLES:
            results += TABLES[name](bench, table)
            save(args, about, results)  # after each table: a run that is cut short leaves what it has
    finally:
        bench.close()
    print(report.markdown(about, results))
    fault = report.plot(args.plot, results) if args.plot else None
    if fault:
        print(f"bench.py: no plot: {fault}", file=sys.stderr)


main()
