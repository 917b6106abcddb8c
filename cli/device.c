/* The options of the set "Running", and what --device names.
 * SPDX-License-Identifier: MIT */
#include "cli/device.h"
#include "cli/command.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

const struct gi_option gi_device_options[] = {
    {.name = "device",
     .type = GI_OPT_TEXT,
     .offset = offsetof(struct gi_device_params, device),
     .metavar = "auto|cpu|cuda[:N]",
     .help = "Where to compute; auto estimates both and takes the quicker. Without it the "
             "environment variable GPUIMG_DEVICE says, then auto"},
    {.name = "threads",
     .type = GI_OPT_INT,
     .offset = offsetof(struct gi_device_params, threads),
     .min = 1,
     .max = 1024,
     .help = "Threads on the CPU; without it as many as there are CPUs"},
    {.name = "max-device-bytes",
     .type = GI_OPT_SIZE,
     .offset = offsetof(struct gi_device_params, max_device_bytes),
     .min = 1,
     .max = 1e15,
     .unit = "bytes",
     .help = "Device memory to use at most; a larger image goes in bands. Without it what is free"},
    {.name = "timing",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_device_params, timing),
     .help = "Print the milliseconds of each stage on standard error"},
    {.name = "verbose",
     .letter = 'v',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_device_params, verbose),
     .help = "Say on standard error which device was taken and why"},
    {0},
};

enum gi_status gi_device_parse(enum gi_device_choice *choice, int *ordinal, const char *text,
                               struct gi_err *err)
{
    const char *option = "--device ", *rest = "";
    if (!text && (text = getenv("GPUIMG_DEVICE")))
        option = "GPUIMG_DEVICE=";
    if (!text || (!*text && *option == 'G')) /* an empty variable is as good as none */
        text = "auto";
    *ordinal = 0;
    *choice = strcmp(text, "cpu") == 0        ? GI_CHOOSE_CPU
              : strncmp(text, "cuda", 4) == 0 ? GI_CHOOSE_CUDA
                                              : GI_CHOOSE_AUTO;
    if (*choice == GI_CHOOSE_CUDA)
        rest = text + 4;
    else if (*choice == GI_CHOOSE_AUTO && strcmp(text, "auto") != 0)
        rest = "?";
    size_t ndigits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
    if (ndigits > 0 && ndigits < 5 && !rest[1 + ndigits])
        *ordinal = atoi(rest + 1);
    else if (*rest)
        return gi_fail(err, GI_E_USAGE, "%s%s: want auto, cpu, cuda or cuda:N", option, text);
    return GI_OK;
}

int gi_cpu_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int gi_thread_count(int asked)
{
    return asked ? asked : gi_cpu_count();
}
