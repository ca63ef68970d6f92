// SPDX-License-Identifier: GPL-3.0-or-later
// link_detour.c - code that reads a variable of another module, which may be out of reach
/*
 * For every such place room is made for a detour (arch.h) and its slot; whether it is used shows when
 * the addresses are known.
 */

#include <string.h>

#include "apply/link_internal.h"

/* The instruction of the section that the offset lies in; false if the code can't be decoded. */
static bool find_insn(const struct link *link, const struct objsec *sec, uint64_t offset,
		      uint64_t *ret_start, uint8_t *ret_len)
{
	struct insn insn;

	for (uint64_t at = 0; at < sec->size; at += insn.len) {
		if (!link->arch->insn_decode(sec->data + at, sec->size - at, &insn))
			return false;
		if (offset < at + insn.len) {
			*ret_start = at;
			*ret_len = insn.len;
			return offset >= at;
		}
	}
	return false;
}

int link_plan_detour(struct link *link, const struct objsec *sec, const struct objrel *rel,
		     struct uspl_err *err)
{
	struct link_private *priv = link->priv;
	struct link_detour *detour;
	uint64_t start;
	uint8_t len;

	if (!objsec_is_code(sec) || rel->sym->sec || rel->sym->shndx != SHN_UNDEF ||
	    link->arch->reloc(rel->type)->kind != RELOC_PCREL ||
	    !find_insn(link, sec, rel->offset, &start, &len) ||
	    !link->arch->detour_possible(sec->data + start, len))
		return 0;
	detour = vec_push(&priv->detours);
	if (!detour)
		return uspl_fail_nomem(err);
	detour->sec = sec;
	detour->rel = rel;
	detour->insn = start;
	detour->insn_len = len;
	return 0;
}

static struct link_detour *find_detour(const struct link *link, const struct objrel *rel)
{
	struct link_private *priv = link->priv;
	struct link_detour *detour;

	vec_for_each (&priv->detours, detour)
		if (detour->rel == rel)
			return detour;
	return NULL;
}

bool link_take_detour(const struct link *link, const struct objrel *rel, taddr value)
{
	const struct link_seg *text = &link->segs[LINK_TEXT], *rodata = &link->segs[LINK_RODATA];
	const struct link_detour *item = find_detour(link, rel);
	struct detour detour;
	taddr target;

	if (!item)
		return false;
	/* The distance counts from the instruction's end, the relocation from its field. */
	target = value + (uint64_t)rel->addend + item->insn + item->insn_len - rel->offset;
	memcpy(rodata->bytes + item->slot, &target, sizeof(target));
	detour.insn_addr = link_section_address(link, item->sec) + item->insn;
	detour.insn_len = item->insn_len;
	detour.code_addr = link->base + text->offset + item->code;
	detour.slot = link->base + rodata->offset + item->slot;
	return link->arch->detour_encode(&detour, link_section_bytes(link, item->sec) + item->insn,
					 text->bytes + item->code);
}
