/* The facts about a photograph in the text of `gpuimg info`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "imgio/metadata/facts.h"

/* Prints the facts that are known, one or several per indented line. */
void gi_info_print_facts(FILE *out, const struct gi_facts *facts);
