/* Integers in the byte orders of file formats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <string.h>

/* The most significant byte comes first. */
static inline unsigned gi_big16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static inline uint32_t gi_big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void gi_put_big16(unsigned char *p, uint16_t v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
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

/* Integers of 2, 4 or 8 bytes in the machine's own byte order. */
static inline uint64_t gi_own(const unsigned char *p, size_t nbytes)
{
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;
    switch (nbytes) {
    case 2:
        memcpy(&v16, p, sizeof v16);
        return v16;
    case 4:
        memcpy(&v32, p, sizeof v32);
        return v32;
    default:
        memcpy(&v64, p, sizeof v64);
        return v64;
    }
}

static inline void gi_put_own(unsigned char *p, size_t nbytes, uint64_t v)
{
    uint16_t v16 = (uint16_t)v;
    uint32_t v32 = (uint32_t)v;
    memcpy(p, nbytes == 2 ? (void *)&v16 : nbytes == 4 ? (void *)&v32 : &v, nbytes);
}
