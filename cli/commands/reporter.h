/* The output of an analysis, which its command and a step of `gpuimg run` share.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_REPORTER_H
#define GI_CLI_COMMANDS_REPORTER_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/inputs/image_files.h"

/* A finished analysis. */
struct gi_findings {
    const void *params; /* parameters of the filter */
    const void *output; /* values of the reporter's options */
    const void *result; /* the filter's result, owned by the caller; must not be changed */
    const struct gi_image *image; /* the analysed image; if not wants_image(), only its shape */
    unsigned maxval;              /* gi_cli_maxval() of the image */
    const char *file;             /* name of the input for messages: a path */
    const char *to;               /* path of the table; "-" is standard output */
    int threads;                  /* for writing images */
    struct gi_bundle *bundle;     /* the bundle that all files belong to */
    struct gi_sink *table; /* not NULL: the table is written here and not to `to`, as CSV or JSON
                              (`json`), and nothing else is written */
    bool json;
};

struct gi_total;
struct gi_reporter {
    const struct gi_filter *filter;
    const struct gi_option *options; /* the set "Output" */
    size_t output_nbytes;
    /* Checks before any work that all outputs can be written, and that none replaces the file
     * `input`. Sets in the filter's `params` which parts of the result are needed. Errors:
     * GI_E_USAGE, GI_E_IO. */
    enum gi_status (*check)(const char *input, const char *to, const void *output, void *params,
                            struct gi_err *err);
    /* Returns whether write() reads the samples of the image. NULL: it never does. */
    bool (*wants_image)(const void *output);
    enum gi_status (*write)(const struct gi_findings *report, struct gi_err *err);
    /* For --total: whether `params` ask for a part of the table of many images that is for all of
     * them; adds the table of one image; makes that part (cli/commands/stats_total.h). NULL: the
     * analysis has none. */
    bool (*wants_total)(const void *params);
    enum gi_status (*add_total)(struct gi_total **total, const char *text, size_t nbytes, bool json,
                                struct gi_err *err);
    enum gi_status (*take_total)(struct gi_total **total, char **text, size_t *nbytes,
                                 struct gi_err *err);
    bool arrays; /* true: writes .npy or .pfm, which can't hold the table of many images */
};

/* Begin the text and the JSON of an analysis: name of the file, shape of the image, and `maxval` if
 * it is not the type's full scale. The text has no newline yet; the caller extends the object. */
void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval);
json_t *gi_report_json(const char *file, const struct gi_image *image, unsigned maxval);

/* The numbers of an analysis command's sets. Its first operand is the input, its second one the
 * path of the table. */
enum { GI_SET_FILTER, GI_SET_OUTPUT, GI_SET_INPUT, GI_SET_DEVICE };

/* The gi_command.run of analysis commands: loads, analyses and reports. */
enum gi_status gi_analysis_run(const struct gi_command *command, void *const *params,
                               char **operands, int noperands, struct gi_err *err);

#endif
