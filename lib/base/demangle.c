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

static char *demangle(const char *name, int options)
{
	static const struct late_function functions[] = { LATE_LINE(bfd_demangle) };
	char *plain = NULL;
	struct buf shown = { 0 };

	/* Without the library names stay as they are. */
	if (!strncmp(name, "_Z", 2) && strlen(name) < NAME_MAX_LEN &&
	    late_load(LATE_BFD, functions, ARRAY_SIZE(functions)))
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
	const char *name = text;

	while ((name = strstr(name, "_Z"))) {
		auto_free char *plain = NULL;
		size_t len = strcspn(name, "' ");

		/* Names stand in quotes, or behind a unit's name within them. */
		if (name == text || (name[-1] != '\'' && name[-1] != ':') || name[len] != '\'') {
			name += len;
			continue;
		}
		plain = demangle_start(name, len);
		if (!plain)
			return NULL;
		buf_add(&out, text, (size_t)(name - text));
		buf_addstr(&out, plain);
		text = name += len;
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
