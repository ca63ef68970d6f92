// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nameless_text.c - the numbers of nameless types in the names of symbols
 *
 * In the names that the linker sees they can't be found without understanding all of the grammar
 * (Itanium C++ ABI, 5.1), since parts of a name are abbreviated by references to parts before. The
 * demangled name is written out in full, and has them in three forms: "{lambda(int)#2}" and
 * "{unnamed type#2}", numbered in what they stand in, and clang's "$_2", numbered in the whole
 * unit. What a demangled name doesn't tell (which of several constructors) is compared by the name
 * that the linker sees, without the numbers.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "create/nameless.h"

bool nameless_is_in(const char *mangled)
{
	return name_starts(mangled, "_Z") &&
	       (strstr(mangled, "Ul") || strstr(mangled, "Ut") || strstr(mangled, "$_"));
}

char *nameless_demangle(const char *mangled)
{
	auto_free char *stem = strndup(mangled, strcspn(mangled, "."));

	return stem ? demangle_name(stem) : NULL;
}

/* The place behind the '}' that closes what begins at `at`. */
static size_t skip_braces(const char *text, size_t at)
{
	int depth = 0;

	for (; text[at]; at++) {
		depth += text[at] == '{';
		depth -= text[at] == '}';
		if (!depth)
			return at + 1;
	}
	return at;
}

/* The token that begins at `at`, if one does: sets number and end. */
static bool token_at(const char *text, size_t at, struct nameless_token *ret)
{
	if (!strncmp(text + at, "$_", 2) && isdigit((unsigned char)text[at + 2])) {
		ret->number = at + 2;
		ret->end = ret->number + strspn(text + ret->number, "0123456789");
		return true;
	}
	if (strncmp(text + at, "{lambda(", 8) && strncmp(text + at, "{unnamed type#", 14))
		return false;
	ret->end = skip_braces(text, at);
	for (ret->number = ret->end; ret->number > at && text[ret->number - 1] != '#';)
		ret->number--;
	return ret->number > at;
}

/* Do the blanks before `at` belong to the name: "f() const::"? */
static bool is_qualifier(const char *text, size_t blank)
{
	return blank && text[blank - 1] == ')' &&
	       (!strncmp(text + blank, " const::", 8) ||
		!strncmp(text + blank, " volatile::", 11) || !strncmp(text + blank, " &", 2));
}

/* Where the name begins that a token ends: behind the blank, comma or bracket before it. */
static size_t name_start(const char *text, size_t at)
{
	int depth = 0;

	for (; at; at--) {
		char c = text[at - 1];

		if (strchr(")]}>", c)) {
			depth++;
		} else if (strchr("([{<", c)) {
			if (!depth--)
				return at;
		} else if (!depth && (c == ',' || (c == ' ' && !is_qualifier(text, at - 1)))) {
			return at;
		}
	}
	return 0;
}

bool nameless_find(const char *text, nameless_tokens *ret)
{
	for (size_t i = 0; text[i]; i++) {
		struct nameless_token token, *slot;

		if (!token_at(text, i, &token))
			continue;
		token.start = name_start(text, i);
		slot = vec_push(ret);
		if (!slot)
			return false;
		*slot = token;
	}
	return true;
}

bool nameless_is_whole(const nameless_tokens *tokens, const struct nameless_token *token)
{
	const struct nameless_token *other;

	vec_for_each (tokens, other)
		if (other != token && other->start <= token->start && other->end >= token->end)
			return false;
	return true;
}

void nameless_add_bare(const char *mangled, struct buf *ret)
{
	for (const char *p = mangled; *p;) {
		size_t digits = strspn(p, "0123456789"), more;

		/* "3$_0": the length counts the digits, too. */
		if (digits && !strncmp(p + digits, "$_", 2)) {
			more = strtoul(p, NULL, 10);
			buf_addstr(ret, "$_");
			p += digits + 2;
			while (more-- > 2 && isdigit((unsigned char)*p))
				p++;
			continue;
		}
		buf_add(ret, p, 1);
		more = *p == 'E' || (p > mangled && p[-1] == 'U' && *p == 't')
			       ? strspn(p + 1, "0123456789")
			       : 0;
		p++;
		if (more && p[more] == '_')
			p += more;
	}
}
