# SPDX-License-Identifier: BSD-3-Clause
# rules.mk - installing and packages. Read by the Makefile, which says what everything is for.

PREFIX ?= /usr
DESTDIR ?=
MAINTAINER ?= The Bulwark authors <bulwark@localhost>
installed := $B/installed/bulwark
installer = @DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" module/package/install.sh

.PHONY: install install-module install-program uninstall deb package-test

# Without our RPATH: an installed program has the libraries of its system.
$(installed): $(client_obj) $B/libbloom.a $(HIREDIS)/lib/libhiredis_ssl.a $(HIREDIS)/lib/libhiredis.a
	@mkdir -p $(@D)
	$(link_program) -Wl,-rpath-link,$(fetched)

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

package-test: deb
	@tests/package/run.sh build/package/*.deb
