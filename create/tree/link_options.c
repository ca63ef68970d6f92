// SPDX-License-Identifier: GPL-3.0-or-later
// link_options.c - the words by which a linker was called, and what they say about names

#include "create/tree/link_options.h"

#include <string.h>

const char *link_options_next(const char *p, size_t *len)
{
	p += strspn(p, " ,");
	*len = strcspn(p, " ,");
	return p;
}

static bool is(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !strncmp(word, text, len);
}

/* The next word that is the linker's: "-Wl,--wrap -Wl,f" and "-Xlinker --wrap" are "--wrap f". */
static const char *next_of_linker(const char *p, size_t *len)
{
	p = link_options_next(p, len);
	while (is(p, *len, "-Wl") || is(p, *len, "-Xlinker"))
		p = link_options_next(p + *len, len);
	return p;
}

/* An option without its one or two dashes; NULL if it is none. */
static const char *option_in(const char *word, size_t *len)
{
	size_t dashes = *len && *word == '-' ? 1 + (*len > 1 && word[1] == '-') : 0;

	*len -= dashes;
	return dashes ? word + dashes : NULL;
}

bool link_options_have_script(const char *options)
{
	static const char *const suffixes[] = { ".ld", ".lds", ".x" };
	size_t len;

	for (const char *p = next_of_linker(options ? options : "", &len); *p;
	     p = next_of_linker(p + len, &len)) {
		size_t rest = len;
		const char *option = option_in(p, &rest);

		if (option && (*option == 'T' || !strncmp(option, "script", strlen("script")) ||
			       is(option, rest, "dT")))
			return true;
		for (size_t i = 0; !option && i < ARRAY_SIZE(suffixes); i++) {
			size_t n = strlen(suffixes[i]);

			if (len > n && !strncmp(p + len - n, suffixes[i], n))
				return true;
		}
	}
	return false;
}

bool link_options_wrap(const char *options, const char *name)
{
	static const char with[] = "wrap=";
	size_t len;

	for (const char *p = next_of_linker(options ? options : "", &len); *p;
	     p = next_of_linker(p + len, &len)) {
		size_t rest = len;
		const char *option = option_in(p, &rest), *wrapped = NULL;

		if (option && is(option, rest, "wrap")) {
			p = wrapped = next_of_linker(p + len, &len);
			rest = len;
		} else if (option && !strncmp(option, with, strlen(with))) {
			wrapped = option + strlen(with);
			rest -= strlen(with);
		}
		if (wrapped && (!name || is(wrapped, rest, name)))
			return true;
	}
	return false;
}

bool link_options_bind_functions(const char *options)
{
	bool bind = false;
	size_t len;

	/* The last one counts. */
	for (const char *p = next_of_linker(options ? options : "", &len); *p;
	     p = next_of_linker(p + len, &len)) {
		size_t rest = len;
		const char *option = option_in(p, &rest);

		if (!option)
			continue;
		if (is(option, rest, "Bsymbolic-functions") ||
		    is(option, rest, "Bsymbolic-non-weak-functions"))
			bind = true;
		else if (is(option, rest, "Bno-symbolic"))
			bind = false;
	}
	return bind;
}
