/* The layout of the scales of XYB, and the order in which tiles are added up.
 * SPDX-License-Identifier: MIT */
#include "kernels/xyb.h"

static int tiles_of(int side)
{
    return (side + GI_XYB_TILE - 1) / GI_XYB_TILE;
}

struct gi_xyb_layout gi_xyb_layout_of(int width, int height)
{
    struct gi_xyb_layout layout = {0};
    bool goes_on = width >= GI_XYB_LEAST && height >= GI_XYB_LEAST;
    int x = 0;
    for (; goes_on && layout.n < GI_XYB_SCALES; layout.n++) {
        layout.scales[layout.n] = (struct gi_xyb_scale){
            .width = width,
            .height = height,
            .x = layout.n ? x : 0,
            .y = layout.n ? 3 * layout.scales[0].height : 0,
            .across = tiles_of(width),
            .first_tile = layout.ntiles,
        };
        layout.ntiles += tiles_of(width) * tiles_of(height);
        x += layout.n ? width : 0;
        goes_on = width >= GI_XYB_LEAST && height >= GI_XYB_LEAST;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    if (layout.n) { /* an image of 8 x 8 pixels has two scales */
        layout.width = x > layout.scales[0].width ? x : layout.scales[0].width;
        layout.height = 3 * (layout.scales[0].height + layout.scales[1].height);
    }
    return layout;
}

void gi_xyb_add_tiles(struct gi_xyb_norms *norms, const struct gi_xyb_layout *layout,
                      const double *tiles)
{
    *norms = (struct gi_xyb_norms){0};
    for (int s = 0; s < layout->n; s++) {
        int end = s + 1 < layout->n ? layout->scales[s + 1].first_tile : layout->ntiles;
        for (int tile = layout->scales[s].first_tile; tile < end; tile++)
            for (int i = 0; i < GI_XYB_TILE_SUMS; i++)
                norms->v[s][i / GI_XYB_NORMS][i % GI_XYB_NORMS] +=
                    tiles[(size_t)tile * GI_XYB_TILE_SUMS + (size_t)i];
    }
}
