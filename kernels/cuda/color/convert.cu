/* Converts samples to another type. A thread loads four neighbouring samples and stores their four
 * results.
 *
 * Rows begin at multiples of 16 bytes and are padded. If a row ends inside a group of four samples,
 * the rest of the group is read from padding and written to padding.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/kernels.h"

enum { GROUP = 4 /* samples of a thread */ };

static __device__ __forceinline__ void convert_sample(uint16_t *to, uint8_t v)
{
    *to = (uint16_t)(v * 257);
}

static __device__ __forceinline__ void convert_sample(float *to, uint8_t v)
{
    *to = __fdiv_rn((float)v, 255.0f);
}

/* 65535 = 255 * 257. v / 257 has no ties, because 257 is odd. */
static __device__ __forceinline__ void convert_sample(uint8_t *to, uint16_t v)
{
    *to = (uint8_t)((v + 128u) / 257u);
}

static __device__ __forceinline__ void convert_sample(float *to, uint16_t v)
{
    *to = __fdiv_rn((float)v, 65535.0f);
}

/* Returns v * full, rounded half to even, or 0 if v is NaN. The product is exact in double. */
static __device__ __forceinline__ unsigned scaled(float v, double full)
{
    double product = __dmul_rn((double)v, full);
    product = product > 0 ? product : 0;
    return (unsigned)__double2int_rn(product < full ? product : full);
}

static __device__ __forceinline__ void convert_sample(uint8_t *to, float v)
{
    *to = (uint8_t)scaled(v, 255);
}

static __device__ __forceinline__ void convert_sample(uint16_t *to, float v)
{
    *to = (uint16_t)scaled(v, 65535);
}

template <typename T> struct __align__(GROUP * sizeof(T)) group_of
{
    T v[GROUP];
};

template <typename TO, typename FROM>
static __device__ __forceinline__ void group_convert(char *to, const char *from)
{
    struct group_of<FROM> in = *(const struct group_of<FROM> *)from;
    struct group_of<TO> out;
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        convert_sample(&out.v[i], in.v[i]);
    *(struct group_of<TO> *)to = out;
}

/* to_nbytes and from_nbytes: bytes per group. */
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    convert(struct gi_image dst, struct gi_image src, int groups, int to_nbytes, int from_nbytes)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= groups)
        return;
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y) {
        const char *from =
            (const char *)src.data + (size_t)y * src.stride + (size_t)x * from_nbytes;
        char *to = (char *)dst.data + (size_t)y * dst.stride + (size_t)x * to_nbytes;
        if (src.type == GI_U8 && dst.type == GI_U16)
            group_convert<uint16_t, uint8_t>(to, from);
        else if (src.type == GI_U8)
            group_convert<float, uint8_t>(to, from);
        else if (src.type == GI_U16 && dst.type == GI_U8)
            group_convert<uint8_t, uint16_t>(to, from);
        else if (src.type == GI_U16)
            group_convert<float, uint16_t>(to, from);
        else if (dst.type == GI_U8)
            group_convert<uint8_t, float>(to, from);
        else
            group_convert<uint16_t, float>(to, from);
    }
}

static enum gi_status by_groups(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const void *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    (void)spec;
    if (dst->type == src->type)
        return queue->k->copy(queue, dst, src, err);
    int groups = ceil_div((long long)gi_row_samples(src), GROUP);
    dim3 grid = pointwise_grid(groups, src->height);
    convert<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*dst, *src, groups,
                                                        GROUP * (int)gi_type_nbytes(dst->type),
                                                        GROUP * (int)gi_type_nbytes(src->type));
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_convert_way gi_cuda_convert_ways[GI_WAYS_MAX] = {
    {{"groups", "everything"}, NULL, by_groups},
};
