/* Finds the highest quality whose file is not too large, or the lowest whose file a judge finds
 * good enough. Every file is encoded into memory.
 * SPDX-License-Identifier: MIT */
#include "imgio/save_size.h"

#include <stdio.h>
#include <stdlib.h>

#include "imgio/codecs.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/jpeg/jpeg_write.h"
#include "imgio/quality_search.h"

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

/* `least` is the number of bytes at quality 1. */
static enum gi_status none_fits(const struct gi_format *format, const struct gi_metadata *metadata,
                                const struct gi_save_options *options, size_t least, int most,
                                struct gi_err *err)
{
    const struct gi_part *map = format == &gi_format_jpeg ? gi_gain_map_of(metadata) : NULL;
    char of_map[64] = "";
    if (options->judge)
        return gi_fail(err, GI_E_UNSUPPORTED, "is not good enough at quality %d (%s)", most,
                       options->judge->wanted);
    if (map)
        snprintf(of_map, sizeof of_map, ", %zu of them of its gain map", map->nbytes);
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "has %zu bytes at quality 1%s, over the limit of %llu (--max-file-size)", least,
                   of_map, (unsigned long long)options->max_nbytes);
}

static int most_of(const struct gi_save_options *options)
{
    return options->quality == GI_QUALITY_KEEP ? GI_QUALITY_MAX : options->quality;
}

/* Begins a search whose lower quality is the one wanted if there is no judge, otherwise the higher
 * one. */
static struct gi_quality_search begin(const struct gi_save_options *options)
{
    const struct gi_judge *judge = options->judge;
    return judge
               ? gi_quality_search_begin(judge->limit, judge->ssimulacra2, most_of(options))
               : gi_quality_search_begin((double)options->max_nbytes + 1, false, most_of(options));
}

/* Sets *best to the largest file that is small enough, or to the smallest one that is good. */
static enum gi_status search(struct file *best, const struct gi_format *format,
                             const struct gi_image *image, const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err)
{
    const struct gi_judge *judge = options->judge;
    struct gi_quality_search search = begin(options);
    size_t least = 0;
    enum gi_status status = GI_OK;
    for (int quality; !status && (quality = gi_quality_search_next(&search));) {
        struct file file = {0};
        double value = 0;
        status = encode_at(&file, quality, format, image, metadata, options, err);
        /* The coder may have no quality 100, which no option asked for. */
        if (status == GI_E_UNSUPPORTED && quality == GI_QUALITY_MAX &&
            options->quality == GI_QUALITY_KEEP) {
            status = GI_OK;
            gi_quality_search_forbid(&search, quality);
            continue;
        }
        if (!status && judge)
            status = judge->score(judge->arg, &value, image, file.bytes, file.nbytes, err);
        else if (!status)
            value = (double)file.nbytes;
        if (!status)
            gi_quality_search_note(&search, quality, value);
        if (!status && quality == (judge ? search.above : search.below)) {
            free(best->bytes);
            *best = file;
        } else {
            free(file.bytes);
            least = file.nbytes;
        }
    }
    return status || best->bytes ? status
                                 : none_fits(format, metadata, options, least, search.below, err);
}

/* What describes the JPEGs of an image. */
struct frames {
    const struct gi_format *format;
    const struct gi_metadata *metadata;
    const struct gi_save_options *options;
};

static bool frame_at(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape,
                     int quality)
{
    const struct frames *frames = self;
    struct gi_save_options own = *frames->options;
    own.quality = quality;
    return frames->format == &gi_format_jpeg && shape->type == GI_U8 && shape->channels % 2 == 1 &&
           gi_jpeg_frame_of(frame, shape, frames->metadata, &own);
}

enum gi_status gi_encode_sized(struct gi_sink *sink, const struct gi_format *format,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options, struct gi_err *err)
{
    struct file best = {0};
    struct gi_save_options own = *options;
    const struct gi_judge *judge = options->judge;
    bool sized = !options->encoded && (options->max_nbytes || judge);
    enum gi_status status = GI_OK;
    if (sized && !format->info.quality)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: is for formats with a --quality, not for %s",
                       judge ? judge->wanted : "--max-file-size", format->info.name);
    if (sized && judge && judge->encode) {
        struct frames frames = {format, metadata, options};
        const struct gi_jpeg_trials trials = {most_of(options), frame_at, &frames};
        status = judge->encode(judge->arg, &own.encoded, image, &trials, err);
    }
    if (own.encoded && own.encoded->quality)
        own.quality = own.encoded->quality;
    if (!status && (own.encoded || !sized))
        return format->encode(sink, image, metadata, &own, err);
    if (!status)
        status = search(&best, format, image, metadata, options, err);
    if (!status)
        status = gi_sink_write(sink, best.bytes, best.nbytes, err);
    free(best.bytes);
    return status;
}
