// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * types_room.c - where a structure has room for a new member
 *
 * A member that is declared right behind another one changes no layout if what is behind that one
 * is free: bits of the integer that a run of bit-fields lies in, or padding. The run must end
 * there, since bit-fields behind it would move; and the new member must want no alignment that the
 * structure hasn't, nor begin anything beyond the room.
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
};

typedef VEC(struct placed) placed_vec;
DEFINE_AUTO_RELEASE(placed, placed_vec, vec_release)
#define auto_placed __attribute__((cleanup(cleanup_placed_)))

static struct placed placed_of(struct type_member *member)
{
	return (struct placed){ member->name, member->bit, member->bits,
				dbgtype_size(&member->type) * 8, member->is_bits };
}

/* How a type is aligned in structures, in bits; 0 if that isn't known. */
static uint64_t alignment_of(Dwarf_Die *type)
{
	Dwarf_Die die, inner;
	bool has = dbgtype_peel(type, &die);

	while (has && dwarf_tag(&die) == DW_TAG_array_type)
		has = dbgtype_of(&die, &inner) && dbgtype_peel(&inner, &die);
	return !has || dbgtype_is_aggregate(&die) ? 0 : dbgtype_size(&die) * 8;
}

/* Where a new member would begin behind `old`, with `next` behind it (NULL: the end). */
static bool fits(struct type_member *new, const struct placed *old, const struct placed *next,
		 uint64_t size, uint64_t *ret)
{
	uint64_t end = old->bit + old->bits, limit = next ? next->bit : size;
	uint64_t align = alignment_of(&new->type);

	if (!align || size % align)
		return false;
	if (new->is_bits) {
		*ret = end;
		return old->is_bits && old->unit == align && !(next && next->is_bits) &&
		       end + new->bits <= limit &&end % align + new->bits <= align &&end % align;
	}
	*ret = (end + align - 1) / align * align;
	return *ret + new->bits <= limit && !(next && next->is_bits && next->bit % 8);
}

/* Takes the first room that there is. */
static bool place(struct type_member *new, placed_vec *members, uint64_t size, struct buf *text)
{
	for (size_t i = 0; i < members->n; i++) {
		const struct placed old = members->items[i];
		const struct placed *next = i + 1 < members->n ? &members->items[i + 1] : NULL;
		struct placed here = placed_of(new);

		if (strchr(old.name, '.') || !fits(new, &old, next, size, &here.bit))
			continue;
		if (!vec_push(members))
			return false;
		memmove(members->items + i + 2, members->items + i + 1,
			(members->n - i - 2) * sizeof(here));
		members->items[i + 1] = here;
		if (new->is_bits)
			buf_addf(text, "%sbit %llu behind '%s' is free for '%s'",
				 text->len ? ", " : "", (unsigned long long)here.bit, old.name,
				 new->name);
		else
			buf_addf(text, "%soffset %llu behind '%s' is free for '%s'",
				 text->len ? ", " : "", (unsigned long long)here.bit / 8, old.name,
				 new->name);
		return true;
	}
	return false;
}

static bool has(const member_vec *members, const char *name)
{
	const struct type_member *member;

	vec_for_each (members, member)
		if (!strcmp(member->name, name))
			return true;
	return false;
}

int types_find_room(struct type_change *change, struct buf *text, struct uspl_err *err)
{
	auto_members member_vec pre = { 0 }, post = { 0 };
	auto_placed placed_vec members = { 0 };
	auto_buf struct buf found = { 0 };
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
	vec_for_each (&pre, member) {
		struct placed *slot = vec_push(&members);

		if (!slot)
			return uspl_fail_nomem(err);
		*slot = placed_of(member);
		/* What is gone or lies within others: what would be free isn't clear. */
		if (!has(&post, member->name))
			return 0;
	}
	vec_for_each (&post, member) {
		if (has(&pre, member->name))
			continue;
		if (!place(member, &members, dbgtype_size(&change->pre) * 8, &found))
			return 0;
	}
	buf_addstr(text, buf_str(&found));
	return 0;
}
