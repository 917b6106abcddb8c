/* A line of a report: the result of one input.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_LINE_H
#define GI_CLI_REPORT_LINE_H

#include <stdint.h>
#include <sys/stat.h>

#include "imgio/imgio.h"

/* One of several results of an input. */
struct gi_line_part {
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

/* The caller that fills it owns the names. */
struct gi_line {
    char *input;           /* a path, or the name of a member or frame; also for messages */
    char *output;          /* path of the result; NULL: none, or it is in a table */
    const char *beside;    /* a further input that belongs to it; NULL: none */
    const char *other;     /* the image with which it is compared; NULL: none */
    bool pass;             /* not an image */
    struct gi_image shape; /* of the input; width 0: unknown. Without samples */
    uint64_t input_nbytes, output_nbytes, beside_nbytes;
    int64_t input_mtime_ns, output_mtime_ns, beside_mtime_ns;
    double ms[GI_STAGES];
    size_t inputs; /* number of inputs of which it is the result, without one of its own; 0: it
                      has one */
    bool in_parts; /* it has several results, all or none, and `output` names them together */
    struct gi_line_part *parts; /* freed by gi_line_free_parts() */
    size_t nparts;

    /* The outcome. The text is "" if it was logged already; with GI_OK it describes the difference
     * of a pair. */
    enum gi_status status;
    struct gi_err err;
};

/* Records one of several results; gi_line_note_output() adds its size and time. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_line_add_part(struct gi_line *line, const char *path, struct gi_err *err);
void gi_line_free_parts(struct gi_line *line);

/* Record size and time of the files `input` and `beside`, and of `output` or the parts. */
void gi_line_note_input(struct gi_line *line);
void gi_line_note_output(struct gi_line *line);

/* Adds the times of a part, and its error if it failed, to the line of the whole. */
void gi_line_add(struct gi_line *whole, const struct gi_line *part);

/* Returns when the file was last written, in nanoseconds since 1970. */
int64_t gi_mtime_ns(const struct stat *st);

#endif
