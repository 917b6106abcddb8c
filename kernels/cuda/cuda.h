/* Internal interface of the CUDA backend: devices and queues, the error macro, scratch memory,
 * texture objects and copies. A launcher sets the device with gi_cuda(), enqueues its kernels on
 * `stream`, and waits or allocates only through the functions declared here.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CUDA_H
#define GI_KERNELS_CUDA_CUDA_H

#include <cuda_runtime.h>
#include <pthread.h>

#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "kernels/ways.h"

enum {
    /* bytes: alignment of the start and stride of our images; wide loads may read this padding */
    GI_CUDA_ALIGN = 512,
    GI_CUDA_TICKETS = 16, /* copies of a queue that can be told apart */
    GI_CUDA_TEXTURES = 8, /* retired texture objects that kernels of a queue may still use */
};

/* Device memory for an image or for scratch. The queue that released an idle block may take it
 * again at once, because all work that still uses the block precedes the new work in its stream. */
struct gi_cuda_block {
    void *data;
    size_t nbytes;
    const struct gi_cuda_queue *queue; /* NULL: its stream is done, any queue may take the block */
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
    int shared_nbytes;            /* shared memory that one block may have at most, opted in */
    size_t max_bytes;             /* 0: no limit except the device's own memory */
    struct gi_pool *workers;      /* threads that copy between pageable and pinned memory */
    pthread_mutex_t lock;         /* guards the members below */
    struct gi_cuda_block *blocks; /* array of blocks_room entries, nblocks in use */
    int nblocks, blocks_room;
    const void **kernels; /* set up by gi_cuda_allow_shared(); nkernels in use */
    int nkernels, kernels_room;
    int nqueues; /* open queues */
    struct gi_allocator host_allocator;
    pthread_mutex_t pinned_lock;   /* guards the members below */
    struct gi_cuda_pinned *pinned; /* array of pinned_room entries, npinned in use */
    int npinned, pinned_room;
};

/* A retired texture object and the event that marks the end of the work that uses it. */
struct gi_cuda_texture {
    cudaTextureObject_t object; /* 0: none */
    cudaEvent_t done;
};

struct gi_cuda_shape {
    int width, height;
    enum gi_type type;
};

/* A CUDA array with a copy of an image, and the texture object through which kernels read it. */
struct gi_cuda_array {
    cudaArray_t array;           /* NULL: none, or none could be made */
    cudaSurfaceObject_t surface; /* the array for stores */
    cudaTextureObject_t texture;
    struct gi_cuda_shape shape; /* of the array that was last wanted; width 0: none so far */
    struct gi_cuda_shape asked; /* by the last call of gi_cuda_array_texture() */
    enum gi_border mode;        /* of the texture object */
    float value;                /* of the border */
};

struct gi_cuda_queue {
    struct gi_queue base;
    struct gi_cuda_device *device;
    int ordinal, units, shared_nbytes; /* copied from the device */
    struct gi_pool *workers;           /* copied from the device */
    cudaStream_t stream;
    void *scratch; /* device memory that gi_cuda_scratch() returns */
    size_t scratch_nbytes;
    void *staging[2]; /* pinned host memory, allocated at the first large copy */
    cudaEvent_t staged[2];
    struct gi_cuda_texture textures[GI_CUDA_TEXTURES]; /* used in rotation */
    unsigned ntextures;
    struct gi_cuda_array gathered;       /* of gi_cuda_array_texture() */
    uint64_t ntickets;                   /* tickets issued so far */
    cudaEvent_t copied[GI_CUDA_TICKETS]; /* [n % GI_CUDA_TICKETS]: after copy n or a later one */
};

/* Returns the queue as the CUDA backend's type and makes its device the thread's current one. */
static inline struct gi_cuda_queue *gi_cuda(struct gi_queue *queue)
{
    struct gi_cuda_queue *cu = (struct gi_cuda_queue *)queue;
    cudaSetDevice(cu->ordinal);
    return cu;
}

/* Records a failed call: GI_E_DEVICE_MEMORY if memory ran out, GI_E_DEVICE if the device's later
 * calls fail too (a sticky error), otherwise GI_E_LAUNCH. Waits for the device. */
enum gi_status gi_cuda_fail(struct gi_err *err, cudaError_t error, const char *call);

/* If the CUDA call fails, returns its error from the calling function, which has an `err` in
 * scope. */
#define GI_CUDA_TRY(call)                                                                          \
    do {                                                                                           \
        cudaError_t gi_cuda_error_ = (call);                                                       \
        if (gi_cuda_error_ != cudaSuccess)                                                         \
            return gi_cuda_fail(err, gi_cuda_error_, #call);                                       \
    } while (0)

/* Checks a kernel launch: returns from the calling function if the kernel did not start. */
#define GI_CUDA_LAUNCHED() GI_CUDA_TRY(cudaGetLastError())

/* Returns the value of the expression, in which T is the C type of samples of `type`, or CHANNELS
 * is a constant equal to `channels` (1 to 4). Templates are instantiated through these macros. */
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

/* Returns device memory for the running primitive: aligned to GI_CUDA_ALIGN, contents undefined,
 * valid until the next call on this queue. A primitive makes one call and divides the block itself.
 * The memory grows in stream order, so kernels that are enqueued already keep the old block. */
enum gi_status gi_cuda_scratch(struct gi_cuda_queue *cu, void **scratch, size_t nbytes,
                               struct gi_err *err);

/* Allows launches of `kernel` all the dynamic shared memory that a block of the device can have:
 * shared_nbytes minus the kernel's static shared memory. It must be called before every launch with
 * more than 48 KiB. Errors: GI_E_MEMORY, as gi_cuda_fail(). */
enum gi_status gi_cuda_allow_shared(struct gi_cuda_queue *cu, const void *kernel,
                                    struct gi_err *err);

/* If that fails, returns its error from the calling function, which has an `err` in scope. */
#define GI_CUDA_ALLOW_SHARED(cu, kernel)                                                           \
    do {                                                                                           \
        enum gi_status gi_allow_status_ = gi_cuda_allow_shared(cu, (const void *)(kernel), err);   \
        if (gi_allow_status_)                                                                      \
            return gi_allow_status_;                                                               \
    } while (0)

/* Returns whether an address mode of a texture object makes the border of the image: mode CLAMP, or
 * VALUE with values that are representable as texels. */
bool gi_cuda_texture_makes(const struct gi_image *image, const struct gi_border_spec *border);

/* Fills the first `channels` members of cudaTextureDesc.borderColor: floats, or the bits of
 * unsigned integers. */
void gi_cuda_border_color(float *color, const struct gi_image *image,
                          const struct gi_border_spec *border);

/* Takes over a texture object that kernels enqueued so far may use, and destroys it later. It waits
 * only if GI_CUDA_TEXTURES others are still in use. */
enum gi_status gi_cuda_texture_retire(struct gi_cuda_queue *cu, cudaTextureObject_t texture,
                                      struct gi_err *err);
void gi_cuda_textures_free(struct gi_cuda_queue *cu);

/* Returns whether gi_cuda_array_texture() accepts the image: one channel of samples, a border that
 * an address mode makes, within the hardware's limits. */
bool gi_cuda_array_fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                        const struct gi_border_spec *border, int repeated);

/* Copies `image`, and below it its first `repeated` (0 or 1) rows again, into the queue's CUDA
 * array in stream order. *texture: texture object of the array for tex2Dgather() and tex2D(), with
 * point sampling at unnormalised coordinates, unconverted samples, and the address mode of
 * `border`. It may be used by kernels that are enqueued before the next call. *texture is 0 if the
 * array cannot be made, and, unless `always`, if the queue keeps an array of another shape and a
 * new one would not pay: the caller then reads `image` by plain loads. */
enum gi_status gi_cuda_array_texture(struct gi_cuda_queue *cu, cudaTextureObject_t *texture,
                                     const struct gi_image *image,
                                     const struct gi_border_spec *border, int repeated, bool always,
                                     struct gi_err *err);
/* Frees the array; no kernel may be using it. */
void gi_cuda_array_free(struct gi_cuda_queue *cu);

/* Copies rows of bytes between the device and pageable host memory through pinned staging buffers.
 * The copy to the host returns when all bytes are there; the copy to the device returns as soon as
 * `host` has been read. */
enum gi_status gi_cuda_copy_to_host(struct gi_cuda_queue *cu, void *host, size_t host_stride,
                                    const void *device, size_t device_stride, size_t row_nbytes,
                                    size_t nrows, struct gi_err *err);
enum gi_status gi_cuda_copy_to_device(struct gi_cuda_queue *cu, void *device, size_t device_stride,
                                      const void *host, size_t host_stride, size_t row_nbytes,
                                      size_t nrows, struct gi_err *err);

/* The function of each primitive, which kernels/cuda/table.cu defines, and its table of ways, in
 * which the file of its name ends. */
#define GI_CUDA_DECLARE(name, samples, shape, result, spec)                                        \
    gi_##name##_fn gi_cuda_##name;                                                                 \
    extern const struct gi_##name##_way gi_cuda_##name##_ways[GI_WAYS_MAX];
GI_PRIMITIVES_BOTH(GI_CUDA_DECLARE)
GI_PRIMITIVES_CUDA(GI_CUDA_DECLARE)

#endif
