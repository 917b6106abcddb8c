/* Rates of the devices of this machine, which `auto` uses. They are the rates that `gpuimg bench
 * --save` has measured, or otherwise rates derived from the properties of the devices.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "filters/pipeline.h"

/* Returns the rates of the CPU with `threads` threads. */
struct gi_rates gi_rates_cpu(int threads);

/* Returns rates of a CUDA device that is not open, to decide whether to open the device. These are
 * the stored rates if rates of only one device are stored, otherwise optimistic rates. */
struct gi_rates gi_rates_cuda_unopened(void);
/* Returns the rates of an open device. These are the stored rates, or otherwise rates derived from
 * its properties. */
struct gi_rates gi_rates_cuda(struct gi_device *device);

/* Returns whether an NVIDIA driver seems to be installed (on Linux, WSL 2 or Jetson). The driver
 * itself is not used. */
bool gi_cuda_is_likely(void);

/* Stores rates under a device's name, "cpu avx2, 8 threads" or "NVIDIA H200", and keeps other
 * entries. The file is $GPUIMG_RATES, otherwise gpuimg/rates.json in $XDG_CACHE_HOME or ~/.cache.
 * *path becomes the name of the file, which the caller frees. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_rates_store(char **path, const char *device, const struct gi_rates *rates,
                              struct gi_err *err);

/* Measures rates in about two seconds. The rates of memory and of copies to and from a CUDA device
 * are measured on an image of 64 MB with the operation invert, the rate of multiply-adds with a
 * Gaussian of sigma 10, and those of codecs as the function below says. Does not change the times
 * for opening the device and ending the process, which it can't measure. `threads` is how many
 * threads a CPU may use. Errors: the primitives'. */
enum gi_status gi_rates_measure(struct gi_rates *rates, struct gi_queue *queue, int threads,
                                struct gi_err *err);
/* Measures the rates of the codecs of JPEG and PNG with an image of 1920 x 1080 RGB, on all threads
 * of the CPU or several queues of the device of `queue` at once. The rate of a codec that is not in
 * the build, or for which the device has too little memory, stays as it is. Errors: the codecs'
 * others. */
enum gi_status gi_rates_measure_codecs(struct gi_rates *rates, struct gi_queue *queue, int threads,
                                       struct gi_err *err);

/* Prints the name under which the CPU's rates are stored. Returns buffer. */
const char *gi_rates_cpu_name(int threads, char *buffer, size_t nbytes);
