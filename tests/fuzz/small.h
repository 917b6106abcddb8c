/* Helpers of the fuzzers: a string that sanitizers can check, a queue, and a chain that runs on a
 * few pixels.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filters/pipeline.h"
#include "kernels/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

/* Returns the bytes as a string, which the caller frees. Its memory is exactly as long as the
 * string, so that a sanitizer detects a read past the end. Returns NULL if the bytes contain a
 * zero, or a slash, because files must not be opened. */
static inline char *small_text(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes > 4096 || memchr(bytes, 0, nbytes) || memchr(bytes, '/', nbytes))
        return NULL;
    char *text = malloc(nbytes + 1);
    if (!text)
        return NULL;
    memcpy(text, bytes, nbytes);
    text[nbytes] = '\0';
    return text;
}

/* Opens the queue once; nothing frees it. */
static inline struct gi_queue *small_queue(void)
{
    static struct gi_queue *queue;
    const struct gi_open_options options = {.threads = 1};
    if (!queue && gi_queue_open_alone(&queue, gi_kernels_cpu(), &options, NULL))
        abort();
    return queue;
}

/* Runs steps that have one source on an image of 7 x 5 pixels, whose type and channels `which`
 * selects. */
static inline void small_run(const struct gi_step *steps, int nsteps, unsigned which)
{
    struct gi_image src, dst = {0};
    struct gi_err err = {0};
    struct gi_pipeline *pipeline = NULL;
    void *results[16] = {NULL};
    struct gi_side sides[16] = {{0}};
    int n = nsteps < 16 ? nsteps : 16;
    if (gi_image_alloc(&src, 7, 5, 1 + (int)(which & 3), (enum gi_type)(which >> 2 & 3) % 3, &err))
        abort();
    for (int y = 0; y < src.height; y++)
        memset(gi_row(&src, y), 37 * y + (int)(which & 31), gi_row_nbytes(&src));
    enum gi_status status = gi_pipeline_new(&pipeline, steps, n, &src, NULL, &err);
    for (int i = 0; i < n && !status; i++)
        if (steps[i].filter->analysis.nbytes) {
            sides[i].result = results[i] = calloc(1, steps[i].filter->analysis.nbytes);
            if (!results[i])
                abort();
        }
    if (!status)
        status = gi_pipeline_run(pipeline, small_queue(), &dst, &src, sides, NULL, &err);
    if (status != err.status || (status && !*err.text)) /* a failure must have a message */
        abort();
    for (int i = 0; i < n; i++) {
        if (results[i] && steps[i].filter->analysis.free)
            steps[i].filter->analysis.free(results[i]);
        free(results[i]);
    }
    gi_pipeline_free(&pipeline);
    gi_image_free(&dst);
    gi_image_free(&src);
}
