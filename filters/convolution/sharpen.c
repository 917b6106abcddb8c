/* Unsharp mask: in + amount * (in - blurred) where a sample differs from the Gaussian blur by more
 * than a threshold. The epilogue of the separable convolution computes the result.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/convolution/weights.h"

struct sharpen_params {
    double sigma;     /* px */
    double amount;    /* a factor */
    double threshold; /* in percent of full scale */
    int alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("sigma", REAL, struct sharpen_params, sigma), .letter = 's', .default_text = "1",
     .min = 0.1, .max = 250, .unit = "px", .help = "Standard deviation of the Gaussian blur"},
    {GI_OPTION("amount", REAL, struct sharpen_params, amount), .letter = 'a', .default_text = "1",
     .min = 0, .max = 100, .help = "Strength: the factor of the difference that is added"},
    {GI_OPTION("threshold", REAL, struct sharpen_params, threshold), .letter = 't',
     .default_text = "0", .min = 0, .max = 100, .unit = "% of full scale",
     .help = "Samples that differ from the blurred copy by at most this do not change"},
    GI_BORDER_OPTIONS(struct sharpen_params),
    GI_ALPHA_OPTION(struct sharpen_params, alpha),
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct sharpen_params *p = plan->params;
    const struct gi_gaussian soft = {.k = gi_gaussian_k(p->sigma), .sigma = p->sigma};
    struct gi_separable_tables *tables = gi_gaussian_plan(plan, &soft, &soft, &p->border, err);
    if (!tables)
        return GI_E_MEMORY;
    double full = (double)gi_type_full_scale(plan->sources[0].type);
    tables->spec.epilogue = (struct gi_epilogue){.kind = GI_EPILOGUE_UNSHARP,
                                                 .amount = (float)p->amount,
                                                 .threshold = (float)(p->threshold * full / 100)};
    plan->alpha_apart = true;
    plan->cost = (struct gi_cost){.fmas = 2 * soft.k + 1, .other = 2};
    return GI_OK;
}

const struct gi_filter gi_filter_sharpen = {
    .name = "sharpen",
    .group = GI_GROUP_FILTERS,
    .summary = "Sharpen with an unsharp mask",
    .examples = "gpuimg sharpen in.png out.png\n"
                "gpuimg sharpen in.jpg out.jpg --sigma 2 --amount 0.8\n"
                "gpuimg sharpen noisy.png out.png --threshold 2\n"
                "gpuimg sharpen texture.tga out.tga --alpha keep",
    .manual =
        "An unsharp mask adds to the image its difference from a blurred copy: out = in + "
        "amount (in - blurred), where \"blurred\" is the result of gpuimg gaussian with "
        "the same --sigma. Samples with |in - blurred| <= threshold do not change, so that "
        "--threshold keeps noise in smooth areas from being sharpened.\n\n" GI_ALPHA_COPIED_MANUAL
        ".",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct sharpen_params),
    .plan = plan,
    .run = gi_separable_run,
};
