/* A minimal CUDA program, which opens a context and launches one kernel. The command `bench.py
 * startup` compares gpuimg with --device cuda with this program.
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
