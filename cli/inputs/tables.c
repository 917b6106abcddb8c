/* Applies a chain that ends in an analysis to many images. Writes one table of all images, or one
 * per image.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/args/rules.h"
#include "cli/inputs/file_batch.h"
#include "cli/inputs/stream_internal.h"
#include "cli/inputs/tables.h"
#include "cli/inputs/tars.h"
#include "cli/inputs/text_batch.h"
#include "cli/process.h"
#include "cli/text.h"
#include "cli/run/imaging.h"
#include "cli/tables/table_writer.h"
#include "imgio/ahead.h"
#include "imgio/small.h"

struct tables {
    /* The first member, for gi_text_batch_open(). Without a writer: one table per image. */
    struct gi_text_batch table;
    struct gi_batch_files files;
    const struct gi_batch_job *job;
    const struct gi_chain *chain;
    int last; /* number of the last step, the analysis */
    struct gi_io_params *io;
    struct gi_stream *stream; /* the images come from this stream; NULL if they come from files */
    struct gi_source *source; /* of the stream or the files */
    bool totals;              /* the table ends with a part that describes all images together */
    struct gi_total *total;
};

static bool is_json(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcasecmp(dot, ".json") == 0;
}

/* Makes the table of the item. *joined becomes true if several images are in its file, one behind
 * the other. */
static enum gi_status analyse(const struct tables *tables, struct gi_imaging *imaging,
                              struct gi_item *item, bool *joined, struct gi_err *err)
{
    const struct gi_source *source = tables->source;
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    struct gi_imaging_table table = {.into_memory = tables->table.writer || tables->job->take};
    const char *tar;
    table.json = table.into_memory ? tables->table.table.format == GI_TABLE_WRITER_JSONL
                                   : is_json(item->line.output);
    gi_batch_row(source, item, &tar, &table.file);
    bool taken = false;
    enum gi_status status =
        source->kind->take ? GI_OK : gi_imaging_rows(imaging, item, &table, &taken, err);
    *joined = false;
    if (status || taken)
        return status;
    status = source->kind->take ? source->kind->take(source->self, item, &image, err)
                                : gi_imaging_load(imaging, item, &image, NULL, &info, true, err);
    *joined =
        source->kind == &gi_source_file_pages && gi_imaging_found_joined(item, &info, status, err);
    if (!status)
        status = gi_imaging_analyse(imaging, item, &image, &info, &table, err);
    gi_image_free(&image);
    return status;
}

/* Makes the tables of all images of the item's file, each except the first in an item behind it. An
 * image that fails does so alone. */
static enum gi_status analyse_joined(const struct tables *tables, struct gi_imaging *imaging,
                                     struct gi_item *item, struct gi_err *err)
{
    struct gi_pages *pages = NULL;
    struct gi_item *last = item;
    enum gi_status status =
        gi_cli_open_pages(&pages, item->line.input, NULL, 0, tables->io, true, err);
    if (!status && !pages)
        status = gi_fail(err, GI_E_IO, "%s: the file changed while it was read", item->line.input);
    for (int i = 0; !status && i < gi_pages_n(pages); i++) {
        struct gi_item *one = i ? gi_item_new() : item;
        bool joined;
        gi_item_take_page(one, pages, i);
        if (i) {
            one->turn = item->turn;
            one->source.place = item->source.place;
            one->source.rule = item->source.rule;
        }
        one->line.status = analyse(tables, imaging, one, &joined, i ? &one->line.err : err);
        if (i) {
            item->turn.reserved = one->turn.reserved;
            one->turn.reserved = 0;
            last = last->rest = one;
        }
    }
    gi_pages_close(&pages, NULL);
    return status ? status : item->line.status;
}

static enum gi_status run_item(void *self, struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_err *err)
{
    const struct tables *tables = self;
    bool joined;
    enum gi_status status = analyse(tables, imaging, item, &joined, err);
    return joined ? analyse_joined(tables, imaging, item, err) : status;
}

static enum gi_status put(void *self, struct gi_item *item, struct gi_err *err)
{
    struct tables *tables = self;
    const struct gi_reporter *reporter = tables->chain->steps[tables->last].reporter;
    enum gi_status status = gi_text_batch_put(&tables->table, item, err);
    if (!status && item->made.part && !item->line.status)
        reporter->add_total(&tables->total, item->made.part);
    return status;
}

/* Gives the table of the item to the caller of the batch. */
static enum gi_status put_taken(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct tables *tables = self;
    const char *tar, *file;
    (void)err;
    if (!item->line.status && gi_batch_row(tables->source, item, &tar, &file))
        tables->job->take(tables->job->taker, tar, file, item->made.bytes, item->made.nbytes);
    return GI_OK;
}

/* Refuses options that make sense for one image only. These are a path for the table, and options
 * that name further files. */
static enum gi_status check_output(const struct gi_chain_step *step, struct gi_err *err)
{
    const struct gi_reporter *reporter = step->reporter;
    const char *output = step->args.params[GI_SET_STEP_OUTPUT];
    if (step->to && strcmp(step->to, "-") != 0)
        return gi_fail(err, GI_E_USAGE,
                       "%s: --to %s: of many images tables go to --table, --out-dir or --out",
                       step->filter->name, step->to);
    for (const struct gi_option *row = reporter->options; row->name; row++) {
        const char *path = NULL;
        if (row->type == GI_OPT_PATH)
            memcpy(&path, output + row->offset, sizeof path);
        if (path)
            return gi_fail(err, GI_E_USAGE, "--%s %s: of many images there is a table alone",
                           row->name, path);
    }
    return GI_OK;
}

static bool writes_arrays(const struct tables *tables)
{
    return gi_chain_makes_arrays(tables->chain);
}

/* Checks the suffix of the output of input `at`. */
static enum gi_status check_suffix(const struct gi_batch_files *files, const struct gi_list *list,
                                   size_t at, const struct gi_chain *chain, struct gi_err *err)
{
    char want[100];
    enum gi_status status = GI_OK;
    if (list->inputs[at].why)
        return GI_OK;
    char *output = gi_naming_output(&files->out.naming, list, at);
    if (!gi_text_has_suffix(output, gi_chain_suffixes(chain)))
        status = gi_fail(err, GI_E_USAGE, "%s: want a name that ends in %s", output,
                         gi_tables_want(chain, want, sizeof want));
    free(output);
    return status;
}

/* Checks the outputs. Their suffixes may come from --out. */
static enum gi_status check_outputs(struct gi_batch_files *files, const struct gi_chain *chain,
                                    struct gi_err *err)
{
    enum gi_status status = GI_OK;
    struct gi_list one;
    bool more = files->in.stream;
    for (size_t i = 0; i < files->in.list.n && !status; i++)
        status = check_suffix(files, &files->in.list, i, chain, err);
    while (more && !status) {
        status = gi_list_stream_next_one(files->in.stream, &one, &more, err);
        if (more && !status)
            status = check_suffix(files, &one, 0, chain, err);
    }
    if (files->in.stream)
        gi_list_stream_rewind(files->in.stream);
    return status;
}

/* Checks the names of a table, or an array, of each image. */
static enum gi_status check_each(void *self, struct gi_err *err)
{
    struct tables *tables = self;
    struct gi_batch_files *files = &tables->files;
    enum gi_status status = gi_tables_suffix(&files->out.naming.suffix, tables->chain, err);
    if (!status)
        status = gi_batch_names(files, false, NULL, err);
    return status ? status : check_outputs(files, tables->chain, err);
}

static enum gi_status make_folders(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct tables *tables = self;
    return gi_batch_places(&tables->files, err);
}

static const char *table_of(const struct gi_batch_params *p)
{
    return p->table ? p->table : p->out_dir || p->out ? NULL : "-";
}

static enum gi_status check_table(void *self, struct gi_err *err)
{
    struct tables *tables = self;
    const struct gi_batch_params *p = tables->files.params;
    if (p->out_dir || p->out || p->resume)
        return gi_fail(err, GI_E_USAGE, "%s: goes with a table each, want no --table",
                       p->resume    ? "--resume"
                       : p->out_dir ? "--out-dir"
                                    : "--out");
    return gi_text_batch_check(&tables->table, err);
}

/* Finds out whether the only input is a stream of images. All images of a stream have one table
 * together. */
static enum gi_status find_stream(struct tables *tables, const char *input, struct gi_err *err)
{
    const struct gi_batch_params *p = tables->files.params;
    enum gi_status status = gi_stream_find(&tables->stream, input, NULL, tables->io, NULL, err);
    if (status || !tables->stream)
        return status;
    tables->stream->chain = tables->chain;
    if (p->resume || p->shard)
        return gi_fail(err, GI_E_USAGE, "%s: is for files, and %s is a stream of images",
                       p->shard ? "--shard" : "--resume", gi_reader_name(tables->stream->reader));
    status = tables->stream->is_video ? gi_video_read_head(tables->stream, err) : GI_OK;
    if (!status)
        *tables->source = gi_stream_source(tables->stream);
    return status;
}

/* Opens the inputs. */
static enum gi_status open_inputs(struct tables *tables, const struct gi_batch_job *job,
                                  char **operands, int noperands, struct gi_err *err)
{
    struct gi_batch_files *files = &tables->files;
    struct gi_batch_job own = *job;
    own.takes_stdin = gi_batch_params(job)->table != NULL;
    own.streams_list = true;
    enum gi_status status = gi_batch_open(files, &own, operands, noperands, err);
    for (int i = 1; i < gi_rules_n(files->rules) && !status; i++) {
        const struct gi_chain *chain = gi_rules_chain(files->rules, i, NULL);
        status = check_output(&chain->steps[chain->n - 1], err);
    }
    if (!status && !files->params->tar && own.takes_stdin && noperands == 1 &&
        files->in.list.n == 1)
        status = find_stream(tables, files->in.list.inputs[0].path, err);
    if (!status && tables->totals && !files->params->table)
        status = gi_fail(err, GI_E_USAGE, "--total: want --table");
    if (!files->params->tar && !tables->stream && table_of(files->params)) {
        files->source.kind = &gi_source_file_pages;
        files->cursor.tells_joined = true;
    }
    return status;
}

/* Adds the part for all images, if the batch ended with `status` and some of them have parts. */
static enum gi_status end_table(void *self, enum gi_status status, struct gi_err *err)
{
    struct tables *tables = self;
    const struct gi_chain_step *step = &tables->chain->steps[tables->last];
    struct gi_table_writer_table table = {.file = "total"};
    struct gi_err fault = {0};
    char *text = NULL;
    enum gi_status made = GI_OK;
    if (tables->total)
        made = step->reporter->take_total(&tables->total, step->args.params[GI_SET_STEP_FILTER],
                                          tables->table.table.format == GI_TABLE_WRITER_JSONL,
                                          &text, &table.nbytes, &fault);
    table.text = text;
    if (text && !made && (!status || !*err->text)) {
        table.tar = tables->files.params->tar ? "" : NULL;
        made = gi_table_writer_add(tables->table.writer, &table, &fault);
    }
    free(text);
    if (made && !status)
        *err = fault;
    return gi_text_batch_end(&tables->table, status ? status : made, err);
}

/* Writes a tar with an array or a table for each image. */
static enum gi_status run_tars(const struct tables *tables, const struct gi_batch_job *job,
                               char **operands, int noperands, struct gi_err *err)
{
    if (gi_batch_params(job)->table)
        return gi_fail(err, GI_E_USAGE,
                       "--suffix: with --tar is for a table of each image, want no --table");
    if (tables->totals)
        return gi_fail(err, GI_E_USAGE, "--total: want --table");
    return gi_tars_run(job, operands, noperands, err);
}

static const struct gi_target_kind a_table = {.ordered = true,
                                              .check = check_table,
                                              .open = gi_text_batch_open,
                                              .put = put,
                                              .end = end_table};
static const struct gi_target_kind a_taker = {
    .ordered = true, .check = check_table, .put = put_taken};
static const struct gi_target_kind a_table_each = {.check = check_each, .open = make_folders};

enum gi_status gi_batch_tables(const struct gi_batch_job *job, char **operands, int noperands,
                               struct gi_err *err)
{
    static const char *const texts[] = {"channel", "hash", NULL}; /* of stats and hash */
    const struct gi_batch_params *p = gi_batch_params(job);
    struct tables tables = {
        .job = job, .chain = job->chain, .last = job->chain->n - 1, .io = gi_batch_io(job)};
    tables.source = &tables.files.source;
    tables.table = (struct gi_text_batch){
        .files = &tables.files,
        .source = tables.source,
        .table = {.path = table_of(p),
                  .first = "file",
                  .texts = texts,
                  .no_clobber = gi_chain_no_clobber(&job->chain->steps[tables.last])}};
    const struct gi_chain_step *last = &job->chain->steps[tables.last];
    tables.totals = last->reporter->wants_total &&
                    last->reporter->wants_total(last->args.params[GI_SET_STEP_FILTER]);
    enum gi_status status = check_output(last, err);
    if (!status && writes_arrays(&tables) && (p->table || !(p->out_dir || p->out || p->tar)))
        status = gi_fail(err, GI_E_USAGE,
                         "%s: writes an array of each image: want --out-dir, --out or --tar",
                         job->chain->steps[tables.last].filter->name);
    if (!status && p->tar && (writes_arrays(&tables) || p->suffix))
        return run_tars(&tables, job, operands, noperands, err);
    if (!status)
        status = open_inputs(&tables, job, operands, noperands, err);
    const struct gi_batch batch = {.job = job,
                                   .source = tables.source,
                                   .target = job->take     ? &a_taker
                                             : table_of(p) ? &a_table
                                                           : &a_table_each,
                                   .self = &tables,
                                   .run = run_item};
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_stream_free(&tables.stream);
    gi_ahead_free(&tables.io->passed.ahead);
    gi_batch_close(&tables.files);
    return status;
}
