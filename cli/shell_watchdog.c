/* A process that ends the commands of pipe:COMMAND after this process.
 *
 * PR_SET_PDEATHSIG would not do: it depends on the thread that started the command, and reaches
 * only the shell, not the programs that the shell has started. Instead the watchdog reads a pipe
 * whose writing end closes with this process, however that dies. A command holds the writing end
 * until it has registered itself, so that the watchdog knows all commands when the pipe ends.
 * SPDX-License-Identifier: MIT */
#include "cli/shell_watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A second shell runs the command, because the text of the command may hold anything. */
const char gi_watchdog_register[] = "echo \"+ $$\" >&3 && exec 3>&- && exec /bin/sh -c \"$0\"";

/* $groups has the process groups, with a blank before and after each. Groups get SIGTERM, and those
 * that remain for 2 s get SIGKILL, as from gi_shell_close(). */
static const char script[] =
    "trap '' HUP INT TERM\n"
    "cd /\n"
    "groups=' '\n"
    "while read -r sign group; do\n"
    "    case $sign$groups in\n"
    "    +*) groups=\"$groups$group \" ;;\n"
    "    *\" $group \"*)\n"
    "        groups=\"${groups%%\" $group \"*} ${groups#*\" $group \"}\" ;;\n"
    "    esac\n"
    "done\n"
    "for group in $groups; do kill -s TERM -- -$group; done\n"
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
    "    left=\n"
    "    for group in $groups; do\n"
    "        kill -s 0 -- -$group && left=\"$left $group\"\n"
    "    done\n"
    "    groups=$left\n"
    "    test \"$groups\" || exit\n"
    "    sleep 0.1\n"
    "done\n"
    "for group in $groups; do kill -s KILL -- -$group; done\n";

/* The watchdog is one for the whole process. */
static struct {
    pthread_mutex_t lock;
    int fd; /* writing end of the pipe; -1: there is no watchdog */
} writing = {PTHREAD_MUTEX_INITIALIZER, -1};

/* Starts the watchdog with standard input `from`. Returns 0 or an error number. */
static int spawn(int from, char **environment)
{
    const char *const argv[] = {"sh", "-c", script, "gpuimg watchdog", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    int why = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
    /* A reader of this process's output must not wait for the watchdog. */
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && !why; fd++)
        why = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    if (!why)
        why = posix_spawn(&pid, "/bin/sh", &files, &how, (char *const *)argv, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return why;
}

static int start(char **environment)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    int why = spawn(ends[0], environment);
    close(ends[0]);
    if (!why)
        return ends[1];
    close(ends[1]);
    errno = why;
    return -1;
}

int gi_watchdog_open(char **environment, bool *again)
{
    pthread_mutex_lock(&writing.lock);
    struct pollfd gone = {.fd = writing.fd}; /* a pipe without a reader has POLLERR */
    *again = writing.fd >= 0 && poll(&gone, 1, 0) == 1;
    if (*again)
        close(writing.fd);
    if (*again || writing.fd < 0)
        writing.fd = start(environment);
    int fd = writing.fd;
    pthread_mutex_unlock(&writing.lock);
    return fd;
}

static void tell(char sign, pid_t group)
{
    char line[32];
    int n = snprintf(line, sizeof line, "%c %ld\n", sign, (long)group);
    pthread_mutex_lock(&writing.lock);
    while (write(writing.fd, line, (size_t)n) < 0 && errno == EINTR)
        ;
    pthread_mutex_unlock(&writing.lock);
}

void gi_watchdog_add(pid_t group)
{
    tell('+', group);
}

void gi_watchdog_remove(pid_t group)
{
    tell('-', group);
}
