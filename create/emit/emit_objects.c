// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * emit_objects.c - the two objects of an update, out of those of all changed units
 *
 * new.o gets the carried sections of the post builds, pre.o all code of the pre builds with the
 * literals it refers to, and that of units that help (helpers.c). In both each symbol has its
 * refname, so that units find each other's: a symbol that one unit defines and another one uses is
 * one symbol. First all sections are copied and their symbols defined, then the relocations are
 * carried over, which makes undefined symbols of the rest.
 */

#include "create/emit/emit_objects.h"

#include <string.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/strmap.h"
#include "create/emit/redirect.h"
#include "create/emit/unwind_info.h"
#include "create/diff/literal_place.h"
#include "create/tree/link_options.h"
#include "create/unit/literal.h"
#include "create/unit/unit.h"
#include "objfile/refname.h"
#include "update/update.h"

struct emitter {
	struct objfile *out;
	const struct linked *linked; /* the program before the patch; NULL: not known */
	struct strmap symbols;       /* of out, by refname */
	struct strmap members;       /* sections of out that came from a group, by member_name() */
	bool pre;
	struct uspl_err *err;
};

static const struct side *side_of(const struct emitter *em, const struct unit *unit)
{
	return em->pre ? &unit->pre : &unit->post;
}

static struct objsym *add_symbol(struct emitter *em, const char *name, const struct objsym *like)
{
	struct objsym *sym = objfile_add_symbol(em->out, name, like->type, like->bind);

	if (!sym || !strmap_set(&em->symbols, name, sym))
		return NULL;
	sym->vis = like->vis;
	sym->size = like->size;
	return sym;
}

/* The same for all copies of a member of a group: what the linker keeps one of. */
static const char *member_name(struct emitter *em, const struct objsec *sec)
{
	auto_buf struct buf name = { 0 };

	buf_addf(&name, "%s %s", sec->group_sig, sec->name);
	return name.oom ? NULL : objfile_strdup(em->out, buf_str(&name));
}

/*
 * The section that another unit has brought in already: of an inline function that several units
 * contain.
 */
static int find_copy(struct emitter *em, const struct objsec *sec, struct objsec **ret)
{
	const struct objsym *owner = secinfo_of(sec)->owner, *first = NULL;
	const char *name = NULL;

	*ret = NULL;
	if (sec->group_sig) {
		name = member_name(em, sec);
		if (!name)
			return uspl_fail_nomem(em->err);
		*ret = strmap_get(&em->members, name);
	}
	/* Where only some of them are position-independent, their sections differ in name. */
	if (!*ret && owner && owner->bind == STB_WEAK) {
		first = strmap_get(&em->symbols, syminfo_of(owner)->refname);
		*ret = first ? first->sec : NULL;
	}
	return 0;
}

static int copy_section(struct emitter *em, struct objsec *sec)
{
	struct objsec *copy = objfile_add_section(em->out, sec->name, sec->type,
						  sec->flags & ~(uint64_t)SHF_GROUP);
	struct objsym *secsym = objfile_add_symbol(em->out, "", STT_SECTION, STB_LOCAL);
	const char *name;

	if (!copy || !secsym)
		return uspl_fail_nomem(em->err);
	copy->size = sec->size;
	copy->align = sec->align;
	copy->entsize = sec->entsize;
	copy->secsym = secsym;
	secsym->sec = copy;
	if (sec->data) {
		copy->data = objfile_memdup(em->out, sec->data, sec->size);
		if (!copy->data)
			return uspl_fail_nomem(em->err);
	}
	secinfo_of(sec)->copy = copy;
	if (!sec->group_sig)
		return 0;
	name = member_name(em, sec);
	return name && strmap_set(&em->members, name, copy) ? 0 : uspl_fail_nomem(em->err);
}

/*
 * Should a symbol of a copied section be defined? In new.o an alias of a redirected function
 * isn't: a reference to it means the original, as one to the function itself does.
 */
static bool is_to_be_defined(const struct emitter *em, const struct objsym *sym)
{
	if (!syminfo_of(sym)->refname)
		return false;
	if (sym_is_function(sym))
		return em->pre || secinfo_of(sym->sec)->owner == sym ||
		       !syminfo_of(secinfo_of(sym->sec)->owner)->twin;
	return sym_is_variable(sym) || secinfo_of(sym->sec)->kind == SECINFO_LITERAL;
}

static int define_symbols(struct emitter *em, const struct unit *unit)
{
	const struct side *side = side_of(em, unit);

	for (size_t i = 0; i < side->obj->syms.n; i++) {
		const struct objsym *sym = side->obj->syms.items[i];
		const struct objsec *copy = sym->sec ? secinfo_of(sym->sec)->copy : NULL;
		struct objsym *def;

		if (!copy || !secinfo_of(sym->sec)->carried || !is_to_be_defined(em, sym))
			continue;
		if (strmap_get(&em->symbols, syminfo_of(sym)->refname))
			return uspl_fail(em->err, USPL_E_UNSUPPORTED,
					 "%s: '%s' is defined in another unit too", unit->source,
					 sym->name);
		def = add_symbol(em, syminfo_of(sym)->refname, sym);
		if (!def)
			return uspl_fail_nomem(em->err);
		def->sec = secinfo_of(sym->sec)->copy;
		def->value = sym->value;
	}
	return 0;
}

/* New variables without initial value that any unit could have defined; here new.o has to. */
static int define_common(struct emitter *em, const struct unit *unit)
{
	for (size_t i = 0; i < unit->post.obj->syms.n; i++) {
		const struct objsym *sym = unit->post.obj->syms.items[i];
		struct objsec *sec;
		struct objsym *def;

		if (!syminfo_of(sym)->carried || strmap_get(&em->symbols, sym->name))
			continue;
		sec = objfile_add_section(em->out, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
		def = sec ? add_symbol(em, sym->name, sym) : NULL;
		if (!def)
			return uspl_fail_nomem(em->err);
		sec->size = sym->size;
		sec->align = sym->value ? sym->value : 1;
		def->sec = sec;
	}
	return 0;
}

/* Does the library call that function of its own by name, whatever other modules define? */
static bool is_bound_to_own(const struct emitter *em, const char *name)
{
	const struct image_sym *own = em->linked && link_options_bind_functions(em->linked->options)
					      ? strmap_get(&em->linked->names, name)
					      : NULL;

	return own && own->bind != STB_LOCAL && own->type == STT_FUNC;
}

/* The symbol of out for a name; an undefined one is made if there is none. */
static struct objsym *symbol_for(struct emitter *em, const char *name, const struct objsym *like)
{
	struct objsym *sym = strmap_get(&em->symbols, name);

	if (sym)
		return sym;
	sym = add_symbol(em, name, like);
	/*
	 * ELF has no undefined local symbols; the refname tells what it is. An undefined weak one
	 * may be absent: that is right only if the unit says so.
	 */
	if (sym && (sym->bind == STB_LOCAL || like->sec))
		sym->bind = STB_GLOBAL;
	if (sym && sym->type == STT_SECTION)
		sym->type = STT_NOTYPE;
	if (sym && sym->vis == STV_DEFAULT && is_bound_to_own(em, name))
		sym->vis = STV_PROTECTED;
	return sym;
}

/*
 * Does a reference mean the library's own function, where a module that comes first may have one of
 * that name? One that the object has itself is meant anyhow.
 */
static bool is_own_export(const struct emitter *em, const struct objrel *rel)
{
	const struct objsym *sym = rel->sym,
			    *out = strmap_get(&em->symbols, syminfo_of(sym)->refname);

	return !em->pre && sym->bind != STB_LOCAL && sym_is_function(sym) && !(out && out->sec) &&
	       arch_native()->reloc(rel->type)->kind == RELOC_PCREL &&
	       linked_exports(em->linked, syminfo_of(sym)->refname);
}

/* The symbol of out that a reference of a unit means. */
static int map_symbol(struct emitter *em, const struct unit *unit, const struct objrel *rel,
		      struct objsym **ret)
{
	const struct objsym *sym = rel->sym;
	auto_free char *place = NULL;

	if (syminfo_of(sym)->refname && is_own_export(em, rel)) {
		/* By a name that the module alone explains. */
		place = refname_local(unit->source, syminfo_of(sym)->refname);
		*ret = place ? symbol_for(em, place, sym) : NULL;
	} else if (syminfo_of(sym)->refname) {
		*ret = symbol_for(em, syminfo_of(sym)->refname, sym);
	} else if (sym->sec && secinfo_of(sym->sec)->copy) {
		/*
		 * By the section; a literal's own symbol stands at some distance in it, which the
		 * caller adds.
		 */
		*ret = secinfo_of(sym->sec)->copy->secsym;
	} else if (em->pre && sym->sec) {
		/*
		 * A part of the running program's data that has no name: any name will do, as long
		 * as there is one.
		 */
		place = refname_local(unit->source, sym->sec->name);
		*ret = place ? symbol_for(em, place, sym->sec->secsym) : NULL;
	} else {
		return uspl_fail(em->err, USPL_E_BUG, "%s: nothing stands for '%s'", unit->source,
				 sym->sec ? sym->sec->name : sym->name);
	}
	return *ret ? 0 : uspl_fail_nomem(em->err);
}

static int add_relocation(struct emitter *em, const struct unit *unit, struct objsec *copy,
			  const struct objrel *rel, uint64_t offset)
{
	struct objsym *sym;
	struct objrel *out;
	int rc = map_symbol(em, unit, rel, &sym);

	if (rc)
		return rc;
	out = vec_push(&copy->rels);
	if (!out)
		return uspl_fail_nomem(em->err);
	*out = *rel;
	out->offset = offset;
	if (em->pre && literal_is_anchor(rel->sym) && secinfo_of(rel->sym->sec)->copy) {
		/*
		 * The match has to know which literal a reference is counted from. In new.o the
		 * section lies in one piece, and a place in it is enough.
		 */
		out->sym = objfile_add_symbol(em->out, "", STT_NOTYPE, STB_LOCAL);
		if (!out->sym)
			return uspl_fail_nomem(em->err);
		out->sym->sec = secinfo_of(rel->sym->sec)->copy;
		out->sym->value = rel->sym->value;
		return 0;
	}
	out->sym = sym;
	if (!syminfo_of(rel->sym)->refname)
		out->addend += (int64_t)rel->sym->value;
	return 0;
}

/* Copies what is marked as carried in one of the builds of a unit. */
static int copy_sections(struct emitter *em, const struct unit *unit)
{
	const struct side *side = side_of(em, unit);

	for (size_t i = 0; i < side->obj->secs.n; i++) {
		struct objsec *sec = side->obj->secs.items[i];
		struct objsec *copy;
		int rc;

		if (!secinfo_of(sec)->carried)
			continue;
		rc = find_copy(em, sec, &copy);
		if (!rc && copy) {
			secinfo_of(sec)->copy = copy;
			secinfo_of(sec)->carried = false;
		} else if (!rc) {
			rc = copy_section(em, sec);
		}
		if (rc)
			return rc;
	}
	return define_symbols(em, unit);
}

static int copy_references(struct emitter *em, const struct unit *unit)
{
	const struct side *side = side_of(em, unit);

	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct objrel *rel;

		if (!secinfo_of(sec)->carried)
			continue;
		vec_for_each (&sec->rels, rel) {
			int rc = add_relocation(em, unit, secinfo_of(sec)->copy, rel, rel->offset);

			if (rc)
				return rc;
		}
	}
	return 0;
}

/* One .eh_frame for all units. */
static int add_unwind(struct emitter *em, const struct diff *diff)
{
	auto_buf struct buf buf = { 0 };
	struct objsec *sec = NULL;

	for (size_t i = 0; i < diff->n; i++) {
		auto_vec objrel_vec rels = { 0 };
		const struct objrel *rel;
		int rc = unwind_collect(&diff->units[i], &buf, &rels, em->err);

		if (rc)
			return rc;
		if (rels.n && !sec) {
			sec = objfile_add_section(em->out, ".eh_frame", SHT_PROGBITS, SHF_ALLOC);
			if (!sec)
				return uspl_fail_nomem(em->err);
		}
		vec_for_each (&rels, rel) {
			rc = add_relocation(em, &diff->units[i], sec, rel, rel->offset);
			if (rc)
				return rc;
		}
	}
	if (!sec)
		return 0;
	sec->align = 8;
	sec->size = buf.len;
	sec->data = objfile_memdup(em->out, buf.data, buf.len);
	return sec->data ? 0 : uspl_fail_nomem(em->err);
}

static int copy_units(struct emitter *em, struct diff *diff)
{
	int rc = 0;

	for (size_t i = 0; i < diff->n; i++) {
		if (em->pre && diff->units[i].takes_part)
			emit_mark_pre(&diff->units[i]);
		rc = copy_sections(em, &diff->units[i]);
		if (rc)
			return rc;
		if (!em->pre) {
			rc = define_common(em, &diff->units[i]);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int connect_units(struct emitter *em, const struct diff *diff)
{
	int rc = 0;

	for (size_t i = 0; i < diff->n; i++) {
		rc = copy_references(em, &diff->units[i]);
		if (rc)
			return rc;
	}
	return 0;
}

/* Fills the object. helpers: more units, for pre.o; NULL if there are none. */
static int fill(struct emitter *em, struct diff *diff, struct diff *helpers)
{
	int rc = copy_units(em, diff);

	if (rc)
		return rc;
	rc = helpers ? copy_units(em, helpers) : 0;
	if (rc)
		return rc;
	rc = connect_units(em, diff);
	if (rc)
		return rc;
	rc = helpers ? connect_units(em, helpers) : 0;
	if (rc || em->pre)
		return rc;
	return add_unwind(em, diff);
}

static int emit_object(struct diff *diff, struct diff *helpers, bool pre, struct objfile **ret,
		       struct uspl_err *err)
{
	auto_objfile struct objfile *out = objfile_new(pre ? "pre.o" : "new.o");
	struct emitter em = {
		.out = out,
		.linked = diff->left_out.linked,
		.pre = pre,
		.err = err,
	};
	int rc = out ? fill(&em, diff, helpers) : uspl_fail_nomem(err);

	strmap_release(&em.symbols);
	strmap_release(&em.members);
	if (rc)
		return rc;
	*ret = take_ptr(out);
	return 0;
}

int emit_new(struct diff *diff, struct update_target *target, struct uspl_err *err)
{
	int rc = literal_places(diff, err);

	if (rc)
		return rc;
	emit_mark_units(diff);
	return emit_object(diff, NULL, false, &target->new_code, err);
}

int emit_pre(struct diff *diff, struct diff *helpers, struct update_target *target,
	     struct uspl_err *err)
{
	int rc;

	for (size_t i = 0; i < helpers->n; i++)
		helpers->units[i].takes_part = true;
	rc = emit_object(diff, helpers, true, &target->pre_code, err);
	if (rc)
		return rc;
	return redirect_list(diff, target, err);
}

int emit_whole(struct diff *diff, struct objfile **ret, struct uspl_err *err)
{
	for (size_t i = 0; i < diff->n; i++)
		diff->units[i].takes_part = diff->units[i].whole = true;
	return emit_object(diff, NULL, true, ret, err);
}
