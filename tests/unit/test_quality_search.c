/* The search for a quality finds the crossing of every limit by every growing curve, in at most 8
 * trials, and that of usual curves in fewer; of a curve that does not grow it finds a crossing.
 * Sources: imgio/quality_search
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "cases.h"
#include "imgio/quality_search.h"
#include "test.h"

/* Returns the lowest quality whose value is not below the limit, or most + 1, by trying all. */
static int lowest(const double *values, double limit, int most)
{
    for (int quality = 1; quality <= most; quality++)
        if (!(values[quality] < limit))
            return quality;
    return most + 1;
}

static struct gi_quality_search run(const double *values, double limit, bool from_score, int most)
{
    struct gi_quality_search search = gi_quality_search_begin(limit, from_score, most);
    bool tried[GI_QUALITY_MAX + 1] = {false};
    for (int quality; (quality = gi_quality_search_next(&search));) {
        assert_in_range(quality, 1, most);
        assert_false(tried[quality]);
        tried[quality] = true;
        gi_quality_search_note(&search, quality, values[quality]);
    }
    assert_true(search.trials <= GI_QUALITY_TRIALS);
    assert_int_equal(search.above, search.below + 1);
    assert_true(search.below == 0 || (tried[search.below] && values[search.below] < limit));
    assert_true(search.above == most + 1 ||
                (tried[search.above] && !(values[search.above] < limit)));
    return search;
}

/* Fills the values of one of several kinds of curves. */
static void fill(double *values, int kind, uint64_t *seed)
{
    double v = kind == 0 ? -60 : 1000;
    int step = 1 + (int)(case_random(seed) % 100);
    for (int quality = 1; quality <= GI_QUALITY_MAX; quality++) {
        double part = (double)(case_random(seed) % 1000) / 1000;
        switch (kind) {
        case 0: /* as a score, steep at first */
            v += part * (95 - v) / 10;
            break;
        case 1: /* as a size */
            v *= 1 + part / 15;
            break;
        case 2: /* one step */
            v = quality < step ? -1e300 : 1e300;
            break;
        case 3: /* equal values */
            v += quality % 7 ? 0 : part;
            break;
        default: /* does not grow */
            v = 200 * part - 100;
        }
        values[quality] = v;
    }
}

TEST(every_crossing_is_found)
{
    uint64_t seed = 20261130;
    for (int i = 0; i < 4000; i++) {
        double values[GI_QUALITY_MAX + 1] = {0};
        int kind = i % 5, most = i % 3 ? GI_QUALITY_MAX : 1 + (int)(case_random(&seed) % 100);
        fill(values, kind, &seed);
        double limit = values[1 + case_random(&seed) % 100] + (i % 2 ? 0.001 : 0);
        struct gi_quality_search search = run(values, limit, i % 4 < 2, most);
        if (kind < 4)
            assert_int_equal(search.above, lowest(values, limit, most));
    }
}

TEST(a_usual_curve_takes_few_trials)
{
    double values[GI_QUALITY_MAX + 1] = {0};
    int trials = 0, n = 0;
    for (int quality = 1; quality <= GI_QUALITY_MAX; quality++) /* -50 to 95 */
        values[quality] = 97 - 147 / (1 + (quality - 1) / 14.0);
    for (double limit = 40; limit < 94; limit++, n++)
        trials += run(values, limit, true, GI_QUALITY_MAX).trials;
    assert_true(trials <= 5 * n);
}

TEST(a_quality_that_cannot_be_written_is_left_out)
{
    struct gi_quality_search search = gi_quality_search_begin(50, true, GI_QUALITY_MAX);
    for (int quality; (quality = gi_quality_search_next(&search));)
        if (quality == GI_QUALITY_MAX)
            gi_quality_search_forbid(&search, quality);
        else
            gi_quality_search_note(&search, quality, 10);
    assert_int_equal(search.below, GI_QUALITY_MAX - 1);
    assert_int_equal(search.above, GI_QUALITY_MAX);
}
