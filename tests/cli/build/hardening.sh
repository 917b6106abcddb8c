#!/bin/bash
# The program is compiled with hardening options, which readelf and objdump confirm.
# Sources: Makefile
. "$(dirname "$0")/../lib.sh"
folder=$(basename "$(dirname "$GPUIMG")")
if [[ $folder == *-sanitize* || $folder == *-debug* ]]; then
    skip "hardening: $folder is a build for finding errors"
    finish
    exit
fi
if ! command -v readelf >/dev/null || ! command -v objdump >/dev/null; then
    skip "hardening: no readelf or objdump (binutils)"
    finish
    exit
fi
readelf -lW "$GPUIMG" >segments
readelf -dW "$GPUIMG" >dynamic
readelf --dyn-syms -W "$GPUIMG" >symbols
check "the stack is not executable" grep -qE 'GNU_STACK .* RW +0x' segments
check "the program is position-independent" grep -q '^Elf file type is DYN' segments
check "relocations are read-only" grep -q GNU_RELRO segments
check "all symbols are bound at the start" grep -qE 'FLAGS.*NOW' dynamic
check "the stack has guards" grep -q __stack_chk_fail symbols
check "copies are checked (_FORTIFY_SOURCE)" grep -qE '__(memcpy|snprintf|vsnprintf|fprintf)_chk' symbols
check "debug sections are compressed" test "$(readelf -SW "$GPUIMG" | grep ' \.debug_info ' | grep -c ' C ')" = 1
check "there is no run path" test "$(grep -cE 'RPATH|RUNPATH' dynamic)" = 0
case $(uname -m) in
    x86_64) landing=endbr64 ;;
    aarch64) landing='bti|paciasp' ;;
    *) landing= ;;
esac
# Probes of the stack say how far a frame reaches.
if [[ $(uname -m) == x86_64 ]]; then
    check "no function has more than 128 KiB on the stack" python3 - "$GPUIMG" <<'PY'
import re, subprocess, sys
name, large = "", {}
for line in subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]], stdout=subprocess.PIPE, text=True).stdout.splitlines():
    head = re.match("[0-9a-f]+ <(.*)>:", line)
    name = head[1] if head else name
    frame = re.search(r"(?:lea +-|sub +\$)0x([0-9a-f]+)(?:\(%rsp\),%r11|,%rsp)$", line)
    if frame and 128 << 10 < int(frame[1], 16) < 1 << 40:
        large[name] = int(frame[1], 16)
sys.exit(f"larger: {large}" if large else 0)
PY
fi
if [[ $landing ]]; then
    check "targets of indirect calls are marked" test "$(objdump -d "$GPUIMG" | grep -cE "$landing")" -gt 300
else
    skip "hardening: no marks for targets of calls on $(uname -m)"
fi
finish
