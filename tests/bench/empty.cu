/* The least that a CUDA program can do: a context and one kernel. What `bench.py startup` measures
 * gpuimg --device cuda against. SPDX-License-Identifier: MIT */
#include <cuda_runtime.h>

static __global__ void nothing(void)
{
}

int main(void)
{
    nothing<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
