/* An analysis of many images: one table of all, or a table each.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/batch/batch.h"
#include "cli/batch/combine.h"
#include "cli/batch/files.h"
#include "cli/batch/imaging.h"
#include "cli/process.h"
#include "cli/ready.h"
#include "cli/runner.h"

struct tables {
    struct gi_batch_files files;
    const struct gi_chain *chain;
    const struct gi_io_params *input;
    struct gi_imaging *imaging;
    struct gi_combine *combine; /* NULL: a table each */
    bool json;
};

static bool is_json(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcasecmp(dot, ".json") == 0;
}

/* The table of one image as item->made, or in its file. */
static enum gi_status report(const struct tables *tables, const struct gi_ready *ready,
                             struct gi_item *item, unsigned maxval, struct gi_err *err)
{
    const struct gi_chain_step *step = &tables->chain->steps[0];
    struct gi_sink *sink = NULL;
    double start = gi_now_ms();
    enum gi_status status = tables->combine ? gi_sink_open_memory(&sink, item->input, err)
                                            : gi_sink_open(&sink, item->output, false, err);
    struct gi_report one = {.params = step->args.params[GI_SET_STEP_FILTER],
                            .output = step->args.params[GI_SET_STEP_OUTPUT],
                            .result = ready->sides[0].result,
                            .image = &ready->inputs[0],
                            .maxval = maxval,
                            .file = item->input,
                            .to = item->output ? item->output : item->input,
                            .table = sink,
                            .json = tables->combine ? tables->json : is_json(item->output),
                            .threads = 1};
    if (!status)
        status = step->reporter->write(&one, err);
    if (!status && tables->combine)
        status = gi_sink_take(&sink, &item->made, &item->made_nbytes, err);
    else if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    item->ms[GI_STAGE_ENCODE] = gi_now_ms() - start;
    gi_item_note_output(item);
    return status;
}

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct tables *tables = self;
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    struct gi_ready ready;
    enum gi_status status = gi_imaging_load(tables->imaging, item, &image, NULL, &info, err);
    if (status)
        return status;
    unsigned maxval = gi_cli_maxval(&image, &info, tables->input);
    status = gi_ready_make(&ready, tables->chain, tables->input, err);
    if (!status)
        status = gi_cli_check_levels(ready.steps, 1, &image, maxval, err);
    if (!status)
        status = gi_imaging_compute(tables->imaging, item, NULL, &image, &ready, err);
    if (!status)
        status = report(tables, &ready, item, maxval, err);
    gi_ready_free(&ready);
    gi_image_free(&image);
    return status ? gi_err_prefix(err, "%s", item->input) : GI_OK;
}

static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tables *tables = self;
    if (tables->combine && !item->status)
        item->status =
            gi_combine_add(tables->combine, item->input, item->made, item->made_nbytes, &item->err);
    return gi_batch_note(&tables->files, item, err);
}

/* What only one image can have: files beside the table. */
static enum gi_status check_output(const struct gi_chain_step *step, struct gi_err *err)
{
    const struct gi_reporter *reporter = step->reporter;
    const char *output = step->args.params[GI_SET_STEP_OUTPUT];
    const char *other = reporter->other ? reporter->other(output) : NULL;
    for (const struct gi_option *row = reporter->options; row->name; row++) {
        const char *path = NULL;
        if (row->type == GI_OPT_PATH)
            memcpy(&path, output + row->offset, sizeof path);
        if (path && path != other)
            return gi_fail(err, GI_E_USAGE, "--%s %s: of many images there is a table alone",
                           row->name, path);
    }
    return GI_OK;
}

static enum gi_status open_table(struct tables *tables, struct gi_err *err)
{
    const struct gi_batch_params *p = tables->files.params;
    const char *path = p->table ? p->table : p->out_dir || p->out ? NULL : "-";
    enum gi_combine_format format;
    if (!path)
        return GI_OK;
    if (p->out_dir || p->out || p->resume)
        return gi_fail(err, GI_E_USAGE, "%s: goes with a table each, want no --table",
                       p->resume    ? "--resume"
                       : p->out_dir ? "--out-dir"
                                    : "--out");
    if (p->report && strcmp(path, "-") == 0 && strcmp(p->report, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "--report -: is where the table goes, want a file");
    enum gi_status status = gi_combine_format_of(&format, path, err);
    struct gi_combine_options options = {
        .path = path, .format = format, .first = {"file", gi_list_longest(&tables->files.list)}};
    tables->json = format == GI_COMBINE_JSONL;
    return status ? status : gi_combine_new(&tables->combine, &options, err);
}

enum gi_status gi_batch_tables(const struct gi_batch_job *job, char **operands, int noperands,
                               struct gi_err *err)
{
    void *const *params = job->params;
    struct tables tables = {.chain = job->chain};
    struct gi_io_params io =
        *(const struct gi_io_params *)params[gi_command_set(job->command, gi_input_options)];
    struct gi_imaging_options options = {.chain = job->chain, .io = &io};
    struct gi_work_on work = {.self = &tables, .run = run_item, .deliver = deliver};
    tables.input = &io;
    options.device = params[gi_command_set(job->command, gi_device_options)];
    enum gi_status status = check_output(&job->chain->steps[0], err);
    if (!status)
        status = gi_batch_open(&tables.files, job, operands, noperands, err);
    options.images = tables.files.n;
    options.times = tables.files.times;
    if (!status)
        status = gi_imaging_new(&tables.imaging, &options, err);
    if (!status)
        status = open_table(&tables, err);
    if (!status)
        status = tables.combine ? gi_batch_check(&tables.files, NULL, err)
                                : gi_batch_names(&tables.files, false, NULL, err);
    if (!status && !tables.combine)
        status = gi_batch_places(&tables.files, err);
    if (!status)
        status = gi_batch_journal(&tables.files, job, err);
    work.ordered = tables.combine != NULL;
    bool ran = !status;
    if (!status)
        status = gi_batch_go(&tables.files, &work, gi_imaging_threads(tables.imaging), err);
    /* What came before a failure of a file stands in the table; one that can't be written does not.
     */
    struct gi_err fault = {0};
    enum gi_status ended = gi_combine_end(&tables.combine, ran && (!status || !*err->text), &fault);
    if (ended && !status) {
        *err = fault;
        status = ended;
    }
    gi_batch_close(&tables.files);
    if (gi_cli_tears_down())
        gi_imaging_free(&tables.imaging);
    return status;
}
