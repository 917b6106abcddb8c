/* Finds the rectangle in which two frames of an animation differ.
 * SPDX-License-Identifier: MIT */
#include "imgio/changes.h"

#include <string.h>

static bool differs(const uint8_t *from, const uint8_t *to, size_t nbytes, bool cleared)
{
    static const uint8_t zeros[GI_MAX_CHANNELS * sizeof(float)];
    return memcmp(from, to, nbytes) != 0 && !(cleared && memcmp(to, zeros, nbytes) != 0);
}

struct gi_rect gi_changes(const struct gi_image *from, const struct gi_image *to, bool cleared)
{
    size_t pixel = gi_row_nbytes(from) / (size_t)from->width;
    int left = from->width, top = from->height, right = 0, bottom = 0; /* both exclusive */
    for (int y = 0; y < from->height; y++) {
        const uint8_t *a = gi_row(from, y), *b = gi_row(to, y);
        if (memcmp(a, b, gi_row_nbytes(from)) == 0)
            continue;
        size_t first = 0, end = (size_t)from->width;
        while (first < end && !differs(a + first * pixel, b + first * pixel, pixel, cleared))
            first++;
        while (end > first &&
               !differs(a + (end - 1) * pixel, b + (end - 1) * pixel, pixel, cleared))
            end--;
        if (first == end)
            continue;
        left = (int)first < left ? (int)first : left;
        right = (int)end > right ? (int)end : right;
        top = y < top ? y : top;
        bottom = y + 1;
    }
    return bottom ? (struct gi_rect){left, top, right - left, bottom - top} : (struct gi_rect){0};
}

struct gi_rect gi_rect_union(struct gi_rect a, struct gi_rect b)
{
    if (!a.width || !b.width)
        return a.width ? a : b;
    int right = a.left + a.width, bottom = a.top + a.height;
    right = b.left + b.width > right ? b.left + b.width : right;
    bottom = b.top + b.height > bottom ? b.top + b.height : bottom;
    int left = a.left < b.left ? a.left : b.left, top = a.top < b.top ? a.top : b.top;
    return (struct gi_rect){left, top, right - left, bottom - top};
}

struct gi_image gi_rect_view(const struct gi_image *image, struct gi_rect rect)
{
    size_t pixel = gi_row_nbytes(image) / (size_t)image->width;
    struct gi_image view = *image;
    view.data = (char *)gi_row(image, rect.top) + (size_t)rect.left * pixel;
    view.width = rect.width;
    view.height = rect.height;
    view.owner = GI_OWNER_NONE;
    view.allocator = NULL;
    return view;
}
