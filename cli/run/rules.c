/* The rules of a batch: which inputs are processed, and by which chain (--only, --except, --for).
 * SPDX-License-Identifier: MIT */
#include "cli/run/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"
#include "cli/log.h"
#include "cli/text.h"

/* A list of patterns. */
struct patterns {
    char **patterns; /* owned here */
    size_t n;
    bool used; /* some name matched */
};

/* A --for. */
struct rule {
    struct patterns patterns;
    char *text; /* of the chain */
    struct gi_chain chain;
};

struct gi_rules {
    struct patterns only, except;
    struct rule *rules; /* those of --for */
    int n;
};

/* ---- patterns ---- */

static void free_patterns(struct patterns *patterns)
{
    for (size_t i = 0; i < patterns->n; i++)
        free(patterns->patterns[i]);
    free(patterns->patterns);
}

/* Returns the length of the first pattern in `text`, up to a comma without a backslash before it or
 * the next use of the option. */
static size_t pattern_length(const char *text)
{
    size_t n = 0;
    while (text[n] && text[n] != ',' && text[n] != GI_OPTION_NEXT)
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n;
}

/* Reads the value of an option, "*.jpg,*.png"; NULL: the option was not given. */
static enum gi_status read_patterns(struct patterns *patterns, const char *option, const char *text,
                                    struct gi_err *err)
{
    for (bool more = text != NULL; more;) {
        size_t n = pattern_length(text);
        if (!n)
            return gi_fail(err, GI_E_USAGE, "--%s: a pattern is empty, want one such as '*.jpg'",
                           option);
        char **grown = realloc(patterns->patterns, (patterns->n + 1) * sizeof *patterns->patterns);
        if (grown)
            patterns->patterns = grown;
        char *pattern = grown ? strndup(text, n) : NULL;
        if (!pattern)
            return gi_fail(err, GI_E_MEMORY, "out of memory: --%s", option);
        patterns->patterns[patterns->n++] = pattern;
        more = text[n];
        text += n + 1;
    }
    return GI_OK;
}

/* Skips "./" at the beginning, which find and tar put there. */
static const char *skip_dot(const char *name)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2 + strspn(name + 2, "/");
    return name;
}

static bool fits(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

/* Compares a pattern with a name, or with its last part if the pattern has no slash. After two
 * stars and a slash, the rest of the pattern may begin at any part of the name. */
static bool matches_one(const char *pattern, const char *name)
{
    const char *slash = strrchr(name, '/');
    pattern = skip_dot(pattern);
    if (strncmp(pattern, "**/", 3) == 0)
        for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
            if (fits(pattern + 3, at))
                return true;
    return fits(pattern, strchr(pattern, '/') || !slash ? name : slash + 1);
}

static bool matches(struct patterns *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (matches_one(patterns->patterns[i], skip_dot(name)))
            return patterns->used = true;
    return false;
}

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
    struct rule *grown = realloc(rules->rules, ((size_t)rules->n + 1) * sizeof *grown);
    char *names = strndup(*text, (size_t)(chain - 1 - *text));
    *text = end ? end + 1 : NULL;
    if (grown)
        rules->rules = grown;
    struct rule *rule = grown ? &grown[rules->n++] : NULL;
    if (rule)
        *rule = (struct rule){.text = end ? strndup(chain, (size_t)(end - chain)) : strdup(chain)};
    enum gi_status status = rule && rule->text && names
                                ? read_patterns(&rule->patterns, "for", names, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: --for");
    if (!status)
        status = gi_chain_read(&rule->chain, rule->text, err);
    if (!status)
        status =
            gi_chain_load(&rule->chain, true, gi_batch_io(job), device ? device->threads : 0, err);
    if (!status)
        status = check_end(&rule->chain, job->chain, err);
    if (status && names)
        gi_err_prefix(err, "--for %s", names);
    free(names);
    return status;
}

static enum gi_status choose(struct gi_rules **out, const char *only, const char *except,
                             struct gi_err *err)
{
    struct gi_rules *rules = *out = calloc(1, sizeof *rules);
    if (!rules)
        return gi_fail(err, GI_E_MEMORY, "out of memory: --only");
    enum gi_status status = read_patterns(&rules->only, "only", only, err);
    return status ? status : read_patterns(&rules->except, "except", except, err);
}

enum gi_status gi_rules_new(struct gi_rules **out, const struct gi_batch_job *job,
                            struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    *out = NULL;
    if (p->rules && job->work)
        return gi_fail(err, GI_E_USAGE, "--for: not of %s, which is no step of a chain",
                       job->text ? job->text : job->command->name);
    enum gi_status status =
        p->only || p->except || p->rules ? choose(out, p->only, p->except, err) : GI_OK;
    for (const char *text = p->rules; text && !status;)
        status = read_rule(*out, &text, job, err);
    return status;
}

enum gi_status gi_rules_choose(struct gi_rules **out, const char *only, const char *except,
                               struct gi_err *err)
{
    *out = NULL;
    return only || except ? choose(out, only, except, err) : GI_OK;
}

void gi_rules_free(struct gi_rules **out)
{
    struct gi_rules *rules = *out;
    *out = NULL;
    for (int i = 0; rules && i < rules->n; i++) {
        free_patterns(&rules->rules[i].patterns);
        free(rules->rules[i].text);
        gi_chain_free(&rules->rules[i].chain);
    }
    if (rules) {
        free_patterns(&rules->only);
        free_patterns(&rules->except);
        free(rules->rules);
    }
    free(rules);
}

int gi_rules_of(struct gi_rules *rules, const char *name)
{
    if (!rules)
        return GI_RULE_MAIN;
    /* Both are asked, so that gi_rules_warn() knows which ones match names. */
    bool only = !rules->only.n || matches(&rules->only, name);
    bool except = matches(&rules->except, name);
    if (!only || except)
        return GI_RULE_NOT_CHOSEN;
    for (int i = 0; i < rules->n; i++)
        if (matches(&rules->rules[i].patterns, name))
            return i + 1;
    return GI_RULE_MAIN;
}

int gi_rules_n(const struct gi_rules *rules)
{
    return rules ? rules->n + 1 : 1;
}

const struct gi_chain *gi_rules_chain(const struct gi_rules *rules, int rule,
                                      const struct gi_chain *chain)
{
    return rule > GI_RULE_MAIN ? &rules->rules[rule - 1].chain : chain;
}

/* ---- reports and warnings ---- */

static void warn(const struct patterns *patterns, const char *option)
{
    if (patterns->n && !patterns->used)
        gi_cli_warn("--%s %s%s: no input has such a name", option, patterns->patterns[0],
                    patterns->n > 1 ? ",..." : "");
}

void gi_rules_warn(const struct gi_rules *rules)
{
    if (!rules)
        return;
    warn(&rules->only, "only");
    warn(&rules->except, "except");
    for (int i = 0; i < rules->n; i++)
        warn(&rules->rules[i].patterns, "for");
}

static void print_patterns(FILE *out, const struct patterns *patterns, const char *option)
{
    if (patterns->n)
        fprintf(out, " --%s '", option);
    for (size_t i = 0; i < patterns->n; i++)
        fprintf(out, "%s%s", i ? "," : "", patterns->patterns[i]);
    if (patterns->n)
        fputc('\'', out);
}

char *gi_rules_text(const struct gi_rules *rules, const char *text, bool choice)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    if (!out)
        return NULL;
    fputs(text, out);
    if (rules && choice) {
        print_patterns(out, &rules->only, "only");
        print_patterns(out, &rules->except, "except");
    }
    for (int i = 0; rules && i < rules->n; i++) {
        print_patterns(out, &rules->rules[i].patterns, "for");
        fprintf(out, " '%s'", rules->rules[i].text);
    }
    return gi_text_close(out, &memory);
}

uint64_t gi_rules_hash(const struct gi_rules *rules, const struct gi_chain *chain)
{
    uint64_t hash = gi_chain_hash(chain);
    for (int i = 0; rules && i < rules->n; i++) {
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
