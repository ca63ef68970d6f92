// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * suggest.c - what an author could write where a new member is refused
 *
 * A member that is new is used in no line but those that the patch brings. So the diff tells all
 * uses, and mostly the initial value, too. Where objects are freed is looked for in the sources of
 * the target.
 */

#include "create/vet/suggest.h"

#include <string.h>

#include "base/file.h"
#include "create/unit/diff_unit.h"
#include "create/unit/report_warn.h"
#include "create/vet/suggest_text.h"

/* One member, and what it would be called. */
struct suggestion {
	const struct diff *diff;
	const char *type, *member; /* "struct conn", "deadline" */
	char *name, *getter;       /* "conn_deadline", "conn_deadline_of" */
	char *definition;          /* of its type */
	char *initial;             /* the one constant that the patch sets; NULL */
	const struct added_line *declared, *set;
	const added_lines *lines;
	struct buf *out;
};

static void suggestion_release(struct suggestion *suggestion)
{
	free(suggestion->name);
	free(suggestion->getter);
	free(suggestion->definition);
	free(suggestion->initial);
}

DEFINE_AUTO_RELEASE(suggestion, struct suggestion, suggestion_release)
#define auto_suggestion __attribute__((cleanup(cleanup_suggestion_)))

static int name_all(struct suggestion *s, struct type_member *member, struct uspl_err *err)
{
	const char *base = strrchr(s->type, ' ') ? strrchr(s->type, ' ') + 1 : s->type;
	auto_buf struct buf spelled = { 0 };
	auto_free char *type = NULL;
	const struct added_line *line;

	if (asprintf(&s->name, "%s_%s", base, s->member) < 0 ||
	    asprintf(&s->getter, "%s_of", s->name) < 0 || asprintf(&type, "%s_type", s->name) < 0)
		return uspl_fail_nomem(err);
	vec_for_each (s->lines, line) {
		char *definition = suggest_typedef(line->text, s->member, type);

		if (!definition)
			continue;
		s->definition = definition;
		s->declared = line;
		break;
	}
	dbgtype_spell(&member->type, &spelled);
	if (!s->definition &&
	    asprintf(&s->definition, "typedef %s %s;", buf_str(&spelled), type) < 0)
		return uspl_fail_nomem(err);
	return 0;
}

/* The value that the patch gives the member, if there is one only. */
static void find_initial(struct suggestion *s)
{
	const struct added_line *line;

	vec_for_each (s->lines, line) {
		auto_free char *value = suggest_constant(line->text, s->member);

		if (!value)
			continue;
		if (s->initial && strcmp(s->initial, value)) {
			free(s->initial);
			s->initial = NULL;
			return;
		}
		if (s->initial)
			continue;
		s->initial = take_ptr(value);
		s->set = line;
	}
	if (s->initial && (!strcmp(s->initial, "0") || !strcmp(s->initial, "NULL") ||
			   !strcmp(s->initial, "false"))) {
		free(s->initial);
		s->initial = NULL;
	}
}

static void add_code(const struct suggestion *s)
{
	buf_addf(s->out, "#include <uspl/shadow.h>\n\n%s\n\n", s->definition);
	if (s->initial) {
		buf_addf(s->out,
			 "/* What the patch sets in new objects (%s:%zu), for old ones as well. "
			 "*/\n",
			 s->set->file, s->set->line);
		buf_addf(s->out, "static void %s_begin(void *data, const void *object)\n{\n",
			 s->name);
		buf_addf(s->out, "\t(void)object;\n\t*(%s_type *)data = %s;\n}\n\n", s->name,
			 s->initial);
	}
	buf_addf(s->out, "USPL_SHADOW(%s, %s_type, %s%s, 0);\n\n", s->name, s->name,
		 s->initial ? s->name : "0", s->initial ? "_begin" : "");
	buf_addf(s->out, "static %s_type *%s(const void *object)\n{\n", s->name, s->getter);
	buf_addf(s->out, "\tvoid *data = uspl_shadow_get_or_alloc(&%s, object);\n\n", s->name);
	buf_addstr(s->out, "\tif (!data)\n\t\t__builtin_trap(); /* no memory */\n");
	buf_addf(s->out, "\treturn (%s_type *)data;\n}\n", s->name);
}

/* *ret_files: in how many files. */
static void add_uses(const struct suggestion *s, size_t *ret_files)
{
	const struct added_line *line;
	const char *file = NULL;

	vec_for_each (s->lines, line) {
		auto_buf struct buf text = { 0 };

		if (!suggest_rewrite(line->text, s->member, s->getter, &text))
			continue;
		buf_addf(s->out, "%s:%zu:\n-%s\n+%s\n", line->file, line->line, line->text,
			 buf_str(&text));
		*ret_files += !file || strcmp(file, line->file) != 0;
		file = line->file;
	}
}

static int add_freed_in(const struct suggestion *s, const char *source, size_t *n,
			struct uspl_err *err)
{
	auto_free char *path = file_join(s->diff->report->tree, source);
	auto_vec freed_places places = { 0 };
	const struct freed_place *place;
	auto_buf struct buf text = { 0 };
	int rc;

	if (!path)
		return uspl_fail_nomem(err);
	/* One that the build makes isn't in the tree. */
	if (file_read(path, &text, NULL) != 0)
		return 0;
	rc = suggest_freed(buf_str(&text), s->type, &places, err);
	if (rc)
		return rc;
	vec_for_each (&places, place) {
		buf_addf(s->out, "%s:%zu:\n+%.*suspl_shadow_free(&%s, %.*s);\n %.*s\n", source,
			 place->line, (int)strspn(place->text, " \t"), place->text, s->name,
			 (int)place->object_len, place->object, (int)place->text_len, place->text);
		++*n;
	}
	return 0;
}

/* The lines of a source that make, clear, copy or move objects. */
static int add_whole_in(const struct suggestion *s, const char *source, size_t *n,
			struct uspl_err *err)
{
	auto_free char *path = file_join(s->diff->report->tree, source);
	auto_buf struct buf text = { 0 };
	size_t number = 0;

	if (!path)
		return uspl_fail_nomem(err);
	if (file_read(path, &text, NULL) != 0)
		return 0;
	for (const char *line = buf_str(&text), *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		number++;
		if (!suggest_takes_whole(buf_str(&text), line, end, s->type))
			continue;
		buf_addf(s->out, "%s:%zu:\n %.*s\n", source, number, (int)(end - line), line);
		++*n;
	}
	return 0;
}

static int suggest_one(struct suggestion *s, struct type_member *member, struct uspl_err *err)
{
	size_t files = 0, freed = 0, whole = 0;
	int rc = name_all(s, member, err);

	if (rc)
		return rc;
	find_initial(s);
	buf_addf(s->out,
		 "'%s' can stay as it is, with '%s' beside it in a shadow variable "
		 "(uspl/shadow.h).\nThis goes by the text of the patch: read it before you use "
		 "it.\n\n",
		 s->type, s->member);
	if (s->declared)
		buf_addf(s->out, "1. Take the member out of the patch:\n\n%s:%zu:\n-%s\n\n",
			 s->declared->file, s->declared->line, s->declared->text);
	else
		buf_addf(s->out, "1. Take the member '%s' out of the patch.\n\n", s->member);
	buf_addstr(s->out, "2. Put this before the first function that uses it:\n\n");
	add_code(s);
	buf_addstr(s->out, "\n3. Use it by that function:\n\n");
	add_uses(s, &files);
	if (files > 1)
		buf_addf(s->out,
			 "In each other source put USPL_SHADOW_DECLARE(%s); instead of "
			 "USPL_SHADOW, and the function.\n",
			 s->name);
	buf_addstr(s->out, "\n4. Free it where the program frees an object:\n\n");
	for (size_t i = 0; i < s->diff->n_inputs; i++) {
		rc = add_freed_in(s, s->diff->inputs[i].source, &freed, err);
		if (rc)
			return rc;
	}
	if (!freed)
		buf_addstr(s->out,
			   "No such place was found. What isn't freed stays until undo, and "
			   "a new object at the same address finds it.\n");
	buf_addstr(s->out,
		   "\n5. Look at each place that goes by an object as a whole. Where it makes or "
		   "clears one,\nfree what an object at that address had; where it copies or moves "
		   "one, copy that, too:\n\n");
	for (size_t i = 0; i < s->diff->n_inputs; i++) {
		rc = add_whole_in(s, s->diff->inputs[i].source, &whole, err);
		if (rc)
			return rc;
	}
	if (!whole)
		buf_addstr(s->out, "No such place was found.\n");
	buf_addf(s->out, "\nThen '%s' doesn't change, and nothing has to be answered.\n", s->type);
	return 0;
}

int suggest_shadows(const struct diff *diff, struct type_change *change, struct uspl_err *err)
{
	auto_members member_vec pre = { 0 }, post = { 0 };
	auto_added added_lines lines = { 0 };
	struct type_member *member;
	int rc = suggest_added_lines(diff->report->patch ? diff->report->patch : "", &lines, err);

	if (rc)
		return rc;
	rc = dbgtype_members(&change->pre, &pre, err);
	if (rc)
		return rc;
	rc = dbgtype_members(&change->post, &post, err);
	if (rc)
		return rc;
	vec_for_each (&post, member) {
		auto_suggestion struct suggestion s = { .diff = diff,
							.type = change->name,
							.lines = &lines,
							.out = &diff->report->suggestion };

		if (dbgtype_member(&pre, member->name))
			continue;
		s.member =
			strrchr(member->name, '.') ? strrchr(member->name, '.') + 1 : member->name;
		rc = suggest_one(&s, member, err);
		if (rc)
			return rc;
	}
	return 0;
}
