/* Finds the highest quality whose file is not too large, by bisection. Every file is encoded into
 * memory, at most 8 times.
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

/* Sets *best to the largest file that is small enough. */
static enum gi_status search(struct file *best, const struct gi_format *format,
                             const struct gi_image *image, const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    int quality = options->quality == GI_QUALITY_KEEP ? QUALITY_MAX : options->quality;
    int below = 0, above = quality + 1; /* small enough; too large */
    size_t least = 0;
    enum gi_status status = GI_OK;
    for (; !status && above - below > 1; quality = (below + above) / 2) {
        struct file file = {0};
        status = encode_at(&file, quality, format, image, metadata, options, err);
        if (!status && file.nbytes <= options->max_nbytes) {
            free(best->bytes);
            *best = file;
            below = quality;
        } else {
            free(file.bytes);
            least = file.nbytes;
            above = quality;
            /* The coder may have no quality 100, which no option asked for. */
            if (status == GI_E_UNSUPPORTED && quality == QUALITY_MAX &&
                options->quality == GI_QUALITY_KEEP)
                status = GI_OK;
        }
    }
    if (!status && !best->bytes)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "has %zu bytes at quality 1, over the limit of %llu (--max-file-size)",
                       least, (unsigned long long)options->max_nbytes);
    return status;
}

enum gi_status gi_encode_sized(struct gi_sink *sink, const struct gi_format *format,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options, struct gi_err *err)
{
    struct file best = {0};
    if (!options->max_nbytes)
        return format->encode(sink, image, metadata, options, err);
    if (!format->info.quality)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--max-file-size: is for formats with a --quality, not for %s",
                       format->info.name);
    enum gi_status status = search(&best, format, image, metadata, options, err);
    if (!status)
        status = gi_sink_write(sink, best.bytes, best.nbytes, err);
    free(best.bytes);
    return status;
}
