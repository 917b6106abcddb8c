/* The list of primitives, with one line for each primitive. Everything that a backend needs besides
 * the contract (kernels/FAMILY.h) and the implementations (kernels/cpu/FAMILY/,
 * kernels/cuda/FAMILY/) is generated from this line: the types of the function and of the table of
 * ways, the slot in struct gi_kernels, the declarations, the check of the arguments, the entry in
 * `gpuimg list --ways`.
 *
 * All primitives have one signature. P(box, INTEGER, SAME, struct gi_image, struct gi_box) is
 *
 *   enum gi_status box(struct gi_queue *queue, struct gi_image *result, const struct gi_image *src,
 *                      const struct gi_box *spec, struct gi_err *err);
 *
 * and says that it refuses a `src` of other samples than GI_U8 and GI_U16, and a `result` of
 * another shape than `src`. The columns:
 *
 *   name     the slot of struct gi_kernels: queue->k->box()
 *   samples  what `src` may hold: BYTE (GI_U8), INTEGER (GI_U8, GI_U16), FLOAT (GI_F32), SAMPLE
 *            (GI_U8, GI_U16 and GI_F32)
 *   shape    which members of `src` the image `result` shares: SAME (size, channels and type),
 *            SIZE (size and type), KIND (channels and type), OWN (as its contract says; the result
 *            may be no image)
 *   result   what is computed: an image, or data in host memory
 *   spec     the parameters; void: none, the caller passes NULL
 *
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PRIMITIVES_H
#define GI_KERNELS_PRIMITIVES_H

#include "imgio/image.h"

/* clang-format off */

/* On both sides. */
#define GI_PRIMITIVES_BOTH(P)                                                                       \
    /* kernels/convolution.h */                                                                     \
    P(convolve_separable, SAMPLE,  SAME, struct gi_image,       struct gi_separable)                \
    P(convolve_2d,        SAMPLE,  SAME, struct gi_image,       struct gi_dense)                    \
    P(box,                INTEGER, SAME, struct gi_image,       struct gi_box)                      \
    P(gradient_magnitude, SAMPLE,  SAME, struct gi_image,       struct gi_gradient_magnitude)       \
    P(canny,              SAMPLE,  SIZE, struct gi_image,       struct gi_canny)                    \
    /* kernels/morphology.h */                                                                      \
    P(min_max,            SAMPLE,  SAME, struct gi_image,       struct gi_min_max)                  \
    P(nonflat,            SAMPLE,  SAME, struct gi_image,       struct gi_nonflat)                  \
    P(ignore_transparent, SAMPLE,  SAME, struct gi_image,       struct gi_ignore_transparent)       \
    P(reconstruct,        SAMPLE,  SAME, struct gi_image,       struct gi_reconstruct)              \
    P(thin,               SAMPLE,  SAME, struct gi_image,       struct gi_thin)                     \
    /* kernels/rank.h */                                                                            \
    P(median,             SAMPLE,  SAME, struct gi_image,       struct gi_median)                   \
    P(mode,               INTEGER, SAME, struct gi_image,       struct gi_median)                   \
    /* kernels/denoise.h */                                                                         \
    P(bilateral,          SAMPLE,  SAME, struct gi_image,       struct gi_bilateral)                \
    P(nlmeans,            SAMPLE,  SAME, struct gi_image,       struct gi_nlmeans)                  \
    /* kernels/tone.h */                                                                            \
    P(pointwise,          SAMPLE,  SAME, struct gi_image,       struct gi_pointwise)                \
    P(threshold,          SAMPLE,  SAME, struct gi_image,       struct gi_threshold)                \
    P(clahe,              SAMPLE,  SAME, struct gi_image,       struct gi_clahe)                    \
    P(local_threshold,    SAMPLE,  SAME, struct gi_image,       struct gi_local)                    \
    P(local_spread,       SAMPLE,  OWN,  double,                struct gi_local)                    \
    P(bernsen,            SAMPLE,  SAME, struct gi_image,       struct gi_bernsen)                  \
    /* kernels/color.h */                                                                           \
    P(luma,               SAMPLE,  SIZE, struct gi_image,       void)                               \
    P(convert,            SAMPLE,  OWN,  struct gi_image,       void)                               \
    P(color_transform,   SAMPLE,  SAME, struct gi_image,       struct gi_color_transform)         \
    P(count_colors,      INTEGER, OWN,  struct gi_colors,     void)                               \
    P(recolor,           BYTE,    SAME, struct gi_image,       struct gi_recolor)                 \
    P(dither,            BYTE,    SAME, struct gi_image,       struct gi_dither)                  \
    P(color_lut,          SAMPLE,  SAME, struct gi_image,       struct gi_color_lut)                \
    P(permute_channels,   SAMPLE,  SIZE, struct gi_image,       struct gi_permute_channels)         \
    /* kernels/geometry.h */                                                                        \
    P(copy_border,        SAMPLE,  KIND, struct gi_image,       struct gi_copy_border)              \
    P(layout,             SAMPLE,  KIND, struct gi_image,       int)                                \
    P(bounds,             SAMPLE,  OWN,  struct gi_bounds,      struct gi_bounds_spec)              \
    P(resample,           SAMPLE,  KIND, struct gi_image,       struct gi_resample)                 \
    P(remap,              SAMPLE,  KIND, struct gi_image,       struct gi_remap)                    \
    /* kernels/arithmetic.h */                                                                      \
    P(arithmetic,         SAMPLE,  SIZE, struct gi_image,       struct gi_arithmetic)               \
    P(calc,               SAMPLE,  SIZE, struct gi_image,       struct gi_calc)                     \
    /* kernels/statistics.h */                                                                      \
    P(histogram,          SAMPLE,  OWN,  uint64_t,              struct gi_histogram_spec)           \
    P(sums,               FLOAT,   OWN,  struct gi_sums,        struct gi_sums_range)               \
    P(reduce,             SAMPLE,  OWN,  struct gi_reduction,   struct gi_reduce)                   \
    P(scan,               SAMPLE,  OWN,  struct gi_image,       struct gi_scan)                     \
    P(stack,              SAMPLE,  OWN,  struct gi_image,       struct gi_stack)                    \
    /* in headers of their own: correlate.h, xyb.h */                                               \
    P(correlate,          SAMPLE,  OWN,  struct gi_image,       struct gi_correlate)                \
    P(xyb_scales,         SAMPLE,  OWN,  struct gi_image,       struct gi_xyb)                      \
    P(xyb_norms,          FLOAT,   OWN,  struct gi_xyb_norms,   struct gi_xyb_compare)              \
    /* kernels/regions.h */                                                                         \
    P(compact,            SAMPLE,  OWN,  struct gi_pixel_list,  struct gi_predicate)                \
    P(label,              SAMPLE,  OWN,  struct gi_labels,      struct gi_label)                    \
    P(region_stats,       SAMPLE,  OWN,  struct gi_region_sums, struct gi_region_stats)             \
    P(paint,              SAMPLE,  SAME, struct gi_image,       struct gi_paint)                    \
    P(distance,           SAMPLE,  OWN,  struct gi_image,       struct gi_distance)                 \
    P(scatter,            SAMPLE,  SAME, struct gi_image,       struct gi_scatter)                  \
    /* kernels/codec.h */                                                                           \
    P(jpeg_encode,        BYTE,    OWN,  struct gi_jpeg_scan,   struct gi_jpeg_encode)              \
    P(jpeg_decode,        BYTE,    OWN,  struct gi_image,       struct gi_jpeg_decode)              \
    P(png_decode,         BYTE,    OWN,  struct gi_image,       struct gi_png_decode)

/* Primitives of one backend only. The table of the other backend has NULL instead. */
#define GI_PRIMITIVES_CPU(P)                                                                        \
    /* kernels/regions.h; CUDA has `label` and `paint` instead */                                   \
    P(flood,              SAMPLE,  SAME, struct gi_image,       struct gi_flood)
#define GI_PRIMITIVES_CUDA(P)                                                                       \
    /* kernels/morphology.h; the CPU has `reconstruct` instead */                                   \
    P(hysteresis,         SAMPLE,  SAME, struct gi_image,       struct gi_hysteresis)               \
    /* kernels/codec.h; on the CPU imgio does this */                                               \
    P(png_encode,         INTEGER, OWN,  struct gi_png_strips,  struct gi_png_encode)

#define GI_PRIMITIVES(P) GI_PRIMITIVES_CPU(P) GI_PRIMITIVES_CUDA(P) GI_PRIMITIVES_BOTH(P)

/* clang-format on */

struct gi_queue;

/* Declares the types of a primitive: for box, gi_box_fn is the type of the function, and
 * gi_box_result and gi_box_spec are the types of its arguments. */
#define GI_PRIMITIVE_TYPES(name, samples, shape, result_type, spec_type)                           \
    typedef result_type gi_##name##_result;                                                        \
    typedef spec_type gi_##name##_spec;                                                            \
    typedef enum gi_status gi_##name##_fn(struct gi_queue *queue, gi_##name##_result *result,      \
                                          const struct gi_image *src,                              \
                                          const gi_##name##_spec *spec, struct gi_err *err);
GI_PRIMITIVES(GI_PRIMITIVE_TYPES)

#endif
