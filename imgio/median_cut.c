/* Median cut. Boxes are ranges of one list of colours, which is partitioned in place. All colours
 * are divided into cells of 8 x 8 x 8. For a colour in a cell, the nearest new colour is searched
 * among the new colours that can be nearest to any colour of the cell. This is P. Heckbert's
 * "locally sorted search", 1982.
 * SPDX-License-Identifier: MIT */
#include "imgio/median_cut.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

struct entry {
    uint8_t v[4]; /* the fourth is always 0 */
    uint32_t count;
};

struct box {
    struct entry *entries;
    size_t n;
    int axis;
    /* Sum of squared distances from the mean along `axis`; 0 if there is one colour. */
    double spread;
    /* Maximum value of the lower part of the box along `axis`. The lower part has at least half of
     * the pixels if possible, but never all values. */
    uint8_t cut;
};

/* ---- boxes ---- */

/* Returns the value at which a box is cut, from the numbers of pixels by value, of at least two
 * values. */
static uint8_t find_cut(const uint64_t counts[256], uint64_t n)
{
    uint64_t below = 0;
    int last = 255, cut = 0;
    while (!counts[last])
        last--;
    for (int v = 0; v < last && 2 * below < n; v++) {
        below += counts[v];
        if (counts[v])
            cut = v;
    }
    return (uint8_t)cut;
}

/* Finds the axis of maximum spread. For each channel, the sums of the counts, of the values and of
 * their squares are integers below 2^63. */
static void find_axis(struct box *box, int channels)
{
    uint64_t counts[4][256] = {{0}};
    box->spread = 0;
    for (size_t i = 0; i < box->n; i++)
        for (int c = 0; c < channels; c++)
            counts[c][box->entries[i].v[c]] += box->entries[i].count;
    for (int c = 0; c < channels; c++) {
        uint64_t n = 0, sum = 0, squares = 0;
        int values = 0;
        for (uint64_t v = 0; v < 256; v++) {
            n += counts[c][v];
            sum += counts[c][v] * v;
            squares += counts[c][v] * v * v;
            values += counts[c][v] != 0;
        }
        double mean = (double)sum / (double)n;
        double spread = (double)squares - mean * (double)sum;
        if (values > 1 && spread > box->spread) {
            box->spread = spread;
            box->axis = c;
            box->cut = find_cut(counts[c], n);
        }
    }
}

/* Cuts a box in two. The order of the list within each part does not matter. */
static void cut_box(struct box *low, struct box *high, int channels)
{
    int axis = low->axis;
    uint8_t cut = low->cut;
    size_t n = 0;
    for (size_t i = 0; i < low->n; i++) {
        struct entry entry = low->entries[i];
        low->entries[i] = low->entries[n];
        low->entries[n] = entry;
        n += entry.v[axis] <= cut;
    }
    *high = (struct box){.entries = low->entries + n, .n = low->n - n};
    low->n = n;
    find_axis(low, channels);
    find_axis(high, channels);
}

/* Cuts boxes until there are `most` boxes, or no box can be cut. Returns the number of boxes. */
static int cut_all(struct box *boxes, int most, struct entry *entries, size_t n, int channels)
{
    int nboxes = 1;
    boxes[0] = (struct box){.entries = entries, .n = n};
    find_axis(&boxes[0], channels);
    while (nboxes < most) {
        int widest = 0;
        for (int b = 1; b < nboxes; b++)
            widest = boxes[b].spread > boxes[widest].spread ? b : widest;
        if (!(boxes[widest].spread > 0))
            break;
        cut_box(&boxes[widest], &boxes[nboxes++], channels);
    }
    return nboxes;
}

static void mean_of(uint8_t mean[4], const struct box *box)
{
    uint64_t n = 0, sums[4] = {0};
    for (size_t i = 0; i < box->n; i++) {
        n += box->entries[i].count;
        for (int c = 0; c < 4; c++)
            sums[c] += (uint64_t)box->entries[i].count * box->entries[i].v[c];
    }
    for (int c = 0; c < 4; c++)
        mean[c] = (uint8_t)((2 * sums[c] + n) / (2 * n));
}

/* ---- search for the nearest colour ---- */

enum { CELL_BITS = 5, CELLS = 1 << 3 * CELL_BITS, CELL_SIDE = 8 };

struct cell {
    int n; /* 0: not filled yet */
    uint8_t candidates[GI_MEDIAN_CUT_MOST];
};

static int square(int v)
{
    return v * v;
}

static int distance(const uint8_t *a, const uint8_t *b)
{
    return square(a[0] - b[0]) + square(a[1] - b[1]) + square(a[2] - b[2]);
}

/* Each new colour
 * has a minimum and a maximum distance to the cell. A new colour can be nearest if its minimum
 * distance is at most the smallest of all maximum distances. */
int gi_nearest_candidates(uint8_t candidates[GI_MEDIAN_CUT_MOST], const uint8_t corner[3], int side,
                          uint8_t (*colors)[4], int n)
{
    int found = 0, near[GI_MEDIAN_CUT_MOST], bound = INT32_MAX;
    for (int i = 0; i < n; i++) {
        int worst = 0;
        near[i] = 0;
        for (int c = 0; c < 3; c++) {
            int low = colors[i][c] - corner[c], high = low - (side - 1);
            near[i] += low < 0 ? square(low) : high > 0 ? square(high) : 0;
            worst += square(low) > square(high) ? square(low) : square(high);
        }
        bound = worst < bound ? worst : bound;
    }
    for (int i = 0; i < n; i++)
        if (near[i] <= bound)
            candidates[found++] = (uint8_t)i;
    return found;
}

static uint8_t nearest(struct cell *cells, const uint8_t v[4], uint8_t (*colors)[4], int n)
{
    enum { SHIFT = 8 - CELL_BITS, MASK = ~(CELL_SIDE - 1) };
    const uint8_t corner[3] = {v[0] & MASK, v[1] & MASK, v[2] & MASK};
    struct cell *cell =
        &cells[(v[0] >> SHIFT << 2 * CELL_BITS) | (v[1] >> SHIFT << CELL_BITS) | v[2] >> SHIFT];
    if (cell->n == 0)
        cell->n = gi_nearest_candidates(cell->candidates, corner, CELL_SIDE, colors, n);
    uint8_t best = cell->candidates[0];
    for (int i = 1; i < cell->n; i++)
        if (distance(v, colors[cell->candidates[i]]) < distance(v, colors[best]))
            best = cell->candidates[i];
    return best;
}

/* ---- the whole ---- */

static void split_number(uint8_t v[4], size_t color, int channels)
{
    v[0] = (uint8_t)(channels == 3 ? color >> 16 : color);
    v[1] = channels == 3 ? (uint8_t)(color >> 8) : 0;
    v[2] = channels == 3 ? (uint8_t)color : 0;
    v[3] = 0;
}

enum gi_status gi_median_cut(uint8_t colors[GI_MEDIAN_CUT_MOST][4], int *ncolors, uint8_t *entries,
                             int most, const struct gi_color_counts *counts, int channels,
                             struct gi_err *err)
{
    struct box boxes[GI_MEDIAN_CUT_MOST];
    size_t used = 0, at = 0, n = channels == 3 ? 1 << 24 : 256;
#define NEXT(i) gi_color_counts_next(counts, i, n)
    for (size_t i = NEXT(0); i < n; i = NEXT(i + 1))
        used++;
    struct entry *list = malloc(used * sizeof *list);
    struct cell *cells = gi_small_calloc(CELLS, sizeof *cells);
    if (!list) {
        free(cells);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", used);
    }
    for (size_t i = NEXT(0); i < n; i = NEXT(i + 1)) {
        split_number(list[at].v, i, channels);
        list[at++].count = counts->each[i];
    }
    int nboxes = cut_all(boxes, most, list, used, channels);
    for (int b = 0; b < nboxes; b++)
        mean_of(colors[b], &boxes[b]);
    for (size_t i = NEXT(0); entries && i < n; i = NEXT(i + 1)) {
        uint8_t v[4];
        split_number(v, i, channels);
        entries[i] = nearest(cells, v, colors, nboxes);
    }
#undef NEXT
    *ncolors = nboxes;
    free(list);
    free(cells);
    return GI_OK;
}
