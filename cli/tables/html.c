/* What pages of HTML share.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/html.h"

#include <stdlib.h>

#include "cli/log.h"

static const char common_style[] =
    ":root {color-scheme: light dark; --line: #8886; font: 16px/1.4 system-ui, sans-serif;\n"
    " background: #fff; color: #1a1a1a}\n"
    "@media (prefers-color-scheme: dark) {:root {background: #17181a; color: #e8e8e8}}\n"
    "body {margin: 0 auto; max-width: 100rem; padding: 1rem}\n"
    "section {border-top: 1px solid var(--line); padding: .5rem 0}\n"
    "h2 {font-size: 1rem; overflow-wrap: anywhere; margin: .5rem 0}\n"
    "p {margin: .5rem 0; overflow-wrap: anywhere}\n"
    "figure {margin: 0; min-width: 0} figcaption {text-align: center}\n"
    "img {display: block; max-width: 100%; height: auto; margin: 0 auto;\n"
    " background: repeating-conic-gradient(#bbb 0 25%, #eee 0 50%) 0 0/16px 16px}\n";

void gi_html_begin(FILE *out, const char *title, const char *heading, const char *style,
                   bool has_script)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
            "data:; style-src 'unsafe-inline'%s\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n"
            "<style>\n%s%s</style>\n<h1>%s</h1>\n",
            has_script ? "; script-src 'unsafe-inline'" : "", title, common_style, style, heading);
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) { /* RFC 4648, 4 */
        unsigned v = (unsigned)bytes[i] << 16;
        v |= i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0;
        v |= i + 2 < n ? bytes[i + 2] : 0;
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
                        i + 1 < n ? digits[v >> 6 & 63] : '=', i + 2 < n ? digits[v & 63] : '='};
        fwrite(four, 1, 4, out);
    }
}

void gi_html_text(FILE *out, const char *text)
{
    for (char plain[GI_ESCAPED]; *text;) {
        text += gi_terminal_char(plain, text);
        for (const char *p = plain; *p;) {
            char escaped[GI_ESCAPED];
            p += gi_xml_char(escaped, p);
            fputs(escaped, out);
        }
    }
}

enum gi_status gi_html_picture(FILE *out, const struct gi_image *picture, const char *format,
                               const char *alt, struct gi_err *err)
{
    const struct gi_save_options options = {
        .format = format, .bits = 8, .compression = GI_DEFAULT_COMPRESSION, .quality = 80};
    struct gi_err warning = {0};
    void *bytes;
    size_t n;
    enum gi_status status =
        gi_save_memory(&bytes, &n, picture, NULL, "--html", &options, &warning, err);
    if (status)
        return status;
    fprintf(out, "<img alt=\"%s\" width=\"%d\" height=\"%d\" src=\"data:image/%s;base64,", alt,
            picture->width, picture->height, format);
    put_base64(out, bytes, n);
    fputs("\">", out);
    free(bytes);
    return GI_OK;
}
