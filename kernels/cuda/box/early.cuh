/* Kernels that begin while the ends of their rows are still laid out: what lies wholly in the image
 * need not wait. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_EARLY_CUH
#define GI_KERNELS_CUDA_EARLY_CUH

#include "kernels/cuda/box/box.cuh"
#include "kernels/cuda/common/arch.cuh"

/* Starts a kernel behind gi_cuda_box_rows(): at once where code for that is there. Of each chunk
 * that it reads it calls chunk_wait() first; some lie outside any image, so that it does not end
 * before the ends are there. */
template <typename A>
static inline enum gi_status early_launch(struct gi_cuda_queue *cu, void (*kernel)(const A),
                                          dim3 grid, int threads, int shared_nbytes, const A *args,
                                          struct gi_err *err)
{
    cudaFuncAttributes code;
    GI_CUDA_TRY(cudaFuncGetAttributes(&code, kernel));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)shared_nbytes;
    config.stream = cu->stream;
    config.attrs = &early;
    config.numAttrs = code.ptxVersion >= 90;
    GI_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, *args));
    return GI_OK;
}

/* In the kernel that lays them out: those that read them may begin. */
static __device__ __forceinline__ void early_allow(void)
{
#if GI_CUDA_ARCH >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Waits for the ends where the chunk is read from them. */
static __device__ __forceinline__ void chunk_wait(const struct box_rows *rows,
                                                  const struct box_chunk *chunk)
{
#if GI_CUDA_ARCH >= 900
    if (chunk->stride == rows->ends_stride || rows->least < 0)
        asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
