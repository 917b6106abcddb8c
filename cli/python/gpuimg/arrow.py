"""gpuimg on columns of encoded images in Arrow's record batches and tables: Hugging Face Datasets, Spark, Ray Data, Polars.

    from gpuimg.arrow import GpuImg

    small = GpuImg("resize --size 224x224", column="image", options=("--format", "png"))

    dataset.with_format("arrow").map(small, batched=True, batch_size=64)           # datasets
    frame.mapInArrow(small.batches, frame.schema)                                  # Spark
    data.map_batches(small, batch_format="pyarrow")                                # Ray Data
    polars.from_arrow(small(frame.to_arrow()))                                     # Polars

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow  # type: ignore[import-untyped,unused-ignore]

from ._chain import Error
from ._column import Column

KINDS = (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view())
Batch = TypeVar("Batch", pyarrow.RecordBatch, pyarrow.Table)


class GpuImg:
    """A callable that runs a chain on a column of encoded images.

    Parameters
    ----------
    chain : str
        What `gpuimg run` takes: "gaussian --sigma 3 | sharpen".
    column : str, default 'image'
        The column of the files' bytes: binary, large_binary or binary_view, or a struct with the fields bytes and path,
        as Hugging Face's Image has it, whose bytes are replaced.
    to : str, optional
        The column of the results, by default the same one.
    options : sequence of str, optional
        More of gpuimg's options: ("--format", "png", "--threads", "1").
    failed : {'null', 'raise'}, default 'null'
        What an image that can't be processed gives: null, for which gpuimg says the reason on standard error, or Error with the
        reason, which names the image by its number among the images of the batch that are not null.
    program : str, optional
        Path of the program in the worker, by default the one that gpuimg.program() returns there.

    Notes
    -----
    A null stays a null, and bytes that are no image stay as they are. A chain that ends in a step with a table, such
    as stats or extract, gives the table of each image as a string of JSON. The object can be pickled; each process of Python keeps
    one process of gpuimg, which works with all of its threads on the images of a batch. Where a node has several workers, give them
    their share by --threads.

    Examples
    --------
    >>> blur = GpuImg("gaussian --sigma 2")
    >>> blurred = blur(pyarrow.table({"image": [data]}))
    """

    def __init__(self, chain: str, column: str = "image", *, to: str | None = None, options: Sequence[str] = (),
                 failed: str = "null", program: str | None = None):
        if failed not in ("null", "raise"):
            raise ValueError(f"gpuimg: failed={failed!r}: want 'null' or 'raise'")
        self._column, self._to, self._raises = column, to or column, failed == "raise"
        self._work = Column(chain, options, program, self._raises)

    def __call__(self, batch: Batch) -> Batch:
        """Returns a batch or a table with the results."""
        results = self.array(batch.column(self._column))
        index = batch.schema.get_field_index(self._to)
        field = pyarrow.field(self._to, results.type)
        if index >= 0:
            metadata = batch.schema.field(index).metadata
            return batch.set_column(index, field.with_metadata(metadata), results)
        return batch.append_column(field, results)

    def batches(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Yields record batches with the results, as Spark's mapInArrow() wants it."""
        for batch in batches:
            yield self(batch)

    def array(self, images: Any) -> Any:
        """Returns the results of an array or a chunked array of encoded images."""
        if isinstance(images, pyarrow.ChunkedArray):
            images = images.combine_chunks()
            if isinstance(images, pyarrow.ChunkedArray):
                return pyarrow.chunked_array([self.array(chunk) for chunk in images.chunks])
        kind, files = images.type, images
        struct = pyarrow.types.is_struct(kind)
        if struct:
            files = images.field("bytes")
        if files.type not in KINDS:
            raise TypeError(f"gpuimg: column of {kind}: want binary, large_binary, binary_view, or a struct of bytes and path")
        given = [file.as_buffer() if file.is_valid and whole.is_valid else None for file, whole in zip(files, images)]
        results = self._work.results(given)
        if self._raises:
            failures = [i for i, (file, result) in enumerate(zip(given, results)) if file is not None and result is None]
            if failures:
                raise Error(self._work.said() or f"gpuimg: column {self._column}: row {failures[0]} of the batch can't be processed")
        if self._work.tables:
            return pyarrow.array([None if result is None else result.decode() for result in results], pyarrow.string())
        found = pyarrow.array(results, files.type)
        if not struct:
            return found
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return pyarrow.StructArray.from_arrays([found if field.name == "bytes" else images.field(field.name) for field in fields],
                                               fields=fields, mask=images.is_null())
