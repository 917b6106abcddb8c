/* Helpers of the tests of imgio.
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

const char *corpora(const char *folder)
{
    static char path[1024];
    const char *root = getenv("GPUIMG_CORPORA");
    snprintf(path, sizeof path, "%s/%s", root ? root : "../shared/corpora", folder);
    if (access(path, R_OK) == 0)
        return path;
    print_message("skipped: no %s (GPUIMG_CORPORA names the folder of corpora)\n", path);
    return NULL;
}

const char *in_corpus(const char *folder, const char *name)
{
    static char paths[2][2048];
    static int turn;
    const char *root = corpora(folder);
    char *path = paths[turn++ % 2];
    if (!root)
        skip();
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

void need_programs(const char *names)
{
    char command[256];
    snprintf(command, sizeof command, "for p in %s; do command -v $p || exit; done >/dev/null",
             names);
    if (system(command) == 0)
        return;
    print_message("skipped: want the programs %s\n", names);
    skip();
}

bool format_is_built_in(const char *name)
{
    const struct gi_format_info *format;
    for (int i = 0; (format = gi_format_at(i)); i++)
        if (strcmp(format->name, name) == 0)
            return !format->missing;
    return false;
}

void need_format(const char *name)
{
    if (format_is_built_in(name))
        return;
    print_message("skipped: this build has no library for %s\n", name);
    skip();
}

struct bytes read_stream(FILE *file)
{
    struct bytes b = {NULL, 0};
    size_t capacity = 1 << 16, got;
    b.at = malloc(capacity);
    while (b.at && (got = fread(b.at + b.n, 1, capacity - b.n, file)) > 0) {
        b.n += got;
        if (b.n == capacity)
            b.at = realloc(b.at, capacity *= 2);
    }
    assert_non_null(b.at);
    return b;
}

struct bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    struct bytes b = read_stream(file);
    fclose(file);
    return b;
}

void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

struct bytes run_command(const char *format, const char *path)
{
    char command[4096];
    snprintf(command, sizeof command, format, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct bytes b = read_stream(pipe);
    if (pclose(pipe) != 0)
        b.n = 0;
    return b;
}

const char *make_folder(void)
{
    static char path[64];
    strcpy(path, "/tmp/gpuimg-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void remove_folder(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)(*state >> 33);
}

struct gi_image random_image(int width, int height, int channels, enum gi_type type, uint64_t seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, type, NULL), GI_OK);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < gi_row_samples(&image); i++) {
            uint32_t v = (uint32_t)(y * 3) + (uint32_t)i * 5 + next_random(&seed) % 40;
            if (type == GI_U8)
                ((uint8_t *)gi_row(&image, y))[i] = (uint8_t)v;
            else if (type == GI_U16)
                ((uint16_t *)gi_row(&image, y))[i] = (uint16_t)(v * 257 + next_random(&seed) % 257);
            else
                ((float *)gi_row(&image, y))[i] = (float)v / 300.0f - 0.1f;
        }
    return image;
}

void assert_same_image(const struct gi_image *a, const struct gi_image *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->type, b->type);
    for (int y = 0; y < a->height; y++)
        assert_memory_equal(gi_row(a, y), gi_row(b, y), gi_row_nbytes(a));
}

struct gi_image load_or_fail(const char *path)
{
    struct gi_image image;
    struct gi_err err = {0};
    if (gi_load(&image, NULL, NULL, path, &strictly, NULL, &err))
        fail_msg("%s", err.text);
    return image;
}

enum gi_status load_bytes(struct gi_image *image, const void *bytes, size_t n,
                          const struct gi_load_options *options, struct gi_err *warning,
                          struct gi_err *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), open = (n + page - 1) / page * page;
    unsigned char *map =
        mmap(NULL, open + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + open, page, PROT_NONE), 0);
    unsigned char *copy = memcpy(map + open - n, bytes, n);
    *err = (struct gi_err){0};
    enum gi_status status =
        gi_load_memory(image, NULL, NULL, copy, n, "test", options, warning, err);
    munmap(map, open + page);
    assert_int_equal(status, err->status);
    if (status) {
        assert_null(image->data);
        assert_true(strncmp(err->text, "test: ", 6) == 0);
    }
    return status;
}

struct gi_image decode_or_fail(const void *bytes, size_t n)
{
    struct gi_image image;
    struct gi_err err;
    if (load_bytes(&image, bytes, n, &strictly, NULL, &err))
        fail_msg("%s", err.text);
    return image;
}

void assert_refused(const void *bytes, size_t n, enum gi_status status, const char *says)
{
    struct gi_image image;
    struct gi_err err;
    enum gi_status got = load_bytes(&image, bytes, n, &strictly, NULL, &err);
    if (!got || (status && got != status) || !strstr(err.text, says))
        fail_msg("status %d, \"%s\"; want status %d, \"%s\"", got, err.text, status, says);
}

void save_or_fail(const struct gi_image *image, const char *path, struct gi_save_options options)
{
    struct gi_err err = {0};
    if (gi_save(image, NULL, path, &options, NULL, &err))
        fail_msg("%s", err.text);
}

void check_round_trip(struct gi_image image, const char *path, struct gi_save_options options)
{
    save_or_fail(&image, path, options);
    struct gi_image back = load_or_fail(path);
    assert_same_image(&image, &back);
    gi_image_free(&back);
    gi_image_free(&image);
}

void check_cuts(struct bytes file, size_t until, size_t step)
{
#ifdef __SANITIZE_ADDRESS__
    step = step < 5 ? 5 : step; /* each takes ten times as long */
#endif
    for (size_t n = 0; n < until; n += n < 400 ? 1 : step) {
        struct gi_image image;
        struct gi_err err, warning;
        assert_int_not_equal(load_bytes(&image, file.at, n, &strictly, NULL, &err), GI_OK);
        if (load_bytes(&image, file.at, n, &partially, &warning, &err) == GI_OK) {
            assert_int_equal(warning.status, GI_E_FORMAT);
            assert_true(strncmp(warning.text, "test: ", 6) == 0);
            gi_image_free(&image);
        }
    }
}

void check_truncations(struct bytes file, size_t until)
{
    check_cuts(file, until, 1);
}

void check_flips(struct bytes file, int times, uint64_t seed)
{
    print_message("%d bit flips, seed %llu\n", times, (unsigned long long)seed);
    for (int i = 0; i < times; i++) {
        size_t at = next_random(&seed) % file.n;
        unsigned char mask = (unsigned char)(1u << next_random(&seed) % 8);
        struct gi_load_options options = i % 2 ? partially : strictly;
        options.limits.max_pixels = 1 << 22;
        struct gi_image image;
        struct gi_err err;
        file.at[at] ^= mask;
        if (load_bytes(&image, file.at, file.n, &options, NULL, &err) == GI_OK)
            gi_image_free(&image);
        file.at[at] ^= mask;
    }
}

void without_libtiff(void)
{
    print_message("skipped: this build has no libtiff\n");
    skip();
}
