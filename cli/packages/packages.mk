# Packages, in dist/: a wheel, a .deb, a container image (CONTRIBUTING.md, "Releases").

# What the libraries of a wheel are linked from, and what the other packages and the tests of all of them need.
WHEEL_PACKAGES   := libcairo2-dev libfontconfig-dev libfreetype-dev libexpat1-dev libpixman-1-dev libbrotli-dev liblz4-dev \
                    libbz2-dev liblzma-dev libzstd-dev liblerc-dev fonts-dejavu-core patchelf python3-venv
PACKAGE_PACKAGES := $(WHEEL_PACKAGES) dpkg-dev lintian mmdebstrap umoci python3-pil python3-numpy

# The program of a wheel contains the libraries that it is linked with, and needs no glibc after 2.34; the others are beside it.
$(B)/wheel/glibc.o: cli/packages/bundle/glibc.c | $(B)/headers
	$(call compiling,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -c -o $@ $<
$(B)/wheel/gpuimg: $(MAIN) $(B)/wheel/glibc.o $(LIB)
	$(call linking,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(HARDEN_LINK) -s -Wl,--wrap=hypot $(LDFLAGS) $(CUDA_LIBS) \
	    -Wl,-Bstatic $(filter-out -lm -ldl,$(LIBS)) -Wl,-Bdynamic -lm -ldl
# RUN runs a program that was built for another machine.
$(B)/wheel/rows: $(B)/gpuimg
	@mkdir -p $(@D)
	@$(RUN) $< __libraries >$@.new
	@cmp -s $@.new $@ || cp $@.new $@
$(B)/wheel/libraries: $(B)/wheel/rows $(wildcard cli/packages/bundle/*) cli/packages/libraries.py
	$(call linking,LD)
	$(Q)$(PYTHON) cli/packages/libraries.py $< $@ $(CC) $(CPPFLAGS)
	@touch $@

.PHONY: wheel ## dist/gpuimg-*.whl for any Linux with glibc 2.34; CUDA_ARCH=all for a release; needs make deps wheel
wheel: $(if $(filter deps,$(MAKECMDGOALS)),| deps) $(if $(RUN),$(B)/gpuimg,all) $(B)/wheel/gpuimg $(B)/wheel/libraries $(if $(MODULES),,python)
	@$(PYTHON) cli/packages/wheel.py $(B)/wheel/gpuimg $(or $(MODULES),$(B)/python) $(B)/wheel/libraries manylinux_2_34_$(MACHINE) $(or $(DIST),dist) $(if $(RUN),$(RUN) $(B)/gpuimg)

.PHONY: test-wheel ## install the wheel into a virtual environment and use it
test-wheel: wheel
	tests/packages/wheel.sh $(B) $(or $(DIST),dist)/gpuimg-*-manylinux_2_34_$(MACHINE).whl

VERSION = $(shell sed -n 's/.define GI_VERSION  *"\(.*\)"/\1/p' cli/command.h)
DEB     = $(or $(DIST),dist)/gpuimg_$(VERSION)_$(shell dpkg --print-architecture).deb

.PHONY: deb ## dist/gpuimg_*.deb for the Debian or Ubuntu that it is made on; DEBFULLNAME= DEBEMAIL= of the maintainer
deb: all $(B)/wheel/rows
	@rm -rf $(B)/deb
	@$(MAKE) -s --no-print-directory install DESTDIR=$(CURDIR)/$(B)/deb PREFIX=/usr PYTHON=/usr/bin/python3
	@cli/packages/deb.sh $(B)/deb $(VERSION) $(or $(DIST),dist) $(B)/wheel/rows
	@ls -l $(DEB)

IMAGE = $(DEB:.deb=.oci.tar)
.PHONY: image ## dist/gpuimg_*.oci.tar, a container image of the .deb; needs root
image: deb
	@cli/packages/image.sh $(DEB) $(IMAGE)
	@ls -l $(IMAGE)

# Minutes, and at the first time minutes more to make the systems.
.PHONY: test-packages ## install the packages into empty Debian and Ubuntu systems and use them; needs root and make deps FOR=packages
test-packages: wheel deb image
	@status=0; w=$$(echo $(or $(DIST),dist)/gpuimg-*-manylinux_2_34_$(MACHINE).whl); a=$${w%_$(MACHINE).whl}_aarch64.whl; \
	for t in "wheel $$w" "roots $$w" "deb $(DEB)" "image $(IMAGE)"; do \
	    echo "== $$t"; set -- $$t; tests/packages/$$1.sh $(B) $$2 || status=1; \
	done; \
	[ ! -e "$$a" ] || tests/packages/wheel_arm.sh $(B) "$$a" $(ARM_WHEEL_ROOT) || status=1; exit $$status

# The wheel for Arm is cross-compiled with the static libraries of Debian's packages for arm64, and has no CUDA.
ARM_WHEEL_ROOT := $(CURDIR)/build/arm-wheel/root
$(ARM_WHEEL_ROOT):
	@rm -rf build/arm-wheel
	@mkdir -p build/arm-wheel/made
	@. /etc/os-release; for p in $(sort $(filter lib%-dev zlib1g-dev,$(PACKAGES) $(WHEEL_PACKAGES))); do echo "--include=$$p"; done | \
	    xargs mmdebstrap --variant=extract --architectures=arm64 --aptopt='Acquire::Retries "5"' "$$VERSION_CODENAME" - 2>build/arm-wheel/log | \
	    tar -xC build/arm-wheel/made --exclude='./dev/*'
	@find build/arm-wheel/made/usr/lib -lname '/*' -printf '%l %p\n' | while read -r to link; do ln -sfr build/arm-wheel/made$$to $$link; done
	@mv build/arm-wheel/made $@

.PHONY: wheel-arm ## the wheel for Arm, without CUDA; needs make deps FOR="wheel test-arm"
wheel-arm: all python | $(ARM_WHEEL_ROOT)
	+@$(MAKE) --no-print-directory CUDA=0 CC=$(ARM)-gcc AR=$(ARM)-ar CFLAGS=-O2 CPPFLAGS=--sysroot=$(ARM_WHEEL_ROOT) \
	    RUN="qemu-aarch64 -L $(ARM_WHEEL_ROOT)" MODULES=$(B)/python wheel

# The checks of the sources come before the build, which takes minutes.
.PHONY: release ## check that version, CHANGELOG, README and manual agree, and make all packages and dist/SHA256SUMS; CUDA_ARCH=all
release:
	@cli/packages/release.sh
	@rm -rf $(or $(DIST),dist)
	+@$(MAKE) --no-print-directory wheel
	+@$(MAKE) --no-print-directory image
	+@[ ! -d $(ARM_WHEEL_ROOT) ] || $(MAKE) --no-print-directory wheel-arm
	@git archive --prefix=gpuimg-$(VERSION)/ -o $(or $(DIST),dist)/gpuimg-$(VERSION).tar.gz HEAD
	@cli/packages/release.sh $(B)/gpuimg $(or $(DIST),dist)
