/* Estimates for --device auto.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session_estimate.h"

#include "cli/run/rates.h"

struct gi_estimate gi_session_estimate(const struct gi_session_job *job, int images, int threads,
                                       struct gi_device *cuda)
{
    const struct gi_rates of_cpu = gi_rates_cpu(threads);
    const struct gi_rates of_cuda = cuda ? gi_rates_cuda(cuda) : gi_rates_cuda_unopened();
    const struct gi_estimate_options options = {.images = images,
                                                .threads = threads,
                                                .coded = job->src && job->src->coded,
                                                .ending =
                                                    gi_pipeline_ending(job->pipeline, job->sides)};
    return gi_pipeline_estimate(job->pipeline, &options, &of_cpu, &of_cuda);
}

int gi_session_waiting(const struct gi_session_job *job, int threads, struct gi_device *cuda,
                       int least)
{
    struct gi_estimate one = gi_session_estimate(job, 1, threads, cuda);
    struct gi_estimate two = gi_session_estimate(job, 2, threads, cuda);
    double images = one.cpu_s * threads / (two.cuda_s - one.cuda_s);
    return images < least ? least : images < INT32_MAX ? (int)images : INT32_MAX;
}
