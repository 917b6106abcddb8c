#!/bin/bash
# The program is built so that a fault is hard to use: readelf and objdump tell.
. "$(dirname "$0")/lib.sh"
folder=$(basename "$(dirname "$GPUIMG")")
if [[ $folder == *-sanitize* || $folder == *-debug* ]]; then
    skip "hardening: $folder is for finding faults"
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
check "the stack holds no code" grep -qE 'GNU_STACK .* RW +0x' segments
check "position-independent" grep -q '^Elf file type is DYN' segments
check "relocations are read-only" grep -q GNU_RELRO segments
check "all of them, from the start" grep -qE 'FLAGS.*NOW' dynamic
check "the stack is guarded" grep -q __stack_chk_fail symbols
check "copies are checked" grep -qE '__(memcpy|snprintf|vsnprintf|fprintf)_chk' symbols
check "no run path" test "$(grep -cE 'RPATH|RUNPATH' dynamic)" = 0
case $(uname -m) in
    x86_64) landing=endbr64 ;;
    aarch64) landing='bti|paciasp' ;;
    *) landing= ;;
esac
if [[ $landing ]]; then
    check "calls land where they may" test "$(objdump -d "$GPUIMG" | grep -cE "$landing")" -gt 300
else
    skip "hardening: no marks of calls on $(uname -m)"
fi
finish
