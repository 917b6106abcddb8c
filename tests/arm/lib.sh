# Skips the script that sources it, with the program as $1, if there is no program for Arm or no qemu.
# shellcheck shell=bash
give_up() {
    echo "skipped: Arm: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v qemu-aarch64 >/dev/null || give_up "no qemu-aarch64 here: try make deps test-arm"
[[ -d ${EMULATOR##* } && -x ${1-} ]] || give_up "apt has no arm64 packages here: $(tail -1 build/arm/log 2>&1)"
