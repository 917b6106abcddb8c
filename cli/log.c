/* Log: messages on standard error.
 * SPDX-License-Identifier: MIT */
#include "cli/log.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The command's name, at the beginning of every message. */
static const char *command_name;
static bool is_quiet, is_verbose;
static char conclusion[1024];
static char first_logged[1024]; /* protected by the lock of the stream */
static bool shows_line;         /* protected by the lock of the stream */

/* Warnings of a batch, without the name before their first ": ". A warning for which the array has
 * no room is printed each time that it occurs. The array is protected by the lock of the stream. */
enum { WARNINGS_MAX = 32 };
static struct {
    char text[1024];
    unsigned long long more; /* times after the first */
    bool varies;             /* in some of them numbers are others */
} warnings[WARNINGS_MAX];
static int nwarnings;
static bool counts_warnings;

/* ---- the stream ---- */

static FILE *stream; /* NULL: stderr */

FILE *gi_cli_stream(void)
{
    return stream ? stream : stderr;
}

#ifdef __GLIBC__
/* Takes what a library prints: a cookie_write_function_t. */
static ssize_t take_foreign(void *cookie, const char *bytes, size_t nbytes)
{
    static const char *const last_words[] = {"abort", "assert", "terminate"};
    static bool ends; /* protected by the lock of the library's stream */
    char text[1024];
    (void)cookie;
    snprintf(text, sizeof text, "%.*s", nbytes < sizeof text ? (int)nbytes : (int)sizeof text - 1,
             bytes);
    for (size_t i = 0; i < sizeof last_words / sizeof *last_words; i++)
        ends = ends || strcasestr(text, last_words[i]);
    if (ends || is_verbose)
        fwrite(bytes, 1, nbytes, gi_cli_stream());
    return (ssize_t)nbytes;
}

void gi_cli_quiet_libraries(void)
{
    const cookie_io_functions_t functions = {.write = take_foreign};
    FILE *foreign = fopencookie(NULL, "w", functions);
    if (!foreign)
        return;
    setvbuf(foreign, NULL, _IOLBF, BUFSIZ);
    stream = stderr;
    stderr = foreign; /* a variable in glibc, which its manual lets programs set */
}
#else
void gi_cli_quiet_libraries(void)
{
}
#endif

/* ---- messages ---- */

void gi_cli_name(const char *name)
{
    command_name = name;
}

void gi_cli_quiet(bool quiet)
{
    is_quiet = quiet;
}

void gi_cli_verbose(bool verbose)
{
    is_verbose = verbose;
}

/* Accepts only the shortest form of a character, up to U+10FFFF and without surrogates (RFC
 * 3629). */
size_t gi_utf8_nbytes(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    if (*p < 0x80)
        return 1;
    size_t n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) /* also false for a zero byte */
            return 0;
    bool wrong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
                 (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f);
    return wrong ? 0 : n;
}

/* Returns the code point of a sequence of `n` bytes. */
static unsigned code_of(const unsigned char *p, size_t n)
{
    unsigned code = n == 1 ? *p : *p & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

/* Returns whether the character controls a terminal: control characters, and the format characters
 * that reorder, break or hide text (Unicode 15, categories Cc, Zl and Zp, and those of Cf that no
 * script needs). */
static bool is_control(unsigned code)
{
    static const unsigned ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0x061c, 0x061c},   {0x200b, 0x200b},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static void put_hex(char *to, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(to + 4 * i, "\\x%02x", bytes[i]);
}

size_t gi_terminal_char(char escaped[GI_ESCAPED], const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = gi_utf8_nbytes(text), taken = n ? n : 1;
    if (!n || is_control(code_of(p, n)))
        put_hex(escaped, p, taken);
    else
        snprintf(escaped, GI_ESCAPED, "%.*s", (int)n, text);
    return taken;
}

size_t gi_xml_char(char escaped[GI_ESCAPED], const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = gi_utf8_nbytes(text), taken = n ? n : 1;
    unsigned code = n ? code_of(p, n) : 0;
    if (code < ' ' || code == 0x7f || code == 0xfffe || code == 0xffff)
        put_hex(escaped, p, taken);
    else if (strchr("<>&\"", *text))
        strcpy(escaped, *text == '<'   ? "&lt;"
                        : *text == '>' ? "&gt;"
                        : *text == '&' ? "&amp;"
                                       : "&quot;");
    else
        snprintf(escaped, GI_ESCAPED, "%.*s", (int)n, text);
    return taken;
}

void gi_print_safe(FILE *out, const char *text)
{
    for (char escaped[GI_ESCAPED]; *text;) {
        text += gi_terminal_char(escaped, text);
        fputs(escaped, out);
    }
}

/* Returns whether the texts are equal except for the digits of numbers. */
static bool is_alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    for (;; a++, b++) {
        size_t na = strspn(a, digits), nb = strspn(b, digits);
        a += na;
        b += nb;
        if (!na != !nb || *a != *b)
            return false;
        if (!*a)
            return true;
    }
}

/* Counts a warning, which is given without its name. Returns whether it occurred before. */
static bool occurred(const char *text)
{
    for (int i = 0; i < nwarnings; i++)
        if (is_alike(warnings[i].text, text)) {
            warnings[i].more++;
            warnings[i].varies = warnings[i].varies || strcmp(warnings[i].text, text) != 0;
            return true;
        }
    if (nwarnings < WARNINGS_MAX) {
        snprintf(warnings[nwarnings].text, sizeof warnings->text, "%s", text);
        warnings[nwarnings].varies = false;
        warnings[nwarnings++].more = 0;
    }
    return false;
}

static void write_line(const char *kind, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    const char *name = command_name;
    flockfile(gi_cli_stream());
    if (shows_line)
        fputs("\r\033[K", gi_cli_stream());
    shows_line = false;
    fprintf(gi_cli_stream(), "gpuimg: %s%s%s", kind, name ? name : "", name ? ": " : "");
    gi_print_safe(gi_cli_stream(), text);
    putc('\n', gi_cli_stream());
    funlockfile(gi_cli_stream());
}

void gi_cli_log(const char *format, ...)
{
    char text[sizeof first_logged];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    vsnprintf(text, sizeof text, format, again);
    va_end(again);
    flockfile(gi_cli_stream());
    if (!*first_logged)
        strcpy(first_logged, text);
    write_line("", format, args);
    funlockfile(gi_cli_stream());
    va_end(args);
}

void gi_cli_forget_logged(void)
{
    *first_logged = '\0';
}

const char *gi_cli_first_logged(void)
{
    return first_logged;
}

bool gi_cli_tells(void)
{
    return is_verbose;
}

void gi_cli_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (is_verbose)
        write_line("", format, args);
    va_end(args);
}

/* Prints a warning, whose text without its name is `unnamed`, or counts it. */
static void warn(const char *unnamed, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    flockfile(gi_cli_stream());
    if (!is_quiet && !(counts_warnings && occurred(unnamed)))
        write_line("warning: ", format, args);
    funlockfile(gi_cli_stream());
    va_end(args);
}

void gi_cli_warn(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *colon = strstr(text, ": ");
    warn(colon ? colon + 2 : text, "%s", text);
}

void gi_cli_warn_of(const char *name, const char *warning)
{
    warn(warning, "%s: %s", strcmp(name, "-") == 0 ? "standard input" : name, warning);
}

void gi_cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!is_quiet && !counts_warnings && isatty(STDERR_FILENO))
        write_line("", format, args);
    va_end(args);
}

void gi_cli_conclude(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(conclusion, sizeof conclusion, format, args);
    va_end(args);
}

void gi_cli_print_conclusion(void)
{
    if (*conclusion && !is_quiet)
        gi_cli_log("%s", conclusion);
}

void gi_cli_count_warnings(void)
{
    flockfile(gi_cli_stream());
    counts_warnings = true;
    nwarnings = 0;
    funlockfile(gi_cli_stream());
}

void gi_cli_print_warnings(void)
{
    flockfile(gi_cli_stream());
    counts_warnings = false;
    for (int i = 0; i < nwarnings; i++)
        if (warnings[i].more)
            gi_cli_warn("%llu more%s: %s", warnings[i].more,
                        warnings[i].varies ? ", with other numbers" : "", warnings[i].text);
    nwarnings = 0;
    funlockfile(gi_cli_stream());
}

void gi_cli_show_line(const char *line)
{
    flockfile(gi_cli_stream());
    if (shows_line || *line)
        fprintf(gi_cli_stream(), "\r\033[K%s", line);
    shows_line = *line;
    fflush(gi_cli_stream());
    funlockfile(gi_cli_stream());
}

int gi_terminal_width(int fd)
{
    struct winsize size = {0};
    return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

const char *gi_text_nbytes(double nbytes, char buffer[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; nbytes >= 999.5 && unit < 4; unit++)
        nbytes /= 1000;
    snprintf(buffer, 32, "%.*f %s", unit && nbytes < 99.95 ? 1 : 0, nbytes, units[unit]);
    return buffer;
}
