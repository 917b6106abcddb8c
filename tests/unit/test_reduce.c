/* Every way of sums, sums of squares, minima and maxima gives the same results as plain loops that
 * follow the definition in kernels/statistics.h, for whole images and for images in parts.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "filters/statistics/exact.h"
#include "kernels/kernels.h"
#include "primitives.h"
#include "kernels/statistics.h"

enum pattern {
    EVEN,     /* integers of all values, floats -1 to 2 */
    CONSTANT, /* all samples are equal */
    WIDE,     /* floats of all exponents, without special values */
    /* EVEN, with some NaN, infinities and -0, and with the largest and smallest floats */
    ODD,
    /* floats of three distant ranges and zeros; each range lasts for hundreds of samples */
    STEPS,
    PATTERNS
};

static float any_float(struct walk_case *c, enum pattern pattern, size_t at)
{
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0f, 3.4e38f, -1e-45f, 1e-38f};
    static const float ranges[] = {1, 1e-12f, 0, 3e9f};
    float even = walk_real(c) * 1.5f + 0.5f;
    if (pattern == WIDE)
        return ldexpf(even, (int)(case_random(c->seed) % 250) - 125);
    if (pattern == ODD && case_random(c->seed) % 50 == 0)
        return odd[case_random(c->seed) % 8];
    return pattern == STEPS ? even * ranges[at / 700 % 4] : even;
}

/* The definition of the primitive reduce. A sum consists of digits of 8 bits, each of which is
 * summed in a signed integer. */

enum { DIGITS = 8 * GI_EXACT_WORDS };

struct plain {
    int64_t sum[DIGITS], magnitude[DIGITS], square[DIGITS];
};

/* digits += whole * 2^shift. */
static void plain_add(int64_t *digits, uint64_t whole, int shift, bool minus)
{
    uint64_t bits = whole << shift % 8; /* `whole` has at most 48 bits */
    for (int i = shift / 8; bits; i++, bits >>= 8)
        digits[i] += minus ? -(int64_t)(bits & 255) : (int64_t)(bits & 255);
}

static struct gi_exact carried(const int64_t *digits)
{
    struct gi_exact exact = {{0}};
    int64_t carry = 0;
    for (int i = 0; i < DIGITS; i++) {
        int64_t v = digits[i] + carry, low = ((v % 256) + 256) % 256;
        exact.w[i / 8] |= (uint64_t)low << 8 * (i % 8);
        carry = (v - low) / 256;
    }
    return exact;
}

static void note(struct gi_reduction *want, struct plain *plain, double v, uint64_t place,
                 bool is_float)
{
    if (isnan(v) || isinf(v)) {
        ++*(isnan(v) ? &want->nan : v > 0 ? &want->above : &want->below);
        return;
    }
    if (!want->n || v < (double)want->min) {
        want->min = (float)(v == 0 ? 0 : v);
        want->min_at = place;
    }
    if (!want->n || v > (double)want->max) {
        want->max = (float)(v == 0 ? 0 : v);
        want->max_at = place;
    }
    want->n++;
    int e = 0, shift = 0;
    double whole = fabs(v);
    if (is_float) { /* an integer times 2^(shift - 149) */
        whole = ldexp(frexp(fabs(v), &e), 24);
        shift = e - 24 + 149;
        while (shift < 0) {
            whole /= 2;
            shift++;
        }
    }
    plain_add(plain->sum, (uint64_t)whole, shift, v < 0);
    plain_add(plain->magnitude, (uint64_t)whole, shift, false);
    plain_add(plain->square, (uint64_t)whole * (uint64_t)whole, 2 * shift, false);
}

static void oracle(struct gi_reduction *want, const struct gi_image *image, bool opaque)
{
    static struct plain plain;
    size_t channels = (size_t)image->channels;
    for (size_t c = 0; c < channels; c++) {
        memset(&plain, 0, sizeof plain);
        memset(&want[c], 0, sizeof want[c]);
        for (int y = 0; y < image->height; y++)
            for (size_t x = 0; x < (size_t)image->width; x++) {
                const void *row = gi_row(image, y);
                if (opaque && gi_has_alpha(image) &&
                    !(gi_sample(row, x * channels + channels - 1, image->type) > 0))
                    continue;
                note(&want[c], &plain, gi_sample(row, x * channels + c, image->type),
                     (uint64_t)y * (uint64_t)image->width + x, image->type == GI_F32);
            }
        want[c].sum = carried(plain.sum);
        want[c].magnitude = carried(plain.magnitude);
        want[c].square = carried(plain.square);
    }
}

static void draw_reduce(struct walk_case *c)
{
    struct gi_reduce *spec = WALK_SPEC(c, struct gi_reduce);
    struct gi_image *image = walk_source_here(c);
    enum pattern pattern = (enum pattern)(c->turn % (c->type == GI_F32 ? PATTERNS : WIDE));
    uint32_t v = case_random(c->seed);
    size_t at = 0;
    spec->opaque = walk_between(c, 0, 1);
    spec->sums_only = walk_between(c, 0, 1);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++, at++) {
                bool clear = gi_has_alpha(image) && pattern != CONSTANT && i == c->channels - 1 &&
                             walk_between(c, 0, 2) == 0; /* a transparent pixel */
                uint32_t bits = (pattern == CONSTANT ? v : case_random(c->seed)) &
                                (c->type == GI_U8 ? 255 : 65535);
                float f = c->type != GI_F32     ? (float)bits
                          : pattern == CONSTANT ? (float)(v % 7) - 3.1f
                                                : any_float(c, pattern, at);
                case_put(image, y, (size_t)(x * c->channels + i), clear ? 0 : f);
            }
}

/* Makes long rows of large samples. Sums of integers reach the limit of 32-bit lanes, and sums of
 * floats reach the limit of a double's precision. */
static void draw_lanes(struct walk_case *c)
{
    if (c->channels > 1 || (c->width < 200000) != (c->type == GI_F32))
        return;
    struct gi_image *image = walk_source_here(c);
    WALK_SPEC(c, struct gi_reduce)->sums_only = c->width > 800003;
    for (int x = 0; x < c->width; x++) {
        /* Floats whose mantissa bits are all set. The exponent of every third float is 20 less. */
        uint32_t bits =
            (uint32_t)((const int[]){254, 21, 127, 254, 127})[c->border] << 23 | 0x7fffff;
        bits -= x % 3 == 2 ? 20u << 23 : 0;
        if (c->type == GI_F32)
            memcpy((char *)image->data + (size_t)x * 4, &bits, 4);
        else
            exact_put(image, 0, x, 0, 65535);
    }
}

/* Sets the minima and maxima to 0, which is what a caller gets that asks for sums only. */
static void forget_extremes(struct gi_reduction *want, int channels)
{
    for (int c = 0; c < channels; c++) {
        want[c].min = want[c].max = 0;
        want[c].min_at = want[c].max_at = 0;
    }
}

static void define_reduce(struct walk_case *c)
{
    const struct gi_reduce *spec = c->spec;
    struct gi_reduction *want = walk_data(c, NULL, (size_t)c->channels * sizeof *want);
    oracle(want, &c->srcs[0].image, spec->opaque);
    if (spec->sums_only)
        forget_extremes(want, c->channels);
}

/* The parts of an image, reduced one after the other, give the same result as the whole image. */
TEST(parts_are_added)
{
    uint64_t seed = 20261122;
    for (int i = 0; i < 6 * CASE_LEVELS; i++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[i / 6]);
        struct gi_reduction want[GI_MAX_CHANNELS], got[GI_MAX_CHANNELS] = {{0}};
        struct gi_queue *queue;
        struct guard g;
        if (!k)
            continue;
        guard_alloc(&g, 67, 35, 4, (enum gi_type)(i % 3), 16);
        case_fill(&g.image, &seed);
        oracle(want, &g.image, true);
        bool sums_only = i % 6 >= 3;
        if (sums_only)
            forget_extremes(want, GI_MAX_CHANNELS);
        queue = case_open(k, 3);
        for (int top = 0; top < 35; top += 17) {
            struct gi_image rows = gi_image_rows(&g.image, top, top + 17 < 35 ? top + 17 : 35);
            struct gi_reduce spec = {.sums_only = sums_only, .opaque = true, .y = top};
            assert_int_equal(k->reduce(queue, got, &rows, &spec, NULL), GI_OK);
        }
        assert_memory_equal(got, want, sizeof want);
        gi_queue_close_alone(&queue);
        guard_free(&g);
    }
}

/* A sum midway between two doubles is rounded to the even double, and any other sum to the
 * nearest. */
TEST(test_rounding)
{
    static const struct {
        uint64_t w[3];
        uint64_t divisor;
        double want;
    } cases[] = {
        {{UINT64_C(1) << 20, 1 << 9}, 1, 0x1p73}, /* 2^73 + 2^20 */
        {{(UINT64_C(1) << 20) + 1, 1 << 9}, 1, 0x1.0000000000001p73},
        {{UINT64_C(3) << 20, 1 << 9}, 1, 0x1.0000000000002p73},
        {{(UINT64_C(3) << 20) - 1, 1 << 9}, 1, 0x1.0000000000001p73},
        {{1, UINT64_C(1) << 20, 1 << 9}, 1, 0x1.0000000000001p137},
        {{0, UINT64_C(1) << 20, 1 << 9}, 1, 0x1p137},
        {{UINT64_C(3) << 20, 3 << 9}, 3, 0x1p73},
        {{(UINT64_C(3) << 20) + 1, 3 << 9}, 3, 0x1.0000000000001p73},
        {{(UINT64_C(1) << 53) + 1}, 1, 0x1p53},
        {{(UINT64_C(1) << 53) + 3}, 1, 0x1.0000000000002p53},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_exact plus = {{0}}, minus = {{0}};
        uint64_t carry = 1;
        memcpy(plus.w, cases[i].w, sizeof cases[i].w);
        for (int w = 0; w < GI_EXACT_WORDS; w++) {
            minus.w[w] = ~plus.w[w] + carry;
            carry = carry && !minus.w[w];
        }
        double got = gi_exact_quotient(&plus, 0, cases[i].divisor);
        if (got != cases[i].want || gi_exact_quotient(&minus, 0, cases[i].divisor) != -got ||
            gi_exact_quotient(&plus, -149, cases[i].divisor) != ldexp(got, -149))
            fail_msg("case %zu: %a, want %a", i, got, cases[i].want);
    }
}

static const int reduced[][2] = {{1, 1},     {1, 17},   {17, 1},    {31, 33}, {67, 5},
                                 {257, 129}, {6145, 3}, {515, 333}, {0, 0}};
static const int lanes[][2] = {{100003, 1}, {800003, 1}, {800005, 1}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("reduce", "patterns", draw_reduce, define_reduce, .sizes = reduced),
    WALK_ROW("reduce", "full lanes", draw_lanes, define_reduce, .sizes = lanes),
};

WALK_ROWS(rows)
