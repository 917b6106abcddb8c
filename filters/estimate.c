/* Estimates the time of a pipeline on a CPU and on a GPU, for --device auto. Rates follow from the
 * properties of a device, or `gpuimg bench --save` has measured them. This file defines which
 * fractions of nominal rates programs reach.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/execution.h"
#include "imgio/quality_search.h"
#include "kernels/codec.h"

/* Typical values for devices that do not report their own. */
static const double CPU_CLOCK_HZ = 3e9, CUDA_MEMORY_RATE = 3e11, CUDA_LINK_RATE = 16e9;

/* Fractions of the peak multiply-add rate that programs reach. On a CPU half of the issue slots are
 * used for loads, conversions and stores. On CUDA, kernels of common sizes also wait for memory. */
static const double CPU_FMA_PART = 0.5, CUDA_FMA_PART = 0.3;

/* Bytes per clock that a CPU thread moves when it writes memory for the first time, which results
 * require. CPU_THREADS_OF_A_BUS is the number of threads that saturate the memory bus. */
static const double CPU_NBYTES_A_CLOCK = 1.2;
enum { CPU_THREADS_OF_A_BUS = 10 };

/* Fractions of nominal rates that are reached: CUDA_MEMORY_PART of the device's memory bus by a
 * copy, and parts of the link to the host, CUDA_UP_PART by uploads from pageable memory and
 * CUDA_DOWN_PART by downloads to fresh memory. */
static const double CUDA_MEMORY_PART = 0.85, CUDA_UP_PART = 0.33, CUDA_DOWN_PART = 0.16;

/* Seconds from the first driver call until a kernel has run, and seconds that the driver adds to
 * the end of the process. Both hardly differ between machines, because the driver does the same
 * work. */
static const double CUDA_OPEN_S = 0.19, CUDA_CLOSE_S = 0.085;

/* Bytes of samples of photographs that a CPU thread decodes and encodes per clock. */
static const double CPU_JPEG_DECODE = 0.18, CPU_JPEG_ENCODE = 0.26, CPU_PNG_DECODE = 0.15,
                    CPU_PNG_ENCODE = 0.15;

/* Issue slots of a GPU per byte of samples that all queues decode and encode. */
static const double CUDA_JPEG_DECODE = 500, CUDA_JPEG_ENCODE = 120, CUDA_PNG_DECODE = 3300,
                    CUDA_PNG_ENCODE = 2000;

/* Bytes of a scan or of strips per byte of samples, and bytes of the stream of a PNG of a
 * photograph that is read. */
static const double CODED_PART = 0.2, PNG_PART = 0.5;

/* Multiply-adds per sample that take as long as a score of SSIMULACRA 2: a core with AVX-512 scores
 * 59 million samples per second alone, and 34 million if all cores do so. */
static const double SCORE_FMAS = 1000;

static double given_or(double given, double nominal)
{
    return given > 0 ? given : nominal;
}

struct gi_rates gi_rates_of(enum gi_device_kind kind, const struct gi_device_info *info,
                            int threads)
{
    double clock_hz = given_or(1e3 * info->clock_khz, CPU_CLOCK_HZ);
    double slots = given_or(info->lanes, 2) *
                   clock_hz; /* issue slots per second of a core or multiprocessor */
    if (kind == GI_DEVICE_CPU) {
        double n = threads < 1 ? 1 : threads;
        double movers = n < CPU_THREADS_OF_A_BUS ? n : CPU_THREADS_OF_A_BUS;
        return (struct gi_rates){.memory = movers * CPU_NBYTES_A_CLOCK * clock_hz,
                                 .fmas = n * CPU_FMA_PART * slots,
                                 .up = INFINITY,
                                 .down = INFINITY,
                                 .jpeg_decode = n * CPU_JPEG_DECODE * clock_hz,
                                 .jpeg_encode = n * CPU_JPEG_ENCODE * clock_hz,
                                 .png_decode = n * CPU_PNG_DECODE * clock_hz,
                                 .png_encode = n * CPU_PNG_ENCODE * clock_hz};
    }
    double link = given_or(info->link_rate, CUDA_LINK_RATE);
    double all_slots = given_or(info->units, 1) * slots;
    return (struct gi_rates){.memory =
                                 CUDA_MEMORY_PART * given_or(info->memory_rate, CUDA_MEMORY_RATE),
                             .fmas = CUDA_FMA_PART * all_slots,
                             .up = CUDA_UP_PART * link,
                             .down = CUDA_DOWN_PART * link,
                             .jpeg_decode = all_slots / CUDA_JPEG_DECODE,
                             .jpeg_encode = all_slots / CUDA_JPEG_ENCODE,
                             .png_decode = all_slots / CUDA_PNG_DECODE,
                             .png_encode = all_slots / CUDA_PNG_ENCODE,
                             .open_s = CUDA_OPEN_S,
                             .close_s = CUDA_CLOSE_S};
}

struct gi_rates gi_rates_hoped_for(void)
{
    return (struct gi_rates){.memory = INFINITY,
                             .fmas = INFINITY,
                             .up = INFINITY,
                             .down = INFINITY,
                             .jpeg_decode = INFINITY,
                             .jpeg_encode = INFINITY,
                             .png_decode = INFINITY,
                             .png_encode = INFINITY,
                             .open_s = CUDA_OPEN_S,
                             .close_s = CUDA_CLOSE_S};
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The codings of the first source and of the result. */
struct estimate_ends {
    enum gi_coded_kinds decodes; /* the kind of a source that a GPU decodes */
    bool encodes;                /* a GPU encodes the result */
    bool png;                    /* the result becomes a PNG, else a JPEG */
    bool searches;               /* for the quality of the JPEG */
};

static struct estimate_ends ends_of(const struct gi_pipeline *pipeline,
                                    const struct gi_estimate_options *options)
{
    struct gi_image result = gi_pipeline_result(pipeline);
    struct gi_coding coding;
    struct estimate_ends ends = {.decodes = options->coded};
    ends.encodes =
        options->ending && options->ending->coding_of(options->ending->self, &coding, &result);
    ends.png = ends.encodes && coding.strip_rows;
    ends.searches = ends.encodes && coding.ssimulacra2 > 0;
    return ends;
}

/* Returns the seconds that the first source needs to get to the device. */
static double source_seconds(double nbytes, const struct gi_rates *rates,
                             const struct estimate_ends *ends)
{
    if (ends->decodes == GI_CODED_PNG)
        return nbytes / rates->png_decode + PNG_PART * nbytes / rates->up;
    return ends->decodes ? nbytes / rates->jpeg_decode + CODED_PART * nbytes / rates->up
                         : nbytes / rates->up;
}

static double result_seconds(double nbytes, const struct gi_rates *rates,
                             const struct estimate_ends *ends)
{
    if (!ends->encodes)
        return nbytes / rates->down;
    double encode = nbytes / (ends->png ? rates->png_encode : rates->jpeg_encode) +
                    CODED_PART * nbytes / rates->down;
    double score = nbytes / rates->jpeg_decode + CODED_PART * nbytes / rates->up +
                   nbytes * SCORE_FMAS / rates->fmas;
    return ends->searches ? GI_QUALITY_TRIALS_MEAN * (encode + score) : encode;
}

/* Returns the seconds for one image if the device is open. `host` has the rates for steps that run
 * on the host only. */
static double seconds_of(const struct gi_pipeline *pipeline, const struct estimate_ends *ends,
                         const struct gi_rates *rates, const struct gi_rates *host)
{
    double seconds = source_seconds(gi_image_nbytes(&pipeline->plans[0].sources[0]), rates, ends);
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        const struct gi_rates *by = plan->on_host ? host : rates;
        const struct gi_image *src = &plan->sources[0];
        double samples = (double)gi_row_samples(src) * src->height;
        double made = plan->filter->run ? gi_image_nbytes(&plan->result) : 0;
        double moved = gi_image_nbytes(src) + made + samples * plan->cost.nbytes;
        for (int j = 1; j < plan->nsources; j++) {
            moved += gi_image_nbytes(&plan->sources[j]);
            seconds += gi_image_nbytes(&plan->sources[j]) / by->up;
        }
        seconds +=
            larger(samples * (plan->cost.fmas + plan->cost.other) / by->fmas, moved / by->memory);
    }
    struct gi_image result = gi_pipeline_result(pipeline);
    bool makes = false;
    for (int i = 0; i < pipeline->n; i++)
        makes = makes || pipeline->plans[i].filter->run;
    return seconds + (makes ? result_seconds(gi_image_nbytes(&result), rates, ends) : 0);
}

const struct gi_ending *gi_pipeline_ending(const struct gi_pipeline *pipeline,
                                           const struct gi_side *sides)
{
    return sides ? sides[pipeline->n - 1].ending : NULL;
}

struct gi_estimate gi_pipeline_estimate(const struct gi_pipeline *pipeline,
                                        const struct gi_estimate_options *options,
                                        const struct gi_rates *cpu, const struct gi_rates *cuda)
{
    const struct estimate_ends ends = ends_of(pipeline, options);
    /* A second thread opens the device while the image is decoded. Decoding takes at least as long
     * as a copy into fresh memory. */
    double decode_s =
        options->threads > 1 ? gi_image_nbytes(&pipeline->plans[0].sources[0]) / cpu->memory : 0;
    double start_s = larger(cuda->open_s - decode_s, 0) + cuda->close_s;
    return (struct gi_estimate){.cpu_s = options->images * seconds_of(pipeline, &ends, cpu, cpu),
                                .cuda_s = start_s +
                                          options->images * seconds_of(pipeline, &ends, cuda, cpu),
                                .with_coding = ends.decodes || ends.encodes};
}
