/* Describes a sequential JPEG for a device that decodes it. The markers are those that libjpeg has
 * read; only the end of the scan is looked for here.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_coded.h"

#include <string.h>

#include "imgio/jpeg/jpeg_markers.h"

/* Returns whether the file has one sequential scan of all components, as struct gi_jpeg_frame
 * describes it. */
static bool is_sequential(const struct jpeg_decompress_struct *cinfo)
{
    bool all = cinfo->comps_in_scan == cinfo->num_components;
    for (int i = 0; all && i < cinfo->comps_in_scan; i++)
        all = cinfo->cur_comp_info[i] == &cinfo->comp_info[i];
    bool color = cinfo->num_components == 1 || cinfo->jpeg_color_space == JCS_RGB ||
                 cinfo->jpeg_color_space == JCS_YCbCr;
    return all && color && (cinfo->num_components == 1 || cinfo->num_components == 3) &&
           cinfo->data_precision == 8 && !cinfo->progressive_mode && !cinfo->arith_code &&
           cinfo->Ss == 0 && cinfo->Se == DCTSIZE2 - 1 && cinfo->Ah == 0 && cinfo->Al == 0;
}

static bool copy_huffman(struct gi_jpeg_huffman *to, JHUFF_TBL *const tables[], int i)
{
    if (i < 0 || i >= NUM_HUFF_TBLS || !tables[i])
        return false;
    memcpy(to[i].counts, tables[i]->bits + 1, sizeof to[i].counts);
    memcpy(to[i].values, tables[i]->huffval, sizeof to[i].values);
    return true;
}

static bool copy_quantization(struct gi_jpeg_frame *frame,
                              const struct jpeg_decompress_struct *cinfo, int i)
{
    if (i < 0 || i >= NUM_QUANT_TBLS || !cinfo->quant_tbl_ptrs[i])
        return false;
    memcpy(frame->quantization[i], cinfo->quant_tbl_ptrs[i]->quantval,
           sizeof frame->quantization[i]);
    return true;
}

/* Copies the tables and factors of component i. Returns false if the file lacks one of the tables,
 * or if a pixel is no whole fraction of a sample. */
static bool copy_component(struct gi_jpeg_frame *frame, const struct jpeg_decompress_struct *cinfo,
                           int i)
{
    const jpeg_component_info *component = &cinfo->comp_info[i];
    int h = component->h_samp_factor, v = component->v_samp_factor;
    if (cinfo->max_h_samp_factor % h || cinfo->max_v_samp_factor % v)
        return false;
    frame->components[i] = (struct gi_jpeg_component){
        .h = cinfo->num_components == 1 ? 1 : (uint8_t)h,
        .v = cinfo->num_components == 1 ? 1 : (uint8_t)v,
        .quantization = (uint8_t)component->quant_tbl_no,
        .dc = (uint8_t)component->dc_tbl_no,
        .ac = (uint8_t)component->ac_tbl_no,
    };
    return copy_quantization(frame, cinfo, component->quant_tbl_no) &&
           copy_huffman(frame->dc, cinfo->dc_huff_tbl_ptrs, component->dc_tbl_no) &&
           copy_huffman(frame->ac, cinfo->ac_huff_tbl_ptrs, component->ac_tbl_no);
}

/* Finds the marker EOI that ends the scan. Returns false if another marker, or no marker, ends
 * it. */
static bool find_end(struct gi_coded *coded, const struct gi_decode *decode)
{
    const unsigned char *at = decode->bytes + coded->scan_at, *end = decode->bytes + decode->nbytes;
    while ((at = memchr(at, 0xff, (size_t)(end - at))) && end - at >= 2) {
        if (at[1] == GI_JPEG_EOI) {
            coded->scan_nbytes = (size_t)(at - decode->bytes) - coded->scan_at;
            return coded->scan_nbytes > 0;
        }
        if (at[1] != 0 && (at[1] & 0xf8) != GI_JPEG_RST0)
            return false;
        at += 2;
    }
    return false;
}

bool gi_jpeg_stays_coded(struct gi_coded *coded, const struct gi_decode *decode,
                         const struct jpeg_decompress_struct *cinfo)
{
    if (!gi_decode_wants_coded(decode, GI_CODED_JPEG) || !is_sequential(cinfo))
        return false;
    *coded = (struct gi_coded){
        .denominator = decode->shrink > 1 ? decode->shrink : 1,
        .frame = {.width = (int)cinfo->image_width,
                  .height = (int)cinfo->image_height,
                  .ncomponents = cinfo->num_components,
                  .ycc = cinfo->jpeg_color_space == JCS_YCbCr,
                  .restart_interval = cinfo->restart_interval},
    };
    int units = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        if (!copy_component(&coded->frame, cinfo, i))
            return false;
        units += coded->frame.components[i].h * coded->frame.components[i].v;
    }
    /* If a file ends inside its head, libjpeg reads an end marker that it has inserted. */
    const unsigned char *scan = cinfo->src->next_input_byte;
    if (units > GI_JPEG_UNITS ||
        scan + cinfo->src->bytes_in_buffer != decode->bytes + decode->nbytes)
        return false;
    coded->scan_at = (size_t)(scan - decode->bytes);
    return find_end(coded, decode);
}
