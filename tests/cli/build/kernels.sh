#!/bin/bash
# Each file of CUDA has as many compiled kernels as tests/cuda_kernels.txt lists.
# Sources: tests/cuda-kernels tests/cuda_kernels.txt
. "$(dirname "$0")/../lib.sh"
count=$(readlink -f "$tests/../cuda-kernels") build=$(dirname "$GPUIMG")
if ! command -v readelf >/dev/null; then
    skip "kernels: no readelf (binutils)"
    finish
    exit
fi
if compgen -G "$build/kernels/cuda/*/*.cu.o" >/dev/null; then
    "$count" --check "$build" >differences
    check "the compiled kernels are those of the list (tests/cuda-kernels build/${build##*/} >tests/cuda_kernels.txt): $(head -5 differences)" test ! -s differences
else
    skip "kernels: $(basename "$build") has no CUDA objects"
fi

# The check can fail. These objects have names of kernels as those of nvcc do.
if command -v gcc >/dev/null; then
    mkdir -p tree/tests tree/kernels/cuda/tone tree/build/kernels/cuda/tone
    cp "$count" tree/tests/
    touch tree/kernels/cuda/tone/{one,two,new}.cu
    printf '2 kernels/cuda/tone/one.cu\n3 kernels/cuda/tone/two.cu\n1 kernels/cuda/tone/gone.cu\n' >tree/tests/cuda_kernels.txt
    names='const char *names[] = {"_Z4tonehi", "_Z80toneIhLi1ELb0EEvP16device_reduction8gi_image4walk_and_a_long_name", "_z", "a _Z4toneti"};'
    for name in one two new old; do
        gcc -O1 -c -x c -o tree/build/kernels/cuda/tone/$name.cu.o - <<<"$names"
    done
    expect_stdout "$(printf 'kernels/cuda/tone/gone.cu: none, the list says 1\nkernels/cuda/tone/new.cu: 2, the list says nothing\nkernels/cuda/tone/two.cu: 2, the list says 3')" \
        tree/tests/cuda-kernels --check tree/build
    expect_stdout "$(printf '2 kernels/cuda/tone/%s.cu\n' new one two)" tree/tests/cuda-kernels tree/build
else
    skip "kernels: no gcc to make objects that differ"
fi
finish
