/* Plans flips, transpositions and quarter turns for the primitive `layout`. A row of a flipped
 * image depends on the mirrored row of the source. A row of a transposed image depends on all rows.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/layout.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"

enum gi_status gi_layout_plan(struct gi_plan *plan, int layout, struct gi_err *err)
{
    int *table = gi_plan_tables(plan, sizeof *table, err);
    if (!table)
        return GI_E_MEMORY;
    *table = layout;
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->cost.other = 1;
    plan->placement.known = true;
    gi_layout_map(plan->placement.m, layout, plan->sources[0].width, plan->sources[0].height);
    if (layout & GI_LAYOUT_TRANSPOSE) {
        plan->result.width = plan->sources[0].height;
        plan->result.height = plan->sources[0].width;
    }
    return GI_OK;
}

struct gi_span gi_layout_needs(const struct gi_plan *plan, int y0, int y1)
{
    int layout = *(const int *)plan->tables, height = plan->sources[0].height;
    if (layout & GI_LAYOUT_TRANSPOSE)
        return (struct gi_span){0, height};
    return layout & GI_LAYOUT_MIRROR_Y ? (struct gi_span){height - y1, height - y0}
                                       : (struct gi_span){y0, y1};
}

/* Rows of a transposed image are columns of the source. So a band of these rows is computed from a
 * narrower view of the source. */
enum gi_status gi_layout_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, struct gi_err *err)
{
    int layout = *(const int *)plan->tables;
    struct gi_image src = *work->srcs, columns;
    const struct gi_kernels *k = queue->k;
    int n = work->dst->height;
    if (!(layout & GI_LAYOUT_TRANSPOSE) || n == src.width)
        return k->layout(queue, work->dst, &src, &layout, err);
    struct gi_copy_border window = {
        .left = layout & GI_LAYOUT_MIRROR_X ? src.width - work->dst_y - n : work->dst_y};
    enum gi_status status = k->alloc(queue, &columns, n, src.height, src.channels, src.type, err);
    if (status)
        return status;
    status = k->copy_border(queue, &columns, &src, &window, err);
    if (!status)
        status = k->layout(queue, work->dst, &columns, &layout, err);
    k->release(queue, &columns);
    return status;
}
