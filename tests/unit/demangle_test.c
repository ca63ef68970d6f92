// SPDX-License-Identifier: GPL-3.0-or-later
// demangle_test.c - C++ names in messages

#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tap.h"

static void is_shown_as(const char *name, const char *plain)
{
	auto_free char *got = demangle_name(name);

	ok(got && !strcmp(got, plain), "%s -> %s", name, got ? got : "nothing");
}

static void reads_as(const char *message, size_t size, const char *plain)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", message);
	demangle_message(text, size);
	ok(!strcmp(text, plain), "'%s' reads '%s'", message, text);
}

static void is_without_version(const char *symbol, const char *plain)
{
	auto_free char *got = demangle_symbol(symbol);

	ok(got && !strcmp(got, plain), "%s -> %s", symbol, got ? got : "nothing");
}

static void is_bare(const char *symbol, const char *bare)
{
	auto_free char *got = demangle_bare(symbol);

	ok(got && !strcmp(got, bare), "%s -> %s", symbol, got ? got : "nothing");
}

int main(void)
{
	is_without_version("pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock");
	is_without_version("dlsym@GLIBC_2.2.5", "dlsym");
	is_without_version("_ZN3Foo3barEi@@FOO_1", "Foo::bar(int)");
	is_bare("_ZN3Foo3barEi@@FOO_1", "Foo::bar");
	is_bare("_ZL3addii", "add");
	is_bare("_ZN1AclEv", "A::operator()");
	is_bare("main", "main");
	is_without_version("main", "main");
	is_without_version("@", "@");
	is_without_version("", "");
	is_shown_as("_ZN3Foo3barEi", "Foo::bar(int)");
	is_shown_as("_ZTV3Foo", "vtable for Foo");
	is_shown_as("main", "main");
	is_shown_as("_Znonsense", "_Znonsense");
	is_shown_as("", "");
	reads_as("a.cc: '_Z1fi' calls '_ZN1A1gEv'", 256, "a.cc: 'f(int)' calls 'A::g()'");
	reads_as("'a.cc:_ZL1fi' isn't found", 256, "'a.cc:f(int)' isn't found");
	reads_as("_Z1fi without quotes, and an '_Z1fi that never ends", 256,
		 "_Z1fi without quotes, and an '_Z1fi that never ends");
	reads_as("'_ZTV3Foo' too long", 20, "'_ZTV3Foo' too long");
	reads_as("'_Z1fi': '_ZTV3Foo' too long", 28, "'_Z1fi': '_ZTV3Foo' too long");
	reads_as("'_Z' '_Zzz'", 256, "'_Z' '_Zzz'");
	return tap_done();
}
