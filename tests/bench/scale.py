"""Images per second of batches with 1, 2, 4, ... cores and GPUs, beside a program that only reads and writes the files."""
import os
import shutil
import statistics
import subprocess
import tarfile
import time
from multiprocessing.pool import ThreadPool

import commands
import jpeg

RUNS = 3


def counts(most):
    """Returns 1, 2, 4, ... up to `most`, and `most`."""
    return sorted({1 << i for i in range(most.bit_length()) if 1 << i <= most} | ({most} if most else set()))


def gpus(bench):
    said = subprocess.run([bench.gpuimg, "devices"], capture_output=True, text=True).stdout
    return sum(line.startswith("cuda:") for line in said.splitlines())


def make_inputs(bench, spec, images):
    """Makes a folder of images of which each is a file of its own, and a tar of it. Returns both paths."""
    path = jpeg.make(bench, spec)
    folder, tar = (os.path.join(bench.folder, name) for name in ("scale", "scale.tar"))
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    with tarfile.open(tar, "w") as out:
        for i in range(images):
            name = os.path.join(folder, f"{i:06}.jpg")
            shutil.copyfile(path, name)
            out.add(name, os.path.basename(name))
    return folder, tar


def clear(output):
    if os.path.isdir(output):
        shutil.rmtree(output)
    elif os.path.exists(output):
        os.remove(output)


def copy_files(source, output, writes, threads):
    """Reads every file, and writes its bytes if the row writes images: what the file system does at best."""
    def copy(name):
        with open(os.path.join(source, name), "rb") as f:
            data = f.read()
        if writes:
            with open(os.path.join(output, name), "wb") as f:
                f.write(data)

    if os.path.isfile(source):
        shutil.copyfile(source, output)
        return
    os.makedirs(output)
    with ThreadPool(threads) as pool:
        pool.map(copy, os.listdir(source))


def seconds_of(work, output):
    """Returns the median time of some runs."""
    times = []
    for _ in range(RUNS):
        clear(output)
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    clear(output)
    return statistics.median(times)


def gpuimg(bench, words, cores):
    """Runs gpuimg on these cores. Raises RuntimeError with its message."""
    said = subprocess.run([bench.gpuimg] + words, capture_output=True, text=True, cwd=bench.folder,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if said.returncode:
        raise RuntimeError(said.stderr.strip()[:120])


def row_result(bench, row, images, source, ngpus):
    output = os.path.join(bench.folder, row["out"])
    words = commands.words_of(row["gpuimg"], source, output)
    cores = sorted(os.sched_getaffinity(0))
    settings = {f"{n} core{'s' if n > 1 else ''}": (cores[:n], "cpu") for n in counts(len(cores))}
    settings.update({f"{n} GPU{'s' if n > 1 else ''}": (cores, "cuda:" + ",".join(str(i) for i in range(n)))
                     for n in counts(ngpus)})
    result = {"table": "scale", "name": row["name"], "images": images, "rates": {}, "ratios": {}, "failed": {}}
    first = {}
    for name, (on, device) in settings.items():
        try:
            rate = images / seconds_of(lambda: gpuimg(bench, words + ["--device", device], on), output)
        except RuntimeError as error:
            result["failed"][name] = str(error)
            continue
        result["rates"][name] = rate
        result["ratios"][name] = rate / first.setdefault(device[:3], rate)
    result["rates"]["files alone"] = images / seconds_of(
        lambda: copy_files(source, output, row.get("writes", True), len(cores)), output)
    return result


def scale(bench, table):
    spec = table["scale"]
    rows = [row for row in spec["rows"] if bench.wants(row)]
    if bench.cpu.missing:
        return [{"table": "scale", "name": row["name"], "skipped": bench.cpu.missing} for row in rows]
    bench.cuda.close()  # an open context takes memory and time of the first GPU
    images, ngpus = 16 if bench.size else spec["images"], gpus(bench)
    folder, tar = make_inputs(bench, spec, images)
    return [bench.note(row_result(bench, row, images, tar if row.get("tar") else folder, ngpus)) for row in rows]
