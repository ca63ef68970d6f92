// SPDX-License-Identifier: GPL-3.0-or-later
// strvec.c - a list of strings that it owns

#include "base/strvec.h"

#include <string.h>

bool strvec_add(strvec *strings, const char *text)
{
	return strvec_take(strings, strdup(text));
}

bool strvec_take(strvec *strings, char *text)
{
	char **slot = text ? vec_push(strings) : NULL;

	if (!slot) {
		free(text);
		return false;
	}
	*slot = text;
	return true;
}

bool strvec_has(const strvec *strings, const char *text)
{
	char *const *it;

	vec_for_each (strings, it)
		if (!strcmp(*it, text))
			return true;
	return false;
}

void strvec_release(strvec *strings)
{
	char **it;

	vec_for_each (strings, it)
		free(*it);
	vec_release(strings);
}
