/* Groups of hashes by Hamming distance, exactly, by a multi-index. The bits are divided into parts.
 * Two hashes that differ in at most `distance` bits differ in at most distance / parts bits of some
 * part (M. Norouzi, A. Punjani, D. Fleet, "Fast exact search in Hamming space with multi-index
 * hashing", IEEE TPAMI 36(6), 2014). The number of parts is chosen so that this is at most one bit.
 * So for each part only hashes whose keys, which are the bits of the part, are equal or neighbours
 * are compared: a million hashes and distance 5 take 3 * 22 lookups per hash in place of 10^12 / 2
 * comparisons.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/hash_groups.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    PARTS_MIN = 3, /* so that keys have at most 22 bits */
    JOBS = 256,
};

struct entry {
    uint64_t hash;
    uint32_t index;
};

struct index {
    _Atomic uint32_t *parent; /* of each hash in the forest of groups; a root is its own parent */
    struct entry *entries;    /* different hashes */
    size_t n;
    struct entry *sorted; /* the entries by their keys */
    uint32_t *starts;     /* the first entry of each key, and the end */
    int distance, shift, bits;
    bool flips; /* keys that differ in one bit are compared too */
};

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Halves the path to the root on the way. An ancestor stays one, so that other threads may do the
 * same. */
static uint32_t root_of(const struct index *index, uint32_t i)
{
    uint32_t parent;
    while ((parent = atomic_load(&index->parent[i])) != i) {
        uint32_t above = atomic_load(&index->parent[parent]);
        if (above != parent)
            atomic_compare_exchange_strong(&index->parent[i], &parent, above);
        i = above;
    }
    return i;
}

/* Joins two groups; the root with the higher index gets the other one as its parent, so that the
 * root of a group is its first hash, in whatever order threads join. */
static void join(const struct index *index, uint32_t a, uint32_t b)
{
    for (;;) {
        a = root_of(index, a);
        b = root_of(index, b);
        if (a == b)
            return;
        uint32_t low = a < b ? a : b, high = a < b ? b : a, expected = high;
        if (atomic_compare_exchange_strong(&index->parent[high], &expected, low))
            return;
    }
}

static uint32_t key_of(const struct index *index, uint64_t hash)
{
    return (uint32_t)(hash >> index->shift) & ((1u << index->bits) - 1);
}

static void compare(const struct index *index, const struct entry *one, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (gi_hash_distance(one->hash, index->sorted[i].hash) <= index->distance)
            join(index, one->index, index->sorted[i].index);
}

/* Compares the entries of a range of keys with those of equal and of higher keys. */
static void job(void *arg, int number, void *scratch)
{
    const struct index *index = arg;
    const uint32_t *starts = index->starts;
    uint64_t nkeys = 1ull << index->bits;
    uint32_t end = (uint32_t)(nkeys * (uint64_t)(number + 1) / JOBS);
    (void)scratch;
    for (uint32_t key = (uint32_t)(nkeys * (uint64_t)number / JOBS); key < end; key++)
        for (uint32_t i = starts[key]; i < starts[key + 1]; i++) {
            compare(index, &index->sorted[i], i + 1, starts[key + 1]);
            for (int b = 0; b < index->bits && index->flips; b++)
                if (!(key >> b & 1))
                    compare(index, &index->sorted[i], starts[key | 1u << b],
                            starts[(key | 1u << b) + 1]);
        }
}

/* Sorts the entries by their keys. */
static void sort_by_key(struct index *index)
{
    uint32_t nkeys = 1u << index->bits, sum = 0;
    for (uint32_t key = 0; key <= nkeys; key++)
        index->starts[key] = 0;
    for (size_t i = 0; i < index->n; i++)
        index->starts[key_of(index, index->entries[i].hash)]++;
    for (uint32_t key = 0; key <= nkeys; key++)
        index->starts[key] = sum += index->starts[key];
    for (size_t i = index->n; i-- > 0;)
        index->sorted[--index->starts[key_of(index, index->entries[i].hash)]] = index->entries[i];
}

/* Joins equal hashes, and keeps the first one of each value. */
static void join_equal(struct index *index, const uint64_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        index->entries[i] = (struct entry){hashes[i], (uint32_t)i};
        atomic_init(&index->parent[i], (uint32_t)i);
    }
    qsort(index->entries, n, sizeof *index->entries, by_hash);
    for (size_t i = 0; i < n; i++) {
        struct entry *last = index->n ? &index->entries[index->n - 1] : NULL;
        if (last && last->hash == index->entries[i].hash)
            atomic_store(&index->parent[index->entries[i].index], last->index);
        else
            index->entries[index->n++] = index->entries[i];
    }
}

static enum gi_status join_near(struct index *index, struct gi_pool *pool, int key_bits,
                                struct gi_err *err)
{
    int parts = index->distance / 2 + 1;
    parts = parts < PARTS_MIN ? PARTS_MIN : parts;
    index->flips = index->distance >= parts;
    enum gi_status status = GI_OK;
    for (int p = 0; p < parts && !status; p++) {
        int bits = 64 * (p + 1) / parts - 64 * p / parts;
        index->shift = 64 * p / parts;
        index->bits = bits < key_bits ? bits : key_bits;
        sort_by_key(index);
        status = gi_pool_run(pool, JOBS, job, index, 0, err);
    }
    return status;
}

enum gi_status gi_hash_groups(uint32_t *first, const uint64_t *hashes, size_t n, int distance,
                              struct gi_pool *pool, struct gi_err *err)
{
    int key_bits = 8; /* some keys more than hashes are enough, and small tables are fast */
    while (key_bits < 22 && n >> (key_bits - 1))
        key_bits++;
    if (n >= UINT32_MAX)
        return gi_fail(err, GI_E_LIMIT, "%zu hashes: want fewer than 2^32", n);
    struct index index = {.distance = distance,
                          .parent = malloc((n + 1) * sizeof *index.parent),
                          .entries = malloc((n + 1) * sizeof *index.entries),
                          .sorted = malloc((n + 1) * sizeof *index.sorted),
                          .starts = malloc(((1u << key_bits) + 1) * sizeof *index.starts)};
    enum gi_status status = GI_OK;
    if (!index.parent || !index.entries || !index.sorted || !index.starts)
        status = gi_fail(err, GI_E_MEMORY, "no memory for %zu hashes", n);
    if (!status) {
        join_equal(&index, hashes, n);
        status = distance ? join_near(&index, pool, key_bits, err) : GI_OK;
    }
    for (size_t i = 0; i < n && !status; i++)
        first[i] = root_of(&index, (uint32_t)i);
    free(index.parent);
    free(index.entries);
    free(index.sorted);
    free(index.starts);
    return status;
}
