# SPDX-License-Identifier: GPL-3.0-or-later
# For the Makefile: builds a program, a plugin that it opens, the library that this one needs, and
# another one that the plugin opens and that only its own search path leads to. PLUG_LINK are options
# of the plugin's for the linker.

include config.mk

all: target libplug.so more/libextra.so

target: main.o serve.o target.o
	$(CC) $(CFLAGS) -o $@ main.o serve.o target.o '-Wl,-rpath,$$ORIGIN' $(LDLIBS)

libplug.so: plug.o libbase.so
	$(CC) $(CFLAGS) -shared $(PLUG_LINK) -o $@ $< -Wl,--no-as-needed -L. -lbase \
		'-Wl,--enable-new-dtags,-rpath,$$ORIGIN:$$ORIGIN/more' $(LDLIBS)

libbase.so: base.o
	$(CC) $(CFLAGS) -shared -o $@ $<

more/libextra.so: extra.o
	mkdir -p more
	$(CC) $(CFLAGS) -shared -o $@ $<

plug.o base.o extra.o: CFLAGS += -fPIC

%.o: %.c $(wildcard *.h) config.mk
	$(CC) $(CFLAGS) -c -o $@ $<
