// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * unwind_info.c - the call frame information of the functions that an update carries
 *
 * .eh_frame is a run of records, each with its length in front: CIEs, which hold what many
 * functions have in common, and FDEs, one for a function, each with the distance back to its CIE.
 * Of the records of a unit we keep the FDEs whose function is carried, and the CIEs of these; the
 * distances are computed anew. Everything else in a record is copied as it is, with its
 * relocations.
 *
 * A function that an exception may pass has more: its FDE points to its language specific data
 * (.gcc_except_table.NAME: landing pads, and which types are caught), and its CIE to the
 * personality, the function that reads them. Places in these data count from the function's start,
 * so they are right for a copy of it, too. They belong to the function as its code does: it has
 * changed if they have, and takes them along.
 */

#include "create/emit/unwind_info.h"

#include <string.h>

#include "base/buf.h"
#include "create/unit/unit.h"

#define NO_PLACE SIZE_MAX
/* Where in an FDE the function's start is, behind the length and the distance to the CIE. */
#define FDE_PC 8

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

/* The first relocation of a record at or behind `from`, NULL if there is none. */
static const struct objrel *relocation_in(const struct objsec *sec, const struct record *record,
					  uint64_t from)
{
	const struct objrel *rel;

	vec_for_each (&sec->rels, rel)
		if (rel->offset >= from && rel->offset < record->end)
			return rel;
	return NULL;
}

/* The part whose frames an FDE describes; NULL for a CIE, and for what isn't code. */
static struct secinfo *covered_code(const struct objsec *sec, const struct record *record)
{
	const struct objrel *rel = NULL;

	if (record->cie != record->start)
		rel = relocation_in(sec, record, record->start + FDE_PC);
	if (!rel || rel->offset != record->start + FDE_PC || !rel->sym->sec)
		return NULL;
	return secinfo_of(rel->sym->sec)->kind == SECINFO_CODE ? secinfo_of(rel->sym->sec) : NULL;
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
	if (cie->place == NO_PLACE) {
		rc = copy_record(col, cie);
		if (rc)
			return rc;
	}
	rc = copy_record(col, fde);
	if (rc)
		return rc;
	back = (uint32_t)(fde->place + 4 - cie->place);
	memcpy(col->buf->data + fde->place + 4, &back, sizeof(back));
	return 0;
}

int unwind_collect(const struct unit *unit, struct buf *buf, objrel_vec *rels, struct uspl_err *err)
{
	struct collector col = { .unit = unit, .buf = buf, .rels = rels, .err = err };
	int rc;

	col.sec = objfile_section(unit->post.obj, ".eh_frame");
	if (!col.sec || !col.sec->data)
		return 0;
	rc = parse(unit, col.sec, &col.records, err);
	for (size_t i = 0; !rc && i < col.records.n; i++) {
		const struct secinfo *covered = covered_code(col.sec, &col.records.items[i]);

		if (covered && covered->carried)
			rc = copy_fde(&col, &col.records.items[i]);
	}
	vec_release(&col.records);
	return rc;
}

int unwind_index(const struct unit *unit, const struct side *side, struct uspl_err *err)
{
	const struct objsec *sec = objfile_section(side->obj, ".eh_frame");
	auto_vec record_vec records = { 0 };
	const struct record *record, *cie;
	int rc;

	if (!sec || !sec->data)
		return 0;
	rc = parse(unit, sec, &records, err);
	vec_for_each (&records, record) {
		struct secinfo *secinfo = rc ? NULL : covered_code(sec, record);
		const struct objrel *data, *reader;

		if (!secinfo)
			continue;
		cie = record_at(&records, record->cie);
		data = relocation_in(sec, record, record->start + FDE_PC + 1);
		reader = cie ? relocation_in(sec, cie, cie->start) : NULL;
		secinfo->lsda = data ? data->sym->sec : NULL;
		secinfo->personality = data && reader ? reader->sym : NULL;
	}
	return rc;
}
