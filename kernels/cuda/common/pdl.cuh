/* Programmatic dependent launch: a kernel starts although the kernel that writes the row ends
 * (box.cu) still runs. Blocks whose chunks are all inside the image do not wait for the row ends.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PDL_CUH
#define GI_KERNELS_CUDA_PDL_CUH

#include "kernels/cuda/convolution/box.cuh"
#include "kernels/cuda/common/arch.cuh"

/* Launches a kernel after gi_cuda_box_rows(), with programmatic dependent launch if the kernel's
 * code for this GPU supports that (sm_90 and later). The kernel must call chunk_wait() before it
 * reads a chunk. Because every grid has chunks outside the image, no grid can finish before the row
 * ends are written. */
template <typename A>
static inline enum gi_status pdl_launch(struct gi_cuda_queue *cu, void (*kernel)(const A),
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

/* The kernel that writes the row ends calls this to let the dependent kernel start. */
static __device__ __forceinline__ void pdl_allow(void)
{
#if GI_CUDA_ARCH >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* If the chunk belongs to the row ends, waits until they are written. */
static __device__ __forceinline__ void chunk_wait(const struct box_rows *rows,
                                                  const struct box_chunk *chunk)
{
#if GI_CUDA_ARCH >= 900
    if (chunk->stride == rows->ends_stride || rows->least < 0)
        asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
