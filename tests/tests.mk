# Tests. Each tests/unit/test_*.c is a cmocka program; each tests/cli/*.sh and tests/filters/*.py a
# script that is given the program; tests/run adds up what they report.

TEST_PACKAGES := libcmocka-dev python3-numpy python3-scipy python3-skimage python3-pil netpbm pngcheck \
                 libjpeg-turbo-progs libpng-tools mandoc jq zsh fish clang clang-format

UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
UNIT_SHARED := $(patsubst %.c,$(B)/%.o,$(filter-out $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c)))

$(B)/tests/unit/%: tests/unit/%.c $(UNIT_SHARED) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I tests/unit -o $@ $< $(UNIT_SHARED) $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS) -lcmocka

.PHONY: unit test sanitize sanitize-cuda format check-format fuzz
unit: $(UNIT)

# ONLY=pattern runs the tests whose path holds it.
test: all $(UNIT)
	tests/run $(B) $(ONLY)

# AddressSanitizer and UndefinedBehaviorSanitizer over the same tests.
sanitize:
	$(MAKE) CUDA=0 SANITIZE=1 test

# compute-sanitizer over the kernels' tests, on a machine with a GPU.
sanitize-cuda: all $(UNIT)
	tests/sanitize-cuda $(B)

SOURCES = $(shell git ls-files '*.[ch]' '*.cu' '*.cuh')
format:
	clang-format -i $(SOURCES)
check-format:
	clang-format --dry-run --Werror $(SOURCES)

# libFuzzer over the decoders: make fuzz FUZZ_SECONDS=180 [SEEDS=folder]
FUZZ_SECONDS ?= 60
fuzz:
	@mkdir -p build/fuzz/corpus
	clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. -DGI_HAVE_CUDA=0 \
	    -o build/fuzz/fuzz_load tests/fuzz/fuzz_load.c $(wildcard imgio/*.c) $(LIBS)
	build/fuzz/fuzz_load -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 build/fuzz/corpus $(SEEDS)

# Whole commands beside vips, GraphicsMagick and ImageMagick (those that are installed), by hyperfine.
.PHONY: bench
bench: all
	$(if $(wildcard /usr/bin/python3),/usr/bin/python3,python3) tests/bench/commands.py build/gpuimg --out build/bench-commands.md

# The kernels of CUDA alone, as tables in Markdown, on a machine with a GPU.
GPU_BENCH := $(if $(filter 1,$(HAVE_CUDA)),$(patsubst %.cu,$(B)/%,$(wildcard tests/bench/gpu_*.cu)))

$(B)/tests/bench/gpu_%: tests/bench/gpu_%.cu $(LIB)
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -o $@ $< $(LIB) $(LDFLAGS) $(LIBS)

.PHONY: bench-gpu
bench-gpu: $(GPU_BENCH)
	$(if $(GPU_BENCH),,$(error bench-gpu wants a build with CUDA: nvcc on the PATH))
	set -e; for program in $^; do $$program; done
