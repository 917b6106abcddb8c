/* The engine of a batch: it takes items from a feed, lets threads work on many of them at once, and
 * delivers them, as they are finished or in the feed's order. A thread keeps its item from
 * beginning to end, so that decoding, computing and encoding of different images overlap. The
 * engine does not know images: the work on an item is a table of functions (cli/run/imaging.h is
 * the usual one).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ENGINE_H
#define GI_CLI_RUN_ENGINE_H

#include "cli/run/item.h"

/* Counts and the data of a progress line; can be read during a run by gi_engine_tally(). */
struct gi_tally {
    uint64_t n;                     /* number of items; 0: unknown */
    uint64_t done, failed, skipped; /* delivered so far */
    uint64_t machine; /* number of failed items for which the machine failed, not the item (exit
                         75) */
    uint64_t input_nbytes, output_nbytes;
    double ms[GI_STAGES];
};

struct gi_batch_job;
struct gi_feed {
    const struct gi_feed_kind *kind;
    void *self;
    uint64_t n;       /* number of items; 0: unknown */
    uint64_t skipped; /* number of these that will not come, because an earlier run finished them */
    int items;        /* items per unit that the progress line counts; 0: 1 */
    bool single;      /* yields one item: no other is asked for */
};

/* A kind of feed: a source of items (cli/inputs/feed.h). */
struct gi_feed_kind {
    const char *unit;  /* the unit that the progress line counts, "frames"; NULL: "files" or
                          "images" */
    const char *waits; /* shown as the reason of waiting if neither CPUs nor devices are busy;
                          NULL: "disk" */
    /* Fills the next item; *more becomes false past the last. Called by one thread at a time; it
     * may wait (for a pipe). After an error or the end it is not called again. */
    enum gi_status (*next)(void *self, struct gi_item *item, bool *more, struct gi_err *err);
    /* Opens the report if --report asks for one. Errors: as gi_report_open(). */
    enum gi_status (*open_report)(void *self, const struct gi_batch_job *job, struct gi_err *err);
    /* Takes the item's image, which is decoded already. NULL: the items are encoded images. */
    enum gi_status (*take)(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_err *err);
    /* Sets the names in the item's row of a table; *tar stays NULL if there is none. Returns false
     * if it has no row, because it is no image. NULL: the item's own name is used. */
    bool (*row)(void *self, const struct gi_item *item, const char **tar, const char **file);
    /* For deliver(): writes the item's line in the report. */
    enum gi_status (*note)(void *self, struct gi_item *item, struct gi_err *err);
    /* Returns the status of the batch from that of the engine and its counts. */
    enum gi_status (*conclude)(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err);
};

/* The work on items. */
struct gi_work_on {
    void *self;
    /* The part that may run concurrently: called by many threads at once. An error belongs to the
     * item: it becomes item->line.status and item->line.err. */
    enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err);
    /* The part that runs one item at a time, for every item, also those that failed or pass; it may
     * make the item fail. The item is freed afterwards. An error ends the batch: nothing more is
     * delivered or taken. */
    enum gi_status (*deliver)(void *self, struct gi_item *item, struct gi_err *err);
    bool ordered; /* delivers in the feed's order; else in the order in which items are finished */
};

struct gi_engine_options {
    int threads;     /* number of threads that work on items, 1 or more */
    uint64_t memory; /* maximum bytes of images in progress (one image is always processed,
                        whatever its size); 0: gi_memory_share() */
    bool fail_fast;  /* ends after the first item that fails; in order, none after it is
                        delivered */
};

struct gi_engine;

enum gi_status gi_engine_new(struct gi_engine **engine, const struct gi_engine_options *options,
                             const struct gi_feed *feed, const struct gi_work_on *work,
                             struct gi_err *err);
/* Runs until the feed ends, a signal asks for the end (cli/run/stop.h), or an error ends it; items
 * in progress are then finished. An item that fails is logged and counted. Returns the error of
 * feed or deliver(); otherwise GI_OK, also if items failed. */
enum gi_status gi_engine_run(struct gi_engine *engine, struct gi_err *err);
void gi_engine_tally(struct gi_engine *engine, struct gi_tally *tally);
void gi_engine_free(struct gi_engine **engine);

/* Returns the maximum bytes of images in progress, from options.memory; never 0. */
uint64_t gi_engine_memory(const struct gi_engine *engine);

/* For feed and work: waits until `nbytes` more may be in progress for `item`, which holds them
 * until it is delivered. Only its first call may wait, and not that of the item that is delivered
 * next. */
void gi_engine_reserve(struct gi_item *item, uint64_t nbytes);

/* For deliver(): marks the item as failed, which the engine logs, and ends the batch. Returns the
 * item's status, or GI_E_AGAIN if the machine failed. */
enum gi_status gi_engine_end_by(const struct gi_item *item, struct gi_err *err);

#endif
