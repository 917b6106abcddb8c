/* gpuimg help WORD: finds commands, topics and options by the words of their texts.
 * SPDX-License-Identifier: MIT */
#include "cli/args/option_text.h"
#include "cli/command.h"
#include "cli/help/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    WORDS_MAX = 16,
    HITS_MAX = 256,
    NAME_COLUMNS = 19,   /* columns before the summary of a command */
    OPTION_COLUMNS = 28, /* columns before the text of an option */
    /* Scores of a match, which depend on where the word was found. A match with a whole word counts
       twice. */
    IN_NAME = 64,
    IN_SYNONYM = 32, /* is another program's name for the command */
    IN_SUMMARY = 16,
    IN_OPTION_NAME = 8,
    IN_OPTION_HELP = 4,
    IN_MANUAL = 1, /* in the manual, the examples or the names of operands */
};

/* The words to search for. A page matches only if it contains all of them. */
struct query {
    char text[256];
    const char *words[WORDS_MAX];
    int n;
};

struct hit {
    struct gi_command row;
    bool topic; /* a page of shared options */
    int index;  /* position in the list of help */
    int score;  /* 0: no match */
};

/* Normalises a character. Upper case becomes lower case, and hyphens, underscores and newlines
 * become blanks. */
static int plain(char c)
{
    return c == '-' || c == '_' || c == '\n' ? ' ' : tolower((unsigned char)c);
}

/* Returns whether `a` continues behind "colo" as "colour" does, and `b` as "color" does. */
static bool is_color(const char *a, size_t na, const char *b, size_t nb)
{
    return nb >= 4 && a[na] == 'u' && b[nb] == 'r' && strncasecmp(b + nb - 4, "colo", 4) == 0;
}

/* Returns how many characters of `text` are equal to all of `word`, or -1. The spellings colour and
 * color are equal. */
static int match_here(const char *text, const char *word)
{
    size_t t = 0, w = 0;
    for (; word[w]; t++, w++) {
        t += is_color(text, t, word, w);
        w += is_color(word, w, text, t);
        if (plain(text[t]) != plain(word[w]))
            return -1;
    }
    return (int)t;
}

/* Returns 2 if a word in `text` is equal to `word`, 1 if a word in `text` begins with `word`, and
 * otherwise 0. `text` may be NULL. */
static int match(const char *text, const char *word)
{
    int best = 0;
    bool inside = false;
    for (; text && *text && best < 2; inside = isalnum((unsigned char)*text++)) {
        int n = inside ? -1 : match_here(text, word);
        if (n >= 0)
            best = isalnum((unsigned char)text[n]) ? 1 : 2;
    }
    return best;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int score_option(const struct gi_option *row, const char *word)
{
    int name = larger(match(row->name, word), match(row->also, word)),
        help = match(row->help, word);
    for (const struct gi_choice *c = row->choices; c && c->name; c++) {
        name = larger(name, match(c->name, word));
        help = larger(help, match(c->help, word));
    }
    return larger(name * IN_OPTION_NAME, help * IN_OPTION_HELP);
}

static int score_synonyms(const char *name, const char *word)
{
    const char *synonym, *means;
    for (int i = 0; gi_synonym_at(&synonym, &means, i); i++) {
        means += strncmp(means, "help ", 5) == 0 ? 5 : 0; /* "help batch" means the topic */
        if (strlen(synonym) == strlen(word) && match(synonym, word) &&
            strcspn(means, " ") == strlen(name) && strncmp(means, name, strlen(name)) == 0)
            return 2 * IN_SYNONYM;
    }
    return 0;
}

/* Returns the rows of option set number `s` if the page of `hit` explains these options. Returns
 * NULL if another page explains them, or past the last set. */
static const struct gi_option *explained(const struct hit *hit, int s)
{
    const struct gi_option *rows = hit->row.sets[s].rows;
    return rows && (hit->topic || !gi_options_are_shared(rows)) ? rows : NULL;
}

static int score_word(const struct hit *hit, const char *word)
{
    const struct gi_command *row = &hit->row;
    int best = larger(match(row->name, word) * IN_NAME, match(row->summary, word) * IN_SUMMARY);
    best = larger(best, score_synonyms(row->name, word));
    for (int s = 0; s < GI_OPTION_SETS_MAX; s++)
        for (const struct gi_option *o = explained(hit, s); o && o->name; o++)
            best = larger(best, score_option(o, word));
    int text = larger(match(row->manual, word), match(row->examples, word));
    return larger(best, larger(text, match(row->operands, word)) * IN_MANUAL);
}

/* Returns the sum of the scores of all words of the query, or 0 if one of them does not occur. */
static int score(const struct hit *hit, const struct query *query)
{
    int sum = 0;
    for (int i = 0; i < query->n; i++) {
        int one = score_word(hit, query->words[i]);
        if (!one)
            return 0;
        sum += one;
    }
    return sum;
}

static int by_score(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    return y->score != x->score ? y->score - x->score : x->index - y->index;
}

static bool matches(const struct query *query, const char *name, const char *also, const char *help)
{
    for (int i = 0; i < query->n; i++)
        if (!match(name, query->words[i]) && !match(also, query->words[i]) &&
            !match(help, query->words[i]))
            return false;
    return true;
}

static void print_line(FILE *out, const char *name, const char *argument, const char *help)
{
    int column = fprintf(out, "    %s%s", name, argument);
    if (column > OPTION_COLUMNS - 2) {
        putc('\n', out);
        column = 0;
    }
    gi_help_wrap(out, help, OPTION_COLUMNS, column);
}

/* Prints the option if it matches, and those of the option's choices that match. */
static void print_option(FILE *out, const struct gi_option *row, const struct query *query)
{
    char name[128], argument[128];
    if (matches(query, row->name, row->also, row->help))
        print_line(out, gi_option_names(row, name, sizeof name),
                   gi_option_argument(row, argument, sizeof argument), row->help);
    for (const struct gi_choice *c = row->choices; c && c->name; c++) {
        if (!matches(query, c->name, NULL, c->help))
            continue;
        snprintf(name, sizeof name, "--%s %s", row->name, c->name);
        print_line(out, name, "", c->help ? c->help : c->alias_of ? c->alias_of : "");
    }
}

static void print_hit(FILE *out, const struct hit *hit, const struct query *query)
{
    int column = fprintf(out, "  %-*s", NAME_COLUMNS - 2, hit->row.name);
    gi_help_wrap(out, hit->row.summary, NAME_COLUMNS, column);
    for (int s = 0; s < GI_OPTION_SETS_MAX; s++)
        for (const struct gi_option *o = explained(hit, s); o && o->name; o++)
            print_option(out, o, query);
}

/* Fills in `hit` if the row matches. Returns whether the row matches. */
static bool take(struct hit *hit, const struct gi_command *row, bool topic, int index,
                 const struct query *query)
{
    *hit = (struct hit){.row = *row, .topic = topic, .index = index};
    hit->score = score(hit, query);
    return hit->score > 0;
}

/* Finds at most `most` commands and topics that match, and sorts them with the best match first.
 * Returns their number. */
static int find(struct hit *hits, int most, const struct query *query)
{
    struct gi_command row;
    int n = 0, ncommands = 0;
    for (int i = 0; n < most && gi_command_at(&row, i); i++, ncommands++)
        if (strcmp(row.name, "help") != 0) /* its examples are queries themselves */
            n += take(&hits[n], &row, false, i, query);
    for (int i = 0; n < most && gi_topic_at(&row, i); i++)
        n += take(&hits[n], &row, true, ncommands + i, query);
    qsort(hits, (size_t)n, sizeof *hits, by_score);
    return n;
}

/* Prints the hits. It prints only the names of pages that contain the words only in their texts, at
 * the end. */
static void print_hits(FILE *out, const struct hit *hits, int n, const struct query *query)
{
    char text[2048] = "In the text of:";
    size_t used = strlen(text), none = used;
    for (int i = 0; i < n; i++)
        if (hits[i].score > 2 * IN_MANUAL * query->n)
            print_hit(out, &hits[i], query);
        else if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s",
                                     used > none ? "," : "", hits[i].row.name);
    if (used > none)
        gi_help_wrap(out, text, 0, 0);
}

bool gi_help_search(FILE *out, const char *words)
{
    static struct hit hits[HITS_MAX];
    struct query query = {.words = {query.text}, .n = 1};
    snprintf(query.text, sizeof query.text, "%s", words);
    if (!words[strspn(words, " -_\n")])
        return false;
    int n = find(hits, HITS_MAX, &query);
    if (!n) {
        char *rest = query.text;
        query.n = 0;
        for (char *word; query.n < WORDS_MAX && (word = strtok_r(rest, " ", &rest));)
            query.words[query.n++] = word;
        n = query.n > 1 ? find(hits, HITS_MAX, &query) : 0;
    }
    print_hits(out, hits, n, &query);
    return n > 0;
}
