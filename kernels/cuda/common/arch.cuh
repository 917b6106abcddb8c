/* GI_CUDA_ARCH: the compute capability that code is compiled for, as 100 * major + 10 * minor, for
 * code that differs between GPUs. Most files do not use it and are compiled once for all GPUs. The
 * variable CU_80 of the Makefile lists the files that include this header.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_ARCH_CUH
#define GI_KERNELS_CUDA_ARCH_CUH

#ifdef GI_ONE_PASS
#error "this file has code for some GPUs only: name it in CU_80 of the Makefile"
#endif
#define GI_CUDA_ARCH __CUDA_ARCH__

#endif
