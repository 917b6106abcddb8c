/* The options of the set "Running".
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "filters/option.h"

/* The options of the set "Running". */
struct gi_device_params {
    /* The text auto, cpu, cuda, cuda:N, cuda:all or cuda:N,N... If it is NULL, GPUIMG_DEVICE is
     * used, or auto if that is not set. */
    const char *device;
    int threads; /* 0: one per CPU */
    uint64_t max_device_bytes;
    bool timing, verbose;
};
extern const struct gi_option gi_device_options[];

/* The kind of device that --device or GPUIMG_DEVICE names. */
enum gi_device_choice { GI_CHOOSE_AUTO, GI_CHOOSE_CPU, GI_CHOOSE_CUDA };
enum { GI_DEVICES_MAX = 64 };
struct gi_device_list {
    bool all; /* all devices of the machine */
    int n, ordinals[GI_DEVICES_MAX];
};
/* Parses the text of --device. If it is NULL, parses GPUIMG_DEVICE, or "auto" if that is not set.
 * *list gets the devices that follow cuda; for other choices device 0. Errors: GI_E_USAGE. */
enum gi_status gi_device_parse_list(enum gi_device_choice *choice, struct gi_device_list *list,
                                    const char *text, struct gi_err *err);
/* Like gi_device_parse_list(), for callers that use one device. *ordinal becomes the first device
 * of the list. */
enum gi_status gi_device_parse(enum gi_device_choice *choice, int *ordinal, const char *text,
                               struct gi_err *err);
/* Returns the number of CPUs on which this process may run. */
int gi_cpu_count(void);
/* Returns the value of --threads, or the number of CPUs if it is 0 (not given). */
int gi_thread_count(int asked);
