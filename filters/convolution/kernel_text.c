/* Reads convolution kernels and other matrices from text in one pass.
 * SPDX-License-Identifier: MIT */
#include "filters/convolution/kernel_text.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/option.h"

static const char blanks[] = " \t\v\f,", ends[] = ";\n\r#";

struct reader {
    struct gi_kernel *kernel;
    size_t n, room; /* weights read, and room for weights */
    struct gi_err *err;
};

/* Reads a number or a fraction. A blank, the end of the row or the end of the text must follow. */
static bool read_weight(double *weight, const char **text)
{
    double below = 1;
    if (!gi_number_read(weight, *text, text))
        return false;
    if (**text == '/' && !gi_number_read(&below, *text + 1, text))
        return false;
    *weight /= below;
    bool ended = **text == '\0' || strchr(blanks, **text) || strchr(ends, **text);
    return ended && fabs(*weight) <= FLT_MAX; /* false for x/0 */
}

static enum gi_status keep_weight(struct reader *reader, double weight)
{
    if (reader->n == INT_MAX)
        return gi_fail(reader->err, GI_E_USAGE, "want fewer weights");
    if (reader->n == reader->room) {
        size_t room = reader->room ? 2 * reader->room : 64;
        double *larger = realloc(reader->kernel->weights, room * sizeof *larger);
        if (!larger)
            return gi_fail(reader->err, GI_E_MEMORY, "out of memory: %zu weights", room);
        reader->kernel->weights = larger;
        reader->room = room;
    }
    reader->kernel->weights[reader->n++] = weight;
    return GI_OK;
}

/* Reads the weights up to the end of a row. *text becomes the end of the row. */
static enum gi_status read_row(struct reader *reader, const char **text)
{
    for (;;) {
        *text += strspn(*text, blanks);
        if (**text == '\0' || strchr(ends, **text))
            return GI_OK;
        const char *start = *text;
        double weight;
        if (!read_weight(&weight, text)) {
            int length = (int)strcspn(start, " \t\v\f,;\n\r#");
            return gi_fail(reader->err, GI_E_USAGE,
                           "row %d: %.*s: want a number or a fraction such as 1/16",
                           reader->kernel->height + 1, length < 40 ? length : 40, start);
        }
        enum gi_status status = keep_weight(reader, weight);
        if (status)
            return status;
    }
}

/* Records a row of `width` weights. */
static enum gi_status end_row(struct reader *reader, size_t width)
{
    struct gi_kernel *kernel = reader->kernel;
    if (width == 0)
        return GI_OK;
    if (kernel->height > 0 && (size_t)kernel->width != width)
        return gi_fail(reader->err, GI_E_USAGE, "row %d: %zu weights: want %d as in the row before",
                       kernel->height + 1, width, kernel->width);
    kernel->width = (int)width;
    kernel->height++;
    return GI_OK;
}

/* Reads a prefix such as "3x3:", which is width and height as in ImageMagick, and moves *text past
 * the prefix. If there is no prefix, returns false and changes nothing. */
static bool read_shape(unsigned shape[2], const char **text)
{
    const char *start = *text + strspn(*text, blanks);
    unsigned width, height;
    int n = 0;
    if (!isdigit((unsigned char)*start) || sscanf(start, "%5ux%5u%n", &width, &height, &n) != 2 ||
        start[n] != ':' || !width || !height)
        return false;
    shape[0] = width;
    shape[1] = height;
    *text = start + n + 1;
    return true;
}

/* Checks that the weights fit the given shape. If no shape is given (0 x 0), the rows define it. */
static enum gi_status check_shape(struct gi_kernel *kernel, size_t n, const unsigned shape[2],
                                  struct gi_err *err)
{
    if (n == 0)
        return gi_fail(err, GI_E_USAGE, "no weights: want rows such as \"1 2 1; 2 4 2; 1 2 1\"");
    if (shape[0] || shape[1]) {
        kernel->width = (int)shape[0];
        kernel->height = (int)shape[1];
        if (n != (size_t)shape[0] * shape[1])
            return gi_fail(err, GI_E_USAGE, "%zu weights: want %zu for %ux%u", n,
                           (size_t)shape[0] * shape[1], shape[0], shape[1]);
        return GI_OK;
    }
    int side = (int)lrint(sqrt((double)n));
    if (kernel->height == 1 && side >= 3 && side % 2 && (size_t)side * (size_t)side == n)
        return gi_fail(
            err, GI_E_USAGE,
            "one row of %zu weights: want \"%dx%d: ...\" or rows separated by ; for %d x %d, "
            "\"%zux1: ...\" for a row",
            n, side, side, side, side, n);
    return GI_OK;
}

enum gi_status gi_kernel_read(struct gi_kernel *kernel, const char *text, struct gi_err *err)
{
    *kernel = (struct gi_kernel){0};
    struct reader reader = {.kernel = kernel, .err = err};
    unsigned shape[2] = {0, 0};
    bool shaped = read_shape(shape, &text);
    enum gi_status status = GI_OK;
    while (!status) {
        size_t before = reader.n;
        status = read_row(&reader, &text);
        if (!status && !shaped)
            status = end_row(&reader, reader.n - before);
        if (*text == '#')
            text += strcspn(text, "\n\r");
        if (*text == '\0')
            break;
        text++;
    }
    if (!status)
        status = check_shape(kernel, reader.n, shape, err);
    if (status)
        gi_kernel_free(kernel);
    return status;
}

void gi_kernel_free(struct gi_kernel *kernel)
{
    free(kernel->weights);
    *kernel = (struct gi_kernel){0};
}
