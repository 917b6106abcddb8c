/* Sums of a stack of images, in memory or in a temporary file.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_sums.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/small.h"

struct gi_stack_sums {
    char *bytes;     /* all sums, or those of a part */
    uint64_t nbytes; /* of `bytes` */
    int fd;          /* -1: all sums are in memory */
};

static enum gi_status reserve(struct gi_stack_sums *sums, uint64_t nbytes, struct gi_err *err)
{
    if (nbytes <= sums->nbytes)
        return GI_OK;
    free(sums->bytes);
    sums->nbytes = 0;
    sums->bytes = nbytes <= SIZE_MAX - 64 ? gi_samples_alloc((size_t)nbytes) : NULL;
    if (!sums->bytes)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu bytes of sums",
                       (unsigned long long)nbytes);
    sums->nbytes = nbytes;
    return GI_OK;
}

enum gi_status gi_stack_sums_new(struct gi_stack_sums **out, uint64_t nbytes, uint64_t memory,
                                 struct gi_err *err)
{
    struct gi_stack_sums *sums = *out = gi_small_calloc(1, sizeof *sums);
    sums->fd = -1;
    enum gi_status status = nbytes <= memory ? reserve(sums, nbytes, err)
                                             : gi_scratch_file_open(&sums->fd, nbytes, err);
    if (status)
        gi_stack_sums_free(out);
    return status;
}

void gi_stack_sums_free(struct gi_stack_sums **out)
{
    struct gi_stack_sums *sums = *out;
    *out = NULL;
    if (!sums)
        return;
    if (sums->fd >= 0)
        close(sums->fd);
    free(sums->bytes);
    free(sums);
}

enum gi_status gi_stack_sums_get(struct gi_stack_sums *sums, struct gi_image *image, uint64_t at,
                                 struct gi_err *err)
{
    uint64_t nbytes = gi_image_nbytes(image);
    image->stride = gi_row_nbytes(image);
    image->owner = GI_OWNER_NONE;
    image->data = sums->bytes + at;
    if (sums->fd < 0)
        return GI_OK;
    enum gi_status status = reserve(sums, nbytes, err);
    image->data = sums->bytes;
    if (!status && !gi_scratch_file_read(sums->fd, sums->bytes, (size_t)nbytes, at))
        status = gi_scratch_file_fail(err);
    return status;
}

enum gi_status gi_stack_sums_put(struct gi_stack_sums *sums, const struct gi_image *image,
                                 uint64_t at, struct gi_err *err)
{
    size_t nbytes = gi_row_nbytes(image);
    for (int y = 0; y < image->height; y++, at += nbytes)
        if (sums->fd < 0)
            memcpy(sums->bytes + at, gi_row(image, y), nbytes);
        else if (!gi_scratch_file_write(sums->fd, gi_row(image, y), nbytes, at))
            return gi_scratch_file_fail(err);
    return GI_OK;
}
