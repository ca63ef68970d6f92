// SPDX-License-Identifier: GPL-3.0-or-later
// link.c - from a relocatable object to bytes at an address
//
// Three segments, in this order: text, read-only data, data. What the object doesn't have, but its
// code needs, is added:
//
// 	text      an ELF header (link_elf.c) | code sections | a stub for each function that may be
// 	          called out of reach, a detour for each instruction that may need one
// 	          (link_detour.c)
// 	rodata    constant sections, .eh_frame | a slot for each stub, and the GOT
// 	data      variables, initialised or not, and common symbols
//
// Layout (link_layout.c) and relocation (link_relocate.c) are two steps, since memory can be
// reserved in the target only when the size is known, and nothing has an address before. All that
// may turn out to be needed gets its room in the first: a stub costs 8 bytes, and whether a
// function is out of reach is known only in the second.

#include <string.h>

#include "link/link_internal.h"

/* No segment of an update comes near this; a section that claims more is lying. */
#define LINK_MAX (128ull << 20)

bool link_is_loaded(const struct link *link, const struct objsec *sec)
{
	return link_section_of(link, sec)->loaded;
}

struct link_section *link_section_of(const struct link *link, const struct objsec *sec)
{
	return &((struct link_private *)link->priv)->secs[sec->mark];
}

bool link_is_tls_base(const struct objsym *sym)
{
	return !sym->sec && !strcmp(sym->name, "_TLS_MODULE_BASE_");
}

bool link_is_fresh(const struct objsym *sym)
{
	return sym->sec && (sym->sec->flags & SHF_TLS);
}

bool link_is_asked_for(const struct link *link, const struct objsym *sym)
{
	return link_is_fresh(sym) || link_symbol_of(link, sym)->lent;
}

struct link_symbol *link_symbol_of(const struct link *link, const struct objsym *sym)
{
	return &((struct link_private *)link->priv)->syms[sym->mark];
}

const char *link_label(const struct objsym *sym)
{
	return sym->name[0] || !sym->sec ? sym->name : sym->sec->name;
}

uint64_t link_align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

int link_reserve(struct link_seg *seg, uint64_t size, uint64_t align, uint64_t *ret_offset,
		 struct uspl_err *err)
{
	uint64_t start = link_align_up(seg->len, align ? align : 1);

	if (size > LINK_MAX || start + size > LINK_MAX)
		return uspl_fail(err, USPL_E_HOSTILE,
				 "the new code claims to need more than %llu MB", LINK_MAX >> 20);
	seg->len = start + size;
	*ret_offset = start;
	return 0;
}

int link_find_function(const char *name, link_value_fn value, void *ctx, uint64_t *ret,
		       struct uspl_err *err)
{
	const struct objsym sym = { .name = name, .type = STT_FUNC, .bind = STB_GLOBAL };
	struct symbol_value found = { 0 };
	int rc = value(ctx, &sym, false, &found, err);

	if (rc)
		return rc;
	*ret = found.addr;
	return 0;
}

taddr link_in_segment(const struct link *link, enum link_seg_kind kind, uint64_t offset)
{
	return link->base + link->segs[kind].offset + offset;
}

taddr link_section_address(const struct link *link, const struct objsec *sec)
{
	const struct link_section *place = link_section_of(link, sec);

	return link_in_segment(link, place->kind, place->offset);
}

uint8_t *link_section_bytes(const struct link *link, const struct objsec *sec)
{
	const struct link_section *place = link_section_of(link, sec);
	const struct link_private *priv = link->priv;

	/* Its initial contents are in the block that new threads begin with. */
	if (place->threads)
		return link->segs[LINK_RODATA].bytes + priv->threads.init + place->offset;
	return link->segs[place->kind].bytes + place->offset;
}

void link_lies_at(struct link *link, const taddr segs[LINK_N_SEGS])
{
	link->base = 0;
	for (int kind = 0; kind < LINK_N_SEGS; kind++)
		link->segs[kind].offset = segs[kind];
}

taddr link_address(const struct link *link, const struct objsym *sym)
{
	const struct link_private *priv = link->priv;

	if (sym->shndx == SHN_COMMON)
		return link->base + link->segs[LINK_DATA].offset + priv->syms[sym->mark].common;
	if (sym->shndx == SHN_ABS || !sym->sec)
		return sym->value;
	if (link_is_fresh(sym))
		return link_section_of(link, sym->sec)->offset + sym->value;
	return link_section_address(link, sym->sec) + sym->value;
}

void link_free(struct link *link)
{
	struct link_private *priv = link ? link->priv : NULL;

	if (!link)
		return;
	for (int kind = 0; kind < LINK_N_SEGS; kind++)
		free(link->segs[kind].bytes);
	if (priv) {
		free(priv->secs);
		free(priv->syms);
		vec_release(&priv->detours);
	}
	free(priv);
	free(link);
}
