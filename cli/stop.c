/* Handles SIGINT and SIGTERM while a batch runs.
 * SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "imgio/reader.h"

/* The state is global, because a signal handler gets no argument. Any thread may run the handler,
 * and all threads may read the state. */
static atomic_int asked;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a handler may take no lock");
static struct sigaction before[2];
static const int numbers[2] = {SIGINT, SIGTERM};

static void on_signal(int number)
{
    asked = number;
    for (int i = 0; i < 2; i++)
        sigaction(numbers[i], &before[i], NULL);
}

void gi_stop_listen(void)
{
    static bool listens;
    if (listens) /* gpuimg jobs runs several batches */
        return;
    listens = true;
    gi_input_heed(gi_stop_asked);
    /* SA_RESTART is not set, because the signal must wake a thread that waits for a pipe. */
    struct sigaction act = {.sa_handler = on_signal};
    for (int i = 0; i < 2; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* signals that nohup ignores stay ignored */
            sigaction(numbers[i], &act, NULL);
    }
}

int gi_stop_signal(void)
{
    return asked;
}

bool gi_stop_asked(void)
{
    return gi_stop_signal() != 0;
}
