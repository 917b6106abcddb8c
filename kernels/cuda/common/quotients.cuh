/* Quotients of a pixel's colours by its alpha, with one reciprocal.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_QUOTIENTS_CUH
#define GI_KERNELS_CUDA_QUOTIENTS_CUH

/* Replaces f by N quotients f / alpha, or by 0 if alpha is not > 0. If alpha (and f, for floats) is
 * far from the ends of the range of float, all quotients use one reciprocal, by the method of the
 * compiler's __fdiv_rn(). Integer results near the lower end round to 0 in any case. */
template <typename T, int N> static __device__ __forceinline__ void divide(float *f, float alpha)
{
    bool easy = alpha > 0x1p-60f && alpha < 0x1p60f;
#pragma unroll
    for (int c = 0; c < N && sizeof(T) == 4; c++)
        easy = easy && fabsf(f[c]) < 0x1p60f && (fabsf(f[c]) > 0x1p-40f || f[c] == 0);
    if (easy) {
        float over;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(alpha));
        over = __fmaf_rn(over, __fmaf_rn(-alpha, over, 1.0f), over);
#pragma unroll
        for (int c = 0; c < N; c++) {
            float q = __fmul_rn(f[c], over);
            q = __fmaf_rn(over, __fmaf_rn(-alpha, q, f[c]), q);
            f[c] = sizeof(T) == 4 && f[c] == 0 ? f[c] : q; /* keeps -0 */
        }
        return;
    }
#pragma unroll
    for (int c = 0; c < N; c++)
        f[c] = alpha > 0 ? __fdiv_rn(f[c], alpha) : 0.0f;
}

#endif
