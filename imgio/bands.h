/* Bands: samples per pixel that are not just gray, gray and alpha, RGB, or RGBA, as in a
 * satellite's TIFF of 13 samples, or in RGB with near infrared. While such a file is read or
 * written, its image has all samples interleaved, more than 4 or with another meaning than that of
 * struct gi_image. Only callers that set gi_load_options.bands get such an image, with its struct
 * gi_bands; they take it apart by gi_bands_part(). Other callers get an error, or the bands that a
 * path chooses. SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

enum {
    GI_BANDS_MAX = 1024,       /* samples per pixel of a file */
    GI_BANDS_CHOSEN_MAX = 256, /* bands that a path names */
    GI_BANDS_TEXT = 96,        /* bytes of gi_bands_text() */
};

/* The meaning of the samples of a pixel. If `n` is 0, they are as in struct gi_image. */
struct gi_bands {
    int n;      /* number of samples, alpha included; 2 or more */
    int colors; /* 3: the first three are red, green and blue; 1: each sample is a band */
    int alpha;  /* index of the sample that is the alpha of the colours; -1 if there is none */
};

/* Bands that a path or an option names, from 1. One of them becomes a gray image, three become RGB,
 * and two or four with alpha as the last become gray and alpha, or RGBA. Others stay bands. */
struct gi_band_choice {
    int n; /* 0: no choice */
    unsigned short band[GI_BANDS_CHOSEN_MAX];
    bool alpha; /* the last band is alpha, whatever the file says */
};

/* Reads a list of bands such as "3,2,1", "1-6" or "1,2,3,a4", whose "a" says that the last band is
 * alpha. The list ends at `end`. Returns false if it is no such list. */
bool gi_band_choice_read(struct gi_band_choice *choice, const char *text, const char *end);

/* Forgets what the samples were, for the metadata of an image of some of them. */
struct gi_metadata;
void gi_bands_forget(struct gi_metadata *metadata);

/* Returns the number of images of 1 to 4 channels that the bands consist of: the colours with their
 * alpha, and each further band as a gray image. */
int gi_bands_parts(const struct gi_bands *bands);
/* Copies part i of `image` into `part`, which is allocated here and freed by the caller. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_bands_part(struct gi_image *part, const struct gi_image *image,
                             const struct gi_bands *bands, int i, struct gi_err *err);
/* Copies `part` to where part i of `image` is, which has the same size and type. */
void gi_bands_put(struct gi_image *image, const struct gi_bands *bands, int i,
                  const struct gi_image *part);
/* Returns the number of channels of part i. */
int gi_bands_channels(const struct gi_bands *bands, int i);
/* Returns the index in the image of channel c of part i. */
int gi_bands_sample(const struct gi_bands *bands, int i, int c);

/* The meaning of the samples of an image with `bands`, whose `n` may be 0. */
static inline bool gi_bands_have_alpha(const struct gi_image *image, const struct gi_bands *bands)
{
    return bands->n ? bands->alpha >= 0 : gi_has_alpha(image);
}

/* Returns the number of channels that an ICC profile is for, 1 or 3. */
static inline int gi_bands_colors(const struct gi_image *image, const struct gi_bands *bands)
{
    return bands->n ? bands->colors : gi_color_channels(image);
}

/* Writes what the bands are, such as "5 bands", or "RGB and 1 band". */
const char *gi_bands_text(char text[GI_BANDS_TEXT], const struct gi_bands *bands);
/* Writes the name of sample i: "red", "alpha" or "band4". */
const char *gi_band_name(char name[16], const struct gi_bands *bands, int i);
