"""Images per second of JPEGs decoded, encoded, and filtered in batches: gpuimg on the CPU and on CUDA, nvJPEG, and OpenCV.
Rows with a compression are PNGs, which are decoded, and filtered in batches that write JPEGs.

gpuimg and OpenCV have a thread per core, nvJPEG four with a decoder each: with 16 its decoder unit was slower.
"""
import json
import os
import shutil
import subprocess
import time
from multiprocessing.pool import ThreadPool

import opencv

NVJPEG_BATCH, NVJPEG_THREADS = 64, 4  # nvjpeg.h says that batches of more than 50 are decoded on the GPU


def is_png(row):
    return "compression" in row


def suffix_of(row):
    return "png" if is_png(row) else "jpg"


def make(bench, row):
    """Returns the path of a JPEG of the row's size and quality, with chroma halved below quality 90, or of a PNG."""
    width, height = row["width"], row["height"]
    if bench.size:
        width = height = bench.size
    raw, source, path = (os.path.join(bench.folder, f"jpeg.{suffix}") for suffix in ("raw", "ppm", suffix_of(row)))
    answer = bench.cpu.ask({"work": "threshold", "input": "photo", "width": width, "height": height, "channels": 3, "runs": 1,
                            "save": raw})
    if "error" in answer:
        raise RuntimeError(answer["error"])
    with open(source, "wb") as out, open(raw, "rb") as samples:
        out.write(b"P6\n%d %d\n255\n" % (width, height))
        shutil.copyfileobj(samples, out, 1 << 20)
    how = ("--compression", str(row["compression"])) if is_png(row) else ("--quality", str(row["quality"]))
    subprocess.run([bench.gpuimg, "convert", source, path, *how], check=True)
    return path


def ask(*words):
    """Runs a program of the bench. Returns its JSON object, or an object with an error."""
    if not os.path.exists(words[0]):
        return {"error": f"{os.path.basename(words[0])} is not built"}
    said = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    return json.loads(said.stdout.splitlines()[0]) if said.returncode == 0 else {"error": said.stderr.strip()[:120]}


def all_at_once(work, images, threads):
    """Returns how often per second `threads` threads do the work."""
    with ThreadPool(threads) as pool:
        pool.map(work, range(threads))
        start = time.perf_counter()
        pool.map(work, range(images), chunksize=1)
        return images / (time.perf_counter() - start)


def opencv_rates(path, quality, images, threads):
    cv2, np = opencv.cv2, opencv.np
    opencv.threads(1)
    data = np.fromfile(path, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR)
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    if hasattr(cv2, "IMWRITE_JPEG_SAMPLING_FACTOR"):
        options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, 0x111111 if quality >= 90 else 0x221111]
    whole = lambda i: cv2.imencode(".jpg", cv2.GaussianBlur(cv2.imdecode(data, cv2.IMREAD_COLOR), (0, 0), 3), options)
    return {"decode": all_at_once(lambda i: cv2.imdecode(data, cv2.IMREAD_COLOR), images, threads),
            "encode": all_at_once(lambda i: cv2.imencode(".jpg", image, options), images, threads),
            "gaussian --sigma 3": all_at_once(whole, images, threads)}


def batch(bench, path, row, images, device):
    """Returns images per second of a whole command, with its start, or a text with its error."""
    source, out = (os.path.join(bench.folder, name) for name in ("jpegs", "made"))
    shutil.rmtree(out, ignore_errors=True)
    if not os.path.isdir(source):
        os.mkdir(source)
        for i in range(images):
            os.link(path, os.path.join(source, f"{i}.{suffix_of(row)}"))
    start = time.perf_counter()
    said = subprocess.run([bench.gpuimg, "gaussian", source, "--recursive", "--out-dir", out, "--sigma", "3",
                           "--suffix", ".jpg",
                           "--quality", str(row["quality"]), "--device", device], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    shutil.rmtree(out, ignore_errors=True)
    return said.stderr.strip()[:120] if said.returncode else images / seconds


def row_results(bench, row, threads):
    images = row["images"] if not bench.size else 2 * threads
    path, rates = make(bench, row), {"decode": {}, "gaussian --sigma 3": {}}
    if not is_png(row):
        rates["encode"] = {}
    failed = {work: {} for work in rates}
    ours = ask(os.path.join(bench.build, "tests/bench/bench_jpeg"), images, threads, row["quality"], path)
    nvjpeg = {} if is_png(row) else ask(os.path.join(bench.build, "tests/bench/peers_nvjpeg"), images // 4, NVJPEG_BATCH, NVJPEG_THREADS,
                                        row["quality"], path)
    for key, work, name in (("libjpeg_decode_us", "decode", "libjpeg-turbo"), ("libdeflate_decode_us", "decode", "libdeflate"), ("cuda_decode_us", "decode", "gpuimg cuda"),
                            ("libjpeg_us", "encode", "libjpeg-turbo"), ("cuda_us", "encode", "gpuimg cuda")):
        if key in ours and work in rates:
            rates[work][name] = 1e6 / ours[key]
    for key, us in nvjpeg.items():
        work, _, way = key.partition(", ")
        if work in rates:
            (failed if isinstance(us, str) else rates)[work]["nvJPEG" + (way and f" ({way})")] = us if isinstance(us, str) else 1e6 / us
    if not opencv.MISSING:
        for work, rate in opencv_rates(path, row["quality"], images, threads).items():
            if work in rates:
                rates[work]["OpenCV"] = rate
    for device in ("cpu", "cuda"):
        rate = batch(bench, path, row, images, device)
        (failed if isinstance(rate, str) else rates)["gaussian --sigma 3"][f"gpuimg {device}"] = rate
    shutil.rmtree(os.path.join(bench.folder, "jpegs"))
    for work in rates:
        missing = {"OpenCV": opencv.MISSING, **({} if "sigma" in work else {"nvJPEG": nvjpeg.get("error")})}
        failed[work].update({name: reason for name, reason in missing.items() if reason})
    return [bench.note({"table": "jpeg", "name": f"{row['name']}: {work}", "images": images, "threads": threads, "rates": by,
                        "file_bytes": os.path.getsize(path), "failed": failed[work]}) for work, by in rates.items()]


def jpeg(bench, table):
    rows, threads = [row for row in table["jpeg"]["rows"] if bench.wants(row)], len(os.sched_getaffinity(0))
    if bench.cpu.missing:
        return [{"table": "jpeg", "name": row["name"], "skipped": bench.cpu.missing} for row in rows]
    return [result for row in rows for result in row_results(bench, row, threads)]
