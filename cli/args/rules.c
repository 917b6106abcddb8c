/* The rules of a batch: which inputs are processed, and by which chain (--only, --except, --for).
 * SPDX-License-Identifier: MIT */
#include "cli/args/rules.h"

#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"
#include "cli/text.h"
#include "imgio/small.h"

/* A --for, whose patterns are in the matcher. */
struct rule {
    char *text; /* of the chain */
    struct gi_chain chain;
};

struct gi_rules {
    struct gi_matcher matcher;
    struct rule *rules; /* matcher.n */
};

/* ---- rules ---- */

enum gi_status gi_chain_check_many(const struct gi_chain *chain, struct gi_err *err)
{
    for (int i = 0; i < chain->n - 1; i++)
        if (chain->steps[i].reporter)
            return gi_fail(err, GI_E_USAGE,
                           "step %d, %s: writes a table of one image: of many want it as the last "
                           "step",
                           i + 1, chain->steps[i].filter->name);
    return GI_OK;
}

static const struct gi_filter *last_analysis(const struct gi_chain *chain)
{
    return gi_chain_ends_in_analysis(chain) ? chain->steps[chain->n - 1].filter : NULL;
}

/* Checks that the results of both chains can be those of one batch. */
static enum gi_status check_end(const struct gi_chain *chain, const struct gi_chain *others,
                                struct gi_err *err)
{
    const struct gi_filter *wanted = last_analysis(others), *got = last_analysis(chain);
    enum gi_status status = gi_chain_check_many(chain, err);
    if (status || got == wanted)
        return status;
    return wanted
               ? gi_fail(err, GI_E_USAGE, "want %s as the last step, as for the other inputs",
                         wanted->name)
               : gi_fail(err, GI_E_USAGE, "step %d, %s: makes no image, as the other inputs become",
                         chain->n, got->name);
}

/* Reads one --for, which is its patterns and its chain. *text moves behind it. */
static enum gi_status read_rule(struct gi_rules *rules, const char **text,
                                const struct gi_batch_job *job, struct gi_err *err)
{
    const char *chain = strchr(*text, GI_OPTION_WORD) + 1, *end = strchr(chain, GI_OPTION_NEXT);
    const struct gi_device_params *device = gi_batch_device(job);
    struct gi_matcher *matcher = &rules->matcher;
    size_t room = (size_t)matcher->n + 1;
    rules->rules = gi_small_realloc(rules->rules, room, sizeof *rules->rules);
    matcher->of_rules = gi_small_realloc(matcher->of_rules, room, sizeof *matcher->of_rules);
    char *names = gi_small_copy_n(*text, (size_t)(chain - 1 - *text));
    *text = end ? end + 1 : NULL;
    struct rule *rule = &rules->rules[matcher->n];
    struct gi_patterns *patterns = &matcher->of_rules[matcher->n++];
    *patterns = (struct gi_patterns){.n = 0};
    *rule = (struct rule){.text = end ? gi_small_copy_n(chain, (size_t)(end - chain))
                                      : gi_small_copy(chain)};
    enum gi_status status = gi_patterns_read(patterns, "for", names, err);
    if (!status)
        status = gi_chain_read(&rule->chain, rule->text, err);
    if (!status)
        status =
            gi_chain_load(&rule->chain, true, gi_batch_io(job), device ? device->threads : 0, err);
    if (!status)
        status = check_end(&rule->chain, job->chain, err);
    if (status)
        gi_err_prefix(err, "--for %s", names);
    free(names);
    return status;
}

enum gi_status gi_rules_new(struct gi_rules **out, const struct gi_batch_job *job,
                            struct gi_err *err)
{
    const struct gi_choice_params *p = &gi_batch_params(job)->choice;
    *out = NULL;
    if (p->rules && (job->work || job->nchains > 1))
        return gi_fail(err, GI_E_USAGE, "--for: not of %s, which is no step of a chain",
                       job->text   ? job->text
                       : job->work ? job->command->name
                                   : "several sizes");
    if (!p->only && !p->except && !p->rules)
        return GI_OK;
    struct gi_rules *rules = *out = gi_small_calloc(1, sizeof *rules);
    enum gi_status status = gi_matcher_read(&rules->matcher, p->only, p->except, err);
    for (const char *text = p->rules; text && !status;)
        status = read_rule(rules, &text, job, err);
    return status;
}

void gi_rules_free(struct gi_rules **out)
{
    struct gi_rules *rules = *out;
    *out = NULL;
    for (int i = 0; rules && i < rules->matcher.n; i++) {
        free(rules->rules[i].text);
        gi_chain_free(&rules->rules[i].chain);
    }
    if (rules) {
        gi_matcher_free(&rules->matcher);
        free(rules->rules);
    }
    free(rules);
}

struct gi_matcher *gi_rules_matcher(struct gi_rules *rules)
{
    return rules ? &rules->matcher : NULL;
}

int gi_rules_n(const struct gi_rules *rules)
{
    return rules ? rules->matcher.n + 1 : 1;
}

const struct gi_chain *gi_rules_chain(const struct gi_rules *rules, int rule,
                                      const struct gi_chain *chain)
{
    return rule > GI_RULE_MAIN ? &rules->rules[rule - 1].chain : chain;
}

/* ---- reports ---- */

char *gi_rules_text(const struct gi_rules *rules, const char *text, bool choice)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    fputs(text, out);
    if (rules && choice) {
        gi_patterns_print(out, &rules->matcher.only, "only");
        gi_patterns_print(out, &rules->matcher.except, "except");
    }
    for (int i = 0; rules && i < rules->matcher.n; i++) {
        gi_patterns_print(out, &rules->matcher.of_rules[i], "for");
        fprintf(out, " '%s'", rules->rules[i].text);
    }
    return gi_text_close(out, &memory);
}

uint64_t gi_rules_hash(const struct gi_rules *rules, const struct gi_chain *chain)
{
    uint64_t hash = gi_chain_hash(chain);
    for (int i = 0; rules && i < rules->matcher.n; i++) {
        uint64_t one = gi_chain_hash(&rules->rules[i].chain);
        if (one)
            hash = gi_hash(hash ? hash : GI_HASH_START, &one, sizeof one);
    }
    return hash;
}

const char *gi_rules_image(const struct gi_rules *rules, const struct gi_chain *chain, int i)
{
    for (int rule = 0; rule < gi_rules_n(rules); rule++) {
        const struct gi_chain *one = gi_rules_chain(rules, rule, chain);
        int n = 0;
        while (gi_chain_image(one, n))
            n++;
        if (i < n)
            return gi_chain_image(one, i);
        i -= n;
    }
    return NULL;
}
