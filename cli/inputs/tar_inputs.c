/* Batches of tables whose inputs are the images in tars.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/paths/brace.h"
#include "cli/args/rules.h"
#include "cli/stop.h"
#include "cli/inputs/tar_feed.h"
#include "cli/inputs/tar_report.h"
#include "cli/inputs/tars.h"

struct gi_tar_inputs {
    const struct gi_batch_params *params;
    struct gi_tar_names names; /* no outputs; the inputs are the tars in the list */
    struct gi_rules *rules;    /* owned by struct gi_batch_files */
    struct gi_tar_feed *feed;
    struct gi_tar_report report;
    size_t broken; /* number of tars that could not be read to their end */
};

static enum gi_status add_tars(struct gi_list *list, const char *operand, struct gi_err *err)
{
    char **names;
    size_t n;
    enum gi_status status = gi_brace_list(&names, &n, operand, err);
    for (size_t i = 0; i < n && !status; i++)
        status = gi_list_add(list, names[i], err);
    gi_brace_free(&names, n);
    return status;
}

enum gi_status gi_tar_inputs_list(struct gi_list *list, const struct gi_batch_params *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = params;
    if (p->out_dir || p->out || p->files_from || p->recursive || p->null || p->resume)
        return gi_fail(err, GI_E_USAGE,
                       "--tar: makes one table of all: want it without --out-dir, --out, "
                       "--files-from, --recursive, --null and --resume");
    /* "--tar - -" names the table as it would name a tar: there is only one standard input. */
    int piped = 0;
    for (int i = 0; i < noperands; i++)
        piped += strcmp(operands[i], "-") == 0;
    bool to_stdout = !p->table || strcmp(p->table, "-") == 0;
    if (piped == 2 && strcmp(operands[noperands - 1], "-") == 0 && to_stdout)
        noperands--;
    else if (piped > 1)
        return gi_fail(err, GI_E_USAGE, "-: is named %d times, want standard input once", piped);
    if (!noperands)
        return gi_fail(err, GI_E_USAGE, "--tar: want tars, got nothing");
    enum gi_status status = gi_tar_load(err);
    for (int i = 0; i < noperands && !status; i++) {
        if (strcmp(operands[i], "-") == 0 && isatty(STDIN_FILENO))
            return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want a tar");
        status = add_tars(list, operands[i], err);
    }
    return status;
}

/* Returns whether the tar belongs to another task. */
static bool is_left_out(void *arg, size_t i)
{
    const struct gi_tar_inputs *tars = arg;
    return !gi_shard_takes(&tars->names.shard, i);
}

enum gi_status gi_tar_inputs_new(struct gi_tar_inputs **out, struct gi_batch_files *files,
                                 const struct gi_batch_job *job, struct gi_err *err)
{
    struct gi_tar_inputs *tars = *out = calloc(1, sizeof *tars);
    char **names = calloc(files->list.n, sizeof *names);
    if (!tars || !names) {
        free(names);
        return gi_fail(err, GI_E_MEMORY, "out of memory: tars");
    }
    for (size_t i = 0; i < files->list.n; i++)
        names[i] = files->list.inputs[i].path;
    tars->params = files->params;
    tars->rules = files->rules;
    tars->names =
        (struct gi_tar_names){.inputs = names, .ninputs = files->list.n, .shard = files->shard};
    struct gi_tar_feed_options options = {.inputs = names,
                                          .ninputs = files->list.n,
                                          .skip = is_left_out,
                                          .arg = tars,
                                          .io = gi_batch_io(job),
                                          .rules = files->rules};
    files->feed = (struct gi_feed){.kind = &gi_feed_tar_images, .self = tars};
    return gi_tar_feed_new(&tars->feed, &options, err);
}

void gi_tar_inputs_free(struct gi_tar_inputs **out)
{
    struct gi_tar_inputs *tars = *out;
    struct gi_err err = {0};
    *out = NULL;
    if (!tars)
        return;
    gi_tar_report_close(&tars->report, &err);
    gi_tar_feed_free(&tars->feed);
    free(tars->names.inputs);
    free(tars);
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_tar_inputs *tars = self;
    return gi_tar_feed_next(tars->feed, item, more, err);
}

static enum gi_status open_report(void *self, const struct gi_batch_job *job, struct gi_err *err)
{
    struct gi_tar_inputs *tars = self;
    return gi_tar_report_open(&tars->report, job, &tars->names, tars->rules, err);
}

static bool row(void *self, const struct gi_item *item, const char **tar, const char **file)
{
    const struct gi_tar_inputs *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    if (tag->kind != GI_TAR_MEMBER || item->line.pass)
        return false;
    *tar = tars->names.inputs[tag->shard];
    *file = tag->name;
    return true;
}

static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_tar_inputs *tars = self;
    const struct gi_tar_tag *tag = item->source.tag;
    tars->broken += tag->kind == GI_TAR_BROKEN;
    if (tag->kind == GI_TAR_BROKEN && gi_stop_asked())
        return GI_OK;
    if (tag->kind == GI_TAR_END || tag->kind == GI_TAR_BROKEN)
        return gi_tar_report_end(&tars->report, item, false, err);
    return item->line.pass && !item->line.status ? GI_OK
                                                 : gi_tar_report_member(&tars->report, item, err);
}

static enum gi_status conclude(void *self, const struct gi_tally *tally, enum gi_status status,
                               struct gi_err *err)
{
    struct gi_tar_inputs *tars = self;
    if (!status && !tars->names.shard.n)
        gi_matcher_warn(gi_rules_matcher(tars->rules));
    return gi_tar_conclude(&tars->report, tally, tars->broken, status, err);
}

const struct gi_feed_kind gi_feed_tar_images = {
    .unit = "members",
    .waits = "input or output",
    .next = next,
    .open_report = open_report,
    .row = row,
    .note = note,
    .conclude = conclude,
};
