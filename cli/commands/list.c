/* gpuimg list: prints commands, operations, formats and implementations, as text or JSON.
 * SPDX-License-Identifier: MIT */
#include "cli/args/image_files.h"
#include "cli/args/option_text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/commands/selftest.h"
#include "cli/help/help.h"
#include "cli/json.h"
#include "imgio/imgio.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"

#include <string.h>

struct list_params {
    bool json, commands, topics, ways;
};

static const struct gi_option options[] = {
    {GI_OPTION("json", FLAG, struct list_params, json), .letter = 'j',
     .help = "Print one JSON object, which includes the options of the operations"},
    {GI_OPTION("commands", FLAG, struct list_params, commands),
     .help = "Print only the names of all commands, one per line"},
    {GI_OPTION("topics", FLAG, struct list_params, topics),
     .help = "Print only the names of the topics of help, one per line"},
    {GI_OPTION("ways", FLAG, struct list_params, ways),
     .help = "Print the implementations (ways) of each primitive, and the work that each is for"},
    {0},
};

static const char *type_name(enum gi_option_type type)
{
    static const char *const names[] = {"flag",   "int",   "odd",     "real",   "reals",
                                        "choice", "level", "size",    "extent", "rect",
                                        "colour", "text",  "content", "path",   "image"};
    return names[type];
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *choices_json(const struct gi_choice *choices)
{
    json_t *array = json_array();
    for (const struct gi_choice *c = choices; c->name; c++) {
        json_t *choice = json_object();
        set(choice, "name", gi_json_text(c->name));
        if (c->alias_of)
            set(choice, "alias_of", gi_json_text(c->alias_of));
        if (c->help)
            set(choice, "help", gi_json_text(c->help));
        json_array_append_new(array, choice);
    }
    return array;
}

static json_t *option_json(const struct gi_option *row)
{
    json_t *option = json_object();
    set(option, "name", gi_json_text(row->name));
    if (row->letter)
        set(option, "letter", gi_json_text((char[]){row->letter, '\0'}));
    if (row->also)
        set(option, "also", gi_json_text(row->also));
    set(option, "type", gi_json_text(type_name(row->type)));
    set(option, "default", gi_json_text(row->default_text));
    if (row->min != 0 || row->max != 0) {
        set(option, "min", gi_json_real(row->min));
        set(option, "max", gi_json_real(row->max));
    }
    if (row->zero)
        set(option, "zero", gi_json_text(row->zero));
    if (row->type == GI_OPT_REALS) {
        set(option, "least", json_integer(row->least ? row->least : 1));
        set(option, "most", json_integer(row->most ? row->most : GI_REALS_MAX));
    }
    if (row->repeats)
        set(option, "repeats", json_true());
    if (row->two)
        set(option, "arguments", json_integer(2));
    if (row->bare)
        set(option, "bare", gi_json_text(row->bare));
    if (row->unit)
        set(option, "unit", gi_json_text(row->unit));
    if (row->choices)
        set(option, "choices", choices_json(row->choices));
    if (row->example)
        set(option, "example", gi_json_text(row->example));
    set(option, "help", gi_json_text(row->help));
    return option;
}

static json_t *operation_json(const struct gi_command *command)
{
    json_t *operation = json_object(), *rows = json_array();
    set(operation, "name", gi_json_text(command->name));
    set(operation, "summary", gi_json_text(command->summary));
    set(operation, "operands", gi_json_text(command->operands));
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            json_array_append_new(rows, option_json(row));
    set(operation, "options", rows);
    return operation;
}

static json_t *format_json(int index)
{
    const struct gi_format_info *format = gi_format_at(index);
    struct gi_err why;
    bool ready = gi_format_ready(index, &why) == GI_OK;
    json_t *object = json_object(), *depths = json_array();
    set(object, "name", gi_json_text(format->name));
    set(object, "suffixes", gi_json_text(format->suffixes));
    set(object, "summary", gi_json_text(format->summary));
    set(object, "reads", json_boolean(format->reads));
    set(object, "writes", json_boolean(format->writes));
    set(object, "alpha", json_boolean(format->alpha));
    if (format->u8)
        json_array_append_new(depths, json_string("8"));
    if (format->u16)
        json_array_append_new(depths, json_string("16"));
    if (format->f32)
        json_array_append_new(depths, json_string("float"));
    set(object, "depths", depths);
    set(object, "missing", gi_json_text(ready ? NULL : why.text));
    return object;
}

/* The names that other programs have for commands. */
static json_t *synonyms_json(void)
{
    json_t *array = json_array();
    const char *word, *means;
    for (int i = 0; gi_synonym_at(&word, &means, i); i++) {
        json_t *synonym = json_object();
        set(synonym, "word", gi_json_text(word));
        set(synonym, "means", gi_json_text(means));
        json_array_append_new(array, synonym);
    }
    return array;
}

/* Returns whether the command processes images. */
static bool is_operation(const struct gi_command *command)
{
    bool reads = gi_command_set(command, gi_io_options) >= 0 ||
                 gi_command_set(command, gi_input_options) >= 0;
    return reads && strcmp(command->name, "info") != 0;
}

static enum gi_status list_json(struct gi_err *err)
{
    json_t *all = json_object(), *operations = json_array(), *commands = json_array(),
           *formats = json_array();
    struct gi_command command;
    for (int i = 0; gi_command_at(&command, i); i++) {
        json_array_append_new(commands, gi_json_text(command.name));
        if (is_operation(&command))
            json_array_append_new(operations, operation_json(&command));
    }
    for (int i = 0; gi_format_at(i); i++)
        json_array_append_new(formats, format_json(i));
    set(all, "version", json_string(GI_VERSION));
    set(all, "operations", operations);
    set(all, "commands", commands);
    set(all, "formats", formats);
    set(all, "synonyms", synonyms_json());
    set(all, "borders", choices_json(gi_border_choices));
    return gi_json_print(stdout, all, 2, err);
}

static void list_text(void)
{
    struct gi_command command;
    printf("Operations:\n");
    for (int i = 0; gi_command_at(&command, i); i++)
        if (is_operation(&command))
            printf("  %-17s%s\n", command.name, command.summary);
    printf("\nFormats:\n");
    const struct gi_format_info *f;
    for (int i = 0; (f = gi_format_at(i)); i++) {
        struct gi_err why;
        bool ready = gi_format_ready(i, &why) == GI_OK;
        printf("  %-12s%-6s%-7s%-2s%-3s%-6s%-6s %s (%s)%s%s\n", f->name, f->reads ? "read" : "",
               f->writes || f->video ? "write" : "", f->u8 ? "8" : "", f->u16 ? "16" : "",
               f->f32 ? "float" : "", f->alpha ? "alpha" : "", f->summary, f->suffixes,
               ready ? "" : ": ", ready ? "" : why.text);
    }
    printf("\nBorders:\n");
    const struct gi_option row = {.type = GI_OPT_CHOICE, .choices = gi_border_choices};
    char text[256];
    for (const struct gi_choice *c = gi_border_choices; c->name; c++)
        if (!c->alias_of)
            printf("  %-12s%s\n", c->name, gi_choice_describe(&row, c, text, sizeof text));
}

enum { USES_MAX = 128 };

/* Returns whether one of the uses is a use of `primitive`. */
static bool is_used(const struct gi_way_use *uses, int n, const char *primitive)
{
    for (int i = 0; i < n && i < USES_MAX; i++)
        if (strcmp(uses[i].primitive, primitive) == 0)
            return true;
    return false;
}

/* Prints the ways of the primitives among `uses`, or of all primitives if `uses` is NULL. */
static void print_ways(const struct gi_kernels *k, const struct gi_way_use *uses, int n)
{
    const struct gi_ways *const *ways = k ? k->ways : NULL;
    for (; ways && *ways; ways++)
        for (int i = 0; gi_way_at(*ways, i); i++)
            if (!uses || is_used(uses, n, (*ways)->primitive))
                printf("%-5s %-19s %-10s %s\n", k->name, (*ways)->primitive,
                       gi_way_at(*ways, i)->name, gi_way_at(*ways, i)->what);
}

/* Prints the ways of the primitives that the operations run. Runs the operations on small images to
 * find out which primitives these are. Prints nothing for CUDA if there is no CUDA device. */
static enum gi_status print_asked(const struct gi_kernels *k, char **operations, int noperations,
                                  struct gi_err *err)
{
    struct gi_open_options how = {.threads = 1};
    struct gi_queue *queue;
    struct gi_way_use uses[USES_MAX];
    enum gi_status status = k ? gi_queue_open_alone(&queue, k, &how, err) : GI_OK;
    if (status || !k)
        return k && k->kind == GI_DEVICE_CUDA ? GI_OK : status;
    for (int i = 0; gi_filters[i] && !status; i++)
        if (gi_operation_is_named(gi_filters[i]->name, operations, noperations))
            status = gi_selftest_ask(gi_filters[i], queue, err);
    print_ways(k, uses, gi_queue_ways(queue, uses, USES_MAX));
    gi_queue_close_alone(&queue);
    return status;
}

static enum gi_status list_ways(char **operations, int noperations, struct gi_err *err)
{
    if (noperations == 0) {
        print_ways(gi_kernels_cpu(), NULL, 0);
        print_ways(gi_kernels_cuda(), NULL, 0);
        return GI_OK;
    }
    enum gi_status status = gi_operations_check(operations, noperations, err);
    if (!status)
        status = print_asked(gi_kernels_cpu(), operations, noperations, err);
    return status ? status : print_asked(gi_kernels_cuda(), operations, noperations, err);
}

static enum gi_status run_list(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    const struct list_params *p = params[0];
    struct gi_command command;
    if (noperands && !p->ways)
        return gi_fail(err, GI_E_USAGE, "%s: operations only go with --ways", operands[0]);
    if (p->json)
        return list_json(err);
    if (p->ways)
        return list_ways(operands, noperands, err);
    for (int i = 0; p->commands && gi_command_at(&command, i); i++)
        puts(command.name);
    for (int i = 0; p->topics && gi_topic_at(&command, i); i++)
        puts(command.name);
    if (!p->commands && !p->topics)
        list_text();
    return GI_OK;
}

const struct gi_command gi_command_list = {
    .name = "list",
    .operands = "[OPERATION...]",
    .summary = "List operations, formats and border modes",
    .manual = "Prints the operations, the file formats and the border modes. --json prints every "
              "option of every operation too: name, alias, type, default, range, unit and "
              "choices.\n\n"
              "--ways is for developers. A primitive (a basic computation that operations are "
              "built of) can have several implementations, called ways. --ways prints one per "
              "line: backend, primitive, way, and the work that the way is for. Usually the "
              "first way that can do the work runs; the environment variable "
              "GPUIMG_WAY=[BACKEND/]PRIMITIVE:WAY,... forces another way. With names of "
              "operations, only the primitives that these operations use are printed. To find "
              "them, the operations are run on small images, on CUDA too if there is a device.",
    .examples = "gpuimg list\ngpuimg list --json\ngpuimg list --ways gaussian",
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct list_params)}},
    .run = run_list,
};
