/* The members of tars as items of a batch.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "cli/args/image_files.h"
#include "cli/paths/input_list.h"
#include "cli/run/engine.h"
#include "imgio/tar/tar.h"

/* The kind of an item, stored in its tag. */
enum gi_tar_kind {
    GI_TAR_MEMBER, /* an image to process, or other bytes to write unchanged (item->line.pass) */
    GI_TAR_COPY,   /* a long member that is not an image; at its delivery gi_tar_feed_copy() copies
                      the bytes */
    GI_TAR_END,    /* not a member: the end of the shard */
    /* The end of a shard that can't be read further; item->line.err has the reason. */
    GI_TAR_BROKEN,
    GI_TAR_SENT, /* not a member: the end of the command that reads the output of a shard */
};

struct gi_tar_feed;

struct gi_tar_tag {
    enum gi_tar_kind kind;
    size_t shard;               /* number of the input, from 0 */
    struct gi_tar_entry *entry; /* owned here; NULL at ends */
    const char *name; /* the member's name before --suffix changed it; part of item->line.input */
    uint64_t nbytes;  /* at ends: size of the tar's file when it was opened; 0: unknown */
    int64_t mtime_ns; /* at ends: its time, in the same way */
    struct gi_tar_feed *feed;
    /* The member's bytes, if the thread that works on the item shall read them; otherwise NULL. */
    struct gi_tar_range *range;
    bool written;         /* at ends, set by the target: the output is complete and in its place */
    bool later;           /* at ends, set by the target: the GI_TAR_SENT of the shard tells that */
    uint64_t sent_nbytes; /* at ends, set by the target: size of the tar if a command has read it */
    bool cut;             /* set by the target: the tar ends within this copy */
};

struct gi_tar_feed_options {
    /* "-" is standard input, and "pipe:COMMAND" the output of a command (cli/shell.h). */
    const struct gi_input *inputs;
    size_t ninputs;
    /* Returns whether a shard is left out. NULL: none is. */
    bool (*skip)(void *arg, size_t shard);
    void *arg;
    const struct gi_io_params *io;
    struct gi_rules *rules; /* by the names of members; one that is not chosen is no image */
    /* Set by another thread once no more items are wanted. Commands are then ended. */
    const atomic_bool *cancelled;
    /* Another feed uses the same temporary space: no command runs ahead before a size is known. Its
     * items may wait for those of the other feed before their work, in any number. */
    bool paired;
    /* --suffix, which gives images their format; NULL: they keep their format. */
    const char *suffix;
};

/* Returns the name that messages use for the tar at `path`. */
const char *gi_tar_feed_name(const char *path);

/* Makes a feed. The options must outlive it. */
struct gi_tar_feed *gi_tar_feed_new(const struct gi_tar_feed_options *options);
void gi_tar_feed_free(struct gi_tar_feed **feed);

/* Ends the reading of a shard, unless the feed has come to its end already. */
void gi_tar_feed_leave(struct gi_tar_feed *feed, size_t shard);

/* Turns the item into the GI_TAR_SENT of the shard that ended with the tag `end`. */
void gi_tar_feed_sent(struct gi_tar_feed *feed, struct gi_item *item, const struct gi_tar_tag *end);

/* As gi_source_kind.next, with `self` a gi_tar_feed. */
enum gi_status gi_tar_feed_next(void *feed, struct gi_item *item, bool *more, struct gi_err *err);

/* Writes the bytes of a GI_TAR_COPY. The feed waits until this is done. If the tar ends within the
 * member, sets *whole to false; the next item will be a GI_TAR_BROKEN. Errors: the writer's. */
enum gi_status gi_tar_feed_copy(const struct gi_tar_tag *tag, struct gi_tar_writer *writer,
                                bool *whole, struct gi_err *err);
