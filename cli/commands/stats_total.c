/* The row of `gpuimg stats --total`: computes the statistics of all images of a table from the
 * statistics of the single images.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stats_total.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/text.h"

enum { CHANNELS_MAX = 16, COLUMNS_MAX = 128, NAME_NBYTES = 40 };

/* The columns that can be computed from the same columns of single images. */
enum {
    COUNT,
    NOT_A_NUMBER,
    ABOVE,
    BELOW,
    SUM,
    MEAN,
    STDDEV,
    VARIANCE,
    MIN,
    MAX,
    RANGE,
    L1,
    L2,
    RMS,
    KNOWN
};
static const char *const known[KNOWN] = {"count",
                                         "nan",
                                         "positive_infinity",
                                         "negative_infinity",
                                         "sum",
                                         "mean",
                                         "stddev",
                                         "variance",
                                         "min",
                                         "max",
                                         "range",
                                         "l1",
                                         "l2",
                                         "rms"};

struct channel {
    char name[NAME_NBYTES];
    double v[KNOWN]; /* NAN: none yet */
};

struct gi_total {
    bool json;
    uint64_t images;
    int ncolumns; /* after that of the channel */
    char columns[COLUMNS_MAX][NAME_NBYTES];
    int nchannels;
    struct channel channels[CHANNELS_MAX]; /* in the order in which they appear */
};

static int known_of(const char *column)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i], column) == 0)
            return i;
    return strcmp(column, "deviation") == 0 ? STDDEV : -1; /* the older key of JSON */
}

/* Joins the moments of two sets of samples, by formulas that lose no digits if the means are large
 * (T. F. Chan, G. H. Golub, R. J. LeVeque 1979). */
static void join(double *to, const double *from)
{
    double n = to[COUNT] + from[COUNT], apart = from[MEAN] - to[MEAN];
    for (int i = COUNT; i <= SUM; i++)
        to[i] += from[i];
    to[L1] += from[L1];
    to[L2] = hypot(to[L2], from[L2]);
    if (!from[COUNT])
        return;
    double before = n - from[COUNT];
    double squares = before ? to[VARIANCE] * before : 0;
    squares += from[VARIANCE] * from[COUNT];
    squares += before ? apart * apart * before * from[COUNT] / n : 0;
    to[MEAN] = before ? to[MEAN] + apart * from[COUNT] / n : from[MEAN];
    to[VARIANCE] = squares / n;
    to[STDDEV] = sqrt(to[VARIANCE]);
    to[MIN] = fmin(to[MIN], from[MIN]); /* of NAN and a number the number */
    to[MAX] = fmax(to[MAX], from[MAX]);
    to[RANGE] = to[MAX] - to[MIN];
    to[RMS] = to[L2] / sqrt(n);
}

static enum gi_status add_channel(struct gi_total *total, const struct channel *from,
                                  struct gi_err *err)
{
    int i = 0;
    while (i < total->nchannels && strcmp(total->channels[i].name, from->name) != 0)
        i++;
    if (i == CHANNELS_MAX)
        return gi_fail(err, GI_E_LIMIT, "--total: more than %d channels", CHANNELS_MAX);
    struct channel *to = &total->channels[i];
    if (i == total->nchannels) {
        *to = (struct channel){.v = {[MEAN] = NAN,
                                     [STDDEV] = NAN,
                                     [VARIANCE] = NAN,
                                     [MIN] = NAN,
                                     [MAX] = NAN,
                                     [RANGE] = NAN,
                                     [RMS] = NAN}};
        memcpy(to->name, from->name, sizeof to->name);
        total->nchannels++;
    }
    join(to->v, from->v);
    return GI_OK;
}

/* Copies the field at *text up to a comma or the end of the line, and moves *text after it. */
static void read_field(char field[NAME_NBYTES], const char **text)
{
    size_t n = strcspn(*text, ",\n");
    snprintf(field, NAME_NBYTES, "%.*s", (int)n, *text);
    *text += n + ((*text)[n] == ',');
}

static enum gi_status add_csv(struct gi_total *total, const char *text, struct gi_err *err)
{
    char field[NAME_NBYTES];
    enum gi_status status = GI_OK;
    read_field(field, &text); /* "channel" */
    for (total->ncolumns = 0; *text && *text != '\n' && total->ncolumns < COLUMNS_MAX;)
        read_field(total->columns[total->ncolumns++], &text);
    while (*text == '\n' && text[1] && !status) {
        struct channel channel = {0};
        text++;
        read_field(channel.name, &text);
        for (int i = 0; i < total->ncolumns; i++) {
            int at = known_of(total->columns[i]);
            read_field(field, &text);
            if (at >= 0)
                channel.v[at] = *field ? strtod(field, NULL) : NAN;
        }
        status = add_channel(total, &channel, err);
    }
    return status;
}

static enum gi_status add_json(struct gi_total *total, const char *text, size_t nbytes,
                               struct gi_err *err)
{
    json_t *object = json_loadb(text, nbytes, 0, NULL), *value, *each;
    const char *key;
    size_t c;
    enum gi_status status = GI_OK;
    if (!object)
        return gi_fail(err, GI_E_MEMORY, "out of memory: --total");
    json_array_foreach(json_object_get(object, "channels"), c, each)
    {
        struct channel channel = {0};
        total->ncolumns = 0;
        json_object_foreach(each, key, value)
        {
            int at = known_of(key);
            if (strcmp(key, "name") == 0)
                snprintf(channel.name, sizeof channel.name, "%s", json_string_value(value));
            else if (total->ncolumns < COLUMNS_MAX)
                snprintf(total->columns[total->ncolumns++], NAME_NBYTES, "%s", key);
            if (at >= 0)
                channel.v[at] = json_is_number(value) ? json_number_value(value) : NAN;
        }
        if (!status)
            status = add_channel(total, &channel, err);
    }
    json_decref(object);
    return status;
}

enum gi_status gi_stats_total_add(struct gi_total **out, const char *text, size_t nbytes, bool json,
                                  struct gi_err *err)
{
    char *copy = strndup(text, nbytes); /* ends in a zero byte */
    if (!*out)
        *out = calloc(1, sizeof **out);
    enum gi_status status = GI_OK;
    if (!*out || !copy)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: --total");
    if (!status) {
        (*out)->json = json;
        (*out)->images++;
        status = json ? add_json(*out, copy, nbytes, err) : add_csv(*out, copy, err);
    }
    free(copy);
    return status;
}

static void print_csv(FILE *out, const struct gi_total *total)
{
    fputs("channel", out);
    for (int i = 0; i < total->ncolumns; i++)
        fprintf(out, ",%s", total->columns[i]);
    for (int c = 0; c < total->nchannels; c++) {
        fprintf(out, "\n%s", total->channels[c].name);
        for (int i = 0; i < total->ncolumns; i++) {
            int at = known_of(total->columns[i]);
            double v = at < 0 ? NAN : total->channels[c].v[at];
            fputs(",", out);
            if (!isnan(v))
                fprintf(out, "%.17g", v);
        }
    }
    putc('\n', out);
}

static enum gi_status print_json(FILE *out, const struct gi_total *total, struct gi_err *err)
{
    json_t *object = json_object(), *channels = json_array();
    json_object_set_new(object, "file", json_string("total"));
    json_object_set_new(object, "images", json_integer((json_int_t)total->images));
    for (int c = 0; c < total->nchannels; c++) {
        json_t *channel = json_object();
        json_object_set_new(channel, "name", json_string(total->channels[c].name));
        for (int i = 0; i < total->ncolumns; i++) {
            int at = known_of(total->columns[i]);
            double v = at < 0 ? NAN : total->channels[c].v[at];
            bool whole = at >= COUNT && at <= BELOW;
            json_object_set_new(channel, total->columns[i],
                                whole      ? json_integer((json_int_t)v)
                                : isnan(v) ? json_null()
                                           : gi_json_real(v));
        }
        json_array_append_new(channels, channel);
    }
    json_object_set_new(object, "channels", channels);
    return gi_json_print_for(-1, out, object, 0, err);
}

enum gi_status gi_stats_total_take(struct gi_total **total, char **text, size_t *nbytes,
                                   struct gi_err *err)
{
    struct gi_text_memory memory;
    enum gi_status status = GI_OK;
    *text = NULL;
    FILE *out = *total ? gi_text_open(&memory) : NULL;
    if (*total && !out)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: --total");
    if (out) {
        if ((*total)->json)
            status = print_json(out, *total, err);
        else
            print_csv(out, *total);
        *text = gi_text_close(out, &memory);
        *nbytes = memory.nbytes;
        if (!*text && !status)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: --total");
    }
    free(*total);
    *total = NULL;
    return status;
}
