/* Accounts for the parts of a TGA that are neither pixels nor palette ("Truevision TGA File Format
 * Specification", version 2.0). Offsets in the comments are those of the extension area.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/tga/tga_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    HEAD = 18,
    FOOTER = 26,
    SIGNATURE = 8, /* of the footer, behind two offsets */
    EXTENSION = 495,
    ID = 1, /* gi_part.code */
    COMMENT_LINES = 4,
    COMMENT_LINE = 81,
    CORRECTION = 2048, /* bytes of a colour correction table */
};

static void add(struct gi_decode *decode, enum gi_part_fate fate, const char *why, uint64_t nbytes,
                const char *name)
{
    const struct gi_part part = {
        .kind = GI_PART_FIELD, .fate = fate, .why = why, .nbytes = (size_t)nbytes};
    gi_decode_add_part(decode, &part, "%s", name);
}

static bool is_empty(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && (!bytes[i] || bytes[i] == ' '))
        i++;
    return i == n;
}

/* Keeps a field of `n` bytes, which ends with zeros or spaces, as a text. */
static void add_text(struct gi_decode *decode, const char *keyword, const unsigned char *bytes,
                     size_t n)
{
    n = strnlen((const char *)bytes, n);
    while (n && bytes[n - 1] == ' ')
        n--;
    if (n)
        gi_decode_add_text(decode, keyword, NULL, NULL, bytes, n);
}

/* Reads the lines of the comment, of which empty ones at the end say nothing. */
static void add_comment(struct gi_decode *decode, const unsigned char *lines)
{
    char text[COMMENT_LINES * (COMMENT_LINE + 1)] = "";
    size_t used = 0, end = 0;
    for (int i = 0; i < COMMENT_LINES; i++) {
        const char *line = (const char *)lines + i * COMMENT_LINE;
        size_t n = strnlen(line, COMMENT_LINE - 1);
        memcpy(text + used, line, n);
        used += n;
        end = is_empty((const unsigned char *)line, n) ? end : used;
        text[used++] = '\n';
    }
    if (end)
        gi_decode_add_text(decode, "Comment", NULL, NULL, text, end);
}

/* Returns the size of the tables and of the thumbnail to which the extension area refers. */
static uint64_t add_tables(struct gi_decode *decode, const unsigned char *area)
{
    const unsigned char *bytes = decode->bytes;
    uint64_t nbytes = 0, rows = gi_little16(bytes + 14);
    size_t stamp = gi_little32(area + 486);
    if (gi_little32(area + 482)) {
        add(decode, GI_PART_LOST, NULL, CORRECTION, "colour correction table");
        nbytes += CORRECTION;
    }
    if (stamp && stamp < decode->nbytes - 1) {
        unsigned pixel = (bytes[16] + 7u) / 8;
        uint64_t n = 2 + (uint64_t)bytes[stamp] * bytes[stamp + 1] * pixel;
        add(decode, GI_PART_DROPPED, GI_OLD_PICTURE, n, "thumbnail");
        nbytes += n;
    }
    return nbytes + (gi_little32(area + 490) ? 4 * rows : 0); /* offsets of the rows are used up */
}

static void add_fields(struct gi_decode *decode, const unsigned char *area)
{
    static const struct {
        unsigned at, n;
        const char *name;
    } fields[] = {{367, 12, "time stamp"},
                  {379, 41, "job name"},
                  {420, 6, "job time"},
                  {470, 4, "key colour"}};
    unsigned width = gi_little16(area + 474), height = gi_little16(area + 476);
    add_text(decode, "Author", area + 2, 40);
    add_comment(decode, area + 43);
    add_text(decode, "Software", area + 426, 40);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!is_empty(area + fields[i].at, fields[i].n))
            add(decode, GI_PART_LOST, NULL, fields[i].n, fields[i].name);
    if (width && height && width != height) { /* of a pixel */
        decode->metadata->dpi_x = height;
        decode->metadata->dpi_y = width;
        decode->metadata->no_unit = true;
    }
    if (gi_little16(area + 480))
        add(decode, GI_PART_LOST, NULL, 4, "gamma");
}

/* Adds what a file of version 2 has behind its pixels. Returns the number of bytes used. */
static uint64_t add_areas(struct gi_decode *decode, const unsigned char *footer, uint64_t after)
{
    size_t extension = gi_little32(footer), developer = gi_little32(footer + 4);
    uint64_t used = FOOTER;
    if (extension && decode->nbytes >= EXTENSION && extension <= decode->nbytes - EXTENSION) {
        unsigned char area[EXTENSION]; /* the file may change while it is read */
        memcpy(area, decode->bytes + extension, EXTENSION);
        add_fields(decode, area);
        used += EXTENSION + add_tables(decode, area);
    }
    if (!developer)
        return used;
    add(decode, GI_PART_LOST, NULL, after > used ? after - used : 0, "developer area");
    return after;
}

void gi_tga_add_parts(struct gi_decode *decode, uint64_t end)
{
    static const char signature[] = "TRUEVISION-XFILE.";
    const unsigned char *bytes = decode->bytes, *footer;
    size_t id = bytes[0];
    uint64_t after = end && end < decode->nbytes ? decode->nbytes - end : 0, used = 0;
    if (id && id <= decode->nbytes - HEAD)
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_FIELD,
                                             .fate = GI_PART_CARRIED,
                                             .code = ID,
                                             .nbytes = id,
                                             .bytes = (void *)(bytes + HEAD)},
                           "TGA image ID");
    footer = decode->nbytes >= HEAD + FOOTER ? bytes + decode->nbytes - FOOTER : NULL;
    if (footer && memcmp(footer + SIGNATURE, signature, sizeof signature) == 0)
        used = add_areas(decode, footer, after);
    if (after > used)
        gi_decode_add_trailing(decode, decode->nbytes - (after - used));
}

static bool is_id(const struct gi_part *part)
{
    return part->kind == GI_PART_FIELD && part->code == ID &&
           strcmp(part->name, "TGA image ID") == 0;
}

enum gi_holding gi_tga_holds(const struct gi_part *part, const struct gi_image *written)
{
    return is_id(part) ? GI_HOLDS : GI_CANNOT_HOLD;
}

const struct gi_part *gi_tga_id(const struct gi_metadata *metadata)
{
    for (int i = 0; metadata && i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        if (part->fate == GI_PART_CARRIED && is_id(part))
            return part;
    }
    return NULL;
}
