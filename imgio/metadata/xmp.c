/* Reads and changes properties in an XMP packet.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/xmp.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/buffer.h"

static const char digits[] = "0123456789";

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* Finds the next value of the property, from *at on. The value is the text from *from to *to, which
 * for an element contains the elements inside it. Moves *at behind the value. */
static bool find(const char **from, const char **to, const char **at, const char *start,
                 const char *end, const char *name)
{
    size_t n = strlen(name);
    const char *found;
    bool closed = true; /* every element; else their ends are not searched for again */
    while ((found = memmem(*at, (size_t)(end - *at), name, n))) {
        const char *p = skip_spaces(found + n, end), *close;
        bool element = found > start && found[-1] == '<';
        *at = found + n;
        if (found == start || p == end)
            continue;
        if (is_space(found[-1]) && *p == '=') {
            p = skip_spaces(p + 1, end);
            if (p == end || (*p != '"' && *p != '\'') ||
                !(close = memchr(p + 1, *p, (size_t)(end - p - 1))))
                continue;
            *from = p + 1;
        } else if (element && closed && (p > found + n || *p == '>')) {
            const char *open = memchr(p, '>', (size_t)(end - p));
            char tag[80];
            int length = snprintf(tag, sizeof tag, "</%s", name);
            if (open && open[-1] == '/') {
                *at = open;
                continue;
            }
            close = open ? memmem(open, (size_t)(end - open), tag, (size_t)length) : NULL;
            closed = close;
            if (!close)
                continue;
            *from = open + 1;
        } else {
            continue;
        }
        *to = *at = close;
        return true;
    }
    return false;
}

/* Decodes the reference at *at, which begins with '&', to UTF-8. Returns the end of what was
 * written to `to`, at most 4 bytes and no more than the reference is long. Unknown references are
 * copied. */
static char *put_reference(char *to, const char **at, const char *end)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    static const unsigned char leads[] = {0, 0xc0, 0xe0,
                                          0xf0}; /* by the number of bytes that follow */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(end - *at) >= n && memcmp(*at, names[i], n) == 0) {
            *to = "&<>\"'"[i];
            *at += n;
            return to + 1;
        }
    }
    const char *p = *at + 1;
    bool hex = end - p > 2 && p[0] == '#' && p[1] == 'x';
    unsigned long v = 0, base = hex ? 16 : 10;
    if (end - p > 1 && *p == '#')
        for (p += hex ? 2 : 1; p < end && v < 0x110000; p++) {
            unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0')
                             : hex && (*p | 0x20) >= 'a' && (*p | 0x20) <= 'f'
                                 ? (unsigned)((*p | 0x20) - 'a' + 10)
                                 : 16;
            if (digit >= base)
                break;
            v = v * base + digit;
        }
    if (p == end || *p != ';' || v < 0x20 || v >= 0x110000 || (v >= 0xd800 && v < 0xe000)) {
        *to = *(*at)++;
        return to + 1;
    }
    *at = p + 1;
    if (v < 0x80) {
        *to++ = (char)v;
        return to;
    }
    int more = v < 0x800 ? 1 : v < 0x10000 ? 2 : 3;
    *to++ = (char)(leads[more] | v >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (v >> 6 * i & 0x3f));
    return to;
}

char *gi_xmp_text(const void *xmp, size_t nbytes, const char *name)
{
    const char *from, *to, *at = xmp, *start = xmp;
    if (!xmp || !find(&from, &to, &at, start, start + nbytes, name))
        return NULL;
    bool alternatives = memmem(from, (size_t)(to - from), "<rdf:Alt", 8) != NULL;
    char *text = malloc(2 * (size_t)(to - from) + 1), *out = text;
    bool joins = false, done = false;
    while (text && from < to && !done) {
        const char *tag = memchr(from, '<', (size_t)(to - from)), *end = tag ? tag : to;
        from = skip_spaces(from, end);
        while (end > from && is_space(end[-1]))
            end--;
        if (from < end && joins) {
            memcpy(out, "; ", 2);
            out += 2;
        }
        joins = joins || from < end;
        done = alternatives && from < end;
        while (from < end)
            if (*from == '&')
                out = put_reference(out, &from, end);
            else
                *out++ = *from++;
        from = tag ? memchr(tag, '>', (size_t)(to - tag)) : NULL;
        from = from ? from + 1 : to;
    }
    if (text)
        *out = '\0';
    if (text && !*text) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Returns the end of the attribute or element whose name begins at `at`, or NULL if it is
 * neither. */
static const char *end_of_property(const char *at, const char *end)
{
    const char *name = at, *close;
    bool element = at[-1] == '<';
    while (at < end && !is_space(*at) && !strchr("=/>", *at))
        at++;
    size_t n = (size_t)(at - name);
    at = skip_spaces(at, end);
    if (!element) {
        at = at < end && *at == '=' ? skip_spaces(at + 1, end) : end;
        close = at < end && strchr("\"'", *at) ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
        return close ? close + 1 : NULL;
    }
    at = at < end ? memchr(at, '>', (size_t)(end - at)) : NULL;
    if (!at || at[-1] == '/')
        return at ? at + 1 : NULL;
    while (at && (at = memmem(at, (size_t)(end - at), "</", 2))) {
        at += 2;
        if ((size_t)(end - at) > n && memcmp(at, name, n) == 0 && at[n] == '>')
            return at + n + 1;
    }
    return NULL;
}

void gi_xmp_cut_properties(void *xmp, size_t *nbytes, const char *prefix)
{
    size_t n = strlen(prefix);
    char *to = xmp;
    const char *start = xmp, *from = start, *at = start;
    bool closed = true; /* of a damaged packet, the end of one element is searched for in vain */
    if (!xmp)
        return;
    const char *end = start + *nbytes;
    while ((at = memmem(at, (size_t)(end - at), prefix, n))) {
        bool element = at > start && at[-1] == '<', named = at > start && is_space(at[-1]);
        const char *behind = named || (element && closed) ? end_of_property(at, end) : NULL;
        closed = closed && (behind || !element);
        if (behind) {
            size_t kept = (size_t)(at - 1 - from);
            memmove(to, from, kept);
            to += kept;
            from = behind;
        }
        at = behind ? behind : at + n;
    }
    memmove(to, from, (size_t)(end - from));
    *nbytes -= (size_t)(from - to);
}

/* Replaces the characters at the start of the value that are in `of`, or all if that is NULL,
 * wherever the property occurs from offset `start` to `behind` bytes before the end. A value that
 * begins with another character stays. */
static enum gi_status set_within(void **xmp, size_t *nbytes, size_t start, size_t behind,
                                 const char *name, const char *of, const char *text,
                                 struct gi_err *err)
{
    const char *packet = *xmp, *kept = packet, *from, *to;
    struct gi_buffer made = {0};
    enum gi_status status = GI_OK;
    if (!packet)
        return GI_OK;
    const char *at = packet + start, *end = packet + *nbytes - behind;
    while (!status && find(&from, &to, &at, packet, end, name)) {
        size_t old = 0;
        from = skip_spaces(from, to);
        while (from + old < to && (of ? from[old] && strchr(of, from[old]) : from[old] != '<'))
            old++;
        if (!old)
            continue;
        status = gi_buffer_append(&made, kept, (size_t)(from - kept), err);
        if (!status)
            status = gi_buffer_append(&made, text, strlen(text), err);
        at = kept = from + old;
    }
    if (!status && kept > packet)
        status = gi_buffer_append(&made, kept, (size_t)(packet + *nbytes - kept), err);
    if (status || kept == packet) {
        free(made.at);
        return status;
    }
    free(*xmp);
    *xmp = made.at;
    *nbytes = made.nbytes;
    return GI_OK;
}

enum gi_status gi_xmp_set_integer(void **xmp, size_t *nbytes, const char *name, unsigned value,
                                  struct gi_err *err)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    return set_within(xmp, nbytes, 0, 0, name, digits, text, err);
}

enum gi_status gi_xmp_set_ratio(void **xmp, size_t *nbytes, const char *name, const char *ratio,
                                struct gi_err *err)
{
    return set_within(xmp, nbytes, 0, 0, name, "0123456789/.", ratio, err);
}

enum gi_status gi_xmp_set_text(void **xmp, size_t *nbytes, const char *name, const char *text,
                               struct gi_err *err)
{
    return set_within(xmp, nbytes, 0, 0, name, NULL, text, err);
}

enum gi_status gi_xmp_set_item_length(void **xmp, size_t *nbytes, const char *semantic,
                                      unsigned length, struct gi_err *err)
{
    static const char open[] = "<rdf:li", close[] = "</rdf:li";
    const char *packet = *xmp, *end, *from, *to, *at = packet;
    if (!packet)
        return GI_OK;
    end = packet + *nbytes;
    while (find(&from, &to, &at, packet, end, "Item:Semantic")) {
        if ((size_t)(to - from) != strlen(semantic) || memcmp(from, semantic, (size_t)(to - from)))
            continue;
        const char *item = from, *last = memmem(to, (size_t)(end - to), close, sizeof close - 1);
        while (item > packet && (end - item < (ptrdiff_t)sizeof open - 1 ||
                                 memcmp(item, open, sizeof open - 1) != 0))
            item--;
        char text[16];
        snprintf(text, sizeof text, "%u", length);
        return set_within(xmp, nbytes, (size_t)(item - packet), last ? (size_t)(end - last) : 0,
                          "Item:Length", digits, text, err);
    }
    return GI_OK;
}
