/* One image of a batch, from its input to its output.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ITEM_H
#define GI_CLI_RUN_ITEM_H

#include <stdint.h>

#include "cli/report/line.h"

struct gi_engine;
struct gi_pages; /* imgio/pages.h */

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
        const char *format; /* constant name of the result's format; NULL: from options or the
                               output's suffix */
        void *bytes; /* malloc()ed encoded image, owned here; NULL: it is in the file line.input */
        size_t nbytes;
        struct gi_pages *pages; /* the file that has the image as its page `page`, from 0 of those
                                   selected; owned here; NULL: see `bytes` */
        int page;
        bool together; /* the pages become those of another file */
        bool mark; /* neither an image nor a member, but a message to deliver(); not counted as done
                    */
        void *tag; /* data of the feed for deliver(), which `untag` frees if that is not NULL */
        void (*untag)(void *tag);
    } source;

    /* Set by the work: the encoded result for deliver(), malloc()ed and owned here. NULL: it is in
     * a file. */
    struct {
        void *bytes;
        size_t nbytes;
    } made;

    /* For the report: names, sizes, times and outcome. Names and parts are owned here, except
     * `beside` and `other`. If `pass` is set, nothing is computed, and deliver() gets the item
     * unchanged. */
    struct gi_line line;
};

/* Makes an empty item. gi_item_free() frees it and sets *item to NULL. NULL: out of memory. */
struct gi_item *gi_item_new(void);
void gi_item_free(struct gi_item **item);

/* Makes the item fail without any work, because of its input (struct gi_input), or because its
 * output's name is too long for any file. */
struct gi_input;
void gi_item_refuse(struct gi_item *item, const struct gi_input *input);

/* To be called for an item that failed. The folder of its output existed before the work began: if
 * it is gone now (unmounted, removed), the machine failed and not the input. */
void gi_item_blame(struct gi_item *item);

/* Returns whether the item failed because there is no space left, so that all later items would
 * fail too. Its message, which ends in the system's text, is all that tells. */
bool gi_item_met_full_disk(const struct gi_item *item);

/* Records size and time of the input (or of its bytes in memory), and of its further input. */
void gi_item_note_input(struct gi_item *item);
/* Records size and time of the output, or of its parts. */
void gi_item_note_output(struct gi_item *item);

#endif
