/* How formats join images (imgio/joined.c).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/joined.h"

/* A file in memory, whose images are called frames here. */
struct gi_joined {
    struct gi_buffer file;  /* as far as it is known */
    struct gi_buffer after; /* what follows the last frame */
    int n;                  /* number of frames in `file` */
    int width, height;      /* of the first frame */
    int plays;              /* 0: without end */
    int64_t end_ms;         /* of the last frame, if the first one begins at 0 */
    size_t mark;            /* offset in `file` for the format's own use */
    bool alpha;             /* a frame has transparent pixels */
    void *state;            /* of the format, which its `release` frees; NULL at first */
};

struct gi_joined_kind {
    const char *format;
    unsigned reasons; /* bits 1 << enum gi_joining */
    bool any_size;    /* images may differ in size */
    /* Reads the size of an image that `encode` of the format made. */
    void (*measure)(int *width, int *height, const unsigned char *bytes, size_t nbytes);
    /* Appends a frame, of the size of the first one unless `any_size` is set. Errors: GI_E_MEMORY,
     * GI_E_UNSUPPORTED. */
    enum gi_status (*add)(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err);
    /* Completes `file`. Errors: GI_E_MEMORY. */
    enum gi_status (*end)(struct gi_joined *joined, struct gi_err *err);
    void (*release)(void *state); /* NULL: the format has no state */
};
extern const struct gi_joined_kind gi_joined_gif, gi_joined_webp, gi_joined_png, gi_joined_ico;
