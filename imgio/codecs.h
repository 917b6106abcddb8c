/* The formats of the table in formats.c, and helpers that several codecs share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

#include <math.h>

extern const struct gi_format gi_format_png;
extern const struct gi_format gi_format_jpeg;
extern const struct gi_format gi_format_pgm;
extern const struct gi_format gi_format_ppm;
extern const struct gi_format gi_format_pbm;
extern const struct gi_format gi_format_pam;
extern const struct gi_format gi_format_pnm;
extern const struct gi_format gi_format_y4m;
extern const struct gi_format gi_format_pfm;
extern const struct gi_format gi_format_bmp;
extern const struct gi_format gi_format_tga;
extern const struct gi_format gi_format_hdr;
extern const struct gi_format gi_format_npy;
extern const struct gi_format gi_format_exr;
extern const struct gi_format gi_format_fits;
extern const struct gi_format gi_format_tiff;
extern const struct gi_format gi_format_webp;
extern const struct gi_format gi_format_heic;
extern const struct gi_format gi_format_avif;
extern const struct gi_format gi_format_jxl;
extern const struct gi_format gi_format_jp2;
extern const struct gi_format gi_format_gif;
extern const struct gi_format gi_format_ico;

/* The warning for animations. Only their first frame is read. */
#define GI_MORE_FRAMES "holds more frames; only the first is read"
#define GI_MORE_IMAGES "holds more images; only the first is read"
/* What a format loses that stores a resolution as integers; NULL: nothing. `x` and `y` are what it
 * stores of dpi_x and dpi_y. Less than 0.1 % is no loss. */
const char *gi_resolution_loss(const struct gi_metadata *metadata, double x, double y);

/* Why thumbnails are dropped. */
#define GI_OLD_PICTURE "shows the old picture"

/* Returns a copy of `nbytes` at `bytes`, which the caller frees. Returns NULL if memory ran out or
 * nbytes is 0. */
void *gi_memory_copy(const void *bytes, size_t nbytes);

/* Stores a sample, rounded half to even; an integer must be within the range of the type. */
static inline void gi_sample_set(void *row, size_t i, enum gi_type type, double value)
{
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)lrint(value);
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)lrint(value);
    else
        ((float *)row)[i] = (float)value;
}

/* Returns what a file is that gpuimg can't read, with the program that converts it, as in "is a
 * JPEG XL image: ...", or NULL if that is unknown (others.c). */
const char *gi_other_file(const unsigned char *bytes, size_t nbytes);
/* Returns how other programs make a file with the suffix of `path`, or NULL if that is unknown. */
const char *gi_other_writer(const char *path);

/* Writes one image as PNG (png_write.c), as gi_format.encode does. */
/* gi_format.resolution_loss of formats that store pixels per metre. */
const char *gi_png_resolution_loss(const struct gi_metadata *metadata);
const char *gi_bmp_resolution_loss(const struct gi_metadata *metadata);

enum gi_status gi_png_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);

/* Writes one image as GIF (gif/gif_write.c), as gi_format.encode does, by the library. */
enum gi_status gi_gif_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
extern const struct gi_library gi_gif_writer;

/* Write BMP (bmp_write.c), and TGA through stb_image_write (stb_write.c), as gi_format.encode
 * does. */
enum gi_status gi_bmp_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);

enum gi_status gi_tga_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);

/* Write PBM, PGM or PPM (depending on the channels) and PAM (pnm_write.c), as gi_format.encode
 * does. */
enum gi_status gi_pbm_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
enum gi_status gi_pnm_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
enum gi_status gi_pam_encode(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
