/* Watershed by flooding (P. Soille and M. M. Ansoult, "Automated basin delineation from digital
 * elevation models using mathematical morphology", 1990; F. Meyer, "Un algorithme optimal pour la
 * ligne de partage des eaux", 1991), and minima by their depth.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/flooding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum gi_status no_memory(const struct gi_flooding *f, struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "out of memory: watershed of %d x %d pixels", f->width,
                   f->height);
}

enum gi_status gi_flooding_new(struct gi_flooding *f, int width, int height, int connectivity,
                               struct gi_err *err)
{
    long long pitch = width + 2LL;
    *f = (struct gi_flooding){
        .width = width,
        .height = height,
        .pitch = (size_t)pitch,
        .neighbours = connectivity,
        .steps = {-pitch, -1, 1, pitch, -pitch - 1, -pitch + 1, pitch - 1, pitch + 1}};
    size_t n = (size_t)pitch * ((size_t)height + 2);
    if (n >= UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: a watershed wants at most 2^32 - 2",
                       width, height);
    f->heights = malloc(n * sizeof *f->heights);
    f->labels = calloc(n, sizeof *f->labels);
    if (!f->heights || !f->labels)
        return no_memory(f, err);
    for (size_t x = 0; x < f->pitch; x++)
        f->labels[x] = f->labels[n - 1 - x] = GI_FLOODING_DRY;
    for (size_t y = 1; y <= (size_t)height; y++)
        f->labels[y * f->pitch] = f->labels[y * f->pitch + f->pitch - 1] = GI_FLOODING_DRY;
    return GI_OK;
}

void gi_flooding_free(struct gi_flooding *f)
{
    free(f->heights);
    free(f->labels);
    f->heights = f->labels = NULL;
}

uint32_t gi_flooding_key(float height)
{
    uint32_t bits;
    height = height == 0 ? 0 : height; /* -0 is as high as 0 */
    memcpy(&bits, &height, sizeof bits);
    return isnan(height) ? UINT32_MAX : gi_float_key(bits);
}

/* ---- minima ---- */

static double height_of(uint32_t key)
{
    uint32_t bits = gi_float_key_bits(key);
    float height;
    memcpy(&height, &bits, sizeof height);
    return key == UINT32_MAX ? INFINITY : (double)height;
}

/* Fills `to` with the pixels that are flooded, as height << 32 | index, in ascending order. Returns
 * the one of both arrays that has the result, and sets *n to its length. */
static uint64_t *sort_pixels(uint64_t *to, uint64_t *spare, size_t *n, const struct gi_flooding *f)
{
    *n = 0;
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            size_t i = gi_flooding_at(f, x, y);
            if (f->labels[i] != GI_FLOODING_DRY)
                to[(*n)++] = (uint64_t)f->heights[i] << 32 | i;
        }
    for (int shift = 32; shift < 64; shift += 8) { /* a radix sort, which is stable */
        size_t starts[257] = {0};
        for (size_t i = 0; i < *n; i++)
            starts[(to[i] >> shift & 255) + 1]++;
        if (*n == 0 || starts[(to[0] >> shift & 255) + 1] == *n)
            continue;
        for (int d = 0; d < 256; d++)
            starts[d + 1] += starts[d];
        for (size_t i = 0; i < *n; i++)
            spare[starts[to[i] >> shift & 255]++] = to[i];
        uint64_t *sorted = spare;
        spare = to;
        to = sorted;
    }
    return to;
}

/* Returns the first pixel of the basin, which is its lowest. */
static uint32_t basin_of(uint32_t *parents, uint32_t i)
{
    for (; parents[i] != i; i = parents[i])
        parents[i] = parents[parents[i]];
    return i;
}

enum { MINIMUM = 1 << 29 }; /* in `labels`: the first pixel of a minimum */

/* Lets basins grow from their minima, level by level, and marks those that are deep enough when
 * they meet a lower one. parents[i] is 0 for a pixel that is not reached yet. */
static void find_minima(struct gi_flooding *f, uint32_t *parents, const uint64_t *sorted, size_t n,
                        double depth)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t i = (uint32_t)sorted[k], own = i;
        double height = height_of(f->heights[i]);
        parents[i] = i;
        for (int j = 0; j < f->neighbours; j++) {
            uint32_t next = (uint32_t)((long long)i + f->steps[j]);
            if (!parents[next])
                continue;
            uint32_t other = basin_of(parents, next);
            uint64_t own_rank = (uint64_t)f->heights[own] << 32 | own;
            uint64_t other_rank = (uint64_t)f->heights[other] << 32 | other;
            uint32_t low = own_rank < other_rank ? own : other, high = low == own ? other : own;
            if (low == high)
                continue;
            if (f->heights[high] < f->heights[i] && height - height_of(f->heights[high]) >= depth)
                f->labels[high] |= MINIMUM;
            parents[high] = own = low;
        }
    }
    for (size_t k = 0; k < n; k++) /* basins that met no lower one */
        if (parents[(uint32_t)sorted[k]] == (uint32_t)sorted[k])
            f->labels[(uint32_t)sorted[k]] |= MINIMUM;
}

/* Gives `label` to the pixels that are connected to pixel i and as high. */
static void label_plateau(struct gi_flooding *f, uint32_t i, uint32_t label, uint32_t *stack)
{
    size_t n = 0;
    f->labels[i] = label;
    for (stack[n++] = i; n > 0;) {
        uint32_t at = stack[--n];
        for (int j = 0; j < f->neighbours; j++) {
            uint32_t next = (uint32_t)((long long)at + f->steps[j]);
            if (f->labels[next] || f->heights[next] != f->heights[i])
                continue;
            f->labels[next] = label;
            stack[n++] = next;
        }
    }
}

enum gi_status gi_flooding_minima(struct gi_flooding *f, uint32_t *n, double depth,
                                  struct gi_err *err)
{
    size_t pixels = (size_t)f->width * (size_t)f->height, found;
    size_t all = f->pitch * ((size_t)f->height + 2);
    uint64_t *pairs = malloc(2 * pixels * sizeof *pairs);
    uint32_t *parents = calloc(all, sizeof *parents);
    *n = 0;
    if (pairs && parents) {
        const uint64_t *sorted = sort_pixels(pairs, pairs + pixels, &found, f);
        find_minima(f, parents, sorted, found, depth);
        for (uint32_t i = 0; i < all; i++)
            if (f->labels[i] == MINIMUM)
                label_plateau(f, i, ++*n, (uint32_t *)pairs);
    }
    free(pairs);
    free(parents);
    return pairs && parents ? GI_OK : no_memory(f, err);
}

/* ---- flooding ---- */

/* A pixel in the queue. */
struct waiting {
    uint64_t order; /* level << 32 | time */
    uint32_t pixel, label;
};

/* A binary heap, whose first item has the smallest order. */
struct heap {
    struct waiting *items;
    size_t n, room;
};

static bool heap_push(struct heap *heap, struct waiting item)
{
    if (heap->n == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 1024;
        struct waiting *items = realloc(heap->items, room * sizeof *items);
        if (!items)
            return false;
        heap->items = items;
        heap->room = room;
    }
    size_t i = heap->n++;
    for (; i > 0 && item.order < heap->items[(i - 1) / 2].order; i = (i - 1) / 2)
        heap->items[i] = heap->items[(i - 1) / 2];
    heap->items[i] = item;
    return true;
}

static struct waiting heap_pop(struct heap *heap)
{
    struct waiting first = heap->items[0], last = heap->items[--heap->n];
    size_t i = 0;
    for (;;) {
        size_t left = 2 * i + 1, right = left + 1, least = i;
        uint64_t order = last.order;
        if (left < heap->n && heap->items[left].order < order) {
            least = left;
            order = heap->items[left].order;
        }
        if (right < heap->n && heap->items[right].order < order)
            least = right;
        if (least == i)
            break;
        heap->items[i] = heap->items[least];
        i = least;
    }
    heap->items[i] = last;
    return first;
}

static bool push_markers(struct heap *heap, const struct gi_flooding *f)
{
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            size_t i = gi_flooding_at(f, x, y);
            uint32_t label = f->labels[i];
            uint64_t level = (uint64_t)f->heights[i] << 32;
            if (label && !(label & GI_FLOODING_DRY) &&
                !heap_push(heap, (struct waiting){level, (uint32_t)i, label}))
                return false;
        }
    return true;
}

/* Labels a pixel that leaves the queue, or makes it a line. Returns false if it has left the queue
 * before. (scikit-image lets a pixel of a line add its neighbours each time that it leaves the
 * queue. They get no other label by that, because each is in the queue already, but the queue can
 * grow exponentially.) */
static bool settle(struct gi_flooding *f, const struct waiting *item)
{
    uint32_t own = f->labels[item->pixel];
    bool line = false;
    if (own && (uint32_t)item->order)
        return false;
    for (int j = 0; j < f->neighbours && !line; j++) {
        uint32_t other = f->labels[(long long)item->pixel + f->steps[j]];
        line = other && !(other & GI_FLOODING_DRY) && other != item->label;
    }
    if (line)
        f->labels[item->pixel] |= GI_FLOODING_DRY;
    else
        f->labels[item->pixel] = item->label;
    return true;
}

static enum gi_status flood(struct gi_flooding *f, struct heap *heap, bool lines,
                            struct gi_err *err)
{
    uint32_t time = 1;
    while (heap->n > 0) {
        struct waiting item = heap_pop(heap);
        if (lines && !settle(f, &item))
            continue;
        for (int j = 0; j < f->neighbours; j++) {
            uint32_t next = (uint32_t)((long long)item.pixel + f->steps[j]);
            if (f->labels[next])
                continue;
            if (!lines)
                f->labels[next] = item.label;
            uint64_t level = f->heights[next], least = item.order >> 32;
            level = level < least ? least : level;
            if (++time == 0) /* lines let pixels be added several times */
                return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: too many for a watershed",
                               f->width, f->height);
            if (!heap_push(heap, (struct waiting){level << 32 | time, next, item.label}))
                return no_memory(f, err);
        }
    }
    return GI_OK;
}

enum gi_status gi_flooding_run(struct gi_flooding *f, bool lines, struct gi_err *err)
{
    struct heap heap = {0};
    enum gi_status status =
        push_markers(&heap, f) ? flood(f, &heap, lines, err) : no_memory(f, err);
    free(heap.items);
    return status;
}
