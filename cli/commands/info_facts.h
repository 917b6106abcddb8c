/* The facts about a photograph in the output of `gpuimg info`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "imgio/metadata/facts.h"

/* Prints the facts that are known, one or several per indented line. */
void gi_info_print_facts(FILE *out, const struct gi_metadata *metadata);
/* Adds a member per fact, which is null if the fact is unknown. */
void gi_info_json_facts(json_t *object, const struct gi_metadata *metadata);
/* Writes a comma and the name, or the value, of each fact, as columns of CSV. */
enum gi_status gi_info_csv_names(struct gi_sink *sink, struct gi_err *err);
enum gi_status gi_info_csv_facts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                 struct gi_err *err);
