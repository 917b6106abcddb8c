/* Draws the pictures in testdata/: coins on cloth beside a printed ticket. Usage: scene FOLDER
 * (`make testdata`). It reads no other file, so the pictures have no other author.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "imgio/imgio.h"

enum { WIDTH = 640, HEIGHT = 427, NCOINS = 21 };

struct rgb {
    double r, g, b;
};

struct coin {
    double x, y, radius;
    struct rgb metal;
};

static const struct rgb gold = {0.93, 0.76, 0.36}, silver = {0.86, 0.87, 0.88},
                        copper = {0.84, 0.50, 0.33};

static double smooth(double edge0, double edge1, double v)
{
    double t = fmin(1, fmax(0, (v - edge0) / (edge1 - edge0)));
    return t * t * (3 - 2 * t);
}

/* Returns a hash of a lattice point, from 0 to 1. */
static double lattice(int x, int y, unsigned seed)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return h / 4294967295.0;
}

static double value_noise(double x, double y, unsigned seed)
{
    int ix = (int)floor(x), iy = (int)floor(y);
    double fx = smooth(0, 1, x - ix), fy = smooth(0, 1, y - iy);
    double top = lattice(ix, iy, seed) * (1 - fx) + lattice(ix + 1, iy, seed) * fx;
    double bottom = lattice(ix, iy + 1, seed) * (1 - fx) + lattice(ix + 1, iy + 1, seed) * fx;
    return top * (1 - fy) + bottom * fy;
}

static struct rgb mix(struct rgb a, struct rgb b, double t)
{
    return (struct rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static struct rgb scale(struct rgb a, double t)
{
    return (struct rgb){a.r * t, a.g * t, a.b * t};
}

/* Dark cloth: two crossed threads, folds of low frequency, light from the upper left. */
static struct rgb cloth(double x, double y)
{
    double weave = 0.5 + 0.25 * sin(x * 2.1) * sin(y * 0.35) + 0.25 * sin(y * 2.1) * sin(x * 0.35);
    double fold = value_noise(x / 90, y / 60, 1) - 0.5;
    double light = 1.1 - 0.0007 * x - 0.0008 * y;
    double v = (0.14 + 0.045 * weave + 0.06 * fold + 0.02 * value_noise(x, y, 2)) * light;
    return (struct rgb){v * 0.55, v * 0.85, v * 1.25};
}

/* Places coins of three metals with radii of 12 to 34 pixels on a jittered grid. */
static void place_coins(struct coin *coins)
{
    static const struct rgb *const metals[] = {&gold, &silver, &copper};
    for (int i = 0; i < NCOINS; i++) {
        int row = i / 6, column = i % 6;
        coins[i] = (struct coin){
            .x = 58 + 104 * column + 24 * (lattice(i, 0, 7) - 0.5),
            .y = 62 + 92 * row + 18 * (lattice(i, 1, 7) - 0.5),
            .radius = 12 + 22 * lattice(i, 2, 7),
            .metal = scale(*metals[i % 3], 0.72 + 0.28 * lattice(i, 3, 7)),
        };
    }
}

static struct rgb coin_color(const struct coin *coin, double dx, double dy, double distance)
{
    double u = distance / coin->radius, angle = atan2(dy, dx);
    double rim = smooth(0.80, 0.85, u) - smooth(0.93, 0.98, u);
    double groove = smooth(0.70, 0.73, u) - smooth(0.75, 0.78, u);
    double star = smooth(-0.12, 0.12, 0.42 + 0.14 * cos(5 * angle + coin->x) - u);
    double relief = (dx + dy) / (1.6 * coin->radius);
    double light =
        0.84 - 0.12 * relief + 0.16 * rim - 0.14 * groove + star * (0.09 + 0.14 * relief);
    double highlight = exp(-8 * ((u - 0.45) * (u - 0.45))) * fmax(0, cos(angle + 2.4));
    return mix(scale(coin->metal, light), (struct rgb){1, 1, 0.96}, 0.25 * highlight);
}

/* Draws a ticket with lines of marks that look like words; returns true for points on the ticket.
 */
static int ticket(double x, double y, struct rgb *color)
{
    double u = (x - 395) * 0.990 + (y - 322) * 0.139, v = (y - 322) * 0.990 - (x - 395) * 0.139;
    if (u < 0 || u > 208 || v < 0 || v > 92)
        return 0;
    double paper = 0.90 - 0.05 * value_noise(u / 3, v / 3, 5) - 0.0004 * u;
    int line = (int)floor(v / 11), glyph = (int)floor(u / 6);
    double gu = u - 6 * glyph, gv = v - 11 * line;
    int word = lattice(glyph / 5, line, 11) > 0.16 && glyph % 5 != 4;
    int margin = u < 10 || u > 198 || line == 0 || line > 7;
    int stroke = word && !margin && gu > 0.8 && gu < 5 && gv > 1.5 && gv < 8.5 &&
                 lattice(glyph * 3 + (int)(gu / 1.5), line * 5 + (int)(gv / 1.9), 13) > 0.45;
    double ink = stroke ? 0.22 : paper;
    *color = (struct rgb){ink, ink * 0.985, ink * 0.93};
    return 1;
}

static struct rgb scene(const struct coin *coins, double x, double y, int with_ticket)
{
    struct rgb color = cloth(x, y);
    if (with_ticket && ticket(x, y, &color))
        return color;
    for (int i = 0; i < NCOINS; i++) {
        double dx = x - coins[i].x, dy = y - coins[i].y, distance = hypot(dx, dy);
        double shadow = hypot(dx - 4, dy - 5) - coins[i].radius;
        if (distance <= coins[i].radius)
            return coin_color(&coins[i], dx, dy, distance);
        if (shadow < 5)
            color = scale(color, 1 - 0.55 * (1 - smooth(-3, 5, shadow)));
    }
    return color;
}

/* Supersamples 3 x 3 per pixel. Gray images show the coins only. */
static void draw(struct gi_image *image)
{
    struct coin coins[NCOINS];
    place_coins(coins);
    double full = (double)gi_type_full_scale(image->type);
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            struct rgb sum = {0, 0, 0};
            for (int s = 0; s < 9; s++) {
                struct rgb c =
                    scene(coins, x + (s % 3) / 3.0, y + s / 3 / 3.0, image->channels > 1);
                sum = (struct rgb){sum.r + c.r / 9, sum.g + c.g / 9, sum.b + c.b / 9};
            }
            double rgb[3] = {sum.r, sum.g, sum.b};
            if (image->channels == 1)
                rgb[0] = 0.2126 * sum.r + 0.7152 * sum.g + 0.0722 * sum.b;
            for (int c = 0; c < image->channels; c++) {
                double v = fmin(1, fmax(0, rgb[c])) * full + 0.5;
                size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
                if (image->type == GI_U8)
                    ((uint8_t *)gi_row(image, y))[i] = (uint8_t)v;
                else
                    ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int channels;
        enum gi_type type;
    } pictures[] = {{"coins.png", 1, GI_U8},
                    {"coins16.png", 1, GI_U16},
                    {"scene.png", 3, GI_U8},
                    {"scene16.png", 3, GI_U16}};
    struct gi_save_options options = {.quality = 90, .compression = 9};
    struct gi_err err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: scene FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct gi_image image;
        struct gi_err warning = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], pictures[i].name);
        if (gi_image_alloc(&image, WIDTH, HEIGHT, pictures[i].channels, pictures[i].type, &err)) {
            fprintf(stderr, "scene: %s\n", err.text);
            return 1;
        }
        draw(&image);
        if (gi_save(&image, NULL, path, &options, &warning, &err)) {
            fprintf(stderr, "scene: %s\n", err.text);
            return 1;
        }
        gi_image_free(&image);
    }
    return 0;
}
