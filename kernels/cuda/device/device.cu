/* CUDA devices: properties, opening and closing. There is no global state, so several devices may
 * be open at once.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum gi_status gi_cuda_fail(struct gi_err *err, cudaError_t error, const char *call)
{
    cudaGetLastError();                       /* so that the next check does not see this error */
    if (error == cudaErrorInsufficientDriver) /* also reported if there is no driver */
        return gi_fail(err, GI_E_DEVICE, "no NVIDIA driver, or one too old for CUDA %d.%d",
                       CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    /* After an error that CUDA calls sticky, every call fails. */
    bool sticky = error != cudaErrorMemoryAllocation && cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    enum gi_status status = error == cudaErrorMemoryAllocation ? GI_E_DEVICE_MEMORY
                            : sticky                           ? GI_E_DEVICE
                                                               : GI_E_LAUNCH;
    return gi_fail(err, status, "CUDA: %s (%.*s)", cudaGetErrorString(error),
                   (int)strcspn(call, "("), call);
}

/* Returns the number of 32-bit multiply-adds per clock and multiprocessor. Source: CUDA C++
 * Programming Guide, table "Throughput of Native Arithmetic Instructions". */
static int lanes_of(int capability)
{
    return capability == 60 || (capability >= 70 && capability <= 80) ? 64 : 128;
}

/* Returns an attribute of the device, or 0 if the driver does not know it. */
static int attribute(cudaDeviceAttr name, int ordinal)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, name, ordinal))
        cudaGetLastError();
    return value;
}

/* Returns the number at the start of a sysfs file of a PCI device, or 0 if the file does not
 * exist. */
static double pci_number(const char *bus, const char *file)
{
    char path[96];
    double value = 0;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", bus, file);
    FILE *stream = fopen(path, "r");
    if (!stream)
        return 0;
    if (fscanf(stream, "%lf", &value) != 1)
        value = 0;
    fclose(stream);
    return value;
}

/* Returns the bytes per second of the GPU's PCI Express link at its highest speed, or 0 if unknown.
 * The unit of max_link_speed is 1e9 transfers per second and lane. A transfer is one bit. */
static double link_rate(int ordinal)
{
    char bus[32] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal)) {
        cudaGetLastError();
        return 0;
    }
    for (char *c = bus; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return 1e9 / 8 * pci_number(bus, "max_link_speed") * pci_number(bus, "max_link_width");
}

/* Makes the device current, and fails if the program has no code for it. */
static enum gi_status set_device(int ordinal, struct gi_err *err)
{
    GI_CUDA_TRY(cudaSetDevice(ordinal));
    if (gi_cuda_has_code())
        return GI_OK;
    struct cudaDeviceProp gpu;
    GI_CUDA_TRY(cudaGetDeviceProperties(&gpu, ordinal));
    return gi_fail(err, GI_E_DEVICE,
                   "%.95s has compute capability %d.%d, for which the program was built without "
                   "code: make CUDA_ARCH=sm_%d%d, or CUDA_ARCH=all",
                   gpu.name, gpu.major, gpu.minor, gpu.major, gpu.minor);
}

static enum gi_status device_info(struct gi_device_info *info, int ordinal, struct gi_err *err)
{
    struct cudaDeviceProp properties;
    GI_CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal));
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%.95s", properties.name);
    info->ordinal = ordinal;
    info->units = properties.multiProcessorCount;
    info->capability = 10 * properties.major + properties.minor;
    info->lanes = lanes_of(info->capability);
    info->clock_khz = attribute(cudaDevAttrClockRate, ordinal);
    info->cache_nbytes = (size_t)properties.l2CacheSize;
    /* two transfers per clock */
    info->memory_rate =
        2e3 * attribute(cudaDevAttrMemoryClockRate, ordinal) * properties.memoryBusWidth / 8;
    info->link_rate = link_rate(ordinal);
    enum gi_status status = set_device(ordinal, err);
    if (status)
        return status;
    GI_CUDA_TRY(cudaMemGetInfo(&info->free_nbytes, &info->memory_nbytes));
    return GI_OK;
}

int gi_cuda_probe(struct gi_device_info *infos, int max, struct gi_err *err)
{
    int n = 0;
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaErrorNoDevice) {
        cudaGetLastError();
        return 0;
    }
    if (error != cudaSuccess) {
        gi_cuda_fail(err, error, "cudaGetDeviceCount");
        return -1;
    }
    for (int i = 0; i < n && i < max; i++)
        if (device_info(&infos[i], i, err))
            return -1;
    return n;
}

enum gi_status gi_cuda_describe(struct gi_device *device, struct gi_device_info *info,
                                struct gi_err *err)
{
    return device_info(info, ((struct gi_cuda_device *)device)->ordinal, err);
}

/* Initialises those parts of a device whose creation can fail. If one fails, the caller calls
 * gi_cuda_device_close(), which frees the parts that exist. */
static enum gi_status device_fill(struct gi_cuda_device *cu, const struct gi_open_options *options,
                                  struct gi_err *err)
{
    enum gi_status status =
        gi_pool_new(&cu->workers, options->threads < 1 ? 1 : options->threads, err);
    if (!status)
        status = set_device(cu->ordinal, err);
    if (status)
        return status;
    if (options->yields)
        GI_CUDA_TRY(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    GI_CUDA_TRY(cudaDeviceGetAttribute(&cu->units, cudaDevAttrMultiProcessorCount, cu->ordinal));
    cu->capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, cu->ordinal) +
                     attribute(cudaDevAttrComputeCapabilityMinor, cu->ordinal);
    GI_CUDA_TRY(cudaDeviceGetAttribute(&cu->shared_nbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       cu->ordinal));
    return GI_OK;
}

enum gi_status gi_cuda_device_open(struct gi_device **device, const struct gi_open_options *options,
                                   struct gi_err *err)
{
    *device = NULL;
    struct gi_cuda_device *cu = (struct gi_cuda_device *)calloc(1, sizeof *cu);
    if (!cu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    cu->base.k = gi_kernels_cuda();
    cu->ordinal = options->ordinal;
    cu->max_bytes = options->max_bytes;
    pthread_mutex_init(&cu->lock, NULL);
    gi_cuda_pinned_begin(cu);
    *device = &cu->base;
    enum gi_status status = device_fill(cu, options, err);
    if (status)
        gi_cuda_device_close(device);
    return status;
}

/* Only frees memory. The driver's context ends with the process. */
void gi_cuda_device_close(struct gi_device **device)
{
    struct gi_cuda_device *cu = (struct gi_cuda_device *)*device;
    *device = NULL;
    if (!cu)
        return;
    cudaSetDevice(cu->ordinal);
    for (int i = 0; i < cu->nblocks; i++)
        cudaFree(cu->blocks[i].data);
    free(cu->blocks);
    free(cu->kernels);
    gi_cuda_pinned_end(cu);
    cudaGetLastError();
    gi_pool_free(&cu->workers);
    pthread_mutex_destroy(&cu->lock);
    free(cu);
}
