/* Runs work in a subprocess. The output of the work comes back through a pipe, and an error through
 * shared memory.
 * SPDX-License-Identifier: MIT */
#include "cli/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "imgio/library.h"
#include "imgio/reader.h"
#include "imgio/small.h"

enum { PIECE_NBYTES = 1 << 16 };

/* Limits the memory of this process to what it has and that much more. */
static void limit_memory(void)
{
    enum { MORE_NBYTES = 1 << 30 };
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool known = file && fscanf(file, "%llu", &pages) == 1;
    if (file)
        fclose(file);
    struct rlimit limit;
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE_NBYTES;
    if (known && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_AS, &limit);
    }
}

/* Ends the child, whose error the parent makes. */
static void end_child(void)
{
    _exit(GI_EXIT_AGAIN);
}

/* Runs in the child: writes the output to standard output, and stores an error in *fault. */
static _Noreturn void work_in_child(pid_t parent, int to, unsigned seconds, gi_subprocess_fn *work,
                                    const void *arg, struct gi_err *fault)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};
    struct gi_sink *sink;
    /* The child must not remove the parent's temporary files, nor outlive the parent, whose thread
     * waits for the child. */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    gi_small_ends_by(end_child);
    signal(SIGALRM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the call */
        _exit(GI_EXIT_AGAIN);
    alarm(seconds);
    limit_memory();
    int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (silent >= 0)
        dup2(silent, STDERR_FILENO);
    else
        close(STDERR_FILENO);
    enum gi_status status = dup2(to, STDOUT_FILENO) < 0 ? gi_fail(fault, gi_status_of_errno(errno),
                                                                  "a pipe: %s", strerror(errno))
                                                        : gi_sink_open(&sink, "-", false, fault);
    if (!status)
        status = work(sink, arg, fault);
    if (!status)
        status = gi_sink_commit(&sink, false, fault);
    _exit(status != GI_OK);
}

/* Passes on everything that the child writes. */
static enum gi_status pass_on(struct gi_sink *sink, int from, struct gi_err *err)
{
    unsigned char piece[PIECE_NBYTES];
    for (;;) {
        if (!gi_input_wait(from))
            return gi_fail(err, GI_E_IO, "ended by a signal");
        ssize_t n = read(from, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gi_fail(err, gi_status_of_errno(errno), "a pipe: %s", strerror(errno));
        if (n == 0)
            return GI_OK;
        enum gi_status status = gi_sink_write(sink, piece, (size_t)n, err);
        if (status)
            return status;
    }
}

/* Converts the child's exit to a status. */
static enum gi_status judge(int ending, const struct gi_err *fault, const char *what,
                            unsigned seconds, struct gi_err *err)
{
    if (WIFEXITED(ending) && WEXITSTATUS(ending) == 0)
        return GI_OK;
    if (WIFEXITED(ending) && WEXITSTATUS(ending) == GI_EXIT_AGAIN)
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory", what);
    if (WIFEXITED(ending) && fault->status)
        return gi_fail(err, fault->status, "%s: %s", what, fault->text);
    if (WIFSIGNALED(ending) && WTERMSIG(ending) == SIGALRM)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: took more than %u s", what, seconds);
    return gi_fail(err, GI_E_UNSUPPORTED, "%s: the library that does it crashed", what);
}

/* `ends`: of the pipe. */
static enum gi_status run(struct gi_sink *sink, const char *what, unsigned seconds,
                          gi_subprocess_fn *work, const void *arg, int ends[2],
                          struct gi_err *fault, struct gi_err *err)
{
    int ending = 0, why = 0;
    gi_library_hold();
    pid_t parent = getpid(), child = fork();
    why = child < 0 ? errno : 0;
    gi_library_release();
    if (child == 0)
        work_in_child(parent, ends[1], seconds, work, arg, fault);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return gi_fail(err, GI_E_MEMORY, "%s: no process for it: %s", what, strerror(why));
    }
    enum gi_status status = pass_on(sink, ends[0], err);
    close(ends[0]);
    if (status)
        kill(child, SIGKILL);
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR)
        ;
    return status ? status : judge(ending, fault, what, seconds, err);
}

#if defined(__SANITIZE_ADDRESS__)
#define GI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GI_ASAN 1
#endif
#endif

/* Returns whether a subprocess can do work. Under AddressSanitizer that is so only without other
 * threads: its allocator (of LLVM 14) may be locked by one of them for ever in the child. */
static bool can_fork(void)
{
#ifdef GI_ASAN
    unsigned threads = 0;
    FILE *file = fopen("/proc/self/stat", "re");
    bool known = file && fscanf(file,
                                "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                                "%*u %*u %*d %*d %*d %*d %u",
                                &threads) == 1;
    if (file)
        fclose(file);
    return !known || threads == 1;
#else
    return true;
#endif
}

enum gi_status gi_subprocess_run(struct gi_sink *sink, const char *what, unsigned seconds,
                                 gi_subprocess_fn *work, const void *arg, struct gi_err *err)
{
    int ends[2];
    if (!can_fork())
        return work(sink, arg, err) ? gi_err_prefix(err, "%s", what) : GI_OK;
    struct gi_err *fault =
        mmap(NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fault == MAP_FAILED)
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory", what);
    enum gi_status status =
        pipe2(ends, O_CLOEXEC)
            ? gi_fail(err, gi_status_of_errno(errno), "%s: %s", what, strerror(errno))
            : run(sink, what, seconds, work, arg, ends, fault, err);
    munmap(fault, sizeof *fault);
    return status;
}
