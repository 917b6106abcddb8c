/* Fake CUDA devices that can be made to fail: the CPU's backend under CUDA's name.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "cases.h"

#include "cli/run/session.h"
#include "kernels/cpu/device/host.h"
#include "kernels/codec.h"
#include "kernels/convolution.h"

enum { DEVICES = 3, NEVER = 1 << 30 };

enum stage { UPLOAD, KERNEL, DOWNLOAD, STAGES };

struct fake {
    struct gi_kernels table; /* the first member, so that a queue's `k` is the fake */
    bool opens;
    unsigned opening_us; /* how long opening takes */
    /* Opening ends after as many images have been downloaded from all devices, or after a second.
     * `images_before` becomes how many there were; it is -1 before. */
    int opens_after, images_before;
    int calls[STAGES];
    enum stage stage; /* the device is lost in this call */
    int fails_at;
    /* If not 0, only call number `refuses_at` of `stage` fails, like a launch that CUDA refuses. */
    int refuses_at;
    bool lost;
    int decodes, refused_decodes; /* number of JPEGs to decode, of which the first are refused */
    int png_decodes, refused_png_decodes; /* likewise of PNGs */
    int queues, most; /* number of open queues, and how many queues fit in memory */
};

static struct fake fakes[DEVICES];
static struct gi_kernels cuda;

/* Counts a call. Once the device is lost, all calls fail. */
static enum gi_status call(struct gi_queue *queue, enum stage stage, struct gi_err *err)
{
    struct fake *fake = (struct fake *)(uintptr_t)queue->k;
    int n = __atomic_add_fetch(&fake->calls[stage], 1, __ATOMIC_RELAXED);
    if (stage == fake->stage && n == fake->refuses_at)
        return gi_fail(err, GI_E_LAUNCH, "invalid argument");
    if (stage == fake->stage && n >= fake->fails_at)
        __atomic_store_n(&fake->lost, true, __ATOMIC_RELAXED);
    return __atomic_load_n(&fake->lost, __ATOMIC_RELAXED)
               ? gi_fail(err, GI_E_DEVICE, "fell off the bus")
               : GI_OK;
}

static enum gi_status upload(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *host, struct gi_ticket *ticket,
                             struct gi_err *err)
{
    enum gi_status status = call(queue, UPLOAD, err);
    usleep(2000); /* slow, so that no single device is fast enough to process all images */
    return status ? status : gi_kernels_cpu()->upload(queue, dst, host, ticket, err);
}

static enum gi_status convolve(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_separable *spec,
                               struct gi_err *err)
{
    enum gi_status status = call(queue, KERNEL, err);
    return status ? status : gi_kernels_cpu()->convolve_separable(queue, dst, src, spec, err);
}

static enum gi_status jpeg_decode(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_jpeg_decode *spec,
                                  struct gi_err *err)
{
    struct fake *fake = (struct fake *)(uintptr_t)queue->k;
    int n = __atomic_add_fetch(&fake->decodes, 1, __ATOMIC_RELAXED);
    usleep(2000);
    return n <= fake->refused_decodes ? gi_fail(err, GI_E_UNSUPPORTED, "does not synchronise")
                                      : gi_kernels_cpu()->jpeg_decode(queue, dst, src, spec, err);
}

static enum gi_status png_decode(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_png_decode *spec,
                                 struct gi_err *err)
{
    struct fake *fake = (struct fake *)(uintptr_t)queue->k;
    int n = __atomic_add_fetch(&fake->png_decodes, 1, __ATOMIC_RELAXED);
    usleep(2000);
    return n <= fake->refused_png_decodes
               ? gi_fail(err, GI_E_UNSUPPORTED, "would take too long")
               : gi_kernels_cpu()->png_decode(queue, dst, src, spec, err);
}

/* Frees the device's image even if the download fails, like a real device. */
static enum gi_status download(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                               struct gi_ticket *ticket, struct gi_err *err)
{
    enum gi_status status = call(queue, DOWNLOAD, err);
    if (status)
        queue->k->release(queue, src);
    return status ? status : gi_kernels_cpu()->download(queue, host, src, ticket, err);
}

static enum gi_status queue_open(struct gi_queue **queue, struct gi_device *device,
                                 struct gi_err *err)
{
    struct fake *fake = (struct fake *)(uintptr_t)device->k;
    *queue = NULL;
    if (__atomic_add_fetch(&fake->queues, 1, __ATOMIC_RELAXED) > fake->most)
        return gi_fail(err, GI_E_DEVICE_MEMORY, "out of device memory: a queue");
    return gi_kernels_cpu()->queue_open(queue, device, err);
}

/* Returns how many images have been downloaded from all devices. */
static int images_done(void)
{
    int n = 0;
    for (int i = 0; i < DEVICES; i++)
        n += __atomic_load_n(&fakes[i].calls[DOWNLOAD], __ATOMIC_RELAXED);
    return n;
}

static enum gi_status device_open(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err)
{
    *device = NULL;
    if (options->ordinal >= DEVICES) {
        usleep(20000);
        return gi_fail(err, GI_E_DEVICE, "invalid device ordinal");
    }
    struct fake *fake = &fakes[options->ordinal];
    for (int tries = 0; tries < 1000 && images_done() < fake->opens_after; tries++)
        usleep(1000);
    usleep(fake->opening_us);
    fake->images_before = images_done();
    return fake->opens ? gi_cpu_host_device_open(device, &fake->table, options, err)
                       : gi_fail(err, GI_E_DEVICE, "is in use by another process");
}

static int probe(struct gi_device_info *infos, int max, struct gi_err *err)
{
    for (int i = 0; i < DEVICES && i < max; i++)
        infos[i] = (struct gi_device_info){.name = "fake", .ordinal = i};
    return DEVICES;
}

/* A GPU that is quicker than any CPU. */
static enum gi_status describe(struct gi_device *device, struct gi_device_info *info,
                               struct gi_err *err)
{
    *info = (struct gi_device_info){.name = "fake",
                                    .units = 1000,
                                    .lanes = 1000,
                                    .clock_khz = 10000000,
                                    .memory_rate = 1e14,
                                    .link_rate = 1e13};
    return GI_OK;
}

/* Replaces the CUDA backend's function. */
const struct gi_kernels *gi_kernels_cuda(void)
{
    return &cuda;
}

/* Replaces libc's access() and reports that a driver exists, so that `auto` considers the GPUs. */
int access(const char *path, int mode)
{
    return strcmp(path, "/dev/nvidiactl") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}

/* Resets all devices, so that none of them will fail. */
static int fresh(void **state)
{
    setenv("GPUIMG_RATES", "/dev/null", 1); /* not those that this user has stored */
    setenv("CUDA_VISIBLE_DEVICES", "0", 1); /* one, which the session does not replace */
    cuda = *gi_kernels_cpu();
    cuda.kind = GI_DEVICE_CUDA;
    cuda.name = "cuda";
    cuda.probe = probe;
    cuda.device_open = device_open;
    cuda.queue_open = queue_open;
    cuda.describe = describe;
    cuda.upload = upload;
    cuda.download = download;
    cuda.convolve_separable = convolve;
    cuda.jpeg_decode = jpeg_decode;
    cuda.png_decode = png_decode;
    for (int i = 0; i < DEVICES; i++)
        fakes[i] = (struct fake){
            .table = cuda, .opens = true, .images_before = -1, .fails_at = NEVER, .most = NEVER};
    return 0;
}
