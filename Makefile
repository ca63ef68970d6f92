# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets.

CC ?= gcc
BUILD ?= build
O ?= -O2
PREFIX ?= /usr/local
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
       -Wwrite-strings -Wvla -Wformat=2 -Wpointer-arith -Wundef -Wno-format-nonliteral
WERROR ?=
ifdef SAN
SANFLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
# What Debian builds its own packages with; FORTIFY needs optimization, and sanitizers look
# themselves.
HARDEN = -fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE -Wformat-security
ifeq ($(filter -O0,$(O))$(SANFLAGS),)
HARDEN += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
HARDEN_LD = -pie -Wl,-z,relro,-z,now,-z,ibt,-z,shstk
CPPFLAGS += -D_GNU_SOURCE -DPACKAGE=\"uspl\" -Iinclude -Ilib -I. -I$(BUILD)/obj
CFLAGS += -std=gnu11 -g $(O) $(HARDEN) $(WARN) $(WERROR) $(SANFLAGS)
# Nothing is to be bound while a thread stands still.
LDFLAGS += $(SANFLAGS) $(HARDEN_LD)
# Each shared library costs its share of a command's start, by faults and relocations: libarchive
# brings seven others, and 3 ms. So those of which there is an archive are linked with the program;
# libdw, which needs further ones, if that links. lib/base/late.h has what is loaded when needed.
static = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,$(2))
DW_STATIC = -l:libdw.a -l:libelf.a $(foreach lib,lzma bz2 zstd,$(call static,$(lib))) -lz
DW = $(shell echo 'int dwarf_getcfi_elf(void); int main(void) { return dwarf_getcfi_elf(); }' | \
	$(CC) -w -x c - -o /dev/null $(DW_STATIC) 2>/dev/null && echo '$(DW_STATIC)' || echo -ldw -lelf)
SODIUM := $(call static,sodium,-lsodium)
# Asked when the program is linked.
LDLIBS = $(DW) -lZydis $(call static,archive,-larchive) -lz $(call static,json-c,-ljson-c) $(SODIUM) -lm -ldl
LATE = archive bfd opcodes curl
# Tests write archives, too, and are many.
TEST_LDLIBS = -ldw -lelf -lZydis -larchive -lz -ljson-c $(SODIUM) -lm -ldl

COMMANDS = create apply undo view trace enable disable list watch upgrade keygen sign verify check-machine
LIB_SRC := $(wildcard lib/*/*.c lib/arch/*/*.c trace/engine/*.c trace/probe/*.c trace/log/*.c)
CMD_SRC := $(filter-out create/wrapper/% $(LIB_SRC),$(wildcard machine/*.c machine/*/*.c $(COMMANDS:%=%/*.c) $(COMMANDS:%=%/*/*.c)))
ASM_SRC := $(wildcard runtime/*.S trace/*/*.S)
CC_SRC := $(wildcard create/wrapper/*.c)
TEST_SRC := $(wildcard tests/unit/*_test.c)

obj = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
LIB_OBJ := $(call obj,$(LIB_SRC)) $(call obj,$(ASM_SRC))
CMD_OBJ := $(call obj,$(CMD_SRC))
MAIN_OBJ := $(call obj,uspl/main.c)
CC_OBJ := $(call obj,$(CC_SRC))
LIBUSPL = $(BUILD)/obj/libuspl.a

PROGRAM = $(BUILD)/bin/uspl
WRAPPER = $(BUILD)/libexec/uspl/uspl-cc
LINKS = $(COMMANDS:%=$(BUILD)/bin/uspl-%)
TESTS = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(TEST_SRC))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help check unit cmd cases asan lint format format-check bench man install uninstall dist clean demo fuzz

all: $(PROGRAM) $(LINKS) $(WRAPPER) ## build the tools (default)

help: ## list the targets and switches
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'switches: CC=clang  O=-O0  SAN=1 (address and undefined behaviour)  WERROR=-Werror  BUILD=dir  PREFIX=/usr/local'

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.S Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -g -MMD -MP -c -o $@ $<

# The names under which the linker would ask for these libraries.
$(BUILD)/obj/late_names.h: Makefile
	@mkdir -p $(@D)
	@for l in $(LATE); do \
		$(CC) -shared -nostdlib -Wl,--no-as-needed -o $@.so -x c /dev/null -l$$l && \
		readelf -d $@.so | sed -n "s/.*(NEEDED).*\[\(lib$$l[^]]*\)\].*/$$l \1/p" | head -n 1; \
	done | awk '{ printf "#define LATE_%s \"%s\"\n", toupper($$1), $$2 } \
		END { if (NR != $(words $(LATE))) { print "no shared $(LATE)" > "/dev/stderr"; exit 1 } }' > $@

$(LIB_OBJ) $(CMD_OBJ): | $(BUILD)/obj/late_names.h

$(BUILD)/obj/runtime/headers.o: include/uspl/probe.h include/uspl/hook.h include/uspl/shadow.h
$(BUILD)/obj/trace/output/page_parts.o: $(wildcard trace/output/page.html trace/output/page.css trace/output/page.js)

# The listeners run in the target, copied as they are: on their own, at any address, with general
# registers only.
LISTEN_SRC := $(wildcard runtime/listen/*.c runtime/listen/*.S)
LISTEN_OBJ := $(call obj,$(LISTEN_SRC)) $(BUILD)/obj/runtime/trace.o
LISTEN_FLAGS = -std=gnu11 -O2 $(WARN) $(WERROR) -ffreestanding -fno-builtin -fPIE -fvisibility=hidden -fno-stack-protector \
	-fno-jump-tables -fcf-protection=none -fno-asynchronous-unwind-tables -fomit-frame-pointer -mgeneral-regs-only

$(BUILD)/obj/runtime/listen/%.o: runtime/listen/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LISTEN_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/runtime/listen.bin: $(LISTEN_OBJ) runtime/listen/listen.ld
	$(LD) -static --build-id=none -T runtime/listen/listen.ld -o $(@:.bin=.elf) $(LISTEN_OBJ)
	objcopy -O binary -j .listen $(@:.bin=.elf) $@

$(BUILD)/obj/runtime/listen.o: $(BUILD)/obj/runtime/listen.bin
$(BUILD)/obj/runtime/listen.o: CPPFLAGS += -Wa,-I$(BUILD)/obj/runtime

$(LIBUSPL): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(PROGRAM): $(MAIN_OBJ) $(CMD_OBJ) $(LIBUSPL)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LINKS): $(PROGRAM)
	ln -sf uspl $@

# The compiler wrapper starts once for each compilation: it links with next to nothing.
$(WRAPPER): $(CC_OBJ) $(LIBUSPL)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(CMD_OBJ) $(filter-out %/wrapper_main.o,$(CC_OBJ)) $(LIBUSPL)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(TEST_LDLIBS)

-include Makefile.tests

# Manual pages are made by pandoc; without it those that are there are installed, as `make dist` has
# put them.
PAGES = $(if $(shell command -v pandoc),man)
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETION = $(SHARE)/bash-completion/completions
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system

install: all $(PAGES) ## install below PREFIX (honours DESTDIR)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/uspl $(DESTDIR)$(PREFIX)/include/uspl
	install $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/uspl
	for c in $(COMMANDS); do ln -sf uspl $(DESTDIR)$(PREFIX)/bin/uspl-$$c; done
	install $(WRAPPER) $(DESTDIR)$(PREFIX)/libexec/uspl/uspl-cc
	install -m 644 include/uspl/*.h $(DESTDIR)$(PREFIX)/include/uspl
	install -d $(UNITS)
	sed 's|@BIN@|$(PREFIX)/bin|' contrib/systemd/uspl-watch.service.in > $(UNITS)/uspl-watch.service
	install -d $(COMPLETION) $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 644 uspl/completion/uspl.bash $(COMPLETION)/uspl
	for c in $(COMMANDS); do ln -sf uspl $(COMPLETION)/uspl-$$c; done
	install -m 644 uspl/completion/uspl.zsh $(SHARE)/zsh/site-functions/_uspl
	for c in uspl $(COMMANDS:%=uspl-%); do \
		install -m 644 uspl/completion/uspl.fish $(SHARE)/fish/vendor_completions.d/$$c.fish; done
	@if test -e $(BUILD)/man/uspl.1; then \
		for s in 1 5 7; do install -d $(SHARE)/man/man$$s && \
			install -m 644 $(BUILD)/man/*.$$s $(SHARE)/man/man$$s; done; \
	else echo 'install: pandoc is not installed, and the manual pages are left out'; fi

uninstall: ## remove what install has put below PREFIX (honours DESTDIR)
	for c in uspl $(COMMANDS:%=uspl-%); do rm -f $(DESTDIR)$(PREFIX)/bin/$$c $(COMPLETION)/$$c \
		$(SHARE)/fish/vendor_completions.d/$$c.fish $(SHARE)/man/man1/$$c.1; done
	rm -f $(SHARE)/zsh/site-functions/_uspl $(UNITS)/uspl-watch.service
	rm -f $(patsubst docs/man/%.md,$(SHARE)/man/man5/%,$(wildcard docs/man/*.5.md)) $(SHARE)/man/man7/uspl.7
	rm -rf $(DESTDIR)$(PREFIX)/libexec/uspl $(DESTDIR)$(PREFIX)/include/uspl

VERSION = $(shell sed -n 's/.*USPL_VERSION "\(.*\)"/\1/p' lib/base/cli.h)

dist: man ## make uspl-VERSION.tar.gz of the last commit, with the manual pages
	git archive --prefix=uspl-$(VERSION)/build/man/ $(MAN:%=--add-file=%) \
		--prefix=uspl-$(VERSION)/ -o $(BUILD)/uspl-$(VERSION).tar.gz HEAD

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
