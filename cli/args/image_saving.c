/* Asks how an image will be saved, before there are samples.
 * SPDX-License-Identifier: MIT */
#include "cli/args/image_files.h"
#include "cli/args/quality_target.h"

#include <math.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/log.h"
#include "cli/paths/output.h"
#include "imgio/quality_search.h"
#include "imgio/small.h"

bool gi_cli_save_coding(struct gi_coding *coding, const struct gi_image *shape,
                        const struct gi_metadata *metadata, const char *path,
                        const struct gi_io_params *io, int quality)
{
    const double black[3] = {0};
    struct gi_save_options options = gi_cli_save_options(io);
    const struct gi_quality_target *target = &io->encoding.target;
    options.background = io->background ? black : NULL; /* any colour composites */
    int most = options.quality == GI_QUALITY_KEEP ? GI_QUALITY_MAX : options.quality;
    options.quality = quality ? quality : options.quality;
    if (target->ssim > 0 || !gi_save_coding(coding, shape, metadata, path, &options))
        return false;
    bool scored = target->ssimulacra2 > 0; /* false for NAN, which means unset */
    coding->ssimulacra2 = scored ? target->ssimulacra2 : 0;
    coding->most = most;
    return !scored || !coding->strip_rows;
}

bool gi_cli_saves_rows(const struct gi_image *shape, const struct gi_metadata *metadata,
                       const char *path, const struct gi_io_params *io)
{
    struct gi_save_options options = gi_cli_save_options(io);
    bool judged = gi_quality_target_is_set(&io->encoding.target);
    return !io->background && !judged && gi_save_takes_rows(shape, metadata, path, &options);
}

enum gi_status gi_cli_check_way(const char *input, const char *output, struct gi_io_params *io,
                                const struct gi_file_info *info, struct gi_err *err)
{
    bool keep = !io->format && strcmp(output, "-") == 0;
    if (info && keep) /* the result of an operation on a PBM is rarely black and white */
        io->format = strcmp(info->format, "pbm") == 0 ? "pgm" : info->format;
    const char *const outputs[] = {output, NULL}, *const inputs[] = {input, NULL};
    /* An output may replace the input itself, because it is first written to a temporary file. This
     * is refused if the input holds several images, or if the output is standard output. */
    if (info)
        return info->images == 1 ? GI_OK : gi_output_check_inputs(outputs, inputs, err);
    struct gi_io_params any = *io;
    if (keep)
        any.format = "png";
    enum gi_status status = gi_cli_check_save(output, &any, err);
    return status || strcmp(gi_output_file(output), "-")
               ? status
               : gi_output_check_inputs(outputs, inputs, err);
}

enum gi_status gi_cli_missing_first(enum gi_status status, char *const *inputs, int n,
                                    struct gi_err *err)
{
    struct stat st;
    for (int i = 0; i < n && status == GI_E_USAGE; i++) {
        struct gi_selection selection;
        char *file = gi_small_copy_n(inputs[i], gi_path_file(inputs[i], &selection));
        if (strcmp(file, "-") != 0 && stat(file, &st) != 0 &&
            (errno == ENOENT || errno == ENOTDIR)) {
            int why = errno;
            *err = (struct gi_err){0};
            status = gi_fail(err, GI_E_IO, "%s: %s%s", inputs[i], strerror(why),
                             gi_path_hint(inputs[i]));
        }
        free(file);
    }
    return status;
}

bool gi_cli_writes_pages(const char *path)
{
    const char *name = gi_save_format(path, NULL);
    return !strchr(path, '{') && gi_joins(name, GI_JOIN_PAGES);
}

enum gi_status gi_cli_end_joined(struct gi_joiner *joiner, const char *path,
                                 const struct gi_io_params *io, struct gi_err *err)
{
    const char *lost = gi_joiner_lost(joiner);
    char words[160];
    snprintf(words, sizeof words, "an animation cannot hold metadata of later frames: %s", lost);
    if (*lost && io->strict)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: %s", path, words);
    if (*lost && !io->quiet)
        gi_cli_warn_of(path, words);
    return gi_joiner_end(joiner, err);
}

struct gi_joined_timing gi_cli_timing(const struct gi_io_params *io)
{
    const struct gi_io_timing *timing = &io->encoding.timing;
    return (struct gi_joined_timing){.delay_ms =
                                         timing->delay_ms >= 0 ? (int)lrint(timing->delay_ms) : -1,
                                     .plays = timing->plays >= 0 ? (int)lrint(timing->plays) : -1};
}
