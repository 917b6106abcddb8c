"""gpuimg for Python: operations on NumPy arrays and image files through a process that is kept.

    import gpuimg

    blurred = gpuimg.run(array, "gaussian --sigma 2")
    mask = gpuimg.run("scan.tif", "median --k 5 | threshold", options=("--device", "cuda"))
    regions = gpuimg.run(array, "threshold | extract")["regions"]

    with gpuimg.Chain("resize --size 256x256 | sharpen") as chain:
        small = [chain(path, timeout=10) for path in paths]

An array is (height, width) or (height, width, channels) with 1 to 4 channels: gray, gray and alpha, RGB, RGB and alpha.
5 to 1024 channels are bands: operations process each of them as a gray image, tables have all of them, and
options=("--bands", "3,2,1") chooses some. Samples are uint8 or uint16, or float32 from 0 to 1; bool is a mask of 0 and
255. Byte order and strides do not matter. Nothing else is converted, because a conversion may lose values: float64, integers of other sizes
and complex numbers raise TypeError, and so does a masked array. A .npy file is treated as its array.

The result has the sample type that the chain gives. It is (height, width) if it has one channel; only an array of
(height, width, 1) comes back with three axes. A chain that ends in integral or cumulative returns their array. A chain
that ends in stats, histogram, palette or extract returns their table as a dict, which has the members of the JSON that
the program writes, except the name of the file. Warnings of the program, as of a file with further images, are passed
on to `warnings`, except that an array can't hold the metadata of a file.

SPDX-License-Identifier: MIT
"""

from ._chain import Chain, Error, run
from ._process import Process

__all__ = ["Chain", "Error", "Process", "run"]
