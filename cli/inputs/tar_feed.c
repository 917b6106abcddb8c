/* Reads tars member by member, and decides which members are images, which ones are copied, and
 * which ones are too long to be held in memory.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/tar_feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args/rules.h"
#include "cli/inputs/tar_pipe.h"
#include "cli/report/journal.h"
#include "cli/shell.h"
#include "cli/text.h"
#include "imgio/small.h"

enum {
    PROBE_NBYTES = 64,
    RANGE_NBYTES = 16 << 10, /* shorter members are read at once, with the headers around them */
    COPY_NBYTES = 1 << 20,   /* longer members that are not images are copied piece by piece */
    AHEAD = 3,               /* maximum number of commands that run ahead of the open shard */
    LONG_NBYTES = 16 << 20, /* images up to this size are held in memory, whatever the limits are */
};

struct gi_tar_feed {
    struct gi_tar_feed_options options;
    size_t shard;
    uint64_t images;              /* number of members so far that are images */
    struct gi_tar_reader *reader; /* of the shard; NULL: not open */
    struct stat opened;           /* properties of the file of the shard when it was opened */
    struct gi_tar_fetch *fetch;   /* the command that writes the shard; NULL: it is a file */
    struct fetched {
        struct gi_tar_fetch *fetch;
        size_t shard;
    } ahead[AHEAD]; /* the commands of later shards that have been started, in order */
    size_t nahead;
    struct gi_engine *engine; /* that takes the members, while `reader` is open */
    uint64_t largest;         /* bytes of the largest shard so far that a command wrote */
    struct gi_err fault;      /* why a copy found that the shard can't be read further */

    pthread_mutex_t lock;
    pthread_cond_t copied;
    bool copying; /* the reader belongs to the copy */
};

const char *gi_tar_feed_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

struct gi_tar_feed *gi_tar_feed_new(const struct gi_tar_feed_options *options)
{
    struct gi_tar_feed *feed = gi_small_calloc(1, sizeof *feed);
    feed->options = *options;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->copied, NULL);
    return feed;
}

void gi_tar_feed_free(struct gi_tar_feed **feed)
{
    if (*feed) {
        gi_tar_reader_close(&(*feed)->reader);
        gi_tar_fetch_close(&(*feed)->fetch);
        for (size_t i = 0; i < (*feed)->nahead; i++)
            gi_tar_fetch_close(&(*feed)->ahead[i].fetch);
    }
    free(*feed);
    *feed = NULL;
}

static void end_copy(struct gi_tar_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->copying = false;
    pthread_cond_signal(&feed->copied);
    pthread_mutex_unlock(&feed->lock);
}

/* The `untag` of items. Frees the tag. If the item is a copy that was not made, the feed may use
 * the reader again. */
static void untag(void *arg)
{
    struct gi_tar_tag *tag = arg;
    if (tag->kind == GI_TAR_COPY)
        end_copy(tag->feed);
    gi_tar_entry_free(&tag->entry);
    gi_tar_range_free(&tag->range);
    free(tag);
}

static struct gi_tar_tag *new_tag(struct gi_tar_feed *feed, struct gi_item *item,
                                  enum gi_tar_kind kind)
{
    struct gi_tar_tag *tag = gi_small_calloc(1, sizeof *tag);
    *tag = (struct gi_tar_tag){.kind = kind, .shard = feed->shard, .feed = feed};
    item->source.tag = tag;
    item->source.untag = untag;
    item->line.pass = kind != GI_TAR_MEMBER;
    return tag;
}

static void close_shard(struct gi_tar_feed *feed)
{
    if (feed->reader)
        gi_engine_count_kept(feed->engine, -(int64_t)gi_tar_reader_memory(feed->reader));
    gi_tar_reader_close(&feed->reader);
    gi_tar_fetch_close(&feed->fetch);
    feed->fault = (struct gi_err){0};
    feed->shard++;
}

/* Turns the item into the end of the shard, with the error `why`, or without an error if `why` is
 * NULL. A command that has written a whole tar may still fail: its exit status counts. */
static void end_shard(struct gi_tar_feed *feed, struct gi_item *item, const struct gi_err *why)
{
    struct gi_err fault = {0};
    uint64_t nbytes = (uint64_t)feed->opened.st_size;
    if (!why && feed->fetch && gi_tar_fetch_finish(feed->fetch, &nbytes, &fault))
        why = &fault;
    else if (why && feed->fetch && *why->text && !gi_status_is_machine(why->status)) {
        fault = *why;
        gi_tar_fetch_blame(feed->fetch, fault.status, &fault);
        why = &fault;
    }
    if (!why && feed->fetch && nbytes > feed->largest)
        feed->largest = nbytes;
    struct gi_tar_tag *tag = new_tag(feed, item, why ? GI_TAR_BROKEN : GI_TAR_END);
    item->source.mark = !why;
    tag->nbytes = nbytes;
    tag->mtime_ns = gi_mtime_ns(&feed->opened);
    if (why) {
        item->line.status = why->status;
        item->line.err = *why;
    }
    close_shard(feed);
}

void gi_tar_feed_sent(struct gi_tar_feed *feed, struct gi_item *item, const struct gi_tar_tag *end)
{
    struct gi_tar_tag *tag = new_tag(feed, item, GI_TAR_SENT);
    item->source.mark = true;
    tag->shard = end->shard;
    tag->nbytes = end->nbytes;
    tag->mtime_ns = end->mtime_ns;
}

/* Returns the format of a member that begins with the bytes `start`, or NULL if it is not an image.
 * NumPy arrays do not count as images, because in a tar of pictures they are labels. TGA has no
 * magic number, so it counts only with its suffix. */
static const struct gi_format_info *format_of(const struct gi_buffer *start, const char *name)
{
    const struct gi_format_info *format = gi_format_of(start->at, start->nbytes);
    bool no = format && (strcmp(format->name, "npy") == 0 ||
                         (strcmp(format->name, "tga") == 0 && !gi_text_has_suffix(name, "tga")));
    return no ? NULL : format;
}

/* Returns whether a member that begins like an image is an image. It is if its name has the suffix
 * of the format, or if its header can be read. (Text, for example, may begin like PNM.) */
static bool is_image(const struct gi_format_info *format, const char *name, const void *bytes,
                     size_t nbytes)
{
    const struct gi_load_options options = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES},
                                            .header_only = true,
                                            .bands = true};
    struct gi_image image;
    return gi_text_has_suffix(name, format->suffixes) ||
           gi_load_memory(&image, NULL, NULL, bytes, nbytes, name, &options, NULL, NULL) == GI_OK;
}

/* Replaces the suffix of a member's name by that of --suffix. The caller frees the result. */
static char *rename_member(const char *name, const char *suffix)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    size_t stem = dot && dot > (slash ? slash + 1 : name) ? (size_t)(dot - name) : strlen(name);
    suffix += *suffix == '.';
    return gi_small_format("%.*s.%s", (int)stem, name, suffix);
}

/* Makes the member an image to process. The whole member must be in the buffer. */
static enum gi_status take_image(struct gi_tar_feed *feed, struct gi_item *item,
                                 struct gi_tar_tag *tag, const struct gi_format_info *format,
                                 struct gi_err *err)
{
    const char *name = gi_tar_entry_name(tag->entry), *suffix = feed->options.suffix;
    item->line.pass = false;
    item->source.number = feed->images++;
    item->line.output = suffix ? rename_member(name, suffix) : gi_small_copy(name);
    if (suffix)
        gi_tar_entry_rename(tag->entry, item->line.output);
    /* The result of an operation on a PBM is rarely black and white. */
    else if (!feed->options.io->format)
        item->source.format = strcmp(format->name, "pbm") == 0 ? "pgm" : format->name;
    return GI_OK;
}

/* Returns whether the buffer begins with an image that has at most `max_pixels` pixels and can be
 * `nbytes` long. An image can be TIMES as long as its samples, because it may have metadata, and
 * samples may be text. */
static bool fills(const struct gi_tar_feed *feed, const struct gi_item *item,
                  const struct gi_buffer *buffer, uint64_t nbytes, uint64_t max_pixels)
{
    enum { TIMES = 16 };
    const struct gi_io_params *io = feed->options.io;
    const struct gi_load_options options = {
        .limits = io->limits, .header_only = true, .bands = true};
    struct gi_image image;
    return gi_load_memory(&image, NULL, NULL, buffer->at, buffer->nbytes, item->line.input,
                          &options, NULL, NULL) == GI_OK &&
           (uint64_t)image.width * (uint64_t)image.height <= max_pixels &&
           nbytes / TIMES <= gi_image_nbytes(&image);
}

/* Returns whether the member is too long to be held in memory. It is if it is longer than
 * --max-bytes, or longer than both --memory and the longest image of its width and height. (The
 * length of a tar that is compressed or has holes says nothing about its members.) Reads the
 * image's size if necessary. */
static bool is_too_long(struct gi_tar_feed *feed, struct gi_item *item, struct gi_buffer *buffer,
                        uint64_t nbytes, struct gi_err *fault)
{
    const struct gi_io_params *io = feed->options.io;
    uint64_t memory = gi_engine_memory(item->turn.engine);
    const char *option = nbytes > io->limits.max_bytes ? "--max-bytes" : "--memory";
    if (nbytes <= io->limits.max_bytes && (nbytes <= memory || nbytes <= LONG_NBYTES))
        return false;
    if (nbytes <= io->limits.max_bytes && (gi_tar_read(feed->reader, buffer, COPY_NBYTES, fault) ||
                                           fills(feed, item, buffer, nbytes, UINT64_MAX)))
        return false;
    item->line.status =
        gi_fail(&item->line.err, GI_E_LIMIT, "%s: %llu bytes, over the limit of %llu; %s raises it",
                item->line.input, (unsigned long long)nbytes,
                (unsigned long long)(nbytes > io->limits.max_bytes ? io->limits.max_bytes : memory),
                option);
    return true;
}

/* Reads the member's `nbytes` into the buffer. As for files, --max-pixels limits how much
 * decompression can make from few bytes. A member that has more bytes than this number, and is not
 * an image that can be so long, is read in steps. It is refused once more bytes of it have been
 * read than twice the bytes of the tar read so far. The bytes are counted, because the length that
 * the tar states may be false. Returns false, with the item's error, if the member is refused. */
static bool hold(struct gi_tar_feed *feed, struct gi_item *item, struct gi_buffer *buffer,
                 uint64_t nbytes, struct gi_err *fault)
{
    uint64_t limit = feed->options.io->limits.max_pixels, before;
    if (gi_tar_read(feed->reader, buffer, (size_t)(nbytes < limit ? nbytes : limit), fault))
        return true;
    if (nbytes <= limit || fills(feed, item, buffer, nbytes, limit)) {
        gi_tar_read(feed->reader, buffer, (size_t)nbytes, fault);
        return true;
    }
    do {
        uint64_t stored = gi_tar_stored_nbytes(feed->reader);
        if (stored < buffer->nbytes / 2) {
            item->line.status =
                gi_fail(&item->line.err, GI_E_LIMIT,
                        "%s: %llu bytes, over the limit of %llu, from %llu bytes of the "
                        "tar; --max-pixels raises it",
                        item->line.input, (unsigned long long)nbytes, (unsigned long long)limit,
                        (unsigned long long)stored);
            return false;
        }
        before = buffer->nbytes;
    } while (!gi_tar_read(feed->reader, buffer, COPY_NBYTES, fault) && buffer->nbytes > before);
    return true;
}

/* The `fetch` of items. */
static enum gi_status fetch(struct gi_item *item, struct gi_err *err)
{
    const struct gi_tar_tag *tag = item->source.tag;
    return gi_tar_range_read(tag->range, &item->source.bytes, item->line.input, err);
}

/* Leaves the member to be read by the thread that works on it, if that is possible and its bytes
 * decide nothing before: it is not an image, or its name says that it is one, and it is so short
 * that hold() would not refuse it. Returns whether it does. */
static bool leave_to_worker(struct gi_tar_feed *feed, struct gi_item *item, struct gi_tar_tag *tag,
                            const struct gi_format_info *format, uint64_t nbytes)
{
    if (nbytes < RANGE_NBYTES || nbytes > feed->options.io->limits.max_pixels ||
        (format && !gi_text_has_suffix(gi_tar_entry_name(tag->entry), format->suffixes)))
        return false;
    tag->range = gi_tar_member_range(feed->reader, tag->entry, !feed->options.paired);
    if (!tag->range)
        return false;
    item->source.fetch = fetch;
    item->source.nbytes = (size_t)nbytes;
    return true;
}

/* Reads the member into the item, or leaves the member to be copied later. `fault` gets errors of
 * the tar itself. */
static enum gi_status take_member(struct gi_tar_feed *feed, struct gi_item *item,
                                  struct gi_tar_tag *tag, struct gi_err *fault, struct gi_err *err)
{
    uint64_t nbytes = gi_tar_entry_nbytes(tag->entry);
    struct gi_buffer buffer = {0};
    enum gi_status status = gi_tar_read(feed->reader, &buffer, PROBE_NBYTES, fault);
    const struct gi_format_info *format = format_of(&buffer, gi_tar_entry_name(tag->entry));
    if (format)
        item->source.rule =
            gi_matcher_rule(gi_rules_matcher(feed->options.rules), gi_tar_entry_name(tag->entry));
    if (item->source.rule == GI_RULE_NOT_CHOSEN) {
        item->source.rule = GI_RULE_MAIN;
        format = NULL;
    }
    bool too_long = !status && format && is_too_long(feed, item, &buffer, nbytes, fault);
    bool holds = format ? !too_long : nbytes <= COPY_NBYTES;
    if (!status)
        status = fault->status;
    bool left = false;
    if (!status && holds) {
        gi_engine_reserve(item, nbytes);
        left = leave_to_worker(feed, item, tag, format, nbytes);
        too_long = !left && !hold(feed, item, &buffer, nbytes, fault);
        status = fault->status;
    }
    if (left) {
        free(buffer.at);
    } else {
        item->source.bytes = buffer.at;
        item->source.nbytes = buffer.nbytes;
    }
    item->line.pass = true;
    if (status || too_long)
        return GI_OK;
    if (format &&
        (left || is_image(format, gi_tar_entry_name(tag->entry), buffer.at, buffer.nbytes)))
        return take_image(feed, item, tag, format, err);
    if (!holds) {
        tag->kind = GI_TAR_COPY;
        feed->copying = true;
    }
    return GI_OK;
}

/* Reads the next member of the open shard, or finds its end. */
static enum gi_status next_member(struct gi_tar_feed *feed, struct gi_item *item,
                                  struct gi_err *err)
{
    struct gi_err fault = feed->fault;
    struct gi_tar_entry *entry = NULL;
    if (!fault.status)
        gi_tar_next(feed->reader, &entry, &fault);
    if (!entry) {
        end_shard(feed, item, fault.status ? &fault : NULL);
        return GI_OK;
    }
    struct gi_tar_tag *tag = new_tag(feed, item, GI_TAR_MEMBER);
    tag->entry = entry;
    item->line.input =
        gi_small_format("%s: %s", gi_tar_feed_name(feed->options.inputs[feed->shard].path),
                        gi_tar_entry_name(entry));
    tag->name = strchr(item->line.input, '\0') - strlen(gi_tar_entry_name(entry));
    item->source.member = (size_t)(tag->name - item->line.input);
    item->line.pass = true;
    if (!gi_tar_entry_is_file(entry))
        return GI_OK;
    enum gi_status status = take_member(feed, item, tag, &fault, err);
    if (status || !fault.status)
        return status;
    item->source.untag(tag);
    item->source.tag = NULL;
    end_shard(feed, item, &fault);
    return GI_OK;
}

static bool is_skipped(const struct gi_tar_feed_options *options, size_t shard)
{
    return options->skip && options->skip(options->arg, shard);
}

/* Makes the first command that runs ahead that of the open shard. */
static void take_ahead(struct gi_tar_feed *feed)
{
    feed->fetch = feed->ahead[0].fetch;
    feed->nahead--;
    memmove(feed->ahead, feed->ahead + 1, feed->nahead * sizeof *feed->ahead);
}

/* Starts the command of the shard, unless it has been started before. */
static enum gi_status start_fetch(struct gi_tar_feed *feed, const char *name, struct gi_err *fault)
{
    feed->opened = (struct stat){0};
    if (!feed->nahead || feed->ahead[0].shard != feed->shard)
        return gi_tar_fetch_start(&feed->fetch, name, feed->options.cancelled, fault);
    take_ahead(feed);
    return GI_OK;
}

/* Returns whether another command may be started. It needs space for itself, for those that run,
 * and for an output, if all are as large as the largest so far, and in a pair of feeds for as many
 * of the other feed. If no size is known yet, one may run ahead. */
static bool may_fetch(const struct gi_tar_feed *feed)
{
    bool paired = feed->options.paired;
    uint64_t nbytes = feed->largest * (feed->nahead + 2) * (paired ? 2 : 1);
    return feed->largest ? feed->nahead < AHEAD && gi_tar_fetch_has_space(feed->fetch, nbytes)
                         : !feed->nahead && !paired;
}

/* Starts the commands of the next shards, so that they are fetched while this shard is. One that
 * can't be started is started again when its turn comes. */
static void fetch_ahead(struct gi_tar_feed *feed)
{
    const struct gi_tar_feed_options *o = &feed->options;
    size_t next = feed->nahead ? feed->ahead[feed->nahead - 1].shard : feed->shard;
    while (feed->fetch && may_fetch(feed)) {
        struct fetched *ahead = &feed->ahead[feed->nahead];
        do
            next++;
        while (next < o->ninputs && is_skipped(o, next));
        if (next >= o->ninputs || !gi_shell_command(o->inputs[next].path) ||
            gi_tar_fetch_start(&ahead->fetch, o->inputs[next].path, o->cancelled, NULL))
            return;
        ahead->shard = next;
        feed->nahead++;
    }
}

void gi_tar_feed_leave(struct gi_tar_feed *feed, size_t shard)
{
    if (feed->shard != shard)
        return;
    if (!feed->fetch && feed->nahead && feed->ahead[0].shard == shard)
        take_ahead(feed);
    close_shard(feed);
}

static enum gi_status open_shard(struct gi_tar_feed *feed, struct gi_engine *engine,
                                 struct gi_err *fault)
{
    const char *path = feed->options.inputs[feed->shard].path;
    enum gi_status status = gi_shell_command(path) ? start_fetch(feed, path, fault) : GI_OK;
    if (status)
        return status;
    fetch_ahead(feed);
    if (!feed->fetch && (strcmp(path, "-") == 0 || stat(path, &feed->opened)))
        feed->opened = (struct stat){0};
    status = feed->fetch ? gi_tar_fetch_open(feed->fetch, &feed->reader, fault)
                         : gi_tar_reader_open(&feed->reader, path, fault);
    feed->engine = engine;
    if (!status)
        gi_engine_count_kept(engine, (int64_t)gi_tar_reader_memory(feed->reader));
    return status;
}

enum gi_status gi_tar_feed_next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_tar_feed *feed = self;
    const struct gi_tar_feed_options *o = &feed->options;
    struct gi_err fault = {0};
    pthread_mutex_lock(&feed->lock);
    while (feed->copying)
        pthread_cond_wait(&feed->copied, &feed->lock);
    pthread_mutex_unlock(&feed->lock);
    while (!feed->reader && feed->shard < o->ninputs && is_skipped(o, feed->shard))
        feed->shard++;
    *more = feed->shard < o->ninputs;
    if (!*more)
        return GI_OK;
    if (feed->reader || !open_shard(feed, item->turn.engine, &fault))
        return next_member(feed, item, err);
    end_shard(feed, item, &fault);
    return GI_OK;
}

enum gi_status gi_tar_feed_copy(const struct gi_tar_tag *tag, struct gi_tar_writer *writer,
                                bool *whole, struct gi_err *err)
{
    struct gi_tar_feed *feed = tag->feed;
    struct gi_buffer buffer = {0};
    enum gi_status status = GI_OK;
    do {
        buffer.nbytes = 0;
        *whole = gi_tar_read(feed->reader, &buffer, COPY_NBYTES, &feed->fault) == GI_OK;
        if (*whole)
            status = gi_tar_write(writer, buffer.at, buffer.nbytes, err);
    } while (!status && *whole && buffer.nbytes);
    free(buffer.at);
    return status;
}
