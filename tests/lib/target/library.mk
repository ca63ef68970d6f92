# SPDX-License-Identifier: GPL-3.0-or-later
# For the Makefile of a case: builds a program and the shared library LIBRARY that it uses, of the
# source of that name. PROGRAM_LINK and LIBRARY_LINK are options of theirs for the linker.

include config.mk

PROGRAM = main.o serve.o target.o

target: $(PROGRAM) lib$(LIBRARY).so
	$(CC) $(CFLAGS) $(PROGRAM_LINK) -o $@ $(PROGRAM) -L. -l$(LIBRARY) '-Wl,-rpath,$$ORIGIN' $(LDLIBS)

lib$(LIBRARY).so: $(LIBRARY).o
	$(CC) $(CFLAGS) -shared -Wl,-soname,$@ $(LIBRARY_LINK) -o $@ $<

$(LIBRARY).o: CFLAGS += -fPIC

%.o: %.c $(wildcard *.h) config.mk
	$(CC) $(CFLAGS) -c -o $@ $<
