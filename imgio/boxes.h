/* The boxes of files that follow ISO/IEC 14496-12: HEIF, AVIF and JPEG 2000.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GI_BOX_TYPE(a, b, c, d)                                                                    \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))

struct gi_box {
    uint32_t type;
    const unsigned char *data; /* its content, within the bytes of the file */
    uint64_t n;                /* bytes of the content in the file */
    bool whole;                /* the file has all of the box */
};

/* Reads the box at *at of `bytes`, and moves *at behind it. A length of 0 reaches up to the end.
 * Returns false if no head of a box is there. */
bool gi_box_next(struct gi_box *box, const unsigned char *bytes, uint64_t nbytes, uint64_t *at);

/* Sets `name` to the type as text. Characters that ASCII cannot print become question marks. */
void gi_box_name(char name[5], uint32_t type);
