/* Estimates for --device auto.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/run/session_device.h"

/* Estimates `images` images like that of the job, of which only the pipeline, the source (or NULL)
 * and the sides count. The rates of CUDA are those of the open device `cuda`, or of
 * gi_rates_cuda_unopened() if it is NULL. `threads` is how many threads the process has. */
struct gi_estimate gi_session_estimate(const struct gi_session_job *job, int images, int threads,
                                       struct gi_device *cuda);

/* Returns how many images like that of the job the open device computes while one thread of the CPU
 * computes one, at least `least`, and `least` if the rates give no sensible number. If fewer images
 * wait for the device, a CPU that took one of them would finish it later than the device, and its
 * threads are needed to read and write the others.
 */
int gi_session_waiting(const struct gi_session_job *job, int threads, struct gi_device *cuda,
                       int least);

/* Logs the choice for a single image: the device `cuda`, or if that is NULL the CPU, with its
 * threads, the reason and the estimate. `open`: the rates are those of an open CUDA device. */
void gi_session_log(const char *cuda, int threads, bool open, const struct gi_estimate *estimate,
                    const char *reason);
