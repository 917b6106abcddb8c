/* The status that functions return, and the message that comes with an error.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_STATUS_H
#define GI_IMGIO_STATUS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gi_status {
    GI_OK = 0,
    GI_E_USAGE,         /* invalid options or arguments: unknown option, value out of range (exit
                           2) */
    GI_E_IO,            /* the system refused to open, read, write or rename a file */
    GI_E_FORMAT,        /* the bytes are not an image of a known format, or are damaged */
    GI_E_UNSUPPORTED,   /* a valid file or request that this program does not support */
    GI_E_LIMIT,         /* valid, but over a limit that an option raises (named in the message) */
    GI_E_MEMORY,        /* host memory ran out */
    GI_E_DEVICE_MEMORY, /* device memory ran out; `auto` may use the CPU, `cuda` bands */
    GI_E_DEVICE,        /* no such device, no driver, or an error after which the device is lost */
    GI_E_LAUNCH,        /* one CUDA call failed, the device still works: `auto` may use the CPU */
    GI_E_DIFFERENT,     /* a comparison that the command line asked for failed */
    GI_E_AGAIN, /* the system failed, not the file (disk full, I/O error): a later run may succeed
                   (exit 75) */
    GI_E_PIPE,  /* our output's reader has gone (EPIPE): exit 1 without a message */
};

/* An error, or status GI_OK and "". It is set once, where the fault is found. `text` is one line
 * without the program's name and without a newline: place, given value, accepted values. */
struct gi_err {
    enum gi_status status;
    char text[768];
};

/* Sets `err` to `status` and the printf text (NULL: records nothing), and returns `status`. Control
 * characters become '?', so that a file name can't control the terminal. */
enum gi_status gi_fail(struct gi_err *err, enum gi_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether the machine failed rather than the input, so that a later run may succeed. */
bool gi_status_is_machine(enum gi_status status);

/* Returns the status for `why`, the errno of a read or write: GI_E_PIPE, GI_E_AGAIN if the system
 * rather than the file failed, otherwise GI_E_IO. */
enum gi_status gi_status_of_errno(int why);

/* Puts the printf text and ": " in front of an error's text. Returns its status, or GI_OK if `err`
 * is NULL: callers whose `err` may be NULL must return the status that they have. */
enum gi_status gi_err_prefix(struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
