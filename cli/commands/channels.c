/* gpuimg channels: permutes the channels of an image, writes them to separate files, or joins
 * channels of several images.
 * SPDX-License-Identifier: MIT */
#include "cli/run/batch.h"
#include "cli/inputs/file_batch.h"
#include "cli/run/imaging.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/run/session.h"
#include "kernels/color.h"

#include <stdlib.h>
#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH, SOURCES = GI_PERMUTE_CHANNELS_SOURCES };

extern const struct gi_filter gi_filter_channels;

/* One run of the command. */
struct job {
    void *const *params;
    struct gi_io_params io;
    struct gi_session *session;
    struct gi_image srcs[SOURCES];
    struct gi_metadata metadata; /* of the first image */
};

/* --order, the filter's first option. */
static const char *order_of(const void *params)
{
    const char *order;
    memcpy(&order, (const char *)params + gi_filter_channels.options[0].offset, sizeof order);
    return order;
}

static enum gi_status load(struct job *job, int i, const char *path, struct gi_err *err)
{
    struct gi_step step = {.filter = &gi_filter_channels, .params = job->params[SET_FILTER]};
    struct gi_file_info info;
    return gi_session_load(job->session, &job->srcs[i], i ? NULL : &job->metadata, &info, path,
                           &job->io, &step, 1, err);
}

/* Returns parameters with another order; the caller frees them. NULL on an error. */
static void *params_of(const char *order, struct gi_err *err)
{
    void *params = calloc(1, gi_filter_channels.params_nbytes);
    if (!params) {
        gi_fail(err, GI_E_MEMORY, "out of memory: channels");
        return NULL;
    }
    gi_options_default(params, gi_filter_channels.options);
    if (!gi_option_read(params, &gi_filter_channels.options[0], order, err))
        return params;
    free(params);
    return NULL;
}

/* Writes the channels `order` (NULL: the given one) of the first n sources. */
static enum gi_status make(struct job *job, int n, const char *order, const char *path,
                           struct gi_err *err)
{
    void *params = order ? params_of(order, err) : NULL;
    struct gi_image made;
    enum gi_status status = order && !params ? err->status : GI_OK;
    struct gi_step step = {.filter = &gi_filter_channels,
                           .params = order ? params : job->params[SET_FILTER],
                           .others = job->srcs + 1,
                           .nothers = n - 1};
    struct gi_side side = {.others = job->srcs + 1};
    if (!status)
        status = gi_session_run(job->session, &made, &job->srcs[0], &step, 1, &side, err);
    free(params);
    if (status)
        return status;
    const struct gi_device_params *device = job->params[SET_DEVICE];
    status =
        gi_cli_save(&made, &job->metadata, path, &job->io, gi_thread_count(device->threads), err);
    gi_image_free(&made);
    return status;
}

/* ---- split ---- */

static enum gi_status check_outputs(char **operands, int noperands, const struct gi_io_params *io,
                                    struct gi_err *err)
{
    const char *const inputs[] = {operands[1], NULL};
    for (int i = 2; i < noperands; i++) {
        const char *const outputs[] = {operands[i], NULL};
        enum gi_status status = gi_cli_check_save(operands[i], io, err);
        if (!status)
            status = gi_output_check_inputs(outputs, inputs, err);
        for (int j = 2; j < i && !status; j++)
            if (gi_output_same(gi_output_file(operands[j]), gi_output_file(operands[i])))
                status = gi_fail(err, GI_E_USAGE, "%s: is given twice: want a file per channel",
                                 operands[i]);
        if (status)
            return status;
    }
    return GI_OK;
}

static const char *const letters[] = {"k", "ka", "rgb", "rgba"}; /* by number of channels, from 1 */

static enum gi_status split(struct job *job, char **operands, int noperands, struct gi_err *err)
{
    enum gi_status status = load(job, 0, operands[1], err);
    int n = job->srcs[0].channels;
    if (!status && n != noperands - 2)
        status = gi_fail(err, GI_E_USAGE, "%s: has %d channel%s (%s): want as many outputs, not %d",
                         operands[1], n, n == 1 ? "" : "s", letters[n - 1], noperands - 2);
    if (!status)
        status = gi_bundle_new(&job->io.bundle, true, err);
    for (int c = 0; c < n && !status; c++)
        status = make(job, 1, (char[]){letters[n - 1][c], '\0'}, operands[2 + c], err);
    if (!status)
        status = gi_bundle_commit(&job->io.bundle, err);
    gi_bundle_abandon(&job->io.bundle);
    return status;
}

/* ---- join, alpha ---- */

static enum gi_status load_all(struct job *job, char **paths, int n, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++)
        status = load(job, i, paths[i], err);
    return status;
}

static enum gi_status join(struct job *job, char **operands, int noperands, struct gi_err *err)
{
    int n = noperands - 2;
    enum gi_status status = load_all(job, operands + 1, n, err);
    return status ? status : make(job, n, NULL, operands[noperands - 1], err);
}

/* Chooses the order that takes alpha from the gray of the mask, or from its alpha. Errors name both
 * files. */
static enum gi_status alpha_order(const char **order, const struct gi_image *image,
                                  const char *image_path, const struct gi_image *mask,
                                  const char *path, struct gi_err *err)
{
    *order = gi_has_alpha(mask) ? "c2a" : "c2k";
    if (mask->channels == 3)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: has colour and no alpha: want a gray image, or one with alpha", path);
    if (mask->width != image->width || mask->height != image->height)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: %d x %d pixels: want %d x %d, as %s has", path,
                       mask->width, mask->height, image->width, image->height, image_path);
    if (mask->type != image->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: has samples of another type than %s: want --work-depth", path,
                       image_path);
    return GI_OK;
}

static enum gi_status set_alpha(struct job *job, char **operands, int noperands, struct gi_err *err)
{
    const char *order;
    (void)noperands;
    enum gi_status status = load_all(job, operands + 1, 2, err);
    if (!status)
        status = alpha_order(&order, &job->srcs[0], operands[1], &job->srcs[1], operands[2], err);
    return status ? status : make(job, 2, order, operands[3], err);
}

/* ---- of many images ---- */

/* Makes *made: the channels `order` of an image and of `other`, NULL if there is none. */
static enum gi_status order_item(struct gi_image *made, struct gi_imaging *imaging,
                                 struct gi_item *item, const struct gi_image *image,
                                 const struct gi_image *other, const char *order,
                                 struct gi_err *err)
{
    void *params = params_of(order, err);
    if (!params)
        return err->status;
    enum gi_status status =
        gi_imaging_step(imaging, item, made, image, &gi_filter_channels, params, other, err);
    free(params);
    return status ? gi_err_prefix(err, "%s", item->line.input) : GI_OK;
}

static enum gi_status split_channel(const struct gi_batch_files *files, struct gi_imaging *imaging,
                                    struct gi_item *item, const struct gi_image *image,
                                    const struct gi_metadata *metadata, const char *letter,
                                    struct gi_bundle *bundle, struct gi_err *err)
{
    char *path = NULL;
    struct gi_image made = {0};
    enum gi_status status = gi_batch_part(&path, files, item, letter, err);
    if (!status)
        status = order_item(&made, imaging, item, image, NULL, letter, err);
    if (!status)
        status = gi_imaging_save_part(imaging, item, &made, metadata, path, bundle, err);
    gi_image_free(&made);
    free(path);
    return status;
}

static enum gi_status split_item(void *self, const struct gi_batch_files *files,
                                 struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_err *err)
{
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info;
    struct gi_bundle *bundle = NULL;
    (void)self;
    enum gi_status status = gi_imaging_load(imaging, item, &image, &metadata, &info, err);
    if (!status)
        status = gi_bundle_new(&bundle, false, err);
    for (int c = 0; c < image.channels && !status; c++) {
        const char letter[] = {letters[image.channels - 1][c], '\0'};
        status = split_channel(files, imaging, item, &image, &metadata, letter, bundle, err);
    }
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_bundle_abandon(&bundle);
    if (!status)
        gi_item_note_output(item);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

/* The masks from which alpha is taken. */
struct masks {
    const struct gi_io_params *io;
    struct gi_image all; /* width 0: each image has its own */
};

static enum gi_status set_item_alpha(const struct masks *masks, struct gi_imaging *imaging,
                                     struct gi_item *item, struct gi_image *made,
                                     const struct gi_image *image, struct gi_err *err)
{
    struct gi_loading loading = {.allocator = gi_imaging_allocator(imaging)};
    struct gi_image own = {0};
    const struct gi_image *mask = masks->all.width ? &masks->all : &own;
    const char *order;
    enum gi_status status = masks->all.width ? GI_OK
                                             : gi_cli_load_by(&own, NULL, NULL, item->line.beside,
                                                              masks->io, &loading, err);
    if (!status)
        status = alpha_order(&order, image, item->line.input, mask, item->line.beside, err);
    if (!status)
        status = order_item(made, imaging, item, image, mask, order, err);
    gi_image_free(&own);
    return status;
}

static enum gi_status alpha_item(void *self, const struct gi_batch_files *files,
                                 struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_err *err)
{
    struct gi_image image = {0}, made = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info;
    (void)files;
    enum gi_status status = gi_imaging_load(imaging, item, &image, &metadata, &info, err);
    if (!status)
        status = set_item_alpha(self, imaging, item, &made, &image, err);
    gi_image_free(&image);
    if (!status)
        status = gi_imaging_save(imaging, item, &made, &metadata, false, err);
    gi_image_free(&made);
    gi_metadata_free(&metadata);
    return status;
}

/* Splits each of many images; `operands` begin with the verb. */
static enum gi_status split_many(struct gi_batch_job *job, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_batch_work work = {.results = GI_BATCH_A_FILE_A_CHANNEL, .run = split_item};
    job->work = &work;
    job->text = "channels split";
    return gi_batch_run(job, operands + 1, noperands - 1, err);
}

static enum gi_status alpha_many(struct gi_batch_job *job, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_device_params *device = job->params[SET_DEVICE];
    struct masks masks = {.io = job->params[SET_IO]};
    const char *mask = noperands > 1 ? operands[noperands - 1] : NULL;
    const struct gi_batch_work work = {
        .beside = mask, .beside_option = "MASK", .self = &masks, .run = alpha_item};
    char *text = NULL;
    if (!mask)
        return gi_fail(err, GI_E_USAGE, "alpha: want INPUT... MASK");
    enum gi_status status = GI_OK;
    if (!strchr(mask, '{'))
        status = gi_cli_load(&masks.all, NULL, NULL, mask, masks.io,
                             gi_thread_count(device->threads), NULL, err);
    if (!status && asprintf(&text, "channels alpha '%s'", mask) < 0)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a mask's name");
    job->work = &work;
    job->text = text;
    if (!status)
        status = gi_batch_run(job, operands + 1, noperands - 2, err);
    gi_image_free(&masks.all);
    free(text);
    return status;
}

/* ---- the command ---- */

static const struct verb {
    const char *name, *operands;
    int least, most; /* number of operands, with the verb */
    enum gi_status (*run)(struct job *job, char **operands, int noperands, struct gi_err *err);
    /* For many images, without an OUTPUT; NULL: this verb makes one image of several. */
    enum gi_status (*run_many)(struct gi_batch_job *job, char **operands, int noperands,
                               struct gi_err *err);
} verbs[] = {
    {"split", "INPUT OUTPUT...", 3, 2 + GI_MAX_CHANNELS, split, split_many},
    {"join", "INPUT... OUTPUT", 3, 2 + SOURCES, join, NULL},
    {"alpha", "INPUT MASK OUTPUT", 4, 4, set_alpha, alpha_many},
};

static const struct verb *verb_of(const char *word)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    return NULL;
}

static enum gi_status check_verb(const struct verb *verb, void *const *params, char **operands,
                                 int noperands, struct gi_err *err)
{
    const struct gi_io_params *io = params[SET_IO];
    if (noperands < verb->least || noperands > verb->most)
        return gi_fail(err, GI_E_USAGE, "%s: want %s", verb->name, verb->operands);
    return verb->run == split ? check_outputs(operands, noperands, io, err)
                              : gi_cli_check_save(operands[noperands - 1], io, err);
}

static enum gi_status run_verb(const struct verb *verb, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    struct job job = {.params = params, .io = *(const struct gi_io_params *)params[SET_IO]};
    enum gi_status status = check_verb(verb, params, operands, noperands, err);
    if (!status)
        status = gi_session_new(&job.session, params[SET_DEVICE], err);
    if (status)
        return status;
    const struct gi_batch_params *many = params[SET_BATCH];
    gi_session_watch(job.session, many->progress, 1);
    status = verb->run(&job, operands, noperands, err);
    for (int i = 0; i < SOURCES; i++)
        gi_image_free(&job.srcs[i]);
    gi_metadata_free(&job.metadata);
    gi_session_free(&job.session);
    return status;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct verb *verb = noperands > 0 ? verb_of(operands[0]) : NULL;
    const struct gi_batch_params *p = params[SET_BATCH];
    bool many = gi_batch_is_wanted(p);
    if (verb && order_of(params[SET_FILTER]) && verb->run != join)
        return gi_fail(err, GI_E_USAGE, "%s: takes no --order", verb->name);
    if (verb && many && !verb->run_many)
        return gi_fail(err, GI_E_USAGE,
                       "%s: makes one image of several: goes with no option for many", operands[0]);
    if (verb && p->report && !many)
        return gi_fail(err, GI_E_USAGE,
                       "--report: is for many images: want --out-dir or --out too");
    if (verb && many)
        return verb->run_many(&(struct gi_batch_job){.command = self, .params = params}, operands,
                              noperands, err);
    if (verb)
        return run_verb(verb, params, operands, noperands, err);
    if (!order_of(params[SET_FILTER]))
        return gi_fail(err, GI_E_USAGE, "want split, join or alpha in front, or --order LETTERS");
    if (noperands != 2 && !many)
        return gi_fail(err, GI_E_USAGE, "want INPUT OUTPUT with --order");
    return gi_command_filter.run(self, params, operands, noperands, err);
}

const struct gi_command gi_command_channels = {
    .name = "channels",
    .operands = "[split|join|alpha] FILE...",
    .manual = "Samples stay as they are.\n\n"
              "channels INPUT OUTPUT --order LETTERS permutes the channels: bgr swaps red and "
              "blue, a or alpha is the alpha as a gray image, c drops alpha, co makes it opaque, "
              "rrr is the red channel as gray in three. One channel is gray, two are gray and "
              "alpha, three red, green and blue, four these and alpha. In a gray image r, g and "
              "b are its gray.\n\n"
              "channels split INPUT OUTPUT... writes each channel as a gray image, in the order "
              "red, green, blue, alpha; all of them or none. For many images, with --out-dir or "
              "--out, channels are named NAME_r, _g, _b and _a, of gray images NAME_k, or by "
              "{channel} in --out.\n\n"
              "channels join INPUT... OUTPUT joins the channels of up to four images of one "
              "size; with --order those that it names, where 2k is the gray of the second image. "
              "It makes one image of several and takes no options for many images.\n\n"
              "channels alpha INPUT MASK OUTPUT takes colour from the first image and alpha from "
              "the second: its gray, or its alpha if it has one. For many images, channels alpha "
              "INPUT... MASK --out-dir DIR, MASK is one image for all, or a template as in "
              "--out: 'masks/{stem}.png'.",
    .examples = "gpuimg channels photo.png bgr.png --order bgr\n"
                "gpuimg channels split photo.png red.png green.png blue.png\n"
                "gpuimg channels join red.png green.png blue.png photo.png\n"
                "gpuimg channels alpha photo.png mask.png cut-out.png\n"
                "gpuimg channels split photos/*.png --out 'out/{channel}/{name}'",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_channels,
    .run = run,
};
