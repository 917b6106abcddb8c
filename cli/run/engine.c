/* The engine: threads that take items, work on them and deliver them.
 * SPDX-License-Identifier: MIT */
#include "cli/run/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/run/memory_budget.h"
#include "cli/stop.h"
#include "imgio/small.h"
#include "kernels/parallel.h"

/* Number of finished items per thread that may wait for delivery. It is enough for the small images
 * that are finished while a large image before them is still processed. */
enum { AHEAD_A_THREAD = 4 };

struct gi_engine {
    struct gi_engine_options options;
    struct gi_source source;
    struct gi_item_work work;
    struct gi_pool *pool;

    pthread_mutex_t feeding; /* held while the source is called; taken before `lock` */
    pthread_mutex_t lock;    /* protects the following members */
    pthread_cond_t moved;    /* for `delivered`, `reserved` and `ended` */
    uint64_t taken, finished, delivered;
    uint64_t window; /* maximum of taken - delivered, and size of the ring buffer */
    /* Ring buffer of finished items: the i-th to deliver is at i % window. */
    struct gi_item **parked;
    bool delivering;   /* a thread calls the target; it delivers what others park, too */
    uint64_t reserved; /* bytes of images in progress */
    struct {
        bool taking;       /* no more items are taken */
        bool delivering;   /* no more items are delivered, either */
        bool full;         /* because the disk is full */
        struct gi_err err; /* why nothing is delivered, unless an item has this error */
    } ended;
    struct gi_tally tally;
};

enum gi_status gi_engine_new(struct gi_engine **out, const struct gi_engine_options *options,
                             const struct gi_source *source, const struct gi_item_work *work,
                             struct gi_err *err)
{
    struct gi_engine *engine = *out = gi_small_calloc(1, sizeof *engine);
    uint64_t window = (uint64_t)options->threads * (1 + AHEAD_A_THREAD);
    engine->parked = gi_small_calloc(window, sizeof(struct gi_item *));
    if (gi_pool_new(&engine->pool, options->threads, err) != GI_OK) {
        gi_engine_free(out);
        return GI_E_MEMORY;
    }
    engine->options = *options;
    if (!engine->options.memory)
        engine->options.memory = gi_memory_share();
    engine->source = *source;
    engine->work = *work;
    engine->window = window;
    engine->tally.n = source->n;
    engine->tally.skipped = source->skipped;
    pthread_mutex_init(&engine->feeding, NULL);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->moved, NULL);
    return GI_OK;
}

void gi_engine_free(struct gi_engine **out)
{
    struct gi_engine *engine = *out;
    *out = NULL;
    if (!engine)
        return;
    for (uint64_t i = 0; engine->parked && i < engine->window; i++)
        gi_item_free(&engine->parked[i]);
    free(engine->parked);
    gi_pool_free(&engine->pool);
    free(engine);
}

/* Makes the engine take no more items. Called with the lock held. */
static void end_locked(struct gi_engine *engine)
{
    engine->ended.taking = true;
    pthread_cond_broadcast(&engine->moved);
}

/* Makes the engine take and deliver no more items, because of the error `why`. `why` is NULL if an
 * item has the error. Called with the lock held. */
static void break_locked(struct gi_engine *engine, const struct gi_err *why)
{
    if (why && !engine->ended.delivering)
        engine->ended.err = *why;
    engine->ended.delivering = true;
    end_locked(engine);
}

/* Waits until another item may be taken. Returns false if no item may be taken any more. */
static bool wait_for_place(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    while (!engine->ended.taking && engine->taken - engine->delivered >= engine->window)
        pthread_cond_wait(&engine->moved, &engine->lock);
    if (gi_stop_signal())
        end_locked(engine);
    bool may = !engine->ended.taking;
    pthread_mutex_unlock(&engine->lock);
    return may;
}

/* Takes the next item from the source. Returns NULL past the last item. */
static struct gi_item *take(struct gi_engine *engine)
{
    struct gi_item *item = NULL;
    struct gi_err err = {0};
    bool more = false;
    pthread_mutex_lock(&engine->feeding);
    if (wait_for_place(engine)) {
        enum gi_status status = GI_OK;
        bool past = engine->source.one && engine->taken > 0;
        item = past ? NULL : gi_item_new();
        if (item) {
            item->turn.engine = engine;
            item->turn.index = engine->taken; /* only the holder of `feeding` changes it */
            status = engine->source.kind->next(engine->source.self, item, &more, &err);
        }
        if (status || !more)
            gi_item_free(&item);
        pthread_mutex_lock(&engine->lock);
        if (item)
            engine->taken++;
        else if (status)
            break_locked(engine, &err);
        else
            end_locked(engine);
        pthread_mutex_unlock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->feeding);
    return item;
}

uint64_t gi_engine_memory(const struct gi_engine *engine)
{
    return engine->options.memory;
}

void gi_engine_reserve(struct gi_item *item, uint64_t nbytes)
{
    struct gi_engine *engine = item->turn.engine;
    pthread_mutex_lock(&engine->lock);
    /* At least one item must always go on. With ordered delivery this is the first item in
     * progress, because the other items wait for its delivery. Otherwise every item that has
     * reserved memory before may go on. */
    while ((engine->work.target->ordered || !item->turn.reserved) &&
           engine->reserved > item->turn.reserved && item->turn.index != engine->delivered &&
           engine->reserved + nbytes > engine->options.memory)
        pthread_cond_wait(&engine->moved, &engine->lock);
    item->turn.reserved += nbytes;
    engine->reserved += nbytes;
    pthread_mutex_unlock(&engine->lock);
}

static void count(struct gi_tally *tally, const struct gi_item *item)
{
    tally->done += item->line.status == GI_OK && !item->source.mark;
    tally->failed += item->line.status != GI_OK;
    tally->machine += gi_status_is_machine(item->line.status);
    tally->input_nbytes += item->line.input_file.nbytes;
    tally->output_nbytes += item->line.output_file.nbytes;
    for (int i = 0; i < GI_STAGES; i++)
        tally->ms[i] += item->line.ms[i];
}

static bool is_broken(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool broken = engine->ended.delivering;
    pthread_mutex_unlock(&engine->lock);
    return broken;
}

/* Gives the item to the target, and notes it in the report. */
static enum gi_status put(const struct gi_engine *engine, struct gi_item *item, struct gi_err *err)
{
    const struct gi_source *source = &engine->source;
    const struct gi_target_kind *target = engine->work.target;
    enum gi_status status = target->put ? target->put(engine->work.self, item, err) : GI_OK;
    if (!status && source->kind->note)
        status = source->kind->note(source->self, item, err);
    if (status || !item->made.last)
        return status;
    bool machine = gi_status_is_machine(item->line.status);
    *err = (struct gi_err){.status = machine ? GI_E_AGAIN : item->line.status};
    return err->status;
}

/* Delivers one item and counts it. If an item ends a batch with ordered delivery, nothing after it
 * is delivered, so that the output never depends on the progress of other threads. */
static void deliver_item(struct gi_engine *engine, struct gi_item *item)
{
    struct gi_err err = {0};
    enum gi_status status = put(engine, item, &err);
    bool failed = item->line.status != GI_OK;
    bool full = failed && gi_item_met_full_disk(item);
    bool last = (failed && engine->options.fail_fast) || item->line.status == GI_E_DEVICE || full;
    if (failed && *item->line.err.text)
        gi_cli_log("%s", item->line.err.text);
    pthread_mutex_lock(&engine->lock);
    count(&engine->tally, item);
    engine->tally.n += engine->tally.n && item->rest;
    engine->ended.full |= full;
    if (status || (last && engine->work.target->ordered))
        break_locked(engine, status ? &err : NULL);
    else if (last)
        end_locked(engine);
    pthread_mutex_unlock(&engine->lock);
}

/* Delivers one item, unless the engine is broken, and frees it. Called by the thread that has set
 * `delivering`. */
static void deliver(struct gi_engine *engine, struct gi_item *item)
{
    for (struct gi_item *one = item; one && !is_broken(engine); one = one->rest)
        deliver_item(engine, one);
    pthread_mutex_lock(&engine->lock);
    engine->reserved -= item->turn.reserved;
    engine->delivered++;
    pthread_cond_broadcast(&engine->moved);
    pthread_mutex_unlock(&engine->lock);
    gi_item_free(&item);
}

/* Removes the next item to deliver from the ring buffer. If there is none, ends the delivery by
 * this thread and returns NULL. */
static struct gi_item *unpark(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    struct gi_item **place = &engine->parked[engine->delivered % engine->window], *item = *place;
    *place = NULL;
    engine->delivering = item != NULL;
    pthread_mutex_unlock(&engine->lock);
    return item;
}

/* Parks the item, and delivers what can be delivered, unless another thread does. So no thread
 * waits for the target. */
static void finish(struct gi_engine *engine, struct gi_item *item)
{
    pthread_mutex_lock(&engine->lock);
    uint64_t turn = engine->work.target->ordered ? item->turn.index : engine->finished++;
    bool delivers = !engine->delivering;
    engine->parked[turn % engine->window] = item;
    engine->delivering = true;
    pthread_mutex_unlock(&engine->lock);
    while (delivers && (item = unpark(engine)))
        deliver(engine, item);
}

static void worker(void *arg, int index, void *scratch)
{
    struct gi_engine *engine = arg;
    for (struct gi_item *item; (item = take(engine));) {
        if (!item->line.pass && !item->line.status) {
            item->line.status =
                engine->work.run(engine->work.self, engine->work.imaging, item, &item->line.err);
            gi_item_blame(item);
        }
        finish(engine, item);
    }
}

static void log_full(const struct gi_engine *engine)
{
    const struct gi_tally *tally = &engine->tally;
    const char *unit = engine->source.kind->unit ? engine->source.kind->unit : "files";
    unsigned long long done = tally->done + tally->skipped, n = tally->n;
    if (n)
        gi_cli_log("the disk is full: %llu of %llu %s are done, the batch ends", done, n, unit);
    else
        gi_cli_log("the disk is full: %llu %s are done, the batch ends", done, unit);
}

enum gi_status gi_engine_run(struct gi_engine *engine, struct gi_err *err)
{
    enum gi_status status =
        gi_pool_run(engine->pool, engine->options.threads, worker, engine, 0, err);
    if (engine->ended.full && !engine->source.one)
        log_full(engine);
    if (!status && engine->ended.err.status) {
        *err = engine->ended.err;
        status = err->status;
    }
    return status;
}

void gi_engine_tally(struct gi_engine *engine, struct gi_tally *tally)
{
    pthread_mutex_lock(&engine->lock);
    *tally = engine->tally;
    pthread_mutex_unlock(&engine->lock);
}
