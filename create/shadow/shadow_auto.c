// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * shadow_auto.c - new members of structures, made shadow variables by the compiler
 *
 *     build     keep_layout.cc, for the gcc that has compiled the sources
 *     scan      each source that the build after the patch has compiled, for its facts
 *     judge     can the structures stay as they are, and which source uses the new members?
 *     compile   the sources that know the structures, with their old layouts
 *
 * A structure that can't stay as it is, and has room for its new members, gets them there, as if
 * they were declared in that place; what its objects' bytes mean is no question then. All sources
 * are scanned anew, since a number that was found may have been of that one.
 *
 * What a source does to objects of such a structure is known from its own code, and all sources
 * that know the structure are looked at: those that don't can neither make an object nor copy one,
 * for want of its size. One of the sources that make objects or use the new members defines the
 * shadow variable, and the others refer to it.
 */

#include "create/shadow/shadow_auto.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

/* Longer names don't fit the shadow variable's (USPL_SHADOW_NAME_MAX). */
enum { NAME_MAX_LEN = 48 };

/* What is known of a structure, of all sources. */
struct found {
	const struct shadowed_type *type;
	/* The sources that use it, the one that defines the shadow variable first. */
	VEC(const struct build_unit *) users;
	unsigned long cell; /* the size of what an object has beside it */
	bool lent;          /* the address of a new member is taken */
	/* Why the members go where it has room; NULL: they don't. */
	char *why_in_room;
};

struct work {
	struct report *report;
	const char *folder;
	char *spec, *plugin; /* files */
	VEC(struct found) types;
};

static void work_release(struct work *work)
{
	struct found *found;

	vec_for_each (&work->types, found) {
		vec_release(&found->users);
		free(found->why_in_room);
	}
	free(work->spec);
	free(work->plugin);
	vec_release(&work->types);
}

DEFINE_AUTO_RELEASE(work, struct work, work_release)
#define auto_work __attribute__((cleanup(cleanup_work_)))

void shadow_auto_ask(void)
{
	setenv("USPL_CC_AGAIN", "1", 1);
}

/* "OBJECT.again", or what stands for another file of this compilation; NULL: out of memory. */
static char *beside(const struct build_unit *unit, const char *suffix)
{
	const char *kept = strstr(unit->post_obj, ".kept.o");
	size_t len = kept ? (size_t)(kept - unit->post_obj) : strlen(unit->post_obj);

	return text_format("%.*s%s", (int)len, unit->post_obj, suffix);
}

/* Compiles once more, with more options; the compiler's status, or a failure. */
static int repeat(const struct build_unit *unit, const char *const *options, struct buf *output,
		  struct uspl_err *err)
{
	auto_free char *script = beside(unit, ".again");
	const char *argv[16] = { "sh", script };
	size_t n = 2;

	if (!script)
		return uspl_fail_nomem(err);
	for (; *options && n < ARRAY_SIZE(argv) - 1; options++)
		argv[n++] = *options;
	return subprocess_run(argv, NULL, output, output, err);
}

/* ---- build ---- */

/* What the compiler answers to one option, without the line's end. */
static int ask(const struct build_unit *unit, const char *option, struct buf *ret,
	       struct uspl_err *err)
{
	const char *options[] = { option, NULL };
	int status = repeat(unit, options, ret, err);

	if (status < 0)
		return status;
	while (ret->len && ret->data[ret->len - 1] == '\n')
		ret->len--;
	buf_addstr(ret, "");
	return status || ret->oom ? uspl_fail(err, USPL_E_UNSUPPORTED,
					      "the compiler of '%s' doesn't understand '%s'",
					      unit->source, option)
				  : 0;
}

static int refuse_headers(const struct build_unit *unit, struct uspl_err *err)
{
	auto_buf struct buf version = { 0 };
	int rc = ask(unit, "-dumpversion", &version, err);

	if (rc)
		return rc;
	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "--shadow=auto: the headers for plugins of the compiler of '%s', gcc %s, aren't "
		  "installed",
		  unit->source, buf_str(&version));
	uspl_hint(err, "they are in the package gcc-%.*s-plugin-dev",
		  (int)strcspn(buf_str(&version), "."), buf_str(&version));
	return -USPL_E_UNSUPPORTED;
}

static int build_plugin(struct work *work, const struct build_unit *unit, struct uspl_err *err)
{
	extern const char uspl_keep_layout_begin[], uspl_keep_layout_end[];
	auto_free char *source = file_join(work->folder, "keep_layout.cc");
	auto_buf struct buf folder = { 0 }, output = { 0 };
	auto_free char *header = NULL;
	auto_free char *include = NULL;
	int rc;

	work->plugin = file_join(work->folder, "keep_layout.so");
	if (!source || !work->plugin)
		return uspl_fail_nomem(err);
	rc = ask(unit, "-print-file-name=plugin", &folder, err);
	if (rc)
		return rc;
	header = text_format("%s/include/gcc-plugin.h", buf_str(&folder));
	include = text_format("-I%s/include", buf_str(&folder));
	if (!header || !include)
		return uspl_fail_nomem(err);
	if (access(header, R_OK) < 0)
		return refuse_headers(unit, err);
	rc = file_write(source, uspl_keep_layout_begin,
			(size_t)(uspl_keep_layout_end - uspl_keep_layout_begin), err);
	if (rc)
		return rc;
	{
		const char *argv[] = { "g++",   "-shared", "-fPIC",      "-fno-rtti", "-O1", "-w",
				       include, "-o",      work->plugin, source,      NULL };
		int status = subprocess_run(argv, NULL, &output, &output, err);

		if (status < 0)
			return status;
		if (status == 127)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "--shadow=auto needs 'g++', to compile a plugin of gcc");
		if (status)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "--shadow=auto: the plugin can't be compiled for the "
					 "compiler of '%s': %.600s",
					 unit->source, buf_str(&output));
	}
	return 0;
}

static int take_types(struct work *work, struct uspl_err *err)
{
	const struct shadowed_type *type;

	vec_for_each (&work->report->shadowed, type) {
		struct found *found = vec_push(&work->types);

		if (!found)
			return uspl_fail_nomem(err);
		*found = (struct found){ .type = type };
		if (type->tagless && !(found->why_in_room = strdup("it has no tag")))
			return uspl_fail_nomem(err);
		if (strlen(type->name) > NAME_MAX_LEN)
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "--shadow=auto: the name of 'struct %s' has more than %d "
					 "characters",
					 type->name, NAME_MAX_LEN);
	}
	work->spec = file_join(work->folder, "keep_layout.spec");
	return work->spec ? 0 : uspl_fail_nomem(err);
}

static int write_spec(const struct work *work, struct uspl_err *err)
{
	auto_buf struct buf text = { 0 };
	const struct found *found;

	vec_for_each (&work->types, found)
		buf_addf(&text, "%s%s %s\n", found->type->tagless ? "?" : "", found->type->name,
			 buf_str(found->why_in_room ? &found->type->places
						    : &found->type->members));
	return text.oom ? uspl_fail_nomem(err) : file_write(work->spec, text.data, text.len, err);
}

/* ---- scan, compile ---- */

/*
 * Runs the compiler with the plugin; what it has found out is in *ret. object: what it makes, with
 * header (if there is one) before the source; NULL: it only scans.
 */
static int run_plugin(struct work *work, const struct build_unit *unit, const char *object,
		      const char *header, struct buf *ret, struct uspl_err *err)
{
	auto_free char *facts = beside(unit, ".facts");
	auto_free char *plugin = NULL, *spec = NULL, *told = NULL;
	auto_buf struct buf output = { 0 };
	int status;

	plugin = text_format("-fplugin=%s", work->plugin);
	spec = text_format("-fplugin-arg-keep_layout-spec=%s", work->spec);
	if (facts)
		told = text_format("-fplugin-arg-keep_layout-facts=%s", facts);
	if (!plugin || !spec || !told)
		return uspl_fail_nomem(err);
	{
		const char *scanning[] = {
			plugin,          spec, told, "-fplugin-arg-keep_layout-mode=scan",
			"-fsyntax-only", "-w", NULL
		};
		const char *keeping[] = { plugin, spec,   told,
					  "-o",   object, header ? "-include" : NULL,
					  header, NULL };

		status = repeat(unit, object ? keeping : scanning, &output, err);
	}
	if (status < 0)
		return status;
	if (status)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "--shadow=auto: '%s' doesn't compile with structures of the old "
				 "form: %.900s",
				 unit->source, buf_str(&output));
	return file_read(facts, ret, err);
}

static bool is_user(const struct found *found, const struct build_unit *unit)
{
	const struct build_unit *const *user;

	vec_for_each (&found->users, user)
		if (*user == unit)
			return true;
	return false;
}

/* A place as the compiler names it, as people do. */
static const char *short_place(const struct work *work, const char *place)
{
	size_t len = strlen(work->folder);

	if (strncmp(place, work->folder, len) != 0 || strncmp(place + len, "/tree/", 6) != 0)
		return place;
	return place + len + 6;
}

/* Takes in one line of facts: its words are ended by '\0'. */
static int take_fact(struct work *work, const struct build_unit *unit, char *const words[4],
		     struct uspl_err *err)
{
	const char *place = words[2] ? short_place(work, words[2]) : "";
	const struct build_unit **user;
	struct found *found = NULL, *type;

	vec_for_each (&work->types, type)
		if (!found && words[1] && !strcmp(type->type->name, words[1]))
			found = type;
	if (!found || !words[0])
		return uspl_fail(err, USPL_E_BUG, "the plugin says '%s'", words[0]);
	if (!strcmp(words[0], "sees") && words[2])
		found->cell = strtoul(words[2], NULL, 10);
	if (!strcmp(words[0], "no")) {
		uspl_fail(err, USPL_E_DATA_CHANGE,
			  "%s: '%s%s' can't keep its form, with '%s' in a shadow variable that "
			  "the compiler makes: %s",
			  place, found->type->tagless ? "" : "struct ", found->type->name,
			  buf_str(&found->type->members), words[3] ? words[3] : "");
		uspl_hint(err,
			  "without --shadow=auto, --suggest prints what an author could write");
		return -USPL_E_DATA_CHANGE;
	}
	if (!strcmp(words[0], "takes"))
		report_warn(work->report,
			    "%s: '%s' is taken for a function that gives room for a new 'struct "
			    "%s', in which nothing is kept from before",
			    place, words[3] ? words[3] : "", found->type->name);
	if (!strcmp(words[0], "lends")) {
		found->lent = true;
		report_warn(work->report,
			    "%s: the address of the new member '%s' of 'struct %s' is taken: what "
			    "gets it has to do with zero bytes, and undo keeps what it leads to",
			    place, words[3] ? words[3] : "", found->type->name);
	}
	if (strcmp(words[0], "uses") != 0 || is_user(found, unit))
		return 0;
	user = vec_push(&found->users);
	if (!user)
		return uspl_fail_nomem(err);
	*user = unit;
	return 0;
}

static int take_facts(struct work *work, const struct build_unit *unit, struct buf *facts,
		      struct uspl_err *err)
{
	char *rest = facts->data, *line;

	while (rest && (line = strsep(&rest, "\n")) && *line) {
		char *words[4];
		int rc;

		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = strsep(&line, "\t");
		rc = take_fact(work, unit, words, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The shadow variable, for the source that defines it. Where the address of a member is taken, undo
 * must not unmap the cells: a hook of a later line, which runs earlier, lets go of them.
 */
static void define_cells(const struct found *found, struct buf *text)
{
	const char *name = found->type->name;

	buf_addf(text, "USPL_SHADOW(uspl_auto_%s, struct uspl_auto_%s_cell, 0, 0);\n", name, name);
	if (!found->lent)
		return;
	buf_addf(text,
		 "static void uspl_auto_%s_keep(void)\n"
		 "{\n"
		 "\tuspl_auto_%s.chunks = 0;\n"
		 "}\n"
		 "USPL_POST_UNDO(uspl_auto_%s_keep);\n",
		 name, name, name);
}

/* The functions for the cells of the structures that the source uses; *ret NULL: it uses none. */
static int write_header(struct work *work, const struct build_unit *unit, char **ret,
			struct uspl_err *err)
{
	auto_free char *path = beside(unit, ".cells.h");
	int rc;
	auto_buf struct buf text = { 0 };
	const struct found *found;
	bool any = false;

	buf_addstr(&text, "#pragma GCC system_header\n#include <uspl/shadow.h>\n");
	vec_for_each (&work->types, found) {
		const char *name = found->type->name;

		if (!is_user(found, unit))
			continue;
		any = true;
		/* Not hidden by an option: modules of one process must not have several. */
		buf_addf(&text,
			 "extern struct uspl_shadow uspl_auto_%s "
			 "__attribute__((visibility(\"default\")));\n"
			 "struct uspl_auto_%s_cell { unsigned long words[%lu]; };\n",
			 name, name, (found->cell + 7) / 8);
		if (found->users.items[0] == unit)
			define_cells(found, &text);
		else
			buf_addf(&text, "USPL_SHADOW_DECLARE(uspl_auto_%s);\n", name);
		buf_addf(&text,
			 "USPL_SHADOW_FN_ void *uspl_auto_%s_at(const void *object)\n"
			 "{\n"
			 "\tvoid *cell = uspl_shadow_get_or_alloc(&uspl_auto_%s, object);\n"
			 "\n"
			 "\tif (!cell)\n"
			 "\t\t__builtin_trap(); /* no memory, or no object */\n"
			 "\treturn cell;\n"
			 "}\n"
			 "USPL_SHADOW_FN_ void uspl_auto_%s_drop(const void *object)\n"
			 "{\n"
			 "\tuspl_shadow_free(&uspl_auto_%s, object);\n"
			 "}\n",
			 name, name, name, name);
	}
	if (!any)
		return 0;
	if (!path || text.oom)
		return uspl_fail_nomem(err);
	rc = file_write(path, text.data, text.len, err);
	if (rc)
		return rc;
	*ret = take_ptr(path);
	return 0;
}

/* Gives the members of what can't stay as it is the room that there is. *ret: of one more. */
static int make_room(struct work *work, const char *facts, bool *ret, struct uspl_err *err)
{
	struct found *found;

	for (const char *line = facts; *line; line = text_next_line(line))
		vec_for_each (&work->types, found) {
			size_t len = strlen(found->type->name);
			const char *why, *reason;

			if (strncmp(line, "no\t", 3) != 0 ||
			    strncmp(line + 3, found->type->name, len) != 0 ||
			    line[3 + len] != '\t' || found->why_in_room || !found->type->places.len)
				continue;
			why = short_place(work, line + 3 + len + 1);
			len = strcspn(why, "\t\n");
			reason = why + len + (why[len] == '\t');
			found->why_in_room = text_format("%.*s %.*s", (int)len, why,
							 (int)strcspn(reason, "\n"), reason);
			if (!found->why_in_room)
				return uspl_fail_nomem(err);
			*ret = true;
		}
	return 0;
}

/* sees[]: the source knows one of the structures. *ret_again: another one has to be placed. */
static int scan_units(struct work *work, const struct build *build, const bool *linked, bool *sees,
		      bool *ret_again, struct uspl_err *err)
{
	for (size_t i = 0; i < build->units.n; i++) {
		const struct build_unit *unit = &build->units.items[i];
		auto_free char *script = unit->post_obj ? beside(unit, ".again") : NULL;
		auto_buf struct buf facts = { 0 };
		int rc;

		/* Only what was compiled after the patch, in a way that can be repeated. */
		if (!linked[i] || !script || access(script, R_OK) < 0)
			continue;
		rc = work->plugin ? 0 : build_plugin(work, unit, err);
		if (rc)
			return rc;
		rc = run_plugin(work, unit, NULL, NULL, &facts, err);
		if (rc)
			return rc;
		rc = make_room(work, buf_str(&facts), ret_again, err);
		if (rc || *ret_again)
			return rc;
		sees[i] = facts.len;
		rc = take_facts(work, unit, &facts, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* What an earlier scan has found out doesn't count, nor what it has warned of. */
static void forget_facts(struct work *work, size_t n_warnings)
{
	strvec *warnings = &work->report->warnings;
	struct found *found;

	vec_for_each (&work->types, found) {
		found->users.n = 0;
		found->cell = 0;
		found->lent = false;
	}
	while (warnings->n > n_warnings)
		free(warnings->items[--warnings->n]);
}

/* Another object takes the place of the unit's. */
static int keep_unit(struct work *work, struct build_unit *unit, struct uspl_err *err)
{
	auto_free char *object = beside(unit, ".kept.o");
	auto_free char *header = NULL;
	auto_buf struct buf facts = { 0 };
	int rc = object ? write_header(work, unit, &header, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	rc = run_plugin(work, unit, object, header, &facts, err);
	if (rc)
		return rc;
	rc = take_facts(work, unit, &facts, err);
	if (rc)
		return rc;
	free(unit->post_obj);
	unit->post_obj = take_ptr(object);
	return 0;
}

static bool has_unit(const struct build *build, const struct build_link *link,
		     const struct build_unit *unit)
{
	const size_t *index;

	vec_for_each (&link->units, index)
		if (&build->units.items[*index] == unit)
			return true;
	return false;
}

/* The first program that has one of the users without this one; NULL: there is none. */
static const struct build_link *find_link_without(const struct build *build,
						  const struct found *found,
						  const struct build_unit *unit)
{
	const struct build_unit *const *user;
	const struct build_link *link;

	vec_for_each (&build->links, link)
		vec_for_each (&found->users, user)
			if (has_unit(build, link, *user) && !has_unit(build, link, unit))
				return link;
	return NULL;
}

/* A source that is in all programs with one of the users defines the shadow variable. */
static int choose_definer(const struct build *build, struct found *found, struct uspl_err *err)
{
	const struct build_unit *first = found->users.n ? found->users.items[0] : NULL;

	for (size_t i = 0; i < found->users.n; i++) {
		if (find_link_without(build, found, found->users.items[i]))
			continue;
		found->users.items[0] = found->users.items[i];
		found->users.items[i] = first;
		return 0;
	}
	if (!first)
		return 0;
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "--shadow=auto: several programs make objects of 'struct %s', or use the "
			 "new members '%s', and no source that does is in all of them ('%s' isn't "
			 "in '%s')",
			 found->type->name, buf_str(&found->type->members), first->source,
			 find_link_without(build, found, first)->path);
}

static void say_what_is_kept(const struct work *work)
{
	const struct found *found;

	vec_for_each (&work->types, found)
		if (found->why_in_room)
			report_warn(work->report,
				    "'%s%s' keeps its form, with '%s' where it has room, since it "
				    "can't have that in a shadow variable (%s): objects that exist "
				    "already have there what the memory held",
				    found->type->tagless ? "" : "struct ", found->type->name,
				    buf_str(&found->type->members), found->why_in_room);
		else
			report_warn(
				work->report,
				"'struct %s' keeps its form, with '%s' in a shadow variable: all "
				"zero in objects that exist already",
				found->type->name, buf_str(&found->type->members));
}

int shadow_auto_compile(struct build *build, const char *folder, struct report *report,
			struct uspl_err *err)
{
	auto_work struct work work = { .report = report, .folder = folder };
	auto_free bool *linked = calloc(build->units.n + 1, sizeof(*linked));
	auto_free bool *sees = calloc(build->units.n + 1, sizeof(*sees));
	const struct build_link *link;
	struct found *found;
	const size_t *index;
	size_t n_warnings = report->warnings.n;
	bool again = true;
	int rc = sees && linked ? take_types(&work, err) : uspl_fail_nomem(err);

	if (rc)
		return rc;
	/* What a build tries out is in no program, and may be gone. */
	vec_for_each (&build->links, link)
		vec_for_each (&link->units, index)
			linked[*index] = true;
	while (again) {
		again = false;
		forget_facts(&work, n_warnings);
		rc = write_spec(&work, err);
		if (rc)
			return rc;
		rc = scan_units(&work, build, linked, sees, &again, err);
		if (rc)
			return rc;
	}
	if (!work.plugin)
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "--shadow=auto is for sources that gcc compiles by themselves "
				 "(-c)");
	vec_for_each (&work.types, found) {
		rc = choose_definer(build, found, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < build->units.n; i++) {
		rc = sees[i] ? keep_unit(&work, &build->units.items[i], err) : 0;
		if (rc)
			return rc;
	}
	say_what_is_kept(&work);
	return 0;
}
