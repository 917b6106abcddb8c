/* Code that differs between GPUs asks GI_CUDA_ARCH, 100 * major + 10 * minor of the one that it is
 * compiled for. Most files have none and are compiled once for all (the Makefile's CU_80).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_ARCH_CUH
#define GI_KERNELS_CUDA_ARCH_CUH

#ifdef GI_ONE_PASS
#error "this file has code for some GPUs only: name it in CU_80 of the Makefile"
#endif
#define GI_CUDA_ARCH __CUDA_ARCH__

#endif
