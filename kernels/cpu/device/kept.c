/* A cache of blocks of host memory, which reuses the memory of freed images for later images.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/device/kept.h"

#include <pthread.h>
#include <stdlib.h>

static const size_t SMALL_NBYTES = (size_t)256 << 10;
static const size_t KEPT_NBYTES = (size_t)1 << 30;

struct block {
    void *data;
    size_t nbytes;
    bool lent;
};

struct gi_kept {
    struct gi_allocator allocator;
    pthread_mutex_t lock; /* guards the following members */
    struct block *blocks;
    size_t n, room;
    size_t lent, idle, most; /* bytes; `most` is the maximum of `lent` so far */
};

/* Returns the smallest idle block of at least `nbytes` and at most 3/2 of `nbytes`, or NULL if
 * there is none. */
static struct block *find_idle(const struct gi_kept *kept, size_t nbytes)
{
    struct block *best = NULL;
    for (size_t i = 0; i < kept->n; i++) {
        struct block *block = &kept->blocks[i];
        if (!block->lent && block->nbytes >= nbytes && block->nbytes - nbytes <= nbytes / 2 &&
            (!best || block->nbytes < best->nbytes))
            best = block;
    }
    return best;
}

/* Returns block i, which is idle, to the system. */
static void give_back(struct gi_kept *kept, size_t i)
{
    free(kept->blocks[i].data);
    kept->idle -= kept->blocks[i].nbytes;
    kept->blocks[i] = kept->blocks[--kept->n];
}

/* Adds a new block, and returns idle blocks to the system until the total is below `most`. */
static struct block *add(struct gi_kept *kept, size_t nbytes)
{
    if (kept->lent + nbytes > kept->most)
        kept->most = kept->lent + nbytes;
    for (size_t i = kept->n; i-- > 0 && kept->lent + kept->idle + nbytes > kept->most;)
        if (!kept->blocks[i].lent)
            give_back(kept, i);
    if (kept->n == kept->room) {
        size_t room = 2 * kept->room + 16;
        struct block *grown = realloc(kept->blocks, room * sizeof *grown);
        if (!grown)
            return NULL;
        kept->blocks = grown;
        kept->room = room;
    }
    void *data = gi_samples_alloc(nbytes);
    if (!data)
        return NULL;
    struct block *block = &kept->blocks[kept->n++];
    *block = (struct block){.data = data, .nbytes = nbytes};
    kept->idle += nbytes;
    return block;
}

static void *take(void *self, size_t nbytes)
{
    struct gi_kept *kept = self;
    if (nbytes < SMALL_NBYTES)
        return NULL;
    pthread_mutex_lock(&kept->lock);
    struct block *block = find_idle(kept, nbytes);
    if (!block)
        block = add(kept, nbytes);
    if (block) {
        block->lent = true;
        kept->lent += block->nbytes;
        kept->idle -= block->nbytes;
        if (kept->lent > kept->most)
            kept->most = kept->lent;
    }
    void *data = block ? block->data : NULL;
    pthread_mutex_unlock(&kept->lock);
    return data;
}

static void take_back(void *self, void *samples)
{
    struct gi_kept *kept = self;
    pthread_mutex_lock(&kept->lock);
    size_t i = 0;
    while (kept->blocks[i].data != samples)
        i++;
    kept->blocks[i].lent = false;
    kept->lent -= kept->blocks[i].nbytes;
    kept->idle += kept->blocks[i].nbytes;
    if (kept->idle > KEPT_NBYTES)
        give_back(kept, i);
    pthread_mutex_unlock(&kept->lock);
}

struct gi_kept *gi_kept_new(void)
{
    struct gi_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->allocator = (struct gi_allocator){kept, take, take_back};
    pthread_mutex_init(&kept->lock, NULL);
    return kept;
}

void gi_kept_free(struct gi_kept **out)
{
    struct gi_kept *kept = *out;
    *out = NULL;
    if (!kept)
        return;
    while (kept->n)
        give_back(kept, kept->n - 1);
    free(kept->blocks);
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

const struct gi_allocator *gi_kept_allocator(const struct gi_kept *kept)
{
    return &kept->allocator;
}
