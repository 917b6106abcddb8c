/* Images whose foreground is a pattern (patterns.h).
 * SPDX-License-Identifier: MIT */
#include "patterns.h"
#include "definitions.h"

enum pattern {
    NOISE_10,
    NOISE_41,
    NOISE_60,
    NOISE_95,
    ALL,
    NONE,
    CHECKERS,
    SPIRAL,
    COMB,
    DOMINOES,
    RINGS,
    PATTERNS
};

/* Returns whether (x, y) is on a one-armed spiral whose turns are two pixels apart. */
static bool on_spiral(int x, int y, int width, int height)
{
    int right = width - 1 - x, below = height - 1 - y;
    int ring = x < y ? x : y;
    ring = right < ring ? right : ring;
    ring = below < ring ? below : ring;
    if (x == ring && y == ring + 1 && ring % 2 == 0)
        return false; /* opens the ring ... */
    if (x == ring && y == ring + 2 && ring % 2 == 1)
        return true; /* ... and leads to the next */
    return ring % 2 == 0;
}

static bool pattern_on(enum pattern pattern, int x, int y, int width, int height, uint64_t *seed)
{
    long dx = 2L * x - width, dy = 2L * y - height;
    switch (pattern) {
    case NOISE_10:
        return case_random(seed) % 100 < 10;
    case NOISE_41:
        return case_random(seed) % 100 < 41;
    case NOISE_60:
        return case_random(seed) % 100 < 60;
    case NOISE_95:
        return case_random(seed) % 100 < 95;
    case ALL:
        return true;
    case CHECKERS:
        return (x + y) % 2;
    case SPIRAL:
        return on_spiral(x, y, width, height);
    case COMB:
        return x % 2 == 0 || y == height - 1;
    case DOMINOES: /* each spans two squares of 4 x 4 */
        return y % 2 == 0 && (x + 1) % 4 < 2;
    case RINGS:
        return (long)sqrt((double)(dx * dx + dy * dy)) / 8 % 2;
    default:
        return false;
    }
}

/* Returns the level above which a sample is foreground. */
float pattern_level(enum gi_type type)
{
    return type == GI_U8 ? 127 : type == GI_U16 ? 20000.5f : 0.25f;
}

/* Fills the image so that exactly the samples of the pattern are above pattern_level(). In GI_F32
 * some of the other samples are NaN. */
void draw_pattern(struct walk_case *c, struct gi_image *image)
{
    enum pattern pattern = (enum pattern)(c->turn % PATTERNS);
    float t = pattern_level(image->type), top = gi_type_full_scale(image->type);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            float part = (walk_real(c) + 1) / 2.001f;
            bool on = pattern_on(pattern, x, y, image->width, image->height, c->seed);
            float v = image->type == GI_F32
                          ? (on ? t + 0.01f + part : t - part)
                          : (on ? floorf(t + 1 + part * (top - t)) : floorf(part * t));
            exact_put(image, y, x, 0, image->type == GI_F32 && !on && part < 0.05f ? NAN : v);
        }
}

bool is_on(const struct gi_image *image, float above, bool invert, int x, int y)
{
    return (exact_sample(image, y, x, 0) > above) != invert;
}
