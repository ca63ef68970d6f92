// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * types_room.c - where a structure has room for a new member
 *
 * A member that is declared right behind another one changes no layout if what is behind that one
 * is free: bits of the integer that a run of bit-fields lies in, or padding. The run must end
 * there, since bit-fields behind it would move; and the new member must want no alignment that the
 * structure hasn't, nor begin anything beyond the room.
 *
 * No room, though there seems to be some: behind a member of a nameless structure or union within,
 * since a declaration there would belong to that one; behind an array at the end, where programs
 * keep more than it has elements; and in C++ at the end of a class where others have something
 * there: a class derived from it, a member [[no_unique_address]], or a virtual base.
 */

#include "create/vet/types_room.h"

#include <dwarf.h>
#include <string.h>

/* A member as it lies in the structure, or as it would. */
struct placed {
	const char *name;
	uint64_t bit, bits;
	uint64_t unit; /* the size of its type in bits */
	bool is_bits;
	bool is_base;  /* a class of C++ that the structure is derived from */
	bool is_inner; /* of a nameless structure within */
	bool is_array;
};

/* A structure with its members, and how far it is its own. */
struct room {
	VEC(struct placed) members;
	uint64_t size;  /* in bits */
	bool ends_free; /* nothing else lies behind its last member */
};

static void room_release(struct room *room)
{
	vec_release(&room->members);
}

DEFINE_AUTO_RELEASE(room, struct room, room_release)
#define auto_room __attribute__((cleanup(cleanup_room_)))

static struct placed placed_of(struct type_member *member)
{
	Dwarf_Die type;

	return (struct placed){
		.name = member->name,
		.bit = member->bit,
		.bits = member->bits,
		.unit = dbgtype_size(&member->type) * 8,
		.is_bits = member->is_bits,
		.is_base = dwarf_tag(&member->die) == DW_TAG_inheritance,
		.is_inner = member->is_inner,
		.is_array =
			dbgtype_peel(&member->type, &type) && dwarf_tag(&type) == DW_TAG_array_type,
	};
}

/*
 * How a member of that type is aligned, in bits; 0 if that isn't certain. Of a number or a pointer
 * that says nothing of its alignment, by its size.
 */
static uint64_t natural_alignment(Dwarf_Die *type)
{
	Dwarf_Die die = *type;
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	for (int depth = 0; depth < 64 && !dbgtype_alignment(&die); depth++) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_base_type:
			dwarf_formudata(dwarf_attr(&die, DW_AT_encoding, &attr), &encoding);
			return encoding == DW_ATE_complex_float ? 0 : dbgtype_size(&die) * 8;
		case DW_TAG_pointer_type:
		case DW_TAG_enumeration_type:
			return dbgtype_size(&die) * 8;
		case DW_TAG_array_type:
			if (dwarf_hasattr(&die, DW_AT_GNU_vector))
				return 0;
			break;
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return 0;
		}
		if (!dbgtype_of(&die, &die))
			return 0;
	}
	return 0;
}

/* Where a new member would begin behind the i-th one. */
static bool fits(struct type_member *new, const struct room *room, size_t i, uint64_t *ret)
{
	const struct placed *old = &room->members.items[i];
	const struct placed *next = i + 1 < room->members.n ? old + 1 : NULL;
	uint64_t align = dbgtype_alignment(&new->die) ? 0 : natural_alignment(&new->type);
	uint64_t end = old->bit + old->bits, limit = next ? next->bit : room->size;

	if (!align || room->size % align || old->is_base || old->is_inner)
		return false;
	if (!next && (!room->ends_free || old->is_array))
		return false;
	if (new->is_bits) {
		*ret = end;
		return old->is_bits && old->unit == align && !(next && next->is_bits) &&
		       end + new->bits <= limit &&end % align + new->bits <= align &&end % align;
	}
	*ret = (end + align - 1) / align * align;
	return *ret + new->bits <= limit && !(next && next->is_bits && next->bit % 8);
}

/* Takes the first room that there is, and says where in both forms (types_find_room). */
static bool place(struct type_member *new, struct room *room, struct buf *text, struct buf *places)
{
	for (size_t i = 0; i < room->members.n; i++) {
		const char *behind = room->members.items[i].name;
		struct placed here = placed_of(new);

		if (!fits(new, room, i, &here.bit))
			continue;
		if (!vec_push(&room->members))
			return false;
		memmove(room->members.items + i + 2, room->members.items + i + 1,
			(room->members.n - i - 2) * sizeof(here));
		room->members.items[i + 1] = here;
		buf_addf(text, "%s%s %llu behind '%s' is free for '%s'", text->len ? ", " : "",
			 new->is_bits ? "bit" : "offset",
			 (unsigned long long)here.bit / (new->is_bits ? 1 : 8), behind, new->name);
		buf_addf(places, "%s%s>%s", places->len ? " " : "", new->name, behind);
		return true;
	}
	return false;
}

/* A virtual base lies at the end of the object, wherever its class says it is derived from it. */
static bool has_virtual_base(Dwarf_Die *type, int depth)
{
	Dwarf_Die die, base;

	if (depth == 64 || dwarf_child(type, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_inheritance &&
		    (dwarf_hasattr(&die, DW_AT_virtuality) ||
		     (dbgtype_of(&die, &base) && dbgtype_peel(&base, &base) &&
		      has_virtual_base(&base, depth + 1))))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

int types_find_room(struct type_change *change, bool end_used, struct buf *text, struct buf *places,
		    struct uspl_err *err)
{
	auto_members member_vec pre = { 0 }, post = { 0 };
	auto_room struct room room = { .size = dbgtype_size(&change->pre) * 8 };
	auto_buf struct buf found = { 0 }, found_places = { 0 };
	struct type_member *member;
	int rc;

	if (change->is_variable || !change->adds || !dbgtype_is_aggregate(&change->pre) ||
	    dwarf_tag(&change->pre) == DW_TAG_union_type)
		return 0;
	rc = dbgtype_members(&change->pre, &pre, err);
	if (rc)
		return rc;
	rc = dbgtype_members(&change->post, &post, err);
	if (rc)
		return rc;
	room.ends_free = !end_used && !has_virtual_base(&change->pre, 0);
	vec_for_each (&pre, member) {
		const struct type_member *now = dbgtype_member(&post, member->name);
		struct placed *slot = vec_push(&room.members);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = placed_of(member);
		/* What is gone, or larger: another place for the new members isn't all it takes. */
		if (!now || now->bits != member->bits || now->is_bits != member->is_bits)
			return 0;
	}
	vec_for_each (&post, member)
		if (!dbgtype_member(&pre, member->name) &&
		    !place(member, &room, &found, &found_places))
			return 0;
	buf_addstr(text, buf_str(&found));
	buf_addstr(places, buf_str(&found_places));
	return 0;
}
