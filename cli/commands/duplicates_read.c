/* Reads tables of hashes for gpuimg duplicates.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/duplicates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/lines.h"
#include "cli/tables/columns.h"
#include "cli/text.h"
#include "filters/statistics/hash_groups.h"

enum { WORD_DIGITS = 16, DIGITS_MAX = GI_HASH_WORDS * WORD_DIGITS };
enum { FILE_COLUMN, HASH_COLUMN, TAR_COLUMN, COLUMNS };
static const char *const names[COLUMNS] = {"file", "hash", "tar"};

/* Makes room for one more image. Returns false if there is no memory. */
static bool make_room(struct gi_hashed *hashed)
{
    if (hashed->n < hashed->room)
        return true;
    size_t room = 2 * hashed->room + 64;
    void *images = realloc(hashed->images, room * sizeof *hashed->images);
    hashed->images = images ? images : hashed->images;
    void *hashes = realloc(hashed->hashes, room * (size_t)hashed->words * sizeof *hashed->hashes);
    hashed->hashes = hashes ? hashes : hashed->hashes;
    hashed->room = images && hashes ? room : hashed->room;
    return images && hashes;
}

enum gi_status gi_hashed_add(struct gi_hashed *hashed, const char *tar, const char *file,
                             const char *text, size_t nbytes, const char *place, struct gi_err *err)
{
    char digits[DIGITS_MAX + 1] = "";
    if (nbytes == WORD_DIGITS || nbytes == DIGITS_MAX)
        memcpy(digits, text, nbytes);
    if (!*digits || strspn(digits, "0123456789abcdefABCDEF") != nbytes)
        return gi_fail(err, GI_E_FORMAT, "%s: hash %.*s: want %d or %d hexadecimal digits", place,
                       (int)(nbytes < 40 ? nbytes : 40), text, WORD_DIGITS, DIGITS_MAX);
    int words = (int)nbytes / WORD_DIGITS;
    if (hashed->n && words != hashed->words)
        return gi_fail(err, GI_E_FORMAT, "%s: hash of %zu digits: want %d, as in the rows before",
                       place, nbytes, hashed->words * WORD_DIGITS);
    hashed->words = words;
    if (!make_room(hashed))
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu hashes", hashed->n);
    struct gi_hashed_image *image = &hashed->images[hashed->n];
    image->tar = tar ? strdup(tar) : NULL;
    image->file = strdup(file);
    for (size_t i = (size_t)words; i-- > 0;) {
        hashed->hashes[hashed->n * (size_t)words + i] =
            strtoull(digits + i * WORD_DIGITS, NULL, 16);
        digits[i * WORD_DIGITS] = '\0';
    }
    hashed->n++;
    if (!image->file || (tar && !image->tar))
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu hashes", hashed->n);
    return GI_OK;
}

void gi_hashed_free(struct gi_hashed *hashed)
{
    for (size_t i = 0; i < hashed->n; i++) {
        free(hashed->images[i].tar);
        free(hashed->images[i].file);
    }
    free(hashed->images);
    free(hashed->hashes);
    *hashed = (struct gi_hashed){0};
}

bool gi_hashed_is_table(const char *path)
{
    return strcmp(path, "-") == 0 || gi_text_has_suffix(path, "csv jsonl");
}

/* Reads a row of the CSV at *at. Sets fields[i] to the text of column i, or to NULL if columns[i]
 * is -1 or the row is too short. The texts are in `memory`. */
static void read_row(char *fields[COLUMNS], char *memory, const int columns[COLUMNS],
                     const char **at, const char *end)
{
    bool last = false;
    for (int c = 0; c < COLUMNS; c++)
        fields[c] = NULL;
    for (int i = 0; !last; i++) {
        char *stop = gi_columns_take_field(memory, at, end, &last);
        for (int c = 0; c < COLUMNS; c++)
            if (columns[c] == i)
                fields[c] = memory;
        memory = stop + 1;
    }
}

/* Finds the columns in the line of names at *at. */
static enum gi_status read_names(int columns[COLUMNS], char *memory, const char **at,
                                 const char *end, struct gi_err *err)
{
    bool last = *at == end;
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = -1;
    for (int i = 0; !last; i++) {
        gi_columns_take_field(memory, at, end, &last);
        memory[strcspn(memory, "\r")] = '\0';
        for (int c = 0; c < COLUMNS; c++)
            if (strcmp(memory, names[c]) == 0)
                columns[c] = i;
    }
    if (columns[FILE_COLUMN] < 0 || columns[HASH_COLUMN] < 0)
        return gi_fail(err, GI_E_FORMAT,
                       "has no columns file and hash, as gpuimg hash --table "
                       "writes them");
    return GI_OK;
}

static enum gi_status read_csv(struct gi_hashed *hashed, const struct gi_lines *text,
                               struct gi_err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8's byte order mark */
    int columns[COLUMNS];
    char *memory = malloc(2 * text->n + 2), place[40];
    if (!memory)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table of %zu bytes", text->n);
    const char *at = text->text, *end = at + text->n;
    at += text->n >= 3 && memcmp(at, mark, 3) == 0 ? 3 : 0;
    enum gi_status status = read_names(columns, memory, &at, end, err);
    for (size_t row = 1; at < end && !status; row++) {
        char *fields[COLUMNS];
        read_row(fields, memory, columns, &at, end);
        size_t n = fields[HASH_COLUMN] ? strcspn(fields[HASH_COLUMN], "\r") : 0;
        snprintf(place, sizeof place, "row %zu", row);
        if (!fields[FILE_COLUMN] || !fields[HASH_COLUMN])
            status = gi_fail(err, GI_E_FORMAT, "%s: has too few fields", place);
        else
            status = gi_hashed_add(hashed, fields[TAR_COLUMN], fields[FILE_COLUMN],
                                   fields[HASH_COLUMN], n, place, err);
    }
    free(memory);
    return status;
}

static enum gi_status read_object(struct gi_hashed *hashed, const struct gi_lines *line,
                                  struct gi_err *err)
{
    char place[40];
    json_t *object = gi_json_read(line->text);
    char *file = gi_json_name(object, "file"), *tar = gi_json_name(object, "tar");
    const char *hash = json_string_value(json_object_get(object, "hash"));
    snprintf(place, sizeof place, "line %zu", line->number);
    enum gi_status status =
        file && hash ? gi_hashed_add(hashed, tar, file, hash, strlen(hash), place, err)
                     : gi_fail(err, GI_E_FORMAT, "%s: has no members file and hash", place);
    free(file);
    free(tar);
    json_decref(object);
    return status;
}

enum gi_status gi_hashed_read(struct gi_hashed *hashed, const char *path, struct gi_err *err)
{
    bool json = gi_text_has_suffix(path, "jsonl"), more = true, standard = strcmp(path, "-") == 0;
    struct gi_lines lines = {.file = standard ? stdin : fopen(path, "r"),
                             .end = json ? '\n' : EOF,
                             .max = json ? 0 : INT32_MAX};
    FILE *file = lines.file;
    if (!file)
        return gi_fail(err, gi_status_of_errno(errno), "%s: %s", path, strerror(errno));
    enum gi_status status = gi_lines_next(&lines, &more, err);
    if (!status && !more)
        status = gi_fail(err, GI_E_FORMAT, "is empty, want hashes");
    if (!status && !json)
        status = read_csv(hashed, &lines, err);
    while (json && more && !status) {
        status = read_object(hashed, &lines, err);
        if (!status)
            status = gi_lines_next(&lines, &more, err);
    }
    gi_lines_free(&lines);
    if (!standard)
        fclose(file);
    return status ? gi_err_prefix(err, "%s", path) : GI_OK;
}
