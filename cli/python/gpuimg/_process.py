"""A process of gpuimg that reads a tar and writes one, for this package.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

END = "end"
FOREIGN: list[subprocess.Popen[bytes]] = []  # processes of the parent, which are kept because their buffers can't be freed


def seconds_of_lock(seconds: float) -> float:
    """A time to wait that the module threading accepts."""
    return min(max(seconds, 0), threading.TIMEOUT_MAX)


class Process:
    """A process of gpuimg that reads a tar on standard input and writes one on standard output, for the modules of
    this package. It starts when it is needed. `errors` is the file of its messages; None: standard error.
    `descriptors` are those that it inherits."""

    def __init__(self, command: Sequence[str], errors: IO[bytes] | None = None, descriptors: Sequence[int] = ()):
        self.command, self._errors, self._descriptors, self._owner = list(command), errors, descriptors, 0
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = False  # an exchange was interrupted, so that its results may still come

    def __del__(self) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The number of the process; None before it starts."""
        return self._process.pid if self._process else None

    def exchange(self, images: Sequence[Any]) -> list[bytes | None]:
        """The results of encoded images, in their order; None for one that failed. Raises EOFError or
        tarfile.HeaderError if the process ended."""
        return [None if data is None else bytes(data) for _, data in self.exchange_named([(image,) for image in images])]

    def exchange_named(self, images: Sequence[Sequence[Any]], end: float | None = None) -> \
            list[tuple[str | None, bytearray | None]]:
        """As exchange() for images in parts, with the names of the results: the number of the image, and for an image the suffix that the
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
                                                 stderr=self._errors, pass_fds=self._descriptors)
            if end is not None:
                timer = threading.Timer(seconds_of_lock(end - time.monotonic()), self._end_late, (self._process, late))
                timer.daemon = True
                timer.start()
            # Both pipes are in use at the same time, so neither side may wait for the other.
            writer = threading.Thread(target=self._write, args=(self._process, images), daemon=True)
            writer.start()
            results: list[tuple[str | None, bytearray | None]] = [(None, None)] * len(images)
            for name, data in iter(self._read_member, (END, bytearray())):
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
    def _end_late(process: subprocess.Popen[bytes], late: threading.Event) -> None:
        late.set()
        process.kill()

    def kill(self) -> None:
        """Ends the process without waiting; any thread may call this."""
        process = getattr(self, "_process", None)
        if process is not None and self._owner == os.getpid():
            process.kill()

    def stop(self) -> int | None:
        """Ends the process, so that the next exchange starts another. Its exit status; None if there was none."""
        process: subprocess.Popen[bytes] | None = getattr(self, "_process", None)
        self._process, self._unread = None, False
        if process is None:
            return None
        assert process.stdin and process.stdout
        if self._owner != os.getpid():  # after a fork it is the parent's, and its buffers may be locked for ever
            for pipe in (process.stdin, process.stdout):
                pipe.raw.close()  # type: ignore[attr-defined]
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

    def _write(self, process: subprocess.Popen[bytes], images: Sequence[Sequence[Any]]) -> None:
        """Writes a member per image, then one that is no image and comes back as it is."""
        to = process.stdin
        assert to
        try:
            for i, parts in enumerate(images):
                self._write_member(to, str(i), parts)
            self._write_member(to, END, ())
            to.flush()
        except (OSError, ValueError):  # the process ended, which the reader will notice
            pass

    @staticmethod
    def _write_member(to: IO[bytes], name: str, parts: Sequence[Any]) -> None:
        info = tarfile.TarInfo(name)
        info.size = sum(map(len, parts))
        to.write(info.tobuf(tarfile.USTAR_FORMAT))
        for part in parts:
            to.write(part)
        to.write(bytes(-info.size % tarfile.BLOCKSIZE))

    def _read_member(self) -> tuple[str, bytearray]:
        while True:
            info = tarfile.TarInfo.frombuf(self._read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
            data = self._read(info.size)
            self._read(-info.size % tarfile.BLOCKSIZE)
            if info.isreg():
                return info.name, data

    def _read(self, nbytes: int) -> bytearray:
        process = self._process
        assert process and process.stdout
        data = bytearray(nbytes)
        if process.stdout.readinto(data) < nbytes:  # type: ignore[attr-defined]
            raise EOFError(f"gpuimg ended, with exit status {process.wait()}")
        return data
