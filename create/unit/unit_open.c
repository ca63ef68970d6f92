// SPDX-License-Identifier: GPL-3.0-or-later
// unit_open.c - reads a unit's two objects, and sorts their sections and symbols by kind

#include <string.h>

#include "base/text.h"
#include "create/tree/link_options.h"
#include "create/unit/dbginfo.h"
#include "create/unit/diff_unit.h"
#include "create/unit/functions_split.h"
#include "create/unit/markers.h"
#include "create/unit/nameless.h"
#include "create/unit/optimised.h"
#include "create/unit/unit.h"

/*
 * The names that the linker was told to take for others. With --wrap=f a reference to f that the
 * object doesn't define itself is one to __wrap_f, and one to __real_f is one to f. What is linked
 * into a process later has to mean the same.
 */
static int rename_wrapped(const char *options, struct objfile *obj, struct uspl_err *err)
{
	static const char wrap[] = "__wrap_", real[] = "__real_";

	if (!link_options_wrap(options, NULL))
		return 0;
	for (size_t i = 0; i < obj->syms.n; i++) {
		struct objsym *sym = obj->syms.items[i];
		auto_free char *name = NULL;

		if (sym->sec || sym->shndx != SHN_UNDEF || !*sym->name)
			continue;
		if (link_options_wrap(options, sym->name)) {
			name = text_format("%s%s", wrap, sym->name);
		} else if (text_starts_with(sym->name, real) &&
			   link_options_wrap(options, sym->name + strlen(real))) {
			name = strdup(sym->name + strlen(real));
		} else {
			continue;
		}
		sym->name = name ? objfile_strdup(obj, name) : NULL;
		if (!sym->name)
			return uspl_fail_nomem(err);
	}
	return 0;
}

static bool is_start_section(const struct objsec *sec)
{
	static const char *const names[] = { ".init_array", ".fini_array", ".preinit_array",
					     ".ctors",      ".dtors",      ".init",
					     ".fini" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (text_starts_with(sec->name, names[i]) &&
		    (!sec->name[len] || sec->name[len] == '.'))
			return true;
	}
	return false;
}

/*
 * Without looking at symbols: a constant is SECINFO_LITERAL until one with a name of the
 * programmer's is found in it.
 */
static enum secinfo_kind kind_of(const struct objsec *sec)
{
	if (!(sec->flags & SHF_ALLOC) || sec->type == SHT_NOTE ||
	    text_starts_with(sec->name, ".note"))
		return SECINFO_IGNORED;
	if (!strcmp(sec->name, USPL_HOOK_SECTION) || !strcmp(sec->name, USPL_ANSWER_SECTION) ||
	    !strcmp(sec->name, USPL_STATE_SECTION))
		return SECINFO_IGNORED;
	if (!strcmp(sec->name, ".eh_frame"))
		return SECINFO_UNWIND;
	if (is_start_section(sec))
		return SECINFO_START;
	if (sec->flags & SHF_EXECINSTR)
		return SECINFO_CODE;
	if (sec->flags & SHF_TLS)
		return SECINFO_TLS;
	if ((sec->flags & SHF_WRITE) && !text_starts_with(sec->name, ".data.rel.ro"))
		return SECINFO_DATA;
	return SECINFO_LITERAL;
}

/*
 * Every section gets a section symbol: references to literals and into code go by it, and clang
 * leaves out unused ones.
 */
static int add_section_symbols(struct objfile *obj, struct uspl_err *err)
{
	for (size_t i = 0; i < obj->secs.n; i++) {
		struct objsec *sec = obj->secs.items[i];

		if (sec->secsym || !(sec->flags & SHF_ALLOC))
			continue;
		sec->secsym = objfile_add_symbol(obj, "", STT_SECTION, STB_LOCAL);
		if (!sec->secsym)
			return uspl_fail_nomem(err);
		sec->secsym->sec = sec;
	}
	return 0;
}

/* Takes out relocations that ask for nothing. */
static void drop_empty_relocations(struct objsec *sec)
{
	size_t n = 0;

	for (size_t i = 0; i < sec->rels.n; i++)
		if (sec->rels.items[i].sym)
			sec->rels.items[n++] = sec->rels.items[i];
	sec->rels.n = n;
}

/*
 * Prefers the name by which other units know it: of aliases at the start of a section the first
 * global one.
 */
static void claim_section(struct secinfo *secinfo, struct objsym *sym)
{
	const struct objsym *owner = secinfo->owner;

	if (secinfo->kind == SECINFO_CODE && sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC)
		return;
	if (owner && owner->value != sym->value)
		secinfo->shared = true;
	if (sym->value)
		secinfo->shared = true;
	if (!owner || sym->value < owner->value ||
	    (sym->value == owner->value && owner->bind == STB_LOCAL && sym->bind != STB_LOCAL))
		secinfo->owner = sym;
}

static void sort_symbol(struct objsym *sym)
{
	struct secinfo *secinfo = sym->sec ? secinfo_of(sym->sec) : NULL;

	if (!secinfo || sym->type == STT_SECTION || sym->type == STT_FILE || !*sym->name ||
	    sym_is_compiler_made(sym))
		return;
	/*
	 * What may be merged with equal ones has no identity, whatever the compiler calls it,
	 * unless other units know the name.
	 */
	if (secinfo->kind == SECINFO_LITERAL &&
	    (!(sym->sec->flags & SHF_MERGE) || sym->bind != STB_LOCAL))
		secinfo->kind = SECINFO_CONST;
	if (secinfo->kind == SECINFO_CODE || secinfo->kind == SECINFO_DATA ||
	    secinfo->kind == SECINFO_CONST || secinfo->kind == SECINFO_TLS)
		claim_section(secinfo, sym);
}

/* Ties the .cold part that sym stands for and its function together. */
static void join_cold(struct objsym *sym, const struct strmap *functions)
{
	const char *cold = strstr(sym->name, ".cold");
	struct objsym *hot;
	char name[512];

	if (!cold || !sym_is_function(sym) || (size_t)(cold - sym->name) >= sizeof(name))
		return;
	memcpy(name, sym->name, (size_t)(cold - sym->name));
	name[cold - sym->name] = '\0';
	hot = strmap_get(functions, name);
	secinfo_of(sym->sec)->is_cold = true;
	if (!hot || hot->sec == sym->sec)
		return;
	secinfo_of(sym->sec)->other = hot->sec;
	secinfo_of(hot->sec)->other = sym->sec;
}

static int join_cold_parts(struct side *side, struct uspl_err *err)
{
	auto_strmap struct strmap functions = { 0 };
	bool oom = false;

	for (size_t i = 0; i < side->obj->syms.n; i++) {
		struct objsym *sym = side->obj->syms.items[i];

		oom |= sym_is_function(sym) && !strmap_set(&functions, sym->name, sym);
	}
	for (size_t i = 0; i < side->obj->syms.n; i++)
		join_cold(side->obj->syms.items[i], &functions);
	return oom ? uspl_fail_nomem(err) : 0;
}

/* ---- what the address sanitizer tells its library of a unit's variables ---- */

/*
 * With -fsanitize=address each unit has a table of its variables, one function that registers it
 * when the program starts and one that takes it back at the end. The table of a running program is
 * registered, and stays so: another number of variables or strings is no reason to refuse, and no
 * reason to run either function once more. New variables of an update are in no table; accesses to
 * them are checked as those to memory that the sanitizer knows nothing of.
 *
 * These are names that no function of a program has: gcc's, whose numbers are a priority of its
 * own, and clang's.
 */
static const char *const sanitizer_functions[] = { "_sub_I_00099_", "_sub_D_00099_",
						   "asan.module_" };
/* Where clang leaves the tables to the linker, which can drop parts of them. */
static const char table_section[] = "asan_globals";

static bool is_left_out(const struct objsec *sec)
{
	return secinfo_of(sec)->kind == SECINFO_IGNORED;
}

static void leave_out(const struct objsec *sec)
{
	secinfo_of(sec)->kind = SECINFO_IGNORED;
}

static bool leave_out_registering(const struct objfile *obj)
{
	bool any = false;

	for (size_t i = 0; i < obj->syms.n; i++) {
		const struct objsym *sym = obj->syms.items[i];

		if (!sym->sec || sym->type != STT_FUNC || sym->value ||
		    !TEXT_STARTS_WITH_ONE_OF(sym->name, sanitizer_functions))
			continue;
		leave_out(sym->sec);
		any = true;
	}
	return any;
}

/* Does a list of what runs at the start or end have nothing else in it? */
static bool only_leads_to_those(const struct objsec *sec)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (!rel->sym->sec || !is_left_out(rel->sym->sec))
			return false;
	return sec->rels.n;
}

/* Whether anything that is looked at refers to the section. */
static bool is_used(const struct objfile *obj, const struct objsec *table)
{
	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objsec *sec = obj->secs.items[i];
		const struct objrel *rel;

		if (is_left_out(sec) || sec == table)
			continue;
		vec_for_each (&sec->rels, rel)
			if (rel->sym->sec == table)
				return true;
	}
	return false;
}

static void leave_out_tables(const struct objfile *obj, const struct objsec *function)
{
	const struct objrel *rel;

	vec_for_each (&function->rels, rel) {
		const struct objsec *table = rel->sym->sec;

		if (table &&
		    (secinfo_of(table)->kind == SECINFO_DATA ||
		     secinfo_of(table)->kind == SECINFO_LITERAL) &&
		    !is_used(obj, table))
			leave_out(table);
	}
}

static void leave_out_sanitizer(const struct objfile *obj)
{
	if (!leave_out_registering(obj))
		return;
	for (size_t i = 0; i < obj->secs.n; i++) {
		const struct objsec *sec = obj->secs.items[i];

		if (!strcmp(sec->name, table_section) ||
		    (secinfo_of(sec)->kind == SECINFO_START && only_leads_to_those(sec)))
			leave_out(sec);
		else if (is_left_out(sec) && (sec->flags & SHF_EXECINSTR))
			leave_out_tables(obj, sec);
	}
}

/* ---- one of a unit's two objects ---- */

static int sort_side(struct side *side, struct unit *unit, struct uspl_err *err)
{
	struct objfile *obj = side->obj;
	int rc = add_section_symbols(obj, err);

	if (rc)
		return rc;
	side->secinfos = calloc(obj->secs.n + 1, sizeof(*side->secinfos));
	side->syminfos = calloc(obj->syms.n + 1, sizeof(*side->syminfos));
	if (!side->secinfos || !side->syminfos)
		return uspl_fail_nomem(err);
	for (size_t i = 0; i < obj->secs.n; i++) {
		struct objsec *sec = obj->secs.items[i];

		sec->priv = &side->secinfos[i];
		side->secinfos[i] =
			(struct secinfo){ .unit = unit, .side = side, .kind = kind_of(sec) };
		drop_empty_relocations(sec);
	}
	rc = front_cut(side, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < obj->secs.n; i++)
		side->secinfos[i].front += functions_split_start(obj->secs.items[i]);
	leave_out_sanitizer(obj);
	for (size_t i = 0; i < obj->syms.n; i++) {
		obj->syms.items[i]->priv = &side->syminfos[i];
		side->syminfos[i].unit = unit;
		side->syminfos[i].side = side;
		sort_symbol(obj->syms.items[i]);
	}
	/*
	 * Every variable of C has a symbol, also a static one. A section of initialised data
	 * without any is what gcc makes of the initialiser of a local array of pointers, to be
	 * copied to the stack: a constant, though it could be written.
	 */
	for (size_t i = 0; i < obj->secs.n; i++)
		if (side->secinfos[i].kind == SECINFO_DATA && !side->secinfos[i].owner &&
		    obj->secs.items[i]->data)
			side->secinfos[i].kind = SECINFO_LITERAL;
	markers_tie(obj);
	return join_cold_parts(side, err);
}

static int open_side(struct side *side, const char *path, struct unit *unit,
		     const struct unit_place *place, struct uspl_err *err)
{
	int rc = 0;

	side->source = unit->source;
	side->path = path;
	if (path) {
		rc = objfile_read_code(path, &side->obj, err);
		if (rc)
			return rc;
	} else
		side->obj = objfile_new(unit->source);
	if (!side->obj)
		return uspl_fail_nomem(err);
	if (unit->optimised)
		optimised_localise(side->obj);
	if (path && place && place->left_out->linked) {
		rc = rename_wrapped(place->left_out->linked->options, side->obj, err);
		if (rc)
			return rc;
	}
	if (path && place) {
		rc = leave_out_absent(place->left_out, place->index, side == &unit->post, side->obj,
				      err);
		if (rc)
			return rc;
	}
	rc = markers_split(side->obj, err);
	if (rc)
		return rc;
	rc = functions_split(side->obj, err);
	if (rc)
		return rc;
	rc = sort_side(side, unit, err);
	if (rc || !unit->optimised)
		return rc;
	return optimised_rename(side, err);
}

int unit_open(struct unit *unit, const struct diff_unit *in, const struct unit_place *place,
	      struct uspl_err *err)
{
	int rc;

	unit->source = in->source;
	unit->optimised = dbginfo_is_joined(in->source);
	rc = open_side(&unit->pre, in->pre_obj, unit, place, err);
	if (rc)
		return rc;
	return open_side(&unit->post, in->post_obj, unit, place, err);
}

static void side_release(struct side *side)
{
	for (size_t i = 0; side->secinfos && i < side->obj->secs.n; i++) {
		vec_release(&side->secinfos[i].uses);
		free(side->secinfos[i].bias);
	}
	free(side->secinfos);
	free(side->syminfos);
	dbginfo_free(side->dbg);
	objfile_free(side->obj);
}

void unit_release(struct unit *unit)
{
	nameless_free(unit->nameless);
	side_release(&unit->pre);
	side_release(&unit->post);
	*unit = (struct unit){ 0 };
}
