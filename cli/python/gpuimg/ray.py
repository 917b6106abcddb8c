"""gpuimg in Ray Data: each actor keeps one process of gpuimg, whose device stays warm.

    import ray
    from gpuimg.ray import GpuImg

    ray.init()
    gpus = 1 if ray.cluster_resources().get("GPU") else 0
    photos = ray.data.read_binary_files("photos", include_paths=True)
    blurred = photos.map_batches(GpuImg, fn_constructor_args=("gaussian --sigma 3 | sharpen",),
                                 batch_size=32, num_gpus=gpus, concurrency=4 if gpus else (1, 4))

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy

from ._column import Column


class GpuImg:
    """A callable class for Dataset.map_batches(): runs a chain on a column of encoded images.

    chain    what `gpuimg run` takes: "gaussian --sigma 3 | sharpen"
    column   of the files' bytes, which become those of the results; None where an image failed
             (gpuimg says why on standard error, which is in the worker's log); what is no image
             stays as it is. A chain that ends in a step with a table, such as stats or extract, gives
             the table of each image as JSON
    options  more of gpuimg's options: ("--format", "png")
    program  its path; None: the one that gpuimg.program() returns in the worker

    An actor with num_gpus=1 sees the GPU that Ray gives it; without a GPU it takes as many threads
    as it has CPUs (num_cpus). Actors that share a GPU (num_gpus=0.25) each need a part of its memory
    and of the cores: options=("--max-device-bytes", "4G", "--threads", "2"). A process that dies is started once more for its batch.
    """

    def __init__(self, chain: str, column: str = "bytes", options: Sequence[str] = (), program: str | None = None):
        self._column = column
        self._work = Column(chain, [*_threads(), *options], program)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        images = batch[self._column]
        column = numpy.empty(len(images), dtype=object)
        column[:] = self._work.results(images)
        batch[self._column] = column
        return batch


def _threads() -> list[str]:
    """The actor's share of the node's cores as an option; nothing if it has a GPU or no share."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return []
    share = ray.get_runtime_context().get_assigned_resources()
    cpus = int(share.get("CPU", 0))
    return ["--threads", str(cpus)] if cpus and not share.get("GPU") else []
