/* The log, which consists of lines on standard error. Also prints names and numbers in a form that
 * is safe on terminals.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The stream of standard error, for all that this program prints there. */
FILE *gi_cli_stream(void);
/* Drops the lines that libraries print on stderr from now on, as libjxl and the decoders of libheif
 * do about damaged files, for which they have no option. Lines remain with --verbose, and from one
 * on that tells why a library ends the process. main() calls this first. */
void gi_cli_quiet_libraries(void);

/* Prints one line to standard error: "gpuimg: COMMAND: text". */
void gi_cli_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the first text that gi_cli_log() printed since gi_cli_forget_logged(), without the
 * program and the command, or "". Both are called while no other thread logs. */
const char *gi_cli_first_logged(void);
void gi_cli_forget_logged(void);
/* Prints "gpuimg: warning: COMMAND: text", unless warnings are off. */
void gi_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for the text "NAME: WARNING". The name "-" is standard input. */
void gi_cli_warn_of(const char *name, const char *warning);
/* For batches. After gi_cli_count_warnings(), a warning that differs from an earlier warning only
 * in its NAME, or in the name before its first ": ", and in numbers, is counted and not printed.
 * gi_cli_print_warnings() prints the counts, and ends this. */
void gi_cli_count_warnings(void);
void gi_cli_print_warnings(void);
/* Prints a line for a person, in the form of gi_cli_log(). Prints it only if stderr is a terminal,
 * warnings are on, and warnings are not being counted. */
void gi_cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the number of columns of the terminal `fd`, or 80 if it tells none. */
int gi_terminal_width(int fd);
/* Keeps the last line of a batch, which gi_cli_print_conclusion() prints, on a terminal or not,
 * unless
 * --quiet was given. It is to be called once all outputs are in place. */
void gi_cli_conclude(const char *format, ...) __attribute__((format(printf, 1, 2)));
void gi_cli_print_conclusion(void);
/* gi_cli_name() sets the COMMAND of messages; NULL if there is none. The other function sets
 * whether warnings are off (--quiet). main() calls both. */
void gi_cli_name(const char *name);
void gi_cli_quiet(bool quiet);
/* Set and return whether gi_cli_tell() prints its line, as by gi_cli_log() (--verbose). */
void gi_cli_verbose(bool verbose);
bool gi_cli_tells(void);
void gi_cli_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a line on the terminal of stderr, in place of the line that it showed before; "" removes
 * it. Lines logged meanwhile appear above it. */
void gi_cli_show_line(const char *line);

/* Returns the length of the UTF-8 sequence at `text`, from 1 to 4 bytes, or 0 if the text there is
 * not UTF-8. */
size_t gi_utf8_nbytes(const char *text);

/* Escape the first character of `text`, which is not empty, and return its number of bytes. Bytes
 * that are not UTF-8, and characters that may not occur, become \xNN for each byte.
 * gi_terminal_char() is for text that can't control a terminal: no control characters, and none
 * that change the direction of the text, such as U+202E. gi_xml_char() is for text and attributes
 * of XML 1.0, which also lacks U+FFFE and U+FFFF. */
enum { GI_ESCAPED = 17 }; /* with a zero byte at the end */
size_t gi_terminal_char(char escaped[GI_ESCAPED], const char *text);
size_t gi_xml_char(char escaped[GI_ESCAPED], const char *text);

/* Prints a name or path by gi_terminal_char(). */
void gi_print_safe(FILE *out, const char *text);

/* Prints a number of bytes as "3.1 MB". Returns buffer. */
const char *gi_text_nbytes(double nbytes, char buffer[32]);
