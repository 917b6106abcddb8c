/* Makes the names of a batch's outputs from the names of its inputs.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/paths/path_conflicts.h"
#include "cli/text.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

static const char plain[] = "{tree}/{stem}.{ext}", a_channel[] = "{tree}/{stem}_{channel}.{ext}";

const char *const gi_naming_channels[GI_NAMING_CHANNELS] = {
    "r",      "g",      "b",      "a",      "k",      "band1",  "band2",
    "band3",  "band4",  "band5",  "band6",  "band7",  "band8",  "band9",
    "band10", "band11", "band12", "band13", "band14", "band15", "band16"};

enum field { DIR_FIELD, TREE, STEM, EXT, NAME, DATE, INDEX, PAGE, WIDTH, HEIGHT, CHANNEL, FIELDS };
static const char *const fields[FIELDS] = {"dir",   "tree", "stem",  "ext",    "name",   "date",
                                           "index", "page", "width", "height", "channel"};

/* Returns whether `text` begins with the number of digits of a field, ":04}" in {index:04}. *n
 * becomes the length of this part, with the colon and the brace. */
static bool has_width(const char *text, size_t *n)
{
    size_t digits = *text == ':' && text[1] == '0' ? strspn(text + 2, "123456789") : 0;
    *n = digits + 3;
    return digits == 1 && text[3] == '}';
}

/* Looks for a field at `text`, which begins with a brace: "{stem}", "{index:04}". Returns the
 * number of the field, or -1 if there is no such field. Sets *n to the length of the field with
 * both braces. */
static int field_at(const char *text, size_t *n)
{
    for (int i = 0; i < FIELDS; i++) {
        size_t name = strlen(fields[i]) + 1, width;
        *n = name + 1;
        if (strncmp(text + 1, fields[i], name - 1) != 0)
            continue;
        if (text[name] == '}')
            return i;
        if (i >= INDEX && i < CHANNEL && has_width(text + name, &width)) {
            *n = name + width;
            return i;
        }
    }
    *n = 1;
    return -1;
}

/* Returns the minimum number of digits that a field of `n` characters states, otherwise 1. */
static int width_of(const char *text, size_t n)
{
    return text[n - 4] == ':' ? text[n - 2] - '0' : 1;
}

static bool is_size(int field)
{
    return field == WIDTH || field == HEIGHT;
}

/* Returns whether the naming has that field, which may be -1. */
static bool has_field(const struct gi_naming *naming, int field)
{
    return field >= 0 && (field != CHANNEL || naming->channel) &&
           (field != PAGE || naming->pages) && (!is_size(field) || naming->sizes);
}

/* Returns whether one of the fields a and b is in `path`, which may be NULL. */
static bool names_one_of(const char *path, enum field a, enum field b)
{
    size_t n;
    for (const char *at = path; at && (at = strchr(at, '{')); at++) {
        int field = field_at(at, &n);
        if (field == (int)a || field == (int)b)
            return true;
    }
    return false;
}

bool gi_naming_is_many(const char *path)
{
    return names_one_of(path, INDEX, PAGE);
}

bool gi_naming_is_per_page(const char *path)
{
    return names_one_of(path, PAGE, PAGE);
}

bool gi_naming_is_per_size(const char *path)
{
    return names_one_of(path, WIDTH, HEIGHT);
}

enum gi_status gi_naming_check(const struct gi_naming *naming, struct gi_err *err)
{
    size_t n;
    const char *option = naming->option ? naming->option : "--out";
    bool channel = !naming->channel || !naming->template;
    for (const char *at = naming->template; at && (at = strchr(at, '{')); at += n) {
        int field = field_at(at, &n);
        if (!has_field(naming, field))
            return gi_fail(err, GI_E_USAGE,
                           "%s %s: %s: want {dir}, {tree}, {stem}, {ext}, {name}, {date}%s%s",
                           option, naming->template, at, naming->sizes ? ", {width}, {height}" : "",
                           naming->channel ? ", {index}, {index:04} or {channel}"
                           : naming->pages ? ", {index}, {index:04} or {page}"
                                           : ", {index} or {index:04}");
        channel |= field == CHANNEL;
        if (field == PAGE && strchr(at, '/'))
            return gi_fail(err, GI_E_USAGE, "%s %s: want {page} in the name of the file", option,
                           naming->template);
    }
    return channel ? GI_OK
                   : gi_fail(err, GI_E_USAGE, "%s %s: want {channel} in it, for a file per channel",
                             option, naming->template);
}

bool gi_naming_has_page(const struct gi_naming *naming)
{
    return naming->pages && gi_naming_is_per_page(naming->template);
}

/* Returns `output` with numbers in place of fields; those less than 0 are left as they are. */
static char *with_numbers(const char *output, const int numbers[FIELDS])
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    size_t n;
    for (const char *at = output; *at; at += n) {
        int field = *at == '{' ? field_at(at, &n) : -1;
        if (field >= 0 && numbers[field] >= 0)
            fprintf(out, "%0*d", width_of(at, n), numbers[field]);
        else
            n = (size_t)fprintf(out, "%c", *at);
    }
    return gi_text_close(out, &memory);
}

char *gi_naming_page(const char *output, int page)
{
    int numbers[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        numbers[i] = i == PAGE ? page : -1;
    return with_numbers(output, numbers);
}

char *gi_naming_size(const char *output, int width, int height)
{
    int numbers[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        numbers[i] = i == WIDTH ? width : i == HEIGHT ? height : -1;
    return with_numbers(output, numbers);
}

/* A part of a path. */
struct names_piece {
    const char *text;
    size_t n;
};

static struct names_piece piece_of(enum field field, const struct gi_naming *naming,
                                   struct gi_input *input, const char *number)
{
    struct gi_selection selection;
    const char *path = input->path, *end = path + gi_path_file(path, &selection);
    const char *slash = memrchr(path, '/', (size_t)(end - path));
    const char *name = slash ? slash + 1 : path, *dot = memrchr(name, '.', (size_t)(end - name));
    if (dot == name)
        dot = NULL;
    struct names_piece suffix = {"", 0};
    if (naming->suffix)
        suffix = (struct names_piece){naming->suffix, strlen(naming->suffix)};
    else if (dot)
        suffix = (struct names_piece){dot, (size_t)(end - dot)};
    if (suffix.n && *suffix.text == '.')
        suffix = (struct names_piece){suffix.text + 1, suffix.n - 1};
    switch (field) {
    case DIR_FIELD:
        return slash ? (struct names_piece){path, slash == path ? 1 : (size_t)(slash - path)}
                     : (struct names_piece){".", 1};
    case TREE:
        return path + input->root < name
                   ? (struct names_piece){path + input->root,
                                          (size_t)(name - path) - input->root - 1}
                   : (struct names_piece){"", 0};
    case STEM:
        return (struct names_piece){name, (size_t)((dot ? dot : end) - name)};
    case EXT:
        return suffix;
    case NAME:
        return (struct names_piece){name, (size_t)(end - name)};
    case DATE:
        if (!*input->date)
            gi_image_date(input->date, path);
        return (struct names_piece){input->date, strlen(input->date)};
    case CHANNEL:
        return *naming->channel ? (struct names_piece){naming->channel, strlen(naming->channel)}
                                : (struct names_piece){"{channel}", 9};
    default:
        return (struct names_piece){number, strlen(number)};
    }
}

/* Prints the number that replaces the field of `n` characters at `text`; for {index:04} it has at
 * least four digits. The number of a page is taken from the input's name or from the naming. If the
 * name stands for all pages, prints the field itself. */
static void print_number(char number[32], enum field field, const char *text, size_t n,
                         const struct gi_naming *naming, const struct gi_input *input, size_t at)
{
    struct gi_selection selection = {0};
    uint64_t v = input->number ? input->number : 1 + (naming->index ? *naming->index : at);
    int width = width_of(text, n);
    if (field == PAGE) {
        gi_path_file(input->path, &selection);
        bool one = selection.given && !selection.several;
        v = (uint64_t)(one ? selection.first : naming->page < 0 ? 0 : naming->page);
        if (naming->page < 0 && !one) {
            snprintf(number, 32, "%.*s", (int)n, text);
            return;
        }
    }
    snprintf(number, 32, "%0*llu", width, (unsigned long long)v);
}

/* A name that is made piece by piece. A stream of the C library would take longer to open than a
 * name takes to make, and lists may have 10^8 names. */
struct made_name {
    char *text;
    size_t n, room;
};

static void append(struct made_name *made, struct names_piece piece)
{
    if (made->n + piece.n >= made->room) {
        made->room = 2 * (made->n + piece.n) + 128;
        made->text = gi_small_realloc(made->text, made->room, 1);
    }
    memcpy(made->text + made->n, piece.text, piece.n);
    made->n += piece.n;
    made->text[made->n] = '\0';
}

char *gi_naming_output(const struct gi_naming *naming, const struct gi_list *list, size_t at)
{
    struct gi_input *input = &list->inputs[at];
    const char *text = naming->template ? naming->template : naming->channel ? a_channel : plain;
    const char *folder = naming->folder ? naming->folder : "";
    char number[32] = "";
    struct made_name made = {0};
    size_t n = strlen(folder);
    append(&made, (struct names_piece){folder, n});
    if (n && folder[n - 1] != '/')
        append(&made, (struct names_piece){"/", 1});
    for (; *text; text += n) {
        int field = *text == '{' ? field_at(text, &n) : -1;
        if (!has_field(naming, field) || is_size(field)) {
            n = 1 + strcspn(text + 1, "{");
            append(&made, (struct names_piece){text, n});
            continue;
        }
        if (field == INDEX || field == PAGE)
            print_number(number, (enum field)field, text, n, naming, input, at);
        struct names_piece piece = piece_of((enum field)field, naming, input, number);
        append(&made, piece);
        n += !piece.n && text[n] == '/'; /* an empty folder adds no slash */
    }
    return made.text;
}

void gi_naming_cut_size(char *path)
{
    size_t n;
    for (char *at = path; (at = strchr(at, '{')); at++)
        if (is_size(field_at(at, &n))) {
            *at = '\0';
            return;
        }
}

/* Makes the folder of a path and all folders above it. The first `there` characters of `path` name
 * a folder that exists. Cuts `path` after its folder. */
static enum gi_status make_folder(char *path, size_t there, struct gi_err *err)
{
    char *end = strrchr(path, '/');
    if (!end)
        return GI_OK;
    end[1] = '\0';
    for (char *at = strchr(path + (there ? there : 1), '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        struct stat st;
        int why = mkdir(path, 0777) ? errno : 0;
        if (why && why != EEXIST)
            return gi_path_fail(path, path, why, err);
        if (why && (stat(path, &st) || !S_ISDIR(st.st_mode)))
            return gi_fail(err, GI_E_IO, "%s: is no folder, want one for the results", path);
        *at = '/';
    }
    return GI_OK;
}

/* Returns the part of the output's path before the fields {channel}, {width} and {height}, which is
 * the same for all results of the input. */
static char *start_of(const struct gi_naming *naming, const struct gi_list *list, size_t index)
{
    char *output = gi_naming_output(naming, list, index);
    char *channel = naming->channel ? strstr(output, "{channel}") : NULL;
    if (channel)
        *channel = '\0';
    if (naming->sizes)
        gi_naming_cut_size(output);
    return output;
}

/* Makes the folders of `path` that are not in `start`, which is freed. */
static enum gi_status make_below(char *start, const char *path, struct gi_err *err)
{
    char *copy = gi_small_copy(path);
    const char *slash = strrchr(start, '/');
    enum gi_status status = make_folder(copy, slash ? (size_t)(slash - start) + 1 : 0, err);
    free(start);
    free(copy);
    return status;
}

enum gi_status gi_naming_size_folder(const char *output, const char *path, struct gi_err *err)
{
    char *start = gi_small_copy(output);
    gi_naming_cut_size(start);
    return make_below(start, path, err);
}

enum gi_status gi_naming_folder(const struct gi_naming *naming, const struct gi_list *list,
                                size_t index, const char *path, struct gi_err *err)
{
    return make_below(start_of(naming, list, index), path, err);
}

/* Returns output number `index`, for outputs per channel. It belongs to input index / n and channel
 * index % n. */
static char *channel_output(const struct gi_naming *naming, const struct gi_list *list,
                            size_t index)
{
    struct gi_naming one = *naming;
    one.channel = gi_naming_channels[index % GI_NAMING_CHANNELS];
    return gi_naming_output(&one, list, index / GI_NAMING_CHANNELS);
}

/* Goes through the folders of `each` outputs per input, whose paths `output_of` returns. Makes the
 * folders if `makes` is true, and removes abandoned temporary files from those that exist. */
static enum gi_status each_folder(const struct gi_naming *naming, const struct gi_list *list,
                                  size_t each,
                                  char *(*output_of)(const struct gi_naming *naming,
                                                     const struct gi_list *list, size_t index),
                                  bool makes, struct gi_err *err)
{
    struct gi_paths folders = {0};
    enum gi_status status = GI_OK;
    for (size_t i = 0; i < list->n * each && !status; i++) {
        if (list->inputs[i / each].why)
            continue;
        char *output = output_of(naming, list, i);
        status = gi_paths_add_folder(&folders, GI_PATH_OUTPUT, i, output, err);
        free(output);
    }
    gi_paths_sort(&folders);
    for (size_t i = 0; i < folders.n && !status; i++) {
        if (i && folders.all[i].key == folders.all[i - 1].key)
            continue;
        char *output = output_of(naming, list, folders.all[i].index);
        char *slash = strrchr(output, '/');
        if (makes)
            status = make_folder(output, 0, err);
        if (slash)
            slash[1] = '\0';
        if (!status)
            gi_sink_clear_dead(slash ? output : ".");
        free(output);
    }
    gi_paths_free(&folders);
    return status;
}

enum gi_status gi_naming_folders(const struct gi_naming *naming, const struct gi_list *list,
                                 struct gi_err *err)
{
    enum gi_status status = each_folder(naming, list, 1, start_of, true, err);
    if (!status && naming->channel)
        status = each_folder(naming, list, GI_NAMING_CHANNELS, channel_output, false, err);
    return status;
}
