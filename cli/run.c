/* gpuimg run: a chain of operations on one image, which stays on its device between them.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/chain.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/runner.h"

enum { SET_CHAIN, SET_IO, SET_DEVICE };
enum { SET_STEP_FILTER, SET_STEP_OUTPUT };

struct run_params {
    const char *file; /* its content; NULL: the chain is an operand */
};

static const struct gi_option options[] = {
    {.name = "file",
     .letter = 'f',
     .type = GI_OPT_CONTENT,
     .offset = offsetof(struct run_params, file),
     .metavar = "FILE",
     .help = "Read the chain from this file, in place of the first operand; # begins a comment"},
    {0},
};

/* A chain that is made ready: an entry a step in each. */
struct ready {
    const struct gi_chain *chain;
    struct gi_step *steps;
    struct gi_side *sides;
    struct gi_image *others, *inputs; /* second sources; first ones, or their shapes */
};

static void ready_free(struct ready *ready)
{
    for (int i = 0; ready->sides && ready->others && ready->inputs && i < ready->chain->n; i++) {
        const struct gi_filter *filter = ready->chain->steps[i].filter;
        if (ready->sides[i].result && filter->result_free)
            filter->result_free(ready->sides[i].result);
        free(ready->sides[i].result);
        gi_image_free(&ready->others[i]);
        gi_image_free(&ready->inputs[i]);
    }
    free(ready->steps);
    free(ready->sides);
    free(ready->others);
    free(ready->inputs);
}

/* What a step takes and gives beside the image. */
static enum gi_status ready_side(struct ready *ready, int i, const struct gi_io_params *io,
                                 struct gi_err *err)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    const struct gi_reporter *reporter = from->reporter;
    struct gi_side *side = &ready->sides[i];
    if (!reporter)
        return GI_OK;
    const void *output = from->args.params[SET_STEP_OUTPUT];
    side->result = calloc(1, from->filter->result_nbytes);
    if (!side->result)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a result");
    side->shape = &ready->inputs[i];
    if (reporter->wants_image && reporter->wants_image(output))
        side->tap = &ready->inputs[i];
    if (!reporter->other || !reporter->other(output))
        return GI_OK;
    side->others = ready->steps[i].others = &ready->others[i];
    ready->steps[i].nothers = 1;
    return reporter->load_other(&ready->others[i], output, NULL, io, err);
}

static enum gi_status ready_make(struct ready *ready, const struct gi_chain *chain,
                                 const struct gi_io_params *io, struct gi_err *err)
{
    size_t n = (size_t)chain->n;
    *ready = (struct ready){.chain = chain,
                            .steps = calloc(n, sizeof *ready->steps),
                            .sides = calloc(n, sizeof *ready->sides),
                            .others = calloc(n, sizeof *ready->others),
                            .inputs = calloc(n, sizeof *ready->inputs)};
    if (!ready->steps || !ready->sides || !ready->others || !ready->inputs)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a chain");
    enum gi_status status = GI_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        const struct gi_chain_step *from = &chain->steps[i];
        ready->steps[i] =
            (struct gi_step){.filter = from->filter, .params = from->args.params[SET_STEP_FILTER]};
        status = ready_side(ready, i, io, err);
        if (status)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    return status;
}

static enum gi_status write_reports(const struct ready *ready, struct gi_runner *runner,
                                    const char *input, unsigned maxval, int threads,
                                    struct gi_bundle *bundle, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = GI_OK;
    for (int i = 0; i < ready->chain->n && !status; i++) {
        const struct gi_chain_step *from = &ready->chain->steps[i];
        if (!from->reporter)
            continue;
        struct gi_report report = {.params = from->args.params[SET_STEP_FILTER],
                                   .output = from->args.params[SET_STEP_OUTPUT],
                                   .result = ready->sides[i].result,
                                   .image = &ready->inputs[i],
                                   .maxval = i ? (unsigned)gi_type_full_scale(ready->inputs[i].type)
                                               : maxval,
                                   .file = input,
                                   .to = from->to,
                                   .threads = threads,
                                   .bundle = bundle};
        status = from->reporter->write(&report, err);
        if (status)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    gi_runner_note(runner, "report", gi_now_ms() - start);
    return status;
}

static enum gi_status encode(const struct gi_image *image, const struct gi_metadata *metadata,
                             struct gi_runner *runner, const char *path,
                             const struct gi_io_params *io, int threads, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = gi_cli_save(image, metadata, path, io, threads, err);
    gi_runner_note(runner, "encode", gi_now_ms() - start);
    return status;
}

/* `path` NULL: nothing but the reports is wanted. */
static enum gi_status run_ready(struct ready *ready, struct gi_runner *runner, const char *input,
                                const char *path, void *const *params, struct gi_err *err)
{
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    int threads = gi_thread_count(((const struct gi_device_params *)params[SET_DEVICE])->threads);
    int n = ready->chain->n;
    struct gi_image src, dst = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    enum gi_status status =
        gi_runner_load(runner, &src, &metadata, &info, input, &io, ready->steps, n, err);
    if (status)
        return status;
    status = gi_runner_run(runner, path ? &dst : NULL, &src, ready->steps, n, ready->sides, err);
    gi_image_free(&src);
    if (!status)
        status = gi_bundle_new(&io.bundle, err);
    if (!status)
        status = write_reports(ready, runner, input, gi_cli_maxval(&src, &info, &io), threads,
                               io.bundle, err);
    if (!status && path)
        status = gi_cli_check_way(input, path, &io, &info, err);
    if (!status && path)
        status = encode(&dst, &metadata, runner, path, &io, threads, err);
    if (!status)
        status = gi_bundle_commit(&io.bundle, err);
    gi_bundle_abandon(&io.bundle);
    gi_image_free(&dst);
    gi_metadata_free(&metadata);
    return status;
}

/* Everything that a step writes can be written. */
static enum gi_status check_steps(const struct gi_chain *chain, const char *input,
                                  struct gi_err *err)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        void *const *params = step->args.params;
        if (step->reporter && step->reporter->check(input, step->to, params[SET_STEP_OUTPUT],
                                                    params[SET_STEP_FILTER], err))
            return gi_err_prefix(err, "step %d, %s", i + 1, step->filter->name);
    }
    return GI_OK;
}

/* A file that the chain writes. */
struct place {
    int step;           /* from 0; that of the image is past the last */
    const char *option; /* that names it; NULL: the table, or the image */
    const char *path;
};

/* Files of step i, all but its table: paths in its output options that are not read. Fills places
 * where that is not NULL. Returns how many. */
static int option_places(struct place *places, const struct gi_chain *chain, int i)
{
    const struct gi_reporter *reporter = chain->steps[i].reporter;
    const char *output = chain->steps[i].args.params[SET_STEP_OUTPUT];
    const char *other = reporter->other ? reporter->other(output) : NULL;
    int n = 0;
    for (const struct gi_option *row = reporter->options; row->name; row++) {
        const char *path;
        if (row->type != GI_OPT_PATH)
            continue;
        memcpy(&path, output + row->offset, sizeof path);
        if (!path || path == other)
            continue;
        if (places)
            places[n] = (struct place){i, row->name, path};
        n++;
    }
    return n;
}

/* All files that the chain writes, as option_places(). */
static int all_places(struct place *places, const struct gi_chain *chain, const char *path)
{
    int n = 0;
    for (int i = 0; i < chain->n; i++) {
        if (!chain->steps[i].reporter)
            continue;
        if (places)
            places[n] = (struct place){i, NULL, chain->steps[i].to};
        n++;
        n += option_places(places ? places + n : NULL, chain, i);
    }
    if (path && places)
        places[n] = (struct place){chain->n, NULL, path};
    return n + (path != NULL);
}

static enum gi_status fail_same(const struct gi_chain *chain, const struct place *a,
                                const struct place *b, struct gi_err *err)
{
    char other[80];
    snprintf(other, sizeof other, "the %s%s of step %d", b->option ? "--" : "",
             b->option ? b->option : "table", b->step + 1);
    return gi_fail(err, GI_E_USAGE, "step %d, %s: its %s%s and %s both go to %s: want %s",
                   a->step + 1, chain->steps[a->step].filter->name, a->option ? "--" : "",
                   a->option ? a->option : "table", b->step == chain->n ? "the image" : other,
                   strcmp(a->path, "-") == 0 ? "standard output" : a->path,
                   a->option ? "another file" : "--to FILE");
}

/* No two files go to one place, nor over a second source of any step. The image may be written
 * over the one that was read. */
static enum gi_status check_places(const struct gi_chain *chain, const char *path,
                                   struct gi_err *err)
{
    int n = all_places(NULL, chain, path);
    struct place *places = calloc((size_t)n + 1, sizeof *places);
    enum gi_status status = places ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a chain");
    if (places)
        all_places(places, chain, path);
    for (int b = 0; b < n && !status; b++) {
        const char *file = gi_output_file(places[b].path);
        const char *const outputs[] = {places[b].path, NULL};
        for (int a = 0; a < b && !status; a++)
            if (gi_output_same(gi_output_file(places[a].path), file))
                status = fail_same(chain, &places[a], &places[b], err);
        for (int i = 0; i < chain->n && !status; i++) {
            const struct gi_reporter *reporter = chain->steps[i].reporter;
            const void *output = chain->steps[i].args.params[SET_STEP_OUTPUT];
            const char *const inputs[] = {
                reporter && reporter->other ? reporter->other(output) : NULL, NULL};
            status = gi_output_check_inputs(outputs, inputs, err);
        }
    }
    free(places);
    return status;
}

static enum gi_status run_chain(const struct gi_chain *chain, const char *input, const char *path,
                                void *const *params, struct gi_err *err)
{
    struct gi_runner *runner = NULL;
    struct ready ready;
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    bool ends_in_table = chain->steps[chain->n - 1].reporter != NULL;
    if (!path && !ends_in_table)
        return gi_fail(err, GI_E_USAGE, "want OUTPUT for the image that %s makes",
                       chain->steps[chain->n - 1].filter->name);
    enum gi_status status = check_steps(chain, input, err);
    if (!status && path)
        status = gi_cli_check_way(input, path, &io, NULL, err);
    if (!status)
        status = check_places(chain, path, err);
    if (!status)
        status = gi_runner_new(&runner, params[SET_DEVICE], err);
    if (status)
        return status;
    status = ready_make(&ready, chain, params[SET_IO], err);
    if (!status)
        status = run_ready(&ready, runner, input, path, params, err);
    ready_free(&ready);
    if (!status)
        gi_runner_report(runner);
    gi_runner_free(&runner);
    return status;
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct run_params *p = params[SET_CHAIN];
    const char *text = p->file ? p->file : operands[0];
    int first = p->file ? 0 : 1;
    struct gi_chain chain;
    if (noperands <= first || noperands > first + 2)
        return gi_fail(err, GI_E_USAGE, "want %s (usage: gpuimg run [OPTION...] %s)",
                       p->file ? "INPUT [OUTPUT] with --file" : command->operands,
                       command->operands);
    enum gi_status status = gi_chain_read(&chain, text, err);
    if (!status)
        status = run_chain(&chain, operands[first],
                           noperands > first + 1 ? operands[first + 1] : NULL, params, err);
    gi_chain_free(&chain);
    return status;
}

/* "gaussian     --sigma --k --border", an operation a line. */
static const char *more(int i, char *line, size_t nbytes)
{
    struct gi_command step;
    if (i == 0) {
        snprintf(line, nbytes, "Operations of a chain and their options");
        return line;
    }
    int at = 0;
    for (int f = 0; gi_filters[f]; f++)
        if (gi_chain_command(&step, gi_filters[f]) && ++at == i) {
            size_t n = (size_t)snprintf(line, nbytes, "%s", step.name);
            for (int s = 0; s < GI_OPTION_SETS_MAX && step.sets[s].rows; s++)
                for (const struct gi_option *row = step.sets[s].rows; row->name && n < nbytes;
                     row++)
                    n += (size_t)snprintf(line + n, nbytes - n, " --%s", row->name);
            return line;
        }
    return NULL;
}

const struct gi_command gi_command_run = {
    .name = "run",
    .operands = "CHAIN INPUT [OUTPUT]",
    .summary = "Run a chain of operations on one image",
    .manual =
        "CHAIN is one word of the shell: operations with their options, parted by |. Each takes "
        "what the one before it gives; the result has the bytes that the single commands give "
        "through a lossless file of each step's type. The image is read once, stays on its device "
        "between the steps, and is written once. An image that does not fit on the device goes in "
        "bands, all steps at a time.\n\n"
        "histogram and extract may stand anywhere: they write their table to --to FILE, or to "
        "standard output, and pass the image on as it is. Where the last step is one of them "
        "OUTPUT may be left out. All options of the single commands' results may stand in the "
        "step: --format, --plot, --overlay and so on.\n\n"
        "Words with blanks, | or # in them go in quotes, single or double, inside the chain. With "
        "--file the chain comes from a file, in as many lines as you like.",
    .examples =
        "gpuimg run 'gaussian --sigma 2 | edges | threshold --at otsu' in.png out.png\n"
        "gpuimg run 'sharpen | convolve --kernel \"0 -1 0; -1 5 -1; 0 -1 0\"' in.jpg out.png\n"
        "gpuimg run 'gaussian | extract --min-area 50 --to coins.csv' coins.png\n"
        "gpuimg run --file steps.txt in.png out.png --timing",
    .more = more,
    .min_operands = 1,
    .max_operands = 3,
    .sets = {{"Options", options, sizeof(struct run_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run,
};
