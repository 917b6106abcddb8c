#!/usr/bin/env python3
"""Writes gpuimg as a wheel for pip, and is the build backend of pyproject.toml.

Usage: wheel.py PROGRAM MODULES LIBRARIES TAG FOLDER [RUN...]

PROGRAM is the program, MODULES the folder with the Python package, LIBRARIES the one that libraries.py made, or "" for a
program that uses the libraries of this system, TAG the platform. RUN is a command that runs the program if PROGRAM itself can't run here. Prints the path of the wheel.

The program is installed as it is: a script in front of it would cost tens of milliseconds at every start. The same inputs give
the same bytes; members have the time SOURCE_DATE_EPOCH, or the date of the version.

SPDX-License-Identifier: MIT
"""

import base64
import calendar
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import zipfile

from libraries import needed

TOP = pathlib.Path(__file__).resolve().parents[2]
METADATA = """\
Metadata-Version: 2.1
Name: gpuimg
Version: {version}
Summary: Image processing with the same bytes on the CPU and on NVIDIA GPUs, as a program and a Python module
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Multimedia :: Graphics
Description-Content-Type: text/markdown

{readme}"""

CUDA = """\
The program contains NVIDIA's CUDA runtime (cudart_static), which may be distributed under the licence of the CUDA Toolkit:
https://docs.nvidia.com/cuda/eula/
"""


def constant(name):
    return re.search(rf'#define {name} +"(.*?)"', (TOP / "cli/command.h").read_text()).group(1)


def seconds():
    """Returns the time that files in packages have."""
    date = time.strptime(constant("GI_VERSION_DATE") + " UTC", "%Y-%m-%d %Z")
    return int(os.environ.get("SOURCE_DATE_EPOCH") or calendar.timegm(date))


def printed(run, *arguments):
    return subprocess.run([*run, *arguments], check=True, stdout=subprocess.PIPE).stdout


def texts(run):
    """Returns the man pages and completions that `make install` installs, by their paths below share/."""
    made = {"man/man1/gpuimg.1": printed(run, "help", "--man")}
    names = printed(run, "list", "--commands") + printed(run, "list", "--topics")
    for name in names.decode().split():
        made[f"man/man1/gpuimg-{name}.1"] = printed(run, "help", "--man", name)
    for shell, path in (("bash", "bash-completion/completions/gpuimg"), ("zsh", "zsh/site-functions/_gpuimg"),
                        ("fish", "fish/vendor_completions.d/gpuimg.fish")):
        made[path] = printed(run, "completion", shell)
    return made


def members(program, modules, libraries, tag, run):
    """Yields the path, the bytes and the mode of every member except RECORD."""
    version = constant("GI_VERSION")
    data, info = f"gpuimg-{version}.data", f"gpuimg-{version}.dist-info"
    yield f"{data}/scripts/gpuimg", program.read_bytes(), 0o755
    for path, text in texts(run).items():
        yield f"{data}/data/share/{path}", text, 0o644
    for path in sorted(modules.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(modules)), path.read_bytes(), 0o644
    licences = {"LICENSE": TOP / "LICENSE"}
    if libraries:
        for path in sorted(p for p in (libraries / "lib").rglob("*") if p.is_file()):
            yield f"{data}/data/lib/gpuimg/{path.relative_to(libraries / 'lib')}", path.read_bytes(), 0o644
        licences.update((p.name, p) for p in (libraries / "licences").iterdir())
    for name, path in sorted(licences.items()):
        yield f"{info}/licenses/{name}", path.read_bytes(), 0o644
    if b"\nGPUs: sm_" in printed(run, "--version"):
        yield f"{info}/licenses/cuda", CUDA.encode(), 0o644
    yield f"{info}/METADATA", METADATA.format(version=version, readme=(TOP / "README.md").read_text()).encode(), 0o644
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gpuimg\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode(), 0o644


def write(program, modules, libraries, tag, folder, run=()):
    name = f"gpuimg-{constant('GI_VERSION')}-py3-none-{tag}.whl"
    others, later = needed(program) if libraries else ([], [])
    if others or later:
        sys.exit(f"wheel.py: {program} needs {', '.join(others + later)}, which not every system has")
    date = max(time.gmtime(seconds())[:6], (1980, 1, 1, 0, 0, 0))
    record = []
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(path, content, mode):
            member = zipfile.ZipInfo(path, date)
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, content, compresslevel=9)

        for path, content, mode in members(program, modules, libraries, tag, run or [program]):
            add(path, content, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
        path = f"gpuimg-{constant('GI_VERSION')}.dist-info/RECORD"
        add(path, "".join([*record, f"{path},,\n"]).encode(), 0o644)
    return name


# PEP 517: `pip install .` compiles the program for this system and its libraries.


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    subprocess.run(["make", "-C", TOP, "all", "python"], check=True, stdout=sys.stderr)
    program = TOP / "build/gpuimg"
    stripped = program.resolve().with_name("gpuimg-stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    return write(stripped, stripped.with_name("python"), None, f"linux_{os.uname().machine}", pathlib.Path(wheel_directory))


def build_sdist(sdist_directory, config_settings=None):
    base = f"gpuimg-{constant('GI_VERSION')}"
    names = printed(["git", "-C", str(TOP)], "ls-files", "-z").decode().split("\0")[:-1]
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in names:
            tar.add(TOP / name, f"{base}/{name}", recursive=False)
    return f"{base}.tar.gz"


def main(program, modules, libraries, tag, folder, *run):
    folder = pathlib.Path(folder)
    path = folder / write(pathlib.Path(program), pathlib.Path(modules), pathlib.Path(libraries) if libraries else None, tag, folder, run)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
