/* CUDA gives the CPU's bytes for weights of any size: also if scaled weights leave the range of
 * float, if sums cancel or vanish, and if quotients by alpha are extreme.
 * Sources: convolution
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "image_cases.h"
#include "kernels/convolution.h"

enum { SEED = 20261122, CASES = 1500, WEIGHTS = 225 };

enum style { LIKE_A_BLUR, BOTH_SIGNS, SMALL_WHOLE, FAR_APART, ANY_EXPONENT, ALL_ZERO, HUGE_ONES };
enum { STYLES = 7 };

static float weight(enum style style, uint64_t *seed)
{
    float v = case_real(seed);
    switch (style) {
    case LIKE_A_BLUR:
        return fabsf(v);
    case BOTH_SIGNS:
        return v;
    case SMALL_WHOLE:
        return (float)case_between(seed, -3, 3);
    case FAR_APART:
        return ldexpf(fabsf(v), -case_between(seed, 0, 60));
    case ANY_EXPONENT:
        return ldexpf(v, case_between(seed, -149, 60));
    case ALL_ZERO:
        return 0;
    default:
        return v * 1e18f;
    }
}

struct job {
    enum { SEPARABLE, DENSE, GRADIENT } which;
    struct gi_separable separable;
    struct gi_dense dense;
    struct gi_gradient_magnitude gradient;
    float weights[2 * WEIGHTS];
    char text[120];
};

static void make_job(struct job *job, enum gi_type type, uint64_t *seed)
{
    enum style style = (enum style)case_between(seed, 0, type == GI_F32 ? 3 : STYLES - 1);
    int width = case_between(seed, 1, 15), height = case_between(seed, 0, 1) ? width : 5;
    enum gi_alpha_rule alpha = (enum gi_alpha_rule)case_between(seed, 0, 2);
    struct gi_border_spec border =
        case_border(seed, (enum gi_border)case_between(seed, 0, 4), type);
    struct gi_epilogue epilogue = {.kind = (enum gi_epilogue_kind)case_between(seed, 0, 2),
                                   .bias = case_between(seed, 0, 1) ? 20 * case_real(seed) : 0,
                                   .amount = 1.5f,
                                   .threshold = (float)case_between(seed, 0, 3)};
    float *col = job->weights + WEIGHTS, sum = 0;
    for (int i = 0; i < 2 * WEIGHTS; i++)
        job->weights[i] = weight(style, seed);
    for (int i = 0; i < width * height; i++)
        sum += job->weights[i];
    job->which = case_between(seed, 0, 2);
    job->separable = (struct gi_separable){job->weights, col, width, height, width / 2,
                                           height / 2,   sum, alpha, border, epilogue};
    job->dense = (struct gi_dense){job->weights, width, height, width / 2, height / 2,
                                   sum,          alpha, border, epilogue};
    job->gradient =
        (struct gi_gradient_magnitude){{job->weights[0], job->weights[1], job->weights[2]},
                                       alpha == GI_ALPHA_WEIGH ? GI_ALPHA_KEEP : alpha,
                                       border};
    snprintf(job->text, sizeof job->text,
             "primitive %d, %d x %d weights, style %d, alpha %d, finish %d", (int)job->which, width,
             height, (int)style, (int)alpha, (int)epilogue.kind);
}

/* Returns the result in host memory; the caller frees it. */
static struct gi_image result(struct gi_queue *queue, const struct job *job,
                              const struct gi_image *host)
{
    struct gi_image src, dst, out;
    struct gi_err err = {0};
    assert_int_equal(queue->k->upload(queue, &src, host, NULL, &err), GI_OK);
    assert_int_equal(
        queue->k->alloc(queue, &dst, src.width, src.height, src.channels, src.type, &err), GI_OK);
    enum gi_status status =
        job->which == SEPARABLE
            ? queue->k->convolve_separable(queue, &dst, &src, &job->separable, &err)
        : job->which == DENSE
            ? queue->k->convolve_2d(queue, &dst, &src, &job->dense, &err)
            : queue->k->gradient_magnitude(queue, &dst, &src, &job->gradient, &err);
    if (status || queue->k->download(queue, &out, &dst, NULL, &err))
        fail_msg("%s: %s", job->text, err.text);
    queue->k->release(queue, &src);
    return out;
}

static void any_weights_equal_cpu(void **state)
{
    (void)state;
    static struct job job;
    static const enum gi_type types[] = {GI_U8, GI_U8, GI_U16, GI_F32};
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_queue *cpu, *cuda;
    struct gi_err err = {0};
    uint64_t seed = SEED;
    if (!k || k->probe(NULL, 0, &err) < 1)
        skip();
    case_open(&cpu, gi_kernels_cpu(), 4);
    case_open(&cuda, k, 4);
    for (int i = 0; i < (getenv("GPUIMG_TEST_QUICK") ? CASES / 30 : CASES); i++) {
        struct gi_image host;
        enum gi_type type = types[case_between(&seed, 0, 3)];
        int width = case_between(&seed, 1, case_between(&seed, 0, 1) ? 40 : 1400);
        assert_int_equal(gi_image_alloc(&host, width, case_between(&seed, 1, 120),
                                        case_between(&seed, 1, 4), type, &err),
                         GI_OK);
        case_fill(&host, &seed);
        make_job(&job, type, &seed);
        struct gi_image want = result(cpu, &job, &host), got = result(cuda, &job, &host);
        case_equal(&got, &want, job.text);
        gi_image_free(&got);
        gi_image_free(&want);
        gi_image_free(&host);
    }
    gi_queue_close_alone(&cuda);
    gi_queue_close_alone(&cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_weights_equal_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
