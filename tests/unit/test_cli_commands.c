/* When an allocation fails in a whole command, which runs in this process, the command either
 * succeeds with all of its files, or fails and leaves each file complete or unchanged.
 * Sources: cli/commands
 * SPDX-License-Identifier: MIT */
#include "command_line.h"
#include "failing_memory.h"
#include "imgio_folder.h"

#include <ftw.h>
#include <sys/stat.h>

enum { FILES = 64 };

/* The files in a folder. The contents of reports are not kept, because they differ from run to
 * run. */
static struct files {
    int n;
    char *names[FILES];
    struct bytes bytes[FILES];
} * listed;

static bool is_report(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, ".jsonl") == 0;
}

static int list_one(const char *name, const struct stat *st, int what, struct FTW *at)
{
    if (what != FTW_F)
        return 0;
    assert_true(listed->n < FILES);
    listed->names[listed->n] = strdup(name);
    listed->bytes[listed->n++] = is_report(name) ? (struct bytes){NULL, 0} : read_file(name);
    return 0;
}

static struct files list_files(void)
{
    struct files files = {0};
    listed = &files;
    assert_int_equal(nftw(".", list_one, 16, FTW_PHYS), 0);
    return files;
}

static void free_files(struct files *files)
{
    for (int i = 0; i < files->n; i++) {
        free(files->names[i]);
        free(files->bytes[i].at);
    }
}

static int find(const struct files *files, const char *name)
{
    for (int i = 0; i < files->n; i++)
        if (strcmp(files->names[i], name) == 0)
            return i;
    return -1;
}

/* Returns whether file i of `got` is also in `files`, with the same bytes. */
static bool is_of(const struct files *files, const struct files *got, int i)
{
    int j = find(files, got->names[i]);
    return j >= 0 && files->bytes[j].n == got->bytes[i].n &&
           (got->bytes[i].n == 0 ||
            memcmp(files->bytes[j].at, got->bytes[i].at, got->bytes[i].n) == 0);
}

/* Removes the files that the command has made, and restores the files that it has overwritten. */
static void put_back(const struct files *before)
{
    struct files now = list_files();
    for (int i = 0; i < now.n; i++)
        if (!is_of(before, &now, i))
            unlink(now.names[i]);
    for (int i = 0; i < before->n; i++)
        if (!is_of(&now, before, i))
            write_file(before->names[i], before->bytes[i].at, before->bytes[i].n);
    free_files(&now);
}

static const char *const lines[] = {
    "convert said.png out.png",
    "blur a.ppm out.png --linear --k 3",
    "orient said.png out.png --as 6",
    "blur --k 3 a.ppm b.pgm --out-dir out --report r.jsonl",
    "blur --k 3 a.ppm b.pgm --out-dir done --report done.jsonl --resume",
    "invert --out {tree}/{stem}{index}.{ext} --files-from list --shard 1/2",
    "histogram b.pgm c.pgm --table t.csv",
    ("extract b.pgm t.json --at 50% --labels l.npy --mask m.pgm --overlay o.png --crops crops "
     "--points p.csv"),
    "extract a.ppm t.json --at 50% --overlay o.png --labels-picture l.png --crops crops",
    "extract d.pgm t.csv --at 50% --overlay o.png --crops crops --crop-format png",
    "blur s.pnm out.pnm --k 3 --format pnm",
    "erode b.pgm out.pgm --mask d.pgm",
    "mask b.pgm out.png --with c.pgm --label 3",
    "blur in.y4m out.y4m --k 3",
    "compare b.pgm b.pgm --diff d.png",
    "run blur_|_histogram_--format_csv_--to_h.csv b.pgm",
    "montage a.ppm b.pgm sheet.png",
    "stack --by median b.pgm c.pgm b.pgm out.pfm",
    "channels split a.ppm x.pgm y.pgm z.pgm",
    "report merge done.jsonl -o all.jsonl",
    "histogram b.pgm c.pgm --out-dir out --format json",
    "compare --pairs pairs --table t.csv",
    "invert b.pgm c.pgm --out-dir out --fail-fast --memory 1K --threads 1",
};

static void check(const char *line, int n, enum gi_status status, const struct files *before,
                  const struct files *after)
{
    struct files got = list_files();
    for (int i = 0; i < got.n; i++)
        if (!is_of(after, &got, i) && (!status || !is_of(before, &got, i)) &&
            !(status &&
              strcmp(got.names[i], "./t.csv") == 0)) /* its lines of the other files remain */
            fail_msg("%s: allocation %d: status %d and another %s", line, n, status, got.names[i]);
    for (int i = 0; i < after->n && !status; i++)
        if (find(&got, after->names[i]) < 0)
            fail_msg("%s: allocation %d: no %s", line, n, after->names[i]);
    free_files(&got);
}

static int own_fds; /* open files of this process */

static int run_line(void *line)
{
    struct gi_err err = {0};
    enum gi_status status = run_command_line(line, true, &err);
    stop_failing();
    assert_int_equal(count_files("/proc/self/fd"), own_fds);
    return (int)status;
}

TEST(memory_runs_out)
{
    struct files before = list_files();
    own_fds = count_files("/proc/self/fd");
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        struct gi_err err = {0};
        int failed = 0;
        if (run_command_line(lines[l], false, &err))
            fail_msg("%s: %s", lines[l], err.text);
        struct files after = list_files();
        assert_true(after.n > before.n || strstr(lines[l], "--resume"));
        for (int n = 1, done = !can_fail; !done; n++) {
            put_back(&before);
            bool came;
            int result = run_without_memory(n, run_line, (void *)lines[l], &came);
            enum gi_status status = result == SMALL_FAILED ? GI_E_MEMORY : (enum gi_status)result;
            done = !came;
            failed += status != GI_OK;
            check(lines[l], n, status, &before, &after);
        }
        put_back(&before);
        free_files(&after);
        print_message("%s: %d allocations failed it\n", lines[l], failed);
        assert_true(failed > (can_fail ? 2 : -1));
    }
    free_files(&before);
}

/* Writes an image that has a text, EXIF, XMP and a resolution. */
static void write_said(void)
{
    static char keyword[] = "Title", xmp[] = "<x:xmpmeta/>",
                exif[] = "II*\0\10\0\0\0\1\0\x98\x82\2\0\4\0\0\0abc\0\0\0\0";
    struct gi_text text = {keyword, "", "", "what it shows"};
    const struct gi_metadata said = {.exif = exif,
                                     .exif_nbytes = sizeof exif - 1,
                                     .dpi_x = 100,
                                     .dpi_y = 100,
                                     .xmp = xmp,
                                     .xmp_nbytes = sizeof xmp - 1,
                                     .texts = &text,
                                     .ntexts = 1,
                                     .texts_nbytes = 30};
    const struct gi_save_options options = {.format = "png"};
    struct gi_image image = random_image(9, 7, 3, GI_U8, 3);
    assert_int_equal(gi_save(&image, &said, "said.png", &options, NULL, NULL), GI_OK);
    gi_image_free(&image);
}

static void write_inputs(void)
{
    struct gi_err err = {0};
    const struct gi_save_options plain = {0};
    struct gi_image color = random_image(20, 16, 3, GI_U8, 1);
    struct gi_image gray = random_image(20, 16, 1, GI_U8, 2);
    write_said();
    assert_int_equal(gi_save(&color, NULL, "a.ppm", &plain, NULL, NULL), GI_OK);
    assert_int_equal(gi_save(&gray, NULL, "b.pgm", &plain, NULL, NULL), GI_OK);
    *(unsigned char *)gray.data ^= 9;
    assert_int_equal(gi_save(&gray, NULL, "c.pgm", &plain, NULL, NULL), GI_OK);
    struct gi_image deep = random_image(20, 16, 1, GI_U16, 4);
    assert_int_equal(gi_save(&deep, NULL, "d.pgm", &plain, NULL, NULL), GI_OK);
    gi_image_free(&deep);
    assert_int_equal(system("cat b.pgm c.pgm >s.pnm; printf 'a.ppm\\nb.pgm\\nc.pgm\\n' >list; "
                            "printf 'b.pgm\\tb.pgm\\n' >pairs; "
                            "(printf 'YUV4MPEG2 W4 H2 C420\\n'; for i in 1 2; do printf "
                            "'FRAME\\nabcdefghijkl'; done) >in.y4m"),
                     0);
    assert_int_equal(
        run_command_line("blur --k 3 a.ppm --out-dir done --report done.jsonl", false, &err),
        GI_OK);
    gi_image_free(&color);
    gi_image_free(&gray);
}

static int start(void **state)
{
    setenv("GPUIMG_DEVICE", "cpu", 1);
    setenv("GPUIMG_RATES", "/dev/null", 1);
    enter_folder(state);
    write_inputs();
    return 0;
}

TEST_FRAME(.first = start, .last = leave_folder)
