// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * vet_bindings.c - names that would lead to something else in code that isn't in the update
 *
 * The linker binds a name for all units at once. If the patch brings the definition of a name that
 * was a weak one's, a library's or nobody's, or takes one away for which another is there, then
 * units that aren't even compiled again call something else. But the process was linked before:
 * what isn't in the update goes on with what the name meant then. It would be half of the change.
 *
 * The same goes for several names of one function or variable (aliases): they have one entry, or
 * one place, in the process.
 */

#include <string.h>

#include "create/unit/diff_unit.h"
#include "create/unit/srcloc.h"
#include "create/vet/vet_checks.h"

/* Global names of one build that the other one doesn't define. */
struct names {
	bool post;           /* new ones; else those that are gone */
	struct strmap names; /* -> struct objsym, the definition */
	struct strmap open;  /* paths of objects that the diff has open */
};

static void names_release(struct names *names)
{
	strmap_release(&names->names);
	strmap_release(&names->open);
}

DEFINE_AUTO_RELEASE(names, struct names, names_release)
#define auto_names __attribute__((cleanup(cleanup_names_)))

static const struct side *side_of(const struct unit *unit, bool post)
{
	return post ? &unit->post : &unit->pre;
}

/*
 * A definition that the linker takes for a name, weak or not. Inline functions and templates of C++
 * are in groups, and the same wherever they are.
 */
static bool is_definition(const struct objsym *sym)
{
	return (sym->bind == STB_GLOBAL || sym->bind == STB_WEAK) &&
	       (sym->shndx == SHN_COMMON || (sym->sec && !sym->sec->group_sig)) &&
	       (sym_is_function(sym) || sym_is_variable(sym));
}

static int collect_from(const struct diff *diff, const struct unit *unit, struct names *names,
			struct uspl_err *err)
{
	const struct strmap *others = names->post ? &diff->pre_defs : &diff->post_defs;
	const struct objfile *obj = side_of(unit, names->post)->obj;

	for (size_t i = 0; i < obj->syms.n; i++) {
		struct objsym *sym = obj->syms.items[i];
		bool left_out = false; /* of the program before the patch (--gc-sections) */
		int rc;

		if (!is_definition(sym) || syminfo_of(sym)->twin || strmap_get(others, sym->name))
			continue;
		/* It counts as undefined there, but nothing in the program refers to it. */
		rc = names->post && unit->pre.path
			     ? unit_object_defines(unit->pre.path, sym->name, &left_out, err)
			     : 0;
		if (rc)
			return rc;
		if (!left_out && !strmap_set(&names->names, sym->name, sym))
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int collect_names(const struct diff *diff, struct names *names, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++) {
		/* New names are looked for in what the process has, and vice versa. */
		const struct side *asked = side_of(&diff->units[i], !names->post);
		int rc;

		if (asked->path && !strmap_set(&names->open, asked->path, (void *)asked))
			return uspl_fail_nomem(err);
		rc = collect_from(diff, &diff->units[i], names, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int refuse(const struct names *names, const struct objsym *sym, const char *user,
		  struct uspl_err *err)
{
	if (names->post)
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "'%s' is new, and '%s' refers to that name already, which isn't in the "
			   "update: it would go on with what the name meant",
			   sym->name, user);
	else
		sym_refuse(sym, err, USPL_E_UNSUPPORTED,
			   "'%s' is gone, and '%s' still refers to that name: it would go on with "
			   "what is gone",
			   sym->name, user);
	uspl_hint(err, names->post ? "give what is new a name of its own, and call it from code "
				     "that changes"
				   : "keep it, and change what it does");
	return -USPL_E_UNSUPPORTED;
}

/* References of an object that the diff has open: those that stay count. */
static int look_at_open(const struct names *names, const struct side *side, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *twin = secinfo_twin(secinfo);
		const struct objrel *rel;

		if (secinfo->kind == SECINFO_IGNORED || secinfo->kind == SECINFO_UNWIND)
			continue;
		/*
		 * What is replaced doesn't stay in the process. New code isn't better off: it finds
		 * what the process has by that name.
		 */
		if (names->post && twin && twin->sec && secinfo_of(twin->sec)->carried)
			continue;
		vec_for_each (&sec->rels, rel) {
			const struct objsym *sym =
				rel->sym->bind == STB_LOCAL || is_definition(rel->sym)
					? NULL
					: strmap_get(&names->names, rel->sym->name);

			if (sym)
				return refuse(names, sym, sec_title(sec), err);
		}
	}
	return 0;
}

/* Any mention by an object that is the same in both builds. */
static int look_at_closed(const struct names *names, const struct diff_unit *in, const char *path,
			  struct uspl_err *err)
{
	auto_objfile struct objfile *obj = NULL;
	int rc = objfile_read_code(path, &obj, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i], *name;

		name = sym->bind == STB_LOCAL ? NULL : strmap_get(&names->names, sym->name);
		if (name)
			return refuse(names, name, in->source, err);
	}
	return 0;
}

static int look_for_references(const struct diff *diff, const struct names *names,
			       struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n_inputs; i++) {
		const char *path = names->post ? diff->inputs[i].pre_obj : diff->inputs[i].post_obj;
		const struct side *open = path ? strmap_get(&names->open, path) : NULL;
		int rc;

		if (!path)
			continue;
		rc = open ? look_at_open(names, open, err)
			  : look_at_closed(names, &diff->inputs[i], path, err);
		if (rc)
			return rc;
	}
	return 0;
}

int vet_bindings(const struct diff *diff, struct uspl_err *err)
{
	for (int post = 0; post < 2; post++) {
		auto_names struct names names = { .post = post };
		int rc = collect_names(diff, &names, err);

		if (rc)
			return rc;
		rc = names.names.n ? look_for_references(diff, &names, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Where the other build has what begins a symbol's section, if the symbol is another name of that;
 * NULL if it isn't, or if the other build lacks it.
 */
static const struct objsec *namesake_section(const struct objsym *sym)
{
	const struct objsym *owner = secinfo_of(sym->sec)->owner;

	return owner && owner->value == sym->value && syminfo_of(owner)->twin
		       ? syminfo_of(owner)->twin->sec
		       : NULL;
}

/* A name that has an entry, or storage, in the process: what is only read may have many copies. */
static bool has_place(const struct objsym *sym)
{
	enum secinfo_kind kind = sym->sec ? secinfo_of(sym->sec)->kind : SECINFO_IGNORED;

	return sym_is_function(sym) ||
	       (sym_is_variable(sym) && (kind == SECINFO_DATA || kind == SECINFO_TLS));
}

int vet_names(const struct diff *diff, const struct unit *unit, struct uspl_err *err)
{
	(void)diff;
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		const struct objsym *twin = has_place(sym) ? syminfo_of(sym)->twin : NULL;
		const struct objsec *was, *is;

		/* Of a copy of another unit's the other unit is asked. */
		if (!twin || !has_place(twin) || syminfo_of(twin)->twin != sym)
			continue;
		was = namesake_section(twin);
		is = namesake_section(sym);
		if ((!was || was == sym->sec) && (!is || is == twin->sec))
			continue;
		if (secinfo_of(twin->sec)->owner == twin)
			sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				   "'%s' stood for itself before the patch, and is another name of "
				   "'%s'",
				   sym->name, sec_title(sym->sec));
		else if (secinfo_of(sym->sec)->owner == sym)
			sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				   "'%s' was another name of '%s' before the patch, and stands for "
				   "itself",
				   sym->name, sec_title(twin->sec));
		else
			sym_refuse(sym, err, USPL_E_UNSUPPORTED,
				   "'%s' was another name of '%s' before the patch, and is one of "
				   "'%s'",
				   sym->name, sec_title(twin->sec), sec_title(sym->sec));
		uspl_hint(err, "names that are one in the process can't become two, nor the other "
			       "way round; leave them as they are");
		return -USPL_E_UNSUPPORTED;
	}
	return 0;
}
