/* Reads colours from text.
 * SPDX-License-Identifier: MIT */
#include "filters/option_color.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "filters/option.h"

/* All names of CSS: https://www.w3.org/TR/css-color-4/#named-colors. */
static const struct {
    const char *name, *hex;
} names[] = {
    {"aliceblue", "#f0f8ff"},
    {"antiquewhite", "#faebd7"},
    {"aqua", "#00ffff"},
    {"aquamarine", "#7fffd4"},
    {"azure", "#f0ffff"},
    {"beige", "#f5f5dc"},
    {"bisque", "#ffe4c4"},
    {"black", "#000000"},
    {"blanchedalmond", "#ffebcd"},
    {"blue", "#0000ff"},
    {"blueviolet", "#8a2be2"},
    {"brown", "#a52a2a"},
    {"burlywood", "#deb887"},
    {"cadetblue", "#5f9ea0"},
    {"chartreuse", "#7fff00"},
    {"chocolate", "#d2691e"},
    {"coral", "#ff7f50"},
    {"cornflowerblue", "#6495ed"},
    {"cornsilk", "#fff8dc"},
    {"crimson", "#dc143c"},
    {"cyan", "#00ffff"},
    {"darkblue", "#00008b"},
    {"darkcyan", "#008b8b"},
    {"darkgoldenrod", "#b8860b"},
    {"darkgray", "#a9a9a9"},
    {"darkgreen", "#006400"},
    {"darkgrey", "#a9a9a9"},
    {"darkkhaki", "#bdb76b"},
    {"darkmagenta", "#8b008b"},
    {"darkolivegreen", "#556b2f"},
    {"darkorange", "#ff8c00"},
    {"darkorchid", "#9932cc"},
    {"darkred", "#8b0000"},
    {"darksalmon", "#e9967a"},
    {"darkseagreen", "#8fbc8f"},
    {"darkslateblue", "#483d8b"},
    {"darkslategray", "#2f4f4f"},
    {"darkslategrey", "#2f4f4f"},
    {"darkturquoise", "#00ced1"},
    {"darkviolet", "#9400d3"},
    {"deeppink", "#ff1493"},
    {"deepskyblue", "#00bfff"},
    {"dimgray", "#696969"},
    {"dimgrey", "#696969"},
    {"dodgerblue", "#1e90ff"},
    {"firebrick", "#b22222"},
    {"floralwhite", "#fffaf0"},
    {"forestgreen", "#228b22"},
    {"fuchsia", "#ff00ff"},
    {"gainsboro", "#dcdcdc"},
    {"ghostwhite", "#f8f8ff"},
    {"gold", "#ffd700"},
    {"goldenrod", "#daa520"},
    {"gray", "#808080"},
    {"green", "#008000"},
    {"greenyellow", "#adff2f"},
    {"grey", "#808080"},
    {"honeydew", "#f0fff0"},
    {"hotpink", "#ff69b4"},
    {"indianred", "#cd5c5c"},
    {"indigo", "#4b0082"},
    {"ivory", "#fffff0"},
    {"khaki", "#f0e68c"},
    {"lavender", "#e6e6fa"},
    {"lavenderblush", "#fff0f5"},
    {"lawngreen", "#7cfc00"},
    {"lemonchiffon", "#fffacd"},
    {"lightblue", "#add8e6"},
    {"lightcoral", "#f08080"},
    {"lightcyan", "#e0ffff"},
    {"lightgoldenrodyellow", "#fafad2"},
    {"lightgray", "#d3d3d3"},
    {"lightgreen", "#90ee90"},
    {"lightgrey", "#d3d3d3"},
    {"lightpink", "#ffb6c1"},
    {"lightsalmon", "#ffa07a"},
    {"lightseagreen", "#20b2aa"},
    {"lightskyblue", "#87cefa"},
    {"lightslategray", "#778899"},
    {"lightslategrey", "#778899"},
    {"lightsteelblue", "#b0c4de"},
    {"lightyellow", "#ffffe0"},
    {"lime", "#00ff00"},
    {"limegreen", "#32cd32"},
    {"linen", "#faf0e6"},
    {"magenta", "#ff00ff"},
    {"maroon", "#800000"},
    {"mediumaquamarine", "#66cdaa"},
    {"mediumblue", "#0000cd"},
    {"mediumorchid", "#ba55d3"},
    {"mediumpurple", "#9370db"},
    {"mediumseagreen", "#3cb371"},
    {"mediumslateblue", "#7b68ee"},
    {"mediumspringgreen", "#00fa9a"},
    {"mediumturquoise", "#48d1cc"},
    {"mediumvioletred", "#c71585"},
    {"midnightblue", "#191970"},
    {"mintcream", "#f5fffa"},
    {"mistyrose", "#ffe4e1"},
    {"moccasin", "#ffe4b5"},
    {"navajowhite", "#ffdead"},
    {"navy", "#000080"},
    {"oldlace", "#fdf5e6"},
    {"olive", "#808000"},
    {"olivedrab", "#6b8e23"},
    {"orange", "#ffa500"},
    {"orangered", "#ff4500"},
    {"orchid", "#da70d6"},
    {"palegoldenrod", "#eee8aa"},
    {"palegreen", "#98fb98"},
    {"paleturquoise", "#afeeee"},
    {"palevioletred", "#db7093"},
    {"papayawhip", "#ffefd5"},
    {"peachpuff", "#ffdab9"},
    {"peru", "#cd853f"},
    {"pink", "#ffc0cb"},
    {"plum", "#dda0dd"},
    {"powderblue", "#b0e0e6"},
    {"purple", "#800080"},
    {"rebeccapurple", "#663399"},
    {"red", "#ff0000"},
    {"rosybrown", "#bc8f8f"},
    {"royalblue", "#4169e1"},
    {"saddlebrown", "#8b4513"},
    {"salmon", "#fa8072"},
    {"sandybrown", "#f4a460"},
    {"seagreen", "#2e8b57"},
    {"seashell", "#fff5ee"},
    {"sienna", "#a0522d"},
    {"silver", "#c0c0c0"},
    {"skyblue", "#87ceeb"},
    {"slateblue", "#6a5acd"},
    {"slategray", "#708090"},
    {"slategrey", "#708090"},
    {"snow", "#fffafa"},
    {"springgreen", "#00ff7f"},
    {"steelblue", "#4682b4"},
    {"tan", "#d2b48c"},
    {"teal", "#008080"},
    {"thistle", "#d8bfd8"},
    {"tomato", "#ff6347"},
    {"turquoise", "#40e0d0"},
    {"violet", "#ee82ee"},
    {"wheat", "#f5deb3"},
    {"white", "#ffffff"},
    {"whitesmoke", "#f5f5f5"},
    {"yellow", "#ffff00"},
    {"yellowgreen", "#9acd32"},
    {"transparent", "#0000"},
};

static bool read_hex(struct gi_color *color, const char *text)
{
    size_t n = strlen(text) - 1, digits = n > 4 ? 2 : 1;
    if (strspn(text + 1, "0123456789abcdefABCDEF") != n || (n != 3 && n != 4 && n != 6 && n != 8))
        return false;
    *color = (struct gi_color){.named = true, .n = 4, .v[3] = 1};
    for (size_t c = 0; c < n / digits; c++) {
        char part[3] = {text[1 + c * digits], text[digits + c * digits], '\0'};
        color->v[c] = (double)strtol(part, NULL, 16) / 255;
    }
    return true;
}

static bool read_samples(struct gi_color *color, const char *text)
{
    *color = (struct gi_color){0};
    color->n = gi_numbers_read(color->v, GI_MAX_CHANNELS, text);
    return color->n > 0;
}

bool gi_color_read(struct gi_color *color, const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i].name) == 0)
            return read_hex(color, names[i].hex);
    return *text == '#' ? read_hex(color, text) : read_samples(color, text);
}

/* Prints a colour as its name, as "#rrggbb", as "#rrggbbaa" or as numbers. Returns buffer. */
static const char *print(char buffer[128], const struct gi_color *color)
{
    struct gi_color named;
    int used = 0, n = color->named && color->v[3] == 1 ? 3 : color->n;
    for (size_t i = 0; color->named && i < sizeof names / sizeof *names; i++)
        if (read_hex(&named, names[i].hex) && !memcmp(named.v, color->v, sizeof named.v))
            return names[i].name;
    if (color->named)
        used = snprintf(buffer, 128, "#");
    for (int i = 0; i < n; i++)
        used += color->named ? snprintf(buffer + used, 128 - (size_t)used, "%02x",
                                        (unsigned)(255 * color->v[i] + 0.5))
                             : snprintf(buffer + used, 128 - (size_t)used, "%s%.10g", i ? "," : "",
                                        color->v[i]);
    return buffer;
}

enum gi_status gi_color_check(struct gi_err *warning, const struct gi_color *color,
                              const char *option, const struct gi_image *image, struct gi_err *err)
{
    char text[128];
    const double *v = color->v;
    if (gi_color_channels(image) > 1)
        return GI_OK;
    if (!color->named && color->n > 2)
        return gi_fail(err, GI_E_USAGE,
                       "--%s %s: %d numbers for a gray image: want 1, or 2 with alpha", option,
                       print(text, color), color->n);
    if (color->named && (v[0] != v[1] || v[1] != v[2]))
        gi_fail(warning, GI_E_UNSUPPORTED,
                "--%s %s: becomes gray in a gray image, %.3g%% of white, which is its luma (gpuimg "
                "channels --order %s makes the image RGB)",
                option, print(text, color), 100 * gi_luma(v), gi_has_alpha(image) ? "rrra" : "rrr");
    return GI_OK;
}

static void named_pixel(float *pixel, const struct gi_color *color, const struct gi_image *image)
{
    double full = gi_type_full_scale(image->type);
    int colors = gi_color_channels(image);
    for (int c = 0; c < image->channels; c++) {
        double v = full * (c == colors   ? color->v[3]
                           : colors == 1 ? gi_luma(color->v)
                                         : color->v[c]);
        pixel[c] = (float)(image->type == GI_F32 ? v : floor(v + 0.5));
    }
}

void gi_color_pixel(float pixel[GI_MAX_CHANNELS], const struct gi_color *color,
                    const struct gi_image *image)
{
    if (color->named) {
        named_pixel(pixel, color, image);
        return;
    }
    for (int c = 0; c < image->channels && color->n > 0; c++) {
        bool alpha = gi_has_alpha(image) && c == image->channels - 1;
        if (color->n == 1)
            pixel[c] = (float)color->v[0];
        else if (c < color->n)
            pixel[c] = (float)color->v[c];
        else
            pixel[c] = alpha ? gi_type_full_scale(image->type) : (float)color->v[color->n - 1];
    }
}
