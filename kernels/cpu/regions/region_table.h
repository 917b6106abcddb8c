/* Statistics of the few labels that extend into a band from above, in a hash table with open
 * addressing.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

#include "kernels/regions.h"

struct region_slot {
    uint32_t label; /* 0: free */
    struct gi_region_sums sums;
};

struct region_table {
    struct region_slot *slots; /* `size` slots, a power of 2; freed by the owner of the table */
    size_t size, used;
    bool failed; /* memory ran out, so that sums were lost */
    struct gi_region_sums lost;
};

static inline void region_clear(struct gi_region_sums *r)
{
    *r = (struct gi_region_sums){.min_x = UINT32_MAX, .min_y = UINT32_MAX, .min_key = UINT32_MAX};
}

static inline struct region_slot *region_slot_of(struct region_slot *slots, size_t size,
                                                 uint32_t label)
{
    size_t i = (label * 2654435761u) & (size - 1); /* Knuth's multiplier: 2^32 / golden ratio */
    while (slots[i].label && slots[i].label != label)
        i = (i + 1) & (size - 1);
    return &slots[i];
}

static inline bool region_table_grow(struct region_table *table)
{
    size_t size = table->size ? 2 * table->size : 64;
    struct region_slot *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i].label)
            *region_slot_of(slots, size, table->slots[i].label) = table->slots[i];
    free(table->slots);
    table->slots = slots;
    table->size = size;
    return true;
}

/* Returns the sums of `label`, which are 0 at the first call. After a failure it returns a dummy
 * that is never read. */
static inline struct gi_region_sums *region_table_at(struct region_table *table, uint32_t label)
{
    if (2 * table->used >= table->size && !region_table_grow(table)) {
        table->failed = true;
        return &table->lost;
    }
    struct region_slot *slot = region_slot_of(table->slots, table->size, label);
    if (!slot->label) {
        slot->label = label;
        region_clear(&slot->sums);
        table->used++;
    }
    return &slot->sums;
}

static inline void region_add(struct gi_region_sums *r, const struct gi_region_sums *s)
{
    r->area += s->area;
    r->sum_x += s->sum_x;
    r->sum_y += s->sum_y;
    r->min_x = s->min_x < r->min_x ? s->min_x : r->min_x;
    r->min_y = s->min_y < r->min_y ? s->min_y : r->min_y;
    r->max_x = s->max_x > r->max_x ? s->max_x : r->max_x;
    r->max_y = s->max_y > r->max_y ? s->max_y : r->max_y;
    r->value.n += s->value.n;
    r->value.q += s->value.q;
    r->value.q2_low += s->value.q2_low;
    r->value.q2_high += s->value.q2_high;
    r->min_key = s->min_key < r->min_key ? s->min_key : r->min_key;
    r->max_key = s->max_key > r->max_key ? s->max_key : r->max_key;
    r->straight += s->straight;
    r->diagonal += s->diagonal;
    r->mixed += s->mixed;
}

/* Adds the table to the regions. Returns false if sums were lost. */
static inline bool region_table_merge(struct gi_region_sums *regions,
                                      const struct region_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i].label)
            region_add(&regions[table->slots[i].label - 1], &table->slots[i].sums);
    return !table->failed;
}
