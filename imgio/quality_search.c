/* Finds a quality by interpolation. Scores of SSIMULACRA 2 of JPEGs of a photograph are far from
 * linear in the quality, so that values are interpolated along the usual course of these scores.
 * Every step leaves at most as many qualities as bisection can search in the trials that are left.
 * SPDX-License-Identifier: MIT */
#include "imgio/quality_search.h"

#include <math.h>

enum { QUALITY, SCORE };

/* Scores of five photographs of 0.4 million pixels, their mean, with 4:2:0 below quality 90. */
static const double course[][2] = {{0, -70},   {5, -45},   {10, -10},  {20, 31}, {30, 47},
                                   {40, 56.5}, {50, 63.5}, {60, 68},   {70, 74}, {80, 80},
                                   {85, 83},   {90, 90},   {95, 93.5}, {101, 96}};

enum { COURSE = sizeof course / sizeof *course };

/* Returns the quality of a score, or the score of a quality: `v` is a `from`. */
static double interpolate(double v, int from, int to)
{
    int i = 1;
    while (i < COURSE - 1 && course[i][from] < v)
        i++;
    const double *before = course[i - 1], *after = course[i];
    return before[to] +
           (v - before[from]) / (after[from] - before[from]) * (after[to] - before[to]);
}

static double score_at(double quality)
{
    return interpolate(quality, QUALITY, SCORE);
}

static double quality_at(double score)
{
    return interpolate(score, SCORE, QUALITY);
}

struct gi_quality_search gi_quality_search_begin(double limit, bool from_score, int most)
{
    return (struct gi_quality_search){.limit = limit, .from_score = from_score, .above = most + 1};
}

/* Returns where the value probably reaches the limit. */
static double guess(const struct gi_quality_search *s)
{
    enum { FIRST = 75 };
    if (!s->trials)
        return s->from_score ? quality_at(s->limit) : FIRST;
    double below = score_at(s->below), above = score_at(s->above);
    if (s->has_below && s->has_above && s->value_above > s->value_below)
        return quality_at(below + (above - below) * (s->limit - s->value_below) /
                                      (s->value_above - s->value_below));
    if (s->from_score && s->has_below && !s->has_above)
        return quality_at(below + s->limit - s->value_below);
    if (s->from_score && s->has_above && !s->has_below)
        return quality_at(above + s->limit - s->value_above);
    return (s->below + s->above) / 2;
}

int gi_quality_search_next(const struct gi_quality_search *search)
{
    int below = search->below, above = search->above;
    if (above - below <= 1)
        return 0;
    /* After this trial, fewer than `room` qualities may be left between the two. */
    int room = 1 << (GI_QUALITY_TRIALS - search->trials - 1);
    int lowest = above - room > below + 1 ? above - room : below + 1;
    int highest = below + room < above - 1 ? below + room : above - 1;
    double at = ceil(guess(search));
    return at > lowest ? (at < highest ? (int)at : highest) : lowest;
}

void gi_quality_search_note(struct gi_quality_search *search, int quality, double value)
{
    search->trials++;
    if (value < search->limit) {
        search->below = quality;
        search->value_below = value;
        search->has_below = true;
    } else {
        search->above = quality;
        search->value_above = value;
        search->has_above = true;
    }
}

void gi_quality_search_forbid(struct gi_quality_search *search, int quality)
{
    search->trials++;
    search->above = quality;
}
