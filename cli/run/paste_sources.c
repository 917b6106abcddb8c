/* Reads tables of points, or tables of components with their crops, as the sources of paste.
 * SPDX-License-Identifier: MIT */
#include "cli/run/paste_sources.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/csv.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/paths/crop_names.h"
#include "cli/run/other_colors.h"
#include "imgio/npy.h"

enum { PLACE_MAX = (1 << 24) - 1 /* largest coordinate, up to which floats hold all integers */ };

/* ---- points ---- */

/* The points read so far: `channels` floats each. */
struct points {
    float *v;
    size_t n, room;
    int channels;
};

static bool is_place(double v)
{
    return v == floor(v) && fabs(v) <= PLACE_MAX;
}

static enum gi_status add_point(struct points *points, const double *v, struct gi_err *err)
{
    size_t channels = (size_t)points->channels;
    if (!is_place(v[0]) || !is_place(v[1]))
        return gi_fail(err, GI_E_FORMAT, "a point at %.10g, %.10g: want whole pixels up to %d",
                       v[0], v[1], PLACE_MAX);
    if (points->n == INT32_MAX)
        return gi_fail(err, GI_E_LIMIT, "more than %d points", INT32_MAX);
    if (points->n == points->room) {
        size_t room = points->room ? 2 * points->room : 4096;
        float *grown = realloc(points->v, room * channels * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %zu points", room);
        points->v = grown;
        points->room = room;
    }
    for (size_t c = 0; c < channels; c++)
        points->v[points->n * channels + c] = (float)v[c];
    points->n++;
    return GI_OK;
}

static enum gi_status read_csv(struct points *points, const char *path, struct gi_err *err)
{
    static const char *const names[] = {"x", "y", "value"};
    struct gi_csv csv;
    double v[3];
    bool end = false;
    enum gi_status status = gi_csv_open(&csv, path, names, 3, 2, err);
    points->channels = csv.column[2] >= 0 ? 3 : 2;
    while (!status && !end) {
        status = gi_csv_next(&csv, v, &end, err);
        if (!status && !end)
            status = add_point(points, v, err);
        if (status)
            gi_err_prefix(err, "%s", path);
    }
    gi_csv_close(&csv);
    return status;
}

/* Reads the header of an array of points as the command extract writes it. Returns the number of
 * points, or -1 for another kind of array. */
static long long npy_points(FILE *file)
{
    static const char type[] = "[('x', '" GI_NPY_ORDER "u4'), ('y', '" GI_NPY_ORDER
                               "u4'), ('value', '" GI_NPY_ORDER "f4')]",
                      before[] = "'shape': (";
    unsigned char start[10];
    char head[4096];
    if (fread(start, 1, sizeof start, file) != sizeof start ||
        memcmp(start, "\x93NUMPY\x01", 7) != 0)
        return -1;
    size_t n = start[8] | (size_t)start[9] << 8;
    if (n >= sizeof head || fread(head, 1, n, file) != n)
        return -1;
    head[n] = '\0';
    const char *shape = strstr(head, before);
    if (!shape || !strstr(head, type))
        return -1;
    char *end;
    long long count = strtoll(shape + strlen(before), &end, 10);
    return strncmp(end, ",)", 2) == 0 ? count : -1;
}

static enum gi_status read_npy(struct points *points, const char *path, struct gi_err *err)
{
    struct {
        uint32_t x, y;
        float value;
    } row;
    FILE *file = fopen(path, "rb");
    if (!file)
        return gi_fail(err, GI_E_IO, "%s: %s", path, strerror(errno));
    long long n = npy_points(file);
    enum gi_status status = GI_OK;
    points->channels = 3;
    if (n < 0)
        status = gi_fail(err, GI_E_FORMAT, "%s: want an array as extract --points writes it", path);
    for (long long i = 0; i < n && !status; i++) {
        if (fread(&row, sizeof row, 1, file) != 1)
            status = gi_fail(err, GI_E_FORMAT, "%s: ends early, at point %lld of %lld", path, i, n);
        else if (add_point(points, (double[]){row.x, row.y, (double)row.value}, err))
            status = gi_err_prefix(err, "%s", path);
    }
    fclose(file);
    return status;
}

/* Makes an image of one row that has all points. If there are no points, it has one point outside
 * the image. */
static enum gi_status load_points(struct gi_image *image, const char *path, struct gi_err *err)
{
    struct points points = {0};
    enum gi_status status =
        gi_npy_is(path) ? read_npy(&points, path, err) : read_csv(&points, path, err);
    if (!status && !points.n) {
        status = add_point(&points, (double[]){-1, -1, 0}, err);
    }
    if (!status)
        status = gi_image_alloc(image, (int)points.n, 1, points.channels, GI_F32, err);
    if (!status)
        memcpy(image->data, points.v, gi_row_nbytes(image));
    free(points.v);
    return status ? gi_err_prefix(err, "--points") : GI_OK;
}

/* ---- crops ---- */

struct region {
    int label, x, y, width, height;
};

struct regions {
    struct region *at;
    size_t n;
};

static enum gi_status add_region(struct regions *regions, const double *v, struct gi_err *err)
{
    for (int i = 0; i < 5; i++)
        if (!is_place(v[i]) || v[i] < (i == 1 || i == 2 ? 0 : 1))
            return gi_fail(err, GI_E_FORMAT,
                           "region %.10g: %.10g x %.10g at %.10g, %.10g: "
                           "want whole pixels up to %d",
                           v[0], v[3], v[4], v[1], v[2], PLACE_MAX);
    if ((regions->n & (regions->n - 1)) == 0) {
        size_t room = regions->n ? 2 * regions->n : 1;
        struct region *grown = realloc(regions->at, room * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %zu regions", room);
        regions->at = grown;
    }
    regions->at[regions->n++] =
        (struct region){(int)v[0], (int)v[1], (int)v[2], (int)v[3], (int)v[4]};
    return GI_OK;
}

static enum gi_status add_json_region(struct regions *regions, json_t *row, struct gi_err *err)
{
    double v[5];
    if (json_unpack(row, "{s:F, s:[F, F, F, F]}", "label", &v[0], "bbox", &v[1], &v[2], &v[3],
                    &v[4]))
        return gi_fail(err, GI_E_FORMAT, "want regions with label and bbox");
    return add_region(regions, v, err);
}

/* Reads JSON as the command extract writes it, which is one object for all components. If `lines`
 * is true, reads one object per line instead. */
static enum gi_status add_json(struct regions *regions, const char *text, bool lines,
                               struct gi_err *err)
{
    json_t *value = gi_json_read(text), *all = json_object_get(value, "regions"), *row;
    size_t i;
    enum gi_status status = GI_OK;
    if (!value || (!lines && !json_is_array(all)))
        status = gi_fail(err, GI_E_FORMAT, "want JSON as extract writes it");
    if (!status && lines)
        status = add_json_region(regions, value, err);
    json_array_foreach(all, i, row) if (!status && !lines) status =
        add_json_region(regions, row, err);
    json_decref(value);
    return status;
}

static enum gi_status read_json(struct regions *regions, const char *path, bool lines,
                                struct gi_err *err)
{
    enum { JSON_MAX = 1 << 30 }; /* bytes of a table that is no JSON lines */
    FILE *file = fopen(path, "r");
    enum gi_status status = GI_OK;
    if (!file)
        return gi_fail(err, gi_status_of_errno(errno), "%s: %s", path, strerror(errno));
    struct gi_lines text = {
        .file = file, .end = lines ? '\n' : EOF, .max = lines ? GI_LINE_MAX : JSON_MAX};
    bool more = true;
    while (!status) {
        status = gi_lines_next(&text, &more, err);
        if (status)
            gi_err_prefix(err, "%s", path);
        if (status || !more)
            break;
        if (text.text[strspn(text.text, " \t\r\n")] == '\0')
            continue;
        status = add_json(regions, text.text, lines, err);
        if (status && lines)
            gi_err_prefix(err, "%s: line %zu", path, text.number);
        else if (status)
            gi_err_prefix(err, "%s", path);
    }
    gi_lines_free(&text);
    fclose(file);
    return status;
}

static enum gi_status read_csv_regions(struct regions *regions, const char *path,
                                       struct gi_err *err)
{
    static const char *const names[] = {"label", "bbox_x", "bbox_y", "bbox_width", "bbox_height"};
    struct gi_csv csv;
    double v[5];
    bool end = false;
    enum gi_status status = gi_csv_open(&csv, path, names, 5, 5, err);
    while (!status && !end) {
        status = gi_csv_next(&csv, v, &end, err);
        if (!status && !end)
            status = add_region(regions, v, err);
        if (status)
            gi_err_prefix(err, "%s", path);
    }
    gi_csv_close(&csv);
    return status;
}

/* Reads the table. The suffix of `path` gives the format, which is CSV if there is no suffix. */
static enum gi_status read_regions(struct regions *regions, const char *path, struct gi_err *err)
{
    const char *dot = strrchr(path, '.');
    bool lines = dot && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".ndjson") == 0);
    bool json = lines || (dot && strcasecmp(dot, ".json") == 0);
    enum gi_status status =
        json ? read_json(regions, path, lines, err) : read_csv_regions(regions, path, err);
    return status ? gi_err_prefix(err, "--table") : GI_OK;
}

/* The sources so far: n pixels, in images of one row that have room for more. */
struct pieces {
    struct gi_image places, values;
    size_t n;
    struct gi_metadata *colors; /* 2 places, for the colours of a crop and of one that differs */
};

/* Makes room for `more` pixels of a crop. Called only after the crop has been loaded, so that a
 * table that merely states large sizes takes no memory. */
static enum gi_status make_room(struct pieces *pieces, size_t more, int channels, enum gi_type type,
                                struct gi_err *err)
{
    size_t want = pieces->n + more, room = 2 * pieces->n;
    if (want > INT32_MAX)
        return gi_fail(err, GI_E_LIMIT, "more than %d pixels of crops", INT32_MAX);
    if (want <= (size_t)pieces->places.width)
        return GI_OK;
    room = room < want ? want : room > INT32_MAX ? INT32_MAX : room;
    struct pieces grown = {.n = pieces->n, .colors = pieces->colors};
    enum gi_status status = gi_image_alloc(&grown.places, (int)room, 1, 2, GI_F32, err);
    if (!status)
        status = gi_image_alloc(&grown.values, (int)room, 1, channels, type, err);
    if (status) {
        gi_image_free(&grown.places);
        return status;
    }
    if (pieces->n) {
        size_t pixel = (size_t)channels * gi_type_nbytes(type);
        memcpy(grown.places.data, pieces->places.data, pieces->n * 2 * sizeof(float));
        memcpy(grown.values.data, pieces->values.data, pieces->n * pixel);
    }
    gi_image_free(&pieces->places);
    gi_image_free(&pieces->values);
    *pieces = grown;
    return GI_OK;
}

/* Computes *first, the coordinate at which the command extract begins the crop of a component. The
 * component begins at `at` and is `length` pixels long. Returns false if its crop can't be `crop`
 * pixels long. */
static bool fits(int *first, int at, int length, int margin, int crop)
{
    *first = at > margin ? at - margin : 0;
    int least = at - *first + length;
    return crop >= least && crop - least <= margin;
}

static enum gi_status add_crop(struct pieces *pieces, const struct gi_image *crop,
                               const struct region *region, int margin, struct gi_err *err)
{
    const struct gi_image *first = &pieces->values;
    int x0, y0;
    if (!fits(&x0, region->x, region->width, margin, crop->width) ||
        !fits(&y0, region->y, region->height, margin, crop->height))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is %d x %d, want %d x %d as its row has it, or another --crop-margin",
                       crop->width, crop->height, region->width, region->height);
    if (pieces->n && (crop->type != first->type || crop->channels != first->channels))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is %s, %d channel%s: want %s, %d as the crop of the first row",
                       gi_type_word(crop->type), crop->channels, crop->channels == 1 ? "" : "s",
                       gi_type_word(first->type), first->channels);
    enum gi_status status = make_room(pieces, (size_t)crop->width * (size_t)crop->height,
                                      crop->channels, crop->type, err);
    if (status)
        return status;
    float *place = (float *)pieces->places.data + 2 * pieces->n;
    for (int y = 0; y < crop->height; y++) {
        size_t pixel = gi_row_nbytes(crop) / (size_t)crop->width;
        memcpy((char *)first->data + pieces->n * pixel, gi_row(crop, y), gi_row_nbytes(crop));
        for (int x = 0; x < crop->width; x++) {
            *place++ = (float)(x0 + x);
            *place++ = (float)(y0 + y);
        }
        pieces->n += (size_t)crop->width;
    }
    return GI_OK;
}

/* Keeps the colours of a crop, which are freed, if they are not those of crops before it. */
static void keep_colors(struct gi_metadata *colors, struct gi_metadata *metadata)
{
    const struct gi_metadata none = {0};
    bool first = !gi_other_colors_differ(&colors[0], &none);
    bool more = first ? gi_other_colors_differ(metadata, &none)
                      : gi_other_colors_differ(metadata, &colors[0]);
    if (more && (first || !gi_other_colors_differ(&colors[1], &none)))
        gi_other_colors_keep(&colors[!first], metadata);
    else
        gi_metadata_free(metadata);
}

static enum gi_status load_crop(struct pieces *pieces, const struct regions *regions, size_t i,
                                const struct gi_paste_params *p, const struct gi_io_params *io,
                                int threads, struct gi_err *err)
{
    char path[GI_CROP_PATH_NBYTES];
    struct gi_image crop = {0};
    struct gi_metadata metadata = {0};
    uint32_t label = (uint32_t)regions->at[i].label;
    enum gi_status status = gi_crop_path(path, p->crops, label, p->crop_format, err);
    if (!status)
        status = gi_cli_load(&crop, &metadata, NULL, path, io, threads, NULL, err);
    if (status)
        return status;
    if (add_crop(pieces, &crop, &regions->at[i], p->crop_margin, err))
        status = gi_err_prefix(err, "%s", path);
    keep_colors(pieces->colors, &metadata);
    gi_image_free(&crop);
    return status;
}

/* Loads the crops. Where crops overlap, the later row is pasted over the earlier one. */
static enum gi_status load_crops(struct gi_image *places, struct gi_image *values,
                                 struct gi_metadata *colors, const struct gi_paste_params *p,
                                 const struct gi_io_params *io, int threads, struct gi_err *err)
{
    struct regions regions = {0};
    struct pieces pieces = {.colors = colors};
    enum gi_status status = read_regions(&regions, p->table, err);
    for (size_t i = 0; i < regions.n && !status; i++) {
        status = load_crop(&pieces, &regions, i, p, io, threads, err);
        if (status)
            gi_err_prefix(err, "--crops");
    }
    if (!status && !regions.n) { /* a pixel outside the image */
        status = make_room(&pieces, 1, 1, GI_U8, err);
        if (!status) {
            memset(pieces.values.data, 0, 1);
            ((float *)pieces.places.data)[0] = ((float *)pieces.places.data)[1] = -1;
            pieces.n = 1;
        }
    }
    pieces.places.width = pieces.values.width = (int)pieces.n;
    *places = pieces.places;
    *values = pieces.values;
    free(regions.at);
    return status;
}

enum gi_status gi_paste_load(struct gi_image *others, int *n, struct gi_metadata *colors,
                             const struct gi_paste_params *params, const struct gi_io_params *io,
                             int threads, struct gi_err *err)
{
    *n = params->points ? 1 : 2;
    return params->points ? load_points(&others[0], params->points, err)
                          : load_crops(&others[0], &others[1], colors, params, io, threads, err);
}
