/* Limits on the memory and work of JPEGs with several scans.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/format.h"

/* Returns the number of blocks that the current scan visits. These are all blocks of the scan's
 * components, even blocks for which the scan codes nothing. */
uint64_t gi_jpeg_scan_blocks(const struct jpeg_decompress_struct *cinfo);

/* Checks that `blocks`, the visits of blocks by all scans together, are not too many for the size
 * of the image, the length of the file and the limit on pixels. Errors: GI_E_LIMIT. */
enum gi_status gi_jpeg_check_blocks(const struct gi_decode *decode,
                                    const struct jpeg_decompress_struct *cinfo, uint64_t blocks,
                                    struct gi_err *err);

/* Checks two things after jpeg_read_header(): that the coefficients of all scans and an image of
 * `channels` together are within the limit on bytes, and that the scans in the file are within the
 * limit on work. Allocates nothing. Errors: GI_E_LIMIT. */
enum gi_status gi_jpeg_check_scans(const struct gi_decode *decode,
                                   const struct jpeg_decompress_struct *cinfo, int channels,
                                   struct gi_err *err);
