/* The CPU backend, compiled once per instruction level (Makefile, LEVELS). Names that other files
 * use include their level, so that the tables of all levels are in one program.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <assert.h>

#include "kernels/device.h"
#include "kernels/parallel.h"
#include "kernels/ways.h"

#define GI_CPU_JOIN2(name, level) gi_cpu_##name##_##level
#define GI_CPU_JOIN(name, level)  GI_CPU_JOIN2(name, level)
#define GI_CPU(name)              GI_CPU_JOIN(name, GI_LEVEL)

/* Begins a function whose parameters are constants after inlining: there is a copy per set of them.
 * Under AddressSanitizer, whose checks make each copy several times as large, there is one copy,
 * which reads and writes the same memory and compiles in a fraction of the time. */
#ifdef __SANITIZE_ADDRESS__
#define GI_PER_KIND static __attribute__((noinline))
#else
#define GI_PER_KIND static inline __attribute__((always_inline))
#endif

/* Executes a statement with T, the C type of samples of `type`, and the constant TYPE, so that
 * inline functions are specialised per type. Other types have already been refused
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

/* For each primitive, declares its function, which kernels/cpu/table.c defines, and its table of
 * ways, which is at the end of the primitive's file. */
#define GI_CPU_DECLARE(name, samples, shape, result, spec)                                         \
    gi_##name##_fn GI_CPU(name);                                                                   \
    extern const struct gi_##name##_way GI_CPU(name##_ways)[GI_WAYS_MAX];
GI_PRIMITIVES_BOTH(GI_CPU_DECLARE)
GI_PRIMITIVES_CPU(GI_CPU_DECLARE)

/* The table of a primitive that has one way. */
#define GI_CPU_ONE_WAY(name, way, run)                                                             \
    const struct gi_##name##_way GI_CPU(name##_ways)[GI_WAYS_MAX] = {                              \
        {{way, "everything"}, NULL, run}}

/* The work of a primitive that makes its rows one by one. */
struct gi_cpu_rows {
    struct gi_image *dst;
    const struct gi_image *src;
    const void *spec;
};

/* Defines the only way of such a primitive. make_row(work, y, scratch) makes row y. */
#define GI_CPU_BY_ROWS(name, spec_type, make_row)                                                  \
    static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,                    \
                                  const struct gi_image *src, const spec_type *spec,               \
                                  struct gi_err *err)                                              \
    {                                                                                              \
        struct gi_cpu_rows work = {dst, src, spec};                                                \
        return gi_pool_run(gi_cpu_pool(queue), dst->height, make_row, &work, 0, err);              \
    }                                                                                              \
    GI_CPU_ONE_WAY(name, "rows", by_rows)
