/* Moves the blocks of coefficients of a JPEG. A mirrored block has the opposite sign in the
 * coefficients of odd frequency along the axis, because cos((2 x + 1) u pi / 16) changes its sign
 * if x becomes 7 - x and u is odd (ITU-T T.81, A.3.3). A transposed block is the transposed matrix.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/lossless_blocks.h"

#include <math.h>
#include <string.h>

uint64_t gi_blocks_nbytes(const struct jpeg_decompress_struct *in)
{
    uint64_t blocks = 0;
    for (int i = 0; i < in->num_components; i++)
        blocks += (uint64_t)in->comp_info[i].width_in_blocks * in->comp_info[i].height_in_blocks;
    return blocks * sizeof(JBLOCK);
}

/* ---- the plan ---- */

/* An affine map, as in struct gi_lossless_place. */
struct map {
    double m[6];
};

/* Returns the map that applies `first` and then `second`. */
static struct map joined(const struct map *first, const struct map *second)
{
    const double *a = second->m, *b = first->m;
    return (struct map){{a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4],
                         a[0] * b[2] + a[1] * b[5] + a[2], a[3] * b[0] + a[4] * b[3],
                         a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]}};
}

/* Returns the map from the upright picture to the picture as it is stored. */
static struct map map_of_orientation(int orientation, const struct jpeg_decompress_struct *in)
{
    struct map map;
    gi_layout_map(map.m, gi_orientation_layout(orientation), (int)in->image_width,
                  (int)in->image_height);
    return map;
}

/* Sets an axis of the stored picture. Its coordinate is `scale` times that of the result, which has
 * `n` pixels, plus `offset`. Returns false if the pixels are not moved by whole pixels, or if some
 * are outside the picture. */
static bool set_axis(struct gi_blocks_axis *axis, double scale, double offset, int n, int whole,
                     int grid)
{
    double from = scale < 0 ? offset - n : offset;
    if (fabs(scale) != 1 || from != floor(from) || from < 0 || from + n > whole)
        return false;
    *axis = (struct gi_blocks_axis){.whole = whole,
                                    .grid = grid,
                                    .from = (int)from,
                                    .to = (int)from + n,
                                    .mirrored = scale < 0};
    return true;
}

/* Moves the side at which the result begins to the grid. */
static enum gi_status settle_axis(struct gi_blocks_axis *axis, const char *name,
                                  const struct gi_lossless *lossless, struct gi_err *err)
{
    int whole = axis->whole - axis->whole % axis->grid;
    bool complete = !axis->mirrored || axis->to <= whole;
    if (complete)
        axis->moved =
            (axis->mirrored ? axis->grid - axis->to % axis->grid : axis->from) % axis->grid;
    if (lossless->exact && axis->moved)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "the rectangle begins within a block, whose %s is %d pixels", name,
                       axis->grid);
    if (axis->mirrored && complete)
        axis->to += axis->moved;
    else if (complete)
        axis->from -= axis->moved;
    if (complete)
        return GI_OK;
    if (!lossless->trim || axis->from >= whole)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "its %s of %d pixels is no multiple of %d, the %s of its blocks, and an "
                       "incomplete block can't be turned without loss: want --lossless=auto, which "
                       "decodes and encodes such a file%s, or no --lossless",
                       name, axis->whole, axis->grid, name,
                       axis->from >= whole ? "" : ", --lossless=trim, which cuts it off");
    axis->cut = axis->to - whole;
    axis->to = whole;
    return GI_OK;
}

enum gi_status gi_blocks_plan(struct gi_blocks_turn *turn, const struct jpeg_decompress_struct *in,
                              const struct gi_lossless_place *place, int orientation,
                              const struct gi_lossless *lossless, struct gi_err *err)
{
    struct map upright, stored = map_of_orientation(orientation, in);
    memcpy(upright.m, place->map, sizeof upright.m);
    const struct map all = joined(&upright, &stored);
    bool one = in->num_components == 1, swaps = all.m[0] == 0;
    int w = swaps ? place->height : place->width, h = swaps ? place->width : place->height;
    double sx = swaps ? all.m[1] : all.m[0], sy = swaps ? all.m[3] : all.m[4];
    bool whole = set_axis(&turn->x, sx, all.m[2], w, (int)in->image_width,
                          DCTSIZE * (one ? 1 : in->max_h_samp_factor)) &&
                 set_axis(&turn->y, sy, all.m[5], h, (int)in->image_height,
                          DCTSIZE * (one ? 1 : in->max_v_samp_factor));
    if (!whole || all.m[swaps ? 4 : 1] != 0 || all.m[swaps ? 0 : 3] != 0)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--lossless: pixels that are not moved as whole pixels can't be turned "
                       "without loss: want quarter turns");
    enum gi_status status = settle_axis(&turn->x, "width", lossless, err);
    if (!status)
        status = settle_axis(&turn->y, "height", lossless, err);
    turn->layout = (turn->x.mirrored ? GI_LAYOUT_MIRROR_X : 0) |
                   (turn->y.mirrored ? GI_LAYOUT_MIRROR_Y : 0) | (swaps ? GI_LAYOUT_TRANSPOSE : 0);
    w = turn->x.to - turn->x.from;
    h = turn->y.to - turn->y.from;
    turn->width = swaps ? h : w;
    turn->height = swaps ? w : h;
    return status;
}

void gi_blocks_map(double map[6], const struct gi_blocks_turn *turn)
{
    const struct gi_blocks_axis *x = &turn->x, *y = &turn->y;
    gi_layout_map(map, turn->layout, x->to - x->from, y->to - y->from);
    map[2] += x->from;
    map[5] += y->from;
}

void gi_blocks_report(const struct gi_blocks_turn *turn, struct gi_lossless *lossless)
{
    bool swaps = turn->layout & GI_LAYOUT_TRANSPOSE;
    const struct gi_blocks_axis *across = swaps ? &turn->y : &turn->x,
                                *down = swaps ? &turn->x : &turn->y;
    lossless->block_width = across->grid;
    lossless->block_height = down->grid;
    lossless->left = across->moved;
    lossless->above = down->moved;
    lossless->cut_width = across->cut;
    lossless->cut_height = down->cut;
}

/* ---- the blocks ---- */

/* The sampling factors of a component of the result. A single component has 1 x 1. */
struct factors {
    int h, v;
};

static struct factors factors_of(const struct gi_blocks_turn *turn,
                                 const struct jpeg_decompress_struct *in, int c)
{
    const jpeg_component_info *component = &in->comp_info[c];
    if (in->num_components == 1)
        return (struct factors){1, 1};
    return turn->layout & GI_LAYOUT_TRANSPOSE
               ? (struct factors){component->v_samp_factor, component->h_samp_factor}
               : (struct factors){component->h_samp_factor, component->v_samp_factor};
}

/* Returns the number of MCUs of the result along an axis, the last of which may be incomplete. */
static int mcus(const struct gi_blocks_axis *axis)
{
    return (axis->to - axis->from + axis->grid - 1) / axis->grid;
}

jvirt_barray_ptr *gi_blocks_request(const struct gi_blocks_turn *turn,
                                    struct jpeg_decompress_struct *in)
{
    bool swaps = turn->layout & GI_LAYOUT_TRANSPOSE;
    int across = mcus(swaps ? &turn->y : &turn->x), down = mcus(swaps ? &turn->x : &turn->y);
    if (!turn->layout && !turn->x.from && !turn->y.from)
        return NULL;
    jvirt_barray_ptr *made = (*in->mem->alloc_small)((j_common_ptr)in, JPOOL_IMAGE,
                                                     sizeof *made * (size_t)in->num_components);
    for (int c = 0; c < in->num_components; c++) {
        struct factors f = factors_of(turn, in, c);
        made[c] = (*in->mem->request_virt_barray)((j_common_ptr)in, JPOOL_IMAGE, FALSE,
                                                  (JDIMENSION)(across * f.h),
                                                  (JDIMENSION)(down * f.v), (JDIMENSION)f.v);
    }
    return made;
}

static void transpose_table(JQUANT_TBL *table)
{
    for (int i = 0; table && i < DCTSIZE; i++)
        for (int j = 0; j < i; j++) {
            UINT16 v = table->quantval[i * DCTSIZE + j];
            table->quantval[i * DCTSIZE + j] = table->quantval[j * DCTSIZE + i];
            table->quantval[j * DCTSIZE + i] = v;
        }
}

void gi_blocks_set_parameters(const struct gi_blocks_turn *turn, struct jpeg_compress_struct *out)
{
    out->image_width = (JDIMENSION)turn->width;
    out->image_height = (JDIMENSION)turn->height;
    if (out->num_components == 1)
        out->comp_info[0].h_samp_factor = out->comp_info[0].v_samp_factor = 1;
    if (!(turn->layout & GI_LAYOUT_TRANSPOSE))
        return;
    for (int c = 0; c < out->num_components; c++) {
        jpeg_component_info *component = &out->comp_info[c];
        int h = component->h_samp_factor;
        component->h_samp_factor = component->v_samp_factor;
        component->v_samp_factor = h;
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        transpose_table(out->quant_tbl_ptrs[i]);
}

/* Returns the block of the picture that becomes block i of the result along an axis, for a
 * component of `factor` blocks per MCU. */
static int block_of(const struct gi_blocks_axis *axis, int factor, int i)
{
    return axis->mirrored ? axis->to / axis->grid * factor - 1 - i
                          : axis->from / axis->grid * factor + i;
}

static void turn_block(JCOEF *made, const JCOEF *read, int layout)
{
    bool mirror_x = layout & GI_LAYOUT_MIRROR_X, mirror_y = layout & GI_LAYOUT_MIRROR_Y;
    bool swaps = layout & GI_LAYOUT_TRANSPOSE;
    for (int v = 0; v < DCTSIZE; v++)
        for (int u = 0; u < DCTSIZE; u++) {
            JCOEF value = read[v * DCTSIZE + u];
            bool negative = (mirror_x && u % 2) != (mirror_y && v % 2);
            made[swaps ? u * DCTSIZE + v : v * DCTSIZE + u] = negative ? (JCOEF)-value : value;
        }
}

static JBLOCKROW row_of(struct jpeg_decompress_struct *in, jvirt_barray_ptr array, int y,
                        bool written)
{
    return *(*in->mem->access_virt_barray)((j_common_ptr)in, array, (JDIMENSION)y, 1, written);
}

static void move_component(const struct gi_blocks_turn *turn, struct jpeg_decompress_struct *in,
                           int c, jvirt_barray_ptr made, jvirt_barray_ptr read)
{
    bool swaps = turn->layout & GI_LAYOUT_TRANSPOSE;
    struct factors f = factors_of(turn, in, c);
    const struct gi_blocks_axis *across = swaps ? &turn->y : &turn->x,
                                *down = swaps ? &turn->x : &turn->y;
    int width = mcus(across) * f.h, height = mcus(down) * f.v;
    for (int y = 0; y < height; y++) {
        JBLOCKROW to = row_of(in, made, y, true);
        int other = block_of(down, f.v, y);
        JBLOCKROW from = swaps ? NULL : row_of(in, read, other, false);
        for (int x = 0; x < width; x++) {
            int at = block_of(across, f.h, x);
            turn_block(to[x], swaps ? row_of(in, read, at, false)[other] : from[at], turn->layout);
        }
    }
}

void gi_blocks_move(const struct gi_blocks_turn *turn, struct jpeg_decompress_struct *in,
                    jvirt_barray_ptr *made, jvirt_barray_ptr *read)
{
    for (int c = 0; made && c < in->num_components; c++)
        move_component(turn, in, c, made[c], read[c]);
}
