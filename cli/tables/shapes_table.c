/* Reads tables of shapes, line by line.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/shapes_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/lines.h"
#include "cli/tables/columns.h"
#include "filters/option.h"
#include "imgio/small.h"

enum { COLUMNS_MAX = 256, NUMBERS_MAX = 20000, PLACE_MAX = 1000000, SHOWN_MAX = 60 };

/* What a column holds. */
enum field {
    UNKNOWN,
    FILE_NAME,
    IMAGE_ID, /* as FILE_NAME, for rows without one */
    KIND,
    X,
    Y,
    CENTER_X,
    CENTER_Y,
    WIDTH,
    HEIGHT,
    RIGHT,
    BOTTOM,
    RADIUS,
    POINTS,
    LABEL,
    SCORE,
    COLOR,
    FILL,
    LINE_WIDTH,
    SIZE,
    FIELDS
};

/* Names of columns, in lower case, of gpuimg extract, Pascal VOC, torchvision, YOLO and others. */
static const struct {
    const char *name;
    enum field field;
} names[] = {
    {"file", FILE_NAME},
    {"filename", FILE_NAME},
    {"file_name", FILE_NAME},
    {"file_path", FILE_NAME},
    {"filepath", FILE_NAME},
    {"image", FILE_NAME},
    {"image_name", FILE_NAME},
    {"image_path", FILE_NAME},
    {"img", FILE_NAME},
    {"img_path", FILE_NAME},
    {"path", FILE_NAME},
    {"image_id", IMAGE_ID},
    {"imageid", IMAGE_ID},
    {"img_id", IMAGE_ID},
    {"shape", KIND},
    {"x", X},
    {"bbox_x", X},
    {"left", X},
    {"xmin", X},
    {"x_min", X},
    {"x1", X},
    {"y", Y},
    {"bbox_y", Y},
    {"top", Y},
    {"ymin", Y},
    {"y_min", Y},
    {"y1", Y},
    {"x_center", CENTER_X},
    {"xcenter", CENTER_X},
    {"center_x", CENTER_X},
    {"cx", CENTER_X},
    {"xc", CENTER_X},
    {"y_center", CENTER_Y},
    {"ycenter", CENTER_Y},
    {"center_y", CENTER_Y},
    {"cy", CENTER_Y},
    {"yc", CENTER_Y},
    {"w", WIDTH},
    {"bbox_width", WIDTH},
    {"width", WIDTH},
    {"h", HEIGHT},
    {"bbox_height", HEIGHT},
    {"height", HEIGHT},
    {"xmax", RIGHT},
    {"x_max", RIGHT},
    {"x2", RIGHT},
    {"right", RIGHT},
    {"ymax", BOTTOM},
    {"y_max", BOTTOM},
    {"y2", BOTTOM},
    {"bottom", BOTTOM},
    {"radius", RADIUS},
    {"r", RADIUS},
    {"points", POINTS},
    {"label", LABEL},
    {"labelname", LABEL},
    {"class", LABEL},
    {"class_name", LABEL},
    {"category_name", LABEL},
    {"name", LABEL},
    {"category", LABEL},
    {"text", LABEL},
    {"score", SCORE},
    {"confidence", SCORE},
    {"conf", SCORE},
    {"probability", SCORE},
    {"color", COLOR},
    {"colour", COLOR},
    {"fill", FILL},
    {"line_width", LINE_WIDTH},
    {"thickness", LINE_WIDTH},
    {"size", SIZE},
};

/* The fields of a line; NULL if the table has no such column. */
struct line {
    char *of[FIELDS];
    size_t number;
};

static enum gi_status fail(const struct line *line, const char *what, const char *got,
                           const char *want, struct gi_err *err)
{
    return gi_fail(err, GI_E_FORMAT, "line %zu: %s is \"%.40s\": want %s", line->number, what, got,
                   want);
}

static bool has(const struct line *line, enum field field)
{
    return line->of[field] && *line->of[field];
}

static enum gi_status number(double *v, const struct line *line, enum field field, const char *what,
                             struct gi_err *err)
{
    const char *end = "", *text = has(line, field) ? line->of[field] : "";
    if (!gi_number_read(v, text, &end) || *end || fabs(*v) > PLACE_MAX)
        return fail(line, what, text, "a number up to 1000000", err);
    return GI_OK;
}

bool gi_shape_ink(struct gi_ink *ink, const char *text)
{
    struct gi_color color;
    if (!gi_color_read(&color, text) || !color.named)
        return false;
    *ink = (struct gi_ink){color.v[0], color.v[1], color.v[2], color.v[3]};
    return true;
}

enum gi_status gi_shape_numbers(struct gi_shape *shape, const char *what, const char *text,
                                struct gi_err *err)
{
    static const struct {
        const char *want;
        int n;
    } forms[] = {[GI_SHAPE_BOX] = {"X,Y,WIDTH,HEIGHT", 4},
                 [GI_SHAPE_LINE] = {"X1,Y1,X2,Y2", 4},
                 [GI_SHAPE_CIRCLE] = {"X,Y,RADIUS", 3},
                 [GI_SHAPE_POLYGON] = {"X,Y X,Y X,Y and so on", 0}};
    char *copy = gi_small_copy(text);
    for (char *at = copy; *at; at++)
        *at = *at == ' ' ? ',' : *at;
    shape->v = gi_small_calloc(NUMBERS_MAX, sizeof *shape->v);
    shape->n = gi_numbers_read(shape->v, NUMBERS_MAX, copy);
    free(copy);
    int n = forms[shape->kind].n;
    bool fits = n ? shape->n == n : shape->n >= 6 && shape->n % 2 == 0;
    for (int i = 0; i < shape->n; i++)
        fits = fits && fabs(shape->v[i]) <= PLACE_MAX;
    if (shape->kind == GI_SHAPE_BOX)
        fits = fits && shape->v[2] > 0 && shape->v[3] > 0;
    if (shape->kind == GI_SHAPE_CIRCLE)
        fits = fits && shape->v[2] > 0;
    if (fits)
        shape->v = gi_small_realloc(shape->v, (size_t)shape->n, sizeof *shape->v);
    return fits ? GI_OK
                : gi_fail(err, GI_E_USAGE, "%s %.60s: want %s, numbers up to %d", what, text,
                          forms[shape->kind].want, PLACE_MAX);
}

/* Finds out which shape the row is. */
static enum gi_status read_kind(struct gi_shape *shape, const struct line *line, struct gi_err *err)
{
    static const struct {
        const char *name;
        enum gi_shape_kind kind;
    } kinds[] = {{"box", GI_SHAPE_BOX},       {"rectangle", GI_SHAPE_BOX},
                 {"rect", GI_SHAPE_BOX},      {"line", GI_SHAPE_LINE},
                 {"circle", GI_SHAPE_CIRCLE}, {"polygon", GI_SHAPE_POLYGON},
                 {"text", GI_SHAPE_TEXT}};
    shape->kind = has(line, POINTS)   ? GI_SHAPE_POLYGON
                  : has(line, RADIUS) ? GI_SHAPE_CIRCLE
                                      : GI_SHAPE_BOX;
    for (size_t i = 0; has(line, KIND) && i < sizeof kinds / sizeof *kinds; i++)
        if (strcasecmp(line->of[KIND], kinds[i].name) == 0) {
            shape->kind = kinds[i].kind;
            return GI_OK;
        }
    return has(line, KIND)
               ? fail(line, "the shape", line->of[KIND], "box, line, circle, polygon or text", err)
               : GI_OK;
}

/* Reads the coordinates. The columns have the size of a box, or its second corner. */
static enum gi_status read_places(struct gi_shape *shape, const struct line *line,
                                  struct gi_err *err)
{
    bool ends = has(line, RIGHT) || shape->kind == GI_SHAPE_LINE;
    bool middle = !has(line, X) && has(line, CENTER_X);
    bool pair = shape->kind == GI_SHAPE_BOX || shape->kind == GI_SHAPE_LINE;
    if (shape->kind == GI_SHAPE_POLYGON) {
        const char *text = has(line, POINTS) ? line->of[POINTS] : "", *blank = strchr(text, ' ');
        char *three = NULL; /* gpuimg contours writes polygons of one or two points too */
        if (*text && (!blank || !strchr(blank + 1, ' ')))
            three = gi_small_format("%s %s %s", text, text, text);
        enum gi_status status = gi_shape_numbers(shape, "points", three ? three : text, err);
        free(three);
        if (status)
            gi_err_prefix(err, "line %zu", line->number);
        return status ? err->status = GI_E_FORMAT : GI_OK;
    }
    double *v = shape->v = gi_small_calloc(4, sizeof *v);
    shape->n = shape->kind == GI_SHAPE_CIRCLE ? 3 : pair ? 4 : 2;
    enum gi_status status = number(&v[0], line, middle ? CENTER_X : X, "x", err);
    if (!status)
        status = number(&v[1], line, middle ? CENTER_Y : Y, "y", err);
    if (!status && shape->kind == GI_SHAPE_CIRCLE)
        status = number(&v[2], line, RADIUS, "the radius", err);
    if (!status && pair)
        status = number(&v[2], line, ends ? RIGHT : WIDTH, ends ? "x2" : "the width", err);
    if (!status && pair)
        status = number(&v[3], line, ends ? BOTTOM : HEIGHT, ends ? "y2" : "the height", err);
    if (!status && ends && shape->kind == GI_SHAPE_BOX) {
        v[2] -= v[0];
        v[3] -= v[1];
    } else if (!status && middle && shape->kind == GI_SHAPE_BOX) {
        v[0] -= v[2] / 2;
        v[1] -= v[3] / 2;
    }
    if (!status && shape->kind != GI_SHAPE_LINE && (v[2] < 0 || v[3] < 0))
        status = gi_fail(err, GI_E_FORMAT, "line %zu: a size of %.10g x %.10g: want at least 0",
                         line->number, v[2], v[3]);
    return status;
}

/* Returns the number of the class `label`, which is added to the table if it is new. */
static int class_of(struct gi_shapes_table *table, const char *label)
{
    for (size_t i = 0; i < table->nclasses; i++)
        if (strcmp(table->classes[i], label) == 0)
            return (int)i;
    table->classes = gi_small_realloc(table->classes, table->nclasses + 1, sizeof *table->classes);
    table->classes[table->nclasses] = gi_small_copy(label);
    return (int)table->nclasses++;
}

static enum gi_status read_style(struct gi_shape *shape, const struct line *line,
                                 struct gi_err *err)
{
    enum gi_status status = GI_OK;
    shape->ink.alpha = shape->fill.alpha = -1;
    shape->width = shape->size = NAN;
    if (has(line, COLOR) && !gi_shape_ink(&shape->ink, line->of[COLOR]))
        return fail(line, "the colour", line->of[COLOR], "a name or #rrggbb", err);
    if (has(line, FILL) && !gi_shape_ink(&shape->fill, line->of[FILL]))
        return fail(line, "fill", line->of[FILL], "a colour: a name or #rrggbb", err);
    if (has(line, LINE_WIDTH))
        status = number(&shape->width, line, LINE_WIDTH, "the line width", err);
    if (!status && has(line, SIZE))
        status = number(&shape->size, line, SIZE, "the size", err);
    if (!status && (shape->width < 0 || shape->size <= 0))
        status = gi_fail(err, GI_E_FORMAT, "line %zu: want a line width and a size above 0",
                         line->number);
    return status;
}

static enum gi_status add_row(struct gi_shapes_table *table, const struct line *line,
                              struct gi_err *err)
{
    if ((table->n & (table->n - 1)) == 0) /* room for a power of two */
        table->rows =
            gi_small_realloc(table->rows, table->n ? 2 * table->n : 1, sizeof *table->rows);
    struct gi_shape_row *row = &table->rows[table->n++];
    enum field file = has(line, FILE_NAME) ? FILE_NAME : IMAGE_ID;
    *row = (struct gi_shape_row){.file = has(line, file) ? gi_small_copy(line->of[file]) : NULL};
    const char *label = has(line, LABEL) ? line->of[LABEL] : NULL;
    const char *score = has(line, SCORE) ? line->of[SCORE] : NULL;
    if (label || score)
        row->text = gi_small_format("%s%s%s", label ? label : "", label && score ? " " : "",
                                    score ? score : "");
    row->kind = label ? class_of(table, label) : 0;
    row->shape.text = row->text;
    enum gi_status status = read_kind(&row->shape, line, err);
    if (!status)
        status = read_places(&row->shape, line, err);
    for (int i = 0; i < row->shape.n && !status; i++) {
        table->larger = table->larger || fabs(row->shape.v[i]) > 1;
        table->broken = table->broken || row->shape.v[i] != rint(row->shape.v[i]);
    }
    if (!status)
        status = read_style(&row->shape, line, err);
    if (!status && row->shape.kind == GI_SHAPE_TEXT && !row->text)
        status = gi_fail(err, GI_E_FORMAT, "line %zu: want a label for the text", line->number);
    return status;
}

/* Splits a line into its fields. `columns` has the field of each column, in order. With `columns`
 * not `known` yet, sets them from the names. */
static enum gi_status split(struct line *fields, enum field columns[COLUMNS_MAX], bool known,
                            const struct gi_lines *lines, char *to, struct gi_err *err)
{
    const char *at = lines->text, *end = at + lines->n;
    bool last = false;
    *fields = (struct line){.number = lines->number};
    for (int i = 0; !last; i++) {
        char *field = to;
        if (i == COLUMNS_MAX)
            return gi_fail(err, GI_E_FORMAT, "line %zu: more than %d columns", lines->number,
                           COLUMNS_MAX);
        to = gi_columns_take_field(to, &at, end, &last) + 1;
        if (known) {
            fields->of[columns[i]] = field;
            continue;
        }
        columns[i] = UNKNOWN;
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (strcasecmp(field, names[j].name) == 0)
                columns[i] = names[j].field;
        fields->of[columns[i]] = field;
    }
    return GI_OK;
}

static enum gi_status read_lines(struct gi_shapes_table *table, struct gi_lines *lines,
                                 struct gi_err *err)
{
    enum field columns[COLUMNS_MAX] = {UNKNOWN};
    bool more = true, known = false;
    enum gi_status status = GI_OK;
    while (!status) {
        struct line line;
        status = gi_columns_next_line(lines, &more, err);
        if (status || !more)
            break;
        char *copy = gi_small_alloc(lines->n + COLUMNS_MAX + 1);
        status = split(&line, columns, known, lines, copy, err);
        bool places = line.of[POINTS] || (line.of[X] && line.of[Y]) ||
                      (line.of[CENTER_X] && line.of[CENTER_Y]);
        if (!status && known)
            status = add_row(table, &line, err);
        else if (!status && !places)
            status = gi_fail(err, GI_E_FORMAT,
                             "want columns x, y, w and h, or xmin, ymin, xmax and ymax, separated "
                             "by commas, in the first line, which is \"%.*s\"",
                             (int)(lines->n < SHOWN_MAX ? lines->n : SHOWN_MAX), lines->text);
        known = true;
        free(copy);
    }
    return status || known ? status : gi_fail(err, GI_E_FORMAT, "is empty, want a line of names");
}

enum gi_status gi_shapes_table_read(struct gi_shapes_table *table, const char *path,
                                    struct gi_err *err)
{
    *table = (struct gi_shapes_table){0};
    struct gi_lines lines = {.file = fopen(path, "re"), .end = '\n'};
    if (!lines.file)
        return gi_fail(err, gi_status_of_errno(errno), "%s: %s", path, strerror(errno));
    enum gi_status status = read_lines(table, &lines, err);
    fclose(lines.file);
    gi_lines_free(&lines);
    return status ? gi_err_prefix(err, "%s", path) : GI_OK;
}

void gi_shapes_table_free(struct gi_shapes_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        free(table->rows[i].file);
        free(table->rows[i].text);
        free(table->rows[i].shape.v);
    }
    for (size_t i = 0; i < table->nclasses; i++)
        free(table->classes[i]);
    free(table->rows);
    free(table->classes);
    *table = (struct gi_shapes_table){0};
}

bool gi_shape_row_is_for(const struct gi_shape_row *row, const char *input)
{
    if (!row->file)
        return true;
    const char *slash = strrchr(row->file, '/'), *dot = strrchr(input, '.');
    size_t nrow = strlen(row->file), ninput = strlen(input);
    if (!strchr(slash ? slash : row->file, '.') && dot && !strchr(dot, '/'))
        ninput = (size_t)(dot - input); /* an identifier is a name without its suffix */
    const char *longer = nrow > ninput ? row->file : input;
    size_t nlonger = nrow > ninput ? nrow : ninput, n = nrow > ninput ? ninput : nrow;
    const char *end = longer + nlonger - n;
    return strncmp(end, longer == input ? row->file : input, n) == 0 &&
           (end == longer || end[-1] == '/');
}

const char *gi_shapes_table_first(const struct gi_shapes_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        if (!table->rows[i].file)
            return NULL;
    return table->n ? table->rows[0].file : NULL;
}
