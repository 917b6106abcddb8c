/* Shared by the CPU's implementations of geometric transforms.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_WARP_H
#define GI_KERNELS_CPU_WARP_H

#include "kernels/cpu/cpu.h"

enum {
    WARP_RUN = 256,      /* pixels of a row whose positions are computed at once */
    WARP_ROWS = 16,      /* rows per job: neighbours in the source are then close in time, too */
    WARP_PIXEL_MAX = 16, /* bytes */
};

/* The source positions of a run of pixels: the integer pixel to the left and above of each, or, for
 * GI_NEAREST, the nearest pixel; and the fraction beyond it, in pixels. */
struct warp_places {
    int32_t x[WARP_RUN], y[WARP_RUN];
    float t[WARP_RUN], u[WARP_RUN];
};

/* Computes pixels `first` to `last` - 1 of a run from their positions into row `out` of the result,
 * which begins with the run. */
struct warp_work;
typedef void warp_run_fn(const struct warp_work *work, const struct warp_places *places, int first,
                         int last, void *out);

struct warp_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_warp *spec;
    bool weigh;                                  /* colours are weighted by alpha */
    _Alignas(4) char background[WARP_PIXEL_MAX]; /* a result pixel without a tap in the source */
    warp_run_fn *run;
};

/* Computes the positions of pixels x to x + n - 1 of row y of the whole result. */
void GI_CPU(warp_places)(struct warp_places *places, const struct gi_warp *spec, int x, int y,
                         int n);

/* Any work, one pixel at a time. */
warp_run_fn GI_CPU(warp_pixels);

/* Groups of pixels with all taps inside the source; others are passed to warp_pixels(). */
warp_run_fn GI_CPU(warp_gathers);
gi_warp_takes_fn GI_CPU(warp_gathers_takes);

#endif
