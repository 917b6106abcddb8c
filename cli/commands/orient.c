/* gpuimg orient: turns an image upright, or as an EXIF orientation says.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/commands/lossless.h"

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH, SET_TAG };

extern const struct gi_filter gi_filter_orient;

struct tag_params {
    int tag;
    struct gi_lossless_params lossless;
};

static const struct gi_option tag_options[] = {
    {GI_OPTION("tag", INT, struct tag_params, tag), .default_text = "1", .min = 1, .max = 8,
     .help = "The EXIF orientation to store in the output; its pixels are turned the opposite way, "
             "so that the picture looks the same"},
    GI_LOSSLESS_OPTION(struct tag_params, lossless.way),
    {0},
};

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    void *own[GI_OPTION_SETS_MAX];
    const struct tag_params *p = params[SET_TAG];
    io.passed.orientation = p->tag;
    if (p->tag > 1 && io.encoding.keep_orientation)
        return gi_fail(err, GI_E_USAGE, "--tag: want no --keep-orientation");
    if (p->lossless.way && p->tag > 1)
        return gi_fail(err, GI_E_USAGE, "--lossless: want no --tag");
    if (p->lossless.way && gi_lossless_check(&io, (enum gi_lossless_way)p->lossless.way, err))
        return err->status;
    io.passed.lossless = p->lossless.way ? &p->lossless : NULL;
    for (int i = 0; i < GI_OPTION_SETS_MAX; i++)
        own[i] = params[i];
    own[SET_IO] = &io;
    return gi_command_filter.run(self, own, operands, noperands, err);
}

const struct gi_command gi_command_orient = {
    .name = "orient",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg orient phone.jpg upright.jpg\n"
                "gpuimg orient scan.png upright.png --orientation 6\n"
                "gpuimg orient upright.jpg tagged.jpg --tag 6\n"
                "gpuimg orient --lossless photos/*.jpg --out-dir upright\n"
                "gpuimg orient --lossless=auto --recursive photos --out-dir upright\n"
                "gpuimg orient --lossless photo.jpg smaller.jpg --progressive --strip",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)},
             {"Metadata and JPEG", tag_options, sizeof(struct tag_params)}},
    .filter = &gi_filter_orient,
    .run = run,
};
