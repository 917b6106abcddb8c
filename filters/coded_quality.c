/* Finds the quality of a JPEG by the score of its image on the device. The original stays there
 * with its scales of XYB; a trial encodes it, decodes the scan, and scores the result.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/execution.h"
#include "filters/statistics/ssimulacra2.h"
#include "imgio/quality_search.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"

/* What the trials of an image share. */
struct trials {
    struct gi_queue *queue;
    const struct gi_image *image;
    struct gi_image decoded;
    const struct gi_allocator *allocator;
    struct gi_ssimulacra2 original;
    float *light;
};

static enum gi_status begin(struct trials *trials, struct gi_err *err)
{
    struct gi_queue *queue = trials->queue;
    const struct gi_image *image = trials->image;
    if (!(trials->light = gi_ssimulacra2_light(GI_U8)))
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table of linear light");
    enum gi_status status = queue->k->alloc(queue, &trials->decoded, image->width, image->height,
                                            image->channels, GI_U8, err);
    return status ? status
                  : gi_ssimulacra2_begin(&trials->original, queue, image, trials->light, err);
}

static void end(struct trials *trials)
{
    gi_ssimulacra2_end(&trials->original);
    if (trials->decoded.data)
        trials->queue->k->release(trials->queue, &trials->decoded);
    free(trials->light);
}

static enum gi_status decode(struct trials *trials, const struct gi_jpeg_scan *scan,
                             const struct gi_jpeg_frame *frame, struct gi_err *err)
{
    const struct gi_kernels *k = trials->queue->k;
    const struct gi_jpeg_decode spec = {frame, 1};
    const struct gi_image bytes = {.data = scan->bytes,
                                   .stride = scan->nbytes,
                                   .width = (int)scan->nbytes,
                                   .height = 1,
                                   .channels = 1,
                                   .type = GI_U8};
    struct gi_image uploaded;
    enum gi_status status = k->upload(trials->queue, &uploaded, &bytes, NULL, err);
    if (status)
        return status;
    status = k->jpeg_decode(trials->queue, &trials->decoded, &uploaded, &spec, err);
    k->release(trials->queue, &uploaded);
    return status;
}

/* Encodes the image as `frame` says, and scores it. The caller frees the scan, also after an
 * error. */
static enum gi_status try_frame(struct trials *trials, struct gi_encoded *encoded, double *score,
                                const struct gi_jpeg_frame *frame, struct gi_err *err)
{
    const struct gi_coding coding = {.frame = *frame};
    enum gi_status status =
        gi_execution_encode(trials->queue, encoded, trials->image, &coding, trials->allocator, err);
    if (!status)
        status = decode(trials, &encoded->scan, frame, err);
    if (!status)
        status =
            gi_ssimulacra2_score(score, &trials->original, &trials->decoded, trials->light, err);
    if (!status && isnan(*score))
        status = gi_fail(err, GI_E_UNSUPPORTED, "the image has no score");
    return status;
}

enum gi_status gi_execution_encode_scored(struct gi_queue *queue, struct gi_ending *ending,
                                          const struct gi_image *image,
                                          const struct gi_coding *coding,
                                          const struct gi_allocator *allocator, struct gi_err *err)
{
    struct trials trials = {.queue = queue, .image = image, .allocator = allocator};
    struct gi_quality_search search =
        gi_quality_search_begin(coding->ssimulacra2, true, coding->most);
    enum gi_status status = begin(&trials, err);
    for (int quality; !status && (quality = gi_quality_search_next(&search));) {
        struct gi_jpeg_frame frame;
        struct gi_encoded encoded = {0};
        double score = 0;
        status = ending->frame_at(ending->self, &frame, image, quality)
                     ? try_frame(&trials, &encoded, &score, &frame, err)
                     : gi_fail(err, GI_E_UNSUPPORTED, "quality %d needs samples", quality);
        if (!status)
            gi_quality_search_note(&search, quality, score);
        if (!status && quality == search.above) {
            gi_encoded_free(&ending->encoded);
            ending->encoded = encoded;
            ending->encoded.quality = quality;
        } else {
            gi_encoded_free(&encoded);
        }
    }
    end(&trials);
    if (status)
        gi_encoded_free(&ending->encoded);
    return status || gi_is_encoded(&ending->encoded)
               ? status
               : gi_fail(err, GI_E_UNSUPPORTED, "no quality reaches the score");
}
