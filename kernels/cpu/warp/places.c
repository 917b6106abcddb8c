/* Where the pixels of a row come from: a loop for each map, so that compilers make vectors of it.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/warp/warp.h"

enum { CUT = GI_AFFINE_BITS - GI_PLACE_BITS };

static void affine_row(struct gi_place *at, const int64_t *m, int x, int y, int n)
{
    int64_t to_x = m[0] * x + m[1] * y + m[2], to_y = m[3] * x + m[4] * y + m[5];
    for (int i = 0; i < n; i++, to_x += m[0], to_y += m[3])
        at[i] = (struct gi_place){to_x >> CUT, to_y >> CUT};
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
ROW(field_row, struct gi_map, gi_map_field(map->field[0], map->field[1], map->relative, x + i, y))

static void map_row(struct gi_place *at, const struct gi_map *map, int x, int y, int n)
{
    switch (map->kind) {
    case GI_MAP_AFFINE:
        affine_row(at, map->affine, x, y, n);
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

void GI_CPU(warp_places)(struct warp_places *places, const struct gi_warp *spec, int x, int y,
                         int n)
{
    const int32_t mask = (1 << GI_PLACE_BITS) - 1;
    struct gi_place at[WARP_RUN];
    map_row(at, &spec->map, x, y, n);
    if (spec->interpolation == GI_NEAREST) {
        for (int i = 0; i < n; i++) {
            places->x[i] = (int32_t)((at[i].x + (1 << (GI_PLACE_BITS - 1))) >> GI_PLACE_BITS);
            places->y[i] = (int32_t)((at[i].y + (1 << (GI_PLACE_BITS - 1))) >> GI_PLACE_BITS);
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        places->x[i] = (int32_t)(at[i].x >> GI_PLACE_BITS);
        places->y[i] = (int32_t)(at[i].y >> GI_PLACE_BITS);
        places->t[i] = (float)((int32_t)at[i].x & mask) * (1.0f / (1 << GI_PLACE_BITS));
        places->u[i] = (float)((int32_t)at[i].y & mask) * (1.0f / (1 << GI_PLACE_BITS));
    }
}
