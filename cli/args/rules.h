/* The rules of a batch: which inputs are processed, and by which chain (--only, --except, --for).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/paths/matcher.h"

struct gi_rules;

/* Reads the options, and the chains of --for with the images that they name. A chain must end as
 * that of the job does, in an image or in the same analysis, and can have other analyses nowhere.
 * *rules becomes NULL if none of the options was given; all functions below accept that.
 * gi_rules_free() frees the rules, also after an error. Errors: GI_E_USAGE, and as gi_chain_read()
 * and gi_chain_load(). */
enum gi_status gi_rules_new(struct gi_rules **rules, const struct gi_batch_job *job,
                            struct gi_err *err);
void gi_rules_free(struct gi_rules **rules);

/* Returns the patterns, which gi_rules_free() frees; NULL for NULL. */
struct gi_matcher *gi_rules_matcher(struct gi_rules *rules);
/* Returns the number of rules, which are GI_RULE_MAIN and those of --for. */
int gi_rules_n(const struct gi_rules *rules);
/* Returns the chain of a rule. `chain` is that of GI_RULE_MAIN. */
const struct gi_chain *gi_rules_chain(const struct gi_rules *rules, int rule,
                                      const struct gi_chain *chain);

/* Returns the name of the operation `text`, followed by the rules as options, for the report. The
 * options that only choose inputs are included if `choice` is true. The caller frees the text. */
char *gi_rules_text(const struct gi_rules *rules, const char *text, bool choice);
/* As gi_chain_hash() and gi_chain_image(), for the chains of all rules. */
uint64_t gi_rules_hash(const struct gi_rules *rules, const struct gi_chain *chain);
const char *gi_rules_image(const struct gi_rules *rules, const struct gi_chain *chain, int i);

/* Refuses a chain for many images with an analysis before its last step, because this analysis
 * would write a table of one image. Errors: GI_E_USAGE. */
enum gi_status gi_chain_check_many(const struct gi_chain *chain, struct gi_err *err);
