/* A minimal CUDA program, which opens a context and launches one kernel. `bench.py startup`
 * compares gpuimg --device cuda with it.
 * SPDX-License-Identifier: MIT */
#include <cuda_runtime.h>

static __global__ void nothing(void)
{
}

int main(void)
{
    nothing<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
