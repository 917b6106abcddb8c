/* Shell completion: gpuimg completion prints small scripts, which call the program for each
 * completion. It finds the answers in the rows of commands and options.
 * SPDX-License-Identifier: MIT */
#include "cli/args/chain.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "filters/tone/auto_threshold.h"

#include <ctype.h>
#include <string.h>

static const char bash_script[] = "# bash completion of gpuimg\n"
                                  "_gpuimg() {\n"
                                  "    local line\n"
                                  "    COMPREPLY=()\n"
                                  "    while IFS= read -r line; do\n"
                                  "        if [[ $line == :files ]]; then\n"
                                  "            compopt -o default\n"
                                  "        else\n"
                                  "            COMPREPLY+=(\"${line%%$'\\t'*}\")\n"
                                  "        fi\n"
                                  "    done < <(\"${1/#\\~\\//$HOME/}\" __complete "
                                  "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
                                  "}\n"
                                  "complete -F _gpuimg gpuimg\n";

static const char zsh_script[] =
    "#compdef gpuimg\n"
    "_gpuimg() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"${(Q)words[1]}\" __complete \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            compset -P '--*='\n"
    "            _files\n"
    "        elif [[ -n $line ]]; then\n"
    "            found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#found )) && _describe gpuimg found\n"
    "}\n"
    "if [[ ${funcstack[1]} == _gpuimg ]]; then _gpuimg \"$@\"; else compdef _gpuimg gpuimg; fi\n";

static const char fish_script[] =
    "# fish completion of gpuimg\n"
    "function __gpuimg_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    set -l head (string match -r '^--[^=]*=' -- $current)\n"
    "    for line in ($words[1] __complete $words[2..-1] \"$current\" 2>/dev/null)\n"
    "        if test \"$line\" = ':files'\n"
    "            for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "
    "\"$current\"))\n"
    "                echo -- \"$head$path\"\n"
    "            end\n"
    "        else\n"
    "            echo -- \"$line\"\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c gpuimg -f -a '(__gpuimg_complete)'\n";

/* The word that is being completed. `part` is the typed part of the word, and `head` the text
 * before it ("--border="). */
struct typed {
    const char *head;
    int nhead;
    const char *part;
};

/* Prints the word if it matches. Returns whether it does. */
static bool offer(const struct typed *typed, const char *word, size_t n, const char *what)
{
    size_t given = strlen(typed->part);
    bool fits = n >= given && strncmp(word, typed->part, given) == 0;
    if (fits)
        printf("%.*s%.*s\t%s\n", typed->nhead, typed->head, (int)n, word, what);
    return fits;
}

/* Offers each word of "auto|cpu|cuda[:N]", without the part in brackets. */
static void offer_words(const struct typed *typed, const char *words)
{
    while (*words) {
        size_t n = strcspn(words, "|");
        size_t bracket = strcspn(words, "[");
        offer(typed, words, bracket < n ? bracket : n, "");
        words += n + (words[n] == '|');
    }
}

static void offer_commands(const struct typed *typed)
{
    struct gi_command command;
    for (int i = 0; gi_command_at(&command, i); i++)
        offer(typed, command.name, strlen(command.name), command.summary);
}

static void offer_operations(const struct typed *typed)
{
    for (int i = 0; gi_filters[i]; i++)
        offer(typed, gi_filters[i]->name, strlen(gi_filters[i]->name), gi_filters[i]->summary);
}

static void offer_formats(const struct typed *typed)
{
    const struct gi_format_info *format;
    for (int i = 0; (format = gi_format_at(i)); i++)
        if (format->writes)
            offer(typed, format->name, strlen(format->name), format->summary);
}

/* Offers the choices. Their aliases are offered only if no choice matches. */
static void offer_choices(const struct typed *typed, const struct gi_choice *choices)
{
    bool fits = false;
    for (const struct gi_choice *c = choices; c->name; c++)
        fits = fits || (!c->alias_of && strncmp(c->name, typed->part, strlen(typed->part)) == 0);
    for (const struct gi_choice *c = choices; c->name; c++)
        if (fits == !c->alias_of)
            offer(typed, c->name, strlen(c->name), c->help ? c->help : fits ? "" : c->alias_of);
}

static void offer_values(const struct typed *typed, const struct gi_option *row)
{
    switch (row->type) {
    case GI_OPT_CHOICE:
        offer_choices(typed, row->choices);
        break;
    case GI_OPT_INT:
        if (row->zero)
            offer_words(typed, row->zero);
        break;
    case GI_OPT_LEVEL:
        for (int i = 0; i < GI_THRESHOLD_METHODS && !row->amount; i++)
            offer(typed, gi_threshold_methods[i].name, strlen(gi_threshold_methods[i].name),
                  gi_threshold_methods[i].help);
        break;
    case GI_OPT_TEXT:
        if (row == gi_io_options) /* --format is the first row of this set */
            offer_formats(typed);
        else if (row->metavar && strchr(row->metavar, '|'))
            offer_words(typed, row->metavar);
        break;
    case GI_OPT_CONTENT:
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        puts(":files");
        break;
    default:
        break;
    }
}

/* Offers the names of the options, or if `aliases` is true their aliases. Returns whether any of
 * them matches. */
static bool offer_names(const struct typed *typed, const struct gi_command *command, bool aliases)
{
    char text[64];
    bool fits = false;
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++) {
            const char *name = aliases ? row->also : row->name;
            int n = name ? snprintf(text, sizeof text, "--%s", name) : 0;
            fits = (name && offer(typed, text, (size_t)n, row->help)) || fits;
        }
    return fits;
}

/* Offers the options. Aliases are offered only if no name matches. */
static void offer_options(const struct typed *typed, const struct gi_command *command)
{
    bool fits = offer_names(typed, command, false);
    if (gi_option_json(command))
        fits = offer(typed, "--json", 6, "Short for --format json") || fits;
    fits = offer(typed, "--help", 6, "Explain the command") || fits;
    if (!fits)
        offer_names(typed, command, true);
}

/* Returns whether `word` ("--border", "--border=x") is the option `name` and can be followed by its
 * argument. `equals` says whether an "=" follows the name, in `word` or as the next word. `bare`
 * says that the argument may be left out, so that it can follow only an "=". */
static bool is_name(const char *word, const char *name, bool equals, bool bare)
{
    size_t n = name ? strlen(name) : 0;
    return n && strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
           (word[2 + n] == '=' || (!word[2 + n] && (equals || !bare)));
}

/* Returns the row of the option `word` ("--border", "--border=x", "-v") if its argument can follow.
 * `equals` says whether an "=" follows the name, in `word` or as the next word. Returns NULL if
 * there is no such option. */
static const struct gi_option *find_row(const struct gi_command *command, const char *word,
                                        bool equals)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++) {
            bool is_long = is_name(word, row->name, equals, row->bare) ||
                           is_name(word, row->also, equals, row->bare);
            bool is_short = row->letter && word[0] == '-' && word[1] == row->letter && !word[2];
            if (is_long || is_short)
                return row;
        }
    return NULL;
}

static void offer_steps(const struct typed *typed)
{
    struct gi_command step;
    for (int i = 0; gi_filters[i]; i++)
        if (gi_chain_command(&step, gi_filters[i]))
            offer(typed, step.name, strlen(step.name), step.summary);
}

static void complete_word(const struct gi_command *command, int n, char **words,
                          const struct typed *whole);

/* Completes the last word of a chain, and offers the whole chain with this word completed. For the
 * shell the chain is a single word, which may begin with a quote. */
static void complete_chain(const char *chain)
{
    enum { WORDS_MAX = 64 };
    char text[4096], *words[WORDS_MAX], *rest = text;
    int n = 0;
    chain += *chain == '\'' || *chain == '"';
    const char *bar = strrchr(chain, '|'), *step = bar ? bar + 1 : chain;
    if (strlen(step) >= sizeof text)
        return;
    strcpy(text, step);
    for (char *word; n < WORDS_MAX - 1 && (word = strtok_r(rest, " \t", &rest));)
        words[n++] = word;
    size_t length = strlen(step);
    bool begun = length > 0 && step[length - 1] != ' '; /* else the word is still empty */
    if (!begun)
        words[n++] = text + length;
    size_t last = strlen(words[n - 1]);
    struct typed whole = {chain, (int)(strlen(chain) - last), words[n - 1]};
    struct gi_command command;
    const struct gi_filter *filter = n > 1 ? gi_filter_find(words[0]) : NULL;
    if (n == 1)
        offer_steps(&whole);
    else if (filter && gi_chain_command(&command, filter))
        complete_word(&command, n, words, &whole);
}

static void offer_topics(const struct typed *typed)
{
    struct gi_command topic;
    for (int i = 0; gi_topic_at(&topic, i); i++)
        offer(typed, topic.name, strlen(topic.name), topic.summary);
}

static void offer_operands(const struct typed *typed, const struct gi_command *command)
{
    if (strncmp(command->operands, "CHAIN", 5) == 0) {
        complete_chain(typed->part);
        puts(":files");
    } else if (strstr(command->operands, "COMMAND")) {
        offer_commands(typed);
        offer_topics(typed);
    } else if (strstr(command->operands, "OPERATION"))
        offer_operations(typed);
    else if (strchr(command->operands, '|'))
        offer_words(typed, command->operands);
    else if (*command->operands) {
        if (islower((unsigned char)*command->operands))
            offer(typed, command->operands, strcspn(command->operands, " "), "");
        puts(":files");
    }
}

/* Completes a word of the command line of `command`; words[0] is the name of the command. `whole`
 * is the typed text up to the end of the last word. */
static void complete_word(const struct gi_command *command, int n, char **words,
                          const struct typed *whole)
{
    struct typed typed = *whole;
    const char *before = n > 2 ? words[n - 2] : "", *equals = strchr(typed.part, '=');
    const struct gi_option *row = NULL, *chain;
    bool operands_only = false;
    for (int i = 1; i < n - 1; i++)
        operands_only = operands_only || strcmp(words[i], "--") == 0;
    if (strcmp(typed.part, "=") == 0) { /* from bash: --border = */
        row = find_row(command, before, true);
        typed.part = "";
    } else if (strcmp(before, "=") == 0 && n > 3) { /* from bash: --border = cl */
        row = find_row(command, words[n - 3], true);
    } else if (strncmp(typed.part, "--", 2) == 0 && equals) {
        row = find_row(command, typed.part, true);
        typed = (struct typed){typed.head ? typed.head : typed.part,
                               typed.nhead + (int)(equals - typed.part) + 1, equals + 1};
    } else if (*before == '-') {
        row = find_row(command, before, false);
    } else if (n > 3 && (chain = find_row(command, words[n - 3], false)) && chain->two) {
        complete_chain(typed.part);
        return;
    }
    if (row && row->type != GI_OPT_FLAG && !operands_only)
        offer_values(&typed, row);
    else if (*typed.part == '-' && !operands_only)
        offer_options(&typed, command);
    else
        offer_operands(&typed, command);
}

void gi_complete(int nwords, char **words)
{
    struct gi_command command;
    struct typed typed = {.part = nwords > 0 ? words[0] : ""};
    if (nwords > 1) {
        if (gi_command_find(&command, words[0]))
            complete_word(&command, nwords, words, &(struct typed){.part = words[nwords - 1]});
    } else {
        offer_commands(&typed);
        if (*typed.part == '-')
            offer_words(&typed, "--help|--version");
    }
}

static enum gi_status run_completion(const struct gi_command *self, void *const *params,
                                     char **operands, int noperands, struct gi_err *err)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(operands[0], scripts[i].shell) == 0) {
            fputs(scripts[i].script, stdout);
            return GI_OK;
        }
    return gi_fail(err, GI_E_USAGE, "%s: want %s", operands[0], self->operands);
}

const struct gi_command gi_command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "Print a script that completes command lines in a shell",
    .manual = "The script asks gpuimg for the words that can come next: commands, options, their "
              "values, and files. make install installs the scripts for all shells, and make "
              "install PREFIX=$HOME/.local does so without root.\n\n"
              "In bash the simple way is this line at the end of ~/.bashrc:\n\n"
              "    source <(gpuimg completion bash)\n\n"
              "If the package bash-completion is installed, the script may be a file instead, "
              "which bash reads when it is needed:\n\n"
              "    mkdir -p ~/.local/share/bash-completion/completions\n"
              "    gpuimg completion bash >~/.local/share/bash-completion/completions/gpuimg\n\n"
              "Both take effect in a new shell. For fish and zsh the folder must exist too.",
    .examples = "gpuimg completion bash >~/.local/share/bash-completion/completions/gpuimg\n"
                "gpuimg completion zsh >\"${fpath[1]}/_gpuimg\"\n"
                "gpuimg completion fish >~/.config/fish/completions/gpuimg.fish",
    .min_operands = 1,
    .max_operands = 1,
    .run = run_completion,
};
