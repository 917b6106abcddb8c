/* One image of a batch, from where it is read to where it goes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ITEM_H
#define GI_CLI_RUN_ITEM_H

#include <stdint.h>

#include "cli/report/line.h"

struct gi_engine;

struct gi_item {
    /* The engine's. */
    struct {
        struct gi_engine *engine;
        uint64_t index;    /* in the feed's order, from 0 */
        uint64_t reserved; /* bytes, by gi_engine_reserve() */
    } turn;

    /* The feed's, besides the names in `line`. */
    struct {
        size_t place;       /* in the list of inputs, from 0 */
        const char *format; /* of the result, static; NULL: by options or the suffix of the output
                             */
        void *bytes; /* the encoded image in memory, malloc()ed and owned here; NULL: in the file
                        line.input */
        size_t nbytes;
        bool mark; /* is no member or frame, but says something to deliver(): not counted as done */
        void *tag; /* the feed's own word to deliver(); freed by `untag` where that is not NULL */
        void (*untag)(void *tag);
    } source;

    /* The work's: the encoded result, for deliver(); malloc()ed, owned here; NULL: in a file. */
    struct {
        void *bytes;
        size_t nbytes;
    } made;

    /* The report's: names, sizes, times and how it went. Its names and parts are owned here, except
     * `beside` and `other`. If it passes, nothing is computed, and it goes to deliver() as it is.
     */
    struct gi_line line;
};

/* An item with nothing in it; freed by gi_item_free(), which nulls. NULL: out of memory. */
struct gi_item *gi_item_new(void);
void gi_item_free(struct gi_item **item);

/* Makes the item fail without work, as its input says (struct gi_input) or because the name of its
 * output is too long for any file. */
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
