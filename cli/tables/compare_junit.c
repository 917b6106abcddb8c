/* The JUnit XML of `gpuimg compare --junit`.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/compare_junit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/stop.h"
#include "cli/text.h"
#include "imgio/small.h"

struct gi_junit {
    const char *path;
    struct gi_text_memory memory;
    FILE *cases;
    size_t n, failures, errors;
};

void gi_junit_new(struct gi_junit **out, const char *path)
{
    *out = NULL;
    if (!path)
        return;
    *out = gi_small_calloc(1, sizeof **out);
    (*out)->path = path;
    (*out)->cases = gi_text_open_large(&(*out)->memory);
}

static void put_text(FILE *out, const char *text)
{
    for (char escaped[GI_ESCAPED]; *text;) {
        text += gi_xml_char(escaped, text);
        fputs(escaped, out);
    }
}

void gi_junit_add(struct gi_junit *junit, const char *a, const char *b, enum gi_status verdict,
                  const char *why)
{
    if (!junit)
        return;
    const char *kind = verdict == GI_E_DIFFERENT ? "failure" : "error";
    junit->n++;
    junit->failures += verdict == GI_E_DIFFERENT;
    junit->errors += verdict != GI_OK && verdict != GI_E_DIFFERENT;
    fputs("    <testcase classname=\"gpuimg.compare\" name=\"", junit->cases);
    put_text(junit->cases, a);
    fputs(" and ", junit->cases);
    put_text(junit->cases, b);
    if (!verdict) {
        fputs("\"/>\n", junit->cases);
        return;
    }
    fprintf(junit->cases, "\">\n      <%s message=\"", kind);
    put_text(junit->cases, why);
    fputs("\"/>\n    </testcase>\n", junit->cases);
}

static enum gi_status write_file(const struct gi_junit *junit, const char *cases,
                                 struct gi_err *err)
{
    struct gi_sink *sink;
    enum gi_status status = gi_sink_open(&sink, junit->path, false, err);
    if (status)
        return status;
    status = gi_sink_printf(sink, err,
                            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                            "  <testsuite name=\"gpuimg compare\" tests=\"%zu\" failures=\"%zu\" "
                            "errors=\"%zu\">\n",
                            junit->n, junit->failures, junit->errors);
    if (!status)
        status = gi_sink_write(sink, cases, strlen(cases), err);
    if (!status)
        status = gi_sink_printf(sink, err, "  </testsuite>\n</testsuites>\n");
    if (!status)
        return gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

enum gi_status gi_junit_end(struct gi_junit **out, enum gi_status status, struct gi_err *err)
{
    struct gi_junit *junit = *out;
    struct gi_err fault = {0};
    if (!junit || !junit->n || status == GI_E_AGAIN || status == GI_E_PIPE || gi_stop_asked()) {
        gi_junit_free(out);
        return status;
    }
    char *cases = gi_text_close(junit->cases, &junit->memory);
    junit->cases = NULL;
    if (!cases)
        gi_fail(&fault, GI_E_MEMORY, "out of memory: --junit");
    else
        write_file(junit, cases, &fault);
    free(cases);
    gi_junit_free(out);
    if (!fault.status || (status && status != GI_E_DIFFERENT))
        return status;
    *err = fault;
    return fault.status;
}

void gi_junit_free(struct gi_junit **out)
{
    struct gi_junit *junit = *out;
    *out = NULL;
    if (junit && junit->cases)
        free(gi_text_close(junit->cases, &junit->memory));
    free(junit);
}
