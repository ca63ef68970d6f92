// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * states.c - are line numbers states of a program, where they can't be kept?
 *
 * Coroutines made of a switch (protothreads and their like) leave a function in the middle, with
 * the line's number in a variable, and come back by `case __LINE__`. With another number they would
 * come back to another place, or to none. lines.c keeps the numbers; this is for the places
 * where it can't: sources with #line directives of their own, and unchanged lines between
 * parentheses that the patch adds lines to, before which no directive may stand.
 *
 * Only the compiler knows which line is a state. So all files that the source is compiled from are
 * searched for the label itself, which mostly is in a macro of a header. It may get the number as
 * the argument of a macro, `#define AT(n) case n:`, which may have it from another macro, or by an
 * enumerator, `enum { WAITING = __LINE__ }`. __builtin_LINE() is the same number.
 *
 * A line that goes away takes its state along: what waits there finds no label any more. So the
 * lines that are gone are searched for macros that make such labels.
 *
 * The same is done with __COUNTER__. Only the compiler knows what that has been: so there is only a
 * note where a patched source has such labels.
 */

#include "create/build/states.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/strvec.h"
#include "base/text.h"
#include "create/build/record.h"
#include "create/build/units.h"
#include "create/patch/patched.h"
#include "create/tree/build.h"
#include "create/tree/tree.h"

/* Macros that pass an argument to macros that pass it on. */
enum { MAX_DEPTH = 8 };

/* Is there a label with this word, in a stretch of text? */
static bool has_case(const char *text, const char *end, const char *word, size_t len)
{
	const char *p = text;

	while ((p = memmem(p, (size_t)(end - p), word, len))) {
		const char *at = p;

		/* "case" may stand before it, with nothing but blanks and parentheses between. */
		while (at > text &&
		       (isspace((unsigned char)at[-1]) || at[-1] == '(' || at[-1] == '\\'))
			at--;
		if (at - text >= 4 && !memcmp(at - 4, "case", 4) &&
		    (at - text == 4 || !text_in_word(at[-5])) && !text_in_word(p[len]) &&
		    !text_in_word(p[-1]))
			return true;
		p++;
	}
	return false;
}

/* The end of a line that may go on in the next one. */
static const char *directive_end(const char *p)
{
	while (*p && (*p != '\n' || p[-1] == '\\'))
		p++;
	return p;
}

/* What a unit's files have of states. */
struct labels {
	bool line, counter;   /* case __LINE__, case __COUNTER__ */
	struct strmap macros; /* names of macros that make a label of an argument */
	bool more;            /* one was added to them */
	bool oom;
};

/* Is the word at p an argument of such a macro? */
static bool is_argument(const struct labels *labels, const char *text, const char *p)
{
	const char *end, *name;
	auto_free char *copy = NULL;

	while (p > text && !strchr("(;{}\n", p[-1]))
		p--;
	if (p == text || p[-1] != '(')
		return false;
	end = p - 1;
	for (name = end; name > text && text_in_word(name[-1]);)
		name--;
	copy = strndup(name, (size_t)(end - name));
	return copy && strmap_get(&labels->macros, copy);
}

/* Is the word anywhere in a stretch of text an argument of such a macro? */
static bool has_argument(const struct labels *labels, const char *text, const char *end,
			 const char *word, size_t len)
{
	for (const char *p = text; (p = memmem(p, (size_t)(end - p), word, len)); p++)
		if (!text_in_word(p[len]) && (p == text || !text_in_word(p[-1])) &&
		    is_argument(labels, text, p))
			return true;
	return false;
}

/* Does a macro's body make a label of one of its parameters? */
static bool makes_label(const struct labels *labels, const char *parameters, const char *end)
{
	for (const char *p = parameters; p < end && !strchr(")\n", *p);) {
		size_t len;

		p += strspn(p, " \t,");
		len = strcspn(p, " \t,)\n");
		if (len &&
		    (has_case(p + len, end, p, len) || has_argument(labels, p + len, end, p, len)))
			return true;
		p += len;
	}
	return false;
}

/* Is the word among the names and blanks that begin at p? */
static bool has_word(const char *p, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		p += strspn(p, " \t\r\n");
		if (!strncmp(p, word, len) && !text_in_word(p[len]))
			return true;
		if (!text_in_word(*p))
			return false;
		while (text_in_word(*p))
			p++;
	}
}

/* Does "enum NAME { A, B =" stand before p? */
static bool is_enumerator(const char *text, const char *p)
{
	while (p > text && isspace((unsigned char)p[-1]))
		p--;
	if (p == text || p[-1] != '=')
		return false;
	while (p > text && !strchr("{};()", p[-1]))
		p--;
	if (p == text || p[-1] != '{')
		return false;
	p--;
	while (p > text && (isspace((unsigned char)p[-1]) || text_in_word(p[-1])))
		p--;
	return has_word(p, "enum");
}

static bool has_label(const struct labels *labels, const struct buf *text, const char *word)
{
	const char *start = buf_str(text), *end = start + text->len;
	size_t len = strlen(word);

	if (has_case(start, end, word, len) || has_argument(labels, start, end, word, len))
		return true;
	for (const char *p = start; (p = strstr(p, word)); p++)
		if (is_enumerator(start, p))
			return true;
	return false;
}

/* Headers of the system make no states of anything; one that is gone was a temporary one. */
static bool read_own(const char *path, struct buf *text)
{
	return strncmp(path, "/usr/", 5) != 0 && !file_read(path, text, NULL);
}

/* Notes macros with "case n" for an argument n, and those that pass an argument to such a macro. */
static int note_file_macros(const char *path, void *ctx, struct uspl_err *err)
{
	static const char define[] = "define ";
	struct labels *labels = ctx;
	auto_buf struct buf text = { 0 };

	(void)err;
	if (!read_own(path, &text))
		return 0;
	for (const char *p = buf_str(&text); (p = strstr(p, define)); p++) {
		const char *name = p + sizeof(define) - 1, *open = name + strcspn(name, "( \t\n");
		auto_free char *copy = NULL;

		if (*open != '(' || !makes_label(labels, open + 1, directive_end(p)))
			continue;
		copy = strndup(name, (size_t)(open - name));
		if (copy && strmap_get(&labels->macros, copy))
			continue;
		labels->oom |= !copy || !strmap_set(&labels->macros, copy, labels);
		labels->more = true;
	}
	return 0;
}

static int note_labels(const char *path, void *ctx, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	struct labels *labels = ctx;

	(void)err;
	if (!read_own(path, &text))
		return 0;
	labels->line |=
		has_label(labels, &text, "__LINE__") || has_label(labels, &text, "__builtin_LINE");
	labels->counter |= has_label(labels, &text, "__COUNTER__");
	return 0;
}

static int labels_of(const struct record *record, struct labels *ret, struct uspl_err *err)
{
	int rc = 0;

	/* A macro that passes an argument on may be read before the one that gets it. */
	for (int depth = 0; !rc && depth < MAX_DEPTH && (!depth || ret->more); depth++) {
		ret->more = false;
		rc = record_each_file(record, note_file_macros, ret, err);
	}
	if (!rc)
		rc = record_each_file(record, note_labels, ret, err);
	if (!rc && ret->oom)
		rc = uspl_fail_nomem(err);
	strmap_release(&ret->macros);
	return rc;
}

/* ---- states that are gone ---- */

/* A search for macros that make a label of the line's number, or use one that does. */
struct state_macros {
	struct strmap names;
	bool more; /* one was added to them */
	bool oom;
};

/* The first word of a stretch of text that is such a macro's name; empty: there is none. */
static size_t find_macro(const struct state_macros *macros, const char *text, const char *end,
			 const char **ret)
{
	for (const char *p = text; p < end;) {
		size_t len = 0;
		auto_free char *word = NULL;

		while (p + len < end && text_in_word(p[len]))
			len++;
		word = len ? strndup(p, len) : NULL;
		*ret = p;
		if (word && strmap_get(&macros->names, word))
			return len;
		p += len ? len : 1;
	}
	return 0;
}

static int note_file_state_macros(const char *path, void *ctx, struct uspl_err *err)
{
	static const char define[] = "define ", line[] = "__LINE__";
	struct state_macros *macros = ctx;
	auto_buf struct buf text = { 0 };
	const char *ignored;

	(void)err;
	if (!read_own(path, &text))
		return 0;
	for (const char *p = buf_str(&text); (p = strstr(p, define)); p++) {
		const char *name = p + sizeof(define) - 1, *body = name, *end = directive_end(p);
		auto_free char *copy = NULL;

		while (text_in_word(*body))
			body++;
		copy = strndup(name, (size_t)(body - name));
		if (copy && (!*copy || strmap_get(&macros->names, copy)))
			continue;
		if (!has_case(body, end, line, sizeof(line) - 1) &&
		    !find_macro(macros, body, end, &ignored))
			continue;
		macros->oom |= !copy || !strmap_set(&macros->names, copy, macros);
		macros->more = true;
	}
	return 0;
}

static int check_gone(const struct units *units, const struct record *record,
		      const struct compiled_file *file, struct uspl_err *err)
{
	const char *gone = buf_str(&file->kept.gone), *end = gone + file->kept.gone.len;
	struct state_macros macros = { .more = true };
	const char *state = NULL;
	size_t len = 0;
	int rc = 0;

	for (int depth = 0; !rc && depth < MAX_DEPTH && macros.more; depth++) {
		macros.more = false;
		rc = record_each_file(record, note_file_state_macros, &macros, err);
	}
	if (!rc && macros.oom)
		rc = uspl_fail_nomem(err);
	if (!rc)
		len = find_macro(&macros, gone, end, &state);
	strmap_release(&macros.names);
	if (!rc && !len && has_case(gone, end, "__LINE__", 8))
		state = "__LINE__", len = 8;
	if (rc || !len)
		return rc;
	uspl_fail(err, USPL_E_DATA_CHANGE,
		  "%s: the patch takes away a line with '%.*s', which makes a state of the line's "
		  "number by 'case __LINE__'",
		  units_relative(units, file->path), (int)len, state);
	uspl_hint(err, "what waits there in the process would find no label; leave the line, and "
		       "let what it waits for be true, or change it in its place");
	return -USPL_E_DATA_CHANGE;
}

static int refuse(const struct units *units, const struct compiled_file *file, struct uspl_err *err)
{
	const char *name = units_relative(units, file->path);

	uspl_fail(err, USPL_E_DATA_CHANGE,
		  "%s:%zu: 'case __LINE__' makes states of line numbers, and the patch gives other "
		  "numbers to lines that it doesn't change, from here on",
		  name, file->kept.lost);
	if (file->kept.foreign)
		uspl_hint(err,
			  "'%s' has #line directives of its own; change as many lines as "
			  "there were, and add none",
			  name);
	else
		uspl_hint(err,
			  "leave as many lines as there were between the parentheses; put what "
			  "is new before the statement");
	return -USPL_E_DATA_CHANGE;
}

/* One patched source, in one unit that is compiled from it. */
static int check_unit(struct units *units, const struct record *record,
		      const struct compiled_file *file, bool *said, struct uspl_err *err)
{
	char *paths[] = { file->path };
	const strvec files = { .items = paths, .n = 1, .cap = 1 };
	struct labels labels = { 0 };
	bool depends = false;
	int rc = record->kind == RECORD_COMPILE ? record_depends(record, &files, &depends, err) : 0;

	if (rc || !depends)
		return rc;
	rc = labels_of(record, &labels, err);
	if (rc)
		return rc;
	if (labels.line && file->kept.lost)
		return refuse(units, file, err);
	if (labels.line && file->kept.gone.len) {
		rc = check_gone(units, record, file, err);
		if (rc)
			return rc;
	}
	if (!labels.counter || *said)
		return 0;
	*said = true;
	return build_note(units->build, err,
			  "'%s': 'case __COUNTER__' makes states of a number that each use counts "
			  "up: if the patch adds or takes away one, the process goes on at another "
			  "place",
			  units_relative(units, file->path));
}

/* A source that the build has written anew has its lines where the build put them. */
static int check_generated(const struct units *units, const struct record *record,
			   const strvec *patched, struct uspl_err *err)
{
	struct labels labels = { 0 };
	bool generated = false;
	int rc = units_is_generated(units, record, patched, &generated, err);

	if (rc)
		return rc;
	if (generated) {
		rc = labels_of(record, &labels, err);
		if (rc)
			return rc;
	}
	if (!labels.line)
		return 0;
	uspl_fail(err, USPL_E_DATA_CHANGE,
		  "%s: 'case __LINE__' makes states of line numbers, and the build writes a file "
		  "anew that it is compiled from",
		  units_relative(units, record->source));
	uspl_hint(err, "if the build applies patches, give the patch itself, for a tree that has "
		       "those before it");
	return -USPL_E_DATA_CHANGE;
}

int states_check(struct units *units, const struct numbering *numbering, const strvec *patched,
		 struct uspl_err *err)
{
	const struct compiled_file *file;
	struct record **record;

	vec_for_each (&units->post, record) {
		int rc = check_generated(units, *record, patched, err);

		if (rc)
			return rc;
	}
	vec_for_each (&numbering->compiled, file) {
		bool said = false;

		vec_for_each (&units->post, record) {
			int rc = check_unit(units, *record, file, &said, err);

			if (rc)
				return rc;
		}
	}
	return 0;
}
