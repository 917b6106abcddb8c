/* gpuimg channels: permutes the channels of an image, writes them to separate files, or joins
 * channels of several images.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"
#include "cli/inputs/file_batch.h"
#include "cli/paths/output.h"
#include "cli/run/common_metadata.h"
#include "cli/run/imaging.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/geo.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/small.h"
#include "kernels/color.h"

#include <stdlib.h>
#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH, SOURCES = GI_PERMUTE_CHANNELS_SOURCES };

extern const struct gi_filter gi_filter_channels;

/* What a verb does with each image. */
struct verb_work {
    bool alpha; /* true: alpha comes from the second source; false: `order` chooses the channels */
    const char *order; /* NULL: as the operation's default */
    /* For a single image the paths of the sources, or for split those of the outputs; NULL if the
     * item names them. */
    char *const *paths;
    int n;                /* number of sources, or for split of outputs */
    struct gi_image mask; /* second source for all images; width 0: each image has its own */
};

/* --order, the filter's first option. */
static const char *order_of(const void *params)
{
    const char *order;
    memcpy(&order, (const char *)params + gi_filter_channels.options[0].offset, sizeof order);
    return order;
}

/* Makes *made from those channels of the n images that `order` names. */
static enum gi_status make(struct gi_image *made, struct gi_imaging *imaging, struct gi_item *item,
                           const struct gi_image *images, int n, const char *order,
                           struct gi_err *err)
{
    void *params = gi_filter_params(&gi_filter_channels);
    enum gi_status status =
        order ? gi_option_read(params, &gi_filter_channels.options[0], order, err) : GI_OK;
    const struct gi_step step = {.filter = &gi_filter_channels,
                                 .params = params,
                                 .others = n > 1 ? images + 1 : NULL,
                                 .nothers = n - 1};
    if (!status)
        status = gi_imaging_step(imaging, &item->line, made, images, &step, NULL, err);
    free(params);
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

/* Writes the letter or the name of channel c, for the name of its file. */
static void name_channel(char name[16], const struct gi_image *image, const struct gi_bands *bands,
                         int c)
{
    bool band = bands->n && c != bands->alpha && (bands->colors == 1 || c >= 3);
    if (band)
        gi_band_name(name, bands, c);
    else if (bands->n)
        snprintf(name, 16, "%c", c == bands->alpha ? 'a' : "rgb"[c]);
    else
        snprintf(name, 16, "%c", letters[image->channels - 1][c]);
}

static enum gi_status split_channel(const struct verb_work *work,
                                    const struct gi_batch_files *files, struct gi_imaging *imaging,
                                    struct gi_item *item, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_bands *bands, int c, struct gi_bundle *bundle,
                                    struct gi_err *err)
{
    const struct gi_bands singly = {.n = bands->n, .colors = 1, .alpha = -1};
    char *path = NULL, letter[16];
    struct gi_image made = {0};
    enum gi_status status = GI_OK;
    name_channel(letter, image, bands, c);
    if (files)
        status = gi_batch_part(&path, files, item, letter, err);
    if (!status && bands->n)
        status = gi_bands_part(&made, image, &singly, c, err);
    else if (!status)
        status = make(&made, imaging, item, image, 1, letter, err);
    if (status && files)
        gi_err_prefix(err, "%s", item->line.input);
    if (!status)
        status = gi_imaging_save_part(imaging, item, &made, metadata, files ? path : work->paths[c],
                                      bundle, err);
    gi_image_free(&made);
    free(path);
    return status;
}

static enum gi_status split_item(void *self, const struct gi_batch_files *files,
                                 struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_err *err)
{
    const struct verb_work *work = self;
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    struct gi_bundle *bundle = NULL;
    item->source.takes_bands = true;
    enum gi_status status = gi_imaging_load(imaging, item, &image, &metadata, &info, false, err);
    const struct gi_bands bands = info.bands;
    char text[GI_BANDS_TEXT];
    int n = image.channels;
    if (!status && !files && n != work->n)
        status = gi_fail(err, GI_E_USAGE, "%s: has %d channel%s (%s): want as many outputs, not %d",
                         item->line.input, n, n == 1 ? "" : "s",
                         bands.n ? gi_bands_text(text, &bands) : letters[n - 1], work->n);
    if (!status && bands.n)
        gi_bands_forget(&metadata);
    if (!status)
        status = gi_bundle_new(&bundle, !files, err);
    for (int c = 0; c < n && !status; c++)
        status =
            split_channel(work, files, imaging, item, &image, &metadata, &bands, c, bundle, err);
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_bundle_abandon(&bundle);
    if (!status && files)
        gi_item_note_output(item);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

/* ---- join, alpha ---- */

/* Chooses the channel order that takes alpha from the mask. This is the mask's alpha channel if the
 * mask has one, otherwise its gray channel. Errors name both files. */
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

/* Loads the sources behind the first. `metadata`, those of the first, become what all share, and
 * the others are named. Those of a mask are not taken. */
static enum gi_status load_further(struct gi_image *images, struct gi_metadata *metadata,
                                   const struct verb_work *work, struct gi_imaging *imaging,
                                   struct gi_item *item, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    struct gi_common_metadata common = {0};
    struct gi_metadata first = *metadata;
    if (work->mask.width) {
        images[1] = work->mask;
        images[1].owner = GI_OWNER_NONE;
        return GI_OK;
    }
    if (!work->alpha) {
        gi_geo_forget_statistics(&first);
        gi_common_metadata_add(&common, metadata, &first);
    }
    for (int i = 1; i < work->n && !status; i++) {
        struct gi_metadata further = {0};
        status = gi_imaging_load_further(imaging, item, &images[i],
                                         work->paths ? work->paths[i] : item->line.beside.path,
                                         NULL, !work->alpha, NULL, &further, err);
        gi_geo_forget_statistics(&further);
        if (!status && !work->alpha)
            gi_common_metadata_add(&common, metadata, &further);
        gi_metadata_free(&further);
    }
    gi_common_metadata_end(&common, metadata);
    gi_gain_map_drop(metadata, "of the old samples");
    return status || work->alpha ? status : gi_linear_light_renew(metadata, err);
}

/* Makes one image from the channels of several. */
static enum gi_status join_item(void *self, const struct gi_batch_files *files,
                                struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_err *err)
{
    const struct verb_work *work = self;
    struct gi_image images[SOURCES] = {{0}}, made = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info;
    const char *order = work->order;
    enum gi_status status =
        gi_imaging_load(imaging, item, &images[0], &metadata, &info, false, err);
    if (!status)
        status = load_further(images, &metadata, work, imaging, item, err);
    if (!status && work->alpha)
        status = alpha_order(&order, &images[0], item->line.input, &images[1],
                             work->paths ? work->paths[1] : item->line.beside.path, err);
    if (!status) {
        status = make(&made, imaging, item, images, work->n, order, err);
        if (status && files)
            gi_err_prefix(err, "%s", item->line.input);
    }
    for (int i = 0; i < SOURCES; i++)
        gi_image_free(&images[i]);
    if (!status)
        status = gi_imaging_save(imaging, item, &made, &metadata, NULL, false, err);
    gi_image_free(&made);
    gi_metadata_free(&metadata);
    return status;
}

/* ---- of many images ---- */

/* Splits each of many images. The first operand is the verb. */
static enum gi_status split_many(struct gi_batch_job *job, char **operands, int noperands,
                                 struct gi_err *err)
{
    struct verb_work split = {0};
    const struct gi_batch_work work = {
        .results = GI_BATCH_A_FILE_A_CHANNEL, .self = &split, .run = split_item};
    job->work = &work;
    job->text = "channels split";
    return gi_drive(job, operands + 1, noperands - 1, err);
}

static enum gi_status alpha_many(struct gi_batch_job *job, char **operands, int noperands,
                                 struct gi_err *err)
{
    const struct gi_device_params *device = job->params[SET_DEVICE];
    struct verb_work join = {.alpha = true, .n = 2};
    const char *mask = noperands > 1 ? operands[noperands - 1] : NULL;
    const struct gi_batch_work work = {
        .beside = mask, .beside_option = "MASK", .self = &join, .run = join_item};
    if (!mask)
        return gi_fail(err, GI_E_USAGE, "alpha: want INPUT... MASK");
    enum gi_status status = GI_OK;
    struct gi_io_params io = *(const struct gi_io_params *)job->params[SET_IO];
    io.bands.list = NULL;
    if (!strchr(mask, '{'))
        status = gi_cli_load(&join.mask, NULL, NULL, mask, &io, gi_thread_count(device->threads),
                             NULL, err);
    char *text = gi_small_format("channels alpha '%s'", mask);
    job->work = &work;
    job->text = text;
    if (!status)
        status = gi_drive(job, operands + 1, noperands - 2, err);
    gi_image_free(&join.mask);
    free(text);
    return status;
}

/* ---- the command ---- */

static const struct verb {
    const char *name, *operands;
    int least, most; /* number of operands, with the verb */
    enum gi_status (*run)(void *self, const struct gi_batch_files *files,
                          struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err);
    /* Processes many images, without an operand OUTPUT. NULL for a form of the command that makes
     * one image of several (join). */
    enum gi_status (*run_many)(struct gi_batch_job *job, char **operands, int noperands,
                               struct gi_err *err);
} verbs[] = {
    {"split", "INPUT OUTPUT...", 3, 2 + GI_BANDS_MAX, split_item, split_many},
    {"join", "INPUT... OUTPUT", 3, 2 + SOURCES, join_item, NULL},
    {"alpha", "INPUT MASK OUTPUT", 4, 4, join_item, alpha_many},
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
    bool splits = verb->run == split_item;
    enum gi_status status = splits ? check_outputs(operands, noperands, io, err)
                                   : gi_cli_check_save(operands[noperands - 1], io, err);
    return gi_cli_missing_first(status, operands + 1, splits ? 1 : noperands - 2, err);
}

/* Runs a verb on one image. The first operand is the verb. */
static enum gi_status run_one(const struct verb *verb, struct gi_batch_job job, char **operands,
                              int noperands, struct gi_err *err)
{
    bool splits = verb->run == split_item;
    struct verb_work how = {.alpha = verb->run_many && !splits,
                            .order = order_of(job.params[SET_FILTER]),
                            .paths = operands + (splits ? 2 : 1),
                            .n = noperands - 2};
    const struct gi_batch_work work = {.self = &how, .run = verb->run};
    char *names[] = {operands[1], operands[noperands - 1]};
    enum gi_status status = check_verb(verb, job.params, operands, noperands, err);
    job.work = &work;
    return status ? status : gi_drive(&job, names, splits ? 1 : 2, err);
}

/* Returns whether --order has the numbers of bands, such as "5,4,3", in place of letters. */
static bool is_of_numbers(const char *order)
{
    return order && (strpbrk(order, ",-") || !order[strspn(order, "0123456789")]);
}

/* Takes the bands that --order numbers. They are chosen when the file is read, as by --bands. */
static enum gi_status take_bands(const struct gi_command *self, void *const *params,
                                 char **operands, int noperands, struct gi_err *err)
{
    struct gi_io_params *io = params[SET_IO];
    const char *order = order_of(params[SET_FILTER]);
    const struct gi_batch_job job = {.command = self, .params = params};
    struct gi_band_choice choice;
    if (!gi_band_choice_read(&choice, order, order + strlen(order)))
        return gi_fail(err, GI_E_USAGE,
                       "--order %s: want numbers from 1, such as 5,4,3 or 1-6, or 1,2,3,a4", order);
    if (io->bands.list)
        return gi_fail(err, GI_E_USAGE, "--bands and --order %s: want one of them", order);
    io->bands.list = order;
    return gi_drive(&job, operands, noperands, err);
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct verb *verb = noperands > 0 ? verb_of(operands[0]) : NULL;
    const struct gi_batch_params *p = params[SET_BATCH];
    bool many = gi_batch_is_wanted(p);
    if (verb && order_of(params[SET_FILTER]) && verb->run_many)
        return gi_fail(err, GI_E_USAGE, "%s: takes no --order", verb->name);
    if (verb && many && !verb->run_many)
        return gi_fail(err, GI_E_USAGE,
                       "%s: makes one image of several: goes with no option for many", operands[0]);
    if (verb && p->report && !many)
        return gi_fail(err, GI_E_USAGE,
                       "--report: is for many images: want --out-dir or --out too");
    struct gi_batch_job job = {.command = self, .params = params};
    if (verb && is_of_numbers(order_of(params[SET_FILTER])))
        return gi_fail(err, GI_E_USAGE, "%s: --order %s: want letters, such as 2k", verb->name,
                       order_of(params[SET_FILTER]));
    if (verb)
        return many ? verb->run_many(&job, operands, noperands, err)
                    : run_one(verb, job, operands, noperands, err);
    if (!order_of(params[SET_FILTER]))
        return gi_fail(err, GI_E_USAGE, "want split, join or alpha in front, or --order LETTERS");
    if (noperands != 2 && !many)
        return gi_fail(err, GI_E_USAGE, "want INPUT OUTPUT with --order");
    if (is_of_numbers(order_of(params[SET_FILTER])))
        return take_bands(self, params, operands, noperands, err);
    return gi_command_filter.run(self, params, operands, noperands, err);
}

const struct gi_command gi_command_channels = {
    .name = "channels",
    .operands = "[split|join|alpha] FILE...",
    .manual = "The command has four forms. None of them changes samples.\n\n"
              "channels INPUT OUTPUT --order LETTERS makes an image of the named channels. For "
              "example, \"bgr\" swaps red and blue; \"a\" or \"alpha\" gives the alpha channel "
              "as a gray image; \"c\" drops alpha; \"co\" makes the image opaque; \"rrr\" gives "
              "a colour image whose three channels are all the red one. One letter gives a gray "
              "image, two give gray and alpha, three give red, green and blue, and four give "
              "red, green, blue and alpha. In a gray image \"r\", \"g\" and \"b\" mean its "
              "gray. Numbers separated by commas, such as \"5,4,3\", are those of bands, as in "
              "--bands, and make an image of as many bands.\n\n"
              "channels split INPUT OUTPUT... writes each channel as a gray image. Give as many "
              "outputs as the image has channels, in the order red, green, blue, alpha; all of "
              "them are written or none. With many images (--out-dir or --out) the names are "
              "NAME_r, NAME_g, NAME_b and NAME_a, NAME_k for gray images, and NAME_band1 "
              "and so on for bands. In --out, {channel} stands for the letter or the band.\n\n"
              "channels join INPUT... OUTPUT joins the channels of up to four images of the same "
              "size. With --order it takes only the named ones, where \"2k\" is the gray of the "
              "second image. For example, \"k2kz\" makes a colour image of two gray ones: \"k\", "
              "the gray of the first, becomes red, \"2k\", that of the second, becomes green, and "
              "\"z\" makes blue zero. The options for many images do not apply, because the result "
              "is one image.\n\n"
              "channels alpha INPUT MASK OUTPUT takes the colours from the first image and the "
              "alpha from the second image: the alpha of the second image if it has one, "
              "otherwise its gray. For many images the form is channels alpha INPUT... MASK "
              "--out-dir DIR, where MASK is one image for all inputs or a template as in --out, "
              "for example 'masks/{stem}.png'.",
    .examples = "gpuimg channels photo.png bgr.png --order bgr\n"
                "gpuimg channels satellite.tif false.tif --order 5,4,3\n"
                "gpuimg channels split photo.png red.png green.png blue.png\n"
                "gpuimg channels join red.png green.png blue.png photo.png\n"
                "gpuimg channels join before.png after.png both.png --order k2kz\n"
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
