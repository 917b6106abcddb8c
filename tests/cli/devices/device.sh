#!/bin/bash
# The choice of a device: its messages, and that every device gives the same bytes.
# Sources: cli/run/session* cli/args/device_options* cli/commands/devices.c kernels/device* kernels/cuda_absent.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 301 203
expect 0 gpuimg gaussian in.pgm want.pgm --sigma 3 --device cpu
check "without -v no message is printed" test ! -s err

expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cpu -v --threads 1
check "-v names device, reason and estimates" grep -qE '^gpuimg: gaussian: device cpu \([a-z0-9]+, 1 thread\): by --device; estimated [0-9.e+-]+ s on cpu(, (at best )?[0-9.e+-]+ s on cuda)?$' err
[[ -e /dev/nvidiactl || -e /dev/dxg || -e /dev/nvmap ]] || check "-v estimates no GPU if there is none" test "$(grep -c 'on cuda' err)" = 0
check "-v names the ways that ran" grep -qE '^gpuimg: gaussian: ways cpu: convolve_separable [a-z]+$' err
check "-v prints two lines" test "$(wc -l <err)" = 2
GPUIMG_DEVICE=cpu expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 -v
check "-v under GPUIMG_DEVICE" grep -q 'by GPUIMG_DEVICE' err
expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device auto -v
check "a small image stays on the CPU under auto" grep -qE 'device cpu .*(the quicker by estimate|no CUDA backend|no NVIDIA driver here)' err
expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3
check "auto prints no message" test ! -s err

GPUIMG_TEAR_DOWN=1 expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3
check "GPUIMG_TEAR_DOWN does not change the bytes" cmp got.pgm want.pgm

expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cpu --timing
for stage in decode upload gaussian download encode total; do
    check "--timing: $stage" grep -qE "^$stage +[0-9]+\.[0-9]+ ms" err
done
check "--timing: bytes and rate of the step" grep -qE '^gaussian .* [0-9]+ bytes +[0-9.]+ GB/s' err

# The message for a wrong level lists those of this build.
GPUIMG_CPU=none expect 2 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cpu
levels=$(sed -n 's/.*GPUIMG_CPU=none: want one of //p' err | tr -d ,)
check "scalar is a level of every build" test "${levels##* }" = scalar
case $(od -An -tx1 -j18 -N1 "$GPUIMG") in # ELF's e_machine
*3e) check "x86 has no level neon" test "$levels" = "avx512 avx2 scalar" ;;
*b7) check "Arm has the level neon" test "$levels" = "neon scalar" ;;
esac
for threads in 1 2 3 7 64; do
    for level in $levels; do
        GPUIMG_CPU=$level expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cpu --threads $threads
        check "$threads threads, $level" cmp got.pgm want.pgm
    done
done

if gpuimg devices | grep -q '^cuda:'; then
    expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cuda -v
    check "CUDA gives the same bytes" cmp got.pgm want.pgm
    check "-v names CUDA" grep -q 'device cuda:0: by --device' err
    expect 0 gpuimg gaussian in.pgm got.pgm --sigma 3 --device cuda:0 --max-device-bytes 100K --timing
    check "CUDA in bands gives the same bytes" cmp got.pgm want.pgm
    check "--timing counts the bands" grep -q '^gaussian .* in [0-9]* bands' err
    for words in "histogram in.pgm --format json" "threshold in.pgm - --format pgm"; do
        # shellcheck disable=SC2086 # words are words
        expect 0 gpuimg $words --device cpu
        mv out want
        # shellcheck disable=SC2086
        expect 0 gpuimg $words --device cuda --max-device-bytes 30K
        check "${words%% *} in bands gives the same output" cmp out want
    done
    expect_error 1 'extract: --device cuda: out of device memory: extract needs all 301 x 203 pixels there at once; want --device cpu or auto, or more --max-device-bytes' \
        extract in.pgm made.csv --device cuda --max-device-bytes 30K
else
    skip "--device cuda: $(gpuimg devices | sed -n 's/^cuda *none: //p')"
fi

finish
