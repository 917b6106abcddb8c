"""Arrays, image files and PIL images as files that gpuimg reads, and arrays of results.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import io
import os
import struct
import sys
import warnings
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, Union

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    Array = NDArray[Any]


class _Array(Protocol):
    """A tensor on the CPU and other arrays."""

    def __array__(self) -> Any: ...


class _Interface(Protocol):
    """A PIL image."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


# What functions take as an image.
ImageLike = Union["Array", str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], _Array, _Interface]

Parts = tuple[Union[bytes, memoryview], ...]  # of a file, which are written one after the other
CHANNELS = 1024  # of an array
NPY = b"\x93NUMPY"
LOSS = 1e-6  # of the range of floats, above which the program warns of rounding
PIL_MODES = {"1", "L", "LA", "RGB", "RGBA", "P", "PA", "I;16", "I;16L", "I;16B", "I", "F"}


class Input(NamedTuple):
    """An image for the program."""

    parts: Parts
    options: tuple[str, ...] = ()  # that it needs
    column: bool = False  # it was an array of (height, width, 1)
    masked: bool = False  # the result is a masked array


def warn(text: str) -> None:
    """Warns at the place that called this package."""
    here, level, frame = os.path.dirname(__file__), 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def blocks(image: object) -> bool:
    """Whether reading the image may wait for ever, as of a pipe."""
    return isinstance(image, (str, os.PathLike)) or hasattr(image, "read")


def take(image: ImageLike, strict: bool = False) -> Input:
    """Reads or encodes an image. Raises TypeError and ValueError."""
    if isinstance(image, np.ndarray):
        return _take_array(image, strict)
    if isinstance(image, (str, os.PathLike)):
        path = os.fspath(image)
        with open(path, "rb") as file:
            return _take_file(file.read(), path, strict)
    if isinstance(image, (bytes, bytearray, memoryview)):
        return _take_file(bytes(image), "bytes", strict)
    if hasattr(image, "read"):
        data = image.read()
        if not isinstance(data, bytes):
            raise TypeError(f"gpuimg: file object that gives {type(data).__name__}: want one that is opened for bytes, as by mode \"rb\"")
        return _take_file(data, "file object", strict)
    pil = sys.modules.get("PIL.Image")
    if pil is not None and isinstance(image, pil.Image):
        return _take_array(_pil_array(image), strict)
    if hasattr(image, "__array__") or hasattr(image, "__array_interface__"):
        return _take_array(np.asarray(image), strict)
    raise TypeError(f"gpuimg: {type(image).__name__}: want an array, a path, bytes, a file object or a PIL image")


def _take_file(data: bytes, name: str, strict: bool) -> Input:
    """An image file as it is. A .npy file is encoded, because the program copies it like any file of a data set that
    is no image."""
    if not data.startswith(NPY):
        return Input((data,))
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise ValueError(f"gpuimg: {name}: {error}") from None
    return _take_array(array, strict)


def _pil_array(image: Any) -> Array:
    if image.mode not in PIL_MODES:
        raise TypeError(f"gpuimg: PIL image of mode {image.mode}: want image.convert(\"RGB\"), or one of {', '.join(sorted(PIL_MODES))}")
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")
    return np.asarray(image)


def _take_array(array: Array, strict: bool) -> Input:
    column = array.ndim == 3 and array.shape[2] == 1
    if isinstance(array, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(array)
        if array.dtype.kind != "f":
            raise TypeError(f"gpuimg: masked array of {array.dtype}: want floats, which have a value for masked pixels: "
                            f"array.astype(\"float32\"), or array.filled(VALUE) with nodata=VALUE")
        if mask.ndim == 3 and (mask != mask[..., :1]).any():
            raise ValueError("gpuimg: masked array: want all channels of a pixel masked, or none")
        filled = np.where(mask, np.nan, np.ma.getdata(array)).astype(array.dtype)
        return Input(encode(filled, strict), ("--nodata", "nan"), column, True)
    return Input(encode(array, strict), (), column)


def _load(data: bytearray) -> Array:
    """The array of a .npy file, which is the memory of the file if it is in C order."""
    file = io.BytesIO(memoryview(data)[:1024])
    try:
        version = np.lib.format.read_magic(file)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file) if version == (1, 0) else ((), True, None)
    except ValueError:
        fortran = True
    if fortran:
        loaded: Array = np.load(io.BytesIO(data), allow_pickle=False)
        return loaded
    return np.frombuffer(data, dtype, offset=file.tell()).reshape(shape)


def result(data: bytearray, image: Input, channels_first: bool) -> Array:
    """The array of a result, a .npy file, in the form of the input."""
    array = _load(data)
    if image.masked and array.dtype.kind == "f":
        array = np.ma.masked_array(array, np.isnan(array))
    if image.column and array.ndim == 2:
        array = np.expand_dims(array, 0 if channels_first else 2)
    return array


def _to_float32(array: Array, strict: bool) -> Array:
    """Floats of 16 and 64 bits, and integers that are neither uint8 nor uint16, as the program reads them from files:
    as float32 of the same value. It warns where the program warns."""
    with np.errstate(over="ignore"):
        rounded: Array = array.astype(np.float32)
    if array.dtype.itemsize <= 2:
        return rounded
    back = rounded.astype(array.dtype if array.dtype.kind == "f" else np.float64)
    if array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not np.isfinite(rounded[finite]).all():
            raise ValueError("gpuimg: array of float64: it has values beyond the range of float32")
        change = np.abs(back[finite] - array[finite])
        changed, much = bool(change.any()), False
        if changed:
            much = bool(change.max() > LOSS * np.ptp(array[finite]))
    else:
        changed = much = bool((back != array).any())
    if changed and strict:
        raise ValueError(f"gpuimg: strict: array of {array.dtype}: values change when they are rounded to float32")
    if much:
        warn(f"array of {array.dtype}: values change when they are rounded to float32")
    return rounded


def _bytes_of(array: Array) -> memoryview:
    """The samples in C order, without a copy if they are so."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1).data


def encode(array: Array, strict: bool = False) -> Parts:
    """An array as a file: PAM for integers, PFM for floats of 1 or 3 channels, and TIFF for other floats. Raises
    TypeError and ValueError."""
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want (height, width) or (height, width, channels)")
    height, width = array.shape[:2]
    channels = array.shape[2] if array.ndim == 3 else 1
    if channels > CHANNELS:
        raise ValueError(f"gpuimg: array of shape {array.shape}: want 1 to {CHANNELS} channels")
    if array.dtype.kind not in "buif" or array.dtype.itemsize > 8:
        raise TypeError(f"gpuimg: array of {array.dtype}: want integers, float16, float32, float64 or bool")
    array = np.asarray(array).astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.bool_:
        array = array * np.uint8(255)
    elif array.dtype not in (np.uint8, np.uint16, np.float32):
        array = _to_float32(array, strict)
    if array.dtype == np.float32:
        if channels not in (1, 3):
            return _tiff(array.astype("<f4", copy=False))
        magic = "PF" if channels == 3 else "Pf"
        return f"{magic}\n{width} {height}\n-1.0\n".encode(), _bytes_of(array[::-1].astype("<f4", copy=False))
    full = 255 if array.dtype == np.uint8 else 65535
    kinds = ("GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA")
    kind = f"TUPLTYPE {kinds[channels - 1]}\n" if channels <= 4 else ""
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {full}\n{kind}ENDHDR\n"
    return head.encode(), _bytes_of(array.astype(f">u{array.itemsize}", copy=False))


def _tiff(array: Array) -> Parts:
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
    return head, _bytes_of(array), struct.pack("<Q", len(tags)) + entries + bytes(8) + values
