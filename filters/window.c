/* A rectangle of pixels around each one.
 * SPDX-License-Identifier: MIT */
#include "filters/window.h"

enum gi_status gi_window_check(void *params, struct gi_err *err)
{
    struct gi_window_params *p = params;
    bool sized = gi_extent_is_set(&p->size);
    if (sized && p->k)
        return gi_fail(err, GI_E_USAGE, "--k %d and --size: want one of them", p->k);
    if (sized && (gi_length_is_open(&p->size.width) || gi_length_is_open(&p->size.height)))
        return gi_fail(err, GI_E_USAGE, "--size: want both sides, WIDTHxHEIGHT");
    if (!sized && !p->k)
        p->k = 3;
    return GI_OK;
}

enum gi_status gi_window_sides(int *width, int *height, const struct gi_window_params *window,
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
