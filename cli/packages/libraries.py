#!/usr/bin/env python3
"""Makes the shared libraries that a wheel brings along, with their licences.

Usage: libraries.py ROWS FOLDER CC...

ROWS is what `gpuimg __libraries` prints: a line per library with its file, its package and the functions that are called. CC
is the compiler with its flags. Each library is linked from Debian's static libraries and exports only these functions, so that it
needs few other files: Debian's own libarchive needs 30 MB of ICU, and its libcairo the X Window System. Where there is no static
library, or a static one can't be linked into a shared one, the shared library is copied, and those that it needs.

The result is in FOLDER/lib and FOLDER/licences. A symbol of a glibc later than 2.34 is an error.

SPDX-License-Identifier: MIT
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GLIBC = (2, 34)  # of manylinux_2_34
# PEP 600's libraries that any system has; libstdc++ is among those that Python's own packages require.
SYSTEM = re.compile(r"(ld-linux.*|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so\.\d+")

# The static libraries that each is linked from, its own first. After a bar: shared libraries, whose static ones use thread-local
# variables or type information in a way that only programs can.
STATIC = {
    "libtiff.so.6": "tiff webp zstd lzma jpeg deflate z | Lerc",
    "libwebp.so.7": "webp",
    "libopenjp2.so.7": "openjp2",
    "libgif.so.7": "gif",
    "libarchive.so.13": "archive lzma zstd lz4 bz2 z",
    "libcairo.so.2": "cairo fontconfig freetype expat png16 brotlidec brotlicommon z | pixman-1",
}
# Not brought along: libheif's encoder x265 is under the GPL, and its codecs take 30 MB; libjxl and libhwy are C++ without static
# libraries. The system's are loaded if they are there.
LEFT_OUT = ("libheif.so.1", "libjxl.so.0.7")
SOURCES = {"libtiff.so.6": ["jbig.c"], "libcairo.so.2": ["fonts.c"]}
# Debian's packages that have the licence of a library.
PACKAGES = {
    "tiff": "libtiff-dev", "webp": "libwebp-dev", "zstd": "libzstd-dev", "lzma": "liblzma-dev", "jpeg": "libjpeg62-turbo-dev",
    "deflate": "libdeflate-dev", "z": "zlib1g-dev", "Lerc": "liblerc-dev", "gif": "libgif-dev", "archive": "libarchive-dev",
    "openjp2": "libopenjp2-7-dev", "OpenEXRCore-3_1": "libopenexr-dev", "lz4": "liblz4-dev", "bz2": "libbz2-dev", "cairo": "libcairo2-dev", "fontconfig": "libfontconfig-dev",
    "freetype": "libfreetype-dev", "expat": "libexpat1-dev", "png16": "libpng-dev", "brotlidec": "libbrotli-dev",
    "brotlicommon": "libbrotli-dev", "pixman-1": "libpixman-1-dev", "lcms2": "liblcms2-dev", "dejavu": "fonts-dejavu-core",
    # linked into the program
    "jansson": "libjansson-dev", "yaml": "libyaml-dev", "stb": "libstb-dev",
}
PROGRAM = ("png16", "jpeg", "deflate", "jansson", "yaml", "z", "stb")
WRAP = ("hypot", "arc4random_buf", "stdin", "stdout", "stderr")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(path):
    """Returns the shared libraries that a file needs, and the functions for which it needs a later glibc."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path))
    later = [f"{name} of glibc {version}" for name, version in re.findall(r"UND (\S+)@GLIBC_([0-9.]+)", output("readelf", "--dyn-syms", "-W", path))
             if tuple(map(int, version.split(".")[:2])) > GLIBC]
    return [n for n in names if not SYSTEM.fullmatch(n)], later


class Libraries:
    def __init__(self, folder, compiler):
        self.compiler = compiler
        self.lib, self.licences, self.scratch = folder / "lib", folder / "licences", folder / "scratch"
        sysroot = [f[10:] for f in compiler if f.startswith("--sysroot=")]
        self.root = pathlib.Path(sysroot[0] if sysroot else "/")
        self.tools = compiler[0].rpartition("gcc")[0] if "-gcc" in compiler[0] else ""
        for d in (self.lib, self.licences, self.scratch):
            shutil.rmtree(d, ignore_errors=True)
            d.mkdir(parents=True)

    def find(self, name):
        path = pathlib.Path(output(*self.compiler, f"-print-file-name={name}").strip())
        if not path.is_absolute():
            sys.exit(f"libraries.py: {name} is missing: try make deps FOR=wheel")
        return path

    def licence(self, name):
        if name not in PACKAGES:
            sys.exit(f"libraries.py: no package is known that has the licence of {name}")
        shutil.copy(self.root / "usr/share/doc" / PACKAGES[name] / "copyright", self.licences / name)

    def object(self, source):
        made = self.scratch / (source + ".o")
        subprocess.run([*self.compiler, "-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-ffunction-sections", "-DGI_SHARED", "-c", "-o", made, HERE / "bundle" / source], check=True)
        return made

    def link(self, file, functions):
        static, _, shared = (part.split() for part in STATIC[file].partition("|"))
        names = self.scratch / (file + ".map")
        names.write_text("{ global: " + "".join(f"{f}; " for f in functions) + "local: *; };\n")
        archives = [self.find(f"lib{name}.a") for name in static]
        subprocess.run([*self.compiler, "-shared", "-o", self.lib / file, "-s", f"-Wl,-soname,{file}", f"-Wl,--version-script={names}",
                        "-Wl,--gc-sections,--as-needed,-z,relro,-z,now,-z,noexecstack,-z,defs", "-Wl,-rpath,$ORIGIN",
                        *(f"-Wl,--wrap={name}" for name in WRAP), *(f"-Wl,-u,{f}" for f in functions),
                        *(self.object(source) for source in ("glibc.c", *SOURCES.get(file, ()))),
                        "-Wl,--start-group", *archives, "-Wl,--end-group", *(f"-l{name}" for name in shared), "-lm"], check=True)
        for name in static + shared:
            self.licence(name)
        self.complete(file)

    def copy(self, file):
        path = self.lib / file
        shutil.copyfile(self.find(file), path)
        subprocess.run([self.tools + "strip", "--strip-unneeded", path], check=True)
        self.licence(re.match(r"lib(.*)\.so", file).group(1))
        self.complete(file)

    def complete(self, file):
        """Copies the libraries that one needs."""
        path = self.lib / file
        path.chmod(0o644)
        others, later = needed(path)
        if later:
            sys.exit(f"libraries.py: {file} needs {', '.join(later)}")
        for other in others:
            if not (self.lib / other).exists():
                self.copy(other)
        if others and file not in STATIC:
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", path], check=True)

    def fonts(self):
        (self.lib / "fonts").mkdir()
        for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
            shutil.copy(f"/usr/share/fonts/truetype/dejavu/{name}", self.lib / "fonts")
        shutil.copy(HERE / "bundle/fonts.conf", self.lib)
        shutil.copy("/usr/share/doc/fonts-dejavu-core/copyright", self.licences / "dejavu")


def main(rows, folder, *compiler):
    libraries = Libraries(pathlib.Path(folder), compiler)
    called = {}  # a library may have several rows, such as one of a reader and one of a writer
    for line in pathlib.Path(rows).read_text().splitlines():
        file, _, *functions = line.split()
        called[file] = [*called.get(file, []), *(f for f in functions if f not in called.get(file, []))]
    for file, functions in called.items():
        if file in LEFT_OUT:
            continue
        if file in STATIC:
            libraries.link(file, functions)
        else:
            libraries.copy(file)
    for name in PROGRAM:
        libraries.licence(name)
    libraries.fonts()
    shutil.rmtree(libraries.scratch)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
