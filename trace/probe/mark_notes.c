// SPDX-License-Identifier: GPL-3.0-or-later
// mark_notes.c - the notes that include/uspl/mark.h and branch.h leave in a program, in its memory

#include "trace/probe/mark_notes.h"

#include <string.h>

#include "arch/arch.h"
#include "uspl/trace_abi.h"

#define TEXT_MAX 4096
#define NOTE_ALIGN 4

char *mark_note_text(const struct image *image, taddr addr)
{
	const struct image_seg *seg = image_seg_at(image, addr);
	size_t room = seg && seg->bytes ? seg->len - (addr - seg->start) : 0, len;
	const char *text = room ? (const char *)seg->bytes + (addr - seg->start) : NULL;

	if (room > TEXT_MAX)
		room = TEXT_MAX;
	len = text ? strnlen(text, room) : 0;
	return text && len < room ? strdup(text) : NULL;
}

taddr mark_note_target(taddr note, long long distance, size_t at)
{
	return note + at + (taddr)distance;
}

bool mark_note_nop(const struct image *image, taddr site)
{
	const struct image_seg *seg = image_seg_at(image, site);
	const uint8_t *code = image_bytes(image, site, USPL_TRACE_SITE_BYTES);
	struct insn insn;

	return seg && seg->exec && code &&
	       arch_native()->insn_decode(code, USPL_TRACE_SITE_BYTES, &insn) && insn.is_nop &&
	       insn.len == USPL_TRACE_SITE_BYTES;
}

/*
 * The constants of an update, the notes of new code among them: nothing says where, and each is
 * known by its owner. Bytes that look like one by chance don't lead to a NOP.
 */
static int search_notes(const struct image *image, const struct image_seg *seg, mark_note_fn one,
			void *ctx, struct uspl_err *err)
{
	int rc = 0;

	for (size_t at = 0; at < seg->len; at += NOTE_ALIGN) {
		struct note note;
		size_t end = at;

		if (note_next(seg->bytes, seg->len, NOTE_ALIGN, &end, &note)) {
			rc = one(ctx, image, &note, seg->start + (taddr)(note.desc - seg->bytes),
				 err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int mark_notes_each(const struct module *module, const struct image *image, mark_note_fn one,
		    void *ctx, struct uspl_err *err)
{
	const struct image_seg *seg;
	const Elf64_Phdr *phdr;
	struct note note;
	int rc = 0;

	vec_for_each (&module->phdrs, phdr) {
		taddr notes = phdr->p_vaddr + (taddr)module->bias;
		const uint8_t *bytes;
		size_t at = 0;

		if (phdr->p_type != PT_NOTE || phdr->p_align == 8)
			continue;
		bytes = image_bytes(image, notes, phdr->p_filesz);
		while (bytes && note_next(bytes, phdr->p_filesz, NOTE_ALIGN, &at, &note)) {
			rc = one(ctx, image, &note, notes + (taddr)(note.desc - bytes), err);
			if (rc)
				return rc;
		}
	}
	vec_for_each (&image->segs, seg)
		if (seg->bytes && !seg->exec &&
		    (seg->start < image->start || seg->start >= image->end)) {
			rc = search_notes(image, seg, one, ctx, err);
			if (rc)
				return rc;
		}
	return 0;
}
