/* Methods of automatic thresholding. Each takes a histogram without empty bins at its ends, as the
 * functions threshold_*() of scikit-image do, and has their order of operations where rounding
 * could change the result. `weight` below is a number of samples. SPDX-License-Identifier: MIT */
#include "filters/tone/auto_threshold.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

enum { LI_ITERATIONS = 10000, SMOOTHINGS = 10000 };

static double value_of(const struct gi_bins *bins, int i)
{
    return bins->first + i * bins->step;
}

/* Sums of counts, and of counts times the values of their bins. */
struct sums {
    double weight, value;
};

static void add(struct sums *sums, const struct gi_bins *bins, int i)
{
    sums->weight += (double)bins->counts[i];
    sums->value += (double)bins->counts[i] * value_of(bins, i);
}

static struct sums sums_of(const struct gi_bins *bins)
{
    struct sums all = {0};
    for (int i = 0; i < bins->n; i++)
        add(&all, bins, i);
    return all;
}

/* Maximises the variance between the classes v <= t and v > t; in a tie t is the lowest such bin.
 */
static double otsu(const struct gi_bins *bins)
{
    struct sums all = {0}, low = {0};
    double best_variance = -1;
    int best = 0;
    for (int i = 0; i < bins->n; i++) {
        all.weight += (double)bins->counts[i];
        all.value += (double)bins->counts[i] * i;
    }
    for (int i = 0; i < bins->n - 1; i++) {
        low.weight += (double)bins->counts[i];
        low.value += (double)bins->counts[i] * i;
        if (bins->counts[i] == 0) /* the split of the previous bin, except for rounding */
            continue;
        double high = all.weight - low.weight;
        double gap = low.value / low.weight - (all.value - low.value) / high;
        double variance = low.weight * high * gap * gap;
        if (variance > best_variance) {
            best_variance = variance;
            best = i;
        }
    }
    return value_of(bins, best);
}

/* Minimises the cross entropy between the image and its two classes, by fixed-point iteration from
 * the mean. Values count from the smallest sample, because their logarithms are taken. */
static double li(const struct gi_bins *bins)
{
    const double tolerance = bins->below > 0 ? 0 : 0.5 * bins->step;
    const double least = bins->first - bins->below;
    struct gi_bins shifted = *bins;
    shifted.first = bins->below;
    const struct sums all = sums_of(&shifted);
    double next = all.value / all.weight, t = -2 * bins->step;
    for (int n = 0; fabs(next - t) > tolerance && n < LI_ITERATIONS; n++) {
        struct sums low = {0};
        t = next;
        for (int i = 0; i < shifted.n && value_of(&shifted, i) <= t; i++)
            add(&low, &shifted, i);
        double fore = (all.value - low.value) / (all.weight - low.weight);
        double back = low.value / low.weight;
        next = (back - fore) / (log(back) - log(fore));
    }
    return next + least;
}

/* Maximises Yen's correlation criterion log((P1 (1 - P1))^2 / (S1 S2)), where P1 is the part of the
 * samples v <= t, and S1 and S2 are the sums of squares of the parts of both classes' bins. The
 * logarithm is left out. */
static double yen(const struct gi_bins *bins)
{
    const double total = sums_of(bins).weight;
    double *above = gi_small_alloc((size_t)bins->n * sizeof *above), part = 0, square = 0;
    double best_criterion = -1;
    int best = 0;
    for (int i = bins->n - 1; i >= 0; i--) {
        double p = (double)bins->counts[i] / total;
        above[i] = (i + 1 < bins->n ? above[i + 1] : 0) + p * p;
    }
    for (int i = 0; i < bins->n - 1; i++) {
        double p = (double)bins->counts[i] / total;
        part += p;
        square += p * p;
        double product = part * (1 - part), criterion = product * product / (square * above[i + 1]);
        if (bins->counts[i] && criterion > best_criterion) {
            best_criterion = criterion;
            best = i;
        }
    }
    free(above);
    return value_of(bins, best);
}

/* Finds the bin that is farthest below the line from the peak of the histogram to the end of its
 * longer tail. */
static double triangle(const struct gi_bins *bins)
{
    int peak = 0, n = bins->n, best = 0;
    for (int i = 1; i < n; i++)
        peak = bins->counts[i] > bins->counts[peak] ? i : peak;
    const bool right = peak < n - 1 - peak;
    const int tail = right ? n - 1 - peak : peak; /* bins from the end to the peak */
    double height = (double)bins->counts[peak], width = tail;
    const double norm = sqrt(height * height + width * width);
    double most = -INFINITY;
    height /= norm;
    width /= norm;
    for (int x = 0; x < tail; x++) {
        int i = right ? n - 1 - x : x;
        double length = height * x - width * (double)bins->counts[i];
        if (length > most) {
            most = length;
            best = i;
        }
    }
    return value_of(bins, best);
}

/* Finds the lowest bin that is at most a bin's width below the middle of the means of its two
 * classes. There always is one: the middle is not below bin 0, and never falls from bin to bin. */
static double isodata(const struct gi_bins *bins)
{
    const struct sums all = sums_of(bins);
    struct sums low = {0};
    for (int i = 0; i < bins->n - 1; i++) {
        add(&low, bins, i);
        double below = low.value / low.weight;
        double above = (all.value - low.value) / (all.weight - low.weight);
        double distance = (below + above) / 2.0 - value_of(bins, i);
        if (distance >= 0 && distance < bins->step)
            return value_of(bins, i);
    }
    return value_of(bins, bins->n - 2);
}

/* Replaces counts by the means of three neighbours, with the counts at both ends repeated. */
static void smooth(double *to, const double *from, int n)
{
    double sum = from[0] + from[0] + from[1];
    to[0] = sum / 3;
    for (int i = 1; i < n; i++) {
        sum += (i + 1 < n ? from[i + 1] : from[n - 1]) - from[i > 1 ? i - 2 : 0];
        to[i] = sum / 3;
    }
}

/* Counts the local maxima, and finds the positions of the first two. A maximum that is the last bin
 * does not count. */
static int maxima(int at[2], const double *counts, int n)
{
    int found = 0;
    bool rises = true;
    for (int i = 0; i < n - 1 && found < 3; i++) {
        if (rises && counts[i + 1] < counts[i]) {
            if (found < 2)
                at[found] = i;
            found++;
            rises = false;
        } else if (!rises && counts[i + 1] > counts[i]) {
            rises = true;
        }
    }
    return found;
}

/* Smooths the histogram until it has less than three maxima, and finds the minimum between the two
 * that are left. Returns NAN if there are not two. */
static double minimum(const struct gi_bins *bins)
{
    size_t n = (size_t)bins->n;
    double *counts = gi_small_alloc(2 * n * sizeof *counts), *smoothed = counts + n;
    double *all = counts, t = NAN;
    int at[2] = {0}, found = 3;
    for (int i = 0; i < bins->n; i++)
        counts[i] = (double)bins->counts[i];
    for (int i = 0; i < SMOOTHINGS && found > 2; i++) {
        double *last = counts;
        smooth(smoothed, counts, bins->n);
        counts = smoothed;
        smoothed = last;
        found = maxima(at, counts, bins->n);
    }
    if (found == 2) {
        int best = at[0];
        for (int i = at[0]; i <= at[1]; i++)
            best = counts[i] < counts[best] ? i : best;
        t = value_of(bins, best);
    }
    free(all);
    return t;
}

static double mean(const struct gi_bins *bins)
{
    const struct sums all = sums_of(bins);
    return all.value / all.weight;
}

/* The methods, in the order of enum gi_threshold_method. */
static double (*const finders[GI_THRESHOLD_METHODS])(const struct gi_bins *bins) = {
    /* N. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9(1), 1979
     */
    otsu,
    /* C. H. Li and P. K. S. Tam, An iterative algorithm for minimum cross entropy thresholding,
     * Pattern Recognition Letters 19(8), 1998 */
    li,
    /* J. C. Yen, F. J. Chang and S. Chang, A new criterion for automatic multilevel thresholding,
     * IEEE Trans. Image Processing 4(3), 1995 */
    yen,
    /* G. W. Zack, W. E. Rogers and S. A. Latt, Automatic measurement of sister chromatid exchange
     * frequency, J. Histochemistry and Cytochemistry 25(7), 1977 */
    triangle,
    /* T. W. Ridler and S. Calvard, Picture thresholding using an iterative selection method, IEEE
     * Trans. SMC 8, 1978 */
    isodata,
    /* J. M. S. Prewitt and M. L. Mendelsohn, The analysis of cell images, Annals of the New York
     * Academy of Sciences 128, 1966 */
    minimum,
    /* C. A. Glasbey, An analysis of histogram-based thresholding algorithms, CVGIP: Graphical
     * Models and Image Processing 55(6), 1993 */
    mean,
};

const struct gi_choice gi_threshold_methods[] = {
    {"otsu", NULL, "largest variance between two classes (Otsu 1979)"},
    {"li", NULL, "minimum cross entropy (Li and Tam 1998)"},
    {"yen", NULL, "maximum correlation criterion (Yen, Chang and Chang 1995)"},
    {"triangle", NULL, "farthest from the line between peak and longer tail (Zack et al. 1977)"},
    {"isodata", NULL, "middle between the means of both classes (Ridler and Calvard 1978)"},
    {"minimum", NULL,
     "minimum between the two peaks of the smoothed histogram (Prewitt and Mendelsohn 1966)"},
    {"mean", NULL, "mean of all samples (Glasbey 1993)"},
    {"multi-otsu", NULL, "several levels between --classes classes (Liao, Chen and Chung 2001)"},
    {0},
};

/* Leaves out the empty bins at both ends. Returns whether a bin has counts. */
static bool trim(struct gi_bins *to, const struct gi_bins *bins)
{
    int from = 0, end = bins->n;
    while (from < end && !bins->counts[from])
        from++;
    while (end > from && !bins->counts[end - 1])
        end--;
    *to = (struct gi_bins){bins->counts + from, end - from, value_of(bins, from), bins->step,
                           bins->below};
    return end > from;
}

double gi_auto_threshold(enum gi_threshold_method method, const struct gi_bins *bins)
{
    struct gi_bins trimmed;
    if (!trim(&trimmed, bins))
        return 0;
    return trimmed.n == 1 ? trimmed.first : finders[method](&trimmed);
}

/* ---- several levels ---- */

/* The bins that have counts, and the best ways to divide the last of them into classes. */
struct division {
    int n;
    int *bins;      /* their numbers */
    double *weight; /* n + 1 sums of the counts of all bins before */
    double *value;  /* n + 1 sums of counts times numbers */
    /* For each bin, the largest sum over classes of (sum of values)^2 / weight for the bins from
     * there on: with one class less, and with the classes that are being found. */
    double *less, *best;
    int *ends; /* for each number of classes and each bin: the end of its first class */
};

static double score(const struct division *d, int from, int end)
{
    double value = d->value[end] - d->value[from];
    return value * value / (d->weight[end] - d->weight[from]);
}

/* Finds the first class of the bins from `from` to `last`, whose ends are from `low` to `high`. The
 * best end does not fall from bin to bin, so that the end of the middle bin limits both halves. */
static void divide(struct division *d, int *ends, int from, int last, int low, int high)
{
    while (from <= last) {
        int middle = from + (last - from) / 2, best = -1;
        for (int end = low > middle ? low : middle + 1; end <= high; end++) {
            double sum = score(d, middle, end) + d->less[end];
            if (best < 0 || sum > d->best[middle]) {
                d->best[middle] = sum;
                best = end;
            }
        }
        ends[middle] = best;
        divide(d, ends, from, middle - 1, low, best);
        from = middle + 1;
        low = best;
    }
}

/* Divides all bins. classes < d->n. */
static void divide_all(double *levels, int classes, struct division *d, const struct gi_bins *bins)
{
    for (int i = 0; i < d->n; i++)
        d->less[i] = score(d, i, d->n);
    for (int c = 2; c <= classes; c++) {
        int last = d->n - c; /* after it there are fewer bins than classes */
        divide(d, d->ends + (size_t)c * (size_t)d->n, 0, last, 1, last + 1);
        memcpy(d->less, d->best, (size_t)(last + 1) * sizeof *d->less);
    }
    for (int c = classes, from = 0; c >= 2; c--) {
        from = d->ends[(size_t)c * (size_t)d->n + (size_t)from];
        levels[classes - c] = value_of(bins, d->bins[from - 1]);
    }
}

/* The dynamic programming of P. S. Liao, T. S. Chen and P. C. Chung, A fast algorithm for
 * multilevel thresholding, J. Information Science and Engineering 17, 2001, by divide and conquer:
 * the sum is that of k-means in one dimension, whose best ends are monotone (X. Wu, Optimal
 * quantization by matrix searching, J. Algorithms 12, 1991). In a tie the first level is the
 * lowest, then the second one and so on. */
void gi_multi_otsu(double *levels, int classes, const struct gi_bins *bins)
{
    size_t n = (size_t)bins->n, nends = n * ((size_t)classes + 1);
    struct division d = {.n = 0};
    d.weight = gi_small_calloc(4 * (n + 1), sizeof *d.weight);
    d.bins = gi_small_calloc(n + nends, sizeof *d.bins);
    d.value = d.weight + n + 1;
    d.less = d.value + n + 1;
    d.best = d.less + n + 1;
    d.ends = d.bins + n;
    for (int i = 0; i < bins->n; i++)
        if (bins->counts[i]) {
            d.weight[d.n + 1] = d.weight[d.n] + (double)bins->counts[i];
            d.value[d.n + 1] = d.value[d.n] + (double)bins->counts[i] * i;
            d.bins[d.n++] = i;
        }
    if (d.n > classes)
        divide_all(levels, classes, &d, bins);
    for (int i = 0; i < classes - 1 && d.n <= classes; i++)
        levels[i] = d.n ? value_of(bins, d.bins[i < d.n ? i : d.n - 1]) : 0;
    free(d.weight);
    free(d.bins);
}
