"""gpuimg for Python: operations on NumPy arrays and image files through a process that is kept.

    import gpuimg

    blurred = gpuimg.gaussian(array, sigma=2)                # a function per operation: help(gpuimg.gaussian)
    mask = gpuimg.run("scan.tif", "median --k 5 | threshold", options=("--device", "cuda"))
    regions = gpuimg.run(array, "threshold | extract")["regions"]
    moved = gpuimg.absdiff(before, after)                    # further images are arrays too
    gpuimg.Picture(moved)                                    # is shown by Jupyter

    with gpuimg.Chain("resize --size 256x256 | sharpen") as chain:
        small = [chain(path, timeout=10) for path in paths]

Names: an operation or an option that is a keyword of Python ends in an underscore (with_, from_), and so does a function
whose name is a builtin (open_). A hyphen becomes an underscore. All functions take the options of gpuimg.Common, such as
`device` and `depth`. gpuimg.read() returns the array of a file, gpuimg.encode() the bytes of a file, and gpuimg.stack(),
gpuimg.compare() and gpuimg.labels() take several images or return labels.

Images are

- arrays of (height, width) or (height, width, channels) with 1 to 4 channels: gray, gray and alpha, RGB, RGB and alpha.
  5 to 1024 channels are bands: operations process each of them as a gray image, tables have all of them, and bands="3,2,1"
  chooses some. Byte order and strides do not matter. Objects with __array__(), such as tensors on the CPU, are arrays;
- paths, as str or os.PathLike; bytes, bytearray or memoryview that hold an image file; file objects that are open for
  reading bytes. A .npy file is treated as its array;
- PIL images. Those of mode P become RGB, or RGBA if they are transparent. CMYK, YCbCr, LAB and HSV raise TypeError, because
  PIL's conversion is a choice. Their metadata are not passed on.

Samples are

- uint8 and uint16, and float32 with 0 for black and 1 for white, as they are;
- bool: a mask of 0 and 255;
- float16, and integers of other sizes: float32 of the same value, as the program reads them from files. Integers above 2^24
  that change are named in a warning;
- float64: float32, in which gpuimg computes. A loss of more than a millionth of the range is named in a warning, and a value
  beyond the range of float32 raises ValueError;
- with strict=True, or options=("--strict",), every change of a value raises ValueError;
- masked arrays of floats: masked pixels are pixels without data (NaN with --nodata nan), which filters, stats and histogram
  ignore, and where the result has them it is masked. Masked arrays of integers raise TypeError, because each of their values may be
  one of the result: choose array.astype("float32"), or array.filled(VALUE) with nodata=VALUE;
- everything else, as complex numbers, raises TypeError.

The result has the sample type that the chain gives. It is (height, width) if it has one channel; only an array of
(height, width, 1) comes back with three axes. A chain that ends in integral or cumulative returns their array. A chain
that ends in a step with a table, such as stats or extract, returns the table as a dict, which has the members of the JSON that
the program writes, except the name of the file. Warnings of the program, as of a file with further images, are passed
on to `warnings`, except that an array can't hold the metadata of a file.

Errors have the text of gpuimg: ArgumentError, which is a ValueError too, for a chain, an option or a value that it refuses,
and Error for an image that it can't process. All functions may be called in several threads, in which calls of the same chain wait for
each other, and in processes after a fork.

The program is the one that the environment variable GPUIMG names, or the one that was installed with this package, also if its
environment is not activated, or the first in PATH: gpuimg.program() returns its path.

SPDX-License-Identifier: MIT
"""

from typing import TYPE_CHECKING

from ._calls import encode, read
from ._chain import ArgumentError, Chain, Error, run
from ._names import NAMES
from ._names import VERSION as __version__
from ._picture import Picture
from ._process import Process
from ._program import find as program

__all__: list[str] = ["ArgumentError", "Chain", "Error", "Picture", "Process", "__version__", "encode", "program", "read", "run"]

# The functions of the operations are loaded when one of them is used, because importing them takes 6 ms.
if TYPE_CHECKING:
    from . import _operations
    from ._operations import *
    __all__ += _operations.__all__
else:
    __all__.extend(NAMES)

    def __getattr__(name):
        if name not in NAMES:
            raise AttributeError(f"module 'gpuimg' has no attribute {name!r}")
        from . import _operations
        globals().update({name: getattr(_operations, name) for name in NAMES})
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *NAMES})
