# SPDX-License-Identifier: BSD-3-Clause
# rules.mk - installing and packages. Read by the Makefile, which says what everything is for.

PREFIX ?= /usr
DESTDIR ?=
MAINTAINER ?= The Bulwark authors <bulwark@example.org>
installed := $B/installed/bulwark
installer = @DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" module/package/install.sh

.PHONY: install install-module install-program uninstall deb package-test

# Without our RPATH: an installed program has the libraries of its system.
$(installed): $(program_parts)
	@mkdir -p $(@D)
	@echo "# and once more, for make install: this one looks for libraries in its system"
	$(link_program) -Wl,-rpath-link,$(fetched)

# Linked with the other, so that root has only to install what somebody else built.
$(PROGRAM): | $(installed)

install: install-module install-program

install-module: $(MODULE)
	$(installer) install module $(MODULE)

install-program: $(PROGRAM) $(installed)
	$(installer) install program $(installed) $(PROGRAM)

uninstall:
	$(installer) uninstall module
	$(installer) uninstall program

# Built anew, with what Debian asks of its own.
deb:
	@$(MAKE) --no-print-directory SAN= B=build/package MODULE=build/package/bulwark.so \
	    PROGRAM=build/package/bulwark LDFLAGS="$(LDFLAGS) -Wl,-z,relro,-z,now" \
	    CFLAGS="$(CFLAGS) -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2" \
	    build/package/bulwark.so build/package/bulwark build/package/installed/bulwark
	@MAINTAINER="$(MAINTAINER)" module/package/deb.sh build/package

package-test: $(MODULE) $(PROGRAM) $(installed)
	@tests/package/run.sh
