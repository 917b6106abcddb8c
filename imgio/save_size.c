/* Finds the highest quality whose file is not too large, or the lowest whose file a judge finds
 * good enough, by bisection. Every file is encoded into memory, at most 8 times.
 * SPDX-License-Identifier: MIT */
#include "imgio/save_size.h"

#include <stdlib.h>

enum { QUALITY_MAX = 100 };

struct file {
    void *bytes;
    size_t nbytes;
};

static enum gi_status encode_at(struct file *file, int quality, const struct gi_format *format,
                                const struct gi_image *image, const struct gi_metadata *metadata,
                                const struct gi_save_options *options, struct gi_err *err)
{
    struct gi_save_options own = *options;
    struct gi_sink *sink;
    own.quality = quality;
    enum gi_status status = gi_sink_open_memory(&sink, format->info.name, err);
    if (status)
        return status;
    status = format->encode(sink, image, metadata, &own, err);
    if (!status)
        return gi_sink_take(&sink, &file->bytes, &file->nbytes, err);
    gi_sink_abandon(&sink);
    return status;
}

/* Sets *holds if the file is small enough, or not good enough: qualities below one that holds hold,
 * too. */
static enum gi_status judge(bool *holds, const struct file *file, const struct gi_image *image,
                            const struct gi_save_options *options, struct gi_err *err)
{
    const struct gi_judge *by = options->judge;
    bool good = false;
    if (!by) {
        *holds = file->nbytes <= options->max_nbytes;
        return GI_OK;
    }
    enum gi_status status = by->is_good(by->arg, &good, image, file->bytes, file->nbytes, err);
    *holds = !good;
    return status;
}

static enum gi_status none_fits(const struct gi_save_options *options, size_t least, int most,
                                struct gi_err *err)
{
    if (options->judge)
        return gi_fail(err, GI_E_UNSUPPORTED, "is not good enough at quality %d (%s)", most,
                       options->judge->wanted);
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "has %zu bytes at quality 1, over the limit of %llu (--max-file-size)", least,
                   (unsigned long long)options->max_nbytes);
}

/* Sets *best to the largest file that is small enough, or to the smallest one that is good. */
static enum gi_status search(struct file *best, const struct gi_format *format,
                             const struct gi_image *image, const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    int most = options->quality == GI_QUALITY_KEEP ? QUALITY_MAX : options->quality;
    int quality = most, below = 0, above = most + 1; /* hold; do not */
    size_t least = 0;
    enum gi_status status = GI_OK;
    for (; !status && above - below > 1; quality = (below + above) / 2) {
        struct file file = {0};
        bool holds = false;
        status = encode_at(&file, quality, format, image, metadata, options, err);
        /* The coder may have no quality 100, which no option asked for. */
        if (status == GI_E_UNSUPPORTED && quality == QUALITY_MAX &&
            options->quality == GI_QUALITY_KEEP) {
            status = GI_OK;
            above = --most + 1;
            continue;
        }
        if (!status)
            status = judge(&holds, &file, image, options, err);
        if (!status && holds != (options->judge != NULL)) {
            free(best->bytes);
            *best = file;
        } else {
            free(file.bytes);
            least = file.nbytes;
        }
        below = holds ? quality : below;
        above = holds ? above : quality;
        if (options->judge && below == most)
            break;
    }
    return status || best->bytes ? status : none_fits(options, least, most, err);
}

enum gi_status gi_encode_sized(struct gi_sink *sink, const struct gi_format *format,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options, struct gi_err *err)
{
    struct file best = {0};
    if (!options->max_nbytes && !options->judge)
        return format->encode(sink, image, metadata, options, err);
    if (!format->info.quality)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: is for formats with a --quality, not for %s",
                       options->judge ? options->judge->wanted : "--max-file-size",
                       format->info.name);
    enum gi_status status = search(&best, format, image, metadata, options, err);
    if (!status)
        status = gi_sink_write(sink, best.bytes, best.nbytes, err);
    free(best.bytes);
    return status;
}
