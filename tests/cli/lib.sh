# Helpers of the command-line tests; each script sources this with the program's path as $1. Changes to a fresh folder; `out`
# and `err` there hold the output of the last program.
# shellcheck shell=bash disable=SC2034
GPUIMG=$(readlink -f "${1:?usage: $0 GPUIMG}")
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
# A command in the background that a signal ends before it starts would run the trap, too.
trap '((BASHPID == $$)) && cd / && rm -rf "$work"' EXIT
cd "$work" || exit 1
unset GPUIMG_DEVICE GPUIMG_CPU GPUIMG_WAY POSIXLY_CORRECT
export LC_ALL=C
# Under AddressSanitizer: fontconfig, which renders the text of plots and labels, keeps a pattern until the process ends.
export LSAN_OPTIONS=suppressions=$tests/../lsan.supp:print_suppressions=0
passed=0 failed=0 skipped=0

# shellcheck disable=SC2086 # words
gpuimg() { ${EMULATOR-} "$GPUIMG" "$@"; }

# Returns whether the program is built with a sanitizer, which needs memory of its own.
sanitized() { grep -qaE '__[at]san_init' "$GPUIMG"; }

# pass, and fail NAME DETAIL...: count a result.
pass() { ((++passed)); }
fail() {
    ((++failed))
    printf 'FAILED: %s\n' "$1"
    shift
    (($#)) && printf '    %s\n' "$@"
    return 0
}
# skip REASON: counts a test that can't run here.
skip() {
    ((++skipped))
    printf 'skipped: %s\n' "$*"
}

# check NAME COMMAND...: passes if the command succeeds.
check() {
    local name=$1
    shift
    if "$@" >check.log 2>&1; then pass; else fail "$name" "$(head -c 600 check.log)"; fi
}

# expect STATUS COMMAND...: runs the command with its output in `out` and `err` and tests the exit status.
expect() {
    local want=$1 got
    shift
    "$@" >out 2>err </dev/null
    got=$?
    if ((got == want)); then
        pass
    else
        fail "$*" "exit status $got, want $want" "$(head -c 600 err)"
    fi
}

# expect_stdout TEXT COMMAND...: tests that the command succeeds and prints exactly the text.
expect_stdout() {
    local want=$1
    shift
    expect 0 "$@"
    if [[ $(<out) == "$want" ]]; then pass; else fail "$*" "printed: $(<out)" "want: $want"; fi
}

# expect_error STATUS PATTERN ARGUMENT...: tests that gpuimg fails with one line that matches the pattern (of bash, after
# "gpuimg: "), prints nothing on stdout, and makes no file "made*".
expect_error() {
    local want=$1 pattern=$2
    shift 2
    expect "$want" gpuimg "$@"
    local text
    text=$(<err)
    # shellcheck disable=SC2053
    if [[ $text == "gpuimg: "$pattern && $(wc -l <err) == 1 ]]; then
        pass
    else
        fail "gpuimg $*" "said: $text" "want: gpuimg: $pattern"
    fi
    if [[ -s out ]]; then fail "gpuimg $*" "printed: $(head -c 200 out)"; fi
    if compgen -G 'made*' >/dev/null; then
        fail "gpuimg $*" "left: $(echo made*)"
        rm -rf made*
    fi
}

# same NAME FILE FILE: tests that both files have the same bytes.
same() { check "$1" cmp "$2" "$3"; }
# says NAME TEXT: tests that the last command printed exactly this line on stderr.
says() { if [[ $(<err) == "$2" ]]; then pass; else fail "$1" "said: $(<err)" "want: $2"; fi; }
# samples N FILE: prints the last N bytes of a file as numbers.
samples() { tail -c "$1" "$2" | od -An -tu1 | xargs; }
# expect_values VALUES FILE: tests that the last bytes of a file have these values.
expect_values() {
    local got
    got=$(samples "$(wc -w <<<"$1")" "$2")
    if [[ $got == "$1" ]]; then pass; else fail "$2" "ends in: $got" "want: $1"; fi
}
# made VALUES ARGUMENT...: tests that gpuimg, with these arguments, writes an image that ends in these values to out.pgm.
made() {
    expect 0 gpuimg "${@:2}"
    expect_values "$1" out.pgm
}

# pgm FILE WIDTH HEIGHT: writes random gray samples, the same for the same size.
pgm() {
    {
        printf 'P5\n%d %d\n255\n' "$2" "$3"
        awk -v n=$(($2 * $3)) 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%c", 1 + int(rand() * 126) }'
    } >"$1"
}

# two_regions FILE: writes 7 x 4 gray samples, a square of 90 and a ring of 40 on black.
two_regions() {
    cat >"$1" <<'END'
P2 7 4 255
90 90  0  0  0  0  0
90 90  0  0 40 40 40
 0  0  0  0 40  0 40
 0  0  0  0 40 40 40
END
}

# cluster_file NAME: prints the file that `gpuimg help cluster` shows below the line that ends in "NAME:".
cluster_file() {
    gpuimg help cluster | awk -v end="$1:" '
        /^    / || (begun && !NF) { if (taking) { begun = 1; print substr($0, 5) } next }
        begun { exit }
        NF { taking = $NF == end }'
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
}
