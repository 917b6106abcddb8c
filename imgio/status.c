/* Error messages, one per failure.
 * SPDX-License-Identifier: MIT */
#include "imgio/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void replace_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* Prints into `err`. If a text is too long, its middle is left out, such as a part of a path,
 * because the reason is at the end. */
static void print_text(struct gi_err *err, const char *format, va_list args)
{
    enum { HEAD = sizeof err->text / 3, TAIL = sizeof err->text - HEAD - sizeof "..." };
    char *whole;
    int n = vasprintf(&whole, format, args);
    if (n < 0) {
        snprintf(err->text, sizeof err->text, "out of memory: the message of an error");
        return;
    }
    if ((size_t)n < sizeof err->text)
        memcpy(err->text, whole, (size_t)n + 1);
    else
        snprintf(err->text, sizeof err->text, "%.*s...%s", HEAD, whole, whole + n - TAIL);
    free(whole);
    replace_controls(err->text);
}

enum gi_status gi_fail(struct gi_err *err, enum gi_status status, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    print_text(err, format, args);
    va_end(args);
    err->status = status;
    return status;
}

enum gi_status gi_err_prefix(struct gi_err *err, const char *format, ...)
{
    if (!err)
        return GI_OK;
    struct gi_err rest = *err;
    char *prefix;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&prefix, format, args);
    va_end(args);
    if (n < 0)
        return err->status;
    gi_fail(err, rest.status, "%s: %s", prefix, rest.text);
    free(prefix);
    return err->status;
}

enum gi_status gi_status_of_errno(int why)
{
    static const int again[] = {ENOSPC, EDQUOT, EIO,    ENOMEM,   EMFILE,
                                ENFILE, ESTALE, ENODEV, ENETDOWN, ETIMEDOUT};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        if (why == again[i])
            return GI_E_AGAIN;
    return why == EPIPE ? GI_E_PIPE : GI_E_IO;
}

bool gi_status_is_machine(enum gi_status status)
{
    return status == GI_E_AGAIN || status == GI_E_MEMORY || status == GI_E_DEVICE_MEMORY ||
           status == GI_E_DEVICE || status == GI_E_LAUNCH;
}
