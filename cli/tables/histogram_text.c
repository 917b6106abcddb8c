/* Prints the histogram as text: a table of statistics, then counts or bars.
 * SPDX-License-Identifier: MIT */
#include "cli/args/reporter.h"
#include "cli/plot/plot.h"
#include "cli/tables/histogram_text.h"

#include <math.h>
#include <string.h>

enum {
    CELL = 12, /* width of a column */
    /* Maximum number of bins that are printed on a line each. If there are more, bins are combined
       into GROUPS lines. */
    LINES_MAX = 64,
    GROUPS = 16, /* number of lines for more than LINES_MAX bins */
    BAR_COLUMNS = 64,
    BAR_LINES = 8,
};

double gi_histogram_edge(const struct gi_histogram *histogram, int i)
{
    const struct gi_histogram_channel *channel = &histogram->channels[0];
    return i == histogram->nbins
               ? channel->hi
               : channel->lo + i * ((channel->hi - channel->lo) / histogram->nbins);
}

#define COLUMN(as, kind, member) GI_COLUMN(as, NULL, kind, struct gi_histogram_channel, member)
const struct gi_column gi_histogram_columns[GI_HISTOGRAM_COLUMNS] = {
    COLUMN("count", WHOLE, total),    COLUMN("total", WHOLE, total), /* the name of count before
                                                                        0.1.0, for programs that
                                                                        read it */
    COLUMN("nan", WHOLE, nan),        COLUMN("mean", REAL, mean),    COLUMN("stddev", REAL, stddev),
    COLUMN("min", REAL, min),         COLUMN("max", REAL, max),      COLUMN("median", REAL, median),
    COLUMN("entropy", REAL, entropy),
};

static void print_line(FILE *out, const struct gi_histogram_view *view, struct gi_column column,
                       const char *name)
{
    static const struct gi_cell_style style = {6, "-", CELL, CELL};
    const struct gi_histogram *histogram = view->histogram;
    column.name = name;
    gi_cells_line(out, &column, &style, histogram->channels, sizeof *histogram->channels,
                  histogram->nchannels);
}

static void print_statistics(FILE *out, const struct gi_histogram_view *view)
{
    enum { COUNT, NANS = 2, MEAN, STDDEV, MIN, MAX, MEDIAN, ENTROPY }; /* of the columns */
    static const int order[] = {COUNT, NANS, MIN, MAX, MEAN, STDDEV, ENTROPY, MEDIAN};
    const struct gi_histogram *histogram = view->histogram;
    bool nan = false;
    for (int c = 0; c < histogram->nchannels; c++)
        nan = nan || histogram->channels[c].nan > 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct gi_column *column = &gi_histogram_columns[order[i]];
        if (order[i] != NANS || nan)
            print_line(out, view, *column, order[i] == NANS ? "NaN" : column->name);
    }
    for (int i = 0; i < histogram->npercentiles; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%g", view->percentiles[i]);
        print_line(out, view, (struct gi_column)COLUMN("", REAL, percentiles[i]), name);
    }
}

/* Returns the sum of bins `from` to `to` - 1. */
static uint64_t gathered(const struct gi_histogram_view *view, int channel, int from, int to)
{
    const uint64_t *bins = view->histogram->channels[channel].bins;
    uint64_t sum = 0;
    if (view->cumulative)
        return bins[to - 1];
    for (int i = from; i < to; i++)
        sum += bins[i];
    return sum;
}

/* Prints the range of bins `from` to `to` - 1. For integers it is the first and the last value, "16
 * - 31", and for floats the lower and the upper end, "0.25 - 0.5". */
static void print_range(FILE *out, const struct gi_histogram_view *view, int from, int to)
{
    double lo = gi_histogram_edge(view->histogram, from),
           hi = gi_histogram_edge(view->histogram, to);
    char words[64];
    if (view->image->type != GI_F32) {
        lo = ceil(lo);
        hi = to == view->histogram->nbins ? floor(hi) : ceil(hi) - 1;
    }
    if (lo < hi || view->image->type == GI_F32)
        snprintf(words, sizeof words, "%.5g - %.5g", lo, hi);
    else if (lo == hi)
        snprintf(words, sizeof words, "%.5g", lo);
    else
        snprintf(words, sizeof words, "-");
    fprintf(out, "%-*s", 2 * CELL, words);
}

static void print_counts(FILE *out, const struct gi_histogram_view *view)
{
    const struct gi_histogram *histogram = view->histogram;
    int lines = histogram->nbins <= LINES_MAX ? histogram->nbins : GROUPS;
    fprintf(out, "\n%-*s", 2 * CELL, view->cumulative ? "values up to" : "values");
    for (int c = 0; c < histogram->nchannels; c++)
        fprintf(out, "%*s", CELL, histogram->channels[c].name);
    putc('\n', out);
    for (int i = 0; i < lines; i++) {
        int from = (int)((long long)i * histogram->nbins / lines);
        int to = (int)((long long)(i + 1) * histogram->nbins / lines);
        print_range(out, view, from, to);
        for (int c = 0; c < histogram->nchannels; c++)
            fprintf(out, "%*llu", CELL, (unsigned long long)gathered(view, c, from, to));
        putc('\n', out);
    }
}

/* Returns the character that draws one line of a bar. The bar is `eighths` eighths of a line high,
 * and the line begins at height `foot`, also in eighths. */
static const char *block(int eighths, int foot, bool unicode)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int rest = eighths - foot < 0 ? 0 : eighths - foot > 8 ? 8 : eighths - foot;
    if (unicode)
        return blocks[rest];
    return rest >= 6 ? "#" : rest >= 3 ? ":" : rest >= 1 ? "." : " ";
}

/* Computes the heights of the bars in eighths of a line. Any nonzero count gives at least 1. */
static uint64_t bar_heights(int *eighths, const struct gi_histogram_view *view, int c, int columns)
{
    int nbins = view->histogram->nbins;
    uint64_t counts[BAR_COLUMNS], most = 0;
    for (int i = 0; i < columns; i++) {
        int from = (int)((long long)i * nbins / columns);
        int to = (int)((long long)(i + 1) * nbins / columns);
        counts[i] = gathered(view, c, from, to > from ? to : from + 1);
        most = counts[i] > most ? counts[i] : most;
    }
    for (int i = 0; i < columns; i++) {
        double part = most == 0   ? 0
                      : view->log ? log1p((double)counts[i]) / log1p((double)most)
                                  : (double)counts[i] / (double)most;
        eighths[i] = (int)rint(part * BAR_LINES * 8);
        eighths[i] = counts[i] && eighths[i] == 0 ? 1 : eighths[i];
    }
    return most;
}

/* Prints the axis below the bars: ticks at round values, and the values. */
static void print_axis(FILE *out, const struct gi_histogram_view *view, int columns)
{
    const struct gi_histogram_channel *channel = &view->histogram->channels[0];
    double span = channel->hi - channel->lo, step = gi_tick_step(span > 0 ? span : 1, 6);
    bool marks[BAR_COLUMNS] = {false};
    char words[BAR_COLUMNS + 32] = "";
    size_t used = 0;
    for (double i = ceil(channel->lo / step - 1e-9); i * step <= channel->hi + 1e-9 * step; i++) {
        int at = span > 0 ? (int)floor((i * step - channel->lo) / span * columns) : 0;
        at = at < columns ? at : columns - 1;
        char value[32];
        snprintf(value, sizeof value, "%.6g", i * step + 0.0);
        marks[at] = true;
        if (at > 0 && used > 0 && (size_t)at <= used) /* no room for a blank before it */
            continue;
        used +=
            (size_t)snprintf(words + used, sizeof words - used, "%*s%s", at - (int)used, "", value);
    }
    fprintf(out, "%*s %s", CELL, "0", view->unicode ? "└" : "+");
    for (int i = 0; i < columns; i++)
        fputs(marks[i] ? (view->unicode ? "┬" : "+") : (view->unicode ? "─" : "-"), out);
    fprintf(out, "\n%*s  %s\n", CELL, "", words);
}

/* Returns the colour of a channel's bars as a parameter of ECMA-48's SGR, or NULL for the colour of
 * text. */
static const char *sgr(const char *name)
{
    return strcmp(name, "red") == 0     ? "31"
           : strcmp(name, "green") == 0 ? "32"
           : strcmp(name, "blue") == 0  ? "34"
           : strcmp(name, "alpha") == 0 ? "35"
                                        : NULL;
}

static void print_bars(FILE *out, const struct gi_histogram_view *view, int c)
{
    const struct gi_histogram *histogram = view->histogram;
    int columns = histogram->nbins, eighths[BAR_COLUMNS];
    while (columns > BAR_COLUMNS || (columns * 2 <= BAR_COLUMNS && columns < BAR_COLUMNS))
        columns = columns > BAR_COLUMNS ? BAR_COLUMNS : columns * 2;
    uint64_t most = bar_heights(eighths, view, c, columns);
    const char *color = view->color ? sgr(histogram->channels[c].name) : NULL;
    fprintf(out, "\n%s%s\n", histogram->channels[c].name, view->log ? ", logarithmic" : "");
    for (int row = BAR_LINES - 1; row >= 0; row--) {
        if (row == BAR_LINES - 1)
            fprintf(out, "%*llu ", CELL, (unsigned long long)most);
        else
            fprintf(out, "%*s ", CELL, "");
        fputs(view->unicode ? "│" : "|", out);
        if (color)
            fprintf(out, "\033[%sm", color);
        for (int i = 0; i < columns; i++)
            fputs(block(eighths[i], row * 8, view->unicode), out);
        fputs(color ? "\033[0m\n" : "\n", out);
    }
    print_axis(out, view, columns);
}

void gi_histogram_text(FILE *out, const struct gi_histogram_view *view)
{
    const struct gi_histogram *histogram = view->histogram;
    gi_report_print_head(out, view->file, view->image, view->maxval);
    fprintf(out, "\n\n%-*s", CELL, "");
    for (int c = 0; c < histogram->nchannels; c++)
        fprintf(out, "%*s", CELL, histogram->channels[c].name);
    putc('\n', out);
    print_statistics(out, view);
    if (!view->bars)
        print_counts(out, view);
    for (int c = 0; c < histogram->nchannels && view->bars; c++)
        print_bars(out, view, c);
}
