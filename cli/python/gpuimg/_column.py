"""Encoded images of a column, for data frames and data sets.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, Any

from ._chain import USAGE, ArgumentError, Error
from ._process import Process
from ._program import find

OUTPUTS = ("--suffix", "--format")
OUTPUT_WORDS = tuple((word,) for word in OUTPUTS)


class Column:
    """A chain on columns of encoded images, by one process that is kept. It starts when it is needed, so that the object can be
    sent to workers, and a process that dies is started once more."""

    def __init__(self, chain: str, options: Sequence[str], program: str | None, keep: bool = False):
        """`keep`: what gpuimg says is kept for said(), instead of going to standard error."""
        self._arguments = chain, tuple(options), program, keep
        self._begin()

    def _begin(self) -> None:
        self._owner, self._lock = os.getpid(), threading.Lock()
        self._process: Process | None = None
        self._errors: IO[bytes] | None = None
        self.tables = False  # the chain gives tables, as JSON

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, self._arguments

    def process(self) -> Process:
        """Its process, for the kind of result that the chain gives. Raises ArgumentError with the text of the program."""
        if self._process is None:
            chain, options, program, keep = self._arguments
            program = program or find()
            # Only the program knows whether a chain ends in a table: it refuses a suffix of tables for images.
            plain = [word for i, word in enumerate(options) if not word.startswith(OUTPUTS) and options[i - 1:i] not in OUTPUT_WORDS]
            self.tables = self._probe([program, "run", "--suffix", ".json", "--tar", *plain, "--", chain, "-", "-"]).returncode == 0
            command = [program, "run", *(["--suffix", ".json"] if self.tables else []), "--tar", *options, "--", chain, "-", "-"]
            probe = self._probe(command)
            if probe.returncode:
                said = probe.stderr.decode(errors="replace").strip()
                raise (ArgumentError if probe.returncode == USAGE else Error)(said or f"gpuimg ended with status {probe.returncode}")
            self._errors = tempfile.TemporaryFile("a+b") if keep else None
            self._process = Process(command, self._errors)
        return self._process

    @staticmethod
    def _probe(command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, input=bytes(2 * tarfile.BLOCKSIZE), capture_output=True)

    def said(self) -> str:
        """What gpuimg has said since the last call."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        self._errors.truncate(0)
        return text.replace("standard input: ", "")

    def results(self, images: Sequence[Any]) -> list[bytes | None]:
        """The results of encoded images; None for None, and where an image failed."""
        if self._owner != os.getpid():
            self._begin()
        with self._lock:
            process = self.process()
            given = [image for image in images if image is not None]
            try:
                results = iter(process.exchange(given))
            except (EOFError, tarfile.HeaderError):
                process.stop()
                results = iter(process.exchange(given))
        return [None if image is None else next(results) for image in images]
