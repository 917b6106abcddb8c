/* A plugin of qemu that counts the instructions that a program executes, and prints "instructions
 * N" on stderr. The declarations are those of version 1 of qemu's plugin interface, because Debian
 * does not ship qemu's header.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define GI_VISIBLE __attribute__((visibility("default")))

struct qemu_plugin_tb;
enum { ADD = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*made)(uint64_t id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int op, void *counter,
                                              uint64_t by);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*done)(uint64_t id, void *arg), void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
GI_VISIBLE int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

GI_VISIBLE int qemu_plugin_version = 1;
static uint64_t instructions; /* exact for one thread; with several threads, counts may be lost */

static void block_made(uint64_t id, struct qemu_plugin_tb *block)
{
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &instructions,
                                             qemu_plugin_tb_n_insns(block));
}

static void program_done(uint64_t id, void *arg)
{
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_made);
    qemu_plugin_register_atexit_cb(id, program_done, NULL);
    return 0;
}
