/* JSON through the library jansson, which refuses text that is not UTF-8 and numbers that are not
 * finite. This file replaces such text and numbers.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/log.h"
#include "imgio/small.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void gi_json_start(void)
{
    json_set_alloc_funcs(gi_small_alloc, free);
}

json_t *gi_json_text(const char *text)
{
    if (!text)
        return json_null();
    char *valid = gi_small_alloc(strlen(text) * strlen(REPLACEMENT) + 1), *to = valid;
    for (const char *p = text; *p;) {
        size_t n = gi_utf8_nbytes(p);
        memcpy(to, n ? p : REPLACEMENT, n ? n : strlen(REPLACEMENT));
        to += n ? n : strlen(REPLACEMENT);
        p += n ? n : 1;
    }
    *to = '\0';
    json_t *json = json_string(valid);
    free(valid);
    return json;
}

static const char hex_digits[] = "0123456789abcdef";

/* A name in hexadecimal digits is stored under "KEY_hex" beside the text under "KEY". */
enum { HEX_KEY_MAX = 32 };

static void hex_key(char text[HEX_KEY_MAX], const char *key)
{
    snprintf(text, HEX_KEY_MAX, "%s_hex", key);
}

void gi_json_set_name(json_t *object, const char *key, const char *name)
{
    json_object_set_new(object, key, gi_json_text(name));
    const char *p = name ? name : "";
    for (size_t n; *p && (n = gi_utf8_nbytes(p)); p += n)
        ;
    char *hex = *p ? gi_small_alloc(2 * strlen(name) + 1) : NULL, *to = hex, full[HEX_KEY_MAX];
    if (!hex)
        return;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        *to++ = hex_digits[*c / 16];
        *to++ = hex_digits[*c % 16];
    }
    *to = '\0';
    hex_key(full, key);
    json_object_set_new(object, full, json_string(hex));
    free(hex);
}

/* Converts hexadecimal digits to bytes. Returns false if there is any other character. */
static bool unhex(char *name, const char *hex)
{
    for (; *hex; hex += 2) {
        const char *high = strchr(hex_digits, hex[0]);
        const char *low = hex[1] ? strchr(hex_digits, hex[1]) : NULL;
        if (!high || !low)
            return false;
        *name++ = (char)(16 * (high - hex_digits) + (low - hex_digits));
    }
    *name = '\0';
    return true;
}

char *gi_json_name(const json_t *object, const char *key)
{
    char full[HEX_KEY_MAX];
    hex_key(full, key);
    const char *text = json_string_value(json_object_get(object, key));
    const char *hex = json_string_value(json_object_get(object, full));
    char *name = hex ? gi_small_alloc(strlen(hex) / 2 + 1) : NULL;
    if (name && unhex(name, hex))
        return name;
    free(name);
    return text ? gi_small_copy(text) : NULL;
}

json_t *gi_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *gi_json_read(const char *text)
{
    return json_loads(text, 0, NULL);
}

char *gi_json_dump(json_t *value, size_t flags)
{
    char *text = gi_small_check(json_dumps(value, flags));
    json_decref(value);
    return text;
}

enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err)
{
    return gi_json_print_for(fileno(out), out, value, indent, err);
}

enum gi_status gi_json_print_for(int reader, FILE *out, json_t *value, int indent,
                                 struct gi_err *err)
{
    /* Terminals get only ASCII, because they may take U+0080 to U+009F for commands. */
    size_t flags = isatty(reader) ? JSON_ENSURE_ASCII : 0;
    char *text = gi_json_dump(value, JSON_INDENT((size_t)indent) | JSON_REAL_PRECISION(17) | flags);
    fputs(text, out);
    putc('\n', out);
    free(text);
    if (!ferror(out))
        return GI_OK;
    return errno == EPIPE
               ? GI_E_PIPE
               : gi_fail(err, gi_status_of_errno(errno), "cannot write JSON: %s", strerror(errno));
}
