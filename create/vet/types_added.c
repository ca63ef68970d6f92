// SPDX-License-Identifier: GPL-3.0-or-later
// types_added.c - structures that differ in new members alone

#include "create/vet/types_added.h"

#include <dwarf.h>
#include <string.h>

static bool is_alike(struct type_member *old, struct type_member *new)
{
	return old->bits == new->bits && old->is_bits == new->is_bits &&
	       old->is_inner == new->is_inner &&dbgtype_compare(&old->type, &new->type) !=
		       TYPE_OTHER;
}

/*
 * Is the i-th member this old one under another name? Its name is gone, and among the new names in
 * its place, up to the next one that is an old one's, no other is of its type.
 */
static bool is_renamed(member_vec *pre, struct type_member *old, member_vec *post, size_t i)
{
	size_t from = i, alike = 0;

	if (old->is_inner || dbgtype_member(post, old->name) ||
	    dbgtype_member(pre, post->items[i].name) || !is_alike(old, &post->items[i]))
		return false;
	while (from && !dbgtype_member(pre, post->items[from - 1].name))
		from--;
	for (; from < post->n && !dbgtype_member(pre, post->items[from].name); from++)
		alike += is_alike(old, &post->items[from]);
	return alike == 1;
}

/* Takes the members that are new; false: that isn't all that differs. */
static bool find_added(member_vec *pre, member_vec *post, struct buf *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < post->n; i++) {
		struct type_member *new = &post->items[i];
		struct type_member *old = kept < pre->n ? &pre->items[kept] : NULL;

		if (old && ((!strcmp(old->name, new->name) && is_alike(old, new)) ||
			    is_renamed(pre, old, post, i))) {
			kept++;
			continue;
		}
		if (new->is_inner || dbgtype_member(pre, new->name))
			return false;
		buf_addf(ret, "%s%s", ret->len ? " " : "", new->name);
	}
	return kept == pre->n && ret->len;
}

int types_note_added(struct type_change *change, const char *places, struct report *report,
		     struct uspl_err *err)
{
	auto_members member_vec pre = { 0 }, post = { 0 };
	auto_buf struct buf added = { 0 };
	const char *tag = dwarf_diename(&change->pre), *name = tag ? tag : change->name;
	struct shadowed_type *type;
	int rc;

	if (change->is_variable || dwarf_tag(&change->pre) != DW_TAG_structure_type)
		return 0;
	if (!tag && (!*places || strchr(name, ' ')))
		return 0;
	rc = dbgtype_members(&change->pre, &pre, err);
	if (rc)
		return rc;
	rc = dbgtype_members(&change->post, &post, err);
	if (rc)
		return rc;
	if (!find_added(&pre, &post, &added))
		return added.oom ? uspl_fail_nomem(err) : 0;
	/* What was kept once, and is refused all the same, has another reason. */
	vec_for_each (&report->shadowed, type)
		if (!strcmp(type->name, name))
			return 0;
	type = vec_push(&report->shadowed);
	if (!type || added.oom || !(type->name = strdup(name)))
		return uspl_fail_nomem(err);
	type->members = added;
	added = (struct buf){ 0 };
	type->tagless = !tag;
	buf_addstr(&type->places, places);
	return type->places.oom ? uspl_fail_nomem(err) : 0;
}
