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
    /* invalid options or arguments, such as an unknown option or a value out of range (exit status
     * 2) */
    GI_E_USAGE,
    GI_E_IO,          /* the system refused to open, read, write or rename a file */
    GI_E_FORMAT,      /* the bytes are not an image of a known format, or are damaged */
    GI_E_UNSUPPORTED, /* a valid file or request that this program does not support */
    /* a valid file or request that exceeds a limit, which the option in the message raises */
    GI_E_LIMIT,
    GI_E_MEMORY, /* host memory ran out */
    /* device memory ran out; `auto` may then use the CPU, and `cuda` may work in bands */
    GI_E_DEVICE_MEMORY,
    /* there is no such device, no driver, or an error after which the device is lost */
    GI_E_DEVICE,
    /* one CUDA call failed, but the device still works; `auto` may use the CPU */
    GI_E_LAUNCH,
    GI_E_DIFFERENT, /* a comparison that the command line asked for failed */
    /* the system failed, not the file (disk full, I/O error), so that a later run may succeed (exit
     * status 75) */
    GI_E_AGAIN,
    GI_E_PIPE, /* the reader of our output has gone (EPIPE); no message, ended by SIGPIPE */
};

/* An error, or GI_OK and "". The error is set only once, where the fault is found. `text` is one
 * line without the program's name and without a newline. It tells where the fault is, the given
 * value and the accepted values. */
struct gi_err {
    enum gi_status status;
    char text[768];
};

/* Sets `err` to `status` and the printf text, and returns `status`. If `err` is NULL, nothing is
 * recorded. Control characters become '?', so that a file name can't control the terminal. */
enum gi_status gi_fail(struct gi_err *err, enum gi_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether the machine failed, and not the input, so that a later run may succeed. */
bool gi_status_is_machine(enum gi_status status);

/* Returns the status for `why`, the errno of a read or write. It is GI_E_PIPE, or GI_E_AGAIN if the
 * system failed and not the file, or otherwise GI_E_IO. */
enum gi_status gi_status_of_errno(int why);

/* Puts the printf text and ": " in front of an error's text. Returns the status of the error, or
 * GI_OK if `err` is NULL. A caller whose `err` may be NULL must therefore return its own status
 * variable. */
enum gi_status gi_err_prefix(struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
