/* Checks the files that the steps of a chain write.
 * SPDX-License-Identifier: MIT */
#include "cli/args/chain_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paths/output.h"
#include "imgio/small.h"

enum gi_status gi_chain_check_reporters(const struct gi_chain *chain, const char *input,
                                        struct gi_err *err)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        void *const *params = step->args.params;
        if (step->reporter && step->reporter->check(input, step->to, params[GI_SET_STEP_OUTPUT],
                                                    params[GI_SET_STEP_FILTER], err))
            return gi_err_prefix(err, "step %d, %s", i + 1, step->filter->name);
    }
    return GI_OK;
}

/* A file that the chain writes. */
struct place {
    /* Number of the step that writes the file, from 0; for the image the number of all steps. */
    int step;
    const char *option; /* option that names the file; NULL if it is the table or the image */
    const char *path;
};

/* Collects the files that step i writes besides its table, which its output options name. Stores
 * them in `places` if that is not NULL. Returns the number of these files. */
static int option_places(struct place *places, const struct gi_chain *chain, int i)
{
    const struct gi_reporter *reporter = chain->steps[i].reporter;
    const char *output = chain->steps[i].args.params[GI_SET_STEP_OUTPUT];
    int n = 0;
    for (const struct gi_option *row = reporter->options; row->name; row++) {
        const char *path;
        if (row->type != GI_OPT_PATH)
            continue;
        memcpy(&path, output + row->offset, sizeof path);
        if (!path)
            continue;
        if (places)
            places[n] = (struct place){i, row->name, path};
        n++;
    }
    return n;
}

/* Collects all files that the chain writes. `places` and the result are as for option_places(). */
static int all_places(struct place *places, const struct gi_chain *chain, const char *path)
{
    int n = 0;
    for (int i = 0; i < chain->n; i++) {
        if (!chain->steps[i].reporter)
            continue;
        if (places)
            places[n] = (struct place){i, NULL, chain->steps[i].to};
        n++;
        n += option_places(places ? places + n : NULL, chain, i);
    }
    if (path && places)
        places[n] = (struct place){chain->n, NULL, path};
    return n + (path != NULL);
}

static enum gi_status fail_same(const struct gi_chain *chain, const struct place *a,
                                const struct place *b, struct gi_err *err)
{
    char other[80];
    snprintf(other, sizeof other, "the %s%s of step %d", b->option ? "--" : "",
             b->option ? b->option : "table", b->step + 1);
    return gi_fail(err, GI_E_USAGE, "step %d, %s: its %s%s and %s both go to %s: want %s",
                   a->step + 1, chain->steps[a->step].filter->name, a->option ? "--" : "",
                   a->option ? a->option : "table", b->step == chain->n ? "the image" : other,
                   strcmp(a->path, "-") == 0 ? "standard output" : a->path,
                   a->option ? "another file" : "--to FILE");
}

enum gi_status gi_chain_check_places(const struct gi_chain *chain, const char *path,
                                     struct gi_err *err)
{
    int n = all_places(NULL, chain, path);
    struct place *places = gi_small_calloc((size_t)n + 1, sizeof *places);
    enum gi_status status = GI_OK;
    all_places(places, chain, path);
    for (int b = 0; b < n && !status; b++) {
        const char *file = gi_output_file(places[b].path);
        const char *const outputs[] = {places[b].path, NULL};
        for (int a = 0; a < b && !status; a++)
            if (gi_output_same(gi_output_file(places[a].path), file))
                status = fail_same(chain, &places[a], &places[b], err);
        if (!status)
            status = gi_chain_check_outputs(chain, outputs, err);
    }
    free(places);
    return status;
}
