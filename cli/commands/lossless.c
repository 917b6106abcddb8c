/* The commands that can turn or crop a JPEG without decoding it: flip, rotate, transpose, crop.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/lossless.h"

#include <math.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/commands.h"

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH, SET_LOSSLESS };

extern const struct gi_filter gi_filter_flip, gi_filter_rotate, gi_filter_transpose, gi_filter_crop;

const struct gi_choice gi_lossless_choices[] = {
    {"no", NULL, "decode and encode"},
    {"perfect", NULL, "every block is turned; incomplete blocks at a mirrored side are an error"},
    {"trim", NULL, "incomplete blocks at a mirrored side are cut off"},
    {"auto", NULL,
     "as perfect where the result is exactly what was asked for; all other images, also of other "
     "formats, are decoded and encoded, for which --quality and --subsampling may be given, and "
     "--verbose names them"},
    {0},
};

static const struct gi_option options[] = {
    GI_LOSSLESS_OPTION(struct gi_lossless_params, way),
    {0},
};

enum gi_status gi_lossless_check(const struct gi_io_params *io, enum gi_lossless_way way,
                                 struct gi_err *err)
{
    const struct gi_io_encoding *encoding = &io->encoding;
    bool encodes = way == GI_LOSSLESS_AUTO; /* some images */
    const struct {
        bool given;
        const char *name;
    } others[] = {{io->depth, "depth"},
                  {io->work_depth, "work-depth"},
                  {io->gray, "gray"},
                  {io->linear, "linear"},
                  {io->background, "background"},
                  {io->bands.list, "bands"},
                  {io->nodata, "nodata"},
                  {encoding->quality && !encodes, "quality"},
                  {encoding->keep_orientation, "keep-orientation"},
                  {encoding->max_file_size, "max-file-size"},
                  {encoding->target.ssimulacra2 > 0, "target-ssimulacra2"},
                  {encoding->target.ssim > 0, "target-ssim"},
                  {encoding->jpeg.subsampling && !encodes, "subsampling"},
                  {encoding->color.profile, "profile"},
                  {encoding->color.assign, "assign"},
                  {encoding->dpi > 0, "dpi"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return gi_fail(err, GI_E_USAGE,
                           "--lossless: samples are not decoded, want no --%s (or no --lossless)",
                           others[i].name);
    return encoding->strip > GI_STRIP_ALL
               ? gi_fail(err, GI_E_USAGE,
                         "--lossless: want --strip=all, which drops all metadata, or no --strip")
               : GI_OK;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct gi_lossless_params *lossless = params[SET_LOSSLESS];
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    void *own[GI_OPTION_SETS_MAX];
    if (!lossless->way)
        return gi_command_filter.run(self, params, operands, noperands, err);
    if (gi_lossless_check(&io, (enum gi_lossless_way)lossless->way, err))
        return err->status;
    for (int i = 0; i < GI_OPTION_SETS_MAX; i++)
        own[i] = params[i];
    io.passed.lossless = lossless;
    own[SET_IO] = &io;
    return gi_command_filter.run(self, own, operands, noperands, err);
}

#define ROW(filter_)                                                                               \
    {                                                                                              \
        .operands = "INPUT OUTPUT", .min_operands = 2, .max_operands = 2,                          \
        .sets = {{0},                                                                              \
                 {"Input and output", gi_io_options, sizeof(struct gi_io_params)},                 \
                 {"Running", gi_device_options, sizeof(struct gi_device_params)},                  \
                 {"Many images", gi_batch_options, sizeof(struct gi_batch_params)},                \
                 {"JPEG", options, sizeof(struct gi_lossless_params)}},                            \
        .filter = &(filter_), .run = run,                                                          \
    }

const struct gi_command gi_command_flip = ROW(gi_filter_flip),
                        gi_command_rotate = ROW(gi_filter_rotate),
                        gi_command_transpose = ROW(gi_filter_transpose),
                        gi_command_crop = ROW(gi_filter_crop);
