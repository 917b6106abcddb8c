/* gpuimg devices: lists the devices on which this machine can compute.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/tables/cells.h"
#include "kernels/kernels.h"

enum { DEVICES_MAX = 64 };

struct devices_params {
    bool json;
};

static const struct gi_option options[] = {
    {GI_OPTION("json", FLAG, struct devices_params, json), .letter = 'j',
     .help = "Print a JSON object"},
    {0},
};

/* Returns the number of CUDA devices. If there is none, `err` has the reason. */
static int probe_cuda(struct gi_device_info *infos, struct gi_err *err)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    if (!k) {
        gi_fail(err, GI_E_DEVICE, "this build has no CUDA backend");
        return 0;
    }
    int n = k->probe(infos, DEVICES_MAX, err);
    if (n == 0)
        gi_fail(err, GI_E_DEVICE, "no device");
    return n < 0 ? 0 : n < DEVICES_MAX ? n : DEVICES_MAX;
}

static void print_text(const struct gi_device_info *cpu, const struct gi_device_info *cuda, int n,
                       const struct gi_err *why)
{
    char total[32], free_text[32];
    printf("cpu     %s, %d thread%s, %s of memory\n", cpu->name, cpu->units,
           cpu->units == 1 ? "" : "s", gi_text_nbytes((double)cpu->memory_nbytes, total));
    if (n == 0)
        printf("cuda    none: %s\n", why->text);
    for (int i = 0; i < n; i++)
        printf("cuda:%-2d %s, capability %d.%d, %d multiprocessors, %s of memory, %s free\n",
               cuda[i].ordinal, cuda[i].name, cuda[i].capability / 10, cuda[i].capability % 10,
               cuda[i].units, gi_text_nbytes((double)cuda[i].memory_nbytes, total),
               gi_text_nbytes((double)cuda[i].free_nbytes, free_text));
}

static const struct gi_column of_cpu[] = {
    GI_COLUMN("level", NULL, NAME, struct gi_device_info, name),
    GI_COLUMN("threads", NULL, INT, struct gi_device_info, units),
    GI_COLUMN("bytes", NULL, WHOLE, struct gi_device_info, memory_nbytes),
};
static const struct gi_column of_cuda[] = {
    GI_COLUMN("ordinal", NULL, INT, struct gi_device_info, ordinal),
    GI_COLUMN("name", NULL, NAME, struct gi_device_info, name),
    GI_COLUMN("capability", NULL, INT, struct gi_device_info, capability),
    GI_COLUMN("multiprocessors", NULL, INT, struct gi_device_info, units),
    GI_COLUMN("bytes", NULL, WHOLE, struct gi_device_info, memory_nbytes),
    GI_COLUMN("free_bytes", NULL, WHOLE, struct gi_device_info, free_nbytes),
};

static enum gi_status print_json(const struct gi_device_info *cpu,
                                 const struct gi_device_info *cuda, int n, const struct gi_err *why,
                                 struct gi_err *err)
{
    json_t *all = json_object(), *host = json_object(), *array = json_array();
    gi_cells_json(host, of_cpu, sizeof of_cpu / sizeof *of_cpu, cpu);
    for (int i = 0; i < n; i++) {
        json_t *device = json_object();
        gi_cells_json(device, of_cuda, sizeof of_cuda / sizeof *of_cuda, &cuda[i]);
        json_array_append_new(array, device);
    }
    json_object_set_new(all, "cpu", host);
    json_object_set_new(all, "cuda", array);
    json_object_set_new(all, "cuda_missing", n ? json_null() : gi_json_text(why->text));
    return gi_json_print(stdout, all, 2, err);
}

static enum gi_status run_devices(const struct gi_command *self, void *const *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    struct gi_device_info cpu = {0}, cuda[DEVICES_MAX] = {0};
    struct gi_err why = {0};
    gi_kernels_cpu()->probe(&cpu, 1, err);
    int n = probe_cuda(cuda, &why);
    if (((const struct devices_params *)params[0])->json)
        return print_json(&cpu, cuda, n, &why, err);
    print_text(&cpu, cuda, n, &why);
    return GI_OK;
}

const struct gi_command gi_command_devices = {
    .name = "devices",
    .operands = "",
    .summary = "List the CPU and the CUDA devices",
    .manual = "Prints the CPU with its instruction level and the number of threads, and every "
              "CUDA device, or the reason why there is none. The environment variable GPUIMG_CPU "
              "limits the instruction level: GPUIMG_CPU=avx2, for example.",
    .examples = "gpuimg devices",
    .sets = {{"Options", options, sizeof(struct devices_params)}},
    .run = run_devices,
};
