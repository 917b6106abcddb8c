/* What --device auto goes by: the estimate grows as work does, and CUDA's start decides small
 * images. SPDX-License-Identifier: MIT */
#include "filter_cases.h"

enum { SMALLEST = 64, LARGEST = 65536 };

static struct gi_estimate estimate(const struct gi_filter *filter, int side, int threads,
                                   int images)
{
    void *params = calloc(1, filter->params_nbytes);
    struct gi_image shape = {.width = side, .height = side, .channels = 1, .type = GI_U8};
    gi_options_example(params, filter->options);
    if (filter->check)
        assert_int_equal(filter->check(params, NULL), GI_OK);
    struct gi_estimate seconds = gi_run_estimate(filter, params, &shape, images, threads);
    free(params);
    return seconds;
}

static bool takes_cuda(struct gi_estimate seconds)
{
    return seconds.cuda_s < seconds.cpu_s;
}

/* A larger image takes the CPU longer, and once CUDA is taken it is taken for every larger one. */
static void grows_with_the_image(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 16, 256};
    for (int i = 0; gi_filters[i]; i++)
        for (int t = 0; t < 5; t++) {
            struct gi_estimate last = {0};
            for (int side = SMALLEST; side <= LARGEST; side *= 2) {
                struct gi_estimate now = estimate(gi_filters[i], side, threads[t], 1);
                assert_true(now.cpu_s > last.cpu_s && now.cuda_s > 0);
                assert_true(takes_cuda(now) || !takes_cuda(last));
                last = now;
            }
        }
}

/* More threads never take longer; and no number of them makes CUDA worth while that was not. */
static void shrinks_with_threads(void **state)
{
    (void)state;
    for (int i = 0; gi_filters[i]; i++)
        for (int side = SMALLEST; side <= LARGEST; side *= 4)
            for (int threads = 2; threads <= 256; threads *= 2) {
                struct gi_estimate one = estimate(gi_filters[i], side, 1, 1);
                struct gi_estimate few = estimate(gi_filters[i], side, threads / 2, 1);
                struct gi_estimate more = estimate(gi_filters[i], side, threads, 1);
                assert_true(more.cpu_s <= few.cpu_s);
                assert_true(takes_cuda(one) || !takes_cuda(more));
            }
}

/* One small image never pays for a context; many images share it. */
static void start_is_paid_once(void **state)
{
    (void)state;
    for (int i = 0; gi_filters[i]; i++) {
        assert_false(takes_cuda(estimate(gi_filters[i], 512, 1, 1)));
        struct gi_estimate one = estimate(gi_filters[i], 1024, 2, 1);
        struct gi_estimate ten = estimate(gi_filters[i], 1024, 2, 10);
        assert_true(ten.cuda_s < 2 * one.cuda_s);
        assert_true(fabs(ten.cpu_s - 10 * one.cpu_s) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_with_the_image),
        cmocka_unit_test(shrinks_with_threads),
        cmocka_unit_test(start_is_paid_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
