// SPDX-License-Identifier: GPL-3.0-or-later
// markers.c - the notes of a program's markers, one section for each

#include "create/unit/markers.h"

#include <string.h>

#include "base/note.h"

#define NOTES ".note.uspl.mark"
/* As constants that are loaded: apply leaves out notes. */
#define ONE_NOTE ".rodata.uspl.mark"

/* The relocations of [from, to) of a section become those of its new one. */
static int move_relocations(struct objsec *sec, uint64_t from, uint64_t to, struct objsec *one,
			    struct uspl_err *err)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel) {
		struct objrel *place;

		if (rel->offset < from || rel->offset >= to)
			continue;
		place = vec_push(&one->rels);
		if (!place)
			return uspl_fail_nomem(err);
		*place = *rel;
		place->offset -= from;
	}
	return 0;
}

static int split(struct objfile *obj, struct objsec *sec, struct uspl_err *err)
{
	struct note note;
	size_t at = 0, from = 0;

	while (sec->data && note_next(sec->data, sec->size, 4, &at, &note)) {
		size_t end = at < sec->size ? at : sec->size;
		struct objsec *one = objfile_add_section(obj, ONE_NOTE, SHT_PROGBITS, SHF_ALLOC);
		int rc;

		if (!one)
			return uspl_fail_nomem(err);
		one->size = end - from;
		one->align = 4;
		one->data = objfile_memdup(obj, sec->data + from, end - from);
		if (!one->data)
			return uspl_fail_nomem(err);
		rc = move_relocations(sec, from, end, one, err);
		if (rc)
			return rc;
		from = at;
	}
	sec->rels.n = 0;
	return 0;
}

int markers_split(struct objfile *obj, struct uspl_err *err)
{
	/* The new ones are added behind. */
	size_t n = obj->secs.n;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(obj->secs.items[i]->name, NOTES)) {
			rc = split(obj, obj->secs.items[i], err);
			if (rc)
				return rc;
		}
	return 0;
}

void markers_tie(struct objfile *obj)
{
	for (size_t i = 0; i < obj->secs.n; i++) {
		struct objsec *sec = obj->secs.items[i];
		/* The first of them is where the marker is. */
		struct objsec *code = sec->rels.n ? sec->rels.items[0].sym->sec : NULL;

		if (strcmp(sec->name, ONE_NOTE) != 0 || !code)
			continue;
		secinfo_of(sec)->next_mark = secinfo_of(code)->marks;
		secinfo_of(code)->marks = sec;
	}
}
