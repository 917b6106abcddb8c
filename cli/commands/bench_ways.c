/* gpuimg bench --ways: forces each way of the primitives that an operation runs, and times it.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/bench_ways.h"

#include <stdio.h>
#include <string.h>

#include "kernels/ways.h"

enum { USES_MAX = 64 };

static bool has_run(const struct gi_way_use *uses, int n, const char *primitive, const char *way)
{
    for (int i = 0; i < n; i++)
        if (strcmp(uses[i].primitive, primitive) == 0 && (!way || strcmp(uses[i].way, way) == 0))
            return true;
    return false;
}

/* Clears the queue's record of the ways that have run. */
static enum gi_status clear_uses(struct gi_queue *queue, struct gi_err *err)
{
    gi_queue_ways_close(queue);
    return gi_queue_ways_open(queue, err);
}

enum gi_status gi_way_times_measure(struct gi_way_times *times, const struct gi_pipeline *pipeline,
                                    struct gi_queue *queue, const struct gi_image *srcs, int nsrcs,
                                    struct gi_err *err)
{
    struct gi_way_use uses[USES_MAX];
    struct gi_pipeline_time time;
    times->n = 0;
    enum gi_status status = clear_uses(queue, err);
    if (!status)
        status = gi_pipeline_measure(&time, pipeline, queue, srcs, nsrcs, err);
    int n = status ? 0 : gi_queue_ways(queue, uses, USES_MAX);
    for (int u = 0; u < n && u < USES_MAX && !status; u++) {
        const struct gi_ways *ways = gi_ways_find(queue->k, uses[u].primitive);
        if (!ways || has_run(uses, u, ways->primitive, NULL))
            continue; /* the primitive was another use already */
        for (int i = 0; gi_way_at(ways, i) && times->n < GI_WAY_TIMES_MAX && !status; i++) {
            const char *way = gi_way_at(ways, i)->name;
            char text[128];
            snprintf(text, sizeof text, "%s:%s", ways->primitive, way);
            status = gi_queue_force_ways(queue, text, err);
            if (!status)
                status = gi_pipeline_measure(&time, pipeline, queue, srcs, nsrcs, err);
            if (!status)
                times->ways[times->n++] = (struct gi_way_time){
                    ways->primitive, way, has_run(uses, n, ways->primitive, way), time.ms};
            else if (status == GI_E_UNSUPPORTED) {
                status = GI_OK; /* this way does not take the work */
                *err = (struct gi_err){0};
            }
        }
    }
    enum gi_status cleared = queue->ways ? clear_uses(queue, status ? NULL : err) : GI_OK;
    return status ? status : cleared;
}

void gi_way_times_head(bool markdown)
{
    if (markdown)
        printf("| operation | device | way | ms | |\n|---|---|---|---|---|\n");
    else
        printf("%-16s%-8s%-36s%10s\n", "operation", "device", "way", "ms");
}

void gi_way_times_print(const struct gi_way_times *times, const char *operation, const char *device,
                        bool markdown)
{
    for (int i = 0; i < times->n; i++) {
        const struct gi_way_time *time = &times->ways[i];
        char way[128];
        snprintf(way, sizeof way, "%s:%s", time->primitive, time->way);
        printf(markdown ? "| %s | %s | %s | %.4f |%s |\n" : "%-16s%-8s%-36s%10.4f%s\n", operation,
               device, way, time->ms, time->chosen ? " default" : "");
    }
}

void gi_way_times_json(json_t *array, const struct gi_way_times *times, const char *device)
{
    for (int i = 0; i < times->n; i++) {
        const struct gi_way_time *time = &times->ways[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "device", gi_json_text(device));
        json_object_set_new(entry, "primitive", json_string(time->primitive));
        json_object_set_new(entry, "way", json_string(time->way));
        json_object_set_new(entry, "ms", gi_json_real(time->ms));
        json_object_set_new(entry, "default", json_boolean(time->chosen));
        json_array_append_new(array, entry);
    }
}
