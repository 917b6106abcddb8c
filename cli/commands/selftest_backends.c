/* The backends that selftest compares: instruction levels of the CPU, and CUDA devices.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/commands/selftest.h"

#include <string.h>

#include "kernels/kernels.h"

enum {
    THREADS = 3, /* odd, so that it divides images at other rows than one or two threads do */
    BAND_NBYTES = 256 << 10, /* limit of device memory, so small that large images need bands */
};

static enum gi_status add_backend(struct gi_backends *bench, const struct gi_kernels *k,
                                  const struct gi_open_options *options, const char *name,
                                  const char *detail, struct gi_err *err)
{
    if (bench->n == GI_BACKENDS_MAX)
        return GI_OK;
    struct gi_backend *backend = &bench->backends[bench->n];
    snprintf(backend->name, sizeof backend->name, "%s", name);
    snprintf(backend->detail, sizeof backend->detail, "%s%s", name, detail);
    backend->repeats = options->threads > 1;
    backend->may_be_full = options->max_bytes != 0;
    enum gi_status status = gi_queue_open_alone(&backend->queue, k, options, err);
    bench->n += !status;
    return status;
}

enum gi_status gi_backends_add_cpu(struct gi_backends *bench, struct gi_err *err)
{
    const char *level;
    char detail[16];
    snprintf(detail, sizeof detail, ", %d threads", THREADS);
    enum gi_status status = GI_OK;
    for (int i = 0; !status && (level = gi_cpu_level_at(i)); i++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(level);
        struct gi_open_options one = {.threads = 1}, several = {.threads = THREADS};
        if (!k)
            continue;
        status = add_backend(bench, k, &one, level, ", 1 thread", err);
        if (!status)
            status = add_backend(bench, k, &several, level, detail, err);
    }
    return status;
}

/* Adds a device twice, once for whole images and once for images in bands. */
static enum gi_status add_cuda_device(struct gi_backends *bench, int ordinal, struct gi_err *err)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_open_options whole = {.threads = 1, .ordinal = ordinal}, bands = whole;
    bands.max_bytes = BAND_NBYTES;
    char name[16];
    snprintf(name, sizeof name, "cuda:%d", ordinal);
    enum gi_status status = add_backend(bench, k, &whole, name, "", err);
    return status ? status : add_backend(bench, k, &bands, name, ", in bands", err);
}

enum gi_status gi_backends_add_cuda(struct gi_backends *bench, const char *device,
                                    struct gi_err *skipped, struct gi_err *err)
{
    enum gi_device_choice choice;
    struct gi_device_info infos[8];
    int ordinal;
    enum gi_status status = gi_device_parse(&choice, &ordinal, device, err);
    if (status)
        return status;
    if (choice == GI_CHOOSE_CPU) {
        gi_fail(skipped, GI_E_DEVICE, "the CPU was asked for");
        return GI_OK;
    }
    if (!gi_kernels_cuda())
        gi_fail(skipped, GI_E_DEVICE, "this build has no CUDA backend");
    int n = *skipped->text ? 0 : gi_kernels_cuda()->probe(infos, 8, skipped);
    if (choice == GI_CHOOSE_CUDA && *skipped->text)
        return gi_fail(err, GI_E_DEVICE, "--device %s: %s", device ? device : "cuda",
                       skipped->text);
    if (choice == GI_CHOOSE_CUDA)
        return add_cuda_device(bench, ordinal, err);
    if (n == 0 && !*skipped->text)
        gi_fail(skipped, GI_E_DEVICE, "no device");
    for (int i = 0; !status && i < n && i < 8; i++)
        status = add_cuda_device(bench, infos[i].ordinal, err);
    return status;
}

enum gi_status gi_backends_add_best(struct gi_backends *bench, const char *device,
                                    struct gi_err *err)
{
    struct gi_open_options one = {.threads = 1};
    enum gi_device_choice choice;
    int ordinal;
    enum gi_status status = gi_device_parse(&choice, &ordinal, device, err);
    if (status || choice != GI_CHOOSE_CUDA)
        return status ? status
                      : add_backend(bench, gi_kernels_cpu(), &one, gi_cpu_level(), "", err);
    struct gi_err skipped = {0};
    return gi_backends_add_cuda(bench, device, &skipped, err);
}

void gi_backends_close(struct gi_backends *bench)
{
    for (int i = 0; i < bench->n; i++)
        gi_queue_close_alone(&bench->backends[i].queue);
}
