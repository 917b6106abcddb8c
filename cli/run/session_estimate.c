/* Estimates for --device auto.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session_estimate.h"

#include <stdio.h>

#include "cli/log.h"
#include "cli/run/rates.h"
#include "kernels/kernels.h"

struct gi_estimate gi_session_estimate(const struct gi_session_job *job, int images, int threads,
                                       struct gi_device *cuda)
{
    const struct gi_rates of_cpu = gi_rates_cpu(threads);
    const struct gi_rates of_cuda = cuda ? gi_rates_cuda(cuda) : gi_rates_cuda_unopened();
    const struct gi_estimate_options options = {
        .images = images,
        .threads = threads,
        .coded = gi_coded_kind(job->src ? job->src->coded : NULL),
        .ending = gi_pipeline_ending(job->pipeline, job->sides)};
    return gi_pipeline_estimate(job->pipeline, &options, &of_cpu, &of_cuda);
}

int gi_session_waiting(const struct gi_session_job *job, int threads, struct gi_device *cuda,
                       int least)
{
    enum { IMAGES_MAX = 1000000 }; /* more come from rates that are not known */
    struct gi_estimate one = gi_session_estimate(job, 1, threads, cuda);
    struct gi_estimate two = gi_session_estimate(job, 2, threads, cuda);
    double images = one.cpu_s * threads / (two.cuda_s - one.cuda_s);
    return images > least && images <= IMAGES_MAX ? (int)images : least;
}

void gi_session_log(const char *cuda, int threads, bool open, const struct gi_estimate *estimate,
                    const char *reason)
{
    char where[64], priced[64] = "";
    if (cuda)
        snprintf(where, sizeof where, "%s", cuda);
    else
        snprintf(where, sizeof where, "cpu (%s, %d thread%s)", gi_cpu_level(), threads,
                 threads == 1 ? "" : "s");
    if (cuda || gi_cuda_is_likely())
        snprintf(priced, sizeof priced, ", %s%.3g s on cuda", open ? "" : "at best ",
                 estimate->cuda_s);
    gi_cli_tell("device %s: %s; estimated %.3g s on cpu%s", where, reason, estimate->cpu_s, priced);
}
