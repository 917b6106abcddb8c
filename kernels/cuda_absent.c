/* Replaces the CUDA backend in a build without CUDA: reports that it is missing.
 * SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#if !GI_HAVE_CUDA
const struct gi_kernels *gi_kernels_cuda(void)
{
    return NULL;
}
#endif
