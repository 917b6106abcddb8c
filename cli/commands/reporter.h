/* Output of an analysis, shared by its command and by a step of `gpuimg run`.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_REPORTER_H
#define GI_CLI_COMMANDS_REPORTER_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/inputs/image_files.h"

/* A finished analysis. */
struct gi_findings {
    const void *params;           /* of the filter */
    const void *output;           /* of the reporter's options */
    const void *result;           /* the filter's; owned by the caller, may be changed no more */
    const struct gi_image *image; /* what was analysed; its shape only unless wants_image() */
    unsigned maxval;              /* gi_cli_maxval() of it */
    const char *file;             /* where that came from: a path, for people */
    const char *to;               /* the path of the table; "-": standard output */
    int threads;                  /* for writing images */
    struct gi_bundle *bundle;     /* that everything it writes belongs to */
    struct gi_sink *table;        /* the table goes here, as CSV or `json`, and not to `to`, nor
                                     anything else anywhere; NULL: as the options say */
    bool json;
};

struct gi_reporter {
    const struct gi_filter *filter;
    const struct gi_option *options; /* the set "Output" */
    size_t output_nbytes;
    /* Before any work: whether everything can go where it is to go, which is not the file `input`;
     * notes in `params`, the filter's, which parts of the result are wanted. Errors: GI_E_USAGE,
     * GI_E_IO. */
    enum gi_status (*check)(const char *input, const char *to, const void *output, void *params,
                            struct gi_err *err);
    /* Whether write() looks at the samples of the image. NULL: never. */
    bool (*wants_image)(const void *output);
    enum gi_status (*write)(const struct gi_findings *report, struct gi_err *err);
    bool arrays; /* it writes .npy or .pfm, which no table of many images can hold; else tables */
};

/* What begins the text and the JSON of an analysis: the file, the image's shape and, where `maxval`
 * is not its type's full scale, both. Without a newline; an object for the caller to go on with. */
void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval);
json_t *gi_report_json(const char *file, const struct gi_image *image, unsigned maxval);

/* The sets of a command of an analysis, in this order; its first operand is the input, its second
 * where the table goes. */
enum { GI_SET_FILTER, GI_SET_OUTPUT, GI_SET_INPUT, GI_SET_DEVICE };

/* gi_command.run of such a command: loads, analyses and reports. */
enum gi_status gi_analysis_run(const struct gi_command *command, void *const *params,
                               char **operands, int noperands, struct gi_err *err);

#endif
