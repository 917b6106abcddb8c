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
#include <string.h>

enum {
    PARTS_MIN = 3,
    JOBS = 256,
};

struct index {
    struct gi_hash_list list;
    _Atomic uint32_t *parent; /* of each hash in the forest of groups; a root is its own parent */
    const uint64_t **entries; /* different hashes */
    size_t n;
    uint64_t *sorted;  /* the entries by their keys */
    uint32_t *indexes; /* in the list, of each hash of `sorted` */
    uint32_t *starts;  /* the first entry of each key, and the end */
    int distance, shift, bits;
    bool flips; /* keys that differ in one bit are compared too */
};

/* Orders entries by their hashes, and equal ones as they are in the list. */
static int by_words(const void *a, const void *b, int words)
{
    const uint64_t *x = *(const uint64_t *const *)a, *y = *(const uint64_t *const *)b;
    for (int i = 0; i < words; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_short_hash(const void *a, const void *b)
{
    return by_words(a, b, 1);
}

static int by_long_hash(const void *a, const void *b)
{
    return by_words(a, b, GI_HASH_WORDS);
}

static uint32_t index_of(const struct index *index, const uint64_t *hash)
{
    return (uint32_t)((size_t)(hash - index->list.hashes) / (size_t)index->list.words);
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

static uint32_t key_of(const struct index *index, const uint64_t *hash)
{
    int word = index->shift / 64, at = index->shift % 64;
    uint64_t bits = hash[word] >> at;
    if (at + index->bits > 64)
        bits |= hash[word + 1] << (64 - at);
    return (uint32_t)bits & ((1u << index->bits) - 1);
}

static inline bool is_near(const uint64_t *a, const uint64_t *b, int words, int distance)
{
    for (int i = 0; i < words && distance >= 0; i++)
        distance -= gi_hash_word_distance(a[i], b[i]);
    return distance >= 0;
}

/* Compares an entry with a range of others. */
static inline void compare(const struct index *index, int words, uint32_t one, uint32_t from,
                           uint32_t to)
{
    const uint64_t *hash = index->sorted + (size_t)one * (size_t)words;
    for (uint32_t i = from; i < to; i++)
        if (is_near(hash, index->sorted + (size_t)i * (size_t)words, words, index->distance))
            join(index, index->indexes[one], index->indexes[i]);
}

/* Compares the entries of a range of keys with those of equal and of higher keys. */
static inline void compare_keys(const struct index *index, int words, int number)
{
    const uint32_t *starts = index->starts;
    uint64_t nkeys = 1ull << index->bits;
    uint32_t end = (uint32_t)(nkeys * (uint64_t)(number + 1) / JOBS);
    for (uint32_t key = (uint32_t)(nkeys * (uint64_t)number / JOBS); key < end; key++)
        for (uint32_t i = starts[key]; i < starts[key + 1]; i++) {
            compare(index, words, i, i + 1, starts[key + 1]);
            for (int b = 0; b < index->bits && index->flips; b++)
                if (!(key >> b & 1))
                    compare(index, words, i, starts[key | 1u << b], starts[(key | 1u << b) + 1]);
        }
}

static void job(void *arg, int number, void *scratch)
{
    const struct index *index = arg;
    (void)scratch;
    if (index->list.words == 1)
        compare_keys(index, 1, number);
    else
        compare_keys(index, GI_HASH_WORDS, number);
}

/* Sorts the entries by their keys. */
static void sort_by_key(struct index *index)
{
    uint32_t nkeys = 1u << index->bits, sum = 0;
    size_t words = (size_t)index->list.words;
    for (uint32_t key = 0; key <= nkeys; key++)
        index->starts[key] = 0;
    for (size_t i = 0; i < index->n; i++)
        index->starts[key_of(index, index->entries[i])]++;
    for (uint32_t key = 0; key <= nkeys; key++)
        index->starts[key] = sum += index->starts[key];
    for (size_t i = index->n; i-- > 0;) {
        uint32_t to = --index->starts[key_of(index, index->entries[i])];
        index->indexes[to] = index_of(index, index->entries[i]);
        memcpy(index->sorted + to * words, index->entries[i], words * sizeof *index->sorted);
    }
}

/* Joins equal hashes, and keeps the first one of each value. */
static void join_equal(struct index *index)
{
    size_t n = index->list.n, nbytes = (size_t)index->list.words * sizeof *index->list.hashes;
    for (size_t i = 0; i < n; i++) {
        index->entries[i] = index->list.hashes + i * (size_t)index->list.words;
        atomic_init(&index->parent[i], (uint32_t)i);
    }
    qsort(index->entries, n, sizeof *index->entries,
          index->list.words == 1 ? by_short_hash : by_long_hash);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *hash = index->entries[i],
                       *last = index->n ? index->entries[index->n - 1] : NULL;
        if (last && memcmp(last, hash, nbytes) == 0)
            atomic_store(&index->parent[index_of(index, hash)], index_of(index, last));
        else
            index->entries[index->n++] = hash;
    }
}

static enum gi_status join_near(struct index *index, struct gi_pool *pool, int key_bits,
                                struct gi_err *err)
{
    int nbits = 64 * index->list.words, parts = index->distance / 2 + 1;
    parts = parts < PARTS_MIN ? PARTS_MIN : parts;
    index->flips = index->distance >= parts;
    enum gi_status status = GI_OK;
    for (int p = 0; p < parts && !status; p++) {
        index->shift = nbits * p / parts;
        int bits = nbits * (p + 1) / parts - index->shift;
        index->bits = bits < key_bits ? bits : key_bits;
        sort_by_key(index);
        status = gi_pool_run(pool, JOBS, job, index, 0, err);
    }
    return status;
}

enum gi_status gi_hash_groups(uint32_t *first, const struct gi_hash_list *list, int distance,
                              struct gi_pool *pool, struct gi_err *err)
{
    size_t n = list->n, nbytes = (size_t)list->words * sizeof *list->hashes;
    int key_bits = 8; /* some keys more than hashes are enough, and small tables are fast */
    while (key_bits < 22 && n >> (key_bits - 1))
        key_bits++;
    if (n >= UINT32_MAX)
        return gi_fail(err, GI_E_LIMIT, "%zu hashes: want fewer than 2^32", n);
    struct index index = {.list = *list,
                          .distance = distance,
                          .parent = malloc((n + 1) * sizeof *index.parent),
                          .entries = malloc((n + 1) * sizeof *index.entries),
                          .sorted = malloc((n + 1) * nbytes),
                          .indexes = malloc((n + 1) * sizeof *index.indexes),
                          .starts = malloc(((1u << key_bits) + 1) * sizeof *index.starts)};
    enum gi_status status = GI_OK;
    if (!index.parent || !index.entries || !index.sorted || !index.indexes || !index.starts)
        status = gi_fail(err, GI_E_MEMORY, "no memory for %zu hashes", n);
    if (!status) {
        join_equal(&index);
        status = distance ? join_near(&index, pool, key_bits, err) : GI_OK;
    }
    for (size_t i = 0; i < n && !status; i++)
        first[i] = root_of(&index, (uint32_t)i);
    free(index.parent);
    free(index.entries);
    free(index.sorted);
    free(index.indexes);
    free(index.starts);
    return status;
}
