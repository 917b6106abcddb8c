/* Plans of flips and transpositions: a flip depends on the mirrored rows, a transposition on all
 * rows.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/turning.h"

enum gi_status gi_turn_plan(struct gi_plan *plan, int turn, struct gi_err *err)
{
    int *table = gi_plan_tables(plan, sizeof *table, err);
    if (!table)
        return GI_E_MEMORY;
    *table = turn;
    plan->reach = GI_REACH_MAPPED;
    plan->cost.other = 1;
    if (turn & GI_TURN_TRANSPOSE) {
        plan->result.width = plan->sources[0].height;
        plan->result.height = plan->sources[0].width;
    }
    return GI_OK;
}

struct gi_span gi_turn_needs(const struct gi_plan *plan, int y0, int y1)
{
    int turn = *(const int *)plan->tables, height = plan->sources[0].height;
    if (turn & GI_TURN_TRANSPOSE)
        return (struct gi_span){0, height};
    return turn & GI_TURN_MIRROR_Y ? (struct gi_span){height - y1, height - y0}
                                   : (struct gi_span){y0, y1};
}

/* Rows of a transposed image are columns of the source, so a band of them is computed from a
 * narrower view of the source. */
enum gi_status gi_turn_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err)
{
    int turn = *(const int *)plan->tables;
    struct gi_image src = *work->srcs, columns;
    const struct gi_kernels *k = queue->k;
    int n = work->dst->height;
    if (!(turn & GI_TURN_TRANSPOSE) || n == src.width)
        return k->turn(queue, work->dst, &src, turn, err);
    struct gi_window window = {.left = turn & GI_TURN_MIRROR_X ? src.width - work->dst_y - n
                                                               : work->dst_y};
    enum gi_status status = k->alloc(queue, &columns, n, src.height, src.channels, src.type, err);
    if (status)
        return status;
    status = k->window(queue, &columns, &src, &window, err);
    if (!status)
        status = k->turn(queue, work->dst, &columns, turn, err);
    k->release(queue, &columns);
    return status;
}
