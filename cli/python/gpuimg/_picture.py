"""An image that notebooks show.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import ImageLike
from ._calls import encode, read

if TYPE_CHECKING:
    from numpy.typing import NDArray
    Array = NDArray[Any]


class Picture:
    """An image that Jupyter and other notebooks show; np.asarray(picture) and picture.array are its array.

    Parameters
    ----------
    image : array, path, bytes, file object or PIL image
        See help(gpuimg). Floats are shown as 0 for black to 1 for white.

    Examples
    --------
    >>> gpuimg.Picture(gpuimg.gaussian(array, sigma=2))
    """

    def __init__(self, image: ImageLike):
        self.array = read(image)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype) if copy or dtype is not None else self.array

    def __repr__(self) -> str:
        return f"gpuimg.Picture({self.array.dtype}, {self.array.shape})"

    def _repr_png_(self) -> bytes:
        whole = self.array.dtype in (np.uint8, np.uint16, np.bool_)
        return encode(self.array, "png", depth="same" if whole else "8")
