/* What the CPU's ways of warping share.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_WARP_H
#define GI_KERNELS_CPU_WARP_H

#include "kernels/cpu/cpu.h"

enum {
    WARP_RUN = 256,      /* pixels of a row whose places are found at once */
    WARP_ROWS = 16,      /* of a job: neighbours in the source are then near in time too */
    WARP_PIXEL_MAX = 16, /* bytes */
};

/* The places of a run of pixels: the pixel at the left and top of each, or, for GI_NEAREST, the
 * nearest one; how far beyond it, in pixels. */
struct warp_places {
    int32_t x[WARP_RUN], y[WARP_RUN];
    float t[WARP_RUN], u[WARP_RUN];
};

/* Pixels of a run, `first` to below `last`, from their places to row `out` of the result, of which
 * the run is the beginning. */
struct warp_work;
typedef void warp_run_fn(const struct warp_work *work, const struct warp_places *places, int first,
                         int last, void *out);

struct warp_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_warp *spec;
    bool weigh; /* colour by alpha */
    _Alignas(
        4) char background[WARP_PIXEL_MAX]; /* a pixel of the result with no tap in the source */
    warp_run_fn *run;
};

/* Pixel x of row y of the whole result and the next n - 1. */
void GI_CPU(warp_places)(struct warp_places *places, const struct gi_warp *spec, int x, int y,
                         int n);

/* Everything, pixel after pixel. */
warp_run_fn GI_CPU(warp_pixels);

/* Groups of pixels with all taps within the source; hands others to warp_pixels(). */
warp_run_fn GI_CPU(warp_gathers);
gi_warp_takes_fn GI_CPU(warp_gathers_takes);

#endif
