/* Reads the headers of PBM, PGM, PPM and PAM.
 * SPDX-License-Identifier: MIT */
#include "imgio/image.h"
#include "imgio/pnm/pnm_header.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

bool gi_pnm_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool gi_pnm_starts(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7' &&
           (gi_pnm_is_space(bytes[2]) || bytes[2] == '#');
}

size_t gi_pnm_row_nbytes(const struct gi_pnm_header *head)
{
    size_t samples = (size_t)head->width * head->channels;
    return head->magic == '4' ? (samples + 7) / 8 : samples * (head->maxval > 255 ? 2 : 1);
}

void gi_pnm_skip_space(struct gi_pnm_cursor *in)
{
    for (; in->at < in->end; in->at++) {
        if (*in->at == '#')
            while (in->at < in->end && *in->at != '\n' && *in->at != '\r')
                in->at++;
        else if (!gi_pnm_is_space(*in->at))
            return;
        if (in->at == in->end)
            return;
    }
}

bool gi_pnm_read_number(struct gi_pnm_cursor *in, unsigned *value)
{
    gi_pnm_skip_space(in);
    const unsigned char *start = in->at;
    unsigned v = 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        unsigned digit = (unsigned)(*in->at - '0');
        if (v > (INT_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = v;
    return in->at > start;
}

static enum gi_status fail_header(struct gi_err *err, const char *what)
{
    return gi_fail(err, GI_E_FORMAT, "has a damaged header: want %s", what);
}

static enum gi_status read_pnm_header(struct gi_pnm_cursor *in, struct gi_pnm_header *head,
                                      struct gi_err *err)
{
    if (!gi_pnm_read_number(in, &head->width) || !gi_pnm_read_number(in, &head->height))
        return fail_header(err, "width and height, 1 to 2147483647");
    bool bits = head->magic == '1' || head->magic == '4';
    head->maxval = 1;
    if (!bits && !gi_pnm_read_number(in, &head->maxval))
        return fail_header(err, "the largest sample value, 1 to 65535");
    head->channels = head->magic == '3' || head->magic == '6' ? 3 : 1;
    /* One white space ends the header. Further white space belongs to the raw raster. */
    if (in->at == in->end || !gi_pnm_is_space(*in->at))
        return fail_header(err, "white space before the raster");
    in->at++;
    return GI_OK;
}

static bool starts_with(const struct gi_pnm_cursor *in, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(in->end - in->at) >= n && memcmp(in->at, word, n) == 0;
}

static void skip_line(struct gi_pnm_cursor *in)
{
    while (in->at < in->end && *in->at != '\n')
        in->at++;
    in->at += in->at < in->end;
}

/* Returns whether TUPLTYPE, which has `n` characters, is gray or RGB of that depth, with or without
 * alpha. Without a TUPLTYPE the depth decides. */
static bool is_usual(const char *type, size_t n, unsigned channels)
{
    static const char *const usual[][2] = {{"GRAYSCALE", "BLACKANDWHITE"},
                                           {"GRAYSCALE_ALPHA", "BLACKANDWHITE_ALPHA"},
                                           {"RGB", "RGB"},
                                           {"RGB_ALPHA", "RGB_ALPHA"}};
    if (channels > GI_MAX_CHANNELS)
        return false;
    for (int i = 0; i < 2; i++)
        if (strlen(usual[channels - 1][i]) == n &&
            strncasecmp(type, usual[channels - 1][i], n) == 0)
            return true;
    return !n || channels == 1;
}

/* Reads what is behind the word TUPLTYPE: its characters without white space around them. */
static const char *read_tuple(size_t *n, struct gi_pnm_cursor in)
{
    while (in.at < in.end && *in.at != '\n' && gi_pnm_is_space(*in.at))
        in.at++;
    const unsigned char *end = in.at;
    for (const unsigned char *at = in.at; at < in.end && *at != '\n'; at++)
        if (!gi_pnm_is_space(*at))
            end = at + 1;
    *n = (size_t)(end - in.at);
    return (const char *)in.at;
}

static enum gi_status read_pam_header(struct gi_pnm_cursor *in, struct gi_pnm_header *head,
                                      struct gi_err *err)
{
    static const char *const words[] = {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"};
    unsigned *const values[] = {&head->width, &head->height, &head->channels, &head->maxval};
    static const char tuple_word[] = "TUPLTYPE";
    const char *tuple = "";
    size_t tuple_n = 0;
    unsigned seen = 0;
    for (;;) {
        gi_pnm_skip_space(in);
        if (in->at == in->end)
            return fail_header(err, "ENDHDR");
        if (starts_with(in, "ENDHDR")) {
            skip_line(in);
            break;
        }
        for (unsigned i = 0; i < 4; i++) {
            if (!starts_with(in, words[i]))
                continue;
            in->at += strlen(words[i]);
            if (!gi_pnm_read_number(in, values[i]))
                return fail_header(err, "a number after WIDTH, HEIGHT, DEPTH and MAXVAL");
            seen |= 1u << i;
        }
        if (starts_with(in, tuple_word))
            tuple = read_tuple(&tuple_n,
                               (struct gi_pnm_cursor){in->at + sizeof tuple_word - 1, in->end});
        skip_line(in);
    }
    if (seen != 15)
        return fail_header(err, "each of WIDTH, HEIGHT, DEPTH and MAXVAL");
    if (head->channels < 1 || head->channels > GI_BANDS_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %u channels; 1 to %d can be read",
                       head->channels, GI_BANDS_MAX);
    head->tuple = tuple_n ? tuple : NULL;
    head->tuple_n = tuple_n;
    if (!is_usual(tuple, tuple_n, head->channels))
        head->bands = (struct gi_bands){(int)head->channels, 1, -1};
    return GI_OK;
}

enum gi_status gi_pnm_read_header(struct gi_pnm_cursor *in, struct gi_pnm_header *head,
                                  struct gi_err *err)
{
    head->magic = (char)in->at[1];
    in->at += 2;
    enum gi_status status =
        head->magic == '7' ? read_pam_header(in, head, err) : read_pnm_header(in, head, err);
    if (!status && (head->maxval < 1 || head->maxval > 65535))
        return gi_fail(err, GI_E_FORMAT, "has %u as its largest sample value; want 1 to 65535",
                       head->maxval);
    return status;
}
