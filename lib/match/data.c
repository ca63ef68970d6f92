// SPDX-License-Identifier: GPL-3.0-or-later
// data.c - fields and tables
//
// What a field with a relocation holds in the running program, and what follows from it; and the
// contents of read-only data that the code refers to. A changed string or table entry is a changed
// program, even if the code is the same.

#include <string.h>

#include "match/match_internal.h"
#include "objfile/refname.h"

/* The field's bytes as a number, extended as the processor would. */
static uint64_t field_value(const struct reloc_info *info, const uint8_t *field)
{
	unsigned int unused = 64 - info->size * 8u;
	uint64_t value = 0;

	memcpy(&value, field, info->size);
	if (!unused)
		return value;
	return info->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* A slot of the GOT tells the symbol's value, if it was read, and is filled. */
static bool refer_through_slot(struct trial *trial, const struct objrel *rel, taddr slot)
{
	struct reference ref = { .sym = rel->sym };
	const uint8_t *bytes = image_bytes(trial->match->image, slot, sizeof(ref.addr));

	if (!bytes)
		return true;
	memcpy(&ref.addr, bytes, sizeof(ref.addr));
	return ref.addr ? trial_refer(trial, &ref) : true;
}

/*
 * A pair of slots tells a variable's module, and its offset there. Nothing is learnt of another
 * module's variables: only the dynamic linker knows where these lie.
 */
static bool refer_through_pair(struct trial *trial, const struct objrel *rel, taddr pair)
{
	const struct image *image = trial->match->image;
	const uint8_t *bytes = image_bytes(image, pair, 2 * sizeof(uint64_t));
	struct reference ref = { .sym = rel->sym };
	uint64_t id;

	if (!bytes)
		return true;
	memcpy(&id, bytes, sizeof(id));
	if (!id || id != image->tls_id)
		return true;
	memcpy(&ref.addr, bytes + sizeof(id), sizeof(ref.addr));
	ref.addr += (uint64_t)image->tls_offset;
	return trial_refer(trial, &ref);
}

bool data_refer_tls(struct trial *trial, const struct objrel *rel, enum reloc_kind kind,
		    uint64_t value, taddr place)
{
	const struct image *image = trial->match->image;
	struct reference ref = { .sym = rel->sym, .addr = value };

	switch (kind) {
	case RELOC_GOTTPOFF:
		/* If the module has no fixed place, offsets from the thread pointer are others'. */
		return !image->tls_offset || refer_through_slot(trial, rel, place + value);
	case RELOC_TLSGD:
		return refer_through_pair(trial, rel, place + value);
	case RELOC_TPOFF:
		ref.off = (uint64_t)rel->addend;
		return trial_refer(trial, &ref);
	case RELOC_DTPOFF:
		ref.off = (uint64_t)rel->addend;
		/* In a program the linker has made all of them count from the thread pointer. */
		if (image->tls_id)
			ref.addr += (uint64_t)image->tls_offset;
		return trial_refer(trial, &ref);
	default:
		return true;
	}
}

static bool is_branch(const struct site *site)
{
	return site->flow == INSN_CALL || site->flow == INSN_JUMP || site->flow == INSN_COND_JUMP;
}

/* Relative to the GOT: tells nothing as long as the table's place isn't known. */
static bool refer_from_got(struct trial *trial, const struct objrel *rel, enum reloc_kind kind,
			   uint64_t value)
{
	struct reference ref = { .sym = rel->sym, .off = (uint64_t)rel->addend };
	const struct objsym *got = match_symbol(trial->match, "_GLOBAL_OFFSET_TABLE_");
	const struct place *table = got ? &trial->match->addrs[got->mark] : NULL;

	if (!table || !table->known)
		return true;
	if (kind == RELOC_GOT)
		return refer_through_slot(trial, rel, table->addr + value - ref.off);
	ref.addr = table->addr + value;
	ref.branch = kind == RELOC_PLTOFF;
	return trial_refer(trial, &ref);
}

bool data_refer_meant(struct trial *trial, const struct objrel *rel, enum reloc_kind kind,
		      const struct site *site, uint64_t value)
{
	struct reference ref = { .sym = rel->sym, .addr = value, .off = (uint64_t)rel->addend };

	switch (kind) {
	case RELOC_ABS:
	case RELOC_TPOFF:
	case RELOC_DTPOFF:
		return trial_refer(trial, &ref);
	case RELOC_GOTTPOFF:
		ref.off = 0;
		return trial_refer(trial, &ref);
	case RELOC_PCREL:
	case RELOC_PLT:
		ref.off += site->trail;
		ref.branch = is_branch(site);
		return trial_refer(trial, &ref);
	default:
		return trial_fail_code(trial);
	}
}

bool data_read_field(struct trial *trial, const struct objrel *rel, const uint8_t *field,
		     taddr place, const struct site *site)
{
	const struct reloc_info *info = trial->match->arch->reloc(rel->type);
	struct reference ref = { .sym = rel->sym, .off = (uint64_t)rel->addend };
	uint64_t value;

	if (info->kind == RELOC_NONE)
		return true;
	if (info->kind == RELOC_UNSUPPORTED || !rel->sym)
		return trial_fail(trial, "%s can't be matched", info->name);
	if (image_meaning(trial->match->image, place, &value))
		return data_refer_meant(trial, rel, info->kind, site, value);
	value = field_value(info, field);
	ref.addr = value;
	switch (info->kind) {
	case RELOC_PCREL:
	case RELOC_PLT:
		ref.addr += place + site->trail;
		ref.off += site->trail;
		ref.branch = is_branch(site);
		return trial_refer(trial, &ref);
	case RELOC_GOTPC:
		ref.addr += place;
		return trial_refer(trial, &ref);
	case RELOC_GOTPCREL:
		return refer_through_slot(trial, rel, value + place - (uint64_t)rel->addend);
	case RELOC_GOT:
	case RELOC_GOTOFF:
	case RELOC_PLTOFF:
		return refer_from_got(trial, rel, info->kind, value);
	case RELOC_GOTTPOFF:
	case RELOC_TLSGD:
		return data_refer_tls(trial, rel, info->kind, value, place - (uint64_t)rel->addend);
	case RELOC_TLSLD:
	case RELOC_TLSDESC:
	case RELOC_TLSDESC_CALL:
	case RELOC_DTPOFF:
		return data_refer_tls(trial, rel, info->kind, value, place);
	case RELOC_SIZE:
		return !rel->sym->sec || value == rel->sym->size + ref.off ||
		       trial_fail(trial, "the size of '%s' is another",
				  refname_symbol(rel->sym->name));
	default:
		return trial_refer(trial, &ref);
	}
}

static size_t first_rel_from(const struct objsec *sec, uint64_t off)
{
	return vec_lower_bound(&sec->rels, it, it->offset < off);
}

/*
 * How much of an item is content: behind a nameless one there may be zeros that only align the
 * next. The fields of relocations are zeros, too, but content.
 */
static uint64_t content_end(const struct trial *trial, const struct item *item)
{
	const struct objsec *sec = item->sec;
	uint64_t end = item->end, padding = sec->align ? sec->align - 1 : 0, fields = item->start;
	size_t next = first_rel_from(sec, end);

	if (item->named || end == sec->size)
		return end;
	if (next && sec->rels.items[next - 1].offset >= item->start)
		fields = sec->rels.items[next - 1].offset +
			 trial->match->arch->reloc(sec->rels.items[next - 1].type)->size;
	while (padding-- && end > fields && end - item->start > 1 && !sec->data[end - 1] &&
	       !sec->data[end - 2])
		end--;
	return end;
}

/* An entry of a read-only table. */
static bool compare_entry(struct trial *trial, const struct item *item, const struct objrel *rel,
			  const uint8_t *field)
{
	static const struct site data_site = { 0, INSN_PLAIN };
	const struct reloc_info *info = trial->match->arch->reloc(rel->type);
	uint64_t in_item = rel->offset - item->start;
	struct objrel adjusted = *rel;
	taddr place = item->place.addr + in_item;

	/*
	 * An entry may hold a distance from the table's start, as in position-independent tables of
	 * a switch: the relocation's addend counts the entry's own distance from there, too.
	 */
	if (info->kind == RELOC_PCREL && rel->sym &&
	    (objsec_is_distances(item->sec) ||
	     (match_sym_is_code(rel->sym) &&
	      (int64_t)rel->sym->value + rel->addend >= (int64_t)in_item))) {
		adjusted.addend -= (int64_t)in_item;
		place -= in_item;
	}
	return data_read_field(trial, &adjusted, field, place, &data_site);
}

static bool compare_item(struct trial *trial, const struct item *item)
{
	const struct objsec *sec = item->sec;
	uint64_t at = item->start, end = content_end(trial, item);
	const uint8_t *run = image_bytes(trial->match->image, item->place.addr, end - at);
	const uint8_t *pre = sec->data;

	if (!run)
		return trial_fail_data(trial, sec, item->place.addr);
	for (size_t i = first_rel_from(sec, at); i < sec->rels.n; i++) {
		const struct objrel *rel = &sec->rels.items[i];
		uint8_t size = trial->match->arch->reloc(rel->type)->size;

		if (rel->offset >= end)
			break;
		if (rel->offset < at || rel->offset + size > end ||
		    memcmp(run + (at - item->start), pre + at, rel->offset - at))
			return trial_fail_data(trial, sec, item->place.addr + (at - item->start));
		if (!compare_entry(trial, item, rel, run + (rel->offset - item->start)))
			return false;
		at = rel->offset + size;
	}
	return !memcmp(run + (at - item->start), pre + at, end - at) ||
	       trial_fail_data(trial, sec, item->place.addr + (at - item->start));
}

/*
 * What the program may write, before it has run: its pointers to functions, and to other variables
 * that have some, tell which of several that look alike is meant. Other initial values don't
 * concern the code.
 */
static bool compare_pointers(struct trial *trial, const struct item *item)
{
	const struct objsec *sec = item->sec;

	for (size_t i = first_rel_from(sec, item->start); i < sec->rels.n; i++) {
		const struct objrel *rel = &sec->rels.items[i];
		uint8_t size = trial->match->arch->reloc(rel->type)->size;
		const uint8_t *field = image_bytes(
			trial->match->image, item->place.addr + (rel->offset - item->start), size);

		if (rel->offset >= item->end)
			break;
		if (rel->sym && rel->sym->sec && !match_sec_is_merged(rel->sym->sec) && field &&
		    !compare_entry(trial, item, rel, field))
			return false;
	}
	return true;
}

bool data_compare_pending(struct trial *trial)
{
	/* Tables may refer to other data: the list grows while it is worked off. */
	for (size_t i = 0; i < trial->pending.n; i++) {
		const struct item *item = trial->pending.items[i];

		if (!(item->sec->flags & SHF_WRITE ? compare_pointers(trial, item)
						   : compare_item(trial, item)))
			return false;
	}
	return true;
}

bool data_lies_at(struct trial *trial, struct item *item, taddr addr)
{
	struct place **noted = vec_push(&trial->noted);

	if (!noted)
		return trial_fail_oom(trial);
	*noted = &item->place;
	item->place = (struct place){ addr, true };
	return compare_item(trial, item) && data_compare_pending(trial);
}
