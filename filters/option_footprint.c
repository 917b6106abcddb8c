/* Structuring elements and neighbourhoods: computes size and shape from options.
 * SPDX-License-Identifier: MIT */
#include "filters/option_footprint.h"
#include "kernels/footprint.h"

#include <math.h>
#include <stdlib.h>

#include "filters/convolution/kernel_text.h"
#include "imgio/small.h"
#include "kernels/rules.h"

const struct gi_choice gi_footprint_shapes[] = {
    {"rect", NULL, "the whole square, or the rectangle of --size"},
    {"disk", NULL, "pixels at most (k - 1) / 2 away from the middle"},
    {"diamond", NULL, "pixels with |x| + |y| at most (k - 1) / 2 from the middle"},
    {0},
};

static void centre(struct gi_footprint *w)
{
    w->anchor_x = w->width / 2;
    w->anchor_y = w->height / 2;
}

/* Finds the runs of pixels that are not 0 in a rectangle, row by row. */
static enum gi_status runs_of(struct gi_footprint *w, const double *pixels, const char *name,
                              struct gi_err *err)
{
    int width = w->width, left = w->anchor_x, top = w->anchor_y;
    w->runs = gi_small_alloc(GI_RUNS_MAX * sizeof *w->runs);
    for (int y = 0; y < w->height; y++)
        for (int x = 0; x < width; x++) {
            const double *row = pixels + (size_t)y * (size_t)width;
            if (row[x] == 0)
                continue;
            int first = x;
            while (x + 1 < width && row[x + 1] != 0)
                x++;
            if (w->nruns == GI_RUNS_MAX)
                return gi_fail(err, GI_E_USAGE, "--%s: want at most %d runs of pixels", name,
                               GI_RUNS_MAX);
            w->pixels += x - first + 1;
            w->runs[w->nruns++] = (struct gi_footprint_run){
                (int16_t)(y - top), (int16_t)(first - left), (int16_t)(x - left)};
        }
    if (!w->nruns)
        return gi_fail(err, GI_E_USAGE, "--%s: all of it is 0: want some pixels that count", name);
    return GI_OK;
}

enum gi_status gi_footprint_read(struct gi_footprint *w, const char *text, const char *name,
                                 int most, struct gi_err *err)
{
    struct gi_kernel kernel;
    enum gi_status status = gi_kernel_read(&kernel, text, err);
    *w = (struct gi_footprint){0};
    if (status) {
        gi_err_prefix(err, "--%s", name);
        return status;
    }
    w->width = kernel.width;
    w->height = kernel.height;
    centre(w);
    if (w->width > most || w->height > most)
        status = gi_fail(err, GI_E_USAGE, "--%s: %d x %d pixels: want at most %d a side", name,
                         w->width, w->height, most);
    else
        status = runs_of(w, kernel.weights, name, err);
    gi_kernel_free(&kernel);
    if (status || w->pixels == w->width * w->height) {
        gi_footprint_free(w);
        w->nruns = 0;
    }
    return status;
}

static void round_one(struct gi_footprint *w, int k, bool disk)
{
    int r = k / 2, half = 0;
    w->width = w->height = k;
    centre(w);
    w->runs = gi_small_alloc((size_t)k * sizeof *w->runs);
    for (int y = -r; y <= r; y++) {
        while (half < r && (half + 1) * (half + 1) + y * y <= r * r)
            half++;
        while (half * half + y * y > r * r)
            half--;
        int reach = disk ? half : r - (y < 0 ? -y : y);
        w->runs[w->nruns++] =
            (struct gi_footprint_run){(int16_t)y, (int16_t)-reach, (int16_t)reach};
        w->pixels += 2 * reach + 1;
    }
}

enum gi_status gi_footprint_sides(int *width, int *height, const struct gi_footprint_params *window,
                                  const struct gi_image *src, int most, struct gi_err *err)
{
    *width = *height = window->k;
    if (gi_extent_is_set(&window->size)) {
        *width = src->width;
        *height = src->height;
        gi_extent_pixels(&window->size, width, height);
    }
    if (*width > most || *height > most)
        return gi_fail(err, GI_E_USAGE, "--size: want at most %d px a side", most);
    return GI_OK;
}

enum gi_status gi_footprint_make(struct gi_footprint *made,
                                 const struct gi_footprint_params *window,
                                 const struct gi_image *src, int most, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *made = (struct gi_footprint){0};
    if (window->mask) {
        return gi_footprint_read(made, window->mask, "mask", most, err);
    } else if (window->shape != GI_FOOTPRINT_RECT) {
        round_one(made, window->k, window->shape == GI_FOOTPRINT_DISK);
    } else {
        status = gi_footprint_sides(&made->width, &made->height, window, src, most, err);
        made->pixels = made->width * made->height;
        centre(made);
    }
    if (status || made->pixels == made->width * made->height) {
        gi_footprint_free(made);
        made->nruns = 0;
    }
    return status;
}

enum gi_status gi_footprint_place(struct gi_footprint *w, const struct gi_reals *origin,
                                  const char *name, struct gi_err *err)
{
    double x = origin->v[0], y = origin->v[1];
    int left = -(w->width / 2), top = -(w->height / 2);
    if (!origin->n)
        return GI_OK;
    if (x != floor(x) || y != floor(y) || x < left || x > left + w->width - 1 || y < top ||
        y > top + w->height - 1)
        return gi_fail(err, GI_E_USAGE, "--%s %g,%g: want X,Y, whole numbers, %d,%d to %d,%d", name,
                       x, y, left, top, left + w->width - 1, top + w->height - 1);
    w->anchor_x += (int)x;
    w->anchor_y += (int)y;
    for (int i = 0; i < w->nruns; i++) {
        struct gi_footprint_run *run = &w->runs[i];
        *run = (struct gi_footprint_run){(int16_t)(run->y - (int)y), (int16_t)(run->first - (int)x),
                                         (int16_t)(run->last - (int)x)};
    }
    return GI_OK;
}

void gi_footprint_free(struct gi_footprint *made)
{
    free(made->runs);
    made->runs = NULL;
}

static enum gi_status check_shape(const struct gi_footprint_params *p, bool sized,
                                  struct gi_err *err)
{
    const char *shape = gi_footprint_shapes[p->shape].name;
    struct gi_footprint made;
    if (p->shape != GI_FOOTPRINT_RECT && sized)
        return gi_fail(err, GI_E_USAGE, "--shape %s and --size: want --k", shape);
    if (!p->mask)
        return GI_OK;
    if (p->k || sized || p->shape != GI_FOOTPRINT_RECT)
        return gi_fail(err, GI_E_USAGE, "--mask and --%s: want one of them",
                       p->k    ? "k"
                       : sized ? "size"
                               : "shape");
    enum gi_status status = gi_footprint_make(&made, p, NULL, GI_TAPS_MAX, err);
    if (!status)
        gi_footprint_free(&made);
    return status;
}

enum gi_status gi_footprint_size_check(const struct gi_footprint_params *p, struct gi_err *err)
{
    bool sized = gi_extent_is_set(&p->size);
    if (sized && p->k)
        return gi_fail(err, GI_E_USAGE, "--k %d and --size: want one of them", p->k);
    if (sized && (gi_length_is_open(&p->size.width) || gi_length_is_open(&p->size.height)))
        return gi_fail(err, GI_E_USAGE, "--size: want both sides, WIDTHxHEIGHT");
    return GI_OK;
}

enum gi_status gi_footprint_check(void *params, struct gi_err *err)
{
    struct gi_footprint_params *p = params;
    bool sized = gi_extent_is_set(&p->size);
    enum gi_status status = gi_footprint_size_check(p, err);
    status = status ? status : check_shape(p, sized, err);
    if (!status && !sized && !p->k && !p->mask)
        p->k = 3;
    return status;
}
