/* Judges an encoded image: reads it back and compares it with the original.
 * SPDX-License-Identifier: MIT */
#include "cli/args/quality_target.h"

#include <math.h>
#include <stdio.h>

#include "filters/pipeline.h"
#include "filters/statistics/compare.h"
#include "imgio/imgio.h"
#include "kernels/kernels.h"

bool gi_quality_target_is_set(const struct gi_quality_target *target)
{
    return target->ssimulacra2 > 0 || target->ssim > 0;
}

static enum gi_status compare(struct gi_comparison *result, const struct gi_image *image,
                              const struct gi_image *decoded, unsigned metric, struct gi_err *err)
{
    const struct gi_open_options open = {.threads = 1}; /* other images are encoded beside it */
    const struct gi_compare_rules rules = {.metrics = metric};
    const struct gi_step step = {
        .filter = &gi_filter_compare, .params = &rules, .others = decoded, .nothers = 1};
    struct gi_side side = {.others = decoded, .result = result};
    struct gi_pipeline *pipeline;
    struct gi_queue *queue = NULL;
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, image, NULL, err);
    if (status)
        return status;
    status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
    if (!status)
        status = gi_pipeline_run(pipeline, queue, NULL, image, &side, NULL, err);
    if (queue)
        gi_queue_close_alone(&queue);
    gi_pipeline_free(&pipeline);
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

static enum gi_status is_good(void *arg, bool *good, const struct gi_image *image,
                              const void *bytes, size_t nbytes, struct gi_err *err)
{
    const struct gi_quality_target *target = arg;
    bool perceptual = target->ssimulacra2 > 0;
    const struct gi_load_options as_stored = {.limits = {UINT64_MAX, UINT64_MAX},
                                              .keep_orientation = true};
    struct gi_comparison result;
    struct gi_image decoded;
    enum gi_status status =
        gi_load_memory(&decoded, NULL, NULL, bytes, nbytes, "file", &as_stored, NULL, err);
    if (status)
        return status;
    status = compare(&result, image, &decoded,
                     perceptual ? GI_COMPARE_SSIMULACRA2 : GI_COMPARE_SSIM, err);
    gi_image_free(&decoded);
    if (status)
        return status;
    double score = perceptual ? result.all.ssimulacra2 : result.all.ssim;
    *good = score >= (perceptual ? target->ssimulacra2 : target->ssim);
    return isnan(score) ? no_score(target, image, err) : GI_OK;
}

struct gi_judge gi_quality_target_judge(const struct gi_quality_target *target,
                                        char text[GI_QUALITY_TARGET_TEXT])
{
    bool perceptual = target->ssimulacra2 > 0;
    snprintf(text, GI_QUALITY_TARGET_TEXT,
             perceptual ? "--target-ssimulacra2 %g" : "--target-ssim %g",
             perceptual ? target->ssimulacra2 : target->ssim);
    return (struct gi_judge){.wanted = text, .arg = (void *)target, .is_good = is_good};
}
