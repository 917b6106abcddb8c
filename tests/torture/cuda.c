/* A preloaded library that makes the N-th call of the CUDA driver fail. With TORTURE="cuda N" the
 * call fails as a failed launch, and with TORTURE="cuda-memory N" as if memory had run out. The
 * file that TORTURE_MARK names is then created. If N is 0, no call fails, and the number of calls
 * is written to the file at the end. The CUDA runtime, which is linked statically, looks up the
 * driver's functions with dlsym() and cuGetProcAddress(). This library makes both return stubs that
 * count the calls. Only for x86-64.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants of cuda.h. */
enum { OUT_OF_MEMORY = 2, LAUNCH_FAILED = 719, STUBS = 1024 };

static int fails_at, code;
static bool asked;
static const char *mark;
static atomic_int calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nstubs;
void *torture_real[STUBS];

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("TORTURE"), *blank = text ? strchr(text, ' ') : NULL;
    asked = text && strncmp(text, "cuda", 4) == 0;
    code = text && strncmp(text, "cuda-memory", 11) == 0 ? OUT_OF_MEMORY : LAUNCH_FAILED;
    fails_at = blank ? atoi(blank + 1) : 0;
    mark = getenv("TORTURE_MARK");
}

static void write_mark(const char *text)
{
    long fd = mark ? syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, text, strlen(text));
    syscall(SYS_close, fd);
}

/* The stubs call this function. Returns the status with which the call must fail, or 0 if the
 * driver must be called. */
int torture_decide(void);
int torture_decide(void)
{
    if (!asked || atomic_fetch_add(&calls, 1) + 1 != fails_at)
        return 0;
    write_mark("failed");
    return code;
}

/* Stub i pushes its number i. torture_common saves the registers that hold arguments, calls
 * torture_decide(), and jumps to torture_real[i] if that returns 0. */
__asm__(".text\n"
        ".globl torture_stubs\n"
        "torture_stubs:\n"
        ".set torture_i, 0\n"
        ".rept 1024\n"
        "  .p2align 4\n"
        "  pushq $torture_i\n"
        "  jmp torture_common\n"
        "  .set torture_i, torture_i + 1\n"
        ".endr\n"
        "torture_common:\n"
        "  pushq %rdi; pushq %rsi; pushq %rdx; pushq %rcx; pushq %r8; pushq %r9; pushq %rax; pushq "
        "%r10\n"
        "  subq $128, %rsp\n"
        "  movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, "
        "48(%rsp)\n"
        "  movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, "
        "112(%rsp)\n"
        "  call torture_decide@PLT\n"
        "  movl %eax, %r11d\n"
        "  movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), "
        "%xmm3\n"
        "  movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups "
        "112(%rsp), %xmm7\n"
        "  addq $128, %rsp\n"
        "  popq %r10; popq %rax; popq %r9; popq %r8; popq %rcx; popq %rdx; popq %rsi; popq %rdi\n"
        "  testl %r11d, %r11d\n"
        "  jz 1f\n"
        "  movl %r11d, %eax\n"
        "  addq $8, %rsp\n"
        "  ret\n"
        "1:popq %r11\n"
        "  pushq %rax\n"
        "  movq torture_real@GOTPCREL(%rip), %rax\n"
        "  movq (%rax, %r11, 8), %r11\n"
        "  popq %rax\n"
        "  jmp *%r11\n");
extern char torture_stubs[];

/* Returns a stub that replaces the driver's function `real`. */
static void *stub_for(void *real)
{
    enum { STUB_NBYTES = 16 };
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < nstubs && torture_real[i] != real)
        i++;
    if (i == nstubs && nstubs < STUBS)
        torture_real[nstubs++] = real;
    pthread_mutex_unlock(&lock);
    return i < STUBS ? torture_stubs + STUB_NBYTES * i : real;
}

typedef int get_proc_fn(const char *name, void **found, int version, unsigned long long flags,
                        void *status);
static get_proc_fn *real_get_proc;

/* Calls that describe errors, and calls that return tables of functions, are never made to fail. */
static bool is_spared(const char *name)
{
    return strncmp(name, "cuGetError", 10) == 0 || strcmp(name, "cuGetExportTable") == 0;
}

static int get_proc(const char *name, void **found, int version, unsigned long long flags,
                    void *status)
{
    int failed = real_get_proc(name, found, version, flags, status);
    if (!failed && *found && strncmp(name, "cuGetProcAddress", 16) == 0)
        memcpy(found, &(get_proc_fn *){get_proc}, sizeof *found);
    else if (!failed && *found && !is_spared(name))
        *found = stub_for(*found);
    return failed;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*next)(void *, const char *);
    void *found = next ? NULL : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!next && !found)
        found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!next)
        memcpy(&next, &found, sizeof next);
    found = next(handle, name);
    if (!found || !asked || strncmp(name, "cu", 2) != 0 || is_spared(name))
        return found;
    if (strncmp(name, "cuGetProcAddress", 16) == 0) {
        memcpy(&real_get_proc, &found, sizeof found);
        memcpy(&found, &(get_proc_fn *){get_proc}, sizeof found);
        return found;
    }
    return stub_for(found);
}

/* The program ends by calling this function. */
void _exit(int status)
{
    char text[32];
    snprintf(text, sizeof text, "%d", atomic_load(&calls));
    if (asked && fails_at == 0)
        write_mark(text);
    for (;;)
        syscall(SYS_exit_group, status);
}
