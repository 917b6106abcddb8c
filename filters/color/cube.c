/* Reads .cube files.
 * SPDX-License-Identifier: MIT */
#include "filters/color/cube.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "filters/option.h"

/* Returns the text after blanks, comments and line ends, and counts lines. */
static const char *skip(const char *text, int *line)
{
    for (;; text++) {
        text += strspn(text, " \t\r");
        if (*text == '#')
            text += strcspn(text, "\n");
        if (*text != '\n')
            return text;
        ++*line;
    }
}

/* Reads n numbers and the end of the line. */
static bool read_numbers(double *v, int n, const char **text)
{
    for (int i = 0; i < n; i++) {
        *text += strspn(*text, " \t");
        if (!gi_number_read(&v[i], *text, text) || !(fabs(v[i]) <= (double)FLT_MAX))
            return false;
    }
    *text += strspn(*text, " \t\r");
    return !**text || **text == '\n' || **text == '#';
}

/* Returns whether the line begins with the word, and moves *text behind it. */
static bool is_word(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || !strchr(" \t\r\n", (*text)[n]))
        return false;
    *text += n;
    return true;
}

static enum gi_status read_size(struct gi_cube *cube, const char **text, bool solid, int line,
                                struct gi_err *err)
{
    double n;
    int most = solid ? GI_CUBE_3D_MAX : GI_CUBE_1D_MAX;
    if (cube->n)
        return gi_fail(err, GI_E_USAGE, "line %d: a second size: want one table, 1-D or 3-D", line);
    if (!read_numbers(&n, 1, text) || !(n >= 2 && n <= most) || n != floor(n))
        return gi_fail(err, GI_E_USAGE, "line %d: want a size of 2 to %d", line, most);
    cube->solid = solid;
    cube->n = (int)n;
    cube->rows = solid ? (size_t)cube->n * (size_t)cube->n * (size_t)cube->n : (size_t)cube->n;
    return GI_OK;
}

/* Reads a line of the header. */
static enum gi_status read_key(struct gi_cube *cube, const char **text, int line,
                               struct gi_err *err)
{
    double range[2];
    if (is_word(text, "LUT_1D_SIZE"))
        return read_size(cube, text, false, line, err);
    if (is_word(text, "LUT_3D_SIZE"))
        return read_size(cube, text, true, line, err);
    if (is_word(text, "TITLE")) {
        *text += strcspn(*text, "\n");
        return GI_OK;
    }
    if (is_word(text, "DOMAIN_MIN") || is_word(text, "DOMAIN_MAX"))
        return read_numbers((*text)[-1] == 'N' ? cube->lo : cube->hi, 3, text)
                   ? GI_OK
                   : gi_fail(err, GI_E_USAGE, "line %d: want three numbers", line);
    if (is_word(text, "LUT_1D_INPUT_RANGE") || is_word(text, "LUT_3D_INPUT_RANGE")) {
        if (!read_numbers(range, 2, text))
            return gi_fail(err, GI_E_USAGE, "line %d: want two numbers", line);
        for (int c = 0; c < 3; c++) {
            cube->lo[c] = range[0];
            cube->hi[c] = range[1];
        }
        return GI_OK;
    }
    return gi_fail(err, GI_E_USAGE,
                   "line %d: want a row of three numbers, or TITLE, LUT_1D_SIZE, LUT_3D_SIZE, "
                   "DOMAIN_MIN, DOMAIN_MAX, LUT_1D_INPUT_RANGE or LUT_3D_INPUT_RANGE",
                   line);
}

static enum gi_status read_rows(const struct gi_cube *cube, float *entries, const char *text,
                                int line, struct gi_err *err)
{
    size_t row = 0;
    for (; *text; text = skip(text, &line), row++) {
        double v[3];
        if (row == cube->rows)
            return gi_fail(err, GI_E_USAGE, "line %d: more than %zu rows", line, cube->rows);
        if (!read_numbers(v, 3, &text))
            return gi_fail(err, GI_E_USAGE, "line %d: want three numbers", line);
        for (size_t c = 0; c < 3 && entries; c++)
            entries[3 * row + c] = (float)v[c];
    }
    return row == cube->rows ? GI_OK
                             : gi_fail(err, GI_E_USAGE, "line %d: the end after %zu rows: want %zu",
                                       line, row, cube->rows);
}

enum gi_status gi_cube_read_head(struct gi_cube *cube, const char **text, int *line,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *line = 1;
    *cube = (struct gi_cube){.hi = {1, 1, 1}};
    if (strncmp(*text, "\xef\xbb\xbf", 3) == 0) /* byte order mark of UTF-8 */
        *text += 3;
    *text = skip(*text, line);
    while (!status && isalpha((unsigned char)**text)) {
        status = read_key(cube, text, *line, err);
        *text = skip(*text, line);
    }
    if (status)
        return status;
    if (!cube->n)
        return gi_fail(err, GI_E_USAGE,
                       "line %d: no size before the rows: want LUT_1D_SIZE or "
                       "LUT_3D_SIZE",
                       *line);
    for (int c = 0; c < 3; c++)
        if (!(cube->lo[c] < cube->hi[c]))
            return gi_fail(err, GI_E_USAGE,
                           "line %d: a domain from %.9g to %.9g: want MIN below "
                           "MAX",
                           *line, cube->lo[c], cube->hi[c]);
    return GI_OK;
}

enum gi_status gi_cube_read(struct gi_cube *cube, float *entries, const char *text,
                            struct gi_err *err)
{
    int line;
    enum gi_status status = gi_cube_read_head(cube, &text, &line, err);
    return status ? status : read_rows(cube, entries, text, line, err);
}
