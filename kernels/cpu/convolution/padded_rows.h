/* Shared by the neighbourhood primitives: a sweep down strips of the image with a ring buffer of
 * prepared rows; the conversion of rows to padded floats with colours multiplied by alpha; and the
 * epilogue, which converts results to samples.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/rules.h"

/* How an image is cut into jobs: strips of columns times bands of rows. */
struct gi_tiling {
    int strip; /* pixels */
    int nstrips;
    int band; /* rows */
    int nbands;
};

struct gi_tile {
    int x0, x1, y0, y1; /* columns x0 <= x < x1, rows y0 <= y < y1 */
};

/* Maximum number of result rows per call of filter_rows(); they share loads from the ring
 * buffer. */
enum { GI_ROWS_AT_ONCE = 4 };

/* A neighbourhood operation. `make` is called once for every source row of a tile. `make` turns the
 * padded row (floats of the tile's pixels, and of `left` and `right` more pixels at the sides) into
 * a slot of the ring buffer. `filter_rows` is called for every result row y. `filter_rows` turns
 * the `nrows` slots from row y - above on into results, to which the epilogue is applied before
 * they are stored. Both functions get rows in chunks of n samples. They may write up to 64 bytes
 * past the end of slots, rows and f. */
struct gi_sweep {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_border_spec *border;
    struct gi_epilogue epilogue;
    enum gi_alpha_rule alpha; /* PLAIN for an image without alpha */
    float inverse_sum;        /* 1 / sum of the weights, for GI_ALPHA_WEIGH */
    const void *spec;         /* for make() and filter_rows() */
    int left, right;          /* pixels */
    int above, nrows;         /* rows */
    int planes;               /* rows of n samples in a slot; 0 if a slot is the padded row */
    void (*make)(const struct gi_sweep *sweep, float *slot, const float *padded, size_t n);
    void (*filter_rows)(const struct gi_sweep *sweep, float *f, size_t stride, int nout,
                        const float *const *rows, size_t n);
    struct gi_tiling tiling; /* set by gi_sweep() */
};

/* Runs the sweep on the queue's threads. Errors: GI_E_MEMORY. */
enum gi_status GI_CPU(sweep)(struct gi_queue *queue, struct gi_sweep *sweep, struct gi_err *err);

/* Returns the number of floats between the starts of two planes of a slot. */
size_t GI_CPU(sweep_plane)(const struct gi_sweep *sweep);

/* Cuts the image into about four jobs per thread. `max_strip` is in pixels, at least 1. A band
 * computes `overlap` rows in addition to its own rows; therefore bands are not short. */
struct gi_tiling GI_CPU(tiling)(const struct gi_image *image, int threads, size_t max_strip,
                                int overlap);
struct gi_tile GI_CPU(tile)(const struct gi_tiling *tiling, const struct gi_image *image,
                            int index);

/* Prefetches the tile's samples of row y, if that row exists. */
void GI_CPU(row_prefetch)(const struct gi_image *image, const struct gi_tile *tile, long long y,
                          bool to_write);

/* Writes pixels x0 to x0 + count - 1 of source row y (border values if y is -1) to `out`. These are
 * count * channels floats, with colours multiplied by alpha if the rule `alpha` says so. */
void GI_CPU(row_load)(const struct gi_sweep *sweep, float *out, int y, long long x0, size_t count);

/* Writes pixels x0 to x0 + count - 1 of the row at position p to `out` as samples. Pixels outside
 * the image follow the border mode, with border values rounded. */
void GI_CPU(row_copy)(void *out, const struct gi_image *src, const struct gi_border_spec *border,
                      long long p, long long x0, size_t count);

/* Returns the samples that row_copy() would write. They are in the image itself if all of the
 * pixels are inside the image, else in `buffer`. */
const void *GI_CPU(row_at)(void *buffer, const struct gi_image *src,
                           const struct gi_border_spec *border, long long p, long long x0,
                           size_t count);

/* Returns whether border values are representable as samples, so that row_copy() does not change
 * them. */
bool GI_CPU(border_is_whole)(const struct gi_border_spec *border, const struct gi_image *src);

/* Convert n samples of `type` to floats, and floats to samples as every primitive stores them. No
 * byte past the n samples is accessed. */
void GI_CPU(samples_load)(float *out, const void *in, size_t n, enum gi_type type);
void GI_CPU(samples_store)(void *out, const float *in, size_t n, enum gi_type type);

/* Applies alpha rule and epilogue to the n filtered samples f of row y from pixel x0 on, rounds and
 * stores them. */
void GI_CPU(row_finish)(const struct gi_sweep *sweep, const float *f, int y, int x0, size_t n);

/* Computes out[x] = sum over i of taps[i] * in[x + i * step] as in gi_separable, 0 <= x < n. */
void GI_CPU(row_filter)(float *out, const float *in, size_t n, const float *taps, int ntaps,
                        int step);

/* Computes out[r * stride + x] = sum over j of taps[j] * rows[r + j][x], summed as in gi_separable,
 * 0 <= x < n, 0 <= r < nout; nout is 1 or GI_ROWS_AT_ONCE. */
void GI_CPU(column_filter)(float *out, size_t stride, int nout, const float *const *rows, size_t n,
                           const float *taps, int ntaps);
