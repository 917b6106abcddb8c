/* Every way of stacking images, at once or continued, gives the same means, medians, extremes, sums
 * and sigma-clipped means as plain loops that follow the definition.
 * Sources: filters/statistics/stack* kernels/cpu/statistics/stack.c
 *     kernels/cuda/statistics/stack.cu
 * SPDX-License-Identifier: MIT */
#include "primitives.h"
#include "kernels/statistics.h"

enum { IMAGES_MAX = 600 };

/* ---- the definition, by sorting doubles ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x == y ? (signbit(y) != 0) - (signbit(x) != 0) : (x > y) - (x < y);
}

static double sum_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

static double median_of(const double *v, int n)
{
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double clipped_mean_of(const double *sorted, int n, double kappa)
{
    double v[IMAGES_MAX];
    memcpy(v, sorted, (size_t)n * sizeof *v);
    for (int round = 0; round < 5; round++) {
        double mean = sum_of(v, n) / n, median = median_of(v, n), squares = 0;
        for (int i = 0; i < n; i++)
            squares += (v[i] - mean) * (v[i] - mean);
        double reach = kappa * sqrt(squares / n);
        int kept = 0;
        for (int i = 0; i < n; i++)
            if (!(fabs(v[i] - median) > reach))
                v[kept++] = v[i];
        if (kept == n)
            break;
        n = kept;
    }
    return sum_of(v, n) / n;
}

/* Returns the result for a pixel from its n samples v in the order of the images. May sort v. */
static double define(const struct gi_stack *spec, double *v, int n)
{
    double s = v[0];
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            return (double)NAN;
    for (int i = 1; i < n; i++)
        s = spec->method == GI_STACK_MIN   ? (v[i] < s ? v[i] : s)
            : spec->method == GI_STACK_MAX ? (v[i] > s ? v[i] : s)
                                           : s + v[i];
    if (spec->method != GI_STACK_MEDIAN && spec->method != GI_STACK_SIGMA_CLIP)
        return s;
    qsort(v, (size_t)n, sizeof *v, by_value);
    return spec->method == GI_STACK_MEDIAN ? median_of(v, n) : clipped_mean_of(v, n, spec->kappa);
}

/* Returns the result for sample i of row y, from the images and the earlier sums if there are
 * any. */
static double reduced(const struct gi_image *src, const struct gi_stack *spec, int y, size_t i)
{
    size_t samples = (size_t)(src->width / spec->images) * (size_t)src->channels;
    double v[IMAGES_MAX] = {0};
    int n = 0;
    if (spec->earlier)
        v[n++] = ((const double *)gi_row(spec->earlier, y))[i];
    for (int k = 0; k < spec->images; k++)
        v[n++] = gi_sample(gi_row(src, y), (size_t)k * samples + i, src->type);
    return define(spec, v, n);
}

/* ---- the cases ---- */

/* Replaces some of the random floats by unusual ones. If `few`, all samples have one of three
 * values, so that many are equal. */
static void fill(struct walk_case *c, struct gi_image *image, bool few)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-40f, 3e38f, -3e38f};
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            if (few)
                case_put(image, y, i, (float)walk_between(c, 0, 2));
            if (image->type == GI_F32 && !walk_between(c, 0, 40))
                case_put(image, y, i, odd[walk_between(c, few ? 3 : 0, few ? 4 : 7)]);
        }
}

/* Makes a random stack of `images` images, with unused columns behind the last image. */
static struct gi_stack *draw(struct walk_case *c, int images)
{
    struct gi_stack *spec = WALK_SPEC(c, struct gi_stack);
    *spec = (struct gi_stack){
        .method = (enum gi_stack_method)(c->turn % (GI_STACK_SIGMA_CLIP + 1)),
        .images = images,
        .kappa = walk_between(c, 0, 1) ? 1 : 1.75,
    };
    walk_source(c, c->width * images + walk_between(c, 0, images - 1), c->height, c->channels,
                c->type);
    return spec;
}

static void draw_few(struct walk_case *c)
{
    static const int counts[] = {1, 2, 3, 4, 5, 6, 8, 16, 17};
    draw(c, counts[walk_between(c, 0, 8)]);
    fill(c, &c->srcs[0].image, walk_between(c, 0, 1));
}

/* More images than a byte can count. */
static void draw_many(struct walk_case *c)
{
    static const int counts[] = {255, 256, 511};
    draw(c, c->width > 9 ? 2 : counts[walk_between(c, 0, 2)]);
    fill(c, &c->srcs[0].image, walk_between(c, 0, 1));
}

/* A call that continues earlier sums, extremes or means. These are random too, but such as samples
 * give: a result that its type can't hold would be undefined. */
static void draw_continued(struct walk_case *c)
{
    int first = walk_between(c, 1, 5), later = walk_between(c, 1, 6);
    struct gi_stack *spec = draw(c, later);
    if (!gi_stack_continues(spec))
        spec->method = GI_STACK_SUM;
    struct gi_image *sums =
        walk_other(c, &spec->earlier, 2 * c->width, c->height, c->channels, GI_U32);
    spec->nearlier = (uint64_t)first;
    int added = spec->method == GI_STACK_MIN || spec->method == GI_STACK_MAX ? 1 : first;
    for (int y = 0; y < c->height; y++)
        for (size_t i = 0; i < gi_row_samples(sums) / 2; i++)
            ((double *)gi_row(sums, y))[i] = rint(fabs(walk_real(c)) * 99 * added);
}

/* The sums for later images. */
static void draw_sums(struct walk_case *c)
{
    struct gi_stack *spec = draw(c, walk_between(c, 1, 9));
    if (!gi_stack_continues(spec))
        spec->method = GI_STACK_MEAN;
    for (int y = 0; y < c->height; y++) /* no NaN, which has many forms */
        for (size_t i = 0; i < gi_row_samples(&c->srcs[0].image); i++)
            case_put(&c->srcs[0].image, y, i, (float)walk_between(c, 0, 200));
}

static void define_sums(struct walk_case *c)
{
    struct gi_image *want = walk_result(c, 2 * c->width, c->height, c->channels, GI_U32);
    for (int y = 0; y < c->height; y++)
        for (size_t i = 0; i < gi_row_samples(want) / 2; i++)
            ((double *)gi_row(want, y))[i] = reduced(&c->srcs[0].image, c->spec, y, i);
}

static void define_stack(struct walk_case *c)
{
    const struct gi_image *src = &c->srcs[0].image;
    const struct gi_stack *spec = c->spec;
    double n = (double)spec->images + (double)spec->nearlier;
    double full = (double)gi_type_full_scale(src->type);
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels,
                                        spec->method == GI_STACK_SUM ? GI_F32 : c->type);
    for (int y = 0; y < want->height; y++)
        for (size_t i = 0; i < gi_row_samples(want); i++) {
            double s = reduced(src, spec, y, i);
            s = spec->method == GI_STACK_MEAN ? s / n : spec->method == GI_STACK_SUM ? s / full : s;
            case_put(want, y, i,
                     want->type != GI_F32 ? (float)floor(s + 0.5)
                     : isnan(s)           ? NAN
                                          : (float)s);
        }
}

static const int few[][2] = {{1, 1},  {1, 3}, {5, 4},   {7, 5},   {31, 9},
                             {70, 3}, {3, 2}, {300, 2}, {130, 1}, {0, 0}};
static const int many[][2] = {{3, 2}, {2, 2}, {3, 2}, {5000, 2}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("stack", "few", draw_few, define_stack, .sizes = few),
    WALK_ROW("stack", "many", draw_many, define_stack, .sizes = many, .few = true),
    WALK_ROW("stack", "continued", draw_continued, define_stack, .sizes = few, .few = true),
    WALK_ROW("stack", "sums", draw_sums, define_sums, .sizes = few, .few = true),
};

WALK_ROWS(rows)
