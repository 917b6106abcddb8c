/* Parts of a file that are neither samples nor one of the other members of struct gi_metadata:
 * chunks, tags, segments, extensions, header lines, trailing bytes, further frames. A reader
 * accounts for every byte of its file: a part is used (it became samples or metadata), or it is
 * listed here. gi_save() compares the list with what the output's format holds, and names the
 * difference (imgio/losses.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of parts. A writer recognises what it holds by the kind and the code. */
enum gi_part_kind {
    GI_PART_PNG_CHUNK,     /* code: the four letters as a big-endian number */
    GI_PART_WEBP_CHUNK,    /* code: the same */
    GI_PART_TIFF_TAG,      /* code: the tag */
    GI_PART_EXTRA_SAMPLES, /* uint16_t per sample beside the colours: its kind in a TIFF */
    GI_PART_GEO,           /* tag of GeoTIFF or GDAL; code: the tag */
    GI_PART_JPEG_SEGMENT,  /* code: the marker, 0xe0 to 0xef */
    GI_PART_GAIN_MAP,      /* JPEG that is the gain map of a JPEG (imgio/jpeg/gain_map.h) */
    GI_PART_PHOTOSHOP,     /* image resources of Photoshop, which begin with "8BIM" */
    GI_PART_IPTC,          /* data sets of IPTC-IIM, each of which begins with 0x1c */
    GI_PART_GIF_EXTENSION, /* code: the label */
    GI_PART_HDR_LINE,      /* line of the header of a .hdr, without its newline */
    GI_PART_PFM_SCALE,     /* the scale without its sign, as text */
    GI_PART_FITS_CARDS,    /* cards of 80 bytes of the header of a FITS; code: 0 or GI_FITS_SKY */
    GI_PART_FIELD,         /* any other field of a header */
    GI_PART_METADATA,      /* member of struct gi_metadata that was removed, such as a thumbnail */
    GI_PART_IMAGES,        /* further images of the file; code: 0 or GI_FRAMES */
    GI_PART_TRAILING,      /* bytes after the end of the image */
    GI_PART_FURTHER,       /* parts beyond the limits below */
};

enum { GI_FITS_SKY = 1 }; /* cards that tell where in the sky the pixels are */
enum { GI_FRAMES = 1 };   /* frames of an animation, not pages */

enum gi_part_fate {
    GI_PART_CARRIED, /* its bytes are kept for a format that holds them */
    GI_PART_DROPPED, /* removed on purpose, because it does not apply to changed pixels */
    GI_PART_LOST,    /* not kept by any part of gpuimg */
};

struct gi_part {
    enum gi_part_kind kind;
    enum gi_part_fate fate;
    uint32_t code;   /* as the kind says */
    int place;       /* as the format's reader defines it, for example before or after the pixels */
    const char *why; /* static text: reason for the fate; NULL if there is nothing to add */
    bool warned;     /* a warning of the reader has named the loss, so that only --strict does */
    size_t nbytes;   /* size in the file, 0 if unknown */
    void *bytes;     /* nbytes bytes, if the part is carried; owned here */
    char name[64];   /* printable ASCII: "chunk vpAg", "12 frames after the first" */
};

/* The parts of a file, in the file's order. */
struct gi_parts {
    struct gi_part *list;
    int n;
    size_t nbytes; /* carried */
};

enum {
    /* Maximum number of parts, and of bytes carried. Further parts are counted by one part. */
    GI_PARTS_MAX = 1024,
    GI_PARTS_NBYTES_MAX = 64 << 20,
};

struct gi_decode;
struct gi_metadata;

/* Adds a part, of which kind, fate and further members are set, and whose name is the printf text.
 * If it is carried, part->bytes are copied; the caller keeps its own. Sets metadata->starved if
 * memory runs out. */
void gi_metadata_add_part(struct gi_metadata *metadata, const struct gi_part *part,
                          const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds the fields that another reading of the same file has `found` lost, unless a part with their
 * name is there. */
void gi_metadata_add_losses(struct gi_metadata *metadata, const struct gi_metadata *found);

/* The same as gi_metadata_add_part() for a decoder. */
#define gi_decode_add_part(decode, part, ...)                                                      \
    gi_metadata_add_part((decode)->metadata, part, __VA_ARGS__)

/* Adds further images that are not read, with the name `name`, and warns of them unless there is a
 * warning already: `warning` is "holds more frames; only the first is read". */
void gi_decode_add_images(struct gi_decode *decode, const char *name, const char *warning);

/* Adds the frames of an animation after the first, if there are any, as further images. */
void gi_decode_add_frames(struct gi_decode *decode, unsigned further, const char *warning);

/* Adds a part `name` of the picture or of a field that a reader leaves out, and warns of it as
 * gi_decode_add_images() does. */
void gi_decode_add_loss(struct gi_decode *decode, const char *name, const char *warning);

/* Bits of the pixels, such as the fourth byte of 32, that are neither colour nor alpha. Some
 * writers set all of them; bits that differ between pixels may be a mask. */
struct gi_spare_bits {
    uint32_t all, any; /* bits that are set in all pixels, and in one at least */
    bool begun;
};
static inline void gi_spare_bits_add(struct gi_spare_bits *spare, uint32_t bits)
{
    spare->all = spare->begun ? spare->all & bits : bits;
    spare->any |= bits;
    spare->begun = true;
}

/* Adds the bits `mask` of the pixels as a loss, unless all are 0 or all are 1. */
void gi_decode_add_spare_bits(struct gi_decode *decode, const struct gi_spare_bits *spare,
                              uint32_t mask);

/* Adds the bytes from offset `end` to the end of the file, if there are any. */
void gi_decode_add_trailing(struct gi_decode *decode, uint64_t end);

/* As gi_decode_add_trailing(), for PNG, JPEG, WebP, PNM and PAM. If an image of these formats
 * follows at `end`, after white space if there is any, sets decode->followed instead. */
void gi_decode_add_rest(struct gi_decode *decode, uint64_t end);

/* If decode->followed: counts the images, which is an error unless only the header was asked for.
 * Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_decode_settle_rest(struct gi_decode *decode, struct gi_err *err);

/* Names, once, that colours multiplied by alpha were above it, and became full scale. */
void gi_decode_add_cut_colors(struct gi_decode *decode);

/* Frees the parts for which `which` returns true; all if `which` is NULL. */
void gi_parts_remove(struct gi_parts *parts, bool (*which)(const struct gi_part *part));

/* Returns the first carried part with this kind and code, or NULL. */
const struct gi_part *gi_parts_find(const struct gi_parts *parts, enum gi_part_kind kind,
                                    uint32_t code);
