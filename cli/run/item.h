/* One image of a batch, from where it is read to where it goes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_ITEM_H
#define GI_CLI_RUN_ITEM_H

#include <stdint.h>
#include <sys/stat.h>

#include "imgio/imgio.h"

struct gi_engine;

/* One of several results of an input. */
struct gi_item_part {
    char *path;
    uint64_t nbytes;
    int64_t mtime_ns;
};

enum gi_stage {
    GI_STAGE_DECODE,
    GI_STAGE_UPLOAD,
    GI_STAGE_KERNELS,
    GI_STAGE_DOWNLOAD,
    GI_STAGE_ENCODE,
    GI_STAGES
};
extern const char *const gi_stage_names[GI_STAGES];

struct gi_item {
    /* The engine's. */
    struct gi_engine *engine;
    uint64_t index;    /* place in the feed's order, from 0 */
    uint64_t reserved; /* bytes, by gi_engine_reserve() */

    /* The feed's. */
    char *input;        /* a path, or the name of a member or frame, for messages too; owned here */
    char *output;       /* the path that its result goes to; owned here; NULL: the work knows */
    size_t place;       /* in the list of inputs, from 0 */
    const char *beside; /* a further input that goes with it; NULL: none */
    const char *other;  /* with which it is compared, for the report; NULL: none */
    const char *format; /* of the result, static; NULL: by options or the suffix of `output` */
    void *bytes; /* the encoded image in memory, malloc()ed and owned here; NULL: the file `input`
                  */
    size_t nbytes;
    bool pass; /* is no image: nothing is computed, it goes to deliver() as it is */
    bool mark; /* is no member or frame either, but says something to deliver(): not counted as done
                */
    void *tag; /* the feed's own word to deliver(); freed by `untag` where that is not NULL */
    void (*untag)(void *tag);

    /* What the work finds and makes. */
    struct gi_image shape; /* of the input; width 0: it was never known. No samples */
    uint64_t input_nbytes, output_nbytes;
    int64_t input_mtime_ns, output_mtime_ns;
    uint64_t beside_nbytes;
    int64_t beside_mtime_ns;
    double ms[GI_STAGES];
    void *made; /* the encoded result, for deliver(); malloc()ed, owned here; NULL: in a file */
    size_t made_nbytes;
    size_t inputs; /* it is a result of several, and has none itself; 0: it has one */
    bool in_parts; /* it has several results, all or none, and `output` is a name for them all */
    struct gi_item_part *parts; /* owned here */
    size_t nparts;

    /* How it went. The text is "" where it was already said; with GI_OK it says how a pair differs.
     */
    enum gi_status status;
    struct gi_err err;
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

/* Records one of several results, owned elsewhere; gi_item_note_output() adds its size and time.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_item_add_part(struct gi_item *item, const char *path, struct gi_err *err);

/* Record size and time of files: of the input (or of its bytes in memory) and its further input,
 * and of the output, or of its parts. */
void gi_item_note_input(struct gi_item *item);
void gi_item_note_output(struct gi_item *item);

/* When the file was last written, nanoseconds since 1970. */
int64_t gi_mtime_ns(const struct stat *st);

#endif
