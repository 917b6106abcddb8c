/* Declarations that the CPU's implementations of geometric transforms share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/geometry.h"

enum {
    REMAP_RUN = 256,      /* pixels of a row whose positions are computed at a time */
    REMAP_ROWS = 16,      /* rows per job; close source rows are then used close in time */
    REMAP_PIXEL_MAX = 16, /* bytes */
};

/* The source positions of a run of pixels. x and y are the source pixel to the upper left of each
 * position (for GI_NEAREST the nearest pixel). The fractions are the distances of the position from
 * that source pixel, in pixels. */
struct remap_places {
    int32_t x[REMAP_RUN], y[REMAP_RUN];
    float t[REMAP_RUN], u[REMAP_RUN];
};

/* Computes pixels `first` to `last` - 1 of a run from their positions. `out` is the result row from
 * the start of the run on. */
struct remap_work;
typedef void remap_run_fn(const struct remap_work *work, const struct remap_places *places,
                          int first, int last, void *out);

struct remap_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_remap *spec;
    bool weigh;                                   /* colours are weighted by alpha */
    _Alignas(4) char background[REMAP_PIXEL_MAX]; /* a result pixel without a tap in the source */
    remap_run_fn *run;
};

/* Computes the positions of pixels x to x + n - 1 of row y of the whole result. */
void GI_CPU(remap_places)(struct remap_places *places, const struct gi_remap *spec, int x, int y,
                          int n);

/* Any work, one pixel at a time. */
remap_run_fn GI_CPU(remap_pixels);

/* Computes groups of pixels with all taps inside the source; leaves other pixels to
 * remap_pixels(). */
remap_run_fn GI_CPU(remap_gathers);
gi_remap_takes_fn GI_CPU(remap_gathers_takes);
