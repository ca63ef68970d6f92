// SPDX-License-Identifier: GPL-3.0-or-later
// dbgtype.c - types as debugging information describes them

#include "create/unit/dbgtype.h"

#include <dwarf.h>
#include <string.h>

/* Longer than any chain of types in a source; it ends endless chains of a damaged file. */
enum { MAX_CHAIN = 64 };

bool dbgtype_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool dbgtype_peel(Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die die = *type;

	for (int i = 0; i < MAX_CHAIN; i++) {
		if (!is_transparent(dwarf_tag(&die))) {
			*ret = die;
			return true;
		}
		if (!dbgtype_of(&die, &die))
			return false;
	}
	return false;
}

static bool is_aggregate_tag(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

bool dbgtype_is_aggregate(Dwarf_Die *type)
{
	return is_aggregate_tag(dwarf_tag(type));
}

uint64_t dbgtype_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) ? 0 : size;
}

uint64_t dbgtype_dimension(Dwarf_Die *range)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	if (!dwarf_formudata(dwarf_attr(range, DW_AT_count, &attr), &n))
		return n;
	return dwarf_formudata(dwarf_attr(range, DW_AT_upper_bound, &attr), &n) ? 0 : n + 1;
}

static uint64_t own_alignment(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	return dwarf_formudata(dwarf_attr(die, DW_AT_alignment, &attr), &n) ? 0 : n;
}

uint64_t dbgtype_alignment(Dwarf_Die *type)
{
	uint64_t most = own_alignment(type);
	Dwarf_Die die;

	for (bool has = !dwarf_child(type, &die); has; has = !dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_member && own_alignment(&die) > most)
			most = own_alignment(&die);
	return most;
}

uint64_t dbgtype_endianity(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	Dwarf_Die die;

	return !dbgtype_peel(type, &die) ||
			       dwarf_formudata(dwarf_attr(&die, DW_AT_endianity, &attr), &n)
		       ? 0
		       : n;
}

static void spell(Dwarf_Die *type, struct buf *buf, int depth)
{
	int tag = type ? dwarf_tag(type) : DW_TAG_invalid;
	const char *name = type ? dwarf_diename(type) : "void";
	Dwarf_Die inner;
	bool has = type && dbgtype_of(type, &inner);

	if (depth == MAX_CHAIN)
		return;
	if (tag == DW_TAG_const_type)
		buf_addstr(buf, "const ");
	if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
		buf_addstr(buf, "struct ");
	if (tag == DW_TAG_union_type)
		buf_addstr(buf, "union ");
	if (tag == DW_TAG_enumeration_type)
		buf_addstr(buf, "enum ");
	if (name && !(is_transparent(tag) && tag != DW_TAG_typedef)) {
		buf_addstr(buf, name);
	} else if (is_aggregate_tag(tag) || tag == DW_TAG_enumeration_type) {
		buf_addstr(buf, "{...}");
	} else if (tag == DW_TAG_subroutine_type) {
		buf_addstr(buf, "function");
	} else {
		spell(has ? &inner : NULL, buf, depth + 1);
	}
	if (tag == DW_TAG_pointer_type)
		buf_addstr(buf, buf->len && buf->data[buf->len - 1] == '*' ? "*" : " *");
	if (tag == DW_TAG_reference_type)
		buf_addstr(buf, " &");
	if (tag == DW_TAG_array_type) {
		Dwarf_Die range;

		/* " [2][3]" */
		buf_addstr(buf, " ");
		for (has = !dwarf_child(type, &range); has; has = !dwarf_siblingof(&range, &range))
			if (dwarf_tag(&range) == DW_TAG_subrange_type)
				buf_addf(buf, "[%llu]",
					 (unsigned long long)dbgtype_dimension(&range));
	}
}

void dbgtype_spell(Dwarf_Die *type, struct buf *buf)
{
	spell(type, buf, 0);
}

static void spell_peeled(Dwarf_Die *type, struct buf *buf)
{
	Dwarf_Die peeled;

	dbgtype_spell(dbgtype_peel(type, &peeled) ? &peeled : NULL, buf);
}

void dbgtype_spell_change(Dwarf_Die *pre, Dwarf_Die *post, struct buf *buf)
{
	auto_buf struct buf was = { 0 }, is = { 0 };

	dbgtype_spell(pre, &was);
	dbgtype_spell(post, &is);
	if (!strcmp(buf_str(&was), buf_str(&is))) {
		buf_release(&was);
		buf_release(&is);
		spell_peeled(pre, &was);
		spell_peeled(post, &is);
	}
	buf_addf(buf, "'%s' to '%s'", buf_str(&was), buf_str(&is));
	if (dbgtype_endianity(pre) != dbgtype_endianity(post))
		buf_addstr(buf, " in another byte order");
	else if (!strcmp(buf_str(&was), buf_str(&is)))
		buf_addstr(buf, " of another form");
}

void dbgtype_spell_function(Dwarf_Die *function, struct buf *buf)
{
	Dwarf_Die die, type;
	const char *comma = "";

	dbgtype_spell(dbgtype_of(function, &type) ? &type : NULL, buf);
	buf_addstr(buf, " (");
	for (bool has = !dwarf_child(function, &die); has; has = !dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter || !dbgtype_of(&die, &type))
			continue;
		buf_addstr(buf, comma);
		dbgtype_spell(&type, buf);
		comma = ", ";
	}
	buf_addstr(buf, *comma ? ")" : "void)");
}

int64_t dbgtype_value(Dwarf_Die *enumerator)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;

	if (dwarf_formsdata(dwarf_attr(enumerator, DW_AT_const_value, &attr), &value))
		return 0;
	return value;
}

static uint64_t number(Dwarf_Die *die, unsigned int name, bool *ret_has)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	*ret_has = !dwarf_formudata(dwarf_attr_integrate(die, name, &attr), &value);
	return *ret_has ? value : 0;
}

/* Where a member begins: a number, or in DWARF 2 the expression that adds it to an address. */
static uint64_t member_offset(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(die, DW_AT_data_member_location, &attr))
		return 0;
	if (!dwarf_formudata(&attr, &value))
		return value;
	if (!dwarf_getlocation(&attr, &ops, &n) && n == 1 && ops[0].atom == DW_OP_plus_uconst)
		return ops[0].number;
	return 0;
}

/*
 * Where a member begins and how large it is. DWARF 5 counts a bit-field's place from the
 * structure's start; older versions count it from the upper end of the integer that holds it.
 */
static void measure(struct type_member *member, uint64_t base)
{
	bool has_bits, has_place, has_old, has_holder;
	uint64_t byte = member_offset(&member->die);
	uint64_t bits = number(&member->die, DW_AT_bit_size, &has_bits);
	uint64_t place = number(&member->die, DW_AT_data_bit_offset, &has_place);
	uint64_t old = number(&member->die, DW_AT_bit_offset, &has_old);
	uint64_t holder = number(&member->die, DW_AT_byte_size, &has_holder);

	member->is_bits = has_bits;
	member->bits = has_bits ? bits : dbgtype_size(&member->type) * 8;
	member->bit = base + byte * 8;
	if (!has_bits)
		return;
	if (!has_holder)
		holder = dbgtype_size(&member->type);
	if (has_place)
		member->bit = base + place;
	else if (has_old)
		member->bit += holder * 8 - old - bits;
}

void dbgtype_add_name(const char *name, struct buf *buf)
{
	static const char lambda[] = "(lambda at ";
	const char *at;

	while ((at = strstr(name, lambda))) {
		buf_add(buf, name, (size_t)(at - name));
		name = at + strcspn(at, ")");
	}
	buf_addstr(buf, name);
}

static int add_members(Dwarf_Die *type, const char *prefix, uint64_t base, int depth,
		       member_vec *members, struct uspl_err *err);

static int add_member(Dwarf_Die *die, const char *prefix, uint64_t base, int depth,
		      member_vec *members, struct uspl_err *err)
{
	const char *name = dwarf_diename(die);
	struct type_member member = { .die = *die, .is_inner = depth > 0 };
	struct type_member *slot;
	auto_buf struct buf own = { 0 };
	Dwarf_Die inner;

	if (!dbgtype_of(die, &member.type))
		return 0;
	measure(&member, base);
	/* A structure that has no name of its own belongs to the one around it. */
	if (dbgtype_is_aggregate(&member.type) && !dwarf_diename(&member.type)) {
		auto_buf struct buf path = { 0 };

		buf_addstr(&path, prefix);
		if (name)
			buf_addf(&path, "%s.", name);
		inner = member.type;
		return add_members(&inner, buf_str(&path), member.bit, depth + 1, members, err);
	}
	slot = vec_push(members);
	/* A base class is known by its own name. */
	buf_addstr(&own, prefix);
	if (name)
		buf_addstr(&own, name);
	else if (dwarf_diename(&member.type))
		dbgtype_add_name(dwarf_diename(&member.type), &own);
	member.name = slot && !own.oom ? strdup(buf_str(&own)) : NULL;
	if (!member.name)
		return uspl_fail_nomem(err);
	*slot = member;
	return 0;
}

static int add_members(Dwarf_Die *type, const char *prefix, uint64_t base, int depth,
		       member_vec *members, struct uspl_err *err)
{
	Dwarf_Die die;

	if (depth == MAX_CHAIN || dwarf_child(type, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die), rc = 0;
		Dwarf_Attribute attr;

		/* A declaration is a static member: it lies elsewhere. */
		if ((tag == DW_TAG_member && !dwarf_hasattr(&die, DW_AT_external) &&
		     !dwarf_attr(&die, DW_AT_declaration, &attr)) ||
		    tag == DW_TAG_inheritance)
			rc = add_member(&die, prefix, base, depth, members, err);
		if (rc)
			return rc;
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

int dbgtype_members(Dwarf_Die *type, member_vec *members, struct uspl_err *err)
{
	return add_members(type, "", 0, 0, members, err);
}

void dbgtype_members_release(member_vec *members)
{
	struct type_member *member;

	vec_for_each (members, member)
		free(member->name);
	vec_release(members);
}

struct type_member *dbgtype_member(const member_vec *members, const char *name)
{
	struct type_member *member;

	vec_for_each (members, member)
		if (!strcmp(member->name, name))
			return member;
	return NULL;
}
