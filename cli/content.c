/* Reads files that are named in place of an option's text.
 * SPDX-License-Identifier: MIT */
#include "cli/content.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filters/filter.h"
#include "imgio/imgio.h"
#include "kernels/rules.h"

/* Maximum bytes of a file. The largest mask has 4001 x 4001 samples, and each takes a digit and a
 * blank. */
enum { CONTENT_MAX = 64 << 20 };

/* Returns whether `text` looks like a path, for a text that is not the name of an existing file. It
 * does if there is a letter that is not part of a number before the first blank, comma, end of row
 * or comment. */
static bool looks_like_path(const char *text)
{
    if (*text == '{' || strchr(text, '\n')) /* JSON, or several lines */
        return false;
    size_t n = strcspn(text, " \t\r\n,;#");
    for (size_t i = 0; i < n; i++)
        if (isalpha((unsigned char)text[i]) && strchr("eExX", text[i]) == NULL)
            return true;
    return false;
}

/* Returns a mask image as text: "3x1: 0 1 1". */
static char *rows_of(const struct gi_image *image)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    char *text = malloc(2 * pixels + 32), *at = text;
    if (!text)
        return NULL;
    at += sprintf(at, "%dx%d:", image->width, image->height);
    for (int y = 0; y < image->height; y++)
        for (size_t x = 0; x < (size_t)image->width; x++) {
            *at++ = ' ';
            *at++ = gi_sample(gi_row(image, y), x, image->type) != 0 ? '1' : '0';
        }
    *at = '\0';
    return text;
}

static enum gi_status read_image(char **content, const char *name, const void *bytes, size_t nbytes,
                                 struct gi_err *err)
{
    struct gi_load_options options = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES},
                                      .header_only = true};
    struct gi_image image;
    enum gi_status status =
        gi_load_memory(&image, NULL, NULL, bytes, nbytes, name, &options, NULL, err);
    if (status)
        return status;
    if (image.channels != 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: has %d channels: want one", name,
                       image.channels);
    if (image.width > GI_TAPS_MAX || image.height > GI_TAPS_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: %d x %d pixels: want at most %d a side", name,
                       image.width, image.height, GI_TAPS_MAX);
    options.header_only = false;
    status = gi_load_memory(&image, NULL, NULL, bytes, nbytes, name, &options, NULL, err);
    if (status)
        return status;
    *content = rows_of(&image);
    gi_image_free(&image);
    return *content ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: %s", name);
}

/* Reads a file into *bytes, malloc()ed, with a zero byte after it. */
static enum gi_status read_file(char **bytes, size_t *nbytes, const char *name, const char *path,
                                struct gi_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return gi_fail(err, GI_E_IO, "%s: %s", name, strerror(errno));
    char *all = malloc(CONTENT_MAX + 1);
    if (!all) {
        fclose(file);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %s", name);
    }
    size_t n = fread(all, 1, CONTENT_MAX + 1, file);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    enum gi_status status = GI_OK;
    if (failed)
        status = gi_fail(err, GI_E_IO, "%s: %s", name, strerror(failed));
    else if (n > CONTENT_MAX)
        status = gi_fail(err, GI_E_LIMIT, "%s: longer than %d bytes", name, CONTENT_MAX);
    if (status) {
        free(all);
        return status;
    }
    all[n] = '\0';
    char *less = realloc(all, n + 1);
    *bytes = less ? less : all;
    *nbytes = n;
    return GI_OK;
}

enum gi_status gi_content_read(char **content, const struct gi_option *row, const char *text,
                               struct gi_err *err)
{
    struct stat st;
    char *bytes = NULL, name[4200];
    size_t n = 0;
    *content = NULL;
    bool there = stat(text, &st) == 0;
    if (!there && !looks_like_path(text))
        return GI_OK;
    snprintf(name, sizeof name, "--%s %s", row->name, text);
    if (!there)
        return gi_fail(err, GI_E_IO, "%s: %s", name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return gi_fail(err, GI_E_USAGE, "%s: is a folder, want a text or a file", name);
    enum gi_status status = read_file(&bytes, &n, name, text, err);
    if (status)
        return status;
    if (row->drawn && gi_format_of(bytes, n)) {
        status = read_image(content, name, bytes, n, err);
        free(bytes);
        return status;
    }
    if (memchr(bytes, 0, n)) {
        free(bytes);
        return gi_fail(err, GI_E_USAGE, "%s: holds a zero byte, want text", name);
    }
    *content = bytes;
    return GI_OK;
}
