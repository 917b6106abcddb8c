/* One message an error.
 * SPDX-License-Identifier: MIT */
#include "imgio/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void replace_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

enum gi_status gi_fail(struct gi_err *err, enum gi_status status, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    replace_controls(err->text);
    err->status = status;
    return status;
}

enum gi_status gi_err_prefix(struct gi_err *err, const char *format, ...)
{
    if (!err)
        return GI_OK;
    char rest[sizeof err->text];
    memcpy(rest, err->text, sizeof rest);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", rest);
    replace_controls(err->text);
    return err->status;
}
