/* Stores numbers in either byte order.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

static inline void gi_tags_put16(unsigned char *p, bool big_endian, size_t v)
{
    p[big_endian] = (unsigned char)v;
    p[!big_endian] = (unsigned char)(v >> 8);
}

static inline void gi_tags_put32(unsigned char *p, bool big_endian, size_t v)
{
    gi_tags_put16(p + (big_endian ? 2 : 0), big_endian, v & 0xffff);
    gi_tags_put16(p + (big_endian ? 0 : 2), big_endian, v >> 16);
}
