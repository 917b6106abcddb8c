/* Fuzzes JPEGs that are decoded in strips. The image and the messages must be equal to those of a
 * single decoder.
 * Sources: imgio/jpeg/jpeg*
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/imgio.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

/* Replaces the thread pool. Jobs run one after the other, beginning with the last job. */
static int jobs_run;

static enum gi_status run_backwards(void *self, int njobs,
                                    void (*job)(void *arg, int index, void *scratch), void *arg,
                                    size_t scratch_nbytes, struct gi_err *err)
{
    if (scratch_nbytes)
        abort();
    for (int i = njobs - 1; i >= 0; i--)
        job(arg, i, NULL);
    jobs_run += njobs;
    return GI_OK;
}

static const struct gi_parallel lent = {.threads = 2, .run = run_backwards};

static void tell_nobody(void *arg, const struct gi_image *shape)
{
}

static int shrink_by(void *arg, const struct gi_image *picture)
{
    return *(const int *)arg;
}

struct outcome {
    enum gi_status status;
    struct gi_image image;
    struct gi_err err, warning;
};

static struct outcome load(const uint8_t *bytes, size_t nbytes, int shrink, bool in_strips)
{
    const struct gi_shape_listener listener = {
        .tell = tell_nobody, .arg = &shrink, .shrink = shrink_by};
    const struct gi_load_options options = {.limits = {1 << 21, 1 << 24},
                                            .allow_partial = nbytes % 2,
                                            .listener = &listener,
                                            .parallel = in_strips ? &lent : NULL};
    struct outcome o = {0};
    o.status =
        gi_load_memory(&o.image, NULL, NULL, bytes, nbytes, "fuzz", &options, &o.warning, &o.err);
    return o;
}

static bool same_samples(const struct gi_image *a, const struct gi_image *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return false;
    for (int y = 0; y < a->height; y++)
        if (memcmp(gi_row(a, y), gi_row(b, y), gi_row_nbytes(a)) != 0)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    int shrink = 1 << nbytes / 2 % 4;
    if (nbytes < 4 || bytes[0] != 0xff || bytes[1] != 0xd8)
        return 0;
    jobs_run = 0;
    struct outcome strips = load(bytes, nbytes, shrink, true);
    if (jobs_run) { /* otherwise a single decoder has run */
        struct outcome one = load(bytes, nbytes, shrink, false);
        if (one.status != strips.status || strcmp(one.err.text, strips.err.text) != 0 ||
            strcmp(one.warning.text, strips.warning.text) != 0 ||
            (!one.status && !same_samples(&one.image, &strips.image)))
            abort();
        gi_image_free(&one.image);
    }
    gi_image_free(&strips.image);
    return 0;
}
