/* Commands that make one image from several. The engine decodes several inputs at once, and the
 * command takes them in the order of the list. The report (--report) has a line per input, followed
 * by a line for the result.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/page_cursor.h"
#include "cli/report/report.h"
#include "cli/run/common_metadata.h"
#include "cli/run/imaging.h"

/* The rows of --report and --progress for such commands. */
#define GI_N_TO_ONE_OPTIONS(params, report_path, progress_flag)                                    \
    {GI_OPTION("report", PATH, params, report_path), .metavar = "FILE",                            \
     .help = "Write a report to this file, with a JSON object per line: the first line "           \
             "describes the command, then a line per input follows, and the last line "            \
             "describes the output"},                                                              \
    {                                                                                              \
        GI_OPTION("progress", FLAG, params, progress_flag),                                        \
            .help = "Print a line of progress every few seconds, even if standard error is no "    \
                    "terminal"                                                                     \
    }

/* What the command does. */
struct gi_n_to_one_work {
    const struct gi_command *command;
    void *const *params;
    const char *report; /* --report; NULL: none */
    const char *list;   /* file that names the inputs, which no output may replace; NULL: none */
    bool progress;
    bool counts_nodata; /* pixels without data count like others, which is warned of */
    bool hides_nodata;  /* take() gets images with alpha 0 where they have no data */
    bool bands;         /* take() gets images of several bands, which metadata->bands describes */
    bool first;         /* the result has all metadata of the first image, not only common ones */
    /* Maximum bytes of images in progress; 0 means the maximum of struct gi_engine_options. */
    uint64_t memory;
    /* Runs on each image while other images are decoded; NULL: none. */
    const struct gi_chain *chain;
    void *self; /* argument of the functions */
    /* Takes the next image. The image is freed afterwards, unless take() sets it to zero. take()
     * may change the metadata, of which those that all images share become those of the result. An
     * error makes the input fail. */
    enum gi_status (*take)(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err);
    /* Makes the result from all images; `made` is freed by the caller. */
    enum gi_status (*finish)(void *self, struct gi_image *made, struct gi_err *err);
};

/* A run of such a command. */
struct gi_n_to_one {
    const struct gi_n_to_one_work work; /* set by the command */
    struct gi_list list; /* the inputs, set by the command; freed by gi_n_to_one_close() */
    const char *output;  /* path of the result, set by the command */

    /* For take() and finish(). */
    const struct gi_io_params *io;
    int threads;                  /* of the CPU */
    size_t n;                     /* number of images; each page of a file counts as an image */
    size_t taken;                 /* number of images taken */
    struct gi_line *whole;        /* the line of the result */
    struct gi_imaging *computing; /* runs operations one at a time; NULL if there is a chain */
    struct gi_metadata metadata;  /* of the result: what the images so far have in common */

    /* Private. */
    struct gi_common_metadata common;
    struct gi_report lines;
    struct gi_imaging *decoding;
    /* The watch of `computing`; it shows nothing, because the engine shows progress. */
    struct gi_watch watch;
    struct gi_page_cursor cursor;
};

/* For take(): adapts the metadata to a result of which the image is a part. `map` is an affine map
 * of coordinates in the result to coordinates in the image, as for gi_geo_move(), or NULL. */
void gi_n_to_one_place(struct gi_metadata *metadata, const double map[6]);

/* For commands that need the number of images first. Takes the last operand as the output and the
 * others as inputs, all unchanged, and counts the images. Errors: GI_E_MEMORY. */
enum gi_status gi_n_to_one_list(struct gi_n_to_one *job, char **operands, int noperands,
                                struct gi_err *err);
/* Runs the command until the result is in its file. Errors: GI_E_USAGE before any work; as
 * gi_batch_run(). */
enum gi_status gi_n_to_one_run(struct gi_n_to_one *job, struct gi_err *err);
/* Closes the devices, as the last action of a command. Unless gi_cli_tears_down() they stay open
 * until the process ends. Images that take() has kept must have been freed. */
void gi_n_to_one_close(struct gi_n_to_one *job);
