/* Compares images of several bands: each part, and all of them together.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "cli/commands/compare_pairs.h"

/* Adds the difference of a part, which has `channels` channels, to that of all. all->mse is the sum
 * of squares, and all->ssim and all->ms_ssim sums over channels, until finish(). */
static void add_part(struct gi_difference *all, const struct gi_difference *part, int channels)
{
    all->samples += part->samples;
    all->differing += part->differing;
    all->max = fmax(all->max, part->max);
    all->mse += part->mse * (double)part->samples;
    all->ssim += part->ssim * channels;
    all->ms_ssim += part->ms_ssim * channels;
}

static void finish(struct gi_comparison *all, const struct gi_bands *bands)
{
    struct gi_difference *d = &all->all;
    double full = (double)gi_type_full_scale(all->type);
    d->mse /= (double)d->samples;
    d->psnr = d->mse > 0 ? 10 * log10(full * full / d->mse) : (double)INFINITY;
    d->ssim /= bands->n;
    d->ms_ssim /= bands->n;
    if (isnan(d->mse))
        d->psnr = NAN;
}

/* Compares part i, and adds its difference. */
static enum gi_status add(struct gi_compare_pair *pair, struct gi_imaging *imaging,
                          struct gi_item *item, const struct gi_bands *bands, int i,
                          const void *params, struct gi_err *err)
{
    struct gi_image a = {0}, b = {0};
    struct gi_comparison part = {0};
    const struct gi_step step = {
        .filter = &gi_filter_compare, .params = params, .others = &b, .nothers = 1};
    enum gi_status status = gi_bands_part(&a, &pair->a, bands, i, err);
    if (!status)
        status = gi_bands_part(&b, &pair->b, bands, i, err);
    if (!status)
        status = gi_imaging_step(imaging, &item->line, NULL, &a, &step, &part, err);
    pair->comparison.type = part.type;
    pair->comparison.metrics = part.metrics;
    add_part(&pair->comparison.all, &part.all, gi_bands_channels(bands, i));
    gi_image_free(&a);
    gi_image_free(&b);
    return status;
}

enum gi_status gi_compare_bands(struct gi_compare_pair *pair, struct gi_imaging *imaging,
                                struct gi_item *item, const struct gi_bands bands[2],
                                void *const *params, struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    const struct gi_compare_rules *rules = params[GI_SET_PAIR_FILTER];
    bool alike = bands[0].n == bands[1].n && bands[0].colors == bands[1].colors &&
                 bands[0].alpha == bands[1].alpha;
    const char *why =
        !alike       ? "the other image has other bands or none"
        : p->visible ? "--visible: bands are not seen"
        : p->diff    ? "--diff: a picture shows no bands"
        : rules->metrics & (GI_COMPARE_CIEDE2000 | GI_COMPARE_SSIMULACRA2 | GI_COMPARE_PIXELMATCH)
            ? "--metric: ciede2000, ssimulacra2 and pixelmatch take colours"
            : NULL;
    char text[GI_BANDS_TEXT];
    if (why)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "%s has %s, and %s: want some bands, as in x.tif[bands=3,2,1] or by --bands 3,2,1",
            bands[0].n ? "the first" : "the second",
            gi_bands_text(text, &bands[bands[0].n ? 0 : 1]), why);
    enum gi_status status = GI_OK;
    for (int i = 0; i < gi_bands_parts(&bands[0]) && !status; i++)
        status = add(pair, imaging, item, &bands[0], i, params[GI_SET_PAIR_FILTER], err);
    if (!status)
        finish(&pair->comparison, &bands[0]);
    return status;
}
