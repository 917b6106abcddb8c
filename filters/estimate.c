/* How long a pipeline would take on either kind of device: what --device auto goes by.
 * SPDX-License-Identifier: MIT */
#include "filters/flow.h"

/* Rates of one H200 with 16 cores (AMD EPYC, AVX-512), CUDA 13.0, driver 580. Where a machine is
 * slower, its CPU mostly is so too; what decides is the start of CUDA, which is everywhere alike.
 */

/* Seconds from the first driver call to a context that has launched a kernel: 0.18 to 0.20. A
 * second thread makes it while the image is decoded, which at best takes a copy from the page cache
 * into fresh memory: 268 MB in 0.060 s. */
#define CUDA_OPEN_S 0.19
#define DECODE_RATE 4.5e9

/* Seconds that the driver clears up after the process, whoever ends it: exec to exit of an empty
 * program 0.27, less what it sees of that itself. */
#define CUDA_EXIT_S 0.085

/* Bytes a second from and to pageable host memory: 268 MB up in 13 ms, down into fresh memory in
 * 27 ms. */
#define CUDA_UP_RATE   20e9
#define CUDA_DOWN_RATE 10e9

/* Bytes a second of device memory, 256 MB copied in 131 us counting both ways; and fused
 * multiply-adds: k = 81 separably on 16384^2 samples, 162 each, in 7.2 ms. */
#define CUDA_MEMORY_RATE 4.1e12
#define CUDA_FMA_RATE    6e12

/* Fused multiply-adds a second of one thread: k = 81 separably on 8192^2 samples by one thread in
 * 236 ms, by two in 110; 15 x 15 = 225 in 236 and 108. */
#define CPU_FMA_RATE 58e9

/* Bytes a second of one thread and of all, most of them in memory that is touched for the first
 * time: a mean of 5 x 5 of 4096^2 bytes by two threads in 4.9 ms, of 16384^2 by 16 in 14.3. */
#define CPU_MEMORY_THREAD_RATE 3.5e9
#define CPU_MEMORY_RATE        37e9

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline, int images, int threads)
{
    double n = threads < 1 ? 1 : threads, cpu = 0, cuda = 0;
    double cpu_memory = n * CPU_MEMORY_THREAD_RATE;
    if (cpu_memory > CPU_MEMORY_RATE)
        cpu_memory = CPU_MEMORY_RATE;
    struct gi_image result = gi_pipeline_result(pipeline);
    double in = gi_image_nbytes(&pipeline->source), out = 0;
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        double samples = (double)gi_row_samples(&plan->sources[0]) * plan->sources[0].height;
        double made = plan->filter->run ? gi_image_nbytes(&plan->result) : 0;
        double work = samples * (plan->cost.fmas + plan->cost.other);
        double moved = gi_image_nbytes(&plan->sources[0]) + made + samples * plan->cost.nbytes;
        double here = larger(work / (CPU_FMA_RATE * n), moved / cpu_memory);
        cpu += here;
        cuda += plan->on_host ? here : larger(work / CUDA_FMA_RATE, moved / CUDA_MEMORY_RATE);
        if (plan->filter->run)
            out = gi_image_nbytes(&result);
    }
    cuda += in / CUDA_UP_RATE + out / CUDA_DOWN_RATE;
    double hidden = n > 1 ? in / DECODE_RATE : 0;
    double start = larger(CUDA_OPEN_S - hidden, 0) + CUDA_EXIT_S;
    return (struct gi_estimate){.cpu_s = images * cpu, .cuda_s = start + images * cuda};
}
