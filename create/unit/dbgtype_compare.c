// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * dbgtype_compare.c - whether two types of different builds are the same
 *
 * By name where there is one, else by contents. What a template was given counts as contents:
 * seconds and milliseconds are the same number in memory, and not the same. So do the names of
 * types of which nothing else is there to see. Types refer to each other in circles; a pair that is
 * being compared already counts as the same, so that what decides is the rest of the circle.
 */

#include <dwarf.h>
#include <string.h>

#include "create/unit/dbgtype.h"

enum { MAX_DEPTH = 64 };

/* The pairs that are being compared, innermost first. */
struct pair {
	Dwarf_Die *pre, *post;
	const struct pair *up;
	int depth;
};

static enum type_relation compare(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up);

static enum type_relation worse(enum type_relation a, enum type_relation b)
{
	return a > b ? a : b;
}

/* The types that two entries refer to. */
static enum type_relation compare_inner(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	Dwarf_Die a, b;
	bool has_a = dbgtype_of(pre, &a), has_b = dbgtype_of(post, &b);

	return compare(has_a ? &a : NULL, has_b ? &b : NULL, up);
}

static bool is_integer(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	if (dwarf_tag(type) == DW_TAG_enumeration_type)
		return true;
	if (dwarf_tag(type) != DW_TAG_base_type ||
	    dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attr), &encoding))
		return false;
	return encoding == DW_ATE_signed || encoding == DW_ATE_unsigned ||
	       encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
	       encoding == DW_ATE_boolean || encoding == DW_ATE_UTF;
}

/* A number that an entry has, 0 if it hasn't. */
static uint64_t attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr(die, name, &attr), &value);
	return value;
}

static uint64_t encoding_of(Dwarf_Die *type)
{
	return attribute(type, DW_AT_encoding);
}

static enum type_relation compare_integers(Dwarf_Die *pre, Dwarf_Die *post)
{
	if (dbgtype_size(pre) != dbgtype_size(post))
		return TYPE_OTHER;
	if (dbgtype_endianity(pre) != dbgtype_endianity(post))
		return TYPE_OTHER;
	if (dwarf_tag(pre) == dwarf_tag(post) && encoding_of(pre) == encoding_of(post))
		return TYPE_SAME;
	return TYPE_ALIKE;
}

/* void and single bytes: a pointer to one may mean anything. */
static bool is_raw(Dwarf_Die *pointer)
{
	Dwarf_Die target;

	return !dbgtype_of(pointer, &target) || !dbgtype_peel(&target, &target) ||
	       (dwarf_tag(&target) == DW_TAG_base_type && dbgtype_size(&target) == 1);
}

static enum type_relation compare_pointers(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	enum type_relation relation = compare_inner(pre, post, up);

	return relation == TYPE_OTHER && (is_raw(pre) || is_raw(post)) ? TYPE_ALIKE : relation;
}

/* Finds the next child with that tag, at or behind *die. */
static bool next_of(Dwarf_Die *die, bool has, int tag)
{
	while (has && dwarf_tag(die) != tag)
		has = !dwarf_siblingof(die, die);
	return has;
}

/* int [2][3] is as large as int [3][2], and has its elements at other places. */
static bool same_dimensions(Dwarf_Die *pre, Dwarf_Die *post)
{
	Dwarf_Die a, b;
	bool has_a = next_of(&a, !dwarf_child(pre, &a), DW_TAG_subrange_type);
	bool has_b = next_of(&b, !dwarf_child(post, &b), DW_TAG_subrange_type);

	/* How many the first dimension has follows from the size. */
	while (has_a && has_b) {
		has_a = next_of(&a, !dwarf_siblingof(&a, &a), DW_TAG_subrange_type);
		has_b = next_of(&b, !dwarf_siblingof(&b, &b), DW_TAG_subrange_type);
		if (has_a && has_b && dbgtype_dimension(&a) != dbgtype_dimension(&b))
			return false;
	}
	return has_a == has_b;
}

/* The classes that two pointers to members belong to. */
static enum type_relation compare_classes(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	Dwarf_Attribute attr;
	Dwarf_Die a, b;

	if (!dwarf_formref_die(dwarf_attr(pre, DW_AT_containing_type, &attr), &a) ||
	    !dwarf_formref_die(dwarf_attr(post, DW_AT_containing_type, &attr), &b))
		return TYPE_SAME;
	return compare(&a, &b, up);
}

static enum type_relation compare_passed(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	enum type_relation relation = compare_inner(pre, post, up);
	Dwarf_Die a, b;

	if (!dbgtype_of(pre, &a) || !dbgtype_of(post, &b) || !dbgtype_peel(&a, &a) ||
	    !dbgtype_peel(&b, &b) || !dbgtype_is_aggregate(&a) || !dbgtype_is_aggregate(&b))
		return relation;
	/*
	 * An object of C++ that gets a destructor is no longer passed itself, but by its address.
	 */
	return attribute(&a, DW_AT_calling_convention) == attribute(&b, DW_AT_calling_convention)
		       ? relation
		       : TYPE_OTHER;
}

static enum type_relation compare_functions(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	enum type_relation relation = compare_passed(pre, post, up);
	Dwarf_Die a, b;
	bool has_a = next_of(&a, !dwarf_child(pre, &a), DW_TAG_formal_parameter);
	bool has_b = next_of(&b, !dwarf_child(post, &b), DW_TAG_formal_parameter);

	while (has_a && has_b) {
		relation = worse(relation, compare_passed(&a, &b, up));
		has_a = next_of(&a, !dwarf_siblingof(&a, &a), DW_TAG_formal_parameter);
		has_b = next_of(&b, !dwarf_siblingof(&b, &b), DW_TAG_formal_parameter);
	}
	return has_a || has_b ? TYPE_OTHER : relation;
}

/* Nameless ones: every enumerator of the old one must keep its value. */
static enum type_relation compare_enums(Dwarf_Die *pre, Dwarf_Die *post)
{
	Dwarf_Die a, b;

	if (dbgtype_size(pre) != dbgtype_size(post))
		return TYPE_OTHER;
	for (bool i = !dwarf_child(pre, &a); i; i = !dwarf_siblingof(&a, &a)) {
		const char *name = dwarf_diename(&a);
		bool found = false;

		for (bool j = !dwarf_child(post, &b); j && !found; j = !dwarf_siblingof(&b, &b))
			found = name && dwarf_diename(&b) && !strcmp(name, dwarf_diename(&b)) &&
				dbgtype_value(&a) == dbgtype_value(&b);
		if (!found)
			return TYPE_OTHER;
	}
	return TYPE_SAME;
}

typedef VEC(Dwarf_Die) argument_list;

/* Appends what a template was given; a pack's (`class... T`) are in an entry of their own. */
static bool add_arguments(Dwarf_Die *template, argument_list *list, bool is_pack)
{
	Dwarf_Die die;

	for (bool has = !dwarf_child(template, &die); has; has = !dwarf_siblingof(&die, &die)) {
		Dwarf_Die *slot;
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_GNU_template_parameter_pack && !is_pack &&
		    !add_arguments(&die, list, true))
			return false;
		if (tag != DW_TAG_template_type_parameter && tag != DW_TAG_template_value_parameter)
			continue;
		slot = vec_push(list);
		if (!slot)
			return false;
		*slot = die;
	}
	return true;
}

/* The name of the structure or enumeration that a template was given, NULL if it is none. */
static const char *argument_name(Dwarf_Die *argument)
{
	Dwarf_Die type;

	return dwarf_tag(argument) == DW_TAG_template_type_parameter &&
			       dbgtype_of(argument, &type) && dbgtype_peel(&type, &type) &&
			       (dbgtype_is_aggregate(&type) ||
				dwarf_tag(&type) == DW_TAG_enumeration_type)
		       ? dwarf_diename(&type)
		       : NULL;
}

/*
 * Is it what stood elsewhere among those of the old template? variant<metres, feet> says by a
 * number which of them it holds, and variant<feet, metres> would take that for the other one,
 * though both have the same contents.
 */
static bool has_moved(const argument_list *old, size_t at, Dwarf_Die *argument)
{
	const char *name = argument_name(argument), *was = argument_name(&old->items[at]);
	bool moved = false;

	for (size_t i = 0; name && was && strcmp(name, was) != 0 && i < old->n; i++) {
		const char *other = argument_name(&old->items[i]);

		moved = moved || (other && !strcmp(other, name));
	}
	return moved;
}

/* Were two templates given the same? */
static bool same_arguments(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	auto_vec argument_list a = { 0 }, b = { 0 };

	if (!add_arguments(pre, &a, false) || !add_arguments(post, &b, false) || a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		Dwarf_Die *x = &a.items[i], *y = &b.items[i];

		if (dwarf_tag(x) != dwarf_tag(y) || dbgtype_value(x) != dbgtype_value(y) ||
		    compare_inner(x, y, up) != TYPE_SAME || has_moved(&a, i, y))
			return false;
	}
	return true;
}

static bool same_name(const char *a, const char *b)
{
	auto_buf struct buf x = { 0 }, y = { 0 };

	dbgtype_add_name(a, &x);
	dbgtype_add_name(b, &y);
	return !x.oom && !y.oom && !strcmp(buf_str(&x), buf_str(&y));
}

/* Structures of which at least one has no name, or another one. */
static enum type_relation compare_aggregates(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	const char *was = dwarf_diename(pre), *is = dwarf_diename(post);
	auto_members member_vec a = { 0 }, b = { 0 };

	if (dbgtype_members(pre, &a, NULL) || !same_arguments(pre, post, up) ||
	    (!a.n && was && is && !same_name(was, is)))
		return TYPE_OTHER;
	if (dbgtype_members(post, &b, NULL) || a.n != b.n ||
	    dbgtype_size(pre) != dbgtype_size(post))
		return TYPE_OTHER;
	for (size_t i = 0; i < a.n; i++) {
		struct type_member *x = &a.items[i], *y = &b.items[i];

		if (strcmp(x->name, y->name) || x->bit != y->bit || x->bits != y->bits ||
		    compare(&x->type, &y->type, up) != TYPE_SAME)
			return TYPE_OTHER;
	}
	return TYPE_SAME;
}

/*
 * Numbers with a point of one size may be written in several ways: 80 bits of 16 bytes (long
 * double) or all of them (__float128), and 2 bytes with a long exponent (__bf16) or without
 * (_Float16). Only the names tell.
 */
static bool same_format(Dwarf_Die *pre, Dwarf_Die *post)
{
	static const char *const words[] = { "128", "bf16" };
	const char *a = dwarf_diename(pre), *b = dwarf_diename(post);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (a && b && !strstr(a, words[i]) != !strstr(b, words[i]) &&
		    encoding_of(pre) != DW_ATE_signed && encoding_of(pre) != DW_ATE_unsigned)
			return false;
	return true;
}

static enum type_relation compare_same_tag(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	switch (dwarf_tag(pre)) {
	case DW_TAG_base_type:
		return encoding_of(pre) == encoding_of(post) &&
				       dbgtype_endianity(pre) == dbgtype_endianity(post) &&
				       dbgtype_size(pre) == dbgtype_size(post) &&
				       same_format(pre, post)
			       ? TYPE_SAME
			       : TYPE_OTHER;
	case DW_TAG_ptr_to_member_type:
		return worse(compare_inner(pre, post, up), compare_classes(pre, post, up));
	case DW_TAG_enumeration_type:
		return compare_enums(pre, post);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return compare_pointers(pre, post, up);
	case DW_TAG_array_type:
		if (dbgtype_size(pre) != dbgtype_size(post) || !same_dimensions(pre, post))
			return TYPE_OTHER;
		return compare_inner(pre, post, up);
	case DW_TAG_subroutine_type:
		return compare_functions(pre, post, up);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return compare_aggregates(pre, post, up);
	default: {
		const char *a = dwarf_diename(pre), *b = dwarf_diename(post);

		return !a == !b && (!a || !strcmp(a, b)) ? TYPE_SAME : TYPE_OTHER;
	}
	}
}

/* The type's own name, or that of the typedef for a nameless one. */
static const char *name_of(Dwarf_Die *type, Dwarf_Die *peeled)
{
	Dwarf_Die die = *type;
	const char *name = dwarf_diename(peeled);

	for (int i = 0; !name && i < MAX_DEPTH && die.addr != peeled->addr; i++) {
		if (dwarf_tag(&die) == DW_TAG_typedef)
			name = dwarf_diename(&die);
		if (!dbgtype_of(&die, &die))
			break;
	}
	return name;
}

static enum type_relation compare(Dwarf_Die *pre, Dwarf_Die *post, const struct pair *up)
{
	Dwarf_Die a, b;
	struct pair pair = { .pre = &a, .post = &b, .up = up, .depth = up ? up->depth + 1 : 0 };
	bool has_a = pre && dbgtype_peel(pre, &a), has_b = post && dbgtype_peel(post, &b);
	const char *name_a, *name_b;

	if (!has_a || !has_b)
		return has_a == has_b ? TYPE_SAME : TYPE_OTHER;
	for (const struct pair *p = up; p; p = p->up)
		if (p->pre->addr == a.addr && p->post->addr == b.addr)
			return TYPE_SAME;
	if (pair.depth == MAX_DEPTH)
		return TYPE_OTHER;
	name_a = name_of(pre, &a);
	name_b = name_of(post, &b);
	if (dwarf_tag(&a) == dwarf_tag(&b) && name_a && name_b && same_name(name_a, name_b) &&
	    (dbgtype_is_aggregate(&a) || dwarf_tag(&a) == DW_TAG_enumeration_type))
		return TYPE_SAME;
	if (is_integer(&a) && is_integer(&b) &&
	    !(dwarf_tag(&a) == DW_TAG_enumeration_type && dwarf_tag(&b) == dwarf_tag(&a)))
		return compare_integers(&a, &b);
	return dwarf_tag(&a) == dwarf_tag(&b) ? compare_same_tag(&a, &b, &pair) : TYPE_OTHER;
}

enum type_relation dbgtype_compare(Dwarf_Die *pre, Dwarf_Die *post)
{
	return compare(pre, post, NULL);
}

enum type_relation dbgtype_compare_functions(Dwarf_Die *pre, Dwarf_Die *post)
{
	return compare_functions(pre, post, NULL);
}
