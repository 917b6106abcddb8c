/* Draws words through cairo, in a subprocess, because cairo and fontconfig crash or hang if memory
 * runs out or if the files of fonts are not what they should be.
 * SPDX-License-Identifier: MIT */
#include "cli/plot/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/plot/cairo.h"
#include "cli/subprocess.h"
#include "cli/text.h"

enum {
    LETTERS_MIN = 10,
    LETTERS_PER_PICTURE = 14
}; /* height of letters, in pixels and as a part */

/* Returns the size of the font, in pixels. */
static int size_of(int label_height)
{
    return label_height * 2 / 3;
}

int gi_label_height(int picture_height)
{
    int letters = picture_height / LETTERS_PER_PICTURE;
    return (letters < LETTERS_MIN ? LETTERS_MIN : letters) * 3 / 2;
}

static double width_of(const struct gi_cairo *c, struct gi_cairo_context *cr, const char *words)
{
    struct gi_cairo_extents box = {0};
    c->text_extents(cr, words, &box);
    return box.x_advance;
}

/* Words beyond this number of bytes are not measured. The widest label has fewer letters. */
enum { WORDS_NBYTES_MAX = 4096 };
static const char ellipsis[] = "\xe2\x80\xa6";

/* Returns the last start of a character of UTF-8 that is not behind `n`. */
static size_t start_of(const char *words, size_t n)
{
    while (n && ((unsigned char)words[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* Copies the words to `fitting`. If they are wider than `width`, their end is cut off and replaced
 * by an ellipsis. The length is found by bisection, because measuring takes as long as drawing. */
static void fit(char fitting[WORDS_NBYTES_MAX + sizeof ellipsis], const struct gi_cairo *c,
                struct gi_cairo_context *cr, const char *words, double width)
{
    size_t n = strlen(words), most = n < WORDS_NBYTES_MAX ? n : WORDS_NBYTES_MAX, least = 0;
    snprintf(fitting, WORDS_NBYTES_MAX + 1, "%s", words);
    if (n <= WORDS_NBYTES_MAX && width_of(c, cr, fitting) <= width)
        return;
    while (least < most) {
        size_t middle = least + (most - least + 1) / 2, at = start_of(words, middle);
        memcpy(fitting, words, at);
        strcpy(fitting + at, ellipsis);
        if (width_of(c, cr, fitting) <= width)
            least = middle;
        else
            most = middle - 1;
    }
    least = start_of(words, least);
    memcpy(fitting, words, least);
    strcpy(fitting + least, ellipsis);
}

static void draw(const struct gi_cairo *c, struct gi_cairo_context *cr,
                 const struct gi_label_style *style, const char *words)
{
    char fitting[WORDS_NBYTES_MAX + sizeof ellipsis];
    int size = size_of(style->height);
    c->set_source_rgba(cr, style->paper.red, style->paper.green, style->paper.blue, 1);
    c->paint(cr);
    c->set_source_rgba(cr, style->ink.red, style->ink.green, style->ink.blue, 1);
    c->select_font_face(cr, "sans-serif", GI_CAIRO_SLANT_NORMAL, GI_CAIRO_WEIGHT_NORMAL);
    c->set_font_size(cr, size);
    fit(fitting, c, cr, words, style->width);
    c->move_to(cr, (style->width - width_of(c, cr, fitting)) / 2, size);
    c->show_text(cr, fitting);
}

/* Writes the pixels of the surface, 32-bit numbers 0x00rrggbb. Sets *blank to whether all are
 * equal. */
static enum gi_status copy(struct gi_sink *sink, bool *blank, const struct gi_cairo *c,
                           struct gi_cairo_surface *surface, const struct gi_label_style *style,
                           struct gi_err *err)
{
    enum gi_status status = GI_OK;
    c->surface_flush(surface);
    const unsigned char *rows = c->image_surface_get_data(surface);
    size_t stride = (size_t)c->image_surface_get_stride(surface);
    *blank = true;
    for (int y = 0; y < style->height && !status; y++)
        for (size_t x = 0; x < (size_t)style->width && !status; x++) {
            uint32_t pixel, first;
            memcpy(&first, rows, sizeof first);
            memcpy(&pixel, rows + (size_t)y * stride + 4 * x, sizeof pixel);
            *blank = *blank && pixel == first;
            const uint8_t rgb[] = {(uint8_t)(pixel >> 16), (uint8_t)(pixel >> 8), (uint8_t)pixel};
            status = gi_sink_write(sink, style->channels == 3 ? rgb : rgb + 1,
                                   (size_t)style->channels, err);
        }
    return status;
}

/* Returns whether the words have a character other than spaces. */
static bool is_visible(const char *words)
{
    for (size_t n; *words; words += n) {
        n = *words == ' '                            ? 1
            : strncmp(words, "\xc2\xa0", 2) == 0     ? 2
            : strncmp(words, "\xe3\x80\x80", 3) == 0 ? 3
                                                     : 0;
        if (!n)
            return true;
    }
    return false;
}

/* The work of the subprocess. */
struct labels {
    const struct gi_label_style *style;
    char *const *words;
    int n;
};

static enum gi_status draw_one(struct gi_sink *sink, const struct gi_cairo *c,
                               const struct gi_label_style *style, const char *words,
                               struct gi_err *err)
{
    struct gi_text_memory memory;
    bool blank = false;
    FILE *out = gi_text_open(&memory);
    gi_print_safe(out, words);
    char *safe = gi_text_close(out, &memory);
    struct gi_cairo_surface *surface =
        c->image_surface_create(GI_CAIRO_RGB24, style->width, style->height);
    struct gi_cairo_context *cr = c->create(surface);
    draw(c, cr, style, safe);
    int failed = c->status(cr);
    enum gi_status status =
        failed ? gi_fail(err, failed == GI_CAIRO_NO_MEMORY ? GI_E_MEMORY : GI_E_UNSUPPORTED, "%s",
                         c->status_to_string(failed))
               : copy(sink, &blank, c, surface, style, err);
    if (!status && blank && is_visible(safe))
        status = gi_fail(err, GI_E_UNSUPPORTED, "no font draws \"%s\"", safe);
    c->destroy(cr);
    c->surface_destroy(surface);
    free(safe);
    return status;
}

static enum gi_status draw_all(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    const struct labels *labels = arg;
    struct gi_cairo c;
    enum gi_status status = gi_cairo_open(&c, err);
    for (int i = 0; i < labels->n && !status; i++)
        status = draw_one(sink, &c, labels->style, labels->words[i], err);
    return status;
}

enum gi_status gi_labels(unsigned char **samples, const struct gi_label_style *style,
                         char *const *words, int n, struct gi_err *err)
{
    enum { START_S = 20, LABELS_A_SECOND = 200 };
    const struct labels labels = {style, words, n};
    struct gi_sink *sink;
    void *bytes;
    size_t nbytes = 0, each = (size_t)style->width * (size_t)style->height;
    *samples = NULL;
    enum gi_status status = gi_sink_open_memory(&sink, "--label", err);
    if (status)
        return status;
    status = gi_subprocess_run(sink, "--label", START_S + (unsigned)n / LABELS_A_SECOND, draw_all,
                               &labels, err);
    if (!status)
        status = gi_sink_take(&sink, &bytes, &nbytes, err);
    gi_sink_abandon(&sink);
    if (status)
        return status;
    *samples = bytes;
    if (nbytes == each * (size_t)style->channels * (size_t)n)
        return GI_OK;
    free(bytes);
    *samples = NULL;
    return gi_fail(err, GI_E_UNSUPPORTED, "--label: the library that does it failed");
}
