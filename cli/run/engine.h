/* The engine of a batch: it takes items from a feed, lets threads work on many of them at once, and
 * delivers them, as they are finished or in the feed's order. A thread keeps its item from
 * beginning to end, so that decoding, computing and encoding of different images overlap. The
 * engine does not know images: the work on an item is a table of functions (cli/run/imaging.h is
 * the usual one).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ENGINE_H
#define GI_CLI_RUN_ENGINE_H

#include "cli/run/item.h"

/* Where items come from. */
struct gi_feed {
    void *self;
    /* Fills the item that comes next, false in *more past the last. One thread at a time calls it,
     * and it may wait (for a pipe). After an error or the end it is not called again. */
    enum gi_status (*next)(void *self, struct gi_item *item, bool *more, struct gi_err *err);
    uint64_t n;       /* number of items; 0: unknown */
    uint64_t skipped; /* of these, that will not come: an earlier run did them */
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

/* Counts, and what a progress line shows; read under way by gi_engine_tally(). */
struct gi_tally {
    uint64_t n;                     /* number of items; 0: unknown */
    uint64_t done, failed, skipped; /* delivered */
    uint64_t machine; /* of those that failed: the machine failed, not the item (exit 75) */
    uint64_t input_nbytes, output_nbytes;
    double ms[GI_STAGES];
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
