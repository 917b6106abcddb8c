/* What the tests of primitives and operations share.
 * SPDX-License-Identifier: MIT */
#include "cases.h"
#include "kernels/kernels.h"

#include <sys/mman.h>
#include <unistd.h>

const int case_sizes[CASE_SIZES][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {257, 129}};
const char *const case_levels[CASE_LEVELS] = {"scalar", "avx2", "avx512", "neon"};

uint64_t case_seed(void)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261123;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

uint32_t case_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

int case_between(uint64_t *seed, int lo, int hi)
{
    return lo + (int)(case_random(seed) % (uint32_t)(hi - lo + 1));
}

float case_real(uint64_t *seed)
{
    return (float)case_random(seed) / (float)(1u << 30) - 1.0f;
}

bool case_is_left_out(void)
{
#ifdef __SANITIZE_ADDRESS__
    static int met;
    return met++ % 7 > 1;
#else
    return false;
#endif
}

double case_get(const struct gi_image *image, int y, size_t i)
{
    const void *row = gi_row(image, y);
    if (image->type == GI_U8)
        return ((const uint8_t *)row)[i];
    if (image->type == GI_U16)
        return ((const uint16_t *)row)[i];
    return (double)((const float *)row)[i];
}

void case_put(struct gi_image *image, int y, size_t i, float value)
{
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)value;
    else if (image->type == GI_U16)
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)value;
    else
        ((float *)gi_row(image, y))[i] = value;
}

/* Writes the 16-bit value v in the scale of the image's type. */
static void put_u16(struct gi_image *image, int y, size_t i, uint32_t v, bool low)
{
    case_put(image, y, i,
             image->type == GI_F32  ? (float)v / 65535.0f
             : image->type == GI_U8 ? (float)(low ? v & 255 : v >> 8)
                                    : (float)v);
}

void case_fill_alpha(struct gi_image *image, uint64_t *seed)
{
    static const uint16_t ends[] = {0, 1, 2, 254, 255, 256, 65534, 65535};
    size_t channels = (size_t)image->channels, n = gi_has_alpha(image) ? gi_row_samples(image) : 0;
    for (int y = 0; y < image->height; y++)
        for (size_t i = channels - 1; i < n; i += channels)
            put_u16(image, y, i, ends[case_random(seed) >> 16 & 7], true);
}

void case_fill_samples(struct gi_image *image, uint64_t *seed)
{
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            uint32_t r = case_random(seed), pick = r >> 16 & 15;
            put_u16(image, y, i, pick == 0 ? 0 : pick < 3 ? 65535 : r & 65535, false);
        }
}

void case_fill(struct gi_image *image, uint64_t *seed)
{
    /* a copy, so that the seed of the cases after this one stays the same */
    uint64_t alpha_seed = *seed;
    bool ends = *seed >> 40 & 1;
    case_fill_samples(image, seed);
    if (ends)
        case_fill_alpha(image, &alpha_seed);
}

struct gi_image case_image(int width, int height, int channels, enum gi_type type, uint64_t *seed)
{
    struct gi_image image;
    uint64_t fresh = CASE_SEED;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, type, NULL), GI_OK);
    case_fill(&image, seed ? seed : &fresh);
    return image;
}

struct gi_border_spec case_border(uint64_t *seed, enum gi_border border, enum gi_type type)
{
    struct gi_border_spec border_spec = {.mode = border};
    bool whole = case_between(seed, 0, 1); /* numbers that integer images can hold */
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        border_spec.value[c] = (case_real(seed) + 1) / 2 * gi_type_full_scale(type);
        border_spec.value[c] = whole ? rintf(border_spec.value[c]) : border_spec.value[c];
    }
    return border_spec;
}

struct gi_queue *case_open(const struct gi_kernels *k, int threads)
{
    struct gi_open_options options = {.threads = threads};
    struct gi_queue *queue = NULL;
    struct gi_err err = {0};
    if (gi_queue_open_alone(&queue, k, &options, &err))
        fail_msg("%s", err.text);
    return queue;
}

struct gi_device *case_device(const struct gi_kernels *k, int ordinal, int threads)
{
    struct gi_device *device;
    struct gi_err err = {0};
    struct gi_open_options options = {.threads = threads, .ordinal = ordinal};
    if (k->device_open(&device, &options, &err))
        fail_msg("%s", err.text);
    return device;
}

void case_close_device(struct gi_device *device)
{
    device->k->device_close(&device);
    assert_null(device);
}

const struct gi_kernels *case_cuda(int want)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_err err = {0};
    int n = k ? k->probe(NULL, 0, &err) : 0;
    if (n >= want)
        return k;
    print_message("skipped: %s\n", !k      ? "built without CUDA"
                                   : n < 0 ? err.text
                                   : n     ? "only one CUDA device"
                                           : "no CUDA device");
    return NULL;
}

const char *case_difference(const struct gi_image *got, const struct gi_image *want, char *text,
                            size_t size)
{
    size_t nbytes = gi_type_nbytes(want->type);
    for (int y = 0; y < want->height; y++) {
        const char *a = gi_row(got, y), *b = gi_row(want, y);
        size_t i = 0;
        if (memcmp(a, b, gi_row_nbytes(want)) == 0)
            continue;
        while (memcmp(a + i * nbytes, b + i * nbytes, nbytes) == 0)
            i++;
        snprintf(text, size, "row %d, sample %zu of %zu: %g, want %g", y, i, gi_row_samples(want),
                 gi_sample(a, i, want->type), gi_sample(b, i, want->type));
        return text;
    }
    return NULL;
}

bool case_is_equal(const struct gi_image *a, const struct gi_image *b)
{
    char text[200];
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->type == b->type && !case_difference(a, b, text, sizeof text);
}

void case_equal(const struct gi_image *got, const struct gi_image *want, const char *what)
{
    char text[200];
    if (case_difference(got, want, text, sizeof text))
        fail_msg("%s: %d x %d x %d, type %d: %s", what, want->width, want->height, want->channels,
                 (int)want->type, text);
}

/* ---- guarded images ---- */

void guard_alloc(struct guard *guard, int width, int height, int channels, enum gi_type type,
                 size_t pad)
{
    struct gi_image *image = &guard->image;
    *image =
        (struct gi_image){.width = width, .height = height, .channels = channels, .type = type};
    size_t page = (size_t)sysconf(_SC_PAGESIZE), row = gi_row_nbytes(image);
    if (type == GI_U32) /* rows may hold doubles */
        pad = (pad + 7) / 8 * 8;
    image->stride = row + pad;
    size_t used = image->stride * (size_t)height - pad;
    size_t open = (used + 64 + page - 1) / page * page;
    guard->nbytes = open + page;
    guard->map =
        mmap(NULL, guard->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(guard->map != MAP_FAILED);
    memset(guard->map, GUARD_BYTE, open);
    assert_int_equal(mprotect(guard->map + open, page, PROT_NONE), 0);
    image->data = guard->map + open - used;
    for (int y = 0; y < height; y++)
        memset(gi_row(image, y), 0, row);
}

bool guard_is_whole(const struct guard *guard)
{
    const struct gi_image *image = &guard->image;
    for (const unsigned char *p = guard->map; p < (unsigned char *)image->data; p++)
        if (*p != GUARD_BYTE)
            return false;
    for (int y = 0; y + 1 < image->height; y++)
        for (size_t i = gi_row_nbytes(image); i < image->stride; i++)
            if (((unsigned char *)gi_row(image, y))[i] != GUARD_BYTE)
                return false;
    return true;
}

void guard_free(struct guard *guard)
{
    munmap(guard->map, guard->nbytes);
    guard->map = NULL;
}
