/* gpuimg resize: resizes images, with --sizes to several sizes each from one decoding.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"
#include "cli/paths/names.h"
#include "imgio/joined.h"
#include "imgio/small.h"

#include <stdlib.h>
#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH, SIZES_MAX = 100 };

extern const struct gi_filter gi_filter_resize;

/* --sizes; NULL if it was not given. */
static const char **sizes_of(void *params)
{
    const struct gi_option *row = gi_option_find(gi_filter_resize.options, "sizes");
    return (const char **)((char *)params + row->offset);
}

/* The chains, one per size. */
struct sizes {
    struct gi_chain chains[SIZES_MAX];
    struct gi_chain_step steps[SIZES_MAX];
    int n;
};

static void sizes_free(struct sizes *sizes)
{
    for (int i = 0; i < sizes->n; i++)
        free(sizes->steps[i].args.params[GI_SET_STEP_FILTER]);
    free(sizes);
}

/* Adds the chain of the size `text` of `n` characters. */
static enum gi_status add_size(struct sizes *sizes, const char *text, size_t n, const void *params,
                               struct gi_err *err)
{
    const struct gi_filter *filter = &gi_filter_resize;
    bool width = n && strspn(text, "0123456789") >= n; /* 320 means 320x */
    char *size = gi_small_format("%.*s%s", (int)n, text, width ? "x" : "");
    void *own = gi_small_alloc(filter->params_nbytes);
    bool enlarge;
    memcpy(own, params, filter->params_nbytes);
    *sizes_of(own) = NULL;
    size_t at = gi_option_find(filter->options, "enlarge")->offset;
    memcpy(&enlarge, (char *)own + at, sizeof enlarge);
    memset((char *)own + at, 0, sizeof enlarge);
    struct gi_chain_step *step = &sizes->steps[sizes->n];
    *step = (struct gi_chain_step){.filter = filter};
    step->args.params[GI_SET_STEP_FILTER] = own;
    sizes->chains[sizes->n++] = (struct gi_chain){.steps = step, .n = 1};
    char want[160];
    const struct gi_option *row = gi_option_find(filter->options, "size");
    enum gi_status status = gi_option_read(own, row, size, NULL);
    free(size);
    if (status)
        return gi_fail(err, status, "--sizes %.*s: want a width, %s", (int)n, text,
                       gi_option_want(row, want, sizeof want));
    if (!enlarge)
        status = gi_option_set(own, filter->options, "no-enlarge", NULL, err);
    if (!status)
        status = filter->check(own, err);
    return status ? gi_err_prefix(err, "--sizes") : GI_OK;
}

static enum gi_status read_sizes(struct sizes *sizes, const char *text, const void *params,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (const char *at = text; at && !status;) {
        const char *end = strchrnul(at, ',');
        status = sizes->n < SIZES_MAX
                     ? add_size(sizes, at, (size_t)(end - at), params, err)
                     : gi_fail(err, GI_E_USAGE, "--sizes: want at most %d sizes", SIZES_MAX);
        at = *end ? end + 1 : NULL;
    }
    return status;
}

/* Checks that the name of the output tells the sizes apart, and chooses one if there is none. */
static enum gi_status check_output(struct gi_batch_params *batch, const struct gi_io_params *io,
                                   char *const *operands, int noperands, struct gi_err *err)
{
    bool many = gi_batch_is_wanted(batch);
    if (batch->tar)
        return gi_fail(err, GI_E_USAGE, "--sizes: not of tars: want files and --out");
    if (many && !batch->out)
        batch->out = "{tree}/{stem}-{width}.{ext}";
    const char *output = many ? batch->out : noperands > 1 ? operands[1] : NULL;
    if (gi_naming_is_per_size(output) ||
        (output && gi_joins(gi_save_format(output, io->format), GI_JOIN_SIZES)))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE,
                   "--sizes: want {width} or {height} in the name of the output, as in --out "
                   "'{stem}-{width}.webp', or an ICO, which holds all sizes");
}

static enum gi_status run_sizes(const struct gi_command *command, void *const *params,
                                char **operands, int noperands, struct gi_err *err)
{
    struct gi_batch_params batch = *(const struct gi_batch_params *)params[SET_BATCH];
    struct sizes *sizes = gi_small_calloc(1, sizeof *sizes);
    void *own[GI_OPTION_SETS_MAX];
    memcpy(own, params, sizeof own);
    own[SET_BATCH] = &batch;
    enum gi_status status =
        read_sizes(sizes, *sizes_of(params[SET_FILTER]), params[SET_FILTER], err);
    if (!status)
        status = check_output(&batch, params[SET_IO], operands, noperands, err);
    const struct gi_batch_job job = {
        .command = command, .params = own, .chain = sizes->chains, .nchains = sizes->n};
    if (!status)
        status = gi_drive(&job, operands, noperands, err);
    sizes_free(sizes);
    return status;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    return *sizes_of(params[SET_FILTER])
               ? run_sizes(self, params, operands, noperands, err)
               : gi_command_filter.run(self, params, operands, noperands, err);
}

const struct gi_command gi_command_resize = {
    .name = "resize",
    .operands = "INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_resize,
    .run = run,
};
