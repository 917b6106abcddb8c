# gpuimg: `make deps demo` sets everything up and shows it, `make deps test` tests it.
#
#   CUDA=auto|0|1   the CUDA backend: where nvcc is found, never, always (default auto)
#   CUDA_ARCH=...   device code for one architecture, e.g. sm_90 (default: all that nvcc knows)
#   SANITIZE=1      AddressSanitizer and UndefinedBehaviorSanitizer
#   CC=gcc|clang    PREFIX=/usr/local  DESTDIR=

ifeq ($(filter -j%,$(MAKEFLAGS)),)
  MAKEFLAGS += -j$(shell nproc)
endif

CC      = gcc
NVCC   ?= nvcc
CUDA   ?= auto
PREFIX ?= /usr/local
CUDA_ARCH ?= all-major

ifeq ($(CUDA),auto)
  HAVE_CUDA := $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
else
  HAVE_CUDA := $(CUDA)
endif
ifeq ($(HAVE_CUDA),1)
  NVCC_PATH := $(shell command -v $(NVCC) 2>/dev/null)
  ifeq ($(NVCC_PATH),)
    $(error CUDA=1 wants nvcc on the PATH (or NVCC=/path/to/nvcc), and there is none)
  endif
  CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(shell readlink -f $(NVCC_PATH))))
endif

# Each configuration has its own objects; build/gpuimg is a link to the program built last.
CONFIG := $(if $(filter 1,$(HAVE_CUDA)),cuda,cpu)$(if $(filter all-major,$(CUDA_ARCH)),,-$(CUDA_ARCH))$(if $(SANITIZE),-sanitize)$(if $(filter gcc,$(CC)),,-$(notdir $(CC)))
B := build/$(CONFIG)

WARN   = -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes
CFLAGS ?= -O2 -g
# The contract "same bytes everywhere" rests on -ffp-contract=off: only fmaf() fuses.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -ffp-contract=off -fno-math-errno -pthread -I. -MMD -MP \
             -DGI_HAVE_CUDA=$(HAVE_CUDA) $(SAN) $(EXTRA_CFLAGS)
SAN    = $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
comma := ,
NVCCFLAGS = -std=c++17 -O3 -lineinfo -arch=$(CUDA_ARCH) --fmad=false -I. -MMD -MP -t 2 \
            -Xcompiler -Wall,-Wextra,-Wno-unused-parameter,-ffp-contract=off,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
LIBS   = -lpng -ljpeg -ldeflate -ljansson -lz -lm -ldl

# The kernels of the CPU are compiled once for each instruction level and picked at run time.
ifneq ($(filter x86_64 amd64,$(shell uname -m)),)
  LEVELS := scalar avx2 avx512
else
  LEVELS := scalar
endif
FLAGS_scalar :=
FLAGS_avx2   := -mavx2 -mfma -mbmi -mbmi2 -mpopcnt
FLAGS_avx512 := $(FLAGS_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512

SRC     := $(wildcard imgio/*.c imgio/*/*.c kernels/*.c kernels/cpu/device/*.c filters/*.c filters/*/*.c cli/*.c)
CPU_SRC := $(filter-out kernels/cpu/device/%,$(wildcard kernels/cpu/*.c kernels/cpu/*/*.c))
CU_SRC  := $(if $(filter 1,$(HAVE_CUDA)),$(wildcard kernels/cuda/*.cu kernels/cuda/*/*.cu))
MAIN    := $(B)/cli/main.o
OBJ     := $(SRC:%.c=$(B)/%.o) $(foreach l,$(LEVELS),$(CPU_SRC:%.c=$(B)/%.$l.o)) $(CU_SRC:%.cu=$(B)/%.cu.o)
LIB     := $(B)/libgpuimg.a
CUDA_LIBS := $(if $(filter 1,$(HAVE_CUDA)),-L$(CUDA_HOME)/lib64 -lcudart_static -lrt)

.PHONY: all
all: $(B)/gpuimg
	@ln -sfn $(CONFIG)/gpuimg build/gpuimg
	@echo "built $(B)/gpuimg ($(if $(filter 1,$(HAVE_CUDA)),with CUDA by $(NVCC_PATH) for $(CUDA_ARCH),CPU only: $(if $(filter 0,$(CUDA)),CUDA=0,no nvcc found)))"

$(B)/gpuimg: $(MAIN) $(LIB)
	$(CC) $(ALL_CFLAGS) -o $@ $(MAIN) $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

$(LIB): $(filter-out $(MAIN),$(OBJ))
	@rm -f $@
	ar rcs $@ $^

# `make deps demo`: nothing is compiled before its headers are installed.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
$(OBJ) $(MAIN): | deps
endif

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

define LEVEL_RULE
$$(B)/kernels/cpu/%.$(1).o: kernels/cpu/%.c
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) -O3 -fno-trapping-math $$(FLAGS_$(1)) -DGI_LEVEL=$(1) -DGI_LEVEL_$(1)=1 -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$l)))

$(B)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -c -o $@ $<

include tests/tests.mk

# ---- first contact ----

# Debian and Ubuntu names. nvcc comes with the CUDA Toolkit, from NVIDIA, and is never installed here.
PACKAGES := gcc make libc6-dev libpng-dev libjpeg-dev libdeflate-dev zlib1g-dev libstb-dev libjansson-dev \
            libcairo2-dev $(TEST_PACKAGES)
MISSING = $(shell for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done)
SUDO = $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: deps
deps:
ifeq ($(shell command -v apt-get 2>/dev/null),)
	@echo "no apt-get here: install what your system calls"; echo "  $(PACKAGES)"
else
	@if [ -n "$(strip $(MISSING))" ]; then \
	    set -e; echo "installing: $(strip $(MISSING))"; $(SUDO) apt-get update -q; \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(MISSING); \
	else echo "deps: nothing is missing"; fi
endif

.PHONY: demo
demo: all
	@mkdir -p demo
	@testdata/demo.sh build/gpuimg demo

.PHONY: testdata
testdata: $(B)/testdata/scene
	$(B)/testdata/scene testdata

$(B)/testdata/scene: testdata/scene.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

MANDIR  = $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR  = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

# Manual and completions are printed by the program from its own tables.
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(MANDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	install -m 755 $(B)/gpuimg $(DESTDIR)$(PREFIX)/bin/gpuimg
	set -e; $(B)/gpuimg help --man >$(MANDIR)/gpuimg.1; \
	for c in $$($(B)/gpuimg list --commands); do $(B)/gpuimg help --man $$c >$(MANDIR)/gpuimg-$$c.1; done
	$(B)/gpuimg completion bash >$(BASHDIR)/gpuimg
	$(B)/gpuimg completion zsh >$(ZSHDIR)/_gpuimg
	$(B)/gpuimg completion fish >$(FISHDIR)/gpuimg.fish

.PHONY: clean
clean:
	rm -rf build demo

-include $(shell find build -name '*.d' 2>/dev/null)
