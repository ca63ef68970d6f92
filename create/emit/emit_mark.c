// SPDX-License-Identifier: GPL-3.0-or-later
// emit_mark.c - which sections of the pre builds an update takes along, to be matched

#include "base/vec.h"
#include "create/emit/emit_objects.h"
#include "create/unit/unit.h"
#include "objfile/objfile.h"

void emit_mark_units(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct unit *unit = &diff->units[i];

		for (size_t j = 0; j < unit->post.obj->secs.n; j++) {
			const struct part *part = &unit->post.parts[j];

			if (!part->carried)
				continue;
			unit->takes_part = true;
			if (part->owner && ident_of(part->owner)->twin)
				ident_of(ident_of(part->owner)->twin)->unit->takes_part = true;
		}
	}
}

/* Marks the literals that a carried section refers to; returns whether there were any new ones. */
static bool mark_literals(const struct objsec *sec)
{
	const struct objrel *rel;
	bool more = false;

	vec_for_each (&sec->rels, rel) {
		struct part *part = rel->sym->sec ? part_of(rel->sym->sec) : NULL;

		if (!part || part->kind != PART_LITERAL || part->carried)
			continue;
		part->carried = true;
		more = true;
	}
	return more;
}

/* Variables with pointers in them: these tell functions apart that are the same otherwise. */
static void mark_pointers(struct unit *unit)
{
	for (size_t i = 0; i < unit->pre.obj->secs.n; i++) {
		const struct objsec *sec = unit->pre.obj->secs.items[i];
		struct part *part = &unit->pre.parts[i];

		if ((part->kind == PART_DATA || part->kind == PART_CONST) &&
		    (sec->flags & SHF_WRITE) && sec->data && sec->rels.n)
			part->carried = true;
	}
}

void emit_mark_pre(struct unit *unit)
{
	bool more = true;

	for (size_t i = 0; i < unit->pre.obj->secs.n; i++)
		unit->pre.parts[i].carried =
			unit->pre.parts[i].kind == PART_CODE && unit->pre.obj->secs.items[i]->size;
	if (unit->whole)
		mark_pointers(unit);
	while (more) {
		more = false;
		for (size_t i = 0; i < unit->pre.obj->secs.n; i++)
			if (unit->pre.parts[i].carried)
				more |= mark_literals(unit->pre.obj->secs.items[i]);
	}
}
