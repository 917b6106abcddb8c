"""gpuimg for Python: operations on NumPy arrays and image files through a process that is kept.

    import gpuimg

    blurred = gpuimg.run(array, "gaussian --sigma 2")
    mask = gpuimg.run("scan.tif", "median --k 5 | threshold", options=("--device", "cuda"))
    regions = gpuimg.run(array, "threshold | extract")["regions"]

    with gpuimg.Chain("resize --size 256x256 | sharpen") as chain:
        small = [chain(path, timeout=10) for path in paths]

An array is (height, width) or (height, width, channels) with 1 to 4 channels: gray, gray and alpha, RGB, RGB and alpha.
5 to 1024 channels are bands: operations process each of them as a gray image, tables have all of them, and
options=("--bands", "3,2,1") chooses some. Samples are uint8 or uint16, or float32 from 0 to 1; bool is a mask of 0 and
255. Byte order and strides do not matter. Nothing else is converted, because a conversion may lose values: float64, integers of other sizes
and complex numbers raise TypeError, and so does a masked array. A .npy file is treated as its array.

The result has the sample type that the chain gives. It is (height, width) if it has one channel; only an array of
(height, width, 1) comes back with three axes. A chain that ends in integral or cumulative returns their array. A chain
that ends in stats, histogram, palette or extract returns their table as a dict, which has the members of the JSON that
the program writes, except the name of the file. Warnings of the program, as of a file with further images, are passed
on to `warnings`, except that an array can't hold the metadata of a file.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import struct
import subprocess
import tarfile
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from typing import BinaryIO, Union

import numpy as np

__all__ = ["Chain", "Error", "Process", "run"]

Image = Union[np.ndarray, str, os.PathLike]
Result = Union[np.ndarray, dict]

WARNING = "gpuimg: warning: "
KEPT = 8  # processes that run() keeps, which are those of the last chains
END = "end"
CHANNELS = 1024  # of an array
USAGE = 2  # exit status of the program if it refuses its arguments
NPY = b"\x93NUMPY"
FOREIGN: list[subprocess.Popen] = []  # processes of the parent, which are kept because their buffers can't be freed


class Error(RuntimeError):
    """An image that gpuimg could not process; the text is gpuimg's own."""


def run(image: Image, chain: str, *, options: Sequence[str] = (), program: str = "gpuimg",
        timeout: float | None = None) -> Result:
    """Returns the result of a chain as `gpuimg run` takes it for an array or an image file.

    options  more of gpuimg's options: ("--device", "cuda")
    program  its path
    timeout  in seconds; None: no limit

    The processes of the last 8 chains are kept, so that a call with the same chain starts none. Raises Error,
    TimeoutError, and TypeError or ValueError for an array that is no image. After a timeout or a KeyboardInterrupt the
    process has been ended, and the next call starts another.
    """
    return _kept(chain, tuple(options), program)(image, timeout)


class Chain:
    """A chain with a process of its own, for many images; it ends the process as a context manager or by close()."""

    def __init__(self, chain: str, *, options: Sequence[str] = (), program: str = "gpuimg"):
        # The name of a result ends in the suffix, and a file that is no image keeps its name.
        self._commands = {suffix: [program, "run", "--tar", "--suffix", suffix, *options, "--", chain, "-", "-"]
                          for suffix in (".npy", ".json")}
        self._suffix = ""
        self._chw = any("chw" in option for option in options)
        self._begin()

    def _begin(self) -> None:
        """Makes what belongs to this process of Python. After a fork the pipes, and a lock that is held, are those of
        the parent."""
        self._owner = os.getpid()
        self._errors, self._read = tempfile.TemporaryFile("a+b"), 0
        self._processes = {suffix: Process(command, self._errors) for suffix, command in self._commands.items()}
        self._lock = threading.Lock()

    def __call__(self, image: Image, timeout: float | None = None) -> Result:
        end = None if timeout is None else time.monotonic() + timeout
        data = encode(image) if isinstance(image, np.ndarray) else _read_in_time(image, timeout)
        if self._owner != os.getpid():
            self._begin()
        if not self._lock.acquire(timeout=-1 if timeout is None else _seconds(timeout)):
            raise _timeout(timeout)
        try:
            name, result = self._exchange(data, end)
            text = self._messages()
        except TimeoutError:
            raise _timeout(timeout) from None
        finally:
            self._lock.release()
        if result is None or name != "0" + self._suffix:
            raise Error(text or "gpuimg: the file is no image")
        for line in text.splitlines():
            if line.startswith(WARNING) and "npy cannot hold" not in line:
                warnings.warn(line.removeprefix(WARNING), stacklevel=2)
        if self._suffix == ".json":
            table = json.loads(result)
            table.pop("file", None)
            return table
        array = np.load(io.BytesIO(result), allow_pickle=False)
        column = isinstance(image, np.ndarray) and image.ndim == 3 and image.shape[2] == 1 and array.ndim == 2
        return np.expand_dims(array, 0 if self._chw else 2) if column else array

    def _exchange(self, data: bytes, end: float | None) -> tuple[str | None, bytes | None]:
        """Name and bytes of the result. Only the program knows whether a chain ends in a table, and refuses the suffix
        of the other kind of result before it reads anything."""
        text = ""
        for suffix in [self._suffix] if self._suffix else list(self._processes):
            process = self._processes[suffix]
            try:
                results = process.exchange_named([data], end)
            except (EOFError, tarfile.HeaderError):
                status, said = process.stop(), self._messages()
                text = text or said
                if status != USAGE or self._suffix:
                    break
            else:
                self._suffix = suffix
                return results[0]
        raise Error(text or "gpuimg ended without a message")

    def _messages(self) -> str:
        """What gpuimg has written to standard error since the last call."""
        text = os.pread(self._errors.fileno(), 1 << 20, self._read)
        self._read += len(text)
        return text.decode(errors="replace").strip()

    def close(self) -> None:
        """Ends the process, also while another thread waits for a result, which then gets an Error. A further call
        starts another process."""
        for process in self._processes.values():
            process.kill()
        with self._lock:
            for process in self._processes.values():
                process.stop()

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@functools.lru_cache(KEPT)
def _kept(chain: str, options: tuple[str, ...], program: str) -> Chain:
    return Chain(chain, options=options, program=program)


atexit.register(_kept.cache_clear)


def _seconds(seconds: float) -> float:
    return min(max(seconds, 0), threading.TIMEOUT_MAX)


def _timeout(seconds: float | None) -> TimeoutError:
    return TimeoutError(f"gpuimg: no result after {seconds:g} s")


def _read_file(path: str | os.PathLike) -> bytes:
    """The bytes of an image file. A .npy file is encoded, because the program copies it like any file of a data set
    that is no image."""
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    if not data.startswith(NPY):
        return data
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise ValueError(f"gpuimg: {os.fspath(path)}: {error}") from None
    return encode(array)


def _read_in_time(path: str | os.PathLike, timeout: float | None) -> bytes:
    """As _read_file(), also of a pipe that gives nothing."""
    if timeout is None:
        return _read_file(path)
    results: list[tuple[bytes, BaseException | None]] = []

    def read() -> None:
        try:
            results.append((_read_file(path), None))
        except BaseException as error:
            results.append((b"", error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(_seconds(timeout))
    if not results:
        raise _timeout(timeout)
    data, error = results[0]
    if error:
        raise error
    return data


def encode(array: np.ndarray) -> bytes:
    """An array as a file: PAM for integers, PFM for floats of 1 or 3 channels, and TIFF for other floats. Raises
    TypeError and ValueError."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("gpuimg: masked array: want array.filled(VALUE), or its data and its mask as two images")
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want (height, width) or (height, width, channels)")
    height, width = array.shape[:2]
    channels = array.shape[2] if array.ndim == 3 else 1
    if channels > CHANNELS:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want 1 to {CHANNELS} channels")
    array = np.asarray(array).astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        array = array * np.uint8(255)
    if array.dtype == np.float32:
        if channels not in (1, 3):
            return _tiff(array.astype("<f4", copy=False))
        kind = "PF" if channels == 3 else "Pf"
        return f"{kind}\n{width} {height}\n-1.0\n".encode() + array[::-1].astype("<f4").tobytes()
    if array.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"gpuimg: array of {array.dtype}: want uint8, uint16, float32 or bool, by array.astype()")
    full = 255 if array.dtype == np.uint8 else 65535
    kinds = ("GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA")
    kind = f"TUPLTYPE {kinds[channels - 1]}\n" if channels <= 4 else ""
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {full}\n{kind}ENDHDR\n"
    return head.encode() + array.astype(f">u{array.itemsize}").tobytes()


def _tiff(array: np.ndarray) -> bytes:
    """Floats of (height, width, n) as a BigTIFF: gray or RGB with alpha for 2 or 4 channels, otherwise bands."""
    short, long8 = ("H", 3), ("Q", 16)
    height, width, n = array.shape
    colours, alpha = (3 if n == 4 else 1), n in (2, 4)
    tags = [(256, long8, [width]), (257, long8, [height]), (258, short, [32] * n), (259, short, [1]),
            (262, short, [2 if colours == 3 else 1]), (273, long8, [16]), (277, short, [n]), (278, long8, [height]),
            (279, long8, [array.nbytes]), (338, short, [2 if alpha else 0] * (n - colours)), (339, short, [3] * n)]
    at = 16 + array.nbytes
    spare, entries, values = at + 16 + 20 * len(tags), b"", b""
    for tag, (letter, kind), numbers in tags:
        data = struct.pack(f"<{len(numbers)}{letter}", *numbers)
        if len(data) > 8:
            values, data = values + data, struct.pack("<Q", spare + len(values))
        entries += struct.pack("<HHQ", tag, kind, len(numbers)) + data.ljust(8, b"\0")
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, at)
    return head + array.tobytes() + struct.pack("<Q", len(tags)) + entries + bytes(8) + values


class Process:
    """A process of gpuimg that reads a tar on standard input and writes one on standard output, for this module and
    gpuimg_ray. It starts when it is needed. `errors` is the file of its messages; None: standard error."""

    def __init__(self, command: Sequence[str], errors: BinaryIO | None = None):
        self.command, self._errors, self._owner = list(command), errors, 0
        self._process: subprocess.Popen | None = None
        self._unread = False  # an exchange was interrupted, so that its results may still come

    def __del__(self):
        self.stop()

    @property
    def pid(self) -> int | None:
        """The number of the process; None before it starts."""
        return self._process.pid if self._process else None

    def exchange(self, images: Sequence[bytes]) -> list[bytes | None]:
        """The results of encoded images, in their order; None for one that failed. Raises EOFError or
        tarfile.HeaderError if the process ended."""
        return [data for _, data in self.exchange_named(images)]

    def exchange_named(self, images: Sequence[bytes], end: float | None = None) -> list[tuple[str | None, bytes | None]]:
        """As exchange(), with the names of the results: the number of the image, and for an image the suffix that the
        command gives. Raises TimeoutError if the results are not there at `end`, a time.monotonic(). After any
        exception the process has been ended."""
        late = threading.Event()
        writer = timer = None
        if self._unread or self._owner != os.getpid() or (self._process and self._process.poll() is not None):
            self.stop()
        try:
            self._unread = True
            if self._process is None:
                self._owner = os.getpid()
                self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                 stderr=self._errors)
            if end is not None:
                timer = threading.Timer(_seconds(end - time.monotonic()), self._end_late, (self._process, late))
                timer.daemon = True
                timer.start()
            # Both pipes are in use at the same time, so neither side may wait for the other.
            writer = threading.Thread(target=self._write, args=(self._process, images), daemon=True)
            writer.start()
            results: list[tuple[str | None, bytes | None]] = [(None, None)] * len(images)
            for name, data in iter(self._read_member, (END, b"")):
                results[int(name.split(".")[0])] = name, data
            writer.join()
            self._unread = False
            return results
        except BaseException as error:
            self.kill()  # so that the writer finds no reader
            if writer:
                writer.join()
            if late.is_set():
                raise TimeoutError from error
            raise
        finally:
            if timer:
                timer.cancel()
                timer.join()
            self._unread = self._unread or late.is_set()

    @staticmethod
    def _end_late(process: subprocess.Popen, late: threading.Event) -> None:
        late.set()
        process.kill()

    def kill(self) -> None:
        """Ends the process without waiting; any thread may call this."""
        process = getattr(self, "_process", None)
        if process is not None and self._owner == os.getpid():
            process.kill()

    def stop(self) -> int | None:
        """Ends the process, so that the next exchange starts another. Its exit status; None if there was none."""
        process, self._process = getattr(self, "_process", None), None
        self._unread = False
        if process is None:
            return None
        if self._owner != os.getpid():  # after a fork it is the parent's, and its buffers may be locked for ever
            process.stdin.raw.close()
            process.stdout.raw.close()
            FOREIGN.append(process)
            return None
        process.kill()
        status = process.wait()
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:  # the rest was not read
            pass
        return status

    def _write(self, process: subprocess.Popen, images: Sequence[bytes]) -> None:
        """Writes a member per image, then one that is no image and comes back as it is."""
        try:
            for i, data in enumerate(images):
                self._write_member(process.stdin, str(i), data)
            self._write_member(process.stdin, END, b"")
            process.stdin.flush()
        except (OSError, ValueError):  # the process ended, which the reader will notice
            pass

    @staticmethod
    def _write_member(to: BinaryIO, name: str, data: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        to.write(info.tobuf(tarfile.USTAR_FORMAT))
        to.write(data)
        to.write(bytes(-len(data) % tarfile.BLOCKSIZE))

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
