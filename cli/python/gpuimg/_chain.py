"""Chains of operations on arrays and image files, each with a process of gpuimg that is kept.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import tarfile
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Union

import numpy as np

from ._arrays import encode
from ._process import Process, seconds_of_lock

Image = Union[np.ndarray, str, os.PathLike]
Result = Union[np.ndarray, dict]

WARNING = "gpuimg: warning: "
KEPT = 8  # processes that run() keeps, which are those of the last chains
USAGE = 2  # exit status of the program if it refuses its arguments
NPY = b"\x93NUMPY"


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
        if not self._lock.acquire(timeout=-1 if timeout is None else seconds_of_lock(timeout)):
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
    thread.join(seconds_of_lock(timeout))
    if not results:
        raise _timeout(timeout)
    data, error = results[0]
    if error:
        raise error
    return data
