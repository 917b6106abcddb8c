/* Sums, sums of squares, minima and maxima on every level of the CPU and on CUDA, whole and in
 * parts, against a definition in plain loops.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "filters/statistics/exact.h"
#include "guard.h"
#include "ways_walk.h"

static const int sizes[][2] = {{1, 1},  {1, 17},    {17, 1},   {31, 33},
                               {67, 5}, {257, 129}, {6145, 3}, {515, 333}};
enum { SIZES = sizeof sizes / sizeof *sizes, QUICK_SIZES = 5 };

enum pattern {
    EVEN,     /* integers of all values, floats -1 to 2 */
    CONSTANT, /* all samples are equal */
    WIDE,     /* floats of all exponents, without special values */
    ODD,      /* EVEN with some NaN, infinities, -0, and the largest and smallest floats */
    STEPS,    /* floats of three distant ranges, each for hundreds of samples, and zeros */
    PATTERNS
};

static uint64_t seed = 20261122;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static float any_float(enum pattern pattern, size_t at)
{
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0f, 3.4e38f, -1e-45f, 1e-38f};
    static const float ranges[] = {1, 1e-12f, 0, 3e9f};
    float even = (float)((double)draw() / 0x1p32 * 3 - 1);
    if (pattern == WIDE)
        return ldexpf(even, (int)(draw() % 250) - 125);
    if (pattern == ODD && draw() % 50 == 0)
        return odd[draw() % 8];
    return pattern == STEPS ? even * ranges[at / 700 % 4] : even;
}

static void fill(struct gi_image *image, enum pattern pattern)
{
    size_t n = gi_row_samples(image), at = 0;
    uint32_t v = draw();
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < n; i++, at++) {
            bool clear = gi_has_alpha(image) && pattern != CONSTANT &&
                         i % (size_t)image->channels + 1 == (size_t)image->channels &&
                         draw() % 3 == 0; /* a transparent pixel */
            uint32_t bits = clear ? 0 : pattern == CONSTANT ? v : draw() >> draw() % 8;
            if (image->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[i] = (uint8_t)bits;
            else if (image->type == GI_U16)
                ((uint16_t *)gi_row(image, y))[i] = (uint16_t)bits;
            else
                ((float *)gi_row(image, y))[i] = clear                 ? 0
                                                 : pattern == CONSTANT ? (float)(v % 7) - 3.1f
                                                                       : any_float(pattern, at);
        }
}

/* ---- the definition: digits of 8 bits, each with a signed sum ---- */

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

/* ---- all ways ---- */

/* Adds the rows from top to bottom of `host` to `got`. */
static bool part(struct gi_queue *queue, int way, struct gi_reduction *got,
                 const struct gi_image *host, int top, int bottom, bool opaque)
{
    struct gi_image rows = gi_image_rows(host, top, bottom), src;
    struct gi_err err = {0};
    struct gi_reduce spec = {.opaque = opaque, .y = top};
    assert_int_equal(queue->k->upload(queue, &src, &rows, NULL, &err), GI_OK);
    enum gi_status status = queue->k->reduce(queue, got, &src, &spec, &err);
    queue->k->release(queue, &src);
    return walk_ran(queue, "reduce", way, status, &err);
}

static void check_way(struct gi_queue *queue, int way, const struct gi_image *host,
                      enum pattern pattern, bool opaque, const struct gi_reduction *want)
{
    for (int cut = 0; cut < 2; cut++) {
        struct gi_reduction got[GI_MAX_CHANNELS];
        int middle = cut ? host->height / 2 : 0;
        memset(got, 0, sizeof got);
        bool ran = part(queue, way, got, host, middle, host->height, opaque);
        if (ran && middle) {
            memset(got, 0, sizeof got);
            part(queue, way, got, host, 0, middle, opaque);
            part(queue, way, got, host, middle, host->height, opaque);
        }
        for (int c = 0; c < host->channels && ran; c++)
            if (memcmp(&got[c], &want[c], sizeof got[c]))
                fail_msg("%s: %d x %d x %d, type %d, pattern %d, opaque %d, cut %d, channel %d: n "
                         "%llu %llu min %g %g at %llu %llu max %g %g at %llu %llu sum %d square %d",
                         walk_what(queue, "reduce", way), host->width, host->height, host->channels,
                         (int)host->type, (int)pattern, opaque, cut, c,
                         (unsigned long long)got[c].n, (unsigned long long)want[c].n,
                         (double)got[c].min, (double)want[c].min, (unsigned long long)got[c].min_at,
                         (unsigned long long)want[c].min_at, (double)got[c].max,
                         (double)want[c].max, (unsigned long long)got[c].max_at,
                         (unsigned long long)want[c].max_at,
                         memcmp(&got[c].sum, &want[c].sum, sizeof want[c].sum) != 0,
                         memcmp(&got[c].square, &want[c].square, sizeof want[c].square) != 0);
    }
}

static void check(const struct gi_image *host, enum pattern pattern, bool opaque)
{
    struct gi_reduction want[GI_MAX_CHANNELS];
    oracle(want, host, opaque);
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int i = -1; walk_queues[q] && walk_force(walk_queues[q], "reduce", i); i++)
            check_way(walk_queues[q], i, host, pattern, opaque, want);
}

static void test_patterns(void **state)
{
    (void)state;
    int n = getenv("GPUIMG_TEST_QUICK") ? QUICK_SIZES : SIZES;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < n; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int p = 0; p < (type == GI_F32 ? PATTERNS : WIDE); p++) {
                    struct guard g;
                    if (i == SIZES - 1 && channels > 2)
                        continue;
                    guard_alloc(&g, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, 16);
                    fill(&g.image, (enum pattern)p);
                    for (int opaque = 0; opaque <= gi_has_alpha(&g.image); opaque++)
                        check(&g.image, (enum pattern)p, opaque);
                    guard_check(&g);
                    guard_free(&g);
                }
}

/* Rows that fill lanes of 32 bits, and lanes of doubles at the limit of their precision. */
static void test_full(void **state)
{
    (void)state;
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int k = 0; k < 3; k++) {
            struct guard g;
            int width = type == GI_F32 ? 100003 : 800003;
            guard_alloc(&g, width, 1, 1, (enum gi_type)type, 0);
            memset(g.image.data, 0xff, gi_row_nbytes(&g.image));
            for (int x = 0; x < width && type == GI_F32; x++) {
                /* floats with all bits set; every third has an exponent that is 20 less */
                uint32_t bits = (uint32_t)(k == 0 ? 254 : k == 1 ? 21 : 127) << 23 | 0x7fffff;
                bits -= x % 3 == 2 ? 20u << 23 : 0;
                memcpy((char *)g.image.data + (size_t)x * 4, &bits, 4);
            }
            check(&g.image, EVEN, false);
            guard_free(&g);
        }
}

/* A sum midway between two doubles is rounded to the even one, unless it has any lower bits. */
static void test_rounding(void **state)
{
    (void)state;
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

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_reduction found[3];
    struct gi_reduce spec = {0};
    (void)dst;
    return queue->k->reduce(queue, found, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("reduce", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),  cmocka_unit_test(test_full),
        cmocka_unit_test(test_types),     cmocka_unit_test(test_rounding),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
