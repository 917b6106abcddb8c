"""Times the kernels of CUDA and of the CPU, through bench_cuda and bench_cpu, against their peers."""
import json
import os
import statistics
import subprocess
import time

import opencv

MEASURES = {"threshold", "histogram", "sum", "reduce", "select", "label", "region_stats", "components"}


class Server:
    """A bench program that answers requests (request.h); it is started again if it dies."""

    def __init__(self, path):
        self.path = path
        self.process = None
        self.missing = None if os.path.exists(path) else f"{os.path.basename(path)} is not built"
        if not self.missing:
            trial = subprocess.run([path], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if trial.returncode:
                self.missing = trial.stderr.strip()[:200] or f"ended with status {trial.returncode}"

    def ask(self, request):
        if self.process is None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            status = self.process.wait()
            self.process = None
            return {"error": f"{os.path.basename(self.path)} ended with status {status}"}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def expand(rows, inputs, worst):
    """Yields each row with its own input and, if the time depends on the samples, with all requested inputs. A
    row of the same name that has the input as its own comes first; targets apply to a row's own input only."""
    given = {(row["name"], row.get("input", "random")) for row in rows}
    for row in rows:
        own = row.get("input", "random")
        yield {**row, "input": own}
        if row["work"] not in MEASURES:
            continue
        more = [name for i in inputs for name in (worst.get(row["work"], []) if i == "worst" else [i])]
        for name in more:
            if (row["name"], name) not in given:
                given.add((row["name"], name))
                yield {**{k: v for k, v in row.items() if not k.startswith("target")}, "input": name}


def request_of(row, size, **more):
    keys = ("work", "k", "type", "channels", "input", "alpha", "connectivity", "degrees", "interpolation", "to", "filter", "operation",
            "by", "width", "height")
    to = {"to": max(1, int(row["part"] * size))} if "part" in row else {}
    return {"width": size, "height": size, **{k: row[k] for k in keys if k in row}, **to, **more}


def floor_us(answer):
    """Returns the larger of two lower bounds: bytes at the copy rate and multiply-adds at their rate, both
    measured in the same run."""
    return 1e6 * max(answer["bytes"] / answer["copy_rate"], answer["fmas"] / answer["fma_rate"])


def result_of(table, row, size, answer):
    """Returns the columns that all tables have."""
    result = {"table": table, "name": row["name"], "request": request_of(row, size), "size": size}
    if "error" in answer:
        return {**result, "skipped": answer["error"]}
    us, floor = statistics.median(answer["us"]), floor_us(answer)
    return {**result, "us": us, "us_min": min(answer["us"]), "runs": len(answer["us"]), "device": answer["device"],
            "bytes": answer["bytes"], "fmas": answer["fmas"], "kept": answer["kept"],
            "copy_rate": answer["copy_rate"], "fma_rate": answer["fma_rate"],
            "floor_us": floor, "of_floor": us / floor}


def skipped(table, rows, size, reason):
    return [{"table": table, "name": row["name"], "request": request_of(row, size), "size": size, "skipped": reason}
            for row in rows]


def gpu_row(server, spec, row, size, runs):
    answer = server.ask(request_of(row, size, runs=runs))
    result = result_of("gpu", row, size, answer)
    if "skipped" in result:
        return result
    peers = {name: statistics.median(us) for name, us in answer["peers"].items()}
    result.update(backend="cuda", copy_us=peers.pop("copy", None), peers=peers, failed=answer["failed"],
                  libraries=["CUB", "thrust"] + answer["libraries"])
    if "target_us" in row:
        result["target_us"] = row["target_us"]
        if size == spec["size"] and spec["machine"] in answer["device"]:
            result["met"] = result["us"] <= row["target_us"]
    return result


def gpu(bench, table):
    spec, size = table["gpu"], bench.size or table["gpu"]["size"]
    rows = [r for r in expand(spec["rows"], bench.inputs, table["worst"]) if bench.wants(r)]
    if bench.cuda.missing:
        return skipped("gpu", rows, size, bench.cuda.missing)
    return [bench.note(gpu_row(bench.cuda, spec, row, size, bench.runs)) for row in rows]


def interleave(server, request, peer, runs):
    """Times ours and OpenCV's in turn, three runs at a time; returns both lists in microseconds."""
    first = server.ask({**request, "runs": 1})
    if "error" in first:
        return first, []
    image = opencv.image(request) if peer else None
    work = peer(request, image) if peer and image is not None else None
    ours, theirs = [], []
    if work:
        work()
    part = 3 if first["us"][0] < 300e3 else 1
    rounds = max(1, runs // 3) if first["us"][0] < 300e3 else min(3, runs)
    for _ in range(rounds):
        ours += server.ask({**request, "runs": part})["us"]
        for _ in range(part if work else 0):
            start = time.perf_counter()
            work()
            theirs.append(1e6 * (time.perf_counter() - start))
    return {**first, "us": ours}, theirs


def cpu_row(bench, row, size, threads, judge):
    """judge: whether the image has the size that targets apply to."""
    request = request_of(row, size, threads=threads, save=os.path.join(bench.folder, "input.raw"))
    opencv.threads(threads)
    answer, theirs = interleave(bench.cpu, request, opencv.WORK.get(row.get("operation", row["work"])), bench.runs)
    result = result_of("cpu", row, size, answer)
    result.update(backend="cpu", threads=threads)
    if theirs and "skipped" not in result:
        ratio = result["us_min"] / min(theirs)
        result.update(peers={"OpenCV": statistics.median(theirs)}, peer_us_min=min(theirs), ratio_min=ratio,
                      ratio_median=result["us"] / statistics.median(theirs))
        if "target_ratio" in row:
            result["target_ratio"] = row["target_ratio"]
            if judge:
                result["met"] = ratio <= row["target_ratio"]
    return result


def cpu(bench, table):
    spec, size = table["cpu"], bench.size or table["cpu"]["size"]
    rows = [r for r in expand(spec["rows"], bench.inputs, table["worst"]) if bench.wants(r)]
    if bench.cpu.missing:
        return skipped("cpu", rows, size, bench.cpu.missing)
    return [bench.note(cpu_row(bench, row, size, threads, size == spec["size"]))
            for row in rows for threads in bench.threads]


def ways(bench, table):
    """Times the rows of both tables by every way of their primitive that accepts them, in turn."""
    results = []
    for backend, server in (("gpu", bench.cuda), ("cpu", bench.cpu)):
        size = bench.size or table[backend]["size"]
        for row in filter(bench.wants, table[backend]["rows"]):
            answer = {"error": server.missing} if server.missing else \
                server.ask(request_of(row, size, runs=bench.runs, peers=False, ways=True))
            result = {**result_of("ways", row, size, answer), "backend": backend}
            if "skipped" not in result:
                result["ways"] = {name: min(us) for name, us in answer["ways"].items()}
            results.append(bench.note(result))
    return results


def growth(bench, table):
    """Times against size, and against k at the table's own size, without peers. "on": a single backend."""
    results = []
    for backend, server, threads in (("gpu", bench.cuda, 1), ("cpu", bench.cpu, max(bench.threads))):
        size = bench.size or table[backend]["size"]
        for line in filter(bench.wants, table["growth"]):
            if backend not in line.get("on", backend):
                continue
            over_k = line["over"] == "k"
            points = [(size, k) for k in line["k"]] if over_k else [(s, line.get("k")) for s in bench.sizes]
            for s, k in points:
                row = {**line, "k": k} if k else line
                if server.missing:
                    answer = {"error": server.missing}
                else:
                    answer = server.ask(request_of(row, s, runs=min(5, bench.runs), peers=False, threads=threads))
                result = {**result_of("growth", row, s, answer), "over": line["over"], "backend": backend}
                results.append(bench.note(result))
    return results


def types(bench, table):
    """Times each row in every sample type with 1, 3 and 4 channels, on random samples; `cost` is the time relative to
    8-bit gray, divided by the ratio of the bytes per pixel."""
    spec, results = table["types"], []
    sides = {"u8": 1, "u16": 2, "f32": 4}
    for backend, server in (("gpu", bench.cuda), ("cpu", bench.cpu)):
        size = bench.size or spec[f"{backend}_size"]
        for row in filter(bench.wants, spec["rows"]):
            gray = None
            for kind, channels in ((kind, channels) for kind in sides for channels in (1, 3, 4)):
                shape = {**row, "type": kind, "channels": channels}
                answer = {"error": server.missing} if server.missing else \
                    server.ask(request_of(shape, size, runs=min(5, bench.runs), peers=False))
                result = {**result_of("types", shape, size, answer), "backend": backend, "type": kind, "channels": channels}
                if "skipped" not in result:
                    gray = gray or result["us"]
                    result["cost"] = result["us"] / gray / (sides[kind] * channels)
                    result["cliff"] = result["cost"] > spec["at_most"]
                results.append(bench.note(result))
    return results
