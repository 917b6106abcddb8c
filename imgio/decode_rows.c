/* Gives decoders memory for the rows of an image, if these are taken while they are decoded.
 * SPDX-License-Identifier: MIT */
#include "imgio/format.h"

enum {
    LEND_NBYTES = 1 << 20,
    FORGET_NBYTES = 4 << 20,
};

bool gi_decode_lend(struct gi_decode *decode, int top, int bottom)
{
    const struct gi_row_taker *taker = decode->options->taker;
    decode->lent = *decode->image;
    decode->lent.height = bottom - top;
    decode->lent_top = top;
    return taker->lend(taker->self, &decode->lent, top, bottom);
}

void *gi_decode_row(struct gi_decode *decode, int y)
{
    const struct gi_image *image = decode->image;
    if (!decode->options->taker)
        return gi_row(image, y);
    if (!decode->lent.data || y - decode->lent_top >= decode->lent.height) {
        int rows = (int)(LEND_NBYTES / gi_row_nbytes(image)) + 1;
        if (!gi_decode_lend(decode, y, rows < image->height - y ? y + rows : image->height))
            return NULL;
    }
    return gi_row(&decode->lent, y - decode->lent_top);
}

void gi_decode_forget(struct gi_decode *decode, size_t at)
{
    const struct gi_load_options *options = decode->options;
    if (at < decode->forgotten) /* the file is read again */
        decode->forgotten = 0;
    if ((!options->taker && !options->header_only) || at - decode->forgotten < FORGET_NBYTES)
        return;
    gi_source_forget(decode->bytes + decode->forgotten, at - decode->forgotten);
    decode->forgotten = at;
}
