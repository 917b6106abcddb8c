/* Peers of the bench from NVIDIA's NPP, which not every toolkit installation has.
 * SPDX-License-Identifier: MIT */
#include <npp.h>

#include "tests/bench/bench_cuda.h"

/* The arguments of every call. */
struct call {
    NppStreamContext stream;
    const void *src;
    void *dst;
    int src_step, dst_step;
    NppiSize size, mask;
    NppiPoint zero, anchor;
};

static struct call call_of(struct bench_job *job, int set)
{
    const struct gi_image *src = &job->src[set], *dst = &job->dst[set];
    int k = job->request->k, ordinal = job->cu->ordinal;
    struct cudaDeviceProp properties;
    static NppStreamContext stream; /* the same for every call of a process */
    if (stream.hStream != job->cu->stream) {
        cudaGetDeviceProperties(&properties, ordinal);
        stream.hStream = job->cu->stream;
        stream.nCudaDeviceId = ordinal;
        stream.nMultiProcessorCount = properties.multiProcessorCount;
        stream.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
        stream.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
        stream.nSharedMemPerBlock = properties.sharedMemPerBlock;
        stream.nCudaDevAttrComputeCapabilityMajor = properties.major;
        stream.nCudaDevAttrComputeCapabilityMinor = properties.minor;
        cudaStreamGetFlags(stream.hStream, &stream.nStreamFlags);
    }
    return (struct call){stream,           src->data,        dst->data,
                         (int)src->stride, (int)dst->stride, {src->width, src->height},
                         {k, k},           {0, 0},           {k / 2, k / 2}};
}

static void good(struct bench_job *job, NppStatus status)
{
    if (status < 0 && !job->err.status)
        gi_fail(&job->err, GI_E_DEVICE, "NPP says %d", (int)status);
}

/* Calls both Gaussians of NPP in every type. GaussBorder uses weights that NPP chooses and masks of
 * 3 to 15, and GaussAdvancedBorder accepts any taps. */
static void gauss(struct bench_job *job, int set)
{
    static const NppiMaskSize masks[] = {
        NPP_MASK_SIZE_3_X_3,   NPP_MASK_SIZE_5_X_5,   NPP_MASK_SIZE_7_X_7,  NPP_MASK_SIZE_9_X_9,
        NPP_MASK_SIZE_11_X_11, NPP_MASK_SIZE_13_X_13, NPP_MASK_SIZE_15_X_15};
    struct call c = call_of(job, set);
    NppiMaskSize mask = masks[job->request->k / 2 - 1];
#define GAUSS(kind)                                                                                \
    good(job,                                                                                      \
         nppiFilterGaussBorder_##kind##R_Ctx(c.src, c.src_step, c.size, c.zero, c.dst, c.dst_step, \
                                             c.size, mask, NPP_BORDER_REPLICATE, c.stream))
    int key = 10 * (int)job->request->type + job->request->channels;
    if (key == 10 * GI_U8 + 1)
        GAUSS(8u_C1);
    else if (key == 10 * GI_U8 + 3)
        GAUSS(8u_C3);
    else if (key == 10 * GI_U8 + 4)
        GAUSS(8u_C4);
    else if (key == 10 * GI_U16 + 1)
        GAUSS(16u_C1);
    else
        GAUSS(32f_C1);
}

static void gauss_advanced(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    int k = job->request->k;
#define ADVANCED(kind)                                                                             \
    good(job, nppiFilterGaussAdvancedBorder_##kind##R_Ctx(c.src, c.src_step, c.size, c.zero,       \
                                                          c.dst, c.dst_step, c.size, k, job->taps, \
                                                          NPP_BORDER_REPLICATE, c.stream))
    int key = 10 * (int)job->request->type + job->request->channels;
    if (key == 10 * GI_U8 + 1)
        ADVANCED(8u_C1);
    else if (key == 10 * GI_U8 + 3)
        ADVANCED(8u_C3);
    else if (key == 10 * GI_U8 + 4)
        ADVANCED(8u_C4);
    else if (key == 10 * GI_U16 + 1)
        ADVANCED(16u_C1);
    else
        ADVANCED(32f_C1);
}

static void box(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    good(job,
         nppiFilterBoxBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, c.zero, c.dst, c.dst_step,
                                        c.size, c.mask, c.anchor, NPP_BORDER_REPLICATE, c.stream));
}

static void dense(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    if (job->request->type == GI_U8)
        good(job, nppiFilterBorder32f_8u_C1R_Ctx(c.src, c.src_step, c.size, c.zero, c.dst,
                                                 c.dst_step, c.size, job->dense, c.mask, c.anchor,
                                                 NPP_BORDER_REPLICATE, c.stream));
    else
        good(job, nppiFilterBorder_32f_C1R_Ctx(c.src, c.src_step, c.size, c.zero, c.dst, c.dst_step,
                                               c.size, job->dense, c.mask, c.anchor,
                                               NPP_BORDER_REPLICATE, c.stream));
}

/* The result of NPP has signed 16-bit samples, so that it has twice the bytes of our result. */
static void sobel_x(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    good(job, nppiFilterSobelVertBorder_8u16s_C1R_Ctx(c.src, c.src_step, c.size, c.zero, job->out,
                                                      2 * c.size.width, c.size, NPP_MASK_SIZE_3_X_3,
                                                      NPP_BORDER_REPLICATE, c.stream));
}

/* Returns whether the scratch memory has at least `nbytes`. Sets the error if not. */
static bool room(struct bench_job *job, size_t nbytes)
{
    return bench_good(job, nbytes <= job->scratch_nbytes, "NPP: room for its buffer");
}

static void histogram(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    size_t nbytes;
    good(job, nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(c.size, 257, &nbytes, c.stream));
    if (room(job, nbytes))
        good(job, nppiHistogramEven_8u_C1R_Ctx(c.src, c.src_step, c.size, job->out, 257, 0, 256,
                                               job->scratch, c.stream));
}

static void sum(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    size_t nbytes;
    good(job, nppiSumGetBufferHostSize_8u_C1R_Ctx(c.size, &nbytes, c.stream));
    if (room(job, nbytes))
        good(job, nppiSum_8u_C1R_Ctx(c.src, c.src_step, c.size, job->scratch, job->out, c.stream));
}

/* NPP labels the background as well as the foreground, and its labels have gaps. */
static void label(struct bench_job *job, int set)
{
    struct call c = call_of(job, set);
    int nbytes;
    good(job, nppiLabelMarkersUFGetBufferSize_32u_C1R(c.size, &nbytes));
    if (room(job, (size_t)nbytes))
        good(job,
             nppiLabelMarkersUF_8u32u_C1R_Ctx(
                 (Npp8u *)c.src, c.src_step, job->labels[set].data, (int)job->labels[set].stride,
                 c.size, job->request->connectivity == 4 ? nppiNormL1 : nppiNormInf, job->scratch,
                 c.stream));
}

int bench_peers_npp(struct bench_candidate *peers, const struct bench_job *job)
{
    const struct bench_request *request = job->request;
    enum gi_type type = request->type;
    bool gray = request->channels == 1, gray8 = gray && type == GI_U8;
    bool color8 = request->channels > 2 && type == GI_U8;
    int n = 0;
    if (request->work == BENCH_GAUSSIAN && (gray || color8)) {
        if (request->k >= 3 && request->k <= 15)
            peers[n++] = (struct bench_candidate){"NPP GaussBorder", gauss};
        peers[n++] = (struct bench_candidate){"NPP GaussAdvanced", gauss_advanced};
    }
    if (request->work == BENCH_BOX && gray8)
        peers[n++] = (struct bench_candidate){"NPP BoxBorder", box};
    if (request->work == BENCH_DENSE && gray && type != GI_U16)
        peers[n++] = (struct bench_candidate){"NPP FilterBorder", dense};
    if (request->work == BENCH_SOBEL_X && gray8)
        peers[n++] = (struct bench_candidate){"NPP SobelVert, to s16", sobel_x};
    if (request->work == BENCH_HISTOGRAM && gray8)
        peers[n++] = (struct bench_candidate){"NPP HistogramEven", histogram};
    if (request->work == BENCH_SUM && gray8)
        peers[n++] = (struct bench_candidate){"NPP Sum", sum};
    if ((request->work == BENCH_LABEL || request->work == BENCH_COMPONENTS) && gray8)
        peers[n++] = (struct bench_candidate){"NPP LabelMarkersUF, labels only", label};
    return n;
}
