/* Messages: lines on standard error, and names and numbers that are safe on a terminal.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_LOG_H
#define GI_CLI_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One line on stderr: "gpuimg: COMMAND: text". */
void gi_cli_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "gpuimg: warning: COMMAND: text", unless warnings are off. */
void gi_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The COMMAND of both, NULL: none, and whether warnings are off (--quiet): set by main(). */
void gi_cli_name(const char *name);
void gi_cli_quiet(bool quiet);

/* Shows a line on the terminal of stderr in place of the last one shown so; "": none. Lines that
 * are said meanwhile go above it. */
void gi_cli_show_line(const char *line);

/* Bytes of the UTF-8 sequence at `text`, 1 to 4; 0 where there is none. */
size_t gi_utf8_nbytes(const char *text);

/* Prints text of files or paths so that it can't drive a terminal: control characters as \xNN, also
 * those of 8 bits (0x80 to 0x9f), alone or as U+0080 to U+009F in UTF-8. */
void gi_print_safe(FILE *out, const char *text);

/* A number of bytes for people, "3.1 MB". Returns buffer. */
const char *gi_text_nbytes(double nbytes, char buffer[32]);

#endif
