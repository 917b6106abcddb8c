/* What a build without CUDA says when asked for it.
 * SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#if !GI_HAVE_CUDA
const struct gi_kernels *gi_kernels_cuda(void)
{
    return NULL;
}
#endif
