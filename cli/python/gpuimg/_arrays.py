"""NumPy arrays as files that gpuimg reads.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import struct

import numpy as np

CHANNELS = 1024  # of an array


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
