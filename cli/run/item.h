/* One image of a batch, from its input to its output.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ITEM_H
#define GI_CLI_RUN_ITEM_H

#include <stdint.h>

#include "cli/report/line.h"

struct gi_engine;

struct gi_item {
    /* Set by the engine. */
    struct {
        struct gi_engine *engine;
        uint64_t index;    /* position in the feed's order, from 0 */
        uint64_t reserved; /* bytes reserved by gi_engine_reserve() */
    } turn;

    /* Set by the feed, in addition to the names in `line`. */
    struct {
        size_t place;       /* position in the list of inputs, from 0 */
        const char *format; /* format of the result, static; NULL: by options or the suffix of
                               the output */
        void *bytes; /* the encoded image in memory, malloc()ed and owned here; NULL: in the file
                        line.input */
        size_t nbytes;
        bool mark; /* neither an image nor a member: a message to deliver(), not counted as done */
        void *tag; /* data from the feed for deliver(); freed by `untag` if that is not NULL */
        void (*untag)(void *tag);
    } source;

    /* Set by the work: the encoded result, for deliver(); malloc()ed, owned here; NULL: in a
     * file. */
    struct {
        void *bytes;
        size_t nbytes;
    } made;

    /* For the report: names, sizes, times and outcome. Its names and parts are owned here, except
     * `beside` and `other`. If `pass` is set, nothing is computed, and the item goes to deliver()
     * unchanged. */
    struct gi_line line;
};

/* Makes an empty item; gi_item_free() frees and nulls it. NULL: out of memory. */
struct gi_item *gi_item_new(void);
void gi_item_free(struct gi_item **item);

/* Makes the item fail without work, because of its input (struct gi_input) or because the name of
 * its output is too long for any file. */
struct gi_input;
void gi_item_refuse(struct gi_item *item, const struct gi_input *input);

/* After a failure: if the folder of the item's output, which existed before the work began, is gone
 * (unmounted, removed), the machine failed and not the input. */
void gi_item_blame(struct gi_item *item);

/* Records size and time of the input, or of its bytes in memory, and of its further input. */
void gi_item_note_input(struct gi_item *item);
/* Records size and time of the output, or of its parts. */
void gi_item_note_output(struct gi_item *item);

#endif
