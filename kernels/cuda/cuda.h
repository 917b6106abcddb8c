/* Internal interface of the CUDA backend: devices and queues, the error macro, scratch memory,
 * texture objects and copies. A launcher makes the device current by gi_cuda(), enqueues its
 * kernels on `stream`, and waits or allocates only through functions of this file.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CUDA_H
#define GI_KERNELS_CUDA_CUDA_H

#include <cuda_runtime.h>
#include <pthread.h>

#include "kernels/device.h"
#include "kernels/parallel.h"
#include "kernels/rules.h"
#include "kernels/ways.h"

enum {
    /* In bytes. Images and rows start at multiples of this. Wide loads may read the padding. */
    GI_CUDA_ALIGN = 512,
    GI_CUDA_TICKETS = 16, /* number of copies per queue that can be waited for separately */
    GI_CUDA_TEXTURES = 8, /* retired texture objects per queue that kernels may still use */
};

/* Device memory for an image or for scratch. The queue that released a block may reuse the block at
 * once, because all work that still uses the block precedes the new work in the queue's stream. */
struct gi_cuda_block {
    void *data;
    size_t nbytes;
    const struct gi_cuda_queue *queue; /* may reuse it; NULL: any may (work has ended) */
    bool lent;
};

/* A block of pinned (page-locked) host memory. */
struct gi_cuda_pinned {
    void *data;
    size_t nbytes;
    bool lent;
};

struct gi_cuda_device {
    struct gi_device base;
    int ordinal;
    int units;                    /* multiprocessors */
    int capability;               /* 10 * major + minor */
    int shared_nbytes;            /* maximum shared memory of a block after opting in */
    size_t max_bytes;             /* limit of device memory; 0: all memory of the device */
    struct gi_pool *workers;      /* threads that copy between pageable and pinned memory */
    pthread_mutex_t lock;         /* guards the members below */
    struct gi_cuda_block *blocks; /* array of blocks_room entries, of which nblocks are used */
    int nblocks, blocks_room;
    const void **kernels; /* the nkernels kernels that gi_cuda_allow_shared() has set up */
    int nkernels, kernels_room;
    int nqueues;          /* open queues */
    size_t usable_nbytes; /* bytes that were free or held by blocks when CUDA was asked last */
    int64_t asked_ms;     /* when that was; 0: never */
    struct gi_allocator host_allocator;
    pthread_mutex_t pinned_lock;   /* guards the members below */
    struct gi_cuda_pinned *pinned; /* array of pinned_room entries, of which npinned are used */
    int npinned, pinned_room;
};

/* A retired texture object, and the event after the last work that uses it. */
struct gi_cuda_texture {
    cudaTextureObject_t object; /* 0: none */
    cudaEvent_t done;
};

struct gi_cuda_shape {
    int width, height;
    enum gi_type type;
};

/* A copy of an image in a CUDA array, and the texture object through which kernels read it. */
struct gi_cuda_array {
    cudaArray_t array;           /* NULL: none, or none could be made */
    cudaSurfaceObject_t surface; /* the array for stores */
    cudaTextureObject_t texture;
    struct gi_cuda_shape shape; /* shape of the array; width 0: no array so far */
    struct gi_cuda_shape asked; /* shape in the last call of gi_cuda_array_texture() */
    enum gi_border mode;        /* border mode of `texture` */
    float value;                /* border value of `texture` */
};

struct gi_cuda_queue {
    struct gi_queue base;
    struct gi_cuda_device *device;
    int ordinal, units, capability, shared_nbytes; /* copied from the device */
    struct gi_pool *workers;                       /* copied from the device */
    cudaStream_t stream;
    void *scratch; /* device memory for gi_cuda_scratch() */
    size_t scratch_nbytes;
    void *staging[2]; /* pinned host memory, allocated by the first large copy */
    cudaEvent_t staged[2];
    void *tiny; /* pinned host memory for results of few bytes, allocated by the first one */
    struct gi_cuda_texture textures[GI_CUDA_TEXTURES]; /* used in rotation */
    unsigned ntextures;
    struct gi_cuda_array gathered;       /* of gi_cuda_array_texture() */
    uint64_t ntickets;                   /* tickets issued so far */
    cudaEvent_t copied[GI_CUDA_TICKETS]; /* [n % GI_CUDA_TICKETS] follows copy n or a later copy */
};

/* Returns the queue as the CUDA backend's type, and makes its device the current device of the
 * thread. */
static inline struct gi_cuda_queue *gi_cuda(struct gi_queue *queue)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)queue;
    cudaSetDevice(cu->ordinal);
    return cu;
}

/* Fails after a CUDA call that returned `error`. Returns GI_E_DEVICE_MEMORY if memory ran out,
 * GI_E_DEVICE if later calls on the device fail too (a sticky error), else GI_E_LAUNCH. Waits for
 * the device. */
enum gi_status gi_cuda_fail(struct gi_err *err, cudaError_t error, const char *call);

/* Evaluates a CUDA call. If the call fails, the function that contains the macro returns the error.
 * That function must have a variable `err`. */
#define GI_CUDA_TRY(call)                                                                          \
    do {                                                                                           \
        cudaError_t gi_cuda_error_ = (call);                                                       \
        if (gi_cuda_error_ != cudaSuccess)                                                         \
            return gi_cuda_fail(err, gi_cuda_error_, #call);                                       \
    } while (0)

/* Checks a kernel launch. If the kernel did not start, the function that contains the macro returns
 * the error. */
#define GI_CUDA_LAUNCHED() GI_CUDA_TRY(cudaGetLastError())

/* Return the value of the expression from the function that contains the macro. In GI_CUDA_TYPES, T
 * is the C type of samples of `type`. In GI_CUDA_CHANNELS, CHANNELS is a constant equal to
 * `channels` (1 to 4). So the expression can use T and CHANNELS as template arguments. */
#define GI_CUDA_TYPES(type, ...)                                                                   \
    switch (type) {                                                                                \
    case GI_U8: {                                                                                  \
        typedef uint8_t T;                                                                         \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    case GI_U16: {                                                                                 \
        typedef uint16_t T;                                                                        \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    case GI_F32: {                                                                                 \
        typedef float T;                                                                           \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    default:                                                                                       \
        return gi_fail(err, GI_E_UNSUPPORTED, "CUDA: type %d: want samples", (int)(type));         \
    }
#define GI_CUDA_CHANNELS(channels, ...)                                                            \
    switch (channels) {                                                                            \
    case 1: {                                                                                      \
        constexpr int CHANNELS = 1;                                                                \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    case 2: {                                                                                      \
        constexpr int CHANNELS = 2;                                                                \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    case 3: {                                                                                      \
        constexpr int CHANNELS = 3;                                                                \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    default: {                                                                                     \
        constexpr int CHANNELS = 4;                                                                \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    }

/* Returns device memory for the running primitive. The memory is aligned to GI_CUDA_ALIGN, has
 * undefined contents, and is valid until the next call on this queue. A primitive therefore calls
 * this function once and divides the memory. If the memory has to grow, kernels that are already
 * enqueued keep the old block. */
enum gi_status gi_cuda_scratch(struct gi_cuda_queue *cu, void **scratch, size_t nbytes,
                               struct gi_err *err);

/* Allows `kernel` the maximum dynamic shared memory of the device, which is shared_nbytes minus the
 * static shared memory of the kernel. This function must be called before every launch with more
 * than 48 KiB of dynamic shared memory. Errors: GI_E_MEMORY, and as gi_cuda_fail(). */
enum gi_status gi_cuda_allow_shared(struct gi_cuda_queue *cu, const void *kernel,
                                    struct gi_err *err);

/* Calls gi_cuda_allow_shared(). If it fails, the function that contains the macro returns the
 * error. */
#define GI_CUDA_ALLOW_SHARED(cu, kernel)                                                           \
    do {                                                                                           \
        enum gi_status gi_allow_status_ = gi_cuda_allow_shared(cu, (const void *)(kernel), err);   \
        if (gi_allow_status_)                                                                      \
            return gi_allow_status_;                                                               \
    } while (0)

/* Returns whether texture objects have an address mode for this border. The result is true for
 * CLAMP, and for VALUE with values that texels can represent. */
bool gi_cuda_texture_makes(const struct gi_image *image, const struct gi_border_spec *border);

/* Fills the first entries of `color`, which is cudaTextureDesc.borderColor, one per channel, with
 * floats or the bits of integers. */
void gi_cuda_border_color(float *color, const struct gi_image *image,
                          const struct gi_border_spec *border);

/* Takes ownership of a texture object that enqueued kernels may still use, and destroys it later.
 * Waits only if GI_CUDA_TEXTURES other retired texture objects are still in use. */
enum gi_status gi_cuda_texture_retire(struct gi_cuda_queue *cu, cudaTextureObject_t texture,
                                      struct gi_err *err);
void gi_cuda_textures_free(struct gi_cuda_queue *cu);

/* Returns whether gi_cuda_array_texture() accepts the image, which has integers: one channel, a
 * border that an address mode makes, and a size within the limits of the hardware. */
bool gi_cuda_array_fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                        const struct gi_border_spec *border, int repeated);

/* Copies `image` into the queue's CUDA array, in stream order. If `repeated` is 1 instead of 0,
 * copies the first row of the image again below its last row. *texture is a texture object over the
 * array for tex2Dgather() and tex2D(), with point sampling, unnormalised coordinates, unconverted
 * samples, and the address mode of `border`. Kernels that are enqueued before the next call may use
 * *texture. *texture is 0 if the array cannot be created. Unless `always`, *texture is also 0 if
 * the queue has an array of another shape and a new array would not pay. The caller then reads
 * `image` by plain loads. */
enum gi_status gi_cuda_array_texture(struct gi_cuda_queue *cu, cudaTextureObject_t *texture,
                                     const struct gi_image *image,
                                     const struct gi_border_spec *border, int repeated, bool always,
                                     struct gi_err *err);
/* Frees the queue's CUDA array. No kernel may still use the array. */
void gi_cuda_array_free(struct gi_cuda_queue *cu);

/* Copy rows of bytes between the device and pageable host memory through pinned staging buffers.
 * The copy to the host returns when it is complete. The copy to the device returns when `host` has
 * been read. */
enum gi_status gi_cuda_copy_to_host(struct gi_cuda_queue *cu, void *host, size_t host_stride,
                                    const void *device, size_t device_stride, size_t row_nbytes,
                                    size_t nrows, struct gi_err *err);
enum gi_status gi_cuda_copy_to_device(struct gi_cuda_queue *cu, void *device, size_t device_stride,
                                      const void *host, size_t host_stride, size_t row_nbytes,
                                      size_t nrows, struct gi_err *err);

/* Declares the function of each primitive, which kernels/cuda/table.cu defines, and its table of
 * implementations (ways), which is at the end of the primitive's file. */
#define GI_CUDA_DECLARE(name, samples, shape, result, spec)                                        \
    gi_##name##_fn gi_cuda_##name;                                                                 \
    extern const struct gi_##name##_way gi_cuda_##name##_ways[GI_WAYS_MAX];
GI_PRIMITIVES_BOTH(GI_CUDA_DECLARE)
GI_PRIMITIVES_CUDA(GI_CUDA_DECLARE)

#endif
