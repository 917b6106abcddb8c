/* Integers in the byte orders of file formats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* The most significant byte comes first. */
static inline uint32_t gi_big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void gi_put_big32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* The least significant byte comes first. */
static inline unsigned gi_little16(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t gi_little32(const unsigned char *p)
{
    return gi_little16(p) | (uint32_t)gi_little16(p + 2) << 16;
}

static inline void gi_put_little32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}
