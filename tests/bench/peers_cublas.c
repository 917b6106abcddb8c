/* Peers of the bench from cuBLAS: sums of absolute values, pixels times a matrix.
 * SPDX-License-Identifier: MIT */
#include <cublas_v2.h>

#include "tests/bench/bench_cuda.h"

/* Returns the library's handle for the job's stream, or NULL with the reason in job->err. */
static cublasHandle_t handle_of(struct bench_job *job, cublasPointerMode_t mode)
{
    static cublasHandle_t handle;
    if (!handle && !bench_good(job, !cublasCreate(&handle), "cublasCreate"))
        return NULL;
    cublasSetStream(handle, job->cu->stream);
    cublasSetPointerMode(handle, mode);
    return handle;
}

static void sum_of_doubles(struct bench_job *job, int set)
{
    cublasHandle_t handle = handle_of(job, CUBLAS_POINTER_MODE_DEVICE);
    if (handle)
        bench_good(job, !cublasDasum(handle, (int)job->ndoubles, job->doubles, 1, job->out),
                   "cublasDasum");
}

/* cuBLAS stores matrices by columns. Therefore the transposed matrices are multiplied: to' =
 * matrix' * from'. */
static void matrix(struct bench_job *job, int set)
{
    static const float one = 1, zero = 0;
    const float *from = job->src[set].data, *by = job->src[(set + 1) % BENCH_SETS].data;
    cublasHandle_t handle = handle_of(job, CUBLAS_POINTER_MODE_HOST);
    if (handle)
        bench_good(job,
                   !cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, BENCH_MATRIX_SIDE,
                                bench_matrix_pixels(job), BENCH_MATRIX_SIDE, &one, by,
                                BENCH_MATRIX_SIDE, from, BENCH_MATRIX_SIDE, &zero,
                                job->dst[set].data, BENCH_MATRIX_SIDE),
                   "cublasSgemm");
}

static void sum(struct bench_job *job, int set)
{
    const struct gi_image *src = &job->src[set];
    cublasHandle_t handle = handle_of(job, CUBLAS_POINTER_MODE_DEVICE);
    if (!handle)
        return;
    bench_good(job, !cublasSasum(handle, src->width * src->height, src->data, 1, job->out),
               "cublasSasum");
}

int bench_peers_cublas(struct bench_candidate *peers, const struct bench_job *job)
{
    const struct gi_image *src = &job->src[0];
    if (job->request->work == BENCH_DOUBLES) {
        peers[0] = (struct bench_candidate){"cuBLAS asum", sum_of_doubles};
        return 1;
    }
    if (job->request->work == BENCH_MATRIX) {
        peers[0] = (struct bench_candidate){"cuBLAS gemm", matrix};
        return 1;
    }
    if (job->request->work != BENCH_SUM || src->type != GI_F32 || src->channels != 1 ||
        src->stride != gi_row_nbytes(src))
        return 0;
    peers[0] = (struct bench_candidate){"cuBLAS asum", sum};
    return 1;
}
