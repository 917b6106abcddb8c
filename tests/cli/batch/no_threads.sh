#!/bin/bash
# If no thread can be started, commands do their work in the calling thread, with the same bytes and errors.
# Usage: no_threads.sh GPUIMG
# Sources: kernels/parallel.c imgio/tar/tar_stream* imgio/tar/tar_write.c imgio/row_stream* cli/run/file_rows.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

# The stack of a thread is as large as the limit of the main thread's stack; this is more than the address space.
without_threads() { (ulimit -S -s 200000000000 && exec "$@"); }
if sanitized || [[ -n ${EMULATOR-} ]]; then
    skip "commands without threads: a sanitizer or emulator looks at the limit of the stack"
    finish
    exit
fi

# One thread of those that a command starts is missing, for each of them: two passes over a stream of rows start two.
compiler=$(command -v gcc || command -v clang)
if [[ -z $compiler ]]; then
    skip "commands without one of their threads: no compiler makes the library that refuses it"
else
    "$compiler" -D_GNU_SOURCE -shared -fPIC -o shim.so "$tests/../torture/shim.c" -ldl
    pgm in.pgm 300 200
    for suffix in png jpg tif; do
        gpuimg convert in.pgm "in.$suffix"
        gpuimg normalize "in.$suffix" want.pgm
        for n in {1..6}; do
            rm -f mark out.pgm
            expect 0 env GPUIMG_BAND_BYTES=9000 LD_PRELOAD="$PWD/shim.so" TORTURE="start $n" TORTURE_MARK=mark \
                "$GPUIMG" normalize "in.$suffix" out.pgm --threads 1 -v
            check "two passes of a $suffix without thread $n: in bands" grep -q 'in bands of' err
            check "two passes of a $suffix without thread $n: bytes" cmp want.pgm out.pgm
            [[ -e mark ]] || break
        done
        check "two passes of a $suffix start two threads" test "$n" -ge 3
    done
    rm -f out
fi
if without_threads python3 -c 'import threading; threading.Thread(target=print).start()' >/dev/null 2>&1; then
    skip "commands without threads: this system starts threads with a stack of any size"
    finish
    exit
fi

# alike WHAT FILE ARGUMENT...: tests that gpuimg ends with the same status, lines and FILE with and without threads.
alike() {
    local what=$1 file=$2 want
    shift 2
    gpuimg "$@" <"${input:-/dev/null}" 2>want.err
    want=$?
    mkdir with
    mv "$file" with 2>/dev/null
    without_threads "$GPUIMG" "$@" <"${input:-/dev/null}" 2>err
    check "$what: exit status" test $? = $want
    check "$what: lines" diff <(sed 's/ in [0-9.]* s, [0-9.]* [a-z]*\/s//' want.err) <(sed 's/ in [0-9.]* s, [0-9.]* [a-z]*\/s//' err)
    mkdir without
    mv "$file" without 2>/dev/null
    check "$what: bytes" diff -r with without
    rm -r with without
}

for i in {0..7}; do pgm "in$i.pgm" $((300 + i)) 200; done
alike "an image" out.pgm gaussian --sigma 3 in0.pgm out.pgm --threads 8
alike "a PNG" out.png convert in0.pgm out.png --threads 8
alike "a batch" out blur --out-dir out in?.pgm --threads 8
gpuimg convert in0.pgm in.png
gpuimg convert in0.pgm in.jpg
gpuimg convert in0.pgm in.tif
export GPUIMG_BAND_BYTES=9000
for suffix in png jpg tif pgm; do
    cp in0.pgm in.pgm
    alike "bands of a $suffix" out.pgm blur in.$suffix out.pgm --threads 8
    alike "two passes of a $suffix" out.pgm normalize in.$suffix out.pgm --threads 8
    head -c 5000 in.$suffix >cut.$suffix
    alike "bands of a cut $suffix" out.pgm blur cut.$suffix out.pgm --threads 8
done
unset GPUIMG_BAND_BYTES

tar cf in.tar in?.pgm
head -c 1200000 /dev/urandom >video.bin
for pack in gzip bzip2 xz zstd; do
    if ! command -v $pack >/dev/null; then
        skip "there is no $pack"
        continue
    fi
    tar -I $pack -cf "in.tar.$pack" in?.pgm video.bin in0.pgm
    alike "a tar by $pack" out.tar blur --tar "in.tar.$pack" out.tar --threads 8
    head -c 700000 "in.tar.$pack" >cut.tar
    alike "a cut tar by $pack" out.tar blur --tar cut.tar out.tar --threads 8
    alike "a command's tar by $pack" out.tar blur --tar "pipe:cat in.tar.$pack" out.tar --threads 8
done
alike "a command's tar" out.tar blur --tar 'pipe:cat in.tar' out.tar
input=in.tar.gzip
alike "a tar of standard input" out.tar blur --tar - out.tar
gpuimg blur --tar - want.tar <in.tar.gzip 2>/dev/null
# shellcheck disable=SC2002 # a pipe
cat in.tar.gzip | without_threads "$GPUIMG" blur --tar - out.tar 2>err
same "a tar of a pipe" want.tar out.tar
if command -v zstd >/dev/null; then
    gpuimg blur --tar in.tar want.tar 2>/dev/null
    without_threads "$GPUIMG" blur --tar in.tar out.tar.zst 2>err
    zstd -dqf out.tar.zst -o out.tar
    same "a tar that is compressed by zstd" want.tar out.tar
fi
finish
