"""Images that options name, as files in memory that a process of gpuimg inherits.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import io
import os
import threading
import weakref

import numpy as np

from ._arrays import ImageLike, take


class Further:
    """A file in memory, whose path is valid in processes that inherit its descriptor."""

    def __init__(self, data: bytes, name: str):
        self.descriptor = os.memfd_create("gpuimg")
        self.path, self.name = f"/dev/fd/{self.descriptor}", name
        with open(self.descriptor, "wb", closefd=False) as file:
            file.write(data)

    def __del__(self) -> None:
        if hasattr(self, "path"):
            os.close(self.descriptor)


_kept: weakref.WeakValueDictionary[tuple[str, bytes], Further] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def further(image: ImageLike, values: bool) -> Further:
    """The file of an image. Equal images have the same one while a chain uses it, so that its process is kept.
    values  the array is not a picture, but a map or labels, whose values and axes are taken as they are"""
    path = os.fspath(image) if isinstance(image, (str, os.PathLike)) else None
    if not values:
        taken = take(image)
        if taken.options:
            raise TypeError("gpuimg: masked array as a further image: want array.filled(VALUE)")
        data = b"".join(taken.parts)
    elif path is not None:
        with open(path, "rb") as file:
            data = file.read()
    elif isinstance(image, bytes):
        data = image
    else:
        to = io.BytesIO()
        np.save(to, np.asarray(image), allow_pickle=False)
        data = to.getvalue()
    name = path or "further image"
    import hashlib  # here, because importing it takes as long as the rest of this package
    key = name, hashlib.blake2b(data).digest()
    with _lock:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = Further(data, name)
        return found
