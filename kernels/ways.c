/* Chooses the way that runs, and keeps the forced ways and the ways that ran.
 * SPDX-License-Identifier: MIT */
#include "kernels/ways.h"
#include "kernels/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORCED_MAX = 32, USES_MAX = 64, TOTALS_MAX = 256 };

struct gi_ways_run {
    struct {
        const struct gi_ways *ways;
        int way;
    } forced[FORCED_MAX];
    struct gi_way_use uses[USES_MAX];
    int nforced, nuses;
    struct gi_way_use *running; /* NULL: not in `uses` */
};

/* The uses of all queues of the process. */
static struct {
    pthread_mutex_t lock;
    struct gi_way_use uses[2][TOTALS_MAX]; /* [enum gi_device_kind] */
    int n[2];
} totals = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum gi_status gi_samples_check(const char *primitive, unsigned types, const struct gi_image *image,
                                struct gi_err *err)
{
    static const char *const names[] = {"u8", "u16", "f32", "u32"};
    if (types >> image->type & 1)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED, "%s: %s samples: want %s", primitive, names[image->type],
                   types == GI_BYTE_TYPES      ? "u8"
                   : types == GI_FLOAT_TYPES   ? "f32"
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

/* Returns the entry of a way in a list of *n uses, which is added if it is new. Returns NULL if the
 * list is full, with `room` entries. Compares names, because each instruction level has its own
 * table. */
static struct gi_way_use *find_use(struct gi_way_use *uses, int *n, int room, const char *primitive,
                                   const char *way)
{
    int i = 0;
    while (i < *n && (strcmp(uses[i].way, way) || strcmp(uses[i].primitive, primitive)))
        i++;
    if (i == room)
        return NULL;
    if (i == *n)
        uses[(*n)++] = (struct gi_way_use){.primitive = primitive, .way = way};
    return &uses[i];
}

static void add_to_totals(const struct gi_queue *queue, const struct gi_way_use *add)
{
    enum gi_device_kind kind = queue->k->kind;
    pthread_mutex_lock(&totals.lock);
    struct gi_way_use *use =
        find_use(totals.uses[kind], &totals.n[kind], TOTALS_MAX, add->primitive, add->way);
    if (use) {
        use->runs += add->runs;
        use->detail = add->detail ? add->detail : use->detail;
    }
    pthread_mutex_unlock(&totals.lock);
}

void gi_way_note(struct gi_queue *queue, const struct gi_ways *ways, int i)
{
    struct gi_ways_run *ran = queue->ways;
    struct gi_way_use one = {
        .primitive = ways->primitive, .way = gi_way_at(ways, i)->name, .runs = 1};
    ran->running = find_use(ran->uses, &ran->nuses, USES_MAX, one.primitive, one.way);
    if (ran->running)
        ran->running->runs++;
    add_to_totals(queue, &one);
}

void gi_way_detail(struct gi_queue *queue, const char *detail)
{
    struct gi_way_use *running = queue->ways->running;
    if (!running)
        return;
    running->detail = detail;
    add_to_totals(queue, &(struct gi_way_use){running->primitive, running->way, detail, 0});
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

int gi_ways_used(const struct gi_kernels *k, struct gi_way_use *uses, int max)
{
    int n = 0;
    pthread_mutex_lock(&totals.lock);
    for (int t = 0; k && k->ways[t]; t++)
        for (int i = 0; i < totals.n[k->kind]; i++)
            if (strcmp(totals.uses[k->kind][i].primitive, k->ways[t]->primitive) == 0 && n++ < max)
                uses[n - 1] = totals.uses[k->kind][i];
    pthread_mutex_unlock(&totals.lock);
    return n;
}

/* Returns whether a primitive has run, and fills `list` with the names of all primitives that have
 * run. */
static bool has_run(const char *primitive, char *list, size_t room)
{
    bool found = false;
    size_t at = 0;
    list[0] = '\0';
    for (int kind = 0; kind < 2; kind++) {
        const struct gi_kernels *k = kind == GI_DEVICE_CUDA ? gi_kernels_cuda() : gi_kernels_cpu();
        struct gi_way_use uses[TOTALS_MAX];
        int n = gi_ways_used(k, uses, TOTALS_MAX);
        for (int i = 0; i < n; i++) {
            found = found || strcmp(uses[i].primitive, primitive) == 0;
            if (!strstr(list, uses[i].primitive) && at < room)
                at += (size_t)snprintf(list + at, room - at, "%s%s", at ? ", " : "",
                                       uses[i].primitive);
        }
    }
    return found;
}

/* Copies the name of the primitive from the first entry of GPUIMG_WAY in `text`. Returns the length
 * of that entry. */
static size_t read_primitive(char *primitive, size_t room, const char *text)
{
    size_t n = strcspn(text, ","), slash = strcspn(text, "/");
    const char *name = slash < n ? text + slash + 1 : text;
    size_t length = strcspn(name, ":,");
    snprintf(primitive, room, "%.*s", (int)(length < room ? length : room), name);
    return n;
}

bool gi_ways_forces(const char *primitive)
{
    const char *text = getenv("GPUIMG_WAY");
    while (text && *text) {
        char name[128];
        size_t n = read_primitive(name, sizeof name, text);
        if (strcmp(name, primitive) == 0)
            return true;
        text += n + (text[n] == ',');
    }
    return false;
}

enum gi_status gi_ways_forced_ran(struct gi_err *err)
{
    const char *text = getenv("GPUIMG_WAY");
    while (text && *text) {
        char primitive[128], list[512];
        size_t n = read_primitive(primitive, sizeof primitive, text);
        if (!has_run(primitive, list, sizeof list) && *list)
            return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%.*s: no %s has run, want a way of %s",
                           (int)n, text, primitive, list);
        text += n + (text[n] == ',');
    }
    return GI_OK;
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

/* Fails with a message that lists the ways of the primitive, or all primitives if `ways` is
 * NULL. */
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
        struct gi_ways_run *ran = queue->ways;
        int i = 0;
        while (i < ran->nforced && ran->forced[i].ways != mine)
            i++;
        if (i == FORCED_MAX)
            return gi_fail(err, GI_E_USAGE, "GPUIMG_WAY=%s: too many", entry);
        ran->nforced += i == ran->nforced;
        ran->forced[i].ways = mine;
        ran->forced[i].way = row;
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
