/* Chains in bands whose borders wrap give the bytes of the whole image, and the times of a chain
 * count what it copies, reads and writes. test_walk runs random chains.
 * Sources: filters/pipeline* filters/plan* filters/bands.c
 * SPDX-License-Identifier: MIT */
#include "cases.h"
#include "kernels/kernels.h"

#include "cli/commands.h"
#include "cli/args/chain.h"
#include "filters/pipeline.h"

static struct gi_queue *queue;
static struct gi_kernels few_rows; /* the queue's table, for most_rows rows at a time */
static int most_rows;

static void few_limits(struct gi_queue *self, struct gi_device_limits *limits)
{
    *limits = (struct gi_device_limits){SIZE_MAX, most_rows, SIZE_MAX, 64};
}

/* Plans the chain for the image. The pipeline refers to *chain. */
static struct gi_pipeline *plan(struct gi_chain *chain, const char *text,
                                const struct gi_image *src)
{
    struct gi_step steps[3];
    struct gi_pipeline *pipeline;
    struct gi_err err = {0};
    if (gi_chain_read(chain, text, &err))
        fail_msg("%s: %s", text, err.text);
    for (int i = 0; i < chain->n; i++)
        steps[i] = (struct gi_step){.filter = chain->steps[i].filter,
                                    .params = chain->steps[i].args.params[GI_SET_STEP_FILTER]};
    if (gi_pipeline_new(&pipeline, steps, chain->n, src, NULL, &err))
        fail_msg("%s: %s", text, err.text);
    return pipeline;
}

/* In the first two chains the border wraps after a step whose result depends on the row's position:
 * the rows beyond one end of the image must equal the rows that this step computes at the other
 * end. The results of the others wrap around their source several times, above and below. */
TEST(borders_that_wrap)
{
    static const struct {
        const char *text;
        int width, height, rows, step; /* bands of `rows` rows, and of `step` more each time */
    } cases[] = {
        {"blur --k 7 | blur --k 9 --border wrap | blur --k 9 --border wrap", 23, 97, 45, 9},
        {"clahe --tiles 2x3 | blur --k 9 --border wrap | blur --k 9 --border wrap", 23, 97, 45, 9},
        {"affine --matrix '1 0 0; 0.1 1 0' --size 33x97 --border wrap", 40, 22, 12, 3},
        {"affine --matrix '1 0 0; 0.1 1 80.5' --size 33x97 --border wrap", 40, 22, 12, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_image src = case_image(cases[i].width, cases[i].height, 3, GI_U16, NULL), want,
                        got;
        struct gi_chain chain;
        struct gi_pipeline *pipeline = plan(&chain, cases[i].text, &src);
        queue->k = gi_kernels_cpu();
        assert_int_equal(gi_pipeline_run(pipeline, queue, &want, &src, NULL, NULL, NULL), GI_OK);
        queue->k = &few_rows;
        for (most_rows = cases[i].rows; most_rows < src.height; most_rows += cases[i].step) {
            struct gi_err err = {0};
            if (gi_pipeline_run(pipeline, queue, &got, &src, NULL, NULL, &err))
                fail_msg("%s: %d rows: %s", cases[i].text, most_rows, err.text);
            case_equal(&got, &want, cases[i].text);
            gi_image_free(&got);
        }
        gi_pipeline_free(&pipeline);
        gi_chain_free(&chain);
        gi_image_free(&want);
        gi_image_free(&src);
    }
}

/* The times count one upload and one download, and the bytes that each step reads and writes. */
TEST(times)
{
    struct gi_image src = case_image(60, 50, 1, GI_U8, NULL), dst;
    struct gi_chain chain;
    struct gi_pipeline *pipeline = plan(&chain, "gaussian --sigma 1.5 | edges | threshold", &src);
    double ms[3], nbytes[3];
    struct gi_times times = {.step_ms = ms, .step_nbytes = nbytes};
    queue->k = gi_kernels_cpu();
    assert_int_equal(gi_pipeline_run(pipeline, queue, &dst, &src, NULL, &times, NULL), GI_OK);
    assert_true(times.uploads == 1 && times.downloads == 1 && times.bands == 1);
    assert_true(nbytes[0] == 2 * 3000 && nbytes[1] == 2 * 3000 && nbytes[2] == 3 * 3000);
    gi_image_free(&dst);
    gi_pipeline_free(&pipeline);
    gi_chain_free(&chain);
    gi_image_free(&src);
}

static int start(void **state)
{
    gi_commands_use(gi_command_rows);
    queue = case_open(gi_kernels_cpu(), 2);
    few_rows = *queue->k;
    few_rows.limits = few_limits;
    return 0;
}

static int end(void **state)
{
    queue->k = gi_kernels_cpu();
    gi_queue_close_alone(&queue);
    return 0;
}

TEST_FRAME(.first = start, .last = end)
