/* Limits the work that the scans of a JPEG cause. A valid progressive file of 65 kB may contain 882
 * scans, and each scan is a pass over the coefficients of the whole image.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_work.h"

#include <string.h>

#include "imgio/jpeg/jpeg_markers.h"

enum {
    /* One visit of a block is allowed per 32 pixels of --max-pixels. A visit takes about 50 ns once
     * the coefficients outgrow the cache, so that the default of 2^28 pixels allows any image 0.4 s
     * ... */
    PIXELS_A_VISIT = 32,
    /* ... in addition to the visits that encoders need. With the progression of libjpeg there are 6
     * visits of each block of luma. */
    VISITS_A_BLOCK = 8,
    VISITS_A_BYTE = 8,
};

static uint64_t component_blocks(const jpeg_component_info *component)
{
    return (uint64_t)component->width_in_blocks * component->height_in_blocks;
}

static uint64_t image_blocks(const struct jpeg_decompress_struct *cinfo)
{
    uint64_t blocks = 0;
    for (int i = 0; i < cinfo->num_components; i++)
        blocks += component_blocks(&cinfo->comp_info[i]);
    return blocks;
}

uint64_t gi_jpeg_scan_blocks(const struct jpeg_decompress_struct *cinfo)
{
    uint64_t blocks = 0;
    for (int i = 0; i < cinfo->comps_in_scan; i++)
        blocks += component_blocks(cinfo->cur_comp_info[i]);
    return blocks;
}

enum gi_status gi_jpeg_check_blocks(const struct gi_decode *decode,
                                    const struct jpeg_decompress_struct *cinfo, uint64_t blocks,
                                    struct gi_err *err)
{
    uint64_t budget = decode->options->limits.max_pixels / PIXELS_A_VISIT +
                      image_blocks(cinfo) * VISITS_A_BLOCK +
                      (uint64_t)decode->nbytes * VISITS_A_BYTE;
    if (blocks <= budget)
        return GI_OK;
    return gi_fail(err, GI_E_LIMIT,
                   "its scans visit %llu blocks of 8 x 8, over the limit of %llu for an image of "
                   "this size; --max-pixels raises it",
                   (unsigned long long)blocks, (unsigned long long)budget);
}

/* Returns the number of blocks that a scan visits, computed from the scan's header, `nbytes` at
 * `head` (ITU T.81, B.2.3). */
static uint64_t header_blocks(const unsigned char *head, size_t nbytes,
                              const struct jpeg_decompress_struct *cinfo)
{
    uint64_t blocks = 0;
    for (size_t i = 0; nbytes > 2 && i < head[2] && 3 + 2 * i < nbytes; i++)
        for (int c = 0; c < cinfo->num_components; c++)
            if (cinfo->comp_info[c].component_id == head[3 + 2 * i])
                blocks += component_blocks(&cinfo->comp_info[c]);
    return blocks;
}

/* Returns the number of blocks that all scans of the file visit, computed from the headers of the
 * scans. */
static uint64_t file_blocks(const struct gi_decode *decode,
                            const struct jpeg_decompress_struct *cinfo)
{
    const unsigned char *at = decode->bytes, *end = at + decode->nbytes;
    uint64_t blocks = 0;
    while ((at = memchr(at, 0xff, (size_t)(end - at))) && end - at >= 4 && at[1] != GI_JPEG_EOI) {
        unsigned marker = at[1];
        if (marker == 0xff) {
            at++;
            continue;
        }
        at += 2;
        /* No length follows these markers, or a byte 0xff in a scan's data. */
        if (marker <= GI_JPEG_TEM || (marker >= GI_JPEG_RST0 && marker <= GI_JPEG_SOI))
            continue;
        size_t nbytes = (size_t)(at[0] << 8 | at[1]);
        if (nbytes > (size_t)(end - at))
            break;
        if (marker == GI_JPEG_SOS)
            blocks += header_blocks(at, nbytes, cinfo);
        at += nbytes;
    }
    return blocks;
}

enum gi_status gi_jpeg_check_scans(const struct gi_decode *decode,
                                   const struct jpeg_decompress_struct *cinfo, int channels,
                                   struct gi_err *err)
{
    if (!jpeg_has_multiple_scans((j_decompress_ptr)cinfo))
        return GI_OK;
    /* At most 65535 x 65535 x 4 samples. */
    uint64_t samples = (uint64_t)cinfo->image_width * cinfo->image_height * (uint64_t)channels;
    uint64_t coefficients = image_blocks(cinfo) * sizeof(JBLOCK);
    uint64_t limit = decode->options->limits.max_bytes;
    if (samples + coefficients > limit)
        return gi_fail(err, GI_E_LIMIT,
                       "decodes to %llu bytes by way of %llu bytes of coefficients, over the limit "
                       "of %llu; --max-bytes raises it",
                       (unsigned long long)samples, (unsigned long long)coefficients,
                       (unsigned long long)limit);
    return gi_jpeg_check_blocks(decode, cinfo, file_blocks(decode, cinfo), err);
}
