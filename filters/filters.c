/* The list of operations, and parts that several of their rows share.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

extern const struct gi_filter gi_filter_blur, gi_filter_gaussian, gi_filter_sharpen,
    gi_filter_convolve, gi_filter_edges, gi_filter_threshold, gi_filter_invert, gi_filter_resize,
    gi_filter_crop, gi_filter_pad, gi_filter_flip, gi_filter_transpose, gi_filter_orient,
    gi_filter_channels, gi_filter_stats, gi_filter_histogram, gi_filter_extract, gi_filter_contours,
    gi_filter_peaks, gi_filter_corners, gi_filter_blobs, gi_filter_lines, gi_filter_circles,
    gi_filter_convex_hull, gi_filter_compare;
extern const struct gi_filter gi_filter_rotate, gi_filter_affine, gi_filter_shift,
    gi_filter_perspective, gi_filter_warp_polar, gi_filter_undistort, gi_filter_remap;
extern const struct gi_filter gi_filter_erode, gi_filter_dilate, gi_filter_open, gi_filter_close,
    gi_filter_gradient, gi_filter_tophat, gi_filter_blackhat, gi_filter_background;
extern const struct gi_filter gi_filter_fill_holes, gi_filter_clear_border, gi_filter_remove_small,
    gi_filter_distance, gi_filter_expand_labels, gi_filter_watershed, gi_filter_split_touching;
extern const struct gi_filter gi_filter_add, gi_filter_subtract, gi_filter_multiply,
    gi_filter_divide, gi_filter_absdiff, gi_filter_blend, gi_filter_flat_field, gi_filter_composite,
    gi_filter_mask, gi_filter_paste, gi_filter_calc;
extern const struct gi_filter gi_filter_median, gi_filter_rank, gi_filter_mode, gi_filter_midpoint,
    gi_filter_bilateral, gi_filter_nlmeans;
extern const struct gi_filter gi_filter_local_threshold, gi_filter_integral, gi_filter_cumulative,
    gi_filter_stack;
extern const struct gi_filter gi_filter_levels, gi_filter_gamma, gi_filter_normalize,
    gi_filter_equalize, gi_filter_match, gi_filter_clahe, gi_filter_tonemap;
extern const struct gi_filter gi_filter_color, gi_filter_convert, gi_filter_quantize,
    gi_filter_palette, gi_filter_hash, gi_filter_find_places, gi_filter_align, gi_filter_colormap,
    gi_filter_lut;
extern const struct gi_filter gi_filter_canny, gi_filter_reconstruct, gi_filter_h_maxima,
    gi_filter_h_minima, gi_filter_thin, gi_filter_hit_or_miss, gi_filter_flood_fill;
extern const struct gi_filter gi_filter_deskew, gi_filter_skew, gi_filter_draw;

const struct gi_filter *const gi_filters[] = {
    &gi_filter_blur,
    &gi_filter_gaussian,
    &gi_filter_sharpen,
    &gi_filter_convolve,
    &gi_filter_edges,
    &gi_filter_canny,
    &gi_filter_erode,
    &gi_filter_dilate,
    &gi_filter_open,
    &gi_filter_close,
    &gi_filter_gradient,
    &gi_filter_tophat,
    &gi_filter_blackhat,
    &gi_filter_background,
    &gi_filter_reconstruct,
    &gi_filter_h_maxima,
    &gi_filter_h_minima,
    &gi_filter_thin,
    &gi_filter_hit_or_miss,
    &gi_filter_fill_holes,
    &gi_filter_clear_border,
    &gi_filter_remove_small,
    &gi_filter_convex_hull,
    &gi_filter_flood_fill,
    &gi_filter_distance,
    &gi_filter_expand_labels,
    &gi_filter_watershed,
    &gi_filter_split_touching,
    &gi_filter_median,
    &gi_filter_rank,
    &gi_filter_mode,
    &gi_filter_midpoint,
    &gi_filter_bilateral,
    &gi_filter_nlmeans,
    &gi_filter_threshold,
    &gi_filter_local_threshold,
    &gi_filter_invert,
    &gi_filter_levels,
    &gi_filter_gamma,
    &gi_filter_normalize,
    &gi_filter_equalize,
    &gi_filter_clahe,
    &gi_filter_tonemap,
    &gi_filter_match,
    &gi_filter_color,
    &gi_filter_colormap,
    &gi_filter_lut,
    &gi_filter_convert,
    &gi_filter_quantize,
    &gi_filter_resize,
    &gi_filter_crop,
    &gi_filter_pad,
    &gi_filter_flip,
    &gi_filter_transpose,
    &gi_filter_orient,
    &gi_filter_channels,
    &gi_filter_rotate,
    &gi_filter_deskew,
    &gi_filter_affine,
    &gi_filter_shift,
    &gi_filter_perspective,
    &gi_filter_warp_polar,
    &gi_filter_undistort,
    &gi_filter_remap,
    &gi_filter_calc,
    &gi_filter_add,
    &gi_filter_subtract,
    &gi_filter_multiply,
    &gi_filter_divide,
    &gi_filter_absdiff,
    &gi_filter_blend,
    &gi_filter_flat_field,
    &gi_filter_composite,
    &gi_filter_mask,
    &gi_filter_paste,
    &gi_filter_draw,
    &gi_filter_stack,
    &gi_filter_stats,
    &gi_filter_histogram,
    &gi_filter_integral,
    &gi_filter_cumulative,
    &gi_filter_palette,
    &gi_filter_hash,
    &gi_filter_find_places,
    &gi_filter_align,
    &gi_filter_skew,
    &gi_filter_extract,
    &gi_filter_contours,
    &gi_filter_peaks,
    &gi_filter_corners,
    &gi_filter_blobs,
    &gi_filter_lines,
    &gi_filter_circles,
    &gi_filter_compare,
    NULL,
};

const struct gi_filter *gi_filter_find(const char *name)
{
    for (int i = 0; gi_filters[i]; i++)
        if (strcmp(gi_filters[i]->name, name) == 0)
            return gi_filters[i];
    return NULL;
}

void *gi_filter_params(const struct gi_filter *filter)
{
    void *params = gi_small_calloc(1, filter->params_nbytes);
    gi_options_default(params, filter->options);
    return params;
}

const char *gi_option_path(const struct gi_option *row, const void *params)
{
    const char *path;
    memcpy(&path, (const char *)params + row->offset, sizeof path);
    return row->named && path ? gi_named_path(path) : path;
}

const char *gi_named_path(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n > 0 && text[n] == '=' ? text + n + 1 : text;
}

const struct gi_option *gi_filter_image(const struct gi_filter *filter, const void *params, int i)
{
    for (const struct gi_option *row = filter->options; row->name; row++)
        if (row->type == GI_OPT_IMAGE && gi_option_path(row, params) && i-- == 0)
            return row;
    return NULL;
}

int gi_filter_others(const struct gi_filter *filter, const void *params)
{
    int n = 0;
    while (gi_filter_image(filter, params, n))
        n++;
    return n ? n : filter->sources.min > 1 ? filter->sources.min - 1 : 0;
}

/* In the order of enum gi_border, followed by names that other programs use. */
const struct gi_choice gi_border_choices[] = {
    {"clamp", NULL, "the nearest pixel of the image: aaa|abc|ccc"},
    {"border", NULL, "the value of --border-value"},
    {"wrap", NULL, "the image repeated as tiles: abc|abc|abc"},
    {"mirror", NULL, "the image mirrored, outermost pixel twice: cba|abc|cba"},
    {"reflect101", NULL, "the image mirrored, outermost pixel once: dcb|abcd|cba"},
    {"edge", "clamp", NULL},
    {"replicate", "clamp", NULL},
    {"nearest", "clamp", NULL},
    {"copy", "clamp", NULL},
    {"constant", "border", NULL},
    {"zero", "border", NULL},
    {"black", "border", NULL},
    {"tile", "wrap", NULL},
    {"repeat", "wrap", NULL},
    {"periodic", "wrap", NULL},
    {"reflect", "mirror", NULL},
    {"symmetric", "mirror", NULL},
    {"reflect_101", "reflect101", NULL},
    {"default", "reflect101", NULL},
    {NULL, NULL, NULL},
};

struct gi_border_spec gi_border_spec_from(const struct gi_border_params *params,
                                          const struct gi_image *src)
{
    struct gi_border_spec border = {.mode = (enum gi_border)params->mode};
    gi_color_pixel(border.value, &params->value, src);
    return border;
}

bool gi_results_equal(const struct gi_filter *analysis, const void *a, const void *b)
{
    const void *results[] = {a, b};
    char texts[2][GI_DIGEST_TEXT];
    for (int i = 0; i < 2; i++) {
        struct gi_digest digest;
        gi_digest_begin(&digest, true);
        analysis->analysis.digest(results[i], &digest);
        gi_digest_end(&digest, texts[i]);
    }
    return strcmp(texts[0], texts[1]) == 0;
}
