// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * correlate.c - which symbol of the post build is which of the pre build
 *
 * Most pairs are made by name: global symbols over all units of the target (a function may have
 * moved to another file), local ones within their unit. A name may also have changed between
 * local and global.
 *
 * Compilers number clones (f.constprop.1), and the numbers shift when others come and go. Clones
 * with the same base name pair by equal contents, then in order. That is sound whatever the
 * order: a caller counts as unchanged only if each of its calls goes to the twin of what it
 * called before, and then the redirected twin is what the new caller calls. Static locals are
 * numbered too and own storage; statics.c pairs them.
 *
 * Lambdas and other types without a name are numbered, too, in all names that are made of them;
 * nameless.c finds out what each was called before. Names that the preprocessor counted are
 * renumbered in the same way (counted.c).
 *
 * A static local of C++ is named after its function's parameters, which may change (scoped.c).
 *
 * An inline function or a template of C++ has a copy in every unit that uses it, of which the
 * linker keeps one. A copy that is new in its unit is paired with another unit's of the pre build,
 * which has its own twin: that pair has one direction only, from the post build to the pre build.
 *
 * Twins share the pre build's refname. A new name of a function that has one goes by that, too: in
 * the process it has no other entry. A new local symbol whose refname the pre build uses for
 * something else gets a "~" behind it.
 */

#include "create/diff/correlate.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "create/unit/nameless.h"
#include "create/unit/optimised.h"
#include "create/unit/report_warn.h"
#include "create/unit/srcloc.h"
#include "objfile/refname.h"

static bool is_defined(const struct objsym *sym)
{
	return sym_is_function(sym) || sym_is_variable(sym);
}

/* Does the compiler count the symbols of that name? clang's static locals begin with "f.x". */
static bool is_numbered(const struct objsym *sym)
{
	return sym->bind == STB_LOCAL && (sym->name[name_base_len(sym->name)] != '\0' ||
					  (sym_is_variable(sym) && strchr(sym->name, '.')));
}

static bool is_cold(const struct objsym *sym)
{
	return sym_is_function(sym) && secinfo_of(sym->sec)->is_cold;
}

/* Pairs two symbols; the old one may have a twin already, and then keeps it. */
static void pair_copy(struct objsym *pre, struct objsym *post)
{
	syminfo_of(post)->twin = pre;
	if (!syminfo_of(pre)->twin)
		syminfo_of(pre)->twin = post;
}

static int set_name(struct strmap *names, const char *name, struct objsym *sym,
		    struct uspl_err *err)
{
	return strmap_set(names, name, sym) ? 0 : uspl_fail_nomem(err);
}

/*
 * What a symbol goes by in its unit. The function that runs the constructors of a unit's variables
 * is named after whatever comes first in it.
 */
static const char *own_name(const struct objsym *sym)
{
	static const char *const starters[] = { "_GLOBAL__sub_I_", "_GLOBAL__sub_D_" };

	for (size_t i = 0; i < ARRAY_SIZE(starters); i++)
		if (!strncmp(sym->name, starters[i], strlen(starters[i])))
			return starters[i];
	return sym_pair_name(sym);
}

/* All symbols that are defined here and aren't numbered, by name. */
static int collect_names(const struct unit *unit, const struct side *side, struct strmap *names,
			 struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];
		const char *origin;
		auto_buf struct buf key = { 0 };
		int rc;

		if (!is_defined(sym) || is_numbered(sym) || is_cold(sym))
			continue;
		/* In the names of what was static in one of several sources, the source counts. */
		origin = syminfo_of(sym)->origin;
		if (origin)
			buf_addf(&key, "%s:", origin);
		buf_addstr(&key, own_name(sym));
		if (key.oom)
			return uspl_fail_nomem(err);
		if (strmap_get(names, buf_str(&key)))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: two symbols have the name '%s'", unit->source,
					 sym->name);
		rc = set_name(names, buf_str(&key), sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int pair_names(struct unit *unit, struct uspl_err *err)
{
	auto_strmap struct strmap pre = { 0 }, post = { 0 };
	int rc = collect_names(unit, &unit->pre, &pre, err);

	if (rc)
		return rc;
	rc = collect_names(unit, &unit->post, &post, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < post.cap; i++) {
		struct objsym *sym = post.slots[i].value, *old;

		old = sym ? strmap_get(&pre, post.slots[i].key) : NULL;
		if (old && sym_same_sort(old, sym) && !syminfo_of(old)->twin &&
		    !syminfo_of(sym)->twin)
			sym_pair(old, sym);
	}
	return 0;
}

static bool same_base(const struct objsym *a, const struct objsym *b)
{
	const char *x = sym_pair_name(a), *y = sym_pair_name(b);
	size_t len = name_base_len(x);

	return name_base_len(y) == len && !memcmp(x, y, len) && sym_same_origin(a, b);
}

static void pair_clones(struct unit *unit, bool equal)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i];

		if (!sym_is_function(sym) || !is_numbered(sym) || is_cold(sym) ||
		    syminfo_of(sym)->twin)
			continue;
		/* The first unpaired clone of the pre build that may be its twin. */
		for (size_t j = 0; j < unit->pre.obj->syms.n; j++) {
			struct objsym *old = unit->pre.obj->syms.items[j];

			if (!sym_is_function(old) || !is_numbered(old) || is_cold(old) ||
			    syminfo_of(old)->twin || !same_base(old, sym) ||
			    (equal && !sec_same_bytes(old->sec, sym->sec)))
				continue;
			sym_pair(old, sym);
			break;
		}
	}
}

/*
 * .cold parts go by their functions: "f.constprop.1.cold" belongs to the twin of "f.constprop.1".
 */
static void pair_cold_parts(struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->secs.n; i++) {
		const struct secinfo *cold = secinfo_of(unit->post.obj->secs.items[i]);
		const struct objsym *hot =
			cold->is_cold && cold->other ? secinfo_of(cold->other)->owner : NULL;
		const struct objsym *twin = hot ? syminfo_of(hot)->twin : NULL;
		const struct objsec *old = twin ? secinfo_of(twin->sec)->other : NULL;

		if (cold->owner && old && secinfo_of(old)->owner)
			pair_copy(secinfo_of(old)->owner, cold->owner);
	}
}

/* The definitions of global symbols over all units of a build. A weak one gives way. */
static int collect_globals(const struct side *side, struct strmap *defs, struct uspl_err *err)
{
	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i], *older;
		int rc;

		if (sym->bind == STB_LOCAL || !is_defined(sym))
			continue;
		older = strmap_get(defs, sym->name);
		if (older && (sym->bind == STB_WEAK || sym->shndx == SHN_COMMON))
			continue;
		rc = set_name(defs, sym->name, sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Global symbols of a unit that moved to it, or that other units had a copy of. */
static void pair_across(const struct diff *diff, const struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i], *old;

		if (sym->bind == STB_LOCAL || !is_defined(sym) || syminfo_of(sym)->twin)
			continue;
		old = strmap_get(&diff->pre_defs, sym_pair_name(sym));
		if (old && sym_same_sort(old, sym))
			pair_copy(old, sym);
	}
}

static bool has_name(const struct objsym *sym)
{
	if (sym->type == STT_SECTION || sym->type == STT_FILE || !*sym->name)
		return false;
	return sym->bind != STB_LOCAL || is_defined(sym);
}

/*
 * A name in the memory of obj: "f", or "unit:f" with `suffix` behind it. After link-time
 * optimisation the unit of what was static is the source with what the program's symbol table calls
 * all of them behind it: "src/a.c/<artificial>:f.lto_priv.0".
 */
static const char *make_refname(struct objfile *obj, const struct unit *unit,
				const struct objsym *sym, const char *suffix)
{
	const struct syminfo *syminfo = syminfo_of(sym);
	const char *own = syminfo->linked && syminfo->side == &unit->pre ? syminfo->linked
									 : sym_pair_name(sym);
	auto_free char *local = NULL, *place = NULL;
	auto_buf struct buf name = { 0 };

	if (sym->bind != STB_LOCAL)
		return own;
	/* Where the table has a source's own name, as with LLVM's -flto=thin, that is enough. */
	if (syminfo->place && sym->file && !strcmp(sym->file, file_basename(syminfo->place)))
		place = strdup(syminfo->place);
	else if (syminfo->place)
		place = file_join(syminfo->place, file_basename(unit->source));
	if (syminfo->place && !place)
		return NULL;
	local = refname_local(place ? place : unit->source, own);
	if (!local)
		return NULL;
	buf_addf(&name, "%s%s", local, suffix);
	return name.oom ? NULL : objfile_strdup(obj, buf_str(&name));
}

static int name_pre(struct unit *unit, struct strmap *used, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->pre.obj->syms.n; i++) {
		struct objsym *sym = unit->pre.obj->syms.items[i];
		struct syminfo *syminfo = syminfo_of(sym);
		int rc;

		if (!has_name(sym))
			continue;
		syminfo->refname = make_refname(unit->pre.obj, unit, sym, "");
		if (!syminfo->refname)
			return uspl_fail_nomem(err);
		if (sym->bind == STB_LOCAL && strmap_get(used, syminfo->refname))
			return uspl_fail(err, USPL_E_UNSUPPORTED,
					 "%s: two local symbols have the name '%s'", unit->source,
					 sym->name);
		rc = set_name(used, syminfo->refname, sym, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Defined ones only: undefined ones may mean a symbol of another unit that is named later. */
static int name_post(struct unit *unit, const struct strmap *used, struct uspl_err *err)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		struct objsym *sym = unit->post.obj->syms.items[i];
		struct syminfo *syminfo = syminfo_of(sym);
		const struct objsym *owner, *twin;

		if (!has_name(sym) || !is_defined(sym))
			continue;
		owner = sym_other_name_of(sym);
		twin = syminfo->twin || !owner ? syminfo->twin : syminfo_of(owner)->twin;
		if (twin)
			syminfo->refname = syminfo_of(twin)->refname;
		else
			syminfo->refname = make_refname(unit->post.obj, unit, sym, "");
		if (!twin && syminfo->refname && sym->bind == STB_LOCAL &&
		    strmap_get(used, syminfo->refname))
			syminfo->refname = make_refname(unit->post.obj, unit, sym, "~");
		if (!syminfo->refname)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static int name_all(struct diff *diff, struct uspl_err *err)
{
	auto_strmap struct strmap used = { 0 };
	int rc = 0;

	for (size_t i = 0; i < diff->n; i++) {
		rc = name_pre(&diff->units[i], &used, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < diff->n; i++) {
		rc = name_post(&diff->units[i], &used, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < diff->n; i++) {
		const struct objfile *obj = diff->units[i].post.obj;

		for (size_t j = 0; j < obj->syms.n; j++) {
			struct objsym *sym = obj->syms.items[j], *def;

			if (!has_name(sym) || syminfo_of(sym)->refname)
				continue;
			def = strmap_get(&diff->post_defs, sym->name);
			syminfo_of(sym)->refname = def ? syminfo_of(def)->refname : sym->name;
		}
	}
	return 0;
}

int correlate(struct diff *diff, struct uspl_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < diff->n; i++) {
		if (diff->units[i].optimised) {
			rc = optimised_find_origins(&diff->units[i].pre, err);
			if (rc)
				return rc;
			rc = optimised_find_origins(&diff->units[i].post, err);
			if (rc)
				return rc;
		}
		rc = nameless_pair(diff, &diff->units[i], err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < diff->n; i++) {
		rc = counted_pair_functions(&diff->units[i], err);
		if (rc)
			return rc;
		rc = pair_names(&diff->units[i], err);
		if (rc)
			return rc;
		rc = nested_pair(&diff->units[i], err);
		if (rc)
			return rc;
		pair_clones(&diff->units[i], true);
		pair_clones(&diff->units[i], false);
	}
	for (size_t i = 0; i < diff->n; i++) {
		rc = collect_globals(&diff->units[i].pre, &diff->pre_defs, err);
		if (rc)
			return rc;
		rc = collect_globals(&diff->units[i].post, &diff->post_defs, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < diff->n; i++)
		pair_across(diff, &diff->units[i]);
	for (size_t i = 0; i < diff->n; i++) {
		pair_cold_parts(&diff->units[i]);
		rc = counted_pair_variables(&diff->units[i], err);
		if (!rc)
			rc = statics_pair(&diff->units[i],
					  diff->report ? diff->report->patched : NULL, err);
		unit_close_dbginfo(&diff->units[i]);
		if (rc)
			return rc;
	}
	rc = scoped_pair(diff, err);
	return rc ? rc : name_all(diff, err);
}
