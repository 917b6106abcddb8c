/* Finds the part of a picture that is read, if the caller needs only a rectangle of it.
 * SPDX-License-Identifier: MIT */
#include "imgio/format.h"
#include "imgio/metadata/metadata.h"

#include <limits.h>

static void swap(int *a, int *b)
{
    int c = *a;
    *a = *b;
    *b = c;
}

void gi_decode_window(struct gi_decode *decode, uint64_t width, uint64_t height)
{
    const struct gi_load_options *options = decode->options;
    const struct gi_shape_listener *listener = options->listener;
    if (!listener || !listener->window || options->header_only || options->allow_partial ||
        !width || !height || width > INT_MAX || height > INT_MAX)
        return;
    int layout = gi_orientation_layout(gi_decode_orientation(decode));
    struct gi_image picture = {.width = (int)width, .height = (int)height};
    struct gi_window window;
    if (layout & GI_LAYOUT_TRANSPOSE)
        swap(&picture.width, &picture.height);
    if (!listener->window(listener->arg, &picture, &window))
        return;
    if (layout & GI_LAYOUT_TRANSPOSE) {
        swap(&window.x, &window.y);
        swap(&window.width, &window.height);
    }
    if (layout & GI_LAYOUT_MIRROR_X)
        window.x = (int)width - window.x - window.width;
    if (layout & GI_LAYOUT_MIRROR_Y)
        window.y = (int)height - window.y - window.height;
    decode->window = window;
    decode->whole_width = (int)width;
    decode->whole_height = (int)height;
}

struct gi_window gi_decode_part(const struct gi_decode *decode, uint32_t width, uint32_t height)
{
    return decode->window.width ? decode->window
                                : (struct gi_window){.width = (int)width, .height = (int)height};
}
