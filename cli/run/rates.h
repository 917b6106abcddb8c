/* Rates of this machine's devices, for `auto`: as measured by `gpuimg bench --save`, else derived
 * from the devices' properties.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_RATES_H
#define GI_CLI_RUN_RATES_H

#include "cli/command.h"
#include "filters/pipeline.h"

/* Returns the rates of the CPU with `threads` threads. */
struct gi_rates gi_rates_cpu(int threads);

/* Returns rates of a CUDA device that is not open, to decide whether opening it is worthwhile: the
 * stored ones if there are some for one device, else optimistic ones. */
struct gi_rates gi_rates_cuda_unopened(void);
/* Returns the rates of an open device: the stored ones, else those derived from its properties. */
struct gi_rates gi_rates_cuda(struct gi_device *device);

/* Returns whether an NVIDIA driver is installed (Linux, WSL 2 or Jetson), as far as can be known
 * without using it. */
bool gi_cuda_is_likely(void);

/* Stores rates under a device's name: "cpu avx2, 8 threads" or "NVIDIA H200". Other entries are
 * kept. The file is $GPUIMG_RATES, else gpuimg/rates.json in $XDG_CACHE_HOME or ~/.cache; *path
 * gets its name, owned by the caller. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_rates_store(char **path, const char *device, const struct gi_rates *rates,
                              struct gi_err *err);

/* Measures on an image of 64 MB, in about a second: a negative, which is limited by memory, and a
 * Gaussian of sigma 10, which is limited by multiply-adds. Rates that cannot be measured here
 * (opening the device, the end of the process) are left unchanged. Errors: as the primitives'. */
enum gi_status gi_rates_measure(struct gi_rates *rates, struct gi_queue *queue, struct gi_err *err);

/* Returns the name under which the CPU's rates are stored. Returns buffer. */
const char *gi_rates_cpu_name(int threads, char *buffer, size_t nbytes);

#endif
