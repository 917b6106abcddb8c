/* Parses an expression by recursive descent, and makes its values on the way.
 *
 *   text     = { NAME "=" choice ";" } choice { "," choice } [ ";" ]
 *   choice   = binary [ "?" choice ":" choice ]
 *   binary   = unary { operator unary }            by the levels of the table of operators
 *   unary    = ( "-" | "+" | "!" ) unary | primary [ ( "^" | "**" ) unary ]
 *   primary  = NUMBER | "(" choice ")" | NAME | FUNCTION "(" choice { "," choice } ")"
 *            | IMAGE [ ".r" | ".g" | ".b" | ".a" | "[" NUMBER "]" | "[b" NUMBER "]" ]
 *                    [ "(" choice "," choice ")" ]
 *
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/calc_parse.h"
#include "filters/arithmetic/calc_functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "filters/option.h"

enum { DEPTH_MAX = 100, VARIABLES_MAX = 64, ALPHA = 3 };

struct calc_variable {
    char name[CALC_NAME_NBYTES];
    int value;
};

struct calc_parser {
    struct calc_code *code;
    struct calc_found *found;
    const struct calc_scope *scope;
    const char *text, *at;
    int channel, depth;
    struct calc_variable variables[VARIABLES_MAX];
    int nvariables;
    struct gi_err *err;
    enum gi_status status;
};

/* ---- words ---- */

static const char *skip(struct calc_parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
    return p->at;
}

/* Reports the first error, and ends the text there. */
static int fail_at(struct calc_parser *p, const char *at, const char *want)
{
    int n = (int)strcspn(at, " \t\r\n");
    bool name = isalnum((unsigned char)*at) || *at == '_';
    for (int i = 0; name && i < n; i++)
        if (!isalnum((unsigned char)at[i]) && at[i] != '_')
            n = i;
    n = !name && n > 1 ? 1 : n > 40 ? 40 : n;
    if (!p->status)
        p->status = gi_fail(p->err, GI_E_USAGE, "expression, character %d: %.*s: want %s",
                            (int)(at - p->text) + 1, *at ? n : 7, *at ? at : "the end", want);
    p->at += strlen(p->at);
    return 0;
}

static int fail(struct calc_parser *p, const char *want)
{
    return fail_at(p, skip(p), want);
}

/* Skips `word` if it is next, and returns whether it was. */
static bool accept(struct calc_parser *p, const char *word)
{
    bool is_next = strncmp(skip(p), word, strlen(word)) == 0;
    p->at += is_next ? strlen(word) : 0;
    return is_next;
}

static void expect(struct calc_parser *p, const char *word, const char *want)
{
    if (!accept(p, word))
        fail(p, want);
}

/* Reads a name. Returns false, and nothing is read, if there is none, or if it is too long. */
static bool read_name(struct calc_parser *p, char name[CALC_NAME_NBYTES])
{
    size_t n = 0;
    const char *at = skip(p);
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    if (n == 0 || isdigit((unsigned char)*at) || n >= CALC_NAME_NBYTES)
        return false;
    memcpy(name, at, n);
    name[n] = '\0';
    p->at += n;
    return true;
}

static int choice(struct calc_parser *p);

/* ---- images ---- */

static float full_of(const struct gi_image *image)
{
    return gi_type_full_scale(image->type);
}

/* Returns the sample in the units of the expression. */
static int sample(struct calc_parser *p, int image, int channel, int dx, int dy)
{
    struct calc_code *code = p->code;
    const struct gi_image *of = &p->scope->images[image];
    float own = full_of(of), wanted = p->scope->normalized ? 1 : full_of(p->scope->images);
    int value = calc_load(code, image, channel, dx, dy);
    if (own > wanted) /* both ratios are whole numbers */
        return calc_value(code, GI_CALC_DIVIDE, value, calc_constant(code, (double)(own / wanted)),
                          0);
    if (own < wanted)
        return calc_value(code, GI_CALC_MULTIPLY, value,
                          calc_constant(code, (double)(wanted / own)), 0);
    return value;
}

/* Returns the sample of a colour (0 to 2) or of alpha. Gray is each colour. */
static int sample_of(struct calc_parser *p, int image, int color, int dx, int dy)
{
    const struct gi_image *of = &p->scope->images[image];
    int colors = gi_color_channels(of);
    if (color < ALPHA)
        return sample(p, image, colors == 3 ? color : 0, dx, dy);
    if (gi_has_alpha(of) && of->mask != GI_MASK_HIDDEN)
        return sample(p, image, colors, dx, dy);
    return calc_constant(p->code, p->scope->normalized ? 1 : (double)full_of(p->scope->images));
}

/* Reads the distance of a neighbour, which must be a number when it is parsed. */
static int distance(struct calc_parser *p)
{
    const char *at = skip(p);
    float v;
    int value = choice(p);
    if (!p->status &&
        (!calc_is_constant(p->code, value, &v) || rintf(v) != v || fabsf(v) > GI_CALC_OFFSET_MAX))
        return fail_at(p, at, "a whole number of pixels, -64 to 64");
    return p->status ? 0 : (int)v;
}

/* Reads the number of a channel of the image. */
static int channel_number(struct calc_parser *p, int image)
{
    const char *digit = skip(p), *end = digit + strspn(digit, "0123456789");
    int channels = gi_shown_channels(&p->scope->images[image]);
    int channel = end == digit + 1 ? *digit - '0' : channels;
    char want[64];
    snprintf(want, sizeof want, "a channel of %s, 0 to %d", p->scope->names[image], channels - 1);
    if (channel >= channels)
        return fail(p, want);
    p->at = end;
    return channel;
}

/* Reads b and the number of a band of the input. Returns its channel. */
static int band_number(struct calc_parser *p, int image)
{
    const char *digit = p->at + 1, *end = digit + strspn(digit, "0123456789");
    struct calc_found *found = p->found;
    int i = 0, band = end > digit && end < digit + 5 ? atoi(digit) : 0;
    char want[120];
    snprintf(want, sizeof want,
             "a band of the input, as a[b5]; name that of %s as --with %s='x.tif[bands=5]'",
             p->scope->names[image], p->scope->names[image]);
    if (image)
        return fail(p, want);
    if (!band)
        return fail(p, "a band from 1, as a[b5]");
    while (i < found->nnamed && found->band[i] != band)
        i++;
    if (i == CALC_BANDS_MAX)
        return fail(p, "at most 3 bands of a; others are images, as --with b='x.tif[bands=5]'");
    found->nnamed += i == found->nnamed;
    found->band[i] = band;
    p->at = end;
    return i;
}

static int image_value(struct calc_parser *p, int image)
{
    static const char *const suffixes[] = {".r", ".g", ".b", ".a"};
    int color = -1, channel = -1, dx = 0, dy = 0;
    const char *at = p->at;
    for (int i = 0; i < 4 && color < 0; i++)
        if (strncmp(at, suffixes[i], 2) == 0 && !isalnum((unsigned char)at[2]))
            color = i, p->at += 2;
    if (color < 0 && *at == '.')
        return fail(p, ".r, .g, .b or .a");
    bool band = false;
    if (color < 0 && accept(p, "[")) {
        band = *skip(p) == 'b';
        channel = band ? band_number(p, image) : channel_number(p, image);
        expect(p, "]", "]");
    }
    p->found->channels = p->found->channels || (image == 0 && !band);
    if (accept(p, "(")) {
        dx = distance(p);
        expect(p, ",", "a comma and the rows to the neighbour");
        dy = distance(p);
        expect(p, ")", ")");
    }
    if (p->status)
        return 0;
    p->found->reach = abs(dy) > p->found->reach ? abs(dy) : p->found->reach;
    if (channel >= 0)
        return sample(p, image, channel, dx, dy);
    if (color < 0) {
        int colors = gi_color_channels(&p->scope->images[image]);
        p->found->whole = true;
        p->found->colors = colors > p->found->colors ? colors : p->found->colors;
    }
    return sample_of(p, image, color < 0 ? p->channel : color, dx, dy);
}

/* ---- functions ---- */

static int call(struct calc_parser *p, const struct calc_function *function)
{
    int values[CALC_ARGUMENTS_MAX] = {0}, n = 0;
    char want[64];
    do {
        const char *at = skip(p);
        if (n == function->most) {
            snprintf(want, sizeof want, "%d argument%s of %s", n, n > 1 ? "s" : "", function->name);
            return fail_at(p, at, want);
        }
        values[n++] = choice(p);
    } while (!p->status && accept(p, ","));
    snprintf(want, sizeof want, "a comma and an argument of %s, which takes %d", function->name,
             function->least);
    expect(p, ")", n < function->least ? want : ")");
    if (p->status)
        return 0;
    return n < function->least ? (p->at--, fail(p, want))
                               : calc_apply(p->code, function, values, n);
}

/* ---- names ---- */

static int image_named(const struct calc_scope *scope, const char *name)
{
    for (int i = 0; i < scope->nimages; i++)
        if (strcmp(scope->names[i], name) == 0)
            return i;
    return -1;
}

static const char *const own_names[] = {"x", "y", "width", "height", "full", "pi"};
enum { OWN_NAMES = sizeof own_names / sizeof *own_names };

static int own_named(const char *name)
{
    for (int i = 0; i < OWN_NAMES; i++)
        if (strcmp(own_names[i], name) == 0)
            return i;
    return -1;
}

bool calc_is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && n < CALC_NAME_NBYTES && !name[n] && !isdigit((unsigned char)*name) &&
           strcmp(name, "a") != 0 && own_named(name) < 0 && !calc_function_named(name);
}

static int own_value(struct calc_parser *p, int own)
{
    const struct gi_image *image = p->scope->images;
    const double numbers[] = {
        0,    0, image->width, image->height, p->scope->normalized ? 1 : (double)full_of(image),
        GI_PI};
    if (own < 2)
        return calc_value(p->code, own ? GI_CALC_Y : GI_CALC_X, 0, 0, 0);
    return calc_constant(p->code, numbers[own]);
}

static int *variable_named(struct calc_parser *p, const char *name)
{
    for (int i = 0; i < p->nvariables; i++)
        if (strcmp(p->variables[i].name, name) == 0)
            return &p->variables[i].value;
    return NULL;
}

static int fail_name(struct calc_parser *p, const char *at)
{
    char want[512] = "a function, x, y, width, height, full, pi, or an image: ";
    for (int i = 0; i < p->scope->nimages; i++) {
        size_t used = strlen(want);
        snprintf(want + used, sizeof want - used, "%s%s", i ? ", " : "", p->scope->names[i]);
    }
    if (p->scope->nimages == 1)
        strcat(want, "; --with b=FILE adds b");
    return fail_at(p, at, want);
}

static int named(struct calc_parser *p)
{
    char name[CALC_NAME_NBYTES];
    const char *at = skip(p);
    if (!read_name(p, name))
        return fail(p, "a number, a name, a function or (");
    int image = image_named(p->scope, name), own = own_named(name), *variable;
    if (image >= 0)
        return image_value(p, image);
    if (own >= 0)
        return own_value(p, own);
    if ((variable = variable_named(p, name)))
        return *variable;
    const struct calc_function *function = calc_function_named(name);
    if (!function)
        return fail_name(p, at);
    expect(p, "(", "( and the arguments");
    return p->status ? 0 : call(p, function);
}

/* ---- operators ---- */

static const struct calc_operator {
    const char *text;
    int level; /* those of higher levels are applied first */
    enum gi_calc_op op;
    bool swaps; /* the operands */
} operators[] = {
    {"||", 1, GI_CALC_OR, false},      {"&&", 2, GI_CALC_AND, false},
    {"==", 3, GI_CALC_EQUAL, false},   {"!=", 3, GI_CALC_UNEQUAL, false},
    {"<=", 4, GI_CALC_AT_MOST, false}, {">=", 4, GI_CALC_AT_MOST, true},
    {"<", 4, GI_CALC_LESS, false},     {">", 4, GI_CALC_LESS, true},
    {"+", 5, GI_CALC_ADD, false},      {"-", 5, GI_CALC_SUBTRACT, false},
    {"*", 6, GI_CALC_MULTIPLY, false}, {"/", 6, GI_CALC_DIVIDE, false},
    {"%", 6, GI_CALC_MODULO, false},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static const struct calc_operator *operator_at(struct calc_parser *p, int level)
{
    const char *at = skip(p);
    for (int i = 0; i < OPERATORS; i++)
        if (strncmp(at, operators[i].text, strlen(operators[i].text)) == 0)
            return operators[i].level >= level ? &operators[i] : NULL;
    return NULL;
}

static int primary(struct calc_parser *p)
{
    double number;
    const char *at = skip(p), *end;
    if (isdigit((unsigned char)*at) || *at == '.') {
        if (!gi_number_read(&number, at, &end) || isalpha((unsigned char)*end) || *end == '.')
            return fail(p, "a number such as 1.5 or 2e-3");
        p->at = end;
        return calc_constant(p->code, number);
    }
    if (!accept(p, "("))
        return named(p);
    int value = choice(p);
    expect(p, ")", "an operator or )");
    return value;
}

static int unary(struct calc_parser *p)
{
    int value = 0;
    if (++p->depth > DEPTH_MAX)
        value = fail(p, "fewer levels of parentheses and operators");
    else if (accept(p, "-"))
        value = calc_value(p->code, GI_CALC_NEGATE, unary(p), 0, 0);
    else if (accept(p, "!"))
        value = calc_value(p->code, GI_CALC_NOT, unary(p), 0, 0);
    else if (accept(p, "+"))
        value = unary(p);
    else {
        value = primary(p);
        if (!p->status && (accept(p, "^") || accept(p, "**")))
            value = calc_power(p->code, value, unary(p));
    }
    p->depth--;
    return value;
}

static int binary(struct calc_parser *p, int level)
{
    int left = unary(p);
    const struct calc_operator *operator;
    while (!p->status && (operator= operator_at(p, level))) {
        p->at += strlen(operator->text);
        int right = binary(p, operator->level + 1);
        left = calc_value(
            p->code, operator->op, operator->swaps ? right : left, operator->swaps ? left : right,
            0);
    }
    return left;
}

static int choice(struct calc_parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return fail(p, "fewer levels of parentheses and operators");
    int value = binary(p, 0);
    if (!p->status && accept(p, "?")) {
        int yes = choice(p);
        expect(p, ":", "an operator or :");
        int no = choice(p);
        value = calc_value(p->code, GI_CALC_SELECT, value, yes, no);
    }
    p->depth--;
    return value;
}

/* ---- the whole ---- */

/* Reads NAME = VALUE; if it is next. Returns whether it was. */
static bool assignment(struct calc_parser *p)
{
    struct calc_variable *variable = &p->variables[p->nvariables];
    const char *at = skip(p);
    char name[CALC_NAME_NBYTES];
    if (!read_name(p, name) || *skip(p) != '=' || p->at[1] == '=') {
        p->at = at;
        return false;
    }
    p->at++;
    if (!calc_is_name(name) || image_named(p->scope, name) >= 0 || variable_named(p, name))
        fail_at(p, at, "a name that is not in use");
    else if (p->nvariables == VARIABLES_MAX)
        fail_at(p, at, "at most 64 names");
    int value = choice(p);
    expect(p, ";", "an operator or ;");
    if (p->status)
        return false;
    *variable = (struct calc_variable){.value = value};
    memcpy(variable->name, name, sizeof name);
    p->nvariables++;
    return true;
}

enum gi_status calc_parse(struct calc_code *code, struct calc_found *found,
                          const struct calc_scope *scope, const char *text, int channel, int band,
                          struct gi_err *err)
{
    struct calc_parser p = {.code = code,
                            .found = found,
                            .scope = scope,
                            .text = text,
                            .at = text,
                            .channel = channel,
                            .err = err};
    *found = (struct calc_found){0};
    calc_constant(code, 0); /* value 0: the operands that an operation does not have */
    while (assignment(&p))
        ;
    do {
        if (found->nbands == GI_MAX_CHANNELS)
            return fail(&p, "at most 4 expressions"), p.status;
        int value = choice(&p);
        if (found->nbands++ == band)
            found->value = value;
    } while (!p.status && accept(&p, ","));
    if (!p.status) {
        accept(&p, ";");
        if (*skip(&p))
            fail(&p, "an operator, a comma or the end");
    }
    if (!p.status && code->over)
        return gi_fail(err, GI_E_USAGE, "the expression is too long: want at most %d values",
                       CALC_VALUES_MAX);
    return p.status;
}
