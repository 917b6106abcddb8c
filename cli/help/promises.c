/* The topic of help on what the program promises. tests/claims names the test of each promise.
 * SPDX-License-Identifier: MIT */
#include "cli/help/help.h"

const char *const gi_promises_paragraphs[] = {
    "THE SAME BYTES EVERYWHERE. The result does not depend on the device (CPU or CUDA), the "
    "number of threads or the instruction level (AVX-512, AVX2, NEON). gpuimg selftest "
    "checks this on your machine (--quick: a minute). Arm is tested under qemu, but not "
    "timed.",
    "ACCURACY. Results of 8 and 16 bits differ from those in double precision by at most 1 "
    "step, and 99.9 % of the samples are equal in 8 bits, 95 % in 16 bits. Options are "
    "decimal numbers: 55 times 1.1 is 60.5, a tie, although binary numbers give "
    "60.50000000000001. Exceptions: interpolation at decimal distances (shift by 0.3, "
    "resize by 3:2) misses ties of up to 2 % of the 8-bit samples, and colours whose alpha "
    "is below 1 % may differ by more. Means, counts, labels and sums are exact. A Gaussian "
    "kernel reaches four sigma unless --k is given.",
    "NOTHING IS LOST. An image of 16 bits stays one of 16 bits. Colours are weighted by "
    "alpha, so that the colours of transparent pixels do not spread. Profiles, EXIF, texts "
    "and all other parts of a file (unknown chunks, tags) are kept if the output format can "
    "hold them, or named in a warning, which --strict makes an error. What does not apply "
    "to changed pixels, as thumbnails and signatures, is dropped by name.",
    "WHOLE FILES OR NONE. Either all outputs of an image appear or none, even if the disk "
    "is full, a signal arrives, or a call for memory, threads or files fails. A file that "
    "is replaced keeps its old content until all outputs are complete.",
    "ANY SIZE, ANY BORDER. Images may be as small as 1 x 1 pixel, and kernels may be larger "
    "than the image. The border modes are --border clamp|border|wrap|mirror|reflect101, and "
    "the names that other programs use for them work too.",
    "FILES ARE DECODED AS BY OTHER PROGRAMS. gpuimg decodes PNG as libpng does (the 162 "
    "good files of PngSuite), JPEG as djpeg, PNM as netpbm, WebP as dwebp, TIFF as libtiff, "
    "HEIC and AVIF as heif-convert, JPEG XL as djxl, FITS as astropy, "
    "and BMP (27 good files) and TGA as Pillow, or as ffmpeg where Pillow misreads a file. "
    "Every command turns an image upright by its EXIF orientation first, as PIL's "
    "ImageOps.exif_transpose() does; other programs may leave it as it is stored, as "
    "--keep-orientation does.",
    "COMPARISONS HAVE TESTS. Help compares gpuimg with other programs. tests/claims names a "
    "test for each of these comparisons, and gpuimg help compatibility names the versions "
    "of the other programs.",
    "DAMAGED FILES ARE ERRORS. Examples are a truncated JPEG and a PNG whose pixels have a "
    "wrong checksum. --allow-partial uses the readable part. SECURITY.md lists the promises "
    "about untrusted files, gpuimg help limits all limits and what can't be done yet (DICOM, "
    "PDF).",
    "PIPELINES. - means standard input or output. Input formats are recognized by the "
    "content of the file. The suffix chooses the output format; --format or a prefix "
    "(png:-) overrides the suffix. Data goes to standard output, and messages go to "
    "standard error.",
    "EXIT STATUS. 0: success. 1: a file or an operation failed. 2: wrong usage. 75: the "
    "machine failed, for example because of a full disk. gpuimg compare exits with 1 if a "
    "limit does not hold, and with 2 on any failure.",
    "PYTHON AND BATCHES. --memory limits the memory of a batch. After kill -9 no output is "
    "half written, and the same command with --report FILE --resume continues. In Python a "
    "call ends by Ctrl-C and by timeout=SECONDS.",
    NULL,
};
