/* The engine: threads that take items, work on them and deliver them.
 * SPDX-License-Identifier: MIT */
#include "cli/run/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/memory_budget.h"
#include "cli/run/timing.h"
#include "cli/stop.h"
#include "imgio/small.h"
#include "kernels/parallel.h"

/* Number of finished items per thread that may wait for delivery. It is enough for the small images
 * that are finished while a large image before them is still processed. */
enum { AHEAD_A_THREAD = 4 };

/* A thread that waits for memory. This struct is on its stack. */
struct waiter {
    struct waiter *next;
    struct gi_item *item;
    uint64_t nbytes;
    bool granted;
    pthread_cond_t changed; /* for `granted` */
};

struct gi_engine {
    struct gi_engine_options options;
    struct gi_source source;
    struct gi_item_work work;
    struct gi_pool *pool;

    pthread_mutex_t feeding; /* held while the source is called; taken before `lock` */
    pthread_mutex_t lock;    /* protects the following members */
    /* For `delivered` and `ended`. Each delivery wakes one thread, because it lets one thread go
     * on. */
    pthread_cond_t moved;
    uint64_t taken, finished, delivered;
    struct {
        uint64_t admitted; /* how often a thread was allowed to take an item */
        uint64_t size;     /* maximum of admitted - delivered, and size of the ring buffer */
    } window;
    /* Ring buffer of finished items: the i-th to deliver is at i % window. */
    struct gi_item **parked;
    bool delivering; /* a thread calls the target; it delivers what others park, too */
    struct {
        uint64_t reserved;      /* bytes of images in progress */
        uint64_t kept;          /* bytes of the source */
        struct waiter *waiters; /* in the order of their items */
    } memory;
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
    engine->window.size = window;
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
    for (uint64_t i = 0; engine->parked && i < engine->window.size; i++)
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

static bool is_full(const struct gi_engine *engine)
{
    return !engine->ended.taking &&
           engine->window.admitted - engine->delivered >= engine->window.size;
}

/* Waits until another item may be taken, and admits this thread. */
static void wait_for_place(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    if (is_full(engine)) {
        double start = gi_now_ms();
        while (is_full(engine))
            pthread_cond_wait(&engine->moved, &engine->lock);
        gi_timing_add_wait(GI_WAIT_ORDER, gi_now_ms() - start);
    }
    engine->window.admitted++;
    pthread_mutex_unlock(&engine->lock);
}

/* Returns whether an item may still be taken. */
static bool goes_on(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    if (gi_stop_signal())
        end_locked(engine);
    bool may = !engine->ended.taking;
    pthread_mutex_unlock(&engine->lock);
    return may;
}

static void lock_feeding(struct gi_engine *engine)
{
    if (pthread_mutex_trylock(&engine->feeding) == 0)
        return;
    double start = gi_now_ms();
    pthread_mutex_lock(&engine->feeding);
    gi_timing_add_wait(GI_WAIT_INPUT, gi_now_ms() - start);
}

/* Takes the next item from the source. Returns NULL past the last item. */
static struct gi_item *take(struct gi_engine *engine)
{
    struct gi_item *item = NULL;
    struct gi_err err = {0};
    bool more = false;
    wait_for_place(engine);
    lock_feeding(engine);
    if (goes_on(engine)) {
        struct gi_timing_span span = gi_timing_begin();
        enum gi_status status = GI_OK;
        bool past = engine->source.one && engine->taken > 0;
        item = past ? NULL : gi_item_new();
        if (item) {
            item->turn.engine = engine;
            item->turn.index = engine->taken; /* only the holder of `feeding` changes it */
            status = engine->source.kind->next(engine->source.self, item, &more, &err);
        }
        if (!engine->source.one)
            gi_timing_end(&span, "input");
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

/* Reserves memory for the item unless the item must wait. Called with the lock held.
 *
 * At least one item must always go on. With ordered delivery this is the first item in progress,
 * because the other items wait for its delivery. Otherwise every item that has reserved memory
 * before may go on. */
static bool reserve_locked(struct gi_engine *engine, struct gi_item *item, uint64_t nbytes)
{
    if ((engine->work.target->ordered || !item->turn.reserved) &&
        engine->memory.reserved > item->turn.reserved && item->turn.index != engine->delivered &&
        engine->memory.reserved + engine->memory.kept + nbytes > engine->options.memory)
        return false;
    item->turn.reserved += nbytes;
    engine->memory.reserved += nbytes;
    return true;
}

/* Reserves memory for those who wait and may go on now, and wakes only their threads. Called with
 * the lock held. */
static void grant_locked(struct gi_engine *engine)
{
    for (struct waiter **at = &engine->memory.waiters, *waiter; (waiter = *at);) {
        if (!reserve_locked(engine, waiter->item, waiter->nbytes)) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        waiter->granted = true;
        pthread_cond_signal(&waiter->changed);
    }
}

static void wait_for_memory(struct gi_engine *engine, struct gi_item *item, uint64_t nbytes)
{
    struct waiter own = {.item = item, .nbytes = nbytes}, **at = &engine->memory.waiters;
    double start = gi_now_ms();
    pthread_cond_init(&own.changed, NULL);
    while (*at && (*at)->item->turn.index < item->turn.index)
        at = &(*at)->next;
    own.next = *at;
    *at = &own;
    while (!own.granted)
        pthread_cond_wait(&own.changed, &engine->lock);
    pthread_cond_destroy(&own.changed);
    gi_timing_add_wait(GI_WAIT_MEMORY, gi_now_ms() - start);
}

void gi_engine_reserve(struct gi_item *item, uint64_t nbytes)
{
    struct gi_engine *engine = item->turn.engine;
    pthread_mutex_lock(&engine->lock);
    if (!reserve_locked(engine, item, nbytes))
        wait_for_memory(engine, item, nbytes);
    pthread_mutex_unlock(&engine->lock);
}

void gi_engine_count_kept(struct gi_engine *engine, int64_t more)
{
    pthread_mutex_lock(&engine->lock);
    engine->memory.kept += (uint64_t)more;
    grant_locked(engine);
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
    struct gi_timing_span span = gi_timing_begin();
    enum gi_status status = target->put ? target->put(engine->work.self, item, err) : GI_OK;
    if (!status && source->kind->note)
        status = source->kind->note(source->self, item, err);
    if (!engine->source.one)
        gi_timing_end(&span, "deliver");
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
    if ((status || last) && engine->source.kind->cancel)
        engine->source.kind->cancel(engine->source.self);
}

/* Delivers one item, unless the engine is broken, and frees it. Called by the thread that has set
 * `delivering`. */
static void deliver(struct gi_engine *engine, struct gi_item *item)
{
    for (struct gi_item *one = item; one && !is_broken(engine); one = one->rest)
        deliver_item(engine, one);
    pthread_mutex_lock(&engine->lock);
    engine->memory.reserved -= item->turn.reserved;
    engine->delivered++;
    grant_locked(engine);
    pthread_cond_signal(&engine->moved);
    pthread_mutex_unlock(&engine->lock);
    gi_item_free(&item);
}

/* Removes the next item to deliver from the ring buffer. If there is none, ends the delivery by
 * this thread and returns NULL. */
static struct gi_item *unpark(struct gi_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    struct gi_item **place = &engine->parked[engine->delivered % engine->window.size],
                   *item = *place;
    *place = NULL;
    engine->delivering = item != NULL;
    pthread_mutex_unlock(&engine->lock);
    return item;
}

/* Parks the item, and delivers what can be delivered, unless another thread does. So no thread
 * waits for the target. If the disk is full, no item is taken any more, even if this one has to
 * wait for its delivery. */
static void finish(struct gi_engine *engine, struct gi_item *item)
{
    pthread_mutex_lock(&engine->lock);
    uint64_t turn = engine->work.target->ordered ? item->turn.index : engine->finished++;
    bool delivers = !engine->delivering;
    engine->parked[turn % engine->window.size] = item;
    engine->delivering = true;
    if (gi_item_met_full_disk(item))
        end_locked(engine);
    pthread_mutex_unlock(&engine->lock);
    while (delivers && (item = unpark(engine)))
        deliver(engine, item);
}

/* Gets the bytes of the item, and does the work on it. */
static void work_on(struct gi_engine *engine, struct gi_item *item)
{
    struct gi_err *err = &item->line.err;
    if (item->source.fetch && !item->line.status) {
        struct gi_timing_span span = gi_timing_begin();
        item->line.status = item->source.fetch(item, err);
        gi_timing_end(&span, "read");
    }
    if (item->line.pass || item->line.status)
        return;
    item->line.status = engine->work.run(engine->work.self, engine->work.imaging, item, err);
    gi_item_blame(item);
}

static void worker(void *arg, int index, void *scratch)
{
    struct gi_engine *engine = arg;
    for (struct gi_item *item; (item = take(engine));) {
        work_on(engine, item);
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
