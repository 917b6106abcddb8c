/* gpuimg bench --quick: times whole commands, from file to file, beside vips and ImageMagick.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/bench_quick.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/process.h"
#include "cli/stop.h"
#include "imgio/imgio.h"

extern char **environ;

enum { WIDTH = 1600, HEIGHT = 1200, WORDS_MAX = 12, PROGRAMS = 3 };

static const double SECONDS = 1; /* for the runs of a command, of which the fastest counts */

/* Commands that do the same, by words separated by spaces, run in the folder with the pictures. */
struct work {
    const char *name;
    const char *commands[PROGRAMS]; /* without the name of the program */
};

static const struct work works[] = {
    {"gaussian, sigma 3, PPM to PPM",
     {"gaussian in.ppm out.ppm --sigma 3", "gaussblur in.ppm out.ppm 3",
      "in.ppm -blur 0x3 out.ppm"}},
    {"median 5 x 5, PPM to PPM",
     {"median in.ppm out.ppm --k 5", "rank in.ppm out.ppm 5 5 12",
      "in.ppm -statistic Median 5x5 out.ppm"}},
    {"resize to 800 x 600, JPEG to JPEG",
     {"resize in.jpg out.jpg --size 800x600", "thumbnail in.jpg out.jpg 800",
      "in.jpg -resize 800x600 out.jpg"}},
    {"rotate by 90 degrees, PNG to PNG",
     {"rotate in.png out.png --angle 90", "rot in.png out.png d90", "in.png -rotate 90 out.png"}},
    {"sharpen, JPEG to JPEG",
     {"sharpen in.jpg out.jpg", "sharpen in.jpg out.jpg", "in.jpg -unsharp 0x1 out.jpg"}},
    {"histogram equalization, PPM to PPM",
     {"equalize in.ppm out.ppm", "hist_equal in.ppm out.ppm", "in.ppm -equalize out.ppm"}},
};

static const char *const pictures[] = {"in.ppm", "in.jpg", "in.png"};
static const char *const outputs[] = {"out.ppm", "out.jpg", "out.png"};

void gi_bench_draw(struct gi_image *image)
{
    uint32_t noise = 1;
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = gi_row(image, y);
        for (int x = 0; x < image->width * image->channels; x++) {
            int wave = (x / 7 * 37 + y / 5 * 11) % 256 - 128;
            int swell = abs((x + y) % 512 - 256);
            noise = noise * 1664525 + 1013904223; /* constants: Numerical Recipes, 1992 */
            row[x] = (uint8_t)((swell * 3 + (wave > 60 ? 120 : 60) + (int)(noise >> 28)) / 4);
        }
    }
}

static enum gi_status save_pictures(const char *folder, struct gi_err *err)
{
    struct gi_image image = {0};
    struct gi_save_options options = {.quality = 90, .compression = GI_COMPRESSION_AUTO};
    enum gi_status status = gi_image_alloc(&image, WIDTH, HEIGHT, 3, GI_U8, err);
    if (!status)
        gi_bench_draw(&image);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && !status; i++) {
        char path[4096];
        struct gi_err warning = {0};
        snprintf(path, sizeof path, "%s/%s", folder, pictures[i]);
        status = gi_save(&image, NULL, path, &options, &warning, err);
    }
    gi_image_free(&image);
    return status;
}

/* Runs a program in the current folder, without output. Returns its milliseconds, or a negative
 * number if it is not installed or fails. */
static double run_once(const char *program, const char *command)
{
    char text[160], *words[WORDS_MAX + 2] = {(char *)program}, *rest = NULL;
    int n = 1, ends = 0;
    snprintf(text, sizeof text, "%s", command);
    for (char *word = strtok_r(text, " ", &rest); word && n <= WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    posix_spawn_file_actions_t quiet;
    if (posix_spawn_file_actions_init(&quiet))
        return -1;
    for (int fd = 1; fd <= 2; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
    double start = gi_now_ms();
    pid_t child;
    bool started = posix_spawnp(&child, program, &quiet, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    while (started && waitpid(child, &ends, 0) == -1 && errno == EINTR)
        ;
    double ms = gi_now_ms() - start;
    return started && WIFEXITED(ends) && WEXITSTATUS(ends) == 0 ? ms : -1;
}

/* Returns the milliseconds of the fastest run, or a negative number. */
static double fastest(const char *program, const char *command)
{
    double start = gi_now_ms(), best = run_once(program, command);
    while (best >= 0 && !gi_stop_asked() && gi_now_ms() - start < 1e3 * SECONDS) {
        double ms = run_once(program, command);
        best = ms >= 0 && ms < best ? ms : best;
    }
    return best;
}

/* Prints a row, with how many times as long the other programs take. */
static enum gi_status time_work(const struct work *work, const char *const programs[PROGRAMS],
                                struct gi_err *err)
{
    double ms[PROGRAMS];
    printf("%-36s", work->name);
    for (int i = 0; i < PROGRAMS && !gi_stop_asked(); i++) {
        ms[i] = fastest(programs[i], work->commands[i]);
        if (ms[i] < 0 && i == 0 && !gi_stop_asked())
            return gi_fail(err, GI_E_UNSUPPORTED, "gpuimg %s: failed", work->commands[0]);
        if (ms[i] < 0)
            printf(" %16s", "-");
        else if (i == 0)
            printf(" %13.0f ms", ms[i]);
        else
            printf(" %6.0f ms %5.1fx", ms[i], ms[i] / ms[0]);
        fflush(stdout);
    }
    putchar('\n');
    return gi_cli_flush(err);
}

static void remove_folder(const char *folder)
{
    char path[4096];
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        for (int j = 0; j < 2; j++) {
            snprintf(path, sizeof path, "%s/%s", folder, j ? outputs[i] : pictures[i]);
            unlink(path);
        }
    rmdir(folder);
}

enum gi_status gi_bench_quick(struct gi_err *err)
{
    const char *below = getenv("TMPDIR"), *magick = "convert";
    char folder[4000], self[4096] = {0};
    snprintf(folder, sizeof folder, "%s/gpuimg-bench-XXXXXX", below && *below ? below : "/tmp");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return gi_fail(err, GI_E_IO, "/proc/self/exe: %s", strerror(errno));
    gi_stop_listen();
    if (!mkdtemp(folder) || chdir(folder))
        return gi_fail(err, GI_E_IO, "%s: %s", folder, strerror(errno));
    enum gi_status status = save_pictures(folder, err);
    if (!status && run_once("magick", "-version") >= 0)
        magick = "magick";
    const char *const programs[PROGRAMS] = {self, "vips", magick};
    if (!status)
        printf(
            "Whole commands on one picture of %d x %d, RGB, 8 bits: the fastest run, and how many\n"
            "times as long as gpuimg another program takes.\n\n%-36s %16s %16s %16s\n",
            WIDTH, HEIGHT, "", "gpuimg", "vips", "ImageMagick");
    for (size_t i = 0; i < sizeof works / sizeof *works && !status && !gi_stop_asked(); i++)
        status = time_work(&works[i], programs, err);
    remove_folder(folder);
    return status;
}
