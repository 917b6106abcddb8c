/* Declarations that the CUDA bench and its peers share: the images of a request on the device, and
 * candidates that are timed in turn.
 * SPDX-License-Identifier: MIT */
#ifndef GI_BENCH_CUDA_H
#define GI_BENCH_CUDA_H

#include "kernels/cuda/common/radix_sort.h"
#include "kernels/cuda/cuda.h"
#include "tests/bench/request.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_SETS = 4, BENCH_PEERS_MAX = 8 };

/* One request on the device. The runs use the sets of images in turn, so that the input of a run is
 * not in the cache from the run before. */
struct bench_job {
    struct gi_cuda_queue *cu;
    const struct bench_request *request;
    struct bench_weights weights;
    struct gi_image src[BENCH_SETS], dst[BENCH_SETS], labels[BENCH_SETS];
    struct gi_image map; /* bench_has_map() */
    uint32_t nlabels;
    double kept;         /* see bench_cost_of() */
    float *taps, *dense; /* the weights in device memory, for peers */
    /* Device memory for results, and for scratch data of launchers and peers. */
    void *out, *out2, *scratch;
    double *doubles; /* of BENCH_DOUBLES, ndoubles */
    size_t ndoubles;
    size_t scratch_nbytes;
    struct gi_err err; /* of the running candidate */
};

/* run() enqueues the work once on the context's stream. Errors are stored in job->err. */
struct bench_candidate {
    const char *name;
    void (*run)(struct bench_job *job, int set);
};

/* Each function fills `peers` with the functions of its library that can do the job, and returns
 * their number. */
int bench_peers_cub(struct bench_candidate *peers, const struct bench_job *job); /* and thrust */
int bench_peers_npp(struct bench_candidate *peers, const struct bench_job *job);
int bench_peers_cublas(struct bench_candidate *peers, const struct bench_job *job);

/* Work that no primitive does (bench_is_pattern(), patterns.cu). bench_make_pattern() allocates
 * job->doubles for BENCH_DOUBLES, and replaces the sources of BENCH_SORT by keys. */
void bench_make_pattern(struct bench_job *job);
void bench_run_pattern(struct bench_job *job, int set);

/* Returns the number of pixels of BENCH_MATRIX, which treats the image as one array of samples. */
static inline int bench_matrix_pixels(const struct bench_job *job)
{
    const struct gi_image *src = &job->src[0];
    bool packed = src->stride == gi_row_nbytes(src);
    size_t rows = packed ? (size_t)src->height : 1;
    return (int)((size_t)src->width * rows / BENCH_MATRIX_SIDE);
}

/* Returns whether a call succeeded. If it failed, sets job->err to a text with the call's name
 * `what`. */
static inline bool bench_good(struct bench_job *job, bool good, const char *what)
{
    if (!good && !job->err.status)
        gi_fail(&job->err, GI_E_DEVICE, "%s failed", what);
    return good;
}

#ifdef __cplusplus
}
#endif
#endif
