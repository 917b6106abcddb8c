/* Pairs the members of two tars by name.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_pairs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args/rules.h"
#include "cli/hash.h"
#include "cli/inputs/pair_list.h"
#include "cli/inputs/tar_feed.h"
#include "cli/paths/brace.h"
#include "cli/stop.h"
#include "imgio/small.h"
#include "imgio/tar/tar.h"

/* A member that waits for the member of the same name in the other tar: half of a pair. */
struct half {
    struct gi_item *item;
    struct half *next;
};

struct gi_tar_pairs {
    struct gi_batch_files *files;
    const struct gi_io_params *io;
    size_t at; /* number of the pair of tars that is open, or will be opened next */
    bool open;
    char *paths[2]; /* their paths; the lists own them */
    /* The tars of each side in the order in which they are read, and what reads them. The feeds
     * stay, so that the commands of later tars run ahead. NULL before the first pair. */
    struct {
        struct gi_input *tars;
        struct gi_tar_feed *feed;
    } sides[2];
    atomic_bool cancelled;
    bool ended[2];
    int turn;                           /* the side that is read next */
    struct half *waiting[2], **last[2]; /* per side, in the order of its tar */
    uint64_t held;                      /* bytes held by waiting members */
    bool any;                           /* there was an image in one of them */
    struct {
        uint64_t *at; /* hashes of the names that were paired */
        size_t n, room;
    } paired;
    /* Bytes of the file of the first tar, known once this tar has ended; 0: unknown. */
    uint64_t nbytes;
    int64_t mtime_ns;
};

/* The kind of an item, stored in its tag. */
struct tag {
    char *tars[2]; /* the lists own them */
    char *name;    /* name of the member; NULL at the end of the two tars */
    char *other;   /* item->line.other */
    void *bytes;   /* of the second member */
    size_t nbytes;
    struct gi_tar_range *ranges[2]; /* of members that are not read yet; otherwise NULL */
};

static void untag(void *arg)
{
    struct tag *tag = arg;
    free(tag->name);
    free(tag->other);
    free(tag->bytes);
    for (int side = 0; side < 2; side++)
        gi_tar_range_free(&tag->ranges[side]);
    free(tag);
}

enum gi_status gi_tar_pairs_list(struct gi_batch_files *files, char **operands, struct gi_err *err)
{
    char **names[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    enum gi_status status = gi_tar_load(err);
    for (int i = 0; i < 2 && !status; i++) {
        if (strcmp(operands[i], "-") == 0 && isatty(STDIN_FILENO))
            status = gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want a tar");
        else
            status = gi_brace_list(&names[i], &n[i], operands[i], err);
    }
    if (!status && strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        status = gi_fail(err, GI_E_USAGE, "- and -: standard input is one tar, not two");
    if (!status && n[0] != n[1])
        status =
            gi_fail(err, GI_E_USAGE, "--tar: %s stands for %zu tars and %s for %zu: want as many",
                    operands[0], n[0], operands[1], n[1]);
    for (size_t i = 0; i < n[0] && !status; i++)
        status = gi_pair_add(files, names[0][i], names[1][i], err);
    for (int i = 0; i < 2; i++)
        gi_brace_free(&names[i], n[i]);
    return status;
}

/* Removes the half at *place from the list of its side, and returns it. */
static struct gi_item *take_half(struct gi_tar_pairs *pairs, int side, struct half **place)
{
    struct half *half = *place;
    struct gi_item *item = half->item;
    *place = half->next;
    if (pairs->last[side] == &half->next)
        pairs->last[side] = place;
    pairs->held -= item->source.nbytes;
    free(half);
    return item;
}

/* Frees a half. Its reserved memory is added to that of `item`, which is delivered next. */
static void free_half(struct gi_item *half, struct gi_item *item)
{
    if (item && half)
        item->turn.reserved += half->turn.reserved;
    gi_item_free(&half);
}

static void close_tars(struct gi_tar_pairs *pairs, struct gi_item *item)
{
    for (int side = 0; side < 2; side++) {
        while (pairs->waiting[side])
            free_half(take_half(pairs, side, &pairs->waiting[side]), item);
        if (pairs->open)
            gi_tar_feed_leave(pairs->sides[side].feed, pairs->at);
    }
    free(pairs->paired.at);
    pairs->paired.at = NULL;
    pairs->paired.n = pairs->paired.room = 0;
    pairs->open = false;
}

void gi_tar_pairs_free(struct gi_tar_pairs **pairs)
{
    if (*pairs)
        close_tars(*pairs, NULL);
    for (int side = 0; side < 2 && *pairs; side++) {
        gi_tar_feed_free(&(*pairs)->sides[side].feed);
        free((*pairs)->sides[side].tars);
    }
    free(*pairs);
    *pairs = NULL;
}

static void new_feeds(struct gi_tar_pairs *pairs)
{
    const struct gi_batch_files *files = pairs->files;
    for (int side = 0; side < 2; side++) {
        const struct gi_input *first = files->in.list.inputs,
                              *all = side ? files->in.others.inputs : first;
        struct gi_input *tars = gi_small_alloc(files->in.n * sizeof *tars);
        for (size_t i = 0; i < files->in.n; i++)
            tars[i] = all[files->in.share ? (size_t)(files->in.share[i] - first) : i];
        const struct gi_tar_feed_options options = {.inputs = tars,
                                                    .ninputs = files->in.n,
                                                    .paired = true,
                                                    .io = pairs->io,
                                                    .cancelled = &pairs->cancelled,
                                                    .rules = files->rules};
        pairs->sides[side].tars = tars;
        pairs->sides[side].feed = gi_tar_feed_new(&options);
    }
}

static void open_tars(struct gi_tar_pairs *pairs)
{
    if (!pairs->sides[0].feed)
        new_feeds(pairs);
    pairs->open = true;
    pairs->any = false;
    pairs->turn = 0;
    pairs->held = pairs->nbytes = 0;
    pairs->mtime_ns = 0;
    for (int side = 0; side < 2; side++) {
        pairs->paths[side] = pairs->sides[side].tars[pairs->at].path;
        pairs->ended[side] = false;
        pairs->last[side] = &pairs->waiting[side];
    }
}

/* ---- items ---- */

/* Names the item after a member, or after the two tars if `name` is NULL. `first` and
 * `second` are the names for messages. */
static void name_item(const struct gi_tar_pairs *pairs, struct gi_item *item, const char *name,
                      const char *first, const char *second)
{
    struct tag *tag = gi_small_calloc(1, sizeof *tag);
    item->line.input = gi_small_copy(first);
    *tag = (struct tag){.tars = {pairs->paths[0], pairs->paths[1]},
                        .name = name ? gi_small_copy(name) : NULL,
                        .other = gi_small_copy(second)};
    item->source.tag = tag;
    item->source.untag = untag;
    item->line.other = tag->other;
}

/* Returns the name of the member for pairs, rows and reports. It lacks the leading ./ that tar
 * writes if it packs a folder. */
static const char *name_of(const struct gi_item *half)
{
    const char *name = ((const struct gi_tar_tag *)half->source.tag)->name;
    while (strncmp(name, "./", 2) == 0)
        name += 1 + strspn(name + 1, "/");
    return name;
}

static uint64_t hash_of(const char *name)
{
    return gi_hash(GI_HASH_START, name, strlen(name));
}

static enum gi_status note_paired(struct gi_tar_pairs *pairs, const char *name, struct gi_err *err)
{
    if (pairs->paired.n == pairs->paired.room) {
        size_t room = pairs->paired.room ? 2 * pairs->paired.room : 64;
        uint64_t *more = reallocarray(pairs->paired.at, room, sizeof *more);
        if (!more)
            return gi_fail(err, GI_E_MEMORY, "out of memory: names of pairs");
        pairs->paired.at = more;
        pairs->paired.room = room;
    }
    pairs->paired.at[pairs->paired.n++] = hash_of(name);
    return GI_OK;
}

static bool was_paired(const struct gi_tar_pairs *pairs, const char *name)
{
    uint64_t hash = hash_of(name);
    for (size_t i = 0; i < pairs->paired.n; i++)
        if (pairs->paired.at[i] == hash)
            return true;
    return false;
}

/* The `fetch` of items. */
static enum gi_status fetch(struct gi_item *item, struct gi_err *err)
{
    struct tag *tag = item->source.tag;
    enum gi_status status =
        gi_tar_range_read(tag->ranges[0], &item->source.bytes, item->line.input, err);
    return status ? status : gi_tar_range_read(tag->ranges[1], &tag->bytes, tag->other, err);
}

/* Makes `item` the pair of the halves `a` and `b`. The item then owns their data. */
static enum gi_status pair_up(struct gi_tar_pairs *pairs, struct gi_item *item, struct gi_item *a,
                              struct gi_item *b, struct gi_err *err)
{
    name_item(pairs, item, name_of(a), a->line.input, b->line.input);
    enum gi_status status = note_paired(pairs, name_of(a), err);
    if (!status) {
        struct tag *tag = item->source.tag;
        item->source.bytes = a->source.bytes;
        item->source.nbytes = a->source.nbytes;
        tag->bytes = b->source.bytes;
        tag->nbytes = b->source.nbytes;
        a->source.bytes = b->source.bytes = NULL;
        for (int side = 0; side < 2; side++) {
            struct gi_tar_tag *from = (side ? b : a)->source.tag;
            tag->ranges[side] = from->range;
            from->range = NULL;
        }
        item->source.fetch = fetch;
    }
    free_half(a, item);
    free_half(b, item);
    return status;
}

/* Makes the item fail, because its member can't be held in memory or has no partner. Takes over the
 * half. */
static void leave_alone(const struct gi_tar_pairs *pairs, struct gi_item *item,
                        struct gi_item *half, int side)
{
    name_item(pairs, item, name_of(half), half->line.input, half->line.input);
    item->line.pass = true;
    item->line.status = half->line.status;
    item->line.err = half->line.err;
    if (!item->line.status)
        item->line.status = gi_fail(&item->line.err, GI_E_IO,
                                    was_paired(pairs, name_of(half))
                                        ? "%s: every image of this name in %s has its pair already"
                                        : "%s: there is no image of this name in %s",
                                    half->line.input, gi_tar_feed_name(pairs->paths[!side]));
    free_half(half, item);
}

/* Makes the item the end of the two tars, with the error `why` if that is not NULL. */
static void end_tars(struct gi_tar_pairs *pairs, struct gi_item *item, const struct gi_err *why)
{
    name_item(pairs, item, NULL, pairs->paths[0], pairs->paths[1]);
    item->line.pass = true;
    item->source.mark = !why;
    item->line.input_file.nbytes = pairs->nbytes;
    item->line.input_file.mtime_ns = pairs->mtime_ns;
    if (why) {
        item->line.status = why->status;
        item->line.err = *why;
    }
    close_tars(pairs, item);
    pairs->at++;
}

/* ---- the source ---- */

static void wait_for_other(struct gi_tar_pairs *pairs, struct gi_item *half, int side)
{
    struct half *entry = gi_small_alloc(sizeof *entry);
    *entry = (struct half){.item = half};
    *pairs->last[side] = entry;
    pairs->last[side] = &entry->next;
    pairs->held += half->source.nbytes;
}

/* Returns the waiting half of this side that has this name; NULL if there is none. */
static struct gi_item *find(struct gi_tar_pairs *pairs, int side, const char *name)
{
    for (struct half **place = &pairs->waiting[side]; *place; place = &(*place)->next)
        if (strcmp(name_of((*place)->item), name) == 0)
            return take_half(pairs, side, place);
    return NULL;
}

/* Handles an image of one side and takes over its half. Sets *made to whether the item is
 * complete. */
static enum gi_status take_image(struct gi_tar_pairs *pairs, struct gi_item *item,
                                 struct gi_item *half, int side, bool *made, struct gi_err *err)
{
    *made = pairs->any = true;
    if (half->line.status) {
        leave_alone(pairs, item, half, side);
        return GI_OK;
    }
    struct gi_item *other = find(pairs, !side, name_of(half));
    if (other)
        return pair_up(pairs, item, side ? other : half, side ? half : other, err);
    wait_for_other(pairs, half, side);
    uint64_t most = gi_engine_memory(item->turn.engine);
    *made = pairs->held > most;
    if (!*made)
        return GI_OK;
    struct gi_err why;
    gi_fail(&why, GI_E_LIMIT,
            "%s and %s: %llu bytes of members wait for others of their names, over the limit of "
            "%llu; --memory raises it",
            gi_tar_feed_name(pairs->paths[0]), gi_tar_feed_name(pairs->paths[1]),
            (unsigned long long)pairs->held, (unsigned long long)most);
    end_tars(pairs, item, &why);
    return GI_OK;
}

/* Reads a member of one side. */
static enum gi_status read_half(struct gi_tar_pairs *pairs, struct gi_item *item, int side,
                                bool *made, struct gi_err *err)
{
    bool more = false;
    struct gi_item *half = gi_item_new();
    half->turn.engine = item->turn.engine;
    half->turn.index = item->turn.index;
    enum gi_status status = gi_tar_feed_next(pairs->sides[side].feed, half, &more, err);
    const struct gi_tar_tag *tag = half->source.tag;
    if (status || !more) {
        pairs->ended[side] = true;
        free_half(half, item);
        return status;
    }
    if (tag->kind == GI_TAR_MEMBER && (!half->line.pass || half->line.status))
        return take_image(pairs, item, half, side, made, err);
    *made = tag->kind == GI_TAR_BROKEN;
    pairs->ended[side] |= tag->kind == GI_TAR_END;
    if (tag->kind == GI_TAR_END && side == 0) {
        pairs->nbytes = tag->nbytes;
        pairs->mtime_ns = tag->mtime_ns;
    }
    if (*made)
        end_tars(pairs, item, &half->line.err);
    free_half(half, item);
    return status;
}

/* Ends the pair of tars once both have been read and no half waits. */
static void conclude(struct gi_tar_pairs *pairs, struct gi_item *item)
{
    struct gi_err none = {0};
    if (!pairs->any)
        gi_fail(&none, GI_E_USAGE, "%s and %s: no pairs of images",
                gi_tar_feed_name(pairs->paths[0]), gi_tar_feed_name(pairs->paths[1]));
    end_tars(pairs, item, none.status ? &none : NULL);
}

/* Returns the side to read next. The two sides take turns until one has ended. */
static int next_side(struct gi_tar_pairs *pairs)
{
    int side = pairs->ended[pairs->turn] ? !pairs->turn : pairs->turn;
    pairs->turn = !side;
    return side;
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_tar_pairs *pairs = self;
    enum gi_status status = GI_OK;
    if (!pairs->open && pairs->at < pairs->files->in.n)
        open_tars(pairs);
    *more = pairs->open;
    for (bool made = !*more; !made && !status;) {
        int alone = pairs->waiting[0] ? 0 : 1;
        if (!pairs->ended[0] || !pairs->ended[1]) {
            status = read_half(pairs, item, next_side(pairs), &made, err);
            continue;
        }
        made = true;
        if (pairs->waiting[alone])
            leave_alone(pairs, item, take_half(pairs, alone, &pairs->waiting[alone]), alone);
        else
            conclude(pairs, item);
    }
    *more &= !pairs->cancelled;
    return status;
}

/* ---- interface ---- */

const void *gi_tar_pairs_second(const struct gi_item *item, size_t *nbytes)
{
    const struct tag *tag = item->source.tag;
    *nbytes = tag->nbytes;
    return tag->bytes;
}

static void cancel(void *self)
{
    struct gi_tar_pairs *pairs = self;
    pairs->cancelled = true;
}

static bool describe(void *self, const struct gi_item *item, const char **tar, const char **file)
{
    const struct tag *tag = item->source.tag;
    *tar = tag->tars[0];
    *file = tag->name;
    return tag->name != NULL;
}

static enum gi_status open_report(struct gi_source *source, const struct gi_batch_job *job,
                                  struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_tar_pairs *pairs = source->self;
    pairs->files->report.key = "tar";
    return gi_batch_files_report(pairs->files, job, err);
}

static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_tar_pairs *pairs = self;
    struct gi_report *report = &pairs->files->report;
    struct gi_line *whole = &report->whole;
    const struct tag *tag = item->source.tag;
    unsigned long long failed = report->failed, differing = report->differing, n = report->added;
    whole->input = tag->tars[0];
    whole->other = tag->tars[1];
    if (tag->name)
        return gi_report_add_member(report, &item->line, tag->name, tag->name, err);
    whole->input_file.nbytes = item->line.input_file.nbytes;
    whole->input_file.mtime_ns = item->line.input_file.mtime_ns;
    if (item->line.status)
        whole->status = item->line.status;
    whole->err = item->line.err;
    if (!item->line.status && failed)
        gi_fail(&whole->err, whole->status, "%llu of %llu pairs failed", failed, n);
    else if (!item->line.status && differing)
        gi_fail(&whole->err, GI_OK, "%llu of %llu pairs differ", differing, n);
    return item->line.status && gi_stop_asked() ? GI_OK : gi_report_add_whole(report, err);
}

static enum gi_status conclude_batch(void *self, const struct gi_tally *tally,
                                     enum gi_status status, struct gi_err *err)
{
    struct gi_tar_pairs *pairs = self;
    if (!status && !pairs->files->in.shard.n)
        gi_matcher_warn(gi_rules_matcher(pairs->files->rules));
    return gi_source_files.conclude(pairs->files, tally, status, err);
}

static const struct gi_source_kind tar_pairs = {
    .unit = "pairs",
    .next = next,
    .cancel = cancel,
    .open = open_report,
    .describe = describe,
    .note = note,
    .conclude = conclude_batch,
};

void gi_tar_pairs_new(struct gi_tar_pairs **pairs, struct gi_batch_files *files,
                      const struct gi_io_params *io)
{
    *pairs = gi_small_calloc(1, sizeof **pairs);
    (*pairs)->files = files;
    (*pairs)->io = io;
    files->source = (struct gi_source){.kind = &tar_pairs, .self = *pairs};
}
