/* The cases of selftest, which run every filter with several types, channels, borders, sizes and
 * options.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "kernels/device.h"

/* One set of parameters for a filter. */
struct gi_variant {
    void *params;   /* owned by the caller of fn() */
    char text[128]; /* how the options differ from those of the example: "--k 5 --border wrap" */
    /* An option is at an end of its range and perhaps slow, so only one small image is used. */
    bool heavy;
};

/* Calls fn(arg, variant) for every variant of the filter's parameters, until fn() returns false. */
void gi_variants_walk(const struct gi_filter *filter,
                      bool (*fn)(void *arg, const struct gi_variant *variant), void *arg);

/* Fills the image with difficult samples. These are noise, constant runs, both ends of the range,
 * and for floats also values outside 0 to 1. Equal seeds give equal samples. */
void gi_selftest_fill(struct gi_image *image, uint64_t seed);

/* Returns 64 random bits and advances `state`. */
uint64_t gi_selftest_random(uint64_t *state);

/* Returns whether the shapes or some samples differ. `what` then describes the first difference. */
bool gi_selftest_differ(char what[160], const struct gi_image *want, const struct gi_image *got);

/* Runs the operation with every variant of its parameters on a small image of each sample type and
 * number of channels, so that gi_queue_ways() then tells which primitives it runs. Skips cases that
 * the queue can't do. Errors: GI_E_MEMORY. */
enum gi_status gi_selftest_ask(const struct gi_filter *filter, struct gi_queue *queue,
                               struct gi_err *err);

/* ---- the backends (cli/commands/selftest_backends.c) ---- */

enum { GI_BACKENDS_MAX = 32 };

struct gi_backend {
    char name[16], detail[32]; /* "avx2", and "avx2, 3 threads" */
    struct gi_queue *queue;
    /* The backend differs from another backend only in how it divides the work. Small images don't
     * show this, so heavy cases are skipped, and with --quick all small images. */
    bool repeats;
    bool may_be_full; /* its memory is limited, so a case that does not fit is skipped */
};

/* Backend 0 is the reference. */
struct gi_backends {
    struct gi_backend backends[GI_BACKENDS_MAX];
    int n;
};

/* Each adds backends, which gi_backends_close() closes. The first adds every instruction level of
 * the CPU, with one thread and with several. The second adds the CUDA devices that --device names,
 * or all of them if it names none; if no CUDA device takes part, `skipped` gets the reason. The
 * third adds one backend only: the CUDA device that --device names, or the best level of the CPU.
 * Errors: GI_E_USAGE, GI_E_MEMORY, GI_E_DEVICE. */
enum gi_status gi_backends_add_cpu(struct gi_backends *bench, struct gi_err *err);
enum gi_status gi_backends_add_cuda(struct gi_backends *bench, const char *device,
                                    struct gi_err *skipped, struct gi_err *err);
enum gi_status gi_backends_add_best(struct gi_backends *bench, const char *device,
                                    struct gi_err *err);
void gi_backends_close(struct gi_backends *bench);

/* ---- the mixed batch (cli/commands/selftest_mixed.c) ---- */

/* Pieces of work, each an operation on an image. They differ in operations, options (such as
 * radii), image sizes, sample types and channels. Each piece has its result, which was computed
 * while no other piece ran. */
struct gi_mixed;

/* Makes pieces for `operations`, or for all operations if `noperations` is 0. The queue `reference`
 * computes their results; it must outlive the pieces. gi_mixed_free() frees the pieces, also after
 * an error, and sets *mixed to NULL. Errors: GI_E_MEMORY; as gi_pipeline_run(). */
enum gi_status gi_mixed_new(struct gi_mixed **mixed, char **operations, int noperations,
                            struct gi_queue *reference, struct gi_err *err);
void gi_mixed_free(struct gi_mixed **mixed);

/* Runs all pieces on each of eight queues of the device. The queues run at the same time, with a
 * thread per queue, and take the pieces in different orders. Returns the number of runs.
 * `difference` becomes "" or describes a piece that failed or differed from the reference. */
int gi_mixed_run(const struct gi_mixed *mixed, struct gi_device *device, char difference[512]);
