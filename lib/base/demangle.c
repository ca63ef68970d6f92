// SPDX-License-Identifier: GPL-3.0-or-later
// demangle.c - the names of C++ as people write them

#include "base/demangle.h"

#include <bfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/late.h"
#include "base/text.h"
#include "late_names.h"

/* From include/demangle.h of libiberty, which not every libbfd comes with: with parameters. */
#define WITH_PARAMETERS 3
#define NAME_MAX_LEN 4096

LATE(bfd_demangle);

/* Without the library names stay as they are. */
static bool has_library(void)
{
	static const struct late_function functions[] = { LATE_LINE(bfd_demangle) };

	return late_load(LATE_BFD, functions, ARRAY_SIZE(functions));
}

static char *demangle(const char *name, int options)
{
	char *plain = NULL;

	struct buf shown = { 0 };

	if (!strncmp(name, "_Z", 2) && strlen(name) < NAME_MAX_LEN && has_library())
		plain = late_bfd_demangle(NULL, name, options);
	/* A symbol may be called anything, and this is what people see of it. */
	text_add_printable(&shown, plain ? plain : name, strlen(plain ? plain : name), false);
	free(plain);
	/* An empty name is a name, too. */
	return shown.len || shown.oom ? buf_take(&shown) : strdup("");
}

char *demangle_name(const char *name)
{
	return demangle(name, WITH_PARAMETERS);
}

size_t demangle_stem_len(const char *name)
{
	size_t len = strcspn(name, "@");

	return len ? len : strlen(name);
}

/* The next mangled name that stands in quotes; NULL: there is none. */
static const char *next_name(const char *text, size_t *ret_len)
{
	const char *at = text;

	while ((at = strstr(at, "_Z"))) {
		bool quoted = at > text && (at[-1] == '\'' || at[-1] == ':');

		*ret_len = strcspn(at, "' ");
		if (quoted && at[*ret_len] == '\'')
			return at;
		at += *ret_len;
	}
	return NULL;
}

static char *demangle_start(const char *name, size_t len)
{
	auto_free char *copy = strndup(name, len);

	return copy ? demangle_name(copy) : NULL;
}

char *demangle_symbol(const char *name)
{
	return demangle_start(name, demangle_stem_len(name));
}

char *demangle_bare(const char *name)
{
	auto_free char *copy = strndup(name, demangle_stem_len(name));

	return copy ? demangle(copy, 0) : NULL;
}

char *demangle_text(const char *text)
{
	auto_buf struct buf out = { 0 };
	const char *name;
	size_t len;

	while ((name = next_name(text, &len))) {
		auto_free char *plain = demangle_start(name, len);

		if (!plain)
			return NULL;
		buf_add(&out, text, (size_t)(name - text));
		buf_addstr(&out, plain);
		text = name + len;
	}
	buf_addstr(&out, text);
	return out.oom ? NULL : buf_take(&out);
}

void demangle_message(char *text, size_t size)
{
	auto_free char *plain = demangle_text(text);

	if (plain && strlen(plain) < size)
		memcpy(text, plain, strlen(plain) + 1);
}
