/* Judges an encoded image: reads it back and compares it with the original.
 * SPDX-License-Identifier: MIT */
#include "cli/args/quality_target.h"

#include <math.h>
#include <stdio.h>

#include "filters/pipeline.h"
#include "filters/statistics/compare.h"
#include "imgio/imgio.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"

bool gi_quality_target_is_set(const struct gi_quality_target *target)
{
    return target->ssimulacra2 > 0 || target->ssim > 0;
}

static enum gi_status open_queue(struct gi_quality_judge *judge, struct gi_err *err)
{
    const struct gi_open_options open = {.threads = judge->threads};
    return judge->queue ? GI_OK : gi_queue_open_alone(&judge->queue, gi_kernels_cpu(), &open, err);
}

static enum gi_status find_ssim(double *score, struct gi_quality_judge *judge,
                                const struct gi_image *image, const struct gi_image *decoded,
                                struct gi_err *err)
{
    const struct gi_compare_rules rules = {.metrics = GI_COMPARE_SSIM};
    const struct gi_step step = {
        .filter = &gi_filter_compare, .params = &rules, .others = decoded, .nothers = 1};
    struct gi_comparison result;
    struct gi_side side = {.others = decoded, .result = &result};
    struct gi_pipeline *pipeline;
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, image, NULL, err);
    if (status)
        return status;
    status = gi_pipeline_run(pipeline, judge->queue, NULL, image, &side, NULL, err);
    gi_pipeline_free(&pipeline);
    *score = result.all.ssim;
    return status;
}

static void forget_original(struct gi_quality_judge *judge)
{
    gi_scored_original_end(&judge->original);
    gi_image_free(&judge->converted);
}

/* The original is made for the first file, or again if a file has more bits than the image. */
static enum gi_status find_ssimulacra2(double *score, struct gi_quality_judge *judge,
                                       const struct gi_image *image, const struct gi_image *decoded,
                                       struct gi_err *err)
{
    struct gi_image converted;
    const struct gi_image *a = image, *b = decoded;
    const struct gi_image *original = judge->original.image;
    enum gi_status status = gi_compare_match(&converted, &a, &b, err);
    if (!status && (!original || original->type != a->type)) {
        forget_original(judge);
        if (a != image) {
            judge->converted = converted;
            converted = (struct gi_image){0};
            a = &judge->converted;
        }
        status = gi_scored_original_begin(&judge->original, judge->queue, a, NULL, err);
    }
    if (!status)
        status = gi_scored_original_score(score, &judge->original, b, err);
    gi_image_free(&converted);
    return status;
}

/* The error of an image that has no score. */
static enum gi_status no_score(const struct gi_quality_target *target, const struct gi_image *image,
                               struct gi_err *err)
{
    enum { SIDE = GI_COMPARE_SSIMULACRA2_SIDE };
    if (target->ssimulacra2 > 0 && (image->width < SIDE || image->height < SIDE))
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "--target-ssimulacra2 %g: %d x %d pixels have no score, want %d x %d or more",
            target->ssimulacra2, image->width, image->height, SIDE, SIDE);
    return gi_fail(err, GI_E_UNSUPPORTED, "%s: there is no score, want finite samples",
                   target->ssimulacra2 > 0 ? "--target-ssimulacra2" : "--target-ssim");
}

static enum gi_status score(void *arg, double *score, const struct gi_image *image,
                            const void *bytes, size_t nbytes, struct gi_err *err)
{
    struct gi_quality_judge *judge = arg;
    const struct gi_load_options as_stored = {.limits = {UINT64_MAX, UINT64_MAX},
                                              .keep_orientation = true};
    struct gi_image decoded;
    enum gi_status status = open_queue(judge, err);
    if (!status)
        status = gi_load_memory(&decoded, NULL, NULL, bytes, nbytes, "file", &as_stored, NULL, err);
    if (status)
        return status;
    status = (judge->judge.ssimulacra2 ? find_ssimulacra2 : find_ssim)(score, judge, image,
                                                                       &decoded, err);
    gi_image_free(&decoded);
    return !status && isnan(*score) ? no_score(judge->target, image, err) : status;
}

/* ---- the search on a device ---- */

static bool frame_at(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape,
                     int quality)
{
    const struct gi_jpeg_trials *trials = ((const struct gi_quality_judge *)self)->trials;
    return trials->frame_at(trials->self, frame, shape, quality);
}

static bool coding_of(void *self, struct gi_coding *coding, const struct gi_image *shape)
{
    const struct gi_quality_judge *judge = self;
    *coding = (struct gi_coding){.ssimulacra2 = judge->judge.limit, .most = judge->trials->most};
    return frame_at(self, &coding->frame, shape, coding->most);
}

static enum gi_status encode(void *arg, const struct gi_encoded **encoded,
                             const struct gi_image *image, const struct gi_jpeg_trials *trials,
                             struct gi_err *err)
{
    struct gi_quality_judge *judge = arg;
    struct gi_coding coding;
    judge->trials = trials;
    judge->ending = (struct gi_ending){coding_of, judge, .on_cpu = gi_ways_forces("jpeg_encode"),
                                       .frame_at = frame_at};
    if (!coding_of(judge, &coding, image))
        return GI_OK;
    enum gi_status status = judge->device->encode(judge->device->self, &judge->ending, image, err);
    if (!status && gi_is_encoded(&judge->ending.encoded))
        *encoded = &judge->ending.encoded;
    return status;
}

void gi_quality_judge_begin(struct gi_quality_judge *judge, const struct gi_quality_target *target,
                            const struct gi_quality_device *device, int threads)
{
    bool perceptual = target->ssimulacra2 > 0;
    double limit = perceptual ? target->ssimulacra2 : target->ssim;
    *judge = (struct gi_quality_judge){.target = target, .device = device, .threads = threads};
    snprintf(judge->wanted, sizeof judge->wanted,
             perceptual ? "--target-ssimulacra2 %g" : "--target-ssim %g", limit);
    judge->judge = (struct gi_judge){.wanted = judge->wanted,
                                     .limit = limit,
                                     .ssimulacra2 = perceptual,
                                     .arg = judge,
                                     .score = score,
                                     .encode = device && perceptual ? encode : NULL};
}

void gi_quality_judge_end(struct gi_quality_judge *judge)
{
    forget_original(judge);
    gi_encoded_free(&judge->ending.encoded);
    if (judge->queue)
        gi_queue_close_alone(&judge->queue);
}
