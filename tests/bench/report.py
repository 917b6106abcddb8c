"""Prints results as tables in Markdown and as a plot."""
import os
import platform
import subprocess
import time

import commands as commands_of_peers
import opencv


def first_line(*command):
    try:
        said = subprocess.run(command, capture_output=True, text=True)
        return next((line.strip()[:60] for line in (said.stdout + said.stderr).splitlines() if line.strip()), None)
    except OSError:
        return None


def machine(bench):
    """Describes the machine and the versions that the figures belong to."""
    cpu = platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        cpu = names[0] if names else cpu
    newest = commands_of_peers.new_vips(bench)
    programs = {"gpuimg": first_line(bench.gpuimg, "--version"), "vips": first_line("vips", "--version"),
                "vips by pip": first_line(*newest, "version") if isinstance(newest, list) else None,
                "cjpeg": first_line("cjpeg", "-version"), "pnmtopng": first_line("pnmtopng", "-version"),
                "GraphicsMagick": first_line("gm", "version"), "ImageMagick": first_line("convert", "-version"),
                "OpenCV": opencv.MISSING or opencv.cv2.__version__}
    here = os.path.dirname(os.path.abspath(__file__))
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return {"date": time.strftime("%Y-%m-%d"), "cpu": cpu, "cores": len(os.sched_getaffinity(0)),
            "commit": first_line("git", "-C", here, "rev-parse", "--short", "HEAD"),
            "gpu": bench.cuda.missing or gpu, "programs": programs}


def verdict(result):
    return {True: "met", False: "MISSED", None: ""}[result.get("met")]


def number(value, digits=3):
    if value is None:
        return ""
    if value and abs(value) < 1:
        return f"{value:.{digits}f}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def markdown_table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def label(result):
    given = result.get("request", {}).get("input")
    return result["name"] + (f", {given}" if given and given not in result["name"] else "")


def failures(results):
    """Lists the peers that could not run a row, with the reasons."""
    reasons = {}
    for r in results:
        for name, reason in r["failed"].items():
            reasons.setdefault((name, reason), []).append(label(r))
    return [f"{name}: {reason}{'' if 'installed' in reason else ': ' + '; '.join(of)}."
            for (name, reason), of in reasons.items()]


def gpu(results):
    rows = []
    for r in results:
        peers = sorted(r["peers"].items(), key=lambda p: p[1])
        rows.append([label(r), number(r["us"]), number(r["floor_us"]), f"{r['of_floor']:.2f}", number(r["copy_us"]),
                     ", ".join(f"{name} {number(us)}" for name, us in peers),
                     f"{r['us'] / peers[0][1]:.2f}" if peers else "", number(r.get("target_us")),
                     f"{r['us'] / r['target_us']:.2f}" if "met" in r else "", verdict(r)])
    libraries = results[0]["libraries"]
    absent = [name for name in ("NPP", "cuBLAS") if name not in libraries]
    size, copy, fma = (results[0][key] for key in ("size", "copy_rate", "fma_rate"))
    return [f"{size} x {size}, median, microseconds. Floor: the larger of bytes at the copy rate, "
            f"{copy / 1e12:.2f} TB/s, and multiply-adds at {fma / 1e12:.1f} T/s. Peers: {', '.join(libraries)}"
            f"{'; built without ' + ' and '.join(absent) if absent else ''}."] + failures(results) + [""] + \
        markdown_table(["work", "us", "floor us", "us / floor", "copy us", "peers us", "us / best peer", "target us",
                        "us / target", ""], rows)


def cpu(results):
    rows = [[label(r), r["threads"], number(r["us"] / 1e3), number(r["peers"]["OpenCV"] / 1e3) if "peers" in r else "",
             f"{r['ratio_min']:.2f}" if "peers" in r else "", f"{r['ratio_median']:.2f}" if "peers" in r else "",
             r.get("target_ratio", ""), verdict(r), f"{r['of_floor']:.2f}"] for r in results]
    size, level = results[0]["size"], results[0]["device"]
    return [f"{size} x {size}, milliseconds, median; ratios of the least times, then of the medians. "
            f"Ours {level}, OpenCV's {'none' if opencv.MISSING else opencv.features()}."] + \
        ([f"No OpenCV here: {opencv.MISSING}."] if opencv.MISSING else []) + [""] + \
        markdown_table(["work", "threads", "ms", "OpenCV ms", "ms / OpenCV, least", "median", "target", "",
                        "ms / floor"], rows)


def commands(results):
    names = list(dict.fromkeys(name for r in results for name in list(r["times"]) + list(r["failed"])))
    names.remove("gpuimg")
    def mb(r, name):
        return f", {r['bytes'][name] / 1e6:.1f} MB" if r["bytes"].get(name) else ""

    rows = [[r["name"] if "^2" in r["name"] else f"{r['name']}, {r['size']}^2", f"{r['s']:.4f}{mb(r, 'gpuimg')}"] +
            [f"{r['times'][n]['median']:.3f} ({1 / r['ratios'][n]:.1f}){mb(r, n)}" if n in r["ratios"] else "-" for n in names] +
            [f"{r['target_s']:.3f} ({1 / r['target_ratio']:.1f})" if "target_s" in r else "", verdict(r)]
            for r in results]
    return ["Seconds, median; in brackets the peer's time over ours; MB: size of the coded image that was written. Inputs are "
            "written by cjpeg and pnmtopng, without restart markers. OpenCV, scipy and scikit-image compute within a process of Python, "
            "whose start is not counted, and write no tables. Targets are judged by the ratio to vips."] + \
        failures(results) + [""] + \
        markdown_table(["work", "gpuimg"] + names + ["target", ""], rows)


def png(results):
    rows = [[r["name"], f"{r['ratio']:.3f}", f"{r['least']:.3f} to {r['most']:.3f}", f"{r['files']} ({r['of']})",
             f"at least {r['at_least']}" if "at_least" in r else f"at most {r['at_most']}" if "at_most" in r else "",
             verdict(r)] for r in results]
    return markdown_table(["work", "ratio", "single files", "files", "target", ""], rows)


def jpeg(results):
    rows = [[r["name"], r["images"], f"{r['file_bytes'] / 1e6:.2f}",
             ", ".join(f"{name} {number(rate)}" for name, rate in sorted(r["rates"].items(), key=lambda p: -p[1]))]
            for r in results]
    return [f"Images per second, {results[0]['threads']} cores."] + failures(results) + [""] + \
        markdown_table(["work", "images", "MB", "images per second"], rows)


def auto(results):
    def seconds(r, device):
        return f"{r['times'][device]['median']:.4f}" if device in r["times"] else "-"
    rows = [[r["name"], r["size"], seconds(r, "cpu"), seconds(r, "cuda"), seconds(r, "auto"), r["took"],
             f"{r['ratio']:.2f}", verdict(r)] for r in results]
    notes = {f"No CUDA here: {r['no_cuda']}." for r in results if r["no_cuda"]}
    want = f"auto over the better of both, at most {results[0]['at_most']:.2f} wanted; whole commands, seconds, median."
    return sorted(notes) + [want, ""] + \
        markdown_table(["work", "side", "cpu s", "cuda s", "auto s", "auto took", "auto / best", ""], rows)


def ways(results):
    rows = [[r["backend"], label(r), r["size"],
             ", ".join(f"{name} {number(us)}" for name, us in r["ways"].items())] for r in results]
    return ["Least time, microseconds; one CPU thread. The first is the one that runs."] + [""] + \
        markdown_table(["on", "work", "side", "ways us"], rows)


def types(results):
    """One line per work: the time of 8-bit gray, then the cost of each other shape per byte."""
    shapes = [(kind, channels) for kind in ("u8", "u16", "f32") for channels in (1, 3, 4)]
    lines, cliffs = {}, []
    for r in results:
        lines.setdefault((r["backend"], r["name"]), {})[r["type"], r["channels"]] = r
        if r["cliff"]:
            cliffs.append(f"- {r['backend']}: {r['name']}, {r['type']} with {r['channels']} channels: {number(r['us'])} us, "
                          f"{r['cost']:.1f} times the cost of a gray byte")
    rows = [[backend, name, number(line["u8", 1]["us"]) if ("u8", 1) in line else ""] +
            [f"{line[shape]['cost']:.2f}" if shape in line else "" for shape in shapes[1:]]
            for (backend, name), line in lines.items()]
    heads = ["on", "work", "u8 x 1, us"] + [f"{kind} x {channels}" for kind, channels in shapes[1:]]
    return ["Time relative to 8-bit gray, divided by the ratio of the bytes per pixel: 1.00 is the same cost per byte. "
            "One CPU thread."] + [""] + markdown_table(heads, rows) + ["", "Cliffs:", ""] + (cliffs or ["none"])


def startup(results):
    said = []
    for r in results:
        cuda, empty, cpu_s = (r["times"][d]["median"] for d in ("cuda", "empty", "cpu"))
        said.append(f"{r['name']}: {cuda:.3f} s / {empty:.3f} s = {r['ratio']:.2f}, at most {r['at_most']:.2f} wanted: "
                    f"{verdict(r)}; with --device cpu {cpu_s:.4f} s.")
    return said


def scale(results):
    """One line per work: the rate at each number of cores and GPUs, over that of the first one."""
    def rate(r, name):
        ratio = f" ({r['ratios'][name]:.2f})" if name in r["ratios"] else ""
        return number(r["rates"][name]) + ratio if name in r["rates"] else "-"

    names = list(dict.fromkeys(name for r in results for name in r["rates"]))
    names.sort(key=lambda name: name == "files alone")
    rows = [[r["name"], r["images"]] + [rate(r, name) for name in names] for r in results]
    return ["Images per second of whole commands, with their start; in brackets over the rate of one core, or of one GPU with all "
            "cores. Files alone: a program that only reads and writes the files."] + failures(results) + [""] + \
        markdown_table(["work", "images"] + names, rows)


def growth(results):
    rows = [[r["backend"], r["name"], r["size"], r["request"].get("k", ""), number(r["us"]), number(r["floor_us"]),
             f"{r['of_floor']:.2f}"] for r in results]
    return markdown_table(["on", "work", "side", "k", "us", "floor us", "us / floor"], rows)


TITLES = {"gpu": ("CUDA kernels", gpu), "cpu": ("CPU kernels", cpu), "ways": ("Ways", ways),
          "types": ("Types", types),
          "commands": ("Whole commands", commands), "png": ("PNG", png), "jpeg": ("JPEG", jpeg), "auto": ("--device auto", auto), "startup": ("Start-up", startup),
          "scale": ("Cores and GPUs", scale),
          "growth": ("Growth", growth)}


def markdown(about, results):
    programs = ", ".join(f"{name}: {version or 'not installed'}" for name, version in about["programs"].items())
    lines = [f"gpuimg at commit {about['commit']}, {about['date']}; {about['cpu']}, {about['cores']} cores; "
             f"GPU: {about['gpu']}.", f"{programs}.", ""]
    for table, (title, write) in TITLES.items():
        mine = [r for r in results if r["table"] == table]
        done = [r for r in mine if "skipped" not in r]
        if not mine:
            continue
        lines += [f"## {title}", ""]
        if done:
            lines += write(done) + [""]
        reasons = {}
        for r in mine:
            if "skipped" in r:
                reasons.setdefault(r["skipped"], []).append(label(r))
        for reason, names in reasons.items():
            lines += [f"Not measured ({reason}): {'; '.join(dict.fromkeys(names))}.", ""]
        judged = [r for r in mine if "met" in r]
        if judged:
            lines += [f"{sum(r['met'] for r in judged)} of {len(judged)} targets met.", ""]
    return "\n".join(lines)


def plot(path, results):
    """Plots times against size and against k, with one column per backend and lower bounds dashed. Returns why it
    can't, or None."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        return str(error)
    points = [r for r in results if r["table"] == "growth" and "skipped" not in r]
    backends = [b for b in ("gpu", "cpu") if any(r["backend"] == b for r in points)]
    if not backends:
        return "nothing was measured for it"
    figure, axes = pyplot.subplots(2, len(backends), figsize=(7 * len(backends), 10), squeeze=False)
    for column, backend in enumerate(backends):
        for line, over in enumerate(("size", "k")):
            ax = axes[line][column]
            mine = [r for r in points if r["backend"] == backend and r["over"] == over]
            for i, name in enumerate(dict.fromkeys(r["name"] for r in mine)):
                curve = [(r["size"] if over == "size" else r["request"]["k"], r["us"], r["floor_us"])
                         for r in mine if r["name"] == name]
                xs, us, floors = zip(*curve)
                ax.loglog(xs, us, "o-", color=f"C{i}", label=name, markersize=3)
                ax.loglog(xs, floors, "--", color=f"C{i}", linewidth=0.8)
            ax.set_xlabel("side, px" if over == "size" else "k, px")
            ax.set_ylabel("microseconds (dashed: floor)")
            ax.set_title(f"{backend}: cost against {over}")
            ax.grid(True, which="both", alpha=0.25)
            if mine:
                ax.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
    return None
