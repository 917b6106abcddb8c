/* libjpeg's callbacks: errors, warnings, progress, and output to memory.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* The state behind the callbacks of a decoder, and of an encoder that works with it. They receive a
 * pointer to `base`, which has the address of the whole struct because it is the first member. On
 * an error they fill in `err` and `status`, and leave by longjmp() to `jump`. */
struct gi_jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    struct gi_err *err;
    struct gi_decode *decode;
    enum gi_status status;
    int scan;        /* number of the scan being read */
    uint64_t blocks; /* blocks visited by all scans up to `scan` */
};
void gi_jpeg_errors_init(struct gi_jpeg_errors *e, struct gi_decode *decode, struct gi_err *err);

/* The progress monitor of a decoder, which limits the work that many scans cause. At the start of
 * each scan it adds the scan's blocks to the total, and stops the decoder if the total is above the
 * limit. The headers of the scans were checked before, but in a damaged file libjpeg may find other
 * scans. */
void gi_jpeg_on_progress(j_common_ptr common);

/* An output manager that writes to memory. libjpeg's own jpeg_mem_dest() would leak the buffer if
 * memory ran out. `bytes` is malloc()ed, and the caller frees it, also after an error. */
struct gi_jpeg_output {
    struct jpeg_destination_mgr base;
    unsigned char *bytes;
    size_t room, nbytes; /* nbytes: set once the file is finished */
};
/* Makes an empty output the destination of the encoder. */
void gi_jpeg_output_init(struct gi_jpeg_output *out, j_compress_ptr jpeg);
