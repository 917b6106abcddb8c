/* One image of a batch, from its input to its output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "cli/report/line.h"
#include "imgio/imgio.h"

struct gi_engine;
struct gi_pages; /* imgio/pages.h */

struct gi_item {
    /* Set by the engine. */
    struct {
        struct gi_engine *engine;
        uint64_t index;    /* position in the source's order, from 0 */
        uint64_t reserved; /* bytes reserved by gi_engine_reserve() */
    } turn;

    /* Set by the source, in addition to the names in `line`. */
    struct {
        size_t place;    /* position in the list of inputs, from 0 */
        uint64_t number; /* as `place`, but in a tar or a stream the position among its images */
        int rule;        /* which chain processes the image (cli/args/rules.h) */
        int variant;     /* which of the chains of a job with several, from 0 */
        /* The name of the format of the result, a constant. If it is NULL, the options or the
         * suffix of the output determine the format. */
        const char *format;
        /* The encoded image, malloc()ed and owned here. NULL if the image is in the file
         * line.input. */
        void *bytes;
        size_t nbytes;
        /* If this is not NULL, the thread that works on the item, or passes it on, first calls it
         * to set `bytes`. An error makes the item fail. */
        enum gi_status (*fetch)(struct gi_item *item, struct gi_err *err);
        /* If this is not NULL, the image is a page of this file, which is owned here. `page` counts
         * from 0 among the selected pages. If it is NULL, see `bytes`. */
        struct gi_pages *pages;
        int page;
        bool takes_bands; /* gi_imaging_load() may load an image of bands */
        /* Pixels without data count like others, so that gi_imaging_load() warns of them. */
        bool counts_nodata;
        bool hides_nodata; /* gi_imaging_load() hides them (imgio/nodata.h) */
        bool warned;       /* bands were tried: gi_imaging_load() prints no warnings again */
        bool together;     /* the pages become those of another file */
        /* The item is neither an image nor a member, but a message to the target. It does not count
         * as done. */
        bool mark;
        size_t member; /* where the name of a member of a tar begins in line.input */
        void *tag; /* data of the source for the target, which `untag` frees if that is not NULL */
        void (*untag)(void *tag);
    } source;

    /* The encoded result for the target, set by the work. It is malloc()ed and owned here. `bytes`
     * is NULL if the result is in a file. */
    struct {
        void *bytes;
        size_t nbytes;
        /* of --total (cli/args/reporter.h), or of compare's --html, malloc()ed and owned here, or
         * NULL */
        void *part;
        struct gi_timing timing; /* of the image, if it is a frame */
        /* Set during the delivery: no later item is delivered, because this one is missing. */
        bool last;
    } made;

    /* Items of the other images that the work has found in the input, each with the next one here;
     * owned here. They are delivered after this item, in this order. */
    struct gi_item *rest;

    /* The names, sizes, times and outcome, for the report. Names and parts are owned here, except
     * `beside` and `other`. If `pass` is set, nothing is computed, and the target gets the item
     * unchanged. */
    struct gi_line line;
};

/* Makes an empty item. gi_item_free() frees it with item->rest, and sets *item to NULL. */
struct gi_item *gi_item_new(void);
void gi_item_free(struct gi_item **item);

/* Returns the name that decides random choices (filters/random.h): the input without its tar. */
const char *gi_item_own_name(const struct gi_item *item);

/* Makes the item fail without any work: with the error input->why, or because the name of its
 * output is too long for any file. */
struct gi_input;
void gi_item_refuse(struct gi_item *item, const struct gi_input *input);

/* To be called for an item that failed. The folder of its output existed before the work began. If
 * this folder is gone now (unmounted, removed), the machine failed and not the input. */
void gi_item_blame(struct gi_item *item);

/* Returns whether the item failed because there is no space left, so that all later items would
 * fail too. Only the end of the item's message tells, which is the text of the system's error. */
bool gi_item_met_full_disk(const struct gi_item *item);

/* Records the size and time of the input, and of its further input. For an input in memory, records
 * only the number of its bytes in place of size and time. */
void gi_item_note_input(struct gi_item *item);
/* Records size and time of the output, or of its parts. */
void gi_item_note_output(struct gi_item *item);
