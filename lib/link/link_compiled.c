// SPDX-License-Identifier: GPL-3.0-or-later
// link_compiled.c - what was compiled where an instruction goes through a detour
/*
 * A later update is made from the source with this one in it, and compared with what the compiler
 * makes of that. So for each instruction that is a jump to a detour now, the read-only data say
 * what it was, and what its field would mean (struct uspl_detours of uspl/abi.h).
 */

#include <string.h>

#include "link/link_internal.h"
#include "uspl/abi.h"

static struct link_compiled *compiled_of(const struct link *link)
{
	return &((struct link_private *)link->priv)->compiled;
}

int link_place_compiled(struct link *link, struct uspl_err *err)
{
	struct link_compiled *compiled = compiled_of(link);
	const size_t n = ((struct link_private *)link->priv)->detours.n;

	if (!n && !link->has_threads)
		return 0;
	compiled->needed = true;
	return link_reserve(&link->segs[LINK_RODATA],
			    sizeof(struct uspl_detours) + n * sizeof(struct uspl_detour),
			    sizeof(taddr), &compiled->notes, err);
}

void link_fill_compiled(struct link *link)
{
	const struct link_compiled *compiled = compiled_of(link);
	struct uspl_detours head = { 0 };

	if (!compiled->needed)
		return;
	if (link->has_threads)
		head.distance = link_threads_helper(link, false);
	if (link->has_threads && link_block_descriptor(link))
		head.from_block = link_threads_helper(link, true);
	memcpy(link->segs[LINK_RODATA].bytes + compiled->notes, &head, sizeof(head));
	link->detours = link_in_segment(link, LINK_RODATA, compiled->notes);
}

bool link_note_compiled(const struct link *link, const struct detour *detour, const uint8_t *insn,
			uint64_t value)
{
	const size_t room = ((struct link_private *)link->priv)->detours.n;
	uint8_t *notes = link->segs[LINK_RODATA].bytes + compiled_of(link)->notes;
	struct uspl_detour note = {
		.addr = detour->insn_addr,
		.code = detour->code_addr,
		.value = value,
		.helper = detour->helper,
		.code_len = link->arch->detour_len,
		.insn_len = detour->insn_len,
		.field = detour->field,
	};
	struct uspl_detours head;

	memcpy(note.insn, insn, detour->insn_len);
	memcpy(&head, notes, sizeof(head));
	if (head.n >= room)
		return false;
	memcpy(notes + sizeof(head) + head.n * sizeof(note), &note, sizeof(note));
	head.n++;
	memcpy(notes, &head, sizeof(head));
	return true;
}
