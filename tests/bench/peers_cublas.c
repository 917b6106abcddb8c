/* cuBLAS on the work of a bench job: the sum of absolute floats.
 * SPDX-License-Identifier: MIT */
#include <cublas_v2.h>

#include "tests/bench/bench_cuda.h"

static void sum(struct bench_job *job, int set)
{
    static cublasHandle_t handle;
    const struct gi_image *src = &job->src[set];
    if (!handle && !bench_good(job, !cublasCreate(&handle), "cublasCreate"))
        return;
    cublasSetStream(handle, job->cu->stream);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    bench_good(job, !cublasSasum(handle, src->width * src->height, src->data, 1, job->out),
               "cublasSasum");
}

int bench_peers_cublas(struct bench_candidate *peers, const struct bench_job *job)
{
    const struct gi_image *src = &job->src[0];
    if (job->request->work != BENCH_SUM || src->type != GI_F32 || src->channels != 1 ||
        src->stride != gi_row_nbytes(src))
        return 0;
    peers[0] = (struct bench_candidate){"cuBLAS asum", sum};
    return 1;
}
