/* Rates of this machine's devices, for `auto`: as `gpuimg bench --save` measured them, else as the
 * devices say. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_RATES_H
#define GI_CLI_RUN_RATES_H

#include "cli/command.h"
#include "filters/pipeline.h"

/* The CPU's under `threads` threads. */
struct gi_rates gi_rates_cpu(int threads);

/* Those of a CUDA device without touching it, for whether it is worth opening: the stored ones
 * where one device's are, else what may be hoped for at best. */
struct gi_rates gi_rates_cuda_unopened(void);
/* Rates of an open device: the stored ones, else those derived from its properties. */
struct gi_rates gi_rates_cuda(struct gi_device *device);

/* Whether a driver of NVIDIA's is there (of Linux, WSL 2 or Jetson), as far as can be told without
 * touching it. */
bool gi_cuda_is_likely(void);

/* Stores rates under a device's name: "cpu avx2, 8 threads" or "NVIDIA H200". Others stay. The
 * file is $GPUIMG_RATES, else gpuimg/rates.json in $XDG_CACHE_HOME or ~/.cache; *path gets its
 * name, owned by the caller. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_rates_store(char **path, const char *device, const struct gi_rates *rates,
                              struct gi_err *err);

/* Measures on an image of 64 MB, in about a second: a negative, which is limited by memory, and a
 * Gaussian of sigma 10, which is limited by multiply-adds. Members that cannot be measured here are
 * unchanged in `rates`: opening the device, and the end of the process. Errors: as the primitives'.
 */
enum gi_status gi_rates_measure(struct gi_rates *rates, struct gi_queue *queue, struct gi_err *err);

/* The name that the CPU's rates are stored under. Returns buffer. */
const char *gi_rates_cpu_name(int threads, char *buffer, size_t nbytes);

#endif
