/* The engine of a batch. It takes items from a source, lets threads work on many of them at once,
 * and delivers them, either in the order of the source or in the order in which they are finished.
 * A thread keeps its item from beginning to end, so that decoding, computing and encoding of
 * different images overlap. The engine does not know images: the work on an item is a table of
 * functions (usually that of cli/run/imaging.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/run/item.h"

/* What a batch has done so far, for its end and for progress lines. Any thread may call
 * gi_engine_tally() during a run to get this struct. */
struct gi_tally {
    uint64_t n;                     /* number of items; 0: unknown */
    uint64_t done, failed, skipped; /* delivered so far */
    uint64_t machine;               /* failed items for which the machine is to blame (exit 75) */
    uint64_t input_nbytes, output_nbytes;
    double ms[GI_STAGES];
};

struct gi_batch_job; /* cli/args/batch_options.h */
struct gi_imaging;   /* cli/run/imaging.h */
struct gi_rules;     /* cli/args/rules.h */
struct gi_watch;     /* cli/run/watch.h */

/* A source of items. */
struct gi_source {
    const struct gi_source_kind *kind;
    void *self;
    uint64_t n;       /* number of items; 0: unknown */
    uint64_t skipped; /* number of items that are left out because an earlier run finished them, or
                         because --no-clobber keeps their outputs */
    /* Number of items per unit that the progress line counts (planes per frame); 0 means 1. */
    int items;
    const struct gi_rules *rules; /* which items have another chain; NULL: none */
    struct gi_watch *one; /* not NULL: there is one item, whose progress this shows; no other item
                             is asked for */
};

/* A kind of source. Functions may be NULL, except next(). */
struct gi_source_kind {
    /* What the progress line counts, such as "frames"; NULL means "files" or "images". */
    const char *unit;
    /* What CPUs and devices wait for if they are idle, for the progress line; NULL means "disk". */
    const char *waits;
    /* Called before the first item. Opens the report if --report asks for one, and counts the
     * items. `imaging` is that of the batch, or NULL. Errors: as gi_report_open(). */
    enum gi_status (*open)(struct gi_source *source, const struct gi_batch_job *job,
                           struct gi_imaging *imaging, struct gi_err *err);
    /* Fills in the next item, or sets *more to false past the last one. Only one thread at a time
     * calls next(). next() may wait for a pipe. It is not called any more after an error or the
     * end. */
    enum gi_status (*next)(void *self, struct gi_item *item, bool *more, struct gi_err *err);
    /* Called in any thread once no more items are wanted: a next() that waits for a command returns
     * soon. NULL if next() never waits for one. */
    void (*cancel)(void *self);
    /* Takes an image that the source has already decoded out of the item. NULL if the items are
     * encoded images. */
    enum gi_status (*take)(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_err *err);
    /* Sets the names that the item's row of a table contains. *tar stays NULL if the item is not in
     * a tar. Returns false if the item has no row, because it is not an image. NULL if the row
     * contains the name in item->line. */
    bool (*describe)(void *self, const struct gi_item *item, const char **tar, const char **file);
    /* Called for each item after its delivery. Writes its line to the report. */
    enum gi_status (*note)(void *self, struct gi_item *item, struct gi_err *err);
    /* Called after the last item, before the target is ended. Returns the status of the batch, from
     * the engine's status and its tally. */
    enum gi_status (*conclude)(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err);
    /* Called after the target has been ended with this status. Ends the report. Returns the status
     * of the batch. */
    enum gi_status (*close)(void *self, enum gi_status status, struct gi_err *err);
};

/* A kind of target, where the results go. Functions may be NULL. */
struct gi_target_kind {
    /* Items are delivered in the order of the source, because their results become one; otherwise
     * as they are finished. */
    bool ordered;
    /* Checks the outputs, before any work. Errors: GI_E_USAGE. */
    enum gi_status (*check)(void *self, struct gi_err *err);
    /* Opens the outputs, once the devices are open. `imaging` is that of the batch, or NULL. */
    enum gi_status (*open)(void *self, struct gi_imaging *imaging, struct gi_err *err);
    /* Takes the result of an item, item->made. Called for one item at a time, also for an item that
     * failed or is passed on, and may make the item fail. An error ends the batch: nothing more is
     * delivered or taken. */
    enum gi_status (*put)(void *self, struct gi_item *item, struct gi_err *err);
    /* Completes the outputs of a batch that ended with `status` and `err`, or abandons them. Always
     * called, also if nothing was opened. Returns the status of the batch. */
    enum gi_status (*end)(void *self, enum gi_status status, struct gi_err *err);
};

/* The work on items, and where their results go. */
struct gi_item_work {
    const struct gi_target_kind *target;
    void *self; /* of the target and of run() */
    struct gi_imaging *imaging;
    /* Many threads may call this at once. An error makes only this item fail, and is stored in
     * item->line.status and item->line.err. */
    enum gi_status (*run)(void *self, struct gi_imaging *imaging, struct gi_item *item,
                          struct gi_err *err);
};

struct gi_engine_options {
    int threads; /* number of threads that work on items, 1 or more */
    /* Maximum bytes of images in progress; 0 means gi_memory_share(). A single image of any size
     * may be processed nevertheless. */
    uint64_t memory;
    /* The run ends after the first item that fails. With ordered delivery no item after this item
     * is delivered. */
    bool fail_fast;
};

struct gi_engine;

enum gi_status gi_engine_new(struct gi_engine **engine, const struct gi_engine_options *options,
                             const struct gi_source *source, const struct gi_item_work *work,
                             struct gi_err *err);
/* Runs until the source ends, a signal asks for the end (cli/stop.h), or an error ends it. Items
 * in progress are still finished. A full disk ends the run too, because all later items would fail.
 * An item that fails is logged and counted. Returns the error of the source or the target,
 * otherwise GI_OK, even if items failed. */
enum gi_status gi_engine_run(struct gi_engine *engine, struct gi_err *err);
void gi_engine_tally(struct gi_engine *engine, struct gi_tally *tally);
void gi_engine_free(struct gi_engine **engine);

/* Returns the maximum bytes of images in progress, which follows from options.memory and is never
 * 0. */
uint64_t gi_engine_memory(const struct gi_engine *engine);

/* For sources and for the work. Waits until `nbytes` more bytes may be in progress, and reserves
 * these bytes for `item` until its delivery. A call for the item that is delivered next never
 * waits. Without ordered delivery only the first call for an item may wait. */
void gi_engine_reserve(struct gi_item *item, uint64_t nbytes);

/* For sources. Counts `more` bytes that the source keeps beside its items, or ends the count if
 * `more` is negative: images in progress may have so much less. Never waits. */
void gi_engine_count_kept(struct gi_engine *engine, int64_t more);
