// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * typeuse.c - what uses a type, and whether objects of it can outlive the functions that change
 *
 * A changed type does no harm if no object of its old form is there when the code is switched. That
 * is proven for automatic variables of functions that are replaced: none of these is on a stack
 * then. Anything else may hold an object, or lead to one: a static variable, a member of another
 * type, a pointer (malloc returns one), a function's result by pointer; and a pointer to a member
 * holds where that was. Only a parameter that points to the type is harmless, if all callers of the
 * function are seen (it is static, and its address is taken nowhere) and each has an object to
 * point to, or such a parameter itself. One that has neither has converted a pointer to void, which
 * may lead anywhere. So has code that only names the type in casts: of a type with a name, at least
 * one object has to be seen.
 */

#include "create/vet/typeuse.h"

#include <dwarf.h>
#include <string.h>

#include "create/diff/quiet_units.h"
#include "create/unit/diff_unit.h"
#include "create/unit/srcloc.h"

enum { MAX_CHAIN = 64, MAX_USERS = 3 };

/* A walk over the old debugging information of one unit. */
struct use_walk {
	struct type_change *change;
	struct side *side;
	struct dbginfo *dbg;
	struct type_use *use;
};

/* How a type leads to the one in question. */
enum lead { LEADS_NOWHERE, LEADS_BY_VALUE, LEADS_BY_POINTER };

/* The same definition: units that include one header have an entry for it each. */
static bool same_definition(Dwarf_Die *a, Dwarf_Die *b)
{
	const char *x = dwarf_diename(a), *y = dwarf_diename(b);
	int line_a = 0, line_b = 0;

	dwarf_decl_line(a, &line_a);
	dwarf_decl_line(b, &line_b);
	return dwarf_tag(a) == dwarf_tag(b) && line_a == line_b && !x == !y &&
	       (!x || !strcmp(x, y)) && dbgtype_size(a) == dbgtype_size(b);
}

static enum lead lead_of(Dwarf_Die *type, Dwarf_Die *wanted, int depth);

/* A function's result and parameters. */
static bool function_leads(Dwarf_Die *function, Dwarf_Die *wanted, int depth)
{
	Dwarf_Die die, type;

	if (dbgtype_of(function, &type) && lead_of(&type, wanted, depth + 1) != LEADS_NOWHERE)
		return true;
	for (bool has = !dwarf_child(function, &die); has; has = !dwarf_siblingof(&die, &die))
		if (dbgtype_of(&die, &type) && lead_of(&type, wanted, depth + 1) != LEADS_NOWHERE)
			return true;
	return false;
}

static enum lead lead_of(Dwarf_Die *type, Dwarf_Die *wanted, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Die die, inner;

	if (depth == MAX_CHAIN || !dbgtype_peel(type, &die))
		return LEADS_NOWHERE;
	if (same_definition(&die, wanted))
		return LEADS_BY_VALUE;
	switch (dwarf_tag(&die)) {
	case DW_TAG_array_type:
		return dbgtype_of(&die, &inner) ? lead_of(&inner, wanted, depth + 1)
						: LEADS_NOWHERE;
	case DW_TAG_subroutine_type:
		return function_leads(&die, wanted, depth) ? LEADS_BY_POINTER : LEADS_NOWHERE;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		if (dbgtype_of(&die, &inner) && lead_of(&inner, wanted, depth + 1) != LEADS_NOWHERE)
			return LEADS_BY_POINTER;
		return LEADS_NOWHERE;
	case DW_TAG_ptr_to_member_type:
		/* It holds a member's place in the objects of the class that contains it. */
		return dwarf_formref_die(dwarf_attr(&die, DW_AT_containing_type, &attr), &inner) &&
				       lead_of(&inner, wanted, depth + 1) != LEADS_NOWHERE
			       ? LEADS_BY_POINTER
			       : LEADS_NOWHERE;
	default:
		return LEADS_NOWHERE;
	}
}

static struct die_path *enclosing_function(struct die_path *at)
{
	for (at = at->up; at; at = at->up)
		if (dwarf_tag(&at->die) == DW_TAG_subprogram)
			return at;
	return NULL;
}

/* The code of a function's entry, NULL if it has none of its own. */
static const struct objsec *code_of(const struct use_walk *walk, Dwarf_Die *function)
{
	for (size_t i = 0; i < walk->side->obj->secs.n; i++) {
		const struct objsec *sec = walk->side->obj->secs.items[i];
		Dwarf_Addr address;

		if (secinfo_of(sec)->kind == SECINFO_CODE && secinfo_of(sec)->owner && sec->size &&
		    dbginfo_address(walk->dbg, sec, 0, &address) &&
		    dwarf_haspc(function, address) == 1)
			return sec;
	}
	return NULL;
}

/* Is it something that a function may have a pointer to the type from? own: not inlined into it. */
static bool is_source(Dwarf_Die *die, Dwarf_Die *wanted, bool own)
{
	int tag = dwarf_tag(die);
	Dwarf_Die type;
	enum lead lead;

	if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !dbgtype_of(die, &type))
		return false;
	lead = lead_of(&type, wanted, 0);
	return lead == LEADS_BY_VALUE ||
	       (lead == LEADS_BY_POINTER && own && tag == DW_TAG_formal_parameter);
}

/* Among a function's own entries, or those of its blocks and of what is inlined into it? */
static bool has_source(Dwarf_Die *die, Dwarf_Die *wanted, bool own, int depth)
{
	Dwarf_Die child;

	if (depth == MAX_CHAIN)
		return false;
	for (bool has = !dwarf_child(die, &child); has; has = !dwarf_siblingof(&child, &child))
		if (is_source(&child, wanted, own) || has_source(&child, wanted, false, depth + 1))
			return true;
	return false;
}

static bool is_replaced(const struct use_walk *walk, Dwarf_Die *function)
{
	const struct objsec *sec = code_of(walk, function);
	const struct objsym *twin = sec ? syminfo_of(secinfo_of(sec)->owner)->twin : NULL;

	return twin && secinfo_of(twin->sec)->carried;
}

/* Is the instruction that a reference lies in a direct call or jump, or one by the GOT? */
static bool is_call(const struct objsec *sec, const struct objrel *rel)
{
	const uint8_t *at = sec->data + rel->offset;

	if (!sec->data || !rel->offset || rel->offset >= sec->size)
		return false;
	if (rel->type == R_X86_64_GOTPCRELX || rel->type == R_X86_64_GOTPCREL)
		return rel->offset > 1 && at[-2] == 0xff && (at[-1] == 0x15 || at[-1] == 0x25);
	if (rel->type != R_X86_64_PC32 && rel->type != R_X86_64_PLT32)
		return false;
	/* call, jmp; or jcc with its two bytes. None of them can end another one's operands. */
	return at[-1] == 0xe8 || at[-1] == 0xe9 ||
	       (rel->offset > 1 && at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80);
}

const struct objsec *typeuse_find_address(const struct side *side, const struct objsym *function)
{
	for (size_t i = 0; i < side->obj->secs.n; i++) {
		const struct objsec *sec = side->obj->secs.items[i];
		const struct objrel *rel;

		if (secinfo_of(sec)->kind == SECINFO_IGNORED ||
		    secinfo_of(sec)->kind == SECINFO_UNWIND)
			continue;
		vec_for_each (&sec->rels, rel) {
			bool to = rel->sym->sec ? rel->sym->sec == function->sec &&
							  rel->sym->type == STT_FUNC
						: function->bind != STB_LOCAL &&
							  !strcmp(rel->sym->name, function->name);

			if (to && !(secinfo_of(sec)->kind == SECINFO_CODE && is_call(sec, rel)))
				return sec;
		}
	}
	return NULL;
}

static bool address_taken(const struct side *side, const struct objsec *code)
{
	return typeuse_find_address(side, secinfo_of(code)->owner);
}

/* Has every function that calls this code got an object of the type, or a pointer to one? */
static bool callers_have_source(const struct use_walk *walk, const struct objsec *code)
{
	for (size_t i = 0; i < walk->side->obj->secs.n; i++) {
		const struct objsec *sec = walk->side->obj->secs.items[i];
		const struct secinfo *secinfo = secinfo_of(sec);
		const struct objsym *caller = secinfo->is_cold && secinfo->other
						      ? secinfo_of(secinfo->other)->owner
						      : secinfo->owner;
		Dwarf_Die function;

		if (secinfo->kind != SECINFO_CODE || sec == code ||
		    !sec_refers_to(sec, secinfo_of(code)->owner))
			continue;
		if (!caller || !dbginfo_find(walk->dbg, caller, &function) ||
		    !has_source(&function, &walk->change->pre, true, 0))
			return false;
	}
	return true;
}

static bool is_abstract(Dwarf_Die *function)
{
	return dwarf_hasattr(function, DW_AT_inline) && !dwarf_hasattr(function, DW_AT_low_pc) &&
	       !dwarf_hasattr(function, DW_AT_ranges);
}

/*
 * A function that was made for the type may make objects that no variable shows. To use them again
 * it takes another function, whose address is kept beside them.
 */
static bool template_is_local(const struct use_walk *walk, Dwarf_Die *function)
{
	const struct objsec *code;

	if (is_abstract(function) || dwarf_hasattr(function, DW_AT_declaration))
		return true;
	code = code_of(walk, function);
	return code && is_replaced(walk, function) && !address_taken(walk->side, code);
}

/* Can this use of the type hold an object, or lead to one, past the functions that are replaced? */
static bool use_is_local(const struct use_walk *walk, struct die_path *at, enum lead lead)
{
	struct die_path *function = enclosing_function(at);
	int tag = dwarf_tag(&at->die);
	const struct objsec *code;
	Dwarf_Addr address;

	if (tag == DW_TAG_subprogram)
		return lead == LEADS_BY_VALUE && is_replaced(walk, &at->die);
	if (function && tag == DW_TAG_template_type_parameter)
		return template_is_local(walk, &function->die);
	if (!function || (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter))
		return false;
	/* A member's own object: the member is seen where it is defined. */
	if (tag == DW_TAG_formal_parameter && dwarf_hasattr(&at->die, DW_AT_artificial) &&
	    dwarf_hasattr(&function->die, DW_AT_declaration))
		return true;
	/* What an inlined function has is seen where it is inlined. */
	if (is_abstract(&function->die))
		return true;
	if (tag == DW_TAG_variable)
		return lead == LEADS_BY_VALUE && !dbginfo_variable_address(&at->die, &address) &&
		       !dbginfo_variable_by_thread(&at->die) && is_replaced(walk, &function->die);
	if (lead == LEADS_BY_VALUE)
		return is_replaced(walk, &function->die);
	if (dwarf_tag(&at->up->die) == DW_TAG_inlined_subroutine)
		return has_source(&function->die, &walk->change->pre, true, 0);
	/* All its calls have to come from where we see them, and with objects that we see. */
	code = at->up == function ? code_of(walk, &function->die) : NULL;
	return code && secinfo_of(code)->owner->bind == STB_LOCAL &&
	       !address_taken(walk->side, code) && callers_have_source(walk, code);
}

/*
 * Does another type put something into the padding at the end of its part that is of this one? A
 * derived class may (C++), now or once its own members change; a class around a member does where
 * the next member begins within it ([[no_unique_address]]).
 */
static bool uses_end(struct die_path *at, Dwarf_Die *type)
{
	auto_members member_vec members = { 0 };
	struct type_member *member;
	uint64_t begin = 0, end = 0;

	if (dwarf_tag(&at->die) == DW_TAG_inheritance)
		return true;
	if (dwarf_tag(&at->die) != DW_TAG_member || !at->up ||
	    dwarf_tag(&at->up->die) == DW_TAG_union_type || !dwarf_diename(&at->die) ||
	    dbgtype_members(&at->up->die, &members, NULL))
		return false;
	vec_for_each (&members, member)
		if (member->die.addr == at->die.addr) {
			begin = member->bit;
			end = begin + dbgtype_size(type) * 8;
		}
	vec_for_each (&members, member)
		if (member->bit > begin && member->bit < end)
			return true;
	return false;
}

static void add_user(struct type_use *use, struct die_path *at)
{
	struct die_path *function = enclosing_function(at);
	const char *name = dwarf_diename(function ? &function->die : &at->die);
	auto_buf struct buf quoted = { 0 };

	if (!name || (!function && dwarf_tag(&at->die) != DW_TAG_variable &&
		      dwarf_tag(&at->die) != DW_TAG_subprogram))
		return;
	buf_addf(&quoted, "'%s'", name);
	if (use->users.len && strstr(buf_str(&use->users), buf_str(&quoted)))
		return;
	if (use->n_users++ < MAX_USERS)
		buf_addf(&use->users, "%s%s", use->users.len ? ", " : "", buf_str(&quoted));
}

static enum walk note_use(struct die_path *at, void *arg)
{
	struct use_walk *walk = arg;
	int tag = dwarf_tag(&at->die);
	enum lead lead;
	Dwarf_Die type;

	/* These only make types of types; they count where they are used. */
	if (tag == DW_TAG_typedef || tag == DW_TAG_pointer_type || tag == DW_TAG_array_type ||
	    tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	    tag == DW_TAG_restrict_type || tag == DW_TAG_subroutine_type)
		return WALK_PAST;
	if (!dbgtype_of(&at->die, &type))
		return WALK_INTO;
	lead = lead_of(&type, &walk->change->pre, 0);
	if (lead == LEADS_NOWHERE)
		return WALK_INTO;
	add_user(walk->use, at);
	walk->use->seen |= lead == LEADS_BY_VALUE || tag == DW_TAG_template_type_parameter;
	walk->use->end_used |= lead == LEADS_BY_VALUE && uses_end(at, &type);
	walk->use->local &= use_is_local(walk, at, lead);
	return WALK_INTO;
}

static void find_in(struct side *side, struct type_change *change, struct type_use *ret)
{
	struct use_walk walk = { change, side, side_dbginfo(side), ret };

	if (walk.dbg)
		dbginfo_walk(walk.dbg, note_use, &walk);
}

int typeuse_find(const struct diff *diff, struct type_change *change, struct type_use *ret,
		 struct uspl_err *err)
{
	const size_t *quiet;

	ret->local = true;
	for (size_t i = 0; i < diff->n; i++) {
		find_in(&diff->units[i].pre, change, ret);
		unit_close_dbginfo(&diff->units[i]);
	}
	vec_for_each (&diff->quiet, quiet) {
		/* A unit whose code doesn't change may have objects, too. */
		struct unit unit = { 0 };
		int rc = quiet_open_pre(&unit, &diff->inputs[*quiet], err);

		if (!rc)
			find_in(&unit.pre, change, ret);
		unit_release(&unit);
		if (rc)
			return rc;
	}
	ret->local &= ret->seen || !dwarf_diename(&change->pre);
	if (ret->n_users > MAX_USERS)
		buf_addf(&ret->users, " and %zu more", ret->n_users - MAX_USERS);
	return 0;
}

void typeuse_release(struct type_use *use)
{
	buf_release(&use->users);
}
