// SPDX-License-Identifier: GPL-3.0-or-later
// targets.c - from what was built to the targets of an update
//
// Three outcomes are kept apart: no code differs; something can't be done, and then nothing is
// written; or there are targets. An object that changed and is in no program must not pass for the
// first outcome.

#include "create/targets.h"

#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "create/diff.h"
#include "create/tree/build.h"
#include "create/coverage.h"
#include "create/libraries.h"
#include "create/unit/diff_unit.h"
#include "create/unit/linked.h"

/* As in make: '%' stands for any text, once. */
static bool matches(const char *pattern, const char *text)
{
	const char *any = strchr(pattern, '%');
	size_t head, tail, len = strlen(text);

	if (!any)
		return !strcmp(pattern, text);
	head = (size_t)(any - pattern);
	tail = strlen(any + 1);
	return len >= head + tail && !strncmp(pattern, text, head) &&
	       !strcmp(any + 1, text + len - tail);
}

static bool is_named(const cli_strings *names, const struct build_link *link)
{
	const char **name;

	vec_for_each (names, name)
		if (matches(*name, link->path) || matches(*name, file_basename(link->path)))
			return true;
	return false;
}

static bool is_wanted(const struct targets_wanted *wanted, const struct build_link *link)
{
	return (!wanted->names.n || is_named(&wanted->names, link)) &&
	       !is_named(&wanted->excluded, link);
}

static int check_names(const struct build *build, const struct targets_wanted *wanted,
		       struct uspl_err *err)
{
	auto_buf struct buf made = { 0 };
	const struct build_link *link;

	vec_for_each (&build->links, link) {
		if (is_wanted(wanted, link))
			return 0;
		buf_addf(&made, "%s%s", made.len ? ", " : "", link->path);
	}
	if (!build->links.n)
		return uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"the build linked no program or library that uspl-create could see");
	if (wanted->names.n)
		uspl_fail(err, USPL_E_USAGE, "the build made no '%s'", wanted->names.items[0]);
	else
		uspl_fail(err, USPL_E_USAGE, "all that the build made is excluded");
	uspl_hint(err, "it made: %s", buf_str(&made));
	return -USPL_E_USAGE;
}

const struct build_link *target_link(const struct build *build, const struct update_target *target)
{
	const struct build_link *link;

	vec_for_each (&build->links, link)
		if (!strcmp(link->path, target->path))
			return link;
	return NULL;
}

static bool fill_target(const struct build_link *link, bool reproducible,
			struct update_target *target)
{
	size_t first = reproducible ? link->n_passing : 0;

	target->name = strdup(file_basename(link->path));
	target->path = strdup(link->path);
	target->soname = link->soname ? strdup(link->soname) : NULL;
	for (size_t i = first; i < link->build_ids.n; i++)
		if (!strvec_add(&target->build_ids, link->build_ids.items[i]))
			return false;
	return target->name && target->path && (!link->soname || target->soname);
}

struct diff_unit *target_units(const struct build *build, const struct build_link *link)
{
	struct diff_unit *units = calloc(link->units.n + 1, sizeof(*units));

	for (size_t i = 0; units && i < link->units.n; i++) {
		const struct build_unit *unit = &build->units.items[link->units.items[i]];

		units[i] = (struct diff_unit){ unit->source, unit->pre_obj, unit->post_obj };
	}
	return units;
}

/* What all targets have in common. */
struct adding {
	const struct build *build;
	const struct earlier *earlier;
	struct update *update;
	struct report *report;
	bool reproducible;                 /* targets_wanted has it */
	const struct build_link *counting; /* one that counts what runs in it; NULL: none does */
	bool compared;                     /* one that doesn't count was compared */
	struct buf unshipped;              /* those that are left out since no package has them */
};

static int diff_link(const struct adding *adding, const struct build_link *link,
		     struct update_target *target, struct uspl_err *err)
{
	auto_free struct diff_unit *units = target_units(adding->build, link);
	auto_linked struct linked *linked = NULL;
	int rc;

	if (!units || !fill_target(link, adding->reproducible, target))
		return uspl_fail_nomem(err);
	log_info("create", "comparing the %zu units of '%s'", link->units.n, link->path);
	rc = linked_open(link, link->file, adding->earlier, target, &linked, err);
	if (rc)
		return rc;
	return diff_target(units, link->units.n, linked, target, adding->report, err);
}

/* Compares one program and appends a target to the update if its code differs. */
static int add_target(struct adding *adding, const struct build_link *link, struct uspl_err *err)
{
	/* The target grows in an update of its own, which frees it if it isn't kept. */
	auto_update struct update *scratch = update_new();
	struct update_target *target = scratch ? vec_push(&scratch->targets) : NULL;
	struct update_target *slot;
	int rc = target ? diff_link(adding, link, target, err) : uspl_fail_nomem(err);

	if (rc == -USPL_E_NO_CHANGE) {
		log_info("create", "no code of '%s' differs", link->path);
		return 0;
	}
	if (rc) {
		uspl_context(err, "'%s'", link->path);
		return rc;
	}
	slot = vec_push(&adding->update->targets);
	if (!slot)
		return uspl_fail_nomem(err);
	*slot = *target;
	scratch->targets.n = 0;
	return 0;
}

/*
 * Is it built to count what runs in it? Distributions build such a program beside the one that is
 * used, for its tests; all counters of a function differ when it changes.
 */
static int is_counting(const struct build *build, const struct build_link *link, bool *ret,
		       struct uspl_err *err)
{
	const size_t *index;

	*ret = false;
	vec_for_each (&link->units, index) {
		const struct build_unit *unit = &build->units.items[*index];
		bool changed;
		int rc = build_unit_changed(unit, &changed, err);

		if (rc)
			return rc;
		if (changed && unit->pre_obj)
			return coverage_find(unit->pre_obj, ret, err);
	}
	return 0;
}

/* A program that counts is left out; if nothing else is in the update, that is refused. */
static int add_wanted(struct adding *adding, const struct build_link *link, struct uspl_err *err)
{
	bool counting;
	int rc = is_counting(adding->build, link, &counting, err);

	if (rc)
		return rc;
	adding->compared |= !counting;
	if (!counting)
		return add_target(adding, link, err);
	adding->counting = link;
	report_warn(adding->report,
		    "'%s' is left out: it is built to count what runs in it (--coverage, "
		    "-fprofile-generate)",
		    link->path);
	return 0;
}

static bool is_linked(const struct build *build, size_t unit)
{
	const struct build_link *link;
	const size_t *index;

	vec_for_each (&build->links, link) {
		vec_for_each (&link->units, index) {
			if (*index == unit)
				return true;
		}
	}
	return false;
}

static int check_unlinked(const struct build *build, struct uspl_err *err)
{
	for (size_t i = 0; i < build->units.n; i++) {
		const struct build_unit *unit = &build->units.items[i];
		bool changed = false;
		int rc = is_linked(build, i) ? 0 : build_unit_changed(unit, &changed, err);

		if (rc)
			return rc;
		if (!changed)
			continue;
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the patch changes '%s', which is in no program or library that the "
			  "build links",
			  unit->object);
		uspl_hint(err, "build a program that contains it: say how with --build=COMMAND");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

static int add_targets(struct adding *adding, const struct targets_wanted *wanted, bool *ret_any,
		       struct uspl_err *err)
{
	const struct build_link *link;

	vec_for_each (&adding->build->links, link) {
		bool changed;
		int rc = build_link_changed(adding->build, link, &changed, err);

		if (rc)
			return rc;
		*ret_any |= changed;
		if (!changed || !is_wanted(wanted, link))
			continue;
		/* What no package ships is left out, unless its name was asked for. */
		if (link->unshipped && !wanted->names.n)
			buf_addf(&adding->unshipped, "%s%s", adding->unshipped.len ? ", " : "",
				 link->path);
		else
			rc = add_wanted(adding, link, err);
		if (rc)
			return rc;
	}
	return adding->unshipped.oom ? uspl_fail_nomem(err) : 0;
}

static bool is_library(const struct update_target *target)
{
	return target->soname || strstr(target->name, ".so");
}

/* A new variable that the dynamic linker would make one with those of other modules. */
static bool is_shared_variable(const struct objsym *sym)
{
	return sym->sec && (sym->sec->flags & SHF_WRITE) && sym->bind != STB_LOCAL &&
	       sym->vis == STV_DEFAULT && sym->type != STT_FUNC && sym->type != STT_SECTION;
}

/*
 * Are classes told apart by their names, so that each module may have tables of its own? In gcc's
 * C++ library they are; LLVM's goes by addresses.
 */
static int classes_by_name(const struct build *build, const struct update_target *one,
			   const struct update_target *other, bool *ret, struct uspl_err *err)
{
	const struct build_link *links[] = { target_link(build, one), target_link(build, other) };
	bool needed = true;

	for (size_t i = 0; i < ARRAY_SIZE(links) && needed; i++) {
		int rc = libraries_needed(links[i] ? links[i]->file : NULL, "libstdc++.so.",
					  &needed, err);

		if (rc)
			return rc;
	}
	*ret = needed;
	return 0;
}

/* The tables of a class: what it is, its virtual functions, those of its virtual bases. */
static const char *const of_class[] = { "_ZTI", "_ZTV", "_ZTT", "_ZTC" };

/* A new variable of one name, in a program and a library: the process would have two of them. */
static int check_shared(const struct build *build, const struct update_target *one,
			const struct update_target *other, struct uspl_err *err)
{
	bool by_name = false;
	int rc;

	if (!is_library(one) && !is_library(other))
		return 0;
	rc = classes_by_name(build, one, other, &by_name, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < one->new_code->syms.n; i++) {
		const struct objsym *sym = one->new_code->syms.items[i], *twin;
		auto_free char *name = NULL;

		twin = is_shared_variable(sym) ? objfile_symbol(other->new_code, sym->name) : NULL;
		if (!twin || !is_shared_variable(twin) ||
		    (by_name && TEXT_STARTS_WITH_ONE_OF(sym->name, of_class)))
			continue;
		name = demangle_name(sym->name);
		uspl_fail(err, USPL_E_UNSUPPORTED,
			  "the variable '%s' is new in '%s' and in '%s', which would have one for "
			  "both after a new start, and each have one of its own now",
			  name ? name : sym->name, one->name, other->name);
		uspl_hint(err, "let one of them have it, and the other one call a function that "
			       "exists; or, where no process has both, make an update for each "
			       "(--target=NAME)");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}

/* Has one of the sources of a program or library the variable already? */
static int has_variable(const struct build *build, const struct build_link *link, const char *name,
			bool *ret, struct uspl_err *err)
{
	const size_t *index;

	*ret = false;
	vec_for_each (&link->units, index) {
		const char *path = build->units.items[*index].pre_obj;
		auto_objfile struct objfile *obj = NULL;
		const struct objsym *sym;
		int rc = path ? objfile_read_code(path, &obj, err) : 0;

		if (rc)
			return rc;
		sym = obj ? objfile_symbol(obj, name) : NULL;
		*ret |= sym && is_shared_variable(sym);
	}
	return 0;
}

/* A program that names the library as one it needs, and has the variable; *ret is NULL if none. */
static int find_user_with(const struct build *build, const struct update_target *library,
			  const char *name, const char **ret, struct uspl_err *err)
{
	const struct build_link *link;

	*ret = NULL;
	vec_for_each (&build->links, link) {
		bool needs = false, has = false;
		int rc = libraries_needed(link->before, library->soname, &needs, err);

		if (!rc && needs)
			rc = has_variable(build, link, name, &has, err);
		if (rc)
			return rc;
		if (has)
			*ret = link->path;
	}
	return 0;
}

static int refuse_shared(const struct update_target *target, const char *symbol, const char *holder,
			 struct uspl_err *err)
{
	auto_free char *name = demangle_name(symbol);

	uspl_fail(err, USPL_E_UNSUPPORTED,
		  "the variable '%s' is new in '%s', and %s%s%s has it already: they would have "
		  "one for both after a new start, and each have one of its own now",
		  name ? name : symbol, target->name, holder ? "'" : "a library that it needs",
		  holder ? holder : "", holder ? "'" : "");
	uspl_hint(err, "let the new code call a function of the one that has it");
	return -USPL_E_UNSUPPORTED;
}

/* A variable that is new in the target, and that what is loaded with it has. */
static int check_had(const struct build *build, const struct update_target *target,
		     struct uspl_err *err)
{
	const struct build_link *link = target_link(build, target);
	bool by_name = false;
	int rc = libraries_needed(link ? link->file : NULL, "libstdc++.so.", &by_name, err);

	for (size_t i = 0; !rc && link && i < target->new_code->syms.n; i++) {
		const struct objsym *sym = target->new_code->syms.items[i];
		const char *user = NULL;
		bool had = false;

		if (!is_shared_variable(sym) ||
		    (by_name && TEXT_STARTS_WITH_ONE_OF(sym->name, of_class)))
			continue;
		rc = libraries_have(build, link->before, sym->name, &had, err);
		if (!rc && !had && target->soname)
			rc = find_user_with(build, target, sym->name, &user, err);
		if (!rc && (had || user))
			rc = refuse_shared(target, sym->name, user, err);
	}
	return rc;
}

static int check_all_shared(const struct build *build, const struct update *update,
			    struct uspl_err *err)
{
	for (size_t i = 0; i < update->targets.n; i++) {
		int rc = check_had(build, &update->targets.items[i], err);

		for (size_t j = 0; !rc && j < i; j++)
			rc = check_shared(build, &update->targets.items[i],
					  &update->targets.items[j], err);
		if (rc)
			return rc;
	}
	return 0;
}

int targets_add(struct build *build, const struct targets_wanted *wanted,
		const struct earlier *earlier, struct update *update, struct report *report,
		struct uspl_err *err)
{
	struct adding adding = {
		.build = build,
		.earlier = earlier,
		.update = update,
		.report = report,
		.reproducible = wanted->reproducible,
	};
	bool any = false;
	int rc = check_names(build, wanted, err);

	if (!rc)
		rc = add_targets(&adding, wanted, &any, err);
	if (!rc && !any)
		rc = check_unlinked(build, err);
	if (!rc)
		rc = check_all_shared(build, update, err);
	/* Where the same change is no code elsewhere, the counters alone have changed. */
	if (!rc && adding.counting && !adding.compared) {
		rc = uspl_fail(
			err, USPL_E_UNSUPPORTED,
			"'%s' is built to count what runs in it (--coverage, -fprofile-generate), "
			"and its counters change with its code",
			adding.counting->path);
		uspl_hint(err, "build the program that is in use, without");
	}
	if (!rc && adding.unshipped.len)
		rc = build_note(build, err,
				"left out, since no package ships them (udebs and packages of "
				"tests don't count; --target=NAME takes one in): %s",
				buf_str(&adding.unshipped));
	if (!rc && !update->targets.n)
		rc = uspl_fail(err, USPL_E_NO_CHANGE, "the patch changes no code%s",
			       adding.unshipped.len ? " of what the packages ship" : "");
	buf_release(&adding.unshipped);
	return rc;
}
