/* Reads the options of the set "Running": --device and --threads.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/command.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

const struct gi_option gi_device_options[] = {
    {GI_OPTION("device", TEXT, struct gi_device_params, device), .metavar = "auto|cpu|cuda[:N]",
     .help = "Where to compute: on the CPU or on a CUDA device. \"auto\" estimates the time on "
             "both and takes the faster one. Many images may use several devices: cuda:all, or a "
             "list such as cuda:0,2. Without this option the environment variable GPUIMG_DEVICE "
             "is used, and if it is not set, \"auto\""},
    {GI_OPTION("threads", INT, struct gi_device_params, threads), .min = 1, .max = 1024,
     .help = "Number of threads on the CPU; by default one per CPU"},
    {GI_OPTION("max-device-bytes", SIZE, struct gi_device_params, max_device_bytes), .min = 1,
     .max = 1e15, .unit = "bytes",
     .help = "Limit of the memory on the CUDA device; an image that needs more is processed in "
             "bands of rows. The default is all free memory"},
    {GI_OPTION("timing", FLAG, struct gi_device_params, timing),
     .help = "Print the time of each stage in milliseconds on standard error. For many images the "
             "times are sums over the threads, followed by the times that threads waited: for "
             "input that another thread reads, for the delivery of earlier results (order), for "
             "memory (--memory), for a device, and in the stages for files or a CPU; and by the "
             "time that elapsed"},
    {GI_OPTION("verbose", FLAG, struct gi_device_params, verbose), .letter = 'v',
     .help = "Print the chosen device, the reason for the choice, and lines that libraries print "
             "about damaged files, on standard error"},
    {0},
};

/* Reads the part after "cuda": "", ":all", ":1" or ":0,2". Returns false for any other text. */
static bool read_ordinals(struct gi_device_list *list, const char *text)
{
    if (!*text)
        return true;
    list->all = strcmp(text, ":all") == 0;
    if (list->all)
        return true;
    for (list->n = 0; *text == (list->n ? ',' : ':');) {
        size_t ndigits = strspn(++text, "0123456789");
        if (ndigits < 1 || ndigits > 4 || list->n == GI_DEVICES_MAX)
            return false;
        int ordinal = atoi(text);
        for (int i = 0; i < list->n; i++)
            if (list->ordinals[i] == ordinal)
                return false;
        list->ordinals[list->n++] = ordinal;
        text += ndigits;
    }
    return !*text;
}

enum gi_status gi_device_parse_list(enum gi_device_choice *choice, struct gi_device_list *list,
                                    const char *text, struct gi_err *err)
{
    const char *option = "--device ";
    if (!text && (text = getenv("GPUIMG_DEVICE")))
        option = "GPUIMG_DEVICE=";
    if (!text || (!*text && *option == 'G')) /* an empty variable counts as unset */
        text = "auto";
    *list = (struct gi_device_list){.n = 1};
    *choice = strcmp(text, "cpu") == 0        ? GI_CHOOSE_CPU
              : strncmp(text, "cuda", 4) == 0 ? GI_CHOOSE_CUDA
                                              : GI_CHOOSE_AUTO;
    bool known = *choice == GI_CHOOSE_CUDA ? read_ordinals(list, text + 4)
                                           : *choice == GI_CHOOSE_CPU || strcmp(text, "auto") == 0;
    return known ? GI_OK
                 : gi_fail(err, GI_E_USAGE,
                           "%s%s: want auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all", option,
                           text);
}

enum gi_status gi_device_parse(enum gi_device_choice *choice, int *ordinal, const char *text,
                               struct gi_err *err)
{
    struct gi_device_list list;
    enum gi_status status = gi_device_parse_list(choice, &list, text, err);
    *ordinal = list.ordinals[0];
    return status;
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
