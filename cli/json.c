/* JSON through jansson, which refuses what is no UTF-8 and no number: here that becomes valid.
 * SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the UTF-8 sequence at `p` (RFC 3629: shortest form, no surrogates, up to U+10FFFF); 0
 * where there is none. */
static size_t sequence(const unsigned char *p)
{
    if (*p < 0x80)
        return 1;
    size_t n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) /* a zero byte too */
            return 0;
    bool wrong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
                 (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f);
    return wrong ? 0 : n;
}

json_t *gi_json_text(const char *text)
{
    if (!text)
        return json_null();
    char *valid = malloc(strlen(text) * strlen(REPLACEMENT) + 1), *to = valid;
    if (!valid)
        return NULL;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = sequence(p);
        memcpy(to, n ? (const char *)p : REPLACEMENT, n ? n : strlen(REPLACEMENT));
        to += n ? n : strlen(REPLACEMENT);
        p += n ? n : 1;
    }
    *to = '\0';
    json_t *json = json_string(valid);
    free(valid);
    return json;
}

json_t *gi_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err)
{
    if (!value)
        return gi_fail(err, GI_E_MEMORY, "out of memory: JSON");
    int failed = json_dumpf(value, out, JSON_INDENT((size_t)indent) | JSON_REAL_PRECISION(17));
    json_decref(value);
    putc('\n', out);
    if (!failed && !ferror(out))
        return GI_OK;
    return errno == EPIPE ? GI_E_PIPE
                          : gi_fail(err, GI_E_IO, "cannot write JSON: %s", strerror(errno));
}
