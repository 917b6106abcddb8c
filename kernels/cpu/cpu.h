/* The CPU backend, compiled once for each instruction level (Makefile, LEVELS): every name that
 * crosses files here carries its level, so one table stands beside another in the program.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_CPU_H
#define GI_KERNELS_CPU_CPU_H

#include "kernels/kernels.h"
#include "kernels/parallel.h"

#define GI_CPU_JOIN2(name, level) gi_cpu_##name##_##level
#define GI_CPU_JOIN(name, level)  GI_CPU_JOIN2(name, level)
#define GI_CPU(name)              GI_CPU_JOIN(name, GI_LEVEL)

struct gi_cpu_context {
    struct gi_context base;
    struct gi_pool *pool;
    double marks_ms[8];
};

static inline struct gi_pool *gi_cpu_pool(struct gi_context *cx)
{
    return ((struct gi_cpu_context *)cx)->pool;
}

enum gi_status GI_CPU(roofline)(struct gi_context *cx, struct gi_roofline *roofline,
                                struct gi_err *err);
enum gi_status GI_CPU(convolve_separable)(struct gi_context *cx, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_separable *spec, struct gi_err *err);
enum gi_status GI_CPU(convolve_2d)(struct gi_context *cx, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_dense *spec,
                                   struct gi_err *err);
enum gi_status GI_CPU(box)(struct gi_context *cx, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_box *spec, struct gi_err *err);
enum gi_status GI_CPU(gradient)(struct gi_context *cx, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_gradient *spec,
                                struct gi_err *err);
enum gi_status GI_CPU(threshold)(struct gi_context *cx, struct gi_image *dst,
                                 const struct gi_image *src, float above, bool invert,
                                 struct gi_err *err);
enum gi_status GI_CPU(luma)(struct gi_context *cx, struct gi_image *dst, const struct gi_image *src,
                            struct gi_err *err);
enum gi_status GI_CPU(histogram)(struct gi_context *cx, uint64_t *counts,
                                 const struct gi_image *src, const struct gi_histogram_spec *spec,
                                 struct gi_err *err);
enum gi_status GI_CPU(moments)(struct gi_context *cx, struct gi_sums *sums,
                               const struct gi_image *src, const float *lo, const float *hi,
                               struct gi_err *err);
enum gi_status GI_CPU(select)(struct gi_context *cx, struct gi_points *points,
                              const struct gi_image *values, const struct gi_predicate *predicate,
                              struct gi_err *err);
enum gi_status GI_CPU(label)(struct gi_context *cx, struct gi_image *labels, uint32_t *n,
                             const struct gi_predicate *predicate, int connectivity,
                             struct gi_err *err);
enum gi_status GI_CPU(region_stats)(struct gi_context *cx, struct gi_region_sums *regions,
                                    uint32_t n, const struct gi_image *labels,
                                    const struct gi_image *values, float lo, float hi,
                                    struct gi_err *err);

#endif
