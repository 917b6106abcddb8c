/* Opens a queue of the CPU and, if there is a device, one of CUDA, for tests that compare the two
 * backends.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_CUDA_PAIR_H
#define GI_TESTS_CUDA_PAIR_H

#include <unistd.h>

#include "image_cases.h"

static struct gi_queue *cpu, *cuda; /* cuda: NULL if there is no device */
static char reason[800];

static int open_both(void **state)
{
    (void)state;
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_open_options options = {.threads = 4};
    struct gi_err err = {0};
    case_open(&cpu, gi_kernels_cpu(), (int)sysconf(_SC_NPROCESSORS_ONLN));
    int n = k ? k->probe(NULL, 0, &err) : 0;
    if (n < 1) {
        snprintf(reason, sizeof reason, "%s",
                 !k  ? "built without CUDA"
                 : n ? err.text
                     : "no device");
        return 0;
    }
    return gi_queue_open_alone(&cuda, k, &options, &err) == GI_OK ? 0 : -1;
}

static int close_both(void **state)
{
    (void)state;
    if (cuda)
        gi_queue_close_alone(&cuda);
    gi_queue_close_alone(&cpu);
    return 0;
}

/* Under compute-sanitizer, which is slow, GPUIMG_TEST_QUICK leaves out most images. */
static bool quick(void)
{
    return getenv("GPUIMG_TEST_QUICK") != NULL;
}

#endif
