/* Computes the samples of the bench's images. The functions are the same for hosts and devices, so
 * that every backend and every peer gets the same picture.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_PICTURE_H
#define GI_TESTS_PICTURE_H

#include <stdint.h>

#include "kernels/border.h"

enum bench_content {
    BENCH_RANDOM, /* every value is equally frequent */
    /* all foreground, at 3/4 of full scale, so that only one histogram bin is used */
    BENCH_CONSTANT,
    BENCH_PHOTO,        /* large shades, discs with hard edges, camera noise of 3/255 */
    BENCH_NOISE,        /* 41 % foreground, where 8-connected regions are many and large */
    BENCH_CHECKERBOARD, /* one region if 8-connected, or a region per pixel if 4-connected */
    /* Nested rings of 1 pixel, each joined to the next ring at one pixel, so that there is a long
     * path. */
    BENCH_SPIRAL,
};

struct bench_picture {
    enum bench_content content;
    int width, height;
    uint64_t seed;
};

/* The upper half of splitmix64 (S. Vigna). */
GI_HOST_DEVICE static inline uint32_t bench_hash(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

GI_HOST_DEVICE static inline uint64_t bench_key(int x, int y, int c, uint64_t seed)
{
    return ((uint64_t)(uint32_t)y << 32 | (uint32_t)x) * 4 + (uint64_t)c + (seed << 52);
}

GI_HOST_DEVICE static inline float bench_unit(uint64_t key)
{
    return (float)(bench_hash(key) >> 8) / 16777216.0f;
}

/* Returns value noise: random values every 2^shift pixels, and between them values that are
 * interpolated linearly. */
GI_HOST_DEVICE static inline float bench_shade(int x, int y, int c, int shift, uint64_t seed)
{
    int i = x >> shift, j = y >> shift, size = 1 << shift;
    float u = (float)(x & (size - 1)) / (float)size, v = (float)(y & (size - 1)) / (float)size;
    float top = bench_unit(bench_key(i, j, c, seed)) * (1 - u) +
                bench_unit(bench_key(i + 1, j, c, seed)) * u;
    float bottom = bench_unit(bench_key(i, j + 1, c, seed)) * (1 - u) +
                   bench_unit(bench_key(i + 1, j + 1, c, seed)) * u;
    return top * (1 - v) + bottom * v;
}

GI_HOST_DEVICE static inline float bench_photo(int x, int y, int c, uint64_t seed)
{
    uint32_t disc = bench_hash(bench_key(x >> 7, y >> 7, 0, seed + 3));
    int dx = (x & 127) - 48 - (int)(disc & 31), dy = (y & 127) - 48 - (int)(disc >> 5 & 31);
    int radius = (int)(disc >> 10 & 63);
    uint32_t fine = bench_hash(bench_key(x, y, c, seed + 4));
    uint32_t four = (fine & 255) + (fine >> 8 & 255) + (fine >> 16 & 255) + (fine >> 24);
    float v = 0.15f + 0.45f * bench_shade(x, y, c, 9, seed + 1) +
              0.15f * bench_shade(x, y, c, 5, seed + 2);
    if (dx * dx + dy * dy < radius * radius)
        v += 0.4f * (float)(disc >> 16 & 255) / 255.0f - 0.15f;
    /* The sum of four random bytes has a mean of 510 and a standard deviation of 148. */
    v += ((float)four - 510.0f) / 148.0f * (3.0f / 255.0f);
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* Returns a sample as a fraction of full scale, 0 to 1. */
GI_HOST_DEVICE static inline float bench_sample(const struct bench_picture *picture, int x, int y,
                                                int c)
{
    int right = picture->width - 1 - x, below = picture->height - 1 - y;
    int ring_x = x < right ? x : right, ring_y = y < below ? y : below;
    int ring = ring_x < ring_y ? ring_x : ring_y;
    switch (picture->content) {
    case BENCH_RANDOM:
        return bench_unit(bench_key(x, y, c, picture->seed));
    case BENCH_PHOTO:
        return bench_photo(x, y, c, picture->seed);
    case BENCH_NOISE:
        return bench_unit(bench_key(x, y, c, picture->seed)) < 0.41f ? 0.75f : 0.25f;
    case BENCH_CHECKERBOARD:
        return (x + y) % 2 ? 0.75f : 0.25f;
    case BENCH_SPIRAL:
        return (ring % 2 == 0) != (x == ring && (y == ring + 1 || y == ring + 2)) ? 0.75f : 0.25f;
    default:
        return 0.75f;
    }
}

#endif
