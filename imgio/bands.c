/* Takes images of several bands apart, and joins them.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/metadata.h"

#include <stdio.h>
#include <string.h>

/* Reads a number of at most 5 digits, and moves *at past it. Returns 0 if there is none. */
static unsigned read_number(const char **at)
{
    unsigned v = 0;
    for (int i = 0; i < 5 && **at >= '0' && **at <= '9'; i++, (*at)++)
        v = 10 * v + (unsigned)(**at - '0');
    return v;
}

bool gi_band_choice_read(struct gi_band_choice *choice, const char *text, const char *end)
{
    *choice = (struct gi_band_choice){0};
    for (const char *at = text;; at++) {
        if (choice->alpha) /* alpha is the last band */
            return false;
        choice->alpha = *at == 'a';
        at += choice->alpha;
        unsigned first = read_number(&at), last = first;
        if (*at == '-' && !choice->alpha) {
            at++;
            last = read_number(&at);
        }
        if (!first || last < first || last > GI_BANDS_MAX ||
            choice->n + (int)(last - first) >= GI_BANDS_CHOSEN_MAX)
            return false;
        for (unsigned band = first; band <= last; band++)
            choice->band[choice->n++] = (unsigned short)band;
        if (at == end)
            return !choice->alpha || choice->n == 2 || choice->n >= 4;
        if (*at != ',')
            return false;
    }
}

static void copy_sample(void *to, const void *from, size_t nbytes)
{
    if (nbytes == 1)
        memcpy(to, from, 1);
    else if (nbytes == 2)
        memcpy(to, from, 2);
    else
        memcpy(to, from, 4);
}

/* Copies sample `from` of each pixel of `src` to sample `to` of `dst`. */
static void copy_band(const struct gi_image *dst, int to, const struct gi_image *src, int from)
{
    size_t size = gi_type_nbytes(src->type), step_in = (size_t)src->channels * size;
    size_t step_out = (size_t)dst->channels * size;
    for (int y = 0; y < src->height; y++) {
        const char *in = (const char *)gi_row(src, y) + (size_t)from * size;
        char *out = (char *)gi_row(dst, y) + (size_t)to * size;
        for (int x = 0; x < src->width; x++, in += step_in, out += step_out)
            copy_sample(out, in, size);
    }
}

/* Returns the meaning of the samples of an ordinary image. */
static struct gi_bands bands_of(const struct gi_image *image)
{
    return (struct gi_bands){.n = image->channels,
                             .colors = gi_color_channels(image),
                             .alpha = gi_has_alpha(image) ? image->channels - 1 : -1};
}

/* Replaces the image by the chosen bands of it. *bands becomes the meaning of its samples. If the
 * image has no samples, only its shape changes. */
static enum gi_status choose(struct gi_image *image, struct gi_bands *bands,
                             const struct gi_band_choice *choice, struct gi_err *err)
{
    struct gi_bands all = bands->n ? *bands : bands_of(image);
    struct gi_image made = *image;
    int n = choice->n, last = choice->band[n - 1] - 1;
    bool alpha = choice->alpha || last == all.alpha;
    for (int i = 0; i < n; i++)
        if (choice->band[i] > all.n)
            return gi_fail(err, GI_E_UNSUPPORTED, "bands=%d: it has bands 1 to %d", choice->band[i],
                           all.n);
    bool plain = n == 1 || n == 3 || ((n == 2 || n == 4) && alpha);
    *bands = plain ? (struct gi_bands){0} : (struct gi_bands){n, 1, alpha ? n - 1 : -1};
    made.channels = n;
    if (image->data) {
        enum gi_status status = gi_image_alloc_from(&made, image->allocator, image->width,
                                                    image->height, n, image->type, err);
        if (status)
            return status;
        made.shrunk = image->shrunk;
        for (int i = 0; i < n; i++)
            copy_band(&made, i, image, choice->band[i] - 1);
        gi_image_free(image);
    }
    *image = made;
    return GI_OK;
}

/* Sets `at` to the indices of the samples of part i, and returns their number. */
static int samples_of(int at[GI_MAX_CHANNELS], const struct gi_bands *bands, int i)
{
    int n = 0;
    if (i == 0) {
        for (; n < bands->colors; n++)
            at[n] = n;
        if (bands->alpha >= 0)
            at[n++] = bands->alpha;
        return n;
    }
    int band = bands->colors - 1 + i;
    at[0] = band + (bands->alpha >= 0 && band >= bands->alpha);
    return 1;
}

int gi_bands_parts(const struct gi_bands *bands)
{
    return 1 + bands->n - bands->colors - (bands->alpha >= 0);
}

int gi_bands_channels(const struct gi_bands *bands, int i)
{
    int at[GI_MAX_CHANNELS];
    return samples_of(at, bands, i);
}

int gi_bands_sample(const struct gi_bands *bands, int i, int c)
{
    int at[GI_MAX_CHANNELS] = {0};
    samples_of(at, bands, i);
    return at[c];
}

enum gi_status gi_bands_part(struct gi_image *part, const struct gi_image *image,
                             const struct gi_bands *bands, int i, struct gi_err *err)
{
    int at[GI_MAX_CHANNELS], n = samples_of(at, bands, i);
    enum gi_status status = gi_image_alloc_from(part, image->allocator, image->width, image->height,
                                                n, image->type, err);
    for (int c = 0; c < n && !status; c++)
        copy_band(part, c, image, at[c]);
    part->shrunk = image->shrunk;
    return status;
}

void gi_bands_put(struct gi_image *image, const struct gi_bands *bands, int i,
                  const struct gi_image *part)
{
    int at[GI_MAX_CHANNELS], n = samples_of(at, bands, i);
    for (int c = 0; c < n; c++)
        copy_band(image, at[c], part, c);
}

/* Returns whether the part says what the samples are. */
static bool is_of_samples(const struct gi_part *part)
{
    return part->kind == GI_PART_FIELD || part->kind == GI_PART_EXTRA_SAMPLES;
}

void gi_bands_forget(struct gi_metadata *metadata)
{
    gi_parts_remove(&metadata->parts,
                    is_of_samples); /* what the samples were, as PAM's tuple type */
    metadata->bands = (struct gi_bands){0};
}

enum gi_status gi_bands_settle(struct gi_decode *decode, struct gi_err *err)
{
    const struct gi_load_options *options = decode->options;
    struct gi_bands *bands = &decode->info->bands;
    char text[GI_BANDS_TEXT];
    enum gi_status status = GI_OK;
    if (options->choose.n) {
        if (bands->n)
            gi_bands_forget(decode->metadata);
        status = choose(decode->image, bands, &options->choose, err);
        gi_metadata_fit(decode->metadata, decode->image->channels >= 3 ? 3 : 1);
        gi_gain_map_drop(decode->metadata, "of other bands");
    }
    if (!status && bands->n && !options->bands)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "has %s: want those to be taken, as in x.tif[bands=1] for gray or "
                       "x.tif[bands=3,2,1] for RGB, or by --bands 3,2,1",
                       gi_bands_text(text, bands));
    if (!status && bands->n && options->linear && !options->header_only)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--linear: has %s, which have no curve: choose colours, as in "
                       "x.tif[bands=3,2,1] or by --bands 3,2,1",
                       gi_bands_text(text, bands));
    decode->metadata->bands = *bands;
    return status;
}

const struct gi_bands *gi_bands_of(const struct gi_metadata *metadata)
{
    static const struct gi_bands none;
    return metadata ? &metadata->bands : &none;
}

enum gi_status gi_bands_check_save(const struct gi_format *format, const struct gi_image *image,
                                   const struct gi_metadata *metadata,
                                   const struct gi_save_options *options, struct gi_err *err)
{
    const struct gi_bands *bands = gi_bands_of(metadata);
    char text[GI_BANDS_TEXT];
    bool bits = options->bits == 1 || options->compression == GI_COMPRESSION_G4;
    const char *what = !format->bands        ? "holds gray or RGB, with or without alpha"
                       : options->background ? "takes no --background then"
                       : bits                ? "holds no bands of one bit"
                                             : NULL;
    if (bands->n && what)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "the image has %s, and %s %s: want %ssome bands, as in x.tif[bands=3,2,1] "
                       "or by --bands 3,2,1",
                       gi_bands_text(text, bands), format->info.name, what,
                       format->bands ? "" : "tiff, npy or pam, or ");
    return bands->n || gi_color_channels(image) != 3 || format->rgb
               ? GI_OK
               : gi_fail(err, GI_E_UNSUPPORTED,
                         "%s holds gray only, and the image has colour: add --gray",
                         format->info.name);
}

/* Returns whether an array of this shape is read with its bands as another axis, or as channels. */
static bool is_taken(const struct gi_image *image, const struct gi_save_options *options)
{
    int n = image->channels, first = options->channels_first ? n : image->height,
        last = options->channels_first ? image->width : n;
    if (n <= GI_MAX_CHANNELS || first <= GI_MAX_CHANNELS || last <= GI_MAX_CHANNELS)
        return true;
    return (first < last) != options->channels_first;
}

const char *gi_bands_loss(const struct gi_format *format, const struct gi_image *image,
                          const struct gi_bands *bands, const struct gi_save_options *options)
{
    bool said = bands->colors == 1 && bands->alpha < 0;
    bool taken = format == &gi_format_npy && is_taken(image, options);
    return bands->n && format != &gi_format_tiff && (!said || taken) ? "what its bands are" : NULL;
}

const char *gi_bands_text(char text[GI_BANDS_TEXT], const struct gi_bands *bands)
{
    int further = gi_bands_parts(bands) - 1;
    bool alpha = bands->alpha >= 0;
    if (bands->colors == 3)
        snprintf(text, GI_BANDS_TEXT, "%s and %d band%s", alpha ? "RGBA" : "RGB", further,
                 further == 1 ? "" : "s");
    else
        snprintf(text, GI_BANDS_TEXT, "%d bands%s", bands->n - alpha, alpha ? " and alpha" : "");
    return text;
}

const char *gi_band_name(char name[16], const struct gi_bands *bands, int i)
{
    static const char *const colors[] = {"red", "green", "blue"};
    if (i == bands->alpha)
        snprintf(name, 16, "alpha");
    else if (bands->colors == 3 && i < 3)
        snprintf(name, 16, "%s", colors[i]);
    else
        snprintf(name, 16, "band%d", i + 1);
    return name;
}
