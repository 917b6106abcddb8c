/* Permutes, extracts and joins channels. An order such as "bgr" becomes the specification of the
 * primitive `permute_channels`.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "kernels/color.h"
#include "kernels/kernels.h"

#include <string.h>

struct channels_params {
    const char *order;
};

static const struct gi_option options[] = {
    {GI_OPTION("order", TEXT, struct channels_params, order), .example = "bgr",
     .metavar = "LETTERS",
     .help = "The channels of the result, as numbers of bands such as 5,4,3, or as letters: r, g, "
             "b, a (alpha), k (gray), c (all except alpha), o "
             "(opaque, full scale) and z (zero). A number before a letter chooses the image: "
             "\"2r\" is the red of the second image. A single channel may also be given by its "
             "name, which is red, green, blue, alpha, gray or colour"},
    {.name = NULL},
};

static const struct {
    const char *name, *order;
} names[] = {{"red", "r"},  {"green", "g"},  {"blue", "b"},  {"alpha", "a"},
             {"gray", "k"}, {"colour", "c"}, {"color", "c"}, {"grey", "k"}};

/* Returns the letters of an order: "bgr" for "bgr", "r" for "red". Returns NULL if there is no
 * order. The result then has all channels, in the order of the images. */
static const char *letters_of(const struct channels_params *p)
{
    for (size_t i = 0; p->order && i < sizeof names / sizeof *names; i++)
        if (strcmp(p->order, names[i].name) == 0)
            return names[i].order;
    return p->order;
}

/* Returns whether the order has numbers of bands, such as "5,4,3", "1-3" or "1,2,3,a4", which the
 * command channels takes before its chain. */
static bool is_of_numbers(const char *order)
{
    size_t n = order ? strlen(order) : 0;
    return n && strspn(order, "0123456789,-a") == n &&
           (strpbrk(order, ",-") || strspn(order, "0123456789") == n);
}

static enum gi_status fail_order(const struct channels_params *p, struct gi_err *err)
{
    return gi_fail(err, GI_E_USAGE,
                   "--order %s: want 1 to 4 letters of rgbakcoz, of a second image 2r and so on, "
                   "or red, green, blue, alpha, gray or colour",
                   p->order);
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct channels_params *p = params;
    const char *at = letters_of(p);
    int n = 0;
    if (is_of_numbers(p->order))
        return GI_OK;
    for (; at && *at; at++, n++) {
        at += *at >= '1' && *at <= '0' + GI_PERMUTE_CHANNELS_SOURCES;
        if (!*at || !strchr("rgbakcoz", *at))
            return fail_order(p, err);
    }
    return at && (n < 1 || n > GI_MAX_CHANNELS) ? fail_order(p, err) : GI_OK;
}

/* Returns whether three channels are not red, green and blue. */
static bool recolors(const void *params)
{
    char colors[4] = "";
    int n = 0;
    for (const char *at = letters_of(params); at && *at && n < 3; at++)
        if (strchr("rgbakcoz", *at))
            colors[n++] = *at;
    return n == 3 && colors[0] != 'c' && strcmp(colors, "rgb") != 0;
}

/* Adds a channel to the *n channels of the result. *n also counts channels beyond the maximum. */
static void add(struct gi_permute_channels *spec, int *n, int source, int channel)
{
    if (*n < GI_MAX_CHANNELS) {
        spec->from[*n].source = source;
        spec->from[*n].channel = channel;
    }
    ++*n;
}

/* Returns the channel that a letter names, or -1 if the image does not have that channel. */
static int channel_of(char letter, const struct gi_image *image)
{
    bool color = gi_color_channels(image) == 3;
    switch (letter) {
    case 'r':
        return 0;
    case 'g':
        return color ? 1 : 0;
    case 'b':
        return color ? 2 : 0;
    case 'k':
        return color ? -1 : 0;
    default:
        return gi_has_alpha(image) && image->mask != GI_MASK_HIDDEN ? image->channels - 1 : -1;
    }
}

static enum gi_status read_order(struct gi_permute_channels *spec, int *n,
                                 const struct gi_plan *plan, struct gi_err *err)
{
    for (const char *at = letters_of(plan->params); *at; at++) {
        int source = *at >= '1' && *at <= '9' ? *at++ - '1' : 0;
        const struct gi_image *image = &plan->sources[source];
        if (source >= plan->nsources)
            return gi_fail(err, GI_E_USAGE, "--order: image %d: there %s %d", source + 1,
                           plan->nsources == 1 ? "is" : "are", plan->nsources);
        int channel = channel_of(*at, image);
        if (*at == 'o' || *at == 'z') {
            if (*n < GI_MAX_CHANNELS)
                spec->value[*n] = *at == 'o' ? gi_type_full_scale(image->type) : 0;
            add(spec, n, -1, 0);
        } else if (*at == 'c') {
            for (int c = 0; c < gi_color_channels(image); c++)
                add(spec, n, source, c);
        } else if (channel < 0) {
            return gi_fail(err, GI_E_USAGE, "--order: %c: image %d has %s", *at, source + 1,
                           *at == 'a' ? "no alpha" : "colour and no gray: want --gray, or r, g, b");
        } else {
            add(spec, n, source, channel);
        }
    }
    return GI_OK;
}

static enum gi_status check_sources(const struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *first = &plan->sources[0];
    for (int i = 1; i < plan->nsources; i++) {
        const struct gi_image *image = &plan->sources[i];
        if (image->width != first->width || image->height != first->height)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "image %d has %d x %d pixels, the first %d x %d: want one size", i + 1,
                           image->width, image->height, first->width, first->height);
        if (image->type != first->type)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "image %d has samples of another type than the first: want --work-depth",
                           i + 1);
    }
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    struct gi_permute_channels *spec = gi_plan_tables(plan, sizeof *spec, err);
    const struct channels_params *p = plan->params;
    int n = 0;
    if (!spec)
        return GI_E_MEMORY;
    enum gi_status status = check_sources(plan, err);
    if (!status && is_of_numbers(p->order))
        return gi_fail(err, GI_E_USAGE,
                       "--order %s: bands are chosen from the input alone: want --bands %s",
                       p->order, p->order);
    spec->nsources = plan->nsources;
    if (!status && p->order)
        status = read_order(spec, &n, plan, err);
    for (int i = 0; !p->order && i < plan->nsources; i++)
        for (int c = 0; c < plan->sources[i].channels; c++)
            add(spec, &n, i, c);
    if (!status && n > GI_MAX_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d channels: want 1 to %d", n, GI_MAX_CHANNELS);
    plan->result.channels = n;
    /* The result is not opaque where there are no data. */
    if (!status && n % 2 == 0 && p->order && plan->sources[0].mask == GI_MASK_HIDDEN) {
        plan->result.mask = GI_MASK_SHOWN;
        spec->from[n - 1].source = 0;
        spec->from[n - 1].channel = plan->sources[0].channels - 1;
    }
    plan->cost.other = 1;
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return queue->k->permute_channels(queue, work->dst, work->srcs, plan->tables, err);
}

const struct gi_filter gi_filter_channels = {
    .name = "channels",
    .group = GI_GROUP_COLOR,
    .planes = GI_PLANES_RGB,
    .samples.needs_color = true,
    .samples.recolors = recolors,
    .summary = "Split, join, swap or extract channels",
    .manual =
        "Samples stay as they are. --order names the channels of the result one after the other: "
        "bgr turns the colours round, a is the alpha as a gray picture, c drops alpha, co makes it "
        "opaque. One channel is gray, two are gray and alpha, three red, green and blue, four "
        "these and alpha; in a gray image r, g and b are its gray.",
    .options = options,
    .params_nbytes = sizeof(struct channels_params),
    .sources.max = GI_PERMUTE_CHANNELS_SOURCES,
    .check = check,
    .plan = plan,
    .run = run,
};
