/* Limits on the memory and work of JPEGs with several scans.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_JPEG_WORK_H
#define GI_IMGIO_JPEG_WORK_H

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* Returns the number of blocks that the current scan visits: every block of its components, even if
 * the scan codes nothing for it. */
uint64_t gi_jpeg_scan_blocks(const struct jpeg_decompress_struct *cinfo);

/* Checks that `blocks`, visited in all scans together, are no more than the image, its file and the
 * limit on pixels allow. Errors: GI_E_LIMIT. */
enum gi_status gi_jpeg_check_blocks(const struct gi_decode *decode,
                                    const struct jpeg_decompress_struct *cinfo, uint64_t blocks,
                                    struct gi_err *err);

/* After jpeg_read_header(): checks that the coefficients of all scans, together with the image of
 * `channels`, are within the limit on bytes, and the number of scans in the file within the limit
 * on work. Allocates nothing. Errors: GI_E_LIMIT. */
enum gi_status gi_jpeg_check_scans(const struct gi_decode *decode,
                                   const struct jpeg_decompress_struct *cinfo, int channels,
                                   struct gi_err *err);

#endif
