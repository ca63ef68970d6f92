// SPDX-License-Identifier: GPL-3.0-or-later
// link_detour.c - references that can't be as they are: they go through a stub or a detour
/*
 * A call that may be out of reach goes through a stub. Other instructions go through detours. There
 * are two sorts. One refers to another module's variable as if it were its own (the linker would
 * have made a copy in the program), and that may be out of reach. The other refers to a
 * thread-local variable that this update brings, or an earlier one has brought, whose distance is
 * another in each thread.
 *
 * For every such place room is made for a detour (arch.h) and, if need be, a slot. Whether the
 * first sort uses it shows when the addresses are known.
 */

#include <string.h>

#include "link/link_internal.h"

/*
 * The instruction of the section that the offset lies in; false if the code can't be decoded. Most
 * callers ask in the order of the offsets: it goes on where the one before was found, so that all
 * calls together decode a section once.
 */
static bool find_insn(const struct link *link, const struct objsec *sec, uint64_t offset,
		      struct link_detour *detour)
{
	struct link_cursor *cursor = &((struct link_private *)link->priv)->cursor;
	struct insn insn;

	if (cursor->sec != sec || cursor->insn > offset)
		*cursor = (struct link_cursor){ .sec = sec };
	for (uint64_t at = cursor->insn; at < sec->size; at += insn.len) {
		cursor->insn = at;
		if (!link->arch->insn_decode(sec->data + at, sec->size - at, &insn))
			return false;
		if (offset < at + insn.len) {
			detour->insn = at;
			detour->insn_len = insn.len;
			return offset >= at;
		}
	}
	return false;
}

bool link_may_use_stub(const struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct reloc_info *info)
{
	struct link_detour at = { 0 };
	struct insn insn;

	if (rel->sym->type == STT_SECTION)
		return false;
	if (info->kind == RELOC_PLT)
		return true;
	if (info->kind == RELOC_PCREL && link->far) /* the distance in a direct call or jump */
		return objsec_is_code(sec) && find_insn(link, sec, rel->offset, &at) &&
		       link->arch->insn_decode(sec->data + at.insn, at.insn_len, &insn) &&
		       insn.rel_size == info->size && at.insn + insn.rel_off == rel->offset;
	return !strcmp(sec->name, ".eh_frame") && info->kind == RELOC_ABS &&
	       info->size < sizeof(taddr) && rel->sym->shndx == SHN_UNDEF && !rel->sym->sec;
}

static int add_detour(struct link *link, const struct link_detour *detour, struct uspl_err *err)
{
	struct link_detour *item = vec_push(&((struct link_private *)link->priv)->detours);

	if (!item)
		return uspl_fail_nomem(err);
	*item = *detour;
	return 0;
}

/*
 * May what the relocation refers to be out of its reach? Far from the module, also a function that
 * the new code has, but whose address is the original's, and all that is referred to by an address
 * of 32 bits.
 */
static bool may_be_far(const struct link *link, const struct objrel *rel,
		       const struct reloc_info *info)
{
	bool outside = !rel->sym->sec && rel->sym->shndx == SHN_UNDEF;

	if (info->kind == RELOC_ABS && info->size < sizeof(taddr))
		return outside || link->far;
	return info->kind == RELOC_PCREL &&
	       (outside || (link->far && rel->sym->type != STT_SECTION));
}

int link_plan_detour(struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err)
{
	struct link_detour detour = { .sec = sec, .rel = rel };
	const struct reloc_info *info = link->arch->reloc(rel->type);

	if (!objsec_is_code(sec) || !may_be_far(link, rel, info) ||
	    !find_insn(link, sec, rel->offset, &detour))
		return 0;
	detour.field = (uint8_t)(rel->offset - detour.insn);
	if (!link->arch->detour_possible(DETOUR_ADDRESS, sec->data + detour.insn, detour.insn_len,
					 detour.field))
		return 0;
	return add_detour(link, &detour, err);
}

int link_plan_distance(struct link *link, const struct objsec *sec, const struct objrel *rel,
		       const struct tls_form *form, struct uspl_err *err)
{
	const struct reloc_info *info = link->arch->reloc(rel->type);
	struct link_detour detour = { .sec = sec, .rel = rel };

	detour.kind = info->kind == RELOC_GOTTPOFF ? DETOUR_SLOT_DISTANCE : DETOUR_DISTANCE;
	if (form) {
		/* What it is rewritten to ends with its field. */
		detour.insn_len = link->arch->distance_len;
		detour.insn = form->start + form->len - detour.insn_len;
		detour.field = (uint8_t)(form->start + form->off - detour.insn);
		return add_detour(link, &detour, err);
	}
	if (objsec_is_code(sec) && find_insn(link, sec, rel->offset, &detour)) {
		detour.field = (uint8_t)(rel->offset - detour.insn);
		if (link->arch->detour_possible(detour.kind, sec->data + detour.insn,
						detour.insn_len, detour.field))
			return add_detour(link, &detour, err);
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "%s+0x%llx: the instruction that refers to the new thread-local variable "
			 "'%s' (%s) has no form that asks for its place",
			 sec->name, (unsigned long long)rel->offset, link_label(rel->sym),
			 info->name);
}

static struct link_detour *find_detour(const struct link *link, const struct objrel *rel)
{
	struct link_private *priv = link->priv;
	size_t i = vec_lower_bound(&priv->detours, it, it->rel < rel);

	return i < priv->detours.n && priv->detours.items[i].rel == rel ? &priv->detours.items[i]
									: NULL;
}

uint64_t link_detour_end(const struct link *link, const struct objrel *rel)
{
	const struct link_detour *item = find_detour(link, rel);

	return item && rel->offset >= item->insn ? item->insn + item->insn_len : 0;
}

/* All that the processor's part wants to know, but for where the operand is. */
static struct detour describe(const struct link *link, const struct link_detour *item)
{
	return (struct detour){
		.kind = item->kind,
		.insn_addr = link_section_address(link, item->sec) + item->insn,
		.insn_len = item->insn_len,
		.field = item->field,
		.code_addr = link_in_segment(link, LINK_TEXT, item->code),
	};
}

/* value: what the instruction's field stands for. */
static bool encode(const struct link *link, const struct link_detour *item,
		   const struct detour *detour, uint64_t value)
{
	uint8_t *insn = link_section_bytes(link, item->sec) + item->insn;
	uint8_t compiled[UINT8_MAX];

	memcpy(compiled, insn, item->insn_len);
	return link->arch->detour_encode(detour, insn, link->segs[LINK_TEXT].bytes + item->code) &&
	       link_note_compiled(link, detour, compiled, value);
}

bool link_take_detour(const struct link *link, const struct objrel *rel, taddr value)
{
	const struct link_detour *item = find_detour(link, rel);
	struct detour detour;
	taddr target;

	if (!item)
		return false;
	target = value + (uint64_t)rel->addend;
	/* A distance counts from the instruction's end, the relocation from its field. */
	if (link->arch->reloc(rel->type)->kind == RELOC_PCREL)
		target += item->insn + item->insn_len - rel->offset;
	memcpy(link->segs[LINK_RODATA].bytes + item->slot, &target, sizeof(target));
	detour = describe(link, item);
	detour.slot = link_in_segment(link, LINK_RODATA, item->slot);
	return encode(link, item, &detour, target);
}

int link_take_distance(const struct link *link, const struct objrel *rel, uint64_t offset,
		       struct uspl_err *err)
{
	const struct link_detour *item = find_detour(link, rel);
	const struct link_symbol *sym = link_symbol_of(link, rel->sym);
	bool from_block =
		link->arch->reloc(rel->type)->kind == RELOC_DTPOFF && link_counts_from_block(link);
	bool fits = (int64_t)offset >= INT32_MIN && (int64_t)offset <= INT32_MAX;
	struct detour detour;

	if (item && fits) {
		detour = describe(link, item);
		/* The function that tells the distance; 0: there is none. */
		detour.helper = !sym->lent   ? link_threads_helper(link, from_block)
				: from_block ? sym->value.lent_from_block
					     : sym->value.lent_distance;
		detour.offset = (int32_t)offset;
		if (detour.helper && encode(link, item, &detour, offset))
			return 0;
	}
	return uspl_fail(err, USPL_E_UNSUPPORTED,
			 "the access to the new thread-local variable '%s' can't be linked",
			 link_label(rel->sym));
}

static int by_rel(const void *a, const void *b)
{
	const struct link_detour *x = a, *y = b;

	return x->rel < y->rel ? -1 : x->rel > y->rel;
}

int link_place_detours(struct link *link, struct uspl_err *err)
{
	struct link_private *priv = link->priv;
	struct link_detour *detour;

	vec_for_each (&priv->detours, detour) {
		int rc = link_reserve(&link->segs[LINK_TEXT], link->arch->detour_len, 8,
				      &detour->code, err);

		if (!rc && detour->kind == DETOUR_ADDRESS)
			rc = link_reserve(&link->segs[LINK_RODATA], sizeof(taddr), sizeof(taddr),
					  &detour->slot, err);
		if (rc)
			return rc;
	}
	/* From here on they are looked up; their places don't depend on that order. */
	if (priv->detours.n)
		qsort(priv->detours.items, priv->detours.n, sizeof(*priv->detours.items), by_rel);
	return 0;
}
