/* Loads the images that the options of a chain's steps name, once for all inputs.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/args/chain.h"
#include "cli/commands.h"
#include "cli/hash.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/run/other_colors.h"
#include "cli/run/paste_sources.h"

static const void *params_of(const struct gi_chain_step *step)
{
    return step->args.params[GI_SET_STEP_FILTER];
}

/* Returns the options for loading a further image. A picture is loaded with those options of the
 * input that make it similar to the input. Other images, such as maps, are loaded unchanged. */
static struct gi_io_params how_to_load(const struct gi_option *row, const struct gi_io_params *io)
{
    struct gi_io_params how = {0};
    gi_options_default(&how, gi_input_options);
    how.limits = io->limits;
    how.allow_partial = io->allow_partial;
    how.quiet = io->quiet;
    how.encoding.strip = io->encoding.strip;
    how.strict = io->strict;
    how.gray = row->picture ? io->gray : 0;
    how.linear = row->picture && io->linear;
    how.passed.labels = row->labels;
    how.nodata = io->nodata;
    return how;
}

/* Warns of bytes after the end of the image, which may be another image. With `strict`, they are an
 * error, and so is each part of the image that is not read, of which the reader has warned.
 * Metadata of further images is not taken, and not named. */
static enum gi_status name_unread(const struct gi_metadata *metadata, const char *path, bool strict,
                                  struct gi_err *err)
{
    for (int i = 0; i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        bool behind = part->kind == GI_PART_TRAILING;
        if (strict && (part->warned || behind))
            return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: not read: %s", path, part->name);
        if (behind)
            gi_cli_warn("%s: not read: %s", path, part->name);
    }
    return GI_OK;
}

static enum gi_status load_image(struct gi_chain_step *step, int i, const struct gi_option *row,
                                 const struct gi_io_params *io, int threads, struct gi_err *err)
{
    struct gi_io_params how = how_to_load(row, io);
    how.passed.hide_nodata = step->filter->samples.masks_others;
    const void *params = params_of(step);
    const char *path = gi_option_path(row, params);
    step->nothers = i + 1;
    struct gi_file_info info = {0};
    struct gi_metadata metadata = {0};
    bool bands =
        row->picture && !step->filter->sources.admit; /* they are paired with the input's */
    enum gi_status status = gi_cli_load(&step->others[i], &metadata, bands ? &info : NULL, path,
                                        &how, threads, NULL, err);
    step->other_bands[i] = info.bands;
    step->other_nodata[i] = info.nodata;
    if (!status)
        status = name_unread(&metadata, path, io->strict, err);
    if (row->picture)
        gi_other_colors_keep(&step->other_colors[i], &metadata);
    else
        gi_metadata_free(&metadata);
    if (!status && step->filter->sources.admit) {
        status = step->filter->sources.admit(params, i + 1, &step->others[i], err);
        if (status)
            gi_err_prefix(err, "%s", path);
    }
    return status ? gi_err_prefix(err, "--%s", row->name) : GI_OK;
}

/* Checks that standard input is used only once. Sets *taken to true if this step uses it. */
static enum gi_status check_step(const struct gi_chain_step *step, bool *taken, struct gi_err *err)
{
    const struct gi_option *row;
    for (int i = 0; (row = gi_filter_image(step->filter, params_of(step), i)); i++) {
        if (strcmp(gi_option_path(row, params_of(step)), "-") != 0)
            continue;
        if (*taken || step->filter == &gi_filter_paste)
            return gi_fail(err, GI_E_USAGE, "--%s -: want a file, standard input is for the input",
                           row->name);
        *taken = true;
    }
    return GI_OK;
}

static enum gi_status load_step(struct gi_chain_step *step, const struct gi_io_params *io,
                                int threads, struct gi_err *err)
{
    const struct gi_option *row, *last = NULL;
    bool tables = step->filter == &gi_filter_paste;
    enum gi_status status = GI_OK;
    for (int i = 0; !status && (row = gi_filter_image(step->filter, params_of(step), i)); i++) {
        last = row;
        if (!tables)
            status = load_image(step, i, row, io, threads, err);
    }
    if (!status && (step->drawings = gi_drawings_find(step->filter)))
        status = step->drawings->open(&step->drawn, params_of(step), io, err);
    if (!tables || status)
        return status;
    struct gi_io_params how = how_to_load(last, io); /* crops are pictures */
    return gi_paste_load(step->others, &step->nothers, step->other_colors, params_of(step), &how,
                         threads, err);
}

enum gi_status gi_chain_load(struct gi_chain *chain, bool taken, const struct gi_io_params *io,
                             int threads, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < chain->n && !status; i++) {
            struct gi_chain_step *step = &chain->steps[i];
            status = turn ? load_step(step, io, threads, err) : check_step(step, &taken, err);
            if (status && step->command.name) /* the chain comes from the text of steps */
                gi_err_prefix(err, "step %d, %s", i + 1, step->filter->name);
        }
    return status;
}

void gi_chain_unload(struct gi_chain *chain)
{
    for (int i = 0; i < chain->n; i++) {
        struct gi_chain_step *step = &chain->steps[i];
        for (; step->nothers > 0; step->nothers--)
            gi_image_free(&step->others[step->nothers - 1]);
        for (int j = 0; j < GI_SOURCES_MAX - 1; j++)
            gi_metadata_free(&step->other_colors[j]);
        if (step->drawings)
            step->drawings->close(&step->drawn);
        step->drawings = NULL;
    }
}

enum gi_status gi_chain_conclude(const struct gi_chain *chain, const char *input,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < chain->n && !status; i++)
        if (chain->steps[i].drawings)
            status = chain->steps[i].drawings->conclude(chain->steps[i].drawn, input, err);
    return status;
}

static uint64_t hash_image(uint64_t hash, const struct gi_image *image)
{
    const int shape[] = {image->width, image->height, image->channels, (int)image->type};
    hash = gi_hash(hash, shape, sizeof shape);
    for (int y = 0; y < image->height; y++)
        hash = gi_hash(hash, gi_row(image, y), gi_row_nbytes(image));
    return hash;
}

uint64_t gi_chain_hash(const struct gi_chain *chain)
{
    uint64_t hash = GI_HASH_START;
    for (int s = 0; chain && s < chain->n; s++) {
        const struct gi_chain_step *step = &chain->steps[s];
        for (int i = 0; i < step->nothers; i++)
            hash = hash_image(hash, &step->others[i]);
        for (int i = 0; i < step->args.ncontents; i++)
            if (step->args.contents[i].text)
                hash = gi_hash(hash, step->args.contents[i].text,
                               strlen(step->args.contents[i].text) + 1);
    }
    return hash == GI_HASH_START ? 0 : hash;
}

const char *gi_chain_image(const struct gi_chain *chain, int i)
{
    for (int s = 0; chain && s < chain->n; s++) {
        const struct gi_chain_step *step = &chain->steps[s];
        const struct gi_option *row;
        for (int j = 0; (row = gi_filter_image(step->filter, params_of(step), j)); j++)
            if (i-- == 0)
                return gi_option_path(row, params_of(step));
    }
    return NULL;
}

enum gi_status gi_chain_check_outputs(const struct gi_chain *chain, const char *const *outputs,
                                      struct gi_err *err)
{
    enum gi_status status = GI_OK;
    const char *path;
    for (int i = 0; !status && (path = gi_chain_image(chain, i)); i++) {
        const char *const inputs[] = {path, NULL};
        status = gi_output_check_inputs(outputs, inputs, err);
    }
    return status;
}
