/* The image upside down: a copy of each row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <string.h>

struct work {
    struct gi_image *dst;
    const struct gi_image *src;
};

static void copy_row(void *arg, int y, void *scratch)
{
    const struct work *work = arg;
    const struct gi_image *src = work->src;
    memcpy(gi_row(work->dst, y), gi_row(src, src->height - 1 - y), gi_row_nbytes(src));
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const void *none, struct gi_err *err)
{
    struct work work = {dst, src};
    return gi_pool_run(gi_cpu_pool(queue), src->height, copy_row, &work, 0, err);
}

const struct gi_upside_down_way GI_CPU(upside_down_ways)[GI_WAYS_MAX] = {
    {{"rows", "everything"}, NULL, by_rows},
};
