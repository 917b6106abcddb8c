/* Hostile ICC profiles, which are cut, flipped or given numbers that are too large, give increasing
 * curves, a conversion or an error when they are read for --linear or, for CMYK, by lcms2. This
 * takes little memory.
 * Sources: imgio/metadata/icc*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "imgio/metadata/icc.h"

enum { SAMPLES = 511, WIDTH = 9, PROFILES_MAX = 32, HANGS_S = 30, MEMORY_KIB = 64 << 10 };

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool memory_counts = false;
#else
static const bool memory_counts = true;
#endif

/* ---- malloc() whose memory ends at an inaccessible page ---- */

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void *__libc_malloc(size_t n);
void __libc_free(void *at);

enum { FENCES = 64 };
/* A malloc() of this size returns guarded memory. If 0, no memory is guarded. */
static size_t fenced_nbytes;
static int fences;
static unsigned char *fenced, *fenced_end;

void *malloc(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (n != fenced_nbytes || !n || fences == FENCES)
        return __libc_malloc(n);
    if (!fenced) {
        fenced = mmap(NULL, 2 * FENCES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fenced_end = fenced + 2 * FENCES * page;
    }
    unsigned char *at = fenced + 2 * (size_t)fences++ * page;
    return mprotect(at, page, PROT_READ | PROT_WRITE) ? NULL : at + page - n;
}

void free(void *at)
{
    if (!at || (unsigned char *)at < fenced || (unsigned char *)at >= fenced_end)
        __libc_free(at);
}
#else /* a sanitizer has its own guards */
static size_t fenced_nbytes;
static int fences = 1;
#endif

static struct profile {
    char name[256];
    struct bytes bytes;
    int colors; /* 1, 3, or 4: inks */
} profiles[PROFILES_MAX];
static int nprofiles;

static void add(const char *folder, const char *name, size_t skipped)
{
    char path[2048];
    struct profile *p = &profiles[nprofiles++];
    assert_true(nprofiles <= PROFILES_MAX);
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    p->bytes = read_file(path);
    p->bytes.n -= skipped;
    memmove(p->bytes.at, p->bytes.at + skipped, p->bytes.n);
    assert_true(p->bytes.n > 132);
    p->colors = memcmp(p->bytes.at + 16, "CMYK", 4) == 0   ? 4
                : memcmp(p->bytes.at + 16, "GRAY", 4) == 0 ? 1
                                                           : 3;
}

/* Loads whole profiles, and the fuzzer's seeds without their first byte. */
static int load_profiles(void **state)
{
    static const char seeds[] = "tests/fuzz/seeds/icc";
    DIR *dir = opendir(seeds);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            add(seeds, entry->d_name, 1);
    closedir(dir);
    const char *folder = corpora("jpeg/libjpeg-turbo");
    if (folder) {
        add(folder, "test1.icc", 0);
        add(folder, "test3.icc", 0);
    }
    return 0;
}

static bool convert(const struct profile *p, enum gi_type type)
{
    static const struct gi_load_options options;
    uint16_t inks[4 * WIDTH], rgb[3 * WIDTH];
    struct gi_metadata metadata = {.icc = malloc(p->bytes.n), .icc_nbytes = p->bytes.n};
    struct gi_err warning = {0};
    struct gi_decode decode = {.metadata = &metadata, .options = &options, .warning = &warning};
    assert_non_null(metadata.icc);
    memcpy(metadata.icc, p->bytes.at, p->bytes.n);
    struct gi_inks *made = gi_inks_new(&decode, type, type == GI_U16);
    bool good = made != NULL;
    for (int i = 0; i < 4 * WIDTH; i++)
        inks[i] = (uint16_t)(i * 1800);
    if (good)
        gi_inks_convert(made, rgb, inks, WIDTH);
    assert_int_equal(good, metadata.icc == NULL);
    gi_inks_free(&made);
    free(metadata.icc);
    return good;
}

/* Returns whether the profile can be used. */
static bool use(const struct profile *p)
{
    static double light[3 * SAMPLES];
    struct gi_metadata metadata = {.icc = p->bytes.at, .icc_nbytes = p->bytes.n};
    struct gi_err err = {0};
    bool good;
    alarm(HANGS_S);
    if (p->colors == 4) {
        good = convert(p, p->bytes.n % 2 ? GI_U8 : GI_U16);
    } else {
        good = gi_icc_curves(light, SAMPLES, p->colors, &metadata, &err) == GI_OK;
        assert_int_equal(good, !*err.text);
        for (int i = 0; good && i < p->colors * SAMPLES; i++)
            if (!(light[i] >= 0 && light[i] <= 1) || (i % SAMPLES && light[i] < light[i - 1]))
                fail_msg("%s: light %g at %d", p->name, light[i], i);
    }
    alarm(0);
    return good;
}

static bool missing(void)
{
    struct gi_metadata metadata = {.icc = profiles[0].bytes.at, .icc_nbytes = 1};
    struct gi_err err = {0};
    double light[2];
    gi_icc_curves(light, 2, 1, &metadata, &err);
    return strstr(err.text, "lcms2") != NULL;
}

TEST(whole)
{
    if (missing()) {
        print_message("skipped: no lcms2\n");
        skip();
    }
    int n = 0;
    for (int i = 0; i < nprofiles; i++) {
        bool curves = strcmp(profiles[i].name, "test3.icc") != 0; /* has only tables */
        if (use(&profiles[i]) != curves)
            fail_msg("%s", profiles[i].name);
        n += curves;
    }
    print_message("%d profiles\n", n);
}

/* Profiles are cut everywhere in the header and the table of tags, and at some places after. */
TEST(cut)
{
    for (int i = 0; i < nprofiles; i++) {
        struct profile p = profiles[i];
        size_t n = p.bytes.n, step = p.colors == 4 ? 1 + n / 25 : 1 + n / 256;
        for (p.bytes.n = 1; p.bytes.n < n; p.bytes.n += p.colors != 4 && p.bytes.n < 400 ? 1 : step)
            use(&p);
    }
}

TEST(flipped)
{
    uint64_t seed = 14;
    for (int i = 0; i < nprofiles; i++)
        for (int k = 0; k < (profiles[i].colors == 4 ? 16 : 300); k++) {
            struct bytes b = profiles[i].bytes;
            /* Half of the changes are in the first 2048 bytes, because long profiles have their
             * tables there. */
            size_t at = next_random(&seed) % (k % 2 && b.n > 2048 ? 2048 : b.n);
            unsigned char before = b.at[at];
            b.at[at] = k % 4 < 3 ? before ^ (unsigned char)(1u << k % 8) : 0xff;
            use(&profiles[i]);
            b.at[at] = before;
        }
}

/* The table of tags is cut within its first entry. Nothing may be read past the end. */
TEST(cut_tags)
{
    for (int i = 0; i < nprofiles; i++) {
        struct profile p = profiles[i];
        p.bytes.n = fenced_nbytes = 128 + 4 + 4; /* ICC.1:2022, 7.2 and 7.3 */
        assert_false(use(&p));
        fenced_nbytes = 0;
    }
    assert_true(fences > 0);
}

static void put32(unsigned char *p, uint32_t v)
{
    for (int b = 0; b < 4; b++)
        p[b] = (unsigned char)(v >> (24 - 8 * b));
}

/* Each word at the start of a profile becomes too large in turn: the number of tags, offsets,
 * lengths, types, and grid sizes. */
TEST(too_large)
{
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
    for (const struct profile *p = profiles; p < profiles + nprofiles; p++)
        for (size_t at = 0; at + 4 <= p->bytes.n && at < 320; at += p->colors == 4 ? 20 : 4)
            /* CMYK profiles get only one word, because building a conversion takes 0.1 s. */
            for (size_t k = p->colors == 4 ? 5 : 0; k < sizeof words / sizeof *words; k++) {
                unsigned char *to = p->bytes.at + at, before[4];
                memcpy(before, to, 4);
                put32(to, words[k]);
                use(p);
                memcpy(to, before, 4);
            }
}

/* A profile of a kilobyte declares a table of 144 MB, whose grid has 70 points per axis. */
TEST(large_grid)
{
    for (int i = 0; i < nprofiles; i++) {
        unsigned char *tag =
            memmem(profiles[i].bytes.at, profiles[i].bytes.n, "mft1\0\0\0\0\4\3", 10);
        if (profiles[i].colors != 4 || !tag)
            continue;
        unsigned char before = tag[10];
        tag[10] = 70;
        assert_false(use(&profiles[i]));
        tag[10] = before;
    }
}

enum { LINKS = 20000, PROFILE = 128, TAGS = PROFILE + 4, CHAIN = TAGS + 24, MATRIX = 12 + 80 };

/* A chain of 20,000 float matrices, which all share the same bytes, precedes an ordinary table.
 * lcms2 would evaluate this chain at each of 83,521 points. */
TEST(long_chain)
{
    const struct profile *plain = NULL;
    for (int i = 0; i < nprofiles; i++)
        if (strcmp(profiles[i].name, "cmyk") == 0)
            plain = &profiles[i];
    assert_non_null(plain);
    size_t chain = 16 + 8 * LINKS + MATRIX, room = CHAIN + chain + plain->bytes.n;
    struct profile p = {.name = "chain", .colors = 4, .bytes = {calloc(1, room), room}};
    unsigned char *at = p.bytes.at, *table = plain->bytes.at + TAGS;
    assert_non_null(at);
    while (memcmp(table, "A2B0", 4) != 0)
        table += 12;
    memcpy(at, plain->bytes.at, PROFILE);
    at[8] = 4; /* version 4 */
    put32(at, (uint32_t)room);
    put32(at + PROFILE, 2);
    memcpy(at + TAGS, table, 12);
    uint32_t from = (uint32_t)table[6] << 8 | table[7];
    put32(at + TAGS + 4, (uint32_t)(CHAIN + chain));
    memcpy(at + CHAIN + chain, plain->bytes.at + from, plain->bytes.n - from);
    memcpy(at + TAGS + 12, "D2B1", 4);
    put32(at + TAGS + 16, CHAIN);
    put32(at + TAGS + 20, (uint32_t)chain);
    at += CHAIN;
    memcpy(at, "mpet\0\0\0\0\0\4\0\4", 12);
    put32(at + 12, LINKS);
    for (uint32_t i = 0; i < LINKS; i++) {
        put32(at + 16 + 8 * i, 16 + 8 * LINKS);
        put32(at + 20 + 8 * i, MATRIX);
    }
    at += 16 + 8 * LINKS;
    memcpy(at, "matf\0\0\0\0\0\4\0\4", 12);
    for (int i = 0; i < 4; i++)
        put32(at + 12 + 20 * i, 0x3f800000); /* 1 */
    assert_true(use(&p));
    free(p.bytes.at);
}

/* None of the profiles has caused a large allocation. */
TEST(little_memory)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    print_message("%ld KiB at most\n", usage.ru_maxrss);
    if (!memory_counts) {
        print_message("skipped: a sanitizer takes memory of its own\n");
        skip();
    }
    assert_in_range(usage.ru_maxrss, 1, MEMORY_KIB);
}

TEST_FRAME(.first = load_profiles)
