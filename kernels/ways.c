/* Which way runs: forced ones, and the list of those that ran.
 * SPDX-License-Identifier: MIT */
#include "kernels/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORCED_MAX = 32, USES_MAX = 64 };

struct gi_way_log {
    struct {
        const struct gi_ways *ways;
        int way;
    } forced[FORCED_MAX];
    struct gi_way_use uses[USES_MAX];
    int nforced, nuses;
    struct gi_way_use *running; /* NULL: not in `uses` */
};

enum gi_status gi_samples_check(const char *primitive, unsigned types, const struct gi_image *image,
                                struct gi_err *err)
{
    static const char *const names[] = {"u8", "u16", "f32", "u32"};
    if (types >> image->type & 1)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED, "%s: %s samples: want %s", primitive, names[image->type],
                   types == GI_BYTE_TYPES      ? "u8"
                   : types == GI_INTEGER_TYPES ? "u8 or u16"
                                               : "u8, u16 or f32");
}

enum gi_status gi_ways_check(const struct gi_ways *ways, const void *result,
                             const struct gi_image *src, struct gi_err *err)
{
    enum gi_status status = gi_samples_check(ways->primitive, ways->types, src, err);
    if (status || ways->shape == GI_SHAPE_OWN)
        return status;
    const struct gi_image *dst = (const struct gi_image *)result;
    bool size = dst->width == src->width && dst->height == src->height;
    bool kind = dst->type == src->type && dst->channels == src->channels;
    if (ways->shape == GI_SHAPE_SAME   ? size && kind
        : ways->shape == GI_SHAPE_SIZE ? size && dst->type == src->type
                                       : kind)
        return GI_OK;
    return gi_fail(
        err, GI_E_UNSUPPORTED,
        "%s: result of %d x %d, %d channels, type %d: want the shape that a source of %d "
        "x %d, %d channels, type %d gives",
        ways->primitive, dst->width, dst->height, dst->channels, (int)dst->type, src->width,
        src->height, src->channels, (int)src->type);
}

/* The forced row, -1 where none is. */
static int forced_way(const struct gi_queue *queue, const struct gi_ways *ways)
{
    for (int i = 0; i < queue->ways->nforced; i++)
        if (queue->ways->forced[i].ways == ways)
            return queue->ways->forced[i].way;
    return -1;
}

int gi_way_next(const struct gi_queue *queue, const struct gi_ways *ways, int i)
{
    int forced = forced_way(queue, ways);
    if (forced >= 0)
        return i < 0 ? forced : -1;
    return gi_way_at(ways, i + 1) ? i + 1 : -1;
}

void gi_way_note(struct gi_queue *queue, const struct gi_ways *ways, int i)
{
    struct gi_way_log *log = queue->ways;
    const char *name = gi_way_at(ways, i)->name;
    struct gi_way_use *use = log->uses;
    while (use < log->uses + log->nuses && (use->way != name || use->primitive != ways->primitive))
        use++;
    log->running = use == log->uses + USES_MAX ? NULL : use;
    if (!log->running)
        return;
    if (use == log->uses + log->nuses) {
        *use = (struct gi_way_use){ways->primitive, name, NULL, 0};
        log->nuses++;
    }
    use->runs++;
}

void gi_way_detail(struct gi_queue *queue, const char *detail)
{
    if (queue->ways->running)
        queue->ways->running->detail = detail;
}

enum gi_status gi_way_refuse(const struct gi_queue *queue, const struct gi_ways *ways,
                             struct gi_err *err)
{
    int way = forced_way(queue, ways);
    if (way < 0)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: no way takes this work", ways->primitive);
    return gi_fail(err, GI_E_UNSUPPORTED, "GPUIMG_WAY=%s:%s: this way does not take this work",
                   ways->primitive, gi_way_at(ways, way)->name);
}

int gi_queue_ways(const struct gi_queue *queue, struct gi_way_use *uses, int max)
{
    int n = queue->ways->nuses;
    memcpy(uses, queue->ways->uses, (size_t)(n < max ? n : max) * sizeof *uses);
    return n;
}

const struct gi_ways *gi_ways_find(const struct gi_kernels *k, const char *primitive)
{
    const struct gi_ways *const *ways = k ? k->ways : NULL;
    while (ways && *ways && strcmp((*ways)->primitive, primitive))
        ways++;
    return ways ? *ways : NULL;
}

/* The row, -1 where there is none. */
static int find_way(const struct gi_ways *ways, const char *name)
{
    for (int i = 0; ways && gi_way_at(ways, i); i++)
        if (strcmp(gi_way_at(ways, i)->name, name) == 0)
            return i;
    return -1;
}

/* Says what there is: ways of the primitive, or the primitives that there are. */
static enum gi_status fail_unknown(const struct gi_kernels *k, const struct gi_ways *ways,
                                   const char *entry, struct gi_err *err)
{
    char list[512] = "";
    size_t at = 0;
    for (int i = 0; at < sizeof list && (ways ? gi_way_at(ways, i) != NULL : k->ways[i] != NULL);
         i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "",
                               ways ? gi_way_at(ways, i)->name : k->ways[i]->primitive);
    return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%s: want %s:WAY, one of %s (%s)", entry,
                   ways ? ways->primitive : "PRIMITIVE", list, k->name);
}

/* `entry` is "[BACKEND/]PRIMITIVE:WAY". */
static enum gi_status force_one(struct gi_queue *queue, const char *entry, struct gi_err *err)
{
    const struct gi_kernels *own = queue->k;
    const struct gi_kernels *other =
        own->kind == GI_DEVICE_CPU ? gi_kernels_cuda() : gi_kernels_cpu();
    char text[128];
    snprintf(text, sizeof text, "%s", entry);
    char *slash = strchr(text, '/'), *primitive = slash ? slash + 1 : text;
    char *way = strchr(primitive, ':');
    if (slash)
        *slash = '\0';
    if (slash && strcmp(text, "cpu") && strcmp(text, "cuda"))
        return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%s: want cpu/ or cuda/", entry);
    if (!way)
        return fail_unknown(own, gi_ways_find(own, primitive), entry, err);
    *way++ = '\0';
    bool only_own = slash && strcmp(text, own->name) == 0, only_other = slash && !only_own;
    const struct gi_ways *mine = gi_ways_find(own, primitive);
    int row = only_other ? -1 : find_way(mine, way);
    if (row >= 0) {
        struct gi_way_log *log = queue->ways;
        int i = 0;
        while (i < log->nforced && log->forced[i].ways != mine)
            i++;
        if (i == FORCED_MAX)
            return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%s: too many", entry);
        log->nforced += i == log->nforced;
        log->forced[i].ways = mine;
        log->forced[i].way = row;
        return GI_OK;
    }
    if (only_other && !other)
        return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%s: this build has no %s", entry, text);
    if (!only_own && find_way(gi_ways_find(other, primitive), way) >= 0)
        return GI_OK;
    return only_other ? fail_unknown(other, gi_ways_find(other, primitive), entry, err)
                      : fail_unknown(own, mine, entry, err);
}

enum gi_status gi_queue_force_ways(struct gi_queue *queue, const char *text, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    queue->ways->nforced = 0;
    while (text && *text && !status) {
        char entry[128];
        size_t n = strcspn(text, ",");
        snprintf(entry, sizeof entry, "%.*s", (int)(n < sizeof entry ? n : sizeof entry), text);
        status = force_one(queue, entry, err);
        text += n + (text[n] == ',');
    }
    return status;
}

enum gi_status gi_queue_ways_open(struct gi_queue *queue, struct gi_err *err)
{
    queue->ways = calloc(1, sizeof *queue->ways);
    if (!queue->ways)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a queue");
    enum gi_status status = gi_queue_force_ways(queue, getenv("GPUIMG_WAY"), err);
    if (status)
        gi_queue_ways_close(queue);
    return status;
}

void gi_queue_ways_close(struct gi_queue *queue)
{
    free(queue->ways);
    queue->ways = NULL;
}
