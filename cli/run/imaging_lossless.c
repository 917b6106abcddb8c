/* Turns and crops a JPEG without decoding it (--lossless), as the chain would turn its pixels.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/run/ready.h"
#include "imgio/lossless.h"

struct turn {
    const struct gi_imaging *imaging;
    struct gi_item *item;
};

/* What a batch may want for inputs of other formats. */
static const char others_way[] = "--lossless=auto, which decodes and encodes other formats, or "
                                 "--only '*.jpg,*.jpeg'";

static const char *input_name(const struct gi_item *item)
{
    return strcmp(item->line.input, "-") == 0 ? "standard input" : item->line.input;
}

/* Plans the chain for a picture. Its steps must tell where the pixels of their results come
 * from. */
static enum gi_status place_steps(struct gi_lossless_place *place, const struct gi_image *shape,
                                  const struct gi_ready *ready, const struct gi_limits *limits,
                                  struct gi_err *err)
{
    struct gi_placement all = {true, true, {1, 0, 0, 0, 1, 0}};
    struct gi_image made = *shape;
    for (int i = 0; i < ready->chain->n; i++) {
        const struct gi_step *step = &ready->steps[i];
        struct gi_plan plan;
        enum gi_status status =
            gi_plan_make_within(&plan, limits, step->filter, step->params, &made, 1, err);
        if (status)
            return status;
        if (plan.late || !plan.placement.known)
            status = gi_fail(err, GI_E_UNSUPPORTED, "--lossless: %s",
                             plan.late ? "--trim and --attention look at samples, which are not "
                                         "decoded: want --size, or no --lossless"
                                       : "want a turn by 90, 180 or 270 degrees");
        all = gi_placement_join(&all, &plan.placement);
        made = plan.result;
        gi_plan_free(&plan);
        if (status)
            return status;
    }
    *place = (struct gi_lossless_place){.width = made.width, .height = made.height};
    memcpy(place->map, all.m, sizeof place->map);
    return GI_OK;
}

static enum gi_status place(void *self, struct gi_lossless_place *place,
                            const struct gi_image *shape, struct gi_err *err)
{
    const struct turn *turn = self;
    const struct gi_chain *chain = gi_imaging_chain(turn->imaging, turn->item);
    struct gi_ready ready;
    const struct gi_drawn_item of = gi_imaging_drawn_item(turn->imaging, turn->item, NULL);
    enum gi_status status = gi_ready_make(&ready, chain, &of, err);
    if (!status)
        status =
            place_steps(place, shape, &ready, &gi_imaging_options(turn->imaging)->io->limits, err);
    gi_ready_free(&ready);
    return status;
}

/* Reserves memory for the coefficients as stored and as turned, which have 2 bytes, and for the
 * files. */
static void on_shape(void *arg, const struct gi_image *shape)
{
    const struct turn *turn = arg;
    const struct gi_imaging_options *options = gi_imaging_options(turn->imaging);
    if (options->one)
        gi_watch_size(options->one, shape);
    else if (turn->item->turn.engine)
        gi_engine_reserve(turn->item, 5 * gi_image_nbytes(shape));
}

/* Refuses names of outputs that are not those of a JPEG, with GI_E_USAGE. */
static enum gi_status check_output(const struct gi_item *item,
                                   const struct gi_imaging_options *options, bool into_memory,
                                   struct gi_err *err)
{
    const struct gi_io_params *io = options->io;
    const char *name = item->line.output ? item->line.output : item->line.input;
    const char *format = item->source.format ? item->source.format : io->format;
    const char *found = gi_save_format(name, format);
    bool any = !format && strcmp(gi_output_file(name), "-") == 0;
    if (item->line.output && gi_naming_is_many(item->line.output))
        return gi_fail(err, GI_E_USAGE, "%s: --lossless: a JPEG has one page", name);
    if (!into_memory && io->no_clobber && item->line.output && gi_output_exists(item->line.output))
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", name);
    if (any || (found && strcmp(found, "jpeg") == 0))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "%s: --lossless: writes JPEG, not %s: want %s", name,
                   found ? found : "this format", options->one ? "the suffix .jpg" : others_way);
}

/* Says what to do about an input of another format. */
static enum gi_status advise(enum gi_status status, const struct gi_lossless *made, bool one,
                             struct gi_err *err)
{
    const struct gi_err refused = *err;
    return made->foreign
               ? gi_fail(err, status, "%s: want %s", refused.text,
                         one ? "--lossless=auto, which decodes and encodes it" : others_way)
               : status;
}

/* Leaves an image that can't be turned without loss to the usual work (--lossless=auto), and tells
 * why: the error `why`, without its advice and the name of the input. */
static enum gi_status leave(struct gi_item *item, struct gi_lossless *made, struct gi_err *why)
{
    const char *name = input_name(item), *text = why->text;
    size_t n = strlen(name);
    char *want = strstr(text, ": want ");
    if (want)
        *want = '\0';
    if (strncmp(text, name, n) == 0 && strncmp(text + n, ": ", 2) == 0)
        text += n + 2;
    if (strncmp(text, "--lossless: ", 12) == 0)
        text += 12;
    gi_cli_tell("%s: --lossless=auto: decoded and encoded: %s", name, text);
    if (made->input) {
        item->source.bytes = made->input;
        item->source.nbytes = made->input_nbytes;
    }
    *why = (struct gi_err){0};
    return GI_OK;
}

/* Warns of what differs from what was asked for, and of what the result lacks. */
static enum gi_status warn(const struct gi_lossless *made, const struct gi_item *item,
                           const struct gi_io_params *io, struct gi_err *err)
{
    struct gi_err moved = {0}, lost = {0};
    const struct gi_save_options options = gi_cli_save_options(io);
    const char *name = input_name(item);
    if (*made->warning.text)
        gi_cli_warn("%s", made->warning.text);
    if (made->left || made->above)
        gi_fail(&moved, GI_E_UNSUPPORTED,
                "--lossless: the rectangle begins %d pixels further left and %d further up, where "
                "blocks of %d x %d pixels begin, and is %d x %d pixels",
                made->left, made->above, made->block_width, made->block_height, made->width,
                made->height);
    if (made->cut_width || made->cut_height)
        gi_cli_tell("%s: --lossless=trim: %d columns and %d rows of incomplete blocks are cut off",
                    name, made->cut_width, made->cut_height);
    if (gi_cli_warn_or_fail(&moved, name, io, err))
        return gi_err_prefix(err, "%s", name);
    enum gi_status status = io->encoding.strip ? GI_OK
                                               : gi_save_losses(&made->shape, &made->metadata,
                                                                "jpeg", name, &options, &lost, err);
    if (!status && *lost.text)
        gi_cli_warn("%s", lost.text);
    return status;
}

static enum gi_status save(struct gi_lossless *made, struct gi_item *item,
                           const struct gi_io_params *io, bool into_memory, struct gi_err *err)
{
    if (!into_memory) {
        struct gi_io_params jpeg = *io;
        jpeg.format = "jpeg";
        return gi_cli_save_bytes(made->bytes, made->nbytes, item->line.output, &jpeg, err);
    }
    item->made.bytes = made->bytes;
    item->made.nbytes = made->nbytes;
    made->bytes = NULL;
    return GI_OK;
}

/* Writes the result and frees it. */
static enum gi_status put(struct gi_lossless *made, struct gi_item *item,
                          const struct gi_io_params *io, bool into_memory, struct gi_err *err)
{
    struct gi_timing_span span = gi_timing_begin();
    enum gi_status status = warn(made, item, io, err);
    if (!status)
        status = save(made, item, io, into_memory, err);
    gi_imaging_note(item, GI_STAGE_ENCODE, &span);
    if (!status)
        gi_item_note_output(item);
    free(made->bytes);
    gi_metadata_free(&made->metadata);
    return status;
}

enum gi_status gi_imaging_lossless(struct gi_imaging *imaging, struct gi_item *item,
                                   bool into_memory, bool *taken, struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_io_params *io = options->io;
    struct turn turn = {imaging, item};
    const struct gi_shape_listener listener = {.tell = on_shape, .arg = &turn};
    const char *input = item->line.input;
    const struct gi_load_options load = {.limits = io->limits,
                                         .allow_partial = io->allow_partial,
                                         .listener = &listener,
                                         .ahead = gi_cli_ahead_of(io, input)};
    bool automatic = io->passed.lossless->way == GI_LOSSLESS_AUTO;
    struct gi_lossless made = {.load = &load,
                               .place = place,
                               .self = &turn,
                               .trim = io->passed.lossless->way == GI_LOSSLESS_TRIM,
                               .exact = automatic,
                               .keep = automatic,
                               .progressive = io->encoding.jpeg.progressive,
                               .optimize = io->encoding.jpeg.optimize,
                               .bare = io->encoding.strip};
    if (automatic && item->source.pages) /* no JPEG */
        return GI_OK;
    enum gi_status status = check_output(item, options, into_memory, err);
    if (status == GI_E_USAGE && automatic) {
        gi_fail(err, status, "its output is not one JPEG");
        return leave(item, &made, err);
    }
    *taken = true;
    if (status)
        return status;
    if (!item->source.bytes && !load.ahead && strcmp(input, "-") == 0 && isatty(STDIN_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want an image");
    gi_item_note_input(item);
    struct gi_timing_span span = gi_timing_begin();
    status = gi_lossless_make(&made, input, item->source.bytes, item->source.nbytes, err);
    item->line.shape = made.shape;
    gi_imaging_note(item, GI_STAGE_DECODE, &span);
    *taken = !automatic || status != GI_E_UNSUPPORTED;
    if (!*taken)
        return leave(item, &made, err);
    return status ? advise(status, &made, options->one, err)
                  : put(&made, item, io, into_memory, err);
}
