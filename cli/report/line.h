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

/* The result of an input. Whoever fills in the names owns them. */
struct gi_line {
    char *input;           /* path, or name of a member or frame; messages use it too */
    char *output;          /* path of the result; NULL: none, or the result is in a table */
    const char *beside;    /* further input for this input; NULL: none */
    const char *other;     /* the image that it is compared with; NULL: none */
    bool pass;             /* not an image */
    struct gi_image shape; /* shape of the input, without samples; width 0: unknown */
    uint64_t input_nbytes, output_nbytes, beside_nbytes;
    int64_t input_mtime_ns, output_mtime_ns, beside_mtime_ns;
    double ms[GI_STAGES];
    size_t inputs; /* number of inputs, if it was made from several; otherwise 0 */
    bool in_parts; /* there are several results, all or none, and `output` is their common name */
    struct gi_line_part *parts; /* freed by gi_line_free_parts() */
    size_t nparts;

    /* The outcome. The text of `err` is "" if it was logged already; with GI_OK it says how a pair
     * differs. */
    enum gi_status status;
    struct gi_err err;
};

/* Records one of several results. gi_line_note_output() will add its size and time. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_line_add_part(struct gi_line *line, const char *path, struct gi_err *err);
void gi_line_free_parts(struct gi_line *line);

/* Record sizes and times: the first one of `input` and `beside`, the second one of `output` or of
 * all parts. */
void gi_line_note_input(struct gi_line *line);
void gi_line_note_output(struct gi_line *line);

/* Adds the times of a part to the line of the whole, and the part's error if it failed. */
void gi_line_add(struct gi_line *whole, const struct gi_line *part);

/* Returns the time at which the file was last written, in nanoseconds since 1970. */
int64_t gi_mtime_ns(const struct stat *st);

#endif
