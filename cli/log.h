/* The log: lines on standard error. Also names and numbers in a form that is safe on terminals.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_LOG_H
#define GI_CLI_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints one line to stderr: "gpuimg: COMMAND: text". */
void gi_cli_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "gpuimg: warning: COMMAND: text", unless warnings are off. */
void gi_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Between the two, a warning that differs from an earlier one only in the name before its first ":
 * " is counted instead of printed; the second prints the counts. For batches. */
void gi_cli_count_warnings(void);
void gi_cli_print_warnings(void);
/* Prints a line for a person, as gi_cli_log() does: only on a terminal, not if warnings are off,
 * and not while warnings are counted. */
void gi_cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Set the COMMAND of messages (NULL: none), and whether warnings are off (--quiet). Called by
 * main(). */
void gi_cli_name(const char *name);
void gi_cli_quiet(bool quiet);

/* Shows a line on the terminal of stderr, in place of the line that it showed before; "" removes
 * it. Lines logged meanwhile appear above it. */
void gi_cli_show_line(const char *line);

/* Returns the length of the UTF-8 sequence at `text`, 1 to 4 bytes; 0: it is not UTF-8. */
size_t gi_utf8_nbytes(const char *text);

/* Prints a name or path in a form that can't control a terminal: control characters as \xNN. Those
 * of 8 bits (0x80 to 0x9f) are included, single or in UTF-8 (U+0080 to U+009F). */
void gi_print_safe(FILE *out, const char *text);

/* Prints a number of bytes as "3.1 MB". Returns buffer. */
const char *gi_text_nbytes(double nbytes, char buffer[32]);

#endif
