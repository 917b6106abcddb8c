/* The engine of a batch: it takes items from a feed, lets threads work on many of them at once, and
 * delivers them, as they are finished or in the feed's order. A thread keeps its item from
 * beginning to end, so that decoding, computing and encoding of different images overlap. The
 * engine does not know images: the work on an item is a table of functions (cli/run/imaging.h is
 * the usual one).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ENGINE_H
#define GI_CLI_RUN_ENGINE_H

#include "cli/run/item.h"

/* Counts, and what a progress line shows; read under way by gi_engine_tally(). */
struct gi_tally {
    uint64_t n;                     /* number of items; 0: unknown */
    uint64_t done, failed, skipped; /* delivered */
    uint64_t machine; /* of those that failed: the machine failed, not the item (exit 75) */
    uint64_t input_nbytes, output_nbytes;
    double ms[GI_STAGES];
};

struct gi_batch_job;
struct gi_feed {
    const struct gi_feed_kind *kind;
    void *self;
    uint64_t n;       /* number of items; 0: unknown */
    uint64_t skipped; /* of these, that will not come: an earlier run did them */
    int items;        /* that make one of what the line of progress counts; 0: 1 */
};

/* Where items come from: one row a kind of input (cli/inputs/feed.h). */
struct gi_feed_kind {
    const char *unit;  /* what the line of progress counts, "frames"; NULL: "files" of "images" */
    const char *waits; /* for what, if neither CPUs nor devices are busy; NULL: "disk" */
    /* Fills the item that comes next, false in *more past the last. One thread at a time calls it,
     * and it may wait (for a pipe). After an error or the end it is not called again. */
    enum gi_status (*next)(void *self, struct gi_item *item, bool *more, struct gi_err *err);
    /* Opens the report, where --report asks for one. Errors: as gi_report_open(). */
    enum gi_status (*open_report)(void *self, const struct gi_batch_job *job, struct gi_err *err);
    /* Takes the item's image, which is decoded already. NULL: it is encoded. */
    enum gi_status (*take)(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_err *err);
    /* The names in the item's row of a table; `*tar` stays NULL where there is none. False: it has
     * no row, because it is no image. NULL: the item's own name. */
    bool (*row)(void *self, const struct gi_item *item, const char **tar, const char **file);
    /* For deliver(): the item's line in the report. */
    enum gi_status (*note)(void *self, struct gi_item *item, struct gi_err *err);
    /* What came of it, by the engine's status and counts, as the batch's own status. */
    enum gi_status (*conclude)(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err);
};

/* The work on items. */
struct gi_work_on {
    void *self;
    /* All that can be done beside others: many threads call it at once. An error is the item's:
     * it becomes item->line.status and item->line.err. */
    enum gi_status (*run)(void *self, struct gi_item *item, struct gi_err *err);
    /* The rest, for every item, also those that failed or pass: one thread at a time; may let the
     * item fail. It is freed afterwards. An error ends the batch: nothing more is delivered or
     * taken. */
    enum gi_status (*deliver)(void *self, struct gi_item *item, struct gi_err *err);
    bool ordered; /* deliver in the feed's order; else as they are finished */
};

struct gi_engine_options {
    int threads;     /* that work on items, 1 or more */
    uint64_t memory; /* bytes of images under way at most (one image goes through whatever its
                        size); 0: as many as gi_memory_share() says */
    bool fail_fast;  /* end after the first item that fails; in order none behind it is delivered */
};

struct gi_engine;

enum gi_status gi_engine_new(struct gi_engine **engine, const struct gi_engine_options *options,
                             const struct gi_feed *feed, const struct gi_work_on *work,
                             struct gi_err *err);
/* Runs until the feed ends, a signal asks for the end (cli/run/stop.h), or an error ends it; what
 * is under way then is finished. An item that fails is said on stderr and counted. Returns the
 * error of feed or deliver(); GI_OK otherwise, also where items failed. */
enum gi_status gi_engine_run(struct gi_engine *engine, struct gi_err *err);
void gi_engine_tally(struct gi_engine *engine, struct gi_tally *tally);
void gi_engine_free(struct gi_engine **engine);

/* Bytes of images under way at most, as options.memory has it; never 0. */
uint64_t gi_engine_memory(const struct gi_engine *engine);

/* For feed and work: waits until `nbytes` more of images may be under way for `item`, which has
 * them until it is delivered. Only its first call may wait, and not that of the item delivered
 * next. */
void gi_engine_reserve(struct gi_item *item, uint64_t nbytes);

/* For deliver(): the item failed, which the engine says, and the batch ends by it. Returns its
 * status, or GI_E_AGAIN where the machine failed. */
enum gi_status gi_engine_end_by(const struct gi_item *item, struct gi_err *err);

#endif
