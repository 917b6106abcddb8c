/* Which inputs are processed, by patterns of names (--only, --except, --for).
 * SPDX-License-Identifier: MIT */
#include "cli/paths/matcher.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "filters/option.h"
#include "imgio/small.h"

/* ---- lists of patterns ---- */

static void free_patterns(struct gi_patterns *patterns)
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

enum gi_status gi_patterns_read(struct gi_patterns *patterns, const char *option, const char *text,
                                struct gi_err *err)
{
    for (bool more = text != NULL; more;) {
        size_t n = pattern_length(text);
        if (!n)
            return gi_fail(err, GI_E_USAGE, "--%s: a pattern is empty, want one such as '*.jpg'",
                           option);
        patterns->patterns = gi_small_realloc(patterns->patterns, (size_t)patterns->n + 1,
                                              sizeof *patterns->patterns);
        patterns->patterns[patterns->n++] = gi_small_copy_n(text, n);
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

static bool matches(struct gi_patterns *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (matches_one(patterns->patterns[i], skip_dot(name)))
            return patterns->used = true;
    return false;
}

void gi_patterns_print(FILE *out, const struct gi_patterns *patterns, const char *option)
{
    if (patterns->n)
        fprintf(out, " --%s '", option);
    for (size_t i = 0; i < patterns->n; i++)
        fprintf(out, "%s%s", i ? "," : "", patterns->patterns[i]);
    if (patterns->n)
        fputc('\'', out);
}

/* ---- the matcher ---- */

enum gi_status gi_matcher_read(struct gi_matcher *matcher, const char *only, const char *except,
                               struct gi_err *err)
{
    enum gi_status status = gi_patterns_read(&matcher->only, "only", only, err);
    return status ? status : gi_patterns_read(&matcher->except, "except", except, err);
}

void gi_matcher_free(struct gi_matcher *matcher)
{
    free_patterns(&matcher->only);
    free_patterns(&matcher->except);
    for (int i = 0; i < matcher->n; i++)
        free_patterns(&matcher->of_rules[i]);
    free(matcher->of_rules);
    *matcher = (struct gi_matcher){.n = 0};
}

int gi_matcher_rule(struct gi_matcher *matcher, const char *name)
{
    if (!matcher)
        return GI_RULE_MAIN;
    /* Both are asked, so that gi_matcher_warn() knows which ones match names. */
    bool only = !matcher->only.n || matches(&matcher->only, name);
    bool except = matches(&matcher->except, name);
    if (!only || except)
        return GI_RULE_NOT_CHOSEN;
    for (int i = 0; i < matcher->n; i++)
        if (matches(&matcher->of_rules[i], name))
            return i + 1;
    return GI_RULE_MAIN;
}

static void warn(const struct gi_patterns *patterns, const char *option)
{
    if (patterns->n && !patterns->used)
        gi_cli_warn("--%s %s%s: no input has such a name", option, patterns->patterns[0],
                    patterns->n > 1 ? ",..." : "");
}

void gi_matcher_warn(const struct gi_matcher *matcher)
{
    if (!matcher)
        return;
    warn(&matcher->only, "only");
    warn(&matcher->except, "except");
    for (int i = 0; i < matcher->n; i++)
        warn(&matcher->of_rules[i], "for");
}
