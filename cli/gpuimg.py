"""gpuimg for Python: operations on NumPy arrays and image files through a process that is kept.

    import gpuimg

    blurred = gpuimg.run(array, "gaussian --sigma 2")
    mask = gpuimg.run("scan.tif", "median --k 5 | threshold", options=("--device", "cuda"))

    with gpuimg.Chain("resize --size 256x256 | sharpen") as chain:
        small = [chain(path) for path in paths]

An array is (height, width) or (height, width, channels) with 1 to 4 channels: gray, gray and alpha, RGB, RGB and alpha.
Its samples are uint8 or uint16, or float32 from 0 to 1 (1 or 3 channels); bool is a mask of 0 and 255. The result has
the sample type that the chain gives.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import atexit
import functools
import io
import os
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from typing import BinaryIO, Union

import numpy as np

__all__ = ["Chain", "Error", "Process", "run"]

Image = Union[np.ndarray, str, os.PathLike]

KEPT = 8  # processes that run() keeps, which are those of the last chains
END = "end"


class Error(RuntimeError):
    """An image that gpuimg could not process; the text is gpuimg's own."""


def run(image: Image, chain: str, *, options: Sequence[str] = (), program: str = "gpuimg") -> np.ndarray:
    """Returns the result of a chain as `gpuimg run` takes it for an array or an image file.

    options  more of gpuimg's options: ("--device", "cuda")
    program  its path

    The processes of the last 8 chains are kept, so that a call with the same chain starts none. Raises Error, and
    TypeError or ValueError for an array that is no image.
    """
    return _kept(chain, tuple(options), program)(image)


class Chain:
    """A chain with a process of its own, for many images; it ends the process as a context manager or by close()."""

    def __init__(self, chain: str, *, options: Sequence[str] = (), program: str = "gpuimg"):
        self._errors, self._read = tempfile.TemporaryFile("a+b"), 0
        self._process = Process([program, "run", chain, "--tar", "-", "-", "--format", "npy", *options], self._errors)
        self._lock = threading.Lock()

    def __call__(self, image: Image) -> np.ndarray:
        data = encode(image) if isinstance(image, np.ndarray) else open(image, "rb").read()
        with self._lock:
            try:
                result = self._process.exchange([data])[0]
            except (EOFError, tarfile.HeaderError):
                self._process.stop()
                raise Error(self._messages() or "gpuimg ended without a message") from None
            text = self._messages()
        if result is None or not result.startswith(b"\x93NUMPY"):
            raise Error(text or "gpuimg: the file is no image")
        return np.load(io.BytesIO(result), allow_pickle=False)

    def _messages(self) -> str:
        """What gpuimg has written to standard error since the last call."""
        text = os.pread(self._errors.fileno(), 1 << 20, self._read)
        self._read += len(text)
        return text.decode(errors="replace").strip()

    def close(self) -> None:
        """Ends the process; a further call starts another."""
        with self._lock:
            self._process.stop()

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@functools.lru_cache(KEPT)
def _kept(chain: str, options: tuple[str, ...], program: str) -> Chain:
    return Chain(chain, options=options, program=program)


atexit.register(_kept.cache_clear)


def encode(array: np.ndarray) -> bytes:
    """An array as a file: PAM for integers, PFM for floats. Raises TypeError and ValueError."""
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want (height, width) or (height, width, 1 to 4)")
    height, width = array.shape[:2]
    channels = array.shape[2] if array.ndim == 3 else 1
    if not 1 <= channels <= 4:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want 1 to 4 channels")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        array = array * np.uint8(255)
    if array.dtype == np.float32:
        if channels not in (1, 3):
            raise ValueError(f"gpuimg: float32 array of {channels} channels: want 1 or 3")
        kind = "PF" if channels == 3 else "Pf"
        return f"{kind}\n{width} {height}\n-1.0\n".encode() + array[::-1].astype("<f4").tobytes()
    if array.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"gpuimg: array of {array.dtype}: want uint8, uint16, float32 or bool")
    full = 255 if array.dtype == np.uint8 else 65535
    kind = ("GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA")[channels - 1]
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {full}\nTUPLTYPE {kind}\nENDHDR\n"
    return head.encode() + array.astype(f">u{array.itemsize}").tobytes()


class Process:
    """A process of gpuimg that reads a tar on standard input and writes one on standard output, for this module and
    gpuimg_ray. It starts when it is needed. `errors` is the file of its messages; None: standard error."""

    def __init__(self, command: Sequence[str], errors: BinaryIO | None = None):
        self.command, self._errors = list(command), errors
        self._process: subprocess.Popen | None = None

    def __del__(self):
        self.stop()

    @property
    def pid(self) -> int | None:
        """The number of the process; None before it starts."""
        return self._process.pid if self._process else None

    def exchange(self, images: Sequence[bytes]) -> list[bytes | None]:
        """The results of encoded images, in their order; None for one that failed. Raises EOFError or
        tarfile.HeaderError if the process ended."""
        if self._process is None:
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._errors)
        # Both pipes are in use at the same time, so neither side may wait for the other.
        writer = threading.Thread(target=self._write, args=(images,))
        writer.start()
        try:
            results: list[bytes | None] = [None] * len(images)
            for name, data in iter(self._read_member, (END, b"")):
                results[int(name.split(".")[0])] = data
        except BaseException:
            self._process.kill()  # so that the writer finds no reader
            raise
        finally:
            writer.join()
        return results

    def stop(self) -> None:
        process, self._process = getattr(self, "_process", None), None
        if process is None:
            return
        process.kill()
        process.wait()
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:  # the rest was not read
            pass

    def _write(self, images: Sequence[bytes]) -> None:
        """Writes a member per image, then one that is no image and comes back as it is."""
        try:
            for i, data in enumerate(images):
                self._write_member(str(i), data)
            self._write_member(END, b"")
            self._process.stdin.flush()
        except OSError:  # the process ended, which the reader will notice
            pass

    def _write_member(self, name: str, data: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        self._process.stdin.write(info.tobuf(tarfile.USTAR_FORMAT))
        self._process.stdin.write(data)
        self._process.stdin.write(bytes(-len(data) % tarfile.BLOCKSIZE))

    def _read_member(self) -> tuple[str, bytes]:
        while True:
            info = tarfile.TarInfo.frombuf(self._read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
            data = self._read(info.size)
            self._read(-info.size % tarfile.BLOCKSIZE)
            if info.isreg():
                return info.name, data

    def _read(self, nbytes: int) -> bytes:
        data = self._process.stdout.read(nbytes)
        if len(data) < nbytes:
            raise EOFError(f"gpuimg ended, with exit status {self._process.wait()}")
        return data
