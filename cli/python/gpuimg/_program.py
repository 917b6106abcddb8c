"""Where the program gpuimg is.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _beside() -> str | None:
    """The program that was installed with this package, whose environment need not be activated: PREFIX/bin beside
    PREFIX/lib/pythonX.Y/site-packages, FOLDER/bin of pip --target FOLDER, or what the list of installed files says."""
    for up in ("../../../..", ".."):
        path = os.path.normpath(os.path.join(HERE, up, "bin/gpuimg"))
        if _is_program(path):
            return path
    import importlib.metadata
    try:
        files = importlib.metadata.distribution("gpuimg").files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    located = [str(file.locate()) for file in files]
    if os.path.join(HERE, "__init__.py") not in map(os.path.normpath, located):
        return None  # another copy of the package is installed
    return next((os.path.normpath(path) for path in located if path.endswith("/gpuimg") and _is_program(path)), None)


_found: str | None = None


def find() -> str:
    """The path of the program: that of the environment variable GPUIMG, or the one that was installed with this
    package, or the one in PATH."""
    global _found
    named = os.environ.get("GPUIMG")
    if named:
        return named
    if _found is None:
        _found = _beside() or shutil.which("gpuimg")
    if _found is None:
        raise FileNotFoundError("gpuimg: the program is neither named by the environment variable GPUIMG, nor installed with "
                                f"the package in {HERE}, nor in PATH")
    return _found
