"""Chains of operations on images, each with a process of gpuimg that is kept.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from ._arrays import ImageLike, Input, Parts, blocks, result, take, warn
from ._further import Further
from ._process import Process, seconds_of_lock
from ._program import find

if TYPE_CHECKING:
    from numpy.typing import NDArray
    Array = NDArray[Any]
    Table = dict[str, Any]
    Result = Union[Array, Table]

WARNING = "gpuimg: warning: "
KEPT = 8  # processes that run() keeps, which are those of the last chains
USAGE = 2  # exit status of the program if it refuses its arguments


class Error(RuntimeError):
    """An image that gpuimg could not process, or arguments that it refuses; the text is gpuimg's own."""


class ArgumentError(Error, ValueError):
    """A chain, an option or a value that gpuimg refuses; the text is gpuimg's own and names what is accepted."""


def run(image: ImageLike, chain: str, *, options: Sequence[str] = (), program: str | None = None,
        timeout: float | None = None) -> Result:
    """Returns the result of a chain of operations for an image.

    Parameters
    ----------
    image : array, path, bytes, file object or PIL image
        See help(gpuimg).
    chain : str
        Operations as `gpuimg run` takes them: "median --k 5 | threshold". Images that the chain names are read when
        its process starts; the functions of the operations, such as gpuimg.add(), take arrays and read files anew.
    options : sequence of str, optional
        More of gpuimg's options: ("--device", "cuda").
    program : str, optional
        Path of the program, by default the one that gpuimg.program() returns.
    timeout : float, optional
        Limit in seconds; by default there is none.

    Returns
    -------
    numpy.ndarray or dict
        The table as a dict if the chain ends in a step with a table, such as stats or extract, and otherwise an array.

    Raises
    ------
    gpuimg.ArgumentError
        If gpuimg refuses the chain or an option.
    gpuimg.Error
        If it can't process the image.
    TimeoutError
        After `timeout`. Its process has been ended then, as after a KeyboardInterrupt, and the next call starts another.
    TypeError, ValueError
        If the array is no image.

    Notes
    -----
    The processes of the last 8 chains are kept, so that a call with the same chain starts none.

    Examples
    --------
    >>> edges = gpuimg.run("scan.tif", "gaussian --sigma 2 | edges", options=("--device", "cuda"))
    >>> regions = gpuimg.run(array, "threshold | extract")["regions"]
    """
    return _kept(chain, tuple(options), program or find(), ())(image, timeout)


class Chain:
    """A chain with a process of its own, for many images; it ends the process as a context manager or by close().

    Parameters
    ----------
    chain, options, program
        As for gpuimg.run().

    Examples
    --------
    >>> with gpuimg.Chain("resize --size 256x256 | sharpen") as chain:
    ...     small = [chain(path, timeout=10) for path in paths]
    """

    def __init__(self, chain: str, *, options: Sequence[str] = (), program: str | None = None,
                 _further: tuple[Further, ...] = ()):
        self._arguments = chain, tuple(options), program or find(), _further
        self._suffix = ""
        self._strict = "--strict" in options
        self._channels_first = any("chw" in option for option in options)
        self._begin()

    def _begin(self) -> None:
        """Makes what belongs to this process of Python. After a fork the pipes, and a lock that is held, are those of
        the parent."""
        chain, options, program, further = self._arguments
        self._owner = os.getpid()
        self._errors, self._read = tempfile.TemporaryFile("a+b"), 0
        # The name of a result ends in the suffix, and a file that is no image keeps its name.
        self._processes = {suffix: Process([program, "run", "--tar", "--suffix", suffix, *options, "--", chain, "-", "-"],
                                           self._errors, [image.descriptor for image in further])
                           for suffix in (".npy", ".json")}
        self._others: dict[tuple[str, ...], Chain] = {}  # with options that inputs need
        self._lock = threading.Lock()

    def __call__(self, image: ImageLike, timeout: float | None = None) -> Result:
        """Returns the result for an image, as gpuimg.run() does."""
        end = None if timeout is None else time.monotonic() + timeout
        taken = take(image, self._strict) if timeout is None or not blocks(image) else _take_in_time(image, self._strict, timeout)
        if self._owner != os.getpid():
            self._begin()
        chain = self._other(taken.options) if taken.options else self
        return chain._run(taken, end, timeout)

    def _other(self, needed: tuple[str, ...]) -> Chain:
        chain, options, program, further = self._arguments
        with self._lock:
            return self._others.setdefault(needed, Chain(chain, options=(*options, *needed), program=program, _further=further))

    def _run(self, image: Input, end: float | None, timeout: float | None) -> Result:
        if not self._lock.acquire(timeout=-1 if timeout is None else seconds_of_lock(timeout)):
            raise _late(timeout)
        try:
            name, data = self._exchange(image.parts, end)
            text = self._messages()
        except TimeoutError:
            raise _late(timeout) from None
        finally:
            self._lock.release()
        if data is None or name != "0" + self._suffix:
            raise Error(text or "gpuimg: the file is no image")
        for line in text.splitlines():
            if line.startswith(WARNING) and "npy cannot hold" not in line:
                warn(line[len(WARNING):])
        if self._suffix == ".json":
            table: Table = json.loads(data)
            table.pop("file", None)
            return table
        return result(data, image, self._channels_first)

    def _exchange(self, image: Parts, end: float | None) -> tuple[str | None, bytearray | None]:
        """Name and bytes of the result. Only the program knows whether a chain ends in a table, and refuses the suffix
        of the other kind of result before it reads anything."""
        text, status = "", None
        for suffix in [self._suffix] if self._suffix else list(self._processes):
            process = self._processes[suffix]
            try:
                results = process.exchange_named([image], end)
            except (EOFError, tarfile.HeaderError):
                status, said = process.stop(), self._messages()
                text = text or said
                if status != USAGE or self._suffix:
                    break
            else:
                self._suffix = suffix
                return results[0]
        raise (ArgumentError if status == USAGE else Error)(text or "gpuimg ended without a message")

    def _messages(self) -> str:
        """What gpuimg has written to standard error since the last call."""
        text = os.pread(self._errors.fileno(), 1 << 20, self._read)
        self._read += len(text)
        said = text.decode(errors="replace").strip().replace("standard input: 0: ", "")
        for image in self._arguments[3]:
            said = said.replace(image.path, image.name)
        return said

    def close(self) -> None:
        """Ends the process, also while another thread waits for a result, which then gets an Error. A further call
        starts another process."""
        for process in self._processes.values():
            process.kill()
        with self._lock:
            for process in self._processes.values():
                process.stop()
            others = list(self._others.values())
        for other in others:
            other.close()

    def __del__(self) -> None:
        if hasattr(self, "_errors"):
            self._errors.close()

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"gpuimg.Chain({self._arguments[0]!r}, options={self._arguments[1]!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, as in another process, starts processes of its own."""
        if self._arguments[3]:
            raise TypeError("gpuimg: a chain with arrays as further images can't be pickled")
        return _chain, self._arguments[:3]


def _chain(chain: str, options: tuple[str, ...], program: str) -> Chain:
    return Chain(chain, options=options, program=program)


@functools.lru_cache(KEPT)
def _kept(chain: str, options: tuple[str, ...], program: str, further: tuple[Further, ...]) -> Chain:
    return Chain(chain, options=options, program=program, _further=further)


atexit.register(_kept.cache_clear)


def _late(seconds: float | None) -> TimeoutError:
    return TimeoutError(f"gpuimg: no result after {seconds:g} s")


def _take_in_time(image: ImageLike, strict: bool, timeout: float) -> Input:
    """As take(), also of a pipe that gives nothing."""
    results: list[Input | BaseException] = []

    def read() -> None:
        try:
            results.append(take(image, strict))
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(seconds_of_lock(timeout))
    if not results:
        raise _late(timeout)
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]
