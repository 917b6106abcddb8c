/* Loops over every way of every primitive, on every level of the CPU and on CUDA if there is a
 * device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_WAYS_WALK_H
#define GI_TESTS_WAYS_WALK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "kernels/ways.h"

enum { WALK_WAYS = 16, WALK_TABLES = 64, WALK_CPU_LEVELS = 4 };

/* One queue per level of the CPU, and CUDA's last; NULL: not available on this machine. */
static struct gi_queue *walk_queues[WALK_CPU_LEVELS + 1];
static const char *const walk_names[] = {"scalar", "avx2", "avx512", "neon", "cuda"};
enum { WALK_QUEUES = WALK_CPU_LEVELS + 1 };

/* How often each way has run, on the CPU ([0]) and on CUDA ([1]). */
static struct {
    const char *primitive;
    unsigned ran[WALK_WAYS];
} walk_counts[2][WALK_TABLES];

static int walk_open(void **state)
{
    (void)state;
    struct gi_open_options options = {.threads = 3};
    struct gi_err err = {0};
    for (int i = 0; i < WALK_CPU_LEVELS; i++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(walk_names[i]);
        if (!k)
            print_message("not tested: this machine has no %s\n", walk_names[i]);
        else if (gi_queue_open_alone(&walk_queues[i], k, &options, &err))
            return -1;
    }
    const struct gi_kernels *cuda = gi_kernels_cuda();
    if (!cuda || cuda->probe(NULL, 0, &err) < 1)
        print_message("not tested: %s\n", cuda ? "no CUDA device" : "built without CUDA");
    else if (gi_queue_open_alone(&walk_queues[WALK_CPU_LEVELS], cuda, &options, &err))
        return -1;
    return 0;
}

static int walk_close(void **state)
{
    (void)state;
    for (int i = 0; i < WALK_QUEUES; i++)
        gi_queue_close_alone(&walk_queues[i]);
    return 0;
}

static const struct gi_ways *walk_ways(const struct gi_kernels *k, const char *primitive)
{
    const struct gi_ways *const *ways = k->ways;
    while (*ways && strcmp((*ways)->primitive, primitive))
        ways++;
    return *ways;
}

/* Forces way i of the primitive, or none if i is -1, and returns whether it exists: the condition
 * of loops over the ways. */
static bool walk_force(struct gi_queue *queue, const char *primitive, int i)
{
    const struct gi_ways *ways = walk_ways(queue->k, primitive);
    char text[64] = "";
    if (!ways || (i >= 0 && !gi_way_at(ways, i)))
        return i < 0;
    if (i >= 0)
        snprintf(text, sizeof text, "%s:%s", primitive, gi_way_at(ways, i)->name);
    assert_int_equal(gi_queue_force_ways(queue, text, NULL), GI_OK);
    return true;
}

/* Returns whether the primitive, which returned `status`, has a result to compare. A forced way may
 * refuse the work with a message; without one the work must be done. */
static bool walk_ran(const struct gi_queue *queue, const char *primitive, int i,
                     enum gi_status status, const struct gi_err *err)
{
    if (i >= 0 && status == GI_E_UNSUPPORTED) {
        assert_non_null(strstr(err->text, "does not take this work"));
        return false;
    }
    if (status)
        fail_msg("%s: %s", primitive, err->text);
    int t = 0, cuda = queue->k->kind == GI_DEVICE_CUDA;
    while (queue->k->ways[t] && strcmp(queue->k->ways[t]->primitive, primitive))
        t++;
    walk_counts[cuda][t].primitive = primitive;
    if (i >= 0)
        walk_counts[cuda][t].ran[i]++;
    return true;
}

/* Tests that the primitive has refused an image of labels with one message. Clears `err`. */
static void walk_refused(const char *primitive, enum gi_status status, struct gi_err *err)
{
    char want[64];
    snprintf(want, sizeof want, "%s: u32 samples: want ", primitive);
    assert_int_equal(status, GI_E_UNSUPPORTED);
    if (strncmp(err->text, want, strlen(want)) != 0)
        fail_msg("\"%s\" says not \"%s\"", err->text, want);
    *err = (struct gi_err){0};
}

/* Tests that on every queue the primitive refuses images of labels, which `call` passes to it. */
static inline void walk_refuses(const char *primitive,
                                enum gi_status (*call)(struct gi_queue *queue, struct gi_image *dst,
                                                       const struct gi_image *labels,
                                                       struct gi_err *err))
{
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image labels, dst;
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->alloc(queue, &labels, 3, 2, 3, GI_U32, &err), GI_OK);
        assert_int_equal(queue->k->alloc(queue, &dst, 3, 2, 3, GI_U32, &err), GI_OK);
        walk_refused(primitive, call(queue, &dst, &labels, &err), &err);
        queue->k->release(queue, &labels);
        queue->k->release(queue, &dst);
    }
}

static const char *walk_what(const struct gi_queue *queue, const char *primitive, int i)
{
    static char text[100];
    int q = 0;
    while (walk_queues[q] != queue)
        q++;
    snprintf(text, sizeof text, "%s:%s at %s", primitive,
             i < 0 ? "(any)" : gi_way_at(walk_ways(queue->k, primitive), i)->name, walk_names[q]);
    return text;
}

/* Returns whether this machine has all instructions that some way of the CPU needs. */
static bool walk_whole_machine(void)
{
#ifdef __x86_64__
    return gi_kernels_cpu_level("avx512") && __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

/* Fails if a way of the primitives that were checked never ran. */
static void walk_check_all(void **state)
{
    (void)state;
    unsigned never = 0;
    for (int cuda = 0; cuda < 2; cuda++)
        for (int t = 0; t < WALK_TABLES; t++) {
            const struct gi_kernels *k = cuda ? gi_kernels_cuda() : gi_kernels_cpu();
            if (!walk_counts[cuda][t].primitive || !k->ways[t])
                continue;
            const struct gi_ways *ways = k->ways[t];
            for (int i = 0; gi_way_at(ways, i); i++) {
                unsigned ran = walk_counts[cuda][t].ran[i];
                print_message("%s/%s:%s ran %u times\n", k->name, ways->primitive,
                              gi_way_at(ways, i)->name, ran);
                never += ran == 0 && (cuda || walk_whole_machine());
            }
        }
    assert_int_equal(never, 0);
}

#endif
