/* Finds equal keys by partitions.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/equal_keys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/small.h"

enum { PARTITION_BITS = 10, PARTITIONS = 1 << PARTITION_BITS, BLOCK_KEYS = 1024 };
enum { BLOCK_NBYTES = BLOCK_KEYS * sizeof(uint64_t) };

/* The lowest bit of a key says that its file is written. */
static const uint64_t WRITTEN = 1;

struct partition {
    uint64_t keys[BLOCK_KEYS]; /* those that are not in the file */
    size_t n;
    size_t blocks;  /* number of its blocks in the file */
    uint32_t block; /* the last one, from 1; 0: none */
};

struct gi_equal_keys {
    struct partition *partitions;
    int fd; /* the temporary file, -1 if there is none */
    /* For each block of the file the block of the same partition before it, from 1; 0: none. */
    uint32_t *before;
    size_t nblocks, room;
};

/* The keys of a partition, as a hash table with open addressing; 0 is a free slot. */
struct table {
    uint64_t *slots;
    size_t room; /* a power of 2, more than twice the number of keys */
};

struct gi_equal_keys *gi_equal_keys_new(void)
{
    struct gi_equal_keys *keys = gi_small_calloc(1, sizeof *keys);
    keys->partitions = gi_small_calloc(PARTITIONS, sizeof *keys->partitions);
    keys->fd = -1;
    return keys;
}

void gi_equal_keys_free(struct gi_equal_keys **out)
{
    struct gi_equal_keys *keys = *out;
    *out = NULL;
    if (!keys)
        return;
    if (keys->fd >= 0)
        close(keys->fd);
    free(keys->partitions);
    free(keys->before);
    free(keys);
}

static enum gi_status write_block(struct gi_equal_keys *keys, struct partition *p,
                                  struct gi_err *err)
{
    if (keys->fd < 0 && gi_scratch_file_open(&keys->fd, 0, err))
        return err->status;
    if (keys->nblocks == keys->room) {
        keys->room = 2 * keys->room + 1024;
        keys->before = gi_small_realloc(keys->before, keys->room, sizeof *keys->before);
    }
    if (!gi_scratch_file_write(keys->fd, p->keys, BLOCK_NBYTES,
                               (uint64_t)keys->nblocks * BLOCK_NBYTES))
        return gi_scratch_file_fail(err);
    keys->before[keys->nblocks++] = p->block;
    p->block = (uint32_t)keys->nblocks;
    p->blocks++;
    p->n = 0;
    return GI_OK;
}

/* The finalizer of MurmurHash3 (A. Appleby), because the upper bits choose the partition. */
uint64_t gi_equal_keys_key(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (hash ^ hash >> 33) & ~WRITTEN;
}

enum gi_status gi_equal_keys_add(struct gi_equal_keys *keys, uint64_t hash, bool written,
                                 struct gi_err *err)
{
    uint64_t key = gi_equal_keys_key(hash);
    struct partition *p = &keys->partitions[key >> (64 - PARTITION_BITS)];
    if (p->n == BLOCK_KEYS && write_block(keys, p, err))
        return err->status;
    p->keys[p->n++] = key | (written ? WRITTEN : 0);
    return GI_OK;
}

/* Empties the table, which will have `n` keys. */
static enum gi_status clear_table(struct table *table, size_t n, struct gi_err *err)
{
    size_t room = 1024;
    while (room <= 2 * n)
        room *= 2;
    if (room > table->room) {
        free(table->slots);
        table->slots = malloc(room * sizeof *table->slots);
        table->room = table->slots ? room : 0;
    }
    if (!table->slots)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu names", n);
    memset(table->slots, 0, table->room * sizeof *table->slots);
    return GI_OK;
}

/* The keys that gi_equal_keys_find() has found. */
struct found {
    uint64_t *keys;
    size_t n, max;
};

static void add_found(struct found *found, uint64_t key)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->keys[i] == key)
            return;
    if (found->n < found->max)
        found->keys[found->n++] = key;
}

static void insert(struct table *table, const uint64_t *keys, size_t n, struct found *found)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        size_t at = key >> 1 & (table->room - 1);
        while (table->slots[at] && (table->slots[at] | WRITTEN) != (key | WRITTEN))
            at = (at + 1) & (table->room - 1);
        if (table->slots[at] && ((table->slots[at] | key) & WRITTEN))
            add_found(found, key & ~WRITTEN);
        table->slots[at] |= key;
    }
}

/* Inserts all keys of a partition into the table. */
static enum gi_status examine(const struct gi_equal_keys *keys, const struct partition *p,
                              struct table *table, struct found *found, struct gi_err *err)
{
    uint64_t block[BLOCK_KEYS];
    enum gi_status status = clear_table(table, p->blocks * BLOCK_KEYS + p->n, err);
    if (status)
        return status;
    insert(table, p->keys, p->n, found);
    for (uint32_t i = p->block; i; i = keys->before[i - 1]) {
        if (!gi_scratch_file_read(keys->fd, block, BLOCK_NBYTES, (uint64_t)(i - 1) * BLOCK_NBYTES))
            return gi_scratch_file_fail(err);
        insert(table, block, BLOCK_KEYS, found);
    }
    return GI_OK;
}

enum gi_status gi_equal_keys_find(const struct gi_equal_keys *keys, uint64_t *list, size_t max,
                                  size_t *n, struct gi_err *err)
{
    struct table table = {0};
    struct found found = {list, 0, max};
    enum gi_status status = GI_OK;
    for (int i = 0; i < PARTITIONS && !status; i++)
        status = examine(keys, &keys->partitions[i], &table, &found, err);
    *n = found.n;
    free(table.slots);
    return status;
}
