/* Commands of the shell, for tars (pipe:COMMAND).
 * SPDX-License-Identifier: MIT */
#include "cli/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/shell_watchdog.h"
#include "cli/stop.h"
#include "imgio/small.h"

enum {
    GROUPS = 64,    /* maximum number of commands that a signal handler ends */
    WAIT_MS = 5,    /* time between two looks at a command */
    KILL_MS = 2000, /* time that a command has to end after SIGTERM, before SIGKILL */
};

struct gi_shell {
    const char *name;
    pid_t pid; /* also the number of its process group */
    bool ended;
    int ending; /* once it has ended: as from waitpid() */
};

/* The process groups that a signal handler must end, or 0. They are global because the handler gets
 * no argument for them. A number is removed before its process is waited for, so that it can't be
 * that of another process. */
static _Atomic(pid_t) groups[GROUPS];

static void replace_group(pid_t from, pid_t to)
{
    for (int i = 0; i < GROUPS; i++) {
        pid_t expected = from;
        if (atomic_compare_exchange_strong(&groups[i], &expected, to))
            return;
    }
}

void gi_shell_signal_cleanup(void)
{
    int saved = errno;
    for (int i = 0; i < GROUPS; i++) {
        pid_t group = atomic_load(&groups[i]);
        if (group)
            kill(-group, SIGTERM);
    }
    errno = saved;
}

const char *gi_shell_command(const char *name)
{
    static const char prefix[] = "pipe:";
    size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/* The environment of commands. Its strings are those of environ, which setenv() replaces, but
 * neither changes nor frees. */
static struct {
    pthread_mutex_t lock;
    char **strings; /* NULL: not kept so far */
} environment = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gi_shell_keep_environment(void)
{
    pthread_mutex_lock(&environment.lock);
    if (!environment.strings) {
        size_t n = 1; /* the NULL at the end */
        while (environ[n - 1])
            n++;
        environment.strings = gi_small_alloc(n * sizeof *environment.strings);
        memcpy(environment.strings, environ, n * sizeof *environment.strings);
    }
    pthread_mutex_unlock(&environment.lock);
}

/* Spawns the shell. Returns 0 or an error number. posix_spawn() copies no page tables, which
 * fork() does, and which takes long in a process with much memory. */
static int spawn(pid_t *pid, const char *command, int from, int to, int watchdog)
{
    const char *const argv[] = {"sh", "-c", gi_watchdog_register, command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE); /* main() ignores them, and the command would inherit that */
    sigaddset(&reset, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    int why = from >= 0 ? posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO)
                        : posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                                           O_RDONLY, 0);
    if (!why)
        why = posix_spawn_file_actions_adddup2(&files, to >= 0 ? to : STDERR_FILENO, STDOUT_FILENO);
    if (!why)
        why = posix_spawn_file_actions_adddup2(&files, watchdog, GI_WATCHDOG_FD);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&how, &reset);
    posix_spawnattr_setsigmask(&how, &none);
    if (!why)
        why = posix_spawn(pid, "/bin/sh", &files, &how, (char *const *)argv, environment.strings);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return why;
}

/* Returns the descriptor by which a command registers at the watchdog, or -1. */
static int open_watchdog(void)
{
    bool again;
    pthread_mutex_lock(&environment.lock);
    int fd = gi_watchdog_open(environment.strings, &again);
    for (int i = 0; i < GROUPS && fd >= 0 && again; i++) {
        pid_t group = atomic_load(&groups[i]);
        if (group)
            gi_watchdog_add(group);
    }
    pthread_mutex_unlock(&environment.lock);
    return fd;
}

enum gi_status gi_shell_start(struct gi_shell **out, const char *name, int from, int to,
                              struct gi_err *err)
{
    struct gi_shell *shell = gi_small_calloc(1, sizeof *shell);
    shell->name = name;
    *out = NULL;
    gi_shell_keep_environment();
    /* If it were ignored, the exit status would be lost. */
    signal(SIGCHLD, SIG_DFL);
    int watchdog = open_watchdog();
    int why = watchdog < 0 ? errno : spawn(&shell->pid, gi_shell_command(name), from, to, watchdog);
    if (why) {
        free(shell);
        return gi_fail(err, GI_E_AGAIN, "%s: no process for it: %s", name, strerror(why));
    }
    replace_group(0, shell->pid);
    *out = shell;
    return GI_OK;
}

/* Returns whether the process has ended. It is left as it is, so that its number stays its own
 * until reap(). */
static bool is_over(const struct gi_shell *shell)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)shell->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static void reap(struct gi_shell *shell)
{
    replace_group(shell->pid, 0);
    gi_watchdog_remove(shell->pid);
    while (waitpid(shell->pid, &shell->ending, 0) < 0 && errno == EINTR)
        ;
    shell->ended = true;
}

bool gi_shell_has_ended(struct gi_shell *shell)
{
    if (!shell->ended && is_over(shell))
        reap(shell);
    return shell->ended;
}

/* Waits for a moment, which a signal may shorten. */
static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * 1000000L}, NULL);
}

enum gi_status gi_shell_wait(struct gi_shell *shell, const atomic_bool *cancelled,
                             struct gi_err *err)
{
    enum { NOT_FOUND = 127 }; /* as POSIX defines for sh */
    while (!gi_shell_has_ended(shell)) {
        if (gi_stop_asked() || (cancelled && *cancelled))
            return gi_fail(err, GI_E_IO, "%s", "");
        pause_briefly();
    }
    int ending = shell->ending, code = WEXITSTATUS(ending);
    if (WIFSIGNALED(ending))
        return gi_fail(err, GI_E_AGAIN, "%s: was ended by signal %d (%s)", shell->name,
                       WTERMSIG(ending), strsignal(WTERMSIG(ending)));
    if (code)
        return gi_fail(err, code == GI_EXIT_AGAIN ? GI_E_AGAIN : GI_E_IO,
                       "%s: has the exit status %d%s, want 0", shell->name, code,
                       code == NOT_FOUND ? " (no such command)" : "");
    return GI_OK;
}

/* Ends the command, and all of its descendants that have not left its session. */
static void end(struct gi_shell *shell)
{
    kill(-shell->pid, SIGTERM);
    for (int ms = 0; ms < KILL_MS && !is_over(shell); ms += WAIT_MS)
        pause_briefly();
    kill(-shell->pid, SIGKILL);
    reap(shell);
}

void gi_shell_close(struct gi_shell **out)
{
    struct gi_shell *shell = *out;
    *out = NULL;
    if (shell && !gi_shell_has_ended(shell))
        end(shell);
    free(shell);
}
