/* Computes the source positions of a row of pixels, with a loop for each kind of map, which
 * compilers vectorise.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/geometry/remap.h"

#define UNIT (1.0f / (1 << GI_PLACE_BITS))
enum { CUT = GI_AFFINE_BITS - GI_PLACE_BITS, MASK = (1 << GI_PLACE_BITS) - 1 };

/* Returns the integer part of an affine position. AVX2 has no arithmetic shift of 64-bit integers,
 * so only the upper half is shifted. */
static inline int32_t whole(uint64_t to)
{
    return (int32_t)(uint32_t)(to >> 32) >> (GI_AFFINE_BITS - 32);
}

static inline float part(uint64_t to)
{
    return (float)((int32_t)(to >> CUT) & MASK) * UNIT;
}

static void affine_places(struct remap_places *places, const int64_t *m, bool nearest, int x, int y,
                          int n)
{
    const uint64_t step_x = (uint64_t)m[0], step_y = (uint64_t)m[3];
    uint64_t to_x = (uint64_t)(m[0] * x + m[1] * y + m[2]);
    uint64_t to_y = (uint64_t)(m[3] * x + m[4] * y + m[5]);
    if (nearest) { /* the first bit of the fraction rounds */
        for (int i = 0; i < n; i++, to_x += step_x, to_y += step_y) {
            places->x[i] = whole(to_x) + ((int32_t)(to_x >> (GI_AFFINE_BITS - 1)) & 1);
            places->y[i] = whole(to_y) + ((int32_t)(to_y >> (GI_AFFINE_BITS - 1)) & 1);
        }
        return;
    }
    for (int i = 0; i < n; i++, to_x += step_x, to_y += step_y) {
        places->x[i] = whole(to_x);
        places->y[i] = whole(to_y);
        places->t[i] = part(to_x);
        places->u[i] = part(to_y);
    }
}

#define ROW(name, type, call)                                                                      \
    static void name(struct gi_place *at, const type *map, int x, int y, int n)                    \
    {                                                                                              \
        for (int i = 0; i < n; i++)                                                                \
            at[i] = call;                                                                          \
    }

ROW(projective_row, double, gi_map_projective(map, x + i, y))
ROW(rays_row, struct gi_rays, gi_map_rays(map, x + i, y))
ROW(rings_row, struct gi_rings, gi_map_rings(map, x + i, y))
ROW(lens_row, struct gi_lens, gi_map_lens(map, x + i, y))
ROW(field_row, struct gi_map, gi_map_field(map, map->field[0], map->field[1], x + i, y))

static void map_row(struct gi_place *at, const struct gi_map *map, int x, int y, int n)
{
    switch (map->kind) {
    case GI_MAP_AFFINE: /* handled separately */
        break;
    case GI_MAP_PROJECTIVE:
        projective_row(at, map->m, x, y, n);
        break;
    case GI_MAP_RAYS:
        rays_row(at, &map->rays, x, y, n);
        break;
    case GI_MAP_RINGS:
        rings_row(at, &map->rings, x, y, n);
        break;
    case GI_MAP_LENS:
        lens_row(at, &map->lens, x, y, n);
        break;
    case GI_MAP_FIELD:
        field_row(at, map, x, y, n);
        break;
    }
}

/* Returns the floor of a position of at most 2^26 pixels. The position is made positive before the
 * shift. */
static inline int32_t floor_of(int64_t place)
{
    const int32_t above = 1 << 27;
    uint64_t moved = (uint64_t)(place + ((int64_t)above << GI_PLACE_BITS));
    return (int32_t)(moved >> GI_PLACE_BITS) - above;
}

void GI_CPU(remap_places)(struct remap_places *places, const struct gi_remap *spec, int x, int y,
                          int n)
{
    const bool nearest = spec->interpolation == GI_NEAREST;
    const int64_t half = nearest ? 1 << (GI_PLACE_BITS - 1) : 0;
    struct gi_place at[REMAP_RUN];
    if (spec->map.kind == GI_MAP_AFFINE) {
        affine_places(places, spec->map.affine, nearest, x, y, n);
        return;
    }
    map_row(at, &spec->map, x, y, n);
    for (int i = 0; i < n; i++) {
        places->x[i] = floor_of(at[i].x + half);
        places->y[i] = floor_of(at[i].y + half);
    }
    for (int i = 0; i < n && !nearest; i++) {
        places->t[i] = (float)((int32_t)at[i].x & MASK) * UNIT;
        places->u[i] = (float)((int32_t)at[i].y & MASK) * UNIT;
    }
}
