/* The amount of free memory is read from files of the kernel: /proc/meminfo and the files of
 * cgroups (cgroups(7), cgroup-v2.rst).
 * Sources: cli/run/memory_budget*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "imgio_folder.h"
#include "cli/run/memory_budget.h"

#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/memory"

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", folder, name);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int start(void **state)
{
    setup(state);
    put("/proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:   1000 kB\n");
    return 0;
}

TEST(no_groups)
{
    assert_int_equal(gi_memory_free(folder), 1024000);
    put("/proc/self/cgroup", "0::/user.slice\n");
    assert_int_equal(gi_memory_free(folder), 1024000);
    put(V2 "/user.slice/memory.max", "max\n");
    put(V2 "/user.slice/memory.current", "5000\n");
    assert_int_equal(gi_memory_free(folder), 1024000);
    teardown(state);
    setup(state);
    assert_int_equal(gi_memory_free(folder), 0);
}

TEST(version_2)
{
    put("/proc/self/cgroup", "0::/a/b.scope\n");
    put(V2 "/a/b.scope/memory.max", "600000\n");
    put(V2 "/a/b.scope/memory.current", "500000\n");
    assert_int_equal(gi_memory_free(folder), 100000);
    put(V2 "/a/b.scope/memory.stat", "anon 7\ninactive_file 200000\nactive_file 9\n");
    assert_int_equal(gi_memory_free(folder), 300000);
    put(V2 "/a/b.scope/memory.high", "550000\n");
    assert_int_equal(gi_memory_free(folder), 250000);
    put(V2 "/a/memory.max", "90000\n"); /* the parent group has the tighter limit */
    put(V2 "/a/memory.current", "20000\n");
    assert_int_equal(gi_memory_free(folder), 70000);
    put(V2 "/a/memory.current", "100000\n");
    assert_int_equal(gi_memory_free(folder), 1);
}

/* In a container the root of the visible hierarchy is the process's group, although
 * /proc/self/cgroup names that group as it is seen from outside. */
TEST(container)
{
    put("/proc/self/cgroup", "0::/kubepods/pod7/x\n");
    put(V2 "/memory.max", "500000\n");
    put(V2 "/memory.current", "100000\n");
    assert_int_equal(gi_memory_free(folder), 400000);
    put("/proc/self/cgroup", "0::/\n");
    assert_int_equal(gi_memory_free(folder), 400000);
}

TEST(version_1)
{
    put("/proc/self/cgroup",
        "9:name=systemd:/x\n5:cpu,cpuacct:/x\n4:hugetlb,memory:/job/7\n0::/\n");
    put(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
    put(V1 "/memory.usage_in_bytes", "800000\n");
    /* the group of another controller, whose limit does not count */
    put(V1 "/x/memory.limit_in_bytes", "1000\n");
    assert_int_equal(gi_memory_free(folder), 1024000);
    put(V1 "/job/7/memory.limit_in_bytes", "300000\n");
    put(V1 "/job/7/memory.usage_in_bytes", "200000\n");
    put(V1 "/job/7/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
    assert_int_equal(gi_memory_free(folder), 150000);
}

TEST_FRAME(.before = start, .after = teardown)
