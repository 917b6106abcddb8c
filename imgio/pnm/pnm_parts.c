/* Accounts for the parts of PBM, PGM, PPM and PAM that are no samples.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/image_next.h"
#include "imgio/metadata/metadata.h"
#include "imgio/pnm/pnm_parts.h"

#include <string.h>
#include <strings.h>

static const char tuple_name[] = "tuple type";

/* Keeps the comment at `at`, which begins after '#'. Returns its end. */
static const unsigned char *keep_comment(struct gi_decode *decode, const unsigned char *at,
                                         const unsigned char *end)
{
    const unsigned char *start = at + (at < end && *at == ' ');
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    if (at > start)
        gi_decode_add_text(decode, "Comment", NULL, NULL, start, (size_t)(at - start));
    return at;
}

/* Returns whether the tuple type says no more than the number of channels. */
static bool is_plain(const struct gi_pnm_header *head)
{
    static const char *const usual[] = {"GRAYSCALE",           "BLACKANDWHITE", "GRAYSCALE_ALPHA",
                                        "BLACKANDWHITE_ALPHA", "RGB",           "RGB_ALPHA",
                                        GI_PAM_BANDS};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strlen(usual[i]) == head->tuple_n &&
            strncasecmp(head->tuple, usual[i], head->tuple_n) == 0)
            return true;
    return false;
}

/* Names a line of the header of a PAM that begins with an unknown word, or has a tuple type that is
 * not used. */
static void name_line(struct gi_decode *decode, const struct gi_pnm_header *head,
                      const unsigned char *at, const unsigned char *end)
{
    static const char *const known[] = {"#",      "WIDTH",    "HEIGHT", "DEPTH",
                                        "MAXVAL", "TUPLTYPE", "ENDHDR"};
    size_t n = 0;
    while (at + n < end && at[n] > ' ')
        n++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= strlen(known[i]) && memcmp(at, known[i], strlen(known[i])) == 0) {
            const unsigned char *tuple = (const unsigned char *)head->tuple;
            const unsigned char *line = memchr(at, '\n', (size_t)(end - at));
            if (*known[i] != 'T' || !tuple || !line || (tuple > at && tuple < line))
                return;
            break; /* the last tuple type counts */
        }
    if (n)
        gi_decode_add_part(decode, &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST},
                           "line %.*s", (int)(n < 40 ? n : 40), (const char *)at);
}

void gi_pnm_header_parts(struct gi_decode *decode, const unsigned char *end,
                         const struct gi_pnm_header *head)
{
    bool lines = head->magic == '7'; /* in a PAM, comments begin at the start of a line */
    for (const unsigned char *at = decode->bytes + 2; at < end; at++) {
        if (lines && at[-1] == '\n')
            name_line(decode, head, at, end);
        if (*at == '#' && (!lines || at[-1] == '\n'))
            at = keep_comment(decode, at + 1, end);
    }
    if (head->tuple && !is_plain(head))
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_FIELD,
                                             .fate = GI_PART_CARRIED,
                                             .code = head->channels,
                                             .nbytes = head->tuple_n,
                                             .bytes = (void *)head->tuple},
                           "%s %.*s", tuple_name, (int)(head->tuple_n < 40 ? head->tuple_n : 40),
                           head->tuple);
}

void gi_pnm_raster_comments(struct gi_decode *decode, const unsigned char *at,
                            struct gi_pnm_cursor *in)
{
    struct gi_pnm_cursor next = *in;
    gi_pnm_skip_space(&next);
    if (!gi_pnm_starts(next.at, (size_t)(next.end - next.at)) &&
        memchr(in->at, '#', (size_t)(next.at - in->at)))
        in->at = next.at;
    while ((at = memchr(at, '#', (size_t)(in->at - at))))
        at = keep_comment(decode, at + 1, in->at);
}

void gi_pnm_skip_raster(struct gi_pnm_cursor *in, const struct gi_pnm_header *head)
{
    size_t left = (size_t)(in->end - in->at), row = gi_pnm_row_nbytes(head);
    in->at += row && left / row < head->height ? left : row * head->height;
}

void gi_pnm_rest(struct gi_decode *decode, struct gi_pnm_cursor in)
{
    struct gi_pnm_cursor next = in, spaces = in;
    gi_pnm_skip_space(&next);
    while (spaces.at < spaces.end && gi_pnm_is_space(*spaces.at))
        spaces.at++;
    if (gi_pnm_starts(next.at, (size_t)(next.end - next.at)) &&
        !gi_image_follows(in.at, (size_t)(in.end - in.at), NULL)) /* but behind a comment */
        gi_decode_add_images(decode, "images after the first", GI_MORE_IMAGES);
    else if (spaces.at < spaces.end)
        gi_decode_add_rest(decode, (uint64_t)(in.at - decode->bytes));
}

bool gi_pnm_is_comment(const struct gi_text *text)
{
    return strcmp(text->keyword, "Comment") == 0 && *text->text && !strpbrk(text->text, "\r\n");
}

enum gi_status gi_pnm_write_comments(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; metadata && i < metadata->ntexts && !status; i++)
        if (gi_pnm_is_comment(&metadata->texts[i]))
            status = gi_sink_printf(sink, err, "# %s\n", metadata->texts[i].text);
    return status;
}

enum gi_holding gi_pam_holds(const struct gi_part *part, const struct gi_image *written)
{
    bool tuple =
        part->kind == GI_PART_FIELD && strncmp(part->name, tuple_name, sizeof tuple_name - 1) == 0;
    /* The type of bands of which some were chosen is gone (gi_bands_settle()). */
    return tuple && part->code == (uint32_t)written->channels ? GI_HOLDS : GI_CANNOT_HOLD;
}
