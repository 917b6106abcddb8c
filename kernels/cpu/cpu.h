/* The CPU backend, compiled once per instruction level (Makefile, LEVELS). Every name that crosses
 * files carries its level, so that the tables of all levels are in one program.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_CPU_H
#define GI_KERNELS_CPU_CPU_H

#include <assert.h>

#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "kernels/ways.h"

#define GI_CPU_JOIN2(name, level) gi_cpu_##name##_##level
#define GI_CPU_JOIN(name, level)  GI_CPU_JOIN2(name, level)
#define GI_CPU(name)              GI_CPU_JOIN(name, GI_LEVEL)

/* Executes a statement with T, the C type of samples of `type`, and with the constant TYPE, so that
 * inline functions are specialised per type. Primitives have refused other types before
 * (kernels/ways.h). */
#define GI_CPU_TYPES(type, ...)                                                                    \
    switch (type) {                                                                                \
        GI_CPU_TYPE(GI_U8, uint8_t, __VA_ARGS__)                                                   \
        GI_CPU_TYPE(GI_U16, uint16_t, __VA_ARGS__)                                                 \
        GI_CPU_TYPE(GI_F32, float, __VA_ARGS__)                                                    \
    default:                                                                                       \
        assert(!"samples");                                                                        \
    }
#define GI_CPU_TYPE(constant, c_type, ...)                                                         \
    case constant: {                                                                               \
        typedef c_type T;                                                                          \
        const enum gi_type TYPE = constant;                                                        \
        (void)TYPE, (void)sizeof(T);                                                               \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

struct gi_cpu_device {
    struct gi_device base;
    struct gi_pool *pool;
    struct gi_kept *kept; /* NULL: no memory is cached */
};

struct gi_cpu_queue {
    struct gi_queue base;
    struct gi_pool *pool; /* the device's */
};

static inline struct gi_pool *gi_cpu_pool(const struct gi_queue *queue)
{
    return ((const struct gi_cpu_queue *)queue)->pool;
}

enum gi_status GI_CPU(roofline)(struct gi_queue *queue, struct gi_roofline *roofline,
                                struct gi_err *err);
gi_convolve_separable_fn GI_CPU(convolve_separable);
gi_convolve_2d_fn GI_CPU(convolve_2d);
gi_box_fn GI_CPU(box);
gi_gradient_magnitude_fn GI_CPU(gradient_magnitude);
gi_min_max_fn GI_CPU(min_max);
gi_rolling_ball_fn GI_CPU(rolling_ball);
gi_ignore_transparent_fn GI_CPU(ignore_transparent);
gi_median_fn GI_CPU(median);
gi_mode_fn GI_CPU(mode);
gi_bilateral_fn GI_CPU(bilateral);
gi_nlmeans_fn GI_CPU(nlmeans);
gi_pointwise_fn GI_CPU(pointwise);
gi_threshold_fn GI_CPU(threshold);
gi_clahe_fn GI_CPU(clahe);
gi_local_threshold_fn GI_CPU(local_threshold);
gi_local_spread_fn GI_CPU(local_spread);
gi_bernsen_fn GI_CPU(bernsen);
gi_luma_fn GI_CPU(luma);
gi_colour_transform_fn GI_CPU(colour_transform);
gi_count_colours_fn GI_CPU(count_colours);
gi_recolour_fn GI_CPU(recolour);
gi_permute_channels_fn GI_CPU(permute_channels);
gi_copy_border_fn GI_CPU(copy_border);
gi_layout_fn GI_CPU(layout);
gi_bounds_fn GI_CPU(bounds);
gi_resample_fn GI_CPU(resample);
gi_remap_fn GI_CPU(remap);
gi_arithmetic_fn GI_CPU(arithmetic);
gi_histogram_fn GI_CPU(histogram);
gi_sums_fn GI_CPU(sums);
gi_reduce_fn GI_CPU(reduce);
gi_scan_fn GI_CPU(scan);
gi_stack_fn GI_CPU(stack);
gi_compact_fn GI_CPU(compact);
gi_label_fn GI_CPU(label);
gi_region_stats_fn GI_CPU(region_stats);
gi_paint_fn GI_CPU(paint);
gi_flood_fn GI_CPU(flood);
gi_scatter_fn GI_CPU(scatter);

extern const struct gi_ways GI_CPU(convolve_separable_ways);
extern const struct gi_ways GI_CPU(convolve_2d_ways);
extern const struct gi_ways GI_CPU(box_ways);
extern const struct gi_ways GI_CPU(gradient_magnitude_ways);
extern const struct gi_ways GI_CPU(min_max_ways);
extern const struct gi_ways GI_CPU(rolling_ball_ways);
extern const struct gi_ways GI_CPU(ignore_transparent_ways);
extern const struct gi_ways GI_CPU(median_ways);
extern const struct gi_ways GI_CPU(mode_ways);
extern const struct gi_ways GI_CPU(bilateral_ways);
extern const struct gi_ways GI_CPU(nlmeans_ways);
extern const struct gi_ways GI_CPU(pointwise_ways);
extern const struct gi_ways GI_CPU(threshold_ways);
extern const struct gi_ways GI_CPU(clahe_ways);
extern const struct gi_ways GI_CPU(local_threshold_ways);
extern const struct gi_ways GI_CPU(local_spread_ways);
extern const struct gi_ways GI_CPU(bernsen_ways);
extern const struct gi_ways GI_CPU(luma_ways);
extern const struct gi_ways GI_CPU(colour_transform_ways);
extern const struct gi_ways GI_CPU(count_colours_ways);
extern const struct gi_ways GI_CPU(recolour_ways);
extern const struct gi_ways GI_CPU(permute_channels_ways);
extern const struct gi_ways GI_CPU(copy_border_ways);
extern const struct gi_ways GI_CPU(layout_ways);
extern const struct gi_ways GI_CPU(bounds_ways);
extern const struct gi_ways GI_CPU(resample_ways);
extern const struct gi_ways GI_CPU(remap_ways);
extern const struct gi_ways GI_CPU(arithmetic_ways);
extern const struct gi_ways GI_CPU(histogram_ways);
extern const struct gi_ways GI_CPU(sums_ways);
extern const struct gi_ways GI_CPU(reduce_ways);
extern const struct gi_ways GI_CPU(scan_ways);
extern const struct gi_ways GI_CPU(stack_ways);
extern const struct gi_ways GI_CPU(compact_ways);
extern const struct gi_ways GI_CPU(label_ways);
extern const struct gi_ways GI_CPU(region_stats_ways);
extern const struct gi_ways GI_CPU(paint_ways);
extern const struct gi_ways GI_CPU(flood_ways);
extern const struct gi_ways GI_CPU(scatter_ways);

#endif
