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
			const struct secinfo *secinfo = &unit->post.secinfos[j];

			if (!secinfo->carried)
				continue;
			unit->takes_part = true;
			if (secinfo_twin(secinfo))
				syminfo_of(syminfo_of(secinfo->owner)->twin)->unit->takes_part =
					true;
		}
	}
}

/* Marks the literals that a carried section refers to; returns whether there were any new ones. */
static bool mark_literals(const struct objsec *sec)
{
	const struct objrel *rel;
	bool more = false;

	vec_for_each (&sec->rels, rel) {
		struct secinfo *secinfo = rel->sym->sec ? secinfo_of(rel->sym->sec) : NULL;

		if (!secinfo || secinfo->kind != SECINFO_LITERAL || secinfo->carried)
			continue;
		secinfo->carried = true;
		more = true;
	}
	return more;
}

void emit_mark_pre(struct unit *unit)
{
	bool more = true;

	for (size_t i = 0; i < unit->pre.obj->secs.n; i++)
		unit->pre.secinfos[i].carried = unit->pre.secinfos[i].kind == SECINFO_CODE &&
						unit->pre.obj->secs.items[i]->size;
	/* Variables with pointers in them tell functions apart that are the same otherwise. */
	for (size_t i = 0; unit->whole && i < unit->pre.obj->secs.n; i++) {
		const struct objsec *sec = unit->pre.obj->secs.items[i];
		struct secinfo *secinfo = &unit->pre.secinfos[i];

		if ((secinfo->kind == SECINFO_DATA || secinfo->kind == SECINFO_CONST) &&
		    (sec->flags & SHF_WRITE) && sec->data && sec->rels.n)
			secinfo->carried = true;
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < unit->pre.obj->secs.n; i++)
			if (unit->pre.secinfos[i].carried)
				more |= mark_literals(unit->pre.obj->secs.items[i]);
	}
}
