/* The engine of a batch. It takes items from a feed, lets threads work on many of them at once, and
 * delivers them, in the feed's order or in that in which they are finished. A thread keeps its item
 * from beginning to end, so that decoding, computing and encoding of different images overlap. The
 * engine does not know images: the work on an item is a table of functions (usually that of
 * cli/run/imaging.h).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ENGINE_H
#define GI_CLI_RUN_ENGINE_H

#include "cli/run/item.h"

/* What a batch has done so far, for its end and for progress lines. Any thread may get it during a
 * run by gi_engine_tally(). */
struct gi_tally {
    uint64_t n;                     /* number of items; 0: unknown */
    uint64_t done, failed, skipped; /* delivered so far */
    uint64_t machine;               /* failed items for which the machine is to blame (exit 75) */
    uint64_t input_nbytes, output_nbytes;
    double ms[GI_STAGES];
};

struct gi_batch_job;
struct gi_feed {
    const struct gi_feed_kind *kind;
    void *self;
    uint64_t n;       /* number of items; 0: unknown */
    uint64_t skipped; /* items that will not come, because an earlier run finished them */
    int items;        /* items per unit in the progress line (planes per frame); 0: 1 */
    bool single;      /* yields one item: no other is asked for */
};

/* A kind of feed: a source of items (cli/inputs/feed.h). */
struct gi_feed_kind {
    const char *unit;  /* what the progress line counts: "frames"; NULL: "files" or "images" */
    const char *waits; /* shown as the reason if CPUs and devices are idle; NULL: "disk" */
    /* Fills in the next item, or sets *more to false past the last one. Called by one thread at a
     * time. It may wait, for a pipe. It is not called again after an error or the end. */
    enum gi_status (*next)(void *self, struct gi_item *item, bool *more, struct gi_err *err);
    /* Opens the report if --report asks for one. Errors: as gi_report_open(). */
    enum gi_status (*open_report)(void *self, const struct gi_batch_job *job, struct gi_err *err);
    /* Takes an image that the feed has decoded already out of the item. NULL: items are encoded
     * images. */
    enum gi_status (*take)(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_err *err);
    /* Sets the names in the item's row of a table; *tar stays NULL if it is in no tar. Returns
     * false if the item has no row, because it is not an image. NULL: the item's own name is
     * used. */
    bool (*row)(void *self, const struct gi_item *item, const char **tar, const char **file);
    /* For deliver(): writes the item's line in the report. */
    enum gi_status (*note)(void *self, struct gi_item *item, struct gi_err *err);
    /* Returns the status of the batch, from the engine's status and its tally. */
    enum gi_status (*conclude)(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err);
};

/* The work on items. */
struct gi_work_on {
    void *self;
    /* The part of the work that many threads may do at once. An error belongs to the item: it is
     * stored in item->line.status and item->line.err. */
    enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err);
    /* The part that is done for one item at a time, and for every item, also if it failed or is
     * passed on. It may make the item fail. The item is freed afterwards. An error of this function
     * ends the batch: nothing more is delivered or taken. */
    enum gi_status (*deliver)(void *self, struct gi_item *item, struct gi_err *err);
    bool ordered; /* delivers in the feed's order; false: items as they are finished */
};

struct gi_engine_options {
    int threads;     /* number of threads that work on items, 1 or more */
    uint64_t memory; /* maximum bytes of images in progress, except that one image of any size may
                        be processed; 0: gi_memory_share() */
    bool fail_fast;  /* ends after the first failed item; with ordered delivery nothing after it is
                        delivered */
};

struct gi_engine;

enum gi_status gi_engine_new(struct gi_engine **engine, const struct gi_engine_options *options,
                             const struct gi_feed *feed, const struct gi_work_on *work,
                             struct gi_err *err);
/* Runs until the feed ends, a signal asks for the end (cli/run/stop.h), or an error ends it. Items
 * in progress are still finished. A full disk ends it too, because all later items would fail. An
 * item that fails is logged and counted. Returns the error of the feed or of deliver(), otherwise
 * GI_OK, even if items failed. */
enum gi_status gi_engine_run(struct gi_engine *engine, struct gi_err *err);
void gi_engine_tally(struct gi_engine *engine, struct gi_tally *tally);
void gi_engine_free(struct gi_engine **engine);

/* Returns the maximum bytes of images in progress, from options.memory; never 0. */
uint64_t gi_engine_memory(const struct gi_engine *engine);

/* For feeds and work: waits until `nbytes` more may be in progress, and reserves them for `item`
 * until its delivery. Only an item's first call may wait, and never that of the item that is
 * delivered next. */
void gi_engine_reserve(struct gi_item *item, uint64_t nbytes);

/* For deliver(): ends the batch because of an item that failed, which the engine logs. Returns the
 * item's status, or GI_E_AGAIN if the machine failed. */
enum gi_status gi_engine_end_by(const struct gi_item *item, struct gi_err *err);

#endif
