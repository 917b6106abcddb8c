/* Thinning by the method of Lee, Kashyap and Chu, as scikit-image's skeletonize(method='lee') does
 * it in two dimensions: a pass collects the pixels at one side of the foreground that may be
 * removed, and then removes each of them in raster order if its neighbours are still connected
 * without it.
 *
 * The paper's conditions are for volumes. In a plane the Euler characteristic does not change if
 * the connectivity number of the 8 neighbours is 1 (S. Yokoi, J. Toriwaki and T. Fukumura, An
 * analysis of topological properties of digitized binary pictures using local features, CGIP 4,
 * 1975), and a pixel is simple if its neighbours are at most one 8-connected component.
 *
 * A pixel that none of four passes removed can only be removed after a neighbour was, so a list has
 * the pixels whose neighbours changed in the last four passes; no pass reads the whole image.
 * Source: T.-C. Lee, R. L. Kashyap and C.-N. Chu, Building skeleton models via 3-D medial
 * surface/axis thinning algorithms, CVGIP: Graphical Models and Image Processing 56(6), 1994.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/thin_lee.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES = 4, FOREGROUND = 1, LISTED = 2 };

/* The neighbours of a pixel, clockwise from above. */
static const int around[8][2] = {{0, -1}, {1, -1}, {1, 0},  {1, 1},
                                 {0, 1},  {-1, 1}, {-1, 0}, {-1, -1}};
/* The neighbour that is background in each pass: above, below, right, left. */
static const int side_of_pass[PASSES] = {0, 4, 2, 6};

/* By the code of the neighbours, bit i for neighbour i. */
struct tables {
    bool removable[256], simple[256];
};

struct state {
    int width, height;
    size_t stride;     /* of the padded image */
    ptrdiff_t step[8]; /* to each neighbour */
    uint8_t *flags;    /* of each pixel, with a border of one pixel of background */
    uint32_t *changed; /* the last pass that changed a neighbour of it */
    size_t *list;      /* pixels to look at, in raster order */
    size_t *found;     /* pixels that may be removed */
    size_t nlist, room;
    struct tables tables;
};

/* Returns the connectivity number of 8-connected foreground. */
static int connectivity_number(int code)
{
    int n = 0;
    for (int i = 0; i < 8; i += 2) {
        const bool here = !(code >> i & 1), next = !(code >> (i + 1) % 8 & 1),
                   after = !(code >> (i + 2) % 8 & 1);
        n += here - (here && next && after);
    }
    return n;
}

/* Returns the number of 8-connected components of the neighbours. */
static int components(int code)
{
    int n = 0, left = code;
    while (left) {
        int part = left & -left, before = 0;
        while (part != before) {
            before = part;
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    if (before >> i & 1 && code >> j & 1 && abs(around[i][0] - around[j][0]) <= 1 &&
                        abs(around[i][1] - around[j][1]) <= 1)
                        part |= 1 << j;
        }
        left &= ~part;
        n++;
    }
    return n;
}

static void fill_tables(struct tables *tables)
{
    for (int code = 0; code < 256; code++) {
        const bool end = code && (code & (code - 1)) == 0; /* one neighbour: the end of a line */
        tables->simple[code] = components(code) <= 1;
        tables->removable[code] = !end && connectivity_number(code) == 1 && tables->simple[code];
    }
}

static int code_at(const struct state *s, size_t at)
{
    int code = 0;
    for (int i = 0; i < 8; i++)
        code |= (s->flags[(ptrdiff_t)at + s->step[i]] & FOREGROUND) << i;
    return code;
}

static void state_close(struct state *s)
{
    free(s->flags);
    free(s->changed);
    free(s->list);
    free(s->found);
}

/* Appends a pixel to the list. Errors: GI_E_MEMORY. */
static enum gi_status append(struct state *s, size_t at, struct gi_err *err)
{
    if (s->nlist == s->room) {
        const size_t room = s->room ? 2 * s->room : 4096;
        size_t *list = realloc(s->list, room * sizeof *list);
        s->list = list ? list : s->list;
        size_t *found = list ? realloc(s->found, room * sizeof *found) : NULL;
        s->found = found ? found : s->found;
        if (!found)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %zu pixels to remove", room);
        s->room = room;
    }
    s->list[s->nlist++] = at;
    s->flags[at] |= LISTED;
    return GI_OK;
}

static enum gi_status state_open(struct state *s, const struct gi_image *mask, struct gi_err *err)
{
    *s = (struct state){.width = mask->width, .height = mask->height};
    s->stride = (size_t)mask->width + 2;
    const size_t n = s->stride * ((size_t)mask->height + 2);
    s->flags = calloc(n, sizeof *s->flags);
    s->changed = calloc(n, sizeof *s->changed);
    if (!s->flags || !s->changed)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %d x %d pixels", s->width, s->height);
    for (int i = 0; i < 8; i++)
        s->step[i] = around[i][0] + around[i][1] * (ptrdiff_t)s->stride;
    fill_tables(&s->tables);
    for (int y = 0; y < mask->height; y++)
        for (int x = 0; x < mask->width; x++)
            s->flags[((size_t)y + 1) * s->stride + (size_t)x + 1] =
                gi_sample(gi_row(mask, y), (size_t)x, mask->type) > 0 ? FOREGROUND : 0;
    for (size_t at = s->stride; at < n - s->stride; at++) /* pixels inside are never removable */
        if (s->flags[at] && code_at(s, at) != 0xff && append(s, at, err))
            return GI_E_MEMORY;
    return GI_OK;
}

/* Lists the foreground around a removed pixel. */
static enum gi_status touch(struct state *s, size_t at, uint32_t pass, struct gi_err *err)
{
    for (int i = 0; i < 8; i++) {
        const size_t near = (size_t)((ptrdiff_t)at + s->step[i]);
        if (!(s->flags[near] & FOREGROUND))
            continue;
        s->changed[near] = pass;
        if (!(s->flags[near] & LISTED) && append(s, near, err))
            return GI_E_MEMORY;
    }
    return GI_OK;
}

static int by_place(const void *first, const void *second)
{
    const size_t a = *(const size_t *)first, b = *(const size_t *)second;
    return (a > b) - (a < b);
}

/* Runs a pass, counted from 0. */
static enum gi_status run_pass(struct state *s, uint32_t pass, struct gi_err *err)
{
    const ptrdiff_t side = s->step[side_of_pass[pass % PASSES]];
    const size_t nlist = s->nlist;
    size_t nfound = 0, kept = 0;
    for (size_t i = 0; i < nlist; i++) {
        const size_t at = s->list[i];
        if (!(s->flags[(ptrdiff_t)at + side] & FOREGROUND) && s->tables.removable[code_at(s, at)])
            s->found[nfound++] = at;
    }
    for (size_t i = 0; i < nfound; i++) {
        const size_t at = s->found[i];
        if (!s->tables.simple[code_at(s, at)])
            continue;
        s->flags[at] &= LISTED;
        if (touch(s, at, pass, err))
            return GI_E_MEMORY;
    }
    for (size_t i = 0; i < s->nlist; i++) {
        const size_t at = s->list[i];
        if (s->flags[at] & FOREGROUND && s->changed[at] + PASSES > pass)
            s->list[kept++] = at;
        else
            s->flags[at] &= FOREGROUND;
    }
    const bool more = s->nlist > nlist;
    s->nlist = kept;
    if (more)
        qsort(s->list, kept, sizeof *s->list, by_place);
    return GI_OK;
}

enum gi_status gi_thin_lee(struct gi_image *mask, int cycles, struct gi_err *err)
{
    struct state s;
    const float full = gi_type_full_scale(mask->type);
    enum gi_status status = state_open(&s, mask, err);
    /* At first `changed` is 0, which is in the last four passes of pass 0 to 3. */
    for (uint32_t pass = 0; s.nlist && !status; pass++) {
        if (cycles && pass / PASSES >= (uint32_t)cycles)
            break;
        status = run_pass(&s, pass, err);
    }
    for (int y = 0; y < mask->height && !status; y++) {
        const uint8_t *flags = &s.flags[((size_t)y + 1) * s.stride + 1];
        void *row = gi_row(mask, y);
        for (int x = 0; x < mask->width; x++) {
            const float v = flags[x] & FOREGROUND ? full : 0;
            if (mask->type == GI_U8)
                ((uint8_t *)row)[x] = (uint8_t)v;
            else if (mask->type == GI_U16)
                ((uint16_t *)row)[x] = (uint16_t)v;
            else
                ((float *)row)[x] = v;
        }
    }
    state_close(&s);
    return status;
}
