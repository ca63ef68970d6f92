// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * nameless_text.c - the numbers of nameless types in the names of symbols
 *
 * In the names that the linker sees they can't be found without understanding all of the grammar
 * (Itanium C++ ABI, 5.1), since parts of a name are abbreviated by references to parts before. The
 * demangled name is written out in full, and has them in four forms: "{lambda(int)#2}" and
 * "{unnamed type#2}", numbered in what they stand in; clang's "$_2" and gcc's "._anon_2", a
 * structure outside functions, numbered in the whole unit. What a demangled name doesn't tell
 * (which of several constructors) is compared by the name that the linker sees, without the
 * numbers.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/text.h"
#include "create/unit/nameless.h"

/* What gcc calls a structure without a name that is in no function, before its number. */
static const char anon[] = "._anon_";

bool nameless_is_in(const char *mangled)
{
	return text_starts_with(mangled, "_Z") && (strstr(mangled, "Ul") || strstr(mangled, "Ut") ||
						   strstr(mangled, "$_") || strstr(mangled, anon));
}

size_t nameless_stem_len(const char *mangled)
{
	size_t len = strcspn(mangled, ".");

	while (text_starts_with(mangled + len, anon))
		len += 1 + strcspn(mangled + len + 1, ".");
	return len;
}

/* More spellings of one name than that aren't tried. */
enum { MAX_SPELLINGS = 300 };

/*
 * Where a nameless type ends that begins here, at the first place from `from` where it may; 0:
 * nowhere.
 */
static size_t type_end(const char *name, size_t start, size_t from)
{
	bool lambda = name[start + 1] == 'l';

	for (size_t i = from; name[i]; i++) {
		size_t digits = strspn(name + i + 1, "0123456789");

		if (name[i] == (lambda ? 'E' : 't') && name[i + 1 + digits] == '_')
			return i + digits + 2;
		if (!lambda)
			return 0;
	}
	return 0;
}

/*
 * gcc writes a lambda that is in no function as a bare "UliE_", where others expect a name's parts:
 * "NUliE_E". Tries this for each that stands behind `from`. NULL: no spelling is one.
 */
static char *demangle_spelled(const char *name, size_t from, int *tries)
{
	for (size_t at = from; name[at]; at++) {
		size_t end = at + 1;

		if (name[at] != 'U' || (name[at + 1] != 'l' && name[at + 1] != 't'))
			continue;
		while ((end = type_end(name, at, end)) && --*tries > 0) {
			auto_buf struct buf spelled = { 0 };
			char *text;

			buf_add(&spelled, name, at);
			buf_addstr(&spelled, "N");
			buf_add(&spelled, name + at, end - at);
			buf_addstr(&spelled, "E");
			buf_addstr(&spelled, name + end);
			if (spelled.oom)
				return NULL;
			text = demangle_name(buf_str(&spelled));
			if (text && !text_starts_with(text, "_Z"))
				return text;
			free(text);
			text = demangle_spelled(buf_str(&spelled), end + 2, tries);
			if (text)
				return text;
		}
	}
	return NULL;
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
	size_t before = text_starts_with(text + at, anon) ? strlen(anon) : strlen("$_");

	if ((before > 2 || text_starts_with(text + at, "$_")) &&
	    isdigit((unsigned char)text[at + before])) {
		ret->number = at + before;
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
		token.own = i;
		slot = vec_push(ret);
		if (!slot)
			return false;
		*slot = token;
	}
	return true;
}

/* Do two tokens read the same, what they stand in aside? */
static bool same_token(const char *text, const struct nameless_token *a,
		       const struct nameless_token *b)
{
	size_t len = a->end - a->own;

	return b->end - b->own == len && !strncmp(text + a->own, text + b->own, len);
}

/* Is the second one the name of the first one's constructor or destructor, "$_1::~$_1"? */
static bool is_member_name(const char *text, const struct nameless_token *of,
			   const struct nameless_token *name)
{
	size_t between = name->own - of->end;

	return name->own > of->end && same_token(text, of, name) &&
	       ((between == 2 && !strncmp(text + of->end, "::", 2)) ||
		(between == 3 && !strncmp(text + of->end, "::~", 3)));
}

/* Is the second one, without what it stands in, the parameter of the first one's constructor? */
static bool is_bare_parameter(const char *text, const struct nameless_token *of,
			      const struct nameless_token *bare)
{
	return of->start < of->own && bare->start == bare->own && bare->own > of->end + 2 &&
	       same_token(text, of, bare) && !strncmp(text + of->end, "::", 2) &&
	       of->end + strcspn(text + of->end, "(") + 1 == bare->own;
}

/*
 * What the demangler says of a type's constructors looks like other types: clang's are called as
 * the type is, "f()::$_1::$_1", and the parameter of one that copies is written without what the
 * type stands in, "f()::{lambda(int)#2}::string({lambda(int)#2} const&)". The name is left out, and
 * the parameter written in full.
 */
static char *mend_members(char *text)
{
	auto_free char *own = text;
	auto_tokens nameless_tokens tokens = { 0 };
	const struct nameless_token *of, *other;
	struct buf full = { 0 };
	size_t at = 0;

	if (!nameless_find(text, &tokens))
		return take_ptr(own);
	vec_for_each (&tokens, other)
		vec_for_each (&tokens, of) {
			bool name = is_member_name(text, of, other);

			if (other->own < at || !(name || is_bare_parameter(text, of, other)))
				continue;
			buf_add(&full, text + at, other->own - at);
			if (!name)
				buf_add(&full, text + of->start, of->end - of->start);
			at = other->end;
		}
	buf_addstr(&full, text + at);
	return buf_take(&full);
}

char *nameless_demangle(const char *mangled)
{
	auto_free char *stem = strndup(mangled, nameless_stem_len(mangled));
	auto_free char *text = stem ? demangle_name(stem) : NULL;
	int tries = MAX_SPELLINGS;
	char *spelled = text && text_starts_with(text, "_Z") && nameless_is_in(stem)
				? demangle_spelled(stem, strlen("_Z"), &tries)
				: NULL;

	if (!spelled)
		spelled = take_ptr(text);
	return spelled ? mend_members(spelled) : NULL;
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

		/* "3$_0", "8._anon_0": the length counts the digits, too. */
		if (digits &&
		    (text_starts_with(p + digits, "$_") || text_starts_with(p + digits, anon))) {
			size_t sign = p[digits] == '$' ? strlen("$_") : strlen(anon);

			more = strtoul(p, NULL, 10);
			buf_add(ret, p + digits, sign);
			p += digits + sign;
			while (more-- > sign && isdigit((unsigned char)*p))
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
