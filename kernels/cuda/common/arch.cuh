/* Compute capability at compile time. Code that differs between GPUs tests GI_CUDA_ARCH, which is
 * 100 * major + 10 * minor of the GPU that it is compiled for. Most files have no such code and are
 * compiled once for all GPUs; files that include this header are listed in CU_80 of the Makefile.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_ARCH_CUH
#define GI_KERNELS_CUDA_ARCH_CUH

#ifdef GI_ONE_PASS
#error "this file has code for some GPUs only: name it in CU_80 of the Makefile"
#endif
#define GI_CUDA_ARCH __CUDA_ARCH__

#endif
