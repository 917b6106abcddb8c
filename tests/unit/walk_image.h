/* Compares a primitive from one image to another of the same shape, by every way on every queue,
 * with an expected image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_WALK_IMAGE_H
#define GI_TESTS_WALK_IMAGE_H

#include "image_cases.h"
#include "ways_walk.h"

/* Compares the result of run() for `host` with `want`. No way of `primitive` may refuse it. */
static inline void walk_image(const char *primitive, const struct gi_image *host,
                              const struct gi_image *want, const void *spec,
                              enum gi_status (*run)(struct gi_queue *queue, struct gi_image *dst,
                                                    const struct gi_image *src, const void *spec,
                                                    struct gi_err *err))
{
    struct gi_image src, dst, back;
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &src, host, NULL, &err), GI_OK);
        for (int i = -1; walk_force(queue, primitive, i); i++) {
            assert_int_equal(
                queue->k->alloc(queue, &dst, src.width, src.height, src.channels, src.type, &err),
                GI_OK);
            walk_ran(queue, primitive, i, run(queue, &dst, &src, spec, &err), &err);
            assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
            case_equal(&back, want, walk_what(queue, primitive, i));
            gi_image_free(&back);
        }
        queue->k->release(queue, &src);
    }
}

#endif
