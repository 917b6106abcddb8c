/* Help and manual pages, printed from the rows of commands and options.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/* Print what `gpuimg` alone prints (24 lines), the list of all commands, the help of one command,
 * and manual pages (cli/help/help.c, cli/help/man.c). */
void gi_help_start(FILE *out);
void gi_help_all(FILE *out);
void gi_help_command(FILE *out, const struct gi_command *command);
void gi_man_all(FILE *out);
void gi_man_command(FILE *out, const struct gi_command *command);

/* The same as Markdown (cli/help/markdown.c). gi_markdown_all() prints the list, all commands and
 * all topics as one document. */
void gi_markdown_list(FILE *out);
void gi_markdown_command(FILE *out, const struct gi_command *command);
void gi_markdown_topic(FILE *out, const struct gi_command *topic);
void gi_markdown_all(FILE *out);

/* The first and the last paragraph of the list of commands. */
extern const char gi_help_introduction[], gi_help_closing[];
/* Fills `text` with a sentence that names those options of the command that `gpuimg help common`
 * explains, or if `many` is true those that `gpuimg help batch` explains. Returns whether there are
 * such options. */
bool gi_help_shared(const struct gi_command *command, bool many, char *text, size_t nbytes);

/* The paragraphs of topics, up to NULL (cli/help/promises.c, cli/help/cluster.c). */
extern const char *const gi_promises_paragraphs[], *const gi_cluster_paragraphs[];

/* Fill `topic` with a page that belongs to no single command. It has the form of a command that
 * cannot run, with a name, a summary, a manual, examples (NULL if there are none) and options. The
 * manual is valid until the next call. Return false past the end, or if no topic has that name
 * (cli/help/topics.c). */
bool gi_topic_at(struct gi_command *topic, int index);
bool gi_topic_find(struct gi_command *topic, const char *name);
void gi_help_topic(FILE *out, const struct gi_command *topic);
void gi_man_topic(FILE *out, const struct gi_command *topic);

/* Prints the commands, topics and options whose names and texts contain `words`, the best match
 * first. Case and hyphens do not matter. If no text contains `words` in this order, texts that
 * contain all of them in any order match. Returns whether anything matches; if not, prints nothing
 * (cli/help/help_search.c). */
bool gi_help_search(FILE *out, const char *words);

/* Prints the version, the commit, the compiler, the GPUs that the program has code for, and the
 * libraries with their versions (cli/help/version.c). */
void gi_version_print(FILE *out);
/* Prints a line per library that is loaded when it is needed: its file, its package in Debian, and
 * the functions that are called. */
void gi_libraries_print(FILE *out);
