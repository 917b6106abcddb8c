/* A line of a report: the result of one input.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "imgio/imgio.h"

/* Size of a file, and the time when it was last written. */
struct gi_line_file {
    uint64_t nbytes;
    int64_t mtime_ns;
    bool piped; /* not a file but what a command wrote or read (cli/shell.h), without a time */
};

/* One of several results of an input. */
struct gi_line_part {
    char *path;
    struct gi_line_file file;
};

/* Where the image of an input is in the result. Width 0: unknown. */
struct gi_line_place {
    int x, y; /* of its upper left pixel */
    int width, height;
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

/* The result of an input. Whoever fills in the names owns them. */
struct gi_line {
    /* Path of the input, or name of a member or frame; messages use it too. */
    char *input;
    char *output; /* path of the result; NULL if there is none, or it is in a table */
    /* The further input for this input, and its path; NULL: none. */
    struct {
        const char *path;
        struct gi_line_file file;
    } beside;
    const char *other;     /* the image with which the input is compared; NULL: none */
    bool pass;             /* not an image */
    struct gi_image shape; /* shape of the input, without samples; width 0: unknown */
    struct gi_line_file input_file, output_file;
    struct gi_line_place place;
    double ms[GI_STAGES];
    size_t inputs; /* number of inputs from which the result was made, if several; otherwise 0 */
    /* There are several results, of which either all or none exist, and `output` is their common
     * name. */
    bool in_parts;
    struct gi_line_part *parts; /* freed by gi_line_free_parts() */
    size_t nparts;

    /* The outcome. The text of `err` is "" if the error has already been logged. If `status` is
     * GI_OK, the text says how the images of a pair differ. */
    enum gi_status status;
    struct gi_err err;
};

/* Records one of several results. gi_line_note_output() will add its size and time. */
void gi_line_add_part(struct gi_line *line, const char *path);
void gi_line_free_parts(struct gi_line *line);

/* gi_line_note_input() records the sizes and times of `input` and `beside`. gi_line_note_output()
 * records those of `output`, or of all parts. */
void gi_line_note_input(struct gi_line *line);
void gi_line_note_output(struct gi_line *line);

/* Adds the times of a part to the line of the whole. If the part failed, also adds the error of the
 * part. */
void gi_line_add(struct gi_line *whole, const struct gi_line *part);

/* Returns the time at which the file was last written, in nanoseconds since 1970. */
int64_t gi_mtime_ns(const struct stat *st);
