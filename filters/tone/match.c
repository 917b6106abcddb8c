/* Histogram matching to a reference image or to given counts: maps each sample to the value at
 * which the cumulative histogram of the reference equals that of the image.
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/tone/curve.h"
#include "imgio/small.h"

/* Maximum columns of a table of counts, and maximum count, so that sums do not overflow. */
enum { COLUMNS_MAX = 8 };
#define COUNT_MAX 0x1p40

struct match_params {
    const char *reference, *histogram;
};

static const struct gi_option options[] = {
    {GI_OPTION("reference", IMAGE, struct match_params, reference), .letter = 'r', .picture = true,
     .example = "reference.png", .one_of = true, .help = "Image whose histogram the result gets"},
    {GI_OPTION("histogram", CONTENT, struct match_params, histogram), .metavar = "ROWS|FILE",
     .help = "Counts of the reference, one row per sample value, as gpuimg histogram --bins 256 "
             "--format csv prints them"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct match_params *p = params;
    if (p->reference && p->histogram)
        return gi_fail(err, GI_E_USAGE, "--reference, --histogram: want one of them");
    if (!p->reference && !p->histogram)
        return gi_fail(err, GI_E_USAGE, "--reference: missing: want an image, or --histogram");
    return GI_OK;
}

/* Returns the number of columns before the counts in a line of names. These columns end with "hi",
 * as the command gpuimg histogram writes them. *text moves to the next line. */
static int read_names(const char **text)
{
    const char *end = *text + strcspn(*text, "\r\n"), *hi = strstr(*text, ",hi,");
    int before = hi && hi < end ? 2 : 0;
    for (const char *at = *text; before && at < hi; at++)
        before += *at == ',';
    *text = end + strspn(end, "\r\n");
    return before;
}

/* Reads the numbers in the line at *text, and moves *text to the next line. Returns how many
 * numbers there are, or -1 if the line contains anything else. */
static int read_numbers(double v[COLUMNS_MAX], const char **text)
{
    for (int n = 0;;) {
        *text += strspn(*text, " \t,");
        if (!**text || **text == '\r' || **text == '\n') {
            *text += strspn(*text, "\r\n");
            return n;
        }
        if (n == COLUMNS_MAX || !gi_number_read(&v[n++], *text, text))
            return -1;
    }
}

/* Takes the counts of value i from `v`, which has the `columns` counts of a line. */
static enum gi_status take_row(uint64_t *counts, const double *v, int columns, int i, int n,
                               int channels, struct gi_err *err)
{
    if (columns < 1 || (columns < channels && columns > 1))
        return gi_fail(err, GI_E_USAGE, "--histogram: row %d: want a number for all channels or %d",
                       i + 1, channels);
    for (int c = 0; c < channels; c++) {
        double count = v[columns == 1 ? 0 : c];
        if (!(count >= 0 && count <= COUNT_MAX && count == floor(count)))
            return gi_fail(err, GI_E_USAGE,
                           "--histogram: row %d: %g: want a whole number, 0 to %.0f", i + 1, count,
                           COUNT_MAX);
        counts[c * n + i] = (uint64_t)count;
    }
    return GI_OK;
}

/* Sets plan->tables to the given histogram, which has the count of each value for each colour
 * channel. */
static enum gi_status read_histogram(struct gi_plan *plan, const char *text, int n, int channels,
                                     struct gi_err *err)
{
    double v[COLUMNS_MAX];
    uint64_t *counts = gi_plan_tables(plan, (size_t)n * (size_t)channels * sizeof *counts, err);
    enum gi_status status = counts ? GI_OK : GI_E_MEMORY;
    int rows = 0, before = isalpha((unsigned char)*text) ? read_names(&text) : 0;
    for (text += strspn(text, "\r\n"); !status && *text; rows++) {
        int columns = rows < n ? read_numbers(v, &text) : 0;
        if (columns < 0)
            return gi_fail(err, GI_E_USAGE, "--histogram: row %d: want numbers", rows + 1);
        if (rows == n)
            return gi_fail(err, GI_E_USAGE, "--histogram: more than %d rows, one for each value",
                           n);
        status = take_row(counts, v + before, columns - before, rows, n, channels, err);
    }
    if (!status && rows < n)
        status = gi_fail(err, GI_E_USAGE, "--histogram: %d row%s: want %d, one for each value",
                         rows, rows == 1 ? "" : "s", n);
    for (int c = 0; c < channels && !status; c++)
        if (!gi_curve_total(counts + c * n, plan->sources[0].type))
            status = gi_fail(err, GI_E_USAGE, "--histogram: all counts of a channel are 0");
    return status;
}

static int values_of(const struct gi_plan *plan)
{
    return gi_curve_values(plan->sources[0].type);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct match_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *like = &plan->sources[1];
    plan->passes = 1;
    plan->state_nbytes = (size_t)values_of(plan) * (size_t)src->channels * sizeof(uint64_t);
    plan->cost.other = p->histogram ? 10 : 18;
    if (p->histogram)
        return read_histogram(plan, p->histogram, values_of(plan), gi_color_channels(src), err);
    plan->state_nbytes += (size_t)values_of(plan) * (size_t)like->channels * sizeof(uint64_t);
    if (like->type != src->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "a reference of %d-bit samples: want %d bits, as the image",
                       8 * (int)gi_type_nbytes(like->type), 8 * (int)gi_type_nbytes(src->type));
    if (gi_color_channels(like) != gi_color_channels(src))
        return gi_fail(err, GI_E_UNSUPPORTED, "a reference of %d colour%s: want %d, as the image",
                       gi_color_channels(like), gi_color_channels(like) == 1 ? "" : "s",
                       gi_color_channels(src));
    return GI_OK;
}

/* Sets shares[v] to the fraction of the samples that are at most v. Returns whether there are
 * samples. */
static bool fill_shares(double *shares, const uint64_t *counts, int n)
{
    int64_t sum = 0;
    for (int v = 0; v < n; v++)
        shares[v] = (double)(sum += (int64_t)counts[v]);
    double total = (double)sum;
    for (int v = 0; v < n; v += GI_CURVE_PART)
        for (int i = 0; i < GI_CURVE_PART; i++)
            shares[v + i] /= total;
    return sum > 0;
}

/* Computes the curve from the shares of the image, which it replaces. It maps v to the value at
 * which the reference has the same fraction of samples up to that value as the image has up to v.
 * Between the values that occur in the reference it is interpolated linearly. shares[n], after
 * those of the reference, is infinite. */
static void fill_curve(double *to, const uint64_t *like, const double *shares, int n)
{
    int before = -1, at = 0; /* the values that occur with a share of at most, and above, to[v] */
    for (int v = 0; v < n; v++) {
        while (shares[at] <= to[v]) {
            before = like[at] ? at : before;
            at++;
        }
        if (before < 0 || at == n) {
            to[v] = before < 0 ? at : before;
            continue;
        }
        double low = shares[at - 1], high = shares[at];
        to[v] = (double)(at - before) / (high - low) * (to[v] - low) + (double)before;
    }
}

/* Counts the sample values of a band of the image and, if there is one, of the reference. `state`
 * has the counts of the image first, then those of the reference. */
static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    int n = values_of(plan);
    uint64_t *counts = state, *like = counts + n * plan->sources[0].channels;
    enum gi_status status = gi_curve_count(queue, counts, look->srcs, err);
    if (!status && plan->nsources > 1 && look->srcs[1].data)
        status = gi_curve_count(queue, like, &look->srcs[1], err);
    return status;
}

/* Returns the rows of the reference that a band needs. The first band needs all rows, and other
 * bands need none. */
static struct gi_span beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    return (struct gi_span){0, y0 == 0 ? plan->sources[j].height : 0};
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const uint64_t *given = plan->tables; /* NULL: there is a reference image */
    const struct gi_image *src = &plan->sources[0];
    int n = values_of(plan), channels = gi_color_channels(src);
    unsigned stays = 0;
    const uint64_t *counts = work->state, *found = counts + n * src->channels;
    size_t size = (size_t)n * (size_t)channels, room = size + (size_t)n + 1;
    double *to = gi_small_alloc(room * sizeof *to), *shares = to + size;
    shares[n] = INFINITY;
    for (int c = 0; c < channels; c++) {
        const uint64_t *like = (given ? given : found) + c * n;
        if (fill_shares(to + c * n, counts + c * n, n) && fill_shares(shares, like, n))
            fill_curve(to + c * n, like, shares, n);
        else /* floats, none of them from 0 to 1 */
            stays |= 1u << c;
    }
    enum gi_status status = gi_curve_run(queue, work, &(struct gi_curve){to, true, stays}, err);
    free(to);
    return status;
}

const struct gi_filter gi_filter_match = {
    .name = "match",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Histogram matching to a reference image",
    .examples = "gpuimg match in.png out.png --reference good.png\n"
                "gpuimg match frame2.tif out.tif -r frame1.tif\n"
                "gpuimg match evening.jpg out.jpg --reference noon.jpg\n"
                "gpuimg match in.png out.png --histogram counts.csv",
    .manual =
        "The image gets the histogram of a reference image: each sample becomes the value that "
        "has the same place in the cumulative histogram of the reference. Each channel is "
        "matched separately. Transparent pixels count, and alpha does not change. The reference "
        "may have any size, but must have the sample type and the number of colours of the "
        "image.\n\n"
        "In place of --reference, --histogram gives the counts of a reference: one row per "
        "sample value, beginning with 0. An 8-bit image needs 256 rows, and other images need "
        "65536. Each row has one number for all channels or one per channel, separated by blanks "
        "or commas. A first line of names is skipped. The output of gpuimg histogram --format "
        "csv is understood too: there the counts begin after the column \"hi\".\n\n" GI_CURVE_FLOATS
        " If the image or the reference has no samples from 0 to 1, nothing changes.\n\n"
        "The result is that of scikit-image's match_histograms() with each channel alone, except "
        "that it is rounded in integer images; a tie is rounded to the even number. The "
        "cumulative histogram of the reference is interpolated linearly, in double precision, "
        "between the values that occur in it. Samples whose cumulative share is below that of the "
        "first value become the first value.",
    .options = options,
    .params_nbytes = sizeof(struct match_params),
    .check = check,
    .plan = plan,
    .sources.beside = beside,
    .run = run,
    .measure = measure,
};
