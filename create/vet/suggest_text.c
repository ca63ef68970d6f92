// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * suggest_text.c - looking for members and objects in the text of sources
 *
 * No parser: what is found is shown to an author, who knows better. Comments and strings aren't
 * told from code.
 */

#include "create/vet/suggest_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "create/patch/diff_read.h"

/* The next place of a word at or behind `at`, before `end`; NULL: there is none. */
static const char *find_word(const char *begin, const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);

	for (; at + len <= end; at++)
		if (!memcmp(at, word, len) && (at == begin || !text_in_word(at[-1])) &&
		    (at + len == end || !text_in_word(at[len])))
			return at;
	return NULL;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* ---- the diff ---- */

/* "+++ b/src/proto.c" and its date: the file without the first folder, where that is a or b. */
static char *file_of(const char *line)
{
	const char *name = line + strlen("+++ ");
	size_t len = strcspn(name, "\t\r\n");

	if (len > 2 && (name[0] == 'a' || name[0] == 'b') && name[1] == '/')
		name += 2, len -= 2;
	return strndup(name, len);
}

int suggest_added_lines(const char *diff, added_lines *ret, struct uspl_err *err)
{
	struct diff_hunk hunk = { 0 };
	auto_free char *file = NULL;
	size_t number = 0;

	for (const char *line = diff, *end; *line; line = *end ? end + 1 : end) {
		struct added_line *added;

		end = line + strcspn(line, "\n");
		if (!diff_in_hunk(&hunk, line)) {
			const char *plus = strchr(line, '+');

			if (!strncmp(line, "+++ ", 4)) {
				free(file);
				file = file_of(line);
			} else if (!strncmp(line, "@@ ", 3) && plus && plus < end) {
				number = strtoul(plus + 1, NULL, 10);
			}
			continue;
		}
		if (*line == '-' || *line == '\\')
			continue;
		number++;
		if (*line != '+' || !file)
			continue;
		added = vec_push(ret);
		if (!added)
			return uspl_fail_nomem(err);
		*added = (struct added_line){ strdup(file), number - 1,
					      strndup(line + 1, (size_t)(end - line - 1)) };
		if (!added->file || !added->text)
			return uspl_fail_nomem(err);
	}
	return 0;
}

void suggest_release_lines(added_lines *lines)
{
	struct added_line *line;

	vec_for_each (lines, line) {
		free(line->file);
		free(line->text);
	}
	vec_release(lines);
}

/* ---- uses ---- */

/* Where the bracket that ends at `at` was opened. */
static const char *bracket_begin(const char *begin, const char *at)
{
	int depth = 0;

	for (; at >= begin; at--) {
		depth += *at == ')' || *at == ']';
		depth -= *at == '(' || *at == '[';
		if (!depth)
			return at;
	}
	return begin;
}

/* Where the object's expression begins that ends before `end`: "a->b[i]", "f(x)". */
static const char *object_begin(const char *begin, const char *end)
{
	const char *at = end;

	while (at > begin) {
		const char *last = at - 1;

		if (*last == ')' || *last == ']')
			at = bracket_begin(begin, last);
		else if (text_in_word(*last))
			while (at > begin && text_in_word(at[-1]))
				at--;
		else
			break;
		/* What goes on to the left: a call's name, another member. */
		if (at > begin && (text_in_word(at[-1]) || at[-1] == ')' || at[-1] == ']') &&
		    (*at == '(' || *at == '['))
			continue;
		if (at - begin > 2 && at[-1] == '>' && at[-2] == '-')
			at -= 2;
		else if (at - begin > 1 && at[-1] == '.')
			at--;
		else
			break;
	}
	return at;
}

/* The access to a member in front of its name: "->" or "."; 0: it is none. */
static size_t access_len(const char *begin, const char *name)
{
	if (name - begin > 2 && name[-1] == '>' && name[-2] == '-')
		return 2;
	return name - begin > 1 && name[-1] == '.' ? 1 : 0;
}

bool suggest_rewrite(const char *line, const char *member, const char *getter, struct buf *out)
{
	const char *end = line + strlen(line), *done = line, *at = line;
	auto_buf struct buf text = { 0 };
	bool any = false;

	while ((at = find_word(line, at, end, member))) {
		size_t len = access_len(line, at);
		const char *object = len ? object_begin(done, at - len) : at;

		if (object < at - len) {
			buf_add(&text, done, (size_t)(object - done));
			buf_addf(&text, "(*%s(%s%.*s))", getter, len == 1 ? "&" : "",
				 (int)(at - len - object), object);
			done = at + strlen(member);
			any = true;
		}
		at += strlen(member);
	}
	buf_addstr(&text, done);
	if (any)
		buf_addstr(out, buf_str(&text));
	return any;
}

/* A number, a string, or the name of a constant, up to the semicolon. */
static bool is_constant(const char *text, size_t len)
{
	if (len && (*text == '-' || *text == '+'))
		text++, len--;
	if (!len)
		return false;
	if ((len == 4 && (!memcmp(text, "true", 4) || !memcmp(text, "NULL", 4))) ||
	    (len == 5 && !memcmp(text, "false", 5)))
		return true;
	for (size_t i = 0; i < len; i++)
		if (!(isdigit((unsigned char)*text)
			      ? text_in_word(text[i]) || text[i] == '.'
			      : isupper((unsigned char)text[i]) ||
					isdigit((unsigned char)text[i]) || text[i] == '_'))
			return false;
	return true;
}

char *suggest_constant(const char *line, const char *member)
{
	const char *end = line + strlen(line), *at = find_word(line, line, end, member);
	size_t len;

	if (!at || !access_len(line, at))
		return NULL;
	at = skip_blanks(at + strlen(member));
	if (at[0] != '=' || at[1] == '=')
		return NULL;
	at = skip_blanks(at + 1);
	len = strcspn(at, ";,)");
	while (len && isblank((unsigned char)at[len - 1]))
		len--;
	return is_constant(at, len) ? strndup(at, len) : NULL;
}

char *suggest_typedef(const char *line, const char *member, const char *name)
{
	const char *begin = skip_blanks(line), *end = strchr(begin, ';');
	const char *at = end ? find_word(begin, begin, end, member) : NULL;
	auto_buf struct buf text = { 0 };
	const char *rest;

	if (!at || at == begin || access_len(begin, at) ||
	    strcspn(begin, "=") < (size_t)(end - begin))
		return NULL;
	rest = at + strlen(member);
	/* Several in one line: which of them the type belongs to isn't clear. */
	if (!strchr("[;:)", *skip_blanks(rest)) || strcspn(begin, ",") < (size_t)(at - begin))
		return NULL;
	buf_addf(&text, "typedef %.*s%s", (int)(at - begin), begin, name);
	if (*skip_blanks(rest) != ':')
		buf_add(&text, rest, (size_t)(end - rest));
	buf_addstr(&text, ";");
	return buf_take(&text);
}

/* ---- where objects are freed ---- */

/* Is `name` declared as a pointer to the type in this text? */
static bool declares(const char *begin, const char *end, const char *base, const char *name,
		     size_t name_len)
{
	for (const char *at = begin; (at = find_word(begin, at, end, base)); at++) {
		const char *star = skip_blanks(at + strlen(base));

		if (star >= end || *star != '*')
			continue;
		star = skip_blanks(star + 1);
		if (star + name_len < end && !memcmp(star, name, name_len) &&
		    !text_in_word(star[name_len]))
			return true;
	}
	return false;
}

/* From the head of the function that the line lies in. */
static const char *function_begin(const char *source, const char *line)
{
	enum { HEAD_MAX = 12 };
	int head = 0;

	while (line > source) {
		const char *before = line - 1;

		while (before > source && before[-1] != '\n')
			before--;
		if (*before == '}' || (head && (*before == '\n' || *before == '#')) ||
		    head > HEAD_MAX)
			break;
		head += head || *before == '{';
		line = before;
	}
	return line;
}

/* The pointer that is freed in the line, by its name; NULL: none is. */
static const char *freed_in(const char *line, const char *end, const char *base, size_t *ret_len)
{
	for (const char *at = line; at < end; at++) {
		const char *word = at, *name;
		bool frees;

		if (!text_in_word(*at))
			continue;
		while (at < end && text_in_word(*at))
			at++;
		frees = (at - word >= 4 && !memcmp(at - 4, "free", 4)) ||
			(at - word >= 4 && !memcmp(at - 4, "Free", 4));
		/* A function of the type's own frees it inside. */
		if (frees && (size_t)(at - word) > strlen(base) &&
		    !memcmp(word, base, strlen(base)))
			frees = false;
		name = skip_blanks(at);
		if (frees && *name == '(')
			name = skip_blanks(name + 1);
		else if (!(at - word == 6 && !memcmp(word, "delete", 6)))
			continue;
		for (*ret_len = 0; name + *ret_len < end && text_in_word(name[*ret_len]);)
			++*ret_len;
		if (*ret_len && strchr(");", *skip_blanks(name + *ret_len)))
			return name;
	}
	return NULL;
}

int suggest_freed(const char *source, const char *type, freed_places *ret, struct uspl_err *err)
{
	const char *base = strrchr(type, ' ') ? strrchr(type, ' ') + 1 : type;
	size_t number = 0;

	for (const char *line = source, *end; *line; line = *end ? end + 1 : end) {
		struct freed_place *place;
		const char *object;
		size_t len;

		end = line + strcspn(line, "\n");
		number++;
		/* A function's body begins there, or the one before ends. */
		object = *line == '{' || *line == '}' ? NULL : freed_in(line, end, base, &len);
		if (!object || !declares(function_begin(source, line), line, base, object, len))
			continue;
		place = vec_push(ret);
		if (!place)
			return uspl_fail_nomem(err);
		*place = (struct freed_place){ number, line, (size_t)(end - line), object, len };
	}
	return 0;
}

/* Is there a '*' at `at`, before the name of a pointer to the type? Brackets may be around it. */
static bool is_object(const char *source, const char *line, const char *at, const char *end,
		      const char *base)
{
	const char *name = at + 1;
	size_t len = 0;

	while (name < end && (*name == '(' || *name == ' '))
		name++;
	while (name + len < end && text_in_word(name[len]))
		len++;
	return *at == '*' && len && declares(function_begin(source, line), end, base, name, len);
}

bool suggest_takes_whole(const char *source, const char *line, const char *end, const char *type)
{
	const char *base = strrchr(type, ' ') ? strrchr(type, ' ') + 1 : type, *at = line;

	while ((at = find_word(line, at, end, "sizeof"))) {
		const char *of = at + strlen("sizeof");

		of += strspn(of, " \t(");
		if (is_object(source, line, of, end, base))
			return true;
		if (!strncmp(of, "struct ", 7) || !strncmp(of, "class ", 6))
			of += strcspn(of, " ") + 1;
		of = find_word(of, of, end, base) == of ? skip_blanks(of + strlen(base)) : NULL;
		if (of && *of == ')')
			return true;
		at += strlen("sizeof");
	}
	/* "*conn = *other;" begins a statement: else a '*' is a declaration's, or computes. */
	at = skip_blanks(line);
	if (!is_object(source, line, at, end, base))
		return false;
	at += 1 + strspn(at + 1, " (");
	while (text_in_word(*at))
		at++;
	at = skip_blanks(at + (*at == ')'));
	return at < end && at[0] == '=' && at[1] != '=';
}
