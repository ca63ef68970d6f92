// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * unwind.c - the call frame information of the functions that an update carries
 *
 * .eh_frame is a run of records, each with its length in front: CIEs, which hold what many
 * functions have in common, and FDEs, one for a function, each with the distance back to its CIE.
 * Of the records of a unit we keep the FDEs whose function is carried, and the CIEs of these; the
 * distances are computed anew. Everything else in a record is copied as it is, with its
 * relocations.
 */

#include <string.h>

#include "base/buf.h"
#include "create/differ.h"

#define NO_PLACE SIZE_MAX

/* A record: its length field at `start`, its id field (0 in a CIE) right behind. */
struct record {
	uint64_t start, end;
	uint64_t cie; /* of an FDE: where its CIE starts; of a CIE: its own start */
	size_t place; /* where it is in the output, NO_PLACE if it isn't */
};

typedef VEC(struct record) record_vec;

static int damaged(const struct unit *unit, struct uspl_err *err)
{
	return uspl_fail(err, USPL_E_FILE, "%s: its call frame information can't be read",
			 unit->source);
}

static uint32_t word(const struct objsec *sec, uint64_t at)
{
	uint32_t value;

	memcpy(&value, sec->data + at, sizeof(value));
	return value;
}

static int parse(const struct unit *unit, const struct objsec *sec, record_vec *records,
		 struct uspl_err *err)
{
	uint64_t at = 0;

	while (at + 4 <= sec->size) {
		uint32_t len = word(sec, at), back;
		struct record *record;

		if (!len)
			break;
		/* 0xffffffff announces a 64-bit length, which compilers don't write here. */
		if (len < 8 || len > sec->size - at - 4)
			return damaged(unit, err);
		back = word(sec, at + 4);
		if (back > at + 4)
			return damaged(unit, err);
		record = vec_push(records);
		if (!record)
			return uspl_fail_nomem(err);
		record->start = at;
		record->end = at + 4 + len;
		record->cie = back ? at + 4 - back : at;
		record->place = NO_PLACE;
		at = record->end;
	}
	return 0;
}

static bool covers_carried_code(const struct objsec *sec, const struct record *record)
{
	const struct objrel *rel;

	if (record->cie == record->start)
		return false;
	vec_for_each (&sec->rels, rel)
		if (rel->offset == record->start + 8)
			return rel->sym->sec && part_of(rel->sym->sec)->kind == PART_CODE &&
			       part_of(rel->sym->sec)->carried;
	return false;
}

/* What one unit's records are collected into. */
struct collector {
	const struct unit *unit;
	const struct objsec *sec;
	record_vec records;
	struct buf *buf;
	objrel_vec *rels;
	struct uspl_err *err;
};

static int copy_record(struct collector *col, struct record *record)
{
	const struct objrel *rel;

	record->place = col->buf->len;
	buf_add(col->buf, col->sec->data + record->start, record->end - record->start);
	vec_for_each (&col->sec->rels, rel) {
		struct objrel *copy;

		if (rel->offset < record->start || rel->offset >= record->end)
			continue;
		copy = vec_push(col->rels);
		if (!copy)
			return uspl_fail_nomem(col->err);
		*copy = *rel;
		copy->offset = rel->offset - record->start + record->place;
	}
	return col->buf->oom ? uspl_fail_nomem(col->err) : 0;
}

static struct record *record_at(const record_vec *records, uint64_t start)
{
	struct record *record;

	vec_for_each (records, record)
		if (record->start == start)
			return record;
	return NULL;
}

/*
 * Copies an FDE, its CIE before it if it isn't there yet, and corrects the distance between them.
 */
static int copy_fde(struct collector *col, struct record *fde)
{
	struct record *cie = record_at(&col->records, fde->cie);
	uint32_t back;
	int rc = 0;

	if (!cie || cie->cie != cie->start)
		return damaged(col->unit, col->err);
	if (cie->place == NO_PLACE)
		rc = copy_record(col, cie);
	if (!rc)
		rc = copy_record(col, fde);
	if (rc)
		return rc;
	back = (uint32_t)(fde->place + 4 - cie->place);
	memcpy(col->buf->data + fde->place + 4, &back, sizeof(back));
	return 0;
}

int unwind_collect(const struct unit *unit, struct buf *buf, objrel_vec *rels, struct uspl_err *err)
{
	struct collector col = {.unit = unit, .buf = buf, .rels = rels, .err = err};
	int rc;

	col.sec = objfile_section(unit->post.obj, ".eh_frame");
	if (!col.sec || !col.sec->data)
		return 0;
	rc = parse(unit, col.sec, &col.records, err);
	for (size_t i = 0; !rc && i < col.records.n; i++)
		if (covers_carried_code(col.sec, &col.records.items[i]))
			rc = copy_fde(&col, &col.records.items[i]);
	vec_release(&col.records);
	return rc;
}
