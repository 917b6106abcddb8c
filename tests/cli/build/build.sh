#!/bin/bash
# Output of the Makefile: the GPUs that it builds for, missing headers and tools; the files that install writes and uninstall
# removes.
# Sources: Makefile
. "$(dirname "$0")/../lib.sh"
top=$(readlink -f "$tests/../..")
# A fake system: all programs of this one except nvcc, nvidia-smi, sudo and apt.
mkdir bin fake
for tool in sh env sed awk grep find cat rm mkdir readlink date dirname touch printf timeout nproc uname id gcc ar make; do
    ln -s "$(command -v $tool)" bin/
done
fake() { # fake NAME SCRIPT
    printf '#!/bin/sh\n%s\n' "$2" >"fake/$1"
    chmod +x "fake/$1"
}
mk() { env -i PATH="$work/fake:$work/bin" make -C "$top" --no-print-directory "$@"; }
says() { # says NAME PATTERN GOAL...: what make would do has a line that the pattern matches
    local name=$1 pattern=$2
    shift 2
    mk -n "$@" >out 2>&1
    check "$name" grep -qE -- "$pattern" out
}

says "no nvcc: said" '^building build/cpu: CPU only \(no nvcc found\)$'
says "CUDA=0: said" '^building build/cpu: CPU only \(CUDA=0\)$' CUDA=0
fake nvcc '[ "$1" != --list-gpu-code ] || printf "sm_80\nsm_90\n"'
says "no GPU: all" '^building build/cuda: .* for every GPU'
says "no GPU: the demo is built without CUDA, and says how to build with it" \
    '^building build/cpu: CPU only \(no GPU here: make CUDA=1 builds for every GPU .* minutes .*, CUDA_ARCH=sm_90 for one in [0-9]+\)$' deps demo
mk -n demo CUDA=0 B="$work/new" | grep -oE "n=[^;]*; .*printf 'compiling.*" >recipes
sh recipes >progress
check "the demo compiles many files" test "$(wc -l <recipes)" -gt 300
check "and prints a line for each tenth of them" grep -qxE "9|10" <(sort -u progress | wc -l)
check "the last one near the end" grep -qE '(9[0-9]|100) %' progress
says "unless CUDA is asked for" '^building build/cuda: .* for every GPU' deps demo CUDA=1
says "or a GPU" '^building build/cuda-sm_80: .* for sm_80' demo CUDA_ARCH=sm_80
says "no GPU: tests compile CUDA for one" '^building build/cuda-quick: .* no GPU: compiled only' deps test
says "with little optimization" 'nvcc .*-gencode "arch=compute_90,code=sm_90" .*-Ofc max .*/clahe\.cu$' unit B="$work/new"
says "but not where the program is installed" '^building build/cuda: .* for every GPU' test install
says "all: code for the majors, PTX for the rest" '"arch=compute_75,code=\[sm_75,sm_80,sm_90,[^]]*,compute_75\]".*/clahe\.cu$' B="$work/new"
says "code of its own for 8.0" '"arch=compute_80,code=\[sm_80,sm_90,[^]]*,compute_80\]".*/separable_rows\.cu$' B="$work/new"
for source in $(grep -lE 'GI_CUDA_ARCH (>=|==|>) (9|1[0-9])' "$top"/kernels/cuda/*/*.cu); do
    says "$(basename "$source"): code of its own for 9.0" \
        "\"arch=compute_90,code=\[sm_90,[^]]*,compute_90\]\".*/$(basename "$source")\$" B="$work/new"
done
fake nvidia-smi 'exit 9'
says "nvidia-smi fails: all" '^building build/cuda: .* for every GPU'
fake nvidia-smi 'echo 9.0; echo 9.0'
says "the GPU at hand, for the demo" '^building build/cuda-sm_90: .* for sm_90 \(the GPU here' deps demo
says "for tests too" '^building build/cuda-sm_90: .* for sm_90 \(the GPU here' deps test
says "the GPU at hand" '^building build/cuda-sm_90: .* for sm_90 \(the GPU here'
says "its code without PTX" 'nvcc .*-gencode "arch=compute_90,code=sm_90"' B="$work/new"
says "CUDA_ARCH says otherwise" '^building build/cuda-sm_75-sm_80: ' CUDA_ARCH='sm_75 sm_80'
says "CUDA_ARCH=all too" '^building build/cuda: ' CUDA_ARCH=all
fake nvidia-smi 'echo 6.1'
says "a GPU that nvcc does not know: all" '^building build/cuda: .* for every GPU'
fake nvidia-smi 'echo "[N/A]"'
says "a GPU without a name: all" '^building build/cuda: .* for every GPU'

expect 0 mk -s help
check "make help lists the goals" test "$(grep -cE '^  make (all|deps|test|install|uninstall|debug|bench) ' out)" = 7

# Missing headers are reported in one line, before anything is compiled.
fake gcc 'echo "x.c:1:10: fatal error: png.h: No such file or directory" >&2; exit 1'
expect 2 mk CUDA=0 CC="$work/fake/gcc" B="$work/b"
check "a missing header is named" grep -qx 'gpuimg: png.h is missing: try make deps' err
expect 2 mk CUDA=0 CC=nogcc B="$work/b"
check "a missing compiler is named" grep -qx 'gpuimg: nogcc is missing: try make deps' err
expect 0 mk -s deps CUDA=0
check "without apt-get deps prints a list of packages" grep -q '^deps: no apt-get here: install what your system calls gcc make' out
fake dpkg-query 'exit 1'
fake apt-get 'echo "apt-get $*" >>'"$work/apt"
fake id 'echo 1000'
expect 2 mk -s deps CUDA=0
check "without sudo deps prints the command for root" grep -q '^deps: no sudo here; as root: apt-get install --no-install-recommends gcc make' err
check "and deps does nothing else" test "$(wc -l <err)" -le 2 -a ! -e apt
fake id 'echo 0'
expect 0 mk -s deps CUDA=0
check "deps installs packages to build and run" grep -q '^apt-get install .* libpng-dev' apt
check "deps: apt-get tries again if a registry fails" test "$(grep -c '^apt-get [a-z]* -o Acquire::Retries=[1-9]' apt)" = 2
check "and so does all else that makefiles get from registries" test -z \
    "$(cd "$top" && grep -hE 'apt-get download|pip install|(xargs|-w) mmdebstrap' Makefile tests/tests.mk cli/packages/packages.mk | grep -viE 'retries')"
check "deps alone does not install packages for tests" test "$(grep -c cmocka apt)" = 0
rm apt
mk -s deps unit CUDA=0 B="$work/b" CC=nogcc >out 2>&1
check "deps with a test goal installs packages for tests" grep -q '^apt-get install .* libcmocka-dev' apt
check "but not the large oracles" test "$(grep -cE 'skimage|opencv|ffmpeg' apt)" = 0
rm apt
mk -s deps test-oracles CUDA=0 B="$work/b" CC=nogcc >out 2>&1
check "which the goal test-oracles installs" grep -q '^apt-get install .* python3-skimage python3-opencv ffmpeg' apt
says "make ends with its time" 'echo "built .* in \$\(\(\$\(date \+%s\) - [0-9]+\)\) s: ' CUDA=0

# If make deps installs the compiler, its options are tested afterwards, so that hardening is not lost.
ln -s "$(command -v as)" bin/as
fake apt-get "$(command -v ln) -sf $(command -v gcc) $work/bin/latecc"
expect 0 mk -j1 deps "$work/b2/cli/log.o" CUDA=0 CC=latecc B="$work/b2" V=1
check "deps: the first object is hardened too" grep -q -- '-fstack-protector-strong .*log.c' out

# A line per file, with its share of those that are missing; with V=1 the commands.
expect 0 mk -j1 "$work/b3/cli/log.o" CUDA=0 CC="$(command -v gcc)" B="$work/b3"
check "a line per file" grep -qxE '\[  0 %\] CC cli/log\.c' out
check "and no command" test "$(grep -c -- '-std=c11' out)" = 0
expect 0 mk -j1 "$work/b3/cli/text.o" CUDA=0 CC="$(command -v gcc)" B="$work/b3" V=1
check "V=1: the command" grep -q -- '-std=c11 .*text.c' out
mk -n CUDA=0 CC="$(command -v gcc)" B="$work/b4" >shares 2>&1
check "the shares end at 100 %" test "$(grep -oE '[0-9]+ \* 100 / [0-9]+' shares | tail -1 | awk '{print $1 - $5}')" = 0
check "a kernel counts three times" test "$(grep -oE '[0-9]+ \* 100 / .* \(avx2\)' shares | head -2 | awk '{n = $1 - n} END {print n}')" = 3
rm -f bin/as bin/latecc

# Tests run in sessions of their own: a shell that wants the terminal (bash -i) would wait for it for ever in the background of
# `make test` at a terminal. Ctrl-C ends the tests that run.
mkdir -p runs/tests/cli/topic
cp "$top/tests/run" "$top/tests/map" runs/tests/
printf "bash -i -c 'echo \$- >shell' </dev/null\necho '1 passed, 0 failed'\n" >runs/tests/cli/topic/shell.sh
expect 0 timeout 60 script -qec "cd '$work/runs' && TEST_SECONDS=20 tests/run b '' tests/cli/topic" /dev/null
check "an interactive shell in a test, at a terminal" grep -q '^1 passed, 0 failed, 0 skipped' <(tr -d '\r' <out)
check "and it was interactive" grep -q i runs/shell
printf 'echo $$ >pid\nexec sleep 60\n' >runs/tests/cli/topic/shell.sh
for jobs in 1 2; do
    rm -f runs/pid
    (cd runs && TEST_JOBS=$jobs exec tests/run b '' tests/cli/topic >/dev/null 2>&1) &
    for _ in {1..100}; do [[ -s runs/pid ]] && break; sleep 0.1; done
    kill -TERM $!
    wait $!
    check "a signal to the tests ends them, $jobs at a time" bash -c "for _ in {1..50}; do kill -0 $(cat runs/pid) || exit 0; sleep 0.1; done; exit 1"
done

# The build of `make test` is installed and uninstalled.
if [[ ${MAKELEVEL-} ]] && make -C "$top" -q "${GPUIMG#"$top"/}" >/dev/null 2>&1; then
    expect 0 make -s -C "$top" install DESTDIR="$work/root" PREFIX=/usr
    check "install: the program runs" root/usr/bin/gpuimg --version
    check "install: the program is stripped" test "$(wc -c <root/usr/bin/gpuimg)" -lt "$(wc -c <"$GPUIMG")"
    sanitized || check "install: the program is below 30 MB" test "$(wc -c <root/usr/bin/gpuimg)" -lt 30000000
    site=$("${PYTHON:-$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || echo python3)}" -c 'import sysconfig; print(sysconfig.get_path("purelib", "posix_prefix", {"base": "/usr"}))')
    for module in __init__ ray _operations; do
        check "install: the Python module $module" test -s "root$site/gpuimg/$module.py" -o -s "root/usr/lib/python3/dist-packages/gpuimg/$module.py"
    done
    check "install: a manual page per command" test -s root/usr/share/man/man1/gpuimg-blur.1 -a -s root/usr/share/man/man1/gpuimg.1
    for topic in $(gpuimg list --topics); do
        check "install: a manual page for the topic $topic" test -s "root/usr/share/man/man1/gpuimg-$topic.1"
    done
    expect 0 make -s -C "$top" uninstall DESTDIR="$work/root" PREFIX=/usr
    check "uninstall: no file is left" test -z "$(find root -type f)"
else
    skip "install: it runs only under make test"
fi

finish
