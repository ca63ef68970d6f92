// SPDX-License-Identifier: GPL-3.0-or-later
// link_descriptor.c - descriptors of thread-local variables, and the own module's block
/*
 * The block of a library that dlopen has opened lies elsewhere in each thread. Code that finds its
 * variables by descriptors calls what a descriptor begins with. The dynamic linker's are private to
 * it, so new code gets descriptors of our own, whose code (runtime/descriptor.S) asks
 * __tls_get_addr, as the dynamic linker's does when it has to.
 *
 * Local variables of a module may be counted from the beginning of its block. All code of an update
 * must agree on what stands for it: the thread pointer, if the module has a fixed place, else the
 * block itself. In the second case a variable that the new code brings is asked for relative to
 * the block.
 */

#include <string.h>

#include "link/link_internal.h"
#include "uspl/abi.h"

extern const uint8_t uspl_descriptor[], uspl_descriptor_end[];

enum { SLOT = sizeof(taddr), CODE_ALIGN = 16 };

static struct link_descriptors *descriptors_of(const struct link *link)
{
	return &((struct link_private *)link->priv)->descriptors;
}

void link_plan_descriptor(struct link *link, const struct objrel *rel)
{
	struct link_descriptors *all = descriptors_of(link);
	enum reloc_kind kind = link->arch->reloc(rel->type)->kind;
	struct link_symbol *sym = link_symbol_of(link, rel->sym);
	bool from_block = kind == RELOC_DTPOFF || kind == RELOC_TLSLD;

	sym->from_block |= from_block;
	sym->needs_descriptor |= kind == RELOC_TLSDESC;
	all->needed |= kind == RELOC_TLSDESC || (from_block && link_is_fresh(rel->sym));
}

int link_place_descriptors(struct link *link, struct uspl_err *err)
{
	struct link_descriptors *all = descriptors_of(link);
	struct link_seg *rodata = &link->segs[LINK_RODATA];
	int rc;

	if (!all->needed)
		return 0;
	rc = link_reserve(&link->segs[LINK_TEXT], (uint64_t)(uspl_descriptor_end - uspl_descriptor),
			  CODE_ALIGN, &all->code, err);
	if (rc)
		return rc;
	rc = link_reserve(rodata, sizeof(struct uspl_descriptor), SLOT, &all->own, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		struct link_symbol *sym = link_symbol_of(link, link->obj->syms.items[i]);

		if (sym->needs_descriptor) {
			rc = link_reserve(rodata, sizeof(struct uspl_descriptor), SLOT,
					  &sym->descriptor, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

bool link_has_place(const struct link *link, const struct objsym *sym)
{
	if (link_is_tls_base(sym))
		return !descriptors_of(link)->counts_from_block;
	return link_is_asked_for(link, sym) || link_symbol_of(link, sym)->value.tls_offset;
}

/* What is counted from the block tells whose it is, and whether it has a fixed place. */
static void find_block(struct link *link)
{
	struct link_descriptors *all = descriptors_of(link);

	all->counts_from_block = ((struct link_private *)link->priv)->keeps_tls_calls;
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct objsym *sym = link->obj->syms.items[i];
		const struct symbol_value *value = &link_symbol_of(link, sym)->value;

		if (!link_symbol_of(link, sym)->from_block || link_is_asked_for(link, sym))
			continue;
		all->block_id = value->tls_id;
		all->counts_from_block |= !value->tls_offset;
	}
}

uint64_t link_block_id(const struct link *link)
{
	return descriptors_of(link)->block_id;
}

bool link_counts_from_block(const struct link *link)
{
	return descriptors_of(link)->counts_from_block;
}

taddr link_descriptor(const struct link *link, const struct objsym *sym)
{
	const struct link_descriptors *all = descriptors_of(link);

	return link_in_segment(link, LINK_RODATA,
			       link_is_tls_base(sym) ? all->own
						     : link_symbol_of(link, sym)->descriptor);
}

taddr link_block_descriptor(const struct link *link)
{
	const struct link_descriptors *all = descriptors_of(link);

	return all->needed ? link_in_segment(link, LINK_RODATA, all->own) : 0;
}

/* Fills in those that are asked for. *descriptor has what is common to all. */
static void fill(struct link *link, struct uspl_descriptor *descriptor)
{
	struct link_descriptors *all = descriptors_of(link);
	uint8_t *rodata = link->segs[LINK_RODATA].bytes;

	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct link_symbol *sym = link_symbol_of(link, link->obj->syms.items[i]);

		if (!sym->needs_descriptor)
			continue;
		descriptor->id = sym->value.tls_id;
		descriptor->offset = sym->value.addr - (uint64_t)sym->value.tls_offset;
		memcpy(rodata + sym->descriptor, descriptor, sizeof(*descriptor));
	}
	descriptor->id = all->block_id;
	descriptor->offset = 0;
	memcpy(rodata + all->own, descriptor, sizeof(*descriptor));
}

/* Does anything that has no fixed place go by a descriptor? */
static bool are_used(const struct link *link)
{
	if (link_counts_from_block(link))
		return true;
	for (size_t i = 0; i < link->obj->syms.n; i++) {
		const struct objsym *sym = link->obj->syms.items[i];

		if (link_symbol_of(link, sym)->needs_descriptor && !link_has_place(link, sym))
			return true;
	}
	return false;
}

int link_fill_descriptors(struct link *link, link_value_fn value, void *ctx, struct uspl_err *err)
{
	struct link_descriptors *all = descriptors_of(link);
	struct uspl_descriptor descriptor = { 0 };
	int rc;

	find_block(link);
	if (!all->needed || !are_used(link))
		return 0;
	if (!link->arch->has_threads())
		return uspl_fail(err, USPL_E_UNSUPPORTED,
				 "descriptors of thread-local variables need XSAVE, which this "
				 "processor lacks");
	rc = link_find_function("__tls_get_addr", value, ctx, &descriptor.get, err);
	if (rc)
		return rc;
	descriptor.code = link_in_segment(link, LINK_TEXT, all->code);
	fill(link, &descriptor);
	memcpy(link->segs[LINK_TEXT].bytes + all->code, uspl_descriptor,
	       (size_t)(uspl_descriptor_end - uspl_descriptor));
	return 0;
}
