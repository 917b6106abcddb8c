# gpuimg: `make deps demo` sets everything up and shows it, `make deps test` tests it, `make help` lists the rest.
#
# | CUDA=auto|0|1   the CUDA backend: if nvcc is found, never, always (default auto)
# | CUDA_ARCH=...   GPUs to build for: sm_90, "sm_80 sm_90", or all (default: those of this machine, or all); quick: code
# |                 that compiles fast and is not meant to run, the default of test goals on a machine without a GPU
# | SANITIZE=1      AddressSanitizer and UndefinedBehaviorSanitizer; SANITIZE=thread: ThreadSanitizer
# | V=1             prints whole commands instead of a line per file
# | DEBUG=1         no optimisation on the host, line numbers in CUDA kernels for profilers
# | CC=gcc|clang  EXTRA_CFLAGS=  EXTRA_NVCCFLAGS=  PREFIX=/usr/local  DESTDIR=

ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
  MAKEFLAGS += -j$(shell nproc)
endif

comma := ,
space := $() $()

CC      = gcc
NVCC   ?= nvcc
CUDA   ?= auto
PREFIX ?= /usr/local

ifeq ($(CUDA),auto)
  HAVE_CUDA := $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
else
  HAVE_CUDA := $(CUDA)
endif
ARCH_HERE := $(if $(filter 1,$(HAVE_CUDA)),$(sort $(shell timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
                 2>/dev/null | sed -n 's/^\([0-9]*\)\.\([0-9]\)$$/sm_\1\2/p')))
# CUDA code takes several times as long to compile as the rest of the program. `make deps demo` does without it where no GPU
# could run it, unless it is asked for, and tests compile it as fast as nvcc can.
ifeq ($(CUDA)$(CUDA_ARCH)$(ARCH_HERE),auto)
  ifeq ($(HAVE_CUDA),1)
    ifeq ($(or $(filter-out deps demo,$(MAKECMDGOALS)),$(if $(filter demo,$(MAKECMDGOALS)),,others)),)
      HAVE_CUDA := 0
      NO_GPU := 1
    else ifneq ($(filter unit test test-oracles test-cluster test-arm,$(MAKECMDGOALS)),)
      ifeq ($(filter install,$(MAKECMDGOALS)),)
        # Exported for tests that call make.
        export CUDA_ARCH := quick
      endif
    endif
  endif
endif
ifeq ($(HAVE_CUDA),1)
  NVCC_PATH := $(shell command -v $(NVCC) 2>/dev/null)
  ifeq ($(NVCC_PATH),)
    $(error CUDA=1 wants nvcc on the PATH (or NVCC=/path/to/nvcc), and there is none)
  endif
  CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(shell readlink -f $(NVCC_PATH))))
  # A pair is a virtual architecture and the real ones compiled from it. Code for sm_80 runs on 8.x, for sm_100 on 10.x and so
  # on; a GPU without such code compiles the last pair's PTX when it first runs. Each pair costs a whole pass of the compiler:
  # most files have no code for certain GPUs, and a single pass gives the same machine code as several. A build for named GPUs
  # has no PTX, which would be more than half of its size: it does not run on other GPUs, and says so.
  GENCODE_all := arch=compute_75,code=[sm_75,sm_80,sm_90,sm_100,sm_120,compute_75]
  GENCODE_80  := arch=compute_75,code=sm_75 arch=compute_80,code=[sm_80,sm_90,sm_100,sm_120,compute_80]
  GENCODE_90  := arch=compute_75,code=[sm_75,sm_80] arch=compute_90,code=[sm_90,sm_100,sm_120,compute_90]
  ifndef CUDA_ARCH
    ARCH_KNOWN := $(filter $(shell $(NVCC_PATH) --list-gpu-code),$(ARCH_HERE))
  endif
  CUDA_ARCH ?= $(if $(ARCH_KNOWN),$(ARCH_KNOWN),all)
  # The newest architecture for which kernels have code of their own.
  GENCODE_quick := arch=compute_90,code=sm_90
  GENCODE = $(if $(filter all quick,$(CUDA_ARCH)),$(GENCODE_$(CUDA_ARCH)),$(foreach a,$(CUDA_ARCH:sm_%=%),arch=compute_$a,code=sm_$a))
endif

# Each configuration has its own objects; build/gpuimg is a link to the program built last.
CONFIG := $(if $(filter 1,$(HAVE_CUDA)),cuda$(if $(filter all,$(CUDA_ARCH)),,-$(subst $(space),-,$(strip $(CUDA_ARCH)))),cpu)$(if $(SANITIZE),-sanitize$(filter-out 1,$(SANITIZE)))$(if $(DEBUG),-debug)$(if $(COVERAGE),-coverage)$(if $(filter gcc,$(CC)),,-$(notdir $(CC)))
B := build/$(CONFIG)

WHAT := $(if $(filter 1,$(HAVE_CUDA)),CPU and CUDA by $(NVCC_PATH) for $(if $(filter all,$(CUDA_ARCH)),every GPU \
    from 7.5 on (CUDA_ARCH=sm_90 is for one),$(if $(filter quick,$(CUDA_ARCH)),no GPU: compiled only (CUDA_ARCH=all is for every GPU),$(CUDA_ARCH))$(if $(ARCH_KNOWN), (the GPU here; CUDA_ARCH=all is for every GPU))),CPU \
    only ($(if $(filter 0,$(CUDA)),CUDA=0,$(if $(NO_GPU),no GPU here: make CUDA=1 builds for every GPU from 7.5 on in 12 minutes of \
    two cores$(comma) CUDA_ARCH=sm_90 for one in 3,no nvcc found))))
ifeq ($(filter-out deps all unit test test-oracles test-cluster test-arm demo install,$(MAKECMDGOALS)),)
  $(info building $B: $(WHAT))
endif

# Functions of one type, as in a table's column, have parameters that not every one of them needs.
WARN   = -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes -Wno-unused-parameter
# -g1 gives backtraces with lines. With -g, whose lists of places of variables are long in optimised vector code, large kernels
# take almost twice as long to compile, and the debug sections are five times as large.
CFLAGS ?= $(if $(DEBUG),-O0 -g3,$(if $(COVERAGE),-O0 --coverage,-O2 -g1))
# The contract "same bytes everywhere" rests on -ffp-contract=off: only fmaf() fuses.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARN) -ffp-contract=off -fno-math-errno -pthread -I. -MMD -MP \
             -DGI_HAVE_CUDA=$(HAVE_CUDA) $(if $(SANITIZE),$(SAN),$(HARDEN)) $(EXTRA_CFLAGS)
# Clang defines no macro for its sanitizers.
SAN    = $(if $(filter clang,$(CC)),-D__SANITIZE_$(if $(filter thread,$(SANITIZE)),THREAD,ADDRESS)__) $(if $(filter thread,$(SANITIZE)),-fsanitize=thread,$(if $(SANITIZE),-fsanitize=address$(comma)undefined$(if $(filter fuzz,$(SANITIZE)),$(comma)fuzzer-no-link) -fno-sanitize-recover=undefined -fno-omit-frame-pointer))
# At a fixed address the program starts in 4/5 of the time: the loader writes no addresses into its tables. Most tests start many.
LDFLAGS += $(if $(filter 1,$(SANITIZE)),-no-pie)
# The hardening options that the compiler accepts; tests/cli/build/hardening.sh checks the program. FORTIFY needs optimisation,
# and level 3 a recent libc.
accepts = $(shell echo '$(hash)include <string.h>' | $(CC) $(CPPFLAGS) -O2 -Werror $1 -S -x c -o /dev/null - 2>/dev/null && echo '$1')
hash := \#
FORTIFY = $(or $(call accepts,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
hardening = $(call accepts,-fstack-protector-strong) $(call accepts,-fstack-clash-protection) \
            $(or $(call accepts,-fcf-protection=full),$(call accepts,-mbranch-protection=standard)) \
            $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),$(FORTIFY))
# Evaluated at the first compilation, because `make deps demo` may start without a compiler.
HARDEN = $(eval HARDEN := $(hardening))$(HARDEN)
HARDEN_LINK := -Wl,-z,relro,-z,now,-z,noexecstack
# Debug sections are compressed in the program, which is then half as large; gdb reads them.
DEBUG_LINK := -gz
NVCCFLAGS = -std=c++17 -O1 $(if $(DEBUG),-lineinfo) $(GENCODE:%=-gencode "%") --compress-mode=size --fmad=false -I. -MMD -MP \
            -Xcompiler -Wall,-Wextra,-Wno-unused-parameter,-ffp-contract=off,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics \
            $(if $(filter quick,$(CUDA_ARCH)),-Ofc max) $(EXTRA_NVCCFLAGS)
# Codecs are left out if their library is missing: the sources ask __has_include. The library is loaded when it is needed.
optional = $(shell echo '$(hash)include <$1>' | $(CC) $(CPPFLAGS) -E -x c -o /dev/null - 2>/dev/null && echo $2)
LIBS   = -lpng -ljpeg -ldeflate -ljansson -lyaml -lz -lm -ldl

# The kernels of the CPU are compiled once per instruction level, and one level is chosen at run time. Under sanitizers with -O2:
# with -O3 they take longer to compile, and with -O1, which does not inline small functions, minutes to run.
MACHINE := $(or $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))),$(shell uname -m))
LEVELS  := scalar $(if $(filter x86_64 amd64,$(MACHINE)),avx2 avx512) $(if $(filter aarch64 arm64,$(MACHINE)),neon)
FLAGS_scalar :=
FLAGS_avx2   := -mavx2 -mfma -mbmi -mbmi2 -mpopcnt
FLAGS_avx512 := $(FLAGS_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512

SRC     := $(wildcard imgio/*.c imgio/*/*.c kernels/*.c kernels/cpu/device/*.c filters/*.c filters/*/*.c cli/*.c cli/*/*.c)
CPU_SRC := $(filter-out kernels/cpu/device/%,$(wildcard kernels/cpu/*.c kernels/cpu/*/*.c))
CU_SRC  := $(if $(filter 1,$(HAVE_CUDA)),$(wildcard kernels/cuda/*.cu kernels/cuda/*/*.cu))
MAIN    := $(B)/cli/main.o
# Files that take long to compile come first: the short ones fill the cores at the end.
OBJ     := $(CU_SRC:%.cu=$(B)/%.cu.o) $(foreach l,$(LEVELS),$(CPU_SRC:%.c=$(B)/%.$l.o)) $(SRC:%.c=$(B)/%.o)
LIB     := $(B)/libgpuimg.a
CUDA_LIBS := $(if $(filter 1,$(HAVE_CUDA)),-L$(CUDA_HOME)/lib64 -lcudart_static -lrt)

# A line per file, or with V=1 the commands. $(call compiling,CC,FILE) is the first line of a recipe that makes an object.
# It prints the share of the time that has passed, if no object existed when make began: a kernel for the CPU takes about 3
# times as long as another file, and a file of CUDA 50 times, as many as the words of its weight.
Q         := $(if $(V),,@)
STARTED   := $(shell date +%s)
COMPILED   = $(OBJ) $(if $(filter unit test%,$(MAKECMDGOALS)),$(addsuffix .o,$(filter $(UNIT) $(REPLAY),$(TEST_GOALS))))
KERNEL    := x x x
CUDA_FILE := $(foreach i,1 2 3 4 5,x x x x x x x x x x)
weight     = $(if $(filter %.cu.o,$1),$(CUDA_FILE),$(if $(filter $(foreach l,$(LEVELS),%.$l.o),$1),$(KERNEL),x))
TO_COMPILE = $(eval TO_COMPILE := $(if $(wildcard $(COMPILED)),0,$(words $(foreach o,$(COMPILED),$(call weight,$o)))))$(TO_COMPILE)
compiling  = @mkdir -p $(@D)$(if $(V),,$(eval DONE += $(call weight,$@)); \
               $(if $(filter demo,$(MAKECMDGOALS)),$(call tenth,$(words $(DONE)),$(words $(call weight,$@)),$(TO_COMPILE)), \
               $(if $(filter 0,$(TO_COMPILE)),echo,printf '[%3d %%] %s\n' $$(($(words $(DONE)) * 100 / $(TO_COMPILE)))) '$1 $2'))
# `make demo` prints a line per tenth of the compilation, so that its first picture follows soon; if objects existed, one per 100 files.
tenth      = n=$(if $(filter 0,$3),100,$$(($3 / 10 + 1))); [ $$(($1 / n)) = $$((($1 - $2) / n)) ] || \
               printf 'compiling, %s\n' "$(if $(filter 0,$3),$1 done,$$(($1 * 100 / $3)) %)"
linking    = $(if $(V),,@echo '$1 $@')

.PHONY: all ## build the program, build/gpuimg (what plain make does)
all: $(B)/gpuimg
	@ln -sfn $(CONFIG)/gpuimg build/gpuimg
	@echo "built $(B)/gpuimg in $$(($$(date +%s) - $(STARTED))) s: $(WHAT)"

# The rules of the objects know DEBUG; this goal sets it for one build.
.PHONY: debug ## the same without optimisation, into a folder of its own
debug:
	+$(MAKE) DEBUG=1 all

$(B)/gpuimg: $(MAIN) $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(MAIN) $(LIB) $(HARDEN_LINK) $(DEBUG_LINK) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

$(LIB): $(filter-out $(MAIN),$(OBJ))
	$(call linking,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Nothing is compiled before its headers are installed: `make deps demo` installs them, and other builds name missing ones.
missing = for h in $1; do echo "$(hash)include <$$h>"; done | $(CC) $(CPPFLAGS) -E -x c - 2>&1 >/dev/null | \
          sed -nE 's/.* ([^ :]+): (No such|not found).*/gpuimg: \1 is missing: try make deps$2/p' | grep . >&2 && exit 1 || true
hash := \#
$(OBJ) $(MAIN): | $(B)/headers
$(B)/headers:
	@mkdir -p $(B)
	@command -v $(firstword $(CC)) >/dev/null || { echo "gpuimg: $(firstword $(CC)) is missing: try make deps" >&2; exit 1; }
	@$(call missing,png.h jpeglib.h libdeflate.h zlib.h jansson.h yaml.h tiffio.h webp/decode.h gif_lib.h lcms2.h archive.h \
	    stb/stb_image_write.h)
	@touch $@
ifneq ($(filter deps,$(MAKECMDGOALS)),)
$(B)/headers: | deps
endif

# A codec is compiled again after its library was installed or removed: the file's name lists the libraries that exist.
CODECS := $(B)/codecs$(call optional,tiffio.h,-tiff)$(call optional,webp/encode.h,-webp)$(call optional,libheif/heif.h,-heif)$(call optional,jxl/encode.h,-jxl)$(call optional,OpenEXR/openexr.h,-exr)$(call optional,openjpeg-2.5/openjpeg.h,-jp2)$(call optional,gif_lib.h,-gif)$(call optional,lcms2.h,-lcms)
$(B)/imgio/tiff/tiff.o $(B)/imgio/tiff/pixels.o $(B)/imgio/webp/webp.o $(patsubst %.c,$(B)/%.o,$(wildcard imgio/heif/*.c imgio/jxl/*.c imgio/exr/*.c imgio/jp2/*.c)) $(B)/imgio/gif/gif.o $(B)/imgio/metadata/icc.o: $(CODECS)
$(CODECS): | $(B)/headers
	@rm -f $(B)/codecs*
	@touch $@

# The commit is in one object, which is compiled again when the commit has changed: the file's name contains it. It is empty if
# the sources are not a repository of their own.
COMMIT := $(shell [ "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$(realpath .)" ] && git describe --always --dirty=+ --exclude '*' 2>/dev/null)
GPUS   := $(filter sm_%,$(subst $(comma), ,$(subst =, ,$(subst ], ,$(subst [, ,$(GENCODE))))))
BUILT  := $(B)/commit-$(or $(COMMIT),unknown)
$(B)/cli/built.o: $(BUILT)
$(B)/cli/built.o: private ALL_CFLAGS += $(if $(COMMIT),-DGI_COMMIT='"$(COMMIT)"') -DGI_GPUS='"$(GPUS)"'
$(BUILT): | $(B)/headers
	@rm -f $(B)/commit-*
	@touch $@

$(B)/%.o: %.c
	$(call compiling,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Clang warns of loops that it could not vectorize; with a sanitizer's checks in them it never can. Functions begin with a
# cache line, because the time of a short loop depends on its address, which otherwise changes with every other file.
define LEVEL_RULE
$$(B)/kernels/cpu/%.$(1).o: kernels/cpu/%.c
	$$(call compiling,CC,$$< ($(1)))
	$$(Q)$$(CC) $$(ALL_CFLAGS) $(if $(SANITIZE),-O2 -Wno-pass-failed,-O3) -fno-trapping-math -falign-functions=64 $$(FLAGS_$(1)) -DGI_LEVEL=$(1) -DGI_LEVEL_$(1)=1 -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$l)))

# Files with separate code for 8.0 and later (kernels/cuda/common/arch.cuh), or for 9.0.
CU_80 := $(addprefix kernels/cuda/,codec/png_inflate.cu denoise/bilateral_near.cu convolution/convolve_2d.cu convolution/convolve_separable.cu convolution/dense_tiles.cu regions/distance.cu \
           convolution/gradient_magnitude.cu convolution/sliding_window_shared.cu convolution/separable_rows.cu geometry/remap_tile_f32.cu geometry/remap_tile_u16.cu \
           geometry/remap_tile_u8.cu statistics/correlate_tensor.cu)
CU_90 := $(addprefix kernels/cuda/,convolution/box.cu convolution/box_strips.cu tone/local_strips.cu rank/median_near.cu rank/median_network.cu rank/sorted.cu morphology/min_max.cu morphology/min_max_strips.cu tone/pointwise.cu regions/region_stats.cu)
$(CU_80:%=$(B)/%.o): GENCODE_all = $(GENCODE_80)
$(CU_90:%=$(B)/%.o): GENCODE_all = $(GENCODE_90)
$(filter-out $(CU_80:%=$(B)/%.o) $(CU_90:%=$(B)/%.o),$(CU_SRC:%=$(B)/%.o)): NVCCFLAGS += -DGI_ONE_PASS

$(B)/%.cu.o: %.cu
	$(call compiling,NVCC,$<)
	$(Q)$(NVCC) $(NVCCFLAGS) -c -o $@ $<

include tests/tests.mk
include cli/packages/packages.mk

# ---- first contact ----

# Names of packages in Debian and Ubuntu. nvcc is part of NVIDIA's CUDA Toolkit, which is never installed here.
# `make deps` installs the packages for building and running; with a goal that tests also those for the tests. `make deps
# FOR="test fuzz"` installs them and runs nothing.
wanted = $(if $(filter $1,$(MAKECMDGOALS) $(FOR)),$2)
PACKAGES := gcc make libc6-dev libpng-dev libjpeg-dev libdeflate-dev zlib1g-dev libstb-dev libjansson-dev libyaml-dev \
            libtiff-dev libwebp-dev libheif-dev libjxl-dev libopenexr-dev libopenjp2-7-dev libgif-dev liblcms2-dev libarchive-dev libcairo2 \
            $(if $(filter clang,$(CC))$(call wanted,fuzz,1),clang libclang-rt-dev) $(call wanted,format check-format check-style,clang-format) \
            $(call wanted,unit test test-oracles sanitize% bench,$(TEST_PACKAGES)) $(call wanted,test-oracles bench,$(ORACLE_PACKAGES)) \
            $(call wanted,test-cluster,$(CLUSTER_PACKAGES)) $(call wanted,test-arm,$(ARM_PACKAGES)) \
            $(call wanted,wheel test-wheel,$(WHEEL_PACKAGES)) $(call wanted,packages,$(PACKAGE_PACKAGES))

# A registry may stop for minutes or fail once: apt-get and pip try again.
APT_RETRIES := -o Acquire::Retries=5
PIP_INSTALL := pip install -q --disable-pip-version-check --retries 3 --timeout 60

.PHONY: deps ## install what building and running need; beside a goal that tests, what that needs too
deps:
	@missing=$$(for p in $(PACKAGES); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || printf ' %s' $$p; done); \
	if ! command -v apt-get >/dev/null; then \
	    echo "deps: no apt-get here: install what your system calls $(PACKAGES)"; \
	elif [ -z "$$missing" ]; then \
	    echo "deps: nothing is missing"; \
	elif [ "$$(id -u)" != 0 ] && ! sudo -v 2>/dev/null; then \
	    echo "deps: no sudo here; as root: apt-get install --no-install-recommends$$missing" >&2; exit 1; \
	else \
	    echo "deps: installing$$missing"; \
	    [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update $(APT_RETRIES) -q && \
	    $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install $(APT_RETRIES) -y -q --no-install-recommends $$missing; \
	fi

.PHONY: demo ## run it on the pictures of testdata/, into demo/
demo: all
	@mkdir -p demo
	@testdata/demo.sh build/gpuimg demo

.PHONY: testdata ## draw the pictures of testdata/ anew
testdata: $(B)/testdata/scene
	$(B)/testdata/scene testdata
	$(PYTHON) testdata/gallery.py testdata

$(B)/testdata/scene: testdata/scene.c $(LIB)
	@mkdir -p $(@D)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(LIB) $(LDFLAGS) $(CUDA_LIBS) $(LIBS)

GALLERY = PYTHONDONTWRITEBYTECODE=1 $(PYTHON) cli/help/gallery/site.py build/gpuimg
.PHONY: site ## the gallery as a static site: every example is run, into build/site/
site: all
	$(GALLERY) build/site

.PHONY: gallery-hashes ## record the hashes of the gallery's examples anew, after an intended change
gallery-hashes: all
	$(GALLERY) --record

MANDIR  = $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR  = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# The folder below the prefix in which $(PYTHON) finds modules, or the one of pip --prefix; empty without Python.
PYTHON_FINDS = import re, sys, sysconfig; p = sys.argv[1]; \
    print(([d for d in sys.path if re.fullmatch(re.escape(p) + "/lib/python[^/]*/(site|dist)-packages", d)] + \
           [sysconfig.get_path("purelib", "posix_prefix", {"base": p})])[0])
PYTHON_DIR = $(addprefix $(DESTDIR),$(shell $(PYTHON) -c '$(PYTHON_FINDS)' '$(PREFIX)' 2>/dev/null))

# The Python package has a function per operation, made from the program's rows.
.PHONY: python ## the Python package, in build/.../python
python: $(B)/python/gpuimg/_operations.py
$(B)/python/gpuimg/_operations.py: $(B)/gpuimg cli/python/generate.py $(wildcard cli/python/gpuimg/*.*)
	$(Q)EMULATOR='$(or $(RUN),$(EMULATOR))' $(PYTHON) cli/python/generate.py $(B)/gpuimg $(@D)

# The program prints manual pages and completions from its own tables.
.PHONY: install ## program, man pages, completions, Python modules; PREFIX=/usr/local DESTDIR=
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(MANDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	install -s -m 755 $(B)/gpuimg $(DESTDIR)$(PREFIX)/bin/gpuimg
	set -e; $(B)/gpuimg help --man >$(MANDIR)/gpuimg.1; \
	for c in $$($(B)/gpuimg list --commands) $$($(B)/gpuimg list --topics); do $(B)/gpuimg help --man $$c >$(MANDIR)/gpuimg-$$c.1; done
	$(B)/gpuimg completion bash >$(BASHDIR)/gpuimg
	$(B)/gpuimg completion zsh >$(ZSHDIR)/_gpuimg
	$(B)/gpuimg completion fish >$(FISHDIR)/gpuimg.fish
	d='$(PYTHON_DIR)'; [ -z "$$d" ] || { $(MAKE) -s python && install -D -m 644 -t "$$d/gpuimg" $(B)/python/gpuimg/*.*; }

# Folders are not removed, because other programs may use them.
.PHONY: uninstall ## remove what install wrote
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gpuimg $(MANDIR)/gpuimg.1 $(MANDIR)/gpuimg-*.1 \
	    $(BASHDIR)/gpuimg $(ZSHDIR)/_gpuimg $(FISHDIR)/gpuimg.fish
	d='$(PYTHON_DIR)'; [ -z "$$d" ] || rm -rf "$$d/gpuimg"

.PHONY: help ## this list
help:
	@awk -F ' ## ' '/^\.PHONY: .* ## / {printf "  make %-22s%s\n", substr($$1, 9), $$2} \
	    /^# \| / {print "  " substr($$0, 5)}' Makefile tests/tests.mk cli/packages/packages.mk

.PHONY: clean ## remove build/, demo/ and dist/
clean:
	rm -rf build demo dist compile_commands.json

-include $(shell find $B -type f -name '*.d' 2>/dev/null)
