/* Random samples and options for the walk over operations.
 * SPDX-License-Identifier: MIT */
#include "walk_draw.h"
#include "filters/tone/auto_threshold.h"

#include <ctype.h>

bool draw_one_of(uint64_t *seed, int n)
{
    return case_between(seed, 0, n - 1) == 0;
}

double draw_between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (case_real(seed) + 1.0) / 2;
}

/* ---- images ---- */

/* Returns a random side of 1 to `most` pixels. Two of three sides are random in their logarithm, so
 * that short sides are frequent. */
static int draw_side(uint64_t *seed, int most)
{
    double by_logarithm = exp(draw_between(seed, 0, log(most + 0.999)));
    return draw_one_of(seed, 3) ? case_between(seed, 1, most) : (int)by_logarithm;
}

struct gi_image draw_shape(uint64_t *seed, int most)
{
    return (struct gi_image){.width = draw_side(seed, most),
                             .height = draw_side(seed, most),
                             .channels = case_between(seed, 1, GI_MAX_CHANNELS),
                             .type = (enum gi_type)case_between(seed, GI_U8, GI_F32)};
}

void draw_odd_floats(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN,   INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f,
                                1e30f, -0.25f,   1.75f,     1000,  -1e-3f, 65535};
    for (int i = 0; i < image->width; i++) {
        float *row = gi_row(image, case_between(seed, 0, image->height - 1));
        row[case_between(seed, 0, (int)gi_row_samples(image) - 1)] = odd[case_between(seed, 0, 11)];
    }
}

void draw_samples(struct gi_image *image, uint64_t *seed)
{
    int values = draw_one_of(seed, 3) ? case_between(seed, 1, 4) : 0;
    float full = gi_type_full_scale(image->type), of[4];
    case_fill(image, seed);
    for (int i = 0; i < values; i++)
        of[i] = image->type == GI_F32 ? (float)draw_between(seed, 0, 1)
                                      : (float)case_between(seed, 0, (int)full);
    for (int y = 0; y < image->height && values; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (!draw_one_of(seed, 50))
                case_put(image, y, i, of[case_between(seed, 0, values - 1)]);
    if (image->type == GI_F32 && draw_one_of(seed, 3))
        draw_odd_floats(image, seed);
    if (draw_one_of(seed, 2))
        case_fill_alpha(image, seed);
}

/* ---- values of options ---- */

static double draw_real(uint64_t *seed, double min, double max)
{
    static const double often[] = {0, 1, -1, 0.5, -0.25, 2, 1e-3, 100, 255, 256, 1e-30, -1e30};
    bool ranged = min != 0 || max != 0;
    double v = draw_between(seed, -2, 2);
    int how = case_between(seed, 0, 9);
    if (how < 2)
        v = often[case_between(seed, 0, 11)];
    else if (ranged && how < 4)
        v = how == 2 ? min : max;
    else if (ranged && how < 8)
        v = fmax(min, -10) + draw_between(seed, 0, 20);
    else if (ranged)
        v = min +
            (max - min) * (how == 8 ? draw_between(seed, 0, 1) : exp(draw_between(seed, -20, 0)));
    return ranged ? fmin(fmax(v, min), max) : v;
}

static void draw_number(FILE *out, const struct gi_option *row, uint64_t *seed)
{
    double v = draw_real(seed, row->min, row->max);
    if (row->type == GI_OPT_REAL) {
        fprintf(out, "%.17g", v);
        return;
    }
    long n = lrint(v);
    if (row->type == GI_OPT_ODD)
        n += n % 2 == 0 ? (n < row->max ? 1 : -1) : 0;
    fprintf(out, "%ld", n);
}

static void draw_reals(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                       uint64_t *seed)
{
    int side = shape->width > shape->height ? shape->width : shape->height;
    int n = case_between(seed, row->least ? row->least : 1, row->most ? row->most : 4);
    bool whole = draw_one_of(seed, 2);
    for (int i = 0; i < n; i++) {
        double v = row->max > row->min ? draw_real(seed, row->min, row->max)
                                       : draw_between(seed, -0.2, 1.2) * side;
        fprintf(out, "%s%.17g", i ? "," : "", whole ? rint(v) : v);
    }
}

static void draw_level(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                       uint64_t *seed)
{
    double full = gi_type_full_scale(shape->type);
    const double at[] = {0, full, full / 2, 1, draw_between(seed, 0, full)};
    int how = case_between(seed, 0, 9);
    if (how < 2 && !row->amount)
        fputs(gi_threshold_methods[case_between(seed, 0, GI_THRESHOLD_METHODS - 1)].name, out);
    else if (how < 5)
        fprintf(out, "%.17g%%", draw_real(seed, 0, 100));
    else
        fprintf(out, "%.17g", at[how - 5]);
}

static void draw_length(FILE *out, int side, uint64_t *seed)
{
    if (draw_one_of(seed, 3))
        fprintf(out, "%.4g%%", draw_between(seed, 0.5, 200));
    else
        fprintf(out, "%d", case_between(seed, 1, draw_one_of(seed, 2) ? 9 : 2 * side));
}

static void draw_extent(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                        uint64_t *seed)
{
    int open = case_between(seed, 0, 7);
    if (open)
        draw_length(out, shape->width, seed);
    fputc('x', out);
    if (open != 1)
        draw_length(out, shape->height, seed);
    if (row->at_least && open > 1 && draw_one_of(seed, 3))
        fputc('^', out);
    if (row->type == GI_OPT_RECT && draw_one_of(seed, 2))
        fprintf(out, "%+d%+d", case_between(seed, -3, shape->width),
                case_between(seed, -3, shape->height));
}

static void draw_color(FILE *out, const struct gi_image *shape, uint64_t *seed)
{
    static const char *const names[] = {"white", "transparent", "#08f", "#80ff0040", "orange", "0"};
    bool one = draw_one_of(seed, 2);
    if (draw_one_of(seed, 3)) {
        fputs(names[case_between(seed, 0, 5)], out);
        return;
    }
    for (int c = 0; c < (one ? 1 : shape->channels); c++) {
        double v = draw_real(seed, 0, gi_type_full_scale(shape->type));
        fprintf(out, "%s%.9g", c ? "," : "", shape->type == GI_F32 ? v : rint(v));
    }
}

/* Templates for options whose values are text. R becomes a small number, T a length up to the
 * image's side, P a very small number, I an integer up to the side, B 0 or 1, and C the letter of a
 * channel. H becomes the 256 counts of a histogram, with one count per row. Within a word such as
 * LUT_3D_SIZE letters except C stay. */
static const struct {
    const char *option, *text;
} draw_texts[] = {
    {"kernel", "R R R; R R R; R R R"},
    {"kernel", "1/16 4/16 6/16 4/16 1/16"},
    {"kernel", "9x1: R R R R R R R R R"},
    {"kernel", "1;-1"},
    {"kernel", "R R R R R; 0 0 R 0 0; R R R R R; 0 1 2 1 0"},
    {"mask", "B 1 B; 1 B 1"},
    {"mask", "B B 1 B B; B B B B B; 1 B B B B; B B B B B"},
    {"mask", "1"},
    {"heights", "R R R; R T R"},
    {"heights", "R R R R R; T 1 B 0 R; 9 B 1 B 0; 5 R T B R"},
    {"hit", "B 1 B; 1 B B"},
    {"hit", "B B B; B 1 B; B B 1; B B B"},
    {"miss", "1 B B"},
    {"matrix", "R R T; R R T"},
    {"matrix", "R R T; R R T; P P 1"},
    {"matrix", "R R R R; R R R R; R R R R"},
    {"matrix", "R R R R R; R R R R R; R R R R R; R R R R R"},
    {"matrix", "1 0 T; 0 1 T"},
    {"camera", "{\"camera_matrix\": [[T, 0, T], [0, T, T], [0, 0, 1]], "
               "\"distortion_coefficients\": [R, R, P, P, R]}"},
    {"box", "I,I,9,8"},
    {"order", "C"},
    {"order", "CC"},
    {"order", "CCC"},
    {"order", "CCCC"},
    {"colors", "0 0 0; 255 128.5 3; 9 255 255"},
    {"cube", "LUT_1D_SIZE 3\n0 0 0\nR R R\n1 1 R"},
    {"cube",
     "LUT_3D_SIZE 2\nDOMAIN_MIN -0.5 P 0\n0 0 0\nR 0 0\n0 1 0\n1 1 R\n0 0 1\n1 R 1\n0 1 1\n1 1 1"},
    {"range", "auto"},
    {"range", "R,R"},
    {"balance", "gray"},
    {"balance", "I,I"},
    {"balance", "2x3+I+I"},
    {"group-by", "row"},
    {"group-by", "column"},
    {"group-by", "7x5"},
    {"group-by", "40%x60%"},
    {"histogram", "H"},
    {"expression", "a.r, a.g - R, (x + y) % (full + 1)"},
    {"expression", "v = a - T; v * v / full"},
    {"expression", "b - a > R ? full : a"},
    {"expression", "hypot(a(1, 0) - a(-1, 0), a(0, 2) - a(0, -2))"},
    {"expression", "a, full - a.a"},
    {"expression", "pow(a / full, 1 / (1 + abs(R))) * full + log(x + 1) * atan2(y, x + R)"},
};
enum { DRAW_TEXTS = sizeof draw_texts / sizeof *draw_texts };

static void draw_letter(FILE *out, char letter, int side, uint64_t *seed)
{
    switch (letter) {
    case 'R':
        fprintf(out, "%.6g", draw_one_of(seed, 3) ? rint(draw_real(seed, 0, 0)) : case_real(seed));
        break;
    case 'T':
        fprintf(out, "%.6g", draw_between(seed, -side, side));
        break;
    case 'P':
        fprintf(out, "%.6g", draw_between(seed, -0.01, 0.01));
        break;
    case 'I':
        fprintf(out, "%d", case_between(seed, 0, side - 1));
        break;
    case 'B':
        fprintf(out, "%d", case_between(seed, 0, 1));
        break;
    case 'C':
        fputc("rgbakcoz"[case_between(seed, 0, 7)], out);
        break;
    case 'H':
        for (int i = 0; i < 256; i++)
            fprintf(out, "%d\n", case_between(seed, 0, 9));
        break;
    default:
        fputc(letter, out);
    }
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void draw_text(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                      uint64_t *seed)
{
    int side = shape->width < shape->height ? shape->width : shape->height, n = 0;
    const char *text = row->example ? row->example : "";
    for (int i = 0; i < DRAW_TEXTS; i++)
        if (strcmp(draw_texts[i].option, row->name) == 0 && draw_one_of(seed, ++n))
            text = draw_texts[i].text;
    for (char before = 0; *text; before = *text++)
        if (*text != 'C' && (is_of_word(before) || is_of_word(text[1])))
            fputc(*text, out);
        else
            draw_letter(out, *text, side, seed);
}

/* ---- the text of a step ---- */

/* Prints a random value of the option. Prints nothing for a flag, or for an option that gets no
 * random value. The names of images begin with `prefix`. */
static void draw_value(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                       const char *prefix, uint64_t *seed)
{
    int n = 0;
    switch (row->type) {
    case GI_OPT_INT:
        if (strcmp(row->name, "short") == 0) { /* more pixels would take long */
            fprintf(out, "%d", case_between(seed, 1, 2 * shape->width));
            break;
        }
        /* fallthrough */
    case GI_OPT_ODD:
    case GI_OPT_REAL:
        draw_number(out, row, seed);
        break;
    case GI_OPT_REALS:
        draw_reals(out, row, shape, seed);
        break;
    case GI_OPT_CHOICE:
        while (row->choices[n].name)
            n++;
        fputs(row->choices[case_between(seed, 0, n - 1)].name, out);
        break;
    case GI_OPT_LEVEL:
        draw_level(out, row, shape, seed);
        break;
    case GI_OPT_SIZE:
        fprintf(out, "%d", case_between(seed, 0, shape->width));
        break;
    case GI_OPT_EXTENT:
    case GI_OPT_RECT:
        draw_extent(out, row, shape, seed);
        break;
    case GI_OPT_COLOR:
        draw_color(out, shape, seed);
        break;
    case GI_OPT_TEXT:
    case GI_OPT_CONTENT:
        draw_text(out, row, shape, seed);
        break;
    case GI_OPT_IMAGE:
        fprintf(out, "%s-%s.%s", prefix, row->name,
                strcmp(row->name, "points") == 0 ? "csv" : "npy");
        break;
    default:
        break;
    }
}

/* Prints " --name=value" with a backslash before each character that has a meaning in a chain. */
static void draw_option(FILE *out, const struct gi_option *row, const struct gi_image *shape,
                        const char *prefix, uint64_t *seed)
{
    char *value = NULL;
    size_t nbytes;
    FILE *drawn = open_memstream(&value, &nbytes);
    assert_non_null(drawn);
    draw_value(drawn, row, shape, prefix, seed);
    fclose(drawn);
    if (*value || row->type == GI_OPT_FLAG)
        fprintf(out, " --%s%s", row->name, *value ? "=" : "");
    for (const char *p = value; *p; p++)
        fprintf(out, "%s%c", isalnum((unsigned char)*p) || strchr("-+.,:%/", *p) ? "" : "\\", *p);
    free(value);
}

char *draw_step(const struct gi_filter *filter, const struct gi_image *shape, const char *prefix,
                uint64_t *seed)
{
    char *text = NULL;
    size_t nbytes;
    FILE *out = open_memstream(&text, &nbytes);
    assert_non_null(out);
    fputs(filter->name, out);
    for (const struct gi_option *row = filter->options; row->name; row++)
        if (row->example ? !draw_one_of(seed, 5) : draw_one_of(seed, 4))
            draw_option(out, row, shape, prefix, seed);
    fclose(out);
    return text;
}
