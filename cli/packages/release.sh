#!/bin/bash
# Checks that a release agrees with itself. Usage: release.sh [PROGRAM FOLDER]
# Without arguments it looks at the sources: the version and its date in cli/command.h, the first entry of CHANGELOG.md, versions that
# README.md names, and that nothing is uncommitted. With arguments it looks at the program and its manual, and writes
# FOLDER/SHA256SUMS. UNRELEASED=1 turns what is wrong into warnings, to try the packages before a release.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/#define GI_VERSION  *"\(.*\)"/\1/p' cli/command.h)
date=$(sed -n 's/#define GI_VERSION_DATE "\([^"]*\)".*/\1/p' cli/command.h)
wrong=0

agrees() { # agrees WHAT COMMAND...: the command must succeed
    local what=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "release: $what" >&2
    wrong=1
}

if (($# == 0)); then
    entry=$(grep -m 1 '^## ' CHANGELOG.md)
    agrees "CHANGELOG.md begins with \"$entry\", want \"## $version, $date\" (cli/command.h)" test "$entry" = "## $version, $date"
    others=$(grep -oE 'gpuimg[-_][0-9]+\.[0-9]+\.[0-9]+' README.md | grep -vE "^gpuimg[-_]${version//./\\.}\$" | sort -u | paste -sd' ' || true)
    agrees "README.md names $others, and this is $version" test -z "$others"
    agrees "files are not committed: $(git status --short | head -3 | paste -sd' ')" test -z "$(git status --porcelain)"
else
    program=$1 folder=$2
    "$program" --version >"$folder/version.txt"
    agrees "$program says $(head -1 "$folder/version.txt"), want gpuimg $version" grep -qx "gpuimg $version" "$folder/version.txt"
    agrees "$program says $(sed -n 2p "$folder/version.txt"), want $(git rev-parse --short HEAD)" \
        grep -qE "^commit: $(git rev-parse --short HEAD)[0-9a-f]*\$" "$folder/version.txt"
    agrees "$program has code for too few GPUs ($(sed -n 4p "$folder/version.txt")): want CUDA_ARCH=all" \
        grep -q '^GPUs: sm_75 sm_80 sm_90 ' "$folder/version.txt"
    rm "$folder/version.txt"
    for page in "" $("$program" list --commands) $("$program" list --topics); do
        # shellcheck disable=SC2086 # no page is no argument
        agrees "the manual of ${page:-gpuimg} has another version or date" \
            grep -q "^\.TH .* 1 $date \"gpuimg $version\"" <("$program" help --man $page)
    done
    for wheel in "$folder"/*.whl; do
        agrees "$wheel is larger than 100 MB" test "$(stat -c %s "$wheel")" -lt 100000000
    done
    (cd "$folder" && sha256sum -- *"$version"* >SHA256SUMS)
    cat "$folder/SHA256SUMS"
fi
((!wrong)) || [[ ${UNRELEASED-} ]] || exit 1
