/* Helpers of the tests of imgio: corpora, files, the output of other programs, random images, and
 * files that are cut or damaged.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "imgio/imgio.h"

static const struct gi_load_options strictly = {
    .limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}};
static const struct gi_load_options partially = {
    .limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}, .allow_partial = true};

/* Returns the folder of a corpus. If the folder is missing, counts the test as skipped and returns
 * NULL. */
const char *corpora(const char *folder);

/* Returns the path of a file of a corpus, valid until the second call after this one. If the corpus
 * is missing, skips the test. */
const char *in_corpus(const char *folder, const char *name);
/* Skips the test if a program is missing. `names` are separated by spaces. */
void need_programs(const char *names);
/* Returns whether the library of a format was there when this was built. need_format() skips the
 * test otherwise. */
bool format_is_built_in(const char *name);
void need_format(const char *name);

struct bytes {
    unsigned char *at;
    size_t n;
};

/* Returns all bytes of `file`, which stays open. The caller frees them. */
struct bytes read_stream(FILE *file);
struct bytes read_file(const char *path);
void write_file(const char *path, const void *bytes, size_t n);
/* Returns the output of a shell command, or no bytes (n is 0) if the command fails. */
struct bytes run_command(const char *format, const char *path);
/* Makes a folder for this test program; remove_folder() removes it. */
const char *make_folder(void);
/* Number of entries in `folder`. */
int count_files(const char *folder);
void remove_folder(const char *folder);

uint32_t next_random(uint64_t *state);
/* Makes noise on a ramp, so that the filters and predictors of file formats have an effect. */
struct gi_image random_image(int width, int height, int channels, enum gi_type type, uint64_t seed);
void assert_same_image(const struct gi_image *a, const struct gi_image *b);
/* Loads `path`. If that fails, fails the test with the message. */
struct gi_image load_or_fail(const char *path);
/* Loads from a copy of the bytes that ends at an inaccessible page, so that a read past the end
 * fails. */
enum gi_status load_bytes(struct gi_image *image, const void *bytes, size_t n,
                          const struct gi_load_options *options, struct gi_err *warning,
                          struct gi_err *err);
/* Loads from memory as load_bytes() does. If that fails, fails the test with the message. */
struct gi_image decode_or_fail(const void *bytes, size_t n);
/* Tests that the bytes are refused with this status (any, if it is GI_OK), and with a message that
 * contains `says`. */
void assert_refused(const void *bytes, size_t n, enum gi_status status, const char *says);
/* Writes the image. If that fails, fails the test with the message. */
void save_or_fail(const struct gi_image *image, const char *path, struct gi_save_options options);
/* Tests that the image is the same after it was written and read. Frees the image. */
void check_round_trip(struct gi_image image, const char *path, struct gi_save_options options);
/* Tests every proper prefix of the file: it must be refused or, if partial images are allowed,
 * accepted with a warning. Prefixes of `until` or more bytes are left out, because they may be
 * whole images. Beyond 400 bytes only every `step`-th prefix is tried. */
void check_cuts(struct bytes file, size_t until, size_t step);
void check_truncations(struct bytes file, size_t until);
/* Flips random single bits of the file, `times` times. Any result is accepted, but no byte outside
 * the buffers may be read or written. */
void check_flips(struct bytes file, int times, uint64_t seed);

/* Skips a test in builds without libtiff. */
void without_libtiff(void);
