/* What a function that can fail returns, and the one message it leaves behind.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_STATUS_H
#define GI_IMGIO_STATUS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gi_status {
    GI_OK = 0,
    GI_E_USAGE,         /* the caller's words: unknown option, value out of range (exit 2) */
    GI_E_IO,            /* the system refused: open, read, write, rename */
    GI_E_FORMAT,        /* the bytes are no image we know, or are damaged */
    GI_E_UNSUPPORTED,   /* a valid file or request that this program does not handle */
    GI_E_LIMIT,         /* valid, but over a limit that an option raises (named in the message) */
    GI_E_MEMORY,        /* host memory ran out */
    GI_E_DEVICE_MEMORY, /* device memory ran out: `auto` may fall back, `cuda` may cut bands */
    GI_E_DEVICE, /* no such device, no driver, or an error that the device does not recover from */
    GI_E_LAUNCH, /* one CUDA call failed and the device works on: `auto` may fall back */
    GI_E_DIFFERENT, /* a comparison asked for on the command line did not hold */
    GI_E_AGAIN,     /* the system failed, not the file: disk full, I/O error; the same may work
                       later (exit 75) */
    GI_E_PIPE,      /* whoever read our output went away (EPIPE): exit 1, say nothing */
};

/* Filled once, by whoever finds the fault; "" while all is well. `text` is one line without the
 * program's name and without a newline: place, what was given, what is wanted. */
struct gi_err {
    enum gi_status status;
    char text[768];
};

/* Sets `err` (NULL: nothing is recorded) to `status` and the printf text; returns `status`. Control
 * characters in the text are replaced by '?', so that a file name can't write to the terminal. */
enum gi_status gi_fail(struct gi_err *err, enum gi_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the machine failed and not the input, so that the same may work later. */
bool gi_status_is_machine(enum gi_status status);

/* What `why`, an errno of reading or writing, comes to: GI_E_PIPE, GI_E_AGAIN where the system
 * failed rather than the file, else GI_E_IO. */
enum gi_status gi_status_of_errno(int why);

/* Puts the printf text and ": " in front of an error that is already there. Returns its status; if
 * `err` is NULL nothing knows that, and it returns GI_OK: callers that may have no `err` return the
 * status that they have. */
enum gi_status gi_err_prefix(struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
