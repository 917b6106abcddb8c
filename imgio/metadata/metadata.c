/* Metadata besides the samples: profiles, EXIF, XMP and texts.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/metadata/color_tags.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/metadata/xmp.h"

#include <stdlib.h>
#include <string.h>

void gi_metadata_free(struct gi_metadata *metadata)
{
    for (int i = 0; i < metadata->ntexts; i++)
        free(metadata->texts[i].keyword);
    free(metadata->texts);
    free(metadata->icc);
    free(metadata->exif);
    free(metadata->xmp);
    free(metadata->color);
    free(metadata->jpeg);
    free(metadata->palette);
    gi_parts_remove(&metadata->parts, NULL);
    gi_linear_light_free(&metadata->light);
    *metadata = (struct gi_metadata){0};
}

const char *gi_text_shape(const char *text, size_t n)
{
    static const char key[] = "\"shape\":", old[] = "shape=(";
    if (n >= sizeof old && memcmp(text, old, sizeof old - 1) == 0)
        return text + sizeof old - 1;
    const char *at = n && *text == '{' ? memmem(text, n, key, sizeof key - 1) : NULL;
    const char *end = text + n;
    for (at = at ? at + sizeof key - 1 : end; at < end && *at == ' ';)
        at++;
    return at < end && *at == '[' ? at + 1 : NULL;
}

bool gi_text_is_shape_of_pages(const char *text)
{
    return gi_text_shape(text, strlen(text)) != NULL;
}

const char *gi_metadata_drop_sizes(struct gi_metadata *metadata)
{
    const char *writer = NULL;
    int kept = 0;
    for (int i = 0; i < metadata->ntexts; i++) {
        struct gi_text *text = &metadata->texts[i];
        bool described = strcmp(text->keyword, "Description") == 0;
        bool ome = described && strstr(text->text, "<OME ");
        if (!ome && !(described && gi_text_is_shape_of_pages(text->text))) {
            metadata->texts[kept++] = *text;
            continue;
        }
        if (ome)
            writer = "OME";
        else if (strchr(text->text, ':') != strrchr(text->text, ':')) /* another key */
            writer = "tifffile";
        free(text->keyword);
    }
    metadata->ntexts = kept;
    return writer;
}

void gi_metadata_keep(struct gi_metadata *metadata, void **block, size_t *nbytes, const void *bytes,
                      size_t n)
{
    if (*block || !n)
        return;
    *block = gi_memory_copy(bytes, n);
    *nbytes = *block ? n : 0;
    metadata->starved = metadata->starved || !*block;
}

static void keep_xmp(struct gi_metadata *metadata, const void *bytes, size_t n)
{
    gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, bytes, n);
}

/* Returns the length in bytes of the UTF-8 character at `p`, where `n` bytes are available, or 0 if
 * there is no such character (RFC 3629, section 4; surrogates are accepted). */
static size_t character(const unsigned char *p, size_t n)
{
    size_t length = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : 4;
    if (length > n || *p > 0xf4 || (*p >= 0x80 && *p < 0xc2) || (*p == 0xe0 && p[1] < 0xa0) ||
        (*p == 0xf0 && p[1] < 0x90))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static bool is_utf8(const unsigned char *p, size_t n)
{
    for (size_t length; n; p += length, n -= length)
        if (!(length = character(p, n)))
            return false;
    return true;
}

enum gi_status gi_latin1(char **latin, size_t *n, const char *text, struct gi_err *err)
{
    const unsigned char *p = (const unsigned char *)text;
    char *made = *latin = malloc(strlen(text) + 1);
    if (!made)
        return gi_fail(err, GI_E_MEMORY, "out of memory for a text");
    for (*n = 0; *p; p++) {
        if (*p > 0xc3 || (*p >= 0x80 && (p[1] & 0xc0) != 0x80)) {
            free(made);
            *latin = NULL;
            return GI_OK;
        }
        unsigned v = *p < 0x80 ? *p : (*p & 0x1fu) << 6 | (p[1] & 0x3fu);
        p += *p >= 0x80;
        made[(*n)++] = (char)v;
    }
    return GI_OK;
}

/* Appends `n` bytes to `to` as UTF-8 (at most 2 n bytes) and a zero. Returns the position after the
 * zero. */
static char *put_text(char *to, const void *bytes, size_t n)
{
    const unsigned char *p = bytes, *end = memchr(p, 0, n);
    n = end ? (size_t)(end - p) : n;
    bool latin = !is_utf8(p, n);
    for (size_t i = 0; i < n; i++) {
        if (latin && p[i] >= 0x80)
            *to++ = (char)(0xc0 | p[i] >> 6);
        *to++ = (char)(latin && p[i] >= 0x80 ? 0x80 | (p[i] & 0x3f) : p[i]);
    }
    *to = '\0';
    return to + 1;
}

char *gi_text_utf8(const void *bytes, size_t n)
{
    char *text = malloc(2 * n + 1);
    if (text)
        put_text(text, bytes, n);
    return text;
}

/* Decodes a text such as "\nexif\n    1234\n4578696600..." to bytes, which the caller frees.
 * Returns NULL if the text has another form or memory ran out. */
static unsigned char *read_raw_profile(struct gi_metadata *metadata, const char *text, size_t n,
                                       size_t *nbytes)
{
    static const char digits[] = "0123456789abcdef";
    const char *end = text + n, *line = memchr(text, '\n', n);
    const char *number = line ? memchr(line + 1, '\n', (size_t)(end - line - 1)) : NULL;
    const char *p = number ? memchr(number + 1, '\n', (size_t)(end - number - 1)) : NULL;
    unsigned char *bytes = p ? malloc((size_t)(end - p) / 2 + 1) : NULL;
    size_t have = 0;
    metadata->starved = metadata->starved || (p && !bytes);
    for (; bytes && p < end; p++) {
        const char *digit = *p ? strchr(digits, *p | 0x20) : NULL;
        if (!digit)
            continue;
        unsigned v = (unsigned)(digit - digits);
        bytes[have / 2] = (unsigned char)(have % 2 ? bytes[have / 2] | v : v << 4);
        have++;
    }
    *nbytes = have / 2;
    return bytes;
}

/* Keeps a block unless it exists already; a second one with other bytes is lost. */
static void keep_once(struct gi_metadata *metadata, void **block, size_t *nbytes, const void *bytes,
                      size_t n, const char *name)
{
    if (*block && (*nbytes != n || memcmp(*block, bytes, n) != 0))
        gi_metadata_add_part(
            metadata,
            &(struct gi_part){.kind = GI_PART_METADATA, .fate = GI_PART_LOST, .nbytes = n},
            "further %s", name);
    gi_metadata_keep(metadata, block, nbytes, bytes, n);
}

/* Keeps IPTC and resources of Photoshop. Returns false if it is neither. */
static bool adopt_resources(struct gi_decode *decode, const unsigned char *bytes, size_t n)
{
    bool resources = n >= 4 && memcmp(bytes, "8BIM", 4) == 0;
    if (resources)
        gi_decode_add_photoshop(decode, bytes, n);
    else if (gi_iptc_length(bytes, n))
        gi_decode_add_iptc(decode, bytes, n);
    else
        return false;
    return true;
}

/* Keeps EXIF, XMP, IPTC and Photoshop's resources that ImageMagick or exiftool wrote as texts.
 * Returns false if it is none of these. */
static bool adopt_raw_profile(struct gi_decode *decode, const char *kind, const char *text,
                              size_t n)
{
    struct gi_metadata *metadata = decode->metadata;
    static const char exif[] = "Exif\0", xap[] = "http://ns.adobe.com/xap/1.0/";
    bool is_iptc = strcmp(kind, "iptc") == 0 || strcmp(kind, "8bim") == 0;
    if (!is_iptc && strcmp(kind, "exif") != 0 && strcmp(kind, "APP1") != 0 &&
        strcmp(kind, "xmp") != 0)
        return false;
    size_t nbytes;
    unsigned char *bytes = read_raw_profile(metadata, text, n, &nbytes);
    if (!bytes)
        return false;
    if (is_iptc) {
        bool adopted = adopt_resources(decode, bytes, nbytes);
        free(bytes);
        return adopted;
    }
    bool is_xmp = *kind == 'x';
    bool is_exif = !is_xmp && nbytes > sizeof exif && memcmp(bytes, exif, sizeof exif) == 0;
    bool is_xap = !is_xmp && nbytes > sizeof xap && memcmp(bytes, xap, sizeof xap) == 0;
    size_t head = is_exif ? sizeof exif : is_xap ? sizeof xap : 0;
    if (is_exif)
        keep_once(metadata, &metadata->exif, &metadata->exif_nbytes, bytes + head, nbytes - head,
                  "EXIF");
    else if (is_xmp || is_xap)
        keep_once(metadata, &metadata->xmp, &metadata->xmp_nbytes, bytes + head, nbytes - head,
                  "XMP");
    free(bytes);
    return is_exif || is_xmp || is_xap;
}

static void too_many(struct gi_metadata *metadata, const char *keyword, size_t n)
{
    gi_metadata_add_part(metadata,
                         &(struct gi_part){.kind = GI_PART_METADATA,
                                           .fate = GI_PART_LOST,
                                           .nbytes = n,
                                           .why = "more text than is kept"},
                         "text %s", keyword);
}

/* Names what follows the zero byte at which a text ends. */
static void lose_end(struct gi_metadata *metadata, const char *keyword, const unsigned char *bytes,
                     size_t n)
{
    const unsigned char *zero = n ? memchr(bytes, 0, n) : NULL, *at = zero, *end = bytes + n;
    while (at && at < end && !*at)
        at++;
    if (at && at < end)
        gi_metadata_add_part(metadata,
                             &(struct gi_part){.kind = GI_PART_METADATA,
                                               .fate = GI_PART_LOST,
                                               .nbytes = (size_t)(end - zero),
                                               .why = "after a zero byte"},
                             "end of text %s", keyword);
}

bool gi_decode_add_text(struct gi_decode *decode, const char *keyword, const char *language,
                        const char *translated, const void *bytes, size_t n)
{
    struct gi_metadata *metadata = decode->metadata;
    size_t head = strlen(keyword), prefix = sizeof GI_RAW_PROFILE - 1;
    if (strcmp(keyword, "XML:com.adobe.xmp") == 0) {
        bool repeated = metadata->xmp;
        keep_xmp(metadata, bytes, n);
        return !repeated;
    }
    if (strncmp(keyword, GI_RAW_PROFILE, prefix) == 0 &&
        adopt_raw_profile(decode, keyword + prefix, bytes, n))
        return true;
    language = language ? language : "";
    translated = translated ? translated : "";
    size_t room = 2 * (head + strlen(language) + strlen(translated) + n) + 4;
    if (metadata->ntexts == GI_TEXTS_MAX || n > GI_TEXTS_NBYTES_MAX ||
        metadata->texts_nbytes + room > 2 * GI_TEXTS_NBYTES_MAX) {
        too_many(metadata, keyword, n);
        return true;
    }
    struct gi_text *texts =
        realloc(metadata->texts, ((size_t)metadata->ntexts + 1) * sizeof *texts);
    if (texts)
        metadata->texts = texts;
    struct gi_text text = {.keyword = texts ? malloc(room) : NULL};
    if (!text.keyword) {
        metadata->starved = true;
        return false;
    }
    text.language = put_text(text.keyword, keyword, head);
    text.translated = put_text((char *)text.language, language, strlen(language));
    text.text = put_text((char *)text.translated, translated, strlen(translated));
    put_text((char *)text.text, bytes, n);
    lose_end(metadata, keyword, bytes, n);
    metadata->texts_nbytes += room;
    metadata->texts[metadata->ntexts++] = text;
    return true;
}

bool gi_decode_add_comment(struct gi_decode *decode, const void *comment, size_t n)
{
    /* The keywords that PNG defines (third edition, 11.3.3.1). */
    static const char *const keywords[] = {"Title",     "Author",   "Description",
                                           "Copyright", "Software", "Disclaimer",
                                           "Warning",   "Source",   "Creation Time"};
    const char *bytes = comment;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t head = strlen(keywords[i]) + 2;
        if (n > head && memcmp(bytes, keywords[i], head - 2) == 0 &&
            memcmp(bytes + head - 2, ": ", 2) == 0)
            return gi_decode_add_text(decode, keywords[i], NULL, NULL, bytes + head, n - head);
    }
    return gi_decode_add_text(decode, "Comment", NULL, NULL, bytes, n);
}

int gi_metadata_orientation(struct gi_metadata *metadata)
{
    if (gi_exif_has_orientation(metadata->exif, metadata->exif_nbytes) || !metadata->xmp)
        return gi_exif_orientation(metadata->exif, metadata->exif_nbytes);
    char *text = gi_xmp_text(metadata->xmp, metadata->xmp_nbytes, "tiff:Orientation");
    bool valid = text && *text >= '1' && *text <= '8' && !text[1];
    int orientation = valid ? *text - '0' : 1;
    free(text);
    return orientation;
}

/* Resets tiff:Orientation, which is either an attribute or an element. */
static void reset_xmp_orientation(struct gi_metadata *metadata)
{
    static const char name[] = "tiff:Orientation";
    char *at = metadata->xmp, *end = at + metadata->xmp_nbytes;
    while ((at = memmem(at, (size_t)(end - at), name, sizeof name - 1))) {
        at += sizeof name - 1;
        while (at < end && strchr("=\"'> \n", *at) && *at)
            at++;
        if (at < end && *at >= '1' && *at <= '8')
            *at = '1';
    }
}

static void note_thumbnail(struct gi_metadata *metadata, const char *name, size_t nbytes)
{
    if (nbytes)
        gi_metadata_add_part(metadata,
                             &(struct gi_part){.kind = GI_PART_METADATA,
                                               .fate = GI_PART_DROPPED,
                                               .nbytes = nbytes,
                                               .why = GI_OLD_PICTURE},
                             "%s", name);
}

void gi_metadata_settle(struct gi_metadata *metadata)
{
    gi_exif_reset(metadata->exif, metadata->exif_nbytes);
    size_t xmp = metadata->xmp_nbytes, exif;
    metadata->exif_nbytes = gi_exif_forget_thumbnail(metadata->exif, metadata->exif_nbytes, &exif);
    gi_xmp_cut_properties(metadata->xmp, &metadata->xmp_nbytes, "xmp:Thumbnails");
    gi_xmp_cut_properties(metadata->xmp, &metadata->xmp_nbytes, "xap:Thumbnails");
    note_thumbnail(metadata, "thumbnail in EXIF", exif);
    note_thumbnail(metadata, "thumbnail in XMP", xmp - metadata->xmp_nbytes);
    if (metadata->xmp)
        reset_xmp_orientation(metadata);
}

const unsigned char *gi_metadata_next_color(const struct gi_metadata *metadata,
                                            const unsigned char *at)
{
    const unsigned char *first = metadata->color,
                        *end = first ? first + metadata->color_nbytes : first;
    at = at ? at + 5 + at[4] : first;
    return at && end - at >= 5 && end - at - 5 >= at[4] ? at : NULL;
}

void gi_metadata_drop_color(struct gi_metadata *metadata)
{
    struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = GI_OTHER_SPACE};
    gi_metadata_drop_color_tags(metadata);
    metadata->new_color_space = GI_EXIF_OTHER;
    part.nbytes = metadata->icc_nbytes;
    if (metadata->icc)
        gi_metadata_add_part(metadata, &part, "the ICC profile");
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));) {
        part.nbytes = at[4];
        if (memcmp(at, "mDCV", 4) != 0 && memcmp(at, "cLLI", 4) != 0)
            gi_metadata_add_part(metadata, &part, "chunk %.4s", (const char *)at);
    }
    free(metadata->icc);
    free(metadata->color);
    metadata->icc = metadata->color = NULL;
    metadata->icc_nbytes = metadata->color_nbytes = metadata->inks_read = 0;
}

bool gi_metadata_color_chunk(const struct gi_metadata *metadata, const char *name)
{
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));)
        if (memcmp(at, name, 4) == 0)
            return true;
    return false;
}

bool gi_metadata_is_srgb(const struct gi_metadata *metadata)
{
    static const unsigned char gamma[] = {0, 0, 0xb1, 0x8f}, cicp[] = {1, 13, 0, 1};
    /* ITU-R BT.709's primaries, in units of 1/100000. */
    static const unsigned char primaries[] = {0, 0, 0x7a, 0x26, 0, 0, 0x80, 0x84, 0, 0, 0xfa, 0,
                                              0, 0, 0x80, 0xe8, 0, 0, 0x75, 0x30, 0, 0, 0xea, 0x60,
                                              0, 0, 0x3a, 0x98, 0, 0, 0x17, 0x70};
    bool other = false, said = false, code = false;
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));) {
        const unsigned char *bytes = at + 5;
        if (memcmp(at, "sRGB", 4) == 0)
            said = true;
        else if (memcmp(at, "cICP", 4) == 0)
            code = at[4] != 4 || memcmp(bytes, cicp, 4) != 0;
        else if (memcmp(at, "gAMA", 4) == 0)
            other = other || at[4] != 4 || memcmp(bytes, gamma, 4) != 0;
        else if (memcmp(at, "cHRM", 4) == 0)
            other = other || at[4] != 32 || memcmp(bytes, primaries, 32) != 0;
    }
    return !code && (said || !other);
}
