/* Reads colours from text.
 * SPDX-License-Identifier: MIT */
#include "filters/option_colour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/option.h"

static const struct {
    const char *name, *hex;
} names[] = {
    {"black", "#000"},        {"silver", "#c0c0c0"}, {"gray", "#808080"},  {"grey", "#808080"},
    {"white", "#fff"},        {"maroon", "#800000"}, {"red", "#f00"},      {"purple", "#800080"},
    {"fuchsia", "#f0f"},      {"magenta", "#f0f"},   {"green", "#008000"}, {"lime", "#0f0"},
    {"olive", "#808000"},     {"yellow", "#ff0"},    {"navy", "#000080"},  {"blue", "#00f"},
    {"teal", "#008080"},      {"aqua", "#0ff"},      {"cyan", "#0ff"},     {"orange", "#ffa500"},
    {"transparent", "#0000"},
};

static bool read_hex(struct gi_colour *colour, const char *text)
{
    size_t n = strlen(text) - 1, digits = n > 4 ? 2 : 1;
    if (strspn(text + 1, "0123456789abcdefABCDEF") != n || (n != 3 && n != 4 && n != 6 && n != 8))
        return false;
    *colour = (struct gi_colour){.named = true, .n = 4, .v[3] = 1};
    for (size_t c = 0; c < n / digits; c++) {
        char part[3] = {text[1 + c * digits], text[digits + c * digits], '\0'};
        colour->v[c] = (double)strtol(part, NULL, 16) / 255;
    }
    return true;
}

static bool read_samples(struct gi_colour *colour, const char *text)
{
    *colour = (struct gi_colour){0};
    colour->n = gi_numbers_read(colour->v, GI_MAX_CHANNELS, text);
    return colour->n > 0;
}

bool gi_colour_read(struct gi_colour *colour, const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0)
            return read_hex(colour, names[i].hex);
    return *text == '#' ? read_hex(colour, text) : read_samples(colour, text);
}

/* Prints a colour as its name, as "#rrggbb", as "#rrggbbaa" or as numbers. Returns buffer. */
static const char *print(char buffer[128], const struct gi_colour *colour)
{
    struct gi_colour named;
    int used = 0, n = colour->named && colour->v[3] == 1 ? 3 : colour->n;
    for (size_t i = 0; colour->named && i < sizeof names / sizeof *names; i++)
        if (read_hex(&named, names[i].hex) && !memcmp(named.v, colour->v, sizeof named.v))
            return names[i].name;
    if (colour->named)
        used = snprintf(buffer, 128, "#");
    for (int i = 0; i < n; i++)
        used += colour->named ? snprintf(buffer + used, 128 - (size_t)used, "%02x",
                                         (unsigned)(255 * colour->v[i] + 0.5))
                              : snprintf(buffer + used, 128 - (size_t)used, "%s%.10g", i ? "," : "",
                                         colour->v[i]);
    return buffer;
}

enum gi_status gi_colour_check(struct gi_err *warning, const struct gi_colour *colour,
                               const char *option, const struct gi_image *image, struct gi_err *err)
{
    char text[128];
    const double *v = colour->v;
    if (gi_colour_channels(image) > 1)
        return GI_OK;
    if (!colour->named && colour->n > 2)
        return gi_fail(err, GI_E_USAGE,
                       "--%s %s: %d numbers for a gray image: want 1, or 2 with alpha", option,
                       print(text, colour), colour->n);
    if (colour->named && (v[0] != v[1] || v[1] != v[2]))
        gi_fail(warning, GI_E_UNSUPPORTED,
                "--%s %s: becomes gray in a gray image, %.3g%% of white, which is its luma (gpuimg "
                "channels --order %s makes the image RGB)",
                option, print(text, colour), 100 * gi_luma(v),
                gi_has_alpha(image) ? "rrra" : "rrr");
    return GI_OK;
}

static void named_pixel(float *pixel, const struct gi_colour *colour, const struct gi_image *image)
{
    double full = gi_type_full_scale(image->type);
    int colours = gi_colour_channels(image);
    for (int c = 0; c < image->channels; c++) {
        double v = full * (c == colours   ? colour->v[3]
                           : colours == 1 ? gi_luma(colour->v)
                                          : colour->v[c]);
        pixel[c] = (float)(image->type == GI_F32 ? v : floor(v + 0.5));
    }
}

void gi_colour_pixel(float pixel[GI_MAX_CHANNELS], const struct gi_colour *colour,
                     const struct gi_image *image)
{
    if (colour->named) {
        named_pixel(pixel, colour, image);
        return;
    }
    for (int c = 0; c < image->channels && colour->n > 0; c++) {
        bool alpha = gi_has_alpha(image) && c == image->channels - 1;
        if (colour->n == 1)
            pixel[c] = (float)colour->v[0];
        else if (c < colour->n)
            pixel[c] = (float)colour->v[c];
        else
            pixel[c] = alpha ? gi_type_full_scale(image->type) : (float)colour->v[colour->n - 1];
    }
}
