/* Chooses how a JPEG is coded. Quantization tables and sampling factors are those of the JPEG that
 * the image was read from, or those of a quality.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_settings.h"

#include <string.h>

#include "imgio/small.h"

enum {
    FULL_COLOR = 90, /* quality from which chroma is not subsampled */
    /* libjpeg-turbo computes the reciprocal of 8 times the value in 16 bits. */
    QUANTUM_MAX = UINT16_MAX / 8,
};

static bool copy_table(uint16_t *to, const JQUANT_TBL *table)
{
    for (int i = 0; table && i < DCTSIZE2; i++)
        if (table->quantval[i] < 1 || table->quantval[i] > QUANTUM_MAX)
            return false;
    if (table)
        memcpy(to, table->quantval, sizeof table->quantval);
    return table;
}

struct gi_jpeg_tables *gi_jpeg_tables_of(const struct jpeg_decompress_struct *cinfo)
{
    int n = cinfo->num_components;
    struct gi_jpeg_tables tables = {.ncomponents = n, .ycc = cinfo->jpeg_color_space == JCS_YCbCr};
    if (n != 1 && n != GI_JPEG_COMPONENTS)
        return NULL;
    for (int c = 0; c < n; c++) {
        const jpeg_component_info *info = &cinfo->comp_info[c];
        int slot = info->quant_tbl_no;
        if (slot < 0 || slot >= NUM_QUANT_TBLS ||
            !copy_table(tables.quantization[slot], cinfo->quant_tbl_ptrs[slot]))
            return NULL;
        tables.components[c] = (struct gi_jpeg_component){.h = (uint8_t)info->h_samp_factor,
                                                          .v = (uint8_t)info->v_samp_factor,
                                                          .quantization = (uint8_t)slot};
    }
    struct gi_jpeg_tables *kept = gi_small_alloc(sizeof *kept);
    *kept = tables;
    return kept;
}

/* Copies the sampling factors. Returns false if libjpeg can't encode with them in one scan. */
static bool keep_sampling(struct gi_jpeg_settings *settings, const struct gi_jpeg_tables *tables)
{
    int h_max = 1, v_max = 1, units = 0;
    for (int c = 0; c < settings->ncomponents; c++) {
        const struct gi_jpeg_component *component = &tables->components[c];
        h_max = component->h > h_max ? component->h : h_max;
        v_max = component->v > v_max ? component->v : v_max;
        units += component->h * component->v;
    }
    for (int c = 0; c < settings->ncomponents; c++)
        if (h_max % tables->components[c].h || v_max % tables->components[c].v)
            return false;
    for (int c = 0; c < settings->ncomponents && units <= GI_JPEG_UNITS; c++) {
        settings->h[c] = tables->components[c].h;
        settings->v[c] = tables->components[c].v;
    }
    settings->h_max = h_max;
    settings->v_max = v_max;
    return units <= GI_JPEG_UNITS;
}

static void set_sampling(struct gi_jpeg_settings *settings, int h, int v)
{
    for (int c = 0; c < settings->ncomponents; c++) {
        settings->h[c] = (uint8_t)(c ? 1 : h);
        settings->v[c] = (uint8_t)(c ? 1 : v);
    }
    settings->h_max = h;
    settings->v_max = v;
}

static void choose_sampling(struct gi_jpeg_settings *settings, const struct gi_jpeg_tables *input,
                            enum gi_subsampling wanted)
{
    bool gray = settings->ncomponents == 1; /* the factors of one component have no effect */
    bool keeps = wanted == GI_SUBSAMPLING_KEEP || (wanted == GI_SUBSAMPLING_AUTO && settings->kept);
    if (!gray && keeps && input && input->ncomponents == settings->ncomponents &&
        keep_sampling(settings, input))
        return;
    if (wanted <= GI_SUBSAMPLING_KEEP)
        wanted = settings->quality >= FULL_COLOR ? GI_SUBSAMPLING_444 : GI_SUBSAMPLING_420;
    set_sampling(settings, gray || wanted == GI_SUBSAMPLING_444 ? 1 : 2,
                 gray || wanted != GI_SUBSAMPLING_420 ? 1 : 2);
}

struct gi_jpeg_settings gi_jpeg_settings_of(int channels, const struct gi_metadata *metadata,
                                            const struct gi_save_options *options)
{
    const struct gi_jpeg_tables *input = metadata ? metadata->jpeg : NULL;
    bool keeps = options->quality == GI_QUALITY_KEEP;
    struct gi_jpeg_settings settings = {.quality = keeps ? GI_DEFAULT_QUALITY : options->quality,
                                        .ncomponents = channels,
                                        .progressive = options->jpeg.progressive == GI_JPEG_YES,
                                        .optimize = options->jpeg.optimize == GI_JPEG_YES};
    if (keeps && input && input->ncomponents >= channels)
        settings.kept = input;
    /* Red, green and blue stay these if their samples are quantized and sampled as in the input. */
    settings.ycc = channels == 3 && !(settings.kept && !input->ycc &&
                                      options->jpeg.subsampling <= GI_SUBSAMPLING_KEEP);
    choose_sampling(&settings, input, (enum gi_subsampling)options->jpeg.subsampling);
    return settings;
}

static void keep_tables(const struct gi_jpeg_settings *settings, j_compress_ptr jpeg)
{
    for (int c = 0; c < settings->ncomponents; c++) {
        int slot = settings->kept->components[c].quantization;
        JQUANT_TBL **table = &jpeg->quant_tbl_ptrs[slot];
        if (!*table)
            *table = jpeg_alloc_quant_table((j_common_ptr)jpeg);
        memcpy((*table)->quantval, settings->kept->quantization[slot], sizeof(*table)->quantval);
        jpeg->comp_info[c].quant_tbl_no = slot;
    }
}

void gi_jpeg_settings_apply(const struct gi_jpeg_settings *settings, j_compress_ptr jpeg)
{
    jpeg_set_defaults(jpeg);
    if (settings->ncomponents == 3 && !settings->ycc)
        jpeg_set_colorspace(jpeg, JCS_RGB);
    jpeg_set_quality(jpeg, settings->quality, TRUE);
    if (settings->kept)
        keep_tables(settings, jpeg);
    for (int c = 0; c < settings->ncomponents; c++) {
        jpeg->comp_info[c].h_samp_factor = settings->h[c];
        jpeg->comp_info[c].v_samp_factor = settings->v[c];
    }
    jpeg->optimize_coding = settings->optimize;
    if (settings->progressive)
        jpeg_simple_progression(jpeg);
}
