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
LATE = archive bfd opcodes curl ncursesw zstd
# Tests write archives, too, and are many.
TEST_LDLIBS = -ldw -lelf -lZydis -larchive -lz -ljson-c $(SODIUM) -lm -ldl

COMMANDS = create apply undo view trace enable disable list watch upgrade keygen sign verify check-machine
LIB_SRC := $(wildcard lib/*/*.c lib/arch/*/*.c trace/engine/*.c trace/probe/*.c trace/log/*.c)
CMD_SRC := uspl/main_run.c $(filter-out create/wrapper/% $(LIB_SRC),$(wildcard machine/*.c machine/*/*.c $(COMMANDS:%=%/*.c) $(COMMANDS:%=%/*/*.c)))
ASM_SRC := $(wildcard runtime/*.S trace/*/*.S)
CC_SRC := $(wildcard create/wrapper/*.c)
TEST_SRC := $(wildcard tests/unit/*_test.c)

obj = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
LIB_OBJ := $(call obj,$(LIB_SRC)) $(call obj,$(ASM_SRC))
CMD_OBJ := $(call obj,$(CMD_SRC))
CREATE_OBJ := $(filter $(BUILD)/obj/create/%,$(CMD_OBJ))
CC_OBJ := $(call obj,$(CC_SRC))
LIBUSPL = $(BUILD)/obj/libuspl.a

PROGRAM = $(BUILD)/bin/uspl
CREATE = $(BUILD)/bin/uspl-create
WRAPPER = $(BUILD)/libexec/uspl/uspl-cc
# uspl-create is a program of its own: machines that only apply updates needn't have it.
LINKED = $(filter-out create,$(COMMANDS))
LINKS = $(LINKED:%=$(BUILD)/bin/uspl-%)
TESTS = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(TEST_SRC))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help check unit cmd cases asan lint format format-check bench man clean demo fuzz

all: $(PROGRAM) $(LINKS) $(CREATE) $(WRAPPER) ## build the tools (default)

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

$(BUILD)/obj/runtime/headers.o: include/uspl/probe.h include/uspl/hook.h include/uspl/shadow.h create/shadow/keep_layout.cc
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

$(PROGRAM): $(call obj,uspl/main.c) $(filter-out $(CREATE_OBJ),$(CMD_OBJ)) $(LIBUSPL)
$(CREATE): $(call obj,uspl/create_main.c uspl/main_run.c) $(CREATE_OBJ) $(LIBUSPL)

$(PROGRAM) $(CREATE):
	@mkdir -p $(@D)
	@rm -f $@
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LINKS): $(PROGRAM)
	ln -sf uspl $@

# The compiler wrapper starts once for each compilation: it links with the C library only, and with
# that for good, where there is an archive of it: 0.2 ms less.
static_c = $(filter /%,$(shell $(CC) -print-file-name=libc.a))
WRAPPER_LDFLAGS = $(if $(SAN)$(if $(static_c),,none),$(LDFLAGS),$(filter-out -pie,$(LDFLAGS)) -static-pie)

$(WRAPPER): $(CC_OBJ) $(LIBUSPL)
	@mkdir -p $(@D)
	$(CC) $(WRAPPER_LDFLAGS) -o $@ $^

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(CMD_OBJ) $(filter-out %/wrapper_main.o,$(CC_OBJ)) $(LIBUSPL)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(TEST_LDLIBS)

-include Makefile.tests
include Makefile.install

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
