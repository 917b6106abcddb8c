/* A cache of pipelines of a chain, with one pipeline per shape of images.
 * SPDX-License-Identifier: MIT */
#include "cli/run/plans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/ready.h"
#include "imgio/small.h"

/* Maximum number of shapes. It is enough for portrait and landscape images of several cameras. */
enum { KEPT = 16 };

struct slot {
    struct gi_pipeline *pipeline; /* NULL: free */
    struct gi_image shape;
    int users;
    uint64_t used; /* time of the last use */
};

struct gi_plans {
    const struct gi_chain *chain;
    struct gi_limits limits; /* of results */
    /* Whether pipelines are kept. They are if no step has further sources; the shapes of those are
     * not compared. */
    bool keeps;
    pthread_mutex_t lock;
    uint64_t now;
    struct slot slots[KEPT];
};

struct gi_plans *gi_plans_new(const struct gi_chain *chain, const struct gi_io_params *io)
{
    struct gi_plans *plans = gi_small_calloc(1, sizeof *plans);
    plans->chain = chain;
    plans->limits = io->limits;
    plans->keeps = true;
    for (int i = 0; i < chain->n; i++)
        if (chain->steps[i].filter->sources.min > 1)
            plans->keeps = false;
    pthread_mutex_init(&plans->lock, NULL);
    return plans;
}

void gi_plans_free(struct gi_plans **plans)
{
    for (int i = 0; *plans && i < KEPT; i++)
        gi_pipeline_free(&(*plans)->slots[i].pipeline);
    free(*plans);
    *plans = NULL;
}

static bool same_shape(const struct gi_image *a, const struct gi_image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->type == b->type && a->mask == b->mask &&
           !memcmp(&a->shrunk, &b->shrunk, sizeof a->shrunk);
}

/* Returns the slot of this shape, or -1 if there is none. Called with the lock held. */
static int find(const struct gi_plans *plans, const struct gi_image *src)
{
    for (int i = 0; i < KEPT; i++)
        if (plans->slots[i].pipeline && same_shape(&plans->slots[i].shape, src))
            return i;
    return -1;
}

/* Keeps a pipeline in that free slot whose last use is the longest time ago, and returns the slot.
 * Returns -1 if no slot is free. Called with the lock held. */
static int keep(struct gi_plans *plans, struct gi_pipeline *pipeline, const struct gi_image *src)
{
    int best = -1;
    for (int i = 0; i < KEPT; i++)
        if (!plans->slots[i].users && (best < 0 || plans->slots[i].used < plans->slots[best].used))
            best = i;
    if (best < 0)
        return -1;
    gi_pipeline_free(&plans->slots[best].pipeline);
    plans->slots[best] = (struct slot){.pipeline = pipeline, .shape = *src};
    return best;
}

static void use_slot(struct gi_plans *plans, struct gi_plans_use *use, int slot)
{
    plans->slots[slot].users++;
    plans->slots[slot].used = ++plans->now;
    *use = (struct gi_plans_use){.pipeline = plans->slots[slot].pipeline, .slot = slot};
}

/* Makes a pipeline. An error names the step that can't be planned. */
static enum gi_status make(struct gi_pipeline **pipeline, const struct gi_plans *plans,
                           const struct gi_image *src, const struct gi_ready *ready,
                           struct gi_err *err)
{
    const struct gi_chain *chain = plans->chain;
    int failed = -1;
    enum gi_status status =
        gi_pipeline_new_within(pipeline, &plans->limits, ready->steps, chain->n, src, &failed, err);
    if (status && chain->n > 1 && failed >= 0)
        gi_err_prefix(err, "step %d, %s", failed + 1, chain->steps[failed].filter->name);
    return status;
}

enum gi_status gi_plans_take(struct gi_plans *plans, struct gi_plans_use *use,
                             const struct gi_image *src, const struct gi_ready *ready,
                             struct gi_err *err)
{
    struct gi_pipeline *made;
    pthread_mutex_lock(&plans->lock);
    bool keeps = plans->keeps && !ready->own;
    int slot = keeps ? find(plans, src) : -1;
    if (slot >= 0)
        use_slot(plans, use, slot);
    pthread_mutex_unlock(&plans->lock);
    if (slot >= 0)
        return GI_OK;
    enum gi_status status = make(&made, plans, src, ready, err);
    if (status)
        return status;
    *use = (struct gi_plans_use){.pipeline = made, .slot = -1, .own = made};
    pthread_mutex_lock(&plans->lock);
    /* If another thread has been faster, its pipeline is in the cache, and this new pipeline is not
     * kept. */
    if (keeps && find(plans, src) < 0 && (slot = keep(plans, made, src)) >= 0)
        use_slot(plans, use, slot);
    pthread_mutex_unlock(&plans->lock);
    return GI_OK;
}

void gi_plans_give_back(struct gi_plans *plans, struct gi_plans_use *use)
{
    if (use->slot < 0) {
        gi_pipeline_free(&use->own);
        return;
    }
    pthread_mutex_lock(&plans->lock);
    plans->slots[use->slot].users--;
    pthread_mutex_unlock(&plans->lock);
}
